"""Files as surveys, juries and trials write them: each reads to the right thing, or asks with choices that work."""

from __future__ import annotations

from itertools import islice, product

import numpy as np
import pytest

from rankwise import Rankings, RankwiseFormatError
from rankwise.data import read_best_worst_csv, read_judges_csv, read_scores_csv
from rankwise.data.formats.detect import read_rankings, read_with_reading
from tests.data.formats.survey_files import written

inf, nan = np.inf, np.nan

HACK = "name,Team Alpha,Team Beta,Team Gamma\nAnn,9,7,4\nBob,8,8,3\nCid,10,6,5\nDee,7,9,2\n"
QUALTRICS = (
    "StartDate,Status,Q1,Q12_1,Q12_2,Q12_3\n"
    "Start Date,Response Type,How old are you?,"
    "Put into order (1 = most important) - Price,Put into order (1 = most important) - Camera,"
    "Put into order (1 = most important) - Brand\n"
    '"{""ImportId"":""startDate""}","{""ImportId"":""status""}","{""ImportId"":""QID1""}",'
    '"{""ImportId"":""QID12_1""}","{""ImportId"":""QID12_2""}","{""ImportId"":""QID12_3""}"\n'
    "2026-01-05 10:00:00,IP Address,25 - 34,1,3,2\n2026-01-05 10:02:00,IP Address,18 - 24,2,1,3\n"
    "2026-01-05 10:05:00,IP Address,35 - 44,,,\n"
)
LIMESURVEY_CODES = (
    '"id";"submitdate";"lastpage";"seed";"drinks[1]";"drinks[2]";"drinks[3]";"age"\n'
    '"1";"2026-01-05";"2";"1234";"A1";"A3";"A2";"31"\n"2";"2026-01-06";"2";"9876";"A3";"A1";"";"47"\n'
)
LIMESURVEY_TEXTS = (
    '"Response ID","Date submitted","Rank the drinks [Rank 1]","Rank the drinks [Rank 2]","Rank the drinks [Rank 3]"\n'
    '"1","2026-01-05","Tea","Juice","Milk"\n"2","2026-01-06","Juice","Tea",""\n'
)
GOOGLE_GRID = (
    "Timestamp,Please rank the features [Price],Please rank the features [Camera],"
    "Please rank the features [Brand],Sex\n"
    "1/5/2026 10:00:00,1st choice,3rd choice,2nd choice,f\n1/5/2026 10:05:00,2nd choice,1st choice,3rd choice,m\n"
)
GOOGLE_PLACES = (
    "Timestamp,Your favorites [1st choice],Your favorites [2nd choice],Your favorites [3rd choice]\n"
    "1/5/2026 10:00:00,Price,Brand,Camera\n1/5/2026 10:05:00,Camera,Price,Brand\n"
)
SURVEYMONKEY = (
    "Respondent ID,Collector ID,Start Date,Please rank the features,,,How old are you?\n"
    ",,,Price,Camera,Brand,Response\n"
    "118,441,01/05/2026,1,3,2,31\n119,441,01/05/2026,2,1,3,47\n120,441,01/06/2026,,,,25\n"
)
KOBO = (
    "start;end;ranking/_1st_choice;ranking/_2nd_choice;ranking/_3rd_choice;age;_id;_uuid;_submission_time;_index\n"
    "2026-01-05;2026-01-05;price;brand;camera;31;9001;a-b-c;2026-01-05;1\n"
    "2026-01-05;2026-01-05;camera;price;brand;47;9002;d-e-f;2026-01-05;2\n"
)
KOBO_GRID = (
    "start,features/price,features/camera,features/brand,_id,_uuid\n2026-01-05,1,3,2,9001,a-b-c\n"
    "2026-01-05,2,1,3,9002,d-e-f\n2026-01-05,2,1,3,9003,g-h-i\n"
)
WINE_WIDE = "wine,Anna,Ben,Cleo,Dan\nRioja,1,2,1,1\nMerlot,3,1,2,\nMalbec,2,3,3,2\nShiraz,4,4,4,2\n"
WINES = ["Rioja", "Merlot", "Malbec", "Shiraz"]
WINE_JUDGES = (
    "judge,Rioja,Merlot,Malbec,Shiraz\nAnna,1,3,2,4\nBen,2,1,3,4\nCleo,1,2,3,4\nDan,1,,2,2\nEve,1,4,2,3\nFay,3,1,2,4\n"
)
MAXDIFF = (
    "respondent,task,item_1,item_2,item_3,item_4,best,worst\nann,1,tea,milk,juice,cola,tea,cola\n"
    "ann,2,milk,water,cola,tea,water,milk\nbob,1,tea,milk,juice,cola,juice,milk\n"
)
MAXDIFF_LONG = (
    "respondent,task,item,choice\nann,1,tea,best\nann,1,milk,\nann,1,juice,worst\n"
    "ann,2,milk,0\nann,2,cola,worst\nann,2,tea,best\n"
)
TRICOT = "variety_a,variety_b,variety_c,best,worst\nWR544,HD2985,PBW550,B,A\nPBW550,WR544,CSW18,A,C\n"

