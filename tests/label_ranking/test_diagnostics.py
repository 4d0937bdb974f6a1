"""Margins of pairs, risks of rules, and dispersion within partitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwise import Rankings
from rankwise.aggregation import dispersion, excess_risk, noise_margin
from rankwise.embeddings import pairwise_from_vectors
from rankwise.label_ranking import (
    bayes_risk,
    conditional_excess_risk,
    conditional_noise_margin,
    conditional_risk,
    partition_dispersion,
    ranking_risk,
)
from tests.naive import label_ranking as naive
from tests.naive import statistics
from tests.strategies import position_matrices


@given(position_matrices(kinds=("full",), min_items=2), st.integers(0, 2**32 - 1))
def test_risk_is_the_mean_distance(y, seed):
    predicted = np.random.default_rng(seed).permuted(y, axis=1)
    distances = [statistics.kendall(a, b) for a, b in zip(y, predicted, strict=True)]
    assert ranking_risk(y, predicted) == pytest.approx(np.mean(distances))
    weights = 1.0 + np.arange(len(y))
    expected = np.average(distances, weights=weights)
    assert ranking_risk(y, predicted, weights) == pytest.approx(expected)
    assert ranking_risk(Rankings(y, weights=weights), predicted) == pytest.approx(expected)


@given(position_matrices(kinds=("full",), min_items=2), st.integers(0, 2**32 - 1))
def test_dispersion_of_a_partition_equals_its_definition(y, seed):
    cells = np.random.default_rng(seed).integers(0, 3, len(y))
    assert partition_dispersion(cells, y) == pytest.approx(naive.cell_dispersion(cells, y))
    names = np.array(["x", "y", "z"])[cells]
    assert partition_dispersion(names, Rankings(y)) == pytest.approx(partition_dispersion(cells, y))


def test_one_cell_is_the_plain_dispersion_and_weights_are_multiplicities():
    y = np.array([[1, 2, 3], [2, 1, 3], [3, 2, 1], [1, 3, 2]], dtype=float)
    assert partition_dispersion(np.zeros(4), y) == pytest.approx(dispersion(Rankings(y)))
    weights, cells = [2, 1, 1, 1], np.array([0, 0, 1, 1])
    twice = partition_dispersion(np.r_[0, cells], y[[0, 0, 1, 2, 3]])
    assert partition_dispersion(cells, y, weights) == pytest.approx(twice)


def test_margins():
    P = np.random.default_rng(0).random((5, 3, 3))
    P = (P + 1 - P.transpose(0, 2, 1)) / 2
    margins = conditional_noise_margin(P, per_row=True)
    np.testing.assert_allclose(margins, [noise_margin(matrix) for matrix in P])
    assert conditional_noise_margin(P) == margins.min()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: conditional_noise_margin([[0.5]]), "a matrix of two items"),
        (lambda: partition_dispersion([0], [[1, 2], [2, 1]]), "a cell for each"),
        (lambda: partition_dispersion([0], [[1, 2]], [0]), "weights are 0"),
        (lambda: ranking_risk([[1, 2]], [[1, 2]], [0]), "weights are 0"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@given(st.integers(2, 4), st.booleans(), st.integers(0, 2**32 - 1))
def test_risks_under_known_laws_equal_their_definitions(k, spread, seed):
    rng = np.random.default_rng(seed)
    rankings = statistics.all_rankings(k)
    # Few rankings with much weight make majorities with cycles, too.
    laws = rng.dirichlet(np.full(len(rankings), 1.0 if spread else 0.1), size=3)
    P = np.array([statistics.pair_probabilities(law, k) for law in laws])
    predicted = rankings[rng.integers(0, len(rankings), 3)]
    risks = [statistics.expected_distance(law, one) for law, one in zip(laws, predicted, strict=True)]
    best = [min(statistics.expected_distance(law, one) for one in rankings) for law in laws]
    weights = np.array([1.0, 2.0, 0.5])
    np.testing.assert_allclose(conditional_risk(P, predicted, per_row=True), risks)
    np.testing.assert_allclose(bayes_risk(P, per_row=True), best)
    assert conditional_risk(P, Rankings(predicted), weights) == pytest.approx(np.average(risks, weights=weights))
    assert bayes_risk(P) == pytest.approx(np.mean(best))
    assert conditional_excess_risk(P, predicted, weights) == pytest.approx(
        np.average(np.subtract(risks, best), weights=weights), abs=1e-12
    )


def test_the_excess_of_equation_13_where_laws_are_transitive():
    P = pairwise_from_vectors([[0.8, 0.9, 0.7], [0.3, 0.4, 0.6]])
    excess = conditional_excess_risk(P, [[1, 2, 3], [1, 2, 3]], per_row=True)
    np.testing.assert_allclose(excess, [0.0, 0.4 + 0.2])
    np.testing.assert_allclose(excess, [excess_risk(one, [1, 2, 3]) for one in P])
    assert conditional_risk(P, [[1, 1, 1], [1, 1, 1]]) == 1.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: conditional_risk([[0.5]], [[1]]), "a matrix of two items or more for each row"),
        (lambda: bayes_risk([[[0.5, 0.7], [0.7, 0.5]]]), r"P\[0, 0, 1\] is 0.7 and P\[0, 1, 0\] is 0.7"),
        (lambda: bayes_risk([[[0.5, np.nan], [np.nan, 0.5]]]), "add up to 1"),
        (lambda: conditional_risk([[[0.5, 1], [0, 0.5]]], [[1, 2, 3]]), r"y_pred has shape \(1, 3\)"),
        (lambda: conditional_risk([[[0.5, 1], [0, 0.5]]], [[1, np.inf]]), "place every item"),
        (lambda: bayes_risk([[[0.5, 1], [0, 0.5]]], [0]), "all weights are 0"),
    ],
)
def test_bad_laws(call, message):
    with pytest.raises(ValueError, match=message):
        call()
