"""Tables of files that hold typed columns: SPSS (.sav, .zsav), Stata (.dta), Parquet, and Arrow or Feather.

`rankwise.data.formats.delimited.read_table` comes here with files that start like one of these. Values become the text
that people see: 1.0 is 1, a date is 2026-01-05. What the files say besides the values stays: the texts of the
questions, the labels of the values, and which of these stand in order.
"""

from __future__ import annotations

import io
import math
import os
from collections.abc import Iterable, Mapping
from datetime import datetime, time
from typing import Any

import numpy as np

from rankwise._optional import require
from rankwise.data.formats.header_rows import refuse_header
from rankwise.data.formats.tables import Column, Table
from rankwise.data.formats.text import MOST_INFLATION, SMALL, Path
from rankwise.exceptions import RankwiseFormatError

_BYTES_PER_VALUE = 8
_KINDS = {
    b"$FL2": "SPSS",
    b"$FL3": "SPSS",
    b"<stata_dta>": "Stata",
    b"PAR1": "Parquet",
    b"ARROW1": "Arrow",
    b"FEA1": "Arrow",
}
#: how such files begin
FIRST_BYTES = tuple(start[:4] for start in _KINDS)


def kind_of(data: bytes, path: Path) -> str | None:
    """What a file holds by its first bytes, an old file of Stata by its name; None if it is something else."""
    for start, kind in _KINDS.items():
        if data.startswith(start):
            return kind
    is_old_stata = data[:1] in (b"\x69", b"\x6c", b"\x6e", b"\x6f", b"\x71", b"\x72", b"\x73")
    return "Stata" if is_old_stata and os.fsdecode(path).lower().endswith(".dta") else None


def read_frame(data: bytes, path: Path, kind: str) -> Table:
    """The table in a file of typed columns.

    Parameters
    ----------
    data : bytes
        The content of the file.
    path : str or path-like
        The file.
    kind : {"SPSS", "Stata", "Parquet", "Arrow"}
        What it holds.

    Returns
    -------
    Table
        With ``questions`` from variable labels, ``labels`` from value labels by rising code, and ``ordered`` for
        variables of ordinal measure and dictionaries in order.
    """
    read = _from_statistics if kind in ("SPSS", "Stata") else _from_arrow
    return read(data, path, kind)


def table_of_columns(
    path: Path,
    columns: Mapping[str, Iterable[Any]],
    *,
    questions: Mapping[str, str] | None = None,
    labels: Mapping[str, Mapping[str, str]] | None = None,
    ordered: Iterable[str] = (),
    single: Iterable[str] = (),
) -> Table:
    """A table of typed columns, their values as people see them.

    Parameters
    ----------
    path : path-like
        The file, for error messages.
    columns : mapping of str to iterable
        The values; None, NaN and what looks like it are blank.
    questions, labels, ordered
        As in `Table`.
    single : iterable of str
        Columns of single precision, whose 0.1 is not to be shown as 0.10000000149.
    """
    if not columns:
        raise RankwiseFormatError("the file is empty", path=path)
    header = [str(name).strip() for name in columns]
    refuse_header(header, path, 1)
    of_single = set(single)
    cells = [
        Column.of(list(values)).map(_single if name in of_single else _text)
        for name, values in zip(header, columns.values(), strict=True)
    ]
    if not len(cells[0]):
        cure = "Get the file with the answers: a row each."
        raise RankwiseFormatError("there is a header, but no row below it", path=path, cure=cure)
    lines = range(1, len(cells[0]) + 1)
    cells = [_days(column) for column in cells]
    given = {name: text.strip() for name, text in (questions or {}).items() if text and text.strip()}
    return Table(path, tuple(header), 1, tuple(cells), lines, given, labels or {}, True, (), tuple(ordered))


