"""Food preferences of two types of users: rankings as input, the type of the user as target."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from rankwise._typing import FloatArray, IntArray, RandomState
from rankwise._validation import check_choice, check_generator, check_scales, check_sizes
from rankwise.data import Rankings
from rankwise.datasets.mechanisms import make_partial

_ITEMS = ("cake", "biscuit", "gelato", "steak", "burger", "sausage", "pasta", "pizza")
_FEATURES = ("sweet", "savouriness", "juicy")
# Tables 3 and 4 of the paper, columns in the order of the items.
_ITEM_FEATURES = (
    (0.9, 0.7, 1.0, 0.0, 0.2, 0.1, 0.4, 0.4),
    (0.0, 0.1, 0.0, 0.8, 0.8, 1.0, 0.7, 0.9),
    (0.3, 0.0, 0.7, 0.8, 0.9, 1.0, 0.7, 0.6),
)
_SCORES = (
    (0.93, 0.72, 1.06, 0.21, 0.42, 0.36, 0.58, 0.60),
    (0.38, 0.08, 0.79, 0.93, 1.05, 1.18, 0.85, 0.79),
)


def make_food_preferences(
    n_samples: int = 250,
    *,
    sigma: float = 0.5,
    kind: Literal["full", "top-k", "exhaustive", "non-exhaustive"] = "full",
    length: int | None = None,
    random_state: RandomState = None,
) -> tuple[Rankings, IntArray, Any]:
    """Rankings of eight dishes by users who prefer sweet (type 1) or juicy (type 2) food.

    A user of type t ranks the dishes by decreasing score_t + N(0, sigma^2), independently for every dish. Here
    the rankings are the input and the type is the target, so they come in the places of X and y.

    Parameters
    ----------
    n_samples : int, default=250
        Number of users; half of each type (one more of type 1 if odd), in random order.
    sigma : float, default=0.5
        Standard deviation of the noise on the scores.
    kind : {"full", "top-k", "exhaustive", "non-exhaustive"}, default="full"
        What is seen of a ranking: everything; the first ``length`` dishes, the rest being unlisted (``inf``);
        all dishes, but in ``length`` groups of ties, as equal in size as possible, larger ones first; ``length``
        dishes chosen at random, the rest being missing (``NaN``).
    length : int, optional
        See ``kind``: 1 to 8, for every kind but "full".
    random_state : None, int, Generator or RandomState
        Where the random numbers come from. The same seed gives the same full rankings whatever the kind.

    Returns
    -------
    rankings : Rankings
        Positions of the eight dishes, 1 = most preferred.
    user_type : ndarray of shape (n_samples,), intp
        1 or 2.
    bunch : Bunch
        ``item_features`` (8, 3), ``feature_names``, ``scores`` (2, 8; higher = better), ``noiseless`` (Rankings of
        the two types).

    Notes
    -----
    The scores are those printed in the paper, with two decimals. They tie gelato and pizza for type 2; as in the
    paper's noise-free preferences, the later dish of two that tie comes first.

    References
    ----------
    Conserva, Deisenroth, Sesh Kumar (2022), The graph cut kernel for ranked data, section 4.1, Tables 3 to 5.

    Examples
    --------
    >>> from rankwise.datasets import make_food_preferences
    >>> rankings, user_type, bunch = make_food_preferences(sigma=0.1, kind="top-k", length=3, random_state=0)
    >>> bunch.noiseless.orders()[0][:3], rankings.kind
    (array([2, 0, 1]), 'top-k')
    """
    check_choice("kind", kind, ("full", "top-k", "exhaustive", "non-exhaustive"))
    check_sizes(n_samples=n_samples)
    check_scales(sigma=sigma)
    _check_length(kind, length)
    rng = check_generator(random_state)
    user_type = rng.permutation(1 + np.arange(n_samples) % 2)
    scores = np.array(_SCORES)
    noisy = scores[user_type - 1] + sigma * rng.standard_normal((n_samples, len(_ITEMS)))
    full = Rankings(_positions_later_first(noisy), _ITEMS)

    from sklearn.utils import Bunch

    bunch = Bunch(
        item_features=np.array(_ITEM_FEATURES).T,
        feature_names=list(_FEATURES),
        scores=scores,
        noiseless=Rankings(_positions_later_first(scores), _ITEMS),
    )
    return _seen(full, kind, length, rng), user_type, bunch


def _check_length(kind: str, length: int | None) -> None:
    if kind == "full":
        if length is not None:
            raise ValueError(f"length is {length}, but full rankings have all 8 dishes; drop it or change kind")
        return
    if length is None:
        raise ValueError(f"length is None, but kind={kind!r} needs a length of 1 to {len(_ITEMS)}")
    check_sizes(length=length)
    if length > len(_ITEMS):
        raise ValueError(f"length is {length}, but there are {len(_ITEMS)} dishes")


def _positions_later_first(scores: FloatArray) -> FloatArray:
    """Full rankings by decreasing score; of equal scores the later item comes first."""
    increasing = np.argsort(scores, axis=1, kind="stable")
    positions = np.empty_like(scores)
    np.put_along_axis(positions, increasing, np.arange(scores.shape[1], 0.0, -1.0)[None], axis=1)
    return positions


def _seen(full: Rankings, kind: str, length: int | None, rng: np.random.Generator) -> Rankings:
    if kind == "full" or length is None:
        return full
    if kind == "top-k":
        return Rankings(np.where(full.positions <= length, full.positions, np.inf), full.items)
    if kind == "exhaustive":
        return make_partial(full, [len(group) for group in np.array_split(np.arange(full.n_items), length)])
    chosen = np.argsort(rng.random(full.shape), axis=1) < length
    return Rankings(np.where(chosen, full.positions, np.nan), full.items)
