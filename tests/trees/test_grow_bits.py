"""Trees of pairs as bits are the trees of the general way, and count on nothing but the order of features."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwise.label_ranking import RankingForest, RankingTree
from rankwise.metrics import kendall_tau_score
from rankwise.trees import _grow_bits_jit
from rankwise.trees._grow_bits import MOST_PAIRS, PairBits
from rankwise.trees.engine import TrainingSet

PARTS = ("feature", "threshold", "missing_left", "left", "count", "weight")


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


def assert_same_trees(model, X, y, weights=None):
    by_bits = model.fit(X, y, weights)
    trees = getattr(by_bits, "trees_", None) or [by_bits.tree_]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TrainingSet, "_takes_bits", lambda *_: False)
        general = model.fit(X, y, weights)
    others = getattr(general, "trees_", None) or [general.tree_]
    positions = np.asarray(y)
    has_gaps = np.isnan(positions).any() or (np.isinf(positions).sum(axis=1) > 1).any()
    for tree, other in zip(trees, others, strict=True):
        if has_gaps:
            assert_same_but_for_ties(tree, other)
            continue
        for part in PARTS:
            np.testing.assert_array_equal(getattr(tree, part), getattr(other, part), part)
        np.testing.assert_allclose(tree.gain, other.gain, atol=1e-8)
        np.testing.assert_allclose(tree.error, other.error, atol=1e-8)
    return trees


def assert_same_but_for_ties(tree, other):
    """Sums of ratios are rounded, in another order: of splits that gain the same, either may be taken."""
    waiting, n_same = [(0, 0)], 0
    while waiting:
        a, b = waiting.pop()
        np.testing.assert_allclose(tree.gain[a], other.gain[b], atol=1e-8)
        np.testing.assert_allclose(tree.error[a], other.error[b], atol=1e-8)
        assert (tree.count[a], tree.weight[a], tree.left[a] < 0) == (other.count[b], other.weight[b], other.left[b] < 0)
        if all(getattr(tree, part)[a] == getattr(other, part)[b] for part in PARTS[:3]):
            n_same += 1
            waiting += [(tree.left[a] + side, other.left[b] + side) for side in range(2) if tree.left[a] >= 0]
    assert n_same >= 0.5 * len(tree.left)


@pytest.mark.parametrize("gaps", [None, "top-k", "incomplete"])
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize(
    ("shape", "limits"),
    [
        ((60, 3, 3), {}),
        ((2500, 4, 5), {}),  # more rows than are counted at a time
        ((300, 6, 13), {"max_features": 2}),  # more pairs than bits of a word
        ((400, 3, 4), {"min_samples_leaf": 7, "max_depth": 6}),
        ((300, 3, 4), {"min_samples_split": 0.1, "min_impurity_decrease": 0.001}),
        ((300, 4, 4), {"honest": True}),
    ],
    ids=str,
)
def test_they_are_the_trees_of_the_general_way(shape, limits, ties, missing, gaps):
    X, y = make_rankings(*shape, ties=ties, missing=missing, gaps=gaps)
    trees = assert_same_trees(RankingForest(2, random_state=1, **limits), X, y)
    assert trees[0].n_leaves > 3


@given(
    st.integers(1, 90),
    st.integers(1, 3),
    st.integers(2, 5),
    st.booleans(),
    st.sampled_from([None, "top-k", "incomplete"]),
    st.integers(1, _grow_bits_jit.WORD),
    st.integers(0, 2**16),
)
def test_weights_and_few_rows(n, d, k, ties, gaps, largest, seed):
    X, y = make_rankings(n, d, k, seed=seed, ties=ties, missing=0.1, gaps=gaps)
    weights = np.random.default_rng(seed).integers(1, largest + 1, n).astype(float)
    assert_same_trees(RankingTree(splitter="random", max_bins=None, random_state=seed), X, y, weights)


@pytest.mark.parametrize("weights", [0.5, 65.0, 0.0])
def test_other_weights_go_the_general_way(weights):
    X, y = make_rankings(80, 3, 4)
    own = np.ones(80)
    own[3] = weights
    forest = RankingForest(3, random_state=0).fit(X, y, own)
    np.testing.assert_allclose(forest.predict_pairwise(X)[:, 0, 1] + forest.predict_pairwise(X)[:, 1, 0], 1.0)


def test_bits_and_squared_lengths_of_pairs():
    y = np.array([[1.0, 2.0, 3.0], [2.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
    first, second = np.triu_indices(3, 1)
    pairs = PairBits.of(y, first, second)
    planes = (pairs.bits[:, :, None] >> np.arange(3, dtype=np.uint64)) & np.uint64(1)
    doubled = planes.sum(axis=1).astype(int)  # twice the share of the pair
    np.testing.assert_array_equal(doubled, [[2, 2, 2], [0, 0, 1], [1, 1, 1]])
    np.testing.assert_array_equal(pairs.squares, (doubled**2).sum(axis=1))


def test_bits_of_gaps():
    y = np.array([[1.0, np.inf, np.inf], [np.nan, 2.0, 1.0], [1.0, 1.0, np.nan]])
    pairs = PairBits.of(y, *np.triu_indices(3, 1))
    planes = (pairs.bits[:, :, None] >> np.arange(3, dtype=np.uint64)) & np.uint64(1)
    np.testing.assert_array_equal(planes[:, -1], [[1, 1, 0], [0, 0, 1], [1, 0, 0]])  # compared
    np.testing.assert_array_equal(planes[:, :-1].sum(axis=1), [[2, 2, 0], [0, 0, 0], [1, 0, 0]])
    np.testing.assert_array_equal(pairs.squares, [8, 0, 1])


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


def test_of_many_pairs_each_tree_draws_some():
    X, y = make_rankings(900, 5, 60)
    forest = RankingForest(20, random_state=0).fit(X[:600], y[:600])
    all_pairs = RankingForest(20, embedding="position", random_state=0).fit(X[:600], y[:600])
    assert y.shape[1] * (y.shape[1] - 1) // 2 > MOST_PAIRS
    tau, other = (kendall_tau_score(y[600:], each.predict(X[600:])) for each in (forest, all_pairs))
    assert tau > 0.25
    assert tau > other - 0.03
