from __future__ import annotations

import numpy as np
import pytest

from rankwise.datasets import make_sparse_label_ranking, noise_scale_for
from tests.naive import datasets as naive


def test_sizes_and_presets():
    X, y, bunch = make_sparse_label_ranking(50, preset="LFN", random_state=0)
    assert X.shape == (50, 1000)
    assert y.shape == (50, 5)
    assert y.kind == "full"
    assert make_sparse_label_ranking(50, 1000, preset="LFN", random_state=0)[1] == y
    X, _, bunch = make_sparse_label_ranking(preset="SFN", random_state=0)
    assert X.shape == (10_000, 100)
    assert set(np.unique(X)) == {0, 1}
    assert abs(X.mean() - 0.5) < 0.005
    assert len(bunch.informative) == 5
    assert all(5 < len(features) <= 10 for features in bunch.informative)


def test_scores_are_linear_in_the_informative_features_and_scaled():
    X, _, bunch = make_sparse_label_ranking(500, random_state=1)
    np.testing.assert_allclose(bunch.scores.min(axis=0), 0.25)
    np.testing.assert_allclose(bunch.scores.max(axis=0), 0.75)
    for label, features in enumerate(bunch.informative):
        design = np.column_stack([np.ones(len(X)), X[:, features]])
        coefficients, residual, *_ = np.linalg.lstsq(design, bunch.scores[:, label], rcond=None)
        assert residual[0] < 1e-20
        assert np.all(coefficients[1:] > 0)


def test_the_highest_score_comes_first():
    _, y, bunch = make_sparse_label_ranking(300, noise="gaussian", noise_scale=0.1, random_state=2)
    rows = np.arange(300)
    for rankings, scores in ((bunch.noiseless, bunch.scores), (y, bunch.noisy_scores)):
        by_place = np.take_along_axis(scores, rankings.orders(), axis=1)
        assert np.all(np.diff(by_place, axis=1) <= 0)
        assert np.array_equal(rankings.positions[rows, scores.argmax(axis=1)], np.ones(300))


def test_equal_scores_stay_full_rankings_in_label_order():
    _, y, bunch = make_sparse_label_ranking(200, 3, 4, 1, random_state=0)
    tied = bunch.scores[:, 0] == bunch.scores[:, 1]
    assert tied.any()
    assert y.kind == "full"
    assert np.all(y.positions[tied, 0] < y.positions[tied, 1])


def test_features_of_the_user():
    X = np.random.default_rng(0).normal(size=(40, 7))
    used, y, bunch = make_sparse_label_ranking(X=X, n_items=3, random_state=0)
    assert np.array_equal(used, X)
    assert y.shape == (40, 3)
    assert max(max(features) for features in bunch.informative) < 7
    single = make_sparse_label_ranking(X=[[1.0, 0.0]], random_state=0)[2]
    assert np.array_equal(single.scores, np.full((1, 5), 0.5))


def test_without_noise_nothing_changes():
    _, y, bunch = make_sparse_label_ranking(200, random_state=0)
    assert (bunch.alpha, bunch.beta) == (0.0, 1.0)
    assert y == bunch.noiseless == bunch.complete
    same = make_sparse_label_ranking(200, noise="gaussian", survival=1.0, partial=(1,) * 5, random_state=0)[1]
    assert same == y


@pytest.mark.parametrize(
    "noise",
    [
        {"noise": "gaussian", "noise_scale": 0.05},
        {"noise": "uniform", "noise_scale": 0.1},
        {"noise": "mallows", "theta": 1.4},
    ],
)
def test_alpha_and_beta_equal_their_definitions(noise):
    X, y, bunch = make_sparse_label_ranking(400, **noise, random_state=5)
    clean_X, clean, _ = make_sparse_label_ranking(400, random_state=5)
    assert np.array_equal(X, clean_X)
    assert bunch.noiseless == clean
    distances = [naive.kendall_distance(a, b) for a, b in zip(clean, y, strict=True)]
    assert bunch.alpha == pytest.approx(np.mean(np.array(distances) > 0))
    assert bunch.beta == pytest.approx(np.mean([1 - 2 * d / 10 for d in distances]))
    assert 0 < bunch.alpha < 1
    if noise["noise"] == "mallows":
        assert bunch.noisy_scores is None
    else:
        assert np.abs(bunch.noisy_scores - bunch.scores).max() <= 0.25


