"""Shapley values of pairs: against all sets of features, and what must hold of them whatever the trees."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from rankwise import Rankings
from rankwise.label_ranking import BoostedRanker, PairExplanation, RankingForest, RankingTree
from tests.naive.explanations import shapley_values, value_if_known

ITEMS = ("tea", "milk", "juice", "water")

TREES = [
    RankingTree(),
    RankingTree(max_depth=3, min_samples_leaf=5),
    RankingTree("position", growth="level", max_depth=4, random_state=0),
    RankingTree(honest=True, random_state=0),
    RankingTree(honest="paper", random_state=0),
    RankingForest(5, random_state=0),
    RankingForest(4, honest="paper", min_samples_leaf=2, random_state=0),
    RankingForest(5, min_samples_leaf=8, splitter="best", max_features=0.5, random_state=0),
    RankingForest(8, focus="item", random_state=0),
    RankingForest(4, pool="rankings", min_samples_leaf=5, random_state=0),
    BoostedRanker(8, min_samples_leaf=4),
    BoostedRanker(6, loss="plackett_luce", max_leaf_nodes=30, min_samples_leaf=1, subsample=0.7, random_state=0),
]
every_ranker = pytest.mark.parametrize("ranker", TREES, ids=repr)


def make_data(n: int = 80, seed: int = 0, *, gaps: bool = False) -> tuple[pd.DataFrame, Rankings]:
    """People with numbers, gaps and two kinds of categories, and their rankings."""
    rng = np.random.default_rng(seed)
    age, size = rng.integers(18, 80, n).astype(float), rng.normal(size=n)
    city, member = rng.choice(["Bonn", "Oslo", "Rome", "Lima"], n), rng.random(n) < 0.5
    scores = np.column_stack([age / 20, 1 + 2 * (city == "Oslo"), size * (city != "Rome") + member, np.ones(n)])
    scores += rng.gumbel(0, 0.4, scores.shape)
    if gaps:
        scores[rng.random(scores.shape) < 0.3] = np.nan
        scores[:2] = [[1, 2, 3, 4]]
    size[rng.random(n) < 0.2] = np.nan
    X = pd.DataFrame({"age": age, "size": size, "city": city, "member": member, "noise": rng.normal(size=n).round(1)})
    return X, Rankings.from_scores(scores, items=ITEMS)


def known_values(ranker, features, i, j):
    """The game of the definition, from public parts of the trees: the sum over trees with some features known."""
    trees = ranker.trees_ if hasattr(ranker, "trees_") else [ranker.tree_]
    pairs = list(zip(*np.triu_indices(len(ITEMS), 1), strict=True))
    if isinstance(ranker, BoostedRanker):
        slope = ranker.calibration_
        leaves = [slope * (tree.values[:, i] - tree.values[:, j]) for tree in trees]
        constant = slope * (ranker.base_scores_[i] - ranker.base_scores_[j])
    else:
        pair = pairs.index((min(i, j), max(i, j)))
        weights = getattr(ranker, "_tree_weights", None)
        weights = np.ones(len(trees)) if weights is None else weights[:, pair]
        means = [tree.values[:, pair].astype(float) for tree in trees]  # some are kept in 32 bits
        shares = [mean if i < j else 1 - mean for mean in means]
        leaves = [w * share / weights.sum() for w, share in zip(weights, shares, strict=True)]
        constant = 0.0

    def value(known):
        return constant + sum(value_if_known(tree, v, features, known) for tree, v in zip(trees, leaves, strict=True))

    return value


@every_ranker
@pytest.mark.parametrize("gaps", [False, True], ids=["full", "incomplete"])
def test_values_are_those_of_the_definition(ranker, gaps):
    X, y = make_data(gaps=gaps)
    ranker = clone(ranker).fit(X, y)
    found = ranker.explain(X[:6], "juice", "milk")
    encoded = ranker._check_fitted_features(X[:6])
    for row in range(6):
        v = known_values(ranker, encoded[row], 2, 1)
        np.testing.assert_allclose(found.values[row], shapley_values(v, 5), atol=1e-10)
        assert found.base_value == pytest.approx(v(set()), abs=1e-10)
        assert found.prediction[row] == pytest.approx(v({0, 1, 2, 3, 4}), abs=1e-10)


@every_ranker
def test_values_add_up_and_belong_to_pairs(ranker):
    X, y = make_data(150, gaps=True)
    ranker = clone(ranker).fit(X, y)
    found, reverse = ranker.explain(X, "tea", "water"), ranker.explain(X, "water", "tea")
    np.testing.assert_allclose(found.values.sum(axis=1), found.prediction - found.base_value, atol=1e-9)
    np.testing.assert_allclose(found.values, -reverse.values, atol=1e-10)
    is_share = found.output == "share"
    np.testing.assert_allclose(found.prediction + reverse.prediction, 1.0 if is_share else 0.0, atol=1e-9)
    # Columns stand for names.
    np.testing.assert_array_equal(ranker.explain(X, 0, 3).values, found.values)
    said = ranker.predict_pairwise(X)[:, 0, 3]
    sure = np.abs(found.prediction - (0.5 if is_share else 0.0)) > 1e-9
    np.testing.assert_array_equal((said > 0.5)[sure], (found.prediction > (0.5 if is_share else 0.0))[sure])


def test_a_forest_explains_the_mean_of_its_trees():
    X, y = make_data(120)
    forest = RankingForest(7, random_state=3).fit(X, y)
    shares = np.mean([tree.predict(forest._check_fitted_features(X)) for tree in forest.trees_], axis=0)
    np.testing.assert_allclose(forest.explain(X, "tea", "milk").prediction, shares[:, 0], atol=1e-12)


def test_a_boosted_ranker_explains_log_odds():
    X, y = make_data(120)
    ranker = BoostedRanker(20).fit(X, y)
    found = ranker.explain(X, "juice", "tea")
    P = ranker.predict_pairwise(X)[:, 2, 0]
    assert found.output == "log odds"
    np.testing.assert_allclose(found.prediction, np.log(P / (1 - P)), rtol=1e-9)


def test_what_a_tree_does_not_ask_adds_nothing_and_the_base_is_the_share_of_all():
    X, y = make_data(200)
    X["constant"] = 1.0
    tree = RankingTree(max_depth=3).fit(X, y)
    found = tree.explain(X, "tea", "milk")
    unused = tree.feature_importances_ == 0
    assert unused[-1]
    assert np.all(found.values[:, unused] == 0)
    before = y.positions[:, 0] < y.positions[:, 1]
    assert found.base_value == pytest.approx(before.mean())


def test_the_only_feature_that_is_asked_for_has_all_of_the_difference():
    X = pd.DataFrame({"a": [1.0, 2, 8, 9], "b": [0.0, 0, 0, 0]})
    y = Rankings([[1, 2], [1, 2], [2, 1], [2, 1]], items=["up", "down"])
    found = RankingTree().fit(X, y).explain(X, "up", "down")
    np.testing.assert_allclose(found.values, [[0.5, 0], [0.5, 0], [-0.5, 0], [-0.5, 0]])
    np.testing.assert_allclose(found.prediction, [1, 1, 0, 0])


@pytest.mark.parametrize("ranker", [RankingForest(6, random_state=0), BoostedRanker(10)], ids=repr)
def test_order_of_rows_threads_and_names_do_not_matter(ranker):
    X, y = make_data(100)
    first = clone(ranker).fit(X, y)
    other = clone(ranker).set_params(n_jobs=3).fit(X, y)
    found = first.explain(X, "tea", "milk")
    np.testing.assert_array_equal(other.explain(X, "tea", "milk").values, found.values)
    np.testing.assert_array_equal(first.explain(X[::-1], "tea", "milk").values[::-1], found.values)
    np.testing.assert_array_equal(first.explain(X[10:11], "tea", "milk").values, found.values[10:11])


def test_deep_trees_are_exact_too():
    """Paths of thirty different features, for which many points of quadrature are needed."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 40))
    y = np.argsort(rng.normal(size=(400, 3)), axis=1).argsort(axis=1) + 1
    tree = RankingTree(max_leaf_nodes=300, growth_order="breadth-first", splitter="random", random_state=0).fit(X, y)
    found = tree.explain(X[:20], 0, 1)
    np.testing.assert_allclose(found.values.sum(axis=1), found.prediction - found.base_value, atol=1e-12)
    chain = np.tril(np.ones((31, 30)))  # the tree asks for one feature after the other
    target = np.where(np.arange(31)[:, None] % 2 == 0, [[1, 2]], [[2, 1]])
    tree = RankingTree().fit(chain, target)
    assert tree.get_depth() > 4
    found = tree.explain(chain, 0, 1)
    np.testing.assert_allclose(found.values.sum(axis=1), found.prediction - found.base_value, atol=1e-12)


