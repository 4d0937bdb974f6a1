"""A blend of several rankers, weighted by how well they rank rows that they have not seen."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rankwise._features import FeatureEncoder
from rankwise._progress import track
from rankwise._random import check_generator
from rankwise._sklearn import BaseEstimator, HasMethods, Interval
from rankwise._typing import ArrayLike, FloatArray, IntArray, RandomState
from rankwise.data import Rankings
from rankwise.embeddings import KemenyEmbedding, decode_pairwise, pairwise_from_vectors, vectors_from_pairwise
from rankwise.label_ranking._additive import AdditiveFeatures
from rankwise.label_ranking._numeric import Steps, as_numbers, fitted_steps
from rankwise.label_ranking.base import LabelRankerMixin, pairwise_of, sure_gain
from rankwise.label_ranking.forest import RankingForest
from rankwise.label_ranking.kernel import KernelRanker
from rankwise.label_ranking.labelwise import LabelwiseRanker
from rankwise.label_ranking.neighbors import NearestNeighborsRanker
from rankwise.label_ranking.pairwise import PairwiseRanker
from rankwise.label_ranking.plackett_luce import PlackettLuceRanker
from rankwise.metrics import kendall_tau_score
from rankwise.trees import LeastSquaresForest

# Items up to which there is a classifier per pair.
_MOST_ITEMS_FOR_PAIRS = 50
# Rows by whose out-of-fold predictions the weights are chosen, at most.
_MOST_ROWS = 10_000
# Steps by which weights are moved while Kendall's tau is climbed.
_STEPS = (0.2, 0.1, 0.05)
_MOST_MOVES = 30
_SUM_WEIGHT = 1e3


class Standing(NamedTuple):
    """How a ranker did on rows that it had not seen."""

    name: str
    score: float
    weight: float


class StackedRanker(LabelRankerMixin, BaseEstimator):
    r"""Blend of several rankers: the weighted mean of their pairwise probabilities, decoded once.

    *Definition.* :math:`P(x) = \sum_m w_m P_m(x)` with weights that are not negative and add up to 1. They are chosen
    on predictions for rows that a ranker has not seen (cross-validation): first the smallest squared error against the
    pairs of the true rankings; then weights move, step by step, while that raises the mean Kendall tau of the decoded
    blend by more than its standard error. Then every ranker that has a weight is fitted on all rows.

    Parameters
    ----------
    rankers : list of (str, ranker), optional
        Names and label rankers, or pipelines that end with one. By default forests of several kinds, pairwise logistic
        regression (linear and additive), kernel ridge regression (two kernels), a linear Plackett-Luce model and k
        nearest neighbours: different data favour different ones. Beyond 50 items the pairwise regressions are left
        out: there would be thousands of them.
    cv : int, splitter or list of (training rows, test rows), default=5
        Folds. A splitter that tests a part of the rows only, such as ``ShuffleSplit(1, test_size=0.2)``, saves time on
        large data.
    categorical_features : None, or array-like of column numbers, column names or booleans
        Columns that hold categories; by default those of a data frame that hold text, categories or Booleans. Rankers
        that cannot split them get a column of zeros and ones for each.
    n_jobs : int, optional
        Threads of the default rankers.
    random_state : None, int, Generator or RandomState
        Of folds and default rankers.

    Attributes
    ----------
    rankers_ : dict
        Name to fitted ranker, for those with a weight.
    weights_ : dict
        Name to weight, for all.
    leaderboard_ : tuple of Standing
        Name, mean Kendall tau out of fold and weight of each ranker and of the blend, best first. The blend's score is
        a little optimistic: its weights were chosen on the same rows.
    items_ : tuple
        Names of the items.

    References
    ----------
    Wolpert (1992), Stacked generalization. Caruana et al. (2004), Ensemble selection from libraries of models.

    Examples
    --------
    >>> from rankwise.datasets import load_label_ranking
    >>> from rankwise.label_ranking import NearestNeighborsRanker, RankingForest, StackedRanker
    >>> X, y = load_label_ranking("iris", return_X_y=True)
    >>> rankers = [("forest", RankingForest(20, random_state=0)), ("neighbours", NearestNeighborsRanker(5))]
    >>> StackedRanker(rankers, random_state=0).fit(X, y).score(X, y) > 0.95
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "rankers": [None, list, tuple],
        "cv": [Interval(Integral, 2, None, closed="left"), HasMethods(["split", "get_n_splits"]), "array-like"],
        "categorical_features": ["array-like", None],
        "n_jobs": [None, Integral],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        rankers: Sequence[tuple[str, Any]] | None = None,
        *,
        cv: Any = 5,
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.rankers = rankers
        self.cv = cv
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters; with ``deep`` also the rankers by their names, and theirs as ``name__parameter``."""
        params = super().get_params(deep)
        for name, ranker in _named(self.rankers) if deep else ():
            params[name] = ranker
            params |= {f"{name}__{key}": value for key, value in ranker.get_params(deep=True).items()}
        return params

    def set_params(self, **params: Any) -> StackedRanker:
        """Set parameters; a ranker by its name, one of its parameters as ``name__parameter``."""
        if "rankers" in params:
            self.rankers = params.pop("rankers")
        members = _named(self.rankers)
        if any(name in params for name, _ in members):
            self.rankers = [(name, params.pop(name, ranker)) for name, ranker in members]
        super().set_params(**params)
        return self

    def _fit_rankings(self, X: FloatArray, y: Rankings) -> None:
        rng = check_generator(self.random_state)
        rankers = default_rankers(self.n_jobs, len(X), y.n_items) if self.rankers is None else self.rankers
        members = _checked_members(rankers, rng)
        self._views = _Views.of(X, self._encoder)
        folds = _folds(self.cv, len(X), rng)
        rows = np.concatenate([test for _, test in folds])
        # One fold after the other, all rankers in turn; what is left of the last is the fit on all rows.
        parts: dict[str, list[FloatArray]] = {name: [] for name in members}
        work = [(train, test, name) for train, test in folds for name in members]
        for train, test, name in track(work, "Ranking rows out of fold", len(work)):
            fitted = self._fitted(members[name], X[train], y[train])
            parts[name].append(vectors_from_pairwise(self._pairwise(fitted, X[test])).astype(np.float32))
        unseen = {name: np.concatenate(vectors) for name, vectors in parts.items()}
        weights = _blend_weights(np.stack(list(unseen.values())), y[rows])
        self.weights_ = dict(zip(members, weights.tolist(), strict=True))
        self.leaderboard_ = _leaderboard(unseen, self.weights_, y[rows])
        chosen = [name for name in members if self.weights_[name] > 0]
        self.rankers_ = {
            name: self._fitted(members[name], X, y) for name in track(chosen, "Fitting all rows", len(chosen))
        }

    def _fitted(self, member: Any, X: FloatArray, y: Rankings) -> Any:
        from sklearn.base import clone

        ranker = self._views.prepared(clone(member))
        held = ~np.isnan(y.positions).all(axis=0)
        if not held.all():
            rare = self.items_[int(np.argmin(held))]
            raise ValueError(
                f"no row outside of one fold ranks item {rare!r}, so that its place cannot be learnt there; leave the "
                "item away (Rankings.select), or give splits (cv=...) whose training rows all hold it"
            )
        return ranker.fit(self._views.for_member(ranker, X), y)

    def _predict_pairwise(self, X: FloatArray) -> FloatArray:
        total = np.zeros((len(X), len(self.items_), len(self.items_)))
        for name, ranker in self.rankers_.items():
            total += self.weights_[name] * self._pairwise(ranker, X)
        return total

    def _pairwise(self, ranker: Any, X: FloatArray) -> FloatArray:
        return np.asarray(pairwise_of(ranker, self._views.for_member(ranker, X)))

    def _check_features(self, X: ArrayLike, *, reset: bool) -> Any:
        if reset:
            self._encoder = FeatureEncoder(self.categorical_features)
            return self._encoder.fit_transform(self, X)
        return self._encoder.transform(self, X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class _Views:
    """The same features for rankers that know categories and missing values, and for those that do not."""

    def __init__(self, categorical: IntArray, steps: Steps) -> None:
        self.categorical = categorical
        self.steps = steps

    @classmethod
    def of(cls, X: FloatArray, encoder: FeatureEncoder) -> _Views:
        categorical = np.flatnonzero(encoder.is_categorical)
        if not len(categorical) and not np.isnan(X).any():
            return cls(categorical, [])
        return cls(categorical, fitted_steps(X, encoder.is_categorical))

    def prepared(self, ranker: Any) -> Any:
        """Tell a ranker that can split categories which columns hold them."""
        if len(self.categorical) and "categorical_features" in ranker.get_params():
            ranker.set_params(categorical_features=self.categorical)
        return ranker

    def for_member(self, ranker: Any, X: FloatArray) -> FloatArray:
        """Features as the ranker can take them."""
        if "categorical_features" in ranker.get_params():
            return X
        if self.steps:
            return as_numbers(X, self.steps)
        if np.isnan(X).any():
            raise ValueError("Input X contains NaN, but no row that the ranker was fitted on had missing values")
        return X


def _named(rankers: Any) -> list[tuple[str, Any]]:
    """Names and rankers, for parameters: nothing where ``fit`` would refuse what is given."""
    if not isinstance(rankers, list | tuple):
        return []
    named = [entry for entry in rankers if isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[0], str)]
    return [(name, ranker) for name, ranker in named if hasattr(ranker, "get_params")]


def _checked_members(rankers: Any, rng: np.random.Generator) -> dict[str, Any]:
    if not all(isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[0], str) for entry in rankers):
        raise TypeError("rankers is a list of pairs: a name and a label ranker, as in [('forest', RankingForest())]")
    names = [name for name, _ in rankers]
    if not names or len(set(names)) < len(names):
        raise ValueError(f"rankers need different names, one at least; these are {', '.join(map(repr, names))}")
    for name, ranker in rankers:
        if not hasattr(ranker[-1] if hasattr(ranker, "steps") else ranker, "predict_pairwise"):
            raise TypeError(
                f"ranker {name!r} has no predict_pairwise; give label rankers, or pipelines ending with one"
            )
    return {name: _with_seed(ranker, int(rng.integers(2**31))) for name, ranker in rankers}


def _with_seed(ranker: Any, seed: int) -> Any:
    """A clone whose random states that are None have a seed, so that the blend repeats."""
    from sklearn.base import clone

    copy = clone(ranker)
    params = copy.get_params(deep=True)
    unset = [name for name, value in params.items() if name.split("__")[-1] == "random_state" and value is None]
    return copy.set_params(**dict.fromkeys(unset, seed))


def default_rankers(n_jobs: int | None = None, n_rows: int = 1000, n_items: int = 3) -> list[tuple[str, Any]]:
    """The rankers that `StackedRanker` blends by default, for so many rows to learn from and items to rank."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import QuantileTransformer, StandardScaler

    def pairwise(*steps: Any, C: float) -> Any:
        logistic = LogisticRegression(C=C, max_iter=1000)
        return make_pipeline(*steps, StandardScaler(), PairwiseRanker(logistic, n_jobs=n_jobs))

    random: dict[str, Any] = {"splitter": "random", "max_bins": 255, "n_jobs": n_jobs}
    whole: dict[str, Any] = {"max_features": None, "bootstrap": False}
    places = LeastSquaresForest(100, min_samples_leaf=2, oob_score=True, **random)
    gaussian_ranks = QuantileTransformer(n_quantiles=max(2, min(100, n_rows // 2)), output_distribution="normal")
    linear: list[tuple[str, Any]] = [
        ("pairwise logistic", pairwise(C=1.0)),
        ("additive pairwise logistic, C=0.1", pairwise(AdditiveFeatures(), C=0.1)),
        ("additive pairwise logistic, C=10", pairwise(AdditiveFeatures(), C=10.0)),
    ]
    return [
        ("extra-random forest", RankingForest(200, **random, **whole)),
        ("smooth extra-random forest", RankingForest(200, min_samples_leaf=3, **random, **whole)),
        ("forest", RankingForest(200, splitter="best", max_features=0.5, min_samples_leaf=2, n_jobs=n_jobs)),
        ("labelwise forest", LabelwiseRanker(places)),
        *(linear if n_items <= _MOST_ITEMS_FOR_PAIRS else []),
        ("Plackett-Luce", PlackettLuceRanker()),
        ("Laplacian kernel", make_pipeline(gaussian_ranks, KernelRanker("laplacian"))),
        ("Gaussian kernel", KernelRanker("rbf")),
        ("neighbours", NearestNeighborsRanker("cv", weights="distance")),
    ]


def _folds(cv: Any, n: int, rng: np.random.Generator) -> list[tuple[IntArray, IntArray]]:
    """Training and test rows; of the test rows only so many as the choice of weights needs."""
    from sklearn.model_selection import KFold

    if isinstance(cv, Integral):
        if n < int(cv):
            raise ValueError(
                f"cv is {cv}, but there are only {n} rows to learn from (n_samples={n}); give at least a row per fold"
            )
        cv = KFold(int(cv), shuffle=True, random_state=int(rng.integers(2**31)))
    splits = cv.split(np.zeros((n, 1))) if hasattr(cv, "split") else cv
    folds = [(np.asarray(train), np.asarray(test)) for train, test in splits]
    share = min(1.0, _MOST_ROWS / sum(len(test) for _, test in folds))
    return [(train, rng.permutation(test)[: max(1, round(share * len(test)))]) for train, test in folds]


def _taus(vectors: FloatArray, y: Rankings) -> FloatArray:
    """Kendall tau of each row of the decoded vectors."""
    return kendall_tau_score(y, Rankings(decode_pairwise(pairwise_from_vectors(vectors)), y.items), per_row=True)


def _blend_weights(vectors: FloatArray, y: Rankings) -> FloatArray:
    """Weights by squared error, then by the tau of the decoded blend; ``vectors`` is (rankers, rows, pairs)."""
    weights = _least_squares_weights(vectors, y)
    taus = _taus(np.tensordot(weights, vectors, 1), y)
    for step in _STEPS:
        for _ in range(_MOST_MOVES):
            trials = [_moved(weights, member, step) for member in range(len(weights))]
            results = [_taus(np.tensordot(trial, vectors, 1), y) for trial in trials]
            gains = [sure_gain(result - taus, y.weights) for result in results]
            best = int(np.argmax(gains))
            if gains[best] <= 0:
                break
            weights, taus = trials[best], results[best]
    kept = np.where(weights < 1e-3, 0.0, weights)
    return kept / kept.sum()


def _moved(weights: FloatArray, member: int, step: float) -> FloatArray:
    """A little more of one ranker, a little less of all others."""
    moved = (1 - step) * weights
    moved[member] += step
    return moved


def _least_squares_weights(vectors: FloatArray, y: Rankings) -> FloatArray:
    """Weights that are not negative, add up to 1, and make the squared error of the blend small.

    A light pull towards equal weights, as strong as one row, keeps them calm where rankers say the same.
    """
    from scipy.optimize import nnls

    truth = KemenyEmbedding().set_output(transform="default").fit_transform(y)
    known = ~np.isnan(truth)
    mass = np.broadcast_to(y.weights[:, None], truth.shape)[known]
    mass = mass / mass.sum()
    members = np.stack([member[known] for member in vectors]).astype(np.float64)
    gram, moment = (members * mass) @ members.T, (members * mass) @ truth[known]
    m, pull = len(members), 1 / len(y)
    # The sum is held to 1 by the weight of that one equation.
    A = gram + pull * np.eye(m) + _SUM_WEIGHT
    factor = np.linalg.cholesky(A)
    weights = nnls(factor.T, np.linalg.solve(factor, moment + pull / m + _SUM_WEIGHT))[0]
    return weights / weights.sum()


def _leaderboard(unseen: dict[str, Any], weights: dict[str, float], y: Rankings) -> tuple[Standing, ...]:
    def tau(vectors: Any) -> float:
        return kendall_tau_score(y, Rankings(decode_pairwise(pairwise_from_vectors(vectors)), y.items))

    standings = [Standing(name, tau(vectors), weights[name]) for name, vectors in unseen.items()]
    blend = sum(weights[name] * vectors for name, vectors in unseen.items())
    standings.append(Standing("blend", tau(blend), 1.0))
    return tuple(sorted(standings, key=lambda standing: -standing.score))
