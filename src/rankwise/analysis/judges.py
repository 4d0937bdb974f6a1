"""Judges one by one, for the report of a jury: who agrees with the joint ranking, and whose vote decides the winner."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from rankwise._tables import TextTable, counted, short_name
from rankwise._typing import FloatArray
from rankwise.analysis.consensus import ConsensusResult, find_consensus
from rankwise.data import Rankings

#: more named rankings than this are a survey, and are not looked at one by one
MOST_JUDGES = 60
# Above this many items, leaving out one judge after another may take minutes.
_MOST_ITEMS = 15
_SECONDS = 1.0


class Judges(NamedTuple):
    """Judges with their rankings.

    Attributes
    ----------
    names : list of str
        Their names, those who agree least with the joint ranking first.
    agreement : ndarray of shape (n_judges,)
        Share of the pairs of items on which each agrees with the joint ranking; NaN for who compares nothing.
    first : list of str
        Whom each puts first.
    winners : list of frozenset, or None
        Who is first in the joint ranking of the others; None if that takes too long.
    winner : frozenset
        Who is first in the joint ranking of all.
    """

    names: list[str]
    agreement: FloatArray
    first: list[str]
    winners: list[frozenset[Hashable]] | None
    winner: frozenset[Hashable]

    @property
    def sentence(self) -> str:
        """Who stands apart, and whether the winner hangs on one judge."""
        known = np.flatnonzero(np.isfinite(self.agreement))
        lines = []
        if len(known):
            low, high = known[0], known[-1]
            lines.append(
                f"{self.names[high]} agrees most with the joint ranking ({self.agreement[high]:.0%} of the pairs), "
                f"{self.names[low]} least ({self.agreement[low]:.0%})."
            )
        if self.winners is not None:
            decisive = [name for name, winner in zip(self.names, self.winners, strict=True) if winner != self.winner]
            if not decisive:
                lines.append(
                    "No single judge decides the winner: leave out any one of them, and the first place stays."
                )
            elif len(decisive) == 1:
                lines.append(f"First place hangs on one vote: without {decisive[0]} it changes.")
            else:
                lines.append(
                    f"First place is close: it changes without {counted(len(decisive), 'judge')}, taken one at a time."
                )
        return " ".join(lines)

    def table(self) -> TextTable:
        """The judges as a table of text."""
        columns = ["judge", "agrees with the joint ranking", "puts first"]
        rows = [
            [name, "-" if np.isnan(share) else f"{share:.0%}", first]
            for name, share, first in zip(self.names, self.agreement.tolist(), self.first, strict=True)
        ]
        if self.winners is not None:
            columns.append("first without this judge")
            for row, winner in zip(rows, self.winners, strict=True):
                row.append(", ".join(sorted(short_name(item) for item in winner)))
        return TextTable("Judges, those who agree least first", "", columns, rows)


def look_at_judges(rankings: Rankings, found: ConsensusResult, names: Sequence[object] | None) -> Judges | None:
    """Look at each judge; None without names, or if there are too many or too few of them.

    Parameters
    ----------
    rankings : Rankings
        One ranking per judge.
    found : ConsensusResult
        Their consensus.
    names : sequence or None
        The names of the judges.

    Returns
    -------
    Judges or None
    """
    if names is None or not 3 <= len(rankings) <= MOST_JUDGES:
        return None
    agreement = 1 - found.distances
    order = np.lexsort((np.arange(len(rankings)), np.where(np.isnan(agreement), 2.0, agreement)))
    first = [_first(rankings.items, row) for row in rankings.positions[order]]
    winners = None
    if rankings.n_items <= _MOST_ITEMS:
        everybody = np.arange(len(rankings))
        winners = [_winner(rankings[everybody != judge], found) for judge in order]
    return Judges(
        [short_name("(no name)" if names[judge] is None else names[judge]) for judge in order],
        agreement[order],
        [", ".join(map(short_name, items)) for items in first],
        winners,
        frozenset(_first(found.items, found.positions)),
    )


def _winner(rankings: Rankings, found: ConsensusResult) -> frozenset[Hashable]:
    """Who is first by the same rule."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the consensus of all has warned already
        try:
            part = find_consensus(rankings, "kemeny", time_limit=_SECONDS, random_state=0)
        except ValueError:  # nobody compares anything any more
            return frozenset()
    return frozenset(_first(part.items, part.positions))


def _first(items: Sequence[Hashable], positions: FloatArray) -> list[Hashable]:
    listed = np.isfinite(positions)
    return [items[i] for i in np.flatnonzero(listed & (positions == 1)).tolist()]
