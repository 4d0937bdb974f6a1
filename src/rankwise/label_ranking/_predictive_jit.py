"""Compiled loops of `predictive`: how probably each item is among the first k, and rankings by insertion."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from rankwise._compiled import compiled

# Steps of the integral over the logarithm of time; its integrand is analytic, so the error is below 1e-11.
_STEP = 0.35
_START = -26.0


@compiled
def plackett_luce_top(log_worth, k):
    """Probability of each item among the first k, for each row of log worths.

    Items arrive after exponential times with their worths as rates, and are ranked by arrival. Item i is among the
    first k if fewer than k others come before it: an integral over its time, of the law of a sum of coins.
    """
    n, m = log_worth.shape
    result = np.zeros((n, m))
    rate = np.empty(m)
    before = np.empty(m)
    counts = np.empty(k)
    for r in range(n):
        largest = np.max(log_worth[r])
        for i in range(m):
            rate[i] = np.exp(log_worth[r, i] - largest)
        end = 4.0 + largest - np.min(log_worth[r])
        for step in range(int((end - _START) / _STEP) + 1):
            time = np.exp(_START + step * _STEP)
            added = 0.0
            for i in range(m):
                before[i] = -np.expm1(-rate[i] * time)
            for i in range(m):
                density = rate[i] * time * np.exp(-rate[i] * time)
                if density < 1e-15:
                    continue
                counts[:] = 0.0
                counts[0] = 1.0
                for j in range(m):
                    if j != i:
                        for c in range(k - 1, 0, -1):
                            counts[c] += before[j] * (counts[c - 1] - counts[c])
                        counts[0] *= 1.0 - before[j]
                share = _STEP * density * counts.sum()
                result[r, i] += share
                added += share
            if (time > 1.0) & (added < 1e-15):  # so late, k items have come for sure
                break
    return np.minimum(result, 1.0)


@compiled
def mallows_top(centers, theta, k):
    """Probability of each item among the first k under Mallows laws; centers hold places from 0.

    Items are inserted in the order of the center; the j-th skips v of those before it with the weight exp(-theta v).
    """
    n, m = centers.shape
    result = np.zeros((n, m))
    tail = np.zeros((m + 1, m + 1))  # tail[j, v]: probability that the j-th item skips v or more
    law = np.empty(m + 1)
    for r in range(n):
        q = np.exp(-theta[r])
        for j in range(1, m + 1):
            total = 0.0
            for v in range(j):
                total += q**v
            tail[j, j] = 0.0
            for v in range(j - 1, -1, -1):
                tail[j, v] = tail[j, v + 1] + q**v / total
        for i in range(m):
            at = int(centers[r, i]) + 1
            law[:] = 0.0
            for v in range(at):
                law[at - v] = tail[at, v] - tail[at, v + 1]
            for j in range(at + 1, m + 1):
                for p in range(j - 1, 0, -1):
                    moves = law[p] * tail[j, j - p]  # the new item lands at p or before
                    law[p + 1] += moves
                    law[p] -= moves
            for p in range(1, k + 1):
                result[r, i] += law[p]
    return result


@compiled
def mallows_sample(centers, theta, uniforms):
    """One ranking for each row of uniform numbers, from row r // per of centers, which hold places from 0."""
    n, m = uniforms.shape
    per = n // len(centers) if len(centers) else 1
    positions = np.empty((n, m))
    order = np.empty(m, dtype=np.intp)
    line = np.empty(m, dtype=np.intp)
    for s in range(n):
        r = s // per
        q = np.exp(-theta[r])
        for i in range(m):
            order[int(centers[r, i])] = i
        for j in range(m):
            total = 0.0
            for v in range(j + 1):
                total += q**v
            target = uniforms[s, j] * total
            skipped = 0
            while (skipped < j) & (target >= q**skipped):
                target -= q**skipped
                skipped += 1
            for place in range(j, j - skipped, -1):
                line[place] = line[place - 1]
            line[j - skipped] = order[j]
        for place in range(m):
            positions[s, line[place]] = place + 1.0
    return positions
