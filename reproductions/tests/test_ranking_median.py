"""Own sums of the experiments on ranking medians, against what the library says of single rankings."""

from __future__ import annotations

import json

import numpy as np
import pytest
from reproductions.tests.stored import RESULTS, ROOT

from rankwise.aggregation import Mallows, sample_mallows
from rankwise.aggregation.statistics import excess_risk
from rankwise_reproductions.experiment import Inputs, Results
from rankwise_reproductions.ranking_median import bagging, propositions_6_7, table_1, theorem_3, theorem_9, theorem_13
from rankwise_reproductions.store import read_store


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


def test_the_page_prints_the_81_risks_of_table_1():
    (experiment,) = table_1.EXPERIMENTS
    stored = read_store(RESULTS / "ranking_median" / "table_1.json", experiment).cells
    table = table_1.risk_table(Results([(json.loads(key), values) for key, values in stored.items()]))
    assert len(table) == 2 + 9
    page = (ROOT / "docs" / "papers" / "ranking-median.md").read_text("utf-8")
    assert [line for line in table if line not in page] == []


def test_the_constant_of_proposition_6_is_that_of_the_excess_that_can_be_computed():
    few, many = (propositions_6_7._two_rules(k) for k in (2, 20))
    assert few["probability"] == many["probability"] > propositions_6_7.DELTA
    assert many["excess"] == pytest.approx(190 * few["excess"])
    assert many["constant"] > 50 * few["constant"]


def test_the_best_rule_has_no_excess_and_many_rows_find_it():
    cell = {"what": "finite class", "margin": 0.2, "n_rows": 1000, "seed": 0}
    values = propositions_6_7._compute(cell, Inputs())
    assert values["quantile"] == 0
    assert values["bound"] == pytest.approx(6 / 0.2 * np.log(320) / 1000)


def test_cells_within_areas_have_no_excess_and_others_have_one():
    within, across = (theorem_9._compute({"law": "areas", "intervals": n, "seed": 0}, Inputs()) for n in (2, 3))
    assert within["excess"] == within["furthest"] == 0
    assert 0 < across["excess"] < across["bound"]
    assert across["furthest"] <= across["distance bound"]


def test_all_rows_as_neighbors_predict_one_ranking():
    cell = {"law": "smooth", "n_rows": 250, "seed": 0}
    near, all_rows = (theorem_13._compute({**cell, "n_neighbors": m}, Inputs()) for m in (25, 250))
    assert near["excess"] < 0.5 * all_rows["excess"]
    assert near["bound"] < all_rows["bound"]
