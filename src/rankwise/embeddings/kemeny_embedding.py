"""Rankings as pairs: one coordinate per pair of items, decoded by the Kemeny median or by votes.

`KemenyEmbedding` turns rankings into vectors. Label rankers hold what they predict as such vectors or as matrices P of
pairwise probabilities: ``P[r, i, j]`` is the probability of i before j in row r, so ``P[r, i, j] + P[r, j, i]`` is 1. A
vector holds the pairs i < j in the order of ``np.triu_indices(n_items, 1)``: (0, 1), (0, 2), ..., (1, 2), ...
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, get_args

import numpy as np

from rankwise._decode import Decoder
from rankwise._memory import check_memory
from rankwise._sklearn import BaseEstimator, TransformerMixin, check_feature_names_in
from rankwise._state import COUNT, Saved
from rankwise._typing import ArrayLike, FloatArray, IntArray
from rankwise._validation import check_choice, check_numbers
from rankwise.aggregation import kemeny_batch
from rankwise.aggregation.pairs import majority
from rankwise.data import check_positions
from rankwise.data.positions import compare_positions
from rankwise.embeddings._columns import check_columns, check_named_columns, learn_columns

# Sums of probabilities do not distinguish scores that are closer than this.
_SAME_SCORE = 1e-9
# Numbers for each pair at the peak of the work: of each ranking, and for finding the pairs.
_NUMBERS, _INDICES = 4, 4


class KemenyEmbedding(TransformerMixin, BaseEstimator):
    r"""Rankings as one number per pair of items: which of the two comes first.

    *Definition.* The pair i < j, in the order of ``np.triu_indices(k, 1)``, becomes 1 if i comes before j, 0 if j comes
    before i, 1/2 if the two tie, and NaN where the ranking does not compare the pair (an item is missing, or neither
    is listed). The mean of the vectors of many rankings holds the probabilities :math:`p_{ij}`, their summed variance
    is the dispersion :math:`\sum_{i<j} p_{ij} (1 - p_{ij})`, and the squared distance of two full rankings is their
    Kendall distance.

    Attributes
    ----------
    n_features_in_ : int
        Number of items, k.
    feature_names_in_ : ndarray of shape (k,)
        Names of the items, where they are text.

    References
    ----------
    Clémençon, Korba, Sibony (2018), Ranking median regression: learning to order through local consensus.

    Examples
    --------
    >>> from rankwise.embeddings import KemenyEmbedding
    >>> embedding = KemenyEmbedding().fit([[2, 1, 3]])
    >>> embedding.transform([[2, 1, 3], [1, 1, float("nan")]])
    array([[0. , 1. , 1. ],
           [0.5, nan, nan]])
    >>> embedding.inverse_transform([[0.3, 0.8, 0.9]])
    array([[2., 1., 3.]])
    """

    n_features_in_: int

    _saved: ClassVar[Saved] = {"n_features_in_": COUNT}

    def fit(self, positions: ArrayLike, y: Any = None) -> KemenyEmbedding:
        """Learn the number of items, and their names.

        Parameters
        ----------
        positions : array-like of shape (n_rankings, n_items) or Rankings
            1 = best; at least two items.
        y : None
            Ignored.

        Returns
        -------
        KemenyEmbedding
            The embedding itself.
        """
        n_items = check_positions(positions).shape[1]
        if n_items < 2:
            raise ValueError("a pair takes two items, but positions has one column")
        learn_columns(self, positions, n_items)
        return self

    def transform(self, positions: ArrayLike) -> FloatArray:
        """Rankings to vectors.

        Parameters
        ----------
        positions : array-like of shape (n_rankings, n_items) or Rankings
            1 = best.

        Returns
        -------
        ndarray of shape (n_rankings, n_items * (n_items - 1) / 2)
            1: the first item of the pair comes first; NaN: unknown.
        """
        matrix = check_named_columns(self, positions)
        n_pairs = math.comb(matrix.shape[1], 2)
        check_memory(
            (_NUMBERS * len(matrix) + _INDICES) * 8 * n_pairs,
            f"the {n_pairs:,} pairs of {matrix.shape[1]:,} items in {len(matrix):,} rankings",
            "take PositionEmbedding, which has a number per item, or keep the items that matter",
        )
        above, below = np.triu_indices(matrix.shape[1], 1)
        return compare_positions(matrix[:, above], matrix[:, below])

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> np.ndarray:
        """Names of the pairs: "tea > milk" is 1 where tea comes before milk.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the items; by default those of ``fit``, else x0, x1, ...

        Returns
        -------
        ndarray of str
            One name per pair.
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        items = check_feature_names_in(self, input_features)
        above, below = np.triu_indices(len(items), 1)
        return np.array([f"{items[i]} > {items[j]}" for i, j in zip(above, below, strict=True)], dtype=object)

    def inverse_transform(self, vectors: ArrayLike) -> FloatArray:
        """Vectors to rankings: the Kemeny median of each vector of probabilities.

        Parameters
        ----------
        vectors : array-like of shape (n, n_items * (n_items - 1) / 2)
            Need not be images of rankings; NaN, a pair not known, counts as 1/2.

        Returns
        -------
        ndarray of shape (n, n_items)
            Full rankings, 1 = best.
        """
        P = pairwise_from_vectors(vectors)
        check_columns(self, P, "the items of vectors")
        return decode_pairwise(P)


