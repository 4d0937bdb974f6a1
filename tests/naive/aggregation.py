"""Slow twins of the aggregation rules, written from the definitions."""

from __future__ import annotations

import numpy as np


def borda_scores(positions: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Mean share of the opponents beaten, pair by pair; NaN for an item that is never compared."""
    n, k = positions.shape
    scores = np.full(k, np.nan)
    for i in range(k):
        total, weight = 0.0, 0.0
        for r in range(n):
            opponents = [j for j in range(k) if j != i and not np.isnan(positions[r, j])]
            if np.isnan(positions[r, i]) or not opponents or not np.isfinite(positions[r]).any():
                continue
            wins = sum(positions[r, i] < positions[r, j] for j in opponents)
            ties = sum(positions[r, i] == positions[r, j] for j in opponents)
            total += weights[r] * (wins + ties / 2) / len(opponents)
            weight += weights[r]
        if weight > 0:
            scores[i] = total / weight
    return scores
