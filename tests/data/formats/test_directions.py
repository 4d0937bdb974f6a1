"""Which numbers are best, where the sheet says it outside the votes: in titles, notes, sums, results and labels."""

from __future__ import annotations

import numpy as np
import pytest

from rankwise import RankwiseFormatError
from rankwise.data import read_rankings, read_survey
from rankwise.data.formats.detect import read_with_reading
from tests.data.formats.survey_files import written

ROWS = "x,3,2,1\ny,3,1,2\nz,2,3,1\n"  # high numbers for A
TEAMS = "Alpha;3;2;3\nBeta;2;3;2\nGamma;1;1;1\n"  # every column is a ranking of the rows


def beside(header: str, *columns: str) -> str:
    """The sheet of three teams and three judges with more columns."""
    rows = [";".join(cells) for cells in zip(TEAMS.split(), *map(str.split, columns), strict=True)]
    return "\n".join([header, *rows]) + "\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"judge,A,B,C\n{ROWS}Final rank,1,2,3\n", "'Final rank' gives the best places to the highest numbers"),
        (f"judge,A,B,C\n{ROWS}Total,8,6,4\nRank,1,2,3\n", "'Rank' gives the best places to the highest numbers"),
        (beside("team;Ann;Bob;Cid;Summe;Platz", "8 7 3", "1 2 3"), "'Platz' gives the best places to the highest"),
        (beside("team;Ann;Bob;Cid;Punkte gesamt", "8 7 3"), "'Punkte gesamt' speaks of points"),
        (f"Points of the jury 2026\njudge,A,B,C\n{ROWS}", "'Points of the jury 2026' speaks of points"),
        (f"Rank 3 = best\njudge,A,B,C\n{ROWS}", "'3 = best' says that high numbers are best"),
        (f"Rank from worst to best\njudge,A,B,C\n{ROWS}", "'worst to best' says that high numbers are best"),
        (f"judge,Least to most dear [A],Least to most dear [B],Least to most dear [C]\n{ROWS}", "'Least to most'"),
        (f"judge,A,B,C\n{ROWS}\nNote: 3 = best\n", "'3 = best' says that high numbers are best"),
        (f"judge,A,B,C\n{ROWS.replace(',', ' pts,').replace(' pts', '', 1)}".replace("\n", " pts\n"), "no layout|pts"),
        ("student,math,bio,art\nAnn,1,2,3\nBob,2,2,1\nCid,3,1,2\nDan,1,1,1\nEve,2,3,3\n", r"'math' \(1, 2, 3, 1, 2\)"),
    ],
)
def test_numbers_that_the_sheet_calls_points_are_asked_about(tmp_path, text, why):
    with pytest.raises(RankwiseFormatError, match=why) as caught:
        read_rankings(written(tmp_path, text))
    ways = {choice.get("values", choice["layout"]) for choice in caught.value.choices}
    assert ways == {"scores", "positions"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id,worst to best\n1,Tea > Milk\n2,Milk > Tea\n", "'worst to best'"),
        ('id,from bad to good\n1,"Tea, Milk"\n2,"Milk, Tea"\n', "'bad to good'"),
        ("Order (least to most) 1,Order (least to most) 2\nA,B\nB,A\nA,B\n", "'least to most'"),
        (
            "Vom schlechtesten bis zum besten,,\nPlatz 1,Platz 2,Platz 3\nA,B,C\nB,A,C\nA,C,B\n",
            "'schlechtesten bis zum besten'",
        ),
    ],
)
def test_orders_that_begin_with_the_worst_are_not_turned_silently(tmp_path, text, words):
    path = written(tmp_path, text)
    with pytest.raises(RankwiseFormatError, match=f"{words} says that the worst item is listed first") as caught:
        read_rankings(path)
    (choice,) = caught.value.choices
    assert read_rankings(path, **choice).n_items in (2, 3)


