"""Graph cut features and Gram matrices on a GPU: 50,000 rankings of 100 items, and the sizes of the paper's Figure 6.

The first compares GPU and CPU. Both use 32 bits; the matrix stays on the device that computed it, and the time to copy
it back is reported separately. The second has rankings of eight dishes (ten items for 5,000 rankings, as section 4.3 of
the paper), in 64 bits as in the paper, mean and standard deviation of seven trials.
From a checkout, ``PYTHONPATH=src python benchmarks/kernels_on_device.py`` needs only NumPy and PyTorch. If the other
dependencies of rankwise are installed too (Numba in particular), rankwise itself computes the features on the CPU;
otherwise PyTorch does on all cores, and ``processor_code`` says so. Some of the features are checked by plain loops.
Without a GPU, PyTorch runs on the CPU, which only shows that the script works.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from common import arguments, save

SHORT = np.dtype(np.float32)
LONG = np.dtype(np.float64)
ITEMS = 100
CHECKED = 200
#: Table 4 of the paper: scores of eight dishes by two types of users; Table 3: features of the dishes
SCORES = [[0.93, 0.72, 1.06, 0.21, 0.42, 0.36, 0.58, 0.60], [0.38, 0.08, 0.79, 0.93, 1.05, 1.18, 0.85, 0.79]]
DISHES = [
    [0.9, 0.7, 1.0, 0.0, 0.2, 0.1, 0.4, 0.4],
    [0.0, 0.1, 0.0, 0.8, 0.8, 1.0, 0.7, 0.9],
    [0.3, 0.0, 0.7, 0.8, 0.9, 1.0, 0.7, 0.6],
]
SIZES = (50, 100, 250, 500, 1000, 2500)
N_ALL, TRIALS = 5000, 7


def main() -> None:
    options = arguments(__doc__)
    rng = np.random.default_rng(options.seed)
    m = 2000 if options.quick else 50_000
    positions = np.argsort(rng.random((m, ITEMS)), axis=1) + 1.0
    graph = laplace_graph(rng.random((ITEMS, 6)))
    device = "cuda" if torch.cuda.is_available() else "cpu"
    name = torch.cuda.get_device_name() if device == "cuda" else "no GPU: PyTorch on the CPU"
    torch.backends.cuda.matmul.allow_tf32 = False  # 32 bits all the way

    on_device = torch_code()
    settings = SimpleNamespace(graph_=graph, pooling="pava", completion="auto")

    def vectors(where: str) -> Any:
        return on_device.graph_cut_vectors(positions, settings, device=where, dtype=SHORT)

    there = vectors(device)
    expected = np.array([plain_features(graph, row) for row in positions[:CHECKED]])
    gap = float(np.abs(there[:CHECKED].cpu().numpy() - expected).max() / np.abs(expected).max())
    if not gap < 1e-4:
        raise SystemExit(f"the error of the features on the device is {gap:.1e} of the largest feature")

    code, own_features = processor_features(graph, positions)
    x = there.cpu()
    cpu_features = seconds(own_features or (lambda: vectors("cpu")), rounds=2)
    cpu_gram = seconds(lambda: x @ x.T, rounds=2)
    features = seconds(lambda: vectors(device))
    gram = seconds(lambda: there @ there.T)
    back = seconds(lambda: (there @ there.T).cpu())
    row = {
        "what": f"graph cut features and Gram, {m} full rankings of {ITEMS} items, 32 bits",
        "device": name,
        "processor_code": code,
        "processor_threads": torch.get_num_threads(),
        "cpu_features_s": cpu_features,
        "cpu_gram_s": cpu_gram,
        "device_features_s": features,
        "device_gram_s": gram,
        "device_gram_and_copy_back_s": back,
        "ratio_features": cpu_features / features,
        "ratio_gram": cpu_gram / gram,
        "ratio": (cpu_features + cpu_gram) / (features + gram),
        "ratio_with_copy_back": (cpu_features + cpu_gram) / (features + back),
        "largest_relative_gap": gap,
    }
    rows = [row, *(figure_6(on_device, device, options.seed, options.quick))]
    for one in rows:
        print({key: round(value, 6) if isinstance(value, float) else value for key, value in one.items()})
    save("kernels_on_device", rows, options, ["torch"])


def figure_6(on_device: Any, device: str, seed: int, quick: bool) -> list[dict[str, Any]]:
    """Times of features and of their product, by kind and number of rankings."""
    rng = np.random.default_rng(seed)
    graph = laplace_graph(np.array(DISHES).T)
    cases = [(kind, n, 8, graph) for kind in ("full", "top-6", "exhaustive, 4 groups") for n in SIZES]
    cases.append(("full", N_ALL, 10, laplace_graph(rng.random((10, 6)))))
    rows = []
    for kind, n, n_items, weights in cases[:2] if quick else cases:
        scores = np.array(SCORES)[np.arange(n) % 2] if n_items == len(SCORES[0]) else np.zeros((n, n_items))
        noisy = scores + 0.5 * rng.standard_normal((n, n_items))
        places = np.argsort(np.argsort(-noisy, axis=1), axis=1) + 1.0
        if kind == "top-6":
            places[places > 6] = np.inf
        elif kind != "full":
            places = np.ceil(places / 2)
        settings = SimpleNamespace(graph_=weights, pooling="pava", completion="auto")

        def vectors(places: np.ndarray = places, settings: Any = settings) -> Any:
            return on_device.graph_cut_vectors(places, settings, device=device, dtype=LONG)

        x = vectors()
        features, gram, back = trials(vectors), trials(lambda x=x: x @ x.T), trials(lambda x=x: (x @ x.T).cpu())
        rows.append(
            {
                "what": f"Figure 6: {kind}, {n} rankings of {n_items} items, 64 bits",
                "device": torch.cuda.get_device_name() if device == "cuda" else "CPU",
                "features_s": float(np.mean(features)),
                "features_s_deviation": float(np.std(features, ddof=1)),
                "gram_s": float(np.mean(gram)),
                "gram_s_deviation": float(np.std(gram, ddof=1)),
                "gram_and_copy_back_s": float(np.mean(back)),
            }
        )
    return rows


def trials(call: Callable[[], Any]) -> list[float]:
    """Wall times of seven calls, after one that is not counted."""
    return [seconds(call, rounds=1) for _ in range(TRIALS)]


def torch_code() -> Any:
    """The module of rankwise, loaded from its file: its package would import all dependencies of rankwise."""
    import rankwise

    path = Path(rankwise.__path__[0]) / "kernels" / "on_device.py"
    spec = importlib.util.spec_from_file_location("on_device", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def processor_features(graph: np.ndarray, positions: np.ndarray) -> tuple[str, Callable[[], Any] | None]:
    """The features as computed by rankwise on all cores, if its dependencies are installed."""
    try:
        from rankwise.embeddings import GraphCutEmbedding
    except ImportError as error:
        return f"PyTorch, as on the device ({str(error.name).split('.')[0]} is not installed)", None
    embedding = GraphCutEmbedding(graph, dtype="float32", n_jobs=-1).fit(positions[:1])
    return "rankwise on all cores", lambda: embedding.transform(positions)


def laplace_graph(features: np.ndarray) -> np.ndarray:
    """The same graph as `item_graph` returns."""
    distances = np.sqrt(((features[:, None] - features[None]) ** 2).sum(axis=2))
    weights = np.exp(-distances / np.median(distances[np.triu_indices(len(distances), 1)]))
    np.fill_diagonal(weights, 0.0)
    return weights


def plain_features(graph: np.ndarray, row: np.ndarray) -> np.ndarray:
    """Increments of the cut, best item first, pooled until they decrease."""
    gains = (graph * np.sign(row[None] - row[:, None])).sum(axis=1)
    order = np.argsort(row)
    blocks: list[list[float]] = []
    for gain in gains[order]:
        blocks.append([gain, 1])
        while len(blocks) > 1 and blocks[-1][0] / blocks[-1][1] > blocks[-2][0] / blocks[-2][1]:
            total, size = blocks.pop()
            blocks[-1][0] += total
            blocks[-1][1] += size
    result = np.empty(len(row))
    result[order] = np.concatenate([np.full(int(size), total / size) for total, size in blocks])
    return result


def seconds(call: Callable[[], Any], rounds: int = 3) -> float:
    """Shortest wall time until the device has finished; the first call is not counted."""
    best = float("inf")
    for number in range(rounds + 1):
        wait()
        started = time.perf_counter()
        call()
        wait()
        best = min(best, time.perf_counter() - started) if number else best
    return best


def wait() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


if __name__ == "__main__":
    main()
