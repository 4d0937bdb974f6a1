"""Splits of a node of a regression tree: the best of all, the best along a feature, and gains of swapping two rows.

The ranking view of trees in the paper of Luo and Li; users call these functions to see why a tree splits where it does.
"""

from __future__ import annotations

from heapq import heappush, heappushpop
from typing import Literal, NamedTuple

import numpy as np

from rankwise._typing import ArrayLike, FloatArray, IntArray
from rankwise._validation import check_choice, check_numbers, check_whole_number
from rankwise.screening.base import check_features, check_target

#: what a split minimizes: squared distances from the means of the parts, or absolute ones from their medians
Criterion = Literal["squared_error", "absolute_error"]


class OraclePartition(NamedTuple):
    """What `oracle_partition` returns.

    Attributes
    ----------
    lower, upper : ndarray of int
        Rows with the smaller and the larger values, in the order of the values.
    loss : float
        Sum of squares, or of absolute deviations, within the two parts.
    """

    lower: IntArray
    upper: IntArray
    loss: float


class SplitLosses(NamedTuple):
    """What `split_losses` returns, one value per possible split, from left to right.

    Attributes
    ----------
    threshold : ndarray of float
        The largest value of the left part.
    n_left : ndarray of int
        Size of the left part.
    loss : ndarray of float
        Sum of squares, or of absolute deviations, of the target within the two parts.
    """

    threshold: FloatArray
    n_left: IntArray
    loss: FloatArray


def oracle_partition(
    y: ArrayLike, size: int | None = None, *, criterion: Criterion = "squared_error"
) -> OraclePartition:
    r"""The two groups of smallest loss, whatever the features say.

    *Definition.* Minimizes :math:`\sum_{P_1} (y - \bar y_1)^2 + \sum_{P_2} (y - \bar y_2)^2`. The best groups never
    interleave: they are the smallest values and the rest. With the sizes given, they are the ``size`` smallest and the
    rest, or the ``size`` largest and the rest. The same holds for sums of absolute deviations from the medians.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Target; at least two values.
    size : int, optional
        Size of one of the groups; by default the best of all sizes.
    criterion : {"squared_error", "absolute_error"}, default="squared_error"
        The loss: squared deviations from the means of the two parts, or absolute ones from their medians.

    Returns
    -------
    OraclePartition
        Rows of the two groups, and the loss.

    Notes
    -----
    The paper asks for five values and groups of two or more; neither is necessary. It has squared errors only, and
    names other norms as future work. For any sizes the proof is the same: :math:`|y - m_1|^p - |y - m_2|^p` increases
    with y if :math:`m_1 < m_2` and :math:`p \ge 1`, so that swapping two values in the wrong order never pays.

    References
    ----------
    Luo, Li (2024), Ranking perspective for tree-based methods with applications to symbolic feature selection, lemma 1
    and remark 3. Fisher (1958), On grouping for maximum homogeneity.

    Examples
    --------
    >>> from rankwise.screening import oracle_partition
    >>> oracle_partition([5, 2.1, 1, 2, 4])
    OraclePartition(lower=array([2, 3, 1]), upper=array([4, 0]), loss=1.24...)
    """
    target = check_target(y, at_least=2)
    n = len(target)
    order = np.argsort(target, kind="stable")
    losses = _losses(target[order], criterion)
    if size is None:
        left = int(np.argmin(losses)) + 1
    else:
        check_whole_number("size", size, at_least=1)
        if size >= n:
            raise ValueError(f"size is {size}, but y has {n} values, and both groups need at least one")
        left = min((size, n - size), key=lambda count: losses[count - 1])
    return OraclePartition(order[:left], order[left:], float(losses[left - 1]))