@pytest.mark.parametrize(
    "text",
    [
        f"judge,A,B,C\n{ROWS}Final rank,3,2,1\n",
        f"Rank from best to worst\njudge,A,B,C\n{ROWS}",
        f"judge,From most to least [A],From most to least [B],From most to least [C]\n{ROWS}",
        f"judge,A,B,C\n{ROWS}Total,8,6,4\nRank,3,2,1\n",
        f"Rank 1 = best\njudge,A,B,C\n{ROWS}",
        f"judge,A,B,C\n{ROWS}\nNote: 1 = best\n",
        f"judge,rank_A,rank_B,rank_C\n{ROWS}Total points,8,6,4\n",
        beside("team;Ann;Bob;Cid;Summe;Platz", "8 7 3", "3 2 1"),
        beside("team;Ann;Bob;Cid;Platzziffer", "8 7 3"),
    ],
)
def test_places_that_the_sheet_confirms_are_read(tmp_path, text):
    assert read_with_reading(written(tmp_path, text))[2].direction == "1 is best"


@pytest.mark.parametrize(("unit", "note"), [("%", "'90%', '80%'"), (" pts", "'90 pts', '80 pts'")])
def test_percentages_and_points_are_numbers(tmp_path, unit, note):
    path = written(tmp_path, f"judge,A,B\nx,90{unit},80{unit}\ny,70{unit},\n")
    with pytest.raises(RankwiseFormatError, match="may be scores"):
        read_rankings(path)
    rankings, _, reading = read_with_reading(path, layout="scores", items=["A", "B"])
    np.testing.assert_array_equal(rankings.positions, [[1, 2], [1, np.nan]])
    assert f"Cells such as {note} were read as numbers." in reading.lines()


def test_a_last_row_of_sums_needs_no_name(tmp_path):
    rankings, _, reading = read_with_reading(written(tmp_path, "judge,A,B,C\nx,1,2,3\ny,2,1,3\nz,1,3,2\n,4,6,8\n"))
    assert len(rankings) == 3
    assert "The last row (line 5) is the sum of the others; it was left out." in reading.lines()
    # A judge without a name, whose places are no sum.
    assert len(read_rankings(written(tmp_path, "judge,A,B,C\nx,1,2,3\ny,2,1,3\nz,1,3,2\n,1,2,3\n"))) == 4


def test_a_second_table_below_is_named(tmp_path):
    text = "judge,A,B,C\nx,1,2,3\ny,2,1,3\njudge,A,B,C\nx,3,2,1\n"
    with pytest.raises(RankwiseFormatError, match="line 4: the names of the columns stand here again"):
        read_rankings(written(tmp_path, text))


@pytest.mark.parametrize("fill", ["", ",,"])
def test_another_table_below_a_blank_row_is_named(tmp_path, fill):
    jury = "No.,wine,Ann,Ben,Cleo\n1,Rioja,91,88,90\n2,Merlot,85,87,86\n3,Port,80,82,81\n"
    below = f"\nJudge,Country,City{fill}\nAnn,ES,Bilbao{fill}\nBen,DE,Ulm{fill}\n"
    with pytest.raises(RankwiseFormatError, match=r"line 6: another table .* \('Judge', 'Country', 'City'\)"):
        read_rankings(written(tmp_path, jury + below))
    # A blank line alone is no second table, nor are people who left the last questions out.
    asked = "sex,town,rank_A,rank_B\nm,Ulm,1,2\nf,Rom,2,1\n\nm,Ulm,,\nf,Rom,,\n"
    assert len(read_rankings(written(tmp_path, asked, name="people.csv"))) == 4


def test_a_judge_without_votes_does_not_part_the_others(tmp_path):
    path = written(tmp_path, "wine,Ann,Ben,Cleo,Dan\nRioja,91,88,,90\nMerlot,85,87,,86\nPort,80,82,,81\n")
    with pytest.raises(RankwiseFormatError, match="'Ann', 'Ben', 'Dan' may be scores") as caught:
        read_rankings(path)
    assert "another scale" not in str(caught.value)
    assert [choice["judges"] for choice in caught.value.choices] == [["Ann", "Ben", "Dan"]] * 2


