"""The selectors that are compared with."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chatterjeexi, kendalltau, pearsonr, spearmanr
from sklearn.utils.estimator_checks import parametrize_with_checks

from rankwise.datasets import make_symbolic_regression
from rankwise.screening import BARTSelector, ScoreSelector, SymbolicFeatures
from rankwise.screening.bart import inclusion_thresholds

SCORES = ["pearson", "spearman", "kendall", "xi", "lasso", "stepwise"]


@parametrize_with_checks([ScoreSelector(score, k=2) for score in SCORES])
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("score", SCORES)
def test_active_variables_are_found(score):
    X, y, bunch = make_symbolic_regression(500, noise=0.1, random_state=0)
    selector = ScoreSelector(score, k=2).fit(X, y)
    assert np.flatnonzero(selector.get_support()).tolist() == bunch.informative


@pytest.mark.parametrize(
    ("score", "function"),
    [("pearson", pearsonr), ("spearman", spearmanr), ("kendall", kendalltau), ("xi", chatterjeexi)],
)
def test_correlations_are_those_of_scipy(rng, score, function):
    X, y = rng.integers(0, 9, (30, 4)).astype(float), rng.standard_normal(30)
    value = [function(column, y).statistic for column in X.T]
    np.testing.assert_allclose(ScoreSelector(score).fit(X, y).scores_, value if score == "xi" else np.abs(value))


def test_constant_columns_score_nothing(rng):
    X = np.column_stack([np.ones(20), rng.standard_normal(20)])
    for score in SCORES:
        scores = ScoreSelector(score, k=1).fit(X, X[:, 1]).scores_
        assert scores[0] == 0 < scores[1]


@pytest.mark.parametrize("score", ["pearson", "lasso", "stepwise"])
def test_huge_and_tiny_columns(rng, score):
    X = rng.standard_normal((60, 4))
    y = X[:, 0] + 2 * X[:, 1] + 0.1 * rng.standard_normal(60)
    scaled = ScoreSelector(score, k=2).fit(X * [1e200, 1e-200, 1e200, 1e-200], y).scores_
    np.testing.assert_allclose(scaled, ScoreSelector(score, k=2).fit(X, y).scores_, rtol=1e-6, atol=1e-9)


@pytest.mark.slow
def test_scad():
    pytest.importorskip("skglm")
    X, y, bunch = make_symbolic_regression(noise=0.1, random_state=0)
    assert np.flatnonzero(ScoreSelector("scad", k=2).fit(X, y).get_support()).tolist() == bunch.informative


@pytest.mark.parametrize(("score", "module"), [("scad", "skglm")])
def test_a_missing_package_is_named(monkeypatch, score, module):
    import sys

    monkeypatch.setitem(sys.modules, module, None)
    X, y, _ = make_symbolic_regression(random_state=0)
    with pytest.raises(ImportError, match=rf"needs {module}: pip install 'rankwise\[symbolic\]'"):
        ScoreSelector(score).fit(X, y)


def test_thresholds_of_inclusion():
    chance = np.array([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.3, 0.3, 0.4], [0.2, 0.2, 0.6]])
    np.testing.assert_allclose(inclusion_thresholds(chance, "local", 0.05), np.quantile(chance, 0.95, axis=0))
    np.testing.assert_allclose(
        inclusion_thresholds(chance, "global_max", 0.05), [np.quantile([0.5, 0.6, 0.4, 0.6], 0.95)] * 3
    )
    within = inclusion_thresholds(chance, "global_se", 0.25)
    # All columns lie within for three of the four permutations.
    assert (chance <= within + 1e-12).all(axis=1).sum() == 3
    assert (
        inclusion_thresholds(chance, "local", 0.05) <= inclusion_thresholds(chance, "global_max", 0.05) + 1e-12
    ).all()


@pytest.mark.slow
def test_bart():
    pytest.importorskip("stochtree")
    X, y, bunch = make_symbolic_regression(noise=0.1, random_state=0)
    options = {"n_permutations": 10, "n_repeats": 2, "n_draws": 200, "random_state": 0}
    for threshold in ("local", "global_max", "global_se"):
        selector = BARTSelector(threshold, **options).fit(X, y)
        assert selector.scores_.sum() == pytest.approx(1)
        assert set(np.flatnonzero(selector.get_support())) <= set(bunch.informative)
    assert np.flatnonzero(BARTSelector(k=2, **options).fit(X, y).get_support()).tolist() == bunch.informative
    again = BARTSelector(k=2, **options).fit(X, y)
    np.testing.assert_array_equal(again.scores_, BARTSelector(k=2, **options).fit(X, y).scores_)


def test_without_stochtree_the_extra_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "stochtree", None)
    with pytest.raises(ImportError, match=r"BARTSelector needs stochtree: pip install 'rankwise\[bart\]'"):
        BARTSelector().fit([[1.0], [2.0], [3.0]], [1, 2, 3])


def test_symbolic_features_in_a_pipeline():
    from sklearn.linear_model import LinearRegression
    from sklearn.pipeline import make_pipeline

    X, y, _ = make_symbolic_regression(random_state=0)
    model = make_pipeline(SymbolicFeatures("ub"), ScoreSelector("pearson", k=8), LinearRegression()).fit(X, y)
    assert model.score(X, y) > 0.9
