"""Bad arguments for every public callable: it answers, or raises an error that says something.

All that the packages of rankwise export is called: functions, constructors, class methods, and every public method of
what they return; estimators are fitted first. Some arguments are good ones for a parameter of that name, so that a call
gets far; the others are bad. So what is new is attacked without a word here.

Two things are let pass. Results are made by functions, not by hand: their constructors take what they are given, and
what was made by hand of bad parts is not used further. And where an object of rankwise or Matplotlib is needed, one of
another kind may end in Python's own AttributeError that names its kind; not so where data are needed.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import inspect
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import clone

from rankwise import Rankings
from rankwise.label_ranking import RankingTree
from rankwise.ltr import LinearRanker
from tests.attack.children import FAILED, Outcome, where
from tests.estimators import CASES, NEEDS

#: packages whose public names are attacked
PACKAGES = ("", "aggregation", "analysis", "data", "datasets", "distances", "embeddings", "kernels", "label_ranking")
PACKAGES += ("ltr", "metrics", "model_selection", "plots", "screening", "trees")

# What is asked of data: an error about one of these is no answer.
_OF_ARRAYS = {"shape", "dtype", "ndim", "size", "astype", "T", "tolist", "reshape", "copy", "min", "max", "sum", "mean"}
# Errors that say what is wrong with an argument: of a file or a folder, too, of a library that is not installed, and of
# a whole number that no float holds.
_ALLOWED = (ValueError, TypeError, OSError, ImportError, OverflowError)
_N, _K = 12, 4


def prepare(folder: Path) -> int:
    """Nothing has to be there; the number of public callables."""
    return len(public_callables())


def public_callables() -> dict[str, Callable[..., Any]]:
    """All that the packages export and that can be called."""
    found: dict[str, Callable[..., Any]] = {}
    for package in PACKAGES:
        loaded = importlib.import_module(f"rankwise.{package}".rstrip("."))
        for name in loaded.__all__:
            thing = getattr(loaded, name)
            if callable(thing):
                found.setdefault(f"{thing.__module__}.{name}", thing)
    return dict(sorted(found.items()))


def trials(folder: Path) -> Callable[[int], Outcome]:
    """One call of a public name, and of some methods of what it returns."""
    os.chdir(tempfile.mkdtemp(dir=folder))  # for those that write
    callables = list(public_callables().items())
    cases = [case for case in CASES if importlib.util.find_spec(NEEDS.get(type(case.estimator).__name__, "numpy"))]

    def trial(seed: int) -> Outcome:
        rng = np.random.default_rng(seed)
        if rng.random() < 0.3:
            case = cases[rng.integers(len(cases))]
            steps = _steps_of_estimator(case, rng)
        else:
            name, thing = callables[rng.integers(len(callables))]
            steps = _steps_of_name(name, thing, rng)
        outcome = "refused"
        try:
            for _ in steps:
                outcome = "answered"
        except _ALLOWED as error:
            return (outcome, "") if str(error).strip() else (FAILED, f"no words: {where(error)}")
        except UnexpectedError as error:
            return FAILED, str(error)
        return outcome, ""

    return trial


class UnexpectedError(Exception):
    """A call raised what no call may raise."""


def call(name: str, thing: Callable[..., Any], rng: np.random.Generator, bad: float) -> Any:
    """What a call says, with arguments of which so many are bad."""
    positional, args, words = _arguments(thing, rng, bad)
    try:
        with contextlib.suppress(StopIteration):
            found = thing(*positional, **args)
            return next(found) if inspect.isgenerator(found) else found
    except _ALLOWED:
        raise
    except KeyError as error:  # names that are unknown, in a sentence
        if " " in str(error.args[0]):
            raise ValueError(error.args[0]) from None
        raise UnexpectedError(f"{name}({words}) raises {where(error)}") from None
    except Exception as error:
        if _is_of_another_kind(error, [*args.values(), *positional]):
            raise TypeError(str(error)) from None
        raise UnexpectedError(f"{name}({words}) raises {where(error)}") from None


def _is_of_another_kind(error: Exception, args: list[Any]) -> bool:
    """Whether Python says of an argument that an object of its kind does not have what one of rankwise has."""
    said = re.search(r"'([\w.]+)' object has no attribute '(\w+)'", str(error))
    if said and said[2] == "__sklearn_tags__":  # scikit-learn's word for what is no estimator
        return True
    kinds = {kind.__name__ for value in args for kind in (type(value), type(next(iter(_within(value)), None)))}
    return bool(said) and said[2] not in _OF_ARRAYS and said[1].rpartition(".")[2] in kinds


def _within(value: Any) -> Any:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list | tuple | np.ndarray) and np.ndim(value) else ()


def _steps_of_name(name: str, thing: Callable[..., Any], rng: np.random.Generator) -> Iterator[str]:
    if inspect.isclass(thing):
        made = [each for each in _methods(thing) if each.startswith("from_")]
        if made and rng.random() < 0.7:
            each = made[rng.integers(len(made))]
            name, thing = f"{name}.{each}", getattr(thing, each)
    by_hand = inspect.isclass(thing) and not (hasattr(thing, "fit") or thing is Rankings)
    found = call(name, thing, rng, 0.25)
    yield name
    if not by_hand:
        yield from _steps_of_object(name, found, rng)


def _steps_of_estimator(case: Any, rng: np.random.Generator) -> Iterator[str]:
    """Fit with one bad argument or none, then call what a fitted estimator can do."""
    estimator = clone(case.estimator)
    name = type(estimator).__name__
    data = list(case.data())
    parameters = list(estimator.get_params(deep=False))
    kind = rng.random()
    if kind < 0.4 and parameters:
        which = parameters[rng.integers(len(parameters))]
        estimator.set_params(**{which: _bad(rng)})
        name = f"{name}({which}={_words(getattr(estimator, which))})"
    elif kind < 0.8:
        which = int(rng.integers(len(data)))
        data[which] = _spoiled(data[which], rng)
        name = f"{name}, argument {which} of fit = {_words(data[which])}"
    try:
        estimator.fit(*data)
    except _ALLOWED:
        raise
    except Exception as error:
        raise UnexpectedError(f"{name}: fit raises {where(error)}") from None
    yield name
    yield from _steps_of_object(name, estimator, rng)


def _steps_of_object(name: str, thing: Any, rng: np.random.Generator) -> Iterator[str]:
    """Call methods of what was returned; each may refuse."""
    if not type(thing).__module__.startswith("rankwise"):
        return
    methods = _methods(type(thing))
    for _ in range(min(3, len(methods))):
        each = methods[rng.integers(len(methods))]
        if each == "fit" or re.fullmatch(r"set_\w+_request|get_metadata_routing", each):  # scikit-learn's
            continue
        try:
            method = getattr(thing, each)
        except AttributeError:  # of estimators that cannot do it
            continue
        if callable(method):
            with contextlib.suppress(*_ALLOWED):
                call(f"{name}.{each}", method, rng, 0.3)
            yield name


def _methods(kind: type) -> list[str]:
    """Public methods that rankwise defines."""
    found = inspect.getmembers_static(kind)
    ours = {name for base in kind.__mro__ if base.__module__.startswith("rankwise") for name in vars(base)}
    return [name for name, part in found if name in ours and not name.startswith("_") and not _is_data(part)]


def _is_data(part: Any) -> bool:
    return isinstance(part, property) or not (callable(part) or isinstance(part, classmethod | staticmethod))


def _arguments(
    thing: Callable[..., Any], rng: np.random.Generator, bad: float
) -> tuple[list[Any], dict[str, Any], str]:
    """Arguments by place and by name, and what they are in words."""
    try:
        signature = inspect.signature(thing)
    except (ValueError, TypeError):
        return [_bad(rng)], {}, "..."
    found: dict[str, Any] = {}
    positional: list[Any] = []
    for name, parameter in signature.parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional += [_good(name, rng)]
            continue
        needed = parameter.default is parameter.empty
        if not needed and rng.random() > bad:
            continue
        value = _bad(rng) if rng.random() < bad else _good(name, rng)
        if parameter.kind is parameter.POSITIONAL_ONLY:
            positional.append(value)
        else:
            found[name] = value
    words = ", ".join([*map(_words, positional), *(f"{name}={_words(value)}" for name, value in found.items())])
    return positional, found, words


def _words(value: Any) -> str:
    return " ".join(repr(value)[:80].split())


def _positions(rng: np.random.Generator) -> np.ndarray:
    return np.argsort(rng.random((_N, _K)), axis=1) + 1.0


def _features(rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=(_N, 3))


def _matrix(rng: np.random.Generator) -> np.ndarray:
    upper = np.triu(rng.random((_K, _K)), 1)
    return upper + np.tril(1 - upper.T, -1)


# Good values of parameters by name; of others, one of these is as good as any.
_GOOD: dict[str, Callable[[np.random.Generator], Any]] = {
    "X": _features,
    "y": lambda rng: _positions(rng) if rng.random() < 0.7 else rng.integers(0, 3, _N),
    "rankings": lambda rng: Rankings(_positions(rng)),
    "votes": lambda rng: Rankings(_positions(rng)),
    "positions": _positions,
    "center": lambda rng: _positions(rng)[0],
    "qid": lambda rng: np.repeat(np.arange(3), _N // 3),
    "y_true": lambda rng: rng.integers(0, 3, _N).astype(float),
    "y_score": lambda rng: rng.normal(size=_N),
    "by": lambda rng: np.array(["a", "b"])[rng.integers(0, 2, _N)],
    "groups": lambda rng: np.array(["a", "b"])[rng.integers(0, 2, _N)],
    "matrix": _matrix,
    "probabilities": _matrix,
    "wins": lambda rng: np.round(5 * _matrix(rng)),
    "items": lambda rng: list("abcd"),
    "weights": lambda rng: rng.random(_N),
    "sample_weight": lambda rng: rng.random(_N),
    "estimator": lambda rng: RankingTree(max_depth=1).fit(_features(rng), _positions(rng)),
    "ranker": lambda rng: RankingTree(max_depth=1),
    "rankers": lambda rng: {"tree": RankingTree(max_depth=1)},
    "model": lambda rng: LinearRanker(),
    "n": lambda rng: int(rng.integers(1, 6)),
    "k": lambda rng: int(rng.integers(1, 4)),
    "n_items": lambda rng: _K,
    "n_samples": lambda rng: 10,
    "n_jobs": lambda rng: 1,
    "random_state": lambda rng: 0,
    "path": lambda rng: "file.csv",
    "ax": lambda rng: None,
    "columns": lambda rng: ["a", "b"],
    "names": lambda rng: list("abcd"),
    "set_function": lambda rng: lambda items: float(np.sqrt(np.sum(items))),
}


def _good(name: str, rng: np.random.Generator) -> Any:
    makers = list(_GOOD.values())
    return _GOOD.get(name, makers[rng.integers(len(makers))])(rng)


class _Strange:
    """An object that is nothing in particular."""


# Bad values, made anew for each call.
_BAD: tuple[Callable[[], Any], ...] = (
    *(
        lambda value=value: value
        for value in (None, True, -1, 0, 1, 7, 10**7, 2**63, 10**400, 0.5, -0.5, 1e308, 1 + 2j)
    ),
    *(lambda value=value: value for value in (float("nan"), float("inf"), "", "x", "auto", "\x00", b"x", "\ud800")),
    *(lambda value=value: value for value in ((), {"a": 1}, range(3), slice(None), ..., NotImplemented)),
    list,
    dict,
    lambda: [[]],
    lambda: [[1, 2], [3]],
    lambda: [None, None],
    lambda: ["a", 1, None],
    lambda: {3, 1},
    lambda: object(),
    lambda: _Strange,
    lambda: lambda *args: None,
    lambda: (value for value in "ab"),
    lambda: memoryview(b"abc"),
    lambda: np.empty((0, 4)),
    lambda: np.empty((3, 0)),
    lambda: np.zeros((2, 2, 2)),
    lambda: np.array(3.0),
    lambda: np.array([[1, np.nan], [np.inf, -np.inf]]),
    lambda: np.full((12, 4), np.nan),
    lambda: np.full((12, 4), np.inf),
    lambda: np.full((12, 3), 1e308),
    lambda: -np.ones((12, 4)),
    lambda: np.ones((12, 4), dtype=complex),
    lambda: np.array([["a", "b"], ["c", None]], dtype=object),
    lambda: np.array(["2026-01-05", "NaT"], dtype="datetime64[D]"),
    lambda: np.zeros(3, dtype=[("a", float), ("b", int)]),
    lambda: np.ma.masked_equal(np.ones((12, 4)), 1),
    lambda: np.asfortranarray(np.arange(48.0).reshape(12, 4)),
    lambda: np.arange(48.0).reshape(4, 12)[::-1, ::2],
    lambda: np.array([2**63], dtype=np.uint64),
    lambda: np.array([True, False]),
    lambda: csr_array(np.eye(4)),
    lambda: Rankings(np.array([[1.0, np.nan], [np.nan, 1.0]])),
    lambda: Rankings(np.array([[1.0]])),
    lambda: np.random.default_rng(0),
    lambda: Path("nowhere") / "file",
)


def _bad(rng: np.random.Generator) -> Any:
    return _BAD[rng.integers(len(_BAD))]()


def _spoiled(value: Any, rng: np.random.Generator) -> Any:
    """Something else instead of an array, or the array with some other cells, rows or types."""
    kind = rng.integers(6)
    if kind == 0 or not isinstance(value, np.ndarray):
        return _bad(rng)
    value = value.astype(float)
    if kind == 1:
        value.reshape(-1)[rng.integers(value.size, size=3)] = rng.choice(
            [np.nan, np.inf, -np.inf, 0, -1, 1e308, 1e-308]
        )
    elif kind == 2:
        value = value[: rng.integers(4)]
    elif kind == 3:
        value = value.T
    elif kind == 4:
        value[...] = rng.choice([0.0, 1.0, np.nan, np.inf, 1e308, -1e308])
    else:
        value = value.astype(object)
        value.reshape(-1)[int(rng.integers(value.size))] = _bad(rng)
    return value
