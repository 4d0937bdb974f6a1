"""What README and guides show is run: examples that lie are worse than none."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rankwise.cli.app import app

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


LIKE_DOCTESTS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
NEEDS = {"many-cores.md": "distributed"}  # what a page shows beyond the extra "test"


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """An empty folder with the tables that pages work on, and nothing else at hand."""
    for table in (ROOT / "docs").glob("*.csv"):
        shutil.copy(table, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RANKWISE_DATA", raising=False)  # pages speak of what is built in
    monkeypatch.setenv("COLUMNS", "80")


@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_in_pages_run(page):
    if page.name in NEEDS:
        pytest.importorskip(NEEDS[page.name], reason=f"{page.name} needs the extra 'dask'")
    plt = pytest.importorskip("matplotlib.pyplot")
    with plt.rc_context({"figure.max_open_warning": 0}):  # the page on plots draws every one
        result = doctest.testfile(str(page), module_relative=False, optionflags=LIKE_DOCTESTS, encoding="utf-8")
    plt.close("all")
    assert result.failed == 0


def commands_in(page):
    """Commands of ``console`` blocks, each with the output that stands below it."""
    blocks = re.findall(r"^```console\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return [tuple(command.split("\n", 1)) for block in blocks for command in re.split(r"^\$ ", block, flags=re.M)[1:]]


@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize("page", [page for page in PAGES if commands_in(page)], ids=lambda page: page.name)
def test_commands_in_pages_print_what_pages_show(page):
    for command, shown in commands_in(page):
        name, *arguments = shlex.split(command)
        assert name == "rankwise"
        if arguments[0] == "reproduce":  # of another distribution, whose tests run it
            continue
        run = CliRunner().invoke(app, arguments)
        assert run.exit_code == 0, f"{command}: {run.output}"
        assert doctest.OutputChecker().check_output(shown, run.stdout, LIKE_DOCTESTS), f"{command}:\n{run.stdout}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_and_pictures_in_pages_exist(page):
    targets = re.findall(r"\]\(([^)#\s]+)", page.read_text("utf-8"))
    assert [t for t in targets if "://" not in t and not (page.parent / t).exists()] == []


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_examples_run(example, tmp_path):
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    run = subprocess.run([sys.executable, str(example)], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_the_readme_gives_exactly_two_commands():
    commands = re.findall(r"^python3 -m venv .*$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)
    assert [command.split()[-1] for command in commands] == ["quickstart", ".venv/bin/pytest"]
