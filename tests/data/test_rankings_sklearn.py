"""scikit-learn takes a Rankings as y: rows, weights and names travel together through every split."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, train_test_split
from sklearn.utils import _safe_indexing, indexable, resample, shuffle
from sklearn.utils.validation import check_consistent_length

from rankwise import Rankings
from tests.strategies import random_positions

ITEMS = ("a", "b", "c", "d")


class MeanPlaceRanker(BaseEstimator):
    """Predicts the mean places of the training rankings, or their opposite; refuses rows that lost their weight."""

    def __init__(self, opposite=False):
        self.opposite = opposite

    def fit(self, X, y):
        check_same_rows(X, y)
        self.mean_ = np.average(np.asarray(y), axis=0, weights=y.weights) * (-1 if self.opposite else 1)
        return self

    def score(self, X, y):
        check_same_rows(X, y)
        predicted = np.less.outer(self.mean_, self.mean_)
        return float(np.sum(y.pair_counts() * predicted) / np.sum(y.pair_counts()))


def check_same_rows(X, y):
    if not isinstance(y, Rankings):
        raise TypeError(f"y became {type(y)}")
    if y.items != ITEMS or not np.array_equal(y.weights, np.asarray(X)[:, 0] + 1):
        raise ValueError("names or weights were lost")


@pytest.fixture
def data():
    """Features whose first column is the number of the row, and rankings whose weight is that number plus one."""
    X = np.column_stack([np.arange(40.0), np.zeros(40)])
    positions = np.tile([1.0, 2.0, 3.0, 4.0], (40, 1))
    positions[::5] = [2, 1, 3, 4]
    return X, Rankings(positions, items=ITEMS, weights=np.arange(1, 41))


def test_train_test_split(data):
    X, y = data
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    check_same_rows(X_train, y_train)
    check_same_rows(X_test, y_test)
    assert len(y_train) + len(y_test) == 40


def test_folds(data):
    X, y = data
    for train, test in KFold(4, shuffle=True, random_state=0).split(X, y):
        check_same_rows(X[train], y[train])
        check_same_rows(X[test], y[test])


def test_cross_val_score(data):
    scores = cross_val_score(MeanPlaceRanker(), *data, cv=4, error_score="raise")
    assert np.all(scores > 0.9)


def test_grid_search(data):
    search = GridSearchCV(MeanPlaceRanker(), {"opposite": [True, False]}, cv=4, error_score="raise").fit(*data)
    assert search.best_params_ == {"opposite": False}
    assert search.score(*data) > 0.9


@pytest.mark.parametrize("kind", ["full", "tied", "top-k", "incomplete"])
def test_utilities_keep_rows_together(kind):
    X = np.arange(12.0)[:, None]
    y = Rankings(random_positions(np.random.default_rng(0), 12, 4, kind), items=ITEMS, weights=np.arange(1, 13))
    check_consistent_length(X, y)
    assert indexable(X, y)[1] is y
    for mixed in (shuffle(X, y, random_state=0), resample(X, y, random_state=0, n_samples=9)):
        check_same_rows(*mixed)
        assert mixed[1] == y[mixed[0][:, 0].astype(int)]


@pytest.mark.parametrize(
    "rows",
    [
        [3, 1],
        [i % 2 == 0 for i in range(6)],
        np.array([3, 1]),
        np.arange(6) > 2,
        slice(1, 4),
        pd.Index([3, 1]),
        pd.Series([3, 1], index=["x", "y"]),
        pd.Series(np.arange(6) > 2),
        (3, 1),
    ],
)
def test_safe_indexing(rows):
    y = Rankings(random_positions(np.random.default_rng(0), 6, 4, "incomplete"), items=ITEMS, weights=np.arange(6))
    part = _safe_indexing(y, rows)
    numbers = np.arange(6)[rows if isinstance(rows, slice) else np.asarray(rows)]
    assert part.weights.tolist() == numbers.tolist()
    assert part == y[numbers]
