"""The sections of a report about people: known groups, segments, what drives rankings, and who disagrees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankwise._tables import counted, short_name
from rankwise.analysis.by_group import largest_groups
from rankwise.analysis.report_parts import Part, Section, drawn
from rankwise.analysis.report_pictures import Plan

if TYPE_CHECKING:
    from rankwise.analysis.analysis import Analysis


def group_section(result: Analysis, plans: dict[str, Plan]) -> Section | None:
    """Whether known groups rank differently, and where; mean ranks side by side."""
    groups, test = largest_groups(result.groups), result.group_comparison
    if groups is None:
        return _missing_section(result, "group_comparison", "Do groups differ?")
    sentences = [*groups.sentences[:1], *(groups.sentences[1:] if test is None else test.sentences[1:])]
    if "group_comparison" in result.missing:
        reason = result.missing["group_comparison"].rstrip(".")
        sentences.append(f"Whether that is more than chance was not tested: {reason}.")
    lead, others = (sentences[0], sentences[1:]) if test is None else (test.sentences[0], sentences)
    parts = [Part("", " ".join(others), drawn("by-group", plans), groups.mean_table())]
    if test is not None:
        items = test.items.tables()[0]
        pairs = [] if test.pairs is None else test.pairs.tables()
        parts.append(Part("Which items differ", "", drawn("group-differences", plans), items, folded=True))
        parts += [Part("Which pairs of items differ", table=table, folded=True) for table in pairs]
        parts.append(Part("The tests in numbers", table=test.test_table()._replace(note=""), folded=True))
    return Section("by-group", f"By group: {short_name(groups.by)}", lead, parts)


def segment_section(result: Analysis, plans: dict[str, Plan]) -> Section | None:
    """Segments of people who rank alike, if there are several."""
    found = result.segments
    if found is None:
        return _missing_section(result, "segments", "Are there segments?")
    first, *others = found.sentences
    if found.n == 1:
        table = found.criteria_table()
        return Section("segments", "Are there segments?", first, [Part(table.title, table=table, folded=True)])
    parts = [Part(lines=tuple(others)), Part("", "", drawn("segments", plans), found.item_table())]
    parts.append(Part("Sizes of the segments", table=found.size_table()._replace(note=""), folded=True))
    if found.membership is not None:
        told = " ".join(others)  # the sentences of a table are not told again
        for table in found.membership.tables():
            shown = table._replace(note="") if table.note in told else table
            parts.append(Part("Who is in which segment", table=shown, folded=True))
    table = found.criteria_table()
    notes = tuple(f"{note[:1].upper()}{note[1:]}." for note in found.notes)
    parts.append(Part(table.title, table=table, lines=notes, folded=True))
    return Section("segments", "Segments: who ranks alike", first, parts)


def driver_section(result: Analysis, plans: dict[str, Plan]) -> Section | None:
    """Which features drive the rankings, and how places change with the most important of them."""
    found = result.drivers
    if found is None:
        return _missing_section(result, "drivers", "What drives the rankings")
    first, *others = found.sentences
    compared = result.group_comparison
    if compared is not None and compared.differ and not len(found.significant):
        others.append(
            f"The test by group looks at {short_name(compared.by)} alone, and can find a difference that is too small "
            "for this one."
        )
    parts = [
        Part(
            "", " ".join(others), drawn("drivers", plans), found.importance_table()._replace(title="Features", note="")
        )
    ]
    if found.significant:
        name = short_name(found.features[found.significant[0]])
        parts.append(Part(f"How places change with {name}", "", drawn("driver-effect", plans)))
    parts += [
        Part(table.title, table=table, folded=True)
        for table in [*(found.effect_table(f) for f in found.significant[:3]), found.method_table()]
    ]
    return Section("drivers", "What drives the rankings", first, parts)


def _missing_section(result: Analysis, name: str, title: str) -> Section | None:
    """Why a section has nothing to show; None if it does not apply."""
    reason = result.missing.get(name)
    return None if reason is None else Section(name, title, f"This was not done: {reason.rstrip('.')}.", [])


def robustness_section(result: Analysis) -> Section | None:
    """Whether the winner hangs on single votes, groups or items."""
    found = result.robustness
    if not result.pairs.wins.any():
        return None
    if found is None:
        return _missing_section(result, "robustness", "How robust is the winner?")
    first, *others = found.sentences
    margins, *tables = found.tables()
    if result.raters is None:  # votes without a name say nothing one by one
        margins = margins._replace(columns=margins.columns[:-1], rows=[row[:-1] for row in margins.rows])
        tables = [table for table in tables if table.title != "Influence of each vote"]
    parts = [Part(lines=tuple(others)), Part(margins.title, table=margins._replace(note=""), folded=True)]
    parts += [Part(table.title, table=table, folded=True) for table in tables]
    return Section("robustness", "How robust is the winner?", first, parts)


def disagreement_section(result: Analysis, plans: dict[str, Plan]) -> Section | None:
    """Who ranks differently: named people one by one, or the groups of the tree."""
    raters, tree = result.raters, result.tree
    parts, leads = [], []
    if raters is not None:
        first, *others = raters.sentences
        leads.append(first)
        if result.robustness is not None and raters.winners_without is not None:
            others = others[:-1]  # the robustness of the winner has a section of its own
        table, *more = raters.tables()
        parts += [
            Part(lines=tuple(others)),
            Part("", "", drawn("raters", plans), table._replace(title="People one by one")),
        ]
        parts += [Part(other.title, table=other._replace(note=""), folded=True) for other in more]
    if tree is not None and tree.get_n_leaves() > 1:
        leads.append(
            f"The rankings differ between groups: the tree finds {counted(tree.get_n_leaves(), 'group')} that differ "
            "most, and shows the joint ranking of each."
        )
        parts.append(Part(picture=drawn("tree", plans)))
        parts.append(Part("The same tree as text", code=tuple(result.tree_lines()), folded=True))
    elif tree is not None:
        leads.append(result.no_split)
    return Section("differences", "Who disagrees", " ".join(leads), parts) if leads else None
