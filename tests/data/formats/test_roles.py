"""Which columns of a survey are what."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from rankwise.data import read_survey
from rankwise.data.formats.roles import recognize_roles
from tests.data.formats import survey_exports


def texts(*cells: str | None) -> npt.NDArray[Any]:
    return np.array(cells, dtype=object)


def role(name: str, column: npt.NDArray[Any], *others: str) -> str:
    columns = {name: column} | {other: np.array([1.0, 2.0, 2.0, 2.0] * (len(column) // 4)) for other in others}
    return recognize_roles(columns)[name].role


def test_every_column_of_qualtrics_has_its_role(tmp_path: Path) -> None:
    path = survey_exports.qualtrics(tmp_path / "q.csv")
    survey = read_survey(path, layout="positions", target="Q12_")
    assert list(survey.X) == ["Q1", "Q2", "Q3"]  # NPS stays a feature
    assert survey.feature_names == ["How old are you?", "What is your gender?", "Would you recommend us?"]
    assert survey.ordered == {"Q1": list(survey_exports.AGES)}
    found: dict[str, list[str]] = {}
    for name, own in survey.roles.items():
        found.setdefault(own.role, []).append(name)
    assert found["id"] == ["ResponseId"]
    assert found["timestamp"] == ["StartDate", "EndDate", "RecordedDate"]
    assert found["free text"] == ["Q20"]
    paradata = {"IPAddress", "Duration (in seconds)", "LocationLatitude", "LocationLongitude", "UserLanguage"}
    assert set(found["paradata"]) == paradata
    assert {"Status", "Progress", "Finished", "RecipientEmail", "DistributionChannel"} <= set(found["constant"])


def test_every_column_of_limesurvey_has_its_role(tmp_path: Path) -> None:
    survey = read_survey(survey_exports.limesurvey(tmp_path / "l.csv"))
    assert list(survey.X) == ["What is your age?"]
    roles = {name: own.role for name, own in survey.roles.items()}
    assert roles["Response ID"] == "id"
    assert roles["Seed"] == roles["Total time"] == "paradata"
    assert roles["Date submitted"] == roles["Date started"] == "timestamp"
    assert survey.id is not None
    assert survey.id[:3].tolist() == [5, 7, 9]


def test_every_column_of_google_forms_and_kobo_has_its_role(tmp_path: Path) -> None:
    survey = read_survey(survey_exports.google_forms(tmp_path / "g.csv"))
    assert {name: own.role for name, own in survey.roles.items()} == {
        "Zeitstempel": "timestamp",
        "Username": "id",
        "How often do you cook?": "feature",
    }
    assert survey.ordered["How often do you cook?"] == ["Never", "Rarely", "Sometimes", "Often", "Always"]
    survey = read_survey(survey_exports.kobo(tmp_path / "k.csv"))
    assert list(survey.X) == ["district"]
    assert {survey.roles[name].role for name in ("_id", "_uuid", "_index")} == {"id"}
    assert {survey.roles[name].role for name in ("start", "end")} == {"paradata"}


def test_names_that_could_mean_anything_are_features_without_the_tool() -> None:
    married = texts("married", "single", "married", "single")
    assert role("Status", married) == role("start", married) == role("name of the town", married) == "feature"
    assert role("Status", married, "ResponseId", "RecordedDate") == "paradata"
    assert role("seed", np.array([3.0, 9.0, 4.0, 4.0])) == "feature"
    assert role("seed", np.array([3.0, 9.0, 4.0, 4.0]), "lastpage", "submitdate") == "paradata"


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("caseid", [5.0, 9.0, 2.0, 2.0], "id"),
        ("store_id", [1.0, 2.0, 1.0, 2.0], "feature"),  # a code that repeats is a category
        ("store_id", [17.0, 23.0, 11.0, 4.0], "id"),
        ("interviewToken", [17.0, 23.0, 11.0, 4.0], "id"),
        ("paid", [17.0, 23.0, 11.0, 4.0], "feature"),
        ("humid", [17.0, 23.0, 11.0, 4.0], "feature"),
        ("age", [21.0, 22.0, 23.0, 24.0], "feature"),
        ("x", list(np.arange(1.0, 21)), "id"),
        ("x", list(np.arange(0.0, 20)), "id"),
        ("x", list(np.arange(30.0, 50)), "feature"),
        ("x", [2.0, 2.0, 2.0, 2.0], "constant"),
        ("x", [np.nan] * 4, "constant"),
        ("x", [2.0, np.nan, 2.0, 2.0], "feature"),  # a box that some have ticked
        ("pspwght", [0.7, 1.3, 0.9, 1.1], "weight"),
        ("body weight", [71.5, 63.0, 80.2, 55.1], "feature"),
        ("duration", [71.5, 63.0, 80.2, 55.1], "paradata"),
    ],
)
def test_numbers(name: str, values: list[float], expected: str) -> None:
    assert role(name, np.array(values)) == expected


@pytest.mark.parametrize(
    ("name", "cells", "expected"),
    [
        ("judge", ["Anna", "Ben", "Cem", "Dora"], "name"),
        ("Wer?", ["Anna Maria", "Ben", "Cem", "Dora"], "name"),
        ("judge", ["Anna", "Ben", "Anna", "Ben"], "feature"),
        ("when", ["2024-03-01", "2024-03-01 10:11:12", "2024-03-02", "2024-03-02"], "timestamp"),
        ("when", ["1.3.2024", "2.3.2024", "3.3.2024", None], "timestamp"),
        ("when", ["Mar 1, 2024", "Mar 2, 2024", "Apr 1, 2024", None], "timestamp"),
        ("when", ["10:15", "9:20 PM", "11:00:05", None], "timestamp"),
        ("contact", ["a@b.org", "c@d.org", "e@f.org", None], "id"),
        ("code", ["R_1aX", "R_2bY", "R_3cZ", "R_4dW"], "id"),
        ("why", ["I like it very much", "because it is sweet", "no idea at all", "it was cheap"], "free text"),
        ("city", ["Rome", "Bonn", "Rome", None], "feature"),
    ],
)
def test_texts(name: str, cells: list[str | None], expected: str) -> None:
    assert role(name, texts(*cells)) == expected


def test_there_is_one_column_of_names() -> None:
    columns = {"judge": texts("Anna", "Ben", "Cem", "Dora"), "dog": texts("Rex", "Bello", "Hasso", "Fido")}
    assert [own.role for own in recognize_roles(columns).values()] == ["name", "free text"]


@pytest.mark.parametrize(
    ("rankings", "answers"),
    [
        (["rank_tea", "rank_milk"], {"rank_a b", "rank_x"}),
        (["q1", "q2"], {"q12"}),
        (["q7.1", "q7.2"], {"q7.3"}),
        (["tea", "milk"], set()),
        (["overall_best", "overall_worst"], {"taste_best", "taste_worst"}),
    ],
)
def test_columns_named_like_the_rankings_are_answers(rankings: list[str], answers: set[str]) -> None:
    names = ["age", "rank_x", "rank_a b", "ranking", "q12", "question", "q7.3", "teapot", "taste_best", "taste_worst"]
    roles = recognize_roles({name: np.array([1.0, 2.0, 2.0, 1.0]) for name in names}, rankings=rankings)
    assert {name for name, own in roles.items() if own.role == "answer"} == answers


def test_what_the_user_says_is_no_weight_is_a_feature() -> None:
    columns = {"weight_1": np.array([0.7, 1.3, 0.9, 1.1])}
    assert recognize_roles(columns)["weight_1"].role == "weight"
    assert recognize_roles(columns, weight_is_settled=["weight_1"])["weight_1"].role == "feature"


def test_better_or_worse_of_a_ranked_item_is_an_answer(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    lines = ["variety_a,variety_b,variety_c,best,worst,var_a,var_b,var_c,economy,season,rain"]
    for _ in range(30):
        a, b, c = rng.choice(["Rojo", "Sequia", "Ferroso", "Matagalpa"], 3, replace=False)
        best, worst = rng.choice(list("ABC"), 2, replace=False)
        judged = [*rng.choice(["Better", "Worse"], 2), rng.choice(["better", "worse", "same"])]
        other = [rng.choice(["better", "worse"]), rng.choice(["dry", "wet"]), f"{rng.random():.3f}"]
        lines.append(",".join([a, b, c, best, worst, *judged, *other]))
    (tmp_path / "trial.csv").write_text("\n".join(lines), encoding="utf-8")
    survey = read_survey(tmp_path / "trial.csv")
    assert survey.reading is not None
    assert survey.reading.layout == "tricot"
    assert {name for name, role in survey.roles.items() if role[0] == "answer"} == {"var_a", "var_b", "var_c"}
    # An opinion on something else is a feature.
    assert survey.feature_names == ["economy", "season", "rain"]


@pytest.mark.parametrize("name", ["comment", "Any comments?", "Q4_6_TEXT", "Kommentar", "Bemerkungen", "other_comment"])
def test_open_questions_are_no_features_even_where_texts_repeat(name: str) -> None:
    repeated = texts(*["fine", "too long", None, "fine"] * 5)
    assert role(name, repeated) == "free text"
    assert role("commented", repeated) == role("recommended", repeated) == "feature"
    assert role(name, texts(*["never", "sometimes", "always", "never"] * 5)) == "feature"  # an answer with an order
    assert role(name, np.array([1.0, 2.0] * 10)) == "feature"


def test_numbers_of_rows_stay_ids_where_rows_are_dropped() -> None:
    numbers = np.array([1.0, 2, 4, 5, 6, 7, 9, 10, 11, 12, 13])
    assert role("vp_nr", numbers) == "id"
    assert role("vp_nr", numbers + 2000) == "feature"  # years
    assert role("vp_nr", numbers[::-1].copy()) == "feature"
    assert role("vp_nr", numbers**2) == "feature"


@pytest.mark.parametrize("name", ["gew", "w_gew", "Gew_2024"])
def test_the_short_german_name_of_a_weight_is_no_feature(name: str) -> None:
    assert role(name, np.array([0.5, 1.25, 1.5, 0.75])) == "weight"
    assert role("bewegung", np.array([0.5, 1.25, 1.5, 0.75])) == "feature"