def test_people_who_score_on_another_scale_are_told(tmp_path):
    path = written(tmp_path, "judge,A,B,C\nAnn,9,7,4\nBob,8,8,3\nCid,90,60,50\nDee,7,9,2\n")
    notes = read_with_reading(path, layout="scores", items=["A", "B", "C"])[2].notes
    assert "The scales may differ: line 4 holds 50 to 90, but most rows 2 to 9." in notes[0]
    same = written(tmp_path, "judge,A,B,C\nAnn,9,7,4\nBob,8,8,3\nCid,10,6,9\nDee,7,9,2\n")
    assert read_with_reading(same, layout="scores", items=["A", "B", "C"])[2].notes == ()


def test_scores_stay_with_their_items_whatever_the_order_of_the_columns(tmp_path):
    # Columns are taken by number: 1, 2, 10.
    path = written(tmp_path, "judge,Team 10,Team 2,Team 1\nAnn,9,7,4\nBob,8,7,3\nCid,10,6,5\n")
    survey = read_survey(path, layout="scores", prefix="Team ")
    assert survey.rankings.items == ("1", "2", "10")
    np.testing.assert_array_equal(survey.scores[0], [4, 7, 9])
    assert survey.reading.columns == ("Team 1", "Team 2", "Team 10")


def test_columns_of_orders_are_named_best_first(tmp_path):
    path = written(tmp_path, "who,3rd,2nd,1st\nx,Tea,Milk,Juice\ny,Milk,Tea,Juice\nz,Tea,Juice,Milk\n")
    assert read_survey(path).reading.columns == ("1st", "2nd", "3rd")
    assert read_survey(path, layout="orders", columns=["1st", "3rd", "2nd"]).reading.columns == ("1st", "3rd", "2nd")


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("who,best,middle,worst\nx,Tea,Milk,Juice\ny,Juice,Tea,Milk\nz,Tea,Milk,Juice\n", ["best", "middle", "worst"]),
        ("event,Bronze,Silver,Gold\na,Ann,Bob,Cid\nb,Cid,Ann,Bob\n", ["Gold", "Silver", "Bronze"]),
        ("Country,12,10,8\na,Oslo,Rome,Bonn\nb,Rome,Bonn,Bern\n", ["12", "10", "8"]),
    ],
)
def test_columns_of_names_are_offered_best_first(tmp_path, text, columns):
    with pytest.raises(RankwiseFormatError, match=r"no layout fits.*the places best first") as caught:
        read_rankings(written(tmp_path, text))
    assert caught.value.choices == [{"layout": "orders", "columns": columns}]


def test_words_for_priorities_and_places_are_not_offered_as_items(tmp_path):
    for words in (("P1", "P2", "P3"), ("high", "medium", "low"), ("1 место", "2 место", "3 место")):
        a, b, c = words
        with pytest.raises(RankwiseFormatError, match="no layout fits") as caught:
            read_rankings(written(tmp_path, f"judge,A,B,C\nx,{a},{b},{c}\ny,{b},{a},{c}\nz,{a},{c},{b}\n"))
        assert not caught.value.choices


def test_no_columns_are_offered_beside_one_that_may_hold_the_first_place(tmp_path):
    with pytest.raises(RankwiseFormatError, match="no layout fits") as caught:
        read_rankings(written(tmp_path, "who,loved,liked,disliked\nx,Tea,Milk,Juice\ny,Tea,Juice,Milk\n"))
    assert not caught.value.choices


def test_medals_are_places(tmp_path):
    path = written(tmp_path, "event,Gold,Silver,Bronze\na,Ann,Bob,Cid\nb,Bob,Ann,Cid\nc,Ann,Cid,Bob\n")
    rankings = read_rankings(path)
    assert rankings.items == ("Ann", "Bob", "Cid")
    assert rankings.positions.tolist() == [[1, 2, 3], [2, 1, 3], [1, 3, 2]]


def test_the_best_and_the_worst_alone_are_no_order(tmp_path):
    with pytest.raises(RankwiseFormatError, match="no layout fits") as caught:
        read_rankings(written(tmp_path, "who,worst,best\nx,Juice,Tea\ny,Milk,Tea\nz,Tea,Juice\n"))
    assert not caught.value.choices


def test_judges_below_headings_of_their_own(tmp_path):
    text = "Wine,Red,Red,White\n,Ann,Bob,Cid\nRioja,1,2,1\nMerlot,2,1,2\nMalbec,3,3,3\n"
    rankings, covariates, _ = read_with_reading(written(tmp_path, text))
    assert rankings.items == ("Rioja", "Merlot", "Malbec")
    assert covariates["judge"].tolist() == ["Red - Ann", "Red - Bob", "White - Cid"]


