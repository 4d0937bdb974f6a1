"""What rankings look like before anything is made of them: `summary`, `pair_summary` and `agreement`.

`analyze` and ``rankwise describe`` use them.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwise._tables import TextTable, make_frame, name_column
from rankwise._typing import ArrayLike, FloatArray, RandomState
from rankwise._validation import check_generator
from rankwise.aggregation import dispersion, is_stochastically_transitive, noise_margin, preference_matrix
from rankwise.analysis.base import Result, features_of, sample_rows
from rankwise.data import Rankings
from rankwise.data.positions import has_ties
from rankwise.distances import pairwise_distances

_SHOWN_FEATURES = 6
# All pairs of rankings are compared up to this number; of more, a random sample is.
_MOST_COMPARED = 1_000


@dataclass(frozen=True, eq=False, repr=False)
class PairSummary(Result):
    """How often pairs of items are compared, and what the majorities say; made by `pair_summary`.

    Attributes
    ----------
    items : tuple
        Names of the items.
    comparisons : ndarray of shape (n_items, n_items)
        Weight of the rankings that compare item i (row) with item j (column).
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

        Columns: ``first``, ``second``, ``comparisons``, and the shares of them that are ``first_wins``,
        ``second_wins`` and ``ties`` (NaN where there is no comparison).
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
            "comparisons": counts,
            "first_wins": wins,
            "second_wins": losses,
            "ties": ties,
        }
        return make_frame(columns, backend)

    def as_dict(self) -> dict[str, Any]:
        """The numbers that are not one per pair, for JSON."""
        arrays = ("items", "comparisons", "wins", "ties")
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
        return TextTable("Pairs of items", "", ["", ""], rows)

    def _transitivity(self) -> str:
        if self.transitive is None:
            return "unknown: some pair is never compared"
        if not self.transitive:
            return "run in a circle: no ranking follows them all"
        if self.strictly_transitive:
            return "stochastically transitive, strictly: one ranking follows them all"
        return "stochastically transitive, with even pairs: a ranking follows them all"


@dataclass(frozen=True, eq=False, repr=False)
class Summary(Result):
    """What rankings hold; made by `summary`.

    Attributes
    ----------
    name : str
        What the data are called.
    items : tuple
        Names of the items.
    n_rankings, n_items, n_distinct : int
        Rankings, items, and rankings that differ from each other.
    total_weight : float
        Sum of the weights of the rankings.
    kind : {"full", "tied", "top-k", "incomplete"}
        The least special kind that covers every ranking.
    n_with_ties, n_with_unlisted, n_with_missing : int
        Rankings with such items.
    listed, unlisted, missing : ndarray of shape (n_items,)
        For each item, the weight of the rankings that give it a place, leave it unlisted, or miss it.
    first : ndarray of shape (n_items,)
        For each item, the share of the rankings that list it in which it is first; tied items share a first place.
    mean_position : ndarray of shape (n_items,)
        Mean position in the rankings that list the item, tied items sharing the mean of their places.
    features : tuple of str
        Names of the features that came with the rankings.
    pairs : PairSummary
        What pairs of items say.
    notes : tuple of str
        What a reader should know about the data.
    """

    name: str
    items: tuple[Hashable, ...]
    n_rankings: int
    total_weight: float
    n_items: int
    kind: str
    n_distinct: int
    n_with_ties: int
    n_with_unlisted: int
    n_with_missing: int
    listed: FloatArray
    unlisted: FloatArray
    missing: FloatArray
    first: FloatArray
    mean_position: FloatArray
    features: tuple[str, ...]
    pairs: PairSummary
    notes: tuple[str, ...] = ()

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with a row per item, of pandas by default, else of the named backend.

        Columns: ``item``, ``listed``, ``unlisted``, ``missing``, ``first`` and ``mean_position``.
        """
        numbers = ("listed", "unlisted", "missing", "first", "mean_position")
        return make_frame({"item": name_column(self.items)} | {name: getattr(self, name) for name in numbers}, backend)

    def as_dict(self) -> dict[str, Any]:
        """The numbers that are not one per item or pair, for JSON."""
        names = ["n_rankings", "total_weight", "n_items", "kind", "n_distinct"]
        names += ["n_with_ties", "n_with_unlisted", "n_with_missing"]
        facts = {name: getattr(self, name) for name in names}
        return facts | {"n_features": len(self.features), "features": list(self.features), "notes": list(self.notes)}

    def tables(self) -> list[TextTable]:
        """The numbers as tables of text: the rankings, and their pairs of items."""
        return [self.data_table(), self.pairs.table()]

    def data_table(self) -> TextTable:
        """What the rankings hold as a table of text."""
        n = self.n_rankings
        features = ", ".join(self.features[:_SHOWN_FEATURES]) + (", ..." * (len(self.features) > _SHOWN_FEATURES))
        weight = "" if self.total_weight == n else f" of total weight {self.total_weight:,.10g}"
        some = {
            "with ties": self.n_with_ties,
            "with unlisted items": self.n_with_unlisted,
            "with missing items": self.n_with_missing,
        }
        rows = [
            ["rankings", f"{n:,}{weight} ({self.n_distinct:,} distinct)"],
            ["items", f"{self.n_items:,}"],
            ["kind", self.kind],
            *([what, f"{count:,} ({count / n:.0%})" if count else "none"] for what, count in some.items()),
            ["features", f"{len(self.features):,}: {features}" if self.features else "none"],
        ]
        title = f"Data: {self.name}" if self.name else "Data"
        return TextTable(title, "; ".join(self.notes), ["", ""], rows)


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(Result):
    """How much rankings agree with each other; made by `agreement`.

    Attributes
    ----------
    to_each_other : float or None
        Mean Kendall distance of two rankings, as a share of the pairs of items that both compare: 0 is the same
        order, 1 the reverse. None if no two rankings compare the same pair of items.
    n_compared : int
        Number of rankings that were compared with each other: all, or a random sample.
    n_rankings : int
        Number of all rankings.
    """

    to_each_other: float | None
    n_compared: int
    n_rankings: int

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame of one row, of pandas by default, else of the named backend."""
        distance = np.nan if self.to_each_other is None else self.to_each_other
        columns = {"mean_distance": [distance], "n_compared": [self.n_compared], "n_rankings": [self.n_rankings]}
        return make_frame(columns, backend)

    def as_dict(self) -> dict[str, Any]:
        """The numbers for JSON."""
        return {"to_each_other": self.to_each_other, "n_compared": self.n_compared}

    def cells(self) -> list[str]:
        """The row of a table of text."""
        value = "nothing to compare" if self.to_each_other is None else f"{self.to_each_other:.3f}"
        if self.n_compared < self.n_rankings:
            value += f" (in a sample of {self.n_compared:,})"
        return ["between two rankings", value]

    def tables(self) -> list[TextTable]:
        """The numbers as a table of text."""
        return [TextTable("Mean Kendall distance", "0 is the same order, 1 the reverse", ["", ""], [self.cells()])]


