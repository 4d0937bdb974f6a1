"""Categories in level trees: ordered means against their definition, no leakage, and the same in every order."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rankwise
from rankwise.ltr import LambdaMART
from rankwise.ltr.target_statistics import TargetStatistics
from rankwise.queries import QueryRows
from tests.naive import level_trees as naive


def some_queries(seed, n=120, n_queries=15):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X[:, 1] = rng.integers(0, 6, n)
    X[rng.random(n) < 0.1, 1] = np.nan
    return X, rng.integers(0, 4, n).astype(float), rng.integers(0, n_queries, n), rng.random(n) + 0.1


@pytest.mark.parametrize("n_queries", [1, 15])
def test_means_are_over_rows_of_queries_before(n_queries):
    X, y, qid, weight = some_queries(0, n_queries=n_queries)
    rows = QueryRows.build(X, y, qid, weight, seed=3)
    statistics, changed = TargetStatistics.learn(rows, np.array([False, True, False]), seed=5)
    target = np.concatenate([part - part.mean() for part in np.split(rows.grade, rows.bounds[1:-1])])
    query = rows.query if n_queries > 1 else np.arange(len(y))
    order = np.random.default_rng(5).permutation(query.max() + 1)
    expected = naive.ordered_means(rows.X[:, 1], target, rows.weight, query, order, 1.0)
    np.testing.assert_allclose(changed.X[:, 1], expected, atol=1e-12)
    np.testing.assert_array_equal(changed.X[:, ::2], rows.X[:, ::2])
    for category in range(6):
        own = rows.X[:, 1] == category
        of_all = statistics.transform(np.array([[0, float(category), 0]]))[0, 1]
        assert of_all == pytest.approx(rows.weight[own] @ target[own] / (1 + rows.weight[own].sum()))
    np.testing.assert_array_equal(statistics.transform(np.array([[0, np.nan, 1], [0, 9, 1]]))[:, 1], [np.nan, 0])


def test_comparisons_count_for_who_won_and_against_who_lost():
    X = np.array([[0.0], [1.0], [1.0]])
    rows = QueryRows.build(X, None, None, pairs=[[0, 1], [0, 2], [2, 1]], pair_weight=[1, 1, 4])
    statistics, _ = TargetStatistics.learn(rows, np.array([True]), seed=0)
    np.testing.assert_allclose(statistics.transform(np.array([[0.0], [1.0]]))[:, 0], [2 / (1 + 1), (3 - 5) / (1 + 2)])


def test_the_name_of_a_row_says_nothing_about_its_relevance():
    rng = np.random.default_rng(0)
    y, qid = rng.integers(0, 3, 300), np.repeat(np.arange(30), 10)
    for names in (np.arange(300), np.repeat(np.arange(60), 5)):  # of rows, or of parts of queries
        ranker = LambdaMART(10, tree="level", categorical_features=[0], random_state=0)
        ranker.fit(names[:, None].astype(float), y, qid)
        assert (ranker.booster_.feature == -1).all()
        assert len(set(ranker.predict(names[:, None].astype(float)))) == 1


def categories(seed=0, n=1200):
    rng = np.random.default_rng(seed)
    shop = rng.integers(0, 40, n)
    worth = rng.normal(size=40)
    y = np.clip(np.round(worth[shop] + 0.5 * rng.normal(size=n) + 1), 0, 4)
    names = np.array([f"shop {number}" for number in range(40)])
    frame = pd.DataFrame({"noise": rng.normal(size=n), "shop": names[shop], "price": rng.normal(size=n)})
    return frame, y, np.repeat(np.arange(n // 20), 20)


def test_categories_rank_rows_of_other_queries_in_any_order_of_rows_and_threads():
    frame, y, qid = categories()
    train, test = qid < 40, qid >= 40
    options = {"tree": "level", "random_state": 0, "score_gain": "exp"}
    ranker = LambdaMART(50, **options).fit(frame[train], y[train], qid[train])
    alone = LambdaMART(50, **options).fit(frame[train][["noise", "price"]], y[train], qid[train])
    held_out = frame[test], y[test], qid[test]
    assert ranker.score(*held_out) > alone.score(held_out[0][["noise", "price"]], *held_out[1:]) + 0.2
    assert ranker.feature_importances_.argmax() == 1
    shuffle = np.random.default_rng(1).permutation(np.flatnonzero(train))
    other = LambdaMART(50, n_jobs=2, **options).fit(frame.iloc[shuffle], y[shuffle], qid[shuffle])
    np.testing.assert_array_equal(other.predict(frame), ranker.predict(frame))
    parts = ranker.explain(frame, 0, 5).effects
    scores = ranker.predict(frame.iloc[[0, 5]])
    assert parts.sum() == pytest.approx(scores[0] - scores[1])
    unseen = frame.iloc[:2].assign(shop=["shop 99", None])
    assert np.isfinite(ranker.predict(unseen)).all()


def test_early_stopping_warm_start_and_files_keep_the_statistics(tmp_path):
    frame, y, qid = categories(1)
    whole = LambdaMART(12, tree="level", random_state=0).fit(frame, y, qid)
    parts = LambdaMART(5, tree="level", random_state=0, warm_start=True).fit(frame, y, qid)
    parts.set_params(n_estimators=12).fit(frame, y, qid)
    np.testing.assert_array_equal(parts.predict(frame), whole.predict(frame))
    stopped = LambdaMART(30, tree="level", random_state=0, early_stopping=True).fit(frame, y, qid)
    assert stopped.history_["validation"][-1] > stopped.history_["validation"][0]
    rankwise.save(whole, tmp_path / "ranker")
    np.testing.assert_array_equal(rankwise.load(tmp_path / "ranker").predict(frame), whole.predict(frame))


def test_categories_have_no_order_that_scores_could_follow():
    frame, y, qid = categories()
    with pytest.raises(ValueError, match="column 1 of X holds categories, which have no order"):
        LambdaMART(2, tree="level", monotone_constraints={"shop": 1}).fit(frame, y, qid)
