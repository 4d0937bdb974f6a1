"""The numbers of ``rankwise evaluate``: how well label rankers do on rows that they have not seen."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rankwise._typing import FloatArray
from rankwise.cli.comparable import predicted_positions
from rankwise.cli.console import OnStep, TextTable
from rankwise.cli.models import check_features
from rankwise.cli.sources import Source
from rankwise.metrics import kendall_tau_score


@dataclass(frozen=True)
class Standing:
    """Mean Kendall tau of a model over the rows, its standard error, and the seconds that a fit and a test take."""

    model: str
    tau: float
    standard_error: float
    seconds: float


def sample_rows(n: int, most: int, rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """Rows in their order: all of them, or so many of them drawn at random."""
    return np.arange(n) if n <= most else np.sort(rng.choice(n, size=most, replace=False))


def evaluate_rankers(
    rankers: Mapping[str, Any], source: Source, *, n_folds: int, n_repeats: int, seed: int, on_step: OnStep
) -> list[Standing]:
    """Cross-validate rankers on the same folds.

    *Definition.* Every ranking is predicted once in each repeat, from the other folds; a row's tau is the mean over the
    repeats. The standard error is that of a mean of independent rows.

    Parameters
    ----------
    rankers : mapping
        Name -> ranker.
    source : Source
        Rankings and features.
    n_folds, n_repeats : int
        Folds, and how often all rows are dealt out to them anew.
    seed : int
        Decides the folds.
    on_step : callable
        Told which ranker is next, and the share that is done.

    Returns
    -------
    list of Standing
        Best first.
    """
    from sklearn.base import clone
    from sklearn.model_selection import RepeatedKFold

    check_features(source)
    X, y = source.X, source.rankings
    if len(y) < n_folds:
        raise ValueError(f"{n_folds} folds need as many rankings, but there are {len(y)}; give fewer with --cv")
    folds = list(RepeatedKFold(n_splits=n_folds, n_repeats=n_repeats, random_state=seed).split(X))
    standings = []
    for number, (name, ranker) in enumerate(rankers.items()):
        taus = np.full((n_repeats, len(y)), np.nan)
        started = time.perf_counter()
        for fold, (train, test) in enumerate(folds):
            on_step(name, (number + fold / len(folds)) / len(rankers))
            predicted = predicted_positions(clone(ranker), X[train], y[train], X[test])
            taus[fold // n_folds, test] = kendall_tau_score(y[test], predicted, per_row=True)
        seconds = (time.perf_counter() - started) / len(folds)
        standings.append(Standing(name, *_mean_and_error(taus, y.weights), seconds))
    return sorted(standings, key=lambda standing: -standing.tau)


def leaderboard_table(standings: list[Standing], *, n_folds: int, n_repeats: int) -> TextTable:
    """The leaderboard as a table."""
    times = f", {n_repeats} times" if n_repeats > 1 else ""
    note = f"Kendall tau in {n_folds}-fold cross-validation{times}: 1 is perfect, 0 is chance, -1 the reverse"
    columns = ["model", "mean tau", "standard error", "seconds a fold"]
    rows = [[s.model, f"{s.tau:z.3f}", f"{s.standard_error:.3f}", f"{s.seconds:.2f}"] for s in standings]
    return TextTable("Leaderboard", note, columns, rows)


def _mean_and_error(taus: FloatArray, weights: FloatArray) -> tuple[float, float]:
    """Mean over the rows that can be judged, and its standard error."""
    known = ~np.isnan(taus).any(axis=0) & (weights > 0)
    if not known.any():
        raise ValueError("the rankings tie all they compare, so there is nothing to predict")
    of_rows, share = taus[:, known].mean(axis=0), weights[known] / weights[known].sum()
    mean = float(share @ of_rows)
    return mean, float(np.sqrt(share**2 @ (of_rows - mean) ** 2))
