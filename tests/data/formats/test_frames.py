"""Files of SPSS, Stata, Parquet and Arrow: values as people see them, questions, labels, and damaged files."""

from __future__ import annotations

import datetime
import importlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rankwise import RankwiseFormatError, read_rankings
from rankwise.data import read_survey
from rankwise.data.formats import frames, read_orders_csv
from rankwise.data.formats.delimited import read_table

pyreadstat = pytest.importorskip(
    "pyreadstat", reason="SPSS and Stata files are read by pyreadstat, of the extra 'files'"
)
pyarrow = pytest.importorskip("pyarrow", reason="Parquet and Arrow files are read by pyarrow, of the extra 'files'")
feather = pytest.importorskip("pyarrow.feather")
parquet = pytest.importorskip("pyarrow.parquet")

FRAME = pd.DataFrame(
    {
        "rank_tea": [1.0, 2.0, 3.0],
        "rank_milk": [2.0, 1.0, np.nan],
        "rank_juice": [3.0, 3.0, 1.0],
        "sex": [1.0, 2.0, 1.0],
        "trust": [1.0, 3.0, 2.0],
        "rating": [1.0, 4.0, 5.0],
        "day": pd.to_datetime(["2026-01-05", "2026-01-06", None]),
        "text": ["a", "", "é"],
    }
)
LABELS = {
    "sex": {2: "Female", 1: "Male"},
    "trust": {3: "High", 1: "Low", 2: "Middle"},
    "rating": {1: "worst", 5: "best"},
}
QUESTIONS = {"sex": "What is your sex?", "rank_tea": "Rank the drinks - Tea"}


def spss(path: Path, frame: pd.DataFrame = FRAME, **options: object) -> Path:
    pyreadstat.write_sav(frame, path, **options)
    return path


def survey(folder: Path, kind: str) -> Path:
    if kind == "SPSS":
        measures = {"sex": "nominal", "trust": "ordinal", "rank_tea": "ordinal"}
        return spss(folder / "a.sav", column_labels=QUESTIONS, variable_value_labels=LABELS, variable_measure=measures)
    pyreadstat.write_dta(FRAME, folder / "a.dta", column_labels=QUESTIONS, variable_value_labels=LABELS)
    return folder / "a.dta"


@pytest.mark.parametrize("kind", ["SPSS", "Stata"])
def test_statistics_files(tmp_path, kind):
    path = survey(tmp_path, kind)
    table = read_table(path)
    assert table.header == tuple(FRAME)
    assert table.column("rank_milk") == ["2", "1", ""]
    assert table.column("day") == ["2026-01-05", "2026-01-06", ""]
    assert table.column("text") == ["a", "", "é"]
    assert table.questions == QUESTIONS
    assert {name: list(label_of.items()) for name, label_of in table.labels.items()} == {
        "sex": [("1", "Male"), ("2", "Female")],
        "trust": [("1", "Low"), ("2", "Middle"), ("3", "High")],
        "rating": [("1", "worst"), ("5", "best")],
    }
    assert table.ordered == (("trust",) if kind == "SPSS" else ())
    rankings, covariates = read_rankings(path, return_covariates=True)
    assert rankings.items == ("tea", "milk", "juice")
    assert covariates["sex"].tolist() == ["Male", "Female", "Male"]
    assert covariates["rating"].tolist() == [1, 4, 5]  # only its ends are labeled
    # What the file is shows in its content.
    assert read_table(path.rename(tmp_path / "standard input")).header == tuple(FRAME)


def test_labels_name_the_items_of_orders(tmp_path):
    frame = pd.DataFrame({"choice_1": [1.0, 2.0, 3.0], "choice_2": [3.0, 1.0, 2.0]})
    drinks = {1: "Tea", 2: "Milk", 3: "Juice"}
    path = spss(tmp_path / "a.sav", frame, variable_value_labels={"choice_1": drinks, "choice_2": drinks})
    rankings, _ = read_orders_csv(path)
    assert rankings.items == ("Tea", "Juice", "Milk")
    assert rankings.positions.tolist() == [[1, 2, np.inf], [2, np.inf, 1], [np.inf, 1, 2]]


def test_user_missing_values_are_blank(tmp_path):
    frame = pd.DataFrame({"rank_a": [1.0, 99.0], "rank_b": [2.0, 1.0]})
    path = spss(tmp_path / "a.sav", frame, missing_ranges={"rank_a": [99]})
    assert read_table(path).column("rank_a") == ["1", ""]


