"""Statistics of pairwise preferences and bounds on risks, against enumeration of all rankings and samples."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rankwise import Rankings
from rankwise.aggregation import kemeny, preference_matrix
from rankwise.aggregation.statistics import (
    dispersion,
    dispersion_u_statistic,
    excess_risk,
    is_stochastically_transitive,
    kemeny_risk,
    median_distance_bound,
    median_excess_bound,
    median_risk_bound,
    noise_margin,
)
from rankwise.distances import kendall_distance, pairwise_distances
from tests.naive import statistics as naive
from tests.strategies import position_matrices

SLACK = 1e-9
CYCLE = np.array([[0.5, 2 / 3, 1 / 3], [1 / 3, 0.5, 2 / 3], [2 / 3, 1 / 3, 0.5]])


@st.composite
def laws(draw: st.DrawFn, min_items: int = 2, max_items: int = 4) -> tuple[int, np.ndarray]:
    """Number of items and probability of each ranking: Mallows, a few atoms (cycles, even pairs), or anything."""
    k = draw(st.integers(min_items, max_items))
    rankings = naive.all_rankings(k)
    kind = draw(st.sampled_from(["mallows", "atoms", "any"]))
    if kind == "mallows":
        center = np.array(draw(st.permutations(range(1, k + 1))), dtype=float)
        return k, naive.mallows_law(k, draw(st.sampled_from([0.0, 0.1, 1.0, 5.0])), center)
    size = 3 if kind == "atoms" else len(rankings)
    law = np.zeros(len(rankings))
    chosen = draw(st.lists(st.integers(0, len(rankings) - 1), min_size=size, max_size=size))
    for index in chosen:
        law[index] += draw(st.integers(1, 3))
    return k, law / law.sum()


def rounded(P: np.ndarray) -> np.ndarray:
    """Probabilities whose rounding errors near one half are gone, for twins that compare exactly."""
    return np.where(np.abs(P - 0.5) < 1e-9, 0.5, P)


@given(laws(max_items=5), st.booleans())
def test_transitivity_equals_its_definition(case: tuple[int, np.ndarray], strict: bool) -> None:
    k, law = case
    P = naive.pair_probabilities(law, k)
    assert is_stochastically_transitive(P, strict=strict) == naive.is_transitive(rounded(P), strict)


@given(st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_transitivity_of_random_matrices(k: int, seed: int) -> None:
    # Not every matrix of probabilities belongs to a law of rankings; with thirds, even pairs and cycles are common.
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.choice([0.25, 0.5, 0.75], p=[0.15, 0.15, 0.7], size=(k, k)), 1)
    P = upper + np.tril(1 - upper.T, -1) + np.eye(k) / 2
    for strict in (False, True):
        assert is_stochastically_transitive(P, strict=strict) == naive.is_transitive(P, strict)


def test_a_cycle_is_not_transitive_and_mallows_strictly_is() -> None:
    assert not is_stochastically_transitive(CYCLE)
    for theta in (0.01, 1.0):
        P = naive.pair_probabilities(naive.mallows_law(5, theta, np.array([3, 1, 5, 2, 4])), 5)
        assert is_stochastically_transitive(P, strict=True)
    even = np.full((4, 4), 0.5)
    assert is_stochastically_transitive(even)
    assert not is_stochastically_transitive(even, strict=True)


def test_even_pairs_are_even_in_spite_of_rounding() -> None:
    # 0.1 + 0.2 against 0.3: the two sides differ in the last digit.
    rankings = Rankings([[1, 2], [1, 2], [2, 1]], weights=[0.1, 0.2, 0.3])
    assert not is_stochastically_transitive(rankings, strict=True)


@given(laws(max_items=5))
def test_noise_margin_equals_its_definition(case: tuple[int, np.ndarray]) -> None:
    k, law = case
    P = naive.pair_probabilities(law, k)
    expected = min(abs(P[i, j] - 0.5) for i, j in itertools.combinations(range(k), 2))
    assert noise_margin(P) == pytest.approx(expected, abs=1e-12)


def test_noise_margin_of_mallows_is_that_of_neighbors() -> None:
    # Items d places apart in the center: p = (d + 1) / (1 - phi^(d + 1)) - d / (1 - phi^d), so 1 / (1 + phi) at d = 1.
    phi = np.exp(-0.7)
    P = naive.pair_probabilities(naive.mallows_law(5, 0.7, np.arange(1.0, 6)), 5)
    assert noise_margin(P) == pytest.approx(1 / (1 + phi) - 0.5)


@given(laws())
def test_dispersion_is_half_the_expected_distance_and_bounds_the_median(case: tuple[int, np.ndarray]) -> None:
    k, law = case
    V = dispersion(naive.pair_probabilities(law, k))
    assert pytest.approx(naive.half_expected_distance_of_two(law, k), abs=1e-9) == V
    best = min(naive.expected_distance(law, row) for row in naive.all_rankings(k))
    assert V - 1e-9 <= best <= 2 * V + 1e-9


@given(laws(max_items=5), st.randoms(use_true_random=False))
def test_risk_is_the_expected_distance(case: tuple[int, np.ndarray], random: object) -> None:
    k, law = case
    ranking = np.array(random.sample(range(1, k + 1), k), dtype=float)  # type: ignore[attr-defined]
    risk = kemeny_risk(naive.pair_probabilities(law, k), ranking)
    assert risk == pytest.approx(naive.expected_distance(law, ranking), abs=1e-9)


@given(position_matrices(kinds=("full",), min_items=2), st.data())
def test_risk_under_rankings_is_their_mean_distance(positions: np.ndarray, data: st.DataObject) -> None:
    k = positions.shape[1]
    tied = np.array(data.draw(st.lists(st.integers(1, k), min_size=k, max_size=k)), dtype=float)
    assert kemeny_risk(positions, tied) == pytest.approx(np.mean(kendall_distance(tied, positions)))


@given(laws())
def test_excess_risk_is_the_difference_to_the_median_if_transitive(case: tuple[int, np.ndarray]) -> None:
    k, law = case
    P = naive.pair_probabilities(law, k)
    risks = np.array([naive.expected_distance(law, row) for row in naive.all_rankings(k)])
    excess = np.array([excess_risk(P, row) for row in naive.all_rankings(k)])
    if naive.is_transitive(rounded(P), strict=False):
        np.testing.assert_allclose(excess, risks - risks.min(), atol=1e-9)
    else:  # an upper bound; still equal where the cycle has an even pair
        assert np.all(excess >= risks - risks.min() - 1e-9)
    floor = np.minimum(P, 1 - P)[np.triu_indices(k, 1)].sum()
    np.testing.assert_allclose(excess, risks - floor, atol=1e-9)


def test_the_cycle_by_hand() -> None:
    # Three rankings in a circle: V = 3 * 2/9; the median agrees with two majorities, 1/3 + 1/3 + 2/3.
    circle = [[1, 2, 3], [3, 1, 2], [2, 3, 1]]
    assert dispersion(circle) == pytest.approx(2 / 3)
    assert kemeny_risk(circle, [1, 2, 3]) == pytest.approx(4 / 3)
    assert excess_risk(circle, [1, 2, 3]) == pytest.approx(1 / 3)
    assert noise_margin(circle) == pytest.approx(1 / 6)
    assert kemeny_risk(circle, [1, 1, 1]) == pytest.approx(1.5)


def test_the_risk_of_the_median_is_its_cost() -> None:
    positions = np.argsort(np.random.default_rng(0).random((31, 7)), axis=1) + 1.0
    median = kemeny(positions)
    assert kemeny_risk(positions, median.positions) == pytest.approx(median.cost / 31)
    assert dispersion(positions) <= median.cost / 31 <= 2 * dispersion(positions)


@given(position_matrices(kinds=("full",), min_items=2, min_rankings=2))
def test_u_statistic_is_half_the_mean_distance(positions: np.ndarray) -> None:
    n = len(positions)
    distances = pairwise_distances(positions)
    assert dispersion_u_statistic(positions) == pytest.approx(distances.sum() / (n * (n - 1)) / 2)
    assert dispersion(positions) == pytest.approx(distances.sum() / n**2 / 2)


@pytest.mark.parametrize("theta", [0.0, 0.8])
def test_u_statistic_is_unbiased(theta: float) -> None:
    # Every sample of three rankings of three items, with its probability.
    rankings, law = naive.all_rankings(3), naive.mallows_law(3, theta, np.array([2, 3, 1]))
    samples = list(itertools.product(range(6), repeat=3))
    mean = sum(np.prod(law[list(s)]) * dispersion_u_statistic(rankings[list(s)]) for s in samples)
    assert mean == pytest.approx(naive.half_expected_distance_of_two(law, 3))


def test_u_statistic_is_unbiased_with_ties_and_gaps() -> None:
    # Two items, each ranking: a first, b first, or tied; the coin makes p = P(a first) + P(tie) / 2.
    rows, law = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0]]), np.array([0.5, 0.2, 0.3])
    samples = list(itertools.product(range(3), repeat=3))
    nobody = np.full((1, 2), np.nan)  # says nothing and changes nothing
    mean = sum(np.prod(law[list(s)]) * dispersion_u_statistic(np.vstack([rows[list(s)], nobody])) for s in samples)
    assert mean == pytest.approx(0.65 * 0.35)


@given(position_matrices(min_items=2, max_items=5, min_rankings=2), st.data())
def test_a_weight_is_a_number_of_copies(positions: np.ndarray, data: st.DataObject) -> None:
    weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(positions), max_size=len(positions))))
    copies = np.repeat(positions, weights, axis=0)
    counts = preference_matrix(copies).counts[np.triu_indices(positions.shape[1], 1)]
    assume(len(copies) > 0 and np.all(counts > 1))
    weighted = Rankings(positions, weights=weights)
    for statistic in (dispersion, dispersion_u_statistic, noise_margin):
        assert statistic(weighted) == pytest.approx(statistic(copies))
    assert is_stochastically_transitive(weighted) == is_stochastically_transitive(copies)


@given(laws(max_items=4), st.randoms(use_true_random=False))
def test_names_do_not_matter(case: tuple[int, np.ndarray], random: object) -> None:
    k, law = case
    P = naive.pair_probabilities(law, k)
    new = np.array(random.sample(range(k), k))  # type: ignore[attr-defined]
    Q, ranking = P[np.ix_(new, new)], np.arange(1.0, k + 1)
    assert dispersion(Q) == pytest.approx(dispersion(P))
    assert kemeny_risk(Q, ranking[new]) == pytest.approx(kemeny_risk(P, ranking))
    assert excess_risk(Q, ranking[new]) == pytest.approx(excess_risk(P, ranking))
    assert is_stochastically_transitive(Q) == is_stochastically_transitive(P)


def test_matrices_rankings_and_arrays_say_the_same() -> None:
    positions = np.array([[1, 2, 3], [2, 1, 3], [3, 1, 2.0]])
    forms = [positions, positions.tolist(), Rankings(positions), preference_matrix(positions)]
    forms.append(preference_matrix(positions).probabilities)
    assert len({round(dispersion(form), 12) for form in forms}) == 1


@pytest.mark.parametrize("function", [is_stochastically_transitive, noise_margin, dispersion])
@pytest.mark.parametrize(
    ("P", "message"),
    [
        ([[0.5, 0.6, 0.7], [0.4, 0.5, 0.8]], r"shape \(2, 3\).*one row and one column per item"),
        ([[0.5, -0.2], [1.2, 0.5]], r"matrix\[0, 1\] is -0.2"),
        ([[0.5, 0.6], [0.6, 0.5]], r"P\[0, 1\] and P\[1, 0\] add up to 1.2"),
        ([[0, 7], [3, 0]], r"add up to 10.*divide counts"),
        ([[0.5, np.nan], [0.4, 0.5]], r"matrix\[0, 1\] is NaN, but matrix\[1, 0\] is 0.4"),
        ([[0.5, np.nan, 1], [np.nan, 0.5, 1], [0, 0, 0.5]], r"nobody compared items 0 and 1"),
        ([[0.5, np.inf], [0, 0.5]], r"matrix\[0, 1\] is inf"),
        ([[1, 2, np.nan], [1, 2, np.nan]], r"no ranking compares item 2 with another"),
    ],
)
def test_bad_preferences(function: object, P: list[list[float]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        function(P)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("positions", "message"),
    [
        ([1, 2], "ranks 2 items, but P is of 3"),
        ([1, 2, np.nan], r"positions\[2\] is nan.*places every item"),
        ([1, np.inf, 2], r"positions\[1\] is inf"),
        ([[1, 2, 3]], "one ranking"),
        ([0, 1, 2], "positions count from 1"),
    ],
)
def test_bad_ranking(positions: list[float], message: str) -> None:
    for function in (kemeny_risk, excess_risk):
        with pytest.raises(ValueError, match=message):
            function(CYCLE, positions)


def test_u_statistic_needs_two_rankings_of_each_pair() -> None:
    with pytest.raises(ValueError, match=r"items 'a' and 'b' are compared with weight 1.*multiplicities"):
        dispersion_u_statistic(Rankings([[1, 2]], items=["a", "b"]))
    with pytest.raises(ValueError, match="items 0 and 2 are compared with weight 1"):
        dispersion_u_statistic([[1, 2, 3], [1, 2, np.nan]])
    with pytest.raises(ValueError, match="one item"):
        noise_margin([[1], [1]])


def test_the_risk_of_a_consensus_needs_no_unpacking() -> None:
    rankings = [[1, 2, 3], [1, 3, 2], [2, 1, 3]]
    consensus = kemeny(rankings)
    assert kemeny_risk(rankings, consensus) == kemeny_risk(rankings, consensus.positions)
    assert kemeny_risk(rankings, consensus) == pytest.approx(consensus.cost / 3)
    assert excess_risk(rankings, consensus) == 0


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
