"""Features of ordered partitions: increments of the graph cut, pooled until they fall from best to worst.

A ranking comes as levels: 0 is the best, equal levels are ties, levels that no item has are skipped. The graph comes
as a symmetric matrix of weights, or, where that is empty, in compressed rows (starts, neighbours, values).
"""

import numpy as np

from rankwise._numba import kernel, summing_kernel

# Increments that are carried on from one completion to the next gather rounding errors; so often they are summed anew.
_AFRESH = 256


@summing_kernel
def cut_features(levels, pool, weights, starts, neighbors, values, features):
    """Features of rankings that hold every item, pooled or not."""
    n, k = levels.shape
    n_levels = np.int64(levels.max()) + 1 if n else 0
    increments, slopes, stack = np.empty(n_levels), np.empty(n_levels), np.empty((2, n_levels))
    counts = np.empty(n_levels, dtype=np.int64)
    for r in range(n):
        _cut_increments(levels[r], weights, starts, neighbors, values, increments, counts)
        _slopes(increments, counts, pool, stack, slopes)
        for j in range(k):
            features[r, j] = slopes[levels[r, j]]


@summing_kernel
def mean_pooling_shifts(table, slots, weights, starts, neighbors, values, shifts):
    """What pooling adds to the features, on average over the completions of each ranking.

    ``table[s, t]`` is the level of slot t in completion s, ``slots[r, j]`` the slot of item j in ranking r. Completions
    fall into as many equal runs as ``shifts`` has rows per ranking, with a mean for each.
    """
    n_completions, k = table.shape
    per_run = n_completions // shifts.shape[1]
    n_levels = np.int64(table.max()) + 1
    increments, slopes, stack = np.empty(n_levels), np.empty(n_levels), np.empty((2, n_levels))
    counts = np.empty(n_levels, dtype=np.int64)
    level = np.empty(k, dtype=table.dtype)
    moved = np.empty(k, dtype=np.int64)
    shifts[:] = 0.0
    for r in range(len(slots)):
        for s in range(n_completions):
            n_moved = 0
            for j in range(k):
                if s % _AFRESH == 0 or table[s, slots[r, j]] != level[j]:
                    moved[n_moved] = j
                    n_moved += 1
            if 4 * n_moved < k:
                for m in range(n_moved):
                    j = moved[m]
                    _move(level, j, table[s, slots[r, j]], weights, starts, neighbors, values, increments, counts)
            else:
                for j in range(k):
                    level[j] = table[s, slots[r, j]]
                _cut_increments(level, weights, starts, neighbors, values, increments, counts)
            if _slopes(increments, counts, True, stack, slopes) > 0:
                for j in range(k):
                    t = level[j]
                    shifts[r, s // per_run, j] += slopes[t] - increments[t] / counts[t]
    shifts /= per_run


@kernel
def pool_increments(increments, counts, slopes):
    """Slopes of the least concave majorant of a set function, for each row.

    ``increments[r, t]`` is what the items of level t, ``counts[r, t]`` in number, add to the function.
    """
    n, n_levels = increments.shape
    stack = np.empty((2, n_levels))
    for r in range(n):
        _slopes(increments[r], counts[r], True, stack, slopes[r])


@kernel
def expected_increments(levels, odds, weights, starts, neighbors, values, features):
    """Mean of each item's cut increment over completions that place missing items (level -1) alike and independently.

    ``odds[r, j]`` is the probability that a missing item falls below the ranked item j, less that of above it. Two
    missing items are above each other equally often, and add nothing.
    """
    n, k = levels.shape
    dense = len(weights) > 0
    for r in range(n):
        level, odd = levels[r], odds[r]
        for j in range(k):
            total = 0.0
            for e in range(k if dense else starts[j + 1] - starts[j]):
                i = e if dense else neighbors[starts[j] + e]
                weight = weights[j, i] if dense else values[starts[j] + e]
                if level[i] >= 0 and level[j] >= 0:
                    total += weight * _sign(level[i], level[j])
                elif level[j] >= 0:
                    total += weight * odd[j]
                elif level[i] >= 0:
                    total -= weight * odd[i]
            features[r, j] = total


@kernel
def average_expectations(levels, own, others, features):
    """Average what items of one level share: ranked ties always, missing items as often as they share a gap.

    A missing item gets ``own[r]`` of its expectation and ``others[r]`` of that of each other missing item.
    """
    n, k = levels.shape
    sums = np.empty(k)
    counts = np.empty(k, dtype=np.int64)
    for r in range(n):
        level, feature = levels[r], features[r]
        sums[:] = 0.0
        counts[:] = 0
        missing = 0.0
        for j in range(k):
            if level[j] >= 0:
                sums[level[j]] += feature[j]
                counts[level[j]] += 1
            else:
                missing += feature[j]
        for j in range(k):
            if level[j] >= 0:
                feature[j] = sums[level[j]] / counts[level[j]]
            else:
                feature[j] = own[r] * feature[j] + others[r] * (missing - feature[j])


@kernel
def never_merges(weights, tolerance):
    """Whether 2 a_jk >= sum over the other items i of |a_ij - a_ik|, for all pairs j, k."""
    k = len(weights)
    for j in range(k):
        for other in range(j):
            spread = 0.0
            for i in range(k):
                if i != j and i != other:
                    spread += abs(weights[j, i] - weights[other, i])
            if 2 * weights[j, other] + tolerance < spread:
                return False
    return True


# ---------------------------------------------------------------------------------------------------------------


@kernel
def _sign(a, b):
    return np.int64(a > b) - np.int64(a < b)


@summing_kernel
def _cut_increments(level, weights, starts, neighbors, values, increments, counts):
    """What each level adds to the cut when levels join one after the other, the best first; and its size."""
    increments[:] = 0.0
    counts[:] = 0
    k = len(level)
    dense = len(weights) > 0
    for j in range(k):
        own = level[j]
        total = 0.0
        if dense:
            row = weights[j]
            for i in range(k):
                total += row[i] if level[i] > own else 0.0
                total -= row[i] if level[i] < own else 0.0
        else:
            for edge in range(starts[j], starts[j + 1]):
                total += values[edge] * _sign(level[neighbors[edge]], own)
        increments[own] += total
        counts[own] += 1


@kernel
def _move(level, item, new, weights, starts, neighbors, values, increments, counts):
    """Put one item on another level, and bring the increments and counts along."""
    old = level[item]
    dense = len(weights) > 0
    for e in range(len(level) if dense else starts[item + 1] - starts[item]):
        other = e if dense else neighbors[starts[item] + e]
        if other == item:
            continue
        weight = weights[item, other] if dense else values[starts[item] + e]
        before, after = weight * _sign(level[other], old), weight * _sign(level[other], new)
        increments[old] -= before
        increments[new] += after
        increments[level[other]] += before - after
    counts[old] -= 1
    counts[new] += 1
    level[item] = new


@kernel
def _slopes(increments, counts, pool, stack, slopes):
    """Increments per item, pooled so that they fall from level to level; the number of merges.

    Neighbouring levels merge while the later one has the larger mean (pool adjacent violators). ``stack`` holds sums
    and sizes of what has been merged; the levels find themselves in it from the last to the first.
    """
    sums, sizes = stack[0], stack[1]
    top = -1
    merges = 0
    for t in range(len(counts)):
        if counts[t] == 0:
            continue
        top += 1
        sums[top], sizes[top] = increments[t], counts[t]
        while pool and top > 0 and sums[top - 1] * sizes[top] < sums[top] * sizes[top - 1]:
            sums[top - 1] += sums[top]
            sizes[top - 1] += sizes[top]
            top -= 1
            merges += 1
    left = sizes[top]
    for t in range(len(counts) - 1, -1, -1):
        if counts[t] == 0:
            slopes[t] = 0.0
            continue
        if left == 0:
            top -= 1
            left = sizes[top]
        slopes[t] = sums[top] / sizes[top]
        left -= counts[t]
    return merges
