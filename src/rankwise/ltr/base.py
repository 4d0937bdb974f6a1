"""What query rankers share: places within queries, a score that knows the queries, and checks of training rows.

`LambdaMART`, `LinearRanker`, `NeuralRanker` and `StackedQueryRanker` derive from `QueryRankerMixin`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from rankwise._features import without_zeros
from rankwise._query_inputs import EvalSet, columns_by_name, split_off_queries
from rankwise._sklearn import EstimatorMixin, Interval, StrOptions
from rankwise._state import COUNT, Saved
from rankwise._typing import ArrayLike, FloatArray
from rankwise.metrics import dcg_score, ndcg_score, ranking_scorer
from rankwise.queries import Gain, QueryRows, group_queries

METRICS = ("ndcg", "dcg", "map", "mrr", "err", "precision", "recall", "hit_rate")
# Rows of a query whose pairs fit into a table of half a gigabyte.
_MOST_ROWS_IN_PAIRS = 8192
_GAINS = [StrOptions({"exp", "linear"}), "array-like", dict, callable]

#: constraints of the parameters that all query rankers share
METRIC_CONSTRAINTS: dict[str, list[Any]] = {
    "metric": [StrOptions(set(METRICS))],
    "k": [None, Interval(Integral, 1, None, closed="left")],
    "gain": _GAINS,
    "score_gain": _GAINS,
}


class QueryRankerMixin(EstimatorMixin):
    """Ranks and scores rows within queries; a ranker defines ``fit(X, y, qid=...)`` and ``predict(X)``, the scores.

    Attributes
    ----------
    n_queries_ : int
        Number of queries in training.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has them.
    """

    # With metadata routing enabled, scikit-learn passes these on without a request.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"qid": True, "sample_weight": True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"qid": True, "sample_weight": True}
    metric: str
    k: int | None
    gain: Gain
    score_gain: Gain
    n_queries_: int
    n_features_in_: int

    _saved: ClassVar[Saved] = {"n_features_in_": COUNT, "n_queries_": COUNT}

    def _check_features(self, X: ArrayLike, *, reset: bool, accept_sparse: bool = False) -> Any:
        """Numbers as a float64 matrix; sparse ones, for training, without entries that are 0 or stored twice."""
        from sklearn.utils.validation import validate_data

        if not reset:
            X = columns_by_name(X, getattr(self, "feature_names_in_", None))
        accepted = "csr" if accept_sparse else False
        checked = validate_data(self, X, reset=reset, dtype=np.float64, order="C", accept_sparse=accepted)
        return without_zeros(checked) if reset and hasattr(checked, "indptr") else checked

    def predict(self, X: ArrayLike) -> FloatArray:
        """Scores of the rows, higher is better."""
        raise NotImplementedError

    def rank(self, X: ArrayLike, qid: ArrayLike | str | None = None, *, group: ArrayLike | None = None) -> FloatArray:
        """Places of the rows within their queries.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Features.
        qid : array-like of shape (n_rows,) or str, optional
            The query of each row, or the column of a frame that has it; by default all rows are one query.
        group : array-like of int, optional
            In place of ``qid``: how many rows each query has, one query after the other.

        Returns
        -------
        ndarray of shape (n_rows,)
            Positions, 1 = best; rows of equal score share a place (1, 2, 2, 3).
        """
        X, qid = split_off_queries(X, qid, group)
        score = self._query_scores(X, qid)
        query = group_queries(qid, len(score), of="X").codes
        order = np.lexsort((-score, query))
        begins = np.append(True, np.diff(query[order]) != 0)
        level = np.cumsum(begins | np.append(True, np.diff(score[order]) != 0))
        positions = np.empty(len(score))
        positions[order] = level - level[begins][query[order]] + 1
        return positions

    def score(
        self,
        X: ArrayLike,
        y: ArrayLike,
        qid: ArrayLike | str | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        group: ArrayLike | None = None,
    ) -> float:
        """Mean over queries of the metric; by default NDCG@10 with linear gain, like ``ndcg_score(..., k=10)``.

        The metric is ``metric`` at ``k``, where a grade counts as ``score_gain`` says. The default is that of
        `rankwise.metrics.ndcg_score`, whatever ``gain`` the ranker was trained with.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Features.
        y : array-like of shape (n_rows,)
            Relevance, higher is better.
        qid : array-like of shape (n_rows,) or str, optional
            The query of each row, or the column of a frame that has it. Without it all rows are one query; that warns
            if training had several.
        sample_weight : array-like of shape (n_rows,), optional
            Weight of the row's query, the same for all its rows.
        group : array-like of int, optional
            In place of ``qid``: how many rows each query has, one query after the other.

        Returns
        -------
        float
            Higher is better. Equal scores count as the mean over their orders; queries without relevant rows are
            skipped.
        """
        X, qid = split_off_queries(X, qid, group)
        predicted = self._query_scores(X, qid)
        if qid is None and self.n_queries_ > 1:
            warnings.warn(
                f"{type(self).__name__} was fitted on {self.n_queries_} queries, but score got no qid and takes all "
                "rows for one query. In cross-validation use rankwise.model_selection.cross_validate, or call "
                "sklearn.set_config(enable_metadata_routing=True) and pass params={'qid': qid}",
                UserWarning,
                stacklevel=2,
            )
        group_queries(qid, len(predicted), of="X")
        metric = self._metric_function(None, self.score_gain)
        return float(metric(y, predicted, qid, sample_weight=sample_weight))

    def _query_scores(self, X: ArrayLike, qid: ArrayLike | None) -> FloatArray:
        """Scores of rows, which may depend on the other rows of the query."""
        return self.predict(X)

    def _metric_function(self, name: str | None, gain: Gain) -> Callable[..., Any]:
        """The metric of the name, by default the ranker's own, as a function of relevance, scores and queries."""
        name = name or (self.metric if self.k is None else f"{self.metric}@{self.k}")
        scorer = ranking_scorer(name)
        if not scorer.by_query:
            raise ValueError(f"{name!r} compares rankings; choose a retrieval metric, e.g. 'map@5'")
        if scorer.function in (ndcg_score, dcg_score):
            scorer.options["gain"] = gain
        return partial(scorer.function, **scorer.options)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "ranker"
        tags.target_tags.required = True
        tags.target_tags.positive_only = True
        return tags


