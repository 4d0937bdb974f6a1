"""The results as tables of text: the terminal and the report show the same."""

from __future__ import annotations

from typing import NamedTuple

from rankwise.cli.quickstart import Quickstart

_MOST_FEATURES = 6


class TextTable(NamedTuple):
    """A titled table whose cells are ready to be shown (and not yet escaped)."""

    title: str
    note: str
    columns: list[str]
    rows: list[list[str]]


def tables_of(result: Quickstart) -> list[TextTable]:
    """The tables of a quickstart, in reading order."""
    return [_description(result), _consensus(result), _agreement(result), _baselines(result)]


# ---------------------------------------------------------------------------------------------------------------


def _description(result: Quickstart) -> TextTable:
    facts = result.description
    features = ", ".join(facts.features[:_MOST_FEATURES]) + (", ..." if facts.n_features > _MOST_FEATURES else "")
    rows = [
        ["rankings", f"{facts.n_rankings:,} ({facts.n_distinct:,} distinct)"],
        ["items", f"{facts.n_items:,}"],
        ["kind", facts.kind],
        ["with ties", _count(facts.n_with_ties, facts.n_rankings)],
        ["with unlisted items", _count(facts.n_with_unlisted, facts.n_rankings)],
        ["with missing items", _count(facts.n_with_missing, facts.n_rankings)],
        ["features", f"{facts.n_features:,}: {features}"],
    ]
    return TextTable(f"Data: {result.data}", "", ["", ""], rows)


def _consensus(result: Quickstart) -> TextTable:
    rows = [[str(s.position), s.item, f"{s.mean_rank:.2f}", f"{s.share_beaten:.1%}"] for s in result.consensus]
    columns = ["position", "item", "mean rank", "opponents beaten"]
    return TextTable("Consensus", "by Borda's rule, best first", columns, rows)


def _agreement(result: Quickstart) -> TextTable:
    facts = result.agreement
    each_other = "rankings to each other"
    if facts.n_compared < result.description.n_rankings:
        each_other += f" (a sample of {facts.n_compared:,})"
    rows = [["rankings to the consensus", f"{facts.to_consensus:.3f}"], [each_other, f"{facts.to_each_other:.3f}"]]
    note = "mean Kendall distance: 0 is the same order, 1 the reverse"
    return TextTable("Agreement", note, ["", ""], rows)


def _baselines(result: Quickstart) -> TextTable:
    note = f"Kendall tau, {result.n_folds}-fold cross-validation: 1 is perfect, 0 is chance, -1 the reverse"
    if result.n_learned < result.description.n_rankings:
        note += f"; on a sample of {result.n_learned:,} rankings"
    if result.description.n_with_missing:
        note += "; the regressors of scikit-learn need rankings without missing items, so they are left out"
    rows = [[b.name, f"{b.tau:.3f}", f"± {b.tau_sd:.3f}"] for b in result.baselines]
    return TextTable("Baselines", note, ["predictor", "tau", "over folds"], rows)


def _count(number: int, total: int) -> str:
    return f"{number:,} ({number / total:.0%})" if number else "none"
