"""One ranking of many, its cost and how sure it is: `consensus`, for `analyze` and ``rankwise consensus``."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, get_args, overload

import numpy as np

from rankwise._decode import ConsensusRule, Decoder
from rankwise._tables import TextTable, make_frame, name_column, short_name
from rankwise._typing import ArrayLike, FloatArray, RandomState
from rankwise.aggregation import (
    BootstrapConsensus,
    Consensus,
    Election,
    MedianRanking,
    OptimalRankings,
    bootstrap_consensus,
    preference_matrix,
)
from rankwise.aggregation.election import in_words
from rankwise.aggregation.rules import CONSENSUS_RULES, RuleResult
from rankwise.aggregation.shared_order import places
from rankwise.analysis.base import Result, break_ties_at_random, rankings_of
from rankwise.data import Rankings
from rankwise.data.positions import compare_positions, has_ties
from rankwise.distances import kendall_distance

if TYPE_CHECKING:
    from rankwise.analysis.consensus_comparison import ConsensusComparison

#: fewer rankings say too little about a predictor, or about how sure a consensus is
FEWEST_RANKINGS = 10
#: fewer resamples cannot give an interval of a usual level
FEWEST_RESAMPLES = 20
# Ties that a rule could not follow to their end, or a search without a proof.
_UNKNOWN_TIES = "other rankings may do as well: not all ties are known"
#: the note of a result without intervals because they were not asked for and would take long
SLOW_INTERVALS = "no intervals, because resampling would take a while: ask for them with intervals=True"
_RESAMPLES = 200
# With intervals="auto", the rankings are resampled if all resamples together have at most this many pairs, which takes
# seconds. The rules named here count the pairs of all resamples at once; others take each resample by itself.
_MOST_PAIRS = dict.fromkeys(CONSENSUS_RULES, 1e7) | dict.fromkeys(get_args(Decoder), 1e9) | {"cayley": 0.0}
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
        Weight of the rankings that compare the item with another.
    scores : ndarray of shape (n_items,) or None
        What the items are ordered by, where the rule has such scores; higher is better.
    score_name : str
        What the scores are; empty if there are none.
    never_compared : tuple
        Items that no ranking compares with another. They have no place in a consensus.
    cost : float
        Weight of the comparisons that the consensus contradicts, half of it where the consensus ties a pair; for
        "kemeny" the cost of each optimal ranking.
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
    bootstrap : BootstrapConsensus or None
        How the places vary from resample to resample, where that was computed.
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
    bootstrap: BootstrapConsensus | None = None
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
            "never_compared": [str(item) for item in self.never_compared],
            "score": self.score_name,
            "cost": self.cost,
            "comparisons": self.comparisons,
            "mean_distance": self.mean_distance,
            **(proof if self.kemeny is None else {name: getattr(self.kemeny, name) for name in proof}),
            "optimal_rankings": self._optimal_orders() or None,
            "election": None if self.election is None else self.election.as_dict(),
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
            columns[f"{100 * self.bootstrap.level:g} % interval"] = [self.bootstrap.intervals[i] for i in order]
        never = ", ".join(map(short_name, self.never_compared))
        ties = self.ties
        more = [f"and {len(ties) - _SHOWN_TIES} more ties"] if len(ties) > _SHOWN_TIES else []
        notes = [*ties[:_SHOWN_TIES], *more, *self.seldom]
        notes += [*([f"no ranking compares {never} with another item"] if never else []), *self.notes]
        rows = [list(row) for row in zip(*columns.values(), strict=True)]
        return TextTable(f"Consensus: {self.method}", "; ".join(notes), list(columns), rows)

    def quality_table(self, *further_distances: list[str]) -> TextTable:
        """What is known about the consensus as a table of text; rows of further distances go below the mean one."""
        against = f"{self.cost:,.10g} of {self.comparisons:,.10g} comparisons ({self.cost / self.comparisons:.1%})"
        rows = [
            ["against the consensus", against],
            ["mean Kendall distance", f"{self.mean_distance:.3f} (0 is the same order, 1 the reverse)"],
            *further_distances,
        ]
        if self.kemeny is not None:
            rows.append(["proof", _proof(self.kemeny, self.optimal)])
        if self.median is not None:
            rows.append(["sum of distances", f"{self.median.cost:,.10g} by {self.method}, {_known(self.median)}"])
        for name, value in self.parameters.items():
            unknown = "infinite: all rankings are the same" if name == "theta" else "unknown"
            shown = f"{value:.3f}" if np.isfinite(value) else unknown
            rows.append([name.replace("_se", ", standard error"), shown])
        if self.bootstrap is not None:
            caution = "conservative, " if self.bootstrap.intervals_from != "percentiles" else ""
            rows.append(["intervals", f"{caution}from {self.bootstrap.n_resamples:,} resamples of the rankings"])
        return TextTable("How good", "", ["", ""], rows)

    def _optimal_orders(self) -> list[list[str]]:
        """The optimal rankings, if there are several, as names of items, best first."""
        names = [str(item) for item in self.items]
        return sorted([names[i] for i in order] for order in (self.optimal.rankings.orders() if self.optimal else ()))

    def _optimal_table(self) -> list[TextTable]:
        """The optimal rankings as a table of text, if there are several, and few enough to read."""
        if self.optimal is None or not self.optimal.complete or len(self.optimal.rankings) > _SHOWN_OPTIMAL:
            return []
        rows = [[" > ".join(map(short_name, order))] for order in self._optimal_orders()]
        return [TextTable(f"All {len(rows)} rankings of lowest cost", "", [""], rows)]

    def _best_first(self) -> list[int]:
        """Numbers of the items, best first, those that tie by name: the order of the columns shows nowhere."""
        return sorted(range(len(self.items)), key=lambda i: (self.positions[i], str(self.items[i])))


@overload
def consensus(
    rankings: ArrayLike,
    methods: ConsensusRule = ...,
    *,
    intervals: bool | Literal["auto"] = ...,
    n_resamples: int = ...,
    level: float = ...,
    time_limit: float | None = ...,
    alpha: float = ...,
    seats: int | None = ...,
    break_ties: bool = ...,
    random_state: RandomState = ...,
    n_jobs: int | None = ...,
) -> ConsensusResult: ...


@overload
def consensus(
    rankings: ArrayLike,
    methods: Sequence[ConsensusRule] | Literal["all"],
    *,
    intervals: bool | Literal["auto"] = ...,
    n_resamples: int = ...,
    level: float = ...,
    time_limit: float | None = ...,
    alpha: float = ...,
    seats: int | None = ...,
    break_ties: bool = ...,
    random_state: RandomState = ...,
    n_jobs: int | None = ...,
) -> ConsensusComparison: ...


def consensus(
    rankings: ArrayLike,
    methods: Any = "kemeny",
    *,
    intervals: bool | Literal["auto"] = "auto",
    n_resamples: int = _RESAMPLES,
    level: float = 0.95,
    time_limit: float | None = None,
    alpha: float = 0.0,
    seats: int | None = None,
    break_ties: bool = False,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> ConsensusResult | ConsensusComparison:
    """Find a consensus of rankings, what it costs, and how sure it is; or several side by side.

    Items that no ranking compares with another have no place in a consensus; they are left out and named.

    Parameters
    ----------
    rankings : array-like of shape (n_rankings, n_items), Rankings or Survey
        Positions: column = item, 1 = best. The weights of Rankings count.
    methods : str or sequence of str, default="kemeny"
        The rule: "kemeny", "borda", "copeland", "copeland-or-borda", "schulze", "ranked-pairs", "plurality", "bucklin",
        "instant-runoff", "stv" (with ``seats``), the medians "footrule", "spearman", "hamming" and "cayley", the center
        of a "mallows" model, or the order of the worths of a "plackett-luce" model. A list of rules, or "all" for all
        that apply, gives a comparison, without intervals.
    intervals : bool or "auto", default="auto"
        Whether to resample the rankings for intervals of places. "auto" does so where it takes seconds; if it is not
        possible, a note says why, where True raises. Fewer than 10 rankings never have intervals.
    n_resamples : int, default=200
        Number of resamples; 20 at least.
    level : float, default=0.95
        Least probability that the interval of an item holds its true place; see `bootstrap_consensus`.
    time_limit : float, optional
        Seconds for the proof of Kemeny's consensus; by default see `kemeny`.
    alpha : float, default=0.0
        Strength of the prior of the Plackett-Luce model.
    seats : int, optional
        How many items "stv" elects.
    break_ties : bool, default=False
        Whether to break the ties in the rankings at random, 20 ways each with a twentieth of the weight, for rules that
        take none ("mallows", "cayley").
    random_state : None, int, Generator or RandomState
        Source of the random numbers for the search and the resamples.
    n_jobs : int, optional
        Number of threads for the resamples; -1 uses all processors. The result does not depend on it.

    Returns
    -------
    ConsensusResult
        Of one rule.
    ConsensusComparison
        Of several.

    See Also
    --------
    rankwise.aggregation.kemeny, rankwise.aggregation.bootstrap_consensus : What it is made of.

    Examples
    --------
    >>> from rankwise.analysis import consensus
    >>> consensus([[1, 2, 3], [1, 3, 2], [1, 2, 3]] * 5, random_state=0)
    Consensus: kemeny
    place  item  95 % interval
    1      0     1
    2      1     2-3
    3      2     2-3
    <BLANKLINE>
    How good
    against the consensus  5 of 45 comparisons (11.1%)
    mean Kendall distance  0.111 (0 is the same order, 1 the reverse)
    proof                  optimal: no ranking costs less, and no other ranking does as well
    intervals              conservative, from 200 resamples of the rankings
    """
    if not isinstance(methods, str) or methods == "all":
        from rankwise.analysis.consensus_comparison import compare_rules

        rules: dict[str, Any] = {"time_limit": time_limit, "alpha": alpha, "seats": seats, "break_ties": break_ties}
        return compare_rules(rankings_of(rankings), methods, random_state=random_state, **rules)
    check_rule(methods, seats)
    if not isinstance(intervals, bool) and intervals != "auto":
        raise ValueError(f"intervals is {intervals!r}; choose True, False or 'auto', and give a number as n_resamples")
    if n_resamples < FEWEST_RESAMPLES:
        raise ValueError(f"n_resamples is {n_resamples}, too few for an interval; give {FEWEST_RESAMPLES} or more")
    rankings = rankings_of(rankings)
    rule: Any = methods
    choices: dict[str, Any] = {"alpha": alpha, "seats": seats, "break_ties": break_ties, "random_state": random_state}
    result = find_consensus(rankings, rule, time_limit=time_limit, **choices)
    if intervals is False:
        return result
    if intervals == "auto" and n_resamples * len(rankings) * rankings.n_items**2 > _MOST_PAIRS[rule]:
        return replace(result, notes=(*result.notes, SLOW_INTERVALS))
    return add_intervals(
        result, rankings, n_resamples=n_resamples, level=level, n_jobs=n_jobs, required=intervals is True, **choices
    )


def add_intervals(
    result: ConsensusResult,
    rankings: Rankings,
    *,
    n_resamples: int,
    level: float = 0.95,
    alpha: float = 0.0,
    seats: int | None = None,
    break_ties: bool = False,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    required: bool = False,
) -> ConsensusResult:
    """The same consensus with intervals, or with a note that says why there are none; if required, that is an error."""
    if _n_voters(rankings) < FEWEST_RANKINGS:
        note = f"no intervals: fewer than {FEWEST_RANKINGS} rankings say too little"
        return replace(result, notes=(*result.notes, note))
    rule: Any = result.method
    if break_ties or rule in ("plackett-luce", "stv"):
        rule = partial(_apply, rule=rule, alpha=alpha, seats=seats, break_ties=break_ties)
    try:
        with warnings.catch_warnings():
            if not required:
                warnings.simplefilter("ignore", UserWarning)  # the consensus has warned already
            spread = bootstrap_consensus(
                rankings.comparable(),
                rule,
                consensus=result.positions,
                n_resamples=n_resamples,
                level=level,
                random_state=random_state,
                n_jobs=n_jobs,
            )
    except ValueError as error:  # such as items that hardly any ranking holds
        if required:
            raise
        return replace(result, notes=(*result.notes, f"no intervals: {error}"))
    return replace(result, bootstrap=spread)


def check_rule(name: Any, seats: int | None = None) -> None:
    """Refuse what is not the name of a rule, and an election of an unknown number of seats."""
    if name not in CONSENSUS_RULES:
        cure = " (range voting needs scores: rankwise.aggregation.range_voting)" if name == "range" else ""
        raise ValueError(f"{name!r} is not a rule; choose one of {', '.join(map(repr, CONSENSUS_RULES))}{cure}")
    if name == "stv" and seats is None:
        raise ValueError("stv elects several items: give their number as seats, or take 'instant-runoff' for one")


def find_consensus(
    rankings: Rankings,
    rule: ConsensusRule = "kemeny",
    *,
    time_limit: float | None = None,
    alpha: float = 0.0,
    seats: int | None = None,
    break_ties: bool = False,
    random_state: RandomState = None,
) -> ConsensusResult:
    """The consensus without intervals."""
    compared = rankings.compared
    if not compared.any():
        raise ValueError("no ranking compares two items, so there is no consensus")
    part = rankings.comparable()
    search: dict[str, Any] = {"time_limit": time_limit, "random_state": random_state} if rule == "kemeny" else {}
    found = _apply(part, rule, alpha=alpha, seats=seats, break_ties=break_ties, **search)
    matrix = preference_matrix(part)
    after = compare_positions(found.positions, found.positions[:, np.newaxis])  # the row item after the column item
    distances = kendall_distance(part, found.positions, normalize=True)
    known = ~np.isnan(distances) & (part.weights > 0)
    first = [part.items[i] for i in np.flatnonzero(found.positions == 1)]
    holds = ~np.isnan(part.positions) & part.informative[:, np.newaxis]
    return ConsensusResult(
        method=rule,
        items=part.items,
        positions=found.positions,
        winners=tuple(sorted(first if found.winners is None else found.winners, key=str)),
        held=part.weights @ holds,
        scores=found.scores,
        score_name=found.score_name,
        never_compared=tuple(rankings.items[i] for i in np.flatnonzero(~compared)),
        cost=float(np.sum(after * matrix.wins)) if found.kemeny is None else found.kemeny.cost,
        comparisons=float(np.triu(matrix.counts, 1).sum()),
        distances=distances,
        mean_distance=float(np.average(distances[known], weights=part.weights[known])),
        kemeny=found.kemeny,
        optimal=found.optimal,
        median=found.median,
        election=found.election,
        parameters=found.parameters,
        notes=() if found.complete else (_UNKNOWN_TIES,),
    )


def _apply(
    rankings: Rankings, rule: ConsensusRule, *, alpha: float, seats: int | None, break_ties: bool, **search: Any
) -> RuleResult:
    """What a rule finds, with the options that it takes."""
    if break_ties and has_ties(rankings.positions).any():
        rankings = break_ties_at_random(rankings)
    takes: dict[str, dict[str, Any]] = {"plackett-luce": {"alpha": alpha}, "stv": {"seats": seats}}
    return CONSENSUS_RULES[rule](rankings, **takes.get(rule, {}), **search)


def _n_voters(rankings: Rankings) -> float:
    """Rankings that can be drawn: whole weights say how often one occurred, others say nothing about that."""
    weights = rankings.weights
    return float(weights.sum()) if (weights % 1 == 0).all() else float(np.count_nonzero(weights))


def _proof(best: Consensus, several: OptimalRankings | None) -> str:
    if not best.optimal:
        return f"none within the time limit: at most {100 * best.gap:.2g} % of the cost could be saved"
    others = {True: ", and no other ranking does as well", False: ", but others do as well", None: ""}[best.unique]
    if several is not None:
        number = len(several.rankings)
        others = f", and {number if several.complete else f'more than {number:,}'} rankings cost the same"
    return f"optimal: no ranking costs less{others}"


def _known(median: MedianRanking) -> str:
    return "none is nearer" if median.optimal else f"at most {100 * median.gap:.2g} % of it could be saved"
