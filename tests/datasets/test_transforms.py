from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import RidgeClassifier
from sklearn.naive_bayes import GaussianNB

from rankwise.datasets import rankings_from_classification, rankings_from_regression


def test_the_most_probable_class_comes_first():
    X, y = load_iris(return_X_y=True)
    rankings = rankings_from_classification(X, y)
    assert rankings.kind == "full"
    assert rankings.items == (0, 1, 2)
    assert np.array_equal(rankings.orders()[:, 0], GaussianNB().fit(X, y).predict(X))
    # Two of the rankings are not their own inverses, so orders instead of positions would be noticed.
    probabilities = GaussianNB().fit(X, y).predict_proba(X)
    clear = np.ptp(np.sort(probabilities, axis=1)[:, :2], axis=1) > 0
    by_place = np.take_along_axis(probabilities, rankings.orders(), axis=1)
    assert np.all(np.diff(by_place[clear], axis=1) <= 0)
    assert not np.array_equal(rankings.positions, rankings.orders() + 1)


def test_probabilities_that_underflow_do_not_tie():
    X, y = load_digits(return_X_y=True)
    zero = np.sum(GaussianNB().fit(X, y).predict_proba(X) == 0)
    assert zero > 0
    likelihood = GaussianNB().fit(X, y).predict_joint_log_proba(X)
    by_place = np.take_along_axis(likelihood, rankings_from_classification(X, y).orders(), axis=1)
    assert np.all(np.diff(by_place, axis=1) <= 0)


def test_rounded_probabilities_tie_in_class_order():
    X = [[0.0], [0.1], [10.0], [10.1], [20.0], [20.1]]
    rankings = rankings_from_classification(X, list("aabbcc"), decimals=3)
    assert [order.tolist() for order in rankings.orders()[::2]] == [[0, 1, 2], [1, 0, 2], [2, 0, 1]]


def test_any_classifier_and_named_classes():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    forest = RandomForestClassifier(5, random_state=0)
    rankings = rankings_from_classification(X, names, classifier=forest)
    assert rankings.items == ("setosa", "versicolor", "virginica")
    assert not hasattr(forest, "estimators_")
    with pytest.raises(TypeError, match="RidgeClassifier has no predict_proba"):
        rankings_from_classification(X, y, classifier=RidgeClassifier())


def test_largest_standardised_value_first():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 5)) * [1, 10, 100, 1000, 1] + [0, 5, -300, 0, 1]
    rest, rankings = rankings_from_regression(X, targets=[3, 1, 2])
    assert np.array_equal(rest, X[:, [0, 4]])
    z = ((X - X.mean(axis=0)) / X.std(axis=0))[:, [3, 1, 2]]
    assert np.array_equal(rankings.orders(), np.argsort(-z, axis=1))
    assert rankings.items == (3, 1, 2)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_columns_by_name(frame):
    data = {"a": [1.0, 2.0, 3.0], "b": [3.0, 1.0, 2.0], "c": [0.0, 0.0, 5.0]}
    rest, rankings = rankings_from_regression(frame(data), targets=["c", "a"])
    assert rest.ravel().tolist() == data["b"]
    assert rankings.items == ("c", "a")
    assert rankings.positions.tolist() == [[1, 2], [2, 1], [1, 2]]


def test_equal_values_tie():
    _, rankings = rankings_from_regression([[0, 1, 1], [0, 2, 2]], targets=[1, 2])
    assert rankings.positions.tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize(
    ("targets", "fragment"),
    [
        (["b", "c"], "no column is named 'b'; X has no column names"),
        ([0, 3], r"targets\[1\] is 3, but the columns of X run from 0 to 2"),
        ([-1, 0], r"targets\[0\] is -1, but must be at least 0"),
        ([1], "at least two different columns"),
        ([1, 1], "at least two different columns"),
        ([0, 1, 2], "no feature remains"),
    ],
)
def test_bad_targets(targets, fragment):
    with pytest.raises(ValueError, match=fragment):
        rankings_from_regression([[0, 1, 2], [3, 4, 6]], targets=targets)


@pytest.mark.parametrize(
    ("targets", "fragment"),
    [([0, 1.5], r"targets\[1\] is 1.5; give a whole number"), (1, "targets is 1; give a list of columns")],
)
def test_targets_of_a_wrong_type(targets, fragment):
    with pytest.raises(TypeError, match=fragment):
        rankings_from_regression([[0, 1, 2], [3, 4, 6]], targets=targets)


def test_decimals_are_a_whole_number():
    with pytest.raises(TypeError, match=r"decimals is 1\.5; give a whole number"):
        rankings_from_classification([[0.0], [1.0]], ["a", "b"], decimals=1.5)
