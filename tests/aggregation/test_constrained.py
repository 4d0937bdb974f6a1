"""Kemeny's consensus with weights and constraints, against all rankings."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest

from rankwise import Rankings
from rankwise.aggregation import constrained_kemeny, kemeny
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


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore:no ranking compares")
def test_no_ranking_that_meets_the_constraints_costs_less(kind: str) -> None:
    rng = np.random.default_rng(4)
    infeasible = 0
    for _ in range(60):
        k = int(rng.integers(3, 6))
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
    with pytest.raises(ValueError, match="a constraint names 'x'"):
        constrained_kemeny(votes, before=[("a", "x")])
    with pytest.raises(ValueError, match="no ranking has 2 of b, c among its first 1"):
        constrained_kemeny(votes, at_least=[(2, ["b", "c"], 1)])
    many = np.arange(1, 21)[np.newaxis]
    with pytest.raises(ValueError, match="at most 18 items"):
        constrained_kemeny(many, at_least=[(1, [19], 1)])
    assert constrained_kemeny(many, at_least=[(1, [0], 1)]).optimal
