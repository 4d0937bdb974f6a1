// Pictures as SVG, drawn once from the charts that the server describes. Every value is a mark: it can be hovered,
// reached with the keyboard and read aloud. `picture.js` puts them on the page and hands them out as files.

import { cut, lines, s, textWidth } from "./dom.js";

const SIZE = 13;
const SHAPES = ["circle", "triangle", "square", "diamond"];

// A picture of this width; `colors` are those of the page it stands on (see `heat`).
export function draw(chart, width, colors) {
  const [svg, w, height] = DRAWERS[chart.type](chart, width, colors);
  svg.setAttribute("viewBox", `0 0 ${Math.ceil(w)} ${Math.ceil(height)}`);
  svg.setAttribute("width", Math.ceil(w));
  svg.setAttribute("height", Math.ceil(height));
  svg.setAttribute("role", "group");
  return svg;
}

function text(x, y, content, name = "", anchor = "start") {
  return s("text", { x, y, dy: ".35em", class: name || null, "text-anchor": anchor }, String(content));
}

// What is there to see only: marks say the same in words.
const quiet = (...children) => s("g", { "aria-hidden": "true" }, ...children);

function mark(label, attributes, ...children) {
  return s("g", { class: "mark", role: "img", tabindex: -1, "aria-label": label, ...attributes }, ...children);
}

// Round numbers between two ends; whole ones where only these make sense.
function ticks(low, high, about = 5, whole = false) {
  const rough = Math.max((high - low || 1) / about, whole ? 1 : 0);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((times) => times * power >= rough);
  const found = [];
  // Places: the best and the worst are named, whatever lies between; every second one is counted from the best.
  const start = whole && step === 2 ? low : Math.ceil(low / step - 1e-9) * step;
  for (let value = start; value <= high + 1e-9 * step; value = start + found.length * step) found.push(value);
  if (whole && step > 1 && found[0] > low) found.splice(0, found[0] - low < step / 2 ? 1 : 0, low);
  if (whole && step > 1 && found.at(-1) < high) found.splice(high - found.at(-1) < step / 2 ? -1 : found.length, 1, high);
  if (found.length < 3 && about < 12) return ticks(low, high, 2 * about, whole);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return found.map((value) => [value, value.toFixed(digits).replace(/^-(0(\.0*)?)$/, "$1").replace("-", "−")]);
}

const scale = (low, high, from, to) => (value) => from + ((value - low) / (high - low || 1)) * (to - from);

const present = (values) => values.filter((value) => value !== null && value !== undefined && Number.isFinite(value));

const widest = (labels, size = SIZE) => Math.max(0, ...labels.map((label) => textWidth(label, size)));

function shape(kind, x, y, r, name) {
  const at = { class: name };
  if (kind === "square") return s("rect", { ...at, x: x - r * 0.9, y: y - r * 0.9, width: r * 1.8, height: r * 1.8 });
  if (kind === "triangle") return s("path", { ...at, d: `M${x} ${y - r * 1.15}L${x + r * 1.1} ${y + r * 0.8}H${x - r * 1.1}Z` });
  if (kind === "diamond") return s("path", { ...at, d: `M${x} ${y - r * 1.25}L${x + r * 1.25} ${y}L${x} ${y + r * 1.25}L${x - r * 1.25} ${y}Z` });
  return s("circle", { ...at, cx: x, cy: y, r });
}

// Names above a picture with their color and shape; returns the group and its height.
function legend(labels, width, kind) {
  const group = quiet();
  let [x, y] = [0, 9];
  for (const [i, label] of labels.entries()) {
    const shown = cut(label, Math.min(width - 30, 260));
    const room = 22 + textWidth(shown) + 18;
    if (x > 0 && x + room > width) [x, y] = [0, y + 22];
    if (kind === "line") group.append(s("path", { class: `line series-${i % 7}`, d: `M${x} ${y}H${x + 16}` }));
    else group.append(shape(SHAPES[i % 4], x + 7, y, 5, `dot series-${i % 7}`));
    group.append(text(x + 22, y, shown));
    x += room;
  }
  return [group, labels.length ? y + 18 : 0];
}

