"""What changes without a person, a group or an item."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

from rankwise import Rankings
from rankwise.aggregation import MarginOfVictory, copeland, margin_of_victory, sample_mallows
from rankwise.analysis import consensus, robustness
from rankwise.analysis.people import winner_robustness
from rankwise.data import Survey

NAN, INF = np.nan, np.inf


def test_winners_come_in_the_order_of_the_items() -> None:
    found = robustness(Rankings([[1, 1, 2, 1]] * 4, ["d", "c", "b", "a"]), rules=["borda"])
    assert found.winners == ("d", "c", "a")
    assert found.sentences[0].startswith("d, c and a win together by Kemeny.")
    assert {margin.winners for margin in found.margins} == {("d", "c", "a")}
    assert found.people is not None
    assert {one.winners for one in found.people} == {("d", "c", "a")}
    assert found.items_left_out is not None
    assert [one.winners for one in found.items_left_out] == [("c", "a"), ("d", "a"), ("d", "c", "a"), ("d", "c")]


def test_people_groups_and_items_are_left_out_one_by_one() -> None:
    rng = np.random.default_rng(0)
    n_changed = 0
    for decode in ("borda", "kemeny", "copeland", "plurality", "instant-runoff"):
        rows = np.array([rng.permutation(4) + 1.0 for _ in range(7)])
        labels = ["a", "a", "b", "b", "b", None, "c"]
        found = robustness(rows, by=labels, decode=decode, rules=[], time_limit=1)  # type: ignore[arg-type]
        assert found.people is not None
        assert found.groups is not None
        assert found.items_left_out is not None
        assert [group.name for group in found.groups] == ["a", "b", "c"]
        assert [group.n_people for group in found.groups] == [2, 3, 1]
        left = [np.delete(rows, i, axis=0) for i in range(7)]
        left += [rows[[label != group for label in labels]] for group in "abc"]
        for part, rest in zip([*found.people, *found.groups], left, strict=True):
            expected = consensus(rest, decode, intervals=False)  # type: ignore[call-overload]
            assert set(part.winners) == set(expected.winners)
            assert part.winner_changes == (set(expected.winners) != set(found.winners))
            n_changed += part.winner_changes
        for item, part in enumerate(found.items_left_out):
            others = [i for i in range(4) if i != item]
            rest = Rankings(rows, list(range(4))).select(others)
            assert set(part.winners) == set(consensus(rest, decode, intervals=False).winners)  # type: ignore[call-overload]
    assert n_changed > 0


def test_the_order_of_others_is_compared_without_the_item() -> None:
    # A circle of majorities a > b > c > a: without c, a beats b; with c, all three tie.
    votes = Rankings([[1, 2, 3], [2, 3, 1], [3, 1, 2]], ["a", "b", "c"])
    found = robustness(votes, decode="copeland", rules=[])
    assert found.items_left_out is not None
    assert [part.winners for part in found.items_left_out] == [("b",), ("c",), ("a",)]
    assert all(part.order_changes and part.winner_changes for part in found.items_left_out)
    # A strict order of majorities keeps its order without any of its items.
    rows = [[1, 2, 3, 4], [1, 2, 4, 3], [2, 1, 3, 4]]
    assert copeland(rows).tolist() == [1, 2, 3, 4]
    stable = robustness(rows, decode="copeland", rules=[])
    assert stable.items_left_out is not None
    assert not any(part.order_changes or part.winner_changes for part in stable.items_left_out)
    assert "Whichever other item is left out, the winner stays, and so does the whole order." in stable.sentence


def test_influence_is_the_lead_with_and_without() -> None:
    rng = np.random.default_rng(1)
    rows = sample_mallows(np.arange(1.0, 5), 0.8, 9, rng)

    def lead(part: np.ndarray, decode: str, winner: int) -> float:
        if decode == "plurality":
            points = np.sum(part == 1, axis=0).astype(float)
            return float(min(points[winner] - np.delete(points, winner)))
        if decode == "borda":
            points = np.sum((4 - part) / 3, axis=0)
            return float(min(points[winner] - np.delete(points, winner)))
        rivals = [i for i in range(4) if i != winner]
        return min(float(np.sum(np.sign(part[:, i] - part[:, winner]))) for i in rivals)

    for decode in ("plurality", "borda", "kemeny"):
        found = robustness(rows, decode=decode, rules=[], time_limit=1)  # type: ignore[arg-type]
        (winner,) = found.winners
        assert isinstance(winner, int)
        assert found.lead == pytest.approx(lead(rows, decode, winner))
        for i in range(9):
            rest = lead(np.delete(rows, i, axis=0), decode, winner)
            assert found.influence[i] == pytest.approx(found.lead - rest)


def test_pivotal_people_are_named() -> None:
    votes = [[1, 2, 3], [1, 2, 3], [1, 3, 2], [2, 1, 3], [3, 1, 2]]
    found = robustness(votes, ["Ann", "Ben", "Cem", "Dora", "Eli"])
    assert found.pivotal.tolist() == [0, 1, 2]
    assert "First place hangs on any of 3 votes: without Ann, Ben or Cem it changes." in found.sentence
    kemeny = [margin for margin in found.margins if margin.rule == "kemeny"]
    assert [(margin.how, margin.lower, margin.upper) for margin in kemeny] == [("removal", 1, 1), ("change", 1, 1)]
    numbers = found.as_dict()
    assert numbers["margins"][0]["people"] == ["Ann"]
    assert numbers["without_people"][0]["winners"] == ["0", "1"]
    assert found.to_frame(backend="pandas").shape == (8, 6)
    assert found.tables()[0].rows[0][:5] == ["Kemeny", "0", "removed", "1", "exact"]


def test_counted_people_leave_one_by_one() -> None:
    rows, weights = [[1, 2, 3], [2, 1, 3], [3, 2, 1]], [4, 3, 1]
    once = robustness(Rankings(rows, weights=weights), decode="borda", rules=[])
    each = robustness(np.repeat(rows, weights, axis=0), decode="borda", rules=[])
    first = np.cumsum(weights) - weights
    assert once.n_people == each.n_people == 8
    assert once.people is not None
    assert each.people is not None
    assert [part.winners for part in once.people] == [each.people[i].winners for i in first]
    np.testing.assert_allclose(once.influence, each.influence[first])
    weighted = robustness(Rankings(rows, weights=[1.5, 1.2, 0.4]), decode="borda", rules=[])
    assert weighted.n_people == 3
    assert "% of the weight" in str(weighted)


def test_few_alike_and_silent_people() -> None:
    for votes in ([[1, 2, 3]], [[1, 2], [2, 1]], [[1, 2, 3]] * 5, [[1, 2], [2, 1], [NAN, NAN], [INF, INF]]):
        found = robustness(votes, time_limit=2)
        assert "nan" not in str(found).lower()
        assert found.margins[0].exact
    silent = robustness([[1, 2, 3], [NAN, NAN, NAN], [1, 2, NAN]], time_limit=2)
    assert silent.people is not None
    assert not silent.people[1].winner_changes
    assert silent.people[1].n_people == 0
    assert "no margin by plurality" in silent.notes[0]
    with pytest.raises(ValueError, match="compares two items"):
        robustness([[NAN, NAN]])
    with pytest.raises(ValueError, match="by has 1 labels, but there are 2 rankings"):
        robustness([[1, 2], [2, 1]], by=["a"])
    with pytest.raises(ValueError, match="there are 1 names, but 2 rankings"):
        robustness([[1, 2], [2, 1]], ["a"])
    with pytest.raises(ValueError, match="51 groups, more than 50"):
        robustness([[1, 2]] * 51, by=range(51))


class Ticking:
    """A clock that goes on by a hundredth of a second whenever it is read, however fast the machine is."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 0.01
        return self.now


