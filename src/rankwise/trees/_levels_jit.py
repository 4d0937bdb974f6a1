"""Compiled functions of trees with one split per level.

`_grow_levels` searches the best common cut of all cells of a level here; `levels` moves rows to cells, predicts, and
finds what features contribute. The leaf of a row in a table is a number whose bit d says on which side of the cut of
level d the row lies.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from rankwise._compiled import compiled, compiled_sums

# Rows that go through all trees together, so that their leaves and features stay at hand.
_BLOCK = 256


@compiled_sums
def add_scores(vectors, weights, cell, order, keys, n_keys, totals, least, is_complete, scores):
    """Add to ``scores`` the score of each cut of one feature over all cells, by some coordinates of the target.

    The score of a cut is the sum over cells of |S_L|^2 / w_L + |S_R|^2 / w_R, or of |S|^2 / w for cells that it does
    not divide. ``vectors`` are w * e (followed by the known weights, if incomplete); ``totals`` their sums by cell,
    with weight and number of rows at the end. ``least`` is the fewest rows of a side, by cell, at least 1.
    ``scores[missing_left, t]`` is that of the cut after the t-th row, in the order in which rows go left.
    """
    m, width = vectors.shape
    q = width if is_complete else width // 2
    n_cells = totals.shape[0]
    n_missing = 0
    while n_missing < m and keys[order[m - 1 - n_missing]] == n_keys:
        n_missing += 1
    left = np.zeros((n_cells, width))
    left_weight = np.zeros(n_cells)
    left_count = np.zeros(n_cells, np.int64)
    base = np.zeros(n_cells)
    score = np.zeros(n_cells)
    for g in range(n_cells):
        for c in range(q):
            known = totals[g, width] if is_complete else totals[g, q + c]
            if known > 0:
                base[g] += totals[g, c] ** 2 / known
    for missing_left in range(2 if n_missing > 0 else 1):
        total = 0.0
        for g in range(n_cells):
            left_weight[g] = 0.0
            left_count[g] = 0
            score[g] = base[g]
            total += base[g]
            for c in range(width):
                left[g, c] = 0.0
        shift = m - n_missing if missing_left else 0
        last = m - 1 if missing_left else min(m - n_missing, m - 1)
        for t in range(last):
            at = t + shift
            if at >= m:
                at -= m
            row = order[at]
            g = cell[row]
            for c in range(width):
                left[g, c] += vectors[row, c]
            left_weight[g] += weights[row]
            left_count[g] += 1
            n_right = int(totals[g, width + 1]) - left_count[g]
            now = base[g]
            if left_count[g] >= least[g] and n_right >= least[g]:
                now = 0.0
                for c in range(q):
                    known = left_weight[g] if is_complete else left[g, q + c]
                    rest = (totals[g, width] if is_complete else totals[g, q + c]) - known
                    if known > 0:
                        now += left[g, c] ** 2 / known
                    if rest > 1e-12 * (known + rest):
                        now += (totals[g, c] - left[g, c]) ** 2 / rest
            total += now - score[g]
            score[g] = now
            scores[missing_left, t] += total


@compiled
def best_cut(scores, cell, order, keys, n_keys, counts, only, least):
    """The cut of one feature with the highest score, of those that divide some cell.

    ``counts`` are the rows of each cell; ``only`` is the one key to try, or -1. Returns score, last key on the left,
    next key, and whether missing rows go left; score is -inf if no cell is divided.
    """
    m = order.shape[0]
    n_missing = 0
    while n_missing < m and keys[order[m - 1 - n_missing]] == n_keys:
        n_missing += 1
    best, best_key, best_after, best_missing = -np.inf, -1, -1, 0
    left_count = np.zeros(counts.shape[0], np.int64)
    divided = np.zeros(counts.shape[0], np.bool_)
    for missing_left in range(2 if n_missing > 0 else 1):
        left_count[:] = 0
        divided[:] = False
        n_divided = 0
        shift = m - n_missing if missing_left else 0
        last = m - 1 if missing_left else min(m - n_missing, m - 1)
        for t in range(last):
            at = t + shift
            if at >= m:
                at -= m
            row = order[at]
            g = cell[row]
            left_count[g] += 1
            divides = left_count[g] >= least[g] and counts[g] - left_count[g] >= least[g]
            if divides != divided[g]:
                n_divided += 1 if divides else -1
                divided[g] = divides
            if at >= m - n_missing or n_divided == 0:
                continue
            key = keys[row]
            after = keys[order[at + 1]] if at + 1 < m - n_missing else n_keys
            if after != key and (only < 0 or only == key) and scores[missing_left, t] > best:
                best, best_key, best_after, best_missing = scores[missing_left, t], key, after, missing_left
    return best, best_key, best_after, best_missing


@compiled
def move_right(column, cut, missing, missing_left, bit, cell):
    """Set a bit in the cells of rows whose code lies above the cut; ``missing`` is the code of missing values."""
    for row in range(len(cell)):
        code = column[row]
        goes_right = (not missing_left) if code == missing else code > cut
        if goes_right:
            cell[row] |= bit


@compiled
def add_trees(X, used, feature, threshold, missing_left, value, score):
    """Add the values of trees to the scores of rows, block by block.

    ``used`` are the columns of X that the trees ask for, and ``feature`` the places of the features among these.
    """
    block, leaf = np.empty((len(used), _BLOCK)), np.empty(_BLOCK, np.uint16)
    for start in range(0, len(X), _BLOCK):
        stop = min(start + _BLOCK, len(X))
        for row in range(start, stop):
            for place in range(len(used)):
                block[place, row - start] = X[row, used[place]]
        _add_block(block, feature, threshold, missing_left, value, score[start:stop], leaf)


@compiled
def add_trees_sparse(data, columns, starts, place_of, n_used, feature, threshold, missing_left, value, score):
    """The same for rows of a CSR matrix; ``place_of`` has the place of each column, or -1 for those not used."""
    block, leaf = np.empty((n_used, _BLOCK)), np.empty(_BLOCK, np.uint16)
    for start in range(0, len(score), _BLOCK):
        stop = min(start + _BLOCK, len(score))
        block[:] = 0.0
        for row in range(start, stop):
            for at in range(starts[row], starts[row + 1]):
                place = place_of[columns[at]]
                if place >= 0:
                    block[place, row - start] = data[at]
        _add_block(block, feature, threshold, missing_left, value, score[start:stop], leaf)


@compiled
def _add_block(block, feature, threshold, missing_left, value, score, leaf):
    """Add the values of all trees to the scores of the rows of a block."""
    for tree in range(len(feature)):
        _find_leaves(block, feature[tree], threshold[tree], missing_left[tree], leaf)
        own = value[tree]
        for row in range(len(score)):
            score[row] += own[leaf[row]]


@compiled
def add_contributions(columns, feature, threshold, missing_left, value, count, contributions):
    """Add the Shapley values of the features in each tree to those given, by row and feature.

    An unknown feature keeps both sides of its cuts, weighted by the training rows in them.
    """
    n_rows, (n_trees, depth) = columns.shape[1], feature.shape
    leaf = np.empty(n_rows, np.uint16)
    for tree in range(n_trees):
        _find_leaves(columns, feature[tree], threshold[tree], missing_left[tree], leaf)
        distinct = np.unique(feature[tree][feature[tree] >= 0])
        bit_of = np.zeros(depth, np.int64)  # of the level's feature among the distinct ones; 0 is none
        for level in range(depth):
            for number in range(len(distinct)):
                if feature[tree, level] == distinct[number]:
                    bit_of[level] = 1 << number
        share = _subset_shares(len(distinct))
        for row in range(n_rows):
            expected = np.empty(1 << len(distinct))
            for known in range(len(expected)):
                expected[known] = _expectation(value[tree], count[tree], bit_of, known, leaf[row])
            for number in range(len(distinct)):
                bit = 1 << number
                for known in range(len(expected)):
                    if known & bit == 0:
                        gained = expected[known | bit] - expected[known]
                        contributions[row, distinct[number]] += share[_n_bits(known)] * gained


@compiled
def _find_leaves(block, feature, threshold, missing_left, leaf):
    """Write the leaves of rows in a tree; levels without a feature leave their bit 0.

    The features of a block lie one after the other, and leaves take two bytes, so that one instruction compares many
    rows: a tenth of the time that rows one by one would take.
    """
    leaf[:] = 0
    for level in range(len(feature)):
        if feature[level] < 0:
            continue
        cells, at, bit = block[feature[level]], threshold[level], np.uint16(1 << level)
        # A comparison with NaN is false, which is left in the first case and right in the second.
        if missing_left[level]:
            for row in range(len(leaf)):
                leaf[row] |= bit if cells[row] > at else np.uint16(0)
        else:
            for row in range(len(leaf)):
                leaf[row] |= np.uint16(0) if cells[row] <= at else bit


@compiled
def _expectation(value, count, bit_of, known, leaf):
    """Mean value of the leaves that remain where only the known features of a row are looked at."""
    values, counts = value.copy(), count.copy()
    for level in range(len(bit_of) - 1, -1, -1):
        half = 1 << level
        is_known = bit_of[level] & known != 0
        for left in range(half):
            right = left + half
            total = counts[left] + counts[right]
            if is_known:
                values[left] = values[right] if leaf & half else values[left]
            elif total > 0:
                values[left] = (values[left] * counts[left] + values[right] * counts[right]) / total
            counts[left] = total
    return values[0]


@compiled
def _subset_shares(n):
    """Share of the orders of n features in which a given feature comes right after a given set of others, by size."""
    share = np.empty(max(n, 1))
    ways = 1.0  # of choosing the set from the n - 1 others
    for size in range(n):
        share[size] = 1 / (n * ways)
        ways *= (n - 1 - size) / (size + 1)
    return share


@compiled
def _n_bits(number):
    count = 0
    while number:
        number &= number - 1
        count += 1
    return count
