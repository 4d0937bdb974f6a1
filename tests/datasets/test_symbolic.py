from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau

from rankwise.datasets import make_symbolic_regression

TABLE1 = ["table1-1", "table1-2", "table1-3", "table1-4"]


def test_cubic_law():
    X, y, bunch = make_symbolic_regression(random_state=0)
    assert X.shape == (100, 3)
    assert X.min() >= 0
    assert X.max() <= 1
    np.testing.assert_allclose(y, 2 * X[:, 0] ** 3 + 5 * X[:, 2] + 10)
    assert bunch.informative == [0, 2]


def test_noise_is_a_standard_deviation():
    X, y, bunch = make_symbolic_regression(20_000, noise=0.3, random_state=0)
    assert abs((y - bunch.signal).std() - 0.3) < 0.01
    assert np.array_equal(X, make_symbolic_regression(20_000, random_state=0)[0])


@pytest.mark.parametrize("problem", TABLE1)
def test_columns_are_what_their_names_say(problem):
    X, y, bunch = make_symbolic_regression(50, problem=problem, random_state=0)
    assert bunch.feature_names[0] == "x"
    x = X[:, 0]
    for name, column in zip(bunch.feature_names, X.T, strict=True):
        formula = name.replace(" x", "*x").replace("2 sin", "2*sin")
        np.testing.assert_allclose(column, eval(formula, {"sin": np.sin, "cos": np.cos, "x": x}))
    assert np.array_equal(y, X[:, -1])
    assert bunch.expression == bunch.feature_names[-1]
    assert bunch.informative == [3]


@pytest.mark.parametrize(("problem", "winner"), list(zip(TABLE1, [0, 3, 0, 3], strict=True)))
def test_kendall_rows_of_table_1(problem, winner):
    # On U(0, 0.5) the first feature of largest |tau| is the one that the paper includes in 100% of its runs.
    X, y, _ = make_symbolic_regression(500, problem=problem, distribution="uniform", random_state=0)
    tau = [abs(kendalltau(column, y).statistic) for column in X.T]
    assert int(np.argmax(np.round(tau, 12))) == winner
    assert X[:, 0].min() >= 0
    assert X[:, 0].max() <= 0.5


def test_normal_by_default():
    x = make_symbolic_regression(20_000, problem="table1-1", random_state=0)[0][:, 0]
    assert abs(x.mean()) < 0.05
    assert abs(x.std() - 1) < 0.05


def test_same_seed_same_data():
    first, second, other = (make_symbolic_regression(noise=1.0, random_state=s) for s in (1, 1, 2))
    assert np.array_equal(first[1], second[1])
    assert not np.array_equal(first[1], other[1])


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        ({"problem": "quartic"}, "problem is 'quartic'; choose 'cubic'"),
        ({"noise": -0.1}, "noise is -0.1"),
        ({"noise": np.inf}, "noise is inf, but must be finite"),
        ({"n_samples": 0}, "n_samples is 0"),
        ({"distribution": "uniform"}, "distribution is for the problems of Table 1"),
        ({"problem": "table1-1", "distribution": "cauchy"}, "distribution is 'cauchy'"),
    ],
)
def test_bad_arguments(arguments, fragment):
    with pytest.raises(ValueError, match=fragment):
        make_symbolic_regression(**arguments)


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [({"noise": "a"}, "noise is 'a'; give a number"), ({"n_samples": 5.0}, "n_samples is 5.0; give a whole number")],
)
def test_arguments_of_a_wrong_type(arguments, fragment):
    with pytest.raises(TypeError, match=fragment):
        make_symbolic_regression(**arguments)
