"""Tables with the whole order in one cell."""

from __future__ import annotations

import re

import numpy as np
import pytest

from rankwise import RankwiseFormatError
from rankwise.data.formats.detect import read_rankings, read_with_reading
from rankwise.data.formats.survey_strings import read_ordered_strings_csv
from tests.data.formats.survey_files import written

inf, nan = np.inf, np.nan


@pytest.mark.parametrize(
    ("cells", "options"),
    [
        (["tea>milk~juice", "juice > tea > milk", ""], {}),
        (["tea milk~juice", "juice  tea milk", "NA"], {"separator": " ", "column": "drinks"}),
        (
            ["tea<milk=juice", "juice<tea<milk", "x"],
            {"separator": "<", "tie": "=", "column": "drinks", "missing_values": ["x"]},
        ),
        (["tea>{milk, juice}", "juice>tea>milk", ""], {}),
        (["tea > (juice,milk)", "{juice}>tea>milk", ""], {"items": ["tea", "milk", "juice"]}),
        (['"[""tea"", [""milk"", ""juice""]]"', '"[""juice"", ""tea"", ""milk""]"', '""'], {}),
    ],
)
def test_ordered_strings(tmp_path, cells, options):
    path = written(tmp_path, "age;drinks\n" + "".join(f"{30 + i};{cell}\n" for i, cell in enumerate(cells)))
    rankings, covariates = read_ordered_strings_csv(path, unlisted="missing", **options)
    assert rankings.items == ("tea", "milk", "juice")
    np.testing.assert_array_equal(rankings.positions, [[1, 2, 2], [2, 3, 1], [nan, nan, nan]])
    assert covariates["age"].tolist() == [30, 31, 32]


@pytest.mark.parametrize(
    ("cells", "sign"),
    [
        (["a=b>c"], "="),
        (["a>=b", "b>a"], "="),
        (["a>b|c"], "|"),
        (["a>b, c", "b>c"], ","),
        (["a>b/c", "c>b>a"], "/"),
        (["a>b=c", "a=b=c"], "="),
    ],
)
def test_ties_by_another_sign_are_not_taken_for_names(tmp_path, cells, sign):
    path = written(tmp_path, "x;pref\n" + "".join(f'{i};"{cell}"\n' for i, cell in enumerate(cells)))
    with pytest.raises(RankwiseFormatError, match=re.escape(f"give tie={sign!r}")):
        read_ordered_strings_csv(path, column="pref")
    if cells[0] != "a>=b":
        rankings, _ = read_ordered_strings_csv(path, column="pref", tie=sign)
        assert set(rankings.items) == set("abc")


@pytest.mark.parametrize("name", ["b=c", "b & c", "b, c", "{b", "(b, x) c"])
def test_names_with_signs_are_read_where_items_list_them(tmp_path, name):
    path = written(tmp_path, f'pref;x\n"a>{name}";1\na>b>c;2\n')
    rankings, _ = read_ordered_strings_csv(path, items=["a", "b", "c", name])
    assert rankings.positions[0].tolist() == [1, inf, inf, 2]


def test_names_whose_parts_are_no_items_are_just_names(tmp_path):
    names = ["Salt & vinegar", "Salt", "Tea (hot)", "Tea", "Milk, cold", "(other)", "and/or"]
    path = written(tmp_path, f'pref;x\n"{">".join(names)}";1\nTea>Salt;2\n')
    assert read_ordered_strings_csv(path)[0].items == tuple(names)
    # JSON says itself where a name ends.
    assert read_ordered_strings_csv(written(tmp_path, 'pref\n"[""b=c"", ""b"", ""c""]"\n'))[0].n_items == 3


def test_ordered_strings_refuse_equal_marks(tmp_path):
    with pytest.raises(ValueError, match="give two that differ"):
        read_ordered_strings_csv(tmp_path / "x.csv", separator="~")


@pytest.mark.parametrize("form", ['"{}, {}, {}"', "{};{};{};", "{} | {} | {}", "{},{},{}"])
def test_lists_of_the_same_items_in_different_orders_are_read(tmp_path, form):
    form = form if form.startswith('"') or "," not in form else f'"{form}"'
    cells = [form.format(*order) for order in (("tea", "milk", "juice"), ("juice", "tea", "milk"))]
    path = written(tmp_path, "age,answer\n30,\n" + "".join(f"{31 + i},{cell}\n" for i, cell in enumerate(cells)))
    rankings, _, reading = read_with_reading(path)
    assert rankings.items == ("tea", "milk", "juice")
    np.testing.assert_array_equal(rankings.positions[1:], [[1, 2, 3], [2, 3, 1]])
    assert "list all the same 3 items, in different orders" in reading.reason
    np.testing.assert_array_equal(read_ordered_strings_csv(path)[0].positions, rankings.positions)


@pytest.mark.parametrize(
    ("name", "cells", "is_read"),
    [
        ("drinks", ["tea, milk", "milk, juice", "tea, juice"], False),  # boxes that were ticked
        ("drinks", ["tea, milk", "milk, tea, juice"], False),  # perhaps in the order of the clicks
        ("ranking", ["tea, milk", "milk, tea, juice"], True),
        ("ranking", ["1, 2, 3", "2, 1, 3"], False),  # places of three items, or the items by number
    ],
)
def test_lists_that_may_be_ticked_boxes_are_asked_for(tmp_path, name, cells, is_read):
    path = written(tmp_path, f"age;{name}\n" + "".join(f"{31 + i};{cell}\n" for i, cell in enumerate(cells)))
    if is_read:
        assert read_with_reading(path)[2].layout == "strings"
        return
    with pytest.raises(RankwiseFormatError) as caught:
        read_with_reading(path)
    assert caught.value.choices == [{"layout": "strings", "column": name, "separator": ","}]


def test_texts_that_are_no_lists_are_not_suggested(tmp_path):
    path = written(tmp_path, "age;town\n31;Berlin, Germany\n32;Paris, France\n33;Rome, Italy\n")
    with pytest.raises(RankwiseFormatError) as caught:
        read_with_reading(path)
    assert not caught.value.choices


def test_the_separator_that_is_proposed_stands_between_names_of_several_words(tmp_path):
    path = written(tmp_path, "age;drinks\n31;green tea, milk\n32;milk, green tea\n")
    with pytest.raises(RankwiseFormatError, match="separator=','") as caught:
        read_ordered_strings_csv(path, column="drinks")
    assert read_rankings(path, **caught.value.choices[0]).items == ("green tea", "milk")
