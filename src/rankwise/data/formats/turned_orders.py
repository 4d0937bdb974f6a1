"""Sheets in which a column per judge lists the items from the best on, turned so that each judge has a row.

`rankwise.data.formats.detect` and `survey_file` come here before they look for rankings.
"""

from __future__ import annotations

from dataclasses import replace

from rankwise.data.formats.column_names import are_numbered, say_places
from rankwise.data.formats.ordinals import place_in_words
from rankwise.data.formats.place_columns import other_than_items
from rankwise.data.formats.tables import MISSING, Column, Table
from rankwise.data.formats.text import number

_MOST_PLACES, _MOST_JUDGES = 200, 2000


def turned_orders(table: Table) -> Table:
    """A table with a row per judge, if the sheet has a column for each of them and a row per place; else as it is.

    A first column that says places (1, 2, ... below "Rank", or "1st", "2nd") shows it. Without one, every column must
    list the same items, and some row must name one of them twice, so that rows are no orders.

    Parameters
    ----------
    table : Table
        The table.

    Returns
    -------
    Table
    """
    if not 2 <= len(table) <= _MOST_PLACES or not 2 <= len(table.header) <= _MOST_JUDGES:
        return table
    has_places = _says_places(table)
    judges = table.header[has_places:]
    orders = [[cell for cell in table.column(name) if cell not in MISSING] for name in judges]
    if len(judges) < 2 or any(map(table.is_numeric, judges)) or say_places(judges):
        return table
    items = set().union(*orders)
    shared = all(any(set(one) & set(other) for other in orders if other is not one) for one in orders)
    if not shared or len(items) < 2 or not items.isdisjoint(judges) or all(one == orders[0] for one in orders):
        return table
    # Blanks stand below the places that a judge gave.
    are_orders = all(
        len(set(one)) == len(one) and not set(table.column(name)[: len(one)]).intersection(MISSING)
        for name, one in zip(judges, orders, strict=True)
    )
    rows = list(zip(*(table.column(name) for name in judges), strict=True))
    repeat = any(len(set(row)) < len(row) for row in rows)
    alike = all(set(one) == items for one in orders) and not are_numbered(judges)
    if not are_orders or not (has_places or (repeat and alike and other_than_items(table, judges) is None)):
        return table
    header = ("judge", *(f"place {at}" for at in range(1, len(table) + 1)))
    columns = [Column.of(list(judges)), *(Column.of(["" if cell in MISSING else cell for cell in row]) for row in rows)]
    note = "The sheet has a column per judge and a row per place; it was turned."
    lines = [table.header_line] * len(judges)
    return replace(
        table, header=header, columns=tuple(columns), lines=lines, questions={}, labels={}, notes=(*table.notes, note)
    )


def _says_places(table: Table) -> bool:
    """Whether the first column counts places from the best on, by its name or in words."""
    cells = table.column(table.header[0])
    said = [place_in_words(cell) for cell in cells]
    if said == [*range(1, len(cells) + 1)] and any(number(cell) is None for cell in cells):
        return True
    numbers = [number(cell) for cell in cells]
    return numbers == [*range(1, len(cells) + 1)] and say_places(table.header[:1])
