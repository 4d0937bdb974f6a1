"""Compiled features of ordered partitions: increments of the graph cut, pooled until they fall from best to worst.

A ranking is given by levels: 0 is the best, equal levels are ties, levels without items are skipped. The graph is a
symmetric matrix of weights or, if that is empty, compressed rows (starts, neighbors, values).
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

import numpy as np

from rankwise._compiled import compiled

# Rankings, or completions of one, that are processed side by side, so that loops over them are vectorized.
_WIDTH = 32


@compiled
def levels_from_positions(positions, levels):
    """Levels from dense positions: unlisted items share the last level, missing ones have -1."""
    n, k = positions.shape
    for r in range(n):
        last = 0.0
        for j in range(k):
            place = positions[r, j]
            last = place if (place > last) & (place < np.inf) else last
        for j in range(k):
            place = positions[r, j]
            listed = min(place - 1.0, last)
            levels[r, j] = -1 if np.isnan(place) else np.int32(listed)


@compiled
def cut_features(levels, pool, weights, starts, neighbors, values, features):
    """Features of rankings that hold every item, pooled or not."""
    n, k = levels.shape
    n_levels = np.int64(levels.max()) + 1 if n else 0
    increments, counts, slopes = np.empty(n_levels), np.empty(n_levels), np.empty(n_levels)
    stack = np.empty((2, n_levels))
    places, gains = np.zeros((k, _WIDTH)), np.empty((k, _WIDTH))
    steady = np.zeros(k, dtype=np.bool_)
    for start in range(0, n, _WIDTH):
        width = min(_WIDTH, n - start)
        for c in range(width):
            for j in range(k):
                places[j, c] = levels[start + c, j]
        gains[:] = 0.0
        _add_gains(places, steady, False, weights, starts, neighbors, values, gains)
        for c in range(width):
            _increments(places, gains, c, increments, counts)
            _slopes(increments, counts, pool, stack, slopes)
            for j in range(k):
                features[start + c, j] = slopes[levels[start + c, j]]


@compiled
def mean_pooling_shifts(table, slots, weights, starts, neighbors, values, shifts):
    """What pooling adds to the features, on average over the completions of each ranking.

    ``table[s, t]`` is the level of slot t in completion s, ``slots[r, j]`` the slot of item j in ranking r. Completions
    fall into as many equal runs as ``shifts`` has rows per ranking, with a mean for each. Gains of pairs that stay as
    they are in all completions are computed once for each ranking.
    """
    n_completions, k = table.shape
    per_run = n_completions // shifts.shape[1]
    n_levels = np.int64(table.max()) + 1
    increments, counts, slopes = np.empty(n_levels), np.empty(n_levels), np.empty(n_levels)
    stack = np.empty((2, n_levels))
    stays = _constant_columns(table)
    steady = np.empty(k, dtype=np.bool_)
    first, base = np.empty((k, 1)), np.empty((k, 1))
    places, gains = np.zeros((k, _WIDTH)), np.empty((k, _WIDTH))
    shifts[:] = 0.0
    for r in range(len(slots)):
        for j in range(k):
            steady[j] = stays[slots[r, j]]
            first[j, 0] = table[0, slots[r, j]]
            places[j] = first[j, 0]
        base[:] = 0.0
        _add_gains(first, steady, True, weights, starts, neighbors, values, base)
        for start in range(0, n_completions, _WIDTH):
            width = min(_WIDTH, n_completions - start)
            for j in range(k):
                gains[j] = base[j, 0]
                if not steady[j]:
                    for c in range(width):
                        places[j, c] = table[start + c, slots[r, j]]
            _add_gains(places, steady, False, weights, starts, neighbors, values, gains)
            for c in range(width):
                _increments(places, gains, c, increments, counts)
                if _slopes(increments, counts, True, stack, slopes) > 0:
                    for t in range(n_levels):
                        slopes[t] -= increments[t] / max(counts[t], 1.0)
                    shift = shifts[r, (start + c) // per_run]
                    for j in range(k):
                        shift[j] += slopes[np.int64(places[j, c])]
    shifts /= per_run


@compiled
def pool_increments(increments, counts, slopes):
    """Slopes of the least concave majorant of a set function, for each row.

    ``increments[r, t]`` is what the items of level t, ``counts[r, t]`` in number, add to the function.
    """
    n, n_levels = increments.shape
    stack = np.empty((2, n_levels))
    for r in range(n):
        _slopes(increments[r], counts[r], True, stack, slopes[r])


@compiled
def expected_increments(levels, odds, weights, starts, neighbors, values, features):
    """Mean of each item's cut increment over completions that place missing items (level -1) independently.

    ``odds[r, j]`` is the probability that a missing item falls below the ranked item j, minus that of above it. Of two
    missing items each is above the other equally often, so they add nothing.
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


@compiled
def average_expectations(levels, own, others, features):
    """Average over the items of a level: always for ranked ties, for missing items as often as they share a gap.

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


@compiled
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


@compiled
def _sign(a, b):
    return np.int64(a > b) - np.int64(a < b)


@compiled
def _constant_columns(table):
    """Which columns are constant."""
    n, k = table.shape
    constant = np.ones(k, dtype=np.bool_)
    for s in range(1, n):
        for t in range(k):
            constant[t] &= table[s, t] == table[0, t]
    return constant


@compiled
def _add_gains(places, steady, both_steady, weights, starts, neighbors, values, gains):
    """For every pair, add its weight to the item that is before and subtract it from the other, in all columns.

    Only for pairs of two steady items, or only for all other pairs.
    """
    k, width = places.shape
    dense = len(weights) > 0
    for j in range(k):
        for e in range(j if dense else starts[j + 1] - starts[j]):
            i = e if dense else neighbors[starts[j] + e]
            if i >= j or (steady[i] & steady[j]) != both_steady:
                continue
            weight = weights[j, i] if dense else values[starts[j] + e]
            own, other = places[j], places[i]
            gain, loss = gains[j], gains[i]
            for c in range(width):
                ahead = (weight if own[c] < other[c] else 0.0) - (weight if own[c] > other[c] else 0.0)
                gain[c] += ahead
                loss[c] -= ahead


@compiled
def _increments(places, gains, column, increments, counts):
    """What each level adds to the cut when levels join one by one, the best first; and its size."""
    increments[:] = 0.0
    counts[:] = 0.0
    for j in range(len(places)):
        t = np.int64(places[j, column])
        increments[t] += gains[j, column]
        counts[t] += 1.0


@compiled
def _slopes(increments, counts, pool, stack, slopes):
    """Increments per item, pooled so that they fall from level to level; the number of merges.

    Adjacent levels merge while the later one has the larger mean (pool adjacent violators). ``stack`` holds sums and
    sizes of the merged levels. Levels without items get the slope of an adjacent one, which is never used.
    """
    sums, sizes = stack[0], stack[1]
    top = -1
    merges = 0
    for t in range(len(counts)):
        total, size = increments[t], counts[t]
        if size == 0:
            continue
        while pool and top >= 0 and sums[top] * size < total * sizes[top]:
            total += sums[top]
            size += sizes[top]
            top -= 1
            merges += 1
        top += 1
        sums[top], sizes[top] = total, size
    block, left = 0, sizes[0]
    for t in range(len(counts)):
        if left == 0 and block < top:
            block += 1
            left = sizes[block]
        slopes[t] = sums[block] / sizes[block]
        left -= counts[t]
    return merges
