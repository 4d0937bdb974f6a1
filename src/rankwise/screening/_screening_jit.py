"""Compiled loops of screening: evaluate expressions, sort them, sum up scores and fingerprints, try subsets.

Rows are features. A row is sorted by two passes of a radix sort on the leading bits of its values, and then put right
by insertion, which compares the values themselves: the order is exact, and as fast as with rounded keys.

Every value of an expression has a bound of its rounding error, so that values that are equal in exact arithmetic are
tied, and values that differ by more are not. If no two values are near each other, as is usual, bounds are not needed.
"""

import math

import numpy as np

from rankwise._compiled import compiled

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators


# Codes of operators.
ID, SQUARE, CUBE, SQRT, CBRT, INVERSE, EXP, LOG, SIN, COS, ABS = range(11)
ADD, SUBTRACT, MULTIPLY, DIVIDE, ABS_DIFFERENCE = range(11, 16)
ONE_PLUS, ONE_MINUS = 16, 17  # unary; codes are saved with models, so those above keep their numbers
# Order-preserving integer keys of minus and plus infinity; those of NaNs are outside.
_LOWEST, _HIGHEST = np.int64(-0x7FF0000000000001), np.int64(0x7FF0000000000000)
_LARGEST = np.int64(0x7FFFFFFFFFFFFFFF)
# Largest relative error of a sum, product, quotient or root; other library functions may err by twice as much.
_ROUNDING = 2.0**-53
# Callers say which rows are sharp: their relative errors are at most 2**-50, a few roundings without cancelled digits.
# Sums of sharp rows that are at least the part _CANCELLED of their terms have relative errors of at most _CLEAR. Values
# of one row that are _NEAR steps of floating-point numbers apart, or more, are then different.
_CANCELLED, _CLEAR, _NEAR = 2.0**-16, 2.0**-33, np.uint64(1 << 22)
# Codes of the functions that are monotone, at least on numbers of one sign: all but sin and cos.
_MONOTONE = (ID, SQUARE, CUBE, SQRT, CBRT, INVERSE, EXP, LOG, ABS, ONE_PLUS, ONE_MINUS)
# Codes of the functions that keep different values different only if their differences, not ratios, are large enough.
_BY_DIFFERENCE = (EXP, ONE_PLUS, ONE_MINUS)
# A quarter of a turn, pi / 2, in parts of 33 bits: multiples of the first two are exact.
_QUARTER = (1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21)
# Half turns of an angle of 1, and the step of the keys of angles of up to a quarter turn, with the largest key.
_HALVES, _ANGLE_STEP = 1 / math.pi, 2.0**-49
_LARGEST_ANGLE = np.int64(1.6 / _ANGLE_STEP)
# A number whose last digit is 1, and its bits: in a sum with a number below 2**51, the last bits are its whole part.
_TO_WHOLE = 1.5 * 2.0**52
_WHOLE = np.float64(_TO_WHOLE).view(np.int64)
# Coefficients of the power series of sine and cosine, the last first, without those written out below.
_ODD_FACTORIALS = tuple((-1) ** k / math.factorial(2 * k + 1) for k in range(8, 0, -1))
_EVEN_FACTORIALS = tuple((-1) ** k / math.factorial(2 * k) for k in range(8, 1, -1))
# Distance of two values, in steps of floating-point numbers, from which no root or logarithm of them can be equal.
_STEPS_APART = np.uint64(4096)


@compiled
def score_rows(rows, keys, target, weights):
    """For each row: sum of target x place, fingerprint of its order, and squared spread of its places.

    Places are 2 x midrank - n - 1, so that they sum to 0. Rows are finite; ``keys`` is space for one row, integers of
    as many bits as the values have.
    """
    n_rows, n = rows.shape
    covariation, fingerprint, spread = np.empty(n_rows), np.empty(n_rows, np.int64), np.empty(n_rows)
    order, spare, bucket = np.empty(n, np.uint32), np.empty(n, np.uint32), np.empty(n, np.uint32)
    counts = np.empty((2, 1 << _digit_bits(n)), np.uint32)
    for row in range(n_rows):
        low, high = _keys(rows[row], keys)
        tied, _ = _sort(keys, low, high, order, spare, bucket, counts)
        covariation[row], fingerprint[row], spread[row] = _tally(keys, order, tied, target, weights)
    return covariation, fingerprint, spread


