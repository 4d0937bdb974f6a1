"""Compiled loops over the rows of many rankings; used by `rankwise.data.positions`."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from rankwise._compiled import compiled


@compiled
def are_dense(positions):
    """Whether the places in each row, infinity and NaN aside, are 1 to some place; for up to 62 columns."""
    n, k = positions.shape
    for row in range(n):
        bits = 0
        for column in range(k):
            place = positions[row, column]
            if 1 <= place <= k and place == np.floor(place):
                bits |= 1 << (int(place) - 1)
            elif place < np.inf:
                return False
        if bits & (bits + 1):
            return False
    return True


@compiled
def full_sums(rankings):
    """Sum of the places of each item in full rankings, for up to 62 items; nothing if one is not full.

    Rankings may be numbers of any type: one pass checks and adds them.
    """
    n, k = rankings.shape
    sums = np.zeros(k)
    for r in range(n):
        bits = np.int64(0)
        other = False
        for i in range(k):
            value = rankings[r, i]
            place = np.int64(value) if (value >= 1) & (value <= k) else np.int64(0)
            other |= place != value
            bits |= np.int64(1) << place
        if other | (bits != (1 << (k + 1)) - 2):
            return sums[:0]
        for i in range(k):
            sums[i] += rankings[r, i]
    return sums


@compiled
def midranks(positions):
    """Mean places of dense positions: tied items share theirs, unlisted ones the last; NaN stays."""
    n, k = positions.shape
    result = np.empty((n, k))
    count = np.empty(k + 2, dtype=np.intp)
    for row in range(n):
        count[:] = 0
        for column in range(k):
            place = positions[row, column]
            if not np.isnan(place):
                count[k + 1 if place == np.inf else int(place)] += 1
        before = 0
        for key in range(1, k + 2):
            size = count[key]
            count[key] = 2 * before + size + 1  # twice the mean of the places before + 1 .. before + size
            before += size
        for column in range(k):
            place = positions[row, column]
            result[row, column] = place if np.isnan(place) else count[k + 1 if place == np.inf else int(place)] / 2
    return result
