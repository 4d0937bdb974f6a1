"""`consensus`: the ranking of each rule, its cost and distances, intervals, and how it shows itself."""

from __future__ import annotations

import importlib
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from rankwise import Rankings
from rankwise.aggregation import bootstrap_consensus, constrained_kemeny, kemeny
from rankwise.aggregation.rules import CONSENSUS_RULES
from rankwise.analysis import consensus
from rankwise.data import read_survey
from rankwise.distances import kendall_distance
from tests.pages import HOSTILE, Page

module = importlib.import_module("rankwise.analysis.consensus")
NAN = float("nan")
RULES = [rule for rule in CONSENSUS_RULES if rule not in ("stv", "range")]
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
    assert consensus(rankings, "plackett-luce", random_state=0).notes[0].startswith("no intervals of places: ")
    with pytest.raises(ValueError, match="prior"):
        consensus(rankings, "plackett-luce", intervals=True, random_state=0)
    assert consensus(rankings, "plackett-luce", alpha=0.5, random_state=0).bootstrap is not None


def test_few_rankings_have_no_intervals() -> None:
    for intervals in (True, "auto"):
        found = consensus([[1, 2, 3]] * 9, intervals=intervals)
        assert found.bootstrap is None
        assert found.notes == ("no intervals of places: fewer than 10 rankings say too little",)
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
    for words in ("Consensus: Kemeny", "95% interval", "How good", "optimal", "from 200 resamples"):
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
        consensus([[1, 2, 3]], "range")


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
    assert list(every.results) == [rule for rule in CONSENSUS_RULES if rule not in ("copeland-or-borda", "range")]
    assert len(every.tables()) == 5  # with the rounds of two elections


def test_where_rules_differ_is_said() -> None:
    # b is everybody's second choice: it beats a and c in direct comparison, and has no first place.
    votes = Rankings.from_orders([["a", "b", "c"], ["c", "b", "a"]], weights=[4, 5], items=["a", "b", "c"])
    votes = Rankings(np.vstack([votes.positions, [2, 1, 3]]), ["a", "b", "c"], [4, 5, 2])
    found = consensus(votes, ["kemeny", "plurality"])
    assert found.results["plurality"].winners == ("c",)
    assert found.condorcet_winner == "b"
    assert found.sentences[0] == "The rules do not agree on the winner: b wins by Kemeny; c wins by plurality."
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
    with pytest.raises(ValueError, match="plurality, bucklin: votes for all items are counted, but ranking 1 says"):
        consensus([[1, 2, NAN], [2, 1, 3]], ["plurality", "bucklin"])
    with pytest.raises(ValueError, match="methods is empty"):
        consensus([[1, 2]], [])
    even = consensus([[1, 2], [2, 1]], ["borda"])
    assert even.sentences[-1].endswith("the best are even, or not compared.")


def test_constraints_and_weights(race: Rankings) -> None:
    votes = race.select(["a", "b", "c"])
    found = consensus(votes, before=[("c", "a")], at_least=[(1, ["b"], 1)], intervals=False)
    assert found.order == ["b", "c", "a"]
    assert found.constraints == ("c before a", "at least 1 of b among the first 1")
    assert found.kemeny is not None
    price = found.kemeny.cost - kemeny(votes).cost
    assert price > 0
    assert found.notes == (f"the constraints add {price:g} to the cost of the consensus without them",)
    assert "c before a; at least 1 of b" in repr(found)
    free = consensus(votes, before=[("a", "b")], intervals=False)
    assert free.notes == ("the constraints cost nothing: a best ranking meets them anyway",)
    weighted = consensus(votes, item_weights={"b": 2}, position_weights="top-1", intervals=False)
    same = constrained_kemeny(votes, item_weights=[1, 2, 1], position_weights=[1, 0, 0])
    assert weighted.cost == same.cost
    firsts = np.array([np.sum(votes.positions[:, i] == 1) for i in range(3)])
    # Each first place beats two items; pairs with b count twice.
    assert weighted.comparisons == firsts @ [2 + 1, 2 + 2, 1 + 2]
    spread = consensus(votes, before=[("c", "a")], intervals=True, n_resamples=20, random_state=0).bootstrap
    assert spread is not None
    assert (spread.low[2] < spread.high[0]).all()  # c may be first in every resample, and a never
    assert spread.low[0] > 1


