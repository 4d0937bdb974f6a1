"""Plackett-Luce: against its definition, its maximum, its law, published values, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import chisquare

from rankwise import Rankings
from rankwise._validation import read_only
from rankwise.aggregation import _likelihood, _likelihood_jit
from rankwise.aggregation.plackett_luce import PlackettLuce
from tests.naive import choice as naive
from tests.strategies import KINDS, position_matrices, random_positions

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "choice.json").read_text("utf-8"))
TIES = np.array([0.7, 0.0, 0.4])  # ties of two and four items


def set_up(positions: np.ndarray, log_worth: np.ndarray, ties: np.ndarray) -> PlackettLuce:
    """A model with given parameters."""
    model = PlackettLuce(alpha=1.0).fit(positions)
    model.log_worth_, model.tie_strength_ = log_worth, ties
    return model


def few_ties(positions: np.ndarray, most: int = 4) -> bool:
    return all(len(bucket) <= most for row in positions for bucket, _ in naive.stages(row))


def simulated(n: int = 300, k: int = 5, ties: tuple[float, ...] = (), seed: int = 0) -> tuple[np.ndarray, Rankings]:
    log_worth = np.linspace(1, -1, k)
    model = set_up(np.ones((1, 1)) * np.arange(1, k + 1), log_worth, np.array(ties))
    return log_worth, model.sample(n, random_state=seed)


# The likelihood


@settings(max_examples=50)
@given(position_matrices(min_items=2), st.integers(0, 2**32 - 1))
def test_log_probabilities_equal_their_definition(positions: np.ndarray, seed: int) -> None:
    assume(few_ties(positions))
    log_worth = np.random.default_rng(seed).normal(size=positions.shape[1])
    model = set_up(positions, log_worth, TIES)
    expected = [naive.log_probability(row, log_worth, TIES) for row in positions]
    np.testing.assert_allclose(model.logpmf(positions), expected, atol=1e-10)


@pytest.mark.parametrize("ties", [(), (0.8,), (0.5, 1.5)])
def test_probabilities_of_all_rankings_sum_to_one(ties: tuple[float, ...]) -> None:
    rankings = np.array(naive.all_bucket_orders(4, len(ties) + 1), dtype=float)
    model = set_up(rankings[:1], np.array([0.5, -1.0, 0.0, 2.0]), np.array(ties))
    assert np.exp(model.logpmf(rankings)).sum() == pytest.approx(1, abs=1e-12)


def test_a_top_k_ranking_sums_up_all_that_begin_like_it() -> None:
    rankings = np.array(naive.all_bucket_orders(4, 2), dtype=float)
    model = set_up(rankings[:1], np.array([0.5, -1.0, 0.0, 2.0]), np.array([0.6]))
    alone = ((rankings == 1).sum(axis=1) == 1) & ((rankings == 2).sum(axis=1) == 1)
    extensions = rankings[alone & (rankings[:, 2] == 1) & (rankings[:, 0] == 2)]
    assert len(extensions) == 3  # two orders of the rest, and their tie
    total = np.log(np.exp(model.logpmf(extensions)).sum())
    assert model.logpmf([[2, np.inf, 1, np.inf]])[0] == pytest.approx(total)


@pytest.mark.parametrize("kind", KINDS)
def test_gradient_and_information_equal_finite_differences(kind: str) -> None:
    rng = np.random.default_rng(3)
    k = 5
    positions = random_positions(rng, 8, k, kind)
    positions = positions[[few_ties(row[None]) for row in positions]]
    weights = read_only(rng.integers(0, 4, len(positions)).astype(float))
    flat = _likelihood_jit.flatten(read_only(positions))
    theta = rng.normal(size=k + 3) / 2
    log_tie = np.array([0.0, *theta[k:]])
    value, gradient, information = _likelihood_jit.tied_moments(*flat, weights, theta[:k], log_tie, True)

    def definition(theta: np.ndarray) -> float:
        return naive.log_likelihood(positions, weights, theta[:k], np.exp(theta[k:]))

    assert value == pytest.approx(definition(theta))
    np.testing.assert_allclose(gradient, naive.gradient(definition, theta), atol=1e-6)
    np.testing.assert_allclose(information, naive.information(definition, theta), atol=2e-5)


@given(st.integers(0, 2**32 - 1), st.integers(2, 12), st.floats(0, 1))
def test_strict_moments_are_those_of_a_model_without_ties(seed: int, k: int, gone: float) -> None:
    rng = np.random.default_rng(seed)
    positions = np.argsort(rng.random((8, k)), axis=1) + 1.0
    positions[rng.random((8, k)) < gone] = np.nan
    positions[(rng.random((8, k)) < 0.3) & ~np.isnan(positions)] = np.inf
    rankings = Rankings(positions, weights=rng.integers(0, 3, 8))
    order, row_start, size, stage_start = _likelihood_jit.flatten(rankings.positions)
    log_worth = rng.normal(size=k) * 3
    strict = _likelihood_jit.strict_moments(order, row_start, stage_start, rankings.weights, log_worth, True)
    tied = _likelihood_jit.tied_moments(
        order, row_start, size, stage_start, rankings.weights, log_worth, np.zeros(1), True
    )
    for one, other in zip(strict, tied, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)
    no_information = _likelihood_jit.strict_moments(order, row_start, stage_start, rankings.weights, log_worth, False)
    assert no_information[0] == strict[0]
    np.testing.assert_array_equal(no_information[1], strict[1])


def test_the_likelihood_of_many_items_does_not_overflow() -> None:
    k = 400  # the product of what is left at each stage is 400!
    positions = np.arange(1.0, k + 1)[np.newaxis]
    flat = _likelihood_jit.flatten(read_only(positions))
    for log_worth in (np.zeros(k), np.linspace(150, -150, k)):
        left = np.logaddexp.accumulate(log_worth[::-1])[::-1]
        value = _likelihood_jit.strict_moments(flat[0], flat[1], flat[3], read_only(np.ones(1)), log_worth, False)[0]
        assert value == pytest.approx(np.sum(log_worth - left))
        assert _likelihood_jit.log_probabilities(*flat, log_worth, np.zeros(1))[0] == pytest.approx(value)


# The maximum


@pytest.mark.parametrize("alpha", [0.0, 0.5])
@pytest.mark.parametrize("kind", KINDS)
def test_the_fit_is_the_maximum_of_the_definition(kind: str, alpha: float) -> None:
    rng = np.random.default_rng(5)
    k = 4
    positions = random_positions(rng, 16, k, kind)
    weights = rng.integers(0, 3, len(positions)).astype(float)
    model = PlackettLuce(alpha=alpha).fit(positions, sample_weight=weights)
    sizes = [t for t, strength in enumerate(model.tie_strength_) if strength > 0]

    def loss(theta: np.ndarray) -> float:
        ties = np.zeros(len(model.tie_strength_))
        ties[sizes] = np.exp(theta[k:])
        value = naive.log_likelihood(positions, weights, theta[:k], ties)
        return -value + alpha / 2 * theta @ theta + (theta[:k].mean() ** 2)

    found = minimize(loss, np.zeros(k + len(sizes)), method="BFGS", options={"gtol": 1e-7})
    np.testing.assert_allclose(model.log_worth_, found.x[:k], atol=1e-4)
    np.testing.assert_allclose(np.log(model.tie_strength_[sizes]), found.x[k:], atol=1e-4)
    without_prior = naive.log_likelihood(positions, weights, model.log_worth_, model.tie_strength_)
    assert model.log_likelihood_ == pytest.approx(without_prior)
    theta = np.concatenate([model.log_worth_, np.log(model.tie_strength_[sizes])])

    def penalized(theta: np.ndarray) -> float:
        return -loss(theta) + theta[:k].mean() ** 2

    inverse = np.linalg.pinv(naive.information(penalized, theta), rcond=1e-5)
    center = np.eye(k) - 1 / k
    np.testing.assert_allclose(model.covariance_, center @ inverse[:k, :k] @ center, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(model.se_, np.sqrt(np.diag(model.covariance_)))


@pytest.mark.parametrize("rate", [0.4, 3.0])
@pytest.mark.parametrize("kind", KINDS)
def test_the_fit_with_a_gamma_prior_is_the_mode_of_the_posterior_of_the_worths(kind: str, rate: float) -> None:
    rng = np.random.default_rng(6)
    k, alpha = 4, 0.7
    positions = random_positions(rng, 10, k, kind)
    weights = rng.integers(0, 3, len(positions)).astype(float)
    model = PlackettLuce(alpha=alpha, prior_law="gamma").fit(positions, sample_weight=weights)
    sizes = [t for t, strength in enumerate(model.tie_strength_) if strength > 0]

    def log_posterior(theta: np.ndarray) -> float:
        # The rate of the gamma law of the worths sets their scale, which the likelihood does not know.
        ties = np.zeros(len(model.tie_strength_))
        ties[sizes] = np.exp(theta[k:])
        value = naive.log_likelihood(positions, weights, theta[:k], ties)
        return value + alpha * np.sum(theta) - rate * np.sum(np.exp(theta[:k])) - alpha * np.sum(ties)

    start = np.zeros(k + len(sizes))
    found = minimize(lambda theta: -log_posterior(theta), start, method="BFGS", options={"gtol": 1e-7}).x
    np.testing.assert_allclose(model.log_worth_, found[:k] - found[:k].mean(), atol=1e-4)
    np.testing.assert_allclose(np.log(model.tie_strength_[sizes]), found[k:], atol=1e-4)
    inverse = np.linalg.inv(naive.information(log_posterior, found))
    center = np.eye(k) - 1 / k
    np.testing.assert_allclose(model.covariance_, center @ inverse[:k, :k] @ center, rtol=1e-3, atol=1e-4)


def test_a_gamma_prior_is_a_first_place_for_every_item() -> None:
    _, rankings = simulated(30, 5)
    first = np.where(np.eye(5) == 1, 1.0, np.inf)
    more = Rankings(np.vstack([rankings.positions, first]), weights=[1.0] * 30 + [0.4] * 5)
    model = PlackettLuce(alpha=0.4, prior_law="gamma").fit(rankings)
    counted = PlackettLuce(weight_kind="counts").fit(more)
    np.testing.assert_allclose(model.log_worth_, counted.log_worth_, atol=1e-7)
    np.testing.assert_allclose(model.covariance_, counted.covariance_, atol=1e-7)


@pytest.mark.parametrize("law", ["normal", "gamma"])
def test_with_a_prior_every_graph_of_comparisons_fits(law: str) -> None:
    nan = np.nan
    apart = Rankings([[1, 2, nan, nan, nan], [nan, nan, nan, 2, 1]], items=["a", "b", "nobody", "x", "y"])
    model = PlackettLuce(alpha=0.1, prior_law=law).fit(apart)
    worth = dict(zip(model.items_, model.log_worth_, strict=True))
    assert worth["a"] == pytest.approx(worth["y"])
    assert worth["a"] > worth["nobody"] > worth["b"]
    assert np.isfinite(model.se_).all()
    assert model.components_ == (("a", "b"), ("x", "y"), ("nobody",))
    assert np.isfinite(PlackettLuce(alpha=0.1, prior_law=law).fit([[1, 1, 1]]).tie_strength_).all()
    joined = PlackettLuce(alpha=0.1, prior_law=law).fit([[1, 2, nan], [nan, 1, 2]])
    assert joined.components_ == ((0, 1, 2),)


def test_stronger_priors_draw_the_worths_together() -> None:
    _, rankings = simulated(20)
    for law in ("normal", "gamma"):
        spread = [np.ptp(PlackettLuce(alpha=p, prior_law=law).fit(rankings).log_worth_) for p in (0, 0.5, 5, 500)]
        assert np.all(np.diff(spread) < 0)
        assert spread[-1] < 0.1


@pytest.mark.parametrize("ties", [(), (0.8,), (0.6, 0.9)])
def test_parameters_are_recovered_within_their_errors(ties: tuple[float, ...]) -> None:
    truth, rankings = simulated(4000, 6, ties, seed=11)
    model = PlackettLuce().fit(rankings)
    assert np.all(np.abs(model.log_worth_ - truth) < 3.5 * model.se_)
    assert model.se_.max() < 0.06
    np.testing.assert_allclose(model.tie_strength_, ties, rtol=0.1)


def test_standard_errors_are_those_of_repeated_samples() -> None:
    truth = np.linspace(1, -1, 5)
    errors, stated = [], []
    for seed in range(150):
        model = PlackettLuce().fit(simulated(150, seed=seed)[1])
        errors.append(model.log_worth_ - truth)
        stated.append(model.se_)
    ratio = np.std(errors, axis=0) / np.mean(stated, axis=0)
    assert np.all(np.abs(ratio - 1) < 0.2)  # 150 samples estimate a deviation to 6 percent


def test_top_k_data_lead_to_the_same_worths() -> None:
    truth, rankings = simulated(5000, 6, seed=2)
    top = np.where(rankings.positions <= 3, rankings.positions, np.inf)
    model = PlackettLuce().fit(top)
    assert np.all(np.abs(model.log_worth_ - truth) < 3.5 * model.se_)
    wrong = PlackettLuce().fit(np.where(rankings.positions <= 3, rankings.positions, np.nan))
    assert np.abs((wrong.log_worth_ - truth) / wrong.se_).max() > 5  # unlisted is not missing


def test_gradients_alone_find_the_same_maximum(monkeypatch: pytest.MonkeyPatch) -> None:
    for ties in ((), (0.7,)):
        _, rankings = simulated(300, ties=ties)
        options = {"alpha": 0.3, "prior_law": "gamma"} if ties else {}
        newton = PlackettLuce(**options).fit(rankings)
        with monkeypatch.context() as patch:
            patch.setattr(_likelihood, "MOST_WITH_INFORMATION", 1)
            other = PlackettLuce(**options).fit(rankings)
        np.testing.assert_allclose(other.log_worth_, newton.log_worth_, atol=1e-5)
        np.testing.assert_allclose(other.tie_strength_, newton.tie_strength_, atol=1e-5)
        assert other.covariance_ is None
        assert np.isnan(other.se_).all()


def test_too_few_iterations_warn() -> None:
    from sklearn.exceptions import ConvergenceWarning

    with pytest.warns(ConvergenceWarning, match="no maximum was reached in 1 iterations"):
        PlackettLuce(max_iter=1).fit(simulated()[1])


def test_too_few_iterations_of_gradients_warn(monkeypatch: pytest.MonkeyPatch) -> None:
    from sklearn.exceptions import ConvergenceWarning

    monkeypatch.setattr(_likelihood, "MOST_WITH_INFORMATION", 1)
    with pytest.warns(ConvergenceWarning, match="no maximum was reached in 1 iterations"):
        PlackettLuce(max_iter=1).fit(simulated()[1])


def test_steps_that_lose_are_halved() -> None:
    def parabola(theta: np.ndarray, with_information: bool) -> tuple[float, np.ndarray, np.ndarray]:
        return -float(theta @ theta), -2 * theta, 2 * np.eye(1)

    theta, _ = _likelihood._line_search(parabola, np.array([1.0]), -1.0, np.array([-3.0]))
    assert theta.tolist() == [-0.5]  # the full step would end at -2
    theta, _ = _likelihood._line_search(parabola, np.array([1.0]), 5.0, np.array([-3.0]))
    assert theta.tolist() == [1.0]  # no step reaches 5, so none is made


# Laws


@settings(max_examples=30)
@given(position_matrices(min_items=2), st.data())
def test_laws_of_the_fit(positions: np.ndarray, data: st.DataObject) -> None:
    assume(few_ties(positions))
    n, k = positions.shape
    weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), dtype=float)
    model = PlackettLuce(alpha=0.3).fit(positions, sample_weight=weights)
    assert model.log_worth_.mean() == pytest.approx(0, abs=1e-12)

    copies = PlackettLuce(alpha=0.3).fit(np.repeat(positions, weights.astype(int), axis=0))
    np.testing.assert_allclose(copies.log_worth_, model.log_worth_, atol=1e-7)
    np.testing.assert_allclose(copies.se_, model.se_, atol=1e-7)

    new = np.array(data.draw(st.permutations(range(k))))
    relabeled = PlackettLuce(alpha=0.3).fit(positions[:, new], sample_weight=weights)
    np.testing.assert_allclose(relabeled.log_worth_, model.log_worth_[new], atol=1e-7)

    nobody = np.column_stack([positions, np.full(n, np.nan)])
    more = PlackettLuce(alpha=0.3).fit(nobody, sample_weight=weights)
    assert more.log_likelihood_ <= 1e-9 + model.log_likelihood_ + 1e-6 * abs(model.log_likelihood_)
    np.testing.assert_allclose(more.log_worth_[:k] - more.log_worth_[:k].mean(), model.log_worth_, atol=1e-6)
    assert more.log_worth_[k] == pytest.approx(more.log_worth_[:k].mean(), abs=1e-6)


def test_a_missing_item_is_an_absent_one() -> None:
    _, rankings = simulated(200, 4)
    padded = np.column_stack([rankings.positions, np.full(200, np.nan)])
    with pytest.raises(ValueError, match=r"never compared with each other: \{0, 1, 2, 3\}, \{4\}"):
        PlackettLuce().fit(padded)
    kept = PlackettLuce().fit(Rankings(padded).select([0, 1, 2, 3]))
    np.testing.assert_allclose(kept.log_worth_, PlackettLuce().fit(rankings).log_worth_)


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_the_scale_of_counts_changes_errors_alone(scale: float) -> None:
    for ties in ((), (0.7,)):
        _, rankings = simulated(100, ties=ties)
        model = PlackettLuce().fit(rankings)
        scaled = PlackettLuce(weight_kind="counts").fit(rankings, sample_weight=np.full(100, scale))
        np.testing.assert_allclose(scaled.log_worth_, model.log_worth_, atol=1e-7)
        np.testing.assert_allclose(scaled.se_ * np.sqrt(scale), model.se_, rtol=1e-5)


def test_rankings_of_pairs_are_bradley_terry() -> None:
    # Three of four comparisons are won: the worths differ by log 3.
    golden = GOLDEN["by_hand"]
    model = PlackettLuce().fit(Rankings([[1, 2], [2, 1]], weights=[3, 1]))
    np.testing.assert_allclose(model.log_worth_, golden["log_worth"])
    np.testing.assert_allclose(model.se_, golden["se"], rtol=1e-5)


def test_rows_that_compare_nothing_change_nothing() -> None:
    _, rankings = simulated(100, 4)
    silent = [[np.nan] * 4, [np.inf] * 4, [np.nan, 1, np.nan, np.nan]]
    model = PlackettLuce().fit(np.vstack([rankings.positions, silent]))
    np.testing.assert_allclose(model.log_worth_, PlackettLuce().fit(rankings).log_worth_)
    np.testing.assert_array_equal(model.logpmf(silent), [0, 0, 0])


# Published values


def test_the_puddings_of_davidson() -> None:
    golden = GOLDEN["pudding"]
    rows, weights = [], []
    for i, j, _, first, second, tied in golden["table"]:
        for a, b, weight in ((1, 2, first), (2, 1, second), (1, 1, tied)):
            row = np.full(6, np.nan)
            row[[i - 1, j - 1]] = a, b
            rows.append(row)
            weights.append(weight)
    model = PlackettLuce().fit(np.array(rows), sample_weight=weights)
    np.testing.assert_allclose(model.log_worth_, golden["log_worth"], atol=2e-4)
    np.testing.assert_allclose(model.se_, golden["se"], rtol=1e-3)
    assert np.log(model.tie_strength_[0]) == pytest.approx(golden["log_tie_strength"], abs=2e-4)
    assert -2 * model.log_likelihood_ == pytest.approx(golden["deviance"], abs=0.06)


def test_the_drivers_of_hunter(benchmark_data: Path) -> None:
    golden = GOLDEN["nascar2002"]
    path = benchmark_data / "preflib" / "classic" / "nascar2002_orderings.csv.gz"
    table = np.loadtxt(path, delimiter=",", skiprows=1, dtype=int)
    races = Rankings.from_orders(
        [[driver for driver in race if driver > 0] for race in table.tolist()],
        unlisted="missing",
        items=list(range(88)),
    ).select(list(range(1, 88)))
    with pytest.raises(ValueError, match=r"84 never came before.*would be zero.*prior"):
        PlackettLuce().fit(races)
    assert np.isfinite(PlackettLuce(alpha=0.1).fit(races).log_worth_).all()
    kept = races.select([item for item in races.items if item not in golden["always_last"]])
    model = PlackettLuce().fit(kept)
    mean_rank = np.nanmean(races.positions, axis=0)[: len(kept.items)]
    relative = (model.log_worth_ - model.log_worth_[0])[np.argsort(mean_rank, kind="stable")]
    np.testing.assert_allclose(relative[:3], golden["best"], atol=0.006)
    np.testing.assert_allclose(relative[-3:], golden["worst"], atol=0.006)


# Draws, mode, pairs


@pytest.mark.parametrize("ties", [(), (0.8,), (0.0, 1.5), (0.4, 0.3, 2.0)])
def test_draws_follow_their_law(ties: tuple[float, ...]) -> None:
    rankings = np.array(naive.all_bucket_orders(4, len(ties) + 1), dtype=float)
    model = set_up(rankings[:1], np.array([0.8, -0.5, 0.0, 0.3]), np.array(ties))
    probability = np.exp(model.logpmf(rankings))
    number = {tuple(row): i for i, row in enumerate(rankings.tolist())}
    n = 40_000
    draws = model.sample(n, random_state=8).positions
    counts = np.bincount([number[tuple(row)] for row in draws.tolist()], minlength=len(rankings))
    possible = probability > 0
    assert counts[~possible].sum() == 0
    assert chisquare(counts[possible], n * probability[possible]).pvalue > 1e-3


@pytest.mark.parametrize("ties", [(), (0.8,)])
def test_draws_have_names_and_seeds(ties: tuple[float, ...]) -> None:
    model = PlackettLuce(alpha=1.0).fit(Rankings([[1, 2, 3]], items=["a", "b", "c"]))
    model.tie_strength_ = np.array(ties)
    draws = model.sample(5, random_state=1)
    assert draws.items == ("a", "b", "c")
    assert draws == model.sample(5, random_state=1)
    assert model.sample(0).shape == (0, 3)
    assert model.sample().shape == (1, 3)


def test_the_mode_is_the_most_probable_ranking_without_ties() -> None:
    rankings = np.array(naive.all_bucket_orders(4, 1), dtype=float)
    for ties in ((), (0.9,)):
        model = set_up(rankings[:1], np.array([0.5, -1.0, 0.0, 2.0]), np.array(ties))
        best = rankings[np.argmax(model.logpmf(rankings))]
        np.testing.assert_array_equal(model.mode(), best)


def test_pairwise_probabilities_are_those_of_whole_rankings() -> None:
    rankings = np.array(naive.all_bucket_orders(4, 1), dtype=float)
    model = set_up(rankings[:1], np.array([0.5, -1.0, 0.0, 2.0]), np.zeros(0))
    probability = np.exp(model.logpmf(rankings))
    before = np.array([[probability @ (rankings[:, i] < rankings[:, j]) for j in range(4)] for i in range(4)])
    np.testing.assert_allclose(model.pairwise_probabilities(), before + np.eye(4) / 2)
    np.testing.assert_array_equal(model.tie_probabilities(), np.zeros((4, 4)))


def test_pairwise_probabilities_with_ties_are_those_of_the_pair_alone() -> None:
    model = set_up(np.array([[1.0, 2, 3]]), np.array([0.5, -1.0, 0.0]), np.array([0.6]))
    nan = np.nan
    win, loss, tie = np.exp(model.logpmf([[1, 2, nan], [2, 1, nan], [1, 1, nan]]))
    assert win + loss + tie == pytest.approx(1)
    assert model.pairwise_probabilities()[0, 1] == pytest.approx(win + tie / 2)
    assert model.tie_probabilities()[1, 0] == pytest.approx(tie)


# Bad input


def test_an_item_that_always_wins_is_named() -> None:
    rankings = Rankings.from_orders([["a", "b", "c"], ["a", "c", "b"]])
    with pytest.raises(ValueError, match=r"does not exist: a never came after.*alpha=0\.1"):
        PlackettLuce().fit(rankings)
    model = PlackettLuce(alpha=0.1).fit(rankings)
    assert model.mode().tolist() == [1, 2, 2]


def test_ties_alone_have_no_maximum() -> None:
    # All preferences are a chain of ties and one win that agrees: the worths may spread as far as they like.
    nan = np.nan
    rankings = [[1, 1, nan], [nan, 1, 1], [1, nan, 2]]
    with pytest.raises(ValueError, match=r"grow without bound.*prior"):
        PlackettLuce().fit(rankings)
    with pytest.raises(ValueError, match="grow without bound"):
        PlackettLuce(tol=0.01).fit([[1, 1, 2], [1, 2, 1], [2, 1, 1], [1, 1, 1]])
    assert np.isfinite(PlackettLuce(alpha=0.1).fit(rankings).tie_strength_).all()


@pytest.mark.parametrize(
    ("model", "rankings", "message"),
    [
        (PlackettLuce(), [[1, 2], [1, 2]], "0 never came after"),
        (PlackettLuce(), [[1, np.nan], [np.nan, 1]], "nothing of positive weight compares two items"),
        (PlackettLuce(), np.empty((0, 3)), "nothing of positive weight compares two items"),
        (PlackettLuce(), [[1], [1]], "only one"),
        (PlackettLuce(), [[6, 5, 4, 3, 2, 1], [1, 2, 2, 2, 2, 2]], r"ranking 1 ties 5 items.*unlisted \(inf\)"),
        (PlackettLuce(alpha=-1), [[1, 2]], "alpha is -1, but must be at least 0"),
        (PlackettLuce(alpha=np.nan), [[1, 2]], "alpha is nan"),
        (PlackettLuce(prior_law="beta"), [[1, 2]], "prior_law is 'beta'; choose 'normal' or 'gamma'"),
        (PlackettLuce(max_iter=0), [[1, 2]], "max_iter is 0"),
        (PlackettLuce(tol=0), [[1, 2]], "tol is 0"),
        (PlackettLuce(), [[0, 1]], "positions count from 1"),
    ],
)
def test_bad_fits(model: PlackettLuce, rankings: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        model.fit(rankings)


def test_the_row_of_a_large_tie_counts_rankings_without_weight() -> None:
    with pytest.raises(ValueError, match="ranking 2 ties 5"):
        PlackettLuce().fit([[1, 2, 3, 4, 5], [1] * 5, [1] * 5], sample_weight=[1, 0, 1])
    with pytest.raises(ValueError, match=r"sample_weight\[0\] is -1"):
        PlackettLuce().fit([[1, 2]], sample_weight=[-1])


def test_bad_questions_to_a_model() -> None:
    from sklearn.exceptions import NotFittedError

    for question in ("sample", "mode", "pairwise_probabilities", "tie_probabilities"):
        with pytest.raises(NotFittedError, match="this PlackettLuce is not fitted"):
            getattr(PlackettLuce(), question)()
    model = PlackettLuce(alpha=1.0).fit(Rankings([[1, 2, 3]], items=["a", "b", "c"]))
    with pytest.raises(ValueError, match="the rankings have 2 items, but the model knows 3"):
        model.logpmf([[1, 2]])
    with pytest.raises(ValueError, match="have the items c, b, a, but the model knows a, b, c"):
        model.logpmf(Rankings([[1, 2, 3]], items=["c", "b", "a"]))
    with pytest.raises(ValueError, match="n is -1"):
        model.sample(-1)
    model.tie_strength_ = np.array([0.5])
    with pytest.raises(ValueError, match="n is -1"):
        model.sample(-1)
    assert model.logpmf([[1, 1, 1]]).tolist() == [-np.inf]


@pytest.mark.parametrize("kind", KINDS)
def test_scores_equal_finite_differences_and_sum_to_zero(kind: str) -> None:
    positions = random_positions(np.random.default_rng(3), 12, 4, kind)
    model = PlackettLuce(alpha=0.3).fit(positions)
    scores = model.scores(positions)
    parameters = np.concatenate([model.log_worth_, np.log(model.tie_strength_[model.tie_strength_ > 0])])
    assert scores.shape == (12, len(parameters))
    np.testing.assert_allclose(scores.sum(axis=0), 0.3 * parameters, atol=1e-4)  # the prior is the rest of the gradient
    for item in range(4):
        values = []
        for step in (1e-6, -1e-6):
            moved = PlackettLuce(alpha=0.3).fit(positions)
            moved.log_worth_ = model.log_worth_ + step * (np.arange(4) == item)
            values.append(moved.logpmf(positions))
        np.testing.assert_allclose((values[0] - values[1]) / 2e-6, scores[:, item], atol=1e-6)


def test_scores_of_ties_that_the_fit_has_not_met_are_refused() -> None:
    model = PlackettLuce(alpha=1).fit([[1, 2, 3], [2, 1, 3]])
    with pytest.raises(ValueError, match="ties as many items as no ranking of the fit does"):
        model.scores([[1, 1, 2]])
