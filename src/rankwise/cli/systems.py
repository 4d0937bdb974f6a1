"""Files of systems that order the documents of queries: documents, scores, saved rankers and TREC runs.

`rankwise.cli.search_commands` uses it; what is measured is computed by `rankwise.model_selection`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import typer

from rankwise._tables import TextTable
from rankwise._typing import FloatArray
from rankwise.cli.in_and_out import readable, shown_name
from rankwise.data import read_letor, read_qrels, read_run
from rankwise.data.formats.text import parse_number, read_lines
from rankwise.data.formats.text import shown as quoted
from rankwise.datasets import load_retrieval
from rankwise.datasets.loaders import query_sizes
from rankwise.exceptions import RankwiseFormatError
from rankwise.ltr import LinearRanker, NeuralRanker
from rankwise.ltr.base import QueryRankerMixin
from rankwise.metrics import ranking_scorer
from rankwise.metrics.scorers import RankingScorer
from rankwise.model_selection import Evaluation, evaluate_runs, evaluate_scores
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

    def part(self, rows: npt.NDArray[np.intp]) -> Documents:
        """Some of the rows."""
        return Documents(self.X[rows], self.y[rows], self.qid[rows], [self.names[row] for row in rows])

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
        try:
            X, y, qid, comments = read_letor(path, zero_based=zero_based, sparse=sparse, return_comments=True)
        except RankwiseFormatError as error:
            error.cure = (error.cure or "").replace("Read the file with zero_based=True", "Give --zero-based")
            raise
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


@dataclass(frozen=True)
class FeatureEffects:
    """What each feature of a ranker does: for all documents, or between two of them."""

    title: str
    note: str
    measure: str
    names: list[str]
    values: FloatArray

    def table(self, most: int) -> TextTable:
        """The features that matter most, as a table of text."""
        order = np.argsort(-np.abs(self.values), kind="stable")[:most]
        rows = [[self.names[i], f"{self.values[i]:.4f}"] for i in order]
        return TextTable(self.title, self.note, ["feature", self.measure], rows)

    def as_dict(self) -> dict[str, Any]:
        """The effects of all features, for JSON."""
        effects = dict(zip(self.names, self.values.tolist(), strict=True))
        return {"title": self.title, "note": self.note, "measure": self.measure, "features": effects}


def importances(ranker: Any, names: list[str]) -> FeatureEffects:
    """Which features matter to a ranker."""
    title = f"Features of the {type(ranker).__name__}"
    if isinstance(ranker, LinearRanker):
        note = "what a feature adds to the score for each of its units; units differ"
        return FeatureEffects(title, note, "weight", names, ranker.coef_)
    if not hasattr(ranker, "feature_importances_"):
        raise ValueError(
            f"a {type(ranker).__name__} has no importances of its own; give FILE and --query to compare two documents"
        )
    return FeatureEffects(title, "shares in the gain of all splits", "importance", names, ranker.feature_importances_)


def explanation(
    ranker: Any, documents: Documents, names: list[str], query: str, above: str | None, below: str | None
) -> FeatureEffects:
    """Why a ranker puts one document of a query above another; by default the best two."""
    rows = np.flatnonzero(documents.qid.astype(str) == query)
    if len(rows) < 2:
        some = ", ".join(map(str, documents.qid[:1]))
        raise ValueError(f"query {query} has {len(rows)} documents; choose one with two or more, such as {some}")
    of_query = documents.part(rows).widened(ranker.n_features_in_)
    if len(set(of_query.names)) < len(rows):  # documents of one name are told apart by their rows in the file
        of_query = replace(of_query, names=[str(row + 1) for row in rows])
    score = scored(ranker, of_query)
    best_first = [int(row) for row in np.argsort(-score, kind="stable")]
    places = {name: row for row, name in enumerate(of_query.names)}
    for name in filter(None, (above, below)):
        if name not in places:
            known = ", ".join(of_query.names[row] for row in best_first[:5])
            raise ValueError(f"query {query} has no document {name}; its first ones are {known}")
    i = best_first[0] if above is None else places[above]
    j = next(row for row in best_first if row != i) if below is None else places[below]
    if i == j:
        raise ValueError(f"{of_query.names[i]} is compared with itself; give two documents")
    verb = "above" if score[i] > score[j] else "below" if score[i] < score[j] else "level with"
    title = f"Query {query}: {of_query.names[i]} is {verb} {of_query.names[j]}"
    note = f"scores {score[i]:.4f} and {score[j]:.4f}; what each feature adds to the difference"
    return FeatureEffects(title, note, "effect", names, np.asarray(ranker.explain(of_query.X, i, j)))


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


def evaluate_run_files(
    qrels_file: str, run_files: Sequence[str], metrics: Sequence[str], *, complete: bool, **options: Any
) -> Evaluation:
    """Evaluate TREC runs, named after their files; ``-`` is standard input."""
    with ExitStack() as files:
        qrels = read_qrels(files.enter_context(readable(qrels_file)))
        runs = {name: read_run(files.enter_context(readable(path))) for name, path in _named(run_files).items()}
    try:
        result = evaluate_runs(qrels, runs, metrics, complete=complete, **options)
    except ValueError as error:
        raise ValueError(str(error).replace("complete=True", "--complete")) from None
    return replace(result, notes=[note.replace("complete=True", "--complete") for note in result.notes])


def evaluate_score_files(
    file: str,
    score_files: Sequence[str],
    model_files: Sequence[str],
    metrics: Sequence[str],
    *,
    zero_based: bool,
    **options: Any,
) -> Evaluation:
    """Evaluate scores of the documents of a file, from files of one per line and from saved rankers."""
    files = _named([*score_files, *model_files])
    rankers = {name: load_ranker(path) for name, path in list(files.items())[len(score_files) :]}
    sparse = bool(rankers) and all(map(takes_sparse, rankers.values()))
    documents = read_documents(file, zero_based=zero_based, sparse=sparse)
    scores = {
        name: scored(rankers[name], documents) if name in rankers else _read_scores(path, documents, file)
        for name, path in files.items()
    }
    return evaluate_scores(documents.y, scores, documents.qid, metrics, doc_id=documents.names, **options)


def evaluation_as_dict(result: Evaluation, *, per_query: bool) -> dict[str, Any]:
    """An evaluation for JSON."""
    systems: list[dict[str, Any]] = []
    for s, system in enumerate(result.systems):
        means = dict(zip(result.metrics, map(none_if_nan, result.means[s].tolist()), strict=True))
        systems.append({"system": system, "means": means})
        if per_query:
            systems[-1]["per_query"] = {
                metric: dict(zip(result.queries, map(none_if_nan, result.values[s, m].tolist()), strict=True))
                for m, metric in enumerate(result.metrics)
            }
    differences = [
        {"metric": metric, "n_queries": comparison.n_queries, **dict(zip(comparison.columns(), row, strict=True))}
        for metric, comparison in result.comparisons.items()
        for row in zip(*comparison.columns().values(), strict=True)
    ]
    return {"n_queries": len(result.queries), "systems": systems, "differences": differences, "notes": result.notes}


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
