"""Diagnostics of ranking median regression: noise margin, risk of a rule, dispersion within a partition."""

from __future__ import annotations

import numpy as np

from rankwise._typing import ArrayLike, FloatArray
from rankwise._validation import check_numbers, check_weights
from rankwise.aggregation import preference_matrix
from rankwise.data import Rankings, check_positions
from rankwise.distances import kendall_distance


def conditional_noise_margin(P: ArrayLike, *, per_row: bool = False) -> float | FloatArray:
    r"""Distance of the closest pair from a draw, over all rows.

    *Definition.* :math:`H = \inf_x \min_{i<j} |p_{ij}(x) - 1/2|`: the low-noise assumption of ranking median regression
    holds for every margin up to H.

    Parameters
    ----------
    P : array-like of shape (n_samples, n_items, n_items)
        Probabilities of i before j, as ``predict_pairwise`` returns them.
    per_row : bool, default=False
        Return the margin of each row instead of the smallest.

    Returns
    -------
    float or ndarray of shape (n_samples,)
        From 0 to 1/2.

    References
    ----------
    Clémençon, Korba, Sibony (2018), Ranking median regression: learning to order through local consensus, assumption
    2. For one matrix, see `noise_margin`.

    Examples
    --------
    >>> from rankwise.label_ranking import conditional_noise_margin
    >>> conditional_noise_margin([[[0.5, 0.75], [0.25, 0.5]], [[0.5, 0.0], [1.0, 0.5]]])
    0.25
    """
    matrices = check_numbers("P", P)
    if matrices.ndim != 3 or matrices.shape[1] != matrices.shape[2] or matrices.shape[1] < 2:
        raise ValueError(f"P has shape {matrices.shape}; give a matrix of two items or more for each row")
    above, below = np.triu_indices(matrices.shape[1], 1)
    margins = np.abs(matrices[:, above, below] - 0.5).min(axis=1)
    return margins if per_row else float(margins.min())


def ranking_risk(y_true: ArrayLike, y_pred: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    r"""Mean number of pairs that predictions order wrongly.

    *Definition.* :math:`\hat R(s) = \frac{1}{N} \sum_r d(s(x_r), \sigma_r)` with the Kendall distance d: the empirical
    risk that ranking median regression minimizes.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples, n_items) or Rankings
        Positions, 1 = best.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows in the mean; by default those of ``y_true`` if it is a Rankings, else ones.

    Returns
    -------
    float
        Lower is better; at most k (k - 1) / 2.

    References
    ----------
    Clémençon, Korba, Sibony (2018), equation 15.

    Examples
    --------
    >>> from rankwise.label_ranking import ranking_risk
    >>> ranking_risk([[1, 2, 3], [1, 2, 3]], [[1, 2, 3], [3, 2, 1]])
    1.5
    """
    if sample_weight is None and isinstance(y_true, Rankings):
        sample_weight = y_true.weights
    distances = kendall_distance(y_true, y_pred)
    weights = check_weights(sample_weight, len(distances), name="sample_weight")
    if not weights.sum() > 0:
        raise ValueError("all weights are 0, so there is no mean")
    return float(np.average(distances, weights=weights))


def partition_dispersion(cells: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    r"""Dispersion of rankings within the cells of a partition.

    *Definition.* :math:`\sum_C \hat\mu(C) V(C)` with :math:`V(C) = \sum_{i<j} p_{ij}(C) (1 - p_{ij}(C))`, where
    :math:`\hat\mu(C)` is the share of the rows in the cell and :math:`p_{ij}(C)` the share of its rankings with i
    before j: what the splits of a ranking tree minimize on full rankings. A pair that a cell does not compare adds 0.

    Parameters
    ----------
    cells : array-like of shape (n_samples,)
        The cell of each row: numbers or names, such as the leaves of a tree (``apply``).
    y : array-like of shape (n_samples, n_items) or Rankings
        Positions, 1 = best.
    sample_weight : array-like of shape (n_samples,), optional
        How often each row counts; by default the weights of the Rankings, else ones.

    Returns
    -------
    float
        The risk of the best rule that is constant on cells lies between this and twice this.

    References
    ----------
    Clémençon, Korba, Sibony (2018), equations 34 to 36.

    Examples
    --------
    >>> from rankwise.label_ranking import partition_dispersion
    >>> partition_dispersion([0, 0, 1], [[1, 2, 3], [2, 1, 3], [3, 2, 1]])
    0.166...
    """
    rankings = Rankings(y if isinstance(y, Rankings) else check_positions(y, name="y"), weights=sample_weight)
    cell = np.asarray(cells)
    if cell.shape != (len(rankings),):
        raise ValueError(f"cells has shape {cell.shape}, but there are {len(rankings)} rankings; give a cell for each")
    total = rankings.weights.sum()
    if not total > 0:
        raise ValueError("all weights are 0, so there is no mean")
    names, index = np.unique(cell, return_inverse=True)
    value = 0.0
    for rows in np.split(np.argsort(index, kind="stable"), np.cumsum(np.bincount(index, minlength=len(names)))[:-1]):
        part = rankings[rows]
        p = np.nan_to_num(preference_matrix(part).probabilities, nan=0.0)[np.triu_indices(part.n_items, 1)]
        value += float(part.weights.sum() / total * np.sum(p * (1 - p)))
    return value
