"""The pruning path: its curves, and the penalty that was chosen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from rankwise.datasets import load_label_ranking
from rankwise.label_ranking import RankingForest, RankingTree
from rankwise.plots import PruningPathDisplay
from rankwise.trees import LeastSquaresTree


@pytest.fixture(scope="module")
def data() -> tuple[Any, Any]:
    return load_label_ranking("diabetes", data_home="", return_X_y=True)


def test_the_path_of_a_tree(data: tuple[Any, Any]) -> None:
    tree = RankingTree(min_samples_leaf=20).fit(*data)
    path = tree.cost_complexity_pruning_path(*data)
    display = PruningPathDisplay.from_estimator(tree, *data)
    np.testing.assert_array_equal(display.errors_.get_xydata(), np.column_stack([path.alphas, path.errors]))
    np.testing.assert_array_equal(display.leaves_.get_xydata(), np.column_stack([path.alphas, path.n_leaves]))
    assert display.cv_errors_ is None
    assert display.chosen_ is None  # nothing was pruned


@pytest.mark.parametrize("kind", [RankingTree, LeastSquaresTree])
def test_cross_validation_has_a_curve_whose_lowest_point_was_chosen(kind: Any, data: tuple[Any, Any]) -> None:
    X, y = data
    tree = kind(ccp_alpha="cv", min_samples_leaf=10, random_state=0)
    tree.fit(X, y if kind is RankingTree else X[:, 0] + X[:, 1:3].sum(axis=1))
    display = PruningPathDisplay.from_estimator(tree)
    alphas, errors = display.cv_errors_.get_data()
    assert alphas[errors == errors.min()].max() == tree.ccp_alpha_ == display.chosen_.get_xdata()[0]
    shown = display.n_leaves[display.alphas == tree.ccp_alpha_]
    assert shown == tree.get_n_leaves()
    assert np.all(np.diff(display.errors_.get_ydata()) >= 0)
    assert display.cv_errors_.get_ydata()[0] > display.errors_.get_ydata()[0]


def test_without_a_penalty_the_training_error_is_that_of_the_whole_tree(data: tuple[Any, Any]) -> None:
    X, y = data
    results = RankingTree(ccp_alpha="cv", min_samples_leaf=10, random_state=0).fit(X, y).cv_results_
    whole = RankingTree(min_samples_leaf=10, random_state=0).fit(X, y)
    assert whole.cv_results_ is None
    assert results["ccp_alpha"][0] == 0
    assert results["n_leaves"][0] == whole.get_n_leaves()
    assert results["training_error"][0] == pytest.approx(whole.cost_complexity_pruning_path(X, y).errors[0])
    # One leaf predicts the shares of all rows: in cross-validation hardly worse than on the rows themselves.
    assert results["n_leaves"][-1] == 1
    assert results["test_error"][-1] == pytest.approx(results["training_error"][-1], rel=0.1)


@pytest.mark.parametrize("kind", [RankingTree, LeastSquaresTree])
def test_pruned_trees_are_grown_again(kind: Any, data: tuple[Any, Any]) -> None:
    X, y = data[0], data[1] if kind is RankingTree else data[0][:, 2]
    tree = kind(min_samples_leaf=20, ccp_alpha=0.1).fit(X, y)
    display = PruningPathDisplay.from_estimator(tree, X, y)
    np.testing.assert_array_equal(display.n_leaves, tree.cost_complexity_pruning_path(X, y).n_leaves)
    assert display.chosen_.get_xdata()[0] == 0.1
    with pytest.raises(ValueError, match=r"give X and y, or fit it with ccp_alpha='cv'"):
        PruningPathDisplay.from_estimator(tree)


def test_a_tree_of_one_leaf_can_be_drawn() -> None:
    X, y = [[1], [2]], [[1, 2], [1, 2]]
    display = PruningPathDisplay.from_estimator(RankingTree().fit(X, y), X, y)
    display.figure_.draw_without_rendering()
    assert list(display.n_leaves) == [1]


def test_other_estimators_and_penalties_are_refused() -> None:
    with pytest.raises(TypeError, match="tree is a RankingForest"):
        PruningPathDisplay.from_estimator(RankingForest())
    with pytest.raises(NotFittedError):
        PruningPathDisplay.from_estimator(RankingTree())
    path = RankingTree().cost_complexity_pruning_path([[1], [2]], [[1, 2], [2, 1]])
    with pytest.raises(ValueError, match="chosen is -1"):
        PruningPathDisplay.from_path(path, chosen=-1)
