"""Proof of optimality by dynamic programming over the sets of items that may come first; used by `_kemeny_proof`.

Linear programs bound instances without any agreement badly, and branching on pairs hardly improves that: in a random
tournament a tenth of the cost is missing. But most sets of items are bad beginnings. A set pays what it costs to place
its items before all others, and the others must pay for the cycles of three majorities among them: if that exceeds the
best cost known, no better order begins with this set. Few of the 2^k sets remain, and each is looked at once, whatever
the order within (Held and Karp 1962, with bounds).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rankwise._typing import BoolArray, FloatArray, IntArray
from rankwise.aggregation import _kemeny_packing_jit, _kemeny_prefixes_jit
from rankwise.aggregation._kemeny_search import Bounds, Clock

Sets = npt.NDArray[np.uint64]

# Sets are bits of a word.
_MOST_ITEMS = 64
# Sets in all, 32 bytes each and as much again for their table.
_MOST_SETS = 6_000_000
# Sets that are grown between two looks at the clock: some hundredths of a second.
_TURN = 2000
_FIRST_ROOM = 1 << 13


def prove_by_prefixes(bounds: Bounds, clock: Clock, settled: BoolArray | None = None) -> None:
    """Find the best order and prove it, or raise the lower bound as far as time allows; changes ``bounds``.

    ``settled`` are pairs (i, j) with i before j in every order that costs less than the best known. Does nothing for
    more than 64 items.
    """
    k = len(bounds.wins)
    if k > _MOST_ITEMS or bounds.proven:
        return
    surplus = np.maximum(bounds.margins, 0.0)
    cycles = _kemeny_packing_jit.list_cycles(surplus, 1, _kemeny_packing_jit.count_cycles(surplus, 1))
    weight = _heaviest(surplus, cycles, clock)
    cheapest = float(np.minimum(bounds.wins, bounds.wins.T)[np.triu_indices(k, 1)].sum())
    limit = bounds.beaten_by - cheapest
    ahead = _as_sets(np.zeros_like(surplus, dtype=bool) if settled is None else settled)
    layers = [(np.zeros(1, dtype=np.uint64), np.array([[0.0, weight.sum()]]))]
    while len(layers) <= k:
        room = _MOST_SETS - sum(len(sets) for sets, _ in layers)
        grown = _grown(*layers[-1], surplus, ahead, cycles, weight, limit, clock, room)
        if grown is None:
            least = min(limit, float(layers[-1][1].sum(axis=1).min()))
            bounds.lower = max(bounds.lower, cheapest + least * (1 - 1e-12))
            return
        if len(grown[0]) == 0:
            bounds.lower = bounds.cost
            return
        layers.append(grown)
    bounds.offer(_traced_back(layers, surplus))
    bounds.lower = bounds.cost


def _heaviest(surplus: FloatArray, cycles: IntArray, clock: Clock) -> FloatArray:
    """Weights of the cycles that fill no majority beyond its margin, of highest total; zeros if time is up before."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    capacity = surplus.ravel()
    n = len(cycles)
    if n == 0:
        return np.zeros(0)
    rows = csr_array((np.ones(3 * n), (cycles.ravel(), np.repeat(np.arange(n), 3))), shape=(len(capacity), n))
    solve: Any = linprog  # its types do not know sparse matrices
    seconds = max(0.0, min(clock.left, 1e9))
    solved = solve(-np.ones(n), A_ub=rows, b_ub=capacity, method="highs", options={"time_limit": seconds})
    if solved.x is None:
        return np.zeros(n)
    weight = np.maximum(solved.x, 0.0)
    fullest = np.divide(rows @ weight, capacity, out=np.zeros_like(capacity), where=capacity > 0).max()
    scaled: FloatArray = weight / max(1.0, fullest)
    return scaled


def _grown(
    sets: Sets,
    costs: FloatArray,
    surplus: FloatArray,
    ahead: Sets,
    cycles: IntArray,
    weight: FloatArray,
    limit: float,
    clock: Clock,
    most: int,
) -> tuple[Sets, FloatArray] | None:
    """The sets with one more item; None if they are too many, or time is up."""
    room = _FIRST_ROOM
    new_sets, new_costs = np.empty(room, dtype=np.uint64), np.empty((room, 2))
    table = np.empty(4 * room, dtype=np.int32)
    _kemeny_prefixes_jit.enter(new_sets, 0, table)
    done = n = 0
    while done < len(sets):
        turn = slice(done, done + _TURN)
        finished, n = _kemeny_prefixes_jit.grow(
            sets[turn], costs[turn], surplus, ahead, cycles, weight, limit, new_sets, new_costs, n, table
        )
        done += finished
        if clock.over or n > most:
            return None
        if n + len(surplus) > room:
            room *= 2
            new_sets, new_costs = np.resize(new_sets, room), np.resize(new_costs, (room, 2))
            table = np.empty(4 * room, dtype=np.int32)
            _kemeny_prefixes_jit.enter(new_sets, n, table)
    return new_sets[:n].copy(), new_costs[:n].copy()


def _as_sets(settled: BoolArray) -> Sets:
    """The items that are settled to come before each item, as bits."""
    padded = np.zeros((len(settled), _MOST_ITEMS), dtype=bool)
    padded[:, : len(settled)] = settled.T
    bits: Sets = np.packbits(padded, axis=1, bitorder="little").view("<u8")[:, 0].astype(np.uint64)
    return bits


def _traced_back(layers: list[tuple[Sets, FloatArray]], surplus: FloatArray) -> IntArray:
    """An order of lowest cost, from the last item to the first: the cheapest way to each set."""
    k = len(surplus)
    chosen = (1 << k) - 1
    order = np.empty(k, dtype=np.intp)
    for size in range(k, 0, -1):
        sets, costs = layers[size - 1]
        others = np.array([not (chosen >> j) & 1 for j in range(k)])
        paid = {}
        for v in np.flatnonzero(~others).tolist():
            before = np.flatnonzero(sets == np.uint64(chosen ^ (1 << v)))
            if len(before):
                paid[v] = float(costs[before[0], 0] + surplus[others, v].sum())
        order[size - 1] = min(paid, key=lambda v: paid[v])
        chosen ^= 1 << int(order[size - 1])
    return order
