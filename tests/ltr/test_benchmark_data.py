"""Rankers on files that others ship: sparse features, float grades, comparisons and weights of groups."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from rankwise.datasets import load_retrieval
from rankwise.ltr import LambdaMART, LinearRanker
from rankwise.metrics import ndcg_score


def tab_separated(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file]
    # Column 1 is the query, 2 the grade, 3 an address and 4 something else; features follow.
    return (
        np.array([line[5:] for line in lines], float),
        np.array([line[2] for line in lines], float),
        [line[1] for line in lines],
    )


def test_the_example_of_lightgbm(benchmark_data):
    data = load_retrieval("lightgbm_example", data_home=benchmark_data)
    parts = {}
    for part in ("train", "test"):
        rows = data.splits[part]
        X = data.X[rows]
        parts[part] = X.toarray() if hasattr(X, "toarray") else X, data.y[rows], data.qid[rows]
    by_chance = ndcg_score(parts["test"][1], np.zeros(len(parts["test"][1])), parts["test"][2], k=10, gain="exp")
    assert LambdaMART(60, random_state=0).fit(*parts["train"]).score(*parts["test"]) > by_chance + 0.1
    assert LinearRanker(C=0.01, random_state=0).fit(*parts["train"]).score(*parts["test"]) > by_chance + 0.05


@pytest.mark.parametrize("target", ["grades", "comparisons"])
def test_the_example_of_catboost(benchmark_data, target):
    folder = benchmark_data / "ltr" / "catboost_querywise"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there")
    X, y, qid = tab_separated(folder / "train.gz")
    X_test, y_test, qid_test = tab_separated(folder / "test.gz")
    ranker = LambdaMART(40, gain="linear", random_state=0)
    if target == "grades":
        group_weight = dict(np.loadtxt(folder / "train.group_weights.gz", dtype=str))
        ranker.fit(X, y, qid, np.array([float(group_weight[query]) for query in qid]))
    else:
        ranker.fit(X, pairs=np.loadtxt(folder / "train.pairs.gz", dtype=int)[:, :2])
    score = ranker.predict(X_test)
    by_chance = ndcg_score(y_test, np.zeros(len(y_test)), qid_test, k=10)
    assert ndcg_score(y_test, score, qid_test, k=10) > by_chance + 0.01
