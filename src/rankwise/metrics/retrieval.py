"""Retrieval metrics: how well scores rank the rows of each query, judged by graded relevance.

All take flat arrays, one value per row, and say which query each row belongs to with ``qid``. All return the mean over
queries, higher is better. Four choices on which tools silently differ are arguments here: the gain of a grade
(``gain``), the order of tied scores (``ties``), the value of a query without relevant rows (``empty``), and rows that
were not retrieved (score ``-inf``: they have no place in the ranking, but still count among the relevant rows).
`rankwise.metrics.scorers` makes scorers of these functions, and query rankers score themselves with them.
"""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, Literal, TypeAlias

import numpy as np

from rankwise._typing import ArrayLike, BoolArray, FloatArray, IntArray, RandomState
from rankwise._validation import check_choice, check_generator, is_null
from rankwise.metrics import retrieval_jit
from rankwise.queries import (
    Gain,
    check_grades,
    check_k,
    check_length,
    check_rows,
    gains_of,
    group_queries,
    query_weights,
    satisfaction_of,
)

Ties = Literal["average", "random", "trec", "pessimistic"]
Empty = Literal["skip", 0, 1]
#: the mean; or the queries and their values. Not a union, which every caller would have to take apart.
Result: TypeAlias = Any


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
    r"""Normalized discounted cumulative gain: the DCG of the ranking over the DCG of the best one.

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
        Whether to return the values of the queries instead of their mean.
    random_state : int, Generator, RandomState or None, default=None
        Used if ``ties="random"``.
    doc_id : array-like of shape (n_rows,), optional
        Names of the rows, compared as text if ``ties="trec"``.

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
    queries = _JudgedQueries(y_true, y_score, qid, k, ties, empty, sample_weight, per_query, random_state, doc_id)
    gains = gains_of(queries.grade, gain)
    if gains.min() < 0:
        raise ValueError(
            f"a row of relevance {queries.grade[np.argmin(gains)]:g} has the gain {gains.min():g}, but NDCG needs "
            "gains of 0 or more; shift the grades so that 0 is the worst, or give the gains as a table"
        )
    discount = 1 / np.log2(np.arange(2.0, queries.k + 2))
    ideal = retrieval_jit.ideal_dcg(gains, queries.bounds, discount)
    values = _ratio(retrieval_jit.dcg(gains, *queries.ranked(gains), discount), ideal)
    return queries.result(np.minimum(values, 1.0), ideal == 0)  # the means of ties round now and then to 1 + 2e-16


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
    queries = _JudgedQueries(y_true, y_score, qid, k, ties, empty, sample_weight, per_query, random_state, doc_id)
    gains = gains_of(queries.grade, gain)
    discount = 1 / np.log2(np.arange(2.0, queries.k + 2))
    values = retrieval_jit.dcg(gains, *queries.ranked(gains), discount)
    return queries.result(values, ~np.logical_or.reduceat(gains != 0, queries.bounds[:-1]))


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
    relevant rows of the query, retrieved or not (even if that exceeds k), and :math:`P_j` the share of relevant rows
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
    queries = _JudgedQueries(y_true, y_score, qid, k, ties, empty, sample_weight, per_query, random_state, doc_id)
    relevant, n_relevant = queries.relevant(threshold)
    total = retrieval_jit.precision_sum(relevant, *queries.ranked(relevant), queries.k)
    return queries.result(_ratio(total, n_relevant), n_relevant == 0)


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
    queries = _JudgedQueries(y_true, y_score, qid, k, ties, empty, sample_weight, per_query, random_state, doc_id)
    relevant, n_relevant = queries.relevant(threshold)
    reciprocal, _ = retrieval_jit.first_hit(relevant, *queries.ranked(relevant), queries.k)
    return queries.result(reciprocal, n_relevant == 0)


def hit_rate_score(
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

    *Definition*: 1 if at least one of the first k rows is relevant, else 0; between the two if ties decide.
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
    >>> from rankwise.metrics import hit_rate_score
    >>> hit_rate_score([0, 1, 1], [0.9, 0.5, 0.5], k=1)
    0.0
    """
    queries = _JudgedQueries(y_true, y_score, qid, k, ties, empty, sample_weight, per_query, random_state, doc_id)
    relevant, n_relevant = queries.relevant(threshold)
    _, probability = retrieval_jit.first_hit(relevant, *queries.ranked(relevant), queries.k)
    return queries.result(probability, n_relevant == 0)


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
    queries = _JudgedQueries(y_true, y_score, qid, k, ties, empty, sample_weight, per_query, random_state, doc_id)
    relevant, n_relevant = queries.relevant(threshold)
    found = retrieval_jit.hits(relevant, *queries.ranked(relevant), queries.k)
    return queries.result(_ratio(found, n_relevant), n_relevant == 0)


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

    *Definition*: relevant rows among the first k, over k, even if fewer rows were retrieved (as trec_eval); without
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
    queries = _JudgedQueries(y_true, y_score, qid, k, ties, empty, sample_weight, per_query, random_state, doc_id)
    relevant, n_relevant = queries.relevant(threshold)
    score, order, listed = queries.ranked(relevant)
    found = retrieval_jit.hits(relevant, score, order, listed, queries.k)
    places = np.diff(listed).astype(np.float64) if k is None else np.full(len(found), float(k))
    return queries.result(_ratio(found, places), n_relevant == 0)


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
        The highest grade of the scale; by default the largest in ``y_true``. Give it to compare values of
        different data.

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
    queries = _JudgedQueries(y_true, y_score, qid, k, ties, empty, sample_weight, per_query, random_state, doc_id)
    satisfied = satisfaction_of(queries.grade, max_grade)
    values = retrieval_jit.err(satisfied, *queries.ranked(satisfied), queries.k)
    return queries.result(values, ~np.logical_or.reduceat(satisfied > 0, queries.bounds[:-1]))


