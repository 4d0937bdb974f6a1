"""Diagnostics of ranking median regression: noise margin, risks of a rule, dispersion within a partition.

Risks are of two kinds: `ranking_risk` is a mean over observed rankings, and those with "conditional" or "bayes" in
their names are expectations under pairwise probabilities that are known (of an oracle) or predicted. Bounds on them are
in `risk_bounds`.
"""

from __future__ import annotations

import numpy as np

from rankwise._typing import ArrayLike, FloatArray
from rankwise._validation import check_numbers, check_weights
from rankwise.aggregation import preference_matrix
from rankwise.data import Rankings, check_positions
from rankwise.data.positions import compare_positions
from rankwise.distances import kendall_distance
from rankwise.embeddings import decode_pairwise

# The two sides of a pair must add up to 1 within this.
_ROUNDED = 1e-6


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
    matrices = _matrices_by_row(P)
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
    return float(_mean(kendall_distance(y_true, y_pred), sample_weight, per_row=False))


def conditional_risk(
    P: ArrayLike, y_pred: ArrayLike, sample_weight: ArrayLike | None = None, *, per_row: bool = False
) -> float | FloatArray:
    r"""Expected number of pairs that predictions order wrongly, under known pairwise probabilities.

    *Definition.* :math:`R(s) = E_x[L_x(s(x))]` with :math:`L_x(\sigma) = \sum_{\sigma(i) < \sigma(j)} p_{ji}(x)`, plus
    1/2 for every pair that :math:`\sigma` ties; the mean is over the rows.

    Parameters
    ----------
    P : array-like of shape (n_samples, n_items, n_items)
        Probabilities of i before j in each row, such as ``RankingOracle.preference_probability(X)``.
    y_pred : array-like of shape (n_samples, n_items) or Rankings
        Predicted positions, 1 = best, every item placed.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows in the mean, by default equal: the law of x.
    per_row : bool, default=False
        Return the risk of each row instead of the mean.

    Returns
    -------
    float or ndarray of shape (n_samples,)
        Lower is better; at most k (k - 1) / 2.

    References
    ----------
    Clémençon, Korba, Sibony (2018), Ranking median regression: learning to order through local consensus, equation
    12. For one matrix, see `kemeny_risk`.

    Examples
    --------
    >>> from rankwise.label_ranking import conditional_risk
    >>> conditional_risk([[[0.5, 0.75], [0.25, 0.5]], [[0.5, 0.0], [1.0, 0.5]]], [[1, 2], [2, 1]])
    0.125
    """
    matrices = _checked_probabilities(P)
    positions = check_positions(getattr(y_pred, "positions", y_pred), name="y_pred")
    if positions.shape != matrices.shape[:2]:
        raise ValueError(f"y_pred has shape {positions.shape}, but P is of {matrices.shape[:2]} rows and items")
    if not np.isfinite(positions).all():
        row, item = np.argwhere(~np.isfinite(positions))[0]
        raise ValueError(f"y_pred[{row}, {item}] is {positions[row, item]}; predictions place every item")
    return _mean(_risks(matrices, positions), sample_weight, per_row)


def bayes_risk(P: ArrayLike, sample_weight: ArrayLike | None = None, *, per_row: bool = False) -> float | FloatArray:
    r"""The lowest risk that any rule can have, under known pairwise probabilities.

    *Definition.* :math:`R^* = E_x[L_x^*]`, where :math:`L_x^*` is the risk of a Kemeny median of the law at x; where
    that law is stochastically transitive, :math:`L_x^* = \sum_{i<j} \min(p_{ij}(x), 1 - p_{ij}(x))`.

    Parameters
    ----------
    P : array-like of shape (n_samples, n_items, n_items)
        Probabilities of i before j in each row.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows in the mean, by default equal.
    per_row : bool, default=False
        Return the risk of each row instead of the mean.

    Returns
    -------
    float or ndarray of shape (n_samples,)
        Exact where majorities have no cycle of more than 12 items; else that of the median found by local search, which
        may be a little higher.

    References
    ----------
    Clémençon, Korba, Sibony (2018), proposition 5 and equation 6.

    Examples
    --------
    >>> from rankwise.label_ranking import bayes_risk
    >>> bayes_risk([[[0.5, 0.75], [0.25, 0.5]], [[0.5, 0.0], [1.0, 0.5]]])
    0.125
    """
    matrices = _checked_probabilities(P)
    return _mean(_risks(matrices, decode_pairwise(matrices)), sample_weight, per_row)


