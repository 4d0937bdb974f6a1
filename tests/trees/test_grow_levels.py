"""Level-Splits: one cut for all cells of a level."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from rankwise.label_ranking import RankingTree
from rankwise.trees import LeastSquaresTree
from tests.naive import trees as naive
from tests.trees.test_grow import small_problems


def features_by_level(tree):
    return [set(tree.feature[(tree.depth == level) & ~tree.is_leaf]) for level in range(int(tree.depth.max()))]


def cuts(tree):
    """The different cuts of a tree: one for each level."""
    inner = ~tree.is_leaf
    return set(zip(tree.feature[inner].tolist(), tree.threshold[inner].tolist(), strict=True))


@pytest.mark.parametrize("q", [1, 3])
@pytest.mark.parametrize("seed", range(4))
def test_algorithm_9_on_binary_features(q, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (400, 8)).astype(float)
    y = np.stack([X[:, 1] * X[:, 4] + 0.6 * X[:, 6] + 0.2 * c * X[:, 2] for c in range(q)], axis=1)
    y += 0.05 * rng.standard_normal(y.shape)
    directions = naive.level_splits_binary(X, y, 4)
    model = LeastSquaresTree(growth="level", max_depth=4).fit(X, y)
    assert features_by_level(model.tree_) == [{direction} for direction in directions]
    for row in range(0, 400, 37):
        cell = (X[:, directions] == X[row, directions]).all(axis=1)
        np.testing.assert_allclose(model.predict(X[[row]])[0], y[cell].mean(axis=0))


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("missing_targets", [0.0, 0.3])
@pytest.mark.parametrize("min_leaf", [1, 3])
def test_one_common_threshold_for_numbers(missing, missing_targets, min_leaf):
    rng = np.random.default_rng(5)
    X = np.round(rng.standard_normal((50, 3)), 1)
    y = np.column_stack([X[:, 0] * X[:, 1], X[:, 2]]) + 0.1 * rng.standard_normal((50, 2))
    X[rng.random(X.shape) < missing] = np.nan
    y[rng.random(y.shape) < missing_targets] = np.nan
    w = rng.uniform(0.5, 2, 50)
    kept = ~np.isnan(y).all(axis=1)
    features, cell = naive.level_cuts(X[kept], y[kept], w[kept], 3, min_leaf)
    model = LeastSquaresTree(growth="level", max_depth=3, min_samples_leaf=min_leaf, max_bins=None).fit(X, y, w)
    assert {feature for feature, _ in cuts(model.tree_)} == set(features)
    assert len(cuts(model.tree_)) == len(features)
    leaf = model.apply(X[kept])
    for number in np.unique(cell):
        assert len(np.unique(leaf[cell == number])) == 1
    assert len(np.unique(leaf)) == len(np.unique(cell)) == model.get_n_leaves()


@given(small_problems())
def test_fully_grown_it_fits_as_well_as_its_cells_allow(problem):
    X, y, w = problem
    model = LeastSquaresTree(growth="level", max_bins=None).fit(X, y, w)
    tree = model.tree_
    kept = ~np.isnan(y).all(axis=1)
    X, y, w = X[kept], y[kept], w[kept]
    leaf = model.apply(X)
    for node in np.flatnonzero(tree.is_leaf):
        rows = leaf == node
        assert tree.count[node] == rows.sum() > 0
        assert tree.error[node] == pytest.approx(naive.squared_error(y[rows], w[rows]), abs=1e-9)
    inner = np.flatnonzero(~tree.is_leaf)
    after = tree.error[tree.left[inner]] + tree.error[tree.left[inner] + 1]
    np.testing.assert_allclose(tree.gain[inner], np.maximum(tree.error[inner] - after, 0), atol=1e-9)
    equal = (np.isnan(X)[:, None] & np.isnan(X)[None]) | (X[:, None] == X[None])
    assert tree.error[tree.is_leaf].sum() < 1e-9 or (leaf[:, None] == leaf)[equal.all(axis=2)].all()


def test_categories_are_cut_in_the_order_of_their_means():
    X = np.repeat([0.0, 1, 2, 3], 10)[:, None]
    y = np.array([5.0, 0, 5, 0])[X[:, 0].astype(int)]
    model = LeastSquaresTree(growth="level", categorical_features=[0]).fit(X, y)
    assert model.get_depth() == 1
    np.testing.assert_array_equal(model.predict(X), y)
    two = np.column_stack([y, -y])
    two[::3, 0] = np.nan  # the pattern of missing targets does not separate categories
    np.testing.assert_allclose(
        LeastSquaresTree(growth="level", categorical_features=[0]).fit(X, two).predict(X), np.column_stack([y, -y])
    )


def test_categories_that_are_all_missing():
    X = np.column_stack([np.full(6, np.nan), np.arange(6.0)])
    y = np.arange(6.0)
    for columns in ([0], [0, 1]):
        model = LeastSquaresTree(growth="level", categorical_features=columns).fit(X, y)
        np.testing.assert_allclose(model.predict(X), y)
    # All categories known, but none in the rows that count.
    X[:2, 0] = [3, 4]
    w = [0, 0, 1, 1, 1, 1]
    for _grow_levels in ("level", "best"):
        model = LeastSquaresTree(growth=_grow_levels, categorical_features=[0]).fit(X, y, w)
        np.testing.assert_allclose(model.predict(X[2:]), y[2:])


@pytest.mark.parametrize("options", [{"splitter": "random"}, {"max_features": 1}, {"max_leaf_nodes": 6}, {"sketch": 3}])
def test_limits_of_growth(options):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 4))
    y = np.column_stack([X[:, 0], X[:, 1] ** 2, X[:, 2]])
    model = LeastSquaresTree(growth="level", random_state=0, **options).fit(X, y)
    assert 2 <= model.get_n_leaves() <= options.get("max_leaf_nodes", 100)
    again = LeastSquaresTree(growth="level", random_state=0, **options).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), again.predict(X))
    assert model.score(X, y) > 0.1
    assert len(cuts(model.tree_)) <= model.get_n_leaves() // 2 + 1


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("splitter", ["best", "random"])
def test_blocks_of_coordinates_change_nothing(monkeypatch, missing, splitter):
    from rankwise.trees import _grow_levels

    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=80), "b": rng.integers(0, 4, 80), "c": rng.choice(list("xyzw"), 80)})
    X.loc[::7, "a"] = np.nan
    y = np.argsort(np.argsort(rng.random((80, 6)) + X["b"].to_numpy()[:, None] * np.arange(6), axis=1), axis=1) + 1.0
    if missing:
        y[rng.random(y.shape) < 0.2] = np.nan
        y[:, 0] = np.where(np.isnan(y).all(axis=1), 1.0, y[:, 0])
    ranker = RankingTree(growth="level", max_depth=4, splitter=splitter, random_state=0)
    whole = ranker.fit(X, y).export_text()
    monkeypatch.setattr(_grow_levels, "_BLOCK_ENTRIES", 4 * 80)  # 4 of the 15 pairs at a time
    assert ranker.fit(X, y).export_text() == whole
    assert ranker.get_n_leaves() > 4


def test_gain_asked_for():
    X = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    y = [0.0, 0.1, 1.0, 1.1]
    assert LeastSquaresTree(growth="level", min_impurity_decrease=0.01).fit(X, y).get_depth() == 1
    assert LeastSquaresTree(growth="level", min_impurity_decrease=0.001).fit(X, y).get_depth() == 2
    assert LeastSquaresTree(growth="level", min_impurity_decrease=1.0).fit(X, y).get_depth() == 0
