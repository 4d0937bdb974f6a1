"""Compiled functions behind the answers of trees: Shapley values of a pair, and bounds of a pair on a box of features.

`explanations` and `counterfactuals` call them. All take the nodes of one tree, or of several trees one after the other,
as `rankwise.trees.structure.Tree` has them, and a number for every node, of which those of leaves count.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from rankwise._compiled import compiled


@compiled
def goes_left(value, node, threshold, missing_left, set_of, sets):
    """Whether a row with this value of the feature of a node goes left; categories are numbers, unknown ones NaN."""
    if value != value:
        return missing_left[node]
    if set_of[node] >= 0:
        code = int(value)
        return (sets[set_of[node], code // 64] >> np.uint64(code % 64)) & np.uint64(1) == np.uint64(1)
    return value <= threshold[node]


@compiled
def prepare(feature, left, weight, value, parent, share, same, expected):
    """What of a tree does not depend on the row; returns the largest number of different features above a leaf.

    Writes the parent of each node, its share of the weight of its parent (1/2 where neither child has weight), the
    nearest node above whose parent asks for the same feature (-1 if there is none), and the mean value of its leaves.
    """
    n = left.shape[0]
    different = np.zeros(n, np.int64)
    parent[0], same[0], share[0] = -1, -1, 1.0
    most = 0
    for node in range(n):
        if left[node] < 0:
            most = max(most, different[node])
            continue
        a, b = left[node], left[node] + 1
        total = weight[a] + weight[b]
        share[a] = weight[a] / total if total > 0.0 else 0.5
        share[b] = 1.0 - share[a]
        above = node
        while above > 0 and feature[parent[above]] != feature[node]:
            above = parent[above]
        nearest = above if above > 0 else -1
        for side in range(2):
            child = a + side
            parent[child] = node
            same[child] = nearest
            different[child] = different[node] + (1 if nearest < 0 else 0)
    for node in range(n - 1, -1, -1):
        if left[node] < 0:
            expected[node] = value[node]
        else:
            expected[node] = share[left[node]] * expected[left[node]] + share[left[node] + 1] * expected[left[node] + 1]
    return most


@compiled
def add_contributions(
    X,
    feature,
    threshold,
    missing_left,
    left,
    set_of,
    sets,
    value,
    parent,
    share,
    same,
    points,
    weights,
    agrees,
    unknown,
    product,
    total,
    out,
):
    """Add the Shapley values of a tree for each row and feature.

    A leaf contributes value * prod_f c_f to the prediction, where c_f is 1 or 0 (the row takes all, or not all, of the
    branches that ask for f) if f is known, and the share z_f of the weight on these branches if not. The Shapley value
    of f is the integral over t from 0 to 1 of the derivative by f where each feature is known with probability t: of
    value * (o_f - z_f) * prod over the other features of (o t + z (1 - t)), a polynomial, for which ``points`` and
    ``weights`` of Gauss and Legendre are exact. Along a path the product is updated, and the sums over the leaves
    below each node (``total``) give what its branch adds, less what the branch above with the same feature added.
    """
    n, n_points = left.shape[0], points.shape[0]
    for r in range(X.shape[0]):
        agrees[0], unknown[0] = 1.0, 1.0
        product[0, :] = 1.0
        for node in range(n):
            total[node, :] = 0.0
            if left[node] < 0:
                for q in range(n_points):
                    total[node, q] = value[node] * product[node, q]
                continue
            on_left = goes_left(X[r, feature[node]], node, threshold, missing_left, set_of, sets)
            for side in range(2):
                child = left[node] + side
                follows = on_left if side == 0 else not on_left
                before = same[child]
                known, z = (1.0, 1.0) if before < 0 else (agrees[before], unknown[before])
                agrees[child] = known if follows else 0.0
                unknown[child] = z * share[child]
                for q in range(n_points):
                    t = points[q]
                    old = known * t + z * (1.0 - t)
                    new = agrees[child] * t + unknown[child] * (1.0 - t)
                    product[child, q] = product[node, q] * (new / old) if old > 0.0 else 0.0
        for node in range(n - 1, 0, -1):
            before = same[node]
            f = feature[parent[node]]
            for q in range(n_points):
                below = total[node, q]
                total[parent[node], q] += below
                if below == 0.0:
                    continue
                t = points[q]
                own = agrees[node] * t + unknown[node] * (1.0 - t)
                gain = (agrees[node] - unknown[node]) / own
                if before >= 0:
                    own = agrees[before] * t + unknown[before] * (1.0 - t)
                    gain -= (agrees[before] - unknown[before]) / own
                out[r, f] += weights[q] * gain * below


@compiled
def bounds_on_box(
    root, feature, threshold, missing_left, left, set_of, sets, value, row, is_open, low, high, stack, found
):
    """Smallest and largest sum of the leaves of all trees on a box, and the split at which to divide it.

    Open features take all values above ``low`` and up to ``high``, or any category; the others are those of the row.
    ``found`` gets the two bounds, the feature and the threshold of the topmost split with leaves on both sides in the
    tree whose values differ most; the feature is -1 if every tree has one value.
    """
    smallest, largest = 0.0, 0.0
    widest, found[2], found[3] = 0.0, -1.0, 0.0
    for tree in range(root.shape[0]):
        least, most = np.inf, -np.inf
        first = -1
        stack[0] = root[tree]
        size = 1
        while size > 0:
            size -= 1
            node = stack[size]
            while left[node] >= 0:
                f = feature[node]
                child = root[tree] + left[node]
                if is_open[f]:
                    if set_of[node] < 0 and high[f] <= threshold[node]:
                        node = child
                    elif set_of[node] < 0 and low[f] >= threshold[node]:
                        node = child + 1
                    else:
                        if first < 0:
                            first = node
                        stack[size] = child + 1
                        size += 1
                        node = child
                elif goes_left(row[f], node, threshold, missing_left, set_of, sets):
                    node = child
                else:
                    node = child + 1
            least, most = min(least, value[node]), max(most, value[node])
        smallest += least
        largest += most
        if first >= 0 and most - least > widest:
            widest = most - least
            found[2], found[3] = feature[first], threshold[first]
    found[0], found[1] = smallest, largest


@compiled
def shared_leaves(leaves, others, out):
    """For each row the number of trees in which it and each other row are in one leaf; leaves by tree and row."""
    for tree in range(leaves.shape[0]):
        for r in range(leaves.shape[1]):
            own = leaves[tree, r]
            for s in range(others.shape[1]):
                out[r, s] += 1 if others[tree, s] == own else 0
