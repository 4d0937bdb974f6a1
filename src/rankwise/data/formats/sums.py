"""Columns of a table that sum up the others, as the last ones of a sheet do: found and left out.

`rankwise.data.formats.detect` comes here with tables that are not too long; `result_rows` does the same for rows. A
name alone does not count: the numbers must be the sums or the means of the others. Plain sums are known by any name.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

import numpy as np

from rankwise._typing import FloatArray
from rankwise.data.formats.tables import Table
from rankwise.data.formats.text import listed, shown

#: a line that says a sum or a mean and nothing else, in a few languages
SUM_NAME = re.compile(
    r"(?im)^[\s(]*(?:(?:grand|overall|final|row|column|jury|team|rank|place)[ _])?(?:totals?|sum|means?|averages?|"
    r"avg|ø|gesamt(?:summe|punkte|punktzahl)?|(?:rang|platz|punkt)?summe|platzziffer|ranksum|mittel(?:wert)?|durchschnitt|schnitt|somme|moyenne|suma|promedio|media|"
    r"totale|somma|totaal|gemiddelde?|soma|média)"
    r"(?:[ _](?:of[ _](?:the[ _])?|der |des |de |di )?(?:scores?|points?|ranks?|places?|ratings?|votes?|punkte|plätze|"
    r"ränge|places|rangs|punti|puntos|général|générale|generale?|geral|algemeen))?[\s.:)]*$"
)
_MOST_COLUMNS = 60
# Columns of sums stand last, beside those of results; of fewer parts or rows they may be chance.
_LAST_COLUMNS = 3
_FEWEST_PARTS = 3
_FEWEST_ROWS = 3
# The correlation of numbers with places from which on the numbers are taken to be scores.
_LEAST_TURNED = -0.5


def without_sums(table: Table, keep: Collection[str] = ()) -> Table:
    """The table without the columns that are sums or means of the others, and with a note about each.

    Parameters
    ----------
    table : Table
        The table; its first column names the rows.
    keep : collection of str, default=()
        Columns that stay, because the caller named them.

    Returns
    -------
    Table
    """
    named = [name for name in table.header[1:] if SUM_NAME.search(name)]
    others = [name for name in table.header[1:][-_LAST_COLUMNS:] if name not in named and _adds_up(table, name)]
    for name in [name for name in (*named, *others) if name not in keep]:
        what, parts = _sum_of_columns(table, name)
        if parts:
            left = [at for at, other in enumerate(table.header) if other != name]
            numeric = [other for other in table.header[1:] if other != name and table.values(other) is not None]
            are_all = set(parts) >= {other for other in numeric if not SUM_NAME.search(other)}
            of_what = "the others" if are_all else listed(parts)
            note = f"The column {shown(name)} is the {what} of {of_what}; it was left out."
            table = replace(
                table,
                header=tuple(table.header[at] for at in left),
                columns=tuple(table.columns[at] for at in left),
                notes=(*table.notes, note),
                remarks=(*table.remarks, name),
                summed=tuple(other for other in table.header if other in (*table.summed, *parts)),
            )
    return table


def _adds_up(table: Table, name: str) -> bool:
    """Whether a column is the sum of at least three columns just before it, all positive, whatever its name."""
    totals, at = table.values(name), table.index(name)
    if totals is None or len(table) < _FEWEST_ROWS or not (totals > 0).all():
        return False
    rest = totals.copy()
    for n_parts, other in enumerate(table.header[at - 1 : 0 : -1][:_MOST_COLUMNS], start=1):
        part = table.values(other)
        if part is None or not (part > 0).all():
            return False
        rest -= part
        if (np.abs(rest) < 1e-9).all():
            return n_parts >= _FEWEST_PARTS
        if (rest < 0).any():
            return False
    return False


def _sum_of_columns(table: Table, name: str) -> tuple[str, list[str]]:
    """Whether a column is the sum or the mean of columns beside it, and of which: the most there are; else of none."""
    values, at = table.values(name), table.index(name)
    most: tuple[str, list[str]] = ("", [])
    for step in (-1, 1) if values is not None else ():
        parts: list[str] = []
        beside: list[FloatArray] = []
        for other in table.header[at + step :: step][:_MOST_COLUMNS]:
            found = None if SUM_NAME.search(other) else table.values(other)
            if found is None or values is None:
                break
            beside.append(found)
            parts.append(other)
            what = sum_or_mean(np.column_stack(beside), values, table.column(name)) if len(beside) > 1 else None
            if what is not None and len(parts) > len(most[1]):
                most = what, parts[::step]
    return most


def best_are_high(numbers: FloatArray, places: FloatArray) -> bool:
    """Whether the best of these places belong to the highest of the numbers, so that the numbers are no places."""
    known = ~np.isnan(numbers) & ~np.isnan(places)
    numbers, places = numbers[known], places[known]
    if len(numbers) < 2 or np.ptp(numbers) == 0 or np.ptp(places) == 0:
        return False
    return bool(np.corrcoef(numbers, places)[0, 1] < _LEAST_TURNED)


def sum_or_mean(parts: FloatArray, totals: FloatArray, written: list[str]) -> str | None:
    """Which of sum and mean of its parts every total is, as far as its decimals are written."""
    given = ~np.isnan(totals) & ~np.isnan(parts).all(axis=1)
    if not given.any() or np.isnan(totals[~np.isnan(parts).all(axis=1)]).any():
        return None
    decimals = max(len(cell.replace(",", ".").partition(".")[2]) for cell in written)
    slack = 0.5 * 10.0**-decimals + 1e-9
    sums = np.nansum(parts[given], axis=1)
    means = sums / np.count_nonzero(~np.isnan(parts[given]), axis=1)
    for what, expected in (("sum", sums), ("mean", means)):
        if (np.abs(totals[given] - expected) <= (slack if what == "mean" else 1e-9)).all():
            return what
    return None
