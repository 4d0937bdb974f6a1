"""The Kendall kernel: Gram matrices for every kind of ranking, and for weighted places.

The kernel is the inner product of mean signs. For a full ranking, the sign of the pair (i, j) is 1 if i comes before j,
else -1. For any other ranking, it is the mean over all full rankings that agree with it, which needs no enumeration: 0
if the two tie or are both unlisted, as both orders are equally likely; if j is missing, it may be in each of the m + 1
gaps around the m items that are there, of which :math:`r_i` (the mid-rank of i) are before i, so that the mean is
:math:`1 - 2 r_i / (m + 1)`; if both are missing, 0.

`mallows_gram` takes its distances from the same products, `sign_products`; `objects` wraps the kernel for scikit-learn.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from rankwise._sklearn import gen_batches
from rankwise._typing import ArrayLike, FloatArray
from rankwise._validation import check_choice, check_n_jobs, check_numbers
from rankwise.data import midranks, orders_from_positions
from rankwise.distances import distances_jit
from rankwise.kernels import _pair_kernels_jit
from rankwise.kernels.gram import (
    BLOCK_CELLS,
    MAX_BYTES,
    Gram,
    check_gram,
    check_norms,
    checked_rankings,
    divide_by_norms,
    filled_by_rows,
)

Combine = Literal["additive", "multiplicative"]

# Rankings that a thread compares at a time.
_ROWS = 64
# Nanoseconds, on one core: to write a sign, to multiply two signs and add (BLAS), and for one of the k log k steps of
# comparing two rankings by sorting. Only the ratios matter.
_WRITE, _MULTIPLY, _STEP = 6.0, 0.02, 8.0


def kendall_kernel(
    A: ArrayLike,
    B: ArrayLike | None = None,
    *,
    position_weights: ArrayLike | Literal["average"] | None = None,
    combine: Combine = "additive",
    normalize: bool = False,
    dtype: npt.DTypeLike = np.float64,
    n_jobs: int | None = None,
    max_bytes: int = MAX_BYTES,
) -> Gram:
    r"""Kendall kernel of all rankings of A with all rankings of B; larger = more similar.

    *Definition.* For full rankings of k items, Kendall's tau: concordant minus discordant pairs, divided by
    :math:`k(k-1)/2`. For tied, top-k and incomplete rankings, its mean over all pairs of full rankings that agree
    with the two,

    .. math:: K(a, b) = \binom{k}{2}^{-1} \sum_{i<j} s_{ij}(a)\, s_{ij}(b),

    where :math:`s_{ij}` is the mean sign of a pair: 1 if i comes before j, -1 if after, 0 if the two tie, are both
    unlisted or both missing, and :math:`1 - 2 r_i / (m + 1)` if j alone is missing and i has mid-rank :math:`r_i` among
    the m items that are there. This is exact; nothing is sampled. A ranking without any item agrees with all, and has
    kernel 0 with every ranking, itself included.

    With weights u of places, for full rankings only (Jiao and Vert 2018), the sum over the pairs that both rankings
    order in the same way of :math:`U(a_i, a_j)\, U(b_i, b_j)`, where :math:`U(p, q)` is :math:`u_p + u_q` or
    :math:`u_p u_q`. "average" is the mean over t = 1, ..., k of the number of such pairs among the first t items of
    both rankings. Only concordant pairs count: with all U = 1 this is :math:`\binom{k}{2} (1 + \tau) / 2`.

    Parameters
    ----------
    A : array-like of shape (n_A, n_items) or Rankings
        Positions, 1 = best; inf = unlisted, NaN = missing.
    B : array-like of shape (n_B, n_items) or Rankings, optional
        A itself by default.
    position_weights : array-like of shape (n_items,) or "average", optional
        Weight of the first place, the second, ...; full rankings only.
    combine : {"additive", "multiplicative"}, default="additive"
        How the weights of two places make that of a pair.
    normalize : bool, default=False
        Divide by :math:`\sqrt{K(a, a) K(b, b)}`, so that every ranking has kernel 1 with itself. For rankings without
        missing items this is tau-b. An error if a ranking prefers no item to another.
    dtype : {float64, float32}, default=float64
        Type of the result.
    n_jobs : int, optional
        Threads, where rankings are compared one by one; -1 uses all processors. The result does not depend on it.
        (Products of matrices use the threads of BLAS.)
    max_bytes : int, default=8 GiB
        Refuse a larger result before anything is allocated.

    Returns
    -------
    ndarray of shape (n_A, n_B)
        Positive semi-definite where B is None.

    Notes
    -----
    Computed by one product of matrices of signs, some pairs of items at a time; or, where no item is missing and that
    is cheaper (few rankings of many items), by sorting, in O(k log k) for each two rankings. Weighted kernels always
    take O(k log k). ``scipy.stats.weightedtau`` is not a kernel: its matrices have negative eigenvalues.

    References
    ----------
    Jiao, Vert (2018), The Kendall and Mallows kernels for permutations, IEEE TPAMI 40. Jiao, Vert (2018), The weighted
    Kendall and high-order kernels for permutations, ICML.

    Examples
    --------
    >>> from rankwise.kernels import kendall_kernel
    >>> kendall_kernel([[1, 2, 3], [3, 2, 1], [1, 2, 2], [1, 2, float("nan")]]).round(3)
    array([[ 1.   , -1.   ,  0.667,  0.333],
           [-1.   ,  1.   , -0.667, -0.333],
           [ 0.667, -0.667,  0.667,  0.444],
           [ 0.333, -0.333,  0.444,  0.407]])
    """
    check_n_jobs(n_jobs)
    a, b = checked_rankings(A, B)
    number = check_gram(len(a), len(b), dtype, max_bytes)
    if position_weights is not None:
        u, code = _checked_weights(position_weights, combine, a.shape[1])
        gram = _weighted(a, b, u, code, number, n_jobs)
        if normalize:
            divide_by_norms(gram, *(np.full(len(side), _weighted_self(u, code)) for side in (a, b)))
        return gram
    if combine != "additive":
        raise ValueError(f"combine is {combine!r}, but there are no position_weights to combine; give them")
    gram = sign_products(a, b, number, n_jobs)
    if normalize:
        divide_by_norms(gram, squared_norms(a), squared_norms(b))
    else:
        gram /= number.type(a.shape[1] * (a.shape[1] - 1) / 2)
    return gram


def kendall_diagonal(
    positions: FloatArray, position_weights: ArrayLike | None, combine: Combine, normalize: bool
) -> FloatArray:
    """Kernel of each ranking with itself."""
    k = positions.shape[1]
    if position_weights is not None:
        _check_full("A", positions)
        own = np.full(len(positions), _weighted_self(*_checked_weights(position_weights, combine, k)))
    else:
        own = squared_norms(positions) / (k * (k - 1) / 2)
    if normalize:
        check_norms("A", own)
        return np.ones(len(positions))
    return own


def kendall_features(A: ArrayLike) -> FloatArray:
    """Vectors whose inner products are the Kendall kernel: a column per pair of items, as ``np.triu_indices(k, 1)``."""
    a, _ = checked_rankings(A, None)
    features = mean_signs(a)
    features /= np.sqrt(features.shape[1])
    return features


def sign_products(a: FloatArray, b: FloatArray, dtype: np.dtype[Any], n_jobs: int | None = None) -> Gram:
    """Inner products of the mean signs of all pairs, of all rankings of a with all of b; the cheaper of two ways."""
    complete = not (np.isnan(a).any() or np.isnan(b).any())
    if complete and _sorting_is_cheaper(len(a), len(b), a.shape[1]):
        return _by_sorting(a, b, dtype, n_jobs)
    return _by_matrix_products(a, b, dtype, exact_in_32_bits=complete)


def squared_norms(positions: FloatArray) -> FloatArray:
    """Inner product of the mean signs of each ranking with themselves."""
    norms: FloatArray = _pair_kernels_jit.squared_norms(positions, _scores(positions))
    return norms


def mean_signs(positions: FloatArray) -> FloatArray:
    """The mean signs themselves: a row per ranking, and a column per pair in the order of ``np.triu_indices(k, 1)``."""
    first, second = np.triu_indices(positions.shape[1], 1)
    signs = np.empty((len(positions), len(first)))
    _pair_kernels_jit.mean_signs(positions, _scores(positions), first, second, signs)
    return signs


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
        distance = distances_jit.cross_kendall(a[rows], b, ones, False, 0.25, False)
        return (ordered_a[rows, np.newaxis] + ordered_b) / 2 - 2 * distance

    return filled_by_rows(block, (len(a), len(b)), dtype, _ROWS, n_jobs)


def _by_matrix_products(a: FloatArray, b: FloatArray, dtype: np.dtype[Any], exact_in_32_bits: bool) -> Gram:
    """One product of matrices, some pairs at a time; memory besides the result does not grow with k.

    Sums of fewer than 2^24 signs are exact in 32 bits, where BLAS is twice as fast; mean signs need the bits asked for.
    """
    first, second = np.triu_indices(a.shape[1], 1)
    held = np.dtype(np.float32) if exact_in_32_bits else dtype
    step = max(1, BLOCK_CELLS // max(1, len(a), len(b)))
    height = max(1, BLOCK_CELLS // max(1, len(b)))
    scores_b = _scores(b)
    scores_a = scores_b if a is b else _scores(a)
    result: Gram = np.zeros((len(a), len(b)), dtype=dtype)
    for batch in gen_batches(len(first), step):
        pairs = first[batch], second[batch]
        signs_b = np.empty((len(b), len(pairs[0])), dtype=held)
        _pair_kernels_jit.mean_signs(b, scores_b, *pairs, signs_b)
        signs_a = signs_b
        if a is not b:
            signs_a = np.empty((len(a), len(pairs[0])), dtype=held)
            _pair_kernels_jit.mean_signs(a, scores_a, *pairs, signs_a)
        if height >= len(a):
            result += signs_a @ signs_b.T  # of a matrix with itself, BLAS computes one half
            continue
        for rows in gen_batches(len(a), height):
            result[rows] += signs_a[rows] @ signs_b.T
    return result


def _scores(positions: FloatArray) -> FloatArray:
    """Mean sign of each item that is there against a missing one; 0 for missing items."""
    places = midranks(positions)
    there = np.sum(~np.isnan(places), axis=1, keepdims=True)
    return np.nan_to_num(1 - 2 * places / (there + 1), nan=0.0, copy=False)


def _checked_weights(position_weights: ArrayLike, combine: str, k: int) -> tuple[FloatArray, int]:
    """Weights of the places, and the code of how two of them make the weight of a pair."""
    check_choice("combine", combine, ("additive", "multiplicative"))
    if isinstance(position_weights, str):
        if position_weights != "average":
            raise ValueError(f"position_weights is {position_weights!r}; give 'average', or one weight for each place")
        return np.ones(k), _pair_kernels_jit.AVERAGE
    u = check_numbers("position_weights", position_weights)
    if u.shape != (k,):
        raise ValueError(f"position_weights has shape {u.shape}; give one weight for each of the {k} places")
    if not np.all(np.isfinite(u)):
        raise ValueError(f"position_weights[{int(np.argmin(np.isfinite(u)))}] is not finite; weights must be finite")
    return u, _pair_kernels_jit.MULTIPLICATIVE if combine == "multiplicative" else _pair_kernels_jit.ADDITIVE


def _check_full(name: str, positions: FloatArray) -> None:
    full = positions.max(axis=1, initial=1) == positions.shape[1]
    if not full.all():
        raise ValueError(
            f"{name}[{int(np.argmin(full))}] is not a full ranking, but position_weights are defined for full "
            "rankings only; drop position_weights: the plain Kendall kernel takes every kind"
        )


def _weighted(a: FloatArray, b: FloatArray, u: FloatArray, code: int, dtype: np.dtype[Any], n_jobs: int | None) -> Gram:
    _check_full("A", a)
    _check_full("B", b)
    orders = orders_from_positions(a)
    places = b.astype(np.intp)
    return filled_by_rows(
        lambda rows: _pair_kernels_jit.cross_concordant(orders[rows], places, u, code),
        (len(a), len(b)),
        dtype,
        _ROWS,
        n_jobs,
    )


def _weighted_self(u: FloatArray, code: int) -> float:
    """Kernel of a full ranking with itself, the same for all."""
    places = np.arange(len(u))
    return float(_pair_kernels_jit.cross_concordant(places[np.newaxis], places[np.newaxis] + 1, u, code)[0, 0])
