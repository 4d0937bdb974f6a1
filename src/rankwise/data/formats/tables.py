"""Tables of text under a header, column by column: `Table` and `Column`, and what readers take from them.

A column holds each different cell once: a survey repeats few answers in many rows. `rankwise.data.formats.delimited`,
`workbooks` and `frames` make tables; the readers of layouts take the rankings from them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from rankwise._typing import FloatArray
from rankwise._validation import list_of_names
from rankwise.data.formats.text import Path, listed, number, shown
from rankwise.exceptions import RankwiseFormatError

#: places among the different cells of a column
Codes: TypeAlias = npt.NDArray[np.int32]

_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.ASCII)
# Numbers that a float would alter: leading zeros, or more digits than it keeps.
_CODE = re.compile(r"[+-]*(?:0\d.*|\d{16,})", re.ASCII)

#: name -> column: float64 with NaN where missing, or text with None where missing
Covariates: TypeAlias = dict[str, npt.NDArray[Any]]

#: which of several rows of one person to keep
Keep: TypeAlias = Literal["first", "last"]
#: cells that say "no answer"
MISSING = ("", "NA", "N/A", "n/a", "#N/A", "nan", "NaN", "-")
_BLANK: Mapping[str, float] = dict.fromkeys(MISSING, math.nan)


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
    >>> from rankwise.data.formats.tables import Column
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


@dataclass(frozen=True)
class Table:
    """Columns of text under a header, with the line of the file on which each row starts.

    Parameters
    ----------
    path : path-like
        The file, for error messages.
    header : tuple of str
        The names of the columns.
    header_line : int
        The line on which they stand.
    columns : tuple of Column
        A column per name, all of the same length.
    lines : sequence of int
        The line on which each row starts.
    questions : mapping of str to str
        The question text of a column, where the file gives one: from the row that Qualtrics writes below the header,
        or the variable labels of SPSS and Stata.
    labels : mapping of str to mapping of str to str
        The label of each cell of a column, in order, where cells are codes: the value labels of SPSS and Stata.
    comma_is_free : bool, default=False
        That no comma stands between cells, so that one inside a cell may be a decimal comma.
    notes : tuple of str
        What a reader did with the file that its user should know, a sentence each.
    ordered : tuple of str
        The columns whose labels stand in a meaningful order: variables of ordinal measure, ordered categories.
    names_only : bool, default=False
        That nobody wants the values of the columns besides the rankings, so that `covariates` need not make them.
    summed : tuple of str
        The columns that a column of sums or means summed up, before it was left out.
    remarks : tuple of str
        What stood around the table: titles, notes below it, and the names of sums. They may say which numbers are best.
    reversed_by : str
        The name of a row that was left out because it holds places, where these are best for the highest numbers.
    """

    path: Path
    header: tuple[str, ...]
    header_line: int
    columns: tuple[Column, ...]
    lines: Sequence[int]
    questions: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    comma_is_free: bool = False
    notes: tuple[str, ...] = ()
    ordered: tuple[str, ...] = ()
    names_only: bool = False
    summed: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    reversed_by: str = ""
    # What `survey_cells.ranking_numbers` found last: columns -> places.
    places: dict[tuple[str, ...], FloatArray] = field(default_factory=dict, init=False, repr=False, compare=False)
    # Where each name stands, filled by the first question: a table may be very wide.
    _standing: dict[str, int] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.lines)

    def take(self, rows: Sequence[int] | npt.NDArray[np.intp]) -> Table:
        """The table of these rows."""
        columns = tuple(column.take(rows) for column in self.columns)
        return replace(self, columns=columns, lines=[self.lines[row] for row in rows])

    def without(self, names: Collection[str]) -> Table:
        """The table without the columns of these names."""
        left_out = set(map(self.index, names))
        kept = [at for at in range(len(self.header)) if at not in left_out]
        columns = tuple(self.columns[at] for at in kept)
        return replace(self, header=tuple(self.header[at] for at in kept), columns=columns)

    def column(self, name: str) -> list[str]:
        """The cells of a column, row by row; `coded` is quicker where rows are many."""
        return self.columns[self.index(name)].cells

    def coded(self, name: str) -> tuple[list[str], Codes]:
        """The different cells of a column in order of appearance, and for every row which of them it holds."""
        column = self.columns[self.index(name)]
        return column.distinct, column.codes

    def labels_of(self, name: str) -> Mapping[str, str]:
        """The labels of a column where all its cells have one, blanks aside; else none.

        A rating of which only the ends are labeled stays numbers.
        """
        label_of = self.labels.get(name, {})
        cells = set(self.columns[self.index(name)].distinct if label_of else ()).difference(MISSING)
        return label_of if label_of.keys() >= cells and len(set(label_of.values())) == len(label_of) else {}

    def named(self, name: str) -> list[str]:
        """The cells of a column, row by row, with labels in place of codes where all cells have one."""
        label_of, column = self.labels_of(name), self.columns[self.index(name)]
        return [label_of.get(cell, cell) for cell in column.cells] if label_of else column.cells

    def named_codes(self, name: str) -> tuple[list[str], Codes]:
        """What `coded` gives, with labels in place of codes where all cells have one."""
        label_of, (cells, codes) = self.labels_of(name), self.coded(name)
        return [label_of.get(cell, cell) for cell in cells] if label_of else cells, codes

    def index(self, name: str) -> int:
        """Where the column of that name stands, counted from 0."""
        if not self._standing:
            self._standing.update({name: number for number, name in reversed([*enumerate(self.header)])})
        try:
            return self._standing[str(name)]
        except KeyError:
            cure = f"The columns are {listed(self.header)}."
            raise self.error(f"there is no column {shown(str(name))}", cure=cure) from None

    def numbers(self, cells: Iterable[str]) -> dict[str, float | None]:
        """The finite number that each of the different cells of a column holds, or None.

        A decimal comma counts where the table leaves commas to cells and no cell has a decimal point. Where every comma
        could part thousands, as in 1,250, none counts.
        """
        return numbers_of(cells, comma_is_free=self.comma_is_free)

    def values(self, name: str, others: Mapping[str, float] = _BLANK) -> FloatArray | None:
        """The numbers in a column, row by row; None unless all its cells are finite numbers or among the others.

        Parameters
        ----------
        name : str
            The column.
        others : mapping of str to float, default: a cell of MISSING is NaN
            What cells mean that are not to be read as numbers.

        Returns
        -------
        ndarray of shape (n_rows,), or None
        """
        return self.columns[self.index(name)].values(others, comma_is_free=self.comma_is_free)

    def is_numeric(self, name: str) -> bool:
        """Whether all cells of a column are finite numbers or missing."""
        return self.values(name) is not None

    def error(
        self, problem: str, *, row: int | None = None, column: str | None = None, cure: str | None = None
    ) -> RankwiseFormatError:
        """The error to raise: at a row if one is given, else at the header."""
        return RankwiseFormatError(
            problem,
            path=self.path,
            line=self.header_line if row is None else int(self.lines[row]),
            column=None if column is None else self.index(column) + 1,
            cure=cure,
        )


def names_given(names: Any, argument: str) -> list[str]:
    """The names that the caller gave, from any list, array, index or iterator of them."""
    if not isinstance(names, str | bytes | set | frozenset | Mapping) and isinstance(names, Iterable):
        found = list_of_names(names)
        if all(isinstance(name, str | int | float) for name in found):
            return [str(name) for name in found]
    raise TypeError(f"{argument} is {names!r:.60}; give a list of names")


def rows_kept(groups: npt.NDArray[np.intp], keep: Keep) -> npt.NDArray[np.intp]:
    """The first or the last row of each group, in order; ``groups`` says for every row to which it belongs."""
    if keep not in ("first", "last"):
        raise ValueError(f"keep is {keep!r}; choose 'first' or 'last'")
    order = np.arange(len(groups))[:: -1 if keep == "last" else 1]
    return np.sort(order[np.unique(groups[order], return_index=True)[1]])


def blanks_given(missing_values: Collection[str]) -> set[str]:
    """The cells that count as blank, the empty one among them."""
    if isinstance(missing_values, str):
        raise TypeError(f"missing_values is {missing_values!r}; give a list: missing_values=[{missing_values!r}]")
    return {"", *missing_values}


def blanked(table: Table, missing_values: Collection[str]) -> Table:
    """The table with empty cells for these values: for finding the rankings, while covariates keep their cells."""
    if missing_values is MISSING:
        return table
    blanks = blanks_given(missing_values)
    columns = (column.map(lambda cell: "" if cell in blanks else cell) for column in table.columns)
    return replace(table, columns=tuple(columns))


def covariates(table: Table, leave_out: Collection[str], rows: Sequence[int] | None = None) -> Covariates:
    """The columns that are not part of the rankings, as numbers where all their cells are numbers.

    Codes with leading zeros and whole numbers of more than 15 digits stay text, because a float would alter them.
    """
    part_of_rankings = set(leave_out)
    if table.names_only:
        return {name: np.empty(0) for name in table.header if name not in part_of_rankings}
    result: Covariates = {}
    for name, column in zip(table.header, table.columns, strict=True):
        if name in part_of_rankings:
            continue
        values: npt.NDArray[Any] | None = table.values(name)
        label_of = table.labels_of(name)
        if label_of:
            values = column.pick(label_of.get(cell) for cell in column.distinct)
        elif values is None or column.has_codes():
            values = column.texts(MISSING)
        result[name] = values if rows is None else values[rows]
    return result


def rows_without_weight(table: Table, name: str) -> npt.NDArray[np.intp]:
    """The rows in which a column holds no weight: a negative number, a text or nothing."""
    values = table.values(name, others={})
    if values is None:
        cells, codes = table.coded(name)
        meaning = table.numbers(cells)
        values = np.array([-1.0 if (value := meaning[cell]) is None else value for cell in cells])[codes]
    return np.flatnonzero(values < 0)


def weights_column(table: Table, name: str | None) -> FloatArray | None:
    """The weights in the named column; None if there is no name."""
    if name is None:
        return None
    values = table.values(name, others={})
    if values is not None and not (values < 0).any():
        return values
    row = int(rows_without_weight(table, name)[0])
    raise table.error(
        f"the weight is {shown(table.column(name)[row])}",
        row=row,
        column=name,
        cure="Weights are numbers that are not negative: correct it, drop the row, or leave out the weights.",
    )
