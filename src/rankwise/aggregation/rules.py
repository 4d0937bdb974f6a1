"""Consensus rules by name: the one table from which `bootstrap_consensus`, the analysis and the command line choose.

No rule lets the order of the columns decide: where several rankings are equally good, the positions tie.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from rankwise._decode import ConsensusRule
from rankwise._typing import ArrayLike, FloatArray, RandomState
from rankwise._validation import check_generator
from rankwise.aggregation.constrained import Constraints, solve_constrained
from rankwise.aggregation.election import Election
from rankwise.aggregation.elections import bucklin, plurality, range_voting
from rankwise.aggregation.kemeny import OptimalRankings, kemeny, list_optimal
from rankwise.aggregation.kemeny_result import Consensus
from rankwise.aggregation.mallows import Mallows
from rankwise.aggregation.medians import MedianDistance, MedianRanking, median_ranking
from rankwise.aggregation.pairs import majority, orders_strictly, preference_matrix
from rankwise.aggregation.plackett_luce import PlackettLuce
from rankwise.aggregation.positional import borda, rank_by_score
from rankwise.aggregation.ranked_pairs import ranked_pairs
from rankwise.aggregation.runoffs import instant_runoff, stv
from rankwise.aggregation.tournaments import copeland, schulze
from rankwise.data import Rankings

# Optimal rankings of Kemeny's rule that are listed, to find out what they share.
_MOST_OPTIMAL, _SECONDS_TO_LIST = 1000, 60.0
# Log worths closer than this are equal: fits stop when they change less.
_SAME_WORTH = 1e-6


@dataclass(frozen=True, eq=False)
class RuleResult:
    """What a consensus rule finds.

    Attributes
    ----------
    positions : ndarray of shape (n_items,)
        The consensus, 1 = best.
    scores : ndarray of shape (n_items,) or None
        What the items are ordered by, where the rule has such scores; higher is better.
    score_name : str
        What the scores are; empty if there are none.
    parameters : dict
        Parameters of a model, and their standard errors.
    winners : tuple of hashable or None
        Items that may come first, where these are fewer than those that share the first place.
    kemeny : Consensus or None
        The result of `kemeny`, with its proof.
    optimal : OptimalRankings or None
        All rankings as good as that of `kemeny`, if there are several.
    median : MedianRanking or None
        The result of `median_ranking`.
    election : Election or None
        The rounds of `instant_runoff` or `stv`.
    complete : bool
        Whether all ties are known; if not, more items may be tied.
    comparisons : float or None
        Weight of all comparisons, where the rule weighs them.
    notes : tuple of str
        What a reader should know.
    """

    positions: FloatArray
    scores: FloatArray | None = None
    score_name: str = ""
    parameters: dict[str, float] = field(default_factory=dict)
    winners: tuple[Hashable, ...] | None = None
    kemeny: Consensus | None = None
    optimal: OptimalRankings | None = None
    median: MedianRanking | None = None
    election: Election | None = None
    complete: bool = True
    comparisons: float | None = None
    notes: tuple[str, ...] = ()


def _kemeny(rankings: ArrayLike, *, constraints: Constraints | None = None, **options: Any) -> RuleResult:
    if constraints:
        return _constrained(Rankings(rankings), constraints, **options)
    best = kemeny(rankings, **options)
    if best.unique or not best.optimal:
        return RuleResult(best.positions, kemeny=best, complete=best.optimal)
    # Several rankings do as well, or may: what all of them share, instead of one that the order of the columns decides.
    seconds = options.get("time_limit")
    every, _ = list_optimal(
        preference_matrix(rankings),
        _MOST_OPTIMAL,
        _SECONDS_TO_LIST if seconds is None else seconds,
        check_generator(options.get("random_state")),
    )
    if every is None or every.positions is None:
        return RuleResult(best.positions, kemeny=best, complete=False)
    several = every if len(every.rankings) > 1 else None
    return RuleResult(every.positions, winners=every.winners, kemeny=best, optimal=several, complete=every.complete)


def _constrained(
    rankings: Rankings, constraints: Constraints, *, time_limit: float | None = None, random_state: RandomState = None
) -> RuleResult:
    found = solve_constrained(
        rankings, constraints, limit=_MOST_OPTIMAL, time_limit=time_limit, random_state=random_state
    )
    notes = []
    if found.price is not None:
        more = f"the constraints add {found.price:,.10g} to the cost of the consensus without them"
        notes.append(more if found.price > 1e-9 else "the constraints cost nothing: a best ranking meets them anyway")
    several = found.optimal
    shared = None if several is None else several.positions
    return RuleResult(
        found.best.positions if shared is None else shared,
        winners=None if several is None else several.winners,
        kemeny=found.best,
        optimal=several,
        complete=found.complete,
        comparisons=found.comparisons,
        notes=tuple(notes),
    )


def _borda(rankings: ArrayLike) -> RuleResult:
    positions, scores = borda(rankings, return_scores=True)
    return RuleResult(positions, scores, "opponents beaten")


def _copeland_or_borda(rankings: ArrayLike) -> RuleResult:
    beats = majority(preference_matrix(rankings).wins)
    return RuleResult(beats.sum(axis=0) + 1.0) if orders_strictly(beats) else _borda(rankings)


def _ranked_pairs(rankings: ArrayLike) -> RuleResult:
    found = ranked_pairs(rankings)
    return RuleResult(found.positions, winners=found.winners, complete=found.complete)


def _plurality(rankings: ArrayLike) -> RuleResult:
    return RuleResult(*plurality(rankings), "first places")


def _range(rankings: ArrayLike, *, scores: ArrayLike | None = None) -> RuleResult:
    if scores is None:
        raise ValueError(
            "range voting needs scores, and rankings hold places; read a file of scores with "
            "read_survey(path, layout='scores'), or give the table to rankwise.aggregation.range_voting"
        )
    return RuleResult(*range_voting(scores, sample_weight=Rankings(rankings).weights), "mean score")


def _instant_runoff(rankings: ArrayLike) -> RuleResult:
    found = instant_runoff(rankings)
    return RuleResult(found.positions, winners=found.winners, election=found, complete=found.complete)


def _stv(rankings: ArrayLike, *, seats: int = 1) -> RuleResult:
    found = stv(rankings, seats)
    winners = found.winners if seats == 1 else None  # several are elected, and the first of them comes first
    return RuleResult(found.positions, winners=winners, election=found, complete=found.complete)


def _median(rankings: ArrayLike, distance: MedianDistance) -> RuleResult:
    found = median_ranking(rankings, distance)
    return RuleResult(found.positions, median=found, complete=found.unique is not None)


def _mallows(rankings: ArrayLike) -> RuleResult:
    model = Mallows().fit(rankings)
    center = _kemeny(rankings, random_state=0)  # the center of the model, and those that fit as well
    parameters = {"theta": float(model.theta_), "theta_se": float(model.theta_se_)}
    return RuleResult(center.positions, parameters=parameters, winners=center.winners, complete=center.complete)


def _plackett_luce(rankings: ArrayLike, *, alpha: float = 0.0) -> RuleResult:
    worth = PlackettLuce(alpha=alpha).fit(rankings).log_worth_
    return RuleResult(rank_by_score(worth * (1e-12 / _SAME_WORTH)), worth, "log worth")


#: name -> function from rankings (and options of the rule) to what the rule finds
CONSENSUS_RULES: dict[ConsensusRule, Callable[..., RuleResult]] = {
    "kemeny": _kemeny,
    "borda": _borda,
    "copeland": lambda rankings: RuleResult(copeland(rankings)),
    "copeland-or-borda": _copeland_or_borda,
    "schulze": lambda rankings: RuleResult(schulze(rankings)),
    "ranked-pairs": _ranked_pairs,
    "plurality": _plurality,
    "bucklin": lambda rankings: RuleResult(bucklin(rankings)[0]),
    "instant-runoff": _instant_runoff,
    "stv": _stv,
    "range": _range,
    "footrule": partial(_median, distance="footrule"),
    "spearman": partial(_median, distance="spearman"),
    "hamming": partial(_median, distance="hamming"),
    "cayley": partial(_median, distance="cayley"),
    "mallows": _mallows,
    "plackett-luce": _plackett_luce,
}
