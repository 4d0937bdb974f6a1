"""Files on which a first reading went astray: exports without a design, repeated rows, words among ballots, tasks."""

from __future__ import annotations

import pytest

from rankwise.data import read_rankings
from rankwise.data.formats.detect import read_with_reading
from rankwise.data.formats.survey_file import read_survey
from rankwise.exceptions import RankwiseFormatError
from tests.data.formats.survey_files import written

ORDERS = "v0,Ana>Ben>Cem\nv1,Ana>Ben>Cem\nv2,Ben>Ana>Cem\nv3,Cem>Ana\n"


@pytest.mark.parametrize("sides", [("b", "w"), ("best", "worst"), ("Most", "Least")])
def test_answers_of_maxdiff_without_the_items_shown_are_no_rankings(tmp_path, sides):
    names = [f"MD_{task}_{side}" for task in (1, 2) for side in sides]
    text = f"sys_RespNum,Version,{','.join(names)}\n1,1,2,1,4,2\n2,2,5,1,6,1\n3,1,2,4,6,3\n4,2,2,5,1,3\n"
    with pytest.raises(RankwiseFormatError, match="items that were shown are not in the file") as caught:
        read_rankings(written(tmp_path, text))
    assert caught.value.choices == []
    joined = (
        "id,MD_1_item1,MD_1_item2,MD_1_item3,MD_1_best,MD_1_worst,MD_2_item1,MD_2_item2,MD_2_item3,MD_2_best,"
        "MD_2_worst\n1,a,b,c,1,2,a,b,d,3,1\n2,a,c,d,1,2,c,b,d,3,1\n3,a,b,c,1,3,a,b,d,2,1\n"
    )
    assert read_with_reading(written(tmp_path, joined))[2].layout == "best-worst"


def test_a_wine_on_two_rows_of_the_sheet_of_a_jury_is_named(tmp_path):
    path = written(tmp_path, "wine,Ann,Ben,Cid\nRioja,1,2,1\nRioja,2,1,3\nMalbec,3,3,2\n")
    with pytest.raises(RankwiseFormatError, match="line 3, column 1: 'Rioja' is the name of two rows"):
        read_rankings(path)


def test_the_column_that_parts_choices_of_one_person_is_offered(tmp_path):
    rows = "a,1,tea,best\na,1,milk,worst\nb,1,juice,best\nb,1,tea,worst\na,2,tea,best\na,2,wine,worst\n"
    known = read_survey(written(tmp_path, f"resp,task,item,choice\n{rows}"))
    assert (len(known.rankings), list(known.X)) == (3, [])
    path = written(tmp_path, f"resp,occasion,item,choice\n{rows}")
    with pytest.raises(RankwiseFormatError, match="'tea' is shown twice in the same choice") as caught:
        read_rankings(path)
    assert caught.value.choices == [{"layout": "best-worst", "respondent": ["resp", "occasion"]}]
    assert read_rankings(path, **caught.value.choices[0]) == known.rankings
    assert read_rankings(path, respondent=["resp", "occasion"]) == known.rankings


def test_odd_ballots_among_orders_are_named_with_ways_that_lead_on(tmp_path):
    text = f"voter,ballot\n{ORDERS}v4,Cem>Ana>Ana\nv5,Ben>>Cem\nv6,Ana > Ben = Cem\n"
    path = written(tmp_path, text)
    with pytest.raises(RankwiseFormatError, match="'Ben>>Cem' is not an order") as caught:
        read_rankings(path)
    (without,) = caught.value.choices
    with pytest.raises(RankwiseFormatError, match="may be several tied items") as caught:
        read_rankings(path, **without)
    assert caught.value.choices == [{"invalid": "drop", "layout": "strings", "column": "ballot", "tie": "="}]
    assert read_rankings(path, **caught.value.choices[0]).positions[-1].tolist() == [1, 2, 2]


def test_words_of_ballots_are_no_candidates(tmp_path):
    path = written(tmp_path, f"voter,ballot\n{ORDERS}v4,blank\nv5,\nv6,invalid\n")
    for options in ({}, {"layout": "strings", "column": "ballot"}):
        rankings, _, reading = read_with_reading(path, **options)
        assert (rankings.items, len(rankings)) == (("Ana", "Ben", "Cem"), 7)
        assert "'blank', 'invalid': no vote, counted as blank." in reading.notes


def test_a_word_that_no_order_lists_is_asked_about(tmp_path):
    path = written(tmp_path, f"voter,ballot\n{ORDERS}v4,torn\n")
    with pytest.raises(RankwiseFormatError, match="'torn' stands alone, and no order lists it") as caught:
        read_rankings(path)
    blank, item = caught.value.choices
    assert read_rankings(path, **blank).items == ("Ana", "Ben", "Cem")
    rankings, _, reading = read_with_reading(path, **item)
    assert rankings.items[-1] == "torn"
    assert any("give missing_values=['torn']" in note for note in reading.notes)


@pytest.mark.parametrize("who", ["respondent", "person"])
def test_tasks_of_one_person_are_no_features_and_none_is_to_be_dropped(tmp_path, who):
    rows = "p0,0,a,b,c,a,b\np0,1,b,c,d,d,b\np1,0,a,b,d,d,a\np1,1,a,c,d,a,c\np2,0,a,b,c,b,c\np2,1,b,c,d,b,c\n"
    survey = read_survey(written(tmp_path, f"{who},set,item1,item2,item3,best,worst\n{rows}"))
    assert (len(survey.rankings), list(survey.X), survey.id.tolist()[:2]) == (6, [], ["p0", "p0"])
    (caution,) = survey.cautions
    assert caution.startswith(f"3 rows have the id in '{who}' of an earlier row, and every row counts as a person")
    assert "intervals are too narrow" in caution
    assert "keep" not in caution
    assert list(read_survey(written(tmp_path, f"{who},set,item1,item2,item3,best,worst\n{rows}"), features="set").X)
