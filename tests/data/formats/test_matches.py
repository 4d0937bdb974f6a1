"""Sheets of tournaments: matches with both scores in a cell, cross tables, league tables."""

from __future__ import annotations

import numpy as np
import pandas
import pytest

from rankwise import RankwiseFormatError
from rankwise.data import read_rankings, read_survey
from tests.data.formats.survey_files import commands, loaded, written

nan = np.nan
LIONS_TIGERS_BEARS = [[1, 2, nan], [nan, 1, 1], [1, nan, 2]]


@pytest.mark.parametrize(
    "text",
    [
        "Date,Team 1,Score,Team 2\nd,Lions,3-1,Tigers\ne,Tigers,2-2,Bears\nf,Bears,0-1,Lions\n",
        "Home,Away,Result\nLions,Tigers,3:1\nTigers,Bears,2 - 2\nBears,Lions,0 \u2013 1\n",
        "Wer;Ergebnis;Gegen\nLions;10:9;Tigers\nTigers;½-½;Bears\nBears;0-1;Lions\n",
        "A,x,B\nLions,10-9,Tigers\nTigers,1/2-1/2,Bears\nBears,0,5-1,Lions\n".replace("0,5-1", '"0,5-1"'),
    ],
)
def test_both_scores_in_one_cell(tmp_path, text):
    survey = read_survey(written(tmp_path, text))
    assert survey.reading.layout == "pairwise"
    assert "the higher score wins, equal scores are a tie" in survey.reading.reason
    assert survey.rankings.items == ("Lions", "Tigers", "Bears")
    np.testing.assert_array_equal(survey.rankings.positions, LIONS_TIGERS_BEARS)


def test_a_result_that_is_none_is_named(tmp_path):
    path = written(tmp_path, "Home,Score,Away\nLions,3-1,Tigers\nTigers,abandoned,Bears\nBears,0-1,Lions\n")
    with pytest.raises(RankwiseFormatError, match="line 3, column 2: 'abandoned' is not two scores, as 3-1"):
        read_rankings(path)
    (command,) = commands(path)
    assert command.endswith(" --read left=Home --read right=Away --read result=Score --read invalid=drop")
    rankings = loaded(path, command).rankings
    np.testing.assert_array_equal(rankings.positions, [[1, 2, nan], [1, nan, 2]])


def test_the_columns_of_a_match_can_be_named(tmp_path):
    path = written(tmp_path, "here,there,x\nLions,Tigers,3-1\nBears,Cats,1-2\n")
    rankings = read_rankings(path, left="here", right="there", result="x")
    assert rankings.items == ("Lions", "Tigers", "Cats", "Bears")
    np.testing.assert_array_equal(rankings.positions, [[1, 2, nan, nan], [nan, nan, 1, 2]])


def test_ranges_are_no_results(tmp_path):
    text = "age,choice_1,choice_2\n18-24,tea,milk\n25-34,milk,tea\n35-44,tea,juice\n"
    assert read_survey(written(tmp_path, text)).reading.layout == "orders"
    text = "choice_1,age,choice_2\ntea,18-24,milk\nmilk,25-34,tea\ntea,35-44,juice\n"
    assert read_survey(written(tmp_path, text)).reading.layout == "orders"


def test_winner_and_loser_say_more_than_a_result(tmp_path):
    path = written(tmp_path, "winner,loser,score\ntea,milk,1-2\njuice,tea,0-1\n")
    assert read_rankings(path).positions[0].tolist()[:2] == [1, 2]


GOALS = "{},Lions,Tigers,Bears\nLions,-,3:1,1:0\nTigers,2:1,-,2:2\nBears,0:1,2:2,-\n"
CHESS = "No.;Player;Ann;Bob;Cid;Points\n1;Ann;X;1;½;1,5\n2;Bob;0;X;1;1\n3;Cid;½;0;X;0,5\n"


@pytest.mark.parametrize("corner", ["", "Team"])
def test_a_cross_table_of_goals(tmp_path, corner):
    survey = read_survey(written(tmp_path, GOALS.format(corner)))
    assert survey.reading.layout == "pairwise"
    assert survey.rankings.items == ("Lions", "Tigers", "Bears")
    expected = [[1, 2, nan], [1, nan, 2], [2, 1, nan], [nan, 1, 1], [1, nan, 2], [nan, 1, 1]]
    np.testing.assert_array_equal(survey.rankings.positions, expected)
    assert "The sheet is a cross table: a cell says how the item of its row did against that of its column." in (
        survey.reading.lines()
    )


