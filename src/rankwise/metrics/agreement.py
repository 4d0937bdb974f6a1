"""Agreement of predicted with true rankings: higher is better, 1 is perfect.

``y_true`` and ``y_pred`` are positions (1 = best), a row per ranking. A pair of items counts only where both sides
know it: not where an item is missing (``NaN``) on one side, nor where one side lists neither (both ``+inf``: their
order is unknown). So a prediction is not judged on pairs it does not rank: compare rankers that rank
everything. A prediction that ties everything scores 0. Rows without a pair to judge are not part of the
mean, which weighs rows by ``sample_weight``, or else by the weights of the true Rankings.
"""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np

from rankwise._typing import ArrayLike, FloatArray
from rankwise._validation import check_weights
from rankwise.data import Rankings, check_positions
from rankwise.distances import distances_jit
from rankwise.distances.measures import check_same_items, ratio

TauVariant = Literal["a", "b", "x", "gamma"]


def kendall_tau_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    variant: TauVariant = "b",
    per_row: bool = False,
) -> Any:
    r"""Mean Kendall rank correlation of predicted and true rankings.

    *Definition.* With C concordant, D discordant pairs, :math:`T` (:math:`P`) pairs tied in the truth
    (prediction) only and B tied in both: variant "b" is
    :math:`(C-D)/\sqrt{(C+D+T)(C+D+P)}`; "a" is :math:`(C-D)/(C+D+T+P+B)`; "x" (Emond and Mason) counts a common
    tie as agreement, :math:`(C-D+B)/(C+D+T+P+B)`; "gamma" is :math:`(C-D)/(C+D)`. On full rankings all four are
    :math:`1 - 4 d/(k(k-1))` with the Kendall distance d.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_rankings, n_items) or Rankings
        Positions, 1 = best.
    sample_weight : array-like of shape (n_rankings,), optional
        Weights of the rows in the mean; by default those of ``y_true`` if it is a Rankings, else ones.
    variant : {"a", "b", "x", "gamma"}, default="b"
        What ties mean.
    per_row : bool, default=False
        Return one value per row (NaN without a pair to judge) instead of the mean.

    Returns
    -------
    float or ndarray of shape (n_rankings,)
        Between -1 and 1; higher is better.

    References
    ----------
    Kendall (1945), The treatment of ties in ranking problems. Emond and Mason (2002), A new rank correlation
    coefficient with application to the consensus ranking problem.

    Examples
    --------
    >>> from rankwise.metrics import kendall_tau_score
    >>> kendall_tau_score([[1, 2, 3, 4], [1, 2, 3, 4]], [[1, 2, 3, 4], [1, 2, 4, 3]])
    0.833...
    """
    a, b = _check_pair(y_true, y_pred)
    table = distances_jit.pair_statistics(a, b, check_weights(None, a.shape[1]), False)
    concordant, discordant, tied_a, tied_b, tied_both = table[:, :5].T
    strict = concordant + discordant
    known = strict + tied_a + tied_b + tied_both
    if variant == "b":
        tau = ratio(concordant - discordant, np.sqrt((strict + tied_a) * (strict + tied_b)))
    elif variant == "a":
        tau = ratio(concordant - discordant, known)
    elif variant == "x":
        tau = ratio(concordant - discordant + tied_both, known)
    elif variant == "gamma":
        tau = ratio(concordant - discordant, strict)
    else:
        raise ValueError(f"variant is {variant!r}; choose 'a', 'b', 'x' or 'gamma'")
    tau[np.isnan(tau) & (strict + tied_b > 0)] = 0.0
    return _average(tau, y_true, sample_weight, per_row)


def spearman_score(
    y_true: ArrayLike, y_pred: ArrayLike, sample_weight: ArrayLike | None = None, *, per_row: bool = False
) -> Any:
    r"""Mean Spearman rank correlation of predicted and true rankings.

    *Definition.* Pearson correlation of the mid-ranks over the items that both sides rank; on full rankings
    :math:`1 - 6 d_2/(k(k^2-1))`. Unlisted items share the mean of the last places.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_rankings, n_items) or Rankings
        Positions, 1 = best.
    sample_weight : array-like of shape (n_rankings,), optional
        Weights of the rows in the mean; by default those of ``y_true`` if it is a Rankings, else ones.
    per_row : bool, default=False
        Return one value per row (NaN if the truth is constant) instead of the mean.

    Returns
    -------
    float or ndarray of shape (n_rankings,)
        Between -1 and 1; higher is better.

    Examples
    --------
    >>> from rankwise.metrics import spearman_score
    >>> spearman_score([[1, 2, 3]], [[1, 3, 2]])
    0.5
    """
    a, b = _check_pair(y_true, y_pred)
    return _average(distances_jit.rank_correlation(a, b), y_true, sample_weight, per_row)


def exact_match_score(
    y_true: ArrayLike, y_pred: ArrayLike, sample_weight: ArrayLike | None = None, *, per_row: bool = False
) -> Any:
    """Share of the rankings predicted without any mistake.

    *Definition.* A row is right when the prediction says of every pair that both sides know what the truth says:
    before, after or tied. On full rankings: when the two rows are equal.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_rankings, n_items) or Rankings
        Positions, 1 = best.
    sample_weight : array-like of shape (n_rankings,), optional
        Weights of the rows in the mean; by default those of ``y_true`` if it is a Rankings, else ones.
    per_row : bool, default=False
        Return 1 or 0 per row (NaN if no pair is known) instead of the mean.

    Returns
    -------
    float or ndarray of shape (n_rankings,)
        Between 0 and 1; higher is better.

    Examples
    --------
    >>> from rankwise.metrics import exact_match_score
    >>> exact_match_score([[1, 2, 3], [1, 2, 3]], [[1, 2, 3], [1, 3, 2]])
    0.5
    """
    a, b = _check_pair(y_true, y_pred)
    table = distances_jit.pair_statistics(a, b, check_weights(None, a.shape[1]), False)
    right = table[:, distances_jit.CONCORDANT] + table[:, distances_jit.TIED_BOTH]
    wrong = table[:, distances_jit.DISCORDANT] + table[:, distances_jit.TIED_A] + table[:, distances_jit.TIED_B]
    match = np.where(right + wrong > 0, (wrong == 0).astype(float), np.nan)
    return _average(match, y_true, sample_weight, per_row)


def _check_pair(y_true: ArrayLike, y_pred: ArrayLike) -> tuple[FloatArray, FloatArray]:
    check_same_items(y_true, y_pred)
    a, b = check_positions(y_true, name="y_true"), check_positions(y_pred, name="y_pred")
    if a.shape != b.shape:
        raise ValueError(f"y_true has shape {a.shape} and y_pred {b.shape}; they must be the same")
    return a, b


def _average(values: FloatArray, y_true: ArrayLike, sample_weight: ArrayLike | None, per_row: bool) -> Any:
    if sample_weight is None and isinstance(y_true, Rankings):
        sample_weight = y_true.weights
    weights = check_weights(sample_weight, len(values), name="sample_weight")
    if per_row:
        return values
    defined = ~np.isnan(values)
    total = weights[defined].sum()
    if total > 0:
        return float(values[defined] @ weights[defined] / total)
    from sklearn.exceptions import UndefinedMetricWarning

    warnings.warn(
        "no row of positive weight has a pair of items to judge, so the mean is NaN",
        UndefinedMetricWarning,
        stacklevel=3,
    )
    return float("nan")
