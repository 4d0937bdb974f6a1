"""Stability of selections under resampling of rows."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from rankwise._validation import check_generator
from rankwise.datasets import make_symbolic_regression
from rankwise.screening import ConcordanceSelector, ScoreSelector, SymbolicFeatures, selection_stability

LOUD = {"noise": 3.0, "random_state": 0}


def by_hand(selector, X, y, n_resamples, random_state):
    """The definition: fit on each resample, count, and compare all pairs."""
    rng = check_generator(random_state)
    picks = []
    for _ in range(n_resamples):
        rows = rng.integers(len(y), size=len(y))
        rng.integers(2**31)
        picks.append(set(selector.fit(X[rows], y[rows]).get_feature_names_out()))
    every = set().union(*picks)
    frequency = {name: sum(name in pick for pick in picks) / n_resamples for name in every}
    return frequency, np.mean([len(a & b) / len(a | b) for a, b in combinations(picks, 2)])


@pytest.mark.parametrize(
    "selector",
    [
        ConcordanceSelector(k=2),
        ConcordanceSelector(k=3, features=SymbolicFeatures("ub")),
        ConcordanceSelector(k=3, features=SymbolicFeatures("ub"), n_terms=2),
        ScoreSelector("kendall", k=2),
    ],
)
def test_against_the_definition(selector):
    X, y, _ = make_symbolic_regression(60, **LOUD)
    found = selection_stability(selector, X, y, n_resamples=12, random_state=3)
    frequency, similarity = by_hand(selector, X, y, 12, 3)
    assert {name: value for name, value in zip(found.features, found.frequency, strict=True) if value} == pytest.approx(
        frequency
    )
    assert found.similarity == pytest.approx(similarity)
    assert (np.diff(found.frequency) <= 0).all()
    picked = np.array(found.features, dtype=object)[found.selected]
    assert sorted(picked) == sorted(selector.fit(X, y).get_feature_names_out())


def test_same_result_for_every_number_of_threads():
    X, y, _ = make_symbolic_regression(60, **LOUD)
    selector = ConcordanceSelector(k=3, features=SymbolicFeatures("ub"))
    one, two = (selection_stability(selector, X, y, n_resamples=8, n_jobs=n, random_state=1) for n in (1, 2))
    assert one.features == two.features
    np.testing.assert_array_equal(one.frequency, two.frequency)
    assert one.similarity == two.similarity


def test_names_of_a_frame_and_the_frame_of_the_result():
    X, y, _ = make_symbolic_regression(60, **LOUD)
    table = pd.DataFrame(X, columns=["load", "width", "height"])
    found = selection_stability(ConcordanceSelector(k=1), table, y, n_resamples=8, random_state=1)
    assert set(found.features) <= {"load", "width", "height"}
    frame = found.to_frame()
    assert frame.columns.tolist() == ["feature", "frequency", "selected"]
    assert frame["feature"].tolist() == list(found.features)


def test_selectors_with_seeds_get_a_new_one_for_each_resample():
    class Guess(ScoreSelector):
        def __init__(self, method="pearson", *, k=1, random_state=None):
            super().__init__(method, k=k)
            self.random_state = random_state

        def fit(self, X, y):
            super().fit(X, y)
            self.scores_ = np.random.default_rng(self.random_state).random(X.shape[1])
            return self

    X, y, _ = make_symbolic_regression(60, **LOUD)
    found = selection_stability(Guess(random_state=0), X, y, n_resamples=30, random_state=0)
    assert len(found.features) == 3
    assert found.similarity < 0.7


def test_resamples_of_a_nearly_constant_target_can_be_ordered():
    X, y = np.arange(6.0)[:, None], np.array([0.0, 0, 0, 0, 0, 1])
    found = selection_stability(ConcordanceSelector(k=1), X, y, n_resamples=30, random_state=0)
    assert found.frequency.tolist() == [1.0]


def test_bad_input_is_refused():
    X, y, _ = make_symbolic_regression(20, random_state=0)
    with pytest.raises(ValueError, match="n_resamples is 1"):
        selection_stability(ConcordanceSelector(), X, y, n_resamples=1)
    with pytest.raises(ValueError, match="constant"):
        selection_stability(ConcordanceSelector(), X, np.ones(20))
