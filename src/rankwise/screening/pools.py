"""Pools of expressions that grow layer by layer, and the grammar that says which expressions there are.

`SymbolicFeatures` stores all layers. `ConcordanceSelector` stores all but the last, whose candidates are screened block
by block (see `rankwise.screening.streams`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rankwise._progress import track
from rankwise._sklearn import gen_batches
from rankwise._typing import ArrayLike, FloatArray, IntArray
from rankwise._validation import check_choice
from rankwise.screening import _screening_jit
from rankwise.screening.distinct import DistinctRows
from rankwise.screening.expressions import (
    BINARY,
    IDENTITY,
    UNARY,
    ExpressionTable,
    Operator,
    check_operators,
    check_units,
    may_apply,
    units_of,
)

#: operators and operands of expressions that are not yet in the table
Candidates = tuple[IntArray, IntArray, IntArray]
# Most expressions and cells of a block: about a tenth of a second of work, after which the deadline is checked.
_BLOCK, _BLOCK_CELLS = 8192, 1 << 23
# Cells that are evaluated at once if the values are stored: 8 MB.
_STORED_CELLS = 1 << 20
# Most bytes that an expression takes besides its values: its key, and its row in the table.
BYTES_PER_EXPRESSION = 1024


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
        check_choice("pool", pool, ("strict", "cumulative"))
        grammar = cls(
            architecture,
            check_operators("unary", unary, UNARY),
            check_operators("binary", binary, BINARY),
            pool == "cumulative",
        )
        for letter, name, operators in (("u", "unary", grammar.unary), ("b", "binary", grammar.binary)):
            if letter in architecture and not operators:
                raise ValueError(f"architecture {architecture!r} has a layer {letter!r}, but {name} has no operators")
        return grammar

    def operators(self, letter: str) -> list[Operator]:
        """The operators that make something new: a cumulative pool keeps its members even without "id"."""
        operators = self.unary if letter == "u" else self.binary
        return [operator for operator in operators if not (self.cumulative and operator.code == IDENTITY)]

    def count(self, letter: str, n_members: int, *, both_signs: bool = True) -> int:
        """Most expressions that a layer can make of a pool."""
        return sum(_count(operator, n_members, both_signs) for operator in self.operators(letter))


class ExpressionPool:
    """Expressions with their values on the data.

    Expressions that are constant or not finite are dropped, and so are those with the values of an earlier expression.

    Attributes
    ----------
    table : ExpressionTable
        All expressions so far.
    rows : DistinctRows
        Their values, with bounds of rounding errors.
    members : ndarray of int
        Rows that the next layer works on: those of the last layer or, in cumulative pools, all that are usable.
    block : int
        Number of expressions that are evaluated between two checks of the deadline.
    complete : bool
        False if time ran out while a layer was generated.
    """

    @np.errstate(all="ignore")  # NumPy warns of what compiled loops ignore, if Numba is disabled
    def __init__(
        self, X: FloatArray, names: Sequence[str], grammar: Grammar, units: ArrayLike | None, max_bytes: int
    ) -> None:
        self.grammar = grammar
        self.max_bytes = max_bytes
        self.table = ExpressionTable(names)
        self.units = check_units(units, X.shape[1])
        self.block = min(_BLOCK, max(1, _BLOCK_CELLS // len(X)))
        self.complete = True
        self.rows = DistinctRows(len(X))
        self.rows.reserve(X.shape[1])
        self.members = np.arange(X.shape[1])
        # Without layers, columns are only scored, as they are, with copies and constants.
        self.rows.append_inputs(X, exact=not grammar.architecture)
        if not grammar.architecture:
            return
        inputs, errors = self.rows.values, self.rows.errors
        first, last = inputs.argmin(axis=1), inputs.argmax(axis=1)
        spread = inputs[self.members, last] - inputs[self.members, first]
        usable = spread > errors[self.members, first] + errors[self.members, last]
        self.members = np.unique(self.rows.enter(self.units)[usable])

    @np.errstate(all="ignore")  # NumPy warns of what compiled loops ignore, if Numba is disabled
    def grow(self, layer: int, deadline: float = np.inf) -> None:
        """Add a layer; after the deadline, only its first block."""
        letter = self.grammar.architecture[layer]
        count = self.grammar.count(letter, len(self.members))
        self._refuse_if_too_large(layer, count)
        self.rows.reserve(count)
        values, errors = self.rows.values, self.rows.errors  # without what this layer adds
        members = [self.members] if self.grammar.cumulative else []
        added: list[Candidates] = []
        clock = Deadline(deadline)
        for block in track(clock.watch(self.candidates(letter)), "generating", self.n_blocks(letter)):
            for batch in gen_batches(len(block[0]), max(1, _STORED_CELLS // values.shape[1])):
                codes, lefts, rights = (part[batch] for part in block)
                rows, bounds, usable = _screening_jit.evaluate_expressions(values, errors, codes, lefts, rights)
                codes, lefts, rights = codes[usable], lefts[usable], rights[usable]
                units = None if self.units is None else units_of(self.units, codes, lefts, rights)
                n_before = len(self.rows)
                homes = self.rows.add(rows[usable], bounds[usable], units)
                members.append(homes)
                new = np.unique(homes, return_index=True)[1][np.unique(homes) >= n_before]
                added.append((codes[new], lefts[new], rights[new]))
        self.complete &= not clock.passed
        self.members = np.unique(np.concatenate([np.empty(0, dtype=np.intp), *members]))
        if added:
            codes, lefts, rights = (np.concatenate(part) for part in zip(*added, strict=True))
            if self.units is not None:
                self.units = np.concatenate([self.units, units_of(self.units, codes, lefts, rights)])
            self.table.append(codes, lefts, rights)

    @np.errstate(all="ignore")  # NumPy warns of what compiled loops ignore, if Numba is disabled
    def keep(self, candidates: Candidates) -> IntArray:
        """Store a few candidates, as of a stream; return their rows, or those of the same functions."""
        homes, made = candidates[1].copy(), candidates[0] != IDENTITY
        codes, lefts, rights = (part[made] for part in candidates)
        values, errors, _ = _screening_jit.evaluate_expressions(
            self.rows.values, self.rows.errors, codes, lefts, rights
        )
        units = None if self.units is None else units_of(self.units, codes, lefts, rights)
        n_before = len(self.rows)
        self.rows.reserve(len(codes))
        homes[made] = self.rows.add(values, errors, units)
        rows, first = np.unique(homes[made], return_index=True)
        new = first[rows >= n_before]
        if self.units is not None and units is not None:
            self.units = np.concatenate([self.units, units[new]])
        self.table.append(codes[new], lefts[new], rights[new])
        return homes

    def as_candidates(self) -> Iterator[Candidates]:
        """The members themselves, block by block."""
        for batch in gen_batches(len(self.members), self.block):
            rows = self.members[batch]
            yield np.full_like(rows, IDENTITY), rows, rows

    def candidates(self, letter: str, *, both_signs: bool = True) -> Iterator[Candidates]:
        """Expressions that a layer makes of the members, block by block, without their values.

        Without ``both_signs``, only the first of a - b and b - a. All unary operators of one member follow each other,
        so that its order has to be found only once.
        """
        for codes, lefts, rights in self._unary() if letter == "u" else self._binary(both_signs):
            if self.units is None:
                yield codes, lefts, rights
            else:
                sensible = may_apply(self.units, codes, lefts, rights)
                yield codes[sensible], lefts[sensible], rights[sensible]

    def n_blocks(self, letter: str, *, both_signs: bool = True) -> int:
        """Number of blocks in which the candidates of a layer come."""
        operators, n = self.grammar.operators(letter), len(self.members)
        if letter == "u":
            return -(-n // max(1, self.block // max(1, len(operators)))) if operators else 0
        return sum(-(-_count(operator, n, both_signs) // self.block) for operator in operators)

    def _unary(self) -> Iterator[Candidates]:
        codes = np.array([operator.code for operator in self.grammar.operators("u")], dtype=np.intp)
        if len(codes):
            for batch in gen_batches(len(self.members), max(1, self.block // len(codes))):
                rows = self.members[batch]
                operands = np.repeat(rows, len(codes))
                yield np.tile(codes, len(rows)), operands, operands

    def _binary(self, both_signs: bool) -> Iterator[Candidates]:
        for operator in self.grammar.operators("b"):
            for lefts, rights in _pairs(operator, len(self.members), both_signs, self.block):
                yield np.full(len(lefts), operator.code, dtype=np.intp), self.members[lefts], self.members[rights]

    def _refuse_if_too_large(self, layer: int, count: int) -> None:
        # Values and error bounds, copies of both in transform, and the columns that transform returns.
        size = (len(self.table) + count) * (5 * 8 * self.rows.values.shape[1] + BYTES_PER_EXPRESSION)
        if size > self.max_bytes:
            raise ValueError(
                f"layer {layer + 1} of {self.grammar.architecture!r} may have {count:,} expressions, "
                f"{size / 2**30:.1f} GiB; use fewer operators or inputs, raise max_bytes, or, if it is the last layer, "
                "pass the features to ConcordanceSelector, which does not store it"
            )


class Deadline:
    """A point in time, as of `time.monotonic`, after which no further block of candidates begins, and a most of them.

    ``passed`` says whether candidates were left out because of the time, ``spent`` whether because of their number.
    """

    def __init__(self, deadline: float, most: int | None = None) -> None:
        self.deadline, self.passed = deadline, False
        self.left, self.spent = most, False

    def watch(self, blocks: Iterator[Candidates]) -> Iterator[Candidates]:
        """Yield the blocks until the deadline, but at least the first that is not empty; the last may be cut short."""
        begun = False
        for block in blocks:
            if begun and time.monotonic() > self.deadline:
                self.passed = True
                return
            begun |= len(block[0]) > 0
            if self.left is not None:
                if len(block[0]) > self.left:
                    self.spent = True
                    codes, lefts, rights = block
                    yield codes[: self.left], lefts[: self.left], rights[: self.left]
                    return
                self.left -= len(block[0])
            yield block


def _count(operator: Operator, n: int, both_signs: bool = True) -> int:
    if operator.name in UNARY:
        return n
    if operator.name in ("+", "*"):
        return n * (n + 1) // 2
    return n * (n - 1) // 2 if _halved(operator, both_signs) else n * (n - 1)


def _partners(operator: Operator, n: int, both_signs: bool) -> IntArray:
    """Number of partners of each member: itself and all after it, all after it, or all others."""
    after = np.arange(n - 1, -1, -1)
    if operator.name in ("+", "*"):
        return after + 1
    return after if _halved(operator, both_signs) else np.full(n, n - 1)


def _halved(operator: Operator, both_signs: bool) -> bool:
    return operator.name == "|-|" or (operator.name == "-" and not both_signs)


def _pairs(operator: Operator, n: int, both_signs: bool, size: int) -> Iterator[tuple[IntArray, IntArray]]:
    """Places of operands among the members, up to ``size`` pairs at once: pairs are numbered, and numbers decoded."""
    partners = _partners(operator, n, both_signs)
    ends = np.cumsum(partners)
    for batch in gen_batches(_count(operator, n, both_signs), size):
        number = np.arange(batch.start, batch.stop)
        left = np.searchsorted(ends, number, side="right")
        right = number - (ends - partners)[left]
        if operator.name in ("+", "*"):
            right += left
        elif _halved(operator, both_signs):
            right += left + 1
        else:
            right += right >= left
        yield left, right
