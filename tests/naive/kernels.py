"""Kernels for rankings by enumeration of all full rankings that agree; exponential, for a handful of items."""

from __future__ import annotations

from itertools import permutations

import numpy as np


def completions(row):
    """All full rankings (places 1 to k) that keep every strict preference of a ranking."""
    k = len(row)
    strict = [(i, j) for i in range(k) for j in range(k) if row[i] < row[j]]
    every = permutations(range(1, k + 1))
    return [np.array(places, dtype=float) for places in every if all(places[i] < places[j] for i, j in strict)]


def tau(a, b):
    """Concordant less discordant pairs of full rankings, over all pairs."""
    k = len(a)
    total = sum(np.sign((a[i] - a[j]) * (b[i] - b[j])) for i in range(k) for j in range(i))
    return total / (k * (k - 1) / 2)


def discordant(a, b):
    """Number of pairs that full rankings order in opposite ways."""
    k = len(a)
    return sum((a[i] - a[j]) * (b[i] - b[j]) < 0 for i in range(k) for j in range(i))


def kendall(a, b):
    """Mean of tau over all completions of both."""
    return np.mean([tau(x, y) for x in completions(a) for y in completions(b)])


def mallows(a, b, scale):
    """Mean of exp(-scale * discordant pairs) over all completions of both."""
    return np.mean([np.exp(-scale * discordant(x, y)) for x in completions(a) for y in completions(b)])


def mean_signs(row):
    """Mean over all completions of the sign of every pair i < j; 1 = i first."""
    k = len(row)
    signs = [[np.sign(x[j] - x[i]) for i in range(k) for j in range(i + 1, k)] for x in completions(row)]
    return np.mean(signs, axis=0)


def weighted_kendall(a, b, pair_weight):
    """Sum over concordant pairs of full rankings of the weight of the four places (better, worse in a; in b)."""
    k = len(a)
    return sum(pair_weight(a[i], a[j], b[i], b[j]) for i in range(k) for j in range(k) if a[i] < a[j] and b[i] < b[j])


def kendall_of_interleaved(a, b):
    """Kendall kernel of rankings without ties that miss items (NaN), by cases over pairs of items.

    Of a pair, both items may be in both rankings; one in both and one in a single one; each in a different one; both in
    one ranking but one of them in the other; or a ranking has neither, which adds nothing. Where a ranking has one item
    of the pair alone, in place p of m, the other falls before it in p of m + 1 gaps.
    """
    k = len(a)

    def sign(row, i, j):
        there = [not np.isnan(row[i]), not np.isnan(row[j])]
        m = int(np.sum(~np.isnan(row)))
        if all(there):
            return 1.0 if row[i] < row[j] else -1.0
        if there[0]:
            return (m + 1 - 2 * row[i]) / (m + 1)
        if there[1]:
            return (2 * row[j] - m - 1) / (m + 1)
        return 0.0

    total = sum(sign(a, i, j) * sign(b, i, j) for i in range(k) for j in range(i))
    return total / (k * (k - 1) / 2)
