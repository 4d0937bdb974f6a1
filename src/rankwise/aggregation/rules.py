"""Consensus rules by name: the one table from which `bootstrap_consensus`, the analysis and the command line choose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rankwise._typing import ArrayLike, FloatArray
from rankwise.aggregation.kemeny import kemeny
from rankwise.aggregation.mallows import Mallows
from rankwise.aggregation.plackett_luce import PlackettLuce
from rankwise.aggregation.positional import borda
from rankwise.aggregation.tournaments import copeland, schulze


def _kemeny(rankings: ArrayLike, **options: Any) -> FloatArray:
    return kemeny(rankings, **options).positions


def _mallows(rankings: ArrayLike) -> FloatArray:
    return Mallows().fit(rankings).mode()


def _plackett_luce(rankings: ArrayLike, *, alpha: float = 0.0) -> FloatArray:
    return PlackettLuce(alpha=alpha).fit(rankings).mode()


#: name -> function from rankings (and options of the rule) to positions, 1 = best
CONSENSUS_RULES: dict[str, Callable[..., FloatArray]] = {
    "kemeny": _kemeny,
    "borda": borda,
    "copeland": copeland,
    "schulze": schulze,
    "mallows": _mallows,
    "plackett-luce": _plackett_luce,
}
