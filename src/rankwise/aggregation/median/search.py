"""Search for a cheap order of the items of one component, and what is known of the best one found."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from rankwise._typing import FloatArray, IntArray
from rankwise.aggregation.median import _jit

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
        self.cost = float(_jit.order_cost(self.wins, self.order))
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
        _jit.insertion_search(self.margins, order)
        cost = float(_jit.order_cost(self.wins, order))
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
        order, saved = _jit.iterated_search(bounds.margins, bounds.order, picks % k, shifts, slack)
        if saved > 0:
            bounds.offer(order)
