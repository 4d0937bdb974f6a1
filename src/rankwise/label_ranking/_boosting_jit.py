"""Compiled loops of `BoostedRanker`: losses of scores with their derivatives, and histograms of these by feature."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from rankwise._compiled import compiled, compiled_sums

# Scores that lie further than this below the largest one of a row count as this far below, so that worths are positive.
_FARTHEST = 300.0
_POWER_STEPS = 8


@compiled
def _take_worths(scores, places, worth):
    """Exponentials of the scores of a row, relative to its largest one; 0 for missing items."""
    largest = -np.inf
    for i in range(len(scores)):
        if places[i] == places[i]:
            largest = max(largest, scores[i])
    for i in range(len(scores)):
        worth[i] = np.exp(max(scores[i] - largest, -_FARTHEST)) if places[i] == places[i] else 0.0


@compiled
def pairwise_loss(positions, weights, scores):
    """Sum over the pairs that rankings compare of -log sigmoid(s_1 - s_2), 1 before 2; tied ones are half each."""
    n, k = positions.shape
    worth = np.empty(k)
    loss = 0.0
    for r in range(n):
        places = positions[r]
        _take_worths(scores[r], places, worth)
        for i in range(k):
            for j in range(k):
                if places[i] < places[j]:
                    loss += weights[r] * np.log1p(worth[j] / worth[i])
                elif (places[i] == places[j]) & (places[i] < np.inf) & (i != j):
                    loss += weights[r] * 0.5 * np.log1p(worth[j] / worth[i])
    return loss


@compiled
def pairwise_derivatives(positions, weights, scores, gradient, hessian):
    """First and second derivatives of `pairwise_loss` by each score."""
    n, k = positions.shape
    worth = np.empty(k)
    for r in range(n):
        places, first, second = positions[r], gradient[r], hessian[r]
        _take_worths(scores[r], places, worth)
        first[:] = 0.0
        second[:] = 0.0
        w = weights[r]
        for i in range(1, k):
            place, own = places[i], worth[i]
            for j in range(i):
                other = places[j]
                tied = (place == other) & (place < np.inf)
                if (place < other) | (place > other) | tied:
                    share = own / (own + worth[j])
                    slope = w * (share - (1.0 * (place < other) + 0.5 * tied))
                    curve = w * share * (1.0 - share)
                    first[i] += slope
                    first[j] -= slope
                    second[i] += curve
                    second[j] += curve


@compiled
def plackett_luce_derivatives(positions, order, weights, scores, gradient, hessian):
    """Negative log likelihood of rankings as repeated choices, with first and second derivatives by each score.

    ``order`` lists the columns of each row by position, unlisted and then missing items last. Each of several tied
    items is chosen from all items left before the first of them (Breslow).
    """
    n, k = positions.shape
    worth, left = np.empty(k), np.empty(k)
    loss = 0.0
    for r in range(n):
        places, row, w = positions[r], order[r], weights[r]
        _take_worths(scores[r], places, worth)
        listed, total = 0, 0.0
        for t in range(k - 1, -1, -1):
            total += worth[row[t]]  # missing items are worth nothing
            left[t] = total
            listed += places[row[t]] < np.inf
        chosen, squares = 0.0, 0.0  # sums of 1 / left and 1 / left^2 over the choices so far
        start = 0
        while start < k:
            stop = start + 1
            if start < listed:
                while stop < listed and places[row[stop]] == places[row[start]]:
                    stop += 1
                chosen += (stop - start) / left[start]
                squares += (stop - start) / left[start] ** 2
            for t in range(start, stop):
                i = row[t]
                gradient[r, i] = w * (worth[i] * chosen - (start < listed))
                hessian[r, i] = w * max(worth[i] * (chosen - worth[i] * squares), 0.0)
                if start < listed:
                    loss -= w * np.log(worth[i] / left[start])
            start = stop
    return loss


@compiled
def add_up(rows, vectors, total):
    """Add the vectors of some rows to a total."""
    for row in rows:
        for c in range(len(total)):
            total[c] += vectors[row, c]


@compiled
def add_histograms(codes, chosen, rows, vectors, histograms):
    """Sums of the vectors of some rows by the code of each chosen feature: (n_features, n_codes + 1, width)."""
    width = vectors.shape[1]
    for f in chosen:
        column, sums = codes[f], histograms[f]
        sums[:] = 0.0
        for row in rows:
            into, vector = sums[column[row]], vectors[row]
            for c in range(width):
                into[c] += vector[c]


@compiled
def subtract(chosen, n_codes, histograms, part):
    """Take the sums of a part of the rows from those of all, for the chosen features."""
    for f in chosen:
        for code in range(n_codes[f] + 1):
            for c in range(part.shape[2]):
                histograms[f, code, c] -= part[f, code, c]


@compiled_sums
def _score(left, total, k, l2):
    """Sum over both sides and all items of G^2 / (H + l2)."""
    on_left, on_right = 0.0, 0.0
    for c in range(k):
        on_left += left[c] ** 2
        on_right += (total[c] - left[c]) ** 2
    return on_left / (left[k] + l2) + on_right / (total[k] - left[k] + l2)


@compiled
def _goes_along(left, total, k, l2, signs):
    """Whether the step of each item is larger on the right if its sign is 1, and on the left if it is -1."""
    for i in range(len(signs)):  # none without constraints
        on_left, on_right = left[i] / (left[k] + l2), (total[i] - left[i]) / (total[k] - left[k] + l2)
        if signs[i] * (on_left - on_right) < 0.0:
            return False
    return True


@compiled
def best_cuts(chosen, n_codes, is_categorical, signs, histograms, total, l2, least, found, orders):
    """The best cut of each chosen feature, of sums of k gradients, one second derivative and one count.

    Cuts against whose direction the step of an item with a sign would go do not count.
    ``found[f]`` is set to its score, the last place on the left in the order of codes, and whether missing values go
    left; ``orders[f]`` to this order: that of the values or, for categories, along one direction.
    """
    k, count = len(total) - 2, len(total) - 1
    left = np.empty(len(total))
    for f in chosen:
        sums, last, order = histograms[f], n_codes[f], orders[f]
        for code in range(last):
            order[code] = code
        if is_categorical[f]:
            _order_categories(sums, last, k, l2, order)
        found[f, 0] = -np.inf
        has_missing = sums[last, count] > 0
        for side in range(2 if has_missing else 1):
            if side:
                left[:] = sums[last]
            else:
                left[:] = 0.0
            for place in range(last):
                own = sums[order[place]]
                if own[count] == 0.0:
                    continue
                for c in range(len(left)):
                    left[c] += own[c]
                if left[count] < least:
                    continue
                if total[count] - left[count] < least:
                    break
                score = _score(left, total, k, l2)
                if score > found[f, 0] and _goes_along(left, total, k, l2, signs[f]):
                    found[f, 0], found[f, 1], found[f, 2] = score, place, side


@compiled
def _order_categories(sums, last, k, l2, order):
    """Sort categories along the main direction of the steps that each would take alone; absent ones in the middle."""
    count = k + 1
    steps = np.zeros((last, k))
    mean = np.zeros(k)
    rows = 0.0
    for code in range(last):
        if sums[code, count] > 0:
            rows += sums[code, count]
            for c in range(k):
                steps[code, c] = -sums[code, c] / (sums[code, k] + l2)
                mean[c] += sums[code, count] * steps[code, c]
    direction = np.zeros(k)
    widest = 0.0
    for code in range(last):
        if sums[code, count] > 0:
            size = 0.0
            for c in range(k):
                steps[code, c] -= mean[c] / rows
                size += sums[code, count] * steps[code, c] ** 2
            if size > widest:
                widest = size
                direction[:] = steps[code]
    along = np.zeros(last)
    for _ in range(_POWER_STEPS):
        length = np.sqrt(np.sum(direction**2))
        if length == 0.0:
            break
        for code in range(last):
            along[code] = np.sum(steps[code] * direction) / length
        direction[:] = 0.0
        for code in range(last):
            for c in range(k):
                direction[c] += sums[code, count] * along[code] * steps[code, c]
    order[:last] = np.argsort(along, kind="mergesort")