def check_target(estimator: Any, y: ArrayLike | None, *, required: bool = True) -> Any:
    """The target with one value per row: a column is flattened, with a warning; None is refused if y is required."""
    if y is None:
        if required:
            raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
        return None
    values = np.asarray(y)
    if values.dtype.kind in "US":
        raise TypeError("y holds text, not numbers; relevance is a number, higher is better")
    if values.ndim == 2 and values.shape[1] == 1:
        from sklearn.utils.validation import column_or_1d

        return column_or_1d(values, warn=True)
    return values


def validation_rows(
    ranker: Any,
    rows: QueryRows,
    watched: list[EvalSet],
    rng: np.random.Generator,
    transform: Callable[[Any], Any],
    stops: bool | None = None,
) -> tuple[QueryRows, list[QueryRows]]:
    """Rows to train on, and rows held out for early stopping: those of eval_set, or some of the queries, if any.

    ``transform`` makes the features of the eval_set into those of training; ``stops`` is whether training stops early,
    by default as the ranker says.
    """
    if watched:
        found = []
        for X, y, qid, init_score in watched:
            grades = check_target(ranker, y)
            if len(grades) == 0:
                raise ValueError("eval_set has no rows, so early stopping has nothing to watch")
            found.append(QueryRows.build(transform(X), grades, qid, init_score=init_score))
        return rows, found
    if not (ranker.early_stopping if stops is None else stops):
        return rows, []
    if rows.pairs is not None:
        raise ValueError("comparisons cannot be split by query; give eval_set=(X, y, qid) for early stopping")
    training, held_out = rows.split(ranker.validation_fraction, rng)
    return training, [held_out]


def check_longest(longest: int, what: str, cure: str | None = None) -> None:
    """Refuse a query whose tables of pairs would not fit; ``what`` makes them, and the cure is what does not."""
    if longest > _MOST_ROWS_IN_PAIRS:
        raise ValueError(
            f"a query has {longest} rows, and {what} makes tables of all their pairs; give queries of at most "
            f"{_MOST_ROWS_IN_PAIRS} rows{f', or {cure}' if cure else ''}"
        )


def check_query_weights(rows: QueryRows, what: str) -> FloatArray:
    """The weight of each query; weights that differ within a query are refused."""
    weight = rows.weight[rows.bounds[:-1]]
    if (rows.weight != np.repeat(weight, np.diff(rows.bounds))).any():
        raise ValueError(f"sample_weight differs within a query; {what} takes one weight per query")
    return weight
