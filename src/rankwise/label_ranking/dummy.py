"""DummyRanker: the baseline, which ignores the features and predicts one ranking for all rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from rankwise._decode import Decoder
from rankwise._sklearn import BaseEstimator, num_samples
from rankwise._state import FLOATS, MATRIX, Saved, check_probabilities, check_shape
from rankwise._typing import ArrayLike, FloatArray
from rankwise.aggregation import preference_matrix
from rankwise.aggregation.rules import CONSENSUS_RULES
from rankwise.data import Rankings
from rankwise.label_ranking.base import DECODE_CONSTRAINTS, LabelRankerMixin, share_before

# With more items the Kemeny consensus is searched for without a proof, which could take minutes.
_MOST_ITEMS_PROVEN = 50


class DummyRanker(LabelRankerMixin, BaseEstimator):
    """Label ranker that predicts the consensus of the training rankings for every row.

    Parameters
    ----------
    decode : {"kemeny", "borda", "copeland", "copeland-or-borda"}, default="kemeny"
        Which consensus: the ranking with the fewest disagreements (found by local search, without a proof, for more
        than 50 items), the order of the mean places, the order by pairwise majorities lost, or the latter where
        majorities are strictly transitive and the former elsewhere. Equal places go to the
        item with more soft votes (the sum of its row of ``pairwise_``), and then by column.

    Attributes
    ----------
    positions_ : ndarray of shape (n_items,)
        The consensus, 1 = best, without ties.
    pairwise_ : ndarray of shape (n_items, n_items)
        Share of the training rankings with i before j, ties counted half; 1/2 for pairs that nobody compared.
    items_ : tuple
        Names of the items.

    Examples
    --------
    >>> from rankwise.label_ranking import DummyRanker
    >>> ranker = DummyRanker().fit([[0], [1], [2]], [[1, 2, 3], [1, 3, 2], [2, 1, 3]])
    >>> ranker.predict([[7]])
    array([[1., 2., 3.]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"decode": DECODE_CONSTRAINTS}

    _saved: ClassVar[Saved] = {"pairwise_": MATRIX, "positions_": FLOATS}

    def __init__(self, decode: Decoder = "kemeny") -> None:
        self.decode = decode

    def _fit_rankings(self, X: FloatArray, y: Rankings) -> None:
        self.pairwise_ = share_before(preference_matrix(y))
        options: dict[str, Any] = {}
        if self.decode == "kemeny":
            options = {"method": "auto" if y.n_items <= _MOST_ITEMS_PROVEN else "local-search", "random_state": 0}
        consensus = CONSENSUS_RULES[self.decode](y, **options).positions
        # The prediction is a full ranking: ties go by soft votes, as in `decode_pairwise`, and then by column.
        soft_votes = self.pairwise_.sum(axis=1).round(9)
        self.positions_ = np.empty_like(consensus)
        self.positions_[np.lexsort((-soft_votes, consensus))] = np.arange(1.0, len(consensus) + 1)

    def _check_features(self, X: ArrayLike, *, reset: bool) -> Any:
        """Accept any table: no feature is used."""
        from sklearn.utils.validation import validate_data

        if hasattr(X, "tocsr"):
            raise TypeError("X is a sparse matrix, but features are dense: use X.toarray()")
        if isinstance(X, Mapping):
            raise TypeError("X is a dictionary; give a table with a row for each ranking")
        if isinstance(X, list | tuple) and not X:
            raise ValueError("X has no rows; give a table with a row for each ranking")
        validate_data(self, X, reset=reset, skip_check_array=True)
        return np.empty((num_samples(X), 0))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.no_validation = True
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def _predict_pairwise(self, X: FloatArray) -> FloatArray:
        return np.tile(self.pairwise_, (len(X), 1, 1))

    def _predict_positions(self, X: FloatArray) -> FloatArray:
        return np.tile(self.positions_, (len(X), 1))

    def _check_saved(self) -> None:
        k = len(self.items_)
        check_shape(self.pairwise_, (k, k), "the shares")
        check_probabilities(self.pairwise_)
        check_shape(self.positions_, (k,), "the positions")
