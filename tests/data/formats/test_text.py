"""Text files: decoding, lines, numbers, and tables of named columns."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import tempfile
import threading
import zipfile
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwise
from rankwise import Rankings, RankwiseFormatError
from rankwise.data.formats import (
    read_letor,
    read_long_csv,
    read_ordered_strings_csv,
    read_orders_csv,
    read_pairwise_csv,
    read_positions_csv,
    read_preflib,
    read_qrels,
    read_rankings,
    read_run,
    read_xarff,
    text,
    write_preflib,
)
from rankwise.data.formats.text import (
    is_writable,
    parse_integer,
    parse_number,
    read_lines,
    read_text,
    shown,
    write_text,
)
from tests.data.formats.survey_files import written

# Carriage returns are line ends, and a byte-order mark at the start is none of the text.
TEXTS = st.text(st.characters(exclude_characters="\r\0", exclude_categories=["Cs"])).filter(
    lambda text: not text.startswith("\ufeff")
)


@given(TEXTS, st.sampled_from(["a.txt", "a.txt.gz"]))
def test_text_survives_writing_and_reading(text, name):
    with tempfile.TemporaryDirectory() as folder:
        write_text(Path(folder) / name, text)
        assert read_text(Path(folder) / name) == text


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a", ["a"]),
        (b"a\n\nb\n", ["a", "", "b"]),
        (b"a\r\nb\rc", ["a", "b", "c"]),
        (b"\xef\xbb\xbfa\n", ["a"]),
        ("a\u2028b\x0bc\x85d".encode(), ["a\u2028b\x0bc\x85d"]),  # only real line ends part lines
        (gzip.compress(b"a\nb", mtime=0), ["a", "b"]),
    ],
)
def test_lines(tmp_path, data, lines):
    path = tmp_path / "file"
    path.write_bytes(data)
    assert read_lines(path) == lines
    assert read_lines(str(path)) == lines


@pytest.mark.parametrize(
    ("data", "line", "message"),
    [
        (b"a\nb\xe9\n", 2, "byte 3 (0xe9) is not valid UTF-8. Save the file as UTF-8."),
        ("a".encode("utf-16"), None, "UTF-16"),
        (b"a\n\x00", 2, "binary"),
        (gzip.compress(b"a" * 100, mtime=0)[:-4], None, "damaged"),
        (gzip.compress(b"a" * 100, mtime=0)[:-8] + bytes(8), None, "damaged"),
        (gzip.compress(b"a", mtime=0) + b"rest", None, "damaged"),
        (b"\x1f\x8b", None, "damaged"),
    ],
)
def test_what_is_not_text_is_refused(tmp_path, data, line, message):
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(RankwiseFormatError) as caught:
        read_text(path)
    assert message in str(caught.value)
    assert caught.value.path == str(path)
    assert caught.value.line == line


def test_a_gzip_bomb_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("rankwise.data.formats.text.SMALL", 1)
    path = tmp_path / "file"
    path.write_bytes(gzip.compress(b"a" * 10**7))
    with pytest.raises(RankwiseFormatError, match=r"inflates to more than .* Unpack it yourself"):
        read_text(path)


def test_missing_files_and_folders_are_format_errors(tmp_path):
    with pytest.raises(RankwiseFormatError, match="no such file"):
        read_text(tmp_path / "nothing")
    with pytest.raises(RankwiseFormatError, match=r"this is a folder\. Give a file in it"):
        read_text(tmp_path)
    with pytest.raises(RankwiseFormatError, match="cannot be read"):
        read_text("a\0b")


@pytest.mark.parametrize(
    "reader", [read_text, read_rankings, read_preflib, read_xarff, read_letor, read_qrels, read_run]
)
def test_whatever_is_given_for_a_path(tmp_path, reader):
    path = os.fsencode(tmp_path / "nothing.csv")
    with pytest.raises(RankwiseFormatError, match="no such file") as caught:
        reader(path)
    assert caught.value.path == os.fsdecode(path)
    for no_path in (3, None, ["a.csv"], io.StringIO("a")):
        with pytest.raises(RankwiseFormatError, match="this is not a path"):
            reader(no_path)


def test_paths_of_bytes_are_paths(tmp_path):
    path = os.fsencode(tmp_path / "drinks.soc.gz")
    write_preflib(Rankings([[1, 2]]), path)
    assert read_rankings(path).positions.tolist() == [[1, 2]]
    write_text(path, "# nothing\n")
    with pytest.raises(RankwiseFormatError, match=r"drinks\.soc\.gz"):
        read_rankings(path)


def test_encodings_that_are_none(tmp_path):
    for encoding in ("", "no-such", "base64", "undefined", 3, "a\0b"):
        with pytest.raises(ValueError, match=r"encoding is .*; give one that Python knows"):
            read_text(tmp_path / "file", encoding)


@given(st.binary(max_size=40), st.sampled_from(["ascii", "cp1252", "utf-16", "utf-32", "utf-7", "idna", "punycode"]))
def test_any_bytes_in_any_encoding_give_text_or_a_format_error(data, encoding):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(data)
        with contextlib.suppress(RankwiseFormatError):
            assert isinstance(read_text(path, encoding), str)


def test_gzip_output_depends_on_the_text_alone(tmp_path):
    for name in ("a.gz", "b.gz"):
        write_text(tmp_path / name, "text")
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


@pytest.mark.parametrize("text", ["", "-", "1.0", "1_0", " 1", "\u0661", "²", "0x1", "9" * 19, "nan"])
def test_no_integer(text):
    with pytest.raises(ValueError):  # noqa: PT011 (the readers add the words)
        parse_integer(text)


@pytest.mark.parametrize("text", ["", "1_0", "\u0661", "nan", "inf", "-Infinity", "1e999", "1,5", "0x1"])
def test_no_number(text):
    with pytest.raises(ValueError):  # noqa: PT011 (the readers add the words)
        parse_number(text)


@given(st.integers(-(10**18) + 1, 10**18 - 1), st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_survive(integer, number):
    assert parse_integer(str(integer)) == integer
    assert parse_number(repr(number)) == number


nan = np.nan

positions = partial(read_positions_csv, prefix="rank_")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiter_is_found(tmp_path, delimiter):
    text = "rank_a,rank_b,note\n1,2,x\n2,1,y\n".replace(",", delimiter)
    rankings, covariates = read_positions_csv(written(tmp_path, text))
    assert rankings.positions.tolist() == [[1, 2], [2, 1]]
    assert covariates["note"].tolist() == ["x", "y"]


def test_other_delimiters_inside_cells_do_not_confuse(tmp_path):
    text = "rank_a;rank_b;note\n1;2;x,y\n2;1;z,y\n"
    assert read_positions_csv(written(tmp_path, text))[1]["note"].tolist() == ["x,y", "z,y"]


def test_delimiter_can_be_given(tmp_path):
    path = written(tmp_path, "rank_a:rank_b\n1:2\n")
    assert read_positions_csv(path, delimiter=":")[0].items == ("a", "b")
    with pytest.raises(ValueError, match="give one character"):
        read_positions_csv(path, delimiter="::")


def test_quotes_line_breaks_blank_lines_and_byte_order_mark(tmp_path):
    text = '\ufeff"rank_a", rank_b ,"a ""note"""\r\n\r\n1,2,"two\r\nlines, and a comma"\r\n   \r\n 2 ,1,x\r\n'
    rankings, covariates = read_positions_csv(written(tmp_path, text))
    assert rankings.positions.tolist() == [[1, 2], [2, 1]]
    assert list(covariates) == ['a "note"']
    assert covariates['a "note"'].tolist() == ["two\nlines, and a comma", "x"]


