"""Compiled loops over training rankings, for NearestNeighborsRanker, PlackettLuceRanker and DyadRanker."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from rankwise._compiled import compiled


@compiled
def neighbor_shares(positions, neighbors, weights, fallback):
    """Share of the weight of chosen rankings with i before j, for the pairs i < j: (n, k (k - 1) / 2).

    ``neighbors`` (n, m) are rows of ``positions``, with their ``weights`` (n, m). A tie counts half; a pair that none
    of them compares gets its ``fallback``.
    """
    n, m = neighbors.shape
    k = positions.shape[1]
    shares = np.zeros((n, k * (k - 1) // 2))
    known = np.empty(shares.shape[1])
    for r in range(n):
        known[:] = 0.0
        for t in range(m):
            row = positions[neighbors[r, t]]
            w = weights[r, t]
            pair = 0
            for i in range(k):
                first = row[i]
                for j in range(i + 1, k):
                    second = row[j]
                    tied = (first == second) & (first < np.inf)
                    shares[r, pair] += w * ((first < second) + 0.5 * tied)
                    known[pair] += w * ((first < second) | (first > second) | tied)
                    pair += 1
        for pair in range(len(known)):
            shares[r, pair] = shares[r, pair] / known[pair] if known[pair] > 0 else fallback[pair]
    return shares


@compiled
def plackett_luce_loss(positions, order, weights, scores):
    """Negative log likelihood of rankings as repeated choices, and its gradient by the scores (n, k).

    ``order`` lists the columns of each row by position, unlisted and then missing items last. Each of several tied
    items is chosen from all items left before the first of them (Breslow). Sums of worths are kept as logarithms.
    """
    n, k = positions.shape
    loss = 0.0
    gradient = np.zeros((n, k))
    log_left = np.empty(k)
    for r in range(n):
        listed = 0
        left = -np.inf
        for t in range(k):
            place = positions[r, order[r, t]]
            if place < np.inf:
                listed += 1
            elif place == np.inf:
                left = np.logaddexp(left, scores[r, order[r, t]])
        # From the worst bucket up: the log of the summed worths of all items left when the bucket is chosen.
        stop = listed
        while stop > 0:
            start = stop - 1
            while start > 0 and positions[r, order[r, start - 1]] == positions[r, order[r, start]]:
                start -= 1
            for t in range(start, stop):
                left = np.logaddexp(left, scores[r, order[r, t]])
            for t in range(start, stop):
                log_left[t] = left
            stop = start
        # An item takes part in the choices down to its own bucket.
        w = weights[r]
        part = -np.inf
        start = 0
        while start < listed:
            stop = start + 1
            while stop < listed and positions[r, order[r, stop]] == positions[r, order[r, start]]:
                stop += 1
            part = np.logaddexp(part, np.log(stop - start) - log_left[start])
            for t in range(start, stop):
                item = order[r, t]
                loss += w * (log_left[t] - scores[r, item])
                gradient[r, item] = w * (np.exp(scores[r, item] + part) - 1.0)
            start = stop
        for t in range(listed, k):
            item = order[r, t]
            if positions[r, item] == np.inf:
                gradient[r, item] = w * np.exp(scores[r, item] + part)
    return loss, gradient


@compiled
def plackett_luce_information(positions, order, weights, scores):
    """Information of the scores of each row, the negative Hessian of its log likelihood: (n, k, k)."""
    n, k = positions.shape
    information = np.zeros((n, k, k))
    share = np.empty(k)
    for r in range(n):
        present = 0
        listed = 0
        for t in range(k):
            present += positions[r, order[r, t]] <= np.inf
            listed += positions[r, order[r, t]] < np.inf
        start = 0
        while start < listed:
            stop = start + 1
            while stop < listed and positions[r, order[r, stop]] == positions[r, order[r, start]]:
                stop += 1
            largest = -np.inf
            for t in range(start, present):
                largest = max(largest, scores[r, order[r, t]])
            total = 0.0
            for t in range(start, present):
                share[t] = np.exp(scores[r, order[r, t]] - largest)
                total += share[t]
            for t in range(start, present):
                share[t] /= total
            w = weights[r] * (stop - start)
            for t in range(start, present):
                i = order[r, t]
                information[r, i, i] += w * share[t]
                for u in range(start, present):
                    information[r, i, order[r, u]] -= w * share[t] * share[u]
            start = stop
    return information


@compiled
def plackett_luce_curvature(positions, order, weights, scores):
    """Second derivatives of the negative log likelihood by each score alone: (n, k)."""
    n, k = positions.shape
    curvature = np.zeros((n, k))
    for r in range(n):
        present = 0
        listed = 0
        for t in range(k):
            present += positions[r, order[r, t]] <= np.inf
            listed += positions[r, order[r, t]] < np.inf
        start = 0
        while start < listed:
            stop = start + 1
            while stop < listed and positions[r, order[r, stop]] == positions[r, order[r, start]]:
                stop += 1
            left = -np.inf
            for t in range(start, present):
                left = np.logaddexp(left, scores[r, order[r, t]])
            for t in range(start, present):
                share = np.exp(scores[r, order[r, t]] - left)
                curvature[r, order[r, t]] += weights[r] * (stop - start) * share * (1.0 - share)
            start = stop
    return curvature
