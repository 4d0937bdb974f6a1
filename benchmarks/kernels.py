"""Kernels for rankings: features against the published algorithm in plain Python, Gram matrices, a million rankings.

The peer of the graph cut is the paper's algorithm 1 in plain Python, with networkx for the cut of a set, as in the
published code. As printed, each step evaluates the cuts of both its sets, B_{k-1} and B_k, also after a merge; a
kinder peer stores the cut of each set, and both are timed. The peer of the Kendall kernel is a loop over
scipy.stats.kendalltau. Seconds are CPU time on one core (for the million: wall time on two); slow peers do part of the
work, and their time is extrapolated.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import networkx as nx
import numpy as np
from common import arguments, save
from scipy.stats import kendalltau

from rankwise.embeddings import GraphCutEmbedding, item_graph
from rankwise.kernels import graph_cut_kernel, kendall_kernel


def main() -> None:
    options = arguments(__doc__)
    rng = np.random.default_rng(options.seed)
    rows = [
        full_features(rng, options.quick),
        missing_items(rng, options.quick),
        gram_of_tied(rng, options.quick),
        kendall_of_tied(rng, options.quick),
        million(rng, options.quick),
        million_incomplete(rng, options.quick),
    ]
    for row in rows:
        print({name: round(value, 4) if isinstance(value, float) else value for name, value in row.items()})
    save("kernels", rows, options, ["networkx", "scikit-learn"])


def full_features(rng: np.random.Generator, quick: bool) -> dict[str, Any]:
    """Features of 5,000 full rankings of 10 items, on a complete weighted graph."""
    m, part = (1000, 20) if quick else (5000, 200)
    graph = item_graph(rng.random((10, 6)))
    positions = random_full(rng, m, 10)
    embedding = GraphCutEmbedding(graph).fit(positions)
    network = nx.from_numpy_array(graph)
    for plain in (as_printed, each_cut_once):
        expected = [plain(network, blocks_of(row)) for row in positions[:20]]
        np.testing.assert_allclose(embedding.transform(positions[:20]), expected, atol=1e-10)
    result = compared(
        f"features, {m} full rankings of 10 items",
        "algorithm 1 as printed, networkx",
        lambda: embedding.transform(positions),
        lambda: [as_printed(network, blocks_of(row)) for row in positions[:part]],
        part / m,
    )
    kinder = cpu_seconds({"peer": lambda: [each_cut_once(network, blocks_of(row)) for row in positions[:part]]})
    seconds = kinder["peer"] * m / part
    return {**result, "kinder_peer_s": seconds, "ratio_to_kinder_peer": seconds / result["rankwise_s"]}


def missing_items(rng: np.random.Generator, quick: bool) -> dict[str, Any]:
    """Features of rankings of 10 of 100 items, with 100 completions each, on the heaviest tenth of the edges."""
    m = 20 if quick else 200
    graph = item_graph(rng.random((100, 6)), keep=0.1)
    full = random_full(rng, m, 100)
    chosen = np.argsort(rng.random(full.shape), axis=1) < 10
    embedding = GraphCutEmbedding(graph, completion="sample", n_samples=100, random_state=0)
    positions = np.where(chosen, full, np.nan)
    embedding.fit(positions)
    network = nx.from_scipy_sparse_array(graph)
    return compared(
        f"features, {m} rankings of 10 of 100 items",
        "algorithm 1, each cut once, networkx, 100 draws",
        lambda: embedding.transform(positions),
        lambda: plain_mean(network, positions[0], 100, rng),
        1 / m,
    )


def gram_of_tied(rng: np.random.Generator, quick: bool) -> dict[str, Any]:
    """Features and Gram matrix of 2,500 tied rankings, compared to the matrix product of the features alone."""
    m = 500 if quick else 2500
    positions = rng.integers(1, 6, (m, 10)).astype(float)
    graph = item_graph(rng.random((10, 6)))
    vectors = GraphCutEmbedding(graph).fit(positions).transform(positions)
    seconds = cpu_seconds(
        {"ours": lambda: graph_cut_kernel(positions, graph=graph), "product": lambda: vectors @ vectors.T}
    )
    return {
        "what": f"graph cut Gram, {m} tied rankings of 10 items",
        "peer": "the bare product of matrices",
        "rankwise_s": seconds["ours"],
        "peer_s": seconds["product"],
        "times_the_product": seconds["ours"] / seconds["product"],
    }


def kendall_of_tied(rng: np.random.Generator, quick: bool) -> dict[str, Any]:
    """Kendall Gram matrix of 2,500 tied rankings, compared to a loop over SciPy's function."""
    m, part = (500, 100) if quick else (2500, 500)
    positions = rng.integers(1, 6, (m, 10)).astype(float)
    some = rng.integers(m, size=(part, 2))
    values = kendall_kernel(positions, normalize=True)
    np.testing.assert_allclose(
        [values[i, j] for i, j in some[:50]], [kendalltau(positions[i], positions[j]).statistic for i, j in some[:50]]
    )
    return compared(
        f"Kendall Gram, {m} tied rankings of 10 items",
        "scipy.stats.kendalltau",
        lambda: kendall_kernel(positions),
        lambda: [kendalltau(positions[i], positions[j]) for i, j in some],
        part / m**2,
    )


