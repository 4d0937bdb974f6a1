"""Files that are written are old or new, never a part of either, whatever happens in between."""

from __future__ import annotations

import os
import resource
import signal
import stat
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import rankwise
from rankwise import Rankings
from rankwise._replacing import replacing
from rankwise._table_files import save_tables
from rankwise._tables import TextTable
from rankwise.data.formats.letor import write_letor
from rankwise.data.formats.preflib import write_preflib
from rankwise.data.formats.trec import write_run
from rankwise.label_ranking import NearestNeighborsRanker

RNG = np.random.default_rng(0)
X, POSITIONS = RNG.normal(size=(2000, 3)), np.argsort(RNG.random((2000, 4)), axis=1) + 1.0
ROWS = TextTable("Rows", "", ["a", "b"], [[f"name {i} {x}", str(i)] for i, x in enumerate(X[:, 0])])


def save_model(path):
    rankwise.save(NearestNeighborsRanker(3).fit(X, POSITIONS), path)


def save_run(path):
    write_run(path, np.arange(2000), [f"d{i}" for i in range(2000)], X[:, 0])


def save_table(path):
    save_tables([ROWS], path, facts={"x": X.tolist()})


WRITERS = {
    "data.letor": lambda path: write_letor(path, X, np.arange(2000) % 3, np.arange(2000) // 10),
    "data.soc": lambda path: write_preflib(Rankings(POSITIONS), path),
    "data.run": save_run,
    "table.csv": save_table,
    "table.json": save_table,
    "table.md": save_table,
    "table.xlsx": save_table,
    "model.rankwise": save_model,
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_leaves_the_old_file_whole(name, tmp_path):
    if name.endswith("xlsx"):
        pytest.importorskip("openpyxl", reason="openpyxl is not installed")
    path = tmp_path / name
    path.write_text("old", encoding="utf-8")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (256, limits[1]))
        with pytest.raises(OSError, match="File too large"):
            WRITERS[name](path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_text(encoding="utf-8") == "old"
    assert os.listdir(tmp_path) == [name]
    WRITERS[name](path)
    assert path.stat().st_size > 256
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_an_interrupt_leaves_the_old_file_whole(error, tmp_path):
    path = tmp_path / "old.csv"
    path.write_text("old", encoding="utf-8")

    def interrupted():
        with replacing(path) as beside:
            beside.write_text("half", encoding="utf-8")
            raise error

    with pytest.raises(error):
        interrupted()
    assert path.read_text(encoding="utf-8") == "old"
    assert os.listdir(tmp_path) == ["old.csv"]


def test_a_kill_leaves_the_old_file_whole_and_the_next_writer_cleans_up(tmp_path):
    path = tmp_path / "old.csv"
    path.write_text("old", encoding="utf-8")
    code = f"""
        from rankwise._replacing import replacing
        with replacing({str(path)!r}) as beside:
            beside.write_text("half")
            print("now", flush=True)
            input()
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout.readline() == "now\n"
        (left,) = set(tmp_path.iterdir()) - {path}
        ago = time.time() - 3600
        os.utime(left, (ago, ago))
        with replacing(path) as beside:  # not those of a writer that lives
            beside.write_text("new", encoding="utf-8")
        assert left.exists()
        writer.kill()
    assert path.read_text(encoding="utf-8") == "new"
    with replacing(path) as beside:
        beside.write_text("newer", encoding="utf-8")
    assert os.listdir(tmp_path) == ["old.csv"]
    assert path.read_text(encoding="utf-8") == "newer"


def test_permissions_stay_and_new_files_have_the_usual_ones(tmp_path):
    path = tmp_path / "model.rankwise"
    mask = os.umask(0o027)
    try:
        save_model(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o600)
        save_model(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    finally:
        os.umask(mask)


def test_a_link_stays_a_link(tmp_path):
    target, link = tmp_path / "target.letor", tmp_path / "link.letor"
    link.symlink_to(target)
    for text in ("new", "newer"):
        with replacing(link) as beside:
            beside.write_text(text, encoding="utf-8")
        assert link.is_symlink()
        assert target.read_text(encoding="utf-8") == text


def test_devices_are_written_directly(tmp_path):
    with replacing("/dev/null") as beside:
        assert str(beside) == "/dev/null"
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(IsADirectoryError):
        write_run(tmp_path, [1], ["d"], [0.5])
