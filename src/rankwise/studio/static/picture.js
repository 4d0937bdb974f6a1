// A picture on the page: its title, drawing, caption and files. It is drawn again when its room or the colors change.

import { draw } from "./charts.js";
import { h, s, save } from "./dom.js";

const WRITTEN = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "stroke-linecap", "opacity", "font-family", "font-size", "font-weight"];
const FILE_WIDTH = 760;

function colorsOf(element) {
  const style = getComputedStyle(element);
  const one = (name) => style.getPropertyValue(name).trim();
  return { low: one("--heat-low"), high: one("--heat-high"), other: one("--heat-other") };
}

// One word above the page for whichever mark is hovered or has the focus.
let tip = null;

function showTip(mark) {
  tip ??= document.body.appendChild(h("div", { class: "tip", "aria-hidden": "true" }));
  tip.textContent = mark.getAttribute("aria-label");
  tip.hidden = false;
  const at = (mark.querySelector(".dot, .cell, .bar-fill, .node") ?? mark).getBoundingClientRect();
  const own = tip.getBoundingClientRect();
  const left = Math.min(Math.max(8, at.left + at.width / 2 - own.width / 2), document.documentElement.clientWidth - own.width - 8);
  const above = at.top - own.height - 8;
  tip.style.left = `${left + scrollX}px`;
  tip.style.top = `${(above > 0 ? above : at.bottom + 8) + scrollY}px`;
}

export function hideTip() {
  if (tip) tip.hidden = true;
}

// One stop of the Tab key for a picture; the arrow keys go from mark to mark, Enter opens.
function listen(svg, open) {
  const marks = [...svg.querySelectorAll(".mark")];
  if (marks.length) marks[0].setAttribute("tabindex", 0);
  const markOf = (event) => event.target.closest?.(".mark");
  const focus = (mark) => {
    if (!mark) return;
    svg.querySelector(".mark[tabindex='0']")?.setAttribute("tabindex", -1);
    mark.setAttribute("tabindex", 0);
    mark.focus();
  };
  svg.addEventListener("pointerover", (event) => (markOf(event) ? showTip(markOf(event)) : hideTip()));
  svg.addEventListener("pointerleave", hideTip);
  svg.addEventListener("focusin", (event) => markOf(event) && showTip(markOf(event)));
  svg.addEventListener("focusout", hideTip);
  svg.addEventListener("click", (event) => {
    const mark = markOf(event);
    if (!mark) return;
    focus(mark);
    if (mark.classList.contains("opens")) open(mark);
  });
  svg.addEventListener("keydown", (event) => {
    const mark = markOf(event);
    if (!mark) return;
    if ((event.key === "Enter" || event.key === " ") && mark.classList.contains("opens")) open(mark);
    else if (event.key === "Escape") hideTip();
    else if (event.key.startsWith("Arrow")) focus(neighbor(marks, mark, event.key));
    else return;
    event.preventDefault();
  });
}

function neighbor(marks, mark, key) {
  const back = key === "ArrowLeft" || key === "ArrowUp";
  if (mark.dataset.row === undefined) return marks[marks.indexOf(mark) + (back ? -1 : 1)];
  const [row, column] = [Number(mark.dataset.row), Number(mark.dataset.column)];
  const upright = key === "ArrowUp" || key === "ArrowDown";
  const wanted = upright ? [row + (back ? -1 : 1), column] : [row, column + (back ? -1 : 1)];
  return marks.find((each) => Number(each.dataset.row) === wanted[0] && Number(each.dataset.column) === wanted[1]);
}

// The picture as a file holds it: on white, with its colors written into it, and what a hover says as titles.
function written(block) {
  const sheet = document.body.appendChild(h("div", { class: "on-paper" }));
  try {
    const svg = draw(block.chart, FILE_WIDTH, colorsOf(sheet));
    sheet.append(svg);
    for (const element of svg.querySelectorAll("*")) {
      const style = getComputedStyle(element);
      if (element.matches("path, rect, circle, text")) for (const name of WRITTEN) element.setAttribute(name, style.getPropertyValue(name));
      if (element.classList.contains("mark")) element.prepend(s("title", {}, element.getAttribute("aria-label")));
    }
    for (const element of svg.querySelectorAll("*")) for (const name of ["class", "tabindex", "role", "aria-label", "aria-hidden"]) element.removeAttribute(name);
    const [width, height] = [Number(svg.getAttribute("width")) + 32, Number(svg.getAttribute("height")) + 32];
    svg.setAttribute("viewBox", `-16 -16 ${width} ${height}`);
    svg.setAttribute("width", width);
    svg.setAttribute("height", height);
    svg.prepend(s("title", {}, block.title ?? ""), s("desc", {}, block.description ?? ""), s("rect", { x: -16, y: -16, width, height, fill: "#ffffff" }));
    return { content: new XMLSerializer().serializeToString(svg), width, height };
  } finally {
    sheet.remove();
  }
}

async function png({ content, width, height }, times = 3) {
  const url = URL.createObjectURL(new Blob([content], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = h("canvas", { width: width * times, height: height * times });
    canvas.getContext("2d").drawImage(image, 0, 0, width * times, height * times);
    return await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  } finally {
    URL.revokeObjectURL(url);
  }
}

// The figure of a chart block. `open` gets the chart, the row and the column of a cell that was clicked.
export function picture(block, heading, open) {
  const room = h("div", { class: "drawing" });
  const name = block.id || "picture";
  const described = `about-${name}`;
  const figure = h(
    "figure",
    { class: `picture ${block.chart.type}`, id: `picture-${name}` },
    block.title && h(heading, { class: "title" }, block.title),
    room,
    block.caption && h("figcaption", {}, block.caption),
    h("p", { class: "unseen", id: described }, block.description ?? ""),
    h(
      "p",
      { class: "files" },
      h("button", { type: "button", class: "quiet", onclick: () => save(new Blob([written(block).content], { type: "image/svg+xml" }), `${name}.svg`), "aria-label": `Download ${block.title ?? "picture"} as SVG` }, "Download SVG"),
      h("button", { type: "button", class: "quiet", onclick: async () => save(await png(written(block)), `${name}.png`), "aria-label": `Download ${block.title ?? "picture"} as PNG` }, "Download PNG"),
    ),
  );
  let drawn = 0;
  const redraw = () => {
    const width = Math.floor(room.clientWidth);
    if (!width) return;
    drawn = width;
    const focused = [...room.querySelectorAll(".mark")].indexOf(document.activeElement);
    const svg = draw(block.chart, Math.min(width, 900), colorsOf(room));
    svg.setAttribute("aria-label", block.title || "Picture");
    if (block.description) svg.setAttribute("aria-describedby", described);
    listen(svg, (mark) => open?.(block.chart, Number(mark.dataset.row), Number(mark.dataset.column)));
    room.replaceChildren(svg);
    svg.querySelectorAll(".mark")[focused]?.focus({ preventScroll: true });
    // A drawing that is wider than the page scrolls in its own room, with the keyboard, too.
    room.classList.toggle("scrolls", Number(svg.getAttribute("width")) > width);
  };
  new ResizeObserver(() => Math.abs(room.clientWidth - drawn) > 4 && redraw()).observe(room);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const recolor = () => (room.isConnected ? redraw() : dark.removeEventListener("change", recolor));
  dark.addEventListener("change", recolor);
  return figure;
}
