"""Bars of importances: their lengths, their order, their names."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from rankwise.datasets import load_label_ranking
from rankwise.label_ranking import NearestNeighborsRanker, RankingForest, RankingTree
from rankwise.plots import FeatureImportanceDisplay
from rankwise.trees import LeastSquaresTree


@pytest.fixture(scope="module")
def forest() -> RankingForest:
    data = load_label_ranking("wine", data_home="")
    return RankingForest(10, random_state=0).fit(pd.DataFrame(data.X, columns=data.feature_names), data.y)


def lengths(display: FeatureImportanceDisplay) -> list[float]:
    return [bar.get_width() for bar in display.bars_]


def names(display: FeatureImportanceDisplay) -> list[str]:
    return [label.get_text() for label in display.ax_.get_yticklabels()]


def test_bars_are_importances_in_falling_order(forest: RankingForest) -> None:
    display = FeatureImportanceDisplay.from_estimator(forest)
    np.testing.assert_array_equal(display.importances, forest.feature_importances_)
    assert lengths(display) == sorted(forest.feature_importances_, reverse=True)
    importance_of = dict(zip(forest.feature_names_in_, forest.feature_importances_, strict=True))
    assert [importance_of[name] for name in names(display)] == lengths(display)
    assert display.ax_.yaxis_inverted()  # the first bar is at the top


def test_the_most_important_are_drawn_and_the_others_counted(forest: RankingForest) -> None:
    display = FeatureImportanceDisplay.from_estimator(forest, max_features=4)
    assert lengths(display) == sorted(forest.feature_importances_, reverse=True)[:4]
    assert "9 more features left out" in display.ax_.get_xlabel()
    assert display.plot(max_features=13).ax_.get_xlabel() == "importance"


@pytest.mark.parametrize("estimator", [RankingTree(), LeastSquaresTree()])
def test_features_without_names_are_numbered(estimator: Any) -> None:
    fitted = estimator.fit([[0, 1], [0, 2], [0, 8], [0, 9]], [[1, 2], [1, 2], [2, 1], [2, 1]])
    assert names(FeatureImportanceDisplay.from_estimator(fitted)) == ["x1", "x0"]


@pytest.mark.parametrize("form", ["png", "svg"])
def test_names_are_text_and_never_formulas(form: str) -> None:
    display = FeatureImportanceDisplay(np.array([1.0, 0.0]), [r"$\bad{$", "x" * 50]).plot()
    file = io.BytesIO()
    display.figure_.savefig(file, format=form)
    assert len(file.getvalue()) > 1000
    assert names(display) == [r"$\bad{$", "x" * 31 + "…"]


def test_rankers_without_importances_are_refused() -> None:
    with pytest.raises(TypeError, match=r"NearestNeighborsRanker has no feature_importances_.*permutation_importance"):
        FeatureImportanceDisplay.from_estimator(NearestNeighborsRanker())
    with pytest.raises(NotFittedError):
        FeatureImportanceDisplay.from_estimator(RankingForest())
    with pytest.raises(ValueError, match="max_features is 0"):
        FeatureImportanceDisplay(np.ones(1), ["a"]).plot(max_features=0)
