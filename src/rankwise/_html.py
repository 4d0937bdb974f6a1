"""Pages and parts of notebooks that need nothing else, not even the network: their frame, tables and pictures."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from html import escape
from typing import Any

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
figure {{ margin: .5rem 0 }} svg {{ max-width: 100%; height: auto }} ul {{ margin: .3rem 0; padding-left: 1.2rem }}
footer {{ margin-top: 3rem }}
@media print {{
  @page {{ margin: 18mm }} body {{ font-size: 10.5pt; max-width: none; margin: 0; padding: 0 }}
  h2, .note {{ break-after: avoid }} figure, tr {{ break-inside: avoid }} thead {{ display: table-header-group }}
}}
</style>
</head>
<body>
<h1>{title}</h1>
{body}
<footer>{footer}</footer>
</body>
</html>
"""

# Colours are those of the notebook, light or dark, and lines are a grey that shows on both. Two classes outweigh the
# notebook's own styles of tables.
_PART = """<div class="rankwise">
<style>
.rankwise {{ overflow-x: auto }} .rankwise p {{ margin: .3em 0 }} .rankwise .note {{ opacity: .75; font-size: .9em }}
.rankwise .table table {{ border-collapse: collapse; margin: 0 }}
.rankwise .table th, .rankwise .table td {{ text-align: left; padding: .2em 1.2em .2em 0; border: 0;
  border-bottom: 1px solid rgba(128, 128, 128, .4); font-variant-numeric: tabular-nums }}
</style>
<p>{title}</p>
{table}{note}
</div>"""


def part(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], note: str = "") -> str:
    """A table below its title, for notebooks: what ``_repr_html_`` returns. All is text."""
    below = f'\n<p class="note">{escape(note)}</p>' if note else ""
    return _PART.format(title=escape(title), table=table(columns, rows), note=below)


def page(title: str, body: str, footer: str) -> str:
    """A whole page: the title is text, body and footer are HTML."""
    return _PAGE.format(title=escape(title), body=body, footer=footer)


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of texts; it has a head if a column has a name."""
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    header = f"<thead><tr>{head}</tr></thead>\n" if any(columns) else ""
    body = "\n".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f'<div class="table"><table>\n{header}<tbody>\n{body}\n</tbody>\n</table></div>'


def inline_svg(figure: Any, salt: str) -> str:
    """A Matplotlib figure as an element of a page, which knows the name spaces of SVG without being told.

    Text stays text: it can be searched and copied, and the page is smaller. The salt makes the ids of two pictures
    differ, and those of two runs equal.
    """
    from matplotlib import rc_context

    file = io.StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": salt}):
        figure.savefig(file, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    text = file.getvalue()
    return re.sub(r' xmlns(:\w+)?="[^"]*"', "", text[text.index("<svg") :]).strip()


def _cell(text: str) -> str:
    """Words may be broken into lines between them, a number with its sign and unit may not."""
    tag = "<td>" if any(character.isalpha() for character in text) else '<td class="number">'
    return f"{tag}{escape(text)}</td>"
