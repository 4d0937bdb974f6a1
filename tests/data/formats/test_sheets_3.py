"""Sheets as people keep them, continued: places in words of their own, and numbered columns that hold no items."""

from __future__ import annotations

import openpyxl
import pytest

from rankwise.data import read_rankings
from rankwise.data.formats.detect import read_with_reading
from rankwise.exceptions import RankwiseFormatError
from tests.data.formats.survey_files import written

ROWS = "1,Alien,Heat,Jaws\n2,Heat,Alien,Jaws\n3,Alien,Jaws,Heat\n"


@pytest.mark.parametrize(
    "names",
    [
        "1er choix,2e choix,3e choix",
        "1ère préférence,2ème préférence,3ème préférence",
        "Votre 1er choix de film,Votre 2e choix de film,Votre 3e choix de film",
        "Top choice,2nd choice,3rd choice",
        "Which do you like most?,Which do you like second most?,Which do you like third most?",
        "Your favourite film,Your second favourite film,Your third favourite film",
        "favourite,second_favourite,third_favourite",
        "Best film,Runner-up,Third place",
        "Favourite,2nd favourite,Least favourite",
        "Erstwahl,Zweitwahl,Drittwahl",
        "Film of the year,2nd film,3rd film",
    ],
)
def test_the_first_place_counts_whatever_it_is_called(tmp_path, names):
    rankings, _, reading = read_with_reading(written(tmp_path, f"id,{names}\n{ROWS}"))
    assert rankings.items == ("Alien", "Heat", "Jaws")
    assert rankings.positions.tolist() == [[1, 2, 3], [2, 1, 3], [1, 3, 2]]
    assert list(reading.columns) == names.split(",")


def test_the_column_taken_for_the_first_place_is_named(tmp_path):
    reading = read_with_reading(written(tmp_path, f"id,Film,2nd film,3rd film\n{ROWS}"))[2]
    assert "'Film' was taken for the first place: it holds the same items as the next ones." in reading.lines()


@pytest.mark.parametrize(
    "names", ["Choice 1,Choice 2,Choice 3", "Vote [1st choice],Vote [2nd choice],Vote [3rd choice]"]
)
def test_ballots_that_name_somebody_twice_are_counted_and_can_be_dropped(tmp_path, names):
    path = written(tmp_path, f"Ballot,{names}\n1,Ann,Bob,Cid\n2,Bob,Ann,\n3,Ann,,\n4,Ann,Bob,Bob\n5,Cid,Ann,Bob\n")
    with pytest.raises(RankwiseFormatError, match="line 5: item 'Bob' is listed twice") as caught:
        read_rankings(path)
    assert "to drop the row, add invalid='drop'" in caught.value.cure
    (choice,) = caught.value.choices
    rankings, _, reading = read_with_reading(path, **choice)
    assert len(rankings) == 4
    assert reading.dropped == {"an item is listed twice": 1}
    text = (tmp_path / path).read_text() + "6,Ann,Ann,Cid\n"
    with pytest.raises(RankwiseFormatError, match=r"listed twice \(2 of 6 rows are not rankings\)"):
        read_rankings(written(tmp_path, text), **{**choice, "invalid": "raise"})


@pytest.mark.parametrize(
    "text",
    [
        # The column before the second place holds other answers.
        "id,City,2nd choice,3rd choice\n1,Rome,Heat,Jaws\n2,Oslo,Alien,Jaws\n3,Bonn,Jaws,Heat\n",
        # Others may stand between the least favorite and the second.
        "id,Favourite,2nd favourite,Least favourite\n1,a,b,c\n2,b,a,d\n3,a,c,b\n",
    ],
)
def test_no_command_leaves_out_a_place(tmp_path, text):
    with pytest.raises(RankwiseFormatError, match="no layout fits") as caught:
        read_rankings(written(tmp_path, text))
    assert caught.value.choices == []


@pytest.mark.parametrize(
    ("names", "rows", "what"),
    [
        (
            "Race 1,Race 2,Race 3",
            ["12:31,12:40,12:55", "12:35,12:31,12:44", "13:02,12:59,DNF"],
            "times such as '12:31'",
        ),
        ("Round 1,Round 2", ["0:12:31,0:12:40", "0:12:35,0:12:31"], "times such as '0:12:31'"),
        ("Lane 1,Lane 2", ["12:31,12:40", "12:40,12:31"], "times such as '12:31'"),
        ("Exam 1,Exam 2,Exam 3", ["B,A,C", "A,B,D", "C,B,D"], "grades such as 'B'"),
        ("Paper 1,Paper 2,Paper 3", ["B,A,C", "A,A-,B", "B+,A,C"], "grades such as 'B'"),
        ("Job 1,Job 2,Job 3", ["Done,Open,Late", "Open,Done,Late"], "answers such as 'Done'"),
        ("Question 1,Question 2", ["yes,no", "no,yes"], "answers such as 'yes'"),
        ("First choice: Tea,Second choice: Tea", ["x,", ",x"], "ticks such as 'x'"),
    ],
)
def test_numbered_columns_of_no_items_are_no_orders(tmp_path, names, rows, what):
    text = "".join(f"p{at},{row}\n" for at, row in enumerate(rows))
    with pytest.raises(RankwiseFormatError, match=f"hold {what}") as caught:
        read_rankings(written(tmp_path, f"Name,{names}\n{text}"))
    assert caught.value.choices == []


