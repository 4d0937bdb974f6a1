"""The lower bound from cycles of three majorities, against optimal costs and the linear program it approaches."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from rankwise.aggregation import _kemeny_packing, kemeny, preference_matrix, sample_mallows
from rankwise.aggregation._kemeny_packing import raise_by_cycles
from rankwise.aggregation._kemeny_proof import OrderProgram
from rankwise.aggregation._kemeny_search import Bounds, Clock


def tournament(k, seed):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((k, k)) < 0.5, 1)
    return np.where(np.triu(np.ones((k, k)), 1) > 0, upper, ~upper.T) * (1.0 - np.eye(k))


def with_cycles(wins):
    bounds = Bounds(wins)
    pairs = bounds.lower
    heaviest = raise_by_cycles(bounds, Clock(None))
    return bounds, pairs, heaviest


@pytest.mark.parametrize("filled", [False, True])
@pytest.mark.parametrize("weights", ["votes", "fractions"])
def test_no_order_costs_less(weights, filled, monkeypatch):
    if filled:
        monkeypatch.setattr(_kemeny_packing, "_MOST_ITEMS", 0)
    rng = np.random.default_rng(0)
    raised = tight = 0
    for _ in range(60):
        k = int(rng.integers(2, 9))
        wins = rng.integers(0, 5, (k, k)).astype(float) if weights == "votes" else rng.random((k, k))
        np.fill_diagonal(wins, 0)
        wins[0, 1:] += 0.5  # so that every item is compared
        bounds, pairs, _ = with_cycles(wins)
        least = kemeny(wins, method="dp").cost
        assert pairs <= bounds.lower <= least + 1e-9
        raised += bounds.lower > pairs + 1e-9
        tight += bounds.lower > least - 1e-6
    assert raised > 20
    assert tight > 20


def test_one_cycle_pays_its_least_margin():
    wins = np.array([[0, 5, 1], [1, 0, 4], [3, 2, 0.0]])
    bounds, pairs, heaviest = with_cycles(wins)
    assert pairs == 1 + 2 + 1
    assert bounds.lower == pytest.approx(pairs + 2)
    assert bounds.cost == pairs + 2
    assert heaviest.tolist() == [[0, 1, 2]]


def test_weights_come_near_the_linear_program_and_name_triangles_of_it():
    for wins in (tournament(30, 1), preference_matrix(sample_mallows(np.arange(1, 41), 0.0, 25, random_state=0)).wins):
        bounds, pairs, heaviest = with_cycles(wins)
        program = OrderProgram(wins)
        free = Bounds(wins)
        free.step = 0.0
        assert program.relax(free, Clock(None))
        assert pairs + 0.97 * (program.relaxed - pairs) < bounds.lower <= program.relaxed + 1e-6
        assert len(heaviest) == len(set(map(tuple, heaviest.tolist())))
        ahead = wins > wins.T
        for i, j, other in heaviest:
            assert i < j < other
            beaten = [sum(ahead[b, a] for b in (i, j, other)) for a in (i, j, other)]
            assert beaten == [1, 1, 1]


def test_a_subset_of_the_cycles_is_taken_where_there_are_too_many(monkeypatch):
    wins = tournament(30, 2)
    everything = with_cycles(wins)[0].lower
    ahead = wins > 0
    number = sum(len({ahead[i, j], ahead[j, k], ahead[k, i]}) == 1 for i, j, k in combinations(range(30), 3))
    monkeypatch.setattr(_kemeny_packing, "_MOST_CYCLES", number // 2)
    some = with_cycles(wins)[0].lower
    assert 0.8 * everything < some < everything


def test_time_ends_the_work_with_a_valid_bound():
    wins = tournament(30, 3)
    bounds = Bounds(wins)
    raise_by_cycles(bounds, Clock(0.0))
    assert 0 <= bounds.lower <= with_cycles(wins)[0].lower


def test_hard_tournaments_are_bounded_at_once():
    result = kemeny(tournament(100, 0), method="local-search", time_limit=2.0, random_state=0)
    assert not result.optimal
    assert 0 < result.gap < 0.22
