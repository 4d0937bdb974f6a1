"""What pairs of items say: `pair_summary`, for `summary`, the report and ``rankwise describe``."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwise._tables import TextTable, make_frame, name_column
from rankwise._typing import ArrayLike, FloatArray
from rankwise._validation import weights_count_people
from rankwise.aggregation import dispersion, is_stochastically_transitive, noise_margin, preference_matrix
from rankwise.analysis.base import Result
from rankwise.data import Rankings


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

    def as_dict(self) -> dict[str, Any]:
        """The numbers that are not one per pair, for JSON."""
        arrays = ("items", "comparisons", "n", "wins", "ties")
        return {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in arrays}

    def tables(self) -> list[TextTable]:
        """The numbers as a table of text."""
        return [self.table()]

    def table(self) -> TextTable:
        """The numbers as a table of text."""
        fewest, most = self.fewest_comparisons, self.most_comparisons
        spread = f"{fewest:,.10g} to {most:,.10g}, {self.mean_comparisons:,.1f} on average"
        rows = [
            ["pairs compared", f"{self.n_compared:,} of {self.n_pairs:,}"],
            ["comparisons of a pair", f"{fewest:,.10g}" if fewest == most else spread],
            ["ties among them", f"{self.share_tied:.1%}"],
            ["majorities", self._transitivity()],
            ["noise margin", _known(self.noise_margin, "from 0, an even pair, to 0.5, all agree")],
            ["dispersion", _known(self.dispersion, f"from 0, all rankings equal, to {self.most_dispersion:g}")],
        ]
        return TextTable("Details: pairs of items", "", ["", ""], rows)

    def _transitivity(self) -> str:
        if self.transitive is None:
            return "unknown: some pair is never compared"
        if not self.transitive:
            return "run in a circle: no ranking follows them all"
        if self.strictly_transitive:
            return "stochastically transitive, strictly: one ranking follows them all"
        return "stochastically transitive, with even pairs: a ranking follows them all"


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


def _known(value: float | None, scale: str) -> str:
    return "unknown: some pair is never compared" if value is None else f"{value:.3f} ({scale})"
