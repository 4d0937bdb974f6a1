"""Features whose linear functions are additive, bent functions of the originals."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwise._sklearn import BaseEstimator, TransformerMixin, check_feature_names_in
from rankwise._typing import ArrayLike, FloatArray

# With more columns than this, hinges are left away.
_MOST_COLUMNS = 200
_SHARES = (0.2, 0.4, 0.6, 0.8)


class AdditiveFeatures(TransformerMixin, BaseEstimator):
    """Every feature x with its square and the hinges (x - q)+ at quantiles q of the training rows.

    A linear model on them is an additive one with a kink here and there: enough for log-odds that come from naive
    Bayes, say. Only x and its square where hinges would make too many columns.
    """

    def fit(self, X: ArrayLike, y: Any = None) -> AdditiveFeatures:
        """Learn centre, scale and quantiles of each feature."""
        from sklearn.utils.validation import validate_data

        rows = validate_data(self, X, dtype=np.float64)
        self.mean_ = rows.mean(axis=0)
        scale = rows.std(axis=0)
        self.scale_ = np.where(scale > 0, scale, 1.0)
        few = rows.shape[1] * (2 + len(_SHARES)) <= _MOST_COLUMNS
        scaled = (rows - self.mean_) / self.scale_
        self.knots_ = np.quantile(scaled, _SHARES, axis=0) if few else np.empty((0, rows.shape[1]))
        return self

    def transform(self, X: ArrayLike) -> FloatArray:
        """The features side by side."""
        from sklearn.utils.validation import check_is_fitted, validate_data

        check_is_fitted(self)
        scaled = (validate_data(self, X, reset=False, dtype=np.float64) - self.mean_) / self.scale_
        hinges = [np.maximum(scaled - knot, 0.0) for knot in self.knots_]
        return np.concatenate([scaled, scaled**2, *hinges], axis=1)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> np.ndarray:
        """Names of the features: "age", "age^2", and "age above 20 %" for the hinge at that quantile."""
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        names = check_feature_names_in(self, input_features)
        hinges = [f" above {100 * share:g} %" for share in _SHARES[: len(self.knots_)]]
        return np.array([f"{name}{ending}" for ending in ("", "^2", *hinges) for name in names], dtype=object)
