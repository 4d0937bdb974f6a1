"""Retrieval metrics against definitions, other libraries, the literature and laws."""

from __future__ import annotations

import json
import pickle
import time
from collections.abc import Callable
from functools import partial
from math import comb
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sklearn_metrics
from sklearn.exceptions import UndefinedMetricWarning

from rankwise.metrics import retrieval
from rankwise.queries import group_queries
from tests.naive import retrieval as naive

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "retrieval.json").read_text())
TIES = ("average", "random", "trec", "pessimistic")

# metric -> its value for one order, from grades, the order and k; max_grade is fixed where the metric needs one
NAIVE: dict[str, Callable[[list[float], list[int], int | None], float]] = {
    "ndcg_score": naive.ndcg,
    "dcg_score": naive.dcg,
    "average_precision_score": lambda y, order, k: naive.average_precision([g > 0 for g in y], order, k),
    "reciprocal_rank_score": lambda y, order, k: naive.reciprocal_rank([g > 0 for g in y], order, k),
    "recall_score": lambda y, order, k: naive.recall([g > 0 for g in y], order, k),
    "precision_score": lambda y, order, k: naive.precision([g > 0 for g in y], order, k),
    "err_score": lambda y, order, k: naive.err(y, order, k, 4.0),
    "hit_rate_score": lambda y, order, k: naive.hit([g > 0 for g in y], order, k),
}
METRICS = {name: getattr(retrieval, name) for name in NAIVE} | {"err_score": partial(retrieval.err_score, max_grade=4)}
every_metric = pytest.mark.parametrize("name", METRICS)


@st.composite
def one_query(draw: st.DrawFn, max_rows: int = 6) -> tuple[list[float], list[float]]:
    """Grades and scores with many ties; some rows not retrieved; at least one relevant."""
    n = draw(st.integers(1, max_rows))
    y = draw(st.lists(st.sampled_from([0.0, 0.0, 1.0, 2.5, 4.0]), min_size=n, max_size=n))
    y[draw(st.integers(0, n - 1))] = 3.0
    return y, draw(st.lists(st.sampled_from([-np.inf, 0.0, 0.5, 0.5, 1.0]), min_size=n, max_size=n))


