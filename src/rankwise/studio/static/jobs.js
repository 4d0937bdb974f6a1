// A job on the page: its progress with a way to cancel it, and what went wrong in one sentence with the cure.

import * as api from "./api.js";
import { h } from "./dom.js";

// A line that says how far a job is. `.show(job)` while it runs, `.hide()` after. It comes up only when it takes a
// while, so that answers which are there at once do not flicker.
export function progress() {
  let job = null;
  let timer = null;
  const bar = h("progress", { max: 1, "aria-label": "Progress" });
  const step = h("span", { class: "step" });
  const button = h("button", { type: "button", class: "quiet", onclick: () => job && api.cancel(job.id).catch(() => {}) }, "Cancel");
  const box = h("div", { class: "progress", hidden: true }, h("p", { role: "status", "aria-live": "polite" }, step), bar, button);
  return {
    box,
    show(now) {
      job = now;
      const said = now.state === "waiting" ? "Waiting for other work to end" : now.step || "Working";
      if (step.textContent !== said) step.textContent = said;
      if (now.state === "running" && now.progress > 0) bar.value = now.progress;
      else bar.removeAttribute("value");
      timer ??= setTimeout(() => (box.hidden = false), 250);
    },
    hide() {
      clearTimeout(timer);
      timer = null;
      job = null;
      box.hidden = true;
    },
  };
}

// What went wrong, how to mend it, and choices that mend it with one click.
export function problem(error, { choose, again } = {}) {
  const choices = (error.choices ?? []).map((choice) =>
    h("button", { type: "button", class: "main", onclick: () => choose?.(choice) }, choice.label),
  );
  return h(
    "section",
    { class: "card problem", role: "alert" },
    h("h2", {}, error.error ?? error.message ?? "Something went wrong."),
    error.cure && h("p", {}, error.cure),
    (choices.length > 0 || again) && h("p", { class: "actions" }, choices, again && h("button", { type: "button", onclick: again }, "Try again")),
  );
}
