"""Level-Splits: every level of the tree divides all its cells by one common cut; called by `engine`.

The cuts are stored as `LevelSplits`, like those of boosted level trees. As cells may stay undivided, the nodes that
each level adds are kept beside them, and both make the `Tree`; see `levels` for what the two kinds share.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rankwise._sklearn import gen_batches
from rankwise._typing import BoolArray, FloatArray, IntArray
from rankwise.trees import _levels_jit
from rankwise.trees._grow_jit import Features, Limits
from rankwise.trees.levels import LevelSplits, move_right
from rankwise.trees.structure import TargetRows, Tree

# Entries of target vectors that are written out at a time; more coordinates follow in further blocks.
_BLOCK_ENTRIES = 2**24
# Share of the sum of squares up to which a squared error is rounding: the targets are equal.
_PURE = 1e-12


def grow_by_levels(features: Features, targets: TargetRows, limits: Limits, weights: FloatArray, seed: int) -> Tree:
    """Grow a tree whose levels have one cut each: the one that leaves the smallest squared error in all cells.

    A cell that the common cut does not divide (all its rows on one side, fewer than ``min_samples_leaf`` on a side, or
    fewer than ``min_samples_split`` in all) stays as it is and meets the next level's cut.
    """
    growth = _LevelGrowth(features, targets, limits, weights, np.random.default_rng(seed))
    while growth.divide():
        pass
    return growth.tree()


class _Division(NamedTuple):
    """What a level does to the nodes: which it divides, where missing values go in each, and the first set if any."""

    nodes: IntArray
    missing_left: BoolArray
    first_set: int


class _LevelGrowth:
    """The cells of the last level, the splits so far, and all nodes."""

    def __init__(
        self,
        features: Features,
        targets: TargetRows,
        limits: Limits,
        weights: FloatArray,
        rng: np.random.Generator,
    ) -> None:
        self.features, self.limits, self.weights, self.rng = features, limits, weights, rng
        self.targets, self.is_complete = targets, targets.is_complete
        self.blocks = list(gen_batches(targets.size, max(1, _BLOCK_ENTRIES // len(weights))))
        self.block: tuple[slice, FloatArray] | None = None  # the last that was written out
        self.squares = np.zeros(len(weights))
        for block in self.blocks:
            self.squares += weights * (np.nan_to_num(targets.coordinates(block)) ** 2).sum(axis=1)
        self.keys = [self._keys(f) for f in range(len(features.n_codes))]
        self.orders = [np.argsort(keys, kind="stable") for keys, _ in self.keys]
        self.cell = np.zeros(len(weights), dtype=np.intp)  # which cell of the level each row lies in
        self.node_of = np.zeros(1, dtype=np.intp)  # node of each cell
        # Every level divides a cell, so that there are fewer levels than rows.
        self.splits = LevelSplits.empty(1, min(limits.max_depth, len(weights)))
        self.divisions: list[_Division] = []  # one per level
        self.sets: list[IntArray] = []
        self.error, self.weight, self.count = np.empty(0), np.empty(0), np.empty(0, dtype=np.int64)  # of each node
        self._add_nodes(self._totals(), np.array([0]))

    def divide(self) -> bool:
        """Divide the cells by the best common cut; False where the tree is finished."""
        totals = self._totals()
        counts = np.bincount(self.cell, minlength=len(self.node_of))
        error = self.error[self.node_of]
        squares = self._squares_by_cell()
        if len(self.divisions) >= self.limits.max_depth or (error <= _PURE * squares).all():
            return False
        # Cells that are too small to divide ask for more rows on a side than they have.
        least = np.where(counts < self.limits.min_samples_split, counts, self.limits.min_samples_leaf).astype(np.int64)
        score, f, key, after, missing_left = self._best(totals, counts, least)
        gain = score - (squares - error).sum()
        if score == -np.inf or (self.limits.min_gain > 0 and gain < self.limits.min_gain * self.weights.sum()):
            return False
        side = np.zeros(len(self.cell), dtype=np.int64)  # 1 is right
        move_right(self.keys[f][0], key, int(self.features.n_codes[f]), bool(missing_left), 1, side)
        n_right = np.bincount(self.cell, side, len(self.node_of)).astype(np.int64)
        n_left = counts - n_right
        divided = (n_left >= least) & (n_right >= least)
        if len(self.node_of) + divided.sum() > self.limits.max_leaf_nodes:
            return False
        self.splits.record(len(self.divisions), self.features, f, key, after, bool(missing_left), gain)
        self._split(f, key, bool(missing_left), side, divided, n_left > n_right)
        return True

    def tree(self) -> Tree:
        """The tree of the splits: the children of the nodes that a level divides follow in the order of its cells."""
        n = len(self.error)
        feature, left, set_of = (np.full(n, -1, dtype=np.int32) for _ in range(3))
        threshold, missing_left, gain = np.zeros(n), np.zeros(n, dtype=bool), np.zeros(n)
        first = 1
        for level, (nodes, sides, first_set) in enumerate(self.divisions):
            feature[nodes] = self.splits.feature[0, level]
            threshold[nodes] = self.splits.threshold[0, level]
            missing_left[nodes] = sides
            left[nodes] = first + 2 * np.arange(len(nodes))
            set_of[nodes] = -1 if first_set < 0 else first_set + sides
            gain[nodes] = np.maximum(self.error[nodes] - (self.error[left[nodes]] + self.error[left[nodes] + 1]), 0.0)
            first += 2 * len(nodes)
        most = int(self.features.n_codes[self.features.is_categorical].max(initial=0))
        sets = np.zeros((len(self.sets), most // 64 + 1), dtype=np.uint64)
        for number, categories in enumerate(self.sets):
            np.bitwise_or.at(sets[number], categories // 64, np.uint64(1) << (categories % 64).astype(np.uint64))
        return Tree(
            feature, threshold, missing_left, left, gain, self.error, self.weight, self.count, set_of=set_of, sets=sets
        )

    def _best(self, totals: FloatArray, counts: IntArray, least: IntArray) -> tuple[float, int, int, int, int]:
        """Score, feature, last key on the left, next key, and side of missing values of the best cut."""
        d = len(self.keys)
        drawn = self.rng.permutation(d) if self.limits.max_features < d else np.arange(d)
        best = self._best_of(drawn[: self.limits.max_features], totals, counts, least)
        for f in drawn[self.limits.max_features :]:  # more, until one divides a cell
            if best[0] > -np.inf:
                break
            best = self._best_of([f], totals, counts, least)
        return best

    def _best_of(
        self, features: Any, totals: FloatArray, counts: IntArray, least: IntArray
    ) -> tuple[float, int, int, int, int]:
        scores = np.zeros((len(features), 2, len(self.cell)))
        weight_and_count = np.column_stack([np.bincount(self.cell, self.weights, len(counts)), counts])
        for block in self.blocks:
            vectors, q = self._vectors(block), self.targets.size
            sums = [totals[:, block]] if self.is_complete else [totals[:, block], totals[:, q:][:, block]]
            part = np.ascontiguousarray(np.concatenate([*sums, weight_and_count], axis=1))
            for number, f in enumerate(features):
                keys, n_keys = self.keys[f][0], int(self.features.n_codes[f])
                _levels_jit.add_scores(
                    vectors,
                    self.weights,
                    self.cell,
                    self.orders[f],
                    keys,
                    n_keys,
                    part,
                    least,
                    self.is_complete,
                    scores[number],
                )
        best = (-np.inf, -1, -1, -1, 0)
        for number, f in enumerate(features):
            keys, n_keys = self.keys[f][0], int(self.features.n_codes[f])
            only = -1
            if self.limits.random_thresholds:
                present = np.unique(keys[keys < n_keys])
                only = int(self.rng.choice(present[:-1])) if len(present) > 1 else -1
            found = _levels_jit.best_cut(scores[number], self.cell, self.orders[f], keys, n_keys, counts, only, least)
            if found[0] > best[0]:
                best = (found[0], int(f), int(found[1]), int(found[2]), int(found[3]))
        return best

    def _vectors(self, block: slice) -> FloatArray:
        """Some coordinates of the targets times the weights, missing ones 0; if incomplete, then the known weights."""
        if self.block is None or self.block[0] != block:
            values = self.targets.coordinates(block)
            known = ~np.isnan(values)
            parts = [np.where(known, values, 0.0) * self.weights[:, None]]
            parts += [] if self.is_complete else [known * self.weights[:, None]]
            self.block = block, np.ascontiguousarray(np.concatenate(parts, axis=1))
        return self.block[1]

    def _split(
        self, f: int, key: int, missing_left: bool, side: IntArray, divided: BoolArray, is_left_larger: BoolArray
    ) -> None:
        """Divide cells; missing values go the level's way where a cell has some, else with the larger side."""
        keys, category_at = self.keys[f]
        first_set = -1
        if category_at is not None:
            # Categories that no row has go where missing values go: a set for each side that may be.
            absent = np.setdiff1d(category_at, self.features.codes[f])
            first_set = len(self.sets)
            self.sets += [np.setdiff1d(category_at[: key + 1], absent), np.union1d(category_at[: key + 1], absent)]
        missing = self.cell[keys == self.features.n_codes[f]]
        has_missing = np.bincount(missing, minlength=len(self.node_of)) > 0
        cells = np.flatnonzero(divided)
        sides = np.where(has_missing, missing_left, is_left_larger)[cells]
        self.divisions.append(_Division(self.node_of[cells], sides, first_set))
        # Undivided cells keep their node; each divided one becomes two.
        first, size = len(self.error), np.where(divided, 2, 1)
        offset = np.cumsum(size) - size
        self.node_of = np.repeat(self.node_of, size)
        self.node_of[offset[cells]] = first + 2 * np.arange(len(cells))
        self.node_of[offset[cells] + 1] = first + 2 * np.arange(len(cells)) + 1
        self.cell = offset[self.cell] + (divided[self.cell] & (side > 0))
        self._add_nodes(self._totals(), np.flatnonzero(self.node_of >= first))

    def _add_nodes(self, totals: FloatArray, cells: IntArray) -> None:
        """Nodes of some cells of the level."""
        q = self.targets.size
        squares = self._squares_by_cell()[cells]
        weight = np.bincount(self.cell, self.weights, len(self.node_of))[cells]
        count = np.bincount(self.cell, minlength=len(self.node_of))[cells]
        known = weight[:, None] if self.is_complete else totals[cells, q:]
        score = np.divide(totals[cells, :q] ** 2, known, out=np.zeros((len(cells), q)), where=known > 0).sum(axis=1)
        self.error = np.append(self.error, np.maximum(squares - score, 0.0))
        self.weight = np.append(self.weight, weight)
        self.count = np.append(self.count, count)

    def _totals(self) -> FloatArray:
        """Sums of the weighted targets by cell; if incomplete, then the known weights."""
        return self._sums_by(self.cell, len(self.node_of))

    def _sums_by(self, group: IntArray, n: int) -> FloatArray:
        from scipy.sparse import csr_matrix

        q, rows = self.targets.size, np.arange(len(group))
        sums = np.zeros((n, q if self.is_complete else 2 * q))
        members = csr_matrix((np.ones(len(group)), (group, rows)), shape=(n, len(group)))
        for block in self.blocks:
            part, width = np.asarray(members @ self._vectors(block)), block.stop - block.start
            sums[:, block] = part[:, :width]
            if not self.is_complete:
                sums[:, q + block.start : q + block.stop] = part[:, width:]
        return sums

    def _squares_by_cell(self) -> FloatArray:
        return np.bincount(self.cell, self.squares, len(self.node_of)).astype(np.float64, copy=False)

    def _keys(self, f: int) -> tuple[np.ndarray, IntArray | None]:
        """Codes to cut by; categories are numbered along the main direction of their mean targets over all rows."""
        codes = self.features.codes[f].astype(np.int64)
        if not self.features.is_categorical[f]:
            return codes, None
        n_codes = int(self.features.n_codes[f])
        sums = self._sums_by(codes, n_codes + 1)
        mass = np.bincount(codes, self.weights, n_codes + 1)[:, None]
        q = self.targets.size
        known = mass if self.is_complete else sums[:, q:]
        overall = sums[:, :q].sum(axis=0) / np.maximum(known.sum(axis=0), 1e-300)
        means = np.divide(sums[:, :q], known, out=np.tile(overall, (n_codes + 1, 1)), where=known > 0) - overall
        means, mass = means[:n_codes], mass[:n_codes]
        direction = np.linalg.svd(means * np.sqrt(mass), full_matrices=False)[2][0]
        along = means @ (direction if direction[0] >= 0 else -direction)
        category_at = np.argsort(along, kind="stable")
        key_of = np.append(np.argsort(category_at), n_codes)
        return key_of[codes], category_at
