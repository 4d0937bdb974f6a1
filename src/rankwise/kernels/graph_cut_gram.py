"""The graph cut kernel: Gram matrices of inner products of graph cut features."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from rankwise._threads import openmp
from rankwise._typing import ArrayLike, FloatArray, RandomState
from rankwise._validation import check_n_jobs
from rankwise.embeddings import GraphCutEmbedding
from rankwise.embeddings.graph_cut import GraphCutCompletion
from rankwise.kernels.gram import MAX_BYTES, Gram, check_gram, checked_rankings, divide_by_norms, named_rankings

Pooling = Literal["pava", "none"]


def graph_cut_kernel(
    A: ArrayLike,
    B: ArrayLike | None = None,
    graph: ArrayLike | None = None,
    *,
    features: ArrayLike | None = None,
    pooling: Pooling = "pava",
    completion: GraphCutCompletion = "auto",
    n_samples: int = 128,
    random_state: RandomState = None,
    allow_isolated: bool = False,
    normalize: bool = False,
    dtype: npt.DTypeLike = np.float64,
    n_jobs: int | None = None,
    max_bytes: int = MAX_BYTES,
    device: str | None = None,
    copy_back: bool = True,
) -> Any:
    r"""Graph cut kernel of all rankings of A with all rankings of B; larger = more similar.

    *Definition.* :math:`K(a, b) = \varphi(a) \cdot \varphi(b)`, with :math:`\varphi` the features of a ranking by
    `GraphCutEmbedding`. Without graph and item features it is 4 times the inner product of centered mid-ranks
    (Spearman).

    Parameters
    ----------
    A : array-like of shape (n_A, n_items) or Rankings
        Positions, 1 = best; inf = unlisted, NaN = missing.
    B : array-like of shape (n_B, n_items) or Rankings, optional
        A itself by default.
    graph, features, pooling, completion, n_samples, allow_isolated
        As in `GraphCutEmbedding`.
    random_state : None, int, Generator or RandomState
        Draws completions where items are missing. Give an integer where values from several calls are used together.
    normalize : bool, default=False
        Divide by :math:`\sqrt{K(a, a) K(b, b)}`, so that every ranking has kernel 1 with itself.
    dtype : {float64, float32}, default=float64
        Type of the result.
    n_jobs : int, optional
        Threads that compute the features; -1 uses all processors. The result does not depend on it.
    max_bytes : int, default=8 GiB
        Refuse a larger result before anything is allocated.
    device : {"cuda", "cpu"} or other device of PyTorch, optional
        Compute features and products there (extra ``neural``), for rankings without missing items. A result too large
        for the memory of a CUDA device is refused before anything is computed.
    copy_back : bool, default=True
        Copy the result back from the device, which may take longer than computing it. If False it stays there.

    Returns
    -------
    ndarray of shape (n_A, n_B), or torch.Tensor if ``copy_back=False``
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
    check_n_jobs(n_jobs)
    a, b = checked_rankings(A, B)
    number = check_gram(len(a), len(b), dtype, max_bytes)
    if device is None and not copy_back:
        raise ValueError("copy_back is False, but there is no device to leave the result on; give device='cuda'")
    embedding = fitted_embedding(
        named_rankings(a[:1], A),
        graph=graph,
        features=features,
        pooling=pooling,
        completion=completion,
        n_samples=n_samples,
        random_state=random_state,
        allow_isolated=allow_isolated,
        n_jobs=n_jobs,
    )
    if device is not None:
        from rankwise.kernels import on_device

        with openmp():
            values = on_device.gram_matrix(a, b, embedding, device=device, dtype=number, normalize=normalize)
        return values.cpu().numpy() if copy_back else values
    x = embedding.transform(a)
    y = x if a is b else embedding.transform(b)
    left = x.astype(number, copy=False)
    gram: Gram = left @ (left if y is x else y.astype(number, copy=False)).T
    if normalize:
        divide_by_norms(gram, squared_lengths(x), squared_lengths(y))
    return gram


def fitted_embedding(positions: ArrayLike, **settings: Any) -> GraphCutEmbedding:
    """The embedding of a kernel, which returns arrays for every setting of transform_output.

    It is fitted to one ranking, so that the number of completions enumerated does not depend on the other rankings, and
    values of several calls belong to one kernel.
    """
    return GraphCutEmbedding(**settings).set_output(transform="default").fit(positions)


def squared_lengths(vectors: FloatArray) -> FloatArray:
    """Inner product of each row with itself."""
    lengths: FloatArray = np.einsum("rj,rj->r", vectors, vectors)
    return lengths
