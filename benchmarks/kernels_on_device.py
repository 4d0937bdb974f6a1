"""Graph cut features and Gram matrix of 50,000 rankings of 100 items: a graphics processor against this machine's own.

32 bits on both sides; the matrix stays where it was computed, and the time to bring it back is told apart. Without a
graphics processor PyTorch runs on the processor, which shows that the script works, and nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from common import arguments, save

from rankwise.embeddings import GraphCutEmbedding, item_graph
from rankwise.kernels import on_device

SHORT = np.dtype(np.float32)


def main() -> None:
    options = arguments(__doc__)
    rng = np.random.default_rng(options.seed)
    m = 2000 if options.quick else 50_000
    positions = np.argsort(rng.random((m, 100)), axis=1) + 1.0
    embedding = GraphCutEmbedding(item_graph(rng.random((100, 6))), dtype="float32", n_jobs=-1).fit(positions)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    name = torch.cuda.get_device_name() if device == "cuda" else "no graphics processor: PyTorch on the processor"

    x = embedding.transform(positions)
    there = on_device.graph_cut_vectors(positions, embedding, device=device, dtype=SHORT)
    gap = float(np.abs(there.cpu().numpy() - x).max() / np.abs(x).max())
    cpu_features = seconds(lambda: embedding.transform(positions))
    cpu_gram = seconds(lambda: x @ x.T)
    features = seconds(lambda: on_device.graph_cut_vectors(positions, embedding, device=device, dtype=SHORT))
    gram = seconds(lambda: on_device.products(there, there))
    back = seconds(lambda: on_device.products(there, there).cpu())
    row = {
        "what": f"graph cut features and Gram, {m} full rankings of 100 items, 32 bits",
        "device": name,
        "cpu_features_s": cpu_features,
        "cpu_gram_s": cpu_gram,
        "device_features_s": features,
        "device_gram_s": gram,
        "device_gram_and_copy_back_s": back,
        "ratio_features": cpu_features / features,
        "ratio": (cpu_features + cpu_gram) / (features + gram),
        "ratio_with_copy_back": (cpu_features + cpu_gram) / (features + back),
        "largest_relative_gap": gap,
    }
    print({name: round(value, 6) if isinstance(value, float) else value for name, value in row.items()})
    save("kernels_on_device", [row], options, ["torch"])


def seconds(call: Callable[[], Any], rounds: int = 3) -> float:
    """Shortest wall time, until the device has finished; a first call is not counted."""
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