def arrow_table():
    levels = pyarrow.DictionaryArray.from_arrays(pyarrow.array([1, 0, None]), ["low", "high"], ordered=True)
    return pyarrow.table(
        {
            "rank_a": [1, 2, None],
            "rank_b": [2.0, 1.0, float("nan")],
            "single": pyarrow.array([0.1, 1.5, None], pyarrow.float32()),
            "day": [datetime.date(2026, 1, 5), None, datetime.date(2026, 1, 6)],
            "when": [datetime.datetime(2026, 1, 5, 10, 30), None, datetime.datetime(2026, 1, 6)],
            "level": levels,
            "flag": [True, False, None],
            "text": [" a ", "", None],
        }
    )


@pytest.mark.parametrize("kind", ["parquet", "feather", "uncompressed"])
def test_arrow_files(tmp_path, kind):
    path = tmp_path / f"a.{kind}"
    if kind == "parquet":
        parquet.write_table(arrow_table(), path)
    else:
        feather.write_feather(arrow_table(), path, compression="lz4" if kind == "feather" else kind)
    table = read_table(path)
    assert [table.column(name) for name in table.header] == [
        ["1", "2", ""],
        ["2", "1", ""],
        ["0.1", "1.5", ""],
        ["2026-01-05", "", "2026-01-06"],
        ["2026-01-05 10:30:00", "", "2026-01-06 00:00:00"],
        ["high", "low", ""],
        ["True", "False", ""],
        ["a", "", ""],
    ]
    assert list(table.labels["level"]) == ["low", "high"]
    assert table.ordered == ("level",)
    assert read_rankings(path).items == ("a", "b")


def test_values_are_text_as_people_see_them():
    values = [1.0, -0.0, 1e15, 1.5, 1e-7, float("nan"), None, 12, "x ", True, float("inf")]
    assert [frames._text(value) for value in values] == [
        *("1", "0", "1000000000000000.0", "1.5", "1e-07", "", "", "12", "x", "True", "inf")
    ]


