"""Delimited text as a checked table: named columns, rows of equal width, and the line of every row."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from rankwise._typing import FloatArray
from rankwise._validation import list_of_names
from rankwise.data.formats.lines import Path, parse_number, read_lines, shown
from rankwise.exceptions import RankwiseFormatError

#: name -> column: float64 with NaN where missing, or text with None where missing
Covariates: TypeAlias = dict[str, npt.NDArray[Any]]

#: cells that say "no answer"
MISSING = ("", "NA", "N/A", "#N/A", "nan", "NaN", "-")

#: UTF-8, with or without a byte-order mark
ENCODING = "utf-8-sig"

_DELIMITERS = ",;\t|"
_SNIFFED_ROWS = 50
# Whole numbers of so many digits are exact as floats.
_EXACT_DIGITS = 15
_QUALTRICS_MARK = re.compile(r"""\{\s*["']ImportId["']""")
# What Excel takes the delimiter from, and some programs write for it.
_DECLARED_DELIMITER = re.compile(r'"?sep=([^\w" \n])"?\s*', re.ASCII | re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.ASCII)
_SHOWN_NAMES = 12


@dataclass(frozen=True)
class Table:
    """Rows of text under a header, with the line of the file on which each row starts.

    ``questions`` are the texts that Qualtrics writes below the header, one a column. ``comma_is_free`` says that no
    comma stands between cells, so that one inside a cell may be a decimal comma.
    """

    path: Path
    header: tuple[str, ...]
    header_line: int
    rows: list[list[str]]
    lines: list[int]
    questions: tuple[str, ...] = ()
    comma_is_free: bool = False

    def index(self, name: str) -> int:
        """Where the column of that name stands, counted from 0."""
        if str(name) not in self._places:
            raise self.error(f"there is no column {shown(str(name))}", cure=f"The columns are {listed(self.header)}.")
        return self._places[str(name)]

    def column(self, name: str) -> list[str]:
        """The cells of a column."""
        return self._columns[self.index(name)]

    def is_numeric(self, name: str) -> bool:
        """Whether all cells of a column are finite numbers or missing."""
        at = self.index(name)
        if at not in self._numeric:
            self._numeric[at] = None not in self.numbers(set(self._columns[at]) - set(MISSING)).values()
        return self._numeric[at]

    def numbers(self, cells: Iterable[str]) -> dict[str, float | None]:
        """The finite number that each of the different cells of a column holds, or None.

        A decimal comma counts where the table leaves commas to cells and no cell has a decimal point. Where every comma
        could part thousands, as in 1,250, none counts.
        """
        found = {cell: number(cell) for cell in set(cells)}
        if not self.comma_is_free or any(value is not None and "." in cell for cell, value in found.items()):
            return found
        with_comma = [cell for cell in found if _DECIMAL_COMMA.fullmatch(cell)]
        if all(map(_THOUSANDS.fullmatch, with_comma)):
            return found
        return found | {cell: number(cell.replace(",", ".")) for cell in with_comma}

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.header)}

    @cached_property
    def _columns(self) -> list[list[str]]:
        return [list(cells) for cells in zip(*self.rows, strict=True)]

    @cached_property
    def _numeric(self) -> dict[int, bool]:
        return {}

    def error(
        self, problem: str, *, row: int | None = None, column: str | None = None, cure: str | None = None
    ) -> RankwiseFormatError:
        """The error to raise: at a row if one is given, else at the header."""
        return RankwiseFormatError(
            problem,
            path=self.path,
            line=self.header_line if row is None else self.lines[row],
            column=None if column is None else self.index(column) + 1,
            cure=cure,
        )


