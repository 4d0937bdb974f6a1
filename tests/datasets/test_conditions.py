"""Conditions of the theorems: exact values against their definitions, estimates against exact values."""

from __future__ import annotations

import numpy as np
import pytest

from rankwise.data import Rankings
from rankwise.datasets import (
    BinaryFeatures,
    FiniteFeatures,
    GaussianNoise,
    MallowsNoise,
    RankingOracle,
    deletion_tolerance,
    density_lower_bound,
    diminishing_returns_constant,
    partial_tolerance,
    strong_sparsity,
    submodularity_constant,
    transitive_share,
    tsybakov_noise,
)
from tests.naive import conditions as naive

CUBE, _ = BinaryFeatures(3).support()


def random_scores(seed):
    """Values for the corners of the cube, as a function of X."""
    values = np.random.default_rng(seed).random((8, 2))
    return lambda X: values[X.astype(int) @ [4, 2, 1]]


def laws(seed):
    """Independent bits, and dependent ones, one corner of which does not occur."""
    rng = np.random.default_rng(seed)
    shares = rng.random(8)
    shares[3] = 0.0
    return [BinaryFeatures(3), BinaryFeatures(3, [0.2, 0.5, 0.7]), FiniteFeatures(CUBE, shares)]


@pytest.mark.parametrize("law", range(3))
@pytest.mark.parametrize("seed", range(3))
def test_constants_of_splits_by_definition(seed, law):
    oracle = RankingOracle(random_scores(seed), features=laws(seed)[law])
    X, p = oracle.feature_law.support()
    submodular, diminishing = (
        [by_definition(X, p, f) for f in oracle.scores(X).T]
        for by_definition in (naive.submodularity, naive.diminishing_returns)
    )
    assert submodularity_constant(oracle, per_item=True) == pytest.approx(submodular)
    assert submodularity_constant(oracle) == pytest.approx(max(submodular))
    assert diminishing_returns_constant(oracle, per_item=True) == pytest.approx(diminishing)
    assert diminishing_returns_constant(oracle) >= submodularity_constant(oracle) - 1e-9
    places = oracle.ranking(X) / 2
    assert submodularity_constant(oracle, target="positions") == pytest.approx(
        max(naive.submodularity(X, p, f) for f in places.T)
    )


def test_a_feature_that_matters_only_with_another():
    parity = RankingOracle(lambda X: (X.sum(axis=1)[:, None] % 2) * [0.5, 0.0], features=2)
    assert submodularity_constant(parity) == np.inf
    assert diminishing_returns_constant(parity) == np.inf
    assert submodularity_constant(parity, per_item=True).tolist() == [np.inf, 1.0]


def test_linear_scores_of_many_independent_bits():
    oracle = RankingOracle.sparse(1000, 3, 4, random_state=0)
    assert submodularity_constant(oracle) == pytest.approx(1)
    assert diminishing_returns_constant(oracle) == pytest.approx(1)
    m = oracle.m
    slopes = m.weights / (m.high - m.low)[:, None] / 2
    assert strong_sparsity(oracle) == pytest.approx(min(np.abs(row[row != 0]).min() ** 2 for row in slopes) / 4)


@pytest.mark.parametrize("law", [BinaryFeatures(3), BinaryFeatures(3, [0.2, 0.5, 0.7])])
def test_strong_sparsity_by_definition(law):
    oracle = RankingOracle(lambda X: np.column_stack([X[:, 0] * 0.4 + X[:, 0] * X[:, 1], X[:, 2]]), features=law)
    X, p = law.support()
    first, second = oracle.scores(X).T
    expected = [naive.strong_sparsity(X, p, first, [0, 1]), naive.strong_sparsity(X, p, second, [2])]
    assert strong_sparsity(oracle, per_item=True) == pytest.approx(expected)
    assert min(expected) > 0


def test_strong_sparsity_of_dependent_bits():
    law = FiniteFeatures(CUBE, [4, 1, 1, 2, 3, 1, 1, 5])
    oracle = RankingOracle(lambda X: np.column_stack([X[:, 0] * 0.4 + X[:, 1], X[:, 0]]), features=law)
    X, p = law.support()
    first, second = oracle.scores(X).T
    expected = [naive.strong_sparsity(X, p, first, [0, 1]), naive.strong_sparsity(X, p, second, [0])]
    assert strong_sparsity(oracle, per_item=True) == pytest.approx(expected)
    assert strong_sparsity(oracle, relevant=[0]) == pytest.approx(
        min(naive.strong_sparsity(X, p, f, [0]) for f in (first, second))
    )


@pytest.mark.parametrize("q", [1, 2, 3])
def test_density_by_definition(q):
    for law in laws(1):
        X, p = law.support()
        found = density_lower_bound(RankingOracle(lambda X: X, features=law), q)
        assert found == pytest.approx(naive.density(X, p, q))
    assert density_lower_bound(CUBE[[0, 0, 3, 5]], 2) == pytest.approx(0)
    assert density_lower_bound(CUBE[[0, 0, 3, 5]], 2, columns=[0, 1], positive=True) == pytest.approx(4 / 4)


