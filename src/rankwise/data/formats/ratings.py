"""Whether numbers are ratings (higher = better) or places (1 = best): the questions where that is not clear.

Columns ask for ratings in words, or their numbers go beyond the places, skip 1, repeat as on a scale, or tick boxes.
`layouts` asks so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from rankwise.data.formats.column_names import (
    RESPONDENTS,
    WEIGHTS,
    Fit,
    Layout,
    bracketed_groups,
    known_prefixes,
    prefix_option,
    question_groups,
    say_places,
)
from rankwise.data.formats.jury_columns import column_of_items
from rankwise.data.formats.places import IMPOSSIBLE, PLAIN, classify, doubt, first_dense_tie
from rankwise.data.formats.stated_scales import about_direction, stated_direction
from rankwise.data.formats.suggestions import ask
from rankwise.data.formats.sums import best_are_high
from rankwise.data.formats.survey_cells import ranking_numbers, signed_numbers
from rankwise.data.formats.survey_fits import ORDER_IN_NAME, worded_places
from rankwise.data.formats.survey_judges import judged_values, names_say_jury
from rankwise.data.formats.tables import MISSING, Table
from rankwise.data.formats.text import listed, shown
from rankwise.exceptions import RankwiseFormatError

# What asks for ratings, where more is better, and not for places.
_RATINGS = re.compile(
    r"\b(rate\b|ratings?\b|scores?\b|points?\b|stars?\b|likert|agree|satisf|do you like|bewert|punkte|notez|punt[uú]a|"
    r"califica|valora|valuta|punteggio|avalie|pontu|beoordeel|punten)",
    re.IGNORECASE,
)
# The same around a table: in its title, its corner or the name of a sum.
_POINTS = re.compile(
    r"\b(?:ratings?|scores?|points?|pts|puntos|puntaje|puntuaci\w+|punti|punteggi\w*|pontos|pontua\w+|punten)\b|"
    r"punkte|punktzahl",
    re.IGNORECASE,
)
_COUNTED_ITEMS = re.compile(r", but there are \d+ items| of \d+ items$")
# Ratings from 1 to 5 show in fewer columns, because they go beyond the places there.
_LEAST_RATED = 5
_MOST_COMPARED = 200
_MOST_GRADE = 10


def doubt_about(table: Table, columns: Sequence[str]) -> str | None:
    """Why the numbers of the columns may be scores rather than places; None if they are places, or no numbers."""
    asked = asked_for_ratings(table, columns)
    if asked:
        stated = stated_direction(table, columns)
        asked = [word for word in asked if stated is None or word != stated[1].lower()]
        if stated and not asked:
            return about_direction(*stated)
        return f"the columns ask for ratings ({', '.join(map(repr, asked))})"
    values = ranking_numbers(table, columns)
    if values is None:
        signed = signed_numbers(table, columns)
        found = np.zeros(0) if signed is None else signed[~np.isnan(signed)]
        return f"the values go down to {found.min():g}" if found.size and found.min() < 0 else None
    named_places = say_places(columns) or bool(worded_places(table, columns))
    return doubt(values, classify(values, named_places=named_places), named_places=named_places)


def refuse_ratings(table: Table, fit: Fit, options: dict[str, Any]) -> None:
    """Refuse the columns of the only layout that fits, if they ask for ratings, or hold ties as ratings do."""
    if fit.layout not in ("positions", "judges"):
        return
    columns = fit.options["judges"] if fit.layout == "judges" else fit.columns(table)
    refuse_ticks(table, columns, options)
    is_jury = fit.layout == "judges"
    reason = doubt_about(table, columns) if asked_for_ratings(table, columns) else None
    reason = reason or _doubt_around(table, columns, is_jury) or _ties_like_ratings(table, columns, is_jury)
    if reason and is_jury:
        where = {"item": fit.options["item"], "judges": columns}
        raise _scores_or_places(table, columns, reason, [], options, [where])
    if reason:
        rest = {name: value for name, value in options.items() if name not in fit.options}
        raise _scores_or_places(table, columns, reason, [fit.options], rest)


def refuse_scores(table: Table, columns: Sequence[str], fit: Fit, options: dict[str, Any]) -> None:
    """Refuse columns that the caller named without a layout, if their numbers may be scores."""
    reason = doubt_about(table, columns)
    if reason is not None:
        rest = {name: value for name, value in options.items() if name not in fit.options}
        raise _scores_or_places(table, columns, reason, [fit.options], rest)


def refuse_ticks(table: Table, columns: Sequence[str], options: dict[str, Any]) -> None:
    """Refuse columns of 0 and 1 alone: boxes that were ticked, which are better than those that were not."""
    values = None if say_places(columns) else signed_numbers(table, columns)
    if values is not None and {*np.unique(values[~np.isnan(values)])} == {0.0, 1.0}:
        where = prefix_option(table, list(columns), ("_", "[", "/", ":", ".", " "))
        problem = f"{listed(columns)} hold only 0 and 1, as boxes do that are ticked (1) or not (0)"
        rest = {name: value for name, value in options.items() if name not in where}
        raise ask(table, problem, [Fit("scores", where)], rest)


def refuse_likely_scores(table: Table, options: dict[str, Any]) -> None:
    """Refuse columns of numbers that belong together and may be scores, with the calls to choose from."""
    weights = options.get("weights")
    numeric = [name for name in table.header if name != weights and table.is_numeric(name)]
    named = (*RESPONDENTS, *(WEIGHTS if weights is None else ()))
    numeric = [name for name in numeric if name.lower() not in named or is_among_ratings(table, name)]
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
        apart = [name for name in jury[1] if name not in judges] if jury and rows_are_items else []
        if jury and apart and transposed:
            are = "is on another scale: it" if len(apart) == 1 else "are on another scale: they"
            reason += f"; {listed(apart)} {are} may be judged with the others, or be no judge"
            transposed.insert(0, {**transposed[0], "judges": jury[1], "values": "scores"})
        raise _scores_or_places(table, group, reason, [] if rows_are_items else wheres, options, transposed)


def asked_for_ratings(table: Table, columns: Sequence[str]) -> list[str]:
    """Words in the names or questions of the columns that ask for ratings, where more is better."""
    found = [_RATINGS.search(table.questions.get(name, name)) for name in columns]
    stated = stated_direction(table, columns)
    high = {stated[1].lower()} if stated and stated[0] == "scores" else set()
    return sorted({match.group().lower() for match in found if match} | high)


def is_among_ratings(table: Table, name: str) -> bool:
    """Whether a column stands between two others of whole numbers up to 10 that reach as far: it is an item."""
    at = table.index(name)
    around = [table.values(beside) for beside in table.header[max(at - 1, 0) : at + 2]]
    found = [values for values in around if values is not None and not np.isnan(values).all()]
    if len(found) < 3:
        return False
    are_whole = all(np.array_equal(values, np.round(values), equal_nan=True) for values in found)
    tops = {float(np.nanmax(values)) for values in found}
    return are_whole and len(tops) == 1 and 2 <= tops.pop() <= 10


def _doubt_about_judges(table: Table, columns: Sequence[str]) -> str | None:
    """Why the numbers of these judges may be scores rather than places; None if they are no numbers."""
    values = ranking_numbers(table, columns)
    if values is None or asked_for_ratings(table, columns):
        return doubt_about(table, columns)
    return doubt(values.T, classify(values.T)) or f"not every column is a ranking of the {len(table)} rows"


def _doubt_around(table: Table, columns: Sequence[str], is_jury: bool) -> str | None:
    """Why what stands beside the columns says that their numbers are scores; None if nothing does."""
    if table.reversed_by:
        return f"{shown(table.reversed_by)} gives the best places to the highest numbers"
    beside = [name for name in table.header if name not in columns and say_places([name])] if is_jury else []
    if beside and (numbers := signed_numbers(table, columns)) is not None:
        totals = np.nansum(numbers, axis=1)
        for name in beside:
            places = table.values(name)
            if places is not None and best_are_high(totals, places):
                return f"{shown(name)} gives the best places to the highest numbers"
    if say_places(columns):
        return None
    texts = [*table.remarks, *([column_of_items(table)] if is_jury else [])]
    said = next((text for text in texts if _POINTS.search(text)), None)
    return None if said is None else f"{shown(said)} speaks of points"


def _ties_like_ratings(table: Table, columns: Sequence[str], is_jury: bool) -> str | None:
    """Why ties may show ratings, where nothing but the numbers says that these are places; else None."""
    n_items = len(table) if is_jury else len(columns)
    texts = [*(table.questions.get(name, name) for name in columns), *([table.header[0]] if is_jury else [])]
    if n_items < _LEAST_RATED or any(map(ORDER_IN_NAME.search, texts)):
        return None
    values = None if worded_places(table, columns) else ranking_numbers(table, columns)
    if values is None:
        return None
    values = values.T if is_jury else values
    row = first_dense_tie(values, classify(values))
    if row is None:
        return None
    cells = ", ".join("-" if np.isnan(value) else f"{value:g}" for value in values[row][:8])
    where = f"column {shown(columns[row])}" if is_jury else f"line {table.lines[row]}"
    return f"{where} ({cells}) holds a number twice, as ratings do"


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
    fits += [Fit("judges", {"values": way, **where}) for where in juries for way in ways]
    fits = [fit for at, fit in enumerate(fits) if fit not in fits[:at]]  # a jury may say what its values are
    problem = f"the numbers in {listed(columns)} may be scores (higher = better) or places (1 = best): {reason}"
    if wheres and juries:
        problem = _COUNTED_ITEMS.sub("", problem)  # which of the two are items is not known
        problem += "; and the rows may be people, or the items of a jury"
    says = about_direction(*stated) if stated else ""
    problem += f". {says}" if says not in reason else ""
    return ask(table, problem, fits, options)


def _on_one_scale(table: Table, names: Sequence[str]) -> list[str]:
    """The most columns side by side that could be on one scale: their largest numbers are within a factor of 2."""

    def is_blank(name: str) -> bool:
        return set(MISSING).issuperset(table.coded(name)[0])

    best: list[str] = []
    run: list[tuple[str, float]] = []
    for name in names[:_MOST_COMPARED]:
        values = table.values(name)
        if values is not None and np.isnan(values).all():
            continue  # a judge who did not vote parts nobody
        most = 0.0 if values is None else float(np.nanmax(values))
        beside = run and all(map(is_blank, table.header[table.index(run[-1][0]) + 1 : table.index(name)]))
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
        is_other = name.lower() in (*RESPONDENTS, *WEIGHTS) and not is_among_ratings(table, name)
        if values is None or np.isnan(values).all() or is_other:
            return False
        are_grades = (
            max(most, np.nanmax(values)) <= _MOST_GRADE and np.nanmin(values) > 0 and not np.any(values % 1 > 0)
        )
        return are_grades or bool(np.nanmin(values) <= most and least <= 2 * np.nanmax(values) <= 4 * most)

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
