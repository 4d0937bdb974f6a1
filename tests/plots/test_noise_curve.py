"""Noise curves: means and standard errors of each ranker."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold

from rankwise.datasets import make_sparse_label_ranking
from rankwise.label_ranking import NearestNeighborsRanker, RankingTree
from rankwise.plots import NoiseCurveDisplay


def test_curves_are_means_with_standard_errors_in_the_order_of_the_levels() -> None:
    scores = {"tree": [[0.4, 0.6], [0.9, 0.7]], "forest": [[0.5, 0.5], [1.0, 0.8]]}
    display = NoiseCurveDisplay.from_scores([0.5, 0.0], scores, level_name="share changed", score_name="tau")
    line, _, (bars,) = display.lines_["tree"].lines
    np.testing.assert_allclose(line.get_xydata(), [[0.0, 0.8], [0.5, 0.5]])
    np.testing.assert_allclose([segment[:, 1] for segment in bars.get_segments()], [[0.7, 0.9], [0.4, 0.6]])
    assert [text.get_text() for text in display.legend_.get_texts()] == ["tree", "forest"]
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("share changed", "tau")


def test_one_score_per_level_has_no_error() -> None:
    display = NoiseCurveDisplay.from_scores([0, 1], {"tree": [0.9, 0.5]})
    assert not display.lines_["tree"].has_yerr
    np.testing.assert_allclose(display.lines_["tree"].lines[0].get_ydata(), [0.9, 0.5])


def test_rankers_learn_from_noise_and_are_judged_by_the_truth() -> None:
    made = {s: make_sparse_label_ranking(80, noise="gaussian", noise_scale=s, random_state=0) for s in (0.0, 0.3)}
    X, _, bunch = made[0.0]
    noisy = {scale: y for scale, (_, y, _) in made.items()}
    rankers = {"tree": RankingTree(max_depth=3), "neighbors": NearestNeighborsRanker(5)}
    folds = KFold(3, shuffle=True, random_state=1)
    display = NoiseCurveDisplay.from_estimators(rankers, X, noisy, bunch.noiseless, cv=folds)
    truth = bunch.noiseless
    wanted = [
        clone(rankers["tree"]).fit(X[train], noisy[0.3][train]).score(X[test], truth[test])
        for train, test in folds.split(X)
    ]
    np.testing.assert_allclose(display.scores["tree"][1], wanted)
    np.testing.assert_array_equal(display.levels, [0.0, 0.3])
    assert not hasattr(rankers["tree"], "tree_")  # clones are fitted


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match="scores is empty"):
        NoiseCurveDisplay.from_scores([0, 1], {})
    with pytest.raises(ValueError, match=r"scores\['a'\] has shape \(3,\), but there are 2 levels"):
        NoiseCurveDisplay.from_scores([0, 1], {"a": [1, 2, 3]})
    with pytest.raises(ValueError, match=r"levels has shape \(\)"):
        NoiseCurveDisplay.from_scores(1, {"a": [1]})
    with pytest.raises(ValueError, match=r"noisy\[0.1\] has shape \(1, 2\), but truth \(2, 2\)"):
        NoiseCurveDisplay.from_estimators({}, [[1], [2]], {0.1: [[1, 2]]}, [[1, 2], [2, 1]])
