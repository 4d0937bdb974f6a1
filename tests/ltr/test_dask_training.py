"""LambdaMART on a Dask cluster: partitions with whole queries, and two workers that train together."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from rankwise.datasets import make_retrieval
from rankwise.ltr import LambdaMART
from rankwise.ltr._level_cluster import Part, grow_on_parts
from rankwise.ltr.dask_training import _prepared_part, align_to_queries, fit_on_cluster

da = pytest.importorskip("dask.array", reason="needs the extra 'dask'")
pytest.importorskip("distributed", reason="needs the extra 'dask'")


def on_dask(X, y, qid, size):
    return da.from_array(X, chunks=(size, -1)), da.from_array(y, chunks=size), da.from_array(qid, chunks=size)


@pytest.fixture(scope="module")
def data():
    X, y, qid, _ = make_retrieval(80, 5, random_state=0)
    return X, y, qid


def test_partitions_end_with_queries(data):
    X, y, qid = data
    features, grade, queries = align_to_queries(*on_dask(X, y, qid, 300)[:2], qid=da.from_array(qid, chunks=300))
    assert features.chunks[0] == grade.chunks[0] == queries.chunks[0]
    ends = np.cumsum(queries.chunks[0])
    assert (qid[ends[:-1] - 1] != qid[ends[:-1]]).all()
    assert len(ends) >= len(qid) // 300
    assert abs(ends[:-1, None] - np.arange(300, len(qid), 300)).min(axis=1).max() <= 50  # the longest query
    np.testing.assert_array_equal(features.compute(), X)
    np.testing.assert_array_equal(queries.compute(), qid)


def test_a_query_longer_than_a_partition_is_one_partition():
    y, qid = align_to_queries(da.arange(7, chunks=2), qid=da.from_array(np.array(list("aaaaabb")), chunks=2))
    assert qid.chunks == y.chunks == ((5, 2),)


def test_queries_that_are_cut_or_scattered_are_refused(data):
    X, y, qid = data
    with pytest.raises(ValueError, match=r"query \d+ has rows in partitions 0 and 1; .* align_to_queries"):
        fit_on_cluster(LambdaMART(3, tree="leaf"), *on_dask(X, y, qid, 300))
    with pytest.raises(ValueError, match="rows of query 1 do not lie together"):
        align_to_queries(qid=da.from_array(np.array([1, 2, 1]), chunks=3))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"early_stopping": True, "n_iter_no_change": 3}, "early_stopping is True"),
        ({"warm_start": True}, "warm_start is True"),
        ({"objective": "pointwise_squared"}, "depends on the grades of all rows"),
        ({"metric": "err"}, "depends on the grades of all rows"),
        ({"categorical_features": [0]}, "encode them as numbers"),
    ],
)
def test_what_clusters_cannot_do_is_refused(data, options, message):
    with pytest.raises(ValueError, match=message):
        fit_on_cluster(LambdaMART(3, **options), *on_dask(*data, 10_000))


def test_partitions_that_differ_are_refused(data):
    X, y, qid = on_dask(*data, 10_000)
    with pytest.raises(ValueError, match=r"y is cut into partitions of .* but X into"):
        fit_on_cluster(LambdaMART(3, tree="leaf"), X, y.rechunk(500), qid)
    with pytest.raises(ValueError, match="all its columns in one partition"):
        fit_on_cluster(LambdaMART(3, tree="leaf"), X.rechunk({1: 2}), y, qid)
    with pytest.raises(TypeError, match="X is of type ndarray"):
        fit_on_cluster(LambdaMART(3, tree="leaf"), data[0], y, qid)


def test_weights_of_zero_are_refused_where_rows_lie():
    with pytest.raises(ValueError, match="drop such rows first"):
        _prepared_part(np.zeros((2, 1)), np.array([0.0, 1.0]), np.array([1, 1]), np.array([1.0, 0.0]), seed=0)


def assert_same_trees(trees, others):
    for name in ("feature", "threshold", "missing_left", "gain", "value", "count"):
        np.testing.assert_array_equal(getattr(trees, name), getattr(others, name), err_msg=name)


@pytest.mark.parametrize(
    "options",
    [{}, {"colsample": 0.5, "random_strength": 0.0}, {"max_bins": 7, "monotone_constraints": [1, -1, 0, 0, 0]}],
)
@pytest.mark.parametrize("n_parts", [1, 3])
def test_parts_grow_the_level_trees_of_one_machine(data, options, n_parts):
    X, y, qid = data
    X = np.where(np.arange(len(X))[:, None] % 7 < [1, 0, 0, 2, 0], np.nan, np.round(X, 1))
    X[:, 4] = 1.0
    ranker = LambdaMART(12, objective="query_rmse", random_state=0, **options).fit(X, y, qid)
    settings = ranker._settings(int(np.random.default_rng(0).integers(2**63)))
    parts = [
        Part(X[own], y[own], qid[own], None, number, settings, ranker._objective)
        for number, own in enumerate(qid % n_parts == number for number in range(n_parts))
    ]
    grown = grow_on_parts(lambda name, *said: [getattr(part, name)(*said) for part in parts], 5, settings)
    assert_same_trees(grown, ranker.booster_)


def test_parts_weigh_rows_by_the_mean_of_all_and_draw_numbers_of_their_own(data):
    X, y, qid = data
    weight = np.where(qid % 3 == 0, 8.0, 0.5)
    settings = LambdaMART(6, subsample=0.7, random_state=0).fit(X, y, qid)._settings(7)
    asked = []
    for scale in (1.0, 4.0):
        ranker = LambdaMART(6, random_state=0)
        parts = [
            Part(X[own], y[own], qid[own], scale * weight[own], number, settings, ranker._objective)
            for number, own in enumerate((qid <= 30, qid > 30))
        ]
        asked.append(grow_on_parts(lambda name, *said: [getattr(p, name)(*said) for p in parts], 5, settings))  # noqa: B023
    assert_same_trees(*asked)
    assert len(parts[0].seen) == round(0.7 * (qid <= 30).sum())
    with pytest.raises(ValueError, match="drop such rows first"):
        Part(X[:2], y[:2], qid[:2], np.array([1.0, 0.0]), 0, settings, ranker._objective)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_a_cluster_grows_level_trees_wherever_partitions_lie(data):
    from distributed import Client

    X, y, qid = data
    arrays = align_to_queries(*on_dask(X, y, qid, 700)[:2], qid=da.from_array(qid, chunks=700))
    with Client(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as client:
        together = fit_on_cluster(LambdaMART(5, objective="query_rmse", random_state=0), *arrays, client=client)
        drawn = fit_on_cluster(LambdaMART(5, random_state=0), *arrays)
    assert_same_trees(together.booster_, LambdaMART(5, objective="query_rmse", random_state=0).fit(X, y, qid).booster_)
    assert drawn.n_queries_ == 80
    assert drawn.score(X, y, qid) > 0.6


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_two_workers_train_as_well_as_one_machine(data):
    from distributed import Client, LocalCluster

    X, y, qid = data
    weight = np.where(qid % 2 == 0, 2.0, 1.0)
    arrays = align_to_queries(*on_dask(X, y, weight, 300), qid=da.from_array(qid, chunks=300))
    alone = LambdaMART(30, tree="leaf", random_state=0).fit(X, y, qid, weight)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        together = fit_on_cluster(
            LambdaMART(30, tree="leaf", random_state=0), arrays[0], arrays[1], arrays[3], arrays[2], client=client
        )
        by_precision = LambdaMART(5, tree="leaf", metric="map", n_draws=1, random_state=0)
        fit_on_cluster(by_precision, arrays[0], arrays[1], arrays[3], client=client)
        levels = LambdaMART(10, objective="query_rmse", random_state=0)
        fit_on_cluster(levels, arrays[0], arrays[1], arrays[3], client=client)
    assert_same_trees(levels.booster_, clone(levels).fit(X, y, qid).booster_)
    assert together.n_queries_ == 80
    assert together.booster_.booster.num_trees() == together.n_estimators_ == 30
    assert together.score(X, y, qid) == pytest.approx(alone.score(X, y, qid), abs=0.02)
    assert together.explain(X, 0, 1).effects.sum() == pytest.approx(np.subtract(*together.predict(X[:2])), abs=1e-9)
    assert by_precision.score(X, y, qid) > 0.5
