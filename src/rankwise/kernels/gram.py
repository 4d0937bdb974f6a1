"""What all Gram matrices share: checks, the estimate of memory, and filling them block by block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from rankwise._typing import ArrayLike, FloatArray
from rankwise._validation import item_names, numeric_matrix
from rankwise.data import Rankings, check_positions
from rankwise.distances.measures import check_same_items

#: a Gram matrix, in 64 or 32 bits
Gram = npt.NDArray[np.floating[Any]]

#: what a matrix may take by default
MAX_BYTES = 8 << 30
# Temporary arrays hold about so many numbers.
BLOCK_CELLS = 1 << 23


def checked_rankings(A: ArrayLike, B: ArrayLike | None, least_items: int = 2) -> tuple[FloatArray, FloatArray]:
    """Positions of both sides, the same array where B is None; the columns must be the same items."""
    check_same_items(A, B)
    a = check_positions(A, name="A")
    b = a if B is None else check_positions(B, name="B")
    if a.shape[1] != b.shape[1]:
        raise ValueError(f"A ranks {a.shape[1]} items and B ranks {b.shape[1]}; columns must be the same items")
    if a.shape[1] < least_items:
        raise ValueError("rankings of one item are all alike, so no kernel tells them apart; give two items or more")
    return a, b


def named_rankings(positions: FloatArray, source: ArrayLike) -> ArrayLike:
    """Positions with the names that their source gives its items, if it does."""
    names = item_names(source)
    return positions if names is None else Rankings(positions, names)


def check_gram(n_rows: int, n_columns: int, dtype: npt.DTypeLike, max_bytes: int) -> np.dtype[Any]:
    """The type of the numbers; refuse, before anything is allocated, a matrix that takes too much memory."""
    number = np.dtype(dtype)
    if number not in (np.float32, np.float64):
        raise ValueError(f"dtype is {dtype!r}; choose float64 or float32")
    size = number.itemsize * n_rows * n_columns
    if size > max_bytes:
        halved = "dtype='float32' (half of that), " if number == np.float64 else ""
        raise ValueError(
            f"the {n_rows:,} x {n_columns:,} kernel values would take {size / 2**30:.1f} GiB, more than max_bytes "
            f"({max_bytes / 2**30:.1f} GiB). Cures: {halved}Nystroem of scikit-learn with a kernel object, "
            "GraphCutEmbedding with a linear model (no matrix at all), or a larger max_bytes"
        )
    return number


def filled_by_rows(
    block: Callable[[slice], Any], shape: tuple[int, int], dtype: np.dtype[Any], height: int, n_jobs: int | None
) -> Gram:
    """A matrix whose rows come from ``block``, so many at a time, on threads; no block looks at another."""
    from joblib import Parallel, delayed

    result: Gram = np.empty(shape, dtype=dtype)

    def fill(start: int) -> None:
        rows = slice(start, min(start + height, shape[0]))
        result[rows] = block(rows)

    Parallel(n_jobs=n_jobs, prefer="threads", require="sharedmem")(
        delayed(fill)(start) for start in range(0, shape[0], height)
    )
    return result


def check_norms(name: str, squared: FloatArray) -> None:
    """Refuse vectors of zeros, which have no direction."""
    if not np.all(squared > 0):
        raise ValueError(
            f"{name}[{int(np.argmin(squared))}] prefers no item to another, so that its kernel with itself is 0 and "
            "cannot be made 1; drop such rankings, or use normalize=False"
        )


def divide_by_norms(gram: Gram, squared_a: FloatArray, squared_b: FloatArray) -> None:
    """Turn inner products into cosines, in place; a vector of zeros has none."""
    check_norms("A", squared_a)
    check_norms("B", squared_b)
    gram /= np.sqrt(squared_a)[:, np.newaxis].astype(gram.dtype)
    gram /= np.sqrt(squared_b).astype(gram.dtype)


# Positions in finite numbers, for estimators that refuse NaN and infinity.


# No place is negative, so that this cannot be taken for one, nor a place that counts from 0 for this.
_MISSING = -1.0


def finite_positions(positions: ArrayLike) -> FloatArray:
    """Positions in finite numbers: missing items become -1, unlisted ones tie in the place after the last listed.

    Gaussian processes, KernelRidge, KernelPCA, Nystroem and SpectralClustering of scikit-learn refuse NaN and infinity
    before a kernel sees them. The kernel objects read -1 as missing; to every kernel, items that tie in the last place
    are the same as unlisted ones. (SVC with a kernel object takes positions as they are.)

    Parameters
    ----------
    positions : array-like of shape (n_rankings, n_items) or Rankings
        1 = best; inf = unlisted, NaN = missing.

    Returns
    -------
    ndarray of shape (n_rankings, n_items), float64

    Examples
    --------
    >>> from rankwise.kernels import finite_positions
    >>> finite_positions([[2, 1, float("inf"), float("nan")]])
    array([[ 2.,  1.,  3., -1.]])
    """
    matrix = check_positions(positions)
    listed = np.where(np.isfinite(matrix), matrix, 0.0)
    finite = np.where(np.isposinf(matrix), listed.max(axis=1, keepdims=True, initial=0.0) + 1, matrix)
    return np.where(np.isnan(finite), _MISSING, finite)


def positions_from_finite(X: ArrayLike, name: str) -> FloatArray:
    """Positions from what `finite_positions` made of them; positions stay as they are."""
    if isinstance(X, Rankings):
        return X.positions
    matrix = numeric_matrix(X, name)
    return check_positions(np.where(matrix == _MISSING, np.nan, matrix), name=name)
