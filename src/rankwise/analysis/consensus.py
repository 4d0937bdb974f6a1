"""One ranking of many, its cost and how sure it is: `consensus`, for `analyze` and ``rankwise consensus``."""

from __future__ import annotations

import re
import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, get_args, overload

import numpy as np

from rankwise._decode import ConsensusRule, Decoder, rule_name
from rankwise._tables import short_name
from rankwise._typing import ArrayLike, FloatArray, RandomState
from rankwise._validation import check_n_jobs, weights_count_people
from rankwise.aggregation import PreferenceMatrix, bootstrap_consensus, preference_matrix
from rankwise.aggregation.constrained import Constraints
from rankwise.aggregation.rules import CONSENSUS_RULES, RuleResult
from rankwise.analysis.base import break_ties_at_random, rankings_of
from rankwise.analysis.consensus_result import ConsensusResult
from rankwise.data import Rankings, Survey
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
# Constraints make every resample a search of its own.
_MOST_CONSTRAINED_PAIRS = 1e6


class ConsensusOptions(TypedDict, total=False):
    """The options of `consensus`, which are the same for one rule and for several."""

    before: Sequence[tuple[Hashable, Hashable]]
    at_least: Sequence[tuple[int, Sequence[Hashable], int]]
    item_weights: ArrayLike | Mapping[Hashable, float] | None
    position_weights: ArrayLike | str | None
    intervals: bool | Literal["auto"]
    n_resamples: int
    level: float
    time_limit: float | None
    alpha: float
    seats: int | None
    break_ties: bool
    random_state: RandomState
    n_jobs: int | None


@overload
def consensus(
    rankings: ArrayLike, methods: ConsensusRule = ..., **options: Unpack[ConsensusOptions]
) -> ConsensusResult: ...


@overload
def consensus(
    rankings: ArrayLike, methods: Sequence[ConsensusRule] | Literal["all"], **options: Unpack[ConsensusOptions]
) -> ConsensusComparison: ...


