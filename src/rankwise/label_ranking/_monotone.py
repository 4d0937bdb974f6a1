"""Monotone constraints of `BoostedRanker`: what users say, as signs; and the nearest steps that keep to bounds."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from rankwise._typing import BoolArray, FloatArray, IntArray
from rankwise._validation import shortlist
from rankwise.label_ranking.base import item_column

# Halvings of the interval of the shift in `nearest_within`: down to the last digit.
_HALVINGS = 100


def monotone_signs(
    given: Any, items: tuple[Hashable, ...], names: np.ndarray[Any, Any] | None, is_categorical: BoolArray
) -> IntArray | None:
    """Signs of shape (n_features, n_items): 1 where scores may not fall, -1 where they may not rise, else 0.

    Parameters
    ----------
    given : None, mapping of features to mappings of items to signs, or array-like of shape (n_features, n_items)
        The parameter ``monotone_constraints``.
    items : tuple
        Names of the items.
    names : ndarray or None
        Names of the features, if they have any.
    is_categorical : ndarray of bool
        Which features hold categories.
    """
    if given is None:
        return None
    shape = len(is_categorical), len(items)
    if isinstance(given, Mapping):
        signs = np.zeros(shape)
        for feature, of_items in given.items():
            if not isinstance(of_items, Mapping):
                raise ValueError(
                    f"monotone_constraints[{feature!r}] must map items to 1 or -1, as in {{{feature!r}: "
                    f"{{{items[0]!r}: 1}}}}"
                )
            for item, sign in of_items.items():
                signs[_feature_column(feature, names, shape[0]), item_column(items, item)] = sign
    else:
        signs = np.asarray(given, dtype=np.float64)
    if signs.shape != shape or not np.isin(signs, (-1, 0, 1)).all():
        raise ValueError(
            f"monotone_constraints must be of shape {shape}, a row for each feature and a column for each item, and "
            "hold -1, 0 or 1; or map features to items to these"
        )
    wrong = np.flatnonzero(is_categorical & signs.any(axis=1))
    if len(wrong):
        which = wrong[0] if names is None else names[wrong[0]]
        raise ValueError(f"feature {which!r} of monotone_constraints holds categories, which have no order")
    return signs.astype(np.int64) if signs.any() else None


def _feature_column(feature: Any, names: np.ndarray[Any, Any] | None, n_features: int) -> int:
    if names is not None and isinstance(feature, str):
        if feature not in names:
            raise ValueError(f"monotone_constraints names {feature!r}; the features are {shortlist(list(names))}")
        return int(np.flatnonzero(names == feature)[0])
    if not isinstance(feature, int | np.integer) or not 0 <= feature < n_features:
        raise ValueError(f"monotone_constraints names feature {feature!r}, but features are 0 to {n_features - 1}")
    return int(feature)


def nearest_within(values: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """The nearest numbers of sum 0 that lie between the bounds, where there are such numbers.

    They are the values less one shift, clipped; the sum falls with the shift, which is found by halving.
    """
    low, high = float(np.min(values)), float(np.max(values))
    # At these shifts all that is not held by a bound is at most, or at least, 0.
    low, high = low - _reach(lower, upper), high + _reach(lower, upper)
    for _ in range(_HALVINGS):
        shift = 0.5 * (low + high)
        if np.clip(values - shift, lower, upper).sum() > 0:
            low = shift
        else:
            high = shift
    return np.clip(values - 0.5 * (low + high), lower, upper)


def _reach(lower: FloatArray, upper: FloatArray) -> float:
    """Sum of the sizes of the bounds."""
    return float(sum(np.abs(bounds[np.isfinite(bounds)]).sum() for bounds in (lower, upper)))