@pytest.mark.filterwarnings("ignore:m gives items equal scores")
def test_estimates_come_near():
    """Noisy scores of 20,000 rows against exact values."""

    def m(X):
        return np.column_stack([0.3 + 0.2 * X[:, 0] + 0.2 * X[:, 0] * X[:, 1], 0.5 - 0.1 * X[:, 2]])

    oracle = RankingOracle(m, features=4)
    rng = np.random.default_rng(0)
    X = BinaryFeatures(4).sample(20_000, rng)
    noisy = m(X) + 0.1 * rng.standard_normal((len(X), 2))
    assert submodularity_constant(X, noisy) == pytest.approx(submodularity_constant(oracle), rel=0.15)
    assert diminishing_returns_constant(X, noisy) == pytest.approx(diminishing_returns_constant(oracle), rel=0.3)
    for label, relevant in enumerate(([0, 1], [2])):
        exact = strong_sparsity(oracle, per_item=True)[label]
        assert strong_sparsity(X, noisy[:, label], relevant=relevant) == pytest.approx(exact, rel=0.25)
    assert density_lower_bound(X, 2) == pytest.approx(1, abs=0.05)
    # Noise alone has no structure, and parity much.
    assert submodularity_constant(X, rng.standard_normal(len(X))) < 2
    assert submodularity_constant(X, X[:, 0] != X[:, 1]) > 50
    rankings = Rankings(oracle.ranking(X))
    assert submodularity_constant(X, rankings) == pytest.approx(
        submodularity_constant(oracle, target="positions"), rel=0.15
    )


@pytest.mark.parametrize("seed", range(4))
def test_transitivity_by_definition(seed):
    rng = np.random.default_rng(seed)
    upper = np.round(rng.random((60, 4, 4)), 1)
    P = np.triu(upper, 1) + np.tril(1 - upper.transpose(0, 2, 1), -1) + np.eye(4) / 2
    P = np.round(P, 6)
    assert transitive_share(P) == pytest.approx(np.mean([naive.strictly_transitive(one) for one in P]))


def test_transitivity_of_oracles_and_samples():
    oracle = RankingOracle(lambda X: X @ [[0.1, 0.3, 0.0], [0.0, 0.1, 0.2]], GaussianNoise(0.1), features=2)
    assert transitive_share(oracle) == 0.75  # equal scores at 0, 0
    X, y = oracle.sample(3000, random_state=0)
    assert 0.7 < transitive_share(X, y) <= 1
    cycle = np.array([[1.0, 2, 3], [2, 3, 1], [3, 1, 2]])
    assert transitive_share(np.zeros((3, 1)), cycle) == 0


def test_tsybakov_noise_is_tight():
    oracle = RankingOracle(random_scores(2), GaussianNoise(0.2), laws(0)[1])
    X, p = oracle.feature_law.support()
    P = oracle.preference_probability(X)
    grid = np.concatenate([np.abs(P[:, 0, 1] - 0.5) / 2 * (1 + 1e-9), np.linspace(0, 1, 50)])
    for a in (0.2, 0.5, 0.9):
        found = tsybakov_noise(oracle, a=a)
        assert found.a == a
        assert naive.tsybakov_holds(P, p, a, found.B, grid)
        assert not naive.tsybakov_holds(P, p, a, 0.999 * found.B, grid)
    assert tsybakov_noise(oracle, a=0) == (0.0, 1.0)
    even = RankingOracle(lambda X: X, GaussianNoise(0.1), features=2)
    assert tsybakov_noise(even, a=0.5) == (0.5, np.inf)


@pytest.mark.parametrize("power", [1.0, 3.0])
def test_the_exponent_of_tsybakov_noise(power):
    """Margins u^(1 / s) of uniform u have P(margin < 2t) = (2t / half)^s, that is a = s / (1 + s)."""
    margin = 0.5 * ((np.arange(4000) + 1) / 4000) ** (1 / power)
    P = np.full((4000, 2, 2), 0.5)
    P[:, 0, 1] += margin
    P[:, 1, 0] -= margin
    a, constant = tsybakov_noise(P)
    assert a == pytest.approx(power / (1 + power), abs=0.01)
    assert constant == pytest.approx(4**power, rel=0.2)


