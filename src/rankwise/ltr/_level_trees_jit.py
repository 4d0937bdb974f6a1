"""Compiled functions that grow level trees: histograms, the one cut of a level, and sums of leaves.

The leaf of a row is a number whose bit d says on which side of the cut of level d it lies: cutting leaf ``l`` at level
d leaves ``l`` on the left and makes ``l + 2**d`` on the right. Threads share the features, and every sum is made by one
thread in the order of the rows. Histograms hold running sums, so that what lies left of a cut is read off.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankwise._compiled import compiled, compiled_in_place, compiled_sums_in_place


class Columns(NamedTuple):
    """Codes of the features, by feature and row.

    ``n_codes`` says how many each has, and ``has_missing`` whether some are missing, with the code after.
    ``starts`` are the places of the features in histograms, ``signs`` 1 or -1 for those in which scores must rise or
    fall, or empty if there are none.
    """

    codes: np.ndarray
    n_codes: np.ndarray
    has_missing: np.ndarray
    starts: np.ndarray
    signs: np.ndarray


class SparseColumns(NamedTuple):
    """The same where most values are 0: codes and rows of the others, feature by feature, and the code of 0."""

    codes: np.ndarray
    rows: np.ndarray
    starts: np.ndarray
    zero: np.ndarray
    n_codes: np.ndarray
    has_missing: np.ndarray
    signs: np.ndarray


class Leaves(NamedTuple):
    """G, H and the number of rows of the leaves, and the bounds of their values."""

    sums: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


class Counted(NamedTuple):
    """Rows of some leaves, leaf by leaf, where each leaf starts, and which are counted.

    ``gradients`` are gradient + i second derivative of the rows: as one complex number the two are read and added up
    together, which is quicker than one after the other.
    """

    rows: np.ndarray
    gradients: np.ndarray
    starts: np.ndarray
    is_counted: np.ndarray


class Cuts(NamedTuple):
    """The best cut of each feature: its score, the last code on the left, and whether missing values go left."""

    score: np.ndarray
    code: np.ndarray
    missing_left: np.ndarray


@compiled
def sort_by_leaf(rows, leaf, wanted, gradient, hessian):
    """The rows of wanted leaves, to be counted."""
    starts = np.zeros(len(wanted) + 1, np.int64)
    for row in rows:
        if wanted[leaf[row]]:
            starts[leaf[row] + 1] += 1
    for at in range(len(wanted)):
        starts[at + 1] += starts[at]
    n = starts[-1]
    sorted_rows = np.empty(n, np.uint32)  # indices without a sign need no test for it
    gradients = np.empty(n, np.complex128)
    place = starts[:-1].copy()
    for row in rows:
        own = leaf[row]
        if wanted[own]:
            sorted_rows[place[own]] = row
            gradients[place[own]] = complex(gradient[row], hessian[row])
            place[own] += 1
    return Counted(sorted_rows, gradients, starts, wanted)


@compiled
def best_cuts(columns, features, counted, leaves, l2, histograms, cuts):
    """Write the best cut of each feature: the one with the largest sum over leaves of G^2 / (H + l2) on both sides.

    Missing values go to the better side. Without a cut, the score is -inf.

    Of the two sides of each cut of the level before, one is counted: its rows are added up, and the other side is what
    remains of the leaf before that cut, whose sums ``histograms`` holds at the place of the left side. At the root all
    rows are counted. The leaves of the last level, which are not split again, share the last place of
    ``histograms`` for their right sides. The sums of missing values follow after those of the last code, on their own.
    """
    codes, n_codes, has_missing = columns.codes, columns.n_codes, columns.has_missing
    half, totals = len(counted.is_counted) // 2, leaves.sums
    most_codes = 0
    for feature in features:
        most_codes = max(most_codes, n_codes[feature] + 1)
    table, score = np.zeros((4, most_codes), np.complex128), np.empty((4, 2, most_codes))
    tables = table[0], table[1], table[2], table[3]
    for first in range(0, len(features), 4):
        together = features[first : first + 4]
        final = len(together) - 1  # a feature that lacks a partner is its own
        four = (
            codes[together[0]],
            codes[together[min(1, final)]],
            codes[together[min(2, final)]],
            codes[together[min(3, final)]],
        )
        score[:] = 0.0
        for left in range(max(half, 1)):
            right = left + half
            if totals[left, 2] + totals[right, 2] == 0.0:
                continue  # nor will what becomes of it have rows
            side = left if counted.is_counted[left] else right
            begin, end = counted.starts[side], counted.starts[side + 1]
            _add_rows(counted.rows[begin:end], counted.gradients[begin:end], four, tables)
            place = min(right, histograms.shape[0] - 1)
            for number in range(len(together)):
                feature = together[number]
                start, last, some_missing = columns.starts[feature], n_codes[feature], has_missing[feature]
                sign = columns.signs[feature] if len(columns.signs) else 0
                _run_up(table, number, last, side == left, histograms, start, left, place)
                if totals[left, 2] > 0.0:
                    _add_score(histograms, start, left, last, some_missing, leaves, left, l2, sign, score, number)
                if half and totals[right, 2] > 0.0:
                    _add_score(histograms, start, place, last, some_missing, leaves, right, l2, sign, score, number)
        for number in range(len(together)):
            _take_best(together[number], n_codes, has_missing, score, number, cuts)


@compiled
def best_sparse_cuts(columns, features, leaf, gradients, leaves, l2, cuts):
    """The same, leaf by leaf, where most values are 0: what the other values leave of each sum belongs to 0."""
    n_codes, has_missing, totals = columns.n_codes, columns.has_missing, leaves.sums
    most_codes = 0
    for feature in features:
        most_codes = max(most_codes, n_codes[feature] + 1)
    table, score = np.zeros((len(totals), most_codes), np.complex128), np.empty((1, 2, most_codes))
    histograms = np.zeros((1, 2, most_codes))
    half = len(totals) // 2
    rest = np.empty(len(totals), np.complex128)
    for feature in features:
        last, zero = n_codes[feature], columns.zero[feature]
        sign = columns.signs[feature] if len(columns.signs) else 0
        for own in range(len(totals)):
            rest[own] = complex(totals[own, 0], totals[own, 1])
        for at in range(columns.starts[feature], columns.starts[feature + 1]):
            row = columns.rows[at]
            own, gradient = leaf[row], gradients[row]
            table[own, columns.codes[at]] += gradient
            rest[own] -= gradient
        score[:] = 0.0
        for number in range(len(totals)):
            own = number // 2 + (number % 2) * half if half else 0  # in the order in which the dense columns add up
            if totals[own, 2] > 0.0:
                table[own, zero] += rest[own]
                _run_up(table, own, last, True, histograms, 0, 0, 0)
                _add_score(histograms, 0, 0, last, has_missing[feature], leaves, own, l2, sign, score, 0)
            else:
                table[own, : last + 1] = 0j
        _take_best(feature, n_codes, has_missing, score, 0, cuts)


@compiled_in_place
def _take_best(feature, n_codes, has_missing, score, number, cuts):
    """Write the first cut of the highest score."""
    cuts.score[feature] = -np.inf
    for missing_left in range(2 if has_missing[feature] else 1):
        for code in range(_n_cuts(n_codes[feature], has_missing[feature], missing_left)):
            if score[number, missing_left, code] > cuts.score[feature]:
                cuts.score[feature] = score[number, missing_left, code]
                cuts.code[feature] = code
                cuts.missing_left[feature] = missing_left == 1


@compiled_in_place
def _add_rows(rows, gradients, columns, tables):
    """Add gradients by code for four features at once: each row is looked up once, and sums need not wait for others.

    One feature at a time takes twice as long, as neighbors often share a code.
    """
    first, second, third, fourth = columns
    of_first, of_second, of_third, of_fourth = tables
    for at in range(len(rows)):
        row, gradient = rows[at], gradients[at]
        of_first[first[row]] += gradient
        of_second[second[row]] += gradient
        of_third[third[row]] += gradient
        of_fourth[fourth[row]] += gradient


@compiled_in_place
def _run_up(table, number, last, is_left, histograms, start, left, right):
    """Make running sums of a side, take them from the leaf before the cut for the other side; empty the table.

    The sums of the parent are at the place of the left side; at the root left and right are the same, without a parent.
    The arguments are arrays and places instead of views, because making a view takes as long as adding up some codes.
    """
    total = 0j
    for code in range(last + 1):
        # Missing values are on their own.
        total = table[number, code] if code == last else total + table[number, code]
        table[number, code] = 0j
        at = start + code
        gradient = histograms[left, 0, at] - total.real
        hessian = histograms[left, 1, at] - total.imag
        own, other = (left, right) if is_left else (right, left)
        histograms[other, 0, at], histograms[other, 1, at] = gradient, hessian
        histograms[own, 0, at], histograms[own, 1, at] = total.real, total.imag


@compiled_in_place
def _n_cuts(n_codes, has_missing, missing_left):
    """Number of cuts of a feature; after the last code, only missing values can go right."""
    return n_codes if has_missing and not missing_left else n_codes - 1


@compiled_sums_in_place
def _add_score(histograms, start, place, last, has_missing, leaves, leaf, l2, sign, scores, number):
    """Add the score of a leaf for each cut, with missing values on the right and on the left."""
    is_free = sign == 0 and leaves.lower[leaf] == -np.inf and leaves.upper[leaf] == np.inf
    for side in range(2 if has_missing else 1):
        n_cuts = _n_cuts(last, has_missing, side)
        missing_gradient = histograms[place, 0, start + last] if side else 0.0
        missing_hessian = histograms[place, 1, start + last] if side else 0.0
        if not is_free:
            own = scores[number, side]
            _add_bounded_score(
                histograms, start, place, n_cuts, missing_gradient, missing_hessian, leaves, leaf, l2, sign, own
            )
            continue
        missing_hessian += l2
        total_gradient, total_hessian = leaves.sums[leaf, 0], leaves.sums[leaf, 1] + 2 * l2
        for code in range(n_cuts):
            left = histograms[place, 0, start + code] + missing_gradient
            left_hessian = histograms[place, 1, start + code] + missing_hessian
            right, right_hessian = total_gradient - left, total_hessian - left_hessian
            # G^2 / (H + l2) of both sides, with one division.
            both = left * left * right_hessian + right * right * left_hessian
            scores[number, side, code] += both / (left_hessian * right_hessian)


@compiled_in_place
def _add_bounded_score(
    histograms, start, place, n_cuts, missing_gradient, missing_hessian, leaves, leaf, l2, sign, scores
):
    """The same where values have bounds or must be in order: what the values allowed bring, -(2 G v + (H + l2) v^2)."""
    lower, upper = leaves.lower[leaf], leaves.upper[leaf]
    for code in range(n_cuts):
        left = histograms[place, 0, start + code] + missing_gradient
        left_hessian = histograms[place, 1, start + code] + missing_hessian
        right, right_hessian = leaves.sums[leaf, 0] - left, leaves.sums[leaf, 1] - left_hessian
        low, high = bounded_values(left, left_hessian, right, right_hessian, l2, lower, upper, sign)
        if left != 0.0 or left_hessian != 0.0:
            scores[code] -= 2 * left * low + (left_hessian + l2) * low * low
        if right != 0.0 or right_hessian != 0.0:
            scores[code] -= 2 * right * high + (right_hessian + l2) * high * high


@compiled
def bounded_values(left, left_hessian, right, right_hessian, l2, lower, upper, sign):
    """Newton steps of both sides of a cut within bounds; one for both where the sign forbids their order.

    A side without gradients takes the step of the other, as it says nothing.
    """
    low = min(max(-left / (left_hessian + l2), lower), upper)
    high = min(max(-right / (right_hessian + l2), lower), upper)
    if left == 0.0 and left_hessian == 0.0:
        low = high
    elif right == 0.0 and right_hessian == 0.0:
        high = low
    elif sign * (high - low) < 0.0:
        low = min(max(-(left + right) / (left_hessian + right_hessian + 2 * l2), lower), upper)
        high = low
    return low, high


@compiled
def leaf_sums(rows, leaf, gradient, hessian, n_leaves):
    """Sums of gradient and second derivative, and the number of rows, of each leaf."""
    sums = np.zeros((n_leaves, 3))
    for row in rows:
        sums[leaf[row], 0] += gradient[row]
        sums[leaf[row], 1] += hessian[row]
        sums[leaf[row], 2] += 1.0
    return sums


@compiled
def move_right_sparse(columns, feature, cut, missing_left, bit, leaf):
    """Set a bit in the leaves of rows whose code lies above the cut; most rows have the code of 0."""
    zero_right = columns.zero[feature] > cut
    if zero_right:
        for row in range(len(leaf)):
            leaf[row] |= bit
    for at in range(columns.starts[feature], columns.starts[feature + 1]):
        code = columns.codes[at]
        goes_right = (not missing_left) if code == columns.n_codes[feature] else code > cut
        if goes_right != zero_right:
            leaf[columns.rows[at]] ^= bit


@compiled
def code_sparse(data, starts, n_rows, max_bins, codes):
    """Write codes of the values of sparse columns, as `rankwise.trees.engine.code_features` would code all values.

    Returns the code of 0 and the number of codes of each column, whether values are missing, and the lowest and highest
    value of each code.
    """
    n = len(starts) - 1
    zero, n_codes, has_missing = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.bool_)
    room = 0
    for column in range(n):
        room += min(starts[column + 1] - starts[column] + 1, max_bins)
    lower, upper = np.empty(room), np.empty(room)
    filled = 0
    for column in range(n):
        own = data[starts[column] : starts[column + 1]]
        values, counts = _distinct(own, n_rows - len(own))
        known = np.sum(counts)
        has_missing[column] = known < n_rows
        first = filled
        if len(values) <= max_bins:
            lower[filled : filled + len(values)] = values
            upper[filled : filled + len(values)] = values
            filled += len(values)
        else:  # cuts at equal shares of the rows; a value that holds many rows takes a bin of its own
            share, last, below, begin = 1, len(values) - 1, 0, 0
            for at in range(len(values)):
                below += counts[at]
                ends = at == last
                while share < max_bins and known * share / max_bins <= below:
                    ends, share = True, share + 1
                if ends:
                    lower[filled], upper[filled] = values[begin], values[at]
                    begin, filled = at + 1, filled + 1
        n_codes[column] = filled - first
        zero[column] = np.searchsorted(upper[first:filled], 0.0)
        for at in range(starts[column], starts[column + 1]):
            codes[at] = n_codes[column] if np.isnan(data[at]) else np.searchsorted(upper[first:filled], data[at])
    return zero, n_codes, has_missing, lower[:filled].copy(), upper[:filled].copy()


@compiled
def _distinct(own, n_zeros):
    """The different known values of a column and how many rows have each; ``own`` are those that are not 0."""
    ordered = np.sort(own)
    n = len(ordered)
    while n > 0 and np.isnan(ordered[n - 1]):
        n -= 1
    values, counts = np.empty(n + 1), np.zeros(n + 1, np.int64)
    size, zeros_left = 0, n_zeros > 0
    for at in range(n + 1):
        if zeros_left and (at == n or ordered[at] > 0.0):
            values[size], counts[size] = 0.0, n_zeros
            size, zeros_left = size + 1, False
        if at < n:
            if size == 0 or ordered[at] != values[size - 1]:
                values[size] = ordered[at]
                size += 1
            counts[size - 1] += 1
    return values[:size], counts[:size]
