"""Orders: conversion to positions and back, and what is refused on the way."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwise.data import (
    orders_from_positions,
    positions_from_orders,
)
from tests.strategies import position_matrices

NAN, INF = np.nan, np.inf


@st.composite
def shortened_permutations(draw):
    n_items = draw(st.integers(1, 7))
    row = st.permutations(range(n_items)).flatmap(lambda p: st.integers(0, n_items).map(lambda m: list(p[:m])))
    return n_items, draw(st.lists(row, min_size=1, max_size=6))


@given(position_matrices(kinds=("full",)))
def test_full_orders_round_trip(positions):
    orders = orders_from_positions(positions)
    assert orders.dtype == np.intp
    assert np.array_equal(np.take_along_axis(positions, orders, axis=1), np.sort(positions, axis=1))
    assert np.array_equal(positions_from_orders(orders), positions)


@given(shortened_permutations(), st.sampled_from(["below", "missing"]))
def test_short_orders_round_trip(case, unlisted):
    n_items, rows = case
    positions = positions_from_orders(rows, n_items=n_items, unlisted=unlisted)
    for row, places in zip(rows, positions, strict=True):
        assert [places[item] for item in row] == list(range(1, len(row) + 1))
        rest = np.delete(places, row)
        assert np.all(np.isposinf(rest) if unlisted == "below" else np.isnan(rest))
    orders = orders_from_positions(positions)
    assert [[i for i in order if i >= 0] for order in orders.tolist()] == rows
    again = positions_from_orders(orders, n_items=n_items, unlisted=unlisted)
    assert np.array_equal(again, positions, equal_nan=True)


def test_ties_by_id():
    positions = [[2, 1, 2, INF, NAN], [1, 2, 3, 4, 5]]
    with pytest.raises(ValueError, match="ranking 0 ties items 0 and 2, which an order cannot say; use buckets"):
        orders_from_positions(positions)
    assert orders_from_positions(positions, ties="by-id").tolist() == [[1, 0, 2, -1, -1], [0, 1, 2, 3, 4]]
    with pytest.raises(ValueError, match="ties is 'min'; choose 'raise' or 'by-id'"):
        orders_from_positions(positions, ties="min")


def test_n_items_adds_unlisted_columns_and_narrow_types_are_welcome():
    assert positions_from_orders(np.array([[1], [0]], dtype=np.int8), n_items=3).tolist() == [
        [INF, 1, INF],
        [1, INF, INF],
    ]
    assert positions_from_orders(np.array([[1.0, 0.0]])).tolist() == [[2, 1]]
    assert positions_from_orders(np.array([[1, 0]], dtype=np.uint64)).tolist() == [[2, 1]]
    assert positions_from_orders(np.empty((2, 0), dtype=int), n_items=2).tolist() == [[INF, INF], [INF, INF]]


def test_masked_ids_pad():
    orders = np.ma.array([[1, 0, 2], [2, 1, 0]], mask=[[0, 0, 1], [0, 0, 0]])
    assert positions_from_orders(orders).tolist() == [[2, 1, INF], [3, 2, 1]]


@pytest.mark.parametrize(
    ("orders", "options", "message"),
    [
        ([[1, 2, 3], [3, 2, 1]], {}, "no order lists item 0; ids count from 0. If they count from 1 here, subtract 1"),
        ([[1, 2, 3]], {"n_items": 3}, "orders[0, 2] is 3, but ids run from 0 to 2; ids count from 0: subtract 1"),
        ([[0, 1], [0, 7]], {"n_items": 3}, "orders[1, 1] is 7, but ids run from 0 to 2"),
        ([[0, 1, 2], [0, 2, 0]], {}, "orders[1] lists item 0 more than once; every item has one place"),
        ([[0, 1, 2], [0, -1, 2]], {}, "orders[1, 1] is -1, but items follow it; -1 may only pad the end of a row"),
        ([[0, -2]], {}, "orders[0, 1] is -2; ids count from 0, and -1 pads"),
        ([[0, 1.5]], {}, "orders[0, 1] is 1.5; ids count from 0, and -1 pads"),
        (np.array([[NAN, 0]]), {}, "orders[0, 0] is -1, but items follow it"),
        ([[0, 1e300]], {}, "orders[0, 1] is 1e+300; ids count from 0"),
        (np.array([[0, 2**64 - 1]], dtype=np.uint64), {}, "orders[0, 1] is 18446744073709551615; ids count from 0"),
        ([[], []], {}, "the orders list no item; give n_items, or items in Rankings.from_orders"),
        ([], {}, "the orders list no item"),
        ([[0, 1]], {"unlisted": "x"}, "unlisted is 'x'; choose 'below' (top-k) or 'missing' (never compared)"),
        ([2, 0, 1], {}, "orders[0] is 2, not a list of items, best first; for a single ranking write [orders]"),
        (np.array([2, 0, 1]), {}, "orders has 1 dimension(s), but needs two: one row per ranking"),
        ([None], {}, "orders[0] is None, not a list of items"),
        ([{0, 1}], {}, "orders[0] is {0, 1}, not a list of items"),
    ],
)
def test_bad_orders(orders, options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        positions_from_orders(orders, **options)


@pytest.mark.parametrize(
    ("orders", "message"),
    [
        ([["a", "b"]], "orders holds text, not integer ids; for item names use Rankings.from_orders"),
        ([[True, False]], "orders holds booleans, not integer ids"),
        (np.array([[1j]]), "orders holds complex numbers, not integer ids"),
        (np.ma.array([[True, False]]), "orders holds booleans, not integer ids"),
        ({0: [1, 2]}, "orders is of type dict; give a list of lists"),
        ({(0, 1), (1, 0)}, "orders is of type set; give a list of lists"),
        (7, "orders is of type int; give a list of lists"),
        ("abc", "orders is of type str; give a list of lists, or read a file with read_rankings"),
    ],
)
def test_orders_of_a_wrong_type(orders, message):
    with pytest.raises(TypeError, match=re.escape(message)):
        positions_from_orders(orders)


def test_repeated_ids_are_found_wherever_they_stand():
    for orders in ([[0, 0]], [[0, 1, 0]], [[1, 0, 0, -1]], [[0, 1], [1, 1]]):
        with pytest.raises(ValueError, match="more than once"):
            positions_from_orders(orders)
