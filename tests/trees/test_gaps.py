"""Leaves that hold rankings and look up the rest above say what means of leaves say, in less memory."""

from __future__ import annotations

import gc
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwise import load, save
from rankwise.label_ranking import RankingForest
from rankwise.trees import engine, gaps
from rankwise.trees.gaps import LeafGaps


def make_data(kind, n=80, k=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    y = np.argsort(np.argsort(X @ rng.standard_normal((3, k)) + rng.standard_normal((n, k)), axis=1), axis=1) + 1.0
    if "tied" in kind:
        y = np.ceil(y / 2)
    if "top-k" in kind:
        y[y > 2] = np.inf
    if "incomplete" in kind:
        y[rng.random(y.shape) < 0.6] = np.nan
        y[0] = np.arange(k) + 1.0  # so that every item is compared
        y[1:, 1] = np.where(rng.random(n - 1) < 0.9, np.nan, y[1:, 1])  # and one of them hardly ever
    return X, y


def fitted(forest, *data, most=0):
    """The forest whose trees hold gaps where they have more than so many shares."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "_MOST_SHARES", most)
        return forest.fit(*data)


@given(
    st.sampled_from(["incomplete", "incomplete, tied", "top-k", "top-k, incomplete, tied"]),
    st.integers(2, 60),
    st.integers(2, 13),
    st.integers(1, 4),
    st.integers(0, 2**16),
)
def test_shares_are_those_of_means(kind, n, k, leaf, seed):
    X, y = make_data(kind, n, k, seed)
    weights = np.random.default_rng(seed).uniform(0.5, 2.0, n)
    rows = np.random.default_rng(seed + 1).standard_normal((20, 3))
    options = {"min_samples_leaf": leaf, "random_state": seed}
    means = RankingForest(3, **options).fit(X, y, weights)
    held = fitted(RankingForest(3, **options), X, y, weights)
    for tree, other in zip(held.trees_, means.trees_, strict=True):
        np.testing.assert_allclose(tree.values, other.values, atol=1e-6)  # means are rounded
        if tree.contents.targets.is_complete:  # rows that compare nothing are dropped
            continue
        assert isinstance(tree.contents, LeafGaps)
        for pair in range(tree.contents.size):
            np.testing.assert_array_equal(tree.contents.shares(pair), tree.values[:, pair])
    np.testing.assert_allclose(held.predict_pairwise(rows), means.predict_pairwise(rows), atol=1e-5)


@pytest.mark.parametrize("kind", ["full", "tied"])
def test_leaves_without_rows_look_above(kind):
    X, y = make_data(kind, 60, 9)
    means = RankingForest(4, honest=True, random_state=0).fit(X, y)
    held = fitted(RankingForest(4, honest=True, random_state=0), X, y)
    assert any((np.diff(tree.contents.start) == 0).any() for tree in held.trees_)
    for tree, other in zip(held.trees_, means.trees_, strict=True):
        assert isinstance(tree.contents, LeafGaps)
        np.testing.assert_allclose(tree.values, other.values, atol=1e-6)


def test_forests_with_gaps_answer_everything(tmp_path):
    X, y = make_data("incomplete, tied")
    forest = fitted(RankingForest(6, random_state=0), X, y)
    expected = forest.predict_pairwise(X)
    np.testing.assert_array_equal(
        fitted(RankingForest(6, n_jobs=2, random_state=0), X, y).predict_pairwise(X), expected
    )
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(forest)).predict_pairwise(X), expected)
    save(forest, tmp_path / "forest.rankwise")
    np.testing.assert_array_equal(load(tmp_path / "forest.rankwise").predict_pairwise(X), expected)
    longer = RankingForest(3, warm_start=True, random_state=0)
    longer = fitted(fitted(longer, X, y).set_params(n_estimators=6), X, y)
    np.testing.assert_array_equal(longer.predict_pairwise(X), expected)
    assert len({id(tree.contents.targets) for tree in longer.trees_}) == 1
    means = RankingForest(6, random_state=0).fit(X, y)
    for i, j in ((1, 3), (3, 1)):
        mine, theirs = (each.explain(X[:5], i, j) for each in (forest, means))
        np.testing.assert_allclose(mine.values, theirs.values, atol=1e-5)
    decoded, other = (
        fitted(RankingForest(3, pool="rankings", random_state=0), X, y, most=most).predict_pairwise(X)
        for most in (0, 1e9)
    )
    np.testing.assert_allclose(decoded, other, atol=1e-12)


def test_bits_of_rankings_are_made_once_for_all_trees_and_forgotten():
    X, y = make_data("incomplete")
    gc.collect()
    before = len(gaps._bits)
    forest = fitted(RankingForest(5, random_state=0), X, y)
    forest.predict(X)
    assert len(gaps._bits) == before + 1
    del forest
    gc.collect()
    assert len(gaps._bits) == before


def test_many_items_take_little_memory():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((80, 3)), np.argsort(rng.random((80, 240)), axis=1) + 1.0
    y[rng.random(y.shape) < 0.7] = np.nan
    forest = RankingForest(4, random_state=0).fit(X, y)
    assert all(isinstance(tree.contents, LeafGaps) for tree in forest.trees_)
    assert len(pickle.dumps(forest)) < 4 * y.nbytes
