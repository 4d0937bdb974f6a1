"""The command as a user runs it: output, errors, exit codes."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import rankwise
from tests.cli.running import problem
from tests.cli.running import run as run_here

ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "RANKWISE_DATA"} | {"COLUMNS": "100"}


def run(
    *arguments: str, cwd: Path | None = None, env: dict[str, str] | None = None, **options: Any
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-m", "rankwise", *arguments]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "encoding": "utf-8", **options}
    done = subprocess.run(command, cwd=cwd, env=ENVIRONMENT | (env or {}), timeout=120, **options)
    if done.stderr:
        done.stderr = without_compiling(done.stderr)
    return done


def without_compiling(said: str) -> str:
    """Without the line about loops that are compiled, which depends on what ran before."""
    return "".join(line for line in said.splitlines(keepends=True) if "compiling, once" not in line)


def chunks_until_closed(terminal: int) -> Iterator[bytes]:
    """What is written to a terminal; its end is an error of the operating system."""
    with contextlib.suppress(OSError):
        while chunk := os.read(terminal, 65536):
            yield chunk


def test_help_names_the_commands() -> None:
    done = run("--help")
    assert done.returncode == 0
    for command in ("quickstart", "describe", "consensus", "tree", "fit", "predict", "evaluate", "warmup"):
        assert f" {command} " in done.stdout


def test_help_imports_nothing_heavy() -> None:
    code = """
import sys
from rankwise.cli.app import app
for command in app.registered_commands:
    try:
        app([(command.name or command.callback.__name__).replace("_", "-"), "--help"])
    except SystemExit as end:
        assert end.code == 0, command
