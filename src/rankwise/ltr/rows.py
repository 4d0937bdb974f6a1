"""Rows of queries made ready for training: checked, grouped, and in an order that depends on nothing but the data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankwise._typing import ArrayLike, FloatArray, IntArray
from rankwise.data.weights import check_weights
from rankwise.ltr.gradients import check_grades, check_pairs, check_queries
from rankwise.metrics.queries import QueryGroups

AnyArray = np.ndarray[Any, Any]


@dataclass(frozen=True)
class QueryRows:
    """Training rows, query by query.

    Attributes
    ----------
    X : ndarray or sparse matrix by rows of shape (n_rows, n_features)
        Features.
    grade, weight : ndarray of shape (n_rows,)
        Relevance and weights of the rows.
    bounds : ndarray of shape (n_queries + 1,)
        Query ``q`` owns rows ``bounds[q]`` to ``bounds[q + 1]``.
    pairs : (winners, losers, weights) or None
        Comparisons of rows that take the place of grades.
    """

    X: Any
    grade: FloatArray
    weight: FloatArray
    bounds: IntArray
    pairs: tuple[AnyArray, AnyArray, FloatArray] | None = None

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(self.bounds) - 1

    @property
    def query(self) -> IntArray:
        """Number of the query of each row."""
        return np.repeat(np.arange(self.n_queries), np.diff(self.bounds))

    def with_relative_weights(self) -> QueryRows:
        """The same with weights, of rows and of comparisons, whose mean is 1."""
        pairs = self.pairs and (*self.pairs[:2], _relative(self.pairs[2]))
        return replace(self, weight=_relative(self.weight), pairs=pairs)

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
        seed: int = 0,
    ) -> QueryRows:
        """Check and group rows.

        Rows of weight 0 are left out. Queries, and rows within a query, are sorted by a hash of what they hold. So
        neither the order of the file nor the names of queries can change what is learnt, and rows of equal score rank
        in an order that the seed draws.
        """
        n_rows = X.shape[0]
        if pairs is None and pair_weight is not None:
            raise ValueError(
                "pair_weight weighs comparisons, but there are no pairs; weights of rows are sample_weight"
            )
        grade = np.zeros(n_rows) if y is None else check_grades(y)
        if len(grade) != n_rows:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows and y {len(grade)}"
            )
        if pairs is not None and sample_weight is not None:
            raise ValueError("sample_weight weighs rows with grades; comparisons are weighed by pair_weight")
        weight = check_weights(sample_weight, n_rows, name="sample_weight", each="row")
        groups = check_queries(qid, n_rows)
        if pairs is None and (weight == 0).any():
            kept = weight > 0
            if not kept.any():
                raise ValueError("sample_weight is zero in all rows, so there is nothing to learn from")
            return cls.build(X[kept], grade[kept], query_codes(groups)[kept], weight[kept], seed=seed)
        names = _names(X, grade, _relative(weight), seed)
        grouped = groups.take(names)
        query = np.repeat(np.arange(len(groups.ids)), groups.sizes)
        query_names = np.add.reduceat(grouped, groups.bounds[:-1])
        places = np.lexsort((grouped, query, query_names[query]))
        rows = places if groups.rows is None else groups.rows[places]
        sizes = groups.sizes[np.argsort(query_names, kind="stable")]
        bounds = np.concatenate(([0], np.cumsum(sizes))).astype(np.intp)
        checked = None if pairs is None else _sorted_pairs(pairs, pair_weight, rows)
        return cls(X[rows], grade[rows], np.array(weight[rows]), bounds, checked)

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
        return self._take(~held_out), self._take(held_out)

    def _take(self, queries: AnyArray) -> QueryRows:
        sizes = np.diff(self.bounds)
        rows = np.repeat(queries, sizes)
        bounds = np.concatenate(([0], np.cumsum(sizes[queries]))).astype(np.intp)
        return replace(self, X=self.X[rows], grade=self.grade[rows], weight=self.weight[rows], bounds=bounds)


def query_codes(groups: QueryGroups) -> IntArray:
    """Number of the query of each row, in the rows' own order."""
    codes = np.empty(int(groups.bounds[-1]), dtype=np.intp)
    codes[slice(None) if groups.rows is None else groups.rows] = np.repeat(np.arange(len(groups.ids)), groups.sizes)
    return codes


def check_varied(rows: QueryRows) -> None:
    """Refuse rows of which no query holds two that differ in relevance."""
    starts = rows.bounds[:-1]
    if not (np.maximum.reduceat(rows.grade, starts) > np.minimum.reduceat(rows.grade, starts)).any():
        one = " (n_samples = 1)" if len(rows.grade) == 1 else ""
        raise ValueError(
            f"no query has two rows of different relevance{one}, so there is nothing to learn; check y, and that qid "
            "names the query of each row"
        )


def check_query_weights(rows: QueryRows, what: str) -> FloatArray:
    """The weight of each query; weights that differ within one are refused."""
    weight = rows.weight[rows.bounds[:-1]]
    if (rows.weight != np.repeat(weight, np.diff(rows.bounds))).any():
        raise ValueError(f"sample_weight differs within a query; {what} takes one weight per query")
    return weight


# ---------------------------------------------------------------------------------------------------------------------


def _relative(weights: FloatArray) -> FloatArray:
    shares = weights / weights.max()  # whose sum cannot overflow
    return shares / shares.mean()


def _names(X: Any, grade: FloatArray, weight: FloatArray, seed: int) -> AnyArray:
    """A number for each row by what it holds, and not by where it stands."""
    # Column by column: a copy of all of X may not fit.
    features = _sparse_names(X, seed) if hasattr(X, "indptr") else _hashed(map(_bits, X.T), len(X), seed)
    return _hashed((features, _bits(grade), _bits(weight)), len(grade), seed)


def _sparse_names(X: Any, seed: int) -> AnyArray:
    """The same for a sparse matrix by rows: the sum over its entries, in whatever order they are."""
    names = np.zeros(X.shape[0], dtype=np.uint64)
    entries = _hashed((X.indices.astype(np.uint64), _bits(X.data)), X.nnz, seed)
    np.add.at(names, np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), entries)
    return names


def _hashed(columns: Iterable[AnyArray], n_rows: int, seed: int) -> AnyArray:
    """Hash the columns into one: for each, a step of the SplitMix64 generator."""
    state = np.full(n_rows, seed, dtype=np.uint64)
    for column in columns:
        state = (state ^ column) + np.uint64(0x9E3779B97F4A7C15)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state ^= state >> np.uint64(31)
    return state


def _bits(values: FloatArray) -> AnyArray:
    plain = np.ascontiguousarray(values + 0.0)  # -0.0 + 0.0 is 0.0
    missing = np.isnan(plain)
    if missing.any():
        plain[missing] = np.nan  # there are many NaN, e.g. one with a sign that is 0 / 0
    return plain.view(np.uint64)


def _sorted_pairs(pairs: ArrayLike, pair_weight: ArrayLike | None, rows: AnyArray) -> tuple[Any, Any, FloatArray]:
    winners, losers, weights = check_pairs(pairs, pair_weight, len(rows))
    place = np.empty_like(rows)
    place[rows] = np.arange(len(rows))
    winners, losers = place[winners], place[losers]
    order = np.lexsort((weights, losers, winners))
    return winners[order], losers[order], weights[order]
