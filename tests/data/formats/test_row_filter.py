"""Rows that count: by answers, and by names."""

from pathlib import Path

import pytest

from rankwise import RankwiseFormatError
from rankwise.data import read_survey

DRINKS = """who,Finished,city,age,rank_tea,rank_milk,rank_beer
Anna,True,Bern,31,1,2,3
Ben,False,Basel,47,3,2,1
Cleo,True,Basel,28,1,3,2
Dora,True,Bern,31,2,1,3
"""
JURY = "wine,Anna,Ben,Cleo\nRed,1,3,1\nWhite,2,1,2\nRose,3,2,3\n"


@pytest.fixture
def drinks(tmp_path: Path) -> Path:
    path = tmp_path / "drinks.csv"
    path.write_text(DRINKS)
    return path


@pytest.mark.parametrize(
    ("where", "names"),
    [
        ({"Finished": "True"}, ["Anna", "Cleo", "Dora"]),
        ({"Finished": "True", "city": ["Bern"]}, ["Anna", "Dora"]),
        ("city=Bern|Basel", ["Anna", "Ben", "Cleo", "Dora"]),
        (["city=Basel", "age=28"], ["Cleo"]),
        ({"age": 31}, ["Anna", "Dora"]),
    ],
)
def test_rows_with_certain_answers_count(drinks, where, names):
    survey = read_survey(drinks, where=where)
    assert survey.names.tolist() == names
    assert len(survey.rankings) == len(names)
    assert all(len(column) == len(names) for column in survey.X.values())


def test_a_filter_is_said(drinks):
    survey = read_survey(drinks, where={"Finished": "True"}, leave_out=["Dora"])
    assert survey.names.tolist() == ["Anna", "Cleo"]
    assert survey.reading.dropped == {"'Finished' is not True": 1, "left out on request (Dora)": 1}
    assert "1 row dropped: 'Finished' is not True." in survey.reading.lines()


def test_people_are_left_out_by_name_or_by_row(drinks):
    by_name = read_survey(drinks, leave_out=["Ben"])
    by_row = read_survey(drinks, leave_out=[2])
    assert (
        by_name.rankings.positions.tolist() == by_row.rankings.positions.tolist() == [[1, 2, 3], [1, 3, 2], [2, 1, 3]]
    )


def test_a_judge_is_left_out(tmp_path):
    path = tmp_path / "jury.csv"
    path.write_text(JURY)
    survey = read_survey(path, layout="judges", leave_out=["Ben"])
    assert survey.rankings.positions.tolist() == [[1, 2, 3], [1, 2, 3]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"where": {"town": "Bern"}}, "where asks for 'town', but there is no such column"),
        ({"where": {"city": "Rome"}}, "no row has it. It has 'Basel', 'Bern'"),
        ({"where": {"city": "Basel", "Finished": "False", "age": 28}}, "no row is left"),
        ({"leave_out": ["Zoe"]}, "leave_out names 'Zoe', but nobody is called so"),
        ({"leave_out": ["Anna", "Ben", "Cleo", "Dora"]}, "no row is left"),
    ],
)
def test_what_cannot_be_met_is_refused(drinks, options, message):
    with pytest.raises(RankwiseFormatError, match=message):
        read_survey(drinks, **options)


def test_a_condition_without_an_answer_is_refused(drinks):
    with pytest.raises(ValueError, match="as in 'Finished=True'"):
        read_survey(drinks, where="Finished")
