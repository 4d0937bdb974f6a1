"""Checks of arguments that every package needs: numbers, tables, item names, weights, random states.

Each function returns the checked value in its plain form (a Python number, a float64 array, a tuple of names) or raises
an error that names the argument, shows the value and says what to give instead. Nothing here depends on rankings: what
only they need is in `rankwise.data`, and what only queries need in `rankwise.queries`.
"""

from __future__ import annotations

import inspect
import reprlib
from collections.abc import Callable, Container, Hashable, Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any
from zlib import crc32

import numpy as np

from rankwise._typing import ArrayLike, FloatArray, RandomState

# Beyond this, neighboring integers share a float64.
_LARGEST_EXACT = 2**53
# What people write where they know no group, in lower case.
_UNKNOWN_LABELS = ("", "na", "n/a", "n.a.", "#n/a", "nan", "<na>", "null", "-")
#: more groups cannot be compared, or shown side by side
MOST_GROUPS = 50
#: what to do about them
MANY_GROUPS_CURE = "cut a number, such as an age, into classes; merge small groups; or name another column"


def check_whole_number(name: str, value: Any, *, at_least: int) -> int:
    """Refuse floats, even 2.0 (perhaps the result of a division that gives 2.5 next time), and numbers too small."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} is {value!r}; give a whole number, {at_least} or more")
    if value < at_least:
        raise ValueError(f"{name} is {value}, but must be at least {at_least}")
    return int(value)


def check_real_number(name: str, value: Any, *, infinite: bool = False) -> float:
    """Refuse anything but a number of 0 or more; infinity too, unless it is allowed."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} is {value!r}; give a number, 0 or more")
    number = float(value)
    if not number >= 0:
        raise ValueError(f"{name} is {value}, but must be at least 0")
    if number == np.inf and not infinite:
        raise ValueError(f"{name} is {value}, but must be finite")
    return number


def check_open_share(name: str, value: float) -> None:
    """Refuse a share or a level that does not lie strictly between 0 and 1."""
    if not 0 < value < 1:
        raise ValueError(f"{name} is {value}, but must lie between 0 and 1")


def check_n_jobs(n_jobs: Any) -> int | None:
    """Refuse a number of threads that is none: 0, or no whole number. `rankwise._sklearn.N_JOBS` is its twin."""
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool)):
        raise TypeError(f"n_jobs is {n_jobs!r}; give the number of threads, or -1 for all cores")
    if n_jobs == 0:
        raise ValueError("n_jobs is 0; give the number of threads, or -1 for all cores")
    return None if n_jobs is None else int(n_jobs)


def check_sizes(*, at_least: int = 1, **sizes: int) -> None:
    """Check several whole numbers by the names of their arguments; the error names the first that is wrong."""
    for name, size in sizes.items():
        check_whole_number(name, size, at_least=at_least)


def check_scales(**scales: float) -> None:
    """Check several numbers of 0 or more, such as standard deviations, by the names of their arguments."""
    for name, scale in scales.items():
        check_real_number(name, scale)


def check_choice(name: str, value: object, choices: tuple[object, ...]) -> None:
    """Refuse a value that is not among the choices, and list them."""
    if value not in choices:
        listed = ", ".join(repr(choice) for choice in choices[:-1])
        raise ValueError(f"{name} is {value!r}; choose {listed} or {choices[-1]!r}")


def check_option_names(
    caller: str,
    options: Mapping[str, Any],
    function: Callable[..., Any],
    *,
    reserved: Container[str] = (),
    what: str | None = None,
) -> None:
    """Refuse options that a function does not take, or that its caller gives itself, the ``reserved`` ones.

    ``what`` names the use of the caller that the options are for, for error messages.
    """
    known = [name for name in inspect.signature(function).parameters if name not in reserved]
    of = f" for {what}" if what else ""
    for name in options:
        if name not in known:
            raise TypeError(f"{caller} has no option {name!r}{of}; the options are {', '.join(known)}")


def check_numbers(name: str, values: ArrayLike) -> FloatArray:
    """Numbers as a float64 array of any shape; text, complex numbers and rows of different lengths are refused."""
    try:
        if np.iscomplexobj(values):  # NumPy would drop the imaginary part
            raise TypeError
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {reprlib.repr(values)}; give numbers, as many in every row") from None


