"""StackedQueryRanker: a blend of several query rankers, weighted by how well they rank queries they have not seen.

Read from the top: the estimator; the rankers it blends by default; weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any, ClassVar, TypeVar

import numpy as np

from rankwise._features import FeatureEncoder
from rankwise._progress import track
from rankwise._query_inputs import columns_by_name, split_off_queries
from rankwise._sklearn import N_JOBS, BaseEstimator, Interval
from rankwise._state import FLOATS, NUMBER, PREDICTOR, Saved, check_shape, dict_of, ensure, instance
from rankwise._typing import ArrayLike, FloatArray, RandomState
from rankwise._validation import check_generator
from rankwise.ltr.base import METRIC_CONSTRAINTS, QueryRankerMixin, check_target
from rankwise.ltr.effects import ScoreExplanation, score_explanation
from rankwise.ltr.lambdamart import LambdaMART
from rankwise.ltr.linear import LinearRanker
from rankwise.queries import Gain, QueryRows

Self = TypeVar("Self", bound="StackedQueryRanker")

# Shares of the blend that are tried to be moved from one ranker to another, and most moves of each size.
_STEPS, _MOST_MOVES = (0.2, 0.1, 0.05), 20
# A share below this is rounding.
_SMALLEST_WEIGHT = 1e-9


class StackedQueryRanker(QueryRankerMixin, BaseEstimator):
    r"""Query ranker that blends several others: a weighted sum of their scores.

    *Definition.* :math:`s(x) = \sum_m w_m s_m(x) / \sigma_m`, where :math:`\sigma_m` is the standard deviation of the
    scores of ranker m within queries, and the weights sum to 1. They are chosen on scores of queries that the rankers
    have not seen: from equal weights, shares are moved between rankers, step by step, as long as that raises the mean
    of the metric by more than its standard error over queries. Rankers that keep a weight are then fitted on all
    queries.

    Parameters
    ----------
    rankers : list of (str, ranker), optional
        Names and query rankers; by default `LambdaMART` for "lambdarank" and for "query_rmse", and `LinearRanker`.
    neural : bool, default=False
        Whether the default rankers include `NeuralRanker`, which needs PyTorch and takes longer than all others.
    cv : int, default=3
        Number of folds of queries. A ranker is fitted once for each, and once on all queries.
    metric, k, gain, score_gain
        What weights are chosen by (``metric`` at ``k`` with ``gain``), what the default rankers learn, and what `score`
        returns; see `LambdaMART`.
    n_jobs : int, optional
        Threads of the default rankers.
    random_state : int, Generator, RandomState or None, default=None
        Seeds the folds, and rankers whose ``random_state`` is None.

    Attributes
    ----------
    rankers_ : dict
        Name -> fitted ranker, for those with a weight.
    weights_ : dict
        Name -> weight, for all.
    scores_ : dict
        Name -> mean of the metric over unseen queries, for each ranker and for the "blend". That of the blend is
        slightly optimistic: its weights were chosen on the same queries.
    scales_ : dict
        Name -> standard deviation of the scores within queries.
    n_queries_ : int
        Number of queries in training.

    Notes
    -----
    Missing values are filled with the median of the feature for rankers that do not take them. Neither the order of
    rows nor the names of queries change the result.

    References
    ----------
    Wolpert (1992), Stacked generalization. Caruana et al. (2004), Ensemble selection from libraries of models.

    Examples
    --------
    >>> from rankwise.datasets import make_retrieval
    >>> from rankwise.ltr import LambdaMART, LinearRanker, StackedQueryRanker
    >>> X, y, qid, _ = make_retrieval(60, random_state=0)
    >>> rankers = [("trees", LambdaMART(30)), ("linear", LinearRanker())]
    >>> blend = StackedQueryRanker(rankers, random_state=0).fit(X, y, qid=qid)
    >>> sorted(blend.weights_)
    ['linear', 'trees']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "rankers": [None, list, tuple],
        "neural": ["boolean"],
        "cv": [Interval(Integral, 2, None, closed="left")],
        **METRIC_CONSTRAINTS,
        "n_jobs": N_JOBS,
        "random_state": ["random_state", np.random.Generator],
    }

    _saved: ClassVar[Saved] = {
        "_encoder": instance("FeatureEncoder"),
        "_medians": FLOATS,
        "rankers_": dict_of(PREDICTOR),
        "weights_": dict_of(NUMBER),
        "scores_": dict_of(NUMBER),
        "scales_": dict_of(NUMBER),
    }

    def __init__(
        self,
        rankers: Sequence[tuple[str, Any]] | None = None,
        *,
        neural: bool = False,
        cv: int = 3,
        metric: str = "ndcg",
        k: int | None = 10,
        gain: Gain = "exp",
        score_gain: Gain = "linear",
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.rankers = rankers
        self.neural = neural
        self.cv = cv
        self.metric = metric
        self.k = k
        self.gain = gain
        self.score_gain = score_gain
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self: Self,
        X: ArrayLike,
        y: ArrayLike,
        qid: ArrayLike | str | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        group: ArrayLike | None = None,
    ) -> Self:
        """Choose the weights on unseen queries, then fit the rankers that have one on all.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Features, numbers; NaN is missing.
        y, qid, sample_weight, group
            As in `LambdaMART.fit`.

        Returns
        -------
        self
        """
        self._validate_params()
        grades = check_target(self, y)
        rng = check_generator(self.random_state)
        seed = int(rng.integers(2**63))
        X, qid = split_off_queries(X, qid, group)
        self._encoder = FeatureEncoder()
        features = self._encoder.fit_transform(self, X)
        if self._encoder.is_categorical.any():
            raise ValueError(
                f"column {int(np.argmax(self._encoder.is_categorical))} of X holds categories, which not all rankers "
                "take; encode them as numbers, e.g. with sklearn.preprocessing.TargetEncoder"
            )
        rows = QueryRows.build(features, grades, qid, sample_weight, seed=seed)
        if rows.n_queries < self.cv:
            raise ValueError(
                f"cv is {self.cv}, but there are {rows.n_queries} queries; give fewer folds or more queries"
            )
        self.n_queries_ = rows.n_queries
        known = np.where(np.isnan(rows.X).all(axis=0), 0.0, rows.X)  # a feature that nobody knows is 0
        self._medians = np.asarray(np.nanmedian(known, axis=0), dtype=np.float64)
        members = self._members(rng)
        unseen = self._unseen(members, rows, rng)
        spread = {name: _spread_within(score, rows.bounds) for name, score in unseen.items()}
        self.scales_ = {name: value if value > 0 else 1.0 for name, value in spread.items()}
        judge, query = self._metric_function(None, self.gain), rows.query

        def values(score: FloatArray) -> FloatArray:
            return np.asarray(judge(rows.grade, score, query, per_query=True)[1])

        scaled = np.stack([score / self.scales_[name] for name, score in unseen.items()])
        weights = blend_weights(scaled, values)
        self.weights_ = dict(zip(members, weights.tolist(), strict=True))
        self.scores_ = {name: float(np.nanmean(values(score))) for name, score in unseen.items()}
        self.scores_["blend"] = float(np.nanmean(values(weights @ scaled)))
        chosen = [name for name in members if self.weights_[name] > 0]
        self.rankers_ = {
            name: self._fitted(members[name], rows) for name in track(chosen, "Fitting on all queries", len(chosen))
        }
        return self

    def predict(self, X: ArrayLike) -> FloatArray:
        """Scores of rows.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_rows,)
            Higher is better; only differences within a query mean something.
        """
        return self._query_scores(X, None)

    def explain(self, X: ArrayLike, i: int, j: int) -> ScoreExplanation:
        """Explain why row i ranks above row j, or below it: what each feature adds to the difference of their scores.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Features, e.g. of the rows of one query.
        i, j : int
            Two of its rows.

        Returns
        -------
        ScoreExplanation
            The weighted sums of what the rankers of the blend say, which all must have ``explain``.
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        pair = self._encoder.transform(self, columns_by_name(X, getattr(self, "feature_names_in_", None)))[[i, j]]
        effects = np.zeros(self.n_features_in_)
        for name, ranker in self.rankers_.items():
            if not hasattr(ranker, "explain"):
                raise TypeError(f"{name!r} is a {type(ranker).__name__}, which has no explain, so the blend has none")
            share = self.weights_[name] / self.scales_[name]
            effects += share * ranker.explain(self._for_member(ranker, pair), 0, 1).effects
        return score_explanation(self, X, i, j, effects, self.predict(X)[[i, j]])

    def _query_scores(self, X: ArrayLike, qid: ArrayLike | None) -> FloatArray:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        features = self._encoder.transform(self, columns_by_name(X, getattr(self, "feature_names_in_", None)))
        score = np.zeros(len(features))
        for name, ranker in self.rankers_.items():
            share = self.weights_[name] / self.scales_[name]
            score += share * ranker._query_scores(self._for_member(ranker, features), qid)
        return score

    def _members(self, rng: np.random.Generator) -> dict[str, Any]:
        """Name -> unfitted ranker, with random states that are set, so that the blend can be repeated."""
        from sklearn.base import clone

        rankers = self._default_rankers() if self.rankers is None else self.rankers
        if not all(isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[0], str) for entry in rankers):
            raise TypeError("rankers must be a list of (name, query ranker) pairs, as in [('trees', LambdaMART())]")
        names = [name for name, _ in rankers]
        if not names or len(set(names)) < len(names) or "blend" in names:
            raise ValueError(
                f"rankers must have different names other than 'blend', at least one; got {', '.join(map(repr, names))}"
            )
        members = {}
        for name, ranker in rankers:
            if not isinstance(ranker, QueryRankerMixin):
                raise TypeError(f"{name!r} is a {type(ranker).__name__}, not a query ranker of rankwise.ltr")
            members[name] = clone(ranker)
            if members[name].get_params().get("random_state", 0) is None:
                members[name].set_params(random_state=int(rng.integers(2**31)))
        return members

    def _default_rankers(self) -> list[tuple[str, Any]]:
        shared: dict[str, Any] = {"metric": self.metric, "k": self.k, "gain": self.gain}
        found: list[tuple[str, Any]] = [
            ("lambdarank", LambdaMART(**shared, n_jobs=self.n_jobs)),
            ("query_rmse", LambdaMART(objective="query_rmse", **shared, n_jobs=self.n_jobs)),
            ("linear", LinearRanker(**shared)),
        ]
        if self.neural:
            from rankwise.ltr.neural import NeuralRanker

            found.append(("neural", NeuralRanker(**shared)))
        return found

    def _unseen(self, members: dict[str, Any], rows: QueryRows, rng: np.random.Generator) -> dict[str, FloatArray]:
        """Scores of each row by rankers that have not seen its query."""
        fold = rng.permutation(rows.n_queries) % self.cv
        scores = {name: np.empty(len(rows.grade)) for name in members}
        for number in track(range(self.cv), "Cross-validating rankers", self.cv):
            held_out = fold == number
            test = held_out[rows.query]
            for name, member in members.items():
                ranker = self._fitted(member, rows.take_queries(~held_out))
                scores[name][test] = ranker._query_scores(self._for_member(ranker, rows.X[test]), rows.query[test])
        return scores

    def _fitted(self, member: Any, rows: QueryRows) -> Any:
        from sklearn.base import clone

        ranker = clone(member)
        equal = (rows.weight == rows.weight[0]).all()
        weight = None if equal else rows.weight
        return ranker.fit(self._for_member(ranker, rows.X), rows.grade, qid=rows.query, sample_weight=weight)

    def _for_member(self, ranker: Any, features: FloatArray) -> FloatArray:
        """The features, without missing values for rankers that do not take them."""
        if ranker.__sklearn_tags__().input_tags.allow_nan:
            return features
        return np.where(np.isnan(features), self._medians, features)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _check_saved(self) -> None:
        check_shape(self._medians, (self.n_features_in_,), "the medians")
        ensure(len(self.rankers_) > 0, "no ranker has a weight")
        for name, ranker in self.rankers_.items():
            ensure(name in self.weights_ and name in self.scales_, "a ranker has no weight or scale")
            ensure(isinstance(ranker, QueryRankerMixin), "a member ranks no queries")
            ensure(ranker.n_features_in_ == self.n_features_in_, "a ranker has other features")


def blend_weights(scores: FloatArray, values: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Weights that sum to 1, moved from equal ones as long as that surely raises the mean metric.

    Parameters
    ----------
    scores : ndarray of shape (n_rankers, n_rows)
        Scores of unseen rows, on one scale.
    values : callable
        Scores of the rows -> metric of each query, NaN for those without.
    """
    n_rankers = len(scores)
    weights = np.full(n_rankers, 1 / n_rankers)
    if n_rankers == 1:
        return weights
    here = values(weights @ scores)
    for step in _STEPS:
        for _ in range(_MOST_MOVES):
            best, best_gain, best_values = None, 0.0, here
            for giver, taker in np.argwhere(~np.eye(n_rankers, dtype=bool)):
                share = min(step, weights[giver])
                if share <= _SMALLEST_WEIGHT:
                    continue
                tried = weights.copy()
                tried[giver] = weights[giver] - share
                tried[taker] += share
                there = values(tried @ scores)
                gains = (there - here)[~np.isnan(there)]
                mean = float(gains.mean()) if len(gains) else 0.0
                error = float(gains.std(ddof=1) / np.sqrt(len(gains))) if len(gains) > 1 else np.inf
                if mean > max(error, best_gain):
                    best, best_gain, best_values = tried, mean, there
            if best is None:
                break
            weights, here = best, best_values
    weights[weights < _SMALLEST_WEIGHT] = 0.0
    return np.asarray(weights / weights.sum())


def _spread_within(score: FloatArray, bounds: Any) -> float:
    """Standard deviation of scores from the means of their queries."""
    sizes = np.diff(bounds)
    means = np.add.reduceat(score, bounds[:-1]) / sizes
    return float(np.std(score - np.repeat(means, sizes)))
