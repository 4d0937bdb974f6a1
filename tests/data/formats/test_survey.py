from __future__ import annotations

import csv
import io
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise import Rankings, RankwiseFormatError
from rankwise.data.formats.delimited import read_table
from rankwise.data.formats.detect import read_rankings
from rankwise.data.formats.survey import read_orders_csv, read_positions_csv
from rankwise.data.formats.survey_duels import read_pairwise_csv
from rankwise.data.formats.survey_long import read_long_csv
from rankwise.data.formats.survey_strings import read_ordered_strings_csv
from tests.data.formats.mutations import damaged
from tests.data.formats.survey_files import VALID, written
from tests.strategies import position_matrices

MALFORMED = Path(__file__).parent / "malformed" / "survey"
READERS = (read_positions_csv, read_orders_csv, read_ordered_strings_csv, read_long_csv, read_pairwise_csv)
inf, nan = np.inf, np.nan

positions = partial(read_positions_csv, prefix="rank_")

# file: reader, line, column, what is wrong, what to do
PROBLEMS = {
    "empty.csv": (read_table, None, None, "the file is empty", ""),
    "blank_lines.csv": (read_table, None, None, "the file is empty", ""),
    "header_only.csv": (read_table, 1, None, "a header, but no row", ""),
    "binary.csv": (read_table, 2, None, "binary", ""),
    "latin1.csv": (
        read_table,
        1,
        None,
        "byte 3 (0xe9) is not valid UTF-8",
        "or, if Excel on Windows wrote it, give encoding='cp1252'",
    ),
    "utf16.csv": (read_table, None, None, "UTF-16", "or give encoding='utf-16'"),
    "unnamed_column.csv": (read_table, 1, 1, "the column has no name", "index=False"),
    "repeated_column.csv": (read_table, 1, 3, "columns 1 and 3 are both named 'tea'", "its own name"),
    "short_row.csv": (read_table, 4, None, "2 cells, but the header has 3 columns", "one cell per column"),
    "long_row.csv": (read_table, 3, None, "3 cells, but the header has 2 columns", "quote cells"),
    "open_quote.csv": (read_table, 3, None, "not valid CSV", "Close every quote"),
    "text_after_quote.csv": (read_table, 2, None, "not valid CSV", "double the quotes"),
    "position_text.csv": (positions, 3, 1, "'favorite' is not a position", "missing_values=['favorite']"),
    "position_zero.csv": (positions, 3, 1, "'0' is not a position", "missing_values=['0']"),
    "position_negative.csv": (positions, 3, 1, "'-1' is not a position", "count from 1"),
    "position_infinite.csv": (positions, 3, 1, "'1e999' is not a position", "numbers"),
    "weight_negative.csv": (partial(positions, weights="n"), 3, 3, "the weight is '-4'", "not negative"),
    "weight_blank.csv": (partial(positions, weights="n"), 3, 3, "the weight is ''", "Weights are numbers"),
    "weight_infinite.csv": (partial(positions, weights="n"), 2, 3, "the weight is 'inf'", "Weights are numbers"),
    "order_repeats.csv": (
        partial(read_orders_csv, prefix="choice_"),
        3,
        None,
        "item 'milk' is listed twice",
        "one place",
    ),
    "order_zeros.csv": (read_orders_csv, 3, None, "as if it said 'no item'", "missing_values=['0']"),
    "order_blank.csv": (partial(read_orders_csv, prefix="choice_"), 1, None, "no row lists an item", "Check"),
    "string_empty_name.csv": (partial(read_ordered_strings_csv, column="drinks"), 3, 1, "has no name", "Write a>b>c"),
    "string_repeats.csv": (read_ordered_strings_csv, 3, 1, "item 'tea' is listed twice", "one place"),
    "string_json.csv": (
        partial(read_ordered_strings_csv, column="drinks"),
        3,
        1,
        "do not hold a JSON array of item names",
        "",
    ),
    "string_deep_json.csv": (partial(read_ordered_strings_csv, column="drinks"), 2, 1, "do not hold a JSON array", ""),
    "string_half_character.csv": (
        partial(read_ordered_strings_csv, column="drinks"),
        2,
        1,
        "do not hold a JSON array",
        "",
    ),
    "string_blanks.csv": (partial(read_ordered_strings_csv, column="drinks"), 2, 1, "holds '>'", "separator=' '"),
    "string_other_tie.csv": (read_ordered_strings_csv, 2, 2, "'b=c' may be several tied items", "give tie='='"),
    "string_joined_names.csv": (read_ordered_strings_csv, 3, 2, "'b & c' may be several", "items=[...]"),
    "string_nested_braces.csv": (read_ordered_strings_csv, 3, 2, "'{c}' may be several", "without braces inside"),
    "long_repeats.csv": (
        read_long_csv,
        5,
        2,
        "item 'tea' has a position on line 2 already",
        "To keep the first of such rows, write read_rankings(path, layout='long'",
    ),
    "long_varies.csv": (read_long_csv, 3, 4, "'age' is '32', but '31' on line 2", "drop=['age']"),
    "long_no_item.csv": (read_long_csv, 3, 2, "the item has no name", "leave out the row"),
    "long_no_respondent.csv": (read_long_csv, 3, 1, "does not say whose it is", "leave out the row"),
    "long_position.csv": (read_long_csv, 3, 3, "'best' is not a position", "numbers"),
    "long_weight_varies.csv": (
        partial(read_long_csv, weights="n"),
        3,
        4,
        "'n' is '3', but '2'",
        "respondent=['id', 'n']",
    ),
    "pair_of_one.csv": (read_pairwise_csv, 3, None, "'milk' is both winner and loser", "Name two items"),
    "pair_unclear_winner.csv": (read_pairwise_csv, 3, 3, "the winner 'tea' is not clear", "Write left, right or tie"),
    "pair_no_loser.csv": (read_pairwise_csv, 3, 2, "an item has no name", "leave out the row"),
}


