"""What to write where it is not clear how a table holds rankings: the calls to choose from, and the likely ones.

`rankwise.data.formats.layouts` asks; the command line turns calls into commands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankwise.data.formats.column_names import (
    RESPONDENTS,
    WEIGHTS,
    Fit,
    Layout,
    columns_option,
    known_prefixes,
    numbered_groups,
)
from rankwise.data.formats.jury_columns import column_of_items, holds_no_votes
from rankwise.data.formats.place_columns import (
    columns_sharing_items,
    may_be_orders,
    other_than_items,
    worded_orders,
)
from rankwise.data.formats.places import adjacent_runs
from rankwise.data.formats.reading import python_call
from rankwise.data.formats.survey_cells import list_items, mostly_numbers, ranking_numbers
from rankwise.data.formats.survey_choices import shown_items
from rankwise.data.formats.survey_fits import listed_fits, window_fits
from rankwise.data.formats.survey_judges import judged_values, names_say_jury
from rankwise.data.formats.tables import MISSING, Table
from rankwise.data.formats.text import listed, number, shown
from rankwise.exceptions import RankwiseFormatError

_SHOWN_CALLS = 4
_EITHER: tuple[Layout, ...] = ("scores", "positions")


def likely_fits(table: Table, weights: str | None) -> list[Fit]:
    """What may be meant where nothing fits; for suggestions only."""
    prefixes = [prefix for prefix, names in known_prefixes(table) if ranking_numbers(table, names) is not None]
    if prefixes:
        return [Fit("positions", {"prefix": prefix}) for prefix in prefixes]
    others = [name for name in table.header if name != weights]
    fits = []
    said = [group for group, _ in worded_orders(table, others, sure=False)]
    for places in numbered_groups(others):
        group = list(places.values())
        if all(map(table.is_numeric, group)) or any(set(group) <= set(whole) for whole in said):
            continue
        if mostly_numbers(table, group):
            fits.append(Fit("positions", columns_option(table, "items", group)))
        # Without the first place the others would crown the second.
        if min(places) < 2 and may_be_orders(table, group):
            fits.append(Fit("orders", columns_option(table, "columns", group)))
    fits += [Fit("orders", columns_option(table, "columns", group)) for group in said]
    windows = window_fits(table, weights, sure=False)
    items = [name for name in others if name.lower() not in RESPONDENTS]
    alike = len(items) > 1 and ranking_numbers(table, items) is not None
    fits += windows or ([Fit("positions", {"items": items})] if alike else [])
    if not fits and not any(map(table.is_numeric, others)) and list_items(table, others, max(len(others), 2)):
        fits.append(Fit("orders", {"columns": others}))
    fits = fits or listed_fits(table, sure=False) or _long_tables(table, others)
    return fits or ([] if shown_items(table) else _any_columns(table, others, weights))


def _any_columns(table: Table, names: Sequence[str], weights: str | None) -> list[Fit]:
    """Columns of numbers as scores and as places, by people and by judges; else columns of names, in order.

    Names beside a single number each are the result of a jury of one.
    """
    known = {*RESPONDENTS, *WEIGHTS, *(name.lower() for name in table.header if name not in names)}
    are_numbers = [
        name.lower() not in known and table.is_numeric(name) and not holds_no_votes(table, name)
        for name in table.header
    ]
    numeric = max((list(table.header[run]) for run in adjacent_runs(are_numbers)), key=len, default=[])
    item = column_of_items(table)
    if len(numeric) > 1 and ranking_numbers(table, numeric) is not None:
        jury = judged_values(table, weights)
        where = {"item": jury[0], "judges": jury[1]} if jury else {}
        rows_are_items = names_say_jury(table) if jury else False
        people = [Fit(layout, {"items": numeric}) for layout in _EITHER if rows_are_items is not True]
        juries = [Fit("judges", {**where, "values": layout}) for layout in _EITHER if rows_are_items is not False]
        return [*people, *juries]
    single = [name for name in table.header if table.is_numeric(name)]
    if [item, *single] == names == list(table.header) and len(table.coded(item)[0]) == len(table) > len(single) == 1:
        return [Fit("judges", {"item": item, "judges": single, "values": layout}) for layout in _EITHER]
    shared = columns_sharing_items(table, names)
    return [Fit("orders", {"columns": shared})] if shared else []


def _long_tables(table: Table, names: Sequence[str]) -> list[Fit]:
    """Long tables with scores or places, where two columns of texts repeat, but hardly together, beside numbers."""
    texts = [name for name in names if not table.is_numeric(name) and _repeats(table, [name], at_least=2)]
    numbers = [name for name in names if table.is_numeric(name) and name not in texts]
    if len(texts) != 2 or not numbers or _repeats(table, texts, at_least=1.5):
        return []
    where = {"respondent": texts[0], "item": texts[1]}
    return [Fit("long", {**where, role: numbers[-1]}) for role in ("score", "position")]


def _repeats(table: Table, names: Sequence[str], at_least: float) -> bool:
    """Whether the cells of these columns together are the same on that many rows on average."""
    codes = np.stack([table.coded(name)[1] for name in names])
    return len(table) >= at_least * np.unique(codes, axis=1).shape[1]


def suggestion(table: Table, fits: list[Fit], options: dict[str, Any]) -> str:
    """The sentence that says what to write where no layout fits, but these may be meant."""
    if all(number(name) is not None for name in table.header):
        fits = [*fits, *(Fit("orders", {"columns": fit.columns(table)}) for fit in fits)]
        advice = "If the first line is a ranking itself, put a line with the names of the columns above it"
        return f"{advice}; if not, write {calls(table, fits, options)}." if fits else f"{advice}."
    if fits:
        best_first = ", the places best first" if any(fit.layout == "orders" for fit in fits) else ""
        return f"If these columns hold the rankings, write {calls(table, fits, options)}{best_first}."
    if any(">" in name for name in table.header):
        return "If the first line is a ranking itself, put a line with the names of the columns above it."
    for group in (list(places.values()) for places in numbered_groups(table.header)):
        what = other_than_items(table, group)
        if what:
            cell = next(cell for cell in table.coded(group[0])[0] if cell not in MISSING)
            return (
                f"{listed(group)} hold {what} such as {shown(cell)}, which are no items in order. Write places "
                "(1 = best) or scores (higher = better) instead."
            )
    items = shown_items(table)
    if items:
        return (
            f"The columns {listed(items)} look like items shown to a person, but no columns are named best and "
            "worst. If some say which it was, write read_rankings(path, layout='best-worst', best='...', worst='...')."
        )
    return (
        "Name the layout and its columns, as in read_rankings(path, layout='positions', items=[...]). The layouts are "
        "positions, scores, orders, strings, long, pairwise, judges, best-worst and tricot: see help(read_rankings)."
    )


def ask(table: Table, problem: str, fits: list[Fit], options: dict[str, Any]) -> RankwiseFormatError:
    """The error that gives the calls to choose from, and their arguments."""
    error = table.error(problem, cure=f"Write {calls(table, fits, options)}.")
    error.choices = arguments(table, fits, options)
    return error


def calls(table: Table, fits: list[Fit], options: dict[str, Any]) -> str:
    """The calls that read the file in each of the ways, joined by "or"."""
    return " or ".join(map(python_call, arguments(table, fits[:_SHOWN_CALLS], options)))


def arguments(table: Table, fits: list[Fit], options: dict[str, Any]) -> list[dict[str, Any]]:
    """The arguments that read the file in each of the ways, with those that the caller gave already."""
    ways = []
    for fit in fits:
        more = {name: value for name, value in options.items() if name not in ("items", "prefix", "columns", "layout")}
        if fit.layout in ("positions", "orders") and any("0" in table.coded(name)[0] for name in fit.columns(table)):
            given = more.get("missing_values", ())
            more["missing_values"] = [*given, "0"] if "0" not in given else list(given)
        ways.append(fit.arguments(**more))
    return ways
