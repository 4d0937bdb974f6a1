"""The picture of which item takes which place, and how often."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from rankwise._typing import ArrayLike, FloatArray
from rankwise.plots._heatmap import draw_heatmap, new_axes, sorted_by_consensus


class PositionHeatmapDisplay:
    """Heatmap of how often each item takes each position.

    A row sums to 1 over all rankings. Positions are dense: tied items share a position, and the next item takes
    the next one.

    Parameters
    ----------
    shares : ndarray of shape (n_items, n_columns)
        Share of the rankings in which the row item has the position of the column.
    items : sequence
        Names of the rows.
    columns : sequence
        Names of the columns: positions from 1 = best, then ``"unlisted"`` and ``"missing"`` where they occur.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    mesh_ : matplotlib QuadMesh
        The coloured cells; its array holds ``shares``.
    text_ : list of matplotlib Text
        Shares in percent; empty for more than 12 items, and where cells are too small.

    Examples
    --------
    >>> from rankwise.plots import PositionHeatmapDisplay
    >>> PositionHeatmapDisplay.from_rankings([[1, 2, 3], [1, 3, 2]]).shares
    array([[1. , 0. , 0. ],
           [0. , 0.5, 0.5],
           [0. , 0.5, 0.5]])
    """

    def __init__(self, shares: FloatArray, items: Sequence[Hashable], columns: Sequence[Hashable]) -> None:
        self.shares = shares
        self.items = items
        self.columns = columns

    @classmethod
    def from_rankings(cls, rankings: ArrayLike, *, ax: Any = None) -> PositionHeatmapDisplay:
        """Count the positions and draw, the items sorted by Borda's rule, best first.

        Parameters
        ----------
        rankings : array-like of shape (n_rankings, n_items) or Rankings
            Positions: column = item, 1 = best. The weights of Rankings count.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        PositionHeatmapDisplay
        """
        rankings = sorted_by_consensus(rankings)
        places = rankings.positions
        last = int(np.max(places, where=np.isfinite(places), initial=1))
        cells: dict[Hashable, Any] = {place: places == place for place in range(1, last + 1)}
        cells |= {"unlisted": np.isposinf(places), "missing": np.isnan(places)}
        cells = {name: hits for name, hits in cells.items() if isinstance(name, int) or hits.any()}
        shares = np.column_stack([rankings.weights @ hits for hits in cells.values()]) / rankings.weights.sum()
        return cls(shares, rankings.items, list(cells)).plot(ax)

    def plot(self, ax: Any = None) -> PositionHeatmapDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        PositionHeatmapDisplay
            The display itself, with ``ax_``, ``figure_``, ``mesh_`` and ``text_`` set.
        """
        # What is not a position stands apart, and does not wash out the colours of the positions.
        positions = [not isinstance(column, str) for column in self.columns]
        n_apart = len(positions) - sum(positions)
        self.ax_ = new_axes(rows=self.items, columns=self.columns) if ax is None else ax
        self.figure_ = self.ax_.figure
        self.mesh_, self.text_ = draw_heatmap(
            self.ax_,
            self.shares,
            rows=self.items,
            columns=self.columns,
            cmap="Blues",
            meaning="rankings with item\nat position",
            n_apart=n_apart,
            highest=float(np.max(self.shares[:, positions])) or 1.0,  # where nothing is listed
        )
        if n_apart:
            self.ax_.axvline(sum(positions) - 0.5, color="black", linewidth=1)
        self.ax_.set_xlabel("position (1 = best)", fontsize=8)
        return self