@st.composite
def many_queries(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Grades, scores and query ids of a few queries, the rows in any order."""
    queries = draw(st.lists(one_query(), min_size=1, max_size=4))
    rows = [(y, s, q) for q, (ys, ss) in enumerate(queries) for y, s in zip(ys, ss, strict=True)]
    y, score, qid = zip(*draw(st.permutations(rows)), strict=True)
    return np.array(y), np.array(score), np.array(qid)


places = st.none() | st.integers(1, 8)


# -- definitions -------------------------------------------------------------------------------------------------


@every_metric
@given(query=one_query(), k=places)
def test_average_is_the_mean_over_all_orders_of_ties(
    name: str, query: tuple[list[float], list[float]], k: int | None
) -> None:
    y, score = query
    expected = naive.mean_over_orders(lambda order: NAIVE[name](y, order, k), score)
    assert METRICS[name](y, score, k=k) == pytest.approx(expected, abs=1e-12)


@every_metric
@given(query=one_query(), k=places, names=st.permutations("abcdef"))
def test_trec_orders_ties_by_descending_name(
    name: str, query: tuple[list[float], list[float]], k: int | None, names: list[str]
) -> None:
    y, score = query
    names = names[: len(y)]
    (order,) = naive.orders(score, key=[ord(letter) for letter in names])
    value = METRICS[name](y, score, k=k, ties="trec", doc_id=names)
    assert value == pytest.approx(NAIVE[name](y, order, k), abs=1e-12)


@every_metric
@given(query=one_query(), k=places)
def test_pessimistic_is_the_worst_order(name: str, query: tuple[list[float], list[float]], k: int | None) -> None:
    y, score = query
    worst = min(NAIVE[name](y, order, k) for order in naive.orders(score))
    assert METRICS[name](y, score, k=k, ties="pessimistic") == pytest.approx(worst, abs=1e-12)


@every_metric
@given(query=one_query(), k=places, seed=st.integers(0, 2**32))
def test_random_is_one_of_the_orders(
    name: str, query: tuple[list[float], list[float]], k: int | None, seed: int
) -> None:
    y, score = query
    value = METRICS[name](y, score, k=k, ties="random", random_state=seed)
    assert any(value == pytest.approx(NAIVE[name](y, order, k), abs=1e-12) for order in naive.orders(score))
    assert value == METRICS[name](y, score, k=k, ties="random", random_state=seed)


@every_metric
def test_random_averages_to_average(name: str) -> None:
    y, score = np.tile([3.0, 0, 1, 0, 2], 4000), np.tile([1.0, 1, 1, 1, 0], 4000)
    qid = np.repeat(np.arange(4000), 5)
    drawn = METRICS[name](y, score, qid, k=3, ties="random", random_state=0)
    assert drawn == pytest.approx(METRICS[name](y, score, qid, k=3), abs=0.03)


@every_metric
@pytest.mark.parametrize("k", [None, 5, 33, 100])
@pytest.mark.parametrize("digits", [0, 1, 9])
def test_long_queries(name: str, k: int | None, digits: int) -> None:
    """Sorting in place of insertion, blocks across the cut: the mean over shuffles of ties stands for all orders."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 5, 120).astype(float)
    score = np.round(3 * rng.random(120), digits)
    score[rng.random(120) < 0.1] = -np.inf
    drawn = [NAIVE[name](y, shuffled_order(score, rng), k) for _ in range(1 if digits == 9 else 300)]
    tolerance = 1e-12 if digits == 9 else 5 * np.std(drawn) / np.sqrt(len(drawn)) + 1e-12
    assert METRICS[name](y, score, k=k) == pytest.approx(np.mean(drawn), abs=tolerance)


def shuffled_order(score: np.ndarray, rng: np.random.Generator) -> list[int]:
    order = np.lexsort((rng.random(len(score)), -score))
    return [int(i) for i in order if score[i] > -np.inf]


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: f"{case['metric']}: {case['source'][:40]}")
def test_golden(case: dict[str, Any]) -> None:
    score = [-np.inf if s is None else s for s in case["y_score"]]
    value = getattr(retrieval, case["metric"])(case["y_true"], score, case.get("qid"), **case["options"])
    assert value == pytest.approx(case["value"], abs=0.5 * 10.0 ** -case["decimals"])


@pytest.mark.parametrize("k", [None, 3])
@pytest.mark.parametrize("size", [2, 7, 40])
def test_err_of_one_large_tie(size: int, k: int | None) -> None:
    """The means of products against their polynomial, expanded by convolution."""
    y = np.random.default_rng(size).integers(0, 4, size).astype(float)
    factors = 1 - (2**y - 1) / 2**4
    polynomial = np.array([1.0])
    for q in factors:
        polynomial = np.convolve(polynomial, [1.0, q])
    go_on = polynomial / [comb(size, t) for t in range(size + 1)]
    terms = -np.diff(go_on) / np.arange(1, size + 1)
    assert METRICS["err_score"](y, np.zeros(size), k=k) == pytest.approx(terms[:k].sum(), abs=1e-13)


# -- other libraries ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [None, 1, 10, 50])
@pytest.mark.parametrize("digits", [1, 12])
def test_agrees_with_scikit_learn(k: int | None, digits: int) -> None:
    rng = np.random.default_rng(1)
    y, score = rng.integers(0, 5, (30, 50)).astype(float), np.round(rng.random((30, 50)), digits)
    qid = np.repeat(np.arange(30), 50)
    for ours, theirs in (("ndcg_score", sklearn_metrics.ndcg_score), ("dcg_score", sklearn_metrics.dcg_score)):
        value = METRICS[ours](y.ravel(), score.ravel(), qid, k)
        assert value == pytest.approx(theirs(y, score, k=k), abs=1e-12)
        if digits == 12:
            assert value == pytest.approx(theirs(y, score, k=k, ignore_ties=True), abs=1e-12)


