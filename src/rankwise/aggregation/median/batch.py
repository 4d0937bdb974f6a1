"""Kemeny medians of many small matrices at once: the decoder of predicted pairwise probabilities."""

from __future__ import annotations

from typing import Literal, overload

import numpy as np

from rankwise._arguments import check_numbers
from rankwise._typing import ArrayLike, BoolArray, FloatArray
from rankwise.aggregation.median import _jit

# A component of 12 items takes 0.1 ms; larger ones are searched.
_LARGEST_EXACT = 12


@overload
def kemeny_batch(P: ArrayLike, *, return_proven: Literal[False] = ...) -> FloatArray: ...


@overload
def kemeny_batch(P: ArrayLike, *, return_proven: Literal[True]) -> tuple[FloatArray, BoolArray]: ...


def kemeny_batch(P: ArrayLike, *, return_proven: bool = False) -> FloatArray | tuple[FloatArray, BoolArray]:
    """Kemeny medians of many pairwise matrices.

    A matrix whose majorities are transitive is ordered by them at once. Otherwise each component of the majority
    graph goes to a dynamic programme (up to 12 items, exact) or to insertion search.

    Parameters
    ----------
    P : array-like of shape (n, n_items, n_items)
        ``P[r, i, j]`` is the weight or probability of i before j; predicted ones may well lie outside 0 to 1, as only
        differences count. The diagonal is ignored, and even pairs fall in the order of the items where they can.
    return_proven : bool, default=False
        Whether to return, too, which medians are proven optimal.

    Returns
    -------
    positions : ndarray of shape (n, n_items)
        Full rankings, 1 = best.
    proven : ndarray of shape (n,), bool
        Only with ``return_proven=True``.

    Examples
    --------
    >>> from rankwise.aggregation import kemeny_batch
    >>> kemeny_batch([[[0.5, 0.8, 0.6], [0.2, 0.5, 0.3], [0.4, 0.7, 0.5]]])
    array([[1., 3., 2.]])
    """
    if hasattr(P, "tocsr"):
        raise TypeError("P is a sparse matrix; give dense ones (.toarray()), one per median: (n, n_items, n_items)")
    matrices = np.ascontiguousarray(check_numbers("P", P))
    if matrices.ndim != 3 or matrices.shape[1] != matrices.shape[2] or matrices.shape[1] == 0:
        raise ValueError(f"P has shape {matrices.shape}; give one square matrix per median: (n, n_items, n_items)")
    off_diagonal = matrices.reshape(len(matrices), -1)
    if not np.isfinite(off_diagonal).all() and not _finite_but_for_diagonals(matrices):
        r, i, j = np.argwhere(~np.isfinite(matrices))[0]
        raise ValueError(f"P[{r}, {i}, {j}] is {matrices[r, i, j]:g}; give 0.5 each way for pairs without an answer")
    positions, proven = _jit.batch_medians(matrices, _LARGEST_EXACT)
    return (positions, proven) if return_proven else positions


# ---------------------------------------------------------------------------------------------------------------


def _finite_but_for_diagonals(matrices: FloatArray) -> bool:
    off = ~np.eye(matrices.shape[1], dtype=bool)
    return bool(np.isfinite(matrices[:, off]).all())
