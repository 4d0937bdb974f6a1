"""Tables of workbooks: sheets of Excel (.xlsx, .xlsm) and of OpenDocument (.ods).

`rankwise.data.formats.delimited.read_table` comes here with files that start like a zip archive. A sheet is a grid of
cells in which people leave room, write titles, merge cells and use two rows for names; `_table` makes one table of it
or says what to change. Lines of error messages are rows of the sheet.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any
from xml.etree import ElementTree

import numpy as np

from rankwise._optional import require
from rankwise.data.formats.delimited import with_question_row
from rankwise.data.formats.header_rows import (
    corner_named,
    n_notes,
    n_titles,
    note_below,
    refuse_header,
    two_rows_of_names,
)
from rankwise.data.formats.reading import python_call
from rankwise.data.formats.tables import Column, Table
from rankwise.data.formats.text import MOST_INFLATION, SMALL, Path, listed, shown
from rankwise.exceptions import RankwiseFormatError

# A stray cell in the last corner would make a table of billions of cells.
_MOST_CELLS = 20_000_000
_MOST_EMPTY = 1000
_CELL = re.compile(rb"""<(?:\w+:)?c\b[^>]*?\br\s*=\s*["']([A-Za-z]+)(\d+)["'][^>]*?(/?)>""")
_MERGED = re.compile(rb"""<(?:\w+:)?mergeCell\b[^>]*?\bref\s*=\s*["']([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})["']""")
# A formula whose value was never stored; one that gives an empty text says so by its type.
_UNCOMPUTED = re.compile(
    rb"""<(?:\w+:)?c\b(?![^>]*\bt\s*=\s*["']str["'])[^>]*?\br\s*=\s*["']([A-Za-z]+\d+)["'][^>]*>\s*"""
    rb"""<(?:\w+:)?f\b(?:[^>]*/>|[^>]*>[^<]*</(?:\w+:)?f>)\s*(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v></(?:\w+:)?v>)?\s*</(?:\w+:)?c>"""
)
_MIDNIGHT = " 00:00:00"
_DATE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?")
_FIRST_DAY = ("1899-12-31 ", "1899-12-30 ", "1904-01-01 ")  # what comes before a time without a date
_ODS = {prefix: f"{{urn:oasis:names:tc:opendocument:xmlns:{prefix}:1.0}}" for prefix in ("office", "table", "text")}


@dataclass(frozen=True)
class _Sheet:
    """The cells of a sheet, column by column from ``first_column`` on; merged areas as (top, left, bottom, right)."""

    columns: list[list[str]]
    merged: list[tuple[int, int, int, int]]
    first_column: int = 0


def read_workbook(data: bytes, path: Path, sheet: str | int | None = None) -> Table:
    """The table in a sheet of a workbook.

    Parameters
    ----------
    data : bytes
        The content of the file: it shows what the file is, whatever the name.
    path : str or path-like
        The file, for error messages.
    sheet : str or int, optional
        The name of the sheet, or its number from 1; by default the only one that is not empty.

    Returns
    -------
    Table

    Raises
    ------
    RankwiseFormatError
        Where it is not clear which sheet or which row of names is meant, where merged cells leave rows without a value,
        and for files that are damaged or would inflate beyond all measure.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = {part.filename: part.file_size for part in archive.infolist()}
            is_excel = "xl/workbook.xml" in parts
            if not is_excel and not ("content.xml" in parts and b"spreadsheet" in archive.read("mimetype")):
                raise RankwiseFormatError("this is a zip archive", path=path, cure="Unpack it.")
            if sum(parts.values()) > MOST_INFLATION * max(SMALL, len(data)):
                problem = f"the workbook inflates to more than {MOST_INFLATION} times its size"
                raise RankwiseFormatError(problem, path=path, cure="Save the sheet as CSV UTF-8.")
            book = _Excel(archive, data, path) if is_excel else _OpenDocument(archive, path)
    except (
        zipfile.BadZipFile,
        zlib.error,
        KeyError,
        EOFError,
        OSError,
        ElementTree.ParseError,
        NotImplementedError,
    ) as error:
        raise _damaged(error, path) from None
    name, found, others = _chosen(book, sheet, path)
    table = _table(found, path)
    if others:
        ignored = f"The hidden sheets {listed(others)} were passed over."
        table = replace(table, notes=(*table.notes, ignored))
    return replace(table, notes=(f"The sheet is {shown(name)}.", *table.notes)) if len(book.names) > 1 else table


def _chosen(book: _Excel | _OpenDocument, sheet: str | int | None, path: Path) -> tuple[str, _Sheet, list[str]]:
    """The name of the sheet to read, its content, and the hidden sheets that were not looked at."""
    if sheet is not None:
        name = str(sheet)
        if name not in book.names and name.isdecimal() and 1 <= int(name) <= len(book.names):
            name = book.names[int(name) - 1]
        if name not in book.names:
            cure = f"The sheets are {listed(book.names)}."
            raise RankwiseFormatError(f"there is no sheet {shown(name)}", path=path, cure=cure)
        return name, book.load(name), []
    visible = [name for name in book.names if name not in book.hidden] or book.names
    sheets = {name: found for name in visible if any(map(any, (found := book.load(name)).columns))}
    # One cell is a note: it is no table.
    tables = {name: found for name, found in sheets.items() if sum(map(bool, chain(*found.columns))) > 1}
    sheets = tables or sheets
    if len(sheets) > 1:
        raise RankwiseFormatError(
            f"{len(sheets)} sheets hold cells: {listed(list(sheets))}",
            path=path,
            cure=f"Choose one: {' or '.join(python_call({'sheet': name}) for name in [*sheets][:4])}.",
            choices=[{"sheet": name} for name in sheets],
        )
    if not sheets:
        what = "the sheet is empty" if len(visible) == 1 else f"all {len(visible)} sheets are empty"
        raise RankwiseFormatError(what, path=path, cure="Get the file with the answers: a row each.")
    name = next(iter(sheets))
    return name, sheets[name], [other for other in book.names if other not in visible]


class _Excel:
    """A workbook of Excel: fastexcel reads the cells, and its parts tell how far they reach and which are merged."""

    def __init__(self, archive: zipfile.ZipFile, data: bytes, path: Path) -> None:
        self._path = path
        self._fastexcel = require("fastexcel", extra="files", caller="reading Excel workbooks")
        require("pyarrow", extra="files", caller="reading Excel workbooks")
        parts = list(_sheet_parts(archive, path))
        self._sources = {name: archive.read(part) for name, part, _ in parts}
        self.names = [name for name, _, _ in parts]
        self.hidden = {name for name, _, is_hidden in parts if is_hidden}
        try:
            self._reader = self._fastexcel.read_excel(data)
        except Exception as error:
            raise _damaged(error, path) from None

    def load(self, name: str) -> _Sheet:
        """The cells of a sheet as text."""
        source = self._sources.get(name, b"")
        places = [(int(row[:12]), _letters(column)) for column, row, empty in _CELL.findall(source) if not empty]
        if not places:
            return _Sheet([], [])
        if uncomputed := _UNCOMPUTED.search(source):
            raise RankwiseFormatError(
                f"cell {uncomputed[1].decode()} holds a formula without its value, as programs write them",
                path=self._path,
                cure="Open the file in a spreadsheet program and save it.",
            )
        last_row, columns = max(places)[0], [column for _, column in places]
        _check_area(last_row, max(columns) - min(columns) + 1, len(places), name, self._path)
        try:
            sheet = self._reader.load_sheet(name, header_row=None, skip_rows=0, dtypes="string")
            cells = [column.to_pylist() for column in sheet.to_arrow().columns]
        except Exception as error:
            raise _damaged(error, self._path) from None
        merged = [
            (int(top) - 1, _letters(left), int(bottom) - 1, _letters(right))
            for left, top, right, bottom in _MERGED.findall(source)
        ]
        return _Sheet([_dates_as_written([cell or "" for cell in column]) for column in cells], merged, min(columns))


def _sheet_parts(archive: zipfile.ZipFile, path: Path) -> Iterator[tuple[str, str, bool]]:
    """The sheets of an Excel workbook: name, the part of the archive that holds it, and whether it is hidden."""
    targets = {}
    for relation in _parsed(archive.read("xl/_rels/workbook.xml.rels"), path):
        target = relation.get("Target", "")
        targets[relation.get("Id")] = target.removeprefix("/") if target.startswith("/") else f"xl/{target}"
    for element in _parsed(archive.read("xl/workbook.xml"), path).iter():
        if element.tag.endswith("}sheet"):
            key = next((value for name, value in element.attrib.items() if name.endswith("}id")), None)
            if targets.get(key) in archive.namelist():
                yield element.get("name", ""), targets[key], element.get("state", "visible") != "visible"


class _OpenDocument:
    """A workbook of OpenDocument, whose cells are elements that may stand for many."""

    def __init__(self, archive: zipfile.ZipFile, path: Path) -> None:
        self._path = path
        self._tables = {
            table.get(f"{_ODS['table']}name", ""): table
            for table in _parsed(archive.read("content.xml"), path).iter(f"{_ODS['table']}table")
        }
        self.names = list(self._tables)
        self.hidden: set[str] = set()

    def load(self, name: str) -> _Sheet:
        """The cells of a sheet as text."""
        rows: dict[int, dict[int, str]] = {}
        merged = []
        at, count, width = 0, 0, 0
        for row in self._tables[name].iter(f"{_ODS['table']}table-row"):
            cells: dict[int, str] = {}
            column = 0
            for cell in row:
                if cell.tag not in (f"{_ODS['table']}table-cell", f"{_ODS['table']}covered-table-cell"):
                    continue
                times, text = _repeated(cell, "columns", self._path), _ods_text(cell)
                if text:
                    width = max(width, column + times)
                    _check_area(at + 1, width, count + times, name, self._path)
                    cells.update(dict.fromkeys(range(column, column + times), text))
                across, down = (_repeated(cell, side, self._path, "spanned") for side in ("columns", "rows"))
                if across > 1 or down > 1:
                    merged.append((at, column, at + down - 1, column + across - 1))
                column += times
            times = _repeated(row, "rows", self._path)
            if cells:
                count += len(cells) * times
                _check_area(at + times, width, count, name, self._path)
                rows.update(dict.fromkeys(range(at, at + times), cells))
            at += times
        height = max(rows, default=-1) + 1
        return _Sheet([[rows.get(r, {}).get(c, "") for r in range(height)] for c in range(width)], merged)


def _ods_text(cell: Any) -> str:
    """A cell as people see it, but numbers and dates without the format that a country gives them."""
    office = _ODS["office"]
    kind = cell.get(f"{office}value-type")
    if kind in ("float", "percentage", "currency"):
        return re.sub(r"(?<=\d)\.0+$", "", cell.get(f"{office}value", ""))
    if kind in ("date", "boolean"):
        return cell.get(f"{office}{kind}-value", "").replace("T", " ").removesuffix(_MIDNIGHT)
    paragraphs = ("".join(paragraph.itertext()) for paragraph in cell.iter(f"{_ODS['text']}p"))
    return "\n".join(paragraphs).strip()


def _repeated(element: Any, what: str, path: Path, how: str = "repeated") -> int:
    text = element.get(f"{_ODS['table']}number-{what}-{how}", "1")
    if not re.fullmatch(r"[1-9]\d{0,6}", text, re.ASCII):
        raise _damaged(f"{text!r:.20} is not a number of {what}", path)
    return int(text)


def _table(sheet: _Sheet, path: Path) -> Table:
    """The table in a sheet: room around it, titles above it and empty columns in it left out."""
    columns = [Column.of([cell.strip() for cell in column]) for column in sheet.columns]
    used = [at for at, column in enumerate(columns) if column.distinct != [""]]
    columns = [columns[at] for at in used]
    if not columns:
        raise RankwiseFormatError("the sheet is empty", path=path, cure="Get the file with the answers: a row each.")
    filled = np.array([np.array([bool(cell) for cell in column.distinct])[column.codes] for column in columns])
    rows = np.flatnonzero(filled.any(axis=0)).tolist()
    places = {at + sheet.first_column: place for place, at in enumerate(used)}
    notes: list[str] = []
    n = n_titles(int(filled[:, row].sum()) for row in rows)
    if n and 1 < len(_spans(rows[n - 1], places, sheet.merged)) < len(columns):
        n -= 1  # a heading of several columns
    remarks = [_lone(columns, row) for row in rows[:n]]
    notes += [
        f"The title {shown(title)} in row {row + 1} was passed over." for title, row in zip(remarks, rows, strict=False)
    ]
    rows = rows[n:]
    if filled[:, rows[-1]].sum() == 1 and len(columns) > 1:
        n = n_notes([[column.cells[row] for column in columns] for row in rows], lambda at: rows[at] > rows[at - 1] + 1)
        below = {row: _lone(columns, row) for row in rows[len(rows) - n :]}
        notes += [note_below(text, f"in row {row + 1}") for row, text in below.items()]
        remarks += below.values()
        rows = rows[: len(rows) - n]
    top = rows[0]
    header, questions, n_names, note = _names(columns, rows, places, sheet.merged, path)
    notes += [note] if note else []
    body = rows[n_names:]
    if not body:
        cure = "Get the file with the answers: a row each."
        raise RankwiseFormatError("there is a header, but no row below it", path=path, line=top + 1, cure=cure)
    _refuse_merged_answers(columns, rows[n_names - 1], places, sheet.merged, path)
    lines = [row + 1 for row in body]
    taken = tuple(column.take(body) for column in columns)
    table = Table(path, tuple(header), top + 1, taken, lines, questions, comma_is_free=True)
    return with_question_row(replace(table, notes=tuple(notes), remarks=tuple(remarks)))


def _lone(columns: Sequence[Column], row: int) -> str:
    """The only cell of a row."""
    return next(cell for cell in (column.cells[row] for column in columns) if cell)


def _spans(row: int, places: dict[int, int], merged: Sequence[tuple[int, int, int, int]]) -> dict[int, int]:
    """The columns below cells of that row that are merged across several, and where each such cell starts."""
    spans: dict[int, int] = {}
    for top, left, _, right in merged:
        spanned = [places[at] for at in range(left, right + 1) if at in places]
        if row == top and len(spanned) > 1:
            spans |= dict.fromkeys(spanned, spanned[0])
    return spans


def _names(
    columns: Sequence[Column],
    rows: Sequence[int],
    places: dict[int, int],
    merged: Sequence[tuple[int, int, int, int]],
    path: Path,
) -> tuple[list[str], dict[str, str], int, str]:
    """The names of the columns, their questions, how many rows hold them, and the note that tells of two."""
    top = rows[0]
    names = [column.cells[top] for column in columns]
    below = [column.cells[rows[1]] for column in columns] if len(rows) > 1 else []
    spans = _spans(top, places, merged)
    spanned = [names[spans.get(at, at)] for at in range(len(names))]
    if below and (spans or not all(names) or len(set(names)) < len(names)):
        rest = [column.take(rows[2:]).distinct for column in columns]
        two = two_rows_of_names(names, below, rest, (top + 1, rows[1] + 1), spanned if spans else None)
        if two is not None:
            return two.header, two.questions, 2, two.note
    if spans:
        raise RankwiseFormatError(
            f"merged cells in row {top + 1} leave columns without a name of their own",
            path=path,
            line=top + 1,
            cure="Unmerge them, and give every column its own name in one row.",
        )
    names = corner_named(names, [columns[0].cells[row] for row in rows[1:]])
    refuse_header(names, path, top + 1, below)
    return names, {}, 1, ""


def _refuse_merged_answers(
    columns: Sequence[Column],
    last_name: int,
    places: dict[int, int],
    merged: Sequence[tuple[int, int, int, int]],
    path: Path,
) -> None:
    """Refuse merged cells below the names: their value stands in one row, and the others look blank."""
    for top, left, bottom, right in merged:
        if bottom > last_name and left in places and top < len(columns[0]) and columns[places[left]].cells[top]:
            area = f"{_reference(top, left)}:{_reference(bottom, right)}"
            raise RankwiseFormatError(
                f"the cells {area} are merged, so that only one of them holds the value",
                path=path,
                line=top + 1,
                cure="Unmerge them, and write the value into every cell.",
            )


def _dates_as_written(cells: list[str]) -> list[str]:
    """Dates without the midnight that a workbook adds, and times without the first day of its calendar."""
    dates = [cell for cell in cells if _DATE.fullmatch(cell)]
    if not dates:
        return cells
    all_days = all(cell.endswith(_MIDNIGHT) for cell in dates)
    return [cell.removesuffix(_MIDNIGHT) if all_days else _without_first_day(cell) for cell in cells]


def _without_first_day(cell: str) -> str:
    return cell[11:] if cell.startswith(_FIRST_DAY) and _DATE.fullmatch(cell) else cell


def _check_area(n_rows: int, n_columns: int, n_cells: int, name: str, path: Path) -> None:
    area = n_rows * n_columns
    if area > _MOST_CELLS and (area > _MOST_EMPTY * n_cells or area > 50 * _MOST_CELLS):
        raise RankwiseFormatError(
            f"the sheet {shown(name)} spans {n_rows:,} rows and {n_columns:,} columns for {n_cells:,} cells",
            path=path,
            cure="Delete the rows and columns beyond the table, or save the sheet as CSV UTF-8.",
        )


def _parsed(data: bytes, path: Path) -> Any:
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise _damaged("it declares entities", path)
    return ElementTree.fromstring(data)  # noqa: S314 (no entities, and a limited size)


def _letters(column: bytes) -> int:
    """The number from 0 of a column such as B or AA."""
    place = 0
    for letter in column.upper()[:8]:
        place = 26 * place + letter - 64
    return place - 1


def _reference(row: int, column: int) -> str:
    letters, rest = "", column + 1
    while rest:
        rest, letter = divmod(rest - 1, 26)
        letters = chr(65 + letter) + letters
    return f"{letters}{row + 1}"


def _damaged(error: object, path: Path) -> RankwiseFormatError:
    why = str(error).splitlines()[0] if str(error) else type(error).__name__
    return RankwiseFormatError(
        f"the workbook is damaged ({why:.100})",
        path=path,
        cure="Open and save it again, or save the sheet as CSV UTF-8.",
    )
