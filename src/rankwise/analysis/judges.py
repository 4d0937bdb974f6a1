"""Named people one by one: `rater_distances`, who agrees with the consensus, and whose vote decides the winner.

`analyze` and ``rankwise report`` show them where rankings have names, as those of a jury.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from rankwise._decode import ConsensusRule
from rankwise._tables import TextTable, counted, make_frame, short_name
from rankwise._typing import ArrayLike, FloatArray
from rankwise.analysis.base import Result
from rankwise.analysis.consensus import find_consensus
from rankwise.analysis.consensus_result import ConsensusResult
from rankwise.data import Rankings
from rankwise.distances import kendall_distance

#: of more people, a list says less than a picture
MOST_RATERS = 60
# Leaving out one after another takes seconds up to so many items, and says something of so many people or more.
_MOST_ITEMS, _FEWEST_RATERS = 15, 3
_SECONDS_OF_PROOF = 1.0
# Rules that may ask for more than the rankings: seats, a prior, or no ties.
_ASKING_RULES = ("stv", "plackett-luce", "mallows", "cayley")


@dataclass(frozen=True, eq=False, repr=False)
class RaterDistances(Result):
    """How far the ranking of each named person is from the consensus; made by `rater_distances`.

    Attributes
    ----------
    names : tuple of str
        The names, the farthest first.
    pairs : ndarray of shape (n_raters,)
        Pairs of items that a person orders against the consensus; half of one where only one of them ties it.
    distance : ndarray of shape (n_raters,)
        The same as a share of the pairs that the person compares: 0 is the same order, 1 the reverse; NaN for who
        compares nothing.
    first : tuple of tuple
        The items that each puts first.
    winners : tuple
        The items that come first in the consensus.
    winners_without : tuple of tuple, or None
        The items that come first in the consensus of all others; None if that was not looked at, as with fewer than 3
        or more than 60 people or more than 15 items.
    """

    names: tuple[str, ...]
    pairs: FloatArray
    distance: FloatArray
    first: tuple[tuple[Hashable, ...], ...]
    winners: tuple[Hashable, ...]
    winners_without: tuple[tuple[Hashable, ...], ...] | None

    @property
    def agreement(self) -> FloatArray:
        """Share of the pairs of items on which each agrees with the consensus: one less the distance."""
        return 1 - self.distance

    @property
    def sentence(self) -> str:
        """Who stands apart, and whether the winner hangs on one person."""
        known = np.flatnonzero(np.isfinite(self.distance)).tolist()
        lines = []
        if known:
            low, high = known[0], known[-1]
            lines.append(
                f"{short_name(self.names[high])} agrees most with the joint ranking ({self.agreement[high]:.0%} of the "
                f"pairs), {short_name(self.names[low])} least ({self.agreement[low]:.0%})."
            )
        if self.winners_without is not None:
            without = zip(self.names, self.winners_without, strict=True)
            decisive = [short_name(name) for name, winners in without if set(winners) != set(self.winners)]
            if not decisive:
                lines.append("No single vote decides the winner: leave out any one of them, and the first place stays.")
            elif len(decisive) == 1:
                lines.append(f"First place hangs on one vote: without {decisive[0]} it changes.")
            else:
                lines.append(
                    f"First place is close: it changes without {counted(len(decisive), 'vote')}, taken one at a time."
                )
        return " ".join(lines)

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with a row per person, of pandas by default, else of the named backend.

        Columns: ``name``, ``pairs``, ``distance``, ``first`` and, where that was looked at, ``winners_without``.
        """
        columns = {"name": list(self.names), "pairs": self.pairs, "distance": self.distance}
        columns["first"] = [_joined(items) for items in self.first]
        if self.winners_without is not None:
            columns["winners_without"] = [_joined(items) for items in self.winners_without]
        return make_frame(columns, backend)

    def as_dict(self) -> dict[str, Any]:
        """The people for JSON."""
        raters: list[dict[str, Any]] = [
            {"name": name, "pairs": pairs, "distance": None if np.isnan(distance) else distance}
            for name, pairs, distance in zip(self.names, self.pairs.tolist(), self.distance.tolist(), strict=True)
        ]
        for rater, items in zip(raters, self.first, strict=True):
            rater["first"] = [str(item) for item in items]
        for rater, items in zip(raters, self.winners_without or (), strict=self.winners_without is not None):
            rater["winners_without"] = [str(item) for item in items]
        return {"raters": raters}

    def tables(self) -> list[TextTable]:
        """The people as a table of text."""
        columns = ["name", "agrees", "pairs against", "puts first"]
        note = "agrees: share of the pairs of items that the name and the joint ranking put in the same order"
        rows = [
            [short_name(name), "" if np.isnan(share) else f"{share:.0%}", f"{pairs:g}", _joined(items)]
            for name, share, pairs, items in zip(self.names, self.agreement, self.pairs, self.first, strict=True)
        ]
        if self.winners_without is not None:
            columns.append("first without this vote")
            rows = [[*row, _joined(items)] for row, items in zip(rows, self.winners_without, strict=True)]
        return [TextTable("Who disagrees", note, columns, rows)]


