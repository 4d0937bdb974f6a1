"""Compiled functions that send rows down a tree, fill its leaves, and add up what leaves hold.

`structure` and `engine` call them.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from rankwise._compiled import compiled, compiled_sums


@compiled
def find_leaves(X, feature, threshold, missing_left, left, set_of, sets, out):
    """Node number of the leaf of every row; categories are numbers, unknown ones NaN."""
    for r in range(X.shape[0]):
        node = 0
        while left[node] >= 0:
            value = X[r, feature[node]]
            if value != value:
                goes_left = missing_left[node]
            elif set_of[node] >= 0:
                code = int(value)
                goes_left = (sets[set_of[node], code // 64] >> np.uint64(code % 64)) & np.uint64(1) == np.uint64(1)
            else:
                goes_left = value <= threshold[node]
            node = left[node] if goes_left else left[node] + 1
        out[r] = node


@compiled
def add_to_leaves(values, is_pairs, weights, rows, leaf, sums, known):
    """Add the targets of rows to the sums of their leaves, coordinate by coordinate."""
    q = sums.shape[1]
    k = values.shape[1]
    for r in range(rows.shape[0]):
        row = rows[r]
        w = weights[row]
        to, to_known = sums[leaf[r]], known[leaf[r]]
        if not is_pairs:
            for c in range(q):
                value = values[row, c]
                if value == value:
                    to[c] += w * value
                    to_known[c] += w
            continue
        c = 0
        for i in range(k - 1):
            a = values[row, i]
            for j in range(i + 1, k):
                b = values[row, j]
                tied = (a == b) & (a < np.inf)
                to[c] += w * (1.0 * (a < b) + 0.5 * tied)
                to_known[c] += w * ((a < b) | (a > b) | tied)
                c += 1


@compiled
def fill_from_ancestors(parent, sums, known):
    """Give every node the coordinates that none of its rows has from its nearest ancestor that has them.

    ``sums`` and ``known`` hold those of the leaves, and 0 for all other nodes; children come after their parents.
    """
    for node in range(parent.shape[0] - 1, 0, -1):
        for c in range(sums.shape[1]):
            sums[parent[node], c] += sums[node, c]
            known[parent[node], c] += known[node, c]
    for node in range(1, parent.shape[0]):
        for c in range(sums.shape[1]):
            if known[node, c] == 0:
                sums[node, c] = sums[parent[node], c]
                known[node, c] = known[parent[node], c]


@compiled
def add_values(leaf, values, scale, out):
    """Add to every row of ``out`` the value of its leaf, each coordinate times its scale."""
    for r in range(leaf.shape[0]):
        value = values[leaf[r]]
        for c in range(out.shape[1]):
            out[r, c] += scale[c] * value[c]


@compiled_sums
def add_rankings(leaf, start, rows, weights, positions, scale, out):
    """Add to every row of ``out`` the mean pairs of the rankings of its leaf, each pair times its scale.

    All these rankings order all pairs. Grown trees mostly have one in a leaf, which needs no mean.
    """
    k = positions.shape[1]
    shares = np.empty(out.shape[1])
    for r in range(leaf.shape[0]):
        first, last = start[leaf[r]], start[leaf[r] + 1]
        to = out[r]
        if last - first == 1:
            place = positions[rows[first]]
            c = 0
            for i in range(k - 1):
                a = place[i]
                for j in range(i + 1, k):
                    to[c] += scale[c] * ((a < place[j]) + 0.5 * (a == place[j]))
                    c += 1
            continue
        shares[:] = 0.0
        total = 0.0
        for member in range(first, last):
            place, w = positions[rows[member]], weights[member]
            total += w
            c = 0
            for i in range(k - 1):
                a = place[i]
                for j in range(i + 1, k):
                    shares[c] += w * ((a < place[j]) + 0.5 * (a == place[j]))
                    c += 1
        for c in range(out.shape[1]):
            to[c] += scale[c] * (shares[c] / total)