def _from_statistics(data: bytes, path: Path, kind: str) -> Table:
    pyreadstat = require("pyreadstat", extra="files", caller=f"reading {kind} files")
    read = pyreadstat.read_sav if kind == "SPSS" else pyreadstat.read_dta
    name = os.fsdecode(path)
    try:
        about = read(name, metadataonly=True, output_format="dict")[1]
        _check_size((about.number_rows or 0) * about.number_columns, len(data), path)
        values, about = read(name, output_format="dict")
    except RankwiseFormatError:
        raise
    except Exception as error:
        raise _damaged(error, kind, path) from None
    labels = {}
    for column, label_of in about.variable_value_labels.items():
        codes = sorted(label_of, key=lambda code: (isinstance(code, str), code))
        labels[column] = {_text(code): str(label_of[code]).strip() for code in codes}
    single = [column for column, stored in about.readstat_variable_types.items() if stored == "float"]
    ordered = [
        column for column, measure in about.variable_measure.items() if measure == "ordinal" and column in labels
    ]
    questions = {column: text for column, text in about.column_names_to_labels.items() if text}
    return table_of_columns(path, values, questions=questions, labels=labels, ordered=ordered, single=single)


def _from_arrow(data: bytes, path: Path, kind: str) -> Table:
    pyarrow = require("pyarrow", extra="files", caller=f"reading {kind} files")
    try:
        if kind == "Parquet":
            from pyarrow import parquet

            file = parquet.ParquetFile(io.BytesIO(data))
            _check_size(file.metadata.num_rows * file.metadata.num_columns, len(data), path)
            table = file.read()
        else:
            from pyarrow import feather

            table = feather.read_table(io.BytesIO(data), memory_map=False)
            _check_size(table.num_rows * table.num_columns, len(data), path)
    except RankwiseFormatError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError, KeyError, EOFError) as error:
        raise _damaged(error, kind, path) from None
    import narwhals as nw

    columns, labels, single = {}, {}, []
    for series in nw.from_native(table, eager_only=True).iter_columns():
        kind_of_column = table.schema.field(series.name).type
        is_empty = pyarrow.types.is_null(kind_of_column)  # without any value, and so without a type
        if not is_empty and (series.dtype.is_nested() or series.dtype in (nw.Binary, nw.Object, nw.Unknown)):
            problem = f"the column {series.name!r:.60} holds {series.dtype}, not single values"
            raise RankwiseFormatError(problem, path=path, cure="Leave it out, or write it as text.")
        columns[series.name] = series.to_list()
        if series.dtype == nw.Float32:
            single.append(series.name)
        if pyarrow.types.is_dictionary(kind_of_column) and kind_of_column.ordered:
            levels = table.column(series.name).unify_dictionaries().chunk(0).dictionary.to_pylist()
            labels[series.name] = {_text(level): _text(level) for level in levels}
    return table_of_columns(path, columns, labels=labels, ordered=list(labels), single=single)


def _text(value: Any) -> str:
    """A value as people see it; blank where there is none."""
    if value is None or value != value:
        return ""
    if isinstance(value, float) and not isinstance(value, np.floating):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    return str(value).strip()


def _single(value: Any) -> str:
    if value is None or not math.isfinite(value):
        return _text(value)
    return _text(float(str(np.float32(value))))


def _days(column: Column) -> Column:
    """Dates without a time, where all are at midnight."""
    midnight = f" {time().isoformat()}"
    dates = [cell for cell in column.distinct if cell]
    if dates and all(cell.endswith(midnight) and len(cell) == 19 for cell in dates):
        return column.map(lambda cell: cell.removesuffix(midnight))
    return column


def _check_size(n_values: int, size: int, path: Path) -> None:
    if n_values * _BYTES_PER_VALUE > MOST_INFLATION * max(SMALL, size):
        problem = f"the file inflates to more than {MOST_INFLATION} times its size ({n_values:,} values)"
        raise RankwiseFormatError(problem, path=path, cure="Save fewer rows and columns.")


def _damaged(error: Exception, kind: str, path: Path) -> RankwiseFormatError:
    why = str(error).splitlines()[0] if str(error) else type(error).__name__
    return RankwiseFormatError(f"the {kind} file is damaged ({why:.100})", path=path, cure="Save or download it again.")
