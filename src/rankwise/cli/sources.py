"""What commands look at: a data set by its name, a file of rankings by its path, or standard input."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import typer

from rankwise.cli.in_and_out import STDIN, readable, shown_name
from rankwise.data import Rankings, read_rankings
from rankwise.data.formats.columns import Column
from rankwise.data.formats.text import Table, listed, read_table, shown
from rankwise.data.formats.xarff import read_xarff
from rankwise.datasets import load_label_ranking
from rankwise.datasets.loaders import label_ranking_names
from rankwise.exceptions import RankwiseFormatError

_FOLDER_VARIABLE = "RANKWISE_DATA"
# A text of more values than this is a name or a comment rather than a category.
_MOST_CATEGORIES = 20
_XARFF = (".xarff", ".arff", ".xarff.gz", ".arff.gz")
# Arguments of `read_rankings` that are lists, of Python or with commas between their elements.
_LISTS = ("items", "columns", "missing_values")
_ARGUMENT = re.compile(r"\b[a-z_]+=")
# What columns of one question have in common, and what distinguishes them: rank_ and tea, q and 12.
_PARTS = re.compile(r"(?P<stem>.*[\W_]|\D+(?=\d))(?:(?P<number>\d+)|[^\W_]+)")


@dataclass(frozen=True)
class Source:
    """Rankings, the features they may depend on (perhaps none), and what the user should know about both.

    Categorical columns hold texts, None where missing; the others hold numbers, NaN where missing. Suspects are
    features that may be answers: their names are like those of the columns of the rankings.
    """

    rankings: Rankings
    X: npt.NDArray[Any]
    feature_names: list[str]
    notes: list[str]
    categorical: tuple[int, ...] = ()
    suspects: tuple[str, ...] = ()


def load(name: str, *, target: str | None = None, reading: Mapping[str, Any] | None = None) -> Source:
    """Load a data set by name; where none has that name, read the file.

    Parameters
    ----------
    name : str
        A data set that `rankwise.datasets.load_label_ranking` knows, or the path of a file that
        `rankwise.data.read_rankings` reads, or ``-`` for standard input.
    target : str, optional
        The columns of a table that hold the rankings: names with commas between, or how the names start. By default
        the reader finds out.
    reading : mapping, optional
        Arguments of `read_rankings`; lists may be text with commas.

    Returns
    -------
    Source
        Numbers besides the rankings of a file are features; so are texts of few values, as categories.
    """
    found = None if target is not None or reading else _data_set(name)
    return _file(name, target, reading or {}) if found is None else found


def table_of(name: str, reading: Mapping[str, Any] | None = None) -> Table:
    """The columns of a file, whether or not it holds rankings: new rows to predict them for.

    Parameters
    ----------
    name : str
        A delimited file or an xarff file, ``-`` for standard input, or a data set.
    reading : mapping, optional
        ``delimiter`` and ``encoding`` of a delimited file.

    Returns
    -------
    Table
    """
    found = None if reading else _data_set(name)
    if found is not None:
        return _as_table(name, dict(zip(found.feature_names, found.X.T, strict=True)))
    with readable(name) as path:
        if path.lower().endswith(_XARFF):
            return _as_table(name, read_xarff(path)[0])
        unknown = [key for key in reading or () if key not in ("delimiter", "encoding")]
        if unknown:
            raise typer.BadParameter(
                f"{unknown[0]} is of no use here: a table only has delimiter and encoding",
                param_hint="--read",
            )
        return replace(read_table(path, **reading or {}), path=shown_name(name))


def _as_table(name: str, columns: Mapping[str, npt.NDArray[Any]]) -> Table:
    cells = [["" if value is None or value != value else str(value) for value in column] for column in columns.values()]
    return Table(name, tuple(columns), 1, tuple(map(Column.of, cells)), range(2, max(map(len, cells), default=0) + 2))


def _data_set(name: str) -> Source | None:
    """The data set of that name; None if it is standard input, or the path of a file."""
    if name == STDIN:
        return None
    folder = os.environ.get(_FOLDER_VARIABLE)
    notes = []
    if folder and not Path(folder).is_dir():
        # The shipped data sets need no folder, so they must stay available if it is wrong.
        notes = [f"{_FOLDER_VARIABLE} names {folder}, which is not a folder, so only the shipped data sets are known"]
    data_home = "" if notes else None
    names = label_ranking_names(data_home)
    if name in names:
        bunch = load_label_ranking(name, data_home=data_home)
        return Source(bunch.y, np.asarray(bunch.X), [str(feature) for feature in bunch.feature_names], notes)
    if Path(name).is_file():
        return None
    if Path(name).is_dir():
        raise ValueError(f"{name} is a folder; give a file in it, as in {Path(name) / 'survey.csv'}")
    problem = f"there is no file {name}, and no data set of this name; data sets are {', '.join(names)}"
    raise ValueError(". ".join([problem, *notes]))


def _file(name: str, target: str | None, reading: Mapping[str, Any]) -> Source:
    arguments: dict[str, Any] = {key: _names(value) if key in _LISTS else value for key, value in reading.items()}
    with readable(name) as path:
        try:
            if target is not None:
                arguments |= _target(path, target, arguments)
            rankings, covariates = read_rankings(path, return_covariates=True, **arguments)
        except TypeError as error:  # an argument that the reader does not have
            raise typer.BadParameter(str(error), param_hint="--read") from None
        except RankwiseFormatError as error:
            if _ARGUMENT.search(error.cure or ""):
                error.cure = f'{error.cure} Here, each argument is an option: --read "NAME=VALUE".'
            raise
    features = {key: column for key, column in covariates.items() if _is_number(column) or _repeats(column)}
    left_out = [key for key in covariates if key not in features]
    notes = [f"texts that seldom repeat, dropped from the features: {', '.join(left_out)}"] if left_out else []
    X = np.column_stack(list(features.values())) if features else np.empty((len(rankings), 0))
    categorical = tuple(number for number, column in enumerate(features.values()) if not _is_number(column))
    return Source(rankings, X, list(features), notes, categorical, _similar_names(features, target))


def _target(path: str, target: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `read_rankings` that name the columns of the rankings."""
    options = {key: arguments[key] for key in ("delimiter", "encoding") if key in arguments}
    table = read_table(path, **options)
    columns = [part.strip() for part in target.split(",")]
    if len(columns) > 1:
        places = all(table.is_numeric(column) for column in columns) and arguments.get("layout") != "orders"
        return {"items": columns} if places else {"columns": columns}
    found = [target] if target in table.header else [name for name in table.header if name.startswith(target)]
    if not found:
        raise table.error(
            f"no column is named {target!r}, or starts so",
            cure=f"Give another --target; the columns are {listed(table.header)}.",
        )
    if len(found) == 1 and table.is_numeric(found[0]) and arguments.keys().isdisjoint(("layout", "separator")):
        raise table.error(
            f"--target {target} means the column {shown(found[0])} only, and one item is not a ranking",
            cure=f"Name all columns, with commas between, or how they start; the columns are {listed(table.header)}.",
        )
    return {"column": target} if target in table.header else {"prefix": target}


def _names(value: Any) -> list[str] | None:
    """A list of names, from a list or from text with commas between them."""
    if value is None:
        return None
    if isinstance(value, str):
        return [part.strip() for part in value.split(",")]
    return [str(part) for part in value] if isinstance(value, list | tuple | set) else [str(value)]


def _similar_names(features: Iterable[str], target: str | None) -> tuple[str, ...]:
    """Features whose names begin like those of the columns of the rankings, as rank_milk does like rank_tea."""
    found = [_PARTS.fullmatch(column.strip()) for column in (target or "").split(",")]
    patterns = {re.escape(parts["stem"]) + (r"\d+" if parts["number"] else ".+") for parts in found if parts}
    return tuple(name for name in features if any(re.fullmatch(pattern, name) for pattern in patterns))


def _is_number(column: npt.NDArray[Any]) -> bool:
    return column.dtype.kind == "f"


def _repeats(column: npt.NDArray[Any]) -> bool:
    """Whether a text looks like a category, and not like a name or a comment."""
    return len(set(column) - {None}) <= min(_MOST_CATEGORIES, len(column) // 2)
