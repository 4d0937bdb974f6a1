"""Ids of queries, documents and runs: text that fits one field of a line. LETOR and TREC files use it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from rankwise.data.formats.text import Path, is_writable, shown
from rankwise.exceptions import RankwiseFormatError

StrArray: TypeAlias = npt.NDArray[np.str_]

# An array of text is as wide as its longest entry, so one endless id would cost that width in every row.
MOST_ID_CHARACTERS = 512


def id_array(ids: Sequence[str], line_of_row: Sequence[int], path: Path) -> StrArray:
    """Ids read from a file as an array of text."""
    longest = max(ids, key=len)
    if len(longest) > MOST_ID_CHARACTERS:
        raise RankwiseFormatError(
            f"the id {shown(longest)} has {len(longest):,} characters",
            path=path,
            line=line_of_row[ids.index(longest)],
            cure=f"Ids may have {MOST_ID_CHARACTERS}; shorten it, or number the ids.",
        )
    return np.array(ids)


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
