"""ConsensusDisplay: a consensus, with bars of how many rankings agree with it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from rankwise._typing import ArrayLike, FloatArray
from rankwise.data import Rankings, check_positions
from rankwise.plots._display import Display
from rankwise.plots._style import (
    BLUE,
    GRAY,
    LIGHT_GRAY,
    NUMBER_SIZE,
    ORANGE,
    add_legend_above,
    name_rows,
    new_axes_for_rows,
    percent,
    short,
    tidy,
)
from rankwise.plots.heatmaps import borda_positions


class ConsensusDisplay(Display):
    """A consensus, the best item at the top, and the share of the rankings that agree with it.

    The bar of an item is the share of all comparisons of this item with others in which a ranking agrees with the
    consensus. The diamond between two items is the share of the rankings that agree with the order of these two:
    orange at half or below, if no majority supports it. Rankings in which two items are tied or both unlisted,
    or in which one is missing, do not count for the pair.

    Parameters
    ----------
    items : sequence
        Names of the items, best first.
    agreement : ndarray of shape (n_items,)
        Share of the comparisons of each item that agree; NaN if there are none.
    neighbors : ndarray of shape (n_items - 1,)
        Share of the rankings that put an item before the next; NaN if none orders the two, or if the consensus ties
        them.
    counts : ndarray of shape (n_items - 1,)
        Weight of the rankings that order the two.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    bars_ : matplotlib BarContainer
        One bar for each item, from the top down.
    diamonds_ : matplotlib PathCollection
        One for each pair of neighbors that some ranking orders.
    text_ : list of matplotlib Text
        Shares and counts of the pairs of neighbors; empty if there are too many rows.

    Examples
    --------
    >>> from rankwise.plots import ConsensusDisplay
    >>> display = ConsensusDisplay.from_rankings([[1, 2, 3], [1, 3, 2], [1, 2, 3], [2, 1, 3]])
    >>> display.items, display.neighbors
    ((0, 1, 2), array([0.75, 0.75]))
    """

    def __init__(
        self, items: Sequence[Hashable], agreement: FloatArray, neighbors: FloatArray, counts: FloatArray
    ) -> None:
        self.items = items
        self.agreement = agreement
        self.neighbors = neighbors
        self.counts = counts

    @classmethod
    def from_rankings(cls, rankings: ArrayLike, consensus: ArrayLike = None, *, ax: Any = None) -> ConsensusDisplay:
        """Count the rankings that agree, and draw.

        Parameters
        ----------
        rankings : array-like of shape (n_rankings, n_items) or Rankings
            Positions: column = item, 1 = best. The weights of Rankings count.
        consensus : array-like of shape (n_items,) or Consensus, optional
            Positions of the items of ``rankings``, such as those of `kemeny` or `copeland`; by default Borda's rule.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ConsensusDisplay
        """
        rankings = Rankings(rankings)
        if consensus is None:
            places = borda_positions(rankings)
        else:
            places = check_positions([getattr(consensus, "positions", consensus)], name="consensus")[0]
        if len(places) != rankings.n_items:
            raise ValueError(
                f"consensus has {len(places)} positions, but the rankings have {rankings.n_items} items; give one for "
                "each item"
            )
        if not np.isfinite(places).all():
            item = rankings.items[int(np.flatnonzero(~np.isfinite(places))[0])]
            raise ValueError(f"consensus has no place for {item!r}; give a finite position for each item")
        order = np.argsort(places, kind="stable")
        rankings, places = rankings.select([rankings.items[i] for i in order]), places[order]
        before = rankings.pair_counts()
        counts, ordered = before + before.T, places[:, np.newaxis] != places
        agreeing = np.where(places[:, np.newaxis] < places, before, before.T)
        agreement = _shares((agreeing * ordered).sum(axis=1), (counts * ordered).sum(axis=1))
        compared = np.diag(counts, 1) * np.diag(ordered, 1)
        return cls(rankings.items, agreement, _shares(np.diag(before, 1), compared), np.diag(counts, 1)).plot(ax)

    @property
    def title(self) -> str:
        """What the picture shows, in one line."""
        return "Agreement with the consensus"

    def plot(self, ax: Any = None) -> ConsensusDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ConsensusDisplay
            The display itself, with ``ax_``, ``figure_``, ``bars_``, ``diamonds_`` and ``text_`` set.
        """
        names = [short(name) for name in self.items]
        self.ax_ = new_axes_for_rows(names, width=3.2, more=1.1) if ax is None else ax
        self.figure_ = self.ax_.figure
        rows = np.arange(len(names))
        self.bars_ = self.ax_.barh(rows, self.agreement, height=0.5, color=LIGHT_GRAY)
        known = np.flatnonzero(~np.isnan(self.neighbors))
        shares = self.neighbors[known]
        colors = [BLUE if share > 0.5 else ORANGE for share in shares]
        self.diamonds_ = self.ax_.scatter(shares, known + 0.5, c=colors, marker="D", s=22, zorder=3)
        self.ax_.axvline(0.5, color=GRAY, linewidth=0.8, linestyle=":")
        self.ax_.set(xlim=(0, 1.0), ylim=(-0.6, len(names) - 0.4))
        self.ax_.xaxis.set_major_formatter(percent())
        tidy(self.ax_, x="rankings that agree with the consensus", without=("top", "right", "left"))
        name_rows(self.ax_, self.items)
        self.text_ = []
        if len(self.ax_.get_yticks()) == len(names):
            style = {"ha": "left", "va": "center", "fontsize": NUMBER_SIZE, "color": "0.35"}
            self.text_ = [
                self.ax_.text(
                    1.02,
                    pair + 0.5,
                    f"{self.neighbors[pair]:.0%} of {self.counts[pair]:,.5g}",
                    transform=self.ax_.get_yaxis_transform(),
                    **style,
                )
                for pair in known
            ]
        add_legend_above(self.ax_, [self.bars_, self.diamonds_], ["with others", "with the next"])
        self._add_title(ax)
        return self


def _shares(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)
