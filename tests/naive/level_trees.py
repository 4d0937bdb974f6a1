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


def noisy_best(X, gradient, hessian, leaf, bit, l2, noise):
    """The feature whose noisy root of the best score is highest among those that add something, and that score."""
    chance = np.sqrt((gradient**2).sum() / hessian.sum())
    before, found = score(gradient, hessian, leaf, l2), []
    for feature in range(X.shape[1]):
        best = best_score(X[:, [feature]], gradient, hessian, leaf, bit, l2)
        if best > before * (1 + 1e-9):
            found.append((np.sqrt(best) + chance * noise[feature], feature, best))
    return max(found)[1:] if found else None


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


def divided(X, gradient, hessian, leaf, bounds, bit, cut, signs, l2):
    """Leaves and bounds of their values after a cut, by leaf number.

    Where the feature has a sign, the Newton steps of the two sides must be in its order; if they are not, both take the
    step of all rows. A side without rows takes the step of the other. From then on, the middle between the two bounds
    everything on either side of it.
    """
    feature, threshold, missing_left = cut
    after = leaf + bit * goes_right(X[:, feature], threshold, missing_left)
    found = {}
    for number, (lower, upper) in bounds.items():
        sides = [number, number + bit]
        found[number] = found[number + bit] = (lower, upper)
        if signs[feature]:
            left, right = (newton_step(gradient, hessian, after == side, l2, lower, upper) for side in sides)
            is_empty = [not (after == side).any() for side in sides]
            left, right = (right if is_empty[0] else left), (left if is_empty[1] else right)
            if signs[feature] * (right - left) < 0:
                left = right = newton_step(gradient, hessian, leaf == number, 2 * l2, lower, upper)
            small, large = sides if signs[feature] > 0 else sides[::-1]
            found[small], found[large] = (lower, (left + right) / 2), ((left + right) / 2, upper)
    return after, found


def newton_step(gradient, hessian, rows, l2, lower, upper):
    return min(max(-gradient[rows].sum() / (hessian[rows].sum() + l2), lower), upper)


def bounded_score(gradient, hessian, leaf, bounds, l2):
    """What the values allowed bring: the sum over leaves of -(2 G v + (H + l2) v^2)."""
    total = 0.0
    for number, (lower, upper) in bounds.items():
        rows = leaf == number
        if not rows.any():
            continue
        value = newton_step(gradient, hessian, rows, l2, lower, upper)
        total -= 2 * gradient[rows].sum() * value + (hessian[rows].sum() + l2) * value**2
    return total


def best_bounded_score(X, gradient, hessian, leaf, bounds, bit, signs, l2):
    """Score of the best cut of all leaves at once where values must follow signs."""
    cuts = [(feature, *cut) for feature, column in enumerate(X.T) for cut in cuts_of(column)]
    return max(
        bounded_score(gradient, hessian, *divided(X, gradient, hessian, leaf, bounds, bit, cut, signs, l2), l2)
        for cut in cuts
    )


def ordered_means(codes, target, weight, query, order, prior):
    """For each row, the mean target of its category in queries before its own, shrunk to 0; NaN is missing."""
    place = {name: number for number, name in enumerate(order)}
    means = np.full(len(codes), np.nan)
    for row in np.flatnonzero(~np.isnan(codes)):
        own = place[query[row]]
        before = [at for at in range(len(codes)) if codes[at] == codes[row] and place[query[at]] < own]
        means[row] = (weight[before] @ target[before]) / (prior + weight[before].sum())
    return means
