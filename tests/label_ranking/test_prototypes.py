"""Training people near a row: by counting shared leaves, and by distance."""

from __future__ import annotations

import numpy as np
import pytest

from rankwise.label_ranking import BoostedRanker, NearestNeighborsRanker, Prototypes, RankingForest, RankingTree
from tests.label_ranking.test_explanations import ITEMS, make_data


@pytest.mark.parametrize(
    "ranker",
    [RankingTree(max_depth=3), RankingForest(9, min_samples_leaf=3, random_state=0), BoostedRanker(7)],
    ids=repr,
)
def test_people_are_ordered_by_the_leaves_that_they_share(ranker):
    X, y = make_data(90, gaps=True)
    ranker.fit(X[:70], y[:70])
    found = ranker.prototypes(X[70:], X[:70], y[:70], n_prototypes=6)
    leaves, others = (np.reshape(ranker.apply(rows), (len(rows), -1)) for rows in (X[70:], X[:70]))
    for row in range(20):
        shares = [float(np.mean(leaves[row] == other)) for other in others]
        expected = sorted(range(70), key=lambda person: (-shares[person], person))[:6]
        assert found.rows[row].tolist() == expected
        np.testing.assert_allclose(found.nearness[row], [shares[person] for person in expected])
        np.testing.assert_array_equal(found.rankings(row).positions, y[:70][expected].positions)
    assert found.measure == "shared leaves"


def test_people_are_next_to_themselves():
    X, y = make_data(60)
    forest = RankingForest(20, bootstrap=False, random_state=0).fit(X, y)
    found = forest.prototypes(X, X, y, n_prototypes=100)
    assert found.rows.shape == (60, 60)  # no more than there are
    assert found.rows[:, 0].tolist() == list(range(60))
    assert np.all(found.nearness[:, 0] == 1)


def test_neighbors_are_the_nearest_people_by_the_numbers_of_their_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3)) * [1, 10, 100]
    y = rng.permuted(np.tile([1.0, 2, 3], (50, 1)), axis=1)
    y[::7] = np.nan  # says nothing, and is nobody's neighbor
    ranker = NearestNeighborsRanker(4).fit(X, y)
    found = ranker.prototypes(X[40:45])
    kept = np.flatnonzero(~np.isnan(y[:, 0]))
    scale = X[kept].std(axis=0)
    for row, x in enumerate(X[40:45]):
        distance = np.sqrt((((X[kept] - x) / scale) ** 2).sum(axis=1))
        order = np.argsort(distance)[:4]
        assert found.rows[row].tolist() == kept[order].tolist()
        np.testing.assert_allclose(found.nearness[row], distance[order], atol=1e-7)
        np.testing.assert_array_equal(found.positions[row], y[kept[order]])
    assert found.measure == "distance"
    assert ranker.prototypes(X[:2], 100).rows.shape == (2, len(kept))
    assert "distance" in repr(found)
    with pytest.raises(ValueError, match="n_prototypes is 0"):
        ranker.prototypes(X, 0)
    del ranker._training_rows
    with pytest.raises(ValueError, match="fit it again"):
        ranker.prototypes(X)


def test_results_show_themselves():
    X, y = make_data(60)
    forest = RankingForest(5, random_state=0).fit(X, y)
    found = forest.prototypes(X[:1], X, y, 2)
    assert isinstance(found, Prototypes)
    assert found.items == ITEMS
    lines = repr(found).splitlines()
    assert lines[0] == "Nearest training rows of 1 row"
    assert len(lines) == 4
    order = np.argsort(y.positions[found.rows[0, 0]])
    assert " > ".join(ITEMS[item] for item in order) in lines[2]
    assert "<table" in found._repr_html_()
    many = forest.prototypes(X, X, y, 3)
    assert "160 more lines" in repr(many)
    assert many.to_frame("pandas").shape == (180, 4)


def test_mistakes_are_named():
    X, y = make_data(60)
    forest = RankingForest(5, random_state=0).fit(X, y)
    with pytest.raises(
        ValueError, match=r"y_train has shape \(50, 4\), but X_train has 60 rows and the ranker 4 items"
    ):
        forest.prototypes(X[:1], X, y[:50])
    with pytest.raises(ValueError, match="same items in a different column order"):
        forest.prototypes(X[:1], X, y.select(ITEMS[::-1]))
    with pytest.raises(ValueError, match="n_prototypes is 0"):
        forest.prototypes(X[:1], X, y, 0)
