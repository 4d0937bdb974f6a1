"""SubmodularEmbedding: the graph cut embedding with any other submodular function of sets of items.

`concave_of_size`, `coverage` and `gaussian_entropy` are such functions: what an item adds falls as the set grows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np

from rankwise._sklearn import Interval, StrOptions
from rankwise._typing import ArrayLike, FloatArray, IntArray, RandomState
from rankwise._validation import check_numbers
from rankwise.embeddings import _graph_cut_jit
from rankwise.embeddings.completions import Levels, slots_of
from rankwise.embeddings.ordered_partitions import PartitionEmbedding

#: from the increasing ids of the items in a set to its value
SetFunction = Callable[[IntArray], float]

# Most values of sets that are cached within a call; with many items, most sets occur only once.
_MOST_CACHED = 1_000_000


class SubmodularEmbedding(PartitionEmbedding):
    r"""Rankings as what each item adds to the value of a set, the best first; larger = preferred.

    *Definition.* Let F be a function of sets of items and :math:`B_1 \subset B_2 \subset \dots` the items of the best
    level of a ranking, of the best two levels, and so on. The feature of an item of level t is the slope, from
    :math:`|B_{t-1}|` to :math:`|B_t|`, of the least concave majorant of the points :math:`(|B_t|, F(B_t) -
    F(\emptyset))`: means of :math:`F(B_t) - F(B_{t-1})` over the items of a level, pooled until they fall from the best
    level to the worst. Features sum to :math:`F(V) - F(\emptyset)`, with V all items.

    F should be submodular (what an item adds falls as the set grows), as `concave_of_size`, `coverage` and
    `gaussian_entropy` are. With the cut of a graph this is `GraphCutEmbedding`, which is much faster. The features of
    the reverse ranking are the negative ones only if F gives a set and its complement the same value, as cuts do.

    Parameters
    ----------
    F : callable
        From an increasing array of item ids, counted from 0, to a number; must accept an empty array.
    pooling : {"pava", "none"}, default="pava"
        Whether to pool.
    completion : {"auto", "exact", "sample", "full"}, default="auto"
        How to average over completions of rankings with missing items, as in `GraphCutEmbedding`.
    n_samples : int, default=128
        Completions to draw; rounded up to a multiple of 16.
    random_state : None, int, Generator or RandomState
        Draws the completions, once, in ``fit``.

    Attributes
    ----------
    enumerated_up_to_ : int
        Rankings with at most this number of completions have exact features.
    n_features_in_ : int
        Number of items.
    feature_names_in_ : ndarray of shape (n_items,)
        Names of the items, where the rankings have them.

    References
    ----------
    Conserva, Deisenroth, Sesh Kumar (2022), The graph cut kernel for ranked data, section 5, where the extension is
    left open. Kumar, Bach (2017), Active-set methods for submodular minimization problems.

    Examples
    --------
    >>> from rankwise.embeddings import SubmodularEmbedding, coverage
    >>> embedding = SubmodularEmbedding(coverage([[1, 1, 0], [0, 1, 0], [0, 0, 1]]))
    >>> embedding.fit_transform([[1, 2, 3], [2, 1, 3]])
    array([[2. , 0.5, 0.5], [1. , 1. , 1. ]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "F": [callable],
        "pooling": [StrOptions({"pava", "none"})],
        "completion": [StrOptions({"auto", "exact", "sample", "full"})],
        "n_samples": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        F: SetFunction,
        pooling: Literal["pava", "none"] = "pava",
        completion: Literal["auto", "exact", "sample", "full"] = "auto",
        n_samples: int = 128,
        random_state: RandomState = None,
    ) -> None:
        self.F = F
        self.pooling = pooling
        self.completion = completion
        self.n_samples = n_samples
        self.random_state = random_state

    def _fit_items(self, n_items: int, items: Sequence[Hashable] | None) -> None:
        """Nothing to learn: F defines what items add."""

    def _features(self, levels: Levels) -> FloatArray:
        if not len(levels):
            return np.empty(levels.shape)
        values = _Values(self.F)
        shape = (len(levels), int(levels.max()) + 1)
        increments, counts = np.zeros(shape), np.zeros(shape)
        for r, level in enumerate(levels):
            counts[r] = np.bincount(level, minlength=shape[1])
            before = values(level < 0)
            for t in np.flatnonzero(counts[r]):
                after = values(level <= t)
                increments[r, t] = after - before
                before = after
        if self.pooling == "pava":
            slopes = np.empty(shape)
            _graph_cut_jit.pool_increments(increments, counts, slopes)
        else:
            slopes = increments / np.maximum(counts, 1)
        return np.take_along_axis(slopes, levels.astype(np.intp), axis=1)

    def _mean_features(self, levels: Levels, table: Levels, n_runs: int) -> FloatArray:
        completed = table[:, slots_of(levels)]
        features = self._features(completed.reshape(-1, levels.shape[1]))
        return features.reshape(n_runs, -1, *levels.shape).mean(axis=1).transpose(1, 0, 2)


class _Values:
    """Cached values of F: rankings share many of their sets of best items."""

    def __init__(self, F: SetFunction) -> None:
        self.F = F
        self.known: dict[bytes, float] = {}

    def __call__(self, inside: np.ndarray) -> float:
        key = inside.tobytes()
        if key not in self.known:
            items = np.flatnonzero(inside)
            value = float(self.F(items))
            if not np.isfinite(value):
                raise ValueError(f"F is {value} for the items {items.tolist()}; it must be finite for every set")
            if len(self.known) >= _MOST_CACHED:
                return value
            self.known[key] = value
        return self.known[key]


def concave_of_size(g: Callable[[int], float]) -> SetFunction:
    """A concave function of the number of items, so that each further item adds less.

    Parameters
    ----------
    g : callable
        From a number of items to a value; concave.

    Returns
    -------
    callable
        From ids of items to the value of their set.

    Examples
    --------
    >>> from rankwise.embeddings import concave_of_size
    >>> concave_of_size(lambda size: size**0.5)([0, 3, 5, 6])
    2.0
    """
    return partial(_of_size, g)


def coverage(topics: ArrayLike, weights: ArrayLike | None = None) -> SetFunction:
    """Coverage of a set: the summed weight of the topics that at least one of its items covers.

    Parameters
    ----------
    topics : array-like of bool or {0, 1} of shape (n_items, n_topics)
        Which topics an item covers.
    weights : array-like of shape (n_topics,), optional
        Weights of the topics, 0 or more; 1 by default.

    Returns
    -------
    callable
        From ids of items to the value of their set.

    Examples
    --------
    >>> from rankwise.embeddings import coverage
    >>> coverage([[1, 1, 0], [0, 1, 0], [0, 0, 1]])([0, 1])
    2.0
    """
    covered = check_numbers("topics", topics)
    if covered.ndim != 2 or not np.isin(covered, (0, 1)).all():
        raise ValueError("topics must hold only 0 and 1, one row per item and one column per topic")
    counts = np.ones(covered.shape[1]) if weights is None else check_numbers("weights", weights)
    if counts.shape != (covered.shape[1],) or not (counts >= 0).all():
        raise ValueError(f"weights must be 0 or more, one for each of the {covered.shape[1]} topics")
    return partial(_covered_weight, covered > 0, counts)


def gaussian_entropy(covariance: ArrayLike) -> SetFunction:
    r"""Entropy of the scores of the items in a set, if scores are normal: :math:`\frac12 \log\det(2 \pi e \Sigma_B)`.

    Parameters
    ----------
    covariance : array-like of shape (n_items, n_items)
        Covariance of the scores of items, positive definite.

    Returns
    -------
    callable
        From ids of items to the value of their set.

    Examples
    --------
    >>> from rankwise.embeddings import gaussian_entropy
    >>> round(gaussian_entropy([[1.0, 0.5], [0.5, 1.0]])([0]), 3)
    1.419
    """
    matrix = check_numbers("covariance", covariance)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.allclose(matrix, matrix.T):
        raise ValueError(f"covariance has shape {matrix.shape}; give a symmetric matrix, one row per item")
    if not np.linalg.eigvalsh(matrix).min() > 0:
        raise ValueError("covariance is not positive definite; add a small number to its diagonal")
    return partial(_entropy, matrix)


# Module-level functions, so that embeddings with these set functions can be pickled.


def _of_size(g: Callable[[int], float], items: IntArray) -> float:
    return float(g(len(items)))


def _covered_weight(covered: np.ndarray, weights: FloatArray, items: IntArray) -> float:
    return float(weights[covered[items].any(axis=0)].sum())


def _entropy(covariance: FloatArray, items: IntArray) -> float:
    block = covariance[np.ix_(items, items)]
    return float(0.5 * (np.linalg.slogdet(block)[1] + len(items) * np.log(2 * math.pi * math.e)))
