"""An estimator and all that it holds, to JSON and back; `files` calls `encode` and `decode`.

Numbers, strings, None and lists are themselves; everything else is a JSON object with one key that says what it is, as
in ``{"tuple": [1, 2]}``. Arrays and objects are in lists of their own, ``{"array": 3}`` and ``{"object": 5}``, so that
what was shared stays shared. An object refers only to objects before it, so there are no cycles.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from rankwise.persistence.classes import MODULES, recipe_named, recipe_of
from rankwise.persistence.container import DTYPES, Arrays

# Depth of lists in lists; no parameter or name goes deeper.
_MOST_NESTED = 20
# References, for each object, to things that were referred to before.
_MOST_REPEATED = 10
# All trees of a forest refer to the same rankings, which none of them copies.
_SHARED = "TargetRows"
# Bytes of an array of strings, in which one long entry makes all entries long.
_MOST_TEXT = 2**26


class ObjectGraph(NamedTuple):
    """An estimator in pieces: records of objects, the estimator last, and the arrays that they refer to."""

    objects: list[dict[str, Any]]
    arrays: Arrays


def encode(root: Any) -> ObjectGraph:
    """Take an estimator apart; a TypeError names what a file cannot hold."""
    writer = _Writer()
    writer.reference(root, type(root).__name__)
    return ObjectGraph(writer.objects, writer.arrays)


def decode(objects: list[Any], arrays: Arrays, max_bytes: int, name: str) -> Any:
    """Build the estimator from its pieces; ``name`` is its class."""
    reader = _Reader(arrays, max_bytes)
    for record in objects:
        reader.build(record)
    root = reader.objects[-1]
    if type(root).__name__ != name or not hasattr(root, "get_params"):
        raise ValueError(f"the file says that it holds a {str(name)[:50]}, but holds a {type(root).__name__}")
    return root


class _Writer:
    def __init__(self) -> None:
        self.objects: list[dict[str, Any]] = []
        self.arrays: Arrays = []
        self._known: dict[int, dict[str, int]] = {}
        self._alive: list[Any] = []  # an id may be used again once its object is gone

    def value(self, value: Any, where: str, depth: int = 0) -> Any:
        if depth > _MOST_NESTED:
            raise TypeError(f"{where} is nested too deeply to be saved")
        if value is None or isinstance(value, str) or type(value) in (bool, int):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": str(value)}
        if type(value) is list:
            return [self.value(entry, f"{where}[{i}]", depth + 1) for i, entry in enumerate(value)]
        if type(value) is tuple:
            return {"tuple": [self.value(entry, f"{where}[{i}]", depth + 1) for i, entry in enumerate(value)]}
        if type(value) is dict:
            pairs = [[self.value(key, where, depth + 1), value[key]] for key in value]
            return {"dict": [[key, self.value(entry, f"{where}[{key!r}]", depth + 1)] for key, entry in pairs]}
        if isinstance(value, np.generic) and value.dtype.name in DTYPES:
            return {"scalar": [value.dtype.name, self.value(value.item(), where)]}
        return self._array(value, where, depth) if type(value) is np.ndarray else self.reference(value, where)

    def reference(self, thing: Any, where: str) -> dict[str, int]:
        """The number of the thing in the list of objects; it is taken apart when it is first met."""
        if id(thing) not in self._known:
            recipe = recipe_of(thing)
            if recipe is None:
                raise TypeError(_cannot_save(thing, where))
            self._known[id(thing)] = {}  # a mark, in case the thing holds itself
            self._alive.append(thing)
            parameters, state = recipe.to_state(thing, where)
            record: dict[str, Any] = {"class": recipe.cls.__name__}
            for title, parts in (("parameters", parameters), ("state", state)):
                record[title] = {name: self.value(part, f"{where}.{name}") for name, part in parts.items()}
            self.objects.append(record)
            self._known[id(thing)] = {"object": len(self.objects) - 1}
        if not self._known[id(thing)]:
            raise TypeError(f"{where} holds itself, which cannot be saved")
        return self._known[id(thing)]

    def _array(self, array: np.ndarray[Any, Any], where: str, depth: int) -> Any:
        if array.dtype.kind in "OU":
            form = "mixed" if array.dtype.kind == "O" else "text"
            entries = self.value(array.ravel().tolist(), where, depth + 1)
            return {form: [list(array.shape), entries]}
        if array.dtype.name not in DTYPES:
            raise TypeError(f"{where} is an array of {array.dtype}, which cannot be saved; convert it to float64")
        if id(array) not in self._known:
            self.arrays.append(array)
            self._known[id(array)] = {"array": len(self.arrays) - 1}
        return self._known[id(array)]


def _cannot_save(thing: Any, where: str) -> str:
    """The message about a thing that no file may hold."""
    kind = f"{type(thing).__module__}.{type(thing).__qualname__}"
    what = f"the function {thing.__qualname__}" if hasattr(thing, "__qualname__") else f"of type {kind}"
    return (
        f"{where} is {what}, which has no place in a file that runs no code; use joblib.dump or skops.io.dump for this "
        "estimator, and load what joblib wrote only where you trust the writer"
    )


class _Reader:
    def __init__(self, arrays: Arrays, max_bytes: int) -> None:
        self.objects: list[Any] = []
        self._arrays, self._left = arrays, max_bytes
        self._sizes: list[int] = []  # bytes of each object with all that it holds
        self._used: set[int] = set()  # objects that were referred to
        self._repeated = 0
        self._size = 0  # bytes that the present object holds so far
        self._forms: dict[str, Callable[[Any], Any]] = {
            "float": lambda part: float(_among(("nan", "inf", "-inf"), part)),
            "tuple": lambda part: tuple(map(self.value, _a(list, part))),
            "dict": lambda part: {self.value(key): self.value(entry) for key, entry in _a(list, part)},
            "scalar": lambda part: np.dtype(_among(DTYPES, part[0])).type(self.value(part[1])),
            "array": self._array,
            "object": self._object,
            "mixed": self._mixed,
            "text": self._text,
        }

    def build(self, record: Any) -> None:
        """Build the next object from its record."""
        self._size = 0
        recipe = recipe_named(_among(MODULES, _a(dict, record).get("class")))
        parameters, state = (
            {name: self.value(part) for name, part in _a(dict, record.get(title)).items()}
            for title in ("parameters", "state")
        )
        self.objects.append(recipe.from_state(parameters, state))
        self._sizes.append(self._size)

    def value(self, part: Any) -> Any:
        if isinstance(part, list):
            return [self.value(entry) for entry in part]
        if not isinstance(part, dict):
            return part
        ((form, content),) = part.items()
        return self._forms[_among(self._forms, form)](content)

    def _array(self, place: Any) -> Any:
        array = _entry(self._arrays, place)
        self._count(array.nbytes)
        return array

    def _object(self, place: Any) -> Any:
        """An object from before; one that is used again is looked at again, and may be copied."""
        thing = _entry(self.objects, place)
        if type(thing).__name__ == _SHARED:
            return thing
        if place not in self._used:
            self._used.add(place)
            self._size += self._sizes[place]
            return thing
        self._repeated += 1
        if self._repeated > _MOST_REPEATED * (len(self.objects) + 1):
            raise ValueError("the manifest refers to the same objects again and again")
        self._count(self._sizes[place])
        return thing

    def _count(self, n_bytes: int) -> None:
        """Count bytes for every reference, because some objects copy what they are given."""
        self._size += n_bytes
        self._left -= n_bytes
        if self._left < 0:
            raise ValueError("the arrays, counted for every use, take more bytes than max_bytes allows")

    def _mixed(self, part: Any) -> Any:
        shape, entries = part
        self._count(8 * len(_a(list, entries)))
        array = np.empty(len(entries), dtype=object)
        array[:] = [self.value(entry) for entry in entries]
        return array.reshape(shape)

    def _text(self, part: Any) -> Any:
        shape, entries = part
        longest = max((len(_a(str, entry)) for entry in entries), default=1)
        if 4 * longest * len(entries) > _MOST_TEXT:
            raise ValueError("an array of strings takes too many bytes")
        self._count(4 * longest * len(entries))
        return np.array(entries, dtype=str).reshape(shape)


def _a(kind: type, value: Any) -> Any:
    """The value, if it has the type."""
    if type(value) is not kind:
        raise ValueError(f"the manifest holds a {type(value).__name__} where a {kind.__name__} should be")
    return value


def _among(known: Iterable[str], name: Any) -> str:
    """The name, if it is known."""
    if type(name) is not str or name not in known:
        raise ValueError(f"the manifest holds {ascii(name)[:60]}, which is unknown")
    return name


def _entry(things: list[Any], place: Any) -> Any:
    """An entry of a list of things that were read before."""
    if type(place) is not int or not 0 <= place < len(things):
        raise ValueError(f"the manifest refers to part {ascii(place)[:20]}, but only {len(things)} come before")
    return things[place]
