"""The operators of symbolic expressions: their names and codes, what they do to units, what they are in sympy."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Operator:
    """One operator.

    Attributes
    ----------
    name : str
        What users write.
    code : int
        What kernels branch on.
    unit_power : float, optional
        By what exponents of units are multiplied; None for operators that need, and give, pure numbers.
    """

    name: str
    code: int
    unit_power: float | None = 1.0


UNARY = {
    operator.name: operator
    for operator in (
        Operator("id", 0),
        Operator("square", 1, 2.0),
        Operator("cube", 2, 3.0),
        Operator("sqrt", 3, 1 / 2),
        Operator("cbrt", 4, 1 / 3),
        Operator("inverse", 5, -1.0),
        Operator("exp", 6, None),
        Operator("log", 7, None),
        Operator("sin", 8, None),
        Operator("cos", 9, None),
        Operator("abs", 10),
    )
}
BINARY = {
    operator.name: operator
    for operator in (
        Operator("+", 11),
        Operator("-", 12),
        Operator("*", 13),
        Operator("/", 14),
        Operator("|-|", 15),
    )
}
BY_CODE = {operator.code: operator for operator in (*UNARY.values(), *BINARY.values())}
IDENTITY = UNARY["id"].code
FIRST_BINARY = BINARY["+"].code


def check_operators(name: str, wanted: Iterable[str], known: dict[str, Operator]) -> list[Operator]:
    """Operators by name, each once."""
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    unknown = [operator for operator in names if not isinstance(operator, str) or operator not in known]
    if unknown:
        raise ValueError(f"{name} has the unknown operator {unknown[0]!r}; there are {', '.join(known)}")
    return [known[operator] for operator in dict.fromkeys(names)]


def in_sympy(sympy: Any, operator: Operator, left: Any, right: Any) -> Any:
    """An expression of sympy, from its operands."""
    if operator.name in _IN_SYMPY:
        return _IN_SYMPY[operator.name](sympy, left, right)
    return getattr(sympy, operator.name)(left)


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
