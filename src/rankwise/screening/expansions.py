"""Sums of terms multiplied out: the products that a model is a combination of, like ones collected.

A search may find 2*(1 - q)^2 + 2*(p - q^2), which is 2 + 2*p - 4*q. `final_formulas` fits the shorter form instead.
"""

from __future__ import annotations

import numpy as np

from rankwise._typing import FloatArray
from rankwise.screening.expressions import BY_CODE, ExpressionTable
from rankwise.screening.fits import Fits, Model, finite
from rankwise.screening.terms import Term

# Rows of a table and their exponents, by row; the empty product is 1.
_Product = tuple[tuple[int, float], ...]
_Sum = dict[_Product, float]
# Sums of more products are left as they are.
_MOST_PRODUCTS = 8
_LARGEST_POWER = 4
# Products are left out one after the other until the residual sum of squares is so many times that of the model.
_WORSE_AT_MOST = 1.5


def expanded_terms(model: Model, table: ExpressionTable, values: FloatArray) -> list[Term] | None:
    """Products whose combination, with a constant, the model is; None if they are too many.

    Parts that are no polynomials, such as exp(x), count as factors. ``values`` of all expressions of the table decide
    whether sqrt(x^2) is x.
    """
    found: dict[Term, None] = {}
    for term in model.terms:
        total: _Sum | None = {(): 1.0}
        if term.link in ("id", "square"):
            for row, exponent in zip(term.rows, term.exponents, strict=True):
                total = _times(total, _power(_expanded(row, table, values), row, exponent, values))
            if total is not None:
                total = {product: term.scale * c for product, c in total.items()}
                total[()] = total.get((), 0.0) + term.shift
                if term.link == "square":
                    total = _times(total, total)
            if total is None:
                return None
            for product, c in total.items():
                if product and c:
                    found[Term(tuple(row for row, _ in product), tuple(e for _, e in product))] = None
        else:
            found[term] = None
    return list(found) if len(found) <= _MOST_PRODUCTS else None


def shorter_models(model: Model, fits: Fits, table: ExpressionTable, values: FloatArray, n_terms: int) -> list[Model]:
    """Models of the products of a model, all of them and without those that explain least, that are not longer."""
    terms = expanded_terms(model, table, values)
    if terms is None or set(terms) == set(model.terms):
        return []
    columns = np.array([term.values(values) for term in terms])
    if not finite(columns).all():
        return []
    found: list[Model] = []
    while terms:
        made = fits.linear_models(terms, columns, table.complexity)
        least = min((other.rss for other in made), default=0.0)
        if least > _WORSE_AT_MOST * max(model.rss, fits.rounding):
            break
        if len(terms) <= n_terms:
            found += [other for other in made if other.complexity <= model.complexity]
        weakest = _weakest(columns, fits)
        terms, columns = terms[:weakest] + terms[weakest + 1 :], np.delete(columns, weakest, axis=0)
    return found


def _weakest(columns: FloatArray, fits: Fits) -> int:
    """The column without which the residual sum of squares grows least."""
    design = np.column_stack([(columns / abs(columns).max(axis=1)[:, None]).T, np.ones(columns.shape[1])])
    target = fits.y - fits.level
    if fits.root is not None:
        design, target = design * fits.root[:, None], target * fits.root
    inverse = np.linalg.pinv(design)
    coef = inverse @ target
    return int(np.argmin((coef**2 / (inverse**2).sum(axis=1))[:-1]))


def _expanded(row: int, table: ExpressionTable, values: FloatArray) -> _Sum | None:
    """An expression as a sum of products; None if it has too many."""
    itself: _Sum = {((row, 1.0),): 1.0}
    if row < len(table.inputs):
        return itself
    name, left, right = BY_CODE[int(table.codes[row])].name, int(table.lefts[row]), int(table.rights[row])
    if name not in ("id", "square", "cube", "sqrt", "inverse", "1+", "1-", "+", "-", "*", "/"):
        return itself
    first = _expanded(left, table, values)
    match name:
        case "id":
            return first
        case "square" | "cube" | "sqrt" | "inverse":
            power = {"square": 2.0, "cube": 3.0, "sqrt": 0.5, "inverse": -1.0}[name]
            # A root or an inverse of a sum is a factor as it stands.
            return itself if power < 1 and len(first or ()) != 1 else _power(first, left, power, values)
        case "1+" | "1-":
            return _plus({(): 1.0}, first, 1.0 if name == "1+" else -1.0)
        case "+" | "-":
            return _plus(first, _expanded(right, table, values), 1.0 if name == "+" else -1.0)
        case _:
            second = _expanded(right, table, values)
            return _times(first, _power(second, right, 1.0 if name == "*" else -1.0, values))


def _plus(first: _Sum | None, second: _Sum | None, sign: float) -> _Sum | None:
    if first is None or second is None:
        return None
    found = dict(first)
    for product, c in second.items():
        found[product] = found.get(product, 0.0) + sign * c
    found = {product: c for product, c in found.items() if c}
    return found if len(found) <= _MOST_PRODUCTS else None


def _times(first: _Sum | None, second: _Sum | None) -> _Sum | None:
    if first is None or second is None:
        return None
    found: _Sum = {}
    for ours, a in first.items():
        for theirs, b in second.items():
            powers = dict(ours)
            for row, exponent in theirs:
                powers[row] = powers.get(row, 0.0) + exponent
            product = tuple(sorted((row, e) for row, e in powers.items() if e))
            found[product] = found.get(product, 0.0) + a * b
    found = {product: c for product, c in found.items() if c}
    return found if len(found) <= _MOST_PRODUCTS else None


def _power(base: _Sum | None, row: int, exponent: float, values: FloatArray) -> _Sum | None:
    """A power of a sum, which is that of an expression: of one product that of its factors, else multiplied out."""
    whole = exponent == round(exponent)
    if base is not None and len(base) == 1:
        ((product, c),) = base.items()
        positive = c > 0 and all((values[factor] > 0).all() for factor, _ in product)
        if positive or (whole and all(e == round(e) for _, e in product)):
            return {tuple((factor, e * exponent) for factor, e in product): c**exponent}
    if whole and 0 < exponent <= _LARGEST_POWER:
        found = base
        for _ in range(int(exponent) - 1):
            found = _times(found, base)
        return found
    return {((row, exponent),): 1.0}
