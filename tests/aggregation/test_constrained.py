"""Kemeny's consensus with weights and constraints, against all rankings."""

from __future__ import annotations

import time
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from rankwise import Rankings
from rankwise.aggregation import constrained_kemeny, kemeny, sample_mallows
from rankwise.distances import kendall_distance
from tests.strategies import KINDS, random_positions


def naive(given: Rankings, u: Any, v: Any, before: Any, at_least: Any) -> tuple[float, int]:
    """Lowest cost among all rankings that meet the constraints, and how many have it; infinite if none does."""
    k = given.n_items
    costs = []
    for order in permutations(range(k)):
        place = {given.items[item]: p for p, item in enumerate(order, start=1)}
        if any(place[a] > place[b] for a, b in before):
            continue
        if any(sum(place[item] <= top for item in group) < m for m, group, top in at_least):
            continue
        cost = 0.0
        for row, weight in zip(given.positions, given.weights, strict=True):
            for p, j in enumerate(order):
                for i in order[p + 1 :]:
                    if row[i] < row[j]:
                        cost += weight * u[i] * u[j] * v[int(np.sum(row < row[i]))]
        costs.append(cost)
    lowest = min(costs, default=np.inf)
    return lowest, int(np.sum(np.isclose(costs, lowest)))


@pytest.mark.parametrize("most_items_dp", [18, 0])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore:no ranking compares")
def test_no_ranking_that_meets_the_constraints_costs_less(
    kind: str, most_items_dp: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankwise.aggregation.constrained._MOST_ITEMS_DP", most_items_dp)
    rng = np.random.default_rng(4)
    infeasible = 0
    for _ in range(60):
        k = int(rng.integers(3, 7 if most_items_dp == 0 else 6))
        items = list("abcdef"[:k])
        given = Rankings(random_positions(rng, 6, k, kind), items, rng.integers(1, 4, 6))
        if not given.compared.all():
            continue
        u, v = rng.integers(1, 4, k).astype(float), np.sort(rng.integers(1, 5, k))[::-1].astype(float)
        before = [tuple(rng.choice(items, 2, replace=False).tolist()) for _ in range(rng.integers(0, 3))]
        top = int(rng.integers(1, k))
        group = rng.choice(items, 2, replace=False).tolist()
        at_least = [(min(top, 1 + int(rng.integers(2))), group, top)][: rng.integers(0, 2)]
        options: Any = {"item_weights": u, "position_weights": v, "before": before, "at_least": at_least}
        lowest, number = naive(given, u, v, before, at_least)
        if np.isinf(lowest):
            infeasible += 1
            with pytest.raises(ValueError, match="no ranking meets"):
                constrained_kemeny(given, **options)
            continue
        found = constrained_kemeny(given, **options)
        place = dict(zip(items, found.positions, strict=True))
        assert found.optimal
        assert found.cost == pytest.approx(lowest)
        assert found.unique is None or found.unique == (number == 1)
        assert all(place[a] < place[b] for a, b in before)
        assert all(sum(place[item] <= k for item in group) >= m for m, group, k in at_least)
    assert infeasible


def test_without_weights_and_constraints_it_is_kemeny() -> None:
    rankings = [[1, 2, 3, 4], [2, 1, 4, 3], [4, 1, 2, 3]]
    assert repr(constrained_kemeny(rankings)) == repr(kemeny(rankings))


def test_mistakes() -> None:
    votes = Rankings([[1, 2, 3]], ["a", "b", "c"])
    with pytest.raises(ValueError, match="'a' before 'b', 'b' before 'a': they run in a circle"):
        constrained_kemeny(votes, before=[("a", "b"), ("b", "a")])
    with pytest.raises(ValueError, match="a constraint names 'x', which is not an item; the items are"):
        constrained_kemeny(votes, before=[("a", "x")])
    with pytest.raises(ValueError, match="no ranking has 2 of b, c among its first 1"):
        constrained_kemeny(votes, at_least=[(2, ["b", "c"], 1)])


def test_many_items() -> None:
    many = np.arange(1, 31)[np.newaxis]
    assert constrained_kemeny(many, at_least=[(1, [0], 1)]).unique is not False
    found = constrained_kemeny(many, at_least=[(2, [25, 27, 29], 3)], before=[(28, 25)])
    # With 25 would come 28: so 27 moves up past 1 to 26, and 29 past these and 28; then 28 moves past 25 and 26.
    assert (found.optimal, found.method, found.cost) == (True, "ilp", 26 + 27 + 2)
    with pytest.raises(ValueError, match="no ranking meets all"):
        constrained_kemeny(many, at_least=[(1, [25], 1)], before=[(28, 25)])
    hurried = constrained_kemeny(many, at_least=[(2, [25, 27, 29], 3)], time_limit=0)
    assert np.sum(hurried.positions[[25, 27, 29]] <= 3) == 2
    assert hurried.lower_bound <= 24 + 25 <= hurried.cost


def test_sets_at_the_top_are_those_of_dynamic_programming(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(8)
    far = 0
    for number in range(12):
        n = int(rng.integers(7, 12))
        votes = sample_mallows(np.arange(1, n + 1), 0.1 * (number % 4), 9, random_state=number)
        k = int(rng.integers(2, n))
        groups = [(min(2, k), rng.choice(n, 4, replace=False).tolist(), k), (1, [n - 1, n - 2], k)][: 1 + number % 2]
        before = [(n - 1, 0)] if number % 3 == 0 else []
        answers = []
        for most in (18, 0):
            monkeypatch.setattr("rankwise.aggregation.constrained._MOST_ITEMS_DP", most)
            answers.append(constrained_kemeny(votes, at_least=groups, before=before, random_state=0))
        exact, found = answers
        assert found.optimal
        assert (found.cost, found.lower_bound) == (exact.cost, exact.cost)
        far += found.cost > kemeny(votes).cost
    assert far > 5  # the constraints matter


@pytest.mark.parametrize(("m", "k"), [(2, 5), (8, 20)])
def test_juries_of_forty_items_are_proven(m: int, k: int) -> None:
    votes = sample_mallows(np.arange(1, 41), 0.3, 20, random_state=40)
    found = constrained_kemeny(votes, at_least=[(m, range(20, 40), k)], random_state=0)
    assert found.optimal
    assert np.sum(found.positions[20:] <= k) == m
    # Any ranking that keeps the constraint is an upper bound: the best m of the group right before the rest.
    order = kemeny(votes, random_state=0).positions
    moved = np.where(np.isin(np.arange(40), [i for i in np.argsort(order) if i >= 20][:m]), order - 100, order)
    assert found.cost <= np.sum(kendall_distance(votes, np.argsort(np.argsort(moved)) + 1.0))


def test_a_time_limit_leaves_an_honest_gap() -> None:
    rng = np.random.default_rng(2)
    votes = np.array([rng.permutation(80) + 1 for _ in range(9)])
    start = time.perf_counter()
    found = constrained_kemeny(votes, at_least=[(9, range(60, 80), 20)], time_limit=2, random_state=0)
    assert time.perf_counter() - start < 10
    assert found.lower_bound <= found.cost
    assert found.gap == pytest.approx((found.cost - found.lower_bound) / found.cost)
    assert np.sum(found.positions[60:] <= 20) >= 9
