"""Figure 6 of Conserva, Deisenroth and Sesh Kumar: the time of a Gram matrix against the number of rankings."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from scipy.stats import kendalltau

from rankwise.data import Rankings
from rankwise.datasets import make_food_preferences
from rankwise.embeddings import GraphCutEmbedding, item_graph
from rankwise.kernels import graph_cut_kernel, kendall_kernel, mallows_kernel
from rankwise_reproductions.drawing import BLACK, BLUE, GREEN, GREY, ORANGE, tidy
from rankwise_reproductions.experiment import (
    Cell,
    Claim,
    Comparison,
    Experiment,
    FloatArray,
    Inputs,
    Results,
    Scale,
    Values,
)
from rankwise_reproductions.graph_cut_kernel.common import KERNELS, KINDS, LAPLACE_GRAPH, graph_of

KINDS_TIMED = tuple(name for name in KINDS if name != "top-3")
SIZES = (50, 100, 250, 500, 1000, 2500)
PLAIN, SCIPY, FEATURES = "algorithm 1, plain", "SciPy, pair by pair", "graph cut, features alone"
#: users who rank alike have their features computed once; this one counts them as often as they come
REPEATED = "graph cut, repeats counted"
ON_GPU = "graph cut, GPU"
LOOK = {
    "graph cut": (BLUE, "o"),
    LAPLACE_GRAPH: (BLACK, "D"),
    REPEATED: (BLUE, "."),
    "Kendall": (ORANGE, "^"),
    "Mallows": (GREEN, "s"),
    PLAIN: (BLACK, "v"),
    SCIPY: (GREY, "x"),
}
#: timed on a few rankings or pairs, and scaled up
SCALED = (PLAIN, SCIPY)
#: section 4.3: seconds for 5,000 rankings of ten sushi on an i7-7700HQ and their error, seconds for their products on a
#: GTX 1060, and what was called out of reach
N_ALL, PUBLISHED_FEATURES, PUBLISHED_PRODUCT, OUT_OF_REACH = 5000, (6.31, 0.09), (0.576, 0.020), 7 * 60
#: rankings that can be computed on a GPU, and the number of items of section 4.3
KINDS_ON_GPU, N_SUSHI = ("full", "top-6", "exhaustive, 4 groups"), 10
#: growth of the time up to which we call it almost linear
ALMOST_LINEAR = 1.3
#: how much is seen of a ranking of eight: items at the top, groups of ties, items ranked; and for how many rankings
LENGTHS = {"top-k": (1, 3, 5, 7), "exhaustive": (2, 4, 6), "non-exhaustive": (2, 4, 6)}
N_CENSORED = 1000


def _cells(scale: Scale, inputs: Inputs) -> list[Cell]:
    sizes = {"full": SIZES, "quick": SIZES[:5], "check": (50, 1000)}[scale]
    cells = [
        {"rankings": name, "way": way, "n": n}
        for name, way, n in product(KINDS_TIMED, LOOK, sizes)
        if way != SCIPY or KINDS[name].kind in ("full", "exhaustive")  # the others have no single tau
    ]
    cells += [{"rankings": "full", "way": way, "n": N_ALL} for way in (FEATURES, PLAIN)]
    cells += [{"rankings": name, "way": ON_GPU, "n": n} for name in KINDS_ON_GPU for n in sizes]
    cells.append({"rankings": "full", "way": ON_GPU, "n": N_ALL, "items": N_SUSHI})
    # The same by how much is seen of the rankings; the first and the last length where little is asked for.
    return cells + [
        {"censored": kind, "length": length, "way": way, "n": N_CENSORED}
        for kind, lengths in LENGTHS.items()
        for length in (lengths if scale != "check" else (lengths[0], lengths[-1]))
        for way in KERNELS
    ]


def _compute(cell: Cell, inputs: Inputs) -> Values:
    n: int = cell["n"]
    if cell["way"] == ON_GPU:
        return _on_gpu(cell)
    kind: Any
    if "censored" in cell:
        kind, length = cell["censored"], cell["length"]
    else:
        kind, length, _ = KINDS[cell["rankings"]]
    rankings, _, bunch = make_food_preferences(n, kind=kind, length=length, random_state=0)
    rows, graph = rankings.positions, graph_of(cell["way"], bunch.item_features)
    if cell["way"] == PLAIN:
        part = rows[: 2 if kind == "non-exhaustive" else 50]
        return {"seconds": _seconds(lambda: [plain_features(graph, row) for row in part], 2) * n / len(part)}
    if cell["way"] == SCIPY:
        part, pairs = rows[:50], n * (n - 1) / 2
        return {"seconds": _seconds(lambda: [kendalltau(rows[0], row) for row in part], 2) * pairs / len(part)}
    if cell["way"] == REPEATED:
        features = GraphCutEmbedding(graph).fit_transform(rankings)
        _, first = np.unique(np.nan_to_num(rows), axis=0, return_index=True)  # where NaN is unlike NaN
        distinct = Rankings(rows[first])
        alone = _seconds(lambda: GraphCutEmbedding(graph).fit_transform(distinct), 8) * n / len(distinct)
        return {"seconds": alone + _seconds(lambda: features @ features.T, 8), "distinct": len(distinct)}
    ways: dict[str, Callable[[], Any]] = {
        "graph cut": lambda: graph_cut_kernel(rows, graph=graph),
        LAPLACE_GRAPH: lambda: graph_cut_kernel(rows, graph=graph),
        "Kendall": lambda: kendall_kernel(rows),
        "Mallows": lambda: mallows_kernel(rows, scale=0.1),
        FEATURES: lambda: GraphCutEmbedding(graph).fit_transform(rankings),
    }
    return {"seconds": _seconds(ways[cell["way"]], 8)}


def _on_gpu(cell: Cell) -> Values:
    """Wall times of features and of their product on a GPU, in 64 bits: mean of seven trials."""
    import torch  # where it is missing, the cell is left out by name

    if not torch.cuda.is_available():
        raise ImportError("a column of Figure 6 needs a GPU that PyTorch can use")
    from rankwise.kernels.on_device import graph_cut_vectors

    n: int = cell["n"]
    if "items" in cell:
        rng = np.random.default_rng(0)
        rows = (1 + np.argsort(rng.random((n, cell["items"])), axis=1)).astype(np.float64)
        graph = item_graph(rng.random((cell["items"], 6)))
    else:
        kind, length, _ = KINDS[cell["rankings"]]
        rankings, _, bunch = make_food_preferences(n, kind=kind, length=length, random_state=0)
        rows, graph = rankings.positions, item_graph(bunch.item_features)
    embedding = GraphCutEmbedding(graph).fit(rows[:1])
    x = graph_cut_vectors(rows, embedding, device="cuda", dtype=np.dtype(np.float64))

    def trials(call: Callable[[], Any]) -> FloatArray:
        times = []
        for _ in range(8):
            torch.cuda.synchronize()
            started = time.perf_counter()
            call()
            torch.cuda.synchronize()
            times.append(time.perf_counter() - started)
        return np.array(times[1:])

    features = trials(lambda: graph_cut_vectors(rows, embedding, device="cuda", dtype=np.dtype(np.float64)))
    product = trials(lambda: x @ x.T)
    return {
        "seconds": float(features.mean() + product.mean()),
        "features": float(features.mean()),
        "product": float(product.mean()),
        "deviation": float(product.std(ddof=1)),
        "device": torch.cuda.get_device_name(),
    }


def _seconds(call: Callable[[], Any], repeats: int) -> float:
    """Processor time of the quickest of several calls: what is compiled at the first one is not counted."""
    times = []
    for _ in range(repeats):
        started = time.process_time()
        call()
        times.append(time.process_time() - started)
    return min(times)


def plain_features(graph: FloatArray, row: FloatArray) -> FloatArray:
    """Mean of algorithm 1 of the paper over all completions of a ranking, as the text says it, in plain Python.

    Parameters
    ----------
    graph : ndarray of shape (n_items, n_items)
        Weights between items.
    row : ndarray of shape (n_items,)
        Positions, 1 = best; NaN where an item is missing.

    Returns
    -------
    ndarray of shape (n_items,)
        Features; larger = preferred.
    """
    ranked = [np.flatnonzero(row == place).tolist() for place in np.unique(row[~np.isnan(row)])]
    missing = np.flatnonzero(np.isnan(row)).tolist()
    completions = []
    for gaps in product(range(len(ranked) + 1), repeat=len(missing)):
        blocks: list[list[int]] = []
        for number in range(len(ranked) + 1):
            blocks.append([item for item, gap in zip(missing, gaps, strict=True) if gap == number])
            blocks += ranked[number : number + 1]
        completions.append(_plain_algorithm(graph, [block for block in blocks if block]))
    return np.mean(completions, axis=0)


def _plain_algorithm(graph: FloatArray, blocks: list[list[int]]) -> FloatArray:
    """Algorithm 1, with one cut for each set, and neighbors pooled until their means fall."""
    above: list[int] = []
    below = list(range(len(graph)))
    pooled: list[tuple[float, list[int]]] = []
    last = 0.0
    for block in blocks:
        above = above + block
        below = [item for item in below if item not in block]
        cut = float(graph[np.ix_(above, below)].sum())
        pooled.append((cut - last, block))
        last = cut
        while len(pooled) > 1 and pooled[-1][0] / len(pooled[-1][1]) > pooled[-2][0] / len(pooled[-2][1]):
            gain, items = pooled.pop()
            pooled[-1] = (pooled[-1][0] + gain, pooled[-1][1] + items)
    features = np.empty(len(graph))
    for gain, items in pooled:
        features[items] = gain / len(items)
    return features


def _time(results: Results, name: str, way: str, n: int) -> float:
    return results.select(rankings=name, way=way, n=n).mean("seconds")


def _sizes(results: Results) -> list[int]:
    return [n for n in results.select(way=PLAIN).settings("n") if n != N_ALL]


def _largest(results: Results) -> int:
    return max(_sizes(results))


def _time_seen(results: Results, kind: str, way: str, length: int) -> float:
    return results.select(censored=kind, way=way, length=length).mean("seconds")


def _growth(results: Results, way: str, name: str) -> float:
    """Power of the number of rankings with which the time grows, from a fifth of the largest number or fewer."""
    sizes = _sizes(results)
    few, many = max([n for n in sizes if n <= max(sizes) / 5], default=min(sizes)), max(sizes)
    return float(np.log(_time(results, name, way, many) / _time(results, name, way, few)) / np.log(many / few))


def _compare(results: Results) -> list[Comparison]:
    n = _largest(results)
    features, kendall = _time(results, "full", FEATURES, N_ALL), _time(results, "exhaustive, 4 groups", "Kendall", n)
    published, error = PUBLISHED_FEATURES
    few, *_, many = results.select(censored="exhaustive").settings("length")
    tied, apart = (_time_seen(results, "exhaustive", "Kendall", length) for length in (few, many))
    missing = {way: _time(results, "non-exhaustive, 4 of 8", way, n) for way in ("graph cut", "Kendall")}
    closed = "means over all ways to break ties have a closed form, so that nothing is enumerated"
    rows = [
        Comparison(
            f"seconds for the features of {N_ALL:,} full rankings",
            f"{published} ± {error} (ten items)",
            features,
            None,
            "agrees" if abs(features - published) < 2 * error else "differs",
            "eight items, another machine and compiled loops; algorithm 1 in plain Python takes "
            f"{_time(results, 'full', PLAIN, N_ALL):.2f} here",
        ),
        Comparison(
            f"seconds of a Kendall matrix of {n:,} rankings in groups of ties",
            f"above {OUT_OF_REACH} (not available)",
            kendall,
            None,
            "agrees" if kendall > OUT_OF_REACH else "differs",
            closed,
        ),
        Comparison(
            f"Kendall matrix of {N_CENSORED:,} rankings: time with {few} groups of ties over that with {many}",
            "far above 1: intractable with many ties",
            tied / apart,
            None,
            "agrees" if tied > 10 * apart else "differs",
            closed,
        ),
        Comparison(
            f"four dishes of eight, {n:,} rankings: time of graph cut over that of Kendall",
            "significantly below 1",
            missing["graph cut"] / missing["Kendall"],
            None,
            "agrees" if missing["graph cut"] < 0.8 * missing["Kendall"] else "differs",
            "graph cut features are means over completions, Kendall's have a closed form",
        ),
    ]
    for _, found in results.select(way=ON_GPU, n=N_ALL):
        published, error = PUBLISHED_PRODUCT
        rows.append(
            Comparison(
                f"milliseconds for the products of the features of {N_ALL:,} rankings of ten items, on a GPU",
                f"{1e3 * published:.0f} ± {1e3 * error:.0f} (GTX 1060)",
                1e3 * found["product"],
                1e3 * found["deviation"] / np.sqrt(7),
                "differs",
                f"another GPU, {found['device']}; with the features, also computed there, {1e3 * found['seconds']:.2f}",
            )
        )
    for name in KINDS_TIMED:
        plain, ours = (_time(results, name, way, n) for way in (PLAIN, "graph cut"))
        rows.append(
            Comparison(
                f"{name}, {n:,} rankings: milliseconds of a graph cut Gram matrix",
                None,
                1e3 * ours,
                None,
                "not compared",
                f"the paper has a plot; {plain / ours:,.0f} times faster than the features alone of algorithm 1 in "
                f"plain Python",
            )
        )
    return rows


def _claims(results: Results) -> list[Claim]:
    n = _largest(results)
    ratios = {name: _time(results, name, PLAIN, n) / _time(results, name, "graph cut", n) for name in KINDS_TIMED}
    faster = _time(results, "full", PLAIN, N_ALL) / _time(results, "full", FEATURES, N_ALL)
    pairs = {
        name: _time(results, name, SCIPY, n) / _time(results, name, "graph cut", n)
        for name in ("full", "exhaustive, 4 groups")
    }
    growth = {name: _growth(results, REPEATED, name) for name in KINDS_TIMED}
    slowest = max(_time(results, name, way, n) for name in KINDS_TIMED for way in ("graph cut", "Kendall", "Mallows"))
    graphs = {
        name: _time(results, name, LAPLACE_GRAPH, n) / _time(results, name, "graph cut", n) for name in KINDS_TIMED
    }
    ((_, most),) = results.select(rankings="non-exhaustive, 4 of 8", way=REPEATED, n=n)
    missing = {way: _time(results, "non-exhaustive, 4 of 8", way, n) for way in (REPEATED, "Kendall")}
    return [
        Claim(
            f"The Gram matrix of {n:,} rankings is extremely cheap compared with Kendall's tau pair by pair",
            min(pairs.values()) > 100,
            ", ".join(f"{name}: {ratio:,.0f} times" for name, ratio in pairs.items()),
        ),
        Claim(
            "In practice, the graph cut kernel scales almost linearly with the sample size",
            max(growth.values()) < ALMOST_LINEAR,
            "powers of the number of rankings, users who rank alike counted as often as they come: "
            + ", ".join(f"{name} {power:.2f}" for name, power in growth.items())
            + f" ({most['distinct']:,} of {n:,} distinct for four dishes of eight)",
            known="features take linear time, but their product takes quadratic time, and features are so fast here "
            "that the product counts",
        ),
        Claim(
            "The Kendall kernel is intractable where many items tie",
            slowest > OUT_OF_REACH,
            f"at most {slowest:.2f} seconds for {n:,} rankings of every kind, with every kernel",
            known="means over all ways to break ties have a closed form, so that nothing is enumerated",
        ),
        Claim(
            "For interleaving rankings the graph cut kernel takes significantly less time than the Kendall kernel",
            missing[REPEATED] < 0.8 * missing["Kendall"],
            f"{missing[REPEATED] / missing['Kendall']:.1f} times as long for {n:,} rankings of four dishes of eight",
            known="graph cut features are means over completions, while Kendall's have a closed form here too",
        ),
        Claim(
            "Our features come many times faster than those of algorithm 1 in plain Python",
            faster > 20 and min(ratios.values()) > 3,
            f"{N_ALL:,} full rankings: {faster:,.0f} times. Even with the product of features that makes the matrix of "
            f"{n:,}: " + ", ".join(f"{name} {ratio:,.0f} times" for name, ratio in ratios.items()),
            of="rankwise",
        ),
        Claim(
            "The graph of the published code takes as long as that of equation 15",
            min(graphs.values()) > 0.5 and max(graphs.values()) < 2,
            "times relative to it: " + ", ".join(f"{name} {ratio:.2f}" for name, ratio in graphs.items()),
            of="rankwise",
        ),
    ]


def _draw_times(results: Results, figure: Any) -> None:
    figure.set_size_inches(11, 3.4)
    axes = figure.subplots(1, len(KINDS_TIMED), sharey=True)
    sizes = _sizes(results)
    for ax, name in zip(axes, KINDS_TIMED, strict=True):
        for way, (color, marker) in (LOOK | {ON_GPU: (BLUE, "*")}).items():
            if way not in (LAPLACE_GRAPH, REPEATED) and len(results.select(rankings=name, way=way)):
                times = [_time(results, name, way, n) for n in sizes]
                style, label = ("--", f"{way} (scaled up)") if way in SCALED else ("-", way)
                style = ":" if way == ON_GPU else style
                ax.plot(sizes, times, style, color=color, marker=marker, ms=4, lw=1, label=label)
        ax.axhline(OUT_OF_REACH, color=GREY, ls=":", lw=1)
        ax.set(xscale="log", yscale="log")
        ax.set_title(name, fontsize=9)
        tidy(ax, x="rankings", y="seconds of the processor" if ax is axes[0] else None)
    axes[0].text(sizes[0], OUT_OF_REACH * 1.3, "seven minutes: the paper's limit", fontsize=7, color="0.4")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=5, fontsize=8, frameon=False)


def _draw_censoring(results: Results, figure: Any) -> None:
    figure.set_size_inches(9, 3)
    axes = figure.subplots(1, len(LENGTHS), sharey=True)
    titles = ("top-k", "groups of ties", "some dishes of eight")
    labels = ("dishes at the top", "groups", "dishes ranked")
    for ax, kind, title, label in zip(axes, LENGTHS, titles, labels, strict=True):
        lengths = results.select(censored=kind).settings("length")
        for way in KERNELS:
            color, marker = LOOK[way]
            times = [1e3 * _time_seen(results, kind, way, length) for length in lengths]
            ax.plot(lengths, times, color=color, marker=marker, ms=4, lw=1, label=way)
        ax.set_xticks(lengths)
        ax.set_title(f"{title}, {N_CENSORED:,} rankings", fontsize=9)
        tidy(ax, x=label, y="milliseconds of the processor" if ax is axes[0] else None)
    axes[0].set_ylim(bottom=0)
    axes[0].legend(fontsize=8, frameon=False)


EXPERIMENTS = (
    Experiment(
        id="graph-cut-kernel/figure-6",
        title="Figure 6: the time of a Gram matrix against the number of rankings",
        about=(
            "Gram matrices of rankings of eight dishes, by kind: graph cut (features and product), Kendall and "
            "Mallows. For comparison, algorithm 1 of the paper in plain Python, one cut for each set and all "
            "completions of non-exhaustive rankings, features alone, and Kendall's tau by SciPy, pair by pair. These "
            "two are scaled up: algorithm 1 from 50 rankings (non-exhaustive: 2), SciPy from 50 pairs to all n (n - "
            "1) / 2. Features of users who rank alike are computed once; one column counts them as often as they come. "
            "Both graphs are timed. On a GPU, where there is one, wall times are means of seven trials (those stored: "
            "benchmarks/kernels_on_device.py on a H200). A second picture has the time by how much is seen of a "
            "ranking. Other times are of the processor, best of several calls, and cells run alone. The "
            "full scale takes about a minute."
        ),
        cells=_cells,
        compute=_compute,
        compare=_compare,
        claims=_claims,
        pictures={"times": _draw_times, "censoring": _draw_censoring},
        timed=True,
        timings=("seconds", "features", "product", "deviation"),
    ),
)
