"""Compiled loops of the Mallows models: stages, pairs and cycles of rankings around a center.

``center`` holds the place of each item in the central ranking and ``order`` its items, best first; both count from 0.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from rankwise._compiled import compiled

# Kendall: stages and pairs


@compiled
def _displacement(row, center, item):
    """Items that a ranking puts below ``item`` although the center has them above."""
    count = 0
    for other in range(row.shape[0]):
        count += (row[other] > row[item]) & (center[other] < center[item])
    return count


@compiled
def stage_sums(positions, weights, center):
    """Weight of the rankings that reach each stage (choice of place 1, 2, ...), and their summed displacements."""
    n, k = positions.shape
    reached = np.zeros(k)
    total = np.zeros(k)
    for r in range(n):
        for item in range(k):
            if positions[r, item] < np.inf:
                stage = int(positions[r, item]) - 1
                reached[stage] += weights[r]
                total[stage] += weights[r] * _displacement(positions[r], center, item)
    return reached, total


@compiled
def stage_energy(positions, center, cost):
    """Sum of the displacements at the stages that each ranking reaches, times the cost of the stage: (n,)."""
    n, k = positions.shape
    energy = np.zeros(n)
    for r in range(n):
        for item in range(k):
            if positions[r, item] < np.inf:
                displacement = _displacement(positions[r], center, item)
                if displacement > 0:  # an infinite cost of nothing is nothing
                    energy[r] += cost[int(positions[r, item]) - 1] * displacement
    return energy


@compiled
def positions_from_displacements(displacements, order):
    """Rankings whose place j is taken by the item with ``displacements[j]`` items before it among those left."""
    n, k = displacements.shape
    positions = np.empty((n, k))
    left = np.empty(k, dtype=np.intp)
    for r in range(n):
        left[:] = order
        for place in range(k):
            index = displacements[r, place]
            positions[r, left[index]] = place + 1.0
            for t in range(index, k - place - 1):
                left[t] = left[t + 1]
    return positions


@compiled
def stagewise_pairs(cdf):
    """P(item at place a before item at place b) for all a < b of the center, in a model of stages: (k, k).

    ``cdf[s, x]`` is the probability that a stage with s items left takes one of the first x of these. Left are x
    items before a, y between a and b, and s - 2 - x - y after b; a table of (x, y) is made for s = 2, 3, ..., k.
    """
    k = cdf.shape[0] - 1
    last = np.zeros((k, k))
    table = np.zeros((k, k))
    for s in range(2, k + 1):
        for x in range(s - 1):
            for y in range(s - 1 - x):
                p = cdf[s, x + 1] - cdf[s, x]
                if x > 0:
                    p += cdf[s, x] * last[x - 1, y]
                if y > 0:
                    p += (cdf[s, x + 1 + y] - cdf[s, x + 1]) * last[x, y - 1]
                if x + y < s - 2:
                    p += (1.0 - cdf[s, x + y + 2]) * last[x, y]
                table[x, y] = p
        last, table = table, last
    result = np.full((k, k), 0.5)
    for a in range(k):
        for b in range(a + 1, k):
            result[a, b] = last[a, b - a - 1]
            result[b, a] = 1.0 - result[a, b]
    return result


@compiled
def pairs_by_gap(positions, order):
    """How many pairs a ranking orders, by their distance in the center: (n, k).

    Pairs of unlisted items, which it does not order, are taken away at the distance that they have once the listed
    items are gone (see `KendallLaw`).
    """
    n, k = positions.shape
    gaps = np.zeros((n, k))
    present = np.empty(k, dtype=np.intp)
    unlisted = np.empty(k, dtype=np.intp)
    for r in range(n):
        n_present = 0
        n_unlisted = 0
        left = 0  # items not listed so far
        for p in range(k):
            place = positions[r, order[p]]
            if not np.isnan(place):
                present[n_present] = p
                n_present += 1
            if place == np.inf:
                unlisted[n_unlisted] = left
                n_unlisted += 1
            left += not place < np.inf
        _add_gaps(present, n_present, 1.0, gaps[r])
        _add_gaps(unlisted, n_unlisted, -1.0, gaps[r])
    return gaps


@compiled
def _add_gaps(places, m, sign, gaps):
    """Count the distances between all pairs of the first m places, which climb."""
    if m > 0 and places[m - 1] - places[0] == m - 1:  # no gap in them
        for g in range(1, m):
            gaps[g] += sign * (m - g)
        return
    for a in range(m):
        for b in range(a + 1, m):
            gaps[places[b] - places[a]] += sign


@compiled
def log_share_of_completions(row, order, powers, normalizers):
    """Log probability of a ranking with missing items, without the pairs that it orders against the center.

    The stages of a full ranking are played through: at each, the next listed item or one of the missing items is
    chosen. The state is the number of listed items chosen and the set of missing items chosen. ``powers[v]`` is
    exp(-theta v), ``normalizers[s]`` that of a stage with s items left. Once all listed items are chosen, all that
    may follow has probability 1.
    """
    k = row.shape[0]
    listed = np.empty(k, dtype=np.intp)  # place in the center, by place in the ranking
    missing = np.empty(k, dtype=np.intp)
    n_listed = 0
    n_missing = 0
    for p in range(k):
        place = row[order[p]]
        if np.isnan(place):
            missing[n_missing] = p
            n_missing += 1
        elif place < np.inf:
            listed[int(place) - 1] = p
            n_listed += 1
    before = np.zeros(n_missing, dtype=np.intp)  # ranked items, not yet chosen, before each missing one
    for f in range(n_missing):
        for p in range(missing[f]):
            before[f] += not np.isnan(row[order[p]])
    weight = np.zeros(1 << n_missing)
    weight[0] = 1.0
    log_scale = 0.0
    for stage in range(n_listed):
        after = np.zeros(1 << n_missing)
        for chosen in range(1 << n_missing):
            n_chosen = 0
            for f in range(n_missing):
                n_chosen += (chosen >> f) & 1
            share = weight[chosen] / normalizers[k - stage - n_chosen]
            passed = 0
            in_front = 0  # missing items, not yet chosen, before the next listed one
            for f in range(n_missing):
                if not (chosen >> f) & 1:
                    weight[chosen | (1 << f)] += share * powers[before[f] + passed]
                    passed += 1
                    in_front += missing[f] < listed[stage]
            after[chosen] = share * powers[in_front]
        for f in range(n_missing):
            before[f] -= listed[stage] < missing[f]
        largest = after.max()
        if largest == 0.0:
            return -np.inf
        weight = after / largest
        log_scale += np.log(largest)
    return log_scale + np.log(weight.sum())


# Cayley


@compiled
def _label_cycles(row, order, label):
    """Number the cycles of the permutation that carries the center to a full ranking; return how many there are."""
    label[:] = -1
    cycles = 0
    for item in range(row.shape[0]):
        if label[item] < 0:
            while label[item] < 0:
                label[item] = cycles
                item = order[int(row[item]) - 1]
            cycles += 1
    return cycles


@compiled
def cayley_distances(positions, order):
    """Number of items less number of cycles, for every ranking: (n,)."""
    n, k = positions.shape
    distance = np.empty(n)
    label = np.empty(k, dtype=np.intp)
    for r in range(n):
        distance[r] = k - _label_cycles(positions[r], order, label)
    return distance


@compiled
def same_cycle_weights(positions, weights, order):
    """Weight of the rankings that hold two items in one cycle, for all pairs: (k, k).

    To these rankings the center comes nearer by 1 if the two items change places; from all others it moves away by 1.
    """
    n, k = positions.shape
    same = np.zeros((k, k))
    label = np.empty(k, dtype=np.intp)
    for r in range(n):
        _label_cycles(positions[r], order, label)
        for i in range(k):
            for j in range(k):
                same[i, j] += weights[r] * (label[i] == label[j])
    return same
