"""How fast are distances and mean ranks? Ratios to SciPy and NumPy in the same run, processor time.

Kendall distances between all rankings stand beside a loop over `scipy.stats.kendalltau`, timed on a sample of the pairs
and scaled up to each pair once (it would take an hour, and computes p-values, too), and beside the product of sign
matrices that NumPy users write, in 32 bits. Spearman, footrule and Hamming distances stand beside
`scipy.spatial.distance.cdist`, `borda` of full rankings beside column means, and `copeland` of bytes beside a loop over
their columns, and `weighted_kendall_distance` beside the same sum by broadcasting. These peers check nothing, and take
places for mid-ranks.

Set OMP_NUM_THREADS=1 (OPENBLAS_NUM_THREADS=1) to compare one thread with one thread. With ``--before FILE``, rows
written by ``--output`` in an older checkout, each row also keeps the older ratio.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from common import best_seconds, save
from scipy.spatial.distance import cdist
from scipy.stats import kendalltau

from rankwise import Rankings
from rankwise.aggregation import borda, copeland
from rankwise.distances import pairwise_distances, weighted_kendall_distance

Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller sizes; the result file is not changed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--before", type=Path, help="rows of an older checkout, to keep beside the new ones")
    parser.add_argument("--output", type=Path, help="write the rows here instead of the result file")
    options = parser.parse_args()
    older = {row["case"]: row for row in json.loads(options.before.read_text())} if options.before else {}
    rng = np.random.default_rng(options.seed)
    rows = []
    for row in (
        *distances(rng, 300 if options.quick else 2000),
        *rules(rng, 10_000 if options.quick else 100_000),
        *weighted(rng, 2000),
    ):
        if row["case"] in older:
            row["ratio_before"] = older[row["case"]]["ratio"]
        rows.append(row)
    if options.output:
        options.output.write_text(json.dumps(rows, indent=2) + "\n")
    else:
        save("pairwise_distances", rows, options, [])


def distances(rng: np.random.Generator, n: int) -> Iterator[Row]:
    for kind in ("full", "tied"):
        for k in (10, 100):
            full = np.argsort(rng.random((n, k)), axis=1) + 1.0
            positions = np.ceil(full / 2) if kind == "tied" else full
            name = f"{n} x {n}, {k} items, {kind}"
            yield from beside_the_loop(rng, positions, f"Kendall, {name}")
            if kind == "tied":
                continue
            yield timed(f"Kendall, {name}, sign product", lambda p=full: pairwise_distances(p), sign_product, full)
            for metric, theirs in (("spearman", "sqeuclidean"), ("footrule", "cityblock"), ("hamming", "hamming")):
                yield timed(
                    f"{metric}, {name}, cdist",
                    lambda p=full, metric=metric: pairwise_distances(p, metric=metric),
                    lambda p, theirs=theirs: cdist(p, p, theirs) * (p.shape[1] if theirs == "hamming" else 1),
                    full,
                )


def weighted(rng: np.random.Generator, n: int) -> Iterator[Row]:
    positions = np.argsort(rng.random((n, 20)), axis=1) + 1.0
    costs = 1 / np.arange(1.0, 20)
    yield timed(
        f"weighted Kendall, 1 x {n:,}, 20 items, NumPy",
        lambda: weighted_kendall_distance(positions[0], positions, position_weights=costs),
        lambda p: weighted_by_broadcasting(p, costs),
        positions,
    )


def weighted_by_broadcasting(positions: Any, costs: Any) -> Any:
    sums = np.append(0, np.cumsum(costs))
    first = positions[0]
    moved = positions != first
    swap = np.ones_like(positions)
    np.divide(sums[positions.astype(int) - 1] - sums[first.astype(int) - 1], positions - first, out=swap, where=moved)
    opposite = (positions[:, :, None] < positions[:, None]) & (first[:, None] > first)
    return np.einsum("ri,rj,rij->r", swap, swap, opposite)


def beside_the_loop(rng: np.random.Generator, positions: Any, case: str) -> Iterator[Row]:
    n, k = positions.shape
    i, j = rng.integers(0, n, (2, 2000))
    pairs = list(zip(positions[i], positions[j], strict=True))
    tools = {"ours": lambda: pairwise_distances(positions), "loop": lambda: [kendalltau(a, b) for a, b in pairs]}
    seconds = best_seconds(tools, 2, time.process_time)
    if positions.max() == k:
        tau = np.array([kendalltau(a, b).statistic for a, b in pairs])
        np.testing.assert_allclose(pairwise_distances(positions)[i, j], (1 - tau) * k * (k - 1) / 4, atol=1e-9)
    yield shown(f"{case}, scipy loop", seconds["ours"], seconds["loop"] / len(pairs) * n * (n - 1) / 2)


def rules(rng: np.random.Generator, n: int) -> Iterator[Row]:
    positions = np.argsort(rng.random((n, 20)), axis=1) + 1.0
    rankings = Rankings(positions)

    def means(p: Any) -> Any:
        return (20 - p.mean(axis=0)) / 19

    yield timed(
        f"borda, Rankings, {n:,} x 20, column means", lambda: borda(rankings, return_scores=True)[1], means, positions
    )
    yield timed(
        f"borda, array, {n:,} x 20, column means", lambda: borda(positions, return_scores=True)[1], means, positions
    )
    small = positions.astype(np.int8)
    yield timed(f"copeland, Rankings, {n:,} x 20, byte loop", lambda: copeland(rankings), byte_loop, small)
    yield timed(f"copeland, bytes, {n:,} x 20, byte loop", lambda: copeland(small), byte_loop, small)


def sign_product(positions: Any) -> Any:
    first, second = np.triu_indices(positions.shape[1], 1)
    signs = np.sign(positions[:, first] - positions[:, second]).astype(np.float32)
    return (len(first) - signs @ signs.T) / 2


def byte_loop(positions: Any) -> Any:
    columns, k = np.ascontiguousarray(positions.T), positions.shape[1]
    wins = np.zeros((k, k))
    for i in range(k):
        for j in range(i):
            wins[i, j] = np.count_nonzero(columns[i] < columns[j])
            wins[j, i] = len(positions) - wins[i, j]
    beaten = (wins < wins.T).sum(axis=1)
    return np.unique(beaten, return_inverse=True)[1] + 1.0


def timed(case: str, ours: Callable[[], Any], theirs: Callable[[Any], Any], data: Any) -> Row:
    np.testing.assert_allclose(ours(), theirs(data), atol=1e-9)
    seconds = best_seconds({"ours": ours, "theirs": lambda: theirs(data)}, 4, time.process_time)
    return shown(case, seconds["ours"], seconds["theirs"])


def shown(case: str, ours: float, theirs: float) -> Row:
    print(f"{case:>58}: {1000 * ours:9.2f} ms, peer {1000 * theirs:12.2f} ms: {theirs / ours:8.4g} x", flush=True)
    return {"case": case, "rankwise_s": ours, "peer_s": theirs, "ratio": theirs / ours}


if __name__ == "__main__":
    main()
