"""How full rankings lose information: items drop out (incomplete), neighbors tie (partial)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from rankwise._typing import ArrayLike, BoolArray, FloatArray, IntArray, RandomState
from rankwise._validation import check_generator, check_numbers
from rankwise.data import Rankings
from rankwise.data.positions import has_ties

Survival: TypeAlias = float | ArrayLike | Callable[[ArrayLike], ArrayLike]
Partition: TypeAlias = str | Sequence[int] | Callable[[np.random.Generator, Any, int], Sequence[Sequence[int]]]


def make_incomplete(
    rankings: ArrayLike, survival: Survival, *, X: ArrayLike | None = None, random_state: RandomState = None
) -> Rankings:
    """Drop items at random: item i of ranking r stays with probability q_i(x_r), independently.

    Parameters
    ----------
    rankings : Rankings or array-like of shape (n, k)
        Positions, 1 = best.
    survival : float, array-like of shape (k,) or (n, k), or callable
        The probabilities q; a callable takes X and returns (n, k).
    X : array-like of shape (n, d), optional
        Features, for a callable.
    random_state : None, int, Generator or RandomState
        Where the random numbers come from.

    Returns
    -------
    Rankings
        Dropped items are missing (NaN) and the others close up: where an item stood is not revealed.

    References
    ----------
    Fotakis, Kalavasis, Psaroudaki (2022), Label ranking through nonparametric regression, definition 2.4.

    Examples
    --------
    >>> from rankwise.datasets import make_incomplete
    >>> make_incomplete([[3, 1, 2]], [1, 0, 1]).positions
    array([[ 2., nan,  1.]])
    """
    source = Rankings(rankings)
    probabilities = survival_matrix(survival, X, source.shape)
    stays = check_generator(random_state, salt="make_incomplete").random(source.shape) < probabilities
    return Rankings(np.where(stays, source.positions, np.nan), source.items, source.weights)


def make_partial(
    rankings: ArrayLike, partition: Partition, *, X: ArrayLike | None = None, random_state: RandomState = None
) -> Rankings:
    """Tie neighbors: the places are cut into blocks, and items whose places share a block tie.

    Parameters
    ----------
    rankings : Rankings or array-like of shape (n, k)
        Positions of full rankings, 1 = best.
    partition : sequence of int, "random" or callable
        Sizes of the blocks, best first, such as (2, 1, 2) for five items; "random" cuts between any two
        neighboring places with probability 1/2, independently for every ranking; a callable takes a generator, X and
        k, and returns n sequences of sizes: draws from the paper's p(x), one for each row of X.
    X : array-like of shape (n, d), optional
        Features, for a callable.
    random_state : None, int, Generator or RandomState
        Where the random numbers come from.

    Returns
    -------
    Rankings
        The same rankings with ties.

    References
    ----------
    Fotakis, Kalavasis, Psaroudaki (2022), Label ranking through nonparametric regression, definition C.1.

    Examples
    --------
    >>> from rankwise.datasets import make_partial
    >>> make_partial([[4, 2, 5, 3, 1]], (2, 1, 2)).positions
    array([[3., 1., 3., 2., 1.]])
    """
    source = Rankings(rankings)
    rng = check_generator(random_state, salt="make_partial")
    n, k = source.shape
    if has_ties(source.positions).any() or not np.isfinite(source.positions).all():
        raise ValueError(f"the rankings are {source.kind}, but cutting places into blocks needs full rankings")
    if isinstance(partition, str):
        if partition != "random":
            raise ValueError(f"partition is {partition!r}; give sizes such as (2, 1, 2), 'random' or a callable")
        blocks = _blocks_from_cuts(rng.random((n, k - 1)) < 0.5)
    elif callable(partition):
        sizes = list(partition(rng, _features_for_function(X, n, "partition"), k))
        if len(sizes) != n:
            raise ValueError(f"partition returned {len(sizes)} partitions for {n} rankings; return one for each")
        blocks = np.array([block_of_place(row, k) for row in sizes]).reshape(n, k)
    else:
        blocks = np.broadcast_to(block_of_place(partition, k), (n, k))
    places = source.positions.astype(np.intp) - 1
    return Rankings(np.take_along_axis(blocks, places, axis=1), source.items, source.weights)


def survival_matrix(survival: Survival, X: ArrayLike | None, shape: tuple[int, int]) -> FloatArray:
    """Probabilities that items stay, one per cell."""
    if callable(survival):
        survival = survival(_features_for_function(X, shape[0], "survival"))
    probabilities = check_numbers("survival", survival)
    if probabilities.shape not in ((), shape[1:], shape):
        raise ValueError(
            f"survival has shape {probabilities.shape} for {shape[0]} rankings of {shape[1]} items; "
            f"give a number, one value per item {shape[1:]} or one per cell {shape}"
        )
    if not np.all((probabilities >= 0) & (probabilities <= 1)):
        raise ValueError("survival holds values outside 0 to 1, but they are probabilities")
    return np.broadcast_to(probabilities, shape)


def _features_for_function(X: ArrayLike | None, n: int, mechanism: str) -> Any:
    """Features for a function of the user; a data frame remains one, so that columns can be called by name."""
    if X is None:
        raise ValueError(f"{mechanism} is a function of X; give X as well")
    features = X if hasattr(X, "shape") else np.asarray(X)
    if len(features.shape) != 2 or features.shape[0] != n:
        raise ValueError(f"X has shape {tuple(features.shape)}; give one row for each of the {n} rankings")
    return features


def block_of_place(sizes: Sequence[int], k: int) -> IntArray:
    """Number of the block, from 1, that holds each place."""
    array = np.asarray(sizes)
    if array.ndim != 1 or array.dtype.kind not in "iu" or np.any(array < 1) or array.sum() != k:
        raise ValueError(f"partition {sizes!r} does not cut {k} places; give positive sizes that add up to {k}")
    return np.repeat(np.arange(1, len(array) + 1), array)


def probability_apart(partition: str | Sequence[int], k: int) -> FloatArray:
    """Probability that two places, counted from 0, fall into different blocks."""
    if isinstance(partition, str):
        if partition != "random":
            raise ValueError(f"partition is {partition!r}; give sizes such as (2, 1, 2), 'random' or a callable")
        places = np.arange(k)
        return 1 - 0.5 ** np.abs(places[:, None] - places)
    block = block_of_place(partition, k)
    return (block[:, None] != block).astype(np.float64)


def is_apart(positions: FloatArray) -> BoolArray:
    """Whether each pair is there and not tied."""
    first, second = positions[:, :, None], positions[:, None, :]
    return (first < second) | (first > second)


def _blocks_from_cuts(cuts: BoolArray) -> IntArray:
    """Blocks from the decisions to cut after places 1, ..., k - 1."""
    first = np.ones((len(cuts), 1), dtype=np.intp)
    return np.cumsum(np.hstack([first, cuts]), axis=1)
