"""How well label rankers do out of the box: what a ranker of yours has to beat."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rankwise._typing import FloatArray, IntArray
from rankwise.aggregation import borda
from rankwise.data import Rankings
from rankwise.metrics import kendall_tau_score

N_FOLDS = 5
# Below this, a fold tests on a single ranking, and the numbers would be noise.
FEWEST_ROWS = 2 * N_FOLDS
_N_NEIGHBORS = 10
_N_TREES = 50

#: called with what happens next and the share of the work that is done
OnStep = Callable[[str, float], None]


@dataclass(frozen=True)
class Baseline:
    """Cross-validated Kendall tau of a ranker: mean and standard deviation over the folds."""

    name: str
    tau: float
    tau_sd: float


def cross_validate(
    X: npt.NDArray[Any], y: Rankings, seed: int, on_step: OnStep, *, categorical: Sequence[int] = ()
) -> tuple[list[Baseline], str]:
    """Cross-validate label rankers, where the data allow it.

    Parameters
    ----------
    X : ndarray of shape (n_rankings, n_features)
        Numbers, NaN where missing; texts, None where missing, in the categorical columns.
    y : Rankings
    seed : int
        Decides the folds and the forest.
    on_step : callable
        Told which ranker is next, and the share that is done.
    categorical : sequence of int, default=()
        Columns of X that hold texts.

    Returns
    -------
    baselines : list of Baseline
    left_out : str
        Why there are none; empty if there are some.
    """
    if X.shape[1] == 0:
        return [], "none: there are no features to predict rankings from"
    if len(y) < FEWEST_ROWS:
        return [], f"none: fewer than {FEWEST_ROWS} rankings tell too little of a predictor"
    from sklearn.model_selection import KFold

    folds = list(KFold(N_FOLDS, shuffle=True, random_state=seed).split(X))
    rankers = _rankers(seed, X.shape[1], categorical, fewest=min(len(train) for train, _ in folds))
    baselines = []
    for number, (name, ranker) in enumerate(rankers.items()):
        taus = []
        for fold, (train, test) in enumerate(folds):
            on_step(name, (number + fold / N_FOLDS) / len(rankers))
            taus.append(_mean_tau(y[test], predicted_positions(ranker, X[train], y[train], X[test])))
        judged = [tau for tau in taus if tau is not None]
        if judged:
            baselines.append(Baseline(name, float(np.mean(judged)), float(np.std(judged))))
    if not baselines:
        return [], "none: the rankings tie all they compare, so there is nothing to predict"
    return baselines, ""


def consensus_of_compared(rankings: Rankings) -> tuple[FloatArray, FloatArray]:
    """Positions and scores by Borda's rule; NaN for the items that no ranking compares with another."""
    compared = compared_items(rankings)
    positions, scores = np.full((2, rankings.n_items), np.nan)
    if len(compared):
        part = rankings.select([rankings.items[i] for i in compared])
        positions[compared], scores[compared] = borda(part, return_scores=True)
    return positions, scores


def compared_items(rankings: Rankings) -> IntArray:
    """Columns of the items that some ranking compares with another."""
    present = ~np.isnan(rankings.positions)
    # Of unlisted items alone a ranking says nothing.
    compares = (present.sum(axis=1) > 1) & np.isfinite(rankings.positions).any(axis=1) & (rankings.weights > 0)
    return np.flatnonzero(present[compares].any(axis=0))


def predicted_positions(ranker: Any, X: npt.NDArray[Any], y: Rankings, X_new: npt.NDArray[Any]) -> FloatArray:
    """Positions for new rows; NaN for the items that no training ranking compares with another."""
    positions = np.full((len(X_new), y.n_items), np.nan)
    compared = compared_items(y)
    if len(compared):
        known = y.select([y.items[i] for i in compared])
        positions[:, compared] = ranker.fit(X, known).predict(X_new)
    return positions


# ---------------------------------------------------------------------------------------------------------------


def _rankers(seed: int, n_features: int, categorical: Sequence[int], *, fewest: int) -> dict[str, Any]:
    """Name -> ranker, for training sets of at least ``fewest`` rows."""
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    from rankwise.label_ranking import DummyRanker, NearestNeighborsRanker, RankingForest

    numbers = make_column_transformer(
        (SimpleImputer(strategy="median", keep_empty_features=True), np.setdiff1d(np.arange(n_features), categorical)),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), list(categorical)),
    )
    n_neighbors = min(_N_NEIGHBORS, fewest)
    return {
        "Borda consensus, the same for all": make_pipeline(numbers, DummyRanker("borda")),
        f"{n_neighbors} nearest neighbours": make_pipeline(numbers, NearestNeighborsRanker(n_neighbors)),
        "forest of ranking trees": RankingForest(
            _N_TREES, min_samples_leaf=2, categorical_features=list(categorical), random_state=seed
        ),
    }


def _mean_tau(y: Rankings, predicted: FloatArray) -> float | None:
    """Mean over the rankings that can be judged; None if all tie what they compare."""
    taus = kendall_tau_score(y, predicted, per_row=True)
    judged = ~np.isnan(taus) & (y.weights > 0)
    return float(np.average(taus[judged], weights=y.weights[judged])) if judged.any() else None
