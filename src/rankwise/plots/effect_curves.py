"""FeatureEffectDisplay: how the places of items change with a feature, from `rankwise.analysis.drivers`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from numbers import Real
from typing import Any

import numpy as np

from rankwise._typing import ArrayLike
from rankwise.plots._display import Display
from rankwise.plots._style import SERIES, add_legend_above, new_axes, short, tidy

# Categories in a row of labels before these are turned.
_LETTERS_ABREAST = 40


class FeatureEffectDisplay(Display):
    """Expected places of items at each value of a feature, with intervals; the items that move most are drawn.

    Parameters
    ----------
    feature : str
        Name of the feature.
    values : sequence
        Its values: numbers, or categories.
    items : sequence
        Names of the items.
    places, low, high : array-like of shape (n_values, n_items)
        Expected places, 1 = best, and the ends of their intervals.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    lines_ : list of matplotlib Line2D
        A line per item.

    Examples
    --------
    >>> from rankwise.plots import FeatureEffectDisplay
    >>> FeatureEffectDisplay("age", [20, 70], ["tea", "milk"], [[2, 1], [1, 2]], [[2, 1], [1, 2]], [[2, 1], [1, 2]])
    FeatureEffectDisplay: Expected places by age
    """

    def __init__(
        self,
        feature: str,
        values: Sequence[Any],
        items: Sequence[Hashable],
        places: ArrayLike,
        low: ArrayLike,
        high: ArrayLike,
    ) -> None:
        self.feature = feature
        self.values = values
        self.items = items
        self.places, self.low, self.high = (np.asarray(array, dtype=np.float64) for array in (places, low, high))
        shape = (len(values), len(items))
        if any(array.shape != shape for array in (self.places, self.low, self.high)):
            raise ValueError(f"places, low and high must have the shape {shape}: a row per value, a column per item")

    @classmethod
    def from_result(cls, result: Any, feature: str | None = None, *, ax: Any = None) -> FeatureEffectDisplay:
        """Draw the effect of one feature that `rankwise.analysis.drivers` found.

        Parameters
        ----------
        result : Drivers
            What `drivers` returned.
        feature : str, optional
            Name of the feature; by default the most important one.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        FeatureEffectDisplay
        """
        if not hasattr(result, "effects"):
            raise TypeError(f"result is a {type(result).__name__}; give what drivers returns")
        names = list(result.features)
        if feature is not None and feature not in names:
            raise ValueError(f"feature is {feature!r}, but the features are {', '.join(map(repr, names))}")
        effect = result.effects[0 if feature is None else names.index(feature)]
        return cls(effect.feature, effect.values, effect.items, effect.places, effect.low, effect.high).plot(ax)

    @property
    def title(self) -> str:
        """What the picture shows, in one line."""
        return f"Expected places by {short(self.feature)}"

    def plot(self, ax: Any = None) -> FeatureEffectDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        FeatureEffectDisplay
            The display itself, with ``ax_``, ``figure_`` and ``lines_`` set.
        """
        self.ax_ = new_axes(5.2, 3.6) if ax is None else ax
        self.figure_ = self.ax_.figure
        numeric = all(isinstance(value, Real) and not isinstance(value, bool) for value in self.values)
        at = np.array(self.values, dtype=np.float64) if numeric else np.arange(len(self.values))
        moves = np.ptp(self.places, axis=0)
        chosen = np.sort(np.argsort(-moves, kind="stable")[: len(SERIES)])
        chosen = chosen[np.argsort(self.places[-1, chosen], kind="stable")]
        self.lines_ = []
        for number, item in enumerate(chosen):
            color, marker = SERIES[number]
            style = f"{marker}-" if numeric else marker
            shift = 0.0 if numeric else (number - (len(chosen) - 1) / 2) * 0.6 / max(len(chosen), 2)
            ends = (self.places[:, item] - self.low[:, item], self.high[:, item] - self.places[:, item])
            self.ax_.errorbar(at + shift, self.places[:, item], ends, fmt="none", ecolor=color, alpha=0.4, zorder=1)
            self.lines_ += self.ax_.plot(at + shift, self.places[:, item], style, color=color, markersize=5)
        self.ax_.invert_yaxis()  # the best place is at the top
        hidden = len(self.items) - len(chosen)
        tidy(self.ax_, x=short(self.feature), y="expected place" + (f" ({hidden:,} items left out)" if hidden else ""))
        if not numeric:
            labels = [short(value) for value in self.values]
            turn = {"rotation": 30, "ha": "right"} if sum(map(len, labels)) > _LETTERS_ABREAST else {}
            self.ax_.set_xticks(at, labels=labels, parse_math=False, **turn)
        add_legend_above(self.ax_, self.lines_, [self.items[item] for item in chosen])
        self._add_title(ax)
        return self
