"""The Kendall kernel for every kind of ranking, and its form with weights of places."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from rankwise._random import check_generator
from rankwise._typing import ArrayLike, FloatArray, RandomState
from rankwise._validation import check_numbers, check_real_number, check_whole_number
from rankwise.data import midranks, orders_from_positions
from rankwise.distances import distances_jit as _comparisons
from rankwise.embeddings.completions import Structure, levels_of, slots_of
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

_ROWS = 64


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
    r"""Kendall kernel of all rankings of A with all rankings of B; larger = more alike.

    *Definition.* For full rankings of k items, Kendall's tau: concordant minus discordant pairs, divided by
    :math:`k(k-1)/2`. For tied, top-k and incomplete rankings, its mean over all pairs of full rankings that agree with
    the two,

    .. math:: K(a, b) = \binom{k}{2}^{-1} \sum_{i<j} s_{ij}(a)\, s_{ij}(b),

    where :math:`s_{ij}` is the mean sign of a pair: 1 if i comes before j, -1 if after, 0 if the two tie, are both
    unlisted or both missing, and :math:`1 - 2 r_i / (m + 1)` if j alone is missing and i has mid-rank :math:`r_i` among
    the m items that are there. This is exact; nothing is sampled. A ranking without any item agrees with all, and has
    kernel 0 with every ranking, itself too.

    With weights u of places, on full rankings alone (Jiao and Vert 2018), the sum over the pairs that both rankings
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
        Divide by :math:`\sqrt{K(a, a) K(b, b)}`, so that every ranking has kernel 1 with itself. Of rankings without
        missing items this is tau-b. Refused where a ranking prefers no item to another.
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
    take O(k log k). ``scipy.stats.weightedtau`` is no kernel: its matrices have negative eigenvalues.

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


def _checked_weights(position_weights: ArrayLike, combine: str, k: int) -> tuple[FloatArray, int]:
    if combine not in ("additive", "multiplicative"):
        raise ValueError(f"combine is {combine!r}; choose 'additive' or 'multiplicative'")
    if isinstance(position_weights, str):
        if position_weights != "average":
            raise ValueError(f"position_weights is {position_weights!r}; give 'average', or one weight for each place")
        return np.ones(k), _pair_kernels_jit.AVERAGE
    u = check_numbers("position_weights", position_weights)
    if u.shape != (k,):
        raise ValueError(f"position_weights has shape {u.shape}; give one weight for each of the {k} places")
    if not np.all(np.isfinite(u)):
        raise ValueError(f"position_weights[{int(np.argmin(np.isfinite(u)))}] is not finite; weights are numbers")
    return u, _pair_kernels_jit.MULTIPLICATIVE if combine == "multiplicative" else _pair_kernels_jit.ADDITIVE


