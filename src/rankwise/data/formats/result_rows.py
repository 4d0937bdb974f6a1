"""The last rows of a sheet that hold no votes: sums, means, results and footers, found and left out.

`rankwise.data.formats.detect` comes here with tables whose last rows are named so. The numbers of sums and means must
be those of the rows above them; a result, as "Final rank", is known by its name alone.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal

import numpy as np

from rankwise.data.formats.column_names import say_places
from rankwise.data.formats.sums import SUM_NAME, best_are_high, sum_or_mean
from rankwise.data.formats.survey_judges import names_say_jury
from rankwise.data.formats.tables import MISSING, Table
from rankwise.data.formats.text import listed, number, shown

_Kind = Literal["sum", "result", "figure", "footer"]

# Words before and after one that says a result.
_ALL_IN_ALL = (
    r"final|overall|total|end|official|jury|team|group|combined|joint|collective|our|the|weighted|mean|average|avg|"
    r"median|gesamt|finale[rs]?|endgültige[rs]?|général|générale|generale?|global|globale|definitivo|definitiva"
)
_RESULT = (
    r"rank(?:ing|s)?|place(?:ment|s)?|placing|positions?|standings?|results?|final|overall|outcome|consensus|winner|"
    r"ergebnis(?:se)?|(?:end|gesamt)?platz(?:ierung|ziffer)?|(?:end|gesamt)?rang(?:folge)?|(?:end|gesamt)ergebnis|"
    r"sieger|classement|résultats?|resultats?|rang|vainqueur|gagnant|rango|puesto|posición|posicion|resultados?|"
    r"clasificación|ganador|posizione|risultat[oi]|classifica|vincitore|plaats|uitslag|rangorde|eindstand|winnaar|"
    r"colocação|classificação|vencedor"
)
_RESULT_NAME = re.compile(
    rf"[\s(]*(?:(?:{_ALL_IN_ALL})[ _.-]*)*(?:{_RESULT})(?:[ _.-]*(?:{_ALL_IN_ALL}|\d{{4}}))*[\s.:)]*", re.IGNORECASE
)
# These may be names of people, so they count beside sums and results only.
_FIGURE_NAME = re.compile(
    r"[\s(]*(?:(?:number of|no\. of|anzahl)[ _])?(?:median|min(?:imum)?|max(?:imum)?|std|sd|stdev|std\.? ?dev\.?|"
    r"variance|varianz|range|count|n|votes?|voters?|stimmen|anzahl|nombre|voix|votos|voti|stemmen)[\s.:)]*",
    re.IGNORECASE,
)
_MOST_ROWS = 12
_LABEL_COLUMNS = 3


def without_result_rows(table: Table) -> Table:
    """The table without its last rows that hold sums, means or results of those above, with a note about them.

    Rows below them without a number, such as "Votes: 4", are left out too. In the sheet of a jury a row is an item, so
    that a result counts beside a sum only.

    Parameters
    ----------
    table : Table
        The table.

    Returns
    -------
    Table
    """
    kinds: list[_Kind] = []  # of the rows from the last one up
    for row in range(len(table) - 1, max(len(table) - 1 - _MOST_ROWS, 1), -1):
        kind = _kind(table, row)
        if kind is None:
            break
        kinds.append(kind)
    begin = len(table) - len(kinds)
    if set(kinds) <= {"footer", "figure"}:
        return table
    rows_are_items = names_say_jury(table) is True
    found: dict[int, str] = {}
    while begin < len(table) and not found:
        found, begin = _rows_left_out(table, begin, kinds[::-1][begin - len(table) :], rows_are_items)
    if not found:
        return table
    notes = [_note(table, row, what) for row, what in found.items() if what]
    footers = [_label(table, row) for row, what in found.items() if not what]
    if footers:
        hold, were = ("holds", "it was") if len(footers) == 1 else ("hold", "they were")
        notes.append(f"{listed(footers)} below {hold} no votes; {were} left out.")
    above = table.take(np.arange(begin))
    reversed_by = next((_label(table, row) for row in found if _gives_place_to_high(table, above, row)), "")
    names = tuple(_label(table, row) for row, what in found.items() if what in ("sum", "mean"))
    return replace(above, notes=(*table.notes, *notes), remarks=(*table.remarks, *names), reversed_by=reversed_by)


def _rows_left_out(table: Table, begin: int, kinds: list[_Kind], rows_are_items: bool) -> tuple[dict[int, str], int]:
    """What each row from ``begin`` on is, if none of them votes; else nothing, and where the next try begins."""
    if kinds[0] in ("footer", "figure"):
        return {}, begin + 1
    summed = {row: _what(table, row, begin) for row, kind in enumerate(kinds, begin) if kind == "sum"}
    # Without a name a rounded mean may be the vote of somebody.
    summed = {row: what for row, what in summed.items() if what == "sum" or _label(table, row)}
    is_sure = any(summed.values()) or (not rows_are_items and "result" in kinds)
    found = {}
    for row, kind in enumerate(kinds, begin):
        by_name = is_sure and (not rows_are_items or any(summed.values()))
        if kind != "footer" and not summed.get(row) and not by_name:
            return {}, row + 1  # a row of its own, so those above it stay too
        found[row] = summed.get(row) or {"footer": "", "result": "result"}.get(kind, "figure")
    return found, begin


def _gives_place_to_high(table: Table, above: Table, row: int) -> bool:
    """Whether a row holds places that are best for the columns with the highest numbers in the rows above."""
    if not say_places([_label(table, row)]):
        return False
    numbers = {name: values for name in table.header if (values := table.values(name)) is not None}
    if len(numbers) < 2:
        return False
    places = np.array([values[row] for values in numbers.values()])
    totals = np.array([np.nansum(values[: len(above)]) for values in numbers.values()])
    return best_are_high(totals, places)


def _note(table: Table, row: int, what: str) -> str:
    label = _label(table, row)
    where = f"The row {shown(label)} on line {table.lines[row]}" if label else f"The last row (line {table.lines[row]})"
    if what in ("sum", "mean"):
        return f"{where} is the {what} of the others; it was left out."
    return f"{where} is a {what} by its name, and no vote; it was left out. If it votes, give it another name."


def _label(table: Table, row: int) -> str:
    """The first cell of a row that is not blank; nothing where a blank one stands before numbers."""
    cells = [column.distinct[column.codes[row]] for column in table.columns[:_LABEL_COLUMNS]]
    label = next((cell for cell in cells if cell), "")
    return label if cells[0] or number(label) is None else ""


def _is_unnamed(table: Table, row: int) -> bool:
    """Whether a row is the only one without a name, above nothing."""
    column = table.columns[0]
    return row == len(table) - 1 and not _label(table, row) and np.count_nonzero(column.codes == column.codes[row]) == 1


def _kind(table: Table, row: int) -> _Kind | None:
    """What a row may be by its name and its cells; None if it is a vote."""
    label = _label(table, row)
    cells = [column.distinct[column.codes[row]] for column in table.columns]
    others = [cell for cell in cells if cell not in MISSING]
    if label in others:
        others.remove(label)
    if not label:
        return "sum" if others and _is_unnamed(table, row) else None
    if not all(any(map(str.isdigit, cell)) for cell in others):
        return None
    if not others:
        return "footer"
    if SUM_NAME.fullmatch(label):
        return "sum"
    first = table.columns[next(at for at, cell in enumerate(cells) if cell == label)]
    if _RESULT_NAME.fullmatch(label):
        # In a long table an item may have that name, in many rows.
        return "result" if np.count_nonzero(first.codes == first.codes[row]) == 1 else None
    return "figure" if _FIGURE_NAME.fullmatch(label) else None


def _what(table: Table, row: int, n: int) -> str | None:
    """Whether the numbers of a row are the sums or the means of the first ``n`` rows; None if they are neither."""
    whats: set[str | None] = set()
    rows = [*range(n), row]
    for name, column in zip(table.header[1:], table.columns[1:], strict=True):
        few = replace(table, header=(name,), columns=(column.take(rows),), lines=rows)
        values = few.values(name)
        if values is not None and not np.isnan(values[n]) and not SUM_NAME.search(name):
            whats.add(sum_or_mean(values[:n, None].T, values[n:], [column.distinct[column.codes[row]]]))
    return whats.pop() if len(whats) == 1 else None


def may_have_result_rows(table: Table) -> bool:
    """Whether one of the last rows is named like a sum or a result; a look at few cells."""
    rows = range(max(len(table) - _MOST_ROWS, 2), len(table))
    if len(table) > 2 and _is_unnamed(table, len(table) - 1):
        return True
    labels = (_label(table, row) for row in rows)
    return any(SUM_NAME.fullmatch(label) or _RESULT_NAME.fullmatch(label) for label in labels)
