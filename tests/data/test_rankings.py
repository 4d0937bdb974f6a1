"""The Rankings container: constructors, views, parts, and that it stays as it was built."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import pickle
import re
from collections import Counter

import numba
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwise import Rankings
from rankwise.aggregation import preference_matrix
from rankwise.data import rankings as rankings_module
from rankwise.data import reverse
from tests.naive import positions as naive
from tests.strategies import position_matrices, random_positions

NAN, INF = np.nan, np.inf


@st.composite
def weighted_rankings(draw, **options):
    positions = draw(position_matrices(**options))
    names = draw(st.permutations("abcdefg"))[: positions.shape[1]]
    whole = st.integers(0, 5)  # sums of whole weights are exact in any order
    return Rankings(positions, names, draw(st.lists(whole, min_size=len(positions), max_size=len(positions))))


def named_buckets(rankings: Rankings) -> list[list[frozenset]]:
    return [[frozenset(rankings.items[i] for i in b) for b in ranking] for ranking in rankings.buckets()]


@given(weighted_rankings())
def test_copies_and_pickles_are_equal_and_frozen(rankings):
    for twin in (copy.copy(rankings), copy.deepcopy(rankings), pickle.loads(pickle.dumps(rankings))):
        assert twin == rankings
        assert not twin.positions.flags.writeable
        assert not twin.weights.flags.writeable
    assert Rankings(rankings) == rankings


@given(weighted_rankings(kinds=("full", "tied", "top-k")))
def test_buckets_round_trip(rankings):
    assert Rankings.from_buckets(rankings.buckets(), items=rankings.items, weights=rankings.weights) == rankings
    named = [[[rankings.items[i] for i in bucket] for bucket in ranking] for ranking in rankings.buckets()]
    again = Rankings.from_buckets(named, items=rankings.items, weights=rankings.weights)
    # A row that lists nothing holds no name, so nothing can be mistaken there.
    assert again == rankings


@given(weighted_rankings(kinds=("incomplete",)))
def test_buckets_of_incomplete_rankings_round_trip(rankings):
    positions = np.where(np.isinf(rankings.positions), NAN, rankings.positions)
    incomplete = Rankings(positions, rankings.items, rankings.weights)
    again = Rankings.from_buckets(
        incomplete.buckets(), unlisted="missing", items=incomplete.items, weights=incomplete.weights
    )
    assert again == incomplete


@given(weighted_rankings())
def test_buckets_match_the_definition(rankings):
    expected = [tuple(tuple(sorted(b)) for b in naive.parts(row)[0]) for row in rankings.positions]
    assert list(rankings.buckets()) == expected


@given(weighted_rankings(kinds=("full",)))
def test_orders_round_trip(rankings):
    orders = rankings.orders()
    assert Rankings.from_orders(orders, items=rankings.items, weights=rankings.weights) == rankings
    names = [[rankings.items[i] for i in row] for row in orders]
    assert Rankings.from_orders(names, items=rankings.items, weights=rankings.weights) == rankings
    assert Rankings.from_orders(np.array(names), items=rankings.items, weights=rankings.weights) == rankings


@given(weighted_rankings())
def test_scores_round_trip(rankings):
    assert Rankings.from_scores(-rankings.positions, rankings.items, rankings.weights) == rankings


@pytest.mark.parametrize("backend", [None, "pandas", "polars", "pyarrow"])
@given(rankings=weighted_rankings())
def test_frames_round_trip(backend, rankings):
    frame = rankings.to_frame(backend)
    assert type(frame).__module__.startswith(backend or "pandas")
    assert Rankings.from_frame(frame, weights=rankings.weights) == rankings


def test_a_frame_is_the_callers_own():
    rankings = Rankings([[1, 2], [2, 1]], items=["a", "b"])
    frame = rankings.to_frame("pandas")
    frame.loc[0, "a"] = 9.0
    assert rankings.positions.tolist() == [[1, 2], [2, 1]]


def test_from_orders_takes_names_in_order_of_appearance():
    rankings = Rankings.from_orders([["b", "a"], ["c"]], weights=[2, 1])
    assert rankings.items == ("b", "a", "c")
    assert rankings.positions.tolist() == [[1, 2, INF], [INF, INF, 1]]
    assert rankings.weights.tolist() == [2, 1]


@pytest.mark.parametrize(
    "orders",
    [
        (row for row in [[2, 0, 1], [0, 1, 2]]),
        (iter(row) for row in [[2, 0, 1], [0, 1, 2]]),
        np.array([[2, 0, 1], [0, 1, 2]], dtype=object),
        np.array([[2, 0, 1], [0, 1, 2]], order="F"),
        [[2.0, 0.0, 1.0], [0.0, 1.0, 2.0]],
        [np.array([2, 0, 1]), (0, 1, 2)],
    ],
)
def test_from_orders_takes_ids_in_any_wrapping(orders):
    rankings = Rankings.from_orders(orders)
    assert rankings.items == (0, 1, 2)
    assert rankings.positions.tolist() == [[2, 3, 1], [1, 2, 3]]


def test_from_orders_with_rows_that_list_nothing():
    assert Rankings.from_orders([[], [0, 1]]).positions.tolist() == [[INF, INF], [1, 2]]
    assert Rankings.from_orders([[], ["a"]], unlisted="missing").kind == "incomplete"
    assert Rankings.from_orders([[], []], items=["a", "b"]).positions.tolist() == [[INF, INF]] * 2
    assert Rankings.from_orders([], items=["a", "b"]).shape == (0, 2)
    for nothing in ([], [[]], [[], []]):
        with pytest.raises(
            ValueError, match=r"the orders list no item; give n_items, or items in Rankings.from_orders"
        ):
            Rankings.from_orders(nothing)


def test_from_orders_of_a_single_item():
    for rankings in (Rankings.from_orders([[0], [0]]), Rankings.from_orders([["a"], ["a"]])):
        assert rankings.shape == (2, 1)
        assert rankings.positions.tolist() == [[1], [1]]
        assert rankings.kind == "full"


def test_from_buckets_takes_items_tuples_lists_and_sets():
    expected = Rankings([[1, 2, 2], [2, 1, INF]], items=["a", "b", "c"])
    for buckets in (
        [["a", ("b", "c")], ["b", "a"]],
        [[["a"], ["c", "b"]], [["b"], ["a"]]],
        [[{"a"}, {"b", "c"}], [frozenset("b"), {"a"}]],
        [["a", np.array(["b", "c"])], ["b", [], "a"]],
        (iter(ranking) for ranking in [["a", ("b", "c")], ["b", "a"]]),
    ):
        assert Rankings.from_buckets(buckets, items=["a", "b", "c"]) == expected
    assert Rankings.from_buckets([[0, (1, 2)], [1, 0]]).positions.tolist() == expected.positions.tolist()


def test_from_frame_chooses_columns_and_weights():
    frame = pl.DataFrame({"id": ["x", "y"], "a": [1, 2], "b": [2, None], "n": [3, 4]})
    expected = Rankings([[2, 1], [NAN, 1]], items=["b", "a"], weights=[3, 4])
    assert Rankings.from_frame(frame, items=["b", "a"], weights="n") == expected
    assert Rankings.from_frame(frame.drop("id"), weights="n") == expected.select(["a", "b"])
    assert Rankings.from_frame(frame, items=["b", "a"], weights=[3, 4]) == expected


def test_names_of_numpy_become_plain():
    rankings = Rankings([[1, 2]], items=np.array([10, 20]))
    assert rankings.items == (10, 20)
    assert [type(name) for name in rankings.items] == [int, int]
    assert Rankings([[1, 2]], items=pd.Index(["a", "b"])).items == ("a", "b")
    assert Rankings.from_orders([[1, 0]], items=(name for name in "ab")).items == ("a", "b")


def test_a_rankings_of_a_rankings_takes_what_is_not_given():
    rankings = Rankings([[1, 2], [2, 1]], items=["a", "b"], weights=[3, 4])
    assert Rankings(rankings) == rankings
    assert Rankings(rankings, items=["x", "y"]) == Rankings(rankings.positions, ["x", "y"], [3, 4])
    assert Rankings(rankings, weights=[1, 1]) == Rankings(rankings.positions, ["a", "b"])


@pytest.mark.parametrize(
    ("positions", "kind"),
    [
        ([[1, 2, 3], [3, 1, 2]], "full"),
        ([[1, 2, 3], [1, 1, 2]], "tied"),
        ([[1, 2, 3], [1, 2, INF]], "top-k"),
        ([[1, 1, 2], [1, INF, INF]], "top-k"),
        ([[1, 1, INF]], "top-k"),
        ([[1, 2, 3], [1, NAN, 2]], "incomplete"),
        ([[1, INF, 2], [1, NAN, 2]], "incomplete"),
        ([[1, 1, NAN]], "incomplete"),
        ([[1, 2, 3]], "full"),
        ([[1]], "full"),
        ([[INF]], "top-k"),
        ([[NAN]], "incomplete"),
        ([[INF, INF]], "top-k"),
        ([[NAN, NAN], [1, 2]], "incomplete"),
        ([[5, 5, 5]], "tied"),
        (np.empty((0, 3)), "full"),
    ],
)
def test_kind(positions, kind):
    assert Rankings(positions).kind == kind


def test_kind_follows_the_rows_that_are_left():
    rankings = Rankings([[1, 2, 3], [1, 1, 2], [1, 2, INF], [1, NAN, 2]])
    assert [rankings[:n].kind for n in range(5)] == ["full", "full", "tied", "top-k", "incomplete"]
    none = rankings[np.zeros(4, dtype=bool)]
    assert (none.shape, none.kind) == ((0, 3), "full")
    assert Rankings([[1, 2, 2], [2, 1, 1]]).select([0, 1]).kind == "full"


def test_every_view_works_without_rows():
    none = Rankings([[1, 2]], items=["a", "b"])[[]]
    assert none.orders().shape == none.midranks().shape == (0, 2)
    assert none.buckets() == ()
    assert none.pairs().shape == (0, 3)
    assert none.pair_counts().tolist() == [[0, 0], [0, 0]]
    assert none.group() == none.select(["a", "b"]) == pickle.loads(pickle.dumps(none)) == none
    assert none.to_frame("polars").shape == (0, 2)


@given(weighted_rankings())
def test_pair_counts_match_the_definition(rankings):
    assert np.array_equal(rankings.pair_counts(), naive.pair_counts(rankings.positions, rankings.weights))


@given(weighted_rankings())
def test_pairs_add_up_to_pair_counts(rankings):
    counts = np.zeros((rankings.n_items,) * 2)
    ranking, above, below = rankings.pairs().T
    np.add.at(counts, (above, below), rankings.weights[ranking])
    assert np.array_equal(counts, rankings.pair_counts())
    assert len(np.unique(rankings.pairs(), axis=0)) == len(ranking)


def test_too_many_pairs_are_counted_instead(monkeypatch):
    rankings = Rankings([[1, 2, 3], [1, 2, 2]])
    monkeypatch.setattr(rankings_module, "_MOST_PAIRS", 5)
    assert len(rankings.pairs()) == 5
    monkeypatch.setattr(rankings_module, "_MOST_PAIRS", 4)
    with pytest.raises(ValueError, match=r"the list would have 5 rows; use pair_counts\(\), or take fewer rankings"):
        rankings.pairs()


def test_orders_refuse_ties():
    with pytest.raises(ValueError, match="ranking 1 ties items 0 and 1, which an order cannot say"):
        Rankings([[1, 2], [1, 1]]).orders()
    assert Rankings([[1, 1]]).orders(ties="by-id").tolist() == [[0, 1]]


@given(weighted_rankings(), st.randoms(use_true_random=False))
def test_relabelling_commutes_with_every_view(rankings, random):
    order = list(range(rankings.n_items))
    random.shuffle(order)
    other = rankings.select([rankings.items[i] for i in order])

    assert other == Rankings(rankings.positions[:, order], [rankings.items[i] for i in order], rankings.weights)
    assert other.select(rankings.items) == rankings
    assert other.kind == rankings.kind
    assert np.array_equal(other.midranks(), rankings.midranks()[:, order], equal_nan=True)
    assert np.array_equal(reverse(other), reverse(rankings)[:, order], equal_nan=True)
    assert np.array_equal(other.pair_counts(), rankings.pair_counts()[np.ix_(order, order)])
    assert named_buckets(other) == named_buckets(rankings)
    assert other.group() == rankings.group().select(other.items)
    assert other.to_frame("polars").select(rankings.items).equals(rankings.to_frame("polars"))
    named = [{(r, x.items[a], x.items[b]) for r, a, b in x.pairs().tolist()} for x in (rankings, other)]
    assert named[0] == named[1]
    if not any(len(bucket) > 1 for ranking in rankings.buckets() for bucket in ranking):
        by_name = [[[x.items[i] for i in row if i >= 0] for row in x.orders()] for x in (rankings, other)]
        assert by_name[0] == by_name[1]


@given(weighted_rankings(max_items=3))
def test_group_adds_up_weights(rankings):
    grouped = rankings.group()
    assert naive.group(grouped.positions, grouped.weights) == naive.group(rankings.positions, rankings.weights)
    assert len(grouped) == len(naive.group(rankings.positions, rankings.weights))
    assert grouped.group() == grouped
    assert np.array_equal(grouped.pair_counts(), rankings.pair_counts())


@given(weighted_rankings())
def test_weight_two_is_the_row_twice(rankings):
    doubled = Rankings(rankings.positions, rankings.items, 2 * rankings.weights)
    twice = rankings[np.repeat(np.arange(len(rankings)), 2)]
    assert np.array_equal(doubled.pair_counts(), twice.pair_counts())
    assert doubled.group() == twice.group()


@given(weighted_rankings(min_items=2), st.data())
def test_select_equals_a_dropped_column(rankings, data):
    gone = data.draw(st.integers(0, rankings.n_items - 1))
    kept = [i for i in range(rankings.n_items) if i != gone]
    part = rankings.select([rankings.items[i] for i in kept])
    for row, whole in zip(part.positions, rankings.positions, strict=True):
        assert np.array_equal(row, naive.dense(whole[kept]), equal_nan=True)
    assert np.array_equal(part.weights, rankings.weights)
    assert np.array_equal(part.pair_counts(), rankings.pair_counts()[np.ix_(kept, kept)])
    hidden = rankings.positions.copy()
    hidden[:, gone] = NAN  # masked equals absent
    masked = Rankings(hidden, weights=rankings.weights)
    assert np.array_equal(masked.pair_counts()[np.ix_(kept, kept)], part.pair_counts())


@given(weighted_rankings())
def test_compared_items_match_the_definition(rankings):
    # Two items are compared where a ranking orders them, or lists both at the same place.
    informative = np.zeros(len(rankings), dtype=bool)
    compared = np.zeros(rankings.n_items, dtype=bool)
    for row, (places, weight) in enumerate(zip(rankings.positions, rankings.weights, strict=True)):
        for a, b in itertools.permutations(range(rankings.n_items), 2):
            if places[a] < places[b] or (places[a] == places[b] and np.isfinite(places[a])):
                informative[row] = True
                compared[[a, b]] |= weight > 0
    assert np.array_equal(rankings.informative, informative)
    assert np.array_equal(rankings.compared, compared)
    if compared.any():
        names = [name for name, known in zip(rankings.items, compared, strict=True) if known]
        assert rankings.comparable() == rankings.select(names)
        assert rankings.comparable().compared.all()
        # aggregation decides the same from its matrix of pairs
        assert np.array_equal((preference_matrix(rankings).counts > 0).any(axis=1), compared)
    else:
        with pytest.raises(ValueError, match="no ranking of positive weight compares two items"):
            rankings.comparable()


def test_unlisted_items_alone_are_not_compared():
    rankings = Rankings([[INF, INF, NAN], [1, NAN, NAN], [NAN, 1, INF]], weights=[1, 1, 0])
    assert rankings.informative.tolist() == [False, False, True]
    assert not rankings.compared.any()


def test_group_of_many_items():
    positions = random_positions(np.random.default_rng(0), 30, 300, "incomplete")
    ascending = np.arange(1.0, 301.0)
    swapped = ascending.copy()
    swapped[[0, 256]] = swapped[[256, 0]]  # places 1 and 257, the same in one byte
    positions = np.vstack([positions, ascending, swapped])
    grouped = Rankings(np.vstack([positions, positions[::-1]])).group()
    assert np.array_equal(grouped.positions, positions, equal_nan=True)
    assert grouped.weights.tolist() == [2] * 32


@pytest.mark.parametrize(
    "rows",
    [
        [2, 0],
        np.array([2, 0], dtype=np.int8),
        [True, False, True, False],
        np.array([True, False, True, False]),
        slice(None, None, -1),
        slice(1, 3),
        slice(0, 4, 2),
        [],
        np.array([], dtype=int),
        range(2),
        pd.Index([2, 0]),
        pd.Series([True, False, True, False]),
        pl.Series([2, 0]),
        [-1],
    ],
)
def test_rows_are_cut_with_their_weights(rows):
    rankings = Rankings([[1, 2, 3], [2, 2, 1], [1, INF, NAN], [3, 2, 1]], items=["a", "b", "c"], weights=[1, 2, 3, 4])
    plain = rows if isinstance(rows, slice) else np.asarray(rows) if len(rows) else np.array([], dtype=int)
    for part in (rankings[rows], rankings[rows, ...]):
        assert part == Rankings(rankings.positions[plain], rankings.items, rankings.weights[plain])
        assert part.positions.flags.c_contiguous
        assert not part.positions.flags.writeable
        assert not part.weights.flags.writeable


def test_one_row_is_its_positions():
    rankings = Rankings([[1, 2, 3], [3, 1, 2]])
    for row in (1, -1, np.int8(1), np.array(1)):
        assert rankings[row].tolist() == [3, 1, 2]
        assert not rankings[row].flags.writeable
    assert [row.tolist() for row in rankings] == [[1, 2, 3], [3, 1, 2]]
    assert len(rankings) == 2
    with pytest.raises(IndexError):
        rankings[2]


@pytest.mark.parametrize(
    "rows",
    [(0, 1), (0, slice(None)), True, np.True_, None, "a", ["a"], 1.0, [0.0], [[0, 1]], np.ones((2, 3), dtype=bool)],
)
def test_other_indices_are_refused(rows):
    with pytest.raises(IndexError, match=r"Rankings are indexed by row: .* choose items with select\(\[\.\.\.\]\)"):
        Rankings([[1, 2, 3], [3, 1, 2]])[rows]


def test_writing_to_the_source_changes_nothing():
    positions, weights = np.array([[1.0, 2.0]]), np.array([1.0])
    shut = positions.view(), weights.view()
    for view in shut:
        view.flags.writeable = False
    open_source, read_only_view = Rankings(positions, weights=weights), Rankings(shut[0], weights=shut[1])
    positions[:], weights[:] = [[2, 1]], 9
    for rankings in (open_source, read_only_view):
        assert rankings.positions.tolist() == [[1, 2]]
        assert rankings.weights.tolist() == [1]
    assert positions.flags.writeable
    assert weights.flags.writeable


def test_nothing_can_be_written():
    rankings = Rankings([[1, 2], [2, 1]])
    for one in (rankings, pickle.loads(pickle.dumps(rankings)), rankings[:1], rankings[[1]], rankings.group()):
        with pytest.raises(ValueError, match="read-only"):
            one.positions[0, 0] = 5
        with pytest.raises(ValueError, match="read-only"):
            one.weights[0] = 5
        for name in ("positions", "items", "weights", "new"):
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(one, name, None)
        with pytest.raises(dataclasses.FrozenInstanceError):
            del one.weights


def test_equality():
    rankings = Rankings([[1, NAN, INF]], items=["a", "b", "c"], weights=[2])
    assert rankings == Rankings([[7, NAN, INF]], items=["a", "b", "c"], weights=[2])
    assert rankings != Rankings([[1, INF, NAN]], items=["a", "b", "c"], weights=[2])
    assert rankings != Rankings([[1, NAN, INF]], items=["a", "b", "d"], weights=[2])
    assert rankings != Rankings([[1, NAN, INF]], items=["a", "b", "c"], weights=[3])
    assert rankings != Rankings([[1, NAN, INF]] * 2, items=["a", "b", "c"], weights=[1, 1])
    assert rankings != "rankings"
    with pytest.raises(TypeError, match="unhashable"):
        hash(rankings)


def test_array_protocol():
    rankings = Rankings([[1, 2], [2, 1]])
    assert np.shares_memory(np.asarray(rankings), rankings.positions)
    assert np.asarray(rankings, dtype=np.float64) is rankings.positions
    narrow = np.asarray(rankings, dtype=np.int8)
    assert narrow.dtype == np.int8
    assert narrow.tolist() == [[1, 2], [2, 1]]
    own = np.array(rankings)
    assert own.flags.writeable
    assert not np.shares_memory(own, rankings.positions)
    assert (rankings.shape, rankings.ndim, rankings.dtype, rankings.n_items) == ((2, 2), 2, np.float64, 2)


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="copy=False means never since NumPy 2")
def test_array_without_copy_where_a_copy_is_needed():
    rankings = Rankings([[1, 2]])
    assert np.shares_memory(np.array(rankings, copy=False), rankings.positions)
    with pytest.raises(ValueError, match="avoid copy"):
        np.array(rankings, dtype=np.float32, copy=False)


@pytest.mark.parametrize(
    ("rankings", "text"),
    [
        (
            Rankings([[2, 1, 3], [1, 2, 2]], items=["tea", "milk", "juice"]),
            "Rankings: 2 rankings of 3 items, tied\n  milk > tea > juice\n  tea > milk ~ juice",
        ),
        (
            Rankings([[1, INF, NAN], [NAN, NAN, NAN], [INF, INF, INF]], items=["a", "b", "c"]),
            "Rankings: 3 rankings of 3 items, incomplete\n"
            "  a   (unlisted: b; missing: c)\n"
            "  nothing   (missing: a, b, c)\n"
            "  nothing   (unlisted: a, b, c)",
        ),
        (
            Rankings([[1, 2], [2, 1], [1, 1]], weights=[3, 0.5, 1234567]),
            "Rankings: 3 rankings of 2 items, tied\n  3 x 0 > 1\n  0.5 x 1 > 0\n  1,234,567 x 0 ~ 1",
        ),
        (Rankings([[1]]), "Rankings: 1 ranking of 1 item, full\n  0"),
        (Rankings([[1, 2, 3]])[:0], "Rankings: 0 rankings of 3 items, full"),
        (
            Rankings(np.tile([1, 2], (1234, 1))),
            "Rankings: 1,234 rankings of 2 items, full\n" + "  0 > 1\n" * 6 + "  ... and 1,228 more",
        ),
        (
            Rankings([np.arange(1, 16)]),
            "Rankings: 1 ranking of 15 items, full\n  0 > 1 > 2 > 3 > 4 > 5 > 6 > 7 > 8 > 9 > 10 > 11 > ... (3 more)",
        ),
        (
            Rankings([np.ones(13)]),
            "Rankings: 1 ranking of 13 items, tied\n  0 ~ 1 ~ 2 ~ 3 ~ 4 ~ 5 ~ 6 ~ 7 ~ 8 ~ 9 ~ 10 ~ 11 ~ ... (1 more)",
        ),
        (
            Rankings([[1, *[INF] * 10]]),
            "Rankings: 1 ranking of 11 items, top-k\n  0   (unlisted: 1, 2, 3, 4, 5, 6, 7, 8, ... (2 more))",
        ),
    ],
)
def test_repr_is_read_by_a_person(rankings, text):
    assert repr(rankings) == text


TWO = [[1, 2], [2, 1]]


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: Rankings(TWO, items=["a"]), ValueError, "1 item names for 2 items; give one name per column"),
        (lambda: Rankings(TWO, items=["a", "a"]), ValueError, "two items are named 'a'; item names must differ"),
        (lambda: Rankings(TWO, items="ab"), TypeError, "items is of type str; give a list of names, one per item"),
        (lambda: Rankings(TWO, items={"a", "b"}), TypeError, "items is of type set; give a list of names"),
        (lambda: Rankings(TWO, items={"a": 0, "b": 1}), TypeError, "items is of type dict; give a list of names"),
        (lambda: Rankings(TWO, items=[["a"], ["b"]]), TypeError, "an item name is not hashable; use text or numbers"),
        (lambda: Rankings(TWO, weights=[1]), ValueError, "weights has shape (1,), but there are 2 rankings; give one"),
        (lambda: Rankings(TWO, weights=[[1], [1]]), ValueError, "weights has shape (2, 1), but there are 2 rankings"),
        (lambda: Rankings(TWO, weights=2), ValueError, "weights has shape (), but there are 2 rankings"),
        (lambda: Rankings(TWO, weights=[1, -1]), ValueError, "weights[1] is -1; weights are finite and not negative"),
        (lambda: Rankings(TWO, weights=[NAN, 1]), ValueError, "weights[0] is nan; weights are finite"),
        (lambda: Rankings(TWO, weights=[1, INF]), ValueError, "weights[1] is inf; weights are finite"),
        (lambda: Rankings(TWO, weights=["1", "2"]), ValueError, "weights must be numbers, one per ranking"),
        (lambda: Rankings(TWO, weights=[1, 2j]), ValueError, "weights must be numbers, one per ranking"),
        (lambda: Rankings(TWO, weights=[1, None]), ValueError, "weights"),
        (lambda: Rankings(TWO, weights=[[1], [1, 2]]), ValueError, "weights must be numbers, one per ranking"),
        (lambda: Rankings.from_orders([[1, 2], [2, 1]]), ValueError, "no order lists item 0; ids count from 0"),
        (lambda: Rankings.from_orders([[0, 0]]), ValueError, "orders[0] lists item 0 more than once"),
        (lambda: Rankings.from_orders([["a", "a"]]), ValueError, "orders[0] lists 'a' more than once"),
        (lambda: Rankings.from_orders([["", "a"]]), ValueError, "does not name an item"),
        (lambda: Rankings([[1, 2]], [np.nan, np.nan]), ValueError, "an item name is missing"),
        (lambda: Rankings([[1, 2]], ["", "a"]), ValueError, "an item name is missing or empty"),
        (
            lambda: Rankings.from_orders([[0, 2_000_000_000]]),
            ValueError,
            "without gaps. If these are product numbers",
        ),
        (lambda: Rankings.from_orders([[10, 20]], items=[10, 20]), ValueError, "numbers that are names as text"),
        (lambda: Rankings.from_orders([[1, 2]], items=[1, 2, 3]), ValueError, "numbers that are names as text"),
        (lambda: Rankings.from_orders([[1, 7]], items=["a", "b"]), ValueError, "numbers are ids: give names as text"),
        (lambda: Rankings.from_frame([[1, 2]]), TypeError, "not a data frame"),
        (
            lambda: Rankings.from_frame(pd.DataFrame({"a": [1], "w": [2]}), items=["a", "w"], weights="w"),
            ValueError,
            "as an item and as the weights",
        ),
        (
            lambda: Rankings(pd.DataFrame([[1, 2]], columns=["a", "a"])),
            ValueError,
            "two columns of positions have the same name",
        ),
        (lambda: Rankings.from_orders([[0, 2]], items=["a", "b"]), ValueError, "is 2, but ids run from 0 to 1"),
        (lambda: Rankings.from_orders(["ab"]), ValueError, "orders[0] is 'ab', not a list of items, best first"),
        (lambda: Rankings.from_orders("ab"), TypeError, "orders is of type str; give a list of lists"),
        (lambda: Rankings.from_orders([{"a", "b"}]), ValueError, "not a list of items, best first"),
        (lambda: Rankings.from_orders([{"a": 1}]), ValueError, "orders[0] is {'a': 1}, not a list of items"),
        (lambda: Rankings.from_orders([[True, False]]), TypeError, "orders holds booleans, not integer ids"),
        (lambda: Rankings.from_orders(np.array([[True]])), TypeError, "orders holds booleans, not integer ids"),
        (
            lambda: Rankings.from_orders([[None, "a"]]),
            ValueError,
            "orders[0] lists None, which does not name an item; drop what",
        ),
        (
            lambda: Rankings.from_orders([[NAN, "a"]]),
            ValueError,
            "orders[0] lists nan, which does not name an item",
        ),
        (
            lambda: Rankings.from_orders([[pd.NA, "a"]]),
            ValueError,
            "orders[0] lists <NA>, which does not name an item",
        ),
        (
            lambda: Rankings.from_orders([["a"], ["a", -1]]),
            ValueError,
            "orders[1] lists -1, which does not name an item",
        ),
        (
            lambda: Rankings.from_orders([[0, None, 1]]),
            ValueError,
            "orders[0] lists None, which does not name an item",
        ),
        (lambda: Rankings.from_orders([["a", ["b", "c"]]]), ValueError, "and write ties with from_buckets"),
        (lambda: Rankings.from_orders([["a"]], unlisted="x"), ValueError, "unlisted is 'x'; choose 'below' (top-k)"),
        (lambda: Rankings.from_orders([["a"]], items="a"), TypeError, "items is of type str; give a list of names"),
        (
            lambda: Rankings.from_orders([["a", "x"]], items=["a", "b"]),
            ValueError,
            "orders[0] lists 'x', which is not among items a, b",
        ),
        (lambda: Rankings.from_buckets(["abc"]), ValueError, "buckets[0] is 'abc', not a list of items, best first"),
        (lambda: Rankings.from_buckets([{0, 1}]), ValueError, "buckets[0] is {0, 1}, not a list of items"),
        (lambda: Rankings.from_buckets([0, 1]), ValueError, "for a single ranking write [buckets]"),
        (lambda: Rankings.from_buckets({0: 1}), TypeError, "buckets is of type dict; give a list of lists"),
        (lambda: Rankings.from_buckets([[(0, 1), 0]]), ValueError, "lists item 0 more than once"),
        (lambda: Rankings(TWO, items=["a", "b"]).select("ab"), TypeError, "items is of type str"),
        (lambda: Rankings(TWO, items=["a", "b"]).select(["x"]), KeyError, "no item is named 'x'; the items are a, b"),
        (lambda: Rankings(TWO, items=["a", "b"]).select(["a", "a"]), ValueError, "two items are named 'a'"),
        (lambda: Rankings(TWO).select([]), ValueError, "has no columns; it needs one column per item"),
        (lambda: Rankings(TWO, items=[1, "1"]).to_frame(), ValueError, "two item names are the same as text"),
        (
            lambda: Rankings(TWO).to_frame("excel"),
            ValueError,
            "backend is 'excel'; choose one of pandas, polars, pyarrow",
        ),
    ],
)
def test_errors_say_what_and_the_cure(build, error, message):
    with pytest.raises(error, match=re.escape(message)):
        build()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"items": ["a", "x"]}, ValueError, "no column is named 'x'; the columns are a, b, name, n"),
        ({"items": ["a", "b"], "weights": "w"}, ValueError, "no column is named 'w'; the columns are a, b, name, n"),
        (
            {},
            ValueError,
            "column 'name' of frame holds String, not numbers; convert it (astype(float)), or choose columns",
        ),
        ({"items": ["a", "b"], "weights": "n"}, ValueError, "weights[1] is nan; weights are finite and not negative"),
        ({"items": ["a", "b"], "weights": "name"}, ValueError, "weights must be numbers, one per ranking"),
        ({"items": "a"}, TypeError, "items is of type str; give a list of names, one per item"),
        ({"items": ["a", "a"]}, ValueError, "two items are named 'a'; item names must differ"),
        ({"items": []}, ValueError, "has no columns; it needs one column per item"),
    ],
)
def test_errors_of_from_frame(options, error, message):
    frame = pl.DataFrame({"a": [1, 2], "b": [2, 1], "name": ["x", "y"], "n": [1, None]})
    with pytest.raises(error, match=re.escape(message)):
        Rankings.from_frame(frame, **options)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="half a minute without compiled kernels")
def test_two_hundred_thousand_rankings():
    rng = np.random.default_rng(0)
    few = np.argsort(rng.random((500, 10)), axis=1) + 1.0
    chosen = rng.integers(0, 500, size=200_000)
    rankings = Rankings(few[chosen] * 3)
    assert rankings.shape == (200_000, 10)
    grouped = rankings.group()
    assert dict(zip(map(tuple, grouped.positions), grouped.weights, strict=True)) == Counter(map(tuple, few[chosen]))
    counts = rankings.pair_counts()
    assert np.array_equal(counts, grouped.pair_counts())
    assert np.all(counts + counts.T + 200_000 * np.eye(10) == 200_000)
    assert len(rankings[::2]) == len(rankings[rng.random(200_000).argsort()[:100_000]]) == 100_000
    assert rankings.orders().shape == rankings.midranks().shape == (200_000, 10)
    assert repr(rankings).startswith("Rankings: 200,000 rankings of 10 items, full")


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_weights_travel_in_a_column_of_their_own(backend):
    rankings = Rankings([[1, 2], [2, 1]], ["a", "b"], [3, 0.5])
    assert Rankings.from_frame(rankings.to_frame(backend, weights="w"), weights="w") == rankings
    with pytest.raises(ValueError, match="an item is named 'a', too"):
        rankings.to_frame(backend, weights="a")


def test_blanks_at_the_end_of_a_row_are_padding():
    names = pd.DataFrame({"first": ["a", "b"], "second": ["b", None]}).to_numpy()
    expected = Rankings.from_orders([["a", "b"], ["b"]])
    assert Rankings.from_orders(names) == expected
    assert Rankings.from_orders(np.array([["a", "b"], ["b", ""]])) == expected
    assert Rankings.from_orders([[1, 0], [1, None]]) == Rankings.from_orders([[1, 0], [1]])
    assert Rankings.from_orders(np.array([[0, 1], [1, np.nan]])) == Rankings.from_orders([[0, 1], [1]])