def split_losses(z: ArrayLike, y: ArrayLike, *, criterion: Criterion = "squared_error") -> SplitLosses:
    """Sum of squares (or of absolute deviations) within the two parts, for every split along a feature.

    Parameters
    ----------
    z : array-like of shape (n_samples,)
        Feature; rows of equal value stay together.
    y : array-like of shape (n_samples,)
        Target.
    criterion : {"squared_error", "absolute_error"}, default="squared_error"
        The loss: squared deviations from the means of the two parts, or absolute ones from their medians.

    Returns
    -------
    SplitLosses
        Thresholds (left part: ``z <= threshold``), sizes of the left part, losses; lower is better.

    Examples
    --------
    >>> from rankwise.screening import split_losses
    >>> split_losses([0.1, 0.3, 0.5, 0.6, 0.9], [5, 2.1, 1, 2, 4]).loss.round(4)
    array([ 4.7075,  8.8717, 10.54  ,  8.9075])
    >>> split_losses([0.1, 0.3, 0.5, 0.6, 0.9], [5, 2.1, 1, 2, 4], criterion="absolute_error").loss.round(4)
    array([3.1, 5.9, 6. , 4.1])
    """
    target = check_target(y, at_least=2)
    columns, _ = check_features(_one_feature("z", z), len(target))
    feature = columns[:, 0]
    order = np.argsort(feature, kind="stable")
    cut = np.flatnonzero(feature[order[1:]] > feature[order[:-1]])
    return SplitLosses(feature[order[cut]], cut + 1, _losses(target[order], criterion)[cut])


def principal_decision_ratio(
    z1: ArrayLike,
    z2: ArrayLike,
    y: ArrayLike,
    *,
    thresholds: tuple[float, float] | None = None,
    criterion: Criterion = "squared_error",
    log: bool = True,
) -> float:
    r"""How much more likely a tree splits on one feature than on another.

    *Definition.* :math:`\log \tau = L_2 - L_1`, where L is the sum of squares within the two parts of a split: the
    likelihood ratio of two splits under normal noise of variance 1/2, or of Laplace noise of scale 1 with absolute
    errors.

    Parameters
    ----------
    z1, z2 : array-like of shape (n_samples,)
        Features.
    y : array-like of shape (n_samples,)
        Target.
    thresholds : (float, float), optional
        Where each feature is split (left part: z <= threshold); by default where its loss is smallest. A threshold
        beyond all values of its feature leaves one part empty, and the loss is that of the node as it is.
    criterion : {"squared_error", "absolute_error"}, default="squared_error"
        The loss: squared deviations from the means of the two parts, or absolute ones from their medians.
    log : bool, default=True
        Return the logarithm; the ratio itself overflows, to infinity, from a few hundred rows on.

    Returns
    -------
    float
        Above 0 (without log, 1): the first feature is preferred.

    References
    ----------
    Luo, Li (2024), equation 9; propositions 7 and 8 for splits that leave one part empty.

    Examples
    --------
    >>> from rankwise.screening import principal_decision_ratio
    >>> x, y = [0.1, 0.3, 0.5, 0.6, 0.9], [5, 2.1, 1, 2, 4]
    >>> principal_decision_ratio([(v - 0.5) ** 2 for v in x], x, y)
    3.467...
    >>> principal_decision_ratio(x, x, y, thresholds=(0.1, -1))  # against no split at all: what the split explains
    5.940...
    """
    cuts = [None, None] if thresholds is None else _two_thresholds(thresholds)
    loss = [_loss_at(name, z, y, cut, criterion) for name, z, cut in zip(("z1", "z2"), (z1, z2), cuts, strict=True)]
    with np.errstate(over="ignore"):
        return float(loss[1] - loss[0]) if log else float(np.exp(loss[1] - loss[0]))