def test_lines_are_counted_through_quoted_line_breaks(tmp_path):
    path = written(tmp_path, 'rank_a,rank_b,note\n1,2,"x\ny\nz"\n\n1,two,x\n')
    with pytest.raises(RankwiseFormatError) as caught:
        positions(path)
    assert (caught.value.line, caught.value.column) == (6, 2)


def test_endless_cells_are_refused(tmp_path):
    with pytest.raises(RankwiseFormatError, match=r"line 2: .*field limit.*below 131,072 characters"):
        positions(written(tmp_path, "rank_a,rank_b\n1," + "2" * 140_000 + "\n"))


def test_gzip_is_read(tmp_path):
    path = tmp_path / "survey.csv.gz"
    path.write_bytes(gzip.compress(b"rank_a,rank_b\n1,2\n"))
    assert read_positions_csv(path)[0].positions.tolist() == [[1, 2]]


def test_qualtrics_rows_are_skipped(tmp_path):
    mark = '"{""ImportId"":""QID1_1""}"'
    text = f'Q1_1,Q1_2\n"Rank: tea","Rank: milk,\nhot"\n{mark},{mark}\n1,2\n2,1\n'
    rankings, _ = read_positions_csv(written(tmp_path, text), prefix="Q1_")
    assert rankings.items == ("tea", "milk, hot")
    assert rankings.positions.tolist() == [[1, 2], [2, 1]]
    with pytest.raises(RankwiseFormatError, match="no row below"):
        read_positions_csv(written(tmp_path, f"Q1_1,Q1_2\nx,y\n{mark},{mark}\n"))