TREC = {
    "ndcg": ("ndcg_score", None),
    "ndcg_cut_10": ("ndcg_score", 10),
    "map": ("average_precision_score", None),
    "map_cut_10": ("average_precision_score", 10),
    "recip_rank": ("reciprocal_rank_score", None),
    "recall_5": ("recall_score", 5),
    "recall_100": ("recall_score", 100),
    "P_5": ("precision_score", 5),
    "P_1000": ("precision_score", 1000),
    "success_1": ("hit_rate_score", 1),
    "success_10": ("hit_rate_score", 10),
}


def assert_agrees_with_trec_eval(qrels: dict[str, dict[str, int]], run: dict[str, dict[str, float]]) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    theirs = pytrec_eval.RelevanceEvaluator(qrels, set(pytrec_eval.supported_measures)).evaluate(run)
    rows = [
        (qrels[q].get(d, 0), run[q].get(d, -np.inf), q, d) for q in run if q in qrels for d in {**run[q], **qrels[q]}
    ]
    y, score, qid, doc_id = map(np.array, zip(*rows, strict=True))
    for measure, (name, k) in TREC.items():
        queries, values = METRICS[name](y, score, qid, k, ties="trec", doc_id=doc_id, empty=0, per_query=True)
        assert set(queries) == set(theirs)
        assert values == pytest.approx([theirs[q][measure] for q in queries], abs=1e-9), measure


def test_agrees_with_trec_eval_on_its_own_files(benchmark_data: Path) -> None:
    from rankwise.data.formats.trec import read_qrels, read_run

    folder = benchmark_data / "ltr" / "trec_eval_fixture"
    judged, found = read_qrels(folder / "qrels.test.gz"), read_run(folder / "results.test.gz")
    qrels: dict[str, dict[str, int]] = {}
    for q, d, relevance in zip(judged.qid, judged.doc_id, judged.relevance, strict=True):
        qrels.setdefault(str(q), {})[str(d)] = int(relevance)
    run: dict[str, dict[str, float]] = {}
    for q, d, score in zip(found.qid, found.doc_id, found.score, strict=True):
        run.setdefault(str(q), {})[str(d)] = float(score)
    assert len(set(qrels) & set(run)) == 3
    assert_agrees_with_trec_eval(qrels, run)


def test_agrees_with_trec_eval_on_ties() -> None:
    rng = np.random.default_rng(2)
    qrels, run = {}, {}
    for q in range(25):
        names = [f"d{i}" for i in rng.permutation(60)]
        qrels[f"q{q}"] = {d: int(g) for d, g in zip(names[:40], rng.integers(0, 4, 40) * (q != 7), strict=True)}
        run[f"q{q}"] = {d: float(s) for d, s in zip(names[20:], rng.integers(0, 6, 40), strict=True)}
    assert_agrees_with_trec_eval(qrels, run)


@pytest.mark.parametrize(("a", "b"), [(1 + 1e-9, 1.0), (1 + 1e-6, 1.0), (1e40, 1e39), (-1e39, -1e40), (1e-46, 0.0)])
def test_trec_eval_sees_scores_as_32_bit_floats(a: float, b: float) -> None:
    assert_agrees_with_trec_eval({"q": {"a": 1, "b": 0}}, {"q": {"a": a, "b": b}})


# -- laws --------------------------------------------------------------------------------------------------------


