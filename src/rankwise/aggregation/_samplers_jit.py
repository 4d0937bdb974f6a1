"""Compiled loops of `samplers`: draws from the Mallows model."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rankwise._compiled import compiled

# Up to this many items, closing the gap in a list of free places beats searching a tree of counts (measured).
_MOST_LISTED = 128


@compiled
def mallows_positions(
    centers: npt.NDArray[np.intp], theta: float, uniforms: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Mallows draws by repeated insertion: (n, k) positions.

    The item at place i (from 0) of the center is inserted last among i + 1 items and then moves up by D places,
    P(D = d) ~ exp(-theta d). Reading the insertions backwards, that item ends at the free place number i - D.
    ``centers`` holds places from 0, one row for all draws or one row for each.
    """
    n, k = uniforms.shape
    n_centers = centers.shape[0]
    tail = np.expm1(-theta * np.arange(1.0, k + 1))
    shifts = np.empty(k, dtype=np.intp)
    places = np.empty(k)
    draws = np.empty((n, k))
    for r in range(n):
        for i in range(k):
            u = uniforms[r, i]
            shift = u * (i + 1) if theta == 0.0 else -np.log1p(u * tail[i]) / theta
            shifts[i] = min(int(shift), i)  # rounding may reach i + 1
        if k <= _MOST_LISTED:
            _decode_with_list(shifts, places)
        else:
            _decode_with_tree(shifts, places)
        for item in range(k):
            draws[r, item] = places[centers[r % n_centers, item]]
    return draws


@compiled
def _decode_with_list(shifts, places):
    """Give each item its free place; only the free places above move, so a draw near its center costs O(k)."""
    k = len(shifts)
    free = np.arange(1.0, k + 1)
    for i in range(k - 1, -1, -1):
        index = i - shifts[i]
        places[i] = free[index]
        for j in range(index, i):
            free[j] = free[j + 1]


@compiled
def _decode_with_tree(shifts, places):
    """Give each item its free place, found by descent in a tree of counts: O(k log k) for every draw."""
    k = len(shifts)
    size = 1
    while size < k:
        size *= 2
    count = np.zeros(2 * size, dtype=np.intp)
    count[size : size + k] = 1
    for node in range(size - 1, 0, -1):
        count[node] = count[2 * node] + count[2 * node + 1]
    for i in range(k - 1, -1, -1):
        left_over = i - shifts[i]
        node = 1
        while node < size:
            count[node] -= 1
            node *= 2
            if left_over >= count[node]:
                left_over -= count[node]
                node += 1
        count[node] = 0
        places[i] = node - size + 1.0
