"""How many votes decide, against all subsets and all changes of small elections."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from time import monotonic

import numpy as np
import pytest

from rankwise import Rankings
from rankwise.aggregation import bucklin, instant_runoff, margin_of_victory, ranked_pairs, schulze
from rankwise.aggregation._margin_search import _proven_first, winners_of
from tests.naive import tournaments

NAN, INF = np.nan, np.inf


def wins_of(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return tournaments.pair_wins(rows, weights)


def kemeny_winners(rows: np.ndarray, weights: np.ndarray) -> set[int]:
    wins = wins_of(rows, weights)
    k = len(wins)
    cost = {
        order: sum(wins[b, a] for i, a in enumerate(order) for b in order[i + 1 :])
        for order in itertools.permutations(range(k))
    }
    return {order[0] for order in cost if cost[order] <= min(cost.values()) + 1e-9}


def best(scores: np.ndarray) -> set[int]:
    return set(np.flatnonzero(scores >= np.max(scores) - 1e-9).tolist())


def winners(rule: str, rows: np.ndarray, weights: np.ndarray) -> set[int]:
    """From the definitions, but for rules that have their own tests."""
    if len(rows) == 0:
        return set()
    if rule == "kemeny":
        return kemeny_winners(rows, weights)
    k = rows.shape[1]
    if rule == "borda":
        beaten = [[np.sum(row[i] < row) + (np.sum(row[i] == row) - 1) / 2 for i in range(k)] for row in rows]
        return best(weights @ np.array(beaten))
    if rule == "plurality":
        return best(weights @ np.array([(row == 1) / max(1, np.sum(row == 1)) for row in rows]))
    if rule == "copeland":
        wins = wins_of(rows, weights)
        return best(-np.sum(wins > wins.T + 1e-9, axis=0).astype(float))
    data = Rankings(rows, weights=weights)
    if rule == "schulze":
        return set(np.flatnonzero(schulze(data) == 1).tolist())
    if rule == "bucklin":
        return set(np.flatnonzero(bucklin(data)[0] == 1).tolist())
    return set({"ranked-pairs": ranked_pairs, "instant-runoff": instant_runoff}[rule](data).winners)


def outcomes(rule: str, how: str, rows: np.ndarray, weights: np.ndarray, count: int) -> Iterator[set[int]]:
    """Who wins for every set of so many people, and everything that they may vote instead."""
    k = rows.shape[1]
    for people in itertools.combinations(range(len(rows)), count):
        if how == "removal":
            yield winners(rule, np.delete(rows, people, axis=0), np.delete(weights, people))
            continue
        for new in itertools.product(itertools.permutations(np.arange(1.0, k + 1)), repeat=count):
            changed = rows.copy()
            changed[list(people)] = new
            yield winners(rule, changed, weights)


def margin_by_trial(rule: str, how: str, rows: np.ndarray, weights: np.ndarray) -> int:
    before = winners(rule, rows, weights)
    for count in range(1, len(rows) + 1):
        if any(now != before for now in outcomes(rule, how, rows, weights, count)):
            return count
    raise AssertionError("the winner never changes")


def votes(rng: np.random.Generator, n: int, k: int, kind: str) -> np.ndarray:
    # Many alike, so that margins are larger than one.
    center = rng.permutation(k)
    rows = np.array([center + 1.0 if rng.random() < 0.5 else rng.permutation(k) + 1.0 for _ in range(n)])
    if kind == "tied":
        rows[rng.random(rows.shape) < 0.3] = 1.0
        rows = np.array([tournaments.dense(row.tolist()) for row in rows])
    if kind == "top":
        rows[rows > max(1, k - 2)] = INF
    return rows


@pytest.mark.parametrize("how", ["removal", "change"])
@pytest.mark.parametrize("rule", ["plurality", "borda", "copeland", "kemeny"])
def test_exact_margins_are_those_of_all_subsets_and_changes(rule: str, how: str) -> None:
    rng = np.random.default_rng(0)
    seen = set()
    for kind, k in itertools.product(("full", "tied", "top"), (3, 4) if how == "removal" else (3,)):
        for n in (4, 5, 6) if how == "removal" else (4, 5):
            rows = votes(rng, n, k, kind)
            found = margin_of_victory(rows, rule, how)
            expected = margin_by_trial(rule, how, rows, np.ones(n))
            assert found.exact, (rows, found)
            assert found.upper == expected, (rows, found)
            assert found.people.sum() == expected == found.weight
            seen.add(expected)
    assert len(seen) > 1


@pytest.mark.parametrize("how", ["removal", "change"])
@pytest.mark.parametrize("rule", ["schulze", "ranked-pairs", "bucklin", "instant-runoff"])
def test_bounds_of_other_rules_hold_the_margin_and_small_ones_meet(rule: str, how: str) -> None:
    rng = np.random.default_rng(1)
    for kind in ("full", "top"):
        rows = votes(rng, 5, 3, kind)
        expected = margin_by_trial(rule, how, rows, np.ones(5))
        found = margin_of_victory(rows, rule, how)
        assert found.lower == found.upper == expected
        early = margin_of_victory(rows, rule, how, time_limit=0)
        assert early.lower <= expected <= early.upper


@pytest.mark.parametrize("rule", ["plurality", "borda", "copeland", "kemeny"])
def test_survey_weights_count_people_and_weight(rule: str) -> None:
    rng = np.random.default_rng(2)
    for how, n in (("removal", 6), ("change", 4)):
        for _ in range(4):
            rows, weights = votes(rng, n, 3, "full"), rng.uniform(0.5, 2.5, n)
            found = margin_of_victory(rows, rule, how, sample_weight=weights)
            assert found.exact
            assert found.upper == margin_by_trial(rule, how, rows, weights)
            assert found.weight == pytest.approx(weights @ found.people)
            assert found.n_people == n
            assert found.total_weight == pytest.approx(weights.sum())


@pytest.mark.parametrize("how", ["removal", "change"])
def test_whole_weights_are_people_of_their_own(how: str) -> None:
    rows, weights = np.array([[1.0, 2, 3], [2, 1, 3], [3, 2, 1]]), np.array([4, 3, 1])
    for rule in ("plurality", "borda", "copeland", "kemeny", "schulze"):
        once = margin_of_victory(Rankings(rows, weights=weights), rule, how)  # type: ignore[arg-type]
        each = margin_of_victory(np.repeat(rows, weights, axis=0), rule, how)  # type: ignore[arg-type]
        assert (once.lower, once.upper, once.n_people) == (each.lower, each.upper, 8)
        assert np.all(once.people <= weights)


def test_the_people_named_alter_the_winner() -> None:
    rng = np.random.default_rng(3)
    for rule in ("plurality", "borda", "copeland", "kemeny", "schulze", "instant-runoff"):
        rows = votes(rng, 15, 4, "full")
        found = margin_of_victory(rows, rule)  # type: ignore[arg-type]
        left = np.repeat(np.arange(15), 1 - found.people)
        assert winners(rule, rows[left], np.ones(len(left))) == set(found.new_winners) != set(found.winners)


def test_a_tie_is_altered_when_one_falls_behind() -> None:
    even = [[1, 2, 3], [2, 1, 3]]
    for rule in ("plurality", "borda", "copeland", "kemeny"):
        for how in ("removal", "change"):
            found = margin_of_victory(even, rule, how)  # type: ignore[arg-type]
            assert found.winners == (0, 1)
            assert found.lower == found.upper == 1
            assert len(found.new_winners) == 1


def test_margins_of_a_published_election() -> None:
    """The capital of Tennessee, the example of many texts on elections: 42, 26, 15 and 17 percent."""
    cities = ["Memphis", "Nashville", "Chattanooga", "Knoxville"]
    rows = [[1, 2, 3, 4], [4, 1, 2, 3], [4, 3, 1, 2], [4, 3, 2, 1]]
    data = Rankings(rows, cities, [42, 26, 15, 17])
    first = margin_of_victory(data, "plurality")
    assert (first.winners, first.upper, first.new_winners) == (("Memphis",), 42 - 26, ("Memphis", "Nashville"))
    assert margin_of_victory(data, "plurality", "change").upper == (42 - 26) // 2
    # Nashville beats Memphis by 58 to 42, and Chattanooga and Knoxville by 68 to 32.
    for rule in ("copeland", "kemeny"):
        found = margin_of_victory(data, rule)  # type: ignore[arg-type]
        assert (found.winners, found.lower, found.upper) == (("Nashville",), 16, 16)
        assert margin_of_victory(data, rule, "change").upper == 8  # type: ignore[arg-type]
    # Borda's points: 194 to 173, and each of the 26 gives Nashville 2 more than Knoxville (107) or 1 more than
    # Chattanooga; the 42 give it 1 more than Chattanooga (173).
    points = margin_of_victory(data, "borda")
    assert (points.winners, points.upper) == (("Nashville",), 21)


def test_people_who_say_nothing_have_no_part() -> None:
    found = margin_of_victory([[1, 2, 3], [1, 2, 3], [NAN, NAN, NAN], [INF, INF, INF]], "kemeny")
    assert (found.n_people, found.upper, found.new_winners) == (2, 2, ())
    assert found.people.tolist() == [1, 1, 0, 0]
    with pytest.raises(ValueError, match="compares two items"):
        margin_of_victory([[NAN, NAN], [NAN, NAN]])
    with pytest.raises(ValueError, match="several items win"):
        margin_of_victory([[1, 2]], "stv")
    with pytest.raises(ValueError, match="who wins among 2,000 items by kemeny takes too long"):
        margin_of_victory(np.arange(1.0, 2001)[np.newaxis])
    with pytest.raises(ValueError, match="how is 'drop'"):
        margin_of_victory([[1, 2]], how="drop")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="says nothing of item"):
        margin_of_victory([[1, 2, NAN], [1, 2, 3]], "plurality")


def test_missing_items_get_honest_bounds() -> None:
    rng = np.random.default_rng(4)
    rows = votes(rng, 6, 4, "full")
    rows[rng.random(rows.shape) < 0.2] = NAN
    rows = np.array([[NAN if np.isnan(x) else 1 + np.sum(row < x) for x in row] for row in rows])
    found = margin_of_victory(rows, "copeland")
    assert 1 <= found.lower <= found.upper <= 6
    assert found.exact


@pytest.mark.parametrize("how", ["removal", "change"])
@pytest.mark.parametrize("rule", ["kemeny", "copeland", "schulze", "ranked-pairs"])
def test_bounds_without_time_are_of_people_who_decide(rule: str, how: str) -> None:
    rng = np.random.default_rng(6)
    rows = votes(rng, 40, 5, "full")
    rows[np.arange(40), rng.integers(0, 5, 40)] = np.nan
    found = margin_of_victory(rows, rule, how, time_limit=0)  # type: ignore[arg-type]
    assert found.lower <= found.upper < 30
    assert found.people.sum() == found.upper
    assert set(found.new_winners) != set(found.winners)
    if how == "removal":
        left = Rankings(rows[found.people == 0])
        assert {left.items[i] for i in winners_of(left, rule) or ()} == set(found.new_winners)


def test_time_that_is_over_is_said() -> None:
    rows = votes(np.random.default_rng(7), 60, 5, "full")
    assert margin_of_victory(rows, "bucklin", time_limit=0).out_of_time
    assert not margin_of_victory(rows, "borda", time_limit=0).out_of_time


def test_kemeny_of_many_items_keeps_the_time_limit() -> None:
    rng = np.random.default_rng(0)
    margin_of_victory([rng.permutation(13) + 1.0 for _ in range(4)], time_limit=0.1)  # compiles
    for n in (4, 9):
        start = monotonic()
        margin_of_victory([rng.permutation(20) + 1.0 for _ in range(n)], time_limit=0.5)
        assert monotonic() - start < 3


def test_first_items_of_rankings_that_cannot_be_listed() -> None:
    rng = np.random.default_rng(8)
    n_winners = set()
    for n in (2, 4, 6):
        rankings = Rankings(votes(rng, n, 6, "full"))
        expected = winners_of(rankings, "kemeny")
        assert _proven_first(rankings, rankings, rankings.items, 10.0) == expected
        n_winners.add(len(expected or ()))
    assert len(n_winners) > 1


def test_time_limit_is_kept_and_bounds_stay_honest() -> None:
    rng = np.random.default_rng(5)
    rows = votes(rng, 60, 9, "full")
    found = margin_of_victory(rows, "kemeny", time_limit=0.5)
    assert 1 <= found.lower <= found.upper <= 60
    assert found.text == (f"{found.upper} votes" if found.exact else f"between {found.lower} and {found.upper} votes")
