"""Values of the losses in the table of `rankwise.ltr.losses`, and NDCG weights of pairs, for scores from anywhere.

The rankers train on implementations of their own, which give gradients; this one follows the definitions, query by
query, in NumPy.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import expit, logsumexp

from rankwise._typing import ArrayLike, BoolArray, FloatArray, IntArray
from rankwise._validation import check_choice
from rankwise.ltr._lambda_jit import MU
from rankwise.ltr._listwise_jit import logistic_shifts
from rankwise.ltr._listwise_losses import TEMPERATURE, PlaceWeights, place_factors
from rankwise.ltr.base import check_longest
from rankwise.ltr.losses import LOSSES
from rankwise.queries import (
    Gain,
    QueryGroups,
    check_grades,
    check_grades_not_negative,
    check_k,
    check_length,
    check_rows,
    gains_of,
    group_queries,
)

_NAMES = tuple(loss.name for loss in LOSSES)
_NOT_NEGATIVE = ("pointwise_logistic", "query_cross_entropy", "listwise_softmax", "query_softmax")
_OF_PAIRS = (*(loss.name for loss in LOSSES if loss.kind == "pairwise"), "listwise_approx_ndcg")
_DECAY = 0.85  # of "yetirank", as `LambdaMART` has it by default


def ranking_loss(
    y_true: ArrayLike,
    y_score: ArrayLike,
    qid: ArrayLike | None = None,
    loss: str = "pairwise_logistic",
    *,
    k: int | None = None,
    gain: Gain = "exp",
    place_weights: PlaceWeights = "exp",
    per_query: bool = False,
) -> float | tuple[np.ndarray[Any, Any], FloatArray]:
    """Value of a loss by which rankers learn, as its mean over queries.

    *Definition*: see the table of losses in the guide to learning to rank. Of a query, pointwise losses, "query_rmse"
    and "query_cross_entropy" are means over rows and pairwise ones over the pairs with different relevance (sums, where
    pairs are weighted); listwise losses and "query_softmax" are of the whole query. "yetirank" is that of the ranking
    by the scores themselves, without noise. Lower is better.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Relevance, higher is better.
    y_score : array-like of shape (n_rows,)
        Finite scores, higher is better.
    qid : array-like of shape (n_rows,), optional
        The query of each row; by default all rows are one query.
    loss : str, default="pairwise_logistic"
        A name of the table.
    k : int, optional
        Places that NDCG counts in the weights of "lambdarank"; all by default.
    gain : {"exp", "linear"}, sequence, mapping or callable, default="exp"
        What a grade is worth in "lambdarank", "lambdaloss" and "listwise_approx_ndcg", see
        `rankwise.metrics.ndcg_score`.
    place_weights : {"exp", "log", "reciprocal"}, array-like or callable, default="exp"
        What places count in "listwise_plistmle", as in `LinearRanker`.
    per_query : bool, default=False
        Whether to return the queries and their losses instead of the mean.

    Returns
    -------
    float or (ndarray, ndarray)
        The mean over queries; or their ids, in order of first appearance, and their losses. A query without pairs of
        different relevance has the pairwise loss 0, and one without relevant rows the loss 0 where the loss needs them.

    See Also
    --------
    lambda_gradients : first and second derivatives of the weighted pairwise logistic loss.

    Examples
    --------
    >>> from rankwise.ltr import ranking_loss
    >>> round(ranking_loss([2, 0, 1], [1.0, 0.0, 0.5]), 4), round(ranking_loss([2, 0, 1], [0.0, 1.0, 0.5]), 4)
    (0.4205, 1.0871)
    >>> round(ranking_loss([2, 0, 1], [1.0, 0.0, 0.5], loss="listwise_listnet"), 4)
    0.8927
    """
    check_choice("loss", loss, _NAMES)
    grade, scores, groups = _checked(y_true, y_score, qid)
    longest = int(groups.sizes.max())
    if loss in _OF_PAIRS:
        check_longest(longest, f"loss={loss!r}", "loss='listwise_softmax'")
    if loss in _NOT_NEGATIVE:
        check_grades_not_negative(grade, f"loss={loss!r}")
    places = check_k(k, longest)
    is_share = loss in ("pointwise_logistic", "query_cross_entropy") and grade.max() > 0
    target = grade / grade.max() if is_share else grade
    target, scores, gains = (groups.take(values) for values in (target, scores, gains_of(grade, gain)))
    queries = [slice(*ends) for ends in pairwise(groups.bounds)]
    if loss in ("listwise_listmle", "listwise_plistmle"):
        weights = place_weights if loss == "listwise_plistmle" else None
        values = np.array([_likelihood(target[rows], scores[rows], weights) for rows in queries])
    else:
        values = np.array([_of_query(loss, target[rows], scores[rows], gains[rows], places) for rows in queries])
    return (groups.ids, values) if per_query else float(values.mean())


def pair_weights(
    y_true: ArrayLike, y_score: ArrayLike, qid: ArrayLike | None = None, *, k: int | None = None, gain: Gain = "exp"
) -> tuple[IntArray, FloatArray]:
    r"""By how much exchanging two rows of different relevance would change NDCG: the weights of LambdaRank.

    *Definition*: :math:`w_{ij} = |g_i - g_j| \, |d_{\pi(i)} - d_{\pi(j)}| / \text{ideal DCG}`, with gains g and
    discounts d of the places by descending score, 0 beyond place k; the mean over all orders, where scores are equal.

    Parameters
    ----------
    y_true, y_score, qid, gain
        As in `ranking_loss`.
    k : int, optional
        How many places NDCG counts; all by default.

    Returns
    -------
    pairs : ndarray of shape (n_pairs, 2)
        Rows, counted from 0: the more relevant one first. Pairs of a query lie together.
    weights : ndarray of shape (n_pairs,)
        Their weights; 0 in a query whose rows have no gain.

    See Also
    --------
    pair_gradients : derivatives of the loss with these weights, which are those of `lambda_gradients`.

    Examples
    --------
    >>> from rankwise.ltr import pair_weights
    >>> pairs, weights = pair_weights([2, 0, 1], [1.0, 0.5, 0.0])
    >>> pairs.tolist(), weights.round(3).tolist()
    ([[0, 1], [0, 2], [2, 1]], [0.305, 0.275, 0.036])
    """
    grade, scores, groups = _checked(y_true, y_score, qid)
    longest = int(groups.sizes.max())
    check_longest(longest, "pair_weights")
    places, gains = check_k(k, longest), gains_of(grade, gain)
    rows = np.arange(len(grade)) if groups.rows is None else groups.rows
    found, weights = [], []
    for own in (rows[slice(*ends)] for ends in pairwise(groups.bounds)):
        discount = _discounts(len(own), places)
        winners, losers = np.nonzero(grade[own][:, None] > grade[own])
        ideal = _dcg(gains[own], discount)
        change = _exchanges(scores[own], discount)[winners, losers] * abs(gains[own][winners] - gains[own][losers])
        found.append(np.column_stack([own[winners], own[losers]]))
        weights.append(change / ideal if ideal > 0 else 0 * change)
    return np.concatenate(found), np.concatenate(weights)


def _checked(
    y_true: ArrayLike, y_score: ArrayLike, qid: ArrayLike | None
) -> tuple[FloatArray, FloatArray, QueryGroups]:
    grade, scores = check_grades(y_true, "y_true"), check_rows(y_score, "y_score")
    check_length(scores, len(grade), "y_score", of="y_true")
    if not np.isfinite(scores).all():
        row = int(np.argmin(np.isfinite(scores)))
        raise ValueError(f"y_score[{row}] is {scores[row]:g}; a loss needs finite scores")
    return grade, scores, group_queries(qid, len(grade), of="y_true")


def _of_query(loss: str, grade: FloatArray, score: FloatArray, gains: FloatArray, k: int) -> float:
    if loss == "pointwise_squared":
        return float(np.mean((score - grade) ** 2))
    if loss == "pointwise_logistic":
        return float(np.mean(np.logaddexp(0, score) - grade * score))
    if loss == "query_rmse":
        return float(np.var(score - grade))
    if loss == "query_cross_entropy":
        return _shifted_cross_entropy(grade, score)
    discount = _discounts(len(grade), k if loss == "lambdarank" else len(grade) + 1)
    if loss in _OF_PAIRS:
        return _of_pairs(loss, grade, score, gains, discount)
    mass = np.exp(grade - grade.max()) if loss == "listwise_listnet" else grade
    total = 1.0 if loss == "query_softmax" else mass.sum()
    return float(mass @ (logsumexp(score) - score) / total) if total > 0 else 0.0


def _of_pairs(loss: str, grade: FloatArray, score: FloatArray, gains: FloatArray, discount: FloatArray) -> float:
    if loss == "listwise_approx_ndcg":
        above = expit((score - score[:, None]) / TEMPERATURE).sum(axis=1) - 0.5
        ideal = _dcg(gains, discount)
        return float(1 - gains @ (1 / np.log2(above + 2)) / ideal) if ideal > 0 else 0.0
    pairs = grade[:, None] > grade
    gaps = (score[:, None] - score)[pairs]
    if loss == "lambdarank":
        return _weighted(gaps, _exchanges(score, discount)[pairs], gains, pairs, _dcg(gains, discount))
    if loss == "lambdaloss":
        place = np.argsort(np.argsort(-score, kind="stable"))
        apart = abs(place[:, None] - place)[pairs]
        change = abs(discount[place][:, None] - discount[place])[pairs]
        change += MU * (discount[apart - 1] - discount[apart])
        return _weighted(gaps, change, gains, pairs, _dcg(gains, discount))
    if loss == "yetirank":
        order = np.argsort(-score, kind="stable")
        steps = np.diff(grade[order])
        wrong = np.logaddexp(0, np.sign(steps) * -np.diff(score[order]))
        return float(_DECAY ** np.arange(len(steps)) @ (abs(steps) * wrong))
    terms: dict[str, Any] = {
        "pairwise_logistic": lambda: np.logaddexp(0, -gaps),
        "pairwise_hinge": lambda: np.maximum(0, 1 - gaps),
        "pairwise_squared_hinge": lambda: np.maximum(0, 1 - gaps) ** 2,
        "pairwise_squared": lambda: (1 - gaps) ** 2,
    }
    return float(terms[loss]().mean()) if len(gaps) else 0.0


def _shifted_cross_entropy(target: FloatArray, score: FloatArray) -> float:
    """Mean logistic loss after the shift that makes it least; 0 if no finite shift does."""
    if target.min() == target.max() and target[0] in (0, 1):
        return 0.0
    shift = np.empty(1)
    bounds = np.array([0, len(score)], dtype=np.intp)
    logistic_shifts(np.ascontiguousarray(score), target, np.ones(len(score)), bounds, shift)
    return float(np.mean(np.logaddexp(0, score + shift) - target * (score + shift)))


def _likelihood(grade: FloatArray, score: FloatArray, place_weights: PlaceWeights | None) -> float:
    """Minus the log probability of the order by relevance, or the sum over places with weights."""
    ranked = score[np.argsort(-grade, kind="stable")]
    terms = np.logaddexp.accumulate(ranked[::-1])[::-1] - ranked
    if place_weights is None:
        return float(terms.sum())
    places = np.arange(1.0, len(score) + 1)
    return float(place_factors(places, np.full(len(score), float(len(score))), place_weights) @ terms)


def _discounts(n_rows: int, k: int) -> FloatArray:
    """Of each place, 0 beyond k; and of one more place than there are, for distances."""
    place = np.arange(1, n_rows + 2)
    return np.where(place <= k, 1 / np.log2(place + 1), 0.0)


def _dcg(gains: FloatArray, discount: FloatArray) -> float:
    """The best that an order can reach."""
    return float(np.sort(gains)[::-1] @ discount[: len(gains)])


def _weighted(gaps: FloatArray, change: FloatArray, gains: FloatArray, pairs: BoolArray, ideal: float) -> float:
    """Sum of the logistic losses of pairs, weighted by a change of discounts times that of gains."""
    weight = change * abs(gains[:, None] - gains)[pairs]
    return float(weight @ np.logaddexp(0, -gaps) / ideal) if ideal > 0 else 0.0


def _exchanges(score: FloatArray, discount: FloatArray) -> FloatArray:
    """By how much the discounts of any two rows differ; the mean over all orders, where scores are equal."""
    _, block, sizes = np.unique(-score, return_inverse=True, return_counts=True)
    ends = np.cumsum(sizes)
    means, within = np.empty(len(sizes)), np.zeros(len(sizes))
    for number, (end, size) in enumerate(zip(ends, sizes, strict=True)):
        own = discount[end - size : end]  # descending
        means[number] = own.mean()
        if size > 1:
            # Every place is the better one against all after it, and the worse one against all before it.
            within[number] = 2 * own @ (size - 1 - 2 * np.arange(size)) / (size * (size - 1))
    apart = abs(means[block][:, None] - means[block])
    return np.where(block[:, None] == block, within[block], apart)
