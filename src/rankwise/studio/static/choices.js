// What can be chosen in each view: turns the facts of an answer ("this rule", "these columns") into controls.

const RULES = [
  ["kemeny", "Kemeny: fewest disagreements"],
  ["borda", "Borda: mean rank"],
  ["copeland", "Copeland: most duels won"],
  ["schulze", "Schulze: strongest paths"],
  ["ranked-pairs", "Ranked pairs"],
  ["plurality", "Plurality: first choices only"],
  ["instant-runoff", "Instant runoff: drop the last"],
];
const METRICS = ["ndcg@10", "ndcg@5", "map", "mrr", "precision@10", "recall@100"];
const MOST_SEGMENTS = 6;

const listed = (values) => values.map((value) => ({ value, label: String(value) }));
const rules = RULES.map(([value, label]) => ({ value, label }));

// Of three runs or more, which two are compared.
function twoOf(found) {
  if (!(found.systems?.length > 2)) return [];
  return [
    { param: "first", label: "Compare", type: "select", choices: listed(found.systems), value: found.first },
    { param: "second", label: "with", type: "select", choices: listed(found.systems), value: found.second },
  ];
}

const CONTROLS = {
  consensus: (found) => [
    found.methods && { param: "methods", label: "Rules to compare", type: "checks", choices: rules, value: found.methods, section: "rules-section" },
    found.method && { param: "method", label: "Rule of the joint ranking", type: "select", choices: rules, value: found.method, section: "rules-section" },
  ],
  groups: (found) => [
    found.columns?.length > 0 && {
      param: "by",
      label: "Compare by",
      type: "select",
      choices: [...(found.by ? [] : [{ value: null, label: "Choose …" }]), ...found.columns],
      value: found.by ?? null,
    },
  ],
  segments: (found, params) => [
    found.n && {
      param: "n",
      label: "Number of segments",
      type: "range",
      low: 1,
      high: Math.max(MOST_SEGMENTS, found.n),
      value: params.n ?? "bic",
      shown: found.n,
      auto: { value: "bic", label: "Let the data choose (lowest BIC)" },
    },
  ],
  metrics: (found) => [found.metrics && { param: "metrics", label: "Metrics", type: "checks", choices: listed([...new Set([...METRICS, ...found.metrics])]), value: found.metrics }],
  queries: (found) => twoOf(found),
  compare: (found) => twoOf(found),
  explain: (found) => [
    found.queries?.length > 0 && { param: "query", label: "Query", type: "select", choices: listed(found.queries), value: found.query },
    found.documents?.length > 0 && { param: "above", label: "Why does this document", type: "select", choices: listed(found.documents), value: found.above },
    found.documents?.length > 0 && { param: "below", label: "stand above or below this one?", type: "select", choices: listed(found.documents), value: found.below },
  ],
};

// The controls of an answer; those that the server describes itself come first. A control stands below the heading of
// its section, or above everything where there is no such section.
export function controlsOf(view, found, params) {
  const sections = new Set((found.blocks ?? []).filter((block) => block.kind === "section").map((block) => block.id));
  const all = [...(found.controls ?? []), ...(CONTROLS[view]?.(found, params) ?? []).filter(Boolean)];
  return all.map((each) => ({ ...each, section: sections.has(each.section) ? each.section : null }));
}

// The form that asks about a person, from the fields that the server names.
export function formOf(view, found) {
  if (!Array.isArray(found.form)) return found.form ?? null;
  if (!found.form.length) return null;
  const field = (one) => {
    const about = { param: one.name, label: one.title || one.name };
    if (one.type !== "choice") return { ...about, type: "number", value: one.middle, low: null, high: null };
    return { ...about, type: "select", choices: [{ value: "", label: "Not known" }, ...listed(one.answers)], value: one.usual ?? one.answers[0] };
  };
  return { view: "predict", param: "person", button: "Predict the ranking", controls: found.form.map(field) };
}

// A choice of documents holds for one query only.
export function chosen(view, params, param, value) {
  const next = { ...params, [param]: value };
  if (view === "explain" && param === "query") {
    delete next.above;
    delete next.below;
  }
  return next;
}

const LAYOUTS = [
  ["positions", "Ranks: 1 is best"],
  ["scores", "Scores: higher is better"],
  ["orders", "Orders: columns are places"],
  ["judges", "Rows are items, columns are people"],
];
const OTHERS = { strings: "One cell holds the whole order", long: "One answer in each row", pairwise: "Duels", "best-worst": "Best and worst", tricot: "Best and worst of three" };
const FIXED = ["preflib", "xarff"];

