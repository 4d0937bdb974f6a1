"""Calibration of pairs: bins, counts, and laws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rankwise import Rankings
from rankwise.label_ranking import NearestNeighborsRanker
from rankwise.plots import PairwiseCalibrationDisplay
from tests.strategies import random_positions

NAN, INF = float("nan"), float("inf")


def symmetric(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    P = np.full((n, k, k), 0.5)
    first, second = np.triu_indices(k, 1)
    P[:, first, second] = rng.random((n, len(first)))
    P[:, second, first] = 1 - P[:, first, second]
    return P


def naive_bins(positions: np.ndarray, P: np.ndarray, weights: np.ndarray, n_bins: int) -> np.ndarray:
    """Weight, sum of probabilities and of agreements in each bin, pair by pair."""
    sums = np.zeros((3, n_bins))
    for row, weight, p in zip(positions, weights, P, strict=True):
        for i in range(len(row)):
            for j in range(len(row)):
                tied = row[i] == row[j] and np.isfinite(row[i])
                if p[i, j] > 0.5 and (row[i] < row[j] or row[i] > row[j] or tied):
                    place = min(int((p[i, j] - 0.5) * 2 * n_bins), n_bins - 1)
                    agrees = 0.5 if tied else float(row[i] < row[j])
                    sums[:, place] += weight * np.array([1, p[i, j], agrees])
    return sums


@pytest.mark.parametrize("kind", ["full", "tied", "top-k", "incomplete"])
def test_points_and_bars_are_those_of_the_pairs(kind: str) -> None:
    rng = np.random.default_rng(0)
    positions, P = random_positions(rng, 30, 5, kind), symmetric(rng, 30, 5)
    weights = rng.integers(1, 4, 30).astype(float)
    display = PairwiseCalibrationDisplay.from_predictions(Rankings(positions, weights=weights), P, n_bins=4)
    counts, predicted, observed = naive_bins(positions, P, weights, 4)
    np.testing.assert_allclose([bar.get_height() for bar in display.bars_], counts)
    np.testing.assert_allclose(display.line_.get_xydata(), np.column_stack([predicted, observed]) / counts[:, None])
    assert display.error == pytest.approx(abs(predicted - observed).sum() / counts.sum())


def test_probabilities_that_are_right_lie_on_the_diagonal() -> None:
    rng = np.random.default_rng(0)
    P = symmetric(rng, 20_000, 2)
    first = np.where(rng.random(20_000) < P[:, 0, 1], 1, 2)
    display = PairwiseCalibrationDisplay.from_predictions(np.column_stack([first, 3 - first]), P)
    x, y = display.line_.get_data()
    np.testing.assert_allclose(x, y, atol=0.04)
    assert display.error < 0.02


def test_names_of_items_do_not_matter() -> None:
    rng = np.random.default_rng(0)
    positions, P, order = random_positions(rng, 40, 4, "full"), symmetric(rng, 40, 4), [2, 0, 3, 1]
    one = PairwiseCalibrationDisplay.from_predictions(positions, P)
    other = PairwiseCalibrationDisplay.from_predictions(positions[:, order], P[:, order][:, :, order])
    np.testing.assert_allclose(one.observed, other.observed)
    np.testing.assert_allclose(one.counts, other.counts)


def test_even_pairs_come_out_half() -> None:
    display = PairwiseCalibrationDisplay.from_predictions([[1, 2], [1, 2]], np.full((2, 2, 2), 0.5))
    assert display.line_.get_xydata().tolist() == [[0.5, 0.5]]


def test_estimators_predict_the_pairs() -> None:
    X, y = [[1], [2], [8], [9]], [[1, 2, 3], [1, 3, 2], [3, 2, 1], [3, 1, 2]]
    ranker = NearestNeighborsRanker(2).fit(X, y)
    display = PairwiseCalibrationDisplay.from_estimator(ranker, X, y)
    other = PairwiseCalibrationDisplay.from_predictions(y, ranker.predict_pairwise(X))
    np.testing.assert_array_equal(display.counts, other.counts)
    assert display.counts.sum() == 12
    named = NearestNeighborsRanker(2).fit(X, Rankings(y, items=["tea", "milk", "juice"]))
    np.testing.assert_array_equal(PairwiseCalibrationDisplay.from_estimator(named, X, y).counts, display.counts)
    with pytest.raises(ValueError, match="same items in a different column order"):
        PairwiseCalibrationDisplay.from_estimator(named, X, Rankings(y, items=["milk", "tea", "juice"]))


@pytest.mark.parametrize(
    ("y", "P", "message"),
    [
        ([[1, 2]], [[0.5, 0.5], [0.5, 0.5]], r"P has shape \(2, 2\), but the rankings need \(1, 2, 2\)"),
        ([[1, 2]], [[[0.5, 0.9], [0.9, 0.5]]], "is not 1 everywhere"),
        ([[1, 2]], [[[0.5, 1.5], [-0.5, 0.5]]], "do not lie between 0 and 1"),
        ([[1, 2]], [[[0.5, NAN], [NAN, 0.5]]], "do not lie between 0 and 1"),
        ([[1, NAN]], [[[0.5, 0.9], [0.1, 0.5]]], "y orders no pair"),
        ([[INF, INF]], [[[0.5, 0.9], [0.1, 0.5]]], "y orders no pair"),
    ],
)
def test_bad_input_is_named(y: Any, P: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PairwiseCalibrationDisplay.from_predictions(y, P)


def test_other_estimators_are_refused() -> None:
    with pytest.raises(TypeError, match="list has no predict_pairwise"):
        PairwiseCalibrationDisplay.from_estimator([], [[1]], [[1, 2]])
