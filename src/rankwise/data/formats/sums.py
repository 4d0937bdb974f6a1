"""Columns and rows of a table that sum up the others, as the last ones of a sheet do: found and left out.

`rankwise.data.formats.detect` comes here with tables in which something is named like a sum. The name alone does not
count: the numbers must be the sums or the means of the others.
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
    r"(?im)^[\s(]*(?:(?:grand|overall|final|row|column|jury|team)[ _])?(?:totals?|sum|means?|averages?|avg|ø|"
    r"gesamt(?:summe|punkte|punktzahl)?|summe|mittel(?:wert)?|durchschnitt|schnitt|somme|moyenne|suma|promedio|media|"
    r"totale|somma|totaal|gemiddelde?|soma|média)"
    r"(?:[ _](?:scores?|points?|ranks?|ratings?|punkte|points|punti|puntos))?[\s.:)]*$"
)
_MOST_COLUMNS = 60


def without_sums(table: Table, keep: Collection[str] = ()) -> Table:
    """The table without the columns and last rows that are sums or means of the others, and with a note about each.

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
    first = table.columns[0].cells
    n = len(table)
    while n > 2 and SUM_NAME.search(first[n - 1]):
        n -= 1
    for row in range(n, len(table)):
        what = _sum_of_rows(table, row, n)
        if what is None:
            n = row + 1  # a row of its own, so those above it stay too
        else:
            note = (
                f"The row {shown(first[row])} on line {table.lines[row]} is the {what} of the others; it was left out."
            )
            table = replace(table, notes=(*table.notes, note))
    if n < len(table):
        kept = tuple(column.take(range(n)) for column in table.columns)
        table = replace(table, columns=kept, lines=table.lines[:n])
    for name in [name for name in table.header[1:] if name not in keep and SUM_NAME.search(name)]:
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
                summed=tuple(other for other in table.header if other in (*table.summed, *parts)),
            )
    return table


def _sum_of_rows(table: Table, row: int, n: int) -> str | None:
    """Whether the numbers of a row are the sums or the means of the first ``n`` rows; None if they are neither."""
    whats: set[str | None] = set()
    for name in table.header[1:]:
        values = table.values(name)
        if values is not None and not np.isnan(values[row]) and not SUM_NAME.search(name):
            column = table.columns[table.index(name)]
            whats.add(_which(values[:n, None].T, values[row : row + 1], [column.cells[row]]))
    return whats.pop() if len(whats) == 1 else None


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
            what = _which(np.column_stack(beside), values, table.column(name)) if len(beside) > 1 else None
            if what is not None and len(parts) > len(most[1]):
                most = what, parts[::step]
    return most


def _which(parts: FloatArray, totals: FloatArray, written: list[str]) -> str | None:
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
