"""What the data cannot tell of segments: orders that nobody gave, worths that rest on the prior; for `segments`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankwise._tables import short_name
from rankwise._typing import FloatArray
from rankwise.aggregation import preference_matrix
from rankwise.aggregation.pairs import comparison_groups
from rankwise.analysis.segment_results import SegmentProfile
from rankwise.data import Rankings

# Weights below this share of all are rounding.
_NOTHING = 1e-6
# A worth whose variance is this share of that of the prior, or more, rests on the prior.
_FROM_PRIOR = 0.25
# Nearly everybody: who wins so many of all comparisons is nearly always first.
_NEARLY_ALL = 0.95
# With fewer effective draws a ranking, its probability is a matter of luck.
_FEWEST_DRAWS = 10.0


def unknown_order(rankings: Rankings) -> str:
    """Why weighted rankings do not say in which order they put the items; empty if they do."""
    matrix = preference_matrix(rankings)
    nothing = _NOTHING * float(rankings.weights.sum())
    if matrix.wins.max() <= nothing:
        return "everybody ties all items that are compared"
    n_groups, names = comparison_groups(matrix.counts > nothing, rankings.items)
    if n_groups > 1:
        return f"the items fall into {n_groups} groups that nobody compares: {names}"
    if np.abs(matrix.wins - matrix.wins.T).max() <= nothing:
        return "each item is put before every other as often as behind it"
    return ""


def prior_notes(rankings: Rankings, weights: FloatArray, fitted: Any, profiles: Sequence[SegmentProfile]) -> list[str]:
    """Notes on worths of a Plackett-Luce mixture that the prior decides: by separation, or for lack of data.

    ``weights`` of shape (n_rankings, n_segments) says how much of each ranking belongs to each segment.
    """
    if fitted.alpha == 0:
        return []
    notes = []
    is_open = np.square(fitted.log_worths_se_) >= _FROM_PRIOR / fitted.alpha
    for g, profile in enumerate(profiles):
        wins = preference_matrix(Rankings(rankings, weights=weights[:, g])).wins
        won, lost = wins.sum(axis=1), wins.sum(axis=0)
        share = np.divide(won, won + lost, out=np.full(len(won), 0.5), where=won + lost > 0)
        names = np.array([short_name(item) for item in rankings.items], dtype=object)
        for where, those in (("first", share >= _NEARLY_ALL), ("last", share <= 1 - _NEARLY_ALL)):
            notes += [
                f"the worth of {name} in {profile.name} rests on the prior: nearly everybody there puts it {where}"
                for name in names[is_open[g] & those]
            ]
        rest = names[is_open[g] & (share < _NEARLY_ALL) & (share > 1 - _NEARLY_ALL)]
        if len(rest):
            shown = ", ".join(rest[:4]) + (", ..." if len(rest) > 4 else "")
            notes.append(
                f"the rankings of {profile.name} do not determine the worth of {shown}, which rests on the prior"
            )
    return notes


def counting_notes(kind: str, fitted: Any) -> list[str]:
    """How partial rankings were counted."""
    if kind == "full":
        return []
    ways = {
        "exact": "partial rankings are counted exactly",
        "monte carlo": "partial rankings are counted by Monte Carlo EM, each by draws that say as much as "
        f"{fitted.effective_draws_:.0f} of equal weight; another random_state gives slightly other numbers",
        "pairs": "rankings that miss items are counted through the pairs they order, which is an approximation",
    }
    notes = [ways[fitted.partial_rankings_]]
    if fitted.effective_draws_ < _FEWEST_DRAWS:
        notes.append("these draws are too few for sure numbers: model='plackett-luce' counts all exactly")
    return notes
