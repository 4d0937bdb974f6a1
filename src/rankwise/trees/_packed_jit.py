"""Compiled functions that send rows down all trees of a forest and add up what leaves hold; `_packed` calls them."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from rankwise._compiled import compiled_in_place

# Rows that go down a tree side by side: while one waits for its node, the others go on.
ABREAST = 16
_WORD = 64


@compiled_in_place
def find_contents(X, is_plain, nodes, contents, roots, sets, at, out):
    """What the leaf of every row holds, in every tree: (n_trees, n_rows).

    A node has the place of its left child, behind which the right one stands; a leaf has its own place, and sends all
    rows to the left. The last two bits of its feature say whether the threshold is the number of a set of categories,
    and whether missing values go left. ``is_plain`` says that there are neither.
    """
    n = X.shape[0]
    for tree in range(roots.shape[0]):
        for first in range(0, n, ABREAST):
            m = min(ABREAST, n - first)
            for r in range(m):
                at[r] = roots[tree]
            moved = np.int64(1)
            while moved != 0:
                moved = np.int64(0)
                if is_plain:
                    # Without a branch: which way a row goes cannot be guessed. Places without a sign need no look
                    # whether they count from the end. Two steps down for each question whether all have arrived.
                    for _ in range(2):
                        for r in range(m):
                            place = np.uint64(at[r])
                            value = X[np.uint64(first + r), np.uint64(nodes[place].feature) >> np.uint64(2)]
                            after = np.uint64(nodes[place].child) + np.uint64(value > nodes[place].threshold)
                            moved |= np.int64(after ^ place)
                            at[r] = np.int64(after)
                    continue
                for r in range(m):
                    node = nodes[at[r]]
                    value = X[first + r, node.feature >> 2]
                    if value != value:
                        goes_left = node.feature & 1 == 1
                    elif node.feature & 2 == 2:
                        code = int(value)
                        bits = sets[int(node.threshold), code // _WORD]
                        goes_left = (bits >> np.uint64(code % _WORD)) & np.uint64(1) == np.uint64(1)
                    else:
                        goes_left = value <= node.threshold
                    child = np.int64(node.child) + (0 if goes_left else 1)
                    moved |= child ^ at[r]
                    at[r] = child
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
