"""Graphs of items, whose weights say how similar two items are: built from features, checked, put in order."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from rankwise._typing import ArrayLike, FloatArray, IntArray
from rankwise._validation import check_choice, check_numbers, check_real_number, data_frame, item_names, shortlist
from rankwise.embeddings import _graph_cut_jit

GraphKernel = Literal["laplace", "rbf"]
Lengthscale = Literal["median", "median-with-diagonal"] | float

# Tolerance, relative to the largest weight, when comparing weights that were computed in a different order.
_ROUNDING = 1e-10
# Time for an edge in compressed rows, where it is stored twice, relative to a cell of a matrix.
_CELLS_PER_EDGE = 2


def item_graph(
    features: ArrayLike,
    kernel: GraphKernel = "laplace",
    lengthscale: Lengthscale = "median",
    keep: float | None = None,
    strict: bool = False,
) -> Any:
    r"""Weights between items from their features; larger = more similar.

    *Definition.* With :math:`d_{ij}` the Euclidean distance of the features of items i and j, the weight is
    :math:`e^{-d_{ij} / \ell}` ("laplace") or :math:`e^{-d_{ij}^2 / (2 \ell^2)}` ("rbf"); 0 between an item and itself.

    Parameters
    ----------
    features : array-like of shape (n_items, n_features)
        One row per item, in the order of the columns of positions, on comparable scales. If the index of a
        frame has names, the result is a frame with these names, by which `GraphCutEmbedding` finds the items.
    kernel : {"laplace", "rbf"}, default="laplace"
        The squared exponential, "rbf", is equation 15 of the paper; the code published with it computes "laplace".
    lengthscale : {"median", "median-with-diagonal"} or float, default="median"
        :math:`\ell`: the median of the distances between two items, or of all entries of the distance matrix, zeros
        on the diagonal included (as in the published code; shorter), or a positive number.
    keep : float, optional
        Share of the edges to keep, the heaviest, at most 1. The heaviest edge of every item is kept as well, so that
        no item is isolated. By default all.
    strict : bool, default=False
        Keep this share alone, as the published code does, so that items may be isolated; `GraphCutEmbedding` takes them
        with ``allow_isolated=True``. Pairs of equal items do not count for the share.

    Returns
    -------
    ndarray or frame of shape (n_items, n_items), or CSR array (without names) if ``keep`` is given
        Symmetric, not negative; for ``GraphCutEmbedding(graph=...)``.

    References
    ----------
    Conserva, Deisenroth, Sesh Kumar (2022), The graph cut kernel for ranked data, section 4.

    Examples
    --------
    >>> from rankwise.embeddings import item_graph
    >>> item_graph([[0.0], [1.0], [3.0]], lengthscale=1.0).round(3)
    array([[0.   , 0.368, 0.05 ],
           [0.368, 0.   , 0.135],
           [0.05 , 0.135, 0.   ]])
    """
    distances = _distances(features)
    n_items = len(distances)
    pairs = distances[np.triu_indices(n_items, 1)]
    scale = _scale(lengthscale, distances, pairs)
    check_choice("kernel", kernel, ("laplace", "rbf"))
    ratio = distances / scale
    weights = np.exp(-ratio if kernel == "laplace" else -0.5 * ratio**2)
    np.fill_diagonal(weights, 0.0)
    alone = np.flatnonzero(weights.max(axis=1) == 0)
    if len(alone):
        nearest = np.min(distances[alone[0]], where=np.arange(len(weights)) != alone[0], initial=np.inf)
        raise ValueError(
            f"items {shortlist(alone.tolist())} are so far from all others that their weights are 0: the nearest "
            f"neighbor of item {alone[0]} is {nearest / scale:.3g} lengthscales away; increase lengthscale, use "
            "kernel='laplace', or bring features to comparable scales"
        )
    if keep is not None:
        return _heaviest(weights, keep, strict)
    if strict:
        raise ValueError("strict is for a share of the edges; give keep, for example 0.1")
    names = _index_names(features)
    return weights if names is None else type(features)(weights, index=names, columns=names)


def median_distance(features: ArrayLike) -> float:
    """Median of the distances between two items, the lengthscale "median" of `item_graph`."""
    distances = _distances(features)
    return _scale("median", distances, distances[np.triu_indices(len(distances), 1)])


def is_merge_free(graph: ArrayLike) -> bool:
    r"""Whether graph cut features need no pooling for any ranking.

    *Definition.* This holds if and only if, for all pairs of items,
    :math:`2 a_{jk} \ge \sum_{i \ne j, k} |a_{ij} - a_{ik}|`. The unweighted complete graph is merge-free, and adding a
    large enough number to all weights makes any graph merge-free.

    Parameters
    ----------
    graph : array-like or sparse matrix of shape (n_items, n_items)
        Weights: symmetric, not negative.

    Returns
    -------
    bool

    Examples
    --------
    >>> from rankwise.embeddings import is_merge_free
    >>> is_merge_free([[0, 1, 1], [1, 0, 1], [1, 1, 0]]), is_merge_free([[0, 1, 0], [1, 0, 3], [0, 3, 0]])
    (True, False)
    """
    checked = check_graph(graph)
    weights = checked.weights if len(checked.weights) else checked.matrix().toarray()
    above = weights[np.triu_indices(len(weights), 1)]
    if np.all(above == above[:1]):
        return True
    return bool(_graph_cut_jit.never_merges(weights, _ROUNDING * weights.max(initial=0.0)))


class ItemGraph(NamedTuple):
    """A checked graph, as compiled functions take it: a matrix, or compressed rows; the other is empty."""

    weights: FloatArray
    starts: IntArray
    neighbors: IntArray
    values: FloatArray

    @property
    def n_items(self) -> int:
        """Number of nodes."""
        return len(self.weights) or len(self.starts) - 1

    def matrix(self) -> Any:
        """The weights, as an array or in compressed rows."""
        from scipy import sparse

        if len(self.weights):
            return self.weights
        return sparse.csr_array((self.values, self.neighbors, self.starts), shape=(self.n_items, self.n_items))


def complete_graph(n_items: int) -> ItemGraph:
    """All weights 1."""
    return _dense_graph(1.0 - np.eye(n_items))


def check_graph(graph: ArrayLike) -> ItemGraph:
    """Check that the weights are a symmetric matrix, finite and not negative; the diagonal is ignored."""
    from scipy import sparse

    compressed = sparse.issparse(graph)
    if compressed and graph.dtype.kind == "c":
        raise TypeError("graph holds complex numbers; weights are numbers of 0 or more")
    matrix: Any = graph.tocsr().astype(np.float64) if compressed else check_numbers("graph", graph)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"graph has shape {matrix.shape}; give a square matrix of weights, one row per item")
    entries = sparse.coo_array(matrix)
    wrong = np.flatnonzero(~(np.isfinite(entries.data) & (entries.data >= 0)))
    if len(wrong):
        i, j, value = entries.row[wrong[0]], entries.col[wrong[0]], entries.data[wrong[0]]
        raise ValueError(
            f"graph[{i}, {j}] is {value:g}, but weights must be finite and not negative: larger = more similar. "
            "From correlations take exp(correlation) or the positive part; from distances, item_graph"
        )
    with np.errstate(over="ignore"):
        if not np.isfinite(entries.data.sum()):
            raise ValueError("the sum of the weights in graph does not fit into a float64; divide them by the largest")
    differences = sparse.coo_array(matrix - matrix.T)
    largest = np.max(entries.data, initial=0.0)
    wrong = np.flatnonzero(np.abs(differences.data) > _ROUNDING * largest)
    if len(wrong):
        i, j = differences.row[wrong[0]], differences.col[wrong[0]]
        raise ValueError(
            f"graph[{i}, {j}] is {matrix[i, j]:g} and graph[{j}, {i}] is {matrix[j, i]:g}, but a weight is the same "
            "both ways; take (graph + graph.T) / 2"
        )
    if not compressed or matrix.nnz * _CELLS_PER_EDGE >= matrix.shape[0] ** 2:
        weights = matrix.toarray() if compressed else matrix
        return _dense_graph(np.where(np.eye(len(weights), dtype=bool), 0.0, weights))
    cells = matrix.tocoo()
    edges = (cells.row != cells.col) & (cells.data > 0)
    rows = sparse.csr_array((cells.data[edges], (cells.row[edges], cells.col[edges])), shape=matrix.shape)
    return ItemGraph(np.empty((0, 0)), rows.indptr.astype(np.intp), rows.indices.astype(np.intp), rows.data)


def features_in_order(features: ArrayLike, items: Sequence[Hashable] | None) -> ArrayLike:
    """Item features in the order of the items, if the index of a data frame names them."""
    names = _index_names(features)
    if names is None or not _are_names(names, items):
        return features
    return np.asarray(features)[_places(names, items, "features")]


def graph_in_order(graph: ArrayLike, items: Sequence[Hashable] | None) -> ArrayLike:
    """Weights in the order of the items, if the index or the columns of a data frame name them."""
    rows, columns = _index_names(graph), item_names(graph)
    rows, columns = rows or columns, columns or rows
    if rows is None or columns is None or not (_are_names(rows, items) or _are_names(columns, items)):
        return graph
    return np.asarray(graph)[np.ix_(_places(rows, items, "graph"), _places(columns, items, "graph"))]


def _index_names(table: Any) -> list[Hashable] | None:
    """The index of a data frame, unless it just counts the rows."""
    frame = data_frame(table, "features")
    if frame is None:
        return None
    import narwhals as nw

    index = nw.maybe_get_index(frame)
    names = None if index is None else index.tolist()
    return None if names == list(range(len(frame))) else names


def _are_names(names: list[Hashable], items: Sequence[Hashable] | None) -> bool:
    """Whether row labels name the items; numbers that name no item are leftovers of earlier row numbers."""
    if items is None:
        return False
    return any(isinstance(name, str) for name in names) or not set(names).isdisjoint(items)


def _places(names: list[Hashable], items: Sequence[Hashable] | None, source: str) -> list[int]:
    wanted = list(items or ())
    if len(names) != len(wanted) or set(names) != set(wanted):
        raise ValueError(
            f"{source} has the items {shortlist(names)}, but the rankings have {shortlist(wanted)}; give the same "
            "items in both, or an array in the order of the columns of the rankings"
        )
    place = {name: i for i, name in enumerate(names)}
    return [place[item] for item in wanted]


def _distances(features: ArrayLike) -> FloatArray:
    from scipy.spatial.distance import cdist

    rows = check_numbers("features", features)
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise ValueError(f"features has shape {rows.shape}; give one row per item and one column per feature")
    if len(rows) < 2:
        raise ValueError("features has one row; a graph needs two items or more, one row for each")
    without = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if len(without):
        raise ValueError(
            f"features are missing or not finite for items {shortlist(without.tolist())}; fill them in, or drop these "
            "items from the rankings (Rankings.select)"
        )
    return cdist(rows, rows)


def _scale(lengthscale: Lengthscale, distances: FloatArray, pairs: FloatArray) -> float:
    if lengthscale == "median":
        scale = float(np.median(pairs))
    elif lengthscale == "median-with-diagonal":
        scale = float(np.median(distances))
    elif isinstance(lengthscale, str):
        raise ValueError(f"lengthscale is {lengthscale!r}; choose 'median', 'median-with-diagonal' or a number")
    else:
        scale = check_real_number("lengthscale", lengthscale)
    if scale == 0:
        raise ValueError(
            f"lengthscale {lengthscale!r} is 0 here; give a positive number (if the median is 0, most items have equal "
            "features)"
        )
    return scale


def _heaviest(weights: FloatArray, keep: float, strict: bool) -> Any:
    """The heaviest edges, ties included, and unless strict the heaviest edge of every item, as a CSR array."""
    from scipy import sparse

    share = check_real_number("keep", keep)
    if not 0 < share <= 1:
        raise ValueError(f"keep is {keep}; give the share of the edges to keep, above 0 and at most 1")
    pairs = weights[np.triu_indices(len(weights), 1)]
    if strict:
        pairs = pairs[(pairs > 0) & (pairs < 1)]
        heavy = weights >= (np.quantile(pairs, 1 - share) if len(pairs) else 1.0)
        np.fill_diagonal(heavy, False)
    else:
        heavy = weights >= np.quantile(pairs, 1 - share)
        heavy |= weights == weights.max(axis=1, keepdims=True)
    return sparse.csr_array(np.where(heavy | heavy.T, weights, 0.0))


def _dense_graph(weights: FloatArray) -> ItemGraph:
    none = np.empty(0, dtype=np.intp)
    return ItemGraph(np.ascontiguousarray(weights), none, none, np.empty(0))
