"""Agreement metrics against slow twins, SciPy, laws, and bad input."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import UndefinedMetricWarning

from rankwise import Rankings
from rankwise.distances import kendall_distance, spearman_distance
from rankwise.metrics import exact_match_score, kendall_tau_score, spearman_score
from tests.naive import distances as naive
from tests.strategies import KINDS, position_matrices, random_positions

SCORES = [kendall_tau_score, spearman_score, exact_match_score]
VARIANTS = ["a", "b", "x", "gamma"]
every_score = pytest.mark.parametrize("score", SCORES)


@pytest.mark.parametrize("variant", VARIANTS)
@given(positions=position_matrices(min_rankings=2, max_rankings=2))
def test_tau_equals_its_twin(variant, positions):
    found = kendall_tau_score(positions[:1], positions[1:], variant=variant, per_row=True)[0]
    assert found == pytest.approx(naive.tau(*positions, variant), nan_ok=True)


@pytest.mark.parametrize("kind", ["full", "tied"])
def test_scipy_agrees_where_it_is_defined(kind):
    rng = np.random.default_rng(0)
    a, b = random_positions(rng, 40, 6, kind), random_positions(rng, 40, 6, kind)
    tau = [scipy.stats.kendalltau(x, y).statistic for x, y in zip(a, b, strict=True)]
    rho = [scipy.stats.spearmanr(x, y).statistic for x, y in zip(a, b, strict=True)]
    np.testing.assert_allclose(kendall_tau_score(a, b, per_row=True), tau)
    np.testing.assert_allclose(spearman_score(a, b, per_row=True), rho)


def test_scipy_agrees_on_incomplete_rankings_with_the_missing_items_omitted():
    rng = np.random.default_rng(1)
    a, b = random_positions(rng, 40, 7, "tied"), random_positions(rng, 40, 7, "tied")
    a[rng.random(a.shape) < 0.2] = np.nan
    for score, scipy_function in ((kendall_tau_score, scipy.stats.kendalltau), (spearman_score, scipy.stats.spearmanr)):
        for x, y in zip(a, b, strict=True):
            there = ~np.isnan(x)
            if len(set(x[there])) > 1 and len(set(y[there])) > 1:
                expected = scipy_function(x[there], y[there]).statistic
                assert score([x], [y]) == pytest.approx(expected)


@given(positions=position_matrices(kinds=("full",), min_items=2, min_rankings=2, max_rankings=2))
def test_full_rankings_link_scores_to_distances(positions):
    (a, b), k = positions, positions.shape[1]
    expected = 1 - 4 * kendall_distance(a, b) / (k * (k - 1))
    for variant in VARIANTS:
        assert kendall_tau_score([a], [b], variant=variant) == pytest.approx(expected)
    assert spearman_score([a], [b]) == pytest.approx(1 - 6 * spearman_distance(a, b) / (k * (k**2 - 1)))
    assert exact_match_score([a], [b]) == np.array_equal(a, b)


@every_score
@given(positions=position_matrices(min_items=2, min_rankings=2, max_rankings=6), data=st.data())
def test_laws_of_every_score(score, positions, data):
    truth, prediction = positions, positions[::-1]
    values = score(truth, prediction, per_row=True)
    relabeled = np.array(data.draw(st.permutations(range(positions.shape[1]))))
    np.testing.assert_allclose(score(truth[:, relabeled], prediction[:, relabeled], per_row=True), values)
    swapped = score(prediction, truth, per_row=True)
    both = ~(np.isnan(values) | np.isnan(swapped))  # which side is the truth decides only what is undefined
    np.testing.assert_allclose(swapped[both], values[both])
    own = score(truth, truth, per_row=True)
    np.testing.assert_allclose(own[~np.isnan(own)], 1)
    gone = np.hstack([truth, np.full((len(truth), 1), np.nan)])
    np.testing.assert_allclose(score(gone, np.hstack([prediction, gone[:, :1]]), per_row=True), values)


@every_score
def test_weight_two_equals_the_row_twice(score):
    rng = np.random.default_rng(2)
    a, b = random_positions(rng, 5, 4, "full"), random_positions(rng, 5, 4, "full")
    twice = [0, 1, 2, 2, 3, 4]
    assert score(a, b, sample_weight=[1, 1, 2, 1, 1]) == pytest.approx(score(a[twice], b[twice]))


def test_tau_of_positions_is_not_tau_of_orders():
    truth, prediction = np.array([[1, 3, 4, 2]]), np.array([[2, 3, 4, 1]])  # only items 0 and 3 are reversed
    assert kendall_tau_score(truth, prediction) == pytest.approx(2 / 3)
    orders = (np.argsort(positions, axis=1) + 1 for positions in (truth, prediction))
    assert kendall_tau_score(*orders) == pytest.approx(-2 / 3)


def test_unlisted_pairs_are_unknown_to_tau():
    inf = np.inf
    assert kendall_tau_score([[1, 2, inf, inf]], [[1, 2, 3, 4]]) == 1
    assert kendall_tau_score([[1, 2, inf, inf]], [[1, 2, 4, 3]]) == 1
    assert exact_match_score([[1, 2, inf, inf]], [[1, 2, 4, 3]]) == 1
    assert kendall_tau_score([[1, 2, inf, inf]], [[4, 3, 2, 1]]) == -1


@every_score
def test_a_prediction_that_ties_everything_scores_zero(score):
    truth, flat = [[1, 2, 3], [3, 1, 2]], [[1, 1, 1], [3, 1, 2]]
    np.testing.assert_array_equal(score(truth, flat, per_row=True), [0, 1])
    np.testing.assert_array_equal(score(flat, truth, per_row=True)[1:], 1)
    assert kendall_tau_score(truth, flat, variant="gamma") == 0.5


@every_score
def test_rows_that_say_nothing_are_left_out(score):
    nan = np.nan
    truth, prediction = [[1, 2, 3], [nan, nan, nan], [1, nan, nan]], [[1, 2, 3], [1, 2, 3], [1, 2, 3]]
    assert score(truth, prediction) == 1
    np.testing.assert_array_equal(score(truth, prediction, per_row=True), [1, nan, nan])
    with pytest.warns(UndefinedMetricWarning, match="NaN"):
        assert np.isnan(score(truth[1:], prediction[1:]))
    with pytest.warns(UndefinedMetricWarning, match="NaN"):
        assert np.isnan(score([[1.0]], [[1.0]]))


@every_score
@pytest.mark.parametrize("kind", KINDS)
def test_rankings_and_arrays_give_the_same(score, kind):
    rng = np.random.default_rng(3)
    a, b = random_positions(rng, 8, 5, kind), random_positions(rng, 8, 5, "full")
    assert score(Rankings(a), Rankings(b)) == score(a, b)


@every_score
@pytest.mark.parametrize(
    ("truth", "prediction", "options", "fragment"),
    [
        ([[1, 2]], [[1, 2], [2, 1]], {}, "must be the same"),
        ([[1, 2]], [[1, 2, 3]], {}, "must be the same"),
        ([[0, 1]], [[1, 2]], {}, r"y_true\[0, 0\] is 0, but positions count from 1"),
        ([[1, 2]], [[1, 2]], {"sample_weight": [1, 2]}, "sample_weight has shape"),
        ([[1, 2]], [[1, 2]], {"sample_weight": [-1]}, "not negative"),
        (Rankings([[1, 2]], ["a", "b"]), Rankings([[1, 2]], ["b", "a"]), {}, "different column order"),
    ],
)
def test_bad_input_is_refused_with_a_cure(score, truth, prediction, options, fragment):
    with pytest.raises(ValueError, match=fragment):
        score(truth, prediction, **options)


@every_score
def test_weights_of_the_true_rankings_count(score):
    rng = np.random.default_rng(4)
    a, b = random_positions(rng, 3, 4, "full"), random_positions(rng, 3, 4, "full")
    twice = [0, 1, 1, 2]
    assert score(Rankings(a, weights=[1, 2, 1]), b) == pytest.approx(score(a[twice], b[twice]))
    assert score(Rankings(a, weights=[1, 2, 1]), b, sample_weight=[1, 1, 1]) == pytest.approx(score(a, b))


def test_unknown_variant():
    with pytest.raises(ValueError, match="choose 'a', 'b', 'x' or 'gamma'"):
        kendall_tau_score([[1, 2]], [[1, 2]], variant="c")
