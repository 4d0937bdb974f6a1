"""How expressions are written: like terms collected, powers joined, constants worked out, in one order of terms."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm
from typing import Any

from rankwise.screening.operators import Operator

#: factors and their exponents, in order; a factor is a name, a function, or a sum in parentheses
Product = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Formula:
    """A sum of products with rational coefficients.

    Sums are not multiplied out: (a + b)^2 stays what it is.
    """

    terms: tuple[tuple[Product, Fraction], ...]

    @classmethod
    def of_name(cls, name: str) -> Formula:
        """An input; names that are no words stand in brackets."""
        return cls.of_factor(name if name.isidentifier() else f"[{name}]")

    @classmethod
    def of_factor(cls, factor: str) -> Formula:
        """What is written as it is."""
        return cls(((((factor, 1),), Fraction(1)),))

    @cached_property
    def text(self) -> str:
        """As users read it."""
        signed = [("-" if c < 0 else "+", _written(product, abs(c))) for product, c in self.terms]
        first = [text if sign == "+" else f"-{text}" for sign, text in signed[:1]]
        return " ".join(first + [f"{sign} {text}" for sign, text in signed[1:]]) or "0"


def applied(operator: Operator, left: Formula, right: Formula) -> Formula:
    """An operator on one formula or two."""
    if operator.name in _APPLIED:
        return _APPLIED[operator.name](left, right)
    return Formula.of_factor(f"{operator.name}({left.text})")


def _sum(left: Formula, right: Formula, sign: int = 1) -> Formula:
    coefficients = dict(left.terms)
    for product, coefficient in right.terms:
        coefficients[product] = coefficients.get(product, Fraction(0)) + sign * coefficient
    return _ordered({product: c for product, c in coefficients.items() if c})


def _ordered(coefficients: dict[Product, Fraction]) -> Formula:
    """Positive terms first, then low powers, then by name."""

    def place(term: tuple[Product, Fraction]) -> tuple[Any, ...]:
        product, coefficient = term
        return coefficient < 0, sum(abs(e) for _, e in product), [(_by_number(factor), -e) for factor, e in product]

    return Formula(tuple(sorted(coefficients.items(), key=place)))


def _product(left: Formula, right: Formula, power: int = 1) -> Formula:
    """The left formula times a power of the right one."""
    (ours, coefficient), (theirs, other) = _as_product(left), _as_product(right)
    exponents = dict(ours)
    for factor, exponent in theirs:
        exponents[factor] = exponents.get(factor, 0) + power * exponent
    factors = sorted(((f, e) for f, e in exponents.items() if e), key=lambda item: _by_number(item[0]))
    return Formula(((tuple(factors), coefficient * other**power),))


def _power(operand: Formula, power: int) -> Formula:
    return _product(_ONE, _unsigned(operand) if power % 2 == 0 else operand, power)


def _as_product(formula: Formula) -> tuple[Product, Fraction]:
    """One term as it is; a sum as a factor in parentheses, with what all its coefficients share before it."""
    if len(formula.terms) == 1:
        return formula.terms[0]
    if not formula.terms:  # a difference of expressions whose last digits alone differ; it has no inverse
        return (("0", 1),), Fraction(1)
    shared = Fraction(
        gcd(*(coefficient.numerator for _, coefficient in formula.terms)),
        lcm(*(coefficient.denominator for _, coefficient in formula.terms)),
    )
    return ((f"({_times(formula, 1 / shared).text})", 1),), shared


def _unsigned(formula: Formula) -> Formula:
    """The same for a formula and its negative."""
    return min(formula, _times(formula, Fraction(-1)), key=lambda it: (it.text.startswith("-"), it.text))


def _times(formula: Formula, number: Fraction) -> Formula:
    return _ordered({product: number * coefficient for product, coefficient in formula.terms})


def _absolute(formula: Formula) -> Formula:
    inner = _unsigned(formula).text
    return Formula.of_factor(f"abs({inner})" if "|" in inner else f"|{inner}|")  # bars within bars cannot be read


def _written(product: Product, coefficient: Fraction) -> str:
    above = [*_number(coefficient.numerator), *(_factor(f, e) for f, e in product if e > 0)]
    below = [*_number(coefficient.denominator), *(_factor(f, -e) for f, e in product if e < 0)]
    text = "*".join(above) or "1"
    if below:
        text += "/" + (below[0] if len(below) == 1 else f"({'*'.join(below)})")
    return text


def _number(number: int) -> Iterable[str]:
    return [] if number == 1 else [str(number)]


def _factor(factor: str, exponent: int) -> str:
    return factor if exponent == 1 else f"{factor}^{exponent}"


def _by_number(text: str) -> tuple[tuple[int, str], ...]:
    """Order of names: x2 before x10."""
    return tuple((int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", text))


_ONE = Formula((((), Fraction(1)),))
# Operators that are not written as functions, f(x).
_APPLIED: dict[str, Callable[[Formula, Formula], Formula]] = {
    "id": lambda a, b: a,
    "square": lambda a, b: _power(a, 2),
    "cube": lambda a, b: _power(a, 3),
    "inverse": lambda a, b: _power(a, -1),
    "abs": lambda a, b: _absolute(a),
    "+": _sum,
    "-": lambda a, b: _sum(a, b, -1),
    "*": _product,
    "/": lambda a, b: _product(a, b, -1),
    "|-|": lambda a, b: _absolute(_sum(a, b, -1)),
}
