"""Kernels of screening: evaluate expressions, sort them, and sum what scores and rank classes need.

Rows are features. A row is sorted by two passes of a radix sort on the leading bits of its values, and then put right
by insertion, which compares the values themselves: the order is exact, and as quick as with rounded keys.
"""

import numpy as np

from rankwise._numba import kernel

# Order-preserving integer keys of minus and plus infinity; NaNs lie outside.
_LOWEST, _HIGHEST = np.int64(-0x7FF0000000000001), np.int64(0x7FF0000000000000)
_FLIP = np.int64(0x7FFFFFFFFFFFFFFF)
# Values that differ by less than this, relatively, differ by rounding.
_ROUNDING = 1e-12


@kernel
def score_rows(rows, target, weights):
    """For each row: sum of target x place, fingerprint of its order, and squared spread of its places.

    Places are 2 x midrank - n - 1, so that they sum to 0. Rows are finite.
    """
    n_rows, n = rows.shape
    covariation, fingerprint, spread = np.empty(n_rows), np.empty(n_rows, np.int64), np.empty(n_rows)
    keys = np.empty(n, np.int64)
    order, spare, bucket = np.empty(n, np.uint32), np.empty(n, np.uint32), np.empty(n, np.uint32)
    counts = np.empty((2, 1 << _digit_bits(n)), np.uint32)
    for row in range(n_rows):
        low, high = _keys(rows[row], keys)
        tied = _sort(keys, low, high, order, spare, bucket, counts)
        covariation[row], fingerprint[row], spread[row] = _tally(keys, order, tied, target, weights)
    return covariation, fingerprint, spread


@kernel
def score_expressions(values, codes, lefts, rights, target, weights):
    """The same for expressions of rows of ``values``; NaN where one is not finite or constant."""
    size, n = len(codes), values.shape[1]
    covariation, fingerprint, spread = np.empty(size), np.empty(size, np.int64), np.empty(size)
    keys = np.empty(n, np.int64)
    order, spare, bucket = np.empty(n, np.uint32), np.empty(n, np.uint32), np.empty(n, np.uint32)
    counts = np.empty((2, 1 << _digit_bits(n)), np.uint32)
    row = np.empty(n)
    for e in range(size):
        _apply(codes[e], values[lefts[e]], values[rights[e]], row)
        low, high = _keys(row, keys)
        if (low <= _LOWEST) | (high >= _HIGHEST):
            covariation[e], fingerprint[e], spread[e] = np.nan, 0, np.nan
            continue
        tied = _sort(keys, low, high, order, spare, bucket, counts)
        smallest, largest = row[order[0]], row[order[n - 1]]
        if largest - smallest <= _ROUNDING * max(abs(smallest), abs(largest)):
            covariation[e], fingerprint[e], spread[e] = np.nan, 0, np.nan
            continue
        covariation[e], fingerprint[e], spread[e] = _tally(keys, order, tied, target, weights)
    return covariation, fingerprint, spread


@kernel
def evaluate_expressions(values, codes, lefts, rights):
    """Values of expressions of rows, and whether each is finite and not constant."""
    n_expressions, n = len(codes), values.shape[1]
    rows, usable = np.empty((n_expressions, n)), np.empty(n_expressions, np.bool_)
    for e in range(n_expressions):
        _apply(codes[e], values[lefts[e]], values[rights[e]], rows[e])
        finite, smallest, largest = True, np.inf, -np.inf
        for value in rows[e]:
            finite &= np.isfinite(value)
            smallest, largest = min(smallest, value), max(largest, value)
        usable[e] = finite and largest - smallest > _ROUNDING * max(abs(smallest), abs(largest))
    return rows, usable


@kernel
def evaluate_table(rows, n_inputs, codes, lefts, rights):
    """Fill the rows after the inputs, each an expression of earlier rows."""
    for e in range(n_inputs, len(rows)):
        _apply(codes[e], rows[lefts[e]], rows[rights[e]], rows[e])


@kernel
def best_subset(gram, moment, size):
    """The ``size`` columns whose least-squares fit explains most, by trying all.

    ``gram`` and ``moment`` are inner products of centred columns of length 1, with each other and with the target. The
    columns chosen so far are swept out of what remains, level by level; the last level is one look at each column.
    """
    q = len(gram)
    inner, outer = np.empty((size, q, q)), np.empty((size, q))
    inner[0], outer[0] = gram, moment
    explained = np.zeros(size)
    chosen, best = np.zeros(size, np.intp), np.zeros(size, np.intp)
    most = -1.0
    level = 0
    chosen[0] = -1
    while level >= 0:
        chosen[level] += 1
        column = chosen[level]
        if level == size - 1:
            for last in range(column, q):
                left = inner[level, last, last]
                gain = explained[level] + (outer[level, last] ** 2 / left if left > 1e-10 else 0.0)
                if gain > most:
                    most = gain
                    best[:] = chosen
                    best[level] = last
            level -= 1
        elif column > q - (size - level):
            level -= 1
        else:
            left = inner[level, column, column]
            # A combination of columns that are chosen already explains nothing more, but fills a place.
            spent = left <= 1e-10
            slope = 0.0 if spent else outer[level, column] / left
            explained[level + 1] = explained[level] + outer[level, column] * slope
            for i in range(column + 1, q):
                outer[level + 1, i] = outer[level, i] - inner[level, column, i] * slope
                factor = 0.0 if spent else inner[level, column, i] / left
                for j in range(i, i + 1 if level == size - 2 else q):  # the last level looks at the diagonal alone
                    inner[level + 1, i, j] = inner[level, i, j] - factor * inner[level, column, j]
            level += 1
            chosen[level] = column
    return best, most


