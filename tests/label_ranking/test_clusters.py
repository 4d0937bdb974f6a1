"""Clusters and their models."""

from __future__ import annotations

import numpy as np

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
