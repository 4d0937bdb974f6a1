"""The pictures of a report: which there are, how they come into the page, and into files.

A picture takes the colors of the page, light or dark. Those that can be narrow are drawn a second time for phones. Each
is attached to the page as SVG and PNG, to be downloaded.
"""

from __future__ import annotations

import io
import os
import warnings
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwise._tables import short_name
from rankwise._typing import FloatArray
from rankwise.analysis.by_group import largest_groups

if TYPE_CHECKING:
    from rankwise.analysis.analysis import Analysis

# Above this many letters, a file is not attached.
_LARGEST_ATTACHMENT = 400_000
_SLIDE_DPI, _N_COLORS = 200, 128
# What a phone has room for, in inches of 96 pixels.
_NARROW, _MOST_NARROW = 3.3, 2
_NAMED_IN_WORDS = 20
# A picture of more items shows the best of them.
_MOST_ITEMS = 40


class Plan(NamedTuple):
    """A picture that can be drawn.

    Attributes
    ----------
    caption : str
        How to read it.
    description : str
        What is to be seen, for people who do not see it.
    draw : callable
        Draws it on axes, or on a new figure if these are None, and returns the display.
    fits_phone : bool
        Whether it can be narrow, as pictures of rows can.
    """

    caption: str
    description: str
    draw: Callable[[Any], Any]
    fits_phone: bool = False


class Picture(NamedTuple):
    """A picture in a page: its elements, wide and narrow, its title, its caption, and files as data URLs by name."""

    svg: Any
    narrow: Any
    title: str
    caption: str
    downloads: dict[str, str]


def plans_of(result: Analysis) -> dict[str, Plan]:
    """The pictures of an analysis by name; those for which there is nothing to draw are left out.

    Parameters
    ----------
    result : Analysis
        What to draw.

    Returns
    -------
    dict of str to Plan
    """
    from rankwise.plots import (
        MeanRankDisplay,
        PairwisePreferenceDisplay,
        PositionHeatmapDisplay,
        RankingTreeDisplay,
        RankIntervalDisplay,
    )

    facts, spread, tree, groups = result.summary, result.consensus.bootstrap, result.tree, largest_groups(result.groups)
    many = facts.n_items > _MOST_ITEMS
    best = np.argsort(facts.mean_rank, kind="stable")[:_MOST_ITEMS]
    items = [facts.items[i] for i in best]
    shown = f" Shown are the best {_MOST_ITEMS} of {facts.n_items:,} items." if many else ""
    plans = {}
    if np.isfinite(facts.mean_rank).any():
        plans["mean-rank"] = Plan(
            "The further left, the better the item is ranked on average. The line is the range in which the mean rank "
            f"would lie if everybody had been asked, at a confidence of {100 * facts.level:g}%.{shown}",
            _in_words(facts.items, facts.mean_rank, "mean rank"),
            MeanRankDisplay(items, facts.mean_rank[best], facts.low[best], facts.high[best], level=facts.level).plot,
            fits_phone=True,
        )
    if spread is not None:
        first = np.argsort(spread.positions, kind="stable")[:_MOST_ITEMS]
        ends = (spread.positions[first], spread.low[first], spread.high[first])
        plans["places"] = Plan(
            "The dot is the place in the joint ranking, the bar its interval. Items whose bars do not overlap are "
            f"clearly apart.{shown}",
            _in_words(spread.items, spread.positions, "place", ".0f"),
            RankIntervalDisplay(*ends, [spread.items[i] for i in first], spread.level).plot,
            fits_phone=True,
        )
    if groups is not None:
        plans["by-group"] = Plan(
            f"Mean rank of each item in each group; further left is better. Lines are intervals.{shown}",
            "The numbers are in the table below.",
            MeanRankDisplay(
                items,
                groups.mean_rank[:, best],
                groups.low[:, best],
                groups.high[:, best],
                level=facts.level,
                groups=list(groups.groups),
            ).plot,
            fits_phone=True,
        )
    plans |= _plans_about_people(result)
    if not many:
        plans["all-places"] = Plan(
            "How often each item was put in each place. Each row adds up to 100%.",
            "A table of shares, one row per item and one column per place.",
            lambda ax: PositionHeatmapDisplay.from_rankings(result.rankings, ax=ax),
        )
    plans["pairs"] = Plan(
        "The share of rankings that put the item of the row above the item of the column. Blue: most do; orange: most "
        f"do not; gray: nobody compares the two.{shown}",
        "A table of shares, one row and one column per item.",
        lambda ax: PairwisePreferenceDisplay.from_rankings(
            result.rankings.select(items) if many else result.rankings, ax=ax
        ),
    )
    if tree is not None and tree.get_n_leaves() > 1:
        sample = ""
        if result.n_learned < facts.n_rankings:
            sample = f" The tree was grown on a random sample of {result.n_learned:,} rankings."
        plans["tree"] = Plan(
            "Read from left to right: where the condition in a box holds, follow the line upward, otherwise downward. "
            f"n is the number of rankings in a group; groups of one color share their first item.{sample}",
            "The same tree follows as text.",
            lambda ax: RankingTreeDisplay.from_estimator(tree, ax=ax),
        )
    return plans


