"""Heat maps of rankings: who is preferred to whom (PairwisePreferenceDisplay), who is where (PositionHeatmapDisplay).

The two share the order of the items, the axes, the cells and the numbers in them.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import ceil
from typing import Any

import numpy as np

from rankwise._typing import ArrayLike, FloatArray
from rankwise.aggregation import borda
from rankwise.data import Rankings
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
    percent,
    short,
)

# Most rows with numbers in their cells.
_MOST_ANNOTATED = 12
# More cells than this, drawn one by one, make vector files of megabytes.
_MOST_VECTOR_CELLS = 2_500
# Most rows with lines between the cells.
_MOST_SEPARATE_ROWS = 40
_CELL_INCHES = 0.46
# Names of columns that are longer than this are rotated.
_LONGEST_HORIZONTAL = 3
# Width of "100%" in points.
_ROOM_FOR_NUMBERS = 2.6 * NUMBER_SIZE


class PairwisePreferenceDisplay(Display):
    """Heatmap of the share of rankings that put the row item before the column item.

    The share is among the rankings that order the two items, in which they are neither tied nor both unlisted, and none
    is missing. The number of these rankings is below the share; if there are none, the cell is gray.

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
        The colored cells; its array holds ``shares``.
    text_ : list of matplotlib Text
        Shares in percent and numbers of rankings; empty if there are more than 12 items, or if cells are too small.

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
        rankings = _sorted_by_borda(rankings)
        before = rankings.pair_counts()
        counts = before + before.T
        shares = np.divide(before, counts, out=np.full_like(before, np.nan), where=counts > 0)
        return cls(shares, counts, rankings.items).plot(ax)

    @property
    def title(self) -> str:
        """What the picture shows, in one line."""
        return "Which item is ranked above which"

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
        k = len(self.items)
        self.ax_ = _new_heatmap_axes(rows=self.items, columns=self.items) if ax is None else ax
        self.figure_ = self.ax_.figure
        self.mesh_, self.text_ = _draw_heatmap(
            self.ax_,
            self.shares,
            rows=self.items,
            columns=self.items,
            cmap=orange_to_blue(),
            meaning="rankings with row\nbefore column",
            small_print=np.where(np.eye(k, dtype=bool), np.nan, self.counts),
        )
        # An item and itself are not a pair, which differs from a pair that nobody orders.
        self.ax_.plot(*np.repeat([np.arange(k)], 2, axis=0), "x", color="0.6", markersize=4, markeredgewidth=0.6)
        self.ax_.set_ylabel("this item …", fontsize=LABEL_SIZE)
        self.ax_.set_xlabel("… before this item", fontsize=LABEL_SIZE)
        if self.text_:
            whole = bool(np.all(self.counts == np.round(self.counts)))
            counted = "number of rankings" if whole else "weight of the rankings"
            self.ax_.set_title(f"share, and {counted}", fontsize=NUMBER_SIZE)
        self._add_title(ax)
        return self


class PositionHeatmapDisplay(Display):
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
        The colored cells; its array holds ``shares``.
    text_ : list of matplotlib Text
        Shares in percent; empty if there are more than 12 items, or if cells are too small.

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
        rankings = _sorted_by_borda(rankings)
        places = rankings.positions
        last = int(np.max(places, where=np.isfinite(places), initial=1))
        cells: dict[Hashable, Any] = {place: places == place for place in range(1, last + 1)}
        cells |= {"unlisted": np.isposinf(places), "missing": np.isnan(places)}
        cells = {name: hits for name, hits in cells.items() if isinstance(name, int) or hits.any()}
        shares = np.column_stack([rankings.weights @ hits for hits in cells.values()]) / rankings.weights.sum()
        return cls(shares, rankings.items, list(cells)).plot(ax)

    @property
    def title(self) -> str:
        """What the picture shows, in one line."""
        return "How often each item takes each place"

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
        # Columns that are not positions stand apart, and do not count for the range of colors.
        positions = [not isinstance(column, str) for column in self.columns]
        n_apart = len(positions) - sum(positions)
        self.ax_ = _new_heatmap_axes(rows=self.items, columns=self.columns) if ax is None else ax
        self.figure_ = self.ax_.figure
        self.mesh_, self.text_ = _draw_heatmap(
            self.ax_,
            self.shares,
            rows=self.items,
            columns=self.columns,
            cmap="Blues",
            meaning="rankings with item\nat position",
            n_apart=n_apart,
            highest=float(np.max(self.shares[:, positions])) or 1.0,  # 1 if nothing is listed
        )
        if n_apart:
            self.ax_.axvline(sum(positions) - 0.5, color="black", linewidth=1)
        self.ax_.set_xlabel("position (1 = best)", fontsize=LABEL_SIZE)
        self._add_title(ax)
        return self


def borda_positions(rankings: Rankings) -> FloatArray:
    """Positions by Borda's rule; items that no ranking compares come last, because a picture should show them."""
    if not rankings.weights.sum() > 0:
        raise ValueError("there is no ranking of positive weight, so there are no shares to show; give at least one")
    places = np.full(rankings.n_items, rankings.n_items + 1.0)
    compared = rankings.compared
    if compared.any():
        places[compared] = borda(rankings.comparable())
    return places


def _sorted_by_borda(rankings: ArrayLike) -> Rankings:
    """The rankings, with the items in the order in which a picture shows them."""
    rankings = Rankings(rankings)
    order = np.argsort(borda_positions(rankings), kind="stable")
    return rankings.select([rankings.items[i] for i in order])


