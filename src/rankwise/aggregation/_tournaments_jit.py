"""Compiled loop of `tournaments`: the strongest chains of majorities, for Schulze's rule."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rankwise._compiled import compiled


@compiled
def strengthen_by_chains(strength: npt.NDArray[np.float64]) -> None:
    """Replace the strength of each majority by that of the strongest chain from i to j, in place (0 without any)."""
    k = len(strength)
    for middle in range(k):
        onwards = strength[middle]
        for i in range(k):
            first = strength[i, middle]
            if first > 0.0:
                row = strength[i]
                for j in range(k):
                    through = first if first < onwards[j] else onwards[j]
                    row[j] = through if through > row[j] else row[j]
