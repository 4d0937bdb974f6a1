"""Compiled loops of `_kemeny_proof`: search for inequalities that a fractional order violates.

``x[i, j]`` is 1 if i comes before j, and ``x[i, j] + x[j, i] = 1``. Every order satisfies, for items i < j < l,
x_ij + x_jl - x_il <= 1 (sign 1) and x_ij + x_jl - x_il >= 0 (sign -1).
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import heapq

import numpy as np

from rankwise._compiled import compiled

# Of two cycles that are equally tight, the one of fewer triangles gives the sparser row.
_PER_TRIANGLE = 1e-3


@compiled
def violated_triangles(x, tolerance, most, most_per_pair):
    """Triangles that a fractional order violates, the most violated first: rows (i, j, l, sign).

    If very many are violated, only a regular subset is kept, which bounds the memory.
    """
    m = len(x)
    found = 0
    for i in range(m):
        for j in range(i + 1, m):
            for other in range(j + 1, m):
                value = x[i, j] + x[j, other] - x[i, other]
                found += (value > 1 + tolerance) | (value < -tolerance)
    stride = found // (100 * most) + 1
    rows = np.empty((found // stride + 1, 4), dtype=np.intp)
    size = np.empty(found // stride + 1)
    counter = 0
    found = 0
    for i in range(m):
        for j in range(i + 1, m):
            for other in range(j + 1, m):
                value = x[i, j] + x[j, other] - x[i, other]
                if (value > 1 + tolerance) | (value < -tolerance):
                    if counter % stride == 0:
                        rows[found, 0] = i
                        rows[found, 1] = j
                        rows[found, 2] = other
                        rows[found, 3] = 1 if value > 1 else -1
                        size[found] = value - 1 if value > 1 else -value
                        found += 1
                    counter += 1
    order = np.argsort(-size[:found])
    used = np.zeros((m, m), dtype=np.intp)
    kept = np.empty((min(most, found), 4), dtype=np.intp)
    n_kept = 0
    for t in range(found):
        if n_kept == most:
            break
        i, j, other = rows[order[t], 0], rows[order[t], 1], rows[order[t], 2]
        if max(used[i, j], used[j, other], used[i, other]) < most_per_pair:
            used[i, j] += 1
            used[j, other] += 1
            used[i, other] += 1
            kept[n_kept] = rows[order[t]]
            n_kept += 1
    return kept[:n_kept]


@compiled
def odd_cycle_steps(x, tolerance, loosest):
    """The graph of `shortest_odd_cycles`: steps between fractional pairs of a triangle, none looser than ``loosest``.

    Returns where the steps from each pair begin, the steps (to, parity, i, j, l, sign), and their slacks.
    """
    m = len(x)
    number = np.full((m, m), -1, dtype=np.intp)
    n_pairs = 0
    for i in range(m):
        for j in range(i + 1, m):
            if tolerance < x[i, j] < 1 - tolerance:
                number[i, j] = n_pairs
                n_pairs += 1
    first = np.zeros(n_pairs + 1, dtype=np.intp)  # steps by the pair that they start from
    n_steps = _collect_steps(x, number, loosest, first, first, np.empty((0, 6), dtype=np.intp), np.empty(0))
    steps = np.empty((n_steps, 6), dtype=np.intp)
    slack = np.empty(n_steps)
    for pair in range(n_pairs):
        first[pair + 1] += first[pair]
    _collect_steps(x, number, loosest, first, first[:-1].copy(), steps, slack)
    return first, steps, slack


@compiled
def _collect_steps(x, number, loosest, first, following, steps, slack):
    """Steps between two fractional pairs of a triangle: (to, parity, i, j, l, sign), sorted by where they start.

    Called with no room in ``steps``, it counts them only, in ``first[1:]``. The third pair is rounded to its nearer
    bound. A step is odd if the triangle's right hand side plus this bound is.
    """
    m = len(x)
    n_steps = 0
    pair = np.empty(3, dtype=np.intp)
    value = np.empty(3)
    for i in range(m):
        for j in range(i + 1, m):
            for other in range(j + 1, m):
                pair[0], pair[1], pair[2] = number[i, j], number[j, other], number[i, other]
                if int(pair[0] < 0) + int(pair[1] < 0) + int(pair[2] < 0) > 1:
                    continue
                value[0], value[1], value[2] = x[i, j], x[j, other], x[i, other]
                total = value[0] + value[1] - value[2]
                for sign in (-1, 1):
                    room = max(0.0, 1 - total if sign == 1 else total)
                    for third in range(3):
                        a, b = pair[(third + 1) % 3], pair[(third + 2) % 3]
                        loose = room + min(value[third], 1 - value[third])
                        if a < 0 or b < 0 or loose > loosest:
                            continue
                        n_steps += 2
                        if len(steps) == 0:
                            first[a + 1] += 1
                            first[b + 1] += 1
                            continue
                        odd = (sign == 1) != (value[third] > 0.5)
                        for start, end in ((a, b), (b, a)):
                            at = following[start]
                            following[start] += 1
                            steps[at, 0], steps[at, 1], steps[at, 5] = end, odd, sign
                            steps[at, 2], steps[at, 3], steps[at, 4] = i, j, other
                            slack[at] = loose
    return n_steps


@compiled
def shortest_odd_cycles(first, steps, slack, start_source, stop_source):
    """Short cycles of triangles that share a fractional pair each with the next, of odd parity and little slack.

    Added up, the triangles of such a cycle have even coefficients for the shared pairs and, once bounds of the other
    pairs are added, for all; an odd right hand side can then be rounded down after division by 2, which cuts ``x`` off
    where the slacks of triangles and bounds together stay below 1. From each of some pairs the shortest way back to it
    by an odd number of odd steps is taken, if its slack is below 1: Dijkstra. Node 2 p + parity is pair p, reached by
    an even (0) or odd (1) number of odd steps.
    Returns the triangles (i, j, l, sign) of all cycles one after the other, and where each cycle ends.
    """
    n_pairs = len(first) - 1
    distance = np.empty(2 * n_pairs)
    previous = np.empty(2 * n_pairs, dtype=np.intp)
    by_step = np.empty(2 * n_pairs, dtype=np.intp)
    taken = [np.intp(0) for _ in range(0)]
    ends = [np.intp(0) for _ in range(0)]
    for source in range(start_source, min(stop_source, n_pairs)):
        start, goal = 2 * source, 2 * source + 1
        distance[:] = np.inf
        distance[start] = 0.0
        queue = [(0.0, np.intp(start))]
        while len(queue) > 0:
            reached, node = heapq.heappop(queue)
            if node == goal:
                break
            if reached > distance[node]:
                continue
            for s in range(first[node // 2], first[node // 2 + 1]):
                neighbor = 2 * steps[s, 0] + ((node & 1) ^ steps[s, 1])
                length = reached + slack[s] + _PER_TRIANGLE
                if length < 1 and length < distance[neighbor]:
                    distance[neighbor] = length
                    previous[neighbor] = node
                    by_step[neighbor] = s
                    heapq.heappush(queue, (length, np.intp(neighbor)))
        if distance[goal] < 1:
            node = np.intp(goal)
            while node != start:
                taken.append(by_step[node])
                node = previous[node]
            ends.append(np.intp(len(taken)))
    triangles = np.empty((len(taken), 4), dtype=np.intp)
    for t in range(len(taken)):
        triangles[t] = steps[taken[t], 2:]
    stops = np.empty(len(ends), dtype=np.intp)
    for c in range(len(ends)):
        stops[c] = ends[c]
    return triangles, stops
