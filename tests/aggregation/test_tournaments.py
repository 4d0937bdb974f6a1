"""Rules on majorities: against their twins, known elections, and laws that all of them keep."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rankwise import Rankings
from rankwise.aggregation import borda, kemeny, preference_matrix
from rankwise.aggregation.statistics import is_stochastically_transitive
from rankwise.aggregation.tournaments import copeland, kwiksort, mc4, schulze
from tests.naive import tournaments as naive
from tests.strategies import KINDS, position_matrices

Rule = Callable[..., np.ndarray]
RULES: dict[str, Rule] = {"copeland": copeland, "schulze": schulze, "mc4": mc4}
GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "statistics.json").read_text())


@st.composite
def profiles(draw: st.DrawFn, kinds: tuple[str, ...] = KINDS) -> tuple[np.ndarray, np.ndarray]:
    """Rankings with weights in which every item is compared with another."""
    positions = draw(position_matrices(kinds=kinds, min_items=2, max_items=5, max_rankings=7))
    weights = np.array(draw(st.lists(st.integers(0, 3), min_size=len(positions), max_size=len(positions))), float)
    assume(np.all(preference_matrix(positions, weights).counts.sum(axis=1) > 0))
    return positions, weights


def tied_by_law(law: np.ndarray) -> list[float]:
    return naive.dense((-np.round(law, 9)).tolist())


@given(profiles())
def test_rules_equal_their_twins(profile: tuple[np.ndarray, np.ndarray]) -> None:
    positions, weights = profile
    rankings, wins = Rankings(positions, weights=weights), naive.pair_wins(positions, weights)
    assert copeland(rankings).tolist() == naive.copeland(wins)
    assert schulze(rankings).tolist() == naive.schulze(wins)
    for teleport in (0.05, 0.3):
        assert mc4(rankings, teleport=teleport).tolist() == tied_by_law(naive.mc4_law(wins, teleport))


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["name"])
def test_known_elections(case: dict[str, object]) -> None:
    rankings = Rankings.from_orders([list(order) for order in case["orders"]], weights=case["weights"])  # type: ignore
    positions = RULES[str(case["rule"])](rankings)
    assert "".join(str(rankings.items[i]) for i in np.argsort(positions)) == case["consensus"]
    assert sorted(positions) == [*range(1, len(positions) + 1)]


@given(profiles())
def test_the_rules_see_nothing_but_the_pairs(profile: tuple[np.ndarray, np.ndarray]) -> None:
    rankings = Rankings(profile[0], weights=profile[1])
    matrix = preference_matrix(rankings)
    for rule in RULES.values():
        np.testing.assert_array_equal(rule(matrix), rule(rankings))
        if np.all((matrix.wins + matrix.wins.T).sum(axis=1) > 0):  # an array of wins cannot express ties
            np.testing.assert_array_equal(rule(matrix.wins), rule(rankings))
    # Copeland and MC4 see only who wins, so probabilities serve as well as counts.
    np.testing.assert_array_equal(copeland(matrix.probabilities), copeland(rankings))
    np.testing.assert_array_equal(mc4(matrix.probabilities), mc4(rankings))


@given(profiles(), st.randoms(use_true_random=False))
def test_laws_of_all_rules(profile: tuple[np.ndarray, np.ndarray], random: object) -> None:
    positions, weights = profile
    new = np.array(random.sample(range(positions.shape[1]), positions.shape[1]))  # type: ignore[attr-defined]
    for rule in RULES.values():
        consensus = rule(Rankings(positions, weights=weights))
        assert consensus.tolist() == naive.dense(consensus.tolist())
        np.testing.assert_array_equal(rule(Rankings(positions[:, new], weights=weights)), consensus[new])
        np.testing.assert_array_equal(rule(np.repeat(positions, weights.astype(int), axis=0)), consensus)


@given(profiles())
def test_strict_transitivity_makes_all_rules_agree_with_the_median(profile: tuple[np.ndarray, np.ndarray]) -> None:
    rankings = Rankings(profile[0], weights=profile[1])
    matrix = preference_matrix(rankings)
    assume(np.all(matrix.counts + np.eye(matrix.n_items) > 0))
    assume(is_stochastically_transitive(matrix, strict=True))
    median = kemeny(matrix).positions
    for rule in RULES.values():
        np.testing.assert_array_equal(rule(matrix), median)
    np.testing.assert_array_equal(kwiksort(matrix, random_state=0, n_init=1), median)


@given(profiles(), st.integers(0, 100))
def test_kwiksort_is_a_strict_ranking_and_restarts_only_help(profile: tuple[np.ndarray, np.ndarray], seed: int) -> None:
    rankings = Rankings(profile[0], weights=profile[1])
    wins = naive.pair_wins(*profile)
    once, often = (kwiksort(rankings, random_state=seed, n_init=n) for n in (1, 8))
    k = rankings.n_items
    assert sorted(often) == [*range(1, k + 1)]
    assert naive.kemeny_cost(wins, often) <= naive.kemeny_cost(wins, once)
    np.testing.assert_array_equal(often, kwiksort(rankings, random_state=seed, n_init=8))


def test_kwiksort_finds_the_median_of_a_small_circle() -> None:
    circle = Rankings([[1, 2, 3, 4], [4, 1, 2, 3], [3, 4, 1, 2]], weights=[4, 3, 2])
    best = min(naive.kemeny_cost(circle.pair_counts(), np.array(p)) for p in itertools.permutations(range(1, 5)))
    found = kwiksort(circle, random_state=1, n_init=30)
    assert naive.kemeny_cost(circle.pair_counts(), found) == best


def test_kwiksort_decides_even_pairs_by_chance() -> None:
    even = np.full((3, 3), 0.5)
    assert len({tuple(kwiksort(even, random_state=seed)) for seed in range(60)}) == 6


def test_kwiksort_of_many_items_does_not_recurse_too_deep() -> None:
    # Each pivot of a long chain may split off a single item.
    k = 3000
    assert kwiksort(np.triu(np.ones((k, k)), 1), random_state=0, n_init=1).tolist() == [*range(1, k + 1)]


def test_schulze_counts_the_weight_of_majorities_and_copeland_does_not() -> None:
    # a > b by 8:1, b > c by 7:2, c > a by 6:3: the weakest link, c > a, gives way.
    counts = [[0, 8, 3], [1, 0, 7], [6, 2, 0]]
    assert schulze(counts).tolist() == [1, 2, 3]
    assert copeland(counts).tolist() == [1, 1, 1]
    assert mc4(counts).tolist() == [1, 1, 1]


def test_equal_sums_of_weights_are_even_in_spite_of_rounding() -> None:
    rankings = Rankings([[1, 2], [1, 2], [2, 1]], weights=[0.1, 0.2, 0.3])
    for rule in RULES.values():
        assert rule(rankings).tolist() == [1, 1]


def test_a_pair_that_nobody_compared_has_no_winner() -> None:
    nan = np.nan
    rankings = [[1, 2, nan], [nan, 1, 2]]
    assert copeland(rankings).tolist() == [1, 2, 2]
    assert schulze(rankings).tolist() == [1, 2, 3]  # the chain a > b > c tells
    assert copeland([[0.5, 1, nan], [0, 0.5, 1], [nan, 0, 0.5]]).tolist() == [1, 2, 2]


@pytest.mark.parametrize("rule", [*RULES.values(), kwiksort])
@pytest.mark.parametrize(
    ("rankings", "message"),
    [
        ([[0.5, 0.6, 0.7], [0.4, 0.5, 0.8]], r"shape \(2, 3\).*one row and one column per item"),
        ([[0, -1], [2, 0]], r"matrix\[0, 1\] is -1"),
        ([[0, np.inf], [2, 0]], r"matrix\[0, 1\] is inf"),
        ([[0, 3, 0], [1, 0, 0], [0, 0, 0]], "no ranking compares item 2 with another"),
        ([[0, 3, np.nan], [1, 0, np.nan], [np.nan, np.nan, 0]], "no ranking compares item 2 with another"),
        ([[1, 2, np.nan]], "no ranking compares item 2 with another"),
    ],
)
def test_bad_input(rule: Rule, rankings: list[list[float]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rule(rankings)


def test_bad_options() -> None:
    for teleport in (0.0, 1.0, -0.1, float("nan")):
        with pytest.raises(ValueError, match="teleport is"):
            mc4([[1, 2]], teleport=teleport)
    with pytest.raises(ValueError, match="n_init is 0"):
        kwiksort([[1, 2]], n_init=0)


@pytest.mark.parametrize("rule", [copeland, schulze, mc4, kwiksort])
def test_slips_of_the_pen_get_the_advice_of_positions(rule: Rule) -> None:
    with pytest.raises(
        ValueError, match=r"positions\[0, 0\] is 0, but positions count from 1.*if they count from 0, add 1"
    ):
        rule([[0, 1, 2], [1, 0, 2]])
    with pytest.raises(ValueError, match="rows have different lengths"):
        rule([[1, 2, 3], [1, 2]])


def test_copeland_by_wins_less_losses_differs_where_pairs_end_even() -> None:
    # 0 beats 1 and is even with 2 and 3; 2 beats 1 and 3.
    wins = np.array([[0, 2, 1, 1], [0, 0, 0, 1], [1, 2, 0, 2], [1, 1, 0, 0.0]])
    assert copeland(wins).tolist() == [1, 3, 1, 2]
    assert copeland(wins, score="wins-minus-losses").tolist() == [2, 4, 1, 3]
    rng = np.random.default_rng(0)
    odd = np.array([rng.permutation(8) + 1.0 for _ in range(7)])  # no pair ends even, so the two agree
    assert np.array_equal(copeland(odd), copeland(odd, score="wins-minus-losses"))
    with pytest.raises(ValueError, match="choose 'defeats' or 'wins-minus-losses'"):
        copeland(wins, score="wins")  # type: ignore[arg-type]


def test_an_item_with_a_single_win_comes_where_the_notes_say() -> None:
    nan = np.nan
    rows = [[1, 2, 3, nan], [1, 2, 3, nan], [nan, 2, nan, 1]]  # item 3 met item 1 alone, and won
    assert copeland(rows).tolist() == [1, 2, 2, 1]
    assert copeland(rows, score="wins-minus-losses").tolist() == [1, 3, 4, 2]  # 2, -1, -2 and 1
    assert borda(rows).tolist() == schulze(rows).tolist() == [1, 2, 3, 1]
    assert kemeny(rows).positions[3] < kemeny(rows).positions[1]
