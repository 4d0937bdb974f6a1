"""How well systems order the documents of the same queries: their metrics, query by query, and paired tests."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import typer

from rankwise._typing import FloatArray
from rankwise.cli.console import counted
from rankwise.cli.documents import Documents, load_ranker, read_documents, scored, takes_sparse
from rankwise.cli.files import readable, shown_name
from rankwise.data import judged_run, read_qrels, read_run
from rankwise.data.formats.text import parse_number, read_lines
from rankwise.data.formats.text import shown as quoted
from rankwise.data.formats.trec import JudgedRun
from rankwise.exceptions import RankwiseFormatError
from rankwise.metrics import ranking_scorer
from rankwise.metrics.scorers import RankingScorer
from rankwise.model_selection import Comparison, compare


@dataclass(frozen=True)
class Evaluation:
    """Values of systems on the same queries.

    Attributes
    ----------
    queries : list of str
        The queries.
    values : dict
        Metric -> system -> value of each query, higher is better; NaN where a query is left out.
    comparisons : list of Comparison
        Paired tests, one for each metric, where there are two systems or more.
    notes : list of str
        What a reader of the numbers should know.
    """

    queries: list[str]
    values: dict[str, dict[str, FloatArray]]
    comparisons: list[Comparison]
    notes: list[str]

    @property
    def systems(self) -> list[str]:
        """Names of the systems."""
        return list(next(iter(self.values.values())))

    @property
    def n_judged(self) -> dict[str, int]:
        """Metric -> queries that have a value, which depends on the judgements, and so not on the system."""
        first = self.systems[0]
        return {metric: int((~np.isnan(values[first])).sum()) for metric, values in self.values.items()}

    def mean(self, metric: str, system: str) -> float | None:
        """Mean over the queries that have a value; None if there are none."""
        values = self.values[metric][system]
        judged = values[~np.isnan(values)]
        return float(judged.mean()) if len(judged) else None

    def as_dict(self, *, per_query: bool) -> dict[str, Any]:
        """The results for JSON."""
        systems: list[dict[str, Any]] = []
        for system in self.systems:
            means = {metric: self.mean(metric, system) for metric in self.values}
            systems.append({"system": system, "means": means})
            if per_query:
                systems[-1]["per_query"] = {
                    metric: dict(zip(self.queries, map(none_if_nan, values[system].tolist()), strict=True))
                    for metric, values in self.values.items()
                }
        differences = [
            {"metric": comparison.metric, "n_queries": comparison.n_queries, **row}
            for comparison in self.comparisons
            for row in comparison.rows
        ]
        return {"n_queries": len(self.queries), "systems": systems, "differences": differences, "notes": self.notes}


def check_metric(name: str) -> RankingScorer:
    """The metric of a name such as ndcg@10, map, nDCG@10 or AP; others are a mistake in the command."""
    try:
        scorer = ranking_scorer(name)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--metric") from None
    if not scorer.by_query:
        raise typer.BadParameter(f"{name!r} is for rankings, not for search results", param_hint="--metric")
    return scorer


def metric_names(options: Sequence[str]) -> list[str]:
    """The metrics that options name, each once; an option may name several, parted by blanks or commas."""
    names = [name for option in options for name in re.split(r"[\s,]+", option) if name]
    for name in names:
        check_metric(name)
    return list(dict.fromkeys(names))


def gain_in_words(gain: Any) -> str:
    """What a grade y is worth in NDCG."""
    words = {"linear": "linear gain y", "exp": "exponential gain 2^y - 1"}
    return words.get(gain if isinstance(gain, str) else "", f"gain {gain}")


def none_if_nan(value: float) -> float | None:
    """A value for JSON, which has no NaN."""
    return None if np.isnan(value) else float(value)


def shown(value: float | None) -> str:
    """A value for a table; nothing if there is none."""
    return "-" if value is None or np.isnan(value) else f"{value:.4f}"


def judged_runs(qrels_file: str, run_files: Sequence[str], *, complete: bool) -> tuple[dict[str, JudgedRun], list[str]]:
    """TREC runs beside their judgements, by name, and what to know of them.

    Parameters
    ----------
    qrels_file, run_files : str and sequence of str
        The files; ``-`` is standard input.
    complete : bool
        Whether judged queries that a run leaves out count, as found nothing for; else they are left out.

    Returns
    -------
    systems : dict of str to JudgedRun
    notes : list of str
    """
    with ExitStack() as files:
        qrels = read_qrels(files.enter_context(readable(qrels_file)))
        runs = {name: read_run(files.enter_context(readable(path))) for name, path in _named(run_files).items()}
    systems, notes = {}, []
    judged = set(qrels.qid.tolist())
    for name, run in runs.items():
        try:
            systems[name] = judged_run(qrels, run, complete=complete)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
        answered = set(run.qid.tolist())
        if judged - answered:
            lacking = f"{len(judged - answered):,} of {counted(len(judged), 'judged query', 'judged queries')}"
            result = "counted as 0" if complete else "left out here, too; --complete counts them as 0"
            notes.append(f"{name} leaves out {lacking}, {result}")
        if answered - judged:
            unknown = counted(len(answered - judged), "query", "queries")
            notes.append(f"{name} answers {unknown} without judgements, left out")
    return systems, notes


def scored_documents(
    file: str, score_files: Sequence[str], model_files: Sequence[str], *, zero_based: bool
) -> dict[str, JudgedRun]:
    """The documents of a learning-to-rank file with the scores of files, one a line, and of saved rankers, by name."""
    files = _named([*score_files, *model_files])
    rankers = {name: load_ranker(path) for name, path in list(files.items())[len(score_files) :]}
    sparse = bool(rankers) and all(map(takes_sparse, rankers.values()))
    documents = read_documents(file, zero_based=zero_based, sparse=sparse)
    scores = {
        name: scored(rankers[name], documents) if name in rankers else _read_scores(path, documents, file)
        for name, path in files.items()
    }
    names = np.array(documents.names)
    return {name: JudgedRun(documents.y, score, documents.qid.astype(str), names) for name, score in scores.items()}


def evaluate(
    systems: dict[str, JudgedRun],
    metrics: Sequence[str],
    *,
    gain: str,
    ties: str,
    empty: str | int,
    threshold: float,
    max_grade: float | None,
    seed: int,
) -> Evaluation:
    """Measure systems on the same queries, and compare them where there are several.

    Parameters
    ----------
    systems : dict of str to JudgedRun
        Relevance and scores.
    metrics : sequence of str
        As `check_metric` takes them.
    gain, ties, empty, threshold, max_grade
        As in `rankwise.metrics`; those that a metric does not know are not for it.
    seed : int
        For tests by randomisation, and for random ties.

    Returns
    -------
    Evaluation
    """
    queries = _common_queries(systems)
    if max_grade is None:
        # The same scale for all, whatever documents a run retrieves.
        max_grade = max(float(system.y_true.max()) for system in systems.values())
    options = {"gain": gain, "ties": ties, "empty": empty, "threshold": threshold, "max_grade": max_grade}
    values: dict[str, dict[str, FloatArray]] = {}
    for metric in metrics:
        values[metric] = {}
        for name, system in systems.items():
            found, value = _per_query(metric, system, {**options, "random_state": seed})
            place = {query: number for number, query in enumerate(found.tolist())}
            values[metric][name] = value[[place[query] for query in queries]]
    result = Evaluation(queries, values, [], [])
    for n in sorted(set(result.n_judged.values()) - {len(queries)}):
        without = ", ".join(metric for metric, n_judged in result.n_judged.items() if n_judged == n)
        result.notes.append(f"no relevant document in {len(queries) - n:,} of the queries, left out of {without}")
    if len(systems) > 1:
        for metric, n in result.n_judged.items():
            if n > 1:
                result.comparisons.append(compare(values[metric], metric, random_state=seed))
            else:
                result.notes.append(f"too few queries for a test of {metric}")
    return result


def _named(paths: Sequence[str]) -> dict[str, str]:
    """Name -> file: as short as tells the files apart."""
    shown = [Path(shown_name(path)) for path in paths]
    for names in ([path.stem for path in shown], [path.name for path in shown], list(map(str, shown))):
        if len(set(names)) == len(names):
            return dict(zip(names, paths, strict=True))
    twice = next(path for path in shown if shown.count(path) > 1)
    raise ValueError(f"{twice} is given twice; give every file once")


def _read_scores(path: str, documents: Documents, file: str) -> FloatArray:
    with readable(path) as copy:
        lines = read_lines(copy)
        scores = []
        for number, line in enumerate(lines, 1):
            try:
                scores.append(parse_number(line.strip()))
            except ValueError:
                raise RankwiseFormatError(
                    f"{quoted(line)} is not a finite number", path=copy, line=number, cure="Write one score a line."
                ) from None
        if len(scores) != len(documents.y):
            raise RankwiseFormatError(
                f"there are {len(scores):,} scores, but {file} has {len(documents.y):,} documents",
                path=copy,
                cure="Write one score a line, in the order of the documents.",
            )
    return np.array(scores)


def _common_queries(systems: dict[str, JudgedRun]) -> list[str]:
    (first, reference), *others = systems.items()
    queries = list(dict.fromkeys(reference.qid.tolist()))
    for name, system in others:
        different = set(queries) ^ set(system.qid.tolist())
        if different:
            query = min(different)
            with_it, without = (first, name) if query in set(queries) else (name, first)
            raise ValueError(
                f"query {query} is in {with_it}, but not in {without}, and systems compare on the same queries; give "
                "--complete, so that queries that a run leaves out count as 0"
            )
    return queries


def _per_query(metric: str, system: JudgedRun, options: dict[str, Any]) -> tuple[Any, FloatArray]:
    scorer = check_metric(metric)
    known = signature(scorer.function).parameters
    options = {name: value for name, value in options.items() if name in known} | scorer.options
    return scorer.function(system.y_true, system.y_score, system.qid, per_query=True, doc_id=system.doc_id, **options)