// Corrections of how a file was read: what was understood, and what it could be instead.
export function correctionsOf(found, project) {
  // Where a correction was wrong there is no reading: what was chosen is shown, and the way back.
  const undo = { label: "As it was", options: { layout: null, target: null, read: null, unlisted: null }, chosen: false };
  if (!found.reading && !project.options?.layout && (found.problem?.choices?.length || !found.columns?.length)) return [];
  const { layout, direction, blanks, unlisted } = found.reading ?? { layout: project.options?.layout, blanks: "no blanks" };
  // Ranks and scores stand in the same columns.
  const wide = (name) => name === "positions" || name === "scores";
  const read = (name) => ({ ...tableOf(project.options?.read), ...(found.reading && wide(name) && wide(layout) ? namesOf(found.reading, project.options?.read) : {}) });
  const shown = !layout || LAYOUTS.some(([name]) => name === layout) ? LAYOUTS : [[layout, OTHERS[layout] ?? layout], ...LAYOUTS];
  // Formats with a layout of their own leave nothing to correct in it.
  const groups = FIXED.includes(layout) ? [] : [
    { legend: "The cells hold", choices: shown.map(([name, label]) => ({ label, options: { layout: name, target: null, read: orNull(read(name)) }, chosen: name === layout })) },
  ];
  if (!found.reading && layout && groups.length) groups[0].choices.unshift(undo);
  if (layout === "judges") {
    const values = project.options?.read?.values ?? (/high/i.test(direction ?? "") ? "scores" : "positions");
    const one = (value, label) => ({ label, options: { read: { ...(project.options?.read ?? {}), values: value } }, chosen: values === value });
    groups.push({ legend: "The numbers are", choices: [one("positions", "Ranks: 1 is best"), one("scores", "Scores: higher is better")] });
  }
  if (blanks !== "no blanks") {
    const one = (value, label) => ({ label, options: { unlisted: value }, chosen: unlisted === value });
    groups.push({ legend: "A blank cell means", choices: [one("missing", "Not asked: leave the item out for this person"), one("below", "Not among the best: below those that are ranked")] });
  }
  return groups;
}

// How the columns of the rankings are named, and what else is said of the file: its sheet, its encoding.
const NAMING = ["prefix", "items", "columns"];
const pick = (given, names) => Object.fromEntries(names.filter((name) => given?.[name] !== undefined).map((name) => [name, given[name]]));
const tableOf = (read) => pick(read, ["sheet", "delimiter", "encoding"]);
const namesOf = (reading, read) => (NAMING.some((name) => read?.[name]) ? pick(read, NAMING) : (reading.named ?? {}));
const orNull = (options) => (Object.keys(options).length ? options : null);

// The options for other columns of rankings. What the numbers mean was settled with the columns that were there before,
// and stays so; where some are left out, the others keep the names of their items.
export function rankedOf(found, project, ranked, ignore) {
  const { reading } = found;
  const read = project.options?.read;
  if (!reading) return { target: ranked };
  const { layout } = reading;
  if (layout === "judges") return { layout, target: null, ignore };
  const names = namesOf(reading, read);
  const all = names.prefix ? found.columns.map((column) => column.name).filter((name) => name.startsWith(names.prefix)) : (names.items ?? names.columns ?? []);
  if (layout !== "orders" && ranked.every((name) => all.includes(name)) && all.every((name) => ranked.includes(name) || ignore.includes(name))) {
    return { layout, target: null, ignore, read: { ...read, ...names } };
  }
  return { layout, target: ranked, read: orNull(tableOf(read)) };
}

// Answers that can be ticked off, with what is kept now.
export function filtersOf(found, project) {
  const where = project.options?.where ?? {};
  const kept = (column, value) => !(column in where) || where[column].map(String).includes(String(value));
  return (found.filters ?? []).map((one) => ({
    ...one,
    values: (one.values ?? one.answers).map((each) => ({ ...each, kept: each.kept ?? kept(one.column, each.value) })),
  }));
}

// Further files that search results need.
export function attachOf(found, project) {
  if (found.attach || project.kind !== "search") return found.attach ?? [];
  const roles = (project.files ?? []).map((file) => file.role);
  if (!roles.length || roles.includes("letor")) return [];
  return [
    { role: "run", label: roles.includes("run") ? "Add another run to compare" : "Add a run", hint: "A TREC run: query, Q0, document, rank, score, name." },
    ...(roles.includes("qrels") ? [] : [{ role: "qrels", label: "Add the judgments (qrels)", hint: "A TREC file: query, 0, document, grade." }]),
  ];
}

// The blocks of an answer, with what can be done in them.
export function blocksOf(view, found, project) {
  if (view === "queries" && project.files?.some((file) => file.role === "letor")) return found.blocks.map(withQueries);
  return found.blocks ?? [];
}

// Each query leads to why its documents stand as they do.
function withQueries(block) {
  if (block.kind !== "table" || !/^queries/.test(block.id)) return block;
  return { ...block, open: { view: "explain", params: block.rows.map((row) => ({ query: row[0] })) } };
}

// Files of a view.
export function filesOf(view, found, params) {
  if (found.files?.length) return found.files;
  if (view === "segments" && found.n > 1) return [{ name: "memberships.csv", title: "The segment of each person", params: typeof params.n === "number" ? { n: params.n } : {} }];
  if (view !== "downloads") return [];
  return [
    { name: "report.html", title: "The report: everything in one page, to read or to print" },
    { name: "tables.xlsx", title: "All tables as a workbook" },
    { name: "pictures.zip", title: "All pictures of the report, each as PNG and as SVG" },
    { name: "project.rankwise", title: "This project: the file and your choices, to open here again" },
  ];
}
