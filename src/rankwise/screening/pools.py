"""Pools of expressions that grow layer by layer; the last layer may be streamed in blocks instead of stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rankwise._typing import ArrayLike, FloatArray, IntArray
from rankwise.screening import _jit
from rankwise.screening.expressions import ExpressionTable
from rankwise.screening.operators import BINARY, IDENTITY, UNARY, Operator, check_operators
from rankwise.screening.units import check_units, may_apply, units_of

#: operators and operands of expressions that are not in the table yet
Candidates = tuple[IntArray, IntArray, IntArray]
_BLOCK = 8192
# Values that agree to so many digits are those of the same function.
_DIGITS = 1e9


@dataclass(frozen=True)
class Grammar:
    """Which expressions there are: a letter per layer, "u" for unary and "b" for binary operators."""

    architecture: str
    unary: list[Operator]
    binary: list[Operator]
    cumulative: bool

    @classmethod
    def checked(cls, architecture: str, unary: Sequence[str], binary: Sequence[str], pool: str) -> Grammar:
        """Refuse letters, operators and pools that do not exist."""
        if not isinstance(architecture, str) or not architecture or set(architecture) - {"u", "b"}:
            raise ValueError(
                f"architecture is {architecture!r}; give a letter per layer, u (unary) or b (binary), such as 'bu' or "
                "'ubb'"
            )
        if pool not in ("strict", "cumulative"):
            raise ValueError(f"pool is {pool!r}; it is 'strict' or 'cumulative'")
        grammar = cls(
            architecture,
            check_operators("unary", unary, UNARY),
            check_operators("binary", binary, BINARY),
            pool == "cumulative",
        )
        for letter, name in (("u", "unary"), ("b", "binary")):
            if letter in architecture and not grammar.operators(letter):
                raise ValueError(f"architecture {architecture!r} has a layer {letter!r}, but {name} has no operators")
        return grammar

    def operators(self, letter: str) -> list[Operator]:
        """The operators of a layer."""
        return self.unary if letter == "u" else self.binary

    def count(self, letter: str, n_members: int, *, both_signs: bool = True) -> int:
        """Most expressions that a layer can make of a pool."""
        return sum(_count(operator, n_members, both_signs) for operator in self.operators(letter))


class Pool:
    """Expressions with their values on the data.

    An expression that is not finite, or constant, is left out. One whose values are those of an earlier expression is
    that expression.

    Attributes
    ----------
    table : ExpressionTable
        All expressions so far.
    values : ndarray of shape (len(table), n_samples)
        Their values, as rows.
    members : ndarray of int
        Rows that the next layer works on: those of the last layer, or with cumulative pools all that are usable.
    """

    @np.errstate(all="ignore")  # uncompiled kernels would warn
    def __init__(
        self, X: FloatArray, names: Sequence[str], grammar: Grammar, units: ArrayLike | None, max_bytes: int
    ) -> None:
        self.grammar = grammar
        self.max_bytes = max_bytes
        self.table = ExpressionTable(names)
        self.values = np.ascontiguousarray(X.T, dtype=np.float64)
        self.units = check_units(units, X.shape[1])
        self._projections = np.random.default_rng(0).standard_normal((2, len(X))) / len(X)
        self._row_of: dict[tuple[int, ...], int] = {}
        inputs = np.arange(X.shape[1])
        _, usable = _jit.evaluate_expressions(self.values, np.full_like(inputs, IDENTITY), inputs, inputs)
        homes = [self._row_of.setdefault(key, row) for row, key in enumerate(self._keys(self.values))]
        self.members = np.unique(np.array(homes, dtype=np.intp)[usable])

    @np.errstate(all="ignore")  # uncompiled kernels would warn
    def grow(self, layer: int) -> None:
        """Add a layer."""
        letter = self.grammar.architecture[layer]
        self._refuse_if_too_large(layer, self.grammar.count(letter, len(self.members)))
        members = self.members.tolist() if self.grammar.cumulative else []
        values, added = [self.values], []
        n_rows = len(self.table)
        for block in self.candidates(letter):
            rows, usable = _jit.evaluate_expressions(self.values, *block)
            found = np.flatnonzero(usable)
            new = []
            for place, key in zip(found, self._keys(rows[found]), strict=True):
                home = self._row_of.setdefault(key, n_rows)
                members.append(home)
                if home == n_rows:
                    new.append(place)
                    n_rows += 1
            values.append(rows[new])
            codes, lefts, rights = (part[new] for part in block)
            added.append((codes, lefts, rights))
        self.values = np.concatenate(values)
        self.members = np.unique(np.array(members, dtype=np.intp))
        for block in added:
            if self.units is not None:
                self.units = np.concatenate([self.units, units_of(self.units, *block)])
            self.table.append(*block)

    def as_candidates(self) -> Iterator[Candidates]:
        """The members themselves, block by block."""
        for rows, _ in _operands(UNARY["id"], self.members, True):
            yield np.full_like(rows, IDENTITY), rows, rows

    def candidates(self, letter: str, *, both_signs: bool = True) -> Iterator[Candidates]:
        """Expressions that a layer makes of the members, block by block, without their values.

        Without ``both_signs``, of a - b and b - a the first alone.
        """
        for operator in self.grammar.operators(letter):
            for lefts, rights in _operands(operator, self.members, both_signs):
                codes = np.full(len(lefts), operator.code, dtype=np.intp)
                if self.units is not None:
                    sensible = may_apply(self.units, codes, lefts, rights)
                    codes, lefts, rights = codes[sensible], lefts[sensible], rights[sensible]
                yield codes, lefts, rights

    def _refuse_if_too_large(self, layer: int, count: int) -> None:
        size = (len(self.table) + count) * self.values.shape[1] * 8
        if size > self.max_bytes:
            raise ValueError(
                f"layer {layer + 1} of {self.grammar.architecture!r} may have {count:,} expressions, "
                f"{size / 2**30:.1f} GiB; take fewer operators or inputs, raise max_bytes, or, if it is the last, "
                "give the features to ConcordanceSelector, which does not store it"
            )

    def _keys(self, rows: FloatArray) -> list[tuple[int, ...]]:
        """What rows with the same values share, whatever their last digits."""
        largest = np.abs(rows).max(axis=1)
        scale = np.where(largest > 0, largest, 1.0)
        numbers = np.column_stack([(rows / scale[:, None]) @ self._projections.T, np.log(scale)])
        return [tuple(key) for key in np.rint(numbers * _DIGITS).astype(np.int64).tolist()]


# ---------------------------------------------------------------------------------------------------------------


def _count(operator: Operator, n: int, both_signs: bool = True) -> int:
    if operator.name in UNARY:
        return n
    if operator.name in ("+", "*"):
        return n * (n + 1) // 2
    halved = operator.name == "|-|" or (operator.name == "-" and not both_signs)
    return n * (n - 1) // 2 if halved else n * (n - 1)


def n_blocks(operators: list[Operator], n: int) -> int:
    """In how many blocks the candidates of a layer come."""
    step = max(1, _BLOCK // max(n, 1))
    return sum(-(-n // (_BLOCK if operator.name in UNARY else step)) for operator in operators)


def _operands(operator: Operator, members: IntArray, both_signs: bool) -> Iterator[tuple[IntArray, IntArray]]:
    n = len(members)
    if operator.name in UNARY:
        for start in range(0, n, _BLOCK):
            yield members[start : start + _BLOCK], members[start : start + _BLOCK]
        return
    step = max(1, _BLOCK // max(n, 1))
    columns = np.arange(n)
    for start in range(0, n, step):
        rows = np.arange(start, min(start + step, n))[:, None]
        if operator.name in ("+", "*"):
            wanted = columns >= rows
        elif operator.name == "|-|" or (operator.name == "-" and not both_signs):
            wanted = columns > rows
        else:
            wanted = columns != rows
        left, right = np.nonzero(wanted)
        yield members[left + start], members[right]
