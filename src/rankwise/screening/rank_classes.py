"""Rank classes: features that order the data alike, up to sign, are one."""

from __future__ import annotations

import numpy as np

from rankwise._typing import ArrayLike, FloatArray, IntArray
from rankwise._validation import check_numbers
from rankwise.screening._inputs import check_features, refuse_no_numbers
from rankwise.screening.scores import Target, score_columns


def rank_classes(X: ArrayLike, *, n_jobs: int | None = None) -> IntArray:
    """Number the features so that those which order the rows alike, or in reverse, share a number.

    No method that sees only ranks can tell members of a class apart: x, exp(x) and -x³ are one class. Classes are found
    by a fingerprint, a sum of places with random integer weights, which is equal for equal orders.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Features.
    n_jobs : int, optional
        Threads, for large X.

    Returns
    -------
    ndarray of shape (n_features,)
        Classes, numbered from 0 in the order in which they appear.

    Examples
    --------
    >>> from rankwise.screening import rank_classes
    >>> rank_classes([[1, 1, -1, 5], [2, 8, -8, 7], [3, 27, -27, 6]])
    array([0, 0, 0, 1])
    """
    refuse_no_numbers("X", X)
    values = check_numbers("X", X)
    if not values.size:
        raise ValueError(f"X has shape {values.shape}, and so no values; give one row and one feature or more")
    columns, _ = check_features(values, len(np.atleast_1d(values)))
    # The target plays no part in fingerprints.
    scores = score_columns(columns, Target.of(np.arange(len(columns), dtype=np.float64)), n_jobs)
    _, first, inverse = np.unique(scores.fingerprint, return_index=True, return_inverse=True)
    number = np.argsort(np.argsort(first))
    return number[inverse]


def best_of_classes(fingerprint: np.ndarray, complexity: IntArray, pearson: FloatArray) -> IntArray:
    """Index of the best member of each class: simplest, then most linear in the target, then first."""
    # Rounded, so that copies which differ by rounding keep their order.
    order = np.lexsort((np.arange(len(fingerprint)), -pearson.round(9), complexity, fingerprint))
    new = np.ones(len(order), dtype=bool)
    new[1:] = fingerprint[order[1:]] != fingerprint[order[:-1]]
    return np.sort(order[new])


def absolute_pearson(rows: FloatArray, centred_target: FloatArray) -> FloatArray:
    """|Pearson correlation| of each row with a centred target; 0 for constant rows."""
    # Scaled first: squares of large values would overflow.
    scale = np.abs(rows).max(axis=1, keepdims=True)
    centred = rows / np.where(scale > 0, scale, 1.0)
    centred -= centred.mean(axis=1, keepdims=True)
    length = np.sqrt(np.einsum("ij,ij->i", centred, centred) * (centred_target @ centred_target))
    return np.divide(abs(centred @ centred_target), length, out=np.zeros(len(rows)), where=length > 0)
