"""Breiman's trees: every node takes the split that is best for its own rows."""

from __future__ import annotations

import numpy as np

from rankwise._typing import FloatArray
from rankwise.trees.growth import _jit
from rankwise.trees.growth._jit import Features, Limits, Nodes, Scratch, Targets
from rankwise.trees.structure import Tree
from rankwise.trees.targets import TargetRows

_KEPT = ("feature", "threshold", "missing_left", "left", "gain", "error", "weight", "count", "set_of")


def grow_best(features: Features, targets: TargetRows, limits: Limits, weights: FloatArray, seed: int) -> Tree:
    """Grow a tree, depth first, or, if the number of leaves is limited, best gain first."""
    vectors = targets.for_kernels(weights)
    nodes = _empty_nodes(features, limits)
    scratch = _working_memory(features, vectors, limits)
    with np.errstate(over="ignore"):  # hashes wrap around, of which NumPy warns where nothing is compiled
        n_nodes, n_sets = _jit.grow(features, vectors, limits, np.uint64(seed), nodes, scratch)
    kept = {name: getattr(nodes, name)[:n_nodes].copy() for name in _KEPT}
    return Tree(**kept, sets=nodes.sets[:n_sets].copy())


# ---------------------------------------------------------------------------------------------------------------

# Arrays are made here and not by the kernels, which would take seconds longer to compile.


def _empty_nodes(features: Features, limits: Limits) -> Nodes:
    capacity = _most_nodes(features, limits)
    categories = _most_categories(features)
    return Nodes(
        feature=np.full(capacity, -1, np.int32),
        threshold=np.zeros(capacity),
        missing_left=np.zeros(capacity, np.bool_),
        left=np.full(capacity, -1, np.int32),
        gain=np.zeros(capacity),
        error=np.zeros(capacity),
        weight=np.zeros(capacity),
        count=np.zeros(capacity, np.int64),
        set_of=np.full(capacity, -1, np.int32),
        sets=np.zeros((capacity // 2 + 1 if categories else 1, categories // 64 + 1), np.uint64),
        cutoff=np.zeros(capacity, np.int64),
        start=np.zeros(capacity, np.int64),
        depth=np.zeros(capacity, np.int64),
        seed=np.zeros(capacity, np.uint64),
    )


def _working_memory(features: Features, targets: Targets, limits: Limits) -> Scratch:
    n = features.codes.shape[1]
    width = targets.size if targets.is_complete else 2 * targets.size
    # Only codes that are counted need sums: few ones, or categories.
    counted = features.is_categorical | (features.n_codes <= _jit.MOST_COUNTED_CODES)
    codes = int(features.n_codes[counted].max(initial=0)) + 1
    return Scratch(
        block=np.zeros((min(n, max(_jit.MOST_CACHED // width, 512)), width + 3)),
        total=np.zeros(width),
        left=np.zeros(width),
        sums=np.zeros((codes, width + 1)),
        counts=np.zeros(max(codes, min(_jit.CODES_PER_ROW * n + 1, 2**16)), np.int64),
        order=np.zeros(n, np.int64),
        code_order=np.zeros(codes, np.int64),
        chosen=np.zeros(_most_categories(features) // 64 + 1, np.uint64),
        buffer=np.zeros(n, np.int64),
        rows=np.arange(n),
        candidates=np.arange(len(features.codes)),
        frontier=np.zeros(_most_nodes(features, limits), np.int64),
        best=np.zeros(_jit.FIELDS),
    )


def _most_nodes(features: Features, limits: Limits) -> int:
    return 2 * min(features.codes.shape[1], limits.max_leaf_nodes) - 1


def _most_categories(features: Features) -> int:
    return int(features.n_codes[features.is_categorical].max(initial=0))
