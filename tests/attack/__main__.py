"""Forge saved models of every class for some minutes: ``python -m tests.attack --minutes 10 --seed 1``."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.attack.forging import attack, save_golden_models, save_models


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="how long to go on")
    parser.add_argument("--seed", type=int, default=0, help="the first of the seeds, one for each forgery")
    parser.add_argument("--golden", action="store_true", help="forge golden files alone, which are there at once")
    options = parser.parse_args()
    outcomes: Counter[str] = Counter()
    failures: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"{(save_golden_models if options.golden else save_models)(folder)} models", flush=True)
        seed, end = options.seed, time.monotonic() + 60 * options.minutes
        while time.monotonic() < end:
            found, failed = attack(folder, seed, 2000, end=end)
            seed += 2000
            outcomes += found
            failures += failed
            for failure in failed:
                print(failure, flush=True)
            print(f"{sum(outcomes.values()):,} forgeries: {dict(outcomes.most_common())}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