def test_a_cross_table_in_which_every_match_stands_twice(tmp_path):
    survey = read_survey(written(tmp_path, CHESS))
    assert survey.rankings.items == ("Ann", "Bob", "Cid")
    np.testing.assert_array_equal(survey.rankings.positions, [[1, 2, nan], [1, nan, 1], [nan, 1, 2]])
    assert any(line.endswith("Every match stands there twice, and counts once.") for line in survey.reading.lines())
    assert "Columns that were not used: 'No.', 'Points'." in survey.reading.lines()
    again = read_survey(survey.name, **survey.reading.options)
    np.testing.assert_array_equal(again.rankings.positions, survey.rankings.positions)


def test_people_who_rank_each_other_are_no_cross_table(tmp_path):
    path = written(tmp_path, "name,Ann,Bob,Cid,Dee\nAnn,,1,2,3\nBob,2,,1,3\nCid,1,3,,2\nDee,3,2,1,\n")
    survey = read_survey(path)
    assert survey.reading.layout == "positions"
    np.testing.assert_array_equal(survey.rankings.positions[0], [nan, 1, 2, 3])


LEAGUE = "Team,Played,Won,Drawn,Lost,GF,GA,Points\nLions,3,2,0,1,5,3,6\nTigers,3,1,1,1,5,6,4\nBears,2,0,1,1,2,3,1\n"


@pytest.mark.parametrize("text", [LEAGUE, LEAGUE.replace("Played,Won,Drawn,Lost", "P,W,D,L").replace("Points", "Pts")])
def test_a_league_table_is_one_ranking(tmp_path, text):
    path = written(tmp_path, text)
    with pytest.raises(RankwiseFormatError, match=r"this is a league table .* holds the final order only"):
        read_rankings(path)
    (command,) = commands(path)
    found = loaded(path, command)
    assert found.rankings.items == ("Lions", "Tigers", "Bears")
    np.testing.assert_array_equal(found.rankings.positions, [[1, 2, 3]])


def test_a_league_table_without_points_has_no_ranking(tmp_path):
    path = written(tmp_path, "Team,Played,Won,Drawn,Lost\nLions,3,2,0,1\nTigers,3,1,1,1\nBears,2,0,1,1\n")
    with pytest.raises(RankwiseFormatError, match="Give the matches themselves"):
        read_rankings(path)
    assert commands(path) == []


def test_letters_are_no_league_table(tmp_path):
    path = written(tmp_path, "P,W,D,L\n1,2,3,4\n2,1,4,3\n4,3,2,1\n")
    assert read_rankings(path).items == ("P", "W", "D", "L")


def test_a_jury_below_an_empty_corner(tmp_path):
    path = written(tmp_path, ",Ann,Bob,Cid\nRioja,2,1,3\nMerlot,1,3,1\nMalbec,3,2,2\nShiraz,4,4,4\n")
    survey = read_survey(path)
    assert survey.reading.layout == "judges"
    assert survey.rankings.items == ("Rioja", "Merlot", "Malbec", "Shiraz")
    pandas.read_csv(path, index_col=0).to_excel(tmp_path / "jury.xlsx")
    assert read_survey(tmp_path / "jury.xlsx").rankings == survey.rankings


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("team1,team2,winner\na,b,a\nb,c,b\na,c,\nc,a,tie\n", "'winner' says which is better: 'tie' is a tie"),
        ("option_a,option_b,preferred\na,b,A\nb,c,A\na,c,\nc,a,equal\n", "'A' is 'option_a'"),
        ("Left wine,Right wine,Choice\na,b,Left\nb,c,left\na,c,\nc,a,same\n", "'Left' is 'Left wine'"),
        ("home;away;result\na;b;1\nc;b;2\na;c;\nc;a;X\n", "'1' is 'home', '2' is 'away', 'X' is a tie"),
        ("item_a,item_b,outcome\na,b,1\nc,b,0\na,c,\nc,a,0.5\n", "1 in 'outcome' says that 'item_a' won"),
    ],
)
def test_a_column_says_which_of_two_is_better(tmp_path, text, reason):
    path = written(tmp_path, text)
    with pytest.raises(RankwiseFormatError, match=r"line 4.*(?:is not clear|is missing)"):  # and is no order of two
        read_rankings(path)
    survey = read_survey(path, invalid="drop")
    assert survey.reading.layout == "pairwise"
    assert reason in survey.reading.reason
    np.testing.assert_array_equal(survey.rankings.positions, [[1, 2, nan], [nan, 1, 2], [1, nan, 1]])


def test_numbers_that_may_mean_either_side_are_not_guessed(tmp_path):
    for marks in ("0", "1"), ("0", "2"):
        text = "left,right,choice\na,b,{0}\nb,c,{0}\na,c,{1}\n".format(*marks)
        with pytest.raises(RankwiseFormatError, match="no layout fits"):
            read_rankings(written(tmp_path, text))


def test_a_choice_beside_two_places_makes_no_duels(tmp_path):
    text = "first_choice,second_choice,chosen\na,b,a\nb,a,a\na,b,a\n"
    assert read_survey(written(tmp_path, text)).reading.layout == "orders"
