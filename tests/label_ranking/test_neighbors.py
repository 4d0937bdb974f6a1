"""Nearest neighbors against a loop over rows."""

from __future__ import annotations

import numpy as np
import pytest

from rankwise.label_ranking import NearestNeighborsRanker
from rankwise.metrics import kendall_tau_score
from tests.naive import label_ranking as naive
from tests.strategies import KINDS, random_positions


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_shares_equal_their_definition(kind, weights):
    rng = np.random.default_rng(0)
    X, y, row_weights = rng.random((40, 2)), random_positions(rng, 40, 5, kind), rng.integers(1, 4, 40).astype(float)
    X[[3, 7, 8]] = 5.0  # rows at distance 0, far from the other queries
    ranker = NearestNeighborsRanker(6, weights=weights, standardize=False).fit(X, y, row_weights)
    queries = np.vstack([rng.random((10, 2)), X[3]])
    compared = np.array([not np.isnan(naive.kemeny_vector(row)).all() for row in y])
    X, y, row_weights = X[compared], y[compared], row_weights[compared]
    marginal = naive.local_shares(list(y), list(row_weights), np.full(10, 0.5))
    above, below = np.triu_indices(5, 1)
    for query, P in zip(queries, ranker.predict_pairwise(queries), strict=True):
        distance = np.sqrt(((X - query) ** 2).sum(axis=1))
        nearest = np.argsort(distance)[:6]
        votes = row_weights[nearest]
        if weights == "distance":
            same = distance[nearest] == 0
            votes = votes * same if same.any() else votes / distance[nearest]
        expected = naive.local_shares(list(y[nearest]), list(votes), marginal)
        np.testing.assert_allclose(P[above, below], expected, atol=1e-12)


@pytest.mark.parametrize(("n", "d", "expected"), [(100, 2, 10), (1000, 4, 10), (50, 30, 1), (1, 1, 1)])
def test_the_automatic_number_of_neighbors(n, d, expected):
    rng = np.random.default_rng(0)
    ranker = NearestNeighborsRanker("auto").fit(rng.random((n, d)), random_positions(rng, n, 3, "full"))
    assert ranker.n_neighbors_ == expected


def test_more_neighbors_than_rows():
    assert NearestNeighborsRanker(50).fit([[0.0], [1.0]], [[1, 2], [2, 1]]).n_neighbors_ == 2


def test_the_chosen_number_of_neighbors_is_the_best_when_rows_are_left_out():
    rng = np.random.default_rng(1)
    X = rng.random((40, 2))
    y = np.where(X[:, :1] + 0.3 * rng.standard_normal((40, 1)) > 0.5, [[1, 2, 3]], [[3, 1, 2]])
    ranker = NearestNeighborsRanker("cv").fit(X, y)
    for size in (1, 3, 8):
        taus = []
        for row in range(40):
            rest = np.arange(40) != row
            scale = NearestNeighborsRanker("cv").fit(X, y)._scaler
            fitted = NearestNeighborsRanker(size, standardize=False).fit(scale.transform(X[rest]), y[rest])
            taus.append(kendall_tau_score(y[[row]], fitted.predict(scale.transform(X[[row]]))))
        assert ranker.scores_[size] == pytest.approx(np.mean(taus))
    assert ranker.scores_[ranker.n_neighbors_] == max(ranker.scores_.values())
    assert NearestNeighborsRanker("cv").fit([[0.0]], [[1, 2]]).n_neighbors_ == 1


def test_many_items_are_tried_by_the_pseudo_median():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = np.argsort(np.argsort(X @ rng.normal(size=(2, 15)) + rng.normal(size=(40, 15)), axis=1), axis=1) + 1.0
    by_kemeny, by_borda = (NearestNeighborsRanker("cv", decode=rule).fit(X, y) for rule in ("kemeny", "borda"))
    assert by_kemeny.scores_ == by_borda.scores_
