from __future__ import annotations

import re
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise import Rankings, RankwiseFormatError
from rankwise.data.formats import buckets, read_rankings
from rankwise.data.formats.detect import read_with_reading
from rankwise.data.formats.survey_duels import read_pairwise_csv
from rankwise.data.formats.survey_long import read_long_csv
from tests.data.formats.survey_files import written
from tests.strategies import position_matrices

inf, nan = np.inf, np.nan


def test_long_form(tmp_path):
    text = "judge,wine,place,age,n\nann,red,1,31,2\nbob,rose,,47,1\nann,white,2,31,2\nbob,red,1,47,1\n"
    rankings, covariates = read_long_csv(
        written(tmp_path, text), item="wine", weights="n", items=["white", "red", "rose"]
    )
    np.testing.assert_array_equal(rankings.positions, [[2, 1, nan], [nan, 1, nan]])
    assert rankings.weights.tolist() == [2, 1]
    assert covariates["judge"].tolist() == ["ann", "bob"]
    assert covariates["age"].tolist() == [31, 47]
    assert list(covariates) == ["judge", "age"]
    below, _ = read_long_csv(written(tmp_path, text), item="wine", unlisted="below", drop=["n"])
    assert below.items == ("red", "rose", "white")
    np.testing.assert_array_equal(below.positions, [[1, inf, 2], [1, inf, inf]])


def test_long_form_with_two_columns_for_the_respondent(tmp_path):
    path = written(tmp_path, "id,trait,item,rank\n1,taste,a,1\n1,taste,b,2\n1,colour,b,1\n1,colour,a,2\n")
    with pytest.raises(RankwiseFormatError, match=re.escape("respondent=['id', 'trait']")):
        read_long_csv(path)
    rankings, covariates = read_long_csv(path, respondent=["id", "trait"])
    assert rankings.positions.tolist() == [[1, 2], [2, 1]]
    assert covariates["trait"].tolist() == ["taste", "colour"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "is the item"),
        ({"item": "x", "position": "z"}, "no column 'z'"),
        ({"item": "x", "drop": ["z"]}, "no column 'z'"),
        ({"item": "x", "items": ["b"]}, "item 'a' is not declared"),
    ],
)
def test_long_form_asks_for_what_it_misses(tmp_path, options, message):
    with pytest.raises(RankwiseFormatError, match=message):
        read_long_csv(written(tmp_path, "id,x,rank\n1,a,1\n"), **options)


@given(values=position_matrices(kinds=("full", "tied", "incomplete"), min_items=2), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_long_form_says_what_the_wide_form_says(values, seed):
    values = np.where(np.isinf(values), nan, values)
    rows = [f"r{r},i{i},{'' if np.isnan(v) else f'{v:g}'}" for (r, i), v in np.ndenumerate(values)]
    head, rest = rows[:: values.shape[1]], [row for at, row in enumerate(rows) if at % values.shape[1]]
    np.random.default_rng(seed).shuffle(rest)
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder), "\n".join(["id,item,position", *head, *rest]))
        rankings, _ = read_long_csv(path, items=[f"i{i}" for i in range(values.shape[1])])
    assert rankings == Rankings(values, rankings.items)


def test_pairwise(tmp_path):
    text = "judge,bottom_item,top_item,count\nann,2,10,3\nbob,10,1,1\n"
    rankings, covariates = read_pairwise_csv(written(tmp_path, text), weights="count")
    assert rankings.items == ("1", "2", "10")
    np.testing.assert_array_equal(rankings.positions, [[nan, 2, 1], [1, nan, 2]])
    assert rankings.weights.tolist() == [3, 1]
    assert covariates["judge"].tolist() == ["ann", "bob"]


@pytest.mark.parametrize("names", ["left,right,winner", "item_a,item_b,winner", "Winner,Item_B,Item_A", "x,y,z"])
@pytest.mark.parametrize("words", ["sides", "items", "columns"])
def test_duels_with_left_and_right(tmp_path, names, words):
    header = names.split(",")
    columns = sorted(header, key=lambda name: ("wz".find(name.lower()[0]) >= 0, name.lower()))
    first, second = {"sides": ("left", "RIGHT"), "items": ("tea", "juice"), "columns": columns[:2]}[words]
    duels = [("tea", "milk", first), ("milk", "juice", second), ("juice", "tea", "Tie")]
    rows = [dict(zip(columns, duel, strict=True)) for duel in duels]
    text = "\n".join([names, *(",".join(row[name] for name in header) for row in rows)])
    options = {"left": "x", "right": "y", "winner": "z"} if names == "x,y,z" else {}
    rankings = read_rankings(written(tmp_path, text), **options)
    expected = [[1, 2, nan], [nan, 2, 1], [1, nan, 1]]
    np.testing.assert_array_equal(rankings.select(["tea", "milk", "juice"]).positions, expected)