def swap_gains(y: ArrayLike, left: ArrayLike) -> FloatArray:
    r"""By how much the loss of a partition falls if two rows change sides.

    *Definition.* With :math:`d = y_j - y_i` for i on the left and j on the right, the loss falls by :math:`d^2 (1/n_1 +
    1/n_2) + 2 d (\bar y_1 - \bar y_2)`. Of two pairs in the wrong order with the same j, swapping the one that lies
    further apart gains more.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Target.
    left : array-like of bool of shape (n_samples,)
        Which rows are in the left part; both parts have at least one.

    Returns
    -------
    ndarray of shape (n_left, n_right)
        Gains of all swaps, rows and columns in the order of the rows of y; higher is better.

    References
    ----------
    Luo, Li (2024), lemma 15.

    Examples
    --------
    >>> from rankwise.screening import swap_gains
    >>> swap_gains([1, 9, 8, 2], [True, True, False, False]).round(6)
    array([[49.,  1.],
           [ 1., 49.]])
    """
    target = check_target(y, at_least=2)
    side = np.asarray(left)
    if side.dtype != bool or side.shape != target.shape:
        raise ValueError(f"left has shape {side.shape} and type {side.dtype}; give True or False for each value of y")
    if side.all() or not side.any():
        raise ValueError("left puts all rows on one side; both parts need at least one")
    ours, theirs = target[side], target[~side]
    difference = theirs[None, :] - ours[:, None]
    weight = 1 / len(ours) + 1 / len(theirs)
    return difference**2 * weight + 2 * difference * (ours.mean() - theirs.mean())


def _losses(ordered: FloatArray, criterion: str) -> FloatArray:
    """Loss of the first i values and the rest, for i = 1, ..., n - 1."""
    check_choice("criterion", criterion, ("squared_error", "absolute_error"))
    if criterion == "absolute_error":
        return (_absolute_deviations(ordered)[:-1] + _absolute_deviations(ordered[::-1])[:-1][::-1]).clip(min=0.0)
    centered = ordered - ordered.mean()
    left = np.cumsum(centered)[:-1]
    count = np.arange(1, len(ordered))
    # After centering, the sums of the two parts are opposite numbers.
    return np.maximum(centered @ centered - left**2 * (1 / count + 1 / (len(ordered) - count)), 0.0)


def _absolute_deviations(values: FloatArray) -> FloatArray:
    """Sums of absolute deviations of the first i values from their median, for i = 1, ..., n."""
    # Two heaps hold the lower half (negated) and the upper half; the sum is what lies above less what lies below.
    below: list[float] = []
    above: list[float] = []
    sum_below = sum_above = 0.0
    sums = np.empty(len(values))
    for place, value in enumerate((values - np.median(values)).tolist()):
        if len(below) > len(above):
            moved = -heappushpop(below, -value)
            sum_below += value - moved
            heappush(above, moved)
            sum_above += moved
        else:
            moved = heappushpop(above, value)
            sum_above += value - moved
            heappush(below, -moved)
            sum_below += moved
        median = -below[0]
        sums[place] = sum_above - median * len(above) + median * len(below) - sum_below
    return sums


def _loss_at(name: str, z: ArrayLike, y: ArrayLike, threshold: float | None, criterion: Criterion) -> float:
    splits = split_losses(_one_feature(name, z), y, criterion=criterion)
    if threshold is None:
        if not len(splits.loss):
            raise ValueError(f"{name} is constant, so it cannot be split; give thresholds to compare it unsplit")
        return float(splits.loss.min())
    place = int(np.searchsorted(splits.threshold, threshold, side="right")) - 1
    if place < 0 or threshold >= np.max(z):  # one part is empty
        target = check_target(y, at_least=2)
        return float(
            ((target - target.mean()) ** 2).sum()
            if criterion == "squared_error"
            else abs(target - np.median(target)).sum()
        )
    return float(splits.loss[place])


def _two_thresholds(thresholds: ArrayLike) -> list[float]:
    cuts = check_numbers("thresholds", thresholds)
    if cuts.shape != (2,) or np.isnan(cuts).any():
        raise ValueError(f"thresholds is {thresholds}; give two numbers, where z1 and where z2 is split")
    return [float(cut) for cut in cuts]


def _one_feature(name: str, z: ArrayLike) -> FloatArray:
    values = check_numbers(name, z)
    if values.ndim != 1:
        raise ValueError(f"{name} has {values.ndim} dimensions; give one feature, a vector")
    return values
