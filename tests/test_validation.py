"""Arguments of every make become plain values, or an error that names the argument, the cell and the cure."""

from __future__ import annotations

import datetime
import re
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from rankwise import Rankings
from rankwise._validation import (
    check_choice,
    check_numbers,
    check_option_names,
    check_real_number,
    check_scales,
    check_sizes,
    check_weights,
    check_whole_number,
)
from rankwise.data import check_positions, dense_positions, positions_from_orders, positions_from_scores

NAN, INF = np.nan, np.inf

FULL = [[1.0, 2.0, 3.0], [3.0, 1.0, 2.0]]
GAPPY = [[1.0, NAN, 2.0], [2.0, 1.0, NAN]]


@pytest.mark.parametrize(
    "dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint64, np.float16, np.float32, np.float64]
)
def test_numbers_of_every_type(dtype):
    result = check_positions(np.array(FULL, dtype=dtype))
    assert result.dtype == np.float64
    assert result.tolist() == FULL


def test_every_layout_becomes_contiguous():
    base = np.zeros((4, 6))
    base[::2, ::2] = FULL
    for values in (np.asfortranarray(FULL), base[::2, ::2], np.array(FULL)[::-1][::-1], tuple(map(tuple, FULL))):
        result = check_positions(values)
        assert result.flags.c_contiguous
        assert result.tolist() == FULL


def test_memory_maps_are_read_and_not_held(tmp_path):
    mapped = np.memmap(tmp_path / "positions", dtype=np.float64, mode="w+", shape=(2, 3))
    mapped[:] = FULL
    rankings = Rankings(np.memmap(tmp_path / "positions", dtype=np.float64, mode="r", shape=(2, 3)))
    mapped[:] = 1
    mapped.flush()
    assert rankings.positions.tolist() == FULL
    assert type(rankings.positions) is np.ndarray


@pytest.mark.parametrize(
    "values",
    [
        [[1, None, 2], [2, 1, None]],
        np.array([[1, None, 2], [2, 1.0, NAN]], dtype=object),
        [[1, pd.NA, 2], [Decimal(2), np.int8(1), pd.NaT]],
        np.ma.array([[1, 7, 2], [2, 1, 7]], mask=[[0, 1, 0], [0, 0, 1]]),
        np.ma.masked_equal(np.array([[1, 9, 2], [2, 1, 9]], dtype=np.float32), 9),
    ],
)
def test_nulls_are_missing(values):
    assert np.array_equal(check_positions(values), GAPPY, equal_nan=True)


def test_a_masked_cell_may_hold_anything():
    values = np.ma.array([[1.0, -INF, 2.0]], mask=[[0, 1, 0]])
    assert np.array_equal(check_positions(values), [[1, NAN, 2]], equal_nan=True)


def test_no_rows_is_fine():
    assert check_positions(np.empty((0, 3))).shape == (0, 3)


COLUMNS = {"a": [1, 2], "b": [None, 1], "c": [2, None]}


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS, dtype=object),
        pd.DataFrame(COLUMNS).astype("Int64"),
        pd.DataFrame(COLUMNS).astype({"a": "int8", "b": "Int8", "c": "Float32"}),
        pd.DataFrame(COLUMNS).astype({"a": "uint64", "b": "float32", "c": "int64[pyarrow]"}),
        pl.DataFrame(COLUMNS),
        pl.DataFrame(COLUMNS, schema={"a": pl.UInt64, "b": pl.Int8, "c": pl.Float32}),
        pl.DataFrame({"a": [1, 2], "b": [NAN, 1], "c": [2, NAN]}, strict=False),
        pa.table(COLUMNS),
        pa.table(COLUMNS, schema=pa.schema([("a", pa.uint64()), ("b", pa.int8()), ("c", pa.float32())])),
    ],
    ids=lambda frame: type(frame).__module__.split(".")[0],
)
@pytest.mark.parametrize("door", [Rankings, Rankings.from_positions, Rankings.from_frame])
def test_frames_of_every_library_and_type(frame, door):
    rankings = door(frame)
    assert rankings == Rankings(GAPPY, items=["a", "b", "c"])


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_column_of_nulls_is_missing(library):
    rankings = Rankings(library({"a": [1, 2], "b": [None, None]}))
    assert np.array_equal(rankings.positions, [[1, NAN], [1, NAN]], equal_nan=True)