def _check_full(name: str, positions: FloatArray) -> None:
    full = positions.max(axis=1, initial=1) == positions.shape[1]
    if not full.all():
        raise ValueError(
            f"{name}[{int(np.argmin(full))}] is not a full ranking, and weights of places are defined for full "
            "rankings alone; leave position_weights away: the plain Kendall kernel takes every kind"
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


# The Mallows kernel for full rankings, and two ways to extend it to every kind.


Completion = Literal["embedding", "monte-carlo"]

# At this scale all rankings that differ have kernel 0; larger ones would make infinite exponents.
_STEEPEST = 1e25


def mallows_kernel(
    A: ArrayLike,
    B: ArrayLike | None = None,
    scale: float = 1.0,
    *,
    completion: Completion = "embedding",
    n_samples: int = 32,
    unbiased: bool = False,
    random_state: RandomState = None,
    dtype: npt.DTypeLike = np.float64,
    n_jobs: int | None = None,
    max_bytes: int = MAX_BYTES,
) -> Gram:
    r"""Mallows kernel of all rankings of A with all rankings of B; larger = more alike.

    *Definition.* For full rankings :math:`K(a, b) = e^{-\lambda d(a, b)}`, with d the number of discordant pairs (from
    0 to :math:`k(k-1)/2`, not divided by it) and :math:`\lambda` the ``scale``. Other kinds in one of two ways:

    "embedding"
        :math:`e^{-\lambda \|s(a) - s(b)\|^2 / 4}`, with s(a) the mean signs of pairs of `kendall_kernel`. On full
        rankings the exponent is :math:`-\lambda d`. Exact, and a kernel of its own: not the mean of Mallows kernels.
    "monte-carlo"
        The mean of :math:`e^{-\lambda d}` over pairs of full rankings that agree with a and b, estimated from
        ``n_samples`` random completions of each, in antithetic pairs.

    A ranking without any item agrees with all: its mean signs are 0, and its completions are all full rankings.

    Parameters
    ----------
    A : array-like of shape (n_A, n_items) or Rankings
        Positions, 1 = best; inf = unlisted, NaN = missing.
    B : array-like of shape (n_B, n_items) or Rankings, optional
        A itself by default.
    scale : float, default=1.0
        How fast the kernel falls with the distance, 0 or more.
    completion : {"embedding", "monte-carlo"}, default="embedding"
        How rankings that are not full are taken.
    n_samples : int, default=32
        Completions of each ranking for "monte-carlo", an even number.
    unbiased : bool, default=False
        For "monte-carlo". By default a ranking has one set of completions: the matrix is positive semi-definite, and
        values of equal rankings (the diagonal) are too large by at most 2 / n_samples. If True, rankings of A and B
        get independent completions: no value is biased, but the matrix may have negative eigenvalues.
    random_state : None, int, Generator or RandomState
        Draws the completions. With an integer a ranking has the same ones in every call: needed where values from
        several calls are used together, as in fit and predict.
    dtype : {float64, float32}, default=float64
        Type of the result.
    n_jobs : int, optional
        Threads, where rankings are compared one by one; -1 uses all processors. The result does not depend on it.
    max_bytes : int, default=8 GiB
        Refuse a larger result before anything is allocated.

    Returns
    -------
    ndarray of shape (n_A, n_B)
        Values from 0 to 1; positive semi-definite where B is None, unless ``unbiased``.

    References
    ----------
    Jiao, Vert (2018), The Kendall and Mallows kernels for permutations, IEEE TPAMI 40. Lomelí, Rowland, Gretton,
    Ghahramani (2019), Antithetic and Monte Carlo kernel estimators for partial rankings, Statistics and Computing 29.

    Examples
    --------
    >>> from rankwise.kernels import mallows_kernel
    >>> mallows_kernel([[1, 2, 3], [3, 2, 1], [1, 2, 2]], scale=0.5).round(3)
    array([[1.   , 0.223, 0.882],
           [0.223, 1.   , 0.325],
           [0.882, 0.325, 1.   ]])
    """
    check_real_number("scale", scale)
    check_completion(completion, n_samples)
    a, b = checked_rankings(A, B)
    number = check_gram(len(a), len(b), dtype, max_bytes)
    if completion == "embedding":
        exponent = embedding_exponents(a, b, scale, number, n_jobs)
        return np.exp(exponent, out=exponent)
    seed = completion_seed(random_state)
    return completed_means(a, b, scale, n_samples, seed, unbiased, number, n_jobs)[0]


def completion_seed(random_state: RandomState) -> int:
    """The number from which all completions of a call are drawn."""
    return int(check_generator(random_state).integers(2**62))


def check_completion(completion: str, n_samples: int) -> None:
    """Refuse unknown ways, and numbers of completions that make no pairs."""
    if completion not in ("embedding", "monte-carlo"):
        raise ValueError(f"completion is {completion!r}; choose 'embedding' or 'monte-carlo'")
    if check_whole_number("n_samples", n_samples, at_least=2) % 2:
        raise ValueError(f"n_samples is {n_samples}, but completions come in antithetic pairs; give an even number")


def embedding_exponents(
    a: FloatArray, b: FloatArray, scale: float, dtype: np.dtype[Any], n_jobs: int | None = None
) -> Gram:
    """Less the scale times a quarter of the squared distance of mean signs: of full rankings, the discordant pairs."""
    distances = sign_products(a, b, dtype, n_jobs)
    np.multiply(distances, -2, out=distances)
    distances += squared_norms(a)[:, np.newaxis].astype(dtype)
    distances += squared_norms(b).astype(dtype)
    distances /= 4
    np.maximum(distances, 0, out=distances)  # mean signs leave rounding errors
    if a is b:
        np.fill_diagonal(distances, 0)
    return np.multiply(distances, -min(scale, _STEEPEST), out=distances)


def completed_means(
    a: FloatArray,
    b: FloatArray,
    scale: float,
    n_samples: int,
    seed: int,
    unbiased: bool,
    dtype: np.dtype[Any],
    n_jobs: int | None = None,
    *,
    slope: bool = False,
) -> tuple[Gram, Gram | None]:
    """Means of the kernel over completions and, if asked for, of its derivative by the logarithm of the scale."""
    k, scale = a.shape[1], min(scale, _STEEPEST)
    left = sample_completions(a, n_samples, seed, side=0)
    right = left if a is b and not unbiased else sample_completions(b, n_samples, seed, side=int(unbiased))
    others = right.reshape(-1, k)
    height = max(1, BLOCK_CELLS // max(1, n_samples * len(others)))
    shape = len(a), len(b)

    def mean(rows: slice, derive: bool) -> FloatArray:
        own = left[rows].reshape(-1, k)
        d = (k * (k - 1) / 2 - sign_products(own, others, np.dtype(np.float64))) / 2
        values = np.exp(-scale * d)
        if derive:
            values *= -scale * d
        result: FloatArray = values.reshape(-1, n_samples, len(b), n_samples).mean(axis=(1, 3))
        return result

    def filled(derive: bool) -> Gram:
        gram = filled_by_rows(lambda rows: mean(rows, derive), shape, dtype, height, n_jobs)
        return (gram + gram.T) / 2 if a is b else gram

    return filled(False), filled(True) if slope else None


def completed_diagonal(a: FloatArray, scale: float, n_samples: int, seed: int) -> FloatArray:
    """Means over the completions of each ranking with themselves, as on the diagonal of the positive matrix."""
    pairs, scale = a.shape[1] * (a.shape[1] - 1) / 2, min(scale, _STEEPEST)
    own = (sign_products(rows, rows, np.dtype(np.float64)) for rows in sample_completions(a, n_samples, seed, side=0))
    return np.array([np.exp(-scale * (pairs - products) / 2).mean() for products in own])


# Rankings of every kind as mean signs of pairs, and inner products of these.
#
# For a full ranking, the sign of the pair (i, j) is 1 if i comes before j, else -1. For any other, it is the mean over
# all full rankings that agree with it, which needs no enumeration: 0 if the two tie or are both unlisted, as each order
# is as likely; if j is missing, it may be in each of the m + 1 gaps around the m items that are there, of which
# :math:`r_i` (the mid-rank of i) lie before i, so that the mean is :math:`1 - 2 r_i / (m + 1)`; if both are missing, 0.


# Nanoseconds, from one core: to write a sign, to multiply two signs and add (BLAS), and for one step of the comparison
# of two rankings by sorting, of which there are k log k. Only their ratios matter.
_WRITE, _MULTIPLY, _STEP = 6.0, 0.02, 8.0
# Rankings compared at a time by a thread.


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
        _pair_kernels_jit.mean_signs(b, scores_b, *pairs, signs_b)
        signs_a = signs_b
        if a is not b:
            signs_a = np.empty((len(a), len(pairs[0])), dtype=held)
            _pair_kernels_jit.mean_signs(a, scores_a, *pairs, signs_a)
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


# Random full rankings that agree with a ranking of any kind, in antithetic pairs.


def sample_completions(positions: FloatArray, n_samples: int, seed: int, side: int) -> FloatArray:
    """Full rankings drawn evenly from all that agree with each ranking.

    What is drawn for a ranking depends on the ranking, the seed and the side alone, so that a ranking has the same
    completions in every call and in every set of rankings, and different rankings have independent ones.

    A random order of all items says where missing items stand, and which of tied (or unlisted) items comes first. Its
    reverse does as well: every second completion is made from it. For top-k rankings that is the completion with the
    unlisted items reversed, the farthest from the first.

    Parameters
    ----------
    positions : ndarray of shape (n, k)
        Dense positions of any kind.
    n_samples : int
        Completions of each ranking, an even number.
    seed, side : int
        Different sides of one seed give independent completions.

    Returns
    -------
    ndarray of shape (n, n_samples, k)
        Places 1 to k.
    """
    n, k = positions.shape
    levels = levels_of(positions)
    slots = slots_of(levels)
    result = np.empty((n, n_samples, k))
    keys = np.empty((n_samples, k))
    for row, level in enumerate(levels):
        keys[0::2] = np.random.default_rng([seed, side, *(level + 1).tolist()]).random((n_samples // 2, k))
        keys[1::2] = 1 - keys[0::2]
        result[row] = Structure.of(level).sample("full", keys)[:, slots[row]] + 1
    return result