def test_the_time_limit_is_for_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, limits, begun = Ticking(), [], []
    module = import_module("rankwise.analysis.robustness")
    for name in ("rankwise.analysis.robustness", "rankwise.aggregation._margin_search"):
        monkeypatch.setattr(import_module(name), "monotonic", clock)
    outcome = module.without.outcome

    def timed_margin(*arguments: Any, time_limit: float) -> MarginOfVictory:
        limits.append(time_limit)
        return margin_of_victory(*arguments, time_limit=time_limit)

    def timed_outcome(rankings: Rankings, rule: str, seconds: float) -> Any:
        begun.append((clock.now, seconds))
        clock.now += 0.1  # so long it takes
        return outcome(rankings, rule, seconds)

    monkeypatch.setattr(module, "margin_of_victory", timed_margin)
    monkeypatch.setattr(module.without, "outcome", timed_outcome)
    rng = np.random.default_rng(5)
    rows = np.array([rng.permutation(15) + 1.0 for _ in range(12)])
    found = robustness(rows, list("ABCDEFGHIJKL"), time_limit=2.5)
    assert len(limits) == 8  # removed and changed votes by four rules
    assert sum(limits) <= 0.75 * 2.5  # three quarters of the time
    assert found.people is not None
    assert found.items_left_out is None
    assert found.notes[-1] == (
        "items were not left out one by one: time was over after 2.5 seconds; give a larger time_limit for more"
    )
    assert 12 < len(begun) < 1 + 12 + 15  # the first consensus, all people, some items
    (_, first), *others = begun
    assert first == 2.5
    end = 2.6 + 0.01  # the clock was read once before, after the first consensus
    assert all(now < end and 0 < seconds <= end - now for now, seconds in others)
    assert all(margin.lower <= margin.upper < 12 for margin in found.margins)
    sentences = " ".join(found.sentences).split(". ")
    assert max(len(sentence.split()) for sentence in sentences) <= 20


