"""Own sums of the experiments on ranking medians, against what the library says of single rankings."""

from __future__ import annotations

import numpy as np
import pytest

from rankwise.aggregation import Mallows, sample_mallows
from rankwise.aggregation.statistics import excess_risk
from rankwise_reproductions.experiment import Inputs, Results
from rankwise_reproductions.ranking_median import bagging, table_1, theorem_3


def test_excess_by_row_is_the_excess_under_the_model_around_the_center_of_the_row():
    rng = np.random.default_rng(0)
    centers = sample_mallows(np.arange(1.0, 5), 0.0, 20, rng)
    positions = sample_mallows(np.arange(1.0, 5), 0.0, 20, rng)
    law = Mallows(center=np.arange(1.0, 5), theta=0.7).pairwise_probabilities()
    expected = [
        excess_risk(Mallows(center=center, theta=0.7).pairwise_probabilities(), row)
        for center, row in zip(centers, positions, strict=True)
    ]
    np.testing.assert_allclose(bagging._excess_by_row(positions, centers, law), expected)


def test_the_counterexample_to_theorem_3_is_the_wrong_majority_of_three():
    values = theorem_3._compute({**theorem_3.COUNTEREXAMPLE, "seed": 0}, Inputs())
    assert values["margin"] == pytest.approx(0.2)
    assert values["bound"] < 2 * values["margin"]
    exact = 3 * 0.3**2 * 0.7 + 0.3**3
    assert values["wrong"] == pytest.approx(exact, abs=4 * np.sqrt(exact / theorem_3._SAMPLES))
    assert values["excess"] == pytest.approx(2 * values["margin"] * values["wrong"])


def test_the_slope_is_in_units_of_the_rate_of_the_theorem():
    margin = 0.2
    rate = -np.log(1 - 4 * margin**2) / 2
    results = Results(
        [
            ({"n_rankings": n, "seed": seed}, {"excess": np.exp(-1.5 * rate * n) * (1 + 0.01 * seed), "margin": margin})
            for n in (5, 10, 20, 40)
            for seed in range(2)
        ]
    )
    slope, error = theorem_3._slope(results)
    assert slope == pytest.approx(1.5)
    assert 0 < error < 0.1


def test_categories_become_indicators_and_numbers_stay():
    X = np.array([[0.5, 2.0], [0.1, 0.0]])
    assert table_1._indicators(X, [1]).tolist() == [[0.5, 0, 0, 1], [0.1, 1, 0, 0]]
