"""The decorators of compiled loops.

Compiled functions live in files whose name ends in ``_jit.py`` and call only functions of their own file: Numba's cache
notices a change in the file of the caller, but not in the file of a callee, and would go on running the old callee.
They are serial and release the GIL; threads come from joblib. ``fastmath`` stays off because it compiles tests for NaN
and infinity away, and these carry meaning here (missing, unlisted).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile ``function`` on first call; cache the result on disk where that is possible.

    Parameters
    ----------
    function : callable
        Arrays in, arrays out; it neither validates nor draws random numbers.

    Returns
    -------
    callable
        The compiled function.
    """
    return _jit(function, fastmath=False, error_model="python")


def compiled_sums(function: F) -> F:
    """Compile ``function`` with leave to add up in another order, so that sums use vector instructions.

    Tests for NaN and infinity stay as they are; a division by zero gives them and no error, whose test would keep
    divisions out of vectors. Results are the same in every run on one machine, whatever the
    number of threads; the last bit may differ between processors.
    """
    return _jit(function, fastmath={"reassoc", "contract", "nsz"}, error_model="numpy")


def _jit(function: F, **options: Any) -> F:
    try:
        return cast(F, numba.njit(cache=True, nogil=True, **options)(function))
    except RuntimeError:
        # No writable cache folder (read-only installation, zip import): compile once per process instead.
        return cast(F, numba.njit(nogil=True, **options)(function))
