"""The choice of a layout for a survey table: the one that the options settle, else the only one that fits.

Where no layout fits, or more than one, or numbers may be scores as well as places, the error shows the calls to choose
from; its ``choices`` are their arguments. `rankwise.data.formats.detect` uses it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from rankwise.data.formats.column_names import (
    PREFIXES,
    RESPONDENTS,
    WEIGHTS,
    Fit,
    Layout,
    are_numbered,
    bracketed_groups,
    columns_with_prefix,
    items_in_questions,
    known_prefixes,
    numbered_groups,
    prefix_option,
    question_groups,
    roles_by_name,
    say_places,
)
from rankwise.data.formats.invalid import misfit, wider_fit
from rankwise.data.formats.places import EMPTY, IMPOSSIBLE, PLAIN, classify, doubt, first_dense_tie
from rankwise.data.formats.stated_scales import about_direction, stated_direction
from rankwise.data.formats.suggestions import arguments, ask, calls, likely_fits, suggestion
from rankwise.data.formats.survey_cells import (
    looks_like_codes,
    mostly_numbers,
    ranking_numbers,
    signed_numbers,
)
from rankwise.data.formats.survey_fits import ORDER_IN_NAME, all_fits, worded_places
from rankwise.data.formats.survey_judges import judged_values, names_say_jury
from rankwise.data.formats.tables import MISSING, Table, rows_without_weight
from rankwise.data.formats.text import listed, number, shown
from rankwise.data.formats.worded_cells import rated_fits
from rankwise.exceptions import RankwiseFormatError

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
# What asks for ratings, where more is better, and not for places.
_RATINGS = re.compile(
    r"\b(rate\b|ratings?\b|scores?\b|points?\b|stars?\b|likert|agree|satisf|do you like|bewert|punkte|notez|punt[uú]a|"
    r"califica|valora|valuta|punteggio|avalie|pontu|beoordeel|punten)",
    re.IGNORECASE,
)
_COUNTED_ITEMS = re.compile(r", but there are \d+ items| of \d+ items$")
# Ratings from 1 to 5 show in fewer columns, because they go beyond the places there.
_LEAST_RATED = 5
_MOST_COMPARED = 200


def layout_given(table: Table, layout: str, options: dict[str, Any]) -> Fit | None:
    """The layout that the options settle; None if they do not name any columns."""
    implied = [_LAYOUT_OF_OPTION[option] for option in _LAYOUT_OF_OPTION if option in options]
    if implied == ["tricot"] and None not in roles_by_name(table, "long").values():
        implied = ["long"]  # it has traits, too
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
        _refuse_scores(table, columns, as_positions, options)
        return as_positions
    return as_orders


def layout_found(table: Table, seen: Table, layout: str, options: dict[str, Any]) -> Fit:
    """The only layout that fits the table as ``seen``; else the error that shows what to write."""
    count = None if "weights" in options else _possible_weights(table)
    clear = (
        _clear_places(seen, options.get("weights"))
        if count is None and layout == "auto" and not options.get("items")
        else None
    )
    if clear is not None:
        return clear
    if count is not None:
        _ask_for_weights(seen, count, layout, options)
    fits = [fit for fit in all_fits(seen, options.get("weights")) if layout in ("auto", fit.layout)]
    fits = _widened(seen, fits, options)
    if len(fits) == 1:
        if layout == "auto":
            _refuse_ratings(seen, fits[0], options)
        # If items were given and none is a column, the reader says so.
        return Fit("positions") if fits[0].layout == "positions" and options.get("items") else fits[0]
    if fits:
        raise _either_way(seen, fits, options)
    return _layout_supposed(seen, layout, options if count is None else {**options, "weights": count})


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
    if layout in ("auto", "positions"):
        slipped = misfit(seen, options)
        if slipped is not None:
            return slipped
    if layout == "auto":
        _refuse_likely_scores(seen, options)
    rated = [fit for fit in rated_fits(seen) if layout in ("auto", fit.layout)]
    if len(rated) == 1:
        return rated[0]
    if rated:
        raise _either_way(seen, rated, options)
    likely = [fit for fit in likely_fits(seen, options.get("weights")) if layout in ("auto", fit.layout)]
    _refuse_blanks(seen, likely)
    if layout != "auto" and not likely:
        return Fit(layout)  # type: ignore[arg-type]  # the reader says what is missing
    what = "no layout fits" if layout == "auto" else f"the layout {layout!r} does not clearly fit"
    error = seen.error(f"{what} the columns {listed(seen.header)}", cure=suggestion(seen, likely, options))
    error.choices = arguments(seen, likely, options)
    raise error


def _refuse_ratings(table: Table, fit: Fit, options: dict[str, Any]) -> None:
    """Refuse the columns of the only layout that fits, if they ask for ratings, or hold ties as ratings do."""
    if fit.layout not in ("positions", "judges"):
        return
    columns = fit.options["judges"] if fit.layout == "judges" else fit.columns(table)
    reason = doubt_about(table, columns) if _asked_for_ratings(table, columns) else None
    if fit.layout == "judges" and reason:
        where = {"item": fit.options["item"], "judges": columns}
        raise _scores_or_places(table, columns, reason, [], options, [where])
    if fit.layout == "positions" and (reason := reason or _ties_like_ratings(table, columns)):
        rest = {name: value for name, value in options.items() if name not in fit.options}
        raise _scores_or_places(table, columns, reason, [fit.options], rest)


def _ask_for_weights(table: Table, count: str, layout: str, options: dict[str, Any]) -> None:
    """Refuse a column that may be the weights, with the calls to choose from, if a layout fits beside it."""
    fits = [fit for fit in all_fits(table, count) if layout in ("auto", fit.layout)]
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
    if values is None or _asked_for_ratings(table, names):
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


def doubt_about(table: Table, columns: Sequence[str]) -> str | None:
    """Why the numbers of the columns may be scores rather than places; None if they are places, or no numbers."""
    asked = _asked_for_ratings(table, columns)
    if asked:
        return f"the columns ask for ratings ({', '.join(map(repr, asked))})"
    values = ranking_numbers(table, columns)
    if values is None:
        signed = signed_numbers(table, columns)
        found = np.zeros(0) if signed is None else signed[~np.isnan(signed)]
        return f"the values go down to {found.min():g}" if found.size and found.min() < 0 else None
    named_places = say_places(columns) or bool(worded_places(table, columns))
    return doubt(values, classify(values, named_places=named_places), named_places=named_places)


def _doubt_about_judges(table: Table, columns: Sequence[str]) -> str | None:
    """Why the numbers of these judges may be scores rather than places; None if they are no numbers."""
    values = ranking_numbers(table, columns)
    if values is None or _asked_for_ratings(table, columns):
        return doubt_about(table, columns)
    return doubt(values.T, classify(values.T)) or f"not every column is a ranking of the {len(table)} rows"


def _ties_like_ratings(table: Table, columns: Sequence[str]) -> str | None:
    """Why ties may show ratings, where nothing but the numbers says that these are places; else None."""
    if len(columns) < _LEAST_RATED or any(ORDER_IN_NAME.search(table.questions.get(name, name)) for name in columns):
        return None
    values = None if worded_places(table, columns) else ranking_numbers(table, columns)
    row = None if values is None else first_dense_tie(values, classify(values))
    if values is None or row is None:
        return None
    cells = ", ".join("-" if np.isnan(value) else f"{value:g}" for value in values[row][:8])
    return f"line {table.lines[row]} ({cells}) holds a number twice, as ratings do"


def _asked_for_ratings(table: Table, columns: Sequence[str]) -> list[str]:
    """Words in the names or questions of the columns that ask for ratings, where more is better."""
    found = [_RATINGS.search(table.questions.get(name, name)) for name in columns]
    stated = stated_direction(table, columns)
    high = {stated[1].lower()} if stated and stated[0] == "scores" else set()
    return sorted({match.group().lower() for match in found if match} | high)


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
    named = [name for name in table.header if name.lower() in WEIGHTS and not _is_among_ratings(table, name)]
    n_wrong = {name: len(rows_without_weight(table, name)) for name in named}
    # A letter may be an item, which some leave blank.
    mostly = (name for name in named if len(name) > 1 and 2 * n_wrong[name] <= len(table))
    return next((name for name in named if not n_wrong[name]), next(mostly, None))


def _is_among_ratings(table: Table, name: str) -> bool:
    """Whether a column stands between two others of whole numbers up to 10 that reach as far: it is an item."""
    at = table.index(name)
    around = [table.values(beside) for beside in table.header[max(at - 1, 0) : at + 2]]
    found = [values for values in around if values is not None and not np.isnan(values).all()]
    if len(found) < 3:
        return False
    are_whole = all(np.array_equal(values, np.round(values), equal_nan=True) for values in found)
    tops = {float(np.nanmax(values)) for values in found}
    return are_whole and len(tops) == 1 and 2 <= tops.pop() <= 10


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


def _refuse_scores(table: Table, columns: Sequence[str], fit: Fit, options: dict[str, Any]) -> None:
    """Refuse columns that the caller named without a layout, if their numbers may be scores."""
    reason = doubt_about(table, columns)
    if reason is not None:
        rest = {name: value for name, value in options.items() if name not in fit.options}
        raise _scores_or_places(table, columns, reason, [fit.options], rest)


def _refuse_likely_scores(table: Table, options: dict[str, Any]) -> None:
    """Refuse columns of numbers that belong together and may be scores, with the calls to choose from."""
    weights = options.get("weights")
    numeric = [name for name in table.header if name != weights and table.is_numeric(name)]
    named = (*RESPONDENTS, *(WEIGHTS if weights is None else ()))
    numeric = [name for name in numeric if name.lower() not in named or _is_among_ratings(table, name)]
    jury = judged_values(table, weights)
    rows_are_items = names_say_jury(table) if jury else False
    votes = table.summed or (jury[1] if jury and rows_are_items else numeric)
    chosen = set(votes)
    numeric = [name for name in numeric if name in chosen]
    groups = [names for _, names in known_prefixes(table)]
    grids = bracketed_groups(numeric)
    groups += [*question_groups(table, numeric), *grids]
    groups = [group for group in groups if set(group) <= set(numeric)]
    option = prefix_option(table, numeric, ("_", "[", "/", ":", ".", " ")) if len(numeric) > 1 else {}
    alike = numeric if "prefix" in option else _side_by_side(table, _on_one_scale(table, numeric))
    kept = set(numeric)
    groups.append([name for name in alike if votes is numeric or name in kept])
    groups = [group for group in groups if len(group) > 1]
    if len(numeric) > 1 and set(numeric) == set(table.coded(table.header[0])[0] if len(table) == len(numeric) else ()):
        return  # items against items: counts of duels are not rankings
    if rows_are_items:
        groups = groups[-1:]
    reasons = [(_doubt_about_judges if rows_are_items else doubt_about)(table, group) for group in groups]
    if groups and not any(reasons) and ranking_numbers(table, groups[-1]) is not None:
        reasons[-1] = _odd_rows(table, groups[-1])
    for group, reason in zip(groups, reasons, strict=True):
        if not reason:
            continue
        odd = "" if rows_are_items else _odd_rows(table, group)
        reason += f"; {odd}" if odd and odd != reason else ""
        # Questions that name the same items are no single ranking.
        parts = grids if len(grids) > 1 and set(group) <= set().union(*grids) else [group]
        wheres = [prefix_option(table, part, ("_", "[", "/", ":", ".", " ")) for part in parts]
        judges = [name for name in group if jury and name in jury[1]]
        transposed = (
            [{"item": jury[0], "judges": judges}] if jury and rows_are_items is not False and len(judges) > 1 else []
        )
        raise _scores_or_places(table, group, reason, [] if rows_are_items else wheres, options, transposed)


def _scores_or_places(
    table: Table,
    columns: Sequence[str],
    reason: str,
    wheres: Sequence[dict[str, Any]],
    options: dict[str, Any],
    juries: Sequence[dict[str, Any]] = (),
) -> RankwiseFormatError:
    """The error that asks whether numbers are scores or places, and where rows may be items, that too."""
    stated = stated_direction(table, columns)
    ways: list[Layout] = ["positions", "scores"] if stated and stated[0] == "positions" else ["scores", "positions"]
    fits = [Fit(layout, where) for where in wheres for layout in ways]
    fits += [Fit("judges", {**where, "values": way}) for where in juries for way in ways]
    problem = f"the numbers in {listed(columns)} may be scores (higher = better) or places (1 = best): {reason}"
    if wheres and juries:
        problem = _COUNTED_ITEMS.sub("", problem)  # which of the two are items is not known
        problem += "; and the rows may be people, or the items of a jury"
    problem += f". {about_direction(*stated)}" if stated else ""
    return ask(table, problem, fits, options)


def _on_one_scale(table: Table, names: Sequence[str]) -> list[str]:
    """The most columns side by side that could be on one scale: their largest numbers are within a factor of 2."""
    best: list[str] = []
    run: list[tuple[str, float]] = []
    for name in names[:_MOST_COMPARED]:
        values = table.values(name)
        most = 0.0 if values is None or np.isnan(values).all() else float(np.nanmax(values))
        beside = run and table.index(name) == table.index(run[-1][0]) + 1
        run = [*run, (name, most)] if beside else [(name, most)]
        while run and (min(top for _, top in run) <= 0 or max(top for _, top in run) > 2 * min(top for _, top in run)):
            run.pop(0)
        best = [other for other, _ in run] if len(run) > len(best) else best
    return best


def _side_by_side(table: Table, group: list[str]) -> list[str]:
    """The columns with those beside them whose numbers are like theirs: a row on another scale may part them."""
    if not group:
        return []
    among = [values for name in group if (values := table.values(name)) is not None]
    least, most = min(np.nanmin(values) for values in among), max(np.nanmax(values) for values in among)
    begin, end = table.index(group[0]), table.index(group[-1]) + 1

    def belongs(name: str) -> bool:
        values = table.values(name)
        is_other = name.lower() in (*RESPONDENTS, *WEIGHTS) and not _is_among_ratings(table, name)
        if values is None or np.isnan(values).all() or is_other:
            return False
        return bool(np.nanmin(values) <= most and least <= 2 * np.nanmax(values) <= 4 * most)

    while begin and belongs(table.header[begin - 1]):
        begin -= 1
    while end < len(table.header) and belongs(table.header[end]):
        end += 1
    return list(table.header[begin:end])


def _odd_rows(table: Table, names: Sequence[str]) -> str:
    """The first row that cannot be places, and the first that should be, where the columns hold both; else nothing."""
    values = ranking_numbers(table, names)
    if values is None:
        return ""
    kinds = classify(values).kinds
    wrong, right = np.flatnonzero(np.isin(kinds, list(IMPOSSIBLE))), np.flatnonzero(kinds == PLAIN)
    if not len(wrong) or not len(right):
        return ""
    cells = [", ".join("-" if np.isnan(v) else f"{v:g}" for v in values[row][:8]) for row in (wrong[0], right[0])]
    lines = table.lines[wrong[0]], table.lines[right[0]]
    return f"line {lines[0]} ({cells[0]}) does not fit places, and line {lines[1]} ({cells[1]}) looks like places"


def _refuse_blanks(table: Table, likely: list[Fit]) -> None:
    """Refuse a table whose rankings are most likely in columns without a cell."""
    groups = [names for _, names in known_prefixes(table)]
    groups += [list(group.values()) for group in numbered_groups(table.header)]
    empty = {name for name in table.header if set(MISSING).issuperset(table.coded(name)[0])}
    blank = next((names for names in groups if empty.issuperset(names)), [])
    if blank and all(len(set(fit.columns(table)).difference(blank)) < 2 for fit in likely):
        raise table.error(
            f"all cells of {listed(blank)} are blank",
            cure="If the rankings belong there, get the file with the answers; else name the columns that hold them.",
        )


def _either_way(table: Table, fits: list[Fit], options: dict[str, Any]) -> RankwiseFormatError:
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
        problem = f"the rankings may be in {len(fits)} groups of columns"
    return ask(table, problem, fits, options)
