"""Sheets as people keep them, continued: repeated ids, previews, points in long form, notes below a table."""

from __future__ import annotations

import openpyxl
import pytest

from rankwise.cli.sources import load
from rankwise.data import read_rankings, read_survey
from rankwise.data.formats.detect import read_with_reading
from rankwise.exceptions import RankwiseFormatError
from tests.cli.running import problem, run
from tests.data.formats.survey_files import loaded, written

TWICE = "Respondent ID,rank_Tea,rank_Milk,rank_Juice,Gender\n7,1,2,3,f\n8,2,1,3,m\n7,1,2,3,f\n9,3,1,2,f\n5,1,3,2,m\n"


@pytest.mark.parametrize("command", [["consensus"], ["compare", "--by", "Gender"]])
def test_results_say_that_ids_repeat(tmp_path, command):
    path = written(tmp_path, TWICE)
    done = run(command[0], path, *command[1:])
    assert "1 row has the id in 'Respondent ID' of an earlier row, and every row counts; to" in done.stderr
    assert "give --read keep=last" in done.stderr
    kept = run(command[0], path, *command[1:], "--read", "keep=last")
    assert kept.exit_code == 0
    assert "of an earlier row" not in kept.stderr
    once = run(
        command[0], written(tmp_path, TWICE.replace("\n7,1,2,3,f\n9", "\n4,1,2,3,f\n9"), "once.csv"), *command[1:]
    )
    assert "of an earlier row" not in once.stderr


def test_the_id_that_was_asked_for_is_named(tmp_path):
    path = written(tmp_path, "id,mail,rank_a,rank_b\n1,x,1,2\n2,y,2,1\n3,x,1,2\n")
    assert read_survey(path).cautions == []
    assert read_survey(path, id="mail").cautions == [
        "1 row has the id in 'mail' of an earlier row, and every row counts; to count the last one of each only, "
        "give keep='last'"
    ]


@pytest.mark.parametrize(("keep", "first"), [("first", [1, 2]), ("last", [2, 1])])
def test_one_row_of_each_id_is_kept(tmp_path, keep, first):
    # The first row of 7 that ranks anything counts; rows without an id are of different people.
    text = "Respondent ID,rank_a,rank_b\n7,,\n7,1,2\n8,2,1\n,1,2\n7,2,1\n,1,2\n"
    survey = read_survey(written(tmp_path, text), keep=keep, id="Respondent ID")
    ids = [str(value) for value in survey.id]
    assert len(ids) == 4
    assert survey.rankings.positions[ids.index("7.0" if "7.0" in ids else "7")].tolist() == first
    assert survey.reading.dropped == {"the id of another row": 1}
    assert "1 row dropped: the id of another row." in survey.reading.lines()
    assert survey.cautions == ["1 respondent ranked nothing, set apart"]


def test_keep_needs_to_know_who_answered(tmp_path):
    path = written(tmp_path, "rank_a,rank_b\n1,2\n2,1\n")
    with pytest.raises(RankwiseFormatError, match=r"no column says who answered. Name it: id='...'"):
        read_survey(path, keep="first")
    assert "Name it: --id COLUMN" in problem("consensus", path, "--read", "keep=first")
    with pytest.raises(ValueError, match="use read_survey"):
        read_rankings(path, keep="first")
    with pytest.raises(ValueError, match="keep is 'one'; choose 'first' or 'last'"):
        read_survey(written(tmp_path, TWICE), keep="one")


LONG_SCORES = "judge,wine,points\nann,Rioja,88\nann,Merlot,90\nbob,Rioja,85\nbob,Merlot,91\nbob,Rioja,95\n"


def test_points_in_long_form_with_a_slip(tmp_path):
    path = written(tmp_path, LONG_SCORES)
    with pytest.raises(RankwiseFormatError, match="item 'Rioja' has a score on line 4 already") as caught:
        load(str(path))
    first, last = (loaded(path, command).rankings for command in caught.value.commands)
    assert first.items == last.items == ("Rioja", "Merlot")
    assert first.positions.tolist() == [[2, 1], [2, 1]]
    assert last.positions.tolist() == [[2, 1], [1, 2]]
    survey = read_survey(path, keep="last")
    assert survey.reading.direction == "higher is better"
    assert "Left out 1 row: the same judge and wine as on the last one." in survey.reading.notes
    path = written(tmp_path, LONG_SCORES.removesuffix("bob,Rioja,95\n"))
    assert read_rankings(path) == first


