"""Differences of groups as dots with intervals."""

from __future__ import annotations

import numpy as np
import pytest

from rankwise import Rankings
from rankwise.analysis import compare_groups
from rankwise.plots import GroupDifferenceDisplay


def test_dots_are_the_differences_in_their_order() -> None:
    rng = np.random.default_rng(0)
    rankings = Rankings(rng.permuted(np.tile([1, 2, 3], (40, 1)), axis=1), items=["tea", "milk", "juice"])
    found = compare_groups(rankings, ["f", "m"] * 20, random_state=0)
    display = GroupDifferenceDisplay.from_result(found)
    assert display.title == "Mean ranks of f less those of m"
    (dots,) = display.dots_
    np.testing.assert_allclose(dots.get_xdata(), np.sort(found.items.difference[0]))
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert names == [rankings.items[i] for i in np.argsort(found.items.difference[0])]


def test_what_may_be_chance_is_hollow_and_unknown_items_are_last() -> None:
    display = GroupDifferenceDisplay(
        ["unknown", "sure", "unsure"],
        [[np.nan, -1, 1]],
        [[np.nan, -2, -1]],
        [[np.nan, -0.5, 3]],
        compared=["a"],
        against=["b"],
    ).plot()
    hollow = display.ax_.get_lines()[-1]
    assert hollow.get_markerfacecolor() == "white"
    assert np.isnan(hollow.get_xdata()).tolist() == [True, False, True]
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["sure", "unsure", "unknown"]


def test_wrong_shapes_and_results_are_refused() -> None:
    with pytest.raises(ValueError, match=r"must have the shape \(1, 2\)"):
        GroupDifferenceDisplay(["a", "b"], [1], [0], [2], compared=["x"], against=["y"])
    with pytest.raises(TypeError, match="give what compare_groups returns"):
        GroupDifferenceDisplay.from_result([1, 2])
