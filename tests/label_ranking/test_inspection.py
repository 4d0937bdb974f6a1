"""scikit-learn's tools of inspection take label rankers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rankwise import Rankings
from rankwise.label_ranking import PlackettLuceRanker, RankingForest, RankingTree, as_regressor
from tests.label_ranking.estimators import RANKERS

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(60, 2)), columns=["matters", "chance"])
SCORES = np.column_stack([X["matters"], -X["matters"], np.zeros(60)])
Y = Rankings.from_scores(SCORES, items=["up", "down", "still"])


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
def test_expected_positions_add_up_and_agree_with_pairs(ranker):
    fitted = clone(ranker).fit(X, Y)
    regressor = as_regressor(fitted)
    assert is_regressor(regressor)
    assert regressor.items_ == Y.items
    P = fitted.predict_pairwise(X)
    expected = [[1 + sum(p[j, i] for j in range(3) if j != i) for i in range(3)] for p in P]
    np.testing.assert_allclose(regressor.predict(X), expected)
    np.testing.assert_allclose(regressor.predict(X).sum(axis=1), 6)


def test_partial_dependence_is_that_of_the_definition():
    regressor = as_regressor(RankingForest(20, min_samples_leaf=5, random_state=0).fit(X, Y))
    found = partial_dependence(regressor, X, ["matters"], grid_resolution=5)
    for value, average in zip(found["grid_values"][0], found["average"].T, strict=True):
        np.testing.assert_allclose(average, regressor.predict(X.assign(matters=value)).mean(axis=0))
    up, down, _ = found["average"]
    assert up[0] > 2 > up[-1]  # 2 is the middle of three positions
    assert down[0] < 2 < down[-1]


def test_pipelines_are_inspected_by_their_own_features():
    pipeline = make_pipeline(StandardScaler(), "passthrough", PlackettLuceRanker()).fit(X * 1000, Y)
    alone = PlackettLuceRanker().fit(StandardScaler().fit_transform(X), Y)
    found = as_regressor(pipeline)
    assert found.items_ == Y.items
    np.testing.assert_allclose(
        found.predict(X * 1000), as_regressor(alone).predict(StandardScaler().fit_transform(X)), rtol=1e-6
    )


def test_the_regressor_is_frozen():
    tree = RankingTree(max_depth=1).fit(X, Y)
    regressor = as_regressor(tree)
    before = regressor.predict(X)
    np.testing.assert_array_equal(regressor.fit(X, Y[::-1]).predict(X), before)


def test_what_is_no_fitted_ranker_is_refused():
    with pytest.raises(NotFittedError):
        as_regressor(RankingTree())
    with pytest.raises(TypeError, match=r"GridSearchCV has no predict_pairwise.*best_estimator_"):
        as_regressor(GridSearchCV(RankingTree(), {"max_depth": [1]}))


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
def test_permutation_importance_takes_rankers_and_rankings(ranker):
    seen = np.random.default_rng(1).random(SCORES.shape) < 0.9
    for y in (Y, Rankings.from_scores(np.where(seen, SCORES, np.nan), items=Y.items)):
        lost = permutation_importance(clone(ranker).fit(X, y), X, y, n_repeats=3, random_state=0).importances_mean
        assert lost[0] >= lost[1]
        assert np.isfinite(lost).all()