def test_one_trait_of_a_long_table(tmp_path):
    rows = "1,a,yield,1\n1,b,yield,2\n1,a,taste,2\n1,b,taste,1\n2,a,yield,2\n2,b,yield,1\n"
    path = written(tmp_path, f"id,item,trait,rank\n{rows}")
    with pytest.raises(RankwiseFormatError, match="If 'trait' tells rankings apart") as caught:
        load(str(path))
    both, one = (loaded(path, command).rankings for command in caught.value.commands[:2])
    assert both.positions.tolist() == [[1, 2], [2, 1], [2, 1]]
    assert one.positions.tolist() == [[1, 2], [2, 1]]
    survey = load(str(path), reading={"trait": "taste"})
    assert survey.rankings.positions.tolist() == [[2, 1]]
    assert "Only the 2 rows with 'taste' in 'trait' were read." in survey.reading.notes
    with pytest.raises(RankwiseFormatError, match=r"no column holds the trait 'test'. Choose among 'yield', 'taste'"):
        read_rankings(path, trait="test")


def test_previews_of_qualtrics_are_said(tmp_path):
    text = "StartDate,Status,ResponseId,rank_a,rank_b\n1,IP Address,R_1,1,2\n"
    text += "2,Survey Preview,R_2,2,1\n3,Survey Test,R_3,1,2\n"
    survey = read_survey(written(tmp_path, text))
    assert survey.check["previews"].rows == (3, 4)
    assert survey.cautions == ["2 rows are previews of the survey, not of respondents, and every row counts"]


JURY = [["Wine", "Anna", "Bela", "Carl"], ["Merlot", 3, 3, 2], ["Pinot", 1, 2, 3], ["Syrah", 2, 1, 1]]


def both_files(folder, rows, merged=()):
    """The rows as a text with commas, and as a workbook with these cells merged."""
    text = "".join(",".join("" if cell is None else str(cell) for cell in row) + "\n" for row in rows)
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for area in merged:
        book.active.merge_cells(area)
    book.save(folder / "sheet.xlsx")
    return written(folder, text), folder / "sheet.xlsx"


def test_notes_below_a_table_are_no_items(tmp_path):
    notes = [[None] * 4, ["Head of jury: Anna Smith", None, None, None], ["Printed 2024-05-01", None, None, None]]
    for path in both_files(tmp_path, [["Tasting", *[None] * 3], *JURY, *notes]):
        rankings, _, reading = read_with_reading(path)
        assert rankings.items == ("Merlot", "Pinot", "Syrah")
        assert any("'Head of jury: Anna Smith' " in note and "below the table" in note for note in reading.notes)
        assert any("'Printed 2024-05-01' " in note for note in reading.notes)


def test_a_name_without_a_blank_row_before_it_is_an_item(tmp_path):
    for path in both_files(tmp_path, [*JURY, ["Malbec", None, None, None]]):
        assert read_rankings(path).items == ("Merlot", "Pinot", "Syrah", "Malbec")


def test_a_heading_above_the_judges_is_no_name(tmp_path):
    rows = [["Tasting 2024", *[None] * 3], [None, "Judges", None, None], *JURY]
    for path in both_files(tmp_path, rows, ["A1:D1", "B2:D2"]):
        survey = read_survey(path)
        assert survey.names.tolist() == ["Anna", "Bela", "Carl"]
        assert survey.rankings.items == ("Merlot", "Pinot", "Syrah")
    _, book = both_files(tmp_path, [[None, "Points", None, None], *JURY], ["B1:D1"])
    with pytest.raises(RankwiseFormatError, match="the columns ask for ratings"):
        read_rankings(book)


def test_names_of_columns_below_questions(tmp_path):
    rows = [["Rank the drinks", None, None, "About you"], ["Tea", "Milk", "Juice", "Age"]]
    rows += [[1, 2, 3, 34], [2, 1, 3, 45], [1, 3, 2, 22]]
    for merged in ([], ["A1:C1"]):
        for path in both_files(tmp_path, rows, merged):
            survey = read_survey(path)
            assert survey.rankings.items == ("Tea", "Milk", "Juice")
            assert survey.X["Age"].tolist() == [34, 45, 22]
            note = "Row 2 names the columns; row 1 holds headings: 'Rank the drinks', 'About you'."
            assert note in survey.reading.notes


def test_names_that_repeat_below_questions_are_joined(tmp_path):
    rows = [["Rank", None, "Like", None], ["Tea", "Milk", "Tea", "Milk"], [1, 2, 5, 4], [2, 1, 3, 5], [1, 2, 5, 1]]
    for path in both_files(tmp_path, rows):
        rankings, covariates, reading = read_with_reading(path, prefix="Rank")
        assert rankings.positions.tolist() == [[1, 2], [2, 1], [1, 2]]
        assert list(covariates) == ["Like - Tea", "Like - Milk"]
        assert "Rows 1 and 2 are both names of columns; they were joined." in reading.notes


