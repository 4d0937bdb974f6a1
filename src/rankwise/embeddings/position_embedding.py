"""Rankings as places: one coordinate per item, decoded by sorting."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from rankwise._sklearn import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from rankwise._state import COUNT, Saved
from rankwise._typing import ArrayLike, FloatArray
from rankwise._validation import check_numbers
from rankwise.data import check_positions, dense_positions, midranks
from rankwise.embeddings._columns import check_columns, check_named_columns, learn_columns

# Means of the same places differ in the last digits; rounded to this, they tie.
_DIGITS = 12


class PositionEmbedding(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    r"""Rankings as places between 0 and 1; lower = better.

    *Definition.* Item i of a ranking that holds :math:`m` of the k items, among which i has mid-rank
    :math:`\rho(i)`, becomes

    .. math:: y_i = \frac{1}{k} \Bigl(1 + (k - 1) \frac{\rho(i) - 1}{m - 1}\Bigr).

    Where no item is missing this is the place divided by k. Where items are missing, the places of those that are there
    are stretched by the share of the others that come before: if they are a random part of the k, the mean of
    :math:`k y_i` is the place among all, as in `borda`. Missing items, and an item that is alone, are NaN; unlisted
    ones share the mean of the places below the listed ones.

    Attributes
    ----------
    n_features_in_ : int
        Number of items.
    feature_names_in_ : ndarray of shape (n_items,)
        Names of the items, where they are text; so are the columns of ``transform`` named.

    References
    ----------
    Fotakis, Kalavasis, Psaroudaki (2022), Label ranking through nonparametric regression, algorithm 1 (:math:`y_i` =
    position / k).

    Examples
    --------
    >>> from rankwise.embeddings import PositionEmbedding
    >>> embedding = PositionEmbedding().fit([[2, 1, 3, 4]])
    >>> embedding.transform([[2, 1, 3, 4]])
    array([[0.5 , 0.25, 0.75, 1.  ]])
    >>> embedding.inverse_transform([[0.6, 0.1, 0.7, 0.9]])
    array([[2., 1., 3., 4.]])
    """

    n_features_in_: int

    _saved: ClassVar[Saved] = {"n_features_in_": COUNT}

    def fit(self, positions: ArrayLike, y: Any = None) -> PositionEmbedding:
        """Learn the number of items, and their names.

        Parameters
        ----------
        positions : array-like of shape (n_rankings, n_items) or Rankings
            1 = best.
        y : None
            Ignored.

        Returns
        -------
        PositionEmbedding
            The embedding itself.
        """
        learn_columns(self, positions, check_positions(positions).shape[1])
        return self

    def transform(self, positions: ArrayLike) -> FloatArray:
        """Rankings to vectors.

        Parameters
        ----------
        positions : array-like of shape (n_rankings, n_items) or Rankings
            1 = best.

        Returns
        -------
        ndarray of shape (n_rankings, n_items)
            Lower = better, NaN where an item is missing or alone.
        """
        places = midranks(check_named_columns(self, positions))
        n_items = places.shape[1]
        others = n_items - 1.0 - np.isnan(places).sum(axis=1, keepdims=True)
        with np.errstate(invalid="ignore"):  # an item that is alone has no place among others: 0 / 0
            return (1 + (n_items - 1) * (places - 1) / others) / n_items

    def inverse_transform(self, vectors: ArrayLike) -> FloatArray:
        """Vectors to rankings, by sorting each.

        Parameters
        ----------
        vectors : array-like of shape (n, n_items)
            Lower = better; need not be images of rankings.

        Returns
        -------
        ndarray of shape (n, n_items)
            Positions, 1 = best; equal numbers tie, NaN stays missing.
        """
        return dense_positions(np.round(check_columns(self, check_numbers("vectors", vectors)), _DIGITS))
