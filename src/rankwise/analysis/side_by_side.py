"""Results for each group and for each named person: `group_results` and `rater_distances`.

`analyze`, ``rankwise describe``, ``consensus`` and ``report`` show them where a survey has groups or names. They
describe; whether groups differ by more than chance is another question.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwise._decode import ConsensusRule
from rankwise._tables import TextTable, make_frame, name_column, short_name
from rankwise._typing import ArrayLike, FloatArray, IntArray, RandomState
from rankwise.analysis.base import Result
from rankwise.analysis.consensus import ConsensusResult, find_consensus
from rankwise.analysis.item_ranks import item_ranks
from rankwise.data import Rankings
from rankwise.distances import kendall_distance

#: of more people, a list of distances says less than a picture
MOST_RATERS = 60
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
    positions : ndarray of shape (n_groups, n_items)
        The consensus of each group, 1 = best; NaN for items that the group does not compare.
    decode : str
        How the consensus was found.
    overall : ndarray of shape (n_items,)
        Mean rank of each item over all rankings.
    """

    by: str
    groups: tuple[str, ...]
    items: tuple[Hashable, ...]
    n_rankings: IntArray
    mean_rank: FloatArray
    positions: FloatArray
    decode: str
    overall: FloatArray

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with a row per group and item, of pandas by default, else of the named backend.

        Columns: ``group``, ``n_rankings``, ``item``, ``mean_rank`` and ``position`` (in the consensus of the group).
        """
        n_groups, n_items = self.mean_rank.shape
        columns = {
            "group": np.repeat(np.array(self.groups, dtype=object), n_items).tolist(),
            "n_rankings": np.repeat(self.n_rankings, n_items),
            "item": name_column(self.items) * n_groups,
            "mean_rank": self.mean_rank.ravel(),
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
                        {"item": str(item), "mean_rank": _or_none(rank), "position": _or_none(place)}
                        for item, rank, place in zip(self.items, self.mean_rank[g], self.positions[g], strict=True)
                    ],
                }
                for g, group in enumerate(self.groups)
            ],
        }

    def tables(self) -> list[TextTable]:
        """Mean ranks and places in the consensus, a column per group."""
        return [self.mean_table(), self.consensus_table()]

    def mean_table(self) -> TextTable:
        """Mean ranks as a table of text, a column per group."""
        return self._table(f"Mean ranks by {self.by}", "1 is best", self.mean_rank, ".2f", self.overall)

    def consensus_table(self) -> TextTable:
        """Places in the consensus of each group as a table of text."""
        return self._table(f"Consensus by {self.by}", f"places, found by {self.decode}", self.positions, ".0f")

    def _table(
        self, title: str, note: str, values: FloatArray, spec: str, overall: FloatArray | None = None
    ) -> TextTable:
        columns = ["item", *(["all"] if overall is not None else [])]
        columns += [f"{short_name(group)} (n={n:,})" for group, n in zip(self.groups, self.n_rankings, strict=True)]
        rows = []
        for item in np.argsort(self.overall, kind="stable"):
            cells = [*([overall[item]] if overall is not None else []), *values[:, item]]
            shown = ["" if np.isnan(cell) else format(cell, spec) for cell in cells]
            rows.append([short_name(self.items[item]), *shown])
        return TextTable(title, note, columns, rows)


def group_results(
    rankings: ArrayLike,
    groups: Mapping[str, Sequence[int] | IntArray],
    *,
    by: str = "group",
    decode: ConsensusRule = "kemeny",
    alpha: float = 0.0,
    random_state: RandomState = None,
) -> GroupResults:
    """Mean ranks and consensus of groups, side by side.

    Parameters
    ----------
    rankings : array-like of shape (n_rankings, n_items) or Rankings
        Positions: column = item, 1 = best. The weights of Rankings count.
    groups : mapping of str to sequence of int
        The rows of each group, as `Survey.groups` returns them.
    by : str, default="group"
        What the groups differ by.
    decode : str, default="kemeny"
        How to find the consensus of a group, as in `consensus`.
    alpha : float, default=0.0
        Strength of the prior of "plackett-luce".
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
    if not groups:
        raise ValueError("there are no groups; give the rows of at least one")
    means, places = [], []
    for rows in groups.values():
        part = rankings[np.asarray(rows, dtype=np.intp)]
        means.append(item_ranks(part, level=0.95, people=True).mean)
        place = np.full(rankings.n_items, np.nan)
        if part.compared.any():
            found = find_consensus(part, decode, time_limit=_SECONDS_OF_PROOF, alpha=alpha, random_state=random_state)
            place[part.compared] = found.places
        places.append(place)
    return GroupResults(
        by=by,
        groups=tuple(groups),
        items=rankings.items,
        n_rankings=np.array([len(rows) for rows in groups.values()]),
        mean_rank=np.array(means),
        positions=np.array(places),
        decode=decode,
        overall=item_ranks(rankings, level=0.95, people=True).mean,
    )


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
        The same as a share of the pairs that the person compares: 0 is the same order, 1 the reverse.
    """

    names: tuple[str, ...]
    pairs: FloatArray
    distance: FloatArray

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with a row per person, of pandas by default, else of the named backend.

        Columns: ``name``, ``pairs`` and ``distance``.
        """
        return make_frame({"name": list(self.names), "pairs": self.pairs, "distance": self.distance}, backend)

    def as_dict(self) -> dict[str, Any]:
        """The distances for JSON."""
        columns = (self.names, self.pairs.tolist(), self.distance.tolist())
        raters = [
            {"name": name, "pairs": pairs, "distance": _or_none(distance)}
            for name, pairs, distance in zip(*columns, strict=True)
        ]
        return {"raters": raters}

    def tables(self) -> list[TextTable]:
        """The distances as a table of text."""
        note = "Kendall distance to the consensus: pairs ordered the other way; 0 is the same order, 1 the reverse"
        rows = [
            [short_name(name), f"{pairs:g}", "" if np.isnan(distance) else f"{distance:.2f}"]
            for name, pairs, distance in zip(self.names, self.pairs, self.distance, strict=True)
        ]
        return [TextTable("Who disagrees", note, ["name", "pairs", "distance"], rows)]


def rater_distances(rankings: ArrayLike, names: Sequence[Any], consensus: ConsensusResult) -> RaterDistances:
    """How far each named person is from the consensus, the farthest first.

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
      name  pairs  distance
    0  Cem    3.0       1.0
    1  Ann    0.0       0.0
    2  Ben    0.0       0.0
    """
    part = Rankings(rankings).comparable()
    if len(names) != len(part):
        raise ValueError(f"there are {len(names)} names, but {len(part)} rankings; give one for each")
    pairs = np.asarray(kendall_distance(part, consensus.positions))
    distance = np.asarray(kendall_distance(part, consensus.positions, normalize=True))
    order = np.argsort(-np.nan_to_num(distance, nan=-1.0), kind="stable")
    shown = ["(no name)" if name is None or name != name else str(name) for name in names]
    return RaterDistances(tuple(shown[i] for i in order), pairs[order], distance[order])


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