CAMERA = ("Price", "Camera", "Brand")
# text, options, layout, items, positions
SHAPES = {
    "Qualtrics": (QUALTRICS, {}, "positions", CAMERA, [[1, 3, 2], [2, 1, 3], [nan, nan, nan]]),
    "LimeSurvey, codes": (LIMESURVEY_CODES, {}, "orders", ("A1", "A3", "A2"), [[1, 2, 3], [2, 1, inf]]),
    "LimeSurvey, texts": (LIMESURVEY_TEXTS, {}, "orders", ("Tea", "Juice", "Milk"), [[1, 2, 3], [2, 1, inf]]),
    "Google Forms, grid": (GOOGLE_GRID, {}, "positions", CAMERA, [[1, 3, 2], [2, 1, 3]]),
    "Google Forms, places": (GOOGLE_PLACES, {}, "orders", ("Price", "Brand", "Camera"), [[1, 2, 3], [2, 3, 1]]),
    "SurveyMonkey": (SURVEYMONKEY, {}, "positions", CAMERA, [[1, 3, 2], [2, 1, 3], [nan, nan, nan]]),
    "Kobo": (KOBO, {}, "orders", ("price", "brand", "camera"), [[1, 2, 3], [2, 3, 1]]),
    "Kobo, grid": (KOBO_GRID, {}, "positions", ("price", "camera", "brand"), [[1, 3, 2], [2, 1, 3], [2, 1, 3]]),
    "jury": (
        WINE_WIDE,
        {},
        "judges",
        ("Rioja", "Merlot", "Malbec", "Shiraz"),
        [[1, 3, 2, 4], [2, 1, 3, 4], [1, 2, 3, 4], [1, nan, 2, 2]],
    ),
    "judges as rows": (
        WINE_JUDGES,
        {},
        "positions",
        ("Rioja", "Merlot", "Malbec", "Shiraz"),
        [[1, 3, 2, 4], [2, 1, 3, 4], [1, 2, 3, 4], [1, nan, 2, 2], [1, 4, 2, 3], [3, 1, 2, 4]],
    ),
    "scores": (
        HACK,
        {"layout": "scores", "prefix": "Team "},
        "scores",
        ("Alpha", "Beta", "Gamma"),
        [[1, 2, 3], [1, 1, 2], [1, 2, 3], [2, 1, 3]],
    ),
    "named scores": ("id,score_a,score_b\n1,9.5,7\n2,,3\n", {}, "scores", ("a", "b"), [[1, 2], [nan, 1]]),
    "MaxDiff": (
        MAXDIFF,
        {},
        "best-worst",
        ("tea", "milk", "juice", "cola", "water"),
        [[1, 2, 2, 3, nan], [2, 3, nan, 2, 1], [2, 3, 1, 2, nan]],
    ),
    "MaxDiff, long": (
        MAXDIFF_LONG,
        {},
        "best-worst",
        ("tea", "milk", "juice", "cola"),
        [[1, 2, 3, nan], [1, 2, nan, 3]],
    ),
    "tricot": (TRICOT, {}, "tricot", ("WR544", "HD2985", "PBW550", "CSW18"), [[3, 1, 2, nan], [2, nan, 1, 3]]),
}


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_shapes_are_recognized(tmp_path, name):
    text, options, layout, items, positions = SHAPES[name]
    path = written(tmp_path, text)
    rankings, covariates, reading = read_with_reading(path, **options)
    assert (reading.layout, rankings.items) == (layout, items)
    np.testing.assert_array_equal(rankings.positions, positions)
    assert all(len(column) == len(rankings) for column in covariates.values())
    assert reading.reason
    # What was found out can be said in so many words.
    assert eval(reading.call(), {"read_rankings": read_rankings, "path": path, "nan": nan}) == rankings


