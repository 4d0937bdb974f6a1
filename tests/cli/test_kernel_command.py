"""rankwise kernel: the matrices are those of the library, and what does not fit is reported before it is tried."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankwise import Rankings, read_rankings
from rankwise.cli import kernel_command
from rankwise.data import write_preflib
from rankwise.kernels import graph_cut_kernel, kendall_kernel, mallows_kernel
from tests.cli.running import problem, run, run_json

SURVEY = "age,rank_tea,rank_café,rank_milk,rank_juice\n31,1,2,3,4\n47,4,3,2,1\n25,2,1,3,\n60,1,2,2,3\n"
# In another order, and with an item that nobody ranks.
ITEMS = "item,sweet,warm\nmilk,0.2,1\njuice,0.9,0\nwine,0.5,0\ntea,0.1,2\ncafé,0.1,2.5\n"


@pytest.fixture
def survey(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "survey.csv").write_text(SURVEY, encoding="utf-8")
    (tmp_path / "items.csv").write_text(ITEMS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return "survey.csv"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], kendall_kernel),
        (["--normalize"], lambda rankings: kendall_kernel(rankings, normalize=True)),
        (["--kernel", "mallows", "--scale", "0.3"], lambda rankings: mallows_kernel(rankings, scale=0.3)),
        (["--kernel", "graph-cut", "--jobs", "2"], lambda rankings: graph_cut_kernel(rankings, random_state=0)),
        (["--float32"], lambda rankings: kendall_kernel(rankings, dtype="float32")),
    ],
)
@pytest.mark.parametrize("name", ["gram.npy", "gram.csv"])
def test_the_matrix_is_that_of_the_library(options: list[str], expected: Any, name: str, survey: str) -> None:
    done = run("kernel", survey, "-o", name, *options)
    assert (done.exit_code, done.stderr) == (0, "")
    gram = np.load(name) if name.endswith(".npy") else np.loadtxt(name, delimiter=",")
    np.testing.assert_array_equal(gram, expected(read_rankings(survey)))
    if name.endswith(".npy"):
        assert gram.dtype == ("float32" if "--float32" in options else "float64")


def test_small_matrices_go_to_files_for_people(survey: str, monkeypatch: pytest.MonkeyPatch) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="workbooks are written by openpyxl")
    gram = kendall_kernel(read_rankings(survey))
    for name in ("gram.json", "gram.xlsx", "gram.md"):
        assert run("kernel", survey, "-o", name).exit_code == 0
    np.testing.assert_array_equal(json.loads(Path("gram.json").read_text())["values"], gram)
    sheets = openpyxl.load_workbook("gram.xlsx")
    np.testing.assert_allclose([row[1:] for row in list(sheets["Matrix"].values)[1:]], gram)
    assert "## Kernel: kendall" in Path("gram.md").read_text()
    monkeypatch.setattr(kernel_command, "_MOST_CELLS", gram.size - 1)
    assert "write .npy or .csv instead" in problem("kernel", survey, "-o", "large.xlsx")


@pytest.mark.parametrize(
    ("options", "columns"),
    [
        (["--kernel", "kendall"], ["tea > café", "tea > milk"]),
        (["--kernel", "graph-cut"], ["tea", "café", "milk", "juice"]),
        (["--kernel", "graph-cut", "--features", "items.csv"], ["tea", "café", "milk", "juice"]),
    ],
)
def test_inner_products_of_vectors_are_the_matrix(options: list[str], columns: list[str], survey: str) -> None:
    assert run("kernel", survey, "-o", "gram.npy", *options).exit_code == 0
    for name in ("vectors.npy", "vectors.csv"):
        assert run("kernel", survey, "-o", name, "--embed", *options).exit_code == 0
    vectors = np.load("vectors.npy")
    np.testing.assert_allclose(vectors @ vectors.T, np.load("gram.npy"), atol=1e-12)
    header, *rows = Path("vectors.csv").read_text(encoding="utf-8").splitlines()
    assert header.split(",")[: len(columns)] == columns
    np.testing.assert_array_equal([row.split(",") for row in rows], vectors.astype(str))


@pytest.mark.parametrize("standardize", [False, True])
def test_features_are_found_by_the_names_of_the_items(standardize: bool, survey: str) -> None:
    options = ["--standardize"] if standardize else []
    words = ("kernel", survey, "--kernel", "graph-cut", "--features", "items.csv", "-o", "gram.npy")
    assert run(*words, *options).exit_code == 0
    features = np.array([[0.1, 2], [0.1, 2.5], [0.2, 1], [0.9, 0]])
    if standardize:
        features /= features.std(axis=0)
    expected = graph_cut_kernel(read_rankings(survey), features=features, random_state=0)
    np.testing.assert_allclose(np.load("gram.npy"), expected, atol=1e-12)


def test_the_summary(survey: str) -> None:
    result = run_json("kernel", survey, "--kernel", "mallows", "--scale", "0.3")
    gram = mallows_kernel(read_rankings(survey), scale=0.3)
    others = gram[~np.eye(4, dtype=bool)]
    assert result["shape"] == [4, 4]
    assert result["n_bytes"] == 128
    assert result["kind"] == "incomplete"
    assert result["out"] is None
    assert result["with_itself"] == {"min": 1.0, "mean": 1.0, "max": 1.0}
    assert result["with_another"] == pytest.approx({"min": others.min(), "mean": others.mean(), "max": others.max()})
    text = run("kernel", survey, "--kernel", "mallows", "--scale", "0.3").stdout
    for words in ("Kernel: mallows", "4 of 4 items, incomplete", "4 x 4, 128 bytes", f"mean {others.mean():.4g}"):
        assert words in text


def test_rankings_that_come_several_times_are_one_row(survey: str) -> None:
    write_preflib(Rankings([[1, 2], [2, 1]], weights=[5, 3]), "votes.soc")
    text = run("kernel", "votes.soc").stdout
    assert "2 x 2" in text
    assert "weigh 8 together" in text


def test_one_ranking(survey: str) -> None:
    Path("one.csv").write_text("rank_tea,rank_milk\n1,2\n")
    assert run_json("kernel", "one.csv")["shape"] == [1, 1]


def test_what_does_not_fit_is_refused_before_it_is_tried(survey: str) -> None:
    message = problem("kernel", survey, "--max-memory", "1e-7")
    for words in ("128 bytes", "--embed (vectors, 192 bytes)", "graph-cut --embed (vectors, 128 bytes)", "--float32"):
        assert words in message
    message = problem("kernel", survey, "--max-memory", "1e-9", "--kernel", "graph-cut", "--embed", "--float32")
    assert "the vectors of 4 rankings would take 64 bytes" in message
    assert "--embed (" not in message
    assert "--float32" not in message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--kernel", "cosine"], "graph-cut"),
        (["--kernel", "mallows", "--embed"], "no vectors"),
        (["--features", "items.csv"], "--kernel graph-cut"),
        (["--standardize"], "--features"),
        (["--kernel", "mallows", "--normalize"], "--normalize"),
        (["-o", "gram.txt"], ".md or .npy"),
        (["--scale", "0.5"], "--kernel mallows"),
        (["--kernel", "mallows", "--scale", "-1"], "--scale"),
    ],
)
def test_mistakes_in_the_command(options: list[str], message: str, survey: str) -> None:
    assert message in problem("kernel", survey, *options, code=2)


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ("item,sweet\ntea,1\n", "'café', 'milk', 'juice', but the column 'item' does not"),
        ("item,sweet,taste\ntea,1,good\n", "'taste' do not hold numbers"),
        ("item\ntea\n", "only one column"),
        (ITEMS.replace("juice,0.9,0", "juice,,0"), "line 3, column 2: the cell is empty"),
        ("", "is empty"),
    ],
)
def test_bad_features_name_the_place(items: str, message: str, survey: str) -> None:
    Path("items.csv").write_text(items, encoding="utf-8")
    assert message in problem("kernel", survey, "--kernel", "graph-cut", "--features", "items.csv")


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "is empty"), ("rank_tea,rank_milk\n1,x\n", "line 2"), ("rank_tea\n1\n", "one item")],
)
def test_bad_rankings(text: str, message: str, survey: str) -> None:
    Path("bad.csv").write_text(text)
    assert message in problem("kernel", "bad.csv", "--read", "prefix=rank_")


def test_outputs_that_cannot_be_written(survey: str) -> None:
    assert "there is no folder" in problem("kernel", survey, "-o", "no/gram.npy")
    features = ("--kernel", "graph-cut", "--features", "items.csv")
    assert "would replace" in problem("kernel", survey, *features, "-o", "items.csv")


def test_as_a_process_from_a_pipe(survey: str) -> None:
    command = [sys.executable, "-W", "error", "-m", "rankwise", "kernel", "-", "-o", "gram.npy", "--json"]
    done = subprocess.run(command, input=SURVEY.encode(), capture_output=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["out"] == "gram.npy"
    np.testing.assert_array_equal(np.load("gram.npy"), kendall_kernel(read_rankings(survey)))
