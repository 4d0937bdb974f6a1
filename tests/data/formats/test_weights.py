"""Columns of weights: known by their names in a few languages, and never passed over where a cell is no weight."""

from __future__ import annotations

import pytest

from rankwise import RankwiseFormatError
from rankwise.data import read_rankings, read_survey
from tests.data.formats.survey_files import commands, loaded, written

WEIGHED = "id,rank_A,rank_B,rank_C,weight\n1,1,2,3,1.5\n2,3,2,1,0\n3,2,1,3,{}\n4,1,3,2,2\n"


@pytest.mark.parametrize("cell", ["-1", "", "unknown"])
def test_a_cell_that_is_no_weight_is_refused(tmp_path, cell):
    path = written(tmp_path, WEIGHED.format(cell))
    problem = f"line 4, column 5: column 'weight' may say how often each ranking counts, but here it is '{cell}', which"
    with pytest.raises(RankwiseFormatError, match=problem) as caught:
        read_rankings(path)
    assert "to drop the row; or weights=None" in caught.value.cure
    without_row, without_weights = commands(path)
    found = loaded(path, without_row)
    assert found.rankings.weights.tolist() == [1.5, 0, 2]
    assert found.reading.dropped == {"no weight in a cell": 1}
    found = loaded(path, without_weights)
    assert found.rankings.weights.tolist() == [1, 1, 1, 1]


def test_weights_asked_for_are_refused_with_commands(tmp_path):
    path = written(tmp_path, WEIGHED.format("-1"))
    without_row, without_weights = commands(path, weight="weight")
    assert len(loaded(path, without_row).rankings) == 3
    assert loaded(path, without_weights).rankings.weights.tolist() == [1, 1, 1, 1]
    with pytest.raises(RankwiseFormatError, match="line 4, column 5: the weight is '-1'"):
        read_survey(path, weight="weight")


def test_an_ignored_column_is_no_weight(tmp_path):
    survey = read_survey(written(tmp_path, WEIGHED.format("2")), ignore=["weight"])
    assert survey.reading.weights is None
    assert survey.roles["weight"].role == "ignored"


@pytest.mark.parametrize(
    ("text", "weighed"),
    [
        ("votes,rank_a,rank_b,rank_c\n5,1,2,3\n3,x,1,2\n2,2,1,3\n2,2,1,3\n", [5, 2, 2]),
        ("votes,1st,2nd,3rd\n5,Ann,Bob,Cid\n3,Bob,Bob,Ann\n2,Cid,Bob,Ann\n", [5, 2]),
        ("votes,Food,Price\n2,Satisfied,Neutral\n1,Neutral,Satisfied\n", [2, 1]),
    ],
)
def test_a_slip_or_a_word_does_not_hide_the_weights(tmp_path, text, weighed):
    path = written(tmp_path, text)
    with pytest.raises(RankwiseFormatError, match="column 'votes' may say how often each ranking counts") as caught:
        read_rankings(path)
    assert read_rankings(path, **caught.value.choices[0], invalid="drop").weights.tolist() == weighed


@pytest.mark.parametrize("layout", ["orders", "pairwise", "judged"])
def test_rows_without_a_weight_are_dropped_in_other_layouts(tmp_path, layout):
    text = {
        "orders": "choice_1,choice_2,weight\na,b,1\nb,a,\na,b,2\n",
        "pairwise": "winner,loser,weight\na,b,1\nb,a,-2\na,b,2\n",
        "judged": "id,item,rank,weight\n1,a,1,1\n1,b,2,1\n2,a,1,x\n2,b,2,x\n3,b,1,2\n3,a,2,2\n",
    }[layout]
    path = written(tmp_path, text)
    without_row, _ = commands(path)
    assert loaded(path, without_row).rankings.weights.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("text", "name", "items"),
    [
        (
            "Nr;Tee;Saft;Bier;Alter;Gewicht\n1;1;2;3;34;0,8\n2;2;1;3;45;1\n3;1;3;2;29;1\n4;3;1;2;61;1\n",
            "Gewicht",
            "Tee",
        ),
        ("id;rang_Thé;rang_Café;rang_Jus;Poids\n1;1;2;3;0,8\n2;2;1;3;3,2\n3;1;3;2;1,0\n", "Poids", "Thé"),
        ("id;puesto_té;puesto_café;Peso\n1;1;2;0,8\n2;2;1;3,2\n3;1;2;1,0\n", "Peso", "té"),
        ("Rang Tee;Rang Saft;Gewichtung\n1;2;0,8\n2;1;3,2\n1;2;1,0\n", "Gewichtung", "Tee"),
        ("Platz_Tee;Platz_Saft;x;Pondération\n1;2;7;0,8\n2;1;8;3,2\n1;2;9;1,0\n", "Pondération", "Tee"),
        ("place_thé;place_jus;x;Pondération\n1;2;7;0,8\n2;1;8;3,2\n1;2;9;1,0\n", "Pondération", "thé"),
        ("posto_tè;posto_latte;x;peso\n1;2;7;0,8\n2;1;8;3,2\n1;2;9;1,0\n", "peso", "tè"),
    ],
)
def test_words_of_other_languages(tmp_path, text, name, items):
    path = written(tmp_path, text)
    weighted, plain = commands(path)
    found = loaded(path, weighted)
    assert found.reading.weights == name
    assert found.rankings.items[0] == items
    assert set(loaded(path, plain).rankings.weights.tolist()) == {1}
