"""Compiled loops of the mixtures: rankings against the parameters of several components at once.

``counts`` (n, g) says how much of each ranking belongs to each component; entries of 0 are skipped, so that a step
takes about as long as for one component once rankings belong to one each. Used by `MallowsMixture` and
`PlackettLuceMixture`.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from rankwise._compiled import compiled

# Rankings and the rows that stand for them


@compiled
def log_sums(values, start):
    """Logarithm of the sum of exp(values) over the rows of each ranking: (n_rankings, g)."""
    n = len(start) - 1
    g = values.shape[1]
    result = np.empty((n, g))
    for r in range(n):
        for c in range(g):
            largest = -np.inf
            for row in range(start[r], start[r + 1]):
                largest = max(largest, values[row, c])
            if largest == -np.inf:
                result[r, c] = -np.inf
                continue
            total = 0.0
            for row in range(start[r], start[r + 1]):
                total += np.exp(values[row, c] - largest)
            result[r, c] = largest + np.log(total)
    return result


# Kendall: pairs


@compiled
def pairs_against(positions, orders):
    """Pairs of items that each ranking orders against each center, given as items best first: (n, g)."""
    n, k = positions.shape
    result = np.empty((n, len(orders)))
    row = np.empty(k)
    for r in range(n):
        for c in range(len(orders)):
            for place in range(k):
                row[place] = positions[r, orders[c, place]]
            count = 0
            for b in range(1, k):
                below = row[b]
                for a in range(b):
                    count += row[a] > below
            result[r, c] = count
    return result


@compiled
def pair_margins(positions, counts):
    """Weight of the rankings with i before j, less that of j before i, for each component: (g, k, k)."""
    n, k = positions.shape
    g = counts.shape[1]
    margins = np.zeros((g, k, k))
    signs = np.zeros((k, k))
    for r in range(n):
        for i in range(k):
            for j in range(i):
                signs[i, j] = (positions[r, i] < positions[r, j]) * 1.0 - (positions[r, i] > positions[r, j]) * 1.0
        for c in range(g):
            weight = counts[r, c]
            if weight != 0.0:
                for i in range(k):
                    for j in range(i):
                        margins[c, i, j] += weight * signs[i, j]
    for c in range(g):
        for i in range(k):
            for j in range(i):
                margins[c, j, i] = -margins[c, i, j]
    return margins


@compiled
def stage_moments(theta, n_stages):
    """Mean and variance of the summed displacements of ``n_stages[s - 1]`` stages of s items; see `_mallows_stages`."""
    mean = 0.0
    variance = 0.0
    for index in range(1, len(n_stages)):
        s = index + 1.0
        x = theta * s
        if x < 0.3:  # the closed forms subtract nearly equal numbers
            t, a, b, c, d = theta, s**2 - 1, s**4 - 1, s**6 - 1, s**8 - 1
            one = (s - 1) / 2 - t * a / 12 + t**3 * b / 720 - t**5 * c / 30240 + t**7 * d / 1209600
            two = a / 12 - t**2 * b / 240 + t**4 * c / 6048 - t**6 * d / 172800 + t**8 * (s**10 - 1) / 5322240
        else:
            p, q = np.exp(-theta), np.exp(-x)
            one = p / (1.0 - p) - s * q / (1.0 - q)
            two = p / (1.0 - p) ** 2 - s * s * q / (1.0 - q) ** 2
        mean += n_stages[index] * one
        variance += n_stages[index] * two
    return mean, variance


@compiled
def pair_products(positions, margins):
    """Inner product of the signs of the pairs of each ranking with several tables of margins: (n, g)."""
    n, k = positions.shape
    g = len(margins)
    result = np.zeros((n, g))
    signs = np.zeros((k, k))
    for r in range(n):
        for i in range(k):
            for j in range(i):
                signs[i, j] = (positions[r, i] < positions[r, j]) * 1.0 - (positions[r, i] > positions[r, j]) * 1.0
        for c in range(g):
            total = 0.0
            for i in range(k):
                for j in range(i):
                    total += signs[i, j] * margins[c, i, j]
            result[r, c] = total
    return result


# Footrule, Spearman and Hamming: a cost for each item and place


@compiled
def place_counts(positions, counts):
    """Weight of the full rankings that have an item (row) at a place (column), for each component: (g, k, k)."""
    n, k = positions.shape
    g = counts.shape[1]
    result = np.zeros((g, k, k))
    for r in range(n):
        for c in range(g):
            weight = counts[r, c]
            if weight != 0.0:
                for i in range(k):
                    result[c, i, int(positions[r, i]) - 1] += weight
    return result


@compiled
def placement_costs(positions, costs):
    """Sum over the items of ``costs[c, item, place]`` for each full ranking and component: (n, g)."""
    n, k = positions.shape
    g = len(costs)
    result = np.zeros((n, g))
    for r in range(n):
        for i in range(k):
            place = int(positions[r, i]) - 1
            for c in range(g):
                result[r, c] += costs[c, i, place]
    return result


# Plackett-Luce: choices without ties; items of a row best first, unlisted ones after the listed, missing ones last


@compiled
def choice_log_probabilities(order, n_present, n_stages, log_worth):
    """Log probability of each ranking in each component: (n, g)."""
    n = len(order)
    g = len(log_worth)
    result = np.zeros((n, g))
    for c in range(g):
        largest = np.max(log_worth[c])
        shifted = log_worth[c] - largest
        worth = np.exp(shifted)
        for r in range(n):
            stages = n_stages[r]
            total = 0.0
            for t in range(n_present[r] - 1, stages - 1, -1):
                total += worth[order[r, t]]
            value = 0.0
            product = 1.0
            for t in range(stages - 1, -1, -1):
                item = order[r, t]
                total += worth[item]
                value += shifted[item]
                # One logarithm of a product takes the place of many, as long as the product is in range.
                if (product < 1e-150) | (product > 1e150) | (total < 1e-150):
                    value -= np.log(product)
                    product = 1.0
                product *= total
            result[r, c] = value - np.log(product)
    return result


@compiled
def choice_moments(order, n_present, n_stages, counts, log_worth, with_information):
    """Gradient (g, k) of the log likelihood of each component, and its information (g, k, k).

    With S_s the summed worth left at stage s and q_i the sum of 1 / S_s^2 over the stages that find item i still there,
    the information of i and j is -w_i w_j min(q_i, q_j), since the item that goes first has the smaller sum.
    """
    n, k = order.shape
    g = len(log_worth)
    gradient = np.zeros((g, k))
    information = np.zeros((g, k, k)) if with_information else np.zeros((g, 0, 0))
    left = np.empty(k)
    q = np.zeros(k)
    worth = np.empty((g, k))
    for c in range(g):
        worth[c] = np.exp(log_worth[c] - np.max(log_worth[c]))
    for r in range(n):
        stages = n_stages[r]
        if stages == 0:
            continue
        present = n_present[r]
        for c in range(g):
            weight = counts[r, c]
            if weight == 0.0:
                continue
            total = 0.0
            for t in range(present - 1, -1, -1):
                total += worth[c, order[r, t]]
                left[t] = total
            inverses = 0.0
            squares = 0.0
            if with_information:
                q[:] = 0.0
            for t in range(present):
                item = order[r, t]
                if t < stages:
                    inverse = 1.0 / left[t]
                    inverses += weight * inverse
                    squares += weight * inverse * inverse
                    gradient[c, item] += weight
                gradient[c, item] -= worth[c, item] * inverses
                q[item] = squares
            if with_information:
                _add_smaller(q, information[c])
    if with_information:
        for c in range(g):
            for i in range(k):
                for j in range(i):
                    information[c, i, j] *= -worth[c, i] * worth[c, j]
                    information[c, j, i] = information[c, i, j]
                information[c, i, i] = 0.0
            # Rows sum to 0, because a common shift of all log worths changes nothing.
            for i in range(k):
                total = 0.0
                for j in range(k):
                    total -= information[c, i, j]
                information[c, i, i] = total
    return gradient, information


@compiled
def _add_smaller(q, shared):
    for i in range(len(q)):
        row, own = shared[i], q[i]
        for j in range(i + 1):
            row[j] += own if own < q[j] else q[j]


@compiled
def choice_scores(order, n_present, n_stages, log_worth):
    """Gradient of the log probability of each ranking in one component: (n, k)."""
    n, k = order.shape
    scores = np.zeros((n, k))
    worth = np.exp(log_worth - np.max(log_worth))
    left = np.empty(k)
    for r in range(n):
        total = 0.0
        for t in range(n_present[r] - 1, -1, -1):
            total += worth[order[r, t]]
            left[t] = total
        inverses = 0.0
        for t in range(n_present[r]):
            item = order[r, t]
            if t < n_stages[r]:
                inverses += 1.0 / left[t]
                scores[r, item] += 1.0
            scores[r, item] -= worth[item] * inverses
    return scores
