"""Mean ranks of several groups side by side, for the report; the groups are those of a survey."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from rankwise._tables import TextTable, short_name
from rankwise._typing import FloatArray, IntArray
from rankwise.analysis.summary import Summary, summary
from rankwise.data import Rankings

#: more groups than this cannot be told apart in a picture; the largest are shown
MOST_GROUPS = 7
# A mean of fewer rankings says nothing.
_FEWEST_RANKINGS = 2


class GroupRanks(NamedTuple):
    """Mean ranks by group.

    Attributes
    ----------
    summaries : dict of str to Summary
        What the rankings of each group hold, in the order of the groups.
    left_out : tuple of str
        Groups that are too small, or beyond the largest ones.
    """

    summaries: dict[str, Summary]
    left_out: tuple[str, ...]

    @property
    def means(self) -> FloatArray:
        """Mean ranks, a row per group and a column per item."""
        return np.array([facts.mean_rank for facts in self.summaries.values()])

    @property
    def low(self) -> FloatArray:
        """Lower ends of their intervals."""
        return np.array([facts.low for facts in self.summaries.values()])

    @property
    def high(self) -> FloatArray:
        """Upper ends of their intervals."""
        return np.array([facts.high for facts in self.summaries.values()])

    def sentences(self) -> list[str]:
        """Who leads in which group, and where the groups differ most."""
        items = next(iter(self.summaries.values())).items
        leaders: dict[str, list[str]] = {}
        for label, facts in self.summaries.items():
            if np.isfinite(facts.mean_rank).any():
                leaders.setdefault(short_name(items[int(np.nanargmin(facts.mean_rank))]), []).append(short_name(label))
        if len(leaders) == 1:
            lines = [f"{next(iter(leaders))} has the best mean rank in every group."]
        else:
            lines = [
                f"The best mean rank goes to {'; to '.join(f'{item} in {_listed(g)}' for item, g in leaders.items())}."
            ]
        means = self.means
        known = np.isfinite(means).sum(axis=0) > 1
        if not known.any():
            return lines
        gaps = np.where(
            known, np.nanmax(np.where(known, means, 0), axis=0) - np.nanmin(np.where(known, means, 0), axis=0), 0
        )
        item = int(np.argmax(gaps))
        best, worst = int(np.nanargmin(means[:, item])), int(np.nanargmax(means[:, item]))
        labels = [short_name(label) for label in self.summaries]
        apart = self.high[best, item] < self.low[worst, item]
        doubt = "their intervals do not overlap" if apart else "but their intervals overlap, so this may be chance"
        lines.append(
            f"The largest difference is in {short_name(items[item])}: mean rank {means[best, item]:.2f} in "
            f"{labels[best]} and {means[worst, item]:.2f} in {labels[worst]}; {doubt}."
        )
        return lines

    def table(self) -> TextTable:
        """Mean ranks as a table of text, a row per item and a column per group, best item first."""
        facts = list(self.summaries.values())
        means = self.means
        known = np.isfinite(means)
        overall = np.where(known, means, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        order = np.lexsort((overall, ~known.any(axis=0)))
        columns = ["item", *(f"{short_name(label)} (n = {f.n_rankings:,})" for label, f in self.summaries.items())]
        rows = [
            [short_name(facts[0].items[i]), *(f"{mean:.2f}" if np.isfinite(mean) else "-" for mean in means[:, i])]
            for i in order
        ]
        note = f"Left out, because they are small: {_listed(self.left_out)}." if self.left_out else ""
        return TextTable("Mean rank by group", note, columns, rows)


def ranks_by_group(rankings: Rankings, groups: Mapping[str, IntArray]) -> GroupRanks | None:
    """Summarize the rankings of each group; None if there are fewer than two groups to compare.

    Parameters
    ----------
    rankings : Rankings
        All rankings.
    groups : dict of str to ndarray of int
        The rows of each group.

    Returns
    -------
    GroupRanks or None
    """
    large = [label for label, rows in groups.items() if len(rows) >= _FEWEST_RANKINGS]
    largest = set(sorted(large, key=lambda label: -len(groups[label]))[:MOST_GROUPS])
    shown = [label for label in groups if label in largest]
    if len(shown) < 2:
        return None
    left_out = tuple(label for label in groups if label not in largest)
    return GroupRanks({label: summary(rankings[groups[label]]) for label in shown}, left_out)


def _listed(names: tuple[str, ...] | list[str]) -> str:
    shown = [short_name(name) for name in names]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
