"""The target of least-squares trees and forests, and their score: numbers, one or many per row, NaN where missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rankwise._sklearn import RegressorMixin
from rankwise._typing import ArrayLike, FloatArray, IntArray
from rankwise.data.weights import check_weights
from rankwise.trees.engine import TrainingSet
from rankwise.trees.targets import TargetRows

# Variance that rounding leaves of equal targets, as a share of their squares.
_ROUNDING = 1e-24


class RegressionMixin(RegressorMixin):
    """Score of regressors whose targets may be missing."""

    predict: Callable[[ArrayLike], FloatArray]

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Mean over the targets of :math:`R^2`, each over the rows that have it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets; NaN is missing.
        sample_weight : array-like of shape (n_samples,), optional
            Weights.

        Returns
        -------
        float
            At most 1; a target that does not vary counts 1 where it is met, else 0.
        """
        prediction = self.predict(X)
        targets, _ = _check_targets(y, len(prediction))
        weights = check_weights(sample_weight, len(prediction), name="sample_weight", each="row")
        return weighted_r2(targets, prediction.reshape(len(prediction), -1), weights)


def weighted_r2(targets: FloatArray, prediction: FloatArray, weights: FloatArray) -> float:
    """Mean R^2 of the targets, over the rows that have both a target and a prediction; NaN if there are none."""
    known = ~np.isnan(prediction) & ~np.isnan(targets)
    weight = np.where(known, weights[:, None], 0.0)
    judged = weight.sum(axis=0) > 0
    if not judged.any():
        return float("nan")
    weight, targets, prediction = weight[:, judged], targets[:, judged], prediction[:, judged]
    values = np.where(weight > 0, targets, 0.0)
    mean = (weight * values).sum(axis=0) / weight.sum(axis=0)
    rest = (weight * np.where(weight > 0, targets - prediction, 0.0) ** 2).sum(axis=0)
    spread = (weight * np.where(weight > 0, targets - mean, 0.0) ** 2).sum(axis=0)
    least = _ROUNDING * (weight * values**2).sum(axis=0)
    varies = spread > least
    unvaried = np.where(rest <= least, 1.0, 0.0)
    return float(np.mean(np.where(varies, 1 - rest / np.where(varies, spread, 1.0), unvaried)))


def regression_set(
    estimator: Any, features: FloatArray, y: ArrayLike, sample_weight: ArrayLike | None, rng: np.random.Generator
) -> tuple[TrainingSet, IntArray, bool]:
    """The rows that have a weight and a target; which they are; and whether targets came as one column."""
    targets, flat = _check_targets(y, len(features))
    weights = check_weights(sample_weight, len(features), name="sample_weight", each="row")
    rows = np.flatnonzero((weights > 0) & ~np.isnan(targets).all(axis=1))
    if not len(rows):
        raise ValueError("no row has a target and a sample_weight above zero, so there is nothing to learn from")
    if len(rows) < len(features):
        features, targets, weights = features[rows], targets[rows], weights[rows]
    never = np.isnan(targets).all(axis=0)
    if never.any():
        raise ValueError(f"column {int(np.argmax(never))} of y has no value in any row, so nothing can be learnt of it")
    training = TrainingSet.build(
        features,
        estimator._encoder.n_categories,
        TargetRows(targets),
        weights,
        max_bins=estimator.max_bins,
        sketch=estimator.sketch,
        rng=rng,
    )
    return training, rows, flat


# ---------------------------------------------------------------------------------------------------------------


def _check_targets(y: ArrayLike, n: int) -> tuple[FloatArray, bool]:
    """Targets as a float matrix, and whether they came as one column."""
    from sklearn.utils.validation import check_array, check_consistent_length

    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    targets = check_array(y, dtype=np.float64, ensure_2d=False, ensure_all_finite="allow-nan", input_name="y")
    check_consistent_length(np.empty(n), targets)
    return np.ascontiguousarray(targets.reshape(n, -1)), targets.ndim == 1