def read_table(source: Path | Table, delimiter: str | None = None, encoding: str = ENCODING) -> Table:
    """Read a delimited file; a table that was read before is passed on.

    Lines that hold nothing but delimiters are skipped, and so are nameless last columns without a cell. A first line
    such as ``sep=;`` names the delimiter. The two rows that Qualtrics writes below the header are no rows of the table.

    Parameters
    ----------
    source : path-like or Table
        The file, plain or gzip.
    delimiter : str, optional
        The character between cells; by default the one of comma, semicolon, tab and bar that cuts the first rows
        into equally many cells.
    encoding : str, default="utf-8-sig"
        The encoding of the text.

    Returns
    -------
    Table
    """
    if isinstance(source, Table):
        return source
    if delimiter is not None and (not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '\r\n" '):
        raise ValueError(f"delimiter is {delimiter!r}; give one character, such as ',' or ';'")
    text_lines = [f"{line}\n" for line in read_lines(source, encoding)]
    declared = _DECLARED_DELIMITER.fullmatch(text_lines[0]) if text_lines else None
    if declared is not None:
        text_lines[0] = "\n"  # a blank line keeps the numbers of the others
        delimiter = delimiter or declared[1]
    delimiter = delimiter or _sniff(text_lines)
    records = list(_records(text_lines, delimiter, source))
    if not records:
        raise RankwiseFormatError("the file is empty", path=source)
    _drop_empty_columns(records)
    header_line, header = records[0]
    _check_header(header, source, header_line)
    rows: list[list[str]] = []
    lines: list[int] = []
    for line, record in records[1:]:
        if len(record) != len(header):
            raise RankwiseFormatError(
                f"this row has {_count(len(record), 'cell')}, but the header has {_count(len(header), 'column')}",
                path=source,
                line=line,
                cure="Give every row one cell per column; quote cells that hold the delimiter.",
            )
        rows.append(record)
        lines.append(line)
    extra = _qualtrics_rows(rows)
    if len(rows) == extra:
        blank = any(delimiter in line and not line.replace(delimiter, "").strip() for line in text_lines)
        problem = f"all cells of {listed(header)} are blank" if blank else "there is a header, but no row below it"
        cure = "Get the file with the answers: a row each."
        raise RankwiseFormatError(problem, path=source, line=header_line, cure=cure)
    questions = tuple(rows[0]) if extra == 2 else ()
    return Table(source, tuple(header), header_line, rows[extra:], lines[extra:], questions, delimiter != ",")


def number(cell: str) -> float | None:
    """The finite number that a cell holds, or None."""
    try:
        return parse_number(cell)
    except ValueError:
        return None


def names_given(names: Any, argument: str) -> list[str]:
    """The names that the caller gave, from any list, array, index or iterator of them."""
    if not isinstance(names, str | bytes | set | frozenset | Mapping) and isinstance(names, Iterable):
        found = list_of_names(names)
        if all(isinstance(name, str | int | float) for name in found):
            return [str(name) for name in found]
    raise TypeError(f"{argument} is {names!r:.60}; give a list of names")


def blanks_given(missing_values: Collection[str]) -> set[str]:
    """The cells that count as blank, the empty one among them."""
    if isinstance(missing_values, str):
        raise TypeError(f"missing_values is {missing_values!r}; give a list: missing_values=[{missing_values!r}]")
    return {"", *missing_values}


def blanked(table: Table, missing_values: Collection[str]) -> Table:
    """The table as it looks with empty cells for these values; for finding the rankings, for covariates keep theirs."""
    if missing_values is MISSING:
        return table
    blanks = blanks_given(missing_values)
    return replace(table, rows=[["" if cell in blanks else cell for cell in row] for row in table.rows])


def covariates(table: Table, leave_out: Collection[str], rows: Sequence[int] | None = None) -> Covariates:
    """The columns that are no part of the rankings, as numbers where all their cells are numbers.

    Codes with leading zeros and whole numbers of more than 15 digits stay text, for a float would alter them.
    """
    part_of_rankings = set(leave_out)
    result: Covariates = {}
    for name in (name for name in table.header if name not in part_of_rankings):
        cells = table.column(name) if rows is None else [table.column(name)[row] for row in rows]
        as_numbers = table.is_numeric(name) and not any(map(_is_code, cells))
        result[name] = _numbers(cells, table.numbers(table.column(name))) if as_numbers else _text(cells)
    return result


