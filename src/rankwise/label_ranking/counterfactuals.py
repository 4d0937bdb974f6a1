"""What would have to change for one item to come before another: the smallest change, as a `Counterfactual`.

On one tree the leaves are boxes, and the nearest one that holds the wanted order is found by looking at all of them. On
many trees boxes of features are divided, the nearest first, until every tree has one value on a box (branch and bound).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from rankwise._tables import Result, TextTable, counted, make_frame, short_name
from rankwise._typing import BoolArray, FloatArray
from rankwise.label_ranking import _tree_answers_jit
from rankwise.label_ranking.explanations import input_text, node_values
from rankwise.trees.structure import Tree

# A prediction this much above the border counts as above it: sums of trees are rounded.
_MARGIN = 1e-9
# Boxes for a first answer, whatever its size, before smaller ones are searched for.
_FIRST_BOXES = 2_000


class FeatureChange(NamedTuple):
    """A feature that changes: its name, its value before and after, and the condition in words."""

    feature: str
    before: Any
    after: Any
    condition: str


@dataclass(frozen=True, eq=False, repr=False)
class Counterfactual(Result):
    """What would have to change for one item to come before another.

    Attributes
    ----------
    found : bool
        Whether there is an answer. It has no changes if the item comes first already.
    changes : tuple of FeatureChange
        The features that change, with ``feature``, ``before``, ``after`` and ``condition``.
    distance : float
        Sum of the changes: numbers in standard deviations of the training rows, 1 for a category or a missing value.
    is_smallest : bool
        Whether it is proven that no fewer features, and with as many no smaller distance, would do; or, if nothing was
        found, that nothing would.
    row : dict
        All features after the change, by name.
    before, after : float
        The prediction before and after: the share of the first item before the second, or its log odds; ``after`` is
        NaN if nothing was found.
    pair : tuple
        Names of the two items.
    output : {"share", "log odds"}
        What the prediction is.
    n_iter : int
        Leaves or boxes that were looked at.
    """

    found: bool
    changes: tuple[FeatureChange, ...]
    distance: float
    is_smallest: bool
    row: dict[str, Any]
    before: float
    after: float
    pair: tuple[Hashable, Hashable]
    output: str
    n_iter: int

    def tables(self) -> list[TextTable]:
        """The changes in plain words."""
        first, second = (short_name(name) for name in self.pair)
        if not self.found:
            reason = "no change that is allowed does" if self.is_smallest else "no change was found"
            searched = "" if self.is_smallest else f"; the search ended after {counted(self.n_iter, 'box', 'boxes')}"
            title = f"{first} before {second}: {reason}"
            return [TextTable(title, f"{self.output} {self.before:.3f}{searched}", [], [])]
        if not self.changes:
            return [TextTable(f"{first} comes before {second} already", f"{self.output} {self.before:.3f}", [], [])]
        title = f"{first} before {second}, if {counted(len(self.changes), 'feature')} changed"
        proof = (
            "no smaller change does"
            if self.is_smallest
            else f"a smaller change may do; the search ended after {counted(self.n_iter, 'box', 'boxes')} (max_iter)"
        )
        note = f"{self.output} {self.after:.3f} instead of {self.before:.3f}; {proof}"
        rows = [[short_name(c.feature), input_text(c.before), c.condition] for c in self.changes]
        return [TextTable(title, note, ["feature", "is", "would be"], rows)]

    def to_frame(self, backend: str | None = None) -> Any:
        """A line for each feature that changes: feature, before, after, condition.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default the first of these that is installed.

        Returns
        -------
        data frame
        """
        columns = {
            "feature": [change.feature for change in self.changes],
            "before": [input_text(change.before) for change in self.changes],
            "after": [input_text(change.after) for change in self.changes],
            "condition": [change.condition for change in self.changes],
        }
        return make_frame(columns, backend)


@dataclass(frozen=True)
class Space:
    """A row, and how its features may change.

    Attributes
    ----------
    row : ndarray of shape (n_features,)
        The features as trees take them.
    spread : ndarray of shape (n_features,)
        What a change of a number is divided by.
    is_whole : ndarray of bool
        Features that only take whole numbers.
    n_levels : ndarray of int
        Categories of a feature, ordered or not; 0 for numbers.
    is_set : ndarray of bool
        Features with categories without an order.
    may_change : ndarray of bool
        Features that may change.
    """

    row: FloatArray
    spread: FloatArray
    is_whole: BoolArray
    n_levels: np.ndarray[Any, Any]
    is_set: BoolArray
    may_change: BoolArray

    def range_of(self, feature: int) -> tuple[float, float]:
        """All values that a number or an ordered category may take, as the interval above and up to."""
        levels = int(self.n_levels[feature])
        return (-1.0, levels - 1.0) if levels else (-np.inf, np.inf)

    def nearest(self, feature: int, low: float, high: float) -> float | None:
        """The value above ``low`` and up to ``high`` that is nearest to the row's; None if there is none."""
        at_least, at_most = self.range_of(feature)
        low, high = max(low, at_least), min(high, at_most)
        own = float(self.row[feature])
        if low < own <= high:
            return own
        whole = bool(self.is_whole[feature] or self.n_levels[feature])
        smallest = np.floor(low) + 1.0 if whole else float(np.nextafter(low, np.inf))
        largest = np.floor(high) if whole else high
        if own != own:  # missing: the smallest number that fits
            value = 0.0 if low < 0.0 <= high else smallest if low >= 0.0 else largest
        else:
            value = smallest if own <= low else largest
        return float(value) if low < value <= high else None

    def distance(self, feature: int, value: float) -> float:
        """How far a value is from that of the row."""
        own = float(self.row[feature])
        if value == own or (value != value and own != own):
            return 0.0
        if self.is_set[feature] or own != own:
            return 1.0
        return abs(value - own) / float(self.spread[feature])

    def size(self, row: FloatArray) -> tuple[int, float]:
        """Number of features that change, and their distance."""
        changed = np.flatnonzero(~((row == self.row) | (np.isnan(row) & np.isnan(self.row))))
        return len(changed), sum(self.distance(int(f), float(row[f])) for f in changed)


