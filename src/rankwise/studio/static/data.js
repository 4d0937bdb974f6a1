// "How the file was understood": corrections with one click, the first rows, what each column is, filters.

import * as api from "./api.js";
import { blocks } from "./blocks.js";
import { rankedOf } from "./choices.js";
import { segmented } from "./controls.js";
import { h } from "./dom.js";
import { problem } from "./jobs.js";

const ROLES = [
  ["ranking", "Ranking"],
  ["group", "Groups to compare"],
  ["weight", "Weight"],
  ["name", "Name of the person"],
  ["feature", "Fact about the person"],
  ["ignore", "Ignore"],
];
const OPTION = { ranking: "target", group: "by", weight: "weight", name: "id", feature: "features", ignore: "ignore" };
const AT_ONCE = 60;
const OPEN_FILTERS = 6;
const ONCE = new Set(["group", "weight", "name"]);

// The cards of the data view; `change(options)` sends a correction, `again(project)` reads the files of
// the project again.
export function understanding(found, project, use, change, again) {
  const list = found.blocks ?? [];
  const cut = list.findIndex((block) => block.kind === "section");
  const isPreview = (block) => block.id === "preview";
  const [about, check] = cut < 0 ? [list, []] : [list.slice(0, cut), list.slice(cut)];
  const preview = list.filter(isPreview);
  const inside = blocks([...about.filter((block) => !isPreview(block)), ...preview], use, 3).flatMap((card) => [...card.children]);
  const tables = inside.filter((element) => element.classList.contains("block"));
  const next = project.kind === "search" ? ["metrics", "This is right: show the metrics"] : ["consensus", "This is right: show the joint ranking"];
  const cards = [];
  if (found.problem) cards.push(problem(found.problem, { choose: (choice) => change(choice.options) }));
  if (inside.length || found.corrections.length) {
    cards.push(
      h(
        "section",
        { class: "card", "aria-labelledby": "understood" },
        h("h2", { id: "understood" }, found.problem ? "What the file holds" : "How the file was understood"),
        inside.filter((element) => !tables.includes(element)),
        found.corrections.map((each, i) => segmented(each.legend, each.choices, `correct-${i}`, (choice) => change(choice.options))),
        !found.problem && h("p", { class: "actions" }, h("a", { class: "button main", href: `#/${project.id}/${next[0]}` }, next[1])),
        tables,
      ),
    );
  }
  for (const one of found.attach) cards.push(attachCard(one, project, again));
  cards.push(...blocks(check.filter((block) => !isPreview(block)), use));
  if (found.filters.length) cards.push(filterCard(found.filters, project, change));
  if (found.columns?.length) cards.push(columnPicker(found, project, change));
  return cards;
}

function columnPicker(found, project, change) {
  const { columns } = found;
  const roles = columns.map((column) => column.role);
  // Only what was touched is said: the rest stays as the file is understood by itself.
  const send = () => {
    const before = (role) => columns.filter((column) => column.role === role).map((column) => column.name);
    const now = (role) => columns.filter((_, i) => roles[i] === role).map((column) => column.name);
    const changed = ROLES.map(([role]) => role).filter((role) => before(role).join("\n") !== now(role).join("\n"));
    const said = Object.fromEntries(changed.map((role) => [OPTION[role], ONCE.has(role) ? (now(role)[0] ?? null) : now(role)]));
    change("target" in said ? { ...said, ...rankedOf(found, project, now("ranking"), now("ignore")) } : said);
  };
  const one = (column, i) => {
    const id = `column-${i}`;
    const possible = ROLES.filter(([role]) => !column.roles || role === column.role || column.roles.includes(role));
    const named = (role, label) => (role === "ranking" && column.why === "names the items" ? "Names of the items" : label);
    const listed = [...(column.role ? [] : [["", "Not known yet"]]), ...possible].map(([role, label]) => h("option", { value: role, selected: role === column.role }, named(role, label)));
    const pick = h("select", { id, "aria-label": `Role of ${column.title || column.name}`, disabled: listed.length < 2 }, listed);
    pick.addEventListener("change", () => {
      // There is one column of groups, one of weights and one of names: the former becomes a fact.
      if (ONCE.has(pick.value)) roles.forEach((role, j) => (roles[j] = role === pick.value ? "feature" : role));
      roles[i] = pick.value;
      send();
    });
    const about = [column.title && column.title !== column.name && column.name, (column.examples ?? []).slice(0, 3).join(", "), column.why].filter(Boolean);
    return h("li", { class: column.role }, h("label", { for: id }, h("b", {}, column.title || column.name), h("small", {}, about.join(" · "))), pick);
  };
  const list = h("ul", { class: "columns" });
  const more = h("button", { type: "button", class: "quiet", onclick: () => show() });
  const show = () => {
    const from = list.children.length;
    list.append(...columns.slice(from, from + AT_ONCE).map((column, i) => one(column, from + i)));
    more.textContent = `Show more of ${columns.length.toLocaleString("en")} columns`;
    more.hidden = list.children.length >= columns.length;
  };
  show();
  return h(
    "section",
    { class: "card", "aria-labelledby": "columns" },
    h("h2", { id: "columns" }, "What each column is"),
    list,
    more,
  );
}

function filterCard(filters, project, change) {
  const where = { ...(project.options?.where ?? {}) };
  const one = (filter, k) => {
    const boxes = filter.values.map((each, i) => [h("input", { type: "checkbox", id: `filter-${k}-${i}`, checked: each.kept !== false }), each]);
    const send = () => {
      const kept = boxes.filter(([box]) => box.checked).map(([, each]) => each.value);
      if (kept.length === boxes.length) delete where[filter.column];
      else where[filter.column] = kept;
      change({ where: Object.keys(where).length ? where : null });
    };
    const rows = boxes.map(([box, each]) => h("label", { class: "check" }, box, `${each.label ?? each.value} (${each.n})`));
    return h("fieldset", { onchange: send }, h("legend", {}, filter.title || filter.column), rows);
  };
  return h(
    "section",
    { class: "card", "aria-labelledby": "filters" },
    h("h2", { id: "filters" }, "Use only some rows"),
    h("p", { class: "note" }, "Untick what should not count."),
    h("div", { class: "controls" }, filters.slice(0, OPEN_FILTERS).map(one)),
    filters.length > OPEN_FILTERS &&
      h("details", {}, h("summary", {}, "More columns"), h("div", { class: "controls" }, filters.slice(OPEN_FILTERS, OPEN_FILTERS + AT_ONCE).map((each, i) => one(each, OPEN_FILTERS + i)))),
  );
}

function attachCard(about, project, again) {
  const id = `attach-${about.role}`;
  const said = h("p", { class: "note", role: "status" });
  const input = h("input", { type: "file", id });
  input.addEventListener("change", async () => {
    const file = input.files[0];
    if (!file) return;
    try {
      again(await api.attach(project.id, file.name, about.role, file));
    } catch (error) {
      said.textContent = [error.message, error.cure].filter(Boolean).join(" ");
    }
  });
  return h("section", { class: "card" }, h("h2", {}, h("label", { for: id }, about.label)), about.hint && h("p", { class: "note" }, about.hint), input, said);
}
