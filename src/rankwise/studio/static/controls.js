// Things to choose from: selects, sliders, checks and fields that the server describes; and groups of buttons.

import { h } from "./dom.js";

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

// A control with its label; `tell` gets the new value.
export function control(about, tell, prefix = "control") {
  const id = `${prefix}-${about.param}`;
  const hint = about.hint && h("p", { class: "note", id: `${id}-hint` }, about.hint);
  const made = (MAKERS[about.type] ?? field)(about, id, tell);
  return h("div", { class: `control of-${about.type}` }, made, hint);
}

function select(about, id, tell) {
  const box = h("select", { id, onchange: () => tell(about.choices[box.selectedIndex].value) });
  for (const choice of about.choices) box.append(h("option", { selected: same(choice.value, about.value) }, choice.label ?? String(choice.value)));
  return [h("label", { for: id }, about.label), box];
}

function field(about, id, tell) {
  const number = about.type === "number";
  const box = h("input", { id, type: number ? "number" : "text", value: about.value ?? "", min: about.low, max: about.high, step: number ? (about.step ?? "any") : null });
  box.addEventListener("change", () => tell(number ? (box.value === "" ? null : Number(box.value)) : box.value));
  return [h("label", { for: id }, about.label), box];
}

function range(about, id, tell) {
  const auto = about.auto && same(about.value, about.auto.value);
  const value = auto ? (about.shown ?? about.low) : about.value;
  const shown = h("output", { for: id }, String(value ?? ""));
  const slider = h("input", { type: "range", id, min: about.low, max: about.high, step: about.step ?? 1, value });
  slider.addEventListener("input", () => (shown.textContent = slider.value));
  slider.addEventListener("change", () => tell(Number(slider.value)));
  const parts = [h("label", { for: id }, about.label), h("div", { class: "slider" }, slider, shown)];
  if (about.auto) {
    const box = h("input", { type: "checkbox", id: `${id}-auto`, checked: auto });
    box.addEventListener("change", () => tell(box.checked ? about.auto.value : Number(slider.value)));
    parts.push(h("label", { class: "check" }, box, about.auto.label));
  }
  return parts;
}

function checks(about, id, tell) {
  const chosen = about.value ?? [];
  const boxes = about.choices.map((choice, i) => {
    const box = h("input", { type: "checkbox", id: `${id}-${i}`, checked: chosen.some((each) => same(each, choice.value)) });
    return [box, choice];
  });
  const changed = () => tell(boxes.filter(([box]) => box.checked).map(([, choice]) => choice.value));
  return h(
    "fieldset",
    { onchange: changed },
    h("legend", {}, about.label),
    boxes.map(([box, choice]) => h("label", { class: "check" }, box, choice.label ?? String(choice.value))),
  );
}

const MAKERS = { select, range, checks, text: field, number: field };

// Choices side by side of which one holds; `tell` gets the one that was clicked.
export function segmented(legend, choices, id, tell) {
  const one = (choice, i) => {
    const key = `${id}-${i}`;
    const box = h("input", { type: "radio", name: id, id: key, checked: choice.chosen, onchange: () => tell(choice) });
    return h("span", { class: "segment" }, box, h("label", { for: key }, choice.label, choice.detail && h("small", {}, choice.detail)));
  };
  return h("fieldset", { class: "segments" }, h("legend", {}, legend), h("div", { class: "row" }, choices.map(one)));
}

// A form that asks about one person (or thing); `send` gets the values by name.
export function form(about, send) {
  const values = {};
  const fields = about.controls.map((each) => {
    const first = each.type === "select" && each.value === undefined ? each.choices[0]?.value : each.value;
    if (first !== undefined && first !== null) values[each.param] = first;
    return control(each, (value) => (values[each.param] = value), "form");
  });
  return h(
    "form",
    {
      class: "controls",
      onsubmit: (event) => {
        event.preventDefault();
        send(Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null && value !== "")));
      },
    },
    fields,
    h("p", { class: "actions" }, h("button", { type: "submit", class: "main" }, about.button ?? "Show")),
  );
}
