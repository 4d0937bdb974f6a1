"""Tables with the whole order in one cell."""

from __future__ import annotations

import re

import numpy as np
import pytest

from rankwise import RankwiseFormatError
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
