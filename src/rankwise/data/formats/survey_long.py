"""Survey tables with one statement per row: the place of one item, or which of two items won."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rankwise._typing import IntArray
from rankwise.data.formats.buckets import check_size, names_in_order, rankings_from_rows
from rankwise.data.formats.column_names import POSITIONS, Fit, roles_by_name
from rankwise.data.formats.delimited import read_table
from rankwise.data.formats.places import classify, doubt
from rankwise.data.formats.reading import python_call
from rankwise.data.formats.survey_cells import place_meanings, position_column, ranking_numbers, score_column
from rankwise.data.formats.tables import MISSING, Covariates, Table, covariates, names_given, weights_column
from rankwise.data.formats.text import ENCODING, Path, listed, shown
from rankwise.data.positions import Unlisted, blank_for
from rankwise.data.rankings import Rankings

# Words that tell two sides apart, and words for what each of them won.
_SIDES = (
    *(("a", "b"), ("1", "2"), ("home", "away"), ("left", "right"), ("first", "second"), ("x", "y")),
    *(("white", "black"), ("red", "blue")),
)
_POINTS = ("score", "scores", "points", "pts", "goals", "sets", "games", "runs", "punkte", "tore", "votes")
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


def read_pairwise_csv(
    path: Path | Table,
    *,
    winner: str | None = None,
    loser: str | None = None,
    left: str | None = None,
    right: str | None = None,
    left_score: str | None = None,
    right_score: str | None = None,
    items: Iterable[str] | None = None,
    weights: str | None = None,
    delimiter: str | None = None,
    encoding: str = ENCODING,
) -> tuple[Rankings, Covariates]:
    r"""Read a table of duels: each row becomes a ranking of two items.

    A row names the winner and the loser; or the two items, left and right, and which of them won, or the score of each.

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
    left_score, right_score : str, optional
        The columns with the scores of the two, where no column says who won: the higher score wins, equal ones are a
        tie. By default such as ``score_a`` and ``score_b`` beside ``player_a`` and ``player_b``.

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
    given = {"winner": winner, "loser": loser, "left": left, "right": right}
    roles = _roles_of_duels(table, {**given, "left_score": left_score, "right_score": right_score})
    rows = []
    for row, outcome in enumerate(_outcomes(table, roles)):
        if isinstance(outcome, _Unclear):
            raise table.error(outcome.problem, row=row, column=outcome.column, cure=outcome.cure)
        rows.append(outcome)
    declared = None if items is None else names_given(items, "items")
    rankings = rankings_from_rows(
        rows, table.error, unlisted="missing", items=declared, weights=weights_column(table, weights)
    )
    return rankings, covariates(table, [*roles.values(), weights or ""])


def match_fits(table: Table) -> list[Fit]:
    """Duels with the score of each side, where the names of the columns show one pair of names and one of scores."""
    names, scores = [], []
    for marks in _SIDES:
        columns = {tuple(re.findall(r"[^\W\d_]+|\d+", name.lower())): name for name in table.header}
        for words, one in columns.items():
            other = columns.get(tuple(marks[1] if word == marks[0] else word for word in words))
            if marks[0] not in words or other is None or len(words) > 3:
                continue
            if table.is_numeric(one) and table.is_numeric(other):
                scores += [(one, other)] * (not {*words}.isdisjoint(_POINTS))
            elif not table.is_numeric(one) and not table.is_numeric(other):
                names.append((one, other))
    if len(names) != 1 or len(scores) != 1:
        return []
    options = dict(zip(("left", "right", "left_score", "right_score"), (*names[0], *scores[0]), strict=True))
    return [Fit("pairwise", options, "In every row two items meet: the higher score wins, equal scores are a tie.")]


def bad_rows_of_long(table: Table, options: Mapping[str, Any], blanks: set[str]) -> dict[int, str]:
    """Rows of a long table that are no part of a ranking, with the words for it; all rows where an item is twice."""
    given = (options.get(name) for name in ("respondent", "item", "position", "score"))
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


