"""Evaluation of systems that order the documents of queries: TREC runs, or scores of judged documents.

`evaluate_runs`, `evaluate_scores` and `evaluate_rankers`, which trains them first, measure all systems on the same
queries and compare them by paired tests; ``rankwise rank-evaluate`` prints what they return.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import signature
from typing import Any

import numpy as np

from rankwise._tables import TextTable, counted, make_frame
from rankwise._typing import ArrayLike, FloatArray
from rankwise.data import judged_run
from rankwise.data.formats.trec import JudgedRun, Qrels, Run
from rankwise.metrics import ranking_scorer
from rankwise.model_selection.comparison import Comparison, compare
from rankwise.model_selection.query_splits import train_test_split_by_query
from rankwise.model_selection.validation import has_gain, metric_in_words


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """Values of systems on the same queries; made by `evaluate_runs`, `evaluate_scores` and `evaluate_rankers`.

    Attributes
    ----------
    systems, metrics, queries : tuple of str
        Their names.
    values : ndarray of shape (n_systems, n_metrics, n_queries)
        Higher is better; NaN where a query is skipped.
    comparisons : dict
        Metric -> `Comparison`, where there are two systems or more, and enough queries for a test.
    gain : {"linear", "exp"}, sequence, mapping or callable
        What a grade counted in (N)DCG.
    ties : str
        The order of equal scores.
    notes : list of str
        What a reader of the values should know.
    """

    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    queries: tuple[str, ...]
    values: FloatArray
    comparisons: dict[str, Comparison]
    gain: Any = "linear"
    ties: str = "average"
    notes: list[str] = field(default_factory=list)

    @property
    def n_judged(self) -> np.ndarray[Any, Any]:
        """Number of queries that have a value, by metric; it depends on the judgments, not on the system."""
        return np.count_nonzero(~np.isnan(self.values[0]), axis=1)

    @property
    def means(self) -> FloatArray:
        """Means over the queries that have a value, of shape (n_systems, n_metrics); NaN if none has."""
        judged = ~np.isnan(self.values)
        totals = np.full(self.values.shape[:2], np.nan)
        return np.divide(np.nansum(self.values, axis=2), judged.sum(axis=2), out=totals, where=judged.any(axis=2))

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with a row per query and system and a column per metric; of pandas by default."""
        columns: dict[str, Any] = {
            "query": [query for query in self.queries for _ in self.systems],
            "system": list(self.systems) * len(self.queries),
        }
        for number, metric in enumerate(self.metrics):
            columns[metric] = self.values[:, number].T.ravel()
        return make_frame(columns, backend)

    def tables(self, *, per_query: bool = False, worst: int | None = None) -> list[TextTable]:
        """The means, the values of the queries if wanted, and the comparisons, as tables of text.

        Parameters
        ----------
        per_query : bool, default=False
            Whether to show the queries, a table for each metric: those first where the last system loses most against
            the first one; of a single system, those with the lowest values first.
        worst : int, optional
            Show only this many queries of each metric.
        """
        gains = [metric_in_words(metric, self.gain) for metric in self.metrics if has_gain(metric)]
        policy = [*([", ".join(gains)] if gains else []), f"ties: {self.ties}"]
        total, fewest = len(self.queries), int(self.n_judged.min())
        few = f"{fewest:,} of " if fewest == int(self.n_judged.max()) < total else ""
        rows = [[system, *map(_shown, mean)] for system, mean in zip(self.systems, self.means.tolist(), strict=True)]
        title = f"Means over {few}{counted(total, 'query', 'queries')}"
        tables = [TextTable(title, "; ".join([*policy, *self.notes]), ["system", *self.metrics], rows)]
        if per_query or worst is not None:
            tables += [self._query_table(number, worst) for number in range(len(self.metrics))]
        return [*tables, *(comparison.table() for comparison in self.comparisons.values())]

    def _query_table(self, number: int, most: int | None) -> TextTable:
        values = self.values[:, number]
        lost = values[-1] - values[0] if len(self.systems) > 1 else values[0]
        order = np.argsort(lost, kind="stable")[:most]  # queries without a value last
        columns = ["query", *self.systems]
        rows = [[self.queries[query], *map(_shown, values[:, query].tolist())] for query in order]
        if len(self.systems) > 1:
            columns.append(f"{self.systems[-1]} - {self.systems[0]}")
            rows = [[*row, _shown(lost[query], sign="+")] for row, query in zip(rows, order, strict=True)]
        metric = metric_in_words(self.metrics[number], self.gain) if has_gain(self.metrics[number]) else ""
        note = f"{counted(len(order), 'query', 'queries')} of {len(self.queries):,}, worst first"
        return TextTable(f"Queries by {self.metrics[number]}", "; ".join(filter(None, [note, metric])), columns, rows)

    def __repr__(self) -> str:
        return "\n\n".join(map(str, self.tables()))

    def _repr_html_(self) -> str:
        return "\n".join(table._repr_html_() for table in self.tables())


