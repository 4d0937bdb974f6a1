"""``rankwise consensus``: each rule, what is known of its ranking, and the intervals."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from rankwise._decode import ConsensusRule, Decoder
from rankwise.aggregation import (
    Mallows,
    PlackettLuce,
    bootstrap_consensus,
    borda,
    constrained_kemeny,
    copeland,
    is_stochastically_transitive,
    kemeny,
    schulze,
)
from rankwise.aggregation.rules import CONSENSUS_RULES
from rankwise.data import read_rankings
from tests.cli.running import problem, run, run_json

# One circle a > b > c > a, of unequal majorities, and d that all put last.
CIRCLE = "rank_a,rank_b,rank_c,rank_d\n" + 4 * "1,2,3,4\n" + 3 * "3,1,2,4\n" + 2 * "2,3,1,4\n"
RULES = ["kemeny", "borda", "copeland", "copeland-or-borda", "schulze", "mallows", "plackett-luce"]
NEW_RULES = [
    "ranked-pairs",
    "plurality",
    "bucklin",
    "instant-runoff",
    "stv",
    "range",
    "footrule",
    "spearman",
    "hamming",
    "cayley",
]


@pytest.fixture
def circle(tmp_path: Path) -> Path:
    path = tmp_path / "circle.csv"
    path.write_text(CIRCLE, encoding="utf-8")
    return path


@pytest.fixture
def open_race(tmp_path: Path) -> Path:
    """Rankings that put every item first somewhere, so that all models exist."""
    rng = np.random.default_rng(3)
    worth = np.array([2.0, 1.0, 0.5, 0.0]) + rng.gumbel(size=(60, 4))
    positions = 1 + np.argsort(np.argsort(-worth, axis=1), axis=1)
    path = tmp_path / "race.csv"
    np.savetxt(path, positions, fmt="%d", delimiter=",", header="rank_a,rank_b,rank_c,rank_d", comments="")
    return path


def test_kemeny_with_its_proof(circle: Path) -> None:
    found = run_json("consensus", circle)
    assert [place["item"] for place in found["ranking"]] == ["a", "b", "c", "d"]
    # c before a is what 5 of 9 say; b before a 3, c before b 2
    assert found["cost"] == 3 + 2 + 5
    assert found["comparisons"] == 9 * 6
    assert (found["optimal"], found["lower_bound"], found["gap"]) == (True, 10, 0)
    assert found["unique"] is True
    assert found["mean_distance"] == pytest.approx(10 / 54)
    shown = run("consensus", circle).stdout
    for words in ("10 of 54 comparisons (18.5%)", "optimal: no ranking costs less, and no other ranking does as well"):
        assert words in shown


@pytest.mark.parametrize("decode", RULES)
def test_every_rule_gives_the_ranking_of_the_library(decode: str, open_race: Path) -> None:
    rankings = read_rankings(open_race)
    positions = {
        "kemeny": lambda: kemeny(rankings).positions,
        "borda": lambda: borda(rankings),
        "copeland": lambda: copeland(rankings),
        "copeland-or-borda": lambda: (
            copeland(rankings) if is_stochastically_transitive(rankings, strict=True) else borda(rankings)
        ),
        "schulze": lambda: schulze(rankings),
        "mallows": lambda: Mallows().fit(rankings).center_,
        "plackett-luce": lambda: PlackettLuce().fit(rankings).mode(),
    }[decode]()
    found = run_json("consensus", open_race, "--decode", decode)
    assert {place["item"]: place["place"] for place in found["ranking"]} == dict(
        zip(rankings.items, positions.tolist(), strict=True)
    )
    assert (found["optimal"] is not None) == (decode == "kemeny")
    assert found["method"] == decode
    assert set(found["parameters"]) == ({"theta", "theta_se"} if decode == "mallows" else set())
    shown = run("consensus", open_race, "--decode", decode).stdout
    assert all(f" {place['place']}  {place['item']}" in shown for place in found["ranking"])


def test_the_command_knows_every_rule_of_the_library() -> None:
    assert [*RULES[:5], *NEW_RULES, *RULES[5:]] == list(get_args(ConsensusRule)) == list(CONSENSUS_RULES)
    assert RULES[:4] == list(get_args(Decoder))  # the rules that also decode predictions


def test_scores_of_items(open_race: Path) -> None:
    rankings = read_rankings(open_race)
    found = run_json("consensus", open_race, "--decode", "plackett-luce", "--alpha", "0.5")
    worth = dict(zip(rankings.items, PlackettLuce(alpha=0.5).fit(rankings).log_worth_, strict=True))
    assert {place["item"]: place["score"] for place in found["ranking"]} == pytest.approx(worth)
    assert f"{worth['a']:.3f}" in run("consensus", open_race, "--decode", "plackett-luce", "--alpha", "0.5").stdout


@pytest.mark.parametrize("decode", ["kemeny", "plackett-luce"])
def test_intervals_are_those_of_the_bootstrap(decode: str, open_race: Path) -> None:
    options = ["--decode", decode, "--bootstrap", "40", "--level", "0.8", "--seed", "5"]
    found = run_json("consensus", open_race, *options)
    rankings = read_rankings(open_race)
    rule = "kemeny" if decode == "kemeny" else lambda rankings: PlackettLuce().fit(rankings).mode()
    spread = bootstrap_consensus(rankings, rule, n_resamples=40, level=0.8, random_state=5)
    ends = {place["item"]: (place["low"], place["high"]) for place in found["ranking"]}
    assert ends == dict(zip(rankings.items, zip(spread.low, spread.high, strict=True), strict=True))
    assert (found["n_resamples"], found["level"]) == (40, 0.8)
    shown = run("consensus", open_race, *options, "--jobs", "2").stdout
    assert "80% interval" in shown
    assert all(interval in shown for interval in spread.intervals)


def test_a_proof_that_takes_too_long_leaves_a_gap(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    positions = 1 + np.argsort(rng.random((5, 40)), axis=1)
    path = tmp_path / "many.csv"
    names = ",".join(f"rank_{i}" for i in range(40))
    np.savetxt(path, positions, fmt="%d", delimiter=",", header=names, comments="")
    options = ["--target", "rank_", "--read", "layout=positions", "--time-limit", "0"]
    found = run_json("consensus", path, *options)
    assert found["optimal"] is False
    assert 0 < found["gap"] < 1
    assert found["lower_bound"] < found["cost"]
    assert "of the cost could be saved" in run("consensus", path, *options).stdout


def test_items_that_nobody_compares_are_named() -> None:
    text = "rank_a,rank_b,rank_c\n1,2,\n1,2,\n,,1\n"
    for decode in RULES[:4]:
        found = run_json("consensus", "-", "--decode", decode, stdin=text)
        assert [place["item"] for place in found["ranking"]] == ["a", "b"]
        assert found["never_compared"] == ["c"]
    assert "no ranking compares c with another item" in run("consensus", "-", stdin=text).stdout


def test_rankings_that_agree() -> None:
    words, table = ("consensus", "-", "--decode", "mallows"), "rank_a,rank_b\n1,2\n1,2\n"
    found = run_json(*words, stdin=table)
    assert (found["cost"], found["mean_distance"]) == (0, 0)
    assert found["parameters"] == {"theta": None, "theta_se": None}
    assert re.search("theta +infinite: all rankings are the same\n", run(*words, stdin=table).stdout)


def test_intervals_come_by_themselves_and_can_be_switched_off(open_race: Path) -> None:
    found = run_json("consensus", open_race)
    assert (found["n_resamples"], found["level"], found["notes"]) == (200, 0.95, [])
    assert found == run_json("consensus", open_race, "--bootstrap", "200")
    without = run_json("consensus", open_race, "--bootstrap", "0")
    assert (without["n_resamples"], without["level"], without["ranking"][0]["low"]) == (0, None, None)
    assert "interval" not in run("consensus", open_race, "--bootstrap", "0").stdout


@pytest.mark.parametrize("options", [[], ["--bootstrap", "100"]])
def test_few_rankings_have_no_intervals(options: list[str]) -> None:
    found = run_json("consensus", "-", *options, stdin="rank_a,rank_b,rank_c\n1,2,3\n")
    assert (found["level"], found["ranking"][0]["low"]) == (None, None)
    assert found["notes"] == ["no intervals of places: fewer than 10 rankings say too little"]
    weighted = "rank_a,rank_b,votes\n1,2,6\n2,1,5\n"  # of eleven voters
    assert run_json("consensus", "-", *options, "--read", "weights=votes", stdin=weighted)["level"] == 0.95


def test_intervals_that_nobody_asked_for_are_no_obstacle(open_race: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Some resample has an item that beats all others, and so no Plackett-Luce model without a prior.
    table = "rank_a,rank_b\n" + 11 * "1,2\n" + "2,1\n"
    words = ("consensus", "-", "--decode", "plackett-luce")
    assert "no intervals of places: " in run_json(*words, stdin=table)["notes"][0]
    assert "--alpha 0.1" in problem(*words, "--bootstrap", "200", stdin=table)
    monkeypatch.setitem(importlib.import_module("rankwise.analysis.consensus")._MOST_PAIRS, "kemeny", 10)
    assert "--bootstrap 200" in run("consensus", open_race).stdout


def test_very_long_names_are_cut_for_people_alone() -> None:
    name = 150 * "very" + "long"
    table = f"rank_{name},rank_b\n1,2\n"
    assert run_json("consensus", "-", stdin=table)["ranking"][0]["item"] == name
    shown = run("consensus", "-", stdin=table).stdout
    assert "veryveryv..." in shown
    assert max(map(len, shown.splitlines())) < 100


def test_problems_and_mistakes(circle: Path) -> None:
    assert "'kemeny', 'borda'" in problem("consensus", circle, "--decode", "oracle", code=2)
    assert "compares two items" in problem("consensus", "-", "--target", "rank_", stdin="rank_a,rank_b\n1,\n,1\n")
    assert "--alpha 0.1" in problem("consensus", circle, "--decode", "plackett-luce")
    assert "has no ties" in problem("consensus", "-", "--decode", "mallows", stdin="rank_a,rank_b,rank_c\n1,1,2\n")
    assert "between 0 and 1" in problem("consensus", circle, "--level", "2", code=2)
    assert "take 20 or more" in problem("consensus", circle, "--bootstrap", "1", code=2)
    assert "--method kemeny has" in problem("consensus", circle, "--decode", "borda", "--time-limit", "3", code=2)
    assert "--method plackett-luce" in problem("consensus", circle, "--alpha", "1", code=2)
    assert "--read" in problem("consensus", circle, "--read", "foo=1", code=2)
    assert "say how many with --seats 3" in problem("consensus", circle, "--method", "stv", code=2)
    assert "--method stv has" in problem("consensus", circle, "--seats", "2", code=2)
    message = problem("consensus", circle, "--method", "range")
    assert "needs scores" in message
    assert message.strip().endswith("--layout scores --target rank_ --method range")
    blanks = "rank_a,rank_b,rank_c\n1,2,\n2,1,3\n"
    message = problem("consensus", "-", "--method", "plurality", stdin=blanks)
    assert '--read "unlisted=below"' in message


def test_ties_are_declared_whatever_the_order_of_the_columns() -> None:
    shown = [
        run("consensus", "-", "--method", method, stdin=table).stdout
        for method in ("kemeny", "borda")
        for table in ("rank_A,rank_B,rank_C\n1,2,3\n2,1,3\n", "rank_B,rank_A,rank_C\n2,1,3\n1,2,3\n")
    ]
    assert shown[0] == shown[1]
    assert shown[2] == shown[3]
    for text in shown:
        assert "tie between A and B for the first place" in text
        assert re.search(r"\n\* +1 +A.*\n\* +1 +B.*\n +3 +C", text)


def test_the_winner_is_marked_without_color(open_race: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = run("consensus", open_race, "--method", "borda", "--bootstrap", "0").stdout.splitlines()
    header, first, second = lines[lines.index(next(line for line in lines if "place" in line)) :][:3]
    assert first.startswith("*  ")
    assert second.startswith("   ")
    assert first.index("1") == second.index("2") == header.index("place") + len("place") - 1  # numbers at the right
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    shown = run("consensus", open_race, "--method", "borda", "--bootstrap", "0").stdout
    assert re.search(r"\x1b\[1;32m\*\x1b", shown)


def test_rankings_of_weight_zero_are_told() -> None:
    table = "rank_a,rank_b,weight\n1,2,1\n1,2,2\n2,1,0\n2,1,0\n"
    told = "2 rankings have a weight of zero and do not count"
    assert told in run("consensus", "-", "--weight", "weight", stdin=table).stdout
    assert told in run("consensus", "-", "--weight", "weight", "--method", "all", stdin=table).stdout
    assert run_json("consensus", "-", "--weight", "weight", stdin=table)["n_zero_weight"] == 2
    assert "weight of zero" not in run("consensus", "-", stdin="rank_a,rank_b\n1,2\n2,1\n").stdout


def test_intervals_without_a_guarantee_say_so(open_race: Path) -> None:
    words = "percentiles of 50 resamples of the rankings: not guaranteed to hold the true place in 95% of the cases"
    items = run_json("consensus", open_race, "--bootstrap", "0")["ranking"]
    first, second = items[1]["item"], items[0]["item"]
    for options in (["--method", "stv", "--seats", "2"], ["--before", f"{first} > {second}"]):
        assert words in run("consensus", open_race, "--bootstrap", "50", *options).stdout
    shown = run("consensus", open_race, "--bootstrap", "50").stdout
    assert "conservative, from 50 resamples of the rankings" in shown
    assert "guaranteed" not in shown


def test_advice_is_for_the_command_line() -> None:
    even = "rank_a,rank_b,rank_c,rank_d\n1,2,3,4\n4,3,2,1\n"
    shown = run("consensus", "-", stdin=even).stdout
    assert "all of them: --json" in shown
    assert "optimal.rankings" not in shown
    told = problem("consensus", "-", stdin="rank_a,rank_b,rank_c\n1,2,3\n2,1,0\n")
    assert "take --read missing_values=0" in told
    assert "take command" not in told


def test_rules_side_by_side_and_rounds(circle: Path) -> None:
    found = run_json("consensus", circle, "--method", "kemeny, borda,stv", "--seats", "2")
    assert list(found["methods"]) == ["kemeny", "borda", "stv"]
    assert found["cycle"] == ["a", "b", "c"]
    assert found["methods"]["stv"]["election"]["quota"] == 4
    shown = run("consensus", circle, "--method", "all").stdout
    for words in (
        "Places by rule",
        "Where the rules differ",
        "Election: instant runoff, 9 votes",
        "majorities run in a",
    ):
        assert words in shown
    assert "Plackett-Luce" in shown  # refused, because d never wins, with the cure
    assert "--alpha 0.1" in shown


def test_ties_in_rankings_can_be_broken() -> None:
    table = "rank_a,rank_b,rank_c\n1,1,2\n1,2,3\n3,1,2\n"
    words = ("consensus", "-", "--method", "mallows")
    assert "(--break-ties)" in problem(*words, stdin=table)
    assert run_json(*words, "--break-ties", stdin=table)["ranking"][0]["place"] == 1


def test_constraints_as_people_write_them(circle: Path) -> None:
    options = ("--before", "D > c", "--at-least", "1 of b, d in the first 1", "--bootstrap", "0")
    found = run_json("consensus", circle, *options)
    assert found["constraints"] == ["d before c", "at least 1 of b, d among the first 1"]
    place = {row["item"]: row["place"] for row in found["ranking"]}
    assert place["d"] < place["c"]
    assert place["b"] == 1 or place["d"] == 1
    same = constrained_kemeny(read_rankings(circle), before=[("d", "c")], at_least=[(1, ["b", "d"], 1)])
    assert found["cost"] == same.cost
    chain = run_json("consensus", circle, "--before", "d > c > b > a")
    assert [row["item"] for row in chain["ranking"]] == ["d", "c", "b", "a"]
    weighted = run_json("consensus", circle, "--item-weight", "a=3", "--position-weights", "2,1")
    same = constrained_kemeny(read_rankings(circle), item_weights={"a": 3}, position_weights=[2, 1, 1, 1])
    assert weighted["cost"] == same.cost
    shown = run("consensus", circle, "--position-weights", "top-2", "--item-weight", "a = 3").stdout
    assert "a counts 3; only the top-2 of each ranking counts" in shown


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--before", "a"], '"A > B"'),
        (["--at-least", "some of a, b"], '"2 of A, B, C in 3"'),
        (["--item-weight", "a"], '"A=2"'),
        (["--position-weights", "much"], "neither numbers"),
        (["--before", "a > b", "--method", "borda"], "--method kemeny does"),
    ],
)
def test_constraints_that_cannot_be_read(circle: Path, options: list[str], words: str) -> None:
    assert words in problem("consensus", circle, *options, code=2)


def test_items_of_constraints_that_do_not_exist() -> None:
    table = "rank_Merlot,rank_Rioja,rank_Port\n1,2,3\n2,1,3\n"
    message = problem("consensus", "-", "--before", "Merlott > Port", stdin=table)
    assert "'Merlott', which is not an item; did you mean 'Merlot'?" in message


def test_mean_scores() -> None:
    table = "judge,score_Alpha,score_Beta\nAnn,9,7\nBob,2,3\nCid,6,7\n"
    found = run_json("consensus", "-", "--layout", "scores", "--method", "Range", stdin=table)
    assert [row["score"] for row in found["ranking"]] == pytest.approx([17 / 3, 17 / 3])
    assert [row["place"] for row in found["ranking"]] == [1, 1]


def test_long_tables_are_cut() -> None:
    table = ",".join(f"rank_i{i:03}" for i in range(60)) + "\n" + ",".join(map(str, range(1, 61))) + "\n"
    how = ("--layout", "positions", "--target", "rank_")
    for command in ("consensus", "describe"):
        shown = run(command, "-", *how, stdin=table).stdout
        assert "the first 20 of 60 rows; all of them: -o file.csv or --json" in shown
        assert "i019" in shown
        assert "i020" not in shown.split("How good")[0].split("Kendall's W")[0]
    assert len(run_json("consensus", "-", *how, stdin=table)["ranking"]) == 60


def test_an_item_can_be_left_out(tmp_path: Path) -> None:
    path = tmp_path / "drinks.csv"
    path.write_text("rank_tea,rank_milk,rank_juice\n" + "1,2,3\n3,1,2\n2,3,1\n1,3,2\n" * 3)
    found = run_json("consensus", str(path), "--ignore", "rank_milk")["ranking"]
    assert [(row["place"], row["item"]) for row in found] == [(1, "juice"), (1, "tea")]
    assert len(run_json("consensus", str(path))["ranking"]) == 3
