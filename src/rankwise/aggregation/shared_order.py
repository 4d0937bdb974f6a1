"""Ties that are declared: the bucket order that equally good rankings share, and places as people write them.

A rule that finds several rankings equally good (optimal rankings of `kemeny`, locking orders of `ranked_pairs`, ties
for elimination in `instant_runoff`) must not choose one of them by the order of the columns. It returns what all of
them agree on instead.
"""

from __future__ import annotations

import numpy as np

from rankwise._typing import BoolArray, FloatArray


def shared_positions(before: BoolArray, first: BoolArray | None = None) -> FloatArray:
    """Positions (dense) of the finest bucket order that follows from who comes before whom.

    A bucket ends where every item so far comes before every item that is left. ``before[i, j]`` says that i comes
    before j in all rankings considered; where two items of a bucket are ordered and others are not, the bucket is kept
    whole. Only the first place is special: items that are ``first`` in one of the rankings, where it is known which,
    are parted from those that never are.

    Examples
    --------
    >>> import numpy as np
    >>> orders = np.array([[1, 2, 3], [2, 1, 3]])
    >>> shared_positions((orders[:, :, None] < orders[:, None, :]).all(axis=0))
    array([1., 1., 2.])
    """
    n = len(before)
    order = np.argsort(-before.sum(axis=1), kind="stable")  # whoever is ahead of a cut is before more items
    opened = ~before[np.ix_(order, order)]
    last_open = np.where(opened, np.arange(n), 0).max(axis=1, initial=0)
    reach = np.maximum.accumulate(last_open)
    starts = np.concatenate([[True], reach[:-1] < np.arange(1, n)])
    positions = np.empty(n)
    positions[order] = np.cumsum(starts)
    return positions if first is None else part_winners(positions, first)


def part_winners(positions: FloatArray, first: BoolArray) -> FloatArray:
    """Positions (dense) in which items of the first bucket that are never ``first`` follow the others."""
    behind = (positions == 1) & ~first
    return np.where(behind, 2.0, positions + ((positions > 1) & behind.any()))


def shared_by(positions: FloatArray) -> FloatArray:
    """Positions of the bucket order that these rankings (rows, without missing items) share; see `shared_positions`."""
    before = np.ones((positions.shape[1],) * 2, dtype=bool)
    for row in positions:
        before &= row[:, np.newaxis] < row
    return shared_positions(before, (positions == positions.min(axis=1, keepdims=True)).any(axis=0))


def places(positions: FloatArray) -> FloatArray:
    """Places as people write them: two items that share the first place are followed by the third (1, 1, 3).

    Examples
    --------
    >>> import numpy as np
    >>> places(np.array([1.0, 1.0, 2.0]))
    array([1., 1., 3.])
    """
    return np.searchsorted(np.sort(positions), positions).astype(np.float64) + 1.0