@compiled
def score_expressions(values, errors, sharp, codes, lefts, rights, target, weights):
    """The same for expressions of rows of ``values``, with values tied that differ by no more than their errors.

    NaN if an expression is constant or not finite. A unary operator that certainly keeps or reverses the order of its
    operand is not computed: the scores are those of the operand.
    """
    size, n = len(codes), values.shape[1]
    covariation, fingerprint, spread = np.empty(size), np.empty(size, np.int64), np.empty(size)
    keys = np.empty(n, np.int64)
    order, spare, bucket = np.empty(n, np.uint32), np.empty(n, np.uint32), np.empty(n, np.uint32)
    counts = np.empty((2, 1 << _digit_bits(n)), np.uint32)
    row, error, ends, images = np.empty(n), np.empty(n), np.empty(2), np.empty(2)
    operand, held, known, apart = -1, -1, (0.0, np.int64(0), 0.0), (False, False)
    folded_operand, folded = -1, (False, known)
    for e in range(size):
        code, left, right = codes[e], lefts[e], rights[e]
        covariation[e], fingerprint[e], spread[e] = np.nan, 0, np.nan
        if code in _MONOTONE:
            if left != operand:
                operand = left
                ends[0], ends[1] = values[left].min(), values[left].max()
            _apply(code, ends, ends, images)
            if np.isnan(images[0]):
                continue  # the root or the logarithm of a negative number
            direction = _direction(code, ends[0], ends[1])
            fold = (direction == 0) & (left == folded_operand) & (code != INVERSE)
            if sharp[left] and left != held and not fold:
                held = left
                low, high = _keys(values[left], keys)
                tied, _ = _sort(keys, low, high, order, spare, bucket, counts)
                known = _tally(keys, order, tied, target, weights)
                apart = _apart(values[left], keys, order)
            if sharp[left] and direction != 0 and (apart[1] if code in _BY_DIFFERENCE else apart[0]):
                if np.isfinite(images[0]) and np.isfinite(images[1]) and images[0] != images[1]:
                    covariation[e], fingerprint[e], spread[e] = direction * known[0], known[1], known[2]
                continue
            if sharp[left] and direction == 0 and (fold or apart[0]):
                # Values of both signs: the order of |z| and z^2 is merged, that of 1/z turned around, side by side.
                if code == INVERSE and _turn(values[left], order, spare):
                    covariation[e], fingerprint[e], spread[e] = _tally(keys, spare, tied, target, weights)
                    continue
                if code != INVERSE:
                    if not fold:
                        folded_operand, folded = left, (False, known)
                        if not tied and _fold(values[left], order, spare):
                            folded = (True, _tally(keys, spare, False, target, weights))
                    if folded[0]:
                        covariation[e], fingerprint[e], spread[e] = folded[1]
                        continue
        held = -1  # the order below is that of the expression
        if ((code == SIN) | (code == COS)) and sharp[left] and _angles(code, values[left], row, keys):
            tied, _ = _sort(keys, -_LARGEST_ANGLE, _LARGEST_ANGLE, order, spare, bucket, counts)
            if _keep_apart(row, order):
                covariation[e], fingerprint[e], spread[e] = _tally(keys, order, tied, target, weights)
                continue
        _apply(code, values[left], values[right], row)
        low, high = _keys(row, keys)
        if (low > _LOWEST) & (high < _HIGHEST):
            tied, near = _sort(keys, low, high, order, spare, bucket, counts)
            clear = sharp[left] & sharp[right] & _keeps_digits(code, values[left], values[right], row)
            if near | (not clear):
                _bound(code, values[left], errors[left], values[right], errors[right], row, error)
                near |= not _is_clear(row, error)
            first, last = order[0], order[n - 1]
            if near:
                if row[last] - row[first] > error[first] + error[last]:
                    scores = _tally_near(row, error, order, target, weights)
                    covariation[e], fingerprint[e], spread[e] = scores
            elif low < high:
                covariation[e], fingerprint[e], spread[e] = _tally(keys, order, tied, target, weights)
    return covariation, fingerprint, spread


