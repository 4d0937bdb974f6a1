"""The fields of a line: strict numbers, ids that fit one field, short quotations for messages."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from rankwise.data.formats.lines import Path
from rankwise.exceptions import RankwiseFormatError

StrArray: TypeAlias = npt.NDArray[np.str_]

# An array of text is as wide as its longest entry, so one endless id would cost that width in every row.
MOST_ID_CHARACTERS = 512
# Every integer up to here is a float64 too, and far longer digit strings would cost quadratic time.
_MOST_DIGITS = 18


def parse_integer(text: str) -> int:
    """The integer that a field holds; ValueError unless it is a sign and at most 18 ASCII digits."""
    digits = text[1:] if text.startswith(("-", "+")) else text
    if not (digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS):
        raise ValueError
    return int(text)


def parse_number(text: str) -> float:
    """The finite number that a field holds, else ValueError (Python alone would take 1_0, nan and Arabic digits)."""
    if "_" in text or not text.isascii():
        raise ValueError
    value = float(text)
    if not math.isfinite(value):
        raise ValueError
    return value


def id_array(ids: Sequence[str], line_of_row: Sequence[int], path: Path) -> StrArray:
    """Ids read from a file as an array of text."""
    array = np.asarray(ids, dtype=object)
    longest = max(range(len(ids)), key=lambda row: len(ids[row]))
    if len(ids[longest]) > MOST_ID_CHARACTERS:
        raise RankwiseFormatError(
            f"the id {shown(ids[longest])} has {len(ids[longest]):,} characters",
            path=path,
            line=line_of_row[longest],
            cure=f"Ids may have {MOST_ID_CHARACTERS}; shorten it, or number the ids.",
        )
    return array.astype(np.str_)


def check_ids(ids: Iterable[Any], *, name: str, forbidden: str = "") -> list[str]:
    """Ids as text that a file can hold: one field each.

    Parameters
    ----------
    ids : iterable
        Text or numbers.
    name : str
        What error messages call them.
    forbidden : str, default=""
        Characters that the format keeps for itself.

    Returns
    -------
    list of str
    """
    texts = [str(entry) for entry in ids]
    for row, text in enumerate(texts):
        if text.split() != [text] or not is_writable(text) or any(character in text for character in forbidden):
            also = f", and no {forbidden!r}" if forbidden else ""
            raise ValueError(
                f"{name}[{row}] is {shown(text)}; ids are not empty and hold no blanks{also}: replace them"
            )
        if len(text) > MOST_ID_CHARACTERS:
            raise ValueError(f"{name}[{row}] has {len(text):,} characters; ids may have {MOST_ID_CHARACTERS}")
    return texts


def is_writable(text: str) -> bool:
    """Whether text can stand in a line of a UTF-8 file: no line break, no zero byte, no half of a surrogate pair."""
    return not any(c in "\n\r\0" or "\ud800" <= c <= "\udfff" for c in text)


def shown(text: str, most: int = 40) -> str:
    """Quote a piece of a file in a message, cut where it is long."""
    return repr(text) if len(text) <= most else f"{text[:most]!r}..."