def test_a_margin_that_was_not_found_is_not_spoken_of(monkeypatch: pytest.MonkeyPatch) -> None:
    def removal_only(data: Rankings, rule: Any, how: Any, **options: Any) -> MarginOfVictory:
        if how == "change":
            raise ValueError("who wins takes too long. Give more time.")
        return margin_of_victory(data, rule, how, **options)

    monkeypatch.setattr(import_module("rankwise.analysis.robustness"), "margin_of_victory", removal_only)
    found = robustness([[1, 2, 3], [1, 2, 3], [2, 1, 3]], rules=[])
    assert found.sentences[0] == "0 wins by Kemeny. Removing 1 vote of 3 alters that."
    assert found.notes == ("no margin by Kemeny if votes are changed: who wins takes too long",)
    assert "removed" in str(found)


def test_one_changed_vote_may_decide_where_no_removed_one_does() -> None:
    found = robustness([[1, 2, 3]] * 3 + [[2, 1, 3]], rules=[])
    assert "and so does changing 1 vote. Leaving out any one vote does not change the winner." in found.sentence


def test_the_winner_left_out_is_no_winner_that_stays() -> None:
    table = robustness([[1, 2, 3]] * 5, rules=[]).tables()[1]
    assert table.title == "Without an item"
    assert [row[:3] for row in table.rows] == [["0", "1", "-"], ["1", "0", "stays"], ["2", "0", "stays"]]


def test_who_wins_is_not_said_of_the_other_items_of_a_circle() -> None:
    votes = Rankings([[1, 2, 3], [2, 3, 1], [3, 1, 2]], ["a", "b", "c"])
    sentences = robustness(votes, decode="copeland", rules=[]).sentences
    assert sentences[-2:] == ["Without the item a, b would win.", "The winner also changes without b or c."]


def test_winners_who_tie_are_said_to_win_together() -> None:
    votes = Rankings([[1, 2, 3], [1, 2, 3], [2, 3, 1], [2, 3, 1]], ["a", "b", "c"])
    sentences = robustness(votes, decode="copeland", rules=[]).sentences
    assert sentences[0].startswith("a and c win together by Copeland.")
    assert sentences[-1] == "Without the item a, b and c would win together."


@pytest.mark.parametrize(("n", "words"), [(3, "rater 5 or rater 6 it"), (4, "rater 5 or 3 more it")])
def test_the_votes_that_decide_are_named_up_to_six(n: int, words: str) -> None:
    found = robustness([[1, 2, 3]] * n + [[2, 1, 3]] * n, rules=[])
    assert words in found.sentence


def test_many_people_and_items_are_said_to_be_too_many() -> None:
    rng = np.random.default_rng(2)
    found = robustness(sample_mallows(np.arange(1.0, 41), 0.2, 70, rng), decode="borda", rules=["borda"])
    assert found.people is found.items_left_out is None
    assert found.pivotal.tolist() == []
    assert len(found.notes) == 2
    assert found.margins[0].exact
    # Kemeny's winner of so many items is not proven again and again, and the rest is said.
    large = robustness(sample_mallows(np.arange(1.0, 61), 0.5, 5, rng), rules=["borda"])
    assert large.notes[0].startswith("no margin by Kemeny: who wins among 60 items by kemeny takes too long")
    assert {margin.rule for margin in large.margins} == {"borda"}
    assert "wins by Kemeny." in large.sentences[-1]


def test_an_arbitrary_order_of_parts_is_said() -> None:
    nan = np.nan
    apart = [[1, 2, nan, nan, nan], [nan, nan, 1, 2, nan], [1, 2, nan, nan, nan], [nan, nan, 2, 1, nan]]
    notes = robustness(apart).notes
    assert notes[-1].startswith("no ranking compares these 2 groups of items with each other: 0, 1; 2, 3. Their order")
    assert not any("arbitrary" in note for note in robustness([*apart, [nan, 1, 2, nan, nan]]).notes)


def test_a_rule_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="'x' is not a rule; choose one of 'kemeny', 'borda'"):
        robustness(Rankings([[1, 2, 3], [2, 1, 3]]), decode="x")  # type: ignore[arg-type]


def test_a_report_names_voters_by_their_ids() -> None:
    positions = sample_mallows(np.arange(1, 5), 0.3, 12, random_state=0)
    survey = Survey(Rankings(positions), id=np.arange(101, 113))
    found = winner_robustness(survey.rankings, survey, None, {})
    assert found is not None
    assert found.people is not None
    assert {one.name for one in found.people} == {str(number) for number in range(101, 113)}
