"""Checks of features and targets that screening functions share."""

from __future__ import annotations

import numpy as np

from rankwise._arguments import check_numbers
from rankwise._typing import ArrayLike, FloatArray


def check_features(X: ArrayLike, n: int) -> tuple[FloatArray, bool]:
    """Features as a finite matrix of ``n`` rows, and whether one feature was given alone, as a vector."""
    values = check_numbers("X", X)
    alone = values.ndim == 1
    columns = values[:, None] if alone else values
    if columns.ndim != 2:
        raise ValueError(f"X has {values.ndim} dimensions; give a matrix with one column per feature, or one feature")
    if len(columns) != n:
        raise ValueError(f"X has {len(columns)} rows and y {n}; give one row per value of y")
    if not np.isfinite(columns).all():
        row, column = np.argwhere(~np.isfinite(columns))[0]
        raise ValueError(
            f"X[{row}, {column}] is {columns[row, column]}; screening needs finite values: leave out the row or the "
            "column"
        )
    return columns, alone


def check_target(y: ArrayLike, *, name: str = "y", at_least: int = 3) -> FloatArray:
    """A finite vector that is not constant."""
    target = check_numbers(name, y)
    if target.ndim != 1:
        raise ValueError(f"{name} has {target.ndim} dimensions; give a vector of numbers")
    if len(target) < at_least:
        raise ValueError(f"{name} has {len(target)} values, but screening needs at least {at_least}")
    if not np.isfinite(target).all():
        row = int(np.flatnonzero(~np.isfinite(target))[0])
        raise ValueError(f"{name}[{row}] is {target[row]}; give finite values: leave the row out")
    if (target == target[0]).all():
        raise ValueError(f"{name} is constant, so that no feature can order it; check the column")
    return target
