"""Kernels of listwise losses: orders, smooth NDCG, and the shift of a query that fits best.

Rows of a query lie side by side: query ``q`` owns rows ``bounds[q]`` to ``bounds[q + 1]``.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from rankwise._compiled import compiled

# Newton steps of a shift, of which a handful is enough, and the difference of sums that counts as none.
_MOST_STEPS, _LEAST_DIFFERENCE = 60, 1e-12


@compiled
def order_likelihood(score, bounds, factor, gradient, hessian):
    """Minus the weighted log likelihood of the rows' own order in each query, added up; writes both derivatives.

    Place k of a query adds factor[k] * (log sum of exp(score) over rows k and below - score[k]).
    """
    total = 0.0
    for q in range(len(bounds) - 1):
        start, stop = bounds[q], bounds[q + 1]
        # From below: the logarithm of the sum of powers so far.
        rest = -np.inf
        for k in range(stop - 1, start - 1, -1):
            high, low = max(rest, score[k]), min(rest, score[k])
            rest = high + np.log1p(np.exp(low - high))
            total += factor[k] * (rest - score[k])
            gradient[k] = rest  # kept for the way down
        # From above: a row gets its share of the sum at every place down to its own, and the second derivative is
        # factor * share * (1 - share), added up.
        log_sum, log_squares = -np.inf, -np.inf
        for k in range(start, stop):
            if factor[k] > 0:
                term = np.log(factor[k]) - gradient[k]
                high, low = max(log_sum, term), min(log_sum, term)
                log_sum = high + np.log1p(np.exp(low - high))
                term -= gradient[k]
                high, low = max(log_squares, term), min(log_squares, term)
                log_squares = high + np.log1p(np.exp(low - high))
            share = np.exp(score[k] + log_sum)
            gradient[k] = share - factor[k]
            hessian[k] = max(share - np.exp(2 * score[k] + log_squares), 0.0)
    return total


@compiled
def approximate_ndcg(score, gain, bounds, scale, temperature, gradient, hessian):
    """Weighted sum over queries of 1 - NDCG with smooth places; writes its gradient, and a bound on its curvature.

    The place of row i is 1 + the sum over all others of sigma((s_j - s_i) / temperature). The loss is a sum of
    sigmoids of gaps once the slopes of the discounts are held fixed, as LambdaRank holds its weights; each of them
    curves by no more than its slope over the temperature, which is what is added up. ``scale`` is weight over ideal
    DCG, 0 for queries without.
    """
    total = 0.0
    for q in range(len(bounds) - 1):
        start, stop = bounds[q], bounds[q + 1]
        for i in range(start, stop):
            gradient[i], hessian[i] = 0.0, 0.0
        if scale[q] == 0.0:
            continue
        slope = np.empty(stop - start)
        for i in range(start, stop):
            place = 1.0
            for j in range(start, stop):
                if j != i:
                    place += 1 / (1 + np.exp((score[i] - score[j]) / temperature))
            total -= scale[q] * gain[i] / np.log2(place + 1)
            # minus the derivative of gain / log2(place + 1)
            slope[i - start] = scale[q] * gain[i] * np.log(2.0) / ((place + 1) * np.log(place + 1) ** 2)
        for i in range(start, stop):
            for j in range(i + 1, stop):
                tail = np.exp(-abs(score[i] - score[j]) / temperature)
                steep = tail / (1 + tail) ** 2 / temperature
                difference = slope[i - start] - slope[j - start]
                gradient[i] -= difference * steep
                gradient[j] += difference * steep
                hessian[i] += abs(difference) * steep / temperature
                hessian[j] += abs(difference) * steep / temperature
    return total


@compiled
def logistic_shifts(score, target, weight, bounds, shifts):
    """Write what to add to the scores of each query so that probabilities add up to the targets; infinite if none can.

    Newton's method within a bracket, which a step that would leave it halves.
    """
    for q in range(len(bounds) - 1):
        start, stop = bounds[q], bounds[q + 1]
        wanted, most, low, high = 0.0, 0.0, np.inf, -np.inf
        for i in range(start, stop):
            wanted += weight[i] * target[i]
            most += weight[i]
            low, high = min(low, -score[i]), max(high, -score[i])
        if wanted <= 0.0 or wanted >= most:
            shifts[q] = -np.inf if wanted <= 0.0 else np.inf
            continue
        # With all scores at the lowest or the highest one, the solution is log odds of the mean target from there.
        odds = np.log(wanted / (most - wanted))
        low, high = low + odds, high + odds
        shift = (low + high) / 2
        for _ in range(_MOST_STEPS):
            found, slope = 0.0, 0.0
            for i in range(start, stop):
                tail = np.exp(-abs(score[i] + shift))
                probability = (1.0 if score[i] + shift > 0 else tail) / (1 + tail)
                found += weight[i] * probability
                slope += weight[i] * tail / (1 + tail) ** 2
            if abs(found - wanted) <= _LEAST_DIFFERENCE * most:
                break
            low, high = (low, shift) if found > wanted else (shift, high)
            shift = shift - (found - wanted) / slope if slope > 0 else np.inf
            if not low < shift < high:
                shift = (low + high) / 2
        shifts[q] = shift