// Rows of one number each: labels at the left, or above the line where the picture is narrow.
function rowsFrame(rows, width, valueRoom) {
  const narrow = width < 460;
  const labelRoom = narrow ? 0 : Math.min(widest(rows.map((row) => row.label)) + 14, width * 0.36);
  const row = narrow ? 46 : 30;
  return { narrow, labelRoom, row, left: labelRoom + (narrow ? 8 : 10), right: width - valueRoom - 16 };
}

function rowLabel(frame, row, y, width) {
  if (frame.narrow) return [text(0, y - 17, cut(row.label, width - textWidth(row.text ?? "") - 14, SIZE, 600), "strong")];
  return [text(frame.labelRoom, y, cut(row.label, frame.labelRoom - 6), "", "end")];
}

function rowValue(frame, row, y, width) {
  return text(width, frame.narrow ? y - 17 : y, row.text ?? "", "value", "end");
}

function dots(chart, width) {
  const rows = chart.rows;
  const frame = rowsFrame(rows, width, width < 460 ? 0 : widest(rows.map((row) => row.text ?? "")) + 8);
  const all = present(rows.flatMap((row) => [row.value, row.low, row.high]));
  const low = chart.axis?.low ?? Math.min(...all);
  const high = chart.axis?.high ?? Math.max(...all);
  const x = scale(low, high, frame.left, frame.right);
  const top = frame.narrow ? 30 : 16;
  const bottom = top + frame.row * (rows.length - 1) + 16;
  const svg = s("svg");
  const ground = quiet();
  for (const [value, label] of ticks(low, high, (frame.right - frame.left) / 80, [low, high].every(Number.isInteger))) {
    ground.append(s("path", { class: "grid", d: `M${x(value)} ${top - 12}V${bottom}` }), text(x(value), bottom + 13, label, "tick", "middle"));
  }
  const zero = chart.axis?.zero;
  if (zero !== null && zero !== undefined) ground.append(s("path", { class: "zero", d: `M${x(zero)} ${top - 12}V${bottom}` }));
  ground.append(text((frame.left + frame.right) / 2, bottom + 34, chart.axis?.label ?? "", "axis", "middle"));
  svg.append(ground);
  for (const [i, row] of rows.entries()) {
    const y = top + i * frame.row;
    const group = mark(`${row.label}: ${row.text ?? row.value}`, {});
    group.append(s("rect", { class: "hit", x: 0, y: y - frame.row / 2, width, height: frame.row }));
    group.append(...rowLabel(frame, row, y, width), rowValue(frame, row, y, width));
    if (present([row.low, row.high]).length === 2) group.append(s("path", { class: "interval", d: `M${x(row.low)} ${y}H${x(row.high)}` }));
    if (present([row.value]).length) group.append(s("circle", { class: "dot series-0", cx: x(row.value), cy: y, r: 6 }));
    svg.append(group);
  }
  return [svg, width, bottom + (chart.axis?.label ? 48 : 26)];
}

function bars(chart, width) {
  const rows = chart.rows;
  const frame = rowsFrame(rows, width, width < 460 ? 0 : widest(rows.map((row) => row.text ?? "")) + 8);
  const all = present(rows.map((row) => row.value));
  const low = Math.min(0, chart.axis?.low ?? 0, ...all);
  const high = Math.max(chart.axis?.high ?? 0, 0, ...all) || 1;
  const x = scale(low, high, frame.left, frame.right);
  const top = frame.narrow ? 30 : 16;
  const bottom = top + frame.row * (rows.length - 1) + 14;
  const svg = s("svg");
  for (const [i, row] of rows.entries()) {
    const y = top + i * frame.row;
    const group = mark(`${row.label}: ${row.text ?? row.value}`, {});
    group.append(s("rect", { class: "hit", x: 0, y: y - frame.row / 2, width, height: frame.row }));
    group.append(...rowLabel(frame, row, y, width), rowValue(frame, row, y, width));
    const ends = [x(0), x(row.value ?? 0)].sort((a, b) => a - b);
    group.append(s("rect", { class: "bar-fill", x: ends[0], y: y - 8, width: Math.max(1, ends[1] - ends[0]), height: 16, rx: 2 }));
    svg.append(group);
  }
  svg.append(quiet(s("path", { class: "zero", d: `M${x(0)} ${top - 14}V${bottom}` }), text((frame.left + frame.right) / 2, bottom + 16, chart.axis?.label ?? "", "axis", "middle")));
  return [svg, width, bottom + (chart.axis?.label ? 30 : 6)];
}

