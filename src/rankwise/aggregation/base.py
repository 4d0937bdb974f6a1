"""What the models of random rankings share: their base class, and checks of rankings and centers.

Used by the Mallows models, `PlackettLuce` and `BradleyTerry`.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar

import numpy as np
from sklearn.exceptions import NotFittedError

from rankwise._sklearn import BaseEstimator
from rankwise._state import ITEMS, Saved, check_shape, ensure
from rankwise._typing import ArrayLike, FloatArray
from rankwise._validation import check_real_number, check_weights, check_whole_number, item_names, read_only, shortlist
from rankwise.data import Rankings, check_positions
from rankwise.data.positions import has_ties

# Types of numbers, number of cells and of items for which loops over full rankings are compiled.
_COUNTED = "bBhilqfd"
_WORTH_COMPILED = 1 << 16
_MOST_BITS = 62


class RankingModel(BaseEstimator):
    """A distribution of rankings, fitted to rankings: `fit`, `sample`, `logpmf`, `mode`, `pairwise_probabilities`.

    As in scikit-learn, the constructor only stores its arguments, `fit` validates them and returns the model, and
    names of what it has learned end in an underscore.
    """

    items_: tuple[Hashable, ...]

    _saved: ClassVar[Saved] = {"items_": ITEMS}

    def _check_fitted(self) -> None:
        if not hasattr(self, "items_"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted; call fit first")


def weighted_rankings(rankings: ArrayLike, sample_weight: ArrayLike | None) -> Rankings:
    """Rankings to fit, with the given weights or else their own."""
    data = rankings if isinstance(rankings, Rankings) else Rankings(rankings)
    if sample_weight is None:
        return data
    return Rankings(data, weights=check_weights(sample_weight, len(data), name="sample_weight"))


def large_array(rankings: ArrayLike, sample_weight: ArrayLike | None) -> FloatArray | None:
    """Rankings of weight 1 as the array they are given in, if compiled loops over full rankings may take it; else None.

    These loops check what they count, so that large arrays, bytes too, need not be converted and copied first.
    """
    if sample_weight is not None:
        return None
    array = rankings.positions if isinstance(rankings, Rankings) else rankings
    if type(array) is not np.ndarray or array.ndim != 2 or array.dtype.char not in _COUNTED:
        return None
    if array.size < _WORTH_COMPILED or not 2 <= array.shape[1] <= _MOST_BITS or not array.flags.c_contiguous:
        return None
    if isinstance(rankings, Rankings) and not np.all(rankings.weights == 1):
        return None
    return read_only(array)


def rankings_of(items: tuple[Hashable, ...], rankings: ArrayLike) -> Rankings:
    """Rankings to evaluate, once checked to have these items in these columns (if the items have names)."""
    data = rankings if isinstance(rankings, Rankings) else Rankings(rankings)
    if data.n_items != len(items):
        raise ValueError(f"the rankings have {data.n_items} items, but the model knows {len(items)}")
    given, known = item_names(rankings), list(items)
    if given is not None and known != list(range(len(known))) and given != known:
        raise ValueError(
            f"the rankings have the items {shortlist(given)}, but the model knows {shortlist(known)}; "
            "put them into this order with Rankings.select([...])"
        )
    return data


def rankings_to_fit(rankings: ArrayLike, sample_weight: ArrayLike | None) -> Rankings:
    """Rankings to fit a model without ties; those that compare nothing or have no weight are dropped."""
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


def rankings_to_evaluate(rankings: ArrayLike, items: tuple[Hashable, ...]) -> Rankings:
    """Rankings to evaluate by a model without ties, once checked to have its items."""
    data = rankings_of(items, rankings)
    _refuse_ties(data)
    return data


def check_fit_options(alpha: float, max_iter: int, tol: float) -> None:
    """Check the options of a maximum likelihood fit."""
    check_real_number("alpha", alpha)
    check_whole_number("max_iter", max_iter, at_least=1)
    if not check_real_number("tol", tol) > 0:
        raise ValueError(f"tol is {tol}, but must be positive")


def refuse_gaps(rankings: Rankings, cure: str, *, allow_unlisted: bool = False) -> None:
    """Raise if a ranking does not place every item; unlisted items may be allowed."""
    gaps = np.isnan(rankings.positions) if allow_unlisted else ~np.isfinite(rankings.positions)
    if gaps.any():
        row, item = np.argwhere(gaps)[0]
        also = " or top-k lists (unlisted items come below the listed ones)" if allow_unlisted else ""
        raise ValueError(
            f"ranking {row} gives item {rankings.items[item]!r} no place, but this model needs full rankings{also}; "
            f"{cure}"
        )


def check_center(center: ArrayLike, n_items: int | None = None) -> FloatArray:
    """Positions of a central ranking, once checked to be a full ranking."""
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


def check_saved_center(center: FloatArray, n_items: int) -> None:
    """Refuse a saved center that is not a full ranking of the items."""
    ensure(np.array_equal(np.sort(center), np.arange(1.0, n_items + 1)), "a center is not a full ranking")


def check_worths(log_worth: FloatArray, n_items: int, tie_strength: FloatArray | float) -> None:
    """Refuse saved worths that are not one finite number per item, and negative or infinite tie strengths."""
    check_shape(log_worth, (n_items,), "the worths")
    ensure(np.isfinite(log_worth).all(), "a worth is not finite")
    ties = np.asarray(tie_strength)
    ensure((np.isfinite(ties) & (ties >= 0)).all(), "a tie strength is negative or infinite")


def _refuse_ties(rankings: Rankings) -> None:
    tied = has_ties(rankings.positions)
    if tied.any():
        row = int(np.argmax(tied))
        bucket = next(bucket for bucket in rankings[[row]].buckets()[0] if len(bucket) > 1)
        first, second = (rankings.items[item] for item in bucket[:2])
        raise ValueError(
            f"ranking {row} ties items {first!r} and {second!r}, and a Mallows model has no ties; "
            "break them at random, or use a model with ties (Plackett-Luce)"
        )
