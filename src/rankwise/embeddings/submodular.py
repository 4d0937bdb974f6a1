"""SubmodularEmbedding: the graph cut embedding with any other submodular function of sets of items."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np

from rankwise._sklearn import Interval, StrOptions
from rankwise._typing import FloatArray, RandomState
from rankwise.embeddings import _graph_cut_jit
from rankwise.embeddings.completions import Levels, slots_of
from rankwise.embeddings.ordered_partitions import PartitionEmbedding
from rankwise.embeddings.set_functions import (
    KnownValues,
    SetFunction,
    check_number_of_items,
    refuse_if_not_submodular,
)


class SubmodularEmbedding(PartitionEmbedding):
    r"""Rankings as what each item adds to the value of a set, the best first; larger = preferred.

    *Definition.* Let F be a function of sets of items and :math:`B_1 \subset B_2 \subset \dots` the items of the best
    level of a ranking, of the best two levels, and so on. The feature of an item of level t is the slope, from
    :math:`|B_{t-1}|` to :math:`|B_t|`, of the least concave majorant of the points :math:`(|B_t|, F(B_t) -
    F(\emptyset))`: means of :math:`F(B_t) - F(B_{t-1})` over the items of a level, pooled until they fall from the best
    level to the worst. Features sum to :math:`F(V) - F(\emptyset)`, with V all items.

    F must be submodular (what an item adds falls as the set grows), as `concave_of_size`, `coverage` and
    `gaussian_entropy` are. With the cut of a graph this is `GraphCutEmbedding`, which is much faster. The features of
    the reverse ranking are the negative ones only if F gives a set and its complement the same value, as cuts do.

    Parameters
    ----------
    F : callable
        From an increasing array of item ids, counted from 0, to a number; must accept an empty array.
    pooling : {"pava", "none"}, default="pava"
        Whether to pool.
    completion : {"auto", "exact", "sample", "full"}, default="auto"
        How to average over completions of rankings with missing items, as in `GraphCutEmbedding`.
    n_samples : int, default=128
        Completions to draw; rounded up to a multiple of 16.
    random_state : None, int, Generator or RandomState
        Draws the completions, once, in ``fit``.
    check_submodular : bool, default=True
        Whether ``fit`` refuses an F that is not submodular, with the sets that show it (see `submodularity_violation`):
        on all sets of up to 12 items, on 500 random pairs of sets with more.

    Attributes
    ----------
    enumerated_up_to_ : int
        Rankings with at most this number of completions have exact features.
    n_features_in_ : int
        Number of items.
    feature_names_in_ : ndarray of shape (n_items,)
        Names of the items, where the rankings have them.

    References
    ----------
    Conserva, Deisenroth, Sesh Kumar (2022), The graph cut kernel for ranked data, section 5, where the extension is
    left open. Kumar, Bach (2017), Active-set methods for submodular minimization problems.

    Examples
    --------
    >>> from rankwise.embeddings import SubmodularEmbedding, coverage
    >>> embedding = SubmodularEmbedding(coverage([[1, 1, 0], [0, 1, 0], [0, 0, 1]]))
    >>> embedding.fit_transform([[1, 2, 3], [2, 1, 3]])
    array([[2. , 0.5, 0.5], [1. , 1. , 1. ]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "F": [callable],
        "pooling": [StrOptions({"pava", "none"})],
        "completion": [StrOptions({"auto", "exact", "sample", "full"})],
        "n_samples": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state", np.random.Generator],
        "check_submodular": ["boolean"],
    }

    def __init__(
        self,
        F: SetFunction,
        pooling: Literal["pava", "none"] = "pava",
        completion: Literal["auto", "exact", "sample", "full"] = "auto",
        n_samples: int = 128,
        random_state: RandomState = None,
        check_submodular: bool = True,
    ) -> None:
        self.F = F
        self.pooling = pooling
        self.completion = completion
        self.n_samples = n_samples
        self.random_state = random_state
        self.check_submodular = check_submodular

    def _fit_items(self, n_items: int, items: Sequence[Hashable] | None) -> None:
        check_number_of_items(self.F, n_items, "the number of ranked items is")
        if self.check_submodular and n_items > 1:
            refuse_if_not_submodular(self.F, n_items)

    def _features(self, levels: Levels) -> FloatArray:
        if not len(levels):
            return np.empty(levels.shape)
        values = KnownValues(self.F)
        shape = (len(levels), int(levels.max()) + 1)
        increments, counts = np.zeros(shape), np.zeros(shape)
        for r, level in enumerate(levels):
            counts[r] = np.bincount(level, minlength=shape[1])
            before = values(level < 0)
            for t in np.flatnonzero(counts[r]):
                after = values(level <= t)
                increments[r, t] = after - before
                before = after
        if self.pooling == "pava":
            slopes = np.empty(shape)
            _graph_cut_jit.pool_increments(increments, counts, slopes)
        else:
            slopes = increments / np.maximum(counts, 1)
        return np.take_along_axis(slopes, levels.astype(np.intp), axis=1)

    def _mean_features(self, levels: Levels, table: Levels, n_runs: int) -> FloatArray:
        completed = table[:, slots_of(levels)]
        features = self._features(completed.reshape(-1, levels.shape[1]))
        return features.reshape(n_runs, -1, *levels.shape).mean(axis=1).transpose(1, 0, 2)
