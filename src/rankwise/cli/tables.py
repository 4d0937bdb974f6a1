"""The results as tables of text: the terminal and the report show the same."""

from __future__ import annotations

from rankwise.cli.analysis import Analysis
from rankwise.cli.consensus import consensus_tables
from rankwise.cli.console import TextTable, with_short_names
from rankwise.cli.description import description_table
from rankwise.cli.leaderboard import leaderboard_table

_LONGEST_LINE = 160


def tables_of(result: Analysis) -> list[TextTable]:
    """The tables of an analysis, in reading order: data, consensus, how good it is, leaderboard."""
    ranking, quality = consensus_tables(result.consensus)
    against, distance, *more = quality.rows
    return [
        description_table(result.data, result.description),
        ranking,
        quality._replace(rows=[against, distance, _agreement(result), *more]),
        _leaderboard(result),
    ]


def tree_lines(result: Analysis) -> list[str]:
    """The tree as text, long lists of items cut; empty if there is no tree."""
    return [_cut(line) for line in with_short_names(result.tree, result.rankings.items).splitlines()]


def tree_note(result: Analysis) -> str:
    """What the tree shows, in a sentence."""
    if result.fitted_tree is not None and result.fitted_tree.get_n_leaves() == 1:
        return "none: no condition on the features does better than one consensus for all, in cross-validation"
    note = "conditions on the features, and the consensus of the rankings that meet them"
    if result.n_learned < result.description.n_rankings:
        note += f"; of a sample of {result.n_learned:,} rankings"
    return note


def _agreement(result: Analysis) -> list[str]:
    facts = result.agreement
    value = "nothing to compare" if facts.to_each_other is None else f"{facts.to_each_other:.3f}"
    if facts.n_compared < result.description.n_rankings:
        value += f" (in a sample of {facts.n_compared:,})"
    return ["of two rankings to each other", value]


def _leaderboard(result: Analysis) -> TextTable:
    shown = leaderboard_table(result.leaderboard, n_folds=result.n_folds, n_repeats=1)
    if not result.leaderboard:
        return TextTable(shown.title, result.leaderboard_left_out, [], [])
    note = shown.note
    if result.n_learned < result.description.n_rankings:
        note += f"; on a sample of {result.n_learned:,} rankings"
    # Without the times, which differ from run to run.
    return TextTable(shown.title, note, shown.columns[:-1], [row[:-1] for row in shown.rows])


def _cut(line: str) -> str:
    """A line of moderate length that keeps the size of its leaf."""
    if len(line) <= _LONGEST_LINE:
        return line
    words, _, size = line.rpartition("  (")
    return f"{words[:_LONGEST_LINE]} ...  ({size}"
