"""Survey tables in long form: a row gives the place or the score of one item by one respondent."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rankwise._typing import IntArray
from rankwise.data.formats.buckets import check_size, names_in_order
from rankwise.data.formats.column_names import POSITIONS, roles_by_name
from rankwise.data.formats.delimited import read_table
from rankwise.data.formats.places import classify, doubt
from rankwise.data.formats.reading import python_call
from rankwise.data.formats.survey_cells import place_meanings, position_column, ranking_numbers, score_column
from rankwise.data.formats.tables import (
    MISSING,
    Covariates,
    Keep,
    Table,
    covariates,
    names_given,
    weights_column,
)
from rankwise.data.formats.text import ENCODING, Path, listed, shown
from rankwise.data.positions import Unlisted, blank_for
from rankwise.data.rankings import Rankings

#: what the columns of a long table are
ROLES = ("respondent", "item", "position", "score")
# Of how many traits people rank items; a column of more texts is something else.
_MOST_TRAITS = 20
#: the cure where a row lacks a name
NAME_IT = "Fill in the name, or leave out the row."


def read_long_csv(
    path: Path | Table,
    *,
    respondent: str | Sequence[str] | None = None,
    item: str | None = None,
    position: str | None = None,
    score: str | None = None,
    items: Iterable[str] | None = None,
    weights: str | None = None,
    drop: Iterable[str] = (),
    trait: str | None = None,
    keep: Keep | None = None,
    unlisted: Unlisted = "missing",
    missing_values: Collection[str] = MISSING,
    delimiter: str | None = None,
    encoding: str = ENCODING,
) -> tuple[Rankings, Covariates]:
    r"""Read a table in long form: each row gives the position (or the score) of one item by one respondent.

    Parameters
    ----------
    path : str or path-like
        The file, as in `read_positions_csv`.
    respondent : str or sequence of str, optional
        The column that says whose ranking the row belongs to, or several that say so together. By default a column
        named ``respondent``, ``id``, ``person``, ``user``, ``voter``, ``judge`` or similar.
    item : str, optional
        The column with the name of the item; by default ``item``, ``option``, ``candidate`` or similar.
    position : str, optional
        The column with its position, 1 = best; by default ``position``, ``rank`` or ``place``.
    score : str, optional
        The column with its score, higher = better, instead of a position; by default ``score``, ``points`` or
        ``rating`` if there is no column of positions.
    items : sequence of str, optional
        The names of all items; by default those that occur, by number if all are whole numbers.
    weights : str, optional
        The column that says how often each ranking counts.
    drop : sequence of str, optional
        Columns to leave out. The other columns are covariates of the respondent and must not vary within one.
    trait : str, optional
        Read only the rows that hold it in one of the other columns, where items are ranked for several traits.
    keep : {"first", "last"}, optional
        Which row to keep where a respondent has an item on several; by default such tables are refused.
    unlisted : {"missing", "below"}, default="missing"
        What a ranking says of items without a position: nothing, or that they rank below the others.
    missing_values, delimiter, encoding
        As in `read_positions_csv`.

    Returns
    -------
    rankings : Rankings
        One per respondent, in order of appearance.
    covariates : dict of str to ndarray
        The columns of the respondent and all other columns, one entry per ranking.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "drinks.csv"
    >>> _ = path.write_text("id,item,rank\nann,tea,1\nann,milk,2\nbob,milk,1\nbob,juice,2\n")
    >>> rankings, covariates = read_long_csv(path)
    >>> rankings.items, rankings.positions[1], covariates["id"]
    (('tea', 'milk', 'juice'), array([nan,  1.,  2.]), array(['ann', 'bob'], dtype=object))
    """
    table = read_table(path, delimiter, encoding)
    keys, item, column, is_score = _long_roles(table, respondent, item, position, score)
    dropped = names_given(drop, "drop")
    for name in dropped:
        table.index(name)
    chosen = {"respondent": keys, "item": item, "score" if is_score else "position": column}
    table = wanted_rows(table, {**chosen, "trait": trait, "keep": keep})
    firsts, ranking_of_row = _grouped(table, keys)
    names, item_of_row = _items_of_rows(table, item, items)
    check_size(len(firsts), len(names), len(table), table.error)
    _refuse_repeats(table, ranking_of_row, item_of_row, chosen)
    left_out = {*keys, item, column, *dropped}
    for name in (name for name in table.header if name not in left_out):
        _refuse_variation(table, name, firsts, ranking_of_row, keys)
    read_column, build, blank = position_column, Rankings, blank_for(unlisted)
    if is_score:
        read_column, build, blank = score_column, Rankings.from_scores, -blank  # type: ignore[assignment]
    values = np.full((len(firsts), len(names)), blank)
    values[ranking_of_row, item_of_row] = read_column(table, column, missing_values, blank)
    all_weights = weights_column(table, weights)
    rankings = build(values, names, None if all_weights is None else all_weights[firsts])
    return rankings, covariates(table, [item, column, weights or "", *dropped], rows=firsts)


def refuse_scores_in_long(table: Table, options: Mapping[str, Any]) -> None:
    """Refuse a long table whose positions may be scores, with the calls to choose from."""
    given = (options.get(name) for name in ROLES)
    keys, item, column, is_score = _long_roles(table, *given)
    numbers = None if is_score else ranking_numbers(table, [column])
    if numbers is None:
        return
    firsts, ranking_of_row = _grouped(table, keys)
    names, item_of_row = _items_of_rows(table, item, options.get("items"))
    check_size(len(firsts), len(names), len(table), table.error)
    if len(np.unique(ranking_of_row * len(names) + item_of_row)) < len(table):
        return  # an item has two places, as the reader will say
    values = np.full((len(firsts), len(names)), np.nan)
    values[ranking_of_row, item_of_row] = numbers[:, 0]
    reason = doubt(values, classify(values), named_places=column.lower() in POSITIONS)
    if reason is not None:
        where = {"layout": "long", "respondent": keys[0] if len(keys) == 1 else keys, "item": item}
        ways = [{**where, "score": column}, {**where, "position": column}]
        error = table.error(
            f"the numbers in {shown(column)} may be scores (higher = better) or places (1 = best): {reason}",
            cure=f"Write {' or '.join(map(python_call, ways))}.",
        )
        error.choices = ways
        raise error


def bad_rows_of_long(table: Table, options: Mapping[str, Any], blanks: set[str]) -> dict[int, str]:
    """Rows of a long table that are no part of a ranking, with the words for it; all rows where an item is twice."""
    given = (options.get(name) for name in ROLES)
    keys, item, column, is_score = _long_roles(table, *given)
    said = table.column(column)
    meaning = table.numbers(set(said)) if is_score else place_meanings(table, set(said))
    problems: dict[int, str] = {}
    rows_of: dict[tuple[str, ...], list[int]] = {}
    first_row: dict[tuple[str, ...], int] = {}
    for row, (name, *who) in enumerate(zip(table.column(item), *map(table.column, keys), strict=True)):
        value = meaning[said[row]]
        if not name or not all(who):
            problems[row] = "no name of the item, or of who ranked it"
        elif said[row] not in blanks and (value is None or (not is_score and value <= 0)):
            problems[row] = f"not a {'score' if is_score else 'position'} in a cell"
        rows_of.setdefault(tuple(who), []).append(row)
        if first_row.setdefault((*who, name), row) != row:
            problems |= dict.fromkeys(rows_of[tuple(who)], "a ranking has an item twice")
    twice = {tuple(table.column(key)[row] for key in keys) for row, why in problems.items() if why.endswith("twice")}
    return problems | {row: "a ranking has an item twice" for who in twice for row in rows_of[who]}


def with_guesses(table: Table, given: dict[str, Any], guessed: dict[str, str | None]) -> dict[str, Any]:
    """The column of every role: the one given, else the one guessed from the names."""
    roles = {role: guessed.get(role) if name is None else name for role, name in given.items()}
    for role, name in roles.items():
        if name is None:
            raise table.error(
                f"it is not clear which of the columns {listed(table.header)} is the {role}",
                cure=f"Name it: {role}='...'.",
            )
        for column in _key_columns(name) if role == "respondent" else [name]:
            table.index(column)
    return roles


def _long_roles(
    table: Table, respondent: Any, item: str | None, position: str | None, score: str | None
) -> tuple[list[str], str, str, bool]:
    """The columns that tell rankings apart, of the items, and of the positions or scores; whether these are scores."""
    if position is not None and score is not None:
        raise ValueError("both position and score are given; give one of them")
    guessed = roles_by_name(table, "long")
    is_score = score is not None or (position is None and "score" in guessed)
    column = {"score": score} if is_score else {"position": position}
    roles = with_guesses(table, {"respondent": respondent, "item": item, **column}, guessed)
    return _key_columns(roles["respondent"]), str(roles["item"]), str(roles[next(iter(column))]), is_score


def _key_columns(respondent: Any) -> list[str]:
    return [respondent] if isinstance(respondent, str) else names_given(respondent, "respondent")


def _grouped(table: Table, keys: list[str]) -> tuple[list[int], IntArray]:
    """The first row of each ranking, and the ranking that each row belongs to."""
    columns = [table.columns[table.index(key)] for key in keys]
    empty = [
        (row, key)
        for key, column in zip(keys, columns, strict=True)
        if (row := column.first_row(lambda cell: not cell)) is not None
    ]
    if empty:
        row, key = min(empty, key=lambda found: found[0])
        raise table.error("the row does not say whose it is", row=row, column=key, cure=NAME_IT)
    ranking_of_row = columns[0].codes.astype(np.intp)
    for column in columns[1:]:
        pairs = ranking_of_row * len(column.distinct) + column.codes
        ranking_of_row = np.unique(pairs, return_inverse=True)[1]
    # Number the rankings by their first rows.
    _, firsts, ranking_of_row = np.unique(ranking_of_row, return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return firsts[order].tolist(), place[ranking_of_row]


def _items_of_rows(table: Table, item: str, items: Iterable[str] | None) -> tuple[list[str], IntArray]:
    cells = table.columns[table.index(item)]
    names = names_in_order(cells.distinct) if items is None else names_given(items, "items")
    index = {name: i for i, name in enumerate(names)}
    row = cells.first_row(lambda cell: not cell or cell not in index)
    if row is not None:
        cell = cells.cells[row]
        problem = f"item {shown(cell)} is not declared" if cell else "the item has no name"
        cure = "Correct it, or add it to items." if cell else NAME_IT
        raise table.error(problem, row=row, column=item, cure=cure)
    return names, np.array([index[cell] for cell in cells.distinct], dtype=np.intp)[cells.codes]


def _refuse_repeats(table: Table, ranking_of_row: IntArray, item_of_row: IntArray, chosen: Mapping[str, Any]) -> None:
    """Refuse a table in which somebody has an item on two rows; ``chosen`` are the columns of its roles."""
    cells = ranking_of_row * (item_of_row.max(initial=0) + 1) + item_of_row
    _, firsts, cell_of_row = np.unique(cells, return_index=True, return_inverse=True)
    repeated = np.flatnonzero(firsts[cell_of_row] != np.arange(len(table)))
    if not len(repeated):
        return
    keys, item, what = chosen["respondent"], chosen["item"], "score" if "score" in chosen else "position"
    others = [name for name in table.header if name not in {*keys, item, chosen[what]}]
    where = {"layout": "long", **chosen, "respondent": keys[0] if len(keys) == 1 else keys}
    ways = [{**where, "keep": "first"}, {**where, "keep": "last"}]
    cure = f"To keep the first of such rows, write {python_call(ways[0])}; the last, write {python_call(ways[1])}"
    if others:
        ways.insert(0, {**where, "respondent": [*keys, others[0]]})
        cure = f"If {shown(others[0])} tells rankings apart, write {python_call(ways[0])}. {cure}"
        levels = table.coded(others[0])[0]
        if not table.is_numeric(others[0]) and len(levels) <= _MOST_TRAITS:
            ways.insert(1, {**where, "trait": levels[0]})
            cure = cure.replace(". To keep", f"; to read one of them only, write {python_call(ways[1])}. To keep")
    if 2 * np.count_nonzero(np.isin(ranking_of_row, ranking_of_row[repeated])) <= len(table):
        ways.append({**where, "invalid": "drop"})
        cure += f"; to drop all rankings with such rows, write {python_call(ways[-1])}"
    row = int(repeated[0])
    error = table.error(
        f"item {shown(table.column(item)[row])} has a {what} on line {table.lines[firsts[cell_of_row[row]]]} already, "
        f"for the same {' and '.join(keys)}",
        row=row,
        column=item,
        cure=f"{cure}.",
    )
    error.choices = ways
    raise error


def wanted_rows(table: Table, options: Mapping[str, Any]) -> Table:
    """The rows of a long table that ``trait`` and ``keep`` among the options of `read_long_csv` leave, with notes."""
    trait, keep = options.get("trait"), options.get("keep")
    keys, item, column, _ = _long_roles(table, *(options.get(name) for name in ROLES))
    if trait is not None:
        others = [name for name in table.header if name not in {*keys, item, column}]
        found = [name for name in others if trait in table.coded(name)[0]]
        if len(found) != 1:
            words = [cell for name in others[:1] for cell in table.coded(name)[0]]
            where = f"{len(found)} columns hold" if found else "no column holds"
            raise table.error(f"{where} the trait {shown(trait)}", cure=f"Choose among {listed(words or others)}.")
        cells = table.columns[table.index(found[0])]
        rows = np.flatnonzero(cells.codes == cells.distinct.index(trait))
        if len(rows) < len(table):
            note = f"Only the {len(rows):,} rows with {shown(trait)} in {shown(found[0])} were read."
            table = replace(table.take(rows), notes=(*table.notes, note))
    if keep is not None:
        pairs = [table.columns[table.index(name)].codes.astype(np.int64) for name in (*keys, item)]
        order = -1 if keep == "last" else 1
        rows = np.sort(
            np.arange(len(table))[::order][np.unique(np.stack(pairs)[:, ::order], axis=1, return_index=True)[1]]
        )
        if len(rows) < len(table):
            n = len(table) - len(rows)
            note = f"Left out {n:,} row{'s' * (n != 1)}: the same {' and '.join((*keys, item))} as on the {keep} one."
            table = replace(table.take(rows), notes=(*table.notes, note))
    return table


def _refuse_variation(table: Table, name: str, firsts: list[int], ranking_of_row: IntArray, keys: list[str]) -> None:
    """Refuse a covariate that varies within a ranking: the rows may belong to several rankings."""
    column = table.columns[table.index(name)]
    varies = column.codes != column.codes[np.array(firsts)][ranking_of_row]
    if varies.any():
        row = int(np.argmax(varies))
        first = firsts[ranking_of_row[row]]
        raise table.error(
            f"{shown(name)} is {shown(column.cells[row])}, but {shown(column.cells[first])} on line "
            f"{table.lines[first]} for the same {' and '.join(keys)}",
            row=row,
            column=name,
            cure=f"Give respondent={[*keys, name]} if it tells rankings apart, or leave it out: drop=[{name!r}].",
        )
