"""Compiled likelihood of best-worst choices, for `BestWorst`.

Answers come flat: entries ``row_start[r]`` to ``row_start[r + 1]`` of ``order`` are the items that were shown, the best
one first and the worst one last. ``law`` is 0 for maxdiff choices and 1 for sequential ones.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from rankwise._compiled import compiled


@compiled
def log_probabilities(row_start, scores, law):
    """Log probability of each answer, given the scores of the entries."""
    result = np.zeros(len(row_start) - 1)
    for r in range(len(result)):
        own = scores[row_start[r] : row_start[r + 1]]
        if len(own) > 1:
            result[r] = _log_probability(own, law)
    return result


@compiled
def moments(order, row_start, weights, scores, features, law, gradient, information):
    """Log likelihood; its gradient and information are added to, the latter unless it is empty.

    They are in the log worths of items, where ``features`` has no columns, or else in the coefficients of features,
    which has one row for each entry.
    """
    d = features.shape[1]
    value = 0.0
    wanted = len(information) > 0
    for r in range(len(weights)):
        start, end = row_start[r], row_start[r + 1]
        if end - start < 2:
            continue
        own = scores[start:end]
        value += weights[r] * _log_probability(own, law)
        slope, curvature = _derivatives(own, law)
        for i in range(end - start):
            if d == 0:
                gradient[order[start + i]] += weights[r] * slope[i]
            for a in range(d):
                gradient[a] += weights[r] * slope[i] * features[start + i, a]
        if not wanted:
            continue
        for i in range(end - start):
            for j in range(end - start):
                weight = weights[r] * curvature[i, j]
                if d == 0:
                    information[order[start + i], order[start + j]] += weight
                for a in range(d):
                    for b in range(d):
                        information[a, b] += weight * features[start + i, a] * features[start + j, b]
    return value


@compiled
def row_scores(order, row_start, scores, features, law, n_parameters):
    """Gradient of the log probability of each answer, see `moments`."""
    n = len(row_start) - 1
    result = np.zeros((n, n_parameters))
    one = np.ones(1)
    without = np.zeros((0, 0))
    for r in range(n):
        moments(order, row_start[r : r + 2], one, scores, features, law, result[r], without)
    return result


@compiled
def _log_probability(scores, law):
    best, worst = scores[0], scores[-1]
    if law == 0:
        high, low = np.max(scores), np.min(scores)
        up, down = np.exp(scores - high), np.exp(low - scores)
        total = np.sum(up) * np.sum(down) - len(scores) * np.exp(low - high)
        return (best - high) + (low - worst) - np.log(total)
    return best - _log_sum(scores) - worst - _log_sum(-scores[1:])


@compiled
def _log_sum(scores):
    high = np.max(scores)
    return high + np.log(np.sum(np.exp(scores - high)))


@compiled
def _derivatives(scores, law):
    """Gradient and information of one answer, by the scores of the items shown."""
    m = len(scores)
    slope = np.zeros(m)
    slope[0] += 1.0
    slope[-1] -= 1.0
    curvature = np.zeros((m, m))
    if law == 0:
        high, low = np.max(scores), np.min(scores)
        up, down = np.exp(scores - high), np.exp(low - scores)
        total = np.sum(up) * np.sum(down) - m * np.exp(low - high)
        mean = np.zeros(m)
        for i in range(m):
            for j in range(m):
                if i != j:
                    share = up[i] * down[j] / total  # the probability that i is best and j worst
                    mean[i] += share
                    mean[j] -= share
                    curvature[i, i] += share
                    curvature[j, j] += share
                    curvature[i, j] -= share
                    curvature[j, i] -= share
        for i in range(m):
            slope[i] -= mean[i]
            for j in range(m):
                curvature[i, j] -= mean[i] * mean[j]
        return slope, curvature
    best = np.exp(scores - _log_sum(scores))
    worst = np.zeros(m)
    worst[1:] = np.exp(-scores[1:] - _log_sum(-scores[1:]))
    for i in range(m):
        slope[i] -= best[i] - worst[i]
        curvature[i, i] += best[i] + worst[i]
        for j in range(m):
            curvature[i, j] -= best[i] * best[j] + worst[i] * worst[j]
    return slope, curvature
