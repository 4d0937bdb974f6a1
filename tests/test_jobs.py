"""Every estimator gives the same bits for every number of jobs, in threads, in processes, and in forked processes."""

from __future__ import annotations

import importlib.util
import inspect
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import joblib
import numpy as np
import pytest

from rankwise._threads import one_thread, openmp, usable_jobs
from tests.estimators import CASES, NEEDS, Case, estimator_classes

# What takes a second and more to be fitted or to start.
_SLOW = {"BARTSelector", "NeuralRanker", "SymbolicRegressor"}
_PARALLEL = [case for case in CASES if "n_jobs" in case.estimator.get_params()]


def name_of(case: Case) -> str:
    return type(case.estimator).__name__


def able(cases: list[Case]) -> list[Case]:
    """Cases whose optional libraries are installed."""
    return [c for c in cases if name_of(c) not in NEEDS or importlib.util.find_spec(NEEDS[name_of(c)]) is not None]


@cache
def expected(number: int) -> list[np.ndarray]:
    return CASES[number].answer()


def assert_same_bits(case: Case, found: list[np.ndarray]) -> None:
    for part, twin in zip(found, expected(CASES.index(case)), strict=True):
        np.testing.assert_array_equal(part, twin, err_msg=repr(case))


def test_every_estimator_has_a_case():
    assert {kind.__name__ for kind in estimator_classes()} == {name_of(case) for case in CASES}
    takes_jobs = {kind.__name__ for kind in estimator_classes() if "n_jobs" in inspect.signature(kind).parameters}
    assert takes_jobs == {name_of(case) for case in _PARALLEL}


@pytest.mark.parametrize("case", [case for case in _PARALLEL if name_of(case) not in _SLOW], ids=repr)
def test_two_jobs_change_no_bit(case):
    with joblib.parallel_config(backend="threading"):  # processes take seconds to start
        assert_same_bits(case, case.answer(n_jobs=2))


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2, 4, -1])
@pytest.mark.parametrize("case", _PARALLEL, ids=repr)
def test_no_number_of_jobs_changes_a_bit(case, n_jobs):
    assert_same_bits(case, case.answer(n_jobs=n_jobs))


def test_fits_in_threads_at_once_give_the_same_bits():
    cases = [case for case in able(CASES) if name_of(case) not in _SLOW]
    _check_threads(cases)


@pytest.mark.slow
def test_fits_of_slow_estimators_in_threads_at_once_give_the_same_bits():
    _check_threads(able(CASES))


def _check_threads(cases: list[Case]) -> None:
    """Each twice, so that two fits of a class meet, and each beside others."""
    for case in cases:
        expected(CASES.index(case))
    with ThreadPoolExecutor(4) as threads:
        twice = [case for case in cases for _ in range(2)]
        for case, found in zip(twice, threads.map(Case.answer, twice), strict=True):
            assert_same_bits(case, found)


@pytest.mark.slow
def test_fits_in_processes_give_the_same_bits():
    cases = able(CASES)
    numbers = [CASES.index(case) for case in cases]
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(_answer)(number) for number in numbers)
    for case, parts in zip(cases, found, strict=True):
        assert_same_bits(case, parts)


def _answer(number: int) -> list[np.ndarray]:
    return CASES[number].answer()


# A fit with threads or processes, and another one in a process that is forked afterwards. Without the precautions of
# `rankwise._threads`, the second one waits forever for threads that are not there.
_FORK = """
import os, signal, sys
import numpy as np
from tests.estimators import CASES

for number in map(int, sys.argv[1:]):
    case = CASES[number]
    parameters = {"n_jobs": 2} if "n_jobs" in case.estimator.get_params() else {}
    expected = case.answer(**parameters)
    child = os.fork()
    if not child:
        signal.alarm(60)
        for found, twin in zip(case.answer(**parameters), expected, strict=True):
            np.testing.assert_array_equal(found, twin)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if status:
        print(f"{case!r} ended with {status} in a forked process", flush=True)
"""


def fork_after_use(numbers: list[int]) -> str:
    """What goes wrong when these cases are fitted again in forked processes."""
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    command = [sys.executable, "-W", "ignore", "-c", _FORK, *map(str, numbers)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    return done.stdout


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")


@needs_fork
def test_a_forked_process_fits_what_its_parent_has_fitted():
    wanted = {"ClusterRanker", "RankingForest", "BoostedRanker", "LambdaMART", "PairwiseRanker"}
    first = {name_of(case): number for number, case in reversed(list(enumerate(CASES))) if name_of(case) in wanted}
    assert fork_after_use(list(first.values())) == ""


@needs_fork
@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs PyTorch")
def test_every_forked_process_fits_what_its_parent_has_fitted():
    assert fork_after_use([CASES.index(case) for case in able(CASES)]) == ""


@needs_fork
def test_only_a_process_forked_after_use_works_alone():
    code = (
        "import os\nfrom rankwise._threads import usable_jobs\n"
        "def child():\n"
        "    if not os.fork():\n        print(usable_jobs(2), flush=True)\n        os._exit(0)\n    os.wait()\n"
        "child(); usable_jobs(1); child(); print(usable_jobs(2), flush=True); child()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["2", "2", "2", "1"]


def test_the_last_of_several_threads_gives_linear_algebra_its_threads_back():
    def blas() -> set[int]:
        from threadpoolctl import threadpool_info

        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    before, inside, leave = blas(), threading.Barrier(2), threading.Event()

    def second(found: list[Any]) -> None:
        with one_thread():
            inside.wait()
            leave.wait()
            found.append(blas())

    found: list[Any] = []
    other = threading.Thread(target=second, args=(found,))
    with one_thread():
        other.start()
        inside.wait()
    assert blas() == {1}  # the other one still needs it
    leave.set()
    other.join()
    assert found == [{1}]
    assert blas() == before


def test_jobs_are_as_wanted_where_nothing_was_forked():
    assert usable_jobs(None) is None
    assert usable_jobs(3) == 3
    with openmp():
        assert usable_jobs(-1) == -1
