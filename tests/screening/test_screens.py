"""screen_expressions: what fits within a class, formulas of several terms, and the result object."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rankwise.datasets import make_symbolic_regression
from rankwise.screening import ConcordanceSelector, SymbolicFeatures, screen_expressions


def test_the_member_of_a_class_that_fits():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(0, 2, (150, 2)), columns=["a", "b"])
    y = np.exp(X.a + X.b) * (1 + 0.01 * rng.standard_normal(150))
    features = SymbolicFeatures("bu", unary=("id", "exp"), binary=("+", "*"), pool="cumulative")
    result = screen_expressions(X, y, features, k=5, n_terms=1)
    assert result.expressions[0] == "a + b"
    assert str(result.fits[0]).endswith("*exp(a + b)")
    assert result.fits[0].r2 > 0.999
    assert len(result.expressions) == 4  # all classes: the number of terms does not change what is shown
    assert result.formulas.as_dict()["formula"].endswith("*exp(a + b)")
    # A linear model of the selector takes the member that is linear in the target, too.
    selector = ConcordanceSelector(5, features=features, n_terms=1).fit(X, y)
    assert selector.get_feature_names_out().tolist() == ["exp(a + b)"]


def test_the_table_is_that_of_the_selector():
    X, y, _ = make_symbolic_regression(noise=0.1, random_state=0)
    features = SymbolicFeatures("ub")
    result = screen_expressions(X, y, features, k=7, target_name="load", notes=["a note"])
    selector = ConcordanceSelector(7, features=features).fit(X, y)
    assert list(result.expressions) == [name.removeprefix("2*") for name in selector.table_["feature"]]
    np.testing.assert_array_equal(result.divergence, selector.table_["divergence"])
    frame = result.to_frame()
    assert frame["T0"].tolist() == selector.table_["divergence"].tolist()
    assert result.unrelated == pytest.approx(np.abs(y[:, None] - y).sum() / (len(y) * (len(y) - 1)))
    assert result.formulas is None
    assert "load: 7 of 42 expressions of 3 columns, on 100 rows" in repr(result)
    assert "a note" in repr(result)


def test_two_terms():
    X, y, _ = make_symbolic_regression(noise=0.1, random_state=0)
    result = screen_expressions(X, y, SymbolicFeatures("ub"), n_terms=2, input_names=["a", "b", "c"])
    assert str(result.formulas.formulas[result.formulas.chosen]) == "10.01 + 2.023*a^3 + 4.952*c"


def test_columns_as_they_are():
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 3, (60, 3))
    result = screen_expressions(X, 4 / X[:, 1] ** 2, n_terms=2)
    assert result.expressions[0] == "x1"
    assert str(result.fits[0]) == "4/x1^2"
    assert "one term is enough" in result.formulas.notes
    with pytest.raises(ValueError, match="input_names has 1 names"):
        screen_expressions(X, X[:, 0], input_names=["a"])


def test_a_class_has_the_name_of_its_simplest_member():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"V": rng.uniform(1, 9, 60), "W": rng.uniform(-9, -1, 60), "U": rng.standard_normal(60)})
    y = 3 * X.V + 0.1 * rng.standard_normal(60)

    def named(column: str, *, two_sided: bool = True, **options) -> tuple[list[str], list[str]]:
        features = SymbolicFeatures("bu", **options)
        result = screen_expressions(X[[column]], y, features, k=1, two_sided=two_sided)
        return list(result.expressions), [row["order"] for row in result.rows()]

    assert named("V", unary=("id",), binary=("+",)) == (["V"], ["same"])
    assert named("V", unary=("inverse",), binary=("*",)) == (["V"], ["same"])  # 1/V^2, the other way around
    assert named("V", unary=("inverse",), binary=("*",), two_sided=False)[0] == ["1/V^2"]
    assert named("W", unary=("1-",), binary=("*",))[0] == ["W"]
    assert named("U", unary=("exp",), binary=("*",))[0] == ["U^2"]  # not monotone in U
    features = SymbolicFeatures("bu", unary=("id",), binary=("+",))
    assert screen_expressions(X[["V"]], y, features, dedupe=False).expressions == ("2*V",)
    # The order is that of the values.
    shown = screen_expressions(X, y, SymbolicFeatures("bu", unary=("inverse", "exp")), k=9)
    for row, formula in zip(shown.rows(), shown.expressions, strict=True):
        values = X.eval(formula.replace("^", "**").replace("|", ""))
        z = np.corrcoef(values.rank(), y)[0, 1] * np.sqrt(59)
        assert z == pytest.approx(row["z"], abs=1e-6), formula
