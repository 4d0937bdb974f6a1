"""What every picture owes: given axes, letters that can be read, names that are names."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

import rankwise.plots
from rankwise import Rankings
from rankwise.label_ranking import RankingTree
from rankwise.model_selection import compare
from rankwise.plots import (
    ComparisonDisplay,
    ConsensusDisplay,
    CriticalDifferenceDisplay,
    DriversDisplay,
    EmbeddingDisplay,
    FeatureEffectDisplay,
    FeatureImportanceDisplay,
    GramMatrixDisplay,
    GroupDifferenceDisplay,
    MeanRankDisplay,
    NoiseCurveDisplay,
    PairExplanationDisplay,
    PairwiseCalibrationDisplay,
    PairwisePreferenceDisplay,
    PositionHeatmapDisplay,
    PruningPathDisplay,
    QueryComparisonDisplay,
    RankingTreeDisplay,
    RankIntervalDisplay,
    RaterMapDisplay,
    ScreeningDisplay,
    SegmentDisplay,
)

# An error of the formula parser, a name that legends would hide, a long one, and one that is neither.
NAMES = [r"$\bad{$", "_hidden_name", "a name that goes on and on and on", "<b>&amp;"]
RNG = np.random.default_rng(0)
RANKINGS = Rankings(RNG.permuted(np.tile([1, 2, 3, 4], (30, 1)), axis=1), items=NAMES)
CLASSES = np.array(NAMES)[RNG.integers(0, 4, 30)]
FEATURES = pd.DataFrame(RNG.normal(size=(30, 4)), columns=NAMES)
TREE = RankingTree(max_depth=2).fit(FEATURES, RANKINGS)
GRAM = np.corrcoef(RANKINGS.positions)

DISPLAYS: dict[type, Any] = {
    ConsensusDisplay: lambda ax: ConsensusDisplay.from_rankings(RANKINGS, ax=ax),
    CriticalDifferenceDisplay: lambda ax: CriticalDifferenceDisplay.from_scores(
        {name: RNG.random(20) + place for place, name in enumerate(NAMES)}, ax=ax
    ),
    DriversDisplay: lambda ax: DriversDisplay(NAMES, *RNG.random((4, 4))).plot(ax),
    FeatureEffectDisplay: lambda ax: FeatureEffectDisplay(
        NAMES[0], NAMES[:3], NAMES, *(2 + RNG.random((1, 3, 4)) + [[[0]], [[-1]], [[1]]])
    ).plot(ax),
    EmbeddingDisplay: lambda ax: EmbeddingDisplay.from_gram(GRAM, classes=CLASSES, ax=ax),
    FeatureImportanceDisplay: lambda ax: FeatureImportanceDisplay.from_estimator(TREE, ax=ax),
    GramMatrixDisplay: lambda ax: GramMatrixDisplay.from_gram(GRAM, classes=CLASSES, ax=ax),
    GroupDifferenceDisplay: lambda ax: GroupDifferenceDisplay(
        NAMES, *(np.arange(8).reshape(2, 4) / 3 + x for x in (-1, -2, 0)), compared=NAMES[:2], against=NAMES[2:]
    ).plot(ax),
    SegmentDisplay: lambda ax: SegmentDisplay(
        NAMES, np.arange(8).reshape(2, 4) / 3 + 1, np.arange(4) + 1, ["a", "b"], [0.6, 0.4]
    ).plot(ax),
    MeanRankDisplay: lambda ax: MeanRankDisplay(
        NAMES, *(np.arange(8).reshape(2, 4) / 3 + x for x in (2, 1, 3)), groups=NAMES[:2]
    ).plot(ax),
    NoiseCurveDisplay: lambda ax: NoiseCurveDisplay.from_scores(
        [0, 1], {name: RNG.random((2, 3)) for name in NAMES}, level_name=NAMES[0], ax=ax
    ),
    PairExplanationDisplay: lambda ax: PairExplanationDisplay.from_estimator(
        TREE, FEATURES[:1], NAMES[0], NAMES[2], ax=ax
    ),
    PairwiseCalibrationDisplay: lambda ax: PairwiseCalibrationDisplay.from_estimator(TREE, FEATURES, RANKINGS, ax=ax),
    PairwisePreferenceDisplay: lambda ax: PairwisePreferenceDisplay.from_rankings(RANKINGS, ax=ax),
    PositionHeatmapDisplay: lambda ax: PositionHeatmapDisplay.from_rankings(RANKINGS, ax=ax),
    PruningPathDisplay: lambda ax: PruningPathDisplay.from_estimator(TREE, FEATURES, RANKINGS, ax=ax),
    ComparisonDisplay: lambda ax: ComparisonDisplay(
        compare({name: RNG.random(20) for name in NAMES[:3]}, random_state=0)
    ).plot(ax),
    QueryComparisonDisplay: lambda ax: QueryComparisonDisplay.from_results(
        {name: RNG.random(20) for name in NAMES[:2]}, ax=ax
    ),
    RankIntervalDisplay: lambda ax: RankIntervalDisplay.from_rankings(RANKINGS, n_resamples=20, random_state=0, ax=ax),
    RaterMapDisplay: lambda ax: RaterMapDisplay(
        RNG.normal(size=(4, 2)),
        NAMES,
        np.array([0.5, 0.2]),
        consensus=np.zeros(2),
        cliques=[0, 1, 1, 0],
        outliers=[True, False, False, False],
    ).plot(ax),
    RankingTreeDisplay: lambda ax: RankingTreeDisplay.from_estimator(TREE, ax=ax),
    ScreeningDisplay: lambda ax: ScreeningDisplay.from_features(
        FEATURES, FEATURES.iloc[:, 0] - FEATURES.iloc[:, 1] + FEATURES.iloc[:, 2] ** 2, alpha=1, ax=ax
    ),
}


def words(display: Any) -> list[Text]:
    """All that is written, and seen: not the ticks beyond the ends of an axis, which are never drawn."""
    display.figure_.draw_without_rendering()
    hidden = set()
    for axis in [axis for ax in display.figure_.axes for axis in (ax.xaxis, ax.yaxis)]:
        low, high = sorted(axis.get_view_interval())
        for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
            if not low <= tick.get_loc() <= high or not axis.get_visible() or not axis.axes.axison:
                hidden |= {tick.label1, tick.label2}
    texts = display.figure_.findobj(lambda artist: isinstance(artist, Text) and artist not in hidden)
    return [text for text in texts if text.get_text().strip() and text.get_visible()]


@pytest.fixture(params=list(DISPLAYS), ids=lambda kind: kind.__name__)
def draw(request: pytest.FixtureRequest) -> Any:
    return DISPLAYS[request.param]


def test_every_display_is_looked_at() -> None:
    assert {kind.__name__ for kind in DISPLAYS} == set(rankwise.plots.__all__)


def test_draws_on_given_axes_and_again_elsewhere(draw: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plt, "show", lambda: pytest.fail("a display shows nothing by itself"))
    _, (left, right) = plt.subplots(1, 2)
    display = draw(left)
    assert display.ax_ is left
    assert display.figure_ is left.figure
    assert display.plot(right) is display
    assert display.ax_ is right
    assert len(plt.get_fignums()) == 1


def test_words_can_be_read_in_print_and_names_are_names(draw: Any) -> None:
    display = draw(None)
    texts = words(display)
    assert display.figure_.get_size_inches()[0] <= 7  # of a page
    assert min(text.get_fontsize() for text in texts) >= 9
    if draw not in (DISPLAYS[PairwiseCalibrationDisplay], DISPLAYS[PruningPathDisplay]):  # these name nothing
        assert any("$" in text.get_text() for text in texts)
    page = display.figure_.bbox.padded(1)
    # Of an annotation the words alone, without the line that leads from them.
    boxes = [(text.get_text(), Text.get_window_extent(text)) for text in texts]
    assert [text for text, box in boxes if not (page.containsx(box.x0) and page.containsx(box.x1))] == []
    assert [text for text, box in boxes if not (page.containsy(box.y0) and page.containsy(box.y1))] == []
    # Boxes of letters are larger than their ink: a pixel or two do not matter.
    smaller = [(text, box.padded(-2)) for text, box in boxes]
    assert [(a, b) for (a, x), (b, y) in itertools.combinations(smaller, 2) if x.overlaps(y)] == []


def test_pictures_say_what_they_show(draw: Any) -> None:
    display = draw(None)
    assert " at 0x" not in repr(display)
    assert repr(display) == f"{type(display).__name__}: {display.title}"
    assert display.figure_.get_suptitle().replace("\n", " ") == display.title
    figure, ax = plt.subplots()
    draw(ax)
    assert figure.get_suptitle() == ""  # the title of given axes is their owner's


def test_pictures_are_written_for_slides_and_print(draw: Any, tmp_path: Path) -> None:
    display = draw(None)
    for form, start in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")):
        display.save(tmp_path / f"picture.{form}")
        content = (tmp_path / f"picture.{form}").read_bytes()
        assert content.startswith(start)
        assert len(content) > 1000
    pixels = plt.imread(tmp_path / "picture.png").shape
    assert pixels[1] >= 200 * display.figure_.get_size_inches()[0] - 1
    assert "<text" in (tmp_path / "picture.svg").read_text(encoding="utf-8")
    with pytest.raises(ValueError, match=r"end it in \.png, \.svg or \.pdf"):
        display.save(tmp_path / "picture.jpg")


def test_a_display_that_was_never_drawn_is_drawn_to_be_written(tmp_path: Path) -> None:
    MeanRankDisplay(["a", "b"], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0]).save(tmp_path / "means.png")
    assert (tmp_path / "means.png").stat().st_size > 1000
