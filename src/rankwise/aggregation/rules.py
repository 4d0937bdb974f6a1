"""Consensus rules by name: the one table from which `bootstrap_consensus`, the analysis and the command line choose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rankwise._decode import ConsensusRule
from rankwise._typing import ArrayLike, FloatArray
from rankwise.aggregation.kemeny import kemeny
from rankwise.aggregation.kemeny_result import Consensus
from rankwise.aggregation.mallows import Mallows
from rankwise.aggregation.pairs import majority, orders_strictly, preference_matrix
from rankwise.aggregation.plackett_luce import PlackettLuce
from rankwise.aggregation.positional import borda
from rankwise.aggregation.tournaments import copeland, schulze


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
    kemeny : Consensus or None
        The result of `kemeny`, with its proof.
    """

    positions: FloatArray
    scores: FloatArray | None = None
    score_name: str = ""
    parameters: dict[str, float] = field(default_factory=dict)
    kemeny: Consensus | None = None


def _kemeny(rankings: ArrayLike, **options: Any) -> RuleResult:
    best = kemeny(rankings, **options)
    return RuleResult(best.positions, kemeny=best)


def _borda(rankings: ArrayLike) -> RuleResult:
    positions, scores = borda(rankings, return_scores=True)
    return RuleResult(positions, scores, "opponents beaten")


def _copeland_or_borda(rankings: ArrayLike) -> RuleResult:
    beats = majority(preference_matrix(rankings).wins)
    return RuleResult(beats.sum(axis=0) + 1.0) if orders_strictly(beats) else _borda(rankings)


def _mallows(rankings: ArrayLike) -> RuleResult:
    model = Mallows().fit(rankings)
    return RuleResult(model.mode(), parameters={"theta": float(model.theta_), "theta_se": float(model.theta_se_)})


def _plackett_luce(rankings: ArrayLike, *, alpha: float = 0.0) -> RuleResult:
    model = PlackettLuce(alpha=alpha).fit(rankings)
    return RuleResult(model.mode(), model.log_worth_, "log worth")


#: name -> function from rankings (and options of the rule) to what the rule finds
CONSENSUS_RULES: dict[ConsensusRule, Callable[..., RuleResult]] = {
    "kemeny": _kemeny,
    "borda": _borda,
    "copeland": lambda rankings: RuleResult(copeland(rankings)),
    "copeland-or-borda": _copeland_or_borda,
    "schulze": lambda rankings: RuleResult(schulze(rankings)),
    "mallows": _mallows,
    "plackett-luce": _plackett_luce,
}
