"""The picture of who is put before whom, and by how many."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from rankwise._typing import ArrayLike, FloatArray
from rankwise.plots._heatmap import draw_heatmap, new_axes, sorted_by_consensus
from rankwise.plots._style import ORANGE_TO_BLUE


class PairwisePreferenceDisplay:
    """Heatmap of the share of rankings that put the row item before the column item.

    The share is taken among the rankings that order the two items: a tie, a missing item, or two unlisted items
    say nothing of the pair. How many rankings order it stands below the share; where none does, the
    cell is grey.

    Parameters
    ----------
    shares : ndarray of shape (n_items, n_items)
        Row before column, from 0 to 1; NaN where no ranking orders the pair. ``shares + shares.T`` is 1.
    counts : ndarray of shape (n_items, n_items)
        Weight of the rankings that order the pair, either way.
    items : sequence
        Names of the rows and columns.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    mesh_ : matplotlib QuadMesh
        The coloured cells; its array holds ``shares``.
    text_ : list of matplotlib Text
        Shares in percent and numbers of rankings; empty for more than 12 items, and where cells are too small.

    Examples
    --------
    >>> from rankwise.plots import PairwisePreferenceDisplay
    >>> display = PairwisePreferenceDisplay.from_rankings([[1, 2, 3], [1, 3, 2]])
    >>> float(display.shares[0, 1])
    1.0
    """

    def __init__(self, shares: FloatArray, counts: FloatArray, items: Sequence[Hashable]) -> None:
        self.shares = shares
        self.counts = counts
        self.items = items

    @classmethod
    def from_rankings(cls, rankings: ArrayLike, *, ax: Any = None) -> PairwisePreferenceDisplay:
        """Count the rankings and draw, the items sorted by Borda's rule, best first.

        Parameters
        ----------
        rankings : array-like of shape (n_rankings, n_items) or Rankings
            Positions: column = item, 1 = best. The weights of Rankings count.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        PairwisePreferenceDisplay
        """
        rankings = sorted_by_consensus(rankings)
        before = rankings.pair_counts()
        counts = before + before.T
        shares = np.divide(before, counts, out=np.full_like(before, np.nan), where=counts > 0)
        return cls(shares, counts, rankings.items).plot(ax)

    def plot(self, ax: Any = None) -> PairwisePreferenceDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        PairwisePreferenceDisplay
            The display itself, with ``ax_``, ``figure_``, ``mesh_`` and ``text_`` set.
        """
        from matplotlib.colors import LinearSegmentedColormap

        k = len(self.items)
        self.ax_ = new_axes(rows=self.items, columns=self.items) if ax is None else ax
        self.figure_ = self.ax_.figure
        self.mesh_, self.text_ = draw_heatmap(
            self.ax_,
            self.shares,
            rows=self.items,
            columns=self.items,
            cmap=LinearSegmentedColormap.from_list("orange to blue", ORANGE_TO_BLUE),
            meaning="rankings with row\nbefore column",
            small_print=np.where(np.eye(k, dtype=bool), np.nan, self.counts),
        )
        # An item against itself is no pair, which is not the same as a pair that nobody orders.
        self.ax_.plot(*np.repeat([np.arange(k)], 2, axis=0), "x", color="0.6", markersize=4, markeredgewidth=0.6)
        self.ax_.set_ylabel("this item …", fontsize=8)
        self.ax_.set_xlabel("… before this item", fontsize=8)
        if self.text_:
            self.ax_.set_title("below the share: rankings that order the pair", fontsize=7)
        return self
