"""An analysis as HTML: a page that needs nothing else and prints well, and a part of a notebook.

The texts around the numbers are in the templates; names of items, features and files are text, and escaped there.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from rankwise import __version__
from rankwise._tables import counted, render

if TYPE_CHECKING:
    from rankwise.analysis.analysis import Analysis


class _Picture(NamedTuple):
    svg: Any
    caption: str


def render_report(result: Analysis, command: str) -> str:
    """The report as the text of a page.

    Parameters
    ----------
    result : Analysis
        What to report.
    command : str
        What makes the same report again.

    Returns
    -------
    str
    """
    items = f"Rankings of {counted(result.summary.n_items, 'item')}"
    return render(
        "report.html.j2",
        title=f"{items}: {result.summary.name}" if result.summary.name else items,
        result=result,
        data=result.summary.data_table(),
        pairs=result.pairs.table(),
        ranking=result.consensus.ranking_table(),
        quality=result.quality_table(),
        board=result.leaderboard_table(),
        pictures=_pictures(result),
        version=__version__,
        versions=", ".join(f"{name} {version}" for name, version in result.versions.items()),
        command=command,
    )


def render_notebook(result: Analysis) -> str:
    """The sentences and tables of an analysis for a notebook."""
    return render("analysis_in_notebook.html.j2", result=result, tables=result.tables())


def _pictures(result: Analysis) -> dict[str, _Picture | None]:
    """The pictures of the report by name; None where there is nothing to draw."""
    from rankwise.plots import (
        PairwisePreferenceDisplay,
        PositionHeatmapDisplay,
        RankingTreeDisplay,
        RankIntervalDisplay,
    )

    spread, tree = result.consensus.bootstrap, result.tree
    pictures: dict[str, _Picture | None] = {
        "places": _picture(
            "places",
            "Who takes which position, and how often: every row adds up to 100 percent.",
            lambda: PositionHeatmapDisplay.from_rankings(result.rankings),
        ),
        "preferences": _picture(
            "preferences",
            "Who is put before whom: the share of rankings with the row item before the column item, items sorted by "
            "Borda's rule. Gray: no ranking orders the pair.",
            lambda: PairwisePreferenceDisplay.from_rankings(result.rankings),
        ),
        "intervals": None,
        "tree": None,
    }
    if spread is not None:
        pictures["intervals"] = _picture(
            "intervals",
            f"Places that the items may have: the dot is the place in the consensus of all rankings, the bar the "
            f"{100 * spread.level:g} percent interval, conservative, from {spread.n_resamples:,} resamples.",
            lambda: RankIntervalDisplay.from_intervals(spread),
        )
    if tree is not None and tree.get_n_leaves() > 1:
        pictures["tree"] = _picture(
            "tree", f"A tree of groups: {result.tree_note}.", lambda: RankingTreeDisplay.from_estimator(tree)
        )
    return pictures


def _picture(salt: str, caption: str, draw: Callable[[], Any]) -> _Picture:
    import matplotlib.pyplot as plt
    from markupsafe import Markup

    from rankwise.plots.svg import inline_svg

    with warnings.catch_warnings(), plt.ioff():
        # Text stays text in the page, and the browser that shows it has more letters than the fonts here.
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        figure = draw().figure_
        svg = inline_svg(figure, salt)
    plt.close(figure)
    return _Picture(Markup(svg), caption)  # noqa: S704  # made by Matplotlib, which escapes text
