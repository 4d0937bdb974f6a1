"""Parts of the reproduction of Luo and Li that need a test of their own: the sampler of trees, and a curve."""

from __future__ import annotations

import numpy as np
import pytest

from rankwise_reproductions.tree_ranking.additive_trees import AdditiveTrees
from rankwise_reproductions.tree_ranking.figures_5_6 import _curve_of_the_paper


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.random((2000, 2))
    return X, X[:, 0] + 0.1 * rng.standard_normal(2000)


def test_without_evidence_trees_come_from_the_prior(rows):
    """The share of trees with one and with two leaves, by the definition of the prior of splits."""

    def probability(depth):
        return 0.6 * 0.5**depth

    sampler = AdditiveTrees(*rows, probability, n_trees=1, seed=0)
    sampler.leaf_variance = 0.0  # so that all partitions have the same evidence
    (tree,), residual = sampler.trees, rows[1]
    leaves = []
    for _ in range(20_000):
        sampler._move(tree, residual)
        leaves.append(sum(not node.children for node in tree))
    assert np.mean(np.equal(leaves, 1)) == pytest.approx(1 - probability(0), abs=0.03)
    assert np.mean(np.equal(leaves, 2)) == pytest.approx(probability(0) * (1 - probability(1)) ** 2, abs=0.03)


def test_a_root_that_must_split_stays_split(rows):
    sampler = AdditiveTrees(*rows, lambda depth: 0.45**depth, n_trees=3, seed=0)
    fits = sampler.draws(20, 20)
    assert all(tree[0].children for tree in sampler.trees)
    assert np.corrcoef(fits.mean(axis=0), rows[0][:, 0])[0, 1] > 0.95
    for tree, fit in zip(sampler.trees, sampler.fits, strict=True):
        leaves = [node for node in tree if not node.children]
        assert sorted(np.concatenate([node.rows for node in leaves])) == list(range(2000))
        assert all(len(np.unique(fit[node.rows])) == 1 for node in leaves)


def test_the_curve_of_the_paper_puts_the_picks_on_top():
    correct = np.arange(24) < 12
    found = [_curve_of_the_paper(correct, np.array([0, 5, 20]), seed) for seed in range(200)]
    assert all(sorted(one["labels"][:3]) == [0, 1, 1] and sum(one["labels"]) == 12 for one in found)
    # Without picks the order is random, and the expected area about the share of correct features.
    plain = [_curve_of_the_paper(correct, np.array([], dtype=int), seed)["area"] for seed in range(200)]
    assert np.mean(plain) == pytest.approx(0.5, abs=0.05)
    right = [_curve_of_the_paper(correct, np.array([0, 1, 2]), seed)["area"] for seed in range(200)]
    assert np.mean(right) > np.mean([one["area"] for one in found]) > np.mean(plain)
