"""`consensus`: the ranking of each rule, its cost and distances, intervals, and how it shows itself."""

from __future__ import annotations

import importlib
import json
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from rankwise import Rankings
from rankwise.aggregation import bootstrap_consensus, kemeny
from rankwise.aggregation.rules import CONSENSUS_RULES
from rankwise.analysis import consensus
from rankwise.distances import kendall_distance
from tests.pages import HOSTILE, Page

module = importlib.import_module("rankwise.analysis.consensus")
NAN = float("nan")
RULES = [rule for rule in CONSENSUS_RULES if rule != "stv"]
MEDIANS = ("footrule", "spearman", "hamming", "cayley")


@pytest.fixture(scope="module")
def race() -> Rankings:
    """Rankings that put every item first somewhere, so that all models exist."""
    rng = np.random.default_rng(3)
    worth = np.array([2.0, 1.0, 0.5, 0.0]) + rng.gumbel(size=(60, 4))
    return Rankings(1 + np.argsort(np.argsort(-worth, axis=1), axis=1), ["a", "b", "c", HOSTILE])


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_has_a_cost_distances_and_intervals(rule: Any, race: Rankings) -> None:
    found = consensus(race, rule, random_state=0, intervals=rule != "cayley", n_resamples=40)
    assert found.method == rule
    assert found.order[0] == "a"
    np.testing.assert_array_equal(found.distances, kendall_distance(race, found.positions, normalize=True))
    assert found.mean_distance == pytest.approx(found.distances.mean())
    assert found.cost / found.comparisons == pytest.approx(found.mean_distance)  # all rankings are full
    assert (found.kemeny is not None) == (rule == "kemeny")
    assert (found.median is not None) == (rule in MEDIANS)
    assert (found.election is not None) == (rule == "instant-runoff")
    assert (found.scores is not None) == (rule in ("borda", "plurality", "plackett-luce"))
    json.dumps(found.as_dict(), allow_nan=False)
    if rule == "cayley":  # listing all rankings in every resample takes too long to do it unasked
        assert consensus(race, rule).notes == (module.SLOW_INTERVALS,)
        return
    assert found.bootstrap is not None
    assert (found.bootstrap.level, found.bootstrap.n_resamples, found.notes) == (0.95, 40, ())
    np.testing.assert_array_equal(found.bootstrap.positions, found.positions)


def test_intervals_are_those_of_the_bootstrap(race: Rankings) -> None:
    found = consensus(race, intervals=True, n_resamples=40, level=0.8, random_state=5).bootstrap
    spread = bootstrap_consensus(race, n_resamples=40, level=0.8, random_state=5)
    assert found is not None
    np.testing.assert_array_equal(found.low, spread.low)
    np.testing.assert_array_equal(found.high, spread.high)
    np.testing.assert_array_equal(found.before, spread.before)


