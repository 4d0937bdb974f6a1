"""Ratings that look like places, and scores on several scales: asked about, or said."""

from __future__ import annotations

import pytest

from rankwise import RankwiseFormatError
from rankwise.data import read_rankings, read_survey
from tests.cli.running import run
from tests.data.formats.survey_files import commands, loaded, written

RATED = "{}\n1,5,4,3,2,1\n2,4,5,2,3,1\n3,5,3,4,1,2\n4,4,5,3,2,1\n5,5,4,3,1,2\n6,4,4,3,2,1\n"


def test_ties_in_columns_that_do_not_say_rank_are_asked_about(tmp_path):
    path = written(tmp_path, RATED.format("ID,Price,Quality,Service,Design,Brand"))
    words = r"may be scores .* or places .*: line 7 \(4, 4, 3, 2, 1\) holds a number twice, as ratings do"
    with pytest.raises(RankwiseFormatError, match=words):
        read_rankings(path)
    as_scores, as_places = commands(path)
    assert loaded(path, as_scores).rankings.positions[0].tolist() == [1, 2, 3, 4, 5]
    assert loaded(path, as_places).rankings.positions[0].tolist() == [5, 4, 3, 2, 1]


@pytest.mark.parametrize(
    "header",
    [
        "ID,rank_Price,rank_Quality,rank_Service,rank_Design,rank_Brand",
        "ID,Rank [Price],Rank [Quality],Rank [Service],Rank [Design],Rank [Brand]",
        "ID,Platz Price,Platz Quality,Platz Service,Platz Design,Platz Brand",
    ],
)
def test_ties_in_columns_that_say_rank_are_read(tmp_path, header):
    survey = read_survey(written(tmp_path, RATED.format(header)))
    assert (survey.reading.layout, survey.rankings.kind) == ("positions", "tied")
    assert survey.rankings.items[0] == "Price"


def test_ties_that_skip_places_are_read(tmp_path):
    text = RATED.format("ID,Price,Quality,Service,Design,Brand").replace("6,4,4,3,2,1", "6,5,4,1,1,3")
    assert read_survey(written(tmp_path, text)).rankings.positions[-1].tolist() == [4, 3, 1, 1, 2]


def test_a_judge_on_another_scale_is_asked_about(tmp_path):
    path = written(tmp_path, "wine,Anna,Ben,Cleo\nR,3,92,1\nS,2,88,3\nT,1,90,2\nU,4,85,4\n")
    with pytest.raises(RankwiseFormatError, match=r"'Anna', 'Cleo' hold places .* but 'Ben' is on another scale"):
        read_rankings(path)
    without, as_points = commands(path)
    found = loaded(path, without)
    assert found.reading.columns == ("wine", "Anna", "Cleo")
    assert found.rankings.positions.tolist() == [[3, 2, 1, 4], [1, 3, 2, 4]]
    found = loaded(path, as_points)
    assert found.reading.columns == ("wine", "Anna", "Ben", "Cleo")
    assert found.rankings.positions[1].tolist() == [1, 3, 2, 4]


def test_ties_beside_rows_with_blanks_that_count_from_1_are_read(tmp_path):
    text = RATED.format("ID,Price,Quality,Service,Design,Brand") + "7,1,,,,2\n"
    assert read_survey(written(tmp_path, text)).rankings.kind == "incomplete"


MIXED = "id,Price,Service,Food,Overall\n1,4,5,3,8\n2,3,4,5,9\n3,5,4,2,7\n4,2,5,4,10\n5,4,3,3,6\n"


def test_columns_on_different_scales_are_said(tmp_path):
    path = written(tmp_path, MIXED)
    as_scores = commands(path)[0]
    note = (
        "The scales may differ: 'Overall' holds 6 to 10, but 'Price', 'Service', 'Food' hold 2 to 5. "
        "If so, the higher scale always wins."
    )
    assert loaded(path, as_scores).reading.lines().count(note) == 1
    columns = "Price,Service,Food,Overall"
    done = run("consensus", path, "--layout", "scores", "--target", columns, "--method", "range")
    assert "The scales may differ: 'Overall' holds 6 to 10" in " ".join((done.stdout + done.stderr).split())
    one = loaded(path, as_scores.replace(",Overall", ""))
    assert not any("scales" in line for line in one.reading.lines())


def test_judges_on_different_scales_are_said(tmp_path):
    path = written(tmp_path, "wine,Anna,Ben\nR,1,92\nS,4,88\nT,2,90\n")
    reading = read_survey(path, layout="judges", judges=["Anna", "Ben"], values="scores").reading
    assert reading.notes == (
        "The scales may differ: 'Ben' holds 88 to 92, but 'Anna' holds 1 to 4. "
        "If so, the places are right, but sums are not.",
    )


def test_a_number_beyond_the_places_in_most_rows_is_asked_about(tmp_path):
    rows = ["1,2,7,7,7", "2,1,7,7,7", "7,1,2,7,7", "1,2,3,4,5", "3,7,1,2,7"]
    path = written(tmp_path, "\n".join(["{0}A,{0}B,{0}C,{0}D,{0}E", *rows, ""]).format(""))
    with pytest.raises(RankwiseFormatError, match="4 of 5 rows hold 7, but there are 5 items"):
        read_rankings(path)
    named = written(tmp_path, path.read_text().replace("A,B,C,D,E", "rank_A,rank_B,rank_C,rank_D,rank_E"))
    assert any(line.startswith("7 is beyond the last place") for line in read_survey(named).reading.lines())


@pytest.mark.parametrize("first", ["judge\n1\n2\n3\n4", "name\na\nb\nc\nd"])
def test_ticked_boxes_are_asked_about(tmp_path, first):
    columns = zip(first.split(), ["tea,milk,juice", "1,0,1", "0,0,1", "1,1,0", "1,1,1"], strict=True)
    path = written(tmp_path, "".join(f"{a},{b}\n" for a, b in columns))
    with pytest.raises(RankwiseFormatError, match=r"'tea', 'milk', 'juice' hold only 0 and 1, as boxes do"):
        read_rankings(path)
    (as_scores,) = commands(path)
    assert loaded(path, as_scores).rankings.positions.tolist() == [[1, 2, 1], [2, 2, 1], [1, 1, 2], [1, 1, 1]]