@pytest.mark.parametrize("options", [{}, {"prefix": "Team "}, {"items": ["Team Alpha", "Team Beta", "Team Gamma"]}])
def test_scores_are_never_taken_for_places(tmp_path, options):
    path = written(tmp_path, HACK)
    with pytest.raises(
        RankwiseFormatError, match=r"may be scores .* the values reach 10(, but there are 3 items|; and the rows)"
    ) as caught:
        read_rankings(path, **options)
    layouts = [choice["layout"] for choice in caught.value.choices]
    assert layouts[:2] == ["scores", "positions"]
    best_first, last_first = (read_rankings(path, **choice) for choice in caught.value.choices[:2])
    np.testing.assert_array_equal(best_first.positions[0], [1, 2, 3])
    np.testing.assert_array_equal(last_first.positions[0], [3, 2, 1])
    for choice in caught.value.choices:
        assert isinstance(read_rankings(path, **choice), Rankings)


def test_an_order_to_read_scores_as_places_is_obeyed_with_a_note(tmp_path):
    _, _, reading = read_with_reading(written(tmp_path, HACK), layout="positions", prefix="Team ")
    assert reading.direction == "1 is best"
    assert any(note.startswith("These may be scores: the values reach 10") for note in reading.notes)
    _, _, reading = read_with_reading(written(tmp_path, WINE_JUDGES), layout="positions", items=WINES)
    assert not any("scores" in note for note in reading.notes)


RATINGS = {
    "five points": ("a,b,c,d,e\n4,5,3,3,5\n5,5,4,2,4\n3,4,4,4,5\n", "no row holds a 1"),
    "five points, all used": ("a,b,c,d,e\n4,5,3,1,5\n5,5,4,2,4\n3,4,1,4,5\n", "rows are rankings"),
    "seven points": ("a,b,c\n7,5,6\n4,7,7\n2,6,1\n", "the values reach 7"),
    "percent": ("a,b,c\n70,50,100\n0,75,80\n90,20,10\n", "the values reach 100"),
    "mixed scales": ("a,b,c\n1,2,3\n80,90,70\n2,1,3\n70,50,65\n", "2 of 4 rows are rankings, but others reach 90"),
    "fractions": ("a,b,c\n2.25,1.5,3\n1.75,2.5,2\n2.1,1.3,3\n", "fractions"),
    "below zero": ("a,b,c\n2,-1,3\n1,2,-2\n2,1,3\n", "go down to -2"),
    "many items, few points": (
        ",".join("abcdefghijkl") + "\n" + "5,4,3,2,1,5,4,3,5,4,5,1\n1,2,3,4,5,5,5,4,4,3,5,4\n" * 3,
        "12 items share the values 1 to 5",
    ),
}


@pytest.mark.parametrize("name", sorted(RATINGS))
@pytest.mark.parametrize("explicit", [False, True])
def test_ratings_are_asked_for(tmp_path, name, explicit):
    text, reason = RATINGS[name]
    options = {"items": text.split("\n", 1)[0].split(",")} if explicit else {}
    with pytest.raises(RankwiseFormatError, match=reason) as caught:
        read_rankings(written(tmp_path, text), **options)
    assert [choice["layout"] for choice in caught.value.choices][:2] == ["scores", "positions"]


