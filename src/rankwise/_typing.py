"""Type aliases for arrays and random states, used in all packages."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.intp]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
#: anything that converts to a numeric array: lists, NumPy, pandas, polars, Arrow, Rankings
ArrayLike: TypeAlias = Any
RandomState: TypeAlias = int | np.random.RandomState | np.random.Generator | None
