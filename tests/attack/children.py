"""Trials in child processes, so that one that ends the process, or never ends, is found and costs the others nothing.

An attack is a module of this package with two functions: ``prepare(folder)`` writes once what all trials need and says
how many things it attacks, and ``trials(folder)`` gives a function that does the trial of a seed and says what came of
it. A trial may depend on its seed alone, so that ``python -m tests.attack.children forging FOLDER 17 18`` repeats it.
"""

from __future__ import annotations

import faulthandler
import importlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import NamedTuple

#: what came of a trial: a word to count, and for "failed" what went wrong
Outcome = tuple[str, str]

#: the outcomes that must not be
FAILED, DIED = "failed", "died"

# Bytes of memory that a child may use, and seconds that it may take for one trial: on a processor, which takes
# long on a busy machine, and of waiting.
_MEMORY = 6 * 2**30
_WORK, _PATIENCE = 60.0, 600.0


class Found(NamedTuple):
    """What came of trials: how many had which outcome, those that failed in words, and how long the longest took."""

    outcomes: Counter[str]
    failures: list[str]
    longest: float = 0.0

    @property
    def trials(self) -> int:
        return sum(self.outcomes.values())

    def __add__(self, other: Found) -> Found:  # type: ignore[override]
        return Found(self.outcomes + other.outcomes, self.failures + other.failures, max(self.longest, other.longest))


def attack(name: str, folder: Path, seed: int, count: int, *, end: float = float("inf")) -> Found:
    """Do the trials of so many seeds in child processes, or as many as end in time."""
    found = Found(Counter(), [])
    last = seed + count
    while seed < last and time.monotonic() < end:
        done, seed, ending = _child(name, folder, seed, last, end)
        for outcome, said, seconds in done:
            found += Found(Counter([outcome]), [said] * (outcome == FAILED), seconds)
        if ending:
            found += Found(Counter([DIED]), [f"{name}, seed {seed}: {ending}"])
            seed += 1
    return found


def where(error: BaseException) -> str:
    """An unexpected error in words, with the lines that it came from."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "rankwise" in frame.filename]
    at = [f"{frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in (*ours[-2:], frames[-1])]
    return f"{type(error).__name__}: {str(error)[:200]} ({', '.join(at)})"


def _child(name: str, folder: Path, seed: int, last: int, end: float) -> tuple[list[list[str]], int, str]:
    """What a child found, the seed after its last one, and how it ended if it died."""
    with tempfile.TemporaryFile("w+") as report, tempfile.TemporaryFile("w+", errors="replace") as errors:
        work = subprocess.Popen(
            [sys.executable, "-m", "tests.attack.children", name, str(folder), str(seed), str(last)],
            stdin=subprocess.DEVNULL,
            stdout=report,
            stderr=errors,
            env={**os.environ, "OMP_NUM_THREADS": "1", "MALLOC_CHECK_": "3", "MALLOC_PERTURB_": "165"},
        )
        ending = _wait(work, report.fileno(), end)
        report.seek(0)
        done = [json.loads(line) for line in report if line.endswith("\n")]
        errors.seek(0)
        told = errors.read()[:1500]
    seed += len(done)
    if seed < last and not ending and time.monotonic() < end:
        ending = f"the process ended with {work.returncode}: {told}"
    return done, seed, ending


def _wait(work: subprocess.Popen[bytes], report: int, end: float) -> str:
    """Wait until a child ends, or kill it where it reports nothing for too long or the time is over."""
    size, since, worked = 0, time.monotonic(), 0.0
    while work.poll() is None:
        try:
            work.wait(0.2)
        except subprocess.TimeoutExpired:
            now, seconds = os.fstat(report).st_size, _seconds_of_work(work.pid)
            if now > size:
                size, since, worked = now, time.monotonic(), seconds
            late = time.monotonic() > end
            if late or seconds - worked > _WORK or time.monotonic() - since > _PATIENCE:
                work.kill()
                work.wait()
                return "" if late else f"no end after {seconds - worked:.0f} s of work"
    return ""


def _seconds_of_work(pid: int) -> float:
    """What a process has used of the processors."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # it has ended, or the system does not say
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _main(name: str, folder: str, first: str, last: str) -> None:
    """Do trials, and print a line for each."""
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    # What trials print is no part of the report.
    report = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    warnings.simplefilter("ignore")
    trial = importlib.import_module(f"tests.attack.{name}").trials(Path(folder))
    for seed in range(int(first), int(last)):
        start = time.process_time()
        outcome, said = trial(seed)
        seconds = time.process_time() - start
        print(json.dumps([outcome, f"{name}, seed {seed}: {said}", seconds]), file=report, flush=True)


if __name__ == "__main__":
    _main(*sys.argv[1:])
