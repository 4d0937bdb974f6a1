"""Retrieval metrics: how well scores rank the rows of each query, judged by graded relevance.

All take flat arrays, one value per row, and say which query each row belongs to with ``qid``. All give the mean over
queries, higher is better. Four choices on which tools differ silently are arguments here: the gain of a grade, the
order of tied scores (``ties``), the worth of a query without relevant rows (``empty``), and rows that were not
retrieved (score ``-inf``: no place in the ranking, but among the relevant rows all the same).
"""

from __future__ import annotations

import numpy as np

from rankwise._typing import ArrayLike, FloatArray, RandomState
from rankwise.metrics import retrieval_jit
from rankwise.metrics.judged import Empty, Gain, Judged, Result, Ties, gains_of, satisfaction_of, share


def ndcg_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    qid: ArrayLike | None = None,
    k: int | None = None,
    gain: Gain = "linear",
    ties: Ties = "average",
    empty: Empty = "skip",
    *,
    sample_weight: ArrayLike | None = None,
    per_query: bool = False,
    random_state: RandomState = None,
    doc_id: ArrayLike | None = None,
) -> Result:
    r"""Normalised discounted cumulative gain: the DCG of the ranking over the DCG of the best one.

    *Definition*: :math:`\sum_{j \le k} g(y_{\pi(j)}) / \log_2(j + 1)` divided by its largest value over all orders
    :math:`\pi` of the query's rows. From 0 to 1, higher is better.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Relevance of each row, higher is better, 0 is irrelevant. Any finite numbers.
    y_score : array-like of shape (n_rows,)
        Score of each row, higher is better; ``-inf`` is not retrieved.
    qid : array-like of shape (n_rows,), optional
        The query of each row, of any type and in any order. By default all rows are one query.
    k : int, optional
        How many places count; all by default.
    gain : {"linear", "exp"}, sequence, mapping or callable, default="linear"
        What a grade y is worth: y; :math:`2^y - 1`; a table indexed by grade; or a function of the array of grades.
    ties : {"average", "random", "trec", "pessimistic"}, default="average"
        The order of rows with the same score: the mean over all orders, in closed form; one order drawn with
        ``random_state``; the order of trec_eval (scores rounded to 32 bits, ties by descending ``doc_id``); or the
        less relevant first.
    empty : {"skip", 0, 1}, default="skip"
        What a query without any relevant row (all gains 0) counts: nothing, 0 or 1.
    sample_weight : array-like of shape (n_rows,), optional
        Weight of the row's query in the mean, the same for all its rows.
    per_query : bool, default=False
        Whether to return the values of the queries in place of their mean.
    random_state : int, Generator, RandomState or None, default=None
        Used where ``ties="random"``.
    doc_id : array-like of shape (n_rows,), optional
        Names of the rows, compared as texts where ``ties="trec"``.

    Returns
    -------
    float or (ndarray, ndarray)
        The mean over queries, NaN if all are skipped; with ``per_query``, the queries in order of first appearance
        and their values, NaN where skipped.

    References
    ----------
    Järvelin and Kekäläinen (2002), Cumulated gain-based evaluation of IR techniques. McSherry and Najork (2008),
    Computing information retrieval performance measures efficiently in the presence of tied scores.

    Examples
    --------
    >>> from rankwise.metrics import ndcg_score
    >>> ndcg_score([0, 0, 1, 1, 0], [3.0, 1.0, 2.0, 5.0, 5.0], qid=["a", "a", "a", "b", "b"])
    0.7231...
    """
    judged = Judged(y_true, y_score, qid, k, ties, empty, sample_weight, per_query, random_state, doc_id)
    gains = gains_of(judged.grade, gain)
    if gains.min() < 0:
        raise ValueError(
            f"a row of relevance {judged.grade[np.argmin(gains)]:g} has the gain {gains.min():g}, but NDCG needs gains "
            "of 0 or more; shift the grades so that 0 is the worst, or give the gains as a table"
        )
    discount = _discounts(judged.k)
    ideal = retrieval_jit.ideal_dcg(gains, judged.bounds, discount)
    values = share(retrieval_jit.dcg(gains, *judged.ranked(gains), discount), ideal)
    return judged.result(np.minimum(values, 1.0), ideal == 0)  # the means of ties round now and then to 1 + 2e-16


