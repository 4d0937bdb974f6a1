"""Attack rankwise for some minutes: ``python -m tests.attack --minutes 60``, or ``python -m tests.attack files -m 5``.

Every trial has a seed of its own. What fails is printed, with the command that does the trial again in front of you.
``--store`` writes the counts to ``benchmarks/results/attack.json``, in place of those of the same attack and seed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from importlib import import_module
from pathlib import Path

from benchmarks import common

from tests.attack import ATTACKS
from tests.attack.children import DIED, FAILED, Found, attack

_STORED = common.RESULTS / "attack.json"
# Trials of one child, which takes two seconds to start.
_CHUNK = 4000


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument("attacks", nargs="*", metavar="ATTACK", help=f"all of {', '.join(ATTACKS)} by default")
    parser.add_argument("-m", "--minutes", type=float, default=1.0, help="how long to go on, in all")
    parser.add_argument("-n", "--trials", type=int, default=10**9, help="trials of each attack at most")
    parser.add_argument("--seed", type=int, default=0, help="the first of the seeds, one for each trial")
    parser.add_argument("--store", action="store_true", help="keep the counts for the documentation")
    options = parser.parse_args()
    names = options.attacks or list(ATTACKS)
    if unknown := set(names) - set(ATTACKS):
        parser.error(f"no attack is called {', '.join(unknown)}; there are {', '.join(ATTACKS)}")
    failed = False
    for place, name in enumerate(names):
        start, share = time.monotonic(), 60 * options.minutes / len(names)
        found, targets = _run(name, options.seed, options.trials, end=start + share)
        failed |= bool(found.failures)
        print(f"{place + 1}/{len(names)} {name}: {_in_words(found)}", flush=True)
        if options.store:
            _store(name, found, targets, options)
    return int(failed)


def _run(name: str, seed: int, trials: int, *, end: float) -> tuple[Found, int]:
    """What comes of the trials of one attack until its time is over, and how many things it attacks."""
    found = Found(Counter(), [])
    with tempfile.TemporaryDirectory() as folder:
        targets = import_module(f"tests.attack.{name}").prepare(Path(folder))
        while found.trials < trials and time.monotonic() < end:
            more = attack(name, Path(folder), seed + found.trials, min(_CHUNK, trials - found.trials), end=end)
            found += more
            for failure in more.failures:
                print(failure, flush=True)
    return found, targets


def _in_words(found: Found) -> str:
    counts = ", ".join(f"{count:,} {outcome}" for outcome, count in found.outcomes.most_common())
    return f"{found.trials:,} trials: {counts}; the longest took {found.longest:.1f} s of CPU time"


def _store(name: str, found: Found, targets: int, options: argparse.Namespace) -> None:
    """Keep the counts of an attack beside those of the others."""
    rows = json.loads(_STORED.read_text("utf-8"))["results"] if _STORED.exists() else []
    bad = {outcome: found.outcomes[outcome] for outcome in (FAILED, DIED)}
    row = {
        "attack": name,
        "command": f"python -m tests.attack {name} --trials {found.trials} --seed {options.seed}",
        "seed": options.seed,
        "targets": targets,
        "trials": found.trials,
        "outcomes": dict(found.outcomes.most_common()) | bad,
        "longest_cpu_seconds": round(found.longest, 2),
    }
    rows = [each for each in rows if (each["attack"], each["seed"]) != (name, options.seed)] + [row]
    rows.sort(key=lambda each: (list(ATTACKS).index(each["attack"]), each["seed"]))
    options.quick = False
    common.save("attack", rows, options, ["lightgbm"])


if __name__ == "__main__":
    sys.exit(main())
