"""Tables of duels: a row says which of two items won, or what each of them scored."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from rankwise._typing import FloatArray
from rankwise.data.formats.buckets import rankings_from_rows
from rankwise.data.formats.column_names import Fit, roles_by_name
from rankwise.data.formats.delimited import read_table
from rankwise.data.formats.survey_cells import mostly_numbers, repeats_cells
from rankwise.data.formats.survey_long import NAME_IT, with_guesses
from rankwise.data.formats.tables import MISSING, Covariates, Table, covariates, names_given, weights_column
from rankwise.data.formats.text import ENCODING, Path, shown
from rankwise.data.rankings import Rankings

# Words that tell two sides apart, and words for what each of them won.
_SIDES = (
    *(("a", "b"), ("1", "2"), ("home", "away"), ("left", "right"), ("first", "second"), ("x", "y")),
    *(("white", "black"), ("red", "blue")),
)
_POINTS = ("score", "scores", "points", "pts", "goals", "sets", "games", "runs", "punkte", "tore", "votes")
_RESULTS = (
    *_POINTS,
    "outcome",
    "result",
    "results",
    "ergebnis",
    "resultat",
    "résultat",
    "resultado",
    "risultato",
    "uitslag",
)
# What the column is called that says which of two items is better, and what it says of both.
_BETTER = re.compile(
    r"(?<![^\W\d_])(?:winners?|won|prefer(?:red|ence|s)?|better|best|chosen|choice|pick(?:ed)?|select(?:ed|ion)?|favou?rite|"
    r"result|outcome|sieger|gewinner|besser|gewählt|auswahl|vainqueur|gagnant|préféré|choix|ganador|preferid[oa]|"
    r"elegid[oa]|elección|vincitore|preferit[oa]|scelta|winnaar|keuze|vencedor|escolha)(?![^\W\d_])",
    re.IGNORECASE,
)
_DRAWN = (
    *("tie", "tied", "draw", "drawn", "equal", "same", "=", "x", "unentschieden", "gleich", "égalité", "nul", "empate"),
    *("pareggio", "gelijk", "gelijkspel"),
)
# What a column says of the item on the left: it won, lost, or neither.
_OF_LEFT = {"1": (1.0, 0.0), "0": (0.0, 1.0), **dict.fromkeys(("½", "1/2", "0.5", "0,5"), (0.5, 0.5))}
_MOST_TEXTS = 40
_MOST_UNCLEAR = 1 / 3
# Both scores in one cell: 3-1, 3 : 1, ½-½.
_BOTH_SCORES = re.compile(r"(\d+(?:[.,]\d+)?|½|1/2)\s*[-\u2013\u2014:]\s*(\d+(?:[.,]\d+)?|½|1/2)", re.ASCII)


def read_pairwise_csv(
    path: Path | Table,
    *,
    winner: str | None = None,
    loser: str | None = None,
    left: str | None = None,
    right: str | None = None,
    left_score: str | None = None,
    right_score: str | None = None,
    result: str | None = None,
    items: Iterable[str] | None = None,
    weights: str | None = None,
    delimiter: str | None = None,
    encoding: str = ENCODING,
) -> tuple[Rankings, Covariates]:
    r"""Read a table of duels: each row becomes a ranking of two items.

    A row names the winner and the loser; or the two items, left and right, and which of them won, or the score of each
    in two columns or one cell.

    Parameters
    ----------
    path, items, weights, delimiter, encoding
        As in `read_long_csv`.
    winner : str, optional
        The column with the better item; by default ``winner``, ``preferred``, ``better``, ``chosen``, ``top_item``.
        With ``left`` and ``right`` it may also say "left", "right" or "tie", or name the column of the better item: as
        a whole, by what tells it from the other ("a" for ``item_a``), or by 1 and 2.
    loser : str, optional
        The column with the worse item; by default ``loser``, ``worse``, ``rejected``, ``bottom_item``.
    left, right : str, optional
        The columns with the two items, where no column holds the loser; by default ``left`` and ``right``, or
        ``item_a`` and ``item_b``.
    left_score, right_score : str, optional
        The columns with the scores of the two, where no column says who won: the higher score wins, equal ones are a
        tie. By default such as ``score_a`` and ``score_b`` beside ``player_a`` and ``player_b``.
    result : str, optional
        The column with both scores in one cell, that of the left item first, as "3-1" or "3:1"; or with 1 where the
        left item won, 0 where it lost, and 0.5 for a tie.

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
    roles = _roles_of_duels(table, {**given, "left_score": left_score, "right_score": right_score, "result": result})
    outcomes = list(_outcomes(table, roles))
    rows = [outcome for outcome in outcomes if not isinstance(outcome, _Unclear)]
    unclear = {row: outcome for row, outcome in enumerate(outcomes) if isinstance(outcome, _Unclear)}
    if unclear:
        row, outcome = next(iter(unclear.items()))
        may_drop = len(unclear) <= len(rows)
        cure = f"{outcome.cure[:-1]}; to drop such rows, add invalid='drop'." if may_drop else outcome.cure
        error = table.error(outcome.problem, row=row, column=outcome.column, cure=cure)
        counted = {} if weights is None else {"weights": weights}
        error.choices = [{"layout": "pairwise", **roles, **counted, "invalid": "drop"}] if may_drop else []
        raise error
    declared = None if items is None else names_given(items, "items")
    rankings = rankings_from_rows(
        rows, table.error, unlisted="missing", items=declared, weights=weights_column(table, weights)
    )
    return rankings, covariates(table, [*roles.values(), weights or ""])


