"""What pairs of items say: `pair_summary`, for `summary`, the report and ``rankwise describe``."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwise._tables import TextTable, make_frame, name_column, short_name
from rankwise._typing import ArrayLike, FloatArray
from rankwise._validation import weights_count_people
from rankwise.aggregation import dispersion, is_stochastically_transitive, noise_margin, preference_matrix
from rankwise.aggregation.pairs import majority, ordered_components
from rankwise.analysis.base import Result
from rankwise.data import Rankings

_UNKNOWN = "unknown: some pair is never compared"


@dataclass(frozen=True, eq=False, repr=False)
class PairSummary(Result):
    """How often pairs of items are compared, and what the majorities say; made by `pair_summary`.

    Attributes
    ----------
    items : tuple
        Names of the items.
    comparisons : ndarray of shape (n_items, n_items)
        Weight of the rankings that compare item i (row) with item j (column).
    n : ndarray of shape (n_items, n_items)
        People whose rankings compare them. Whole weights count people, survey weights do not.
    wins, ties : ndarray of shape (n_items, n_items)
        Weight of the rankings that put i before j, and of those that tie them.
    n_pairs, n_compared : int
        Pairs of items, and those that some ranking compares.
    fewest_comparisons, mean_comparisons, most_comparisons : float
        Over all pairs, in weights of rankings.
    share_tied : float
        Share of all comparisons that are ties.
    transitive, strictly_transitive : bool or None
        Whether the majorities are stochastically transitive; None if some pair is never compared.
    noise_margin : float or None
        How clear the closest majority is; None if some pair is never compared.
    dispersion : float or None
        How much the rankings differ; None if some pair is never compared.
    most_dispersion : float
        The dispersion if every pair were even.
    """

    items: tuple[Hashable, ...]
    comparisons: FloatArray
    n: FloatArray
    wins: FloatArray
    ties: FloatArray
    n_pairs: int
    n_compared: int
    fewest_comparisons: float
    mean_comparisons: float
    most_comparisons: float
    share_tied: float
    transitive: bool | None
    strictly_transitive: bool | None
    noise_margin: float | None
    dispersion: float | None
    most_dispersion: float

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with a row per pair of items, of pandas by default, else of the named backend.

        Columns: ``first``, ``second``, ``n`` (people who compare them), ``comparisons`` (their weight), and the shares
        of it that are ``first_wins``, ``second_wins`` and ``ties`` (NaN where there is no comparison).
        """
        first, second = np.triu_indices(len(self.items), 1)
        counts = self.comparisons[first, second]
        weights = (self.wins[first, second], self.wins[second, first], self.ties[first, second])
        with np.errstate(invalid="ignore"):
            wins, losses, ties = (weight / counts for weight in weights)
        names = name_column(self.items)
        columns = {
            "first": [names[i] for i in first],
            "second": [names[i] for i in second],
            "n": self.n[first, second],
            "comparisons": counts,
            "first_wins": wins,
            "second_wins": losses,
            "ties": ties,
        }
        return make_frame(columns, backend)

    def as_dict(self, *, matrix: bool = False) -> dict[str, Any]:
        """The numbers that are not one per pair, for JSON; on request with those that are.

        Parameters
        ----------
        matrix : bool, default=False
            Whether to add ``matrix``: the items, and for each (row) and each other (column) the people who compare them
            (``n``), and the shares that put the row before the column (``before``) and tie them (``tied``), None where
            nobody compares them.

        Returns
        -------
        dict
        """
        arrays = ("items", "comparisons", "n", "wins", "ties")
        facts = {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in arrays}
        if matrix:
            shares = {"before": self._shares(self.wins), "tied": self._shares(self.ties)}
            facts["matrix"] = {"items": [str(item) for item in self.items], "n": self.n.tolist()}
            facts["matrix"] |= {
                name: [[None if np.isnan(share) else share for share in row] for row in rows.tolist()]
                for name, rows in shares.items()
            }
        return facts

    def tables(self) -> list[TextTable]:
        """The numbers as a table of text."""
        return [self.table()]

    def matrix_tables(self, order: Sequence[int] | None = None) -> list[TextTable]:
        """Who is put before whom, and how many people compare each pair, as tables of text.

        Parameters
        ----------
        order : sequence of int, optional
            Numbers of the items in the order of rows and columns; by default that of the items.

        Returns
        -------
        list of TextTable
            Two, of a row and a column per item, empty where an item meets itself or is not compared.
        """
        order = range(len(self.items)) if order is None else [operator.index(i) for i in order]
        names, shares = [short_name(item) for item in self.items], self._shares(self.wins)
        before = [["" if np.isnan(shares[i, j]) else f"{shares[i, j]:.1%}" for j in order] for i in order]
        people = [["" if i == j else f"{self.n[i, j]:,.10g}" for j in order] for i in order]
        note = "Share of the rankings that put the item of the row before that of the column."
        columns = ["item", *(names[j] for j in order)]
        return [
            TextTable(title, words, columns, [[names[i], *row] for i, row in zip(order, rows, strict=True)])
            for title, words, rows in (("Who is before whom", note, before), ("People who compare them", "", people))
        ]

    def _shares(self, weights: FloatArray) -> FloatArray:
        """Weights of pairs as shares of their comparisons, NaN where there are none."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(self.comparisons > 0, weights / self.comparisons, np.nan)

    def table(self) -> TextTable:
        """The numbers as a table of text."""
        fewest, most = self.fewest_comparisons, self.most_comparisons
        spread = f"{fewest:,.10g} to {most:,.10g}, {self.mean_comparisons:,.1f} on average"
        rows = [
            ["pairs compared", f"{self.n_compared:,} of {self.n_pairs:,}"],
            ["comparisons of a pair", f"{fewest:,.10g}" if fewest == most else spread],
            ["ties among them", f"{self.share_tied:.1%}"],
            ["majorities", self._transitivity()],
            ["closest majority", self._closest()],
            ["disagreement", self._disagreement()],
        ]
        return TextTable("Details: pairs of items", "", ["", ""], rows)

    def _transitivity(self) -> str:
        if self.transitive is None:
            return _UNKNOWN
        if self.strictly_transitive:
            return "fit together: one ranking follows them all"
        if not self.transitive:
            beats = majority(self.wins)
            # An even pair may break transitivity without a circle: A before B before C, and A even with C.
            components = ordered_components(beats, beats.sum(axis=1, dtype=np.float64))
            if len(components) < len(self.items):
                return "run in a circle: no ranking follows them all"
            return "fit together, with even pairs: a ranking follows them all"
        return "fit together, with even pairs: several rankings follow them all"

    def _closest(self) -> str:
        if self.noise_margin is None:
            return _UNKNOWN
        return f"{0.5 + self.noise_margin:.1%} against {0.5 - self.noise_margin:.1%}"

    def _disagreement(self) -> str:
        if self.dispersion is None:
            return _UNKNOWN
        share = self.dispersion / self.most_dispersion if self.most_dispersion else 0.0
        return f"{share:.1%} (0% if all rankings are equal, 100% if every pair is even)"


def pair_summary(rankings: ArrayLike) -> PairSummary:
    """Summarize the pairs of items: how often each is compared, and whether the majorities fit into one ranking.

    Parameters
    ----------
    rankings : array-like of shape (n_rankings, n_items) or Rankings
        Positions: column = item, 1 = best.

    Returns
    -------
    PairSummary

    Examples
    --------
    >>> from rankwise.analysis import pair_summary
    >>> pair_summary([[1, 2, 3], [2, 3, 1], [3, 1, 2]]).transitive
    False
    """
    rankings = Rankings(rankings)
    matrix = preference_matrix(rankings)
    if weights_count_people(rankings.weights):
        people = matrix.counts
    else:
        people = preference_matrix(Rankings(rankings, weights=rankings.weights > 0)).counts
    pair = np.triu_indices(len(matrix.items), 1)
    counts, ties = matrix.counts[pair], matrix.ties[pair]
    all_compared = len(counts) > 0 and bool((counts > 0).all())
    return PairSummary(
        items=matrix.items,
        comparisons=matrix.counts,
        n=people,
        wins=matrix.wins,
        ties=matrix.ties,
        n_pairs=len(counts),
        n_compared=int(np.count_nonzero(counts)),
        fewest_comparisons=float(counts.min()) if len(counts) else 0.0,
        mean_comparisons=float(counts.mean()) if len(counts) else 0.0,
        most_comparisons=float(counts.max(initial=0.0)),
        share_tied=float(ties.sum() / counts.sum()) if counts.any() else 0.0,
        transitive=is_stochastically_transitive(matrix) if all_compared else None,
        strictly_transitive=is_stochastically_transitive(matrix, strict=True) if all_compared else None,
        noise_margin=noise_margin(matrix) if all_compared else None,
        dispersion=dispersion(matrix) if all_compared else None,
        most_dispersion=len(counts) / 4,
    )
