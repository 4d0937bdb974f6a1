"""The sets of items that may come first: a search that bounds what each of them costs, for `_kemeny_tops`."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from rankwise._compiled import compiled


@compiled
def cheap_tops(constants, after, least, members, lacking, k, threshold, shrink, most_found, most_nodes):
    """Sets of k items with enough members of every group whose cost is bounded by less than a threshold.

    The bound of a set is the largest of several: a constant, plus ``after[b, i, j]`` for all i outside and j inside,
    for an item j that comes before i; ``least[b]`` are the sums of ``after[b]``. Items are decided one after the other.
    With ``shrink``, every set found lowers the threshold to its bound, so that the last one is the cheapest. Returns
    the sets, a row each, their bounds, and whether the search came to its end.
    """
    n_bounds, n = len(constants), after.shape[1]
    n_groups = len(members)
    found = np.zeros((most_found, n), dtype=np.bool_)
    bound_of = np.empty(most_found)
    number = nodes = 0
    inside = np.zeros(n, dtype=np.bool_)
    ranked, extra = np.zeros(n, dtype=np.int64), np.zeros(n)
    tried = np.zeros(n + 1, dtype=np.int64)  # ways that an item was tried: first inside, then outside
    total = np.zeros((n + 1, n_bounds))
    total[0] = constants
    if_in = np.zeros((n + 1, n_bounds, n))  # what an item costs inside, and outside, for the items decided before
    if_out = np.zeros((n + 1, n_bounds, n))
    size = np.zeros(n + 1, dtype=np.int64)
    missing = np.zeros((n + 1, n_groups), dtype=np.int64)
    missing[0] = lacking
    depth = 0
    while depth >= 0:
        if depth == n or tried[depth] == 2:
            depth -= 1
            continue
        item, is_in = depth, tried[depth] == 0
        tried[depth] += 1
        nodes += 1
        if nodes > most_nodes:
            return found[:number], bound_of[:number], False
        size[depth + 1] = size[depth] + is_in
        left = k - size[depth + 1]
        if left < 0 or left > n - depth - 1:
            continue
        feasible = True
        for g in range(n_groups):
            missing[depth + 1, g] = missing[depth, g] - (is_in and members[g, item])
            if missing[depth + 1, g] > left:
                feasible = False
        if not feasible:
            continue
        inside[item] = is_in
        lowest = -np.inf
        for b in range(n_bounds):
            cost = total[depth, b] + (if_in[depth, b, item] if is_in else if_out[depth, b, item])
            total[depth + 1, b] = cost
            ranked_to = 0  # of what the items cost inside rather than outside, from the lowest on
            for j in range(depth + 1, n):
                to_in, to_out = if_in[depth, b, j], if_out[depth, b, j]
                if is_in:
                    to_out += after[b, j, item]
                else:
                    to_in += after[b, item, j]
                if_in[depth + 1, b, j], if_out[depth + 1, b, j] = to_in, to_out
                cost += to_out
                # Of the items that are not decided, all but the rest of the set come after it.
                more = to_in - to_out + least[b, depth + 1, j, n - depth - 1 - max(left, 1)]
                at = ranked_to
                while at > 0 and extra[ranked[at - 1]] > more:
                    ranked[at] = ranked[at - 1]
                    at -= 1
                ranked[at], extra[j] = j, more
                ranked_to += 1
            # As many of the rest come inside as must, those that cost least, and of each group as many as it lacks.
            most = -np.inf
            for g in range(n_groups):
                lacks = max(missing[depth + 1, g], 0)
                others = left - lacks
                rest = 0.0
                for j in ranked[:ranked_to]:
                    if members[g, j] and lacks > 0:
                        lacks -= 1
                        rest += extra[j]
                    elif others > 0:
                        others -= 1
                        rest += extra[j]
                if lacks > 0:
                    rest = np.inf
                most = max(most, rest)
            lowest = max(lowest, cost + most)
        if lowest >= threshold:
            continue
        if depth == n - 1:
            if shrink:
                number = 0
                threshold = lowest
            found[number] = inside
            bound_of[number] = lowest
            number += 1
            if number == most_found:
                return found, bound_of, False
            continue
        depth += 1
        tried[depth] = 0
    return found[:number], bound_of[:number], True
