"""Mean ranks and consensus of groups side by side: `group_results`.

`analyze`, ``rankwise describe``, ``consensus`` and ``report`` show them where a survey has groups. They describe;
whether groups differ by more than chance is another question.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankwise._decode import ConsensusRule, rule_in_words
from rankwise._tables import TextTable, make_frame, name_column, short_name
from rankwise._typing import ArrayLike, FloatArray, IntArray, RandomState
from rankwise._validation import is_unknown_label, weights_count_people
from rankwise.analysis.base import Result
from rankwise.analysis.consensus import find_consensus
from rankwise.analysis.item_ranks import item_ranks
from rankwise.data import Rankings, Survey

#: more groups than this cannot be told apart in a picture; the largest are shown
MOST_GROUPS = 7
# A mean of fewer rankings says nothing.
_FEWEST_RANKINGS = 2
_LEVEL = 0.95
_SECONDS_OF_PROOF = 5.0


@dataclass(frozen=True, eq=False, repr=False)
class GroupResults(Result):
    """Mean ranks and consensus of each group; made by `group_results`.

    Attributes
    ----------
    by : str
        What the groups differ by.
    groups : tuple of str
        The labels of the groups.
    items : tuple
        Names of the items.
    n_rankings : ndarray of shape (n_groups,)
        Rankings in each group.
    mean_rank : ndarray of shape (n_groups, n_items)
        Mean rank of each item, as in `Summary`; NaN where it is missing from all rankings of the group.
    low, high : ndarray of shape (n_groups, n_items)
        Ends of their 95% confidence intervals, as in `Summary`.
    n : ndarray of shape (n_groups, n_items)
        People of the group whose rankings hold the item, as in `Summary`.
    positions : ndarray of shape (n_groups, n_items)
        The consensus of each group, 1 = best; NaN for items that the group does not compare.
    decode : str
        How the consensus was found.
    overall : ndarray of shape (n_items,)
        Mean rank of each item over all rankings.
    left_out : tuple of str
        Groups that ``largest_groups`` left out.
    """

    by: str
    groups: tuple[str, ...]
    items: tuple[Hashable, ...]
    n_rankings: IntArray
    mean_rank: FloatArray
    low: FloatArray
    high: FloatArray
    n: FloatArray
    positions: FloatArray
    decode: str
    overall: FloatArray
    left_out: tuple[str, ...] = ()

    @property
    def sentences(self) -> list[str]:
        """Who leads in which group, and where the groups differ most."""
        means, labels = self.mean_rank, [short_name(group) for group in self.groups]
        leaders: dict[str, list[str]] = {}
        for g in np.flatnonzero(np.isfinite(means).any(axis=1)).tolist():
            leaders.setdefault(short_name(self.items[int(np.nanargmin(means[g]))]), []).append(labels[g])
        if len(leaders) == 1:
            lines = [f"{next(iter(leaders))} has the best mean rank in every group."]
        else:
            won = "; to ".join(f"{item} in {_listed(names)}" for item, names in leaders.items())
            lines = [f"The best mean rank goes to {won}."] if won else []
        known = np.flatnonzero(np.isfinite(means).sum(axis=0) > 1)
        if len(known):
            gaps = np.nanmax(means[:, known], axis=0) - np.nanmin(means[:, known], axis=0)
            item = int(known[np.argmax(gaps)])
            best, worst = int(np.nanargmin(means[:, item])), int(np.nanargmax(means[:, item]))
            apart = self.high[best, item] < self.low[worst, item]
            doubt = "their intervals do not overlap" if apart else "but their intervals overlap, so this may be chance"
            lines.append(
                f"The largest difference is in {short_name(self.items[item])}: mean rank {means[best, item]:.2f} in "
                f"{labels[best]} and {means[worst, item]:.2f} in {labels[worst]}; {doubt}."
            )
        return lines

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with a row per group and item, of pandas by default, else of the named backend.

        Columns: ``group``, ``n_rankings``, ``item``, ``n``, ``mean_rank``, ``low``, ``high`` and ``position`` (in the
        consensus of the group).
        """
        n_groups, n_items = self.mean_rank.shape
        columns = {
            "group": np.repeat(np.array(self.groups, dtype=object), n_items).tolist(),
            "n_rankings": np.repeat(self.n_rankings, n_items),
            "item": name_column(self.items) * n_groups,
            "n": self.n.ravel(),
            "mean_rank": self.mean_rank.ravel(),
            "low": self.low.ravel(),
            "high": self.high.ravel(),
            "position": self.positions.ravel(),
        }
        return make_frame(columns, backend)

    def as_dict(self) -> dict[str, Any]:
        """The numbers for JSON: None for items that a group does not rank."""
        return {
            "by": self.by,
            "decode": self.decode,
            "groups": [
                {
                    "group": group,
                    "n_rankings": int(self.n_rankings[g]),
                    "items": [
                        {
                            "item": str(item),
                            "n": float(self.n[g, i]),
                            "mean_rank": _or_none(self.mean_rank[g, i]),
                            "low": _or_none(self.low[g, i]),
                            "high": _or_none(self.high[g, i]),
                            "position": _or_none(self.positions[g, i]),
                        }
                        for i, item in enumerate(self.items)
                    ],
                }
                for g, group in enumerate(self.groups)
            ],
        }

    def tables(self) -> list[TextTable]:
        """Mean ranks with their intervals and places in the consensus, a column per group."""
        return [self.mean_table(intervals=True), self.consensus_table()]

    def mean_table(self, *, intervals: bool = False) -> TextTable:
        """Mean ranks as a table of text, a column per group; with ``intervals``, how many ranked an item too."""
        note = f"1 is best{', with 95% intervals' if intervals else ''}"
        note += f"; left out, because they are small: {_listed(self.left_out)}" if self.left_out else ""
        rows = []
        for item in np.argsort(self.overall, kind="stable"):
            cells = [self._mean_cell(g, item, intervals) for g in range(len(self.groups))]
            rows.append([short_name(self.items[item]), _shown(self.overall[item], ".2f"), *cells])
        return TextTable(f"Mean ranks by {self.by}", note, ["item", "all", *self._headers()], rows)

    def consensus_table(self) -> TextTable:
        """Places in the consensus of each group as a table of text."""
        rows = [
            [short_name(self.items[item]), *(_shown(place, ".0f") for place in self.positions[:, item])]
            for item in np.argsort(self.overall, kind="stable")
        ]
        note = f"places, found by {rule_in_words(self.decode)}"
        return TextTable(f"Consensus by {self.by}", note, ["item", *self._headers()], rows)

    def _headers(self) -> list[str]:
        return [f"{short_name(group)} (n={n:,})" for group, n in zip(self.groups, self.n_rankings, strict=True)]

    def _mean_cell(self, g: int, item: int, interval: bool) -> str:
        shown = _shown(self.mean_rank[g, item], ".2f")
        if not shown or not interval:
            return shown
        if np.isfinite(self.low[g, item]):
            shown += f" ({self.low[g, item]:.2f} to {self.high[g, item]:.2f})"
        n = self.n[g, item]
        return shown if n == self.n_rankings[g] else f"{shown}, n={n:,.10g}"


