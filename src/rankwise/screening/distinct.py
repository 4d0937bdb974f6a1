"""Rows of values with bounds of their rounding errors, where each function is held once.

`DistinctRows` is the store of a pool of expressions; streams and selectors use it to drop copies of one function.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankwise._sklearn import gen_batches
from rankwise._typing import BoolArray, FloatArray, IntArray
from rankwise.screening import _rows_jit

Key = tuple[float, ...]

# Largest relative rounding error of a decimal such as 0.1 when it is read.
_READING = 2.0**-53
# A row is sharp if its relative errors are at most this; the compiled loops rely on it.
_SHARP = 2.0**-50
# Rows are compared only if they agree to this many units in their projections ...
_DIGITS = 1e9
# ... and, where the largest value is this many times the median one (a heavy tail), in their small values, too.
_HEAVY = 1e3
# Cells of a batch of rows, of which a few copies are made.
_BATCH_CELLS = 1 << 18


class DistinctRows:
    """Rows of values; those that agree within their errors, and in their units, are held once."""

    def __init__(self, n_samples: int) -> None:
        self._values, self._errors = np.empty((0, n_samples)), np.empty((0, n_samples))
        self._sharp = np.empty(0, dtype=bool)
        self._size = 0
        self._rows_of: dict[Key, list[int]] = {}
        self._projections = np.random.default_rng(0).standard_normal((2, n_samples)) / n_samples

    def __len__(self) -> int:
        return self._size

    @property
    def values(self) -> FloatArray:
        """The rows."""
        return self._values[: self._size]

    @property
    def errors(self) -> FloatArray:
        """How far each value may be from that of exact arithmetic."""
        return self._errors[: self._size]

    @property
    def sharp(self) -> BoolArray:
        """Which rows have only the errors of a few roundings."""
        return self._sharp[: self._size]

    def reserve(self, count: int) -> None:
        """Make room for ``count`` more rows; memory that is never written to is not taken from the system."""
        for name in ("_values", "_errors", "_sharp"):
            old = getattr(self, name)
            new = np.empty((self._size + count, *old.shape[1:]), dtype=old.dtype)
            new[: self._size] = old[: self._size]
            setattr(self, name, new)

    def append_inputs(self, X: FloatArray, *, exact: bool) -> None:
        """Hold the columns of X as rows, including copies; if they are not exact, they may have been read as decimals.

        There has to be room.
        """
        end = self._size + X.shape[1]
        values, errors = self._values[self._size : end], self._errors[self._size : end]
        values[:] = X.T
        if exact:
            errors[:] = 0.0
        else:
            _rows_jit.input_errors(values, _READING, errors)
        self._sharp[self._size : end] = True
        self._size = end

    def enter(self, units: FloatArray | None = None) -> IntArray:
        """Index the rows appended so far, for comparison with later ones; return the first equal row of each."""
        homes = np.empty(self._size, dtype=np.intp)
        for start, keys in self._keys(self.values, units):
            for row, key in enumerate(keys, start):
                homes[row] = row
                if key not in self._rows_of:  # as almost always
                    self._rows_of[key] = [row]
                    continue
                home = self._find(key, self._values[row], self._errors[row])
                if home is None:
                    self._rows_of[key].append(row)
                else:
                    homes[row] = home
        return homes

    def add(self, rows: FloatArray, errors: FloatArray, units: FloatArray | None = None) -> IntArray:
        """Hold the rows that are new; return where each of them, or the row equal to it, is. There has to be room."""
        n_before, homes = self._size, np.empty(len(rows), dtype=np.intp)
        for start, keys in self._keys(rows, units):
            for place, key in enumerate(keys, start):
                home = self._find(key, rows[place], errors[place])
                homes[place] = self._size if home is None else home
                if home is None:
                    self._rows_of.setdefault(key, []).append(self._size)
                    self._values[self._size], self._errors[self._size] = rows[place], errors[place]
                    self._size += 1
        self._sharp[n_before : self._size] = _are_sharp(self.values[n_before:], self.errors[n_before:])
        return homes

    def _find(self, key: Key, row: FloatArray, error: FloatArray) -> int | None:
        for home in self._rows_of.get(key, ()):
            if (np.abs(self._values[home] - row) <= self._errors[home] + error).all():
                return home
        return None

    def _keys(self, rows: FloatArray, units: FloatArray | None) -> Iterator[tuple[int, list[Key]]]:
        """Keys that rows of the same function share, batch by batch."""
        for batch in gen_batches(len(rows), max(1, _BATCH_CELLS // rows.shape[1])):
            keys = np.rint(self._projected(rows[batch]) * _DIGITS)
            if units is not None:
                keys = np.column_stack([keys, units[batch].round(9)])
            yield batch.start, [tuple(key) for key in (keys + 0.0).tolist()]  # minus zero becomes zero

    def _projected(self, rows: FloatArray) -> FloatArray:
        projected, largest, below = _rows_jit.project(rows, self._projections, _HEAVY)
        # Whether the largest value is more than so many times the median one, which need not be found for that.
        heavy = below > rows.shape[1] // 2
        parts = [projected, np.zeros_like(projected), np.log(np.where(largest > 0, largest, 1.0))]
        if heavy.any():
            # Next to a huge value the others vanish; relative to the median of those that are not 0, they count.
            ordered = np.sort(np.abs(rows[heavy]), axis=1)
            middle = ordered[np.arange(len(ordered)), -1 - np.count_nonzero(ordered, axis=1) // 2]
            middle = np.where(middle > 0, middle, 1.0)
            parts[1][heavy] = np.arcsinh(rows[heavy] / middle[:, None]) @ self._projections.T
        return np.column_stack(parts)


def input_errors(rows: FloatArray) -> FloatArray:
    """Bounds of the rounding errors of inputs, which may have been read as decimals; whole numbers have none."""
    errors = np.empty_like(rows)
    _rows_jit.input_errors(rows, _READING, errors)
    return errors


def _are_sharp(rows: FloatArray, errors: FloatArray) -> BoolArray:
    return np.asarray(_rows_jit.are_sharp(rows, errors, _SHARP))
