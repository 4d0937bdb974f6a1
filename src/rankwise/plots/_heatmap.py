"""What the heatmaps share: the order of the items, the axes, the cells and the numbers in them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from rankwise._typing import FloatArray, IntArray
from rankwise.aggregation import borda
from rankwise.data import Rankings

_MOST_ANNOTATED = 12
# Beyond this, cells drawn one by one make vector files of megabytes.
_MOST_VECTOR_CELLS = 2_500
_MOST_LABELS = 40
_CELL_INCHES = 0.42
_LONGEST_NAME = 24


def best_first(rankings: Rankings) -> IntArray:
    """Item ids by Borda's rule; items that no ranking compares come last, since a picture should show them."""
    counts = rankings.pair_counts()
    compared = np.flatnonzero((counts + counts.T).any(axis=1))
    never = np.setdiff1d(np.arange(rankings.n_items), compared)
    if len(compared) == 0:
        return never
    consensus = borda(rankings.select([rankings.items[i] for i in compared]))
    return np.concatenate([compared[np.argsort(consensus, kind="stable")], never])


def new_axes(*, rows: int, columns: int) -> Any:
    """Axes of a new figure whose cells are large enough to read, as far as a page allows."""
    import matplotlib.pyplot as plt

    width = min(7.0, 2.4 + _CELL_INCHES * columns)
    height = min(7.0, 1.4 + _CELL_INCHES * rows)
    _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    return ax


def draw_heatmap(
    ax: Any,
    shares: FloatArray,
    *,
    rows: Sequence[Hashable],
    columns: Sequence[Hashable],
    cmap: Any,
    meaning: str,
    highest: float = 1.0,
    small_print: FloatArray | None = None,
) -> tuple[Any, list[Any]]:
    """Cells coloured by share, grey where it is NaN; the share in percent, and a count below it, in each.

    Parameters
    ----------
    ax : matplotlib Axes
    shares : ndarray of shape (n_rows, n_columns)
    rows, columns : sequence
        Their names.
    cmap : str or matplotlib Colormap
    meaning : str
        What the colour says.
    highest : float, default=1.0
        The share of the last colour.
    small_print : ndarray of shape (n_rows, n_columns), optional
        Counts, NaN for none.

    Returns
    -------
    mesh : matplotlib QuadMesh
    texts : list of matplotlib Text
        Empty for more than 12 items.
    """
    import matplotlib
    from matplotlib.ticker import PercentFormatter

    mesh = ax.pcolormesh(
        # Cell (i, j) lies around the point (j, i), so that whoever draws on top can count in items.
        np.arange(len(columns) + 1) - 0.5,
        np.arange(len(rows) + 1) - 0.5,
        np.ma.masked_invalid(shares),
        cmap=matplotlib.colormaps.get_cmap(cmap).with_extremes(bad="0.85"),
        vmin=0,
        vmax=highest,
        edgecolors="white",
        linewidth=0.5 if len(rows) <= _MOST_LABELS else 0,
        rasterized=shares.size > _MOST_VECTOR_CELLS,
    )
    ax.invert_yaxis()
    ax.set_aspect("equal")
    _label(ax.yaxis, rows)
    _label(ax.xaxis, columns)
    for label in ax.get_xticklabels():
        label.set_rotation(90 if len(label.get_text()) > 3 else 0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    beyond = "max" if np.nanmax(shares, initial=0) > highest else "neither"
    bar = ax.figure.colorbar(mesh, ax=ax, format=PercentFormatter(1, decimals=0), shrink=0.8, aspect=25, extend=beyond)
    bar.set_label(meaning, fontsize=8)
    bar.ax.tick_params(labelsize=7)
    bar.outline.set_visible(False)
    texts = _annotate(ax, mesh, shares, small_print) if len(rows) <= _MOST_ANNOTATED else []
    return mesh, texts


# ---------------------------------------------------------------------------------------------------------------


def _label(axis: Any, names: Sequence[Hashable]) -> None:
    step = -(-len(names) // _MOST_LABELS)
    # Names are the user's: a dollar sign in them is no formula.
    labels = [_short(name) for name in names[::step]]
    axis.set_ticks(range(0, len(names), step), labels=labels, parse_math=False, fontsize=8)
    axis.set_tick_params(length=0)


def _short(name: Hashable) -> str:
    text = str(name)
    return text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 1] + "…"


def _annotate(ax: Any, mesh: Any, shares: FloatArray, small_print: FloatArray | None) -> list[Any]:
    texts = []
    rise = 0.0 if small_print is None else 0.12
    colours = mesh.to_rgba(mesh.get_array()).reshape(*shares.shape, 4)
    for (row, column), share in np.ndenumerate(shares):
        ink = "black" if _lightness(colours[row, column]) > 0.45 else "white"
        style = {"color": ink, "ha": "center", "va": "center"}
        if not np.isnan(share):
            texts.append(ax.text(column, row - rise, f"{100 * share:.0f}", fontsize=8, **style))
        if small_print is not None and not np.isnan(small_print[row, column]):
            count = f"{small_print[row, column]:,.5g}"
            texts.append(ax.text(column, row + 0.27, count, fontsize=5.5, **style))
    return texts


def _lightness(rgba: FloatArray) -> float:
    """Luma of a colour: how light it looks, 0 to 1."""
    return float(np.dot(rgba[:3], (0.299, 0.587, 0.114)))
