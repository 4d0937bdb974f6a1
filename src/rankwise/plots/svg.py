"""Pictures inside HTML pages: for the report of an analysis, and for the pages of reproduced papers.

In a page, a picture takes the colors of its surroundings, light or dark: the colors that all pictures share are
replaced by the variables of ``templates/page.css``. It has a title and a description for people who do not see it.
"""

from __future__ import annotations

import io
import re
from html import escape
from typing import Any

from rankwise._tables import visible
from rankwise.plots._style import BLUE, ORANGE, SKY
from rankwise.plots.tree_diagram import TINTS

#: the color of words in a page
INK = "#1b2733"
#: settings of Matplotlib for pictures in a page
PAGE_SETTINGS: dict[Any, Any] = {
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.titlecolor", "xtick.color", "ytick.color"), INK),
    "axes.edgecolor": "0.6",
}
# Colors as Matplotlib writes them, and the variables of the page. Words in black or white stand on a colored cell, and
# stay so.
_VARIABLES = {
    INK: "ink",
    "#000000": "ink",
    "#ffffff": "paper",
    "#595959": "muted",
    "#999999": "edge",
    "#d9d9d9": "track",
    BLUE.lower(): "blue",
    SKY.lower(): "sky",
    ORANGE.lower(): "orange",
    **{tint: f"tint-{number}" for number, tint in enumerate(TINTS, start=1)},
}
_CLASSES = {"QuadMesh_1": ' class="cells"'}
_ON_CELLS = ("#000000", "#ffffff")
_COLOR = re.compile(r"#[0-9a-f]{6}\b")
_TAG = re.compile(r"<[a-z]+ [^>]*>")
_PIXELS_PER_POINT = 96 / 72


def inline_svg(figure: Any, salt: str, *, title: str = "", description: str = "") -> str:
    """A Matplotlib figure as an element of a page, which needs no declarations of name spaces.

    Text stays text: it can be searched and copied, and the page is smaller.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The picture.
    salt : str
        Makes the ids of two pictures differ, and those of two runs equal.
    title : str, default=""
        What the picture shows; by default the salt.
    description : str, default=""
        What is to be seen, for people who do not see it.

    Returns
    -------
    str
        The element ``<svg>``.
    """
    text = svg_text(figure, salt, transparent=True)
    text = re.sub(r' xmlns(:\w+)?="[^"]*"', "", text[text.index("<svg") :]).strip()
    referred = {*re.findall(r"#([\w-]+)", text)}
    # Several pictures in a page would share names such as "axes_1", which nothing refers to.
    text = re.sub(r' id="([^"]*)"', lambda name: name[0] if name[1] in referred else _CLASSES.get(name[1], ""), text)
    text = _TAG.sub(_with_variables, text)
    width, height = (round(inches * 96) for inches in figure.get_size_inches())
    name = re.sub(r"\W+", "-", salt)
    head = (
        f'<svg role="img" aria-labelledby="{name}-title {name}-desc" style="--natural: {width}px" '
        f'width="{width}" height="{height}" viewBox="0 0 {width / _PIXELS_PER_POINT:g} {height / _PIXELS_PER_POINT:g}">'
        f'<title id="{name}-title">{escape(title or salt)}</title><desc id="{name}-desc">{escape(description)}</desc>'
    )
    return visible(head) + text[text.index(">") + 1 :]


def svg_text(figure: Any, salt: str, *, transparent: bool = False) -> str:
    """A Matplotlib figure as the text of an SVG file, the same for the same picture."""
    from matplotlib import rc_context

    file = io.StringIO()
    metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": salt}):
        figure.savefig(file, format="svg", transparent=transparent, metadata=metadata)
    return visible(file.getvalue())  # XML has no control characters


def _with_variables(tag: re.Match[str]) -> str:
    """A tag whose colors are those of the page."""
    is_text = tag[0].startswith("<text")

    def variable(color: re.Match[str]) -> str:
        name = _VARIABLES.get(color[0])
        return color[0] if name is None or (is_text and color[0] in _ON_CELLS) else f"var(--{name}, {color[0]})"

    # Colors stand in styles; an id may look like one.
    return re.sub(r'style="[^"]*"', lambda style: _COLOR.sub(variable, style[0]), tag[0])
