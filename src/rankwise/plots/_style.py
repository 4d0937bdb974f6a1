"""What all pictures share: colors, font sizes, axes, legends, and how names given by the user are drawn."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import ceil
from textwrap import wrap
from typing import Any

# The palette of Okabe and Ito, which people with any common kind of color blindness can tell apart.
BLUE, ORANGE, GREEN, PINK, BLACK = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000"
SKY, AMBER = "#56B4E9", "#E69F00"
GRAY, LIGHT_GRAY = "0.6", "0.85"
#: color and marker of the first, the second, ... of several curves or classes; markers work without colors, too
SERIES = ((BLUE, "o"), (ORANGE, "^"), (GREEN, "s"), (PINK, "D"), (BLACK, "v"), (SKY, "P"), (AMBER, "X"))
# The colors of `orange_to_blue`; the middle is nearly white.
_ORANGE_TO_BLUE = ("#b8520a", "#f2a562", "#f7f7f5", "#7fb0dc", "#175290")
# Font sizes in points, readable in a column of 3.5 inches: 9 points are 12 pixels on a screen.
TITLE_SIZE = 10
LABEL_SIZE = 9
NUMBER_SIZE = 9
ROW_INCHES = 0.28
# Width of a letter of a label in inches.
LETTER_INCHES = 0.07
#: more points than this are drawn as an image in vector files
MOST_VECTOR_POINTS = 5_000
_LONGEST_NAME = 24
_TALLEST = 9.0


def new_axes(width: float, height: float, *, square_cells: bool = False) -> Any:
    """Axes of a new figure of this size in inches."""
    import matplotlib.pyplot as plt

    # Next to square cells, only the compressed layout leaves room for long names.
    return plt.subplots(figsize=(width, height), layout="compressed" if square_cells else "constrained")[1]


def new_axes_for_rows(names: Sequence[str], *, width: float, more: float = 0.95, row: float = 1.0) -> Any:
    """Axes with a row for each name, so many times as high as a line, and room for the longest name on the left."""
    height = min(_TALLEST, more + row * ROW_INCHES * len(names))
    return new_axes(width + LETTER_INCHES * max(map(len, names), default=0), height)


def add_title(figure: Any, title: str) -> Any:
    """A title above all axes of a figure, in as many lines as it takes; returns Matplotlib's text."""
    lines = wrap(title, max(12, int(figure.get_size_inches()[0] * 72 / (0.6 * TITLE_SIZE))))
    style: dict[str, Any] = {"fontsize": TITLE_SIZE, "fontweight": "bold", "parse_math": False}
    return figure.suptitle("\n".join(lines), x=0.02, ha="left", **style)


def short(name: Hashable, longest: int = _LONGEST_NAME) -> str:
    """The name as text, cut off at its end if it is too long."""
    text = str(name)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def name_ticks(axis: Any, names: Sequence[Hashable], places: Sequence[float]) -> None:
    """Write names at places of an axis, without tick marks."""
    # Names come from the user: a dollar sign does not start a formula.
    axis.set_ticks(places, labels=[short(name) for name in names], parse_math=False, fontsize=LABEL_SIZE)
    axis.set_tick_params(length=0)


def name_rows(ax: Any, names: Sequence[Hashable], room: float | None = None) -> None:
    """Names of rows 0, 1, ... from the top; if rows have too little room (in points), of every second, third, ..."""
    if not ax.yaxis_inverted():
        ax.invert_yaxis()
    if room is None:
        room = 72 / ax.figure.dpi * ax.get_window_extent().height / max(1, len(names))
    step = ceil(1.25 * LABEL_SIZE / room)
    name_ticks(ax.yaxis, names[::step], range(0, len(names), step))


def tidy(ax: Any, *, x: str | None = None, y: str | None = None, without: Sequence[str] = ("top", "right")) -> None:
    """Label the axes, and remove spines that carry no information."""
    for side in without:
        ax.spines[side].set_visible(False)
    ax.tick_params(labelsize=NUMBER_SIZE)
    # Names of scores and levels come from the user, too.
    if x is not None:
        ax.set_xlabel(x, fontsize=LABEL_SIZE, parse_math=False)
    if y is not None:
        ax.set_ylabel(y, fontsize=LABEL_SIZE, parse_math=False)


def add_legend(ax: Any, handles: Sequence[Any], names: Sequence[Hashable], **options: Any) -> Any:
    """A legend of names from the user: dollar signs start no formula, and a leading underscore hides nothing."""
    legend = ax.legend(handles, ["name"] * len(names), fontsize=NUMBER_SIZE, frameon=False, **options)
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set(text=short(name), parse_math=False)
    return legend


def add_legend_above(ax: Any, handles: Sequence[Any], names: Sequence[Hashable]) -> Any:
    """A legend above the axes, in as many columns as there is room for."""
    width = ax.get_window_extent().width / ax.figure.dpi
    column = 0.45 + 0.008 * NUMBER_SIZE * max(len(short(name)) for name in names)
    ncols = max(1, min(len(names), int(width / column)))
    options = {"bbox_to_anchor": (0.5, 1), "borderpad": 0.2, "columnspacing": 1}
    return add_legend(ax, handles, names, loc="lower center", ncols=ncols, **options)


def orange_to_blue() -> Any:
    """A diverging color map."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("orange to blue", _ORANGE_TO_BLUE)


def add_color_bar(ax: Any, shown: Any, *, outline: bool = False, **options: Any) -> Any:
    """What the colors of something on the axes mean, to the right of them."""
    bar = ax.figure.colorbar(shown, ax=ax, shrink=0.8, aspect=25, **options)
    bar.ax.tick_params(labelsize=NUMBER_SIZE)
    bar.outline.set_visible(outline)
    return bar


def percent() -> Any:
    """Formatter of shares."""
    from matplotlib.ticker import FuncFormatter

    return FuncFormatter(lambda share, _: f"{100 * share:.3g}%")
