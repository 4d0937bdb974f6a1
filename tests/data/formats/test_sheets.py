"""Sheets as people keep them: sums beside the judges, titles above the names, matches with scores, mixed scales."""

from __future__ import annotations

import numpy as np
import pytest

from rankwise import RankwiseFormatError
from rankwise.cli.sources import load
from rankwise.data import read_rankings, read_survey
from rankwise.data.formats.detect import read_with_reading
from rankwise.data.formats.reading import shell_words
from rankwise.data.formats.sums import SUM_NAME
from tests.data.formats.survey_files import loaded, written

nan = np.nan


@pytest.mark.parametrize(
    ("text", "columns", "odd"),
    [
        ("judge,A,B,C\nx,1,2,3\ny,10,7,3\nz,2,1,3\n", "A,B,C", "line 3 (10, 7, 3) does not fit places"),
        ("Judge,A,B,C\nAnn,1,2,3\nBob,9,7,4\nCid,1,3,2\n", "A,B,C", "line 3 (9, 7, 4) does not fit places"),
        ("Judge,A,B,C,D\nx,1,2,3,4\ny,9,7,4,2\nz,1,3,2,4\nw,2,1,4,3\n", "A,B,C,D", "line 2 (1, 2, 3, 4) looks like"),
        ("who,A,B,C\nAnn,1,2,3\nBob,2,2,3\nCid,1,3,3\nDee,1,1,2\n", "A,B,C", "line 5 (1, 1, 2) does not fit places"),
    ],
)
def test_mixed_scales_are_asked_about_with_all_columns(tmp_path, text, columns, odd):
    path = written(tmp_path, text)
    with pytest.raises(RankwiseFormatError, match="may be scores") as caught:
        load(str(path))
    assert odd in caught.value.problem
    scores, positions, *_ = caught.value.commands
    assert scores == f"rankwise consensus {path} --layout scores --target {columns}"
    assert loaded(path, scores).rankings.items == tuple(columns.split(","))
    assert loaded(path, positions).reading.direction == "1 is best"


def test_columns_on_another_scale_stay_out(tmp_path):
    path = written(tmp_path, "Judge,age,A,B,C\nAnn,31,9,7,4\nBob,47,8,8,3\n")
    with pytest.raises(RankwiseFormatError) as caught:
        read_rankings(path)
    assert caught.value.choices[0] == {"layout": "scores", "items": ["A", "B", "C"]}


JURY = "Wine,Anna,Ben,Cleo,{}\nRioja,92,88,90,{}\nMerlot,85,90,87,{}\nMalbec,80,,84,{}\n"


@pytest.mark.parametrize(
    ("name", "cells", "what"),
    [
        ("Mean", ("90", "87.33", "82"), "mean"),
        ("Total", ("270", "262", "164"), "sum"),
        ("Durchschnitt", ("90.0", "87.3", "82.0"), "mean"),
        ("total_points", ("270", "262", "164"), "sum"),
    ],
)
def test_sums_of_the_judges_are_left_out(tmp_path, name, cells, what):
    path = written(tmp_path, JURY.format(name, *cells))
    with pytest.raises(RankwiseFormatError, match="'Anna', 'Ben', 'Cleo' may be scores") as caught:
        read_rankings(path)
    assert {choice["layout"] for choice in caught.value.choices} == {"judges"}
    rankings, covariates, reading = read_with_reading(path, **caught.value.choices[0])
    assert covariates["judge"].tolist() == ["Anna", "Ben", "Cleo"]
    np.testing.assert_array_equal(rankings.positions, [[1, 2, 3], [2, 1, nan], [1, 2, 3]])
    assert f"The column '{name}' is the {what} of the others; it was left out." in reading.lines()


