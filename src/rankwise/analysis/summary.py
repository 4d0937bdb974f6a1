"""What rankings hold before anything is made of them: `summary`, for `analyze` and ``rankwise describe``."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwise._tables import TextTable, counted, make_frame, name_column, short_name
from rankwise._typing import ArrayLike, FloatArray
from rankwise._validation import check_open_share, weights_count_people
from rankwise.analysis import item_ranks_jit
from rankwise.analysis.base import Result, features_of, rankings_of
from rankwise.analysis.item_ranks import item_ranks
from rankwise.analysis.kendalls_w import Concordance, WeightKind, concordance_of_ranks
from rankwise.analysis.majorities import PairSummary, pair_summary

_SHOWN_FEATURES = 6
_TOP = 3


@dataclass(frozen=True, eq=False, repr=False)
class Summary(Result):
    """What rankings hold, item by item; made by `summary`.

    Statistics of items are over the rankings that compare items at all and hold the item: it is listed or unlisted, not
    missing.

    Attributes
    ----------
    name : str
        What the data are called.
    items : tuple
        Names of the items.
    n_rankings, n_items, n_distinct : int
        Rankings, items, and rankings that differ from each other.
    n_empty : int
        Rankings that compare nothing, because they list no item or hold one item only.
    total_weight : float
        Sum of the weights of the rankings: the weighted number of people.
    n_effective : float
        Number of people of equal weight that would say as much, by Kish: the square of the sum of the weights, divided
        by the sum of their squares. If weights count people, their number.
    weights_are : {"equal", "counts", "survey"}
        Whether all weights are 1, count people, or are survey weights.
    kind : {"full", "tied", "top-k", "incomplete"}
        The least special kind that covers every ranking.
    n_with_ties, n_with_unlisted, n_with_missing : int
        Rankings with such items.
    listed, unlisted, missing : ndarray of shape (n_items,)
        For each item, the weight of the rankings that give it a place, leave it unlisted, or miss it.
    n : ndarray of shape (n_items,)
        People whose rankings hold the item and compare it with others. Survey weights do not count here.
    mean_rank : ndarray of shape (n_items,)
        Weighted mean of the ranks, from 1, always first, to the number of items. Tied items share the mean of their
        places, and so do unlisted items. Where items are missing, it is the rank expected if these are put in at
        random: the midrank among the m items of a ranking times (n_items + 1) / (m + 1).
    standard_error : ndarray of shape (n_items,)
        Standard error of the mean rank; with survey weights, the linearized one. NaN for fewer than two people.
    low, high : ndarray of shape (n_items,)
        Ends of the confidence interval of the mean rank, by Student's t.
    median : ndarray of shape (n_items,)
        Weighted median of the same ranks.
    top1, top3 : ndarray of shape (n_items,)
        Share of the rankings that put the item first, and among the first three of the items that they hold. Tied items
        share their places; unlisted items have none.
    marginals : ndarray of shape (n_items, n_items)
        Share of the rankings with item i (row) at place j + 1 (column); the rest of a row is unlisted.
    concordance : Concordance
        Kendall's W and its test.
    level : float
        The level of the intervals.
    features : tuple of str
        Names of the features that came with the rankings.
    pairs : PairSummary
        What pairs of items say.
    notes : tuple of str
        What a reader should know about the data.
    n_zero_weight : int
        Rankings of weight zero; they do not count.
    """

    name: str
    items: tuple[Hashable, ...]
    n_rankings: int
    n_empty: int
    total_weight: float
    n_effective: float
    weights_are: str
    n_items: int
    kind: str
    n_distinct: int
    n_with_ties: int
    n_with_unlisted: int
    n_with_missing: int
    listed: FloatArray
    unlisted: FloatArray
    missing: FloatArray
    n: FloatArray
    mean_rank: FloatArray
    standard_error: FloatArray
    low: FloatArray
    high: FloatArray
    median: FloatArray
    top1: FloatArray
    top3: FloatArray
    marginals: FloatArray
    concordance: Concordance
    level: float
    features: tuple[str, ...]
    pairs: PairSummary
    notes: tuple[str, ...] = ()
    n_zero_weight: int = 0

    @property
    def kendalls_w(self) -> float:
        """Kendall's W: 0 is no agreement, 1 full agreement."""
        return self.concordance.w

    @property
    def friedman(self) -> Concordance:
        """The test that all items are ranked alike: Friedman's, or Skillings and Mack's where items are missing."""
        return self.concordance

    @property
    def highlights(self) -> list[str]:
        """The summary in a few sentences."""
        return [*self._leaders(), self.concordance.sentence, *self.explanations]

    @property
    def explanations(self) -> list[str]:
        """Who was counted, and how the mean rank is defined where rankings are not full, in plain words."""
        lines = []
        if self.n_empty:
            who = "ranking compares" if self.n_empty == 1 else "rankings compare"
            lines.append(f"{self.n_empty:,} {who} nothing and {'is' if self.n_empty == 1 else 'are'} counted apart.")
        if self.weights_are == "counts":
            lines.append(
                f"The weights are whole numbers and count people: {counted(self.n_rankings, 'row')} "
                f"for {self.total_weight:,.0f} people."
            )
        elif self.weights_are == "survey":
            lines.append(
                f"The weights are survey weights: {counted(self.n_rankings - self.n_zero_weight, 'person', 'people')}, "
                f"{self.total_weight:,.1f} by weight, which say as much as {self.n_effective:,.1f} people of equal "
                "weight."
            )
        if self.n_zero_weight:
            do = "has the weight zero and does" if self.n_zero_weight == 1 else "have the weight zero and do"
            lines.append(f"{counted(self.n_zero_weight, 'ranking')} {do} not count.")
        if self.n_with_unlisted:
            lines.append("Unlisted items share the places below the listed ones in the mean rank.")
        if self.n_with_missing:
            lines.append(
                "Where items are missing, the mean rank is the one expected if they are put in at random; first choice "
                "and top three are among the items that a ranking holds."
            )
        return lines

    def _leaders(self) -> list[str]:
        order = [i for i in self._best_first() if np.isfinite(self.mean_rank[i])]
        if not order:
            return ["No ranking compares two items, so there are no ranks."]
        best = self.mean_rank[order[0]]
        first = [i for i in order if self.mean_rank[i] - best <= 1e-9]
        names = " and ".join([", ".join(short_name(self.items[i]) for i in first[:-1])] * (len(first) > 1))
        names = f"{names} and {short_name(self.items[first[-1]])}" if names else short_name(self.items[first[0]])
        line = f"{names} {'have' if len(first) > 1 else 'has'} the best mean rank, {best:.2f} of {self.n_items:,}"
        if len(first) > 1:
            return [f"{line}: a tie."]
        if np.isfinite(self.low[order[0]]):
            line += f" ({100 * self.level:g}% interval {self.low[order[0]]:.2f} to {self.high[order[0]]:.2f})"
        line += f"; {self.top1[order[0]]:.0%} put it first"
        if self.n_items > _TOP:
            line += f", {self.top3[order[0]]:.0%} among the first three"
        lines = [f"{line}."]
        if len(order) > 1:
            lines.append(f"Next is {short_name(self.items[order[1]])} with {self.mean_rank[order[1]]:.2f}.")
        most = int(np.nanargmax(self.top1))
        if most != order[0] and self.top1[most] > self.top1[order[0]] + 1e-9:
            lines.append(f"Most first choices go to {short_name(self.items[most])}: {self.top1[most]:.0%}.")
        return lines

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with a row per item, best mean rank first, of pandas by default, else of the named backend.

        Columns: ``item``, ``n``, ``mean_rank``, ``standard_error``, ``low``, ``high``, ``median``, ``top1``, ``top3``,
        ``listed``, ``unlisted`` and ``missing``.
        """
        order = self._best_first()
        columns = {name: getattr(self, name)[order] for name in _ITEM_COLUMNS}
        return make_frame({"item": name_column([self.items[i] for i in order])} | columns, backend)

    def marginals_frame(self, backend: str | None = None) -> Any:
        """The marginals as a data frame with a row per item, best mean rank first, of pandas by default.

        Columns: ``item``, one per place with the share of the rankings that have the item there, and ``unlisted``.
        """
        order = self._best_first()
        columns: dict[str, Any] = {"item": name_column([self.items[i] for i in order])}
        columns |= {str(place + 1): self.marginals[order, place] for place in range(self.n_items)}
        return make_frame(columns | {"unlisted": 1 - self.marginals[order].sum(axis=1)}, backend)

    def as_dict(self, *, marginals: bool = False) -> dict[str, Any]:
        """The numbers for JSON, without pairs; None for those that are not known.

        Parameters
        ----------
        marginals : bool, default=False
            Whether to add ``marginals``, the share of each item at each place.

        Returns
        -------
        dict
        """
        names = ["n_rankings", "n_empty", "total_weight", "n_effective", "weights_are", "n_items", "kind", "n_distinct"]
        names += ["n_with_ties", "n_with_unlisted", "n_with_missing", "level"]
        facts = {name: getattr(self, name) for name in names}
        columns = {name: getattr(self, name).tolist() for name in _ITEM_COLUMNS}
        ranks = [
            {"item": str(self.items[i])} | {name: _finite(column[i]) for name, column in columns.items()}
            for i in self._best_first()
        ]
        features = {"n_features": len(self.features), "features": list(self.features), "notes": list(self.notes)}
        facts |= {"mean_ranks": ranks, "concordance": self.concordance.as_dict()} | features
        if marginals:
            facts["marginals"] = [
                {"item": str(self.items[i]), "places": list(map(_finite, self.marginals[i].tolist()))}
                | {"unlisted": _finite(1 - float(self.marginals[i].sum()))}
                for i in self._best_first()
            ]
        return facts

    def tables(self) -> list[TextTable]:
        """The numbers as tables of text: mean ranks, agreement, what the rankings hold, and details of pairs."""
        return [self.ranks_table(), self.concordance.tables()[0], self.data_table(), self.pairs.table()]

    def ranks_table(self) -> TextTable:
        """Mean ranks, first choices and top three as a table of text, best item first."""
        columns = ["item", "mean rank", "standard error", f"{100 * self.level:g}% interval", "median", "first choice"]
        columns += ["top three"] * (self.n_items > _TOP) + ["n"]
        rows = []
        for i in self._best_first():
            interval = f"{self.low[i]:.2f} to {self.high[i]:.2f}" if np.isfinite(self.low[i]) else ""
            shares = [self.top1[i], self.top3[i]][: 1 + (self.n_items > _TOP)]
            means = [_shown(self.mean_rank[i], ".2f"), _shown(self.standard_error[i], ".2f")]
            numbers = [*means, interval, _shown(self.median[i], ".3g")]
            rows.append(
                [short_name(self.items[i]), *numbers, *(_shown(share, ".0%") for share in shares), f"{self.n[i]:,.0f}"]
            )
        return TextTable("Mean ranks, best first", " ".join(self.explanations), columns, rows)

    def marginals_table(self, *, decimals: int = 0) -> TextTable:
        """How often each item holds which place, in percent with so many decimals, as a table of text."""
        unlisted = self.n_with_unlisted > 0
        columns = ["item", *map(str, range(1, self.n_items + 1)), *["unlisted"] * unlisted]
        rows = []
        for i in self._best_first():
            shares = [*self.marginals[i], *[1 - self.marginals[i].sum()] * unlisted]
            rows.append([short_name(self.items[i]), *(_shown(share, f".{decimals}%") for share in shares)])
        return TextTable("How often each item is at which place", "", columns, rows)

    def matrix_tables(self) -> list[TextTable]:
        """Places of the items, who is put before whom, and how many people compare each pair, as tables of text."""
        return [self.marginals_table(decimals=1), *self.pairs.matrix_tables(self._best_first().tolist())]

    def data_table(self) -> TextTable:
        """What the rankings hold as a table of text."""
        n = self.n_rankings
        features = ", ".join(self.features[:_SHOWN_FEATURES]) + (", ..." * (len(self.features) > _SHOWN_FEATURES))
        weight = "" if self.total_weight == n else f" of total weight {self.total_weight:,.10g}"
        some = {
            "with ties": self.n_with_ties,
            "with unlisted items": self.n_with_unlisted,
            "with missing items": self.n_with_missing,
        } | ({"that compare nothing": self.n_empty} if self.n_empty else {})
        effective = [["effective number", f"{self.n_effective:,.1f} people of equal weight"]]
        rows = [
            ["rankings", f"{n:,}{weight} ({self.n_distinct:,} distinct)"],
            *(effective if self.weights_are == "survey" else []),
            ["items", f"{self.n_items:,}"],
            ["kind", self.kind],
            *([what, f"{count:,} ({count / n:.0%})" if count else "none"] for what, count in some.items()),
            ["features", f"{len(self.features):,}: {features}" if self.features else "none"],
        ]
        title = f"Data: {self.name}" if self.name else "Data"
        return TextTable(title, "; ".join(self.notes), ["", ""], rows)

    def _best_first(self) -> Any:
        """Items by mean rank; those without one are last."""
        return np.argsort(np.round(self.mean_rank, 9), kind="stable")


_RANK_COLUMNS = ("n", "mean_rank", "standard_error", "low", "high", "median", "top1", "top3")
_ITEM_COLUMNS = (*_RANK_COLUMNS, "listed", "unlisted", "missing")


def summary(
    rankings: ArrayLike,
    X: Any = None,
    *,
    level: float = 0.95,
    weight_kind: WeightKind = "auto",
    feature_names: Sequence[str] | None = None,
    name: str = "",
    notes: Sequence[str] = (),
) -> Summary:
    """Summarize rankings: mean ranks, first choices, agreement, of what kind they are, and what pairs of items say.

    Parameters
    ----------
    rankings : array-like of shape (n_rankings, n_items), Rankings or Survey
        Positions: column = item, 1 = best, of any kind.
    X : array-like or data frame of shape (n_rankings, n_features), or dict of columns, optional
        Features that came with the rankings; only their names are used.
    level : float, default=0.95
        Level of the confidence intervals of mean ranks.
    weight_kind : {"auto", "counts", "survey"}, default="auto"
        What the weights of Rankings are: counts of people, or survey weights, which say how many people of the
        population a respondent stands for. By default whole numbers count people, and others are survey weights; the
        summary says which. It matters for standard errors and tests only.
    feature_names : sequence of str, optional
        Their names; by default the columns of a data frame or a dict, else x0, x1, ...
    name : str, default=""
        What the data are called.
    notes : sequence of str, default=()
        What a reader should know about the data.

    Returns
    -------
    Summary

    See Also
    --------
    concordance : Kendall's W alone, with a choice of p-values.
    pair_summary : Pairs alone.

    References
    ----------
    Kish (1965), Survey sampling, for the effective number of people.
    Lumley (2010), Complex surveys, for linearized standard errors.

    Examples
    --------
    >>> from rankwise.analysis import summary
    >>> summary([[1, 2, 3], [2, 1, 3], [1, 2, 3]]).to_frame(backend="pandas").iloc[:, :7].round(2)
       item    n  mean_rank  standard_error  low  high  median
    0     0  3.0       1.33            0.33  1.0  2.77     1.0
    1     1  3.0       1.67            0.33  1.0  3.00     2.0
    2     2  3.0       3.00            0.00  3.0  3.00     3.0
    """
    rankings = rankings_of(rankings)
    if len(rankings) == 0:
        raise ValueError("there are no rankings to summarize; give one at least (did a filter drop every row?)")
    check_open_share("level", level)
    positions, weights = rankings.positions, rankings.weights
    people = weights_count_people(weights, weight_kind)
    found = item_ranks(rankings, level=level, people=people)
    n_ties, n_unlisted, n_missing = (int(count) for count in found.n_with)
    total, all_one = float(weights.sum()), bool(np.all(weights == 1))
    gaps = not all_one or n_unlisted or n_missing
    top = found.places[:, :_TOP].sum(axis=1)
    return Summary(
        name=name,
        items=rankings.items,
        n_rankings=len(rankings),
        n_empty=int(np.count_nonzero(found.sizes == 0)),
        total_weight=total,
        n_effective=total if people else total**2 / max(float(weights @ weights), np.finfo(float).tiny),
        weights_are="equal" if all_one else "counts" if people else "survey",
        n_items=rankings.n_items,
        kind="incomplete" if n_missing else "top-k" if n_unlisted else "tied" if n_ties else "full",
        n_distinct=int(item_ranks_jit.count_distinct(positions)),
        n_with_ties=n_ties,
        n_with_unlisted=n_unlisted,
        n_with_missing=n_missing,
        listed=weights @ np.isfinite(positions) if gaps else np.full(rankings.n_items, total),
        unlisted=weights @ np.isposinf(positions) if gaps else np.zeros(rankings.n_items),
        missing=weights @ np.isnan(positions) if gaps else np.zeros(rankings.n_items),
        n=found.n,
        mean_rank=found.mean,
        standard_error=found.standard_error,
        low=found.low,
        high=found.high,
        median=found.median,
        top1=found.places[:, 0],
        top3=np.where(top > 1 - 1e-12, 1.0, top),
        marginals=found.places,
        concordance=concordance_of_ranks(found.ranks, found.sizes, found.squares, weights, people),
        level=float(level),
        features=tuple(features_of(X, feature_names).names),
        pairs=pair_summary(rankings),
        notes=tuple(notes),
        n_zero_weight=int(np.count_nonzero(weights == 0)),
    )


def _shown(value: float, spec: str) -> str:
    return format(value, spec) if np.isfinite(value) else ""


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
