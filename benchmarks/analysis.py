"""The way from a file to an answer: how long reading, the summary and the whole report take.

First table: `summary` (mean ranks with intervals, medians, marginals, pairs, Kendall's W with its test) against pandas'
``rank(axis=1).mean()`` and the value counts of all columns, 100,000 rankings of 10 items of every kind.

Second table: ``rankwise report`` as a command of its own, from a CSV file of 100,000 respondents with 10 ranked items,
age and city to the finished page, with two jobs; wall time from start to end.

Third table: `read_rankings` of CSV files of 1,000,000 rows and 20 columns, all or 8 of them ranks, against
``polars.read_csv``, which does not check or interpret anything.

Fourth table: `compare_groups` with 999 permutations of two groups, 10,000 rankings of 10 items of every kind, against
``scipy.stats.permutation_test`` of the mean ranks of one item alone.

Fifth table: how often both kernels of `compare_groups` find a difference at the level of 5%: one item lower in the
second group, a second group that agrees more, and two opposite camps against no order.

Last: `PlackettLuce` with 20 attributes that differ between rankings, 100,000 rankings of 10 items, against statsmodels'
``ConditionalLogit`` of the exploded choices, which is timed on few rankings and scaled up: its time grows in proportion
to them.

And `PlackettLuceTree` and `drivers` (of 4,000 people), 10,000 rankings of 10 items with 20 features.

And a mixture of 5 segments of 10,000 rankings of 20 items, by every model of `segments`: one number of
segments, 10 starts, two threads.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from common import arguments, best_seconds, save
from scipy import stats

from rankwise import Rankings, read_rankings
from rankwise.aggregation import MallowsMixture, PlackettLuce, PlackettLuceMixture, margin_of_victory, sample_mallows
from rankwise.analysis import compare_groups, drivers, raters, summary
from rankwise.label_ranking import PlackettLuceTree

Row = dict[str, Any]


def main() -> None:
    options = arguments(__doc__)
    rng = np.random.default_rng(options.seed)
    rows = list(summaries(options.quick, rng))
    with tempfile.TemporaryDirectory() as folder:
        rows += [*reports(options.quick, rng, Path(folder)), *readers(options.quick, rng, Path(folder))]
    rows += [*comparisons(options.quick, rng), *powers(options.quick, rng), *choice_models(options.quick, rng)]
    rows += drivers_of_rankings(options.quick, rng)
    rows += panels(options.quick, rng)
    rows += mixtures(options.quick, rng)
    save("analysis", rows, options, ["pandas", "polars", "scipy", "statsmodels"])


def summaries(quick: bool, rng: np.random.Generator) -> Iterator[Row]:
    """Seconds of `summary` and of pandas, by kind of ranking."""
    n, k = (5_000 if quick else 100_000), 10
    full = places(rng, n, k)
    kinds = {
        "full": Rankings(full),
        "tied": Rankings(np.ceil(full / 2)),
        "top-k": Rankings(np.where(full <= 5, full, np.inf)),
        "incomplete": Rankings(np.where(rng.random((n, k)) < 0.2, np.nan, full)),
        "survey weights": Rankings(full, weights=rng.uniform(0.5, 2, n)),
    }
    print("| rankings | rankwise | pandas | ratio |")
    print("|---|---|---|---|")
    for kind, rankings in kinds.items():
        frame = pd.DataFrame(rankings.positions, columns=[f"item{i}" for i in range(k)])
        seconds = best_seconds(
            {
                "rankwise": lambda rankings=rankings: summary(rankings),
                "pandas": lambda frame=frame: (
                    frame.rank(axis=1).mean(),
                    [frame[name].value_counts() for name in frame],
                ),
            }
        )
        ratio = seconds["rankwise"] / seconds["pandas"]
        print(f"| {kind} | {1e3 * seconds['rankwise']:.0f} ms | {1e3 * seconds['pandas']:.0f} ms | {ratio:.2f} |")
        yield {"what": "summary", "rankings": kind, "n": n, "items": k, "seconds": seconds, "ratio": ratio}


def drivers_of_rankings(quick: bool, rng: np.random.Generator) -> Iterator[Row]:
    """Seconds of `PlackettLuceTree` and of `drivers` with 20 features, two of which matter."""
    n, k = (1_000 if quick else 10_000), 10
    X = rng.standard_normal((n, 20))
    slopes = np.linspace(-1, 1, k)
    scores = rng.gumbel(size=(n, k)) + np.sign(X[:, :1]) * slopes + np.sign(X[:, 1:2]) * slopes**2
    rankings = Rankings.from_scores(scores)
    print("| what | rankings | seconds |")
    print("|---|---|---|")
    tasks = {
        "PlackettLuceTree": lambda: PlackettLuceTree().fit(X, rankings),
        "drivers": lambda: drivers(X, rankings, random_state=0),
    }
    for name, task in tasks.items():
        start = time.perf_counter()
        task()
        seconds = {"rankwise": time.perf_counter() - start}
        print(f"| {name} | {n:,} | {seconds['rankwise']:.2f} |")
        yield {"what": name, "n": n, "items": k, "features": 20, "seconds": seconds}


def reports(quick: bool, rng: np.random.Generator, folder: Path) -> Iterator[Row]:
    """Wall seconds of the command from a file of answers to a page."""
    n, k = (2_000 if quick else 100_000), 10
    path = folder / "survey.csv"
    columns = {f"rank_{chr(97 + i)}": column.astype(int) for i, column in enumerate(places(rng, n, k).T)}
    age, city = rng.integers(18, 90, n), rng.choice(["Bonn", "Oslo", "Rome"], n)
    pl.DataFrame({"age": age, "city": city, **columns}).write_csv(path)
    page = folder / "page.html"
    command = [sys.executable, "-m", "rankwise", "report", str(path), "--jobs", "2", "--out", str(page)]
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - start
    size = page.stat().st_size
    print(f"\nrankwise report, {n:,} respondents x {k} items: {seconds:.1f} s, page of {size / 1e6:.1f} MB")
    yield {"what": "report", "n": n, "items": k, "jobs": 2, "seconds": seconds}


def readers(quick: bool, rng: np.random.Generator, folder: Path) -> Iterator[Row]:
    """Seconds of `read_rankings` and of `polars.read_csv`: for 20 columns of ranks, and for 8 among 20 columns."""
    n = 20_000 if quick else 1_000_000
    for k in (20, 8):
        path = folder / f"large-{k}.csv"
        ranks = {f"rank_{chr(97 + i)}": column.astype(int) for i, column in enumerate(places(rng, n, k).T)}
        pl.DataFrame(ranks | (other_columns(rng, n) if k == 8 else {})).write_csv(path)
        tools = {"rankwise": lambda path=path: read_rankings(path), "polars": lambda path=path: pl.read_csv(path)}
        seconds = best_seconds(tools, rounds=2 if quick else 5)
        ratio = seconds["rankwise"] / seconds["polars"]
        print(
            f"\nreading {n:,} x 20, {k} ranks: {seconds['rankwise']:.2f} s, "
            f"polars {seconds['polars']:.2f} s, ratio {ratio:.1f}"
        )
        yield {"what": "reading", "n": n, "items": k, "seconds": seconds, "ratio": ratio}


def comparisons(quick: bool, rng: np.random.Generator) -> Iterator[Row]:
    """Seconds of the comparison of two groups, by kind of ranking, and of one item's test in SciPy."""
    n, k = (1_000 if quick else 10_000), 10
    full, by = places(rng, n, k), rng.choice(["f", "m"], n)
    kinds = {
        "full": Rankings(full),
        "tied": Rankings(np.ceil(full / 2)),
        "top-k": Rankings(np.where(full <= 5, full, np.inf)),
        "incomplete": Rankings(np.where(rng.random((n, k)) < 0.2, np.nan, full)),
        "survey weights": Rankings(full, weights=rng.uniform(0.5, 2, n)),
    }
    scipy_seconds = best_seconds(
        {
            "scipy": lambda: stats.permutation_test(
                (full[by == "f", 0], full[by == "m", 0]),
                lambda x, y, axis: x.mean(axis=axis) - y.mean(axis=axis),
                n_resamples=999,
                vectorized=True,
            )
        }
    )["scipy"]
    print("\n| groups of | rankwise | scipy, one item | ratio |")
    print("|---|---|---|---|")
    for kind, rankings in kinds.items():
        own = best_seconds({"rankwise": lambda rankings=rankings: compare_groups(rankings, by, random_state=0)})
        seconds = {**own, "scipy": scipy_seconds}
        ratio = seconds["rankwise"] / scipy_seconds
        print(f"| {kind} | {seconds['rankwise']:.2f} s | {scipy_seconds:.2f} s | {ratio:.2f} |")
        yield {"what": "comparison", "rankings": kind, "n": n, "items": k, "seconds": seconds, "ratio": ratio}


