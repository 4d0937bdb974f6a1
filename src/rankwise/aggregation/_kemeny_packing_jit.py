"""Compiled loops of `_kemeny_packing`: cycles of three majorities, and weights for them.

``surplus[i, j]`` is the margin of the majority for i over j, 0 where there is none. A cycle is named by its three
majorities, numbered i k + j.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from rankwise._compiled import compiled


@compiled
def count_cycles(surplus, stride):
    """Number of cycles i > j > l > i, each counted once; of those whose items add up to a multiple of the stride."""
    k = len(surplus)
    number = 0
    for i in range(k):
        into = surplus[:, i].copy()
        for j in range(i + 1, k):
            if surplus[i, j] > 0:
                row = surplus[j]
                for other in range(i + 1, k):
                    number += (row[other] > 0) & (into[other] > 0) & ((i + j + other) % stride == 0)
    return number


@compiled
def list_cycles(surplus, stride, number):
    """The cycles, as many as `count_cycles` found: rows of three majorities."""
    k = len(surplus)
    cycles = np.empty((number, 3), dtype=np.int32)
    found = 0
    for i in range(k):
        into = surplus[:, i].copy()
        for j in range(i + 1, k):
            if surplus[i, j] > 0:
                row = surplus[j]
                for other in range(i + 1, k):
                    if row[other] > 0 and into[other] > 0 and (i + j + other) % stride == 0:
                        cycles[found, 0] = i * k + j
                        cycles[found, 1] = j * k + other
                        cycles[found, 2] = other * k + i
                        found += 1
    return cycles


@compiled
def weigh(capacity, cycles, price, load, weight, threshold, growth, sweeps):
    """Add weight to cheap cycles, sweep by sweep; majorities become dearer as they fill. Returns the last threshold.

    ``price`` starts at 1 / capacity, and rises by the factor 1 + growth when a majority is filled once more. Every
    sweep takes what is cheaper than a threshold that rises by the same factor. The weights exceed the capacities
    until they are divided by how often these are filled. Changes ``price``, ``load`` and ``weight``.
    """
    for _ in range(sweeps):
        threshold *= 1 + growth
        for t in range(len(cycles)):
            a, b, c = cycles[t, 0], cycles[t, 1], cycles[t, 2]
            while price[a] + price[b] + price[c] < threshold:
                amount = min(capacity[a], capacity[b], capacity[c])
                weight[t] += amount
                for e in (a, b, c):
                    load[e] += amount
                    price[e] *= 1 + growth * amount / capacity[e]
    return threshold


@compiled
def packed(capacity, cycles, load, weight):
    """Total of the weights, once they are scaled down to the capacities and what remains of these is filled up."""
    left = capacity.copy()
    total = 0.0
    for scaled in (True, False):
        for t in range(len(cycles)):
            a, b, c = cycles[t, 0], cycles[t, 1], cycles[t, 2]
            if scaled:
                amount = weight[t] / max(1e-300, load[a] / capacity[a], load[b] / capacity[b], load[c] / capacity[c])
            else:
                amount = min(left[a], left[b], left[c])
            if amount > 0:
                total += amount
                left[a] -= amount
                left[b] -= amount
                left[c] -= amount
    return total


@compiled
def pack_greedily(left, start, stop):
    """Fill cycles whose first item is one of some, one after the other; changes ``left``, returns the total."""
    k = len(left)
    total = 0.0
    for i in range(start, stop):
        for j in range(k):
            for other in range(k):
                if left[i, j] <= 0:
                    break
                amount = min(left[i, j], left[j, other], left[other, i])
                if amount > 0:
                    left[i, j] -= amount
                    left[j, other] -= amount
                    left[other, i] -= amount
                    total += amount
    return total
