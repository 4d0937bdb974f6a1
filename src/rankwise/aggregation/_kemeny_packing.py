"""A lower bound from cycles of three majorities, for components of any size; used by `kemeny`.

Every order breaks one majority of each cycle i > j > l > i, and pays its margin beyond the cost of the pair. So weights
of cycles that fill no majority beyond its margin add up to a bound. The best weights solve the dual of the linear
program over triangles; these come within about 1 % of it in a thousandth of its time, by raising the prices of
majorities as they fill (Garg and Könemann 2007, Faster and simpler algorithms for multicommodity flow).
"""

from __future__ import annotations

import numpy as np

from rankwise._typing import FloatArray, IntArray
from rankwise.aggregation import _kemeny_packing_jit
from rankwise.aggregation._kemeny_search import Bounds, Clock

# Sweeps over all cycles, and by how much prices rise: ten times the work gains another .2 %.
_SWEEPS = 200
_GROWTH = 0.1
# Cycles take 20 bytes each; of more than this, a regular subset is taken, which is hardly worse.
_MOST_CYCLES = 5_000_000
# Of more items, cycles are filled one after the other while they are found.
_MOST_ITEMS = 1_000
# Cycles that are returned, per item: with them, linear programs take a third of the time.
_PER_ITEM = 20
# Steps of the loops between two looks at the clock, a twentieth of a second.
_STEPS = 2e7


def raise_by_cycles(bounds: Bounds, clock: Clock) -> IntArray:
    """Raise the lower bound of a component as far as cycles of three majorities carry; changes ``bounds``.

    Returns the items (rows i < j < l) of the cycles with most weight: triangles to start a linear program with.
    """
    surplus = np.maximum(bounds.margins, 0.0)
    heaviest: IntArray = np.empty((0, 3), dtype=np.intp)
    if len(surplus) <= _MOST_ITEMS:
        total, heaviest = _weighed(surplus, clock)
    else:
        total = _filled(surplus, clock)
    cheapest = np.minimum(bounds.wins, bounds.wins.T)[np.triu_indices(len(surplus), 1)].sum()
    bounds.lower = max(bounds.lower, float(cheapest) + total * (1 - 1e-12))
    return heaviest


def _weighed(surplus: FloatArray, clock: Clock) -> tuple[float, IntArray]:
    k = len(surplus)
    number, stride = _kemeny_packing_jit.count_cycles(surplus, 1), 1
    if number > _MOST_CYCLES:
        stride = number // _MOST_CYCLES + 1
        number = _kemeny_packing_jit.count_cycles(surplus, stride)
    if number == 0:
        return 0.0, np.empty((0, 3), dtype=np.intp)
    cycles = _kemeny_packing_jit.list_cycles(surplus, stride, number)
    capacity = surplus.ravel()
    price = np.zeros(len(capacity))
    np.divide(1.0, capacity, out=price, where=capacity > 0)
    load, weight = np.zeros(len(capacity)), np.zeros(number)
    threshold = float(price[cycles].sum(axis=1).min())
    portion = max(1, int(_STEPS // number))
    for done in range(0, _SWEEPS, portion):
        if clock.over:
            break
        sweeps = min(portion, _SWEEPS - done)
        threshold = _kemeny_packing_jit.weigh(capacity, cycles, price, load, weight, threshold, _GROWTH, sweeps)
    heaviest = np.argsort(-weight, kind="stable")[: _PER_ITEM * k]
    items = np.sort(cycles[heaviest[weight[heaviest] > 0]] // k, axis=1).astype(np.intp)
    return float(_kemeny_packing_jit.packed(capacity, cycles, load, weight)), items


def _filled(surplus: FloatArray, clock: Clock) -> float:
    k = len(surplus)
    left, total = surplus.copy(), 0.0
    rows = max(1, int(_STEPS // k**2))
    for start in range(0, k, rows):
        if clock.over:
            break
        total += _kemeny_packing_jit.pack_greedily(left, start, min(start + rows, k))
    return total