@pytest.mark.parametrize("prefix", ["rank_", "y_", "Q3 [", ""])
def test_ratings_below_names_of_ranks_are_asked_for_too(tmp_path, prefix):
    names = ",".join(f"{prefix}{name}{']' * prefix.endswith('[')}" for name in "abc")
    with pytest.raises(RankwiseFormatError, match="may be scores") as caught:
        read_rankings(written(tmp_path, f"age,{names}\n31,9,7,4\n47,8,8,3\n25,10,6,5\n"))
    assert {choice["layout"] for choice in caught.value.choices} >= {"scores", "positions"}


def test_a_covariate_is_never_part_of_a_ranking(tmp_path):
    rng = np.random.default_rng(0)
    ranks = np.argsort(rng.random((60, 4)), axis=1) + 1
    others = np.column_stack([rng.integers(1, 3, 60), rng.integers(1, 6, 60), rng.integers(18, 90, 60)])
    for order in ([0, 1, 2, 3, 4, 5, 6], [4, 0, 1, 2, 3, 5, 6], [6, 5, 4, 0, 1, 2, 3]):
        names = np.array(["tea", "milk", "juice", "cola", "sex", "mood", "age"])[order]
        rows = np.column_stack([ranks, others])[:, order]
        text = ",".join(names) + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
        rankings, covariates = read_rankings(written(tmp_path, text), return_covariates=True)
        assert rankings.items == ("tea", "milk", "juice", "cola")
        np.testing.assert_array_equal(rankings.positions, ranks)
        assert set(covariates) == {"sex", "mood", "age"}


def test_two_rankings_side_by_side_are_asked_for(tmp_path):
    rng = np.random.default_rng(1)
    ranks = np.column_stack([np.argsort(rng.random((30, 3)), axis=1) + 1 for _ in range(2)])
    text = "a,b,c,x,y,z\n" + "".join(",".join(map(str, row)) + "\n" for row in ranks)
    with pytest.raises(RankwiseFormatError) as caught:
        read_rankings(written(tmp_path, text))
    assert {"layout": "positions", "items": ["a", "b", "c"]} in caught.value.choices
    assert {"layout": "positions", "items": ["x", "y", "z"]} in caught.value.choices


def test_tied_places_without_common_names(tmp_path):
    text = "who,tea,milk,juice\nann,1,2,2\nbob,1,1,2\ncid,3,1,2\ndee,2,1,3\n"
    rankings = read_rankings(written(tmp_path, text))
    np.testing.assert_array_equal(rankings.positions, [[1, 2, 2], [1, 1, 2], [3, 1, 2], [2, 1, 3]])


JURY_SCORES = "wine,Anna,Ben,Cleo\nRioja,88,90.5,85\nMerlot,81,93,80\nMalbec,75,,90\n"


def test_few_people_are_not_taken_for_a_jury(tmp_path):
    text = "Timestamp,Email,Soup,Salad,Pasta\n10:00,a@b,1,2,3\n10:05,c@d,3,2,1\n"
    assert read_rankings(written(tmp_path, text)).items == ("Soup", "Salad", "Pasta")


def test_scores_of_a_jury(tmp_path):
    path = written(tmp_path, JURY_SCORES)
    with pytest.raises(RankwiseFormatError, match="may be scores") as caught:
        read_rankings(path)
    assert caught.value.choices[0] == {
        "layout": "judges",
        "item": "wine",
        "judges": ["Anna", "Ben", "Cleo"],
        "values": "scores",
    }
    rankings, covariates, reading = read_with_reading(path, **caught.value.choices[0])
    np.testing.assert_array_equal(rankings.positions, [[1, 2, 3], [2, 1, nan], [2, 3, 1]])
    assert covariates["judge"].tolist() == ["Anna", "Ben", "Cleo"]
    assert reading.direction == "higher is better"
    with pytest.raises(RankwiseFormatError, match="numbers of the judges may be scores"):
        read_rankings(path, layout="judges")