def weights_column(table: Table, name: str | None) -> FloatArray | None:
    """The weights in the named column; None if there is no name."""
    if name is None:
        return None
    meaning = table.numbers(table.column(name))
    values = [meaning[cell] for cell in table.column(name)]
    for row, value in enumerate(values):
        if value is None or value < 0:
            raise table.error(
                f"the weight is {shown(table.rows[row][table.index(name)])}",
                row=row,
                column=name,
                cure="Weights are numbers that are not negative.",
            )
    return np.array(values, dtype=np.float64)


def listed(names: Sequence[str]) -> str:
    """Names as error messages show them."""
    rest = f", ... ({len(names) - _SHOWN_NAMES} more)" if len(names) > _SHOWN_NAMES else ""
    return ", ".join(shown(name) for name in names[:_SHOWN_NAMES]) + rest


def _records(lines: list[str], delimiter: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Rows with the line on which they start; cells without the blanks around them."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True, skipinitialspace=True)
    line = 1
    while True:
        try:
            record = next(reader, None)
        except csv.Error as error:
            raise RankwiseFormatError(
                f"this row is not valid CSV ({error})",
                path=path,
                line=line,
                cure=f"Close every quote, double the quotes inside a quoted cell, and keep cells below "
                f"{csv.field_size_limit():,} characters.",
            ) from None
        if record is None:
            return
        # A quoted empty cell is an answer left blank; a line with nothing but delimiters is no row at all.
        if lines[line - 1].replace(delimiter, "").strip():
            yield line, [cell.strip() for cell in record]
        line = reader.line_num + 1


def _drop_empty_columns(records: list[tuple[int, list[str]]]) -> None:
    """Drop last columns without name and cells, which delimiters at the ends of the lines make."""
    while all(record and not record[-1] for _, record in records) and len({len(record) for _, record in records}) == 1:
        for _, record in records:
            record.pop()


def _sniff(lines: list[str]) -> str:
    """The delimiter that cuts the first rows into equally many cells, the most if several do."""

    def fitness(delimiter: str) -> tuple[bool, int]:
        try:
            widths = [len(record) for _, record in islice(_records(lines, delimiter, ""), _SNIFFED_ROWS)]
        except RankwiseFormatError:
            return False, 0
        return bool(widths) and widths[0] > 1 and len(set(widths)) == 1, widths[0] if widths else 0

    return max(_DELIMITERS, key=fitness)


def _check_header(header: list[str], path: Path, line: int) -> None:
    seen: dict[str, int] = {}
    for place, name in enumerate(header, start=1):
        if not name:
            raise RankwiseFormatError(
                "the column has no name",
                path=path,
                line=line,
                column=place,
                cure="Name it, or leave it out (pandas: index=False; R: row.names=FALSE).",
            )
        if name in seen:
            raise RankwiseFormatError(
                f"columns {seen[name]} and {place} are both named {shown(name)}",
                path=path,
                line=line,
                column=place,
                cure="Give every column its own name.",
            )
        seen[name] = place


def _qualtrics_rows(rows: list[list[str]]) -> int:
    """How many rows below the header are Qualtrics' own: the question texts, then the import ids."""
    for place, row in enumerate(rows[:2]):
        if _QUALTRICS_MARK.match(row[0]):
            return place + 1
    return 0


def _numbers(cells: list[str], meaning: Mapping[str, float | None]) -> npt.NDArray[Any]:
    return np.array([np.nan if cell in MISSING else meaning[cell] for cell in cells], dtype=np.float64)


def _text(cells: list[str]) -> npt.NDArray[Any]:
    column = np.empty(len(cells), dtype=object)
    column[:] = [None if cell in MISSING else cell for cell in cells]
    return column


def _is_code(cell: str) -> bool:
    """Whether a number would lose something as a float: leading zeros, or digits beyond the exact ones."""
    digits = cell.lstrip("+-")
    return (len(digits) > 1 and digits[0] == "0" and digits[1].isdigit()) or (
        len(digits) > _EXACT_DIGITS and digits.isdigit()
    )


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}{'s' * (n != 1)}"
