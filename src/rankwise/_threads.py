"""Threads and processes: how many linear algebra may take, and what is left of them in a forked process.

The threads of OpenMP (LightGBM, scikit-learn, PyTorch) and the processes of joblib do not live on in a process that is
forked from one that used them, and whoever waits for them there waits forever. So a forked process uses one of each,
which changes no result. Processes that are started in other ways ("spawn", "forkserver") are as good as new.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any


class _Process:
    """What this process has used so far, and what it may use."""

    def __init__(self, *, forked_after_use: bool = False) -> None:
        self.alone = forked_after_use
        self.used_workers = forked_after_use
        # Of linear algebra, whose number of threads is one for the whole process.
        self.lock = Lock()
        self.n_limiting = 0
        self.limit: Any = None
        #: for code with a state that all threads share, such as PyTorch's seed
        self.shared = Lock()


_process = _Process()


def _begin_in_child() -> None:
    global _process
    _process = _Process(forked_after_use=_process.used_workers)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_in_child)


def usable_jobs(n_jobs: int | None) -> int | None:
    """``n_jobs`` for OpenMP's threads or joblib's processes; 1 in a process forked from one that has used some."""
    from joblib import effective_n_jobs

    if _process.alone:
        return 1
    _process.used_workers |= effective_n_jobs(n_jobs) > 1
    return n_jobs


@contextmanager
def openmp() -> Iterator[None]:
    """A context for code of other libraries that shares work among OpenMP's threads, however many these are."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    if not _process.alone:
        _process.used_workers = True
        yield
    else:
        with threadpool_limits(limits=1, user_api="openmp"):
            yield


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """A context for code of other libraries whose state all threads share, such as the seed of PyTorch."""
    with _process.shared:
        yield


@contextmanager
def one_thread() -> Iterator[None]:
    """A context in which linear algebra and OpenMP run on one thread.

    Many small problems gain nothing from threads, and lose much where other processes are at work; and the last digits
    do not depend on how many there are. Of several Python threads in this context at once, the last one to leave it
    gives linear algebra its threads back; OpenMP counts for each of them.
    """
    from threadpoolctl import ThreadpoolController

    pools = ThreadpoolController()
    process = _process
    with pools.limit(limits=1, user_api="openmp"):
        with process.lock:
            if process.n_limiting == 0:
                process.limit = pools.limit(limits=1, user_api="blas")
            process.n_limiting += 1
        try:
            yield
        finally:
            with process.lock:
                process.n_limiting -= 1
                if process.n_limiting == 0:
                    process.limit.restore_original_limits()
