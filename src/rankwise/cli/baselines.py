"""How well simple predictors do: what a ranker worth its name has to beat."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwise._typing import FloatArray
from rankwise.aggregation import borda
from rankwise.data import Rankings, dense_positions
from rankwise.metrics import kendall_tau_score

N_FOLDS = 5
# Below this, a fold tests on a single ranking, and the numbers would be noise.
FEWEST_ROWS = 2 * N_FOLDS
_N_NEIGHBORS = 10

#: called with what happens next and the share of the work that is done
OnStep = Callable[[str, float], None]
#: training features, training rankings, features to predict for -> positions
Predictor = Callable[[FloatArray, Rankings, FloatArray], FloatArray]


@dataclass(frozen=True)
class Baseline:
    """Cross-validated Kendall tau of a simple predictor: mean and standard deviation over the folds."""

    name: str
    tau: float
    tau_sd: float


def cross_validate(X: FloatArray, y: Rankings, seed: int, on_step: OnStep) -> tuple[list[Baseline], str]:
    """Cross-validate the predictors that the data allow.

    Parameters
    ----------
    X : ndarray of shape (n_rankings, n_features)
        NaN is missing.
    y : Rankings
    seed : int
        Decides the folds and the forest.
    on_step : callable
        Told which predictor is next, and the share that is done.

    Returns
    -------
    baselines : list of Baseline
    left_out : str
        Which predictors were left out, and why; empty if none.
    """
    if X.shape[1] == 0:
        return [], "none: there are no features to predict rankings from"
    if len(y) < FEWEST_ROWS:
        return [], f"none: fewer than {FEWEST_ROWS} rankings tell too little of a predictor"
    from sklearn.model_selection import KFold

    folds = list(KFold(N_FOLDS, shuffle=True, random_state=seed).split(X))
    complete = not np.isnan(y.positions).any()
    predictors = _predictors(seed, complete=complete, fewest=min(len(train) for train, _ in folds))
    baselines = []
    for number, (name, predict) in enumerate(predictors.items()):
        taus = []
        for fold, (train, test) in enumerate(folds):
            on_step(name, (number + fold / N_FOLDS) / len(predictors))
            taus.append(_mean_tau(y[test], predict(X[train], y[train], X[test])))
        judged = [tau for tau in taus if tau is not None]
        if judged:
            baselines.append(Baseline(name, float(np.mean(judged)), float(np.std(judged))))
    if not baselines:
        return [], "none: the rankings tie all they compare, so there is nothing to predict"
    cause = "the regressors of scikit-learn need rankings without missing items, so they are left out"
    return baselines, "" if complete else cause


def consensus_of_compared(rankings: Rankings) -> tuple[FloatArray, FloatArray]:
    """Positions and scores by Borda's rule; NaN for the items that no ranking compares with another."""
    present = ~np.isnan(rankings.positions)
    compares = (present.sum(axis=1) > 1) & (rankings.weights > 0)
    compared = np.flatnonzero(present[compares].any(axis=0))
    positions, scores = np.full((2, rankings.n_items), np.nan)
    if len(compared):
        part = rankings.select([rankings.items[i] for i in compared])
        positions[compared], scores[compared] = borda(part, return_scores=True)
    return positions, scores


# ---------------------------------------------------------------------------------------------------------------


def _mean_tau(y: Rankings, predicted: FloatArray) -> float | None:
    """Mean over the rankings that can be judged; None if all tie what they compare."""
    taus = kendall_tau_score(y, predicted, per_row=True)
    judged = ~np.isnan(taus) & (y.weights > 0)
    return float(np.average(taus[judged], weights=y.weights[judged])) if judged.any() else None


def _predictors(seed: int, *, complete: bool, fewest: int) -> dict[str, Predictor]:
    """Name -> predictor, for complete targets or not, and training sets of at least ``fewest`` rows."""
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.impute import SimpleImputer
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    predictors: dict[str, Predictor] = {"Borda consensus, the same for all": _consensus_of_training}
    if complete:
        fill = SimpleImputer(strategy="median", keep_empty_features=True)
        n_neighbors = min(_N_NEIGHBORS, fewest)
        nearest = make_pipeline(fill, StandardScaler(), KNeighborsRegressor(n_neighbors=n_neighbors))
        predictors[f"{n_neighbors} nearest neighbours on positions"] = _regressed_positions(nearest)
        # One thread: several add up the trees in any order, and the last digits decide ties.
        forest = make_pipeline(fill, RandomForestRegressor(max_features=1 / 3, random_state=seed))
        predictors["random forest on positions"] = _regressed_positions(forest)
    return predictors


def _consensus_of_training(X: FloatArray, y: Rankings, X_new: FloatArray) -> FloatArray:
    positions, _ = consensus_of_compared(y)
    return np.tile(positions, (len(X_new), 1))


def _regressed_positions(regressor: Any) -> Predictor:
    """Least squares on mid-ranks, one output per item; the predicted places are put in order."""

    def predict(X: FloatArray, y: Rankings, X_new: FloatArray) -> FloatArray:
        # Means of the same places differ in the last digits; rounded, they tie.
        return dense_positions(np.round(regressor.fit(X, y.midranks()).predict(X_new), 9))

    return predict