@pytest.mark.parametrize("theta", [0.6, 1.4, 4.4])
def test_alpha_of_mallows_noise_is_one_minus_the_mode(theta):
    alpha = make_sparse_label_ranking(4000, 20, noise="mallows", theta=theta, random_state=0)[2].alpha
    mode = naive.mallows_law((1, 2, 3, 4, 5), theta)[(1, 2, 3, 4, 5)]
    assert abs(alpha - (1 - mode)) < 4 * np.sqrt(mode * (1 - mode) / 4000)


def test_gaussian_noise_is_truncated_not_clipped():
    _, _, bunch = make_sparse_label_ranking(4000, noise="gaussian", noise_scale=50.0, random_state=0)
    noise = bunch.noisy_scores - bunch.scores
    # So wide a Gaussian is uniform between the limits.
    assert abs(noise.mean()) < 0.004
    assert abs(noise.std() - 0.25 / np.sqrt(3)) < 0.002
    narrow = make_sparse_label_ranking(4000, noise="gaussian", noise_scale=0.02, random_state=0)[2]
    assert abs((narrow.noisy_scores - narrow.scores).std() - 0.02) < 0.0005


def test_mechanisms_work_on_the_noisy_ranking():
    _, y, bunch = make_sparse_label_ranking(
        1000, noise="mallows", theta=1.0, survival=[0.2, 1, 1, 1, 0.7], partial=(2, 3), random_state=0
    )
    assert y.kind == "incomplete"
    top = bunch.complete.positions <= 2
    seen = ~np.isnan(y.positions)
    both = top.any(axis=1) & (seen & top).any(axis=1)
    assert np.all(y.positions[both][(seen & top)[both]] == 1)
    assert abs(seen[:, 0].mean() - 0.2) < 0.06
    # Alpha and beta speak of the noise alone, whatever is hidden afterwards.
    plain = make_sparse_label_ranking(1000, noise="mallows", theta=1.0, random_state=0)[2]
    assert plain.complete == bunch.complete
    assert 0.5 < plain.alpha == bunch.alpha < 1
    assert 0 < plain.beta == bunch.beta < 1


def test_partition_as_a_function_of_the_features():
    def sizes(rng, X, k):
        return [(k,) if x else (1,) * k for x in X[:, 0]]

    X, y, bunch = make_sparse_label_ranking(500, partial=sizes, random_state=0)
    tied = X[:, 0] == 1
    assert np.all(y.positions[tied] == 1)
    assert np.array_equal(y.positions[~tied], bunch.complete.positions[~tied])


def test_survival_as_a_function_of_the_features():
    X, y, _ = make_sparse_label_ranking(500, survival=lambda X: np.tile(X[:, :1], (1, 5)), random_state=0)
    assert np.array_equal(np.isnan(y.positions).all(axis=1), X[:, 0] == 0)


@pytest.mark.parametrize("noise", ["gaussian", "uniform"])
@pytest.mark.parametrize("alpha", [0.0, 0.05, 0.4])
def test_noise_scale_gives_the_wanted_share(noise, alpha):
    clean = make_sparse_label_ranking(3000, random_state=0)[2]
    scale = noise_scale_for(alpha, clean.scores, noise=noise, random_state=1)
    noisy = make_sparse_label_ranking(3000, noise=noise, noise_scale=scale, random_state=0)[2]
    assert abs(noisy.alpha - alpha) <= 4 * np.sqrt(alpha * (1 - alpha) / 1500)
    assert scale == noise_scale_for(alpha, clean.scores, noise=noise, random_state=1)


def test_share_that_bounded_noise_cannot_reach():
    with pytest.raises(ValueError, match=r"alpha = 0.9 cannot be reached: noise of at most 1/4 changes 0\."):
        noise_scale_for(0.9, [[0.25, 0.75]] * 50 + [[0.5, 0.5]], random_state=0)


