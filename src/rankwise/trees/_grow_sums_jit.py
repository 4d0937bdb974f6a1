"""Compiled functions that grow a tree by random thresholds on targets of small whole numbers; `_grow_sums` calls them.

The score of a split is that of `_grow_jit`, |S_L|^2 / w_L + |S_R|^2 / w_R, here from whole numbers, without rounding:

- A node of many rows adds up. Four coordinates share a word, which is added where the row goes left, and emptied before
  one of them could overflow. The rows of a node lie side by side, so that such loops take many at a time.
- A node of few rows, and all nodes below it, need only the inner products of its rows: |S_L|^2 is the sum of some.

Weights are whole numbers, too, and so are features: places on the scale that random thresholds are drawn on.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rankwise._compiled import compiled_in_place, inlined

# Rows, at most, of nodes that use inner products: a word has a bit for every set of them.
MOST_PRODUCTS = 6
# Bits of a coordinate in a word, coordinates of a word, and those before the targets: weight and number of rows.
BITS, PER_WORD, BEFORE = 16, 4, 2
#: largest sum of a coordinate in a word; and the place of missing values
LARGEST = MISSING = 2**BITS - 1
#: places of a bucket, see `PlacedFeatures`
BUCKET = 64


class PlacedFeatures(NamedTuple):
    """Features of the rows of a tree, and their codes, from start on; see `_grow_jit.Features`."""

    places: Any  # (features, rows)
    n_codes: Any
    start: Any
    ends: Any  # the thresholds at both ends of the gap above each code, side by side
    of_codes: Any  # the place of each code
    buckets: Any  # (features, buckets + 1): the first code of each bucket of places


class SumTargets(NamedTuple):
    """The targets of the rows of a tree."""

    words: Any  # (words, rows): weight, number (1) and weighted coordinates of each row, four to a word
    vectors: Any  # (rows, coordinates)
    squares: Any  # (rows,): weighted squared length of each target
    weights: Any  # (rows,)
    rows_at_once: int  # whose sums fit into a word


class SumScratch(NamedTuple):
    """Working memory of one tree."""

    rows: Any  # (rows,): all rows, those of a node side by side; below a node of few rows their numbers in that node
    row_of: Any  # (rows,): the rows of the nodes of few rows
    order: Any  # (rows,)
    buffer: Any  # (rows,)
    moved: Any  # (rows,): places of a feature
    moved_words: Any  # (rows,)
    base: Any  # (nodes,): where the rows of the node of few rows begin that the node is or lies below, else -1
    total: Any  # (coordinates of all words,): sums of a node
    left: Any  # the same of its rows that go left
    few: Any  # (MOST_PRODUCTS,): places of the rows of a node
    products: Any  # (MOST_PRODUCTS, MOST_PRODUCTS): inner products of weighted targets
    own_weights: Any  # (MOST_PRODUCTS,)
    own_squares: Any  # (MOST_PRODUCTS,)
    along: Any  # (MOST_PRODUCTS,): inner product of each row of a node with the sum of the node
    side: Any  # (MOST_PRODUCTS,): numbers of the rows of a side
    candidates: Any  # (features,)
    frontier: Any  # (nodes,)


@compiled_in_place
def grow_by_sums(features, targets, limits, root_seed, nodes, leaf, scratch):
    """Grow a tree on all rows, children side by side, and write the leaf of each row; how many nodes it has.

    The places of features and the words of targets are sorted on the way.

    Nodes, seeds and random draws are those of `_grow_jit.grow` where the number of leaves has no limit.
    """
    places = features.places
    n = places.shape[1]
    frontier, rows, base_of = scratch.frontier, scratch.rows, scratch.base
    weights, all_squares = targets.weights, targets.squares
    nodes.count[0] = n
    nodes.seed[0] = root_seed
    base_of[0] = -1
    frontier[0] = 0
    waiting, n_nodes = 1, 1
    while waiting > 0:
        waiting -= 1
        node = frontier[waiting]
        start, m = nodes.start[node], nodes.count[node]
        base = base_of[node]
        members = rows[start : start + m]
        weight = squares = np.int64(0)
        if base < 0 and m <= MOST_PRODUCTS:
            # The nodes below one of few rows come right after it, and use its products and numbers.
            base = base_of[node] = start
            _multiply(targets, members, base, scratch)
        if base >= 0:
            for r in range(m):
                weight += scratch.own_weights[members[r]]
                squares += scratch.own_squares[members[r]]
            square = _sum_products(members, scratch)
        else:
            for r in range(m):
                weight += weights[members[r]]
                squares += all_squares[members[r]]
            square = _sum_words(targets, start, m, scratch.total)
        score_before = square / weight
        nodes.weight[node] = weight
        nodes.error[node] = max(squares - score_before, 0.0)
        may_split = (
            (m >= limits.min_samples_split)
            & (m >= 2 * limits.min_samples_leaf)
            & (nodes.depth[node] < limits.max_depth)
        )
        if not may_split or weight * squares == square:  # all targets are the same
            continue
        score, f, cutoff, is_upper, has_missing, missing_left = _search(
            places, targets, limits, start, base, members, weight, square, nodes.seed[node], scratch
        )
        gain = score - score_before
        if f < 0 or (limits.min_gain > 0 and gain < limits.min_gain * nodes.weight[0]):
            continue
        n_left = _part(places, targets.words, start, base, members, f, cutoff, missing_left, scratch)
        nodes.feature[node] = f
        nodes.cutoff[node] = 2 * cutoff + is_upper
        # Where nothing was learned of missing values, they follow the majority.
        nodes.missing_left[node] = missing_left if has_missing else 2 * n_left > m
        nodes.gain[node] = max(gain, 0.0)
        nodes.left[node] = n_nodes
        for side in range(2):
            child = n_nodes + side
            nodes.start[child] = start + side * n_left
            nodes.count[child] = n_left if side == 0 else m - n_left
            nodes.depth[child] = nodes.depth[node] + 1
            nodes.seed[child] = _mixed(nodes.seed[node] + np.uint64(side + 1))
            base_of[child] = base
            frontier[waiting] = child
            waiting += 1
        n_nodes += 2
    _write_thresholds(features, nodes, n_nodes)
    n_leaves = 0
    for node in range(n_nodes):
        if nodes.left[node] < 0:
            for r in range(nodes.start[node], nodes.start[node] + nodes.count[node]):
                leaf[scratch.row_of[base_of[node] + rows[r]] if base_of[node] >= 0 else rows[r]] = n_leaves
            n_leaves += 1
    return n_nodes


@compiled_in_place
def _mixed(state):
    """A hash of a 64-bit number (splitmix64), the same as that of `_grow_jit`."""
    z = state + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@compiled_in_place
def _ones(x):
    """How many bits are set: the form of it that compilers know and replace by one instruction."""
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@inlined
def _write_thresholds(features, nodes, n_nodes):
    """The thresholds of all nodes: at one end of the gap between two values, so that only their order counts.

    Infinity if no value follows: then only missing values go right.
    """
    for node in range(n_nodes):
        if nodes.left[node] < 0:
            continue
        f, cutoff, is_upper = np.int64(nodes.feature[node]), nodes.cutoff[node] >> 1, nodes.cutoff[node] & 1
        first = features.start[f]
        # The last code whose place is not above.
        low = np.int64(features.buckets[f, cutoff // BUCKET]) - 1
        high = np.int64(features.buckets[f, cutoff // BUCKET + 1])
        while high - low > 1:
            middle = (low + high) // 2
            if np.int64(features.of_codes[first + middle]) <= cutoff:
                low = middle
            else:
                high = middle
        nodes.cutoff[node] = 2 * (first + low) + is_upper
    # In a loop of its own, which waits for many values at a time.
    for node in range(n_nodes):
        if nodes.left[node] >= 0:
            nodes.threshold[node] = features.ends[nodes.cutoff[node]]


@inlined
def _search(places, targets, limits, start, base, members, weight, square, seed, scratch):
    """The best of one random threshold for each feature drawn; at least max_features are, and more until one splits.

    Its score, feature and place, whether the threshold lies at the upper end of the gap between two values, whether
    there are missing values, and whether they go left.
    """
    candidates, few = scratch.candidates, scratch.few
    d, m, least = places.shape[0], members.shape[0], max(limits.min_samples_leaf, 1)
    state = seed
    draws = limits.max_features < d
    if draws:
        for t in range(d):
            candidates[t] = t
    best, feature, cutoff, is_upper, has_missing, missing_left = -np.inf, -1, np.int64(0), False, False, False
    # Few rows can be divided in few ways: each is scored once, and when all are, no feature is left to be tried.
    tried, n_untried = np.uint64(0), (1 << (m - 1)) - 1 if base >= 0 else 1
    for t in range(d):
        if (t >= limits.max_features and feature >= 0) or n_untried == 0:
            break
        f = t
        if draws:
            state = _mixed(state)
            other = t + int(state % np.uint64(d - t))
            candidates[t], candidates[other] = candidates[other], candidates[t]
            f = candidates[t]
        low, high = np.uint16(MISSING), np.uint16(0)
        if base < 0:
            column = places[f, start : start + m]
            for r in range(m):
                low = min(low, column[r])
                high = max(high, column[r])
        else:
            column = few
            for r in range(m):
                place = places[f, np.uint64(base + members[r])]
                few[r] = place
                low = min(low, place)
                high = max(high, place)
        if low == high:
            continue
        lowest, highest, n_ways = np.int64(low), np.int64(high), 1
        if highest == MISSING:
            n_ways = 2
            highest = lowest
            for r in range(m):
                highest = max(highest, lowest if column[r] == np.uint16(MISSING) else np.int64(column[r]))
        drawn = _mixed(seed + np.uint64(f + 3))
        cut = lowest + np.int64(((drawn >> np.uint64(32)) * np.uint64(highest - lowest)) >> np.uint64(32))
        for way in range(n_ways):
            if base < 0:
                score = _score_by_sums(column, cut, way, targets, start, m, least, weight, scratch)
            else:
                mask = np.uint64(0)
                for r in range(m):
                    goes_left = (np.int64(few[r]) <= cut) | ((few[r] == np.uint16(MISSING)) & (way == 1))
                    mask |= np.uint64(goes_left) << np.uint64(r)
                n_left = _ones(mask)
                if 2 * n_left > m or (2 * n_left == m and mask & np.uint64(1)):
                    mask = ~mask & ((np.uint64(1) << np.uint64(m)) - np.uint64(1))
                if min(n_left, m - n_left) < 1:
                    continue
                if (tried >> mask) & np.uint64(1):
                    continue
                tried |= np.uint64(1) << mask
                n_untried -= 1
                score = -np.inf
                if min(n_left, m - n_left) >= least:
                    score = _score_by_products(mask, members, weight, square, scratch)
            if score > best:
                best, feature, cutoff, is_upper = score, f, cut, drawn & np.uint64(1) == np.uint64(1)
                has_missing, missing_left = n_ways == 2, way == 1
    return best, feature, cutoff, is_upper, has_missing, missing_left


@inlined
def _part(places, words, start, base, members, f, cutoff, missing_left, scratch):
    """Put the rows that go left before the others, each side in its old order; how many go left."""
    m = members.shape[0]
    order, buffer = scratch.order, scratch.buffer
    n_left = n_right = 0
    for r in range(m):
        place = np.int64(places[f, start + r if base < 0 else base + members[r]])
        goes_left = (place <= cutoff) | (missing_left & (place == MISSING))
        # Both are written, and one of them again: there is no branch to be guessed wrong.
        order[n_left] = r
        buffer[n_right] = r
        n_left += goes_left
        n_right += not goes_left
    for r in range(n_right):
        order[n_left + r] = buffer[r]
    for r in range(m):
        buffer[r] = members[order[r]]
    for r in range(m):
        members[r] = buffer[r]
    if base < 0:
        moved, moved_words = scratch.moved, scratch.moved_words
        for g in range(places.shape[0]):
            column = places[g, start : start + m]
            for r in range(m):
                moved[r] = column[order[r]]
            for r in range(m):
                column[r] = moved[r]
        for v in range(words.shape[0]):
            own = words[v, start : start + m]
            for r in range(m):
                moved_words[r] = own[order[r]]
            for r in range(m):
                own[r] = moved_words[r]
    return n_left


@inlined
def _multiply(targets, members, base, scratch):
    """Inner products of the weighted targets of the rows of a node, which are numbered from now on."""
    vectors, weights = targets.vectors, targets.weights
    for r in range(members.shape[0]):
        a = vectors[members[r]]
        scratch.own_weights[r] = weights[members[r]]
        scratch.own_squares[r] = targets.squares[members[r]]
        for s in range(r + 1):
            b = vectors[members[s]]
            product = np.int64(0)
            for c in range(vectors.shape[1]):
                product += np.int64(a[c]) * np.int64(b[c])
            product *= weights[members[r]] * weights[members[s]]
            scratch.products[r, s] = product
            scratch.products[s, r] = product
    for r in range(members.shape[0]):
        scratch.row_of[base + r] = members[r]
        members[r] = r


@inlined
def _sum_products(members, scratch):
    """Squared length of the sum of a node, and the inner product of each row with this sum."""
    m = members.shape[0]
    square = np.int64(0)
    for r in range(m):
        own = scratch.products[members[r]]
        along = np.int64(0)
        for s in range(m):
            along += own[members[s]]
        scratch.along[r] = along
        square += along
    return square


@inlined
def _score_by_products(mask, members, weight, square, scratch):
    """The score of a split, by the inner products of the rows of its smaller side, a bit each."""
    products, own_weights, along, side = scratch.products, scratch.own_weights, scratch.along, scratch.side
    own = with_all = own_weight = np.int64(0)
    t = 0
    while mask != np.uint64(0):
        r = _ones((mask & (~mask + np.uint64(1))) - np.uint64(1))  # the lowest bit that is set
        mask &= mask - np.uint64(1)
        at = members[r]
        within = np.int64(0)
        for s in range(t):
            within += products[at, side[s]]
        own += 2 * within + products[at, at]
        with_all += along[r]
        own_weight += own_weights[at]
        side[t] = at
        t += 1
    return own / own_weight + (square - 2 * with_all + own) / (weight - own_weight)


@inlined
def _sum_words(targets, start, m, total):
    """Add up the targets of a node, and return the squared length of the sum."""
    words = targets.words
    for c in range(total.shape[0]):
        total[c] = 0
    for begin in range(0, m, targets.rows_at_once):
        size = min(targets.rows_at_once, m - begin)
        for v in range(words.shape[0]):
            own = words[v, start + begin : start + begin + size]
            sum_of_words = np.uint64(0)
            for r in range(size):
                sum_of_words += own[r]
            for c in range(PER_WORD):
                total[PER_WORD * v + c] += np.int64((sum_of_words >> np.uint64(BITS * c)) & np.uint64(LARGEST))
    square = np.int64(0)
    for c in range(BEFORE, total.shape[0]):
        square += total[c] ** 2
    return square


@inlined
def _score_by_sums(column, cut, missing_left, targets, start, m, least, weight, scratch):
    """The score of a split, by the sums of the rows that go left."""
    words, total, left = targets.words, scratch.total, scratch.left
    begin = np.int64(0)
    while begin < m:
        size = min(targets.rows_at_once, m - begin)
        v = np.int64(0)
        while v < words.shape[0]:
            a = b = np.uint64(0)
            # All bits of ``kept`` are set where the row goes left: there is no branch to be guessed wrong.
            if missing_left:
                for r in range(begin, begin + size):
                    place = column[np.uint64(r)]
                    kept = np.uint64(0) - np.uint64((np.int64(place) <= cut) | (place == np.uint16(MISSING)))
                    a += words[v, np.uint64(start + r)] & kept
                    b += words[v + 1, np.uint64(start + r)] & kept
            else:
                for r in range(begin, begin + size):
                    kept = np.uint64(0) - np.uint64(np.int64(column[np.uint64(r)]) <= cut)
                    a += words[v, np.uint64(start + r)] & kept
                    b += words[v + 1, np.uint64(start + r)] & kept
            at = PER_WORD * v
            for c in range(PER_WORD):
                shift = np.uint64(BITS * c)
                first = np.int64((a >> shift) & np.uint64(LARGEST))
                second = np.int64((b >> shift) & np.uint64(LARGEST))
                left[at + c] = first if begin == 0 else left[at + c] + first
                left[at + PER_WORD + c] = second if begin == 0 else left[at + PER_WORD + c] + second
            v += 2
        begin += size
    score = -np.inf
    if min(left[1], m - left[1]) >= least:
        left_square = right_square = np.int64(0)
        for c in range(BEFORE, total.shape[0]):
            left_square += left[c] ** 2
            right_square += (total[c] - left[c]) ** 2
        score = left_square / left[0] + right_square / (weight - left[0])
    return score


@compiled_in_place
def pack(targets):
    """Write the words of all rows, and the squared lengths of their targets."""
    vectors, words = targets.vectors, targets.words
    for r in range(vectors.shape[0]):
        w = targets.weights[r]
        for v in range(words.shape[0]):
            words[v, r] = np.uint64(0)
        words[0, r] = np.uint64(w) | (np.uint64(1) << np.uint64(BITS))
        square = np.int64(0)
        for c in range(vectors.shape[1]):
            value = np.int64(vectors[r, c])
            square += value * value
            at = c + BEFORE
            words[at // PER_WORD, r] |= np.uint64(w * value) << np.uint64(BITS * (at % PER_WORD))
        targets.squares[r] = w * square
