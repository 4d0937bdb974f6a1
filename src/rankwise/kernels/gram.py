"""What all Gram matrices share: checks, memory limits, filling by blocks, and positions in finite numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from rankwise._sklearn import gen_batches
from rankwise._typing import ArrayLike, FloatArray
from rankwise._validation import item_names, numeric_matrix
from rankwise.data import Rankings, check_positions
from rankwise.distances.measures import check_same_items

#: a Gram matrix, in 64 or 32 bits
Gram = npt.NDArray[np.floating[Any]]

#: default limit of the memory of a matrix
MAX_BYTES = 8 << 30
#: about how many numbers a temporary array may hold
BLOCK_CELLS = 1 << 23
# Stands for a missing item in finite positions; not 0, which may be a place that was counted from 0.
_MISSING = -1.0


def checked_rankings(A: ArrayLike, B: ArrayLike | None, least_items: int = 2) -> tuple[FloatArray, FloatArray]:
    """Positions of A and B, the same array if B is None; the columns must be the same items."""
    check_same_items(A, B)
    a = check_positions(A, name="A")
    b = a if B is None else check_positions(B, name="B")
    if a.shape[1] != b.shape[1]:
        raise ValueError(f"A ranks {a.shape[1]} items and B ranks {b.shape[1]}; columns must be the same items")
    if a.shape[1] < least_items:
        raise ValueError("rankings of one item are all equal, so kernels need two items or more")
    return a, b


def named_rankings(positions: FloatArray, source: ArrayLike) -> ArrayLike:
    """Positions with the item names of their source, if it has any."""
    names = item_names(source)
    return positions if names is None else Rankings(positions, names)


def check_gram(n_rows: int, n_columns: int, dtype: npt.DTypeLike, max_bytes: int) -> np.dtype[Any]:
    """The type of the numbers; a matrix that would take too much memory is refused before it is allocated."""
    number = np.dtype(dtype)
    if number not in (np.float32, np.float64):
        raise ValueError(f"dtype is {dtype!r}; choose float64 or float32")
    size = number.itemsize * n_rows * n_columns
    if size > max_bytes:
        halved = "dtype='float32' (half of that), " if number == np.float64 else ""
        raise ValueError(
            f"the {n_rows:,} x {n_columns:,} kernel values would take {size / 2**30:.1f} GiB, more than max_bytes "
            f"({max_bytes / 2**30:.1f} GiB). Use {halved}scikit-learn's Nystroem with a kernel object, "
            "GraphCutEmbedding with a linear model (no matrix at all), or a larger max_bytes"
        )
    return number


def filled_by_rows(
    block: Callable[[slice], Any], shape: tuple[int, int], dtype: np.dtype[Any], height: int, n_jobs: int | None
) -> Gram:
    """A matrix filled by ``block(rows)``, ``height`` rows at a time, on threads; blocks are independent."""
    from joblib import Parallel, delayed

    result: Gram = np.empty(shape, dtype=dtype)

    def fill(rows: slice) -> None:
        result[rows] = block(rows)

    Parallel(n_jobs=n_jobs, prefer="threads", require="sharedmem")(
        delayed(fill)(rows) for rows in gen_batches(shape[0], height)
    )
    return result


def check_norms(name: str, squared: FloatArray) -> None:
    """Refuse vectors of zeros, which cannot be normalized."""
    if not np.all(squared > 0):
        raise ValueError(
            f"{name}[{int(np.argmin(squared))}] prefers no item to another, so its kernel with itself is 0 and "
            "cannot be normalized; drop such rankings, or use normalize=False"
        )


def divide_by_norms(gram: Gram, squared_a: FloatArray, squared_b: FloatArray) -> None:
    """Turn inner products into cosines, in place."""
    check_norms("A", squared_a)
    check_norms("B", squared_b)
    gram /= np.sqrt(squared_a)[:, np.newaxis].astype(gram.dtype)
    gram /= np.sqrt(squared_b).astype(gram.dtype)


def finite_positions(positions: ArrayLike) -> FloatArray:
    """Positions in finite numbers: missing items become -1, unlisted ones tie in the place after the last listed one.

    Gaussian processes, KernelRidge, KernelPCA, Nystroem and SpectralClustering of scikit-learn refuse NaN and infinity
    before a kernel sees them. The kernel objects read -1 as missing; for every kernel, items that tie in the last place
    are equivalent to unlisted ones. (SVC with a kernel object takes positions as they are.)

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
    """The inverse of `finite_positions`; positions stay as they are."""
    if isinstance(X, Rankings):
        return X.positions
    matrix = numeric_matrix(X, name)
    return check_positions(np.where(matrix == _MISSING, np.nan, matrix), name=name)
