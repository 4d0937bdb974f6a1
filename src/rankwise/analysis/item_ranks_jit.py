"""Compiled loops over the items of rankings: their ranks and how often each holds which place; see `item_ranks`."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from rankwise._compiled import compiled


@compiled
def rank_items(positions, weights):
    """Midranks, and tallies of the ranks of items, from dense positions.

    Rankings that compare nothing have no ranks: all are NaN, their size is 0, and nothing is tallied.

    Returns the midranks (n, k), the number of items that each ranking holds (n,), the sum of squares of its midranks
    about their mean (n,), the numbers of rankings with ties, with unlisted and with missing items (3,), and by item:
    the weight of the rankings that hold it, their number, and the weighted sum of its expected ranks (3, k); the weight
    of the rankings with item i at place j (k, k), ties sharing their places; and of the rankings that hold all items,
    the weight with midrank j / 2 (k, 2 k + 1).
    """
    n, k = positions.shape
    ranks = np.full((n, k), np.nan)
    sizes = np.zeros(n, dtype=np.int64)
    squares = np.zeros(n)
    kinds = np.zeros(3, dtype=np.int64)
    totals = np.zeros((3, k))
    places = np.zeros((k, k))
    heights = np.zeros((k, 2 * k + 1))
    tied = np.zeros(k + 1, dtype=np.int64)
    ahead = np.zeros(k + 1, dtype=np.int64)
    for r in range(n):
        held = 0
        listed = 0
        last = 0
        for i in range(k):
            place = positions[r, i]
            held += place == place
            if place < np.inf:
                listed += 1
                own = np.int64(place)
                while last < own:
                    last += 1
                    tied[last] = 0
                tied[own] += 1
        kinds[0] += listed > last
        kinds[1] += held > listed
        kinds[2] += k > held
        if listed == 0 or held < 2:
            continue
        sizes[r] = held
        total = 0
        for bucket in range(1, last + 1):
            ahead[bucket] = total
            total += tied[bucket]
        w = weights[r]
        center = (held + 1) / 2
        stretch = (k + 1) / (held + 1)
        square = 0.0
        for i in range(k):
            place = positions[r, i]
            if place != place:
                continue
            if place < np.inf:
                own = np.int64(place)
                size = tied[own]
                first = ahead[own]
                rank = first + (size + 1) / 2
                for j in range(first, first + size):
                    places[i, j] += w / size
            else:
                rank = (listed + held + 1) / 2
            ranks[r, i] = rank
            square += (rank - center) * (rank - center)
            totals[0, i] += w
            totals[1, i] += w > 0
            totals[2, i] += w * (rank * stretch)
            if held == k:
                heights[i, np.int64(2 * rank)] += w
        squares[r] = square
    return ranks, sizes, squares, kinds, totals, places, heights


@compiled
def sum_squares(ranks, sizes, weights, means):
    """Weighted sums of squares of the expected ranks of items about their means: (k,)."""
    n, k = ranks.shape
    sums = np.zeros(k)
    for r in range(n):
        stretch = (k + 1) / (sizes[r] + 1)
        for i in range(k):
            rank = ranks[r, i]
            if rank == rank:
                deviation = rank * stretch - means[i]
                sums[i] += weights[r] * (deviation * deviation)
    return sums


@compiled
def count_distinct(positions):
    """Number of distinct rows; missing items equal each other."""
    n, k = positions.shape
    size = 16
    while size < 2 * n:
        size *= 2
    table = np.full(size, -1, dtype=np.int64)
    distinct = 0
    for r in range(n):
        mixed = np.int64(1)
        for i in range(k):
            place = positions[r, i]
            code = np.int64(0)
            if place < np.inf:
                code = np.int64(place)
            elif place == np.inf:
                code = np.int64(k + 1)
            # A polynomial modulo a prime below 2**31: products do not overflow.
            mixed = (mixed * 1_000_003 + code) % 2_147_483_647
        slot = mixed & (size - 1)
        while True:
            other = table[slot]
            if other < 0:
                table[slot] = r
                distinct += 1
                break
            same = True
            for i in range(k):
                a = positions[r, i]
                b = positions[other, i]
                if a != b and (a == a or b == b):
                    same = False
                    break
            if same:
                break
            slot = (slot + 1) & (size - 1)
    return distinct
