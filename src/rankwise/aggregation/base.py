"""What the models of random rankings share: parameters as scikit-learn knows them, and what they ask of rankings."""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar

import numpy as np
from sklearn.exceptions import NotFittedError

from rankwise._sklearn import BaseEstimator
from rankwise._state import ITEMS, Saved, check_shape, ensure
from rankwise._typing import ArrayLike, FloatArray
from rankwise._validation import check_weights, item_names, shortlist
from rankwise.data import Rankings


class RankingModel(BaseEstimator):
    """A law of random rankings, fitted to rankings: `fit`, `sample`, `logpmf`, `mode`, `pairwise_probabilities`.

    As in scikit-learn, the constructor stores its arguments and does nothing else, `fit` validates them and returns the
    model, and what it has learned ends in an underscore.
    """

    items_: tuple[Hashable, ...]

    _saved: ClassVar[Saved] = {"items_": ITEMS}

    def _check_fitted(self) -> None:
        if not hasattr(self, "items_"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted; call fit first")


def weighted_rankings(rankings: ArrayLike, sample_weight: ArrayLike | None) -> Rankings:
    """Rankings to fit; the weights given for them count, else their own."""
    data = rankings if isinstance(rankings, Rankings) else Rankings(rankings)
    if sample_weight is None:
        return data
    return Rankings(data, weights=check_weights(sample_weight, len(data), name="sample_weight"))


def rankings_of(items: tuple[Hashable, ...], rankings: ArrayLike) -> Rankings:
    """Rankings to judge, if they rank just these items in just these columns (as far as the items have names)."""
    data = rankings if isinstance(rankings, Rankings) else Rankings(rankings)
    if data.n_items != len(items):
        raise ValueError(f"the rankings have {data.n_items} items, but the model knows {len(items)}")
    given, known = item_names(rankings), list(items)
    if given is not None and known != list(range(len(known))) and given != known:
        raise ValueError(
            f"the rankings have the items {shortlist(given)}, but the model knows {shortlist(known)}; "
            "bring them into this order with Rankings.select([...])"
        )
    return data


def check_center(center: FloatArray, n_items: int) -> None:
    """Refuse a saved center that is not a full ranking of the items."""
    ensure(np.array_equal(np.sort(center), np.arange(1.0, n_items + 1)), "a center is not a full ranking")


def check_worths(log_worth: FloatArray, n_items: int, tie_strength: FloatArray | float) -> None:
    """Refuse saved worths that are not one finite number per item, and negative or infinite tie strengths."""
    check_shape(log_worth, (n_items,), "the worths")
    ensure(np.isfinite(log_worth).all(), "a worth is not finite")
    ties = np.asarray(tie_strength)
    ensure((np.isfinite(ties) & (ties >= 0)).all(), "a tie strength is negative or infinite")
