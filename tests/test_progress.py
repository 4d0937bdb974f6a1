"""Progress shows where somebody looks on, and nowhere else."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace

import pytest

from rankwise import _progress
from rankwise._progress import silent, track


@pytest.fixture
def impatient(monkeypatch):
    """Bars show at once."""
    monkeypatch.setattr(_progress, "_DELAY", 0.0)


@pytest.fixture
def notebook(monkeypatch):
    """What IPython gives a notebook; its stderr is not a terminal."""
    ipython = ModuleType("IPython")
    ipython.get_ipython = lambda: SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "ipywidgets", None)  # which not everybody has installed


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)


def slowly(items: str) -> Iterator[str]:
    """Slow enough that every step is drawn."""
    for item in items:
        time.sleep(0.11)
        yield item


def what_remains(written: str) -> str:
    """The last line as a terminal or a notebook shows it: a carriage return goes back to its start."""
    line = ""
    for part in written.split("\r"):
        line = part + line[len(part) :]
    return line.strip()


@pytest.mark.parametrize("place", ["notebook", "terminal"])
@pytest.mark.usefixtures("impatient")
def test_a_bar_shows_every_step_and_leaves_nothing(place, request, capsys):
    request.getfixturevalue(place)
    assert list(track(slowly("abc"), "growing <trees>", 3)) == ["a", "b", "c"]
    out, err = capsys.readouterr()
    assert out == ""
    assert all(f"growing <trees>: {done}" in err for done in (" 33%", " 67%", "100%"))
    assert "2/3" in err
    assert what_remains(err) == ""


@pytest.mark.usefixtures("impatient", "notebook")
def test_a_bar_is_cleared_if_work_stops_early(capsys):
    work = track(slowly("abc"), "growing", 3)
    next(work), next(work)
    assert what_remains(capsys.readouterr().err).startswith("growing:  33%")
    work.close()
    assert what_remains(capsys.readouterr().err) == ""


@pytest.mark.parametrize("place", ["notebook", "terminal"])
def test_short_work_shows_no_bar(place, request, capsys):
    request.getfixturevalue(place)
    assert list(track(slowly("abc"), "growing", 3)) == ["a", "b", "c"]
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("impatient", "notebook")
def test_a_bar_gives_way_to_another(capsys):
    with silent():
        assert list(track(slowly("abc"), "growing", 3)) == ["a", "b", "c"]
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("impatient", "notebook")
def test_pipes_and_shells_without_a_kernel_see_nothing(capsys):
    sys.modules["IPython"].get_ipython = lambda: None
    assert list(track("abc", "growing", 3)) == ["a", "b", "c"]
    sys.modules["IPython"].get_ipython = lambda: SimpleNamespace()
    assert list(track("abc", "growing", 3)) == ["a", "b", "c"]
    assert capsys.readouterr() == ("", "")
