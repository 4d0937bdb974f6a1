"""The Mallows kernel: Gram matrices for full rankings, and two extensions to every kind of ranking.

`mallows_kernel` is the public function; `objects.MallowsKernel` uses its two parts, `embedding_exponents` and
`completed_means`, to learn the scale.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from rankwise._typing import ArrayLike, FloatArray, RandomState
from rankwise._validation import check_choice, check_generator, check_n_jobs, check_real_number, check_whole_number
from rankwise.embeddings.completions import Structure, levels_of, slots_of
from rankwise.kernels.gram import BLOCK_CELLS, MAX_BYTES, Gram, check_gram, checked_rankings, filled_by_rows
from rankwise.kernels.kendall_gram import sign_products, squared_norms

MallowsCompletion = Literal["embedding", "monte-carlo"]

# At this scale the kernel of any two different rankings is 0; larger scales would overflow the exponents.
_STEEPEST = 1e25


def mallows_kernel(
    A: ArrayLike,
    B: ArrayLike | None = None,
    scale: float = 1.0,
    *,
    completion: MallowsCompletion = "embedding",
    n_samples: int = 32,
    unbiased: bool = False,
    random_state: RandomState = None,
    dtype: npt.DTypeLike = np.float64,
    n_jobs: int | None = None,
    max_bytes: int = MAX_BYTES,
) -> Gram:
    r"""Mallows kernel of all rankings of A with all rankings of B; larger = more similar.

    *Definition.* For full rankings :math:`K(a, b) = e^{-\lambda d(a, b)}`, with d the number of discordant pairs (from
    0 to :math:`k(k-1)/2`, not divided by it) and :math:`\lambda` the ``scale``. Other kinds in one of two ways:

    "embedding"
        :math:`e^{-\lambda \|s(a) - s(b)\|^2 / 4}`, with s(a) the mean signs of pairs of `kendall_kernel`. On full
        rankings the exponent is :math:`-\lambda d`. Exact, and a kernel of its own: not the mean of Mallows kernels.
    "monte-carlo"
        The mean of :math:`e^{-\lambda d}` over pairs of full rankings that agree with a and b, estimated from
        ``n_samples`` random completions of each, in antithetic pairs.

    A ranking without any item agrees with all: its mean signs are 0, and its completions are all full rankings.

    Parameters
    ----------
    A : array-like of shape (n_A, n_items) or Rankings
        Positions, 1 = best; inf = unlisted, NaN = missing.
    B : array-like of shape (n_B, n_items) or Rankings, optional
        A itself by default.
    scale : float, default=1.0
        How fast the kernel falls with the distance, 0 or more.
    completion : {"embedding", "monte-carlo"}, default="embedding"
        How to extend the kernel to rankings that are not full.
    n_samples : int, default=32
        Completions of each ranking for "monte-carlo"; must be even.
    unbiased : bool, default=False
        For "monte-carlo". By default a ranking has one set of completions: the matrix is positive semi-definite, and
        values of equal rankings (the diagonal) are too large by at most 2 / n_samples. If True, rankings of A and B
        get independent completions: the values are unbiased, but the matrix may have negative eigenvalues.
    random_state : None, int, Generator or RandomState
        Draws the completions. With an integer a ranking has the same ones in every call: needed where values from
        several calls are used together, as in fit and predict.
    dtype : {float64, float32}, default=float64
        Type of the result.
    n_jobs : int, optional
        Threads, where rankings are compared one by one; -1 uses all processors. The result does not depend on it.
    max_bytes : int, default=8 GiB
        Refuse a larger result before anything is allocated.

    Returns
    -------
    ndarray of shape (n_A, n_B)
        Values from 0 to 1; positive semi-definite where B is None, unless ``unbiased``.

    References
    ----------
    Jiao, Vert (2018), The Kendall and Mallows kernels for permutations, IEEE TPAMI 40. Lomelí, Rowland, Gretton,
    Ghahramani (2019), Antithetic and Monte Carlo kernel estimators for partial rankings, Statistics and Computing 29.

    Examples
    --------
    >>> from rankwise.kernels import mallows_kernel
    >>> mallows_kernel([[1, 2, 3], [3, 2, 1], [1, 2, 2]], scale=0.5).round(3)
    array([[1.   , 0.223, 0.882],
           [0.223, 1.   , 0.325],
           [0.882, 0.325, 1.   ]])
    """
    check_n_jobs(n_jobs)
    check_real_number("scale", scale)
    check_completion(completion, n_samples)
    a, b = checked_rankings(A, B)
    number = check_gram(len(a), len(b), dtype, max_bytes)
    if completion == "embedding":
        exponent = embedding_exponents(a, b, scale, number, n_jobs)
        return np.exp(exponent, out=exponent)
    seed = completion_seed(random_state)
    return completed_means(a, b, scale, n_samples, seed, unbiased, number, n_jobs)[0]


def completion_seed(random_state: RandomState) -> int:
    """The number from which all completions of a call are drawn."""
    return int(check_generator(random_state).integers(2**62))


def check_completion(completion: str, n_samples: int) -> None:
    """Refuse unknown values of ``completion``, and odd numbers of completions."""
    check_choice("completion", completion, ("embedding", "monte-carlo"))
    if check_whole_number("n_samples", n_samples, at_least=2) % 2:
        raise ValueError(f"n_samples is {n_samples}, but completions come in antithetic pairs; give an even number")


def embedding_exponents(
    a: FloatArray, b: FloatArray, scale: float, dtype: np.dtype[Any], n_jobs: int | None = None
) -> Gram:
    """Minus the scale times a quarter of the squared distance of mean signs (for full rankings: discordant pairs)."""
    distances = sign_products(a, b, dtype, n_jobs)
    np.multiply(distances, -2, out=distances)
    distances += squared_norms(a)[:, np.newaxis].astype(dtype)
    distances += squared_norms(b).astype(dtype)
    distances /= 4
    np.maximum(distances, 0, out=distances)  # mean signs leave rounding errors
    if a is b:
        np.fill_diagonal(distances, 0)
    return np.multiply(distances, -min(scale, _STEEPEST), out=distances)


def completed_means(
    a: FloatArray,
    b: FloatArray,
    scale: float,
    n_samples: int,
    seed: int,
    unbiased: bool,
    dtype: np.dtype[Any],
    n_jobs: int | None = None,
    *,
    gradient: bool = False,
) -> tuple[Gram, Gram | None]:
    """Means of the kernel over completions and, if asked for, their gradient by the logarithm of the scale."""
    k, scale = a.shape[1], min(scale, _STEEPEST)
    left = sample_completions(a, n_samples, seed, side=0)
    right = left if a is b and not unbiased else sample_completions(b, n_samples, seed, side=int(unbiased))
    others = right.reshape(-1, k)
    height = max(1, BLOCK_CELLS // max(1, n_samples * len(others)))
    shape = len(a), len(b)

    def mean(rows: slice, derive: bool) -> FloatArray:
        own = left[rows].reshape(-1, k)
        d = (k * (k - 1) / 2 - sign_products(own, others, np.dtype(np.float64))) / 2
        values = np.exp(-scale * d)
        if derive:
            values *= -scale * d
        result: FloatArray = values.reshape(len(left[rows]), n_samples, len(b), n_samples).mean(axis=(1, 3))
        return result

    def filled(derive: bool) -> Gram:
        gram = filled_by_rows(lambda rows: mean(rows, derive), shape, dtype, height, n_jobs)
        return (gram + gram.T) / 2 if a is b else gram

    return filled(False), filled(True) if gradient else None


def completed_diagonal(a: FloatArray, scale: float, n_samples: int, seed: int) -> FloatArray:
    """Means over the completions of each ranking with themselves, as on the diagonal of the positive matrix."""
    pairs, scale = a.shape[1] * (a.shape[1] - 1) / 2, min(scale, _STEEPEST)
    own = (sign_products(rows, rows, np.dtype(np.float64)) for rows in sample_completions(a, n_samples, seed, side=0))
    return np.array([np.exp(-scale * (pairs - products) / 2).mean() for products in own])


def sample_completions(positions: FloatArray, n_samples: int, seed: int, side: int) -> FloatArray:
    """Full rankings drawn uniformly from all that agree with each ranking, in antithetic pairs.

    What is drawn for a ranking depends only on the ranking, the seed and the side, so that a ranking has the same
    completions in every call and in every set of rankings, and different rankings have independent ones.

    A random order of all items decides where missing items go, and which of tied (or unlisted) items comes first. Every
    second completion is made from its reverse. For top-k rankings that is the completion with the
    unlisted items reversed, the farthest from the first.

    Parameters
    ----------
    positions : ndarray of shape (n, k)
        Dense positions of any kind.
    n_samples : int
        Number of completions of each ranking, even.
    seed, side : int
        Different sides of one seed give independent completions.

    Returns
    -------
    ndarray of shape (n, n_samples, k)
        Places 1 to k.
    """
    n, k = positions.shape
    levels = levels_of(positions)
    slots = slots_of(levels)
    result = np.empty((n, n_samples, k))
    keys = np.empty((n_samples, k))
    for row, level in enumerate(levels):
        keys[0::2] = np.random.default_rng([seed, side, *(level + 1).tolist()]).random((n_samples // 2, k))
        keys[1::2] = 1 - keys[0::2]
        result[row] = Structure.of(level).sample("full", keys)[:, slots[row]] + 1
    return result
