"""Packed forests answer as their trees do, one by one."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from rankwise.label_ranking import RankingForest
from rankwise.trees import LeastSquaresForest, _packed
from rankwise.trees._packed import PackedForest
from rankwise.trees.engine import mean_prediction


def one_by_one(trees, X):
    return np.mean([tree.predict(X) for tree in trees], axis=0)


def make_data(n, kind, seed=0):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.standard_normal((n, 3)), rng.integers(0, 70, n)]).round(1)
    y = np.argsort(np.argsort(X[:, [0, 1, 2, 0, 1]] + rng.standard_normal((n, 5)), axis=1), axis=1) + 1.0
    if kind == "tied":
        y = np.ceil(y / 2)
    if kind == "incomplete":
        y[rng.random(y.shape) < 0.2] = np.nan
    return X, y


@pytest.mark.parametrize("kind", ["full", "tied", "incomplete"])
@pytest.mark.parametrize("categories", [None, [3]])
@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("leaf", [1, 4])
def test_rankings(kind, categories, missing, leaf):
    X, y = make_data(150, kind)
    X[np.random.default_rng(1).random(X.shape) < missing] = np.nan
    forest = RankingForest(70, min_samples_leaf=leaf, categorical_features=categories, random_state=0).fit(X, y)
    rows = forest._check_fitted_features(make_data(77, kind, seed=2)[0] if categories is None else X)
    expected = one_by_one(forest.trees_, rows)
    np.testing.assert_allclose(mean_prediction(forest.trees_, rows), expected, rtol=0, atol=1e-12)


def test_many_items_take_several_words():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((120, 3)), np.argsort(rng.random((120, 14)), axis=1) + 1.0
    forest = RankingForest(65, random_state=0).fit(X, y)
    np.testing.assert_allclose(mean_prediction(forest.trees_, X), one_by_one(forest.trees_, X), rtol=0, atol=1e-12)


def test_numbers_infinities_and_few_rows():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((90, 2)), rng.standard_normal((90, 3))
    forest = LeastSquaresForest(9, random_state=0).fit(X, y)
    rows = np.array([[np.inf, -np.inf], [-np.inf, np.inf], [0.0, np.nan]])
    for n in (0, 1, 3):
        expected = one_by_one(forest.trees_, rows[:n])
        np.testing.assert_allclose(mean_prediction(forest.trees_, rows[:n]), expected, rtol=0, atol=1e-12)


def test_other_trees_are_packed_anew_and_none_is_kept():
    X, y = make_data(60, "full")
    trees = RankingForest(6, random_state=0).fit(X, y).trees_
    first = PackedForest.of(trees)
    assert PackedForest.of(list(trees)) is first
    assert PackedForest.of(trees[:5]) is not first
    others = [trees[0], *RankingForest(5, random_state=1).fit(X, y).trees_]
    np.testing.assert_allclose(mean_prediction(others, X), one_by_one(others, X), rtol=0, atol=1e-12)
    kept = PackedForest.of(others).trees[1]
    del others, trees, first
    gc.collect()
    assert kept() is None


def test_numbers_that_round_to_the_same():
    """Rounded numbers decide only where they differ."""
    rng = np.random.default_rng(0)
    X = np.column_stack([1 + 1e-9 * rng.permutation(300), 1e300 * rng.standard_normal(300)])
    y = rng.standard_normal((300, 2))
    forest = LeastSquaresForest(20, random_state=0).fit(X, y)
    rows = np.concatenate(
        [X, X * (1 + 1e-10), np.unique([tree.threshold for tree in forest.trees_[:1]])[:, None] + [0, 0]]
    )
    np.testing.assert_allclose(
        mean_prediction(forest.trees_, rows), one_by_one(forest.trees_, rows), rtol=0, atol=1e-12
    )


def test_forests_that_need_wide_nodes(monkeypatch):
    X, y = make_data(60, "full")
    forest = RankingForest(6, random_state=0).fit(X, y)
    monkeypatch.setattr(_packed, "_BITS_OF_NODE", 4)
    packed = PackedForest.of(forest.trees_)
    assert packed.nodes[0]["where"].dtype == np.uint64
    rows = make_data(50, "full", seed=3)[0]
    np.testing.assert_allclose(
        mean_prediction(forest.trees_, rows), one_by_one(forest.trees_, rows), rtol=0, atol=1e-12
    )
