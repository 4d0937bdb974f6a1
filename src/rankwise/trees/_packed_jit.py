"""Compiled functions that send rows down all trees of a forest and add up what leaves hold; `_packed` calls them."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from rankwise._compiled import compiled_in_place, inlined

# Rows that go down a tree side by side: while one waits for its node, the others go on.
ABREAST = 16
# Flags of a node: missing values go left; its threshold is the number of a set of categories.
_MISSING_LEFT, _IS_SET = 1, 2
_WORD = 64
# Nodes, and contents, of a line of the cache; so many lines are read in advance for each row that will need some.
_NODES_OF_LINE, _CONTENTS_OF_LINE, _LINES_OF_ROW = 8, 16, 64


@compiled_in_place
def pack_tree(feature, threshold, missing_left, left, set_of, held, root, first_set, n_bits, order, packed):
    """Write the nodes of a tree breadth first, so that the upper ones, which most rows pass, lie side by side.

    ``held`` says, by node, what leaves hold. The place of the left child, behind which the right one stands, comes
    before the last bits, which are the feature; a leaf has its own place, and sends all rows to the left.
    """
    nodes, thresholds, flags, contents = packed
    order[0] = 0
    n = 1
    for at in range(left.shape[0]):
        node = order[at]
        place = root + at
        child, column, limit, flag = place, 0, np.inf, _MISSING_LEFT
        if left[node] >= 0:
            child, column, limit, flag = root + n, feature[node], threshold[node], 0
            order[n], order[n + 1] = left[node], left[node] + 1
            n += 2
            if missing_left[node]:
                flag = _MISSING_LEFT
            if set_of[node] >= 0:
                limit, flag = np.float64(first_set + set_of[node]), flag | _IS_SET
        nodes[place].where = (np.uint64(child) << n_bits) | np.uint64(column)
        nodes[place].threshold = limit
        thresholds[place] = limit
        flags[place] = flag
        contents[place] = held[node]


@compiled_in_place
def find_by_numbers(X, rounded, packed, roots, n_bits, at, out):
    """What the leaf of every row holds, in every tree: (n_trees, n_rows); of numbers, none of which is missing.

    Rounded numbers are in the same order as the numbers themselves, or equal; only then these are compared.
    """
    nodes, thresholds, contents = packed[0], packed[1], packed[3]
    n = X.shape[0]
    n_full = n - n % ABREAST
    for tree in range(roots.shape[0] - 1):
        root, end = roots[tree], roots[tree + 1]
        if end - root <= n * _LINES_OF_ROW * _NODES_OF_LINE:
            # Read on end, a tree comes into the cache several times faster than by its nodes in any order.
            seen = np.uint64(0)
            for place in range(root, end, _NODES_OF_LINE):
                seen |= np.uint64(nodes[place].where)
            for place in range(root, end, _CONTENTS_OF_LINE):
                seen |= np.uint64(contents[place])
            out[tree, 0] = np.int32(seen & np.uint64(1))  # so that it is read
        for first in range(0, n_full, ABREAST):
            _go_down(X, rounded, nodes, thresholds, contents, root, n_bits, at, out, tree, first, ABREAST)
        if n_full < n:
            _go_down(X, rounded, nodes, thresholds, contents, root, n_bits, at, out, tree, n_full, n - n_full)


@inlined
def _go_down(X, rounded, nodes, thresholds, contents, root, n_bits, at, out, tree, first, m):
    column = (np.uint64(1) << n_bits) - np.uint64(1)
    for r in range(m):
        at[r] = root
    moved = np.uint64(1)
    while moved != 0:
        moved = np.uint64(0)
        # Without a branch: which way a row goes cannot be guessed. Places without a sign need no look whether they
        # count from the end.
        for r in range(m):
            place = at[r]
            where = np.uint64(nodes[place].where)
            value, limit = rounded[np.uint64(first + r), where & column], nodes[place].threshold
            goes_right = value > limit
            if value == limit:
                goes_right = X[np.uint64(first + r), where & column] > thresholds[place]
            after = (where >> n_bits) + np.uint64(goes_right)
            moved |= after ^ place
            at[r] = after
    for r in range(m):
        out[tree, first + r] = contents[at[r]]


@compiled_in_place
def find_by_anything(X, packed, roots, sets, n_bits, at, out):
    """As `find_by_numbers`, of features with categories or missing values."""
    nodes, thresholds, flags, contents = packed
    n = X.shape[0]
    column = (np.uint64(1) << n_bits) - np.uint64(1)
    for tree in range(roots.shape[0] - 1):
        for first in range(0, n, ABREAST):
            m = min(ABREAST, n - first)
            for r in range(m):
                at[r] = roots[tree]
            moved = np.uint64(1)
            while moved != 0:
                moved = np.uint64(0)
                for r in range(m):
                    place = at[r]
                    where = np.uint64(nodes[place].where)
                    value = X[np.uint64(first + r), where & column]
                    if value != value:
                        goes_left = flags[place] & _MISSING_LEFT == _MISSING_LEFT
                    elif flags[place] & _IS_SET == _IS_SET:
                        code = int(value)
                        bits = sets[int(thresholds[place]), code // _WORD]
                        goes_left = (bits >> np.uint64(code % _WORD)) & np.uint64(1) == np.uint64(1)
                    else:
                        goes_left = value <= thresholds[place]
                    after = (where >> n_bits) + np.uint64(0 if goes_left else 1)
                    moved |= after ^ place
                    at[r] = after
            for r in range(m):
                out[tree, first + r] = contents[at[r]]


@compiled_in_place
def add_rankings(contents, start, rankings, weights, bits, n_planes, block, out):
    """Add to every row of ``out`` the mean pairs of the rankings in each of its leaves.

    A pair of a ranking is half the sum of its planes, or its only plane. Contents from 0 on are numbers of rankings,
    alone in their leaves, which are counted 64 trees at a time; others are leaves, -1 is the first.
    """
    n_words, n_pairs = bits.shape[1] // n_planes, out.shape[1]
    scale = 1.0 / n_planes
    for r in range(contents.shape[1]):
        for begin in range(0, contents.shape[0], _WORD):
            end = min(begin + _WORD, contents.shape[0])
            for v in range(bits.shape[1]):
                for t in range(_WORD):
                    block[t] = np.uint64(0)
                for t in range(begin, end):
                    ranking = contents[t, r]
                    if ranking >= 0:
                        block[t - begin] = bits[ranking, v]
                # Swap the off-diagonal quarters of the square of bits, then those of its quarters, and so on: the
                # transpose, a word for each pair.
                half, low = 32, np.uint64(0x00000000FFFFFFFF)
                while half > 0:
                    for first in range(0, _WORD, 2 * half):
                        for a in range(first, first + half):
                            swap = ((block[a] >> np.uint64(half)) ^ block[a + half]) & low
                            block[a + half] ^= swap
                            block[a] ^= swap << np.uint64(half)
                    half //= 2
                    low ^= low << np.uint64(half)
                c = (v % n_words) * _WORD
                for t in range(min(_WORD, n_pairs - c)):
                    out[r, c + t] += scale * np.float64(_ones(block[t]))
        for tree in range(contents.shape[0]):
            leaf = -1 - contents[tree, r]
            if leaf < 0:
                continue
            total = 0.0
            for member in range(start[leaf], start[leaf + 1]):
                total += weights[member]
            for member in range(start[leaf], start[leaf + 1]):
                share = scale * (weights[member] / total)
                for side in range(n_planes):
                    for c in range(n_pairs):
                        word = bits[rankings[member], side * n_words + c // _WORD]
                        out[r, c] += share * np.float64((word >> np.uint64(c % _WORD)) & np.uint64(1))


@compiled_in_place
def _ones(x):
    """How many bits are set."""
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))
