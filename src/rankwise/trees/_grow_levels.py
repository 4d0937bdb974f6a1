"""Level-Splits: every level of the tree divides all its cells by one common cut; called by `engine`."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwise._sklearn import gen_batches
from rankwise._typing import FloatArray, IntArray
from rankwise.trees import _levels_jit
from rankwise.trees._grow_jit import Features, Limits, threshold_between
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


class _LevelGrowth:
    """The cells of the last level, and all nodes so far."""

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
        self.depth = 0
        self.sets: list[IntArray] = []
        self.fields: dict[str, list[float]] = {
            name: []
            for name in ("feature", "threshold", "missing_left", "left", "gain", "error", "weight", "count", "set_of")
        }
        self._add_nodes(self._totals(), np.array([0]))

    def divide(self) -> bool:
        """Divide the cells by the best common cut; False where the tree is finished."""
        totals = self._totals()
        counts = np.bincount(self.cell, minlength=len(self.node_of))
        error = np.array([self.fields["error"][node] for node in self.node_of])
        squares = self._squares_by_cell()
        if self.depth >= self.limits.max_depth or (error <= _PURE * squares).all():
            return False
        # Cells that are too small to divide ask for more rows on a side than they have.
        least = np.where(counts < self.limits.min_samples_split, counts, self.limits.min_samples_leaf).astype(np.int64)
        score, f, key, after, missing_left = self._best(totals, counts, least)
        gain = score - (squares - error).sum()
        if score == -np.inf or (self.limits.min_gain > 0 and gain < self.limits.min_gain * self.weights.sum()):
            return False
        keys, _ = self.keys[f]
        goes_left = np.where(keys == self.features.n_codes[f], bool(missing_left), keys <= key)
        n_left = np.bincount(self.cell[goes_left], minlength=len(self.node_of))
        n_right = counts - n_left
        divided = (n_left >= least) & (n_right >= least)
        n_leaves = sum(left < 0 for left in self.fields["left"])
        if n_leaves + divided.sum() > self.limits.max_leaf_nodes:
            return False
        self._split(f, key, after, missing_left, goes_left, divided, n_left, n_right)
        self.depth += 1
        return True

    def tree(self) -> Tree:
        """The nodes so far, as arrays."""
        fields = {name: np.array(values) for name, values in self.fields.items()}
        most = int(self.features.n_codes[self.features.is_categorical].max(initial=0))
        sets = np.zeros((len(self.sets), most // 64 + 1), dtype=np.uint64)
        for number, categories in enumerate(self.sets):
            np.bitwise_or.at(sets[number], categories // 64, np.uint64(1) << (categories % 64).astype(np.uint64))
        types = {"feature": np.int32, "missing_left": np.bool_, "left": np.int32, "count": np.int64, "set_of": np.int32}
        columns: dict[str, Any] = {name: column.astype(types.get(name, np.float64)) for name, column in fields.items()}
        return Tree(**columns, sets=sets)

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
        self,
        f: int,
        key: int,
        after: int,
        missing_left: int,
        goes_left: np.ndarray,
        divided: np.ndarray,
        n_left: np.ndarray,
        n_right: np.ndarray,
    ) -> None:
        fields, features = self.fields, self.features
        n_codes = int(features.n_codes[f])
        keys, category_at = self.keys[f]
        threshold = 0.0
        if category_at is not None:
            # Categories that no row has go where missing values go: a set for each side that may be.
            absent = np.setdiff1d(category_at, features.codes[f])
            self.sets += [np.setdiff1d(category_at[: key + 1], absent), np.union1d(category_at[: key + 1], absent)]
        else:
            threshold = threshold_between(features, f, key, after)
        has_missing = np.bincount(self.cell[keys == n_codes], minlength=len(self.node_of)) > 0
        cells = np.flatnonzero(divided)
        first = len(fields["left"])
        for number, g in enumerate(cells):
            node = self.node_of[g]
            fields["feature"][node] = f
            fields["threshold"][node] = threshold
            fields["missing_left"][node] = missing_left if has_missing[g] else n_left[g] > n_right[g]
            fields["left"][node] = first + 2 * number
            if category_at is not None:
                fields["set_of"][node] = len(self.sets) - 2 + int(fields["missing_left"][node])
        # Undivided cells keep their node; each divided one becomes two.
        offset = np.cumsum(np.where(divided, 2, 1)) - np.where(divided, 2, 1)
        parents, node_of = self.node_of[cells], np.repeat(self.node_of, np.where(divided, 2, 1))
        node_of[offset[cells]] = first + 2 * np.arange(len(cells))
        node_of[offset[cells] + 1] = first + 2 * np.arange(len(cells)) + 1
        self.cell = offset[self.cell] + (divided[self.cell] & ~goes_left)
        self.node_of = node_of
        self._add_nodes(self._totals(), np.flatnonzero(node_of >= first))
        for number, node in enumerate(parents):
            left = first + 2 * number
            fields["gain"][node] = max(fields["error"][node] - sum(fields["error"][left : left + 2]), 0.0)

    def _add_nodes(self, totals: FloatArray, cells: IntArray) -> None:
        """Nodes of some cells of the level."""
        q = self.targets.size
        squares = self._squares_by_cell()[cells]
        weight = np.bincount(self.cell, self.weights, len(self.node_of))[cells]
        count = np.bincount(self.cell, minlength=len(self.node_of))[cells]
        known = weight[:, None] if self.is_complete else totals[cells, q:]
        score = np.divide(totals[cells, :q] ** 2, known, out=np.zeros((len(cells), q)), where=known > 0).sum(axis=1)
        for number, error in enumerate(squares - score):
            values = (-1, 0.0, False, -1, 0.0, max(error, 0.0), weight[number], count[number], -1)
            for name, value in zip(self.fields, values, strict=True):
                self.fields[name].append(value)

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
