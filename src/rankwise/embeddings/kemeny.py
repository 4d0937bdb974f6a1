"""Rankings as signs of pairs: one coordinate per pair of items, decoded by the Kemeny median."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwise._sklearn import BaseEstimator, TransformerMixin, check_feature_names_in
from rankwise._typing import ArrayLike, FloatArray
from rankwise.data import check_positions
from rankwise.embeddings._columns import check_columns, check_named_columns, learn_columns
from rankwise.embeddings.pairwise import decode_pairwise, pairwise_from_vectors


class KemenyEmbedding(TransformerMixin, BaseEstimator):
    r"""Rankings as one number per pair of items: which of the two comes first.

    *Definition.* The pair i < j, in the order of ``np.triu_indices(k, 1)``, becomes 1 if i comes before j, 0 if j comes
    before i, 1/2 if the two tie, and NaN where the ranking says nothing of the pair (an item is missing, or neither is
    listed). The mean of the vectors of many rankings holds the probabilities :math:`p_{ij}`, their summed variance is
    the dispersion :math:`\sum_{i<j} p_{ij} (1 - p_{ij})`, and the squared distance of two full rankings is their
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
        above, below = np.triu_indices(matrix.shape[1], 1)
        first, second = matrix[:, above], matrix[:, below]
        vectors = np.where(first < second, 1.0, np.nan)
        vectors[first > second] = 0.0
        vectors[(first == second) & (first < np.inf)] = 0.5
        return vectors

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
            Need not be images of rankings; NaN, a pair of which nothing is known, counts as 1/2.

        Returns
        -------
        ndarray of shape (n, n_items)
            Full rankings, 1 = best.
        """
        P = pairwise_from_vectors(vectors)
        check_columns(self, P, "the items of vectors")
        return decode_pairwise(P)