def group_results(
    rankings: ArrayLike,
    groups: Mapping[str, Sequence[int] | IntArray] | Sequence[Any],
    *,
    by: str = "group",
    decode: ConsensusRule = "kemeny",
    alpha: float = 0.0,
    scores: FloatArray | None = None,
    random_state: RandomState = None,
) -> GroupResults:
    """Mean ranks and consensus of groups, side by side.

    Parameters
    ----------
    rankings : array-like of shape (n_rankings, n_items) or Rankings
        Positions: column = item, 1 = best. The weights of Rankings count.
    groups : mapping of str to sequence of int, or sequence of shape (n_rankings,)
        The rows of each group, as `Survey.groups` returns them; or the group of each ranking, None for none.
    by : str, default="group"
        What the groups differ by.
    decode : str, default="kemeny"
        How to find the consensus of a group, as in `consensus`.
    alpha : float, default=0.0
        Strength of the prior of "plackett-luce".
    scores : array-like of shape (n_rankings, n_items), optional
        The scores for "range", as a `Survey` has them.
    random_state : None, int, Generator or RandomState
        Source of the random numbers for the search.

    Returns
    -------
    GroupResults

    Examples
    --------
    >>> from rankwise.analysis import group_results
    >>> group_results([[1, 2], [1, 2], [2, 1]], {"men": [0, 1], "women": [2]}, by="sex").mean_rank
    array([[1., 2.],
           [2., 1.]])
    """
    rankings = Rankings(rankings)
    if not isinstance(groups, Mapping):
        labels = list(groups)
        if len(labels) != len(rankings):
            raise ValueError(f"there are {len(labels):,} labels, but {len(rankings):,} rankings; give one for each")
        known = Survey(
            rankings, by=np.array(["" if is_unknown_label(label) else label for label in labels], dtype=object)
        )
        groups = {name: rows for name, rows in known.groups().items() if not is_unknown_label(labels[rows[0]])}
    if not groups:
        raise ValueError("there are no groups; give the rows of at least one")
    people = weights_count_people(rankings.weights)  # of all, so that groups have intervals of one kind
    ranks, places = [], []
    for rows in groups.values():
        part = rankings[np.asarray(rows, dtype=np.intp)]
        ranks.append(item_ranks(part, level=_LEVEL, people=people))
        place = np.full(rankings.n_items, np.nan)
        if part.compared.any():
            own: dict[str, Any] = {"alpha": alpha, "scores": None if scores is None else scores[rows]}
            best = find_consensus(part, decode, time_limit=_SECONDS_OF_PROOF, random_state=random_state, **own)
            place[part.compared] = best.places
        places.append(place)
    return GroupResults(
        by=by,
        groups=tuple(groups),
        items=rankings.items,
        n_rankings=np.array([len(rows) for rows in groups.values()]),
        mean_rank=np.array([found.mean for found in ranks]),
        low=np.array([found.low for found in ranks]),
        high=np.array([found.high for found in ranks]),
        n=np.array([found.n for found in ranks]),
        positions=np.array(places),
        decode=decode,
        overall=item_ranks(rankings, level=_LEVEL, people=people).mean,
    )


def largest_groups(found: GroupResults | None) -> GroupResults | None:
    """The groups that can be compared in a picture: the largest ones; None if there are fewer than two of them."""
    if found is None:
        return None
    sizes = found.n_rankings
    chosen = np.sort([g for g in np.argsort(-sizes, kind="stable")[:MOST_GROUPS] if sizes[g] >= _FEWEST_RANKINGS])
    if len(chosen) < 2:
        return None
    return replace(
        found,
        groups=tuple(found.groups[g] for g in chosen),
        n_rankings=sizes[chosen],
        mean_rank=found.mean_rank[chosen],
        low=found.low[chosen],
        high=found.high[chosen],
        n=found.n[chosen],
        positions=found.positions[chosen],
        left_out=tuple(group for g, group in enumerate(found.groups) if g not in chosen),
    )


def _shown(value: float, spec: str) -> str:
    return "" if np.isnan(value) else format(value, spec)


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _listed(names: Sequence[str]) -> str:
    shown = [short_name(name) for name in names]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
