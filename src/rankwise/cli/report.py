"""The report of ``rankwise quickstart``: one HTML file that needs nothing else, not even the network."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

from rankwise._html import inline_svg, page, table
from rankwise.cli.console import TextTable
from rankwise.cli.quickstart import Quickstart
from rankwise.cli.tables import tables_of, tree_note

_PICTURES = {
    "PairwisePreferenceDisplay": (
        "Who is put before whom",
        "The share of rankings with the row item before the column item, items sorted by the consensus. "
        "Grey: no ranking orders the pair.",
    ),
    "PositionHeatmapDisplay": ("Who takes which position", "How often: every row adds up to 100 percent."),
}


def write_report(result: Quickstart, path: Path) -> None:
    """Write the report.

    Parameters
    ----------
    result : Quickstart
        What to report.
    path : Path
        The HTML file; replaced if it is there.
    """
    import matplotlib

    matplotlib.use("agg")  # no window, and no display needed
    command = escape(f"rankwise quickstart --data {shlex.quote(result.data)} --seed {result.seed}")
    versions = escape(", ".join(f"{name} {version}" for name, version in result.versions.items()))
    text = page(
        f"Rankings of {result.description.n_items:,} items: {result.data}",
        "\n".join([*map(_table, tables_of(result)), *_figures(result)]),
        f"Made by <code>{command}</code> with {versions}.",
    )
    path.write_text(text, encoding="utf-8", errors="replace")  # names of files may be bytes that are no text


# ---------------------------------------------------------------------------------------------------------------


def _table(shown: TextTable) -> str:
    note = f'<p class="note">{escape(shown.note)}</p>\n' if shown.note else ""
    title = f"<h2>{escape(shown.title)}</h2>\n{note}"
    return title + table(shown.columns, shown.rows) if shown.rows else title


def _figures(result: Quickstart) -> Iterator[str]:
    from rankwise import plots

    for name, (title, caption) in _PICTURES.items():
        yield _figure(name, title, caption, partial(getattr(plots, name).from_rankings, result.rankings))
    if result.fitted_tree is not None:
        draw = partial(plots.RankingTreeDisplay.from_estimator, result.fitted_tree)
        yield _figure("RankingTreeDisplay", "Who ranks how", f"A tree: {tree_note(result)}.", draw)


def _figure(name: str, title: str, caption: str, draw: Callable[[], Any]) -> str:
    import matplotlib.pyplot as plt

    figure = draw().figure_
    svg = inline_svg(figure, name)
    plt.close(figure)
    figcaption = f"<figcaption>{escape(caption)}</figcaption>"
    return f"<section>\n<h2>{escape(title)}</h2>\n<figure>\n{svg}\n{figcaption}\n</figure>\n</section>"
