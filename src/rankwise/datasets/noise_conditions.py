"""Conditions on noise and on what is observed of rankings under which pairwise rankers provably learn.

Every function takes a `RankingOracle`, whose law is known, or data: then the law is that of the rows.
`split_conditions` has the conditions of trees and forests.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from rankwise._typing import ArrayLike, BoolArray, FloatArray, IntArray
from rankwise._validation import check_generator, check_numbers
from rankwise.aggregation.pairs import majority, orders_strictly
from rankwise.data import Rankings
from rankwise.datasets.feature_laws import check_rows
from rankwise.datasets.mechanisms import is_apart
from rankwise.datasets.oracle import RankingOracle

# Probabilities closer to 1/2 than this are even.
_ROUNDING = 1e-12
# Rows that are sampled where an oracle has no small finite support.
_N_SAMPLES = 10_000


class TsybakovNoise(NamedTuple):
    """Parameters of Tsybakov's condition."""

    a: float
    B: float


def transitive_share(source: RankingOracle | ArrayLike, y: ArrayLike | None = None) -> float:
    r"""Share of the features x at which the preferences are strictly stochastically transitive.

    *Definition.* At x no :math:`p_{ij}(x)` is 1/2, and :math:`p_{iu}, p_{uj} > 1/2` implies :math:`p_{ij} > 1/2`:
    condition 2.1 of the paper holds if the share is 1.

    Parameters
    ----------
    source : RankingOracle, array-like of shape (n, k, k), or array-like of shape (n, d)
        The oracle; pairwise probabilities of rows, as ``predict_pairwise`` returns them; or features, whose equal rows
        are taken together.
    y : Rankings or array-like of shape (n, k), optional
        With features: rankings. A pair that none of the rankings of a row compares counts as even.

    Returns
    -------
    float
        From 0 to 1. Of an oracle exact if its features have at most 65,536 rows (16 bits), otherwise the share among
        10,000 sampled rows, always the same ones, with a standard error of at most 0.005: then a share of 1 says that
        exceptions are rare, not that there are none. With noise for which
        `RankingOracle.preference_probability` draws rankings, nearly even pairs are decided by chance.

    Examples
    --------
    >>> from rankwise.datasets import GaussianNoise, RankingOracle, transitive_share
    >>> transitive_share(RankingOracle(lambda X: X @ [[1, 0, 2], [0, 3, 2]], GaussianNoise(0.1), features=2))
    0.75
    """
    P, weights = _pairwise(source, y)
    return float(weights @ orders_strictly(majority(P)))


def tsybakov_noise(
    source: RankingOracle | ArrayLike, y: ArrayLike | None = None, *, a: float | None = None
) -> TsybakovNoise:
    r"""How rarely preferences are nearly even: the parameters of Tsybakov's condition.

    *Definition.* :math:`P(|p_{ij}(x) - 1/2| < 2t) \le B t^{a / (1 - a)}` for all t and all pairs: condition 2.2 of the
    paper. For a given a in [0, 1), the smallest B; the larger a, the faster rates are.

    Parameters
    ----------
    source, y
        See `transitive_share`.
    a : float, optional
        By default the one at which :math:`P(|p_{ij}(x) - 1/2| < 2t)` falls in the lower half of its range, by a line
        through logarithms, over all pairs.

    Returns
    -------
    TsybakovNoise
        ``a`` and ``B``; B is infinite if a pair is even with a positive probability (unless a is 0). B is exact where
        `transitive_share` is. From sampled rows it is an estimate that may be too large or too small: rows that are
        rare, and even more so an infinite B because of them, can be missed.

    Notes
    -----
    In its proofs the paper uses :math:`|2 p_{ij} - 1| < t`, which is :math:`|p_{ij} - 1/2| < t / 2`; the two forms
    have the same a, and B differs by the factor :math:`4^{a / (1 - a)}`. This is the form of the condition as stated.

    Examples
    --------
    >>> from rankwise.datasets import MallowsNoise, RankingOracle, tsybakov_noise
    >>> round(tsybakov_noise(RankingOracle(lambda X: X + [0.1, 0], MallowsNoise(1), features=2), a=0.5).B, 2)
    8.66
    """
    P, weights = _pairwise(source, y)
    first, second = np.triu_indices(P.shape[1], 1)
    margins = np.abs(P[:, first, second] - 0.5)
    margins[margins < _ROUNDING] = 0.0
    if a is None:
        a = _tsybakov_exponent(margins, weights)
    if not 0 <= a < 1:
        raise ValueError(f"a is {a}, but lies between 0 and 1, and below 1")
    if a == 0:
        return TsybakovNoise(0.0, 1.0)
    B = 0.0
    for column in margins.T:
        order = np.argsort(column)
        below = np.cumsum(weights[order])  # of margins up to and including each; the largest of equal ones counts
        t = column[order] / 2
        with np.errstate(divide="ignore"):
            B = max(B, float(np.max(below / t ** (a / (1 - a)))))
    return TsybakovNoise(float(a), B)


