"""The picture of mean ranks, of all or of several groups side by side."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from rankwise._typing import ArrayLike, FloatArray
from rankwise.plots._display import Display
from rankwise.plots._style import (
    LIGHT_GRAY,
    NUMBER_SIZE,
    SERIES,
    add_legend_above,
    name_rows,
    new_axes_for_rows,
    short,
    tidy,
)

# Height of a row in units of a row for one group, for each further group.
_MORE_ROOM = 0.45


class MeanRankDisplay(Display):
    """Mean ranks of items with their intervals, the best item at the top; several groups side by side.

    Parameters
    ----------
    items : sequence
        Names of the items.
    means, low, high : array-like of shape (n_items,) or (n_groups, n_items)
        Mean ranks, 1 = best, and the ends of their intervals; NaN where there is none.
    level : float, default=0.95
        Level of the intervals.
    groups : sequence, default=()
        Names of the groups.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    dots_ : list of matplotlib Line2D
        The mean ranks, one line of dots per group.
    text_ : list of matplotlib Text
        The mean ranks in numbers, from the top down; empty if there are several groups or too many rows.

    Examples
    --------
    >>> from rankwise.plots import MeanRankDisplay
    >>> display = MeanRankDisplay(["tea", "milk"], [1.2, 1.8], [1.1, 1.7], [1.3, 1.9]).plot()
    >>> [text.get_text() for text in display.text_]
    ['1.20', '1.80']
    >>> display
    MeanRankDisplay: Mean rank of 2 items
    """

    def __init__(
        self,
        items: Sequence[Hashable],
        means: ArrayLike,
        low: ArrayLike,
        high: ArrayLike,
        *,
        level: float = 0.95,
        groups: Sequence[Hashable] = (),
    ) -> None:
        self.items = items
        self.means, self.low, self.high = (np.atleast_2d(np.asarray(v, dtype=np.float64)) for v in (means, low, high))
        self.level = level
        self.groups = groups
        shape = (max(1, len(groups)), len(items))
        if any(array.shape != shape for array in (self.means, self.low, self.high)):
            raise ValueError(f"means, low and high must have the shape {shape}: a row per group, a column per item")

    @property
    def title(self) -> str:
        """What the picture shows, in one line."""
        groups = f", in {len(self.groups)} groups" if len(self.groups) > 1 else ""
        return f"Mean rank of {len(self.items):,} items{groups}"

    def plot(self, ax: Any = None) -> MeanRankDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        MeanRankDisplay
            The display itself, with ``ax_``, ``figure_``, ``dots_`` and ``text_`` set.
        """
        from matplotlib.ticker import MaxNLocator

        n_groups, k = self.means.shape
        order = np.argsort(_means_of_columns(self.means), kind="stable")
        names = [self.items[item] for item in order]
        height = 1 + _MORE_ROOM * (n_groups - 1)
        more = 0.95 if n_groups == 1 else 1.25
        room = {"width": 4.4, "more": more, "row": height}
        self.ax_ = new_axes_for_rows([short(name) for name in names], **room) if ax is None else ax
        self.figure_ = self.ax_.figure
        rows = np.arange(k)
        last = np.nanmax([k, 2, *np.ceil(self.means.ravel()), *np.ceil(self.high.ravel())])  # of some items of many
        self.ax_.hlines(rows, 1, last, colors=LIGHT_GRAY, linewidth=0.8, zorder=0)
        self.dots_ = []
        offsets = (np.arange(n_groups) - (n_groups - 1) / 2) * (0.62 / max(n_groups - 1, 1)) if n_groups > 1 else [0.0]
        for group, offset in enumerate(offsets):
            color, marker = SERIES[group % len(SERIES)]
            at = rows + offset
            self.ax_.hlines(at, self.low[group, order], self.high[group, order], colors=color, linewidth=2, alpha=0.55)
            self.dots_ += self.ax_.plot(self.means[group, order], at, marker, color=color, markersize=6)
        self.ax_.set(xlim=(1 - 0.03 * last, 1.03 * last), ylim=(-0.7, k - 0.3))
        self.ax_.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        interval = f"\nwith {100 * self.level:g}% intervals" if np.isfinite(self.low).any() else ""
        tidy(self.ax_, x=f"mean rank (1 = best){interval}", without=("top", "right", "left"))
        name_rows(self.ax_, names)
        self.text_ = []
        if n_groups == 1 and len(self.ax_.get_yticks()) == k:
            margin = self.ax_.get_yaxis_transform()
            style = {"transform": margin, "ha": "left", "va": "center", "fontsize": NUMBER_SIZE}
            means = self.means[0, order]
            self.text_ = [
                self.ax_.text(1.02, row, f"{mean:.2f}", **style)
                for row, mean in enumerate(means.tolist())
                if np.isfinite(mean)
            ]
        if n_groups > 1:
            add_legend_above(self.ax_, self.dots_, self.groups)
        self._add_title(ax)
        return self


def _means_of_columns(means: FloatArray) -> FloatArray:
    """Means of the known entries; items that no group ranks come last."""
    known = np.isfinite(means)
    total = np.where(known, means, 0.0).sum(axis=0)
    return np.divide(total, known.sum(axis=0), out=np.full(means.shape[1], np.inf), where=known.any(axis=0))
