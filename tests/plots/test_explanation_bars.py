"""Bars of explanations: their lengths, colors, order and names."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgba

from rankwise import Rankings
from rankwise.label_ranking import DummyRanker, RankingForest
from rankwise.plots import PairExplanationDisplay
from rankwise.plots._style import BLUE, ORANGE

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(60, 5)), columns=list("abcde"))
Y = Rankings.from_scores(np.column_stack([X.a, -X.b, X.c, np.zeros(60)]), items=["tea", "milk", "juice", "water"])
FOREST = RankingForest(10, random_state=0).fit(X, Y)


def test_bars_are_values_of_a_row_the_largest_first() -> None:
    of_all = FOREST.explain(X, "tea", "milk").values
    row = int(np.argmax((of_all.min(axis=1) < -0.01) & (of_all.max(axis=1) > 0.01)))
    found = FOREST.explain(X[row : row + 1], "tea", "milk")
    display = PairExplanationDisplay.from_explanation(found)
    lengths = [bar.get_width() for bar in display.bars_]
    assert sorted(lengths) == pytest.approx(sorted(found.values[0]))
    assert np.all(np.diff(np.abs(lengths)) <= 0)
    assert min(lengths) < 0 < max(lengths)
    for bar, length in zip(display.bars_, lengths, strict=True):
        assert bar.get_facecolor() == to_rgba(BLUE if length > 0 else ORANGE)
    order = np.argsort(-np.abs(found.values[0]))
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert names == [f"{'abcde'[f]} = {X.iloc[row, f]:.6g}" for f in order]
    assert display.ax_.yaxis_inverted()  # the first bar is at the top
    assert display.title == f"tea before milk: share {found.prediction[0]:.2f}"


def test_bars_are_mean_sizes_of_several_rows() -> None:
    display = PairExplanationDisplay.from_estimator(FOREST, X, "tea", "milk", max_features=2)
    sizes = np.abs(FOREST.explain(X, "tea", "milk").values).mean(axis=0)
    assert [bar.get_width() for bar in display.bars_] == pytest.approx(sorted(sizes, reverse=True)[:2])
    assert "3 more features left out" in display.ax_.get_xlabel()
    assert {label.get_text() for label in display.ax_.get_yticklabels()} == {"a", "b"}


def test_what_cannot_be_explained_is_refused() -> None:
    with pytest.raises(TypeError, match="DummyRanker has no explain"):
        PairExplanationDisplay.from_estimator(DummyRanker(), X, 0, 1)
    with pytest.raises(TypeError, match="explanation is a ndarray"):
        PairExplanationDisplay.from_explanation(np.ones(3))


def test_two_rows_of_a_query_are_drawn_as_two_items():
    from rankwise.datasets import make_retrieval
    from rankwise.ltr import LinearRanker

    X, y, qid, _ = make_retrieval(20, 4, random_state=0)
    ranker = LinearRanker(random_state=0).fit(X, y, qid)
    found = ranker.explain(X, 2, 0)
    display = PairExplanationDisplay.from_estimator(ranker, X, 2, 0)
    widths = [bar.get_width() for bar in display.bars_]
    np.testing.assert_allclose(widths, found.effects[np.argsort(-abs(found.effects), kind="stable")])
    assert display.title.startswith("row 2 before row 0: difference of scores")
