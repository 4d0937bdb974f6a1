"""Compiled functions that find the best common cut of all cells of a level; called by `_grow_levels`."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from rankwise._compiled import compiled, compiled_sums


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
