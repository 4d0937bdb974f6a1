"""Texts that list items best first, such as ``a>b~c``, and Rankings from many of them.

The readers of orders, strings, duels and xarff files use it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import numpy as np

from rankwise._typing import FloatArray, IntArray
from rankwise.data.formats.text import shown
from rankwise.data.positions import Unlisted, blank_for
from rankwise.data.rankings import Rankings
from rankwise.exceptions import RankwiseFormatError

# Rankings are a dense table, which a short file can blow up: every line may name a new item. A table this many times
# larger than the file is a mistake in the choice of columns, or wants another tool.
_MOST_INFLATION = 100
_SMALL = 10_000_000

Fail = Callable[..., RankwiseFormatError]


class OrderParser:
    """Cuts texts such as ``a>b~c`` into buckets of tied items, best first.

    ``{b,c}`` and ``(b,c)`` are buckets too, and ``["a", "b"]`` is read as JSON. A call raises ValueError, which says
    what is wrong with the text.

    Parameters
    ----------
    separator : str, default=">"
        What stands between buckets; a blank is any run of blanks.
    ties : collection of str, default=("~",)
        What stands between tied items.
    """

    def __init__(self, separator: str = ">", ties: Collection[str] = ("~",)) -> None:
        self._separator = None if separator.isspace() else separator
        self._buckets = _Buckets(ties)

    def __call__(self, text: str) -> list[list[str]]:
        """The buckets of one text."""
        if text.startswith("[") and text.endswith("]"):
            return _from_json(text)
        if self._separator == ";":  # forms write one after every item
            text = text.rstrip().removesuffix(";")
        return [self._buckets[piece] for piece in text.split(self._separator)]

    def names_cut(self) -> set[str]:
        """The names found so far by cutting; those in JSON are whole for sure."""
        return set().union(*self._buckets.values())


def rankings_from_rows(
    rows: Sequence[list[list[str]]],
    fail: Fail,
    *,
    unlisted: Unlisted,
    items: Sequence[str] | None = None,
    weights: FloatArray | None = None,
) -> Rankings:
    """Rankings from rows of buckets, checked item by item.

    Parameters
    ----------
    rows : sequence of rows
        A row is a list of buckets, a bucket a list of names.
    fail : callable
        ``fail(problem, row=..., cure=...)`` makes the error that names the line of the row.
    unlisted, items, weights
        As in `Rankings.from_buckets`. By default the items are those that occur: in numerical order if all are
        whole numbers, else in order of appearance.

    Returns
    -------
    Rankings
    """
    flat = [name for buckets in rows for bucket in buckets for name in bucket]
    names = names_in_order(flat) if items is None else items
    if not names:
        raise fail("no row lists an item", cure="Check the column and the separator.")
    index = {name: i for i, name in enumerate(names)}
    item = np.array([index.get(name, -1) for name in flat], dtype=np.intp)
    row, place = _rows_and_places(rows)
    unknown = np.flatnonzero(item < 0)
    if unknown.size:
        name, at = flat[unknown[0]], int(row[unknown[0]])
        raise fail(f"item {shown(name)} is not declared", row=at, cure="Correct the name, or add it to the items.")
    check_size(len(rows), len(names), len(flat), fail)
    # What is written last stays, so an entry that does not find itself again was overwritten by a twin.
    entry = np.arange(len(flat))
    last_entry = np.empty((len(rows), len(names)), dtype=np.intp)
    last_entry[row, item] = entry
    twins = np.flatnonzero(last_entry[row, item] != entry)
    if twins.size:
        name, at = flat[twins[0]], int(row[twins[0]])
        raise fail(f"item {shown(name)} is listed twice", row=at, cure="Give every item one place.")
    values = np.full((len(rows), len(names)), blank_for(unlisted))
    values[row, item] = place
    return Rankings(values, names, weights)


def names_in_order(occurring: Iterable[str]) -> list[str]:
    """The different names: in numerical order if all are whole numbers, else in order of appearance."""
    names = list(dict.fromkeys(occurring))
    if all(name.isascii() and name.isdigit() and len(name) < 10 for name in names):
        names.sort(key=int)
    return names


def check_size(n_rankings: int, n_items: int, n_read: int, fail: Fail) -> None:
    """Refuse rankings that would take far more memory than the file they come from."""
    cells = n_rankings * n_items
    if cells > max(_SMALL, _MOST_INFLATION * n_read):
        raise fail(
            f"{n_rankings:,} rankings of {n_items:,} items would fill {cells:,} cells from {n_read:,} places given",
            cure="Check which columns name the rankings and the items, or keep fewer items.",
        )


class _Buckets(dict[str, list[str]]):
    """The bucket that each piece of text stands for: rows repeat their pieces, so every different one is cut once."""

    def __init__(self, ties: Collection[str]) -> None:
        super().__init__()
        self._ties = ties

    def __missing__(self, piece: str) -> list[str]:
        text = piece.strip()
        ends = text[:1] + text[-1:]
        # Names may stand in parentheses; a list cannot.
        if ends == "{}" or (ends == "()" and "," in text):
            parts = _split_by_any(text[1:-1], [*self._ties, ","])
        else:
            parts = _split_by_any(text, self._ties)
        bucket = [part.strip() for part in parts]
        if not all(bucket):
            raise ValueError("an item has no name")
        self[piece] = bucket
        return bucket


def _rows_and_places(rows: Sequence[list[list[str]]]) -> tuple[IntArray, FloatArray]:
    """The row of each entry, in reading order, and its place there: the number of its bucket, from 1."""
    widths = np.array([len(buckets) for buckets in rows], dtype=np.intp)
    sizes = np.array([len(bucket) for buckets in rows for bucket in buckets], dtype=np.intp)
    row = np.repeat(np.arange(len(rows)), widths)
    before = np.repeat(np.cumsum(widths) - widths, widths)
    place = np.arange(1.0, len(sizes) + 1) - before
    return np.repeat(row, sizes), np.repeat(place, sizes)


def _from_json(text: str) -> list[list[str]]:
    try:
        entries = json.loads(text)
        buckets = [[_name(name) for name in (entry if isinstance(entry, list) else [entry])] for entry in entries]
        # JSON can spell half a character, which no file or terminal could write again.
        "".join(name for bucket in buckets for name in bucket).encode()
    except (ValueError, RecursionError):
        raise ValueError("the brackets do not hold a JSON array of item names") from None
    if any(not bucket for bucket in buckets):
        raise ValueError("a bucket of tied items is empty")
    return buckets


def _name(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise ValueError
    return str(value).strip()


def _split_by_any(text: str, marks: Collection[str]) -> list[str]:
    parts = [text]
    for mark in marks:
        parts = [piece for part in parts for piece in part.split(mark)]
    return parts
