"""Distances between all rankings of two sets: `pairwise_distances`, as a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwise._typing import ArrayLike, FloatArray, IntArray
from rankwise._validation import check_choice, check_n_jobs, check_weights
from rankwise.data import check_positions, midranks
from rankwise.distances import distances_jit
from rankwise.distances.measures import (
    POSITIONAL,
    Missing,
    check_kendall_options,
    check_same_items,
    ratio,
)

# For two rankings of k items, a product of sign matrices takes k^2 operations at the speed of BLAS, a comparison
# k log k at the speed of a loop: above about this many items the loop is faster (benchmarks/pairwise_distances.py).
_MOST_ITEMS_BY_SIGNS = 3000
# Number of cells of a block of the sign matrix; sums of this many signs are exact in 32-bit floats.
_SIGN_CELLS = 1 << 23
_BLOCK_ROWS = 64
# Number of bits of a block of pairs of full rankings: 256 MiB.
_BIT_CELLS = 1 << 31
# Sums of squared differences of the mid-ranks of this many items, multiples of 1/4, are exact in 32-bit floats.
_MOST_ITEMS_SINGLE = 200


def pairwise_distances(
    A: ArrayLike,
    B: ArrayLike | None = None,
    metric: str = "kendall",
    *,
    p: float = 0.5,
    missing: Missing = "ignore",
    item_weights: ArrayLike | None = None,
    normalize: bool = False,
    n_jobs: int | None = None,
    max_bytes: int = 8 << 30,
) -> FloatArray:
    """Distances between all rankings of A and all rankings of B.

    Parameters
    ----------
    A : array-like of shape (n_A, n_items) or Rankings
        Positions, 1 = best.
    B : array-like of shape (n_B, n_items) or Rankings, optional
        Default: A.
    metric : {"kendall", "spearman", "footrule", "hamming"}, default="kendall"
        See `kendall_distance`, `spearman_distance`, `footrule_distance`, `hamming_distance`.
    p, missing : float and str
        See `kendall_distance`; only for this metric.
    item_weights, normalize : array-like and bool
        As in the functions above.
    n_jobs : int, optional
        Number of threads for the loops over rankings; -1 uses all processors. The result does not depend on it.
        (Kendall distances with weights, missing items or a ``p`` other than 1/2, of up to 3,000 items, are matrix
        products and use the threads of BLAS.)
    max_bytes : int, default=8 GiB
        Raise an error, before allocating anything, if the result would be larger.

    Returns
    -------
    ndarray of shape (n_A, n_B), float64
        Lower is closer.

    Examples
    --------
    >>> from rankwise.distances import pairwise_distances
    >>> pairwise_distances([[1, 2, 3], [3, 2, 1], [1, 2, 2]])
    array([[0. , 3. , 0.5],
           [3. , 0. , 2.5],
           [0.5, 2.5, 0. ]])
    """
    check_n_jobs(n_jobs)
    check_choice("metric", metric, ("kendall", *POSITIONAL))
    check_kendall_options(p, missing, normalize)
    if metric != "kendall" and (p != 0.5 or missing != "ignore"):
        raise ValueError(f"p and missing are options of the Kendall distance; {metric} ignores missing items")
    if metric != "kendall" and normalize and item_weights is not None:
        raise ValueError("the largest weighted distance has no closed form; use normalize=True without item_weights")
    check_same_items(A, B)
    a = check_positions(A, name="A")
    b = a if B is None else check_positions(B, name="B")
    if a.shape[1] != b.shape[1]:
        raise ValueError(f"A ranks {a.shape[1]} items and B ranks {b.shape[1]}; columns must be the same items")
    size = 8 * len(a) * len(b)
    if size > max_bytes:
        raise ValueError(
            f"the {len(a):,} x {len(b):,} distances would take {size / 2**30:.1f} GiB; "
            "pass fewer rankings at a time, or raise max_bytes"
        )
    weights = check_weights(item_weights, a.shape[1], name="item_weights", each="item")
    if metric == "kendall":
        whole = p == 0.5 and item_weights is None
        if a.shape[1] <= _MOST_ITEMS_BY_SIGNS and whole and not (np.isnan(a).any() or np.isnan(b).any()):
            distance = _kendall_by_bits(a, b, n_jobs)
            return ratio(distance, a.shape[1] * (a.shape[1] - 1) / 2) if normalize else distance
        if a.shape[1] <= _MOST_ITEMS_BY_SIGNS:
            return _kendall_by_signs(a, b, None if item_weights is None else weights, p, missing, normalize)
        result = np.empty((len(a), len(b)))
        return _by_blocks(
            result, distances_jit.cross_kendall, a, b, n_jobs, weights, missing == "penalize", p, normalize
        )
    return _positional(a, b, metric, weights, normalize, n_jobs)


def _by_blocks(
    result: FloatArray, function: Any, a: FloatArray, b: FloatArray, n_jobs: int | None, *arguments: Any
) -> FloatArray:
    """Fill the result in blocks of rows, on threads; cells are independent, so the order does not matter."""
    from joblib import Parallel, delayed

    from rankwise._sklearn import gen_batches

    def fill(rows: slice) -> None:
        result[rows] = function(a[rows], b, *arguments)

    Parallel(n_jobs=n_jobs, prefer="threads", require="sharedmem")(
        delayed(fill)(rows) for rows in gen_batches(len(a), _BLOCK_ROWS)
    )
    return result


def _positional(
    a: FloatArray, b: FloatArray, metric: str, weights: FloatArray, normalize: bool, n_jobs: int | None
) -> FloatArray:
    code, largest = POSITIONAL[metric]
    if np.isnan(a).any() or np.isnan(b).any():

        def block(rows: FloatArray, others: FloatArray) -> FloatArray:
            distance, common = distances_jit.cross_positional(rows, others, weights, code)
            return ratio(distance, largest(common)) if normalize else distance

        return _by_blocks(np.empty((len(a), len(b))), block, a, b, n_jobs)
    # If nothing is missing, the mid-ranks of a ranking are the same in every comparison.
    places_a = midranks(a)
    places_b = np.ascontiguousarray((places_a if b is a else midranks(b)).T)
    if a.shape[1] <= _MOST_ITEMS_SINGLE and np.all(weights == 1):
        single: Any = [x.astype(np.float32) for x in (places_a, places_b, weights)]
        places_a, places_b, weights = single
    result = np.empty((len(a), len(b)))
    distance = _by_blocks(result, distances_jit.cross_midranks, places_a, places_b, n_jobs, weights, code)
    return ratio(distance, largest(a.shape[1])) if normalize else distance


def _kendall_by_bits(a: FloatArray, b: FloatArray, n_jobs: int | None) -> FloatArray:
    """Kendall distances with p = 1/2 of rankings without missing items: numbers of bits that differ.

    Of full rankings a pair is one bit. Else it is two, one for each order, and the distance is half the number of pairs
    that either orders, each counted for itself, less the number of pairs that both order alike.
    """
    strict = _all_strict(a) and (b is a or _all_strict(b))
    most = _BIT_CELLS // max(1, len(a), len(b))
    total, first = None, 1
    while first < a.shape[1]:
        last = first + 1
        while last < a.shape[1] and last * (last + 1) - first * (first - 1) <= 2 * most:
            last += 1
        bits_a = distances_jit.pair_bits(a, first, last, strict)
        bits_b = bits_a if b is a else distances_jit.pair_bits(b, first, last, strict)
        part = _by_blocks(np.empty((len(a), len(b))), distances_jit.bits_apart, bits_a, bits_b, n_jobs, strict)
        total = part if total is None else np.add(total, part, out=total)
        first = last
    return np.zeros((len(a), len(b))) if total is None else total


def _kendall_by_signs(
    a: FloatArray, b: FloatArray, weights: FloatArray | None, p: float, missing: str, normalize: bool
) -> FloatArray:
    """Kendall distances from inner products of the signs of all pairs.

    With signs s in {-1, 0, 1}: concordant - discordant = s_a . s_b, concordant + discordant = |s_a| . |s_b|. Sums of
    signs are integers, so adding up blocks of pairs is exact.
    """
    from rankwise._sklearn import gen_batches  # here, as the distances of two rankings do not need scikit-learn

    first, second = np.triu_indices(a.shape[1], 1)
    step = max(1, _SIGN_CELLS // max(1, len(a), len(b)))
    strict = _all_strict(a) and _all_strict(b)
    gaps = bool(missing == "ignore" and (np.isnan(a).any() or np.isnan(b).any()))
    distance = np.zeros((len(a), len(b)))
    pairs: Any = np.zeros_like(distance) if gaps and normalize else 0.0
    height = max(1, _SIGN_CELLS // max(1, len(b)))
    for batch in gen_batches(len(first), step):
        block = _PairBlock(first[batch], second[batch], weights)
        signs_b = block.signs(b)
        for rows in gen_batches(len(a), height):
            signs_a = signs_b[rows] if b is a else block.signs(a[rows])
            difference = block.product(signs_a, signs_b)
            if strict:
                distance[rows] += (block.total - difference) / 2
                continue
            both = block.product(np.abs(signs_a), np.abs(signs_b))
            if gaps:
                present_a, present_b = block.present(a[rows]), block.present(b)
                ordered = block.product(np.abs(signs_a), present_b) + block.product(present_a, np.abs(signs_b))
                if normalize:
                    pairs[rows] += block.product(present_a, present_b)
            else:
                ordered = block.sums(np.abs(signs_a))[:, np.newaxis] + block.sums(np.abs(signs_b))
            distance[rows] += (both - difference) / 2 + p * (ordered - 2 * both)
        if not gaps:
            pairs += block.total
    return _tidy(distance, pairs if normalize else None, own=b is a)


class _PairBlock:
    """A block of pairs of items, and sums over it."""

    def __init__(self, first: IntArray, second: IntArray, weights: FloatArray | None) -> None:
        self.first, self.second = first, second
        # Only one factor is multiplied by the weights; without weights, signs stay in 32 bits, where BLAS is twice
        # as fast.
        self.weights = None if weights is None else weights[first] * weights[second]
        self.total = float(len(first)) if self.weights is None else float(self.weights.sum())

    def signs(self, positions: FloatArray) -> Any:
        return distances_jit.pair_signs(positions, self.first, self.second)

    def present(self, positions: FloatArray) -> Any:
        gaps = np.isnan(positions)
        return (~(gaps[:, self.first] | gaps[:, self.second])).astype(np.float32)

    def product(self, x: Any, y: Any) -> FloatArray:
        # Sums of signs are exact in 32 bits, but what is computed from them (p times a sum) is not.
        product: FloatArray = (x @ y.T if self.weights is None else (x * self.weights) @ y.T).astype(np.float64)
        return product

    def sums(self, x: Any) -> FloatArray:
        sums: FloatArray = x @ (np.ones(len(self.first)) if self.weights is None else self.weights)
        return sums


def _tidy(distance: FloatArray, pairs: Any, own: bool) -> FloatArray:
    """Clip what rounding does to weighted sums: distances below 0, above 1, or of a ranking to itself."""
    np.maximum(distance, 0, out=distance)
    if own:
        np.fill_diagonal(distance, 0)
    return distance if pairs is None else np.minimum(ratio(distance, pairs), 1)


def _all_strict(positions: FloatArray) -> bool:
    """Whether all rankings are full: if dense positions reach k, there are no ties, inf or NaN."""
    return bool(np.all(positions.max(axis=1, initial=1) == positions.shape[1]))
