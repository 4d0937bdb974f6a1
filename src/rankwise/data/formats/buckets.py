"""Texts that list items best first, such as ``a>b~c``, and Rankings from many of them.

The readers of orders, strings, duels and xarff files use it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from rankwise._typing import FloatArray, IntArray
from rankwise.data.formats.tables import Codes
from rankwise.data.formats.text import shown
from rankwise.data.positions import Unlisted, blank_for, own_positions
from rankwise.data.rankings import Rankings
from rankwise.exceptions import RankwiseFormatError

# Rankings are a dense table, which a short file can blow up: every line may name a new item. A table this many times
# larger than the file is a mistake in the choice of columns, or wants another tool.
_MOST_INFLATION = 100
_SMALL = 10_000_000
# Rankings are filled in some rows at a time, so that temporary arrays stay small.
_BLOCK_CELLS = 1 << 16

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
    names = names_in_order(_names_of(rows)) if items is None else items
    index = {name: i for i, name in enumerate(names)}
    if names and items is not None:
        for row, buckets in enumerate(rows):
            unknown = next((name for name in chain.from_iterable(buckets) if name not in index), None)
            if unknown is not None:
                raise _undeclared(unknown, row, fail)

    def entries(begin: int, end: int) -> tuple[IntArray, IntArray, FloatArray]:
        some = rows[begin:end]
        return (*_rows_and_items(some, index), _places(some))

    n_read = sum(len(bucket) for buckets in rows for bucket in buckets)
    return _filled(len(rows), names, n_read, entries, fail, unlisted=unlisted, weights=weights)


def rankings_from_columns(
    columns: Sequence[tuple[Sequence[str], Codes]],
    blanks: Collection[str],
    fail: Fail,
    *,
    unlisted: Unlisted,
    items: Sequence[str] | None = None,
    weights: FloatArray | None = None,
) -> Rankings:
    """Rankings from a column per place, as `rankings_from_rows` makes them of rows of buckets with an item in each.

    Parameters
    ----------
    columns : sequence of (list of str, ndarray of int32)
        The different cells of a column in order of appearance, and for every row which of them it holds.
    blanks : collection of str
        Cells that name no item.
    fail, unlisted, items, weights
        As in `rankings_from_rows`.

    Returns
    -------
    Rankings
    """
    n_rows = len(columns[0][1]) if columns else 0
    seen: dict[str, tuple[int, int]] = {}  # where each name stands first
    for at, (cells, codes) in enumerate(columns):
        first = np.zeros(len(cells), dtype=np.intp)
        first[codes[::-1]] = np.arange(n_rows - 1, -1, -1)  # what is written last stays
        for cell, row in zip(cells, first.tolist(), strict=True):
            if cell not in blanks:
                seen[cell] = min(seen.get(cell, (row, at)), (row, at))
    occurring = sorted(seen, key=seen.__getitem__)
    names = names_in_order(occurring) if items is None else items
    index = {name: i for i, name in enumerate(names)}
    unknown = next((name for name in occurring if name not in index), None)
    if names and unknown is not None:
        raise _undeclared(unknown, seen[unknown][0], fail)
    item_of = [np.array([-1 if cell in blanks else index.get(cell, -1) for cell in cells]) for cells, _ in columns]

    def entries(begin: int, end: int) -> tuple[IntArray, IntArray, FloatArray]:
        listed = np.column_stack([of[codes[begin:end]] for of, (_, codes) in zip(item_of, columns, strict=True)])
        given = listed >= 0
        return np.nonzero(given)[0], listed[given], np.cumsum(given, axis=1, dtype=np.float64)[given]

    n_read = sum(int(np.count_nonzero(of[codes] >= 0)) for of, (_, codes) in zip(item_of, columns, strict=True))
    return _filled(n_rows, names, n_read, entries, fail, unlisted=unlisted, weights=weights)


def _undeclared(name: str, row: int, fail: Fail) -> RankwiseFormatError:
    return fail(f"item {shown(name)} is not declared", row=row, cure="Correct the name, or add it to the items.")


def _filled(
    n_rows: int,
    names: Sequence[str],
    n_read: int,
    entries: Callable[[int, int], tuple[IntArray, IntArray, FloatArray]],
    fail: Fail,
    *,
    unlisted: Unlisted,
    weights: FloatArray | None,
) -> Rankings:
    """Rankings from the entries (row, item, place) of some rows at a time; ``n_read`` entries in all."""
    if not names:
        raise fail("no row lists an item", cure="Check the column and the separator.")
    check_size(n_rows, len(names), n_read, fail)
    values = np.full((n_rows, len(names)), blank_for(unlisted))
    at_once = max(1, _BLOCK_CELLS // len(names))
    for begin in range(0, n_rows, at_once):
        end = min(begin + at_once, n_rows)
        row, item, place = entries(begin, end)
        # What is written last stays, so an entry that does not find itself again was overwritten by a twin.
        entry = np.arange(len(row))
        last_entry = np.empty((end - begin, len(names)), dtype=np.intp)
        last_entry[row, item] = entry
        twins = np.flatnonzero(last_entry[row, item] != entry)
        if twins.size:
            name, at = names[item[twins[0]]], begin + int(row[twins[0]])
            raise fail(f"item {shown(name)} is listed twice", row=at, cure="Give every item one place.")
        values[begin:end][row, item] = place
    return Rankings(own_positions(values), names, weights)


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


def _names_of(rows: Sequence[list[list[str]]]) -> Iterator[str]:
    return (name for buckets in rows for bucket in buckets for name in bucket)


def _rows_and_items(rows: Sequence[list[list[str]]], index: Mapping[str, int]) -> tuple[IntArray, IntArray]:
    """The row of each entry, in reading order, and its item."""
    listed = np.array([sum(map(len, buckets)) for buckets in rows], dtype=np.intp)
    item = np.array([index[name] for name in _names_of(rows)], dtype=np.intp)
    return np.repeat(np.arange(len(rows)), listed), item


def _places(rows: Sequence[list[list[str]]]) -> FloatArray:
    """The place of each entry in its row: the number of its bucket, from 1."""
    widths = np.array([len(buckets) for buckets in rows], dtype=np.intp)
    sizes = np.array([len(bucket) for buckets in rows for bucket in buckets], dtype=np.intp)
    before = np.repeat(np.cumsum(widths) - widths, widths)
    return np.repeat(np.arange(1.0, len(sizes) + 1) - before, sizes)


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
