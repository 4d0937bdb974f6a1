// The first view: a file is dropped, chosen or pasted, or an example is taken.

import * as api from "./api.js";
import { h } from "./dom.js";
import { problem } from "./jobs.js";

const KINDS = ".csv,.tsv,.txt,.dat,.xlsx,.xlsm,.ods,.sav,.zsav,.dta,.parquet,.arrow,.feather,.soc,.soi,.toc,.toi,.arff,.xarff,.gz,.letor,.qrels,.run,.rankwise";

export async function start(main, opened) {
  const said = h("div", { "aria-live": "polite" });
  const begin = async (make, what) => {
    said.replaceChildren(h("p", { class: "note" }, `Taking ${what} in …`));
    try {
      opened(await make());
    } catch (error) {
      said.replaceChildren(problem(error));
      said.scrollIntoView({ block: "nearest" });
    }
  };
  const take = (file) => begin(() => (file.name.endsWith(".rankwise") ? api.openProject(file) : api.newProject(file.name, file)), file.name);

  const input = h("input", { type: "file", id: "file", accept: KINDS, class: "unseen", onchange: () => input.files[0] && take(input.files[0]) });
  const zone = h(
    "div",
    { class: "drop", id: "drop" },
    h("p", { class: "lead" }, "Drop a file here"),
    h("p", {}, input, h("label", { for: "file", class: "button main" }, "Choose a file")),
    h("p", { class: "note" }, "CSV, Excel, SPSS (.sav), PrefLib, LETOR or TREC files, or a project that you saved here (.rankwise)."),
  );
  for (const name of ["dragover", "dragleave", "drop"]) {
    zone.addEventListener(name, (event) => {
      event.preventDefault();
      zone.classList.toggle("over", name === "dragover");
      if (name === "drop" && event.dataTransfer.files[0]) take(event.dataTransfer.files[0]);
    });
  }

  const pasted = h("textarea", { id: "pasted", rows: 4, spellcheck: "false", placeholder: "Tea\tCoffee\tCocoa\n1\t2\t3\n2\t1\t3", "aria-describedby": "pasted-hint" });
  const paste = h(
    "form",
    {
      class: "card",
      onsubmit: (event) => {
        event.preventDefault();
        if (pasted.value.trim()) begin(() => api.newProject("pasted.csv", pasted.value), "the pasted rows");
        else pasted.focus();
      },
    },
    h("h2", {}, h("label", { for: "pasted" }, "Or paste from a spreadsheet")),
    h("p", { class: "note", id: "pasted-hint" }, "Copy the cells with their header row and paste them here."),
    pasted,
    h("p", { class: "actions" }, h("button", { type: "submit", class: "main" }, "Use these rows")),
  );

  const list = h("div", { class: "examples" });
  main.replaceChildren(
    h("h1", { tabindex: -1 }, "From rankings to an answer"),
    h("p", { class: "lead" }, "Open the answers of a survey, the scores of a jury or search results. See what people agree on, where they differ, and how sure the answer is."),
    h("section", { class: "card", "aria-label": "Your file" }, zone, said),
    paste,
    h("section", { class: "card", "aria-labelledby": "try" }, h("h2", { id: "try" }, "Or try an example"), list),
  );
  try {
    for (const example of await api.examples()) {
      list.append(
        h(
          "button",
          { type: "button", class: "example", onclick: () => begin(() => api.newExample(example.name), "the example") },
          h("b", {}, example.title),
          h("small", {}, example.kind === "search" ? "Search results" : "Survey or jury"),
        ),
      );
    }
  } catch (error) {
    list.append(problem(error));
  }
}
