from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from rankwise.aggregation import _mixture_em
from rankwise.aggregation.mallows import Mallows
from rankwise.aggregation.mallows_mixture import MallowsMixture
from rankwise.data import Rankings, dense_positions
from tests.naive import models as naive
from tests.strategies import random_positions

NAN, INF = np.nan, np.inf
CENTERS = np.array([[1.0, 2, 3, 4, 5, 6], [6, 4, 5, 1, 3, 2]])


def mixture_of(weights, centers, thetas):
    """A model with given parameters, without data."""
    model = MallowsMixture(len(weights))
    model.weights_, model.centers_, model.thetas_ = (np.array(part, dtype=float) for part in (weights, centers, thetas))
    model.items_ = tuple(range(model.centers_.shape[1]))
    return model


def two_groups(n=600, seed=0):
    return mixture_of([0.65, 0.35], CENTERS, [1.2, 0.7]).sample(n, random_state=seed)


@pytest.mark.parametrize("thetas", [(0.0, 1.0), (0.5, 30.0)])
def test_probabilities_of_all_rankings(thetas):
    centers = [(2, 4, 1, 3), (4, 3, 1, 2)]
    model = mixture_of([0.7, 0.3], centers, thetas)
    parts = [naive.mallows_law("kendall", center, theta) for center, theta in zip(centers, thetas, strict=True)]
    law = 0.7 * parts[0] + 0.3 * parts[1]
    rows = naive.all_rankings(4)
    np.testing.assert_allclose(np.exp(model.logpmf(rows)), law, atol=1e-14)
    np.testing.assert_allclose(model.pairwise_probabilities(), naive.pairwise(law, 4), atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(rows)[:, 0], 0.7 * parts[0] / law, atol=1e-12)
    assert np.array_equal(model.predict(rows), (model.predict_proba(rows)[:, 1] > 0.5).astype(int))
    assert np.array_equal(model.mode(), rows[np.argmax(law)])


def test_top_lists_have_the_probability_of_all_that_begin_with_them():
    centers = [(2, 4, 1, 3), (4, 3, 1, 2)]
    law = 0.7 * naive.mallows_law("kendall", centers[0], 0.5) + 0.3 * naive.mallows_law("kendall", centers[1], 2.0)
    rows = naive.all_rankings(4)
    lists = [[1, INF, 2, INF], [INF, 1, INF, INF], [2, 1, 3, INF], [NAN] * 4]
    expected = [law[[naive.agrees(row, ranking) for row in rows]].sum() for ranking in lists]
    np.testing.assert_allclose(np.exp(mixture_of([0.7, 0.3], centers, [0.5, 2.0]).logpmf(lists)), expected)


def test_orders_of_the_items_that_are_there_sum_to_one():
    model = mixture_of([0.7, 0.3], [(2, 4, 1, 3), (4, 3, 1, 2)], [0.5, 2.0])
    rows = np.full((6, 4), NAN)
    rows[:, [0, 2, 3]] = naive.all_rankings(3)
    assert np.exp(model.logpmf(rows)).sum() == pytest.approx(1)


def test_draws_follow_the_law():
    n = 30_000
    model = mixture_of([0.7, 0.3], [(2, 4, 1, 3), (4, 3, 1, 2)], [0.3, 1.0])
    rows = {tuple(row): number for number, row in enumerate(naive.all_rankings(4))}
    counts = np.bincount([rows[tuple(row)] for row in model.sample(n, random_state=1)], minlength=24)
    assert chisquare(counts, np.exp(model.logpmf(naive.all_rankings(4))) * n).pvalue > 1e-3


def test_parameters_are_recovered():
    n = 3000
    model = MallowsMixture(2, random_state=0).fit(two_groups(n))
    assert np.array_equal(model.centers_, CENTERS)
    assert model.weights_[0] == pytest.approx(0.65, abs=3 * np.sqrt(0.65 * 0.35 / n) * 1.5)
    np.testing.assert_allclose(model.thetas_, [1.2, 0.7], atol=0.12)
    assert model.weights_.sum() == pytest.approx(1)
    assert model.converged_
    assert model.log_likelihood_ == pytest.approx(model.logpmf(two_groups(n)).sum())


def test_the_criterion_finds_the_number_of_groups():
    data = two_groups()
    bic = [MallowsMixture(g, random_state=0).fit(data).bic() for g in (1, 2, 3)]
    assert np.argmin(bic) == 1
    one = MallowsMixture(1, random_state=0).fit(data)
    assert one.bic() == pytest.approx(-2 * one.log_likelihood_ + 2 * np.log(600))


def test_one_component_is_the_mallows_model():
    data = two_groups(100)
    mixture, plain = MallowsMixture(1, random_state=0).fit(data), Mallows().fit(data)
    assert np.array_equal(mixture.centers_[0], plain.center_)
    assert mixture.thetas_[0] == pytest.approx(plain.theta_)
    assert mixture.log_likelihood_ == pytest.approx(plain.log_likelihood_)


@pytest.mark.parametrize("distance", ["kendall", "spearman", "footrule", "hamming", "cayley"])
@pytest.mark.parametrize("kind", ["full", "tied", "top-k", "incomplete"])
def test_the_likelihood_never_falls(kind, distance, monkeypatch):
    paths = []
    climb = _mixture_em.climb

    def watched(*args, **options):
        run = climb(*args, **options)
        paths.append(run.path)
        return run

    monkeypatch.setattr(_mixture_em, "climb", watched)
    rng = np.random.default_rng(1)
    rows = random_positions(rng, 60, 6, "full")
    if kind == "tied":
        rows = dense_positions(np.ceil(rows / 2))
    if kind == "top-k":
        rows[rows > 3] = INF
    if kind == "incomplete":
        rows[rng.random(rows.shape) < 0.3] = NAN
    model = MallowsMixture(3, n_init=2, distance=distance, random_state=0).fit(rows)
    assert model.partial_rankings_ == "exact"
    assert len(paths) == 3  # two starts, and the last stretch of the better one
    rises = np.concatenate([np.diff(path) for path in paths])
    assert len(rises) > 4
    assert rises.min() > -1e-9
    assert rises.max() > 0.1


