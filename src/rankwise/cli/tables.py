"""The results as tables of text: the terminal and the report show the same."""

from __future__ import annotations

from rankwise.cli.console import TextTable
from rankwise.cli.description import description_table
from rankwise.cli.quickstart import Quickstart

_LONGEST_LINE = 160


def tables_of(result: Quickstart) -> list[TextTable]:
    """The tables of a quickstart, in reading order."""
    return [
        description_table(result.data, result.description),
        _consensus(result),
        _agreement(result),
        _baselines(result),
    ]


def tree_lines(result: Quickstart) -> list[str]:
    """The tree as text, long lists of items cut; empty if there is no tree."""
    return [_cut(line) for line in result.tree.splitlines()]


def tree_note(result: Quickstart) -> str:
    """What the tree shows, in a sentence."""
    if result.fitted_tree is not None and result.fitted_tree.get_n_leaves() == 1:
        return "none: no condition on the features does better than one consensus for all, in cross-validation"
    note = "conditions on the features, and the consensus of the rankings that meet them"
    if result.n_learned < result.description.n_rankings:
        note += f"; of a sample of {result.n_learned:,} rankings"
    return note


# ---------------------------------------------------------------------------------------------------------------


def _consensus(result: Quickstart) -> TextTable:
    rows = [[str(s.position), s.item, f"{s.mean_rank:.2f}", f"{s.share_beaten:.1%}"] for s in result.consensus]
    columns = ["position", "item", "mean rank", "opponents beaten"]
    note = "by Borda's rule, best first"
    if result.never_compared:
        note += f"; no ranking compares {', '.join(result.never_compared)} with another item"
    return TextTable("Consensus", note, columns, rows)


def _agreement(result: Quickstart) -> TextTable:
    facts = result.agreement
    each_other = "rankings to each other"
    if facts.n_compared < result.description.n_rankings:
        each_other += f" (a sample of {facts.n_compared:,})"
    rows = [["rankings to the consensus", _distance(facts.to_consensus)], [each_other, _distance(facts.to_each_other)]]
    note = "mean Kendall distance: 0 is the same order, 1 the reverse"
    return TextTable("Agreement", note, ["", ""], rows)


def _baselines(result: Quickstart) -> TextTable:
    columns = ["predictor", "mean tau", "standard deviation"]
    if not result.baselines:
        return TextTable("Baselines", result.baselines_left_out, columns, [])
    note = f"Kendall tau in {result.n_folds}-fold cross-validation: 1 is perfect, 0 is chance, -1 the reverse"
    if result.n_learned < result.description.n_rankings:
        note += f"; on a sample of {result.n_learned:,} rankings"
    if result.baselines_left_out:
        note += f"; {result.baselines_left_out}"
    rows = [[b.name, f"{b.tau:z.3f}", f"{b.tau_sd:.3f}"] for b in result.baselines]
    return TextTable("Baselines", note, columns, rows)


def _distance(value: float | None) -> str:
    return "nothing to compare" if value is None else f"{value:.3f}"


def _cut(line: str) -> str:
    """A line of moderate length that keeps the size of its leaf."""
    if len(line) <= _LONGEST_LINE:
        return line
    words, _, size = line.rpartition("  (")
    return f"{words[:_LONGEST_LINE]} ...  ({size}"
