"""Screening: all columns at once compared to loops over other scores, expressions per second, memory of a long stream.

Seconds are CPU time on one core; the peers run on one core too.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from common import arguments, save
from scipy.stats import kendalltau
from sklearn.feature_selection import mutual_info_regression

from rankwise.screening import ConcordanceSelector, SymbolicFeatures, concordant_divergence

BINARY = ("+", "-", "*", "/", "|-|")
UNARY = ("id", "square", "cube", "sqrt", "cbrt", "inverse", "exp", "log", "sin", "cos", "abs")


def main() -> None:
    options = arguments(__doc__)
    rng = np.random.default_rng(options.seed)
    rows = [
        *columns(rng, options.quick),
        *short_keys(rng, options.quick),
        *streams(rng, options.quick),
        long_stream(rng, options.quick),
    ]
    for row in rows:
        print({name: round(value, 4) if isinstance(value, float) else value for name, value in row.items()})
    save("screening", rows, options, ["scikit-learn"])


def columns(rng: np.random.Generator, quick: bool) -> list[dict[str, Any]]:
    """1,000 columns of 1,000 rows; slow peers score some of the columns, and their time is extrapolated."""
    q = 200 if quick else 1000
    X, y = rng.standard_normal((1000, q)), rng.standard_normal(1000)
    tools: dict[str, tuple[Callable[[int], Any], int]] = {
        "kendalltau": (lambda m: [kendalltau(X[:, j], y) for j in range(m)], q // 5),
        "mutual_info_regression": (lambda m: mutual_info_regression(X[:, :m], y, random_state=0), q // 20),
    }
    ours = cpu_seconds(lambda: concordant_divergence(X, y), rounds=7)
    found = []
    for name, (call, m) in tools.items():
        theirs = cpu_seconds(lambda call=call, m=m: call(m), rounds=3) * q / m
        found.append(
            {"what": f"1000 x {q}", "peer": name, "rankwise_s": ours, "peer_s": theirs, "ratio": theirs / ours}
        )
    return found


def short_keys(rng: np.random.Generator, quick: bool) -> list[dict[str, Any]]:
    """Keys of 32 bits compared to keys of 64: time, and how much T0 changes."""
    found = []
    for n, q in ((1000, 1000), (100_000, 10)):
        X, y = rng.standard_normal((n, q // 5 if quick else q)), rng.standard_normal(n)
        short = X.astype(np.float32)
        exact = cpu_seconds(lambda X=X, y=y: concordant_divergence(X, y), rounds=7)
        rounded = cpu_seconds(lambda X=short, y=y: concordant_divergence(X, y, keys="float32"), rounds=7)
        change = abs(concordant_divergence(X, y) - concordant_divergence(short, y, keys="float32")).max()
        found.append({"what": f"{n} x {X.shape[1]}, keys of 32 bits", "float64_s": exact, "float32_s": rounded,
                      "ratio": exact / rounded, "largest_change": float(change)})  # fmt: skip
    return found


def streams(rng: np.random.Generator, quick: bool) -> list[dict[str, Any]]:
    """Evaluate, sort, score, fingerprint and keep the best: expressions per second and core, by last layer."""
    layers = {
        "binary": (60 if quick else 150, SymbolicFeatures("b", binary=BINARY)),
        "unary, all functions": (500 if quick else 2000, SymbolicFeatures("u", unary=UNARY)),
        "unary, sin and cos": (500 if quick else 2000, SymbolicFeatures("u", unary=("sin", "cos"))),
    }
    found = []
    for layer, (q, features) in layers.items():
        for n in (100, 400, 1000, 5000) if layer == "binary" else (1000,):
            X = rng.standard_normal((n, q))
            y = X[:, 0] * X[:, 1] + rng.standard_normal(n)
            selector = ConcordanceSelector(k=100, features=features)
            seconds = cpu_seconds(lambda X=X, y=y, selector=selector: selector.fit(X, y), rounds=3)
            found.append({"what": "stream", "last_layer": layer, "n": n, "candidates": selector.n_candidates_,
                          "per_second": selector.n_candidates_ / seconds})  # fmt: skip
    return found


def long_stream(rng: np.random.Generator, quick: bool) -> dict[str, Any]:
    """Ten million candidates: time, and how much more memory they need than a tenth of them."""
    n, k = 1000, 1000
    sizes = (230, 730) if quick else (730, 2310)
    memory, seconds = [], 0.0
    for q in sizes:
        X = rng.standard_normal((n, q))
        selector = ConcordanceSelector(k=k, features=SymbolicFeatures("b", binary=("+", "*", "/")))
        started = time.process_time()
        selector.fit(X, X[:, 0] * X[:, 1] + rng.standard_normal(n))
        seconds = time.process_time() - started
        # Without the inputs, which the stream only reads.
        memory.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 - 3 * X.nbytes / 2**20)
    return {
        "what": "long stream",
        "n": n,
        "candidates": selector.n_candidates_,
        "cpu_s": seconds,
        "per_second": selector.n_candidates_ / seconds,
        "peak_mib": memory[1],
        "peak_mib_of_a_tenth": memory[0],
        "best": str(selector.table_["feature"][0]),
    }


def cpu_seconds(call: Callable[[], Any], rounds: int) -> float:
    """Shortest CPU time, after a first call that may compile."""
    call()
    best = float("inf")
    for _ in range(rounds):
        started = time.process_time()
        call()
        best = min(best, time.process_time() - started)
    return best


if __name__ == "__main__":
    main()
