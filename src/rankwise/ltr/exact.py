"""Numbers whose sums are exact, so that it does not matter in which order they are added up."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

Real = TypeVar("Real", np.float32, np.float64)


def summable(values: npt.NDArray[Real], name: str) -> npt.NDArray[Real]:
    """The values, rounded so that any sum of theirs in 64 bits is exact.

    Boosting adds up gradients in an order that depends on the number of threads, and on the way that LightGBM has found
    quickest. When all numbers are multiples of one step, and so many as to fit into 53 bits together, no sum is ever
    rounded, and trees are the same in whatever order. For a million rows the step is 2**-33 of the largest number.

    Parameters
    ----------
    values : ndarray of float32 or float64
        The numbers.
    name : str
        What they are, for the message where they are too large.
    """
    largest = float(np.max(np.abs(values), initial=0.0))
    if not largest < _LARGEST:
        raise ValueError(
            f"the {name} of the objective reach {largest:g}, which is too large to add up; divide y by a large number"
        )
    if largest == 0.0:
        return values
    step = np.ldexp(1.0, int(np.frexp(largest)[1]) + len(values).bit_length() - 53)
    return (np.rint(values.astype(np.float64) / step) * step).astype(values.dtype)


# ---------------------------------------------------------------------------------------------------------------------

# Squares of sums stay finite.
_LARGEST = 1e100
