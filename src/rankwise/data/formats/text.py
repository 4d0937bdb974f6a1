"""Text files: decoded strictly, cut into lines, or into the named columns of a table.

All readers of this package get their text here. Every function returns what the file says or raises
`RankwiseFormatError`, which names the file, the line and the cure.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import math
import os
import re
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from rankwise._typing import FloatArray
from rankwise._validation import list_of_names
from rankwise.data.formats.columns import Codes, Column, numbers_of
from rankwise.data.formats.columns import number as number  # readers look for it here
from rankwise.exceptions import RankwiseFormatError

Path: TypeAlias = str | os.PathLike[str]

#: name -> column: float64 with NaN where missing, or text with None where missing
Covariates: TypeAlias = dict[str, npt.NDArray[Any]]

#: cells that say "no answer"
MISSING = ("", "NA", "N/A", "#N/A", "nan", "NaN", "-")
_BLANK: Mapping[str, float] = dict.fromkeys(MISSING, math.nan)

#: UTF-8, with or without a byte-order mark
ENCODING = "utf-8-sig"

_GZIP_MAGIC = b"\x1f\x8b"
_ZIP_MAGIC = b"PK\x03\x04"
_OLD_OFFICE_MAGIC = b"\xd0\xcf\x11\xe0"
#: a file of a few kilobytes can inflate to terabytes; no ranking data compress that well
MOST_INFLATION = 300
SMALL = 1 << 18
# Every integer up to here is a float64 too, and far longer digit strings would cost quadratic time.
_MOST_DIGITS = 18
_UNWRITABLE = re.compile("[\n\r\0\ud800-\udfff]")

# Texts from here on are worth the start of compiled loops.
_LARGE = 1 << 22
_DELIMITERS = ",;\t|"
#: between a question and one of its items, in exports of Qualtrics and where two rows of names are joined
QUESTION_JOINT = " - "
#: the note that a table carries then
JOINED_NAMES = "Rows {} and {} are both names of columns; they were joined."
_SNIFFED_ROWS = 50
_QUALTRICS_MARK = re.compile(r"""\{\s*["']ImportId["']""")
# What Excel takes the delimiter from, and some programs write for it.
_DECLARED_DELIMITER = re.compile(r'"?sep=([^\w" \n])"?[^\S\n]*\n', re.ASCII | re.IGNORECASE)
_SHOWN_NAMES = 12


def read_text(path: Path, encoding: str | None = None) -> str:
    """The whole file as text, every line ended by a line feed.

    Gzip is recognized by its first bytes, whatever the name.

    Parameters
    ----------
    path : str or path-like
        The file.
    encoding : str, optional
        The encoding, where the caller lets the user choose it; else the file is UTF-8. A byte-order mark is dropped.

    Returns
    -------
    str
    """
    _codec(encoding)  # before the file is read
    return decoded(read_bytes(path), path, encoding)


def read_bytes(path: Path) -> bytes:
    """The content of a file; an error that says why it cannot be read."""
    # Python would take a number for a file that is open already.
    if not isinstance(path, str | bytes | os.PathLike):
        raise RankwiseFormatError("this is not a path", path=path, cure="Give the name of a file.")
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        raise RankwiseFormatError("there is no such file", path=path) from None
    except IsADirectoryError:
        raise RankwiseFormatError("this is a folder", path=path, cure="Give a file in it.") from None
    except (OSError, ValueError, TypeError) as error:
        raise RankwiseFormatError(f"the file cannot be read ({error})", path=path) from None


def decoded(data: bytes, path: Path, encoding: str | None = None) -> str:
    """The content of a file as `read_text` returns it."""
    codec = _codec(encoding)
    data = _unpacked(data, path)
    try:
        text = data.decode(codec)
    except UnicodeError as error:
        raise _undecodable(error, data, codec, path, may_choose=encoding is not None) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise RankwiseFormatError(
            "the file is binary, not text (it holds a zero byte)",
            path=path,
            line=line,
            cure="Save or unpack it as text.",
        )
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def split_lines(text: str) -> list[str]:
    """The lines of a text, without line ends; line ``i`` of the file is element ``i - 1``."""
    return text.removesuffix("\n").split("\n") if text else []


def read_lines(path: Path) -> list[str]:
    """The lines of a UTF-8 file, as `split_lines` gives them."""
    return split_lines(read_text(path))


def write_text(path: Path, text: str) -> None:
    """Write text as UTF-8; gzip it if the name ends in ``.gz``."""
    data = text.encode("utf-8")
    if os.fsdecode(path).endswith(".gz"):
        data = gzip.compress(data, mtime=0)
    with open(path, "wb") as file:
        file.write(data)


def parse_integer(text: str) -> int:
    """The integer that a field holds; ValueError unless it is a sign and at most 18 ASCII digits."""
    digits = text[1:] if text.startswith(("-", "+")) else text
    if not (digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS):
        raise ValueError
    return int(text)


def parse_number(text: str) -> float:
    """The finite number that a field holds, else ValueError."""
    value = number(text)
    if value is None:
        raise ValueError
    return value


def is_writable(text: str) -> bool:
    """Whether text can stand in a line of a UTF-8 file: no line break, no zero byte, no half of a surrogate pair."""
    return _UNWRITABLE.search(text) is None


def shown(text: str, most: int = 40) -> str:
    """Quote a piece of a file in a message, cut where it is long."""
    return repr(text) if len(text) <= most else f"{text[:most]!r}..."


def listed(names: Sequence[str]) -> str:
    """Names as error messages show them."""
    rest = f", ... ({len(names) - _SHOWN_NAMES} more)" if len(names) > _SHOWN_NAMES else ""
    return ", ".join(shown(name) for name in names[:_SHOWN_NAMES]) + rest


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
    # What `survey_cells.ranking_numbers` found last: columns -> places.
    places: dict[tuple[str, ...], FloatArray] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.lines)

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

    def index(self, name: str) -> int:
        """Where the column of that name stands, counted from 0."""
        try:
            return self.header.index(str(name))
        except ValueError:
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


def read_table(
    source: Path | Table,
    delimiter: str | None = None,
    encoding: str = ENCODING,
    sheet: str | int | None = None,
) -> Table:
    """Read a table from a file of any kind; a table that was read before is passed on.

    Parameters
    ----------
    source : str, path-like or Table
        A delimited text, a workbook (.xlsx, .ods), or a file of SPSS, Stata, Parquet or Arrow.
    delimiter, encoding
        Of a delimited text: see `parse_table` and `read_text`.
    sheet : str or int, optional
        Of a workbook: the name of the sheet, or its number from 1.

    Returns
    -------
    Table
    """
    if isinstance(source, Table):
        return source
    data = read_bytes(source)
    table = binary_table(data, source, sheet)
    return parse_table(decoded(data, source, encoding), source, delimiter) if table is None else table


def binary_table(data: bytes, path: Path, sheet: str | int | None = None) -> Table | None:
    """The table of a workbook or of a file of SPSS, Stata, Parquet or Arrow; None if the content is none of these."""
    if data.startswith(_OLD_OFFICE_MAGIC):
        problem, cure = "this is a workbook of an old kind (.xls)", "Save it as .xlsx."
        raise RankwiseFormatError(problem, path=path, cure=cure)
    from rankwise.data.formats import frames, workbooks

    if data.startswith(_ZIP_MAGIC):
        return workbooks.read_workbook(data, path, sheet)
    if sheet is not None:
        raise RankwiseFormatError("this is not a workbook", path=path, cure="Leave out sheet.")
    kind = frames.kind_of(data, path)
    return None if kind is None else frames.read_frame(data, path, kind)


def parse_table(text: str, path: Path, delimiter: str | None = None) -> Table:
    """Cut the text of a delimited file into a table.

    Lines that hold nothing but delimiters are skipped, and so are nameless last columns without a cell. A first line
    such as ``sep=;`` names the delimiter. The two rows that Qualtrics writes below the header do not count as rows.

    Parameters
    ----------
    text : str
        As `read_text` returns it.
    path : path-like
        The file, for error messages.
    delimiter : str, optional
        The character between cells; by default the one of comma, semicolon, tab and bar that cuts the first rows
        into equally many cells.

    Returns
    -------
    Table
    """
    if delimiter is not None and (not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '\r\n" '):
        raise ValueError(f"delimiter is {delimiter!r}; give one character, such as ',' or ';'")
    declared = _DECLARED_DELIMITER.match(text)
    if declared is not None:
        text = text[declared.end() - 1 :]  # a blank line keeps the numbers of the others
        delimiter = delimiter or declared[1]
    delimiter = delimiter or _sniff(text)
    table = _large_table(text, path, delimiter) if len(text) >= _LARGE else None
    return with_question_row(_strict_table(text, path, delimiter) if table is None else table)


def with_question_row(table: Table) -> Table:
    """The table without a second row of names, which some exports write below the header: the texts of the questions.

    It shows in columns of numbers below different words, in a first row that holds no number and no blank.
    """
    if len(table) < 3 or table.questions:
        return table
    texts = [column.first_cell() for column in table.columns]
    if any(cell in MISSING or number(cell) is not None for cell in texts) or any(map(table.is_numeric, table.header)):
        return table
    rest = tuple(column.take(range(1, len(table))) for column in table.columns)
    below = replace(table, columns=rest, lines=table.lines[1:])
    above_numbers = [
        text
        for name, text, column in zip(table.header, texts, rest, strict=True)
        if below.is_numeric(name) and not set(MISSING).issuperset(column.distinct)
    ]
    if len(above_numbers) < 2 or len(set(above_numbers)) < len(above_numbers):
        return table
    note = f"The row of line {table.lines[0]} holds the texts of the questions, not answers."
    return replace(below, questions=dict(zip(table.header, texts, strict=True)), notes=(*table.notes, note))


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


def weights_column(table: Table, name: str | None) -> FloatArray | None:
    """The weights in the named column; None if there is no name."""
    if name is None:
        return None
    values = table.values(name, others={})
    if values is not None and not (values < 0).any():
        return values
    meaning = table.numbers(table.coded(name)[0])
    row = table.columns[table.index(name)].first_row(lambda cell: (value := meaning[cell]) is None or value < 0)
    raise table.error(
        f"the weight is {shown(table.column(name)[row or 0])}",
        row=row,
        column=name,
        cure="Weights are numbers that are not negative.",
    )


def _codec(encoding: str | None) -> str:
    """The name of the codec, UTF-8 by default; ValueError if there is none."""
    if encoding is None:
        return ENCODING
    try:
        codec = codecs.lookup(encoding).name
        " ".encode(codec)  # some codecs are not for text
    except (LookupError, TypeError, ValueError):
        raise ValueError(
            f"encoding is {encoding!r}; give one that Python knows, such as 'utf-8-sig' or 'cp1252'"
        ) from None
    return ENCODING if codec == "utf-8" else codec  # the one that drops a byte-order mark


def _unpacked(data: bytes, path: Path) -> bytes:
    if data.startswith(_ZIP_MAGIC):
        # A workbook is a zip archive too; the names of its parts are never compressed.
        if b"xl/" in data or os.fsdecode(path).lower().endswith((".xlsx", ".xlsm")):
            raise RankwiseFormatError("this is an Excel workbook", path=path, cure="Save it as CSV UTF-8.")
        raise RankwiseFormatError("this is a zip archive", path=path, cure="Unpack it.")
    return _inflate(data, path) if data.startswith(_GZIP_MAGIC) else data


def _inflate(data: bytes, path: Path) -> bytes:
    limit = max(SMALL, len(data)) * MOST_INFLATION
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            text = file.read(limit + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise RankwiseFormatError(
            f"the gzip data are damaged ({error})", path=path, cure="Download or compress the file again."
        ) from None
    if len(text) > limit:
        raise RankwiseFormatError(
            f"the file inflates to more than {MOST_INFLATION} times its size", path=path, cure="Unpack it yourself."
        )
    return text


def _undecodable(error: UnicodeError, data: bytes, codec: str, path: Path, *, may_choose: bool) -> RankwiseFormatError:
    if codec == ENCODING and data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        choice = ", or give encoding='utf-16'" if may_choose else ""
        return RankwiseFormatError("the file is UTF-16", path=path, cure=f"Save it as UTF-8{choice}.")
    if not isinstance(error, UnicodeDecodeError):
        return RankwiseFormatError(f"the file is not valid {codec} ({error})", path=path)
    choice = ", or give its encoding, such as encoding='cp1252' (Excel on Windows)" if may_choose else ""
    return RankwiseFormatError(
        f"byte {error.start} (0x{data[error.start]:02x}) is not valid {'UTF-8' if codec == ENCODING else codec}",
        path=path,
        line=data.count(b"\n", 0, error.start) + 1,
        cure=f"Save the file as UTF-8{choice}.",
    )


def _strict_table(text: str, path: Path, delimiter: str) -> Table:
    records = list(_records(text, delimiter, path))
    # Delimiters at the ends of all lines make last columns without names and cells.
    while all(record and not record[-1] for _, record in records) and len({len(record) for _, record in records}) == 1:
        for _, record in records:
            record.pop()
    if not records or not records[0][1]:
        raise RankwiseFormatError("the file is empty", path=path)
    header_line, header = records[0]
    joined = joined_names(header, records[1][1]) if len(records) > 1 and not all(header) else []
    notes: tuple[str, ...] = ()
    if joined:
        header = joined
        notes = (JOINED_NAMES.format(header_line, records[1][0]),)
        del records[1]
    if not all(header) or len(set(header)) < len(header):
        refuse_header(header, path, header_line)
    for line, record in records[1:]:
        if len(record) != len(header):
            raise RankwiseFormatError(
                f"this row has {_count(len(record), 'cell')}, but the header has {_count(len(header), 'column')}",
                path=path,
                line=line,
                cure="Give every row one cell per column; quote cells that hold the delimiter.",
            )
    # Qualtrics writes two rows of its own below the header: the texts of the questions, then the import ids.
    marked = [place for place, (_, record) in enumerate(records[1:3]) if _QUALTRICS_MARK.match(record[0])]
    questions = dict(zip(header, records[1][1], strict=True)) if marked[:1] == [1] else {}
    questions |= {name: name for name in joined if QUESTION_JOINT in name}
    answers = records[2 + marked[0] :] if marked else records[1:]
    if not answers:
        blank = any(delimiter in line and not line.replace(delimiter, "").strip() for line in split_lines(text))
        problem = f"all cells of {listed(header)} are blank" if blank else "there is a header, but no row below it"
        cure = "Get the file with the answers: a row each."
        raise RankwiseFormatError(problem, path=path, line=header_line, cure=cure)
    lines = [line for line, _ in answers]
    columns = tuple(map(Column.of, zip(*(record for _, record in answers), strict=True)))
    comma_is_free = delimiter != ","
    return Table(path, tuple(header), header_line, columns, lines, questions, comma_is_free=comma_is_free, notes=notes)


def joined_names(above: list[str], below: list[str]) -> list[str]:
    """Names in two rows, as SurveyMonkey writes them: the question once, then an item per column below it.

    None are found where the second row is an answer: it must name a column wherever the first does not, hold no number,
    and be blank (or "Response") below some name.
    """
    single = ("", "response", "open-ended response")
    named = len(above) == len(below) and above[0] and all(up or down for up, down in zip(above, below, strict=True))
    if not named or any(number(cell) is not None for cell in below):
        return []
    if not any(up and down.lower() in single for up, down in zip(above, below, strict=True)):
        return []
    names, question = [], ""
    for up, down in zip(above, below, strict=True):
        question = up or question
        names.append(question if down.lower() in single else f"{question}{QUESTION_JOINT}{down}")
    return names


def _large_table(text: str, path: Path, delimiter: str) -> Table | None:
    """The table that compiled loops cut; None if the text is so unusual that the strict reader must look at it."""
    from rankwise.data.formats.large import cut_columns

    try:
        head = list(islice(_records(text, delimiter, path), 4))
    except RankwiseFormatError:
        return None
    if not head:
        return None
    (header_line, header), rows = head[0], head[1:]
    marked = [place for place, (_, record) in enumerate(rows[:2]) if _QUALTRICS_MARK.match(record[0])]
    first_answer = 1 + marked[0] if marked else 0
    if len(rows) <= first_answer or any(len(record) != len(header) for _, record in rows):
        return None
    line = rows[first_answer][0]
    begin = 0
    for _ in range(1, line):
        begin = text.index("\n", begin) + 1
    found = cut_columns(text, begin, delimiter, len(header), line)
    if found is None:
        return None
    columns, lines = found
    above = [header, *(record for _, record in rows[:first_answer])]
    # Delimiters at the ends of all lines make last columns without names and cells.
    while columns and columns[-1].distinct == [""] and not any(record[-1] for record in above):
        columns.pop()
        for record in above:
            record.pop()
    if not header or not all(header) or len(set(header)) < len(header):
        return None
    questions = dict(zip(header, above[1], strict=True)) if marked[:1] == [1] else {}
    return Table(path, tuple(header), header_line, tuple(columns), lines, questions, comma_is_free=delimiter != ",")


def _sniff(text: str) -> str:
    """The delimiter that cuts the first rows into equally many cells, the most if several do."""
    best, best_fitness = _DELIMITERS[0], (False, 0)
    for delimiter in _DELIMITERS:
        try:
            widths = [len(record) for _, record in islice(_records(text, delimiter, ""), _SNIFFED_ROWS)]
        except RankwiseFormatError:
            widths = []
        fitness = (len(set(widths)) == 1 and widths[0] > 1, widths[0] if widths else 0)
        if fitness > best_fitness:
            best, best_fitness = delimiter, fitness
    return best


def _records(text: str, delimiter: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Rows with the line on which they start; cells without the blanks around them."""
    taken: list[str] = []  # the lines of a row

    def lines() -> Iterator[str]:
        begin = 0
        while begin < len(text):
            end = text.find("\n", begin) + 1 or len(text)
            taken.append(text[begin:end])
            yield taken[-1]
            begin = end

    reader = csv.reader(lines(), delimiter=delimiter, strict=True, skipinitialspace=True)
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
        # A quoted empty cell is an answer left blank; a line with nothing but delimiters is not a row.
        if taken[0].replace(delimiter, "").strip():
            yield line, [cell.strip() for cell in record]
        line = reader.line_num + 1
        taken.clear()


def refuse_header(header: list[str], path: Path, line: int) -> None:
    """Raise for the first column without a name, or with the name of another."""
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


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}{'s' * (n != 1)}"
