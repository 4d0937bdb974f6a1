"""What is known of a consensus once it is found."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from rankwise import _html
from rankwise._typing import BoolArray, FloatArray, IntArray
from rankwise.aggregation import _kemeny_jit
from rankwise.aggregation.pairs import majority

# Notebooks show so many items.
_SHOWN_ITEMS = 30


@dataclass(frozen=True, eq=False)
class Consensus:
    """A consensus ranking, and what is known of it.

    Attributes
    ----------
    positions : ndarray of shape (n_items,)
        Positions, 1 = best; dense, with ties where these were allowed.
    items : tuple
        Names of the items.
    cost : float
        Kemeny score: total weight of the pairwise disagreements of the rankings with the consensus.
    lower_bound : float
        No ranking has a lower cost than this.
    optimal : bool
        Whether the cost is proven to be the lowest.
    gap : float
        (cost - lower_bound) / cost: the share of the cost that another ranking might save; 0 where optimal.
    components : tuple of tuples of int
        Items by component, best component first: some consensus of lowest cost keeps them one after the other, as
        the majorities between any two of them want. Where all are single, majorities alone order the items.
    method : str
        What found the consensus: "condorcet", "dp", "ilp", "local-search", or several, joined by "+".
    unique : bool or None
        Whether it is the only ranking of lowest cost; None where that is not known.
    """

    positions: FloatArray
    items: tuple[Hashable, ...]
    cost: float
    lower_bound: float
    optimal: bool
    gap: float
    components: tuple[tuple[int, ...], ...]
    method: str
    unique: bool | None

    def __repr__(self) -> str:
        order = np.argsort(self.positions, kind="stable")
        text = ""
        for place, item in enumerate(order):
            joint = " ~ " if place and self.positions[item] == self.positions[order[place - 1]] else " > "
            text += (joint if place else "") + str(self.items[item])
        return f"Consensus: {text}\n  {self._cost()}"

    def _repr_html_(self) -> str:
        order = np.argsort(self.positions, kind="stable")
        rows = [[f"{self.positions[i]:.0f}", str(self.items[i])] for i in order[:_SHOWN_ITEMS]]
        rest = f"... and {len(order) - _SHOWN_ITEMS:,} more items" if len(order) > _SHOWN_ITEMS else ""
        return _html.part(f"Consensus: {self._cost()}", ["position", "item"], rows, rest)

    def _cost(self) -> str:
        return f"cost {self.cost:,.10g}, {self._proof()} ({self.method})"

    def _proof(self) -> str:
        if self.optimal:
            return "proven optimal"
        if self.lower_bound > 0:
            return f"not proven, at most {100 * (self.cost / self.lower_bound - 1):.3g} % above the optimum"
        return "not proven, and nothing is known of the optimum"


# Components: sets of items that a consensus may keep together, one set after the other.


def majority_components(wins: FloatArray) -> list[IntArray]:
    """Strongly connected components of the strict majority graph, best first.

    Every pair across two components is ordered as its majority wants, so medians of the components, one after
    the other, make a median of all.
    """
    return ordered_components(majority(wins), wins.sum(axis=1) - wins.sum(axis=0))


def ordered_components(edges: BoolArray, score: FloatArray) -> list[IntArray]:
    """Strongly connected components in an order that all edges between them follow.

    Where edges leave it open, items of higher score come first, and of equal score those with the smaller number.
    """
    ascending = np.argsort(-score, kind="stable")[::-1]
    label = np.empty(len(score), dtype=np.intp)
    number = _kemeny_jit.strong_components(np.ascontiguousarray(edges[np.ix_(ascending, ascending)]), label)
    component = np.empty_like(label)
    component[ascending] = label
    members = np.argsort(component, kind="stable")
    return np.split(members, np.cumsum(np.bincount(component, minlength=number))[:-1])