@pytest.mark.parametrize(
    ("text", "line", "column", "cell"),
    [
        ("Judge,Rioja,Merlot,Port\nA,1,2,3\nB,1,oops,2\nC,2,1,3\nD,3,2,1\n", 3, 3, "oops"),
        ("id,Tea,Milk,Juice\na,1,2,3\nb,2,1,x\nc,1,2,3\n", 3, 4, "x"),  # tea and milk alone are rankings, too
        ("Wine,Anna,Bela,Carl\nR,2,2,3\nM,1,?,1\nS,3,1,2\nT,4,3,4\n", 3, 3, "?"),  # no judge is lost by a slip
    ],
)
def test_the_cell_that_is_no_place_is_named(tmp_path, text, line, column, cell):
    path = written(tmp_path, text)
    with pytest.raises(RankwiseFormatError, match="is not a position") as caught:
        load(str(path))
    assert (caught.value.line, caught.value.column) == (line, column)
    assert f"'{cell}' is not a position" in caught.value.problem
    assert f"missing_values={cell}" in caught.value.cure.replace('"', "")
    read = read_rankings(path, missing_values=[cell])
    assert read == read_rankings(written(tmp_path, text.replace(f",{cell}", ",")))


def test_answers_beside_rankings_are_no_slips(tmp_path):
    path = written(tmp_path, "id,Tea,Milk,Juice,group\na,1,2,3,1\nb,2,1,3,other\nc,1,3,2,2\nd,1,3,2,2\n")
    assert read_rankings(path).items == ("Tea", "Milk", "Juice")


def test_likely_layouts_are_ready_commands(tmp_path):
    path = written(tmp_path, "taster,wine,mark\nann,Rioja,88\nann,Merlot,90\nbob,Rioja,85\nbob,Merlot,91\n")
    with pytest.raises(RankwiseFormatError, match="no layout fits the columns") as caught:
        load(str(path))
    as_scores, as_places = (loaded(path, command).rankings for command in caught.value.commands)
    assert as_scores.positions.tolist() == [[2, 1], [2, 1]]
    assert as_places.positions.tolist() == [[1, 2], [1, 2]]
    said = problem("describe", written(tmp_path, "age,city\n31,Rome\n47,Bonn\n"))
    assert said.count("--layout") == 1
    assert "see rankwise describe --help" in said


def test_names_beside_one_number_each_can_be_one_ranking(tmp_path):
    path = written(tmp_path, "Name,Score\nAnn,7\nBob,9\nCid,8\n")
    with pytest.raises(RankwiseFormatError, match="no layout fits the columns") as caught:
        load(str(path))
    as_scores, as_places = (loaded(path, command).rankings for command in caught.value.commands)
    assert as_scores.positions.tolist() == [[3, 1, 2]]
    assert as_places.positions.tolist() == [[1, 3, 2]]


def test_range_voting_names_the_columns_to_read_as_scores(tmp_path):
    path = written(tmp_path, "judge,Rioja,Merlot,Port\nJ1,1,3,2\nJ2,3,1,2\nJ3,1,2,3\nJ4,2,1,3\n")
    command = problem("consensus", path, "--method", "range").partition("such: rankwise ")[2].split()
    assert command[2:] == ["--layout", "scores", "--target", "Rioja,Merlot,Port", "--method", "range"]
    assert "Port" in run(*command).stdout.splitlines()[3]


def test_many_numbered_columns_are_named_by_their_start(tmp_path):
    n = range(1, 51)
    text = ",".join(f"item{i}" for i in n) + "\n" + ",".join(map(str, n)) + "\n" + ",".join(map(str, n[::-1])) + "\n"
    with pytest.raises(RankwiseFormatError, match="may be positions") as caught:
        load(str(path := written(tmp_path, text)))
    assert all(command.endswith("--target item") for command in caught.value.commands)
    assert loaded(path, caught.value.commands[0]).rankings.shape == (2, 50)


def test_spelling_variants_are_not_said_to_be_left_out(tmp_path):
    path = written(tmp_path, "choice_1,choice_2\nCola,Fanta\ncola,Fanta\nFanta,Cola\n")
    assert not any("as if asked" in note for note in read_survey(path).reading.notes)
    path = written(tmp_path, "choice_1,choice_2\nCola,Fanta\nTea,Fanta\nFanta,Cola\n")
    assert any("as if asked for the best only" in note for note in read_survey(path).reading.notes)