def test_duels_of_items_that_are_named_like_sides(tmp_path):
    path = written(tmp_path, "left,right,winner\nright,left,left\n")
    with pytest.raises(RankwiseFormatError, match="line 2, column 3: the winner 'left' is not clear"):
        read_pairwise_csv(path)
    rankings, _ = read_pairwise_csv(written(tmp_path, "left,right,winner\nleft,right,left\nleft,tie,tie\n"))
    np.testing.assert_array_equal(rankings.select(["left", "right", "tie"]).positions, [[1, 2, nan], [2, nan, 1]])


def test_duels_take_loser_or_sides(tmp_path):
    path = written(tmp_path, "left,right,winner,loser\na,b,left,b\n")
    assert read_rankings(path).items == ("left", "b")  # winner and loser come first
    assert read_rankings(path, left="left", right="right").items == ("a", "b")
    with pytest.raises(ValueError, match="give winner and loser, or left, right and winner"):
        read_pairwise_csv(path, left="left", loser="loser")


def test_tables_far_larger_than_their_file_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(buckets, "_SMALL", 1000)
    n = 300
    path = written(tmp_path, "winner,loser\n" + "".join(f"a{i},b{i}\n" for i in range(n)))
    with pytest.raises(RankwiseFormatError, match="300 rankings of 600 items would fill 180,000 cells"):
        read_pairwise_csv(path)
    path = written(tmp_path, "id,item,rank\n" + "".join(f"{i},{i},1\n" for i in range(n)))
    with pytest.raises(RankwiseFormatError, match="would fill 90,000 cells"):
        read_long_csv(path)


LONG_SCORES = "judge,team,points\nann,x,9\nann,y,7\nann,z,4\nbob,x,8\nbob,y,10\nbob,z,3\n"


def test_scores_in_long_form(tmp_path):
    path = written(tmp_path, LONG_SCORES)
    rankings, _, reading = read_with_reading(path, item="team")
    assert rankings.positions.tolist() == [[1, 2, 3], [2, 1, 3]]
    assert reading.direction == "higher is better"
    with pytest.raises(ValueError, match="both position and score"):
        read_long_csv(path, item="team", position="points", score="points")


@pytest.mark.parametrize("name", ["rank", "value"])
def test_positions_in_long_form_that_may_be_scores_are_asked_for(tmp_path, name):
    path = written(tmp_path, LONG_SCORES.replace("points", name))
    with pytest.raises(RankwiseFormatError, match="the values reach 10, but there are 3 items") as caught:
        read_rankings(path, respondent="judge", item="team", position=name)
    scores, places = (read_rankings(path, **choice) for choice in caught.value.choices)
    assert scores.positions.tolist() == [[1, 2, 3], [2, 1, 3]]
    assert places.positions.tolist() == [[3, 2, 1], [2, 3, 1]]


@pytest.mark.parametrize("name", ["product", "wine", "what was tasted"])
def test_the_column_of_the_items_is_found_whatever_its_name(tmp_path, name):
    rows = "1,f,tea,1\n1,f,milk,2\n1,f,juice,3\n2,m,tea,2\n2,m,milk,1\n2,m,juice,3\n"
    rankings, _, reading = read_with_reading(written(tmp_path, f"respondent,sex,{name},rank\n{rows}"))
    assert rankings.items == ("tea", "milk", "juice")
    assert rankings.positions.tolist() == [[1, 2, 3], [2, 1, 3]]
    assert f"{name!r} names the items" in reading.reason


def test_people_who_were_shown_different_items_are_not_said_to_rank_the_best(tmp_path):
    rows = "1,tea,1\n1,milk,2\n2,milk,1\n2,juice,2\n3,tea,2\n3,juice,1\n"
    reading = read_with_reading(written(tmp_path, f"id,item,rank\n{rows}"))[2]
    assert not any("best only" in note for note in reading.notes)