def evaluate_runs(
    qrels: Qrels,
    runs: Mapping[str, Run],
    metrics: Sequence[str] = ("ndcg@10", "map", "mrr"),
    *,
    complete: bool = False,
    gain: Any = "linear",
    ties: str = "trec",
    empty: Any = 0,
    threshold: float = 0,
    max_grade: float | None = None,
    random_state: int = 0,
) -> Evaluation:
    r"""Measure TREC runs as trec_eval does, and compare them query by query where there are several.

    Parameters
    ----------
    qrels : Qrels
        Judgments, as `rankwise.data.read_qrels` returns them.
    runs : mapping
        Name -> `Run`, as `rankwise.data.read_run` returns it.
    metrics : sequence of str, default=("ndcg@10", "map", "mrr")
        Retrieval metrics, as `rankwise.metrics.ranking_scorer` takes them.
    complete : bool, default=False
        Whether judged queries that are missing from a run count as 0 (``trec_eval -c``); else they are skipped.
    gain, ties, empty, threshold, max_grade
        As in `rankwise.metrics`, for the metrics that have them; ``max_grade`` is by default that of all documents.
    random_state : int, default=0
        Seed of the randomization tests, and of random ties.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> from rankwise.data.formats.trec import Qrels, Run
    >>> from rankwise.model_selection import evaluate_runs
    >>> qrels = Qrels(["1", "1", "2"], ["a", "b", "c"], [2, 1, 1])
    >>> run = Run(["1", "1", "2"], ["b", "a", "c"], [0.9, 0.5, 0.7], ["t", "t", "t"])
    >>> evaluate_runs(qrels, {"bm25": run}, ["ndcg@10", "mrr"])
    Means over 2 queries
    ndcg@10 (linear gain); ties: trec
    system  ndcg@10  mrr
    bm25    0.9299   1.0000
    """
    if not isinstance(runs, Mapping) or not runs:
        raise TypeError("runs is not a mapping of names to runs; give {'bm25': run, ...}")
    judged, notes = {}, []
    judged_queries = set(map(str, qrels.qid))
    for name, run in runs.items():
        try:
            judged[name] = judged_run(qrels, run, complete=complete)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
        answered = set(map(str, run.qid))
        if missing := judged_queries - answered:
            all_judged = counted(len(judged_queries), "judged query", "judged queries")
            result = "counted as 0" if complete else "skipped here; complete=True counts them as 0"
            notes.append(f"{name} lacks {len(missing):,} of {all_judged}, {result}")
        if unknown := answered - judged_queries:
            notes.append(f"{name} answers {counted(len(unknown), 'query', 'queries')} without judgments, skipped")
    options = {"gain": gain, "ties": ties, "empty": empty, "threshold": threshold, "max_grade": max_grade}
    return _evaluate(judged, metrics, options, random_state, notes)