def bad_duels(table: Table, options: Mapping[str, Any]) -> dict[int, str]:
    """Rows of duels that name no two items, or no clear winner, with the words for it."""
    outcomes = _outcomes(table, _roles_of_duels(table, options))
    return {row: "not a duel of two items" for row, found in enumerate(outcomes) if isinstance(found, _Unclear)}


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


class _Unclear(NamedTuple):
    """A row that is not a duel: the words of the error, where it is, and the cure."""

    problem: str
    column: str | None
    cure: str


def _roles_of_duels(table: Table, given: Mapping[str, Any]) -> dict[str, str]:
    """The columns of winner and loser; or of the two sides, and of the winner or both scores."""
    if given.get("loser") is not None and (given.get("left") is not None or given.get("right") is not None):
        raise ValueError("both loser and left or right are given; give winner and loser, or left, right and winner")
    guessed = roles_by_name(table, "pairwise")
    matches = match_fits(table)
    wanted: tuple[str, ...] = ("winner", "loser")
    if (
        given.get("left_score")
        or given.get("right_score")
        or (matches and not (given.get("winner") or given.get("loser")))
    ):
        wanted, guessed = ("left", "right", "left_score", "right_score"), matches[0].options if matches else guessed
    elif given.get("left") or given.get("right") or (not given.get("loser") and "left" in guessed):
        wanted = ("left", "right", "winner")
    return _with_guesses(table, {role: given.get(role) for role in wanted}, guessed)


def _outcomes(table: Table, roles: Mapping[str, str]) -> Iterator[list[list[str]] | _Unclear]:
    """The buckets of each row, or why there are none."""
    first, second = (roles[role] for role in (("left", "right") if "left" in roles else ("winner", "loser")))
    by_score = "left_score" in roles
    said: Iterable[Any] = table.column(roles["winner"]) if not by_score else ()
    if by_score:
        scores = [table.values(roles[side]) for side in ("left_score", "right_score")]
        for side, values in zip(("left_score", "right_score"), scores, strict=True):
            if values is None:
                score_column(table, roles[side], MISSING, np.nan)  # says which cell is not a score
        said = zip(*scores, strict=True)
    for better, worse, word in zip(table.column(first), table.column(second), said, strict=True):
        if not better or not worse:
            yield _Unclear("an item has no name", second if better else first, _NAME_IT)
        elif better == worse:
            problem = f"{shown(better)} is both {first} and {second}"
            yield _Unclear(problem, None, "Name two items, or leave out the row.")
        elif by_score and (word[0] != word[0] or word[1] != word[1]):
            yield _Unclear("a score is missing", None, "Fill it in; or drop such rows with invalid='drop'.")
        elif "left" not in roles:
            yield [[better], [worse]]
        else:
            yield _by_score(better, worse, *word) if by_score else _by_word(better, worse, word, roles)


def _by_score(left: str, right: str, points: float, others: float) -> list[list[str]]:
    return [[left, right]] if points == others else [[left], [right]] if points > others else [[right], [left]]


def _by_word(left: str, right: str, said: str, roles: Mapping[str, str]) -> list[list[str]] | _Unclear:
    """The buckets of two items, of which a word names the better one, its side, or a tie."""
    word = said.lower()
    left_won = said == left or word in ("left", roles["left"].lower())
    right_won = said == right or word in ("right", roles["right"].lower())
    if left_won != right_won:
        return [[left], [right]] if left_won else [[right], [left]]
    if word == "tie" and not left_won:
        return [[left, right]]
    cure = "Write left, right or tie, or the name of one of the two items."
    return _Unclear(f"the winner {shown(said)} is not clear", roles["winner"], cure)


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
            more = (
                f"; or, if more columns tell rankings apart, give respondent={[*keys, *others[:1]]!r}" if others else ""
            )
            error = table.error(
                f"item {shown(table.column(item)[row])} has a position on line "
                f"{table.lines[first_row[cell]]} already, for the same {' and '.join(keys)}",
                row=row,
                column=item,
                cure=f"Leave one row out, or all rankings with such rows: invalid='drop'{more}.",
            )
            error.choices = [{"respondent": [*keys, *others]}] if len(others) == 1 else []
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
