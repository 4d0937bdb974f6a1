"""Kills, interrupts and full disks while a file is written: afterwards the old one is there, or the new one, whole.

Every public function and method that writes a file does so over an old one, in a forked process that is ended at a
random moment or may write only so many bytes.
"""

from __future__ import annotations

import inspect
import resource
import signal
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import rankwise
from rankwise import Rankings, analyze, data
from rankwise.data import write_letor, write_preflib, write_run
from rankwise.label_ranking import NearestNeighborsRanker
from rankwise.plots import MeanRankDisplay
from tests.attack.arguments import public_callables
from tests.attack.children import FAILED, Outcome
from tests.attack.forked import INTERRUPTED, forked

_RNG = np.random.default_rng(0)
_X, _POSITIONS = _RNG.normal(size=(3000, 3)), np.argsort(_RNG.random((3000, 4)), axis=1) + 1.0
_OLD = b"old\n" * 100
_PATIENCE = 60


def _write_run(path: Path) -> None:
    write_run(path, np.arange(3000), [f"d{row}" for row in range(3000)], _X[:, 0])


def _writers() -> dict[str, tuple[str, Callable[[Path], Any]]]:
    """Every public writer by name: a name for its file, and a call that writes it."""
    model = NearestNeighborsRanker(3).fit(_X, _POSITIONS)
    result = analyze(Rankings(_POSITIONS[:60]), X=_X[:60], random_state=0)
    display = MeanRankDisplay(list("abcd"), *(np.arange(8).reshape(2, 4) / 3 + x for x in (2, 1, 3)), groups=["x", "y"])
    display.plot()
    return {
        "save": ("model.rankwise", lambda path: rankwise.save(model, path)),
        "write_letor": (
            "data.letor",
            lambda path: write_letor(path, _X, np.arange(3000) % 3, np.arange(3000) // 9),
        ),
        "write_preflib": ("data.soc", lambda path: write_preflib(Rankings(_POSITIONS), path)),
        "write_run": ("data.run", _write_run),
        "Analysis.save_html": ("report.html", result.save_html),
        "Analysis.to_excel": ("report.xlsx", result.to_excel),
        "Display.save": ("picture.svg", display.save),
    }


# Of many files, each of which a test of `replacing` holds.
_OF_MANY = {"Analysis.save_pictures"}


def public_writers() -> set[str]:
    """Names of all public functions and methods that write files; every picture is saved by one method."""
    found = {name for name in data.__all__ if name.startswith("write_")} | {"save"}
    for thing in public_callables().values():
        if inspect.isclass(thing):
            owner = "Display" if thing.__name__.endswith("Display") else thing.__name__
            names = [name for name in dir(thing) if name.startswith(("save", "write_")) or name == "to_excel"]
            found |= {f"{owner}.{name}" for name in names}
    return found - _OF_MANY


def prepare(folder: Path) -> int:
    """Nothing has to be there; the number of public writers."""
    return len(public_writers())


def trials(folder: Path) -> Callable[[int], Outcome]:
    """One writer is ended while it writes."""
    scratch = Path(tempfile.mkdtemp(dir=folder))
    writers = _writers()
    if set(writers) != public_writers():
        raise AssertionError(f"not attacked, or not there: {set(writers) ^ public_writers()}")
    seconds, sizes = {}, {}
    for name, (file, write) in writers.items():
        start = time.monotonic()
        write(scratch / file)
        seconds[name] = time.monotonic() - start
        sizes[name] = (scratch / file).stat().st_size
        (scratch / file).unlink()

    def trial(seed: int) -> Outcome:
        rng = np.random.default_rng(seed)
        name = list(writers)[rng.integers(len(writers))]
        file, write = writers[name]
        path = scratch / file
        path.write_bytes(_OLD)
        if rng.random() < 0.4:
            size = int(rng.integers(sizes[name]))
            outcome, said = _on_a_full_disk(write, path, size)
        else:
            sent = [signal.SIGKILL, signal.SIGINT, signal.SIGTERM][rng.integers(3)]
            outcome, said = _ended(write, path, sent, rng.random() * 1.3 * seconds[name])
        left = [each for each in scratch.iterdir() if each != path]
        for each in left:
            each.unlink()
        if outcome != FAILED and "killed" not in outcome and left:
            outcome, said = FAILED, f"{said} leaves {left} behind"
        if outcome != FAILED and (broken := _broken(path, sizes[name])):
            outcome, said = FAILED, f"{said} leaves {broken}"
        path.unlink(missing_ok=True)
        return outcome, f"{name}: {said}"

    return trial


def _broken(path: Path, size: int) -> str:
    """What is wrong with a file that should be the old one, or a new one of about this size."""
    content = path.read_bytes() if path.exists() else b""
    if content == _OLD or abs(len(content) - size) <= 16:  # times are written in some
        return ""
    return f"{len(content)} bytes, and {size} are the whole"


def _on_a_full_disk(write: Callable[[Path], Any], path: Path, size: int) -> Outcome:
    def call() -> int:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        try:
            write(path)
        except OSError:
            return 3
        return 0

    status = forked(call, _PATIENCE)
    said = f"a disk with room for {size} bytes"
    if status == 0 and size < path.stat().st_size:  # written, and whole: what is checked next
        return "written", said
    return ("full disk", said) if status in (0, 3) else (FAILED, f"{said}: ended with {status}")


def _ended(write: Callable[[Path], Any], path: Path, sent: signal.Signals, after: float) -> Outcome:
    def call() -> int:
        try:
            write(path)
        except KeyboardInterrupt:
            return INTERRUPTED
        return 0

    status = forked(call, _PATIENCE, sent, after)
    said = f"{sent.name} after {1000 * after:.1f} ms"
    if status in (-signal.SIGKILL, -signal.SIGTERM):
        return "killed", said
    return (
        ({0: "written", INTERRUPTED: "interrupted"}[status], said)
        if status in (0, INTERRUPTED)
        else (FAILED, f"{said}: {status}")
    )