@every_metric
@settings(max_examples=50)
@given(data=many_queries(), k=places)
def test_mean_over_queries_and_their_values(name: str, data: tuple[np.ndarray, ...], k: int | None) -> None:
    y, score, qid = data
    queries, values = METRICS[name](y, score, qid, k, per_query=True)
    assert list(queries) == list(dict.fromkeys(qid))
    alone = [METRICS[name](y[qid == q], score[qid == q], k=k) for q in queries]
    assert values == pytest.approx(alone, abs=1e-12)
    assert (values >= 0).all()
    assert name == "dcg_score" or (values <= 1).all()
    assert METRICS[name](y, score, qid, k) == pytest.approx(np.mean(alone), abs=1e-12)


@every_metric
@settings(max_examples=50)
@given(data=many_queries(), k=places, seed=st.integers(0, 99))
def test_what_changes_nothing(name: str, data: tuple[np.ndarray, ...], k: int | None, seed: int) -> None:
    y, score, qid = data
    metric = METRICS[name]
    value = pytest.approx(metric(y, score, qid, k), abs=1e-12)
    rows = np.random.default_rng(seed).permutation(len(y))
    assert metric(y[rows], score[rows], qid[rows], k) == value
    assert metric(y, np.exp(score) * 7 - 3 + np.where(score == -np.inf, -np.inf, 0), qid, k) == value
    assert metric(y, score, np.array(["z", "a", "m", "b"])[qid], k) == value
    more = (np.append(y, 0.0), np.append(score, -np.inf), np.append(qid, qid[0]))
    assert metric(*more, k) == value
    assert metric(y, score, qid, k, sample_weight=np.full(len(y), 0.3)) == value
    assert metric(y, score, qid, 10**9 if k is None and name != "precision_score" else k) == value


@every_metric
def test_weight_2_is_the_query_twice(name: str) -> None:
    y, score, qid = np.array([1.0, 0, 2, 0, 1]), np.array([1.0, 2, 2, 2, 3]), np.array([0, 0, 1, 1, 1])
    weighted = METRICS[name](y, score, qid, sample_weight=[1, 1, 2, 2, 2])
    twice = METRICS[name](np.append(y, y[2:]), np.append(score, score[2:]), np.append(qid, [2, 2, 2]))
    assert weighted == pytest.approx(twice)


# -- choices -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gain", "expected"),
    [
        ("linear", [3, 0, 2, 1]),
        ("exp", [7, 0, 3, 1]),
        ([0, 1, 5, 9], [9, 0, 5, 1]),
        (np.array([0, 1, 5, 9]), [9, 0, 5, 1]),
        ({0: 0, 1: 0.5, 2: 2, 3: 8.0}, [8, 0, 2, 0.5]),
        (np.sqrt, np.sqrt([3, 0, 2, 1])),
    ],
)
@pytest.mark.parametrize("name", ["ndcg_score", "dcg_score"])
def test_gains(name: str, gain: Any, expected: Any) -> None:
    score = [1.0, 4.0, 2.0, 3.0]
    assert METRICS[name]([3, 0, 2, 1], score, gain=gain) == pytest.approx(NAIVE[name](expected, [1, 3, 2, 0], None))


