"""Positions: `<` is the preference relation, and every conversion keeps it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import kendalltau, rankdata

from rankwise.data import (
    check_positions,
    dense_positions,
    midranks,
    orders_from_positions,
    positions_from_orders,
    positions_from_scores,
    positions_jit,
    reverse,
)
from rankwise.data import positions as positions_module
from rankwise.data.positions import has_ties
from tests.naive import positions as naive
from tests.strategies import position_matrices, random_positions

NAN, INF = np.nan, np.inf


def precedes(positions: np.ndarray) -> np.ndarray:
    """The relation "a before b" of every row: (n, k, k)."""
    return positions[:, :, None] < positions[:, None, :]


@given(position_matrices())
def test_less_than_is_the_preference_relation(positions):
    for row, relation in zip(positions, precedes(positions), strict=True):
        buckets, unlisted, _ = naive.parts(row)
        assert np.array_equal(relation, naive.before(buckets, unlisted, len(row)))


@given(position_matrices())
def test_less_than_is_asymmetric_and_transitive(positions):
    for relation in precedes(positions):
        assert not np.any(relation & relation.T)
        through_another = (relation.astype(int) @ relation.astype(int)) > 0
        assert not np.any(through_another & ~relation)


def test_positions_are_not_orders():
    golden = json.loads((Path(__file__).parents[1] / "golden" / "ordering.json").read_text())
    positions = positions_from_orders(golden["orders"])
    assert positions.tolist() == golden["positions"]
    assert orders_from_positions(positions).tolist() == golden["orders"]
    assert kendalltau(*positions).statistic == pytest.approx(golden["tau_of_positions"])
    assert kendalltau(*orders_from_positions(positions)).statistic == pytest.approx(golden["tau_of_orders"])


@given(position_matrices(), st.floats(1e-3, 1e3), st.floats(0, 1e6))
def test_dense_positions_look_at_the_order_alone(positions, scale, shift):
    dense = dense_positions(positions * scale + shift)
    assert np.array_equal(dense, positions, equal_nan=True)
    assert np.array_equal(dense_positions(dense), dense, equal_nan=True)


@given(st.lists(st.lists(st.floats(width=32), min_size=4, max_size=4), min_size=1, max_size=5))
@example([[-INF, -INF, 0.0, NAN], [-0.0, 0.0, 5e-324, INF]])
def test_dense_positions_match_the_definition(values):
    assert np.array_equal(dense_positions(values), [naive.dense(row) for row in values], equal_nan=True)


def test_dense_input_comes_back_as_a_read_only_view_and_other_input_is_left_alone():
    dense = np.array([[1.0, 2.0, 2.0], [INF, 1.0, NAN]])
    seen = check_positions(dense)
    assert np.shares_memory(seen, dense)
    assert not seen.flags.writeable
    assert dense.flags.writeable
    sparse = np.array([[1.0, 5.0, 5.0], [INF, 3.0, NAN]])
    kept = sparse.copy()
    assert np.array_equal(check_positions(sparse), dense, equal_nan=True)
    assert np.array_equal(sparse, kept, equal_nan=True)


@pytest.mark.parametrize(
    ("row", "dense"),
    [
        ([1, 2, 2, 4], [1, 2, 2, 3]),  # competition ranks
        ([1, 2.5, 2.5, 4], [1, 2, 2, 3]),  # mid-ranks
        ([7, 1, 3], [3, 1, 2]),
        ([1e300, 1, 1.7e308], [2, 1, 3]),
        ([1, 1 + 1e-16, 2], [1, 1, 2]),  # the same number in float64
        ([1, 1 + 2.3e-16, 2], [1, 2, 3]),  # the next number in float64
        ([2, 3, INF], [1, 2, INF]),
        ([INF, INF, NAN], [INF, INF, NAN]),
        ([NAN, NAN, NAN], [NAN, NAN, NAN]),
        ([1.5], [1]),
    ],
)
def test_check_positions_returns_dense_positions(row, dense):
    assert np.array_equal(check_positions([row]), [dense], equal_nan=True)


def test_blocks_of_rows_are_joined(monkeypatch):
    values = random_positions(np.random.default_rng(0), 50, 4, "incomplete")
    whole, whole_midranks = dense_positions(values * 3), midranks(values)
    monkeypatch.setattr(positions_module, "_BLOCK_CELLS", 12)
    assert np.array_equal(dense_positions(values * 3), whole, equal_nan=True)
    assert np.array_equal(midranks(values), whole_midranks, equal_nan=True)


@pytest.mark.parametrize("blank", [np.nan, np.inf])
def test_the_compiled_look_at_many_rankings_changes_nothing(monkeypatch, blank):
    rng = np.random.default_rng(0)
    matrices = [rng.integers(1, most + 1, size=(1, 4)).astype(float) for most in (1, 2, 3, 5) for _ in range(40)]
    matrices += [np.where(rng.random(matrix.shape) < 0.3, blank, matrix) for matrix in matrices]
    matrices += [np.array([[1, 2.5, 2.5, 4]]), np.array([[0, 1, 2, 3.0]]), np.array([[-np.inf, 1, 2, 3]])]
    expected = [dense_positions(matrix) for matrix in matrices]
    monkeypatch.setattr(positions_module, "_WORTH_COMPILED", 0)
    for matrix, dense in zip(matrices, expected, strict=True):
        found = dense_positions(matrix)
        np.testing.assert_array_equal(found, dense)
        assert (found is matrix) == (dense is matrix)


@given(position_matrices())
def test_midranks_match_the_definition_and_scipy(positions):
    result = midranks(positions)
    assert np.array_equal(result, [naive.midranks(row) for row in positions], equal_nan=True)
    assert np.array_equal(positions_jit.midranks(positions), result, equal_nan=True)
    for row, ranks in zip(positions, result, strict=True):
        present = ~np.isnan(row)
        assert np.array_equal(ranks[present], rankdata(row[present], method="average"))


@given(position_matrices())
def test_reverse_flips_the_relation(positions):
    turned = reverse(positions)
    assert np.array_equal(precedes(turned), precedes(positions).transpose(0, 2, 1))
    assert np.array_equal(np.isnan(turned), np.isnan(positions))
    assert np.array_equal(turned, dense_positions(turned), equal_nan=True)
    if not np.isinf(positions).any():
        assert np.array_equal(reverse(turned), positions, equal_nan=True)


@given(position_matrices())
def test_has_ties_sees_listed_items_only(positions):
    expected = [any(len(bucket) > 1 for bucket in naive.parts(row)[0]) for row in positions]
    assert has_ties(positions).tolist() == expected


@given(position_matrices())
def test_scores_are_positions_upside_down(positions):
    assert np.array_equal(positions_from_scores(-positions), positions, equal_nan=True)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[1, 2, 3], [1, 2, 0]], r"y[1, 2] is 0, but positions count from 1 (1 = best). If the rows list item ids"),
        ([[1, -2, 3]], "y[0, 1] is -2, but positions count from 1"),
        ([[1, 0, -INF]], "y[0, 2] is -inf, which is not a position; unlisted items are +inf"),
    ],
)
def test_values_below_one_name_the_cell_and_the_cure(values, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        check_positions(values, name="y")


def test_orders_passed_as_positions_are_told_of_the_converter():
    with pytest.raises(ValueError, match=r"use positions_from_orders; .* positions_from_scores; .* add 1"):
        check_positions([[2, 0, 1]])


def test_probabilities_are_no_positions():
    with pytest.raises(ValueError, match=r"y_pred\[0, 0\] is 0.7, but positions count from 1 .* positions_from_scores"):
        check_positions([[0.7, 0.2, 0.1]], name="y_pred")
    assert check_positions([[0.7, 0.2, 0.1]], strict=False).tolist() == [[3, 2, 1]]


def test_estimators_only_warn_of_values_below_one():
    with pytest.warns(UserWarning, match=r"y\[0, 1\] is 0, .* Only the order of the values was used\."):
        result = check_positions([[2, 0, -1]], name="y", strict=False)
    assert result.tolist() == [[3, 2, 1]]
    with pytest.raises(ValueError, match="-inf, which is not a position"):
        check_positions([[2, -INF]], strict=False)


def test_infinite_scores_are_refused():
    with pytest.raises(ValueError, match=r"scores\[0, 1\] is \+inf; scores are finite, -inf \(unlisted\) or NaN"):
        positions_from_scores([[1, INF]])
