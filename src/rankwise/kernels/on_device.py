"""The graph cut kernel in PyTorch, for `graph_cut_kernel(device=...)`: many rankings on a GPU.

Each step handles many rankings at once: signs of all pairs of items, means of tied items, and pooling by the min-max
formula of antitonic regression, which needs no loop over items. PyTorch is imported only when a function is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankwise._optional import require
from rankwise._typing import FloatArray

if TYPE_CHECKING:
    from rankwise.embeddings import GraphCutEmbedding

# Most numbers in one of the temporary arrays of a block of rankings; several such arrays exist at once.
_BLOCK_CELLS = 1 << 26


def graph_cut_vectors(positions: FloatArray, embedding: GraphCutEmbedding, *, device: str, dtype: np.dtype[Any]) -> Any:
    """Features of rankings without missing items, as by `GraphCutEmbedding`.

    Parameters
    ----------
    positions : ndarray of shape (n, k)
        Dense positions.
    embedding : GraphCutEmbedding
        Fitted; holds the graph and whether to pool.
    device : str
        Device of PyTorch: "cuda", "cpu", ...
    dtype : dtype
        float32 or float64.

    Returns
    -------
    torch.Tensor of shape (n, k)
        On the device.
    """
    torch = require("torch", extra="neural", caller="graph_cut_kernel(device=...)")
    missing = np.isnan(positions).any(axis=1)
    if missing.any():
        raise ValueError(
            f"ranking {int(np.argmax(missing))} misses items, which is not implemented for devices; use device=None"
        )
    if embedding.completion == "full":
        raise ValueError(
            "completion='full' averages over completions, which is not implemented for devices; use device=None"
        )
    number = torch.float32 if dtype == np.float32 else torch.float64
    graph = embedding.graph_
    dense = graph if isinstance(graph, np.ndarray) else graph.toarray()
    weights = torch.as_tensor(dense, dtype=number, device=device)
    n, k = positions.shape
    height = max(1, _BLOCK_CELLS // (k * k))
    result = torch.empty((n, k), dtype=number, device=device)
    for start in range(0, n, height):  # not gen_batches: this module also runs where scikit-learn is not installed
        rows = slice(start, start + height)
        block = np.where(np.isinf(positions[rows]), k + 1.0, positions[rows])
        places = torch.as_tensor(block, dtype=number, device=device)
        vectors = _increments(torch, places, weights)
        result[rows] = _averaged_and_pooled(torch, places, vectors, pool=embedding.pooling == "pava")
    return result


def gram_matrix(
    a: FloatArray, b: FloatArray, embedding: GraphCutEmbedding, *, device: str, dtype: np.dtype[Any], normalize: bool
) -> Any:
    """Inner products of the vectors of all rankings of a with those of all of b, or their cosines, on the device."""
    torch = require("torch", extra="neural", caller="graph_cut_kernel(device=...)")
    _check_memory(torch, device, dtype.itemsize * (len(a) * len(b) + a.size + b.size))
    x = graph_cut_vectors(a, embedding, device=device, dtype=dtype)
    y = x if a is b else graph_cut_vectors(b, embedding, device=device, dtype=dtype)
    gram = x @ y.T
    if normalize:
        gram /= _lengths("A", x)[:, None]
        gram /= _lengths("B", y)
    return gram


def _check_memory(torch: Any, device: str, n_bytes: int) -> None:
    """Refuse what does not fit into the free memory of a CUDA device."""
    if torch.device(device).type != "cuda":
        return
    free = torch.cuda.mem_get_info(device)[0]
    if n_bytes > free:
        raise ValueError(
            f"features and kernel values take {n_bytes / 2**30:.1f} GiB, but {device} has {free / 2**30:.1f} GiB free; "
            "use dtype='float32', give fewer rankings at a time, or device=None"
        )


def _lengths(name: str, vectors: Any) -> Any:
    from rankwise.kernels.gram import check_norms

    squared = (vectors.double() ** 2).sum(dim=1)
    check_norms(name, squared.cpu().numpy())
    return squared.sqrt().to(vectors.dtype)


def _increments(torch: Any, places: Any, weights: Any) -> Any:
    """Weight of the items below each item, minus the weight of those above it."""
    signs = torch.sign(places[:, None, :] - places[:, :, None])
    return torch.einsum("rji,ji->rj", signs, weights)


def _averaged_and_pooled(torch: Any, places: Any, vectors: Any, pool: bool) -> Any:
    """Means over tied items and, from best to worst, the antitonic regression of these."""
    order = torch.argsort(places, dim=1, stable=True)
    ordered = torch.gather(places, 1, order)
    n, k = places.shape
    sums = torch.zeros((n, k + 1), dtype=vectors.dtype, device=vectors.device)
    torch.cumsum(torch.gather(vectors, 1, order), dim=1, out=sums[:, 1:])
    first = torch.searchsorted(ordered, ordered, right=False)
    last = torch.searchsorted(ordered, ordered, right=True)
    means = (torch.gather(sums, 1, last) - torch.gather(sums, 1, first)) / (last - first)
    if pool:
        torch.cumsum(means, dim=1, out=sums[:, 1:])
        means = _antitonic(torch, sums)
    return torch.zeros_like(vectors).scatter_(1, order, means)


def _antitonic(torch: Any, sums: Any) -> Any:
    """Value t is the minimum over s <= t of the largest mean of the items s..u with u >= t."""
    k = sums.shape[1] - 1
    start = torch.arange(k, device=sums.device)
    length = (start[None, :] - start[:, None] + 1).clamp(min=1)
    means = (sums[:, None, 1:] - sums[:, :-1, None]) / length  # of s..u, in row s and column u; u < s is masked below
    largest = means.flip(2).cummax(dim=2).values.flip(2)
    largest.masked_fill_(start[None, :] < start[:, None], torch.inf)
    return largest.amin(dim=1)
