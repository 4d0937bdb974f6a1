"""Level trees against a search of every cut, and against all orders of features."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from rankwise.ltr import _level_growth
from rankwise.ltr._level_growth import LevelGrower
from rankwise.ltr.boosting import round_for_exact_sums
from rankwise.ltr.level_trees import LevelTrees
from tests.naive import level_trees as naive


def some_rows(seed, n=40, n_features=4, missing=True):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, n_features)), 1)
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    return X, rng.normal(size=n), rng.random(n)


def grown(
    X, gradient, hessian, depth=3, l2=0.5, n_threads=1, max_bins=255, rows=None, chosen=None, noise=None, **options
):
    trees = LevelTrees.empty(1, depth)
    rows = np.arange(len(gradient)) if rows is None else rows
    with ThreadPoolExecutor(n_threads) as threads:
        grower = LevelGrower(X, depth, max_bins, l2, n_threads, threads, **options)
        leaf = grower.grow(gradient, hessian, rows, np.arange(X.shape[1]) if chosen is None else chosen, trees, noise)
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


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), missing=st.booleans(), signs=st.lists(st.integers(-1, 1), min_size=4, max_size=4))
def test_values_that_must_follow_features_do_and_cuts_are_the_best_for_that(seed, missing, signs):
    X, gradient, hessian = some_rows(seed, missing=missing)
    gradient = round_for_exact_sums(gradient, "gradients")  # so that empty sides are seen to be empty
    hessian = round_for_exact_sums(hessian, "second derivatives")
    trees, leaf = grown(X, gradient, hessian, signs=np.array(signs))
    own, bounds = np.zeros(len(X), dtype=int), {0: (-np.inf, np.inf)}
    for level, cut in enumerate(cuts_of(trees)):
        before = naive.bounded_score(gradient, hessian, own, bounds, 0.5)
        best = naive.best_bounded_score(X, gradient, hessian, own, bounds, 2**level, signs, 0.5)
        own, bounds = naive.divided(X, gradient, hessian, own, bounds, 2**level, cut, signs, 0.5)
        assert naive.bounded_score(gradient, hessian, own, bounds, 0.5) == pytest.approx(best, rel=1e-9)
        assert trees.gain[0, level] == pytest.approx(best - before, rel=1e-6)
    np.testing.assert_array_equal(leaf, own)
    for number, (lower, upper) in bounds.items():
        step = naive.newton_step(gradient, hessian, own == number, 0.5, lower, upper)
        assert trees.value[0, number] == pytest.approx(step, rel=1e-6)
    for feature in np.flatnonzero(signs):
        rows = np.repeat(X[:10], 30, axis=0)
        rows[:, feature] = np.tile(np.linspace(-3, 3, 30), 10)
        assert (signs[feature] * np.diff(says(trees, rows).reshape(10, 30), axis=1) >= 0).all()


def rounded_rows(seed, n=200):
    """Rows, most of whose features are 0, and gradients whose sums are exact, in whatever order they are added."""
    X, gradient, hessian = some_rows(seed, n=n, n_features=6)
    X[np.random.default_rng(seed).random(X.shape) < 0.6] = 0
    X[:, 2] = np.abs(X[:, 2])
    X[:, 4] = 0
    X[:, 5] = np.where(X[:, 5] == 0, 1, X[:, 5])  # no zero at all
    return X, round_for_exact_sums(gradient, "gradients"), round_for_exact_sums(hessian, "second derivatives")


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), max_bins=st.sampled_from([3, 7, 255, 1000]), is_signed=st.booleans())
def test_sparse_rows_grow_the_trees_of_the_same_rows_written_out(seed, max_bins, is_signed):
    X, gradient, hessian = rounded_rows(seed)
    rng = np.random.default_rng(seed)
    options = {
        "max_bins": max_bins,
        "rows": np.sort(rng.permutation(150)[:100]),
        "places": rng.permutation(200)[:150],
        "signs": np.array([1, 0, -1, 0, 0, 1]) if is_signed else None,
    }
    gradient, hessian = gradient[:150], hessian[:150]
    dense, leaf = grown(X, gradient, hessian, **options)
    sparse, own = grown(csr_array(X), gradient, hessian, n_threads=2, **options)
    np.testing.assert_array_equal(own, leaf)
    for name, part in vars(dense).items():
        np.testing.assert_array_equal(getattr(sparse, name), part, err_msg=name)


def test_more_than_a_byte_of_bins_finds_cuts_between_all_values():
    rng = np.random.default_rng(0)
    X = rng.permutation(3000).astype(float)[:, None]
    gradient = round_for_exact_sums(np.where(X[:, 0] <= 1234, 1.0, -1.0), "gradients")
    for rows in (X, csr_array(X)):
        trees, _ = grown(rows, gradient, np.ones(3000), depth=1, max_bins=65535)
        assert trees.threshold[0, 0] == 1234.5
        trees, _ = grown(rows, gradient, np.ones(3000), depth=1, max_bins=255)
        assert trees.threshold[0, 0] != 1234.5


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), missing=st.booleans(), is_sparse=st.booleans())
def test_noise_decides_between_the_best_cuts_of_the_features(seed, missing, is_sparse):
    X, gradient, hessian = some_rows(seed, missing=missing)
    noise = np.random.default_rng(seed).normal(size=(3, 4))
    trees, leaf = grown(csr_array(X) if is_sparse else X, gradient, hessian, noise=noise)
    own = np.zeros(len(X), dtype=int)
    for level, (feature, threshold, missing_left) in enumerate(cuts_of(trees)):
        chosen, best = naive.noisy_best(X, gradient, hessian, own, 2**level, 0.5, noise[level])
        own = own + 2**level * naive.goes_right(X[:, feature], threshold, missing_left)
        assert feature == chosen
        assert naive.score(gradient, hessian, own, 0.5) == pytest.approx(best, rel=1e-9)
    np.testing.assert_array_equal(leaf, own)


def test_noise_never_takes_a_feature_that_adds_nothing():
    X, gradient, hessian = some_rows(5, missing=False)
    X[:, 1] = 7.0
    trees, _ = grown(X, gradient, hessian, noise=np.tile([0.0, 1e6, 0.0, 0.0], (3, 1)))
    assert 1 not in trees.feature
    assert (trees.feature >= 0).all()


def test_threads_change_nothing_not_by_a_bit(monkeypatch):
    monkeypatch.setattr(_level_growth, "_LEAST_WORK", 0)
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
