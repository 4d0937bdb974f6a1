"""What the selectors share: they need a target, and choose columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankwise._sklearn import BaseEstimator
from rankwise._typing import ArrayLike, BoolArray, FloatArray
from rankwise.screening._inputs import check_target, refuse_no_numbers

if TYPE_CHECKING:

    class SelectorMixin(BaseEstimator):
        """What is used here of scikit-learn's selectors, which has no types."""

        def transform(self, X: ArrayLike) -> FloatArray: ...
        def inverse_transform(self, X: ArrayLike) -> FloatArray: ...
        def get_feature_names_out(self, input_features: ArrayLike | None = None) -> np.ndarray: ...

else:
    from sklearn.feature_selection import SelectorMixin


class TargetSelectorMixin(SelectorMixin):
    """Selection of columns by their relation to a numeric target."""

    n_features_in_: int

    def _check(self, X: ArrayLike, y: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Parameters, columns and target."""
        from sklearn.utils.validation import validate_data

        self._validate_params()
        refuse_no_numbers("X", X)
        refuse_no_numbers("y", y)
        columns, target = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=3)
        return columns, check_target(target)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def highest(scores: FloatArray, k: int) -> BoolArray:
    """Which k scores are highest; of equal ones the first."""
    mask = np.zeros(len(scores), dtype=bool)
    mask[np.argsort(-scores, kind="stable")[:k]] = True
    return mask
