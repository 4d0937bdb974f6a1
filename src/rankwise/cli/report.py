"""The report of ``rankwise quickstart``: one HTML file that needs nothing else, not even the network."""

from __future__ import annotations

import io
import os
import re
from html import escape
from pathlib import Path
from typing import Any

from rankwise.cli.quickstart import Quickstart
from rankwise.cli.tables import TextTable, tables_of
from rankwise.data import Rankings

_PICTURES = {
    "PairwisePreferenceDisplay": "Who is put before whom: the share of rankings with the row item before the "
    "column item, items sorted by the consensus. Grey: no ranking orders the pair.",
    "PositionHeatmapDisplay": "Who takes which position, and how often: every row adds up to 100 percent.",
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
h1 {{ font-size: 1.6rem }} h2 {{ font-size: 1.15rem; margin: 2rem 0 .3rem }}
p {{ margin: .2rem 0 }} .note, figcaption, footer {{ color: #555; font-size: .875rem }}
table {{ border-collapse: collapse; margin-top: .5rem }}
th, td {{ text-align: left; vertical-align: top; padding: .2rem 1.5rem .2rem 0; border-bottom: 1px solid #ddd;
         overflow-wrap: anywhere; font-variant-numeric: tabular-nums }}
th {{ font-weight: 600 }}
figure {{ margin: 2rem 0; break-inside: avoid }} svg {{ max-width: 100%; height: auto }}
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


def check_writable(path: Path) -> None:
    """Raise an error now rather than after the work is done, if the report could not be written."""
    folder = path.resolve().parent
    if path.is_dir():
        raise OSError(f"{path} is a folder; give the name of a file, as in --out {path / 'report.html'}")
    if not folder.is_dir():
        raise OSError(f"cannot write {path}: there is no folder {folder}; create it, or choose another --out")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise OSError(f"cannot write {path}: permission denied; choose another --out")


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
        pictures="\n".join(_figure(name, caption, result.rankings) for name, caption in _PICTURES.items()),
        command=escape(f"rankwise quickstart --data {result.data} --seed {result.seed}"),
        versions=escape(", ".join(f"{name} {version}" for name, version in result.versions.items())),
    )
    path.write_text(page, encoding="utf-8")


# ---------------------------------------------------------------------------------------------------------------


def _html_table(table: TextTable) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in table.columns)
    body = "\n".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows)
    note = f'<p class="note">{escape(table.note)}</p>\n' if table.note else ""
    header = f"<thead><tr>{head}</tr></thead>\n" if any(table.columns) else ""
    return f"<h2>{escape(table.title)}</h2>\n{note}<table>\n{header}<tbody>\n{body}\n</tbody>\n</table>"


def _figure(display: str, caption: str, rankings: Rankings) -> str:
    import matplotlib.pyplot as plt

    from rankwise import plots

    # Text stays text: it can be searched and copied, and the file is smaller. The salt makes the ids of the two
    # pictures differ, and those of two runs equal.
    with plt.rc_context({"svg.fonttype": "none", "svg.hashsalt": display}):
        figure = getattr(plots, display).from_rankings(rankings).figure_
        svg = _inline_svg(figure)
        plt.close(figure)
    return f"<figure>\n{svg}\n<figcaption>{escape(caption)}</figcaption>\n</figure>"


def _inline_svg(figure: Any) -> str:
    """The picture as an element of an HTML page, which knows the name spaces of SVG without being told."""
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    text = file.getvalue()
    return re.sub(r' xmlns(:\w+)?="[^"]*"', "", text[text.index("<svg") :]).strip()
