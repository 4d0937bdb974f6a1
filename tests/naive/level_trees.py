"""Level trees from their definition: every cut is tried on every level, and every order of features explains."""

from __future__ import annotations

from itertools import permutations

import numpy as np


def goes_right(column, threshold, missing_left):
    return np.where(np.isnan(column), not missing_left, column > threshold)


def score(gradient, hessian, leaf, l2):
    """Sum over leaves of G^2 / (H + l2)."""
    total = 0.0
    for number in np.unique(leaf):
        rows = leaf == number
        total += gradient[rows].sum() ** 2 / (hessian[rows].sum() + l2)
    return total


def cuts_of(column):
    """Thresholds between neighboring values, each with missing values on either side; and missing against the rest."""
    values = np.unique(column[~np.isnan(column)])
    middles = (values[1:] + values[:-1]) / 2
    if not np.isnan(column).any():
        return [(middle, True) for middle in middles]
    return [(middle, side) for middle in middles for side in (True, False)] + [(np.inf, False)]


def best_score(X, gradient, hessian, leaf, bit, l2):
    """Score of the best cut of all leaves at once; -inf if there is none."""
    best = -np.inf
    for column in X.T:
        for threshold, missing_left in cuts_of(column):
            best = max(best, score(gradient, hessian, leaf + bit * goes_right(column, threshold, missing_left), l2))
    return best


def expectation(x, cuts, values, counts, known, level=0, prefix=0):
    """Value of a row if only some of its features are known: both sides of other cuts, by their training rows."""
    if level == len(cuts):
        return values[prefix]
    feature, threshold, missing_left = cuts[level]
    sides = [prefix, prefix + 2**level]
    if feature in known:
        side = int(goes_right(x[feature : feature + 1], threshold, missing_left)[0])
        return expectation(x, cuts, values, counts, known, level + 1, sides[side])
    leaves = np.arange(len(counts))
    weights = [counts[leaves % 2 ** (level + 1) == side].sum() for side in sides]
    parts = [expectation(x, cuts, values, counts, known, level + 1, side) for side in sides]
    return np.average(parts, weights=weights) if sum(weights) else 0.0


def shapley(x, cuts, values, counts):
    """Mean over all orders of the features of what each adds to those before it."""
    found = np.zeros(len(x))
    orders = list(permutations(range(len(x))))
    for order in orders:
        for place, feature in enumerate(order):
            with_it = expectation(x, cuts, values, counts, set(order[: place + 1]))
            found[feature] += with_it - expectation(x, cuts, values, counts, set(order[:place]))
    return found / len(orders)


def leaf_of(x, feature, threshold, missing_left):
    """Number of the leaf of a row: bit d is set where it goes right at level d; -1 asks nothing."""
    leaf = 0
    for level, (number, at, side) in enumerate(zip(feature, threshold, missing_left, strict=True)):
        if number >= 0 and goes_right(x[number : number + 1], at, side)[0]:
            leaf += 2**level
    return leaf


def predict(X, trees):
    """Sum over trees of the value of the leaf of each row."""
    score = np.zeros(len(X))
    for feature, threshold, missing_left, value in trees:
        score += [value[leaf_of(x, feature, threshold, missing_left)] for x in X]
    return score
