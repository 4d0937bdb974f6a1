"""Partial effects: where items are expected as one feature changes and all else stays; for `drivers`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwise._progress import track
from rankwise._tables import short_name
from rankwise._typing import BoolArray, FloatArray, IntArray
from rankwise.analysis.driver_corrections import Residuals, correction
from rankwise.analysis.driver_features import DriverFeatures
from rankwise.data import Rankings
from rankwise.data.positions import compare_positions

# Values of a number at which effects are shown, between these quantiles; and most categories.
_N_VALUES, _LOW, _HIGH, _MOST_CATEGORIES = 7, 0.05, 0.95, 12
# People over whom predictions are averaged.
_MOST_PEOPLE = 200
# Where no residual is left, nothing says how sure an effect is.
_NOTHING = 1e-9


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
        its interval; NaN where nothing varies that could tell how sure it is.
    top : ndarray of shape (n_values, n_items)
        Probability of each item to come first, likewise.
    moves, moves_low, moves_high : ndarrays of shape (n_items,)
        By how many places each item moves: from the first to the last value, or for categories without an order from
        the value where it is best to where it is worst; and the ends of the interval. Among several categories, these
        hold for all pairs of categories at once.
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
        span = f"{abs(self.moves[item]):.1f} places{_interval(self, item)}"
        unsure = bool(self.may_stay[item])
        if self.is_ordered:
            low, high = shown_value(self.values[0]), shown_value(self.values[-1])
            way, verb = "up" if self.moves[item] < 0 else "down", "may move" if unsure else "moves"
            return f"{feature} {verb} {name} {way} by {span} between {low} and {high}{', or not' * unsure}"
        best, worst = (shown_value(self.values[ends[item]]) for ends in (self.best, self.worst))
        verb = "may stand" if unsure else "stands"
        return f"{feature}: {name} {verb} {span} better for {best} than for {worst}{', or not' * unsure}"

    @property
    def may_stay(self) -> BoolArray:
        """Which items may not move at all, or the other way: the interval holds 0."""
        found: BoolArray = (self.moves_low < 0) & (self.moves_high > 0)
        return found

    @property
    def strongest(self) -> int:
        """The item that moves most, of those that surely move if there are any."""
        size = np.abs(self.moves)
        return int(np.argmax(size if self.may_stay.all() else np.where(self.may_stay, -1.0, size)))

    def as_dict(self) -> dict[str, Any]:
        """The effect for JSON."""
        return {
            "feature": self.feature,
            "values": [value if isinstance(value, float | int) else str(value) for value in self.values],
            "items": [
                {
                    "item": str(name),
                    "places": self.places[:, i].tolist(),
                    "low": _known(self.low[:, i]),
                    "high": _known(self.high[:, i]),
                    "first": self.top[:, i].tolist(),
                    "moves": float(self.moves[i]),
                    "moves_low": _known(self.moves_low[[i]])[0],
                    "moves_high": _known(self.moves_high[[i]])[0],
                }
                for i, name in enumerate(self.items)
            ],
        }


def feature_effects(
    features: DriverFeatures,
    rankings: Rankings,
    fit: Callable[[Any, int], Any],
    fold: IntArray,
    *,
    level: float,
    people: bool,
    rng: np.random.Generator,
) -> list[FeatureEffect]:
    """Effects of all features: mean predictions of rankers of all folds but one, corrected by what they miss.

    ``fit(rows, seed)`` returns a ranker of some rows.
    """
    n, n_items = len(features.values), rankings.n_items
    some = rng.choice(n, min(n, _MOST_PEOPLE), replace=False, p=rankings.weights / rankings.weights.sum())
    grids = [_grid(features, column) for column in range(len(features.names))]
    curves = [np.zeros((len(grid), len(some), n_items, n_items)) for grid in grids]
    of_folds: list[list[FloatArray]] = [[] for _ in grids]
    first, second = np.triu_indices(n_items, 1)
    before = compare_positions(rankings.positions[:, first], rankings.positions[:, second])
    n_folds = int(fold.max()) + 1
    for number, seed in track(enumerate(rng.integers(0, 2**31, n_folds).tolist()), "effects", n_folds):
        ranker = fit(np.flatnonzero(fold != number), seed)
        held_out = fold == number
        before[held_out] -= ranker(features.values[held_out])[:, first, second]
        for column, grid in enumerate(grids):
            X = np.repeat(features.values[some][None], len(grid), axis=0)
            X[:, :, column] = grid[:, None]
            pairwise = ranker(X.reshape(-1, X.shape[2])).reshape(curves[column].shape)
            curves[column] += pairwise / n_folds
            of_folds[column].append(pairwise[:, :, first, second].mean(axis=1))
    compared = ~np.isnan(before)
    residuals = Residuals(
        np.where(compared, before, 0.0), compared.astype(float), first, second, rankings.weights, people
    )
    effects = []
    for column, grid in enumerate(grids):
        # Chance lets rankers differ between folds. People are held against the mean of all, as far as the feature goes.
        apart = np.array(of_folds[column]) - np.mean(of_folds[column], axis=0)
        beyond = residuals.values + residuals.compared * _at(grid, apart, features.values[:, column], fold)
        effects.append(
            _effect(features, column, grid, rankings.items, curves[column], residuals._replace(values=beyond), level)
        )
    return effects


def _at(grid: FloatArray, curves: FloatArray, values: FloatArray, fold: IntArray) -> FloatArray:
    """Curves of shape (n_folds, n_values, n_pairs) at the value and the fold of each person; 0 where it is missing."""
    known = ~np.isnan(values)
    place = np.interp(values, grid, np.arange(len(grid)))
    below = np.clip(np.nan_to_num(place).astype(np.intp), 0, len(grid) - 2)
    part = np.nan_to_num(place - below)[:, None]
    return np.where(known[:, None], (1 - part) * curves[fold, below] + part * curves[fold, below + 1], 0.0)


def _effect(
    features: DriverFeatures,
    column: int,
    grid: FloatArray,
    items: Sequence[Hashable],
    curves: FloatArray,
    residuals: Residuals,
    level: float,
) -> FeatureEffect:
    from scipy.special import softmax
    from scipy.stats import t

    from rankwise.label_ranking.predictive import worths_from_pairwise

    n_items = len(items)
    found = correction(features, column, grid, residuals)
    mean = curves.mean(axis=1)
    first, second = residuals.first, residuals.second
    mean[:, first, second] += found.pairs
    mean[:, second, first] -= found.pairs
    mean = np.clip(mean, 0.0, 1.0)
    places = 0.5 + mean.sum(axis=1)
    of_people = curves.sum(axis=2)

    def error(influence: FloatArray, predicted: FloatArray) -> FloatArray:
        """Of a mean over people: that of the residuals, and that of the people over whom predictions are averaged."""
        return np.hypot(
            found.standard_error(influence, residuals), predicted.std(axis=-2) / np.sqrt(predicted.shape[-2])
        )

    is_ordered = not features.is_nominal[column]
    item = np.arange(n_items)
    if is_ordered:
        best, worst = np.zeros(n_items, dtype=np.intp), np.full(n_items, len(grid) - 1)
    else:
        best, worst = places.argmin(axis=0), places.argmax(axis=0)
    # Of several categories any two might have been the best and the worst.
    n_steps = 1 if is_ordered else len(grid) * (len(grid) - 1) // 2
    z, z_step = (float(t.isf((1 - level) / 2 / count, found.degrees)) for count in (1, n_steps))
    moves = places[worst, item] - places[best, item]
    step_error = error(
        found.influence[worst, :, item].T - found.influence[best, :, item].T,
        of_people[worst, :, item].T - of_people[best, :, item].T,
    )
    half, spread = z * error(found.influence, of_people), z_step * step_error
    half, spread = (np.where(width > _NOTHING, width, np.nan) for width in (half, spread))
    categories = features.categories[column]
    values = grid.tolist() if categories is None else [categories[int(code)] for code in grid]
    most = n_items - 1.0
    return FeatureEffect(
        feature=features.names[column],
        values=tuple(values),
        is_ordered=is_ordered,
        items=tuple(items),
        places=places,
        low=np.maximum(places - half, 1.0),
        high=np.minimum(places + half, n_items),
        top=softmax(worths_from_pairwise(mean), axis=1),
        moves=moves,
        moves_low=np.maximum(moves - spread, -most),
        moves_high=np.minimum(moves + spread, most),
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


def _known(values: FloatArray) -> list[float | None]:
    return [None if np.isnan(value) else value for value in values.tolist()]


def shown_value(value: Any) -> str:
    """A value of a feature as text."""
    return f"{value:.4g}" if isinstance(value, float) else short_name(value)


def _interval(effect: FeatureEffect, item: int) -> str:
    if np.isnan(effect.moves_low[item]):
        return ""
    ends = float(effect.moves_low[item]), float(effect.moves_high[item])
    low, high = ends if effect.moves[item] >= 0 else (-ends[1], -ends[0])  # in the direction that is named
    return f" ({low:.1f} to {high:.1f})"
