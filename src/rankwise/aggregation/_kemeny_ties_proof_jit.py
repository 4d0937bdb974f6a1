"""Compiled loops of `_kemeny_ties_proof`: search for inequalities that a fractional bucket order violates.

``x[i, j]`` is 1 if i comes before j; two items tie where ``x[i, j]`` and ``x[j, i]`` are 0.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from rankwise._compiled import compiled


@compiled
def violated_triangles(x, tolerance, most):
    """Triples (i, j, l) with x_il > x_ij + x_jl, for each pair (i, l) the worst j; the most violated first."""
    m = len(x)
    rows = np.empty((m * (m - 1), 3), dtype=np.intp)
    excess = np.empty(m * (m - 1))
    found = 0
    flipped = x.T.copy()
    for i in range(m):
        for other in range(m):
            if x[i, other] <= tolerance or i == other:
                continue
            least = np.inf
            worst = 0
            for j in range(m):
                value = x[i, j] + flipped[other, j]
                if value < least and j != i and j != other:
                    least = value
                    worst = j
            if x[i, other] - least > tolerance:
                rows[found, 0], rows[found, 1], rows[found, 2] = i, worst, other
                excess[found] = x[i, other] - least
                found += 1
    return rows[np.argsort(-excess[:found])[:most]]


@compiled
def violated_quadruples(x, tolerance, most):
    """The most violated inequality of each pair a < b, over all c, d and kinds: (a, b, c, d, kind), worst first."""
    m = len(x)
    rows = np.empty((m * m, 5), dtype=np.intp)
    excess = np.empty(m * m)
    found = 0
    apart = x + x.T
    for a in range(m):
        for b in range(a + 1, m):
            if apart[a, b] <= tolerance:
                continue
            worst = tolerance
            for c in range(m):
                if c in (a, b):
                    continue
                closer = apart[a, b] - apart[a, c] - apart[b, c]
                for d in range(m):
                    if d in (a, b, c):
                        continue
                    behind = x[a, d] + x[b, d] - x[c, d]
                    ahead = x[d, a] + x[d, b] - x[d, c]
                    value = (
                        closer + behind - 1,
                        closer + ahead - 1,
                        closer - ahead,
                        closer - behind,
                        apart[a, b] + x[c, d] - x[d, c] - x[c, a] - x[c, b] - x[a, d] - x[b, d],
                        closer + apart[a, d] + apart[b, d] - apart[c, d] - 1,
                    )
                    for kind in range(6):
                        if value[kind] > worst:
                            worst = value[kind]
                            rows[found, 0], rows[found, 1], rows[found, 2] = a, b, c
                            rows[found, 3], rows[found, 4] = d, kind
            if worst > tolerance:
                excess[found] = worst
                found += 1
    return rows[np.argsort(-excess[:found])[:most]]