def test_a_square_sheet_may_be_read_both_ways(tmp_path):
    with pytest.raises(RankwiseFormatError, match="rows may be people, or the items of a jury") as caught:
        read_rankings(written(tmp_path, "name,x,y,z\na,1,2,3\nb,2,3,1\nc,3,1,2\n"))
    assert [choice["layout"] for choice in caught.value.choices] == ["positions", "judges"]
    square = "{},x,y,z\na,1,2,3\nb,2,3,1\nc,3,1,2\n"
    assert read_rankings(written(tmp_path, square.format("wine"))).items == ("a", "b", "c")
    assert read_rankings(written(tmp_path, square.format("judge"))).items == ("x", "y", "z")


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("wine,A,B\nx,1,2\nx,2,1\n", {}, "'x' is the name of two rows"),
        ("wine,A,B\nx,1,2\n,2,1\n", {}, "the item has no name"),
        ("wine,A,B\nx,1,2\ny,2,1\n", {"judges": ["C"]}, "there is no column 'C'"),
        ("wine,A,B\nx,1,best\ny,2,1\n", {"judges": ["A", "B"], "values": "positions"}, "'best' is not a position"),
        ("wine,A,B\nx,p,q\ny,r,s\n", {}, "which of the columns 'wine', 'A', 'B' are judges"),
    ],
)
def test_bad_sheets_of_juries(tmp_path, text, options, message):
    with pytest.raises(RankwiseFormatError, match=message):
        read_judges_csv(written(tmp_path, text), **options)


def test_sums_are_not_judges(tmp_path):
    text = "team,Judge 1,Judge 2,Total\nx,1,2,3\ny,2,1,3\nz,3,3,6\n"
    rankings, covariates = read_judges_csv(written(tmp_path, text))
    assert covariates["judge"].tolist() == ["Judge 1", "Judge 2"]
    assert rankings.shape == (2, 3)


def test_columns_that_are_not_used_are_told(tmp_path):
    text = "wine,region,Anna,Ben,total\nRioja,Spain,1,2,3\nMerlot,France,2,1,3\nShiraz,Spain,3,3,6\n"
    _, covariates, reading = read_with_reading(written(tmp_path, text))
    assert reading.columns == ("wine", "Anna", "Ben")
    assert "Columns that were not used: 'region'." in reading.lines()
    assert "The column 'total' is the sum of the others; it was left out." in reading.lines()
    assert list(covariates) == ["judge"]
    text = "item_a,item_b,item_c,x_best,x_worst,y_best,y_worst,age\np,q,r,A,B,C,A,31\nq,r,p,B,C,A,B,47\n"
    _, covariates, reading = read_with_reading(written(tmp_path, text), trait="x")
    assert reading.columns == ("item_a", "item_b", "item_c", "x_best", "x_worst")
    assert "Columns that were not used: 'y_best', 'y_worst'." in reading.lines()
    assert list(covariates) == ["age"]


def test_traits_are_asked_for(tmp_path):
    text = "option_a,option_b,option_c,taste_pos,taste_neg,overall_pos,overall_neg\nx,y,z,A,B,C,A\ny,z,x,,,B,A\n"
    path = written(tmp_path, text)
    with pytest.raises(RankwiseFormatError, match="2 traits: 'overall', 'taste'") as caught:
        read_rankings(path)
    assert [choice["trait"] for choice in caught.value.choices] == ["overall", "taste"]
    np.testing.assert_array_equal(read_rankings(path, trait="overall").positions, [[3, 2, 1], [2, 3, 1]])
    np.testing.assert_array_equal(read_rankings(path, trait="taste").positions, [[1, 3, 2], [nan, nan, nan]])
    with pytest.raises(RankwiseFormatError, match="there is no trait 'smell'"):
        read_rankings(path, trait="smell")


@pytest.mark.parametrize("cells", [("B", "A"), ("2", "1"), ("item_2", "item_1"), ("y", "x")])
def test_the_best_is_named_in_any_way(tmp_path, cells):
    text = f"item_1,item_2,item_3,best,worst\nx,y,z,{','.join(cells)}\nz,x,y,{'A,B' if cells[0] == 'B' else 'z,x'}\n"
    np.testing.assert_array_equal(read_best_worst_csv(written(tmp_path, text))[0].positions, [[3, 1, 2], [3, 2, 1]])


