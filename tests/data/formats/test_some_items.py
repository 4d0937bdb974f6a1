"""Columns that hold only some of the items that people ranked: those whose column was dropped or ignored leave gaps."""

from __future__ import annotations

import numpy as np
import pytest

from rankwise import RankwiseFormatError
from rankwise.data import read_survey
from rankwise.data.formats import places
from rankwise.data.formats.places import classify

DRINKS = ("Tea", "Coffee", "Milk", "Juice", "Water")


@pytest.fixture
def ranked():
    """Places of five drinks, 40 people."""
    return np.argsort(np.random.default_rng(3).random((40, 5)), axis=1) + 1


def written(tmp_path, ranked, template="rank_{}", drop=()):
    kept = [at for at, drink in enumerate(DRINKS) if drink not in drop]
    lines = [",".join(template.format(DRINKS[at]) for at in kept)]
    lines += [",".join(str(row[at]) for at in kept) for row in ranked]
    path = tmp_path / "drinks.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def order_of_some(ranked, drop):
    """The places of the items that are left, counted anew."""
    kept = ranked[:, [at for at, drink in enumerate(DRINKS) if drink not in drop]]
    return np.argsort(np.argsort(kept, axis=1), axis=1) + 1


@pytest.mark.parametrize("template", ["rank_{}", "Rang {}", "{}_rank", "{} (place)", "Platz {}"])
@pytest.mark.parametrize("drop", [("Milk",), ("Tea", "Water")])
def test_columns_named_as_places_may_be_some_of_the_items(tmp_path, ranked, template, drop):
    survey = read_survey(written(tmp_path, ranked, template, drop))
    assert survey.reading.layout == "positions"
    np.testing.assert_array_equal(survey.rankings.positions, order_of_some(ranked, drop))
    (note,) = survey.reading.notes
    assert f"places go up to 5 in {5 - len(drop)} columns" in note
    assert not survey.check.findings.keys() & {"impossible", "skipped"}


@pytest.mark.parametrize("template", ["rank_{}", "{}_rank", "{}"])
@pytest.mark.parametrize("drop", [("Milk",), ("Tea", "Water")])
def test_an_item_can_be_ignored(tmp_path, ranked, template, drop):
    names = [template.format(drink) for drink in drop]
    survey = read_survey(written(tmp_path, ranked, template), ignore=names)
    np.testing.assert_array_equal(survey.rankings.positions, order_of_some(ranked, drop))
    assert all(survey.roles[name].role == "ignored" for name in names)
    assert not survey.X


def test_rows_can_be_chosen_by_a_column_that_is_ignored_with_an_item(tmp_path, ranked):
    path = written(tmp_path, ranked)
    head, *rows = path.read_text(encoding="utf-8").splitlines()
    lines = [f"{head},done", *(f"{row},{'no' if number < 10 else 'yes'}" for number, row in enumerate(rows))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    survey = read_survey(path, ignore=["rank_Milk", "done"], where={"done": ["yes"]})
    np.testing.assert_array_equal(survey.rankings.positions, order_of_some(ranked, ("Milk",))[10:])
    assert not survey.X


def test_the_items_can_be_named(tmp_path, ranked):
    wanted = [f"rank_{drink}" for drink in DRINKS if drink != "Milk"]
    for layout in ("auto", "positions"):
        survey = read_survey(written(tmp_path, ranked), target=wanted, layout=layout)
        np.testing.assert_array_equal(survey.rankings.positions, order_of_some(ranked, ("Milk",)))
        (note,) = survey.reading.notes
        assert "places go up to 5 in 4 columns" in note


def test_names_that_say_nothing_are_still_asked_about(tmp_path, ranked):
    with pytest.raises(RankwiseFormatError, match="may be scores"):
        read_survey(written(tmp_path, ranked, "{}", ("Milk",)))


def test_ties_are_no_rankings_of_more_items(tmp_path, ranked):
    ranked[::4] = [2, 2, 3, 4, 5]
    with pytest.raises(RankwiseFormatError, match="may be scores"):
        read_survey(written(tmp_path, ranked, drop=("Milk",)))


def test_a_slip_is_not_another_item(tmp_path):
    ranked = np.argsort(np.random.default_rng(3).random((40, 5)), axis=1) + 1
    ranked[ranked[:, 4] == 5] = [1, 2, 3, 4, 5]
    ranked[7, int(np.argmax(ranked[7] == 4))] = 6
    path = written(tmp_path, ranked)
    with pytest.raises(RankwiseFormatError, match="'6' is not a place among 5 items") as caught:
        read_survey(path)
    assert caught.value.line == 9


def test_places_far_beyond_the_columns_are_not_taken():
    values = np.array([[1, 2, 9], [9, 2, 1], [3, 9, 1], [9, 1, 2]], dtype=float)
    assert classify(values, named_places=True).n_ranked is None
    near = np.where(values == 9, 5, values)
    rows = classify(near, named_places=True)
    assert rows.n_ranked == 5
    assert set(rows.kinds.tolist()) == {places.SKIPPED}
    assert classify(near).n_ranked is None


def test_a_column_that_does_not_exist_cannot_be_ignored(tmp_path, ranked):
    with pytest.raises(RankwiseFormatError, match="Did you mean 'rank_Milk'"):
        read_survey(written(tmp_path, ranked), ignore=["rank_Milc"])


def test_a_judge_who_gave_no_place_is_named(tmp_path):
    path = tmp_path / "wines.csv"
    path.write_text("wine,Anna,Ben,Cleo,Dan\nRioja,1,2,2,\nMerlot,2,1,1,\nMalbec,3,3,4,\nPort,4,4,3,\n")
    survey = read_survey(path)
    assert len(survey.rankings) == 3
    assert "'Dan' is blank: no vote there." in survey.reading.notes


@pytest.mark.parametrize("name", ["rank_item{}", "rank_option_{}", "Rang Item {}"])
def test_numbers_that_name_items_are_no_places(tmp_path, ranked, name):
    path = tmp_path / "items.csv"
    lines = [",".join(name.format(at) for at in range(1, 6)), *(",".join(map(str, row)) for row in ranked)]
    path.write_text("\n".join(lines) + "\n")
    survey = read_survey(path)
    assert survey.reading.layout == "positions"
    np.testing.assert_array_equal(survey.rankings.positions, ranked)
    path.write_text(path.read_text().replace(name.partition("{")[0], "rank_"))
    with pytest.raises(RankwiseFormatError, match=r"positions .* or orders"):
        read_survey(path)