def pairwise_from_vectors(vectors: ArrayLike) -> FloatArray:
    """Square matrices from one number per pair.

    Parameters
    ----------
    vectors : array-like of shape (n, n_items * (n_items - 1) / 2)
        Probability of i before j for the pairs i < j, in the order of ``np.triu_indices(n_items, 1)``.

    Returns
    -------
    ndarray of shape (n, n_items, n_items)
        ``P[r, j, i] = 1 - P[r, i, j]``, and 1/2 on the diagonal; NaN stays NaN.

    Examples
    --------
    >>> from rankwise.embeddings import pairwise_from_vectors
    >>> pairwise_from_vectors([[0.9]])
    array([[[0.5, 0.9],
            [0.1, 0.5]]])
    """
    matrix = check_numbers("vectors", vectors)
    if matrix.ndim != 2:
        raise ValueError(f"vectors has {matrix.ndim} dimension(s), but needs two: one row per ranking")
    n_pairs = matrix.shape[1]
    n_items = (1 + math.isqrt(1 + 8 * n_pairs)) // 2
    if n_pairs < 1 or n_items * (n_items - 1) // 2 != n_pairs:
        raise ValueError(f"{n_pairs} columns are not the pairs of any number of items: 1, 3, 6, 10, ...")
    above, below = np.triu_indices(n_items, 1)
    P = np.full((len(matrix), n_items, n_items), 0.5)
    P[:, above, below] = matrix
    P[:, below, above] = 1 - matrix
    return P


def vectors_from_pairwise(P: ArrayLike) -> FloatArray:
    """One number per pair from square matrices: the inverse of `pairwise_from_vectors`.

    Parameters
    ----------
    P : array-like of shape (n, n_items, n_items)
        ``P[r, i, j]`` is the probability of i before j; what stands below the diagonal is not read.

    Returns
    -------
    ndarray of shape (n, n_items * (n_items - 1) / 2)

    Examples
    --------
    >>> from rankwise.embeddings import vectors_from_pairwise
    >>> vectors_from_pairwise([[[0.5, 0.9], [0.1, 0.5]]])
    array([[0.9]])
    """
    matrices = _square_matrices(P)
    above, below = np.triu_indices(matrices.shape[1], 1)
    return matrices[:, above, below]


def decode_pairwise(P: ArrayLike, decode: Decoder = "kemeny", *, ties: ArrayLike | None = None) -> FloatArray:
    r"""Full rankings from matrices of pairwise probabilities.

    *Definition.* "kemeny" minimizes :math:`\sum_{i \text{ before } j} p_{ji}`: the Kemeny median. "borda" orders items
    by decreasing :math:`\sum_j p_{ij}` (soft votes), "copeland" by increasing number of majorities lost,
    :math:`\#\{j : p_{ij} < 1/2\}`, as `rankwise.aggregation.copeland` does: a draw is not a loss. Where the majorities
    are strictly transitive (no draw and no cycle), "kemeny" and "copeland" agree. "copeland-or-borda" is that ranking
    where they are, and Borda's order elsewhere: the local median of ranking median regression, which needs no search.

    Parameters
    ----------
    P : array-like of shape (n, n_items, n_items)
        ``P[r, i, j]`` is the probability of i before j. A pair that is NaN on both sides is unknown and
        counts as 1/2.
    decode : {"kemeny", "borda", "copeland", "copeland-or-borda"}, default="kemeny"
        How to decode.
    ties : array-like of shape (n_items,), optional
        Of items with equal scores, the one with the smaller number here comes first. By default soft votes decide
        between items that lost equally many majorities, and then the order of the columns.

    Returns
    -------
    ndarray of shape (n, n_items)
        Positions 1, ..., n_items in every row, 1 = best.

    References
    ----------
    Clémençon, Korba, Sibony (2018), Ranking median regression: learning to order through local consensus, section 2.1
    and equation 38, for "copeland-or-borda".

    Examples
    --------
    >>> from rankwise.embeddings import decode_pairwise
    >>> decode_pairwise([[[0.5, 0.8, 0.6], [0.2, 0.5, 0.3], [0.4, 0.7, 0.5]]], "borda")
    array([[1., 3., 2.]])
    """
    check_choice("decode", decode, get_args(Decoder))
    matrices = _square_matrices(P)
    if np.isnan(matrices).any():
        matrices = np.where(np.isnan(matrices), 0.5, matrices)
    if decode == "kemeny":
        return kemeny_batch(matrices)
    n_items = matrices.shape[1]
    soft = matrices.sum(axis=2) - np.diagonal(matrices, axis1=1, axis2=2)
    order = np.arange(float(n_items)) if ties is None else check_numbers("ties", ties)
    if order.shape != (n_items,):
        raise ValueError(f"ties has shape {order.shape}; give one number for each of the {n_items} items")
    against = -np.round(soft / _SAME_SCORE)
    if decode == "borda":
        return _positions_by(against, order)
    lost = majority(matrices).sum(axis=1)
    if decode == "copeland":
        return _positions_by(lost, against if ties is None else order)
    # Majorities are strictly transitive exactly where 0, 1, ..., k - 1 of them are lost.
    strict = (np.sort(lost, axis=1) == np.arange(n_items)).all(axis=1, keepdims=True)
    return np.where(strict, lost + 1.0, _positions_by(against, order))


def _positions_by(first: FloatArray | IntArray, second: FloatArray) -> FloatArray:
    """Full rankings by two keys, smaller = better; the rest by column."""
    order = np.lexsort((np.broadcast_to(second, first.shape), first), axis=1)
    positions = np.empty(first.shape)
    np.put_along_axis(positions, order, np.arange(1.0, first.shape[1] + 1)[None], axis=1)
    return positions


def _square_matrices(P: ArrayLike) -> FloatArray:
    matrices = check_numbers("P", P)
    if matrices.ndim != 3 or matrices.shape[1] != matrices.shape[2]:
        raise ValueError(f"P has shape {matrices.shape}; give one square matrix per ranking: (n, n_items, n_items)")
    return matrices
