"""What headers say about the ends of a scale, as "1 = very good, 5 = very bad": whether low or high is best.

`rankwise.data.formats.layouts` asks here where numbers may be scores or places.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

import numpy as np

from rankwise.data.formats.ordered_texts import is_no_answer
from rankwise.data.formats.tables import Table
from rankwise.data.formats.text import shown

_END = re.compile(r"\b(\d{1,3})\s*(?:=|is|means|ist|est|es|è)\s*([^\W\d_][^\d,;()\[\]/=]*)", re.IGNORECASE)
# Bad ends are looked for first: "least liked", "strongly disagree", "not good".
_BAD = re.compile(
    r"\b(?:worst|bad|poor|terrible|awful|lowest|least|last|hate|dislike|disagree|not|never|unimportant|weak|"
    r"schlecht\w*|mangelhaft|ungenügend|unwichtig|nicht|mauvais\w*|pire|mal|malo|mala|peor|pessimo|peggiore|"
    r"slecht\w*|ruim|pior)\b",
    re.IGNORECASE,
)
_GOOD = re.compile(
    r"\b(?:best|good|great|excellent|outstanding|perfect|top|highest|most|first|favou?rite|love|like|agree|important|"
    r"strong|gut|beste\w*|hervorragend|ausgezeichnet|wichtig|bon|bien|meilleur\w*|bueno|buena|mejor|excelente|ottimo|"
    r"migliore|goed|bom|melhor)\b",
    re.IGNORECASE,
)
# The ends of an order in words: "from worst to best", "least to most important".
_FROM_TO = re.compile(
    r"\b(?:worst|bad|poor|lowest|low|least|schlecht\w*|am wenigsten|pire|moins|peor|menos|peggiore|meno|pior|slecht\w*|"
    r"minst)\b[^.;!?]{0,25}?"
    r"(?:\bto\b|\bbis\b|\bzu[mr]?\b|\bau\b|\bà\b|\bal?\b|\bnaar\b|\btot\b|->|\u2192|>)[^.;!?]{0,25}?"
    r"\b(?:best\w*|good|great|highest|high|most|gut|am meisten|meilleure?|plus|mejor|más|migliore|più|melhor|mais|"
    r"goed|meest)\b",
    re.IGNORECASE,
)
# In German a "Note" is a school grade from 1 to 6; in French more is better.
_GERMAN_GRADE = re.compile(r"\b(?:schulnoten?|noten|note (?:von|vom|für|der|des))\b", re.IGNORECASE)
_WORST_GRADE = 6
# Of a long table the cells are not looked through for a word.
_MOST_ROWS = 500


def stated_direction(table: Table, columns: Sequence[str]) -> tuple[Literal["positions", "scores"], str] | None:
    """Which numbers are best by the names or questions of the columns, and the words for it; None if they do not say.

    Parameters
    ----------
    table : Table
        The table.
    columns : sequence of str
        The columns with the numbers. What stands around the table may say it, too.

    Returns
    -------
    tuple of str and str, or None
        "positions" if low numbers are best, "scores" if high ones are.
    """
    said: dict[str, str] = {}
    rising = worst_first(table, columns)
    if rising:
        said["scores"] = rising
    texts = [*(table.questions.get(name, name) for name in columns), *table.remarks]
    for label_of in (table.labels.get(name) for name in columns):
        by_code = sorted((int(code), text) for code, text in label_of.items() if code.isdigit()) if label_of else []
        texts += [f"{code} = {text}" for code, text in by_code[:: max(1, len(by_code) - 1)] if not is_no_answer(text)]
    for text in dict.fromkeys(texts):
        for end in _END.finditer(text):
            is_bad = _BAD.search(end[2]) is not None
            if is_bad or _GOOD.search(end[2]):
                is_low = int(end[1]) <= 1
                said.setdefault("positions" if is_low != is_bad else "scores", end.group().strip())
    if len(said) == 1:
        way, words = said.popitem()
        return ("positions", words) if way == "positions" else ("scores", words)
    return None if said else _as_grades(table, columns)


def worst_first(table: Table, columns: Sequence[str]) -> str | None:
    """The words by which names, questions or titles say that an order begins with the worst; None if none does."""
    texts = [*(table.questions.get(name, name) for name in columns), *table.remarks]
    return next((found.group() for found in map(_FROM_TO.search, texts) if found), None)


def _as_grades(table: Table, columns: Sequence[str]) -> tuple[Literal["positions"], str] | None:
    """German grades, of which 1 is the best, where a column or a row is named so."""
    rows = table.columns[0].distinct if len(table) <= _MOST_ROWS else ()
    labels = (*columns, table.header[0], *rows)
    found = next((match.group() for match in map(_GERMAN_GRADE.search, labels) if match), None)
    values = [table.values(name) for name in columns] if found else []
    numbers = [part for part in values if part is not None and not np.isnan(part).all()]
    if found is None or not numbers or len(numbers) < len(values):
        return None
    is_grade = all(np.nanmin(part) >= 1 and np.nanmax(part) <= _WORST_GRADE for part in numbers)
    return ("positions", found) if is_grade else None


def about_direction(way: Literal["positions", "scores"], words: str) -> str:
    """The part of a message that says what headers state."""
    best = "low numbers are best, so read them as places" if way == "positions" else "high numbers are best"
    return f"{shown(words)} says that {best}"