def evaluate_scores(
    y: ArrayLike,
    scores: Mapping[str, ArrayLike],
    qid: ArrayLike,
    metrics: Sequence[str] = ("ndcg@10", "map", "mrr"),
    *,
    doc_id: ArrayLike | None = None,
    gain: Any = "linear",
    ties: str = "average",
    empty: Any = "skip",
    threshold: float = 0,
    max_grade: float | None = None,
    random_state: int = 0,
) -> Evaluation:
    """Measure scores of judged documents, such as predictions of rankers, and compare them query by query.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Relevance, higher is better.
    scores : mapping
        Name -> scores of the rows, higher is better: ``{"trees": trees.predict(X), ...}``.
    qid : array-like of shape (n_rows,)
        The query of each row.
    metrics, gain, ties, empty, threshold, max_grade, random_state
        As in `evaluate_runs`, but equal scores count as the mean over their orders, and queries without relevant rows
        are skipped.
    doc_id : array-like of shape (n_rows,), optional
        Names of the rows, for ``ties="trec"``; by default their numbers, from 1.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> from rankwise.model_selection import evaluate_scores
    >>> y, qid = [1, 0, 0, 1], ["a", "a", "b", "b"]
    >>> result = evaluate_scores(y, {"new": [2, 1, 1, 2], "old": [2, 1, 2, 1]}, qid, ["mrr"])
    >>> result.means.tolist()
    [[1.0], [0.75]]
    """
    if not isinstance(scores, Mapping) or not scores:
        raise TypeError("scores is not a mapping of names to scores; give {'trees': trees.predict(X), ...}")
    grade = np.asarray(y)
    names = np.asarray(range(1, len(grade) + 1) if doc_id is None else doc_id).astype(str)
    queries = np.asarray(qid).astype(str)
    judged = {name: JudgedRun(grade, np.asarray(score), queries, names) for name, score in scores.items()}
    options = {"gain": gain, "ties": ties, "empty": empty, "threshold": threshold, "max_grade": max_grade}
    return _evaluate(judged, metrics, options, random_state, [])


def evaluate_rankers(
    rankers: Mapping[str, Any],
    X: ArrayLike,
    y: ArrayLike,
    qid: ArrayLike,
    metrics: Sequence[str] = ("ndcg@10", "map", "mrr"),
    *,
    test_size: float = 0.2,
    random_state: int = 0,
    on_step: Callable[[str, float], None] | None = None,
    **options: Any,
) -> Evaluation:
    """Train query rankers on some of the queries, and measure and compare them on the others.

    Parameters
    ----------
    rankers : mapping
        Name -> query ranker; copies of them are trained.
    X : array-like of shape (n_rows, n_features)
        Features.
    y : array-like of shape (n_rows,)
        Relevance, higher is better.
    qid : array-like of shape (n_rows,)
        The query of each row.
    metrics : sequence of str, default=("ndcg@10", "map", "mrr")
        As in `evaluate_runs`.
    test_size : float, default=0.2
        Share of the queries to measure on, drawn as `train_test_split_by_query` does.
    random_state : int, default=0
        Seed of the split and of the randomization tests; rankers have seeds of their own.
    on_step : callable, optional
        Told which ranker is trained next, and the share of the rankers that are done.
    **options
        ``gain``, ``ties``, ``empty``, ``threshold`` and ``max_grade``, as in `evaluate_scores`.

    Returns
    -------
    Evaluation
        A note says how many queries the rankers learned from.

    Examples
    --------
    >>> from rankwise.datasets import make_retrieval
    >>> from rankwise.ltr import LambdaMART, LinearRanker
    >>> from rankwise.model_selection import evaluate_rankers
    >>> X, y, qid = make_retrieval(n_queries=30, random_state=0)[:3]
    >>> rankers = {"linear": LinearRanker(), "trees": LambdaMART(20, random_state=0)}
    >>> len(evaluate_rankers(rankers, X, y, qid, ["ndcg@10"]).queries)
    6
    """
    from sklearn.base import clone

    if not isinstance(rankers, Mapping) or not rankers:
        raise TypeError("rankers is not a mapping of names to query rankers; give {'trees': LambdaMART(), ...}")
    split = train_test_split_by_query(X, y, qid=qid, test_size=test_size, random_state=random_state)
    X_train, X_test, y_train, y_test, qid_train, qid_test = split
    scores = {}
    for number, (name, ranker) in enumerate(rankers.items()):
        if on_step is not None:
            on_step(name, number / len(rankers))
        fitted = clone(ranker).fit(X_train, y_train, qid=qid_train)
        # Where documents look at the others of their query, their scores need it, too.
        needed = {"qid": qid_test} if "qid" in signature(fitted.predict).parameters else {}
        scores[name] = fitted.predict(X_test, **needed)
    found = evaluate_scores(y_test, scores, qid_test, metrics, random_state=random_state, **options)
    trained = counted(len(np.unique(np.asarray(qid_train))), "other query", "other queries")
    return replace(found, notes=[f"trained on {trained}", *found.notes])