def test_a_best_without_a_worst_and_ties(tmp_path):
    text = "item_1,item_2,item_3,best,worst\nx,y,z,x,\nz,x,y,,x\nx,y,z,Tie,Tie\ny,z,x,not observed,\n"
    rankings = read_best_worst_csv(written(tmp_path, text))[0]
    assert rankings.items == ("x", "y", "z")
    np.testing.assert_array_equal(rankings.positions, [[1, inf, inf], [2, 1, 1], [1, 1, 1], [nan, nan, nan]])


def test_tasks_in_one_row(tmp_path):
    text = (
        "id,task1_item1,task1_item2,task1_item3,task1_best,task1_worst,"
        "task2_item1,task2_item2,task2_item3,task2_best,task2_worst\nann,a,b,c,a,c,b,c,d,d,b\nbob,c,a,b,a,b,d,b,c,c,b\n"
    )
    rankings, covariates = read_rankings(written(tmp_path, text), return_covariates=True)
    assert rankings.shape == (4, 4)
    assert covariates["id"].tolist() == ["ann", "ann", "bob", "bob"]
    order = [rankings.items.index(name) for name in "abcd"]
    np.testing.assert_array_equal(
        rankings.positions[:, order], [[1, 2, 3, nan], [nan, 3, 2, 1], [1, 3, 2, nan], [nan, 3, 1, 2]]
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "item_1,item_2,item_3,best,worst\nx,y,z,x,x\nz,x,y,z,x\n",
            "line 2, column 5: the best and the worst are the same",
        ),
        ("item_1,item_2,item_3,best,worst\nx,y,z,w,x\nz,x,y,z,x\n", "line 2, column 4: 'w' does not name one"),
        ("item_1,item_2,item_3,best,worst\nx,y,,C,x\nz,x,y,A,B\n", "line 2, column 4: 'C' does not name one"),
    ],
)
def test_bad_choices_are_named_and_can_be_dropped(tmp_path, text, message):
    path = written(tmp_path, text)
    with pytest.raises(RankwiseFormatError, match=message):
        read_rankings(path)
    rankings, _, reading = read_with_reading(path, invalid="drop")
    assert len(rankings) == 1
    assert sum(reading.dropped.values()) == 1


def test_scores_that_are_not_numbers(tmp_path):
    path = written(tmp_path, "a,b,c\n3,9,8\n2,x,7\n1,9,9\n")
    with pytest.raises(RankwiseFormatError, match="line 3, column 2: 'x' is not a score"):
        read_scores_csv(path, items=["a", "b"])
    with pytest.raises(RankwiseFormatError, match=r"'x' is not a score\. .*invalid='drop'"):
        read_rankings(path, layout="scores", items=["a", "b"])
    assert len(read_rankings(path, layout="scores", items=["a", "b"], invalid="drop")) == 2


def test_places_in_words_are_not_items(tmp_path):
    columns = [f"Please rank the features [{name}]" for name in CAMERA]
    with pytest.raises(RankwiseFormatError, match=r"the cells say places \('1st choice'\)") as caught:
        read_rankings(written(tmp_path, GOOGLE_GRID), columns=columns)
    assert caught.value.choices[0] == {"layout": "positions", "items": columns}
    assert read_rankings(written(tmp_path, GOOGLE_GRID), prefix="Please rank the features").items == CAMERA


BAD_ROWS = {
    "a place shared and others skipped": ("1,1,4,4", "a place is shared and others are skipped", "share one and skip"),
    "beyond the last": ("1,2,3,9", "a place is beyond the number of items", "'9' is not a place among 4 items"),
    "a fraction": ("1,2,3.3,4", "places have fractions, without ties", "'3.3' is not a place among 4 items"),
    "not a place": ("1,2,3,x", "not a position in a cell", "'x' is not a position"),
}


