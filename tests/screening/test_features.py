"""Generated expressions: how many, how they are written, where they are guarded."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from rankwise.screening import SymbolicFeatures, _screening_jit, rank_classes
from rankwise.screening.expressions import BINARY, UNARY

ALL_UNARY, ALL_BINARY = tuple(UNARY), tuple(BINARY)
FUNCTIONS = {
    "square": np.square,
    "cube": lambda v: v**3,
    "sqrt": np.sqrt,
    "cbrt": np.cbrt,
    "inverse": lambda v: 1 / v,
    "exp": np.exp,
    "log": np.log,
    "sin": np.sin,
    "cos": np.cos,
    "abs": np.abs,
}


@parametrize_with_checks([SymbolicFeatures(), SymbolicFeatures("ub", unary=("id", "log"), pool="cumulative")])
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize(("architecture", "n_features", "n_classes"), [("bu", 24, 9), ("ub", 42, 24)])
def test_the_two_architectures_of_the_paper(rng, architecture, n_features, n_classes):
    X = rng.random((100, 3))
    Z = SymbolicFeatures(architecture).fit_transform(X)
    assert Z.shape == (100, n_features)
    assert len(set(rank_classes(Z))) == n_classes


@pytest.mark.parametrize("architecture", ["u", "b", "bu", "ub", "ubb"])
def test_count_is_the_most_there_can_be(rng, architecture):
    features = SymbolicFeatures(architecture, unary=("id", "cube"), binary=ALL_BINARY)
    n_made = features.fit_transform(rng.random((40, 2)) + 1).shape[1]
    assert n_made <= features.count(2)[-1]
    if len(architecture) == 1:
        assert n_made == features.count(2)[-1]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_unary_operators(name):
    X = np.array([[0.5], [2.0], [3.0]])
    Z = SymbolicFeatures("u", unary=[name]).fit_transform(X)
    np.testing.assert_allclose(Z, FUNCTIONS[name](X))


@pytest.mark.parametrize(("name", "function"), [("sin", np.sin), ("cos", np.cos)])
def test_sines_of_all_sizes(rng, name, function):
    quarters = np.arange(-2000, 2000) * np.pi / 2
    beside = np.nextafter(quarters, np.inf)
    for x in (
        quarters,
        beside,
        rng.standard_normal(4000),
        rng.uniform(-1e5, 1e5, 4000),
        10.0 ** rng.uniform(-300, 15, 4000),
    ):
        code, row = np.array([UNARY[name].code]), np.zeros(1, dtype=np.intp)
        with np.errstate(all="ignore"):
            values, _, _ = _screening_jit.evaluate_expressions(x[None], np.zeros((1, len(x))), code, row, row)
        np.testing.assert_allclose(values[0], function(x), rtol=5e-16, atol=1e-20)


def test_binary_operators():
    X = np.array([[1.0, 2.0], [3.0, 5.0], [4.0, 2.0]])
    features = SymbolicFeatures("b", binary=ALL_BINARY).fit(X)
    a, b = X.T
    columns = {
        "2*x0": 2 * a,
        "x0 + x1": a + b,
        "2*x1": 2 * b,
        "x0 - x1": a - b,
        "x1 - x0": b - a,
        "x0^2": a * a,
        "x0*x1": a * b,
        "x1^2": b * b,
        "x0/x1": a / b,
        "x1/x0": b / a,
        "|x0 - x1|": abs(a - b),
    }
    assert features.get_feature_names_out().tolist() == list(columns)
    np.testing.assert_allclose(features.transform(X), np.column_stack(list(columns.values())))


def test_formulas_say_what_is_computed(rng):
    frame = pd.DataFrame(rng.random((30, 2)) + 0.5, columns=["a", "b"])
    features = SymbolicFeatures("ubu", unary=("id", "square", "inverse", "log"), binary=ALL_BINARY)
    Z = features.set_output(transform="pandas").fit_transform(frame)
    names = {"log": np.log, "sqrt": np.sqrt, "cbrt": np.cbrt, "exp": np.exp, "sin": np.sin, "cos": np.cos}
    checked = 0
    for formula in Z.columns[:: max(1, len(Z.columns) // 300)]:
        if "|" in formula:
            continue
        value = eval(formula.replace("^", "**"), {**names, **{name: frame[name] for name in frame}})
        np.testing.assert_allclose(value, Z[formula], rtol=1e-8)
        checked += 1
    assert checked > 100
    assert Z.columns.is_unique


def test_powers_are_written_as_one():
    X = np.array([[1.0], [2.0], [3.0]])
    names = SymbolicFeatures("ubu", unary=("id", "cube")).fit(X).get_feature_names_out()
    assert {"x0^4", "x0^6", "x0^18"} <= set(names)


def test_names_that_are_no_words_stand_in_brackets():
    frame = pd.DataFrame({"mass (kg)": [1.0, 2.0, 4.0], "v": [3.0, 1.0, 2.0]})
    names = SymbolicFeatures("b", binary=("*",)).fit(frame).get_feature_names_out()
    assert names.tolist() == ["[mass (kg)]^2", "[mass (kg)]*v", "v^2"]


@pytest.mark.parametrize(
    ("unary", "column"),
    [("log", [0.0, 1.0, 2.0]), ("log", [-1.0, 1.0, 2.0]), ("sqrt", [-1.0, 1.0, 2.0]), ("inverse", [0.0, 1.0, 2.0])],
)
def test_operators_keep_to_their_domain(unary, column):
    X = np.column_stack([column, [1.0, 2.0, 4.0]])
    names = SymbolicFeatures("u", unary=[unary]).fit(X).get_feature_names_out()
    assert len(names) == 1
    assert "x1" in names[0]


def test_overflow_and_constants_are_left_out():
    X = np.array([[1e200, 1.0, 2.0], [2e200, 1.0, 3.0], [3e200, 1.0, 5.0]])
    names = SymbolicFeatures("b", binary=("*", "/")).fit(X).get_feature_names_out()
    assert "x0^2" not in names  # overflows
    assert not any("x1" in name for name in names)  # constant


def test_new_rows_outside_the_domain_are_nan():
    features = SymbolicFeatures("u", unary=("log", "inverse")).fit([[1.0], [2.0]])
    np.testing.assert_array_equal(np.isnan(features.transform([[-1.0], [0.0], [1.0]])), [[1, 0], [1, 1], [0, 0]])


def test_equal_functions_are_held_once(rng):
    X = rng.random((20, 2)) + 1
    features = SymbolicFeatures("uu", unary=("id", "exp", "log", "square", "sqrt"), pool="cumulative").fit(X)
    names = features.get_feature_names_out().tolist()
    assert "x0" in names
    assert "log(exp(x0))" not in names
    assert "sqrt(x0^2)" not in names
    Z = features.transform(X)
    assert np.unique(Z.round(8), axis=1).shape == Z.shape


def test_cumulative_pools_keep_earlier_layers(rng):
    X = rng.random((20, 2)) + 1
    strict = SymbolicFeatures("ub", unary=("cube",)).fit(X).get_feature_names_out()
    cumulative = SymbolicFeatures("ub", unary=("cube",), pool="cumulative").fit(X).get_feature_names_out()
    assert set(strict) < set(cumulative)
    assert {"x0", "x0^3", "x0 + x1^3"} <= set(cumulative) - set(strict)


def test_units():
    X = np.array([[1.0, 2.0, 3.0], [2.0, 3.0, 1.0], [4.0, 1.0, 5.0]])
    units = [[1, 0], [1, 0], [0, 1]]  # metre, metre, second
    features = SymbolicFeatures("b", binary=("+", "/"), units=units).fit(X)
    assert features.get_feature_names_out().tolist() == [
        "2*x0", "x0 + x1", "2*x1", "2*x2", "x0/x1", "x0/x2", "x1/x0", "x1/x2", "x2/x0", "x2/x1",
    ]  # fmt: skip
    logs = SymbolicFeatures("bu", unary=("log",), binary=("/",), units=units).fit(X).get_feature_names_out()
    assert logs.tolist() == ["log(x0/x1)", "log(x1/x0)"]
    roots = SymbolicFeatures("ubb", unary=("id", "sqrt"), binary=("+", "*"), units=units, pool="cumulative")
    names = roots.fit(X).get_feature_names_out()
    assert "x0 + sqrt(x0)*sqrt(x1)" in names
    assert not {"x0 + sqrt(x0)", "x0 + x2", "sqrt(x0) + sqrt(x2)"} & set(names)


def test_sympy_agrees():
    sympy = pytest.importorskip("sympy")
    X = np.array([[0.5, 2.0], [1.5, 3.0], [2.5, 0.7]])
    features = SymbolicFeatures("ub", unary=ALL_UNARY, binary=ALL_BINARY).fit(X)
    symbols = [sympy.Symbol(name, real=True) for name in ("x0", "x1")]
    for expression, column in zip(features.to_sympy()[::7], features.transform(X).T[::7], strict=True):
        values = [float(expression.subs(dict(zip(symbols, row, strict=True)))) for row in X]
        np.testing.assert_allclose(values, column, rtol=1e-9)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"architecture": "bx"}, "letter per layer"),
        ({"architecture": ""}, "letter per layer"),
        ({"unary": ("id", "tan")}, "unknown operator 'tan'; choose from id, square"),
        ({"binary": ("+", "^")}, r"unknown operator '\^'"),
        ({"binary": ()}, "binary has no operators"),
        ({"units": [[1], [0]]}, "each of the 3 inputs"),
        ({"units": [[0.5], [0], [0]]}, "not a whole number"),
        ({"units": [[np.inf], [0], [0]]}, "units has an exponent that is not finite"),
        ({"unary": (["id"],)}, r"unknown operator \['id'\]"),
        ({"architecture": "bbb", "max_bytes": 10**6}, r"layer 3 of 'bbb' may have [\d,]+ expressions"),
        ({"unary": ("log",), "architecture": "u"}, "no expression of 'u' is finite"),
    ],
)
def test_bad_parameters_are_refused(rng, parameters, words):
    with pytest.raises(ValueError, match=words):
        SymbolicFeatures(**parameters).fit(rng.random((50, 3)) - 2)


@pytest.mark.parametrize(("n_inputs", "error"), [(-3, ValueError), (0, ValueError), (2.5, TypeError)])
def test_counts_are_of_whole_numbers_of_inputs(n_inputs, error):
    with pytest.raises(error, match="n_inputs is"):
        SymbolicFeatures().count(n_inputs)


def test_decimals_are_tied_as_whole_numbers_are(rng):
    X = rng.standard_normal((40, 2)).round(2)
    features = SymbolicFeatures("bb", binary=("+", "-"))
    decimals, whole = rank_classes(features.fit_transform(X)), rank_classes(features.fit_transform(np.rint(100 * X)))
    np.testing.assert_array_equal(decimals, whole)
    assert len(set(decimals)) == 8


def test_values_that_differ_by_more_than_rounding_are_not_tied(rng):
    tails = np.exp(12 * rng.standard_normal((200, 2)))  # from 1e-14 to 1e14, say
    Z = SymbolicFeatures("b", binary=("+", "-", "*", "/")).fit_transform(tails)
    assert all(len(np.unique(column)) == 200 for column in Z.T)
    close = 1.7e9 + 1e-3 * rng.permutation(200)[:, None]
    assert len(np.unique(SymbolicFeatures("b", binary=("+",)).fit_transform(close))) == 200


def test_new_rows_are_evaluated_as_ever(rng):
    X = rng.standard_normal((40, 2)).round(2)
    features = SymbolicFeatures("bu", unary=("cube", "exp", "log"), binary=("+", "-", "/")).fit(X)
    with_nan = features.transform(X[:7])
    np.testing.assert_allclose(with_nan, features.transform(X)[:7], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_names_are_unique_where_digits_cancel(rng, output):
    pytest.importorskip(output)
    X = np.column_stack([1e12 * rng.random(30), rng.random(30)])
    features = SymbolicFeatures("bb", binary=("+", "-"), pool="cumulative").set_output(transform=output)
    columns = list(features.fit_transform(X).columns)
    assert len(set(columns)) == len(columns)
    assert "((x0 + x1) + (x1 - x0))" in columns  # 2*x1, but for the digits that are lost


def test_small_terms_beside_large_ones_count(rng):
    X = np.column_stack([1e12 + 1e4 * rng.integers(0, 2, 30), rng.random(30)])
    names = SymbolicFeatures("b", binary=("+",), pool="cumulative").fit(X).get_feature_names_out()
    assert names.tolist() == ["x0", "x1", "2*x0", "x0 + x1", "2*x1"]


def test_equal_values_of_different_units_are_different():
    X = np.array([[1.0, 1.0], [2.0, 2.0], [4.0, 4.0]])
    names = SymbolicFeatures("b", binary=("+",), units=[[1], [0]]).fit(X).get_feature_names_out()
    assert names.tolist() == ["2*x0", "2*x1"]
    squares = SymbolicFeatures("u", unary=("id", "square"), units=[[1], [0]])
    assert len(squares.fit(np.array([[1.0, 1.0], [4.0, 2.0], [9.0, 3.0]])).complexity_) == 4


def test_memory_is_counted_in_full(rng):
    import tracemalloc

    X = rng.random((5, 60))
    features = SymbolicFeatures("b")
    with pytest.raises(ValueError, match="layer 1 of 'b' may have 3,660 expressions"):
        SymbolicFeatures("b", max_bytes=4_000_000).fit(X)
    features.fit(X)
    tracemalloc.start()
    features.fit(X)
    assert tracemalloc.get_traced_memory()[1] < (3660 + 60) * (3 * 8 * 5 + 1024)
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("X", "error", "words"),
    [
        (np.ones((3, 2)) * 1j, ValueError, "X has complex numbers"),
        (np.arange(6).reshape(3, 2).astype("datetime64[D]"), TypeError, "X has dates; convert them to numbers of days"),
        (np.arange(6).reshape(3, 2).astype("timedelta64[D]"), TypeError, "X has times"),
        ([["1", "2"], ["3", "4"], ["5", "6"]], TypeError, "X has text; convert it to numbers first"),
        (pd.DataFrame({"a": [1, pd.NA, 3]}, dtype=object), TypeError, "X has missing values, <NA>; drop the row"),
    ],
    ids=["complex", "dates", "times", "text", "NA"],
)
def test_what_is_not_numeric_is_refused(X, error, words):
    from rankwise.screening import ConcordanceSelector, concordant_divergence

    for call in (
        lambda: SymbolicFeatures("b").fit(X),
        lambda: ConcordanceSelector().fit(X, [1, 2, 3]),
        lambda: concordant_divergence(X, [1, 2, 3]),
        lambda: concordant_divergence(X, [1, 2, 3], keys="float32"),
        lambda: rank_classes(X),
    ):
        with pytest.raises(error, match=words):
            call()