def powers(quick: bool, rng: np.random.Generator) -> Iterator[Row]:
    """Shares of simulated studies in which each kernel finds a difference."""
    n_runs = 20 if quick else 300
    up = np.arange(1.0, 11)
    lower = np.array([3.0, 1, 2, 4, 5])

    def camps(n: int) -> np.ndarray:
        first = rng.random((n, 1)) < 0.5
        return np.where(first, sample_mallows(up, 0.3, n, rng), sample_mallows(up[::-1], 0.3, n, rng))

    studies = {
        "one of 5 items two places lower": (
            40,
            lambda n: sample_mallows(up[:5], 0.4, n, rng),
            lambda n: sample_mallows(lower, 0.4, n, rng),
        ),
        "a second group that agrees more": (
            60,
            lambda n: sample_mallows(up, 0.15, n, rng),
            lambda n: sample_mallows(up, 0.35, n, rng),
        ),
        "two camps against no order": (150, lambda n: sample_mallows(up, 0.0, n, rng), camps),
    }
    print("\n| groups that differ in | people in each | mallows | kendall |")
    print("|---|---|---|---|")
    for name, (n, first, second) in studies.items():
        found = {"mallows": 0, "kendall": 0}
        for _ in range(n_runs):
            rankings, by = np.vstack([first(n), second(n)]), np.repeat(["a", "b"], n)
            for kernel in found:
                options = {"kernel": kernel, "n_permutations": 199, "random_state": rng}
                found[kernel] += compare_groups(rankings, by, **options).p_value <= 0.05
        shares = {kernel: hits / n_runs for kernel, hits in found.items()}
        print(f"| {name} | {n} | {shares['mallows']:.0%} | {shares['kendall']:.0%} |")
        yield {"what": "power", "study": name, "n": n, "runs": n_runs, "shares": shares}


