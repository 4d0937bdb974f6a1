"""How fast are consensus, counts, models and sampling? Ratios to four peers in the same run, and our own seconds.

Both sides solve the same problem, which is checked: corankco (`ExactAlgorithmPulp`) proves the same Kemeny score, ranky
finds the same Copeland order, choix (`ilsr_rankings`) the same Plackett-Luce worths to 1e-6, and samples of
prefsampling are as far from the center of their Mallows model as ours. The input objects of the peers are prepared
before timing; ours is a plain call on an array of positions, including all checks. ranky's time depends on the memory
layout of its array, so it is timed on three: the transposed positions, a contiguous copy, and a contiguous copy with
one byte per place.

Install the peers with ``pip install -e '.[bench]'``; a peer that is missing or cannot be imported is skipped.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from common import arguments, best_seconds, save

from rankwise.aggregation import (
    Mallows,
    PlackettLuce,
    copeland,
    kemeny,
    kemeny_batch,
    sample_mallows,
    sample_plackett_luce,
)
from rankwise.data import positions_from_orders, positions_from_scores
from rankwise.distances import kendall_distance

PEERS = ["corankco", "ranky", "choix", "prefsampling"]
Row = dict[str, Any]


def main() -> None:
    options = arguments(__doc__)
    rows: list[Row] = []
    for question in (exact_kemeny, pairwise_counts, plackett_luce, mallows_draws, proven_consensus, many_medians):
        rows += question(options.quick, options.seed)
    save("consensus", rows, options, ["highspy", *filter(is_installed, PEERS)])


def exact_kemeny(quick: bool, seed: int) -> Iterator[Row]:
    """The Kemeny score of 100 rankings, proven by both sides."""
    exact = peer("corankco.algorithms.exact.exactalgorithmpulp")
    if exact is None:
        return
    corankco = import_module("corankco")
    # With this scheme a tie in the consensus costs as much as a wrong order, so ties never pay off.
    scheme = corankco.ScoringScheme.get_unifying_scoring_scheme()
    for k, phi in [(20, 0.98)] if quick else [(20, 0.98), (50, 0.95)]:
        rankings = mallows_profile(k, phi, seed)
        buckets = [[{int(item)} for item in order] for order in np.argsort(rankings, axis=1)]
        dataset = corankco.Dataset.from_raw_list(buckets)
        tools = {
            "rankwise": lambda rankings=rankings: kemeny(rankings, random_state=0),
            "corankco": lambda dataset=dataset: exact.ExactAlgorithmPulp().compute_consensus_rankings(dataset, scheme),
        }

        def same_cost(ours: Any, theirs: Any) -> bool:
            return bool(ours.optimal and ours.cost == theirs.kemeny_score)

        yield from ratios(f"Kemeny, {k} items, phi {phi}", tools, same_cost)


def pairwise_counts(quick: bool, seed: int) -> Iterator[Row]:
    """Copeland's order; nearly all of the time is spent counting pairs."""
    ranky = peer("ranky")
    if ranky is None:
        return
    n = 10_000 if quick else 100_000
    rankings = sample_mallows(np.arange(1, 21), 0.1, n, random_state=seed)
    scores = np.ascontiguousarray(-rankings.T)  # higher = better, one row per candidate
    small = scores.astype(np.int8)
    tools = {
        "rankwise": lambda: copeland(rankings),
        "ranky": lambda: ranky.copeland(-rankings.T),
        "ranky, contiguous": lambda: ranky.copeland(scores),
        "ranky, contiguous bytes": lambda: ranky.copeland(small),
    }

    def same_order(ours: Any, theirs: Any) -> bool:
        return np.array_equal(ours, positions_from_scores([theirs])[0])

    yield from ratios(f"Copeland, {n:,} rankings of 20 items", tools, same_order)


def plackett_luce(quick: bool, seed: int) -> Iterator[Row]:
    """Maximum likelihood estimates of worths."""
    choix = peer("choix")
    if choix is None:
        return
    n = 1_000 if quick else 10_000
    rankings = sample_plackett_luce(np.linspace(2, -2, 20), n, random_state=seed)
    orders = np.argsort(rankings, axis=1).tolist()
    tools = {
        "rankwise": lambda: PlackettLuce().fit(rankings).log_worth_,
        "choix": lambda: choix.ilsr_rankings(20, orders),
    }

    def same_worths(ours: Any, theirs: Any) -> bool:
        return np.allclose(ours, theirs - theirs.mean(), rtol=0, atol=1e-6)

    yield from ratios(f"Plackett-Luce, {n:,} rankings of 20 items", tools, same_worths)