def test_a_name_alone_is_no_sum(tmp_path):
    path = written(tmp_path, "wine,Ann,Bob\nTotal,1,2\nTea,2,1\nCola,4,3\nAverage,3,4\n")
    assert read_rankings(path).items == ("Total", "Tea", "Cola", "Average")
    path = written(tmp_path, "total,rank_tea,rank_milk\n5,1,2\n7,2,1\n9,1,2\n")
    assert list(read_rankings(path, return_covariates=True)[1]) == ["total"]
    assert not SUM_NAME.search("meaning\nsummer\ntotally")


def test_a_column_that_the_caller_names_stays(tmp_path):
    path = written(tmp_path, JURY.format("Mean", "90", "87.33", "82"))
    rankings = read_rankings(path, layout="judges", values="scores", judges=["Anna", "Mean"])
    assert len(rankings) == 2


@pytest.mark.parametrize(("name", "cells", "what"), [("Total", "6,6,6", "sum"), ("Mean", "2,2,2.0", "mean")])
def test_a_last_row_of_sums_is_left_out(tmp_path, name, cells, what):
    path = written(tmp_path, f"Wine,Anna,Ben,Cleo\nRioja,1,2,1\nMerlot,2,1,3\nMalbec,3,3,2\n{name},{cells}\n")
    rankings, _, reading = read_with_reading(path)
    assert (reading.layout, rankings.items) == ("judges", ("Rioja", "Merlot", "Malbec"))
    assert f"The row '{name}' on line 5 is the {what} of the others; it was left out." in reading.lines()


def test_years_and_prices_are_no_judges(tmp_path):
    text = "Wine,Vintage,Price,Anna,Ben,Cleo\nRioja,2018,12.5,1,2,1\nMerlot,2019,9,3,1,2\nMalbec,2020,8,2,3,3\n"
    rankings, _, reading = read_with_reading(written(tmp_path, text))
    assert reading.columns == ("Wine", "Anna", "Ben", "Cleo")
    assert "Columns that were not used: 'Vintage', 'Price'." in reading.lines()
    np.testing.assert_array_equal(rankings.positions, [[1, 3, 2], [2, 1, 3], [1, 2, 3]])
    points = (
        text.replace(",1,2,1\n", ",91,92,88\n").replace(",3,1,2\n", ",83,91,82\n").replace(",2,3,3\n", ",82,83,83\n")
    )
    with pytest.raises(RankwiseFormatError, match="may be scores") as caught:
        read_rankings(written(tmp_path, points))
    assert caught.value.choices[0]["judges"] == ["Anna", "Ben", "Cleo"]


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        ("Wine,Anna,Bela,Carl,Dora,Final rank", "Merlot,{},3\nPinot,{},2\nSyrah,{},4\nMalbec,{},1\n"),
        ("Wine,Start,Anna,Bela,Carl,Dora,Place", "Merlot,1,{},3\nPinot,2,{},1\nSyrah,3,{},4\nMalbec,4,{},1\n"),
        ("No.,Wine,Anna,Bela,Carl,Dora,Platz", "1,Merlot,{},3\n2,Pinot,{},2\n3,Syrah,{},4\n4,Malbec,{},1\n"),
    ],
)
def test_numbers_and_results_do_not_vote(tmp_path, header, rows):
    votes = ("3,3,2,4", "1,2,3,1", "4,4,4,3", "2,1,1,2")
    path = written(tmp_path, f"{header}\n{rows.format(*votes)}")
    rankings, covariates, reading = read_with_reading(path)
    assert covariates["judge"].tolist() == ["Anna", "Bela", "Carl", "Dora"]
    assert rankings.items == ("Merlot", "Pinot", "Syrah", "Malbec")
    np.testing.assert_array_equal(rankings.positions[0], [3, 1, 4, 2])
    unused = [name for name in header.split(",") if name not in ("Wine", *covariates["judge"])]
    assert f"Columns that were not used: {', '.join(map(repr, unused))}." in reading.lines()


