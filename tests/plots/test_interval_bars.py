"""Intervals of places: their ends, the dots, the numbers next to them."""

from __future__ import annotations

import numpy as np
import pytest

from rankwise import Rankings
from rankwise.aggregation import bootstrap_consensus
from rankwise.datasets import make_food_preferences
from rankwise.plots import RankIntervalDisplay


@pytest.fixture(scope="module")
def votes() -> Rankings:
    return make_food_preferences(60, sigma=0.5, random_state=0)[0]


def drawn(display: RankIntervalDisplay) -> list[tuple[float, float, float]]:
    """Both ends and the dot of each row, from the top."""
    ends = [(segment[0][0], segment[1][0]) for segment in display.bars_.get_segments()]
    return [(*pair, dot) for pair, dot in zip(ends, display.dots_.get_xdata(), strict=True)]


def test_bars_are_the_intervals_and_dots_the_consensus(votes: Rankings) -> None:
    found = bootstrap_consensus(votes, "borda", n_resamples=200, random_state=0)
    display = RankIntervalDisplay.from_intervals(found)
    order = np.argsort(found.positions, kind="stable")
    rows = zip(found.low[order], found.high[order], found.positions[order], strict=True)
    assert drawn(display) == list(rows)
    assert [text.get_text() for text in display.text_] == [found.intervals[item] for item in order]
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert names == [votes.items[item] for item in order]
    assert display.ax_.yaxis_inverted()  # the first row is at the top
    assert "95% intervals" in display.ax_.get_xlabel()


def test_rankings_are_drawn_again_as_bootstrap_consensus_does(votes: Rankings) -> None:
    options = {"n_resamples": 100, "level": 0.8, "random_state": 3}
    display = RankIntervalDisplay.from_rankings(votes, decode="copeland", **options)
    found = bootstrap_consensus(votes, "copeland", **options)
    np.testing.assert_array_equal(display.low, found.low)
    np.testing.assert_array_equal(display.high, found.high)
    assert display.level == 0.8


def test_the_dots_of_tied_items_lie_in_the_middle_of_their_places() -> None:
    found = bootstrap_consensus([[1, 1, 2]] * 12, "borda", n_resamples=20, random_state=0)
    assert drawn(RankIntervalDisplay.from_intervals(found)) == [(1, 2, 1.5), (1, 2, 1.5), (3, 3, 3)]


def test_many_items_are_named_in_part() -> None:
    places = np.arange(1.0, 121)
    display = RankIntervalDisplay(places, places, places, range(120), 0.95).plot()
    assert len(display.bars_.get_segments()) == 120
    assert 10 < len(display.ax_.get_yticklabels()) < 120
    assert display.text_ == []


def test_what_holds_no_intervals_is_refused(votes: Rankings) -> None:
    with pytest.raises(TypeError, match=r"intervals is a Rankings; .* RankIntervalDisplay.from_rankings"):
        RankIntervalDisplay.from_intervals(votes)
    with pytest.raises(ValueError, match="decode is 'best'"):
        RankIntervalDisplay.from_rankings(votes, decode="best")


def test_places_without_intervals() -> None:
    display = RankIntervalDisplay(np.array([2.0, 1.0, 1.0, 3.0]), None, None, list("abcd")).plot()
    assert display.bars_ is None
    assert display.title == "Place of each item in the consensus"
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["b", "c", "a", "d"]
    assert [text.get_text() for text in display.text_] == ["1", "1", "3", "4"]
    assert "interval" not in display.ax_.get_xlabel()
