"""`Consensus`: what `kemeny` returns, with or without ties."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwise._tables import TextTable, make_frame, name_column, visible
from rankwise._typing import FloatArray

# Items that notebooks show.
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
        Items by component of the majority graph, best component first. Some consensus of lowest cost ranks one
        component after the other, and every majority between two of them is followed. If every component is a single
        item, majorities alone order the items.
    method : str
        What found the consensus: "condorcet", "dp", "ilp", "local-search", or several, joined by "+".
    unique : bool or None
        Whether it is the only ranking of lowest cost; None if that is not known.
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

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with a row per item, best first: ``item``, ``position`` and ``component``.

        Components of the majority graph are numbered from 1, best first. The frame is of pandas by default, else of
        the named backend ("pandas", "polars" or "pyarrow").
        """
        component = np.empty(len(self.items), dtype=np.intp)
        for number, members in enumerate(self.components, start=1):
            component[list(members)] = number
        order = np.argsort(self.positions, kind="stable")
        columns = {
            "item": name_column([self.items[i] for i in order]),
            "position": self.positions[order].astype(np.intp),
            "component": component[order],
        }
        return make_frame(columns, backend)

    def __repr__(self) -> str:
        order = np.argsort(self.positions, kind="stable")
        text = ""
        for place, item in enumerate(order):
            joint = " ~ " if place and self.positions[item] == self.positions[order[place - 1]] else " > "
            text += (joint if place else "") + str(self.items[item])
        return visible(f"Consensus: {text}\n  {self._cost()}")

    def _repr_html_(self) -> str:
        order = np.argsort(self.positions, kind="stable")
        rows = [[f"{self.positions[i]:.0f}", str(self.items[i])] for i in order[:_SHOWN_ITEMS]]
        rest = f"... and {len(order) - _SHOWN_ITEMS:,} more items" if len(order) > _SHOWN_ITEMS else ""
        return TextTable(f"Consensus: {self._cost()}", rest, ["position", "item"], rows)._repr_html_()

    def _cost(self) -> str:
        if self.optimal:
            proof = "proven optimal"
        elif self.lower_bound > 0:
            proof = f"not proven, at most {100 * (self.cost / self.lower_bound - 1):.3g}% above the optimum"
        else:
            proof = "not proven, and nothing is known about the optimum"
        return f"cost {self.cost:,.10g}, {proof} ({self.method})"