class Answer(NamedTuple):
    """The best row found, or None; whether that is proven; and how many leaves or boxes were looked at."""

    row: FloatArray | None
    is_proven: bool
    n_iter: int


def nearest_leaf(tree: Tree, leaves: FloatArray, border: float, space: Space) -> Answer:
    """The smallest change to a leaf with a number above the border, of all leaves."""
    best: FloatArray | None = None
    best_size: tuple[float, float] = (np.inf, np.inf)
    good = np.flatnonzero(tree.is_leaf)[leaves > border + _MARGIN]
    parent = tree.parent
    for leaf in good.tolist():
        conditions: dict[int, list[tuple[int, bool]]] = {}
        node = leaf
        while node:
            above = int(parent[node])
            conditions.setdefault(int(tree.feature[above]), []).append((above, node == tree.left[above]))
            node = above
        row: FloatArray | None = space.row.copy()
        for feature, sides in conditions.items():
            value = _value_in(tree, feature, sides, space)
            if value is None:
                row = None
                break
            row[feature] = value  # type: ignore[index]
        if row is not None and (size := space.size(row)) < best_size:
            best, best_size = row, size
    return Answer(best, True, tree.n_leaves)


def _value_in(tree: Tree, feature: int, sides: list[tuple[int, bool]], space: Space) -> float | None:
    """The nearest value of a feature that takes the given sides of splits; None if it may not or cannot."""
    own = float(space.row[feature])
    if all(_goes_left(tree, node, own) == is_left for node, is_left in sides):
        return own
    if not space.may_change[feature]:
        return None
    if space.is_set[feature]:
        codes = (float(code) for code in range(int(space.n_levels[feature])))
        fits = (c for c in codes if all(_goes_left(tree, node, c) == is_left for node, is_left in sides))
        return next(fits, None)
    low = max((float(tree.threshold[node]) for node, is_left in sides if not is_left), default=-np.inf)
    high = min((float(tree.threshold[node]) for node, is_left in sides if is_left), default=np.inf)
    return space.nearest(feature, low, high)