def mallows_draws(quick: bool, seed: int) -> Iterator[Row]:
    """Samples from one Mallows model."""
    prefsampling = peer("prefsampling.ordinal")
    if prefsampling is None:
        return
    n, theta, center = 1_000 if quick else 10_000, 0.1, np.arange(1, 21)
    tools = {
        "rankwise": lambda: sample_mallows(center, theta, n, random_state=seed),
        "prefsampling": lambda: prefsampling.mallows(n, 20, np.exp(-theta), seed=seed),
    }

    def same_law(ours: Any, theirs: Any) -> bool:
        a, b = kendall_distance(ours, center), kendall_distance(positions_from_orders(theirs), center)
        return bool(abs(a.mean() - b.mean()) < 4 * np.sqrt((a.var() + b.var()) / n))

    yield from ratios(f"Mallows, {n:,} draws of 20 items", tools, same_law)


def proven_consensus(quick: bool, seed: int) -> Iterator[Row]:
    """Our seconds from rankings to a proven consensus: median and maximum over some profiles."""
    kemeny(mallows_profile(20, 0.98, seed))  # compiles
    cases = [(100, 0.98, 100), (300, 0.98, 100), (60, 1.0, 100), (20, 0.9, 1_000_000)]
    for k, phi, n in cases[:1] if quick else cases:
        seconds, gaps = [], []
        for profile in range(1 if n > 100 else 5):
            rankings = mallows_profile(k, phi, seed + profile, n)
            start = time.perf_counter()
            gaps.append(kemeny(rankings, random_state=0).gap)
            seconds.append(time.perf_counter() - start)
        middle, worst, gap = float(np.median(seconds)), max(seconds), max(gaps)
        case = f"Kemeny, {n:,} rankings of {k} items, phi {phi}"
        print(f"{case:>45}  {middle:8.3f} s, at most {worst:.3f} s in {len(seconds)} profiles; largest gap {gap:.2g}")
        yield {
            "case": case,
            "tool": "rankwise",
            "seconds": middle,
            "longest": worst,
            "profiles": len(seconds),
            "gap": gap,
        }


def many_medians(quick: bool, seed: int) -> Iterator[Row]:
    """Medians of small matrices per second: random matrices, and matrices of neighbors who agree somewhat."""
    n = 2_000 if quick else 20_000
    rng = np.random.default_rng(seed)
    for k in (5, 10):
        wins = rng.random((n, k, k))
        neighbors = sample_mallows(np.arange(1, k + 1), 0.2, 20 * n, random_state=seed).reshape(n, 20, k)
        kinds = {
            "random matrices": wins / (wins + wins.transpose(0, 2, 1)),
            "20 Mallows rankings each": (neighbors[..., None] < neighbors[..., None, :]).mean(axis=1),
        }
        for kind, shares in kinds.items():
            seconds = best_seconds({"rankwise": lambda shares=shares: kemeny_batch(shares)}, rounds=1)["rankwise"]
            print(f"{f'medians of {k} items, {kind}':>45}  {n / seconds:>10,.0f} per second")
            yield {"case": f"medians of {k} items, {kind}", "tool": "rankwise", "medians_per_second": n / seconds}


def mallows_profile(k: int, phi: float, seed: int, n: int = 100) -> Any:
    return Mallows(theta=-np.log(phi), center=np.arange(1, k + 1)).sample(n, random_state=seed).positions


def ratios(case: str, tools: dict[str, Callable[[], Any]], same: Callable[[Any, Any], bool]) -> Iterator[Row]:
    """Time the tools in turns, and compare their results; peers are slow, so each is timed in two calls only."""
    answers = {}

    def remembering(tool: str, call: Callable[[], Any]) -> Callable[[], None]:
        def run() -> None:
            answers[tool] = call()

        return run

    seconds = best_seconds({tool: remembering(tool, call) for tool, call in tools.items()}, rounds=1)
    for tool, best in seconds.items():
        if tool != "rankwise" and not same(answers["rankwise"], answers[tool]):
            raise AssertionError(f"{case}: {tool} has a different result, so the times cannot be compared")
        ratio = best / seconds["rankwise"]
        print(f"{case:>45}  {tool:>23}  {best:8.4f} s  {ratio:8.1f} x", flush=True)
        yield {"case": case, "tool": tool, "seconds": best, "ratio": ratio}


def peer(module: str) -> Any:
    """Import a peer, or print why this failed: some raise other errors than ImportError."""
    try:
        return import_module(module)
    except Exception as reason:
        print(f"{module} skipped: {type(reason).__name__}: {reason}")
        return None


def is_installed(package: str) -> bool:
    try:
        return bool(version(package))
    except PackageNotFoundError:
        return False


if __name__ == "__main__":
    main()
