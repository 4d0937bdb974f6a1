"""Progress shows where somebody looks on, and nowhere else."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import pytest

from rankwise import _progress
from rankwise._progress import silent, track


@pytest.fixture
def impatient(monkeypatch):
    """Bars show at once, and every step."""
    monkeypatch.setattr(_progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(_progress, "_PAUSE", 0.0)


@pytest.fixture
def notebook(monkeypatch):
    """What IPython gives a notebook; holds what was displayed, in turn."""
    shown: list[str] = []

    def display(page, *, display_id):
        assert display_id
        shown.append(page)
        return SimpleNamespace(update=shown.append)

    ipython, displays = ModuleType("IPython"), ModuleType("IPython.display")
    ipython.get_ipython = lambda: SimpleNamespace(kernel=object())
    displays.HTML, displays.display = str, display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", displays)
    return shown


@pytest.mark.usefixtures("impatient")
def test_a_notebook_shows_a_bar_and_keeps_nothing_of_it(notebook, capsys):
    assert list(track("abc", "growing <trees>", 3)) == ["a", "b", "c"]
    first, *bars, last = notebook
    assert first == last == ""
    assert [bar.split("</progress>")[1] for bar in bars] == [" 1 of 3", " 2 of 3", " 3 of 3"]
    assert bars[1] == 'growing &lt;trees&gt; <progress value="2" max="3"></progress> 2 of 3'
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("impatient")
def test_a_bar_is_cleared_if_work_stops_early(notebook):
    work = track("abc", "growing", 3)
    next(work), next(work)
    work.close()
    assert len(notebook) == 3
    assert notebook[-1] == ""


def test_short_work_shows_no_bar(notebook):
    assert list(track("abc", "growing", 3)) == ["a", "b", "c"]
    assert notebook == []


@pytest.mark.usefixtures("impatient")
def test_a_bar_gives_way_to_another(notebook):
    with silent():
        assert list(track("abc", "growing", 3)) == ["a", "b", "c"]
    assert notebook == []


@pytest.mark.usefixtures("impatient")
def test_a_terminal_shows_a_bar(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    assert list(track("abc", "growing", 3)) == ["a", "b", "c"]
    out, err = capsys.readouterr()
    assert out == ""
    assert "growing" in err
    assert "67%" in err


@pytest.mark.usefixtures("impatient")
def test_pipes_and_shells_without_a_kernel_see_nothing(notebook, capsys):
    sys.modules["IPython"].get_ipython = lambda: None
    assert list(track("abc", "growing", 3)) == ["a", "b", "c"]
    sys.modules["IPython"].get_ipython = lambda: SimpleNamespace()
    assert list(track("abc", "growing", 3)) == ["a", "b", "c"]
    assert notebook == []
    assert capsys.readouterr() == ("", "")
