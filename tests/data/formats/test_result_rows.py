"""Rows and columns of a sheet that hold results instead of votes, and headers that say which end is best."""

from __future__ import annotations

import re

import pytest

from rankwise import RankwiseFormatError
from rankwise.cli.sources import load
from rankwise.data import read_rankings
from rankwise.data.formats.detect import read_with_reading
from tests.data.formats.survey_files import commands, loaded, written

PEOPLE = "Person,Tea,Milk,Cola\nAl,1,2,3\nBo,1,2,3\nCy,1,2,3\nDi,3,1,2\nEd,3,1,2\n"
VOTES = [[1, 2, 3]] * 3 + [[3, 1, 2]] * 2


@pytest.mark.parametrize(
    "rows",
    [
        "Sum,9,8,13\nMean,1.8,1.6,2.6\nRank,2,1,3\n",
        'Sum,9,8,13\nMean,1.8,1.6,2.6\n"Thanks to all, Eva",,,\n',
        "Total général,9,8,13\nVotes: 5,,,\n",
        "Summe,9,8,13\nMittelwert,1.8,1.6,2.6\nRang,2,1,3\n",
        "Moyenne,1.8,1.6,2.6\nMax,3,2,3\nClassement final,2,1,3\n",
        "Result,2,1,3\n",
        "Overall place,2,1,3\nOverall place 2025,3,1,2\n",
        "Final rank,2.,1.,3.\n",
    ],
)
@pytest.mark.parametrize("options", [{}, {"layout": "positions", "items": ["Tea", "Milk", "Cola"]}])
def test_rows_of_results_below_the_people_do_not_vote(tmp_path, rows, options):
    rankings, _, reading = read_with_reading(written(tmp_path, PEOPLE + rows), **options)
    assert rankings.positions.tolist() == VOTES
    name = rows.partition(",")[0]
    assert any(f"The row '{name}' on line 7 is " in line for line in reading.lines())


@pytest.mark.parametrize(
    ("text", "n"),
    [
        (PEOPLE + "Max,2,1,3\n", 6),  # a person
        (PEOPLE + "Rank,2,1,3\nEva,1,2,3\n", 7),  # not the last row
        ("wine,Judge 1,Judge 2\nOne,1,2\nTwo,2,1\nPlace,3,3\n", 2),  # an item
        ("item,id,rank\nTea,1,1\nPlace,1,2\nTea,2,2\nPlace,2,1\n", 2),
    ],
)
def test_rows_that_may_vote_stay(tmp_path, text, n):
    rankings = read_rankings(written(tmp_path, text))
    assert len(rankings) == n
    assert rankings.items in (("Tea", "Milk", "Cola"), ("One", "Two", "Place"), ("Tea", "Place"))


@pytest.mark.parametrize("name", ["Sum of places", "Platzziffer", "Sum of ranks", "Wertung"])
def test_a_column_of_sums_is_known_by_its_numbers(tmp_path, name):
    path = written(tmp_path, f"Choir;Judge 1;Judge 2;Judge 3;{name}\nA;2;1;2;5\nB;1;2;1;4\nC;3;3;4;10\nD;4;4;3;11\n")
    rankings, _, reading = read_with_reading(path)
    assert reading.columns == ("Choir", "Judge 1", "Judge 2", "Judge 3")
    assert rankings.positions[0].tolist() == [2, 1, 3, 4]
    assert f"The column '{name}' is the sum of the others; it was left out." in reading.lines()


def test_the_last_of_three_places_is_no_sum(tmp_path):
    path = written(tmp_path, "id,Tea,Milk,Cola\nAl,1,2,3\nBo,1,2,3\nCy,2,1,3\nDi,2,1,3\n")
    assert read_rankings(path).items == ("Tea", "Milk", "Cola")


def test_a_match_without_scores_is_named_and_dropped(tmp_path):
    text = "Date,Home team,Away team,Home goals,Away goals,Attendance\n1,B,W,2,1,34\n2,F,B,0,0,21\n3,W,F,3,2,18\n"
    path = written(tmp_path, f"{text}4,F,W,w/o,,0\n")
    with pytest.raises(RankwiseFormatError, match=r"line 5, column 4: 'w/o' is not a score"):
        read_rankings(path)
    (command,) = commands(path)
    survey = loaded(path, command)
    assert survey.reading.layout == "pairwise"
    assert len(survey.rankings) == 3


def test_a_league_table_gives_a_whole_command(tmp_path):
    path = written(tmp_path, "Team,Played,Won,Drawn,Lost,Points\nL,3,2,0,1,6\nT,3,1,1,1,4\nB,2,0,1,1,1\n")
    with pytest.raises(RankwiseFormatError, match="as one ranking, take this command") as caught:
        load(str(path))
    assert "values=" not in str(caught.value).partition("\n")[0]


@pytest.mark.parametrize(
    ("text", "words", "layout"),
    [
        (
            "p,A (1=very good),B (1=very good),C (1=very good)\n1,1,2,5\n2,2,1,4\n3,1,3,3\n",
            "'1=very good' says that low numbers are best",
            "positions",
        ),
        (
            "Name;K A;K B;K C\nNote von Anna;1;3;4\nNote von Ben;2;2;5\nNote von Eva;1;4;6\n",
            "'Note von' says that low numbers are best",
            "positions",
        ),
        (
            "id,rank_A (3 = best),rank_B (3 = best),rank_C (3 = best)\na,1,2,3\nb,1,3,2\nc,2,1,3\n",
            "'3 = best' says that high numbers are best",
            "scores",
        ),
        ("Name,A,B,C\nx,9,7,4\ny,8,8,3\nz,7,6,5\n", "the items of a jury. Write", "scores"),
    ],
)
def test_headers_that_say_which_end_is_best_are_heard(tmp_path, text, words, layout):
    path = written(tmp_path, text)
    with pytest.raises(RankwiseFormatError, match=re.escape(words)):
        read_rankings(path)
    first, *_ = commands(path)
    assert loaded(path, first).reading.layout == layout
