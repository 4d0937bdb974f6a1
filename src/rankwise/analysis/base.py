"""What the parts of `rankwise.analysis` share: the class of results, samples of rows, and features of any form."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from rankwise._tables import Result as Result
from rankwise._tables import counted
from rankwise._typing import ArrayLike, IntArray
from rankwise._validation import data_frame, is_unknown_label
from rankwise.data import Rankings, Survey, dense_positions
from rankwise.data.positions import has_ties

# In how many ways the ties of a ranking are broken.
_WAYS = 20


def rankings_of(value: ArrayLike) -> Rankings:
    """The rankings of a survey, or of anything that `Rankings` takes; a file must be read first."""
    if isinstance(value, str | os.PathLike):
        raise TypeError(f"rankings is {str(value)!r}; read the file first: read_survey({str(value)!r})")
    return value.rankings if isinstance(value, Survey) else Rankings(value)


def repeated_people_notes(source: Any, cure: str = "count one ranking of each") -> list[str]:
    """A note on rankings of people who have ranked before, by the ids of a Survey; none of other rankings."""
    if not isinstance(source, Survey) or source.id is None:
        return []
    known = [str(name) for name in source.id.tolist() if not is_unknown_label(name)]
    repeated = len(known) - len(set(known))
    if not repeated:
        return []
    of = counted(repeated, "ranking is of somebody", "rankings are of people")
    return [
        f"{of} who ranked before, and counted as if by others: p-values and intervals look surer than they are; {cure}"
    ]


def sample_rows(n: int, most: int, rng: np.random.Generator) -> IntArray:
    """Rows in their order: all of them, or a random sample of ``most``."""
    return np.arange(n) if n <= most else np.sort(rng.choice(n, size=most, replace=False))


def break_ties_at_random(rankings: Rankings) -> Rankings:
    """Every ranking with ties in 20 orders of the tied items, which share its weight; the others unchanged.

    The orders come in pairs, a random one and its reverse, so that no tied item gains on another.
    """
    tied = has_ties(rankings.positions)
    positions = np.repeat(rankings.positions[tied], _WAYS // 2, axis=0)
    shift = np.where(np.isfinite(positions), np.random.default_rng(0).random(positions.shape) / 2, 0.0)
    broken = dense_positions(np.vstack([positions + shift, positions - shift]))
    weights = np.append(rankings.weights[~tied], np.tile(np.repeat(rankings.weights[tied], _WAYS // 2) / _WAYS, 2))
    return Rankings(np.vstack([rankings.positions[~tied], broken]), rankings.items, weights)


def as_options(text: str) -> str:
    """Advice to give an argument of Python, or to look at an attribute, as the command line gives it.

    Examples
    --------
    >>> as_options("If they say nothing, give unlisted='missing'.")
    'If they say nothing, give --read unlisted=missing.'
    """
    text = text.replace("all of them: optimal.rankings", "all of them: --json")
    return re.sub(r"give (\w+)='(\w+)'", r"give --read \1=\2", text)


class Features(NamedTuple):
    """Features of rankings as rankers take them: an array or a data frame, names, and which columns hold categories."""

    X: Any
    names: list[str]
    categorical: Any


def features_of(X: Any, names: Sequence[str] | None = None, categorical: Any = None) -> Features:
    """Features of any form with their names: those given, else those of the columns, else x0, x1, ...; none without X.

    A mapping of columns becomes an array, in which columns of texts, None where missing, hold categories.
    """
    if isinstance(X, Mapping):
        if names is None:
            names = [str(name) for name in X]
        X, categorical = _array_of_columns(X, categorical)
    if X is None:
        return Features(None, [], categorical)
    frame = data_frame(X, "X")
    if frame is None and np.ndim(X) != 2:
        raise ValueError(f"X has {np.ndim(X)} dimension(s); give one row per ranking and one column per feature")
    n_features = np.shape(X)[1] if frame is None else len(frame.columns)
    if names is None:
        names = [f"x{i}" for i in range(n_features)] if frame is None else list(frame.columns)
    elif len(names) != n_features:
        raise ValueError(f"feature_names has {len(names)} names, but X has {n_features} columns; give one for each")
    return Features(X, [str(name) for name in names], categorical)


def _array_of_columns(columns: Mapping[Any, Any], categorical: Any) -> tuple[Any, Any]:
    """The columns side by side, None if there are none, and the numbers of those that hold categories."""
    if not columns:
        return None, None
    arrays = [np.asarray(column) for column in columns.values()]
    if any(array.shape != (len(arrays[0]),) for array in arrays):
        shapes = ", ".join(f"{name} {array.shape}" for name, array in zip(columns, arrays, strict=True))
        raise ValueError(f"the columns of X differ in length, or are not columns: their shapes are {shapes}")
    if categorical is None:
        categorical = [number for number, array in enumerate(arrays) if not _is_numeric(array)]
    elif isinstance(categorical, Mapping):
        numbers = {name: number for number, name in enumerate(columns)}
        unknown = [name for name in categorical if name not in numbers and not isinstance(name, int)]
        if unknown:
            raise ValueError(f"categorical_features names {unknown[0]!r}, but the columns of X are {[*columns]}")
        categorical = {numbers.get(name, name): levels for name, levels in categorical.items()}
    elif any(isinstance(name, str) for name in categorical):
        unknown = [name for name in categorical if name not in columns]
        if unknown:
            raise ValueError(f"categorical_features names {unknown[0]!r}, but the columns of X are {[*columns]}")
        categorical = [list(columns).index(name) for name in categorical]
    if len(categorical) == 0:
        return np.column_stack([array.astype(np.float64) for array in arrays]), None
    return np.column_stack([array.astype(object) for array in arrays]), categorical


def _is_numeric(column: np.ndarray[Any, Any]) -> bool:
    if column.dtype == object:
        return all(value is None or (isinstance(value, Real) and not isinstance(value, bool)) for value in column)
    return column.dtype.kind in "fiu"
