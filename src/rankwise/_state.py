"""How a class declares what is saved of it: the names and kinds of its parts, and checks for compiled code.

A class that `rankwise.save` can write has

- ``_saved``, a dictionary from attribute names to kinds, as in ``{"coef_": FLOATS}``. It extends the ``_saved`` of its
  base classes. A fitted estimator has all of these attributes, except for `optional` ones, and an unfitted one has
  none of them; its constructor parameters are saved too and are not listed. Other classes list the arguments of their
  constructor, which must also be attributes; a NamedTuple of numbers and strings needs no list.
- if compiled code relies on it, ``_check_saved(self)``, which raises a ValueError if the parts are inconsistent:
  shapes, indices into arrays, probabilities. `rankwise.load` calls it on parts of the right kinds before the object is
  used, and `rankwise.save` calls it before writing.
- rarely, ``_to_state(self)``, which returns the parts if they are not attributes, and the class method
  ``_from_state(cls, parameters, state)``, which builds the object from constructor parameters and parts.

`rankwise.persistence` reads these declarations and lists the classes that a file may contain.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from rankwise._validation import check_items

State = dict[str, Any]


class Kind(NamedTuple):
    """A set of allowed values for a part."""

    description: str
    matches: Callable[[Any], bool]
    required: bool = True


#: parts of a class, by name
Saved = Mapping[str, Kind]


def array(dtypes: str, n_axes: int) -> Kind:
    """Arrays with one of several dtypes (names separated by spaces) and a number of axes."""
    allowed = dtypes.split()
    return Kind(
        f"an array of {' or '.join(allowed)} with {n_axes} axes",
        lambda value: isinstance(value, np.ndarray) and value.dtype.name in allowed and value.ndim == n_axes,
    )


def instance(*names: str) -> Kind:
    """Objects of one of several classes, given by name: no two classes that a file may contain share a name."""
    return Kind(f"a {' or a '.join(names)}", lambda value: type(value).__name__ in names)


def optional(kind: Kind) -> Kind:
    """The same kind, for a part that may be absent."""
    return kind._replace(required=False)


def maybe(kind: Kind) -> Kind:
    """None or a value of the kind."""
    return Kind(f"None or {kind.description}", lambda value: value is None or kind.matches(value))


def either(*kinds: Kind) -> Kind:
    """Values of any of the kinds."""
    description = " or ".join(kind.description for kind in kinds)
    return Kind(description, lambda value: any(kind.matches(value) for kind in kinds))


def one_of(*words: str) -> Kind:
    """One of several words."""
    return Kind(f"one of {', '.join(map(repr, words))}", lambda value: type(value) is str and value in words)


def list_of(kind: Kind) -> Kind:
    """Lists of values of the kind."""
    return Kind(f"a list of {kind.description}", lambda value: type(value) is list and all(map(kind.matches, value)))


def tuple_of(kind: Kind) -> Kind:
    """Tuples of values of the kind."""
    return Kind(f"a tuple of {kind.description}", lambda value: type(value) is tuple and all(map(kind.matches, value)))


def dict_of(kind: Kind) -> Kind:
    """Dictionaries from strings to values of the kind."""
    return Kind(
        f"a dictionary from strings to {kind.description}",
        lambda value: type(value) is dict and all(type(key) is str and kind.matches(x) for key, x in value.items()),
    )


def _are_items(value: Any) -> bool:
    if type(value) is not tuple or not all(isinstance(name, Hashable) for name in value):
        return False
    check_items(value, len(value))
    return True


def _are_names(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 1 and all(type(name) is str for name in value.tolist())


ANYTHING = Kind("anything", lambda value: True)
DICT = Kind("a dictionary", lambda value: type(value) is dict)
STRING = Kind("a string", lambda value: type(value) is str)
BOOL = Kind("a Boolean", lambda value: isinstance(value, bool | np.bool_))
# Whole numbers beyond these have no place in an array.
_MOST = 2**63 - 1
COUNT = Kind(
    "an integer of 0 or more",
    lambda value: isinstance(value, Integral) and not isinstance(value, bool) and 0 <= int(value) <= _MOST,
)
NUMBER = Kind(
    "a number",
    lambda value: (
        isinstance(value, Real)
        and not isinstance(value, bool)
        and (not isinstance(value, Integral) or abs(int(value)) <= _MOST)
    ),
)
ESTIMATOR = Kind("an estimator", lambda value: hasattr(value, "get_params"))
PREDICTOR = Kind("an estimator that predicts", lambda value: hasattr(value, "get_params") and hasattr(value, "predict"))
FLOATS = array("float64", 1)
MATRIX = array("float64", 2)
INTS = array("int64", 1)
INTS_32 = array("int32", 1)
ITEMS = Kind("a tuple of different names of items", _are_items)
NAMES = Kind("an array of names", _are_names)


def learned_state(estimator: Any) -> State:
    """The attributes of an estimator that are not its parameters."""
    parameters = estimator.get_params(deep=False)
    return {name: part for name, part in vars(estimator).items() if name not in parameters}


def ensure(holds: Any, problem: str) -> None:
    """Raise a ValueError unless the condition holds."""
    if not holds:
        raise ValueError(problem)


def check_shape(array: Any, shape: tuple[int, ...], name: str) -> None:
    """Raise a ValueError unless the array has the shape; the name must be a plural, as in "the weights"."""
    ensure(array.shape == shape, f"{name} have shape {array.shape} instead of {shape}")


def check_probabilities(array: Any) -> None:
    """Raise a ValueError unless all entries are between 0 and 1, up to rounding."""
    ensure(((array >= 0) & (array <= 1 + 1e-6)).all(), "a probability is not between 0 and 1")


def check_places(places: Any, n: int, problem: str) -> None:
    """Raise a ValueError unless all entries are from 0 to n - 1."""
    ensure(((places >= 0) & (places < n)).all(), problem)
