"""Preferences as differences of scores plus cycles: the Hodge decomposition of pairs."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rankwise._tables import make_frame, name_column
from rankwise._typing import ArrayLike, BoolArray, FloatArray, IntArray
from rankwise.aggregation.pairs import comparable_preferences, comparison_groups
from rankwise.aggregation.positional import rank_by_score

# Triangles over which the cyclic part may be split, which takes seconds: those of 182 items, nearly all compared.
_MOST_TRIANGLES = 1_000_000


@dataclass(frozen=True, eq=False)
class HodgeProjection:
    """Preferences split into differences of scores and cycles; made by `hodge_projection`.

    Attributes
    ----------
    scores : ndarray of shape (n_items,)
        s, higher = better, mean 0.
    items : tuple
        Names of the items.
    gradient : ndarray of shape (n_items, n_items)
        s_i - s_j: the part of p_ij - 1/2 that one scale explains.
    cyclic : ndarray of shape (n_items, n_items)
        What is left of p_ij - 1/2 for the pairs of positive weight, 0 for others; its weighted sum over the opponents
        of every item is 0, so that it consists of cycles: ``curl + harmonic``.
    weights : ndarray of shape (n_items, n_items)
        Weights of the pairs.
    residual : float
        Weighted sum of squares of the cyclic part, each pair once.
    explained : float
        Share of the weighted sum of squares of p_ij - 1/2 that the gradient explains, from 0 (all cyclic) to 1;
        1 if every pair is even, because nothing is left to explain.
    """

    scores: FloatArray
    items: tuple[Hashable, ...]
    gradient: FloatArray
    cyclic: FloatArray
    weights: FloatArray
    residual: float
    explained: float

    @cached_property
    def curl(self) -> FloatArray:
        """The part of ``cyclic`` that consists of triangles: cycles of three items that were all compared.

        Found by least squares over all triangles; with more than a million of them a ValueError says so (unless all
        pairs are compared, because then every cycle is a sum of triangles).
        """
        return _triangle_part(self.cyclic, self.weights)

    @property
    def harmonic(self) -> FloatArray:
        """The rest, ``cyclic - curl``: long cycles that no triangle of compared items shows, orthogonal to ``curl``.

        It adds up to 0 around every triangle, and is 0 where all pairs are compared.
        """
        return self.cyclic - self.curl

    @property
    def positions(self) -> FloatArray:
        """Items by decreasing score: 1 = best, equal scores tie (dense)."""
        return rank_by_score(self.scores)

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with a row per item, best first: ``item``, ``position`` and ``score``.

        The frame is of pandas by default, else of the named backend ("pandas", "polars" or "pyarrow").
        """
        order = np.argsort(-self.scores, kind="stable")
        columns = {
            "item": name_column([self.items[i] for i in order]),
            "position": self.positions[order].astype(np.intp),
            "score": self.scores[order],
        }
        return make_frame(columns, backend)


