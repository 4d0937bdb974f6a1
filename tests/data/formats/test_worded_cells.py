"""Cells that are no plain numbers: shared places, places that nobody took, and ratings in words."""

from __future__ import annotations

import numpy as np
import pytest

from rankwise.analysis import consensus
from rankwise.data import Rankings, read_rankings, read_survey
from rankwise.data.formats.detect import read_with_reading
from rankwise.data.formats.ordered_texts import rating_scores
from rankwise.exceptions import RankwiseFormatError
from tests.cli.running import problem
from tests.data.formats.survey_files import written

nan = np.nan


def test_marked_ties_are_ties(tmp_path):
    text = "Judge,Rioja,Merlot,Malbec,Port\nA,=1,=1,3,4\nB,1,T2,T-2,4\nC,2,1,3,DNF\nD,1,2nd=,2=,joint 4\nE,1,2,3,n/a\n"
    rankings, _, reading = read_with_reading(written(tmp_path, text))
    expected = [[1, 1, 3, 4], [1, 2, 2, 4], [2, 1, 3, nan], [1, 2, 2, 4], [1, 2, 3, nan]]
    assert rankings == Rankings(np.array(expected), rankings.items)
    assert "Cells such as '=1', 'T2', '2nd=' were read as shared places." in reading.notes
    assert "'DNF': no place, counted as blank." in reading.notes
    assert read_rankings(written(tmp_path, text), **reading.options) == rankings


def test_a_slip_beside_marked_ties_is_named(tmp_path):
    # Without A and B, which hold the slip, the others would be two items, and "=1" an item of orders.
    path = written(tmp_path, "Judge,A,B,C,D\nAnn,=1,=1,3,4\nBob,1,T2,T2,4\nCid,2,1,3,4\nDee,1/2,1/2,3,4\n")
    for options in ({}, {"items": ["A", "B", "C", "D"]}):
        with pytest.raises(RankwiseFormatError, match="line 5, column 2: '1/2' is not a position"):
            read_rankings(path, **options)
    assert len(read_rankings(path, invalid="drop")) == 3


def test_names_that_look_like_marks_are_items(tmp_path):
    path = written(tmp_path, "choice_1,choice_2,choice_3\nT1,T2,T3\nT2,T1,T3\nT3,T2,T1\n")
    assert set(read_rankings(path).items) == {"T1", "T2", "T3"}
    # A place beyond all rows and columns is a code.
    covariates = read_with_reading(written(tmp_path, "rank_a,rank_b,code\n1,2,T400\n2,1,17\n"))[1]
    assert covariates["code"].tolist() == ["T400", "17"]


def test_ratings_in_words_are_scores(tmp_path):
    text = "Timestamp,How satisfied are you with [Staff],How satisfied are you with [Food]\n"
    text += "2024/01/05 9:12:01,Very satisfied,Neutral\n2024/01/05 9:15:44,Satisfied,dissatisfied\n"
    text += "2024/01/05 9:18:44,Not sure,Very dissatisfied\n"
    survey = read_survey(written(tmp_path, text))
    assert (survey.reading.layout, survey.reading.direction) == ("scores", "higher is better")
    assert survey.rankings.items == ("Staff", "Food")
    np.testing.assert_array_equal(survey.rankings.positions[:2], [[1, 2], [1, 2]])
    np.testing.assert_array_equal(survey.scores, [[5, 3], [4, 2], [nan, 1]])
    said = "'Very dissatisfied' = 1, 'dissatisfied' = 2, 'Neutral' = 3, 'Satisfied' = 4, 'Very satisfied' = 5"
    assert f"Words were read as scores: {said}." in survey.reading.notes
    assert consensus(survey, "range").items[0] == "Staff"


def test_ratings_in_words_by_judges(tmp_path):
    text = "{},Anna,Bela,Carl\nMerlot,gut,sehr gut,befriedigend\nPinot,mangelhaft,gut,gut\n"
    survey = read_survey(written(tmp_path, text.format("Wein")))
    assert survey.names.tolist() == ["Anna", "Bela", "Carl"]
    np.testing.assert_array_equal(survey.rankings.positions, [[1, 2], [1, 2], [2, 1]])
    path = written(tmp_path, text.format("Sorte"))
    with pytest.raises(RankwiseFormatError, match="hold ratings in words, of items or by judges") as caught:
        read_rankings(path)
    by_people, by_judges = (read_rankings(path, **choice) for choice in caught.value.choices)
    assert (by_people.items, by_judges.items) == (("Anna", "Bela", "Carl"), ("Merlot", "Pinot"))


def test_ratings_in_words_beside_rankings_stay_answers(tmp_path):
    path = written(
        tmp_path,
        "rank_a,rank_b,service,food\n1,2,good,fair\n2,1,poor,good\n1,2,fair,poor\n2,1,poor,fair\n2,1,good,poor\n1,2,fair,good\n",
    )
    survey = read_survey(path)
    assert survey.reading.layout == "positions"
    assert survey.ordered == {"service": ["poor", "fair", "good"], "food": ["poor", "fair", "good"]}


@pytest.mark.parametrize(
    ("texts", "scores"),
    [
        (["très bon", "Mauvais", "bon"], {"Mauvais": 1, "bon": 2, "très bon": 3}),
        (["Agree", "Strongly disagree", "neutral"], {"Strongly disagree": 1, "neutral": 2, "Agree": 3}),
        (["good", "agree"], None),
        (["small", "medium", "large"], None),
        (["good"], None),
    ],
)
def test_scores_of_words(texts, scores):
    assert rating_scores(texts) == scores


def test_words_that_no_scale_has_are_not_thrown_away(tmp_path):
    path = written(tmp_path, "id,Staff,Food\n1,wow,meh\n2,meh,wow\n3,wow,wow\n")
    with pytest.raises(RankwiseFormatError, match="'wow' is not a score") as caught:
        read_rankings(path, layout="scores", items=["Staff", "Food"])
    assert caught.value.choices == []
    assert "These are words, not numbers: replace them by numbers, as 1 to 5, higher = better" in caught.value.cure
    assert "missing_values" not in problem("consensus", path, "--layout", "scores", "--target", "Staff,Food")
