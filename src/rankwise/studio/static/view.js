// One view of a project: ask the server, show how far it is, draw what it answers, and ask again when something changes.

import * as api from "./api.js";
import { blocks } from "./blocks.js";
import { attachOf, blocksOf, chosen, controlsOf, correctionsOf, filesOf, filtersOf, formOf } from "./choices.js";
import { control, form } from "./controls.js";
import { understanding } from "./data.js";
import { h, save } from "./dom.js";
import { problem, progress } from "./jobs.js";
import { hideTip } from "./picture.js";

// Title in the navigation, heading, and what the view is for.
export const VIEWS = {
  data: ["Data", "Your data", "Check how the file was read before you read the answers."],
  consensus: ["Joint ranking", "Joint ranking", "The order that fits all answers best, and how sure it is."],
  pairs: ["Pairs and places", "Pairs and places", "Which of two items people put first, and how often each item stands at each place. Choose a cell to see who says so."],
  groups: ["Groups", "Groups", "Do groups of people rank differently?"],
  segments: ["Segments", "Segments", "Kinds of people who rank alike, found from the answers alone."],
  drivers: ["Drivers", "What drives the rankings", "Which facts about people go with which ranking."],
  raters: ["Raters", "Raters", "How close each person is to the others. Untick one, and the joint ranking is made without that person."],
  robustness: ["Robustness", "Robustness", "What it would take to change the answer."],
  metrics: ["Metrics", "Search quality", "How good the results are, on average over the queries."],
  queries: ["Queries", "Queries", "Where the results are worst."],
  compare: ["Compare runs", "Two systems compared", "Which of two runs, or of two rankers, is better, and whether that may be chance."],
  explain: ["Explain", "Why one stands above another", "What moves one document above another."],
  downloads: ["Downloads", "Downloads", "Everything to take away, and the code that gives the same numbers."],
};

export const OF_KIND = {
  survey: ["data", "consensus", "pairs", "groups", "segments", "drivers", "raters", "robustness", "downloads"],
  search: ["data", "metrics", "queries", "compare", "explain", "downloads"],
};

export const addressOf = (project, view, params = {}) =>
  `#/${project}/${view}` + (Object.keys(params).length ? `?p=${encodeURIComponent(JSON.stringify(params))}` : "");

