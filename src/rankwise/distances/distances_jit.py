"""Compiled comparisons of rankings, given as dense positions (1 = best, inf unlisted, NaN missing).

`rankwise.distances`, the agreement scores of `rankwise.metrics` and the Kendall kernel call these functions. Dense
positions are small integers, so every sort below is a counting sort: a ranking of k items has the keys 1..k, and
unlisted items share the key k + 1.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from rankwise._compiled import compiled, compiled_sums

# Columns of `pair_statistics`.
CONCORDANT, DISCORDANT, TIED_A, TIED_B, TIED_BOTH, STRICT_A, STRICT_B, PAIRS = range(8)
# What a positional distance sums over the items: squared or absolute differences of places, or their number.
SQUARED, ABSOLUTE, UNEQUAL = range(3)
# Columns that are summed at the same time, so that they stay in the cache.
_COLUMNS = 1024
# Words of bits that stay in the cache while rows are compared with them.
_CACHED_WORDS = 1 << 15


@compiled
def discordant_full(a, b):
    """Number of discordant pairs of full rankings, row by row, by looking at every pair."""
    n, k = a.shape
    result = np.empty(n)
    for r in range(n):
        first, second = a[r], b[r]
        count = np.int64(0)
        for i in range(k):
            x, y = first[i], second[i]
            for j in range(i):  # one product and one comparison per pair, which LLVM vectorizes
                count += np.int64((x - first[j]) * (y - second[j]) < 0)
        result[r] = count
    return result


@compiled
def pair_statistics(a, b, weights, all_items):
    """Total weight of each kind of pair, row by row: (n, 8).

    Over the items that both rank: concordant, discordant, tied in a only (strict in b), tied in b only, tied in
    both, strict in a, strict in b, all pairs. With ``all_items`` the two strict counts run over all items of the
    ranking itself. The weight of a pair is the product of its items' weights. Tied means equal and listed.
    """
    n, k = a.shape
    result = np.empty((n, 8))
    order = np.empty((2, k), dtype=np.intp)
    count = np.empty(k + 3, dtype=np.intp)
    sums = np.empty(k + 2)
    squares = np.empty(k + 2)
    tree = np.empty(k + 2)
    for r in range(n):
        _compare(a[r], b[r], weights, all_items, result[r], order, count, sums, squares, tree)
    return result


@compiled
def cross_kendall(a, b, weights, all_items, p, normalize):
    """Kendall distances of all rows of a to all rows of b."""
    n, k = a.shape
    m = b.shape[0]
    result = np.empty((n, m))
    out = np.empty(8)
    order = np.empty((2, k), dtype=np.intp)
    count = np.empty(k + 3, dtype=np.intp)
    sums = np.empty(k + 2)
    squares = np.empty(k + 2)
    tree = np.empty(k + 2)
    for r in range(n):
        for s in range(m):
            _compare(a[r], b[s], weights, all_items, out, order, count, sums, squares, tree)
            strict_both = out[CONCORDANT] + out[DISCORDANT]
            one_sided = out[STRICT_A] + out[STRICT_B] - 2 * strict_both
            distance = max(out[DISCORDANT] + p * one_sided, 0.0)
            if normalize:
                distance = min(distance / out[PAIRS], 1.0) if out[PAIRS] > 0 else np.nan
            result[r, s] = distance
    return result


@compiled
def pair_signs(positions, first, second):
    """Sign of every pair (first[c], second[c]): 1 if in that order, -1 if reversed, else 0; float32."""
    n = positions.shape[0]
    q = first.shape[0]
    signs = np.empty((n, q), dtype=np.float32)
    for r in range(n):
        for c in range(q):
            i = positions[r, first[c]]
            j = positions[r, second[c]]
            signs[r, c] = np.float32(int(i < j) - int(i > j))
    return signs


@compiled
def pair_bits(positions, first, last, strict):
    """The pairs of items first to last - 1 with those before them as bits of whole numbers: (n, words).

    A bit says that the later item comes first; unless strict, as many bits more say that the earlier one does.
    """
    n = positions.shape[0]
    q = (last * (last - 1) - first * (first - 1)) // 2
    bits = np.zeros((n, (q * (1 if strict else 2) + 63) // 64), dtype=np.uint64)
    for r in range(n):
        t = 0
        word = np.uint64(0)
        for side in range(1 if strict else 2):
            for i in range(first, last):
                x = positions[r, i]
                for j in range(i):
                    y = positions[r, j]
                    word |= np.uint64(x > y if side else x < y) << np.uint64(t & 63)
                    t += 1
                    if t & 63 == 0:
                        bits[r, (t >> 6) - 1] = word
                        word = np.uint64(0)
        if t & 63:
            bits[r, t >> 6] = word
    return bits


@compiled
def bits_apart(a, b, strict):
    """Kendall distances (p = 1/2) of all rows of a to all rows of b, given as `pair_bits`."""
    n, words = a.shape
    m = b.shape[0]
    result = np.empty((n, m))
    own_a = np.zeros(n)
    own_b = np.zeros(m)
    if not strict:
        for r in range(n):
            for t in range(words):
                own_a[r] += np.float64(_count_bits(a[r, t])) / 2
        for s in range(m):
            for t in range(words):
                own_b[s] += np.float64(_count_bits(b[s, t])) / 2
    step = max(1, _CACHED_WORDS // max(1, words))
    for start in range(0, m, step):
        stop = min(m, start + step)
        for r in range(n):
            if strict and words == 1:  # without an inner loop this one is vectorized
                for s in range(start, stop):
                    result[r, s] = np.float64(_count_bits(a[r, 0] ^ b[s, 0]))
            elif strict:
                for s in range(start, stop):
                    count = np.uint64(0)
                    for t in range(words):
                        count += _count_bits(a[r, t] ^ b[s, t])
                    result[r, s] = np.float64(count)
            else:
                for s in range(start, stop):
                    count = np.uint64(0)
                    for t in range(words):
                        count += _count_bits(a[r, t] & b[s, t])
                    result[r, s] = own_a[r] + own_b[s] - np.float64(count)
    return result


@compiled_sums
def weighted_kendall(a, b, swaps, weights, apart, p):
    """Kendall distances row by row, pairs weighted by the average swaps that their items take, and by the items.

    ``swaps`` are the sums of the costs of the swaps from the first place to each; ``apart`` is empty or (k, k).
    """
    n, k = a.shape
    result = np.empty(n)
    count = np.empty(k + 2, dtype=np.intp)
    middle_a = np.empty(k)
    middle_b = np.empty(k)
    factor = np.empty(k)
    for r in range(n):
        _middles(a[r], b[r], count, middle_a)
        _middles(b[r], a[r], count, middle_b)
        for i in range(k):
            if np.isnan(a[r, i]) | np.isnan(b[r, i]):
                factor[i] = 0.0
            else:
                factor[i] = weights[i] * _average_swap(middle_a[i], middle_b[i], swaps)
        total = 0.0
        for i in range(k):
            x, y = a[r, i], b[r, i]
            inner = 0.0
            if len(apart):
                for j in range(i):
                    first = np.float64(x > a[r, j]) - np.float64(x < a[r, j])
                    second = np.float64(y > b[r, j]) - np.float64(y < b[r, j])
                    share = (first * second < 0) + p * ((first == 0) != (second == 0))
                    inner += share * factor[j] * apart[i, j]
            else:
                for j in range(i):
                    first = np.float64(x > a[r, j]) - np.float64(x < a[r, j])
                    second = np.float64(y > b[r, j]) - np.float64(y < b[r, j])
                    share = (first * second < 0) + p * ((first == 0) != (second == 0))
                    inner += share * factor[j]
            total += factor[i] * inner
        result[r] = total
    return result


@compiled
def positional(a, b, weights, code):
    """Positional distance row by row, with the number of common items: two arrays (n,)."""
    n, k = a.shape
    result = np.empty(n)
    common = np.empty(n, dtype=np.intp)
    count = np.empty(k + 2, dtype=np.intp)
    middle_a = np.empty(k)
    middle_b = np.empty(k)
    for r in range(n):
        result[r], common[r] = _positional(a[r], b[r], weights, code, count, middle_a, middle_b)
    return result, common


@compiled
def cross_positional(a, b, weights, code):
    """Positional distances of all rows of a to all rows of b, with the numbers of common items."""
    n, k = a.shape
    m = b.shape[0]
    result = np.empty((n, m))
    common = np.empty((n, m), dtype=np.intp)
    count = np.empty(k + 2, dtype=np.intp)
    middle_a = np.empty(k)
    middle_b = np.empty(k)
    for r in range(n):
        for s in range(m):
            result[r, s], common[r, s] = _positional(a[r], b[s], weights, code, count, middle_a, middle_b)
    return result, common


@compiled
def cross_midranks(a, b, weights, code):
    """Positional distances of all rows of mid-ranks a to all columns of mid-ranks b, without missing items.

    Columns are summed side by side, item by item: that is vectorized, and adds up each of them in the same order.
    """
    n, k = a.shape
    m = b.shape[1]
    result = np.empty((n, m))
    total = np.empty(min(m, _COLUMNS), dtype=a.dtype)
    for start in range(0, m, _COLUMNS):
        width = min(_COLUMNS, m - start)
        for r in range(n):
            total[:] = 0
            for i in range(k):
                x, w, row = a[r, i], weights[i], b[i, start : start + width]
                if code == SQUARED:
                    for s in range(width):
                        total[s] += w * (x - row[s]) * (x - row[s])
                elif code == ABSOLUTE:
                    for s in range(width):
                        total[s] += w * abs(x - row[s])
                else:
                    for s in range(width):
                        total[s] += w * (x != row[s])
            for s in range(width):
                result[r, start + s] = total[s]
    return result


@compiled
def rank_correlation(a, b):
    """Pearson correlation of the mid-ranks of the common items, row by row; NaN where a is constant, 0 where b is."""
    n, k = a.shape
    result = np.empty(n)
    count = np.empty(k + 2, dtype=np.intp)
    middle_a = np.empty(k)
    middle_b = np.empty(k)
    for r in range(n):
        m = _middles(a[r], b[r], count, middle_a)
        _middles(b[r], a[r], count, middle_b)
        center = (m + 1) / 2
        ab = 0.0
        aa = 0.0
        bb = 0.0
        for i in range(k):
            if not (np.isnan(a[r, i]) | np.isnan(b[r, i])):
                ab += (middle_a[i] - center) * (middle_b[i] - center)
                aa += (middle_a[i] - center) ** 2
                bb += (middle_b[i] - center) ** 2
        if aa > 0:
            result[r] = ab / np.sqrt(aa * bb) if bb > 0 else 0.0
        else:
            result[r] = np.nan
    return result


@compiled
def _compare(a, b, weights, all_items, out, order, count, sums, squares, tree):
    """Write the pair statistics of two rankings to ``out``, in O(k log k); the last five arrays are work space."""
    k = a.shape[0]
    m = 0
    for i in range(k):
        if not (np.isnan(a[i]) | np.isnan(b[i])):
            order[0, m] = i
            m += 1
    pairs, a_listed, a_unlisted = _ties(a, weights, order[0], m, sums, squares)
    pairs, b_listed, b_unlisted = _ties(b, weights, order[0], m, sums, squares)
    _counting_sort(b, order[0], m, count, order[1])
    _counting_sort(a, order[1], m, count, order[0])
    discordant = _discordant(a, b, weights, order[0], m, tree)
    both, only_a, only_b, none = _joint_ties(a, b, weights, order[0], m)
    strict_both = pairs - a_listed - a_unlisted - b_listed - b_unlisted + both + only_a + only_b + none
    out[CONCORDANT] = strict_both - discordant
    out[DISCORDANT] = discordant
    out[TIED_A] = a_listed - both - only_a
    out[TIED_B] = b_listed - both - only_b
    out[TIED_BOTH] = both
    out[STRICT_A] = pairs - a_listed - a_unlisted
    out[STRICT_B] = pairs - b_listed - b_unlisted
    out[PAIRS] = pairs
    if all_items:
        out[STRICT_A] = _strict_pairs(a, weights, order[0], sums, squares)
        out[STRICT_B] = _strict_pairs(b, weights, order[0], sums, squares)


@compiled
def _ties(row, weights, items, m, sums, squares):
    """Weight of all pairs of the first m items, of the tied pairs, and of the pairs with both items unlisted."""
    k = row.shape[0]
    sums[:] = 0.0
    squares[:] = 0.0
    total = 0.0
    square = 0.0
    for t in range(m):
        w = weights[items[t]]
        key = _key(row[items[t]], k)
        sums[key] += w
        squares[key] += w * w
        total += w
        square += w * w
    listed = 0.0
    for key in range(1, k + 1):
        listed += (sums[key] * sums[key] - squares[key]) / 2
    return (total * total - square) / 2, listed, (sums[k + 1] * sums[k + 1] - squares[k + 1]) / 2


@compiled
def _strict_pairs(row, weights, items, sums, squares):
    """Weight of the pairs that a ranking orders strictly, over all items that are not missing from it."""
    m = 0
    for i in range(row.shape[0]):
        if not np.isnan(row[i]):
            items[m] = i
            m += 1
    pairs, listed, unlisted = _ties(row, weights, items, m, sums, squares)
    return pairs - listed - unlisted


@compiled
def _counting_sort(row, items, m, count, result):
    """Sort the first m items by their key in row; a stable sort."""
    k = row.shape[0]
    count[:] = 0
    for t in range(m):
        count[_key(row[items[t]], k) + 1] += 1
    for key in range(1, k + 3):
        count[key] += count[key - 1]
    for t in range(m):
        key = _key(row[items[t]], k)
        result[count[key]] = items[t]
        count[key] += 1


@compiled
def _discordant(a, b, weights, items, m, tree):
    """Weight of the pairs ordered in opposite ways; the items must be sorted by a.

    The Fenwick tree holds the weight of the items in earlier buckets of a, by key of b.
    """
    k = a.shape[0]
    tree[:] = 0.0
    inserted = 0.0
    discordant = 0.0
    waiting = 0
    for s in range(m):
        item = items[s]
        if a[item] != a[items[waiting]]:  # a new bucket of a: insert the previous one
            while waiting < s:
                earlier = items[waiting]
                t = _key(b[earlier], k)
                while t <= k + 1:
                    tree[t] += weights[earlier]
                    t += t & -t
                inserted += weights[earlier]
                waiting += 1
        not_below = 0.0
        t = _key(b[item], k)
        while t > 0:
            not_below += tree[t]
            t -= t & -t
        discordant += weights[item] * (inserted - not_below)
    return discordant


@compiled
def _joint_ties(a, b, weights, items, m):
    """Weight of the pairs equal in both, by where they are listed: in both, in a only, in b only, in neither.

    The items must be sorted by (a, b).
    """
    both = 0.0
    only_a = 0.0
    only_b = 0.0
    none = 0.0
    cell = 0.0
    square = 0.0
    for s in range(m):
        item = items[s]
        cell += weights[item]
        square += weights[item] ** 2
        if s + 1 == m or a[items[s + 1]] != a[item] or b[items[s + 1]] != b[item]:
            inside = (cell * cell - square) / 2
            both += inside * ((a[item] != np.inf) & (b[item] != np.inf))
            only_a += inside * ((a[item] != np.inf) & (b[item] == np.inf))
            only_b += inside * ((a[item] == np.inf) & (b[item] != np.inf))
            none += inside * ((a[item] == np.inf) & (b[item] == np.inf))
            cell = 0.0
            square = 0.0
    return both, only_a, only_b, none


@compiled
def _positional(a, b, weights, code, count, middle_a, middle_b):
    """Sum of weighted differences of mid-ranks over the common items, and the number of common items."""
    m = _middles(a, b, count, middle_a)
    _middles(b, a, count, middle_b)
    total = 0.0
    for i in range(a.shape[0]):
        if not (np.isnan(a[i]) | np.isnan(b[i])):
            gap = middle_a[i] - middle_b[i]
            if code == SQUARED:
                total += weights[i] * gap * gap
            elif code == ABSOLUTE:
                total += weights[i] * abs(gap)
            else:
                total += weights[i] * (gap != 0)
    return total, m


@compiled
def _middles(row, other, count, middle):
    """Write the mid-ranks of row among the common items to ``middle``; return the number of common items."""
    k = row.shape[0]
    count[:] = 0
    m = 0
    for i in range(k):
        if not (np.isnan(row[i]) | np.isnan(other[i])):
            count[_key(row[i], k)] += 1
            m += 1
    before = 0
    for key in range(1, k + 2):
        size = count[key]
        count[key] = 2 * before + size + 1  # twice the mean of the places before + 1 .. before + size
        before += size
    for i in range(k):
        if not (np.isnan(row[i]) | np.isnan(other[i])):
            middle[i] = count[_key(row[i], k)] / 2
    return m


@compiled
def _key(position, k):
    return k + 1 if position == np.inf else int(position)


@compiled
def _count_bits(word):
    """Number of ones: sums of neighbors, of 2, 4 and 8 bits; LLVM makes one instruction of it where there is one."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@compiled
def _average_swap(x, y, swaps):
    """Average cost of the swaps between two places, which may be mid-ranks; 1 for an item that keeps its place."""
    if x == y:
        return 1.0
    low, high = int(x), int(y)
    here = swaps[low - 1] + (x - low) * (swaps[low] - swaps[low - 1] if x > low else 0.0)
    there = swaps[high - 1] + (y - high) * (swaps[high] - swaps[high - 1] if y > high else 0.0)
    return (here - there) / (x - y)
