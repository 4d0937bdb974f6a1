"""What all pictures can do: say what they show, and be written to a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from rankwise._replacing import replacing
from rankwise._tables import visible
from rankwise.plots._style import add_title

#: dots per inch of a picture for slides
SLIDE_DPI = 200
_FORMS = (".png", ".svg", ".pdf")


class Display:
    """A picture: it draws itself with `plot`, and writes itself to a file with `save`.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    """

    ax_: Any
    figure_: Any

    @property
    def title(self) -> str:
        """What the picture shows, in one line."""
        raise NotImplementedError

    def plot(self, ax: Any = None) -> Any:
        """Draw on these axes, by default on a new figure."""
        raise NotImplementedError

    def save(self, path: str | os.PathLike[str], *, dpi: float = SLIDE_DPI) -> None:
        """Write the picture to a file.

        Parameters
        ----------
        path : path-like
            The file, which is replaced if it exists; its name ends in ``.png``, ``.svg`` or ``.pdf``.
        dpi : float, default=200
            Dots per inch of a PNG. 200 is enough for slides, 300 for print.
        """
        if Path(path).suffix.lower() not in _FORMS:
            raise ValueError(
                f"{os.fspath(path)!r} does not say which kind of picture to write; end it in .png, .svg or .pdf"
            )
        if not hasattr(self, "figure_"):
            self.plot()
        save_figure(self.figure_, path, dpi=dpi)

    def __repr__(self) -> str:
        return f"{type(self).__name__}: {self.title}"

    def _add_title(self, ax: Any) -> None:
        """The title on a new figure; axes that were given have the title that their owner gives them."""
        if ax is None:
            add_title(self.figure_, self.title)


def save_figure(figure: Any, path: str | os.PathLike[str], *, dpi: float = SLIDE_DPI) -> None:
    """Write a figure: the text of an SVG stays text, and files have no date, so that two runs give the same bytes."""
    from matplotlib import rc_context

    form = Path(path).suffix.lower()
    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(form)
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "rankwise"}), replacing(path) as beside:
        figure.savefig(beside, dpi=dpi, metadata=metadata)
        if form == ".svg":  # XML has no control characters
            beside.write_text(visible(beside.read_text("utf-8")), "utf-8")
