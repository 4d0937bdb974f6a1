"""Large texts, cut by compiled loops: the same tables as the strict reader makes, number by number."""

from __future__ import annotations

import csv
import io
import random

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rankwise import RankwiseFormatError, read_rankings
from rankwise.data.formats import delimited, detect, large, layouts, places
from rankwise.data.formats.delimited import parse_table
from rankwise.data.formats.tables import MISSING, Column, covariates
from rankwise.data.formats.text import number

# What readers stumble over: quotes, blanks of all kinds, line breaks, signs, codes, numbers of many digits.
ODD = """|a| a |é|\u00a0|\u2003b|\x1f|1|01|-0.5|+7|1e3|1e999|1_0|NA|-|12345678901234567|0.1234567890123456789|1,5|2,250
|say "hi"|two\nlines|""|a>b"""
CELLS = st.one_of(
    st.sampled_from([*ODD.split("|"), "9" * 400]),
    st.text(st.characters(exclude_characters="\r\0", exclude_categories=["Cs"]), max_size=6),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
)


def cut_both_ways(content: str, monkeypatch: pytest.MonkeyPatch, delimiter: str | None = None):
    """What the strict and the compiled reader make of a text: a table or the message."""
    results = []
    for at_least in (10**9, 0):
        monkeypatch.setattr(delimited, "LARGE", at_least)
        try:
            results.append(parse_table(content, "file.csv", delimiter))
        except RankwiseFormatError as error:
            results.append(str(error))
    return results


def assert_same(strict, quick):
    if isinstance(strict, str):
        assert quick == strict
        return
    assert not isinstance(quick, str), quick
    assert quick.header == strict.header
    assert quick.header_line == strict.header_line
    assert list(quick.lines) == list(strict.lines)
    assert dict(quick.questions) == dict(strict.questions)
    assert len(quick) == len(strict)
    for name, ours, theirs in zip(strict.header, quick.columns, strict.columns, strict=True):
        assert ours.cells == theirs.cells
        assert list(ours.distinct) == theirs.distinct
        assert ours.codes.tolist() == theirs.codes.tolist()
        for marks in (">[", "e", "1"):
            assert ours.holds_any(marks) == theirs.holds_any(marks)
        for others in (dict.fromkeys(MISSING, np.nan), {}, {"1": 5.0, "a": 2.0}):
            np.testing.assert_array_equal(quick.values(name, others), strict.values(name, others))
        rows = range(0, len(quick), 2)
        assert ours.take(rows).cells == theirs.take(rows).cells
    for name, column in covariates(strict, []).items():
        np.testing.assert_array_equal(covariates(quick, [])[name], column)


@pytest.fixture(params=["coded", "as they stand", "in pieces", "in pieces as they stand"])
def kind(request, monkeypatch):
    """Columns that are coded, and columns that keep their cells as they stand after the first rows; several threads."""
    if "stand" in request.param:
        monkeypatch.setattr(large, "_PATIENCE", 2)
    if "pieces" in request.param:
        monkeypatch.setattr(large, "_LEAST_PIECE", 12)
        monkeypatch.setattr(large, "_MOST_THREADS", 3)


@pytest.mark.usefixtures("kind")
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_tables_are_those_of_the_strict_reader(delimiter):
    @given(st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=12), st.integers(0, 3), st.booleans())
    @example([("1", "2", "x")] * 5, csv.QUOTE_ALL, True)
    def check(rows, quoting, ends):
        file = io.StringIO()
        quoting = csv.QUOTE_MINIMAL if quoting == csv.QUOTE_NONE else quoting
        writer = csv.writer(file, delimiter=delimiter, quoting=quoting, lineterminator="\n")
        writer.writerows([("rank_a", "rank_b", "é"), *rows])
        content = file.getvalue() if ends else file.getvalue().removesuffix("\n")
        with pytest.MonkeyPatch.context() as patch:
            assert_same(*cut_both_ways(content, patch, delimiter))

    check()


@pytest.mark.usefixtures("kind")
@given(st.text(st.sampled_from('ab1,;\n" \t\u00a0'), max_size=40), st.sampled_from([",", None]))
@example("a,b\n1,2\n\n , \n3,4", ",")
@example('a,b\n"1,2', ",")
@example("a,b\n1,2\n3\n", ",")
@example("a,b,\n1,2,\n3,4,\n", ",")
@example("sep=;\na;b\n1;2\n", None)
@example('a,b\n 1,"2"x\n', ",")
@example('a,b\n "1",2\n\t"3",4\n', ",")
@example('a,b\n"x""y","""\n', ",")
@example('a,b\n"x\n\ny",2\n3,4\n', ",")
@example('a,b\nx"y,2\n', ",")
def test_any_text_is_read_or_refused_alike(content, delimiter):
    with pytest.MonkeyPatch.context() as patch:
        assert_same(*cut_both_ways(content, patch, delimiter))


def test_qualtrics_rows_and_long_cells(monkeypatch):
    mark = '"{""ImportId"":""QID1_1""}"'
    for content in (
        f'Q1_1,Q1_2\n"Rank - tea","Rank - milk,\nhot"\n{mark},{mark}\n1,2\n2,1\n',
        f"Q1_1,Q1_2\n{mark},{mark}\n1,2\n2,1\n",
        f"Q1_1,Q1_2\nx,y\n{mark},{mark}\n",
        "a,b\n1," + "2" * 140_000 + "\n",
    ):
        assert_same(*cut_both_ways(content, monkeypatch))


def test_ordinary_files_are_cut_by_the_compiled_loops(monkeypatch):
    # The strict reader would give the same table, so only this shows that the quick one is used.
    monkeypatch.setattr(delimited, "LARGE", 0)
    monkeypatch.setattr(delimited, "_strict_table", None)
    table = parse_table('id,rank_a,rank_b,note\n1,1,2,"x, ""y"""\n\n2,2,1,é\n', "file.csv")
    assert table.column("note") == ['x, "y"', "é"]
    assert list(table.lines) == [2, 4]


