"""The selectors that are compared with."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chatterjeexi, kendalltau, pearsonr, spearmanr
from sklearn.utils.estimator_checks import parametrize_with_checks

from rankwise.datasets import make_symbolic_regression
from rankwise.screening import ScoreSelector, SymbolicFeatures

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


def test_symbolic_features_in_a_pipeline():
    from sklearn.linear_model import LinearRegression
    from sklearn.pipeline import make_pipeline

    X, y, _ = make_symbolic_regression(random_state=0)
    model = make_pipeline(SymbolicFeatures("ub"), ScoreSelector("pearson", k=8), LinearRegression()).fit(X, y)
    assert model.score(X, y) > 0.9
