"""Compiled loops over the pairs of items in rankings; used by `Rankings` and by `rankwise.aggregation`."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from rankwise._compiled import compiled

# Rankings that are counted at the same time, as bytes: a byte holds the count, and vectors of 64 bytes divide it.
_ROWS = 192


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
def full_pair_counts(rankings):
    """What `pair_counts` says of full rankings of weight 1 and up to 62 items; nothing, (0, 0), if one is not full.

    Rankings may be numbers of any type: they are checked, turned into bytes and counted block by block.
    """
    n, k = rankings.shape
    counts = np.zeros((k, k))
    columns = np.zeros((k, _ROWS), dtype=np.uint8)
    for start in range(0, n, _ROWS):
        m = min(n, start + _ROWS) - start
        columns[:, m:] = 0  # equal places count for nobody
        for r in range(m):
            bits = np.int64(0)
            other = False
            for i in range(k):
                value = rankings[start + r, i]
                place = np.int64(value) if (value >= 1) & (value <= k) else np.int64(0)
                other |= place != value
                bits |= np.int64(1) << place
            if other | (bits != (1 << (k + 1)) - 2):
                return counts[:0, :0]
            for i in range(k):
                columns[i, r] = np.uint8(rankings[start + r, i])
        for i in range(k):
            for j in range(i):
                count = np.uint8(0)
                for r in range(_ROWS):
                    count = np.uint8(count + np.uint8(columns[i, r] < columns[j, r]))
                counts[i, j] += count
    for i in range(k):
        for j in range(i):
            counts[j, i] = n - counts[i, j]
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