def test_a_column_that_counts_the_rows_is_asked_about(tmp_path):
    text = "Wine,X,Anna,Bela,Carl\na,1,2,1,3\nb,2,1,2,4\nc,3,3,4,1\nd,4,4,5,2\n"
    with pytest.raises(RankwiseFormatError, match="'X' counts 1, 2, 3") as caught:
        read_rankings(written(tmp_path, f"{text}e,5,5,3,5\n"))
    judges = [choice["judges"] for choice in caught.value.choices]
    assert judges == [["Anna", "Bela", "Carl"], ["X", "Anna", "Bela", "Carl"]]
    # Of few rows a judge may well think that they stand in order, or the chair sorts them by one.
    four = text.replace("d,4,4,5,2", "d,4,4,3,2")
    rankings, _, reading = read_with_reading(written(tmp_path, four.replace("X", "Case")))
    assert len(rankings) == 3
    assert "Columns that were not used: 'Case'." in reading.notes
    rankings, _, reading = read_with_reading(written(tmp_path, four.replace("X", "Olga")))
    assert len(rankings) == 4
    assert "'Olga' counts 1 to 4 down the sheet and votes" in reading.reason
    short = "Wine,{},Anna,Bela,Carl\na,1,2,1,3\nb,2,1,3,1\nc,3,3,2,2\n"
    with pytest.raises(RankwiseFormatError, match="'X' counts 1, 2, 3"):
        read_rankings(written(tmp_path, short.format("X")))
    reading = read_with_reading(written(tmp_path, short.format("Olga")))[2]
    assert "'Olga' counts 1 to 3 down the sheet and votes" in reading.reason


@pytest.mark.parametrize(
    ("text", "judges"),
    [
        ("Team,Table,Anna,Bela,Carl,Sum\nRed,4,7,9,8,24\nBlue,10,8,8,7,23\nGreen,2,6,8,6,20\n", "Anna,Bela,Carl"),
        ("Team,Booth,Anna,Bela,Carl,Sum\nRed,4,7,9,8,24\nBlue,10,8,8,7,23\nGreen,2,6,8,6,20\n", "Anna,Bela,Carl"),
        ("Team,Price,Judge A,Judge B,Total\nRed,3,7,9,16\nBlue,1,8,6,14\nGreen,2,6,8,14\n", "Judge A,Judge B"),
        ("Wine,Vintage,Price (EUR),Anna,Bela\nMerlot,2015,12,15,14\nPinot,2018,18,18,17\n", "Anna,Bela"),
        ("Team,Judge 1,Judge 2,Weighted total\nRed,9,8,8.3\nBlue,7,9,7.9\nGreen,6,5,6.1\n", "Judge 1,Judge 2"),
    ],
)
def test_commands_for_points_name_the_judges(tmp_path, text, judges):
    path = written(tmp_path, text)
    with pytest.raises(RankwiseFormatError, match="may be scores") as caught:
        load(str(path))
    assert f"but there are {text.count(chr(10)) - 1} items" in caught.value.problem
    for command in caught.value.commands:
        assert f"judges={judges}" in command
        assert loaded(path, command).names.tolist() == judges.split(",")
    assert read_rankings(path, layout="judges", values="scores").shape[0] == len(judges.split(","))


@pytest.mark.parametrize(
    "header",
    [
        "player_a,player_b,score_a,score_b",
        "home,away,home_goals,away_goals",
        "Team 1,Team 2,Points 1,Points 2",
        "white,black,white score,black score",
    ],
)
def test_matches_are_won_by_the_higher_score(tmp_path, header):
    path = written(tmp_path, f"{header}\nann,bob,3,1\nbob,cid,0,2\nann,cid,1,1\n")
    rankings, covariates, reading = read_with_reading(path)
    assert (reading.layout, rankings.items, covariates) == ("pairwise", ("ann", "bob", "cid"), {})
    np.testing.assert_array_equal(rankings.positions, [[1, 2, nan], [nan, 2, 1], [1, nan, 1]])
    assert "the higher score wins, equal scores are a tie" in reading.reason
    assert read_rankings(path, **reading.options) == rankings


