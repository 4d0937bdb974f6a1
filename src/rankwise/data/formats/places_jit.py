"""Compiled loops over the rows of many rankings; used by `rankwise.data.formats.places` and `survey_cells`."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from rankwise._compiled import compiled

#: rows that `spread` writes at a time, so that those of many columns stay in the cache
BLOCK_ROWS = 1 << 12


@compiled
def are_plain(values):
    """Whether the numbers of each row, NaN aside, are 1 to some place, each once; for up to 62 columns."""
    n, k = values.shape
    plain = np.empty(n, dtype=np.bool_)
    for row in range(n):
        bits = 0
        present = 0
        places = True
        for column in range(k):
            value = values[row, column]
            if np.isnan(value):
                continue
            present += 1
            if 1 <= value <= k and value == np.floor(value):
                bits |= 1 << (int(value) - 1)
            else:
                places = False
        plain[row] = places and present > 0 and bits == (1 << present) - 1
    return plain


@compiled
def spread(values, codes, matrix, column, begin):
    """Write the values of a stretch of rows, which their codes tell, into a column of the matrix."""
    for row in range(begin, min(begin + BLOCK_ROWS, len(codes))):
        matrix[row, column] = values[codes[row]]
