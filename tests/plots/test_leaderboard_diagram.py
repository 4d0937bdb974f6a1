"""Critical differences: the example of the paper, and groups that hold no two rankers that differ."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from rankwise.model_selection import Leaderboard
from rankwise.plots import CriticalDifferenceDisplay
from rankwise.plots.leaderboard_diagram import critical_difference

PAPER = json.loads((Path(__file__).parents[1] / "golden" / "demsar_2006.json").read_text("utf-8"))


@pytest.fixture
def scores() -> dict[str, Any]:
    return dict(zip(PAPER["learners"], np.array(PAPER["auc"]).T, strict=True))


def ladder(n: int = 40) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {f"r{i}": rng.normal(0.4 * i, 1, n) for i in range(8)}


def test_mean_places_and_critical_difference_are_those_of_the_paper(scores: dict[str, Any]) -> None:
    display = CriticalDifferenceDisplay.from_scores(scores)
    found = dict(zip(display.names, display.mean_places, strict=True))
    assert [round(found[name], 3) for name in PAPER["learners"]] == PAPER["mean_places"]
    assert round(display.critical_difference, 2) == PAPER["critical_difference"]
    # The best and the worst are 1.18 apart, too close for Nemenyi's test.
    assert list(display.groups) == [(0, 3)]


def test_friedmans_test_is_that_of_the_paper_but_for_ties(scores: dict[str, Any]) -> None:
    places = np.array(PAPER["mean_places"])
    plain = 12 * 14 / (4 * 5) * ((places**2).sum() - 4 * 5**2 / 4)
    assert plain == pytest.approx(PAPER["chi_square"], abs=0.01)
    corrected = stats.friedmanchisquare(*scores.values())
    assert corrected.statistic > plain
    assert f"p = {corrected.pvalue:.2g}" in CriticalDifferenceDisplay.from_scores(scores).caption


@pytest.mark.parametrize(("k", "q"), [(int(k), q) for k, q in PAPER["q_05"].items()])
def test_critical_values_are_those_of_the_paper(k: int, q: float) -> None:
    # The table of the paper is a unit off in the last digit for seven learners.
    assert critical_difference(k, 10, 0.05) / np.sqrt(k * (k + 1) / 60) == pytest.approx(q, abs=1e-3)


@pytest.mark.parametrize("test", ["nemenyi", "wilcoxon"])
def test_groups_are_the_longest_runs_without_a_difference(test: Any) -> None:
    scores = ladder()
    display = CriticalDifferenceDisplay.from_scores(scores, test=test)
    table = [scores[name] for name in display.names]
    pairs = list(combinations(range(8), 2))
    if test == "nemenyi":
        places = display.mean_places
        differ = {(a, b): places[b] - places[a] >= display.critical_difference for a, b in pairs}
    else:
        raw = sorted((stats.wilcoxon(table[a] - table[b]).pvalue, (a, b)) for a, b in pairs)
        stepped = np.maximum.accumulate([p * (len(raw) - step) for step, (p, _) in enumerate(raw)])
        differ = {pair: p <= 0.05 for p, (_, pair) in zip(stepped, raw, strict=True)}
    free = [(a, b) for a, b in pairs if not any(differ[p] for p in combinations(range(a, b + 1), 2))]
    wanted = [(a, b) for a, b in free if not any((c <= a and b <= d and (c, d) != (a, b)) for c, d in free)]
    assert list(display.groups) == wanted
    assert len(wanted) > 1


def test_the_picture_shows_places_groups_and_difference() -> None:
    display = CriticalDifferenceDisplay.from_scores(ladder())
    feet = np.array([stem[0] for stem in display.stems_.get_segments()])
    scale = np.polyfit(display.mean_places, feet[:, 0], 1)  # inches per place, and inches at place 0
    np.testing.assert_allclose(np.polyval(scale, display.mean_places), feet[:, 0])
    for bar, (first, last) in zip(display.bars_.get_segments(), display.groups, strict=True):
        np.testing.assert_allclose(bar[:, 0], feet[[first, last], 0] + [-0.03, 0.03])
    ends = display.ruler_.get_xdata()
    assert (ends[1] - ends[0]) / scale[0] == pytest.approx(display.critical_difference)
    words = [f"{name}  {place:.2f}" for name, place in zip(display.names, display.mean_places, strict=True)]
    assert [text.get_text() for text in display.text_] == words
    for text, stem in zip(display.text_, display.stems_.get_segments(), strict=True):
        assert text.get_position()[1] == stem[-1][1]


def test_if_friedmans_test_finds_nothing_all_are_one_group() -> None:
    rng = np.random.default_rng(1)
    display = CriticalDifferenceDisplay.from_scores({name: rng.normal(size=10) for name in "abcd"}, test="wilcoxon")
    assert list(display.groups) == [(0, 3)]
    assert display.ruler_ is None
    same = CriticalDifferenceDisplay.from_scores({name: [1, 2, 3] for name in "abc"})
    assert list(same.groups) == [(0, 2)]
    np.testing.assert_array_equal(same.mean_places, [2, 2, 2])


def test_data_frames_are_taken(scores: dict[str, Any]) -> None:
    frame = CriticalDifferenceDisplay.from_scores(pd.DataFrame(scores))
    assert list(frame.names) == list(CriticalDifferenceDisplay.from_scores(scores).names)


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        ({"a": [1, 2], "b": [1, 2]}, {}, "scores of 2 rankers; give three or more"),
        ({"a": [1, 2], "b": [1, 2], "c": [1]}, {}, "one score for each data set"),
        ({"a": [1], "b": [1], "c": [1]}, {}, "on 1 data sets, too few"),
        ({"a": [1, 2], "b": [1, float("nan")], "c": [1, 3]}, {}, r"scores\['b'\]\[1\] is nan"),
        ({"a": [1, 2], "b": [1, 2], "c": [1, 3]}, {"test": "t"}, "test is 't'"),
        ({"a": [1, 2], "b": [1, 2], "c": [1, 3]}, {"alpha": 5}, "alpha is 5"),
    ],
)
def test_bad_input_is_named(scores: dict[str, Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CriticalDifferenceDisplay.from_scores(scores, **options)


def test_rankers_need_names() -> None:
    with pytest.raises(TypeError, match="scores is of type list; name the rankers"):
        CriticalDifferenceDisplay.from_scores([[1, 2], [3, 4]])


def test_leaderboards_of_several_data_sets_are_their_means() -> None:
    scores = ladder(5)
    boards = []
    for number in range(5):
        means = {name: float(values[number]) for name, values in scores.items()}
        order = sorted(means, key=means.__getitem__, reverse=True)
        sizes = np.ones(len(order))
        taus = np.array([[means[name]] for name in order])
        boards.append(Leaderboard(tuple(order), taus, taus[:, 0], sizes, sizes, np.ones(1), 5))
    found = CriticalDifferenceDisplay.from_leaderboards(boards)
    expected = CriticalDifferenceDisplay.from_scores(scores)
    assert dict(zip(found.names, found.mean_places, strict=True)) == dict(
        zip(expected.names, expected.mean_places, strict=True)
    )
    assert found.groups == expected.groups
    other = Leaderboard(("a",), np.ones((1, 1)), np.ones(1), np.ones(1), np.ones(1), np.ones(1), 5)
    with pytest.raises(ValueError, match="leaderboard 5 has the rankers a, the first"):
        CriticalDifferenceDisplay.from_leaderboards([*boards, other])
