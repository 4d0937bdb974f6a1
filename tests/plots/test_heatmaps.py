"""The heatmaps: the numbers behind the colors, the numbers in the cells, and files that can be read."""

from __future__ import annotations

import io
import itertools
import subprocess
import sys
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given, settings

from rankwise import Rankings
from rankwise.plots import PairwisePreferenceDisplay, PositionHeatmapDisplay
from tests.strategies import position_matrices, random_positions

DISPLAYS = [PairwisePreferenceDisplay, PositionHeatmapDisplay]
NAN, INF = float("nan"), float("inf")


@pytest.fixture
def drinks() -> Rankings:
    """Milk wins; tea and juice are tied once; nobody ever ranks water."""
    positions = [[2, 1, 3, NAN], [2, 1, 2, NAN], [1, 2, INF, NAN], [INF, 1, INF, NAN]]
    return Rankings(positions, items=["tea", "milk", "juice", "water"], weights=[1, 1, 1, 2])


def shown(display: Any) -> np.ndarray:
    """The shares as the mesh holds them, NaN where the cell is gray."""
    return np.ma.filled(display.mesh_.get_array().astype(float), np.nan).reshape(display.shares.shape)


def words_at(display: Any, row: int, column: int) -> list[str]:
    """What is written in a cell, from top to bottom."""
    inside = [t for t in display.text_ if t.get_position()[0] == column and abs(t.get_position()[1] - row) < 0.5]
    return [t.get_text() for t in sorted(inside, key=lambda t: t.get_position()[1])]


def tick_names(axis: Any) -> list[str]:
    return [label.get_text() for label in axis.get_ticklabels()]


def test_pairwise_shares_and_counts(drinks: Rankings) -> None:
    display = PairwisePreferenceDisplay.from_rankings(drinks)
    assert list(display.items) == ["milk", "tea", "juice", "water"]
    # milk before tea: weight 4 of 5; milk before juice: all 5; tea before juice: weight 2 of 2 (tied, unlisted).
    expected = np.array([[NAN, 0.8, 1.0, NAN], [0.2, NAN, 1.0, NAN], [0.0, 0.0, NAN, NAN], [NAN] * 4])
    np.testing.assert_allclose(display.shares, expected)
    np.testing.assert_allclose(shown(display), expected)
    np.testing.assert_array_equal(display.counts[0], [0, 5, 5, 0])
    assert display.counts[1, 2] == 2


def test_pairwise_cells_say_share_and_number_of_rankings(drinks: Rankings) -> None:
    display = PairwisePreferenceDisplay.from_rankings(drinks)
    assert words_at(display, 0, 1) == ["80%", "5"]
    assert words_at(display, 1, 2) == ["100%", "2"]
    assert words_at(display, 0, 3) == ["0"]  # gray: nobody orders the pair
    assert words_at(display, 2, 2) == []
    assert tick_names(display.ax_.xaxis) == tick_names(display.ax_.yaxis) == ["milk", "tea", "juice", "water"]


def test_an_even_split_has_the_middle_color() -> None:
    display = PairwisePreferenceDisplay.from_rankings([[1, 2], [2, 1]])
    red, green, blue, _ = display.mesh_.to_rgba(0.5)
    assert min(red, green, blue) > 0.95
    assert display.mesh_.get_clim() == (0, 1)


def test_position_shares_with_unlisted_and_missing(drinks: Rankings) -> None:
    display = PositionHeatmapDisplay.from_rankings(drinks)
    assert list(display.columns) == [1, 2, 3, "unlisted", "missing"]
    expected = np.array([[0.8, 0.2, 0, 0, 0], [0.2, 0.4, 0, 0.4, 0], [0, 0.2, 0.2, 0.6, 0], [0, 0, 0, 0, 1]])
    np.testing.assert_allclose(display.shares, expected)
    np.testing.assert_allclose(shown(display), expected)
    assert words_at(display, 1, 3) == ["40%"]
    assert tick_names(display.ax_.xaxis) == ["1", "2", "3", "unlisted", "missing"]
    assert display.mesh_.get_clim() == (0, 0.8)  # the missing column does not wash out the others


def test_full_rankings_have_no_column_for_unlisted_or_missing() -> None:
    assert list(PositionHeatmapDisplay.from_rankings([[1, 2, 3]]).columns) == [1, 2, 3]


