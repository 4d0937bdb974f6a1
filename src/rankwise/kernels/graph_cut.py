"""The graph cut kernel: inner products of graph cut features."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from rankwise._typing import ArrayLike, FloatArray, RandomState
from rankwise.embeddings import GraphCutEmbedding
from rankwise.embeddings.graph_cut import Completion
from rankwise.kernels.gram import MAX_BYTES, Gram, check_gram, checked_rankings, divide_by_norms

Pooling = Literal["pava", "none"]


def graph_cut_kernel(
    A: ArrayLike,
    B: ArrayLike | None = None,
    graph: ArrayLike | None = None,
    *,
    features: ArrayLike | None = None,
    pooling: Pooling = "pava",
    completion: Completion = "auto",
    n_samples: int = 128,
    random_state: RandomState = None,
    normalize: bool = False,
    dtype: npt.DTypeLike = np.float64,
    n_jobs: int | None = None,
    max_bytes: int = MAX_BYTES,
    device: str | None = None,
) -> Gram:
    r"""Graph cut kernel of all rankings of A with all rankings of B; larger = more alike.

    *Definition.* :math:`K(a, b) = \varphi(a) \cdot \varphi(b)`, with :math:`\varphi` the features of a ranking that
    `GraphCutEmbedding` gives. Without graph and item features it is 4 times the inner product of centred mid-ranks
    (Spearman).

    Parameters
    ----------
    A : array-like of shape (n_A, n_items) or Rankings
        Positions, 1 = best; inf = unlisted, NaN = missing.
    B : array-like of shape (n_B, n_items) or Rankings, optional
        A itself by default.
    graph, features, pooling, completion, n_samples
        As in `GraphCutEmbedding`.
    random_state : None, int, Generator or RandomState
        Draws completions where items are missing. Give an integer where values from several calls are used together.
    normalize : bool, default=False
        Divide by :math:`\sqrt{K(a, a) K(b, b)}`, so that every ranking has kernel 1 with itself.
    dtype : {float64, float32}, default=float64
        Type of the result.
    n_jobs : int, optional
        Threads that compute the vectors; -1 uses all processors. The result does not depend on it.
    max_bytes : int, default=8 GiB
        Refuse a larger result before anything is allocated.
    device : {"cuda", "cpu"} or other device of PyTorch, optional
        Compute vectors and products there (extra ``neural``), for rankings without missing items.

    Returns
    -------
    ndarray of shape (n_A, n_B)
        Positive semi-definite where B is None.

    References
    ----------
    Conserva, Deisenroth, Sesh Kumar (2022), The graph cut kernel for ranked data.

    Examples
    --------
    >>> from rankwise.kernels import graph_cut_kernel
    >>> graph_cut_kernel([[1, 2, 3], [3, 2, 1]], graph=[[0, 2, 1], [2, 0, 1], [1, 1, 0]])
    array([[ 14., -14.],
           [-14.,  14.]])
    """
    a, b = checked_rankings(A, B)
    number = check_gram(len(a), len(b), dtype, max_bytes)
    # Fitted to one ranking, so that what is enumerated does not depend on how many come together: values of several
    # calls belong to one kernel.
    embedding = GraphCutEmbedding(
        graph=graph,
        features=features,
        pooling=pooling,
        completion=completion,
        n_samples=n_samples,
        random_state=random_state,
        n_jobs=n_jobs,
    ).fit(a[:1])
    if device is not None:
        from rankwise.kernels import on_device

        x = on_device.graph_cut_vectors(a, embedding, device=device, dtype=number)
        y = x if a is b else on_device.graph_cut_vectors(b, embedding, device=device, dtype=number)
        gram: Gram = on_device.products(x, y).cpu().numpy()
        squared_x, squared_y = ((vectors.double() ** 2).sum(dim=1).cpu().numpy() for vectors in (x, y))
    else:
        x = embedding.transform(a)
        y = x if a is b else embedding.transform(b)
        squared_x, squared_y = squared_lengths(x), squared_lengths(y)
        left = x.astype(number, copy=False)
        gram = left @ (left if y is x else y.astype(number, copy=False)).T
    if normalize:
        divide_by_norms(gram, squared_x, squared_y)
    return gram


def squared_lengths(vectors: FloatArray) -> FloatArray:
    """Inner product of each row with itself."""
    lengths: FloatArray = np.einsum("rj,rj->r", vectors, vectors)
    return lengths
