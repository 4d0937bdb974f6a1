"""Rows that belong to queries: which rows go together, and what is checked before they are scored."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from rankwise._typing import ArrayLike, FloatArray, IntArray
from rankwise._validation import check_weights
from rankwise.metrics import retrieval_jit

AnyArray = np.ndarray[Any, Any]


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
        The original row at each grouped place; None where the rows already lie query by query.
    """

    ids: AnyArray
    bounds: IntArray
    rows: IntArray | None

    def take(self, values: AnyArray) -> AnyArray:
        """Values of the rows, query by query."""
        return values if self.rows is None else values[self.rows]

    @property
    def sizes(self) -> IntArray:
        """Number of rows of each query."""
        return np.diff(self.bounds)


def group_queries(qid: ArrayLike | None, n_rows: int) -> QueryGroups:
    """Find the rows of each query.

    Parameters
    ----------
    qid : array-like of shape (n_rows,) or None
        The query of each row: numbers, texts or anything else hashable, in any order. None is a single query.
    n_rows : int
        The number of rows there must be.

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
    labels = _query_labels(qid)
    check_length(labels, n_rows, "qid")
    # Labels are looked up once per run of equal neighbours: that is all there is to do where rows lie together.
    run_starts = _run_starts(labels)
    run_bounds = np.append(run_starts, n_rows)
    heads = labels[run_starts].tolist()
    try:
        distinct = dict.fromkeys(heads)
    except TypeError:
        raise ValueError("qid holds lists or the like, which cannot name a query; give one number or text") from None
    if len(distinct) == len(heads):
        return QueryGroups(labels[run_starts], run_bounds, None)
    code_of = {label: code for code, label in enumerate(distinct)}
    run_codes = np.array([code_of[label] for label in heads], dtype=np.intp)
    rows, bounds = retrieval_jit.group_rows(np.repeat(run_codes, np.diff(run_bounds)), len(code_of))
    return QueryGroups(labels[rows[bounds[:-1]]], bounds, rows)


def check_rows(values: ArrayLike, name: str) -> FloatArray:
    """One number per row as a float64 array that the kernels take as it is (C-contiguous and writeable).

    Parameters
    ----------
    values : array-like of shape (n_rows,)
        Numbers; None and masked values become NaN.
    name : str
        What error messages call them.

    Returns
    -------
    ndarray of shape (n_rows,), float64
        The input itself where it already is all that.
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
        # A read-only array is another type to Numba, and would be compiled for all over again.
        return np.require(array, np.float64, ["C", "A", "W"])
    except (TypeError, ValueError):
        raise TypeError(f"{name} holds something that is not a number") from None


def check_length(array: AnyArray, n_rows: int, name: str) -> None:
    """Refuse an array that does not have one value for each row of y_true."""
    if array.shape != (n_rows,):
        raise ValueError(f"{name} has shape {array.shape}, but y_true has {n_rows} rows; give one value for each")


def check_k(k: int | None, groups: QueryGroups) -> int:
    """Number of places that count: k, but no more than the longest query has; None is all."""
    longest = int(groups.sizes.max())
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


def _query_labels(qid: ArrayLike) -> AnyArray:
    if np.ma.is_masked(qid):
        raise ValueError("qid has masked entries; every row needs a query")
    labels = np.asarray(qid)
    if isinstance(qid, list | tuple):
        types = {type(label) for label in qid}
        if len(types) > 1 or (int in types and labels.dtype.kind == "f"):
            # NumPy has turned 1 and "1" into one text, or large whole numbers into rounded ones.
            labels = np.empty(len(qid), dtype=object)
            labels[:] = qid
    return labels


def _run_starts(labels: AnyArray) -> IntArray:
    """First row of each run of equal labels."""
    try:
        changes = np.asarray(labels[1:] != labels[:-1], dtype=bool)
    except TypeError:
        raise ValueError("qid holds pandas.NA or the like, which equals nothing; every row needs a query") from None
    starts = np.concatenate(([0], np.flatnonzero(changes) + 1)).astype(np.intp)
    heads = labels[starts]
    missing = heads != heads if heads.dtype != object else np.array([v is None or v != v for v in heads])
    if missing.any():  # NaN, NaT and None; each begins a run
        raise ValueError(f"qid[{starts[np.argmax(missing)]}] is missing; every row needs a query")
    return starts
