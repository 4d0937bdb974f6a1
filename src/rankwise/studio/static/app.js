// Where the person is: the address holds project, view and choices, so that a reload, a second tab and Back just work.

import * as api from "./api.js";
import { h } from "./dom.js";
import { problem } from "./jobs.js";
import { hideTip } from "./picture.js";
import { start } from "./start.js";
import { addressOf, OF_KIND, show, VIEWS } from "./view.js";

const main = document.getElementById("main");
const side = document.getElementById("side");
const menu = document.getElementById("menu");
const foot = document.getElementById("foot");
let project = null;
let leave = new AbortController();

function here() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const [id, view] = path.split("/");
  let params = {};
  try {
    params = JSON.parse(new URLSearchParams(query ?? "").get("p") ?? "{}");
  } catch {
    // An address that somebody cut off opens the view as it comes.
  }
  return { id: id ? decodeURIComponent(id) : "", view: view || "data", params };
}

function fold(open) {
  menu.setAttribute("aria-expanded", String(open));
  side.classList.toggle("open", open);
}

function navigation(view) {
  const there = project !== null;
  side.hidden = menu.hidden = !there;
  document.body.classList.toggle("with-side", there);
  foot.textContent = "Everything stays on this machine.";
  if (!there) return;
  const names = project.views ?? OF_KIND[project.kind] ?? OF_KIND.survey;
  const one = (name) => h("li", {}, h("a", { href: addressOf(project.id, name), "aria-current": name === view ? "page" : null }, VIEWS[name]?.[0] ?? name));
  side.replaceChildren(
    h("p", { class: "project" }, h("span", { class: "note" }, project.kind === "search" ? "Search results" : "Survey or jury"), h("b", {}, project.name)),
    h("ul", {}, names.map(one)),
    h("p", { class: "other" }, h("a", { href: "#/" }, "Another file")),
  );
  foot.textContent = `Everything stays on this machine. The same file and choices give the same numbers (seed ${project.options?.seed ?? 0}).`;
}

async function route() {
  leave.abort();
  leave = new AbortController();
  const { signal } = leave;
  hideTip();
  fold(false);
  document.querySelectorAll("dialog").forEach((panel) => panel.close());
  const { id, view, params } = here();
  if (!id) {
    project = null;
    navigation();
    document.title = "rankwise studio";
    start(main, (opened) => (location.hash = addressOf(opened.id, "data")));
  } else {
    try {
      project = await api.project(id);
    } catch (error) {
      if (signal.aborted) return;
      project = null;
      navigation();
      main.replaceChildren(h("h1", { tabindex: -1 }, "Not here"), problem(error), h("p", {}, h("a", { href: "#/" }, "Give a file")));
      return;
    }
    if (signal.aborted) return;
    navigation(view);
    document.title = `${VIEWS[view]?.[0] ?? view} · ${project.name} · rankwise studio`;
    // A change that was still on its way when the person went elsewhere: the new view must know of it.
    const changed = (now) => (signal.aborted ? route() : (project = now));
    show(main, { project, view, params, signal, changed });
  }
  scrollTo(0, 0);
  if (moved) main.querySelector("h1")?.focus({ preventScroll: true });
  moved = true;
}

// The first time, the focus stays where the browser puts it.
let moved = false;

menu.addEventListener("click", () => fold(menu.getAttribute("aria-expanded") !== "true"));
side.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    fold(false);
    menu.focus();
  }
});
document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
// A file dropped beside the zone must not replace the page.
for (const name of ["dragover", "drop"]) addEventListener(name, (event) => event.preventDefault());
addEventListener("hashchange", route);
route();