def consensus(
    rankings: ArrayLike,
    methods: Any = "kemeny",
    *,
    before: Sequence[tuple[Hashable, Hashable]] = (),
    at_least: Sequence[tuple[int, Sequence[Hashable], int]] = (),
    item_weights: ArrayLike | Mapping[Hashable, float] | None = None,
    position_weights: ArrayLike | str | None = None,
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
        "instant-runoff", "stv" (with ``seats``), "range" (mean scores, for a Survey that was read from scores), the
        medians "footrule", "spearman", "hamming" and "cayley", the center of a "mallows" model, or the order of the
        worths of a "plackett-luce" model. A list of rules, or "all" for all that apply, gives a comparison, without
        intervals. Case and spaces do not matter: "Ranked pairs" is a name, too.
    before : sequence of pairs of items, default=()
        Pairs (a, b): a must come before b. Constraints and weights are for "kemeny" alone; see `constrained_kemeny`.
    at_least : sequence of (m, group, k), default=()
        At least m items of the group must be among the first k.
    item_weights : mapping of items to numbers, or array-like of shape (n_items,), optional
        A pair counts the product of its items' weights; items that are not named count 1.
    position_weights : sequence of numbers or str, optional
        How much a voter's places 1, 2, ... count; the last number counts for all further ones. "top-3" counts only what
        voters put among their first three.
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
    Consensus: Kemeny
    place  item  95% interval
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
    check_n_jobs(n_jobs)
    scores = rankings.scores if isinstance(rankings, Survey) else None
    constraints = Constraints(item_weights, position_weights, tuple(before), tuple(at_least))
    choices: dict[str, Any] = {"alpha": alpha, "seats": seats, "break_ties": break_ties, "random_state": random_state}
    choices |= {"scores": scores, "constraints": constraints, "names": _names_of(rankings)}
    several = not isinstance(methods, str) or rule_name(methods) == "all"
    rules = [methods] if isinstance(methods, str) else list(methods)
    if constraints and [rule_name(str(rule)) for rule in rules] != ["kemeny"]:
        others = ", ".join(str(rule) for rule in rules if rule_name(str(rule)) != "kemeny")
        raise ValueError(
            "before, at_least, item_weights and position_weights are for Kemeny's rule alone, which can prove its "
            f"ranking; leave out {others}: methods='kemeny'"
        )
    if several:
        from rankwise.analysis.consensus_comparison import compare_rules

        chosen: Any = methods if not isinstance(methods, str) else "all"
        return compare_rules(rankings_of(rankings), chosen, time_limit=time_limit, **choices)
    rule: Any = check_rule(methods, seats)
    if not isinstance(intervals, bool) and intervals != "auto":
        raise ValueError(f"intervals is {intervals!r}; choose True, False or 'auto', and give a number as n_resamples")
    if n_resamples < FEWEST_RESAMPLES:
        raise ValueError(f"n_resamples is {n_resamples}, too few for an interval; give {FEWEST_RESAMPLES} or more")
    rankings = rankings_of(rankings)
    result = find_consensus(rankings, rule, time_limit=time_limit, **choices)
    if intervals is False:
        return result
    most_pairs = _MOST_CONSTRAINED_PAIRS if constraints else _MOST_PAIRS[rule]
    if intervals == "auto" and n_resamples * len(rankings) * rankings.n_items**2 > most_pairs:
        return replace(result, notes=(*result.notes, SLOW_INTERVALS))
    for unused in ("scores", "names"):
        choices.pop(unused)
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
    constraints: Constraints | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    required: bool = False,
) -> ConsensusResult:
    """The same consensus with intervals, or with a note that says why there are none; if required, that is an error."""
    if _n_voters(rankings) < FEWEST_RANKINGS:
        note = f"no intervals of places: fewer than {FEWEST_RANKINGS} rankings say too little"
        return replace(result, notes=(*result.notes, note))
    rule: Any = result.method
    if rule == "range":
        return replace(result, notes=(*result.notes, "no intervals of places: they are for rankings, not for scores"))
    if constraints:
        constraints = constraints.among(rankings.items, rankings.compared)
    if constraints or break_ties or rule in ("plackett-luce", "stv"):
        rule = partial(_apply, rule=rule, alpha=alpha, seats=seats, break_ties=break_ties, constraints=constraints)
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
        return replace(result, notes=(*result.notes, f"no intervals of places: {error}"))
    return replace(result, bootstrap=spread)


def check_rule(given: Any, seats: int | None = None) -> str:
    """The name of a rule; refuse what is none, and an election of an unknown number of seats."""
    name = rule_name(given) if isinstance(given, str) else given
    if name not in CONSENSUS_RULES:
        raise ValueError(f"{given!r} is not a rule; choose one of {', '.join(map(repr, CONSENSUS_RULES))}")
    if name == "stv" and seats is None:
        raise ValueError("stv elects several items: give their number as seats, or take 'instant-runoff' for one")
    return str(name)


