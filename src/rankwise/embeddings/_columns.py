"""Items as columns: every embedding learns their number and names in ``fit``, and checks them from then on."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwise._sklearn import BaseEstimator
from rankwise._typing import ArrayLike, FloatArray
from rankwise._validation import item_names, shortlist
from rankwise.data import check_positions


def learn_columns(embedding: Any, positions: ArrayLike, n_items: int) -> None:
    """Set ``n_features_in_``, and ``feature_names_in_`` if the items have names."""
    embedding.n_features_in_ = n_items
    names = _text_names(positions)
    if names is not None:
        embedding.feature_names_in_ = names
    elif hasattr(embedding, "feature_names_in_"):
        del embedding.feature_names_in_


def check_named_columns(embedding: BaseEstimator, positions: ArrayLike) -> FloatArray:
    """Positions, checked to be of the items of ``fit``: the same number, and the same names in the same order."""
    matrix = check_columns(embedding, check_positions(positions))
    names, fitted = _text_names(positions), getattr(embedding, "feature_names_in_", None)
    if names is not None and fitted is not None and list(names) != list(fitted):
        raise ValueError(
            f"the items are {shortlist(list(names))}, but {type(embedding).__name__} was fitted to "
            f"{shortlist(list(fitted))}; give the same items in the same order (Rankings.select)"
        )
    return matrix


def check_columns(embedding: BaseEstimator, values: FloatArray, name: str = "the columns") -> FloatArray:
    """Refuse a number of items that differs from ``fit``."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(embedding)
    n_items: int = embedding.n_features_in_  # type: ignore[attr-defined]
    if values.ndim < 2 or values.shape[1] != n_items:
        raise ValueError(
            f"{name} are {values.shape[1] if values.ndim > 1 else 'none'}, but "
            f"{type(embedding).__name__} was fitted to {n_items} items"
        )
    return values


def _text_names(positions: ArrayLike) -> np.ndarray[Any, Any] | None:
    """Names of the items, if all are strings: scikit-learn has no other names of columns."""
    names = item_names(positions)
    if names is None or not all(isinstance(name, str) for name in names):
        return None
    return np.array(names, dtype=object)