QUALTRICS = (
    "StartDate,Q1_1,Q1_2,Q1_3,Q2\n"
    'Start Date,"Rank the drinks\nyou know - best first - Tea","Rank the drinks\nyou know - best first - Milk, cold",'
    '"Rank the drinks\nyou know - best first - Juice",How old are you?\n'
    '"{""ImportId"":""startDate""}","{""ImportId"":""QID1_1""}","{""ImportId"":""QID1_2""}",'
    '"{""ImportId"":""QID1_3""}","{""ImportId"":""QID2_TEXT""}"\n'
    "2026-01-05 10:00:00,1,2,3,31\n2026-01-05 10:07:00,2,,1,47\n"
)


@pytest.mark.parametrize("options", [{"prefix": "Q1_"}, {"items": ["Q1_1", "Q1_2", "Q1_3"]}])
def test_qualtrics_names_the_items(tmp_path, options):
    rankings, covariates = read_rankings(
        written(tmp_path, QUALTRICS), layout="positions", return_covariates=True, **options
    )
    assert rankings.items == ("Tea", "Milk, cold", "Juice")
    np.testing.assert_array_equal(rankings.positions, [[1, 2, 3], [2, nan, 1]])
    assert list(covariates) == ["StartDate", "Q2"]
    assert covariates["Q2"].tolist() == [31, 47]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (QUALTRICS.replace("first - Milk, cold", "first - Milk - cold"), ("1", "2", "3")),  # not one question
        (QUALTRICS.replace("Juice", "Tea"), ("1", "2", "3")),  # not different items
        (QUALTRICS.replace(" - ", " of all drinks that there are "), ("1", "2", "3")),  # too long for names
    ],
)
def test_columns_name_the_items_where_qualtrics_does_not(tmp_path, text, names):
    assert read_positions_csv(written(tmp_path, text), prefix="Q1_")[0].items == names


def test_encoding_can_be_given(tmp_path):
    path = tmp_path / "survey.csv"
    text = "rank_thé,rank_café,prix\n1,2,3 €\n2,1,4 €\n"
    path.write_bytes(text.encode("cp1252"))
    for read in (read_positions_csv, partial(read_rankings, return_covariates=True)):
        with pytest.raises(RankwiseFormatError, match="encoding='cp1252'"):
            read(path)
        rankings, covariates = read(path, encoding="cp1252")
        assert rankings.items == ("thé", "café")
        assert covariates["prix"].tolist() == ["3 €", "4 €"]
        with pytest.raises(ValueError, match="encoding is 'latin-99'; give one that Python knows"):
            read(path, encoding="latin-99")
    path.write_bytes(text.encode("utf-16"))
    assert read_rankings(path, encoding="utf-16").items == ("thé", "café")
    with pytest.raises(RankwiseFormatError, match="is not valid cp932"):
        read_rankings(path, encoding="cp932")
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert read_rankings(path, encoding="utf8").items == ("thé", "café")


