"""Clusters and their models."""

from __future__ import annotations

import numpy as np
import pytest

from rankwise.aggregation import PlackettLuce
from rankwise.label_ranking import ClusterRanker


def test_each_cluster_has_the_model_of_its_rows():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(-5, 0.5, (20, 2)), rng.normal(5, 0.5, (30, 2))])
    y = np.argsort(rng.random((50, 4)), axis=1) + 1.0
    y[:12], y[20:40] = [1, 2, 3, 4], [3, 4, 1, 2]
    ranker = ClusterRanker(2, alpha=0.5, random_state=0).fit(X, y)
    for rows in (slice(20), slice(20, 50)):
        model = PlackettLuce(alpha=0.5).fit(y[rows])
        np.testing.assert_array_equal(ranker.predict(X[rows]), np.tile(model.mode(), (len(X[rows]), 1)))
        np.testing.assert_allclose(ranker.predict_pairwise(X[rows])[0], model.pairwise_probabilities())


def test_no_more_clusters_than_different_rows():
    ranker = ClusterRanker(5, random_state=0).fit([[0.0], [0.0], [1.0]], [[1, 2], [1, 2], [2, 1]])
    assert len(ranker.models_) == 2


def test_without_a_penalty_it_is_maximum_likelihood_or_its_limit():
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0], [1.0]], 30, axis=0)
    y = np.argsort(rng.random((60, 4)), axis=1) + 1.0
    y[30:, 1] = 0.5  # always first, so that its worth has no maximum; only the order counts
    y = np.argsort(np.argsort(y, axis=1), axis=1) + 1.0
    ranker = ClusterRanker(2, alpha=0, random_state=0).fit(X, y)
    model = PlackettLuce().fit(y[:30])
    np.testing.assert_allclose(ranker.predict_pairwise(X[:1])[0], model.pairwise_probabilities())
    with pytest.raises(ValueError, match="does not exist"):
        PlackettLuce().fit(y[30:])
    others = PlackettLuce().fit(np.argsort(np.argsort(y[30:, [0, 2, 3]], axis=1), axis=1) + 1.0)
    found = ranker.predict_pairwise(X[30:31])[0]
    np.testing.assert_allclose(found[np.ix_([0, 2, 3], [0, 2, 3])], others.pairwise_probabilities(), atol=1e-4)
    np.testing.assert_allclose(found[1, [0, 2, 3]], 1, atol=1e-4)


def test_other_errors_are_not_swallowed():
    for alpha in (0, 1.0):
        with pytest.raises(ValueError, match="ties 5 items"):
            ClusterRanker(1, alpha=alpha).fit([[0.0]] * 3, [[1, 1, 1, 1, 1, 2]] * 3)
