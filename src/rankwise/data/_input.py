"""From what users hold (lists, arrays and data frames of every make) to NumPy arrays, or to an error that helps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from rankwise._typing import ArrayLike, FloatArray, IntArray

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


# ---------------------------------------------------------------------------------------------------------------


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
