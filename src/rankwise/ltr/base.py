"""What all rankers of query rows share: positions within queries, and a score that knows the queries."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankwise._sklearn import BaseEstimator, Interval, StrOptions
from rankwise._state import COUNT, Saved
from rankwise._typing import ArrayLike, FloatArray, IntArray
from rankwise._validation import check_weights
from rankwise.ltr.gradients import check_grades, check_pairs, check_queries
from rankwise.metrics import dcg_score, ndcg_score, ranking_scorer
from rankwise.metrics.judged import Gain
from rankwise.queries import QueryGroups

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

    _saved: ClassVar[Saved] = {"n_features_in_": COUNT, "n_queries_": COUNT}

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


# Rows of queries made ready for training: checked, grouped, and in an order that depends on nothing but the data.


AnyArray = np.ndarray[Any, Any]


@dataclass(frozen=True)
class QueryRows:
    """Training rows, query by query.

    Attributes
    ----------
    X : ndarray or sparse matrix by rows of shape (n_rows, n_features)
        Features.
    grade, weight : ndarray of shape (n_rows,)
        Relevance and weights of the rows.
    bounds : ndarray of shape (n_queries + 1,)
        Query ``q`` owns rows ``bounds[q]`` to ``bounds[q + 1]``.
    pairs : (winners, losers, weights) or None
        Comparisons of rows that take the place of grades.
    """

    X: Any
    grade: FloatArray
    weight: FloatArray
    bounds: IntArray
    pairs: tuple[AnyArray, AnyArray, FloatArray] | None = None

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(self.bounds) - 1

    @property
    def query(self) -> IntArray:
        """Number of the query of each row."""
        return np.repeat(np.arange(self.n_queries), np.diff(self.bounds))

    def with_relative_weights(self) -> QueryRows:
        """The same with weights, of rows and of comparisons, whose mean is 1."""
        pairs = self.pairs and (*self.pairs[:2], _relative(self.pairs[2]))
        return replace(self, weight=_relative(self.weight), pairs=pairs)

    @classmethod
    def build(
        cls,
        X: Any,
        y: ArrayLike | None,
        qid: ArrayLike | None,
        sample_weight: ArrayLike | None = None,
        pairs: ArrayLike | None = None,
        pair_weight: ArrayLike | None = None,
        *,
        seed: int = 0,
    ) -> QueryRows:
        """Check and group rows.

        Rows of weight 0 are left out. Queries, and rows within a query, are sorted by a hash of what they hold. So
        neither the order of the file nor the names of queries can change what is learnt, and rows of equal score rank
        in an order that the seed draws.
        """
        n_rows = X.shape[0]
        if pairs is None and pair_weight is not None:
            raise ValueError(
                "pair_weight weighs comparisons, but there are no pairs; weights of rows are sample_weight"
            )
        grade = np.zeros(n_rows) if y is None else check_grades(y)
        if len(grade) != n_rows:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows and y {len(grade)}"
            )
        if pairs is not None and sample_weight is not None:
            raise ValueError("sample_weight weighs rows with grades; comparisons are weighed by pair_weight")
        weight = check_weights(sample_weight, n_rows, name="sample_weight", each="row")
        groups = check_queries(qid, n_rows)
        if pairs is None and (weight == 0).any():
            kept = weight > 0
            if not kept.any():
                raise ValueError("sample_weight is zero in all rows, so there is nothing to learn from")
            return cls.build(X[kept], grade[kept], query_codes(groups)[kept], weight[kept], seed=seed)
        names = _names(X, grade, _relative(weight), seed)
        grouped = groups.take(names)
        query = np.repeat(np.arange(len(groups.ids)), groups.sizes)
        query_names = np.add.reduceat(grouped, groups.bounds[:-1])
        places = np.lexsort((grouped, query, query_names[query]))
        rows = places if groups.rows is None else groups.rows[places]
        sizes = groups.sizes[np.argsort(query_names, kind="stable")]
        bounds = np.concatenate(([0], np.cumsum(sizes))).astype(np.intp)
        checked = None if pairs is None else _sorted_pairs(pairs, pair_weight, rows)
        return cls(X[rows], grade[rows], np.array(weight[rows]), bounds, checked)

    def split(self, fraction: float, rng: np.random.Generator) -> tuple[QueryRows, QueryRows]:
        """Two parts with whole queries; the second holds the fraction of the queries, at least one."""
        n_held_out = max(1, round(fraction * self.n_queries))
        if n_held_out >= self.n_queries:
            raise ValueError(
                f"a part of {self.n_queries} {'query' if self.n_queries == 1 else 'queries'} cannot be held out for "
                "early stopping; give eval_set=(X, y, qid), or more queries"
            )
        held_out = np.zeros(self.n_queries, dtype=bool)
        held_out[rng.permutation(self.n_queries)[:n_held_out]] = True
        return self._take(~held_out), self._take(held_out)

    def _take(self, queries: AnyArray) -> QueryRows:
        sizes = np.diff(self.bounds)
        rows = np.repeat(queries, sizes)
        bounds = np.concatenate(([0], np.cumsum(sizes[queries]))).astype(np.intp)
        return replace(self, X=self.X[rows], grade=self.grade[rows], weight=self.weight[rows], bounds=bounds)


def query_codes(groups: QueryGroups) -> IntArray:
    """Number of the query of each row, in the rows' own order."""
    codes = np.empty(int(groups.bounds[-1]), dtype=np.intp)
    codes[slice(None) if groups.rows is None else groups.rows] = np.repeat(np.arange(len(groups.ids)), groups.sizes)
    return codes


