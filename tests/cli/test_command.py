"""The command as a user runs it: output, errors, exit codes."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import rankwise

ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "RANKWISE_DATA"} | {"COLUMNS": "100"}


def run(*arguments: str, cwd: Path | None = None, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-m", "rankwise", *arguments]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run(command, cwd=cwd, env=ENVIRONMENT, text=True, timeout=120, **options)


def chunks_until_closed(terminal: int) -> Iterator[bytes]:
    """What is written to a terminal; its end is an error of the operating system."""
    with contextlib.suppress(OSError):
        while chunk := os.read(terminal, 65536):
            yield chunk


def test_help_names_the_commands() -> None:
    done = run("--help")
    assert done.returncode == 0
    assert "quickstart" in done.stdout
    assert "warmup" in done.stdout


def test_help_imports_nothing_heavy() -> None:
    code = """
import sys
from rankwise.cli.app import app
try:
    app(["quickstart", "--help"])
except SystemExit:
    print(*sys.modules, file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert "rankwise.cli.app" in loaded
    assert not loaded & {"numpy", "scipy", "sklearn", "matplotlib", "numba", "pandas"}


def test_version() -> None:
    assert run("--version").stdout.strip() == f"rankwise {rankwise.__version__}"


def test_the_console_script_is_the_same_command() -> None:
    script = Path(sys.executable).with_name("rankwise")
    if not script.exists():
        pytest.skip("the console script is not installed beside this interpreter")
    done = subprocess.run([script, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == run("--version").stdout


def test_quickstart_prints_tables_and_writes_the_report(tmp_path: Path) -> None:
    done = run("quickstart", "--data", "wine", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr == ""
    for words in ("Data: wine", "178 (5 distinct)", "Consensus", "class_0", "Agreement", "Baselines", "random forest"):
        assert words in done.stdout
    assert done.stdout.endswith("Report with pictures: rankwise-quickstart.html\n")
    assert (tmp_path / "rankwise-quickstart.html").stat().st_size < 500_000


def test_json_goes_to_stdout_and_progress_to_the_terminal(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    report = tmp_path / "iris.html"
    command = [sys.executable, "-m", "rankwise", "quickstart", "--json", "--seed", "3", "--out", str(report)]
    with subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=theirs) as process:
        os.close(theirs)
        seen = b"".join(chunks_until_closed(ours))
        result = json.loads(process.communicate()[0])
    os.close(ours)
    assert process.returncode == 0
    assert b"random forest" in seen
    assert result["report"] == str(report)
    assert result["seed"] == 3
    assert result["description"]["n_rankings"] == 150
    assert {standing["item"] for standing in result["consensus"]} == {"setosa", "versicolor", "virginica"}
    assert len(result["baselines"]) == 3
    assert report.exists()


@pytest.mark.parametrize("name", ["[/bold]", "no\nsuch"])
def test_an_unknown_data_set_is_one_line_that_says_what_there_is(name: str, tmp_path: Path) -> None:
    done = run("quickstart", "--data", name, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("rankwise: no label ranking data set is named")
    assert "iris" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("out", "message"),
    [("missing/report.html", "there is no folder"), (".", "is a folder"), ("sealed/report.html", "permission denied")],
)
def test_a_report_that_cannot_be_written_is_told_at_once(out: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "sealed").mkdir(mode=0o500)
    if out.startswith("sealed") and os.access(tmp_path / "sealed", os.W_OK):
        pytest.skip("this user may write everywhere")
    done = run("quickstart", "--out", out, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert message in done.stderr
    assert "--out" in done.stderr


def test_debug_shows_the_traceback(tmp_path: Path) -> None:
    done = run("--debug", "quickstart", "--out", str(tmp_path))
    assert done.returncode == 1
    assert "Traceback" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [["nosuch"], ["quickstart", "--sed", "1"], ["quickstart", "--seed", "-1"], ["quickstart", "--seed", "x"]],
)
def test_mistakes_in_the_command_exit_with_2(arguments: list[str]) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_closed_pipe_is_no_drama(form: list[str], tmp_path: Path) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = run("quickstart", *form, cwd=tmp_path, stdout=write_end)
    os.close(write_end)
    assert done.stderr == ""
    assert (tmp_path / "rankwise-quickstart.html").exists()