def test_of_two_grids_the_one_of_ratings_is_offered_as_scores(tmp_path):
    names = [f"{ask} the {what} [{item}]" for ask, what in (("Rank", "tea"), ("Rate", "food")) for item in "ABC"]
    path = written(tmp_path, f"Timestamp,{','.join(names)}\na,1,2,3,3,2,1\nb,2,1,3,1,3,2\nc,1,3,2,2,1,3\n")
    with pytest.raises(RankwiseFormatError, match="2 groups of columns") as caught:
        read_rankings(path)
    ways = [(choice["layout"], choice["prefix"]) for choice in caught.value.choices]
    assert ways == [("positions", "Rank the tea ["), ("scores", "Rate the food ["), ("positions", "Rate the food [")]


@pytest.mark.parametrize(
    "text",
    [
        "rank,Ann,Bob,Cid\n1,Tea,Milk,Tea\n2,Milk,Tea,Juice\n3,Juice,Juice,Milk\n",
        "Platz;Ann;Bob;Cid\n1.;Tea;Milk;Tea\n2.;Milk;Tea;Juice\n3.;Juice;Juice;Milk\n",
        ",Ann,Bob,Cid\n1st choice,Tea,Milk,Tea\n2nd choice,Milk,Tea,Juice\n3rd choice,Juice,Juice,Milk\n",
        "Ann,Bob,Cid\nTea,Milk,Tea\nMilk,Tea,Juice\nJuice,Juice,Milk\n",
    ],
)
def test_orders_in_columns_of_judges_are_turned(tmp_path, text):
    path = written(tmp_path, text)
    survey = read_survey(path)
    assert survey.rankings.items == ("Tea", "Milk", "Juice")
    assert survey.rankings.positions.tolist() == [[1, 2, 3], [2, 1, 3], [1, 3, 2]]
    assert survey.names.tolist() == ["Ann", "Bob", "Cid"]
    assert "The sheet has a column per judge and a row per place; it was turned." in survey.reading.notes
    again = read_survey(path, layout="orders", target="place ")  # as the reading says it
    assert again.rankings == survey.rankings


@pytest.mark.parametrize(
    "text",
    [
        "id,choice_1,choice_2,choice_3\n1,A,B,C\n2,B,C,A\n3,C,A,B\n",  # people, numbered
        "who,1st,2nd,3rd\na,A,B,C\nb,B,C,A\nc,C,A,B\n",
    ],
)
def test_orders_of_people_are_not_turned(tmp_path, text):
    assert read_rankings(written(tmp_path, text)).positions.tolist() == [[1, 2, 3], [3, 1, 2], [2, 3, 1]]


def test_answers_and_single_rankings_are_not_turned(tmp_path):
    for text in ("rank,item,country\n1,A,Spain\n2,B,France\n3,C,Italy\n", "a,b\nyes,no\nno,yes\nmaybe,maybe\n"):
        with pytest.raises(RankwiseFormatError):
            read_rankings(written(tmp_path, text))


def test_words_of_counted_ballots_are_no_items(tmp_path):
    rows = "1,A,undervote,undervote,skipped\n2,overvote,B,A,done\n3,B,A,C,done\n4,A,C,B,skipped\n"
    survey = read_survey(written(tmp_path, f"ballot,rank1,rank2,rank3,state\n{rows}"))
    assert survey.rankings.items == ("A", "B", "C")
    np.testing.assert_array_equal(survey.rankings.positions[:2], [[1, np.inf, np.inf], [2, 1, np.inf]])
    assert "'overvote', 'undervote': no vote, counted as blank." in survey.reading.notes
    assert survey.X["state"].tolist() == ["skipped", "done", "done", "skipped"]  # an answer like others elsewhere
    places = read_with_reading(written(tmp_path, "rank_A,rank_B\n1,2\n2,skipped\n2,1\n"))
    np.testing.assert_array_equal(places[0].positions, [[1, 2], [1, np.nan], [2, 1]])
