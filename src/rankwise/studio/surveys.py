"""A stored file and what the user says of it, read as a `Survey`; and what the page asks about the file itself.

The options of a project have the words of `rankwise.data.read_survey`, so that the same reading can be written as a
Python call or a command (``code.py``).
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from rankwise._tables import TextTable, counted, short_name
from rankwise.data import Rankings, Survey, read_survey
from rankwise.data.formats.delimited import read_table
from rankwise.data.formats.survey_data import shown_names
from rankwise.data.formats.tables import MISSING, Table
from rankwise.exceptions import RankwiseFormatError
from rankwise.studio import blocks
from rankwise.studio.blocks import Block

#: options that `read_survey` takes as they are
READING = ("layout", "target", "id", "weight", "by", "features", "ignore", "where", "leave_out", "unlisted", "invalid")

_MOST_COLUMNS, _LONGEST_HEADING = 5_000, 1 << 20
_PREVIEWED, _EXAMPLES = 8, 3
# The list of columns shows whole questions, so that those that begin alike can be told apart.
_LONGEST_QUESTION = 240
# Filters are offered for columns of few answers.
_MOST_ANSWERS = 12
# Names of items that are not shortened again, and what is kept of the beginning of those that begin alike.
_LONGEST_NAME, _LONGEST_NUMBERED = 60, 54
_KEPT, _KEPT_OF_END = 25, 25
# What to give in Python; the page has buttons.
_ADVICE = re.compile(r" ?(?:If [^.;]*, |[A-Z][^.;]*: )?(?:give|write|add) \w+=[^.]*\.")
_NAMED_BY_CALL = "The call names the columns."
_LAYOUTS = {
    "positions": "These are places: 1 is best",
    "scores": "These are scores: higher is better",
    "orders": "Each column is a place and holds an item",
    "strings": "One cell holds the whole order",
    "judges": "Each row is an item, each column a judge",
    "long": "Each row is one answer: who, what, place",
    "pairwise": "Each row is a duel",
    "best-worst": "The best and the worst are named",
    "tricot": "Three are shown, best and worst named",
}
_ROLES = {"feature": "feature", "group": "group", "weight": "weight", "name": "name", "id": "name"}
_ENCODINGS = {"cp1252": "Western European letters (Windows)", "utf-16": "UTF-16"}
# What people give by mistake, by its first bytes, and what to do instead. Workbooks are packages, too.
_PACKAGE, _PACKAGES = b"PK\x03\x04", (".xlsx", ".xlsm", ".ods")
_SAVE_AS = "save the table as .xlsx or CSV"
_NO_TABLES = {
    b"%PDF": ("a PDF", _SAVE_AS),
    b"\x89PNG": ("a picture", _SAVE_AS),
    b"\xff\xd8\xff": ("a picture", _SAVE_AS),
    b"\xd0\xcf\x11\xe0": ("an old file of Office (.xls, .doc)", _SAVE_AS),
    _PACKAGE: ("a package of files (.zip, .docx, .numbers)", _SAVE_AS),
}
# Layouts in which every column of the rankings is like the others, so that some of them can be left out.
_WIDE = ("positions", "scores", "orders")
# Arguments of `read_rankings` that name the columns of the rankings.
_NAMING = ("prefix", "items", "columns")


def open_survey(path: Path, name: str, options: Mapping[str, Any]) -> Survey:
    """Read the stored file as the options say.

    Parameters
    ----------
    path : path-like
        Where the file is stored.
    name : str
        What the user calls it.
    options : mapping
        Options of the project.

    Returns
    -------
    Survey
    """
    refuse_wrong_kind(path)
    try:
        survey = read_survey(path, **arguments(options))
    except RankwiseFormatError as error:
        error.path = None  # the user knows the file by another name
        raise
    items = told_apart(survey.rankings.items)
    if items != survey.rankings.items:
        survey = replace(survey, rankings=Rankings(survey.rankings.positions, items, survey.rankings.weights))
    return replace(survey, name=name)


def told_apart(items: Sequence[Hashable]) -> tuple[Hashable, ...]:
    """Items with shorter names where the usual ones, which keep the beginning, would be the same for several.

    Examples
    --------
    >>> asked = "How much do you agree that the city should pay for each of these: "
    >>> told_apart([f"{asked}trams", f"{asked}buses", "none"])
    ('How much do you agree ... trams', 'How much do you agree ... buses', 'none')
    """
    alike: dict[str, list[int]] = {}
    for i, item in enumerate(items):
        alike.setdefault(short_name(item), []).append(i)
    found, taken = list(items), set(alike)
    for name, same in alike.items():
        if len(same) == 1:
            continue
        texts = [" ".join(str(items[i]).split()) for i in same]
        letters = enumerate(zip(*texts, strict=False))  # the shortest one may be how the others begin
        differ = next((at for at, each in letters if len(set(each)) > 1), min(map(len, texts)))
        start = max(texts[0].rfind(" ", 0, differ) + 1, differ - _KEPT_OF_END)  # the word in which they differ
        begin = name[:_KEPT].rpartition(" ")[0] or name[:_KEPT]
        wanted = [f"{begin} ... {text[start:]}"[:_LONGEST_NAME].rstrip() for text in texts]
        if len({*wanted} - taken) < len(same):  # they differ too far from there, or in spaces only
            numbered = (f"{name[:_LONGEST_NUMBERED].rstrip()} ({number})" for number in count(1))
            free = (own for own in numbered if own not in taken)
            wanted = [next(free) for _ in same]
        taken.update(wanted)
        for i, own in zip(same, wanted, strict=True):
            found[i] = own
    return tuple(found)


def refuse_wrong_kind(path: Path) -> None:
    """Refuse what is no table, and a table with more columns than a page can show, before it is read."""
    with open(path, "rb") as file:
        heading = file.readline(_LONGEST_HEADING)
    for start, (what, instead) in _NO_TABLES.items():
        if heading.startswith(start) and (start != _PACKAGE or path.suffix not in _PACKAGES):
            raise ValueError(f"this is {what}, not a table; {instead}")
    n_columns = 1 + max(map(heading.count, (b",", b";", b"\t", b"|")))
    if n_columns > _MOST_COLUMNS:
        raise ValueError(
            f"the file has {n_columns:,} columns, and the studio shows up to {_MOST_COLUMNS:,}; leave out those that "
            "are not needed"
        )


def arguments(options: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `read_survey` that the options of a project say."""
    given = {key: options[key] for key in READING if options.get(key) not in (None, [], {}, "")}
    return {**(options.get("read") or {}), **given}


