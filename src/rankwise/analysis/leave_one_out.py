"""Who would win without somebody: consensus of all but one, for `raters` and `robustness`."""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from typing import NamedTuple, cast

import numpy as np

from rankwise._decode import ConsensusRule
from rankwise._typing import FloatArray
from rankwise.analysis.consensus import find_consensus
from rankwise.data import Rankings

#: of more people or items, consensuses of all but one take long
MOST_RATERS, MOST_ITEMS = 60, 15
#: leaving out one of fewer says nothing
FEWEST_RATERS = 3
#: rules that may ask for more than the rankings: seats, a prior, or no ties
ASKING_RULES = ("stv", "plackett-luce", "mallows", "cayley")
_SECONDS_OF_PROOF = 1.0


class Outcome(NamedTuple):
    """Who is first, and the place of each item; NaN for items that nobody compares any more."""

    winners: tuple[Hashable, ...]
    positions: FloatArray


def outcome(rankings: Rankings, rule: str) -> Outcome:
    """The consensus in short; nobody wins if no item is compared with another."""
    positions = np.full(rankings.n_items, np.nan)
    if not rankings.compared.any():
        return Outcome((), positions)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the consensus of all has warned already
        found = find_consensus(rankings, cast(ConsensusRule, rule), time_limit=_SECONDS_OF_PROOF, random_state=0)
    positions[rankings.compared] = found.positions
    return Outcome(found.winners, positions)


def without_person(rankings: Rankings, row: int, leaving: float) -> Rankings:
    """The rankings without one person of a row, who has this part of its weight."""
    weights = rankings.weights.copy()
    weights[row] = max(0.0, weights[row] - leaving)
    return Rankings(rankings, weights=weights)