def _evaluate(
    judged: Mapping[str, JudgedRun], metrics: Sequence[str], options: dict[str, Any], seed: int, notes: list[str]
) -> Evaluation:
    queries = _common_queries(judged)
    if options["max_grade"] is None:
        # The same scale for all, whatever documents a run retrieves.
        options["max_grade"] = max(float(system.y_true.max()) for system in judged.values())
    metrics = (metrics,) if isinstance(metrics, str) else tuple(metrics)
    values = np.empty((len(judged), len(metrics), len(queries)))
    for s, system in enumerate(judged.values()):
        for m, metric in enumerate(metrics):
            found, value = _per_query(metric, system, {**options, "random_state": seed})
            place = {query: number for number, query in enumerate(found.tolist())}
            values[s, m] = value[[place[query] for query in queries]]
    result = Evaluation(
        tuple(judged), metrics, tuple(queries), values, {}, options["gain"], options["ties"], list(notes)
    )
    n_judged = dict(zip(metrics, result.n_judged.tolist(), strict=True))
    for n in sorted(set(n_judged.values()) - {len(queries)}):
        without = ", ".join(metric for metric in metrics if n_judged[metric] == n)
        result.notes.append(f"no relevant document in {len(queries) - n:,} of the queries, skipped by {without}")
    for m, metric in enumerate(metrics if len(judged) > 1 else ()):
        if n_judged[metric] < 2:
            result.notes.append(f"too few queries for a test of {metric}")
            continue
        by_system = dict(zip(result.systems, values[:, m], strict=True))
        result.comparisons[metric] = compare(by_system, metric_in_words(metric, options["gain"]), random_state=seed)
    return result


def _common_queries(judged: Mapping[str, JudgedRun]) -> list[str]:
    (first, reference), *others = judged.items()
    queries = list(dict.fromkeys(reference.qid.tolist()))
    for name, system in others:
        different = set(queries) ^ set(system.qid.tolist())
        if different:
            query = min(different)
            with_it, without = (first, name) if query in set(queries) else (name, first)
            raise ValueError(
                f"query {query} is in {with_it}, but not in {without}, and systems compare on the same queries; give "
                "complete=True, so that queries missing from a run count as 0"
            )
    return queries


def _per_query(metric: str, system: JudgedRun, options: dict[str, Any]) -> tuple[Any, FloatArray]:
    scorer = ranking_scorer(metric)
    if not scorer.by_query:
        raise ValueError(f"{metric!r} is for rankings, not for search results")
    known = signature(scorer.function).parameters
    options = {name: value for name, value in options.items() if name in known} | scorer.options
    return scorer.function(system.y_true, system.y_score, system.qid, per_query=True, doc_id=system.doc_id, **options)


def _shown(value: float, sign: str = "") -> str:
    return "-" if np.isnan(value) else f"{value:{sign}.4f}"
