"""Pruning: against scikit-learn, and against all subtrees of small trees."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from rankwise.trees import LeastSquaresTree
from rankwise.trees.pruning import collapse_penalties, merge_sequence, pruned, pruning_path
from tests.naive import trees as naive
from tests.trees.test_grow import make_data


@pytest.mark.parametrize("q", [1, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_path_of_scikit_learn(q, weighted):
    X, y = make_data(q=q)
    w = np.random.default_rng(1).uniform(0.5, 2.0, len(X)) if weighted else None
    ours = LeastSquaresTree(max_bins=None, min_samples_leaf=5).cost_complexity_pruning_path(X, y, w)
    peer = DecisionTreeRegressor(min_samples_leaf=5, random_state=0).cost_complexity_pruning_path(X, y, w)
    np.testing.assert_allclose(ours.alphas, q * peer.ccp_alphas, atol=1e-10)  # theirs is a mean over targets
    np.testing.assert_allclose(ours.errors, q * peer.impurities, atol=1e-10)
    assert ours.n_leaves[-1] == 1
    for alpha in (ours.alphas[:-1] + ours.alphas[1:]) / 2:
        model = LeastSquaresTree(max_bins=None, min_samples_leaf=5, ccp_alpha=alpha).fit(X, y, w)
        cut = DecisionTreeRegressor(min_samples_leaf=5, ccp_alpha=alpha / q, random_state=0).fit(X, y, w)
        np.testing.assert_allclose(model.predict(X), cut.predict(X).reshape(len(X), q), atol=1e-9)


def small_tree(seed, growth="best"):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 5, (16, 3)).astype(float), rng.integers(0, 4, (16, 2)).astype(float)
    return LeastSquaresTree(growth=growth, max_depth=3).fit(X, y, rng.uniform(0.5, 2, 16)).tree_


@pytest.mark.parametrize("growth", ["best", "level"])
@pytest.mark.parametrize("seed", range(8))
def test_the_best_of_all_subtrees(seed, growth):
    tree = small_tree(seed, growth)
    own = tree.error / tree.weight[0]
    path, penalties = pruning_path(tree), collapse_penalties(tree)
    subtrees = [(sum(own[node] for node in leaves), len(leaves)) for leaves in naive.pruned_subtrees(tree.left)]
    between = (path.alphas[:-1] + path.alphas[1:]) / 2
    for alpha in np.concatenate([path.alphas[1:] + 1e-9, between, [1e-9, 100.0]]):
        smaller = pruned(tree, alpha)
        costs = [error + alpha * size for error, size in subtrees]
        cost = smaller.error[smaller.is_leaf].sum() / tree.weight[0] + alpha * smaller.n_leaves
        assert cost == pytest.approx(min(costs), abs=1e-9)
        smallest = min(size for (_, size), c in zip(subtrees, costs, strict=True) if c < min(costs) + 1e-10)
        assert smaller.n_leaves == smallest
        np.testing.assert_array_equal(pruned(tree, alpha, penalties).left, smaller.left)
    for alpha, error, size in zip(path.alphas, path.errors, path.n_leaves, strict=True):
        assert (error, size) == pytest.approx(min(((e + alpha * s, e, s) for e, s in subtrees), key=near_least)[1:])
    assert pruned(tree, 0.0) is tree


def near_least(entry):
    cost, _, size = entry
    return round(cost, 10), size


@pytest.mark.parametrize("seed", range(8))
def test_sibling_leaves_merge_greedily(seed):
    tree = small_tree(seed)
    nodes, rises = merge_sequence(tree)
    expected_nodes, expected_rises = naive.merge_greedily(tree.left, tree.error / tree.weight[0])
    np.testing.assert_allclose(rises, expected_rises, atol=1e-12)
    assert len(nodes) == tree.n_leaves - 1
    assert set(nodes) == set(expected_nodes)
    total = tree.error[tree.is_leaf].sum() / tree.weight[0] + rises.sum()
    assert total == pytest.approx(tree.error[0] / tree.weight[0])


def test_a_tree_of_one_leaf():
    tree = LeastSquaresTree().fit([[1.0], [1.0]], [0.0, 1.0]).tree_
    path = pruning_path(tree)
    assert (path.alphas.tolist(), path.n_leaves.tolist()) == ([0.0], [1])
    assert merge_sequence(tree)[0].tolist() == []


def test_pruned_trees_keep_their_categories_and_missing_sides():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (200, 2)).astype(float)
    X[::9, 0] = np.nan
    y = np.isin(X[:, 0], [1, 4]) + 0.3 * np.isnan(X[:, 0]) + 0.01 * rng.standard_normal(200)
    model = LeastSquaresTree(categorical_features=[0, 1], ccp_alpha=0.003).fit(X, y)
    assert model.get_n_leaves() == 3
    np.testing.assert_allclose(model.predict(X), y, atol=0.05)
    assert model.feature_importances_.tolist() == [1.0, 0.0]


def test_penalty_by_cross_validation_cuts_what_is_noise():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = np.where(X[:, [0]] > 0, [3.0, 0.0], [0.0, 3.0]) + rng.normal(size=(200, 2))
    chosen = LeastSquaresTree(ccp_alpha="cv", random_state=0).fit(X, y)
    assert chosen.ccp_alpha_ > 0
    assert 2 <= chosen.get_n_leaves() <= 8 < LeastSquaresTree().fit(X, y).get_n_leaves()
    assert LeastSquaresTree(ccp_alpha=0.2).fit(X, y).ccp_alpha_ == 0.2
