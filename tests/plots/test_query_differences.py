"""Two rankers, query by query."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rankwise.model_selection import CrossValidation, compare
from rankwise.plots import ComparisonDisplay, QueryComparisonDisplay

NAN = float("nan")


def test_differences_are_sorted_and_counted() -> None:
    rng = np.random.default_rng(0)
    new, old = rng.random(50).round(1), rng.random(50).round(1)
    display = QueryComparisonDisplay.from_results({"new": new, "old": old})
    falling = np.sort(new - old)[::-1]
    np.testing.assert_allclose(display.won_.get_data().values, falling.clip(min=0))
    np.testing.assert_allclose(display.lost_.get_data().values, falling.clip(max=0))
    assert display.mean_.get_ydata()[0] == pytest.approx((new - old).mean())
    found = compare({"new": new, "old": old}, random_state=0)
    assert (display.wins, display.ties, display.losses) == (found.wins[0], found.ties[0], found.losses[0])
    words = [text.get_text() for text in display.text_]
    assert words[0] == f"new better: {found.wins[0]}"
    assert words[1].startswith(f"{found.ties[0]} equal, mean {found.difference[0]:+.3f}")
    assert words[2] == f"old better: {found.losses[0]}"


def test_cross_validations_are_compared_by_a_metric_they_have() -> None:
    queries, seconds = np.arange(3), np.zeros(1)
    results = {
        name: CrossValidation({}, queries, {"ndcg@10": values, "map": 1 - values}, seconds)
        for name, values in {"new": np.array([0.5, 1.0, NAN]), "old": np.array([0.25, 1.0, 0.5])}.items()
    }
    display = QueryComparisonDisplay.from_results(results)
    assert display.differences.tolist() == [0.25, 0.0]  # the third query has no value
    assert display.ax_.get_ylabel() == "difference of ndcg@10"
    assert QueryComparisonDisplay.from_results(results, "map").differences.tolist() == [0.0, -0.25]
    with pytest.raises(ValueError, match="was not scored by 'mrr'"):
        QueryComparisonDisplay.from_results(results, "mrr")


@pytest.mark.parametrize("difference", [0.3, 0.0, -0.3])
def test_words_stay_clear_of_the_differences(difference: float) -> None:
    display = QueryComparisonDisplay(np.full(20, difference), "new", "old", "map").plot()
    display.figure_.draw_without_rendering()
    invert = display.ax_.transData.inverted()
    for text in display.text_:
        (_, bottom), (_, top) = invert.transform(text.get_window_extent().get_points())
        assert bottom > max(difference, 0) or top < min(difference, 0)


@pytest.mark.parametrize(
    ("results", "message"),
    [
        ({"a": [1, 2]}, "results is 1; name two rankers"),
        ([[1, 2], [1, 2]], "results is a list; name two rankers"),
        ({"a": [1, 2], "b": [1]}, "one value for each query"),
        ({"a": [1, NAN], "b": [NAN, 1]}, "no query has a value for both"),
    ],
)
def test_bad_input_is_named(results: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        QueryComparisonDisplay.from_results(results)


def test_mean_differences_are_those_of_the_comparison() -> None:
    values = {"new": [0.9, 0.8, 0.7, 0.9], "old": [0.7, 0.7, 0.6, 0.8], "odd": [0.9, 0.1, 0.9, 0.5]}
    found = compare(values, "map", random_state=0)
    display = ComparisonDisplay(found).plot()
    lines = display.ax_.get_lines()
    assert [line.get_xdata()[0] for line in lines[1:6:2]] == found.difference.tolist()
    ends = [tuple(line.get_xdata()) for line in lines[0:6:2]]
    assert ends == list(zip(found.low.tolist(), found.high.tolist(), strict=True))
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["new - old", "new - odd", "old - odd"]
    assert [line.get_markerfacecolor() != "white" for line in lines[1:6:2]] == (
        (found.low > 0) | (found.high < 0)
    ).tolist()
