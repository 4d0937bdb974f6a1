"""The Kendall kernel for every kind of ranking, and its form with weights of places."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from rankwise._arguments import check_numbers
from rankwise._typing import ArrayLike, FloatArray
from rankwise.data import orders_from_positions
from rankwise.kernels import _jit
from rankwise.kernels.gram import (
    MAX_BYTES,
    Gram,
    check_gram,
    check_norms,
    checked_rankings,
    divide_by_norms,
    filled_by_rows,
)
from rankwise.kernels.pair_signs import mean_signs, sign_products, squared_norms

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


# ---------------------------------------------------------------------------------------------------------------


def _checked_weights(position_weights: ArrayLike, combine: str, k: int) -> tuple[FloatArray, int]:
    if combine not in ("additive", "multiplicative"):
        raise ValueError(f"combine is {combine!r}; choose 'additive' or 'multiplicative'")
    if isinstance(position_weights, str):
        if position_weights != "average":
            raise ValueError(f"position_weights is {position_weights!r}; give 'average', or one weight for each place")
        return np.ones(k), _jit.AVERAGE
    u = check_numbers("position_weights", position_weights)
    if u.shape != (k,):
        raise ValueError(f"position_weights has shape {u.shape}; give one weight for each of the {k} places")
    if not np.all(np.isfinite(u)):
        raise ValueError(f"position_weights[{int(np.argmin(np.isfinite(u)))}] is not finite; weights are numbers")
    return u, _jit.MULTIPLICATIVE if combine == "multiplicative" else _jit.ADDITIVE


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
        lambda rows: _jit.cross_concordant(orders[rows], places, u, code), (len(a), len(b)), dtype, _ROWS, n_jobs
    )


def _weighted_self(u: FloatArray, code: int) -> float:
    """Kernel of a full ranking with itself, the same for all."""
    places = np.arange(len(u))
    return float(_jit.cross_concordant(places[np.newaxis], places[np.newaxis] + 1, u, code)[0, 0])
