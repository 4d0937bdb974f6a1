"""Gram matrices of rankings and vectors behind them: how large, of which features, computed, written, summed up."""

from __future__ import annotations

import csv
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from rankwise._typing import FloatArray
from rankwise.cli.files import readable
from rankwise.data import Rankings
from rankwise.data.formats.text import covariates, listed, read_table
from rankwise.embeddings import GraphCutEmbedding
from rankwise.kernels import graph_cut_kernel, kendall_kernel, mallows_kernel
from rankwise.kernels.gram import Gram
from rankwise.kernels.kendall_gram import kendall_features


def check_size(rankings: Rankings, kernel: str, dtype: str, *, embed: bool, max_memory: float) -> str:
    """How much memory the result takes, in words; too much is refused, with what takes less.

    Parameters
    ----------
    rankings : Rankings
    kernel : {"kendall", "mallows", "graph-cut"}
    dtype : {"float64", "float32"}
    embed : bool
        Whether vectors are wanted, and no matrix.
    max_memory : float
        In GiB.

    Returns
    -------
    str
    """
    n, k, number = len(rankings), rankings.n_items, np.dtype(dtype).itemsize
    widths = {"kendall": k * (k - 1) // 2, "graph-cut": k}
    size = n * (widths[kernel] if embed else n) * number
    if size <= max_memory * 2**30:
        return size_in_words(size)
    cures = []
    if not embed and kernel in widths:
        cures.append(f"--embed (vectors, {size_in_words(n * widths[kernel] * number)})")
    if kernel != "graph-cut":
        cures.append(f"--kernel graph-cut --embed (vectors, {size_in_words(n * k * number)})")
    if dtype == "float64":
        cures.append("--float32 (half of it)")
    what = "vectors" if embed else "Gram matrix"
    raise ValueError(
        f"the {what} of {n:,} rankings would take {size_in_words(size)}, more than --max-memory {max_memory:g} (GiB). "
        f"Cures: {', '.join([*cures, 'a larger --max-memory'])}"
    )


def read_item_features(name: str, rankings: Rankings, *, standardize: bool) -> FloatArray:
    """Features from a table, in the order of the items, which its first column names; it may hold more items."""
    with readable(name) as path:
        table = read_table(path)
        first = table.header[0]
        columns = covariates(table, leave_out=[first])
        texts = [column for column, values in columns.items() if values.dtype.kind != "f"]
        if texts or not columns:
            problem = f"the columns {listed(texts)} hold no numbers" if texts else "there is one column alone"
            raise table.error(problem, cure="Names of the items stand in the first column, numbers in all others.")
        row_of = {item: row for row, item in enumerate(table.column(first))}
        absent = [str(item) for item in rankings.items if str(item) not in row_of]
        if absent:
            raise table.error(
                f"the rankings hold {listed(absent)}, but the column {first!r} does not",
                cure="Add a row for every item, or leave the items out of the rankings.",
            )
        rows = [row_of[str(item)] for item in rankings.items]
        features = np.column_stack(list(columns.values()))[rows]
        empty = np.argwhere(np.isnan(features))
        if len(empty):
            item, column = empty[0]
            cure = "Fill it in, or leave the column out."
            raise table.error("the cell is empty", row=rows[item], column=list(columns)[column], cure=cure)
    if standardize:
        spread = features.std(axis=0)
        features /= np.where(spread > 0, spread, 1.0)
    return features


def gram(
    rankings: Rankings,
    kernel: str,
    *,
    scale: float | None,
    normalize: bool,
    dtype: str,
    seed: int,
    jobs: int,
    features: FloatArray | None = None,
) -> Gram:
    """The kernel of all rankings with each other; larger = more alike."""
    # How large it may be was told before, in the words of the command.
    shared: dict[str, Any] = {"dtype": dtype, "n_jobs": jobs, "max_bytes": 8 * len(rankings) ** 2}
    if kernel == "kendall":
        return kendall_kernel(rankings, normalize=normalize, **shared)
    if kernel == "mallows":
        return mallows_kernel(rankings, scale=1.0 if scale is None else scale, **shared)
    return graph_cut_kernel(rankings, features=features, normalize=normalize, random_state=seed, **shared)


def vectors(
    rankings: Rankings, kernel: str, *, dtype: str, seed: int, jobs: int, features: FloatArray | None = None
) -> tuple[Gram, list[str]]:
    """Vectors whose inner products are the kernel, and the names of their numbers."""
    items = [str(item) for item in rankings.items]
    if kernel == "kendall":
        pairs = [f"{first} > {second}" for first, second in combinations(items, 2)]
        return kendall_features(rankings).astype(dtype, copy=False), pairs
    embedding = GraphCutEmbedding(features=features, random_state=seed, n_jobs=jobs).set_output(transform="default")
    return embedding.fit(rankings).transform(rankings).astype(dtype, copy=False), items


def write(path: Path, matrix: Gram, columns: list[str] | None) -> None:
    """Write numbers for NumPy, or as CSV with a header if the columns have names."""
    if path.suffix == ".npy":
        np.save(path, matrix, allow_pickle=False)
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if columns is not None:
            writer.writerow(columns)
        for row in matrix:
            writer.writerow(row.tolist())


def summary(rankings: Rankings, kernel: str, matrix: Gram, *, embed: bool) -> dict[str, Any]:
    """What the result is, and for matrices which values it has, for JSON."""
    facts: dict[str, Any] = {
        "kernel": str(kernel),
        "n_rankings": len(rankings),
        "n_items": rankings.n_items,
        "kind": rankings.kind,
        "shape": list(matrix.shape),
        "n_bytes": matrix.nbytes,
    }
    if embed or len(matrix) < 2:
        return facts
    own = np.diagonal(matrix).astype(np.float64)
    # Views of the rows: a copy of the matrix may not fit.
    others = [row[place + 1 :] for place, row in enumerate(matrix[:-1])]
    mean = (matrix.sum(dtype=np.float64) - own.sum()) / (len(matrix) * (len(matrix) - 1))
    facts["with_itself"] = _spread(own.min(), own.mean(), own.max())
    facts["with_another"] = _spread(min(row.min() for row in others), mean, max(row.max() for row in others))
    return facts


def size_in_words(n_bytes: int) -> str:
    """Bytes in a unit that makes a short number."""
    if n_bytes < 1024:
        return f"{n_bytes} bytes"
    size, units = n_bytes / 1024, ["KiB", "MiB", "GiB"]
    while size >= 1024 and len(units) > 1:
        size /= 1024
        del units[0]
    return f"{size:,.1f} {units[0]}"


def _spread(low: float, mean: float, high: float) -> dict[str, float]:
    return {"min": float(low), "mean": float(mean), "max": float(high)}