@compiled
def evaluate_expressions(values, errors, codes, lefts, rights):
    """Values of expressions of rows, bounds of their errors, and whether each is finite and not constant."""
    n_expressions, n = len(codes), values.shape[1]
    rows, bounds = np.empty((n_expressions, n)), np.empty((n_expressions, n))
    usable = np.empty(n_expressions, np.bool_)
    for e in range(n_expressions):
        left, right, row, bound = lefts[e], rights[e], rows[e], bounds[e]
        _apply(codes[e], values[left], values[right], row)
        _bound(codes[e], values[left], errors[left], values[right], errors[right], row, bound)
        finite, first, last = True, 0, 0
        for i in range(n):
            finite &= np.isfinite(row[i])
            first, last = i if row[i] < row[first] else first, i if row[i] > row[last] else last
        usable[e] = finite and row[last] - row[first] > bound[first] + bound[last]
    return rows, bounds, usable


@compiled
def evaluate_table(rows, errors, n_inputs, codes, lefts, rights):
    """Fill the rows after the inputs, each an expression of earlier rows, and the bounds of their errors."""
    for e in range(n_inputs, len(rows)):
        left, right = lefts[e], rights[e]
        _apply(codes[e], rows[left], rows[right], rows[e])
        _bound(codes[e], rows[left], errors[left], rows[right], errors[right], rows[e], errors[e])


