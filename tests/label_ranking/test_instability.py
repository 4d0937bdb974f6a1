"""The laws of the instability tests: against published values, simulation, and what is known of special cases."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import chi2

from rankwise.label_ranking._instability import (
    Scores,
    cut_statistics,
    level_sums,
    log_p_of_cuts,
    log_p_of_range,
    nominal_test,
    ordered_test,
    partition_statistics,
    standardized_scores,
)

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "plackett_luce_tree.json").read_text("utf-8"))


def bridges(share, k, n, seed=0):
    """Scaled bridges at some times, (n, times, k)."""
    steps = np.sqrt(np.diff(np.concatenate([[0], share, [1]])))
    walk = np.cumsum(np.random.default_rng(seed).standard_normal((n, len(steps), k)) * steps[:, None], axis=1)
    return (walk[:, :-1] - share[:, None] * walk[:, -1:]) / np.sqrt(share * (1 - share))[:, None]


@pytest.mark.parametrize(("k", "trim", "value"), GOLDEN["critical_values"]["values"])
def test_critical_values_of_andrews(k, trim, value):
    length = np.log((1 - trim) / trim)
    found = brentq(lambda x: log_p_of_range(x, k, length) - np.log(0.05), k, 80)
    assert found == pytest.approx(value, rel=0.02)


@pytest.mark.parametrize("k", [1, 3])
def test_the_largest_of_some_cuts_follows_its_law(k):
    share = np.array([0.1, 0.3, 0.301, 0.35, 0.7])
    largest = (bridges(share, k, 100_000) ** 2).sum(axis=2).max(axis=1)
    for level in (0.5, 0.1, 0.02):
        x = np.quantile(largest, 1 - level)
        assert np.exp(log_p_of_cuts(x, k, share)) == pytest.approx(level, rel=0.06)


def test_one_cut_is_a_chi_square_test():
    assert log_p_of_cuts(7.0, 3, np.array([0.4])) == pytest.approx(chi2.logsf(7, 3))
    # Of a range without length only the start counts.
    assert log_p_of_range(7.0, 3, 1e-9) == pytest.approx(chi2.logsf(7, 3), abs=1e-4)


def test_tails_have_no_gap_and_no_infinite_logarithm():
    x = np.linspace(30, 120, 60)
    log_p = np.array([log_p_of_range(value, 4, 2.2) for value in x])
    assert np.isfinite(log_p).all()
    assert (np.diff(log_p) < 0).all()
    assert np.diff(log_p).min() > -1.2  # about half of each step of 1.5
    cuts = np.array([log_p_of_cuts(value, 4, np.array([0.2, 0.5, 0.8])) for value in x])
    assert (np.diff(cuts) < 0).all()
    assert (cuts <= log_p + 1e-3).all()
    assert log_p_of_range(0.001, 20, 2.2) == 0.0
    assert np.isfinite(log_p_of_range(5000.0, 9, 2.2))
    assert np.isfinite(log_p_of_cuts(5000.0, 9, np.array([0.2, 0.5])))
    assert -2500 < log_p_of_cuts(5000.0, 9, np.array([0.5])) < -2400


def test_many_cuts_are_corrected_for_the_gaps_between_them():
    rng = np.random.default_rng(1)
    scores = Scores(rng.standard_normal((100, 2)), np.ones(100), np.ones(100))
    found = ordered_test(scores, np.arange(100), np.arange(9, 90))
    share = np.arange(10, 91) / 100
    largest = (bridges(share, 2, 40_000) ** 2).sum(axis=2).max(axis=1)
    assert np.exp(found.log_p) == pytest.approx((largest >= found.statistic).mean(), abs=0.02)


def test_statistics_by_hand():
    rng = np.random.default_rng(2)
    weight = rng.integers(1, 4, 30).astype(float)
    scores = standardized_scores(rng.standard_normal((30, 3)) @ rng.standard_normal((3, 3)), weight, people=True)
    np.testing.assert_allclose((weight[:, None] * scores.values).T @ scores.values / weight.sum(), np.eye(3), atol=1e-9)
    level = rng.integers(0, 3, 30)
    total = sum(
        np.sum((weight[level == g] @ scores.values[level == g]) ** 2) / weight[level == g].sum() for g in range(3)
    )
    assert nominal_test(scores, level, 3).statistic == pytest.approx(total)
    # A split into two categories is a cut.
    order = np.argsort(level != 0, kind="stable")
    cut, share = cut_statistics(scores, order, np.array([(level == 0).sum() - 1]))
    division = partition_statistics(level_sums(scores, level, 3), np.array([[True, False, False]]))
    assert share[0] == pytest.approx(weight[level == 0].sum() / weight.sum())
    np.testing.assert_allclose(cut, division)
    assert nominal_test(scores, np.where(level == 0, 0, 1), 2).statistic == pytest.approx(cut[0])


def test_weights_of_people_are_copies():
    rng = np.random.default_rng(3)
    raw, weight = rng.standard_normal((20, 2)), rng.integers(1, 4, 20)
    copies = np.repeat(np.arange(20), weight)
    once = standardized_scores(raw, weight.astype(float), people=True)
    often = standardized_scores(raw[copies], np.ones(len(copies)), people=True)
    a, _ = cut_statistics(once, np.arange(20), np.arange(19))
    b, _ = cut_statistics(often, np.arange(len(copies)), np.cumsum(weight)[:-1] - 1)
    np.testing.assert_allclose(a, b)


def test_directions_without_variance_are_dropped():
    rng = np.random.default_rng(4)
    raw = rng.standard_normal((50, 2))
    scores = standardized_scores(np.column_stack([raw, -raw.sum(axis=1), np.zeros(50)]), np.ones(50), people=True)
    assert scores.values.shape == (50, 2)
    constant = standardized_scores(np.zeros((50, 3)), np.ones(50), people=True)
    assert np.isnan(ordered_test(constant, np.arange(50), np.arange(10, 40)).log_p)
