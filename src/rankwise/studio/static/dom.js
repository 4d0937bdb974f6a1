// Making elements. Names that people gave reach the page through text nodes and attributes only, never as HTML.

const SVG = "http://www.w3.org/2000/svg";

// Signs in a name that would turn the text around it are not shown.
const straight = (text) => text.replace(/[\u202a-\u202e\u2066-\u2069]/g, "");

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : straight(String(value)));
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child instanceof Node ? child : straight(String(child)));
  }
  return element;
}

// An HTML element; attributes that are null or false are left out, "onclick" and the like are listeners.
export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

// The same for SVG.
export function s(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

let canvas = null;

// Width of a text in pixels, in the font of the pictures.
export function textWidth(text, size = 13, weight = 400) {
  canvas ??= document.createElement("canvas").getContext("2d");
  canvas.font = `${weight} ${size}px system-ui, "Segoe UI", Roboto, "Liberation Sans", sans-serif`;
  return canvas.measureText(text).width;
}

// The text, cut with an ellipsis where it is wider than the room.
export function cut(text, room, size = 13, weight = 400) {
  const whole = String(text);
  if (textWidth(whole, size, weight) <= room) return whole;
  const letters = Array.from(whole);
  let [fits, over] = [0, letters.length];
  while (over - fits > 1) {
    const middle = (fits + over) >> 1;
    if (textWidth(letters.slice(0, middle).join("") + "…", size, weight) <= room) fits = middle;
    else over = middle;
  }
  return letters.slice(0, fits).join("").trimEnd() + "…";
}

// The lines of a text in a room, at most so many; the last is cut where more would follow.
export function lines(text, room, most = 3, size = 13, weight = 400) {
  const found = [];
  let line = "";
  const words = String(text).split(/\s+/).filter(Boolean);
  for (const [i, word] of words.entries()) {
    const longer = line ? `${line} ${word}` : word;
    if (!line || textWidth(longer, size, weight) <= room) line = longer;
    else if (found.length === most - 1) {
      line = [line, ...words.slice(i)].join(" ");
      break;
    } else {
      found.push(line);
      line = word;
    }
  }
  return [...found, line].map((each) => cut(each, room, size, weight));
}

// Hand a file to the person, as a click on a link does.
export function save(blob, name) {
  const url = URL.createObjectURL(blob);
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