# ---------------------------------------------------------------------------------------------------------------


@kernel
def _digit_bits(n):
    """Bits of a digit: few where clearing and adding up the counts would cost more than the sorting."""
    return 9 if n < 256 else 10 if n < 2000 else 12 if n < 50_000 else 13


@kernel
def _keys(row, keys):
    """Integers that order as the values do; return the smallest and the largest."""
    bits = row.view(np.int64)
    low, high = _FLIP, -_FLIP
    for i in range(len(row)):
        key = bits[i] ^ ((bits[i] >> 63) & _FLIP)
        key += key == -1  # minus zero is zero
        keys[i] = key
        low, high = min(low, key), max(high, key)
    return low, high


@kernel
def _sort(keys, low, high, order, spare, bucket, counts):
    n = len(keys)
    bits = np.uint32(_digit_bits(n))
    mask = np.uint32((1 << bits) - 1)
    unsigned, base = keys.view(np.uint64), np.uint64(low)
    shift = np.uint64(0)
    while (np.uint64(high) - base) >> shift >= np.uint64(1) << np.uint64(2 * bits):
        shift += np.uint64(1)
    for i in range(n):
        bucket[i] = np.uint32((unsigned[i] - base) >> shift)
    counts[:] = 0
    for i in range(n):
        counts[0, bucket[i] & mask] += np.uint32(1)
        counts[1, bucket[i] >> bits] += np.uint32(1)
    first, second = np.uint32(0), np.uint32(0)
    for digit in range(counts.shape[1]):
        here, there = counts[0, digit], counts[1, digit]
        counts[0, digit], counts[1, digit] = first, second
        first, second = first + here, second + there
    for i in range(n):
        digit = bucket[i] & mask
        spare[counts[0, digit]] = i
        counts[0, digit] += np.uint32(1)
    for k in range(n):
        i = spare[k]
        digit = bucket[i] >> bits
        order[counts[1, digit]] = i
        counts[1, digit] += np.uint32(1)
    return _insert(keys, order)


@kernel
def _insert(keys, order):
    """Put right what shares a bucket; where that is too much, as with an outlier beyond all measure, sort anew.

    Return whether there are ties.
    """
    n = len(order)
    moves = 16 * n
    tied = False
    before = keys[order[0]]
    for k in range(1, n):
        i = order[k]
        key = keys[i]
        if key > before:
            before = key
            continue
        j = k
        while j > 0 and keys[order[j - 1]] > key:
            order[j] = order[j - 1]
            j -= 1
        order[j] = i
        tied |= j > 0 and keys[order[j - 1]] == key
        before = keys[order[k]]
        moves -= k - j
        if moves < 0:
            order[:] = np.argsort(keys).astype(np.uint32)
            return True
    return tied


@kernel
def _tally(keys, order, tied, target, weights):
    """Sums over the places 2 x midrank - n - 1."""
    n = len(order)
    if not tied:
        even, odd, fingerprint = 0.0, 0.0, np.int64(0)
        place = 1 - n
        for k in range(0, n - 1, 2):  # two sums: an addition need not wait for the one before
            i, j = order[k], order[k + 1]
            even += place * target[i]
            odd += (place + 2) * target[j]
            # Integers wrap around, so that the sum is the same in every order: equal exactly where the places are.
            fingerprint += place * weights[i] + (place + 2) * weights[j]
            place += 4
        if n % 2:
            even += (n - 1) * target[order[n - 1]]
            fingerprint += (n - 1) * weights[order[n - 1]]
        return even + odd, abs(fingerprint), float(n) * (float(n) * n - 1) / 3
    covariation, fingerprint, lost = 0.0, np.int64(0), 0.0
    start = 0
    while start < n:
        key = keys[order[start]]
        end = start + 1
        while end < n and keys[order[end]] == key:
            end += 1
        place = start + end - n
        for k in range(start, end):
            i = order[k]
            covariation += place * target[i]
            fingerprint += place * weights[i]
        size = float(end - start)
        lost += size * (size * size - 1)
        start = end
    return covariation, abs(fingerprint), (float(n) * (float(n) * n - 1) - lost) / 3


@kernel
def _apply(code, left, right, out):
    """One operator on rows; the codes are those of the table of operators."""
    n = len(out)
    if code == 0:  # id
        out[:] = left
    elif code == 1:  # square
        for i in range(n):
            out[i] = left[i] * left[i]
    elif code == 2:  # cube
        for i in range(n):
            out[i] = left[i] * left[i] * left[i]
    elif code == 3:  # sqrt
        np.sqrt(left, out)
    elif code == 4:  # cbrt
        np.cbrt(left, out)
    elif code == 5:  # inverse
        np.divide(1.0, left, out)
    elif code == 6:  # exp
        np.exp(left, out)
    elif code == 7:  # log
        np.log(left, out)
    elif code == 8:  # sin
        np.sin(left, out)
    elif code == 9:  # cos
        np.cos(left, out)
    elif code == 10:  # abs
        np.abs(left, out)
    elif code == 11:  # +
        for i in range(n):
            out[i] = left[i] + right[i]
    elif code == 12:  # -
        for i in range(n):
            out[i] = left[i] - right[i]
    elif code == 13:  # *
        for i in range(n):
            out[i] = left[i] * right[i]
    elif code == 14:  # /
        np.divide(left, right, out)
    else:  # |-|
        for i in range(n):
            out[i] = abs(left[i] - right[i])