def test_numbered_columns_of_pandas_are_item_names():
    frame = pd.DataFrame(FULL, columns=[10, 20, 30])
    assert Rankings(frame) == Rankings.from_frame(frame) == Rankings(FULL, items=[10, 20, 30])
    assert Rankings.from_frame(frame, items=[30, 10]) == Rankings(FULL, items=[10, 20, 30]).select([30, 10])


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_scores_keep_the_names_of_the_columns(library):
    rankings = Rankings.from_scores(library({"x": [1.0, 5.0], "y": [2, 3]}))
    assert rankings == Rankings([[2, 1], [1, 2]], items=["x", "y"])


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_that_hold_no_numbers_are_named(library):
    dates = [datetime.date(2020, 1, 1)] * 2
    for values in (["x", "y"], [True, False], dates):
        for door in (Rankings, Rankings.from_frame, check_positions):
            with pytest.raises(ValueError, match=r"'b'.* not numbers; convert it|\[0, 1\] is .* not a number"):
                door(library({"a": [1, 2], "b": values}))


def test_frames_without_columns():
    for frame in (pd.DataFrame(), pl.DataFrame(), pa.table({})):
        with pytest.raises(ValueError, match="positions has no columns; it needs one column per item"):
            Rankings(frame)


def test_lazy_frames_are_to_be_collected():
    with pytest.raises(TypeError, match="positions is a lazy frame; collect it first"):
        Rankings(pl.DataFrame(COLUMNS).lazy())


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_of_orders_are_refused(library):
    # Iterating a frame yields columns in one library and names in another, never rankings.
    with pytest.raises(TypeError, match="orders is a data frame; give an array"):
        Rankings.from_orders(library({"first": [0, 1, 2], "second": [1, 2, 0]}))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (1.0, "y has 0 dimension(s), but needs two: one row per ranking; it is of type float"),
        ([1, 2, 3], "y has 1 dimension(s), but needs two: one row per ranking; for a single ranking write [y]"),
        ([1, None, 3], "for a single ranking write [y]"),
        ([], "y has 1 dimension(s)"),
        ([[[1, 2]]], "y has 3 dimension(s), but needs two: one row per ranking"),
        ([[1, 2], [1]], "its rows have different lengths"),
        ([np.array([1, 2]), np.array([[1, 2], [2, 1]])], "its rows have different lengths"),
        ([[]], "y has no columns; it needs one column per item"),
        (np.empty((3, 0)), "y has no columns"),
        ({1, 2}, "it is of type set"),
        ({"a": [1, 2]}, "it is of type dict"),
        ([{1, 2}, {2, 3}], "a row is of type set"),
        ([{"a": 1}, {"a": 2}], "a row is of type dict"),
        (([1, 2] for _ in range(2)), "it is of type generator"),
        (None, "it is of type NoneType"),
        ("1 2 3", "it is of type str"),
        (np.array([[1, "a"]], dtype=object), "y[0, 1] is 'a', not a number. Positions are numbers (1 = best)"),
        (np.array([[1, "2"]], dtype=object), "y[0, 1] is '2', not a number"),
        (np.array([[1, True]], dtype=object), "y[0, 1] is True, not a number"),
        (np.array([[1, np.True_]], dtype=object), "y[0, 1] is np.True_, not a number"),
        (np.array([[1, 2j]], dtype=object), "y[0, 1] is 2j, not a number"),
        ([[1, 10**400]], "y[0, 1] is 1000"),
        (np.array([[1, 2**53 + 1]]), "y[0, 1] is 9007199254740993, too large to tell from its neighbors as a float"),
        (np.array([[2**64 - 1, 1]], dtype=np.uint64), "y[0, 0] is 18446744073709551615, too large"),
        (pl.DataFrame({"a": [1], "b": [2**60]}), "y[0, 1] is 1152921504606846976, too large"),
    ],
)
def test_tables_of_a_wrong_shape_or_with_wrong_cells(values, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        check_positions(values, name="y")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.array([["a"]]), "y holds text, not numbers. Positions are numbers (1 = best); for item names listed best"),
        (np.array([["1", "2"]]), "y holds text"),
        (np.array([[b"1", b"2"]]), "y holds bytes"),
        ([[True, False]], "y holds booleans"),
        (np.ma.array([[True, True]]), "y holds booleans"),
        (np.ma.array([["1", "2"]]), "y holds text"),
        ([[1j, 2]], "y holds complex numbers"),
        (np.array([["2020-01-01"]], dtype="M8[D]"), "y holds dates"),
        (np.array([[1]], dtype="m8[s]"), "y holds timedelta64[s]"),
        (sparse.csr_matrix(FULL), "y is a sparse matrix; rankings are dense: use .toarray()"),
        (sparse.coo_array(np.array(FULL)), "y is a sparse matrix"),
    ],
)
def test_tables_of_a_wrong_type(values, message):
    with pytest.raises(TypeError, match=re.escape(message)):
        check_positions(values, name="y")


