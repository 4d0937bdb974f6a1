"""Features as `drivers` takes them: numbers and codes of categories, without ids and constants, and what to note."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rankwise._features import FeatureEncoder
from rankwise._sklearn import BaseEstimator
from rankwise._tables import short_name
from rankwise._typing import ArrayLike, FloatArray, IntArray
from rankwise.analysis.base import features_of, rankings_of, repeated_people_notes
from rankwise.data import Rankings, Survey

# Features that go together this closely are noted: correlation of ranks, or Cramer's V.
_CLOSE = 0.8
# A text of which so many are different names people, and does not describe them.
_DIFFERENT = 0.5
_FEWEST_FOR_IDS = 20
_CONSTANT = "left out, because they are the same for everybody"


class DriverFeatures(NamedTuple):
    """Features that may drive rankings.

    Attributes
    ----------
    values : ndarray of shape (n, n_features)
        Numbers, or codes of categories; NaN where missing.
    names : tuple of str
        Names of the features.
    categories : tuple
        Of each feature the categories by code, or None for numbers.
    is_nominal : ndarray of bool
        Which features have categories without an order.
    notes : tuple of str
        What was left out, and which features go together.
    """

    values: FloatArray
    names: tuple[str, ...]
    categories: tuple[list[Any] | None, ...]
    is_nominal: Any
    notes: tuple[str, ...]

    @property
    def nominal(self) -> list[int]:
        """Columns with categories without an order."""
        return np.flatnonzero(self.is_nominal).tolist()


def driver_features(X: Any, names: Sequence[str] | None, categorical: Any, n_rows: int) -> DriverFeatures:
    """Check features of any form; refuse them if none is left."""
    features = features_of(X, names, categorical)
    if features.X is None:
        raise ValueError("there are no features; give X, one row per ranking and one column per feature")
    encoder = FeatureEncoder(features.categorical)
    values = encoder.fit_transform(BaseEstimator(), features.X)
    if len(values) != n_rows:
        raise ValueError(f"X has {len(values)} rows, but there are {n_rows} rankings; give one row for each")
    constant, ids, kept = [], [], []
    for column, name in enumerate(features.names):
        known = values[~np.isnan(values[:, column]), column]
        different = len(np.unique(known))
        if different < 2:
            constant.append(name)
        elif _is_id(known, different, encoder.categories_[column]):
            ids.append(name)
        else:
            kept.append(column)
    notes = []
    if constant:
        notes.append(f"{_CONSTANT}: {_listed(constant)}")
    if ids:
        notes.append(f"left out, because they number or name people: {_listed(ids)}")
    if not kept:
        raise ValueError("no feature is left: all are the same for everybody, or number people; give others")
    found = DriverFeatures(
        np.ascontiguousarray(values[:, kept]),
        tuple(features.names[column] for column in kept),
        tuple(encoder.categories_[column] for column in kept),
        encoder.is_categorical[kept],
        tuple(notes),
    )
    return found._replace(notes=(*notes, *_close_pairs(found)))


def _is_id(known: FloatArray, different: int, categories: Any) -> bool:
    if different < _FEWEST_FOR_IDS:
        return False
    if categories is not None:
        return different > _DIFFERENT * len(known)
    # Row numbers: whole, without gaps, each once.
    return different == len(known) and bool(np.all(known % 1 == 0)) and np.ptp(known) == len(known) - 1


def _close_pairs(features: DriverFeatures) -> list[str]:
    notes = []
    for a in range(len(features.names)):
        for b in range(a):
            strength = association(features, a, b)
            if strength >= _CLOSE:
                first, second = short_name(features.names[b]), short_name(features.names[a])
                alike = f"{first} and {second} go together ({strength:.2f})"
                notes.append(f"{alike}: each can stand in for the other, so each looks less important than both are")
    return notes


def association(features: DriverFeatures, a: int, b: int) -> float:
    """From 0 to 1: absolute correlation of ranks of two numbers, else Cramer's V with numbers in fifths."""
    from scipy.stats import rankdata

    values = features.values
    known = ~np.isnan(values[:, a]) & ~np.isnan(values[:, b])
    if known.sum() < 3:
        return 0.0
    columns = [values[known, column] for column in (a, b)]
    if not features.is_nominal[[a, b]].any():
        ranks = [rankdata(column) for column in columns]
        if min(np.ptp(rank) for rank in ranks) == 0:
            return 0.0
        return float(abs(np.corrcoef(ranks)[0, 1]))
    codes: list[IntArray] = []
    for column, number in zip(columns, (a, b), strict=True):
        if not features.is_nominal[number] and len(np.unique(column)) > 5:
            column = np.searchsorted(np.quantile(column, [0.2, 0.4, 0.6, 0.8]), column)
        codes.append(np.unique(column, return_inverse=True)[1])
    table = np.zeros((codes[0].max() + 1, codes[1].max() + 1))
    np.add.at(table, tuple(codes), 1)
    smaller = min(table.shape) - 1
    if smaller == 0:
        return 0.0
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    return float(np.sqrt(((table - expected) ** 2 / expected).sum() / table.sum() / smaller))


def _listed(names: Sequence[str]) -> str:
    shown = [short_name(name) for name in names]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def taken_apart(X: Any, rankings: ArrayLike | None, categorical: Any) -> tuple[Any, Rankings, Any, list[str]]:
    """Features, rankings, which features hold categories, and notes on columns of a Survey that are no features."""
    notes: list[str] = []
    if isinstance(X, Survey):
        rankings = X if rankings is None else rankings
        categorical = X.categorical_features if categorical is None else categorical
        constant = [name for name, role in X.roles.items() if role.role == "constant"]
        notes = [f"{_CONSTANT}: {_listed(constant)}"] if constant else []
        X = X.X
    if rankings is None:
        raise TypeError("drivers needs rankings beside X, or a Survey that has both")
    return X, rankings_of(rankings), categorical, [*notes, *repeated_people_notes(rankings)]
