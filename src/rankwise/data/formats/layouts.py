"""The choice of a layout for a survey table: the one that the options settle, else the only one that fits.

Where no layout fits, or more than one, or numbers may be scores as well as places, the error shows the calls to choose
from; its ``choices`` are their arguments. `rankwise.data.formats.detect` uses it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from rankwise.data.formats.column_names import (
    PREFIXES,
    WEIGHTS,
    Fit,
    Layout,
    are_numbered,
    columns_with_prefix,
    items_in_questions,
    known_prefixes,
    numbered_groups,
    roles_by_name,
)
from rankwise.data.formats.invalid import misfit, wider_fit
from rankwise.data.formats.places import EMPTY, PLAIN, classify
from rankwise.data.formats.ratings import (
    asked_for_ratings,
    is_among_ratings,
    refuse_likely_scores,
    refuse_ratings,
    refuse_scores,
    refuse_ticks,
)
from rankwise.data.formats.reading import python_call
from rankwise.data.formats.stated_scales import worst_first
from rankwise.data.formats.suggestions import arguments, ask, calls, likely_fits, suggestion
from rankwise.data.formats.survey_cells import (
    looks_like_codes,
    mostly_numbers,
    ranking_numbers,
    repeated_names,
    repeats_cells,
)
from rankwise.data.formats.survey_choices import is_long_choice
from rankwise.data.formats.survey_fits import all_fits, mostly_orders, worded_places
from rankwise.data.formats.tables import MISSING, Table, rows_without_weight
from rankwise.data.formats.text import listed, number, shown
from rankwise.data.formats.worded_cells import rated_fits
from rankwise.exceptions import RankwiseFormatError

# Rows of a table that is searched for another below it.
_MOST_SEARCHED = 10_000
# Options that only one layout has, so that giving one chooses the layout.
_LAYOUT_OF_OPTION: dict[str, Layout] = {
    "choice": "best-worst",
    "best": "best-worst",
    "worst": "best-worst",
    "shown": "best-worst",
    "trait": "tricot",
    "judges": "judges",
    "values": "judges",
    "columns": "orders",
    "column": "strings",
    "separator": "strings",
    "tie": "strings",
    "score": "long",
    "respondent": "long",
    "item": "long",
    "position": "long",
    "drop": "long",
    "winner": "pairwise",
    "loser": "pairwise",
    "left": "pairwise",
    "right": "pairwise",
    "left_score": "pairwise",
    "right_score": "pairwise",
    "result": "pairwise",
}
_MOST_COMPARED = 200
# A cell with one of these may be an order in other words.
_SIGNS_IN_ORDERS = re.compile(r"[=~|{},;<]")


def layout_given(table: Table, layout: str, options: dict[str, Any]) -> Fit | None:
    """The layout that the options settle; None if they do not name any columns."""
    implied = [_LAYOUT_OF_OPTION[option] for option in _LAYOUT_OF_OPTION if option in options]
    if implied == ["tricot"] and None not in roles_by_name(table, "long").values():
        implied = ["long"]  # it has traits, too
    if set(implied) == {"long"} and options.keys().isdisjoint(("position", "score")) and is_long_choice(table, options):
        implied = ["best-worst"]  # it has respondents and items, too
    named = options.get("items") or []
    # In other layouts ``items`` are names of items instead of columns.
    columns = named if set(named) <= set(table.header) else []
    if options.get("prefix") is not None:
        columns = columns_with_prefix(table, str(options["prefix"]))
    if layout != "auto":
        settled = implied or columns or (layout in ("positions", "scores") and named)
        if not settled:
            return None
        return _long_fit(table, options) if layout == "long" else Fit(layout)  # type: ignore[arg-type]
    if implied:
        special = {"orders": _checked_orders, "long": _long_fit}.get(implied[0])
        return Fit(implied[0]) if special is None else special(table, options)
    if not columns:
        # If some of the items are columns, the reader says which one is not.
        return Fit("positions") if any(name in table.header for name in named) else None
    option = "prefix" if "prefix" in options else "items"
    as_positions = Fit("positions", {option: options[option]})
    as_orders = Fit("orders", {"prefix": options["prefix"]} if option == "prefix" else {"columns": columns})
    if _is_ambiguous(table, columns):
        raise _either_way(table, [as_positions, as_orders], options)
    if option == "items" or _must_be_positions(table, columns, str(options["prefix"])):
        refuse_scores(table, columns, as_positions, options)
        return as_positions
    return as_orders


def layout_found(table: Table, seen: Table, layout: str, options: dict[str, Any]) -> Fit:
    """The only layout that fits the table as ``seen``; else the error that shows what to write."""
    _refuse_second_table(seen)
    _refuse_other_table(table)
    count = None if "weights" in options else _possible_weights(table)
    clear = (
        _clear_places(seen, options.get("weights"))
        if count is None and layout == "auto" and not options.get("items")
        else None
    )
    if clear is not None:
        return clear
    if count is not None:
        _ask_for_weights(seen, count, [f for f in all_fits(seen, count) if layout in ("auto", f.layout)], options)
    fits = [fit for fit in all_fits(seen, options.get("weights")) if layout in ("auto", fit.layout)]
    fits = _widened(seen, fits, options)
    if len(fits) == 1:
        if layout == "auto":
            refuse_ratings(seen, fits[0], options)
            _refuse_worst_first(seen, fits[0], options)
        # If items were given and none is a column, the reader says so.
        return Fit("positions") if fits[0].layout == "positions" and options.get("items") else fits[0]
    if fits:
        raise _either_way(seen, fits, options)
    supposed = _layout_supposed(seen, layout, options if count is None else {**options, "weights": count})
    if count is not None and supposed.options:  # the columns are known, and a cell in them is wrong or a word
        _ask_for_weights(seen, count, [supposed], options)
    return supposed


def _refuse_second_table(table: Table) -> None:
    """Refuse a table whose names stand in a later row again, above the rows of another table."""
    names = zip(table.header, table.columns, strict=True)
    if not all(repeats_cells(table, name) and name in column.distinct for name, column in names):
        return
    named = zip(table.header, table.columns, strict=True)
    held = [column.codes == column.distinct.index(name) for name, column in named]
    rows = np.flatnonzero(np.logical_and.reduce(held))
    if len(rows):
        problem = "the names of the columns stand here again, as above a second table"
        raise table.error(problem, row=int(rows[0]), cure="Keep one table, or save each to a file or sheet of its own.")


def _refuse_other_table(table: Table) -> None:
    """Refuse a table with other names below a blank row, where columns that were filled above end."""
    if len(table) > _MOST_SEARCHED:
        return
    for row in np.flatnonzero(np.diff(table.lines) > 1) + 1:
        names, n_ended = [], 0
        for name in table.header:
            distinct, codes = table.coded(name)
            blank = np.isin(codes, [code for code, cell in enumerate(distinct) if cell in MISSING])
            if not blank[row]:
                names.append(distinct[codes[row]] if np.sum(codes == codes[row]) == 1 else "")
            n_ended += bool(blank[row:].all() and not blank[:row].any())
        if row < len(table) - 1 and len(names) > 1 < n_ended and all(name and number(name) is None for name in names):
            problem = f"another table seems to begin here, below a blank row ({listed(names)})"
            raise table.error(problem, row=int(row), cure="Keep one table, or save each to a file or sheet of its own.")


def _refuse_worst_first(table: Table, fit: Fit, options: dict[str, Any]) -> None:
    """Refuse items listed in order, if names, questions or titles say that the worst comes first."""
    words = worst_first(table, fit.columns(table)) if fit.layout in ("orders", "strings") else None
    if words:
        problem = f"{shown(words)} says that the worst item is listed first, but orders are read best first"
        call = calls(table, [fit], options)
        cure = f"Turn the orders round in the file; if the best is first all the same, write {call}."
        error = table.error(problem, cure=cure)
        error.choices = arguments(table, [fit], options)
        raise error


def _widened(table: Table, fits: list[Fit], options: dict[str, Any]) -> list[Fit]:
    """The fits; but if a wrong cell hides one of the columns, only the one with it: the check of rows names it."""
    for fit in fits:
        if fit.layout in ("positions", "judges"):
            wider = wider_fit(table, options, by_judges=fit.layout == "judges")
            if wider is not None and set(wider.columns(table)) > set(fit.columns(table)):
                return [wider]
    return fits


def _layout_supposed(seen: Table, layout: str, options: dict[str, Any]) -> Fit:
    """The layout of a table that none fits as it is: a cell is wrong, or cells rate in words; else the error."""
    orders = mostly_orders(seen) if layout in ("auto", "strings") else None
    if orders is not None:
        return _orders_but(seen, *orders, options)
    if layout in ("auto", "positions"):
        slipped = misfit(seen, options)
        if slipped is not None:
            return slipped
    if layout == "auto":
        refuse_likely_scores(seen, options)
    rated = [fit for fit in rated_fits(seen) if layout in ("auto", fit.layout)]
    if len(rated) == 1:
        return rated[0]
    if rated:
        raise _either_way(seen, rated, options)
    likely = [fit for fit in likely_fits(seen, options.get("weights")) if layout in ("auto", fit.layout)]
    _refuse_other_answers(seen, likely, options)
    if _repeat_items(seen, likely):
        return replace(likely[0], reason="The names of the columns say places.")
    if layout != "auto" and (not likely or layout == "judges"):
        return Fit(layout)  # type: ignore[arg-type]  # the reader says what is missing
    what = "no layout fits" if layout == "auto" else f"the layout {layout!r} does not clearly fit"
    error = seen.error(f"{what} the columns {listed(seen.header)}", cure=suggestion(seen, likely, options))
    error.choices = arguments(seen, likely, options)
    raise error


def _orders_but(table: Table, fit: Fit, alone: list[str], options: dict[str, Any]) -> Fit:
    """Orders in one cell, whose wrong cells the reader names; the error if a word stands alone that none lists."""
    plain = [name for name in alone if not _SIGNS_IN_ORDERS.search(name)]
    if not plain:
        return fit
    blank = {**options, "missing_values": [*options.get("missing_values", ()), *plain]}
    ways = [*arguments(table, [fit], blank), *arguments(table, [fit], options)]
    is_or_are = (
        "stands alone, and no order lists it: it" if len(plain) == 1 else "stand alone, and no order lists them: they"
    )
    items = "an item" if len(plain) == 1 else "items"
    error = table.error(
        f"in {shown(fit.options['column'])}, {listed(plain)} {is_or_are} may say that there is no vote, or be {items}",
        cure=f"If there is no vote, write {python_call(ways[0])}; if there is, write {python_call(ways[1])}.",
    )
    error.choices = ways
    raise error


def _repeat_items(table: Table, likely: list[Fit]) -> bool:
    """Whether these are orders but for a few rows that list an item twice; the check of the rows names them."""
    if [fit.layout for fit in likely] != ["orders"]:
        return False
    return 0 < 2 * len(repeated_names(table, likely[0].columns(table))) <= len(table)


def _ask_for_weights(table: Table, count: str, fits: list[Fit], options: dict[str, Any]) -> None:
    """Refuse a column that may be the weights, with the calls to choose from, if a layout fits beside it."""
    if not fits:
        return
    with_count: dict[str, Any] = {**options, "weights": count}
    problem, row, cure = f"column {shown(count)} may say how often each ranking counts", None, ""
    wrong = rows_without_weight(table, count)
    if len(wrong):
        row = int(wrong[0])
        problem += f", but here it is {shown(table.column(count)[row])}, which is no weight"
        with_count["invalid"] = "drop"
        cure = " to drop such rows" if len(wrong) > 1 else " to drop the row"
    cure = f"Write {calls(table, fits, with_count)}{cure}; or weights=None if it is an ordinary column."
    error = table.error(problem, row=row, column=None if row is None else count, cure=cure)
    error.choices = [*arguments(table, fits, with_count), *arguments(table, fits, {**options, "weights": None})]
    raise error


def _clear_places(table: Table, weights: str | None) -> Fit | None:
    """The columns that alone start with a word for places and in which every row is a ranking; None if in doubt."""
    named = list(known_prefixes(table))
    if len(named) != 1 or weights in named[0][1] or are_numbered(named[0][1]):
        return None
    prefix, names = named[0]
    values = ranking_numbers(table, names)
    if values is None or asked_for_ratings(table, names):
        return None
    rows = classify(values)
    all_rank = ((rows.kinds == PLAIN) | (rows.kinds == EMPTY)).all() and rows.parked is None
    # Where nobody places a second item, the numbers may be ticks; and another column may hold orders such as a>b.
    if not all_rank or not np.any(values[:_MOST_COMPARED] > 1):
        return None
    if any(not {">", "["}.isdisjoint(column.first_cell()) for column in table.columns):
        return None
    says_zero = any("0" in cell for name in names for cell in table.coded(name)[0] if number(cell) == 0)
    reason = f"The columns start with {prefix!r} and hold places."
    return Fit("positions", {"prefix": prefix}, reason, is_clean=not says_zero and not weights)


def _long_fit(table: Table, options: dict[str, Any]) -> Fit:
    """A long table, with the columns that its names show where the caller does not say."""
    shown_by_names = {role: name for role, name in roles_by_name(table, "long").items() if name is not None}
    if "position" in options or "score" in options:
        shown_by_names = {role: name for role, name in shown_by_names.items() if role not in ("position", "score")}
    return Fit("long", {role: name for role, name in shown_by_names.items() if role not in options})


def _checked_orders(table: Table, options: dict[str, Any]) -> Fit:
    """Orders, unless the cells say places in words: then a column is an item."""
    columns = [name for name in options.get("columns") or () if name in table.header]
    if columns and worded_places(table, columns) == [columns]:
        cell = next(cell for cell in table.coded(columns[0])[0] if cell not in MISSING)
        fits = [Fit("positions", {"items": columns}), Fit("orders", {"columns": columns})]
        rest = {name: value for name, value in options.items() if name != "columns"}
        raise ask(table, f"the cells say places ({shown(cell)}), so that each column would be an item", fits, rest)
    return Fit("orders")


def _possible_weights(table: Table) -> str | None:
    """A column named like a count that holds no negative numbers; else one of which that is true in most rows."""
    named = [name for name in table.header if name.lower() in WEIGHTS and not is_among_ratings(table, name)]
    n_wrong = {name: len(rows_without_weight(table, name)) for name in named}
    # A letter may be an item, which some leave blank.
    mostly = (name for name in named if len(name) > 1 and 2 * n_wrong[name] <= len(table))
    return next((name for name in named if not n_wrong[name]), next(mostly, None))


def _is_ambiguous(table: Table, names: Sequence[str]) -> bool:
    """Whether the columns are numbered and hold numbers without ties: places of items, or items at places."""
    if items_in_questions(table, names):
        return False  # an item per column
    values = ranking_numbers(table, names)
    codes = mostly_numbers(table, names) if values is None else looks_like_codes(values)
    return codes and are_numbered(names) and not worded_places(table, names)


def _must_be_positions(table: Table, names: Sequence[str], prefix: str) -> bool:
    """Whether columns with that prefix can hold nothing but positions, even if a cell among them is not one."""
    if ranking_numbers(table, names) is not None:
        return True
    return not are_numbered(names) and (prefix.lower().startswith(PREFIXES) or mostly_numbers(table, names))


def _refuse_other_answers(table: Table, likely: list[Fit], options: dict[str, Any]) -> None:
    """Refuse a table whose rankings are most likely in columns without a cell, or in boxes that were ticked."""
    groups = [names for _, names in known_prefixes(table)]
    groups += [list(group.values()) for group in numbered_groups(table.header)]
    empty = {name for name in table.header if set(MISSING).issuperset(table.coded(name)[0])}
    blank = next((names for names in groups if empty.issuperset(names)), [])
    if blank and all(len(set(fit.columns(table)).difference(blank)) < 2 for fit in likely):
        raise table.error(
            f"all cells of {listed(blank)} are blank",
            cure="If the rankings belong there, get the file with the answers; else name the columns that hold them.",
        )
    for fit in likely:
        if fit.layout == "positions":
            refuse_ticks(table, fit.columns(table), options)


def _either_way(table: Table, fits: list[Fit], options: dict[str, Any]) -> RankwiseFormatError:
    rated = [fit.layout == "positions" and bool(asked_for_ratings(table, fit.columns(table))) for fit in fits]
    if any(rated):
        doubled = (
            [replace(fit, layout="scores"), fit] if twice else [fit] for fit, twice in zip(fits, rated, strict=True)
        )
        fits = list(chain.from_iterable(doubled))
    names = fits[0].columns(table)
    traits = [fit.options["trait"] for fit in fits if "trait" in fit.options]
    if [fit.layout for fit in fits] == ["positions", "orders"] and set(fits[1].columns(table)) == set(names):
        problem = (
            f"the columns {listed(names)} hold numbers, which may be positions (column = item, cell = its place) or "
            "orders (column = place, cell = the item there)"
        )
    elif len(traits) == len(fits):
        problem = f"the items are compared for {len(traits)} traits: {listed(traits)}"
    elif {fit.layout for fit in fits} == {"judges"}:
        kept, both = fits[0].options["judges"], fits[1].options["judges"]
        others = [name for name in both if name not in kept]
        if fits[1].options["values"] == "scores":
            are = "is on another scale: it" if len(others) == 1 else "are on another scale: they"
            problem = (
                f"{listed(kept)} hold places of the {len(table)} rows, but {listed(others)} {are} may be no judge, or "
                "give points as all the others do"
            )
        else:
            problem = (
                f"the column {shown(others[0])} counts 1, 2, 3, ... down the sheet: it may number the rows, or be a "
                "judge"
            )
    elif {fit.layout for fit in fits} == {"scores", "judges"}:
        problem = f"{listed(fits[-1].options['judges'])} hold ratings in words, of items or by judges"
    elif {fit.layout for fit in fits} == {"positions", "judges"}:
        problem = "every row is a ranking and every column is one, so rows may be people, or the items of a jury"
    else:
        n_groups = len({tuple(fit.columns(table)) for fit in fits})
        problem = f"the rankings may be in {n_groups} groups of columns"
    return ask(table, problem, fits, options)
