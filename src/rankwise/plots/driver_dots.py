"""DriversDisplay: importances of features with intervals, from `rankwise.analysis.drivers`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankwise._typing import ArrayLike
from rankwise._validation import check_whole_number
from rankwise.plots._display import Display
from rankwise.plots._style import BLUE, GRAY, LIGHT_GRAY, name_rows, new_axes_for_rows, short, tidy

_LONGEST_NAME = 32


class DriversDisplay(Display):
    """Importances of features with intervals, the most important at the top.

    Filled dots are features whose effect is beyond chance; hollow ones may be chance.

    Parameters
    ----------
    features : sequence of str
        Names of the features.
    importances, low, high : array-like of shape (n_features,)
        Importances and the ends of their intervals.
    p_values : array-like of shape (n_features,)
        Corrected p-values.
    level : float, default=0.95
        Level of the intervals.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    dots_ : matplotlib Line2D
        The importances, from the most important feature down.

    Examples
    --------
    >>> from rankwise.plots import DriversDisplay
    >>> DriversDisplay(["age", "shoe size"], [0.2, 0.0], [0.1, -0.1], [0.3, 0.1], [0.001, 0.6])
    DriversDisplay: What drives the rankings: age
    """

    def __init__(
        self,
        features: Sequence[str],
        importances: ArrayLike,
        low: ArrayLike,
        high: ArrayLike,
        p_values: ArrayLike,
        *,
        level: float = 0.95,
    ) -> None:
        self.features = features
        self.importances, self.low, self.high, self.p_values = (
            np.asarray(values, dtype=np.float64) for values in (importances, low, high, p_values)
        )
        self.level = level
        if any(len(values) != len(features) for values in (self.importances, self.low, self.high, self.p_values)):
            raise ValueError(f"there are {len(features)} features; give as many importances, ends and p-values")

    @classmethod
    def from_result(cls, result: Any, *, ax: Any = None) -> DriversDisplay:
        """Draw what `rankwise.analysis.drivers` found.

        Parameters
        ----------
        result : Drivers
            What `drivers` returned.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        DriversDisplay
        """
        if not hasattr(result, "importances") or not hasattr(result, "effects"):
            raise TypeError(f"result is a {type(result).__name__}; give what drivers returns")
        numbers = (result.importances, result.low, result.high, result.p_values)
        return cls(result.features, *numbers, level=result.level).plot(ax)

    @property
    def title(self) -> str:
        """What the picture shows, in one line."""
        order = np.argsort(-self.importances, kind="stable")
        sure = [short(self.features[f]) for f in order if self.p_values[f] <= 1 - self.level + 1e-9]
        if not sure:
            return "No feature was shown to drive the rankings"
        return f"What drives the rankings: {', '.join(sure[:3])}" + (", ..." if len(sure) > 3 else "")

    def plot(self, ax: Any = None, *, max_features: int = 20) -> DriversDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        max_features : int, default=20
            Most features to draw.

        Returns
        -------
        DriversDisplay
            The display itself, with ``ax_``, ``figure_`` and ``dots_`` set.
        """
        most = check_whole_number("max_features", max_features, at_least=1)
        order = np.argsort(-self.importances, kind="stable")[:most]
        names = [short(self.features[f], _LONGEST_NAME) for f in order]
        self.ax_ = new_axes_for_rows(names, width=4.2) if ax is None else ax
        self.figure_ = self.ax_.figure
        rows = np.arange(len(order))
        self.ax_.axvline(0, color=GRAY, linewidth=1, zorder=0)
        for row in rows:
            self.ax_.axhline(row, color=LIGHT_GRAY, linewidth=0.8, zorder=0)
        self.ax_.hlines(rows, self.low[order], self.high[order], colors=BLUE, linewidth=2, alpha=0.55)
        (self.dots_,) = self.ax_.plot(self.importances[order], rows, "o", color=BLUE, markersize=6)
        unsure = np.where(self.p_values[order] > 1 - self.level + 1e-9, self.importances[order], np.nan)
        self.ax_.plot(unsure, rows, "o", color=BLUE, markerfacecolor="white", markersize=6)
        self.ax_.set_ylim(-0.7, len(names) - 0.3)
        hidden = len(self.features) - len(order)
        note = f"; {hidden:,} more features" if hidden else ""
        label = (
            f"fall of Kendall's tau without the feature\nwith {100 * self.level:g}% intervals; hollow: may be chance"
        )
        tidy(self.ax_, x=label + note, without=("top", "right", "left"))
        name_rows(self.ax_, names)
        self._add_title(ax)
        return self