def test_every_door_for_numbers_refuses_alike():
    for door in (check_positions, dense_positions, positions_from_scores):
        with pytest.raises(ValueError, match="has no columns; it needs one column per item"):
            door(np.empty((3, 0)))
        with pytest.raises(TypeError, match="holds text, not numbers"):
            door(np.array([["a"]]))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[1, 2], [1, "b"]], "y[1, 1] is 'b', not a number"),
        ([["1", "2"]], "y[0, 0] is '1', not a number"),
        ([[b"1", b"2"]], "y[0, 0] is b'1', not a number"),
    ],
)
def test_text_in_a_list_is_named_by_its_cell(values, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        check_positions(values, name="y")


def test_rankings_are_positions_and_nothing_else():
    rankings = Rankings(FULL)
    assert check_positions(rankings) is rankings.positions
    with pytest.raises(TypeError, match=r"scores is a Rankings, which holds positions \(1 = best\) already"):
        Rankings.from_scores(rankings)
    with pytest.raises(TypeError, match="orders is a Rankings, which holds positions"):
        Rankings.from_orders(rankings)
    with pytest.raises(TypeError, match="buckets is a Rankings, which holds positions"):
        Rankings.from_buckets(rankings)


@pytest.mark.parametrize(
    ("check", "error", "message"),
    [
        (lambda: check_whole_number("k", 2.0, at_least=1), TypeError, "k is 2.0; give a whole number, 1 or more"),
        (lambda: check_whole_number("k", True, at_least=1), TypeError, "k is True; give a whole number, 1 or more"),
        (lambda: check_whole_number("k", 0, at_least=1), ValueError, "k is 0, but must be at least 1"),
        (lambda: check_real_number("scale", "1"), TypeError, "scale is '1'; give a number, 0 or more"),
        (lambda: check_real_number("scale", NAN), ValueError, "scale is nan, but must be at least 0"),
        (lambda: check_real_number("scale", INF), ValueError, "scale is inf, but must be finite"),
        (lambda: check_sizes(n=3, k=0), ValueError, "k is 0, but must be at least 1"),
        (lambda: check_sizes(n=3, k=1, at_least=2), ValueError, "k is 1, but must be at least 2"),
        (lambda: check_scales(noise=0, eta=-1.5), ValueError, "eta is -1.5, but must be at least 0"),
        (lambda: check_choice("ties", "c", ("a", "b")), ValueError, "ties is 'c'; choose 'a' or 'b'"),
        (lambda: check_choice("setting", 4, (1, 2, 3)), ValueError, "setting is 4; choose 1, 2 or 3"),
    ],
)
def test_numbers_and_choices_are_named(check, error, message):
    with pytest.raises(error, match=re.escape(message)):
        check()


def test_numbers_come_back_plain():
    assert type(check_whole_number("k", np.int64(3), at_least=1)) is int
    assert type(check_real_number("scale", np.float32(0.5))) is float
    assert check_real_number("scale", INF, infinite=True) == INF
    check_choice("ties", "a", ("a", "b"))


def test_options_that_a_function_does_not_take_are_named():
    def read(path, separator=",", tie=None): ...

    check_option_names("read", {"tie": "="}, read, reserved=["path"])
    message = "read has no option 'path' for tables; the options are separator, tie"
    with pytest.raises(TypeError, match=f"^{message}$"):
        check_option_names("read", {"tie": "=", "path": "x"}, read, reserved=["path"], what="tables")


def test_complex_numbers_lose_no_part():
    for values in ([1 + 2j, 3], np.array([1 + 0j])):
        with pytest.raises(TypeError, match=r"x is .*; give numbers"):
            check_numbers("x", values)


def test_weights_have_a_sum():
    with pytest.raises(ValueError, match="the sum of weights does not fit into a float64"):
        check_weights([1e308, 1e308], 2)


def test_views_of_memory_are_arrays():
    orders = np.array([[0, 1, 2], [2, 1, 0]])
    assert np.array_equal(positions_from_orders(memoryview(orders)), positions_from_orders(orders))