@pytest.mark.parametrize("least_piece", [10**9, 2000])
def test_more_different_cells_than_a_dictionary_holds(monkeypatch, least_piece):
    monkeypatch.setattr(large, "_LEAST_PIECE", least_piece)
    monkeypatch.setattr(large, "_MOST_DISTINCT", 300)
    rng = random.Random(0)
    rows = [f"{rng.randrange(400)},{i % 3},{'x' * (i % 7)}{rng.randrange(350)}" for i in range(3000)]
    strict, quick = cut_both_ways("\n".join(["a,b,c", *rows]), monkeypatch)
    assert [type(column) for column in quick.columns] == [large.LongColumn, Column, large.LongColumn]
    assert_same(strict, quick)


def test_decimals_are_the_nearest_floats():
    rng = random.Random(0)
    cells = [repr(rng.gauss(0, 1) * 10.0 ** rng.randint(-3, 9)) for _ in range(5000)]
    cells += [str(rng.randrange(10 ** rng.randint(1, 22))) for _ in range(2000)]
    for _ in range(5000):  # halfway between two floats, where rounding is to the even one
        places = rng.randint(1, 6)
        digits = str((2 * (rng.getrandbits(53) | 1 << 52) + rng.choice([0, 1])) * 5**places)
        cells.append(f"{digits[:-places]}.{digits[-places:]}")
    cells += ["0", "-0", "0.0", ".5", "5.", "+1.25", "1" * 25, "0." + "1" * 40]
    lengths = np.array([len(cell) for cell in cells], dtype=np.int32)
    column = large.LongColumn(
        np.frombuffer("".join(cells).encode(), dtype=np.uint8),
        np.cumsum(lengths) - lengths.astype(np.int64),
        lengths,
        has_quotes=False,
    )
    values = column.values({}, comma_is_free=False)
    expected = np.array([number(cell) for cell in cells])
    np.testing.assert_array_equal(values.view(np.int64), expected.view(np.int64))


def test_errors_of_large_files_name_the_line(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "LARGE", 0)
    path = tmp_path / "survey.csv"
    path.write_text('rank_a,rank_b,note\n1,2,"two\nlines"\n\n2,0,x\n')
    with pytest.raises(RankwiseFormatError) as caught:
        read_rankings(path, prefix="rank_")
    assert (caught.value.line, caught.value.column) == (5, 2)


def test_plain_rankings_are_found_alike_by_the_compiled_loop(monkeypatch):
    rng = np.random.default_rng(0)
    values = np.argsort(rng.random((400, 5)), axis=1) + 1.0
    values[rng.random(values.shape) < 0.1] = np.nan
    values[rng.random(values.shape) < 0.05] = 1.5
    values[rng.random(values.shape) < 0.05] = np.inf
    values[rng.random(values.shape) < 0.05] = 6
    values[:3] = [[np.nan] * 5, [1, 2, np.nan, 3, 4], [0, 1, 2, 3, 4]]
    found = []
    for at_least in (10**9, 0):
        monkeypatch.setattr(places, "_WORTH_COMPILED", at_least)
        found.append(places._are_plain(values).tolist())
    assert found[0] == found[1]
    assert found[0][:3] == [False, True, False]
    assert 0 < sum(found[0]) < len(values)


@pytest.mark.parametrize("what", ["plain", "no last line end", "quotes", "blank lines", "a title", "not ASCII", "sep="])
def test_large_files_are_read_from_their_bytes_as_from_their_text(monkeypatch, tmp_path, what):
    rng = np.random.default_rng(0)
    rows = [",".join(map(str, row)) + f",name {at}" for at, row in enumerate(np.argsort(rng.random((500, 3))) + 1)]
    head = "rank_a,rank_b,rank_c,who"
    if what == "quotes":
        rows[100] = '1,2,3,"a ""quoted"",\nname"'
    elif what == "blank lines":
        rows[100:100] = [",,,", ""]
    elif what == "a title":
        head = f"Drinks,,,\n{head}"
    elif what == "not ASCII":
        rows[100] = "1,2,3,Käse"
    elif what == "sep=":
        head = f"sep=,\n{head}"
    path = tmp_path / "large.csv"
    path.write_text("\n".join([head, *rows]) + "\n" * (what != "no last line end"), encoding="utf-8")
    found = []
    for at_least in (0, 1 << 30):
        monkeypatch.setattr(delimited, "LARGE", at_least)
        monkeypatch.setattr(detect, "LARGE", at_least)
        found.append(detect.read_with_reading(path))
    (rankings, columns, reading), (expected, other_columns, other_reading) = found
    assert rankings == expected
    assert reading == other_reading
    assert columns["who"].tolist() == other_columns["who"].tolist()


@given(arrays(np.int64, (5, 3), elements=st.integers(0, 4)), st.booleans())
def test_a_clear_hit_is_what_all_finders_say(tmp_path_factory, places, shuffled):
    if shuffled:
        places = np.argsort(places, axis=1) + 1
    cells = np.where(places == 0, "", places.astype(str))
    path = tmp_path_factory.mktemp("clear") / "ranks.csv"
    path.write_text("age,rank_tea,rank_milk,rank_cola\n" + "".join(f"31,{','.join(row)}\n" for row in cells))
    found = []
    for finder in (layouts._clear_places, lambda table, weights: None):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(layouts, "_clear_places", finder)
            try:
                found.append(detect.read_with_reading(path)[::2])
            except RankwiseFormatError as error:
                found.append(str(error))
    assert found[0] == found[1]
