"""Search for a cheap order of the items of one component, and enumeration of all optimal orders.

`kemeny` searches here before `_kemeny_proof` proves, and asks afterwards whether the order found is the only one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from rankwise._typing import BoolArray, FloatArray, IntArray
from rankwise.aggregation import _kemeny_jit
from rankwise.aggregation.pairs import majority

# Rounds of the search between two looks at the clock.
_ROUNDS_A_TURN = 200
# A perturbation moves three items, which start at most 10 places from each other, by up to 20 or 60 places.
_MOVES = 3
_STRETCH = 10
_SHIFTS = (20, 60)
# Sets of items that are examined to find out what all optimal orders of a component share.
_MOST_SETS = 5_000
# Ctrl-C ends one search with the best order so far; this soon after that, it ends the program that searches.
_SECONDS_OF_SECOND_INTERRUPT = 10.0
# Costs closer than this share of the whole are equal.
_PRECISION = 1e-9


class Clock:
    """A time limit; an interrupt ends it at once, and a second one within seconds is an error as everywhere else."""

    _interrupted = -math.inf

    def __init__(self, seconds: float | None, whole: Clock | None = None) -> None:
        self._deadline = np.inf if seconds is None else time.perf_counter() + seconds
        self._whole = whole

    @property
    def left(self) -> float:
        """Seconds left; 0 or less if time is up."""
        return self._deadline - time.perf_counter()

    @property
    def over(self) -> bool:
        """Whether time is up."""
        return self.left <= 0

    def at_most(self, seconds: float) -> Clock:
        """A shorter limit for a part of the work."""
        return Clock(min(seconds, self.left), self)

    def stop(self) -> None:
        """Leave no time to whatever comes next."""
        self._deadline = -np.inf
        if self._whole is not None:
            self._whole.stop()

    def interrupted(self) -> None:
        """Stop, or raise KeyboardInterrupt if the last call was just now: whoever calls in a loop means to end that."""
        again = time.perf_counter() - Clock._interrupted < _SECONDS_OF_SECOND_INTERRUPT
        Clock._interrupted = time.perf_counter()
        self.stop()
        if again:
            raise KeyboardInterrupt

    @contextmanager
    def ended_by_interrupt(self) -> Iterator[None]:
        """Let Ctrl-C end the work without an error: the best order so far, with its gap, is worth keeping."""
        try:
            yield
        except KeyboardInterrupt:
            self.interrupted()
        except SystemError as error:
            # Compiled code raises this error if it is interrupted, with the interrupt as its cause.
            if not isinstance(error.__cause__, KeyboardInterrupt):
                raise
            self.interrupted()


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
        """Whether no order can be cheaper."""
        return is_proven(self.cost, self.lower, self.step)

    @property
    def beaten_by(self) -> float:
        """What an order that costs less than the best known may cost at most."""
        return self.cost - _least_saving(self.cost, self.step)

    def offer(self, order: IntArray) -> None:
        """Improve an order by insertion, and keep it if it is cheaper than the best."""
        order = order.copy()
        _kemeny_jit.insertion_search(self.margins, order)
        cost = float(_kemeny_jit.order_cost(self.wins, order))
        if cost < self.cost - 1e-9:
            self.order, self.cost = order, cost


def is_proven(cost: float, lower: float, step: float) -> bool:
    """Whether nothing costs less (by more than the precision of the solver, for fractional weights).

    All costs differ by multiples of ``step``.
    """
    return cost - lower < _least_saving(cost, step)


def _least_saving(cost: float, step: float) -> float:
    return max(step - 1e-6 * max(1.0, step), 1e-8 * max(1.0, abs(cost)))


def cost_step(wins: FloatArray) -> float:
    """Smallest possible difference between the costs of two orders; 0 if weights are not whole numbers."""
    margins = np.abs(wins - wins.T)
    if not np.all(margins == np.round(margins)) or margins.max(initial=0) >= 2**53:
        return 0.0
    return float(np.gcd.reduce(margins.astype(np.int64).ravel()))


def perturb(bounds: Bounds, clock: Clock, rng: np.random.Generator, rounds: int) -> None:
    """Iterated local search: perturb the best order and improve it again, for a number of rounds.

    Works in short turns, so that it ends near the deadline whatever the size. Every turn starts from the best order.
    Some go on through slightly worse orders, some make long moves: each way out of a local optimum works where others
    do not.
    """
    k = len(bounds.order)
    turn = max(1, min(_ROUNDS_A_TURN, int(2e7 // k**2)))
    margins = np.abs(bounds.margins[bounds.margins != 0])
    usual = float(np.median(margins)) if len(margins) else 0.0
    for _ in range(0, rounds, turn):
        if clock.over or bounds.proven:
            return
        far = min(k - 1, int(rng.choice(_SHIFTS)))
        picks = rng.integers(0, k, (turn, 1)) + rng.integers(-_STRETCH, _STRETCH + 1, (turn, _MOVES))
        shifts = rng.integers(-far, far + 1, (turn, _MOVES))
        slack = usual * int(rng.integers(0, 2))
        order, saved = _kemeny_jit.iterated_search(bounds.margins, bounds.order, picks % k, shifts, slack)
        if saved > 0:
            bounds.offer(order)


class OptimalOrders(Protocol):
    """The optimal orders of one component, read from the end: which item may come last, last but one, and so on.

    Every prefix of an optimal order is an optimal order of its items, so the lowest costs of sets of items decide: an
    item may come last of a set if the others, and the item after them, cost no more than the set.
    """

    def last_items(self, remaining: int) -> list[int]:
        """Items (numbers within the component) that may come last of a set, given as bits."""
        ...

    def is_single(self) -> bool:
        """Whether there is only one optimal order."""
        ...


class SingleOrder:
    """One known order."""

    def __init__(self, order: IntArray) -> None:
        self._last: dict[int, list[int]] = {}
        chosen = 0
        for item in order.tolist():
            chosen |= 1 << item
            self._last[chosen] = [item]

    def last_items(self, remaining: int) -> list[int]:
        """The one item that comes last of a prefix of the order."""
        return self._last[remaining]

    def is_single(self) -> bool:
        """True."""
        return True


class OrdersFromSets:
    """All optimal orders, from the lowest costs of sets of items.

    Parameters
    ----------
    wins : ndarray of shape (m, m)
        Weights of the preferences.
    best : ndarray of shape (2^m,), or dict
        Lowest cost of a set of items among themselves, counting free pairs only; a set without an entry is
        not a prefix of an optimal order.
    free : ndarray of shape (m, m), bool
        Pairs that are not known to be in the same order in all optimal orders.
    """

    def __init__(self, wins: FloatArray, best: FloatArray | dict[int, float], free: BoolArray) -> None:
        self._wins = [
            list(zip(np.flatnonzero(row).tolist(), cost[row].tolist(), strict=True))
            for row, cost in zip(free, wins, strict=True)
        ]
        self._best = best
        self._tolerance = _PRECISION * max(1.0, float(wins.sum()))

    def last_items(self, remaining: int) -> list[int]:
        """Items that may come last of a prefix of an optimal order."""
        allowed = self._best[remaining] + self._tolerance
        found = []
        for item in range(remaining.bit_length()):
            if not (remaining >> item) & 1:
                continue
            rest = remaining ^ (1 << item)
            cost = self._best.get(rest, np.inf) if isinstance(self._best, dict) else self._best[rest]
            if cost <= allowed and cost + self.cost_after(item, rest) <= allowed:
                found.append(item)
        return found

    def is_single(self) -> bool:
        """Whether there is only one optimal order: one last item each time."""
        remaining = (1 << len(self._wins)) - 1
        while remaining:
            last = self.last_items(remaining)
            if len(last) != 1:
                return False
            remaining ^= 1 << last[0]
        return True

    def cost_after(self, item: int, chosen: int) -> float:
        """Cost of an item after a set of others, counting free pairs only."""
        return sum([weight for other, weight in self._wins[item] if (chosen >> other) & 1])


def orders_with_settled_pairs(
    wins: FloatArray, order: IntArray, settled: BoolArray, most: int
) -> OrdersFromSets | None:
    """Optimal orders among those that keep the settled pairs; None if these have more than ``most`` prefixes.

    Dynamic programming over the sets that hold, with every item, all items that are settled to come before it.

    Parameters
    ----------
    wins : ndarray of shape (m, m)
        Weights of the preferences.
    order : ndarray of shape (m,), intp
        An order that keeps the settled pairs.
    settled : ndarray of shape (m, m), bool
        Pairs (i, j) with i before j in every optimal order.
    most : int
        How many sets to examine.
    """
    m = len(order)
    ahead = settled.copy()
    for item in order:  # what comes before an item's predecessors comes before the item
        ahead[:, item] |= ahead[:, ahead[:, item]].any(axis=1)
    free = ~(ahead | ahead.T | np.eye(m, dtype=bool))
    earliest = ahead.sum(axis=0)
    latest = earliest + free.sum(axis=1)
    before = [int.from_bytes(bits.tobytes(), "little") for bits in np.packbits(ahead.T, axis=1, bitorder="little")]
    best: dict[int, float] = {0: 0.0}
    orders = OrdersFromSets(wins, best, free)
    layer = {0: 0.0}
    for size in range(m):
        possible = np.flatnonzero((earliest <= size) & (size <= latest)).tolist()
        following: dict[int, float] = {}
        for chosen, cost in layer.items():
            for item in possible:
                if (chosen >> item) & 1 or before[item] & ~chosen:
                    continue
                grown = chosen | (1 << item)
                total = cost + orders.cost_after(item, chosen)
                if total < following.get(grown, np.inf):
                    following[grown] = total
            if len(best) + len(following) > most:
                return None
        best |= following
        layer = following
    return orders


def joint_orders(wins: FloatArray, components: list[IntArray], orders: Sequence[OptimalOrders]) -> Iterator[IntArray]:
    """All optimal orders of all items, one by one, from those of the components.

    An order is optimal if it is optimal within each component and follows every majority between them. Orders are built
    from the end: next comes an item that may be last of what remains of its component, and that beats no item left in
    another component. This never reaches a dead end, because the last component that is left can always go on.
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
        found = [int(components[c][item]) for c in free for item in orders[c].last_items(remaining[c])]
        return [item for item in found if beaten_left[item] == 0]

    def place(item: int, step: int) -> None:
        remaining[label[item]] ^= 1 << int(number[item])
        beaten_left[losing_to[item]] -= step
        beaten_left[item] += step * n  # mark as placed

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


