"""Checks of arguments that are numbers; the messages name the argument."""

from __future__ import annotations

import reprlib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from rankwise._typing import ArrayLike, FloatArray, IntArray


def check_whole_number(name: str, value: Any, *, at_least: int) -> int:
    """Refuse floats, even 2.0 (the result of a division, perhaps, and 2.5 next time), and numbers too small."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} is {value!r}; give a whole number, {at_least} or more")
    if value < at_least:
        raise ValueError(f"{name} is {value}, but must be at least {at_least}")
    return int(value)


def check_real_number(name: str, value: Any, *, infinite: bool = False) -> float:
    """Refuse what is no number, negative or NaN; infinity too, unless it is allowed."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} is {value!r}; give a number, 0 or more")
    number = float(value)
    if not number >= 0:
        raise ValueError(f"{name} is {value}, but must be at least 0")
    if number == np.inf and not infinite:
        raise ValueError(f"{name} is {value}, but must be finite")
    return number


def check_numbers(name: str, values: ArrayLike) -> FloatArray:
    """Numbers as a float64 array of whatever shape; text and ragged rows are refused."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {reprlib.repr(values)}; give numbers, as many in every row") from None


# From what users hold (lists, arrays and data frames of every make) to NumPy arrays, or to an error that helps.


# Far beyond any number of items, and exact in every type that ids come in.
_LARGEST_ID = 2**31 - 1


def numeric_matrix(values: ArrayLike, name: str) -> FloatArray:
    """Any table of numbers as a C-contiguous float64 matrix; None and masked cells become NaN."""
    if hasattr(values, "tocsr"):
        raise TypeError(f"{name} is a sparse matrix; rankings are dense: use .toarray()")
    array = _as_array(values, name)
    if array.ndim != 2:
        hint = _dimension_hint(values, array, name)
        raise ValueError(f"{name} has {array.ndim} dimension(s), but needs two: one row per ranking{hint}")
    if array.shape[1] == 0:
        raise ValueError(f"{name} has no columns; it needs one column per item")
    if array.dtype.kind in "US" and not isinstance(values, np.ndarray):
        array = np.asarray(values, dtype=object)  # one text among numbers turned all into text: which one?
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


def order_matrix(orders: ArrayLike) -> IntArray:
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
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), -1, array)  # how tables of numbers fill short rows
    no_id = (array != np.round(array)) | (array < -1) | (array > _LARGEST_ID)
    if no_id.any():
        row, place = np.argwhere(no_id)[0]
        raise ValueError(f"orders[{row}, {place}] is {array[row, place]}; ids count from 0, and -1 pads")
    return np.ascontiguousarray(array, dtype=np.intp)


def read_only(array: FloatArray) -> FloatArray:
    """A view that cannot be written to.

    All arrays that meet compiled kernels pass through here: a writable and a read-only array are two types to
    Numba, and a kernel of two rankings would be compiled for four.
    """
    view = array.view()
    view.flags.writeable = False
    return view


def rows_of(orders: Any, *, name: str = "orders") -> list[list[Any]]:
    """Lists of items, best first, as lists; what has no order of its own is refused."""
    refuse_rankings(orders, name)
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


def refuse_rankings(values: ArrayLike, name: str) -> None:
    """Raise if ``values`` is a Rankings: its positions, read as anything else, would silently mean another ranking."""
    from rankwise.data.rankings import Rankings  # the container is built on this module

    if isinstance(values, Rankings):
        raise TypeError(f"{name} is a Rankings, which holds positions (1 = best) already; it needs no conversion")


def data_frame(values: Any, name: str) -> Any:
    """``values`` as a narwhals frame if it is a data frame of any library, else None."""
    if isinstance(values, np.ndarray | list | tuple):  # the usual case, and no import
        return None
    import narwhals as nw

    try:
        frame = nw.from_native(values, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise ValueError(f"two columns of {name} have the same name ({' '.join(str(error).split())})") from None
    if isinstance(frame, nw.LazyFrame):
        raise TypeError(f"{name} is a lazy frame; collect it first")
    return frame if isinstance(frame, nw.DataFrame) else None


def matrix_from_columns(labels: Sequence[Any], columns: Sequence[Any], name: str) -> np.ndarray[Any, Any]:
    """Stack narwhals columns side by side; null becomes NaN."""
    if not columns:
        return np.empty((0, 0))
    return np.stack([_column_values(*pair, name) for pair in zip(labels, columns, strict=True)], axis=1)


def is_null(value: Any) -> bool:
    """Whether a cell says nothing: None, NaN, or the null of pandas."""
    return (
        value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and np.isnan(value))
    )


def _as_array(values: ArrayLike, name: str) -> np.ndarray[Any, Any]:
    if isinstance(values, np.ma.MaskedArray):
        data = np.ma.getdata(values)
        return np.where(np.ma.getmaskarray(values), np.nan, data) if data.dtype.kind in "iuf" else data
    if isinstance(values, np.ndarray):
        return values
    frame = data_frame(values, name)
    if frame is not None:
        return matrix_from_columns(frame.columns, list(frame.iter_columns()), name)
    try:
        return np.asarray(values)
    except ValueError:  # rows of different lengths
        rows = np.empty(len(values), dtype=object)
        for number, row in enumerate(values):
            rows[number] = row
        return rows


def _column_values(label: Any, column: Any, name: str) -> np.ndarray[Any, Any]:
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
            f"column {label!r} of {name} holds {column.dtype}, not numbers; convert it (astype(float)), or choose "
            "columns with Rankings.from_frame(frame, items=[...]); read_rankings reads files of other shapes"
        )
    return values


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


def _dimension_hint(values: ArrayLike, array: np.ndarray[Any, Any], name: str) -> str:
    if array.ndim == 0:
        return f"; it is of type {type(values).__name__}"
    if array.ndim > 2:
        return ""
    if array.dtype != object or not any(isinstance(row, Iterable) and not isinstance(row, str) for row in array):
        return f"; for a single ranking write [{name}]"
    unordered = [row for row in array if isinstance(row, set | frozenset | Mapping)]
    return f"; a row is of type {type(unordered[0]).__name__}" if unordered else "; its rows have different lengths"


def _refuse_inexact(array: np.ndarray[Any, Any], name: str) -> None:
    """Integers beyond 2^53 have no float64 of their own, so neighbours would become ties."""
    inexact = (array > 2**53) | (array < -(2**53))
    if inexact.any():
        row, column = np.argwhere(inexact)[0]
        raise ValueError(
            f"{name}[{row}, {column}] is {array[row, column]}, too large to tell from its neighbours as a float; "
            "rank or rescale the values first (unlisted items are infinite, missing ones NaN)"
        )


def _kind_of(array: np.ndarray[Any, Any]) -> str:
    return {"b": "booleans", "U": "text", "S": "bytes", "c": "complex numbers", "M": "dates"}.get(
        array.dtype.kind, str(array.dtype)
    )


# Names of items: checked, looked up, shortened for messages.


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


# Weights of rankings and of items.


def check_weights(weights: ArrayLike | None, n: int, *, name: str = "weights", each: str = "ranking") -> FloatArray:
    """Weights as a float64 array of length ``n``; ones when None.

    Parameters
    ----------
    weights : array-like of shape (n,) or None
        Finite and not negative.
    n : int
        The length they must have.
    name : str, default="weights"
        What error messages call them.
    each : str, default="ranking"
        What each weight belongs to, for error messages.

    Returns
    -------
    ndarray of shape (n,), float64, read-only
    """
    if weights is None:
        return read_only(np.ones(n))
    if np.ma.is_masked(weights):
        raise ValueError(f"{name} has masked entries; every {each} needs a weight (0 leaves it out)")
    try:
        array = np.asarray(weights)
        if array.dtype.kind == "O" and any(isinstance(weight, str | bytes) for weight in array.ravel()):
            raise TypeError
        if array.dtype.kind not in "biufO":  # text and dates would convert, and mean nothing
            raise TypeError
        array = array.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers, one per {each}") from None
    if array.shape != (n,):
        raise ValueError(f"{name} has shape {array.shape}, but there are {n} {each}s; give one weight for each")
    bad = ~(np.isfinite(array) & (array >= 0))
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(f"{name}[{row}] is {array[row]:g}; weights are finite and not negative")
    return read_only(array)
