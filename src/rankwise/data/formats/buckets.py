"""Rankings that list their items best first: the text of one, and the rankings of many."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from rankwise._typing import FloatArray
from rankwise.data.formats.fields import shown
from rankwise.data.positions import Unlisted
from rankwise.data.rankings import Rankings
from rankwise.exceptions import RankwiseFormatError

# Rankings are a dense table, which a short file can blow up: every line may name a new item. A table this many times
# larger than the file is a mistake in the choice of columns, or wants another tool.
_MOST_INFLATION = 100
_SMALL = 10_000_000

Fail = Callable[..., RankwiseFormatError]


def split_order(text: str, separator: str = ">", ties: Collection[str] = ("~",)) -> list[list[str]]:
    """Cut ``a>b~c`` into buckets of tied items, best first; ``["a", "b"]`` is read as JSON.

    Raises
    ------
    ValueError
        Says what is wrong with the text.
    """
    if text.startswith("[") and text.endswith("]"):
        return _from_json(text)
    # A blank separator stands for any run of blanks.
    parts = text.split() if separator.isspace() else text.split(separator)
    buckets = [[name.strip() for name in _split_by_any(part, ties)] for part in parts]
    if any(not name for bucket in buckets for name in bucket):
        raise ValueError("an item has no name")
    return buckets


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
    occurring = (name for buckets in rows for bucket in buckets for name in bucket)
    names = names_in_order(occurring) if items is None else [str(item) for item in items]
    if not names:
        raise fail("no row lists an item", cure="Check the column and the separator.")
    known = set(names)
    for row, buckets in enumerate(rows):
        seen: set[str] = set()
        for name in (name for bucket in buckets for name in bucket):
            if name not in known:
                raise fail(
                    f"item {shown(name)} is not declared", row=row, cure="Correct the name, or add it to the items."
                )
            if name in seen:
                raise fail(f"item {shown(name)} is listed twice", row=row, cure="Give every item one place.")
            seen.add(name)
    check_size(len(rows), len(names), sum(len(bucket) for buckets in rows for bucket in buckets), fail)
    return Rankings.from_buckets(rows, unlisted=unlisted, items=names, weights=weights)


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


# ---------------------------------------------------------------------------------------------------------------


def _from_json(text: str) -> list[list[str]]:
    try:
        entries = json.loads(text)
        buckets = [[_name(name) for name in (entry if isinstance(entry, list) else [entry])] for entry in entries]
        # JSON can spell half a character, which no file or terminal could write again.
        "".join(name for bucket in buckets for name in bucket).encode()
    except (ValueError, RecursionError):
        raise ValueError("the brackets hold no JSON array of item names") from None
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