def conditional_excess_risk(
    P: ArrayLike, y_pred: ArrayLike, sample_weight: ArrayLike | None = None, *, per_row: bool = False
) -> float | FloatArray:
    r"""How far predictions are from the lowest risk, under known pairwise probabilities.

    *Definition.* :math:`R(s) - R^*`, see `conditional_risk` and `bayes_risk`. Where the laws are stochastically
    transitive, this is the mean of :math:`\sum |2 p_{ij}(x) - 1|` over the pairs that s(x) orders against their
    majority.

    Parameters
    ----------
    P : array-like of shape (n_samples, n_items, n_items)
        Probabilities of i before j in each row.
    y_pred : array-like of shape (n_samples, n_items) or Rankings
        Predicted positions, 1 = best, every item placed.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows in the mean, by default equal.
    per_row : bool, default=False
        Return the excess of each row instead of the mean.

    Returns
    -------
    float or ndarray of shape (n_samples,)

    References
    ----------
    Clémençon, Korba, Sibony (2018), equation 13. For one matrix, see `excess_risk`.

    Examples
    --------
    >>> from rankwise.label_ranking import conditional_excess_risk
    >>> conditional_excess_risk([[[0.5, 0.75], [0.25, 0.5]], [[0.5, 0.0], [1.0, 0.5]]], [[1, 2], [1, 2]])
    0.5
    """
    excess = conditional_risk(P, y_pred, per_row=True) - bayes_risk(P, per_row=True)
    return _mean(np.asarray(excess), sample_weight, per_row)


def _matrices_by_row(P: ArrayLike) -> FloatArray:
    matrices = check_numbers("P", P)
    if matrices.ndim != 3 or matrices.shape[1] != matrices.shape[2] or matrices.shape[1] < 2:
        raise ValueError(f"P has shape {matrices.shape}; give a matrix of two items or more for each row")
    return matrices


def _checked_probabilities(P: ArrayLike) -> FloatArray:
    """Matrices of probabilities, whose two sides of a pair add up to 1; the diagonal is not read."""
    matrices = _matrices_by_row(P)
    wrong = ~((np.abs(matrices + matrices.swapaxes(1, 2) - 1) <= _ROUNDED) & (matrices >= 0))
    wrong &= ~np.eye(matrices.shape[1], dtype=bool)
    if wrong.any():
        row, i, j = np.argwhere(wrong)[0]
        raise ValueError(
            f"P[{row}, {i}, {j}] is {matrices[row, i, j]:g} and P[{row}, {j}, {i}] is {matrices[row, j, i]:g}; as "
            "probabilities of i before j and of j before i they must be at least 0 and add up to 1"
        )
    return matrices


def _risks(P: FloatArray, positions: FloatArray) -> FloatArray:
    """Expected distance of each ranking to one drawn from the law of its row."""
    first, second = np.triu_indices(P.shape[1], 1)
    after = compare_positions(positions[:, second], positions[:, first])
    return np.asarray(np.sum(after * P[:, first, second] + (1 - after) * P[:, second, first], axis=1))


def _mean(values: FloatArray, sample_weight: ArrayLike | None, per_row: bool) -> float | FloatArray:
    weights = check_weights(sample_weight, len(values), name="sample_weight")
    if per_row:
        return values
    if not weights.sum() > 0:
        raise ValueError("all weights are 0, so there is no mean")
    return float(np.average(values, weights=weights))


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
