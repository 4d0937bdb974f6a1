"""Tables of best-worst choices: the best and the worst of the items shown are named (MaxDiff, tricot).

The best comes first, the worst last, and the others shown are tied between them; items that were not shown are missing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwise._typing import FloatArray, IntArray
from rankwise.data.formats.buckets import check_size, names_in_order
from rankwise.data.formats.column_names import ITEMS, RESPONDENTS, TASKS, Fit
from rankwise.data.formats.delimited import read_table
from rankwise.data.formats.reading import python_call
from rankwise.data.formats.survey_cells import mostly_numbers, repeated_names, repeats_cells
from rankwise.data.formats.tables import (
    MISSING,
    Covariates,
    Table,
    blanks_given,
    covariates,
    names_given,
    weights_column,
)
from rankwise.data.formats.text import ENCODING, Path, listed, shown
from rankwise.data.rankings import Rankings
from rankwise.exceptions import RankwiseFormatError

_BEST = ("best", "most", "pos", "positive")
_WORST = ("worst", "least", "neg", "negative")
_CHOICES = ("choice", "response", "answer", "bw", "best_worst", "chosen")
_LONG_BEST = ("best", "most", "1")
_LONG_WORST = ("worst", "least", "-1")
_LONG_NEITHER = ("", "0", "none", "neither", "shown", "middle")
_NOT_OBSERVED = ("not observed", "notobserved", "none", "n/a")
_TIE = ("tie", "tied", "same", "equal")
_BLANK, _UNCLEAR, _ALL_TIED = -1, -2, -3
_LAST_LETTER = re.compile(r"(?P<stem>.*[_. \-\[])(?P<mark>[A-Za-z]|\d{1,2})\]?")
_LAST_NUMBER = re.compile(r"(?P<stem>.*\D)(?P<mark>\d{1,2})")
_ALL_IN_ALL = ("overall", "general", "total", "preference")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_LEAST_SHOWN = 3
_FEW_ROWS = 5


@dataclass(frozen=True)
class Question:
    """One question for the best and the worst: its columns, and the columns of the items shown."""

    name: str
    best: str | None
    worst: str | None
    shown: tuple[str, ...]


def read_best_worst_csv(
    path: Path | Table,
    *,
    best: str | None = None,
    worst: str | None = None,
    shown: Iterable[str] | None = None,
    trait: str | None = None,
    respondent: str | Sequence[str] | None = None,
    item: str | None = None,
    choice: str | None = None,
    items: Iterable[str] | None = None,
    weights: str | None = None,
    missing_values: Collection[str] = MISSING,
    delimiter: str | None = None,
    encoding: str = ENCODING,
) -> tuple[Rankings, Covariates]:
    r"""Read best-worst choices (MaxDiff): in each row, the best and the worst of the items shown.

    A row may hold several questions with their own items, such as ``task1_best``; each becomes a ranking. In a long
    table each row is an item that was shown, and ``choice`` says whether it was best or worst.

    Parameters
    ----------
    path, items, weights, missing_values, delimiter, encoding
        As in `read_orders_csv`.
    best, worst : str, optional
        The columns that name the best and the worst item: by its name, by the letter or number at the end of its
        column, or by its column. By default the columns whose names hold ``best`` or ``most``, ``worst`` or ``least``.
    shown : sequence of str, optional
        The columns of the items shown; by default such as ``item_1, item_2, ...`` or ``option_a, option_b, ...``.
    trait : str, optional
        Where there are several such pairs of columns for the same items: which one, as ``"overall"`` for
        ``overall_best`` and ``overall_worst``.
    respondent : str or sequence of str, optional
        In a long table, the columns that say which choice the row belongs to.
    item, choice : str, optional
        In a long table, the columns of the item and of "best", "worst" or blank (or 1, -1, 0).

    Returns
    -------
    rankings : Rankings
        The best, then the other items shown (tied), then the worst. Without a worst, the others are unlisted.
    covariates : dict of str to ndarray
        The other columns.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "tasks.csv"
    >>> _ = path.write_text("item_1,item_2,item_3,best,worst\ntea,milk,juice,milk,tea\njuice,cola,tea,tea,juice\n")
    >>> read_best_worst_csv(path)[0]
    Rankings: 2 rankings of 4 items, incomplete
      milk > juice > tea   (missing: cola)
      tea > cola > juice   (missing: milk)
    """
    table = read_table(path, delimiter, encoding)
    blanks = {cell.lower() for cell in blanks_given(missing_values)} | {*_NOT_OBSERVED}
    declared = None if items is None else names_given(items, "items")
    long = _long_roles(table, respondent, item, choice)
    if best is None and worst is None and shown is None and long is not None:
        return _read_long(table, *long, declared, weights)
    given = None if shown is None else names_given(shown, "shown")
    questions = _questions_asked(table, best, worst, given, trait)
    names, parts = _names_shown(table, questions, declared)
    n = len(table)
    check_size(n * len(questions), len(names), n * len(parts[0][0]) * len(questions), table.error)
    values = np.full((n, len(questions), len(names)), np.nan)
    for at, (question, ids) in enumerate(zip(questions, parts, strict=True)):
        places = _places(table, question, ids, names, blanks)
        rows, columns = np.nonzero(np.array(ids).T >= 0)
        values[rows, at, np.array(ids).T[rows, columns]] = places[rows, columns]
    rows = np.repeat(np.arange(n), len(questions))
    all_weights = weights_column(table, weights)
    rankings = Rankings(
        values.reshape(n * len(questions), len(names)), names, None if all_weights is None else all_weights[rows]
    )
    used = {name for question in _all_questions(table) for name in (question.best, question.worst)}
    used |= {name for question in questions for name in (question.best, question.worst, *question.shown)}
    others = covariates(table, [*filter(None, used), weights or ""], None if len(questions) == 1 else rows.tolist())
    return rankings, others


def read_tricot_csv(
    path: Path | Table,
    *,
    trait: str | None = None,
    best: str | None = None,
    worst: str | None = None,
    shown: Iterable[str] | None = None,
    items: Iterable[str] | None = None,
    weights: str | None = None,
    missing_values: Collection[str] = MISSING,
    delimiter: str | None = None,
    encoding: str = ENCODING,
) -> tuple[Rankings, Covariates]:
    r"""Read a trial where each person tries three items and names the best and the worst by its letter (tricot).

    Parameters
    ----------
    path, best, worst, shown, items, weights, missing_values, delimiter, encoding
        As in `read_best_worst_csv`; ``shown`` are columns such as ``variety_a, variety_b, variety_c``.
    trait : str, optional
        Which trait, where there are several: ``"yield"`` for ``yield_best`` and ``yield_worst`` (or ``yield_pos`` and
        ``yield_neg``).

    Returns
    -------
    rankings : Rankings
        One of three items per row.
    covariates : dict of str to ndarray
        The other columns; those of other traits are not among them.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "trial.csv"
    >>> _ = path.write_text("variety_a,variety_b,variety_c,best,worst\nWR544,HD2985,PBW550,B,A\n")
    >>> read_tricot_csv(path)[0]
    Rankings: 1 ranking of 3 items, full
      HD2985 > PBW550 > WR544
    """
    return read_best_worst_csv(
        path,
        best=best,
        worst=worst,
        shown=shown,
        trait=trait,
        items=items,
        weights=weights,
        missing_values=missing_values,
        delimiter=delimiter,
        encoding=encoding,
    )


def choice_fits(table: Table) -> list[Fit]:
    """Best-worst choices that the names of the columns show; one fit for each trait."""
    questions = _all_questions(table)
    if not questions:
        long = _long_roles(table, None, None, None)
        if long is None:
            return []
        respondent, item, choice = long
        options = {"respondent": respondent, "item": item, "choice": choice}
        return [Fit("best-worst", options, f"The cells of {choice!r} say which of the items shown is best and worst.")]
    layout, reason = "best-worst", "The names of the columns say which items are shown, and the best and worst of them."
    if len(questions[0].shown) == _LEAST_SHOWN and all(_name_letters(table, question) for question in questions):
        layout, reason = "tricot", "Three items are shown, and letters name the best and the worst of them."
    if len({question.shown for question in questions}) > 1 or len(questions) == 1:
        return [Fit(layout, {}, reason)]  # type: ignore[arg-type]
    questions.sort(key=lambda question: question.name.lower() not in _ALL_IN_ALL)
    return [Fit(layout, {"trait": question.name}, reason) for question in questions]  # type: ignore[arg-type]


def columns_of_choices(table: Table, options: Mapping[str, Any]) -> list[str]:
    """The columns that these options of `read_best_worst_csv` read, in the order of the table."""
    best, worst, shown, trait = (options.get(name) for name in ("best", "worst", "shown", "trait"))
    long = _long_roles(table, *(options.get(name) for name in ("respondent", "item", "choice")))
    if best is None and worst is None and shown is None and long is not None:
        return [*long[0], long[1], long[2]]
    given = None if shown is None else names_given(shown, "shown")
    questions = _questions_asked(table, best, worst, given, trait)
    used = {name for question in questions for name in (question.best, question.worst, *question.shown)}
    return [name for name in table.header if name in used]


def shown_items(table: Table) -> list[str]:
    """The columns of the items shown, if the names of some say so."""
    return next(iter(_shown_groups(table)), [])


def bad_choices(table: Table, options: dict[str, Any], missing_values: Collection[str]) -> dict[int, str]:
    """Rows whose best and worst are the same item, or not among those shown, with the words for it."""
    blanks = {cell.lower() for cell in blanks_given(missing_values)} | {*_NOT_OBSERVED}
    given = {name: options.get(name) for name in ("best", "worst", "trait")}
    shown = None if options.get("shown") is None else names_given(options["shown"], "shown")
    if options.get("choice") or (shown is None and not _all_questions(table)):
        return {}
    problems: dict[int, str] = {}
    questions = _questions_asked(table, given["best"], given["worst"], shown, given["trait"])
    names, parts = _names_shown(table, questions, options.get("items"))
    for question, ids in zip(questions, parts, strict=True):
        first = _which_shown(table, question.best, question, ids, names, blanks)
        last = _which_shown(table, question.worst, question, ids, names, blanks)
        for row in np.flatnonzero((first == _UNCLEAR) | (last == _UNCLEAR)):
            problems.setdefault(int(row), "names an item that was not shown")
        for row in np.flatnonzero((first == last) & (first >= 0)):
            problems.setdefault(int(row), "names the same item best and worst")
    return problems


def _all_questions(table: Table) -> list[Question]:
    """The questions that the names of the columns show: pairs of best and worst, and the items shown."""
    pairs: dict[tuple[str, ...], dict[str, str]] = defaultdict(dict)
    for name in table.header:
        words = [word for word in re.split(r"[\W_]+", name.lower()) if word]
        for side, known in (("best", _BEST), ("worst", _WORST)):
            at = [place for place, word in enumerate(words) if word in known]
            if len(at) == 1:
                pairs[*words[: at[0]], "*", *words[at[0] + 1 :]].setdefault(side, name)
    whole = {key: pair for key, pair in pairs.items() if len(pair) == 2}
    groups = _shown_groups(table) if whole else []
    questions = []
    for key, pair in whole.items() if groups else ():
        name = "_".join(word for word in key if word not in ("*", "item", "option", "variety", "choice"))
        # Items of its own start like the question: task1_best beside task1_item1.
        own = [group for group in groups if name and group[0].lower().startswith(name)]
        questions.append(Question(name, pair["best"], pair["worst"], tuple((own or groups)[0])))
    return questions


def _shown_groups(table: Table) -> list[list[str]]:
    """Groups of at least three columns that differ by a last letter or number and hold names."""
    groups: dict[str, dict[int, str]] = defaultdict(dict)
    for name in table.header:
        parts = _LAST_LETTER.fullmatch(name) or _LAST_NUMBER.fullmatch(name)
        if parts:
            mark = parts["mark"].lower()
            groups[parts["stem"]][int(mark) if mark.isdigit() else _LETTERS.index(mark) + 1] = name
    found = [[marks[at] for at in sorted(marks)] for marks in groups.values() if sorted(marks)[0] < 2]
    found = [group for group in found if len(group) >= _LEAST_SHOWN and all(repeats_cells(table, n) for n in group)]
    found = [group for group in found if not mostly_numbers(table, group)]
    return [group for group in found if _share_names(table, group)]


def _share_names(table: Table, group: list[str]) -> bool:
    """Whether the columns hold names of the same items, each once in a row."""
    vocabularies = [set(table.coded(name)[0]).difference(MISSING) for name in group]
    # In few rows no name need stand in two columns.
    shared = len(table) < _FEW_ROWS or sum(map(len, vocabularies)) > len(set().union(*vocabularies))
    return shared and not repeated_names(table, group).size


def _questions_asked(
    table: Table, best: str | None, worst: str | None, shown: list[str] | None, trait: str | None
) -> list[Question]:
    """The questions that the options choose among those of the table."""
    questions = _all_questions(table)
    if best is not None or worst is not None:
        group = shown or (questions[0].shown if questions else shown_items(table))
        if not group:
            raise table.error("it is not clear which items were shown", cure="Name their columns: shown=[...].")
        for name in [*filter(None, [best, worst]), *group]:
            table.index(name)
        return [Question("", best, worst, tuple(group))]
    if shown is not None:
        for name in shown:
            table.index(name)
        questions = [Question(one.name, one.best, one.worst, tuple(shown)) for one in questions]
    if not questions:
        raise table.error(
            f"no columns among {listed(table.header)} name the best and the worst of the items shown",
            cure="Name them: best='...', worst='...', shown=[...].",
        )
    if trait is not None:
        chosen = [one for one in questions if one.name.lower() == trait.lower()]
        if not chosen:
            raise table.error(
                f"there is no trait {trait!r}", cure=f"The traits are {listed([one.name for one in questions])}."
            )
        return chosen
    if len(questions) > 1 and len({one.shown for one in questions}) == 1:
        questions.sort(key=lambda question: question.name.lower() not in _ALL_IN_ALL)
        choices = [{"layout": "best-worst", "trait": one.name} for one in questions]
        error = table.error(
            f"there are {len(questions)} traits: {listed([one.name for one in questions])}",
            cure=f"Choose one, as in {python_call(choices[0])}.",
        )
        error.choices = choices
        raise error
    return questions


def _names_shown(
    table: Table, questions: list[Question], declared: list[str] | None
) -> tuple[list[str], list[list[IntArray]]]:
    """The names of all items, and for each question the id of the item in each row of each of its columns, or -1."""
    used = dict.fromkeys(name for question in questions for name in question.shown)
    columns = {name: table.columns[table.index(name)] for name in used}
    first: dict[str, tuple[int, int]] = {}
    for at, column in enumerate(columns.values()):
        rows = np.unique(column.codes, return_index=True)[1].tolist()
        for cell, row in zip(column.distinct, rows, strict=True):
            first[cell] = min((row, at), first.get(cell, (row, at)))
    names = declared or names_in_order(sorted(first.keys() - set(MISSING), key=first.__getitem__))
    index = {name: at for at, name in enumerate(names)} | dict.fromkeys(MISSING, -1)
    ids = {}
    for name, column in columns.items():
        unknown = column.first_row(lambda cell: cell not in index)
        if unknown is not None:
            cure = "Correct the name, or add it to the items."
            problem = f"item {shown(column.cells[unknown])} is not declared"
            raise table.error(problem, row=unknown, column=name, cure=cure)
        ids[name] = np.array([index[cell] for cell in column.distinct], dtype=np.intp)[column.codes]
    return names, [[ids[name] for name in question.shown] for question in questions]


def _places(table: Table, question: Question, ids: list[IntArray], names: list[str], blanks: set[str]) -> FloatArray:
    """The place of each item shown, row by row."""
    first = _which_shown(table, question.best, question, ids, names, blanks)
    last = _which_shown(table, question.worst, question, ids, names, blanks)
    for column, which in ((question.best, first), (question.worst, last)):
        for row in np.flatnonzero(which == _UNCLEAR)[:1]:
            cell = table.column(str(column))[row]
            raise table.error(
                f"{shown(cell)} does not name one of the items shown",
                row=int(row),
                column=column,
                cure=f"Write its letter, number or name; if it says 'no answer', give missing_values=[{cell!r}]; "
                "or drop all such rows with invalid='drop'.",
            )
    for row in np.flatnonzero((first == last) & (first >= 0))[:1]:
        cure = "Correct or drop the row; invalid='drop' drops all such rows."
        raise table.error("the best and the worst are the same item", row=int(row), column=question.worst, cure=cure)
    columns = np.arange(len(ids))
    is_first, is_last = columns == first[:, None], columns == last[:, None]
    middle = np.where(last >= 0, 2.0, np.inf)  # without a worst, the others are below in any order
    places = np.where(is_first, 1.0, np.where(is_last, 3.0, middle[:, None]))
    places[(first < 0) & (last < 0)] = np.nan
    places[(first == _ALL_TIED) & (last == _ALL_TIED)] = 1.0
    return places


def _which_shown(
    table: Table, column: str | None, question: Question, ids: list[IntArray], names: list[str], blanks: set[str]
) -> IntArray:
    """Which of the columns shown each row means: by letter, number, name of the column, or name of the item."""
    n = len(ids[0])
    if column is None:
        return np.full(n, _BLANK)
    cells, codes = table.coded(column)
    item_of = {name: at for at, name in enumerate(names)}
    marks = {name.lower(): at for at, name in enumerate(question.shown)}
    marks |= {letter: at for at, letter in enumerate(_LETTERS[: len(ids)])}
    marks |= {str(at + 1): at for at in range(len(ids)) if str(at + 1) not in item_of}
    special = dict.fromkeys(blanks, _BLANK) | dict.fromkeys(_TIE, _ALL_TIED)
    # A cell that is the name of an item means the column where that item is shown in the row.
    named = np.array([item_of.get(cell, -1) for cell in cells])[codes]
    matches = np.stack(ids, axis=1) == named[:, None]
    by_name = np.where(matches.any(axis=1), matches.argmax(axis=1), _UNCLEAR)
    marked = np.array([special.get(cell.lower(), marks.get(cell.lower(), _UNCLEAR)) for cell in cells])[codes]
    which = np.where(named >= 0, by_name, marked)
    # A mark of a column that is blank in the row means nothing.
    rows = np.flatnonzero(which >= 0)
    which[rows[np.array(ids)[which[rows], rows] < 0]] = _UNCLEAR
    return which


def _name_letters(table: Table, question: Question) -> bool:
    cells = {cell.lower() for name in (question.best, question.worst) for cell in table.coded(str(name))[0]}
    return cells - {*map(str.lower, MISSING), *_NOT_OBSERVED, *_TIE} <= {*_LETTERS[: len(question.shown)]}


def _long_roles(
    table: Table, respondent: str | Sequence[str] | None, item: str | None, choice: str | None
) -> tuple[list[str], str, str] | None:
    """The columns of a long table: whose choice it is, the item shown, and what it was; None if they are not there."""
    names = {name.lower(): name for name in reversed(table.header)}
    if respondent is None:
        keys = [names[word] for word in (*RESPONDENTS, *TASKS) if word in names]
    else:
        keys = [respondent] if isinstance(respondent, str) else names_given(respondent, "respondent")
    item = item or next((names[word] for word in ITEMS if word in names), None)
    choice = choice or next((names[word] for word in _CHOICES if word in names), None)
    if not keys or item is None or choice is None:
        return None
    said = {cell.lower() for cell in table.coded(choice)[0]}
    both = not said.isdisjoint(_LONG_BEST) and not said.isdisjoint(_LONG_WORST)
    return (keys, item, choice) if both and said <= {*_LONG_BEST, *_LONG_WORST, *_LONG_NEITHER} else None


def _read_long(
    table: Table, keys: list[str], item: str, choice: str, declared: list[str] | None, weights: str | None
) -> tuple[Rankings, Covariates]:
    columns = [table.column(key) for key in keys]
    number_of: dict[tuple[str, ...], int] = {}
    task = np.array([number_of.setdefault(key, len(number_of)) for key in zip(*columns, strict=True)], dtype=np.intp)
    firsts = np.unique(task, return_index=True)[1]
    names = declared or names_in_order(table.column(item))
    index = {name: at for at, name in enumerate(names)}
    check_size(len(firsts), len(names), len(task), table.error)
    values = np.full((len(firsts), len(names)), np.nan)
    place_of = dict.fromkeys(_LONG_BEST, 1.0) | dict.fromkeys(_LONG_WORST, 3.0)
    for row, (name, said) in enumerate(zip(table.column(item), table.column(choice), strict=True)):
        if name not in index:
            raise table.error(f"item {shown(name)} is not declared", row=row, column=item, cure="Add it to items.")
        if not np.isnan(values[task[row], index[name]]):
            problem = f"item {shown(name)} is shown twice in the same choice"
            raise _too_many(table, problem, row, item, (keys, item, choice))
        place = place_of.get(said.lower(), 2.0)
        if place != 2.0 and np.any(values[task[row]] == place):
            problem = f"two items of the same choice are {shown(said)}"
            raise _too_many(table, problem, row, choice, (keys, item, choice))
        values[task[row], index[name]] = place
    all_weights = weights_column(table, weights)
    rankings = Rankings(values, names, None if all_weights is None else all_weights[firsts])
    return rankings, covariates(table, [item, choice, weights or ""], rows=firsts.tolist())


def _too_many(
    table: Table, problem: str, row: int, column: str, roles: tuple[list[str], str, str]
) -> RankwiseFormatError:
    """The error about two rows of a choice that exclude each other, with the columns that would part the choices."""
    keys, item, choice = roles
    items, said = table.column(item), [cell.lower() for cell in table.column(choice)]
    chosen = [place in (*_LONG_BEST, *_LONG_WORST) for place in said]
    choices = []
    for name in table.header:
        if name in (*keys, item, choice):
            continue
        whose = list(zip(*(table.column(key) for key in (*keys, name)), strict=True))
        rows = list(zip(whose, items, strict=True))
        marks = [mark for mark, counts in zip(zip(whose, said, strict=True), chosen, strict=True) if counts]
        # Every choice has several rows, or the column only numbers them.
        if len(set(rows)) == len(rows) and len(set(marks)) == len(marks) and 2 * len(set(whose)) <= len(rows):
            choices.append({"layout": "best-worst", "respondent": [*keys, name]})
    cure = f"The columns {listed(keys)} say which rows are one choice. "
    if choices:
        cure += f"If others do, too, write {' or '.join(map(python_call, choices))}."
    else:
        cure += "Correct the row, or name all columns that say so: respondent=['...', '...']."
    error = table.error(problem, row=row, column=column, cure=cure)
    error.choices = choices
    return error


def is_long_choice(table: Table, options: Mapping[str, Any]) -> bool:
    """Whether rows say which of the items shown is best and worst, in the columns that the options name."""
    return _long_roles(table, options.get("respondent"), options.get("item"), None) is not None