@pytest.mark.parametrize(
    ("y", "gain", "words"),
    [
        ([0, 4], [0, 1, 2], "grade 4, for which gain has no entry"),
        ([0, 1.5], {0: 0, 1: 1}, "grade 1.5, for which gain has no entry"),
        ([0, 2000], "exp", "relevance 2000 has the gain inf"),
        ([0, 1], "log", "gain is 'log'; choose 'linear', 'exp'"),
        ([0, 1], lambda y: y[:1], r"gain\(y_true\) has shape \(1,\)"),
        ([1, -1], "linear", "relevance -1 has the gain -1, but NDCG needs gains of 0 or more; shift"),
    ],
)
def test_wrong_gains(y: list[float], gain: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        retrieval.ndcg_score(y, [1, 2], gain=gain)


def test_dcg_takes_negative_gains() -> None:
    assert retrieval.dcg_score([1, -1], [2, 1]) == pytest.approx(1 - 1 / np.log2(3))


def test_huge_grades() -> None:
    assert retrieval.ndcg_score([1e299, 1e299, 0], [3, 2, 1]) == 1
    assert retrieval.ndcg_score([960, 990, 0], [3, 2, 1], gain="exp") == pytest.approx(1 / np.log2(3), abs=1e-6)
    for grades, gain in (([1e308, 1e308, 0], "linear"), ([2000, 0, 0], "exp")):
        with pytest.raises(ValueError, match="too large to add up; give a table"):
            retrieval.ndcg_score(grades, [3, 2, 1], gain=gain)
    assert retrieval.err_score([5000, 0], [1, 2]) == pytest.approx(0.5)


def test_threshold_parts_relevant_from_irrelevant() -> None:
    y, score = [1, 2, 3], [3, 2, 1]
    assert retrieval.reciprocal_rank_score(y, score, threshold=1) == 1 / 2
    assert retrieval.reciprocal_rank_score(y, score, threshold=2.5) == 1 / 3
    with pytest.raises(ValueError, match="threshold is nan; give the grade"):
        retrieval.reciprocal_rank_score(y, score, threshold=np.nan)


def test_a_chance_never_exceeds_one() -> None:
    for n in (50, 1000, 100_000):
        assert retrieval.hit_rate_score([1] + [0] * (n - 1), [0] * n) <= 1
        expected = np.mean(1 / np.arange(1, n + 1))
        assert retrieval.reciprocal_rank_score([1] + [0] * (n - 1), [0] * n) == pytest.approx(expected, rel=1e-12)


def test_query_ids_that_numpy_would_merge_stay_apart() -> None:
    for qid in ([2**63 + 1, 2**63 + 2, -1, -1], [2**53, 2**53 + 1, 0.5, 0.5], [b"a", "a", 1, "1"]):
        ids, _ = retrieval.ndcg_score([1, 1, 1, 1], [1, 2, 3, 4], qid, per_query=True)
        assert len(ids) == len(set(qid))


@pytest.mark.parametrize(
    ("options", "fragment"),
    [
        ({"gain": 3}, "gain is 3; choose"),
        ({"gain": None}, "gain is None; choose"),
        ({"empty": np.array([0, 1])}, "empty is"),
        ({"qid": [[1], [2]]}, "qid"),
        ({"qid": np.array([["a"], ["b"], None], dtype=object)[:2]}, "cannot name a query"),
        ({"qid": np.ma.array([1, 2], mask=[0, 1])}, "masked"),
        ({"sample_weight": np.ma.array([1, 1], mask=[0, 1])}, "sample_weight"),
        ({"ties": "trec", "doc_id": ["a", None]}, "missing names"),
    ],
)
def test_odd_options_are_refused(options, fragment) -> None:
    with pytest.raises((ValueError, TypeError), match=fragment):
        retrieval.ndcg_score([1, 0], [1, 2], **options)


def test_text_is_no_number_whatever_its_array() -> None:
    with pytest.raises(TypeError, match="y_score"):
        retrieval.ndcg_score([1, 0], np.array(["1", "0"], dtype=object))


def test_precision_counts_the_places_asked_for() -> None:
    y, score = [1, 0, 1, 1], [2, 1, -np.inf, -np.inf]
    assert retrieval.precision_score(y, score, k=10) == 0.1
    assert retrieval.precision_score(y, score) == 0.5
    assert retrieval.recall_score(y, score) == pytest.approx(1 / 3)


@every_metric
def test_queries_without_relevant_rows(name: str) -> None:
    y, score, qid = [1, 0, 0, 0], [2, 1, 2, 1], ["a", "a", "b", "b"]
    found = METRICS[name](y[:2], score[:2])
    assert METRICS[name](y, score, qid) == found
    assert METRICS[name](y, score, qid, empty=0) == found / 2
    assert METRICS[name](y, score, qid, empty=1) == (found + 1) / 2
    _, values = METRICS[name](y, score, qid, per_query=True)
    assert np.isnan(values).tolist() == [False, True]
    with pytest.warns(UndefinedMetricWarning, match="no query with weight has a relevant row"):
        assert np.isnan(METRICS[name]([0, 0], [1, 2]))
    with pytest.warns(UndefinedMetricWarning):
        assert np.isnan(METRICS[name](y, score, qid, sample_weight=[0, 0, 1, 1]))


@every_metric
def test_nothing_retrieved_scores_0(name: str) -> None:
    assert METRICS[name]([1, 0], [-np.inf, -np.inf]) == 0
    assert METRICS[name]([1, 0], [-np.inf, 5.0]) == 0


@every_metric
def test_single_row(name: str) -> None:
    value = METRICS[name]([1], [0.0])
    assert value == (1 / 16 if name == "err_score" else 1)


# -- queries -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ids",
    [
        [3, 1, 2],
        ["b", "a", "c"],
        np.array(["b", "a", "c"], dtype=object),
        [1.5, -0.0, 2.0],
        [1, "1", (1,)],
        np.array(["2020-01-02", "2020-01-01", "2020-01-03"], dtype="datetime64[D]"),
        [True, False, 2],
    ],
)
@pytest.mark.parametrize("shuffled", [False, True])
def test_query_ids_of_any_kind(ids: Any, shuffled: bool) -> None:
    rows = [0, 1, 2, 0, 2, 1] if shuffled else [0, 0, 1, 1, 2, 2]
    if isinstance(ids, np.ndarray):
        qid = ids[rows]
    else:
        qid = np.empty(6, dtype=object)
        qid[:] = [ids[r] for r in rows]
        qid = qid if (1,) in ids else qid.tolist()
    groups = group_queries(qid, 6)
    assert list(groups.ids) == list(ids)
    assert groups.bounds.tolist() == [0, 2, 4, 6]
    assert groups.take(np.array(rows)).tolist() == [0, 0, 1, 1, 2, 2]
    assert (groups.rows is None) is not shuffled


