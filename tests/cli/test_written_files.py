"""What commands print and write: names are text, files are not lost, streams may be closed, no core is no number."""

from __future__ import annotations

import csv
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from rankwise.cli import in_and_out
from tests.cli.running import problem, run

# A title for the window, colors, a change of direction, and a color in one byte.
HOSTILE = ["\x1b]0;title\x07\x1b[31mred", "\u202egnp.exe\u2066x", "\x9b31mc1", "=cmd|'/c calc'!A1"]
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    path = tmp_path / "hostile.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*HOSTILE, "age", "sex\x1b[1m"])
        for row in range(12):
            places = [1, 2, 3, 4] if row % 3 else [4, 3, 2, 1]
            writer.writerow([*places, 20 + row, "f\u202e" if row % 2 else "m\x1b[5m"])
    return path


@pytest.mark.parametrize(
    "arguments",
    [
        ["describe", "FILE"],
        ["consensus", "FILE", "--method", "borda", "--bootstrap", "0"],
        ["tree", "FILE"],
        ["describe", "FILE", "--by", "sex\x1b[1m"],
        ["describe", "FILE", "--weight", "\x1b[31mred"],
        ["describe", "no\x1b[31m.csv"],
        ["\x1b[31m"],
    ],
)
def test_names_are_printed_as_text(arguments: list[str], hostile: Path) -> None:
    done = run(*(str(hostile) if argument == "FILE" else argument for argument in arguments))
    assert CONTROL.search(done.stdout + done.stderr) is None
    assert "Traceback" not in done.stderr


def test_tracebacks_are_text() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rankwise", "--debug", "describe", "no\x1b[31m.csv"], capture_output=True, check=False
    )
    assert done.returncode == 1
    assert b"Traceback" in done.stderr
    assert b"\x1b" not in done.stderr


def test_names_are_text_on_a_terminal(hostile: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "rankwise", "consensus", str(hostile), "--method", "borda", "--bootstrap", "0"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                chunk = os.read(ours, 65536)
            except OSError:  # the end, on Linux
                break
            if not chunk:
                break
            shown += chunk
    assert process.returncode == 0
    os.close(ours)
    text = STYLE.sub("", shown.decode("utf-8").replace("\r\n", "\n"))
    assert r"\x1b[31mred" in text.replace("\n", "")
    assert CONTROL.search(text) is None


def test_the_report_holds_no_control_characters(hostile: Path, tmp_path: Path) -> None:
    assert run("report", hostile, "-o", tmp_path / "report.html").exit_code == 0
    page = (tmp_path / "report.html").read_text("utf-8")
    assert r"\x1b[31mred" in page
    assert CONTROL.search(page) is None


def test_no_spreadsheet_runs_names(hostile: Path, tmp_path: Path) -> None:
    model, new, out = tmp_path / "m.rankwise", tmp_path / "new.csv", tmp_path / "out.csv"
    assert run("fit", hostile, "--model", "tree", "-o", model).exit_code == 0
    new.write_text("age,sex\x1b[1m\n30,f\u202e\n", encoding="utf-8")
    assert run("predict", model, new, "-o", out).exit_code == 0
    assert out.read_text("utf-8").split(",")[3].startswith("'=cmd")
    assert run("predict", model, new, "-o", out, "--force", "--keep-formulas").exit_code == 0
    assert out.read_text("utf-8").split(",")[3].startswith("=cmd")
    members = tmp_path / "members.csv"
    assert run("segments", hostile, "-n", "1", "--bootstrap", "0", "--members", members).exit_code == 0
    vectors = tmp_path / "vectors.csv"
    assert run("kernel", hostile, "--embed", "-o", vectors).exit_code == 0
    for path in (members, vectors):
        with path.open(encoding="utf-8", newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert not any(cell.startswith(("=", "@", "\t")) for cell in cells)


def test_files_are_replaced_with_force_only(drinks: Path, tmp_path: Path) -> None:
    out = tmp_path / "drinks.json"
    assert run("describe", drinks, "-o", out).exit_code == 0
    out.write_text("mine")
    assert "exists; replace it with --force" in problem("describe", drinks, "-o", out)
    assert out.read_text() == "mine"
    assert run("describe", drinks, "-o", out, "--force").exit_code == 0
    assert out.read_text() != "mine"


def test_pictures_of_an_earlier_report_are_replaced_with_force_only(drinks: Path, tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "mine.png").write_text("mine")
    said = problem("report", drinks, "-o", tmp_path / "r.html", "--pictures", tmp_path / "pictures")
    assert "mine.png exists; replace it with --force" in said


@pytest.mark.parametrize("answer", [True, False])
def test_somebody_at_a_terminal_is_asked(answer: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal:
        def isatty(self) -> bool:
            return True

    asked = []
    monkeypatch.setattr(in_and_out.sys, "stdin", Terminal())
    monkeypatch.setattr(in_and_out.sys, "stderr", Terminal())
    monkeypatch.setattr(in_and_out.typer, "confirm", lambda text, err: asked.append(text) or answer)
    path = tmp_path / "old.csv"
    path.touch()
    in_and_out.allow_replacing(False)
    if answer:
        in_and_out.check_writable(path)
    else:
        with pytest.raises(OSError, match="is as it was"):
            in_and_out.check_writable(path)
    assert asked == [f"{path} exists. Replace it?"]


@pytest.mark.parametrize("closed", [">&-", "<&- >&- 2>&-"])
def test_streams_may_be_closed(closed: str, drinks: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    command = f"{sys.executable} -m rankwise describe {drinks} -o {out} {closed}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert out.read_text().startswith("{")


def test_nothing_comes_from_a_closed_standard_input() -> None:
    done = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m rankwise describe - <&-"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("rankwise: standard input: the file is empty")


def test_no_core_is_no_number_of_jobs(drinks: Path) -> None:
    assert "0 cores do no work" in problem("evaluate", drinks, "--jobs", "0", code=2)