def _new_heatmap_axes(*, rows: Sequence[Hashable], columns: Sequence[Hashable]) -> Any:
    """Axes of a new figure for rows and columns with these names; cells are large enough to read, if a page allows."""
    # The fixed margins have room for names of up to 10 characters.
    more_left, more_below = (
        LETTER_INCHES * max(0, *(len(short(name)) - 10 for name in names)) for names in (rows, columns)
    )
    width = min(7.0, 2.4 + more_left + _CELL_INCHES * len(columns))
    height = min(7.4, 1.7 + more_below + _CELL_INCHES * len(rows))
    return new_axes(width, height, square_cells=True)


def _draw_heatmap(
    ax: Any,
    shares: FloatArray,
    *,
    rows: Sequence[Hashable],
    columns: Sequence[Hashable],
    cmap: Any,
    meaning: str,
    highest: float = 1.0,
    small_print: FloatArray | None = None,
    n_apart: int = 0,
) -> tuple[Any, list[Any]]:
    """Draw cells colored by share, gray where it is NaN, with the share in percent and a count below it.

    Parameters
    ----------
    ax : matplotlib Axes
    shares : ndarray of shape (n_rows, n_columns)
    rows, columns : sequence
        Their names.
    cmap : str or matplotlib Colormap
    meaning : str
        What the colors show.
    highest : float, default=1.0
        The share at the end of the color map.
    small_print : ndarray of shape (n_rows, n_columns), optional
        Counts; NaN where there are none.
    n_apart : int, default=0
        Number of last columns that are of another kind: they are always named.

    Returns
    -------
    mesh : matplotlib QuadMesh
    texts : list of matplotlib Text
        Empty if there are more than 12 rows, or if cells are too small for numbers.
    """
    import matplotlib

    mesh = ax.pcolormesh(
        # Cell (i, j) is centered at the point (j, i), so that others can draw on top in units of items.
        np.arange(len(columns) + 1) - 0.5,
        np.arange(len(rows) + 1) - 0.5,
        np.ma.masked_invalid(shares),
        cmap=matplotlib.colormaps.get_cmap(cmap).with_extremes(bad="0.85"),
        vmin=0,
        vmax=highest,
        edgecolors="white",
        linewidth=0.5 if len(rows) <= _MOST_SEPARATE_ROWS else 0,
        rasterized=shares.size > _MOST_VECTOR_CELLS,
    )
    ax.set_aspect("equal")
    for spine in ax.spines.values():
        spine.set_visible(False)
    beyond = "max" if np.nanmax(shares, initial=0) > highest else "neither"
    add_color_bar(ax, mesh, format=percent(), extend=beyond).set_label(meaning, fontsize=LABEL_SIZE)
    room = _cell_size(ax, shares)
    name_rows(ax, rows, room)
    _label_columns(ax, columns, room, n_apart)
    annotated = len(rows) <= _MOST_ANNOTATED and room >= _ROOM_FOR_NUMBERS
    return mesh, _annotate(ax, mesh, shares, small_print) if annotated else []


def _cell_size(ax: Any, shares: FloatArray) -> float:
    """Approximate width and height of a cell, in points."""
    box = ax.get_window_extent()
    rows, columns = shares.shape
    return 72 / ax.figure.dpi * min(box.width / columns, box.height / rows)


def _label_columns(ax: Any, names: Sequence[Hashable], room: float, n_apart: int) -> None:
    ordinary = len(names) - n_apart
    lengths = [len(short(name)) for name in names[:ordinary]]
    horizontal = max(lengths) <= _LONGEST_HORIZONTAL
    step = ceil((0.7 * max(lengths) + 0.7 if horizontal else 1.25) * LABEL_SIZE / room)
    shown = [*range(0, ordinary - (step - 1 if n_apart else 0), step), *range(ordinary, len(names))]
    name_ticks(ax.xaxis, [names[place] for place in shown], shown)
    for label in ax.get_xticklabels():
        label.set_rotation(0 if len(label.get_text()) <= _LONGEST_HORIZONTAL else 90)
    if step > 1 and n_apart == 2:  # side by side, even if the columns are narrower than a line
        for label, side in zip(ax.get_xticklabels()[-2:], ("right", "left"), strict=True):
            label.set_horizontalalignment(side)


def _annotate(ax: Any, mesh: Any, shares: FloatArray, small_print: FloatArray | None) -> list[Any]:
    texts = []
    rise = 0.0 if small_print is None else 0.18
    colors = mesh.to_rgba(mesh.get_array()).reshape(*shares.shape, 4)
    for (row, column), share in np.ndenumerate(shares):
        ink = "black" if _lightness(colors[row, column]) > 0.45 else "white"
        style = {"color": ink, "ha": "center", "va": "center"}
        if not np.isnan(share):
            texts.append(ax.text(column, row - rise, f"{share:.0%}", fontsize=NUMBER_SIZE, **style))
        if small_print is not None and not np.isnan(small_print[row, column]):
            count = f"{small_print[row, column]:,.5g}"
            texts.append(ax.text(column, row + 0.22, count, fontsize=NUMBER_SIZE, alpha=0.65, **style))
    return texts


def _lightness(rgba: FloatArray) -> float:
    """Luma of a color: how light it looks, from 0 to 1."""
    return float(np.dot(rgba[:3], (0.299, 0.587, 0.114)))
