"""Sums multiplied out: the products are those that SymPy finds, and models of them are not longer."""

from __future__ import annotations

import numpy as np
import pytest

from rankwise.screening.expansions import expanded_terms, shorter_models
from rankwise.screening.expressions import BINARY, UNARY, ExpressionTable
from rankwise.screening.fits import Fits, Model
from rankwise.screening.formulas import SymbolicFormula
from rankwise.screening.terms import Term

sympy = pytest.importorskip("sympy")
OPERATORS = {**UNARY, **BINARY}


def random_table(rng, n_rows=12):
    """Expressions of three inputs by random operators."""
    table = ExpressionTable(["a", "b", "c"])
    names = ["square", "sqrt", "inverse", "exp", "1+", "1-", "+", "-", "*", "/", "+", "-", "*"]
    for _ in range(n_rows):
        code = OPERATORS[str(rng.choice(names))].code
        left, right = (np.array([rng.integers(len(table))]) for _ in range(2))
        table.append(np.array([code]), left, right)
    return table


def as_sympy(term, table):
    model = SymbolicFormula(table, (term,), np.ones(1), None, 0, 0, 0.0, 0.0, 0.0)
    return model.to_sympy()


@pytest.mark.parametrize("seed", range(12))
def test_a_model_is_a_combination_of_its_products(seed):
    rng = np.random.default_rng(seed)
    table = random_table(rng, 6)
    X = rng.uniform(0.5, 2, (60, 3))
    values = np.ascontiguousarray(table.evaluate(X, np.arange(len(table))).T)
    rows = [row for row in range(3, len(table)) if np.isfinite(values[row]).all() and abs(values[row]).max() < 1e4]
    for row in rows:
        terms = expanded_terms(Model((Term((row,), (1.0,)),), (1.0,), None, 0.0, 0, 1), table, values)
        if terms is None:
            continue
        design = np.column_stack([np.ones(60), *(term.values(values) for term in terms)])
        coef = np.linalg.lstsq(design, values[row], rcond=None)[0]
        # Products of an inverse may be 10^9 times their sum: they cancel up to the rounding of the largest one.
        rounding = 64 * np.finfo(np.float64).eps * abs(design).max()
        assert abs(design @ coef - values[row]).max() < 1e-10 * max(1, abs(values[row]).max()) + rounding


def polynomial_table():
    """Rows 3 to 8: 1 - q, (1 - q)^2, q^2, p - q^2, p*q, (p - q^2)*(1 - q) of the inputs p, q, r."""
    table = ExpressionTable(["p", "q", "r"])
    for name, left, right in [("1-", 1, 1), ("square", 3, 3), ("square", 1, 1), ("-", 0, 5), ("*", 0, 1), ("*", 6, 3)]:
        table.append(np.array([OPERATORS[name].code]), np.array([left]), np.array([right]))
    return table


def test_products_are_those_of_sympy(rng):
    table = polynomial_table()
    values = np.ascontiguousarray(table.evaluate(rng.normal(size=(20, 3)), np.arange(len(table))).T)
    for row in range(3, len(table)):
        term = Term((row,), (1.0,))
        expected = sympy.expand(as_sympy(term, table)).as_coefficients_dict()
        found = expanded_terms(Model((term,), (1.0,), None, 0.0, 0, 1), table, values)
        assert {as_sympy(product, table) for product in found} == set(expected) - {sympy.Integer(1)}


def test_like_products_cancel(rng):
    table = polynomial_table()
    X = rng.normal(size=(100, 3))
    values = np.ascontiguousarray(table.evaluate(X, np.arange(len(table))).T)
    y = 3 + 2 * X[:, 0] - 4 * X[:, 1] + 0.1 * rng.normal(size=100)
    fits = Fits(y, 3)
    disguised = fits.offer_linear([Term((4,), (1.0,)), Term((6,), (1.0,))], values[[4, 6]], table.complexity)
    models = shorter_models(disguised, fits, table, values, 3)
    best = min(models, key=fits.description_length)
    assert {term.rows for term in best.terms} == {(0,), (1,)}
    assert fits.description_length(best) < fits.description_length(disguised)
    assert all(model.complexity <= disguised.complexity for model in models)
    assert not shorter_models(best, fits, table, values, 3)  # nothing to multiply out
