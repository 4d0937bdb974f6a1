"""All optimal rankings against all permutations."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

from rankwise import Rankings
from rankwise.aggregation import all_optimal, kemeny, sample_mallows
from tests.naive import kemeny as naive
from tests.strategies import KINDS, random_positions

# The name of the module is also that of its function, which an import would give.
kemeny_module = import_module("rankwise.aggregation.kemeny")
CYCLE = np.array([[0, 2, 1], [1, 0, 2], [2, 1, 0.0]])
NO_LIMIT = 10_000


def listed_orders(found):
    return [tuple(order) for order in found.rankings.orders()]


def random_matrix(rng, k, most):
    matrix = rng.integers(0, most + 1, (k, k)).astype(float)
    np.fill_diagonal(matrix, 0)
    matrix[0, 1:] += 1  # so that every item is compared
    return matrix


@pytest.mark.parametrize("most", [1, 2, 5])
def test_brute_force_agrees_on_random_matrices(most):
    rng = np.random.default_rng(most)
    for k in (2, 3, 4, 5, 5, 6, 6, 7):
        matrix = random_matrix(rng, k, most)
        least, orders = naive.optimal_orders(matrix)
        found = all_optimal(matrix, limit=NO_LIMIT)
        assert found.complete
        assert found.cost == least
        assert sorted(listed_orders(found)) == sorted(orders)
        assert kemeny(matrix).unique == (len(orders) == 1)


@pytest.mark.parametrize("kind", KINDS)
def test_brute_force_agrees_on_weighted_rankings(kind):
    rng = np.random.default_rng(1)
    for _ in range(10):
        positions = np.vstack([random_positions(rng, 4, 5, kind), np.arange(1.0, 6)])
        weights = rng.choice([0.1, 0.2, 0.3, 1 / 3], 5)
        found = all_optimal(Rankings(positions, weights=weights), limit=NO_LIMIT)
        assert sorted(listed_orders(found)) == sorted(naive.optimal_orders(naive.wins(positions, weights))[1])


def test_linear_programs_find_the_same_orders_as_sets(monkeypatch):
    rng = np.random.default_rng(2)
    profiles = [random_positions(rng, n, 9, "full") for n in (4, 5, 6, 7, 8, 9)]
    by_sets = [all_optimal(positions, limit=NO_LIMIT) for positions in profiles]
    monkeypatch.setattr(kemeny_module, "_AUTO_ITEMS_DP", 2)
    for positions, expected in zip(profiles, by_sets, strict=True):
        found = all_optimal(positions, limit=NO_LIMIT, random_state=0)
        assert found.complete
        assert np.array_equal(found.rankings.positions, expected.rankings.positions)
        assert kemeny(positions, random_state=0).unique == (len(expected.rankings) == 1)


def test_the_limit_is_kept_and_told():
    nobody_wins = [[1, 2, 3, 4, 5], [5, 4, 3, 2, 1]]
    found = all_optimal(nobody_wins, limit=50)
    assert len(found.rankings) == 50
    assert not found.complete
    assert "there may be more than 50" in repr(found)
    everything = all_optimal(nobody_wins, limit=120)
    assert everything.complete
    assert len({tuple(row) for row in everything.rankings.positions}) == 120


def test_names_are_kept():
    found = all_optimal(Rankings([[1, 2, 3], [2, 3, 1], [3, 1, 2]], ["tea", "milk", "juice"]))
    assert found.rankings.items == ("tea", "milk", "juice")
    assert repr(found) == "OptimalRankings: all 3 of cost 4"


def test_too_many_possibilities_are_told(monkeypatch):
    monkeypatch.setattr(kemeny_module, "_MOST_LISTED_PREFIXES", 5)
    positions = sample_mallows(np.arange(1, 21), 0.02, 20, random_state=0)
    found = all_optimal(positions, random_state=0)
    assert not found.complete
    assert len(found.rankings) >= 1


def test_many_items_with_a_few_optima_are_listed():
    # A cycle of three before items that all agree on.
    k = 150
    wins = np.triu(np.full((k, k), 2.0), 1)
    wins[:3, :3] = CYCLE
    found = all_optimal(wins)
    assert found.complete
    assert len(found.rankings) == 3


def test_what_is_not_proven_is_not_listed():
    positions = sample_mallows(np.arange(1, 101), 0.0, 10, random_state=0)
    with pytest.raises(ValueError, match="give a longer time_limit"):
        all_optimal(positions, time_limit=0.0, random_state=0)


@pytest.mark.parametrize(("limit", "error"), [(0, ValueError), (2.5, TypeError)])
def test_bad_limits_are_refused(limit, error):
    with pytest.raises(error, match="limit is"):
        all_optimal(CYCLE, limit=limit)
