"""What the pictures of all experiments share: colors and axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

# The colors of Okabe and Ito, which stay apart for every common kind of color blindness.
BLUE, ORANGE, GREEN, PINK, BLACK = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000"
SKY, AMBER = "#56B4E9", "#E69F00"
GREY, LIGHT_GREY = "0.6", "0.85"
#: color and marker of each of several curves; the markers tell them apart without colors
SERIES = ((BLUE, "o"), (ORANGE, "^"), (GREEN, "s"), (PINK, "D"), (BLACK, "v"), (SKY, "P"), (AMBER, "X"))
#: font sizes in points
LABEL_SIZE, NUMBER_SIZE = 8, 7


def tidy(ax: Any, *, x: str | None = None, y: str | None = None, without: Sequence[str] = ("top", "right")) -> None:
    """Label the axes, and hide the frame on some sides."""
    ax.spines[list(without)].set_visible(False)
    ax.tick_params(labelsize=NUMBER_SIZE)
    if x is not None:
        ax.set_xlabel(x, fontsize=LABEL_SIZE, parse_math=False)
    if y is not None:
        ax.set_ylabel(y, fontsize=LABEL_SIZE, parse_math=False)
