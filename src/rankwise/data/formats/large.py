"""Large delimited texts, cut by compiled loops into the same columns as the strict reader makes.

`rankwise.data.formats.text.parse_table` comes here with texts of some megabytes. Whatever is unusual is left to the
strict reader, which reads it or says what is wrong.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Mapping, Sequence
from functools import cache, cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from rankwise._typing import FloatArray
from rankwise.data.formats.columns import Codes, Column, number

# Columns of more different cells than this, or of mostly different cells, keep their cells as they stand in the text.
_MOST_DISTINCT = 1 << 16
_PATIENCE = 1 << 12
_COLUMNS_AT_EASE = 256
_AT_ONCE = 1 << 12


def cut_columns(
    text: str, begin: int, delimiter: str, n_columns: int, line: int
) -> tuple[list[Column], Sequence[int]] | None:
    """The columns of a delimited text without its header, and the line of each row; None if it is unusual.

    Parameters
    ----------
    text : str
        As `rankwise.data.formats.text.read_text` returns it.
    begin : int
        Where the rows begin.
    delimiter : str
        What stands between cells.
    n_columns : int
        The cells of each row.
    line : int
        The line on which they begin.
    """
    from rankwise.data.formats import cells_jit

    if not delimiter.isascii() or n_columns == 0:
        return None
    data = np.frombuffer((text if text.endswith("\n") else f"{text}\n").encode(), dtype=np.uint8)
    data = data[len(text[:begin].encode()) :]
    most_rows = text.count("\n", begin) + 1
    most_distinct = max(_MOST_DISTINCT * _COLUMNS_AT_EASE // max(n_columns, _COLUMNS_AT_EASE), 1 << 8)
    shape = (n_columns, most_rows)
    # Memory that is not touched costs nothing: a column needs codes, or begins and lengths.
    codes, lengths = np.empty(shape, dtype=np.int32), np.empty(shape, dtype=np.int32)
    starts, lines = np.empty(shape, dtype=np.int64), np.empty(most_rows, dtype=np.int64)
    slots = np.zeros((n_columns, 2 << (most_distinct - 1).bit_length()), dtype=np.int32)
    keys = np.empty(slots.shape, dtype=np.uint64)
    firsts = np.empty((n_columns, most_distinct), dtype=np.int64)
    sizes = np.empty((n_columns, most_distinct), dtype=np.int32)
    counts, marks = np.zeros(n_columns, dtype=np.int64), np.zeros((n_columns, 2), dtype=np.bool_)
    longest = csv.field_size_limit()
    found = codes, starts, lengths, lines
    n_rows = cells_jit.cut(
        data, ord(delimiter), line, longest, _PATIENCE, *found, slots, keys, firsts, sizes, counts, marks
    )
    if n_rows < 0:
        return None
    columns: list[Column] = []
    for at in range(n_columns):
        count = counts[at]
        if count >= 0:
            distinct = LongColumn(data, firsts[at, :count], sizes[at, :count], has_quotes=marks[at, 1])
            column = Column(distinct.cells, codes[at, :n_rows])
        else:
            column = LongColumn(data, starts[at, :n_rows], lengths[at, :n_rows], has_quotes=marks[at, 1])
        if marks[at, 0]:
            # Blanks beyond ASCII are rare enough for the slow way.
            if any(cell and not cell.strip() for cell in column.distinct):
                return None  # a row of such blanks is no row
            column = column.map(str.strip)
        columns.append(column)
    # A range takes no memory; rows of several lines are rare.
    regular = n_rows and lines[n_rows - 1] - lines[0] == n_rows - 1
    return columns, range(lines[0], lines[0] + n_rows) if regular else lines[:n_rows].tolist()


class LongColumn(Column):
    """A column of mostly different cells, such as ids or measurements, kept as they stand in the text.

    Parameters
    ----------
    data : ndarray of uint8
        The text.
    starts, lengths : ndarray of int, shape (n_rows,)
        Where the cell of each row begins, and its number of bytes.
    has_quotes : bool
        Whether quotes inside cells are doubled.
    """

    def __init__(
        self,
        data: npt.NDArray[np.uint8],
        starts: npt.NDArray[np.int64],
        lengths: npt.NDArray[np.int32],
        *,
        has_quotes: bool,
    ) -> None:
        self._data = data
        self._starts = starts
        self._lengths = lengths
        self._has_quotes = has_quotes

    def __len__(self) -> int:
        return len(self._starts)

    @cached_property
    def cells(self) -> list[str]:
        """The cell of every row."""
        return self._cells_of(np.arange(len(self)))

    @cached_property
    def distinct(self) -> list[str]:  # type: ignore[override]
        """The different cells, in order of appearance."""
        return list(dict.fromkeys(self.cells))

    @cached_property
    def codes(self) -> Codes:  # type: ignore[override]
        """For every row the place of its cell among them."""
        return Column.of(self.cells).codes

    def values(self, others: Mapping[str, float], *, comma_is_free: bool) -> FloatArray | None:
        """The numbers in the rows; None unless all cells are finite numbers or among the others."""
        if any(number(cell) is not None for cell in others):
            return super().values(others, comma_is_free=comma_is_free)
        decimals, state, _ = self._decimals
        values = decimals.copy()
        unread = np.flatnonzero(state == 2)
        for begin in range(0, len(unread), _AT_ONCE):
            rows = unread[begin : begin + _AT_ONCE]
            for row, cell in zip(rows, self._cells_of(rows), strict=True):
                value = others[cell] if cell in others else number(cell)
                if value is None:
                    # A decimal comma makes sense beside others only.
                    in_doubt = comma_is_free and "," in cell
                    return super().values(others, comma_is_free=True) if in_doubt else None
                values[row] = value
        long = np.flatnonzero(state == 1)
        values[long] = list(map(float, self._cells_of(long)))
        return values if np.isfinite(values[long]).all() else None

    def texts(self, blanks: Collection[str]) -> npt.NDArray[np.object_]:
        """The cell of every row, None where it is blank."""
        cells: npt.NDArray[np.object_] = np.empty(len(self), dtype=object)
        cells[:] = self.cells
        longest = max((len(blank.encode()) for blank in blanks), default=-1)
        for row in np.flatnonzero(self._lengths <= longest):
            if cells[row] in blanks:
                cells[row] = None
        return cells

    def has_codes(self) -> bool:
        """Whether some numbers are codes that a float would alter: leading zeros, or 16 digits and more."""
        return self._decimals[2]

    def holds_any(self, characters: str) -> bool:
        """Whether a cell holds one of the characters, which are ASCII."""
        from rankwise.data.formats import cells_jit

        wanted = np.zeros(256, dtype=np.bool_)
        wanted[list(characters.encode())] = True
        return bool(cells_jit.any_byte(self._data, self._starts, self._lengths, wanted))

    def take(self, rows: Sequence[int] | npt.NDArray[Any]) -> Column:
        """The column of these rows, or of those that a mask marks."""
        return LongColumn(self._data, self._starts[rows], self._lengths[rows], has_quotes=self._has_quotes)

    @cached_property
    def _decimals(self) -> tuple[FloatArray, npt.NDArray[np.int8], bool]:
        """Values, state and codes, as `cells_jit.decimals` finds them."""
        from rankwise.data.formats import cells_jit

        values, state = np.empty(len(self)), np.empty(len(self), dtype=np.int8)
        codes = cells_jit.decimals(self._data, self._starts, self._lengths, _powers(), values, state)
        return values, state, bool(codes)

    def _cells_of(self, rows: npt.NDArray[np.intp]) -> list[str]:
        from rankwise.data.formats import cells_jit

        joined = np.empty(int(self._lengths[rows].sum()) + len(rows), dtype=np.uint8)
        cells_jit.gather(self._data, self._starts, self._lengths, rows, joined)
        # No text holds a zero byte.
        cells = joined.tobytes().decode().split("\0")[:-1]
        return [cell.replace('""', '"') for cell in cells] if self._has_quotes else cells


@cache
def _powers() -> npt.NDArray[np.uint64]:
    """The first 128 bits of 5 ** -places, rounded up, for up to 27 decimal places."""
    parts = []
    for places in range(28):
        power = 5**places
        bits = 127 + power.bit_length() - (places == 0)
        first = -(-(1 << bits) // power)
        parts.append((first >> 64, first & (2**64 - 1)))
    return np.array(parts, dtype=np.uint64).T.copy()
