"""Where the rankings of the quickstart come from."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rankwise import RankwiseFormatError
from rankwise.cli import sources
from rankwise.cli.in_and_out import ChoiceError
from rankwise.cli.learn_commands import read_features
from rankwise.cli.options import settings
from rankwise.datasets import load_label_ranking
from rankwise.label_ranking import DummyRanker
from tests.cli.running import problem, run_json


@pytest.fixture(autouse=True)
def _shipped_data_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RANKWISE_DATA", raising=False)


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    """Ages (one unknown), three cities (one unknown), a name each, and rankings of two drinks."""
    rows = [
        ",Rome,Ann,1,2",
        "31,Bonn,Ben,2,1",
        "47,Rome,Cem,1,2",
        "52,,Dora,1,2",
        "19,Bonn,Eve,2,1",
        "20,Rome,Fay,1,",
    ]
    path = tmp_path / "survey.csv"
    path.write_text("age,city,name,rank_tea,rank_milk\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_numbers_and_repeated_texts_are_features(survey: Path) -> None:
    source = sources.load(str(survey))
    assert source.feature_names == ["age", "city"]
    assert source.categorical == ("city",)
    np.testing.assert_array_equal(source.X["age"], [np.nan, 31, 47, 52, 19, 20])
    assert source.X["city"].tolist() == ["Rome", "Bonn", "Rome", None, "Bonn", "Rome"]
    assert source.rankings.items == ("tea", "milk")
    assert source.rankings.kind == "incomplete"
    assert source.notes == ["not used as features: name (name)"]
    assert source.names is not None
    assert source.names.tolist() == ["Ann", "Ben", "Cem", "Dora", "Eve", "Fay"]


def test_texts_of_more_than_20_values_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "survey.csv"
    for n_values, names in ((20, ["town"]), (21, [])):
        rows = [f"t{i % n_values:02},1,2" for i in range(100)]
        path.write_text("town,rank_tea,rank_milk\n" + "\n".join(rows) + "\n", encoding="utf-8")
        assert sources.load(str(path)).feature_names == names


def test_a_file_of_rankings_alone_has_no_features(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("rank_tea,rank_milk\n1,2\n2,1\n", encoding="utf-8")
    assert sources.load(str(path)).X == {}


def test_a_file_does_not_hide_the_data_set_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("iris").write_text("rank_tea,rank_milk\n1,2\n", encoding="utf-8")
    assert sources.load("iris").rankings == load_label_ranking("iris").y


def test_a_folder_that_is_not_there_leaves_the_shipped_data(monkeypatch: pytest.MonkeyPatch, survey: Path) -> None:
    monkeypatch.setenv("RANKWISE_DATA", "/nope")
    source = sources.load("iris")
    assert len(source.rankings) == 150
    assert source.notes == ["RANKWISE_DATA names /nope, which is not a folder, so only the shipped data sets are known"]
    assert len(sources.load(str(survey)).rankings) == 6
    with pytest.raises(ValueError, match=r"no data set mine .*; RANKWISE_DATA names /nope"):
        sources.load("mine")


def test_the_data_folder_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.csv.gz").write_text("x1,y_a,y_b\n0.5,1,2\n", encoding="utf-8")
    monkeypatch.setenv("RANKWISE_DATA", str(tmp_path))
    source = sources.load("mine")
    assert source.rankings.items == ("a", "b")
    assert source.notes == []


def test_neither_data_set_nor_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^there is no file \S*mine$"):
        sources.load(str(tmp_path / "mine"))
    with pytest.raises(
        ValueError, match=r"^there is no file and no data set iriss \(did you mean iris\?\); data sets are"
    ):
        sources.load("iriss")
    (tmp_path / "survey.csv").write_text("", encoding="utf-8")
    with pytest.raises(ValueError, match=r"there is no file \S*survy.csv \(did you mean \S*survey\.csv\?"):
        sources.load(str(tmp_path / "survy.csv"))
    with pytest.raises(ValueError, match=r"because there is no folder"):
        sources.load(str(tmp_path / "no" / "survey.csv"))


@pytest.mark.parametrize("target", [None, "rank_"])
def test_a_folder_is_told_as_such(target: str | None, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"is a folder.* [gG]ive a file in it"):
        sources.load(str(tmp_path), target=target)


def test_a_malformed_file_is_told_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "survey.csv").write_text("rank_tea,rank_milk\n1,x\n1,2\n", encoding="utf-8")
    with pytest.raises(RankwiseFormatError, match="line 2"):
        sources.load(str(tmp_path / "survey.csv"))
    (tmp_path / "mine.csv.gz").write_text("x1,y_a,y_b\n0.5,1\n", encoding="utf-8")
    monkeypatch.setenv("RANKWISE_DATA", str(tmp_path))
    with pytest.raises(RankwiseFormatError, match="line 2"):
        sources.load("mine")


@pytest.mark.parametrize(
    ("pair", "items"),
    [
        ("items=['rank_tea', 'rank_milk']", ("rank_tea", "rank_milk")),
        ("items=rank_tea, rank_milk", ("rank_tea", "rank_milk")),
        ("items=('rank_milk', 'rank_tea')", ("rank_milk", "rank_tea")),
        ("prefix='rank_'", ("tea", "milk")),
        ("items=None", ("tea", "milk")),
        ("missing_values=['0', 'x']", ("tea", "milk")),
        ("missing_values=[0]", ("tea", "milk")),
    ],
)
def test_arguments_are_read_as_messages_show_them(pair: str, items: tuple[str, ...], survey: Path) -> None:
    assert sources.load(str(survey), reading=settings([pair], "--read")).rankings.items == items


def test_the_cure_of_a_message_can_be_copied(tmp_path: Path) -> None:
    path = tmp_path / "zero.csv"
    path.write_text("rank_tea,rank_milk,rank_juice\n1,2,3\n2,1,0\n", encoding="utf-8")
    with pytest.raises(RankwiseFormatError) as caught:
        sources.load(str(path))
    assert "if it says 'not ranked', take --read missing_values=0" in str(caught.value)
    assert isinstance(caught.value, ChoiceError)
    assert "--read missing_values=0" in caught.value.commands[0]
    rankings = sources.load(str(path), reading=settings(["missing_values=0"], "--read")).rankings
    np.testing.assert_array_equal(rankings.positions, [[1, 2, 3], [2, 1, np.nan]])
    both = tmp_path / "both.csv"
    both.write_text("q1,q2\n2,1\n1,2\n", encoding="utf-8")
    copied = settings(["layout='orders'", "columns=['q2', 'q1']"], "--read")
    np.testing.assert_array_equal(sources.load(str(both), reading=copied).rankings.positions, [[1, 2], [2, 1]])


@pytest.mark.parametrize("target", ["rank_t", "rank_tea"])
def test_one_item_is_no_ranking(target: str, survey: Path) -> None:
    with pytest.raises(RankwiseFormatError, match=r"the column 'rank_tea' only, and one item is not a ranking\. Name"):
        sources.load(str(survey), target=target)


def test_one_column_of_names_or_orders_is_a_target(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("age;favourite_1;order\n31;tea;1,2\n47;milk;2,1\n", encoding="utf-8")
    assert sources.load(str(path), target="fav").rankings.items == ("tea", "milk")
    assert sources.load(str(path), target="order", reading={"separator": ","}).rankings.items == ("1", "2")


def test_features_with_decimal_commas_are_read_alike_for_fit_and_prediction(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("income;rank_tea;rank_milk\n1,5;1,0;2\n2,25;2;1\n;1;2\n", encoding="utf-8")
    source = sources.load(str(path))
    assert (source.feature_names, source.categorical) == (["income"], ())
    np.testing.assert_array_equal(source.X["income"], [1.5, 2.25, np.nan])
    ranker = DummyRanker().fit(pd.DataFrame(source.X), source.rankings)
    np.testing.assert_array_equal(read_features(ranker, str(path), {})[:, 0], source.X["income"])


def test_a_file_that_is_not_there_is_told_before_anything_heavy_is_imported(tmp_path: Path) -> None:
    code = "import sys\nfrom rankwise.cli.app import main\ntry:\n    main()\n"
    code += "finally:\n    print(*{'numpy', 'sklearn', 'scipy', 'numba'} & set(sys.modules))"
    for command in (["describe"], ["consensus"], ["tree"], ["report"], ["evaluate"], ["fit", "-o", "m.rankwise"]):
        arguments = [sys.executable, "-c", code, *command, "nofile.csv"]
        done = subprocess.run(arguments, capture_output=True, text=True, cwd=tmp_path, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (1, "\n", "rankwise: there is no file nofile.csv\n")


def test_standard_input_may_be_pasted_cells_or_any_file(tmp_path):
    openpyxl = pytest.importorskip("openpyxl", reason="the workbook of this test is written by openpyxl")
    pytest.importorskip("fastexcel", reason="Excel workbooks are read by fastexcel, of the extra 'files'")
    pyreadstat = pytest.importorskip("pyreadstat", reason="SPSS files are read by pyreadstat, of the extra 'files'")
    rows = [["age", "rank_tea", "rank_milk"], [31, 1, 2], [47, 1, 2], [25, 2, 1]]
    pasted = "\n".join("\t".join(map(str, row)) for row in rows)
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(tmp_path / "survey.xlsx")
    pyreadstat.write_sav(pd.DataFrame(rows[1:], columns=rows[0]), tmp_path / "survey.sav")
    for content in (pasted, (tmp_path / "survey.xlsx").read_bytes(), (tmp_path / "survey.sav").read_bytes()):
        found = run_json("consensus", "-", stdin=content)
        assert json.dumps(found).index("tea") < json.dumps(found).index("milk")
        assert found == run_json("consensus", "-", stdin=pasted)


def test_the_sheet_of_a_workbook_is_an_option(tmp_path):
    openpyxl = pytest.importorskip("openpyxl", reason="the workbook of this test is written by openpyxl")
    pytest.importorskip("fastexcel", reason="Excel workbooks are read by fastexcel, of the extra 'files'")
    book = openpyxl.Workbook()
    book.active.append(["made by Ann", "in May"])
    sheet = book.create_sheet("Answers")
    for row in (["rank_tea", "rank_milk"], [1, 2], [1, 2]):
        sheet.append(row)
    book.save(tmp_path / "survey.xlsx")
    assert "2 sheets hold cells: 'Sheet', 'Answers'" in problem("consensus", tmp_path / "survey.xlsx")
    for more in ((), ("--target", "rank_")):
        found = run_json("consensus", tmp_path / "survey.xlsx", "--read", "sheet=Answers", *more)
        assert "tea" in json.dumps(found)