def problem_of(error: Exception) -> dict[str, Any]:
    """An error for the page: what is wrong, the cure, and what can be chosen by a click.

    Parameters
    ----------
    error : Exception
        What reading or a view raised.

    Returns
    -------
    dict
        ``error``, ``cure`` and ``choices``, each with a ``label`` and the ``options`` it stands for.
    """
    if not isinstance(error, RankwiseFormatError):
        words = without_advice(str(error))
        return {"error": f"{words[:1].upper()}{words[1:].rstrip('.')}.", "cure": "", "choices": []}
    is_cell = any({"missing_values", "invalid"} & choice.keys() for choice in error.choices)
    labels = [_label_of_cell(choice) if is_cell else _label(choice) for choice in error.choices]
    choices = [
        {"label": f"{label} ({_details(own)})" if labels.count(label) > 1 else label, "options": _as_options(own)}
        for label, own in zip(labels, error.choices, strict=True)
    ]
    # What is wrong with the table as a whole is found in its first line, which says nothing.
    line = [f"line {error.line}"] * (error.line is not None and (error.line > 1 or error.column is not None))
    place = [*line, *[f"column {error.column}"] * (error.column is not None)]
    words = ", ".join(place) + f": {error.problem}" if place and not choices else error.problem
    if any(choice.keys() == {"encoding"} for choice in error.choices):
        words = "some letters of the file cannot be read, because it was not saved as UTF-8"
    problem = f"{words[:1].upper()}{words[1:]}"
    cure = "" if choices else without_advice(error.cure or "")
    if "read_rankings(" in cure:
        cure = "In Data, say what the cells hold or what each column is."
    return {"error": f"{problem}.", "cure": cure, "choices": choices}


def notes(result: Any) -> list[Block]:
    """What the reader of a result should know, in sentences."""
    said = (without_advice(f"{note[:1].upper()}{note[1:].rstrip('.')}.") for note in result.notes)
    return blocks.texts(said, "note")


