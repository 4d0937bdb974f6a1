"""The blend of query rankers: weights by a search over all of them, unseen queries, laws, and what is refused."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

from rankwise import load, save
from rankwise.datasets import make_retrieval
from rankwise.label_ranking import RankingTree
from rankwise.ltr import LambdaMART, LinearRanker, StackedQueryRanker
from rankwise.ltr.blend import blend_weights
from rankwise.metrics import ndcg_score


@pytest.fixture(scope="module")
def data():
    X, y, qid, _ = make_retrieval(90, 8, docs_per_query=(4, 15), link="saturating", noise=1.0, random_state=0)
    return X, y, qid


def small():
    return [("trees", LambdaMART(30, tree="level")), ("linear", LinearRanker())]


def test_predictions_are_the_weighted_scores_of_the_members(data):
    X, y, qid = data
    blend = StackedQueryRanker(small(), random_state=0).fit(X, y, qid)
    wanted = sum(blend.weights_[name] / blend.scales_[name] * r.predict(X) for name, r in blend.rankers_.items())
    np.testing.assert_allclose(blend.predict(X), wanted, rtol=1e-12)
    assert sum(blend.weights_.values()) == pytest.approx(1)
    assert set(blend.scores_) == {"trees", "linear", "blend"}
    assert blend.scores_["blend"] >= min(blend.scores_["trees"], blend.scores_["linear"])
    assert blend.n_queries_ == 90


def test_weights_are_chosen_on_queries_that_the_members_have_not_seen(data):
    """A tree that knows every row by heart is perfect on what it has seen, and no better than chance elsewhere."""
    X, y, qid = data
    noise = np.random.default_rng(0).normal(size=(len(y), 1))
    by_heart = LambdaMART(80, 0.5, num_leaves=200, tree="leaf", min_samples_leaf=1)
    blend = StackedQueryRanker([("by heart", by_heart), ("linear", LinearRanker())], random_state=0)
    blend.fit(np.hstack([noise, X]), y, qid)
    assert blend.scores_["by heart"] < blend.scores_["linear"] - 0.03
    assert blend.weights_["by heart"] <= 0.5
    seen = ndcg_score(y, blend.rankers_["by heart"].predict(np.hstack([noise, X])), qid, k=10, gain="exp")
    assert seen > 0.99


@pytest.mark.parametrize("seed", range(4))
def test_the_search_comes_close_to_the_best_weights_of_a_grid(seed):
    rng = np.random.default_rng(seed)
    y, qid = rng.integers(0, 3, 3000).astype(float), np.repeat(np.arange(300), 10)
    scores = np.stack([y * share + rng.normal(size=3000) for share in rng.permutation([1.0, 0.5, 0.0])])
    scores /= scores.std(axis=1, keepdims=True)

    def values(score):
        return ndcg_score(y, score, qid, k=10, per_query=True)[1]

    grid = [np.array(w) / 10 for w in product(range(11), repeat=3) if sum(w) == 10]
    best = max(np.nanmean(values(w @ scores)) for w in grid)
    found = blend_weights(scores, values)
    assert np.nanmean(values(found @ scores)) > best - 0.005
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1)


def test_equal_members_keep_equal_weights_and_bad_ones_lose_theirs():
    rng = np.random.default_rng(0)
    y, qid = rng.integers(0, 3, 2000).astype(float), np.repeat(np.arange(200), 10)

    def values(score):
        return ndcg_score(y, score, qid, k=10, per_query=True)[1]

    good = y + 0.5 * rng.normal(size=2000)
    np.testing.assert_allclose(blend_weights(np.stack([good, good]), values), 0.5)
    weights = blend_weights(np.stack([good, -good]), values)
    assert np.nanmean(values(weights @ np.stack([good, -good]))) == np.nanmean(values(good))
    np.testing.assert_array_equal(blend_weights(good[None], values), [1.0])


def test_members_without_weight_are_not_fitted(data):
    X, y, qid = data
    rankers = [("trees", LambdaMART(40, tree="level")), ("wrong", LinearRanker())]
    wrong_way = np.column_stack([X, -y + 0.0])
    wrong_way[:, -1] = np.where(qid % 2 == 0, wrong_way[:, -1], y)  # a feature that trees and weights disagree on
    blend = StackedQueryRanker(rankers, random_state=0).fit(wrong_way, y, qid)
    assert set(blend.rankers_) == {name for name, weight in blend.weights_.items() if weight > 0}


def test_order_of_rows_and_names_of_queries_do_not_matter(data):
    X, y, qid = data
    shuffle = np.random.default_rng(3).permutation(len(y))
    plain = StackedQueryRanker(small(), random_state=0).fit(X, y, qid)
    names = np.array([f"query {-q}" for q in qid], dtype=object)
    other = StackedQueryRanker(small(), random_state=0).fit(X[shuffle], y[shuffle], names[shuffle])
    assert plain.weights_ == other.weights_
    np.testing.assert_array_equal(plain.predict(X), other.predict(X))


def test_missing_values_reach_rankers_that_take_them(data):
    X, y, qid = data
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    holes[:, 1] = np.nan
    blend = StackedQueryRanker(small(), random_state=0).fit(holes, y, qid)
    assert np.isfinite(blend.predict(holes)).all()
    filled = np.where(np.isnan(holes), np.append(np.nanmedian(holes[:, :1]), np.zeros(7)), holes)
    np.testing.assert_allclose(blend._medians[:2], [np.nanmedian(holes[:, 0]), 0])
    assert filled.shape == X.shape


def test_the_default_blend_is_saved_and_ahead_of_its_members_on_average(tmp_path):
    gains = []
    for seed in range(2):
        X, y, qid, _ = make_retrieval(
            360, 10, family="judged", link="saturating", docs_per_query=(5, 15), n_grades=3, random_state=seed
        )
        train, test = qid <= 120, qid > 120
        blend = StackedQueryRanker(random_state=0).fit(X[train], y[train], qid[train])
        alone = [
            ndcg_score(y[test], ranker.predict(X[test]), qid[test], k=10, gain="exp")
            for ranker in blend.rankers_.values()
        ]
        gains.append(ndcg_score(y[test], blend.predict(X[test]), qid[test], k=10, gain="exp") - np.mean(alone))
    assert np.mean(gains) > 0
    save(blend, tmp_path / "blend.rankwise")
    again = load(tmp_path / "blend.rankwise")
    np.testing.assert_array_equal(again.predict(X), blend.predict(X))
    assert again.scores_ == blend.scores_


def test_parameters_of_members_and_the_metric_reach_them(data):
    blend = StackedQueryRanker(metric="map", k=5, gain="linear", n_jobs=2)
    members = dict(blend._default_rankers())
    assert members["lambdarank"].metric == members["linear"].metric == "map"
    assert members["query_rmse"].objective == "query_rmse"
    assert members["lambdarank"].n_jobs == 2
    X, y, qid = data
    with pytest.warns(UserWarning, match="score got no qid"):
        StackedQueryRanker(small(), random_state=0).fit(X, y, qid).score(X, y)


def test_mistakes_are_named(data):
    X, y, qid = data
    with pytest.raises(ValueError, match="cv is 3, but there are 1 queries; give fewer folds or more queries"):
        StackedQueryRanker(small()).fit(X, y)
    with pytest.raises(TypeError, match="'tree' is a RankingTree, not a query ranker"):
        StackedQueryRanker([("tree", RankingTree())]).fit(X, y, qid)
    with pytest.raises(TypeError, match="rankers must be a list of"):
        StackedQueryRanker([LinearRanker()]).fit(X, y, qid)
    with pytest.raises(ValueError, match="rankers must have different names other than 'blend'"):
        StackedQueryRanker([("a", LinearRanker()), ("a", LinearRanker())]).fit(X, y, qid)
    frame = pd.DataFrame(X).assign(color="red")
    frame.columns = frame.columns.astype(str)
    with pytest.raises(ValueError, match="column 8 of X holds categories"):
        StackedQueryRanker(small()).fit(frame, y, qid)
