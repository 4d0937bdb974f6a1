"""Mean ranks as dots: their order, intervals, groups and numbers."""

from __future__ import annotations

import numpy as np
import pytest

from rankwise.plots import MeanRankDisplay

NAN = float("nan")
DRINKS = ["tea", "milk", "juice"]


def test_the_best_item_is_at_the_top_and_numbers_stand_beside() -> None:
    display = MeanRankDisplay(DRINKS, [2.5, 1.25, NAN], [2.0, 1.0, NAN], [3.0, 1.5, NAN]).plot()
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["milk", "tea", "juice"]
    assert display.ax_.yaxis_inverted()
    assert [text.get_text() for text in display.text_] == ["1.25", "2.50"]
    assert display.dots_[0].get_xdata()[:2].tolist() == [1.25, 2.5]
    assert "95% intervals" in display.ax_.get_xlabel()
    assert display.ax_.get_legend() is None


def test_groups_have_a_legend_and_their_own_rows_of_dots() -> None:
    means = np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.5]])
    display = MeanRankDisplay(DRINKS, means, means, means, groups=["young", "old"]).plot()
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["tea", "milk", "juice"]  # ties in order
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["young", "old"]
    heights = [dots.get_ydata() for dots in display.dots_]
    assert (heights[0] < heights[1]).all()
    assert display.text_ == []
    assert display.title == "Mean rank of 3 items, in 2 groups"


def test_shapes_must_fit() -> None:
    with pytest.raises(ValueError, match=r"shape \(1, 3\): a row per group, a column per item"):
        MeanRankDisplay(DRINKS, [1.0, 2.0], [1.0, 2.0], [1.0, 2.0])