def test_constraints_keep_ties_whatever_the_order_of_the_columns() -> None:
    votes = Rankings([[1, 2, 3, 4], [2, 1, 3, 4]], ["a", "b", "c", "d"])
    for rankings in (votes, votes.select(["d", "b", "a", "c"])):
        found = consensus(rankings, before=[("d", "c")], at_least=[(1, ["c", "d"], 3)], intervals=False)
        assert (found.order, found.winners) == (["a", "b", "d", "c"], ("a", "b"))
        assert found.optimal is not None
        assert len(found.optimal.rankings) == 2


def test_constraints_are_checked() -> None:
    votes = Rankings([[1, 2, 3, NAN], [2, 1, 3, NAN]], ["Merlot", "Rioja", "Port", "Malbec"])
    with pytest.raises(ValueError, match="names 'Merlo', which is not an item; did you mean 'Merlot'"):
        consensus(votes, before=[("Merlo", "Port")])
    with pytest.raises(ValueError, match="'Malbec', but no ranking compares it"):
        consensus(votes, before=[("Malbec", "Port")])
    with pytest.raises(ValueError, match=r"for Kemeny's rule alone.*leave out borda"):
        consensus(votes, ["kemeny", "borda"], before=[("Port", "Rioja")])
    with pytest.raises(ValueError, match=r"for Kemeny's rule alone.*leave out all"):
        consensus(votes, "all", item_weights={"Port": 2})
    with pytest.raises(ValueError, match="the weight of item 'Port' is 0"):
        consensus(votes, item_weights={"Port": 0})
    with pytest.raises(ValueError, match=r"item_weights names 'Prot'.*'Port'"):
        consensus(votes, item_weights={"Prot": 2})
    with pytest.raises(ValueError, match="'the best'; give numbers, or 'top-3'"):
        consensus(votes, position_weights="the best")
    with pytest.raises(ValueError, match="5 numbers for 4 places"):
        consensus(votes, position_weights=[5, 4, 3, 2, 1])
    with pytest.raises(ValueError, match="all position_weights are 0"):
        consensus(votes, position_weights=[0])


def test_names_of_rules_are_read_as_people_write_them(race: Rankings) -> None:
    assert consensus(race, "Ranked Pairs", intervals=False).method == "ranked-pairs"  # type: ignore[call-overload]
    assert list(consensus(race, ["Borda", "BORDA", "plackett_luce"]).results) == ["borda", "plackett-luce"]  # type: ignore[list-item]


def test_scores_of_a_survey_are_averaged(tmp_path: Path) -> None:
    path = tmp_path / "teams.csv"
    path.write_text("judge,points_Alpha,points_Beta,points_Gamma\nAnn,10,7,4\nBob,1,3,\nCid,6,7,5\n", encoding="utf-8")
    survey = read_survey(path, layout="scores")
    found = consensus(survey, "range")
    assert found.scores is not None
    np.testing.assert_allclose(found.scores, [17 / 3, 17 / 3, 4.5])
    assert (found.winners, found.score_name) == (("Alpha", "Beta"), "mean score")
    assert consensus(survey, "borda", intervals=False).winners == ("Beta",)
    assert "range" in consensus(survey, "all").results
    chosen = read_survey(path, layout="scores", items=["points_Gamma", "points_Alpha"])
    np.testing.assert_array_equal(chosen.scores, [[4, 10], [NAN, 1], [5, 6]])
    sheet = tmp_path / "sheet.csv"
    sheet.write_text("team,Ann,Bob\nAlpha,9,8\nBeta,7,\nGamma,4,9\n", encoding="utf-8")
    jury = read_survey(sheet, layout="judges", values="scores")
    np.testing.assert_array_equal(jury.scores, [[9, 7, 4], [8, NAN, 9]])
    assert consensus(jury, "range").order == ["Alpha", "Beta", "Gamma"]
    places = tmp_path / "places.csv"
    places.write_text("rank_a,rank_b\n1,2\n2,1\n", encoding="utf-8")
    assert read_survey(places).scores is None