@pytest.mark.parametrize("kind", ["sav", "dta", "parquet", "feather"])
def test_damaged_and_empty_files_are_refused(tmp_path, kind):
    path, empty = tmp_path / f"a.{kind}", tmp_path / f"empty.{kind}"
    frame = FRAME.drop(columns="day")
    nothing = frame.iloc[:0]
    if kind in ("sav", "dta"):
        write = pyreadstat.write_sav if kind == "sav" else pyreadstat.write_dta
        write(frame, path)
        write(nothing, empty)
    else:
        write = parquet.write_table if kind == "parquet" else feather.write_feather
        write(pyarrow.Table.from_pandas(frame), path)
        write(pyarrow.Table.from_pandas(nothing, preserve_index=False), empty)
    with pytest.raises(RankwiseFormatError, match="there is a header, but no row below it"):
        read_rankings(empty)
    whole = path.read_bytes()
    for cut in (len(whole) // 2, 100, 20):
        path.write_bytes(whole[:cut])
        with pytest.raises(RankwiseFormatError, match=r"file is damaged|no row below"):
            read_rankings(path)


def test_files_that_inflate_beyond_measure_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(frames, "SMALL", 1)
    zeros = pyarrow.table({"rank_a": np.zeros(10**6), "rank_b": np.zeros(10**6)})
    parquet.write_table(zeros, tmp_path / "a.parquet")
    with pytest.raises(RankwiseFormatError, match="inflates to more than 300 times its size"):
        read_rankings(tmp_path / "a.parquet")


def test_nested_columns_are_refused(tmp_path):
    parquet.write_table(pyarrow.table({"rank_a": [1], "more": [[1, 2]]}), tmp_path / "a.parquet")
    with pytest.raises(RankwiseFormatError, match=r"the column 'more' holds .*, not single values"):
        read_rankings(tmp_path / "a.parquet")


@pytest.mark.parametrize(
    ("package", "message"),
    [("pyreadstat", "reading SPSS files needs pyreadstat"), ("pyarrow", "reading Parquet files")],
)
def test_a_missing_package_is_named_with_its_command(tmp_path, monkeypatch, package, message):
    path = spss(tmp_path / "a.sav") if package == "pyreadstat" else tmp_path / "a.parquet"
    parquet.write_table(arrow_table(), tmp_path / "a.parquet")
    real = importlib.import_module

    def without(name, *more):
        if name == package:
            raise ImportError
        return real(name, *more)

    monkeypatch.setattr(importlib, "import_module", without)
    with pytest.raises(ImportError, match=rf"{message}.*pip install 'rankwise\[files\]'"):
        read_rankings(path)


@pytest.mark.parametrize("kind", ["sav", "parquet", "feather"])
def test_categories_that_are_declared_as_ordered_stay_ordered(tmp_path, kind):
    """The words alone would not tell: the file does."""
    levels = ["zero", "alpha", "mango"]
    codes = [0, 1, 2, 1, 0, 2]
    frame = pd.DataFrame({"rank_a": [1.0, 2, 1, 2, 1, 2], "rank_b": [2.0, 1, 2, 1, 2, 1]})
    path = tmp_path / f"a.{kind}"
    if kind == "sav":
        frame["level"] = [float(code + 1) for code in codes]
        labels = {"level": {code + 1.0: level for code, level in enumerate(levels)}}
        spss(path, frame, variable_value_labels=labels, variable_measure={"level": "ordinal"})
    else:
        frame["level"] = pd.Categorical.from_codes(codes, levels, ordered=True)
        frame.to_parquet(path) if kind == "parquet" else frame.to_feather(path)
    survey = read_survey(path)
    assert survey.ordered == {"level": levels}
    assert survey.roles["level"].reason == "an ordered category"
    assert survey.X["level"].tolist() == [levels[code] for code in codes]


def test_codes_whose_labels_say_no_answer_are_blank(tmp_path):
    frame = pd.DataFrame({"sex": [1, 9, 2, 1], "a": [1, 2, 9, 1], "b": [2, 1, 9, 2], "c": [3, 3, 9, 9]})
    frame = frame.loc[[0, 1, 2, 3, 0, 1, 0, 1]]
    labels = {name: {9: "no answer"} for name in "abc"} | {"sex": {1: "male", 2: "female", 9: "refused"}}
    path = tmp_path / "labels.sav"
    pyreadstat.write_sav(frame, path, variable_value_labels=labels)
    survey = read_survey(path)
    np.testing.assert_array_equal(survey.rankings.positions[:3], [[1, 2, 3], [2, 1, 3], [1, 2, np.nan]])
    assert survey.n_empty == 1
    assert survey.X["sex"].tolist()[:3] == ["male", "refused", "male"]  # an answer of its own elsewhere
    assert "By the labels these are no answers, and blank: 9 (no answer)." in survey.reading.notes
    scores = read_survey(path, layout="scores", items=["a", "b", "c"])
    assert np.nanmax(scores.scores) == 3


def test_labels_say_that_codes_are_items_at_places(tmp_path):
    frame = pd.DataFrame({"first": [1, 2, 1], "second": [2, 1, 3], "third": [3, 3, 2]})
    drinks, places = {1: "Tea", 2: "Milk", 3: "Juice"}, {1: "1st", 2: "2nd", 3: "3rd"}
    path = tmp_path / "orders.sav"
    pyreadstat.write_sav(frame, path, variable_value_labels=dict.fromkeys(frame, drinks))
    rankings = read_rankings(path)
    assert rankings.items == ("Tea", "Milk", "Juice")
    assert rankings.positions.tolist() == [[1, 2, 3], [2, 1, 3], [1, 3, 2]]
    for labels in ({}, dict.fromkeys(frame, places)):  # codes without labels may be either
        pyreadstat.write_sav(frame, path, variable_value_labels=labels)
        with pytest.raises(RankwiseFormatError, match=r"may be positions .* or orders"):
            read_rankings(path)


def test_labels_at_the_ends_of_a_scale_say_which_is_best(tmp_path):
    frame = pd.DataFrame({"a": [1, 2, 3], "b": [2, 3, 1], "c": [3, 1, 2]})
    path = tmp_path / "scale.sav"
    pyreadstat.write_sav(frame, path, variable_value_labels={name: {1: "least important", 3: "best"} for name in frame})
    with pytest.raises(RankwiseFormatError, match="'1 = least important' says that high numbers are best"):
        read_rankings(path)
    pyreadstat.write_sav(frame, path, variable_value_labels={name: {1: "best", 3: "least important"} for name in frame})
    assert read_rankings(path).positions.tolist() == frame.to_numpy().tolist()


def test_columns_without_any_value_are_blank(tmp_path):
    parquet.write_table(
        pyarrow.table({"rank_a": [1, 2], "rank_b": [2, 1], "text": pyarrow.nulls(2)}), tmp_path / "a.parquet"
    )
    assert read_table(tmp_path / "a.parquet").column("text") == ["", ""]
