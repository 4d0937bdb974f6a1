"""Conditions on scores and features under which trees and forests provably learn.

Every function takes a `RankingOracle`, whose law is known, or data: then the law is that of the rows. The features are
bits: the cube is taken as an array with three values per feature (0, 1, both), so that all cells, and with them all
sets of splits, cost 3^d numbers. `noise_conditions` has the conditions of pairwise rankers.
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Any, Literal, NamedTuple

import numpy as np

from rankwise._typing import ArrayLike, FloatArray, IntArray
from rankwise._validation import check_choice, check_numbers, check_whole_number
from rankwise.data import Rankings
from rankwise.datasets.feature_laws import BinaryFeatures, check_rows
from rankwise.datasets.oracle import RankingOracle

# Numbers in the array of all cells.
_MOST_CELLS = 2**24
# Probabilities that are looked at for the smallest density.
_MOST_PATTERNS = 2**24
# Gains below this share of the variance are rounding.
_ROUNDING = 1e-12

Target = Literal["scores", "positions"]


def submodularity_constant(
    source: RankingOracle | ArrayLike,
    y: ArrayLike | None = None,
    *,
    target: Target = "scores",
    columns: ArrayLike | None = None,
    per_item: bool = False,
) -> float | FloatArray:
    r"""Smallest C for which adding a split late helps at most C times as much as adding it early.

    *Definition.* With :math:`V(S) = E[E[f(x) | x_S]^2]`, the smallest C such that :math:`V(T \cup i) - V(T) \le C (V(S
    \cup i) - V(S))` for all :math:`S \subseteq T` and i: conditions 1.2, 3 and 8 of the paper, which Level-Splits trees
    need. 1 for additive functions of independent bits; infinite if a feature matters only together with others.

    Parameters
    ----------
    source : RankingOracle, or array-like of shape (n, d)
        The oracle, for the exact value, or features, all 0 or 1.
    y : array-like of shape (n,) or (n, k), or Rankings, optional
        With features: the values of f, such as noisy scores, or rankings (positions divided by k).
    target : {"scores", "positions"}, default="scores"
        What f is, of an oracle: the scores m, of which the theorems speak, or the places of h(x) divided by k, which
        their algorithms learn.
    columns : array-like of int, optional
        Features to look at; by default all, or of an oracle with linear scores the informative ones.
    per_item : bool, default=False
        Return one value per item instead of the largest.

    Returns
    -------
    float or ndarray of shape (k,)
        At least 1. From samples, an estimate: V is corrected for noise, and gains below what noise may produce count as
        that much, so an infinite constant comes out large.

    Notes
    -----
    The cost is 3^d for d columns; more than about 13 are refused.

    Examples
    --------
    >>> from rankwise.datasets import RankingOracle, submodularity_constant
    >>> round(submodularity_constant(RankingOracle.sparse(100, 3, 4, random_state=0)), 6)
    1.0
    >>> both = RankingOracle(lambda X: (X.prod(axis=1)[:, None] == [0, 1]) / 2, features=3)
    >>> round(submodularity_constant(both), 6)
    4.0
    """
    cells = _Cells.build(source, y, target, columns)
    V = cells.heterogeneity()
    result = np.ones(cells.n_items)
    for axis in range(cells.n_features):
        gain = np.take(V, 1, axis=axis) - np.take(V, 0, axis=axis)
        least = np.maximum(gain, cells.tolerance)  # over all subsets of a set of splits
        for other in range(cells.n_features - 1):
            with_other = [slice(None)] * other + [slice(1, 2)]
            without = [slice(None)] * other + [slice(0, 1)]
            least[tuple(with_other)] = np.minimum(least[tuple(with_other)], least[tuple(without)])
        result = np.maximum(result, _largest_ratio(gain, least, cells.tolerance))
    return result if per_item else float(result.max())


def diminishing_returns_constant(
    source: RankingOracle | ArrayLike,
    y: ArrayLike | None = None,
    *,
    target: Target = "scores",
    columns: ArrayLike | None = None,
    per_item: bool = False,
) -> float | FloatArray:
    r"""Smallest C for which a split helps a cell at most C times as much as any cell around it.

    *Definition.* The smallest C with :math:`V_\ell(A', T \cup i) - V_\ell(A', T) \le C (V_\ell(A, i) - V_\ell(A))` for
    all cells :math:`A' \subseteq A`, sets T and features i, where :math:`V_\ell` is V within a cell: conditions 4 and 9
    of the paper, which Breiman's trees need. The left side is a mean over the cells that T makes of A', so it suffices
    to look at empty T.

    Parameters
    ----------
    source, y, target, columns, per_item
        See `submodularity_constant`.

    Returns
    -------
    float or ndarray of shape (k,)
        At least 1; of an oracle, at least its constant of `submodularity_constant`.

    Examples
    --------
    >>> from rankwise.datasets import RankingOracle, diminishing_returns_constant
    >>> both = RankingOracle(lambda X: (X.prod(axis=1)[:, None] == [0, 1]) / 2, features=3)
    >>> round(diminishing_returns_constant(both), 6)
    16.0
    """
    cells = _Cells.build(source, y, target, columns)
    result = np.ones(cells.n_items)
    for axis in range(cells.n_features):
        gain, tolerance = cells.gains_within(axis)
        least = np.maximum(gain, tolerance)  # over all cells around a cell
        for other in range(cells.n_features - 1):
            around = np.take(least, [2], axis=other)
            inside = (slice(None),) * other + (slice(0, 2),)
            least[inside] = np.minimum(least[inside], around)
        result = np.maximum(result, _largest_ratio(gain, least, tolerance))
    return result if per_item else float(result.max())


def strong_sparsity(
    source: RankingOracle | ArrayLike,
    y: ArrayLike | None = None,
    *,
    relevant: ArrayLike | None = None,
    target: Target = "scores",
    columns: ArrayLike | None = None,
    per_item: bool = False,
) -> float | FloatArray:
    r"""By how much every relevant feature beats every other one, whatever the splits so far.

    *Definition.* The largest :math:`\beta` with :math:`V(T \cup j) - V(T) + \beta \le V(T \cup i) - V(T)` for all
    relevant i, all other j and all T without i: condition 5 of the paper, which fully grown forests need.

    Parameters
    ----------
    source, y, target, columns, per_item
        See `submodularity_constant`.
    relevant : array-like of int, optional
        The relevant features, for all items; by default, of an oracle, those that change the value of an item.

    Returns
    -------
    float or ndarray of shape (k,)
        Positive if the condition holds. Where all columns are relevant, the smallest gain of one: what would
        be left beside independent noise features.

    Examples
    --------
    >>> from rankwise.datasets import RankingOracle, strong_sparsity
    >>> weak = RankingOracle(lambda X: X[:, :2] @ [[0.5, 0.1], [0.1, 0.3]], features=4)
    >>> round(strong_sparsity(weak), 4)  # 0.1^2 / 4
    0.0025
    """
    cells = _Cells.build(source, y, target, columns)
    V = cells.heterogeneity()
    d, k = cells.n_features, cells.n_items
    matters = cells.relevant(relevant)
    result = np.full(k, np.inf)
    gains = []
    for axis in range(d):
        gain = np.diff(V, axis=axis)
        gains.append(np.concatenate([gain, np.zeros_like(gain)], axis=axis))  # a feature in T gains no more
    for item in range(k):
        others = [gains[j][..., item] for j in range(d) if not matters[item, j]]
        most = np.max(others, axis=0) if others else np.zeros(V.shape[:-1])
        for i in np.flatnonzero(matters[item]):
            lead = np.take(gains[i][..., item] - most, 0, axis=i)
            result[item] = min(result[item], lead.min())
    return result if per_item else float(result.min())


def density_lower_bound(
    source: RankingOracle | ArrayLike, size: int, *, columns: ArrayLike | None = None, positive: bool = False
) -> float:
    r"""Smallest probability of a pattern of bits, against that of fair coins.

    *Definition.* The largest :math:`\zeta` with :math:`P(x_Q = w) \ge \zeta / 2^q` for every set Q of q features and
    every w: condition 6 of the paper, which fully grown forests need.

    Parameters
    ----------
    source : RankingOracle or array-like of shape (n, d)
        The oracle, for the exact value, or features, all 0 or 1, for that of the sample.
    size : int
        q.
    columns : array-like of int, optional
        Features that Q is made of; by default all.
    positive : bool, default=False
        Pass over patterns that do not occur, as theorem A.5 does (with ``columns`` the relevant features and ``size``
        their number).

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> from rankwise.datasets import BinaryFeatures, RankingOracle, density_lower_bound
    >>> density_lower_bound(RankingOracle(lambda X: X, features=BinaryFeatures(8, 0.25)), 2)
    0.25
    """
    q = check_whole_number("size", size, at_least=1)
    if isinstance(source, RankingOracle) and isinstance(source.feature_law, BinaryFeatures):
        law = source.feature_law
        shares = np.broadcast_to(np.asarray(law.probability, dtype=np.float64), law.n_features)
        chosen = shares if columns is None else shares[_column_numbers(columns, len(shares))]
        _check_size(q, len(chosen))
        return float(np.prod(np.sort(2 * np.minimum(chosen, 1 - chosen))[:q]))
    X, weights = _rows(source)
    X = X if columns is None else X[:, _column_numbers(columns, X.shape[1])]
    _check_bits(X)
    _check_size(q, X.shape[1])
    if comb(X.shape[1], q) * (len(X) + 2.0**q) > _MOST_PATTERNS:
        raise ValueError(
            f"there are {comb(X.shape[1], q)} sets of {q} of {X.shape[1]} features, too many to look at; choose some "
            "columns, or a smaller size"
        )
    least = np.inf
    for features in combinations(range(X.shape[1]), q):
        pattern = X[:, features].astype(np.intp) @ (1 << np.arange(q))
        mass = np.bincount(pattern, weights, 2**q)
        least = min(least, float(mass[mass > 0].min() if positive else mass.min()))
    return least * 2**q


class _Cells(NamedTuple):
    """Mass, means and squares of all cells of a cube: axes are features with the values 0, 1, both; then items."""

    mass: FloatArray  # (3, ..., 3)
    sums: FloatArray  # (3, ..., 3, k)
    squares: FloatArray  # the same
    n_rows: int | None  # of a sample; None where the law is known
    is_cube: bool  # whether no corner has mass 0

    @classmethod
    def build(cls, source: Any, y: ArrayLike | None, target: Target, columns: ArrayLike | None) -> _Cells:
        check_choice("target", target, ("scores", "positions"))
        if isinstance(source, RankingOracle):
            if y is not None:
                raise ValueError("y belongs to features; an oracle knows its scores")
            X, weights, chosen = _support(source, columns)
            values = source.scores(X) if target == "scores" else source.ranking(X) / source.ranking(X[:1]).shape[1]
            X = X[:, chosen]
        else:
            X, weights = _rows(source)
            X = X if columns is None else X[:, _column_numbers(columns, X.shape[1])]
            values = _check_values(y, len(X))
        _check_bits(X)
        d, k = X.shape[1], values.shape[1]
        if 3.0**d * k > _MOST_CELLS:
            raise ValueError(
                f"{d} features make 3^{d} cells, for {k} items more than {_MOST_CELLS} numbers; choose fewer columns"
            )
        corner = X.astype(np.intp) @ (1 << np.arange(d)[::-1])
        mass = np.bincount(corner, weights, 2**d)
        moments = [
            np.stack([np.bincount(corner, weights * column**power, 2**d) for column in values.T], axis=1)
            for power in (1, 2)
        ]
        is_cube = bool((mass > 0).all())
        n_rows = None if isinstance(source, RankingOracle) else len(X)
        tables = [mass.reshape((2,) * d), *(moment.reshape((2,) * d + (k,)) for moment in moments)]
        for axis in range(d):
            tables = [np.concatenate([table, table.sum(axis=axis, keepdims=True)], axis=axis) for table in tables]
        return cls(tables[0], tables[1], tables[2], n_rows, is_cube)

    @property
    def n_features(self) -> int:
        return self.mass.ndim

    @property
    def n_items(self) -> int:
        return self.sums.shape[-1]

    @property
    def tolerance(self) -> FloatArray:
        """What a gain of nothing may look like: rounding, or in a sample the noise of as many gains as there are."""
        everything = (2,) * self.n_features
        variance = self.squares[everything] - self.sums[everything] ** 2
        if self.n_rows is None:
            return _ROUNDING * np.maximum(self.squares[everything], 1e-300)
        # With c cells, noise alone gains about sqrt(2 c) times its variance, divided by the number of rows.
        cells = min(2.0 ** (self.n_features + 1), self.n_rows)
        return variance * np.sqrt(2 * cells * 2 * np.log(self.n_features * cells + 1)) / self.n_rows

    def _squared_means(self) -> FloatArray:
        """Mass times squared mean of each cell, corrected in a sample for the noise of the mean."""
        mass = self.mass[..., None]
        squared = np.divide(self.sums**2, mass, out=np.zeros_like(self.sums), where=mass > 0)
        if self.n_rows is None:
            return squared
        count = np.rint(mass * self.n_rows)
        within = np.maximum(self.squares - squared, 0.0) * self.n_rows
        finest = (slice(0, 2),) * self.n_features
        freedom = np.maximum(count[finest] - 1, 0).sum()
        pooled = within[finest].reshape(-1, self.n_items).sum(axis=0) / max(freedom, 1)
        variance = np.where(count > 1, within / np.maximum(count - 1, 1), pooled)
        return squared - np.where(count > 0, variance / self.n_rows, 0.0)

    def heterogeneity(self) -> FloatArray:
        """V of every set of splits: (2, ..., 2, k), where 1 means that a feature is in the set."""
        V = self._squared_means()
        for axis in range(self.n_features):
            zero, one, both = (np.take(V, [value], axis=axis) for value in range(3))
            V = np.concatenate([both, zero + one], axis=axis)
        return V

    def gains_within(self, axis: int) -> tuple[FloatArray, FloatArray]:
        """Gain of a split in every cell, with that axis left out, and what a gain of nothing may look like there."""
        squared = self._squared_means()
        zero, one, both = (np.take(squared, value, axis=axis) for value in range(3))
        mass = np.take(self.mass, 2, axis=axis)[..., None]
        gain = np.divide(zero + one - both, mass, out=np.zeros_like(both), where=mass > 0)
        with np.errstate(divide="ignore"):
            return gain, self.tolerance / mass  # infinite where there are no rows

    def relevant(self, given: ArrayLike | None) -> np.ndarray:
        """Which features matter for each item: (k, d)."""
        d, k = self.n_features, self.n_items
        if given is not None:
            matters = np.zeros((k, d), dtype=bool)
            matters[:, _column_numbers(given, d)] = True
            return matters
        if self.n_rows is not None or not self.is_cube:
            raise ValueError("relevant is missing: samples do not say which features matter; name their columns")
        finest = (slice(0, 2),) * d
        means = self.sums[finest] / self.mass[finest][..., None]
        return np.stack(
            [np.abs(np.diff(means, axis=axis)).reshape(-1, k).max(axis=0) > 1e-9 for axis in range(d)], axis=1
        )


def _largest_ratio(gain: FloatArray, least: FloatArray, tolerance: FloatArray) -> FloatArray:
    """Largest ratio of gains per item, of those that are more than nothing."""
    ratio = np.where(gain > tolerance, gain / least, 0.0)
    # Against a gain at the level of rounding.
    return np.where(ratio > 1 / np.sqrt(_ROUNDING), np.inf, ratio).reshape(-1, gain.shape[-1]).max(axis=0)


def _support(oracle: RankingOracle, columns: ArrayLike | None) -> tuple[FloatArray, FloatArray, IntArray]:
    """Rows and probabilities of an oracle, and the columns to look at.

    Of independent bits, those that no score depends on, or that are not looked at and not informative, stay 0.
    """
    law = oracle.feature_law
    informative = getattr(oracle.m, "informative", None)
    if not isinstance(law, BinaryFeatures) or informative is None:
        X, weights = law.support()
        return X, weights, _column_numbers(np.arange(X.shape[1]) if columns is None else columns, X.shape[1])
    used = np.unique(np.concatenate(informative)).astype(np.intp)
    chosen = used if columns is None else _column_numbers(columns, law.n_features)
    used = np.union1d(used, chosen)
    shares = np.broadcast_to(np.asarray(law.probability, dtype=np.float64), law.n_features)
    part, weights = BinaryFeatures(len(used), shares[used]).support()
    X = np.zeros((len(part), law.n_features))
    X[:, used] = part
    return X, weights, chosen


def _rows(source: Any) -> tuple[FloatArray, FloatArray]:
    if isinstance(source, RankingOracle):
        return source.feature_law.support()
    X = check_rows("X", source)
    return X, np.full(len(X), 1 / len(X))


def _check_values(y: Any, n: int) -> FloatArray:
    if y is None:
        raise ValueError("y is missing: give the scores or rankings of the rows of X")
    if isinstance(y, Rankings):
        if not np.isfinite(y.positions).all():
            raise ValueError("y has missing or unlisted items; places of items need full rankings")
        values = y.positions / y.n_items
    else:
        values = check_numbers("y", y)
    values = values.reshape(len(values), -1) if values.ndim else values.reshape(1, 1)
    if len(values) != n or not np.isfinite(values).all():
        raise ValueError(f"y has {len(values)} rows for {n} rows of X, or values that are not finite")
    return values


def _check_bits(X: FloatArray) -> None:
    if not np.isin(X, (0, 1)).all():
        row, column = np.argwhere(~np.isin(X, (0, 1)))[0]
        raise ValueError(f"X[{row}, {column}] is {X[row, column]:g}, but these conditions are for features 0 and 1")


def _check_size(q: int, d: int) -> None:
    if q > d:
        raise ValueError(f"size is {q}, but there are {d} features to choose from")


def _column_numbers(columns: ArrayLike, d: int) -> IntArray:
    numbers = np.atleast_1d(np.asarray(columns))
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or not ((numbers >= 0) & (numbers < d)).all():
        raise ValueError(f"columns is {columns!r}; give column numbers from 0 to {d - 1}")
    return np.unique(numbers).astype(np.intp)
