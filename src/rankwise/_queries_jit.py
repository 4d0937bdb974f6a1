"""Compiled grouping of rows by query, for `rankwise.queries`."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from rankwise._compiled import compiled


@compiled
def group_rows(codes, n_queries):
    """Stable counting sort of rows by query: the rows in their new order, and the bounds of the queries."""
    bounds = np.zeros(n_queries + 1, dtype=np.intp)
    for row in range(len(codes)):
        bounds[codes[row] + 1] += 1
    for query in range(n_queries):
        bounds[query + 1] += bounds[query]
    free = bounds[:-1].copy()
    rows = np.empty(len(codes), dtype=np.intp)
    for row in range(len(codes)):
        rows[free[codes[row]]] = row
        free[codes[row]] += 1
    return rows, bounds
