"""Cross-validation of query rankers with whole queries; the values of single queries are kept for `compare`."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from inspect import signature
from numbers import Integral
from typing import Any

import numpy as np

from rankwise._query_inputs import split_off_queries
from rankwise._sklearn import num_samples, safe_indexing
from rankwise._tables import make_frame, name_column
from rankwise._threads import usable_jobs
from rankwise._typing import ArrayLike, FloatArray, IntArray
from rankwise._validation import check_n_jobs
from rankwise.metrics import ranking_scorer
from rankwise.model_selection.query_splits import QueryKFold
from rankwise.queries import QueryGroups, group_queries


@dataclass
class CrossValidation:
    """What `cross_validate` found.

    Attributes
    ----------
    scores : dict
        Metric -> its mean over the queries of each fold, higher is better.
    queries : ndarray of shape (n_queries,)
        The queries, in order of first appearance.
    per_query : dict
        Metric -> value of each query when it was in the test part, NaN for queries without relevant rows.
    fit_seconds : ndarray of shape (n_folds,)
        Processor time of each fit, all threads together.
    estimators : list
        The fitted estimators, if requested.
    gain : {"linear", "exp"}, sequence, mapping or callable
        What a grade counted in (N)DCG.
    """

    scores: dict[str, FloatArray]
    queries: np.ndarray[Any, Any]
    per_query: dict[str, FloatArray]
    fit_seconds: FloatArray
    estimators: list[Any] = field(default_factory=list)
    gain: Any = "linear"

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with a row per query and a column per metric, of pandas by default, else of the backend."""
        return make_frame({"query": name_column(self.queries.tolist()), **self.per_query}, backend)

    def __repr__(self) -> str:
        means = ", ".join(
            f"{metric_in_words(name, self.gain)} {np.nanmean(values):.4f}" for name, values in self.per_query.items()
        )
        return f"CrossValidation({len(self.queries)} queries, {len(self.fit_seconds)} folds: {means})"


def cross_validate(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike,
    qid: ArrayLike | str | None = None,
    *,
    group: ArrayLike | None = None,
    scoring: str | Sequence[str] = "ndcg@10",
    gain: Any = "linear",
    cv: Any = 5,
    sample_weight: ArrayLike | None = None,
    return_estimator: bool = False,
    n_jobs: int | None = None,
) -> CrossValidation:
    """Fit and score an estimator on folds of whole queries.

    Parameters
    ----------
    estimator : estimator
        A ranker; a pipeline or search that ends in one; or a regressor that knows of no queries, whose predictions then
        are the scores. ``qid`` goes wherever it is asked for; scikit-learn's metadata routing need not be enabled.
    X : array-like of shape (n_rows, n_features)
        Features.
    y : array-like of shape (n_rows,)
        Relevance, higher is better.
    qid : array-like of shape (n_rows,) or str
        The query of each row, of any type and in any order, or the column of a frame that has it, which then is no
        feature.
    group : array-like of int, optional
        In place of ``qid``: how many rows each query has, one query after the other.
    scoring : str or sequence of str, default="ndcg@10"
        Retrieval metrics, as `rankwise.metrics.ranking_scorer` takes them.
    gain : {"linear", "exp"}, sequence, mapping or callable, default="linear"
        What a grade is worth in (N)DCG, as in `rankwise.metrics.ndcg_score`.
    cv : int, splitter or iterable, default=5
        Number of folds of `QueryKFold` (None is 5); or a splitter; or pairs of rows to train and to test on. Folds that
        cut a query or test it twice are refused, and so are searches of rankers whose own ``cv`` does not ask for
        ``qid``, as `QueryKFold` does.
    sample_weight : array-like of shape (n_rows,), optional
        Weights of rows in training; the estimator must ask for them, as the rankers of rankwise do.
    return_estimator : bool, default=False
        Whether to keep the fitted estimators.
    n_jobs : int, optional
        Folds that run at once, in processes.

    Returns
    -------
    CrossValidation

    Examples
    --------
    >>> from rankwise.datasets import make_retrieval
    >>> from rankwise.ltr import LambdaMART
    >>> from rankwise.model_selection import cross_validate
    >>> X, y, qid, _ = make_retrieval(40, random_state=0)
    >>> cross_validate(LambdaMART(10, random_state=0), X, y, qid, cv=2)
    CrossValidation(40 queries, 2 folds: ndcg@10 (linear gain) 0...)
    """
    from joblib import Parallel, delayed

    check_n_jobs(n_jobs)
    X = X.tocsr() if hasattr(X, "tocsr") else X  # not every sparse matrix gives rows
    X, qid = split_off_queries(X, qid, group)
    if qid is None:
        raise ValueError("cross_validate needs the query of each row: give qid, or group, the sizes of queries")
    n_rows = num_samples(X)
    for name, values in (("y", y), ("sample_weight", sample_weight)):
        if values is not None and len(np.asarray(values)) != n_rows:
            raise ValueError(
                f"{name} has {len(np.asarray(values))} entries, but X has {n_rows} rows; give one for each"
            )
    groups = group_queries(qid, n_rows, of="X")
    codes = groups.codes
    _check_searches(estimator)
    splits = _splits(cv, X, y, codes)
    _check_whole(splits, codes, groups)
    metrics = [scoring] if isinstance(scoring, str) else list(scoring)
    scorers = {name: _scorer(name, gain) for name in metrics}
    tasks = (
        delayed(_fit_and_score)(estimator, X, np.asarray(y), codes, sample_weight, train, test, scorers)
        for train, test in splits
    )
    folds = Parallel(n_jobs=usable_jobs(n_jobs))(tasks)
    per_query = {name: np.full(len(groups.ids), np.nan) for name in metrics}
    for _, values, _ in folds:
        for name, (queries, value) in values.items():
            per_query[name][queries] = value
    return CrossValidation(
        scores={name: np.array([np.nanmean(values[name][1]) for _, values, _ in folds]) for name in metrics},
        queries=groups.ids,
        per_query=per_query,
        fit_seconds=np.array([seconds for _, _, seconds in folds]),
        estimators=[fitted for fitted, _, _ in folds] if return_estimator else [],
        gain=gain,
    )


