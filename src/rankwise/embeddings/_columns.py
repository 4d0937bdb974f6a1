"""The check that embeddings share: fitted, and as many items as when fitted."""

from __future__ import annotations

from rankwise._sklearn import BaseEstimator
from rankwise._typing import FloatArray


def check_columns(embedding: BaseEstimator, values: FloatArray, name: str = "the columns") -> FloatArray:
    """Refuse another number of items than in ``fit``."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(embedding)
    n_items: int = embedding.n_features_in_  # type: ignore[attr-defined]
    if values.ndim < 2 or values.shape[1] != n_items:
        raise ValueError(
            f"{name} are {values.shape[1] if values.ndim > 1 else 'none'}, but "
            f"{type(embedding).__name__} was fitted to {n_items} items"
        )
    return values
