"""A table of expressions: each row is an input, or an operator on earlier rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from rankwise._optional import require
from rankwise._typing import FloatArray, IntArray
from rankwise.screening import _jit
from rankwise.screening.distinct import reading_errors
from rankwise.screening.formulas import Formula, applied
from rankwise.screening.operators import BY_CODE, FIRST_BINARY, IDENTITY, in_sympy


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
        binary = codes >= FIRST_BINARY
        return self.complexity[lefts] + binary * self.complexity[rights] + (codes != IDENTITY)

    def append(self, codes: IntArray, lefts: IntArray, rights: IntArray) -> IntArray:
        """Add expressions; return their rows. What is only the identity of a row stays that row."""
        added = codes != IDENTITY
        rows = np.where(added, len(self) + np.cumsum(added) - 1, lefts)
        complexity = self.complexity_of(codes, lefts, rights)
        self.codes = np.concatenate([self.codes, codes[added]])
        self.lefts = np.concatenate([self.lefts, lefts[added]])
        self.rights = np.concatenate([self.rights, rights[added]])
        self.complexity = np.concatenate([self.complexity, complexity[added]])
        return rows

    def formulas(self, rows: IntArray, inputs: Sequence[str] | None = None) -> list[str]:
        """How expressions are written, with the names of the inputs or others, like terms collected.

        Digits that cancel can keep two expressions of one function from being recognised as such; then the second is
        written as it is computed.
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
        """Formulas that are the same for the same function alone, even if two inputs share a name."""
        return [formula.text for formula in self._collected(rows, [f"x{i}" for i in range(len(self.inputs))])]

    def to_sympy(self, rows: IntArray, caller: str) -> list[Any]:
        """Expressions of sympy, with the inputs as real symbols."""
        sympy = require("sympy", extra="symbolic", caller=caller)

        @cache
        def expression(row: int) -> Any:
            if row < len(self.inputs):
                return sympy.Symbol(self.inputs[row], real=True)
            left, right = expression(int(self.lefts[row])), expression(int(self.rights[row]))
            return in_sympy(sympy, BY_CODE[int(self.codes[row])], left, right)

        return [expression(int(row)) for row in rows]

    def needed(self, rows: IntArray) -> IntArray:
        """All rows that expressions are made of, with themselves, in order."""
        wanted = np.zeros(len(self), dtype=bool)
        wanted[rows] = True
        for row in np.arange(len(self) - 1, len(self.inputs) - 1, -1):
            if wanted[row]:
                wanted[[self.lefts[row], self.rights[row]]] = True
        return np.flatnonzero(wanted)

    @np.errstate(all="ignore")  # uncompiled kernels would warn
    def evaluate(self, X: FloatArray, rows: IntArray) -> FloatArray:
        """Values of expressions as columns; NaN where an input lies outside the domain of an operator.

        Values of a column that differ by no more than rounding are made equal.
        """
        n_inputs = len(self.inputs)
        needed = np.union1d(np.arange(n_inputs), self.needed(rows))
        place = np.zeros(len(self), dtype=np.intp)
        place[needed] = np.arange(len(needed))
        values = np.empty((len(needed), len(X)))
        values[:n_inputs] = X.T
        lefts, rights = place[self.lefts[needed]], place[self.rights[needed]]
        errors = np.empty_like(values)
        errors[:n_inputs] = reading_errors(values[:n_inputs])
        _jit.evaluate_table(values, errors, n_inputs, self.codes[needed], lefts, rights)
        wanted = values[place[rows]]
        wanted[~np.isfinite(wanted)] = np.nan
        _jit.settle_rows(wanted, errors[place[rows]])
        return wanted.T

    def _collected(self, rows: IntArray, names: Sequence[str]) -> list[Formula]:
        @cache
        def formula(row: int) -> Formula:
            if row < len(self.inputs):
                return Formula.of_name(names[row])
            left, right = formula(int(self.lefts[row])), formula(int(self.rights[row]))
            return applied(BY_CODE[int(self.codes[row])], left, right)

        return [formula(int(row)) for row in rows]

    def _as_computed(self, row: int, names: Sequence[str]) -> str:
        if row < len(self.inputs):
            return Formula.of_name(names[row]).text
        name, left = BY_CODE[int(self.codes[row])].name, self._as_computed(int(self.lefts[row]), names)
        if self.codes[row] < FIRST_BINARY:
            return f"{name}({left})"
        right = self._as_computed(int(self.rights[row]), names)
        return f"|{left} - {right}|" if name == "|-|" else f"({left} {name} {right})"
