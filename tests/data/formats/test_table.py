from __future__ import annotations

import gzip
import zipfile
from functools import partial

import numpy as np
import pytest

from rankwise import RankwiseFormatError
from rankwise.data.formats import (
    read_long_csv,
    read_ordered_strings_csv,
    read_orders_csv,
    read_pairwise_csv,
    read_positions_csv,
    read_rankings,
)
from tests.data.formats.survey_files import written

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
    assert rankings.items == ("1", "2")
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
        (QUALTRICS.replace(" - ", ": "), ("1", "2", "3")),
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


# -- what Excel writes -------------------------------------------------------------------------------------------


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


def test_workbooks_and_archives_are_refused_with_the_cure(tmp_path):
    for name, part, problem in (
        ("survey.xlsx", "xl/workbook.xml", "this is an Excel workbook. Save it as CSV UTF-8"),
        ("survey.csv", "xl/workbook.xml", "this is an Excel workbook. Save it as CSV UTF-8"),
        ("survey.zip", "survey.csv", "this is a zip archive. Unpack it"),
    ):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr(part, "rank_a,rank_b")
        with pytest.raises(RankwiseFormatError, match=problem):
            read_rankings(tmp_path / name)


# -- decimal commas ----------------------------------------------------------------------------------------------


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
    with pytest.raises(RankwiseFormatError, match=r"line 3, column 2: 'x' is no place among 2 items"):
        read_rankings(written(tmp_path, "rank_a;rank_b\n1,0;2,0\n2,0;x\n1,0;2,0\n"))


# -- blank answers -----------------------------------------------------------------------------------------------


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