class _JudgedQueries:
    """The rows of a retrieval metric, checked and grouped by query.

    The parameters are those of `ndcg_score`.

    Attributes
    ----------
    grade : ndarray of shape (n_rows,), float64
        Relevance, query by query.
    bounds : ndarray of shape (n_queries + 1,), intp
        Query ``q`` owns rows ``bounds[q]`` to ``bounds[q + 1]``.
    k : int
        How many places count, at most the number of rows of the longest query.
    """

    def __init__(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        qid: ArrayLike | None,
        k: int | None,
        ties: Ties,
        empty: Empty,
        sample_weight: ArrayLike | None,
        per_query: bool,
        random_state: RandomState,
        doc_id: ArrayLike | None,
    ) -> None:
        check_choice("ties", ties, ("average", "random", "trec", "pessimistic"))
        if not (isinstance(empty, str | int) and empty in ("skip", 0, 1)):
            raise ValueError(f"empty is {empty!r}; a query without relevant rows counts as 0, as 1, or not: 'skip'")
        grade, score = check_grades(y_true, "y_true"), check_rows(y_score, "y_score")
        if len(score) and not score.max() < np.inf:
            row = int(np.argmin(score < np.inf))
            raise ValueError(
                f"y_score[{row}] is {score[row]:g}; scores are finite, or -inf for rows that were not retrieved"
            )
        check_length(score, len(grade), "y_score")
        groups = group_queries(qid, len(grade))
        self._ids, self._score = groups.ids, groups.take(score)
        self._doc_id = None
        if doc_id is not None:
            names = np.asarray(doc_id)
            check_length(names, len(grade), "doc_id")
            if names.dtype.kind == "f" or (names.dtype.kind == "O" and any(is_null(name) for name in names)):
                raise ValueError(
                    "doc_id holds missing names or numbers with a point; give one text or whole number per row"
                )
            self._doc_id = groups.take(names.astype(str))
        self._weights = query_weights(sample_weight, groups)
        self._ties, self._empty, self._per_query, self._random_state = ties, empty, per_query, random_state
        self.grade = groups.take(grade)
        self.bounds = groups.bounds
        self.k = check_k(k, int(groups.sizes.max()))

    def ranked(self, gain: FloatArray) -> tuple[FloatArray, IntArray, IntArray]:
        """Scores, the rows of all queries from best to worst, and where each query begins among them.

        The compiled metrics average over equal scores. Any other treatment of ties is a finer score, equal for fewer
        rows.
        """
        score = self._score
        if self._ties == "random":
            score = _refined(score, score, check_generator(self._random_state).random(len(score)))
        elif self._ties == "pessimistic":
            score = _refined(score, score, -gain)
        elif self._ties == "trec":
            if self._doc_id is None:
                raise ValueError("ties='trec' orders equal scores by document name; give doc_id, one name per row")
            with np.errstate(over="ignore"):  # trec_eval, too, keeps scores as 32-bit floats
                seen = score.astype(np.float32)
            score = _refined(score, seen, np.unique(self._doc_id, return_inverse=True)[1])
        return score, *retrieval_jit.rank_rows(score, self.bounds, self.k)

    def relevant(self, threshold: float) -> tuple[FloatArray, FloatArray]:
        """1 for each row with a grade above the threshold, else 0; and their number for each query."""
        if not isinstance(threshold, Real) or np.isnan(threshold):
            raise ValueError(f"threshold is {threshold!r}; give the grade above which rows are relevant")
        relevant = (self.grade > threshold).astype(np.float64)
        return relevant, np.add.reduceat(relevant, self.bounds[:-1])

    def result(self, values: FloatArray, empty: BoolArray) -> Result:
        """The mean over queries, or the queries and their values."""
        skip = self._empty == "skip"
        values = np.where(empty, np.nan if skip else float(self._empty), values)
        if self._per_query:
            return self._ids, values
        counted = ~empty if skip else np.ones_like(empty)
        if self._weights[counted].sum() == 0:
            from sklearn.exceptions import UndefinedMetricWarning

            message = (
                "no query with weight has a relevant row, so the mean is NaN; give empty=0 or 1 to count such queries"
            )
            warnings.warn(message, UndefinedMetricWarning, stacklevel=3)
            return float("nan")
        return float(np.average(values[counted], weights=self._weights[counted]))


def _refined(score: FloatArray, seen: np.ndarray[Any, Any], key: np.ndarray[Any, Any]) -> FloatArray:
    """Scores that order rows by ``seen``, then by ``key``, both descending; -inf stays."""
    order = np.lexsort((key, seen))
    seen, key = seen[order], key[order]
    rises = (seen[1:] != seen[:-1]) | (key[1:] != key[:-1])
    refined = np.empty_like(score)
    refined[order] = np.concatenate(([0.0], np.cumsum(rises)))
    refined[score == -np.inf] = -np.inf
    return refined


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Part over whole; 0 if the whole is 0."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
