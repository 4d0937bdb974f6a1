"""Rankers on the same queries: query by query (`QueryComparisonDisplay`), and on average (`ComparisonDisplay`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwise._typing import ArrayLike, FloatArray
from rankwise.plots._display import Display
from rankwise.plots._style import (
    BLACK,
    BLUE,
    GRAY,
    LABEL_SIZE,
    NUMBER_SIZE,
    ORANGE,
    name_rows,
    new_axes,
    new_axes_for_rows,
    short,
    tidy,
)

if TYPE_CHECKING:
    from rankwise.model_selection import Comparison, CrossValidation


class QueryComparisonDisplay(Display):
    """Differences of two rankers on the same queries, from the query that the first wins most clearly to the last.

    For paired tests, and for more than two rankers, see `compare` and `ComparisonDisplay`.

    Parameters
    ----------
    differences : ndarray of shape (n_queries,)
        First ranker minus second, in decreasing order.
    first, second : str
        Names of the rankers.
    metric : str
        What was measured, higher is better.

    Attributes
    ----------
    wins, ties, losses : int
        Queries on which the first ranker is better, equal, worse.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    won_, lost_ : matplotlib StepPatch
        The differences above and below 0.
    mean_ : matplotlib Line2D
        The mean difference.
    text_ : list of matplotlib Text
        How many queries each ranker wins, and how many are ties.

    Examples
    --------
    >>> from rankwise.plots import QueryComparisonDisplay
    >>> results = {"new": [0.9, 0.8, 0.7, 0.5], "old": [0.7, 0.7, 0.7, 0.8]}
    >>> display = QueryComparisonDisplay.from_results(results)
    >>> display.wins, display.ties, display.losses
    (2, 1, 1)
    """

    def __init__(self, differences: FloatArray, first: str, second: str, metric: str) -> None:
        self.differences = differences
        self.first = first
        self.second = second
        self.metric = metric

    @classmethod
    def from_results(
        cls, results: Mapping[str, CrossValidation | ArrayLike], metric: str | None = None, *, ax: Any = None
    ) -> QueryComparisonDisplay:
        """Compare two rankers and draw.

        Parameters
        ----------
        results : mapping
            Name -> `CrossValidation`, or one value per query (the same queries in the same order for both). Queries
            without a value for one of them do not count.
        metric : str, optional
            Which metric of the cross-validations; the first by default.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        QueryComparisonDisplay
        """
        from rankwise.model_selection.comparison import query_values

        if not isinstance(results, Mapping) or len(results) != 2:
            given = len(results) if isinstance(results, Mapping) else f"a {type(results).__name__}"
            raise ValueError(f"results is {given}; name two rankers: {{'new': ..., 'old': ...}}")
        label, values = query_values(results, metric)
        (first, a), (second, b) = values.items()
        differences = a - b
        kept = np.sort(differences[~np.isnan(differences)])[::-1]
        if len(kept) == 0:
            raise ValueError("no query has a value for both rankers, so there is nothing to compare")
        return cls(kept, first, second, label).plot(ax)

    @property
    def wins(self) -> int:
        """Queries on which the first ranker is better."""
        return int((self.differences > 0).sum())

    @property
    def losses(self) -> int:
        """Queries on which the second ranker is better."""
        return int((self.differences < 0).sum())

    @property
    def ties(self) -> int:
        """Queries on which the two are equal."""
        return len(self.differences) - self.wins - self.losses

    @property
    def title(self) -> str:
        """What the picture shows, in one line."""
        return f"{short(self.first)} against {short(self.second)}, query by query"

    def plot(self, ax: Any = None) -> QueryComparisonDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        QueryComparisonDisplay
            The display itself, with ``ax_``, ``figure_``, ``won_``, ``lost_``, ``mean_`` and ``text_`` set.
        """
        self.ax_ = new_axes(3.5, 2.5) if ax is None else ax
        self.figure_ = self.ax_.figure
        n, difference = len(self.differences), self.differences
        edges = np.arange(n + 1)
        self.won_ = self.ax_.stairs(difference.clip(min=0), edges, fill=True, color=BLUE)
        self.lost_ = self.ax_.stairs(difference.clip(max=0), edges, fill=True, color=ORANGE)
        self.ax_.axhline(0, color=GRAY, linewidth=0.8)
        mean = float(difference.mean())
        self.mean_ = self.ax_.axhline(mean, color=BLACK, linewidth=0.9, linestyle="--")
        # There is room above the losses and below the wins.
        style: dict[str, Any] = {"transform": self.ax_.transAxes, "fontsize": LABEL_SIZE, "parse_math": False}
        middle = f"{self.ties:,} equal, mean {mean:+.3f} (dashed)"
        self.text_ = [
            self.ax_.text(0.98, 0.97, f"{short(self.first)} better: {self.wins:,}", ha="right", va="top", **style),
            self.ax_.text(0.98, 0.85, middle, ha="right", va="top", **{**style, "fontsize": NUMBER_SIZE}),
            self.ax_.text(0.02, 0.03, f"{short(self.second)} better: {self.losses:,}", ha="left", va="bottom", **style),
        ]
        self.text_[0].set_color(BLUE)
        self.text_[2].set_color(ORANGE)
        largest = float(np.abs(difference).max()) or 1.0
        lowest, highest = min(-0.35 * largest, 1.2 * difference[-1]), max(0.5 * largest, 1.45 * difference[0])
        self.ax_.set(xlim=(0, n), ylim=(lowest, highest))
        tidy(self.ax_, x=f"{n:,} queries, sorted", y=f"difference of {short(self.metric)}")
        self._add_title(ax)
        return self


class ComparisonDisplay(Display):
    """Mean differences between rankers with their 95% intervals; a hollow dot may be chance.

    Parameters
    ----------
    comparison : Comparison
        What `rankwise.model_selection.compare` returns.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.

    Examples
    --------
    >>> from rankwise.model_selection import compare
    >>> from rankwise.plots import ComparisonDisplay
    >>> found = compare({"new": [0.9, 0.8, 0.7, 0.9], "old": [0.7, 0.7, 0.6, 0.8]}, "map", random_state=0)
    >>> ComparisonDisplay(found).plot()
    ComparisonDisplay: Differences of map
    """

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison

    @property
    def title(self) -> str:
        """What the picture shows, in one line."""
        return f"Differences of {self.comparison.metric}"

    def plot(self, ax: Any = None) -> ComparisonDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ComparisonDisplay
            The display itself, with ``ax_`` and ``figure_`` set.
        """
        found = self.comparison
        pairs = [f"{short(first)} - {short(second)}" for first, second in zip(found.first, found.second, strict=True)]
        self.ax_ = new_axes_for_rows(pairs, width=3.0) if ax is None else ax
        self.figure_ = self.ax_.figure
        for row, (difference, low, high) in enumerate(zip(found.difference, found.low, found.high, strict=True)):
            self.ax_.plot([low, high], [row, row], color=BLUE)
            inside = BLUE if low > 0 or high < 0 else "white"
            self.ax_.plot(difference, row, "o", color=BLUE, markerfacecolor=inside)
        self.ax_.axvline(0, color=GRAY, linewidth=0.8, zorder=0)
        self.ax_.set_ylim(len(pairs) - 0.5, -0.5)
        tidy(self.ax_, x="mean difference", without=("top", "right", "left"))
        name_rows(self.ax_, pairs)
        self._add_title(ax)
        return self
