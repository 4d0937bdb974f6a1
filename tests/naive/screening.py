"""Concordant divergence, ranking gain and splits, by their definitions."""

from __future__ import annotations

from itertools import combinations, pairwise, permutations

import numpy as np


def concordant_divergence(theta, y):
    """Equation 18: a sum over all ordered pairs."""
    n, total = len(y), 0.0
    for i, j in permutations(range(n), 2):
        wrong = (theta[i] >= theta[j] and y[i] < y[j]) + (theta[i] < theta[j] and y[i] >= y[j])
        total += 2 * abs(y[i] - y[j]) / (n * (n - 1)) * wrong
    return total


def mean_difference(y):
    n = len(y)
    return sum(abs(a - b) for a, b in combinations(y, 2)) * 2 / (n * (n - 1))


def ranking_gain(mean, score):
    """Equation 15, averaged over all orders of tied scores."""
    n = len(mean)
    orders = [order for order in permutations(range(n)) if all(score[a] >= score[b] for a, b in pairwise(order))]
    gains = [sum(mean[order[i]] - mean[order[j]] for i, j in combinations(range(n), 2)) for order in orders]
    return 2 / (n * (n - 1)) * float(np.mean(gains))


def sum_of_squares(values):
    return float(((values - np.mean(values)) ** 2).sum()) if len(values) else 0.0


def sum_of_absolute_deviations(values):
    """From the best center, which is one of the values."""
    return min((float(sum(abs(values - center))) for center in values), default=0.0)


def partition_loss(y, left, criterion="squared_error"):
    loss = sum_of_squares if criterion == "squared_error" else sum_of_absolute_deviations
    return loss(y[left]) + loss(y[~left])


def best_partition_loss(y, size=None, criterion="squared_error"):
    n = len(y)
    losses = []
    for count in range(1, n) if size is None else [size]:
        for chosen in combinations(range(n), count):
            left = np.zeros(n, dtype=bool)
            left[list(chosen)] = True
            losses.append(partition_loss(y, left, criterion))
    return min(losses)


def same_order(a, b):
    """Whether two features order all pairs in the same way, or all in reverse."""
    signs = [np.sign(np.subtract.outer(v, v)) for v in (a, b)]
    return bool((signs[0] == signs[1]).all() or (signs[0] == -signs[1]).all())


def best_subset_rmse(X, y, size):
    best = np.inf
    for chosen in combinations(range(X.shape[1]), size):
        design = np.column_stack([np.ones(len(y)), X[:, chosen]])
        residual = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
        best = min(best, float(np.sqrt((residual**2).mean())))
    return best


def refined_ends(f1, f2):
    """Turns of two tables (x, values) of one range: knots where the sign of the slope changes."""
    ends = {f1[0][0], f1[0][-1]}
    for knots, values in (f1, f2):
        slopes = np.sign(np.diff(values))
        ends |= {knots[i + 1] for i in range(len(slopes) - 1) if slopes[i] != slopes[i + 1]}
    return sorted(ends)


def preference(f1, f2, C1, C2, sample):
    """Equation 14 for two tables; None if both take their values on one interval."""
    total = 0.0
    ends = refined_ends(f1, f2)
    for a, b in pairwise(ends):
        inside = np.mean([a <= x < b or x == b == ends[-1] for x in sample])
        has = []
        for (knots, values), C in ((f1, C1), (f2, C2)):
            low, high = sorted(np.interp([a, b], knots, values))
            has.append(int(low < C < high))
        if all(has):
            return None
        total += inside * (has[0] - has[1])
    return total
