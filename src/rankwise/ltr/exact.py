"""Numbers whose sums are exact, so that it does not matter in which order they are added up."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwise._typing import FloatArray
from rankwise.ltr import _jit


def summable(values: FloatArray, name: str, kind: Any = np.float64) -> Any:
    """The values, rounded so that any sum of theirs in 64 bits is exact.

    Boosting adds up gradients in an order that depends on the number of threads, and on the way that LightGBM has found
    quickest. When all numbers are multiples of one step, and so many as to fit into 53 bits together, no sum is ever
    rounded, and trees are the same in whatever order. For a million rows the step is 2**-33 of the largest number.

    Parameters
    ----------
    values : ndarray of float64
        The numbers.
    name : str
        What they are, for the message where they are too large.
    kind : type
        Of what is returned: float64, or float32, to which numbers are rounded first.

    Returns
    -------
    ndarray of the kind
    """
    largest = _jit.largest_size(values)
    if not largest < _LARGEST[kind]:
        raise ValueError(
            f"the {name} of the objective reach {largest:g}, which is too large to add up; divide y by a large number"
        )
    rounded = np.zeros(len(values), kind)
    if largest > 0.0:
        # As a number of the kind, the largest may be the next power of 2.
        step = np.ldexp(1.0, int(np.frexp(float(kind(largest)))[1]) + len(values).bit_length() - 53)
        _jit.round_to_step(values, step, rounded)
    return rounded


# ---------------------------------------------------------------------------------------------------------------------

# Numbers of the kind are finite, and so are squares of their sums in 64 bits.
_LARGEST = {np.float32: 3e38, np.float64: 1e100}
