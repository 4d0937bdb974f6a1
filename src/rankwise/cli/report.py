"""The report of ``rankwise quickstart``: one HTML file that needs nothing else, not even the network."""

from __future__ import annotations

import io
import re
import shlex
from collections.abc import Callable, Iterator
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

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

# The policy forbids the page every request: a report of private data stays private.
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; color: #222; max-width: 46rem; margin: 2rem auto; padding: 0 1rem }}
h1 {{ font-size: 1.6rem; overflow-wrap: anywhere }} h2 {{ font-size: 1.15rem; margin: 2rem 0 .3rem }}
p {{ margin: .2rem 0 }} .note, figcaption, footer {{ color: #555; font-size: .875rem }}
.table {{ overflow-x: auto }} table {{ border-collapse: collapse; margin-top: .5rem }}
th, td {{ text-align: left; vertical-align: top; padding: .2rem clamp(.75rem, 3vw, 1.5rem) .2rem 0;
         border-bottom: 1px solid #ddd; font-variant-numeric: tabular-nums }}
th {{ font-weight: 600 }} .number {{ white-space: nowrap }}
section {{ break-inside: avoid }} figure {{ margin: .5rem 0 }} svg {{ max-width: 100%; height: auto }}
footer {{ margin-top: 3rem }}
</style>
</head>
<body>
<h1>{title}</h1>
{tables}
{pictures}
<footer>Made by <code>{command}</code> with {versions}.</footer>
</body>
</html>
"""


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
    page = _PAGE.format(
        title=escape(f"Rankings of {result.description.n_items:,} items: {result.data}"),
        tables="\n".join(_html_table(table) for table in tables_of(result)),
        pictures="\n".join(_figures(result)),
        command=escape(f"rankwise quickstart --data {shlex.quote(result.data)} --seed {result.seed}"),
        versions=escape(", ".join(f"{name} {version}" for name, version in result.versions.items())),
    )
    path.write_text(page, encoding="utf-8", errors="replace")  # names of files may be bytes that are no text


# ---------------------------------------------------------------------------------------------------------------


def _html_table(table: TextTable) -> str:
    note = f'<p class="note">{escape(table.note)}</p>\n' if table.note else ""
    title = f"<h2>{escape(table.title)}</h2>\n{note}"
    if not table.rows:
        return title
    head = "".join(f"<th>{escape(name)}</th>" for name in table.columns)
    header = f"<thead><tr>{head}</tr></thead>\n" if any(table.columns) else ""
    body = "\n".join(f"<tr>{''.join(map(_html_cell, row))}</tr>" for row in table.rows)
    return f'{title}<div class="table"><table>\n{header}<tbody>\n{body}\n</tbody>\n</table></div>'


def _html_cell(cell: str) -> str:
    """Words may be broken into lines between them, a number with its sign and unit may not."""
    tag = "<td>" if any(character.isalpha() for character in cell) else '<td class="number">'
    return f"{tag}{escape(cell)}</td>"


def _figures(result: Quickstart) -> Iterator[str]:
    from rankwise import plots

    for name, (title, caption) in _PICTURES.items():
        yield _figure(name, title, caption, partial(getattr(plots, name).from_rankings, result.rankings))
    if result.fitted_tree is not None:
        draw = partial(plots.RankingTreeDisplay.from_estimator, result.fitted_tree)
        yield _figure("RankingTreeDisplay", "Who ranks how", f"A tree: {tree_note(result)}.", draw)


def _figure(name: str, title: str, caption: str, draw: Callable[[], Any]) -> str:
    import matplotlib.pyplot as plt

    # Text stays text: it can be searched and copied, and the file is smaller. The salt makes the ids of two pictures
    # differ, and those of two runs equal.
    with plt.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        figure = draw().figure_
        svg = _inline_svg(figure)
        plt.close(figure)
    figcaption = f"<figcaption>{escape(caption)}</figcaption>"
    return f"<section>\n<h2>{escape(title)}</h2>\n<figure>\n{svg}\n{figcaption}\n</figure>\n</section>"


def _inline_svg(figure: Any) -> str:
    """The picture as an element of an HTML page, which knows the name spaces of SVG without being told."""
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    text = file.getvalue()
    return re.sub(r' xmlns(:\w+)?="[^"]*"', "", text[text.index("<svg") :]).strip()
