"""The engine: coded features and thresholds; what leaves predict, with honest halves, missing targets, weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from rankwise.trees import LeastSquaresForest, LeastSquaresTree
from rankwise.trees._grow_jit import threshold_between
from rankwise.trees.engine import TargetRows, code_features
from tests.naive import trees as naive
from tests.trees.test_grow import make_data, rows_of_nodes, small_problems

MODELS = [
    LeastSquaresTree(),
    LeastSquaresTree(growth="level"),
    LeastSquaresTree(honest=True, random_state=0),
    LeastSquaresTree(honest="paper", random_state=0),
    LeastSquaresTree(honest="paper", growth="level", random_state=0),
    LeastSquaresTree(splitter="random", max_features=1, random_state=0),
    LeastSquaresTree(max_bins=5),
    LeastSquaresForest(5, random_state=0),
    LeastSquaresForest(5, bootstrap=False, max_samples=0.6, honest=True, sketch=2, random_state=0),
]
every_model = pytest.mark.parametrize("model", MODELS, ids=repr)


def naive_values(tree, X, y, w, fill):
    """Values of the leaves by definition, from the rows that fill."""
    passes = rows_of_nodes(tree, X) & fill
    values = []
    for leaf in np.flatnonzero(tree.is_leaf):
        path = [leaf]
        while path[-1] > 0:
            path.append(tree.parent[path[-1]])
        values.append(naive.fill_leaf([passes[node] for node in path], y, w))
    return np.array(values)


@pytest.mark.parametrize("options", [{}, {"ccp_alpha": 1e-3}, {"growth": "level", "max_depth": 5}], ids=str)
@pytest.mark.parametrize("n", [2, 41])
def test_honest_leaves_use_no_row_that_grew_the_tree(options, n):
    """Row r alone has target r, so that the values of leaves say which rows fill them."""
    X = np.random.default_rng(0).standard_normal((n, 2))
    model = LeastSquaresTree(honest=True, random_state=1, **options).fit(X, np.eye(n))
    fill = model.tree_.values.sum(axis=0) > 0
    assert fill.sum() == n // 2
    np.testing.assert_array_equal(model.tree_.count, rows_of_nodes(model.tree_, X)[:, ~fill].sum(axis=1))
    np.testing.assert_allclose(model.tree_.values, naive_values(model.tree_, X, np.eye(n), np.ones(n), fill))
    other = LeastSquaresTree(honest=True, random_state=2, **options).fit(X, np.eye(n))
    assert n == 2 or not np.array_equal(other.tree_.values.sum(axis=0) > 0, fill)


def test_empty_cells_take_the_mean_of_the_nearest_ancestor():
    rng = np.random.default_rng(0)
    n = 60
    X, w = rng.standard_normal((n, 3)), rng.uniform(0.5, 2, n)
    y = np.eye(n)
    y[rng.random((n, n)) < 0.5] = np.nan
    y[np.arange(n), np.arange(n)] = 1.0
    model = LeastSquaresTree(honest=True, random_state=0).fit(X, y, w)
    fill = np.zeros(n, bool)
    fill[LeastSquaresTree(honest=True, random_state=0).fit(X, np.eye(n)).tree_.values.sum(axis=0) > 0] = True
    expected = naive_values(model.tree_, X, y, w, fill)
    overall = np.array([np.average(c[~np.isnan(c)], weights=w[~np.isnan(c)]) for c in y.T])
    expected = np.where(np.isnan(expected), overall, expected)  # no filling row has this target
    np.testing.assert_allclose(model.tree_.values, expected)
    leaf_rows = rows_of_nodes(model.tree_, X)[model.tree_.is_leaf][:, fill].sum(axis=1)
    assert (leaf_rows == 0).any()


def test_one_row_is_its_own_prediction():
    for model in (*MODELS, LeastSquaresForest(3, honest=True, random_state=0)):
        np.testing.assert_allclose(model.fit([[1.0, 2.0]], [[3.0, 4.0]]).predict([[0.0, 9.0]]), [[3.0, 4.0]])


@given(small_problems())
def test_leaves_hold_means_of_what_is_known(problem):
    X, y, w = problem
    model = LeastSquaresTree(min_samples_leaf=2, max_bins=None).fit(X, y, w)
    expected = naive_values(model.tree_, X, y, w, np.ones(len(X), dtype=bool))
    np.testing.assert_allclose(model.tree_.values, expected)


@every_model
def test_predictions_are_finite_where_targets_are_rare(model):
    """A target known of two rows only is in few bootstraps and halves; where it is not, the overall mean stands in."""
    X, y = make_data(n=40, q=3)
    y[2:, 1] = np.nan
    predicted = model.fit(X, y).predict(X)
    assert np.isfinite(predicted).all()
    assert y[:2, 1].min() - 1e-9 <= predicted[:, 1].min()
    assert predicted[:, 1].max() <= y[:2, 1].max() + 1e-9


@every_model
def test_rows_without_weight_or_target_leave_no_trace(model):
    X, y = make_data(n=60, q=3)
    X = np.column_stack([X, np.arange(60) % 4])
    extra = np.full((30, 5), 50.0) + np.arange(30)[:, None]
    more_X = np.vstack([X, extra, extra])
    more_y = np.vstack([y, np.full((30, 3), np.nan), np.full((30, 3), 1e6)])
    more_w = np.repeat([1.0, 1.0, 0.0], [60, 30, 30])
    model.set_params(categorical_features=[4])
    plain = model.fit(X, y).predict(more_X)
    np.testing.assert_array_equal(model.fit(more_X, more_y, more_w).predict(more_X), plain)
    model.set_params(categorical_features=None)


@pytest.mark.parametrize("growth", ["best", "level"])
@pytest.mark.parametrize("missing_targets", [0.0, 0.3])
def test_a_row_of_weight_two_is_the_row_twice(growth, missing_targets):
    X, y = make_data(n=80, q=3)
    y[np.random.default_rng(0).random(y.shape) < missing_targets] = np.nan
    times = 1 + np.arange(80) % 3
    model = LeastSquaresTree(growth=growth, max_bins=None, max_depth=4)
    weighted = model.fit(X, y, times).predict(X)
    rows = np.repeat(np.arange(80), times)
    np.testing.assert_allclose(weighted, model.fit(X[rows], y[rows]).predict(X), atol=1e-9)


@pytest.mark.parametrize("growth", ["best", "level"])
@pytest.mark.parametrize("splitter", ["best", "random"])
def test_the_way_of_missing_targets_equals_that_of_complete_ones(growth, splitter):
    X, y = make_data(n=150, q=4)
    options = {"growth": growth, "splitter": splitter, "max_bins": None, "min_samples_leaf": 8, "random_state": 0}
    complete = LeastSquaresTree(**options).fit(X, y)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TargetRows, "is_complete", False)
        incomplete = LeastSquaresTree(**options).fit(X, y)
    np.testing.assert_array_equal(incomplete.tree_.feature, complete.tree_.feature)
    np.testing.assert_allclose(incomplete.tree_.threshold, complete.tree_.threshold)
    np.testing.assert_allclose(incomplete.predict(X), complete.predict(X))


@every_model
def test_targets_that_are_never_known_are_named(model):
    X, y = make_data(n=20, q=3)
    y[:, 1] = np.nan
    with pytest.raises(ValueError, match="column 1 of y has no value"):
        model.fit(X, y)
    y[0, 1] = 1.0
    with pytest.raises(ValueError, match="column 1 of y has no value"):
        model.fit(X, y, np.arange(20) > 0)
    with pytest.raises(ValueError, match="nothing to learn from"):
        model.fit(X, y, np.zeros(20))
    with pytest.raises(ValueError, match="dim 3"):
        model.fit(X, np.zeros((20, 2, 2)))


def test_codes_keep_the_order_of_values():
    X = np.array([[3.0, 1], [1.0, np.nan], [np.nan, 0], [1.0, 2], [7.0, 1]])
    exact = code_features(X, np.array([0, 3]), None)
    np.testing.assert_array_equal(exact.codes, [[1, 0, 3, 0, 2], [1, 3, 0, 2, 1]])
    assert exact.n_codes.tolist() == [3, 3]
    assert exact.is_categorical.tolist() == [False, True]
    binned = code_features(X, np.array([0, 3]), 2)
    np.testing.assert_array_equal(binned.codes[0], [1, 0, 2, 0, 1])
    assert (binned.lower[:2].tolist(), binned.upper[:2].tolist()) == ([1, 3], [1, 7])


def test_thresholds_lie_between_the_values_of_codes():
    low = np.nextafter(1.0, 0)
    features = code_features(np.array([[low], [1.0], [5.0]]), np.zeros(1, dtype=int), None)
    assert threshold_between(features, 0, 0, 1) == low  # the middle would be 1 itself
    assert threshold_between(features, 0, 1, 2) == 3.0
    assert threshold_between(features, 0, 2, 3) == np.inf  # only missing values go right
