"""Kernels of the losses of linear rankers: pairs listed, and pairs summed up without listing them.

Rows of a query lie side by side: query ``q`` owns rows ``bounds[q]`` to ``bounds[q + 1]``.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from rankwise._compiled import compiled


@compiled
def count_pairs(level, bounds):
    """Number of pairs of different levels in each query."""
    counts = np.zeros(len(bounds) - 1, dtype=np.intp)
    for q in range(len(counts)):
        ordered = np.sort(level[bounds[q] : bounds[q + 1]])
        n, same = len(ordered), 0
        begin = 0
        for i in range(1, n + 1):
            if i == n or ordered[i] != ordered[begin]:
                same += (i - begin) * (i - begin - 1) // 2
                begin = i
        counts[q] = n * (n - 1) // 2 - same
    return counts


@compiled
def list_pairs(level, bounds, n_pairs):
    """All pairs of rows of different levels within queries: the higher row, and the other."""
    winners, losers = np.empty(n_pairs, dtype=np.intp), np.empty(n_pairs, dtype=np.intp)
    at = 0
    for q in range(len(bounds) - 1):
        for i in range(bounds[q], bounds[q + 1]):
            for j in range(i + 1, bounds[q + 1]):
                if level[i] != level[j]:
                    winners[at], losers[at] = (i, j) if level[i] > level[j] else (j, i)
                    at += 1
    return winners, losers


@compiled
def margin_loss(score, level, root, bounds, factor, is_hinge, gradient):
    """Weighted sum over pairs of the squares of 1 - (better score - worse score), in O(n log n); writes its gradient.

    With ``is_hinge`` only pairs with a margin below 1 count. ``level`` counts the grades of each query from 0, ``root``
    are factors of the rows and ``factor`` of the queries.
    """
    total = 0.0
    for q in range(len(bounds) - 1):
        start, stop = bounds[q], bounds[q + 1]
        n_levels = level[start:stop].max() + 1
        if n_levels < 2:
            gradient[start:stop] = 0.0
            continue
        # Only differences count; near 0, squares round less.
        centered = score[start:stop] - np.mean(score[start:stop])
        order = np.argsort(-centered, kind="mergesort")
        negative_gradient = np.empty(stop - start)
        sums = np.empty((n_levels + 1, 3))
        value = _add_worse(centered, level[start:stop], root[start:stop], order, is_hinge, sums, negative_gradient)
        for i in range(stop - start):
            gradient[start + i] = -factor[q] * negative_gradient[i]
        # Upside down, what was worse is better.
        _add_worse(
            -centered,
            n_levels - 1 - level[start:stop],
            root[start:stop],
            order[::-1].copy(),
            is_hinge,
            sums,
            negative_gradient,
        )
        for i in range(stop - start):
            gradient[start + i] += factor[q] * negative_gradient[i]
        total += factor[q] * value
    return total


@compiled
def _add_worse(score, level, root, order, is_hinge, sums, negative_gradient):
    """Sum over all rows and those below their level; writes minus its gradient, by row.

    Rows come from the highest score to the lowest, and with them the rows that may come within a margin of 1. A
    Fenwick tree over levels holds the sums of root, root x score and root x score^2 of these, so that the sum over
    all levels below takes logarithmic time.
    """
    sums[:] = 0.0
    n_levels = len(sums) - 1
    total = 0.0
    entered = 0
    for i in order:
        while entered < len(order) and (not is_hinge or score[order[entered]] > score[i] - 1):
            j = order[entered]
            at = level[j] + 1
            while at <= n_levels:
                sums[at, 0] += root[j]
                sums[at, 1] += root[j] * score[j]
                sums[at, 2] += root[j] * score[j] * score[j]
                at += at & -at
            entered += 1
        zeroth, first, second = 0.0, 0.0, 0.0
        at = level[i]
        while at > 0:
            zeroth += sums[at, 0]
            first += sums[at, 1]
            second += sums[at, 2]
            at -= at & -at
        short = 1 - score[i]
        total += root[i] * (short * (short * zeroth + 2 * first) + second)
        negative_gradient[i] = 2 * root[i] * (short * zeroth + first)
    return total