def rater_distances(rankings: ArrayLike, names: Sequence[Any], consensus: ConsensusResult) -> RaterDistances:
    """How far each named person is from the consensus, the farthest first, and who would win without them.

    Parameters
    ----------
    rankings : array-like of shape (n_rankings, n_items) or Rankings
        Positions: column = item, 1 = best.
    names : sequence of shape (n_rankings,)
        Who made each ranking; None where that is not known.
    consensus : ConsensusResult
        The consensus of these rankings.

    Returns
    -------
    RaterDistances

    Examples
    --------
    >>> from rankwise.analysis import consensus, rater_distances
    >>> votes = [[1, 2, 3], [1, 2, 3], [3, 2, 1]]
    >>> rater_distances(votes, ["Ann", "Ben", "Cem"], consensus(votes)).to_frame(backend="pandas")
      name  pairs  distance first winners_without
    0  Cem    3.0       1.0     2               0
    1  Ann    0.0       0.0     0         0, 1, 2
    2  Ben    0.0       0.0     0         0, 1, 2
    """
    rankings = Rankings(rankings)
    part = rankings.comparable()
    n = len(part)
    if len(names) != n:
        raise ValueError(f"there are {len(names)} names, but {n} rankings; give one for each")
    pairs = np.asarray(kendall_distance(part, consensus.positions))
    distance = np.asarray(kendall_distance(part, consensus.positions, normalize=True))
    order = np.argsort(-np.nan_to_num(distance, nan=-1.0), kind="stable").tolist()
    shown = ["(no name)" if name is None or name != name else str(name) for name in names]
    without = None
    if _FEWEST_RATERS <= n <= MOST_RATERS and part.n_items <= _MOST_ITEMS and consensus.method not in _ASKING_RULES:
        without = tuple(_winners(rankings[np.arange(n) != rater], consensus.method) for rater in order)
    return RaterDistances(
        names=tuple(shown[rater] for rater in order),
        pairs=pairs[order],
        distance=distance[order],
        first=tuple(_first(rankings, rater) for rater in order),
        winners=consensus.winners,
        winners_without=without,
    )


def _winners(rankings: Rankings, method: str) -> tuple[Hashable, ...]:
    """Who is first by the same rule; nobody if no item is compared with another any more."""
    if not rankings.compared.any():
        return ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the consensus of all has warned already
        rule = cast(ConsensusRule, method)
        return find_consensus(rankings, rule, time_limit=_SECONDS_OF_PROOF, random_state=0).winners


def _first(rankings: Rankings, rater: int) -> tuple[Hashable, ...]:
    return tuple(rankings.items[i] for i in np.flatnonzero(rankings.positions[rater] == 1).tolist())


def _joined(items: Sequence[Hashable]) -> str:
    return ", ".join(map(short_name, items))
