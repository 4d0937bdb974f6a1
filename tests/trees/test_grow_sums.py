"""Trees that add up whole numbers are the trees of the general way, and count on nothing but the order of features."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwise.data import Rankings
from rankwise.label_ranking import RankingForest
from rankwise.label_ranking.forest import _wins
from rankwise.trees._codes import MISSING, code_features
from rankwise.trees._grow_sums import WholeRows
from rankwise.trees.engine import GrowthRule, TargetRows
from tests.naive.trees import random_tree

PARTS = ("feature", "threshold", "missing_left", "left", "count", "weight")
RULE = GrowthRule("best", False, "random", None, 2, 1, None, None, "best-first", 0.0)


def make_rankings(n, d, k, *, seed=0, ties=False, missing=0.0, gaps=None):
    rng = np.random.default_rng(seed)
    X = np.round(rng.standard_normal((n, d)), 2)
    scores = X @ rng.standard_normal((d, k)) + rng.standard_normal((n, k))
    X[rng.random((n, d)) < missing] = np.nan
    y = np.argsort(np.argsort(scores, axis=1), axis=1) + 1.0
    y = np.ceil(y / 2) if ties else y
    if gaps == "top-k":
        y[y > k // 2] = np.inf
    if gaps == "incomplete":
        y[rng.random(y.shape) < 0.4] = np.nan
        y[0] = np.arange(k) + 1.0  # so that every item is compared
    return X, y


def assert_same_trees(forest, X, y, weights=None):
    trees = forest.fit(X, y, weights).trees_
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WholeRows, "takes", lambda *_: False)
        others = forest.fit(X, y, weights).trees_
    for tree, other in zip(trees, others, strict=True):
        for part in PARTS:
            np.testing.assert_array_equal(getattr(tree, part), getattr(other, part), part)
        np.testing.assert_allclose(tree.gain, other.gain, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(tree.error, other.error, rtol=1e-6, atol=1e-6)
        np.testing.assert_array_equal(tree.values, other.values)
    return trees


@pytest.mark.parametrize("gaps", [None, "top-k", "incomplete"])
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize(
    ("shape", "limits"),
    [
        ((60, 3, 3), {}),
        ((2500, 4, 5), {}),
        ((700, 3, 70), {}),  # sums of more rows than a word has room for
        ((300, 6, 13), {"max_features": 2}),
        ((400, 3, 4), {"min_samples_leaf": 7, "max_depth": 6}),
        ((300, 3, 4), {"min_samples_split": 0.1, "min_impurity_decrease": 0.001}),
    ],
    ids=str,
)
def test_they_are_the_trees_of_the_general_way(shape, limits, ties, missing, gaps):
    X, y = make_rankings(*shape, ties=ties, missing=missing, gaps=gaps)
    trees = assert_same_trees(RankingForest(2, calibrate=False, random_state=1, **limits), X, y)
    assert trees[0].n_leaves > 3


def test_honest_trees():
    X, y = make_rankings(300, 4, 4)
    forest = RankingForest(2, honest=True, random_state=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WholeRows, "takes", lambda *_: False)
        other = RankingForest(2, honest=True, random_state=1).fit(X, y)
    np.testing.assert_array_equal(forest.fit(X, y).predict_pairwise(X), other.predict_pairwise(X))


@given(
    st.integers(1, 90),
    st.integers(1, 3),
    st.integers(2, 5),
    st.booleans(),
    st.sampled_from([None, "top-k", "incomplete"]),
    st.integers(1, 300),
    st.integers(0, 2**16),
)
def test_weights_and_few_rows(n, d, k, ties, gaps, largest, seed):
    X, y = make_rankings(n, d, k, seed=seed, ties=ties, missing=0.1, gaps=gaps)
    weights = np.random.default_rng(seed).integers(1, largest + 1, n).astype(float)
    assert_same_trees(RankingForest(1, bootstrap=False, random_state=seed), X, y, weights)


@given(
    st.integers(2, 60),
    st.integers(1, 4),
    st.integers(1, 6),
    st.sampled_from([0.0, 0.2]),
    st.integers(1, 4),
    st.booleans(),
    st.integers(0, 2**16),
)
def test_they_are_the_trees_of_the_definition(n, d, q, missing, least, draws, seed):
    rng = np.random.default_rng(seed)
    X = np.round(rng.standard_normal((n, d)), 1)
    X[rng.random((n, d)) < missing] = np.nan
    vectors, weights = rng.integers(0, 9, (n, q)), rng.integers(1, 4, n)
    features = code_features(X, np.zeros(d, np.intp), None)
    whole = WholeRows.of(features, TargetRows(vectors.astype(float)))
    most = max(1, d // 2) if draws else d
    limits = RULE.limits(n, d)._replace(min_samples_leaf=least, max_features=most)
    tree, leaf = whole.grow(np.arange(n), limits, weights.astype(float), seed)
    nodes = random_tree(whole.features.places, MISSING, vectors, weights, seed, least, most)
    assert len(tree.left) == len(nodes)
    n_leaves = 0
    for node, (rows, feature, goes_left, missing_left) in enumerate(nodes):
        assert tree.count[node] == len(rows)
        assert tree.weight[node] == weights[rows].sum()
        assert tree.feature[node] == feature
        if feature < 0:
            np.testing.assert_array_equal(np.flatnonzero(leaf == n_leaves), np.sort(rows))
            n_leaves += 1
            continue
        assert tree.missing_left[node] == missing_left
        values = X[rows, feature]
        sent = np.where(np.isnan(values), tree.missing_left[node], values <= tree.threshold[node])
        np.testing.assert_array_equal(sent, goes_left)
    np.testing.assert_array_equal(tree.leaf_of(X), leaf)


@pytest.mark.parametrize("weights", [0.5, 5000.0, 0.0])
def test_other_weights_go_the_general_way(weights):
    X, y = make_rankings(80, 3, 4)
    own = np.ones(80)
    own[3] = weights
    forest = RankingForest(3, random_state=0).fit(X, y, own)
    np.testing.assert_allclose(forest.predict_pairwise(X)[:, 0, 1] + forest.predict_pairwise(X)[:, 1, 0], 1.0)


def test_targets_that_are_not_small_whole_numbers_go_the_general_way():
    features = code_features(np.arange(3.0)[:, None], np.zeros(1, np.intp), None)
    for value in (0.5, -1.0, 2.0**15, np.nan):
        assert WholeRows.of(features, TargetRows(np.array([[0.0], [1.0], [value]]))) is None
    whole = WholeRows.of(features, TargetRows(np.array([[0.0], [1.0], [9.0]])))
    assert whole.takes(np.ones(3))
    assert not whole.takes(np.array([1.0, 1.0, 1000.0]))
    categories = code_features(np.arange(3.0)[:, None], np.array([3]), None)
    assert WholeRows.of(categories, TargetRows(np.zeros((3, 1)))) is None


def test_places_of_codes_rise_and_are_normal_scores():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal(3000), rng.integers(0, 3, 3000), np.zeros(3000)])
    features = code_features(X, np.zeros(3, np.intp), None)
    first = features.places[: features.n_codes[0]].astype(float)
    assert (np.diff(first) >= 1).all()
    assert np.corrcoef(first, features.lower[: features.n_codes[0]])[0, 1] > 0.995
    many = code_features(np.arange(float(MISSING))[:, None], np.zeros(1, np.intp), None)
    np.testing.assert_array_equal(many.places, np.arange(MISSING))


def test_wins_of_items():
    y = Rankings.from_positions(
        [[1.0, 2.0, 3.0], [1.0, 1.0, 2.0], [1.0, np.inf, np.inf], [np.nan, 2.0, 1.0], [1.0, np.nan, np.nan]]
    )
    np.testing.assert_array_equal(_wins(y), [[4, 2, 0], [3, 3, 0], [4, 1, 1], [2, 1, 3], [2, 2, 2]])


@given(st.integers(0, 2**16), st.sampled_from(["full", "incomplete", "tied"]))
def test_increasing_functions_of_a_feature_change_nothing(seed, kind):
    X, y = make_rankings(70, 3, 4, seed=seed, ties=kind == "tied", missing=0.1)
    if kind == "incomplete":
        y[np.random.default_rng(seed).random(y.shape) < 0.2] = np.nan
    new = np.random.default_rng(seed + 1).standard_normal((30, 3))
    changed = [np.column_stack([np.exp(3 * A[:, 0]), A[:, 1] ** 3, 5 * A[:, 2] - 7]) for A in (X, new)]
    plain = RankingForest(5, random_state=seed).fit(X, y)
    other = RankingForest(5, random_state=seed).fit(changed[0], y)
    np.testing.assert_array_equal(other.predict_pairwise(changed[0]), plain.predict_pairwise(X))
    np.testing.assert_array_equal(other.predict_pairwise(changed[1]), plain.predict_pairwise(new))