def dcg_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    qid: ArrayLike | None = None,
    k: int | None = None,
    gain: Gain = "linear",
    ties: Ties = "average",
    empty: Empty = "skip",
    *,
    sample_weight: ArrayLike | None = None,
    per_query: bool = False,
    random_state: RandomState = None,
    doc_id: ArrayLike | None = None,
) -> Result:
    r"""Discounted cumulative gain: the gains of the first k rows, each over the logarithm of its place.

    *Definition*: :math:`\sum_{j \le k} g(y_{\pi(j)}) / \log_2(j + 1)`. Not bounded, higher is better.

    Parameters
    ----------
    y_true, y_score, qid, k, gain, ties, empty, sample_weight, per_query, random_state, doc_id
        As in `ndcg_score`; gains may be negative.

    Returns
    -------
    float or (ndarray, ndarray)
        As in `ndcg_score`.

    Examples
    --------
    >>> from rankwise.metrics import dcg_score
    >>> dcg_score([3, 0, 2], [0.9, 0.5, 0.1])
    4.0
    """
    judged = Judged(y_true, y_score, qid, k, ties, empty, sample_weight, per_query, random_state, doc_id)
    gains = gains_of(judged.grade, gain)
    values = retrieval_jit.dcg(gains, *judged.ranked(gains), _discounts(judged.k))
    return judged.result(values, judged.none_of(gains != 0))


def average_precision_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    qid: ArrayLike | None = None,
    k: int | None = None,
    *,
    threshold: float = 0.0,
    ties: Ties = "average",
    empty: Empty = "skip",
    sample_weight: ArrayLike | None = None,
    per_query: bool = False,
    random_state: RandomState = None,
    doc_id: ArrayLike | None = None,
) -> Result:
    r"""Average precision (its mean over queries is MAP): the precision at the places of the relevant rows.

    *Definition*: :math:`\frac{1}{R} \sum_{j \le k,\ \pi(j)\ \text{relevant}} P_j`, with :math:`R` the number of
    relevant rows of the query, retrieved or not (also where that exceeds k), and :math:`P_j` the share of relevant rows
    among the first j. From 0 to 1, higher is better.

    Parameters
    ----------
    y_true, y_score, qid, k, ties, empty, sample_weight, per_query, random_state, doc_id
        As in `ndcg_score`.
    threshold : float, default=0.0
        Rows with ``y_true`` above it are relevant.

    Returns
    -------
    float or (ndarray, ndarray)
        As in `ndcg_score`.

    Examples
    --------
    >>> from rankwise.metrics import average_precision_score
    >>> average_precision_score([1, 0, 1], [0.9, 0.5, 0.1])
    0.8333...
    """
    judged = Judged(y_true, y_score, qid, k, ties, empty, sample_weight, per_query, random_state, doc_id)
    relevant, n_relevant = judged.relevant(threshold)
    total = retrieval_jit.precision_sum(relevant, *judged.ranked(relevant), judged.k)
    return judged.result(share(total, n_relevant), n_relevant == 0)


def reciprocal_rank_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    qid: ArrayLike | None = None,
    k: int | None = None,
    *,
    threshold: float = 0.0,
    ties: Ties = "average",
    empty: Empty = "skip",
    sample_weight: ArrayLike | None = None,
    per_query: bool = False,
    random_state: RandomState = None,
    doc_id: ArrayLike | None = None,
) -> Result:
    """Reciprocal rank (its mean over queries is MRR): 1 over the place of the first relevant row.

    *Definition*: 1 / j for the first relevant row at place j <= k, 0 if there is none. From 0 to 1, higher is better.

    Parameters
    ----------
    y_true, y_score, qid, k, threshold, ties, empty, sample_weight, per_query, random_state, doc_id
        As in `average_precision_score`.

    Returns
    -------
    float or (ndarray, ndarray)
        As in `ndcg_score`.

    Examples
    --------
    >>> from rankwise.metrics import reciprocal_rank_score
    >>> reciprocal_rank_score([0, 1, 1], [0.9, 0.5, 0.1])
    0.5
    """
    judged = Judged(y_true, y_score, qid, k, ties, empty, sample_weight, per_query, random_state, doc_id)
    relevant, n_relevant = judged.relevant(threshold)
    reciprocal, _ = retrieval_jit.first_hit(relevant, *judged.ranked(relevant), judged.k)
    return judged.result(reciprocal, n_relevant == 0)


def hit_rate(
    y_true: ArrayLike,
    y_score: ArrayLike,
    qid: ArrayLike | None = None,
    k: int | None = None,
    *,
    threshold: float = 0.0,
    ties: Ties = "average",
    empty: Empty = "skip",
    sample_weight: ArrayLike | None = None,
    per_query: bool = False,
    random_state: RandomState = None,
    doc_id: ArrayLike | None = None,
) -> Result:
    """Hit rate (success): whether a relevant row is among the first k.

    *Definition*: 1 if at least one of the first k rows is relevant, else 0; between the two where ties decide.
    Higher is better.

    Parameters
    ----------
    y_true, y_score, qid, k, threshold, ties, empty, sample_weight, per_query, random_state, doc_id
        As in `average_precision_score`.

    Returns
    -------
    float or (ndarray, ndarray)
        As in `ndcg_score`.

    Examples
    --------
    >>> from rankwise.metrics import hit_rate
    >>> hit_rate([0, 1, 1], [0.9, 0.5, 0.5], k=1)
    0.0
    """
    judged = Judged(y_true, y_score, qid, k, ties, empty, sample_weight, per_query, random_state, doc_id)
    relevant, n_relevant = judged.relevant(threshold)
    _, probability = retrieval_jit.first_hit(relevant, *judged.ranked(relevant), judged.k)
    return judged.result(probability, n_relevant == 0)