def find_consensus(
    rankings: Rankings,
    rule: ConsensusRule = "kemeny",
    *,
    time_limit: float | None = None,
    alpha: float = 0.0,
    seats: int | None = None,
    break_ties: bool = False,
    scores: FloatArray | None = None,
    constraints: Constraints | None = None,
    names: Sequence[Any] | None = None,
    random_state: RandomState = None,
) -> ConsensusResult:
    """The consensus without intervals; messages say by ``names``, where they are known, whose ranking does not fit."""
    compared = rankings.compared
    if rule not in CONSENSUS_RULES:
        raise ValueError(f"{rule!r} is not a rule; choose one of {', '.join(map(repr, CONSENSUS_RULES))}")
    if not compared.any():
        raise ValueError("no ranking compares two items, so there is no consensus")
    part = rankings.comparable()
    options: dict[str, Any] = {"alpha": alpha, "seats": seats, "break_ties": break_ties}
    options |= {"time_limit": time_limit, "random_state": random_state} if rule == "kemeny" else {}
    options |= {"constraints": constraints.among(rankings.items, compared)} if constraints else {}
    options |= {"scores": scores[:, compared]} if scores is not None and rule == "range" else {}
    try:
        found = _apply(part, rule, **options)
    except ValueError as error:
        raise ValueError(_for_people(str(error), names)) from error
    matrix = preference_matrix(part)
    after = compare_positions(found.positions, found.positions[:, np.newaxis])  # the row item after the column item
    distances = kendall_distance(part, found.positions, normalize=True)
    known = ~np.isnan(distances) & (part.weights > 0)
    first = [part.items[i] for i in np.flatnonzero(found.positions == 1)]
    holds = ~np.isnan(part.positions) & part.informative[:, np.newaxis]
    people = part.weights if weights_count_people(part.weights) else (part.weights > 0).astype(np.float64)
    notes = [*found.notes, *([] if found.complete else [_UNKNOWN_TIES])]
    if rule == "kemeny" and not constraints:
        notes += _other_way(found.positions, matrix)
    return ConsensusResult(
        method=rule,
        items=part.items,
        positions=found.positions,
        winners=tuple(sorted(first if found.winners is None else found.winners, key=str)),
        held=people @ holds,
        scores=found.scores,
        score_name=found.score_name,
        never_compared=tuple(rankings.items[i] for i in np.flatnonzero(~compared)),
        cost=float(np.sum(after * matrix.wins)) if found.kemeny is None else found.kemeny.cost,
        comparisons=float(np.triu(matrix.counts, 1).sum()) if found.comparisons is None else found.comparisons,
        distances=distances,
        mean_distance=float(np.average(distances[known], weights=part.weights[known])),
        kemeny=found.kemeny,
        optimal=found.optimal,
        median=found.median,
        election=found.election,
        parameters=found.parameters,
        constraints=tuple(constraints.words()) if constraints else (),
        n_zero_weight=int(np.count_nonzero(rankings.weights == 0)),
        notes=tuple(notes),
    )


def _apply(
    rankings: Rankings,
    rule: ConsensusRule,
    *,
    alpha: float,
    seats: int | None,
    break_ties: bool,
    constraints: Constraints | None = None,
    **further: Any,
) -> RuleResult:
    """What a rule finds, with the options that it takes."""
    if break_ties and has_ties(rankings.positions).any():
        rankings = break_ties_at_random(rankings)
    takes: dict[str, dict[str, Any]] = {"plackett-luce": {"alpha": alpha}, "stv": {"seats": seats}}
    takes["kemeny"] = {"constraints": constraints} if constraints else {}
    return CONSENSUS_RULES[rule](rankings, **takes.get(rule, {}), **further)


def _other_way(positions: FloatArray, matrix: PreferenceMatrix) -> list[str]:
    """A note on pairs that Kemeny's order and the order of mean ranks part, because readers see both side by side."""
    with np.errstate(invalid="ignore"):
        won = (matrix.wins + matrix.ties / 2).sum(axis=1) / matrix.counts.sum(axis=1)
    against = (positions[:, np.newaxis] < positions) & (won[:, np.newaxis] < won - 1e-9)
    number = int(against.sum())
    if number == 0:
        return []
    first, second = np.unravel_index(int(np.argmax(against * (won - won[:, np.newaxis]))), against.shape)
    ahead, behind = (short_name(matrix.items[int(i)]) for i in (first, second))
    pairs = "one pair of items" if number == 1 else f"{number:,} pairs of items"
    return [
        f"mean ranks put {pairs} the other way round ({behind} before {ahead}): Kemeny's order follows the majorities "
        "between two items, means also count by how far one is ahead"
    ]


def _names_of(rankings: Any) -> list[Any] | None:
    """Who ranked, where a survey knows it."""
    if not isinstance(rankings, Survey):
        return None
    names = rankings.id if rankings.names is None else rankings.names
    return None if names is None else names.tolist()


def _for_people(message: str, names: Sequence[Any] | None) -> str:
    """A message on one ranking with its number counted from 1, and the name of the person where it is known."""

    def told(found: re.Match[str]) -> str:
        row = int(found[1])
        return f"ranking {row + 1}" + (f" ({names[row]})" if names is not None and row < len(names) else "")

    return re.sub(r"\branking (\d+)\b", told, message)


def _n_voters(rankings: Rankings) -> float:
    """Rankings that can be drawn: whole weights say how often one occurred, others say nothing about that."""
    weights = rankings.weights
    return float(weights.sum()) if (weights % 1 == 0).all() else float(np.count_nonzero(weights))