@pytest.mark.parametrize("name", sorted(PROBLEMS))
def test_malformed_files_are_refused_with_place_and_cure(name):
    reader, line, column, problem, cure = PROBLEMS[name]
    with pytest.raises(RankwiseFormatError) as caught:
        reader(MALFORMED / name)
    error = caught.value
    assert (error.line, error.column) == (line, column)
    assert problem in error.problem
    assert cure in (error.cure or "")
    assert name in str(error)


def test_every_malformed_file_has_an_expectation():
    assert {path.name for path in MALFORMED.iterdir()} == set(PROBLEMS)


def test_blank_positions_are_missing_or_below(tmp_path):
    path = written(tmp_path, "rank_a,rank_b,rank_c\n1,,2\nNA,1,inf\n")
    np.testing.assert_array_equal(read_positions_csv(path)[0].positions, [[1, nan, 2], [nan, 1, inf]])
    below, _ = read_positions_csv(path, unlisted="below")
    np.testing.assert_array_equal(below.positions, [[1, inf, 2], [inf, 1, inf]])
    with pytest.raises(ValueError, match="choose 'below'"):
        read_positions_csv(path, unlisted="bottom")


def test_missing_values_concern_positions_alone(tmp_path):
    path = written(tmp_path, "rank_a,rank_b,children\n1,0,0\n2,1,3\n")
    rankings, covariates = read_positions_csv(path, missing_values=["0"])
    np.testing.assert_array_equal(rankings.positions, [[1, nan], [2, 1]])
    assert covariates["children"].tolist() == [0, 3]