@pytest.mark.filterwarnings("ignore:m gives items equal scores")
def test_tolerances():
    oracle = RankingOracle(
        lambda X: X, MallowsNoise(1.0), BinaryFeatures(3), survival=[0.9, 0.5, 0.8], partition=(1, 2)
    )
    assert deletion_tolerance(oracle) == pytest.approx(0.5 * 0.8)
    apart = oracle.observation_probability(CUBE) / (0.9 * 0.5)
    X, y = oracle.sample(40_000, random_state=0)
    assert deletion_tolerance(y) == pytest.approx(0.4, abs=0.02)
    assert deletion_tolerance(y, X) == pytest.approx(0.4, abs=0.03)
    ties = RankingOracle(lambda X: X, MallowsNoise(1.0), BinaryFeatures(3), partition=(1, 2))
    assert partial_tolerance(oracle) == pytest.approx(partial_tolerance(ties))
    assert partial_tolerance(oracle) <= apart[:, 0, 1].min() + 1e-9
    X, y = ties.sample(40_000, random_state=0)
    assert partial_tolerance(y, X) == pytest.approx(partial_tolerance(ties), abs=0.03)
    assert partial_tolerance(y) >= partial_tolerance(y, X)
    assert partial_tolerance([[1, 1, 2], [1, 2, 3]]) == 0.5


def test_a_smallest_value_over_more_rows_than_can_be_listed_is_an_upper_bound():
    """Items survive rarely where 20 of 100 bits are all 1, which no sample shows."""

    def survival(X):
        return np.where(X[:, :20].all(axis=1), 0.1, 0.9)[:, None] * np.ones(3)

    oracle = RankingOracle(lambda X: X[:, :3], features=100, survival=survival)
    with pytest.warns(UserWarning, match="upper bound of that over all; give the rows") as caught:
        assert deletion_tolerance(oracle) == pytest.approx(0.81)
    assert len(caught) == 1
    assert deletion_tolerance(oracle, np.ones((1, 100))) == pytest.approx(0.01)
    few = RankingOracle(lambda X: X[:, :3], features=FiniteFeatures(np.eye(100)), survival=survival)
    assert deletion_tolerance(few) == pytest.approx(0.81)


@pytest.mark.parametrize(
    ("noise", "survival", "partition", "expected"),
    [
        (GaussianNoise(0.1), [0.9, 0.5, 0.8], None, 0.4),
        (None, 0.5, "random", 0.5 * 0.5 * 0.5),
        (None, None, (1, 2), 0.0),
        (MallowsNoise(np.log(2)), None, (1, 2), None),
    ],
)
def test_what_is_the_same_at_every_x_needs_no_warning(noise, survival, partition, expected):
    many, few = (RankingOracle(lambda X: X[:, :3], noise, n, survival=survival, partition=partition) for n in (100, 3))
    assert many.phi() == pytest.approx(few.phi())
    assert expected is None or many.phi() == pytest.approx(expected)


def test_ties_of_noisy_scores_depend_on_x():
    oracle = RankingOracle(lambda X: X[:, :3], GaussianNoise(0.3), 100, partition=(1, 2))
    with pytest.warns(UserWarning, match="upper bound"):
        oracle.phi(n_samples=2)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: submodularity_constant(CUBE), "y is missing"),
        (lambda: submodularity_constant(CUBE, CUBE[:4]), "y has 4 rows for 8 rows of X"),
        (lambda: submodularity_constant(CUBE / 2, CUBE), r"X\[1, 2\] is 0.5, but"),
        (lambda: submodularity_constant(np.zeros((5, 30)), np.zeros(5)), r"30 features make 3\^30 cells"),
        (lambda: submodularity_constant(RankingOracle(lambda X: X, features=30)), r"2\^30 corners"),
        (lambda: submodularity_constant(CUBE, CUBE, columns=[3]), "columns is"),
        (lambda: submodularity_constant(RankingOracle(lambda X: X, features=2), CUBE), "y belongs to features"),
        (lambda: submodularity_constant(CUBE, CUBE, target="ranks"), "target is 'ranks'"),
        (lambda: submodularity_constant(CUBE, Rankings([[1, np.nan]] * 8)), "y has missing or unlisted items"),
        (lambda: strong_sparsity(CUBE, CUBE), "relevant is missing"),
        (lambda: density_lower_bound(CUBE, 4), "size is 4, but there are 3 features"),
        (lambda: density_lower_bound(np.zeros((9, 60)), 20), "too many to look at"),
        (lambda: transitive_share(CUBE), r"source has shape \(8, 3\)"),
        (lambda: transitive_share(CUBE, [[1, 2]]), "X has 8 rows for 1 rankings"),
        (lambda: tsybakov_noise(np.full((4, 2, 2), 0.5), a=1.0), "a is 1.0"),
        (lambda: tsybakov_noise(np.full((4, 2, 2), 0.5)), "too few different probabilities"),
    ],
)
def test_what_cannot_be_computed_is_said(call, error):
    with pytest.raises(ValueError, match=error):
        call()


def test_the_message_of_the_exponent_speaks_of_even_pairs_only_where_there_are_some():
    P = np.array([[[0.5, 0.7], [0.3, 0.5]]])
    with pytest.raises(ValueError, match="give a: any below 1 will do, as no pair is even"):
        tsybakov_noise(P)
    with pytest.raises(ValueError, match=r"give a: some pairs are even, .* B is infinite unless a is 0"):
        tsybakov_noise(np.concatenate([P, np.full((1, 2, 2), 0.5)]))
