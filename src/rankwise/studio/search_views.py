"""The views of search results: metrics, queries worst first, two systems compared, and why A stands above B.

TREC files bring their own runs. A LETOR file only has judgments, so two rankers learn from four fifths of its queries
and are measured on the rest.

The page draws the charts of the blocks. Each chart brings a `Plan` too, by which `rankwise.plots` draws the same result
for the report and for files (``search_files``); `show` leaves it out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwise._tables import TextTable, counted
from rankwise._typing import IntArray
from rankwise.analysis.report_pictures import Plan
from rankwise.data import read_letor, read_qrels, read_run
from rankwise.model_selection import Evaluation, evaluate_rankers, evaluate_runs
from rankwise.studio import blocks
from rankwise.studio.blocks import Block, OnStep, Params
from rankwise.studio.settings import PICTURES

#: metrics that are shown if the page does not choose
METRICS = ("ndcg@10", "map", "mrr")

# What the metrics say; all are between 0 and 1.
_IN_WORDS = {
    "ndcg": "ndcg@10: how good the first 10 documents are, the higher a place the more it counts; 1 is the best order.",
    "map": "map: how many of the documents down to each relevant one are relevant, on average.",
    "mrr": "mrr: 1 if the first relevant document comes first, 1/2 if it comes second, and so on.",
    "precision": "precision@10: the share of relevant documents among the first 10.",
    "recall": "recall@100: the share of all relevant documents that are among the first 100.",
}
#: how many queries and features are shown, those first that matter most
SHOWN_QUERIES, SHOWN_FEATURES = 50, 15
_LISTED_QUERIES = 200
# "docid = GX029-35-5894638 inc = 0.02", as the LETOR collections write it, or a name alone.
_DOCUMENT = re.compile(r"\bdocid\s*=\s*(\S+)|^#?\s*(\S+)$", re.IGNORECASE)


class SearchFile(NamedTuple):
    """A stored file of a project: "letor", "qrels" or "run", the name that the user gave it, and where it is stored."""

    role: str
    name: str
    path: Path


def show(
    view: str, files: Sequence[SearchFile], options: Mapping[str, Any], params: Params, on_step: OnStep
) -> dict[str, Any]:
    """A view of stored search results.

    Parameters
    ----------
    view : str
        One of `SEARCH_VIEWS`.
    files : sequence of SearchFile
        A LETOR file; or judgments and at least one run.
    options : mapping
        The options of the project: the seed.
    params : mapping
        Parameters of the view.
    on_step : callable
        Told what happens next, and the share of the work that is done.

    Returns
    -------
    dict
        ``blocks``, and what else the page needs.
    """
    seed = int(options.get("seed") or 0)
    made = SEARCH_VIEWS[view](files, params, seed, on_step)
    return {**made, "blocks": [{key: block[key] for key in block if key != "plan"} for block in made["blocks"]]}


def _data(files: Sequence[SearchFile], params: Params, seed: int, on_step: OnStep) -> dict[str, Any]:
    """What the files hold."""
    shown: list[Block] = []
    for file in files:
        if file.role == "letor":
            X, y, qid = read_letor(file.path)
            n_queries, n_rows = len(np.unique(qid)), len(y)
            words = f"{file.name} has graded documents: {counted(n_rows, 'document')} of {n_queries:,} queries"
            shown.append(blocks.text(f"{words} with {counted(X.shape[1], 'feature')}.", "lead"))
            grades, counts = np.unique(y, return_counts=True)
            shares = zip(grades, counts, strict=True)
            rows = [[f"{grade:g}", f"{n:,}", blocks.percent(n / n_rows)] for grade, n in shares]
            table = TextTable("Grades", "higher is better", ["grade", "documents", "share"], rows)
            shown.append(blocks.table("grades", table))
        elif file.role == "qrels":
            judged = read_qrels(file.path)
            words = f"{file.name} has judgments: {counted(len(judged.qid), 'document')}"
            shown.append(blocks.text(f"{words} of {len(set(judged.qid)):,} queries.", "lead"))
        else:
            run = read_run(file.path)
            words = f"{file.name} is a run: {counted(len(run.qid), 'document')} of {len(set(run.qid)):,} queries"
            shown.append(blocks.text(f"{words}.", "plain"))
    roles = {file.role for file in files}
    if "letor" not in roles and roles != {"qrels", "run"}:
        missing = "a run to measure" if "qrels" in roles else "the judgments (qrels)"
        shown.append(blocks.text(f"Add {missing}.", "warning"))
    return {"blocks": shown, "problem": None, "columns": [], "reading": None, "filters": []}


def _metrics(files: Sequence[SearchFile], params: Params, seed: int, on_step: OnStep) -> dict[str, Any]:
    """The means of every system, and whether they differ."""
    found, note = _evaluated(files, params, seed, on_step)
    metrics = list(params.get("metrics") or METRICS)
    means, *comparisons = found.tables()
    told = [words for start, words in _IN_WORDS.items() if any(m.startswith(start) for m in metrics)]
    shown = [blocks.text(_leader(found), "lead"), *blocks.texts([note, *told], "note"), blocks.table("means", means)]
    if len(found.systems) > 1:
        axis = f"mean {found.metrics[0]}"
        # From 0 to 1, so that a small difference looks small.
        drawn = blocks.dots(found.systems, found.means[:, 0], axis=axis, ends=(0.0, 1.0), form=".4f")
        caption = f"The further right, the better: {found.metrics[0]} is between 0 and 1."
        shown.append(
            {
                **blocks.chart("systems", f"Mean {found.metrics[0]} of each system", caption, drawn),
                "plan": _means_plan(found),
            }
        )
    shown += [blocks.table(f"comparison-{number}", table) for number, table in enumerate(comparisons)]
    return {"blocks": shown, "systems": list(found.systems), "metrics": list(found.metrics)}


def _queries(files: Sequence[SearchFile], params: Params, seed: int, on_step: OnStep) -> dict[str, Any]:
    """Query by query, those first where the second of two systems loses most."""
    files, choice = _two_runs(files, params)
    found, note = _evaluated(files, params, seed, on_step)
    tables = [table for table in found.tables(worst=SHOWN_QUERIES) if table.title.startswith("Queries by")]
    words = "The queries that do worst come first."
    if len(found.systems) > 1:
        words = f"First come the queries in which {found.systems[-1]} loses most against {found.systems[0]}."
    shown = [blocks.text(words, "lead"), *blocks.texts([note], "note")]
    if len(found.systems) > 1:
        lost = found.values[-1, 0] - found.values[0, 0]
        order = np.argsort(lost, kind="stable")[:40]
        axis = f"difference of {found.metrics[0]}"
        drawn = blocks.dots([f"query {found.queries[i]}" for i in order], lost[order], axis=axis, zero=0.0, form="+.3f")
        caption = f"Left of the line: {found.systems[-1]} is worse than {found.systems[0]}."
        shown.append({**blocks.chart("queries", "Differences by query", caption, drawn), "plan": _queries_plan(found)})
    shown += [blocks.table(f"queries-{number}", table, folded=number > 0) for number, table in enumerate(tables)]
    return {"blocks": shown, "systems": list(found.systems), **choice}


def _compare(files: Sequence[SearchFile], params: Params, seed: int, on_step: OnStep) -> dict[str, Any]:
    """Two systems, with paired tests over queries."""
    files, choice = _two_runs(files, params)
    found, note = _evaluated(files, params, seed, on_step)
    if len(found.systems) < 2:
        return {"blocks": [blocks.text("Add a second run to compare it with the first.", "lead")], "systems": []}
    shown = [blocks.text(_leader(found), "lead"), *blocks.texts([note], "note")]
    for number, comparison in enumerate(found.comparisons.values()):
        shown.append(blocks.table(f"comparison-{number}", comparison.table()))
    return {"blocks": shown, "systems": list(found.systems), **choice}


def _two_runs(files: Sequence[SearchFile], params: Params) -> tuple[list[SearchFile], dict[str, Any]]:
    """The files with only two of several runs, which the page chose, else the first and the last; and the choice."""
    runs = [file.name for file in files if file.role == "run"]
    if len(runs) < 3:
        return list(files), {}
    first, second = params.get("first") or runs[0], params.get("second") or runs[-1]
    for name in (first, second):
        if name not in runs:
            raise ValueError(f"there is no run {name!r}")
    if first == second:
        raise ValueError("choose two different runs")
    named = {file.name: file for file in files if file.role == "run"}
    choice = {"systems": runs, "first": first, "second": second, "used": {"runs": [first, second]}}
    return [*(file for file in files if file.role != "run"), named[first], named[second]], choice


def _explain(files: Sequence[SearchFile], params: Params, seed: int, on_step: OnStep) -> dict[str, Any]:
    """Why a ranker puts one document above another: what each feature adds to the difference of their scores."""
    letor = next((file for file in files if file.role == "letor"), None)
    if letor is None:
        words = "Runs have no features: add a LETOR file to see why one document stands above another."
        return {"blocks": [blocks.text(words, "lead")], "queries": [], "documents": []}
    from rankwise.ltr import LambdaMART

    on_step("reading the file", 0.1)
    X, y, qid, comments = read_letor(letor.path, return_comments=True)
    on_step("training a ranker", 0.3)
    ranker = LambdaMART(random_state=seed).fit(X, y, qid=qid)
    queries = list(dict.fromkeys(map(str, qid)))
    query = str(params.get("query") or queries[0])
    rows = np.flatnonzero(np.asarray(qid).astype(str) == query)
    if len(rows) < 2:
        raise ValueError(f"query {query!r} has fewer than two documents; choose another")
    part = X[rows]
    scores = ranker.predict(part)
    order = np.argsort(-scores, kind="stable")
    names, called = _document_names(comments, rows)
    a = names.index(str(params["above"])) if params.get("above") in names else int(order[0])
    b = names.index(str(params["below"])) if params.get("below") in names else int(next(i for i in order if i != a))
    if a == b:
        raise ValueError("choose two different documents")
    features = tuple(f"feature {i + 1}" for i in range(X.shape[1]))
    explained = replace(ranker.explain(part, a, b), names=features)
    effects = np.asarray(explained)
    strongest = np.argsort(-np.abs(effects), kind="stable")[:SHOWN_FEATURES]
    is_above = scores[a] > scores[b]
    verb, decisive = ("above", np.argmax(effects)) if is_above else ("below", np.argmin(effects))
    drawn = blocks.dots(
        [features[i] for i in strongest],
        effects[strongest],
        axis="what the feature adds to the difference",
        zero=0.0,
        form="+.3f",
    )
    words = (
        f"Query {query}: LambdaMART, which learned from this file, puts {names[a]} {verb} {names[b]}, mostly by "
        f"{features[decisive]}."
    )
    listed = [[names[i], f"{scores[i]:.3f}", f"{y[rows[i]]:g}"] for i in order]
    caption = f"Right of the line: the feature speaks for {names[a]}; left of it: for {names[b]}."
    note = "score: what the ranker gives the document, the highest comes first; grade: how relevant it is, by the file"
    if names != called:
        note += "; a document has its number in the query, as the file does not name each of them"
    plan = _explanation_plan(explained, names[a], names[b])
    return {
        "blocks": [
            blocks.text(words, "lead"),
            {**blocks.chart("why", f"Why {names[a]} stands {verb} {names[b]}", caption, drawn), "plan": plan},
            blocks.table("documents", TextTable(f"Query {query}", note, ["document", "score", "grade"], listed)),
        ],
        "queries": queries[:_LISTED_QUERIES],
        "query": query,
        "documents": [names[i] for i in order],
        "above": names[a],
        "below": names[b],
        "used": {"query": query, "rows": [a, b], "called": [called[a], called[b]]},
    }


def _downloads(files: Sequence[SearchFile], params: Params, seed: int, on_step: OnStep) -> dict[str, Any]:
    """What can be taken away."""
    titles = {"report.html": "The report: everything in one page, to read or to print"}
    roles = [file.role for file in files]
    n_systems = 2 if "letor" in roles else roles.count("run") if "qrels" in roles else 0
    if n_systems:
        titles["tables.xlsx"] = "All tables as a workbook"
    if n_systems > 1:
        titles[PICTURES] = "All pictures of the report, each as PNG and as SVG"
    titles["project.rankwise"] = "This project, to open here again"
    words = f"{counted(len(files), 'file')}: {', '.join(file.name for file in files)}."
    return {
        "blocks": [blocks.text(words, "lead")],
        "files": [{"name": name, "title": title} for name, title in titles.items()],
    }


#: the views of search results
SEARCH_VIEWS: dict[str, Callable[[Sequence[SearchFile], Params, int, OnStep], dict[str, Any]]] = {
    "data": _data,
    "metrics": _metrics,
    "queries": _queries,
    "compare": _compare,
    "explain": _explain,
    "downloads": _downloads,
}


def _document_names(comments: Sequence[str], rows: IntArray) -> tuple[list[str], list[str]]:
    """What the comments of a file call the documents of a query, else their numbers; and how commands call them."""
    found = [_DOCUMENT.search(comment) for comment in comments]
    if all(found):
        names = [match[1] or match[2] for match in (found[row] for row in rows) if match is not None]
        if len(set(names)) == len(names):
            return names, names
    return [f"document {number}" for number in range(1, len(rows) + 1)], [str(row + 1) for row in rows.tolist()]


def _evaluated(files: Sequence[SearchFile], params: Params, seed: int, on_step: OnStep) -> tuple[Evaluation, str]:
    """The values of all systems, and how they came about."""
    metrics = list(params.get("metrics") or METRICS)
    letor = next((file for file in files if file.role == "letor"), None)
    on_step("reading the files", 0.1)
    if letor is None:
        qrels = [file for file in files if file.role == "qrels"]
        runs = {file.name: read_run(file.path) for file in files if file.role == "run"}
        if not qrels or not runs:
            raise ValueError("add judgments (qrels) and a run; one of them is missing")
        return evaluate_runs(read_qrels(qrels[0].path), runs, metrics, random_state=seed), ""
    from rankwise.ltr import LambdaMART, LinearRanker

    X, y, qid = read_letor(letor.path)
    n_queries = len(np.unique(qid))
    if n_queries < 5:
        raise ValueError("the file has fewer than 5 queries, too few to learn from some and measure on others")
    rankers = {"linear": LinearRanker(random_state=seed), "lambdamart": LambdaMART(random_state=seed)}
    found = evaluate_rankers(
        rankers,
        X,
        y,
        qid,
        metrics,
        random_state=seed,
        on_step=lambda name, share: on_step(f"training {name}", 0.2 + 0.8 * share),
    )
    note = (
        f"Two rankers, linear and lambdamart (trees), learned from {n_queries - len(found.queries):,} queries of "
        f"{letor.name} and are measured on the other {len(found.queries):,}."
    )
    return found, note


def _means_plan(found: Evaluation) -> Plan | None:
    """How the systems differ on average; nothing where there are too few queries for a test."""
    comparison = found.comparisons.get(found.metrics[0])
    if comparison is None:
        return None

    def draw(ax: Any) -> Any:
        from rankwise.plots import ComparisonDisplay

        return ComparisonDisplay(comparison).plot(ax)

    caption = (
        "Right of the line: the first of the two is better on average. The line through a dot is its 95% interval; a "
        "hollow dot may be chance."
    )
    return Plan(caption, "The numbers are in the tables below.", draw, fits_phone=True)


def _queries_plan(found: Evaluation) -> Plan | None:
    """How the last system differs from the first, query by query; nothing where no query has a value for both."""
    first, last = found.systems[0], found.systems[-1]
    values = {last: found.values[-1, 0], first: found.values[0, 0]}
    if np.isnan(values[last] - values[first]).all():
        return None

    def draw(ax: Any) -> Any:
        from rankwise.plots import QueryComparisonDisplay

        return QueryComparisonDisplay.from_results(values, found.metrics[0], ax=ax)

    caption = f"A bar for each query. Blue: {last} is better; orange: {first} is better."
    return Plan(caption, "The numbers are in the table below.", draw, fits_phone=True)


def _explanation_plan(explained: Any, above: str, below: str) -> Plan:
    """What speaks for each of two documents."""

    def draw(ax: Any) -> Any:
        from rankwise.plots import PairExplanationDisplay

        return PairExplanationDisplay.from_explanation(
            explained, pair=(above, below), max_features=SHOWN_FEATURES, ax=ax
        )

    caption = f"Bars to the right (blue) speak for {above}, bars to the left (orange) for {below}."
    return Plan(caption, "The scores follow as a table.", draw)


def _leader(found: Evaluation) -> str:
    """Which system is ahead, in a sentence."""
    metric, means = found.metrics[0], found.means[:, 0]
    if len(found.systems) == 1:
        return f"{found.systems[0]} has a mean {metric} of {means[0]:.4f} over {len(found.queries):,} queries."
    best = int(np.nanargmax(means))
    others = " and ".join(f"{found.systems[i]} {means[i]:.4f}" for i in range(len(means)) if i != best)
    words = f"{found.systems[best]} is ahead with a mean {metric} of {means[best]:.4f} ({others})"
    test = found.comparisons.get(metric)
    if test is None or len(found.systems) != 2:
        return f"{words}."
    p_value = float(test.p_randomization[0])
    verdict = "which may be chance" if p_value > 0.05 else "more than chance explains"
    said = "< 0.001" if p_value < 0.001 else f"= {p_value:.3f}"
    return f"{words}, {verdict} (p {said})."
