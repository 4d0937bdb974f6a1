"""The picture of how two groups, or each of several and all others, differ in the places of items."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from rankwise._typing import ArrayLike
from rankwise.plots._display import Display
from rankwise.plots._style import (
    GRAY,
    LIGHT_GRAY,
    SERIES,
    add_legend_above,
    name_rows,
    new_axes_for_rows,
    short,
    tidy,
)

# More groups than this cannot be told apart; the first are drawn.
_MOST_GROUPS = len(SERIES)
# Height of a row in units of a row for one group, for each further group.
_MORE_ROOM = 0.45


class GroupDifferenceDisplay(Display):
    """Differences of mean ranks with intervals that hold for all items at once; what lies left of 0 is placed higher.

    Parameters
    ----------
    items : sequence
        Names of the items.
    difference, low, high : array-like of shape (n_compared, n_items)
        Differences of mean ranks of each group from the others, and the ends of their intervals; NaN where there is
        none.
    compared, against : sequence of str
        The groups, and with whom each is compared.
    level : float, default=0.95
        Level of the intervals.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    dots_ : list of matplotlib Line2D
        The differences, one line of dots per group. Those whose interval holds 0 are hollow.

    Examples
    --------
    >>> from rankwise.analysis import compare_groups
    >>> from rankwise.plots import GroupDifferenceDisplay
    >>> found = compare_groups([[1, 2]] * 9 + [[2, 1]] * 9, ["f", "m"] * 9, random_state=0)
    >>> GroupDifferenceDisplay.from_result(found)
    GroupDifferenceDisplay: Mean ranks of f less those of m
    """

    def __init__(
        self,
        items: Sequence[Hashable],
        difference: ArrayLike,
        low: ArrayLike,
        high: ArrayLike,
        *,
        compared: Sequence[str],
        against: Sequence[str],
        level: float = 0.95,
    ) -> None:
        self.items = items
        self.difference, self.low, self.high = (
            np.atleast_2d(np.asarray(values, dtype=np.float64)) for values in (difference, low, high)
        )
        self.compared = compared
        self.against = against
        self.level = level
        shape = (len(compared), len(items))
        if any(array.shape != shape for array in (self.difference, self.low, self.high)):
            raise ValueError(
                f"difference, low and high must have the shape {shape}: a row per group, a column per item"
            )

    @classmethod
    def from_result(cls, result: Any, *, ax: Any = None) -> GroupDifferenceDisplay:
        """Draw the differences of items that `rankwise.analysis.compare_groups` found.

        Parameters
        ----------
        result : GroupComparison
            What `compare_groups` returned.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        GroupDifferenceDisplay
        """
        if not hasattr(result, "likelihood_ratio"):
            raise TypeError(f"result is a {type(result).__name__}; give what compare_groups returns")
        found = result.items
        names = {"compared": found.compared, "against": found.against, "level": found.level}
        return cls(found.names, found.difference, found.low, found.high, **names).plot(ax)

    @property
    def title(self) -> str:
        """What the picture shows, in one line."""
        if len(self.compared) == 1:
            return f"Mean ranks of {short(self.compared[0])} less those of {short(self.against[0])}"
        return f"Mean ranks of each of {len(self.compared)} groups less those of the others"

    def plot(self, ax: Any = None) -> GroupDifferenceDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        GroupDifferenceDisplay
            The display itself, with ``ax_``, ``figure_`` and ``dots_`` set.
        """
        n_shown = min(len(self.compared), _MOST_GROUPS)
        order = np.argsort(np.nan_to_num(self.difference[0], nan=np.inf), kind="stable")
        names = [self.items[item] for item in order]
        room = {"width": 4.4, "more": 0.95 if n_shown == 1 else 1.25, "row": 1 + _MORE_ROOM * (n_shown - 1)}
        self.ax_ = new_axes_for_rows([short(name) for name in names], **room) if ax is None else ax
        self.figure_ = self.ax_.figure
        rows = np.arange(len(names))
        self.ax_.axvline(0, color=GRAY, linewidth=1, zorder=0)
        for row in rows:
            self.ax_.axhline(row, color=LIGHT_GRAY, linewidth=0.8, zorder=0)
        offsets = (np.arange(n_shown) - (n_shown - 1) / 2) * (0.62 / max(n_shown - 1, 1))
        self.dots_ = []
        for group, offset in enumerate(offsets):
            color, marker = SERIES[group]
            at, low, high = rows + offset, self.low[group, order], self.high[group, order]
            self.ax_.hlines(at, low, high, colors=color, linewidth=2, alpha=0.55)
            self.dots_ += self.ax_.plot(self.difference[group, order], at, marker, color=color, markersize=6)
            with np.errstate(invalid="ignore"):
                unsure = ~((low > 0) | (high < 0))
            differences = np.where(unsure, self.difference[group, order], np.nan)
            self.ax_.plot(differences, at, marker, color=color, markerfacecolor="white", markersize=6)
        self.ax_.set_ylim(-0.7, len(names) - 0.3)
        label = f"places (left of 0: higher)\nwith {100 * self.level:g}% intervals for all items at once"
        tidy(self.ax_, x=label, without=("top", "right", "left"))
        name_rows(self.ax_, names)
        if len(self.compared) > 1:
            add_legend_above(self.ax_, self.dots_, self.compared[:n_shown])
        self._add_title(ax)
        return self