def _plans_about_people(result: Analysis) -> dict[str, Plan]:
    """The pictures of groups, segments, drivers and raters."""
    from rankwise.plots import (
        DriversDisplay,
        FeatureEffectDisplay,
        GroupDifferenceDisplay,
        RaterMapDisplay,
        SegmentDisplay,
    )

    plans, many = {}, result.summary.n_items > _MOST_ITEMS
    test = result.group_comparison
    if test is not None and not many:
        plans["group-differences"] = Plan(
            "Left of the line: the group ranks the item better than the others do. A hollow dot may be chance.",
            "The numbers are in the table below.",
            lambda ax: GroupDifferenceDisplay.from_result(test, ax=ax),
            fits_phone=True,
        )
    found = result.segments
    if found is not None and found.n > 1:
        plans["segments"] = Plan(
            "Mean rank of each item in each segment. Blue: placed higher than all people do; orange: placed lower.",
            "The numbers are in the table below.",
            lambda ax: SegmentDisplay.from_result(found, ax=ax),
            fits_phone=found.n <= _MOST_NARROW,
        )
    driving = result.drivers
    if driving is not None:
        plans["drivers"] = Plan(
            "The further right, the more the predictions of rankings need the feature. A hollow dot may be chance.",
            "The numbers are in the table below.",
            lambda ax: DriversDisplay.from_result(driving, ax=ax),
            fits_phone=True,
        )
        if driving.significant and not many:
            feature = driving.features[driving.significant[0]]
            plans["driver-effect"] = Plan(
                "Expected place of each item at each value of the feature, all else equal; higher is better.",
                "The numbers follow as a table.",
                lambda ax: FeatureEffectDisplay.from_result(driving, feature, ax=ax),
                fits_phone=True,
            )
    raters = result.raters
    if raters is not None and np.isfinite(raters.coordinates).all(axis=1).sum() > 2:
        plans["raters"] = Plan(
            "The closer two points, the more alike their rankings.",
            "Who agrees with the joint ranking, and how much, is in the table below.",
            lambda ax: RaterMapDisplay.from_result(raters, ax=ax),
            fits_phone=True,
        )
    return plans


def draw_picture(name: str, plan: Plan) -> Picture:
    """Draw a picture for a page, without a window.

    Parameters
    ----------
    name : str
        Name of the files to download, without a suffix; it makes the ids of two pictures differ.
    plan : Plan
        What to draw.

    Returns
    -------
    Picture
    """
    import matplotlib.pyplot as plt
    from markupsafe import Markup

    from rankwise.plots.svg import inline_svg, svg_text

    with _page_style():
        display = plan.draw(None)
        figure = display.figure_
        files = {f"{name}.svg": _data_url("image/svg+xml", svg_text(figure, name).encode())}
        files[f"{name}.png"] = _data_url("image/png", _png(figure))
        figure.suptitle("")  # the page has a heading above the picture, and the files have none
        words = {"title": display.title, "description": plan.description}
        svg, narrow = inline_svg(figure, name, **words), ""
        width, height = figure.get_size_inches()
        plt.close(figure)
        if plan.fits_phone and width > _NARROW:
            figure, ax = plt.subplots(figsize=(_NARROW, height), layout="constrained")
            plan.draw(ax)
            narrow = inline_svg(figure, f"{name}-narrow", **words)
            plt.close(figure)
    small = {file: data for file, data in files.items() if len(data) <= _LARGEST_ATTACHMENT}
    # Made by Matplotlib, which escapes text.
    return Picture(Markup(svg), Markup(narrow), display.title, plan.caption, small)  # noqa: S704


def save_pictures(plans: Mapping[str, Plan], folder: str | os.PathLike[str], form: str) -> list[Path]:
    """Write pictures to files of a folder: their names, and the suffix of the form."""
    import matplotlib.pyplot as plt

    forms = ("png", "svg", "pdf")
    if form not in forms:
        raise ValueError(f"form is {form!r}; choose one of {', '.join(map(repr, forms))}")
    where = Path(folder)
    where.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, plan in plans.items():
        with _page_style():
            display = plan.draw(None)
            paths.append(where / f"{name}.{form}")
            display.save(paths[-1])
            plt.close(display.figure_)
    return paths


@contextmanager
def _page_style() -> Iterator[None]:
    """Draw without a window, in the colors of a page."""
    import matplotlib.pyplot as plt
    from matplotlib import rc_context

    from rankwise.plots.svg import PAGE_SETTINGS

    with warnings.catch_warnings(), plt.ioff(), rc_context(PAGE_SETTINGS):
        # Text stays text in the page, and the browser that shows it has more letters than the fonts here.
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        yield


def _png(figure: Any) -> bytes:
    """A picture for slides, in few colors, which takes a third of the space."""
    from PIL import Image

    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=_SLIDE_DPI, metadata={"Software": None})
    few = Image.open(file).convert("RGB").quantize(_N_COLORS, dither=Image.Dither.NONE)
    file = io.BytesIO()
    few.save(file, format="png", optimize=True, dpi=(_SLIDE_DPI, _SLIDE_DPI))
    return file.getvalue()


def _data_url(kind: str, content: bytes) -> str:
    return f"data:{kind};base64,{b64encode(content).decode()}"


def _in_words(items: Sequence[object], values: FloatArray, what: str, form: str = ".2f") -> str:
    """What a picture of items shows, for people who do not see it."""
    order = [i for i in np.argsort(values, kind="stable") if np.isfinite(values[i])]
    shown = [f"{short_name(items[i])} {values[i]:{form}}" for i in order[:_NAMED_IN_WORDS]]
    more = f", and {len(order) - len(shown):,} more" if len(order) > len(shown) else ""
    return f"{what.capitalize()} of each item, best first: {', '.join(shown)}{more}."
