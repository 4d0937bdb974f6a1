"""Tables of results in files for other programs: CSV, Excel, JSON, Markdown.

Used by the commands that take ``--out`` and by `rankwise.analysis`. A table shows numbers as people read them; a file
holds them as numbers: 1,477 is 1477, and 62.8% is 0.628.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from rankwise._optional import require
from rankwise._replacing import replacing
from rankwise._tables import TextTable

#: suffixes of the files that tables can be written to
SUFFIXES = (".csv", ".xlsx", ".json", ".md")
_NUMBER = re.compile(r"[-+]?(\d{1,3}(,\d{3})+|\d+)?(\.\d+)?(e[-+]?\d+)?%?", re.ASCII | re.IGNORECASE)
# What Excel allows in the name of a sheet.
_LONGEST_SHEET_NAME = 31
_NOT_IN_SHEET_NAMES = re.compile(r"[\[\]:*?/\\]")
_WIDEST_COLUMN = 60
# A cell that starts so is a formula to a spreadsheet, whoever wrote it.
_FORMULA_MARKS = ("=", "+", "-", "@", "\t", "\r")
#: whether such cells are written to CSV files as they are, for programs that are no spreadsheets
KEEP_FORMULAS: ContextVar[bool] = ContextVar("keep_formulas", default=False)


def check_suffix(path: str | os.PathLike[str], *, also: Sequence[str] = ()) -> str:
    """The suffix of a file that tables can be written to, or another one that is allowed; refuse all others."""
    suffix, known = Path(path).suffix.lower(), (*SUFFIXES, *also)
    if suffix not in known:
        raise ValueError(f"{os.fspath(path)} does not end in {', '.join(known[:-1])} or {known[-1]}; choose one")
    if suffix == ".xlsx":
        require("openpyxl", extra="files", caller="an Excel file")
    return suffix


def save_tables(tables: Sequence[TextTable], path: str | os.PathLike[str], *, facts: Mapping[str, Any]) -> None:
    """Write tables to a file by its suffix.

    Parameters
    ----------
    tables : sequence of TextTable
        Their order is that of the file. Tables without a row are left out.
    path : path-like
        .xlsx holds a sheet for each table, .md all tables, .csv only the first one with a header, for other programs.
    facts : mapping
        What .json holds: the same as the command prints with ``--json``.
    """
    suffix = check_suffix(path)
    filled = [table for table in tables if table.rows]
    with replacing(path) as beside:
        if suffix == ".json":
            beside.write_text(json.dumps(facts, indent=2, allow_nan=False) + "\n", encoding="utf-8")
        elif suffix == ".md":
            beside.write_text("\n".join(map(_as_markdown, filled)), encoding="utf-8")
        elif suffix == ".csv":
            _write_csv(next((table for table in filled if any(table.columns)), filled[0]), beside)
        else:
            _write_workbook(filled, beside)


def as_number(cell: str) -> float | int | None:
    """The number that a cell shows; None if it does not show one."""
    text = cell.strip()
    if not _NUMBER.fullmatch(text) or not any(character.isdigit() for character in text):
        return None
    text = text.replace(",", "")
    if text.endswith("%"):
        return round(float(text[:-1]) / 100, 12)
    return int(text) if text.lstrip("+-").isdigit() else float(text)


def harmless(cell: str) -> str:
    """A text for a CSV file that no spreadsheet runs as a formula: an apostrophe comes before what looks like one."""
    is_formula = cell.startswith(_FORMULA_MARKS) and len(cell) > 1 and as_number(cell) is None
    return f"'{cell}" if is_formula and not KEEP_FORMULAS.get() else cell


def _write_csv(table: TextTable, path: str | os.PathLike[str]) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        if any(table.columns):
            writer.writerow(map(harmless, table.columns))
        for row in table.rows:
            writer.writerow(harmless(cell) if (found := as_number(cell)) is None else found for cell in row)


def _as_markdown(table: TextTable) -> str:
    columns = table.columns if any(table.columns) else [""] * len(table.rows[0])
    numeric = [all(as_number(cell) is not None for cell in column if cell) for column in zip(*table.rows, strict=True)]
    lines = [columns, [("---:" if right else "---") for right in numeric], *table.rows]
    body = ["| " + " | ".join(cell.replace("|", r"\|").replace("\n", " ") for cell in line) + " |" for line in lines]
    head = [f"## {table.title}", ""] * bool(table.title) + [table.note, ""] * bool(table.note)
    return "\n".join([*head, *body, ""])


def _write_workbook(tables: Sequence[TextTable], path: str | os.PathLike[str]) -> None:
    openpyxl = require("openpyxl", extra="files", caller="an Excel file")
    font = require("openpyxl.styles", extra="files", caller="an Excel file").Font

    book = openpyxl.Workbook()
    book.remove(book.active)
    for table in tables:
        sheet = book.create_sheet(_sheet_name(table.title, book.sheetnames))
        if any(table.columns):
            sheet.append(list(table.columns))
            sheet.freeze_panes = "A2"
            for cell in sheet[1]:
                cell.font, cell.data_type = font(bold=True), "s"
        for row in table.rows:
            numbers = [as_number(text) for text in row]
            sheet.append([text if found is None else found for text, found in zip(row, numbers, strict=True)])
            for cell, text, found in zip(sheet[sheet.max_row], row, numbers, strict=True):
                if found is None:
                    cell.data_type = "s"  # a name that starts with = is a name
                elif text.endswith("%"):
                    cell.number_format = "0.0%" if "." in text else "0%"
        for column in sheet.columns:
            width = max(len(str(cell.value or "")) for cell in column)
            sheet.column_dimensions[column[0].column_letter].width = min(width + 2, _WIDEST_COLUMN)
        if table.note:
            sheet.append([])
            sheet.append([table.note])
            sheet[sheet.max_row][0].data_type = "s"
    content = io.BytesIO()  # openpyxl leaves files open that it could not write
    book.save(content)
    Path(path).write_bytes(content.getvalue())


def _sheet_name(title: str, taken: Sequence[str]) -> str:
    """The title as Excel allows it, and different from the others."""
    name = _NOT_IN_SHEET_NAMES.sub(" ", title or "Table")[:_LONGEST_SHEET_NAME].strip("' ") or "Table"
    number, unique = 1, name
    while unique.lower() in map(str.lower, taken):
        number += 1
        unique = f"{name[: _LONGEST_SHEET_NAME - 3]} {number}"
    return unique
