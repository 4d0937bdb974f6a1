"""What commands look at: a data set by its name, a file of rankings by its path, or standard input."""

from __future__ import annotations

import csv
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import typer

from rankwise.cli.in_and_out import STDIN, ChoiceError, current_command, missing_file, readable, shown_name
from rankwise.cli.options import LISTS
from rankwise.data import Survey, read_survey
from rankwise.data.formats.delimited import read_table
from rankwise.data.formats.reading import python_call, shell_command, shell_words
from rankwise.data.formats.tables import Column, Table
from rankwise.data.formats.xarff import read_xarff
from rankwise.datasets import load_label_ranking
from rankwise.datasets.loaders import label_ranking_names
from rankwise.exceptions import RankwiseFormatError

_FOLDER_VARIABLE = "RANKWISE_DATA"
_XARFF = (".xarff", ".arff", ".xarff.gz", ".arff.gz")


def load(
    name: str,
    *,
    target: str | None = None,
    reading: Mapping[str, Any] | None = None,
    features: Sequence[str] | None = None,
    ignore: Sequence[str] | None = None,
    **columns: str | None,
) -> Survey:
    """Load a data set by name; where none has that name, read the file.

    Parameters
    ----------
    name : str
        A data set that `rankwise.datasets.load_label_ranking` knows, or the path of a file that
        `rankwise.data.read_survey` reads, or ``-`` for standard input.
    target : str, optional
        The columns of a table that hold the rankings: names with commas between, or how the names start. By default
        the reader finds out.
    reading : mapping, optional
        Arguments of `read_rankings`; lists may be text with commas.
    features, ignore : sequence of str, optional
        Columns that are features, and that are not: each text may name several, with commas between.
    **columns
        ``layout``, ``id``, ``weight`` and ``by`` of `read_survey`.

    Returns
    -------
    Survey
    """
    chosen: dict[str, Any] = {key: value for key, value in columns.items() if value is not None}
    chosen |= {key: split_names(texts) for key, texts in (("features", features), ("ignore", ignore)) if texts}
    found = None if target is not None or reading or chosen else _data_set(name)
    return _file(name, target, reading or {}, chosen) if found is None else found


def table_of(name: str, reading: Mapping[str, Any] | None = None) -> Table:
    """The columns of a file, whether or not it holds rankings: new rows to predict them for.

    Parameters
    ----------
    name : str
        A delimited file or an xarff file, ``-`` for standard input, or a data set.
    reading : mapping, optional
        ``delimiter`` and ``encoding`` of a delimited file, ``sheet`` of a workbook.

    Returns
    -------
    Table
    """
    found = None if reading else _data_set(name)
    if found is not None:
        return _as_table(name, found.X)
    with readable(name) as path:
        if path.lower().endswith(_XARFF):
            return _as_table(name, read_xarff(path)[0])
        unknown = [key for key in reading or () if key not in ("delimiter", "encoding", "sheet")]
        if unknown:
            raise typer.BadParameter(
                f"{unknown[0]} is of no use here: a table only has delimiter, encoding and sheet",
                param_hint="--read",
            )
        return replace(read_table(path, **reading or {}), path=shown_name(name))


def _as_table(name: str, columns: Mapping[str, npt.NDArray[Any]]) -> Table:
    cells = [["" if value is None or value != value else str(value) for value in column] for column in columns.values()]
    return Table(name, tuple(columns), 1, tuple(map(Column.of, cells)), range(2, max(map(len, cells), default=0) + 2))


def _data_set(name: str) -> Survey | None:
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
        columns = dict(zip(map(str, bunch.feature_names), np.asarray(bunch.X).T, strict=True))
        return Survey(bunch.y, columns, name=name, more_notes=tuple(notes))
    if Path(name).is_file():
        return None
    raise ValueError("; ".join([missing_file(name, names), *notes]))


def _file(name: str, target: str | None, reading: Mapping[str, Any], chosen: Mapping[str, Any]) -> Survey:
    arguments: dict[str, Any] = {
        key: _names(value) if key in LISTS and not isinstance(value, dict) else value for key, value in reading.items()
    }
    with readable(name) as path:
        try:
            # One name may begin others, or hold commas itself.
            names = target if target is None or len(_names(target) or ()) == 1 else _names(target)
            survey = read_survey(path, **{"target": names, **arguments, **chosen})
        except TypeError as error:  # an argument that the reader does not have
            raise typer.BadParameter(str(error), param_hint="--read") from None
        except RankwiseFormatError as error:
            if error.choices:
                raise _with_commands(error, name, chosen) from None
            command = shell_command(name, {}, current_command()[0])
            error.cure = None if error.cure is None else shell_words(error.cure, command)
            raise
    spoken = survey.reading and replace(survey.reading, in_shell=True)
    return replace(survey, name=shown_name(name), reading=spoken)


def _with_commands(error: RankwiseFormatError, name: str, chosen: Mapping[str, Any]) -> ChoiceError:
    """The same error with commands instead of Python calls."""
    command, others = current_command()
    roles = [f" --{key} {shlex.quote(part)}" for key, value in chosen.items() for part in _names(value) or ()]
    roles = [words for words in roles if not words.startswith((" --layout", " --weight"))]
    commands = [f"{shell_command(name, choice, command)}{''.join(roles)}{others}" for choice in error.choices]
    cure, marks = error.cure or "", [f"\0{number}\0" for number in range(len(commands))]
    for choice, mark in zip(error.choices, marks, strict=True):
        cure = cure.replace(f"write {python_call(choice)}", mark)
        argument, value = list(choice.items())[-1]
        cure = re.sub(f"(give|add) {re.escape(f'{argument}={value!r}')}", mark, cure)
    if "read_rankings" in cure or not cure:
        cure = "Choose one of these:" if len(commands) > 1 else "If this is meant, write:"
    cure = shell_words(cure)
    for choice, mark in zip(error.choices, marks, strict=True):
        cure = cure.replace(mark, f"take {_telling_options(choice, error.choices)}")
    return ChoiceError(error, cure, commands)


def _telling_options(choice: Mapping[str, Any], choices: Sequence[Mapping[str, Any]]) -> str:
    """The options that tell a way to read a file from the others: of a single way, the last one."""
    if len(choices) == 1 and list(choice)[-1] == "values":
        return "this command"  # the direction of a jury alone reads nothing
    own = {key: value for key, value in choice.items() if [one.get(key) for one in choices].count(value) == 1}
    if len(choices) == 1 or not own:
        own = dict(list(choice.items())[-1:])
    return shell_command("FILE", own).removeprefix("rankwise consensus FILE ")


def _names(value: Any) -> list[str] | None:
    """A list of names, from a list or from text with commas between them."""
    if value is None:
        return None
    if isinstance(value, str):
        return [part.strip() for part in value.split(",")]
    return [str(part) for part in value] if isinstance(value, list | tuple | set) else [str(value)]


def split_names(texts: Sequence[str]) -> list[str]:
    """Names with commas between; a name that holds a comma itself stands in double quotes."""
    return [name.strip() for row in csv.reader(texts, skipinitialspace=True) for name in row if name.strip()]
