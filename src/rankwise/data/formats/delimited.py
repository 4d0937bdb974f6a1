"""Tables from files: delimited texts, cut here; workbooks and files of typed columns, by the modules for these.

`read_table` opens a file of any kind. Every function returns what the file says or raises `RankwiseFormatError`, which
names the file, the line and the cure.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from rankwise.data.formats.header_rows import (
    corner_named,
    n_notes,
    n_titles,
    note_below,
    refuse_header,
    two_rows_of_names,
)
from rankwise.data.formats.tables import MISSING, Column, Table
from rankwise.data.formats.text import ENCODING, Path, decoded, listed, number, read_bytes, shown, split_lines
from rankwise.exceptions import RankwiseFormatError

_ZIP_MAGIC = b"PK\x03\x04"
_OLD_OFFICE_MAGIC = b"\xd0\xcf\x11\xe0"
#: texts of so many bytes are worth the start of compiled loops
LARGE = 1 << 20
_DELIMITERS = ",;\t|"
# Columns of a table; more take minutes, and are a file without line ends, or a table that should be turned.
_MOST_COLUMNS = 100_000
_SNIFFED_ROWS = 50
_INSPECTED_END = 10_000
_QUALTRICS_MARK = re.compile(r"""\{\s*["']ImportId["']""")
# What Excel takes the delimiter from, and some programs write for it.
_DECLARED_DELIMITER = re.compile(r'"?sep=([^\w" \n])"?[^\S\n]*\n', re.ASCII | re.IGNORECASE)


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
    if data[:4] in frames.FIRST_BYTES or os.fsdecode(path).lower().endswith(".dta"):
        kind = frames.kind_of(data, path)
        return None if kind is None else frames.read_frame(data, path, kind)
    return None


def parse_table(text: str, path: Path, delimiter: str | None = None, data: bytes | None = None) -> Table:
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
    data : bytes, optional
        The whole text, for which `is_plain` holds, where ``text`` is only its beginning.

    Returns
    -------
    Table
    """
    if delimiter is not None and (not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '\r\n" '):
        raise ValueError(f"delimiter is {delimiter!r}; give one character, such as ',' or ';'")
    declared = _DECLARED_DELIMITER.match(text)
    if declared is not None:
        text, data = text if data is None else data.decode("ascii"), None
        text = text[declared.end() - 1 :]  # a blank line keeps the numbers of the others
        delimiter = delimiter or declared[1]
    sniffed = delimiter or _sniff(text)
    _refuse_endless_rows(text, sniffed, path)
    table = _large_table(text, path, sniffed, data) if len(data or text) >= LARGE else None
    if table is None and data is not None:
        return parse_table(data.decode("ascii"), path, delimiter)
    return with_question_row(_strict_table(text, path, sniffed) if table is None else table)


def _refuse_endless_rows(text: str, delimiter: str, path: Path) -> None:
    """Every column is looked at for what it may mean, which takes minutes where there are millions."""
    n_columns = text.count(delimiter, 0, text.find("\n") if "\n" in text else len(text)) + 1
    if n_columns > _MOST_COLUMNS:
        raise RankwiseFormatError(
            f"the first line has {n_columns:,} columns, and tables have at most {_MOST_COLUMNS:,}",
            path=path,
            line=1,
            cure="Turn the table (Rankings takes arrays of any width), or write orders of few items as texts.",
        )


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


def _strict_table(text: str, path: Path, delimiter: str) -> Table:
    records = list(_records(text, delimiter, path))
    # Delimiters at the ends of all lines make last columns without names and cells.
    while all(record and not record[-1] for _, record in records) and len({len(record) for _, record in records}) == 1:
        for _, record in records:
            record.pop()
    if not records or not records[0][1]:
        raise RankwiseFormatError("the file is empty", path=path)
    records, notes, remarks = _without_titles_and_notes(records, text, delimiter)
    header_line, header = records[0]
    names = None
    if len(records) > 2 and not (all(header) and len(set(header)) == len(header)):
        rest = list(zip(*(record for _, record in records[2:]), strict=False))
        names = two_rows_of_names(header, records[1][1], rest, (header_line, records[1][0]))
    if names is not None:
        header, notes = names.header, [*notes, names.note]
        del records[1]
    if not all(header) or len(set(header)) < len(header):
        header = corner_named(header, [record[0] for _, record in records[1:]])
        refuse_header(header, path, header_line, records[1][1] if len(records) > 1 else ())
    for at, (line, record) in enumerate(records[1:], 1):
        if len(record) != len(header):
            _refuse_other_width(records[at - 1 :], path)
            raise RankwiseFormatError(
                f"this row has {_count(len(record), 'cell')}, but the header has {_count(len(header), 'column')}",
                path=path,
                line=line,
                cure="Give every row one cell per column; quote cells that hold the delimiter.",
            )
    # Qualtrics writes two rows of its own below the header: the texts of the questions, then the import ids.
    marked = [place for place, (_, record) in enumerate(records[1:3]) if _QUALTRICS_MARK.match(record[0])]
    questions = dict(zip(header, records[1][1], strict=True)) if marked[:1] == [1] else {}
    questions |= {} if names is None else names.questions
    answers = records[2 + marked[0] :] if marked else records[1:]
    if not answers:
        blank = any(delimiter in line and not line.replace(delimiter, "").strip() for line in split_lines(text))
        problem = f"all cells of {listed(header)} are blank" if blank else "there is a header, but no row below it"
        cure = "Get the file with the answers: a row each."
        raise RankwiseFormatError(problem, path=path, line=header_line, cure=cure)
    lines = [line for line, _ in answers]
    columns = tuple(map(Column.of, zip(*(record for _, record in answers), strict=True)))
    comma_is_free = delimiter != ","
    table = Table(path, tuple(header), header_line, columns, lines, questions, comma_is_free=comma_is_free)
    return replace(table, notes=tuple(notes), remarks=tuple(remarks))


def _refuse_other_width(records: list[tuple[int, list[str]]], path: Path) -> None:
    """Refuse a table of another width below the first of these rows, if a blank line parts them."""
    (above, _), (line, names), *rows = records
    if line > above + 1 and len(names) > 1 and rows and all(len(record) == len(names) for _, record in rows):
        raise RankwiseFormatError(
            f"another table seems to begin here, below a blank row ({listed(names)})",
            path=path,
            line=line,
            cure="Keep one table, or save each to a file or sheet of its own.",
        )


def _without_titles_and_notes(
    records: list[tuple[int, list[str]]], text: str, delimiter: str
) -> tuple[list[tuple[int, list[str]]], list[str], list[str]]:
    """The rows of the table, what is said of the titles above it and the notes below it, and the texts of these."""
    n = n_titles(sum(map(bool, record)) for _, record in records)
    if n and any(number(cell) is not None for cell in records[n][1]):
        n = 0  # no names below it
    remarks = [next(filter(None, record)) for _, record in records[:n]]
    notes = [
        f"The title {shown(title)} on line {line} was passed over."
        for title, (line, _) in zip(remarks, records, strict=False)
    ]
    records = records[n:]
    if len(records[0][1]) < 2 or sum(map(bool, records[-1][1])) != 1:
        return records, notes, remarks
    lines = split_lines(text)
    n = n_notes(
        [record for _, record in records], lambda row: not lines[records[row][0] - 2].replace(delimiter, "").strip()
    )
    below = records[len(records) - n :]
    texts = [next(filter(None, record)) for _, record in below]
    notes += [note_below(text, f"on line {line}") for text, (line, _) in zip(texts, below, strict=True)]
    return records[: len(records) - n], notes, remarks + texts


def _large_table(text: str, path: Path, delimiter: str, data: bytes | None) -> Table | None:
    """The table that compiled loops cut; None if the text is so unusual that the strict reader must look at it."""
    from rankwise.data.formats.large import cut_columns

    try:
        head = list(islice(_records(text, delimiter, path), 4))
    except RankwiseFormatError:
        return None
    end = text[-_INSPECTED_END:] if data is None else data[-_INSPECTED_END:].decode("ascii")
    if not head or _may_end_in_notes(end, delimiter):
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
    first = begin if data is not None else len(text[:begin].encode())
    found = cut_columns(text.encode() if data is None else data, first, delimiter, len(header), line)
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


def _may_end_in_notes(end: str, delimiter: str) -> bool:
    """Whether the last lines hold one cell each, after a blank line."""
    for line in reversed(split_lines(end.rstrip(f"{delimiter} \r\n"))):
        if not line.replace(delimiter, "").strip():
            return True
        if sum(bool(cell.strip()) for cell in next(csv.reader([line], delimiter=delimiter), ())) != 1:
            return False
    return False


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


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}{'s' * (n != 1)}"