const channels = (color) => [1, 3, 5].map((i) => parseInt(color.slice(i, i + 2), 16));
const hex = (rgb) => "#" + rgb.map((each) => Math.round(each).toString(16).padStart(2, "0")).join("");
const mix = (from, to, share) => hex(channels(from).map((each, i) => each + (channels(to)[i] - each) * share));

function luminance(color) {
  const [r, g, b] = channels(color).map((each) => (each / 255 <= 0.04045 ? each / 255 / 12.92 : ((each / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

// The color of a share, from nothing to all; "diverging" is orange below one half and blue above.
function heat(value, kind, colors) {
  if (kind !== "diverging") return mix(colors.low, colors.high, value);
  return value < 0.5 ? mix(colors.low, colors.other, 1 - 2 * value) : mix(colors.low, colors.high, 2 * value - 1);
}

// The width of a cell, and how its number is written: in full, without the percent sign, or not at all where there are
// so many cells that only colors fit. A narrow picture scrolls instead.
function cellSize(chart, width, labelRoom) {
  const texts = chart.texts?.flat() ?? [];
  const room = Math.min(84, (width - labelRoom - 2) / chart.columns.length);
  const bare = (text) => text.replace("%", "");
  const full = Math.max(28, widest(texts, 12) + 5);
  const short = Math.max(20, widest(texts.map(bare), 12) + 4);
  if (room >= full) return { cell: room, writes: (text) => text };
  if (room >= short || room < 13 || width < 460) return { cell: Math.max(short, room), writes: bare };
  return { cell: room, writes: () => "" };
}

function heatmap(chart, width, colors) {
  const { rows, columns } = chart;
  const labelRoom = Math.min(widest(rows) + 12, Math.max(84, width * (width < 460 ? 0.33 : 0.3)));
  const { cell, writes } = cellSize(chart, width, labelRoom);
  const written = rows.map((label) => lines(label, labelRoom - 10, 2));
  const high = Math.min(38, Math.max(written.some((each) => each.length > 1) ? 34 : 22, cell));
  const upright = widest(columns) > cell - 6;
  const longest = width < 460 ? 120 : 190;
  const headRoom = upright ? Math.min(widest(columns), longest) + 10 : 24;
  const svg = s("svg");
  const names = quiet();
  for (const [j, label] of columns.entries()) {
    const x = labelRoom + (j + 0.5) * cell;
    const shown = text(x, headRoom - 10, cut(label, upright ? longest - 4 : cell), "", upright ? "start" : "middle");
    if (upright) shown.setAttribute("transform", `rotate(-90 ${x} ${headRoom - 10})`);
    names.append(shown);
  }
  for (const [i, each] of written.entries()) {
    each.forEach((line, k) => names.append(text(labelRoom - 8, headRoom + (i + 0.5) * high + (k - (each.length - 1) / 2) * 15, line, "", "end")));
  }
  svg.append(names);
  for (const [i, values] of chart.values.entries()) {
    for (const [j, value] of values.entries()) {
      const [x, y] = [labelRoom + j * cell, headRoom + i * high];
      const known = value !== null && value !== undefined;
      const said = chart.texts?.[i]?.[j] ?? "";
      const shown = writes(said);
      const label = chart.hints?.[i]?.[j] || `${rows[i]}, ${columns[j]}: ${said || "no value"}`;
      const opens = chart.cell && known;
      const group = mark(label, { "data-row": i, "data-column": j, role: opens ? "button" : "img", class: opens ? "mark opens" : "mark" });
      const color = known ? heat(Math.min(1, Math.max(0, value)), chart.scale, colors) : null;
      group.append(s("rect", { class: known ? "cell" : "cell blank", x, y, width: cell - 1.5, height: high - 1.5, rx: 3, fill: color }));
      if (shown) {
        const ink = !known ? "tick" : luminance(color) > 0.18 ? "cell-text on-light" : "cell-text on-dark";
        group.append(text(x + cell / 2 - 0.75, y + high / 2 - 0.75, shown, ink, "middle"));
      }
      svg.append(group);
    }
  }
  return [svg, Math.max(width, labelRoom + cell * columns.length), headRoom + high * rows.length];
}

// Places of labels, moved apart until none covers another.
function apart(wanted, room) {
  const order = wanted.map((y, i) => [y, i]).sort((a, b) => a[0] - b[0]);
  const found = [...wanted];
  let last = -Infinity;
  for (const [y, i] of order) last = found[i] = Math.max(y, last + room);
  return found;
}

function slopes(chart, width) {
  const { columns, rows } = chart;
  const most = Math.max(...present(rows.flatMap((row) => row.places)), 1);
  // A narrow picture has room for the names at the left only, in two lines.
  const narrow = width < 460;
  const label = Math.min(widest(rows.map((row) => row.label)) + 34, width * (narrow ? 0.36 : 0.32));
  const named = rows.map((row) => (narrow ? lines(row.label, label - 34, 2) : [cut(row.label, label - 34)]));
  const end = narrow ? 26 : label;
  const gap = Math.max(narrow ? 52 : 88, (width - label - end) / Math.max(1, columns.length - 1));
  const w = Math.max(width, label + end + gap * (columns.length - 1));
  const head = 44;
  const step = Math.max(named.some((each) => each.length > 1) ? 36 : 26, Math.min(34, 420 / most));
  const x = (j) => label + (columns.length === 1 ? (w - label - end) / 2 : (j * (w - label - end)) / (columns.length - 1));
  const y = (place) => head + 14 + (place - 1) * step;
  const svg = s("svg");
  const ground = quiet();
  for (const [j, name] of columns.entries()) {
    // At the sides there is only half of the room.
    const room = (j > 0 && j < columns.length - 1 ? gap : Math.min(2 * (j ? end : label), gap)) - (narrow ? 2 : 10);
    for (const [k, line] of lines(name, room, 2, SIZE, 600).entries()) ground.append(text(x(j), 10 + 16 * k, line, "strong", "middle"));
    ground.append(s("path", { class: "grid", d: `M${x(j)} ${head}V${y(most) + 12}` }));
  }
  svg.append(ground);
  const apartBy = named.some((each) => each.length > 1) ? 32 : 17;
  const ends = [0, columns.length - 1].map((j) => apart(rows.map((row) => (row.places[j] == null ? -100 : y(row.places[j]))), apartBy));
  for (const [i, row] of rows.entries()) {
    const said = columns.map((name, j) => `${name}: ${row.places[j] == null ? "no place" : `place ${row.places[j]}`}`).join("; ");
    const group = mark(`${row.label}. ${said}`, { class: "mark slope" });
    let path = "";
    row.places.forEach((place, j) => {
      if (place != null) path += `${path && row.places[j - 1] != null ? "L" : "M"}${x(j)} ${y(place)}`;
    });
    group.append(s("path", { class: "wide-hit", d: path }), s("path", { class: `line series-${i % 7}`, d: path }));
    row.places.forEach((place, j) => {
      if (place == null) return;
      group.append(shape(SHAPES[i % 4], x(j), y(place), 5, `dot series-${i % 7}`));
    });
    [0, columns.length - 1].forEach((j, side) => {
      if (row.places[j] == null || (side && columns.length === 1)) return;
      const at = ends[side][i];
      if (side) return group.append(text(x(j) + 12, at, narrow ? row.places[j] : `${row.places[j]}  ${named[i][0]}`));
      group.append(text(x(j) - 12, at, row.places[j], "", "end"));
      named[i].forEach((line, k, all) => group.append(text(x(j) - 18 - textWidth(`${most}`), at + (k - (all.length - 1) / 2) * 15, line, "", "end")));
    });
    svg.append(group);
  }
  return [svg, w, Math.max(y(most), ...ends.flat()) + 20];
}

// Where the names of points stand: points in one place share a line of names, and no line covers another.
function pointNames(points, x, y, width) {
  const shared = [];
  for (const point of points) {
    const [at, up] = [x(point.x), y(point.y)];
    const found = shared.find((one) => Math.hypot(one.at - at, one.up - up) < 6);
    if (found) found.labels.push(point.label);
    else shared.push({ point, at, up, labels: [point.label] });
  }
  const taken = [];
  const found = new Map();
  for (const { point, at, up, labels } of shared.sort((a, b) => a.up - b.up)) {
    const atRight = at < width * 0.7;
    const label = cut(labels.join(", "), width * 0.28);
    const from = atRight ? at + 14 : at - 14 - textWidth(label);
    let line = up;
    while (taken.some(([left, right, other]) => left < from + textWidth(label) && from < right && Math.abs(other - line) < 15)) line += 5;
    taken.push([from, from + textWidth(label), line]);
    found.set(point, { x: at + (atRight ? 14 : -14), y: line, label, anchor: atRight ? "start" : "end" });
  }
  return found;
}

function map(chart, width) {
  const points = chart.points;
  const groups = [...new Set(points.map((point) => point.group ?? ""))].filter((name) => name !== "").sort();
  const [names, room] = legend(groups.slice(0, 12), width, "dot");
  const height = Math.min(460, width * 0.75);
  const xs = points.map((point) => point.x);
  const ys = points.map((point) => point.y);
  const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  // One unit is as long up as it is across: distances in the picture are the distances between raters.
  const unit = Math.min((width - 60) / (right - left || 1), (height - 50) / (high - low || 1));
  const x = (value) => width / 2 + (value - (left + right) / 2) * unit;
  const y = (value) => room + height / 2 - (value - (low + high) / 2) * unit;
  const svg = s("svg", {}, names, quiet(s("rect", { class: "frame", x: 1, y: room + 1, width: width - 3, height: height - 2, rx: 6 })));
  const radius = points.length > 400 ? 3 : 5.5;
  const named = pointNames(points.filter((point) => point.outlier || points.length <= 12), x, y, width);
  for (const point of points) {
    const kind = Math.max(0, groups.indexOf(point.group ?? ""));
    const group = mark(point.text || point.label, {}, shape(SHAPES[kind % 4], x(point.x), y(point.y), radius, `dot series-${kind % 7}`));
    if (point.outlier) group.append(s("circle", { class: "ring", cx: x(point.x), cy: y(point.y), r: radius + 4 }));
    const written = named.get(point);
    if (written) group.append(text(written.x, written.y, written.label, "", written.anchor));
    svg.append(group);
  }
  return [svg, width, room + height + 2];
}

function curves(chart, width) {
  const named = chart.series.length > 1;
  const [names, room] = legend(named ? chart.series.map((one) => one.label) : [], width, "line");
  const all = present(chart.series.flatMap((one) => [...one.y, ...(one.low ?? []), ...(one.high ?? [])]));
  const spread = Math.max(...all) - Math.min(...all) || 1;
  const [low, high] = [Math.min(...all) - 0.06 * spread, Math.max(...all) + 0.06 * spread];
  const marks = ticks(low, high, 5);
  const left = widest(marks.map((each) => each[1]), 12) + 30;
  const height = Math.min(320, Math.max(200, width * 0.5));
  const numbers = chart.x.every((each) => typeof each === "number");
  // Answers in words may take two lines, and the last one half of its width beyond its point.
  const gap = (width - left - 28) / Math.max(1, chart.x.length - 1);
  const every = Math.ceil((numbers ? 48 : 64) / gap);
  const captions = chart.x.map((value) => (numbers ? [String(value)] : lines(value, Math.max(64, gap * every) - 10, 2, 12)));
  const beyond = Math.max(0, ...captions.map((each, i) => (i % every === 0 ? widest(each, 12) / 2 - gap * (chart.x.length - 1 - i) : 0)));
  const below = numbers ? 0 : 14;
  const [top, bottom, right] = [room + 10, room + height, width - Math.max(16, beyond)];
  const at = numbers ? chart.x : chart.x.map((_, i) => i);
  const x = scale(Math.min(...at), Math.max(...at), left + 12, right - 4);
  const y = chart.flipped ? scale(low, high, top, bottom) : scale(low, high, bottom, top);
  const svg = s("svg", {}, names);
  const ground = quiet();
  for (const [value, label] of marks) ground.append(s("path", { class: "grid", d: `M${left} ${y(value)}H${right}` }), text(left - 6, y(value), label, "tick", "end"));
  at.forEach((value, i) => {
    if (i % every === 0) captions[i].forEach((line, k) => ground.append(text(x(value), bottom + 14 + 14 * k, line, "tick", "middle")));
  });
  const side = text(10, (top + bottom) / 2, cut(chart.y_label ?? "", bottom - top), "axis", "middle");
  side.setAttribute("transform", `rotate(-90 10 ${(top + bottom) / 2})`);
  ground.append(side, text((left + right) / 2, bottom + 34 + below, cut(chart.x_label ?? "", width - 20, 12), "axis", "middle"));
  if (chart.marked != null) ground.append(s("path", { class: "zero", d: `M${x(at[chart.marked])} ${top}V${bottom}` }));
  svg.append(ground);
  for (const [k, one] of chart.series.entries()) {
    const there = at.map((_, i) => i).filter((i) => one.y[i] != null);
    if (one.low && one.high) {
      const band = there.map((i) => `${x(at[i])} ${y(one.high[i] ?? one.y[i])}`).concat(there.toReversed().map((i) => `${x(at[i])} ${y(one.low[i] ?? one.y[i])}`));
      svg.append(quiet(s("path", { class: `band series-${k % 7}`, d: `M${band.join("L")}Z` })));
    }
    svg.append(quiet(s("path", { class: `line series-${k % 7}`, d: "M" + there.map((i) => `${x(at[i])} ${y(one.y[i])}`).join("L") })));
    for (const i of there) {
      const chosen = chart.marked === i;
      const label = `${named ? `${one.label}. ` : ""}${chart.x_label ?? ""} ${chart.x[i]}: ${one.texts?.[i] ?? Number(one.y[i].toPrecision(5))}${chosen ? " (chosen)" : ""}`;
      svg.append(mark(label.trim(), {}, shape(SHAPES[k % 4], x(at[i]), y(one.y[i]), chosen ? 7 : there.length > 40 ? 2.5 : 4.5, `dot series-${chosen ? 1 : k % 7}`)));
    }
  }
  return [svg, width, bottom + 48 + below];
}

// The tree as an outline: a node under its parent, so that whole questions and whole rankings fit a phone, too.
function tree(chart, width) {
  const children = new Map();
  for (const node of chart.nodes) children.set(node.parent, [...(children.get(node.parent) ?? []), node]);
  const svg = s("svg");
  const stems = quiet();
  svg.append(stems);
  let top = 2;
  const indent = width < 460 ? 18 : 32;
  const place = (node, depth) => {
    const x = depth * indent + 1;
    const room = width - x - 26;
    const isLeaf = !children.has(node.id);
    const parts = [];
    const put = (content, most, name, weight) => lines(content, room, most, SIZE, weight).forEach((line) => parts.push([line, name]));
    if (node.branch) put(node.branch, 2, "branch", 600);
    const facts = [node.n != null ? `${node.n} people` : "", node.p ? String(node.p) : ""].filter(Boolean).join(" · ");
    if (node.title) put(node.title, 3, "strong", 600);
    if (facts) put(facts, 1, "tick", 400);
    if (node.ranking?.length) put(node.ranking.map((name, i) => `${i + 1} ${name}`).join(" · "), Infinity, "", 400);
    const height = parts.length * 19 + 14;
    const said = [node.branch, node.title, facts, node.ranking?.length ? `ranking: ${node.ranking.join(", ")}` : ""].filter(Boolean).join(". ");
    const group = mark(said, { class: isLeaf ? "mark leaf" : "mark inner" }, s("rect", { class: "node", x, y: top, width: width - x - 2, height, rx: 6 }));
    parts.forEach(([line, name], i) => group.append(text(x + 12, top + 17 + i * 19, line, name)));
    svg.append(group);
    const own = { top, middle: top + height / 2, bottom: top + height };
    top += height + 10;
    for (const child of children.get(node.id) ?? []) {
      const below = place(child, depth + 1);
      stems.append(s("path", { class: "stem", d: `M${x + indent / 2} ${own.bottom}V${below.middle}H${x + indent}` }));
    }
    return own;
  };
  for (const root of children.get(null) ?? []) place(root, 0);
  return [svg, width, top];
}

const DRAWERS = { dots, bars, heatmap, slopes, map, tree, lines: curves };