def test_items_prefix_and_weights(tmp_path):
    path = written(tmp_path, "tea,age,milk,n\n1,31,2,5\n2,47,1,0.5\n")
    rankings, covariates = read_positions_csv(path, items=["milk", "tea"], weights="n")
    assert rankings.items == ("milk", "tea")
    assert rankings.positions.tolist() == [[2, 1], [1, 2]]
    assert rankings.weights.tolist() == [5, 0.5]
    assert list(covariates) == ["age"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"items": ["tea"], "prefix": "m"}, "give one of them"),
        ({"items": []}, "name every column once"),
        ({"items": ["tea", "tea"]}, "name every column once"),
        ({"items": ["tea", "n"], "weights": "n"}, "not the column of the weights"),
    ],
)
def test_arguments_that_contradict_are_refused(tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        read_positions_csv(written(tmp_path, "tea,milk,n\n1,2,5\n"), **options)


@pytest.mark.parametrize(
    "names",
    [
        lambda names: iter(names),
        lambda names: np.array(names),
        lambda names: np.array(names, dtype=object),
        lambda names: pandas.Index(names),
        lambda names: dict.fromkeys(names).keys(),
    ],
)
def test_names_come_in_any_kind_of_list(tmp_path, names):
    path = written(tmp_path, "tea,1,age\n1,2,31\n2,1,47\n")
    assert read_positions_csv(path, items=names(["tea", "1"]))[0].items == ("tea", "1")
    path = written(tmp_path, "x,y\ntea,milk\nmilk,tea\n")
    rankings, _ = read_orders_csv(path, columns=names(["y", "x"]), items=names(["milk", "tea"]))
    assert rankings == Rankings([[1, 2], [2, 1]], ["milk", "tea"])


@pytest.mark.parametrize("names", ["tea", b"tea", {"tea"}, {"tea": 1}, 3, [["tea"]], [None], np.array([["tea"]])])
def test_what_is_no_list_of_names_is_refused(tmp_path, names):
    with pytest.raises(TypeError, match=r"items is .*; give a list of names"):
        read_positions_csv(written(tmp_path, "tea,milk\n1,2\n"), items=names)


def test_missing_values_are_a_list(tmp_path):
    for reader in (read_positions_csv, read_orders_csv, read_ordered_strings_csv):
        with pytest.raises(TypeError, match=r"missing_values=\['NA'\]"):
            reader(written(tmp_path, "rank_a,rank_b,x_1,x_2,s\n1,2,a,b,a>b\n2,1,b,a,b>a\n"), missing_values="NA")


@pytest.mark.parametrize("options", [{"items": ["tea", "wine"]}, {"prefix": "wine"}, {"weights": "wine"}])
def test_unknown_columns_are_refused_with_the_known_ones(tmp_path, options):
    with pytest.raises(RankwiseFormatError, match="'wine'"):
        read_positions_csv(written(tmp_path, "tea,milk\n1,2\n"), **options)


@given(values=position_matrices(min_items=2), data=st.data())
@settings(max_examples=60)
def test_positions_survive_the_csv_module(values, data):
    k = values.shape[1]
    names = data.draw(
        st.lists(
            st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1),
            min_size=k,
            max_size=k,
            unique=True,
        )
    )
    delimiter = data.draw(st.sampled_from(",;\t|"))
    weights = data.draw(st.lists(st.integers(0, 9), min_size=len(values), max_size=len(values)))
    cells = [["" if np.isnan(v) else f"{v:g}" for v in row] for row in values]
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerow(["y_" + name for name in names] + ["weight"])
    writer.writerows([*row, w] for row, w in zip(cells, weights, strict=True))
    with tempfile.TemporaryDirectory() as folder:
        rankings, covariates = read_positions_csv(written(Path(folder), text.getvalue()), prefix="y_", weights="weight")
    assert covariates == {}
    assert rankings == Rankings(values, names, weights)


def test_orders_by_number_of_the_column(tmp_path):
    path = written(tmp_path, "choice_2,age,choice_1,choice_10\nmilk,31,tea,\n,47,milk,tea\n")
    rankings, covariates = read_orders_csv(path, prefix="choice_")
    assert rankings.items == ("tea", "milk")
    assert rankings.positions.tolist() == [[1, 2], [2, 1]]
    assert list(covariates) == ["age"]


