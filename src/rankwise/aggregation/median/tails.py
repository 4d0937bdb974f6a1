"""All optimal orders: which item may come last, then last but one, and so on, at the lowest cost.

Every part of an optimal order is an optimal order of its items, so the least costs of sets of items say all: an item
may come last of a set if the rest and the item's place after it cost no more than the set.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from rankwise._typing import BoolArray, FloatArray, IntArray
from rankwise.aggregation.pairwise import majority

# Costs closer than this share of the whole are the same.
_PRECISION = 1e-9


class Tails(Protocol):
    """The optimal orders of one component, from their ends."""

    def last_items(self, remaining: int) -> list[int]:
        """Items (numbers within the component) that may come last of a set, given as bits."""
        ...


class OnlyOrder:
    """One known order."""

    def __init__(self, order: IntArray) -> None:
        self._last: dict[int, list[int]] = {}
        chosen = 0
        for item in order.tolist():
            chosen |= 1 << item
            self._last[chosen] = [item]

    def last_items(self, remaining: int) -> list[int]:
        """The one item that comes last of a beginning of the order."""
        return self._last[remaining]


class SetTails:
    """All optimal orders, from the least costs of sets.

    Parameters
    ----------
    wins : ndarray of shape (m, m)
        Weights of the preferences.
    best : ndarray of shape (2^m,), or dict
        Least cost of a set of items among themselves, as far as pairs are free; a set that is missing is the
        beginning of no optimal order.
    free : ndarray of shape (m, m), bool
        Pairs that do not stand in the same order in all optimal orders. The costs are of these pairs.
    """

    def __init__(self, wins: FloatArray, best: FloatArray | dict[int, float], free: BoolArray) -> None:
        self._wins = [
            list(zip(np.flatnonzero(row).tolist(), cost[row].tolist(), strict=True))
            for row, cost in zip(free, wins, strict=True)
        ]
        self._best = best
        self._tolerance = _PRECISION * max(1.0, float(wins.sum()))

    def last_items(self, remaining: int) -> list[int]:
        """Items that may come last of the beginning of an optimal order."""
        allowed = self._best[remaining] + self._tolerance
        found = []
        for item in _members(remaining):
            rest = remaining ^ (1 << item)
            cost = self._best.get(rest, np.inf) if isinstance(self._best, dict) else self._best[rest]
            if cost <= allowed and cost + self.cost_after(item, rest) <= allowed:
                found.append(item)
        return found

    def cost_after(self, item: int, chosen: int) -> float:
        """What an item pays that comes after a set of others, for its free pairs."""
        return sum([weight for other, weight in self._wins[item] if (chosen >> other) & 1])


def settled_tails(wins: FloatArray, order: IntArray, settled: BoolArray, most: int) -> SetTails | None:
    """Optimal orders among those that keep the settled pairs; None where these have more than ``most`` beginnings.

    The dynamic programme over sets, confined to those that hold with every item all that are settled before it.

    Parameters
    ----------
    wins : ndarray of shape (m, m)
        Weights of the preferences.
    order : ndarray of shape (m,), intp
        An order that keeps the settled pairs.
    settled : ndarray of shape (m, m), bool
        Pairs (i, j) with i before j in every optimal order.
    most : int
        How many sets to look at.
    """
    m = len(order)
    ahead = _closure(order, settled)
    free = ~(ahead | ahead.T | np.eye(m, dtype=bool))
    earliest = ahead.sum(axis=0)
    latest = earliest + free.sum(axis=1)
    before = [int.from_bytes(bits.tobytes(), "little") for bits in np.packbits(ahead.T, axis=1, bitorder="little")]
    best: dict[int, float] = {0: 0.0}
    tails = SetTails(wins, best, free)
    layer = {0: 0.0}
    for size in range(m):
        possible = np.flatnonzero((earliest <= size) & (size <= latest)).tolist()
        following: dict[int, float] = {}
        for chosen, cost in layer.items():
            for item in possible:
                if (chosen >> item) & 1 or before[item] & ~chosen:
                    continue
                grown = chosen | (1 << item)
                total = cost + tails.cost_after(item, chosen)
                if total < following.get(grown, np.inf):
                    following[grown] = total
            if len(best) + len(following) > most:
                return None
        best |= following
        layer = following
    return tails


def optimal_orders(wins: FloatArray, components: list[IntArray], tails: list[Tails]) -> Iterator[IntArray]:
    """All optimal orders, one after the other.

    An order is optimal if it is so within each component, and keeps every majority between them. Orders are built
    from the end: a component's items that may come last of what remains of it, and that beat nobody left elsewhere.
    This never leads astray, as the last component that is left can always go on.
    """
    n = len(wins)
    label, number = np.empty(n, dtype=np.intp), np.empty(n, dtype=np.intp)
    for c, items in enumerate(components):
        label[items], number[items] = c, np.arange(len(items))
    across = majority(wins) & (label[:, None] != label[None, :])
    beaten_left = across.sum(axis=1)
    loser, winner = np.nonzero(across.T)
    losing_to = np.split(winner, np.searchsorted(loser, np.arange(1, n)))
    remaining = [(1 << len(items)) - 1 for items in components]
    order = np.empty(n, dtype=np.intp)

    def choices() -> list[int]:
        free = dict.fromkeys(label[beaten_left == 0].tolist())
        found = [int(components[c][item]) for c in free for item in tails[c].last_items(remaining[c])]
        return [item for item in found if beaten_left[item] == 0]

    def place(item: int, step: int) -> None:
        remaining[label[item]] ^= 1 << int(number[item])
        beaten_left[losing_to[item]] -= step
        beaten_left[item] += step * n  # not again

    stack = [choices()]
    while stack:
        depth = len(stack)
        if depth <= n and stack[-1]:
            item = stack[-1].pop()
            order[n - depth] = item
            place(item, 1)
            if depth == n:
                yield order.copy()
                place(item, -1)
            else:
                stack.append(choices())
        else:
            stack.pop()
            if stack:
                place(int(order[n - len(stack)]), -1)


# ---------------------------------------------------------------------------------------------------------------


def _closure(order: IntArray, settled: BoolArray) -> BoolArray:
    """Pairs that are settled, if only by way of others: what is before an item's predecessors is before it, too."""
    ahead = settled.copy()
    for item in order:
        ahead[:, item] |= ahead[:, ahead[:, item]].any(axis=1)
    return ahead


def _members(chosen: int) -> Iterator[int]:
    while chosen:
        lowest = chosen & -chosen
        yield lowest.bit_length() - 1
        chosen ^= lowest
