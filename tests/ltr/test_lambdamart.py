"""LambdaMART: the paper's update, LightGBM's own lambdarank, and what users bring."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

from rankwise._features import FeatureEncoder
from rankwise.datasets import make_retrieval
from rankwise.ltr import LambdaMART, lambda_gradients
from rankwise.ltr.boosting import BoostingSettings, LightGBMTrees
from rankwise.ltr.losses import losses_of
from rankwise.metrics import average_precision_score, ndcg_score
from rankwise.queries import QueryRows
from tests.ltr.reference import exact_sigmoid, lightgbm_gradients, reference_boosting, table_sigmoid


@pytest.fixture(scope="module")
def data():
    X, y, qid, _ = make_retrieval(120, 6, docs_per_query=(1, 20), random_state=0)
    return X, y, qid


def query_rows(X, y, qid):
    """Rows in the given order, as they lie."""
    bounds = np.append(0, np.cumsum(np.bincount(qid)[1:])).astype(np.intp)
    return QueryRows(X, y.astype(float), np.ones(len(y)), bounds)


class Settings(BoostingSettings):
    """Settings with further parameters of LightGBM."""

    def __init__(self, n_features, n_trees, num_leaves=31, learning_rate=0.1, **lightgbm):
        plain = LambdaMART(n_trees, learning_rate, num_leaves, tree="leaf", n_jobs=1)
        plain._encoder = FeatureEncoder()
        plain._encoder.categories_ = [None] * n_features
        super().__init__(**vars(plain._settings(seed=0)))
        object.__setattr__(self, "lightgbm", lightgbm)

    def for_lightgbm(self, n_rows):
        return {**super().for_lightgbm(n_rows), "min_data_in_leaf": 20, **self.lightgbm}


def boosted(rows, objective, n_trees=10, **settings):
    trees = LightGBMTrees()
    trees.fit(rows, objective, Settings(rows.X.shape[1], n_trees, **settings), None)
    assert len(trees) == n_trees
    return trees.booster


@pytest.mark.parametrize("name", ["lambdarank", "pairwise_logistic", "pointwise_squared", "pointwise_logistic"])
def test_boosting_computes_the_update_of_the_definition(name):
    X, y, qid, _ = make_retrieval(40, 5, random_state=1)
    X = np.round(X * 3)  # few values, so that histograms hold them all
    rows = query_rows(X, y, qid)
    objective = LambdaMART(objective=name, gap_norm=False, query_norm=False)._objective(rows)
    small_leaves = {"min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 0.0, "min_data_in_bin": 1}
    wanted = reference_boosting(X, objective, 4, 0.5, 6, seed=0)
    for n_trees in (1, 4):
        booster = boosted(rows, objective, n_trees, num_leaves=6, learning_rate=0.5, **small_leaves)
        np.testing.assert_allclose(booster.predict(X), wanted[n_trees - 1], atol=1e-5)


def per_query(rows, sigmoid, truncation):
    def objective(score, _):
        parts = [
            lightgbm_gradients(rows.grade[a:b], score[a:b], truncation, sigmoid)
            for a, b in zip(rows.bounds[:-1], rows.bounds[1:], strict=True)
        ]
        return np.concatenate([slope for slope, _ in parts]), np.concatenate([bend for _, bend in parts])

    return objective


@pytest.mark.parametrize("truncation", [5, 30])
def test_lambdarank_of_lightgbm_is_reproduced(data, truncation):
    import lightgbm

    rows = query_rows(*data)
    settings = {"objective": "lambdarank", "lambdarank_truncation_level": truncation, "verbosity": -1, "num_threads": 1}
    settings |= {"deterministic": True, "force_col_wise": True, "learning_rate": 0.1, "feature_pre_filter": False}
    groups = np.diff(rows.bounds)
    built_in = lightgbm.train(settings, lightgbm.Dataset(rows.X, rows.grade, group=groups), 10).predict(rows.X)
    # With the rounded sigmoid of LightGBM, to the digits of its 32-bit gradients ...
    rounded = boosted(rows, per_query(rows, table_sigmoid, truncation)).predict(rows.X)
    np.testing.assert_allclose(rounded, built_in, atol=1e-6)
    # ... and ours is the same with the exact one, which differs by what rounding it costs.
    ours = LambdaMART(tree="leaf", truncation=truncation)._objective(rows)
    exact = per_query(rows, exact_sigmoid, truncation)
    for score in (np.zeros(len(rows.X)), built_in, np.random.default_rng(0).normal(size=len(rows.X))):
        np.testing.assert_allclose(ours(score, None), exact(score, None), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(boosted(rows, ours).predict(rows.X), built_in, atol=1e-4)


@pytest.mark.parametrize(
    "options",
    [{}, {"n_draws": 2}, {"early_stopping": True, "n_iter_no_change": 5}, {"subsample": 0.7, "colsample": 0.7}],
)
def test_order_of_rows_and_names_of_queries_do_not_matter(data, options):
    X, y, qid = data
    shuffle = np.random.default_rng(3).permutation(len(y))
    plain = LambdaMART(15, random_state=0, **options).fit(X, y, qid)
    names = np.array([f"query {-q}" for q in qid], dtype=object)
    shuffled = LambdaMART(15, random_state=0, n_jobs=2, **options).fit(X[shuffle], y[shuffle], names[shuffle])
    np.testing.assert_array_equal(plain.predict(X), shuffled.predict(X))
    assert plain.history_ == shuffled.history_


@pytest.mark.parametrize("objective", ["lambdarank", "pointwise_squared"])
def test_threads_change_nothing_not_by_a_bit(objective):
    X, y, qid, _ = make_retrieval(200, random_state=0)
    spread = np.exp(4 * np.random.default_rng(0).normal(size=200))  # sums of weights so different are rounded
    weight = spread[np.unique(qid, return_inverse=True)[1]]
    rankers = [LambdaMART(30, objective=objective, n_jobs=n_jobs, random_state=0) for n_jobs in (1, 2, 3)]
    one, *more = (ranker.fit(X, y, qid, sample_weight=weight).predict(X) for ranker in rankers)
    for scores in more:
        np.testing.assert_array_equal(scores, one)


@pytest.mark.parametrize("tree", ["leaf", "level"])
@pytest.mark.parametrize("objective", ["lambdarank", "pairwise_logistic", "pointwise_squared"])
def test_weights_count_relative_to_each_other(data, objective, tree):
    X, y, qid = data
    weight = np.random.default_rng(0).integers(1, 4, qid.max() + 1).astype(float)[qid]
    ranker = LambdaMART(10, objective=objective, tree=tree, gap_norm=False, query_norm=False, random_state=0)
    one, *more = (
        ranker.fit(X, y, qid, sample_weight=scale * weight).predict(X) for scale in (1.0, 2.0**-30, 2.0**130, 2.0**1000)
    )
    for scores in more:
        np.testing.assert_array_equal(scores, one)
    assert len(np.unique(one)) > 10


def test_comparisons_count_relative_to_each_other(data):
    X = data[0]
    pairs = np.random.default_rng(0).permutation(len(X))[: len(X) // 2 * 2].reshape(-1, 2)
    one, *more = (
        LambdaMART(10, random_state=0).fit(X, pairs=pairs, pair_weight=np.full(len(pairs), w)).predict(X)
        for w in (1.0, 1e-9, 1e39)
    )
    for scores in more:
        np.testing.assert_allclose(scores, one, atol=1e-12)


@pytest.mark.parametrize("tree", ["leaf", "level"])
def test_order_of_equal_rows_does_not_matter_to_comparisons(data, tree):
    X = np.round(data[0][:, :3] * 2) / 2  # many rows are equal, but win and lose
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, len(X), (3000, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    weight, order = rng.random(len(pairs)), rng.permutation(len(X))
    plain = LambdaMART(10, tree=tree, random_state=0).fit(X, pairs=pairs, pair_weight=weight)
    shuffled = LambdaMART(10, tree=tree, random_state=0)
    shuffled.fit(X[order], pairs=np.argsort(order)[pairs], pair_weight=weight)
    np.testing.assert_array_equal(plain.predict(X), shuffled.predict(X))


def test_one_nan_is_as_good_as_another(data):
    X, y, qid = data
    plain, signed = X.copy(), X.copy()
    plain[::5, 0] = np.nan
    signed[::5, 0] = np.copysign(np.nan, -1)
    fits = [LambdaMART(5, random_state=0).fit(missing, y, qid).predict(plain) for missing in (plain, signed)]
    np.testing.assert_array_equal(*fits)


def test_ties_and_noise_follow_the_seed(data):
    fits = [LambdaMART(5, n_draws=1, random_state=seed).fit(*data).predict(data[0]) for seed in (0, 0, 1)]
    np.testing.assert_array_equal(fits[0], fits[1])
    assert not np.array_equal(fits[0], fits[2])


def test_queries_of_one_row_and_without_relevant_rows_are_harmless(data):
    X, y, qid = data
    more = np.concatenate([X, X[:3], X[:1]]), np.append(y, [0, 0, 0, 4]), np.append(qid, [900, 900, 900, 901])
    options = {"n_estimators": 5, "min_samples_leaf": 30, "max_bins": 16, "tree": "leaf", "random_state": 0}
    with_them, without = LambdaMART(**options).fit(*more), LambdaMART(**options).fit(*data)
    assert np.isfinite(with_them.predict(X)).all()
    assert with_them.score(*more) == pytest.approx(without.score(*data), abs=0.05)


@pytest.fixture(scope="module")
def split():
    X, y, qid, _ = make_retrieval(200, 10, random_state=2)
    train = qid <= 140
    return (X[train], y[train], qid[train]), (X[~train], y[~train], qid[~train])


@pytest.mark.parametrize("objective", losses_of("LambdaMART"))
def test_every_objective_learns(split, objective):
    train, test = split
    ranker = LambdaMART(60, objective=objective, random_state=0).fit(*train)
    by_chance = ndcg_score(test[1], np.zeros(len(test[1])), test[2], k=10, gain="exp")
    assert ranker.score(*test) > by_chance + 0.15


def test_lambdaloss_learns_as_fast_as_lambdarank():
    """With pairs divided by the gaps of scores it would end up to .06 below on such data."""
    X, y, qid, _ = make_retrieval(300, 20, family="judged", link="saturating", n_grades=3, random_state=0)
    train = qid <= 150
    curves = [
        LambdaMART(80, objective=objective, tree="level", random_state=0)
        .fit(X[train], y[train], qid[train], eval_set=(X[~train], y[~train], qid[~train]))
        .history_["validation"]
        for objective in ("lambdarank", "lambdaloss")
    ]
    assert np.mean(curves[1][20:]) > np.mean(curves[0][20:]) - 0.005
    assert curves[1][-1] > curves[0][-1] - 0.005


@pytest.mark.parametrize("metric", ["ndcg", "dcg", "map", "mrr", "err", "precision", "recall", "hit_rate"])
def test_every_metric_can_be_learnt_and_watched(split, metric):
    train, test = split
    k = 1 if metric == "hit_rate" else 5  # nearly all queries have a hit among five
    ranker = LambdaMART(
        40, metric=metric, k=k, score_gain="exp", early_stopping=True, n_iter_no_change=40, random_state=0
    ).fit(*train, eval_set=test)
    watched = ranker.history_["validation"]
    assert ranker.n_estimators_ == np.argmax(watched) + 1
    assert ranker.score(*test) == pytest.approx(max(watched), abs=1e-12)
    assert max(watched) > watched[0]


def test_score_is_the_metric_at_the_cut_off(split):
    train, test = split
    ranker = LambdaMART(10, random_state=0).fit(*train)
    assert ranker.score(*test) == ndcg_score(test[1], ranker.predict(test[0]), test[2], k=10)
    ranker.set_params(score_gain="exp")
    assert ranker.score(*test) == ndcg_score(test[1], ranker.predict(test[0]), test[2], k=10, gain="exp")
    ranker.set_params(score_gain="linear", k=None)
    assert ranker.score(*test) == ndcg_score(test[1], ranker.predict(test[0]), test[2])
    ranker.set_params(metric="map", k=3)
    assert ranker.score(*test) == average_precision_score(test[1], ranker.predict(test[0]), test[2], k=3)


def test_score_warns_without_queries_and_weighs_them(split):
    train, (X, y, qid) = split
    ranker = LambdaMART(5, random_state=0).fit(*train)
    with pytest.warns(UserWarning, match="fitted on 140 queries, but score got no qid"):
        ranker.score(X, y)
    heavy = np.where(qid == qid[0], 1.0, 0.0)
    first = qid == qid[0]
    assert ranker.score(X, y, qid, heavy) == pytest.approx(ranker.score(X[first], y[first], qid[first]))


def test_early_stopping_holds_out_whole_queries(split):
    ranker = LambdaMART(
        500, 0.3, early_stopping=True, n_iter_no_change=5, validation_fraction=0.25, random_state=0
    ).fit(*split[0])
    watched = ranker.history_["validation"]
    assert len(watched) == ranker.n_estimators_ + 5 < 500
    assert ranker.n_estimators_ == np.argmax(watched) + 1


def test_history_is_that_of_training_where_nothing_is_held_out(data):
    ranker = LambdaMART(7, score_gain="exp", random_state=0).fit(*data)
    assert len(ranker.history_["training"]) == 7
    assert ranker.history_["training"][-1] == pytest.approx(ranker.score(*data), abs=1e-9)


@pytest.mark.parametrize(("k", "gain"), [(None, "exp"), (3, "linear"), (10, [0, 1, 2, 5, 9])])
def test_the_metric_that_is_watched_is_the_score(data, k, gain):
    X, y, qid = data
    ranker = LambdaMART(3, k=k, gain=gain, score_gain=gain, random_state=0).fit(X, y, qid)
    assert ranker.history_["training"][-1] == pytest.approx(ranker.score(X, y, qid), abs=1e-12)


@pytest.mark.parametrize("options", [{}, {"tree": "leaf"}, {"tree": "leaf", "n_draws": 2}])
def test_warm_start_continues(data, options):
    whole = LambdaMART(12, random_state=0, **options).fit(*data)
    parts = LambdaMART(5, random_state=0, warm_start=True, **options).fit(*data)
    parts.set_params(n_estimators=12).fit(*data)
    np.testing.assert_allclose(parts.predict(data[0]), whole.predict(data[0]), atol=1e-9)
    np.testing.assert_allclose(parts.history_["training"], whole.history_["training"], atol=1e-9)
    assert len(parts.booster_) == 12
    parts.fit(*data)
    assert len(parts.booster_) == 12
    with pytest.raises(ValueError, match="n_estimators is 3, but warm_start keeps the 12 trees"):
        parts.set_params(n_estimators=3).fit(*data)


def test_rank_gives_places_within_queries(data):
    X, y, qid = data
    ranker = LambdaMART(5, random_state=0).fit(X, y, qid)
    positions, score = ranker.rank(X, qid), ranker.predict(X)
    for query in np.unique(qid):
        rows = qid == query
        distinct = np.unique(-score[rows])
        np.testing.assert_array_equal(positions[rows], np.searchsorted(distinct, -score[rows]) + 1)


def test_explain_adds_up_to_the_difference_of_scores(data):
    X, y, qid = data
    ranker = LambdaMART(20, early_stopping=True, n_iter_no_change=3, random_state=0).fit(X, y, qid)
    score = ranker.predict(X)
    for i, j in ((0, 1), (5, 2)):
        parts = ranker.explain(X, i, j).effects
        assert parts.shape == (6,)
        assert parts.sum() == pytest.approx(score[i] - score[j], abs=1e-9)
        np.testing.assert_allclose(parts, -ranker.explain(X, j, i).effects)


def test_feature_importances_find_the_feature_that_matters():
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(600, 4)), np.repeat(np.arange(60), 10)
    importances = LambdaMART(10, random_state=0).fit(X, (X[:, 2] > 0.5).astype(int), qid).feature_importances_
    assert importances.argmax() == 2
    assert importances.sum() == pytest.approx(1)


def test_comparisons_replace_grades():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    pairs = rng.integers(0, 300, (2000, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    better = X[pairs[:, 0], 0] > X[pairs[:, 1], 0]
    pairs = np.where(better[:, None], pairs, pairs[:, ::-1])
    ranker = LambdaMART(30, tree="leaf", random_state=0).fit(X, pairs=pairs)
    score = ranker.predict(X)
    assert np.mean(score[pairs[:, 0]] > score[pairs[:, 1]]) > 0.95
    assert ranker.history_ == {}
    more = LambdaMART(5, tree="leaf", random_state=0, warm_start=True).fit(X, pairs=pairs)
    assert more.fit(X, pairs=pairs).n_estimators_ == 5
    # Pairs in any order, and twice where a pair counts twice.
    shuffled = rng.permutation(len(pairs))
    np.testing.assert_array_equal(
        LambdaMART(5, tree="leaf", random_state=0).fit(X, pairs=pairs[shuffled]).predict(X),
        LambdaMART(5, tree="leaf", random_state=0).fit(X, pairs=pairs).predict(X),
    )
    twice = LambdaMART(5, tree="leaf", random_state=0).fit(X, pairs=np.repeat(pairs, 2, axis=0))
    weighted = LambdaMART(5, tree="leaf", random_state=0).fit(X, pairs=pairs, pair_weight=np.full(len(pairs), 2.0))
    np.testing.assert_allclose(twice.predict(X), weighted.predict(X), atol=1e-6)


def test_rows_of_weight_zero_are_left_out(data):
    X, y, qid = data
    kept = qid <= 60
    weighted = LambdaMART(5, random_state=0).fit(X, y, qid, kept.astype(float))
    np.testing.assert_array_equal(
        weighted.predict(X), LambdaMART(5, random_state=0).fit(X[kept], y[kept], qid[kept]).predict(X)
    )


def test_float_and_high_grades_with_their_gains(data):
    X, y, qid = data
    assert np.isfinite(LambdaMART(3, gain="linear").fit(X, y / 3, qid).predict(X)).all()
    assert np.isfinite(LambdaMART(3, gain="linear").fit(X, y * 1000.0, qid).predict(X)).all()
    table = LambdaMART(3, gain=[0, 1, 3, 7, 15], random_state=0).fit(X, y, qid).predict(X)
    np.testing.assert_array_equal(table, LambdaMART(3, random_state=0).fit(X, y, qid).predict(X))


def test_data_frames_are_arrays_with_names(data):
    X, y, qid = data
    names = [f"f{i}" for i in range(X.shape[1])]
    frames = [pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)]
    plain = LambdaMART(3, random_state=0).fit(X, y, qid).predict(X)
    for frame in frames:
        ranker = LambdaMART(3, random_state=0).fit(frame, y, qid)
        np.testing.assert_array_equal(ranker.predict(frame), plain)
        assert list(ranker.feature_names_in_) == names


def test_categories_and_monotone_constraints():
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue", "white"], 800)
    size, qid = rng.normal(size=800), np.repeat(np.arange(80), 10)
    y = np.isin(colour, ["red", "blue"]) + (size > 0.5)
    frame = pd.DataFrame({"colour": colour, "size": size})
    ranker = LambdaMART(20, tree="leaf", monotone_constraints=[0, 1], random_state=0).fit(frame, y, qid)
    assert ranker.score(frame, y, qid) > 0.99
    grid = pd.DataFrame({"colour": "red", "size": np.linspace(-3, 3, 50)})
    assert (np.diff(ranker.predict(grid)) >= 0).all()


def test_clone_and_pickle(data):
    ranker = LambdaMART(3, random_state=0).fit(*data)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(ranker)).predict(data[0]), ranker.predict(data[0]))
    np.testing.assert_array_equal(clone(ranker).fit(*data).predict(data[0]), ranker.predict(data[0]))


@pytest.mark.slow
def test_one_query_of_many_documents_trains():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200_000, 3))
    y = np.clip(np.round(X[:, 0] + rng.normal(size=200_000)), 0, 4)
    ranker = LambdaMART(10, random_state=0).fit(X, y)
    assert ranker.score(X, y) > 0.5


@pytest.mark.parametrize(
    ("options", "arguments", "message"),
    [
        ({}, {"qid": [1, 2]}, r"qid has shape \(2,\), but y has \d+ rows"),
        ({}, {"y": None}, "requires y to be passed"),
        ({}, {"y": [0, 1]}, "inconsistent numbers of samples"),
        ({}, {"y": "ones"}, "no query has two rows of different relevance"),
        ({"objective": "pointwise_squared"}, {"y": "ones"}, "y is the same in all rows"),
        ({}, {"y": "nan"}, r"y\[0\] is nan"),
        ({"early_stopping": True, "n_iter_no_change": 3}, {"qid": None}, "a part of 1 query cannot be held out"),
        (
            {"early_stopping": True, "n_iter_no_change": 3},
            {"eval_set": (np.empty((0, 6)), [], [])},
            "eval_set has no rows",
        ),
        (
            {"early_stopping": True, "n_iter_no_change": 3},
            {"eval_set": (np.zeros((2, 6)), [0, 1])},
            "eval_set has no queries; give eval_qid or eval_group",
        ),
        ({}, {"pairs": [[0, 9999]]}, r"pairs\[0, 1\] is 9999"),
        ({"early_stopping": True, "n_iter_no_change": 3}, {"pairs": [[0, 1]]}, "comparisons cannot be split"),
        ({"tree": "leaf", "monotone_constraints": [1]}, {}, "monotone_constraints must be 6 numbers"),
        ({"objective": "rank"}, {}, "objective"),
        ({}, {"sample_weight": "zeros"}, "sample_weight is zero in all rows"),
    ],
)
def test_bad_input_is_named(data, options, arguments, message):
    X, y, qid = data
    made = {"ones": np.ones(len(y)), "nan": np.full(len(y), np.nan), "zeros": np.zeros(len(y))}
    arguments = {key: made[value] if isinstance(value, str) else value for key, value in arguments.items()}
    with pytest.raises(ValueError, match=message):
        LambdaMART(3, **options).fit(X, **{"y": y, "qid": qid} | arguments)


@pytest.mark.filterwarnings("ignore:no query with weight")
def test_a_validation_set_without_relevant_rows_is_refused(data):
    X, y, qid = data
    with pytest.raises(ValueError, match="no query of the validation set has a relevant row"):
        LambdaMART(3, early_stopping=True, n_iter_no_change=2).fit(X, y, qid, eval_set=(X[:4], np.zeros(4), qid[:4]))


@pytest.mark.parametrize("metric", ["precision", "recall", "hit_rate", "err", "map", "mrr", "dcg"])
def test_training_counts_the_places_of_the_metric(data, metric):
    X, y, qid = data
    fits = [LambdaMART(4, metric=metric, k=k, random_state=0).fit(X, y, qid).predict(X) for k in (1, 3, 3)]
    assert not np.array_equal(fits[0], fits[1])
    np.testing.assert_array_equal(fits[1], fits[2])


def test_gradients_of_training_are_those_at_the_cut_off(data):
    rows = query_rows(*data)
    ranker = LambdaMART(metric="precision", k=3, truncation=None, n_draws=0)
    score = np.random.default_rng(0).normal(size=len(rows.grade))
    found = ranker._objective(rows)(score, np.random.default_rng(0))
    wanted = lambda_gradients(rows.grade, score, rows.query, weight="precision", k=3)
    np.testing.assert_allclose(found, wanted, atol=1e-12)


@pytest.mark.parametrize("objective", ["lambdarank", "pairwise_logistic", "pointwise_squared"])
def test_training_by_ndcg_and_without_a_metric_does_not_depend_on_the_cut_off(data, objective):
    X, y, qid = data
    fits = [LambdaMART(3, objective=objective, k=k, random_state=0).fit(X, y, qid).predict(X) for k in (1, 10)]
    np.testing.assert_array_equal(*fits)


def test_another_metric_can_be_watched(split):
    train, test = split
    ranker = LambdaMART(20, eval_metric="map@5", early_stopping=True, n_iter_no_change=20, random_state=0).fit(
        *train, eval_set=test
    )
    watched = ranker.history_["validation"]
    assert ranker.n_estimators_ == np.argmax(watched) + 1
    value = average_precision_score(test[1], ranker.predict(test[0]), test[2], k=5)
    assert max(watched) == pytest.approx(value, abs=1e-12)
    by_gain = LambdaMART(3, metric="map", eval_metric="ndcg@3", gain="linear", random_state=0).fit(*train)
    value = ndcg_score(train[1], by_gain.predict(train[0]), train[2], k=3, gain="linear")
    assert by_gain.history_["training"][-1] == pytest.approx(value, abs=1e-12)
    with pytest.raises(ValueError, match="'kendall_tau' compares rankings"):
        LambdaMART(3, eval_metric="kendall_tau").fit(*train)
    with pytest.raises(ValueError, match="not a ranking metric"):
        LambdaMART(3, eval_metric="accuracy").fit(*train)


@pytest.mark.parametrize("objective", ["pairwise_logistic", "pointwise_squared"])
def test_what_was_not_asked_for_is_not_evaluated(data, objective):
    X, y, qid = data
    for grade in (y * 1000.0, y - 5.0):
        ranker = LambdaMART(3, objective=objective, random_state=0).fit(X, grade, qid)
        assert ranker.history_ == {}
        assert np.ptp(ranker.predict(X)) > 0
    asked = LambdaMART(3, objective=objective, eval_metric="ndcg@10", score_gain="exp", random_state=0)
    asked.fit(X, y, qid)
    assert asked.history_["training"][-1] == pytest.approx(asked.score(X, y, qid), abs=1e-12)


def test_few_rows_make_small_leaves():
    answers = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]])
    ranker = LambdaMART(20, tree="leaf", random_state=0).fit(answers, pairs=[[2, 0], [1, 0], [2, 1]])
    np.testing.assert_array_equal(ranker.rank(answers), [3, 2, 1])
    X = np.arange(30.0)[:, None]
    score = LambdaMART(5, tree="leaf", random_state=0).fit(X, X[:, 0] > 20).predict(X)
    assert score[23:].min() > score[:19].max()  # bins hold three rows
    plain, given = (LambdaMART(5, tree="leaf", min_samples_leaf=n, random_state=0) for n in (None, 20))
    X, y, qid, _ = make_retrieval(30, 4, random_state=0)
    np.testing.assert_array_equal(plain.fit(X, y, qid).predict(X), given.fit(X, y, qid).predict(X))


def test_misplaced_arguments_are_named(data):
    X, y, qid = data
    with pytest.raises(ValueError, match="pair_weight weighs comparisons, but there are no pairs"):
        LambdaMART(3).fit(X, y, qid, pair_weight=np.ones(4))
    with pytest.raises(ValueError, match="comparisons are weighted by pair_weight"):
        LambdaMART(3).fit(X, pairs=[[0, 1]], sample_weight=np.ones(len(X)))
    with pytest.raises(ValueError, match="pair_weight is zero in all pairs"):
        LambdaMART(3).fit(X, pairs=[[0, 1]], pair_weight=[0.0])
    with pytest.raises(ValueError, match="requires y"):
        LambdaMART(3, early_stopping=True, n_iter_no_change=2).fit(X, y, qid, eval_set=(X, None, qid))
    for tree, scale in (("leaf", 1e39), ("level", 1e200)):
        with pytest.raises(ValueError, match=r"gradients of the objective reach .*divide y"):
            LambdaMART(3, objective="pointwise_squared", tree=tree).fit(X, y * scale, qid)
    with pytest.raises(ValueError, match=r"LightGBM refuses these parameters for \d+ rows"):
        LambdaMART(3, tree="leaf", subsample=1e-9).fit(X, y, qid)
    with pytest.raises(TypeError, match="y holds text, not numbers"):
        LambdaMART(3).fit(X, y.astype(str), qid)
    with pytest.raises(ValueError, match="num_leaves"):
        LambdaMART(3, num_leaves=200_000).fit(X, y, qid)
    with pytest.raises(ValueError, match=r"qid has shape \(2,\), but X has 4 rows"):
        LambdaMART(2, random_state=0).fit(X, y, qid).rank(X[:4], [1, 2])
    with pytest.raises(ValueError, match=r"qid has shape \(2,\), but X has 4 rows"):
        LambdaMART(2, random_state=0).fit(X, y, qid).score(X[:4], y[:4], qid=[1, 2])


def test_cut_off_weighs_by_ndcg_at_k(data):
    X, y, qid = data
    rows = QueryRows.build(X, y, qid)
    score = np.random.default_rng(0).normal(size=len(y))
    for ranker, k in ((LambdaMART(k=2, cut_off=True, n_draws=0), 2), (LambdaMART(k=2, n_draws=0), None)):
        found = ranker._objective(rows)(score, np.random.default_rng(0))
        wanted = lambda_gradients(rows.grade, score, rows.query, weight="ndcg", k=k, truncation=30)
        np.testing.assert_allclose(found, wanted, atol=1e-12)


@pytest.mark.parametrize(("name", "value"), [("num_leaves", 7), ("min_samples_leaf", 500)])
def test_parameters_without_effect_are_refused(data, name, value):
    with pytest.raises(ValueError, match=f"{name} is {value}, but level trees have no such limit; set .*tree='leaf'"):
        LambdaMART(2, **{name: value}).fit(*data)


def test_defaults_follow_the_kind_of_tree(data):
    """Of leaf-wise trees they are those of LightGBM; of level trees those that benchmarks/ltr_defaults.py chose."""
    rows = query_rows(*data)
    for tree, norms, draws in (("leaf", True, 0), ("level", False, 2)):
        loss = LambdaMART(tree=tree)._objective(rows)
        assert loss.n_draws == draws
        assert (loss.weighting.by_gap, loss.weighting.by_query) == (norms, norms)
        assert LambdaMART(tree=tree, objective="pairwise_logistic")._objective(rows).n_draws == 0
    assert LambdaMART().tree == "level"
    assert LambdaMART(objective="yetirank")._objective(rows).n_draws == 10