def test_scores_of_items_are_no_matches(tmp_path):
    path = written(tmp_path, "city,score_a,score_b\nOslo,3,1\nBonn,1,2\n")
    assert read_with_reading(path)[2].layout == "scores"


def test_a_match_without_a_score_is_told_or_dropped(tmp_path):
    path = written(tmp_path, "player_a,player_b,score_a,score_b\nann,bob,3,1\nbob,cid,,2\nann,cid,1,1\n")
    with pytest.raises(RankwiseFormatError, match=r"line 3: a score is missing"):
        read_rankings(path)
    assert len(read_rankings(path, invalid="drop")) == 2


def test_spelling_variants_are_counted(tmp_path):
    path = written(
        tmp_path, "voter,vote\nv1,Tea>Milk>Juice\nv2,tea>Juice>Milk\nv3,Tea >Milk>Juice\nv4,TEA>Milk>Juice\n"
    )
    survey = read_survey(path)
    assert set(survey.rankings.items) == {"Tea", "tea", "TEA", "Milk", "Juice"}  # nothing is merged unasked
    finding = survey.check["spelling"]
    assert (finding.rows, finding.note) == ((3, 5), "'Tea' (2 rows), 'tea' (1 row), 'TEA' (1 row)")
    assert any("are counted as different items" in line for line in survey.reading.lines())
    path = written(tmp_path, "email,rank_a,rank_b\nann@x.org,1,2\nbob@x.org,2,1\nAnn@x.org,1,2\nann@x.org,1,2\n")
    check = read_survey(path).check
    assert (check["same_id"].rows, check["similar_id"].rows) == ((5,), (4,))


LABELED = "v7_1,v7_2,v7_3\n{}\n3,1,2\n2,3,1\n1,2,3\n"


@pytest.mark.parametrize("labels", ["Tea,Milk,Juice", "Rank: Tea,Rank: Milk,Rank: Juice"])
def test_labels_that_only_name_items_are_items(tmp_path, labels):
    path = written(tmp_path, LABELED.format(labels))
    for options in ({}, {"prefix": "v7_"}, {"layout": "positions", "prefix": "v7_"}):
        assert read_rankings(path, **options).items == ("Tea", "Milk", "Juice")


def test_labels_that_say_places_are_no_items(tmp_path):
    path = written(tmp_path, LABELED.format("First choice,Second choice,Third choice"))
    with pytest.raises(RankwiseFormatError, match="may be positions"):
        read_rankings(path)


def test_titles_and_two_rows_of_names_in_csv(tmp_path):
    path = written(tmp_path, "Drinks survey,,,\nAge,Rank the drinks,,\n,Tea,Milk,Juice\n50,3,2,1\n65,1,2,3\n66,1,3,2\n")
    rankings, covariates, reading = read_with_reading(path)
    assert rankings.items == ("Tea", "Milk", "Juice")
    assert covariates["Age"].tolist() == [50, 65, 66]
    assert "The title 'Drinks survey' on line 1 was passed over." in reading.lines()
    path = written(tmp_path, "Pupil,Choices,\nname,first,second\nAnn,tea,milk\nBob,milk,tea\n")
    with pytest.raises(RankwiseFormatError, match="'second' stands below an empty cell, as if two rows held names"):
        read_rankings(path)


def test_a_word_for_a_place_is_no_part_of_an_item(tmp_path):
    path = tmp_path / "käse.csv"
    path.write_text("Alter;Rang Käse;Rang Müsli;Rang Brot\n31;1;2;3\n45;2;1;3\n51;1;3;2\n61;3;1;2\n", encoding="cp1252")
    with pytest.raises(
        RankwiseFormatError, match="if Excel on Windows wrote it, take --read encoding=cp1252"
    ) as caught:
        load(str(path))
    assert loaded(path, caught.value.commands[0]).rankings.items == ("Käse", "Müsli", "Brot")
    path = written(tmp_path, "Rank Tea,Rank Milk,Rank Cola\n1,2,3\n2,1,3\n3,1,2\n")
    assert read_rankings(path).items == ("Tea", "Milk", "Cola")
    path = written(tmp_path, "Team Tea,Team Milk,Team Cola\n1,2,3\n2,1,3\n3,1,2\n")
    assert read_rankings(path).items == ("Team Tea", "Team Milk", "Team Cola")


