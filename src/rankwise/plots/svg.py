"""Pictures inside HTML pages: for the report of an analysis, and for the pages of reproduced papers."""

from __future__ import annotations

import io
import re
from typing import Any


def inline_svg(figure: Any, salt: str) -> str:
    """A Matplotlib figure as an element of a page, which needs no declarations of name spaces.

    Text stays text: it can be searched and copied, and the page is smaller.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The picture.
    salt : str
        Makes the ids of two pictures differ, and those of two runs equal.

    Returns
    -------
    str
        The element ``<svg>``.
    """
    from matplotlib import rc_context

    file = io.StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": salt}):
        figure.savefig(file, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    text = file.getvalue()
    return re.sub(r' xmlns(:\w+)?="[^"]*"', "", text[text.index("<svg") :]).strip()