@pytest.mark.parametrize("name", sorted(BAD_ROWS))
@pytest.mark.parametrize("options", [{}, {"prefix": "rank_"}])
def test_rows_that_are_not_rankings_are_counted_and_dropped(tmp_path, name, options):
    row, why, problem = BAD_ROWS[name]
    good = "1,2,3,4\n4,3,2,1\n2,1,4,3\n1,3,2,4\n"
    path = written(tmp_path, f"rank_a,rank_b,rank_c,rank_d\n{good}{row}\n{good}{row}\n")
    with pytest.raises(RankwiseFormatError) as caught:
        read_rankings(path, **options)
    assert caught.value.line == 6
    assert problem in caught.value.problem
    assert "(2 of 10 rows are not rankings)" in caught.value.problem
    assert caught.value.choices[-1]["invalid"] == "drop"
    rankings, _, reading = read_with_reading(path, **caught.value.choices[-1])
    assert len(rankings) == 8
    assert reading.dropped == {why: 2}
    assert f"2 rows dropped: {why}." in reading.lines()
    for choice in caught.value.choices[:-1]:
        assert len(read_rankings(path, **choice)) == 10


def test_most_rows_are_never_dropped(tmp_path):
    path = written(tmp_path, "rank_a,rank_b,rank_c\n1,2,x\n2,x,1\n1,2,3\n")
    with pytest.raises(RankwiseFormatError, match="2 of 3 rows are not rankings, which is more than half"):
        read_rankings(path, prefix="rank_", invalid="drop")
    with pytest.raises(ValueError, match="choose 'raise' or 'drop'"):
        read_rankings(path, prefix="rank_", invalid="keep")


def test_skipped_places_are_harmless_and_told(tmp_path):
    text = "rank_a,rank_b,rank_c,rank_d\n1,2,4,\n1,2,3,4\n2,1,3,4\n4,3,2,1\n"
    rankings, _, reading = read_with_reading(written(tmp_path, text))
    np.testing.assert_array_equal(rankings.positions[0], [1, 2, 3, nan])
    assert "1 row skips places, as 1, 2, 4: only the order counts." in reading.notes


def test_the_blanks_of_a_question_for_the_best_are_told(tmp_path):
    path = written(tmp_path, "rank_a,rank_b,rank_c,rank_d\n1,2,,\n,1,2,\n2,,,1\n1,,2,\n")
    rankings, _, reading = read_with_reading(path)
    assert "Everybody ranks exactly 2 of 4 items, as if asked for the best only." in reading.notes
    assert reading.otherwise() == {"layout": "positions", "prefix": "rank_", "unlisted": "below"}
    assert rankings.kind == "incomplete"
    assert read_rankings(path, **reading.otherwise()).kind == "top-k"


def test_two_thousand_items(tmp_path):
    rng = np.random.default_rng(2)
    ranks = np.argsort(rng.random((6, 2000)), axis=1) + 1
    names = ["".join(letters) for letters in islice(product("abcdefghijklm", repeat=3), 2000)]
    text = ",".join(names) + "\n" + "".join(",".join(map(str, row)) + "\n" for row in ranks)
    rankings = read_rankings(written(tmp_path, text))
    np.testing.assert_array_equal(rankings.positions, ranks)


@pytest.mark.parametrize("question", ["Rate it", "How much do you like", "Bewerten Sie", "Puntúa"])
def test_columns_that_ask_for_ratings_are_not_places_without_a_question(tmp_path, question):
    path = tmp_path / "ratings.csv"
    names = ",".join(f"{question} [{item}]" for item in "ABC")
    path.write_text(f"{names}\n3,2,1\n2,3,1\n2,1,1\n3,1,2\n", encoding="utf-8")
    with pytest.raises(RankwiseFormatError, match="ask for ratings") as caught:
        read_rankings(path)
    assert [choice["layout"] for choice in caught.value.choices] == ["scores", "positions"]
    best = read_rankings(path, **caught.value.choices[0])
    assert best.positions.sum(axis=0).argmin() == 0
