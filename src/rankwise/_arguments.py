"""Checks of arguments that are numbers; the messages name the argument."""

from __future__ import annotations

import reprlib
from numbers import Integral, Real
from typing import Any

import numpy as np

from rankwise._typing import ArrayLike, FloatArray


def check_whole_number(name: str, value: Any, *, at_least: int) -> int:
    """Refuse floats, even 2.0 (the result of a division, perhaps, and 2.5 next time), and numbers too small."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} is {value!r}; give a whole number, {at_least} or more")
    if value < at_least:
        raise ValueError(f"{name} is {value}, but must be at least {at_least}")
    return int(value)


def check_real_number(name: str, value: Any, *, infinite: bool = False) -> float:
    """Refuse what is no number, negative or NaN; infinity too, unless it is allowed."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} is {value!r}; give a number, 0 or more")
    number = float(value)
    if not number >= 0:
        raise ValueError(f"{name} is {value}, but must be at least 0")
    if number == np.inf and not infinite:
        raise ValueError(f"{name} is {value}, but must be finite")
    return number


def check_numbers(name: str, values: ArrayLike) -> FloatArray:
    """Numbers as a float64 array of whatever shape; text and ragged rows are refused."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {reprlib.repr(values)}; give numbers, as many in every row") from None
