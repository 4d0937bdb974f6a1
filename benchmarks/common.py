"""Shared by all benchmarks: fair timing, and results stored with everything needed to repeat them."""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Callable
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def arguments(description: str) -> argparse.Namespace:
    """Parse the flags that all benchmarks share."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="smaller sizes; the result file is not changed")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def best_seconds(
    tools: dict[str, Callable[[], Any]], rounds: int = 5, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """Shortest time of each tool; the tools take turns, so that other load on the machine affects all of them.

    The first call of a tool, which may compile, is not counted. A turn consists of two calls: the first one brings the
    data back into the caches.
    """
    seconds = {}
    for name, call in tools.items():
        call()
        seconds[name] = float("inf")
    for _ in range(rounds):
        for name, call in tools.items():
            for _ in range(2):
                start = clock()
                call()
                seconds[name] = min(seconds[name], clock() - start)
    return seconds


def save(
    name: str, rows: list[dict[str, Any]], options: argparse.Namespace, packages: list[str], arguments: str = ""
) -> None:
    """Store the results as JSON in the folder ``results``, unless the run was a quick one.

    ``arguments`` is the rest of the command, with the name of the file, where that is not ``name``.
    """
    if options.quick:
        return
    RESULTS.mkdir(exist_ok=True)
    record = {
        "command": f"python benchmarks/{arguments or name + '.py'} --seed {options.seed}",
        "date": date.today().isoformat(),
        "machine": f"{_processor()}, {os.cpu_count()} processors, Python {platform.python_version()}",
        "versions": {package: _version(package) for package in ["rankwise", "numpy", "scipy", "numba", *packages]},
        "seed": options.seed,
        "results": rows,
    }
    (RESULTS / f"{name}.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


def _version(package: str) -> str:
    """The version of a package; for a checkout of rankwise that is not installed, the one in its source."""
    try:
        return version(package)
    except PackageNotFoundError:
        if package != "rankwise":
            return "not installed"
        import rankwise

        return rankwise.__version__


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()