def test_seldom_compared_counts_people() -> None:
    rankings = Rankings([[1, 2, 3]] * 12 + [[NAN, 1, 2]] * 9, ["a", "b", "c"], [0.05] * 12 + [1.7] * 9)
    assert consensus(rankings, "borda", intervals=False).held.tolist() == [12, 21, 21]
    assert consensus(rankings, "borda", intervals=False).seldom == []
    counted = Rankings([[1, 2, 3], [NAN, 1, 2]], ["a", "b", "c"], [1, 20])
    assert "a leads, but was compared in 1 ranking only (usual: 21)" in consensus(counted, "borda").seldom


def test_mean_ranks_that_part_from_the_majorities_are_said() -> None:
    # A majority of 6 to 5 puts a first, but the five put it last of all.
    votes = Rankings([[1, 2, 3, 4]] * 6 + [[4, 1, 2, 3]] * 5, ["a", "b", "c", "d"])
    (note,) = [note for note in consensus(votes).notes if "mean ranks" in note]
    assert note.startswith("mean ranks put one pair of items the other way round (b before a): Kemeny's order follows")
    assert consensus([[1, 2, 3]] * 3, intervals=False).notes == ()


def test_costs_and_distances_to_tied_orders_are_named() -> None:
    circle = consensus([[1, 2, 3], [2, 3, 1], [3, 1, 2]], intervals=False)
    shown = circle.quality_table().rows
    assert shown[0] == ["against each best ranking", "4 of 9 comparisons (44.4%)"]
    assert shown[1] == [
        "mean Kendall distance",
        "0.500 to the order shown, a tied pair counts half (0 is the same order, 1 the reverse)",
    ]


def test_many_optimal_rankings_are_counted() -> None:
    rows = [[1, 2, 3, 4], [4, 3, 2, 1]]  # every ranking is as good
    table = consensus(rows, intervals=False)._optimal_table()[0]
    assert (table.title, len(table.rows)) == ("6 of 24 rankings of lowest cost", 6)
    assert table.note == "all of them: optimal.rankings"
    many = consensus([[*range(1, 8)], [*range(7, 0, -1)]], intervals=False)._optimal_table()[0]
    assert many.title == "6 of more than 1,000 rankings of lowest cost"


def test_refusals_name_the_person_and_are_said_once(tmp_path: Path) -> None:
    path = tmp_path / "jury.csv"
    path.write_text("judge,rank_a,rank_b,rank_c\nAnn,1,2,3\nBob,2,,1\nCid,3,2,1\n", encoding="utf-8")
    found = consensus(read_survey(path), "all")
    left_out = [row for row in found.winners_table().rows if row[1] == "-"]
    assert "plurality, Bucklin, instant runoff" in [row[0] for row in left_out]
    assert "ranking 2 (Bob) says nothing of item 'b'" in found.refused["plurality"]


def test_rules_have_the_names_that_people_write():
    found = consensus([[1, 2, 3], [2, 1, 3], [1, 3, 2]], ["kemeny", "instant-runoff", "plackett-luce"], alpha=1.0)
    assert found.places_table().columns == ["item", "Kemeny", "instant runoff", "Plackett-Luce"]
    assert [row[0] for row in found.winners_table().rows] == ["Kemeny", "instant runoff", "Plackett-Luce"]
    assert list(found.as_dict()["methods"]) == ["kemeny", "instant-runoff", "plackett-luce"]
    assert "kemeny" not in " ".join(found.sentences)
