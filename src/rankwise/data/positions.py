"""Positions: the one representation of rankings, and the conversions to and from it.

``positions[r, i]`` is the place of item ``i`` in ranking ``r``: 1 is best, equal places are ties, ``+inf`` is
unlisted (below every listed item, order unknown), ``NaN`` is missing (never compared). With this,
``positions[r, a] < positions[r, b]`` *is* "a before b" for every kind of ranking.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import numpy as np

from rankwise._typing import ArrayLike, BoolArray, FloatArray, IntArray

Unlisted = Literal["below", "missing"]

# Rows handled at a time, so that temporary arrays stay small whatever the number of rankings.
_BLOCK_CELLS = 1 << 20
# Far beyond any number of items, and exact in every type that ids come in.
_LARGEST_ID = 2**31 - 1


def check_positions(positions: ArrayLike, *, name: str = "positions", strict: bool = True) -> FloatArray:
    """Validate rankings given as positions: the one door for ranking data.

    Only the order of the values in a row counts, so competition ranks (1, 2, 2, 4), mid-ranks (1, 2.5, 2.5, 4)
    and gaps (1, 3, 7) are all welcome; what comes back is dense (1, 2, 2, 3).

    Parameters
    ----------
    positions : array-like of shape (n_rankings, n_items) or Rankings
        Column = item, value = its place, 1 = best. ``+inf`` is unlisted, ``NaN`` (or None) is missing.
    name : str, default="positions"
        What error messages call the argument.
    strict : bool, default=True
        Whether a value of 0 or less is an error (else it is a warning: estimators look at the order alone).

    Returns
    -------
    ndarray of shape (n_rankings, n_items), float64
        Dense positions, C-contiguous. The input itself where it already is all that.

    Examples
    --------
    >>> from rankwise.data import check_positions
    >>> check_positions([[1, 2, 2, 4], [2, 1, float("nan"), float("inf")]])
    array([[ 1.,  2.,  2.,  3.],
           [ 2.,  1., nan, inf]])
    """
    from rankwise.data.rankings import Rankings  # the container is built on this module

    if isinstance(positions, Rankings):
        return positions.positions
    matrix = _numeric_matrix(positions, name)
    too_small = matrix <= 0
    if too_small.any():
        _refuse_non_positive(matrix, too_small, name, strict)
    return dense_positions(matrix)


def dense_positions(values: ArrayLike) -> FloatArray:
    """Replace each row by its dense ranks: the smallest value becomes 1, the next 2; equal values share a place.

    Parameters
    ----------
    values : array-like of shape (n_rankings, n_items)
        Smaller is better. ``+inf`` (unlisted) and ``NaN`` (missing) stay as they are.

    Returns
    -------
    ndarray of shape (n_rankings, n_items), float64
        Dense positions. Applying the function twice changes nothing.

    Examples
    --------
    >>> from rankwise.data import dense_positions
    >>> dense_positions([[10, 30, 30, 70]])
    array([[1., 2., 2., 3.]])
    """
    matrix = _numeric_matrix(values, "values")
    result = matrix
    for rows in _row_blocks(matrix):
        block = matrix[rows]
        ordered = np.sort(block, axis=1)
        if _is_dense(ordered):
            continue
        if result is matrix:
            result = matrix.copy()
        order = np.argsort(block, axis=1, kind="stable")
        ordered = np.take_along_axis(block, order, axis=1)
        dense = np.ones_like(ordered)
        np.cumsum(ordered[:, 1:] > ordered[:, :-1], axis=1, out=dense[:, 1:])
        dense[:, 1:] += 1
        dense = np.where(ordered < np.inf, dense, ordered)
        np.put_along_axis(result[rows], order, dense, axis=1)
    return result


def midranks(positions: ArrayLike) -> FloatArray:
    """Average ranks: tied items share the mean of the places they fill.

    Unlisted items share the places below the listed ones; missing items stay ``NaN`` and take no place.

    Parameters
    ----------
    positions : array-like of shape (n_rankings, n_items) or Rankings
        Column = item, 1 = best.

    Returns
    -------
    ndarray of shape (n_rankings, n_items), float64

    Examples
    --------
    >>> from rankwise.data import midranks
    >>> midranks([[1, 2, 2, 3], [1, float("inf"), float("inf"), float("nan")]])
    array([[1. , 2.5, 2.5, 4. ],
           [1. , 2.5, 2.5, nan]])
    """
    matrix = check_positions(positions)
    result = np.empty_like(matrix)
    for rows in _row_blocks(matrix):
        block = matrix[rows]
        order = np.argsort(block, axis=1, kind="stable")
        ordered = np.take_along_axis(block, order, axis=1)
        n, k = ordered.shape
        place = np.broadcast_to(np.arange(1.0, k + 1), (n, k))
        starts = np.ones((n, k + 1), dtype=bool)
        starts[:, 1:k] = ordered[:, 1:] != ordered[:, :-1]  # NaN != NaN, harmless: they are blanked below
        first = np.maximum.accumulate(np.where(starts[:, :k], place, 0), axis=1)
        last = np.minimum.accumulate(np.where(starts[:, 1:], place, k)[:, ::-1], axis=1)[:, ::-1]
        shared = np.where(np.isnan(ordered), np.nan, (first + last) / 2)
        np.put_along_axis(result[rows], order, shared, axis=1)
    return result


def reverse(positions: ArrayLike) -> FloatArray:
    """Turn every ranking upside down: a before b becomes b before a.

    Unlisted items, which were below all others, come first and share place 1 (positions cannot say "above,
    order unknown"). Missing items stay missing.

    Parameters
    ----------
    positions : array-like of shape (n_rankings, n_items) or Rankings
        Column = item, 1 = best.

    Returns
    -------
    ndarray of shape (n_rankings, n_items), float64

    Examples
    --------
    >>> from rankwise.data import reverse
    >>> reverse([[1, 2, 3], [1, 2, float("inf")]])
    array([[3., 2., 1.],
           [3., 2., 1.]])
    """
    matrix = check_positions(positions)
    return dense_positions(-np.where(np.isposinf(matrix), matrix.shape[1] + 1.0, matrix))


def positions_from_scores(scores: ArrayLike) -> FloatArray:
    """Rank items by score: the highest score gets position 1, equal scores tie.

    Parameters
    ----------
    scores : array-like of shape (n_rankings, n_items)
        Higher is better; ``-inf`` is unlisted, ``NaN`` is missing.

    Returns
    -------
    ndarray of shape (n_rankings, n_items), float64

    Examples
    --------
    >>> from rankwise.data import positions_from_scores
    >>> positions_from_scores([[0.1, 0.9, 0.5], [3, 3, -float("inf")]])
    array([[ 3.,  1.,  2.],
           [ 1.,  1., inf]])
    """
    _refuse_rankings(scores, "scores")
    matrix = _numeric_matrix(scores, "scores")
    best = np.isposinf(matrix)
    if best.any():
        row, column = np.argwhere(best)[0]
        raise ValueError(
            f"scores[{row}, {column}] is +inf; scores are finite, -inf (unlisted) or NaN (missing). "
            "If the values are positions (1 = best), they need no conversion"
        )
    return dense_positions(-matrix)


def positions_from_orders(orders: ArrayLike, *, n_items: int | None = None, unlisted: Unlisted = "below") -> FloatArray:
    """Convert orders (item ids, best first) to positions.

    Parameters
    ----------
    orders : array-like of int of shape (n_rankings, n_places), or a sequence of sequences of int
        Item ids counted from 0, the best first. Rows may be shorter than the number of items: leave the rest
        away, or pad with -1.
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
    blank = _blank_for(unlisted)
    matrix = _order_matrix(orders)
    largest = int(matrix.max(initial=-1))
    size = largest + 1 if n_items is None else int(n_items)
    if size < 1:
        raise ValueError("the orders list no item; give n_items, or items in Rankings.from_orders")
    if largest >= size:
        row, place = np.argwhere(matrix >= size)[0]
        hint = "; ids count from 0: subtract 1" if matrix.max() == size and not (matrix == 0).any() else ""
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
    if ties not in ("raise", "by-id"):
        raise ValueError(f"ties is {ties!r}; choose 'raise' or 'by-id'")
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


def has_ties(positions: FloatArray) -> BoolArray:
    """Whether each row gives two listed items the same place (positions as `check_positions` returns them)."""
    ordered = np.sort(positions, axis=1)
    return np.any((ordered[:, 1:] == ordered[:, :-1]) & np.isfinite(ordered[:, 1:]), axis=1)


# ---------------------------------------------------------------------------------------------------------------


def _row_blocks(matrix: FloatArray) -> Iterator[slice]:
    step = max(1, _BLOCK_CELLS // max(1, matrix.shape[1]))
    for start in range(0, len(matrix), step):
        yield slice(start, start + step)


def _is_dense(ordered: FloatArray) -> bool:
    """Whether sorted rows start at 1 and climb by 0 or 1 (infinity and NaN sort last and are free)."""
    first = ordered[:, 0]
    if not np.all((first == 1) | ~(first < np.inf)):
        return False
    later = ordered[:, 1:]
    with np.errstate(invalid="ignore"):  # inf - inf
        step = later - ordered[:, :-1]
    return bool(np.all((step == 0) | (step == 1) | ~np.isfinite(later)))


def _refuse_non_positive(matrix: FloatArray, too_small: BoolArray, name: str, strict: bool) -> None:
    row, column = np.argwhere(too_small)[0]
    value = matrix[row, column]
    if np.isneginf(matrix).any():
        row, column = np.argwhere(np.isneginf(matrix))[0]
        raise ValueError(
            f"{name}[{row}, {column}] is -inf, which is no position; unlisted items are +inf. "
            "If the values are scores (higher = better), use positions_from_scores"
        )
    message = (
        f"{name}[{row}, {column}] is {value:g}, but positions count from 1 (1 = best). "
        "If the rows list item ids from best to worst, use positions_from_orders; "
        "if they are scores (higher = better), positions_from_scores; if they count from 0, add 1"
    )
    if strict:
        raise ValueError(message)
    warnings.warn(message + ". Only the order of the values was used.", UserWarning, stacklevel=4)


def _blank_for(unlisted: str) -> float:
    if unlisted == "below":
        return np.inf
    if unlisted == "missing":
        return np.nan
    raise ValueError(f"unlisted is {unlisted!r}; choose 'below' (top-k) or 'missing' (never compared)")


def _numeric_matrix(values: ArrayLike, name: str) -> FloatArray:
    """Any table of numbers as a C-contiguous float64 matrix; None and masked cells become NaN."""
    if hasattr(values, "tocsr"):
        raise TypeError(f"{name} is a sparse matrix; rankings are dense: use .toarray()")
    array = _as_array(values, name)
    if array.ndim != 2:
        hint = _dimension_hint(values, array, name)
        raise ValueError(f"{name} has {array.ndim} dimension(s), but needs two: one row per ranking{hint}")
    if array.shape[1] == 0:
        raise ValueError(f"{name} has no columns; it needs one column per item")
    if array.dtype.kind == "O":
        array = _floats_from_objects(array, name)
    if array.dtype.kind not in "iuf":
        raise TypeError(
            f"{name} holds {_kind_of(array)}, not numbers. Positions are numbers (1 = best); "
            "for item names listed best first, use Rankings.from_orders"
        )
    if array.dtype.kind in "iu":
        _refuse_inexact(array, name)
    return np.ascontiguousarray(array, dtype=np.float64)


def _as_array(values: ArrayLike, name: str) -> np.ndarray[Any, Any]:
    if isinstance(values, np.ma.MaskedArray):
        data = np.ma.getdata(values)
        return np.where(np.ma.getmaskarray(values), np.nan, data) if data.dtype.kind in "iuf" else data
    if isinstance(values, np.ndarray):
        return values
    frame = data_frame(values, name)
    if frame is not None:
        return matrix_from_columns(dict(zip(frame.columns, frame.iter_columns(), strict=True)), name)
    try:
        return np.asarray(values)
    except ValueError:  # rows of different lengths
        rows = np.empty(len(values), dtype=object)
        for number, row in enumerate(values):
            rows[number] = row
        return rows


def data_frame(values: Any, name: str) -> Any:
    """``values`` as a narwhals frame if it is a data frame of any library, else None."""
    if isinstance(values, np.ndarray | list | tuple):  # the usual case, and no import
        return None
    import narwhals as nw

    frame = nw.from_native(values, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise TypeError(f"{name} is a lazy frame; collect it first")
    return frame if isinstance(frame, nw.DataFrame) else None


def matrix_from_columns(columns: Mapping[Any, Any], name: str) -> np.ndarray[Any, Any]:
    """Stack the columns of a narwhals frame; null becomes NaN."""
    return np.stack([_column_values(column, label, name) for label, column in columns.items()], axis=1)


def _column_values(column: Any, label: Any, name: str) -> np.ndarray[Any, Any]:
    import narwhals as nw

    nulls = column.null_count()
    if nulls == len(column):
        return np.full(len(column), np.nan)
    if column.dtype.is_integer() and not nulls:
        values: np.ndarray[Any, Any] = column.to_numpy()
    elif column.dtype.is_numeric():
        values = column.cast(nw.Float64).to_numpy()
    elif column.dtype == nw.Object:  # numbers and None, perhaps; the cells will tell
        values = column.to_numpy()
    else:
        raise ValueError(
            f"column {label!r} of {name} holds {column.dtype}, not numbers; choose the columns of the items with "
            "Rankings.from_frame(frame, items=[...]), or read files of other shapes with read_rankings"
        )
    return values


def _dimension_hint(values: ArrayLike, array: np.ndarray[Any, Any], name: str) -> str:
    if array.ndim == 0:
        return f"; it is of type {type(values).__name__}"
    if array.ndim > 2:
        return ""
    if array.dtype != object or not any(isinstance(row, Iterable) and not isinstance(row, str) for row in array):
        return f"; for a single ranking write [{name}]"
    unordered = [row for row in array if isinstance(row, set | frozenset | Mapping)]
    return f"; a row is of type {type(unordered[0]).__name__}" if unordered else "; its rows have different lengths"


def _refuse_rankings(values: ArrayLike, name: str) -> None:
    from rankwise.data.rankings import Rankings  # the container is built on this module

    if isinstance(values, Rankings):
        raise TypeError(f"{name} is a Rankings, which holds positions (1 = best) already; it needs no conversion")


def _refuse_inexact(array: np.ndarray[Any, Any], name: str) -> None:
    """Integers beyond 2^53 have no float64 of their own, so neighbours would become ties."""
    inexact = (array > 2**53) | (array < -(2**53))
    if inexact.any():
        row, column = np.argwhere(inexact)[0]
        raise ValueError(
            f"{name}[{row}, {column}] is {array[row, column]}, too large to tell from its neighbours as a float; "
            "rank or rescale the values first (unlisted items are infinite, missing ones NaN)"
        )


def _floats_from_objects(array: np.ndarray[Any, Any], name: str) -> FloatArray:
    result = np.empty(array.shape)
    for (row, column), value in np.ndenumerate(array):
        if is_null(value):
            result[row, column] = np.nan
            continue
        try:
            if isinstance(value, str | bytes | bool | np.bool_):
                raise TypeError
            result[row, column] = float(value)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(
                f"{name}[{row}, {column}] is {value!r}, not a number. Positions are numbers (1 = best); "
                "for item names listed best first, use Rankings.from_orders"
            ) from None
    return result


def is_null(value: Any) -> bool:
    """Whether a cell says nothing: None, NaN, or the null of pandas."""
    return (
        value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and np.isnan(value))
    )


def _kind_of(array: np.ndarray[Any, Any]) -> str:
    return {"b": "booleans", "U": "text", "S": "bytes", "c": "complex numbers", "M": "dates"}.get(
        array.dtype.kind, str(array.dtype)
    )


def rows_of(orders: Any, *, name: str = "orders") -> list[list[Any]]:
    """Lists of items, best first, as lists; what has no order of its own is refused."""
    _refuse_rankings(orders, name)
    if isinstance(orders, str | bytes | set | frozenset | Mapping) or not isinstance(orders, Iterable):
        raise TypeError(
            f"{name} is of type {type(orders).__name__}; give a list of lists, or read a file with read_rankings"
        )
    if data_frame(orders, name) is not None:
        raise TypeError(f"{name} is a data frame; give an array (.to_numpy()) or a list of lists, one per ranking")
    rows = []
    for number, row in enumerate(orders):
        if isinstance(row, str | bytes | set | frozenset | Mapping) or not isinstance(row, Iterable):
            raise ValueError(
                f"{name}[{number}] is {row!r}, not a list of items, best first; for a single ranking write [{name}]"
            )
        rows.append(list(row))
    return rows


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
            f"orders holds {_kind_of(array)}, not integer ids; for item names use Rankings.from_orders(..., items=...)"
        )
    no_id = (array != np.round(array)) | (array < -1) | (array > _LARGEST_ID)
    if no_id.any():
        row, place = np.argwhere(no_id)[0]
        raise ValueError(f"orders[{row}, {place}] is {array[row, place]}; ids count from 0, and -1 pads")
    return np.ascontiguousarray(array, dtype=np.intp)
