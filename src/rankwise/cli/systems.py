"""Systems that order the documents of queries: their files, their scores, and how good these are.

Documents come from learning-to-rank files and collections, scores from files, saved rankers and TREC runs; `evaluate`
measures all systems on the same queries and compares them by paired tests. `rankwise.cli.search_commands` uses it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import typer

from rankwise._tables import counted
from rankwise._typing import FloatArray
from rankwise.cli.in_and_out import readable, shown_name
from rankwise.data import judged_run, read_letor, read_qrels, read_run
from rankwise.data.formats.text import parse_number, read_lines
from rankwise.data.formats.text import shown as quoted
from rankwise.data.formats.trec import JudgedRun
from rankwise.datasets import load_retrieval
from rankwise.datasets.loaders import query_sizes
from rankwise.exceptions import RankwiseFormatError
from rankwise.ltr import LinearRanker, NeuralRanker
from rankwise.ltr.base import QueryRankerMixin
from rankwise.metrics import ranking_scorer
from rankwise.metrics.scorers import RankingScorer
from rankwise.model_selection import Comparison, compare
from rankwise.persistence import load

# "docid = GX029-35-5894638 inc = 0.02", as the LETOR collections write it.
_DOCUMENT = re.compile(r"\bdocid\s*=\s*(\S+)", re.IGNORECASE)


@dataclass(frozen=True)
class Documents:
    """Rows of a learning-to-rank file.

    Attributes
    ----------
    X : ndarray or csr_matrix of shape (n_rows, n_features)
        Features.
    y : ndarray of shape (n_rows,)
        Relevance, higher is better.
    qid : ndarray of shape (n_rows,)
        The query of each row.
    names : list of str
        The documents: what the comments of the file call them, else the numbers of the rows, from 1.
    """

    X: Any
    y: npt.NDArray[Any]
    qid: npt.NDArray[Any]
    names: list[str]

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(np.unique(self.qid))

    def widened(self, n_features: int) -> Documents:
        """The same with this many features: a line of the file names only those that are not 0."""
        missing = n_features - self.X.shape[1]
        if missing < 0:
            raise ValueError(
                f"the documents have {self.X.shape[1]} features, but the ranker was trained on {n_features}; give it "
                "the features that it knows, or train it on these"
            )
        if missing == 0:
            return self
        if isinstance(self.X, np.ndarray):
            return replace(self, X=np.pad(self.X, ((0, 0), (0, missing))))
        X = self.X.copy()
        X.resize((len(self.y), n_features))
        return replace(self, X=X)


def is_collection(name: str) -> bool:
    """Whether a name is that of a collection with parts: a folder, or the built-in one."""
    return name == "synthetic" or Path(name).is_dir()


def read_collection(name: str) -> dict[str, Documents]:
    """The parts of a collection: training, validation and test, those that exist."""
    collection = load_retrieval(name)
    words = {"train": "training", "vali": "validation", "test": "test"}
    parts = {}
    for split, rows in collection.splits.items():
        names = [str(row) for row in range(1, len(rows) + 1)]
        parts[words[split]] = Documents(collection.X[rows], collection.y[rows], collection.qid[rows], names)
    return parts


def read_documents(name: str, *, zero_based: bool = False, sparse: bool = False) -> Documents:
    """Read a learning-to-rank file, ``-`` for standard input; of a collection, the test part.

    Where rows have no qid, the sizes of the queries are in a file next to it.
    """
    if is_collection(name):
        parts = read_collection(name)
        if "test" not in parts:
            raise ValueError(f"{name} has no test part; give the file itself")
        return parts["test"]
    with readable(name) as path:
        X, y, qid, comments = read_letor(path, zero_based=zero_based, sparse=sparse, return_comments=True)
        if qid is None:
            sizes = query_sizes(Path(path), len(y))
            qid = np.repeat(np.arange(1, len(sizes) + 1), sizes)
    return Documents(X, y, qid, _document_names(comments))


def load_ranker(path: str) -> Any:
    """The ranker that ``rankwise rank-train`` saved."""
    ranker = load(path)
    if not isinstance(ranker, QueryRankerMixin):
        raise ValueError(
            f"{path} holds a {type(ranker).__name__}, which does not rank the documents of a query; train a ranker "
            "that does with rankwise rank-train"
        )
    return ranker


def scored(ranker: Any, documents: Documents) -> FloatArray:
    """The scores that a ranker gives the documents, higher is better."""
    X = documents.widened(ranker.n_features_in_).X
    # With attention, the score of a document depends on the others of its query.
    return ranker.predict(X, documents.qid) if isinstance(ranker, NeuralRanker) else ranker.predict(X)


def takes_sparse(ranker: Any) -> bool:
    """Whether a ranker learns from sparse features, however many there are."""
    return isinstance(ranker, LinearRanker)


def _document_names(comments: list[str]) -> list[str]:
    names = [_document_name(comment) for comment in comments]
    return names if all(names) else [str(row) for row in range(1, len(comments) + 1)]


def _document_name(comment: str) -> str:
    """What a comment calls the document; nothing if it is about something else."""
    named = _DOCUMENT.search(comment)
    if named:
        return named[1]
    return comment if len(comment.split()) == 1 else ""


@dataclass(frozen=True)
class Evaluation:
    """Values of systems on the same queries.

    Attributes
    ----------
    queries : list of str
        The queries.
    values : dict
        Metric -> system -> value of each query, higher is better; NaN where a query is skipped.
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
        """Metric -> queries that have a value, which depends on the judgments, not on the system."""
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
    """The metrics that options name, each once; an option may name several, separated by blanks or commas."""
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
    """TREC runs with their judgments, by name, and what to know about them.

    Parameters
    ----------
    qrels_file, run_files : str and sequence of str
        The files; ``-`` is standard input.
    complete : bool
        Whether judged queries that are missing from a run count as 0; else they are skipped.

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
            result = "counted as 0" if complete else "skipped here; --complete counts them as 0"
            notes.append(f"{name} lacks {lacking}, {result}")
        if answered - judged:
            unknown = counted(len(answered - judged), "query", "queries")
            notes.append(f"{name} answers {unknown} without judgments, skipped")
    return systems, notes


def scored_documents(
    file: str, score_files: Sequence[str], model_files: Sequence[str], *, zero_based: bool
) -> dict[str, JudgedRun]:
    """The documents of a file with scores, from files of one per line and from saved rankers, by name."""
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
        For randomization tests, and for random ties.

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
        result.notes.append(f"no relevant document in {len(queries) - n:,} of the queries, skipped by {without}")
    if len(systems) > 1:
        for metric, n in result.n_judged.items():
            if n > 1:
                result.comparisons.append(compare(values[metric], metric, random_state=seed))
            else:
                result.notes.append(f"too few queries for a test of {metric}")
    return result


def _named(paths: Sequence[str]) -> dict[str, str]:
    """Name -> file: as short as distinguishes the files."""
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
                    f"{quoted(line)} is not a finite number", path=copy, line=number, cure="Write one score per line."
                ) from None
        if len(scores) != len(documents.y):
            raise RankwiseFormatError(
                f"there are {len(scores):,} scores, but {file} has {len(documents.y):,} documents",
                path=copy,
                cure="Write one score per line, in the order of the documents.",
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
                "--complete, so that queries missing from a run count as 0"
            )
    return queries


def _per_query(metric: str, system: JudgedRun, options: dict[str, Any]) -> tuple[Any, FloatArray]:
    scorer = check_metric(metric)
    known = signature(scorer.function).parameters
    options = {name: value for name, value in options.items() if name in known} | scorer.options
    return scorer.function(system.y_true, system.y_score, system.qid, per_query=True, doc_id=system.doc_id, **options)
