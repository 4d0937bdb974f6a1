"""Forests of regression trees: the rows that trees see, rows out of the bag, threads, scores."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import r2_score
from sklearn.model_selection import cross_val_score

from rankwise._validation import check_generator
from rankwise.trees import LeastSquaresForest, LeastSquaresTree
from rankwise.trees.engine import Sampling
from tests.trees.test_grow import make_data

SAMPLINGS = [
    {"bootstrap": True},
    {"bootstrap": True, "max_samples": 30},
    {"bootstrap": False, "max_samples": 0.5},
]


def rows_by_tree(forest, n):
    """Which rows each tree of a forest has seen, and how often."""
    rng = check_generator(forest.random_state)
    sampling = Sampling.build(n, forest.n_estimators, forest.bootstrap, forest.max_samples, rng)
    times = np.zeros((forest.n_estimators, n))
    for tree in range(forest.n_estimators):
        drawn, often, _ = sampling.draw(tree)
        times[tree, drawn] = often
    return times


@pytest.mark.parametrize("sampling", SAMPLINGS, ids=str)
def test_what_trees_see(sampling):
    """Row r alone has target r, so that a tree of one leaf shows the rows that it has seen."""
    n = 80
    forest = LeastSquaresForest(40, min_samples_leaf=n, random_state=0, **sampling).fit(
        np.arange(n)[:, None], np.eye(n)
    )
    shares = np.array([tree.values[0] for tree in forest.trees_])
    size = {None: n, 30: 30, 0.5: n // 2}[sampling.get("max_samples")]
    np.testing.assert_allclose(shares, rows_by_tree(forest, n) / size)
    assert shares.sum(axis=0).min() > 0  # every row is seen by some tree
    assert len(np.unique(shares, axis=0)) == 40
    if not sampling["bootstrap"]:
        assert ((shares == 0) | (shares == 1 / size)).all()


def test_all_rows_without_replacement():
    X, y = make_data(n=50)
    forest = LeastSquaresForest(2, bootstrap=False, random_state=0).fit(X, y)
    np.testing.assert_allclose(forest.predict(X), y, atol=1e-9)


@pytest.mark.parametrize("sampling", SAMPLINGS, ids=str)
@pytest.mark.parametrize("honest", [False, True])
def test_out_of_bag_by_definition(sampling, honest):
    X, y = make_data(n=70, q=2)
    w = np.random.default_rng(0).uniform(0.5, 2, 70)
    forest = LeastSquaresForest(12, oob_score=True, honest=honest, random_state=3, **sampling).fit(X, y, w)
    unseen = rows_by_tree(forest, 70) == 0
    predicted = np.array([tree.predict(X) for tree in forest.trees_])
    expected = np.array([predicted[unseen[:, row], row].mean(axis=0) for row in range(70)])
    np.testing.assert_allclose(forest.oob_prediction_, expected)
    assert forest.oob_score_ == pytest.approx(r2_score(y, expected, sample_weight=w))


def test_out_of_bag_where_rows_have_no_weight_and_targets_are_missing():
    X, y = make_data(n=90, q=2)
    y[::4, 0] = np.nan
    y[5] = np.nan
    w = np.ones(90)
    w[7] = 0
    forest = LeastSquaresForest(30, oob_score=True, random_state=0).fit(X, y, w)
    assert np.isnan(forest.oob_prediction_).all(axis=1).nonzero()[0].tolist() == [5, 7]
    rows = w > 0
    scores = [r2_score(y[k, c], forest.oob_prediction_[k, c]) for c in (0, 1) for k in [rows & ~np.isnan(y[:, c])]]
    assert forest.oob_score_ == pytest.approx(np.mean(scores))


def test_a_row_that_every_tree_has_seen_has_no_prediction_out_of_the_bag():
    forest = LeastSquaresForest(1, oob_score=True, random_state=0).fit(*make_data(n=20))
    seen = rows_by_tree(forest, 20)[0] > 0
    np.testing.assert_array_equal(np.isnan(forest.oob_prediction_[:, 0]), seen)


def test_nothing_out_of_the_bag():
    with pytest.raises(ValueError, match="set bootstrap=True or max_samples"):
        LeastSquaresForest(3, bootstrap=False, oob_score=True).fit(*make_data(n=20))


def test_more_rows_than_there_are():
    with pytest.raises(ValueError, match="max_samples is 21, but there are 20 rows"):
        LeastSquaresForest(3, bootstrap=False, max_samples=21).fit(*make_data(n=20))
    LeastSquaresForest(3, max_samples=21).fit(*make_data(n=20))


@pytest.mark.parametrize("options", [{}, {"splitter": "random"}, {"honest": True, "sketch": 2}, {"growth": "level"}])
def test_threads_change_no_bit(options):
    X, y = make_data(n=3000, q=3)
    X[::7, 0] = np.nan
    one, two = (
        LeastSquaresForest(6, max_features=2, max_depth=6, random_state=0, n_jobs=jobs, **options).fit(X, y)
        for jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.predict(X), two.predict(X))
    np.testing.assert_array_equal(one.apply(X), two.apply(X))
    np.testing.assert_array_equal(one.feature_importances_, two.feature_importances_)


def test_as_good_as_the_forest_of_scikit_learn():
    X, y = make_data(n=1200, q=3)
    ours = LeastSquaresForest(60, max_features=0.5, random_state=0).fit(X[:600], y[:600])
    peer = RandomForestRegressor(60, max_features=0.5, random_state=0).fit(X[:600], y[:600])
    assert ours.score(X[600:], y[600:]) == pytest.approx(peer.score(X[600:], y[600:]), abs=0.02)
    np.testing.assert_allclose(ours.feature_importances_, peer.feature_importances_, atol=0.05)
    assert ours.feature_importances_.sum() == pytest.approx(1)


def test_the_mean_of_the_trees():
    X, y = make_data(n=60, q=2)
    forest = LeastSquaresForest(7, random_state=0).fit(X, y)
    np.testing.assert_allclose(forest.predict(X), np.mean([tree.predict(X) for tree in forest.trees_], axis=0))
    leaves = forest.apply(X)
    assert leaves.shape == (60, 7)
    np.testing.assert_array_equal(leaves[:, 3], forest.trees_[3].find_leaves(X))


def test_a_generator_moves_on_and_a_seed_does_not():
    X, y = make_data(n=60)
    rng = np.random.default_rng(0)
    first, second = (LeastSquaresForest(3, random_state=rng).fit(X, y).predict(X) for _ in range(2))
    assert not np.array_equal(first, second)
    again = LeastSquaresForest(3, random_state=np.random.default_rng(0)).fit(X, y).predict(X)
    np.testing.assert_array_equal(first, again)


def test_paths_through_all_trees():
    X, y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40.0)
    forest = LeastSquaresForest(3, random_state=0).fit(X, y)
    indicator, ends = forest.decision_path(X)
    assert indicator.shape == (40, sum(len(tree.left) for tree in forest.trees_)) == (40, ends[-1])
    for number, tree in enumerate(forest.trees_):
        part = indicator[:, ends[number] : ends[number + 1]].toarray()
        np.testing.assert_array_equal(part.sum(axis=1) - 1, tree.depth[tree.find_leaves(X)])
        assert part[:, 0].all()


def test_constant_targets_out_of_the_bag():
    X = np.random.default_rng(0).normal(size=(40, 3))
    assert LeastSquaresForest(20, oob_score=True, random_state=0).fit(X, np.full(40, 0.1)).oob_score_ == 1.0


def test_scores_where_targets_are_missing():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=(60, 2))
    y[::3, 1] = np.nan
    forest = LeastSquaresForest(5, random_state=0).fit(X, y)
    predicted, known = forest.predict(X), ~np.isnan(y[:, 1])
    expected = [r2_score(y[:, 0], predicted[:, 0]), r2_score(y[known, 1], predicted[known, 1])]
    assert forest.score(X, y) == pytest.approx(np.mean(expected))
    assert np.isfinite(cross_val_score(LeastSquaresForest(3), X, y, cv=3)).all()


def test_scores_of_other_targets_than_those_of_the_fit_are_refused():
    X = np.arange(12.0).reshape(6, 2)
    with pytest.raises(ValueError, match="y has 2 targets, but 1 are predicted"):
        LeastSquaresForest(2).fit(X, X[:, 0]).score(X, X)


def test_numbers_whose_squares_are_none_are_refused():
    X, y = [[0], [1], [2], [3]], [1e308, -1e308, 1e308, -1e308]
    for estimator in (LeastSquaresTree(), LeastSquaresForest(2)):
        with pytest.raises(ValueError, match="do not fit into a float64; rescale y"):
            estimator.fit(X, y)
        with pytest.raises(ValueError, match="the sum of sample_weight does not fit"):
            estimator.fit(X, [1, 2, 3, 4], sample_weight=[1e308] * 4)
