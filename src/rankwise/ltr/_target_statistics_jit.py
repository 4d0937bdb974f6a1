"""Compiled function of `rankwise.ltr.target_statistics`."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from rankwise._compiled import compiled


@compiled
def ordered_means(codes, n_categories, target, weight, bounds, order, prior):
    """Means of the target by category over the groups of rows before that of a row; codes below 0 are missing.

    Returns the means of the rows, and those by category over all rows.
    """
    sums, weights = np.zeros(n_categories), np.full(n_categories, prior)
    means = np.full(len(codes), np.nan)
    for group in order:
        for row in range(bounds[group], bounds[group + 1]):
            if codes[row] >= 0:
                means[row] = sums[codes[row]] / weights[codes[row]]
        for row in range(bounds[group], bounds[group + 1]):
            if codes[row] >= 0:
                sums[codes[row]] += weight[row] * target[row]
                weights[codes[row]] += weight[row]
    return means, sums / weights
