"""Hypothesis strategies for rankings of every kind."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

KINDS = ("full", "tied", "top-k", "incomplete")


def _dense(row: np.ndarray) -> np.ndarray:
    """Dense ranks of the finite values, written without the library."""
    finite = sorted({v for v in row if np.isfinite(v)})
    return np.array([finite.index(v) + 1.0 if np.isfinite(v) else v for v in row])


@st.composite
def position_rows(draw: st.DrawFn, n_items: int, kind: str) -> np.ndarray:
    """One ranking as dense positions."""
    if kind == "full":
        return np.array(draw(st.permutations(range(1, n_items + 1))), dtype=float)
    row = np.array(draw(st.lists(st.integers(1, n_items), min_size=n_items, max_size=n_items)), dtype=float)
    if kind in ("top-k", "incomplete"):
        hidden = np.array(draw(st.lists(st.booleans(), min_size=n_items, max_size=n_items)))
        row[hidden] = np.inf
    if kind == "incomplete":
        gone = np.array(draw(st.lists(st.booleans(), min_size=n_items, max_size=n_items)))
        row[gone] = np.nan
    return _dense(row)


@st.composite
def position_matrices(
    draw: st.DrawFn,
    kinds: tuple[str, ...] = KINDS,
    min_items: int = 1,
    max_items: int = 7,
    min_rankings: int = 1,
    max_rankings: int = 6,
) -> np.ndarray:
    """A matrix of positions whose rows are of one kind or less special."""
    n_items = draw(st.integers(min_items, max_items))
    kind = draw(st.sampled_from(kinds))
    rows = draw(st.lists(position_rows(n_items, kind), min_size=min_rankings, max_size=max_rankings))
    return np.array(rows).reshape(len(rows), n_items)


def random_positions(rng: np.random.Generator, n: int, k: int, kind: str) -> np.ndarray:
    """Many rankings at once, for tests that need more than a handful."""
    if kind == "full":
        return np.argsort(rng.random((n, k)), axis=1) + 1.0
    values = rng.integers(1, max(2, k) + 1, size=(n, k)).astype(float)
    if kind in ("top-k", "incomplete"):
        values[rng.random((n, k)) < 0.3] = np.inf
    if kind == "incomplete":
        values[rng.random((n, k)) < 0.3] = np.nan
    return np.array([_dense(row) for row in values]).reshape(n, k)