@compiled
def settle_rows(rows, errors):
    """Make values equal that differ by no more than their errors: each group becomes its middle value.

    Values are finite or NaN; NaNs stay as they are.
    """
    n = rows.shape[1]
    keys = np.empty(n, np.int64)
    order, spare, bucket = np.empty(n, np.uint32), np.empty(n, np.uint32), np.empty(n, np.uint32)
    counts = np.empty((2, 1 << _digit_bits(n)), np.uint32)
    for e in range(len(rows)):
        row, error = rows[e], errors[e]
        low, high = _keys(row, keys)
        _, near = _sort(keys, low, high, order, spare, bucket, counts)
        if near or not _is_clear(row, error):
            most = _most_error(row)
            start = 0
            while start < n:
                end = _end_of_group(row, error, most, order, start)
                middle = row[order[(start + end - 1) // 2]]
                for k in range(start, end):
                    row[order[k]] = middle
                start = end


@compiled
def best_subset(gram, moment, size):
    """The ``size`` columns whose least-squares fit explains most, by trying all.

    ``gram`` and ``moment`` are inner products of centered columns of length 1, with each other and with the target. The
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
            # A combination of columns that are already chosen explains nothing more, but takes a place.
            redundant = left <= 1e-10
            slope = 0.0 if redundant else outer[level, column] / left
            explained[level + 1] = explained[level] + outer[level, column] * slope
            for i in range(column + 1, q):
                outer[level + 1, i] = outer[level, i] - inner[level, column, i] * slope
                factor = 0.0 if redundant else inner[level, column, i] / left
                for j in range(i, i + 1 if level == size - 2 else q):  # the last level needs only the diagonal
                    inner[level + 1, i, j] = inner[level, i, j] - factor * inner[level, column, j]
            level += 1
            chosen[level] = column
    return best, most


@compiled
def _digit_bits(n):
    """Bits of a digit: few where clearing and adding up the counts would cost more than the sorting."""
    return 9 if n < 256 else 10 if n < 2000 else 12 if n < 50_000 else 13


@compiled
def _keys(row, keys):
    """Integers that order as the values do; return the smallest and the largest."""
    bits = row.view(keys.dtype)
    flip = _LARGEST >> (64 - 8 * row.itemsize)
    low, high = _LARGEST, -_LARGEST
    for i in range(len(row)):
        key = np.int64(bits[i])
        key ^= (key >> 63) & flip
        key += key == -1  # minus zero is zero
        keys[i] = key
        low, high = min(low, key), max(high, key)
    return low, high


@compiled
def _sort(keys, low, high, order, spare, bucket, counts):
    """Fill the order by two passes over leading bits, and insertion; return whether values are tied, or near."""
    n = len(keys)
    bits = np.uint32(_digit_bits(n))
    mask = np.uint32((1 << bits) - 1)
    shift = np.uint64(0)
    while np.uint64(high - low) >> shift >= np.uint64(1) << np.uint64(2 * bits):
        shift += np.uint64(1)
    for i in range(n):
        bucket[i] = np.uint32(np.uint64(keys[i] - low) >> shift)  # wrap-around cancels in the difference
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


@compiled
def _insert(keys, order):
    """Order the values within each bucket; if there are too many, as with an extreme outlier, sort from scratch.

    Return whether there are ties, and whether values that are not tied lie near each other.
    """
    n = len(order)
    moves = 16 * n
    tied, near = False, False
    before = keys[order[0]]
    for k in range(1, n):
        i = order[k]
        key = keys[i]
        if key > before:
            near |= bool(np.uint64(key - before) < _NEAR)  # wrap-around cancels in the difference
            before = key
            continue
        j = k
        while j > 0 and keys[order[j - 1]] > key:
            order[j] = order[j - 1]
            j -= 1
        order[j] = i
        tied |= j > 0 and keys[order[j - 1]] == key
        near |= j > 0 and bool(np.uint64(key - keys[order[j - 1]] - 1) < _NEAR)
        near |= j < k and bool(np.uint64(keys[order[j + 1]] - key) < _NEAR)
        before = keys[order[k]]
        moves -= k - j
        if moves < 0:
            order[:] = np.argsort(keys).astype(np.uint32)
            return True, True
    return tied, near


@compiled
def _tally(keys, order, tied, target, weights):
    """Sums over the places 2 x midrank - n - 1."""
    n = len(order)
    if not tied:
        even, odd, fingerprint = 0.0, 0.0, np.int64(0)
        place = 1 - n
        for k in range(0, n - 1, 2):  # two sums, so that an addition does not wait for the one before
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


@compiled
def _end_of_group(row, error, most, order, start):
    """End of the group of values that each differ from the one before by no more than their errors."""
    end = start + 1
    while end < len(order):
        i, j = order[end - 1], order[end]
        if not row[j] - row[i] <= min(error[i] + error[j], most):
            break
        end += 1
    return end


@compiled
def _most_error(row):
    """Largest difference of tied values: where errors are larger, nothing is known, and nothing is changed."""
    largest = 0.0
    for value in row:
        largest = max(largest, abs(value) if np.isfinite(value) else 0.0)
    return 2.0**-30 * largest


@compiled
def _tally_near(row, error, order, target, weights):
    """Sums over places, with values tied that differ by no more than their errors."""
    n = len(order)
    most = _most_error(row)
    covariation, fingerprint, lost = 0.0, np.int64(0), 0.0
    start = 0
    while start < n:
        end = _end_of_group(row, error, most, order, start)
        place = start + end - n
        for k in range(start, end):
            i = order[k]
            covariation += place * target[i]
            fingerprint += place * weights[i]
        size = float(end - start)
        lost += size * (size * size - 1)
        start = end
    return covariation, abs(fingerprint), (float(n) * (float(n) * n - 1) - lost) / 3


@compiled
def _keeps_digits(code, left, right, row):
    """Whether the result of sharp operands is clear, without computing error bounds."""
    if (code == ADD) | (code == SUBTRACT) | (code == ABS_DIFFERENCE):
        cancelled = 0
        for i in range(len(row)):
            cancelled += abs(row[i]) < _CANCELLED * (abs(left[i]) + abs(right[i]))
        return cancelled == 0
    return (code == ID) | (code == MULTIPLY) | (code == DIVIDE)


@compiled
def _is_clear(row, error):
    unclear = 0
    for i in range(len(row)):
        unclear += error[i] > _CLEAR * abs(row[i])
    return unclear == 0


@compiled
def _apart(row, keys, order):
    """Whether different values lie so far apart that they stay different: under powers and logarithms, and under exp.

    What holds for exp holds for sums with 1. Powers also need sizes whose cubes neither overflow nor vanish.
    """
    n = len(row)
    smallest, nearest, step = np.inf, np.inf, np.uint64(_LARGEST)
    for k in range(n):
        size = abs(row[order[k]])
        if size > 0:
            smallest = min(smallest, size)
        if k > 0 and keys[order[k]] != keys[order[k - 1]]:
            step = min(step, np.uint64(keys[order[k]] - keys[order[k - 1]]))
            nearest = min(nearest, row[order[k]] - row[order[k - 1]])
    largest = max(abs(row[order[0]]), abs(row[order[n - 1]]))
    powers = (step >= _STEPS_APART) & (smallest > 1e-100) & (largest < 1e100)
    return powers, (nearest > 1e-14 * max(1.0, largest)) & (largest < 700.0)


@compiled
def _fold(row, order, out):
    """Order by absolute value, out of the order of values of both signs; whether no two sizes are near each other."""
    n = len(order)
    upper = 0
    while upper < n and row[order[upper]] < 0:
        upper += 1
    lower = upper - 1
    before = -1.0
    for k in range(n):
        if lower >= 0 and (upper == n or -row[order[lower]] <= row[order[upper]]):
            out[k] = order[lower]
            lower -= 1
        else:
            out[k] = order[upper]
            upper += 1
        size = abs(row[out[k]])
        if size - before <= 1e-12 * size:  # far more than the steps that roundings can take
            return False
        before = size
    return True


@compiled
def _turn(row, order, out):
    """Order of the reciprocals of values of both signs; whether there are any, which 0 has not."""
    n = len(order)
    upper = 0
    while upper < n and row[order[upper]] < 0:
        upper += 1
    for k in range(upper):
        out[k] = order[upper - 1 - k]
    for k in range(upper, n):
        out[k] = order[n - 1 + upper - k]
    return row[order[upper]] > 0


@compiled
def _direction(code, smallest, largest):
    """1 if a function increases between two ends, -1 if it decreases, 0 if it does neither."""
    if (code == SQUARE) | (code == ABS):
        return 1 if smallest >= 0 else -1 if largest <= 0 else 0
    if code == INVERSE:
        return -1 if (smallest > 0) | (largest < 0) else 0
    return -1 if code == ONE_MINUS else 1


@compiled
def _sine(row, quarters, out):
    """Sines of the values, shifted by a number of quarter turns, correct to the last digit or two.

    Without branches, so that several are computed at once, five times as fast as by the library functions. These are
    used for large values, whose turns cannot be subtracted in three steps.
    """
    largest = max(abs(row.min()), abs(row.max()))
    if not largest < 1e5:
        if quarters == 0.0:
            np.sin(row, out)
        else:
            np.cos(row, out)
        return
    for i in range(len(row)):
        turns = np.rint(row[i] / _QUARTER[0])
        rest = ((row[i] - turns * _QUARTER[0]) - turns * _QUARTER[1]) - turns * _QUARTER[2]
        square = rest * rest
        sine, cosine = 0.0, 0.0
        for inverse in _ODD_FACTORIALS:
            sine = sine * square + inverse
        for inverse in _EVEN_FACTORIALS:
            cosine = cosine * square + inverse
        sine = rest + rest * square * sine
        cosine = 1.0 - (0.5 * square - square * square * cosine)
        place = turns + quarters
        place -= 4.0 * np.floor(0.25 * place)
        value = cosine if (place == 1.0) | (place == 3.0) else sine
        out[i] = -value if place >= 2.0 else value


@compiled
def _angles(code, row, angles, keys):
    """Fill angles of at most a quarter turn whose sines are the sines or cosines of the values, and their keys.

    A sine increases with such an angle, so that angles have the order of the sines, which need not be computed. Keys
    are multiples of _ANGLE_STEP. Return whether this is exact enough: not for large values, whose turns cannot be
    subtracted in three steps, nor where digits are cancelled near a multiple of a half turn.
    """
    quarter = 1.0 if code == COS else 0.0
    sign = -1.0 if code == COS else 1.0
    unclear = 0
    for i in range(len(row)):
        halves = np.rint(row[i] * _HALVES - 0.5 * quarter)
        quarters = 2.0 * halves + quarter
        rest = ((row[i] - quarters * _QUARTER[0]) - quarters * _QUARTER[1]) - quarters * _QUARTER[2]
        odd = halves - 2.0 * np.floor(0.5 * halves)
        angles[i] = (sign - 2.0 * sign * odd) * rest
        size, turned = abs(row[i]), abs(rest)
        unclear += (not size < 1e5) | (turned < _CANCELLED * size) | ((turned < _CANCELLED) & (turned > 0.0))
    # Adding a large number leaves the multiple in the last digits; this is quicker than a conversion.
    values = keys.view(np.float64)
    for i in range(len(row)):
        values[i] = angles[i] * (1 / _ANGLE_STEP) + _TO_WHOLE
    for i in range(len(row)):
        keys[i] -= _WHOLE
    return unclear == 0


@compiled
def _keep_apart(angles, order):
    """Whether not all angles are equal, and sines of those that are not equal differ by more than their errors."""
    near, before = 0, angles[order[0]]
    for k in range(1, len(order)):
        angle = angles[order[k]]
        # sin b - sin a = 2 cos((a + b) / 2) sin((b - a) / 2); chords of the two are below them.
        gap = (angle - before) * (1.0 - abs(angle + before) * _HALVES) * (2.0 * _HALVES)
        near += (angle != before) & (gap < 4.0 * _CLEAR * max(abs(angle), abs(before)))
        before = angle
    return (near == 0) & (angles[order[0]] < before)


@compiled
def _apply(code, left, right, out):
    """One operator on rows."""
    n = len(out)
    if code == ID:
        out[:] = left
    elif code == SQUARE:
        for i in range(n):
            out[i] = left[i] * left[i]
    elif code == CUBE:
        for i in range(n):
            out[i] = left[i] * left[i] * left[i]
    elif code == SQRT:
        np.sqrt(left, out)
    elif code == CBRT:
        np.cbrt(left, out)
    elif code == INVERSE:
        np.divide(1.0, left, out)
    elif code == EXP:
        np.exp(left, out)
    elif code == LOG:
        np.log(left, out)
    elif code == SIN:
        _sine(left, 0.0, out)
    elif code == COS:
        _sine(left, 1.0, out)
    elif code == ABS:
        np.abs(left, out)
    elif code == ADD:
        for i in range(n):
            out[i] = left[i] + right[i]
    elif code == SUBTRACT:
        for i in range(n):
            out[i] = left[i] - right[i]
    elif code == MULTIPLY:
        for i in range(n):
            out[i] = left[i] * right[i]
    elif code == DIVIDE:
        np.divide(left, right, out)
    elif code == ONE_PLUS:
        for i in range(n):
            out[i] = 1.0 + left[i]
    elif code == ONE_MINUS:
        for i in range(n):
            out[i] = 1.0 - left[i]
    else:  # |-|
        for i in range(n):
            out[i] = abs(left[i] - right[i])


@compiled
def _bound(code, left, left_error, right, right_error, row, bound):
    """How far each value may be from that of exact arithmetic, if the operands are off by their errors."""
    n = len(row)
    if code == ID:
        bound[:] = left_error
    elif code == SQUARE:
        for i in range(n):
            bound[i] = (2.0 * abs(left[i]) + left_error[i]) * left_error[i] + _ROUNDING * row[i]
    elif code == CUBE:
        for i in range(n):
            size = abs(left[i]) + left_error[i]
            bound[i] = 3.0 * size * size * left_error[i] + 2.0 * _ROUNDING * abs(row[i])
    elif (code == SQRT) | (code == CBRT) | (code == LOG):  # steep at 0
        power = 0.5 if code == SQRT else 2.0 / 3.0 if code == CBRT else 1.0
        for i in range(n):
            size = max(abs(left[i]), left_error[i])
            steep = left_error[i] / size**power if size > 0 else 0.0
            bound[i] = steep + 2.0 * _ROUNDING * abs(row[i])
    elif code == INVERSE:
        for i in range(n):
            bound[i] = (row[i] * left_error[i]) * row[i] + _ROUNDING * abs(row[i])
    elif code == EXP:
        for i in range(n):
            bound[i] = row[i] * (left_error[i] + 2.0 * _ROUNDING)
    elif (code == SIN) | (code == COS):
        for i in range(n):
            bound[i] = left_error[i] + 6.0 * _ROUNDING * abs(row[i])
    elif code == ABS:
        bound[:] = left_error
    elif (code == ONE_PLUS) | (code == ONE_MINUS):
        for i in range(n):
            bound[i] = left_error[i] + _ROUNDING * abs(row[i])
    elif code == MULTIPLY:
        for i in range(n):
            bound[i] = abs(left[i]) * right_error[i] + (abs(right[i]) + right_error[i]) * left_error[i]
            bound[i] += _ROUNDING * abs(row[i])
    elif code == DIVIDE:
        for i in range(n):
            size = abs(right[i])
            quotient = (left_error[i] + abs(row[i]) * right_error[i]) / size if size > 0 else np.inf
            bound[i] = quotient + _ROUNDING * abs(row[i])
    else:  # +, -, |-|
        for i in range(n):
            bound[i] = left_error[i] + right_error[i] + _ROUNDING * abs(row[i])
