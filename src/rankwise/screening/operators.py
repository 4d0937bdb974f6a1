"""The operators of symbolic expressions: how they are written, what they do to units, which operands they take."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

#: a formula, and how strongly it binds
Written = tuple[str, int]
# How strongly an expression binds: operands that bind less are put in parentheses.
SUM, PRODUCT, POWER, ATOM = 1, 2, 3, 4


@dataclass(frozen=True)
class Operator:
    """One operator.

    Attributes
    ----------
    name : str
        What users write.
    code : int
        What kernels branch on.
    binds : int
        How strongly the written expression binds.
    unit_power : float, optional
        By what exponents of units are multiplied; None for operators that need, and give, pure numbers.
    """

    name: str
    code: int
    binds: int
    unit_power: float | None = 1.0


UNARY = {
    operator.name: operator
    for operator in (
        Operator("id", 0, ATOM),
        Operator("square", 1, POWER, 2.0),
        Operator("cube", 2, POWER, 3.0),
        Operator("sqrt", 3, ATOM, 1 / 2),
        Operator("cbrt", 4, ATOM, 1 / 3),
        Operator("inverse", 5, PRODUCT, -1.0),
        Operator("exp", 6, ATOM, None),
        Operator("log", 7, ATOM, None),
        Operator("sin", 8, ATOM, None),
        Operator("cos", 9, ATOM, None),
        Operator("abs", 10, ATOM),
    )
}
BINARY = {
    operator.name: operator
    for operator in (
        Operator("+", 11, SUM),
        Operator("-", 12, SUM),
        Operator("*", 13, PRODUCT),
        Operator("/", 14, PRODUCT),
        Operator("|-|", 15, ATOM),
    )
}
BY_CODE = {operator.code: operator for operator in (*UNARY.values(), *BINARY.values())}
IDENTITY = UNARY["id"].code
FIRST_BINARY = BINARY["+"].code


def check_operators(name: str, wanted: Iterable[str], known: dict[str, Operator]) -> list[Operator]:
    """Operators by name, each once."""
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    unknown = [operator for operator in names if operator not in known]
    if unknown:
        raise ValueError(f"{name} has the unknown operator {unknown[0]!r}; there are {', '.join(known)}")
    return [known[operator] for operator in dict.fromkeys(names)]


def written(operator: Operator, left: Written, right: Written) -> Written:
    """An expression as a formula, from its operands."""
    if operator.name in _WRITTEN:
        return _WRITTEN[operator.name](left, right)
    return f"{operator.name}({left[0]})", ATOM


def in_sympy(sympy: Any, operator: Operator, left: Any, right: Any) -> Any:
    """An expression of sympy, from its operands."""
    if operator.name in _IN_SYMPY:
        return _IN_SYMPY[operator.name](sympy, left, right)
    return getattr(sympy, operator.name)(left)


# ---------------------------------------------------------------------------------------------------------------


def _sum(left: Written, right: Written) -> Written:
    if left == right:
        return f"2*{_within(left, PRODUCT)}", PRODUCT
    return f"{left[0]} + {right[0]}", SUM


def _product(left: Written, right: Written) -> Written:
    (base, exponent), (other, more) = _base_and_exponent(left), _base_and_exponent(right)
    if base == other:
        return f"{base}^{exponent + more}", POWER
    return f"{_within(left, PRODUCT)}*{_within(right, PRODUCT)}", PRODUCT


def _power(operand: Written, exponent: int) -> Written:
    base, inner = _base_and_exponent(operand)
    return f"{base}^{inner * exponent}", POWER


def _base_and_exponent(operand: Written) -> Written:
    """Powers of powers are written as one power."""
    if operand[1] == POWER:
        base, _, exponent = operand[0].rpartition("^")
        return base, int(exponent)
    return _within(operand, ATOM), 1


def _within(operand: Written, binds: int) -> str:
    return operand[0] if operand[1] >= binds else f"({operand[0]})"


# Operators that are not written as functions, f(x), by the name that sympy has for them too.
_WRITTEN: dict[str, Callable[[Written, Written], Written]] = {
    "id": lambda a, b: a,
    "square": lambda a, b: _power(a, 2),
    "cube": lambda a, b: _power(a, 3),
    "inverse": lambda a, b: (f"1/{_within(a, POWER)}", PRODUCT),
    "abs": lambda a, b: (f"|{a[0]}|", ATOM),
    "+": _sum,
    "-": lambda a, b: (f"{a[0]} - {_within(b, PRODUCT)}", SUM),
    "*": _product,
    "/": lambda a, b: (f"{_within(a, PRODUCT)}/{_within(b, POWER)}", PRODUCT),
    "|-|": lambda a, b: (f"|{a[0]} - {_within(b, PRODUCT)}|", ATOM),
}
_IN_SYMPY: dict[str, Callable[[Any, Any, Any], Any]] = {
    "id": lambda sympy, a, b: a,
    "square": lambda sympy, a, b: a**2,
    "cube": lambda sympy, a, b: a**3,
    "cbrt": lambda sympy, a, b: sympy.real_root(a, 3),
    "inverse": lambda sympy, a, b: 1 / a,
    "abs": lambda sympy, a, b: sympy.Abs(a),
    "+": lambda sympy, a, b: a + b,
    "-": lambda sympy, a, b: a - b,
    "*": lambda sympy, a, b: a * b,
    "/": lambda sympy, a, b: a / b,
    "|-|": lambda sympy, a, b: sympy.Abs(a - b),
}
