"""Compiled loops over the items of rankings: their ranks and how often each holds which place; see `item_ranks`."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from rankwise._compiled import compiled


@compiled
def rank_items(positions, weights):
    """Midranks, and tallies of the places of items, from dense positions.

    Rankings that compare nothing have no ranks: all are NaN, their size is 0, and their places are not tallied.

    Returns the midranks (n, k), the number of items that each ranking holds (n,), the weight of the rankings that have
    item i at place j (k, k), ties sharing their places equally, and the numbers of rankings with ties, with unlisted
    and with missing items (3,).
    """
    n, k = positions.shape
    ranks = np.full((n, k), np.nan)
    sizes = np.zeros(n, dtype=np.int64)
    places = np.zeros((k, k))
    kinds = np.zeros(3, dtype=np.int64)
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
        for i in range(k):
            place = positions[r, i]
            if place < np.inf:
                own = np.int64(place)
                size = tied[own]
                first = ahead[own]
                ranks[r, i] = first + (size + 1) / 2
                share = weights[r] / size
                for j in range(first, first + size):
                    places[i, j] += share
            elif place == np.inf:
                ranks[r, i] = (listed + held + 1) / 2
    return ranks, sizes, places, kinds


@compiled
def count_distinct(positions):
    """Number of distinct rows; missing items equal each other."""
    n, k = positions.shape
    size = 16
    while size < 2 * n:
        size *= 2
    table = np.full(size, -1, dtype=np.int64)
    mask = np.uint64(size - 1)
    distinct = 0
    for r in range(n):
        mixed = np.uint64(14695981039346656037)
        for i in range(k):
            place = positions[r, i]
            code = np.uint64(0)
            if place < np.inf:
                code = np.uint64(place)
            elif place == np.inf:
                code = np.uint64(k + 1)
            mixed = (mixed ^ code) * np.uint64(1099511628211)
            mixed ^= mixed >> np.uint64(29)
        slot = mixed & mask
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
            slot = (slot + np.uint64(1)) & mask
    return distinct
