"""Regressors of places against a loop over items, and the depths of the theorems."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeRegressor

from rankwise.label_ranking import LabelwiseRanker
from tests.label_ranking.test_every_ranker import make_data
from tests.naive import label_ranking as naive
from tests.strategies import KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_places_equal_regressors_fitted_one_by_one(kind):
    X, y = make_data(kind)
    ranker = LabelwiseRanker(LinearRegression()).fit(X, y)
    targets = np.array([naive.place_vector(row) for row in y])
    expected = np.empty((60, 4))
    for i in range(4):
        held = ~np.isnan(targets[:, i])
        expected[:, i] = LinearRegression().fit(X[held], targets[held, i]).predict(X)
    np.testing.assert_allclose(ranker.predict_places(X), expected, atol=1e-12)
    np.testing.assert_array_equal(ranker.predict(X), np.argsort(np.argsort(expected, axis=1), axis=1) + 1)


def test_equal_places_go_by_the_mean_place():
    X = np.zeros((3, 1))
    y = [[3, 1, 2], [3, 1, 2], [2, 1, 3]]
    stump = LabelwiseRanker(DecisionTreeRegressor(max_depth=1)).fit(X, y)
    stump.regressors_[2] = stump.regressors_[0]  # 0 and 2 predict the same place
    assert stump.predict([[0.0]]).tolist() == [[3, 1, 2]]


def test_without_errors_probabilities_are_certain():
    X, y = make_data()
    P = LabelwiseRanker(LinearRegression()).fit(X, y).predict_pairwise(X)
    assert set(np.unique(P)) == {0.0, 0.5, 1.0}


def test_probabilities_come_from_errors_on_unseen_rows():
    X, y = make_data("incomplete", n=200)
    model = LinearRegression()
    ranker = LabelwiseRanker(model, n_folds=4).fit(X, y)
    targets = np.array([naive.place_vector(row) for row in y])
    errors = np.full((200, 4), np.nan)
    for i in range(4):
        held = np.flatnonzero(~np.isnan(targets[:, i]))
        keep = held[np.isin(held, np.flatnonzero(~np.isnan(y).all(axis=1)))]
        for train, test in KFold(4, shuffle=True, random_state=0).split(keep):
            fitted = clone(model).fit(X[keep[train]], targets[keep[train], i])
            errors[keep[test], i] = targets[keep[test], i] - fitted.predict(X[keep[test]])
    for i, j in naive.pairs(4):
        spread = np.sqrt(np.nanmean((errors[:, i] - errors[:, j]) ** 2))
        assert ranker.spread_[i, j] == pytest.approx(spread, rel=1e-6)
    places = ranker.predict_places(X)
    expected = norm.cdf((places[:, 1] - places[:, 0]) / ranker.spread_[0, 1])
    np.testing.assert_allclose(ranker.predict_pairwise(X)[:, 0, 1], expected, atol=1e-9)


def test_the_default_forest_knows_its_errors():
    X, y = make_data(n=80)
    ranker = LabelwiseRanker(random_state=0).fit(X, y)
    assert np.all(ranker.spread_[np.triu_indices(4, 1)] > 0)
    P = ranker.predict_pairwise(X[:20])
    assert np.unique(P).size > 50
    np.testing.assert_array_equal(P, LabelwiseRanker(random_state=0).fit(X, y).predict_pairwise(X[:20]))
    assert LabelwiseRanker(random_state=0).fit(X[:3], y[:3]).predict(X[:3]).shape == (3, 4)
