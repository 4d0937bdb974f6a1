"""A compiled loop over the rows of many rankings; used by `rankwise.data.positions`."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from rankwise._compiled import compiled


@compiled
def are_dense(positions):
    """Whether the places in each row, infinity and NaN aside, are 1 to some place; for up to 62 columns."""
    n, k = positions.shape
    for row in range(n):
        bits = 0
        for column in range(k):
            place = positions[row, column]
            if 1 <= place <= k and place == np.floor(place):
                bits |= 1 << (int(place) - 1)
            elif place < np.inf:
                return False
        if bits & (bits + 1):
            return False
    return True