def test_numbers_and_texts_are_different_queries() -> None:
    assert group_queries([1, "1", 1], 3).ids.tolist() == [1, "1"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frames(library: str) -> None:
    frame = pytest.importorskip(library).DataFrame({"y": [1, 0, 0, 1], "s": [1.0, 2, 3, 3], "q": ["a", "b", "a", "b"]})
    value = retrieval.ndcg_score(frame["y"], frame["s"], frame["q"])
    assert value == retrieval.ndcg_score([1, 0, 0, 1], [1.0, 2, 3, 3], ["a", "b", "a", "b"])


def test_input_is_left_alone() -> None:
    y, score, qid = np.array([1.0, 0, 2]), np.array([1.0, 1, 2]), np.array([0, 1, 0])
    copies = pickle.dumps((y, score, qid))
    for array in (y, score, qid):
        array.flags.writeable = False
    for metric in METRICS.values():
        metric(y, score, qid, ties="pessimistic")
    assert pickle.dumps((y.copy(), score.copy(), qid.copy())) == copies


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="a bound on compiled loops")
@every_metric
@pytest.mark.parametrize("relevant", [1e-3, 0.5, 1.0])
def test_huge_ties_are_quick(name: str, relevant: float) -> None:
    rng = np.random.default_rng(0)
    y = (rng.random(100_000) < relevant) * rng.integers(1, 5, 100_000)
    METRICS[name](np.ones(100), np.zeros(100))
    begin = time.process_time()
    value = METRICS[name](y, np.zeros(100_000))
    assert time.process_time() - begin < 2
    assert value > 0


# -- errors ------------------------------------------------------------------------------------------------------


