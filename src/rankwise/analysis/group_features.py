"""Rankings as vectors whose means tell groups apart: the features of the kernels that `compare_groups` uses.

Vectors make the test linear in the number of people. Those of the Kendall kernel are the mean signs of pairs: groups of
equal means have equal shares of preferences, pair by pair, but may differ otherwise. The Mallows kernel is
characteristic: of full rankings, only groups of the same distribution have the same mean. Where rankings are many, its
vectors are random Fourier features (Rahimi and Recht 2007), and the last sentence holds with probability 1: the mean of
a feature is an analytic function of its frequency, which is 0 almost nowhere unless it is 0 everywhere (Chwialkowski,
Ramdas, Sejdinovic and Gretton 2015). `effect_size` and `disagreement` say by mean signs how much groups differ.
"""

from __future__ import annotations

import numpy as np

from rankwise._typing import FloatArray, IntArray
from rankwise.analysis.group_permutations import Design

# Up to so many different rankings, the vectors of the Mallows kernel are exact; for more, so many are drawn.
_MOST_DISTINCT, _N_RANDOM = 256, 256
_ROUNDING = 1e-10
_ROWS = 1 << 14


def kernel_vectors(signs: FloatArray, positions: FloatArray, kernel: str, rng: np.random.Generator) -> FloatArray:
    """A row for each ranking, of any kind: inner products are the kernel, or for many rankings, estimate it.

    ``signs`` are the mean signs of pairs of ``positions``.
    """
    if kernel == "kendall":
        return signs / np.sqrt(signs.shape[1])
    # A quarter of the squared distance of signs is the number of discordant pairs; by the mean of two rankings, the
    # kernel neither is 1 for all nor 0 for all that differ.
    spread = np.square(signs - signs.mean(axis=0)).sum() / (2 * max(len(signs) - 1, 1))
    scale = 1 / spread if spread > 0 else 1.0
    first, which = _distinct_rows(positions)
    if len(first) <= _MOST_DISTINCT:
        distinct = signs[first]
        norms = np.square(distinct).sum(axis=1)
        squares = np.maximum(norms[:, np.newaxis] + norms - 2 * distinct @ distinct.T, 0)
        gram = np.exp(-scale / 4 * squares)
        np.fill_diagonal(gram, 1 + _ROUNDING)  # similar rankings leave it close to singular
        exact: FloatArray = np.linalg.cholesky(gram)[which]
        return exact
    frequencies = np.sqrt(scale / 2) * rng.standard_normal((signs.shape[1], _N_RANDOM // 2))
    result = np.empty((len(signs), _N_RANDOM))
    for start in range(0, len(signs), _ROWS):
        phases = signs[start : start + _ROWS] @ frequencies
        result[start : start + _ROWS, : _N_RANDOM // 2] = np.cos(phases)
        result[start : start + _ROWS, _N_RANDOM // 2 :] = np.sin(phases)
    result *= np.sqrt(2 / _N_RANDOM)
    return result


def effect_size(signs: FloatArray, design: Design) -> float:
    """Epsilon squared: the share of the variance of mean signs within strata that groups explain, less chance's."""
    weights = design.weights[:, np.newaxis]
    centered = design.centered(signs)
    total = float((weights * centered**2).sum())
    free = len(signs) - design.n_strata
    if total <= _ROUNDING or free < design.n_groups:
        return float("nan")
    dummies = design.centered((design.labels[:, np.newaxis] == np.arange(design.n_groups - 1)).astype(np.float64))
    crossed = (weights * dummies).T @ centered
    solved = np.linalg.lstsq((weights * dummies).T @ dummies, crossed, rcond=None)[0]
    left = total - float((crossed * solved).sum())
    return 1 - (left / (free - design.n_groups + 1)) / (total / free)


def disagreement(signs: FloatArray, design: Design) -> tuple[float, float]:
    """Mean share of pairs that two people of one group, and of different ones, order differently; NaN of ties alone."""
    if not signs.any():
        return float("nan"), float("nan")
    weights, norms = design.weights, np.square(signs).sum(axis=1)
    onehot = (design.labels == np.arange(design.n_groups)[:, np.newaxis]).astype(np.float64)
    sums = (onehot * weights) @ signs
    own, squares = onehot @ weights**2, onehot @ (weights**2 * norms)
    total = onehot @ weights
    products = sums @ sums.T
    n_pairs = signs.shape[1]
    couples = total**2 - own
    alike = np.diagonal(products) - squares
    within = 0.5 - 0.5 * alike.sum() / couples.sum() / n_pairs
    apart = ~np.eye(design.n_groups, dtype=bool)
    between = 0.5 - 0.5 * products[apart].sum() / np.outer(total, total)[apart].sum() / n_pairs
    return float(within), float(between)


def _distinct_rows(positions: FloatArray) -> tuple[IntArray, IntArray]:
    """The first row of each different ranking, and for each row which of these it is."""
    k = positions.shape[1]
    codes = np.nan_to_num(positions, nan=0.0, posinf=k + 1).astype(np.uint16 if k < 2**16 - 1 else np.int64)
    keys = np.ascontiguousarray(codes).view(np.dtype((np.void, codes.itemsize * k))).ravel()
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    return first, which.ravel()
