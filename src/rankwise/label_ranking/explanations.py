"""Why a tree-based ranker puts one item before another: exact Shapley values of a pair, as a `PairExplanation`."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankwise._sklearn import gen_batches
from rankwise._tables import Result, TextTable, counted, make_frame, short_name
from rankwise._typing import FloatArray
from rankwise.label_ranking import _tree_answers_jit
from rankwise.trees.engine import LeafGaps, LeafRows, Tree

# Features that are printed one by one; the others are added up.
_MOST_SHOWN = 10
# Leaves whose vectors of all pairs are written out at a time.
_LEAVES_AT_ONCE = 1024
# Rows that go down all trees before the next ones do.
_ROWS_AT_ONCE = 16


@dataclass(frozen=True, eq=False, repr=False)
class PairExplanation(Result):
    """What each feature adds to the prediction that one item comes before another.

    Attributes
    ----------
    values : ndarray of shape (n_samples, n_features)
        Shapley values: positive if the feature speaks for the first item. Each row adds up to its prediction less
        ``base_value``.
    base_value : float
        The prediction where no feature is known.
    prediction : ndarray of shape (n_samples,)
        What is explained.
    features : tuple of str
        Names of the features.
    pair : tuple
        Names of the two items.
    output : {"probability", "log odds"}
        What is explained: the probability of the first item before the second, or its log odds.
    inputs : ndarray of object, shape (n_samples, n_features)
        The features of the rows; None where missing.
    """

    values: FloatArray
    base_value: float
    prediction: FloatArray
    features: tuple[str, ...]
    pair: tuple[Hashable, Hashable]
    output: str
    inputs: np.ndarray[Any, Any]

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, row: int) -> PairExplanation:
        """The explanation of one row."""
        one = slice(row, row + 1) if row >= 0 else slice(len(self) + row, len(self) + row + 1)
        if not len(self.prediction[one]):
            raise IndexError(f"row {row} is not one of {len(self)} rows")
        return replace(self, values=self.values[one], prediction=self.prediction[one], inputs=self.inputs[one])

    def tables(self) -> list[TextTable]:
        """The features that matter most: what each adds for a single row, or the mean size of it over several."""
        return [self.table(_MOST_SHOWN)]

    def table(self, most: int) -> TextTable:
        """So many features one by one, and the sum of the others."""
        first, second = (short_name(name) for name in self.pair)
        usual = f"{self.base_value:.3f} where no feature is known"
        if len(self) == 1:
            effect, measure = self.values[0], "adds"
            title = f"{first} before {second}: {self.output} {self.prediction[0]:.3f}"
            inputs = self.input_texts(0)
        else:
            effect = np.abs(self.values).mean(axis=0) if len(self) else np.zeros(len(self.features))
            measure, inputs = "mean size", []
            title = f"{first} before {second}: {self.output} in {counted(len(self), 'row')}"
        order = np.argsort(-np.abs(effect), kind="stable")
        sign = "+" if len(self) == 1 else ""
        rows = [
            [short_name(self.features[f]), *([inputs[f]] if inputs else []), f"{effect[f]:{sign}.3f}"]
            for f in order[:most]
        ]
        others = order[most:]
        if len(others):
            name = counted(len(others), "other feature")
            rows.append([name, *([""] if inputs else []), f"{effect[others].sum():{sign}.3f}"])
        columns = ["feature", *(["value"] if inputs else []), measure]
        return TextTable(title, usual, columns, rows)

    def input_texts(self, row: int) -> list[str]:
        """The features of a row as text."""
        return [input_text(value) for value in self.inputs[row]]

    def to_frame(self, backend: str | None = None) -> Any:
        """A line for each row and feature: row, feature, input, value.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default the first of these that is installed.

        Returns
        -------
        data frame
        """
        n, d = self.values.shape
        return make_frame(
            {
                "row": np.repeat(np.arange(n), d).tolist(),
                "feature": list(self.features) * n,
                "input": [input_text(value) for value in self.inputs.ravel()],
                "value": self.values.ravel().tolist(),
            },
            backend,
        )


def input_text(value: Any) -> str:
    """A feature of a row as text."""
    if value is None:
        return "missing"
    return f"{value:.6g}" if isinstance(value, float) else short_name(value)


def explain_values(
    trees: list[Tree], values: list[FloatArray], X: FloatArray, n_jobs: int | None = None
) -> tuple[FloatArray, float, FloatArray]:
    """Shapley values, their base and the sum of the trees, where ``values`` are those of the leaves of each tree."""
    from joblib import Parallel, delayed

    prepared = [_Prepared(tree, leaves) for tree, leaves in zip(trees, values, strict=True)]
    most = max(tree.most_features for tree in prepared)
    points, weights = np.polynomial.legendre.leggauss(max(1, (most + 1) // 2))
    points, weights = (points + 1) / 2, weights / 2
    found = np.zeros(X.shape)
    prediction = np.zeros(len(X))

    def add(rows: slice) -> None:
        for tree, leaves, ready in zip(trees, values, prepared, strict=True):
            ready.add_contributions(X[rows], points, weights, found[rows])
            prediction[rows] += leaves[tree.leaf_of(X[rows])]

    Parallel(n_jobs=n_jobs, prefer="threads")(delayed(add)(rows) for rows in gen_batches(len(X), _ROWS_AT_ONCE))
    return found, float(sum(tree.base for tree in prepared)), prediction


class _Prepared:
    """A tree with what its Shapley values need of it, whatever the row."""

    def __init__(self, tree: Tree, leaves: FloatArray) -> None:
        n = len(tree.left)
        self.tree = tree
        self.value = node_values(tree, leaves)
        self.parent, self.same = np.zeros((2, n), dtype=np.int64)
        self.share, expected = np.zeros((2, n))
        self.most_features = int(
            _tree_answers_jit.prepare(
                tree.feature,
                tree.left,
                tree.weight.astype(np.float64),
                self.value,
                self.parent,
                self.share,
                self.same,
                expected,
            )
        )
        self.base = expected[0]

    def add_contributions(self, X: FloatArray, points: FloatArray, weights: FloatArray, out: FloatArray) -> None:
        tree, n = self.tree, len(self.value)
        agrees, unknown = np.zeros((2, n))
        product, total = np.zeros((2, n, len(points)))
        _tree_answers_jit.add_contributions(
            np.ascontiguousarray(X),
            tree.feature,
            tree.threshold,
            tree.missing_left,
            tree.left,
            tree.set_of,
            tree.sets,
            self.value,
            self.parent,
            self.share,
            self.same,
            points,
            weights,
            agrees,
            unknown,
            product,
            total,
            out,
        )


def node_values(tree: Tree, leaves: FloatArray) -> FloatArray:
    """Numbers of the leaves by node; 0 for inner nodes."""
    values = np.zeros(len(tree.left))
    values[tree.is_leaf] = leaves
    return values


def pair_shares(tree: Tree, i: int, j: int, n_items: int) -> FloatArray:
    """Share of item i before j in each leaf of a tree whose leaves hold pairs of items."""
    contents = tree.contents
    if isinstance(contents, LeafRows):
        first, second = contents.targets.values[contents.rows][:, [i, j]].T
        before = (first < second) + 0.5 * (first == second)
        total = np.add.reduceat(contents.weights * before, contents.start[:-1])
        return np.asarray(total / np.add.reduceat(contents.weights, contents.start[:-1], dtype=np.float64))
    low, high = min(i, j), max(i, j)
    pair = int(np.flatnonzero((np.array(np.triu_indices(n_items, 1)) == [[low], [high]]).all(axis=0))[0])
    if isinstance(contents, LeafGaps):
        return contents.shares(pair) if i < j else 1.0 - contents.shares(pair)
    share = np.empty(len(contents))
    for block in gen_batches(len(contents), _LEAVES_AT_ONCE):
        leaf = np.arange(block.start, block.stop).astype(np.int32)
        out = np.zeros((len(leaf), contents.size))
        contents.add_to(out, leaf, np.ones(contents.size))
        share[block] = out[:, pair]
    return share if i < j else 1.0 - share
