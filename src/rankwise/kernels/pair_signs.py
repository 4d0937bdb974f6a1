r"""Rankings of every kind as mean signs of pairs, and inner products of these.

For a full ranking, the sign of the pair (i, j) is 1 if i comes before j, else -1. For any other, it is the mean over
all full rankings that agree with it, which needs no enumeration: 0 if the two tie or are both unlisted, as each order
is as likely; if j is missing, it may be in each of the m + 1 gaps around the m items that are there, of which
:math:`r_i` (the mid-rank of i) lie before i, so that the mean is :math:`1 - 2 r_i / (m + 1)`; if both are missing, 0.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rankwise._typing import FloatArray
from rankwise.data import midranks
from rankwise.distances import _jit as _comparisons
from rankwise.kernels import _jit
from rankwise.kernels.gram import BLOCK_CELLS, Gram, filled_by_rows

# Nanoseconds, from one core: to write a sign, to multiply two signs and add (BLAS), and for one step of the comparison
# of two rankings by sorting, of which there are k log k. Only their ratios matter.
_WRITE, _MULTIPLY, _STEP = 6.0, 0.02, 8.0
# Rankings compared at a time by a thread.
_ROWS = 64


def sign_products(a: FloatArray, b: FloatArray, dtype: np.dtype[Any], n_jobs: int | None = None) -> Gram:
    """Inner products of the mean signs of all pairs, of all rankings of a with all of b; the cheaper of two ways."""
    complete = not (np.isnan(a).any() or np.isnan(b).any())
    if complete and _sorting_is_cheaper(len(a), len(b), a.shape[1]):
        return _by_sorting(a, b, dtype, n_jobs)
    return _by_matrix_products(a, b, dtype, exact_in_32_bits=complete)


def squared_norms(positions: FloatArray) -> FloatArray:
    """Inner product of the mean signs of each ranking with themselves."""
    norms: FloatArray = _jit.squared_norms(positions, _scores(positions))
    return norms


def mean_signs(positions: FloatArray) -> FloatArray:
    """The mean signs themselves: a row per ranking, and a column per pair in the order of ``np.triu_indices(k, 1)``."""
    first, second = np.triu_indices(positions.shape[1], 1)
    signs = np.empty((len(positions), len(first)))
    _jit.mean_signs(positions, _scores(positions), first, second, signs)
    return signs


# ---------------------------------------------------------------------------------------------------------------


def _sorting_is_cheaper(n: int, m: int, k: int) -> bool:
    pairs = k * (k - 1) / 2
    return n * m * k * math.log2(k) * _STEP < pairs * ((n + m) * _WRITE + n * m * _MULTIPLY)


def _by_sorting(a: FloatArray, b: FloatArray, dtype: np.dtype[Any], n_jobs: int | None) -> Gram:
    """From Kendall distances with a price of 1/4 for a pair that one side alone orders.

    With C concordant and D discordant pairs, and T that one side alone orders, the pairs ordered by a and those ordered
    by b are 2 (C + D) + T together, and so C - D = (pairs of a + pairs of b) / 2 - 2 (D + T / 4).
    """
    ones = np.ones(a.shape[1])
    ordered_a, ordered_b = squared_norms(a), squared_norms(b)

    def block(rows: slice) -> FloatArray:
        distance = _comparisons.cross_kendall(a[rows], b, ones, False, 0.25, False)
        return (ordered_a[rows, np.newaxis] + ordered_b) / 2 - 2 * distance

    return filled_by_rows(block, (len(a), len(b)), dtype, _ROWS, n_jobs)


def _by_matrix_products(a: FloatArray, b: FloatArray, dtype: np.dtype[Any], exact_in_32_bits: bool) -> Gram:
    """One product of matrices, some pairs at a time; what is held beside the result does not grow with k.

    Sums of fewer than 2^24 signs are exact in 32 bits, where BLAS is twice as fast; mean signs need the bits asked for.
    """
    first, second = np.triu_indices(a.shape[1], 1)
    held = np.dtype(np.float32) if exact_in_32_bits else dtype
    step = max(1, BLOCK_CELLS // max(1, len(a), len(b)))
    height = max(1, BLOCK_CELLS // max(1, len(b)))
    scores_b = _scores(b)
    scores_a = scores_b if a is b else _scores(a)
    result: Gram = np.zeros((len(a), len(b)), dtype=dtype)
    for start in range(0, len(first), step):
        pairs = first[start : start + step], second[start : start + step]
        signs_b = np.empty((len(b), len(pairs[0])), dtype=held)
        _jit.mean_signs(b, scores_b, *pairs, signs_b)
        signs_a = signs_b
        if a is not b:
            signs_a = np.empty((len(a), len(pairs[0])), dtype=held)
            _jit.mean_signs(a, scores_a, *pairs, signs_a)
        if height >= len(a):
            result += signs_a @ signs_b.T  # of a matrix with itself, BLAS computes one half
            continue
        for top in range(0, len(a), height):
            result[top : top + height] += signs_a[top : top + height] @ signs_b.T
    return result


def _scores(positions: FloatArray) -> FloatArray:
    """Mean sign of each item that is there against one that is missing; 0 for missing items."""
    places = midranks(positions)
    there = np.sum(~np.isnan(places), axis=1, keepdims=True)
    return np.nan_to_num(1 - 2 * places / (there + 1), nan=0.0, copy=False)
