"""Rows that belong to queries: which rows go together, what their grades are worth, and the checks of all that.

`rankwise.metrics` groups rows with `group_queries`, `rankwise.ltr` trains on `QueryRows`, `rankwise.model_selection`
splits by `QueryGroups`. Once rows are grouped, query ``q`` owns the rows ``bounds[q]`` to ``bounds[q + 1]``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import Any, Literal

import numpy as np

from rankwise import _queries_jit
from rankwise._typing import ArrayLike, FloatArray, IntArray
from rankwise._validation import check_weights

AnyArray = np.ndarray[Any, Any]
Gain = Literal["linear", "exp"] | Sequence[float] | Mapping[float, float] | Callable[[FloatArray], ArrayLike]

# A query of a million rows still adds up below the largest float.
_MOST_GAIN = 1e300


@dataclass(frozen=True, eq=False)
class QueryGroups:
    """Which rows belong to which query.

    Attributes
    ----------
    ids : ndarray of shape (n_queries,)
        The queries, in order of first appearance.
    bounds : ndarray of shape (n_queries + 1,), intp
        Once grouped, query ``q`` owns rows ``bounds[q]`` to ``bounds[q + 1]``.
    rows : ndarray of shape (n_rows,), intp, or None
        The original row at each grouped place; None if the rows already lie query by query.
    """

    ids: AnyArray
    bounds: IntArray
    rows: IntArray | None

    @property
    def sizes(self) -> IntArray:
        """Number of rows of each query."""
        return np.diff(self.bounds)

    @property
    def codes(self) -> IntArray:
        """Number of the query of each row, in the original order of the rows."""
        codes = np.empty(int(self.bounds[-1]), dtype=np.intp)
        codes[slice(None) if self.rows is None else self.rows] = np.repeat(np.arange(len(self.ids)), self.sizes)
        return codes

    def take(self, values: AnyArray) -> AnyArray:
        """Values of the rows, query by query."""
        return values if self.rows is None else values[self.rows]


def group_queries(qid: ArrayLike | None, n_rows: int, *, of: str = "y_true") -> QueryGroups:
    """Find the rows of each query.

    Parameters
    ----------
    qid : array-like of shape (n_rows,) or None
        The query of each row: numbers, text or anything else hashable, in any order. None is a single query.
    n_rows : int
        The number of rows that qid must have.
    of : str, default="y_true"
        What has that many rows, for the error message.

    Returns
    -------
    QueryGroups

    Examples
    --------
    >>> from rankwise.queries import group_queries
    >>> groups = group_queries(["b", "a", "b"], 3)
    >>> groups.ids.tolist(), groups.bounds.tolist(), groups.rows.tolist()
    (['b', 'a'], [0, 2, 3], [0, 2, 1])
    """
    if qid is None:
        return QueryGroups(np.zeros(1, dtype=np.intp), np.array([0, n_rows], dtype=np.intp), None)
    if np.ma.is_masked(qid):
        raise ValueError("qid has masked entries; every row needs a query")
    labels = np.asarray(qid)
    if isinstance(qid, list | tuple):
        types = {type(label) for label in qid}
        if len(types) > 1 or (int in types and labels.dtype.kind == "f"):
            # NumPy has turned 1 and "1" into the same text, or rounded large integers.
            labels = np.empty(len(qid), dtype=object)
            labels[:] = qid
    if labels.shape != (n_rows,):
        raise ValueError(f"qid has shape {labels.shape}, but {of} has {n_rows} rows; give one value for each")
    # Labels are looked up once per run of equal neighbors, which is all there is to do if rows lie query by query.
    starts = _run_starts(labels)
    run_bounds = np.append(starts, n_rows)
    heads = labels[starts].tolist()
    try:
        distinct = dict.fromkeys(heads)
    except TypeError:
        raise ValueError(
            "qid holds lists or similar objects, which cannot name a query; give one number or text"
        ) from None
    if len(distinct) == len(heads):
        return QueryGroups(labels[starts], run_bounds, None)
    code_of = {label: code for code, label in enumerate(distinct)}
    run_codes = np.array([code_of[label] for label in heads], dtype=np.intp)
    rows, bounds = _queries_jit.group_rows(np.repeat(run_codes, np.diff(run_bounds)), len(code_of))
    return QueryGroups(labels[rows[bounds[:-1]]], bounds, rows)


def check_rows(values: ArrayLike, name: str) -> FloatArray:
    """One number per row as a float64 array that compiled functions take as is (C-contiguous and writeable).

    Parameters
    ----------
    values : array-like of shape (n_rows,)
        Numbers; None and masked values become NaN.
    name : str
        What error messages call them.

    Returns
    -------
    ndarray of shape (n_rows,), float64
        The input itself if it is already all that.
    """
    masked = isinstance(values, np.ma.MaskedArray)
    array = np.ma.filled(values.astype(float), np.nan) if masked else np.asarray(values)
    if array.dtype.kind == "O" and any(isinstance(value, str | bytes) for value in array.ravel()):
        raise TypeError(f"{name} holds text, not numbers")
    if array.ndim == 2 and array.shape[1] > 1:
        raise ValueError(
            f"{name} has shape {array.shape}, but needs one value per row. If each row of the matrix is a query, "
            f"give {name}.ravel() and qid=np.repeat(np.arange({array.shape[0]}), {array.shape[1]})"
        )
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}, but needs one value per row; give {name}.ravel()")
    if array.dtype.kind not in "biufO":
        raise TypeError(f"{name} holds {array.dtype.name} values, not numbers")
    try:
        # To Numba a read-only array is another type, for which it would compile everything again.
        return np.require(array, np.float64, ["C", "A", "W"])
    except (TypeError, ValueError):
        raise TypeError(f"{name} holds something that is not a number") from None


def check_grades(values: ArrayLike, name: str) -> FloatArray:
    """Relevance as finite numbers, one per row and at least one."""
    grade = check_rows(values, name)
    if len(grade) == 0:
        raise ValueError(f"{name} is empty (0 sample(s)); give at least one row")
    if not (grade.min() > -np.inf and grade.max() < np.inf):  # two reductions are faster than isfinite, and NaN fails
        row = int(np.argmin(np.isfinite(grade)))
        raise ValueError(
            f"{name}[{row}] is {grade[row]:g}; relevance is finite. Input {name} contains NaN or infinity: drop rows "
            "without a judgment, or give them grade 0"
        )
    return grade


def check_grades_differ(grade: FloatArray, bounds: IntArray | None = None) -> None:
    """Refuse grades from which nothing can be learned: equal in all rows or, with bounds, within every query.

    Rows of grade NaN do not count.
    """
    starts = np.zeros(1, dtype=np.intp) if bounds is None else bounds[:-1]
    if (np.fmax.reduceat(grade, starts) > np.fmin.reduceat(grade, starts)).any():
        return
    one = " (n_samples = 1)" if len(grade) == 1 else ""
    if bounds is None:
        raise ValueError(f"y is the same in all rows{one}, so there is nothing to learn")
    raise ValueError(
        f"no query has two rows of different relevance{one}, so there is nothing to learn; check y, and that qid names "
        "the query of each row"
    )


def check_grades_not_negative(grade: FloatArray, needed_by: str) -> None:
    """Refuse negative grades; ``needed_by`` names what cannot take them."""
    if grade.min() < 0:
        raise ValueError(f"y holds {grade.min():g}; {needed_by} needs relevance of 0 or more")


def check_length(array: AnyArray, n_rows: int, name: str, *, of: str = "y_true") -> None:
    """Refuse an array that does not have one value for each row."""
    if array.shape != (n_rows,):
        raise ValueError(f"{name} has shape {array.shape}, but {of} has {n_rows} rows; give one value for each")


def check_k(k: int | None, longest: int) -> int:
    """Number of places that count: k, but no more than the longest query has; None is all."""
    if k is None:
        return longest
    if not isinstance(k, Integral) or isinstance(k, bool):
        raise TypeError(f"k is {k!r}; give a whole number of places, or None for all")
    if k < 1:
        raise ValueError(f"k is {k}; at least one place must count, or give None for all")
    return min(int(k), longest)


def query_weights(sample_weight: ArrayLike | None, groups: QueryGroups) -> FloatArray:
    """One weight per query from weights per row, which must agree within a query.

    Parameters
    ----------
    sample_weight : array-like of shape (n_rows,) or None
        Finite and not negative; the same for all rows of a query.
    groups : QueryGroups
        The queries.

    Returns
    -------
    ndarray of shape (n_queries,), float64
    """
    if sample_weight is None:
        return np.ones(len(groups.ids))
    weights = check_rows(sample_weight, "sample_weight")
    check_length(weights, int(groups.bounds[-1]), "sample_weight")
    weights = groups.take(check_weights(weights, len(weights), name="sample_weight"))
    first = weights[groups.bounds[:-1]]
    differs = weights != np.repeat(first, groups.sizes)
    if differs.any():
        query = int(np.searchsorted(groups.bounds, np.argmax(differs), side="right")) - 1
        raise ValueError(
            f"sample_weight differs within query {groups.ids[query]}; a metric weighs whole queries, "
            "so give all rows of a query the same weight"
        )
    return first


def check_pairs(pairs: ArrayLike, pair_weight: ArrayLike | None, n_rows: int) -> tuple[AnyArray, AnyArray, FloatArray]:
    """Preferred rows, the other rows, and weights of comparisons; rows that do not exist are refused."""
    array = np.asarray(pairs)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise ValueError(
            f"pairs has shape {array.shape} and type {array.dtype}; give two whole numbers per comparison: the row "
            "that was preferred, then the other (weights go to pair_weight)"
        )
    if not len(array):
        raise ValueError("pairs is empty, so there is nothing to learn from")
    outside = (array < 0) | (array >= n_rows)
    if outside.any():
        p, side = np.argwhere(outside)[0]
        raise ValueError(f"pairs[{p}, {side}] is {array[p, side]}, but rows are 0 to {n_rows - 1}")
    same = array[:, 0] == array[:, 1]
    if same.any():
        p = int(np.argmax(same))
        raise ValueError(f"pairs[{p}] compares row {array[p, 0]} with itself; leave it out")
    weights = check_weights(pair_weight, len(array), name="pair_weight", each="pair")
    if not (weights > 0).any():
        raise ValueError("pair_weight is zero in all pairs, so there is nothing to learn from")
    columns = np.require(array.T, np.intp, ["C", "W"])
    return columns[0], columns[1], np.require(weights, np.float64, ["C", "W"])


def gains_of(grade: FloatArray, gain: Gain) -> FloatArray:
    """What each grade is worth in (N)DCG: the grade, 2^grade - 1, an entry of a table, or the value of a function."""
    gains = grade
    if isinstance(gain, str) and gain == "exp":
        with np.errstate(over="ignore"):  # refused below
            gains = np.exp2(grade) - 1
    elif callable(gain):
        gains = check_rows(gain(grade), "gain(y_true)")
        check_length(gains, len(grade), "gain(y_true)")
    elif isinstance(gain, Mapping):
        gains = _look_up(grade, gain)
    elif isinstance(gain, Sequence | np.ndarray) and not isinstance(gain, str):
        gains = _look_up(grade, dict(enumerate(gain)))
    elif not (isinstance(gain, str) and gain == "linear"):
        raise ValueError(f"gain is {gain!r}; choose 'linear', 'exp', a table of gains or a function of the grades")
    too_large = ~(np.abs(gains) < _MOST_GAIN)
    if too_large.any():
        row = int(np.argmax(too_large))
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


@dataclass(frozen=True)
class QueryRows:
    """Training rows, query by query, in an order that depends only on the data.

    Attributes
    ----------
    source : ndarray or CSR matrix
        Features as they were given.
    grade, weight : ndarray of shape (n_rows,)
        Relevance and weights of the rows.
    bounds : ndarray of shape (n_queries + 1,)
        Query ``q`` owns rows ``bounds[q]`` to ``bounds[q + 1]``.
    pairs : (winners, losers, weights) or None
        Comparisons of rows that replace grades.
    places : ndarray of shape (n_rows,) or None
        Where the rows are in ``source``; None is one after the other.
    start : ndarray of shape (n_rows,) or None
        Scores that rows have before training; None is 0.
    """

    source: Any
    grade: FloatArray
    weight: FloatArray
    bounds: IntArray
    pairs: tuple[AnyArray, AnyArray, FloatArray] | None = None
    places: IntArray | None = None
    start: FloatArray | None = None

    @cached_property
    def X(self) -> Any:  # noqa: N802
        """Features of the rows, in their order: a copy, which is made when it is first asked for."""
        return self.source if self.places is None else self.source[self.places]

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(self.bounds) - 1

    @property
    def query(self) -> IntArray:
        """Number of the query of each row."""
        return np.repeat(np.arange(self.n_queries), np.diff(self.bounds))

    @classmethod
    def build(
        cls,
        X: Any,
        y: ArrayLike | None,
        qid: ArrayLike | None,
        sample_weight: ArrayLike | None = None,
        pairs: ArrayLike | None = None,
        pair_weight: ArrayLike | None = None,
        *,
        init_score: ArrayLike | None = None,
        seed: int = 0,
    ) -> QueryRows:
        """Check and group rows.

        Rows of weight 0 are dropped. Queries, and rows within a query, are sorted by a hash of what they hold. So
        neither the order of the file nor the names of queries can change what is learned, and rows of equal score rank
        in an order that the seed draws.
        """
        n_rows = X.shape[0]
        if pairs is None and pair_weight is not None:
            raise ValueError(
                "pair_weight weighs comparisons, but there are no pairs; weights of rows are sample_weight"
            )
        if pairs is not None and sample_weight is not None:
            raise ValueError("sample_weight weighs rows with grades; comparisons are weighted by pair_weight")
        grade = np.zeros(n_rows) if y is None else check_grades(y, "y")
        if len(grade) != n_rows:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows and y {len(grade)}"
            )
        weight = np.ones(n_rows)
        if sample_weight is not None:
            weight = check_weights(sample_weight, n_rows, name="sample_weight", each="row")
        start = None if init_score is None else check_rows(init_score, "init_score")
        if start is not None:
            check_length(start, n_rows, "init_score", of="X")
            if not np.isfinite(start).all():
                raise ValueError(
                    f"init_score[{np.argmin(np.isfinite(start))}] is not finite; give a score for each row"
                )
        groups = group_queries(qid, n_rows, of="y")
        if pairs is None and (weight == 0).any():
            kept = weight > 0
            if not kept.any():
                raise ValueError("sample_weight is zero in all rows, so there is nothing to learn from")
            start = None if start is None else start[kept]
            return cls.build(X[kept], grade[kept], groups.codes[kept], weight[kept], init_score=start, seed=seed)
        told = [grade, _with_mean_1(weight)] + ([] if start is None else [start])
        hashes = _row_hashes(X, told, seed)
        hashes = hashes if groups.rows is None else hashes[groups.rows]
        sizes = np.diff(groups.bounds)
        query = np.repeat(np.arange(len(sizes)), sizes)
        query_hashes = np.add.reduceat(hashes, groups.bounds[:-1])
        places = np.lexsort((hashes, query, query_hashes[query]))
        rows = places if groups.rows is None else groups.rows[places]
        sizes = sizes[np.argsort(query_hashes, kind="stable")]
        bounds = np.concatenate(([0], np.cumsum(sizes))).astype(np.intp)
        checked = None if pairs is None else _sorted_pairs(pairs, pair_weight, rows)
        start = None if start is None else start[rows]
        return cls(X, grade[rows], np.array(weight[rows]), bounds, checked, rows, start)

    def started(self, score: FloatArray) -> FloatArray:
        """Scores that add to those that the rows have before training."""
        return score if self.start is None else score + self.start

    def with_relative_weights(self) -> QueryRows:
        """The same with weights, of rows and of comparisons, whose mean is 1."""
        pairs = self.pairs and (*self.pairs[:2], _with_mean_1(self.pairs[2]))
        return replace(self, weight=_with_mean_1(self.weight), pairs=pairs)

    def split(self, fraction: float, rng: np.random.Generator) -> tuple[QueryRows, QueryRows]:
        """Two parts with whole queries; the second holds the fraction of the queries, at least one."""
        n_held_out = max(1, round(fraction * self.n_queries))
        if n_held_out >= self.n_queries:
            raise ValueError(
                f"a part of {self.n_queries} {'query' if self.n_queries == 1 else 'queries'} cannot be held out for "
                "early stopping; give eval_set=(X, y, qid), or more queries"
            )
        held_out = np.zeros(self.n_queries, dtype=bool)
        held_out[rng.permutation(self.n_queries)[:n_held_out]] = True
        return self.take_queries(~held_out), self.take_queries(held_out)

    def take_queries(self, queries: AnyArray) -> QueryRows:
        """The rows of the queries where the Boolean array is True."""
        sizes = np.diff(self.bounds)
        rows = np.repeat(queries, sizes)
        bounds = np.concatenate(([0], np.cumsum(sizes[queries]))).astype(np.intp)
        places = np.flatnonzero(rows) if self.places is None else self.places[rows]
        start = None if self.start is None else self.start[rows]
        return replace(
            self, grade=self.grade[rows], weight=self.weight[rows], bounds=bounds, places=places, start=start
        )


def _run_starts(labels: AnyArray) -> IntArray:
    """First row of each run of equal labels."""
    try:
        changes = np.asarray(labels[1:] != labels[:-1], dtype=bool)
    except TypeError:
        raise ValueError(
            "qid holds pandas.NA or similar values, which equal nothing; every row needs a query"
        ) from None
    starts = np.concatenate(([0], np.flatnonzero(changes) + 1)).astype(np.intp)
    heads = labels[starts]
    missing = heads != heads if heads.dtype != object else np.array([v is None or v != v for v in heads])
    if missing.any():  # NaN, NaT and None; each begins a run
        raise ValueError(f"qid[{starts[np.argmax(missing)]}] is missing; every row needs a query")
    return starts


def _look_up(grade: FloatArray, table: Mapping[float, float]) -> FloatArray:
    grades, inverse = np.unique(grade, return_inverse=True)
    unknown = [value for value in grades.tolist() if value not in table]
    if unknown:
        raise ValueError(f"y_true holds the grade {unknown[0]:g}, for which gain has no entry; it has {list(table)}")
    return check_rows([table[value] for value in grades.tolist()], "gain")[inverse]


def _with_mean_1(weights: FloatArray) -> FloatArray:
    shares = weights / weights.max()  # so that their sum cannot overflow
    return shares / shares.mean()


def _row_hashes(X: Any, told: list[FloatArray], seed: int) -> AnyArray:
    """A number for each row that depends on what it holds, not on where it stands; ``told`` is what X lacks."""
    n_rows = X.shape[0]
    if hasattr(X, "indptr"):  # sparse: the sum over the entries of a row, in whatever order they are
        entries = _hash_columns((X.indices.astype(np.uint64), X.data), X.nnz, seed)
        features = np.zeros(n_rows, dtype=np.uint64)
        np.add.at(features, np.repeat(np.arange(n_rows), np.diff(X.indptr)), entries)
    else:
        features = _hash_columns(X.T, n_rows, seed)
    return _hash_columns((features, *told), n_rows, seed)


def _hash_columns(columns: Iterable[AnyArray], n_rows: int, seed: int) -> AnyArray:
    """Hash columns of numbers or hashes into one: for each column, a step of the SplitMix64 generator."""
    state = np.full(n_rows, seed, dtype=np.uint64)
    for column in columns:  # one by one: a copy of all of X may not fit into memory
        bits = column
        if column.dtype != np.uint64:
            plain = np.ascontiguousarray(column + 0.0)  # -0.0 + 0.0 is 0.0
            missing = np.isnan(plain)
            if missing.any():
                plain[missing] = np.nan  # there are several NaN, such as 0 / 0 with its sign
            bits = plain.view(np.uint64)
        state = (state ^ bits) + np.uint64(0x9E3779B97F4A7C15)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state ^= state >> np.uint64(31)
    return state


def _sorted_pairs(pairs: ArrayLike, pair_weight: ArrayLike | None, rows: AnyArray) -> tuple[Any, Any, FloatArray]:
    winners, losers, weights = check_pairs(pairs, pair_weight, len(rows))
    place = np.empty_like(rows)
    place[rows] = np.arange(len(rows))
    winners, losers = place[winners], place[losers]
    order = np.lexsort((weights, losers, winners))
    return winners[order], losers[order], weights[order]
