"""The door for y, and what the mixin gives to a ranker of ten lines."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags

from rankwise import Rankings
from rankwise.data import dense_positions
from rankwise.label_ranking import KernelRanker, RankingForest, RankingTree, base
from rankwise.label_ranking.base import LabelRankerMixin, check_label_ranking
from rankwise.metrics import kendall_tau_score
from tests.strategies import position_matrices, random_positions

NAN, INF = np.nan, np.inf


class FeatureRanker(LabelRankerMixin, BaseEstimator):
    """Ranks items by the first features, smaller = better."""

    def _fit_rankings(self, X, y):
        self.seen_ = (X, y)

    def _predict_pairwise(self, X):
        scores = X[:, : len(self.items_)]
        return (1 + np.sign(scores[:, None, :] - scores[:, :, None])) / 2


@given(position_matrices(min_items=2))
def test_rows_that_compare_nothing_are_left_out(positions):
    compares = [
        any(row[i] < row[j] or row[i] == row[j] < INF for i in range(len(row)) for j in range(len(row)) if i != j)
        for row in positions
    ]
    kept = positions[compares]
    if not len(kept) or np.isnan(kept).all(axis=0).any():
        with pytest.raises(ValueError, match=r"no row of y compares"):
            check_label_ranking(positions)
        return
    rankings, rows = check_label_ranking(positions)
    assert rows.tolist() == np.flatnonzero(compares).tolist()
    np.testing.assert_array_equal(rankings.positions, dense_positions(kept))


def test_only_the_order_of_values_counts():
    with pytest.warns(UserWarning, match="positions_from_orders"):
        rankings, _ = check_label_ranking([[0, 1, 2.5], [3, -1, 1]])
    np.testing.assert_array_equal(rankings.positions, [[1, 2, 3], [3, 1, 2]])


def test_scores_for_positions_are_noticed():
    for scores in ([[7.25, 1, 3]], pd.DataFrame([[1, 7.25, 3]]).to_numpy().tolist()):
        with pytest.warns(UserWarning, match=r"is 7.25, which is no place; smaller .* use Rankings.from_scores"):
            check_label_ranking(scores)
    check_label_ranking([[1, 2.5, 2.5], [70, 20, INF], [NAN, 1, 2]])  # shared places and gaps


def test_names_and_weights():
    y = np.array([[1.0, 2.0], [2.0, 1.0]])
    assert check_label_ranking(pd.DataFrame(y, columns=["tea", "milk"]))[0].items == ("tea", "milk")
    assert check_label_ranking(pl.DataFrame(y, schema=["tea", "milk"]))[0].items == ("tea", "milk")
    assert check_label_ranking(y)[0].items == (0, 1)
    named = Rankings(y, items=["tea", "milk"], weights=[1, 3])
    assert check_label_ranking(named)[0] == named
    kept, rows = check_label_ranking(named, [0, 2])
    assert (kept.items, kept.weights.tolist(), rows.tolist()) == (("tea", "milk"), [2.0], [1])


@pytest.mark.parametrize(
    ("y", "weights", "message"),
    [
        ([[1], [1]], None, "one column"),
        ([1, 2], None, "needs two"),
        ([[NAN, 1], [INF, INF]], None, "no row of y compares two items"),
        ([[1, 2, NAN], [2, 1, NAN]], None, "no row of y compares item 2 with another"),
        (Rankings([[1, 2, NAN, NAN]], items=list("abcd")), None, "items c, d"),
        ([[1, 2]], [0], "weight zero"),
        ([[1, 2]], [1, 1], "sample_weight"),
        ([[1, 2]], [-1], "not negative"),
        ([[1, -INF]], None, "-inf"),
        ([["a", "b"]], None, "not a number"),
    ],
)
def test_bad_targets(y, weights, message):
    with pytest.raises((ValueError, TypeError), match=message):
        check_label_ranking(y, weights)


def test_another_number_of_rows():
    with pytest.raises(ValueError, match="X has 3 rows and y 2"):
        FeatureRanker().fit(np.ones((3, 2)), [[1, 2], [2, 1]])


def test_a_small_ranker_is_a_ranker():
    rng = np.random.default_rng(0)
    X, y = rng.random((30, 4)), random_positions(rng, 30, 3, "incomplete")
    ranker = FeatureRanker().fit(X, y)
    assert len(ranker.seen_[0]) == len(ranker.seen_[1])
    predicted = ranker.predict(X)
    np.testing.assert_array_equal(predicted, np.argsort(np.argsort(X[:, :3], axis=1), axis=1) + 1)
    assert ranker.predict_pairwise(X).shape == (30, 3, 3)
    assert ranker.score(X, y) == kendall_tau_score(y, predicted)
    weights = rng.random(30)
    assert ranker.score(X, y, weights) == kendall_tau_score(y, predicted, weights)
    assert ranker.score(X, Rankings(y, weights=weights)) == pytest.approx(ranker.score(X, y, weights))
    tags = get_tags(ranker)
    assert tags.estimator_type == "label_ranker"
    assert tags.target_tags.multi_output
    assert not tags.target_tags.single_output


def test_score_knows_the_items():
    ranker = FeatureRanker().fit(np.ones((1, 2)), Rankings([[1, 2]], items=["tea", "milk"]))
    with pytest.raises(ValueError, match="different column order"):
        ranker.score(np.ones((1, 2)), Rankings([[1, 2]], items=["milk", "tea"]))


def test_predictions_do_not_hold_all_matrices_at_once(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.random((25, 3)), random_positions(rng, 25, 3, "full")
    ranker = FeatureRanker().fit(X, y)
    whole = ranker.predict(X)
    sizes = []
    pairwise = FeatureRanker._predict_pairwise
    monkeypatch.setattr(base, "_BLOCK_CELLS", 9 * 10)
    monkeypatch.setattr(FeatureRanker, "_predict_pairwise", lambda self, X: sizes.append(len(X)) or pairwise(self, X))
    np.testing.assert_array_equal(ranker.predict(X), whole)
    assert sizes == [10, 10, 5]


def test_a_ranker_says_what_it_lacks():
    class Nothing(LabelRankerMixin, BaseEstimator):
        pass

    with pytest.raises(NotImplementedError):
        Nothing().fit([[1.0]], [[1, 2]])
    ranker = FeatureRanker().fit([[1.0, 2.0]], [[1, 2]])
    with pytest.raises(NotImplementedError):
        LabelRankerMixin._predict_pairwise(ranker, np.ones((1, 2)))


@pytest.mark.parametrize("ranker", [RankingTree, RankingForest, KernelRanker])
def test_a_wrong_embedding_is_told_the_public_choices(ranker):
    with pytest.raises(ValueError, match=r"or an instance of KemenyEmbedding, .*\(of rankwise\.embeddings\)") as caught:
        ranker(embedding="vector").fit([[1], [2]], [[1, 2], [2, 1]])
    assert "_embedding" not in str(caught.value)
