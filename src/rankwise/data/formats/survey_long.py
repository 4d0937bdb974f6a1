"""Survey tables with one statement per row: the place of one item, or which of two items won."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from rankwise._typing import IntArray
from rankwise.data.formats.buckets import check_size, names_in_order, rankings_from_rows
from rankwise.data.formats.column_names import POSITIONS, roles_by_name
from rankwise.data.formats.places import classify, doubt
from rankwise.data.formats.reading import python_call
from rankwise.data.formats.survey_cells import position_column, ranking_numbers, score_column
from rankwise.data.formats.text import (
    ENCODING,
    MISSING,
    Covariates,
    Path,
    Table,
    covariates,
    listed,
    names_given,
    read_table,
    shown,
    weights_column,
)
from rankwise.data.positions import Unlisted, blank_for
from rankwise.data.rankings import Rankings

_NAME_IT = "Fill in the name, or leave out the row."


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
    unlisted : {"missing", "below"}, default="missing"
        What a ranking says of items without a position: nothing, or that they rank below the others.
    missing_values : collection of str, default=("", "NA", "N/A", "#N/A", "nan", "NaN", "-")
        Position cells that count as blank; an empty one always does.
    delimiter, encoding
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
    firsts, ranking_of_row = _grouped(table, keys)
    names, item_of_row = _items_of_rows(table, item, items)
    check_size(len(firsts), len(names), len(table), table.error)
    _refuse_repeats(table, ranking_of_row, item_of_row, keys, item, column)
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
    given = (options.get(name) for name in ("respondent", "item", "position", "score"))
    keys, item, column, is_score = _long_roles(table, *given)
    numbers = None if is_score else ranking_numbers(table, [column])
    if numbers is None:
        return
    firsts, ranking_of_row = _grouped(table, keys)
    names, item_of_row = _items_of_rows(table, item, options.get("items"))
    check_size(len(firsts), len(names), len(table), table.error)
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


def read_pairwise_csv(
    path: Path | Table,
    *,
    winner: str | None = None,
    loser: str | None = None,
    left: str | None = None,
    right: str | None = None,
    items: Iterable[str] | None = None,
    weights: str | None = None,
    delimiter: str | None = None,
    encoding: str = ENCODING,
) -> tuple[Rankings, Covariates]:
    r"""Read a table of duels: each row becomes a ranking of two items.

    A row names the winner and the loser; or the two items, left and right, and which of them won.

    Parameters
    ----------
    path, items, weights, delimiter, encoding
        As in `read_long_csv`.
    winner : str, optional
        The column with the better item; by default ``winner``, ``preferred``, ``better``, ``chosen``, ``top_item``.
        With ``left`` and ``right`` it may also say "left", "right" or "tie", or name the column of the better item.
    loser : str, optional
        The column with the worse item; by default ``loser``, ``worse``, ``rejected``, ``bottom_item``.
    left, right : str, optional
        The columns with the two items, where no column holds the loser; by default ``left`` and ``right``, or
        ``item_a`` and ``item_b``.

    Returns
    -------
    rankings : Rankings
        One per row; all other items are missing from it.
    covariates : dict of str to ndarray
        The other columns.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "duels.csv"
    >>> _ = path.write_text("winner,loser,judge\ntea,milk,ann\njuice,tea,bob\n")
    >>> rankings, covariates = read_pairwise_csv(path)
    >>> rankings.items, rankings.positions[1]
    (('tea', 'milk', 'juice'), array([ 2., nan,  1.]))
    """
    table = read_table(path, delimiter, encoding)
    by_side = left is not None or right is not None
    if by_side and loser is not None:
        raise ValueError("both loser and left or right are given; give winner and loser, or left, right and winner")
    guessed = roles_by_name(table, "pairwise")
    if by_side or (loser is None and "left" in guessed):
        roles = _with_guesses(table, {"left": left, "right": right, "winner": winner}, guessed)
        rows = _duels_by_side(table, **roles)
    else:
        roles = _with_guesses(table, {"winner": winner, "loser": loser}, guessed)
        pairs = _pairs(table, roles["winner"], roles["loser"])
        rows = [[[better], [worse]] for better, worse in pairs]
    declared = None if items is None else names_given(items, "items")
    rankings = rankings_from_rows(
        rows, table.error, unlisted="missing", items=declared, weights=weights_column(table, weights)
    )
    return rankings, covariates(table, [*roles.values(), weights or ""])


def _with_guesses(table: Table, given: dict[str, Any], guessed: dict[str, str | None]) -> dict[str, Any]:
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
    roles = _with_guesses(table, {"respondent": respondent, "item": item, **column}, guessed)
    return _key_columns(roles["respondent"]), str(roles["item"]), str(roles[next(iter(column))]), is_score


def _key_columns(respondent: Any) -> list[str]:
    return [respondent] if isinstance(respondent, str) else names_given(respondent, "respondent")


def _pairs(table: Table, first: str, second: str) -> Iterator[tuple[str, str]]:
    """The two items of each row, checked to be two."""
    for row, pair in enumerate(zip(table.column(first), table.column(second), strict=True)):
        if not all(pair):
            column = second if pair[0] else first
            raise table.error("an item has no name", row=row, column=column, cure=_NAME_IT)
        if pair[0] == pair[1]:
            raise table.error(
                f"{shown(pair[0])} is both {first} and {second}", row=row, cure="Name two items, or leave out the row."
            )
        yield pair


def _duels_by_side(table: Table, left: str, right: str, winner: str) -> list[list[list[str]]]:
    rows = []
    for row, (pair, said) in enumerate(zip(_pairs(table, left, right), table.column(winner), strict=True)):
        word = said.lower()
        left_won = said == pair[0] or word in ("left", left.lower())
        right_won = said == pair[1] or word in ("right", right.lower())
        if left_won != right_won:
            rows.append([[pair[0]], [pair[1]]] if left_won else [[pair[1]], [pair[0]]])
        elif word == "tie" and not left_won:
            rows.append([list(pair)])
        else:
            raise table.error(
                f"the winner {shown(said)} is not clear",
                row=row,
                column=winner,
                cure="Write left, right or tie, or the name of one of the two items.",
            )
    return rows


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
        raise table.error("the row does not say whose it is", row=row, column=key, cure=_NAME_IT)
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
        cure = "Correct it, or add it to items." if cell else _NAME_IT
        raise table.error(problem, row=row, column=item, cure=cure)
    return names, np.array([index[cell] for cell in cells.distinct], dtype=np.intp)[cells.codes]


def _refuse_repeats(
    table: Table, ranking_of_row: IntArray, item_of_row: IntArray, keys: list[str], item: str, position: str
) -> None:
    first_row: dict[tuple[int, int], int] = {}
    for row, cell in enumerate(zip(ranking_of_row.tolist(), item_of_row.tolist(), strict=True)):
        if cell in first_row:
            others = [name for name in table.header if name not in {*keys, item, position}]
            wider = [*keys, others[0] if len(others) == 1 else "..."]
            error = table.error(
                f"item {shown(table.column(item)[row])} has a position on line "
                f"{table.lines[first_row[cell]]} already, for the same {' and '.join(keys)}",
                row=row,
                column=item,
                cure=f"Leave one row out; or, if more columns tell rankings apart, give respondent={wider!r}.",
            )
            error.choices = [{"layout": "long", "respondent": wider}] if len(others) == 1 else []
            raise error
        first_row[cell] = row


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
