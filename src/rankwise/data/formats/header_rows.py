"""What people write around a table: titles above it, names of columns in two rows, notes below it.

`delimited` and `workbooks` look here before they make a table; `frames` refuses bad names here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from rankwise.data.formats.tables import MISSING
from rankwise.data.formats.text import Path, listed, number, shown
from rankwise.exceptions import RankwiseFormatError

#: between a question and one of its items, in exports of Qualtrics and where two rows of names are joined
QUESTION_JOINT = " - "
# More lone cells above a table are no titles.
_MOST_TITLES = 5
# A row of words above so many columns of numbers names them.
_FEWEST_NUMERIC = 2
# What SurveyMonkey writes below a question that has one column.
_SINGLE = ("", "response", "open-ended response")
# Lone texts in a last row that name neither a person nor an item: "Note: ...", "* estimated", "n = 12", "1 = best".
_NOTE = re.compile(
    r"(?:(?:foot)?notes?|n\.?b|remarks?|comments?|sources?|legend|key|scale|contact|copyright|anmerkung(?:en)?|hinweise?|"
    r"bemerkung(?:en)?|quelle|legende|skala|remarques?|sources?|légende|échelle|notas?|fuente|leyenda|escala|"
    r"fonte|legenda|scala|opmerking(?:en)?|bron)\s*[:.=\-\u2013]|[*†‡©]|n\s*=\s*\d|\d+\s*=\s*\w",
    re.IGNORECASE,
)


class Names(NamedTuple):
    """The names of columns from two rows, the texts of their questions, and the note that tells of them."""

    header: list[str]
    questions: dict[str, str]
    note: str


def n_titles(cells: Iterable[int]) -> int:
    """How many rows at the top hold titles: one cell each, above a row of several; ``cells`` counts them by row."""
    counts = [count for count, _ in zip(cells, range(_MOST_TITLES + 2), strict=False)]
    first = next((row for row, count in enumerate(counts) if count > 1), 0)
    return first if len(counts) > first + 1 else 0


def n_notes(rows: Sequence[Sequence[str]], follows_blank: Callable[[int], bool]) -> int:
    """How many rows at the end hold notes: one text each, the first after a blank row or plainly not a name."""
    n = 0
    for at in range(len(rows) - 1, 1, -1):
        filled = [cell for cell in rows[at] if cell]
        if len(filled) != 1 or number(filled[0]) is not None:
            break
        if follows_blank(at) or (filled[0] == rows[at][0] and _NOTE.match(filled[0])):
            n = len(rows) - at
    return n


def note_below(text: str, where: str) -> str:
    """What is said of a note below the table."""
    return f"{shown(text)} {where}, below the table, was passed over."


def two_rows_of_names(
    above: Sequence[str],
    below: Sequence[str],
    columns: Sequence[Iterable[str]],
    where: tuple[int, int],
    merged: Sequence[str] | None = None,
) -> Names | None:
    """Names of columns in two rows: questions or headings, and below them items; None where one row holds the names.

    Parameters
    ----------
    above, below : sequence of str
        The first two rows.
    columns : sequence of iterable of str
        The cells of each column below them.
    where : tuple of int
        The lines of the two rows.
    merged : sequence of str, optional
        For every column the cell that spans it, where merged cells show that.

    Returns
    -------
    Names or None
        None also where the second row may be an answer.
    """
    if len(above) != len(below) or not any(above) or (all(above) and len(set(above)) == len(above) and not merged):
        return None
    spanned = merged or _filled_on(above)
    texts = [f"{up}{QUESTION_JOINT}{down}" if up else down for up, down in zip(spanned, below, strict=True)]
    if _names_below_some(merged or above, below, has_numbers=merged is not None):
        pairs = zip(spanned, below, texts, strict=True)
        header = [up if down.lower() in _SINGLE else text for up, down, text in pairs]
        questions = {name: name for name in header if QUESTION_JOINT in name}
    else:
        # A row of words may be an answer, unless numbers stand below it.
        are_words = not any(cell in MISSING or number(cell) is not None for cell in below)
        if not are_words or (merged is None and _n_numeric(columns) < _FEWEST_NUMERIC):
            return None
        header = list(below) if len(set(below)) == len(below) else texts
        questions = {name: text for name, text, up in zip(header, texts, spanned, strict=True) if up}
    note = f"Rows {where[0]} and {where[1]} are both names of columns; they were joined."
    if header == list(below):
        headings = listed(list(dict.fromkeys(filter(None, spanned))))
        note = f"Row {where[1]} names the columns; row {where[0]} holds headings: {headings}."
    return Names(header, questions, note) if all(header) and len(set(header)) == len(header) else None


def _names_below_some(above: Sequence[str], below: Sequence[str], *, has_numbers: bool) -> bool:
    """Whether the second row names columns that the first does not, and is blank (or "Response") below some name."""
    pairs = list(zip(above, below, strict=True))
    if not (has_numbers or above[0]) or not all(up or down for up, down in pairs):
        return False
    if not has_numbers and any(number(cell) is not None for cell in below):
        return False
    return any(up and down.lower() in _SINGLE for up, down in pairs)


def _n_numeric(columns: Sequence[Iterable[str]]) -> int:
    """How many of the columns hold numbers, blanks aside."""
    known = (set(cells).difference(MISSING) for cells in columns)
    return sum(bool(cells) and all(number(cell) is not None for cell in cells) for cells in known)


def _filled_on(above: Sequence[str]) -> list[str]:
    """For every column the last text at or before it: what spans it where cells were not merged."""
    spanned, last = [], ""
    for cell in above:
        last = cell or last
        spanned.append(last)
    return spanned


def corner_named(header: Sequence[str], first: Sequence[str]) -> list[str]:
    """The names of the columns, with one for an empty corner above words that name the rows; else as they are."""
    is_corner = len(header) > 1 and not header[0] and all(header[1:]) and "name" not in header
    are_names = len(set(first)) == len(first) and all(cell not in MISSING and number(cell) is None for cell in first)
    return ["name", *header[1:]] if is_corner and are_names else list(header)


def refuse_header(header: Sequence[str], path: Path, line: int, below: Sequence[str] = ()) -> None:
    """Raise for the first column without a name, or with the name of another; ``below`` is the next row."""
    two_rows = len(below) == len(header) and all(
        name or (more and number(more) is None) for name, more in zip(header, below, strict=True)
    )
    if two_rows and not all(header):
        raise RankwiseFormatError(
            f"{shown(below[list(header).index('')])} stands below an empty cell, as if two rows held names",
            path=path,
            line=line,
            column=list(header).index("") + 1,
            cure="Write the name of every column into one row.",
        )
    seen: dict[str, int] = {}
    for place, name in enumerate(header, start=1):
        if not name:
            raise RankwiseFormatError(
                "the column has no name",
                path=path,
                line=line,
                column=place,
                cure="Name it, or leave it out (pandas: index=False; R: row.names=FALSE).",
            )
        if name in seen:
            raise RankwiseFormatError(
                f"columns {seen[name]} and {place} are both named {shown(name)}",
                path=path,
                line=line,
                column=place,
                cure="Give every column its own name.",
            )
        seen[name] = place