def panels(quick: bool, rng: np.random.Generator) -> Iterator[Row]:
    """Seconds of `raters`, and of proven margins of victory."""
    for n, k in ((30, 8), (1_000, 10), (10_000 if quick else 100_000, 10)):
        votes = Rankings(sample_mallows(np.arange(1.0, k + 1), 0.4, n, rng))
        seconds = best_seconds({"rankwise": lambda votes=votes: raters(votes)})
        print(f"raters: {n:,} people, {k} items, {seconds['rankwise']:.2f} s")
        yield {"what": "raters", "n": n, "items": k, "seconds": seconds}
    for rule in ("borda", "copeland", "kemeny"):
        votes = Rankings(sample_mallows(np.arange(1.0, 7), 0.2, 200 if quick else 2_000, rng))
        seconds = best_seconds({"rankwise": lambda votes=votes, rule=rule: margin_of_victory(votes, rule)})
        found = margin_of_victory(votes, rule)
        print(f"margin of victory by {rule}: {found.text} of {len(votes):,}, {seconds['rankwise']:.2f} s")
        yield {"what": "margin of victory", "rule": rule, "n": len(votes), "exact": found.exact, "seconds": seconds}


def other_columns(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    """What surveys hold besides ranks: ids, numbers of few and of many digits, categories, codes and dates."""
    words = np.array(["primary", "secondary", "tertiary", ""])
    days = np.datetime64("2026-01-01") + rng.integers(0, 365, n)
    return {
        "id": np.arange(n),
        "token": np.array([f"R_{number:012x}" for number in rng.integers(0, 2**48, n)]),
        "zip": np.char.zfill(rng.integers(0, 99_999, n).astype(str), 5),
        "age": rng.integers(18, 90, n),
        "kids": rng.integers(0, 6, n),
        "income": np.round(rng.lognormal(10, 1, n), 2),
        "score": rng.normal(size=n),
        "height": np.round(rng.normal(170, 10, n), 1),
        "sex": np.array(["female", "male", "other"])[rng.integers(0, 3, n)],
        "region": np.array([f"region {number}" for number in range(16)])[rng.integers(0, 16, n)],
        "school": words[rng.integers(0, 4, n)],
        "day": days.astype(str),
    }


def choice_models(quick: bool, rng: np.random.Generator) -> Iterator[Row]:
    """Seconds of a rank-ordered logit by `PlackettLuce`, and of statsmodels per ranking times their number."""
    from statsmodels.discrete.conditional_models import ConditionalLogit

    n, few, k, d = (2_000, 20, 10, 20) if quick else (100_000, 100, 10, 20)
    attributes = rng.normal(size=(n, k, d))
    utility = attributes @ rng.normal(scale=0.5, size=d) + rng.gumbel(size=(n, k))
    order = np.argsort(-utility, axis=1)
    rankings = Rankings(np.argsort(order, axis=1) + 1.0)
    left = [attributes[row, order[row, stage:]] for row in range(few) for stage in range(k - 1)]
    chosen = np.concatenate([np.eye(len(block))[0] for block in left])
    groups = np.repeat(np.arange(len(left)), [len(block) for block in left])
    exploded = ConditionalLogit(chosen, np.vstack(left), groups=groups)
    PlackettLuce().fit(rankings[:100], item_features=attributes[:100])  # compiles
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few rankings may not determine all coefficients
        exploded.fit(disp=0)
    seconds = {"statsmodels": (time.perf_counter() - start) * n / few}
    seconds |= best_seconds({"rankwise": lambda: PlackettLuce().fit(rankings, item_features=attributes)}, rounds=3)
    ratio = seconds["statsmodels"] / seconds["rankwise"]
    print(
        f"\nPlackett-Luce with {d} attributes, {n:,} rankings x {k} items: {seconds['rankwise']:.2f} s, statsmodels "
        f"{seconds['statsmodels']:,.0f} s (scaled up from {few} rankings), {ratio:,.0f} times"
    )
    yield {
        "what": "choice model",
        "n": n,
        "items": k,
        "attributes": d,
        "timed": few,
        "seconds": seconds,
        "ratio": ratio,
    }


def mixtures(quick: bool, rng: np.random.Generator) -> Iterator[Row]:
    """Seconds to fit 5 segments by the mixtures that `segments` uses: 10 starts, two threads, overlapping segments."""
    n, k, n_segments = (500 if quick else 10_000), 20, 5
    thetas = {"kendall": 0.15, "spearman": 0.006, "footrule": 0.08, "hamming": 1.8, "cayley": 1.8}
    print("| mixture of 5 segments | seconds | CPU seconds | iterations | log likelihood |")
    print("|---|---|---|---|---|")
    for name in [*thetas, "plackett-luce"]:
        options: dict[str, Any] = {"n_init": 10, "random_state": 0, "n_jobs": 2}
        truth: Any
        if name == "plackett-luce":
            truth, model = PlackettLuceMixture(n_segments), PlackettLuceMixture(n_segments, **options)
            truth.log_worths_ = 0.7 * rng.normal(size=(n_segments, k))
        else:
            truth = MallowsMixture(n_segments, distance=name)
            model = MallowsMixture(n_segments, distance=name, **options)
            truth.centers_ = np.array([rng.permutation(k) + 1.0 for _ in range(n_segments)])
            truth.thetas_ = np.full(n_segments, thetas[name])
        truth.weights_, truth.items_ = np.array([0.3, 0.25, 0.2, 0.15, 0.1]), tuple(range(k))
        data = truth.sample(n, rng)
        model.fit(data[:50])  # compiles
        start, start_cpu = time.perf_counter(), time.process_time()
        model.fit(data)
        seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - start_cpu
        print(f"| {name} | {seconds:.1f} | {cpu_seconds:.1f} | {model.n_iter_} | {model.log_likelihood_:.1f} |")
        yield {
            "what": "mixture",
            "model": name,
            "n": n,
            "items": k,
            "segments": n_segments,
            "starts": 10,
            "n_jobs": 2,
            "seconds": seconds,
            "cpu_seconds": cpu_seconds,
            "iterations": int(model.n_iter_),
        }


def places(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    """Full rankings by Plackett-Luce, so that there is something to find."""
    utilities = np.linspace(1, -1, k) + rng.gumbel(size=(n, k))
    return np.argsort(np.argsort(-utilities, axis=1), axis=1) + 1.0


if __name__ == "__main__":
    main()
