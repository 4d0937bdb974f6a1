"""Columns of text that hold each different cell once: a survey repeats few answers in many rows.

`rankwise.data.formats.text.Table` is made of these.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from rankwise._typing import FloatArray

#: places among the different cells of a column
Codes: TypeAlias = npt.NDArray[np.int32]

_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.ASCII)
# Numbers that a float would alter: leading zeros, or more digits than it keeps.
_CODE = re.compile(r"[+-]*(?:0\d.*|\d{16,})", re.ASCII)


def number(text: str) -> float | None:
    """The finite number that a field holds, or None (Python alone would take 1_0, nan and Arabic digits)."""
    if "_" in text or not text.isascii():
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def numbers_of(cells: Iterable[str], *, comma_is_free: bool) -> dict[str, float | None]:
    """The finite number that each of the different cells of a column holds, or None.

    A decimal comma counts where commas are left to cells and no cell has a decimal point. Where every comma could part
    thousands, as in 1,250, none counts.
    """
    found = {cell: number(cell) for cell in set(cells)}
    if not comma_is_free or any(value is not None and "." in cell for cell, value in found.items()):
        return found
    with_comma = [cell for cell in found if _DECIMAL_COMMA.fullmatch(cell)]
    if all(map(_THOUSANDS.fullmatch, with_comma)):
        return found
    return found | {cell: number(cell.replace(",", ".")) for cell in with_comma}


class Column:
    """The cells of a column: the different ones in order of appearance, and for every row which of them it holds.

    Parameters
    ----------
    distinct : list of str
        The different cells, in order of appearance.
    codes : ndarray of int32, shape (n_rows,)
        For every row the place of its cell among them.

    Attributes
    ----------
    distinct, codes
        As given.

    Examples
    --------
    >>> from rankwise.data.formats.columns import Column
    >>> column = Column.of(["tea", "milk", "tea"])
    >>> column.distinct, column.codes.tolist(), column.cells
    (['tea', 'milk'], [0, 1, 0], ['tea', 'milk', 'tea'])
    """

    distinct: list[str]
    codes: Codes

    def __init__(self, distinct: list[str], codes: Codes) -> None:
        self.distinct = distinct
        self.codes = codes

    @classmethod
    def of(cls, cells: Sequence[str]) -> Column:
        """The column that holds these cells, row by row."""
        code_of = {cell: code for code, cell in enumerate(dict.fromkeys(cells))}
        codes: Codes = np.fromiter(map(code_of.__getitem__, cells), dtype=np.int32, count=len(cells))
        return cls(list(code_of), codes)

    def __len__(self) -> int:
        return len(self.codes)

    @cached_property
    def cells(self) -> list[str]:
        """The cell of every row."""
        return list(self.pick(self.distinct))

    def pick(self, values: Iterable[object]) -> npt.NDArray[np.object_]:
        """For every row the one of the values that stands where its cell stands among the different cells."""
        one_each: npt.NDArray[np.object_] = np.empty(len(self.distinct), dtype=object)
        one_each[:] = list(values)
        return one_each[self.codes]

    def values(self, others: Mapping[str, float], *, comma_is_free: bool) -> FloatArray | None:
        """The numbers in the rows; None unless all cells are finite numbers or among the others."""
        cells = set(self.distinct).difference(others)
        meaning = {**numbers_of(cells, comma_is_free=comma_is_free), **others}
        if None in meaning.values():
            return None
        return np.array([meaning[cell] for cell in self.distinct], dtype=np.float64)[self.codes]

    def texts(self, blanks: Collection[str]) -> npt.NDArray[np.object_]:
        """The cell of every row, None where it is blank."""
        return self.pick(None if cell in blanks else cell for cell in self.distinct)

    def has_codes(self) -> bool:
        """Whether some numbers are codes that a float would alter: leading zeros, or 16 digits and more."""
        return any(map(_CODE.fullmatch, self.distinct))

    def holds_any(self, characters: str) -> bool:
        """Whether a cell holds one of the characters, which are ASCII."""
        return any(character in cell for cell in self.distinct for character in characters)

    def map(self, change: Callable[[str], str]) -> Column:
        """The column with changed cells."""
        changed = Column.of([change(cell) for cell in self.distinct])
        return Column(changed.distinct, changed.codes[self.codes])

    def take(self, rows: Sequence[int] | npt.NDArray[Any]) -> Column:
        """The column of these rows, or of those that a mask marks."""
        kept = self.codes[rows]
        occurring, first, codes = np.unique(kept, return_index=True, return_inverse=True)
        order = np.argsort(first)
        place: Codes = np.empty(len(order), dtype=np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        return Column([self.distinct[code] for code in occurring[order]], place[codes])

    def first_cell(self) -> str:
        """The cell of the first row."""
        return self.distinct[0]

    def first_row(self, fits: Callable[[str], object]) -> int | None:
        """The first row whose cell fits; None if there is none."""
        code = next((code for code, cell in enumerate(self.distinct) if fits(cell)), None)
        # Cells stand in order of appearance, so the first that fits is also the first to appear.
        return None if code is None else int(np.argmax(self.codes == code))
