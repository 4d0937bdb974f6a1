"""Splits: the oracle's, a feature's, and swaps."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwise.screening import oracle_partition, principal_decision_ratio, split_losses, swap_gains
from tests.naive import screening as naive

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "screening.json").read_text("utf-8"))
CRITERIA = st.sampled_from(["squared_error", "absolute_error"])
TARGETS = st.lists(st.integers(-20, 20), min_size=2, max_size=6).filter(lambda y: len(set(y)) > 1)


@pytest.mark.parametrize("case", GOLDEN["example_3"], ids=lambda case: case["panel"])
def test_example_3(case):
    x, y = np.array(case["x"]), np.array(case["y"])
    assert naive.sum_of_squares(y) == pytest.approx(case["total"])
    np.testing.assert_allclose(split_losses(y, y).loss, case["oracle_losses"])
    found = oracle_partition(y)
    assert y[found.lower].tolist() == case["oracle_lower"]
    assert found.loss == pytest.approx(min(case["oracle_losses"]))
    np.testing.assert_allclose(split_losses(x, y).loss, case["losses_of_x"])
    z = (x - 0.5) ** 2
    np.testing.assert_allclose(split_losses(z, y).loss, case["losses_of_z"])
    np.testing.assert_array_equal(split_losses(z, y).n_left, [1, 2, 3])
    assert principal_decision_ratio(z, x, y) == pytest.approx(case["log_ratio"])
    assert principal_decision_ratio(z, x, y, log=False) == pytest.approx(case["ratio"], abs=5e-5)
    assert principal_decision_ratio(x, z, y) == pytest.approx(-case["log_ratio"])


def test_example_3_with_fixed_size():
    case = GOLDEN["example_3_size_2"]
    y = np.array(case["y"])
    found = oracle_partition(y, 2)
    assert found.loss == pytest.approx(case["best"])
    assert sorted(y[found.upper]) == case["pair"]
    for pair, loss in case["next"]:
        assert split_losses(np.isin(y, pair), y).loss == pytest.approx(loss)
    every = sorted(float(split_losses(np.isin(y, pair), y).loss[0]) for pair in combinations(y, 2))
    np.testing.assert_allclose(every[:3], [case["best"], *(loss for _, loss in case["next"])])


def test_lemma_1_needs_both_candidates():
    case = GOLDEN["lemma_1"]
    y = np.array(case["y"], dtype=float)
    smallest = np.array([True, True, False, False, False])
    assert naive.partition_loss(y, smallest) == pytest.approx(case["loss_of_smallest"])
    swapped = case["loss_of_smallest"] - swap_gains(y, smallest)[0, 2]
    assert swapped == pytest.approx(case["loss_after_swap_of_0_and_100"])
    assert oracle_partition(y, case["size"]).loss == pytest.approx(case["best"])


@given(TARGETS, CRITERIA, st.data())
def test_the_oracle_is_the_best_of_all_partitions(values, criterion, data):
    y = np.array(values, dtype=float)
    size = data.draw(st.one_of(st.none(), st.integers(1, len(y) - 1)))
    found = oracle_partition(y, size, criterion=criterion)
    assert found.loss == pytest.approx(naive.best_partition_loss(y, size, criterion), abs=1e-9)
    assert sorted([*found.lower, *found.upper]) == list(range(len(y)))
    assert y[found.lower].max() <= y[found.upper].min()
    assert size is None or size in (len(found.lower), len(found.upper))


@given(TARGETS, CRITERIA, st.data())
def test_losses_are_those_of_the_parts(values, criterion, data):
    y = np.array(values, dtype=float)
    z = np.array(data.draw(st.lists(st.integers(0, 4), min_size=len(y), max_size=len(y))))
    splits = split_losses(z, y, criterion=criterion)
    np.testing.assert_array_equal(splits.threshold, np.unique(z)[:-1])
    for threshold, n_left, loss in zip(*splits, strict=True):
        assert n_left == (z <= threshold).sum()
        assert loss == pytest.approx(naive.partition_loss(y, z <= threshold, criterion), abs=1e-9)


def test_absolute_losses_of_many_rows(rng):
    y, z = 1e6 + rng.standard_normal(300), rng.random(300)
    splits = split_losses(z, y, criterion="absolute_error")
    expected = [naive.partition_loss(y, z <= cut, "absolute_error") for cut in splits.threshold]
    np.testing.assert_allclose(splits.loss, expected, rtol=1e-9)


def test_one_outlier_moves_the_squared_split_and_not_the_absolute_one():
    z, y = np.arange(10), [0, 0, 0, 0, 5, 5, 5, 5, 5, 20]
    squared, absolute = (split_losses(z, y, criterion=f"{name}_error") for name in ("squared", "absolute"))
    assert squared.n_left[np.argmin(squared.loss)] == 9
    assert absolute.n_left[np.argmin(absolute.loss)] == 4


@given(TARGETS, st.data())
def test_swap_gains(values, data):
    y = np.array(values, dtype=float)
    left = np.zeros(len(y), dtype=bool)
    left[: data.draw(st.integers(1, len(y) - 1))] = True
    gains = swap_gains(y, left)
    for (row, i), (column, j) in [
        (a, b) for a in enumerate(np.flatnonzero(left)) for b in enumerate(np.flatnonzero(~left))
    ]:
        swapped = left.copy()
        swapped[[i, j]] = swapped[[j, i]]
        expected = naive.partition_loss(y, left) - naive.partition_loss(y, swapped)
        assert gains[row, column] == pytest.approx(expected, abs=1e-9)


def test_the_wider_of_two_reversed_pairs_gains_more(rng):
    """Lemma 15: the only reversed pairs are (alpha, gamma) and (beta, gamma)."""
    for _ in range(300):
        n = rng.integers(4, 9)
        y = np.sort(rng.standard_normal(n))
        for gamma, beta, alpha in combinations(range(n), 3):
            left = np.arange(n) < gamma
            left[[beta, alpha]] = True
            reversed_pairs = [(i, j) for i in np.flatnonzero(left) for j in np.flatnonzero(~left) if y[i] > y[j]]
            if {*reversed_pairs} == {(alpha, gamma), (beta, gamma)}:
                gains = swap_gains(y, left)
                rows, column = np.flatnonzero(left).tolist(), np.flatnonzero(~left).tolist().index(gamma)
                assert gains[rows.index(alpha), column] > gains[rows.index(beta), column]


def test_the_ratio_may_be_infinite_and_its_logarithm_not(rng):
    x = np.arange(4000.0)
    assert principal_decision_ratio(x, rng.random(4000), x, log=False) == np.inf
    assert np.isfinite(principal_decision_ratio(x, rng.random(4000), x))


def test_thresholds():
    z, y = [1, 2, 3, 4], [0, 1, 5, 7]
    losses = split_losses(z, y).loss
    ratio = principal_decision_ratio(z, z, y, thresholds=(2.5, 1))
    assert ratio == pytest.approx(losses[0] - losses[1])


@given(TARGETS, CRITERIA, st.data())
def test_equation_9_with_any_thresholds(values, criterion, data):
    """Also where a part is empty, or a feature is constant: then the loss is that of the node, as in proposition 8."""
    y = np.array(values, dtype=float)
    z = [data.draw(st.lists(st.integers(0, 4), min_size=len(y), max_size=len(y))) for _ in range(2)]
    thresholds = tuple(data.draw(st.sampled_from([-1, 0, 0.5, 1, 2, 3, 4, 9])) for _ in range(2))
    losses = [
        naive.partition_loss(y, np.array(values) <= threshold, criterion)
        for values, threshold in zip(z, thresholds, strict=True)
    ]
    ratio = principal_decision_ratio(*z, y, thresholds=thresholds, criterion=criterion)
    assert ratio == pytest.approx(losses[1] - losses[0], abs=1e-9)


def test_no_split_is_never_preferred():
    """Proposition 7: a split loses no more than the node; proposition 8 (i): two empty splits are equal."""
    z, y = [1, 2, 3, 4], [0, 1, 5, 7]
    assert principal_decision_ratio(z, z, y, thresholds=(9, 0)) == 0
    assert principal_decision_ratio(z, z, y, thresholds=(2, 0)) == pytest.approx(32.75 - 2.5)
    assert principal_decision_ratio([1, 1, 1, 1], z, y, thresholds=(1, 2), log=False) == pytest.approx(np.exp(-30.25))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: oracle_partition([1, 2, 3], 3), "size is 3, but y has 3 values"),
        (lambda: oracle_partition([1, 2, 3], 0), "at least 1"),
        (lambda: oracle_partition([1, 1, 1]), "constant"),
        (lambda: split_losses([[1], [2]], [1, 2]), "z has 2 dimensions"),
        (lambda: split_losses([1, np.nan], [1, 2]), "nan"),
        (lambda: principal_decision_ratio([1, 1], [1, 2], [1, 2]), "z1 is constant"),
        (lambda: split_losses([1, 2], [1, 2], criterion="mse"), "criterion is 'mse'"),
        (
            lambda: principal_decision_ratio([1, 2], [1, 2], [1, 2], thresholds=(np.nan, 1)),
            "thresholds is .*two numbers",
        ),
        (lambda: principal_decision_ratio([1, 2], [1, 2], [1, 2], thresholds=1), "thresholds is 1; give two numbers"),
        (lambda: split_losses([1, 2, 3], [1e308, -1e308, 0]), "squares overflow"),
        (lambda: swap_gains([1, 2], [True, True]), "one side"),
        (lambda: swap_gains([1, 2], [1, 0]), "True or False"),
    ],
)
def test_bad_input_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()