def _goes_left(tree: Tree, node: int, value: float) -> bool:
    if value != value:
        return bool(tree.missing_left[node])
    if tree.set_of[node] >= 0:
        return bool(int(tree.sets[tree.set_of[node], int(value) // 64]) >> int(value) % 64 & 1)
    return value <= float(tree.threshold[node])


class Box(NamedTuple):
    """Values of the features: those that are open take an interval or any category, the others are those of the row."""

    row: FloatArray
    is_open: BoolArray
    low: FloatArray
    high: FloatArray


class BoxSearch:
    """Branch and bound on the sum of several trees.

    Parameters
    ----------
    trees : list of Tree
        The trees.
    values : list of ndarray
        The numbers of their leaves.
    border : float
        What the sum must exceed.
    space : Space
        The row.
    max_iter : int
        Most boxes to look at.
    """

    def __init__(self, trees: list[Tree], values: list[FloatArray], border: float, space: Space, max_iter: int) -> None:
        self.space, self.border, self.max_iter = space, border + _MARGIN, max_iter
        self.n_iter = 0
        sizes = [len(tree.left) for tree in trees]
        self._root = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        n_words = max(tree.sets.shape[1] for tree in trees)
        offsets = np.concatenate([[0], np.cumsum([len(tree.sets) for tree in trees])])
        sets = [np.pad(tree.sets, ((0, 0), (0, n_words - tree.sets.shape[1]))) for tree in trees]
        set_of = [
            np.where(tree.set_of >= 0, tree.set_of + offset, -1) for tree, offset in zip(trees, offsets, strict=False)
        ]
        self._nodes = (
            np.concatenate([tree.feature for tree in trees]),
            np.concatenate([tree.threshold for tree in trees]),
            np.concatenate([tree.missing_left for tree in trees]),
            np.concatenate([tree.left for tree in trees]),
            np.concatenate(set_of).astype(np.int32),
            np.concatenate(sets),
            np.concatenate([node_values(tree, leaves) for tree, leaves in zip(trees, values, strict=True)]),
        )
        self._stack = np.zeros(int(max(tree.depth.max() for tree in trees)) + 2, dtype=np.int64)

    def run(self) -> Answer:
        """Find the smallest change."""
        free = np.flatnonzero(self.space.may_change).tolist()
        best, is_done = self._any_change(free)
        # What is missing may also stay so, which the boxes of the first search leave out.
        if best is None and is_done and not np.isnan(self.space.row[free]).any():
            return Answer(None, True, self.n_iter)
        most = len(free) if best is None else self.space.size(best)[0]
        for n_changes in range(1, most + 1):
            best, is_done = self._smallest(n_changes, free, best)
            if not is_done:
                return Answer(best, False, self.n_iter)
            if best is not None and self.space.size(best)[0] <= n_changes:
                break
        return Answer(best, True, self.n_iter)

    def _smallest(self, n_changes: int, free: list[int], best: FloatArray | None) -> tuple[FloatArray | None, bool]:
        """The nearest row that changes so many features, if it is smaller than the best so far; and if all was seen."""
        smallest = (np.inf, np.inf) if best is None else self.space.size(best)
        waiting: list[tuple[float, int, Box, FloatArray]] = []
        for features in combinations(free, n_changes):
            if self.n_iter >= self.max_iter:
                return best, False
            self._wait(waiting, self._box(features))
        while waiting:
            distance, _, box, (lowest, _, feature, threshold) = heappop(waiting)
            if (n_changes, distance) >= smallest:
                break
            if lowest > self.border:
                return self._nearest_row(box), True
            if self.n_iter >= self.max_iter:
                return best, False
            for child in self._divided(box, int(feature), threshold):
                self._wait(waiting, child)
        return best, True

    def _wait(self, waiting: list[tuple[float, int, Box, FloatArray]], box: Box) -> None:
        """Keep a box, by its distance, if it may hold what is looked for."""
        row = self._nearest_row(box)
        if row is not None and (bounds := self._bounds(box))[1] > self.border:
            heappush(waiting, (self.space.size(row)[1], self.n_iter, box, bounds))

    def _any_change(self, free: list[int]) -> tuple[FloatArray | None, bool]:
        """Some row above the border, the more promising side of each split first; and if all was seen."""
        whole = self._box(free)
        waiting = [(whole, self._bounds(whole))]
        most = min(_FIRST_BOXES, self.max_iter)
        while waiting:
            box, (lowest, largest, feature, threshold) = waiting.pop()
            if largest <= self.border:
                continue
            if lowest > self.border:
                row = self._nearest_row(box)
                return None if row is None else self._with_less(row), True
            if self.n_iter >= most:
                return None, False
            children = [child for child in self._divided(box, int(feature), threshold) if self._has_row(child)]
            # The last one is looked at first.
            bounded = [(child, self._bounds(child)) for child in children]
            waiting += sorted(bounded, key=lambda entry: (entry[1][1], entry[1][0]))
        return None, True

    def _has_row(self, box: Box) -> bool:
        return self._nearest_row(box) is not None

    def _with_less(self, row: FloatArray) -> FloatArray:
        """The row with as many features as possible put back, the farthest first."""
        changed = np.flatnonzero(~((row == self.space.row) | (np.isnan(row) & np.isnan(self.space.row)))).tolist()
        for feature in sorted(changed, key=lambda f: -self.space.distance(f, float(row[f]))):
            without = row.copy()
            without[feature] = self.space.row[feature]
            if self.value(without) > self.border:
                row = without
        return row

    def value(self, row: FloatArray) -> float:
        """Sum of the trees for a row."""
        nothing = np.zeros(len(row))
        return self._bounds(Box(row, np.zeros(len(row), dtype=bool), nothing, nothing))[0]

    def _box(self, features: Any) -> Box:
        d = len(self.space.row)
        box = Box(self.space.row, np.zeros(d, dtype=bool), np.full(d, -np.inf), np.full(d, np.inf))
        for feature in features:
            box.is_open[feature] = True
            box.low[feature], box.high[feature] = self.space.range_of(feature)
        return box

    def _divided(self, box: Box, feature: int, threshold: float) -> Iterator[Box]:
        """The parts of a box at a split: below and above, or one for each category."""
        if self.space.is_set[feature]:
            is_open = box.is_open.copy()
            is_open[feature] = False
            for code in range(int(self.space.n_levels[feature])):
                row = box.row.copy()
                row[feature] = code
                yield box._replace(row=row, is_open=is_open)
            return
        high, low = box.high.copy(), box.low.copy()
        high[feature] = low[feature] = threshold
        yield box._replace(high=high)
        yield box._replace(low=low)

    def _nearest_row(self, box: Box) -> FloatArray | None:
        """The row of a box that is nearest; None if it holds no whole number where there must be one."""
        row = box.row.copy()
        for feature in np.flatnonzero(box.is_open & ~self.space.is_set).tolist():
            value = self.space.nearest(feature, float(box.low[feature]), float(box.high[feature]))
            if value is None:
                return None
            row[feature] = value
        return row

    def _bounds(self, box: Box) -> FloatArray:
        """Bounds of the sum on a box, and the feature and threshold to divide it at."""
        self.n_iter += 1
        found = np.empty(4)
        feature, threshold, missing_left, left, set_of, sets, value = self._nodes
        _tree_answers_jit.bounds_on_box(
            self._root,
            feature,
            threshold,
            missing_left,
            left,
            set_of,
            sets,
            value,
            box.row,
            box.is_open,
            box.low,
            box.high,
            self._stack,
            found,
        )
        return found