def data_view(path: Path, name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """How a file was understood: sentences, columns with their roles, the first rows, and what should be looked at.

    A file that cannot be told is no error here: the page shows the rows, and what can be chosen.

    Parameters
    ----------
    path, name, options
        As in `open_survey`.

    Returns
    -------
    dict
        ``blocks``, ``columns``, ``reading``, ``filters`` and ``problem`` (None if the file was read).
    """
    refuse_wrong_kind(path)
    source = _table(path, options)
    try:
        survey = open_survey(path, name, options)
    except (RankwiseFormatError, ValueError, TypeError) as error:
        return {
            "blocks": _preview(source),
            "columns": _columns(source, None, options),
            "reading": None,
            "filters": [],
            "problem": problem_of(error),
        }
    reading = survey.reading
    shown: list[Block] = []
    if reading is not None:
        first, *others = (without_advice(line) for line in reading.lines() if line != _NAMED_BY_CALL)
        shown += [blocks.text(first, "lead"), *blocks.texts(others)]
    unused = ("Not used as features", "Not used as facts about people")
    shown += [{**note, "text": note["text"].replace(*unused)} for note in notes(survey)]
    gaps = []
    if reading is not None and reading.layout in (*_WIDE, "judges"):  # other files hold no blank for an item
        n_gaps = int(np.isnan(survey.rankings.positions).any(axis=1).sum())
        gaps = [("Left items blank", f"{n_gaps:,}", "what a blank means can change the answers")] if n_gaps else []
    shown.append(
        blocks.tiles(
            ("Rankings", f"{len(survey.rankings):,}", _weight_in_words(survey)),
            ("Items", f"{survey.rankings.n_items:,}", _names(survey.rankings.items)),
            ("Ranked nothing", f"{survey.n_empty:,}", "set apart" if survey.n_empty else "everybody ranked something"),
            *gaps,
        )
    )
    found = [table for table in survey.check.tables() if table.rows]
    shown += [blocks.section("check-section", "Data check")]
    shown += [blocks.table("check", table._replace(title="What should be looked at")) for table in found]
    shown += [] if found else [blocks.text("Nothing stands out: no duplicates, no impossible or skipped places.")]
    return {
        "blocks": [*shown, *_preview(source)],
        "columns": _columns(source, survey, options),
        "reading": None
        if reading is None
        else {
            "layout": reading.layout,
            "direction": reading.direction,
            "blanks": reading.blanks,
            "unlisted": reading.unlisted,
            "named": {key: reading.options[key] for key in _NAMING if key in reading.options},
        },
        "filters": _filters(source, survey),
        "problem": None,
    }


def _names(items: Sequence[Any]) -> str:
    """The first items by name."""
    most = 6
    return ", ".join(map(short_name, items[:most])) + (f" and {len(items) - most:,} more" if len(items) > most else "")


def _weight_in_words(survey: Survey) -> str:
    """What the weights say, if rows do not count the same."""
    weights = survey.rankings.weights
    return f"that count as {weights.sum():,.10g}" if (weights != 1).any() else "of people who ranked something"


def _table(path: Path, options: Mapping[str, Any]) -> Table | None:
    """The cells of the file; None for formats that are no tables."""
    read = options.get("read") or {}
    given = {key: read[key] for key in ("delimiter", "encoding", "sheet") if key in read}
    try:
        return read_table(path, **given)
    except RankwiseFormatError as error:
        # The rows as the other encoding has them show whether it is the right one.
        other = next((choice for choice in error.choices if choice.keys() == {"encoding"}), None)
        return None if other is None or "encoding" in given else _table(path, {"read": {**given, **other}})
    except ValueError:
        return None


def _preview(source: Table | None) -> list[Block]:
    if source is None or not len(source):
        return []
    rows = [[column.cells[row] for column in source.columns] for row in range(min(_PREVIEWED, len(source)))]
    title = f"The first {counted(len(rows), 'row')} of the file".replace("first 1 row", "only row")
    return [blocks.table("preview", TextTable(title, "", list(source.header), rows))]


def _columns(source: Table | None, survey: Survey | None, options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The columns of the file: what each is used for, why, and what else it may be.

    Of a file that cannot be read, the uses are those that the options say, so that the page can go on from them.
    """
    if source is None:
        return []
    found = []
    for name, column in zip(source.header, source.columns, strict=True):
        role, why = _chosen_role(name, options), ""
        if survey is not None and survey.reading is not None:
            role, why = _role(name, survey)
        labels = _labels(source, name)
        examples = [labels.get(cell, cell) for cell in column.distinct if cell][:_EXAMPLES]
        title = " ".join(source.questions.get(name, "").split())[:_LONGEST_QUESTION]
        about = {"name": name, "title": title, "role": role, "examples": examples, "why": why}
        found.append({**about, "roles": _possible_roles(name, survey)})
    return found


def _role(name: str, survey: Survey) -> tuple[str, str]:
    """What a column of a file that was read is used for, and why."""
    reading, own = survey.reading, survey.roles.get(name)
    if reading is not None and name in reading.columns:
        names_items = reading.layout == "judges" and name == reading.columns[0]
        return "ranking", "names the items" if names_items else "holds rankings"
    if reading is not None and name == reading.weights:
        return "weight", "how much each row counts"
    if own is None:
        return "ignore", ""
    role = _ROLES.get(own.role, "ignore")
    return ("feature" if name in survey.X and role == "ignore" else role), own.reason or own.role


def _chosen_role(name: str, options: Mapping[str, Any]) -> str:
    """What the options say of a column; nothing if they do not."""
    given = arguments(options)
    for option, role in (("ignore", "ignore"), ("target", "ranking"), ("items", "ranking"), ("columns", "ranking")):
        if name in (given.get(option) or ()):
            return role
    if given.get("prefix") and name.startswith(given["prefix"]):
        return "ranking"
    for option, role in (("by", "group"), ("weight", "weight"), ("id", "name")):
        if name == given.get(option):
            return role
    return "feature" if name in (given.get("features") or ()) else ""


def _possible_roles(name: str, survey: Survey | None) -> list[str] | None:
    """What a column may be used for, as far as the layout of the file leaves a choice; None if it may be anything."""
    if survey is None or survey.reading is None or survey.reading.layout in _WIDE:
        return None
    ranked = survey.reading.columns
    if survey.reading.layout == "judges":  # the first one names the items
        return ["ranking"] if name == ranked[0] else ["ranking", "ignore"]
    return ["ranking"] if name in ranked else ["group", "weight", "name", "feature", "ignore"]


def _filters(source: Table | None, survey: Survey) -> list[dict[str, Any]]:
    """Columns besides the rankings whose answers can be ticked, with counts."""
    if source is None or survey.reading is None or len(source) != survey.check.n_rows:
        return []
    found = []
    for name, column in zip(source.header, source.columns, strict=True):
        if name in survey.reading.columns or name not in survey.roles or not 1 < len(column.distinct) <= _MOST_ANSWERS:
            continue
        labels = _labels(source, name)
        counts = dict.fromkeys([*labels.values(), *survey.ordered.get(name, ())], 0)
        for code, cell in enumerate(column.distinct):
            answer = "" if cell in MISSING else labels.get(cell, cell)
            counts[answer] = counts.get(answer, 0) + int((column.codes == code).sum())
        answers = [{"value": answer, "label": answer or "no answer", "n": n} for answer, n in counts.items() if n]
        answers.sort(key=lambda answer: not answer["value"])  # no answer comes last
        title = shown_names([name], survey.questions)[0]
        found.append({"column": name, "title": title, "answers": answers})
    return found


def _labels(source: Table, name: str) -> dict[str, str]:
    """What the cells of a column of codes say, by rising code, as `read_survey` reads them; nothing for others."""
    labels = source.labels.get(name, {})
    cells = source.coded(name)[0]
    return dict(labels) if labels and all(cell in labels or not cell for cell in cells) else {}


def _label(choice: Mapping[str, Any]) -> str:
    """What a click on the choice says."""
    if choice.keys() == {"encoding"}:
        return f"Read it as {_ENCODINGS.get(choice['encoding'], choice['encoding'])}"
    words = _LAYOUTS.get(str(choice.get("layout", "")), "Read it so")
    if "weights" in choice:
        return f"Count rows by the column {choice['weights']}" if choice["weights"] else "All rows count the same"
    if choice.get("values") == "scores":
        words += "; numbers are scores"
    elif choice.get("values") == "positions":
        words += "; numbers are places"
    return words


def _label_of_cell(choice: Mapping[str, Any]) -> str:
    """What a click on the choice says where a cell is the problem."""
    if choice.get("invalid") == "drop":
        return "Leave out rows that are no rankings"
    if choice.get("missing_values"):
        return f"{short_name(choice['missing_values'][-1])} means that nothing was answered"
    return "It is right: keep it as it is"


def _details(choice: Mapping[str, Any]) -> str:
    """What tells a choice from another one of the same label."""
    return ", ".join(f"{key} {_some(value)}" for key, value in choice.items() if key not in ("layout", "values"))


def _some(value: Any) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(str, value[:4])) + (", …" if len(value) > 4 else "")
    return str(value)


def _as_options(choice: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of `read_rankings` as options of a project."""
    return {
        "layout": choice.get("layout"),
        "target": None,
        "unlisted": choice.get("unlisted"),
        "read": {key: value for key, value in choice.items() if key not in ("layout", "unlisted")},
    }


def without_advice(words: str) -> str:
    """A sentence without what to give in Python or on the command line."""
    return re.sub(r"; give [^.;]*", "", _ADVICE.sub("", words)).strip()