def check_varied(rows: QueryRows) -> None:
    """Refuse rows of which no query holds two that differ in relevance."""
    starts = rows.bounds[:-1]
    if not (np.maximum.reduceat(rows.grade, starts) > np.minimum.reduceat(rows.grade, starts)).any():
        one = " (n_samples = 1)" if len(rows.grade) == 1 else ""
        raise ValueError(
            f"no query has two rows of different relevance{one}, so there is nothing to learn; check y, and that qid "
            "names the query of each row"
        )


def check_query_weights(rows: QueryRows, what: str) -> FloatArray:
    """The weight of each query; weights that differ within one are refused."""
    weight = rows.weight[rows.bounds[:-1]]
    if (rows.weight != np.repeat(weight, np.diff(rows.bounds))).any():
        raise ValueError(f"sample_weight differs within a query; {what} takes one weight per query")
    return weight


def _relative(weights: FloatArray) -> FloatArray:
    shares = weights / weights.max()  # whose sum cannot overflow
    return shares / shares.mean()


def _names(X: Any, grade: FloatArray, weight: FloatArray, seed: int) -> AnyArray:
    """A number for each row by what it holds, and not by where it stands."""
    # Column by column: a copy of all of X may not fit.
    features = _sparse_names(X, seed) if hasattr(X, "indptr") else _hashed(map(_bits, X.T), len(X), seed)
    return _hashed((features, _bits(grade), _bits(weight)), len(grade), seed)


def _sparse_names(X: Any, seed: int) -> AnyArray:
    """The same for a sparse matrix by rows: the sum over its entries, in whatever order they are."""
    names = np.zeros(X.shape[0], dtype=np.uint64)
    entries = _hashed((X.indices.astype(np.uint64), _bits(X.data)), X.nnz, seed)
    np.add.at(names, np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), entries)
    return names


def _hashed(columns: Iterable[AnyArray], n_rows: int, seed: int) -> AnyArray:
    """Hash the columns into one: for each, a step of the SplitMix64 generator."""
    state = np.full(n_rows, seed, dtype=np.uint64)
    for column in columns:
        state = (state ^ column) + np.uint64(0x9E3779B97F4A7C15)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state ^= state >> np.uint64(31)
    return state


def _bits(values: FloatArray) -> AnyArray:
    plain = np.ascontiguousarray(values + 0.0)  # -0.0 + 0.0 is 0.0
    missing = np.isnan(plain)
    if missing.any():
        plain[missing] = np.nan  # there are many NaN, e.g. one with a sign that is 0 / 0
    return plain.view(np.uint64)


def _sorted_pairs(pairs: ArrayLike, pair_weight: ArrayLike | None, rows: AnyArray) -> tuple[Any, Any, FloatArray]:
    winners, losers, weights = check_pairs(pairs, pair_weight, len(rows))
    place = np.empty_like(rows)
    place[rows] = np.arange(len(rows))
    winners, losers = place[winners], place[losers]
    order = np.lexsort((weights, losers, winners))
    return winners[order], losers[order], weights[order]
