"""An analysis as HTML: a page that needs nothing else and prints well, and a part of a notebook.

The texts around the numbers are in ``report_sections`` and in the templates; names of items, features and files are
text, and escaped there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankwise import __version__
from rankwise._tables import counted, render, short_name
from rankwise.analysis.base import as_options
from rankwise.analysis.report_method import method_of, sources_of
from rankwise.analysis.report_sections import joint_places, sections_of

if TYPE_CHECKING:
    from rankwise.analysis.analysis import Analysis

# The joint ranking at the top of the page names so many items.
_MOST_PLACES = 12
# Of a longer table, so many rows are shown, and the others open on a click.
_MOST_ROWS = 50
# A question has at least so many words.
_FEWEST_WORDS = 3


def render_report(result: Analysis, command: str, title: str = "") -> str:
    """The report as the text of a page.

    Parameters
    ----------
    result : Analysis
        What to report.
    command : str
        What makes the same report again.
    title : str, default=""
        The title of the page; by default what was ranked.

    Returns
    -------
    str
    """
    facts = result.summary
    sections = sections_of(result, advice=as_options if command.startswith("rankwise ") else str)
    date = f"{result.made_on:%B} {result.made_on.day}, {result.made_on.year}"
    return render(
        "report.html.j2",
        title=title or _asked(result) or f"Ranking of {counted(facts.n_items, 'item')}",
        result=result,
        date=date,
        by_lines=[
            " · ".join(filter(None, [facts.name.rpartition("/")[2], counted(facts.n_rankings, "ranking"), date]))
        ],
        tiles=_tiles(result),
        places=_places(result),
        n_more_places=max(0, len(result.consensus.items) - _MOST_PLACES),
        sections=sections,
        contents=[("findings", "Key findings"), *((s.id, s.title) for s in sections), ("method", "Method and sources")],
        method=method_of(result),
        sources=sources_of(result),
        most_rows=_MOST_ROWS,
        version=__version__,
        versions=", ".join(f"{name} {version}" for name, version in result.versions.items()),
        command=command,
    )


def _asked(result: Analysis) -> str:
    """What was asked: how the questions of the ranked columns begin, all of them alike; empty if that is not known."""
    survey = result.survey
    if survey is None or survey.reading is None or len(survey.reading.columns) < 2:
        return ""
    texts = [" ".join(survey.questions.get(column, column).split()) for column in survey.reading.columns]
    same = texts[0]
    while not all(text.startswith(same) for text in texts):
        same = same[:-1]
    # Cut in the middle of a word, the beginning says nothing; a few letters are the name of a question, not its text.
    if same and not all(text == same or not (same[-1] + text[len(same)]).isalnum() for text in texts):
        same = same.rpartition(" ")[0]
    same = same.rstrip(" -:.[(_")
    return same if len(same.split()) >= _FEWEST_WORDS else ""


def render_notebook(result: Analysis) -> str:
    """The sentences and tables of an analysis for a notebook."""
    return render("analysis_in_notebook.html.j2", result=result, tables=result.tables())


def _tiles(result: Analysis) -> list[tuple[str, str, str]]:
    """The few numbers at the top of the page: what, value, and more about it."""
    facts, found = result.summary, result.consensus
    tiles = []
    if not result.undecided:
        first = np.flatnonzero(found.positions == 1)
        names = " and ".join(short_name(found.items[i]) for i in first[:2]) + (" …" if len(first) > 2 else "")
        best = facts.items.index(found.items[first[0]])
        if len(first) == 1:
            doubt = "; may be chance" if result.may_be_chance else ""
            tiles.append(("First place", names, f"mean rank {facts.mean_rank[best]:.2f}{doubt}"))
            tiles.append(("Named it first", f"{facts.top1[best]:.0%}", "of those who ranked it"))
        else:
            tiles.append(("First place", names, "a tie"))
    if np.isfinite(facts.kendalls_w):
        tiles.append(("Agreement", f"{facts.kendalls_w:.2f}", "Kendall's W, from 0 to 1"))
    return [*tiles, ("Rankings", f"{facts.n_rankings:,}", f"of {counted(facts.n_items, 'item')}")]


def _places(result: Analysis) -> list[tuple[int, str]]:
    """The joint ranking as people write it, 1, 1, 3; empty if nothing is decided."""
    found = result.consensus
    if result.undecided:
        return []
    places = joint_places(found)
    order = np.argsort(places, kind="stable")[:_MOST_PLACES]
    return [(int(places[i]), short_name(found.items[i])) for i in order]
