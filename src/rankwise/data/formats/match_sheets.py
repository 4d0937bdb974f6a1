"""Sheets of tournaments that are no rankings: cross tables, which become tables of duels, and league tables.

`rankwise.data.formats.detect` unfolds cross tables before it looks for rankings, and the finders of layouts
(`survey_fits`) refuse league tables.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankwise._typing import FloatArray
from rankwise.data.formats.jury_columns import column_of_items
from rankwise.data.formats.reading import python_call
from rankwise.data.formats.survey_duels import both_scores
from rankwise.data.formats.tables import MISSING, Column, Table
from rankwise.data.formats.text import listed, shown

#: the columns of an unfolded cross table
DUELS = ("left", "right", "result")
_FEWEST, _MOST = 3, 1000
_OUTCOMES = {"1": 1.0, "0": 0.0, "½": 0.5, "1/2": 0.5, "0.5": 0.5, "0,5": 0.5, "=": 0.5, "w": 1.0, "d": 0.5, "l": 0.0}

# What the columns of a league table are called, in lower case.
_PLAYED = ("played", "p", "pld", "mp", "gp", "games", "matches", "games played", "spiele", "sp", "sp.", "joués", "pj")
_WON = ("won", "w", "wins", "win", "siege", "gewonnen", "s", "victoires", "gagnés", "ganados", "pg", "vinte", "v", "g")
_DRAWN = ("drawn", "d", "draws", "draw", "ties", "t", "unentschieden", "u", "nuls", "n", "empates", "pe", "pareggi")
_LOST = ("lost", "l", "losses", "loss", "niederlagen", "verloren", "n", "défaites", "perdus", "perdidos", "pp", "perse")
_POINTS = ("points", "pts", "pts.", "punkte", "pkt", "pkt.", "pkte", "puntos", "punti", "punten")


def unfolded(table: Table) -> Table:
    """A cross table of items against items as a table of duels, a row each; another table as it is.

    A cell holds both scores ("3-1", that of its row first) or the outcome for its row (1, ½, 0). Where every match
    stands twice, once for each side, it becomes one duel.

    Parameters
    ----------
    table : Table
        The table.

    Returns
    -------
    Table
    """
    item = column_of_items(table)
    names = table.column(item) if _FEWEST <= len(table) <= _MOST else []
    if not names or len(set(names)) < len(names) or not set(names) <= set(table.header):
        return table
    found = _scores(table, names)
    if found is None:
        return table
    left, right = found
    given = ~np.isnan(left)
    if not given.any():
        return table
    are_mirrored = bool((given == given.T).all() and (left == right.T)[given].all())
    duels = np.argwhere(np.triu(given) if are_mirrored else given)
    cells = [[names[row] for row, _ in duels], [names[column] for _, column in duels]]
    cells.append([f"{left[row, column]:g}-{right[row, column]:g}" for row, column in duels])
    note = "The sheet is a cross table: a cell says how the item of its row did against that of its column."
    note += " Every match stands there twice, and counts once." if are_mirrored else ""
    unused = [name for name in table.header if name not in (item, *names)]
    notes = (*table.notes, note, *([f"Columns that were not used: {listed(unused)}."] if unused else []))
    lines = [table.lines[row] for row, _ in duels]
    return replace(table, header=DUELS, columns=tuple(map(Column.of, cells)), lines=lines, notes=notes, summed=())


def refuse_league_table(table: Table) -> None:
    """Refuse a league table, which holds one ranking at most, with the call that reads it."""
    if len(table) > _MOST:
        return
    by_word = {name.lower(): name for name in reversed(table.header)}
    counts: dict[str, str] = {}
    for role, words in (("played", _PLAYED), ("won", _WON), ("drawn", _DRAWN), ("lost", _LOST), ("points", _POINTS)):
        free = (by_word[word] for word in words if word in by_word and by_word[word] not in counts.values())
        name = next(free, None)
        if name is not None and table.is_numeric(name):
            counts[role] = name
    if not {"won", "lost"} <= counts.keys() or len(counts) < 4:
        return
    values = {role: table.values(name) for role, name in counts.items()}
    matches = sum(values[role] for role in ("won", "drawn", "lost") if role in values)  # type: ignore[misc]
    if "played" in values and not np.array_equal(values["played"], matches):  # type: ignore[arg-type]
        return
    item, points = column_of_items(table), counts.get("points")
    choices = [] if points is None else [{"layout": "judges", "item": item, "judges": [points], "values": "scores"}]
    cure = "Give the matches themselves, a row each: both names and the score"
    cure += (
        f"; for the order by {shown(str(points))} as one ranking, write {python_call(choices[0])}" if choices else ""
    )
    problem = f"this is a league table ({listed(list(counts.values()))}), which holds the final order only"
    error = table.error(problem, cure=f"{cure}.")
    error.choices = choices
    raise error


def _scores(table: Table, names: list[str]) -> tuple[FloatArray, FloatArray] | None:
    """What the items of rows and of columns scored against each other, NaN where they did not meet; None if unclear."""
    n = len(names)
    left, right = np.full((n, n), np.nan), np.full((n, n), np.nan)
    are_outcomes = set()
    for at, name in enumerate(names):
        for row, cell in enumerate(table.column(name)):
            if row == at or cell in MISSING:
                continue
            outcome = _OUTCOMES.get(cell.lower())
            left[row, at], right[row, at] = both_scores(cell) if outcome is None else (outcome, 1 - outcome)
            are_outcomes.add(outcome is not None)
            if np.isnan(left[row, at]):
                return None
    both = ~np.isnan(left) & ~np.isnan(left.T)
    # A 1 may say a win or a place; it is a win if the other side has a 0.
    are_wins = are_outcomes == {True} and both.any() and (left == right.T)[both].all()
    return (left, right) if are_outcomes == {False} or are_wins else None