@pytest.mark.parametrize(
    ("reader", "text"),
    [
        (read_orders_csv, "choice_1,choice_2\nthé,café\ncafé,thé\n"),
        (read_ordered_strings_csv, "x,pref\n1,thé>café\n2,café>thé\n"),
        (read_long_csv, "id,item,rank\n1,thé,1\n1,café,2\n"),
        (read_pairwise_csv, "winner,loser\nthé,café\n"),
    ],
)
def test_every_table_can_have_another_encoding(tmp_path, reader, text):
    path = tmp_path / "survey.csv"
    path.write_bytes(text.encode("cp1252"))
    assert reader(path, encoding="cp1252")[0].items == ("thé", "café")


def test_covariates_are_numbers_only_where_nothing_is_lost(tmp_path):
    text = (
        "rank_a,rank_b,number,text,zip,id,gone,big\n"
        "1,2,1.5,x,01234,12345678901234567890,,1e3\n"
        "2,1,NA,-,94110,12345678901234567891,N/A,2\n"
    )
    _, covariates = read_positions_csv(written(tmp_path, text))
    assert list(covariates) == ["number", "text", "zip", "id", "gone", "big"]
    np.testing.assert_array_equal(covariates["number"], [1.5, nan])
    np.testing.assert_array_equal(covariates["gone"], [nan, nan])
    np.testing.assert_array_equal(covariates["big"], [1000, 2])
    assert covariates["text"].tolist() == ["x", None]
    assert covariates["zip"].tolist() == ["01234", "94110"]
    assert covariates["id"].tolist() == ["12345678901234567890", "12345678901234567891"]


def test_covariates_make_data_frames(tmp_path):
    import pandas
    import polars
    import pyarrow

    _, covariates = read_positions_csv(written(tmp_path, "rank_a,rank_b,age,sex\n1,2,31,f\n2,1,,\n"))
    assert pandas.DataFrame(covariates).shape == (2, 2)
    assert polars.DataFrame(covariates).shape == (2, 2)
    assert pyarrow.table(covariates).shape == (2, 2)


@pytest.mark.parametrize(
    "text",
    [
        "rank_a,rank_b,age,\n1,2,31,\n2,1,47,\n",
        "rank_a;rank_b;age;;\n1;2;31;;\n2;1;47;;\n",
        "sep=;\nrank_a;rank_b;age\n1;2;31\n2;1;47\n",
        '"sep=:"\nrank_a:rank_b:age\n1:2:31\n2:1:47\n',
        "sep=\t\r\nrank_a\trank_b\tage\r\n1\t2\t31\r\n2\t1\t47\r\n",
        "rank_a,rank_b,age\n,,\n1,2,31\n , ,\n2,1,47\n,,\n,,\n",
        "rank_a\trank_b\tage\n1\t2\t31\n\t\t\n2\t1\t47\n",
    ],
)
def test_what_excel_adds_is_left_out(tmp_path, text):
    rankings, covariates = read_rankings(written(tmp_path, text), return_covariates=True)
    assert rankings.positions.tolist() == [[1, 2], [2, 1]]
    assert list(covariates) == ["age"]


def test_lines_are_counted_below_a_declared_delimiter(tmp_path):
    with pytest.raises(RankwiseFormatError) as caught:
        positions(written(tmp_path, "sep=;\nrank_a;rank_b\n1;2\n;\n1;x\n"))
    assert (caught.value.line, caught.value.column) == (5, 2)


def test_a_nameless_column_with_a_cell_is_refused(tmp_path):
    with pytest.raises(RankwiseFormatError, match="column 3: the column has no name"):
        positions(written(tmp_path, "rank_a,rank_b,\n1,2,\n2,1,x\n"))


