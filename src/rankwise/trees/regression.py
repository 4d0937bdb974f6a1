"""The target of least-squares trees and forests: numbers, one or many per row, NaN where missing."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwise._typing import ArrayLike, FloatArray, IntArray
from rankwise.data.weights import check_weights
from rankwise.trees.engine import TrainingSet
from rankwise.trees.targets import TargetRows


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