@settings(max_examples=25)  # a drawing each
@given(position_matrices())
def test_laws_of_the_shares(positions: np.ndarray) -> None:
    figure = plt.figure()
    pairs = PairwisePreferenceDisplay.from_rankings(positions, ax=figure.add_subplot(121))
    places = PositionHeatmapDisplay.from_rankings(positions, ax=figure.add_subplot(122))
    plt.close(figure)
    np.testing.assert_allclose((pairs.shares + pairs.shares.T)[pairs.counts > 0], 1)
    np.testing.assert_array_equal(np.isnan(pairs.shares), pairs.counts == 0)
    np.testing.assert_allclose(places.shares.sum(axis=1), 1)


@pytest.mark.parametrize("display", DISPLAYS)
def test_many_items_are_drawn_without_numbers_and_with_few_labels(display: Any) -> None:
    positions = random_positions(np.random.default_rng(0), 5, 100, "full")
    drawn = display.from_rankings(positions)
    assert drawn.text_ == []
    drawn.figure_.draw_without_rendering()
    for axis in (drawn.ax_.xaxis, drawn.ax_.yaxis):
        boxes = [label.get_window_extent() for label in axis.get_ticklabels()]
        assert len(boxes) > 5
        assert not any(a.overlaps(b) for a, b in itertools.pairwise(boxes))
    file = io.BytesIO()
    drawn.figure_.savefig(file, format="svg")
    assert len(file.getvalue()) < 500_000


@pytest.mark.parametrize("display", DISPLAYS)
@pytest.mark.parametrize("form", ["png", "svg", "pdf"])
def test_names_are_text_and_never_formulas(display: Any, form: str) -> None:
    # "$\bad{$" would be an error of the formula parser.
    drawn = display.from_rankings(Rankings([[1, 2, 3]], items=[r"$\bad{$", "<script>", "é" * 50]))
    file = io.BytesIO()
    drawn.figure_.savefig(file, format=form)
    assert len(file.getvalue()) > 1000
    assert tick_names(drawn.ax_.yaxis) == [r"$\bad{$", "<script>", "é" * 23 + "…"]


@pytest.mark.parametrize("display", DISPLAYS)
def test_items_that_nobody_compares_are_drawn_last(display: Any) -> None:
    assert list(display.from_rankings(Rankings([[NAN, 2, 1]], items=["a", "b", "c"])).items) == ["c", "b", "a"]
    assert list(display.from_rankings(Rankings([[NAN, 1, 1]], items=["a", "b", "c"])).items) == ["b", "c", "a"]


@pytest.mark.parametrize("display", DISPLAYS)
@pytest.mark.parametrize("rankings", [Rankings([[1, 2]], weights=[0]), Rankings(np.empty((0, 2)))])
def test_no_rankings_are_an_error(display: Any, rankings: Rankings) -> None:
    with pytest.raises(ValueError, match="no ranking of positive weight"):
        display.from_rankings(rankings)


def test_where_nothing_is_listed_a_share_of_0_has_the_lightest_color() -> None:
    display = PositionHeatmapDisplay.from_rankings([[INF, INF], [INF, INF]])
    assert display.mesh_.get_clim() == (0, 1)
    np.testing.assert_array_equal(display.shares, [[0, 1], [0, 1]])


def test_columns_apart_are_named_however_many_there_are() -> None:
    positions = random_positions(np.random.default_rng(0), 5, 100, "full")
    positions[:, :10] = INF
    positions[:, 10:12] = NAN
    names = tick_names(PositionHeatmapDisplay.from_rankings(positions).ax_.xaxis)
    assert names[-2:] == ["unlisted", "missing"]
    assert len(names) < 40


@pytest.mark.parametrize("display", DISPLAYS)
def test_numbers_are_left_out_of_cells_that_are_too_small(display: Any) -> None:
    positions = random_positions(np.random.default_rng(0), 5, 12, "full")
    assert display.from_rankings(positions).text_
    assert display.from_rankings(positions, ax=plt.figure(figsize=(3, 3)).add_subplot()).text_ == []


@pytest.mark.parametrize("display", DISPLAYS)
def test_a_title_of_the_user_is_the_only_one(display: Any, drinks: Rankings) -> None:
    ax = display.from_rankings(drinks).ax_
    ax.set_title("mine")
    assert [ax.get_title(loc) for loc in ("left", "center", "right")] == ["", "mine", ""]


def test_importing_the_displays_leaves_matplotlib_alone() -> None:
    code = "import sys, rankwise.plots; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_weights_are_no_numbers_of_rankings() -> None:
    votes = np.array([[1, 2], [2, 1]])
    for weights, words in (([1, 2], "share, and number of rankings"), ([0.5, 2], "share, and weight of the rankings")):
        axes = PairwisePreferenceDisplay.from_rankings(Rankings(votes, weights=weights)).ax_
        assert axes.get_title() == words