@pytest.mark.parametrize("intervals", [True, False, "auto"])
def test_kemeny_is_solved_once(intervals: bool, race: Rankings, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[dict[str, Any]] = []

    def counting(*given: Any, **options: Any) -> Any:
        calls.append(options)
        return kemeny(*given, **options)

    monkeypatch.setattr("rankwise.aggregation.rules.kemeny", counting)
    consensus(race, intervals=intervals, time_limit=7, random_state=0)
    assert calls == [{"time_limit": 7, "random_state": 0}]


def test_intervals_that_were_not_asked_for_may_be_too_slow(race: Rankings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(module._MOST_PAIRS, "kemeny", 10)
    assert consensus(race).notes == (module.SLOW_INTERVALS,)
    assert consensus(race).bootstrap is None
    assert consensus(race, intervals=True).bootstrap is not None
    assert consensus(race, intervals=False).notes == ()


def test_intervals_that_were_not_asked_for_may_fail() -> None:
    # Some resample has an item that beats all others, and so no Plackett-Luce model without a prior.
    rankings = [[1, 2]] * 11 + [[2, 1]]
    assert consensus(rankings, "plackett-luce", random_state=0).notes[0].startswith("no intervals: ")
    with pytest.raises(ValueError, match="prior"):
        consensus(rankings, "plackett-luce", intervals=True, random_state=0)
    assert consensus(rankings, "plackett-luce", alpha=0.5, random_state=0).bootstrap is not None


def test_few_rankings_have_no_intervals() -> None:
    for intervals in (True, "auto"):
        found = consensus([[1, 2, 3]] * 9, intervals=intervals)
        assert found.bootstrap is None
        assert found.notes == ("no intervals: fewer than 10 rankings say too little",)
    assert consensus(Rankings([[1, 2], [2, 1]], weights=[6, 5]), random_state=0).bootstrap is not None
    assert consensus(Rankings([[1, 2], [2, 1]], weights=[60.5, 5]), random_state=0).bootstrap is None


def test_items_that_no_ranking_compares_are_named() -> None:
    found = consensus([[1, 2, NAN], [1, 2, NAN], [NAN, NAN, 1]])
    assert (found.items, found.never_compared) == ((0, 1), (2,))
    assert np.isnan(found.distances[2])
    assert "no ranking compares 2 with another item" in repr(found)
    with pytest.raises(ValueError, match="no ranking compares two items"):
        consensus([[1, NAN], [NAN, 1]])


def test_groups_that_are_never_compared_are_warned_about_once() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        consensus([[1, 2, NAN, NAN], [NAN, NAN, 2, 1]] * 6, random_state=0)
    assert len(caught) == 1
    assert "these 2 groups" in str(caught[0].message)


def test_rankings_that_agree_have_an_infinite_theta() -> None:
    found = consensus([[1, 2], [1, 2]], "mallows")
    assert found.parameters["theta"] == np.inf
    assert found.as_dict()["parameters"] == {"theta": None, "theta_se": None}
    assert "infinite: all rankings are the same" in repr(found)


@pytest.mark.parametrize(("backend", "kind"), [(None, pd.DataFrame), ("polars", pl.DataFrame)])
def test_frames(backend: str | None, kind: type, race: Rankings) -> None:
    frame = consensus(race, "borda", random_state=0).to_frame(backend)
    assert isinstance(frame, kind)
    assert list(frame.columns) == ["item", "place", "score", "low", "high"]
    assert list(frame["place"]) == [1, 2, 3, 4]
    assert next(iter(frame["item"])) == "a"
    bare = consensus(race, intervals=False).to_frame(backend)
    assert list(bare.columns) == ["item", "place"]
    mixed = consensus(Rankings([[1, 2], [2, 1]], ["a", 7])).to_frame(backend)
    assert sorted(mixed["item"]) == ["7", "a"]


def test_it_shows_itself(race: Rankings) -> None:
    found = consensus(race, random_state=0)
    for words in ("Consensus: kemeny", "95 % interval", "How good", "optimal", "from 200 resamples"):
        assert words in repr(found)
    page = Page(found._repr_html_())
    assert "script" not in page.tags
    assert page.tags.count("table") == 2


def test_mistakes() -> None:
    with pytest.raises(ValueError, match="intervals is 50; choose True, False or 'auto', and give a number as"):
        consensus([[1, 2]], intervals=50)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'oracle' is not a rule; choose one of 'kemeny', 'borda'"):
        consensus([[1, 2]], "oracle")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="n_resamples is 5, too few"):
        consensus([[1, 2]], n_resamples=5)
    with pytest.raises(ValueError, match="level is 2"):
        consensus([[1, 2]] * 12, intervals=True, level=2)
    with pytest.raises(ValueError, match="give their number as seats"):
        consensus([[1, 2, 3]], "stv")
    with pytest.raises(ValueError, match="range voting needs scores"):
        consensus([[1, 2, 3]], "range")  # type: ignore[call-overload]


def test_ties_are_declared_whatever_the_order_of_the_columns() -> None:
    votes = Rankings([[1, 2, 3], [2, 1, 3]], ["a", "b", "c"])
    for rankings in (votes, votes.select(["b", "a", "c"]), votes.select(["c", "b", "a"])):
        for rule in RULES:
            found = consensus(rankings, rule, alpha=0.1, intervals=False)
            assert found.winners == ("a", "b")
            assert found.order == ["a", "b", "c"]
            assert dict(zip(found.items, found.places.tolist(), strict=True)) == {"a": 1, "b": 1, "c": 3}
            assert found.ties == ["tie between a and b for the first place"]
            assert found.to_frame()["place"].tolist() == [1, 1, 3]
    shown = repr(consensus(votes))
    assert "a > b > c\nb > a > c" in shown
    assert "2 rankings cost the same" in shown
    assert consensus(votes).as_dict()["optimal_rankings"] == [["a", "b", "c"], ["b", "a", "c"]]


def test_ties_further_down() -> None:
    found = consensus([[1, 2, 3, 4], [1, 3, 2, 4]], "borda", intervals=False)
    assert (found.winners, found.ties) == ((0,), ["1 and 2 share place 2"])
    assert found.places.tolist() == [1, 2, 2, 4]


def test_items_that_are_compared_seldom_are_flagged() -> None:
    rankings = Rankings([[1, 2, 3, NAN]] * 5 + [[2, 1, 3, NAN]] * 6 + [[2, NAN, NAN, 1]], ["a", "b", "c", "d"])
    for rule in ("borda", "copeland", "schulze"):
        found = consensus(rankings, rule, intervals=False)
        assert "d leads, but was compared in 1 ranking only (usual: 11)" in repr(found)
        assert found.held.tolist() == [12, 11, 11, 1]
    assert "rankings" in found.ranking_table().columns
    assert consensus(rankings.select(["a", "b", "c"]), "borda").seldom == []
    full = consensus([[1, 2, 3]] * 3, intervals=False)
    assert (full.seldom, full.ranking_table().columns) == ([], ["place", "item"])


def test_ties_in_rankings_can_be_broken() -> None:
    rankings = [[1, 1, 2], [1, 2, 3], [2, 1, 3]]
    with pytest.raises(ValueError, match="has no ties; break them at random"):
        consensus(rankings, "mallows")
    found = consensus(rankings, "mallows", break_ties=True)
    assert found.winners == (0, 1)  # a random order and its reverse favor neither
    assert len(found.distances) == 3
    np.testing.assert_array_equal(found.positions, consensus(rankings, "mallows", break_ties=True).positions)
    assert consensus(rankings * 4, "mallows", break_ties=True, intervals=True, random_state=0).bootstrap is not None


def test_rounds_of_elections(race: Rankings) -> None:
    found = consensus(race, "stv", seats=2, intervals=True, n_resamples=20, random_state=0)
    assert found.election is not None
    assert found.election.seats == 2
    assert "single transferable vote" in repr(found)
    assert found.as_dict()["election"]["winners"] == ["a", "b"]


def test_rules_side_by_side(race: Rankings) -> None:
    found = consensus(race, ["kemeny", "plurality", "plackett-luce"], random_state=0)
    assert list(found.results) == ["kemeny", "plurality", "plackett-luce"]
    assert found.condorcet_winner == "a"
    assert found.to_frame().columns.tolist() == ["item", "kemeny", "plurality", "plackett-luce"]
    for rule, result in found.results.items():
        single = consensus(race, rule, random_state=0, intervals=False)
        np.testing.assert_array_equal(result.positions, single.positions)
    assert found.sentences[0] == "All 3 rules put a first."
    assert "a beats every other item in direct comparison (Condorcet winner)." in repr(found)
    json.dumps(found.as_dict(), allow_nan=False)
    assert "script" not in Page(found._repr_html_()).tags
    every = consensus(race, "all", seats=2, random_state=0)
    assert list(every.results) == [rule for rule in CONSENSUS_RULES if rule != "copeland-or-borda"]
    assert len(every.tables()) == 5  # with the rounds of two elections


def test_where_rules_differ_is_said() -> None:
    # b is everybody's second choice: it beats a and c in direct comparison, and has no first place.
    votes = Rankings.from_orders([["a", "b", "c"], ["c", "b", "a"]], weights=[4, 5], items=["a", "b", "c"])
    votes = Rankings(np.vstack([votes.positions, [2, 1, 3]]), ["a", "b", "c"], [4, 5, 2])
    found = consensus(votes, ["kemeny", "plurality"])
    assert found.results["plurality"].winners == ("c",)
    assert found.condorcet_winner == "b"
    assert found.sentences[0] == "The rules do not agree on the winner: b wins by kemeny; c wins by plurality."
    assert "depend on the rule, most of all" in found.sentences[1]
    assert found.places.tolist() == [[2, 2], [1, 3], [3, 1]]


def test_circles_and_refusals_are_said() -> None:
    circle = consensus([[1, 2, 3], [2, 3, 1], [3, 1, 2]], ["kemeny", "borda"])
    assert (circle.condorcet_winner, len(circle.cycle)) == (None, 3)
    a, b, c = circle.cycle
    assert f"{a} beats {b}, {b} beats {c}, {c} beats {a}" in circle.sentences[-1]
    assert {(a, b), (b, c), (c, a)} == {(0, 1), (1, 2), (2, 0)}
    holes = consensus([[1, 2, NAN], [2, 1, 3]], ["borda", "plurality"])
    assert "says nothing of item 2" in holes.refused["plurality"]
    assert "says nothing of item 2" in repr(holes)
    with pytest.raises(ValueError, match="plurality: plurality counts votes"):
        consensus([[1, 2, NAN], [2, 1, 3]], ["plurality"])
    with pytest.raises(ValueError, match="methods is empty"):
        consensus([[1, 2]], [])
    even = consensus([[1, 2], [2, 1]], ["borda"])
    assert even.sentences[-1].endswith("the best are even, or not compared.")
