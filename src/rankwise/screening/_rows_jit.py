"""Compiled loops of `rankwise.screening.distinct`: error bounds of inputs, and sums by which rows are compared."""

import numpy as np

from rankwise._compiled import compiled, compiled_sums

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators


@compiled
def input_errors(rows, reading, errors):
    """Fill the part ``reading`` of each value, but nothing of whole numbers."""
    for k in range(len(rows)):
        row, error = rows[k], errors[k]
        for i in range(len(row)):
            size = abs(row[i])
            error[i] = 0.0 if size == np.rint(size) else reading * size


@compiled
def are_sharp(rows, errors, sharp):
    """Which rows have errors of at most the part ``sharp`` of their values."""
    found = np.empty(len(rows), np.bool_)
    for k in range(len(rows)):
        row, error, blurred = rows[k], errors[k], 0
        for i in range(len(row)):
            blurred += not error[i] <= sharp * abs(row[i])
        found[k] = blurred == 0
    return found


@compiled_sums
def project(rows, projections, heavy):
    """Two projections of each row, scaled by its largest size; that size; how many values are ``heavy`` times less."""
    projected, largest, below = np.empty((len(rows), 2)), np.empty(len(rows)), np.empty(len(rows), np.intp)
    for k in range(len(rows)):
        row = rows[k]
        most = 0.0
        for value in row:
            most = max(most, abs(value))
        scale = most if most > 0 else 1.0
        first, second, count = 0.0, 0.0, 0
        for i in range(len(row)):
            part = row[i] / scale
            first += part * projections[0, i]
            second += part * projections[1, i]
            count += most > heavy * abs(row[i])
        projected[k, 0], projected[k, 1], largest[k], below[k] = first, second, most, count
    return projected, largest, below
