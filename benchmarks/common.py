"""What every benchmark needs: a fair clock, and results kept with all that is needed to repeat them."""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Callable
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def arguments(description: str) -> argparse.Namespace:
    """Parse the flags that all benchmarks share."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="smaller sizes; the result file stays as it is")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def best_seconds(function: Callable[[], Any], repeats: int = 5) -> float:
    """Shortest wall time of several calls; the first, which may compile, is not counted."""
    function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def save(name: str, rows: list[dict[str, Any]], options: argparse.Namespace, packages: list[str]) -> None:
    """Keep the figures as JSON beside the script, unless the run was a quick one."""
    if options.quick:
        return
    RESULTS.mkdir(exist_ok=True)
    record = {
        "command": f"python benchmarks/{name}.py --seed {options.seed}",
        "date": date.today().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}",
        "versions": {package: version(package) for package in ["rankwise", "numpy", "scipy", "numba", *packages]},
        "seed": options.seed,
        "results": rows,
    }
    (RESULTS / f"{name}.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
