"""Orders: rows that list items, best first; their conversion to positions and back.

`Rankings.from_orders` and `Rankings.from_buckets` are built on this module, and so are the lists of
`rankwise.aggregation.long_lists`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Literal

import numpy as np

from rankwise._typing import ArrayLike, FloatArray, IntArray
from rankwise._validation import check_choice, data_frame, is_null, kind_of, shortlist
from rankwise.data.positions import Unlisted, blank_for, check_positions, refuse_rankings

# A table of positions may have this many cells, or this many times the entries of the orders it comes from.
_MOST_CELLS = 10_000_000
_MOST_CELLS_PER_ENTRY = 100
# Far beyond any number of items, and exact in every type that ids come in.
_LARGEST_ID = 2**31 - 1


def positions_from_orders(orders: ArrayLike, *, n_items: int | None = None, unlisted: Unlisted = "below") -> FloatArray:
    """Convert orders (item ids, best first) to positions.

    Parameters
    ----------
    orders : array-like of int of shape (n_rankings, n_places), or a sequence of sequences of int
        Item ids counted from 0, the best first. Rows may be shorter than the number of items: omit the
        rest, or pad with -1.
    n_items : int, optional
        Number of items; by default one more than the largest id.
    unlisted : {"below", "missing"}, default="below"
        What a row says of the items that it does not list: they rank below the listed ones (top-k), or nothing.

    Returns
    -------
    ndarray of shape (n_rankings, n_items), float64

    Examples
    --------
    >>> from rankwise.data import positions_from_orders
    >>> positions_from_orders([[2, 0, 1]])
    array([[2., 3., 1.]])
    >>> positions_from_orders([[2, 0, -1]], n_items=4, unlisted="missing")
    array([[ 2., nan,  1., nan]])
    """
    blank = blank_for(unlisted)
    matrix = _order_matrix(orders)
    largest = int(matrix.max(initial=-1))
    size = largest + 1 if n_items is None else int(n_items)
    if size < 1:
        raise ValueError("the orders list no item; give n_items, or items in Rankings.from_orders")
    if n_items is None and size * len(matrix) > max(_MOST_CELLS, _MOST_CELLS_PER_ENTRY * matrix.size):
        raise ValueError(
            f"the largest id is {largest}, so the positions would take {size * len(matrix):,} cells; ids count from 0 "
            "without gaps. If these are product numbers or similar, give them as text: Rankings.from_orders"
        )
    if largest >= size:
        row, place = np.argwhere(matrix >= size)[0]
        hint = "; ids count from 0: subtract 1" if matrix.max() == size and not (matrix == 0).any() else ""
        hint = hint or "; numbers are ids: give names as text"
        raise ValueError(f"orders[{row}, {place}] is {matrix[row, place]}, but ids run from 0 to {size - 1}{hint}")
    if n_items is None and size > 1 and not (matrix == 0).any() and matrix.size:
        raise ValueError(
            "no order lists item 0; ids count from 0. If they count from 1 here, subtract 1; "
            "if item 0 is really never listed, give n_items, or items in Rankings.from_orders"
        )
    listed = matrix >= 0
    after_gap = listed[:, 1:] & ~listed[:, :-1]
    if after_gap.any():
        row, place = np.argwhere(after_gap)[0]
        raise ValueError(f"orders[{row}, {place}] is -1, but items follow it; -1 may only pad the end of a row")
    rows, places = np.nonzero(listed)
    ids = matrix[rows, places]
    result = np.full((len(matrix), size), blank)
    result[rows, ids] = places + 1.0
    # A repeated id was overwritten, so it no longer sits where it was first written.
    lost = result[rows, ids] != places + 1.0
    if lost.any():
        cell = int(np.argmax(lost))
        raise ValueError(f"orders[{rows[cell]}] lists item {ids[cell]} more than once; every item has one place")
    return result


def orders_from_positions(positions: ArrayLike, *, ties: Literal["raise", "by-id"] = "raise") -> IntArray:
    """Convert positions to orders (item ids, best first).

    Parameters
    ----------
    positions : array-like of shape (n_rankings, n_items) or Rankings
        Column = item, 1 = best.
    ties : {"raise", "by-id"}, default="raise"
        Orders cannot express ties: refuse them, or list tied items by increasing id.

    Returns
    -------
    ndarray of shape (n_rankings, n_items), intp
        Padded with -1 where items are unlisted or missing.

    Examples
    --------
    >>> from rankwise.data import orders_from_positions
    >>> orders_from_positions([[2, 3, 1], [2, float("nan"), 1]])
    array([[ 2,  0,  1],
           [ 2,  0, -1]])
    """
    check_choice("ties", ties, ("raise", "by-id"))
    matrix = check_positions(positions)
    order = np.argsort(matrix, axis=1, kind="stable")
    ordered = np.take_along_axis(matrix, order, axis=1)
    listed = np.isfinite(ordered)
    if ties == "raise":
        tied = (ordered[:, 1:] == ordered[:, :-1]) & listed[:, 1:]
        if tied.any():
            row, place = np.argwhere(tied)[0]
            first, second = order[row, place], order[row, place + 1]
            raise ValueError(
                f"ranking {row} ties items {first} and {second}, which an order cannot say; "
                "use buckets, or ties='by-id' to list tied items by id"
            )
    return np.where(listed, order, -1)


def rows_of(orders: Any, *, name: str = "orders") -> list[list[Any]]:
    """Lists of items, best first, as lists of lists; whatever has no order of its own is refused."""
    refuse_rankings(orders, name)
    orders = np.asarray(orders) if isinstance(orders, memoryview) else orders  # Python cannot go over its rows
    if data_frame(orders, name) is not None:  # its iterator yields columns or their names, never rows
        raise TypeError(f"{name} is a data frame; give an array (.to_numpy()) or a list of lists, one per ranking")
    if isinstance(orders, str | bytes | set | frozenset | Mapping) or not isinstance(orders, Iterable):
        raise TypeError(
            f"{name} is of type {type(orders).__name__}; give a list of lists, or read a file with read_rankings"
        )
    rows = []
    for number, row in enumerate(orders):
        if isinstance(row, str | bytes | set | frozenset | Mapping) or not isinstance(row, Iterable):
            raise ValueError(
                f"{name}[{number}] is {row!r}, not a list of items, best first; for a single ranking write [{name}]"
            )
        rows.append(list(row))
    return rows


def holds_names(rows: list[list[Any]]) -> bool:
    """Whether orders list names; rows of numbers alone list ids."""
    return any(not isinstance(entry, int | float | np.number | np.bool_) for row in rows for entry in row)


def without_padding(row: list[Any]) -> list[Any]:
    """The row without the blanks at its end, with which tables fill short rows."""
    end = len(row)
    while end and (is_null(row[end - 1]) or (isinstance(row[end - 1], str) and row[end - 1] == "")):
        end -= 1
    return row[:end]


def ids_from_names(rows: list[list[Any]], names: list[Hashable] | None) -> tuple[list[list[int]], list[Hashable]]:
    """Replace names by ids; the names are those given, or those that occur, in order of first appearance."""
    for number, row in enumerate(rows):
        for entry in row:
            # -1 pads ids; among names it is a slip like None.
            padding = isinstance(entry, int | np.integer) and entry == -1
            if padding or is_null(entry) or not isinstance(entry, Hashable) or entry == "":
                raise ValueError(
                    f"orders[{number}] lists {entry!r}, which does not name an item; drop what the row does not list, "
                    "and write ties with from_buckets"
                )
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


def _order_matrix(orders: ArrayLike) -> IntArray:
    """Orders as an integer matrix padded with -1."""
    if isinstance(orders, np.ma.MaskedArray):
        array = orders.filled(-1) if orders.dtype.kind in "if" else np.ma.getdata(orders)
    elif isinstance(orders, np.ndarray):
        array = orders
    else:
        rows = rows_of(orders)
        width = max((len(row) for row in rows), default=0)
        array = np.asarray([[*row, *[-1] * (width - len(row))] for row in rows])
        array = array.reshape(len(rows), width)
    if array.ndim != 2:
        raise ValueError(f"orders has {array.ndim} dimension(s), but needs two: one row per ranking")
    if array.size == 0:
        return np.zeros(array.shape, dtype=np.intp)
    if array.dtype.kind not in "iuf":
        raise TypeError(
            f"orders holds {kind_of(array)}, not integer ids; for item names use Rankings.from_orders(..., items=...)"
        )
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), -1, array)  # how tables of numbers fill short rows
    no_id = (array != np.round(array)) | (array < -1) | (array > _LARGEST_ID)
    if no_id.any():
        row, place = np.argwhere(no_id)[0]
        raise ValueError(f"orders[{row}, {place}] is {array[row, place]}; ids count from 0, and -1 pads")
    return np.ascontiguousarray(array, dtype=np.intp)
