"""Compiled functions that grow level trees: histograms, the one cut of a level, and sums of leaves.

The leaf of a row is a number whose bit d says on which side of the cut of level d it lies: cutting leaf ``l`` at level
d leaves ``l`` on the left and makes ``l + 2**d`` on the right. Histograms are kept by feature, so that threads share
the features, and every sum is made by one thread in the order of the rows. They hold running sums, so that what lies
left of a cut is read off.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankwise._compiled import compiled, compiled_sums


class Columns(NamedTuple):
    """Codes of the features, by feature and row; how many each has, and whether some are missing: the code after."""

    codes: np.ndarray
    n_codes: np.ndarray
    has_missing: np.ndarray


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
def best_cuts(columns, features, counted, totals, l2, histograms, cuts):
    """Write the best cut of each feature: the one with the largest sum over leaves of G^2 / (H + l2) on both sides.

    ``totals`` are G, H and the number of rows of the leaves. Missing values go to the better side. Without a
    cut, the score is -inf.

    Of the two sides of each cut of the level before, one is counted: its rows are added up, and the other side is what
    remains of the leaf before that cut, whose sums ``histograms`` holds at the place of the left side. At the root all
    rows are counted. The leaves of the last level, which are not split again, share the last place of
    ``histograms`` for their right sides. The sums of missing values follow after those of the last code, on their own.
    """
    codes, n_codes, has_missing = columns.codes, columns.n_codes, columns.has_missing
    half = len(counted.is_counted) // 2
    most_codes = histograms.shape[3]
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
            place = min(right, histograms.shape[1] - 1)
            for number in range(len(together)):
                feature = together[number]
                last, some_missing = n_codes[feature], has_missing[feature]
                _run_up(table, number, last, side == left, histograms, feature, left, place)
                if totals[left, 2] > 0.0:
                    _add_score(histograms, feature, left, last, some_missing, totals, left, l2, score, number)
                if half and totals[right, 2] > 0.0:
                    _add_score(histograms, feature, place, last, some_missing, totals, right, l2, score, number)
        for number in range(len(together)):
            feature = together[number]
            cuts.score[feature] = -np.inf
            for missing_left in range(2 if has_missing[feature] else 1):
                for code in range(_n_cuts(n_codes[feature], has_missing[feature], missing_left)):
                    if score[number, missing_left, code] > cuts.score[feature]:
                        cuts.score[feature] = score[number, missing_left, code]
                        cuts.code[feature] = code
                        cuts.missing_left[feature] = missing_left == 1


@compiled
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


@compiled
def _run_up(table, number, last, is_left, histograms, feature, left, right):
    """Make running sums of a side, take them from the leaf before the cut for the other side; empty the table.

    The sums of the parent are at the place of the left side; at the root left and right are the same, without a parent.
    The arguments are arrays and places instead of views, because making a view takes as long as adding up some codes.
    """
    total = 0j
    for code in range(last + 1):
        # Missing values are on their own.
        total = table[number, code] if code == last else total + table[number, code]
        table[number, code] = 0j
        gradient = histograms[feature, left, 0, code] - total.real
        hessian = histograms[feature, left, 1, code] - total.imag
        own, other = (left, right) if is_left else (right, left)
        histograms[feature, other, 0, code], histograms[feature, other, 1, code] = gradient, hessian
        histograms[feature, own, 0, code], histograms[feature, own, 1, code] = total.real, total.imag


@compiled
def _n_cuts(n_codes, has_missing, missing_left):
    """Number of cuts of a feature; after the last code, only missing values can go right."""
    return n_codes if has_missing and not missing_left else n_codes - 1


@compiled_sums
def _add_score(histograms, feature, place, last, has_missing, totals, leaf, l2, scores, number):
    """Add the score of a leaf for each cut, with missing values on the right and on the left."""
    for side in range(2 if has_missing else 1):
        missing_gradient = histograms[feature, place, 0, last] if side else 0.0
        missing_hessian = (histograms[feature, place, 1, last] if side else 0.0) + l2
        total_gradient, total_hessian = totals[leaf, 0], totals[leaf, 1] + 2 * l2
        for code in range(_n_cuts(last, has_missing, side)):
            left = histograms[feature, place, 0, code] + missing_gradient
            left_hessian = histograms[feature, place, 1, code] + missing_hessian
            right, right_hessian = total_gradient - left, total_hessian - left_hessian
            # G^2 / (H + l2) of both sides, with one division.
            both = left * left * right_hessian + right * right * left_hessian
            scores[number, side, code] += both / (left_hessian * right_hessian)


@compiled
def leaf_sums(rows, leaf, gradient, hessian, n_leaves):
    """Sums of gradient and second derivative, and the number of rows, of each leaf."""
    sums = np.zeros((n_leaves, 3))
    for row in rows:
        sums[leaf[row], 0] += gradient[row]
        sums[leaf[row], 1] += hessian[row]
        sums[leaf[row], 2] += 1.0
    return sums
