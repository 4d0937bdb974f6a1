"""Level trees against a search of every cut, and against all orders of features."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise.ltr.level_trees import LevelGrower, LevelTrees
from tests.naive import level_trees as naive


def some_rows(seed, n=40, n_features=4, missing=True):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, n_features)), 1)
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    return X, rng.normal(size=n), rng.random(n)


def grown(X, gradient, hessian, depth=3, l2=0.5, n_threads=1, max_bins=255, rows=None, chosen=None):
    trees = LevelTrees.empty(1, depth)
    rows = np.arange(len(X)) if rows is None else rows
    with ThreadPoolExecutor(n_threads) as threads:
        grower = LevelGrower(X, depth, max_bins, l2, n_threads, threads)
        leaf = grower.grow(gradient, hessian, rows, np.arange(X.shape[1]) if chosen is None else chosen, trees)
    return trees, leaf


def says(trees, X):
    return trees.predict(X, len(trees), n_threads=1)


def cuts_of(trees):
    levels = zip(trees.feature[0], trees.threshold[0], trees.missing_left[0], strict=True)
    return [(int(f), float(t), bool(m)) for f, t, m in levels if f >= 0]


def check_growth(X, gradient, hessian, trees, leaf, l2):
    """The cuts are as good as the best ones, and leaves take Newton steps."""
    own = np.zeros(len(X), dtype=int)
    for level, (feature, threshold, missing_left) in enumerate(cuts_of(trees)):
        before, best = (
            naive.score(gradient, hessian, own, l2),
            naive.best_score(X, gradient, hessian, own, 2**level, l2),
        )
        own = own + 2**level * naive.goes_right(X[:, feature], threshold, missing_left)
        assert naive.score(gradient, hessian, own, l2) == pytest.approx(best, rel=1e-9)
        assert trees.gain[0, level] == pytest.approx(best - before, rel=1e-6)
    if len(cuts_of(trees)) < trees.depth:
        bit = 2 ** len(cuts_of(trees))
        assert naive.best_score(X, gradient, hessian, own, bit, l2) <= naive.score(gradient, hessian, own, l2) * (
            1 + 1e-6
        )
    np.testing.assert_array_equal(leaf, own)
    for number in np.unique(own):
        rows = own == number
        assert trees.value[0, number] == pytest.approx(-gradient[rows].sum() / (hessian[rows].sum() + l2), rel=1e-6)
    np.testing.assert_array_equal(trees.count[0], np.bincount(own, minlength=8))


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), missing=st.booleans(), l2=st.sampled_from([0.01, 1.0]))
def test_every_level_takes_the_cut_with_the_largest_sum_of_gains(seed, missing, l2):
    X, gradient, hessian = some_rows(seed, missing=missing)
    trees, leaf = grown(X, gradient, hessian, l2=l2)
    check_growth(X, gradient, hessian, trees, leaf, l2)
    np.testing.assert_allclose(says(trees, X), trees.value[0, leaf])


def test_threads_change_nothing_not_by_a_bit():
    X, gradient, hessian = some_rows(0, n=500, n_features=7)
    one, _ = grown(X, gradient, hessian, depth=5)
    for n_threads in (2, 3):
        other, _ = grown(X, gradient, hessian, depth=5, n_threads=n_threads)
        np.testing.assert_array_equal(one.value, other.value)
        np.testing.assert_array_equal(one.threshold, other.threshold)


def test_a_part_of_rows_and_features_is_all_a_tree_sees():
    X, gradient, hessian = some_rows(1, n=100)
    rows, chosen = np.arange(0, 100, 2), np.array([1, 3])
    trees, leaf = grown(X, gradient, hessian, rows=rows, chosen=chosen)
    trees.feature[0] = np.searchsorted(chosen, trees.feature[0])
    check_growth(X[rows][:, chosen], gradient[rows], hessian[rows], trees, leaf[rows], 0.5)
    trees.feature[0] = chosen[trees.feature[0]]
    np.testing.assert_allclose(says(trees, X), trees.value[0, leaf])  # the rows it did not see fall into leaves too


def test_bins_keep_thresholds_between_values():
    X, gradient, hessian = some_rows(2, n=300)
    trees, leaf = grown(X, gradient, hessian, max_bins=4)
    np.testing.assert_allclose(says(trees, X), trees.value[0, leaf])


def test_what_was_never_missing_goes_with_the_more_rows():
    X = np.arange(10.0)[:, None]
    gradient = np.where(X[:, 0] < 7, 1.0, -1.0)
    for sign in (1, -1):
        trees, _ = grown(sign * X, gradient, np.ones(10), depth=1)
        assert says(trees, np.array([[np.nan]]))[0] == says(trees, np.array([[sign * 0.0]]))[0] < 0


def test_only_missing_values_go_right_where_that_is_best():
    X = np.array([[1.0], [2.0], [3.0], [np.nan], [np.nan]])
    trees, leaf = grown(X, np.array([1.0, 1.0, 1.0, -1.0, -1.0]), np.ones(5), depth=1)
    np.testing.assert_array_equal(leaf, [0, 0, 0, 1, 1])
    assert says(trees, np.array([[99.0]]))[0] == trees.value[0, 0]


@pytest.mark.parametrize("X", [np.ones((6, 2)), np.full((6, 2), np.nan)])
def test_without_a_cut_the_tree_is_a_single_leaf(X):
    trees, leaf = grown(X, np.arange(6.0), np.ones(6), l2=0.0)
    assert (trees.feature == -1).all()
    assert (leaf == 0).all()
    np.testing.assert_allclose(says(trees, X), -2.5)


def test_without_penalty_empty_leaves_are_harmless():
    X, gradient, hessian = some_rows(3, n=12, n_features=2)
    hessian[:6] = 0.0
    trees, _ = grown(X, gradient, hessian, depth=4, l2=0.0)
    assert np.isfinite(trees.value).all()


@settings(max_examples=10)
@given(seed=st.integers(0, 10**6))
def test_contributions_are_means_over_all_orders_of_features(seed):
    X, gradient, hessian = some_rows(seed, n=25)
    trees, _ = grown(X, gradient, hessian)
    rows = np.concatenate([X[:2], np.random.default_rng(seed).normal(size=(1, 4))])
    found = trees.contributions(rows, 1, n_threads=1)
    for x, parts in zip(rows, found, strict=True):
        np.testing.assert_allclose(parts, naive.shapley(x, cuts_of(trees), trees.value[0], trees.count[0]), atol=1e-9)


def test_importances_are_gains_by_feature():
    X, gradient, hessian = some_rows(4)
    trees, _ = grown(X, gradient, hessian)
    wanted = np.zeros(4)
    for feature, gain in zip(trees.feature[0], trees.gain[0], strict=True):
        wanted[feature] += gain
    np.testing.assert_allclose(trees.importances(1, 4), wanted)
