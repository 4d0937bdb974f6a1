"""Bounds on excess risks: by hand, and against excesses that are known exactly."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from rankwise.aggregation import kemeny_batch
from rankwise.datasets import lipschitz_oracle
from rankwise.label_ranking import (
    NearestNeighborsRanker,
    conditional_excess_risk,
    empirical_risk_bound,
    low_noise_risk_bound,
    neighbors_risk_bound,
    partition_distance_bound,
    partition_risk_bound,
)
from tests.naive.statistics import kendall


def test_values_by_hand():
    assert low_noise_risk_bound(3, 0.25, 2, 100, 0.5) == pytest.approx(3 * 2 / (2 * 0.25) * np.log(4) / 100)
    assert empirical_risk_bound(2, 1, 8, 0.5) == pytest.approx(2 * np.sqrt(4 * (np.log(9) + np.log(16))))
    assert empirical_risk_bound(4, 3, 50, 0.1, bias=0.5, constant=2) == pytest.approx(
        2 * np.sqrt(3 * np.log(60) / 50) + 0.5
    )
    assert partition_risk_bound(3, 0.5) == 1.5
    assert partition_distance_bound(3, 0.5, 0.25) == 6
    # c = 9, so that 2 sqrt(c) M (m / N)^(1/3) = 6 * 0.5 * 0.5
    assert neighbors_risk_bound(3, 32, 4, 3, 0.5, constant=9) == pytest.approx(3 * (0.5 + 1.5))
    assert neighbors_risk_bound(3, 32, 4, 3, 0.5, constant=9, h=0.1) == pytest.approx(6 * (1 + 6 / 0.4))
    assert neighbors_risk_bound(2, 8, 1, 4, 1.0) == pytest.approx(1 + 2 * np.sqrt(32 * (2 / np.e) ** 0.5) * 8**-0.25)


def _chosen_against_the_odds(n_samples: int, share: float) -> float:
    """Probability that of a ranking, drawn with this probability, and its reverse the reverse is as frequent."""
    return binom.cdf(n_samples // 2, n_samples, share)


@pytest.mark.parametrize("n_items", [2, 5])
@pytest.mark.parametrize("h", [0.05, 0.2, 0.5])
def test_fast_rates_hold_with_two_rules(n_items, h):
    # A ranking and its reverse: all pairs agree, the worst case of the proof. The excess is 0 or 2 h for every pair.
    excess = 2 * h * n_items * (n_items - 1) / 2
    for n_samples in (1, 5, 20, 100, 1000):
        failing = _chosen_against_the_odds(n_samples, 0.5 + h)
        for delta in np.geomspace(1e-12, 0.9, 60):
            assert failing <= delta or low_noise_risk_bound(n_items, h, 2, n_samples, delta) >= excess


def test_the_printed_constant_of_proposition_6_grows_with_the_number_of_pairs():
    n_samples, delta = 10_001, 0.1
    h = 1 / (2 * np.sqrt(n_samples))
    assert _chosen_against_the_odds(n_samples, 0.5 + h) > delta
    needed = {}
    for k in (2, 10, 50):
        excess = 2 * h * k * (k - 1) / 2
        needed[k] = excess / empirical_risk_bound(k, 1, n_samples, delta, constant=1)
        assert empirical_risk_bound(k, 1, n_samples, delta) > excess
    assert needed[50] > 10 * needed[10] > 100 * needed[2]


@pytest.mark.parametrize("margin", [0.0, 0.2])
@pytest.mark.parametrize("cells", [1, 2, 3, 6])
def test_medians_of_cells_are_within_the_bounds(margin, cells):
    oracle = lipschitz_oracle(4, 2, margin=margin, random_state=2)
    X, _ = oracle.sample(4000, random_state=0)
    P = oracle.preference_probability(X)
    cell = (np.minimum(X * cells, cells - 1).astype(int) @ [1, cells]).astype(int)
    laws = np.array([P[cell == number].mean(axis=0) for number in range(cells**2)])
    medians = kemeny_batch(np.nan_to_num(laws, nan=0.5))
    predicted = medians[cell]
    diameter = np.sqrt(2) / cells
    excess = conditional_excess_risk(P, predicted)
    assert excess <= partition_risk_bound(oracle.m.lipschitz, diameter)
    assert excess > 0 or (margin > 0 and cells in (2, 6))  # cells that lie within areas
    if margin:
        furthest = max(kendall(a, b) for a, b in zip(predicted, oracle.median(X), strict=True))
        assert furthest <= partition_distance_bound(oracle.m.lipschitz, diameter, margin)


@pytest.mark.parametrize("margin", [0.0, 0.2])
def test_medians_of_neighbors_are_within_the_bounds(margin):
    oracle = lipschitz_oracle(3, 3, margin=margin, random_state=0)
    unseen, _ = oracle.sample(300, random_state=99)
    P = oracle.preference_probability(unseen)
    for n_neighbors in (1, 20):
        options = {"standardize": False, "decode": "copeland-or-borda"}
        excesses = [
            conditional_excess_risk(
                P, NearestNeighborsRanker(n_neighbors, **options).fit(*oracle.sample(500, seed)).predict(unseen)
            )
            for seed in range(5)
        ]
        bound = neighbors_risk_bound(3, 500, n_neighbors, 3, oracle.m.lipschitz, h=margin or None)
        assert 0 < np.mean(excesses) < bound


def test_the_default_constant_bounds_the_distances_of_neighbors():
    rng = np.random.default_rng(0)
    for d in (3, 6):
        constant = 4 * d * d / (d - 2) * (2 / np.e) ** (2 / d)
        for n, m in ((50, 1), (50, 10), (400, 20)):
            distance = np.linalg.norm(rng.random((200, n, d)) - rng.random((200, 1, d)), axis=2)
            nearest = np.sort(distance, axis=1)[:, :m]
            assert np.mean(nearest**2) < constant * (m / n) ** (2 / d)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: low_noise_risk_bound(3, 0, 2, 9, 0.1), "h is 0"),
        (lambda: low_noise_risk_bound(3, 0.1, 0, 9, 0.1), "n_rules is 0"),
        (lambda: empirical_risk_bound(3, 1, 9, 1.0), "delta is 1.0"),
        (lambda: empirical_risk_bound(1, 1, 9, 0.5), "n_items is 1"),
        (lambda: partition_risk_bound(-1, 1), "lipschitz is -1"),
        (lambda: partition_distance_bound(1, 1, 0.7), "h is 0.7"),
        (lambda: neighbors_risk_bound(3, 10, 11, 3, 1.0), "n_neighbors is 11, but there are 10 rows"),
        (lambda: neighbors_risk_bound(3, 10, 1, 2, 1.0), "n_features is 2, but must be at least 3"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