def test_results_show_themselves():
    X, y = make_data()
    X.loc[0, ["age", "city", "size"]] = [30.0, "Oslo", np.nan]
    found = RankingForest(5, random_state=0).fit(X, y).explain(X, "tea", "milk")
    assert isinstance(found, PairExplanation)
    assert found.features == ("age", "size", "city", "member", "noise")
    assert found.pair == ("tea", "milk")
    assert found.inputs[0, :4].tolist() == [30.0, None, "Oslo", bool(X.member[0])]
    text = repr(found[0])
    assert text.startswith(f"tea before milk: share {found.prediction[0]:.3f}\n{found.base_value:.3f} where no feature")
    assert "Oslo" in text
    assert "missing" in text
    assert "80 rows" in repr(found)
    assert "<table" in found[0]._repr_html_()
    frame = found.to_frame("pandas")
    assert frame.shape == (400, 4)
    np.testing.assert_array_equal(frame["value"].to_numpy().reshape(80, 5), found.values)
    np.testing.assert_array_equal(found[-1].values, found.values[-1:])
    with pytest.raises(IndexError, match="row 80 is not one of 80 rows"):
        found[80]
    wide = np.random.default_rng(0).normal(size=(60, 14))
    many = RankingForest(5, random_state=0).fit(wide, y[:60]).explain(wide[:1], "tea", "milk")
    assert "4 other features" in repr(many)


def test_mistakes_are_named():
    X, y = make_data()
    with pytest.raises(NotFittedError):
        RankingTree().explain(X, "tea", "milk")
    tree = RankingTree().fit(X, y)
    with pytest.raises(ValueError, match=r"there is no item 'beer'; the items are tea, milk"):
        tree.explain(X, "beer", "milk")
    with pytest.raises(ValueError, match="there is no item 4"):
        tree.explain(X, 4, "milk")
    with pytest.raises(ValueError, match="item 'tea' is compared with itself"):
        tree.explain(X, 0, "tea")
    numbered = RankingTree().fit(X, Rankings(y.positions, items=[2, 3, 4, 5]))
    np.testing.assert_array_equal(numbered.explain(X, 3, 2).values, tree.explain(X, "milk", "tea").values)
    with pytest.raises(ValueError, match="there is no item 0"):  # a column would be taken for a name
        numbered.explain(X, 0, 2)
