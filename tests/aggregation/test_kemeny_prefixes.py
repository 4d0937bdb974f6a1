"""Dynamic programming over possible beginnings, against dynamic programming over all sets and published optima."""

from __future__ import annotations

import numpy as np
import pytest

from rankwise.aggregation import _kemeny_prefixes, kemeny
from rankwise.aggregation._kemeny_prefixes import prove_by_prefixes
from rankwise.aggregation._kemeny_proof import OrderProgram
from rankwise.aggregation._kemeny_search import Bounds, Clock, perturb


def tournament(k, seed):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((k, k)) < 0.5, 1)
    return np.where(np.triu(np.ones((k, k)), 1) > 0, upper, ~upper.T) * (1.0 - np.eye(k))


def paley(k):
    squares = {x * x % k for x in range(1, k)}
    return np.array([[float((i - j) % k in squares) for j in range(k)] for i in range(k)])


def from_the_worst(wins):
    """Bounds that know nothing but a bad order."""
    bounds = Bounds(wins)
    bounds.order = np.argsort(wins.sum(axis=1))
    bounds.cost = float(np.tril(wins[np.ix_(bounds.order, bounds.order)], -1).sum())
    return bounds


def weights_of(kind, k, rng):
    wins = {
        "votes": rng.integers(0, 5, (k, k)).astype(float),
        "fractions": rng.random((k, k)),
        "tournament": np.triu(rng.random((k, k)) < 0.5, 1).astype(float),
    }[kind]
    if kind == "tournament":
        wins += np.tril(1 - wins.T, -1)
    np.fill_diagonal(wins, 0)
    return wins


@pytest.mark.parametrize("kind", ["votes", "fractions", "tournament"])
def test_the_cheapest_order_is_found_and_proven(kind):
    rng = np.random.default_rng(0)
    for k in (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13):
        wins = weights_of(kind, k, rng)
        bounds = from_the_worst(wins)
        prove_by_prefixes(bounds, Clock(None))
        assert bounds.proven
        assert bounds.cost == pytest.approx(kemeny(wins + 1e-300, method="dp").cost, abs=1e-9)
        assert np.tril(wins[np.ix_(bounds.order, bounds.order)], -1).sum() == pytest.approx(bounds.cost)


def test_a_known_optimum_is_proven_without_reaching_the_end():
    for seed in range(5):
        wins = tournament(16, seed)
        bounds = Bounds(wins)
        bounds.order = np.argsort(kemeny(wins, method="dp").positions)
        bounds.cost = kemeny(wins, method="dp").cost
        order = bounds.order.copy()
        prove_by_prefixes(bounds, Clock(None))
        assert bounds.proven
        assert np.array_equal(bounds.order, order)


def test_settled_pairs_are_kept():
    rng = np.random.default_rng(1)
    used = 0
    for _ in range(10):
        wins = weights_of("votes", 14, rng)
        least = kemeny(wins, method="dp").cost
        bounds = Bounds(wins)
        bounds.cost += 1.0  # so that the cheapest order must be found again
        free = Bounds(wins)
        free.step = 0.0
        program = OrderProgram(wins)
        assert program.relax(free, Clock(None))
        settled = program.settled_pairs(bounds.beaten_by)
        used += settled.sum()
        prove_by_prefixes(bounds, Clock(None), settled)
        assert bounds.proven
        assert bounds.cost == least
    assert used > 0


def test_ends_of_words():
    """All 64 bits are used; more items are left alone."""
    wins = np.triu(np.ones((64, 64)), 1)
    for i in range(0, 63, 3):
        wins[i, i + 2 if i < 62 else i + 1], wins[i + 2 if i < 62 else i + 1, i] = 0.0, 1.0
    wins[0, 63], wins[63, 0] = 0.0, 1.0
    bounds = Bounds(wins)
    bounds.cost += 1.0
    prove_by_prefixes(bounds, Clock(None))
    assert bounds.proven
    assert bounds.cost == kemeny(wins, method="ilp", random_state=0).cost
    many = Bounds(tournament(65, 0))
    before = many.lower
    prove_by_prefixes(many, Clock(None))
    assert many.lower == before
    assert not many.proven


@pytest.mark.parametrize("sets", [1, 50, 1000])
def test_without_room_or_time_the_bound_is_valid(sets, monkeypatch):
    wins = tournament(17, 3)
    least = kemeny(wins, method="dp").cost
    late = Bounds(wins)
    prove_by_prefixes(late, Clock(0.0))
    assert late.lower <= least
    monkeypatch.setattr(_kemeny_prefixes, "_MOST_SETS", sets)
    bounds = from_the_worst(wins)
    prove_by_prefixes(bounds, Clock(None))
    assert 0 < bounds.lower <= least
    assert not bounds.proven


@pytest.mark.parametrize(("k", "kept"), [(11, 35), (19, 107), pytest.param(23, 161, marks=pytest.mark.slow)])
def test_paley_tournaments_of_the_linear_ordering_library(k, kept):
    """LOLIB's pal11, pal19 and pal23: so many majorities an order keeps at most."""
    bounds = Bounds(paley(k))
    perturb(bounds, Clock(None), np.random.default_rng(0), 2000)
    prove_by_prefixes(bounds, Clock(None))
    assert bounds.proven
    assert bounds.cost == k * (k - 1) / 2 - kept


def test_kemeny_proves_tournaments_of_28_items():
    result = kemeny(tournament(28, 1), random_state=0)
    assert result.optimal
    assert result.gap == 0


@pytest.mark.parametrize("method", ["auto", "exact"])
def test_what_takes_long_is_proven_over_all_sets(method, monkeypatch):
    """To 20 items, dynamic programming over all sets takes what nothing else has proven in half a second."""
    monkeypatch.setattr(_kemeny_prefixes, "_MOST_SETS", 100)
    result = kemeny(paley(19), method=method, random_state=0)
    assert result.optimal
    assert result.cost == 171 - 107
    assert result.method == "dp"
