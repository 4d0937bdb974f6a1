"""Compiled loops over the pairs of items in rankings; used by `Rankings` and by `rankwise.aggregation`."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from rankwise._compiled import compiled


@compiled
def pair_counts(positions, weights):
    """Weight of the rankings with i before j, for all i and j: (k, k)."""
    n, k = positions.shape
    counts = np.zeros((k, k))
    for r in range(n):
        w = weights[r]
        for i in range(k):
            place = positions[r, i]
            for j in range(k):
                counts[i, j] += w * (place < positions[r, j])
    return counts


@compiled
def list_pairs(positions, total):
    """Every strict preference as a row (ranking, above, below): (total, 3)."""
    n, k = positions.shape
    pairs = np.empty((total, 3), dtype=np.intp)
    t = 0
    for r in range(n):
        for i in range(k):
            for j in range(k):
                if positions[r, i] < positions[r, j]:
                    pairs[t, 0] = r
                    pairs[t, 1] = i
                    pairs[t, 2] = j
                    t += 1
    return pairs


@compiled
def pair_ties(positions, weights):
    """Weight of the rankings that list i and j at the same place, for all i and j: (k, k), zero diagonal."""
    n, k = positions.shape
    counts = np.zeros((k, k))
    for r in range(n):
        # A ranking without ties reaches as many places as it lists items.
        listed = 0
        last = 0.0
        for i in range(k):
            if positions[r, i] < np.inf:
                listed += 1
                last = max(last, positions[r, i])
        if listed > last:
            for i in range(k):
                for j in range(i):
                    if (positions[r, i] == positions[r, j]) & (positions[r, i] < np.inf):
                        counts[i, j] += weights[r]
                        counts[j, i] += weights[r]
    return counts


@compiled
def add_pairs(positions, weights, wins, ties):
    """Add what rankings say of each pair to ``wins`` and ``ties``; negative weights take it away again."""
    n, k = positions.shape
    for r in range(n):
        w = weights[r]
        for i in range(k):
            place = positions[r, i]
            for j in range(k):
                wins[i, j] += w * (place < positions[r, j])
                ties[i, j] += w * ((place == positions[r, j]) & (place < np.inf) & (i != j))
