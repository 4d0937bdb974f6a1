"""Breiman's trees: every node takes the split that is best for its own rows."""

from __future__ import annotations

import numpy as np

from rankwise._typing import FloatArray, IntArray
from rankwise.trees import _grow_jit
from rankwise.trees._grow_jit import Features, Limits, Nodes, Scratch, Targets
from rankwise.trees.structure import Tree
from rankwise.trees.targets import TargetRows

_KEPT = ("feature", "threshold", "missing_left", "left", "gain", "error", "weight", "count", "set_of")


def grow_best(features: Features, targets: TargetRows, limits: Limits, weights: FloatArray, seed: int) -> Tree:
    """Grow a tree, depth first, or, if the number of leaves is limited, best gain first."""
    vectors = targets.for_kernels(weights)
    nodes = _empty_nodes(features, limits)
    scratch = _working_memory(features, vectors, limits)
    with np.errstate(over="ignore"):  # hashes wrap around, of which NumPy warns where nothing is compiled
        n_nodes, n_sets = _grow_jit.grow(features, vectors, limits, np.uint64(seed), nodes, scratch)
    kept = {name: getattr(nodes, name)[:n_nodes].copy() for name in _KEPT}
    return Tree(**kept, sets=nodes.sets[:n_sets].copy())


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
    counted = features.is_categorical | (features.n_codes <= _grow_jit.MOST_COUNTED_CODES)
    codes = int(features.n_codes[counted].max(initial=0)) + 1
    return Scratch(
        block=np.zeros((min(n, max(_grow_jit.MOST_CACHED // width, 512)), width + 3)),
        total=np.zeros(width),
        left=np.zeros(width),
        sums=np.zeros((codes, width + 1)),
        counts=np.zeros(max(codes, min(_grow_jit.CODES_PER_ROW * n + 1, 2**16)), np.int64),
        order=np.zeros(n, np.int64),
        code_order=np.zeros(codes, np.int64),
        chosen=np.zeros(_most_categories(features) // 64 + 1, np.uint64),
        buffer=np.zeros(n, np.int64),
        rows=np.arange(n),
        candidates=np.arange(len(features.codes)),
        frontier=np.zeros(_most_nodes(features, limits), np.int64),
        best=np.zeros(_grow_jit.FIELDS),
    )


def _most_nodes(features: Features, limits: Limits) -> int:
    return 2 * min(features.codes.shape[1], limits.max_leaf_nodes) - 1


def _most_categories(features: Features) -> int:
    return int(features.n_codes[features.is_categorical].max(initial=0))


# Features as small whole numbers: what the search for splits works on.
#
# Codes keep the order of the values; a code stands for one value (exact) or for a bin of neighbouring ones. Thresholds
# are real numbers between the values of two codes, so a grown tree needs no codes to predict.


#: bins that fit, with one code for missing values, into a byte
MOST_BINS = 255


def code_features(X: FloatArray, n_categories: IntArray, max_bins: int | None) -> Features:
    """Code every column of ``X``; NaN gets the code after the last.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
        Numbers; category numbers 0, 1, ... in categorical columns.
    n_categories : ndarray of shape (n_features,)
        Categories of each column, 0 for columns of numbers. Rows need not hold all of them.
    max_bins : int or None
        Bins of a numeric column, of about equal counts; None gives every value its own code.
    """
    coded = [
        _code_categories(column, int(number)) if number else _code_numbers(column, max_bins)
        for column, number in zip(X.T, n_categories, strict=True)
    ]
    n_codes = np.array([len(lower) for _, lower, _ in coded], dtype=np.int64)
    dtype = np.uint8 if n_codes.max(initial=0) <= MOST_BINS else np.int32
    codes = np.empty((X.shape[1], X.shape[0]), dtype=dtype)
    for feature, (column, _, _) in enumerate(coded):
        codes[feature] = column
    return Features(
        codes,
        n_codes,
        np.asarray(n_categories) > 0,
        np.concatenate([lower for _, lower, _ in coded]),
        np.concatenate([upper for _, _, upper in coded]),
        np.concatenate([[0], np.cumsum(n_codes)[:-1]]).astype(np.int64),
    )


def _code_numbers(column: FloatArray, max_bins: int | None) -> tuple[np.ndarray, FloatArray, FloatArray]:
    known = ~np.isnan(column)
    values, code_of_known = np.unique(column[known], return_inverse=True)
    if max_bins is None or len(values) <= max_bins:
        lower = upper = values
    else:
        # Cuts at equal shares of the rows; a value that holds many rows takes a bin of its own.
        counts = np.cumsum(np.bincount(code_of_known))
        share = counts[-1] * np.arange(1, max_bins) / max_bins
        last = np.unique(np.searchsorted(counts, share))
        last = np.append(last[last < len(values) - 1], len(values) - 1)
        first = np.concatenate([[0], last[:-1] + 1])
        lower, upper = values[first], values[last]
        code_of_known = np.repeat(np.arange(len(last)), last - first + 1)[code_of_known]
    codes = np.full(len(column), len(lower), dtype=np.int64)
    codes[known] = code_of_known
    return codes, lower, upper


def _code_categories(column: FloatArray, number: int) -> tuple[np.ndarray, FloatArray, FloatArray]:
    known = ~np.isnan(column)
    codes = np.full(len(column), number, dtype=np.int64)
    codes[known] = column[known].astype(np.int64)
    values = np.arange(float(number))
    return codes, values, values