def match_fits(table: Table) -> list[Fit]:
    """Duels with the scores of both sides, in two columns or in one cell as "3-1"."""
    names, scores = [], []
    for marks in _SIDES:
        columns = {tuple(re.findall(r"[^\W\d_]+|\d+", name.lower())): name for name in table.header}
        for words, one in columns.items():
            other = columns.get(tuple(marks[1] if word == marks[0] else word for word in words))
            if marks[0] not in words or other is None or len(words) > 3:
                continue
            # A walkover is no number.
            if mostly_numbers(table, [one, other]):
                scores += [(one, other)] * (not {*words}.isdisjoint(_POINTS))
            elif not table.is_numeric(one) and not table.is_numeric(other):
                names.append((one, other))
    reason = "In every row two items meet: the higher score wins, equal scores are a tie."
    if len(names) == 1 and len(scores) == 1:
        options = dict(zip(("left", "right", "left_score", "right_score"), (*names[0], *scores[0]), strict=True))
        return [Fit("pairwise", options, reason)]
    if None not in roles_by_name(table, "pairwise").values():
        return []
    results = [name for name in table.header if _holds_results(table, name)]
    sides = names if len(results) != 1 or len(names) == 1 else _sharing_names(table, results[0])
    if len(results) == 1 and len(sides) == 1 and _says_result(table, results[0], sides[0]):
        left, right = sides[0]
        how = f"{reason} {results[0]!r} holds both, that of {left!r} first."
        if set(table.coded(results[0])[0]).difference(MISSING) <= _OF_LEFT.keys():
            how = f"In every row two items meet: 1 in {results[0]!r} says that {left!r} won, 0 that it lost."
        return [Fit("pairwise", {"left": left, "right": right, "result": results[0]}, how)]
    return _winner_fits(table)


def _winner_fits(table: Table) -> list[Fit]:
    """Duels where a column named so says which of two columns holds the better item."""
    named = [name for name in table.header if _BETTER.search(name) and repeats_cells(table, name)]
    texts = [name for name in table.header if not table.is_numeric(name)]
    if not named or len(texts) > _MOST_TEXTS:
        return []
    fits = []
    for left, right in _sharing_names(table, ""):
        sides = list(zip(table.column(left), table.column(right), strict=True))
        if any(one == other for one, other in sides) or any(_BETTER.search(name) for name in (left, right)):
            continue
        for winner in named:
            marks, said = _side_marks(table, left, right, winner), table.column(winner)
            given = [(cell, both) for cell, both in zip(said, sides, strict=True) if cell]
            won = [cell if cell in both else marks.get(cell.lower()) for cell, both in given]
            if not won or won.count(None) > _MOST_UNCLEAR * len(won):  # a slip is named by the reader
                continue
            by_mark = {cell: marks[cell.lower()] for cell in dict.fromkeys(said) if cell.lower() in marks}
            meant = {"left": repr(left), "right": repr(right), "tie": "a tie"}
            legend = ", ".join(f"{cell!r} is {meant[side]}" for cell, side in by_mark.items())
            how = f"In every row two items meet, and {winner!r} says which is better{f': {legend}' if legend else ''}."
            fits.append(Fit("pairwise", {"left": left, "right": right, "winner": winner}, how))
    return fits if len(fits) == 1 else []


