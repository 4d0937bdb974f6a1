"""Splits of a `PlackettLuceTree`: tests of the features in a node, the best division of its people, and the nodes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from rankwise._typing import BoolArray, FloatArray, IntArray
from rankwise.label_ranking._instability import (
    Instability,
    Scores,
    cut_statistics,
    level_sums,
    nominal_test,
    ordered_test,
    partition_statistics,
)
from rankwise.label_ranking._tree_models import Model, People
from rankwise.trees.structure import LeafMeans, Tree

# Splits of a feature whose likelihood is computed: those with the largest LM statistics.
_MOST_REFITS = 64
# Of so many categories every division into two is looked at; of more, those along their main difference.
_MOST_DIVIDED = 10


class Split(NamedTuple):
    """Who goes left, the models of both sides, and how new rows are sent."""

    goes_left: BoolArray
    models: tuple[Model, Model]
    threshold: float
    missing_left: bool
    left_set: IntArray | None


@dataclass(frozen=True)
class Cells:
    """The people of a node, their scores, and the tests and splits by one feature at a time."""

    data: People
    people: IntArray
    scores: Scores
    fewest: float
    trim: float

    def test(self, feature: int, is_nominal: bool, is_ordered: bool) -> Instability:
        values = self.data.X[self.people, feature]
        known = np.flatnonzero(~np.isnan(values))
        if len(known) < 2 or self.data.size[self.people[known]].sum() < 2 * self.fewest:
            return Instability(np.nan, np.nan)
        scores = Scores(*(part[known] for part in self.scores))
        if is_nominal:
            levels, level = np.unique(values[known], return_inverse=True)
            return nominal_test(scores, level, len(levels))
        order = np.argsort(values[known], kind="stable")
        ends = self._ends(
            values[known][order], self.data.size[self.people[known][order]], 0 if is_ordered else self.trim
        )
        return ordered_test(scores, order, ends)

    def _ends(self, values: FloatArray, sizes: FloatArray, trim: float) -> IntArray:
        """Where cuts between different values leave enough people on both sides."""
        ends = np.flatnonzero(values[:-1] < values[1:])
        up_to = np.cumsum(sizes)
        fewest = max(self.fewest, np.ceil(trim * up_to[-1]))
        return ends[(up_to[ends] >= fewest) & (up_to[-1] - up_to[ends] >= fewest)]

    def best_split(self, feature: int, is_nominal: bool, n_categories: int) -> Split | None:
        """The split on a feature with the largest likelihood; None if no side would have enough people."""
        values = self.data.X[self.people, feature]
        known = np.flatnonzero(~np.isnan(values))
        scores = Scores(*(part[known] for part in self.scores))
        divide = self._nominal_sides if is_nominal else self._ordered_sides
        best: tuple[float, Any] = (-np.inf, None)
        for side, threshold, left_set in divide(values[known], self.people[known], scores):
            models = self._fit_sides(self.people[known], side)
            if models is not None and (value := models[0].log_likelihood + models[1].log_likelihood) > best[0]:
                best = (value, (side, threshold, left_set, models))
        if best[1] is None:
            return None
        side, threshold, left_set, models = best[1]
        size = self.data.size[self.people[known]]
        goes_left = np.full(len(values), bool(size[side].sum() > size[~side].sum()))
        missing_left = bool(goes_left[0])
        goes_left[known] = side
        if len(known) < len(values):  # people without the value go where the likelihood is larger
            ways = []
            for to_left in (True, False):
                goes_left[np.isnan(values)] = to_left
                models = self._fit_sides(self.people, goes_left)
                if models is not None:
                    ways.append((models[0].log_likelihood + models[1].log_likelihood, to_left, models))
            if not ways:
                return None
            _, missing_left, models = max(ways, key=lambda way: way[0])
            goes_left[np.isnan(values)] = missing_left
        if left_set is not None and missing_left:  # categories that nobody here has go with the larger side
            present = np.unique(values[known]).astype(np.intp)
            left_set = np.union1d(left_set, np.setdiff1d(np.arange(n_categories), present))
        return Split(goes_left, models, threshold, missing_left, left_set)

    def _fit_sides(self, people: IntArray, goes_left: BoolArray) -> tuple[Model, Model] | None:
        left = self.data.fit(people[goes_left])
        right = None if left is None else self.data.fit(people[~goes_left])
        return None if left is None or right is None else (left, right)

    def _ordered_sides(self, values: FloatArray, people: IntArray, scores: Scores) -> Any:
        order = np.argsort(values, kind="stable")
        ends = self._ends(values[order], self.data.size[people[order]], 0.0)
        if len(ends) > _MOST_REFITS:
            gains, _ = cut_statistics(scores, order, ends)
            ends = np.sort(ends[np.argsort(-gains, kind="stable")[:_MOST_REFITS]])
        for end in ends:
            threshold = (values[order[end]] + values[order[end + 1]]) / 2
            yield values <= values[order[end]], float(threshold), None

    def _nominal_sides(self, values: FloatArray, people: IntArray, scores: Scores) -> Any:
        levels, level = np.unique(values, return_inverse=True)
        n = len(levels)
        sums = level_sums(scores, level, n)
        if n <= _MOST_DIVIDED:  # all divisions, the last level at the right
            codes = np.arange(1, 2 ** (n - 1))
            partitions = (codes[:, None] >> np.arange(n)[None, :]) & 1 == 1
        else:
            means = sums.values / sums.weight[:, None]
            center = sums.weight @ means / sums.weight.sum()
            spread = np.sqrt(sums.weight)[:, None] * (means - center)
            along = (means - center) @ np.linalg.svd(spread, full_matrices=False)[2][0]
            place = np.argsort(np.argsort(along, kind="stable"), kind="stable")
            partitions = place[None, :] <= np.arange(n - 1)[:, None]
        sizes = np.bincount(level, self.data.size[people], n)
        left = partitions @ sizes
        partitions = partitions[(left >= self.fewest) & (sizes.sum() - left >= self.fewest)]
        if len(partitions) > _MOST_REFITS:
            gains = partition_statistics(sums, partitions)
            partitions = partitions[np.sort(np.argsort(-gains, kind="stable")[:_MOST_REFITS])]
        for partition in partitions:
            yield partition[level], np.nan, levels[partition].astype(np.intp)


@dataclass
class Nodes:
    """Nodes as they grow."""

    n_words: int
    people: list[IntArray] = field(default_factory=list)
    models: list[Any] = field(default_factory=list)
    depth: list[int] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    feature: list[int] = field(default_factory=list)
    threshold: list[float] = field(default_factory=list)
    missing_left: list[bool] = field(default_factory=list)
    set_of: list[int] = field(default_factory=list)
    sets: list[IntArray] = field(default_factory=list)

    def add(self, people: IntArray, model: Model | None, depth: int) -> int:
        """A new leaf."""
        self.people.append(people)
        self.models.append(model)
        self.depth.append(depth)
        for column, value in ((self.left, -1), (self.feature, -1), (self.set_of, -1)):
            column.append(value)
        self.threshold.append(0.0)
        self.missing_left.append(False)
        return len(self.left) - 1

    def split(self, node: int, feature: int, split: Split) -> list[int]:
        """Split a leaf; the numbers of its children."""
        self.feature[node] = feature
        self.missing_left[node] = split.missing_left
        if split.left_set is None:
            self.threshold[node] = split.threshold
        else:
            self.set_of[node] = len(self.sets)
            self.sets.append(split.left_set)
        people, depth = self.people[node], self.depth[node] + 1
        sides = (people[split.goes_left], people[~split.goes_left])
        children = [self.add(side, model, depth) for side, model in zip(sides, split.models, strict=True)]
        self.left[node] = children[0]
        return children

    def tree(self, data: People, contents: LeafMeans) -> Tree:
        """The nodes as a tree of the engine."""
        left = np.array(self.left, dtype=np.int32)
        error = -np.array([model.log_likelihood for model in self.models])
        inner = left >= 0
        gain = np.zeros(len(left))
        gain[inner] = np.maximum(error[inner] - error[left[inner]] - error[left[inner] + 1], 0.0)
        sets = np.zeros((len(self.sets), self.n_words), dtype=np.uint64)
        for row, members in enumerate(self.sets):
            for code in members.tolist():
                sets[row, code // 64] |= np.uint64(1) << np.uint64(code % 64)
        return Tree(
            feature=np.array(self.feature, dtype=np.int32),
            threshold=np.array(self.threshold),
            missing_left=np.array(self.missing_left, dtype=bool),
            left=left,
            gain=gain,
            error=error,
            weight=np.array([data.weight[people].sum() for people in self.people]),
            count=np.array([len(people) for people in self.people], dtype=np.int64),
            set_of=np.array(self.set_of, dtype=np.int32),
            sets=sets,
            contents=contents,
        )