print(*sys.modules, file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert "rankwise.cli.app" in loaded
    assert not loaded & {"numpy", "scipy", "sklearn", "matplotlib", "numba", "pandas"}


def test_shells_complete_commands() -> None:
    words = {"_RANKWISE_COMPLETE": "complete_bash", "COMP_WORDS": "rankwise de", "COMP_CWORD": "1"}
    script = "import sys; from rankwise.cli.app import app; app(prog_name='rankwise')"
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, env=ENVIRONMENT | words, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["describe"]


def test_an_interrupt_ends_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("rankwise.cli.sources.load", interrupted)
    done = run_here("describe", "iris")
    assert (done.exit_code, done.stdout, done.stderr) == (130, "", "rankwise: interrupted\n")


@pytest.mark.parametrize("error", [KeyError("age"), TypeError("no\nnumber"), RuntimeError(), ZeroDivisionError("by 0")])
def test_a_problem_that_nobody_expects_is_a_line_that_says_so(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*arguments: object, **options: object) -> None:
        raise error

    monkeypatch.setattr("rankwise.cli.sources.load", failing)
    done = run_here("describe", "iris")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith(f"rankwise: unexpected problem: {type(error).__name__}")
    assert done.stderr.count("\n") == 1
    assert "--debug" in done.stderr
    with pytest.raises(type(error)):
        run_here("--debug", "describe", "iris")


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", "-"],
        ["predict", "model.rankwise", "-"],
        ["rank-train", "-"],
        ["rank-predict", "model.rankwise", "-"],
        ["kernel", "-"],
        ["tree", "-"],
        ["report", "-"],
        ["quickstart"],
    ],
)
def test_a_dash_is_no_file_to_write_to(arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = problem(*arguments, "-o", "-", code=2)
    assert "- is not a file; give the name of one" in words
    assert list(tmp_path.iterdir()) == []


def test_warnings_are_a_line_each() -> None:
    command = [sys.executable, "-m", "rankwise", "consensus", "-", "--json"]
    text = "rank_a,rank_b,rank_c,rank_d\n1,2,,\n,,1,2\n1,2,,\n"
    done = subprocess.run(command, input=text, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    said = without_compiling(done.stderr)
    assert said.startswith("rankwise: ")
    assert said.count("\n") == 1
    assert len(json.loads(done.stdout)["ranking"]) == 4


def test_version() -> None:
    assert run("--version").stdout.strip() == f"rankwise {rankwise.__version__}"


def test_the_console_script_is_the_same_command() -> None:
    script = Path(sys.executable).with_name("rankwise")
    if not script.exists():
        pytest.skip("the console script is not installed next to this interpreter")
    done = subprocess.run([script, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == run("--version").stdout


def test_quickstart_prints_tables_and_writes_the_report(tmp_path: Path) -> None:
    (tmp_path / "rankwise-quickstart.html").write_text("of an earlier try")
    done = run("quickstart", "--data", "wine", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr == ""
    for words in (
        "Data: wine",
        "178 (5 distinct)",
        "Consensus: Kemeny",
        "class_0",
        "optimal: no ranking costs less",
        "Leaderboard",
        "forest",
        "|-- od280",
    ):
        assert words in done.stdout
    assert done.stdout.endswith("Report with pictures: rankwise-quickstart.html\n")
    assert (tmp_path / "rankwise-quickstart.html").stat().st_size < 600_000


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    """Twelve people, some of whom leave a drink out."""
    rows = [f"{20 + i},{('Rome', 'Köln')[i % 2]},{'1,2,3' if i % 3 else '2,1,'}" for i in range(12)]
    path = tmp_path / "my survey.csv"
    path.write_text("age,city,rank_tea,rank_café,rank_milk\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_quickstart_reads_a_file(survey: Path) -> None:
    done = run("quickstart", "--data", survey.name, cwd=survey.parent)
    assert done.returncode == 0
    assert done.stderr == ""
    for words in ("Data: my survey.csv", "incomplete", "café", "age, city", "plackett-luce"):
        assert words in done.stdout
    assert "--data &#39;my survey.csv&#39;" in (survey.parent / "rankwise-quickstart.html").read_text("utf-8")


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_terminal_without_the_letters_gets_the_results_all_the_same(form: list[str], survey: Path) -> None:
    ascii_alone = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = run("quickstart", "--data", survey.name, *form, cwd=survey.parent, env=ascii_alone)
    assert done.returncode == 0
    assert done.stderr == ""
    if form:
        ranking = json.loads(done.stdout)["consensus"]["ranking"]
        assert {place["item"] for place in ranking} == {"tea", "café", "milk"}
    else:
        assert "caf?" in done.stdout


def test_the_report_does_not_replace_the_data(survey: Path) -> None:
    before = survey.read_bytes()
    assert "would replace the data" in problem("quickstart", "--data", survey, "--out", survey)
    assert survey.read_bytes() == before


def test_a_wrong_data_folder_leaves_the_shipped_data(tmp_path: Path) -> None:
    done = run("quickstart", cwd=tmp_path, env={"RANKWISE_DATA": "/nope"})
    assert done.returncode == 0
    assert "150 (5 distinct)" in done.stdout
    assert "RANKWISE_DATA names /nope" in done.stdout


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
    assert b"plackett-luce" in seen
    assert result["report"] == str(report)
    assert result["seed"] == 3
    assert result["description"]["n_rankings"] == 150
    assert {standing["item"] for standing in result["consensus"]["ranking"]} == {"setosa", "versicolor", "virginica"}
    assert len(result["leaderboard"]) == 5
    assert "petal" in result["tree"]
    assert report.exists()


@pytest.mark.parametrize("name", ["[/bold]", "no\nsuch"])
def test_an_unknown_data_set_is_one_line_that_says_what_there_is(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RANKWISE_DATA", raising=False)
    words = problem("quickstart", "--data", name)
    assert words.startswith("rankwise: there is no file")
    assert ("data sets are" in words) == ("/" not in name)
    assert ("iris" in words) == ("/" not in name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("out", "message"),
    [("missing/report.html", "there is no folder"), (".", "is a folder"), ("sealed/report.html", "permission denied")],
)
def test_a_report_that_cannot_be_written_is_told_at_once(
    out: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sealed").mkdir(mode=0o500)
    if out.startswith("sealed") and os.access(tmp_path / "sealed", os.W_OK):
        pytest.skip("this user may write everywhere")
    words = problem("quickstart", "--out", out)
    assert message in words
    assert "--out" in words


def test_debug_shows_the_traceback(tmp_path: Path) -> None:
    done = run("--debug", "quickstart", "--out", str(tmp_path))
    assert done.returncode == 1
    assert "Traceback" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [["nosuch"], ["--sed"], ["describe"], ["quickstart", "--sed", "1"], ["quickstart", "--seed", "-1"]],
)
def test_mistakes_in_the_command_exit_with_2_and_one_line(arguments: list[str]) -> None:
    line = problem(*arguments, code=2).strip()
    assert "\n" not in line
    assert line.endswith("--help")


@pytest.mark.slow
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_closed_pipe_is_no_drama(form: list[str], tmp_path: Path) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = run("quickstart", *form, cwd=tmp_path, stdout=write_end)
    os.close(write_end)
    assert (done.stderr, done.returncode) == ("", 141)
    assert (tmp_path / "rankwise-quickstart.html").exists()


@pytest.mark.parametrize(
    "arguments", [["--help"], ["fit", "--help"], ["describe", "iris"], ["describe", "iris", "--json"], ["tree", "iris"]]
)
def test_a_closed_pipe_ends_every_command_alike(arguments: list[str]) -> None:
    command = f"{shlex.join([sys.executable, '-m', 'rankwise', *arguments])} | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], env=ENVIRONMENT, capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("141\n", "")


def test_tables_are_neither_wrapped_nor_padded_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "drinks.csv").write_text(f"rank_tea,rank_{'milk and ' * 6}honey\n" + 12 * "2,1\n", encoding="utf-8")
    done = run("consensus", "drinks.csv", cwd=tmp_path, env={"COLUMNS": "30"})
    # The interval is a number on the right of its column; no line is filled up to the width of the terminal.
    assert re.search(r"^\* +1  (milk and ){6}honey +1$", done.stdout, re.MULTILINE)
    assert not re.search(" $", done.stdout, re.MULTILINE)
    assert "mean Kendall distance  0.000 (0 is the same order, 1 the reverse)\n" in done.stdout


@pytest.mark.parametrize("cache_problem", ["", "it cannot be kept"])
def test_warmup_says_so_if_the_cache_cannot_be_kept(
    cache_problem: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from rankwise.cli import warmup_command
    from rankwise.cli.app import app

    calls: list[str] = []
    monkeypatch.setattr(
        warmup_command, "STEPS", {"one": lambda: calls.append("one"), "two": lambda: calls.append("two")}
    )
    monkeypatch.setattr(warmup_command, "cache_problem", lambda: cache_problem)
    assert app(["warmup"], standalone_mode=False) in (None, 0)
    assert calls == ["one", "two"]
    captured = capsys.readouterr()
    assert captured.out == ("" if cache_problem else "Compiled: one, two.\n")
    assert captured.err == (f"rankwise: {cache_problem}\n" if cache_problem else "")
    assert app(["warmup", "--json"], standalone_mode=False) in (None, 0)
    captured = capsys.readouterr()
    facts = json.loads(captured.out)
    assert (facts["steps"], facts["kept"]) == (["one", "two"], not cache_problem)
    assert captured.err == (f"rankwise: {cache_problem}\n" if cache_problem else "")
