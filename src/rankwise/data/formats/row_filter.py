"""Which rows of a survey count: those with certain answers, one of each id, and not those that are left out by name.

`rankwise.data.read_survey` asks here; the command line says it by ``--read where=...``, ``--read keep=...`` and so on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from rankwise._typing import BoolArray, IntArray
from rankwise.data.formats.tables import Covariates, Keep, rows_kept
from rankwise.data.formats.text import Path, listed, shown
from rankwise.exceptions import RankwiseFormatError

#: columns and the answers that count; or texts such as "Finished=True" and "city=Bern|Basel"
Where: TypeAlias = Mapping[str, Any] | str | Sequence[str]

_SHOWN_VALUES = 8
_SEVERAL = (list, tuple, set, np.ndarray)


def rows_that_count(
    columns: Covariates,
    people: Sequence[npt.NDArray[Any] | None],
    n_rows: int,
    path: Path,
    *,
    where: Where | None = None,
    leave_out: str | int | Sequence[str | int] | None = None,
) -> tuple[BoolArray, dict[str, int]]:
    """Which rows count, and for every reason how many do not.

    Parameters
    ----------
    columns : dict of str to ndarray
        The columns besides the rankings.
    people : sequence of ndarray or None
        Columns that say who answered; the first that knows all of those who are left out counts.
    n_rows : int
        Number of rows.
    path : str or path-like
        The file, for messages.
    where : mapping, str or sequence of str, optional
        Columns and the answers that count: one answer, or several of which one is enough.
    leave_out : sequence of str or int, optional
        Names or ids of people; without such columns the numbers of their rows, from 1.

    Returns
    -------
    mask : ndarray of bool
    dropped : dict of str to int

    Examples
    --------
    >>> import numpy as np
    >>> rows_that_count({"age": np.array([31.0, 28.0, 47.0])}, [], 3, "drinks.csv", where="age=31|47")
    (array([ True, False,  True]), {"'age' is not 31 or 47": 1})
    """
    keep = np.ones(n_rows, dtype=bool)
    dropped: dict[str, int] = {}
    for column, answers in _conditions(where or {}).items():
        matches = _rows_with(answers, column, columns, path)
        if not matches.all():
            words = " or ".join(answer or "blank" for answer in answers)
            dropped[f"{column!r} is not {words}"] = int((~matches).sum())
        keep &= matches
    left = [] if leave_out is None else [leave_out] if isinstance(leave_out, str | int) else leave_out
    if len(left):
        wanted = list(dict.fromkeys(map(_number_text, left)))
        stays = ~_rows_of(wanted, people, n_rows, path)
        more = f" and {len(wanted) - _SHOWN_VALUES} others" if len(wanted) > _SHOWN_VALUES else ""
        dropped[f"left out on request ({', '.join(wanted[:_SHOWN_VALUES])}{more})"] = int((~stays).sum())
        keep &= stays
    if n_rows and not keep.any():
        raise RankwiseFormatError("no row is left", path=path, cure="Leave out fewer rows.")
    return keep, dropped


def one_row_each(
    rows: IntArray, ids: npt.NDArray[Any] | None, keep: Keep | None, path: Path
) -> tuple[IntArray, dict[str, int]]:
    """The first or the last of the rows of each id, and how many others there are; rows without an id all stay."""
    if keep is None:
        return rows, {}
    if ids is None:
        raise RankwiseFormatError("no column says who answered", path=path, cure="Name it: id='...'.")
    values = ids[rows].tolist()
    texts = [f"\0{row}" if value is None or value != value else str(value) for row, value in enumerate(values)]
    kept = rows[rows_kept(np.unique(texts, return_inverse=True)[1], keep)]
    return kept, {"the id of another row": len(rows) - len(kept)} if len(kept) < len(rows) else {}


def _rows_with(answers: list[str], column: str, columns: Covariates, path: Path) -> BoolArray:
    """The rows that have one of the answers in a column."""
    if column not in columns:
        cure = f"There are {listed(tuple(columns))}." if columns else "There are no other columns."
        problem = f"where asks for {shown(column)}, but there is no such column besides the rankings"
        raise RankwiseFormatError(problem, path=path, cure=cure)
    texts = _as_texts(columns[column])
    known = sorted(set(texts.tolist()))
    unknown = [answer for answer in answers if answer not in known]
    if unknown:
        some = listed([answer or "(blank)" for answer in known][:_SHOWN_VALUES])
        raise RankwiseFormatError(
            f"where asks for {shown(unknown[0])} in {shown(column)}, but no row has it",
            path=path,
            cure=f"It has {some}{' and others' if len(known) > _SHOWN_VALUES else ''}.",
        )
    return np.isin(texts, answers)


def _rows_of(wanted: list[str], people: Sequence[npt.NDArray[Any] | None], n_rows: int, path: Path) -> BoolArray:
    """The rows of certain people."""
    known = [_as_texts(column) for column in people if column is not None]
    for texts in [*known, np.arange(1, n_rows + 1).astype(str).astype(object)]:
        if set(wanted) <= set(texts.tolist()):
            return np.isin(texts, wanted)
    nobody = next((name for name in wanted if not any(name in texts for texts in known)), wanted[0])
    raise RankwiseFormatError(
        f"leave_out names {shown(nobody)}, but nobody is called so",
        path=path,
        cure=f"Give names as in the file, or numbers of rows from 1 to {n_rows:,}.",
    )


def _conditions(where: Where) -> dict[str, list[str]]:
    """The answers that count by column."""
    if isinstance(where, Mapping):
        return {
            name: [_number_text(answer) for answer in (answers if isinstance(answers, _SEVERAL) else [answers])]
            for name, answers in where.items()
        }
    found = {}
    for text in [where] if isinstance(where, str) else where:
        column, equals, answers = str(text).partition("=")
        if not equals:
            raise ValueError(f"where has {text!r}; write a column and its answers, as in 'Finished=True' or 'city=A|B'")
        found[column.strip()] = [_number_text(answer.strip()) for answer in answers.split("|")]
    return found


def _as_texts(column: npt.NDArray[Any]) -> npt.NDArray[np.object_]:
    """The values of a column as people write them, empty where there is none."""
    texts: npt.NDArray[np.object_] = np.array(
        ["" if value is None or value != value else _number_text(value) for value in column.tolist()], dtype=object
    )
    return texts


def _number_text(value: Any) -> str:
    """A value as text; 1.0, 1 and "1" are the same."""
    try:
        return f"{float(value):.15g}" if not isinstance(value, bool) else str(value)
    except (TypeError, ValueError):
        return str(value)
