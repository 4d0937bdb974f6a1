"""Compiled loops over rankings whose items have attributes of their own in each ranking, for `PlackettLuce`.

Choices are flat, as in `_likelihood_jit`; attributes have one row for each entry of ``order``.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from rankwise._compiled import compiled


@compiled
def center_rows(row_start, weights, features):
    """Subtract from each row of features the mean over its ranking; return the largest mean and sums of squares."""
    d = features.shape[1]
    largest = np.zeros(d)
    squares = np.zeros(d)
    mean = np.empty(d)
    for r in range(len(weights)):
        mean[:] = 0.0
        size = row_start[r + 1] - row_start[r]
        for e in range(row_start[r], row_start[r + 1]):
            for a in range(d):
                mean[a] += features[e, a] / size
        for e in range(row_start[r], row_start[r + 1]):
            for a in range(d):
                features[e, a] -= mean[a]
                squares[a] += weights[r] * features[e, a] * features[e, a]
        for a in range(d):
            largest[a] = max(largest[a], abs(mean[a]))
    return largest, squares


@compiled
def strict_moments_of_rows(order_start, stage_start, weights, scores, features, first, last, spread, means, gradient):
    """Log likelihood without ties of rankings whose items have scores of their own, and its gradient, for some rows.

    Entries of ``scores`` and ``features`` are in the order of the choices: those of row r start at ``order_start[r]``.
    With the score z'b of an item of features z, the information of b is the sum of zz' over the rows that are written
    to ``spread`` less that over the rows of ``means``; both have one row per entry, and none are written if empty. The
    gradient is added to.
    """
    d = features.shape[1]
    value = 0.0
    mean = np.empty(d)
    begin = order_start[first]
    wanted = len(spread) > 0
    longest = 0
    for r in range(first, last):
        longest = max(longest, order_start[r + 1] - order_start[r])
    worth = np.empty(longest)
    inverse = np.empty(longest)
    for r in range(first, last):
        start, end = order_start[r], order_start[r + 1]
        stages = stage_start[r + 1] - stage_start[r] if weights[r] > 0.0 else 0
        largest = np.max(scores[start:end]) if stages > 0 else 0.0
        left = 0.0
        mean[:] = 0.0
        # From the last choice up: what is left grows by one item at each stage.
        for t in range(end - start - 1, -1, -1):
            e = start + t
            worth[t] = np.exp(scores[e] - largest) if stages > 0 else 0.0
            left += worth[t]
            for a in range(d):
                mean[a] += worth[t] * features[e, a]
            inverse[t] = 0.0
            if t < stages:
                inverse[t] = 1.0 / left
                value += weights[r] * (scores[e] - largest - np.log(left))
                for a in range(d):
                    gradient[a] += weights[r] * (features[e, a] - mean[a] * inverse[t])
            if wanted:
                factor = np.sqrt(weights[r]) * inverse[t]
                for a in range(d):
                    means[e - begin, a] = factor * mean[a]
        if wanted:
            inverses = 0.0
            for t in range(end - start):
                inverses += inverse[t]
                factor = np.sqrt(weights[r] * worth[t] * inverses)
                for a in range(d):
                    spread[start + t - begin, a] = factor * features[start + t, a]
    return value
