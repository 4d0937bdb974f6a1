// Blocks of a result as elements: sentences, tiles, the joint ranking, tables and pictures, in the order they come.

import { h } from "./dom.js";
import { picture } from "./picture.js";

const FIRST_ROWS = 50;
const FIRST_PEOPLE = 12;
const MORE_ROWS = 500;
const MOST_COLUMNS = 60;
const MANY_COLUMNS = 6;

// Cards of blocks. `use` may hold open(chart, row, column), toggle(option, ids), link(view, params) and
// under(section): what belongs below the heading of a section.
export function blocks(list, use = {}, level = 2) {
  const cards = [];
  let card = null;
  let heading = level;
  for (const block of list) {
    if (block.kind === "section" || !card) cards.push((card = h("section", { class: "card" })));
    if (block.kind === "section") {
      const id = `section-${block.id ?? cards.length}`;
      card.setAttribute("aria-labelledby", id);
      card.append(h(`h${level}`, { id }, block.title));
      const below = use.under?.(block.id);
      if (below) card.append(below);
      heading = level + 1;
    } else card.append(KINDS[block.kind]?.(block, use, `h${heading}`) ?? h("p", { class: "note" }, "This part cannot be shown."));
  }
  return cards;
}

function sentence(block) {
  return h("p", { class: block.tone ?? "plain", role: block.tone === "warning" ? "note" : null }, block.text);
}

function tiles(block) {
  const one = (tile) => h("div", {}, h("dt", {}, tile.label), h("dd", { class: tile.value.length > 9 ? "name" : null }, tile.value, tile.detail && h("span", { class: "more" }, tile.detail)));
  return h("dl", { class: "tiles" }, block.tiles.map(one));
}

function places(block) {
  const one = (item) => h("li", { class: Number(item.place) === 1 ? "first" : null }, h("b", {}, item.place), h("span", {}, item.name));
  return [h("ol", { class: block.places.length > 8 ? "places long" : "places" }, block.places.map(one)), block.note && h("p", { class: "note" }, block.note)];
}

// Something that may be wider than the page: it scrolls in itself, and then it takes the focus.
function scroller(name, label, ...children) {
  const box = h("div", { class: name }, ...children);
  new ResizeObserver(() => {
    const scrolls = box.scrollWidth > box.clientWidth + 1;
    for (const [key, value] of [["tabindex", "0"], ["role", "region"], ["aria-label", label]]) {
      if (scrolls) box.setAttribute(key, value);
      else box.removeAttribute(key);
    }
  }).observe(box);
  return box;
}

// A table of a file may have thousands of columns; more than a person scrolls through are not drawn.
function narrowed(block) {
  if (block.columns.length <= MOST_COLUMNS) return block;
  const note = `${block.note ?? ""} The first ${MOST_COLUMNS} of ${block.columns.length.toLocaleString("en")} columns.`.trim();
  return { ...block, note, columns: block.columns.slice(0, MOST_COLUMNS), rows: block.rows.map((row) => row.slice(0, MOST_COLUMNS)) };
}

function table(whole, use, heading) {
  const block = narrowed(whole);
  const classes = (j, content) => [block.numeric?.[j] && "number", lengthOf(String(content ?? "").length)].filter(Boolean).join(" ") || null;
  const marked = new Set(block.marked ?? []);
  const off = new Set(block.toggle?.off ?? []);
  const { toggle } = block;
  const head = block.columns.map((name, j) => h("th", { scope: "col", class: classes(j, name) }, name));
  if (toggle) head.unshift(h("th", { scope: "col" }, toggle.label ?? "Counts"));
  const body = h("tbody");
  const row = (cells, i) => {
    const shown = cells.map((cell, j) => {
      const params = j === 0 ? block.open?.params?.[i] : null;
      const content = params && use.link ? h("a", { href: use.link(block.open.view, params) }, cell) : cell;
      return h(j === 0 ? "th" : "td", { scope: j === 0 ? "row" : null, class: classes(j, cell) }, content ?? "");
    });
    const id = toggle?.ids?.[i];
    if (toggle) {
      const box = h("input", { type: "checkbox", id: `counts-${id}`, checked: !off.has(id), "aria-label": `${toggle.label ?? "Counts"}: ${cells[0]}` });
      box.addEventListener("change", () => {
        if (box.checked) off.delete(id);
        else off.add(id);
        use.toggle?.(toggle.option ?? "leave_out", [...off]);
      });
      shown.unshift(h("td", {}, box));
    }
    return h("tr", { class: [marked.has(i) && "marked", off.has(id) && toggle && "off"].filter(Boolean).join(" ") || null }, shown);
  };
  const box = scroller(block.id === "preview" ? "table preview" : "table", block.title || "Table", h("table", { class: head.length > MANY_COLUMNS ? "many" : null }, h("thead", {}, h("tr", {}, head)), body));
  let next = 0;
  const more = h("button", { type: "button", class: "quiet", onclick: () => show(MORE_ROWS) });
  const show = (count) => {
    for (const end = Math.min(block.rows.length, next + count); next < end; next++) body.append(row(block.rows[next], next));
    more.textContent = `Show more of the ${block.rows.length.toLocaleString("en")} rows`;
    more.hidden = next >= block.rows.length;
  };
  const first = toggle ? FIRST_PEOPLE : FIRST_ROWS;
  show(block.rows.length <= first + 10 ? first + 10 : first);
  const note = block.note && h("p", { class: "note" }, block.note);
  const parts = [note, box, more];
  if (block.folded) return h("details", {}, h("summary", {}, block.title || "Table"), parts);
  return [block.title && h(heading, { class: "title" }, block.title), ...parts].filter(Boolean);
}

const lengthOf = (letters) => (letters > 20 ? "long" : letters <= 10 && "short");

const wrap = (draw) => (...given) => {
  const made = draw(...given);
  return Array.isArray(made) ? h("div", { class: "block" }, made) : made;
};

const KINDS = {
  text: sentence,
  tiles,
  places: wrap(places),
  table: wrap(table),
  chart: (block, use, heading) => picture(block, heading, use.open),
};
