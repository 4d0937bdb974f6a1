"""Forks, threads, new processes and interrupts: every estimator gives the same bits in all of them, and none hangs."""

from __future__ import annotations

import importlib.util
import multiprocessing
import signal
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from tests.attack.children import FAILED, Outcome, where
from tests.attack.forked import INTERRUPTED, forked
from tests.estimators import CASES, NEEDS, estimator_classes

_PATIENCE = 50


def prepare(folder: Path) -> int:
    """Nothing has to be there; the number of estimators."""
    return len(estimator_classes())


def trials(folder: Path) -> Callable[[int], Outcome]:
    """One estimator, and one thing that may happen to processes."""
    numbers = [
        number
        for number, case in enumerate(CASES)
        if importlib.util.find_spec(NEEDS.get(type(case.estimator).__name__, "numpy"))
    ]

    def trial(seed: int) -> Outcome:
        rng = np.random.default_rng(seed)
        number = numbers[rng.integers(len(numbers))]
        expected(number)
        kind = _KINDS[rng.choice(len(_KINDS), p=_SHARES)]
        try:
            outcome, said = kind(number, rng)
        except Exception as error:
            outcome, said = FAILED, where(error)
        return outcome, f"{CASES[number]!r}: {kind.__name__[1:]}: {said}"

    return trial


@cache
def expected(number: int) -> list[np.ndarray]:
    return CASES[number].answer()


@cache
def _seconds(number: int) -> float:
    start = time.monotonic()
    CASES[number].answer()
    return time.monotonic() - start


def _same(number: int, found: list[np.ndarray]) -> bool:
    both = zip(found, expected(number), strict=True)
    return all(np.array_equal(part, twin, equal_nan=part.dtype.kind == "f") for part, twin in both)


def _judged(number: int, found: list[np.ndarray], word: str) -> Outcome:
    return (word, "") if _same(number, found) else (FAILED, "other bits")


def _jobs(number: int, rng: np.random.Generator) -> dict[str, Any]:
    takes = "n_jobs" in CASES[number].estimator.get_params()
    return {"n_jobs": int(rng.choice([1, 2, 4]))} if takes else {}


def _many_jobs(number: int, rng: np.random.Generator) -> Outcome:
    with joblib.parallel_config(backend="threading"):
        return _judged(number, CASES[number].answer(**_jobs(number, rng)), "same with more jobs")


def _threads(number: int, rng: np.random.Generator) -> Outcome:
    """Three fits at once, one of another estimator."""
    with ThreadPoolExecutor(3) as pool:
        other = pool.submit(CASES[int(rng.integers(8))].answer)
        found = list(pool.map(lambda _: CASES[number].answer(), range(2)))
        other.result()
    return next((bad for each in found if (bad := _judged(number, each, ""))[0] == FAILED), ("same in threads", ""))


def _fork(number: int, rng: np.random.Generator) -> Outcome:
    """A fit in a process that is forked from one that has used several jobs."""
    jobs = _jobs(number, rng)
    CASES[number].answer(**jobs)
    status = forked(lambda: 0 if _same(number, CASES[number].answer(**jobs)) else 2, _PATIENCE)
    return ("same in a forked process", "") if status == 0 else (FAILED, f"ended with {status}")


def _spawn(number: int, rng: np.random.Generator) -> Outcome:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return _judged(number, pool.apply_async(_answer, (number,)).get(_PATIENCE), "same in a new process")


def _answer(number: int) -> list[np.ndarray]:
    warnings.simplefilter("ignore")
    return CASES[number].answer()


def _interrupt(number: int, rng: np.random.Generator) -> Outcome:
    """Ctrl-C at a random moment ends the fit, or it ends as if nothing had been; the next one gives the same bits."""

    def call() -> int:
        status = 0
        try:
            found = CASES[number].answer()
            status = 0 if _same(number, found) else 2
        except KeyboardInterrupt:
            status = INTERRUPTED
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        again = CASES[number].answer()
        return status if _same(number, again) else 3

    status = forked(call, _PATIENCE, signal.SIGINT, rng.random() * _seconds(number))
    outcomes = {0: "done before the interrupt", INTERRUPTED: "interrupted"}
    return (outcomes[status], "") if status in outcomes else (FAILED, f"ended with {status}")


_KINDS = (_many_jobs, _threads, _fork, _spawn, _interrupt)
_SHARES = (0.25, 0.2, 0.2, 0.05, 0.3)