def surely_before(wins: FloatArray, components: list[IntArray], orders: Sequence[OptimalOrders]) -> BoolArray:
    """Pairs (i, j) that are known to come in this order in every optimal order, without listing all of these.

    Majorities between components are followed always. Within a component, i comes after j in some optimal order if i
    may be the last of a set that holds j; a component with too many such sets counts as undecided.
    """
    n = len(wins)
    label = np.empty(n, dtype=np.intp)
    for c, items in enumerate(components):
        label[items] = c
    before = majority(wins) & (label[:, None] != label[None, :])
    for items, known in zip(components, orders, strict=True):
        before[np.ix_(items, items)] = _surely_before_within(len(items), known)
    for middle in range(n):
        before |= before[:, middle, None] & before[middle]
    return before


def _surely_before_within(m: int, orders: OptimalOrders) -> BoolArray:
    before = ~np.eye(m, dtype=bool)
    sets = {(1 << m) - 1}
    stack = list(sets)
    while stack:
        remaining = stack.pop()
        others = np.array([(remaining >> item) & 1 for item in range(m)], dtype=bool)
        for item in orders.last_items(remaining):
            before[item] &= ~others
            rest = remaining ^ (1 << item)
            if rest and rest not in sets:
                sets.add(rest)
                stack.append(rest)
        if len(sets) > _MOST_SETS:
            return np.zeros((m, m), dtype=bool)
    return before