def deletion_tolerance(source: RankingOracle | ArrayLike, X: ArrayLike | None = None) -> float:
    r"""Smallest probability that both items of a pair are observed.

    *Definition.* The largest :math:`\phi` with :math:`q_{ij}(x) \ge \phi` for all x and pairs: condition 2.3 of the
    paper.

    Parameters
    ----------
    source : RankingOracle, Rankings or array-like of shape (n, k)
        The oracle, or rankings: then the share of those that have both items.
    X : array-like of shape (n, d), optional
        With rankings: their features; shares are taken over equal rows. Without, over all rankings, which is an upper
        bound of what holds for every x. With an oracle: rows to look at in place of all x.

    Returns
    -------
    float
        From 0 to 1. Of an oracle exact, for the rows of X or for all x, if its features have at most 65,536 rows (16
        bits) or its ``survival`` is no function of x. Otherwise the smallest value over 10,000 sampled rows, which is
        an upper bound: a warning says so, and rows given as X lower it.

    Examples
    --------
    >>> from rankwise.datasets import deletion_tolerance
    >>> deletion_tolerance([[1, 2, float("nan")], [1, 2, 3]])
    0.5
    """
    if isinstance(source, RankingOracle):
        return replace(source, partition=None).phi(X)
    positions = Rankings(source).positions
    has = ~np.isnan(positions)
    return _smallest_share(has[:, :, None] & has[:, None, :], X)


def partial_tolerance(source: RankingOracle | ArrayLike, X: ArrayLike | None = None) -> float:
    r"""Smallest probability that the items of a pair do not tie.

    *Definition.* The largest :math:`\xi` such that, for all x and pairs, the two items fall into different blocks of
    the partition with probability at least :math:`\xi`: condition 7 of the paper.

    Parameters
    ----------
    source, X
        See `deletion_tolerance`; missing and unlisted items do not count as apart.

    Returns
    -------
    float
        From 0 to 1. Of an oracle exact for at most 65,536 rows, and for any features with blocks that are no function
        and noise on places or none; otherwise an upper bound from 10,000 sampled rows, with a warning. Where
        `RankingOracle.observation_probability` draws rankings, the smallest of shares among 1,000 draws, which tends
        to be too small.

    Examples
    --------
    >>> from rankwise.datasets import RankingOracle, partial_tolerance
    >>> partial_tolerance(RankingOracle(lambda X: X, features=4, partition="random"))
    0.5
    """
    if isinstance(source, RankingOracle):
        return replace(source, survival=None).phi(X)
    return _smallest_share(is_apart(Rankings(source).positions), X)


def _pairwise(source: Any, y: ArrayLike | None) -> tuple[FloatArray, FloatArray]:
    """Pairwise probabilities of rows, and the probabilities of the rows."""
    if isinstance(source, RankingOracle):
        X, weights = source.rows(None, _N_SAMPLES, check_generator(0, salt="conditions"))
        return source.preference_probability(X), weights
    if y is None:
        P = check_numbers("source", source)
        if P.ndim != 3 or P.shape[1] != P.shape[2] or P.shape[1] < 2:
            raise ValueError(
                f"source has shape {P.shape}; give an oracle, pairwise probabilities (n, k, k), or X and y"
            )
        return P, np.full(len(P), 1 / len(P))
    positions = Rankings(y).positions
    cell, weights = _equal_rows(source, len(positions))
    first, second = positions[:, :, None], positions[:, None, :]
    wins, losses = (_sums_by(cell, part, len(weights)) for part in (first < second, first > second))
    compared = wins + losses
    return np.divide(wins, compared, out=np.full(wins.shape, 0.5), where=compared > 0), weights


def _equal_rows(X: ArrayLike, n: int) -> tuple[IntArray, FloatArray]:
    """The number of the group of equal rows that each row belongs to, and the shares of the groups."""
    rows = check_rows("X", X)
    if len(rows) != n:
        raise ValueError(f"X has {len(rows)} rows for {n} rankings; give one for each")
    _, cell, count = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    return cell.reshape(-1), count / n


def _sums_by(cell: IntArray, values: np.ndarray, n: int) -> FloatArray:
    total = np.zeros((n, *values.shape[1:]))
    np.add.at(total, cell, values)
    return total


def _smallest_share(said: BoolArray, X: ArrayLike | None) -> float:
    """Smallest share over groups of equal rows and pairs."""
    n, k = said.shape[:2]
    cell, weights = (np.zeros(n, dtype=np.intp), np.ones(1)) if X is None else _equal_rows(X, n)
    shares = _sums_by(cell, said, len(weights)) / (weights[:, None, None] * n)
    return float(shares[:, ~np.eye(k, dtype=bool)].min())


def _tsybakov_exponent(margins: FloatArray, weights: FloatArray) -> float:
    """The a of a line through log P(margin <= t) against log t, in the lower half of the margins of all pairs."""
    order = np.argsort(margins, axis=None)
    values = margins.ravel()[order]
    below = np.cumsum(np.repeat(weights, margins.shape[1])[order]) / margins.shape[1]
    lower = (below <= 0.5) & (values > 0)
    if len(np.unique(values[lower])) < 3:
        cure = (
            "any below 1 will do, as no pair is even"
            if (values > 0).all()
            else "some pairs are even, p_ij(x) = 1/2, so that B is infinite unless a is 0; equal scores make them so"
        )
        raise ValueError(f"too few different probabilities to estimate a from; give a: {cure}")
    slope = np.polyfit(np.log(values[lower]), np.log(below[lower]), 1)[0]
    return float(max(slope, 0.0) / (1 + max(slope, 0.0)))