def test_a_cell_that_excel_could_not_compute_is_missing(tmp_path):
    rankings, covariates = read_rankings(
        written(tmp_path, "rank_a,rank_b,age\n1,2,31\n1,#N/A,#N/A\n"), return_covariates=True
    )
    np.testing.assert_array_equal(rankings.positions, [[1, 2], [1, nan]])
    np.testing.assert_array_equal(covariates["age"], [31, nan])


def test_archives_and_workbooks_that_are_not_tables_are_refused_with_the_cure(tmp_path):
    for name, part, read, problem in (
        ("survey.xlsx", "xl/workbook.xml", read_preflib, "this is an Excel workbook. Save it as CSV UTF-8"),
        ("survey.csv", "xl/workbook.xml", read_letor, "this is an Excel workbook. Save it as CSV UTF-8"),
        ("survey.zip", "survey.csv", read_rankings, "this is a zip archive. Unpack it"),
        ("survey.zip", "survey.csv", read_preflib, "this is a zip archive. Unpack it"),
    ):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr(part, "rank_a,rank_b")
        with pytest.raises(RankwiseFormatError, match=problem):
            read(tmp_path / name)


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_decimal_commas_are_numbers(tmp_path, delimiter):
    text = "income;n;rank_a;rank_b\n1,5;0,5;1,0;2\n-20;2;1,5;1,5\n;1;2;1,0\n".replace(";", delimiter)
    rankings, covariates = read_rankings(written(tmp_path, text), weights="n", return_covariates=True)
    assert rankings.positions.tolist() == [[1, 2], [1, 1], [2, 1]]
    assert rankings.weights.tolist() == [0.5, 2, 1]
    np.testing.assert_array_equal(covariates["income"], [1.5, -20, nan])


@pytest.mark.parametrize(
    "cells",
    [
        ["1,250", "12,500", "900"],  # thousands as well as decimals
        ["1,5", "2.5", "3"],  # one of the two must be no decimal
        ["1.234,5", "0,5", "1"],
        ["1,5", "many", "2"],
        ["1,5,2", "1,5", "2"],
    ],
)
def test_commas_that_may_be_others_leave_text(tmp_path, cells):
    rows = "".join(f"{cell};1;2\n" for cell in cells)
    covariates = read_rankings(written(tmp_path, f"x;rank_a;rank_b\n{rows}"), return_covariates=True)[1]
    assert covariates["x"].tolist() == cells


def test_a_comma_between_cells_is_no_decimal_comma(tmp_path):
    covariates = read_positions_csv(written(tmp_path, 'both,rank_a,rank_b\n"1,5",1,2\n"2,3",2,1\n'))[1]
    assert covariates["both"].tolist() == ["1,5", "2,3"]


def test_orders_of_two_numbers_are_no_decimals(tmp_path):
    path = written(tmp_path, "age;order\n31,5;1,2\n47;2,1\n")
    rankings, covariates = read_ordered_strings_csv(path, column="order", separator=",")
    assert rankings.items == ("1", "2")
    assert rankings.positions.tolist() == [[1, 2], [2, 1]]
    assert covariates["age"].tolist() == [31.5, 47]


def test_decimal_commas_of_a_respondent_are_read_as_in_the_whole_column(tmp_path):
    # The first rows alone could hold thousands.
    text = "id;income;item;rank\nann;1,250;a;1,0\nann;1,250;b;2\nbob;2,5;a;2\nbob;2,5;b;1\n"
    rankings, covariates = read_long_csv(written(tmp_path, text))
    assert rankings.positions.tolist() == [[1, 2], [2, 1]]
    assert covariates["income"].tolist() == [1.25, 2.5]


def test_a_slip_among_decimal_commas_is_found(tmp_path):
    with pytest.raises(RankwiseFormatError, match=r"line 3, column 2: 'x' is not a position"):
        read_rankings(written(tmp_path, "rank_a;rank_b\n1,0;2,0\n2,0;x\n1,0;2,0\n"))


