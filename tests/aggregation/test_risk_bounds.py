"""Bounds on the risk of medians, against enumeration of all samples and all rankings."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rankwise.aggregation.statistics import median_distance_bound, median_excess_bound, median_risk_bound
from tests.naive import statistics as naive

SLACK = 1e-9


def samples(n: int, size: int) -> Iterator[tuple[int, ...]]:
    """All ways to draw ``n`` rankings out of ``size`` different ones, as counts."""
    if size == 1:
        yield (n,)
        return
    for first in range(n + 1):
        for rest in samples(n - first, size - 1):
            yield (first, *rest)


def excess_of_sample_medians(law: np.ndarray, k: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Probability of each sample, and the excess risk of its median, or of the worst ranking if not transitive."""
    rankings = naive.all_rankings(k)
    risks = np.array([naive.expected_distance(law, row) for row in rankings])
    probability, excess = [], []
    for counts in samples(n, len(law)):
        chance = math.factorial(n) * np.prod([p**c / math.factorial(c) for p, c in zip(law, counts, strict=True)])
        median = naive.median_of_counts(np.array(counts), k)
        risk = risks.max() if median is None else risks[np.flatnonzero((rankings == median).all(axis=1))[0]]
        probability.append(chance)
        excess.append(risk - risks.min())
    return np.array(probability), np.array(excess)


@pytest.mark.parametrize("theta", [0.05, 0.5, 1.5, 4.0])
@pytest.mark.parametrize(("k", "n"), [(2, 1), (2, 2), (2, 9), (2, 30), (3, 1), (3, 2), (3, 4)])
def test_the_bound_on_samples_holds_for_every_mallows_law(theta: float, k: int, n: int) -> None:
    law = naive.mallows_law(k, theta, np.arange(1.0, k + 1))
    h = 1 / (1 + math.exp(-theta)) - 0.5
    probability, excess = excess_of_sample_medians(law, k, n)
    assert probability.sum() == pytest.approx(1)
    assert probability @ excess <= median_risk_bound(k, h, n) + SLACK
    for delta in (0.01, 0.1, 0.5):
        assert probability[excess > median_risk_bound(k, h, n, delta) + SLACK].sum() <= delta


def test_the_bound_is_the_printed_formula() -> None:
    expected = 25 * 16 / 8 * math.exp(-40 / 2 * math.log(1 / (1 - 4 * 0.1**2)))
    assert median_risk_bound(5, 0.1, 40) == pytest.approx(expected)
    assert median_risk_bound(5, 0.1, 40, delta=0.2) == pytest.approx(expected / 0.2)
    assert median_risk_bound(5, 0.1, 400, delta=0.01) == 0.0  # 10 * 0.96^200 is 0.0028
    assert median_risk_bound(5, 0.1, 300, delta=0.01) > 0  # 10 * 0.96^150 is 0.022
    assert median_risk_bound(4, 0.5, 1) == 0.0  # a law of one ranking


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 0.1, 5), "n_items is 1"),
        ((3, 0.1, 0), "n_rankings is 0"),
        ((3, 0.0, 5), "h is 0.0"),
        ((3, 0.6, 5), "h is 0.6"),
        ((3, float("nan"), 5), "h is nan"),
        ((3, 0.1, 5, 0.0), "delta is 0.0"),
        ((3, 0.1, 5, 1.0), "delta is 1.0"),
    ],
)
def test_bad_arguments(arguments: tuple[float, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        median_risk_bound(*arguments)  # type: ignore[arg-type]


@given(st.integers(2, 4), st.integers(0, 2**32 - 1), st.sampled_from([0.1, 1.0, 30.0]))
def test_medians_of_close_laws_have_close_risks_and_places(k: int, seed: int, evenness: float) -> None:
    rng = np.random.default_rng(seed)
    rankings = naive.all_rankings(k)
    first, second = rng.dirichlet(np.full(len(rankings), evenness), size=2)
    P, Q = naive.pair_probabilities(first, k), naive.pair_probabilities(second, k)
    risk_p = np.array([naive.expected_distance(first, row) for row in rankings])
    risk_q = np.array([naive.expected_distance(second, row) for row in rankings])
    worst_median = risk_p[risk_q <= risk_q.min() + SLACK].max()
    assert worst_median - risk_p.min() <= median_excess_bound(P, Q) + SLACK
    assume(naive.is_transitive(P, strict=True) and naive.is_transitive(Q, strict=True))
    apart = naive.kendall(rankings[np.argmin(risk_p)], rankings[np.argmin(risk_q)])
    assert apart <= median_distance_bound(P, Q) + SLACK
    assert apart <= median_distance_bound(Q, P) + SLACK


def test_the_bounds_are_reached_by_two_items() -> None:
    # p = 1/2 + e and q = 1/2 - e: the medians are opposite, the excess is 2e, the sum of differences is 2e as well.
    P, Q = np.array([[0.5, 0.6], [0.4, 0.5]]), np.array([[0.5, 0.4], [0.6, 0.5]])
    assert median_excess_bound(P, Q) == pytest.approx(0.4)
    assert median_distance_bound(P, Q) == pytest.approx(2.0)
    assert median_excess_bound(P, P) == median_distance_bound(P, P) == 0.0


def test_the_larger_margin_counts() -> None:
    P, Q = [[0.5, 0.9], [0.1, 0.5]], [[0.5, 0.6], [0.4, 0.5]]
    assert median_distance_bound(P, Q) == median_distance_bound(Q, P) == pytest.approx(0.3 / 0.4)


def test_laws_that_do_not_fit_are_refused() -> None:
    cycle = [[0.5, 0.6, 0.4], [0.4, 0.5, 0.6], [0.6, 0.4, 0.5]]
    fine = [[0.5, 0.6, 0.7], [0.4, 0.5, 0.6], [0.3, 0.4, 0.5]]
    with pytest.raises(ValueError, match=r"Q is not strictly stochastically transitive.*median_excess_bound"):
        median_distance_bound(fine, cycle)
    with pytest.raises(ValueError, match="P is of 3 items and Q of 2"):
        median_excess_bound(fine, [[0.5, 0.6], [0.4, 0.5]])
