"""What the guide shows of ``rankwise reproduce`` is what it prints."""

from __future__ import annotations

import doctest
import shlex

import pytest
from typer.testing import CliRunner

from rankwise.cli.app import app
from tests.test_documents import LIKE_DOCTESTS, ROOT, commands_in

SHOWN = [found for found in commands_in(ROOT / "docs" / "command-line.md") if "rankwise reproduce" in found[0]]


@pytest.mark.parametrize(("command", "output"), SHOWN)
def test_the_guide_shows_what_the_command_prints(command, output, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    run = CliRunner().invoke(app, shlex.split(command)[1:])
    assert run.exit_code == 0, run.output
    assert doctest.OutputChecker().check_output(output, run.stdout, LIKE_DOCTESTS), run.stdout


def test_the_guide_shows_an_experiment():
    assert len(SHOWN) == 1
