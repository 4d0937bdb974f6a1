"""Scores of features: one sort each gives all that divergence, test and rank classes need."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankwise._typing import FloatArray
from rankwise.screening import _jit

# Cells of X that are copied at once to lay features out as rows: 16 MB.
_BLOCK_CELLS = 1 << 21
# Fingerprints must be the same in every run, so that classes can be compared between calls.
_SEED = 20


@dataclass(frozen=True)
class Target:
    r"""A target made ready for scoring: centred, with its own covariation.

    With places :math:`2 R_i - n - 1` for mid-ranks R, the *covariation* of y and a feature is the sum of y times the
    places of the feature; that of y with itself is the sum of :math:`|y_i - y_j|` over all pairs.
    """

    centred: FloatArray
    weights: np.ndarray
    covariation: float

    @classmethod
    @np.errstate(all="ignore")  # uncompiled kernels would warn
    def of(cls, y: FloatArray) -> Target:
        """Centre first: far from 0 the sums would lose digits."""
        centred = y - y.mean()
        weights = np.random.default_rng(_SEED).integers(-(2**63), 2**63 - 1, len(y), dtype=np.int64)
        space = np.empty(len(y), dtype=np.int64)
        return cls(centred, weights, float(_jit.score_rows(centred[None], space, centred, weights)[0][0]))

    @property
    def unit(self) -> float:
        """What turns covariations into means over pairs: 2 / (n (n - 1))."""
        n = len(self.centred)
        return 2.0 / (n * (n - 1))

    def z(self, covariation: FloatArray, spread: FloatArray) -> FloatArray:
        """Standard scores under random permutations of y; 0 for constant features."""
        deviation = np.sqrt(self.centred @ self.centred * spread / (len(self.centred) - 1))
        return np.divide(covariation, deviation, out=np.zeros_like(covariation), where=deviation > 0)


@dataclass(frozen=True)
class Scores:
    """Of each feature: covariation with the target, fingerprint of the order (up to sign), squared spread of places."""

    covariation: FloatArray
    fingerprint: np.ndarray
    spread: FloatArray


def score_columns(X: FloatArray, target: Target, n_jobs: int | None = None) -> Scores:
    """Scores of the columns of a finite matrix, of 64 bits or of 32; the same for every number of threads."""
    from joblib import Parallel, delayed

    if n_jobs == 0:
        raise ValueError("n_jobs is 0; give the number of threads, or -1 for all cores")

    step = max(1, _BLOCK_CELLS // len(X))

    @np.errstate(all="ignore")  # uncompiled kernels would warn
    def block(start: int) -> tuple[FloatArray, np.ndarray, FloatArray]:
        rows = np.ascontiguousarray(X[:, start : start + step].T)
        space = np.empty(len(X), dtype=np.int64 if X.dtype == np.float64 else np.int32)
        return _jit.score_rows(rows, space, target.centred, target.weights)

    starts = range(0, X.shape[1], step)
    if len(starts) == 1:
        return Scores(*block(0))
    parts = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(block)(start) for start in starts)
    return Scores(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
