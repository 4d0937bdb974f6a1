"""What does not fit into memory is refused before it begins, with a cure."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rankwise import Rankings, _memory
from rankwise.aggregation import bootstrap_consensus, borda, copeland, kemeny, mc4, preference_matrix, schulze
from rankwise.analysis import summary
from rankwise.embeddings import KemenyEmbedding
from rankwise.label_ranking import LabelwiseRanker

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


def test_so_are_tables_of_places(monkeypatch):
    monkeypatch.setattr(_memory, "free_bytes", lambda: 16 * 2**30)
    with pytest.raises(ValueError, match=r"the places of 100,000 items take about .* GiB .* 16 GiB are free; .*select"):
        summary(LISTS)


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


def test_the_limit_of_the_process_counts(monkeypatch):
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda which: (3 * 2**30, resource.RLIM_INFINITY))
    assert _memory.free_bytes() < 3 * 2**30


def test_pairs_of_rows_are_refused_before_they_are_written(monkeypatch):
    monkeypatch.setattr(_memory, "free_bytes", lambda: 2**30)
    y = np.vstack([np.arange(1.0, 2001), np.arange(2000.0, 0, -1)])
    ranker = LabelwiseRanker().fit([[0.0], [1.0]], y)
    with pytest.raises(ValueError, match=r"for each of 500 rows take about .* predict fewer rows at a time"):
        ranker.predict_pairwise(np.zeros((500, 1)))
    wide = np.vstack([np.arange(1.0, 20_001), np.arange(20_000.0, 0, -1)])
    embedding = KemenyEmbedding().fit(wide)
    with pytest.raises(ValueError, match=r"199,990,000 pairs of 20,000 items in 2 rankings take .*PositionEmbedding"):
        embedding.transform(wide)