@pytest.mark.parametrize("kind", ["top-k", "incomplete"])
def test_groups_are_found_in_partial_rankings(kind):
    rng = np.random.default_rng(2)
    label = np.repeat([0, 1], [300, 200])
    rows = np.vstack(
        [
            Mallows(theta=1.5, center=CENTERS[0]).sample(300, rng).positions,
            Mallows(theta=1.5, center=CENTERS[1]).sample(200, rng).positions,
        ]
    )
    rows[rows > 3 if kind == "top-k" else rng.random(rows.shape) < 0.25] = INF if kind == "top-k" else NAN
    model = MallowsMixture(2, random_state=0).fit(rows)
    assert np.array_equal(model.centers_, CENTERS)
    assert np.mean(model.labels_ == label) > 0.95


def test_many_items_are_searched():
    rng = np.random.default_rng(3)
    centers = np.array([rng.permutation(20) + 1.0 for _ in range(2)])
    data = mixture_of([0.6, 0.4], centers, [0.6, 0.6]).sample(200, random_state=4)
    model = MallowsMixture(2, n_init=2, random_state=0).fit(data)
    assert np.array_equal(model.centers_, centers)


def test_a_component_of_equal_rankings_stays_finite():
    rows = [[1, 2, 3, 4]] * 20 + [[4, 3, 2, 1], [4, 3, 1, 2], [3, 4, 2, 1]] * 3
    model = MallowsMixture(2, random_state=0).fit(rows)
    assert model.thetas_[0] == 30
    assert np.isfinite(model.logpmf(naive.all_rankings(4))).all()
    assert np.isfinite(model.predict_proba(naive.all_rankings(4))).all()


def test_an_item_that_a_component_never_compares_has_a_place():
    rows = [[1, 2, 3, NAN]] * 4 + [[1, 3, 2, NAN]] + [[3, 2, 1, 4]] * 3 + [[3, 2, 4, 1]]
    model = MallowsMixture(2, random_state=0).fit(rows)
    assert sorted(model.centers_[0]) == [1, 2, 3, 4]


def test_weight_two_is_the_row_twice():
    rows = two_groups(60).positions
    twice = MallowsMixture(2, random_state=0).fit(np.vstack([rows, rows]))
    weighted = MallowsMixture(2, random_state=0).fit(rows, sample_weight=np.full(60, 2.0))
    np.testing.assert_allclose(weighted.thetas_, twice.thetas_)
    assert weighted.log_likelihood_ == pytest.approx(twice.log_likelihood_)
    assert weighted.bic() == pytest.approx(twice.bic())
    assert np.array_equal(np.tile(weighted.labels_, 2), twice.labels_)


def test_same_seed_same_components_and_labels_for_every_row():
    rows = np.vstack([two_groups(80).positions, [[NAN] * 6]])
    first, second = (MallowsMixture(2, random_state=3).fit(rows) for _ in range(2))
    assert np.array_equal(first.centers_, second.centers_)
    assert np.array_equal(first.thetas_, second.thetas_)
    assert first.labels_.shape == (81,)
    assert first.labels_[-1] == 0  # says nothing: the largest component


def test_relabelling_items_changes_nothing():
    rows, new = two_groups(300).positions, np.array([3, 0, 5, 1, 4, 2])
    first = MallowsMixture(2, random_state=0).fit(rows)
    second = MallowsMixture(2, random_state=0).fit(rows[:, new])
    np.testing.assert_allclose(second.thetas_, first.thetas_, rtol=1e-3)
    assert np.array_equal(second.centers_, first.centers_[:, new])


def test_too_few_iterations_warn():
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        model = MallowsMixture(3, n_init=1, max_iter=1, random_state=0).fit(two_groups(100))
    assert not model.converged_


def test_names_of_items_travel():
    data = Rankings(two_groups(50), items=list("abcdef"))
    assert MallowsMixture(random_state=0).fit(data).sample(2, random_state=0).items == data.items


@pytest.mark.parametrize(
    ("call", "fragment"),
    [
        (lambda: MallowsMixture(0).fit([[1, 2]]), "n_components is 0"),
        (lambda: MallowsMixture(n_init=0).fit([[1, 2]]), "n_init is 0"),
        (lambda: MallowsMixture(max_iter=0).fit([[1, 2]]), "max_iter is 0"),
        (lambda: MallowsMixture(2).fit([[1, 2]] * 5), "only 1 of the rankings differ"),
        (lambda: MallowsMixture(distance="manhattan").fit([[1, 2]]), "distance is 'manhattan'"),
        (lambda: MallowsMixture().fit([[1, 2], [2, 1]], covariates=[[1.0]]), "covariates has 1 rows"),
        (lambda: MallowsMixture().fit([[1, 2, NAN], [2, 1, NAN]]), "no ranking compares item 2"),
        (lambda: MallowsMixture().fit([[1, 2]], [-1]), r"sample_weight\[0\] is -1"),
    ],
)
def test_bad_arguments(call, fragment):
    with pytest.raises(ValueError, match=fragment):
        call()


def test_a_model_without_parameters_says_so():
    for call in (lambda m: m.predict([[1, 2]]), lambda m: m.sample(1), lambda m: m.bic(), lambda m: m.mode()):
        with pytest.raises(NotFittedError):
            call(MallowsMixture())
