"""Ids of queries, documents and runs: text that fits one field of a line. LETOR and TREC files use it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from rankwise.data.formats.text import Path, is_writable, shown
from rankwise.exceptions import RankwiseFormatError

StrArray: TypeAlias = npt.NDArray[np.str_]

# An array of text is as wide as its longest entry, so one endless id would cost that width in every row.
MOST_ID_CHARACTERS = 512
_AT_ONCE = 1 << 14


class IdColumn:
    """Ids read from a file: arrays of some thousand each, since text of its own for each takes several times more."""

    def __init__(self) -> None:
        self._blocks: list[StrArray] = []
        self._last: list[str] = []
        self._longest = ("", 0)

    def append(self, text: str, line: int) -> None:
        """Add the id that stands on a line."""
        if len(text) > MOST_ID_CHARACTERS:
            self._longest = max(self._longest, (text, line), key=_length)
            text = text[: MOST_ID_CHARACTERS + 1]
        self._last.append(text)
        if len(self._last) == _AT_ONCE:
            self._blocks.append(np.array(self._last))
            self._last.clear()

    def refuse_long(self, path: Path) -> None:
        """Refuse ids that are too long; `array` cuts them."""
        longest, line = self._longest
        if longest:
            refuse_long_id(longest, line, path)

    def array(self) -> StrArray:
        """All ids, which the column no longer keeps."""
        blocks, self._blocks = self._blocks, []
        return np.concatenate([*blocks, np.array(self._last, dtype=np.str_)])


def refuse_long_id(text: str, line: int, path: Path) -> None:
    """Refuse an id that would make an array too wide."""
    if len(text) > MOST_ID_CHARACTERS:
        raise RankwiseFormatError(
            f"the id {shown(text)} has {len(text):,} characters",
            path=path,
            line=line,
            cure=f"Ids may have {MOST_ID_CHARACTERS}; shorten it, or number the ids.",
        )


def _length(found: tuple[str, int]) -> int:
    return len(found[0])


def check_ids(ids: Iterable[Any], *, name: str, forbidden: str = "") -> list[str]:
    """Ids as text that a file can hold: one field each.

    Parameters
    ----------
    ids : iterable
        Text or numbers.
    name : str
        What error messages call them.
    forbidden : str, default=""
        A character that the format keeps for itself.

    Returns
    -------
    list of str
    """
    texts = as_texts(ids)
    for row, text in enumerate(texts):
        # A byte-order mark counts as a blank: at the start of a file it would be lost.
        blank = text.split() != [text] or "\ufeff" in text
        if blank or not is_writable(text) or (forbidden and forbidden in text):
            also = f", and no {forbidden!r}" if forbidden else ""
            raise ValueError(
                f"{name}[{row}] is {shown(text)}; ids are not empty and hold no blanks{also}: replace them"
            )
        if len(text) > MOST_ID_CHARACTERS:
            raise ValueError(f"{name}[{row}] has {len(text):,} characters; ids may have {MOST_ID_CHARACTERS}")
    return texts


def as_texts(ids: Iterable[Any]) -> list[str]:
    """Ids of any kind as text."""
    return list(map(str, ids.tolist() if isinstance(ids, np.ndarray) else ids))  # tolist: NumPy's scalars are slow