def test_cures_speak_shell_on_the_command_line(tmp_path):
    path = written(tmp_path, "x,vote\n1,a>b=c\n2,b>a>c\n")
    with pytest.raises(RankwiseFormatError) as caught:
        load(str(path))
    assert caught.value.cure == "If so, take --read tie==; if it is one item, name all items with --read items=A,B,C."
    assert set(loaded(path, caught.value.commands[0]).rankings.items) == {"a", "b", "c"}
    path = written(
        tmp_path, "rank_a,rank_b,rank_c,rank_d,rank_e\n1,2,3,4,5\n2,1,3,4,5\n1,9,9,2,9\n1,9,9,2,3\n2,9,1,3,4\n"
    )
    assert "give --read missing_values=9, and --read unlisted=below if" in " ".join(load(str(path)).reading.lines())
    assert "missing_values=['9']" in " ".join(read_survey(path).reading.lines())
    path = written(tmp_path, "wt,rank_a,rank_b\n-1,1,2\n2,1,2\n")
    with pytest.raises(RankwiseFormatError, match="drop such rows, take --read weights=wt --read invalid=drop"):
        load(str(path), weight="wt")


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("Name it: winner='...'.", "Name it: --read winner=COLUMN."),
        ("give missing_values=['a, b']", "give --read \"missing_values=['a, b']\""),
        ("(pandas: index=False)", "(pandas: index=False)"),
        ("write read_rankings(path, layout='scores', prefix='Team ').", 'write X --layout scores --target "Team ".'),
    ],
)
def test_sentences_in_shell_words(sentence, said):
    assert shell_words(sentence, "X") == said


def test_an_item_with_two_places_is_told_first(tmp_path):
    path = written(tmp_path, "respondent,item,rank\nann,tea,1\nann,milk,2\nann,tea,3\nbob,milk,1\nbob,tea,2\n")
    with pytest.raises(RankwiseFormatError, match="line 4, column 2: item 'tea' has a position on line 2 already"):
        read_rankings(path)


DROPPED = {
    "strings": ("x,vote\n1,a>b>c\n2,a>>c\n3,b>a>b\n4,c>b>a\n5,b>a>c\n", {"column": "vote"}, [2, 3], 3),
    "long": ("id,item,rank\n" + "x,a,1\nx,b,2\ny,a,1\ny,a,2\nz,a,2\nz,b,1\nw,a,first?\nw,b,1\n", {}, [4, 5, 8], 3),
    "pairwise": ("winner,loser\na,b\nb,b\n,a\nc,a\nb,c\n", {}, [3, 4], 3),
    "orders": ("choice_1,choice_2\na,b\nb,b\nb,a\n", {"prefix": "choice_"}, [3], 2),
}


@pytest.mark.parametrize("layout", sorted(DROPPED))
def test_rows_that_are_no_rankings_are_dropped(tmp_path, layout):
    text, options, _, n_left = DROPPED[layout]
    path = written(tmp_path, text)
    with pytest.raises(RankwiseFormatError):
        read_rankings(path, layout=layout, **options)
    rankings, _, reading = read_with_reading(path, layout=layout, invalid="drop", **options)
    assert len(rankings) == n_left
    assert sum(reading.dropped.values()) == len(DROPPED[layout][2])


def test_no_row_of_a_jury_is_dropped(tmp_path):
    path = written(tmp_path, "wine,Anna,Ben\nRioja,1,2\nMerlot,2,1\n")
    with pytest.raises(RankwiseFormatError, match=r"here a row is an item.*judges="):
        read_rankings(path, layout="judges", invalid="drop")
