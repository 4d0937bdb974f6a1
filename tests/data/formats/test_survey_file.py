"""`read_survey`: rankings with all other columns in their roles."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rankwise import RankwiseFormatError, analyze
from rankwise.data import Survey, read_rankings, read_survey
from rankwise.data.formats.survey_data import shown_names
from rankwise.data.formats.survey_file import _with_labels
from rankwise.data.formats.tables import Column, Table
from tests.data.formats import survey_exports


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def phones(tmp_path: Path) -> Path:
    return survey_exports.qualtrics(tmp_path / "phones.csv")


def read_phones(path: Path, **options: object) -> Survey:
    return read_survey(path, layout="positions", target="Q12_", **options)  # type: ignore[arg-type]


def test_those_who_ranked_nothing_are_set_apart(phones: Path) -> None:
    survey = read_phones(phones)
    whole = read_rankings(phones, layout="positions", prefix="Q12_")
    assert (len(whole), len(survey.rankings), survey.n_empty) == (60, 56, 4)
    np.testing.assert_array_equal(survey.rankings.positions, whole.positions[4:])
    assert all(len(column) == 56 for column in survey.X.values())
    assert survey.reading is not None
    assert survey.reading.blanks == "no blanks"  # only those who are set apart left any
    assert survey.check["empty"].rows == (4, 5, 6, 7)
    assert survey.notes[0] == "4 respondents ranked nothing, set apart"


def test_the_survey_says_how_the_file_was_understood(phones: Path) -> None:
    text = repr(read_phones(phones, by="Q2", weight="Q3"))
    # Four rows of weights 0, 1, 2 and 3, which count people.
    for words in ("56 of 4 items, full", "6, set apart", "positions: a column per item", "1 is the best place"):
        assert words in text
    for words in ("Weights: the column 'Q3'", "What is your gender?: Female 19", "ids", "ResponseId", "Q20: free text"):
        assert words in text
    html = read_phones(phones)._repr_html_()
    assert "<table" in html
    assert "How old are you?" in html


def test_answers_that_are_none_have_no_place_in_an_order(tmp_path: Path) -> None:
    ages = ["18 - 24", "25 - 34", "35+", "Prefer not to say"] * 3
    rows = "".join(f"{age},{1 + i % 2},{2 - i % 2}\n" for i, age in enumerate(ages))
    survey = read_survey(written(tmp_path / "a.csv", f"age,rank_a,rank_b\n{rows}"))
    assert survey.ordered == {"age": ["18 - 24", "25 - 34", "35+"]}
    assert survey.X["age"].tolist() == ["18 - 24", "25 - 34", "35+", None] * 3
    assert survey.categorical_features == {"age": ["18 - 24", "25 - 34", "35+"]}


def test_groups_are_in_their_order(tmp_path: Path) -> None:
    rows = "35+,10,1,2\n18 - 24,9,1,2\n,9,1,2\n25 - 34,10,1,2\n"
    path = written(tmp_path / "a.csv", f"age,wave,rank_a,rank_b\n{rows}{rows}")
    assert list(read_survey(path, by="age").groups()) == ["18 - 24", "25 - 34", "35+", "(blank)"]
    groups = read_survey(path, by="wave").groups()
    assert list(groups) == ["9", "10"]
    assert groups["9"].tolist() == [1, 2, 5, 6]
    assert read_survey(path).groups() == {}


def test_a_group_is_a_feature_too_unless_the_user_says_otherwise(phones: Path) -> None:
    assert list(read_phones(phones, by="Q2").X) == ["Q1", "Q2", "Q3"]
    assert list(read_phones(phones, by="Q2", features=["Q1"]).X) == ["Q1"]
    assert list(read_phones(phones, by="Q2", ignore=["Q2"]).X) == ["Q1", "Q3"]


def test_labels_of_values_replace_codes() -> None:
    columns = {"sex": np.array([1.0, 2.0, np.nan, 2.0]), "age": np.array([31.0, 99.0, 40.0, 52.0])}
    columns["often"] = np.array([3.0, 1.0, 2.0, 9.0])
    cells = [["1", "2", "", "2"], ["31", "99", "40", "52"], ["3", "1", "2", "9"]]
    labels = {"sex": {"1": "male", "2": "female"}, "age": {"99": "refused"}}
    labels["often"] = {"1": "never", "2": "sometimes", "3": "often", "9": "don't know"}
    table = Table("x.sav", ("sex", "age", "often"), 1, tuple(map(Column.of, cells)), range(2, 6), labels=labels)
    found, ordered = _with_labels(columns, table, 4)
    assert found["sex"].tolist() == ["male", "female", None, "female"]
    np.testing.assert_array_equal(found["age"], [31, np.nan, 40, 52])
    assert found["often"].tolist() == ["often", "never", "sometimes", "don't know"]
    assert ordered == {"often": ["never", "sometimes", "often"]}


def test_names_are_shown_once_each() -> None:
    questions = {"Q1": "How old are you?", "Q2": "Do you agree?", "Q3": "Do you agree?", "Q4": 20 * "long "}
    shown = shown_names(["Q1", "Q2", "Q3", "Q4", "Q5"], questions)
    assert shown[:3] == ["How old are you?", "Do you agree? (Q2)", "Do you agree? (Q3)"]
    assert len(shown[3]) == 60
    assert shown[4] == "Q5"


def test_the_names_of_judges_are_kept(tmp_path: Path) -> None:
    survey = read_survey(survey_exports.jury(tmp_path / "jury.csv"))
    assert survey.names is not None
    assert survey.names[0] == "Anna"
    assert survey.X == {}
    found = analyze(survey, random_state=0)
    assert found.raters is not None
    # who ranks the other way round
    assert found.raters.names[int(found.raters.distance.argmax())] == "Eve"
    assert found.raters.distance.max() == 1
    assert found.survey is survey


def test_whole_numbers_are_ids_without_a_point(tmp_path: Path) -> None:
    rows = ["101,1,2,3", "102,2,1,3", ",1,3,2", "104,1,2,3"]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["respid,rank_a,rank_b,rank_c", *rows[:2], rows[3]]))
    survey = read_survey(path, id="respid")
    assert survey.id is not None
    assert [str(one) for one in survey.id] == ["101", "102", "104"]
    assert len(read_survey(path, id="respid", leave_out=["102"]).rankings) == 2
    path.write_text("\n".join(["respid,rank_a,rank_b,rank_c", *rows]))
    found = read_survey(path, id="respid").id
    assert found is not None
    assert found.tolist() == [101, 102, None, 104]


def test_duplicated_respondents_are_counted(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [
        f"R_{i:03}x,{rng.integers(5000)},{rng.choice(['Rome', 'Bonn'])},{','.join(map(str, rng.permutation(4) + 1))}"
        for i in range(60)
    ]
    rows[50] = "R_050x" + rows[20][6:]  # all but the id
    rows[55] = rows[10]
    text = "\n".join(["ResponseId,income,city,rank_a,rank_b,rank_c,rank_d", *rows, ""])
    check = read_survey(written(tmp_path / "a.csv", text)).check
    assert check["duplicates"].rows == (52, 57)
    assert check["same_id"].rows == (57,)


def test_impossible_and_skipped_places_are_counted_in_the_lines_of_the_file(tmp_path: Path) -> None:
    text = "rank_a,rank_b,rank_c\n" + "1,2,3\n" * 10 + "1,2,4\n1,3,\n1,1,3\n"
    check = read_survey(written(tmp_path / "a.csv", text), layout="positions", target="rank_").check
    assert check["impossible"].rows == (12,)
    assert check["skipped"].rows == (13,)


def test_weights_of_zero_are_counted_and_negative_ones_refused(tmp_path: Path) -> None:
    text = "w,rank_a,rank_b\n0,1,2\n2,2,1\n1,1,2\n"
    survey = read_survey(written(tmp_path / "a.csv", text), weight="w")
    assert survey.rankings.weights.tolist() == [0, 2, 1]
    assert survey.check["zero_weight"].rows == (2,)
    with pytest.raises(RankwiseFormatError, match="the weight is '-1'"):
        read_survey(written(tmp_path / "b.csv", text.replace("\n2,", "\n-1,")), weight="w")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": ["Q12_1"]}, "features names 'Q12_1', which holds the rankings"),
        ({"weight": "Q3", "features": ["Q3"]}, "features names 'Q3', which holds the weights"),
        ({"features": ["age"]}, "features names 'age', but there is no such column. The columns are 'StartDate'"),
        ({"ignore": ["responseid"]}, "Did you mean 'ResponseId'?"),
        ({"id": "Respons"}, "id names 'Respons', but there is no such column"),
        ({"by": "Q20"}, "by has 60 groups, more than 50, in column 'Q20'"),
        ({"by": "RecipientEmail"}, "by names 'RecipientEmail', which is blank"),
        ({"weight": "Q33"}, "there is no column 'Q33'"),
    ],
)
def test_columns_that_cannot_be_what_the_user_says(options: dict[str, object], message: str, phones: Path) -> None:
    with pytest.raises(RankwiseFormatError) as caught:
        read_phones(phones, **options)
    assert message in str(caught.value)


def test_a_column_is_either_a_feature_or_ignored(phones: Path) -> None:
    with pytest.raises(ValueError, match="'Q1' is among both features and ignore"):
        read_phones(phones, features=["Q1"], ignore=["Q1"])


def test_everything_ignored_leaves_rankings(phones: Path) -> None:
    survey = read_phones(phones, ignore=["Q1", "Q2", "Q3"])
    assert (survey.X, survey.feature_names, survey.categorical_features) == ({}, [], None)
    assert "features        none" in repr(survey)
    assert analyze(survey, random_state=0).no_leaderboard == "there are no features to predict rankings from"


def test_a_file_in_which_nobody_ranks_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "age,rank_a,rank_b\n31,,\n47,,\n")
    with pytest.raises(RankwiseFormatError):
        read_survey(path, layout="positions", target="rank_")


def test_an_analysis_of_a_survey_is_that_of_its_parts(phones: Path) -> None:
    survey = read_phones(phones, by="Q2")
    found = analyze(survey, random_state=0)
    parts = analyze(
        survey.rankings,
        survey.X,
        categorical_features=survey.categorical_features,
        feature_names=survey.feature_names,
        random_state=0,
    )
    assert found.summary.features == tuple(survey.feature_names) == parts.summary.features
    assert found.leaderboard is not None
    assert parts.leaderboard is not None
    np.testing.assert_array_equal(found.leaderboard.means, parts.leaderboard.means)
    assert found.groups is not None
    assert found.groups.groups == ("Female", "Male", "Prefer not to say")
    assert found.as_dict()["survey"]["n_ranked_nothing"] == 4
    assert parts.groups is None
    assert parts.survey is None


def test_a_target_of_several_columns_of_every_kind(tmp_path: Path) -> None:
    words = written(tmp_path / "words.csv", "who,tea,milk\nAnn,1st choice,2nd choice\nBen,2nd choice,1st choice\n")
    assert read_survey(words, target=["tea", "milk"]).rankings.positions.tolist() == [[1, 2], [2, 1]]
    orders = written(tmp_path / "orders.csv", "who,best,next\nAnn,tea,milk\nBen,milk,tea\n")
    assert read_survey(orders, target=["best", "next"]).rankings.items == ("tea", "milk")
    scores = written(tmp_path / "scores.csv", "who,tea,milk\nAnn,9,4\nBen,10,3\n")
    assert read_survey(scores, target=["tea", "milk"], layout="scores").rankings.positions.tolist() == [[1, 2], [1, 2]]
    with pytest.raises(RankwiseFormatError) as caught:
        read_survey(scores, target=["tea", "milk"])
    assert [choice["layout"] for choice in caught.value.choices] == ["scores", "positions"]


def test_a_jury_with_judges_as_columns_has_names(tmp_path: Path) -> None:
    text = "wine,Anna,Ben,Cem\nRioja,1,2,1\nMerlot,3,1,2\nMalbec,2,3,3\n"
    survey = read_survey(written(tmp_path / "wines.csv", text))
    assert survey.rankings.items == ("Rioja", "Merlot", "Malbec")
    assert survey.names is not None
    assert survey.names.tolist() == ["Anna", "Ben", "Cem"]
    assert survey.reading is not None
    assert survey.reading.layout == "judges"


def test_weights_that_are_all_zero_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "w,rank_a,rank_b\n0,1,2\n0,2,1\n")
    with pytest.raises(RankwiseFormatError, match="all weights in 'w' are zero"):
        read_survey(path, weight="w")


def test_a_file_of_spss_with_labels(tmp_path: Path) -> None:
    pyreadstat = pytest.importorskip("pyreadstat")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"CASEID": 3.0 * np.arange(40), "SEX": [1.0, 2.0] * 20, "COOK": [1.0, 2.0, 3.0, 9.0] * 10})
    frame[["R1", "R2", "R3"]] = [rng.permutation(3) + 1.0 for _ in range(40)]
    pyreadstat.write_sav(
        frame,
        str(tmp_path / "x.sav"),
        column_labels={"SEX": "Sex of respondent", "R1": "Rank - Tea", "R2": "Rank - Milk", "R3": "Rank - Juice"},
        variable_value_labels={
            "SEX": {1.0: "male", 2.0: "female"},
            "COOK": {1.0: "never", 2.0: "sometimes", 3.0: "often", 9.0: "don't know"},
        },
    )
    survey = read_survey(tmp_path / "x.sav", layout="positions", target="R", by="SEX")
    assert survey.rankings.items == ("Tea", "Milk", "Juice")
    assert survey.feature_names == ["Sex of respondent", "COOK"]
    assert survey.X["SEX"][:2].tolist() == ["male", "female"]
    assert survey.X["COOK"][:4].tolist() == ["never", "sometimes", "often", None]
    assert survey.ordered == {"COOK": ["never", "sometimes", "often"]}
    assert list(survey.groups()) == ["female", "male"]
    assert survey.roles["CASEID"].role == "id"
