"""Large delimited texts, cut by compiled loops into the same columns as the strict reader makes.

`rankwise.data.formats.delimited.parse_table` comes here with texts of some megabytes. Whatever is unusual is left to
the strict reader, which reads it or says what is wrong.
"""

from __future__ import annotations

import csv
import itertools
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from rankwise._typing import FloatArray
from rankwise.data.formats.tables import Codes, Column
from rankwise.data.formats.text import number

# Columns of more different cells than this, or of mostly different cells, keep their cells as they stand in the text.
_MOST_DISTINCT = 1 << 16
_PATIENCE = 1 << 12
# The tables of different cells take less memory than the text.
_BYTES_PER_DISTINCT = 64
_AT_ONCE = 1 << 14
_MOST_THREADS = 2
_LEAST_PIECE = 1 << 22


def cut_columns(
    data: bytes, begin: int, delimiter: str, n_columns: int, line: int
) -> tuple[list[Column], Sequence[int]] | None:
    """The columns of a delimited text without its header, and the line of each row; None if it is unusual.

    Parameters
    ----------
    data : bytes
        The text in UTF-8, its lines ended by line feeds.
    begin : int
        Where the rows begin.
    delimiter : str
        What stands between cells.
    n_columns : int
        The cells of each row.
    line : int
        The line on which they begin.
    """
    if not delimiter.isascii() or n_columns == 0:
        return None
    data = data if data.endswith(b"\n") else data + b"\n"
    n_pieces = min(_MOST_THREADS, 1 + (len(data) - begin) // _LEAST_PIECE)
    grid = _Grid(data, delimiter, n_columns)
    n_rows = grid.cut(begin, line, n_pieces)
    if n_rows is None and n_pieces > 1:
        n_rows = grid.cut(begin, line, 1)  # blank lines among the rows, or cells of several lines
    columns = [] if n_rows is None else [grid.column(at, n_rows) for at in range(n_columns)]
    if n_rows is None or None in columns:
        return None
    # A range takes no memory; rows of several lines are rare.
    lines = grid.lines[:n_rows]
    regular = n_rows and lines[-1] - lines[0] == n_rows - 1
    return columns, range(lines[0], lines[0] + n_rows) if regular else lines.tolist()  # type: ignore[return-value]


class _Grid:
    """The cells of a text, cut piece by piece: codes, or begins and lengths, of every column."""

    def __init__(self, text: bytes, delimiter: str, n_columns: int) -> None:
        self._text = text
        self._data = np.frombuffer(text, dtype=np.uint8)
        self._delimiter = ord(delimiter)
        self._n_columns = n_columns

    def cut(self, first: int, line: int, n_pieces: int) -> int | None:
        """Cut all rows by as many threads as there are pieces; how many there are, or None if they are unusual."""
        from rankwise.data.formats import cells_jit

        ends = self._ends(first, n_pieces)
        threads = ThreadPoolExecutor(n_pieces)
        n_lines = list(threads.map(cells_jit.count_lines, [self._data] * n_pieces, (first, *ends), ends))
        rows = [0, *itertools.accumulate(n_lines)]
        shape = (self._n_columns, rows[-1])
        # Memory that is not touched costs nothing: a column needs codes, or begins and lengths.
        self._codes, self._lengths = np.empty(shape, dtype=np.int32), np.empty(shape, dtype=np.int32)
        self._starts, self.lines = np.empty(shape, dtype=np.int64), np.empty(rows[-1], dtype=np.int64)
        size = (len(self._text) - first) // n_pieces
        self._pieces = [_Piece(self._n_columns, row, row + n, size) for row, n in zip(rows, n_lines, strict=False)]
        places = zip((first, *ends), ends, rows, (line + row for row in rows), strict=False)
        found = list(threads.map(self._cut_piece, map(np.array, places), self._pieces))
        threads.shutdown()
        is_whole = min(found) >= 0 and (n_pieces == 1 or found == n_lines)
        self._pieces[-1].end = self._pieces[-1].begin + found[-1]
        return sum(found) if is_whole else None

    def _ends(self, first: int, n_pieces: int) -> list[int]:
        """Where the pieces end: after a line, about equally far from each other."""
        size, ends = len(self._text) - first, [first]
        for part in range(1, n_pieces):
            middle = min(max(first + size * part // n_pieces, ends[-1]), len(self._text) - 1)
            end = self._text.index(b"\n", middle) + 1
            # After an odd number of quotes a line end is part of a cell.
            n_quotes = self._text.count(b'"', ends[-1], end)
            while n_quotes % 2 and end < len(self._text):
                after = self._text.index(b"\n", end) + 1
                n_quotes += self._text.count(b'"', end, after)
                end = after
            ends.append(end)
        return [*ends[1:], len(self._text)]

    def _cut_piece(self, place: npt.NDArray[np.int64], piece: _Piece) -> int:
        from rankwise.data.formats import cells_jit

        found = self._codes, self._starts, self._lengths, self.lines
        limits = csv.field_size_limit(), _PATIENCE
        return int(cells_jit.cut(self._data, place, self._delimiter, *limits, *found, *piece.tables()))

    def column(self, at: int, n_rows: int) -> Column | None:
        """A column of the table; None if it is unusual."""
        has_quotes = any(piece.marks[at, 1] for piece in self._pieces)
        codes = self._codes[at, :n_rows]
        column: Column
        if all(piece.counts[at] >= 0 for piece in self._pieces):
            code_of: dict[str, int] = {}
            for piece in self._pieces:
                known = LongColumn(self._data, *piece.known(at), has_quotes=has_quotes).cells
                places = np.array([code_of.setdefault(cell, len(code_of)) for cell in known], dtype=np.int32)
                if piece.begin:  # the codes of the first piece hold for all
                    codes[piece.begin : piece.end] = places[codes[piece.begin : piece.end]]
            column = Column(list(code_of), codes)
        else:
            for piece in self._pieces:
                if piece.counts[at] >= 0:
                    starts, lengths = piece.known(at)
                    rows = slice(piece.begin, piece.end)
                    self._starts[at, rows], self._lengths[at, rows] = starts[codes[rows]], lengths[codes[rows]]
            stretch = self._starts[at, :n_rows], self._lengths[at, :n_rows]
            column = LongColumn(self._data, *stretch, has_quotes=has_quotes)
        if not any(piece.marks[at, 0] for piece in self._pieces):
            return column
        # Blanks beyond ASCII are rare enough for the slow way. A row of such blanks is no row.
        return None if any(cell and not cell.strip() for cell in column.distinct) else column.map(str.strip)


class _Piece:
    """Some rows, and the dictionaries of their columns; ``size`` bytes of text."""

    def __init__(self, n_columns: int, begin: int, end: int, size: int) -> None:
        self.begin = begin
        self.end = end
        most = max(min(_MOST_DISTINCT, size // (_BYTES_PER_DISTINCT * n_columns)), 1 << 8)
        self._slots = np.zeros((n_columns, 2 << (most - 1).bit_length()), dtype=np.int32)
        self._keys = np.empty(self._slots.shape, dtype=np.uint64)
        self._firsts = np.empty((n_columns, most), dtype=np.int64)
        self._sizes = np.empty((n_columns, most), dtype=np.int32)
        self.counts = np.zeros(n_columns, dtype=np.int64)
        self.marks = np.zeros((n_columns, 2), dtype=np.bool_)

    def tables(self) -> tuple[npt.NDArray[Any], ...]:
        """What `cells_jit.cut` fills in."""
        return self._slots, self._keys, self._firsts, self._sizes, self.counts, self.marks

    def known(self, at: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
        """Begins and lengths of the different cells of a column."""
        return self._firsts[at, : self.counts[at]], self._sizes[at, : self.counts[at]]


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

    @property
    def distinct(self) -> list[str]:  # type: ignore[override]
        """The different cells, in order of appearance."""
        return self._coded.distinct

    @property
    def codes(self) -> Codes:  # type: ignore[override]
        """For every row the place of its cell among them."""
        return self._coded.codes

    @cached_property
    def _coded(self) -> Column:
        """The column with each different cell once, found some rows at a time."""
        code_of: dict[str, int] = {}
        codes: Codes = np.empty(len(self), dtype=np.int32)
        for begin in range(0, len(self), _AT_ONCE):
            cells = self._cells_of(np.arange(begin, min(begin + _AT_ONCE, len(self))))
            codes[begin : begin + len(cells)] = [code_of.setdefault(cell, len(code_of)) for cell in cells]
        return Column(list(code_of), codes)

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

    def first_cell(self) -> str:
        """The cell of the first row."""
        return self._cells_of(np.zeros(1, dtype=np.intp))[0]

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
