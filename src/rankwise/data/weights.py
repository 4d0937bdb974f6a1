"""Weights of rankings and of items."""

from __future__ import annotations

import numpy as np

from rankwise._typing import ArrayLike, FloatArray
from rankwise.data._input import read_only


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
