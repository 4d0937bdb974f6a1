"""Cells that people write instead of plain numbers: "=2" and "T2" for shared places, DNF, and ratings in words.

`rankwise.data.formats.detect` puts numbers in their place, and notes in the reading say so; `layouts` finds the columns
of ratings in words where nothing else can be rankings.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from rankwise.data.formats.column_names import Fit, bracketed_groups, chosen_columns, prefix_option, question_groups
from rankwise.data.formats.jury_columns import column_of_items
from rankwise.data.formats.large import LongColumn
from rankwise.data.formats.ordered_texts import is_no_answer, is_rating, rating_scores
from rankwise.data.formats.ordinals import place_in_words
from rankwise.data.formats.places import adjacent_runs
from rankwise.data.formats.survey_judges import names_say_jury
from rankwise.data.formats.tables import MISSING, Column, Table
from rankwise.data.formats.text import listed, number

_TIED = re.compile(
    r"(?:(?P<mark>=|T-?|joint\s|tied\s)\s*)?(?P<place>\d{1,4}\s?\w{0,3}?\.?)\s*(?P<after>=|\(?tied?\)?)?"
)
_WITH_UNIT = re.compile(
    r"([+-]?\d+(?:[.,]\d+)?)\s*(%|pts?\.?|points?|punkte?|pkte?\.?|puntos?|punt[oi]|punten)", re.IGNORECASE
)
#: what result lists say of those who have no place
NOT_PLACED = ("DNF", "DNS", "DSQ", "DQ", "DNC", "dnf", "dns", "dsq", "dq", "dnc")
_SHOWN_MARKS = 3
# How many different places stand in a column for each cell that is none, at least.
_PLACES_PER_SLIP = 2
# What counted ballots hold where a voter named nobody, in lower case.
_NO_VOTES = frozenset(
    (
        *("undervote", "undervoted", "overvote", "overvoted", "skipped", "skipped ranking", "skippedrank", "exhausted"),
        *("invalid", "spoiled", "spoilt", "ungültig"),
        *("no vote", "blank", "(blank)", "[blank]", "no answer", "not ranked", "keine angabe", "sans réponse"),
    )
)


def without_marks(table: Table) -> Table:
    """The table with plain places in columns where some cells say that a place is shared, or that there is none.

    A column qualifies if nearly all its cells are numbers, places so marked, or words such as DNF. Nothing else is
    changed.
    """
    columns = list(table.columns)
    units: list[str] = []
    ties: list[str] = []
    blanks: list[str] = []
    for at, column in enumerate(columns):
        if isinstance(column, LongColumn):
            continue
        bare = _without_unit(column)
        if bare:
            units += [cell for cell, plain in bare.items() if cell != plain][:1]
            columns[at] = column.map(bare.__getitem__)
            continue
        said = _plain_places(column, max(len(table), len(columns)))
        if said:
            plain = Column.of([said.get(cell, cell) for cell in column.distinct])
            columns[at] = Column(plain.distinct, plain.codes[column.codes])
            ties += [cell for cell, place in said.items() if place]
            blanks += [cell for cell, place in said.items() if not place]
    if not ties and not blanks and not units:
        return table
    notes = [*table.notes]
    examples = list(dict.fromkeys(units))
    notes += [f"Cells such as {listed(examples[:_SHOWN_MARKS])} were read as numbers."] if units else []
    notes += (
        [f"Cells such as {listed(list(dict.fromkeys(ties))[:_SHOWN_MARKS])} were read as shared places."]
        if ties
        else []
    )
    notes += [f"{listed(list(dict.fromkeys(blanks)))}: no place, counted as blank."] if blanks else []
    return replace(table, columns=tuple(columns), notes=tuple(notes), remarks=(*table.remarks, *examples))


def _without_unit(column: Column) -> dict[str, str]:
    """The number in each cell of a column of percentages or points ("90 %", "9 pts"); empty if there are others."""
    cells = [cell for cell in column.distinct if cell not in MISSING]
    found = {cell: _WITH_UNIT.fullmatch(cell) for cell in cells}
    if not cells or None in found.values() or len({match[2] for match in found.values() if match}) > 1:
        return {}
    return {cell: match[1] if (match := found.get(cell)) else cell for cell in column.distinct}


def without_no_answers(table: Table, names: Collection[str] | None = None) -> Table:
    """The table with blanks in these columns, or in all, for cells that say that there is no answer.

    These are codes with such a label (9 = "refused"), and words of ballots such as "undervote" and "skipped".

    Parameters
    ----------
    table : Table
        The table.
    names : collection of str, optional
        The columns; notes say what became of their cells.

    Returns
    -------
    Table
    """
    wanted = set(table.header if names is None else names)
    columns = list(table.columns)
    labeled: dict[str, str] = {}
    words: dict[str, str] = {}
    for at, (name, column) in enumerate(zip(table.header, table.columns, strict=True)):
        if isinstance(column, LongColumn) or name not in wanted:
            continue
        label_of = table.labels.get(name, {})
        blank = {code: label for code, label in label_of.items() if code and is_no_answer(label)}
        unsaid = {cell: cell for cell in column.distinct if cell.lower() in _NO_VOTES}
        said = {cell: what for cell, what in (blank | unsaid).items() if cell in column.distinct}
        if said:
            columns[at] = column.map(lambda cell, said=said: "" if cell in said else cell)  # type: ignore[misc]
            labeled |= {cell: what for cell, what in said.items() if cell in blank}
            words |= unsaid
    if not labeled and not words:
        return table
    notes = [*table.notes]
    if labeled and names is not None:
        codes = ", ".join(f"{code} ({label})" for code, label in labeled.items())
        notes.append(f"By the labels these are no answers, and blank: {codes}.")
    if words and names is not None:
        notes.append(f"{listed(list(words))}: no vote, counted as blank.")
    return replace(table, columns=tuple(columns), notes=tuple(notes))


def _plain_places(column: Column, most: int) -> dict[str, str]:
    """The marked cells of a column of places and what stands for them; empty if there are none, or many other cells."""
    said: dict[str, str] = {}
    n_plain = n_others = 0
    for cell in column.distinct:
        if cell in MISSING:
            continue
        if number(cell) is not None or place_in_words(cell) is not None:
            n_plain += 1
        elif cell in NOT_PLACED:
            said[cell] = ""
        else:
            found = _TIED.fullmatch(cell)
            place = found and (int(found["place"]) if found["place"].isdigit() else place_in_words(found["place"]))
            if not found or not place or place > most or not (found["mark"] or found["after"]):
                n_others += 1  # a slip, which the check of the rows names
            else:
                said[cell] = str(place)
    if n_others * _PLACES_PER_SLIP > n_plain + len(said):
        return {}
    # T1, T2 and the like may be names of items, unless numbers stand beside them.
    return said if n_plain or any("=" in cell for cell in said) else {}


def rated_fits(table: Table) -> list[Fit]:
    """Columns of one question, else side by side, whose cells rate items in words of one scale."""
    words = {
        name: cells
        for name, column in zip(table.header, table.columns, strict=True)
        if not isinstance(column, LongColumn) and (cells := _rating_words(column))
    }
    asked = [*bracketed_groups(list(words)), *question_groups(table, list(words))]
    runs = adjacent_runs([name in words for name in table.header])
    groups = [
        group
        for group in asked or [list(table.header[run]) for run in runs]
        if len(group) > 1 and rating_scores(set().union(*(words[name] for name in group)))
    ]
    item = column_of_items(table)
    is_jury = None if not asked and item not in words else False
    if table.is_numeric(item) or len(table.coded(item)[0]) < len(table):  # no names of items
        is_jury = False
    is_jury = names_say_jury(table) if is_jury is None else is_jury
    reason = "The cells rate the items in words."
    fits = [Fit("scores", prefix_option(table, group), reason) for group in groups if not is_jury]
    juries = [Fit("judges", {"item": item, "judges": group, "values": "scores"}, reason) for group in groups]
    return fits + (juries if is_jury is not False else [])


def with_scores_for_words(table: Table, layout: str, options: Mapping[str, Any]) -> Table:
    """The table with scores instead of ratings in words in the columns read, if all of them are on one scale."""
    named = options.get("items" if layout == "scores" else "judges")
    if (layout != "scores" and options.get("values") != "scores") or (named is None and options.get("prefix") is None):
        return table
    columns = chosen_columns(table, named, options.get("prefix"), options.get("weights"), "items")
    own = {name: table.columns[table.index(name)] for name in columns}
    if any(isinstance(column, LongColumn) for column in own.values()) or all(map(table.is_numeric, columns)):
        return table
    scores = rating_scores(set().union(*(set(column.distinct).difference(MISSING) for column in own.values())))
    if scores is None:
        return table
    score_of = {word: str(score) for word, score in scores.items()}

    def score(cell: str) -> str:
        return score_of.get(cell, "" if is_no_answer(cell) else cell)

    said = ", ".join(f"{word!r} = {at}" for word, at in scores.items())
    changed = tuple(
        column.map(score) if name in own else column for name, column in zip(table.header, table.columns, strict=True)
    )
    return replace(table, columns=changed, notes=(*table.notes, f"Words were read as scores: {said}."))


def _rating_words(column: Column) -> set[str]:
    """The different words of a column where all are ratings, blanks aside; else none."""
    cells = set(column.distinct).difference(MISSING)
    answers = {cell for cell in cells if not is_no_answer(cell)}
    return cells if answers and all(map(is_rating, answers)) else set()