def has_gain(metric: str) -> bool:
    """Whether a metric depends on what a grade is worth, as (N)DCG does."""
    return "gain" in signature(ranking_scorer(metric).function).parameters


def metric_in_words(metric: str, gain: Any) -> str:
    """The name of a metric, with its gain if it has one: "ndcg@10 (linear gain)"."""
    if not has_gain(metric):
        return metric
    word = {"linear": "linear", "exp": "exponential"}.get(gain if isinstance(gain, str) else "", "custom")
    return f"{metric} ({word} gain)"


def _splits(cv: Any, X: ArrayLike, y: ArrayLike, codes: IntArray) -> list[tuple[IntArray, IntArray]]:
    cv = 5 if cv is None else cv
    splitter: Any = QueryKFold(int(cv)) if isinstance(cv, Integral) else cv
    with warnings.catch_warnings():
        # A splitter that ignores queries is refused for what it does, with the query that it cuts.
        warnings.filterwarnings("ignore", "The groups parameter is ignored")
        # QueryKFold warns of groups, which here are queries for the fits as well.
        warnings.filterwarnings("ignore", "groups say where to split")
        pairs = splitter.split(X, y, codes) if hasattr(splitter, "split") else splitter
        return [(np.asarray(train), np.asarray(test)) for train, test in pairs]


def _check_whole(splits: list[tuple[IntArray, IntArray]], codes: IntArray, groups: QueryGroups) -> None:
    """Refuse folds that cut a query, or test it twice: it has one value."""
    if not splits:
        raise ValueError("cv gives no folds; give a number of folds, a splitter, or pairs of rows to train and test on")
    was_tested = np.zeros(len(groups.ids), dtype=bool)
    for train, test in splits:
        cut = np.intersect1d(codes[train], codes[test])
        if len(cut):
            raise ValueError(
                f"cv cuts query {groups.ids[cut[0]]}: some of its rows are for training, others for testing, so the "
                "result would be too good; use QueryKFold, or GroupKFold with groups=qid"
            )
        n_tested = np.bincount(codes[test], minlength=len(groups.ids))
        partly = (n_tested > 0) & (n_tested != groups.sizes)
        if partly.any():
            q = int(np.argmax(partly))
            raise ValueError(
                f"cv tests {n_tested[q]} rows of query {groups.ids[q]}, which has {groups.sizes[q]}; a metric needs "
                "each of them once"
            )
        again = was_tested & (n_tested > 0)
        if again.any():
            raise ValueError(
                f"cv tests query {groups.ids[np.argmax(again)]} in two folds, but a query has one value; validate once "
                "for each repetition"
            )
        was_tested |= n_tested > 0


def _check_searches(estimator: Any) -> None:
    """Refuse a search of rankers, alone or within a pipeline, whose folds would cut queries."""
    from sklearn import config_context
    from sklearn.utils.metadata_routing import get_routing_for_object

    parts = estimator.get_params(deep=True).values() if hasattr(estimator, "get_params") else ()
    with config_context(enable_metadata_routing=True):
        for part in (estimator, *parts):
            if not (hasattr(part, "cv") and hasattr(part, "estimator")) or isinstance(part.cv, list | tuple):
                continue
            knows_queries = get_routing_for_object(part.cv).consumes("split", ["qid"])
            if get_routing_for_object(part.estimator).consumes("fit", ["qid"]) and not knows_queries:
                raise ValueError(
                    f"{type(part).__name__} has cv={part.cv!r}, which cuts queries; give cv=QueryKFold(...)"
                )


def _scorer(name: str, gain: Any) -> Any:
    return ranking_scorer(name, gain=gain) if has_gain(name) else ranking_scorer(name)


def _fit_and_score(
    estimator: Any,
    X: Any,
    y: np.ndarray[Any, Any],
    codes: IntArray,
    sample_weight: Any,
    train: IntArray,
    test: IntArray,
    scorers: dict[str, Any],
) -> tuple[Any, dict[str, tuple[IntArray, FloatArray]], float]:
    """Fitted estimator, queries and their values for each metric, and processor time of the fit."""
    from sklearn import config_context
    from sklearn.base import clone
    from sklearn.utils.metadata_routing import get_routing_for_object

    fitted = clone(estimator)
    metadata = {"qid": codes[train]}
    if sample_weight is not None:
        metadata["sample_weight"] = np.asarray(sample_weight)[train]
    with config_context(enable_metadata_routing=True):
        wanted = get_routing_for_object(fitted).consumes("fit", metadata.keys())
        if sample_weight is not None and "sample_weight" not in wanted:
            raise ValueError(f"{type(fitted).__name__} does not ask for sample_weight; see its set_fit_request")
        begin = time.process_time()
        fitted.fit(safe_indexing(X, train), y[train], **{name: metadata[name] for name in wanted})
        seconds = time.process_time() - begin
        queries = get_routing_for_object(fitted).consumes("predict", ["qid"])
        predicted = fitted.predict(safe_indexing(X, test), **dict.fromkeys(queries, codes[test]))
    values = {
        name: scorer.function(
            y[test], np.asarray(predicted, dtype=np.float64), codes[test], per_query=True, **scorer.options
        )
        for name, scorer in scorers.items()
    }
    return fitted, values, seconds