def numeric_matrix(values: ArrayLike, name: str) -> FloatArray:
    """Any table of numbers as a C-contiguous float64 matrix; None and masked cells become NaN."""
    if hasattr(values, "tocsr"):
        raise TypeError(f"{name} is a sparse matrix; rankings are dense: use .toarray()")
    plain = isinstance(values, np.ndarray) and not isinstance(values, np.ma.MaskedArray)
    array = values if plain else _as_array(values, name)
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
            f"{name} holds {kind_of(array)}, not numbers. Positions are numbers (1 = best); "
            "for item names listed best first, use Rankings.from_orders"
        )
    if array.dtype.kind in "iu" and np.any(inexact := (array > _LARGEST_EXACT) | (array < -_LARGEST_EXACT)):
        row, column = np.argwhere(inexact)[0]
        raise ValueError(
            f"{name}[{row}, {column}] is {array[row, column]}, too large to tell from its neighbors as a float; "
            "rank or rescale the values first (unlisted items are infinite, missing ones NaN)"
        )
    return np.ascontiguousarray(array, dtype=np.float64)


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


def read_only(array: FloatArray) -> FloatArray:
    """A view that cannot be written to.

    Every array that a compiled function gets passes through here: to Numba a writable and a read-only array are two
    types, and a function of two rankings would be compiled four times.
    """
    view = array.view()
    view.flags.writeable = False
    return view


def is_null(value: Any) -> bool:
    """Whether a cell says nothing: None, NaN, or the null of pandas."""
    return (
        value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and np.isnan(value))
    )


def is_unknown_label(value: Any) -> bool:
    """Whether the label of a group says that nobody knows it: null, blank, or NA in one of its spellings."""
    return is_null(value) or (isinstance(value, str) and value.strip().casefold() in _UNKNOWN_LABELS)


def kind_of(array: np.ndarray[Any, Any]) -> str:
    """What an array holds, in the words of error messages."""
    return {"b": "booleans", "U": "text", "S": "bytes", "c": "complex numbers", "M": "dates"}.get(
        array.dtype.kind, str(array.dtype)
    )


def list_of_names(items: Any) -> list[Hashable]:
    """Item names as a list of plain Python values; text and collections without an order are refused."""
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
    if any(name == "" if isinstance(name, str) else is_null(name) for name in names):
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


def shortlist(names: Sequence[Hashable], most: int = 8) -> str:
    """The first names as text, and how many more there are."""
    text = ", ".join(str(name) for name in names[:most])
    return text + (f", ... ({len(names) - most} more)" if len(names) > most else "")


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
    with np.errstate(over="ignore"):
        if not np.isfinite(array.sum()):
            raise ValueError(f"the sum of {name} does not fit into a float64; divide them by their largest")
    return read_only(array)


def weights_count_people(weights: FloatArray, weight_kind: str = "auto") -> bool:
    """Whether weights count people, so that 2 stands for two alike; otherwise they are survey weights.

    By "auto", whole numbers count people and all others are survey weights.
    """
    check_choice("weight_kind", weight_kind, ("auto", "counts", "survey"))
    if weight_kind == "survey":
        return False
    whole = bool(np.all(weights % 1 == 0))
    if weight_kind == "counts" and not whole:
        row = int(np.argmax(weights % 1 != 0))
        raise ValueError(
            f"weight_kind is 'counts', but weight {row} is {weights[row]:g}, not a whole number of people; "
            "choose 'survey' for survey weights"
        )
    return whole


def check_generator(random_state: RandomState, salt: str = "") -> np.random.Generator:
    """Return a NumPy generator.

    Parameters
    ----------
    random_state : None, int, Generator or RandomState
        ``None`` draws fresh entropy; an integer gives the same numbers every time; a ``Generator`` is used as
        it is; a legacy ``RandomState`` seeds a new generator (and advances).
    salt : str, default=""
        Numbers for an integer depend on it. Functions that disturb what others have drawn give their name, as users
        give one seed to all: with the same numbers the disturbance would depend on what it disturbs.

    Returns
    -------
    numpy.random.Generator
    """
    if random_state is None or (isinstance(random_state, Integral) and not isinstance(random_state, bool)):
        if random_state is not None and random_state < 0:
            raise ValueError(f"random_state is {random_state}, but a seed must not be negative")
        if random_state is None or not salt:
            return np.random.default_rng(random_state)
        return np.random.default_rng([int(random_state), crc32(salt.encode())])
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**32, size=4, dtype=np.uint32))
    raise TypeError(
        f"random_state is of type {type(random_state).__name__}; give None, an integer seed, "
        "a numpy.random.Generator or a numpy.random.RandomState"
    )


def _as_array(values: ArrayLike, name: str) -> np.ndarray[Any, Any]:
    """Lists, data frames and masked arrays as arrays."""
    if isinstance(values, np.ma.MaskedArray):
        data = np.ma.getdata(values)
        return np.where(np.ma.getmaskarray(values), np.nan, data) if data.dtype.kind in "iuf" else data
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
    elif column.dtype == nw.Object:  # perhaps numbers and None; the cells are checked later
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
