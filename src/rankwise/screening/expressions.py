"""Symbolic expressions: their operators and units, the table that holds them, and how they are written.

`ExpressionTable` is what pools grow and what fitted transformers and selectors keep: each row is an input, or an
operator on earlier rows. `Formula` writes an expression for people, with like terms collected. Operators have codes, on
which the compiled loops branch.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from math import gcd, lcm
from typing import Any, ClassVar

import numpy as np

from rankwise._optional import require
from rankwise._state import INTS, STRING, Saved, check_places, ensure, tuple_of
from rankwise._typing import ArrayLike, BoolArray, FloatArray, IntArray
from rankwise._validation import check_numbers
from rankwise.screening import _screening_jit
from rankwise.screening.distinct import input_errors


@dataclass(frozen=True)
class Operator:
    """One operator.

    Attributes
    ----------
    name : str
        What users write.
    code : int
        What compiled loops branch on.
    unit_power : float, optional
        Factor of the exponents of units; None for operators that take, and give, dimensionless numbers.
    """

    name: str
    code: int
    unit_power: float | None = 1.0


UNARY = {
    operator.name: operator
    for operator in (
        Operator("id", _screening_jit.ID),
        Operator("square", _screening_jit.SQUARE, 2.0),
        Operator("cube", _screening_jit.CUBE, 3.0),
        Operator("sqrt", _screening_jit.SQRT, 1 / 2),
        Operator("cbrt", _screening_jit.CBRT, 1 / 3),
        Operator("inverse", _screening_jit.INVERSE, -1.0),
        Operator("exp", _screening_jit.EXP, None),
        Operator("log", _screening_jit.LOG, None),
        Operator("sin", _screening_jit.SIN, None),
        Operator("cos", _screening_jit.COS, None),
        Operator("abs", _screening_jit.ABS),
        Operator("1+", _screening_jit.ONE_PLUS, None),
        Operator("1-", _screening_jit.ONE_MINUS, None),
    )
}
BINARY = {
    operator.name: operator
    for operator in (
        Operator("+", _screening_jit.ADD),
        Operator("-", _screening_jit.SUBTRACT),
        Operator("*", _screening_jit.MULTIPLY),
        Operator("/", _screening_jit.DIVIDE),
        Operator("|-|", _screening_jit.ABS_DIFFERENCE),
    )
}
BY_CODE = {operator.code: operator for operator in (*UNARY.values(), *BINARY.values())}
IDENTITY = UNARY["id"].code
_BINARY_CODES = [operator.code for operator in BINARY.values()]
# Digits of unit exponents that are compared: thirds are not exact in floating point.
_UNIT_DIGITS = 9
# Most operators in a saved expression, because formulas are written out.
_MOST_OPERATORS = 10_000
#: factors and their exponents, in order; a factor is a name, a function, or a sum in parentheses
Product = tuple[tuple[str, int | Fraction], ...]


class ExpressionTable:
    """Expressions of inputs, children before parents, so that shared parts are held and computed once.

    Attributes
    ----------
    inputs : tuple of str
        Names of the inputs; they are the first rows.
    codes, lefts, rights : ndarray of int
        Operator and operands of each row; a unary operator has the same operand twice.
    complexity : ndarray of int
        Number of operators in each expression; "id" is none.
    """

    _saved: ClassVar[Saved] = {
        "inputs": tuple_of(STRING),
        **dict.fromkeys(["codes", "lefts", "rights", "complexity"], INTS),
    }

    def __init__(self, inputs: Sequence[str]) -> None:
        self.inputs = tuple(str(name) for name in inputs)
        self.codes = np.full(len(self.inputs), IDENTITY, dtype=np.intp)
        self.lefts = np.arange(len(self.inputs))
        self.rights = np.arange(len(self.inputs))
        self.complexity = np.zeros(len(self.inputs), dtype=np.intp)

    def __len__(self) -> int:
        return len(self.codes)

    def complexity_of(self, codes: IntArray, lefts: IntArray, rights: IntArray) -> IntArray:
        """Number of operators in expressions of rows of the table."""
        binary = np.isin(codes, _BINARY_CODES)
        return self.complexity[lefts] + binary * self.complexity[rights] + (codes != IDENTITY)

    def append(self, codes: IntArray, lefts: IntArray, rights: IntArray) -> IntArray:
        """Add expressions; return their rows. The identity of a row is that row."""
        added = codes != IDENTITY
        rows = np.where(added, len(self) + np.cumsum(added) - 1, lefts)
        complexity = self.complexity_of(codes, lefts, rights)
        self.codes = np.concatenate([self.codes, codes[added]])
        self.lefts = np.concatenate([self.lefts, lefts[added]])
        self.rights = np.concatenate([self.rights, rights[added]])
        self.complexity = np.concatenate([self.complexity, complexity[added]])
        return rows

    def formulas(self, rows: IntArray, inputs: Sequence[str] | None = None) -> list[str]:
        """Formulas of expressions, with like terms collected, by the names of the inputs or by other names.

        Cancelled digits can hide that two expressions are the same function; then the second is written as it is
        computed.
        """
        names = self.inputs if inputs is None else inputs
        texts = [formula.text for formula in self._collected(rows, names)]
        first: dict[str, int] = {}
        for row, text in zip(rows.tolist(), texts, strict=True):
            first.setdefault(text, row)
        return [
            text if first[text] == row else self._as_computed(row, names)
            for row, text in zip(rows.tolist(), texts, strict=True)
        ]

    def identities(self, rows: IntArray) -> list[str]:
        """Formulas that are equal only for the same function, even if two inputs share a name."""
        return [formula.text for formula in self._collected(rows, [f"x{i}" for i in range(len(self.inputs))])]

    def to_sympy(self, rows: IntArray, caller: str) -> list[Any]:
        """Expressions of sympy, with the inputs as real symbols."""
        sympy = require("sympy", extra="symbolic", caller=caller)

        @cache
        def expression(row: int) -> Any:
            if row < len(self.inputs):
                return sympy.Symbol(self.inputs[row], real=True)
            left, right = expression(int(self.lefts[row])), expression(int(self.rights[row]))
            name = BY_CODE[int(self.codes[row])].name
            return _IN_SYMPY[name](sympy, left, right) if name in _IN_SYMPY else getattr(sympy, name)(left)

        return [expression(int(row)) for row in rows]

    def needed(self, rows: IntArray) -> IntArray:
        """Expressions and all rows that they are made of, in order."""
        wanted = np.zeros(len(self), dtype=bool)
        wanted[rows] = True
        for row in np.arange(len(self) - 1, len(self.inputs) - 1, -1):
            if wanted[row]:
                wanted[[self.lefts[row], self.rights[row]]] = True
        return np.flatnonzero(wanted)

    def only(self, rows: IntArray) -> tuple[ExpressionTable, IntArray]:
        """A table of the inputs, some expressions and what they are made of; and the new row of each old one."""
        needed = np.union1d(np.arange(len(self.inputs)), self.needed(rows))
        place = np.zeros(len(self), dtype=np.intp)
        place[needed] = np.arange(len(needed))
        table = ExpressionTable(self.inputs)
        table.codes, table.complexity = self.codes[needed], self.complexity[needed]
        table.lefts, table.rights = place[self.lefts[needed]], place[self.rights[needed]]
        return table, place

    @np.errstate(all="ignore")  # NumPy warns of what compiled loops ignore, if Numba is disabled
    def evaluate(self, X: FloatArray, rows: IntArray) -> FloatArray:
        """Values of expressions as columns; NaN where an input lies outside the domain of an operator.

        Values of a column that differ only by rounding are made equal.
        """
        n_inputs = len(self.inputs)
        needed = np.union1d(np.arange(n_inputs), self.needed(rows))
        place = np.zeros(len(self), dtype=np.intp)
        place[needed] = np.arange(len(needed))
        values = np.empty((len(needed), len(X)))
        values[:n_inputs] = X.T
        lefts, rights = place[self.lefts[needed]], place[self.rights[needed]]
        errors = np.empty_like(values)
        errors[:n_inputs] = input_errors(values[:n_inputs])
        _screening_jit.evaluate_table(values, errors, n_inputs, self.codes[needed], lefts, rights)
        wanted = values[place[rows]]
        wanted[~np.isfinite(wanted)] = np.nan
        _screening_jit.settle_rows(wanted, errors[place[rows]])
        return wanted.T

    def _collected(self, rows: IntArray, names: Sequence[str]) -> list[Formula]:
        @cache
        def formula(row: int) -> Formula:
            if row < len(self.inputs):
                return Formula.of_name(names[row])
            left, right = formula(int(self.lefts[row])), formula(int(self.rights[row]))
            return apply_operator(BY_CODE[int(self.codes[row])], left, right)

        return [formula(int(row)) for row in rows]

    def _as_computed(self, row: int, names: Sequence[str]) -> str:
        if row < len(self.inputs):
            return Formula.of_name(names[row]).text
        name, left = BY_CODE[int(self.codes[row])].name, self._as_computed(int(self.lefts[row]), names)
        if self.codes[row] not in _BINARY_CODES:
            return f"({name[0]} {name[1]} {left})" if name in ("1+", "1-") else f"{name}({left})"
        right = self._as_computed(int(self.rights[row]), names)
        return f"|{left} - {right}|" if name == "|-|" else f"({left} {name} {right})"

    def check_rows(self, rows: IntArray, n_features: int) -> None:
        """Refuse saved rows that are not in the table, or a table with other inputs than there are features."""
        ensure(len(self.inputs) == n_features, "inputs and features differ")
        check_places(rows, len(self), "an expression does not exist")

    def _check_saved(self) -> None:
        n, n_inputs = len(self.codes), len(self.inputs)
        ensure(n >= n_inputs > 0, "there are no inputs")
        ensure(all(len(part) == n for part in (self.lefts, self.rights, self.complexity)), "expressions lack parts")
        rows = np.arange(n)
        # An input is its own operand; all others have operands before them.
        last = np.where(rows < n_inputs, rows, rows - 1)
        for operand in (self.lefts, self.rights):
            ensure(((operand >= 0) & (operand <= last)).all(), "an expression comes before its operands")
        ensure(np.isin(self.codes, list(BY_CODE)).all(), "an operator is unknown")
        ensure(((self.complexity >= 0) & (self.complexity <= _MOST_OPERATORS)).all(), "an expression is too long")
        total = self.complexity_of(self.codes, self.lefts, self.rights)
        ensure((self.complexity[:n_inputs] == 0).all(), "an input has operators")
        ensure(np.array_equal(self.complexity[n_inputs:], total[n_inputs:]), "complexities of expressions are wrong")


def check_operators(name: str, wanted: Iterable[str], known: dict[str, Operator]) -> list[Operator]:
    """Operators by name, each once."""
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    unknown = [operator for operator in names if not isinstance(operator, str) or operator not in known]
    if unknown:
        raise ValueError(f"{name} has the unknown operator {unknown[0]!r}; choose from {', '.join(known)}")
    return [known[operator] for operator in dict.fromkeys(names)]


def check_units(units: ArrayLike | None, n_inputs: int) -> FloatArray | None:
    """Exponents as (n_inputs, n_base_units), whole numbers."""
    if units is None:
        return None
    exponents = check_numbers("units", units)
    if exponents.ndim != 2 or len(exponents) != n_inputs:
        raise ValueError(
            f"units has shape {exponents.shape}; give one row of exponents for each of the {n_inputs} inputs, one "
            "column per base unit"
        )
    if not np.isfinite(exponents).all():
        raise ValueError("units has an exponent that is not finite; give whole numbers")
    if not np.equal(exponents, np.rint(exponents)).all():
        raise ValueError("units has an exponent that is not a whole number; choose smaller base units")
    return exponents


def may_apply(units: FloatArray, codes: IntArray, lefts: IntArray, rights: IntArray) -> BoolArray:
    """Whether operators make sense: sums of equal units, and exp, log, sin, cos of dimensionless numbers."""
    _, unit = np.unique(units.round(_UNIT_DIGITS), axis=0, return_inverse=True)
    dimensionless = (units.round(_UNIT_DIGITS) == 0).all(axis=1)
    additive = np.isin(codes, [BINARY[name].code for name in ("+", "-", "|-|")])
    transcendental = np.isin(codes, [code for code, operator in BY_CODE.items() if operator.unit_power is None])
    return (~additive | (unit[lefts] == unit[rights])) & (~transcendental | dimensionless[lefts])


def units_of(units: FloatArray, codes: IntArray, lefts: IntArray, rights: IntArray) -> FloatArray:
    """Units of operators on rows."""
    powers = np.array([BY_CODE[code].unit_power or 0.0 for code in range(len(BY_CODE))])
    factor = np.where(codes == BINARY["*"].code, 1.0, np.where(codes == BINARY["/"].code, -1.0, 0.0))
    return powers[codes, None] * units[lefts] + factor[:, None] * units[rights]


@dataclass(frozen=True)
class Formula:
    """A sum of products with rational coefficients.

    Sums are not multiplied out: (a + b)^2 stays what it is.
    """

    terms: tuple[tuple[Product, Fraction], ...]

    @classmethod
    def of_name(cls, name: str) -> Formula:
        """An input; names that are not identifiers stand in brackets."""
        return cls.of_factor(name if name.isidentifier() else f"[{name}]")

    @classmethod
    def of_factor(cls, factor: str) -> Formula:
        """A factor that is written as it is."""
        return cls(((((factor, 1),), Fraction(1)),))

    @cached_property
    def text(self) -> str:
        """The formula as users read it."""
        match self.terms:
            case [[[[factor, 1]], 1]]:  # as most parts of formulas are
                return factor
        signed = [("-" if c < 0 else "+", _written(product, abs(c))) for product, c in self.terms]
        first = [text if sign == "+" else f"-{text}" for sign, text in signed[:1]]
        return " ".join(first + [f"{sign} {text}" for sign, text in signed[1:]]) or "0"


def apply_operator(operator: Operator, left: Formula, right: Formula) -> Formula:
    """The formula of an operator on one formula or two; unary operators ignore the second."""
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


def _root(operand: Formula) -> Formula:
    """The square root: half the exponent where that is surely the same function, so that x/sqrt(x) is sqrt(x)."""
    product, coefficient = _as_product(operand)
    if len(product) != 1 or coefficient != 1 or Fraction(product[0][1]).numerator % 2 == 0:  # sqrt(x^2) is |x|
        return Formula.of_factor(f"sqrt({operand.text})")
    ((factor, exponent),) = product
    return Formula(((((factor, Fraction(exponent) / 2),), coefficient),))


def _as_product(formula: Formula) -> tuple[Product, Fraction]:
    """One term as it is; a sum as a factor in parentheses, with what all its coefficients share before it."""
    if len(formula.terms) == 1:
        return formula.terms[0]
    if not formula.terms:  # a difference of expressions that differ only in their last digits; it has no inverse
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
    return Formula.of_factor(f"abs({inner})" if "|" in inner else f"|{inner}|")  # bars within bars are unreadable


def _written(product: Product, coefficient: Fraction) -> str:
    """A product with its coefficient, as a fraction if there is a denominator."""

    def factors(number: int, sign: int) -> list[str]:
        powers = [(factor, sign * exponent) for factor, exponent in product if sign * exponent > 0]
        written = [power_text(factor, exponent) for factor, exponent in powers]
        return written if number == 1 else [str(number), *written]

    above, below = factors(coefficient.numerator, 1), factors(coefficient.denominator, -1)
    text = "*".join(above) or "1"
    if below:
        text += "/" + (below[0] if len(below) == 1 else f"({'*'.join(below)})")
    return text


def power_text(base: str, exponent: float | Fraction) -> str:
    """A positive power of a factor as users read it."""
    if exponent == 1:
        return base
    if exponent == Fraction(1, 2):
        return f"sqrt{base}" if base.startswith("(") else f"sqrt({base})"
    fraction = Fraction(exponent).limit_denominator(12)
    if abs(float(fraction) - float(exponent)) > 1e-9 or 8 % fraction.denominator == 0:
        return f"{base}^{float(exponent):.4g}"
    return f"{base}^({fraction})"


def _by_number(text: str) -> tuple[tuple[int, str], ...]:
    """Sort key of names: x2 before x10."""
    return tuple((int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", text))


_ONE = Formula((((), Fraction(1)),))
# How operators are written; all others are functions, f(x).
_APPLIED: dict[str, Callable[[Formula, Formula], Formula]] = {
    "id": lambda a, b: a,
    "square": lambda a, b: _power(a, 2),
    "cube": lambda a, b: _power(a, 3),
    "sqrt": lambda a, b: _root(a),
    "inverse": lambda a, b: _power(a, -1),
    "abs": lambda a, b: _absolute(a),
    "1+": lambda a, b: _sum(_ONE, a),
    "1-": lambda a, b: _sum(_ONE, a, -1),
    "+": _sum,
    "-": lambda a, b: _sum(a, b, -1),
    "*": _product,
    "/": lambda a, b: _product(a, b, -1),
    "|-|": lambda a, b: _absolute(_sum(a, b, -1)),
}
# What operators are in sympy; all others are functions of sympy with the same name.
_IN_SYMPY: dict[str, Callable[[Any, Any, Any], Any]] = {
    "id": lambda sympy, a, b: a,
    "square": lambda sympy, a, b: a**2,
    "cube": lambda sympy, a, b: a**3,
    "cbrt": lambda sympy, a, b: sympy.real_root(a, 3),
    "inverse": lambda sympy, a, b: 1 / a,
    "abs": lambda sympy, a, b: sympy.Abs(a),
    "1+": lambda sympy, a, b: 1 + a,
    "1-": lambda sympy, a, b: 1 - a,
    "+": lambda sympy, a, b: a + b,
    "-": lambda sympy, a, b: a - b,
    "*": lambda sympy, a, b: a * b,
    "/": lambda sympy, a, b: a / b,
    "|-|": lambda sympy, a, b: sympy.Abs(a - b),
}
