"""BARTSelector: thresholds, and the columns that it finds."""

from __future__ import annotations

import numpy as np
import pytest

from rankwise.datasets import make_symbolic_regression
from rankwise.screening import BARTSelector, inclusion_thresholds


def test_thresholds_of_inclusion():
    chance = np.array([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.3, 0.3, 0.4], [0.2, 0.2, 0.6]])
    np.testing.assert_allclose(inclusion_thresholds(chance, "local", alpha=0.05), np.quantile(chance, 0.95, axis=0))
    np.testing.assert_allclose(
        inclusion_thresholds(chance, "global_max", alpha=0.05), [np.quantile([0.5, 0.6, 0.4, 0.6], 0.95)] * 3
    )
    within = inclusion_thresholds(chance, "global_se", alpha=0.25)
    # All columns lie within for three of the four permutations.
    assert (chance <= within + 1e-12).all(axis=1).sum() == 3
    assert (
        inclusion_thresholds(chance, "local", alpha=0.05)
        <= inclusion_thresholds(chance, "global_max", alpha=0.05) + 1e-12
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
        # The permutations do not depend on the threshold, so that all thresholds come from one fit.
        assert selector.permuted_scores_.shape == (10, X.shape[1])
        for rule in ("local", "global_max", "global_se"):
            expected = BARTSelector(rule, **options).fit(X, y).thresholds_
            np.testing.assert_array_equal(inclusion_thresholds(selector.permuted_scores_, rule), expected)
    assert np.flatnonzero(BARTSelector(k=2, **options).fit(X, y).get_support()).tolist() == bunch.informative
    again = BARTSelector(k=2, **options).fit(X, y)
    np.testing.assert_array_equal(again.scores_, BARTSelector(k=2, **options).fit(X, y).scores_)


def test_without_stochtree_the_extra_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "stochtree", None)
    with pytest.raises(ImportError, match=r"BARTSelector needs stochtree: pip install 'rankwise\[bart\]'"):
        BARTSelector().fit([[1.0], [2.0], [3.0]], [1, 2, 3])


@pytest.mark.parametrize(
    ("permuted", "options", "message"),
    [
        ([0.5, 0.5], {}, r"permuted_scores has shape \(2,\)"),
        ([[0.5, 0.5]], {"alpha": 1.5}, "alpha is 1.5"),
        ([[0.5, 0.5]], {"threshold": "global"}, "threshold"),
    ],
)
def test_thresholds_of_nonsense_are_refused(permuted, options, message):
    with pytest.raises(ValueError, match=message):
        inclusion_thresholds(permuted, **options)
