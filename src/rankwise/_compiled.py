"""Decorators for compiled functions.

Compiled functions live in files whose name ends in ``_jit.py`` and call only functions of their own file: Numba's cache
notices a change in the file of the caller, but not in the file of a callee, and would keep running the old callee.
They are serial and release the GIL; threads come from joblib. ``fastmath`` stays off because it removes tests for NaN
and infinity, which have a meaning here (missing, unlisted).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])

# What lets sums use vector instructions; NaN and infinity keep their meaning.
_REORDERED = {"reassoc", "contract", "nsz"}


def compiled(function: F) -> F:
    """Compile ``function`` on the first call, and cache the result on disk if possible.

    Parameters
    ----------
    function : callable
        Takes and returns arrays; it does not validate them or draw random numbers.

    Returns
    -------
    callable
        The compiled function.
    """
    return _jit(function, fastmath=False, error_model="python")


def compiled_sums(function: F) -> F:
    """Compile ``function`` and allow sums to be reordered, so that they use vector instructions.

    Tests for NaN and infinity still work. A division by zero gives NaN or infinity instead of an error, because the
    test for it would prevent vectorization. On one machine results are the same in every run and for any number of
    threads; the last bit may differ between processors.
    """
    return _jit(function, fastmath=_REORDERED, error_model="numpy")


def compiled_in_place(function: F) -> F:
    """Compile ``function``, which makes no arrays, without counting references to those that it is given.

    For many short steps on many arrays: each count is a locked instruction, and they took a third of the time.
    """
    return _jit(function, error_model="python", _nrt=False)


def compiled_sums_in_place(function: F) -> F:
    """Both of the two: sums may be reordered, no arrays are made, and references are not counted."""
    return _jit(function, fastmath=_REORDERED, error_model="numpy", _nrt=False)


def inlined(function: F) -> F:
    """Compile ``function`` as a part of the function of its file that calls it, `compiled_in_place`.

    For steps that take many arrays: handing these over takes longer than a short step.
    """
    return _jit(function, error_model="python", inline="always", _nrt=False)


@contextmanager
def before_compiling(call: Callable[[], None]) -> Iterator[None]:
    """Call a function whenever another one begins to be compiled, but not if it is read from the cache."""
    from numba.core.event import Listener, install_listener

    class Compilations(Listener):
        def on_start(self, event: Any) -> None:
            call()

        def on_end(self, event: Any) -> None:
            """Nothing is done; a listener must have the method."""

    with install_listener("numba:compile", Compilations()):
        yield


def _jit(function: F, **options: Any) -> F:
    try:
        return cast(F, numba.njit(cache=True, nogil=True, **options)(function))
    except RuntimeError:
        # No writable cache folder (read-only installation, zip import): compile once per process instead.
        return cast(F, numba.njit(nogil=True, **options)(function))
