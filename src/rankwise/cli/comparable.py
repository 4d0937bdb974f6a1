"""Items that rankings compare with others: only these have a place in a consensus or a prediction."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rankwise._typing import FloatArray, IntArray
from rankwise.aggregation import borda
from rankwise.data import Rankings


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
