"""Search for a cheap order of the items of one component, and what is known of the best one found."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from rankwise._typing import BoolArray, FloatArray, IntArray
from rankwise.aggregation import _kemeny_jit
from rankwise.aggregation.pairs import majority

_TURNS = 200
# A shake moves so many items, which start near each other, so many places at most.
_SHAKE_MOVES = 3
_STRETCH = 10
_SHIFTS = (20, 60)


class Clock:
    """How long work may go on; an interrupt ends it at once."""

    def __init__(self, seconds: float | None, whole: Clock | None = None) -> None:
        self._deadline = np.inf if seconds is None else time.perf_counter() + seconds
        self._whole = whole

    @property
    def left(self) -> float:
        """Seconds left; none or less where time is up."""
        return self._deadline - time.perf_counter()

    @property
    def over(self) -> bool:
        """Whether time is up."""
        return self.left <= 0

    def at_most(self, seconds: float) -> Clock:
        """The time for a part of the work."""
        return Clock(min(seconds, self.left), self)

    def stop(self) -> None:
        """Leave no time to whatever comes next."""
        self._deadline = -np.inf
        if self._whole is not None:
            self._whole.stop()

    @contextmanager
    def ended_by_interrupt(self) -> Iterator[None]:
        """Ctrl-C ends the work: the best found so far, with its gap, is worth more than nothing."""
        try:
            yield
        except KeyboardInterrupt:
            self.stop()
        except SystemError as error:
            # Compiled code that is interrupted comes back with the interrupt as the cause of this error.
            if not isinstance(error.__cause__, KeyboardInterrupt):
                raise
            self.stop()


@dataclass
class Bounds:
    """The best order known for a component, and what is proven of it."""

    wins: FloatArray
    order: IntArray = field(init=False)
    cost: float = field(init=False)
    lower: float = field(init=False)
    step: float = field(init=False)

    def __post_init__(self) -> None:
        self.margins = self.wins - self.wins.T
        self.order = np.argsort(self.wins.sum(axis=0) - self.wins.sum(axis=1), kind="stable")
        self.cost = float(_kemeny_jit.order_cost(self.wins, self.order))
        self.lower = float(np.minimum(self.wins, self.wins.T)[np.triu_indices(len(self.wins), 1)].sum())
        self.step = cost_step(self.wins)
        self.offer(self.order)

    @property
    def proven(self) -> bool:
        """Whether no order can be cheaper (by more than the precision of the solver, for fractional weights)."""
        precision = 1e-8 * max(1.0, abs(self.cost))
        return self.cost - self.lower < max(self.step - 1e-6 * max(1.0, self.step), precision)

    def offer(self, order: IntArray) -> None:
        """Improve an order by insertion, and keep it if it is cheaper than the best."""
        order = order.copy()
        _kemeny_jit.insertion_search(self.margins, order)
        cost = float(_kemeny_jit.order_cost(self.wins, order))
        if cost < self.cost - 1e-9:
            self.order, self.cost = order, cost


def cost_step(wins: FloatArray) -> float:
    """Smallest difference between the costs of two orders, or 0 where weights are no whole numbers."""
    margins = np.abs(wins - wins.T)
    if not np.all(margins == np.round(margins)) or margins.max(initial=0) >= 2**53:
        return 0.0
    return float(np.gcd.reduce(margins.astype(np.int64).ravel()))


def shake(bounds: Bounds, clock: Clock, rng: np.random.Generator, rounds: int) -> None:
    """Iterated local search in short turns, so that it ends near the deadline whatever the size.

    Every turn starts from the best order. Some walk on through orders that are a little worse, some make far moves:
    each way out of a local optimum works where the others stick.
    """
    k = len(bounds.order)
    turns = max(1, min(_TURNS, int(2e7 // k**2)))
    margins = np.abs(bounds.margins[bounds.margins != 0])
    usual = float(np.median(margins)) if len(margins) else 0.0
    for _ in range(0, rounds, turns):
        if clock.over or bounds.proven:
            return
        far = min(k - 1, int(rng.choice(_SHIFTS)))
        picks = rng.integers(0, k, (turns, 1)) + rng.integers(-_STRETCH, _STRETCH + 1, (turns, _SHAKE_MOVES))
        shifts = rng.integers(-far, far + 1, (turns, _SHAKE_MOVES))
        slack = usual * int(rng.integers(0, 2))
        order, saved = _kemeny_jit.iterated_search(bounds.margins, bounds.order, picks % k, shifts, slack)
        if saved > 0:
            bounds.offer(order)


# All optimal orders: which item may come last, then last but one, and so on, at the lowest cost.
#
# Every part of an optimal order is an optimal order of its items, so the least costs of sets of items say all: an item
# may come last of a set if the rest and the item's place after it cost no more than the set.


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