def test_same_seed_same_data():
    calls = [
        make_sparse_label_ranking(60, noise="gaussian", noise_scale=0.1, survival=0.5, partial="random", random_state=s)
        for s in (3, 3, 4)
    ]
    assert np.array_equal(calls[0][0], calls[1][0])
    assert calls[0][1] == calls[1][1]
    assert calls[0][1] != calls[2][1]


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        ({"preset": "XFN"}, "preset is 'XFN'; choose 'SFN' or 'LFN'"),
        ({"noise": "cauchy"}, "noise is 'cauchy'; choose 'none', 'gaussian', 'uniform' or 'mallows'"),
        ({"noise": "mallows"}, "theta belongs to noise='mallows'"),
        ({"noise": "gaussian", "theta": 1.0}, "theta belongs to noise='mallows'"),
        ({"noise": "gaussian", "noise_scale": -1}, "noise_scale is -1, but must be at least 0"),
        ({"noise": "gaussian", "noise_scale": np.inf}, "noise_scale is inf, but must be finite"),
        ({"noise_scale": 0.1}, "noise_scale is 0.1, but noise='none' does not use it"),
        ({"noise": "uniform", "noise_scale": 0.3}, "uniform noise reaches 1/4 at most"),
        ({"n_items": 1}, "n_items is 1, but must be at least 2"),
        ({"n_samples": 0}, "n_samples is 0"),
        ({"n_informative": 0}, "n_informative is 0"),
        ({"random_state": -1}, "seed must not be negative"),
        (
            {"preset": "LFN", "X": [[0, 1]]},
            "preset='LFN' fixes n_features=1000, n_items=5, .*; omit X, or the preset",
        ),
        ({"preset": "LFN", "n_features": 50}, "omit n_features=50, or the preset"),
        (
            {"preset": "SFN", "n_features": 1000},
            "preset='SFN' fixes n_features=100, .*; omit n_features=1000, or the preset",
        ),
        ({"preset": "SFN", "n_items": 4, "n_informative": 2}, "omit n_items=4 and n_informative=2, or the preset"),
    ],
)
def test_bad_arguments(arguments, fragment):
    with pytest.raises(ValueError, match=fragment):
        make_sparse_label_ranking(**{"n_samples": 10, **arguments})


@pytest.mark.parametrize(
    ("call", "fragment"),
    [
        (lambda: noise_scale_for(1.0, [[0.3, 0.7]]), "alpha is 1.0"),
        (lambda: noise_scale_for(0.1, [[0.3, 0.7]], noise="mallows"), "noise is 'mallows'; choose"),
        (lambda: noise_scale_for(0.1, [0.3, 0.7]), "scores has shape"),
        (lambda: noise_scale_for(0.1, [[0.3, 0.7], [0.5, np.nan]]), r"scores\[1, 1\] is nan, but noiseless scores are"),
        (lambda: noise_scale_for(np.nan, [[0.3, 0.7]]), "alpha is nan"),
    ],
)
def test_bad_arguments_of_the_noise_scale(call, fragment):
    with pytest.raises(ValueError, match=fragment):
        call()


@pytest.mark.parametrize(
    ("call", "fragment"),
    [
        (lambda: make_sparse_label_ranking("a"), "n_samples is 'a'; give a whole number, 1 or more"),
        (lambda: make_sparse_label_ranking(10.0), "n_samples is 10.0; give a whole number"),
        (lambda: make_sparse_label_ranking(10, n_items=True), "n_items is True; give a whole number, 2 or more"),
        (lambda: make_sparse_label_ranking(10, noise="gaussian", noise_scale="a"), "noise_scale is 'a'; give a number"),
        (lambda: make_sparse_label_ranking(10, noise="mallows", theta="a"), "theta is 'a'; give a number"),
        (lambda: noise_scale_for("a", [[0.3, 0.7]]), "alpha is 'a'; give a number"),
        (lambda: noise_scale_for(0.1, [["a", "b"]]), r"scores is \[\['a', 'b'\]\]; give numbers"),
    ],
)
def test_arguments_of_a_wrong_type(call, fragment):
    with pytest.raises(TypeError, match=fragment):
        call()


def test_numbers_of_numpy_are_numbers():
    X, y, _ = make_sparse_label_ranking(np.int64(9), noise="gaussian", noise_scale=np.float32(0.1), random_state=0)
    assert len(X) == len(y) == 9
