"""Compiled functions of `kendall_gram`; rankings are dense positions (1 = best, inf = unlisted, NaN = missing)."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from rankwise._compiled import compiled

# How the weights of two places make the weight of a pair.
ADDITIVE, MULTIPLICATIVE, AVERAGE = range(3)


@compiled
def mean_signs(positions, scores, first, second, out):
    """Mean sign of every pair (first[c], second[c]) over all full rankings that agree: 1 = always in that order.

    ``scores`` holds the mean sign of each item that is there against a missing one; 0 for missing items.
    """
    n = positions.shape[0]
    q = first.shape[0]
    for r in range(n):
        for c in range(q):
            i = positions[r, first[c]]
            j = positions[r, second[c]]
            sign = float(int(i < j) - int(i > j))  # compute both, to select without a branch
            against = scores[r, first[c]] - scores[r, second[c]]
            out[r, c] = against if np.isnan(i) | np.isnan(j) else sign


@compiled
def squared_norms(positions, scores):
    """Sum of the squared mean signs of all pairs, row by row."""
    n, k = positions.shape
    result = np.empty(n)
    count = np.empty(k + 2, dtype=np.intp)
    for r in range(n):
        count[:] = 0
        there = 0
        squares = 0.0
        for i in range(k):
            place = positions[r, i]
            if not np.isnan(place):
                count[k + 1 if place == np.inf else int(place)] += 1
                there += 1
                squares += scores[r, i] ** 2
        ordered = there * (there - 1) // 2
        for size in count:
            ordered -= size * (size - 1) // 2
        result[r] = ordered + (k - there) * squares
    return result


@compiled
def _add(tree, place, amount):
    while place < tree.shape[0]:
        tree[place] += amount
        place += place & -place


@compiled
def _sum_up_to(tree, place):
    total = 0.0
    while place > 0:
        total += tree[place]
        place -= place & -place
    return total


@compiled
def cross_concordant(orders, b, u, code):
    """Weight of the concordant pairs of full rankings: a as orders (item ids, best first), b as places 1 to k.

    Items enter Fenwick trees, indexed by their place in b, in the order of a, so that an item finds in the trees those
    that come before it in both. The weight of the pair (i, j) is a sum of products of a term of i and a term of j.
    """
    n, k = orders.shape
    m = b.shape[0]
    result = np.empty((n, m))
    trees = np.empty((4, k + 1))
    for r in range(n):
        for s in range(m):
            trees[:] = 0.0
            total = 0.0
            for t in range(k):
                place = b[s, orders[r, t]]
                x = u[t]
                y = u[place - 1]
                if code == AVERAGE:  # the two are among the first max(t + 1, place), ..., k items of both rankings
                    total += _sum_up_to(trees[0], place) * (k - max(t, place - 1)) / k
                    _add(trees[0], place, 1.0)
                elif code == MULTIPLICATIVE:
                    total += _sum_up_to(trees[0], place) * x * y
                    _add(trees[0], place, x * y)
                else:
                    total += _sum_up_to(trees[0], place) * x * y + _sum_up_to(trees[1], place) * y
                    total += _sum_up_to(trees[2], place) * x + _sum_up_to(trees[3], place)
                    _add(trees[0], place, 1.0)
                    _add(trees[1], place, x)
                    _add(trees[2], place, y)
                    _add(trees[3], place, x * y)
            result[r, s] = total
    return result