def test_names_of_occasions_ask_and_names_of_places_do_not(tmp_path):
    rows = "p,Pizza,Pasta\nq,Pasta,Soup\n"
    with pytest.raises(RankwiseFormatError, match="no layout fits") as caught:
        read_rankings(written(tmp_path, f"Voter,Week 1,Week 2\n{rows}"))
    assert caught.value.choices == [{"layout": "orders", "prefix": "Week "}]
    with pytest.raises(RankwiseFormatError, match="no layout fits") as caught:  # an item twice in a row is no order
        read_rankings(written(tmp_path, f"Voter,Week 1,Week 2\n{rows}r,Soup,Soup\n"))
    assert caught.value.choices == []
    slots = read_rankings(written(tmp_path, "Voter,Choice 1,Choice 2\np,12:30,14:00\nq,14:00,12:30\n"))
    assert slots.items == ("12:30", "14:00")


def test_two_grids_are_two_rankings(tmp_path):
    names = [f"Rank by {what} [{item}]" for what in ("taste", "price") for item in ("Cola", "Fanta", "Sprite")]
    rows = "2026/03/01,1,2,3,3,2,1\n2026/03/02,1,3,2,3,1,2\n2026/03/03,1,2,3,2,3,1\n"
    path = written(tmp_path, f"Timestamp,{','.join(names)}\n{rows}")
    with pytest.raises(RankwiseFormatError, match="may be in 2 groups of columns") as caught:
        read_rankings(path)
    assert [choice["prefix"] for choice in caught.value.choices] == ["Rank by taste [", "Rank by price ["]
    assert read_rankings(path, **caught.value.choices[1]).positions[0].tolist() == [3, 2, 1]
    rated = written(tmp_path, f"Timestamp,{','.join(names)}\n{rows.replace('1', '5')}".replace("Rank by", "Rate"))
    with pytest.raises(RankwiseFormatError, match="may be scores") as caught:
        read_rankings(rated)
    assert [choice["prefix"] for choice in caught.value.choices] == ["Rate taste ["] * 2 + ["Rate price ["] * 2


@pytest.mark.parametrize("cells", [("Gold", "Silver", "Bronze"), ("9/10", "8/10", "7.5/10")])
def test_medals_and_points_out_of_ten_are_scores(tmp_path, cells):
    best, middle, worst = cells
    text = f"Wine,Taster 1,Taster 2\nMerlot,{best},{middle}\nSyrah,{middle},{middle}\nMalbec,{worst},{best}\n"
    assert read_rankings(written(tmp_path, text)).positions.tolist() == [[1, 2, 3], [2, 2, 1]]


def test_items_in_brackets_before_a_question_mark(tmp_path):
    text = "Timestamp,How good is [Tea]?,How good is [Milk]?\n2026-01-01,good,bad\n2026-01-02,bad,good\n"
    assert read_rankings(written(tmp_path, text)).items == ("Tea", "Milk")


def test_a_sheet_of_one_cell_is_not_offered(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["Our contest"])
    votes = book.create_sheet("Votes")
    for row in (["Juror", "rank_A", "rank_B"], ["X", 1, 2], ["Y", 2, 1]):
        votes.append(row)
    book.save(tmp_path / "votes.xlsx")
    assert read_rankings(tmp_path / "votes.xlsx").items == ("A", "B")


def test_a_judge_of_points_on_another_scale_is_not_left_out(tmp_path):
    path = written(tmp_path, "wine,Ann,Bob,Cid\nRioja,9,8,88\nMerlot,7,9,70\nMalbec,6,5,65\n")
    with pytest.raises(
        RankwiseFormatError, match=r"'Cid' is on another scale: it may be judged .*, or be no judge"
    ) as e:
        read_rankings(path)
    ways = [(choice["judges"], choice["values"]) for choice in e.value.choices]
    some = ["Ann", "Bob"]
    assert ways == [([*some, "Cid"], "scores"), (some, "scores"), (some, "positions")]
    assert len(read_rankings(path, **e.value.choices[0])) == 3
