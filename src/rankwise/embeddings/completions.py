"""Completions of rankings: all rankings that agree with one that leaves something open, or a uniform sample of them.

A ranking is given by levels (0 = best, -1 = missing). Its completions depend only on its *structure*, the sizes of its
levels and the number of missing items, so they are tables over slots: ranked items by level, then missing ones.
``slots_of`` returns the slot of each item of a ranking. Used by the graph cut and submodular embeddings, and by the
Mallows kernel.
"""

from __future__ import annotations

import math
from functools import reduce
from itertools import permutations
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from rankwise._typing import FloatArray, IntArray
from rankwise.embeddings import _graph_cut_jit

#: "gaps": missing items fall into the gaps between levels, independently, and tie where they share one;
#: "full": every order of all items that agrees with the ranking
CompletionKind = Literal["gaps", "full"]
Levels = npt.NDArray[np.int32]

#: number of independent runs of draws, from which the error is estimated
RUNS = 8


def levels_of(positions: FloatArray) -> Levels:
    """Levels from dense positions: 0 = best, unlisted items share the last level, missing ones have -1."""
    levels = np.empty(positions.shape, dtype=np.int32)
    _graph_cut_jit.levels_from_positions(positions, levels)
    return levels


class Structure(NamedTuple):
    """What completions depend on: the number of items on each level, best first, and the number of missing items."""

    sizes: tuple[int, ...]
    n_missing: int

    @classmethod
    def of(cls, levels: Levels) -> Structure:
        """The structure of one ranking."""
        return cls(tuple(np.bincount(levels[levels >= 0]).tolist()), int(np.sum(levels < 0)))

    @property
    def n_ranked(self) -> int:
        """Number of items that have a level."""
        return sum(self.sizes)

    def count(self, kind: CompletionKind) -> int:
        """Number of completions."""
        if kind == "gaps":
            return int((len(self.sizes) + 1) ** self.n_missing)
        arranged = math.perm(self.n_ranked + self.n_missing, self.n_missing)
        return reduce(lambda number, size: number * math.factorial(size), self.sizes, arranged)

    def all(self, kind: CompletionKind) -> Levels:
        """Every completion, one per row, as levels of the slots."""
        if kind == "full":
            return _ranks(self._all_orders())
        n_gaps, shape = len(self.sizes) + 1, (self.count("gaps"), self.n_missing)
        digits = np.arange(shape[0])[:, None] // n_gaps ** np.arange(self.n_missing)[None] % n_gaps
        return self._in_gaps(digits)

    def sample(self, kind: CompletionKind, keys: FloatArray) -> Levels:
        """Completions from uniform numbers, one per slot."""
        if kind == "gaps":
            n_gaps = len(self.sizes) + 1
            gaps = np.minimum((keys[:, self.n_ranked :] * n_gaps).astype(np.int64), n_gaps - 1)
            return self._in_gaps(gaps)
        places = keys.copy()
        ranked = keys[:, : self.n_ranked]
        # Ranked items permute their numbers so that levels come in order, and items of one level in random order.
        order = np.argsort(np.repeat(np.arange(len(self.sizes)), self.sizes) + ranked, axis=1)
        np.put_along_axis(places, order, np.sort(ranked, axis=1), axis=1)
        return _ranks(np.argsort(places, axis=1))

    def _in_gaps(self, gaps: IntArray) -> Levels:
        """Levels of completions with ties: odd numbers for ranked levels, even ones for the gaps around them."""
        table = np.empty((len(gaps), self.n_ranked + self.n_missing), dtype=np.int32)
        table[:, : self.n_ranked] = np.repeat(2 * np.arange(len(self.sizes)) + 1, self.sizes)
        table[:, self.n_ranked :] = 2 * gaps
        return table

    def _all_orders(self) -> IntArray:
        """Every order of the slots, best first, that agrees with the levels."""
        orders = np.empty((1, 0), dtype=np.intp)
        start = 0
        for size in self.sizes:
            ways = start + np.array(list(permutations(range(size))), dtype=np.intp)
            orders = np.hstack([np.repeat(orders, len(ways), axis=0), np.tile(ways, (len(orders), 1))])
            start += size
        for slot in range(self.n_ranked, self.n_ranked + self.n_missing):
            orders = np.vstack([np.insert(orders, place, slot, axis=1) for place in range(orders.shape[1] + 1)])
        return orders


def slots_of(levels: Levels) -> npt.NDArray[np.int32]:
    """The slot of every item: ranked items by level, then the missing ones; ties in the order of the columns."""
    key = np.where(levels < 0, levels.shape[1], levels)
    return _ranks(np.argsort(key, axis=1, kind="stable"))


def unique_rows(levels: Levels) -> tuple[IntArray, IntArray]:
    """The first of each group of equal rows, and for every row the number of its group."""
    # Sorting short byte strings is several times faster than sorting rows of numbers.
    short = levels.astype(np.int8) if levels.shape[1] <= np.iinfo(np.int8).max else np.ascontiguousarray(levels)
    keys = short.view(np.dtype((np.void, short.itemsize * short.shape[1]))).ravel()
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    return first, group


def grouped_by_structure(levels: Levels) -> list[tuple[Structure, IntArray]]:
    """The structures of the rankings, each with the rows that have it."""
    if not len(levels):
        return []
    first, group = unique_rows(np.sort(levels, axis=1))
    order = np.argsort(group, kind="stable")
    ends = np.cumsum(np.bincount(group))
    rows = np.split(order, ends[:-1])
    return [(Structure.of(levels[one]), members) for one, members in zip(first, rows, strict=True)]


def draw_keys(n_samples: int, n_items: int, rng: np.random.Generator) -> FloatArray:
    """Uniform numbers between 0 and 1, (n, n_items) with n the next multiple of 16, in runs of equal length.

    In each run the numbers of an item are stratified (Latin hypercube), and each draw is followed by its mirror image
    (antithetic), which reverses the order of what is left open.
    """
    n_strata = -(-n_samples // (2 * RUNS))
    strata = rng.permuted(np.tile(np.arange(n_strata)[:, None], (RUNS, 1, n_items)), axis=1)
    keys = (strata + rng.random(strata.shape)) / n_strata
    return np.stack([keys, 1 - keys], axis=2).reshape(-1, n_items)


def _ranks(orders: IntArray) -> Levels:
    """The place of each slot, from the slots in order."""
    ranks = np.empty(orders.shape, dtype=np.int32)
    np.put_along_axis(ranks, orders, np.arange(orders.shape[1], dtype=np.int32)[None], axis=1)
    return ranks
