"""The report: one HTML file that needs nothing else, not even the network, and prints well."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from rankwise import __version__
from rankwise._html import inline_svg, page, table
from rankwise.cli.analysis import Analysis
from rankwise.cli.console import TextTable, counted, short_name
from rankwise.cli.description import pairs_table
from rankwise.cli.models import Model
from rankwise.cli.tables import tables_of, tree_note

# What a report stands on, in the order in which it is used.
_SOFTWARE = f"The rankwise developers, rankwise: learning from rankings, version {__version__}."
_REFERENCES = (
    "Consensus: Kemeny (1959), Mathematics without numbers. Daedalus 88.",
    "Intervals: Hall, Miller (2009), Using the bootstrap to quantify the authority of an empirical ranking. Annals of "
    "Statistics 37.",
)
_REFERENCES_OF_MODELS = (
    "Tree: Clémençon, Korba, Sibony (2018), Ranking median regression: learning to order through local consensus. "
    "Algorithmic Learning Theory.",
    "Forest: Geurts, Ernst, Wehenkel (2006), Extremely randomized trees. Machine Learning 63.",
    "Plackett-Luce: Plackett (1975), The analysis of permutations. Applied Statistics 24.",
)


def write_report(result: Analysis, path: Path, *, command: str) -> None:
    """Write the report.

    Parameters
    ----------
    result : Analysis
        What to report.
    path : Path
        The HTML file; replaced if it is there.
    command : str
        What makes the same report again.
    """
    import matplotlib

    matplotlib.use("agg")  # no window, and no display needed
    data, ranking, quality, leaderboard = tables_of(result)
    sections = [
        _section("What the data are", _notes(data), _table(data), _table(pairs_table(result.pairs)), _places(result)),
        _section(
            "The consensus, and how sure it is",
            _notes(ranking),
            _table(ranking),
            _intervals(result),
            _table(quality),
            _preferences(result),
        ),
        _section("Who disagrees", *_disagreement(result)),
        _section("Which model predicts best", _answer(result), _notes(leaderboard), _table(leaderboard)),
        _section("How to cite", _list(_references(result))),
    ]
    versions = escape(", ".join(f"{name} {version}" for name, version in result.versions.items()))
    text = page(
        f"Rankings of {counted(result.description.n_items, 'item')}: {result.data}",
        "\n".join([_section("In short", _list(summary(result))), *sections]),
        f"Made by <code>{escape(command)}</code> with {versions}.",
    )
    path.write_text(text, encoding="utf-8", errors="replace")  # names of files may be bytes that are no text


def summary(result: Analysis) -> list[str]:
    """The report in a few sentences."""
    facts, found = result.description, result.consensus
    best = found.ranking[0]
    sure = ""
    if best.high is not None:
        sure = ", and that is sure" if best.high == 1 else f", though place {best.high} is possible, too"
    lines = [
        f"{counted(facts.n_rankings, 'ranking')} of {counted(facts.n_items, 'item')} ({facts.kind}).",
        f"The consensus puts {short_name(best.item)} first{sure}.",
        f"{1 - found.cost / found.comparisons:.0%} of all comparisons agree with the consensus; half is chance.",
    ]
    return [*lines, *([_best_model(result)] if result.leaderboard else [])]


def _best_model(result: Analysis) -> str:
    best = result.leaderboard[0]
    same = next(standing for standing in result.leaderboard if standing.model == Model.CONSENSUS)
    if best is same:
        return "No model predicts rankings better than one consensus for all, so that the features tell little."
    clear = best.tau - same.tau > 2 * np.hypot(best.standard_error, same.standard_error)
    doubt = "" if clear else ", which may be chance: the errors are as large as the difference"
    return (
        f"The best predictor is {best.model}, with a mean Kendall tau of {best.tau:.2f} against {same.tau:.2f} of one "
        f"consensus for all{doubt}."
    )


def _references(result: Analysis) -> list[str]:
    return [_SOFTWARE, *_REFERENCES, *(_REFERENCES_OF_MODELS if result.leaderboard else ())]


def _answer(result: Analysis) -> str:
    return _paragraph(_best_model(result)) if result.leaderboard else ""


def _section(title: str, *parts: str) -> str:
    return "\n".join([f"<section>\n<h2>{escape(title)}</h2>", *filter(None, parts), "</section>"])


def _table(shown: TextTable) -> str:
    return table(shown.columns, shown.rows) if shown.rows else ""


def _notes(shown: TextTable) -> str:
    return f'<p class="note">{escape(shown.note)}</p>' if shown.note else ""


def _paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def _list(lines: list[str]) -> str:
    return "\n".join(["<ul>", *(f"<li>{escape(line)}</li>" for line in lines), "</ul>"])


def _places(result: Analysis) -> str:
    from rankwise.plots import PositionHeatmapDisplay

    draw = partial(PositionHeatmapDisplay.from_rankings, result.rankings)
    return _figure("places", "Who takes which position, and how often: every row adds up to 100 percent.", draw)


def _preferences(result: Analysis) -> str:
    from rankwise.plots import PairwisePreferenceDisplay

    caption = (
        "Who is put before whom: the share of rankings with the row item before the column item, items sorted by "
        "Borda's rule. Grey: no ranking orders the pair."
    )
    return _figure("preferences", caption, partial(PairwisePreferenceDisplay.from_rankings, result.rankings))


def _intervals(result: Analysis) -> str:
    from rankwise.plots import RankIntervalDisplay

    found = result.consensus
    if found.level is None:
        return ""
    places = found.ranking
    positions, low, high = (
        np.array([getattr(place, name) for place in places], dtype=float) for name in ("position", "low", "high")
    )
    draw = RankIntervalDisplay(positions, low, high, [place.item for place in places], found.level).plot
    caption = (
        f"Places of the items if as many rankings are drawn from these again, {found.n_resamples:,} times: the bar "
        f"holds {100 * found.level:g} percent of them, the dot is the place in the consensus of all."
    )
    return _figure("intervals", caption, draw)


def _disagreement(result: Analysis) -> list[str]:
    from rankwise.plots import RankingTreeDisplay

    if result.fitted_tree is None:
        return [_paragraph(f"No tree: {result.leaderboard_left_out.removeprefix('none: ')}.")]
    if result.fitted_tree.get_n_leaves() == 1:
        return [_paragraph("No condition on the features does better than one consensus for all, in cross-validation.")]
    draw = partial(RankingTreeDisplay.from_estimator, result.fitted_tree)
    return [_figure("tree", f"A tree of groups: {tree_note(result)}.", draw)]


def _figure(salt: str, caption: str, draw: Callable[[], Any]) -> str:
    import matplotlib.pyplot as plt

    with warnings.catch_warnings():
        # Text stays text in the page, and the browser that shows it has more letters than the fonts here.
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        figure = draw().figure_
        svg = inline_svg(figure, salt)
    plt.close(figure)
    return f"<figure>\n{svg}\n<figcaption>{escape(caption)}</figcaption>\n</figure>"
