"""GraphCutEmbedding: the feature map of the graph cut kernel, one coordinate per item."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np

from rankwise._sklearn import N_JOBS, Interval, StrOptions
from rankwise._state import BOOL, COUNT, MATRIX, Saved, State, check_shape, either, ensure, instance, learned_state
from rankwise._typing import ArrayLike, BoolArray, FloatArray, RandomState
from rankwise._validation import shortlist
from rankwise.data import midranks
from rankwise.embeddings import _graph_cut_jit
from rankwise.embeddings.completions import Levels, slots_of
from rankwise.embeddings.item_graphs import (
    check_graph,
    complete_graph,
    features_in_order,
    graph_in_order,
    is_merge_free,
    item_graph,
)
from rankwise.embeddings.ordered_partitions import MOST_COMPLETIONS, PartitionEmbedding

GraphCutCompletion = Literal["auto", "exact", "sample", "closed-form", "full"]

# With more items, graphs are not tested for being merge-free, which takes cubic time; without the test, rankings with
# missing items take longer, and nothing else changes.
_MOST_ITEMS_TESTED = 1000


class GraphCutEmbedding(PartitionEmbedding):
    r"""Rankings as the feature map of the graph cut kernel; larger = preferred.

    *Definition.* Items are the nodes of a graph with weights :math:`a_{ij}`, and :math:`F(B) = \sum_{i \in B, j \notin
    B} a_{ij}` is the cut of B. Let :math:`B_1 \subset B_2 \subset \dots` be the items of the best level of a
    ranking, of the best two levels, and so on. The feature of an item of level t is the slope, from
    :math:`|B_{t-1}|` to :math:`|B_t|`, of the least concave majorant of the points :math:`(|B_t|, F(B_t))`. That is:

    1. :math:`u_j = \sum_i a_{ij} (1_{i \text{ below } j} - 1_{i \text{ above } j})` for every item;
    2. the mean of u over the items of each level;
    3. means of adjacent levels pooled until none is larger than that of a better level (antitonic regression).

    The inner product of features is the graph cut kernel. They sum to 0, the reverse ranking has the negative ones, and
    on the complete unweighted graph they are twice the distance of the mid-rank from the middle.

    Where items are missing, the feature is the mean over completions: every missing item in one of the gaps before,
    between and after the levels, independently, with ties in a shared gap.

    Parameters
    ----------
    graph : array-like or sparse matrix of shape (n_items, n_items), optional
        Weights between items, symmetric and not negative, for example from `item_graph`; by default that of
        ``features``, else all 1. A ranking takes time in proportion to the number of edges if the graph is sparse and
        has few (under half of all), else to the number of pairs. Rows are in the order of the columns of the rankings;
        those of a frame whose index or columns are names are found by name, if the rankings have names too.
    features : array-like of shape (n_items, n_features), optional
        Features of the items, for ``item_graph(features)``; not together with ``graph``. Ordered like ``graph``.
    pooling : {"pava", "none"}, default="pava"
        Whether to do step 3; without it the features of full rankings are linear in their Kendall features.
    completion : {"auto", "exact", "sample", "closed-form", "full"}, default="auto"
        How to average over the completions of rankings with missing items. "exact" enumerates them, up to 1,000,000.
        "sample" draws ``n_samples`` of them, which is faster. "auto" is exact up to 20,000 and samples beyond that; the
        limit is lower if the rankings given to ``fit`` would have more than 200,000,000 to enumerate together (see
        ``enumerated_up_to_``, and `n_completions` for the cost).
        "closed-form" takes the mean of step 2, by formula for any number of items, and skips step 3: a different
        kernel, for complete rankings too if ``pooling="none"``. "full" averages over other completions, exactly up to
        20,000 of them: all full rankings that agree with the ranking, where tied and unlisted items come in any order
        too. Without pooling, and where the graph is merge-free (see `is_merge_free`), every mean is exact by formula.
    n_samples : int, default=128
        Completions to draw; rounded up to a multiple of 16.
    random_state : None, int, Generator or RandomState
        Draws the completions, once, in ``fit``: rankings with as many items on each level and as many missing use the
        same draws, so that a feature depends neither on the other rows nor on their order.
    dtype : {"float64", "float32"}, default="float64"
        Of the features; they are computed in double precision.
    allow_isolated : bool, default=False
        Whether items may have no weight to any other, as in ``item_graph(..., keep=0.1, strict=True)``. Their places
        count for nothing, so by default they are refused.
    n_jobs : int, optional
        Threads; the result is the same for every number.

    Attributes
    ----------
    graph_ : ndarray or CSR array of shape (n_items, n_items)
        The weights.
    enumerated_up_to_ : int
        Rankings with at most this number of completions have exact features.
    merge_free_ : bool
        Whether pooling is known to change nothing (tested for graphs that are not sparse, of up to 1,000 items).
    n_features_in_ : int
        Number of items.
    feature_names_in_ : ndarray of shape (n_items,)
        Names of the items, where the rankings have them.

    Notes
    -----
    Equations 8 and 9 of the paper, taken literally, make every feature 0; its algorithm 1 and its published code pool
    the other way, as here. The published code has the opposite sign, which no kernel shows.

    Samples are drawn by Latin hypercubes in antithetic pairs, and only what pooling adds to the known mean of step 2 is
    estimated. Features are unbiased, with a fraction of the error of plain sampling; see `standard_errors`.

    References
    ----------
    Conserva, Deisenroth, Sesh Kumar (2022), The graph cut kernel for ranked data.

    Examples
    --------
    >>> from rankwise.embeddings import GraphCutEmbedding
    >>> embedding = GraphCutEmbedding(graph=[[0, 2, 1], [2, 0, 1], [1, 1, 0]]).fit([[1, 2, 3]])
    >>> embedding.transform([[1, 2, 3], [1, 1, 2], [1, 2, float("nan")]])
    array([[ 3. , -1. , -2. ], [ 1. ,  1. , -2. ], [ 2.33...,  -2.33...,  0. ]])
    >>> embedding.inverse_transform([[0.3, 0.8, -1.0]])
    array([[2., 1., 3.]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "graph": [None, "array-like", "sparse matrix"],
        "features": [None, "array-like"],
        "pooling": [StrOptions({"pava", "none"})],
        "completion": [StrOptions({"auto", "exact", "sample", "closed-form", "full"})],
        "n_samples": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state", np.random.Generator],
        "dtype": [StrOptions({"float64", "float32"})],
        "allow_isolated": ["boolean"],
        "n_jobs": N_JOBS,
    }

    _saved: ClassVar[Saved] = {
        "n_features_in_": COUNT,
        "graph_": either(MATRIX, instance("csr_array")),
        "merge_free_": BOOL,
        "enumerated_up_to_": COUNT,
        "_keys": MATRIX,
    }

    def __init__(
        self,
        graph: ArrayLike | None = None,
        features: ArrayLike | None = None,
        pooling: Literal["pava", "none"] = "pava",
        completion: GraphCutCompletion = "auto",
        n_samples: int = 128,
        random_state: RandomState = None,
        *,
        dtype: Literal["float64", "float32"] = "float64",
        allow_isolated: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.graph = graph
        self.features = features
        self.pooling = pooling
        self.completion = completion
        self.n_samples = n_samples
        self.random_state = random_state
        self.dtype = dtype
        self.allow_isolated = allow_isolated
        self.n_jobs = n_jobs

    def _fit_items(self, n_items: int, items: Sequence[Hashable] | None) -> None:
        if self.graph is not None and self.features is not None:
            raise ValueError("graph and features are both given; take one, or graph=item_graph(features)")
        if self.graph is not None:
            graph, source = check_graph(graph_in_order(self.graph, items)), "graph"
        elif self.features is not None:
            graph, source = check_graph(item_graph(features_in_order(self.features, items))), "features"
        else:
            graph, source = complete_graph(n_items), "graph"
        if graph.n_items != n_items:
            raise ValueError(
                f"{source} has {graph.n_items} rows, but the rankings have {n_items} items; give one row for each, in "
                "the order of the columns"
            )
        alone = np.flatnonzero(np.asarray(graph.matrix().sum(axis=0)) == 0).tolist()
        if alone and not self.allow_isolated:
            names = alone if items is None else [items[i] for i in alone]
            raise ValueError(
                f"items {shortlist(names)} have no weight to any other, so that their places "
                "count for nothing; join them to the graph with small weights (item_graph gives such), "
                "drop them from the rankings (Rankings.select), or set allow_isolated=True"
            )
        self._graph = graph
        self.graph_ = graph.matrix()
        self.merge_free_ = self.graph is None and self.features is None  # as all weights are 1 then
        if 0 < len(graph.weights) <= _MOST_ITEMS_TESTED and not self.merge_free_:
            self.merge_free_ = is_merge_free(graph.weights)

    @property
    def _needs_no_pooling(self) -> bool:
        return self.pooling == "none" or self.merge_free_

    def _averages(self, levels: Levels) -> BoolArray:
        if self._needs_no_pooling or self.completion == "closed-form":
            return np.zeros(len(levels), dtype=bool)
        return self._is_open(levels)

    def _features(self, levels: Levels) -> FloatArray:
        features = np.empty(levels.shape)
        by_formula = self._is_open(levels)
        if by_formula.any():
            features[by_formula] = self._closed_form(levels[by_formula])
            features[~by_formula] = self._features(levels[~by_formula])
        else:
            _graph_cut_jit.cut_features(levels, not self._needs_no_pooling, *self._graph, features)
        return features

    def _mean_features(self, levels: Levels, table: Levels, n_runs: int) -> FloatArray:
        shifts = np.empty((len(levels), n_runs, levels.shape[1]))
        _graph_cut_jit.mean_pooling_shifts(table, slots_of(levels), *self._graph, shifts)
        return self._closed_form(levels)[:, None] + shifts

    def _closed_form(self, levels: Levels) -> FloatArray:
        """Means over completions of features without pooling, by formula."""
        missing = levels < 0
        features = np.empty(levels.shape)
        if self._kind == "full":
            places = midranks(np.where(missing, np.nan, levels + 1.0))
            gaps = np.sum(~missing, axis=1, keepdims=True) + 1.0
            odds = np.where(missing, 0.0, (gaps - 2 * places) / gaps)
            _graph_cut_jit.expected_increments(levels, odds, *self._graph, features)
            return features
        gaps = levels.max(axis=1, keepdims=True) + 2.0
        odds = np.where(missing, 0.0, (gaps - 2 * (levels + 1)) / gaps)
        _graph_cut_jit.expected_increments(levels, odds, *self._graph, features)
        _graph_cut_jit.average_expectations(levels, *_shares(missing.sum(axis=1), gaps[:, 0]), features)
        return features

    def _check_saved(self) -> None:
        ensure(self._graph.n_items == self.n_features_in_, "graph and items differ")
        check_shape(self._keys, (self.n_samples, self.n_features_in_), "the random numbers")
        ensure(((self._keys >= 0) & (self._keys < 1)).all(), "a random number is not between 0 and 1")
        ensure(self.enumerated_up_to_ <= MOST_COMPLETIONS, "too many completions would be enumerated")

    def _to_state(self) -> State:
        """The graph as a matrix alone."""
        return {name: part for name, part in learned_state(self).items() if name != "_graph"}

    @classmethod
    def _from_state(cls, parameters: State, state: State) -> GraphCutEmbedding:
        """The embedding with its graph checked as in fit."""
        embedding = cls(**parameters)
        if state:
            vars(embedding).update(state, _graph=check_graph(state["graph_"]))
        return embedding


def _shares(n_missing: FloatArray, n_gaps: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Expected weights of a missing item, and of each other one, in the mean over the gap that it falls into.

    The first is the mean of 1 / (1 + number of others in the gap); the others share the rest equally.
    """
    alone = (1 - (1 - 1 / n_gaps) ** n_missing) * n_gaps / np.maximum(n_missing, 1)
    own = np.where(n_missing > 0, alone, 1.0)
    return own, (1 - own) / np.maximum(n_missing - 1, 1)
