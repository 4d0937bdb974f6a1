"""The picture of how sure the places of a consensus are."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwise._typing import ArrayLike, FloatArray, RandomState
from rankwise.data import midranks
from rankwise.plots._display import Display
from rankwise.plots._style import BLUE, NUMBER_SIZE, SKY, name_rows, new_axes_for_rows, short, tidy

if TYPE_CHECKING:
    from rankwise.aggregation import BootstrapConsensus


class RankIntervalDisplay(Display):
    """Intervals of the places of items in a consensus, the best item at the top.

    A bar holds the places that the item may have given how much the rankings vary, conservatively; the dot is its place
    in the consensus of the rankings themselves. The data distinguish items whose bars do not overlap. Without intervals
    there are dots only.

    Parameters
    ----------
    positions : ndarray of shape (n_items,)
        The consensus, 1 = best.
    low, high : ndarray of shape (n_items,) or None
        Ends of the intervals; ``low`` is the better one. None where there are none.
    items : sequence
        Names of the items.
    level : float, default=0.95
        Level of the intervals.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    bars_ : matplotlib LineCollection or None
        The intervals, from the top down; None where there are none.
    dots_ : matplotlib Line2D
        The places of the consensus, from the top down.
    text_ : list of matplotlib Text
        The intervals in numbers, such as "1-3", or the places, from the top down; empty where there are too many rows.

    Examples
    --------
    >>> from rankwise.plots import RankIntervalDisplay
    >>> display = RankIntervalDisplay.from_rankings([[1, 2, 3], [1, 3, 2], [1, 2, 3]] * 9, random_state=0)
    >>> [text.get_text() for text in display.text_]
    ['1', '2-3', '2-3']
    """

    def __init__(
        self,
        positions: FloatArray,
        low: FloatArray | None,
        high: FloatArray | None,
        items: Sequence[Hashable],
        level: float = 0.95,
    ) -> None:
        self.positions = positions
        self.low = low
        self.high = high
        self.items = items
        self.level = level

    @classmethod
    def from_rankings(
        cls,
        rankings: ArrayLike,
        *,
        decode: Any = "kemeny",
        n_resamples: int = 1000,
        level: float = 0.95,
        random_state: RandomState = None,
        ax: Any = None,
    ) -> RankIntervalDisplay:
        """Resample the rankings many times, and show how the places of their consensus vary.

        Parameters
        ----------
        rankings : array-like of shape (n_rankings, n_items) or Rankings
            Positions: column = item, 1 = best. The weights of Rankings count.
        decode : str or callable, default="kemeny"
            The consensus rule, see `bootstrap_consensus`.
        n_resamples : int, default=1000
            Number of resamples.
        level : float, default=0.95
            Least probability that the interval of an item holds its true place; see `bootstrap_consensus`.
        random_state : None, int, Generator or RandomState
            Where the random numbers come from.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        RankIntervalDisplay
        """
        from rankwise.aggregation import bootstrap_consensus

        options: dict[str, Any] = {"n_resamples": n_resamples, "level": level, "random_state": random_state}
        return cls.from_intervals(bootstrap_consensus(rankings, decode, **options), ax=ax)

    @classmethod
    def from_intervals(cls, intervals: BootstrapConsensus, *, ax: Any = None) -> RankIntervalDisplay:
        """Draw intervals that are there already.

        Parameters
        ----------
        intervals : BootstrapConsensus
            What `bootstrap_consensus` returned.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        RankIntervalDisplay
        """
        if not hasattr(intervals, "low"):
            raise TypeError(
                f"intervals is a {type(intervals).__name__}; give what bootstrap_consensus returns, or rankings to "
                "RankIntervalDisplay.from_rankings"
            )
        return cls(intervals.positions, intervals.low, intervals.high, intervals.items, intervals.level).plot(ax)

    @property
    def title(self) -> str:
        """What the picture shows, in one line."""
        return (
            "Place of each item in the consensus" if self.low is None else "Place of each item, and how certain it is"
        )

    def plot(self, ax: Any = None) -> RankIntervalDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        RankIntervalDisplay
            The display itself, with ``ax_``, ``figure_``, ``bars_``, ``dots_`` and ``text_`` set.
        """
        from matplotlib.ticker import MaxNLocator

        from rankwise.aggregation.shared_order import places

        # Without intervals the ends are the places themselves, as people write them: 1, 1, 3.
        low = self.low if self.low is not None else places(self.positions)
        high = self.high if self.high is not None else low
        order = np.lexsort((high, low, self.positions))
        names = [self.items[item] for item in order]
        low, high = low[order], high[order]
        self.ax_ = new_axes_for_rows([short(name) for name in names], width=4.4) if ax is None else ax
        self.figure_ = self.ax_.figure
        rows = np.arange(len(order))
        thick = 6 if len(order) <= 30 else 3
        self.bars_ = None
        if self.low is not None:
            self.bars_ = self.ax_.hlines(rows, low, high, colors=SKY, linewidth=thick, capstyle="round")
        # Tied items fill several places; the dot is in the middle of them.
        middle = midranks(self.positions[np.newaxis])[0]
        (self.dots_,) = self.ax_.plot(middle[order], rows, "o", color=BLUE, markersize=thick * 0.8)
        k = max(len(order), 2, *high)  # of some items of many, places may be further down
        self.ax_.set(xlim=(1 - 0.03 * k, k + 0.03 * k), ylim=(-0.6, len(order) - 0.4))
        self.ax_.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        intervals = "" if self.low is None else f"\nwith {100 * self.level:g}% intervals"
        tidy(self.ax_, x=f"place (1 = best){intervals}", without=("top", "right", "left"))
        name_rows(self.ax_, names)
        self.text_ = []
        if len(self.ax_.get_yticks()) == len(names):
            margin = self.ax_.get_yaxis_transform()
            style = {"transform": margin, "ha": "left", "va": "center", "fontsize": NUMBER_SIZE, "color": "0.35"}
            self.text_ = [
                self.ax_.text(1.02, row, _in_numbers(*ends), **style)
                for row, ends in enumerate(zip(low, high, strict=True))
            ]
        self._add_title(ax)
        return self


def _in_numbers(low: float, high: float) -> str:
    return f"{low:g}" if low == high else f"{low:g}-{high:g}"