@every_metric
@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"y_true": [1, np.nan, 0]}, ValueError, r"y_true\[1\] is nan; relevance is finite"),
        ({"y_true": np.ma.array([1, 0, 1], mask=[0, 0, 1])}, ValueError, r"y_true\[2\] is nan"),
        ({"y_true": [1, 0, np.inf]}, ValueError, r"y_true\[2\] is inf"),
        ({"y_true": [-np.inf, 0, 1]}, ValueError, r"y_true\[0\] is -inf"),
        ({"y_true": [1, 0]}, ValueError, r"y_score has shape \(3,\), but y_true has 2 rows"),
        ({"y_true": []}, ValueError, "y_true is empty"),
        ({"y_true": [[1], [0], [1]]}, ValueError, r"y_true has shape \(3, 1\).*give y_true.ravel\(\)"),
        ({"y_true": [[1, 0, 1]]}, ValueError, r"give y_true.ravel\(\) and qid=np.repeat\(np.arange\(1\), 3\)"),
        ({"y_true": ["1", "0", "1"]}, TypeError, "y_true holds str.* values, not numbers"),
        ({"y_true": [1, {}, 0]}, TypeError, "y_true holds something that is not a number"),
        ({"y_score": [1, np.nan, 0]}, ValueError, r"y_score\[1\] is nan; scores are finite, or -inf"),
        ({"y_score": [1, 0, np.inf]}, ValueError, r"y_score\[2\] is inf"),
        ({"y_score": 1.0}, ValueError, r"y_score has shape \(\)"),
        ({"qid": [1, 2]}, ValueError, r"qid has shape \(2,\), but y_true has 3 rows"),
        ({"qid": [1, np.nan, 2]}, ValueError, r"qid\[1\] is missing"),
        ({"qid": ["a", "b", None]}, ValueError, r"qid\[2\] is missing"),
        ({"qid": np.array(["2020-01-01", "NaT", "NaT"], dtype="M8[ns]")}, ValueError, r"qid\[1\] is missing"),
        ({"qid": pd.array(["a", None, "b"], dtype="string")}, ValueError, "qid holds pandas.NA"),
        ({"qid": [[1], [1], [1]]}, ValueError, r"qid has shape \(3, 1\)"),
        ({"k": 0}, ValueError, "k is 0; at least one place must count"),
        ({"k": -3}, ValueError, "k is -3"),
        ({"k": 2.5}, TypeError, "k is 2.5; give a whole number"),
        ({"k": True}, TypeError, "k is True"),
        ({"ties": "first"}, ValueError, "ties is 'first'; choose 'average'"),
        ({"ties": "trec"}, ValueError, "ties='trec' orders equal scores by document name; give doc_id"),
        ({"ties": "trec", "doc_id": ["a"]}, ValueError, r"doc_id has shape \(1,\)"),
        ({"empty": "one"}, ValueError, "empty is 'one'"),
        ({"sample_weight": [1, -1, 1]}, ValueError, r"sample_weight\[1\] is -1; weights are finite"),
        ({"sample_weight": [1, 1]}, ValueError, r"sample_weight has shape \(2,\)"),
        ({"qid": ["a", "b", "b"], "sample_weight": [1, 2, 3]}, ValueError, "sample_weight differs within query .*b"),
        ({"ties": "random", "random_state": -1}, ValueError, "random_state is -1"),
    ],
)
def test_errors_name_the_place_and_the_cure(name: str, change: dict[str, Any], error: type, words: str) -> None:
    arguments = {"y_true": [1, 0, 1], "y_score": [1.0, 2.0, 3.0], **change}
    with pytest.raises(error, match=words):
        METRICS[name](**arguments)


def test_err_needs_grades_on_its_scale() -> None:
    with pytest.raises(ValueError, match="max_grade is 2, but y_true holds 3"):
        retrieval.err_score([3, 0], [1, 2], max_grade=2)
    with pytest.raises(ValueError, match="y_true holds -1, but ERR needs grades of 0 or more"):
        retrieval.err_score([-1, 0], [1, 2])
