"""Paired tests over queries."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from rankwise.datasets import make_retrieval
from rankwise.ltr import LambdaMART
from rankwise.model_selection import compare, cross_validate


def test_p_values_are_those_of_the_definitions():
    rng = np.random.default_rng(0)
    a, b = rng.random(10), rng.random(10)
    found = compare({"a": a, "b": b}, n_permutations=200_000, random_state=0)
    sums = [abs(np.dot(signs, a - b)) for signs in product((-1, 1), repeat=10)]
    assert found.p_randomization[0] == pytest.approx(np.mean(np.array(sums) >= abs((a - b).sum()) - 1e-12), abs=0.01)
    assert found.p_t[0] == pytest.approx(stats.ttest_rel(a, b).pvalue)
    interval = stats.ttest_rel(a, b).confidence_interval()
    assert (found.low[0], found.high[0]) == pytest.approx(interval)
    assert found.wins[0] + found.losses[0] + found.ties[0] == 10


def test_p_values_of_many_pairs_are_corrected():
    rng = np.random.default_rng(1)
    values = {name: rng.random(20) + shift for name, shift in (("a", 0), ("b", 0.1), ("c", 0.5))}
    result = compare(values, random_state=0)
    found = dict(zip(zip(result.first, result.second, strict=True), result.p_t, strict=True))
    single = {p: stats.ttest_rel(values[p[0]], values[p[1]]).pvalue for p in found}
    ordered = sorted(single, key=single.get)
    previous = 0.0
    for rank, pair in enumerate(ordered):
        previous = max(previous, min(1.0, single[pair] * (3 - rank)))
        assert found[pair] == pytest.approx(previous)


def test_false_alarms_are_as_rare_as_promised():
    rng = np.random.default_rng(2)
    alarms = [
        compare({"a": rng.normal(size=15), "b": rng.normal(size=15)}, n_permutations=200, random_state=rng)
        for _ in range(400)
    ]
    assert 0.02 < np.mean([found.p_randomization[0] <= 0.05 for found in alarms]) < 0.09


def test_equal_rankers_do_not_differ():
    found = compare({"a": [0.1, 0.2, 0.3], "b": [0.1, 0.2, 0.3]}, random_state=0)
    assert found.p_t[0] == found.p_randomization[0] == 1.0
    assert found.ties[0] == 3
    assert compare({"a": [1.0, 1.0], "b": [0.5, 0.5]}, random_state=0).p_t[0] == 0.0


def test_cross_validations_are_compared_query_by_query():
    X, y, qid, _ = make_retrieval(30, 5, random_state=0)
    results = {
        "boosted": cross_validate(LambdaMART(20, random_state=0), X, y, qid, cv=3, scoring=["ndcg@10", "map"]),
        "stump": cross_validate(
            LambdaMART(1, num_leaves=2, tree="leaf", random_state=0), X, y, qid, cv=3, scoring=["ndcg@10", "map"]
        ),
    }
    found = compare(results, random_state=0)
    assert found.metric == "ndcg@10 (linear gain)"
    assert found.means["boosted"] > found.means["stump"]
    assert "boosted - stump" in str(found)
    assert list(found.to_frame()["first"]) == ["boosted"]
    assert list(results["boosted"].to_frame("polars").columns) == ["query", "ndcg@10", "map"]
    assert compare(results, "map", random_state=0).metric == "map"
    with pytest.raises(ValueError, match="was not scored by 'mrr'"):
        compare(results, "mrr")


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="compare at least two"):
        compare({"a": [1, 2]})
    with pytest.raises(ValueError, match="one value for each query"):
        compare({"a": [1, 2], "b": [1, 2, 3]})
    with pytest.raises(ValueError, match="one value for each query"):
        compare({"a": [[1, 2]], "b": [[1, 2]]})
    with pytest.raises(TypeError, match=r"results\['a'\] is \['x', 'y'\]; give numbers"):
        compare({"a": ["x", "y"], "b": [1, 2]})
    with pytest.raises(ValueError, match="fewer than two queries"):
        compare({"a": [1, np.nan], "b": [1, 2]})


def test_results_need_names():
    with pytest.raises(TypeError, match="results is of type list; name the rankers"):
        compare([[0.1, 0.2], [0.3, 0.4]])
