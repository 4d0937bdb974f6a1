"""A consensus with its cost, proof and intervals: `ConsensusResult`, which `consensus` returns."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankwise._decode import rule_in_words
from rankwise._tables import TextTable, counted, make_frame, name_column, short_name
from rankwise._typing import FloatArray
from rankwise.aggregation import BootstrapConsensus, Consensus, Election, MedianRanking, OptimalRankings
from rankwise.aggregation.election import in_words
from rankwise.aggregation.shared_order import places
from rankwise.analysis.base import Result

# An item that fewer rankings hold than this share of what is usual is compared seldom; so is one in a single ranking.
_SELDOM = 0.2
_SHOWN_TIES, _SHOWN_OPTIMAL = 3, 6


@dataclass(frozen=True, eq=False, repr=False)
class ConsensusResult(Result):
    """A consensus of rankings, what it costs and how sure it is; made by `consensus`.

    Attributes
    ----------
    method : str
        The rule that found it.
    items : tuple
        The items that some ranking compares with another, in the order of the rankings' items.
    positions : ndarray of shape (n_items,)
        The consensus, 1 = best, dense: items that it ties have the same position. Where several rankings are equally
        good, this is the bucket order that all of them share; no order of columns or rows decides.
    winners : tuple
        Items that come first, more than one if they tie.
    held : ndarray of shape (n_items,)
        People whose rankings compare the item with another. Whole weights count people, survey weights do not.
    scores : ndarray of shape (n_items,) or None
        What the items are ordered by, where the rule has such scores; higher is better.
    score_name : str
        What the scores are; empty if there are none.
    never_compared : tuple
        Items that no ranking compares with another. They have no place in a consensus.
    cost : float
        Weight of the comparisons that the consensus contradicts, half of it where the consensus ties a pair. For
        "kemeny" the cost of each optimal ranking: less than that of the bucket order which they share.
    comparisons : float
        Weight of all comparisons.
    distances : ndarray of shape (n_rankings,)
        Kendall distance of each ranking to the consensus, as a share of the pairs that it compares: 0 is the same
        order, 1 the reverse, NaN where a ranking compares nothing.
    mean_distance : float
        Their weighted mean.
    kemeny : Consensus or None
        What `kemeny` returned, with its proof, for the method "kemeny".
    optimal : OptimalRankings or None
        All rankings that are as good, if there are several, for the method "kemeny".
    median : MedianRanking or None
        What `median_ranking` returned, for the medians.
    election : Election or None
        The rounds, for "instant-runoff" and "stv".
    parameters : dict
        Parameters of a model, and their standard errors.
    constraints : tuple of str
        What the consensus had to keep, and what counted more, in words.
    bootstrap : BootstrapConsensus or None
        How the places vary from resample to resample, where that was computed.
    n_zero_weight : int
        Rankings of weight zero, which do not count.
    notes : tuple of str
        What a reader should know.
    """

    method: str
    items: tuple[Hashable, ...]
    positions: FloatArray
    winners: tuple[Hashable, ...]
    held: FloatArray
    scores: FloatArray | None
    score_name: str
    never_compared: tuple[Hashable, ...]
    cost: float
    comparisons: float
    distances: FloatArray
    mean_distance: float
    kemeny: Consensus | None = None
    optimal: OptimalRankings | None = None
    median: MedianRanking | None = None
    election: Election | None = None
    parameters: dict[str, float] = field(default_factory=dict)
    constraints: tuple[str, ...] = ()
    bootstrap: BootstrapConsensus | None = None
    n_zero_weight: int = 0
    notes: tuple[str, ...] = ()

    @property
    def order(self) -> list[Hashable]:
        """The items, best first."""
        return [self.items[i] for i in self._best_first()]

    @property
    def places(self) -> FloatArray:
        """Places as people write them: two items that share the first place are followed by the third (1, 1, 3)."""
        return places(self.positions)

    @property
    def ties(self) -> list[str]:
        """Which items share a place, in words, best first: "tie between A and B for the first place"."""
        found = []
        if len(self.winners) > 1:
            found.append(f"tie between {in_words([short_name(item) for item in self.winners])} for the first place")
        place = self.places
        for number in np.unique(place):
            shared = sorted((self.items[i] for i in np.flatnonzero(place == number)), key=str)
            if len(shared) > 1 and (number > 1 or set(shared) != set(self.winners)):
                found.append(f"{in_words([short_name(item) for item in shared])} share place {number:.0f}")
        return found

    @property
    def seldom(self) -> list[str]:
        """Items that much fewer rankings hold than is usual, in words: their places say little."""
        usual = float(np.median(self.held))
        few = (self.held < _SELDOM * usual) | ((self.held <= 1) & (usual > 1))
        found = []
        for i in np.flatnonzero(few):
            leads = "leads, but was compared" if self.items[i] in self.winners else "was compared"
            number = f"{self.held[i]:,.10g} ranking{'' if self.held[i] == 1 else 's'}"
            found.append(f"{short_name(self.items[i])} {leads} in {number} only (usual: {usual:,.10g})")
        return found

    @property
    def not_counted(self) -> list[str]:
        """How many rankings have a weight of zero, in words."""
        if not self.n_zero_weight:
            return []
        number, one = counted(self.n_zero_weight, "ranking"), self.n_zero_weight == 1
        return [f"{number} {'has' if one else 'have'} a weight of zero and {'does' if one else 'do'} not count"]

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with a row per item, best first, of pandas by default, else of the named backend.

        Columns: ``item``, ``place`` (shared places as people write them: 1, 1, 3), then ``score`` and the ends of the
        intervals, ``low`` and ``high``, where there are such.
        """
        order = self._best_first()
        columns: dict[str, Any] = {"item": name_column(self.order), "place": self.places[order].astype(int)}
        if self.scores is not None:
            columns["score"] = self.scores[order]
        if self.bootstrap is not None:
            columns |= {"low": self.bootstrap.low[order].astype(int), "high": self.bootstrap.high[order].astype(int)}
        return make_frame(columns, backend)

    def as_dict(self) -> dict[str, Any]:
        """All of it for JSON, the items best first and as text; None for numbers that are not finite."""
        proof = dict.fromkeys(("optimal", "lower_bound", "gap", "unique"))
        place = self.places
        ranking = [
            {
                "item": str(self.items[i]),
                "place": int(place[i]),
                "score": None if self.scores is None else float(self.scores[i]),
                "low": None if self.bootstrap is None else int(self.bootstrap.low[i]),
                "high": None if self.bootstrap is None else int(self.bootstrap.high[i]),
            }
            for i in self._best_first()
        ]
        return {
            "method": self.method,
            "ranking": ranking,
            "winners": [str(item) for item in self.winners],
            "ties": self.ties,
            "seldom_compared": self.seldom,
            "n_zero_weight": self.n_zero_weight,
            "never_compared": [str(item) for item in self.never_compared],
            "score": self.score_name,
            "cost": self.cost,
            "comparisons": self.comparisons,
            "mean_distance": self.mean_distance,
            **(proof if self.kemeny is None else {name: getattr(self.kemeny, name) for name in proof}),
            "optimal_rankings": self._optimal_orders() or None,
            "election": None if self.election is None else self.election.as_dict(),
            "constraints": list(self.constraints),
            "parameters": {name: value if np.isfinite(value) else None for name, value in self.parameters.items()},
            "n_resamples": 0 if self.bootstrap is None else self.bootstrap.n_resamples,
            "level": None if self.bootstrap is None else self.bootstrap.level,
            "notes": list(self.notes),
        }

    def tables(self) -> list[TextTable]:
        """The ranking as a table of text, the rounds of an election, and what is known about the ranking."""
        rounds = [] if self.election is None else self.election.tables()
        return [self.ranking_table(), *rounds, *self._optimal_table(), self.quality_table()]

    def ranking_table(self) -> TextTable:
        """The ranking as a table of text, best item first."""
        order, place = self._best_first(), self.places
        columns = {
            "place": [f"{place[i]:.0f}" for i in order],
            "item": [short_name(item) for item in self.order],
        }
        if self.scores is not None:
            shown = ".1%" if self.score_name == "opponents beaten" else "z.3f"
            columns[self.score_name] = [format(self.scores[i], shown) for i in order]
        if self.seldom:
            columns["rankings"] = [f"{self.held[i]:,.10g}" for i in order]
        if self.bootstrap is not None:
            columns[f"{100 * self.bootstrap.level:g}% interval"] = [self.bootstrap.intervals[i] for i in order]
        never = ", ".join(map(short_name, self.never_compared))
        ties = self.ties
        more = [f"and {len(ties) - _SHOWN_TIES} more ties"] if len(ties) > _SHOWN_TIES else []
        seldom = self.seldom
        more_seldom = [f"and {len(seldom) - _SHOWN_TIES} more items"] if len(seldom) > _SHOWN_TIES else []
        notes = [*ties[:_SHOWN_TIES], *more, *seldom[:_SHOWN_TIES], *more_seldom]
        notes += [*([f"no ranking compares {never} with another item"] if never else []), *self.not_counted]
        notes += self.notes
        rows = [list(row) for row in zip(*columns.values(), strict=True)]
        return TextTable(f"Consensus: {rule_in_words(self.method)}", "; ".join(notes), list(columns), rows)

    def quality_table(self, *further_distances: list[str]) -> TextTable:
        """What is known about the consensus as a table of text; rows of further distances go below the mean one."""
        against = f"{self.cost:,.10g} of {self.comparisons:,.10g} comparisons ({self.cost / self.comparisons:.1%})"
        scale = "0 is the same order, 1 the reverse"
        # Each best ranking has a cost, but what is shown, and has distances, is the order with ties that they share.
        ties = self.optimal is not None
        to_what = f"to the order shown, a tied pair counts half ({scale})" if ties else f"({scale})"
        rows = [
            ["against each best ranking" if ties else "against the consensus", against],
            *([["constraints", "; ".join(self.constraints)]] if self.constraints else []),
            ["mean Kendall distance", f"{self.mean_distance:.3f} {to_what}"],
            *further_distances,
        ]
        if self.kemeny is not None:
            rows.append(["proof", _proof(self.kemeny, self.optimal)])
        if self.median is not None:
            by = rule_in_words(self.method)
            rows.append(["sum of distances", f"{self.median.cost:,.10g} by {by}, {_known(self.median)}"])
        for name, value in self.parameters.items():
            unknown = "infinite: all rankings are the same" if name == "theta" else "unknown"
            shown = f"{value:.3f}" if np.isfinite(value) else unknown
            rows.append([name.replace("_se", ", standard error"), shown])
        if self.bootstrap is not None:
            resamples = f"{self.bootstrap.n_resamples:,} resamples of the rankings"
            words = f"conservative, from {resamples}"
            if self.bootstrap.intervals_from == "percentiles":
                level = f"{100 * self.bootstrap.level:g}%"
                words = f"percentiles of {resamples}: not guaranteed to hold the true place in {level} of the cases"
            rows.append(["intervals", words])
        return TextTable("How good", "", ["", ""], rows)

    def _optimal_orders(self) -> list[list[str]]:
        """The optimal rankings, if there are several, as names of items, best first."""
        names = [str(item) for item in self.items]
        return sorted([names[i] for i in order] for order in (self.optimal.rankings.orders() if self.optimal else ()))

    def _optimal_table(self) -> list[TextTable]:
        """The optimal rankings as a table of text, if there are several: the first ones if these are many."""
        if self.optimal is None:
            return []
        orders, number = self._optimal_orders(), f"{len(self.optimal.rankings):,}"
        rows = [[" > ".join(map(short_name, order))] for order in orders[:_SHOWN_OPTIMAL]]
        title, note = f"All {number} rankings of lowest cost", ""
        if not self.optimal.complete:
            title = f"{len(rows)} of more than {number} rankings of lowest cost"
            note = f"the {number} that were found, all of them: optimal.rankings"
        elif len(orders) > _SHOWN_OPTIMAL:
            title = f"{len(rows)} of {number} rankings of lowest cost"
            note = "all of them: optimal.rankings"
        return [TextTable(title, note, [""], rows)]

    def _best_first(self) -> list[int]:
        """Numbers of the items, best first, those that tie by name: the order of the columns shows nowhere."""
        return sorted(range(len(self.items)), key=lambda i: (self.positions[i], str(self.items[i])))


def _proof(best: Consensus, several: OptimalRankings | None) -> str:
    if not best.optimal:
        return f"none within the time limit: at most {100 * best.gap:.2g}% of the cost could be saved"
    others = {True: ", and no other ranking does as well", False: ", but others do as well", None: ""}[best.unique]
    if several is not None:
        number = len(several.rankings)
        others = f", and {number if several.complete else f'more than {number:,}'} rankings cost the same"
    return f"optimal: no ranking costs less{others}"


def _known(median: MedianRanking) -> str:
    return "none is nearer" if median.optimal else f"at most {100 * median.gap:.2g}% of it could be saved"
