"""What the models of this package ask of rankings and centres."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from rankwise._typing import ArrayLike, FloatArray
from rankwise.aggregation.base import rankings_of, weighted_rankings
from rankwise.data import Rankings, check_positions
from rankwise.data.positions import has_ties


def rankings_to_fit(rankings: ArrayLike, sample_weight: ArrayLike | None) -> Rankings:
    """Rankings without ties, less those that say nothing or have no weight."""
    data = weighted_rankings(rankings, sample_weight)
    _refuse_ties(data)
    useful = data.informative & (data.weights > 0)
    data = data if useful.all() else data[useful]
    if not len(data):
        raise ValueError(
            "no ranking of positive weight orders two items, so there is nothing to fit; "
            "give rankings of two items or more"
        )
    return data


def rankings_to_judge(rankings: ArrayLike, items: tuple[Hashable, ...]) -> Rankings:
    """Rankings without ties of the items that a model knows."""
    data = rankings_of(items, rankings)
    _refuse_ties(data)
    return data


def refuse_partial(rankings: Rankings, cure: str) -> None:
    """Raise if a ranking leaves an item out."""
    partial = ~np.isfinite(rankings.positions).all(axis=1)
    if partial.any():
        row = int(np.argmax(partial))
        name = rankings.items[int(np.argmin(np.isfinite(rankings.positions[row])))]
        raise ValueError(f"ranking {row} gives item {name!r} no place, but this model needs full rankings; {cure}")


def refuse_missing(rankings: Rankings, cure: str) -> None:
    """Raise if a ranking misses an item (unlisted ones are welcome)."""
    missing = np.isnan(rankings.positions)
    if missing.any():
        row, item = np.argwhere(missing)[0]
        raise ValueError(
            f"ranking {row} misses item {rankings.items[item]!r}, but this model needs full rankings or top lists "
            f"(what is not listed comes below); {cure}"
        )


def check_center(center: ArrayLike, n_items: int | None = None) -> FloatArray:
    """A full ranking as positions (k,)."""
    if np.ndim(center) != 1:
        raise ValueError(f"center has {np.ndim(center)} dimension(s); give the position of each item (1 = best)")
    positions = check_positions([list(center)], name="center")[0]
    if n_items is not None and len(positions) != n_items:
        raise ValueError(f"center ranks {len(positions)} items, but the rankings have {n_items}; give one place each")
    if not np.array_equal(np.sort(positions), np.arange(1.0, len(positions) + 1)):
        raise ValueError(
            "center is not a full ranking (it has ties, or unlisted or missing items); break ties and complete it first"
        )
    return positions


def _refuse_ties(rankings: Rankings) -> None:
    tied = has_ties(rankings.positions)
    if tied.any():
        row = int(np.argmax(tied))
        bucket = next(bucket for bucket in rankings[[row]].buckets()[0] if len(bucket) > 1)
        first, second = (rankings.items[item] for item in bucket[:2])
        raise ValueError(
            f"ranking {row} ties items {first!r} and {second!r}, and a Mallows model has no ties; "
            "break them at random, or use a model with ties (PlackettLuce)"
        )