def _side_marks(table: Table, left: str, right: str, winner: str) -> dict[str, str]:
    """What a cell may say besides the name of the better item, in lower case: a side of the two, or a tie."""
    marks = {"left": "left", "right": "right", left.lower(): "left", right.lower(): "right"}
    marks |= dict.fromkeys(_DRAWN, "tie")
    words = [re.findall(r"[^\W\d_]+|\d+", name.lower()) for name in (left, right)]
    if len(words[0]) == len(words[1]):
        apart = [pair for pair in zip(*words, strict=True) if pair[0] != pair[1]]
        if len(apart) == 1:
            marks |= {apart[0][0]: "left", apart[0][1]: "right"}
    said = {cell.lower() for cell in table.coded(winner)[0]}.difference(map(str.lower, MISSING))
    # Where a 0 is among them, a 1 may mean anything, unless both numbers are there.
    if said - {*_DRAWN, "0"} == {"1", "2"}:
        marks |= {"1": "left", "2": "right", "0": "tie"}
    return marks


def bad_duels(table: Table, options: Mapping[str, Any]) -> dict[int, str]:
    """Rows of duels that name no two items, or no clear winner, with the words for it."""
    outcomes = _outcomes(table, _roles_of_duels(table, options))
    return {row: "not a duel of two items" for row, found in enumerate(outcomes) if isinstance(found, _Unclear)}


def both_scores(cell: str) -> tuple[float, float]:
    """The two scores in a cell, NaN where it does not hold them; 1, 0 and ½ are outcomes for the first."""
    found = _BOTH_SCORES.fullmatch(cell)
    if found is None:
        return _OF_LEFT.get(cell, (np.nan, np.nan))
    left, right = (0.5 if part in ("½", "1/2") else float(part.replace(",", ".")) for part in found.groups())
    return left, right


def _holds_results(table: Table, name: str) -> bool:
    """Whether most cells of a column hold two scores, as "3-1"."""
    cells = [cell for cell in table.coded(name)[0] if cell not in MISSING] if repeats_cells(table, name) else []
    if cells and {*cells} <= _OF_LEFT.keys():
        return not {*re.findall(r"[^\W\d_]+", name.lower())}.isdisjoint(_RESULTS)
    return bool(cells) and 2 * sum(_BOTH_SCORES.fullmatch(cell) is not None for cell in cells) > len(cells)


def _sharing_names(table: Table, result: str) -> list[tuple[str, str]]:
    """Pairs of columns of texts that share some of their cells."""
    texts = [name for name in table.header if name != result and not table.is_numeric(name)]
    cells = {name: set(table.coded(name)[0]).difference(MISSING) for name in texts}
    return [(one, other) for one, other in combinations(texts, 2) if not cells[one].isdisjoint(cells[other])]


def _says_result(table: Table, result: str, sides: tuple[str, str]) -> bool:
    """Whether the column is named like a result; or stands between the sides, and is no range as 18-24."""
    if not set(re.findall(r"[^\W\d_]+", result.lower())).isdisjoint(_RESULTS):
        return True
    left, at, right = (table.index(name) for name in (sides[0], result, sides[1]))
    found = [both_scores(cell) for cell in table.coded(result)[0]]
    return left < at < right and any(scores[0] >= scores[1] for scores in found)


class _Unclear(NamedTuple):
    """A row that is not a duel: the words of the error, where it is, and the cure."""

    problem: str
    column: str | None
    cure: str