@pytest.mark.parametrize(
    "text",
    [
        "rank_a,rank_b,rank_c\n,,\n,,\n\n",
        'rank_a,rank_b,rank_c\n"","",""\n',
        "age,rank_a,rank_b,rank_c\n31,,,\n32,NA,,\n",
        "name\trank_a\trank_b\trank_c\nann\t\t\t\n",
    ],
)
def test_answers_that_are_all_blank_are_told(tmp_path, text):
    with pytest.raises(RankwiseFormatError, match=r"line 1: all cells of 'rank_a', 'rank_b', 'rank_c' are blank\. "):
        read_rankings(written(tmp_path, text))


def test_numbered_columns_that_are_all_blank_are_told(tmp_path):
    with pytest.raises(RankwiseFormatError, match="all cells of 'q1', 'q2' are blank"):
        read_rankings(written(tmp_path, "age,q1,q2\n31,,\n47,,\n"))


def test_blank_columns_beside_likely_rankings_are_no_matter(tmp_path):
    path = written(tmp_path, "best,worst,note,email\ntea,milk,,\nmilk,tea,,\n")
    with pytest.raises(RankwiseFormatError, match="no layout fits"):
        read_rankings(path)


def test_what_fits_a_line_and_how_it_is_quoted():
    assert is_writable("a\u2028 b")
    assert not is_writable("a\rb")
    assert shown("a" * 41) == repr("a" * 40) + "..."


def test_gzip_that_inflates_beyond_the_limit_is_stopped(tmp_path, monkeypatch):
    path = tmp_path / "long.csv.gz"
    path.write_bytes(gzip.compress(bytes(range(32, 127)) * 30_000, compresslevel=1))
    monkeypatch.setenv("RANKWISE_MAX_READ_BYTES", "1000000")
    with pytest.raises(RankwiseFormatError, match=r"inflates to more than 1,000,000 bytes.*RANKWISE_MAX_READ_BYTES"):
        text.read_text(path)
    monkeypatch.setenv("RANKWISE_MAX_READ_BYTES", "3000000")
    assert len(text.read_text(path)) == 95 * 30_000


def test_damaged_gzip_says_where(tmp_path):
    path = tmp_path / "damaged.csv.gz"
    whole = gzip.compress(np.random.default_rng(0).bytes(5_000_000).hex().encode())
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(RankwiseFormatError, match=r"damaged after [1-9][0-9,]+ bytes of text"):
        text.read_text(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_pipes_do_not_block(tmp_path, monkeypatch):
    path = tmp_path / "pipe.csv"
    os.mkfifo(path)
    monkeypatch.setattr(text, "PATIENCE", 0.1)
    with pytest.raises(RankwiseFormatError, match=r"nothing came through it in 0\.1 seconds"):
        text.read_text(path)
    monkeypatch.setattr(text, "PATIENCE", 30.0)
    writer = threading.Thread(target=path.write_text, args=("a,b\n1,2\n",))
    writer.start()
    assert text.read_text(path) == "a,b\n1,2\n"
    writer.join()
    with pytest.raises(RankwiseFormatError, match="pipe or a device"):
        rankwise.load(path)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="there is no such device")
def test_devices_that_never_end_are_refused():
    with pytest.raises(RankwiseFormatError, match="this is a device"):
        text.read_text("/dev/zero")


def test_a_file_larger_than_memory_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "sparse.csv"
    with path.open("wb") as file:
        file.truncate(2**40)  # takes no place on the disk
    monkeypatch.setattr("rankwise.data.formats.text.free_bytes", lambda: 2**33)
    with pytest.raises(RankwiseFormatError, match="8,589,934,592 bytes of memory are free"):
        read_rankings(path)


def test_damaged_utf16_says_where(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_bytes("a,b\n1,2\n2,1\n".encode("utf-16") + b"\x00")
    with pytest.raises(RankwiseFormatError, match=r"line 4: byte 26 .* not valid utf-16\. Save the file as UTF-8\.$"):
        read_rankings(path, encoding="utf-16")
