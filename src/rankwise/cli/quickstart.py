"""The numbers of ``rankwise quickstart``: what a label-ranking data set looks like, and how hard it is."""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from rankwise import __version__
from rankwise._random import check_generator
from rankwise._typing import FloatArray
from rankwise.aggregation import borda
from rankwise.data import Rankings, dense_positions
from rankwise.data.positions import has_ties
from rankwise.datasets import load_label_ranking
from rankwise.distances import kendall_distance, pairwise_distances
from rankwise.metrics import kendall_tau_score

N_FOLDS = 5
# Enough for a first impression; the command should answer within seconds whatever the data.
_MOST_ROWS = 1_000

#: called with what happens next and the share of the work that is done
OnStep = Callable[[str, float], None]


@dataclass(frozen=True)
class Description:
    """What the data set holds."""

    n_rankings: int
    n_items: int
    kind: str
    n_distinct: int
    n_with_ties: int
    n_with_unlisted: int
    n_with_missing: int
    n_features: int
    features: list[str]


@dataclass(frozen=True)
class Standing:
    """An item in the Borda consensus: its position, the share of opponents beaten, and that share as a mean rank."""

    item: str
    position: int
    share_beaten: float
    mean_rank: float


@dataclass(frozen=True)
class Agreement:
    """Mean Kendall distances, as shares of the pairs of items: 0 is the same order, 1 the reverse."""

    to_consensus: float
    to_each_other: float
    n_compared: int


@dataclass(frozen=True)
class Baseline:
    """Cross-validated Kendall tau of a simple predictor: mean and standard deviation over the folds."""

    name: str
    tau: float
    tau_sd: float


@dataclass(frozen=True)
class Quickstart:
    """All that the command prints and reports."""

    data: str
    seed: int
    description: Description
    consensus: list[Standing]
    agreement: Agreement
    n_folds: int
    n_learned: int
    baselines: list[Baseline]
    versions: dict[str, str]
    rankings: Rankings = field(repr=False)

    def as_dict(self) -> dict[str, Any]:
        """The results without the data, ready for JSON."""
        result = asdict(self)
        del result["rankings"]
        return result


def analyse(name: str, *, seed: int = 0, on_step: OnStep = lambda step, share: None) -> Quickstart:
    """Describe a data set, find its consensus, and cross-validate a few baselines.

    Parameters
    ----------
    name : str
        A data set that `rankwise.datasets.load_label_ranking` knows.
    seed : int, default=0
        Decides the folds, the forest and the samples.
    on_step : callable, optional
        Told what happens next and the share of the work that is done.

    Returns
    -------
    Quickstart
    """
    on_step(f"loading {name}", 0.0)
    bunch = load_label_ranking(name)
    rankings = bunch.y
    on_step("comparing the rankings", 0.05)
    consensus, scores = borda(rankings, return_scores=True)
    rng = check_generator(seed)
    agreement = _agreement(rankings, consensus, rng)
    rows = _sample(len(rankings), _MOST_ROWS, rng)
    return Quickstart(
        data=name,
        seed=seed,
        description=_describe(rankings, bunch.feature_names),
        consensus=_standings(rankings, consensus, scores),
        agreement=agreement,
        n_folds=N_FOLDS,
        n_learned=len(rows),
        baselines=_cross_validate(np.asarray(bunch.X)[rows], rankings[rows], seed, on_step),
        versions=_versions(),
        rankings=rankings,
    )


# ---------------------------------------------------------------------------------------------------------------


def _describe(rankings: Rankings, feature_names: Any) -> Description:
    positions = rankings.positions
    return Description(
        n_rankings=len(rankings),
        n_items=rankings.n_items,
        kind=rankings.kind,
        n_distinct=len(rankings.group()),
        n_with_ties=int(has_ties(positions).sum()),
        n_with_unlisted=int(np.isposinf(positions).any(axis=1).sum()),
        n_with_missing=int(np.isnan(positions).any(axis=1).sum()),
        n_features=len(feature_names),
        features=[str(name) for name in feature_names],
    )


def _standings(rankings: Rankings, consensus: FloatArray, scores: FloatArray) -> list[Standing]:
    mean_ranks = rankings.n_items - scores * (rankings.n_items - 1)
    return [
        Standing(str(rankings.items[i]), int(consensus[i]), float(scores[i]), float(mean_ranks[i]))
        for i in np.argsort(consensus, kind="stable")
    ]


def _agreement(rankings: Rankings, consensus: FloatArray, rng: np.random.Generator) -> Agreement:
    rows = _sample(len(rankings), _MOST_ROWS, rng)
    between = pairwise_distances(rankings[rows], normalize=True)[np.triu_indices(len(rows), k=1)]
    to_consensus = kendall_distance(rankings, consensus, normalize=True)
    return Agreement(float(np.nanmean(to_consensus)), float(np.nanmean(between)), len(rows))


def _sample(n: int, most: int, rng: np.random.Generator) -> np.ndarray:
    return np.arange(n) if n <= most else np.sort(rng.choice(n, size=most, replace=False))


def _cross_validate(X: FloatArray, y: Rankings, seed: int, on_step: OnStep) -> list[Baseline]:
    from sklearn.model_selection import KFold

    folds = list(KFold(N_FOLDS, shuffle=True, random_state=seed).split(X))
    predictors = _predictors(seed, complete=y.kind != "incomplete")
    baselines = []
    for number, (name, predict) in enumerate(predictors.items()):
        taus = []
        for fold, (train, test) in enumerate(folds):
            on_step(name, 0.1 + 0.85 * (number + fold / N_FOLDS) / len(predictors))
            predicted = predict(X[train], y[train], X[test])
            taus.append(kendall_tau_score(y[test], predicted))
        baselines.append(Baseline(name, float(np.mean(taus)), float(np.std(taus))))
    return baselines


#: training features, training rankings, features to predict for -> positions
Predictor = Callable[[FloatArray, Rankings, FloatArray], FloatArray]


def _predictors(seed: int, *, complete: bool) -> dict[str, Predictor]:
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    predictors: dict[str, Predictor] = {"Borda consensus, the same for all": _consensus_of_training}
    if complete:
        nearest = make_pipeline(StandardScaler(), KNeighborsRegressor(n_neighbors=10))
        predictors["10 nearest neighbours on positions"] = _regressed_positions(nearest)
        # One thread: several add up the trees in any order, and the last digits decide ties.
        forest = RandomForestRegressor(max_features=1 / 3, random_state=seed)
        predictors["random forest on positions"] = _regressed_positions(forest)
    return predictors


def _consensus_of_training(X: FloatArray, y: Rankings, X_new: FloatArray) -> FloatArray:
    return np.tile(borda(y), (len(X_new), 1))


def _regressed_positions(regressor: Any) -> Predictor:
    """Least squares on mid-ranks, one output per item; the predicted places are put in order."""

    def predict(X: FloatArray, y: Rankings, X_new: FloatArray) -> FloatArray:
        # Means of the same places differ in the last digits; rounded, they tie.
        return dense_positions(np.round(regressor.fit(X, y.midranks()).predict(X_new), 9))

    return predict


def _versions() -> dict[str, str]:
    import sklearn

    return {
        "rankwise": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
    }
