"""The views of a survey: each calls `rankwise.analysis` and puts its result into blocks.

`show` is the one way in: a worker calls it with the stored files of a project. Nothing is computed here that the
library does not compute; the same calls stand in the code that the page offers (``code.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rankwise._decode import rule_in_words, rule_name
from rankwise._tables import TextTable, counted, short_name
from rankwise.analysis import consensus, summary
from rankwise.analysis.analyze import resamples_of
from rankwise.analysis.consensus_comparison import by_reason
from rankwise.data import Survey
from rankwise.studio import blocks
from rankwise.studio.blocks import Block, OnStep, Params, percent
from rankwise.studio.people_views import (
    drivers_view,
    groups_view,
    predict_view,
    raters_view,
    robustness_view,
    segments_view,
)
from rankwise.studio.surveys import data_view, notes, open_survey, without_advice

#: rules that stand beside each other if the page does not choose
RULES = ("kemeny", "borda", "copeland", "schulze", "ranked-pairs", "plurality", "instant-runoff")

# Pictures of more items show the best of them.
_MOST_ITEMS = 40
# A cell lists so many names of those who say so.
_MOST_NAMES = 50


def show(
    view: str, path: Path, name: str, options: Mapping[str, Any], params: Params, on_step: OnStep
) -> dict[str, Any]:
    """A view of a stored file.

    Parameters
    ----------
    view : str
        One of `VIEWS`, or "data".
    path : path-like
        Where the file is stored.
    name : str
        What the user calls it.
    options : mapping
        The options of the project: how to read the file, and the seed.
    params : mapping
        Parameters of the view.
    on_step : callable
        Told what happens next, and the share of the work that is done.

    Returns
    -------
    dict
        ``blocks``, and what else the page needs.
    """
    on_step("reading the file", 0.0)
    if view == "data":
        return data_view(path, name, options)
    if view == "groups":
        params = {**params, "by": params.get("by") or options.get("by")}
        options = {**options, "by": params["by"]}
    survey = open_survey(path, name, options)
    seed = int(options.get("seed") or 0)
    if view == "raters":  # those who are left out can come back
        params = {**params, "left_out": options.get("leave_out") or []}
    return VIEWS[view](survey, params, seed, on_step)


def _consensus(survey: Survey, params: Params, seed: int, on_step: OnStep) -> dict[str, Any]:
    """The joint ranking, how certain it is, mean ranks, and other rules beside it."""
    on_step("finding a consensus", 0.1)
    rule: Any = params.get("method") or "kemeny"
    n_resamples = resamples_of(survey.rankings)
    found = consensus(survey, rule, n_resamples=n_resamples, random_state=seed)
    on_step("counting", 0.6)
    facts = summary(survey)
    standing = 1 + (found.positions < found.positions[:, np.newaxis]).sum(axis=1)
    order = np.argsort(standing, kind="stable")
    first = [short_name(found.items[i]) for i in order if standing[i] == 1]
    together = " and ".join(first[:3]) + (" and others" if len(first) > 3 else "")
    verb = "share the first place" if len(first) > 1 else "comes first"
    shown: list[Block] = [blocks.text(f"{together} {verb}{_doubt(found, first)}.", "lead")] if first else []
    about_means = [note for note in notes(found) if note["text"].startswith("Mean ranks")]
    shown += [note for note in notes(found) if note not in about_means]
    if found.bootstrap is None and len(first) == 1:
        shown.append(blocks.text("Robustness says how many votes would change who comes first.", "note"))
    shown += blocks.texts((f"{tie[:1].upper()}{tie[1:]}." for tie in found.ties), "warning")
    joint = [(int(standing[i]), short_name(found.items[i])) for i in order[:_MOST_ITEMS]]
    shown.append(blocks.places(joint, f"By {rule_in_words(rule_name(rule))}. {_proof(found)}".strip()))
    best = next((facts.items.index(found.items[i]) for i in order), 0)
    tiles = [("First place", " and ".join(first[:2]) + (" …" if len(first) > 2 else ""), "a tie" * (len(first) > 1))]
    if len(first) == 1 and np.isfinite(facts.mean_rank[best]):
        tiles.append(("Mean rank", f"{facts.mean_rank[best]:.2f}", f"of {first[0]}"))
        tiles.append(("Named it first", f"{facts.top1[best]:.0%}", "of those who ranked it"))
    if np.isfinite(facts.kendalls_w):
        tiles.append(("Agreement", f"{facts.kendalls_w:.2f}", "0: none, 1: all agree (Kendall's W)"))
    shown.append(blocks.tiles(*tiles))
    shown += [blocks.section("mean-ranks-section", "Mean rank and first choices"), *blocks.texts(facts.highlights[:1])]
    shown += [*about_means, _mean_rank_chart(facts)]
    shown.append(blocks.table("ranks", facts.ranks_table()._replace(title="Mean ranks")))
    spread = found.bootstrap
    if spread is not None:
        by_place = np.argsort(spread.positions, kind="stable")[:_MOST_ITEMS]
        ends = (spread.positions[by_place], spread.low[by_place], spread.high[by_place])
        drawn = blocks.dots(
            [spread.items[i] for i in by_place],
            *ends,
            axis="place",
            ends=(1, len(spread.items)),
            form=".0f",
        )
        caption = (
            "The dot is the place in the joint ranking, the bar its interval: places that the item could take if "
            f"other people of the same kind were asked, at a confidence of {100 * spread.level:g}%."
        )
        shown += [
            blocks.section("certainty-section", "How certain are the places?"),
            blocks.chart("places", "Places and their intervals", caption, drawn),
        ]
    joint_table = found.ranking_table()._replace(title="The joint ranking", note="")  # the notes stand above
    shown.append(blocks.table("joint", joint_table, folded=True))
    on_step("comparing rules", 0.8)
    rules = params.get("methods") or list(RULES if len(facts.items) <= 100 else RULES[:3])
    if len(rules) > 1:
        beside = consensus(survey, rules, random_state=seed)
        shown.append(blocks.section("rules-section", "Would another rule change the ranking?"))
        shown += blocks.texts(beside.sentences)
        shown += blocks.texts((_refusal(rules, why) for rules, why in by_reason(beside.refused)), "note")
        shown.append(blocks.table("rules", beside.places_table()._replace(title="Places by rule")))
        shown += [blocks.table("refused", beside.words_table(), folded=True)] if beside.refused else []
    shown.append(blocks.section("agreement-section", "How much people agree"))
    shown.append(blocks.text(facts.concordance.sentence))
    numbers = TextTable("Agreement in numbers", "", ["", ""], [*facts.concordance.rows(), *found.quality_table().rows])
    shown.append(blocks.table("agreement", numbers, folded=True))
    used = {"method": rule, "methods": list(rules), "n_resamples": n_resamples}
    return {"blocks": shown, "method": rule, "methods": list(rules), "used": used}


def _refusal(rules: list[str], why: str) -> str:
    """Why some rules are not in the table."""
    reason, _, advice = without_advice(why).partition(". If a blank")
    named = ", ".join(rule_in_words(rule) for rule in rules)
    more = ' They are shown if a blank cell means "below those that are ranked": choose that in Data.' if advice else ""
    return f"Not shown: {named} ({reason.replace(' (NaN: missing)', '')}).{more}"


def _doubt(found: Any, first: list[str]) -> str:
    """Who else could come first, as far as the intervals tell."""
    spread = found.bootstrap
    if spread is None or len(first) != 1:
        return ""
    others = [short_name(item) for item, low in zip(spread.items, spread.low, strict=True) if low <= 1]
    others = [name for name in others if name not in first]
    if not others:
        return f", at a confidence of {100 * spread.level:g}%"
    some = " or ".join(others[:3]) if len(others) <= 3 else f"{', '.join(others[:3])} and {len(others) - 3} more"
    return f", but {some} could come first as well if other people were asked"


def _proof(found: Any) -> str:
    """Whether the ranking is known to be the best, in a sentence."""
    row = next((row for row in found.quality_table().rows if row[0] == "proof"), None)
    if row is None:
        return ""
    words = row[1].replace("optimal: no ranking costs less", "proven: no order contradicts the answers less")
    words = words.replace("rankings cost the same", "orders do equally well").replace(
        "no other ranking does", "no other does"
    )
    return f"{words[:1].upper()}{words[1:]}."


def _mean_rank_chart(facts: Any) -> Block:
    order = np.argsort(facts.mean_rank, kind="stable")[:_MOST_ITEMS]
    ends = [values[order] for values in (facts.mean_rank, facts.low, facts.high)]
    more = f" Shown are the best {_MOST_ITEMS} of {len(facts.items):,}." if len(facts.items) > _MOST_ITEMS else ""
    caption = (
        "The further left, the better the item is ranked on average. The line is the range in which the mean rank "
        f"would lie if everybody had been asked, at a confidence of {100 * facts.level:g}%.{more}"
    )
    drawn = blocks.dots([facts.items[i] for i in order], *ends, axis="mean rank", ends=(1, len(facts.items)))
    return blocks.chart("mean-rank", "Mean rank of each item", caption, drawn)


def _pairs(survey: Survey, params: Params, seed: int, on_step: OnStep) -> dict[str, Any]:
    """Which of two items people prefer, and how often each item was put in each place."""
    facts = summary(survey)
    order = np.argsort(facts.mean_rank, kind="stable")[:_MOST_ITEMS]
    items, pairs = [facts.items[i] for i in order], facts.pairs
    wins = pairs.wins[np.ix_(order, order)] + pairs.ties[np.ix_(order, order)] / 2
    total, n = pairs.comparisons[np.ix_(order, order)], pairs.n[np.ix_(order, order)]
    with np.errstate(invalid="ignore"):
        share = np.where(total > 0, wins / total, np.nan)
    np.fill_diagonal(share, np.nan)
    hints = [
        [
            ""
            if a == b
            else f"{percent(share[a, b])} put {_name(items[a])} before {_name(items[b])}; {n[a, b]:.10g} compare them"
            for b in range(len(items))
        ]
        for a in range(len(items))
    ]
    lead = _clearest_and_closest(items, share)
    more = f" Shown are the best {_MOST_ITEMS} of {len(facts.items):,}." if len(facts.items) > _MOST_ITEMS else ""
    numbers = [survey.rankings.items.index(item) for item in items]  # by which a cell is asked for
    drawn = blocks.heatmap(items, items, share, hints, scale="diverging", cell="pair", items=numbers)
    caption = (
        "The share of people who put the item of the row before the item of the column; a tie counts half. Blue: most "
        f"do; orange: most do not. Choose a cell to see who.{more}"
    )
    shown = [blocks.text(lead, "lead"), blocks.chart("pairs", "Item against item", caption, drawn)]
    marginals = facts.marginals[order]
    if len(facts.items) <= _MOST_ITEMS:
        hints = [
            [f"{percent(marginals[i, p])} put {_name(item)} in place {p + 1}" for p in range(marginals.shape[1])]
            for i, item in enumerate(items)
        ]
        drawn = blocks.heatmap(items, range(1, marginals.shape[1] + 1), marginals, hints, cell="place", items=numbers)
        caption = "How often each item was put in each place, in percent of a row. Choose a cell to see who."
        shown.append(blocks.chart("all-places", "All places", caption, drawn))
        shown.append(
            blocks.table(
                "all-places-table", facts.marginals_table()._replace(title="All places in numbers"), folded=True
            )
        )
    shown.append(blocks.table("pair-facts", pairs.table()._replace(title="Pairs in numbers"), folded=True))
    return {"blocks": shown}


def _clearest_and_closest(items: list[Any], share: Any) -> str:
    """On which pair people agree most, and on which least."""
    majority = np.where(np.isfinite(share) & (share >= 0.5), share, np.nan)
    if not np.isfinite(majority).any():
        return "Nobody compares two items."
    a, b = np.unravel_index(np.nanargmax(majority), majority.shape)
    c, d = np.unravel_index(np.nanargmin(majority), majority.shape)
    clearest, closest = majority[a, b], majority[c, d]
    words = f"{_the_pair('clearest', majority, clearest)}: {percent(clearest)} put {_name(items[a])} before "
    words = f"{words}{_name(items[b])}."
    if (a, b) == (c, d):
        return words
    lead = _the_pair("most evenly divided", majority, closest)
    return f"{words} {lead}: {percent(closest)} put {_name(items[c])} before {_name(items[d])}."


def _the_pair(which: str, majority: Any, share: float) -> str:
    """How to name a pair of which there may be others, to the digits that are shown."""
    others = np.isfinite(majority) & (np.round(majority, 2) == np.round(share, 2)) & ~(np.isclose(majority, 0.5))
    return f"One of the {which} pairs" if others.sum() > 1 else f"The {which} pair"


def _cell(survey: Survey, params: Params, seed: int, on_step: OnStep) -> dict[str, Any]:
    """Who says so: those who put one item before another, or in a place."""
    positions = survey.rankings.positions
    if "b" in params:
        a, b = (_item(survey, params[key]) for key in ("a", "b"))
        x, y = positions[:, a], positions[:, b]
        titles = [_name(survey.rankings.items[i]) for i in (a, b)]
        is_tied = x == y
        parts = [(f"{titles[0]} before {titles[1]}", x < y), (f"{titles[1]} before {titles[0]}", y < x)]
        parts += [("tied", is_tied), ("not compared", ~(np.isfinite(x) & np.isfinite(y)))]
        heading = f"{titles[0]} and {titles[1]}"
    else:
        i, place = _item(survey, params["item"]), int(params["place"])
        midranks = survey.rankings.midranks()[:, i]
        in_place, is_tied = np.floor(midranks + 0.5) == place, np.zeros(len(midranks), dtype=bool)
        heading = f"{_name(survey.rankings.items[i])} in place {place}"
        parts = [(heading, in_place), ("another place", ~in_place & np.isfinite(midranks))]
        parts.append(("not ranked", ~np.isfinite(midranks)))
    # Shares are those of the picture: of the people who say something of it, which the last part does not.
    weights, silent = survey.rankings.weights, len(parts) - 1
    total = sum(weights[who].sum() for _, who in parts[:silent])
    groups = survey.groups()
    columns = ["", "people", "share", *map(short_name, groups)]
    rows = [
        [
            title,
            f"{int(who.sum()):,}",
            "" if number == silent else percent(weights[who].sum() / total),
            *(f"{int(who[members].sum()):,}" for members in groups.values()),
        ]
        for number, (title, who) in enumerate(parts)
        if who.any()
    ]
    note = "Shares are weighted. " if len(np.unique(weights)) > 1 else ""
    note += "The picture counts a tie half." if is_tied.any() else ""
    shown = [blocks.table("cell", TextTable(heading, note.strip(), columns, rows))]
    who = survey.names if survey.names is not None else survey.id
    if who is not None:
        for number, (title, chosen) in enumerate(parts):
            names = [str(name) for name in who[chosen][:_MOST_NAMES]]
            more = f" and {int(chosen.sum()) - len(names):,} more" if chosen.sum() > len(names) else ""
            shown += [blocks.text(f"{title}: {', '.join(names)}{more}.")] if names and number < 3 else []
    return {"blocks": shown}


def _downloads(survey: Survey, params: Params, seed: int, on_step: OnStep) -> dict[str, Any]:
    """What can be taken away; the code comes from ``code.py``."""
    words = f"{counted(len(survey.rankings), 'ranking')} of {counted(survey.rankings.n_items, 'item')}."
    return {"blocks": [blocks.text(words, "lead")]}


#: the views of a survey that was read
VIEWS: dict[str, Callable[[Survey, Params, int, OnStep], dict[str, Any]]] = {
    "consensus": _consensus,
    "pairs": _pairs,
    "cell": _cell,
    "groups": groups_view,
    "segments": segments_view,
    "drivers": drivers_view,
    "predict": predict_view,
    "raters": raters_view,
    "robustness": robustness_view,
    "downloads": _downloads,
}


def _item(survey: Survey, number: Any) -> int:
    """The number of an item, which the picture gave to the page."""
    if type(number) is not int or not 0 <= number < survey.rankings.n_items:
        raise ValueError(f"there is no item {number!r}; items have the numbers 0 to {survey.rankings.n_items - 1}")
    return number


def _name(item: object) -> str:
    return short_name(item)
