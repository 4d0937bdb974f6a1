"""What all rankers of query rows share: positions within queries, and a score that knows the queries."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankwise._sklearn import BaseEstimator, Interval, StrOptions
from rankwise._typing import ArrayLike, FloatArray
from rankwise.ltr.gradients import check_queries
from rankwise.ltr.rows import QueryRows, query_codes
from rankwise.metrics import dcg_score, ndcg_score, ranking_scorer
from rankwise.metrics.judged import Gain

if TYPE_CHECKING:
    _Estimator = BaseEstimator
else:
    _Estimator = object  # a mixin stands before BaseEstimator and brings none of its own

METRICS = ("ndcg", "dcg", "map", "mrr", "err", "precision", "recall", "hit_rate")

#: what the parameters that all query rankers share may be
METRIC_CONSTRAINTS: dict[str, list[Any]] = {
    "metric": [StrOptions(set(METRICS))],
    "at": [None, Interval(Integral, 1, None, closed="left")],
    "gain": [StrOptions({"exp", "linear"}), "array-like", dict, callable],
}


class QueryRankerMixin(_Estimator):
    """Ranks and scores rows within queries; a ranker defines ``fit(X, y, qid=...)`` and ``predict(X)``, the scores.

    Attributes
    ----------
    n_queries_ : int
        Number of queries in training.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has them.
    """

    # Where metadata routing is enabled, scikit-learn hands these on without anybody asking for them.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"qid": True, "sample_weight": True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"qid": True, "sample_weight": True}
    metric: str
    at: int | None
    gain: Gain
    n_queries_: int
    n_features_in_: int

    def predict(self, X: ArrayLike) -> FloatArray:
        """Scores of the rows, higher is better."""
        raise NotImplementedError

    def rank(self, X: ArrayLike, qid: ArrayLike | None = None) -> FloatArray:
        """Places of the rows within their queries.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Features.
        qid : array-like of shape (n_rows,), optional
            The query of each row; by default all rows are one query.

        Returns
        -------
        ndarray of shape (n_rows,)
            Positions, 1 = best; rows of equal score share a place (1, 2, 2, 3).
        """
        score = self._query_scores(X, qid)
        query = query_codes(check_queries(qid, len(score), of="X"))
        order = np.lexsort((-score, query))
        begins = np.append(True, np.diff(query[order]) != 0)
        level = np.cumsum(begins | np.append(True, np.diff(score[order]) != 0))
        positions = np.empty(len(score))
        positions[order] = level - level[begins][query[order]] + 1
        return positions

    def score(
        self, X: ArrayLike, y: ArrayLike, qid: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Mean over queries of the ranker's metric, NDCG@10 by default.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Features.
        y : array-like of shape (n_rows,)
            Relevance, higher is better.
        qid : array-like of shape (n_rows,), optional
            The query of each row. Without it all rows are one query; that warns where training had several.
        sample_weight : array-like of shape (n_rows,), optional
            Weight of the row's query, the same for all its rows.

        Returns
        -------
        float
            Higher is better. Equal scores count as the mean over their orders; queries without relevant rows are
            left out.
        """
        predicted = self._query_scores(X, qid)
        if qid is None and self.n_queries_ > 1:
            warnings.warn(
                f"{type(self).__name__} was fitted on {self.n_queries_} queries, but score got no qid and takes all "
                "rows for one query. In cross-validation use rankwise.model_selection.cross_validate, or call "
                "sklearn.set_config(enable_metadata_routing=True) and pass params={'qid': qid}",
                UserWarning,
                stacklevel=2,
            )
        check_queries(qid, len(predicted), of="X")
        return self._evaluate(y, predicted, qid, sample_weight)

    def _query_scores(self, X: ArrayLike, qid: ArrayLike | None) -> FloatArray:
        """Scores of rows, where those of other rows of the query may count."""
        return self.predict(X)

    def _evaluate(
        self, y: ArrayLike, score: FloatArray, qid: ArrayLike | None, sample_weight: ArrayLike | None = None
    ) -> float:
        return float(self._metric_function()(y, score, qid, sample_weight=sample_weight))

    def _metric_function(self, name: str | None = None) -> Callable[..., Any]:
        """The metric of the name, by default the ranker's own, as a function of relevance, scores and queries."""
        name = name or (self.metric if self.at is None else f"{self.metric}@{self.at}")
        scorer = ranking_scorer(name)
        if not scorer.by_query:
            raise ValueError(f"{name!r} compares rankings; choose a retrieval metric, e.g. 'map@5'")
        if scorer.function in (ndcg_score, dcg_score):
            scorer.options["gain"] = self.gain
        return partial(scorer.function, **scorer.options)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "ranker"
        tags.target_tags.required = True
        tags.target_tags.positive_only = True
        return tags


def eval_rows(estimator: Any, eval_set: Any, checked: Callable[[Any], Any]) -> QueryRows:
    """The rows of an eval_set, whose features ``checked`` makes ready."""
    if not isinstance(eval_set, tuple | list) or len(eval_set) != 3:
        raise ValueError("eval_set must be three things: X, y and qid")
    grades = check_target(estimator, eval_set[1])
    if len(grades) == 0:
        raise ValueError("eval_set has no rows, so early stopping has nothing to watch")
    return QueryRows.build(checked(eval_set[0]), grades, eval_set[2])


def check_target(estimator: Any, y: ArrayLike | None, *, required: bool = True) -> Any:
    """The target with one value per row: a column is flattened, with a warning; none is refused where one is needed."""
    if y is None:
        if required:
            raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
        return None
    values = np.asarray(y)
    if values.dtype.kind in "US":
        raise TypeError("y holds texts, not numbers; relevance is a number, higher is better")
    if values.ndim == 2 and values.shape[1] == 1:
        from sklearn.utils.validation import column_or_1d

        return column_or_1d(values, warn=True)
    return values
