"""What the parts of a saved object must be: types of numbers, numbers of axes, classes."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from rankwise._validation import check_items


class Kind(NamedTuple):
    """A set of values."""

    says: str
    holds: Callable[[Any], bool]


def array(dtypes: str, n_axes: int) -> Kind:
    """Arrays of one of several types (names with spaces between them) with so many axes."""
    allowed = dtypes.split()
    return Kind(
        f"an array of {' or '.join(allowed)} with {n_axes} axes",
        lambda value: isinstance(value, np.ndarray) and value.dtype.name in allowed and value.ndim == n_axes,
    )


def instance(*names: str) -> Kind:
    """Objects of one of several classes; only those of the list of recipes are ever built."""
    return Kind(f"a {' or a '.join(names)}", lambda value: type(value).__name__ in names)


def maybe(kind: Kind) -> Kind:
    """None, or of the kind."""
    return Kind(f"None or {kind.says}", lambda value: value is None or kind.holds(value))


def either(*kinds: Kind) -> Kind:
    """Of one of the kinds."""
    return Kind(" or ".join(kind.says for kind in kinds), lambda value: any(kind.holds(value) for kind in kinds))


def list_of(kind: Kind) -> Kind:
    """Lists of the kind."""
    return Kind(f"a list of {kind.says}", lambda value: type(value) is list and all(map(kind.holds, value)))


def tuple_of(kind: Kind) -> Kind:
    """Tuples of the kind."""
    return Kind(f"a tuple of {kind.says}", lambda value: type(value) is tuple and all(map(kind.holds, value)))


def dict_of(kind: Kind) -> Kind:
    """Dictionaries from text to the kind."""
    return Kind(
        f"a dictionary from text to {kind.says}",
        lambda value: type(value) is dict and all(type(key) is str and kind.holds(x) for key, x in value.items()),
    )


ANYTHING = Kind("anything", lambda value: True)
TEXT = Kind("text", lambda value: type(value) is str)
TRUTH = Kind("a truth value", lambda value: isinstance(value, bool | np.bool_))
WHOLE = Kind(
    "a whole number of 0 or more",
    lambda value: isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 0,
)
NUMBER = Kind("a number", lambda value: isinstance(value, Real) and not isinstance(value, bool))
ESTIMATOR = Kind("an estimator", lambda value: hasattr(value, "get_params"))
FLOATS = array("float64", 1)
MATRIX = array("float64", 2)


def _are_items(value: Any) -> bool:
    if type(value) is not tuple or not all(isinstance(name, Hashable) for name in value):
        return False
    check_items(value, len(value))
    return True


def _are_names(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 1 and all(type(name) is str for name in value.tolist())


ITEMS = Kind("a tuple of different names of items", _are_items)
NAMES = Kind("an array of names", _are_names)
