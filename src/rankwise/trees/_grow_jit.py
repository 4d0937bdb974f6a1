"""Compiled functions that grow a least-squares tree, each node by its own best split; called by `engine`.

The score of a split of the rows of a node is |S_L|^2 / w_L + |S_R|^2 / w_R, where S is the weighted sum of the target
vectors and w the weight of a side: the higher, the smaller the squared error that is left. Where coordinates of a
target are missing, sums and weights are kept, and the score is added up, coordinate by coordinate.

Features come as codes: 0 ... n_codes - 1 in the order of the values (or category numbers), n_codes = missing.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rankwise._compiled import compiled, compiled_sums

# The best split seen so far is a short array of floats: rows with codes up to CUTOFF go left, AFTER is the next code
# in the node, and THRESHOLD is NaN until it is wanted.
SCORE, FEATURE, CUTOFF, AFTER, THRESHOLD, MISSING_LEFT = range(6)
FIELDS = 6
# Rows of the block of target vectors end with |e|^2, S . e and w of the row.
_SQUARE, _ALONG, _WEIGHT = range(3)
# Entries of the block of target vectors that a node keeps at hand (32 MB); larger nodes expand them row by row.
MOST_CACHED = 4_000_000
# A node with this many rows per code adds up sums per code; smaller ones sort.
_ROWS_PER_CODE = 2
# Sorting: by counting where there are more than a few rows and codes are at most this many times the rows.
_FEW_ROWS = 12
CODES_PER_ROW = 8
MOST_COUNTED_CODES = 2048
_POWER_STEPS = 16
# Categories of a node, at most, of which every division in two is tried; more are cut along one direction.
MOST_DIVIDED = 10
# Seen as no error left: what rounding leaves of the squared error of equal targets.
_PURE = 1e-12


class Features(NamedTuple):
    """Coded features, one row per feature; lower, upper and places belong to the codes of a feature, from start on."""

    codes: Any
    n_codes: Any
    is_categorical: Any
    lower: Any  # the smallest and the largest value of each code
    upper: Any
    places: Any  # of each code on the scale that random thresholds are drawn on
    start: Any


class Targets(NamedTuple):
    """Target vectors (or positions, whose pairs are the targets), and the weights of the rows.

    ``fills`` is empty, or 1 for rows of weight 0 that will fill the leaves: then these rows are the ones that
    ``min_samples_split`` and ``min_samples_leaf`` count, and each side of a split holds rows of both kinds.
    """

    values: Any
    is_pairs: bool
    size: int
    is_complete: bool
    weights: Any
    fills: Any


class Limits(NamedTuple):
    """When to stop; ``min_gain`` is per unit of the weight of all rows."""

    max_depth: int
    min_samples_split: int
    min_samples_leaf: int
    max_features: int
    max_leaf_nodes: int
    breadth_first: bool
    random_thresholds: bool
    min_gain: float


class Nodes(NamedTuple):
    """The nodes of a tree, as many as there may be: what a `Tree` keeps, then what only growing needs."""

    feature: Any
    threshold: Any
    missing_left: Any
    left: Any
    gain: Any
    error: Any
    weight: Any
    count: Any
    set_of: Any
    sets: Any
    cutoff: Any  # code up to which rows go left
    start: Any  # where the rows of the node start
    depth: Any
    seed: Any

    @classmethod
    def empty(cls, capacity: int, n_sets: int, n_words: int) -> Nodes:
        """Room for some nodes, and for sets of categories of some words."""
        return cls(
            feature=np.full(capacity, -1, np.int32),
            threshold=np.zeros(capacity),
            missing_left=np.zeros(capacity, np.bool_),
            left=np.full(capacity, -1, np.int32),
            gain=np.zeros(capacity),
            error=np.zeros(capacity),
            weight=np.zeros(capacity),
            count=np.zeros(capacity, np.int64),
            set_of=np.full(capacity, -1, np.int32),
            sets=np.zeros((n_sets, n_words), np.uint64),
            cutoff=np.zeros(capacity, np.int64),
            start=np.zeros(capacity, np.int64),
            depth=np.zeros(capacity, np.int64),
            seed=np.zeros(capacity, np.uint64),
        )

    def kept(self, n_nodes: int) -> dict[str, Any]:
        """What a `Tree` keeps of the first nodes, but for ``sets``."""
        names = ("feature", "threshold", "missing_left", "left", "gain", "error", "weight", "count", "set_of")
        return {name: getattr(self, name)[:n_nodes].copy() for name in names}


class Scratch(NamedTuple):
    """Working memory of one tree. Vectors are w * e, followed, where targets are incomplete, by w of what is known."""

    block: Any  # (rows, width + 3): vectors of the rows of the node, then square, along, weight
    total: Any  # (width,): sum over the node
    left: Any  # (width,): sum over the left side
    sums: Any  # (codes + 1, width + 1): sums and weights by code
    counts: Any  # (at least codes + 1,)
    fill_counts: Any  # (codes + 1,): rows that fill, by code
    order: Any  # (rows,): code << 32 | place of the row in the block (or node), sorted
    code_order: Any  # (codes + 1,)
    chosen: Any  # (words,): categories that go left in the best split seen
    buffer: Any  # (rows,)
    rows: Any  # (rows,): all rows, those of a node side by side
    candidates: Any  # (features,)
    frontier: Any  # (nodes,): nodes that can be split
    best: Any  # (FIELDS,): the best split seen


@compiled
def grow(features, targets, limits, root_seed, nodes, scratch):
    """Grow a tree on all rows of the features and targets, children side by side; how many nodes and sets it has."""
    n = features.codes.shape[1]
    feature, threshold, missing_left, left = nodes.feature, nodes.threshold, nodes.missing_left, nodes.left
    gain, error, weight, count = nodes.gain, nodes.error, nodes.weight, nodes.count
    set_of, sets, cutoff, start = nodes.set_of, nodes.sets, nodes.cutoff, nodes.start
    depth, seed = nodes.depth, nodes.seed
    rows, candidates, frontier, best = scratch.rows, scratch.candidates, scratch.frontier, scratch.best
    n_sets = 0

    # The block holds all rows of the tree, or those of a node, or one at a time.
    if n <= scratch.block.shape[0]:
        for row in range(n):
            _expand(targets, row, scratch.block, row)
    n_nodes, n_leaves, waiting = 1, 1, 0
    count[0] = n
    seed[0] = root_seed
    new_first, new_last = 0, 1
    while True:
        for node in range(new_first, new_last):
            members = rows[start[node] : start[node] + count[node]]
            weight[node], squares = _totals(targets, members, scratch.block, scratch.total)
            base = _cell_score(scratch.total, weight[node], targets.size, targets.is_complete)
            error[node] = max(squares - base, 0.0)
            n_counted = _n_filling(targets, members) if targets.fills.shape[0] > 0 else count[node]
            if (
                depth[node] >= limits.max_depth
                or n_counted < limits.min_samples_split
                or n_counted < 2 * limits.min_samples_leaf
                or error[node] <= _PURE * squares
            ):
                continue
            best[SCORE] = -np.inf
            _search(features, targets, limits, members, weight[node], candidates, seed[node], best, scratch)
            too_little = limits.min_gain > 0 and best[SCORE] - base < limits.min_gain * weight[0]
            if best[SCORE] == -np.inf or too_little:
                continue
            f = int(best[FEATURE])
            feature[node] = f
            cutoff[node] = int(best[CUTOFF])
            threshold[node] = best[THRESHOLD]
            if np.isnan(best[THRESHOLD]):
                threshold[node] = threshold_between(features, f, cutoff[node], int(best[AFTER]))
            missing_left[node] = best[MISSING_LEFT] > 0
            gain[node] = max(best[SCORE] - base, 0.0)
            if features.is_categorical[f]:
                for word in range(sets.shape[1]):
                    sets[n_sets, word] = scratch.chosen[word]
                set_of[node] = n_sets
                n_sets += 1
            frontier[waiting] = node
            waiting += 1
        if waiting == 0 or n_leaves >= limits.max_leaf_nodes:
            break
        pick = waiting - 1
        if limits.max_leaf_nodes < n:
            for t in range(waiting - 1):
                # Nodes are numbered in the order in which they were made.
                older = frontier[t] < frontier[pick]
                if older if limits.breadth_first else gain[frontier[t]] > gain[frontier[pick]]:
                    pick = t
        node = frontier[pick]
        frontier[pick] = frontier[waiting - 1]
        waiting -= 1
        members = rows[start[node] : start[node] + count[node]]
        chosen = sets[max(set_of[node], 0)]
        n_left, n_missing = _part(features, members, feature[node], cutoff[node], missing_left[node], chosen, scratch)
        if n_missing == 0:  # nothing was learned of missing values: they follow the majority
            missing_left[node] = 2 * n_left > count[node]
        if set_of[node] >= 0 and missing_left[node]:
            _add_absent(features, members, feature[node], chosen, scratch.counts)
        left[node] = n_nodes
        for side in range(2):
            child = n_nodes + side
            start[child] = start[node] + side * n_left
            count[child] = n_left if side == 0 else count[node] - n_left
            depth[child] = depth[node] + 1
            seed[child] = _mixed(seed[node] + np.uint64(side + 1))
        new_first, new_last = n_nodes, n_nodes + 2
        n_nodes += 2
        n_leaves += 1
    for node in range(n_nodes):
        if left[node] < 0:
            feature[node] = -1
            set_of[node] = -1
            gain[node] = 0.0
    return n_nodes, n_sets


@compiled
def _n_filling(targets, rows):
    """How many of the rows will fill leaves."""
    total = 0
    for r in range(rows.shape[0]):
        total += targets.fills[rows[r]]
    return total


@compiled
def _both_hold_enough(n_left, m, filling_left, filling, least):
    """Whether both sides hold rows that choose splits, and enough rows that fill leaves."""
    others_left = n_left - filling_left
    others = m - filling
    enough = (filling_left >= least) & (filling - filling_left >= least)
    return enough & (others_left >= 1) & (others - others_left >= 1)


@compiled
def _mixed(state):
    """A hash of a 64-bit number (splitmix64): the random numbers of a node depend on its way from the root alone."""
    z = state + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@compiled_sums
def _expand(targets, row, block, r):
    """Write the vector of a row, 0 where a coordinate is missing, into row r of the block."""
    w = targets.weights[row]
    values = targets.values
    q = targets.size
    c = 0
    if targets.is_pairs:
        k = values.shape[1]
        for i in range(k - 1):
            a = values[row, i]
            if targets.is_complete:
                for j in range(i + 1, k):
                    b = values[row, j]
                    block[r, c + j - i - 1] = w * (1.0 * (a < b) + 0.5 * (a == b))
            else:
                for j in range(i + 1, k):
                    b = values[row, j]
                    tied = (a == b) & (a < np.inf)
                    block[r, c + j - i - 1] = w * (1.0 * (a < b) + 0.5 * tied)
                    block[r, q + c + j - i - 1] = w * ((a < b) | (a > b) | tied)
            c += k - 1 - i
    elif targets.is_complete:
        for c in range(q):
            block[r, c] = w * values[row, c]
    else:
        for c in range(q):
            value = values[row, c]
            block[r, c] = w * value if value == value else 0.0
            block[r, q + c] = w * (value == value)
    square = 0.0
    for c in range(q):
        square += block[r, c] ** 2
    width = block.shape[1] - 3
    block[r, width + _SQUARE] = square
    block[r, width + _WEIGHT] = w


@compiled_sums
def _totals(targets, rows, block, total):
    """Sums of the node; fills the block where it holds the node. Returns the weight and the sum of w |e|^2."""
    m, q, width = rows.shape[0], targets.size, total.shape[0]
    n = targets.values.shape[0]
    whole, cached = n <= block.shape[0], m <= block.shape[0]
    for c in range(width):
        total[c] = 0.0
    weight = squares = 0.0
    for r in range(m):
        at = rows[r] if whole else r if cached else 0
        if not whole:
            _expand(targets, rows[r], block, at)
        for c in range(width):
            total[c] += block[at, c]
        w = block[at, width + _WEIGHT]
        weight += w
        if w > 0:
            squares += block[at, width + _SQUARE] / w
    if targets.is_complete and cached:
        for r in range(m):
            at = rows[r] if whole else r
            along = 0.0
            for c in range(q):
                along += total[c] * block[at, c]
            block[at, width + _ALONG] = along
    return weight, squares


@compiled_sums
def _cell_score(total, weight, q, is_complete):
    """|S|^2 / w of one cell."""
    score = 0.0
    if is_complete:
        for c in range(q):
            score += total[c] ** 2
        return score / weight if weight > 0 else 0.0
    for c in range(q):
        if total[q + c] > 0:
            score += total[c] ** 2 / total[q + c]
    return score


@compiled_sums
def _split_score(total, left, weight, left_weight, q, is_complete):
    """|S_L|^2 / w_L + |S_R|^2 / w_R."""
    if is_complete:
        right_weight = weight - left_weight
        if left_weight <= 0 or right_weight <= 0:
            return -np.inf
        left_square = right_square = 0.0
        for c in range(q):
            left_square += left[c] ** 2
            right_square += (total[c] - left[c]) ** 2
        return left_square / left_weight + right_square / right_weight
    score = 0.0
    for c in range(q):
        known = left[q + c]
        rest = total[q + c] - known
        if known > 0:
            score += left[c] ** 2 / known
        # Treat weights below rounding error as zero.
        if rest > 1e-12 * total[q + c]:
            score += (total[c] - left[c]) ** 2 / rest
    return score


@compiled
def _search(features, targets, limits, rows, weight, candidates, seed, best, scratch):
    """Best split of a node over randomly drawn features: at least max_features, more until one can be split."""
    d, m = candidates.shape[0], rows.shape[0]
    whole, cached = targets.values.shape[0] <= scratch.block.shape[0], m <= scratch.block.shape[0]
    state = seed
    for t in range(d):
        candidates[t] = t
    for t in range(d):
        if t >= limits.max_features and best[SCORE] > -np.inf:
            return
        if limits.max_features < d:
            state = _mixed(state)
            other = t + int(state % np.uint64(d - t))
            candidates[t], candidates[other] = candidates[other], candidates[t]
        f = candidates[t]
        n_codes = features.n_codes[f]
        # Not plain -1 and 0: the functions below would be compiled once more, for these very numbers.
        low, high, n_missing = n_codes, np.int64(-1), np.int64(0)
        for r in range(m):
            code = np.int64(features.codes[f, rows[r]])
            scratch.order[r] = (code << 32) | (rows[r] if whole else r)
            if code == n_codes:
                n_missing += 1
            else:
                low = min(low, code)
                high = max(high, code)
        if low >= high and (n_missing == 0 or high < 0):
            continue
        drawn = _mixed(seed + np.uint64(f + 3))  # after the seeds of the children
        few_codes = n_codes <= MOST_COUNTED_CODES and m >= _ROWS_PER_CODE * n_codes
        if limits.random_thresholds and not features.is_categorical[f]:
            _try_random(features, targets, limits, rows, weight, f, low, high, n_missing, drawn, best, scratch)
        elif features.is_categorical[f] or few_codes:
            _try_codes(features, targets, limits, rows, weight, f, drawn, best, scratch)
        else:
            _sort(scratch.order[:m], low, n_codes if n_missing else high, scratch.counts, scratch.buffer)
            for missing_left in range(2 if n_missing > 0 else 1):
                if targets.is_complete and cached and targets.fills.shape[0] == 0:
                    _scan_complete(
                        f,
                        n_codes,
                        m,
                        n_missing,
                        missing_left,
                        weight,
                        limits.min_samples_leaf,
                        scratch.order,
                        scratch.block,
                        scratch.total,
                        scratch.left,
                        best,
                    )
                else:
                    _scan(targets, limits, rows, weight, f, n_codes, n_missing, missing_left, best, scratch)


@compiled
def _offer(score, f, cutoff, after, missing_left, best):
    best[SCORE] = score
    best[FEATURE] = f
    best[CUTOFF] = cutoff
    best[AFTER] = after
    best[THRESHOLD] = np.nan
    best[MISSING_LEFT] = missing_left


@compiled
def threshold_between(features, f, code, after):
    """A threshold between two codes of a feature: halfway, but never equal to the upper value.

    Infinity if no code follows: then only missing values go right.
    """
    if after >= features.n_codes[f]:
        return np.inf
    low = features.upper[features.start[f] + code]
    high = features.lower[features.start[f] + after]
    middle = low / 2 + high / 2
    return middle if low <= middle < high else low


@compiled
def _sort(order, low, high, counts, buffer):
    """Sort entries code << 32 | place, with codes from low to high; missing ones, of the largest code, end last."""
    m = order.shape[0]
    if m > _FEW_ROWS and high - low < min(CODES_PER_ROW * m, counts.shape[0]):
        for code in range(high - low + 1):
            counts[code] = 0
        for r in range(m):
            counts[(order[r] >> 32) - low] += 1
        total = 0
        for code in range(high - low + 1):
            number = counts[code]
            counts[code] = total
            total += number
        for r in range(m):
            code = (order[r] >> 32) - low
            buffer[counts[code]] = order[r]
            counts[code] += 1
        for r in range(m):
            order[r] = buffer[r]
        return
    # Shell's sort, plain insertion for few rows: it compiles in a tenth of the time of NumPy's.
    gap = 1
    while 9 * gap < 4 * m:
        gap = (9 * gap + 4) // 4
    while gap > 0:
        for r in range(gap, m):
            entry = order[r]
            at = r
            while at >= gap and order[at - gap] > entry:
                order[at] = order[at - gap]
                at -= gap
            order[at] = entry
        gap = 4 * gap // 9


@compiled_sums
def _scan_complete(f, n_codes, m, n_missing, missing_left, weight, min_leaf, order, block, total, left, best):
    """All cuts of one feature, for complete targets at hand, with one inner product per row.

    With A = |S_L|^2 and B = S . S_L, |S_R|^2 = |S|^2 - 2 B + A; a row adds 2 S_L . e + |e|^2 to A and S . e to B, and
    S . e was computed once for all features.
    """
    q = total.shape[0]
    highest = best[SCORE]
    A = B = left_weight = total_square = 0.0
    for c in range(q):
        left[c] = 0.0
        total_square += total[c] ** 2
    # Missing rows, which sort last, come first when they go left; else they end the scan.
    shift = m - n_missing if missing_left else 0
    last = m - 1 if missing_left else min(m - n_missing, m - 1)
    for t in range(last):
        at = t + shift
        if at >= m:
            at -= m
        r = order[at] & 0xFFFFFFFF
        along = 0.0
        for c in range(q):
            e, before = block[r, c], left[c]
            along += before * e
            left[c] = before + e
        A += 2 * along + block[r, q + _SQUARE]
        B += block[r, q + _ALONG]
        left_weight += block[r, q + _WEIGHT]
        if at >= m - n_missing:
            continue
        code = order[at] >> 32
        after = order[at + 1] >> 32 if at + 1 < m - n_missing else n_codes
        if after == code or t + 1 < min_leaf or m - t - 1 < min_leaf:
            continue
        right_weight = weight - left_weight
        if left_weight <= 0 or right_weight <= 0:
            continue
        # A / left_weight + |S_R|^2 / right_weight > highest, without the divisions
        product = A * right_weight + (total_square - 2 * B + A) * left_weight
        if product > highest * (left_weight * right_weight):
            highest = product / (left_weight * right_weight)
            _offer(highest, f, code, after, missing_left, best)


@compiled
def _scan(targets, limits, rows, weight, f, n_codes, n_missing, missing_left, best, scratch):
    """The same for incomplete targets, for nodes too large for the block, and where other rows fill the leaves."""
    order, block, total, left = scratch.order, scratch.block, scratch.total, scratch.left
    m, q, width = rows.shape[0], targets.size, total.shape[0]
    whole, cached = targets.values.shape[0] <= block.shape[0], m <= block.shape[0]
    two_kinds = targets.fills.shape[0] > 0
    filling = _n_filling(targets, rows) if two_kinds else 0
    filling_left = 0
    for c in range(width):
        left[c] = 0.0
    left_weight = 0.0
    shift = m - n_missing if missing_left else 0
    last = m - 1 if missing_left else min(m - n_missing, m - 1)
    for t in range(last):
        at = t + shift
        if at >= m:
            at -= m
        r = order[at] & 0xFFFFFFFF
        if two_kinds:
            filling_left += targets.fills[r if whole else rows[r]]
        if not cached:
            _expand(targets, rows[r], block, np.int64(0))
            r = 0
        for c in range(width):
            left[c] += block[r, c]
        left_weight += block[r, width + _WEIGHT]
        if at >= m - n_missing:
            continue
        code = order[at] >> 32
        after = order[at + 1] >> 32 if at + 1 < m - n_missing else n_codes
        if after == code or min(t + 1, m - t - 1) < limits.min_samples_leaf:
            continue
        if two_kinds and not _both_hold_enough(t + 1, m, filling_left, filling, limits.min_samples_leaf):
            continue
        score = _split_score(total, left, weight, left_weight, q, targets.is_complete)
        if score > best[SCORE]:
            _offer(score, f, code, after, missing_left, best)


@compiled
def _try_random(features, targets, limits, rows, weight, f, low, high, n_missing, drawn, best, scratch):
    """One threshold, drawn between the places of the smallest and the largest value in the node."""
    block, total, left = scratch.block, scratch.total, scratch.left
    m, q, width = rows.shape[0], targets.size, total.shape[0]
    whole, cached = targets.values.shape[0] <= block.shape[0], m <= block.shape[0]
    two_kinds = targets.fills.shape[0] > 0
    filling = _n_filling(targets, rows) if two_kinds else 0
    n_codes, first = features.n_codes[f], features.start[f]
    place = np.uint64(features.places[first + low])
    place += ((drawn >> np.uint64(32)) * (np.uint64(features.places[first + high]) - place)) >> np.uint64(32)
    cutoff, above = low, high
    while above - cutoff > 1:  # the last code whose place is not above, but never all
        middle = (cutoff + above) // 2
        if np.uint64(features.places[first + middle]) <= place:
            cutoff = middle
        else:
            above = middle
    # At one end of the gap between two values, not halfway: then only their order counts, for new values, too.
    threshold = np.inf
    if cutoff + 1 < n_codes:
        threshold = features.upper[first + cutoff]
        if drawn & np.uint64(1) == np.uint64(1):
            threshold = np.nextafter(features.lower[first + cutoff + 1], -np.inf)
    for missing_left in range(2 if n_missing > 0 else 1):
        for c in range(width):
            left[c] = 0.0
        left_weight = 0.0
        n_left = filling_left = 0
        for r in range(m):
            code = features.codes[f, rows[r]]
            goes_left = missing_left == 1 if code == n_codes else code <= cutoff
            if goes_left:
                at = rows[r] if whole else r if cached else 0
                if not cached:
                    _expand(targets, rows[r], block, np.int64(0))
                for c in range(width):
                    left[c] += block[at, c]
                left_weight += block[at, width + _WEIGHT]
                n_left += 1
                if two_kinds:
                    filling_left += targets.fills[rows[r]]
        enough = min(n_left, m - n_left) >= max(limits.min_samples_leaf, 1)
        if two_kinds:
            enough = _both_hold_enough(n_left, m, filling_left, filling, limits.min_samples_leaf)
        if enough:
            score = _split_score(total, left, weight, left_weight, q, targets.is_complete)
            if score > best[SCORE]:
                _offer(score, f, cutoff, cutoff + 1, missing_left, best)
                best[THRESHOLD] = threshold


@compiled
def _try_codes(features, targets, limits, rows, weight, f, drawn, best, scratch):
    """All cuts of one feature by sums per code.

    Few categories are divided in every way; many are cut in the order of their main direction, which for one target is
    as good.
    """
    block, total, left, sums, counts = scratch.block, scratch.total, scratch.left, scratch.sums, scratch.counts
    m, q, width = rows.shape[0], targets.size, total.shape[0]
    whole, cached = targets.values.shape[0] <= block.shape[0], m <= block.shape[0]
    two_kinds = targets.fills.shape[0] > 0
    filling = _n_filling(targets, rows) if two_kinds else 0
    fill_counts = scratch.fill_counts
    n_codes = features.n_codes[f]
    for code in range(n_codes + 1):
        counts[code] = 0
        fill_counts[code] = 0
        for c in range(width + 1):
            sums[code, c] = 0.0
    for r in range(m):
        code = features.codes[f, rows[r]]
        at = rows[r] if whole else r if cached else 0
        if not cached:
            _expand(targets, rows[r], block, np.int64(0))
        for c in range(width):
            sums[code, c] += block[at, c]
        sums[code, width] += block[at, width + _WEIGHT]
        counts[code] += 1
        if two_kinds:
            fill_counts[code] += targets.fills[rows[r]]
    code_order = scratch.code_order
    present = np.int64(0)
    for code in range(n_codes):
        if counts[code] > 0:
            code_order[present] = code
            present += 1
    categorical = features.is_categorical[f]
    if categorical and q > 1 and present <= MOST_DIVIDED and not limits.random_thresholds:
        _try_divisions(targets, limits, m, weight, f, n_codes, present, best, scratch)
        return
    if categorical:
        _order_categories(sums, total, weight, q, targets.is_complete, code_order, present)
    only = -1
    if limits.random_thresholds and present > 1:
        only = int(drawn % np.uint64(present - 1))
    for missing_left in range(2 if counts[n_codes] > 0 else 1):
        left_weight = 0.0
        n_left = filling_left = 0
        for c in range(width):
            left[c] = sums[n_codes, c] if missing_left else 0.0
        if missing_left:
            left_weight += sums[n_codes, width]
            n_left += counts[n_codes]
            filling_left += fill_counts[n_codes]
        for t in range(present):
            code = code_order[t]
            for c in range(width):
                left[c] += sums[code, c]
            left_weight += sums[code, width]
            n_left += counts[code]
            filling_left += fill_counts[code]
            if only >= 0 and t != only:
                continue
            if n_left == m or min(n_left, m - n_left) < limits.min_samples_leaf:
                continue
            if two_kinds and not _both_hold_enough(n_left, m, filling_left, filling, limits.min_samples_leaf):
                continue
            score = _split_score(total, left, weight, left_weight, q, targets.is_complete)
            if score > best[SCORE]:
                _offer(score, f, code, code_order[t + 1] if t + 1 < present else n_codes, missing_left, best)
                if categorical:
                    best[THRESHOLD] = 0.0
                    for word in range(scratch.chosen.shape[0]):
                        scratch.chosen[word] = 0
                    for s in range(t + 1):
                        into = code_order[s]
                        scratch.chosen[into // 64] |= np.uint64(1) << np.uint64(into % 64)


@compiled_sums
def _try_divisions(targets, limits, m, weight, f, n_codes, present, best, scratch):
    """All divisions of the present categories, and of the missing values as one more, in two sides.

    Where targets are complete, inner products of the categories' sums are enough, with A = |S_L|^2 and B = S . S_L as
    in `_scan_complete`. Entry t of an array holds what those of the first t + 1 categories that go left add up to; the
    next division changes the last few entries only.
    """
    sums, counts, code_order = scratch.sums, scratch.counts, scratch.code_order
    total, left = scratch.total, scratch.left
    q, width, is_complete = targets.size, total.shape[0], targets.is_complete
    k = present
    if counts[n_codes] > 0:
        code_order[present] = n_codes
        k += 1
    if k < 2:
        return
    number, filled, mass = np.zeros(k, np.int64), np.zeros(k, np.int64), np.zeros(k)
    filling = 0
    for t in range(k):
        filling += scratch.fill_counts[code_order[t]]
    A, B = np.zeros(k), np.zeros(k)
    products = np.zeros((k, k))
    parts = np.zeros((1 if is_complete else k, width))
    total_square = 0.0
    if is_complete:
        for s in range(k):
            for t in range(s, k):
                product = 0.0
                for c in range(q):
                    product += sums[code_order[s], c] * sums[code_order[t], c]
                products[s, t] = products[t, s] = product
        for c in range(q):
            total_square += total[c] ** 2
    highest, division = -np.inf, -1
    first = 0
    # The first category goes left; bit k - 1 - t of the trial says whether category t does.
    for trial in range((1 << (k - 1)) - 1):
        if trial > 0:
            first = k - 1
            while (trial >> (k - 1 - first)) & 1 == 0:
                first -= 1
        for t in range(first, k):
            code = code_order[t]
            goes_left = t == 0 or (trial >> (k - 1 - t)) & 1 == 1
            number[t] = (number[t - 1] if t > 0 else 0) + (counts[code] if goes_left else 0)
            filled[t] = (filled[t - 1] if t > 0 else 0) + (scratch.fill_counts[code] if goes_left else 0)
            mass[t] = (mass[t - 1] if t > 0 else 0.0) + (sums[code, width] if goes_left else 0.0)
            if is_complete:
                A[t] = A[t - 1] if t > 0 else 0.0
                B[t] = B[t - 1] if t > 0 else 0.0
                if goes_left:
                    along = 0.0
                    for s in range(k):
                        B[t] += products[s, t]
                    for s in range(t):
                        along += products[s, t] if s == 0 or (trial >> (k - 1 - s)) & 1 == 1 else 0.0
                    A[t] += 2 * along + products[t, t]
            else:
                for c in range(width):
                    parts[t, c] = (parts[t - 1, c] if t > 0 else 0.0) + (sums[code, c] if goes_left else 0.0)
        if min(number[k - 1], m - number[k - 1]) < limits.min_samples_leaf:
            continue
        if targets.fills.shape[0] > 0 and not _both_hold_enough(
            number[k - 1], m, filled[k - 1], filling, limits.min_samples_leaf
        ):
            continue
        if is_complete:
            score, rest = -np.inf, weight - mass[k - 1]
            if mass[k - 1] > 0 and rest > 0:
                score = A[k - 1] / mass[k - 1] + (total_square - 2 * B[k - 1] + A[k - 1]) / rest
        else:
            score = _split_score(total, parts[k - 1], weight, mass[k - 1], q, is_complete)
        if score > highest:
            highest, division = score, trial
    if division < 0:
        return
    left_weight = 0.0
    for c in range(width):
        left[c] = 0.0
    for t in range(k):
        if t == 0 or (division >> (k - 1 - t)) & 1 == 1:
            left_weight += sums[code_order[t], width]
            for c in range(width):
                left[c] += sums[code_order[t], c]
    score = _split_score(total, left, weight, left_weight, q, is_complete)
    if score <= best[SCORE]:
        return
    # Sides have no names of their own: let the first target rise, as along the main direction.
    known, all_known = (left_weight, weight) if is_complete else (left[q], total[q])
    falls = left[0] * (all_known - known) > (total[0] - left[0]) * known
    missing_left = False
    for word in range(scratch.chosen.shape[0]):
        scratch.chosen[word] = 0
    for t in range(k):
        if (t == 0 or (division >> (k - 1 - t)) & 1 == 1) != falls:
            code = code_order[t]
            if code == n_codes:
                missing_left = True
            else:
                scratch.chosen[code // 64] |= np.uint64(1) << np.uint64(code % 64)
    _offer(score, f, np.int64(0), n_codes, missing_left, best)
    best[THRESHOLD] = 0.0


@compiled_sums
def _order_categories(sums, total, weight, q, is_complete, code_order, present):
    """Sort the present categories along the first principal component of their mean targets."""
    means = np.zeros((present, q))
    mass = np.zeros(present)
    for t in range(present):
        code = code_order[t]
        mass[t] = sums[code, sums.shape[1] - 1]
        for c in range(q):
            known = mass[t] if is_complete else sums[code, q + c]
            all_known = weight if is_complete else total[q + c]
            if known > 0 and all_known > 0:
                means[t, c] = sums[code, c] / known - total[c] / all_known
    direction = np.zeros(q)
    widest = 0.0
    for t in range(present):
        spread = 0.0
        for c in range(q):
            spread += mass[t] * means[t, c] ** 2
        if spread > widest:
            widest = spread
            for c in range(q):
                direction[c] = means[t, c]
    if widest == 0:
        return
    along = np.zeros(present)
    for _ in range(_POWER_STEPS):
        length = 0.0
        for c in range(q):
            length += direction[c] ** 2
        length = np.sqrt(length)
        if length == 0:
            break
        for t in range(present):
            along[t] = 0.0
            for c in range(q):
                along[t] += means[t, c] * direction[c] / length
        for c in range(q):
            direction[c] = 0.0
            for t in range(present):
                direction[c] += mass[t] * along[t] * means[t, c]
    sign = -1.0 if direction[0] < 0 else 1.0  # a direction has no sign of its own: let the first target rise
    for t in range(present):
        along[t] *= sign
    for t in range(1, present):
        code, value = code_order[t], along[t]
        at = t
        while at > 0 and along[at - 1] > value:
            along[at], code_order[at] = along[at - 1], code_order[at - 1]
            at -= 1
        along[at], code_order[at] = value, code


@compiled
def _part(features, rows, f, cutoff, missing_left, chosen, scratch):
    """Put the rows that go left before the others, each side in its old order; how many go left, and are missing."""
    n_codes = features.n_codes[f]
    categorical = features.is_categorical[f]
    n_left = n_right = n_missing = 0
    for r in range(rows.shape[0]):
        row = rows[r]
        code = features.codes[f, row]
        if code == n_codes:
            goes_left = missing_left
            n_missing += 1
        elif categorical:
            goes_left = (chosen[code // 64] >> np.uint64(code % 64)) & np.uint64(1) == np.uint64(1)
        else:
            goes_left = code <= cutoff
        if goes_left:
            rows[n_left] = row
            n_left += 1
        else:
            scratch.buffer[n_right] = row
            n_right += 1
    for r in range(n_right):
        rows[n_left + r] = scratch.buffer[r]
    return n_left, n_missing


@compiled
def _add_absent(features, rows, f, chosen, counts):
    """Let categories that no row of the node has go left, as missing values do there."""
    for code in range(features.n_codes[f]):
        counts[code] = 0
    for r in range(rows.shape[0]):
        code = features.codes[f, rows[r]]
        if code < features.n_codes[f]:
            counts[code] += 1
    for code in range(features.n_codes[f]):
        if counts[code] == 0:
            chosen[code // 64] |= np.uint64(1) << np.uint64(code % 64)
