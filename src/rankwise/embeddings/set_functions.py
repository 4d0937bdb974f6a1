"""Submodular functions of sets of items, for `SubmodularEmbedding`: what an item adds falls as the set grows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from rankwise._arguments import check_numbers
from rankwise._typing import ArrayLike, FloatArray, IntArray

#: from the ids of the items in a set, increasing, to its value
SetFunction = Callable[[IntArray], float]


def concave_of_size(g: Callable[[int], float]) -> SetFunction:
    """A function of the number of items alone, concave, so that each further item adds less.

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
    """How much the items of a set cover together: the summed weight of the topics of at least one of them.

    Parameters
    ----------
    topics : array-like of bool or {0, 1} of shape (n_items, n_topics)
        Which topics an item covers.
    weights : array-like of shape (n_topics,), optional
        How much a topic counts, 0 or more; 1 by default.

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
        raise ValueError("topics must hold 0 and 1 alone, one row per item and one column per topic")
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


# ---------------------------------------------------------------------------------------------------------------


# Functions of the module rather than of a call, so that embeddings with them can be pickled.


def _of_size(g: Callable[[int], float], items: IntArray) -> float:
    return float(g(len(items)))


def _covered_weight(covered: np.ndarray, weights: FloatArray, items: IntArray) -> float:
    return float(weights[covered[items].any(axis=0)].sum())


def _entropy(covariance: FloatArray, items: IntArray) -> float:
    block = covariance[np.ix_(items, items)]
    return float(0.5 * (np.linalg.slogdet(block)[1] + len(items) * np.log(2 * np.pi * np.e)))
