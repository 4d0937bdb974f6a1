"""rankwise screen: the table is that of the library, under the names of the columns."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rankwise.datasets import make_symbolic_regression
from rankwise.screening import ConcordanceSelector, SymbolicFeatures, concordant_divergence
from tests.cli.running import problem, run, run_json

X, Y, _ = make_symbolic_regression(noise=0.1, random_state=0)


@pytest.fixture
def beams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    rows = [
        [*map(repr, map(float, row)), f"n{i}", repr(float(load))]
        for i, (row, load) in enumerate(zip(X, Y, strict=True))
    ]
    lines = [["width", "height", "depth", "name", "load"], *rows]
    (tmp_path / "beams.csv").write_text("".join(",".join(line) + "\n" for line in lines))
    monkeypatch.chdir(tmp_path)
    return "beams.csv"


def test_expressions_have_the_names_of_the_columns(beams: str) -> None:
    result = run_json("screen", beams, "--y", "load", "--architecture", "ub", "--top", "5")
    selector = ConcordanceSelector(5, features=SymbolicFeatures("ub")).fit(X, Y)
    names = [row["expression"] for row in result["expressions"]]
    expected = selector.get_feature_names_out(["width", "height", "depth"]).tolist()
    assert names == [name.removeprefix("2*") for name in expected]  # the simplest of those that order alike
    assert names[0] == "depth^3*width"
    for key, column in (("T0", "divergence"), ("z", "z"), ("p_value", "p_value"), ("adjusted", "adjusted")):
        assert [row[key] for row in result["expressions"]] == selector.table_[column].tolist()
    assert result["n_expressions"] == 42
    assert result["notes"] == ["columns of text, dropped: 'name'"]


def test_no_relation_is_the_mean_difference(beams: str) -> None:
    result = run_json("screen", beams, "--y", "load")
    differences = abs(Y[:, None] - Y)
    assert result["unrelated"] == pytest.approx(differences.sum() / (len(Y) * (len(Y) - 1)))
    first = result["expressions"][0]
    assert first["relative"] == pytest.approx(first["T0"] / result["unrelated"])


def test_columns_as_they_are(beams: str) -> None:
    result = run_json("screen", beams, "--y", "load", "--architecture", "none", "--x", "height,depth", "--one-sided")
    assert [row["expression"] for row in result["expressions"]] == ["depth", "height"]
    expected = concordant_divergence(X[:, [2, 1]], Y)
    assert [row["T0"] for row in result["expressions"]] == pytest.approx(expected.tolist(), rel=1e-9)


def test_a_model(beams: str) -> None:
    words = (beams, "--y", "load", "--architecture", "ub", "--top", "5", "--terms", "2")
    result = run_json("screen", *words)
    assert result["model"]["formula"] == "load = 10.01 + 2.023*width^3 + 4.952*depth"
    assert len(result["expressions"]) == 5  # whatever the number of terms
    assert result["model"]["formula"] in run("screen", *words).stdout
    columns = run_json("screen", beams, "--y", "load", "--architecture", "none", "--terms", "1")
    assert columns["model"]["formula"].endswith("*depth")


def test_operators_sides_and_copies(beams: str) -> None:
    words = (beams, "--y", "load", "--x", "depth", "--architecture", "u", "--unary", "id,cube,exp")
    assert [row["expression"] for row in run_json("screen", *words)["expressions"]] == ["depth"]
    assert len(run_json("screen", *words, "--copies")["expressions"]) == 3
    binary = run_json(
        "screen", beams, "--y", "load", "--architecture", "b", "--binary", "-,|-|", "--pool", "cumulative"
    )
    assert any(" - " in row["expression"] for row in binary["expressions"])


def test_the_table_and_the_csv_have_the_numbers_of_the_json(beams: str) -> None:
    rows = run_json("screen", beams, "--y", "load", "--top", "3")["expressions"]
    text = run("screen", beams, "--y", "load", "--top", "3", "-o", "out.csv").stdout
    with open("out.csv", encoding="utf-8", newline="") as file:
        written = list(csv.DictReader(file))
    texts = ("expression", "order", "fit")
    assert rows == [
        {key: value if key in texts else json.loads(value) for key, value in line.items()} for line in written
    ]
    for row in rows:
        assert row["expression"] in text
        assert f"{row['T0']:.4g}" in text
        assert f"{row['relative']:.1%}" in text


@pytest.mark.parametrize("command", ["screen", "formula"])
def test_the_suffix_says_what_is_written(command: str, beams: str) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="workbooks are written by openpyxl")
    words = (command, beams, "--y", "load")
    for name in ("out.xlsx", "out.json", "out.md"):
        assert run(*words, "-o", name).exit_code == 0
    facts = run_json(*words)
    assert json.loads(Path("out.json").read_text()) == {key: facts[key] for key in facts if key != "out"}
    sheet = openpyxl.load_workbook("out.xlsx").worksheets[0]
    best = facts["expressions"][0]["expression"] if command == "screen" else facts["formulas"][0]["formula"]
    assert best in str(list(sheet.values))
    assert best in Path("out.md").read_text()
    assert "does not end in .csv, .xlsx, .json or .md" in problem(*words, "-o", "out.txt", code=2)


def test_kepler_and_the_column_that_numbers_the_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    planets = "Mercury 0.387 0.2408,Venus 0.723 0.6152,Earth 1.0 1.0,Mars 1.524 1.8808,Jupiter 5.203 11.862,"
    planets += "Saturn 9.537 29.447,Uranus 19.19 84.017,Neptune 30.07 164.79"
    lines = [",".join([str(i), *planet.split()]) for i, planet in enumerate(planets.split(","), 1)]
    table = "\n".join(["sample,planet,axis,years", *lines, ""])
    screened = run_json("screen", "-", "--y", "years", "--terms", "1", "--top", "6", stdin=table)
    assert screened["model"]["formula"] == "years = 0.9994*axis^1.5"
    assert screened["inputs"] == ["axis"]
    assert screened["notes"][1].startswith("columns that only number the rows, dropped: 'sample'")
    named = run_json("screen", "-", "--y", "years", "--x", "sample,axis", stdin=table)
    assert named["inputs"] == ["sample", "axis"]
    found = run_json("formula", "-", "--y", "years", stdin=table)
    assert found["formula"] == "years = 0.9994*axis^1.5"
    assert "def formula(axis):" in found["python"]
    shown = run("formula", "-", "--y", "years", "-o", "laws.csv", stdin=table).stdout
    assert shown.startswith("years = 0.9994*axis^1.5\n")
    assert "one term is enough" in shown
    with open("laws.csv", encoding="utf-8", newline="") as file:
        assert [row["formula"] for row in csv.DictReader(file)] == [row["formula"] for row in found["formulas"]]


def test_columns_that_say_nothing_are_dropped_before_missing_values_are_counted() -> None:
    rows = [(9 - i, "" if i in (2, 5) else i + 1, 4, "" if i == 3 else 4, i * 1.5 + 1, i * 3 + 2.0) for i in range(9)]
    text = "\n".join(["down,gaps,same,some,x,y", *(",".join(map(str, row)) for row in rows), ""])
    found = run_json("formula", "-", "--y", "y", stdin=text)
    assert found["formula"] == "y = 2*x"
    assert (
        "columns that only number the rows, dropped: 'down', 'gaps' (to use them, name them in --x)" in found["notes"]
    )
    assert "columns of a single value, dropped: 'same', 'some'" in found["notes"]
    assert not any("missing" in note for note in found["notes"])
    assert "the cell is empty" in problem("formula", "-", "--y", "y", "--x", "gaps,x", stdin=text)
    # One number that is not that of its row makes a measurement of it.
    other = "\n".join(["id,x,y", *(f"{i + (i == 6)},{i % 4},{i**2}" for i in range(9)), ""])
    assert run_json("screen", "-", "--y", "y", stdin=other)["inputs"] == ["id", "x"]
    assert run_json("screen", "-", "--y", "y", stdin=other.replace("7,2", "6,2"))["inputs"] == ["x"]


def test_any_number_of_threads_gives_the_same(beams: str) -> None:
    assert run_json("screen", beams, "--y", "load", "--jobs", "2") == run_json("screen", beams, "--y", "load")


def test_missing_values_are_told_and_left_out_if_asked_for(beams: str) -> None:
    lines = Path(beams).read_text().splitlines()
    lines[4] = lines[4].replace(lines[4].split(",")[1], "NA", 1)
    Path(beams).write_text("\n".join(lines) + "\n")
    message = problem("screen", beams, "--y", "load")
    assert "line 5, column 2: the cell is empty (rows with empty cells: 1 of 100)" in message
    assert "--drop-missing" in message
    result = run_json("screen", beams, "--y", "load", "--drop-missing")
    assert result["n_rows"] == 99
    assert "1 row with missing values, dropped" in result["notes"]
    assert run_json("screen", beams, "--y", "load", "--x", "width,depth")["n_rows"] == 100


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--y", "lode"], "no column 'lode'. The columns are 'width', 'height', 'depth', 'name', 'load'"),
        (["--y", "name"], "line 2, column 4: the column 'name' holds text, such as 'n0'"),
        (["--y", "load", "--x", "width,name"], "'name' holds text"),
        (["--y", "load", "--x", "width,load"], "the target is among the inputs"),
        (["--y", "load", "--x", "breadth"], "no column 'breadth'"),
        (["--y", "load", "-o", "no/out.csv"], "there is no folder"),
        (["--y", "load", "-o", "beams.csv"], "would replace the data"),
    ],
)
def test_what_cannot_be_done_is_one_line(options: list[str], message: str, beams: str) -> None:
    assert message in problem("screen", beams, *options)


@pytest.mark.parametrize(
    ("options", "message"),
    [(["--unary", "id,kube"], "'kube'; choose from id, square"), (["--architecture", "x"], "architecture")],
)
def test_operators_are_checked_before_the_data(options: list[str], message: str, beams: str) -> None:
    Path("gap.csv").write_text("a,y\n1,\n")
    assert message in problem("screen", "gap.csv", "--y", "y", *options, code=2)


def test_a_reversed_relation_is_shown_as_such() -> None:
    table = "a,b,y\n1,9,1\n2,7,2\n3,5,3\n4,8,4\n5,3,5\n6,2,6\n8,1,7\n"
    words = ("screen", "-", "--y", "y", "--architecture", "none")
    rows = run_json(*words, stdin=table)["expressions"]
    assert [(row["expression"], row["order"], row["z"] > 0) for row in rows] == [
        ("a", "same", True),
        ("b", "reverse", False),
    ]
    shown = run(*words, stdin=table).stdout
    assert "2 of 2 expressions of 2 columns, on 7 rows" in shown
    assert "T0: 0 is the order of y or its reverse" in shown
    assert "b           reverse" in shown
    one = run("screen", "-", "--y", "y", "--x", "a", "--architecture", "none", "--one-sided", stdin=table).stdout
    assert "1 of 1 expression of 1 column, on 7 rows" in one
    assert "or its reverse" not in one


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("a,y\n", "no row below it"),
        ("a,y\n1,2\n", "minimum of 3"),
        ("a,y\n1,2\n2,2\n3,2\n", "constant"),
        ("name,y\nx,1\nz,2\nw,3\n", "no column but the target holds numbers"),
        ("a,y\n1,1\n2,inf\n3,2\n", "holds text, such as 'inf'"),
        ("a,y\n1,1\n1,4\n1,2\n", "finite and not constant"),
    ],
)
def test_bad_tables(text: str, message: str, beams: str) -> None:
    Path("bad.csv").write_text(text)
    assert message in problem("screen", "bad.csv", "--y", "y")


def test_a_target_is_needed(beams: str) -> None:
    assert "--y" in problem("screen", beams, code=2)


def test_as_a_process_from_a_pipe(beams: str) -> None:
    command = [sys.executable, "-W", "error", "-m", "rankwise", "screen", "-", "--y", "load", "--json"]
    done = subprocess.run(command, input=Path(beams).read_bytes(), capture_output=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout) == run_json("screen", beams, "--y", "load")


def test_time_that_runs_out_is_told(beams: str) -> None:
    words = (beams, "--y", "load", "--architecture", "ubu", "--pool", "cumulative", "--unary", "id,cube,exp,sin,cos")
    with pytest.warns(UserWarning, match="time limit"):
        result = run_json("screen", *words, "--binary", "+,-,*,/", "--time-limit", "0.000001")
    assert not result["complete"]
    assert np.isfinite(result["expressions"][0]["T0"])


def test_no_relation_and_few_rows_are_said_plainly() -> None:
    rng = np.random.default_rng(1)
    table = "\n".join(["a,b,y", *(",".join(f"{value:.4f}" for value in row) for row in rng.random((40, 3))), ""])
    result = run_json("screen", "-", "--y", "y", stdin=table)
    assert result["notes"][0].startswith("nothing orders y beyond chance: the smallest corrected p-value is")
    assert "nothing orders y beyond chance" in run("screen", "-", "--y", "y", stdin=table).stdout
    in_order = "\n".join(["a,y", *(f"{i**2 + 1},{2.0**i}" for i in range(6)), ""])
    assert not run_json("screen", "-", "--y", "y", stdin=in_order)["notes"]  # its p-value is large, too


def test_formulas_on_the_way_have_the_names_of_the_columns(beams: str) -> None:
    result = run_json("formula", beams, "--y", "load", "--budget", "20000")
    formulas = [stage["formula"] for stage in result["searched"]]
    assert any("depth" in formula for formula in formulas)
    assert not any("x2" in formula for formula in formulas)
    assert "rivals" in result


def test_compiling_is_mentioned_if_it_takes_long(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    import time

    import numba

    from rankwise.cli import compiling

    with compiling.compiling_noted():
        numba.njit(lambda x: x + 1)(1)
    assert not capsys.readouterr().err
    monkeypatch.setattr(compiling, "_DELAY", 0.0)
    with compiling.compiling_noted():
        time.sleep(0.1)
    assert not capsys.readouterr().err  # nothing was compiled
    with compiling.compiling_noted():
        numba.njit(lambda x: x + 2)(1)
        numba.njit(lambda x: x + 3)(1)
        time.sleep(0.1)
    assert capsys.readouterr().err.count("compiling, once") == 1


def test_a_first_column_without_a_name_that_numbers_the_rows_is_dropped(tmp_path: Path) -> None:
    x = np.random.default_rng(0).uniform(1, 5, 30)
    lines = [f"{i},{value!r},{float(value**2)!r}\n" for i, value in enumerate(x.tolist())]
    for start in (",side,area\n", '"",side,area\n'):
        (tmp_path / "squares.csv").write_text(start + "".join(lines))
        found = run_json("formula", str(tmp_path / "squares.csv"), "--y", "area")
        assert found["formula"] == "area = side^2"
        assert "the first column, which has no name and numbers the rows, dropped" in found["notes"]
    (tmp_path / "squares.csv").write_text(",side,area\n" + "".join(f"7{line}" for line in lines))
    assert "the column has no name" in problem("formula", str(tmp_path / "squares.csv"), "--y", "area")
