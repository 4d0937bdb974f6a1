"""What should be looked at in survey data before anything is made of them: `DataCheck`, made by `check_data`.

`read_survey` makes one for every file; ``rankwise describe`` and the report show it. It only counts and names rows:
nothing is dropped here.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rankwise._tables import Result, TextTable, counted, make_frame
from rankwise._typing import BoolArray, FloatArray, IntArray
from rankwise.data.rankings import Rankings

_SHOWN_LINES = 8
# What is as likely as that by chance is no cause for suspicion; fewer rows than this are not expected at all.
_SELDOM, _FEW = 1e-3, 0.5
# The order of the columns is common by chance where there are few, and tiring to read where there are very many.
_FEWEST_ITEMS, _MOST_ITEMS = 4, 100
# What taste explains is a rough guess.
_SURPLUS = 1.5
# Who takes less than this share of the median time has hardly read the questions.
_TOO_FAST = 1 / 3


@dataclass(frozen=True)
class Finding:
    """Something to look at: what it is, the rows it is about, and what it may mean."""

    what: str
    rows: tuple[int, ...]
    note: str = ""

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self.rows)


@dataclass(frozen=True, eq=False, repr=False)
class DataCheck(Result):
    """What should be looked at in survey data; print it, or take it apart.

    Attributes
    ----------
    n_rows : int
        Number of rows that were looked at.
    findings : dict of str to Finding
        By name: ``empty`` (ranked nothing), ``duplicates`` (the same answers as an earlier row), ``same_id`` (the id of
        an earlier row), ``similar_id`` (such an id but for capitals and blanks), ``previews`` (a trial of the survey,
        by what its tool wrote), ``spelling`` (an item whose name differs from another's in capitals and blanks alone),
        ``straight_lines`` (the items in the order of their columns, far more often than by chance), ``all_tied``,
        ``impossible`` (a place beyond the number of items), ``skipped`` (a place left out), ``too_fast`` and
        ``zero_weight``. Only what was found is there; ``rows`` are lines of the file where it has lines, else
        numbers of the rows from 1.
    are_lines : bool
        Whether rows are numbered by the lines of the file.

    Examples
    --------
    >>> from rankwise import Rankings
    >>> check_data(Rankings([[1, 2], [float("nan"), float("nan")]]))
    Data check
    what            rows  which
    ranked nothing  1     row 2
    """

    n_rows: int
    findings: Mapping[str, Finding]
    are_lines: bool = False

    def __getitem__(self, name: str) -> Finding:
        return self.findings.get(name, Finding("", ()))

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with a row per finding, of pandas by default, else of the named backend.

        Columns: ``name``, ``what``, ``count`` and ``note``.
        """
        found = self.findings.items()
        columns = {
            "name": [name for name, _ in found],
            "what": [finding.what for _, finding in found],
            "count": [finding.count for _, finding in found],
            "note": [finding.note for _, finding in found],
        }
        return make_frame(columns, backend)

    def as_dict(self) -> dict[str, Any]:
        """The findings with all their rows, for JSON."""
        findings = {
            name: {"what": finding.what, "count": finding.count, "rows": list(finding.rows), "note": finding.note}
            for name, finding in self.findings.items()
        }
        return {"n_rows": self.n_rows, "rows_are_lines": self.are_lines, "findings": findings}

    def tables(self) -> list[TextTable]:
        """The findings as a table of text."""
        if not self.findings:
            return [TextTable("Data check", f"nothing to look at in {counted(self.n_rows, 'row')}", [], [])]
        rows = [
            [finding.what, f"{finding.count:,}", self._which(finding.rows), finding.note]
            for finding in self.findings.values()
        ]
        columns = ["what", "rows", "which", "note"]
        if not any(row[-1] for row in rows):
            rows, columns = [row[:-1] for row in rows], columns[:-1]
        return [TextTable("Data check", "", columns, rows)]

    def lines(self) -> list[str]:
        """The findings as sentences, without the rows."""
        return [
            f"{counted(finding.count, 'row')}: {finding.what}{f' ({finding.note})' if finding.note else ''}."
            for finding in self.findings.values()
        ]

    def _which(self, rows: Sequence[int]) -> str:
        word = ("line" if self.are_lines else "row") + "s" * (len(rows) != 1)
        rest = f", ... ({len(rows) - _SHOWN_LINES:,} more)" if len(rows) > _SHOWN_LINES else ""
        return f"{word} {', '.join(map(str, rows[:_SHOWN_LINES]))}{rest}"


def check_data(
    rankings: Rankings,
    columns: Mapping[str, npt.NDArray[Any]] | None = None,
    *,
    ids: npt.NDArray[Any] | None = None,
    seconds: FloatArray | None = None,
    is_preview: BoolArray | None = None,
    places: FloatArray | None = None,
    n_ranked: int | None = None,
    in_column_order: bool = False,
    lines: Sequence[int] | None = None,
) -> DataCheck:
    """Look for duplicates, straight lines, impossible and skipped places, and rows that say nothing.

    Parameters
    ----------
    rankings : Rankings
        The rankings, those of respondents who ranked nothing among them.
    columns : mapping of str to ndarray, optional
        The other answers of the respondents, but no ids and times, which differ between copies.
    ids : ndarray of shape (n_rankings,), optional
        Who answered, None or NaN where that is not known.
    seconds : ndarray of shape (n_rankings,), optional
        The time that the answers took.
    is_preview : ndarray of shape (n_rankings,), optional
        Which answers are trials of the survey, not those of respondents.
    places : ndarray of shape (n_rankings, n_items), optional
        The places as they were written, NaN where blank.
    n_ranked : int, optional
        The number of items that people ranked, if those of the rankings are only some of them: they skip places then.
    in_column_order : bool, default=False
        Whether items stand in the order of the columns, so that 1, 2, 3, ... is a straight line.
    lines : sequence of int, optional
        The line of the file on which each row stands.

    Returns
    -------
    DataCheck
    """
    positions = rankings.positions
    is_empty: BoolArray = np.asarray(~np.isfinite(positions).any(axis=1))
    findings = [("empty", "ranked nothing", np.flatnonzero(is_empty), "")]
    rows, note = _duplicates(positions, columns or {}, is_empty)
    findings.append(("duplicates", "same answers as an earlier row", rows, note))
    if ids is not None:
        findings.append(("same_id", "same id as an earlier row", _repeats(ids), ""))
        plain = np.array([_plain(one) if isinstance(one, str) else one for one in ids.tolist()], dtype=object)
        rows = np.setdiff1d(_repeats(plain), _repeats(ids))
        findings.append(("similar_id", "id spelled like that of an earlier row", rows, ""))
    if is_preview is not None:
        findings.append(("previews", "a preview of the survey, not a respondent", np.flatnonzero(is_preview), ""))
    spelled = [name for names in _spelled_alike(rankings) for name in list(names)[1:]]
    rows = np.flatnonzero(np.isfinite(positions[:, [rankings.items.index(name) for name in spelled]]).any(axis=1))
    findings.append(("spelling", "an item spelled like another", rows, "; ".join(spelling_notes(rankings, brief=True))))
    if in_column_order:
        rows, note = _straight_lines(positions)
        findings.append(("straight_lines", "items in the order of their columns", rows, note))
    n_listed = np.isfinite(positions).sum(axis=1)
    highest = np.max(np.where(np.isfinite(positions), positions, 0), axis=1, initial=0)
    findings.append(("all_tied", "all items tied", np.flatnonzero((n_listed > 1) & (highest == 1)), ""))
    if places is not None:
        beyond = np.nanmax(np.where(np.isfinite(places), places, np.nan), axis=1, initial=0)
        beyond = beyond > (n_ranked or rankings.n_items)
        skips = _skips(places) & ~beyond if n_ranked is None else np.zeros(len(places), dtype=bool)
        findings.append(("impossible", "a place beyond the number of items", np.flatnonzero(beyond), ""))
        findings.append(("skipped", "a place left out", np.flatnonzero(skips), ""))
    if seconds is not None and np.isfinite(seconds).any():
        median = float(np.nanmedian(seconds))
        with np.errstate(invalid="ignore"):
            rows = np.flatnonzero(seconds < _TOO_FAST * median)
        findings.append(("too_fast", "took less than a third of the median time", rows, f"the median is {median:g}"))
    findings.append(("zero_weight", "a weight of zero", np.flatnonzero(rankings.weights == 0), ""))
    number = np.arange(1, len(rankings) + 1) if lines is None else np.asarray(lines)
    return DataCheck(
        n_rows=len(rankings),
        findings={
            name: Finding(what, tuple(number[rows].tolist()), note) for name, what, rows, note in findings if len(rows)
        },
        are_lines=lines is not None,
    )


def _repeats(values: Iterable[Any]) -> IntArray:
    """Rows whose value stands in an earlier row; missing values do not count."""
    seen: set[Any] = set()
    rows = []
    for row, value in enumerate(values):
        if value is None or value != value:
            continue
        if value in seen:
            rows.append(row)
        seen.add(value)
    return np.array(rows, dtype=np.intp)


def _codes(column: npt.NDArray[Any]) -> IntArray:
    if column.dtype.kind == "f":
        return np.unique(column, return_inverse=True)[1]
    number_of: dict[Any, int] = {}
    return np.array([number_of.setdefault(value, len(number_of)) for value in column], dtype=np.intp)


def _together(parts: Iterable[IntArray]) -> IntArray:
    """One code for the codes of several columns: the same where all of them are."""
    rng = np.random.default_rng(0)
    # Sums of random 64-bit numbers, one for each code, are far quicker to compare than rows.
    sums = sum(rng.integers(0, 2**63, int(part.max()) + 1, dtype=np.uint64)[part] for part in parts)
    return np.unique(sums, return_inverse=True)[1]


def _duplicates(
    positions: FloatArray, columns: Mapping[str, npt.NDArray[Any]], is_empty: BoolArray
) -> tuple[IntArray, str]:
    """Rows that have all answers in common with an earlier one, where chance does not explain as many.

    Chance is what independent answers of the same frequencies would give: nobody wonders at two people of the same sex
    who rank three items alike.
    """
    none = np.zeros(0, dtype=np.intp)
    filled = np.flatnonzero(~is_empty)
    if not columns or len(filled) < 2:
        return none, ""
    places = np.nan_to_num(positions[filled], nan=0.0, posinf=positions.shape[1] + 1.0).astype(np.intp)
    parts = [_together(places.T), *(_codes(column[filled]) for column in columns.values())]
    n_pairs = len(filled) * (len(filled) - 1) / 2
    expected = n_pairs
    for part in parts:
        counts = np.bincount(part)
        expected *= float((counts * (counts - 1)).sum() / 2 / n_pairs)
    together = _together(parts)
    counts = np.bincount(together)
    found = float((counts * (counts - 1)).sum() / 2)
    if not found or (expected >= _FEW and not _is_more(found, expected)):
        return none, ""
    rows = filled[_repeats(together.tolist())]
    return rows, f"about {expected:.0f} would be expected" if expected >= _FEW else ""


def spelling_notes(rankings: Rankings, *, brief: bool = False) -> list[str]:
    """A sentence for each group of items whose names differ by capitals and blanks alone, and how often each occurs."""
    notes = []
    for names in _spelled_alike(rankings):
        shown = ", ".join(f"{name!r} ({counted(count, 'row')})" for name, count in names.items())
        advice = "are counted as different items. If they are one, write them alike in the file."
        notes.append(shown if brief else f"{shown} {advice}")
    return notes


def _spelled_alike(rankings: Rankings) -> list[dict[Hashable, int]]:
    """The items whose names differ by capitals and blanks alone, and the rows that list each, most first."""
    groups: dict[str, dict[Hashable, int]] = {}
    for name, count in zip(rankings.items, np.isfinite(rankings.positions).sum(axis=0).tolist(), strict=True):
        groups.setdefault(_plain(str(name)), {})[name] = count
    return [dict(sorted(names.items(), key=lambda one: -one[1])) for names in groups.values() if len(names) > 1]


def _plain(name: str) -> str:
    return " ".join(name.split()).casefold()


def _straight_lines(positions: FloatArray) -> tuple[IntArray, str]:
    """Rows that rank the items as their columns stand, if chance and taste do not explain as many.

    Who likes the items in that order has neighbors who exchange two items, or twice two. If the numbers of rankings
    fall with the distance to an order as in a Mallows model, that of the order itself follows from its neighbors'.
    """
    n_items = positions.shape[1]
    nothing = np.zeros(0, dtype=np.intp)
    full = np.flatnonzero((np.sort(positions, axis=1) == np.arange(1, n_items + 1)).all(axis=1))
    if not _FEWEST_ITEMS <= n_items <= _MOST_ITEMS or len(full) == 0:
        return nothing, ""
    order = positions[full]
    distance = np.zeros(len(full), dtype=np.intp)
    for first in range(n_items - 1):
        distance += (order[:, first, None] > order[:, first + 1 :]).sum(axis=1)
    n_line, n_near, n_far = (int(np.count_nonzero(distance == d)) for d in range(3))
    near, far = n_near / (n_items - 1), n_far / ((n_items - 2) * (n_items + 1) / 2)
    by_chance = len(full) / math.factorial(n_items)
    by_taste = near * max(1.0, near / far) if far else near
    if n_line < 2 or not _is_more(n_line, _SURPLUS * max(by_chance, by_taste)):
        return nothing, ""
    return full[distance == 0], f"about {max(by_chance, by_taste):.1f} would be expected"


def _is_more(count: float, expected: float) -> bool:
    """Whether a Poisson variable of that mean is hardly ever as large as the count."""
    if count <= expected:
        return False
    if expected <= 0:
        return True
    term = math.exp(count * math.log(expected) - expected - math.lgamma(count + 1))
    tail = 0.0
    while term > _SELDOM * 1e-3:
        tail, count = tail + term, count + 1
        term *= expected / count
    return tail < _SELDOM


def _skips(places: FloatArray) -> BoolArray:
    """Rows whose places leave one out, however ties are written: 1, 3 does; 1, 2, 2, 4 and 1, 2, 2, 3 do not."""
    ordered = np.sort(np.where(np.isfinite(places), places, np.nan), axis=1)
    n, k = ordered.shape
    count = np.arange(1, k + 1, dtype=np.float64)
    present = ~np.isnan(ordered)
    before = np.column_stack([np.zeros(n), ordered[:, :-1]])
    is_new = present & (ordered != before)
    number_of_group = np.cumsum(is_new, axis=1)
    dense = (ordered == number_of_group) | ~present
    # Where tied items share a place, it is among the places that they take together.
    lowest = np.maximum.accumulate(np.where(is_new, count, 0), axis=1)
    is_last = present & np.column_stack([is_new[:, 1:] | ~present[:, 1:], np.ones(n, dtype=bool)])
    highest = np.minimum.accumulate(np.where(is_last, count, k)[:, ::-1], axis=1)[:, ::-1]
    taken = ((ordered >= lowest) & (ordered <= highest)) | ~present
    skips: BoolArray = ~(dense.all(axis=1) | taken.all(axis=1))
    return skips
