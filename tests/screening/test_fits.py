"""Fitted terms: members of rank classes, products of powers, constants inside functions; how models are compared."""

from __future__ import annotations

import numpy as np
import pytest

from rankwise.screening.expressions import BINARY, UNARY, ExpressionTable
from rankwise.screening.fits import Fits, Model, clearly_better, jacobian, left_out_errors, polish, simplified
from rankwise.screening.terms import LINKS, Term, class_terms, product_terms, wave_terms


def table_of(*rows: tuple[str, int, int], inputs: tuple[str, ...] = ("a", "b")) -> ExpressionTable:
    table = ExpressionTable(inputs)
    for name, left, right in rows:
        code = {**UNARY, **BINARY}[name].code
        table.append(np.array([code]), np.array([left]), np.array([right]))
    return table


def values_of(table: ExpressionTable, X: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(table.evaluate(X, np.arange(len(table))).T)


@pytest.mark.parametrize("link", LINKS)
def test_slopes_of_links_are_those_of_differences(link):
    function, slope = LINKS[link]
    points = np.array([0.2, 0.5, 0.7])
    numeric = (function(points + 1e-6) - function(points - 1e-6)) / 2e-6
    np.testing.assert_allclose(slope(points), numeric, rtol=1e-6)


def test_the_jacobian_is_that_of_differences(rng):
    X = rng.uniform(1, 2, (20, 2))
    values = values_of(table_of(), X)
    terms = (Term((0, 1), (1.37, -0.61)), Term((0,), (1.0,), "exp", scale=-0.4), Term((1,), (1.0,), "sqrt", shift=0.7))
    model = Model(terms, (2.0, -1.0, 0.5), 0.3, 0.0, 0, 0)
    slopes = jacobian(model, values)
    assert slopes.shape == (20, 8)
    np.testing.assert_allclose(slopes[:, 3], 1.0)
    moved = Model(terms, (2.0 + 1e-6, -1.0, 0.5), 0.3, 0.0, 0, 0)
    np.testing.assert_allclose((moved.predict(values) - model.predict(values)) / 1e-6, slopes[:, 0], rtol=1e-5)
    for column, (place, constants) in enumerate([(0, (1.37 + 1e-6, -0.61)), (0, (1.37, -0.61 + 1e-6))], 4):
        changed = (*terms[:place], terms[place].with_constants(constants), *terms[place + 1 :])
        moved = Model(changed, model.coef, model.intercept, 0.0, 0, 0)
        np.testing.assert_allclose((moved.predict(values) - model.predict(values)) / 1e-6, slopes[:, column], rtol=1e-4)


def test_members_of_a_class_order_alike(rng):
    X = rng.uniform(0.1, 0.9, (30, 2))
    table = table_of(("*", 0, 1), ("square", 0, 0))
    values = values_of(table, X)
    for row in range(len(table)):
        terms = class_terms(row, table, values)
        assert {"exp", "log", "arcsin"} <= {term.link for term in terms}
        order = np.argsort(values[row])
        for term in terms:
            steps = np.diff(term.values(values)[order])
            assert (steps > 0).all() or (steps < 0).all()


def test_powers_are_those_of_the_root_of_a_class(rng):
    X = rng.uniform(1, 2, (10, 2))
    table = table_of(("square", 0, 0))
    assert Term((0,), (1.5,)) in class_terms(2, table, values_of(table, X))
    X[0, 0] = -1.5  # now the square is not monotone in its root
    assert all(term.rows == (2,) or 2 * round(e / 2) == e for term in class_terms(2, table, values_of(table, X))
               for e in term.exponents)  # fmt: skip


def test_negative_numbers_have_no_roots():
    table = table_of(inputs=("a",))
    values = np.array([[-2.0, 0.0, 3.0]])
    terms = class_terms(0, table, values)
    assert {term.exponents[0] for term in terms if term.link == "id"} == {1.0, 2.0, 3.0, 4.0}
    assert "log" not in {term.link for term in terms}


def test_products_of_powers_with_a_sum(rng):
    X = rng.uniform(1, 5, (60, 2))
    table = table_of(("1+", 1, 1), ("+", 0, 1))
    values = values_of(table, X)
    y = -3 * np.sqrt(X[:, 0]) / (1 + X[:, 1])
    found = product_terms(values, np.arange(2), np.arange(2, 4), y, np.zeros(4), most=2)
    assert Term((0, 2), (0.5, -1.0)) in found


def test_constants_inside_a_function(rng):
    x = rng.uniform(0, 5, (80, 1))
    y = 3 + 2 * np.exp(-0.4 * x[:, 0])
    values = x.T.copy()
    start = Model((Term((0,), (1.0,), "exp", scale=-1.0 / 3),), (1.0,), 1.0, float((y**2).sum()), 5, 3)
    found = polish(start, values, y)
    assert found.terms[0].scale == pytest.approx(-0.4)
    assert found.coef[0] == pytest.approx(2)
    assert found.intercept == pytest.approx(3)
    assert found.rss < 1e-12


def test_a_fit_is_that_of_lstsq(rng):
    y = rng.standard_normal(25)
    columns = rng.standard_normal((3, 25))
    terms = [Term((i,), (1.0,)) for i in range(3)]
    fits = Fits(y, 3)
    rss = fits.offer_terms(terms, columns, np.zeros(3, dtype=int))
    for i in range(3):
        design = np.column_stack([columns[i], np.ones(25)])
        assert rss[i] == pytest.approx(np.linalg.lstsq(design, y)[1][0])
    both = fits.linear_models(terms, columns, np.zeros(3, dtype=int))
    assert both[0].rss == pytest.approx(np.linalg.lstsq(np.vstack([columns, np.ones(25)]).T, y)[1][0])
    assert both[1].intercept is None
    assert not fits.linear_models(terms[:1] * 2, columns[[0, 0]], np.zeros(3, dtype=int))  # collinear


def test_errors_of_rows_left_out_are_those_of_refits(rng):
    x = rng.standard_normal((2, 12))
    y = rng.standard_normal(12)
    terms = (Term((0,), (1.0,)), Term((1,), (1.0,)))
    (model, _) = Fits(y, 2).linear_models(terms, x, np.zeros(2, dtype=int))
    errors = left_out_errors(model, x, y)
    design = np.vstack([x, np.ones(12)]).T
    for i in range(12):
        others = np.arange(12) != i
        coef = np.linalg.lstsq(design[others], y[others])[0]
        assert errors[i] == pytest.approx(y[i] - design[i] @ coef)


def test_errors_of_rows_left_out_follow_constants_inside_functions_too(rng):
    x = np.linspace(0, 3, 40)[None]
    y = 2 * np.exp(0.5 * x[0]) + 0.05 * rng.standard_normal(40)
    model = polish(Model((Term((0,), (1.0,), "exp", scale=0.4),), (2.0,), None, np.inf, 3, 2), x, y)
    errors = left_out_errors(model, x, y)
    for i in (0, 20, 39):
        others = np.arange(40) != i
        again = polish(Model(model.terms, model.coef, None, np.inf, 3, 2), x[:, others], y[others])
        assert errors[i] == pytest.approx(y[i] - again.predict(x)[i], rel=0.05)


def test_models_need_three_rows_per_constant(rng):
    fits = Fits(rng.standard_normal(8), 1)
    term = Term((0,), (1.0,), "exp", scale=0.5)
    fits.offer(Model((term,), (1.0,), None, 0.5, 3, 2))
    assert not fits.left_out
    fits.offer(Model((term,), (1.0,), 0.1, 0.0, 5, 3))
    assert fits.left_out
    assert [model.n_constants for model in fits.models.values()] == [1, 2]


def test_the_front_holds_what_no_shorter_model_fits(rng):
    fits = Fits(rng.standard_normal(10), 1)
    for complexity, rss in ((1, 5.0), (2, 6.0), (3, 1.0), (4, 0.999), (5, 0.1)):
        fits.offer(Model((Term((0,), (1.0,)),), (1.0,), None, rss, complexity, 1))
    assert [(model.complexity, model.rss) for model in fits.front() if model.terms] == [(1, 5.0), (3, 1.0), (5, 0.1)]


def test_simplification_keeps_the_function(rng):
    X = rng.uniform(1, 2, (15, 2))
    table = table_of(("square", 0, 0), ("*", 2, 1), ("+", 3, 3), ("sqrt", 1, 1))
    values = values_of(table, X)
    model = Model((Term((4, 5), (0.5, 2.0)),), (3.0,), None, 0.0, 99, 1)
    short = simplified(model, table, values)
    np.testing.assert_allclose(short.predict(values), model.predict(values))
    assert dict(zip(short.terms[0].rows, short.terms[0].exponents, strict=True)) == {0: 1.0, 1: 1.5}
    assert short.coef[0] == pytest.approx(3 * np.sqrt(2))
    X[:, 0] *= -1  # the root of a square is no longer the number
    values = values_of(table, X)
    short = simplified(Model((Term((2,), (0.5,)),), (1.0,), None, 0.0, 2, 1), table, values)
    np.testing.assert_allclose(short.predict(values), abs(X[:, 0]))


def test_an_intercept_takes_up_constants(rng):
    X = rng.uniform(1, 2, (15, 2))
    table = table_of(("+", 0, 0), ("1-", 2, 2))
    values = values_of(table, X)
    model = Model((Term((3,), (1.0,)),), (3.0,), 5.0, 0.0, 9, 2)
    short = simplified(model, table, values)
    assert (short.terms[0], short.coef[0], short.intercept) == (Term((0,), (1.0,)), -6.0, 8.0)
    np.testing.assert_allclose(short.predict(values), model.predict(values))


def test_better_beyond_chance(rng):
    noise = rng.standard_normal(200)
    assert clearly_better(noise, noise + 0.8 * rng.standard_normal(200))
    assert not clearly_better(noise, noise[::-1])
    outlier = np.ones(50)
    outlier[0] = 100.0
    assert not clearly_better(np.where(outlier > 1, 1.0, 1.01 * outlier), outlier)  # one row does not decide
    assert clearly_better(1e-12 * noise, noise**5)


def test_weights_are_repeated_rows(rng):
    """Least squares with a weight of 3 is that of three copies of a row, for every way to fit."""
    x, y = rng.uniform(1, 2, (2, 15)), rng.standard_normal(15)
    counts = rng.integers(1, 4, 15)
    root, copies = np.sqrt(counts / counts.mean()), np.repeat(np.arange(15), counts)
    terms = (Term((0,), (1.0,), "exp", scale=0.7), Term((1,), (1.37,)))
    weighted, repeated = Fits(y, 2, root), Fits(y[copies], 2)
    factor = counts.mean()  # weights have the mean 1
    for fits_terms in (terms[:1], terms):
        ours = weighted.linear_models(fits_terms, np.array([t.values(x) for t in fits_terms]), np.zeros(2, int))
        columns = np.array([t.values(x[:, copies]) for t in fits_terms])
        theirs = repeated.linear_models(fits_terms, columns, np.zeros(2, int))
        for a, b in zip(ours, theirs, strict=True):
            assert a.coef == pytest.approx(b.coef)
            assert factor * a.rss == pytest.approx(b.rss)
            assert polish(a, x, y, root).coef == pytest.approx(polish(b, x[:, copies], y[copies]).coef, rel=1e-4)
    one = weighted.offer_terms(terms, np.array([t.values(x) for t in terms]), np.zeros(2, int))
    same = repeated.offer_terms(terms, np.array([t.values(x[:, copies]) for t in terms]), np.zeros(2, int))
    np.testing.assert_allclose(factor * one, same)
    assert factor * weighted.total == pytest.approx(repeated.total)


def test_errors_of_rows_left_out_with_weights_are_those_of_refits(rng):
    x, y, root = rng.standard_normal((2, 12)), rng.standard_normal(12), np.sqrt(rng.uniform(0.5, 1.5, 12))
    (model, _) = Fits(y, 2, root).linear_models((Term((0,), (1.0,)), Term((1,), (1.0,))), x, np.zeros(2, dtype=int))
    errors = left_out_errors(model, x, y, root)
    design = np.vstack([x, np.ones(12)]).T
    for i in range(12):
        others = np.arange(12) != i
        coef = np.linalg.lstsq(design[others] * root[others, None], y[others] * root[others])[0]
        assert errors[i] == pytest.approx(root[i] * (y[i] - design[i] @ coef))


def test_waves_start_near_the_best_frequency(rng):
    x = rng.uniform(-3, 4, 200)
    first = wave_terms(0, x, np.sin(5 * x + 0.7) + 4)[0]
    assert first.scale == pytest.approx(5, abs=0.12)  # half a step of the grid
    # The best of the grid, by least squares of each frequency by itself.
    y = np.sin(5 * x + 0.7) + rng.standard_normal(200)
    scale = wave_terms(0, x, y)[0].scale
    steps = np.arange(0.75, 25.1, 0.25) * 2 * np.pi / np.ptp(x)
    left = [np.linalg.lstsq(np.column_stack([np.sin(b * x), np.cos(b * x), np.ones(200)]), y)[1][0] for b in steps]
    assert scale == pytest.approx(steps[np.argmin(left)])
    assert not wave_terms(0, x, rng.standard_normal(200))
