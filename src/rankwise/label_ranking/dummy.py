"""The baseline: one ranking for all, whatever the features say."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from rankwise._sklearn import BaseEstimator, StrOptions
from rankwise._typing import ArrayLike, FloatArray
from rankwise.aggregation import borda, kemeny, preference_matrix
from rankwise.data import Rankings
from rankwise.label_ranking.base import LabelRankerMixin, share_before

_MOST_PROVEN = 50


class DummyRanker(LabelRankerMixin, BaseEstimator):
    """Predicts the consensus of the training rankings for every row.

    Parameters
    ----------
    strategy : {"kemeny", "borda"}, default="kemeny"
        Which consensus: the ranking with the fewest disagreements (searched, not proven, for more than 50 items), or
        the order of the mean places.

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"strategy": [StrOptions({"kemeny", "borda"})]}

    def __init__(self, strategy: Literal["kemeny", "borda"] = "kemeny") -> None:
        self.strategy = strategy

    def _fit_rankings(self, X: FloatArray, y: Rankings) -> None:
        matrix = preference_matrix(y)
        self.pairwise_ = share_before(matrix)
        if self.strategy == "borda":
            consensus = borda(y)
        else:
            # A baseline must not take a minute to prove that it is one.
            method: Literal["auto", "local-search"] = "auto" if y.n_items <= _MOST_PROVEN else "local-search"
            consensus = kemeny(matrix, method=method, random_state=0).positions
        self.positions_ = np.empty_like(consensus)
        # Items that tie go by column, so that the prediction is a full ranking.
        self.positions_[np.argsort(consensus, kind="stable")] = np.arange(1.0, len(consensus) + 1)

    def _check_features(self, X: ArrayLike, *, reset: bool) -> Any:
        """Any features will do: none is looked at."""
        from sklearn.utils.validation import _num_samples, validate_data

        if hasattr(X, "tocsr"):
            raise TypeError("X is a sparse matrix, but features are dense: use X.toarray()")
        validate_data(self, X, reset=reset, skip_check_array=True)
        return np.empty((_num_samples(X), 0))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.no_validation = True
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def _predict_pairwise(self, X: FloatArray) -> FloatArray:
        return np.tile(self.pairwise_, (len(X), 1, 1))

    def _predict_positions(self, X: FloatArray) -> FloatArray:
        return np.tile(self.positions_, (len(X), 1))
