"""The sections of a report: for each a sentence in plain words, a picture, a table, and what is folded away.

A section that does not apply is left out. `rankwise.analysis.report` makes a page of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from rankwise._tables import TextTable, counted, short_name
from rankwise._typing import IntArray
from rankwise.analysis.report_parts import Part, Section, drawn
from rankwise.analysis.report_people import (
    disagreement_section,
    driver_section,
    group_section,
    robustness_section,
    segment_section,
)
from rankwise.analysis.report_pictures import Plan, plans_of

if TYPE_CHECKING:
    from rankwise.analysis.analysis import Analysis
    from rankwise.analysis.consensus_result import ConsensusResult

_KINDS = {
    "full": "Each puts all items in order.",
    "tied": "Some give several items the same place.",
    "top-k": "Some list only the best items; the others count as below these.",
    "incomplete": "Some leave items out; an item that is left out is not compared with the others.",
}


# More pairs than this fill a sheet that nobody reads.
_MOST_PAIRS = 50_000


def sections_of(result: Analysis, advice: Callable[[str], str] = str) -> list[Section]:
    """The sections that apply, in reading order, without the findings before them and the method after them.

    Parameters
    ----------
    result : Analysis
        What to report.
    advice : callable, default=str
        Puts advice to the author of the report into words that he or she can follow; Python's by default.

    Returns
    -------
    list of Section
    """
    plans = plans_of(result)
    made = [
        _data(result, advice),
        _results(result, plans),
        _rules(result),
        _agreement(result),
        robustness_section(result),
        group_section(result, plans),
        segment_section(result, plans),
        driver_section(result, plans),
        disagreement_section(result, plans),
        _models(result),
    ]
    return [section for section in made if section is not None]


def all_tables(result: Analysis) -> list[TextTable]:
    """All tables of an analysis, for a workbook."""
    facts, pairs = result.summary, result.pairs
    tables = [
        TextTable("Key findings", "", [""], [[line] for line in result.highlights]),
        facts.ranks_table()._replace(title="Mean ranks"),
        _joint_table(result.consensus),
        facts.marginals_table()._replace(title="All places"),
    ]
    if pairs.n_pairs <= _MOST_PAIRS:
        tables.append(_pairs_table(result))
    rows = [*facts.concordance.rows(), *result.quality_table().rows]
    tables.append(TextTable("Agreement", facts.concordance.sentence, ["", ""], rows))
    tables += [table for part in result.about_people() for table in part.tables()]
    if result.leaderboard is not None:
        tables.append(result.leaderboard_table()._replace(title="Models"))
    if result.tree is not None and result.tree.get_n_leaves() > 1:
        tables.append(TextTable("Tree", "", [""], [[line] for line in result.tree.export_text().splitlines()]))
    if result.survey is not None and result.survey.reading is not None:
        tables += [result.survey.table()._replace(title="How the file was read"), *result.survey.check.tables()]
    made = [["made on", result.made_on.isoformat()], ["seed", str(result.seed)], *map(list, result.versions.items())]
    return [*tables, facts.data_table()._replace(title="Data"), TextTable("Made by", "", ["", ""], made)]


def _pairs_table(result: Analysis) -> TextTable:
    """Which of two items is put before the other, and how often."""
    pairs = result.pairs
    rows = []
    for i, j in zip(*np.triu_indices(len(pairs.items), 1), strict=True):
        n = float(pairs.comparisons[i, j])
        weights = (pairs.wins[i, j], pairs.wins[j, i], pairs.ties[i, j])
        shares = [f"{100 * weight / n:.1f}%" if n else "" for weight in weights]
        rows.append([short_name(pairs.items[i]), short_name(pairs.items[j]), f"{pairs.n[i, j]:.10g}", *shares])
    return TextTable("Pairs", "", ["first", "second", "rankings", "first is before", "second is before", "tied"], rows)


def joint_places(found: ConsensusResult) -> IntArray:
    """Places as people write them: 1, 1, 3."""
    places: IntArray = 1 + (found.positions < found.positions[:, np.newaxis]).sum(axis=1)
    return places


def _data(result: Analysis, advice: Callable[[str], str]) -> Section:
    """What was analyzed, and how it was understood."""
    facts, survey = result.summary, result.survey
    lead = f"The report is based on {counted(facts.n_rankings, 'ranking')} of {counted(facts.n_items, 'item')}."
    lead += f" {_KINDS[facts.kind]}" if facts.n_rankings > 1 else ""
    parts, title = [], "The data"
    if survey is not None and survey.reading is not None:
        title = "How the data were understood"
        # The columns, and why these: below, for who wants to know.
        lines = [line for line in survey.reading.lines()[1:] if line != survey.reading.reason]
        # Of items that are left out the first sentence speaks already.
        lines = [advice(line) for line in lines if not line.startswith("Blanks are missing")]
        if survey.n_empty:
            lines.insert(0, f"Not counted: {counted(survey.n_empty, 'person', 'people')} who ranked nothing.")
        parts += [Part(lines=tuple(lines))]
        parts += [Part("Data check", table=table) for table in survey.check.tables() if table.rows]
    # A row that says "none" says nothing to the reader of a report.
    counts = [row for row in facts.data_table().rows if row[1] != "none" and row[0] != "kind"]
    numbers = TextTable("The data in numbers", "", ["", ""], counts)
    notes = facts.notes if survey is None else survey.more_notes
    parts += [Part(lines=tuple(f"{note[:1].upper()}{note[1:]}." for note in notes))]
    if survey is not None and survey.reading is not None:
        rows = [[name, advice(words)] for name, words in survey.table().rows]
        columns = TextTable("What each column is used for", "", ["", ""], rows)
        parts += [Part(columns.title, table=columns, folded=True)]
    parts += [Part(numbers.title, table=numbers, folded=True)]
    return Section("data", title, lead, parts)


def _results(result: Analysis, plans: dict[str, Plan]) -> Section:
    facts, found, spread = result.summary, result.consensus, result.consensus.bootstrap
    parts = []
    if np.isfinite(facts.mean_rank).any():
        parts.append(Part("Mean rank and first choices", "", drawn("mean-rank", plans), facts.ranks_table()))
    words = "The joint ranking is the order that contradicts as few pairwise preferences as possible (Kemeny's rule)."
    if spread is not None:
        words += (
            " The interval says which places an item could take if the survey were repeated with other respondents of "
            f"the same kind, at a confidence of {100 * spread.level:g}%."
        )
    parts.append(Part("The joint ranking, and how certain it is", words, drawn("places", plans), _joint_table(found)))
    for name, title in (("all-places", "All places"), ("pairs", "Item against item")):
        parts += [Part(title, picture=drawn(name, plans), folded=True)] if name in plans else []
    return Section("results", "Results", " ".join(facts.highlights[:1]), parts)


def _joint_table(found: ConsensusResult) -> TextTable:
    """The joint ranking as people write it."""
    places = joint_places(found)
    order = np.argsort(places, kind="stable")
    columns = {"place": [str(places[i]) for i in order], "item": [short_name(found.items[i]) for i in order]}
    if found.bootstrap is not None:
        columns[f"{100 * found.bootstrap.level:g}% interval"] = [found.bootstrap.intervals[i] for i in order]
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    notes = [f"{note[:1].upper()}{note[1:]}." for note in (*found.not_counted, *found.notes)]
    if found.never_compared:
        never = ", ".join(map(short_name, found.never_compared))
        notes.insert(0, f"Nobody compares {never} with another item, so it has no place.")
    return TextTable("The joint ranking", " ".join(notes), list(columns), rows)


def _rules(result: Analysis) -> Section | None:
    """Whether another rule would give another winner."""
    comparison = getattr(result, "comparison", None)
    if comparison is None or len(comparison.results) < 2 or not result.pairs.wins.any():
        return None
    first, *others = comparison.sentences
    table = comparison.places_table()
    return Section(
        "rules", "Would another rule change the ranking?", first, [Part(words=" ".join(others), table=table)]
    )


def _agreement(result: Analysis) -> Section | None:
    if not result.pairs.wins.any():
        return None
    found, agree, facts = result.consensus, result.agreement, result.summary
    words = ""
    if agree.to_each_other is not None:
        words = (
            f"Two rankings picked at random put {1 - agree.to_each_other:.0%} of the pairs of items in the same order; "
            "if everybody answered at random, it would be half of them. "
        )
    words += (
        f"The joint ranking agrees with {1 - found.cost / found.comparisons:.0%} of all preferences between two items."
    )
    rows = [*facts.concordance.rows(), *result.quality_table().rows, *result.pairs.table().rows]
    table = TextTable("Agreement in numbers", "", ["", ""], rows)
    parts = [Part(words=words), Part(table.title, table=table, folded=True)]
    return Section("agreement", "How much people agree", facts.concordance.sentence, parts)


def _models(result: Analysis) -> Section | None:
    """Which model predicts best: the last section, folded."""
    if result.leaderboard is None:
        return None
    lead = "For analysts: how well can the ranking of a new person be predicted from the recorded features?"
    part = Part("Comparison of models", result.best_model, table=result.leaderboard_table(), folded=True)
    return Section("models", "Which model predicts best", lead, [part])