// Shows a view. `tab` holds the project, the view, its params and a signal that ends when the person goes elsewhere;
// `tab.changed(project)` is told of new options.
export function show(main, tab) {
  const [, title, about] = VIEWS[tab.view] ?? [tab.view, tab.view, ""];
  const line = progress();
  const left = h("div");
  const result = h("div", { class: "result", "data-view": tab.view });
  main.replaceChildren(h("h1", { tabindex: -1 }, title), h("p", { class: "about" }, about), left, line.box, result);
  let run = 0;

  const ask = async () => {
    const mine = ++run;
    result.setAttribute("aria-busy", "true");
    left.replaceChildren(...leftOut(tab.project, change));
    try {
      const job = await api.work(tab.project.id, tab.view, tab.params, (now) => mine === run && line.show(now), tab.signal);
      if (mine !== run) return;
      line.hide();
      keepFocus(() => draw(job));
    } catch (error) {
      if (error.name === "AbortError" || mine !== run) return;
      line.hide();
      result.replaceChildren(problem(error, { again: ask }));
    } finally {
      if (mine === run) result.removeAttribute("aria-busy");
    }
  };

  const draw = (job) => {
    hideTip();
    if (job.state === "cancelled") result.replaceChildren(problem({ error: "Cancelled.", cure: "Nothing was changed." }, { again: ask }));
    else if (job.state === "failed") {
      const mend = { choose: (choice) => change(choice.options), again: job.error?.choices?.length ? null : ask };
      result.replaceChildren(problem(job.error ?? {}, mend));
    } else result.replaceChildren(...answer(job.result));
  };

  const answer = (found) => {
    const choose = (param) => (value) => {
      tab.params = chosen(tab.view, tab.params, param, value);
      history.replaceState(null, "", addressOf(tab.project.id, tab.view, tab.params));
      ask();
    };
    const all = controlsOf(tab.view, found, tab.params);
    const controls = (section) => all.filter((each) => (each.section ?? null) === section).map((each) => control(each, choose(each.param)));
    const use = {
      open,
      toggle: (option, ids) => change({ [option]: ids.length ? ids : null }),
      link: (view, params) => addressOf(tab.project.id, view, params),
      under: (section) => (section && all.some((each) => each.section === section) ? h("div", { class: "controls" }, controls(section)) : null),
    };
    const parts = [];
    if (all.some((each) => !each.section)) parts.push(h("section", { class: "card controls", "aria-label": "Choices" }, controls(null)));
    if (tab.view === "raters") parts.push(jointRanking());
    if (tab.view === "data") {
      const facts = { ...found, corrections: correctionsOf(found, tab.project), filters: filtersOf(found, tab.project), attach: attachOf(found, tab.project) };
      const attached = (now) => {
        tab.project = now;
        tab.changed(now);
        ask();
      };
      parts.push(...understanding(facts, tab.project, use, change, attached));
    } else parts.push(...blocks(blocksOf(tab.view, found, tab.project), use));
    const asked = formOf(tab.view, found);
    if (asked) parts.push(formCard(asked));
    const files = filesOf(tab.view, found, tab.params);
    if (files.length) parts.push(fileCard(files));
    parts.push(...sameNumbers(found.code ?? {}, tab.view === "downloads"));
    return parts;
  };

  const change = async (options) => {
    result.setAttribute("aria-busy", "true"); // what is shown no longer holds
    try {
      tab.project = await api.change(tab.project.id, options);
      tab.changed(tab.project);
      await ask();
    } catch (error) {
      result.removeAttribute("aria-busy");
      result.prepend(problem(error));
    }
  };

  // A panel over the page with the numbers behind a cell.
  const open = async (chart, row, column) => {
    const pair = chart.cell === "pair";
    const params = pair ? { a: chart.items[row], b: chart.items[column] } : { item: chart.items[row], place: column + 1 };
    const about = pair ? `${chart.rows[row]} and ${chart.columns[column]}` : `${chart.rows[row]} in place ${column + 1}`;
    const inside = h("div", { class: "result" });
    const wait = progress();
    const panel = h(
      "dialog",
      { class: "panel", "aria-labelledby": "panel-title" },
      h("div", { class: "panel-head" }, h("h2", { id: "panel-title" }, about), h("button", { type: "button", class: "quiet", onclick: () => panel.close() }, "Close")),
      wait.box,
      inside,
    );
    const from = document.activeElement;
    const leave = new AbortController();
    panel.addEventListener("click", (event) => event.target === panel && panel.close());
    panel.addEventListener("close", () => {
      leave.abort();
      panel.remove();
      from?.focus?.();
      hideTip();
    });
    document.body.append(panel);
    hideTip();
    panel.showModal();
    await into(inside, "cell", params, wait, 3, leave.signal);
    inside.querySelectorAll(".title").forEach((title) => title.textContent === about && title.remove());
  };

  const into = async (place, view, params, wait, level, signal = tab.signal, wanted = () => true) => {
    try {
      const job = await api.work(tab.project.id, view, params, (now) => wait.show(now), signal);
      wait.hide();
      if (job.state === "done") place.replaceChildren(...blocks((job.result.blocks ?? []).filter(wanted), {}, level));
      else place.replaceChildren(problem(job.error ?? { error: "Cancelled." }));
      return job.result;
    } catch (error) {
      wait.hide();
      if (error.name !== "AbortError") place.replaceChildren(problem(error));
    }
  };

  // Above the raters: the ranking of those who count, so that it is seen to move.
  const jointRanking = () => {
    const place = h("div", { id: "joint-ranking", "aria-live": "polite" });
    const wait = progress();
    into(place, "consensus", {}, wait, 3, tab.signal, (block) => block.kind === "places" || block.tone === "lead");
    return h("section", { class: "card", "aria-labelledby": "joint-title" }, h("h2", { id: "joint-title" }, "Joint ranking of the ticked raters"), wait.box, place);
  };

  const formCard = (about) => {
    const place = h("div", { "aria-live": "polite" });
    const wait = progress();
    let sent = 0;
    const send = async (values) => {
      const mine = ++sent;
      const found = await into(place, about.view, { [about.param]: values }, wait, 3);
      const code = codeOf(found?.code ?? {}, "form-");
      if (mine === sent && code.length) place.append(h("details", {}, h("summary", {}, "For programmers: code that gives this prediction"), code));
    };
    return h("section", { class: "card", "aria-labelledby": "form-title" }, h("h2", { id: "form-title" }, about.title ?? "Predict for a person"), about.note && h("p", { class: "note" }, about.note), form(about, send), wait.box, place);
  };

  const fileCard = (files) => {
    const wait = progress();
    const said = h("div", { "aria-live": "polite" });
    const fetchFile = async (file) => {
      said.replaceChildren();
      try {
        const blob = await api.download(tab.project.id, file.name, file.params, (now) => wait.show(now), tab.signal);
        save(blob, file.name);
        said.replaceChildren(h("p", { class: "note" }, `${file.name} is saved.`));
      } catch (error) {
        if (error.name !== "AbortError") said.replaceChildren(problem(error));
      } finally {
        wait.hide();
      }
    };
    const one = (file) => h("li", {}, h("button", { type: "button", onclick: () => fetchFile(file) }, `Download ${file.name}`), h("span", { class: "note" }, file.title));
    return h("section", { class: "card", "aria-labelledby": "files-title" }, h("h2", { id: "files-title" }, "Files"), h("ul", { class: "files-list" }, files.map(one)), wait.box, said);
  };

  ask();
}

