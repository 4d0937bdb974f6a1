"""Elections, ranked pairs and medians: by hand, by naive twins, and whatever the order of columns and rows."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from rankwise import Rankings
from rankwise.aggregation import (
    bucklin,
    instant_runoff,
    median_ranking,
    plurality,
    preference_matrix,
    range_voting,
    ranked_pairs,
    stv,
)
from rankwise.aggregation.shared_order import places, shared_by
from rankwise.distances import footrule_distance, hamming_distance, spearman_distance

INF, NAN = float("inf"), float("nan")


def profile(rng: np.random.Generator, kind: str, n_items: int | None = None) -> Rankings:
    k = n_items or int(rng.integers(2, 6))
    n = int(rng.integers(1, 9))
    positions = np.argsort(rng.random((n, k)), axis=1) + 1.0
    if kind == "tied":
        positions = rng.integers(1, k + 1, (n, k)).astype(float)
    if kind == "top-k":
        positions[positions > rng.integers(1, k + 1, (n, 1))] = INF
    return Rankings(positions, [f"i{i}" for i in range(k)], rng.integers(1, 4, n).astype(float))


RULES: dict[str, Callable[[Rankings], Any]] = {
    "plurality": lambda y: plurality(y)[0],
    "bucklin": lambda y: bucklin(y)[0],
    "instant runoff": lambda y: instant_runoff(y).positions,
    "instant runoff, looking back": lambda y: instant_runoff(y, look_back=True).positions,
    "stv": lambda y: stv(y, 1).positions,
    "ranked pairs": lambda y: ranked_pairs(y).positions,
    "footrule": lambda y: median_ranking(y, "footrule").positions,
    "hamming": lambda y: median_ranking(y, "hamming").positions,
    "spearman": lambda y: median_ranking(y, "spearman").positions,
}


@pytest.mark.parametrize("kind", ["full", "tied", "top-k"])
@pytest.mark.parametrize("rule", RULES)
def test_no_order_of_columns_or_rows_matters(rule: str, kind: str) -> None:
    rng = np.random.default_rng(7)
    for _ in range(25):
        given = profile(rng, kind)
        columns, rows = rng.permutation(given.n_items), rng.permutation(len(given))
        other = Rankings(given.positions[np.ix_(rows, columns)], [given.items[i] for i in columns], given.weights[rows])
        np.testing.assert_array_equal(RULES[rule](other), RULES[rule](given)[columns])


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule != "ranked pairs"])
def test_weights_count_and_missing_items_are_refused(rule: str) -> None:
    rng = np.random.default_rng(8)
    given = profile(rng, "top-k", 4)
    repeated = Rankings(np.repeat(given.positions, given.weights.astype(int), axis=0), given.items)
    np.testing.assert_array_equal(RULES[rule](repeated), RULES[rule](given))
    weightless = Rankings(np.vstack([given.positions, [4, 3, 2, 1]]), given.items, [*given.weights, 0])
    np.testing.assert_array_equal(RULES[rule](weightless), RULES[rule](given))
    with pytest.raises(ValueError, match=r"ranking 1 (says nothing of|misses) item 'b'"):
        RULES[rule](Rankings([[1, 2, 3], [1, NAN, 2]], ["a", "b", "c"]))
    with pytest.raises(ValueError, match="no ranking of positive weight lists an item"):
        RULES[rule](Rankings([[INF, INF]]))


def naive_first_choices(given: Rankings, racing: list[int]) -> dict[int, float]:
    votes = dict.fromkeys(racing, 0.0)
    for row, weight in zip(given.positions, given.weights, strict=True):
        best = min(row[i] for i in racing)
        if np.isfinite(best):
            first = [i for i in racing if row[i] == best]
            for i in first:
                votes[i] += weight / len(first)
    return votes


def naive_runoffs(given: Rankings, racing: list[int]) -> list[list[int]]:
    """All orders of dropping out, the last first."""
    if len(racing) == 1:
        return [racing]
    votes = naive_first_choices(given, racing)
    last = [i for i in racing if votes[i] < min(votes.values()) + 1e-9]
    return [[*order, i] for i in last for order in naive_runoffs(given, [j for j in racing if j != i])]


@pytest.mark.parametrize("kind", ["full", "tied", "top-k"])
def test_instant_runoff_is_its_naive_twin(kind: str) -> None:
    rng = np.random.default_rng(9)
    for _ in range(40):
        given = profile(rng, kind)
        orders = naive_runoffs(given, list(range(given.n_items)))
        found = instant_runoff(given)
        assert found.complete
        assert sorted(found.winners) == sorted({given.items[order[0]] for order in orders})
        np.testing.assert_array_equal(found.positions, shared_by(np.argsort(orders, axis=1) + 1.0))
        votes = naive_first_choices(given, list(range(given.n_items)))
        np.testing.assert_allclose(found.rounds[0].votes, list(votes.values()))
        assert plurality(given)[1].tolist() == pytest.approx(list(votes.values()))


def naive_ranked_pairs(given: Rankings) -> list[tuple[int, ...]]:
    """All stacks: orders in which every majority against the order is answered by a chain at least as strong."""
    wins = preference_matrix(given).wins
    margin = wins - wins.T
    stacks = []
    for order in permutations(range(len(wins))):
        strongest = np.full(margin.shape, -np.inf)
        for a in range(len(order)):  # chains that go down the order
            for b in range(a + 1, len(order)):
                through = [min(strongest[order[a], order[c]], margin[order[c], order[b]]) for c in range(a + 1, b)]
                strongest[order[a], order[b]] = max([margin[order[a], order[b]], *through])
        upper = [(order[a], order[b]) for a in range(len(order)) for b in range(a + 1, len(order))]
        if all(strongest[i, j] >= margin[j, i] for i, j in upper):
            stacks.append(order)
    return stacks


@pytest.mark.parametrize("kind", ["full", "tied", "top-k"])
def test_ranked_pairs_are_the_stacks(kind: str) -> None:
    rng = np.random.default_rng(10)
    for _ in range(40):
        given = profile(rng, kind)
        if (preference_matrix(given).counts.sum(axis=1) == 0).any():
            continue
        stacks = naive_ranked_pairs(given)
        found = ranked_pairs(given)
        assert found.complete
        assert set(found.winners) == {given.items[order[0]] for order in stacks}
        np.testing.assert_array_equal(found.positions, shared_by(np.argsort(stacks, axis=1) + 1.0))
        sure = ranked_pairs(given, limit=1)
        assert (sure.locked <= found.locked).all()
        assert set(sure.winners) >= set(found.winners)


def test_ranked_pairs_weighs_majorities_by_margin_or_by_wins() -> None:
    # A beats B 5 to 4, B beats C 3 to 0, C beats A 4 to 2 (the others tie the pair).
    wins = np.array([[0, 5, 2], [4, 0, 3], [4, 0, 0]])
    assert ranked_pairs(wins).winners == (1,)
    assert ranked_pairs(wins, strength="wins").winners == (2,)


@pytest.mark.parametrize("distance", ["footrule", "spearman", "hamming", "cayley"])
@pytest.mark.parametrize("kind", ["full", "tied", "top-k"])
def test_medians_are_the_nearest_of_all_rankings(distance: Any, kind: str) -> None:
    rng = np.random.default_rng(11)
    measures = {"footrule": footrule_distance, "spearman": spearman_distance, "hamming": hamming_distance}
    for _ in range(15):
        given = profile(rng, kind)
        if distance == "cayley" and given.kind != "full":
            with pytest.raises(ValueError, match="Cayley's distance counts exchanges in full rankings"):
                median_ranking(given, distance)
            continue
        measure: Any = measures.get(distance, naive_cayley)
        every = np.array(list(permutations(range(1, given.n_items + 1))), dtype=float)
        costs = np.array([given.weights @ measure(row, given.positions) for row in every])
        nearest = every[np.isclose(costs, costs.min())]
        found = median_ranking(given, distance)
        assert (found.cost, found.lower_bound) == pytest.approx((costs.min(), costs.min()))
        assert (found.optimal, found.unique) == (True, len(nearest) == 1)
        np.testing.assert_array_equal(found.positions, shared_by(nearest))
        assert any((found.ranking == row).all() for row in nearest)


def naive_cayley(center: np.ndarray[Any, Any], rankings: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    distances = []
    for row in rankings:
        moves = dict(zip(center.tolist(), row.tolist(), strict=True))
        cycles, seen = 0, set()
        for place in moves:
            cycles += place not in seen
            while place not in seen:
                seen.add(place)
                place = moves[place]
        distances.append(len(moves) - cycles)
    return np.array(distances)


def test_a_long_cayley_median_has_an_honest_gap() -> None:
    rng = np.random.default_rng(12)
    center = rng.permutation(12) + 1
    near = np.tile(center, (9, 1))
    for row in near:
        a, b = rng.choice(12, 2, replace=False)
        row[[a, b]] = row[[b, a]]
    found = median_ranking(near, "cayley")
    assert found.cost <= 9
    assert found.cost == naive_cayley(found.ranking, near).sum()
    assert 0 < found.lower_bound <= found.cost
    assert found.gap == pytest.approx(1 - found.lower_bound / found.cost) or found.optimal
    assert found.unique is None


def test_elections_by_hand() -> None:
    votes = Rankings.from_orders([["tea", "milk"], ["milk", "tea"], ["cola", "milk"]], weights=[4, 3, 2])
    assert plurality(votes)[1].tolist() == [4, 3, 2]
    found = instant_runoff(votes)
    assert (found.winners, found.certain, found.tied) == (("milk",), ("milk",), False)
    assert [step.votes.tolist() for step in found.rounds] == [[4, 3, 2], [4, 5, 0]]
    assert [step.dropped for step in found.rounds] == [(2,), (0,)]
    assert "milk        3        5  wins" in repr(found)
    np.testing.assert_array_equal(bucklin(votes)[1], [2, 2, INF])
    assert bucklin(votes)[0].tolist() == [2, 1, 3]  # in round 2 tea has 7 of 9, milk all


def test_the_single_transferable_vote_by_hand() -> None:
    orders = [["tea", "milk"], ["tea", "cola"], ["cola", "tea"], ["water"]]
    found = stv(Rankings.from_orders(orders, weights=[5, 7, 3, 4]), 2)
    assert found.quota == 7  # 19 // 3 + 1
    assert found.winners == ("tea", "cola")
    # The surplus of 5 among 12 papers: each goes on with 5 / 12, cut off after five decimals.
    milk, cola = found.rounds[1].votes[1], found.rounds[1].votes[2]
    assert (milk, cola) == pytest.approx((5 * 0.41666, 3 + 7 * 0.41666))
    assert [step.surplus_of for step in found.rounds] == [0, None, None, None]
    assert found.positions.tolist() == [1, 4, 2, 3]
    frame = found.to_frame()
    assert list(frame.columns) == ["round", "item", "votes", "status"]
    assert frame[frame["item"] == "milk"]["status"].tolist() == ["racing", "racing", "out", "out"]
    assert found.as_dict()["rounds"][0]["surplus_of"] == "tea"


def test_ties_that_decide_are_declared() -> None:
    for found in (instant_runoff([[1, 2, 3], [2, 1, 3]]), stv([[1, 2, 3], [2, 1, 3]], 1)):
        assert (found.winners, found.certain, found.tied) == ((0, 1), (), True)
        assert found.positions.tolist() == [1, 1, 2]
        assert "tie between 0 and 1 for the first place" in repr(found)


def test_a_look_back_settles_ties() -> None:
    # Round 2 is a draw of a and b after d's votes went to b; in round 1 a was ahead.
    votes = Rankings.from_orders([["a"], ["b"], ["c"], ["d", "b"]], weights=[3, 2, 4, 1], items=["a", "b", "c", "d"])
    assert len(instant_runoff(votes).rounds[1].tied) == 2
    looked = instant_runoff(votes, look_back=True)
    assert looked.rounds[1].tied == ()
    assert looked.rounds[1].dropped == (1,)


def test_too_many_ties_are_said() -> None:
    rankings = Rankings(np.array([np.roll(np.arange(1, 13), i) for i in range(12)]))
    found = stv(rankings, 2)
    assert not found.complete
    assert "more ways to settle the ties than were followed" in repr(found)
    assert instant_runoff(rankings[:10]).complete


def test_range_voting() -> None:
    scores = [[9, 7, 4], [8, 8, 3], [10, 6, NAN]]
    positions, means = range_voting(scores)
    assert positions.tolist() == [1, 2, 3]
    np.testing.assert_allclose(means, [9, 7, 3.5])
    np.testing.assert_allclose(range_voting(scores, blank="lowest")[1], [9, 7, 10 / 3])
    np.testing.assert_allclose(range_voting(scores, sample_weight=[0, 1, 1])[1], [9, 7, 3])
    assert range_voting([[1, 1, 0], [1, 1, 0]])[0].tolist() == [1, 1, 2]
    with pytest.raises(ValueError, match="item 2 has 2 score"):
        range_voting(scores, fewest=3)
    with pytest.raises(TypeError, match="rankings hold places"):
        range_voting(Rankings([[1, 2]]))
    with pytest.raises(ValueError, match="infinite"):
        range_voting([[1, INF]])


def test_mistakes() -> None:
    with pytest.raises(ValueError, match="3 seats for 3 items"):
        stv([[1, 2, 3]], 3)
    with pytest.raises(ValueError, match="seats"):
        stv([[1, 2, 3]], 0)
    with pytest.raises(ValueError, match="at most 3,000 items"):
        median_ranking(np.arange(1, 3002)[np.newaxis])


def test_places_as_people_write_them() -> None:
    assert places(np.array([2.0, 1.0, 1.0, 3.0])).tolist() == [3, 1, 1, 4]


def test_only_winners_share_the_first_place():
    orders = np.array([[2.0, 1.0, 3.0], [2.0, 3.0, 1.0], [3.0, 1.0, 2.0]])  # the first item never leads
    np.testing.assert_array_equal(shared_by(orders), [2, 1, 1])
    np.testing.assert_array_equal(places(shared_by(orders)), [3, 1, 1])
    np.testing.assert_array_equal(shared_by(orders[:1]), orders[0])
