"""What does `kemeny` prove, how far is the rest bounded within a time limit, and how fast are updates: ratios, seconds.

The families are those of the linear ordering library LOLIB (Martí, Reinelt, Duarte 2012), generated: uniform entries
from 0 to 100 (RandA1), Paley tournaments, random tournaments, and uniform and Mallows profiles. Consensus with ties is
compared with corankco (`ExactAlgorithmPulp`), which must find the same cost.

Seconds are processor time of the call. So are limits with ``--processor-time``, for machines that others use (the
solver of integer programs may end earlier, as it knows wall time only); otherwise limits are wall time. With
``--before FILE`` (a result of this script from an older checkout, on the same machine), each row also keeps the older
figures. With ``--only TEXT``, cases that contain the text are measured, and the other rows of the result file are kept.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from common import RESULTS, save
from consensus import peer

from rankwise import Rankings
from rankwise.aggregation import RunningConsensus, _kemeny_search, kemeny, preference_matrix, sample_mallows

Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller sizes; the result file is not changed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--before", type=Path, help="a result of an older checkout, to keep beside the new one")
    parser.add_argument("--processor-time", action="store_true", help="let limits count processor time")
    parser.add_argument("--only", default="", help="measure cases that contain this text, and keep the other rows")
    parser.add_argument("--output", type=Path, help="write the rows here instead of the result file")
    options = parser.parse_args()
    if options.processor_time:
        _kemeny_search.time.perf_counter = time.process_time
    older = {row["case"]: row for row in json.loads(options.before.read_text())} if options.before else {}
    kemeny(tournament(18, 0), method="ilp", random_state=0)  # compiles
    kemeny(coarse(3, 19, 3, 0), ties="allow", random_state=0)
    rows = []
    questions = (*hard_instances(options.quick, options.seed), *ties_allowed(options.quick, options.seed))
    for question in questions:
        if options.only not in question.case:
            continue
        row = measured(question) | {"limit_of": "processor time" if options.processor_time else "wall time"}
        before = older.get(row["case"])
        if before:
            row["before"] = {key: before[key] for key in ("gap", "proven", "seconds")}
        rows.append(row)
        print(f"{row['case']:>48}  {row['proven']} of {row['profiles']} proven, gap {100 * row['gap']:.4g} %, "
              f"{row['seconds']:.2f} s" + (f"; before {before['proven']}, {100 * before['gap']:.4g} %, "
              f"{before['seconds']:.2f} s" if before else ""), flush=True)  # fmt: skip
    if not options.only:
        rows += [*beside_corankco(options.quick, options.seed), *updates(options.seed)]
    if options.output:
        options.output.write_text(json.dumps(rows, indent=2) + "\n")
    else:
        if options.only:
            new = {row["case"]: row for row in rows}
            stored = json.loads((RESULTS / "consensus_proofs.json").read_text())["results"]
            rows = [new.get(row["case"], row) for row in stored]
        save("consensus_proofs", rows, options, ["highspy", "corankco"])


@dataclass
class Question:
    """A family of problems for `kemeny`, numbered from 0."""

    case: str
    make: Callable[[int], Any]
    profiles: int
    limit: float = 10.0
    ties: str = "none"


def hard_instances(quick: bool, seed: int) -> Iterator[Question]:
    """Instances on which bounds are far from the cost: their mean gap when time is up."""
    for k in (25, 30) if quick else (25, 30, 40, 60, 100):
        yield Question(f"random tournament, {k} items", lambda s, k=k: tournament(k, seed + s), profiles=2)
    for k in (19,) if quick else (19, 23, 43):
        yield Question(f"Paley tournament, {k} items", lambda s, k=k: paley(k), profiles=1)
    for k in (40,) if quick else (40, 100, 200):
        yield Question(f"RandA1, {k} items", lambda s, k=k: uniform_entries(k, seed + s), profiles=2)
    for k in (40,) if quick else (60, 100, 150, 700):
        yield Question(f"100 uniform rankings, {k} items", lambda s, k=k: uniform(k, seed + s), profiles=2)
    if not quick:
        matrix = preference_matrix(sample_mallows(np.arange(1, 301), -np.log(0.99), 100, random_state=seed))
        yield Question("100 Mallows rankings, phi .99, 300 items", lambda s: matrix, profiles=1)


def ties_allowed(quick: bool, seed: int) -> Iterator[Question]:
    """Consensus that may have ties, of rankings with ties."""
    for k, n, places in [(18, 7, 9)] if quick else [(18, 7, 9), (25, 7, 12), (25, 20, 12), (50, 50, 20)]:
        case = f"ties, {n} uniform rankings, {k} items, {places} places"
        yield Question(case, lambda s, k=k, n=n, p=places: coarse(n, k, p, seed + s), profiles=3, ties="allow")
    if not quick:
        yield Question("ties, 20 Mallows rankings, 50 items", lambda s: tied_mallows(50, seed + s), 3, ties="allow")


def beside_corankco(quick: bool, seed: int) -> Iterator[Row]:
    """Consensus that may have ties by both, of 20 and 25 items."""
    exact = peer("corankco.algorithms.exact.exactalgorithmpulp")
    if exact is None:
        return
    import corankco

    scheme = corankco.ScoringScheme.get_unifying_scoring_scheme_p(0.5)
    for k in (12,) if quick else (20, 25):
        rankings = coarse(7, k, k // 2, seed)
        buckets = [[{int(item) for item in bucket} for bucket in row] for row in rankings.buckets()]
        dataset = corankco.Dataset.from_raw_list(buckets)
        start = time.perf_counter()
        theirs = exact.ExactAlgorithmPulp().compute_consensus_rankings(dataset, scheme).kemeny_score
        their_seconds = time.perf_counter() - start
        start = time.perf_counter()
        ours = kemeny(rankings, ties="allow", random_state=0)
        our_seconds = time.perf_counter() - start
        if not ours.optimal or abs(ours.cost - theirs) > 1e-6:
            raise AssertionError(f"corankco finds {theirs}, and kemeny {ours.cost}")
        yield {
            "case": f"ties, 7 uniform rankings, {k} items, beside corankco",
            "profiles": 1, "proven": 1, "gap": 0.0, "seconds": our_seconds, "corankco_seconds": their_seconds,
            "ratio": their_seconds / our_seconds,
        }  # fmt: skip


def updates(seed: int) -> Iterator[Row]:
    """Rankings of 20 items that a `RunningConsensus` takes one by one, and a hundred at a time."""
    rankings = sample_mallows(np.arange(1, 21), 0.1, 20_000, random_state=seed)
    for window in (None, 1000):
        for size in (1, 100):
            running = RunningConsensus(20, window=window).partial_fit(rankings[:5])  # compiles
            start = time.process_time()
            for row in range(0, 200 * size if size > 1 else 5000, size):
                running.partial_fit(rankings[row : row + size])
            per_minute = 60 * (running.n_seen - 5) / (time.process_time() - start)
            case = f"running consensus, 20 items, window {window}, {size} at a time"
            print(f"{case:>48}  {per_minute:,.0f} rankings a minute", flush=True)
            yield {"case": case, "rankings_per_minute": per_minute}


def measured(question: Question) -> Row:
    """Solve some profiles within a limit each."""
    gaps, seconds, proven = [], [], 0
    for profile in range(question.profiles):
        problem = question.make(profile)
        start = time.process_time()
        result = kemeny(problem, time_limit=question.limit, ties=question.ties, random_state=0)
        seconds.append(time.process_time() - start)
        gaps.append(result.gap)
        proven += result.optimal
    return {
        "case": question.case, "profiles": question.profiles, "limit": question.limit, "proven": proven,
        "gap": float(np.mean(gaps)), "seconds": float(np.mean(seconds)),
    }  # fmt: skip


def tournament(k: int, seed: int) -> Any:
    upper = np.triu(np.random.default_rng(seed).random((k, k)) < 0.5, 1)
    return np.where(np.triu(np.ones((k, k)), 1) > 0, upper, ~upper.T) * (1.0 - np.eye(k))


def paley(k: int) -> Any:
    """The item i beats j if i - j is a square modulo the prime k, which is 3 modulo 4."""
    squares = {x * x % k for x in range(1, k)}
    return np.array([[float((i - j) % k in squares) for j in range(k)] for i in range(k)])


def uniform_entries(k: int, seed: int) -> Any:
    return np.random.default_rng(seed).integers(0, 101, (k, k)) * (1.0 - np.eye(k))


def uniform(k: int, seed: int) -> Any:
    return sample_mallows(np.arange(1, k + 1), 0.0, 100, random_state=seed)


def coarse(n: int, k: int, places: int, seed: int) -> Rankings:
    return Rankings(np.random.default_rng(seed).integers(1, places + 1, (n, k)).astype(float))


def tied_mallows(k: int, seed: int) -> Rankings:
    """Mallows rankings in which every other neighbor is tied to the one above."""
    rankings = sample_mallows(np.arange(1, k + 1), 0.05, 20, random_state=seed)
    starts = np.random.default_rng(seed).random(rankings.shape) > 0.5
    starts[:, 0] = True
    buckets = np.cumsum(starts, axis=1).astype(float)
    return Rankings(np.take_along_axis(buckets, rankings.astype(np.intp) - 1, axis=1))


if __name__ == "__main__":
    main()
