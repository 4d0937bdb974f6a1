"""What does not fit into memory is refused before it begins, with a cure."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rankwise import Rankings, _memory
from rankwise.aggregation import bootstrap_consensus, borda, copeland, kemeny, mc4, preference_matrix, schulze

LISTS = Rankings(np.vstack([np.arange(1.0, 100_001), np.arange(100_000.0, 0, -1)]))


@pytest.mark.parametrize(
    "work",
    [kemeny, copeland, schulze, mc4, preference_matrix, Rankings.pair_counts, bootstrap_consensus],
    ids=lambda work: work.__name__,
)
def test_a_hundred_thousand_items_are_refused_where_pairs_are_counted(work, monkeypatch):
    monkeypatch.setattr(_memory, "free_bytes", lambda: 16 * 2**30)
    with pytest.raises(
        ValueError, match=r"the pairs of 100,000 items take about .* GiB .* 16 GiB are free; .*aggregate_lists"
    ):
        work(LISTS)


def test_what_counts_no_pairs_takes_them(monkeypatch):
    monkeypatch.setattr(_memory, "free_bytes", lambda: 16 * 2**30)
    assert np.array_equal(borda(LISTS), np.ones(100_000))


def test_small_work_and_unknown_systems_are_not_refused(monkeypatch):
    monkeypatch.setattr(_memory, "free_bytes", lambda: 0)
    _memory.check_memory_of_pairs(2000, 6)
    with pytest.raises(ValueError, match="0 GiB are free"):
        _memory.check_memory_of_pairs(3000, 6)
    monkeypatch.setattr(_memory, "free_bytes", lambda: None)
    _memory.check_memory_of_pairs(10**6, 6)


def test_free_memory_is_what_the_system_and_its_container_leave(monkeypatch):
    files = {"/proc/meminfo": "MemTotal: 9 kB\nMemAvailable: 5 kB\n"}

    def read(path: Path) -> str:
        if str(path) not in files:
            raise FileNotFoundError(path)
        return files[str(path)]

    monkeypatch.setattr(Path, "read_text", read)
    assert _memory.free_bytes() == 5 * 1024
    files |= {"/sys/fs/cgroup/memory.max": "max\n", "/sys/fs/cgroup/memory.current": "1\n"}
    assert _memory.free_bytes() == 5 * 1024
    files["/sys/fs/cgroup/memory.max"] = "1001\n"
    assert _memory.free_bytes() == 1000
    files.clear()
    assert _memory.free_bytes() > 2**20
