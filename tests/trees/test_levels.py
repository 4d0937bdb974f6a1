"""Tables of level splits: the same rows in the same cells as nodes, and the same thresholds as other trees."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import rankwise.trees.levels
from rankwise.trees import LeastSquaresTree
from rankwise.trees.engine import code_features
from rankwise.trees.levels import MOST_LEVELS, LevelSplits, LevelTables, move_right
from tests.naive import level_trees as naive

NAN = np.nan


def rows_with_gaps(seed, n=500, n_features=4):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, n_features)), 2)
    X[rng.random(X.shape) < 0.1] = NAN
    return X, (X[:, :3] > 0.2) @ [4.0, 2.0, 1.0] + 0.1 * rng.normal(size=n)  # every level divides all cells


def table_of(tree):
    """The table of a tree whose levels divide every cell the same way."""
    table = LevelTables.empty(1, int(tree.depth.max()))
    nodes = np.array([0])
    for level in range(table.depth):
        for name in ("feature", "threshold", "missing_left"):
            values = np.unique(getattr(tree, name)[nodes])
            assert len(values) == 1, "a level asks several questions"
            getattr(table, name)[0, level] = values[0]
        nodes = np.concatenate([tree.left[nodes], tree.left[nodes] + 1])  # bit by bit: right comes second
    table.value[0] = tree.values[tree.leaf_number[nodes], 0]
    table.count[0] = tree.count[nodes]
    return table


def test_a_tree_for_least_squares_and_its_table_predict_the_same():
    for seed in range(3):
        X, y = rows_with_gaps(seed)
        tree = LeastSquaresTree(growth="level", max_depth=3).fit(X, y)
        table = table_of(tree.tree_)
        np.testing.assert_array_equal(table.predict(X, 1, n_threads=1), tree.predict(X))
        explained = table.contributions(X[:20], 1, n_threads=1).sum(axis=1)
        mean = np.average(table.value[0], weights=table.count[0])
        np.testing.assert_allclose(mean + explained, tree.predict(X[:20]))


def some_tables(seed, n_trees, depth, n_features):
    """Trees that ask at random, some of their levels nothing."""
    rng, tables = np.random.default_rng(seed), LevelTables.empty(n_trees, depth)
    shape = tables.feature.shape
    tables.feature[:] = rng.integers(-1, n_features, shape)
    tables.threshold[:] = rng.choice([-1.0, 0.0, 0.3, np.inf], shape)
    tables.missing_left[:] = rng.random(shape) < 0.5
    tables.value[:] = rng.normal(size=tables.value.shape)
    return tables


@pytest.mark.parametrize(("n_rows", "depth"), [(1, 1), (255, 4), (256, 8), (257, 9), (600, 3), (40, MOST_LEVELS)])
def test_blocks_of_rows_get_what_row_by_row_gives(n_rows, depth, monkeypatch):
    tables = some_tables(depth, 7, depth, 5)
    X, _ = rows_with_gaps(depth, n_rows, 5)
    trees = zip(tables.feature, tables.threshold, tables.missing_left, tables.value, strict=True)
    expected = naive.predict(X, trees)
    monkeypatch.setattr(rankwise.trees.levels, "_ROWS_OF_A_THREAD", 1)
    for n_threads in (1, 2, 3):
        for rows in (X, np.asfortranarray(X), csr_array(X)):
            np.testing.assert_array_equal(tables.predict(rows, 7, n_threads), expected)


def test_trees_that_ask_nothing_add_one_value():
    tables = some_tables(0, 2, 2, 3)
    tables.feature[:] = -1
    X, _ = rows_with_gaps(0, 5, 3)
    for rows in (X, csr_array(X)):
        np.testing.assert_array_equal(tables.predict(rows, 2, 1), np.full(5, tables.value[:, 0].sum()))
    np.testing.assert_array_equal(tables.predict(X, 0, 1), np.zeros(5))


def test_splits_lie_between_codes_and_have_no_threshold_for_categories():
    X = np.array([[1.0, 0], [2, 1], [4, 2], [NAN, NAN]])
    features = code_features(X, np.array([0, 3]), None)
    splits = LevelSplits.empty(1, 3)
    splits.record(0, features, 0, 1, 2, missing_left=True, gain=5.0)
    splits.record(1, features, 1, 0, 1, missing_left=False, gain=2.0)
    np.testing.assert_array_equal(splits.feature, [[0, 1, -1]])
    np.testing.assert_array_equal(splits.threshold, [[3, 0, 0]])
    np.testing.assert_array_equal(splits.missing_left, [[True, False, False]])
    np.testing.assert_array_equal(splits.importances(1, 3), [5, 2, 0])


@pytest.mark.parametrize("missing_left", [True, False])
def test_rows_above_the_cut_move_right(missing_left):
    cell = np.array([0, 1, 0, 1, 0])
    move_right(np.array([0, 1, 2, 3, 4]), 1, 4, missing_left, 2, cell)  # 4 is missing
    np.testing.assert_array_equal(cell, [0, 1, 2, 3, 0 if missing_left else 2])


def test_trees_that_no_table_can_hold_are_refused():
    trees = LevelTables.empty(2, 2)
    trees._check_saved()
    trees.check_features(0)
    trees.feature[0, 0] = 4
    with pytest.raises(ValueError, match="feature that does not exist"):
        trees.check_features(4)
    trees.value = trees.value[:, :3]
    with pytest.raises(ValueError, match="the leaves have shape"):
        trees._check_saved()
    with pytest.raises(ValueError, match="too many levels"):
        LevelSplits.empty(1, MOST_LEVELS + 1)._check_saved()
