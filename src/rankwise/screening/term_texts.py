"""How the terms of a formula are written for people, as in 2*sqrt(a/b); `SymbolicFormula` prints them."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from rankwise.screening.expressions import BY_CODE, ExpressionTable, power_text
from rankwise.screening.terms import Term


def term_text(c: float, term: Term, table: ExpressionTable, digits: int) -> str:
    """A term with its coefficient; numbers have so many digits."""
    plain = term.link == "id" and term.scale == 1 and not term.shift
    product = _product_text(term, table, digits)
    number = f"{abs(c):.{digits}g}"
    sign = "-" if c < 0 else ""
    if plain:
        if number == "1":
            return sign + product
        return f"{sign}{number}{product.removeprefix('1') if product.startswith('1/') else f'*{product}'}"
    if term.exponents == (1.0,) and term.scale == 1:
        product = table.formulas(np.array(term.rows))[0]  # without parentheses
    if term.scale in (1.0, -1.0):
        inside = product
    else:
        inside = (
            f"{abs(term.scale):.{digits}g}{product.removeprefix('1') if product.startswith('1/') else f'*{product}'}"
        )
    inside = f"-{inside}" if term.scale < 0 else inside
    if term.shift:
        shift = f"{abs(term.shift):.{digits}g}"
        inside = f"{'-' if term.shift < 0 else ''}{shift} {'-' if term.scale < 0 else '+'} {inside.removeprefix('-')}"
    if term.link == "inverse":
        return f"{sign}{number}/({inside})"
    if term.link == "inverse sqrt":
        return f"{sign}{number}/sqrt({inside})"
    if term.link == "square":
        written = f"({inside})^2"
    else:
        written = f"({inside})" if term.link == "id" else f"{term.link}({inside})"
    return sign + (written if number == "1" else f"{number}*{written}")


def _product_text(term: Term, table: ExpressionTable, digits: int) -> str:
    """A product of powers; one power of all its factors is written once, as in sqrt(a/b)."""
    sizes = {abs(exponent) for exponent in term.exponents}
    if len(term.rows) > 1 and len(sizes) == 1 and sizes != {1.0} and max(term.exponents) > 0:
        signs = tuple(float(np.sign(exponent)) for exponent in term.exponents)
        return power_text(f"({_product_text(replace(term, exponents=signs), table, digits)})", sizes.pop())
    above: list[str] = []
    below: list[str] = []
    for row, exponent in zip(term.rows, term.exponents, strict=True):
        text = _factor_text(row, abs(exponent), table, digits, negative=exponent < 0)
        (below if exponent < 0 and not text.startswith("exp(") else above).append(text)
    product = "*".join(above) or "1"
    if below:
        product += "/" + (below[0] if len(below) == 1 else f"({'*'.join(below)})")
    return product


def _factor_text(row: int, exponent: float, table: ExpressionTable, digits: int, *, negative: bool) -> str:
    """A power of an expression; those of exp have the exponent inside, and sqrt(x^2) is |x|."""
    text = table.formulas(np.array([row]))[0]
    root = root_of_square(row, exponent, table)
    if root is not None:
        inner = table.formulas(np.array([root]))[0]
        return power_text(f"abs({inner})" if "|" in inner else f"|{inner}|", 2 * exponent)
    if row >= len(table.inputs) and BY_CODE[int(table.codes[row])].name == "exp":
        inner = table.formulas(np.array([table.lefts[row]]))[0]
        number = "" if exponent == 1 else f"{exponent:.{digits}g}*"
        inner = f"({inner})" if " " in inner and (number or negative) else inner
        if number and inner.startswith("1/"):  # 5/x, not 5*1/x
            number, inner = number.removesuffix("*"), inner.removeprefix("1")
        return f"exp({'-' if negative else ''}{number}{inner})"
    return power_text(f"({text})" if _is_compound(text, exponent, negative) else text, exponent)


def root_of_square(row: int, exponent: float, table: ExpressionTable) -> int | None:
    """The expression x of a power of x^2 that is an odd power of |x|; None if it is no such power."""
    name, left = BY_CODE[int(table.codes[row])].name, int(table.lefts[row])
    square = row >= len(table.inputs) and (name == "square" or (name == "*" and left == table.rights[row]))
    return left if square and (2 * exponent) % 2 == 1 else None


def _is_compound(text: str, exponent: float, negative: bool) -> bool:
    """Whether a formula needs parentheses as a factor: a sum, or a product or quotient that is raised to a power."""
    outside, before = text, ""
    while outside != before:
        before, outside = outside, re.sub(r"\([^()]*\)|\[[^\[\]]*\]|\|[^|]*\|", "", outside)
    sums = " + " in outside or " - " in outside or outside.startswith("-")
    return sums or ((exponent != 1 or negative) and any(sign in outside for sign in "*/^"))
