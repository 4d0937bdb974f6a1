"""The sections of a report about people: groups that are known, and who disagrees."""

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
        return None
    sentences = [*groups.sentences[:1], *(groups.sentences[1:] if test is None else test.sentences[1:])]
    lead, others = (sentences[0], sentences[1:]) if test is None else (test.sentences[0], sentences)
    parts = [Part("", " ".join(others), drawn("by-group", plans), groups.mean_table())]
    if test is not None:
        items, *pairs = [
            *test.item_differences.tables(),
            *([] if test.pair_differences is None else test.pair_differences.tables()),
        ]
        parts.append(Part("Which items differ", "", drawn("group-differences", plans), items, folded=True))
        parts += [Part("Which pairs of items differ", table=table, folded=True) for table in pairs]
        parts.append(Part("The tests in numbers", table=test.test_table()._replace(note=""), folded=True))
    return Section("by-group", f"By group: {short_name(groups.by)}", lead, parts)


def disagreement_section(result: Analysis, plans: dict[str, Plan]) -> Section | None:
    """Who ranks differently: named people one by one, or the groups of the tree."""
    raters, tree = result.raters, result.tree
    parts, leads = [], []
    if raters is not None:
        leads.append(raters.sentence)
        parts += [Part(table=table) for table in raters.tables()]
    if tree is not None and tree.get_n_leaves() > 1:
        leads.append(
            f"The rankings differ between groups: the tree finds {counted(tree.get_n_leaves(), 'group')} that differ "
            "most, and shows the joint ranking of each."
        )
        parts.append(Part(picture=drawn("tree", plans)))
        parts.append(Part("The same tree as text", code=tuple(result.tree_lines()), folded=True))
    elif tree is not None:
        leads.append("None of the recorded features separates groups that rank differently.")
    return Section("differences", "Who disagrees", " ".join(leads), parts) if leads else None