def recall_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    qid: ArrayLike | None = None,
    k: int | None = None,
    *,
    threshold: float = 0.0,
    ties: Ties = "average",
    empty: Empty = "skip",
    sample_weight: ArrayLike | None = None,
    per_query: bool = False,
    random_state: RandomState = None,
    doc_id: ArrayLike | None = None,
) -> Result:
    """Recall: the share of the relevant rows that are among the first k.

    *Definition*: relevant rows among the first k, over all relevant rows of the query, retrieved or not. From 0 to 1,
    higher is better.

    Parameters
    ----------
    y_true, y_score, qid, k, threshold, ties, empty, sample_weight, per_query, random_state, doc_id
        As in `average_precision_score`.

    Returns
    -------
    float or (ndarray, ndarray)
        As in `ndcg_score`.

    Examples
    --------
    >>> from rankwise.metrics import recall_score
    >>> recall_score([1, 0, 1], [0.9, 0.5, 0.1], k=2)
    0.5
    """
    judged = Judged(y_true, y_score, qid, k, ties, empty, sample_weight, per_query, random_state, doc_id)
    relevant, n_relevant = judged.relevant(threshold)
    found = retrieval_jit.hits(relevant, *judged.ranked(relevant), judged.k)
    return judged.result(share(found, n_relevant), n_relevant == 0)


def precision_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    qid: ArrayLike | None = None,
    k: int | None = None,
    *,
    threshold: float = 0.0,
    ties: Ties = "average",
    empty: Empty = "skip",
    sample_weight: ArrayLike | None = None,
    per_query: bool = False,
    random_state: RandomState = None,
    doc_id: ArrayLike | None = None,
) -> Result:
    """Precision: the share of the first k rows that are relevant.

    *Definition*: relevant rows among the first k, over k, also where fewer rows were retrieved (as trec_eval); without
    k, over the number of rows retrieved. From 0 to 1, higher is better.

    Parameters
    ----------
    y_true, y_score, qid, k, threshold, ties, empty, sample_weight, per_query, random_state, doc_id
        As in `average_precision_score`.

    Returns
    -------
    float or (ndarray, ndarray)
        As in `ndcg_score`.

    Examples
    --------
    >>> from rankwise.metrics import precision_score
    >>> precision_score([1, 0, 1], [0.9, 0.5, 0.1], k=2)
    0.5
    """
    judged = Judged(y_true, y_score, qid, k, ties, empty, sample_weight, per_query, random_state, doc_id)
    relevant, n_relevant = judged.relevant(threshold)
    score, order, listed = judged.ranked(relevant)
    found = retrieval_jit.hits(relevant, score, order, listed, judged.k)
    places = np.diff(listed).astype(np.float64) if k is None else np.full(len(found), float(k))
    return judged.result(share(found, places), n_relevant == 0)


def err_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    qid: ArrayLike | None = None,
    k: int | None = None,
    *,
    max_grade: float | None = None,
    ties: Ties = "average",
    empty: Empty = "skip",
    sample_weight: ArrayLike | None = None,
    per_query: bool = False,
    random_state: RandomState = None,
    doc_id: ArrayLike | None = None,
) -> Result:
    r"""Expected reciprocal rank: 1 over the place where a reader, going down the ranking, finds what they want.

    *Definition*: :math:`\sum_{j \le k} \frac{1}{j} R_j \prod_{i < j} (1 - R_i)`, with
    :math:`R = (2^y - 1) / 2^{y_{\max}}` the probability that a row of grade y satisfies. From 0 to 1, higher is better.

    Parameters
    ----------
    y_true, y_score, qid, k, ties, empty, sample_weight, per_query, random_state, doc_id
        As in `ndcg_score`; grades are 0 or more.
    max_grade : float, optional
        The highest grade of the scale; by default the largest in ``y_true``. Give it wherever values of different
        data are compared.

    Returns
    -------
    float or (ndarray, ndarray)
        As in `ndcg_score`.

    References
    ----------
    Chapelle, Metzler, Zhang and Grinspan (2009), Expected reciprocal rank for graded relevance.

    Examples
    --------
    >>> from rankwise.metrics import err_score
    >>> err_score([0, 2, 1], [0.9, 0.5, 0.1], max_grade=2)
    0.395...
    """
    judged = Judged(y_true, y_score, qid, k, ties, empty, sample_weight, per_query, random_state, doc_id)
    satisfied = satisfaction_of(judged.grade, max_grade)
    values = retrieval_jit.err(satisfied, *judged.ranked(satisfied), judged.k)
    return judged.result(values, judged.none_of(satisfied > 0))


def _discounts(k: int) -> FloatArray:
    return 1 / np.log2(np.arange(2.0, k + 2))
