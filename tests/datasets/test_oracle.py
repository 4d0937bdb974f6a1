"""The oracle: the laws of its noise, by enumeration, integrals and counting; what it observes; its designs."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm, truncnorm

from rankwise.datasets import (
    BinaryFeatures,
    FiniteFeatures,
    GaussianNoise,
    MallowsNoise,
    RankingOracle,
    UniformNoise,
    make_cell_label_ranking,
    make_sparse_label_ranking,
)
from rankwise.metrics import kendall_tau_score
from tests.naive import datasets as naive

# The last point has equal scores on purpose.
pytestmark = pytest.mark.filterwarnings("ignore:m gives items equal scores")
POINTS = np.array([[0.7, 0.3, 0.5, 0.45], [0.3, 0.35, 0.4, 0.6], [0.5, 0.5, 0.5, 0.26]])


def identity(noise=None, **options):
    """Scores are the features."""
    return RankingOracle(lambda X: X, noise, FiniteFeatures(POINTS, [2, 1, 1]), **options)


def before(a, b):
    return 0.5 if a == b else float(a < b)


@pytest.mark.parametrize("theta", [0.0, 0.3, 2.0, np.inf])
@pytest.mark.parametrize(("on", "law"), [("places", naive.mallows_law), ("names", naive.mallows_on_names_law)])
def test_mallows_noise_by_enumeration(theta, on, law):
    oracle = identity(MallowsNoise(theta, on))
    finite = min(theta, 60.0)
    found = oracle.preference_probability(POINTS)
    unchanged = []
    for row, center in enumerate(oracle.ranking(POINTS)):
        known = law(tuple(center.astype(int)), finite)
        assert found[row] == pytest.approx(naive.expected_over_pairs(known, before), abs=1e-12)
        unchanged.append(known[tuple(center.astype(int))])
    assert oracle.alpha() == pytest.approx(1 - np.dot([0.5, 0.25, 0.25], unchanged), abs=1e-12)


@pytest.mark.parametrize("theta", [0.0, 1e-7, 1e-5, 0.1, 1.0])
def test_the_closed_form_of_mallows_pairs_is_that_of_the_joint_law(theta):
    noise, scores = MallowsNoise(theta), np.random.default_rng(0).random((20, 9))
    joint = noise.mean_over_places(scores, np.where(np.eye(9) > 0, 0.5, np.triu(np.ones((9, 9)))))
    assert noise.preference_probability(scores) == pytest.approx(joint, abs=1e-9)


@pytest.mark.parametrize("scale", [0.01, 0.1, 0.4, 50.0])
def test_truncated_gaussian_pairs_by_an_integral(scale):
    found = identity(GaussianNoise(scale, 0.25)).preference_probability(POINTS)[0]
    law = truncnorm(-0.25 / scale, 0.25 / scale, scale=scale)
    for i, j in [(0, 1), (1, 0), (2, 3), (0, 2)]:
        lead = POINTS[0, i] - POINTS[0, j]
        borders = sorted({-0.25, 0.25, *np.clip([-0.25 - lead, 0.25 - lead, -5 * scale, 5 * scale], -0.25, 0.25)})
        parts = [
            quad(lambda b, lead=lead: law.pdf(b) * law.cdf(b + lead), low, high, epsabs=1e-13)[0]
            for low, high in pairwise(borders)
        ]
        # P(xi_j < xi_i + lead) = P(xi_j - xi_i < lead)
        assert found[i, j] == pytest.approx(sum(parts), abs=1e-8)
    assert found + found.T == pytest.approx(np.ones((4, 4)))


@pytest.mark.parametrize("scale", [0.2, 1.0, 3.0])
def test_gaussian_noise_is_not_truncated_unless_asked(scale):
    draws = GaussianNoise(scale).values(np.random.default_rng(0).random(20_000))
    assert draws.std() == pytest.approx(scale, rel=0.02)
    assert np.abs(GaussianNoise(scale, bound=0.25).values(np.linspace(0, 1, 99))).max() <= 0.25
    assert np.isfinite(GaussianNoise(scale).values(np.zeros(1))).all()
    lead = np.array([0.4])
    assert GaussianNoise(scale).probability_of_lead(lead) == pytest.approx(norm.cdf(0.4 / (scale * np.sqrt(2))))


@pytest.mark.parametrize(
    "noise", [GaussianNoise(0.1, 0.25), GaussianNoise(0.1), UniformNoise(0.2), MallowsNoise(0.7, "names")]
)
def test_probabilities_are_those_of_the_draws(noise):
    oracle = identity(noise, partition=(1, 2, 1), survival=[1.0, 0.5, 0.8, 0.9])
    rng, n = np.random.default_rng(0), 20_000
    X = POINTS[rng.integers(0, 3, n)]
    drawn = oracle.draw(X, rng)
    p, seen = oracle.preference_probability(POINTS), oracle.observation_probability(POINTS)
    for row, point in enumerate(POINTS):
        here = (point == X).all(axis=1)
        complete, observed = drawn.complete[here], drawn.observed.positions[here]
        share = (complete[:, :, None] < complete[:, None, :]).mean(axis=0) + np.eye(4) / 2
        assert np.abs(share - p[row]).max() < 0.03
        apart = np.abs(observed[:, :, None] - observed[:, None, :]) > 0
        assert np.abs(apart.mean(axis=0) + np.eye(4) - seen[row]).max() < 0.035
    truth = oracle.ranking(X)
    assert oracle.alpha(X) == pytest.approx((truth != drawn.complete).any(axis=1).mean(), abs=0.015)
    assert oracle.beta(X) == pytest.approx(kendall_tau_score(truth, drawn.complete), abs=0.015)


@pytest.mark.parametrize(
    "noise", [GaussianNoise(0.03, 0.25), GaussianNoise(0.3, 0.25), GaussianNoise(0.2), UniformNoise(0.1)]
)
def test_probability_that_a_ranking_stays(noise):
    pairs = np.random.default_rng(0).random((30, 2))
    two = RankingOracle(lambda X: X, noise, FiniteFeatures(pairs))
    kept = two.preference_probability(pairs).max(axis=(1, 2))
    assert noise.probability_unchanged(pairs) == pytest.approx(kept, abs=1e-10)
    for k in (3, 5):  # equal scores: all orders are alike
        assert noise.probability_unchanged(np.full((1, k), 0.4))[0] == pytest.approx(1 / math.factorial(k), abs=1e-10)
    scores = np.random.default_rng(1).uniform(0.25, 0.75, (5, 4))
    rng = np.random.default_rng(2)
    drawn = [noise.disturb(np.tile(row, (20_000, 1)), rng)[1] for row in scores]
    truth = identity().m(scores)
    places = np.argsort(np.argsort(-truth, axis=1), axis=1) + 1
    shares = [(one == place).all(axis=1).mean() for one, place in zip(drawn, places, strict=True)]
    assert np.abs(noise.probability_unchanged(scores) - shares).max() < 0.015


def test_own_noise_is_sampled():
    known, own = GaussianNoise(0.1), lambda scores, rng: scores + 0.1 * rng.standard_normal(scores.shape)
    exact, sampled = (identity(noise).preference_probability(POINTS) for noise in (known, own))
    assert np.abs(exact - sampled).max() < 0.06
    assert identity(own).alpha() == pytest.approx(identity(known).alpha(), abs=0.02)
    assert identity(own).beta() == pytest.approx(identity(known).beta(), abs=0.02)


def test_without_noise():
    oracle = identity()
    X, y = oracle.sample(50, random_state=0)
    assert np.array_equal(y.positions, oracle.ranking(X))
    assert (oracle.alpha(), oracle.beta(), oracle.phi()) == (0.0, pytest.approx(1.0), 1.0)
    assert np.array_equal(oracle.median(POINTS), oracle.ranking(POINTS))


def test_observed_pairs():
    oracle = identity(survival=lambda X: X)
    assert oracle.observation_probability(POINTS)[0, 0, 1] == pytest.approx(0.7 * 0.3)
    assert oracle.phi() == pytest.approx(0.3 * 0.35)  # the lowest two of the second row
    # Row 1 sorts into places 1, 4, 2, 3.
    assert identity(partition=(1, 2, 1)).observation_probability(POINTS)[0, 2].tolist() == [1.0, 1.0, 1.0, 0.0]
    halves = identity(partition="random").observation_probability(POINTS)[0, 0]
    assert halves.tolist() == [1.0, 1 - 0.5**3, 0.5, 1 - 0.5**2]
    function = identity(partition=lambda rng, X, k: [(1, 3) if row[0] > 0.6 else (3, 1) for row in X])
    seen = function.observation_probability(POINTS)
    assert [seen[0, 1, 2], seen[0, 0, 1], seen[1, 1, 3], seen[1, 0, 3]] == [0.0, 1.0, 0.0, 1.0]


@pytest.mark.parametrize(("on", "law"), [("places", naive.mallows_law), ("names", naive.mallows_on_names_law)])
def test_ties_under_mallows_noise_by_enumeration(on, law):
    found = identity(MallowsNoise(0.8, on), partition=(2, 1, 1)).observation_probability(POINTS)
    blocks = naive.block_of_place((2, 1, 1))
    for row, center in enumerate(identity().ranking(POINTS)):
        apart = naive.expected_over_pairs(
            law(tuple(center.astype(int)), 0.8), lambda a, b: float(blocks[a - 1] != blocks[b - 1])
        )
        assert found[row] == pytest.approx(apart + np.eye(4), abs=1e-12)


def test_noise_on_names_moves_the_median():
    # Names that lie side by side are exchanged most, wherever they stand in the ranking.
    oracle = identity(MallowsNoise(0.2, "names"))
    assert not np.array_equal(oracle.median(POINTS), oracle.ranking(POINTS))
    assert np.array_equal(identity(MallowsNoise(0.2)).median(POINTS), oracle.ranking(POINTS))


def test_fresh_rows_of_the_same_scores():
    oracle = RankingOracle.sparse(30, 4, 3, noise=GaussianNoise(0.05), survival=0.7, random_state=1)
    X, y = oracle.sample(200, random_state=2)
    again, same = oracle.sample(200, random_state=2)
    assert np.array_equal(X, again)
    assert y == same
    assert not np.array_equal(X, oracle.sample(200, random_state=3)[0])
    clean = replace(oracle, noise=None)
    assert np.array_equal(clean.sample(200, random_state=2)[0], X)
    assert np.array_equal(np.isnan(clean.sample(200, random_state=2)[1].positions), np.isnan(y.positions))
    assert clean.m is oracle.m
    assert oracle.observe(X, random_state=0) == oracle.observe(X, random_state=0)


@pytest.mark.parametrize("design", ["own", "shared"])
def test_sparse_designs(design):
    oracle = RankingOracle.sparse(12, 3, 4, design=design, random_state=0)
    rows, _ = BinaryFeatures(12).support()
    scores = oracle.scores(rows)
    assert scores.min(axis=0) == pytest.approx(0.25)
    assert scores.max(axis=0) == pytest.approx(0.75)
    weights = oracle.m.weights
    for label in range(3):
        matters = [not np.allclose(scores[rows[:, f] == 0, label], scores[rows[:, f] == 1, label]) for f in range(12)]
        assert np.flatnonzero(matters).tolist() == oracle.m.informative[label].tolist()
    if design == "own":
        assert weights.min() == 0
    else:
        assert weights.min() < 0 < weights.max()
        assert len({tuple(features) for features in oracle.m.informative}) == 1
        assert len(oracle.m.informative[0]) == 4


def test_families_of_the_paper():
    for preset, d in {"SFN": 100, "LFN": 1000}.items():
        oracle = RankingOracle.sparse(preset=preset, design="shared", random_state=0)
        assert oracle.m.weights.shape == (5, d)
        assert oracle.sample(3, random_state=0)[0].shape == (3, d)
        assert np.count_nonzero(oracle.m.weights.any(axis=0)) == 5


def test_generators_hand_out_their_oracle():
    X, y, bunch = make_sparse_label_ranking(300, 20, noise="mallows", theta=1.0, random_state=0)
    assert np.array_equal(bunch.oracle.ranking(X), bunch.noiseless.positions)
    assert np.array_equal(bunch.oracle.scores(X), bunch.scores)
    X, y, bunch = make_cell_label_ranking(100, setting=2, random_state=0)
    assert np.array_equal(bunch.oracle.ranking(X), y.positions)
    fresh, rankings = bunch.oracle.sample(100, random_state=1)
    assert set(np.unique(fresh[:, 1])) == {0.0, 1.0, 2.0}
    assert np.array_equal(rankings.positions, bunch.oracle.ranking(fresh))


def test_random_state_determines_the_draws_of_phi():
    oracle = identity(GaussianNoise(0.3), partition=(1, 3))
    first, again, other = (oracle.phi(random_state=seed) for seed in (0, 0, 1))
    assert first == again != other
    assert first == oracle.observation_probability(POINTS, random_state=0).min()
    drawn, same = oracle.draw(POINTS, 0), oracle.observe(POINTS, 0)
    assert np.array_equal(drawn.observed.positions, same.positions)


def test_feature_laws():
    rows, shares = BinaryFeatures(3, [0.1, 0.5, 0.8]).support()
    assert shares.sum() == pytest.approx(1)
    assert shares @ rows == pytest.approx([0.1, 0.5, 0.8])
    X = BinaryFeatures(3, [0.1, 0.5, 0.8]).sample(5000, np.random.default_rng(0))
    assert np.abs(X.mean(axis=0) - [0.1, 0.5, 0.8]).max() < 0.03
    drawn = FiniteFeatures(POINTS, [2, 0, 2]).sample(1000, np.random.default_rng(0))
    assert abs((drawn == POINTS[0]).all(axis=1).mean() - 0.5) < 0.05
    assert not (drawn == POINTS[1]).all(axis=1).any()
    assert np.array_equal(BinaryFeatures(3).sample(9, 1), BinaryFeatures(3).sample(9, random_state=1))
    own = RankingOracle(lambda X: X, features=lambda n, rng: rng.random((n, 2)))
    assert own.sample(7, random_state=0)[0].shape == (7, 2)
    assert 0 < RankingOracle(lambda X: X, UniformNoise(0.2), lambda n, rng: rng.random((n, 2))).alpha() < 0.5


def test_functions_with_other_arguments_are_told_theirs():
    swapped = identity(lambda rng, scores: scores + rng.standard_normal(scores.shape))
    with pytest.raises(
        TypeError, match=r"noise failed with AttributeError: .* called as noise\(scores, rng\)"
    ) as caught:
        swapped.sample(3, random_state=0)
    assert isinstance(caught.value.__cause__, AttributeError)
    for features in (lambda rng, size: rng.random((size, 2)), lambda size: np.zeros((size, 2))):
        with pytest.raises(TypeError, match=r"features failed with .* called as features\(size, rng\)") as caught:
            RankingOracle(lambda X: X, features=features).sample(3, random_state=0)
        assert caught.value.__cause__ is not None


@pytest.mark.parametrize("noise", [None, MallowsNoise(1.0), GaussianNoise(0.0)])
def test_equal_scores_without_noise_on_them_are_told(noise):
    oracle, message = identity(noise), r"equal scores in 1 of 3 rows, the first \[0.5, 0.5, 0.5, 0.26\]; .* item order"
    with pytest.warns(UserWarning, match=message):
        oracle.observe(POINTS, 0)
    with pytest.warns(UserWarning, match=message):
        oracle.preference_probability(POINTS)
    with pytest.warns(UserWarning, match="Make the scores differ"):
        oracle.sample(50, random_state=0)


@pytest.mark.filterwarnings("error")
def test_equal_scores_matter_to_the_noiseless_ranking_alone_if_noise_parts_them():
    oracle = identity(GaussianNoise(0.1))
    oracle.sample(50, random_state=0)
    oracle.preference_probability(POINTS)
    for call in (oracle.ranking, oracle.alpha, oracle.beta):
        with pytest.warns(UserWarning, match="m gives items equal scores in 1 of 3 rows") as told:
            call(POINTS)
        assert len(told) == 1
        call(POINTS[:2])


def test_finite_features_take_counts_and_are_printed_short():
    law = FiniteFeatures(POINTS, [0.3, 0.3, 0.0])
    assert law.support()[1].tolist() == [0.5, 0.5]
    assert repr(law) == "FiniteFeatures(3 rows of 4 features)"


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: RankingOracle(1, features=2), "m is 1; give a function"),
        (lambda: RankingOracle(lambda X: X), "features is missing"),
        (lambda: RankingOracle(lambda X: X, features="bits"), "features is 'bits'"),
        (lambda: RankingOracle(lambda X: X, "gaussian", features=2), "noise is 'gaussian'; give None, GaussianNoise"),
        (lambda: RankingOracle(lambda X: X[:, 0], features=2).sample(3), r"m returned scores of shape \(3,\)"),
        (lambda: RankingOracle(lambda X: X * np.nan, features=2).sample(3), "with NaN for 3 rows"),
        (lambda: RankingOracle(lambda X: X, lambda s, rng: s[:1], 2).sample(3), r"noise returned .* shape \(1, 2\)"),
        (lambda: RankingOracle(lambda X: X, features=lambda n, rng: [0.0]).sample(3), "should return 3 rows"),
        (lambda: RankingOracle(lambda X: X, features=2).sample(0), "n is 0"),
        (lambda: RankingOracle(lambda X: X, features=4).ranking([[1, 0]]), r"shape \(1, 2\); .* the 4 features"),
        (lambda: identity().ranking([[1, 0, 2]]), r"shape \(1, 3\); .* the 4 features of this oracle"),
        (lambda: identity().ranking(POINTS[0]), r"X has shape \(4,\); give one row per sample"),
        (lambda: MallowsNoise(1.0, "items"), "on is 'items'"),
        (lambda: MallowsNoise(-1.0), "theta is -1.0"),
        (lambda: GaussianNoise(-1.0), "noise_scale is -1.0"),
        (lambda: RankingOracle.sparse(design="mine"), "design is 'mine'"),
        (lambda: RankingOracle.sparse(4, design="shared"), "n_informative is 5, but there are 4 features"),
        (lambda: BinaryFeatures(30).support(), r"2\^30 corners"),
        (lambda: BinaryFeatures(2, 1.0), "probability is 1.0"),
        (lambda: FiniteFeatures([1.0]), r"rows has shape \(1,\)"),
        (lambda: FiniteFeatures([[1.0]], [0.0]), "all probabilities are 0"),
        (lambda: identity(partition="halves").observation_probability(POINTS), "partition is 'halves'"),
    ],
)
def test_bad_parts_are_named(call, error):
    with pytest.raises((TypeError, ValueError), match=error):
        call()