def summary(
    rankings: ArrayLike,
    X: Any = None,
    *,
    feature_names: Sequence[str] | None = None,
    name: str = "",
    notes: Sequence[str] = (),
) -> Summary:
    """Summarize rankings: how many, of what kind, where items stand, and what pairs of items say.

    Parameters
    ----------
    rankings : array-like of shape (n_rankings, n_items) or Rankings
        Positions: column = item, 1 = best.
    X : array-like or data frame of shape (n_rankings, n_features), or dict of columns, optional
        Features that came with the rankings; only their names are used.
    feature_names : sequence of str, optional
        Their names; by default the columns of a data frame or a dict, else x0, x1, ...
    name : str, default=""
        What the data are called.
    notes : sequence of str, default=()
        What a reader should know about the data.

    Returns
    -------
    Summary

    Examples
    --------
    >>> from rankwise.analysis import summary
    >>> summary([[1, 2, 3], [2, 1, float("nan")]]).to_frame(backend="pandas")
       item  listed  unlisted  missing  first  mean_position
    0     0     2.0       0.0      0.0    0.5            1.5
    1     1     2.0       0.0      0.0    0.5            1.5
    2     2     1.0       0.0      1.0    0.0            3.0
    """
    rankings = Rankings(rankings)
    positions, weights = rankings.positions, rankings.weights
    is_listed, is_unlisted, is_missing = np.isfinite(positions), np.isposinf(positions), np.isnan(positions)
    listed = weights @ is_listed
    is_first = positions == 1
    n_first = np.maximum(is_first.sum(axis=1, keepdims=True), 1)
    places = np.where(is_listed, rankings.midranks(), 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        first, mean_position = (
            np.where(listed > 0, weights @ v / listed, np.nan) for v in (is_first / n_first, places)
        )
    return Summary(
        name=name,
        items=rankings.items,
        n_rankings=len(rankings),
        total_weight=float(weights.sum()),
        n_items=rankings.n_items,
        kind=rankings.kind,
        n_distinct=len(rankings.group()),
        n_with_ties=int(has_ties(positions).sum()),
        n_with_unlisted=int(is_unlisted.any(axis=1).sum()),
        n_with_missing=int(is_missing.any(axis=1).sum()),
        listed=listed,
        unlisted=weights @ is_unlisted,
        missing=weights @ is_missing,
        first=first,
        mean_position=mean_position,
        features=tuple(features_of(X, feature_names).names),
        pairs=pair_summary(rankings),
        notes=tuple(notes),
    )


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
    matrix = preference_matrix(Rankings(rankings))
    pair = np.triu_indices(len(matrix.items), 1)
    counts, ties = matrix.counts[pair], matrix.ties[pair]
    all_compared = len(counts) > 0 and bool((counts > 0).all())
    return PairSummary(
        items=matrix.items,
        comparisons=matrix.counts,
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


def agreement(
    rankings: ArrayLike, *, max_rankings: int = _MOST_COMPARED, random_state: RandomState = None
) -> Agreement:
    """Measure how much rankings agree with each other: the mean Kendall distance of two of them.

    Parameters
    ----------
    rankings : array-like of shape (n_rankings, n_items) or Rankings
        Positions: column = item, 1 = best.
    max_rankings : int, default=1000
        Of more rankings, a random sample of this size is compared.
    random_state : None, int, Generator or RandomState
        Decides the sample.

    Returns
    -------
    Agreement

    Examples
    --------
    >>> from rankwise.analysis import agreement
    >>> agreement([[1, 2, 3], [1, 2, 3], [3, 2, 1]]).to_each_other
    0.666...
    """
    rankings = Rankings(rankings)
    rows = sample_rows(len(rankings), max_rankings, check_generator(random_state))
    weights = rankings.weights[rows]
    # Two rankings that share a row, because it counts more than once, have distance 0, like the diagonal.
    pairs = np.triu(np.outer(weights, weights), k=1) + np.diag(np.maximum(weights * (weights - 1) / 2, 0))
    distances = pairwise_distances(rankings[rows], normalize=True)
    known = ~np.isnan(distances) & (pairs > 0)
    mean = float(np.average(distances[known], weights=pairs[known])) if known.any() else None
    return Agreement(mean, len(rows), len(rankings))


def _known(value: float | None, scale: str) -> str:
    return "unknown: some pair is never compared" if value is None else f"{value:.3f} ({scale})"
