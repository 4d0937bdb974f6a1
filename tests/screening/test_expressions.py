"""Formulas: what they say is what is computed, and like terms are collected."""

from __future__ import annotations

import re

import numpy as np
import pytest

from rankwise.screening import SymbolicFeatures
from rankwise.screening.expressions import BINARY, UNARY, Formula, apply_operator

X, Y, Z = (Formula.of_name(name) for name in ("x", "y", "z"))


def make(name, left, right=None):
    return apply_operator({**UNARY, **BINARY}[name], left, left if right is None else right)


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (make("+", make("+", make("cube", X), make("cube", Y)), make("-", make("cube", Y), make("cube", X))), "2*y^3"),
        (make("+", make("+", make("cube", X), make("cube", X)), make("+", make("cube", X), make("cube", X))), "4*x^3"),
        (make("cube", make("+", X, X)), "8*x^3"),
        (make("-", make("+", X, Y), X), "y"),
        (make("-", Y, X), "y - x"),
        (make("-", X, make("+", X, X)), "-x"),
        (make("-", make("+", X, Y), make("+", X, Y)), "0"),
        (make("inverse", make("-", make("+", X, Y), make("+", X, Y))), "1/0"),
        (make("*", make("square", X), make("cube", X)), "x^5"),
        (make("/", make("square", X), make("cube", X)), "1/x"),
        (make("/", X, make("*", Y, Z)), "x/(y*z)"),
        (make("inverse", make("+", X, X)), "1/(2*x)"),
        (make("/", X, make("/", Y, Z)), "x*z/y"),
        (make("*", make("+", make("+", X, X), make("+", Y, Y)), Z), "2*(x + y)*z"),
        (make("*", make("+", X, Y), make("+", Y, X)), "(x + y)^2"),
        (make("square", make("-", Y, X)), "(x - y)^2"),
        (make("cube", make("-", Y, X)), "(y - x)^3"),
        (make("|-|", Y, X), "|x - y|"),
        (make("|-|", make("|-|", X, Y), Z), "abs(z - |x - y|)"),
        (make("abs", make("-", X, make("+", X, X))), "|x|"),
        (make("sqrt", make("+", X, X)), "sqrt(2*x)"),
        (make("exp", make("-", X, make("+", X, X))), "exp(-x)"),
        (make("+", Formula.of_name("x10"), Formula.of_name("x2")), "x2 + x10"),
        (make("+", make("cube", X), Y), "y + x^3"),
        (make("+", make("*", X, make("square", Y)), make("*", make("square", X), Y)), "x^2*y + x*y^2"),
        (make("square", Formula.of_name("mass (kg)")), "[mass (kg)]^2"),
    ],
)  # fmt: skip
def test_written_as_one_would(formula, text):
    assert formula.text == text


def test_the_order_of_sums_and_products_does_not_matter():
    terms = [make("square", X), make("*", Y, X), make("*", Z, make("square", X)), Y]
    forwards, backwards = terms[0], terms[-1]
    for term in terms[1:]:
        forwards = make("+", forwards, term)
    for term in terms[-2::-1]:
        backwards = make("+", term, backwards)
    assert forwards == backwards


@pytest.mark.parametrize(
    ("architecture", "unary", "every"),
    [("ub", tuple(UNARY), 29), ("ubu", ("id", "square", "inverse", "abs"), 7), ("bb", ("id",), 7)],
)
def test_formulas_read_by_sympy_give_the_values(architecture, unary, every):
    sympy = pytest.importorskip("sympy")
    rows = np.array([[0.5, 2.0], [1.5, 3.0], [2.5, 0.7], [0.8, 1.1]])
    features = SymbolicFeatures(architecture, unary=unary, binary=tuple(BINARY)).fit(rows)
    names = {"cbrt": lambda v: sympy.real_root(v, 3), "abs": sympy.Abs}
    checked = 0
    columns = zip(features.get_feature_names_out(), features.transform(rows).T, strict=True)
    for formula, column in list(columns)[::every]:
        readable = re.sub(r"\|([^|]*)\|", r"abs(\1)", formula).replace("^", "**")
        expression = sympy.sympify(readable, locals=names)
        values = [float(expression.subs({"x0": a, "x1": b})) for a, b in rows]
        np.testing.assert_allclose(values, column, rtol=1e-8, atol=1e-9, err_msg=formula)
        checked += 1
    assert checked > 20


@pytest.mark.parametrize("architecture", ["ub", "ubu", "bb"])
def test_different_functions_have_different_formulas(rng, architecture):
    features = SymbolicFeatures(architecture, unary=("id", "square", "inverse"), binary=tuple(BINARY))
    names = features.fit(rng.random((30, 2)) + 0.5).get_feature_names_out()
    assert len(set(names)) == len(names)