def million(rng: np.random.Generator, quick: bool) -> dict[str, Any]:
    """A million rankings of 20 items on two threads: wall time, and memory per additional ranking."""
    sizes = (25_000, 100_000) if quick else (250_000, 1_000_000)
    graph = item_graph(rng.random((20, 6)))
    memory, seconds = [], 0.0
    for m in sizes:
        positions = random_full(rng, m, 20)
        embedding = GraphCutEmbedding(graph, n_jobs=2).fit(positions)
        started = time.perf_counter()
        embedding.transform(positions)
        seconds = time.perf_counter() - started
        memory.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
    return {
        "what": f"features, {sizes[1]} full rankings of 20 items, two threads",
        "wall_s": seconds,
        "peak_bytes_per_further_ranking": (memory[1] - memory[0]) / (sizes[1] - sizes[0]),
        "bytes_of_a_ranking": 8 * 20,
    }


def million_incomplete(rng: np.random.Generator, quick: bool) -> dict[str, Any]:
    """A million rankings of 20 items with a tenth of the items missing, on two threads: wall time of "auto"."""
    m = 10_000 if quick else 1_000_000
    positions = np.where(rng.random((m, 20)) < 0.1, np.nan, random_full(rng, m, 20))
    embedding = GraphCutEmbedding(item_graph(rng.random((20, 6))), n_jobs=2, random_state=0)
    started = time.perf_counter()
    embedding.fit(positions)
    fitted = time.perf_counter()
    embedding.transform(positions)
    return {
        "what": f"features, {m} rankings of 20 items, a tenth missing, two threads",
        "fit_wall_s": fitted - started,
        "wall_s": time.perf_counter() - fitted,
        "completions": int(embedding.n_completions(positions).sum()),
        "enumerated_up_to": embedding.enumerated_up_to_,
    }


def as_printed(network: nx.Graph, blocks: list[list[int]]) -> list[float]:
    """The paper's algorithm 1, with our sign: two cuts for every value that is tried, and pooling on the way."""

    def slope(first: int) -> float:
        before, after = flattened(merged[:first]), flattened(merged[: first + 1])
        return (cut(network, after) - cut(network, before)) / (len(after) - len(before))

    merged, values = list(blocks), [0.0]
    values[0] = slope(0)
    while len(values) < len(merged):
        last = len(values)
        value = slope(last)
        while last > 0 and value > values[-1]:
            merged[last - 1 : last + 1] = [merged[last - 1] + merged[last]]
            values.pop()
            last -= 1
            value = slope(last)
        values.append(value)
    return spread(network, merged, values)


def each_cut_once(network: nx.Graph, blocks: list[list[int]]) -> list[float]:
    """The same values with one cut per set."""
    pooled: list[tuple[float, list[int]]] = []
    above: list[int] = []
    last = 0.0
    for block in blocks:
        above += block
        current = cut(network, above)
        pooled.append((current - last, block))
        last = current
        while len(pooled) > 1 and pooled[-1][0] / len(pooled[-1][1]) > pooled[-2][0] / len(pooled[-2][1]):
            gain, items = pooled.pop()
            pooled[-1] = (pooled[-1][0] + gain, pooled[-1][1] + items)
    return spread(network, [items for _, items in pooled], [gain / len(items) for gain, items in pooled])


def cut(network: nx.Graph, items: list[int]) -> float:
    """Weight of the edges that leave a set; networkx does not accept the empty set or the set of all items."""
    return nx.cut_size(network, items, weight="weight") if 0 < len(items) < len(network) else 0.0


def spread(network: nx.Graph, blocks: list[list[int]], values: list[float]) -> list[float]:
    features = [0.0] * len(network)
    for block, value in zip(blocks, values, strict=True):
        for item in block:
            features[item] = value
    return features


def flattened(blocks: list[list[int]]) -> list[int]:
    return [item for block in blocks for item in block]


def plain_mean(network: nx.Graph, row: np.ndarray, n_samples: int, rng: np.random.Generator) -> np.ndarray:
    """Mean features over random completions: each missing item goes to a gap; items in the same gap are tied."""
    ranked = blocks_of(row)
    missing = np.flatnonzero(np.isnan(row)).tolist()
    total = np.zeros(len(row))
    for _ in range(n_samples):
        gaps: list[list[int]] = [[] for _ in range(len(ranked) + 1)]
        for item, gap in zip(missing, rng.integers(len(gaps), size=len(missing)), strict=True):
            gaps[gap].append(item)
        blocks = [gaps[0]]
        for block, gap_below in zip(ranked, gaps[1:], strict=True):
            blocks += [block, gap_below]
        total += each_cut_once(network, [block for block in blocks if block])
    return total / n_samples


def blocks_of(row: np.ndarray) -> list[list[int]]:
    """Tied items together, best first."""
    return [np.flatnonzero(row == place).tolist() for place in np.unique(row[~np.isnan(row)])]


def random_full(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    return np.argsort(rng.random((n, k)), axis=1) + 1.0


def compared(what: str, peer: str, ours: Callable[[], Any], theirs: Callable[[], Any], share: float) -> dict[str, Any]:
    """Time both tools in turns; the peer does a share of the work."""
    seconds = cpu_seconds({"ours": ours, "theirs": theirs})
    whole = seconds["theirs"] / share
    return {
        "what": what,
        "peer": peer,
        "rankwise_s": seconds["ours"],
        "peer_s": whole,
        "ratio": whole / seconds["ours"],
    }


def cpu_seconds(tools: dict[str, Callable[[], Any]], rounds: int = 7) -> dict[str, float]:
    """Shortest CPU time of each tool; they take turns, so that other load on the machine affects all of them.

    The first call of a tool, which may compile, is not counted. A turn consists of two calls: the first one brings the
    data back into the caches.
    """
    best = dict.fromkeys(tools, float("inf"))
    for number in range(rounds + 1):
        for name, call in tools.items():
            for _ in range(2 if number else 1):
                started = time.process_time()
                call()
                best[name] = min(best[name], time.process_time() - started) if number else best[name]
    return best


if __name__ == "__main__":
    main()