def _roles_of_duels(table: Table, given: Mapping[str, Any]) -> dict[str, str]:
    """The columns of winner and loser; or of the two sides, and of the winner, both scores or the result."""
    if given.get("loser") is not None and (given.get("left") is not None or given.get("right") is not None):
        raise ValueError("both loser and left or right are given; give winner and loser, or left, right and winner")
    guessed = roles_by_name(table, "pairwise")
    matches = match_fits(table)
    wanted: tuple[str, ...] = ("winner", "loser")
    scores: tuple[str, ...] = ("result",) if given.get("result") else ()
    if given.get("left_score") or given.get("right_score"):
        scores = ("left_score", "right_score")
    if scores or (matches and not (given.get("winner") or given.get("loser"))):
        guessed = matches[0].options if matches else guessed
        wanted = ("left", "right", *(scores or list(guessed)[2:]))
    elif given.get("left") or given.get("right") or (not given.get("loser") and "left" in guessed):
        wanted = ("left", "right", "winner")
    return with_guesses(table, {role: given.get(role) for role in wanted}, guessed)


def _outcomes(table: Table, roles: Mapping[str, str]) -> Iterator[list[list[str]] | _Unclear]:
    """The buckets of each row, or why there are none."""
    first, second = (roles[role] for role in (("left", "right") if "left" in roles else ("winner", "loser")))
    by_score = "left_score" in roles or "result" in roles
    said: Iterable[Any] = table.column(roles["winner"]) if not by_score else ()
    marks = {} if by_score or "left" not in roles else _side_marks(table, first, second, roles["winner"])
    # Rows repeat their outcomes, so every different one is made once.
    by_names, of_score = cache(lambda better, worse: [[better], [worse]]), cache(_by_score)
    if "result" in roles:
        said = map(both_scores, table.column(roles["result"]))
    elif by_score:
        said = zip(*(_scores(table, roles[side]) for side in ("left_score", "right_score")), strict=True)
    for row, (better, worse, word) in enumerate(zip(table.column(first), table.column(second), said, strict=True)):
        if not better or not worse:
            yield _Unclear("an item has no name", second if better else first, NAME_IT)
        elif better == worse:
            problem = f"{shown(better)} is both {first} and {second}"
            yield _Unclear(problem, None, "Name two items, or leave out the row.")
        elif by_score and (word[0] != word[0] or word[1] != word[1]):
            yield _no_scores(table, roles, row)
        elif "left" not in roles:
            yield by_names(better, worse)
        else:
            yield of_score(better, worse, *word) if by_score else _by_word(better, worse, word, roles, marks)


def _scores(table: Table, name: str) -> FloatArray:
    """The numbers of a column, NaN where a cell is none, such as "w/o"."""
    column = table.columns[table.index(name)]
    meaning = table.numbers(column.distinct)
    found = [np.nan if cell in MISSING or meaning[cell] is None else meaning[cell] for cell in column.distinct]
    return np.array(found, dtype=np.float64)[column.codes]


def _no_scores(table: Table, roles: Mapping[str, str], row: int) -> _Unclear:
    """What is said of a row without two scores."""
    names = [roles[role] for role in ("result", "left_score", "right_score") if role in roles]
    cells = {name: table.column(name)[row] for name in names}
    meaning = {name: table.numbers(table.coded(name)[0])[cells[name]] for name in names}
    wrong = next((name for name in names if cells[name] not in MISSING and meaning[name] is None), None)
    if wrong is None:
        return _Unclear("a score is missing", roles.get("result"), "Fill it in.")
    cell = shown(cells[wrong])
    if "result" in roles:
        return _Unclear(f"{cell} is not two scores, as 3-1", wrong, "Fill it in.")
    return _Unclear(f"{cell} is not a score", wrong, "Write the score that counts for such a match.")


def _by_score(left: str, right: str, points: float, others: float) -> list[list[str]]:
    return [[left, right]] if points == others else [[left], [right]] if points > others else [[right], [left]]


def _by_word(
    left: str, right: str, said: str, roles: Mapping[str, str], marks: Mapping[str, str]
) -> list[list[str]] | _Unclear:
    """The buckets of two items, of which a word names the better one, its side, or a tie."""
    side = marks.get(said.lower())
    left_won, right_won = said == left or side == "left", said == right or side == "right"
    if left_won != right_won:
        return [[left], [right]] if left_won else [[right], [left]]
    if side == "tie" and not left_won:
        return [[left, right]]
    cure = "Write left, right or tie, or the name of one of the two items."
    return _Unclear(f"the winner {shown(said)} is not clear", roles["winner"], cure)
