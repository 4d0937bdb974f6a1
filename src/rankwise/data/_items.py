"""Names of items: checked, looked up, shortened for messages."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from rankwise.data._input import data_frame, is_null


def list_of_names(items: Any) -> list[Hashable]:
    """Item names as a list of plain Python values; what has no order of its own is refused."""
    if isinstance(items, str | set | frozenset | Mapping):
        raise TypeError(f"items is of type {type(items).__name__}; give a list of names, one per item")
    return [item.item() if isinstance(item, np.generic) else item for item in items]


def check_items(items: Sequence[Hashable] | None, n_items: int) -> tuple[Hashable, ...]:
    """One distinct name per item; 0, 1, 2, ... when None."""
    if items is None:
        return tuple(range(n_items))
    names = tuple(list_of_names(items))
    if len(names) != n_items:
        raise ValueError(f"{len(names)} item names for {n_items} items; give one name per column")
    try:
        distinct = set(names)
    except TypeError:
        raise TypeError("an item name is not hashable; use text or numbers") from None
    if any(is_null(name) or name == "" for name in names):
        raise ValueError("an item name is missing or empty; every item needs a name")
    if len(distinct) < n_items:
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise ValueError(f"two items are named {twice!r}; item names must differ")
    return names


def item_names(rankings: Any) -> list[Hashable] | None:
    """Names that a Rankings or a data frame gives its items; None for arrays, and for names given by default."""
    if isinstance(rankings, np.ndarray | list | tuple):
        return None
    items = getattr(rankings, "items", None)
    if isinstance(items, tuple):  # a Rankings; the .items of a frame or a dict is a method
        names = list(items)
    else:
        frame = data_frame(rankings, "rankings")
        if frame is None:
            return None
        names = list(frame.columns)
    default = (list(range(len(names))), [f"column_{i}" for i in range(len(names))])  # pandas, polars
    return None if names in default else names


def holds_names(rows: list[list[Any]]) -> bool:
    """Whether orders list names; rows of numbers alone list ids."""
    return any(not isinstance(entry, int | float | np.number | np.bool_) for row in rows for entry in row)


def without_padding(row: list[Any]) -> list[Any]:
    """A row less the blanks at its end, with which tables fill short rows."""
    end = len(row)
    while end and (is_null(row[end - 1]) or (isinstance(row[end - 1], str) and row[end - 1] == "")):
        end -= 1
    return row[:end]


def ids_from_names(rows: list[list[Any]], names: list[Hashable] | None) -> tuple[list[list[int]], list[Hashable]]:
    """Replace names by ids; the names are those given, or those that occur, in order of first appearance."""
    _check_entries(rows)
    names = list(dict.fromkeys(name for row in rows for name in row)) if names is None else names
    index = {name: i for i, name in enumerate(names)}
    for number, row in enumerate(rows):
        unknown = [name for name in row if name not in index]
        if unknown:
            raise ValueError(f"orders[{number}] lists {unknown[0]!r}, which is not among items {shortlist(names)}")
        if len(set(row)) < len(row):
            twice = next(name for place, name in enumerate(row) if name in row[:place])
            raise ValueError(f"orders[{number}] lists {twice!r} more than once; every item has one place")
    return [[index[name] for name in row] for row in rows], names


def shortlist(names: Sequence[Hashable], most: int = 8) -> str:
    """The first names as text, and how many more there are."""
    text = ", ".join(str(name) for name in names[:most])
    return text + (f", ... ({len(names) - most} more)" if len(names) > most else "")


# ---------------------------------------------------------------------------------------------------------------


def _check_entries(rows: list[list[Any]]) -> None:
    for number, row in enumerate(rows):
        for entry in row:
            # -1 pads ids; among names it is a slip like None.
            padding = isinstance(entry, int | np.integer) and entry == -1
            if padding or is_null(entry) or not isinstance(entry, Hashable) or entry == "":
                raise ValueError(
                    f"orders[{number}] lists {entry!r}, which names no item; leave away what the row does not list, "
                    "and say ties with from_buckets"
                )
