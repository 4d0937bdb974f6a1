"""The picture of segments: the mean ranks of the items in each, colored by how far they are from those of all."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from rankwise._typing import ArrayLike
from rankwise.plots._display import Display
from rankwise.plots._style import (
    LABEL_SIZE,
    LETTER_INCHES,
    NUMBER_SIZE,
    add_color_bar,
    name_rows,
    name_ticks,
    new_axes,
    orange_to_blue,
    short,
)

_CELL_WIDTH, _CELL_HEIGHT = 0.95, 0.34
# Beyond this many rows, numbers would not be read.
_MOST_ANNOTATED = 25


class SegmentDisplay(Display):
    """Mean ranks of items in segments: blue cells are placed higher than all do, orange ones lower.

    Parameters
    ----------
    items : sequence
        Names of the items.
    mean_rank : array-like of shape (n_segments, n_items)
        Mean ranks in each segment, 1 = best; NaN where there is none.
    overall : array-like of shape (n_items,)
        Mean ranks of all.
    segments : sequence of str
        Names of the segments.
    shares : array-like of shape (n_segments,)
        Their shares of the people.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    mesh_ : matplotlib QuadMesh
        The colored cells; items as rows, best mean rank of all at the top.
    text_ : list of matplotlib Text
        The mean ranks in numbers; empty if there are more than 25 items.

    Examples
    --------
    >>> from rankwise.plots import SegmentDisplay
    >>> display = SegmentDisplay(["tea", "milk"], [[1.2, 1.8], [1.9, 1.1]], [1.4, 1.6], ["a", "b"], [0.7, 0.3]).plot()
    >>> display
    SegmentDisplay: Mean ranks in 2 segments
    """

    def __init__(
        self,
        items: Sequence[Hashable],
        mean_rank: ArrayLike,
        overall: ArrayLike,
        segments: Sequence[str],
        shares: ArrayLike,
    ) -> None:
        self.items = items
        self.mean_rank = np.asarray(mean_rank, dtype=np.float64)
        self.overall = np.asarray(overall, dtype=np.float64)
        self.segments = segments
        self.shares = np.asarray(shares, dtype=np.float64)
        if self.mean_rank.shape != (len(segments), len(items)):
            raise ValueError(
                f"mean_rank has the shape {self.mean_rank.shape}, but must have a row for each of {len(segments)} "
                f"segments and a column for each of {len(items)} items"
            )

    @classmethod
    def from_result(cls, result: Any, *, ax: Any = None) -> SegmentDisplay:
        """Draw what `rankwise.analysis.segments` found.

        Parameters
        ----------
        result : Segments
            What `segments` returned.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        SegmentDisplay
        """
        if not hasattr(result, "profiles"):
            raise TypeError(f"result is a {type(result).__name__}; give what segments returns")
        profiles = result.profiles
        return cls(
            result.items,
            [profile.mean_rank for profile in profiles],
            result.mean_rank,
            [profile.name for profile in profiles],
            [profile.share for profile in profiles],
        ).plot(ax)

    @property
    def title(self) -> str:
        """What the picture shows, in one line."""
        return f"Mean ranks in {len(self.segments)} segment{'s' if len(self.segments) > 1 else ''}"

    def plot(self, ax: Any = None) -> SegmentDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        SegmentDisplay
            The display itself, with ``ax_``, ``figure_``, ``mesh_`` and ``text_`` set.
        """
        order = np.argsort(self.overall, kind="stable")
        names = [self.items[item] for item in order]
        means = self.mean_rank[:, order].T
        difference = self.overall[order][:, np.newaxis] - means
        widest = float(np.nanmax(np.abs(difference), initial=0.0)) or 1.0
        n_rows, n_columns = means.shape
        if ax is None:
            left = LETTER_INCHES * max(0, *(len(short(name)) - 10 for name in names), 0)
            width = min(9.0, 2.8 + left + _CELL_WIDTH * n_columns)
            self.ax_ = new_axes(width, min(9.0, 1.5 + _CELL_HEIGHT * n_rows))
        else:
            self.ax_ = ax
        self.figure_ = self.ax_.figure
        edges = np.arange(n_columns + 1) - 0.5, np.arange(n_rows + 1) - 0.5
        self.mesh_ = self.ax_.pcolormesh(
            *edges,
            np.ma.masked_invalid(difference),
            cmap=orange_to_blue().with_extremes(bad="0.85"),
            vmin=-widest,
            vmax=widest,
            edgecolors="white",
            linewidth=0.5,
        )
        self.text_ = []
        if n_rows <= _MOST_ANNOTATED:
            for (row, column), mean in np.ndenumerate(means):
                dark = abs(difference[row, column]) > 0.7 * widest
                self.text_.append(
                    self.ax_.text(
                        column,
                        row,
                        "-" if np.isnan(mean) else f"{mean:.1f}",
                        ha="center",
                        va="center",
                        fontsize=NUMBER_SIZE,
                        color="white" if dark else "black",
                    )
                )
        for spine in self.ax_.spines.values():
            spine.set_visible(False)
        name_rows(self.ax_, names)
        self.ax_.set_ylim(n_rows - 0.5, -0.5)
        shown = [f"{short(name)}\n{share:.0%}" for name, share in zip(self.segments, self.shares, strict=True)]
        name_ticks(self.ax_.xaxis, shown, list(range(n_columns)))
        bar = add_color_bar(self.ax_, self.mesh_)
        bar.set_label("places higher than all", fontsize=LABEL_SIZE)
        self._add_title(ax)
        return self
