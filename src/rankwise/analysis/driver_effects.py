"""Partial effects: where items are expected as one feature changes and all else stays; for `drivers`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwise._progress import track
from rankwise._tables import short_name
from rankwise._typing import FloatArray
from rankwise.analysis.driver_features import DriverFeatures
from rankwise.data import Rankings

# Values of a number at which effects are shown, between these quantiles; and most categories.
_N_VALUES, _LOW, _HIGH, _MOST_CATEGORIES = 7, 0.05, 0.95, 12
# People over whom predictions are averaged.
_MOST_PEOPLE = 200


@dataclass(frozen=True, eq=False)
class FeatureEffect:
    """Expected places of the items as a feature changes; made by `drivers`.

    Attributes
    ----------
    feature : str
        Name of the feature.
    values : tuple
        Values of the feature: numbers from low to high, or categories.
    is_ordered : bool
        Whether the values have an order.
    items : tuple
        Names of the items.
    places, low, high : ndarrays of shape (n_values, n_items)
        Expected place of each item if everybody had this value and kept all other features, 1 = best; and the ends of
        its band: what the model would find with other people.
    top : ndarray of shape (n_values, n_items)
        Probability of each item to come first, likewise.
    moves, moves_low, moves_high : ndarrays of shape (n_items,)
        By how many places each item moves: from the first to the last value, or for categories without an order from
        the value where it is best to where it is worst; with bands. A forest flattens steep effects, and the bands do
        not hold that.
    best, worst : ndarrays of shape (n_items,)
        Between which values, by number.
    """

    feature: str
    values: tuple[Any, ...]
    is_ordered: bool
    items: tuple[Hashable, ...]
    places: FloatArray
    low: FloatArray
    high: FloatArray
    top: FloatArray
    moves: FloatArray
    moves_low: FloatArray
    moves_high: FloatArray
    best: Any
    worst: Any

    def sentence(self, item: int) -> str:
        """The effect on one item in plain words."""
        name, feature = short_name(self.items[item]), short_name(self.feature)
        span = f"{abs(self.moves[item]):.1f} places ({_interval(self, item)})"
        if self.is_ordered:
            low, high = shown_value(self.values[0]), shown_value(self.values[-1])
            way = "up" if self.moves[item] < 0 else "down"
            return f"{feature} moves {name} {way} by {span} between {low} and {high}"
        best, worst = self.values[self.best[item]], self.values[self.worst[item]]
        return f"{feature}: {name} stands {span} better for {shown_value(best)} than for {shown_value(worst)}"

    @property
    def strongest(self) -> int:
        """The item that moves most."""
        return int(np.argmax(np.abs(self.moves)))

    def as_dict(self) -> dict[str, Any]:
        """The effect for JSON."""
        return {
            "feature": self.feature,
            "values": [value if isinstance(value, float | int) else str(value) for value in self.values],
            "items": [
                {
                    "item": str(name),
                    "places": self.places[:, i].tolist(),
                    "low": self.low[:, i].tolist(),
                    "high": self.high[:, i].tolist(),
                    "first": self.top[:, i].tolist(),
                    "moves": float(self.moves[i]),
                    "moves_low": float(self.moves_low[i]),
                    "moves_high": float(self.moves_high[i]),
                }
                for i, name in enumerate(self.items)
            ],
        }


def feature_effects(
    features: DriverFeatures,
    rankings: Rankings,
    fit: Callable[[Any, int], Any],
    *,
    level: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> list[FeatureEffect]:
    """Effects of all features, with bands from models of random halves of the people.

    ``fit(rows, seed)`` returns a ranker of some rows. A statistic of half the people varies around that of all as that
    of all varies around the truth, so the spread of the halves is the standard error.
    """
    from scipy.special import softmax
    from scipy.stats import t

    from rankwise.label_ranking.predictive import worths_from_pairwise

    n = len(features.values)
    people = rng.choice(n, min(n, _MOST_PEOPLE), replace=False, p=rankings.weights / rankings.weights.sum())
    grids = [_grid(features, column) for column in range(len(features.names))]
    halves = [rng.permutation(n)[: n // 2] for _ in range(n_resamples)]
    seeds = rng.integers(0, 2**31, n_resamples)
    curves: list[list[FloatArray]] = [[] for _ in grids]
    tops: list[list[FloatArray]] = [[] for _ in grids]
    for rows, seed in track(zip(halves, seeds.tolist(), strict=True), "effects", n_resamples):
        ranker = fit(rows, seed)
        for column, grid in enumerate(grids):
            X = np.repeat(features.values[people][None], len(grid), axis=0)
            X[:, :, column] = grid[:, None]
            pairwise = ranker(X.reshape(-1, X.shape[2])).reshape(len(grid), len(people), *(2 * [rankings.n_items]))
            mean = pairwise.mean(axis=1)
            curves[column].append(0.5 + mean.sum(axis=1))
            tops[column].append(softmax(worths_from_pairwise(mean), axis=1))
    # The quantile of the spread of few halves, and the chance of their mean.
    z = float(t.ppf((1 + level) / 2, n_resamples - 1)) * np.sqrt(1 + 1 / n_resamples)
    return [
        _effect(features, column, grids[column], rankings.items, np.array(curves[column]), np.array(tops[column]), z)
        for column in range(len(grids))
    ]


def _effect(
    features: DriverFeatures,
    column: int,
    grid: FloatArray,
    items: Sequence[Hashable],
    curves: FloatArray,
    tops: FloatArray,
    z: float,
) -> FeatureEffect:
    places, half = curves.mean(axis=0), z * curves.std(axis=0, ddof=1)
    is_ordered = not features.is_nominal[column]
    item = np.arange(len(items))
    if is_ordered:
        best, worst = np.zeros(len(items), dtype=np.intp), np.full(len(items), len(grid) - 1)
    else:
        best, worst = places.argmin(axis=0), places.argmax(axis=0)
    steps = curves[:, worst, item] - curves[:, best, item]
    moves, spread = steps.mean(axis=0), z * steps.std(axis=0, ddof=1)
    categories = features.categories[column]
    values = grid.tolist() if categories is None else [categories[int(code)] for code in grid]
    return FeatureEffect(
        feature=features.names[column],
        values=tuple(values),
        is_ordered=is_ordered,
        items=tuple(items),
        places=places,
        low=np.maximum(places - half, 1.0),
        high=np.minimum(places + half, len(items)),
        top=tops.mean(axis=0),
        moves=moves,
        moves_low=moves - spread,
        moves_high=moves + spread,
        best=best,
        worst=worst,
    )


def _grid(features: DriverFeatures, column: int) -> FloatArray:
    known = features.values[~np.isnan(features.values[:, column]), column]
    values, counts = np.unique(known, return_counts=True)
    if features.categories[column] is not None:
        common = np.argsort(-counts, kind="stable")[:_MOST_CATEGORIES]
        return values[np.sort(common)]
    if len(values) <= _N_VALUES:
        return values
    return np.unique(np.quantile(known, np.linspace(_LOW, _HIGH, _N_VALUES), method="nearest"))


def shown_value(value: Any) -> str:
    """A value of a feature as text."""
    return f"{value:.4g}" if isinstance(value, float) else short_name(value)


def _interval(effect: FeatureEffect, item: int) -> str:
    ends = sorted(abs(end) for end in (effect.moves_low[item], effect.moves_high[item]))
    crosses = effect.moves_low[item] < 0 < effect.moves_high[item]
    return f"{0.0 if crosses else ends[0]:.1f} to {ends[1]:.1f}"
