"""Kemeny's consensus with ties against all bucket orders."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwise import Rankings
from rankwise.aggregation import _kemeny_ties as ties_module
from rankwise.aggregation import _kemeny_ties_proof_jit, kemeny, preference_matrix, sample_mallows
from rankwise.aggregation._kemeny_search import Clock
from rankwise.aggregation._kemeny_ties_proof import BucketBounds, BucketProgram
from tests.naive import kemeny as naive
from tests.strategies import KINDS, position_matrices, random_positions

TIE_COSTS = (0.5, 0.75, 1.0)


def profile(rng, kind, k, n=7):
    """Rankings of one kind that compare every item with some other."""
    return np.vstack([random_positions(rng, n, k, kind), np.arange(1.0, k + 1)])


def coarse_positions(rng, n, k, n_places):
    """Rankings with few places, so that most pairs tie."""
    return Rankings(rng.integers(1, n_places + 1, (n, k)).astype(float))


@pytest.mark.parametrize("method", ["auto", "ilp"])
@pytest.mark.parametrize("tie_cost", TIE_COSTS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_brute_force_agrees_on_rankings_of_every_kind(kind, weighted, tie_cost, method):
    rng = np.random.default_rng(0)
    for k in (2, 3, 4, 4, 5):
        positions = profile(rng, kind, k)
        weights = rng.random(len(positions)) if weighted else np.ones(len(positions))
        result = kemeny(Rankings(positions, weights=weights), ties="allow", tie_cost=tie_cost, method=method)
        least, optimal = naive.optimal_bucket_orders(positions, weights, tie_cost)
        assert result.cost == pytest.approx(least, abs=1e-9)
        assert result.cost == pytest.approx(naive.cost_with_ties(positions, weights, result.positions, tie_cost))
        assert result.optimal
        assert result.gap == 0
        assert tuple(result.positions - 1) in optimal
        assert result.unique == (len(optimal) == 1) or (result.unique is None and "ilp" in result.method)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["auto", "ilp"])
@pytest.mark.parametrize("tie_cost", TIE_COSTS)
@pytest.mark.parametrize("kind", KINDS)
def test_brute_force_agrees_on_six_items(kind, tie_cost, method):
    positions = profile(np.random.default_rng(1), kind, 6, n=4)
    weights = np.linspace(0.5, 2, len(positions))
    result = kemeny(Rankings(positions, weights=weights), ties="allow", tie_cost=tie_cost, method=method)
    assert result.optimal
    assert result.cost == pytest.approx(naive.optimal_bucket_orders(positions, weights, tie_cost)[0])


@pytest.mark.parametrize("tie_cost", [0.1, 0.3, *TIE_COSTS])
def test_uniqueness_is_right_where_much_ties(tie_cost):
    rng = np.random.default_rng(2)
    seen = set()
    for _ in range(30):
        positions = coarse_positions(rng, int(rng.integers(1, 5)), 4, 2).positions
        result = kemeny(Rankings(positions), ties="allow", tie_cost=tie_cost)
        least, optimal = naive.optimal_bucket_orders(positions, np.ones(len(positions)), tie_cost)
        assert result.cost == pytest.approx(least)
        assert result.unique == (len(optimal) == 1)
        seen.add(result.unique)
    assert seen == {True, False}


@pytest.mark.parametrize("tie_cost", [0.3, *TIE_COSTS])
def test_integer_and_dynamic_programming_agree(tie_cost):
    rng = np.random.default_rng(8)
    for places in (3, 6, 12):
        rankings = coarse_positions(rng, 6, 13, places)
        found, known = (kemeny(rankings, ties="allow", tie_cost=tie_cost, method=how) for how in ("ilp", "dp"))
        assert found.optimal
        assert known.optimal
        assert found.cost == pytest.approx(known.cost)
        assert found.lower_bound == found.cost


def test_what_no_dynamic_program_takes_is_proven():
    rng = np.random.default_rng(9)
    for rankings in (coarse_positions(rng, 7, 25, 12), coarse_positions(rng, 20, 40, 15)):
        result = kemeny(rankings, ties="allow", random_state=0)
        assert max(map(len, result.components)) > 18
        assert result.optimal
        assert result.method == "ilp"
        searched = kemeny(rankings, ties="allow", method="local-search", random_state=0)
        assert searched.lower_bound < result.cost <= searched.cost


def test_all_bucket_orders_satisfy_what_a_solution_violates():
    k, broken, kinds = 5, 0, set()
    orders = np.array(sorted({tuple(np.unique(levels, return_inverse=True)[1]) for levels in np.ndindex(*[k] * k)}))
    assert len(orders) == 541
    strict = (orders[:, :, None] < orders[:, None, :]).astype(float)
    rng = np.random.default_rng(10)
    bounds = BucketBounds(*(2.0 - np.eye(k) * 2,) * 2)
    program = BucketProgram(bounds)
    points = strict[:, program.first, program.second]
    for _ in range(60):
        mixed = np.tensordot(rng.dirichlet(np.full(4, 0.5)), strict[rng.integers(0, len(strict), 4)], axes=1)
        for x in (mixed, np.clip(np.round(2 * mixed + rng.normal(0, 0.3, (k, k))) / 2, 0, 1)):
            program.shares = lambda x=x: x
            found = _kemeny_ties_proof_jit.violated_quadruples(x, 1e-6, 100)
            kinds |= set(found[:, 4])
            for rows in (program.violated(), program.violated_more_deeply(Clock(None))):
                matrix = np.zeros((len(rows), len(program.first)))
                row_of = np.repeat(np.arange(len(rows)), np.diff([*rows.starts, len(rows.values)]))
                np.add.at(matrix, (row_of, rows.columns), rows.values)
                assert np.all(points @ matrix.T <= rows.upper + 1e-9)
                assert np.all(matrix @ x[program.first, program.second] > rows.upper)
                assert len(rows) == 0 or x is not mixed
                broken += len(rows)
    assert broken > 100
    assert kinds == set(range(6))


def test_components_and_one_program_agree(monkeypatch):
    rng = np.random.default_rng(3)
    profiles = [coarse_positions(rng, 3, 9, 5) for _ in range(15)]
    split = [kemeny(rankings, ties="allow", tie_cost=0.6) for rankings in profiles]
    assert any(1 < len(result.components) < 9 for result in split)
    monkeypatch.setattr(
        ties_module._PairCosts, "components", lambda costs: [np.arange(len(costs.before), dtype=np.intp)]
    )
    for rankings, result in zip(profiles, split, strict=True):
        whole = kemeny(rankings, ties="allow", tie_cost=0.6)
        assert whole.cost == pytest.approx(result.cost)
        assert whole.unique == result.unique


def test_local_search_lies_between_its_bound_and_a_little_above_the_optimum():
    rng = np.random.default_rng(4)
    hits = 0
    for _ in range(20):
        rankings = coarse_positions(rng, 4, 9, 6)
        exact = kemeny(rankings, ties="allow", tie_cost=0.5)
        searched = kemeny(rankings, ties="allow", tie_cost=0.5, method="local-search", random_state=0)
        assert searched.lower_bound <= exact.cost + 1e-9
        assert exact.cost <= searched.cost + 1e-9
        assert searched.optimal <= (searched.cost <= exact.cost + 1e-9)
        hits += searched.cost <= exact.cost + 1e-9
    assert hits >= 18


def test_many_items_are_searched_within_the_time_limit_and_bounded():
    rankings = coarse_positions(np.random.default_rng(5), 5, 260, 60)
    result = kemeny(rankings, ties="allow", time_limit=0.5, random_state=0)
    assert result.method == "local-search"
    assert not result.optimal
    assert 0 < result.gap < 0.5
    matrix = preference_matrix(rankings)
    assert result.cost < kemeny(matrix, random_state=0, time_limit=0.5).cost + 0.5 * np.triu(matrix.ties).sum()
    assert np.array_equal(np.unique(result.positions), np.arange(1, result.positions.max() + 1))


def test_rankings_without_ties_need_none_in_their_consensus():
    rng = np.random.default_rng(6)
    for tie_cost in TIE_COSTS:
        rankings = random_positions(rng, 9, 8, "full")
        result = kemeny(rankings, ties="allow", tie_cost=tie_cost)
        assert result.cost == kemeny(rankings).cost
        if tie_cost > 0.5:
            assert len(set(result.positions)) == 8


def test_a_cheap_tie_is_taken():
    result = kemeny([[1, 2], [2, 1]], ties="allow", tie_cost=0.2)
    assert result.positions.tolist() == [1, 1]
    assert result.cost == pytest.approx(0.4)
    assert "0 ~ 1" in repr(result)


@given(positions=position_matrices(min_items=2, max_items=5), data=st.data())
def test_laws(positions, data):
    k = positions.shape[1]
    positions = np.vstack([positions, np.arange(1.0, k + 1)])
    result = kemeny(positions, ties="allow")
    relabeled = np.array(data.draw(st.permutations(range(k))))
    other = kemeny(positions[:, relabeled], ties="allow")
    assert other.cost == result.cost
    assert other.unique == result.unique
    if result.unique:
        assert np.array_equal(other.positions, result.positions[relabeled])
    twice = kemeny(Rankings(positions, weights=np.full(len(positions), 2.0)), ties="allow")
    assert twice.cost == kemeny(np.vstack([positions, positions]), ties="allow").cost == 2 * result.cost
    assert kemeny(preference_matrix(positions), ties="allow").cost == result.cost


def test_an_interrupt_returns_the_best_found(monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(Clock, "_interrupted", -math.inf)
    monkeypatch.setattr(ties_module._kemeny_ties_jit, "iterated_bucket_search", interrupted)
    result = kemeny(coarse_positions(np.random.default_rng(7), 5, 30, 15), ties="allow", random_state=0)
    assert not result.optimal
    assert 0 < result.gap < 1


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        ({"ties": "some"}, "choose 'none' or 'allow'"),
        ({"ties": "allow", "tie_cost": 0}, "above 0 and at most 1"),
        ({"ties": "allow", "tie_cost": 1.5}, "above 0 and at most 1"),
        ({"ties": "allow", "tie_cost": float("nan")}, "tie_cost is nan"),
        ({"ties": "allow", "method": "dp"}, r"3\^24 steps"),
    ],
)
def test_bad_arguments_are_refused_with_a_cure(arguments, fragment):
    rankings = sample_mallows(np.arange(1, 26), 0.0, 5, random_state=0)
    with pytest.raises(ValueError, match=fragment):
        kemeny(rankings, **arguments)


@pytest.mark.parametrize("method", ["exact", "ilp"])
def test_programs_of_too_many_items_are_refused_before_the_work_begins(method):
    k = 1001
    wins = np.triu(np.ones((k, k)), 1)
    wins[0, -1], wins[-1, 0] = 0, 1
    with pytest.raises(ValueError, match="use method='auto', which searches"):
        kemeny(wins, ties="allow", method=method)