def hodge_projection(P: ArrayLike, pair_weight: ArrayLike | None = None) -> HodgeProjection:
    r"""Fit preferences by differences of scores, by least squares, and show what is cyclic.

    *Definition.* The scores s with mean 0 that minimize
    :math:`\sum_{i<j} w_{ij} \left(p_{ij} - \tfrac12 - (s_i - s_j)\right)^2`. Fit and residual are orthogonal under the
    weights. :math:`\tfrac12 + s_i - s_j` is the closest additive law, whose median is the order of the scores; it may
    leave [0, 1].

    Parameters
    ----------
    P : array-like of shape (n_items, n_items), PreferenceMatrix, Rankings or positions
        Probabilities of "row before column" (NaN for both sides of a pair that nobody compared), or rankings.
    pair_weight : array-like of shape (n_items, n_items), optional
        Weights of the pairs: symmetric, not negative, 0 drops a pair. By default the weight of the rankings that
        order or tie the pair; for an array of probabilities, 1 for every known pair.

    Returns
    -------
    HodgeProjection

    References
    ----------
    Jiang, Lim, Yao, Ye (2011), Statistical ranking and combinatorial Hodge theory, Mathematical Programming 127.

    Examples
    --------
    >>> from rankwise.aggregation import hodge_projection
    >>> fit = hodge_projection([[0.5, 0.7, 0.9], [0.3, 0.5, 0.7], [0.1, 0.3, 0.5]])
    >>> fit.scores.round(3), round(fit.explained, 3)
    (array([ 0.2,  0. , -0.2]), 1.0)
    """
    matrix = comparable_preferences(P, sum_to_one=True)
    known = matrix.counts > 0
    weights = matrix.counts
    if pair_weight is not None:
        weights = np.array(pair_weight, dtype=np.float64)
        if weights.shape != known.shape:
            raise ValueError(f"pair_weight has shape {weights.shape}; give one weight for each pair, {known.shape}")
        np.fill_diagonal(weights, 0.0)
        other = "the other side of the pair has another weight; give both the same"
        for bad, cure in (
            (~(np.isfinite(weights) & (weights >= 0)), "weights of pairs are finite and not negative"),
            (~np.isclose(weights, weights.T, equal_nan=True), other),
            ((weights > 0) & ~known, "but nobody compared the pair; give it weight 0"),
        ):
            if bad.any():
                i, j = np.argwhere(bad)[0]
                raise ValueError(f"pair_weight[{i}, {j}] is {weights[i, j]:g}; {cure}")
    n_groups, shown = comparison_groups(weights > 0, matrix.items)
    if n_groups > 1:
        raise ValueError(
            f"no chain of comparisons connects these {n_groups} groups of items, so their scores have no common scale: "
            f"{shown}. Project each group separately, with Rankings.select([...])"
        )
    lead = np.where(known, matrix.probabilities - 0.5, 0.0)
    scores = _least_squares_scores(lead, weights)
    gradient = scores[:, np.newaxis] - scores
    cyclic = np.where(weights > 0, lead - gradient, 0.0)
    residual = float(np.sum(weights * cyclic**2)) / 2
    total = float(np.sum(weights * lead**2)) / 2
    explained = 1 - residual / total if total > 0 else 1.0
    return HodgeProjection(scores, matrix.items, gradient, cyclic, weights, residual, explained)


def _least_squares_scores(lead: FloatArray, weights: FloatArray) -> FloatArray:
    k = len(weights)
    weights = weights / (weights.max() or 1.0)  # of the size of the ones below
    laplacian = np.diag(weights.sum(axis=1)) - weights
    # Scores are free up to a constant; adding the matrix of ones asks for the ones with mean 0.
    scores = np.linalg.solve(laplacian + 1 / k, np.sum(weights * lead, axis=1))
    return scores - scores.mean()


def _triangle_part(cyclic: FloatArray, weights: FloatArray) -> FloatArray:
    """Projection of a flow on pairs, under their weights, onto the flows that consist of triangles."""
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import lsmr

    compared = weights > 0
    k = len(compared)
    if compared.sum() == k * (k - 1):
        return cyclic
    first, second = np.nonzero(np.triu(compared))
    sides = _sides_of_triangles(compared, first, second)
    root = np.sqrt(weights[first, second] / weights.max())
    # A triangle sends the same weighted flow along its sides a to b, b to c, and, against its direction, a to c.
    values = np.array([[1.0], [1.0], [-1.0]]) / root[sides]
    values /= np.sqrt(np.sum(values**2, axis=0))  # does not change what they span, but how fast the iteration settles
    columns = np.broadcast_to(np.arange(sides.shape[1]), sides.shape)
    triangles = csr_array((values.ravel(), (sides.ravel(), columns.ravel())), shape=(len(first), sides.shape[1]))
    strength = lsmr(triangles, root * cyclic[first, second], atol=1e-12, btol=1e-12, conlim=0, maxiter=100 * k)[0]
    part = np.zeros((k, k))
    part[first, second] = (triangles @ strength) / root
    return part - part.T


def _sides_of_triangles(compared: BoolArray, first: IntArray, second: IntArray) -> IntArray:
    """Numbers of the pairs (a, b), (b, c) and (a, c) of all triples a < b < c whose pairs were compared: (3, n)."""
    steps = compared.astype(np.float64)
    n_triangles = float(np.sum(steps @ steps * steps)) / 6
    if n_triangles > _MOST_TRIANGLES:
        raise ValueError(
            f"{n_triangles:,.0f} triples of items are all compared, and at most {_MOST_TRIANGLES:,} are searched for "
            "cycles; keep fewer items with Rankings.select([...]), or use cyclic as a whole"
        )
    number = np.zeros(compared.shape, dtype=np.intp)
    number[first, second] = np.arange(len(first))
    pair, c = np.nonzero(compared[first] & compared[second] & (np.arange(len(compared)) > second[:, np.newaxis]))
    a, b = first[pair], second[pair]
    return np.stack([number[a, b], number[b, c], number[a, c]])
