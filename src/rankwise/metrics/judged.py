"""Rows with relevance and score, made ready for a retrieval metric: checked, grouped, ranked; and the mean after it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any, Literal, TypeAlias

import numpy as np

from rankwise._random import check_generator
from rankwise._typing import ArrayLike, BoolArray, FloatArray, IntArray, RandomState
from rankwise._validation import check_choice, is_null
from rankwise.metrics import retrieval_jit
from rankwise.queries import check_k, check_length, check_rows, group_queries, query_weights

Gain = Literal["linear", "exp"] | Sequence[float] | Mapping[float, float] | Callable[[FloatArray], ArrayLike]
Ties = Literal["average", "random", "trec", "pessimistic"]
Empty = Literal["skip", 0, 1]
# A query of a million rows still adds up below the largest float.
_MOST_GAIN = 1e300
#: the mean; or the queries and their values. Not a union, which every caller would have to take apart.
Result: TypeAlias = Any


class Judged:
    """The rows of a retrieval metric, query by query.

    The parameters are those of `rankwise.metrics.retrieval.ndcg_score`.

    Attributes
    ----------
    grade : ndarray of shape (n_rows,), float64
        Relevance, query by query.
    bounds : ndarray of shape (n_queries + 1,), intp
        Query ``q`` owns rows ``bounds[q]`` to ``bounds[q + 1]``.
    k : int
        How many places count, at most the rows of the longest query.
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
        grade, score = _check_grades(y_true), _check_scores(y_score)
        check_length(score, len(grade), "y_score")
        self._groups = group_queries(qid, len(grade))
        self._score = self._groups.take(score)
        self._doc_id = None if doc_id is None else self._groups.take(_check_names(doc_id, len(grade)))
        self._weights = query_weights(sample_weight, self._groups)
        self._ties, self._empty, self._per_query, self._random_state = ties, empty, per_query, random_state
        self.grade = self._groups.take(grade)
        self.bounds = self._groups.bounds
        self.k = check_k(k, self._groups)

    def ranked(self, worth: FloatArray) -> tuple[FloatArray, IntArray, IntArray]:
        """Scores, the rows of all queries from best to worst, and where each query begins among them.

        The kernels average over equal scores. Any other way with ties is a finer score, equal for fewer rows.
        """
        score = self._score
        if self._ties == "random":
            score = _refined(score, score, check_generator(self._random_state).random(len(score)))
        elif self._ties == "pessimistic":
            score = _refined(score, score, -worth)
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

    def none_of(self, rows: BoolArray) -> BoolArray:
        """Whether no row of the query is marked."""
        return ~np.logical_or.reduceat(rows, self.bounds[:-1])

    def result(self, values: FloatArray, empty: BoolArray) -> Result:
        """The mean over queries, or the queries and their values."""
        skip = self._empty == "skip"
        values = np.where(empty, np.nan if skip else float(self._empty), values)
        if self._per_query:
            return self._groups.ids, values
        counted = ~empty if skip else np.ones_like(empty)
        if self._weights[counted].sum() == 0:
            from sklearn.exceptions import UndefinedMetricWarning

            message = (
                "no query with weight has a relevant row, so the mean is NaN; give empty=0 or 1 to count such queries"
            )
            warnings.warn(message, UndefinedMetricWarning, stacklevel=3)
            return float("nan")
        return float(np.average(values[counted], weights=self._weights[counted]))


def gains_of(grade: FloatArray, gain: Gain) -> FloatArray:
    """What each grade is worth: the grade, 2^grade - 1, an entry of a table, or the value of a function."""
    gains = _worth(grade, gain)
    bad = ~(np.abs(gains) < _MOST_GAIN)
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"relevance {grade[row]:g} has the gain {gains[row]:g}, too large to add up; give a table of gains"
        )
    return gains


def satisfaction_of(grade: FloatArray, max_grade: float | None) -> FloatArray:
    """Probability that a row of the grade satisfies: (2^y - 1) / 2^max, written so that no power overflows."""
    highest = float(grade.max()) if max_grade is None else float(max_grade)
    if grade.min() < 0:
        raise ValueError(
            f"y_true holds {grade.min():g}, but ERR needs grades of 0 or more; shift them so that 0 is worst"
        )
    if not grade.max() <= highest < np.inf:
        raise ValueError(
            f"max_grade is {highest:g}, but y_true holds {grade.max():g}; give the highest grade of the scale"
        )
    return np.exp2(grade - highest) - np.exp2(-highest)


def share(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Part over whole; 0 where the whole is 0."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


def _worth(grade: FloatArray, gain: Gain) -> FloatArray:
    if isinstance(gain, str) and gain == "linear":
        return grade
    if isinstance(gain, str) and gain == "exp":
        with np.errstate(over="ignore"):  # refused by the caller
            return np.exp2(grade) - 1
    if callable(gain):
        gains = check_rows(gain(grade), "gain(y_true)")
        check_length(gains, len(grade), "gain(y_true)")
        return gains
    if isinstance(gain, Mapping):
        return _look_up(grade, gain)
    if isinstance(gain, Sequence | np.ndarray) and not isinstance(gain, str):
        return _look_up(grade, dict(enumerate(gain)))
    raise ValueError(f"gain is {gain!r}; choose 'linear', 'exp', a table of gains or a function of the grades")


def _check_grades(y_true: ArrayLike) -> FloatArray:
    grade = check_rows(y_true, "y_true")
    if len(grade) == 0:
        raise ValueError("y_true is empty; a metric needs at least one row")
    if not (grade.min() > -np.inf and grade.max() < np.inf):  # two reductions are quicker than isfinite, and NaN fails
        row = int(np.argmin(np.isfinite(grade)))
        raise ValueError(
            f"y_true[{row}] is {grade[row]:g}; relevance is finite. Leave out rows without a judgement, or call them 0"
        )
    return grade


def _check_scores(y_score: ArrayLike) -> FloatArray:
    score = check_rows(y_score, "y_score")
    if len(score) and not score.max() < np.inf:
        row = int(np.argmin(score < np.inf))
        raise ValueError(
            f"y_score[{row}] is {score[row]:g}; scores are finite, or -inf for rows that were not retrieved"
        )
    return score


def _check_names(doc_id: ArrayLike, n_rows: int) -> np.ndarray[Any, Any]:
    names = np.asarray(doc_id)
    check_length(names, n_rows, "doc_id")
    if names.dtype.kind == "f" or (names.dtype.kind == "O" and any(is_null(name) for name in names)):
        raise ValueError("doc_id holds missing names or numbers with a point; give one text or whole number per row")
    return names.astype(str)


def _look_up(grade: FloatArray, table: Mapping[float, float]) -> FloatArray:
    levels, inverse = np.unique(grade, return_inverse=True)
    unknown = [level for level in levels.tolist() if level not in table]
    if unknown:
        raise ValueError(f"y_true holds the grade {unknown[0]:g}, for which gain has no entry; it has {list(table)}")
    return check_rows([table[level] for level in levels.tolist()], "gain")[inverse]


def _refined(score: FloatArray, seen: np.ndarray[Any, Any], key: np.ndarray[Any, Any]) -> FloatArray:
    """Scores that order rows by ``seen``, then by ``key``, both descending; -inf stays."""
    order = np.lexsort((key, seen))
    seen, key = seen[order], key[order]
    rises = (seen[1:] != seen[:-1]) | (key[1:] != key[:-1])
    refined = np.empty_like(score)
    refined[order] = np.concatenate(([0.0], np.cumsum(rises)))
    refined[score == -np.inf] = -np.inf
    return refined
