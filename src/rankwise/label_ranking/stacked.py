"""StackedRanker: a blend of several rankers, weighted by how well they rank rows that they have not seen.

Read from the top: the estimator; the rankers it blends by default; features as each ranker can take them; folds;
weights; the leaderboard.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from rankwise._features import CategoricalFeaturesMixin, FeatureEncoder
from rankwise._progress import track
from rankwise._sklearn import N_JOBS, BaseEstimator, HasMethods, Interval, with_unset
from rankwise._state import (
    INTS,
    NUMBER,
    PREDICTOR,
    Saved,
    check_places,
    dict_of,
    ensure,
    instance,
    maybe,
    optional,
    tuple_of,
)
from rankwise._typing import FloatArray, IntArray, RandomState
from rankwise._validation import check_generator
from rankwise.data import Rankings
from rankwise.embeddings import KemenyEmbedding, decode_pairwise, pairwise_from_vectors, vectors_from_pairwise
from rankwise.label_ranking._calibration import calibrated, calibration_slope
from rankwise.label_ranking.additive_features import AdditiveFeatures
from rankwise.label_ranking.base import LabelRankerMixin, ensure_label_rankers, pairwise_of, sure_gain
from rankwise.label_ranking.boosted import BoostedRanker
from rankwise.label_ranking.forest import RankingForest
from rankwise.label_ranking.kernel_ranker import KernelRanker
from rankwise.label_ranking.labelwise import LabelwiseRanker
from rankwise.label_ranking.linear_plackett_luce import PlackettLuceRanker
from rankwise.label_ranking.neighbors import NearestNeighborsRanker
from rankwise.label_ranking.numeric import SAVED_STEPS, Steps, as_numbers, fitted_steps
from rankwise.label_ranking.pairwise import PairwiseRanker
from rankwise.metrics import kendall_tau_score
from rankwise.trees import LeastSquaresForest

# Most items for which the default rankers have a classifier for each pair.
_MOST_ITEMS_FOR_PAIRS = 50
# Most rows whose out-of-fold predictions are used to choose the weights.
_MOST_ROWS = 10_000
# Step sizes of the search for the weights with the highest Kendall tau, and most moves of each size.
_STEPS = (0.2, 0.1, 0.05)
_MOST_MOVES = 30
# Weights below this become 0, so that the ranker is not fitted.
_SMALLEST_WEIGHT = 1e-3
# Rankers of which more than this share of the rows has no unseen part, as of forests of few trees, are cross-validated.
_MOST_UNJUDGED = 0.1
# Weight of the equation "the weights sum to 1" in the least-squares problem.
_SUM_WEIGHT = 1e3


#: training rows and test rows
Fold: TypeAlias = tuple[IntArray, IntArray]


class Standing(NamedTuple):
    """How well a ranker did on rows that it had not seen."""

    name: str
    score: float
    weight: float


class StackedRanker(CategoricalFeaturesMixin, LabelRankerMixin, BaseEstimator):
    r"""Label ranker that blends several others: the weighted mean of their pairwise probabilities, decoded once.

    *Definition.* :math:`P(x) = \sum_m w_m P_m(x)` with nonnegative weights that sum to 1. They are chosen on
    predictions of unseen rows: first to minimize the squared error against the pairs of the true rankings; then
    weights are moved, step by step, as long as that raises the mean Kendall tau of the decoded blend by more than its
    standard error. Forests predict rows by the trees that have not seen them, and kernels and neighbors leave out one
    row at a time, so that one fit is enough. Other rankers are cross-validated; those that earn no weight in the first
    fold, and surely rank worse than the best one there, are dropped. Those with a positive weight are fitted on all
    rows. At last the log odds of the blend are multiplied by one number, so that its probabilities come true as often
    as they say, see `RankingForest`.

    Parameters
    ----------
    rankers : list of (str, ranker), optional
        Names and label rankers, or pipelines that end with one. By default forests of several kinds, boosted trees,
        pairwise logistic regression (linear and additive), kernel ridge regression (two kernels), a linear
        Plackett-Luce model and k nearest neighbors, since no ranker is best on all data. With more than 50 items the
        pairwise regressions, of which there would be thousands, are dropped.
    cv : int, splitter or list of (training rows, test rows), default=5
        Folds. A splitter that tests only a part of the rows, such as ``ShuffleSplit(1, test_size=0.2)``, saves time on
        large data.
    calibrate : bool, default=True
        Whether to calibrate the probabilities of the blend.
    categorical_features : None, or array-like of column numbers, column names or booleans
        Columns that hold categories; by default those of a data frame that hold text, categories or Booleans. Rankers
        that cannot split them get a column of zeros and ones for each category.
    n_jobs : int, optional
        Threads of the default rankers.
    random_state : None, int, Generator or RandomState
        Seeds the folds, and rankers whose ``random_state`` is None.

    Attributes
    ----------
    rankers_ : dict
        Name -> fitted ranker, for those with a positive weight.
    weights_ : dict
        Name -> weight, for all.
    leaderboard_ : tuple of Standing
        Name, mean Kendall tau on unseen rows and weight of each ranker and of the blend, best first; of a ranker that
        was dropped after the first fold, the tau on that fold. The blend's score is slightly optimistic: its weights
        were chosen on the same rows.
    calibration_ : float or None
        By how much the log odds of the blend are multiplied.
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
    >>> rankers = [("forest", RankingForest(20, random_state=0)), ("neighbors", NearestNeighborsRanker(5))]
    >>> StackedRanker(rankers, random_state=0).fit(X, y).score(X, y) > 0.95
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "rankers": [None, list, tuple],
        "cv": [Interval(Integral, 2, None, closed="left"), HasMethods(["split", "get_n_splits"]), "array-like"],
        "calibrate": ["boolean"],
        "categorical_features": ["array-like", None],
        "n_jobs": N_JOBS,
        "random_state": ["random_state", np.random.Generator],
    }

    _saved: ClassVar[Saved] = {
        "_views": instance("_Views"),
        "weights_": dict_of(NUMBER),
        "rankers_": dict_of(PREDICTOR),
        "leaderboard_": tuple_of(instance("Standing")),
        "calibration_": optional(maybe(NUMBER)),
    }

    def __init__(
        self,
        rankers: Sequence[tuple[str, Any]] | None = None,
        *,
        cv: Any = 5,
        calibrate: bool = True,
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.rankers = rankers
        self.cv = cv
        self.calibrate = calibrate
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
        # One number per pair and in 32 bits: the predictions of all rankers are held until the weights are chosen.
        unseen, fitted = self._recalled(members, X, y, rows)
        dropped = self._cross_validate(
            {name: m for name, m in members.items() if name not in unseen}, X, y, folds, unseen
        )
        known = np.all([~np.isnan(vectors[:, 0]) for vectors in unseen.values()], axis=0)
        if not known.any():
            raise ValueError("no row is left that all rankers have not seen; give forests more trees, or drop them")
        truth, blended = y[rows[known]], {name: vectors[known] for name, vectors in unseen.items()}
        weights = _blend_weights(np.stack(list(blended.values())), truth)
        self.weights_ = dict.fromkeys(members, 0.0) | dict(zip(blended, weights.tolist(), strict=True))
        blend = np.tensordot(weights, np.stack(list(blended.values())), 1)
        self.leaderboard_ = _leaderboard({**blended, "blend": blend}, {**self.weights_, "blend": 1.0}, truth, dropped)
        pairs = KemenyEmbedding().set_output(transform="default").fit_transform(truth)
        self.calibration_ = calibration_slope(blend, pairs, truth.weights) if self.calibrate else None
        chosen = [name for name in members if self.weights_[name] > 0]
        self.rankers_ = {
            name: fitted[name] if name in fitted else self._fitted(members[name], X, y)
            for name in track(chosen, "Fitting on all rows", len(chosen))
        }

    def _recalled(
        self, members: dict[str, Any], X: FloatArray, y: Rankings, rows: IntArray
    ) -> tuple[dict[str, FloatArray], dict[str, Any]]:
        """Pairs of rows that the parts of fitted rankers have not seen, and these rankers."""
        able = [name for name, member in members.items() if _recalls(member)]
        unseen, fitted = {}, {}
        for name in track(able, "Fitting on all rows", len(able)):
            from sklearn.base import clone

            ranker = self._views.prepared(clone(members[name]))
            features, last = self._views.for_member(ranker, X), ranker
            if hasattr(ranker, "steps"):
                features, last = ranker[:-1].fit_transform(features, y), ranker[-1]
            vectors = last._fit_and_recall(features, y, rows)
            if vectors is not None and np.isnan(vectors[:, 0]).mean() <= _MOST_UNJUDGED:
                unseen[name], fitted[name] = vectors.astype(np.float32), ranker
        return unseen, fitted

    def _cross_validate(
        self, members: dict[str, Any], X: FloatArray, y: Rankings, folds: list[Fold], unseen: dict[str, FloatArray]
    ) -> list[Standing]:
        """Add out-of-fold predictions of the other rankers; those dropped after the first fold are returned."""
        parts: dict[str, list[FloatArray]] = {name: [] for name in members}
        dropped: list[Standing] = []
        for number, (train, test) in enumerate(track(folds, "Cross-validating rankers", len(folds))):
            for name in parts:
                fitted = self._fitted(members[name], X[train], y[train])
                parts[name].append(vectors_from_pairwise(self._pairwise(fitted, X[test])).astype(np.float32))
            if number == 0 and len(folds) > 1 and parts:
                first = {name: vectors[: len(test)] for name, vectors in unseen.items()}
                first |= {name: vectors[0] for name, vectors in parts.items()}
                for standing in _unneeded(first, y[test], set(parts)):
                    dropped.append(standing)
                    del parts[standing.name]
        unseen |= {name: np.concatenate(vectors) for name, vectors in parts.items()}
        return dropped

    def _fitted(self, member: Any, X: FloatArray, y: Rankings) -> Any:
        from sklearn.base import clone

        ranker = self._views.prepared(clone(member))
        held = ~np.isnan(y.positions).all(axis=0)
        if not held.all():
            rare = self.items_[int(np.argmin(held))]
            raise ValueError(
                f"no training row of one of the folds ranks item {rare!r}, so its place cannot be learned there; drop "
                "the item (Rankings.select), or give splits (cv=...) with the item in all training sets"
            )
        return ranker.fit(self._views.for_member(ranker, X), y)

    def _predict_pairwise(self, X: FloatArray) -> FloatArray:
        total = np.zeros((len(X), len(self.items_), len(self.items_)))
        for name, ranker in self.rankers_.items():
            total += self.weights_[name] * self._pairwise(ranker, X)
        slope = getattr(self, "calibration_", None)
        return total if slope is None else pairwise_from_vectors(calibrated(vectors_from_pairwise(total), slope))

    def _pairwise(self, ranker: Any, X: FloatArray) -> FloatArray:
        return np.asarray(pairwise_of(ranker, self._views.for_member(ranker, X)))

    def _check_saved(self) -> None:
        ensure(set(self.rankers_) <= set(self.weights_) and len(self.rankers_) > 0, "a ranker has no weight")
        ensure_label_rankers(self.rankers_.values())
        ensure(len(self._encoder.categories_) == self.n_features_in_, "categories and features differ")
        for columns in (self._views.categorical, *(of_step for of_step, _ in self._views.steps)):
            check_places(columns, self.n_features_in_, "a column does not exist")


def default_rankers(n_jobs: int | None = None, n_rows: int = 1000, n_items: int = 3) -> list[tuple[str, Any]]:
    """The rankers that `StackedRanker` blends by default, for data with this number of rows and items."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import QuantileTransformer, StandardScaler

    def pairwise(*steps: Any, C: float) -> Any:
        logistic = LogisticRegression(C=C, solver="newton-cholesky", max_iter=1000)
        return make_pipeline(*steps, StandardScaler(), PairwiseRanker(logistic, n_jobs=n_jobs))

    random: dict[str, Any] = {"splitter": "random", "max_bins": 255, "n_jobs": n_jobs}
    part: dict[str, Any] = {"bootstrap": False, "max_samples": 0.75}
    places = LeastSquaresForest(40, min_samples_leaf=2, oob_score=True, **random)
    gaussian_ranks = QuantileTransformer(n_quantiles=max(2, min(100, n_rows // 2)), output_distribution="normal")
    linear: list[tuple[str, Any]] = [
        ("pairwise logistic", pairwise(C=1.0)),
        ("additive pairwise logistic, C=0.1", pairwise(AdditiveFeatures(), C=0.1)),
        ("additive pairwise logistic, C=10", pairwise(AdditiveFeatures(), C=10.0)),
    ]
    return [
        ("extra-random forest", RankingForest(120, **random, **part)),
        ("smooth extra-random forest", RankingForest(80, min_samples_leaf=3, **random, **part)),
        ("forest", RankingForest(100, splitter="best", max_features=0.5, min_samples_leaf=2, n_jobs=n_jobs)),
        ("labelwise forest", LabelwiseRanker(places)),
        ("boosted", BoostedRanker(100, 0.1, max_leaf_nodes=8, early_stopping=False, calibrate=False, n_jobs=n_jobs)),
        *(linear if n_items <= _MOST_ITEMS_FOR_PAIRS else []),
        ("Plackett-Luce", PlackettLuceRanker()),
        ("Laplacian kernel", make_pipeline(gaussian_ranks, KernelRanker("laplacian"))),
        ("Gaussian kernel", KernelRanker("rbf")),
        ("neighbors", NearestNeighborsRanker("cv", weights="distance")),
    ]


def _named(rankers: Any) -> list[tuple[str, Any]]:
    """Names and rankers, for ``get_params``: entries that ``fit`` would refuse are skipped."""
    if not isinstance(rankers, list | tuple):
        return []
    named = [entry for entry in rankers if isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[0], str)]
    return [(name, ranker) for name, ranker in named if hasattr(ranker, "get_params")]


def _checked_members(rankers: Any, rng: np.random.Generator) -> dict[str, Any]:
    """Name -> ranker, unfitted clones whose random states are set, so that the blend can be repeated."""
    if not all(isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[0], str) for entry in rankers):
        raise TypeError("rankers must be a list of (name, label ranker) pairs, as in [('forest', RankingForest())]")
    names = [name for name, _ in rankers]
    if not names or len(set(names)) < len(names):
        raise ValueError(f"rankers must have different names, at least one; got {', '.join(map(repr, names))}")
    for name, ranker in rankers:
        if not hasattr(ranker[-1] if hasattr(ranker, "steps") else ranker, "predict_pairwise"):
            raise TypeError(
                f"ranker {name!r} has no predict_pairwise; give label rankers, or pipelines ending with one"
            )
    return {name: with_unset(ranker, "random_state", int(rng.integers(2**31))) for name, ranker in rankers}


def _recalls(member: Any) -> bool:
    last = member[-1] if hasattr(member, "steps") else member
    return isinstance(last, LabelRankerMixin) and last._recalls()


class _Views:
    """The same features for rankers that take categories and missing values, and for those that need numbers."""

    _saved: ClassVar[Saved] = {"categorical": INTS, "steps": SAVED_STEPS}

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
        """The ranker, with the categorical columns as a parameter if it can split categories."""
        if len(self.categorical) and "categorical_features" in ranker.get_params():
            ranker.set_params(categorical_features=self.categorical)
        return ranker

    def for_member(self, ranker: Any, X: FloatArray) -> FloatArray:
        """Features as the ranker can take them: as they are, or as numbers without gaps."""
        if "categorical_features" in ranker.get_params():
            return X
        if self.steps:
            return as_numbers(X, self.steps)
        if np.isnan(X).any():
            raise ValueError("Input X contains NaN, but no row that the ranker was fitted on had missing values")
        return X


def _folds(cv: Any, n: int, rng: np.random.Generator) -> list[tuple[IntArray, IntArray]]:
    """Training and test rows of each fold; of the test rows only a sample if there are very many."""
    from sklearn.model_selection import KFold

    if isinstance(cv, Integral):
        if n < int(cv):
            raise ValueError(
                f"cv is {cv}, but there are only {n} rows to learn from (n_samples={n}); every fold needs a row"
            )
        cv = KFold(int(cv), shuffle=True, random_state=int(rng.integers(2**31)))
    splits = cv.split(np.zeros((n, 1))) if hasattr(cv, "split") else cv
    folds = [(np.asarray(train), np.asarray(test)) for train, test in splits]
    share = min(1.0, _MOST_ROWS / sum(len(test) for _, test in folds))
    return [(train, rng.permutation(test)[: max(1, round(share * len(test)))]) for train, test in folds]


def _decoded(vectors: FloatArray, y: Rankings) -> Rankings:
    """Kemeny medians of predicted pairs, as rankings of the items of y."""
    return Rankings(decode_pairwise(pairwise_from_vectors(vectors)), y.items)


def _blend_weights(vectors: FloatArray, y: Rankings) -> FloatArray:
    """Weights by squared error, then by the tau of the decoded blend; ``vectors`` is (rankers, rows, pairs)."""

    def taus_of(weights: FloatArray) -> FloatArray:
        return kendall_tau_score(y, _decoded(np.tensordot(weights, vectors, 1), y), per_row=True)

    weights = _least_squares_weights(vectors, y)
    taus = taus_of(weights)
    for step in _STEPS:
        for _ in range(_MOST_MOVES):
            # More of one ranker, less of all others.
            trials = list((1 - step) * weights + step * np.eye(len(weights)))
            results = [taus_of(trial) for trial in trials]
            gains = [sure_gain(result - taus, y.weights) for result in results]
            best = int(np.argmax(gains))
            if gains[best] <= 0:
                break
            weights, taus = trials[best], results[best]
    kept = np.where(weights < _SMALLEST_WEIGHT, 0.0, weights)
    return kept / kept.sum()


def _least_squares_weights(vectors: FloatArray, y: Rankings) -> FloatArray:
    """Nonnegative weights that sum to 1 and minimize the squared error of the blend.

    A ridge penalty toward equal weights, as strong as one row, keeps them stable where rankers agree.
    """
    from scipy.optimize import nnls

    truth = KemenyEmbedding().set_output(transform="default").fit_transform(y)
    known = ~np.isnan(truth)
    mass = np.broadcast_to(y.weights[:, None], truth.shape)[known]
    mass = mass / mass.sum()
    members = np.stack([member[known] for member in vectors]).astype(np.float64)
    gram, moment = (members * mass) @ members.T, (members * mass) @ truth[known]
    m, pull = len(members), 1 / len(y)
    # The large weight of one more equation keeps the sum at 1.
    A = gram + pull * np.eye(m) + _SUM_WEIGHT
    factor = np.linalg.cholesky(A)
    weights = nnls(factor.T, np.linalg.solve(factor, moment + pull / m + _SUM_WEIGHT))[0]
    return weights / weights.sum()


def _unneeded(vectors: dict[str, FloatArray], y: Rankings, names: set[str]) -> list[Standing]:
    """Those of the named rankers that earn no weight, and surely rank worse than the best one."""
    known = np.all([~np.isnan(part[:, 0]) for part in vectors.values()], axis=0)
    if not known.any():
        return []
    judged, truth = {name: part[known] for name, part in vectors.items()}, y[np.flatnonzero(known)]
    weights = _least_squares_weights(np.stack(list(judged.values())), truth)
    taus = {name: kendall_tau_score(truth, _decoded(part, y), per_row=True) for name, part in judged.items()}
    means = {name: float(np.nansum(truth.weights * tau)) for name, tau in taus.items()}
    best = max(means, key=lambda name: means[name])
    return [
        Standing(name, kendall_tau_score(truth, _decoded(judged[name], y)), 0.0)
        for name, weight in zip(judged, weights, strict=True)
        if name in names and weight < _SMALLEST_WEIGHT and sure_gain(taus[best] - taus[name], truth.weights) > 0
    ]


def _leaderboard(
    unseen: dict[str, Any], weights: dict[str, float], y: Rankings, dropped: list[Standing]
) -> tuple[Standing, ...]:
    standings = [
        Standing(name, kendall_tau_score(y, _decoded(vectors, y)), weights[name]) for name, vectors in unseen.items()
    ]
    return tuple(sorted([*standings, *dropped], key=lambda standing: -standing.score))