// Re-drawing must not take the keyboard away from where the person was.
function keepFocus(redraw) {
  const id = document.activeElement?.id;
  redraw();
  if (id && id !== document.activeElement?.id) document.getElementById(id)?.focus({ preventScroll: true });
}

// Rows that do not count, said on every view, with a way back.
function leftOut(project, change) {
  const { leave_out: out, where } = project.options ?? {};
  const said = [];
  if (out?.length) said.push(`${out.length === 1 ? "One rater is" : `${out.length} raters are`} left out: ${out.slice(0, 3).join(", ")}${out.length > 3 ? " and others" : ""}.`);
  for (const [column, values] of Object.entries(where ?? {})) said.push(`Only rows with ${column} = ${values.map((value) => value || "no answer").join(" or ")}.`);
  if (!said.length) return [];
  return [h("p", { class: "left-out" }, said.join(" "), " ", h("button", { type: "button", class: "quiet", onclick: () => change({ leave_out: null, where: null }) }, "Use all rows"))];
}

// Code in Python and commands, each with a button that copies it.
function codeOf(code, prefix = "") {
  const one = (title, text, id) => {
    const called = prefix ? `${title}: this prediction` : title;
    const copied = h("span", { role: "status", class: "note" });
    const shown = h("pre", { id, tabindex: 0, role: "region", "aria-label": called }, h("code", {}, text));
    const copy = async () => {
      try {
        await navigator.clipboard.writeText(text);
        copied.textContent = "Copied.";
      } catch {
        getSelection().selectAllChildren(shown);
        copied.textContent = "Selected: press Ctrl+C.";
      }
    };
    return [h("h3", { class: "title" }, title), shown, h("p", { class: "actions" }, h("button", { type: "button", onclick: copy, "aria-label": `Copy: ${called}` }, "Copy"), copied)];
  };
  return [code.python && one("In Python", code.python, `${prefix}python`), code.command && one("On the command line", code.command, `${prefix}command`)].filter(Boolean);
}

// The code that gives the same numbers; folded under any view but that of the downloads.
function sameNumbers(code, open) {
  const parts = codeOf(code);
  if (!parts.length) return [];
  const heading = h("h2", {}, "For programmers: code that gives the same numbers");
  return [h("section", { class: "card" }, open ? [heading, parts] : h("details", { class: "plain-fold" }, h("summary", {}, heading), parts))];
}
