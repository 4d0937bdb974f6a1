"""What `drivers` finds: importances, tests and effects of features, in words, as tables and as data frames."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwise._tables import TextTable, counted, make_frame, short_name
from rankwise._typing import FloatArray
from rankwise.analysis.base import Result
from rankwise.analysis.driver_effects import FeatureEffect, shown_value
from rankwise.analysis.group_differences import p_text

# Tables show so many features.
_MOST_SHOWN = 30


@dataclass(frozen=True, eq=False, repr=False)
class Drivers(Result):
    """Which features drive rankings, and how; made by `drivers`.

    Attributes
    ----------
    features : tuple of str
        Names of the features, the most important first.
    items : tuple
        Names of the items.
    importances, low, high : ndarrays of shape (n_features,)
        By how much Kendall's tau of the predictions for held-out people falls when the feature is shuffled among them,
        and the ends of its interval; NaN where the fall is the same for everybody, as for a feature that is not used.
    p_values : ndarray of shape (n_features,)
        Test of no effect, corrected for the number of features by Holm's method.
    effects : tuple of FeatureEffect
        How places change with each feature.
    tau, tau_without : float
        Kendall's tau of the predictions for held-out people, and of one ranking for all.
    n : int
        People that were looked at.
    n_total : int
        People in the data; if there are more than ``max_rows``, a random sample of them was looked at.
    level : float
        Level of the intervals.
    notes : tuple of str
        What was left out, and what a reader should know.
    """

    features: tuple[str, ...]
    items: tuple[Hashable, ...]
    importances: FloatArray
    low: FloatArray
    high: FloatArray
    p_values: FloatArray
    effects: tuple[FeatureEffect, ...]
    tau: float
    tau_without: float
    n: int
    n_total: int
    level: float
    notes: tuple[str, ...] = ()

    @property
    def significant(self) -> list[int]:
        """Numbers of the features with an effect beyond chance, the most important first."""
        return np.flatnonzero(self.p_values <= 1 - self.level + 1e-9).tolist()

    @property
    def sentences(self) -> list[str]:
        """The result in plain words."""
        found = self.significant
        if not found and len(self.features) == 1:
            return [
                f"The one feature, {short_name(self.features[0])}, was not shown to drive the rankings: "
                f"{p_text(float(self.p_values[0]))}. That does not show that it does not."
            ]
        if not found:
            return [
                f"None of the {counted(len(self.features), 'feature')} was shown to drive the rankings: the smallest "
                f"corrected {p_text(float(self.p_values.min()))}. That does not show that none does."
            ]
        first = [f"{short_name(self.features[f])} ({p_text(self.p_values[f])})" for f in found[:3]]
        more = f" and {len(found) - 3} more" if len(found) > 3 else ""
        joined = first[0] if len(first) == 1 else f"{', '.join(first[:-1])}{', ' if more else ' and '}{first[-1]}"
        lines = [f"Rankings depend on {joined}{more}."]
        lines += [f"{self.effects[f].sentence(self.effects[f].strongest)}." for f in found[:3]]
        return lines

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with a row per feature, of pandas by default, else of the named backend.

        Columns: ``feature``, ``importance``, ``low``, ``high``, ``p_value``, and of the item that moves most, of those
        that surely move if there are any, ``item`` and ``moves``.
        """
        strongest = [effect.strongest for effect in self.effects]
        moved = list(zip(self.effects, strongest, strict=True))
        columns = {
            "feature": list(self.features),
            "importance": self.importances,
            "low": self.low,
            "high": self.high,
            "p_value": self.p_values,
            "item": [str(self.items[item]) for item in strongest],
            "moves": np.array([effect.moves[item] for effect, item in moved]),
        }
        return make_frame(columns, backend)

    def as_dict(self) -> dict[str, Any]:
        """The numbers for JSON."""
        return {
            "n": self.n,
            "n_total": self.n_total,
            "tau": self.tau,
            "tau_without": self.tau_without,
            "level": self.level,
            "features": [
                {
                    "feature": name,
                    "importance": float(self.importances[f]),
                    "low": float(self.low[f]) if np.isfinite(self.low[f]) else None,
                    "high": float(self.high[f]) if np.isfinite(self.high[f]) else None,
                    "p_value": float(self.p_values[f]),
                    "effect": self.effects[f].as_dict(),
                }
                for f, name in enumerate(self.features)
            ],
            "notes": list(self.notes),
        }

    def tables(self) -> list[TextTable]:
        """The importances, the effects of the features that matter, and what the numbers mean."""
        effects = [self.effect_table(f) for f in self.significant[:3]]
        return [self.importance_table(), *effects, self.method_table()]

    def importance_table(self) -> TextTable:
        """Importances as a table of text."""
        shown, sure = range(min(len(self.features), _MOST_SHOWN)), set(self.significant)
        rows = []
        for f in shown:
            effect = self.effects[f]
            item = effect.strongest
            rows.append(
                [
                    short_name(self.features[f]),
                    f"{self.importances[f]:.3f}",
                    f"{self.low[f]:.3f} to {self.high[f]:.3f}" if np.isfinite(self.low[f]) else "none",
                    "<0.001" if self.p_values[f] < 0.001 else f"{self.p_values[f]:.3f}",
                    f"{short_name(self.items[item])} by {abs(effect.moves[item]):.1f} places"
                    if f in sure and not effect.may_stay[item]
                    else "not sure",
                ]
            )
        columns = ["feature", "importance", f"{self.level:.0%} interval", "p, corrected", "moves most"]
        return TextTable("What drives the rankings", " ".join(self.sentences), columns, rows)

    def method_table(self) -> TextTable:
        """What the numbers mean, and what was left out, as a table of text."""
        sampled = f" of {self.n_total:,}" if self.n < self.n_total else ""
        rows = [
            ["people", f"{self.n:,}{sampled}"],
            ["importance", "by how much Kendall's tau of predictions falls when the feature is shuffled"],
            [
                "p",
                "whether predictions from all features get worse when this one is shuffled: it depends on the features "
                "beside it, and is corrected for their number; its test is not that of the interval, which may hold 0",
            ],
            ["moves", "if everybody had one value and then the other, all else equal; with its interval"],
            ["tau", f"{self.tau:.2f} for people not learned from; {self.tau_without:.2f} with one ranking for all"],
        ]
        if len(self.features) > _MOST_SHOWN:
            rows.append(["note", f"{len(self.features) - _MOST_SHOWN:,} less important features are not shown"])
        return TextTable("How to read this", "", ["", ""], [*rows, *(["note", note] for note in self.notes)])

    def effect_table(self, feature: int) -> TextTable:
        """Expected places at each value of a feature as a table of text."""
        effect = self.effects[feature]
        order = np.argsort(effect.places.mean(axis=0), kind="stable")
        rows = [
            [short_name(self.items[item]), *(f"{place:.1f}" for place in effect.places[:, item]), _range(effect, item)]
            for item in order.tolist()
        ]
        columns = ["item", *map(shown_value, effect.values), "moves"]
        moves = "moves" if effect.is_ordered else "moves: from its best to its worst place,"
        note = f"expected places, all else equal; {moves} with the {self.level:.0%} interval"
        return TextTable(f"Places by {short_name(effect.feature)}", note, columns, rows)


def _range(effect: FeatureEffect, item: int) -> str:
    sign = "+" if effect.is_ordered else ""  # between categories there is no way up or down
    mean, low, high = (
        f"{value:{sign}.1f}" if abs(value) >= 0.05 else "0.0"
        for value in (effect.moves[item], effect.moves_low[item], effect.moves_high[item])
    )
    return mean if np.isnan(effect.moves_low[item]) else f"{mean} ({low} to {high})"