def test_orders_of_numbers_are_sorted_by_number(tmp_path):
    path = written(tmp_path, "Rank_1,Rank_2,Rank_3\n10,9,1\n1,0,0\n")
    rankings, _ = read_orders_csv(path, missing_values=["0"], unlisted="missing")
    assert rankings.items == ("1", "9", "10")
    np.testing.assert_array_equal(rankings.positions, [[3, 2, 1], [1, nan, nan]])


def test_zero_can_be_an_item(tmp_path):
    path = written(tmp_path, "Rank_1,Rank_2\n0,1\n1,0\n")
    assert read_orders_csv(path)[0].items == ("0", "1")
    path = written(tmp_path, "Rank_1,Rank_2\n1,0\n1,0\n")
    with pytest.raises(RankwiseFormatError, match="as if it said"):
        read_orders_csv(path)
    assert read_orders_csv(path, items=["0", "1"])[0].positions.tolist() == [[2, 1], [2, 1]]


def test_orders_with_declared_items(tmp_path):
    path = written(tmp_path, "first,second\ntea,milk\nmilk,\n")
    rankings, _ = read_orders_csv(path, columns=["first", "second"], items=["juice", "milk", "tea"])
    np.testing.assert_array_equal(rankings.positions, [[inf, 2, 1], [inf, 1, inf]])
    with pytest.raises(RankwiseFormatError, match="line 2: item 'tea' is not declared"):
        read_orders_csv(path, columns=["first", "second"], items=["milk"])


def test_a_first_line_that_is_a_ranking_is_not_taken_for_a_header(tmp_path):
    for text in ("tea,milk,juice\nmilk,tea,juice\n", "3,1,2\n1,2,3\n"):
        path = written(tmp_path, text)
        with pytest.raises(RankwiseFormatError, match="it is not clear which"):
            read_orders_csv(path)
    with pytest.raises(RankwiseFormatError, match="it is not clear which"):
        read_positions_csv(written(tmp_path, "3,1,2\n1,2,3\n"))
    with pytest.raises(RankwiseFormatError, match="it is not clear which"):
        read_ordered_strings_csv(written(tmp_path, "tea>milk\nmilk>tea\n"))


@given(values=position_matrices(kinds=("full", "tied"), min_items=2), data=st.data())
@settings(max_examples=60)
def test_orders_and_strings_agree_with_positions(values, data):
    k = values.shape[1]
    names = data.draw(st.permutations([f"item {i}" for i in range(k)]))
    expected = Rankings(values, names)
    strings = [">".join("~".join(names[i] for i in bucket) for bucket in row) for row in expected.buckets()]
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder), "".join(f"{line}\n" for line in ["order", *strings]))
        assert read_ordered_strings_csv(path, column="order", items=names)[0] == expected
        if expected.kind == "full":
            text = io.StringIO()
            csv.writer(text).writerows([range(k), *([names[i] for i in row] for row in expected.orders())])
            path = written(Path(folder), text.getvalue())
            assert read_orders_csv(path, columns=[str(i) for i in range(k)], items=names)[0] == expected


@pytest.mark.parametrize("reader", READERS)
@given(data=damaged(*VALID))
@settings(max_examples=200)
def test_any_bytes_give_rankings_or_a_format_error(reader, data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "survey.csv"
        path.write_bytes(data)
        try:
            rankings, covariates = reader(path)
        except RankwiseFormatError:
            return
    assert isinstance(rankings, Rankings)
    assert all(len(column) == len(rankings) for column in covariates.values())


def test_a_rated_item_named_weight_is_no_weight(tmp_path):
    rows = "1,5,4,3,2,5\n2,3,5,5,5,4\n3,5,5,2,1,5\n4,4,2,5,5,1\n"
    path = written(tmp_path, f"id,price,brand,camera,weight,screen\n{rows}")
    with pytest.raises(RankwiseFormatError) as caught:
        read_rankings(path)
    assert all("weights" not in choice for choice in caught.value.choices)
    assert caught.value.choices[0]["items"] == ["price", "brand", "camera", "weight", "screen"]
