"""Consensus rules by name: each is the function or model that it names."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rankwise import Rankings
from rankwise.aggregation import PlackettLuce, all_optimal, borda, copeland, sample_mallows, schulze
from rankwise.aggregation.rules import CONSENSUS_RULES
from tests.naive.tournaments import copeland as naive_copeland
from tests.naive.tournaments import pair_wins
from tests.strategies import KINDS, random_positions

VOTES = sample_mallows([3, 1, 2, 4], theta=0.5, n=31, random_state=0)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("kemeny", lambda: all_optimal(VOTES).positions),
        ("borda", lambda: borda(VOTES)),
        ("copeland", lambda: copeland(VOTES)),
        ("copeland-or-borda", lambda: borda(VOTES)),  # 0, 1 and 2 beat each other in a circle
        ("schulze", lambda: schulze(VOTES)),
        ("mallows", lambda: all_optimal(VOTES).positions),
        ("plackett-luce", lambda: PlackettLuce().fit(VOTES).mode()),
    ],
)
def test_a_name_stands_for_its_rule(name, expected):
    np.testing.assert_array_equal(CONSENSUS_RULES[name](VOTES).positions, expected())


@given(st.integers(2, 5), st.integers(1, 12), st.sampled_from(KINDS), st.integers(0, 2**32 - 1))
def test_copeland_where_strictly_transitive_and_borda_elsewhere(k, n, kind, seed):
    votes = random_positions(np.random.default_rng(seed), n, k, kind)
    wins = pair_wins(votes, np.ones(n))
    assume((wins + wins.T).any(axis=1).all())  # some ranking compares every item
    strict = all((wins[i, j] != wins[j, i]) for i in range(k) for j in range(i)) and not any(
        wins[a, b] > wins[b, a] and wins[b, c] > wins[c, b] and wins[c, a] > wins[a, c]
        for a, b, c in itertools.permutations(range(k), 3)
    )
    expected = naive_copeland(wins) if strict else borda(votes)
    np.testing.assert_array_equal(CONSENSUS_RULES["copeland-or-borda"](votes).positions, expected)


def test_rules_return_what_they_found_besides_positions():
    best = CONSENSUS_RULES["kemeny"](VOTES).kemeny
    assert best is not None
    assert best.optimal
    found = CONSENSUS_RULES["borda"](VOTES)
    assert found.score_name == "opponents beaten"
    np.testing.assert_array_equal(found.scores, borda(VOTES, return_scores=True)[1])
    assert list(CONSENSUS_RULES["mallows"](VOTES).parameters) == ["theta", "theta_se"]
    assert CONSENSUS_RULES["copeland"](VOTES).scores is None


def test_rules_take_their_options():
    unbeaten = [[1, 2, 3], [1, 3, 2]]
    np.testing.assert_array_equal(CONSENSUS_RULES["plackett-luce"](unbeaten, alpha=0.1).positions, [1, 2, 2])
    np.testing.assert_array_equal(
        CONSENSUS_RULES["kemeny"](VOTES, time_limit=1.0, random_state=0).positions, all_optimal(VOTES).positions
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rule", [rule for rule in CONSENSUS_RULES if rule != "range"])
def test_no_order_of_columns_or_rows_decides(rule, kind):
    rng = np.random.default_rng(5)
    tried = 0
    for _ in range(40):
        n, k = int(rng.integers(2, 9)), int(rng.integers(2, 6))
        given = Rankings(random_positions(rng, n, k, kind), [f"i{i}" for i in range(k)], rng.integers(1, 3, n))
        columns, rows = rng.permutation(k), rng.permutation(n)
        names = [given.items[i] for i in columns]
        other = Rankings(given.positions[np.ix_(rows, columns)], names, given.weights[rows])
        options = {"alpha": 0.1} if rule == "plackett-luce" else {}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # groups that are never compared
                found, again = (CONSENSUS_RULES[rule](votes, **options) for votes in (given, other))
        except ValueError:  # the rule refuses such rankings
            continue
        tried += 1
        np.testing.assert_array_equal(again.positions, found.positions[columns])
        assert (found.winners is None) == (again.winners is None)
        assert set(found.winners or ()) == set(again.winners or ())
    assert (
        tried > 10 or (rule in _NEEDS_ALL_ITEMS and kind == "incomplete") or (rule in _NEEDS_ORDERS and kind != "full")
    )


_NEEDS_ALL_ITEMS = {"plurality", "bucklin", "instant-runoff", "stv", "footrule", "spearman", "hamming", "cayley"}
_NEEDS_ORDERS = {"cayley", "mallows"}


def test_kemeny_lists_what_is_as_good():
    found = CONSENSUS_RULES["kemeny"]([[1, 2, 3], [2, 1, 3]])
    assert found.positions.tolist() == [1, 1, 2]
    assert found.winners == (0, 1)
    assert found.optimal is not None
    assert len(found.optimal.rankings) == 2
    assert CONSENSUS_RULES["kemeny"]([[1, 2, 3]]).optimal is None
