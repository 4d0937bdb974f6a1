"""Level trees in other programs score rows as they do here."""

from __future__ import annotations

import json
import math
import sys

import numpy as np
import pandas as pd
import pytest

from rankwise.datasets import make_retrieval
from rankwise.ltr import LambdaMART
from rankwise.ltr.portable import to_json, to_lightgbm, to_onnx


@pytest.fixture(scope="module")
def data():
    X, y, qid, _ = make_retrieval(60, 6, random_state=0)
    X = np.round(X, 1)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    X[:, 3] = np.where(np.isnan(X[:, 3]), np.nan, 1.0)  # known or missing: its threshold is infinite
    return X, y + 2 * np.isnan(X[:, 3]), qid


@pytest.fixture(scope="module", params=[{}, {"max_depth": 7, "l2_regularization": 0.01}, {"early_stopping": True}])
def ranker(request, data):
    return LambdaMART(40, tree="level", n_iter_no_change=5, random_state=0, **request.param).fit(*data)


@pytest.fixture(scope="module")
def stump(data):
    """Trees that ask nothing."""
    X, y, qid = data
    return LambdaMART(2, tree="level", random_state=0).fit(np.ones_like(X), y, qid)


def test_a_booster_of_lightgbm_scores_and_explains_the_same(ranker, data, tmp_path):
    booster = to_lightgbm(ranker)
    np.testing.assert_array_equal(booster.predict(data[0]), ranker.predict(data[0]))
    parts, n_trees = booster.predict(data[0][:20], pred_contrib=True)[:, :-1], ranker.n_estimators_
    ours = ranker.booster_.contributions(data[0][:20], n_trees, 1)
    if (ranker.booster_.count[:n_trees] > 0).all():
        np.testing.assert_allclose(parts, ours, atol=1e-9)
    else:  # leaves without rows count as one
        np.testing.assert_allclose(parts, ours, atol=0.1 * np.abs(ours).max())
    booster.save_model(tmp_path / "model.txt")
    import lightgbm

    again = lightgbm.Booster(model_file=tmp_path / "model.txt")
    np.testing.assert_array_equal(again.predict(data[0]), ranker.predict(data[0]))


def test_names_go_along_if_lightgbm_takes_them(data):
    X, y, qid = data
    for names, kept in ((list("abcdef"), True), (["a b", *"bcdef"], False)):
        ranker = LambdaMART(2, tree="level").fit(pd.DataFrame(X, columns=names), y, qid)
        assert (to_lightgbm(ranker).feature_name() == names) is kept
        assert to_json(ranker)["features"] == names


def test_trees_of_lightgbm_are_cut_to_those_that_predict(data):
    ranker = LambdaMART(6, tree="leaf", random_state=0).fit(*data)
    ranker.n_estimators_ = 4
    booster = to_lightgbm(ranker)
    assert booster.num_trees() == 4
    np.testing.assert_array_equal(booster.predict(data[0]), ranker.predict(data[0]))
    for export in (to_json, to_onnx):
        if export is to_onnx:
            pytest.importorskip("onnx", reason="ONNX is not installed")
        with pytest.raises(ValueError, match="to_lightgbm exports them"):
            export(ranker)


def score_of(model, row):
    """Any language could do it."""
    score = 0.0
    for tree in model["trees"]:
        leaf = 0
        for level, feature in enumerate(tree["feature"]):
            x, threshold = row[feature], tree["threshold"][level]
            if str(feature) in model["categories"]:
                x = model["categories"][str(feature)].get(x, math.nan)
            if math.isnan(x):
                leaf += 0 if tree["missing_left"][level] else 2**level
            elif threshold is not None and x > threshold:
                leaf += 2**level
        score += tree["value"][leaf]
    return score


def test_json_is_all_that_is_needed(ranker, data):
    model = json.loads(json.dumps(to_json(ranker), allow_nan=False))
    assert [score_of(model, row) for row in data[0].tolist()] == ranker.predict(data[0]).tolist()
    assert len(model["trees"]) == ranker.n_estimators_


def test_json_has_the_numbers_of_categories(data):
    X, y, qid = data
    rng = np.random.default_rng(0)
    colors = np.array(["red", "green", "blue"], dtype=object)[(y + rng.integers(0, 2, len(y))).astype(int) % 3]
    sizes = pd.Categorical.from_codes(rng.integers(0, 3, len(y)), ["S", "M", "L"], ordered=True)
    frame = pd.DataFrame({"x": X[:, 0], "color": colors, "size": sizes})
    ranker = LambdaMART(20, tree="level", random_state=0).fit(frame, y, qid)
    model = json.loads(json.dumps(to_json(ranker), allow_nan=False))
    assert set(model["categories"]) == {"1", "2"}
    assert model["categories"]["2"] == {"S": 0, "M": 1, "L": 2}
    rows = frame.astype({"size": object}).to_numpy().tolist()
    assert [score_of(model, row) for row in rows] == ranker.predict(frame).tolist()
    with pytest.raises(ValueError, match="column color holds categories, but LightGBM's trees here take numbers"):
        to_lightgbm(ranker)


def test_trees_without_a_question_are_one_value(stump, data):
    expected = stump.predict(data[0])
    np.testing.assert_array_equal(to_lightgbm(stump).predict(data[0]), expected)
    assert score_of(to_json(stump), [math.nan] * 6) == expected[0]


def test_onnx_scores_the_same(ranker, stump, data):
    pytest.importorskip("onnx", reason="ONNX is not installed")
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    for model in (ranker, stump):
        session = runtime.InferenceSession(to_onnx(model).SerializeToString())
        (found,) = session.run(["score"], {"X": data[0]})
        assert found.dtype == np.float64
        np.testing.assert_allclose(found[:, 0], model.predict(data[0]), rtol=1e-12, atol=1e-12)


def test_onnx_says_how_to_install_it(ranker, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"to_onnx needs ONNX: pip install 'rankwise\[onnx\]'"):
        to_onnx(ranker)


def test_treelite_reads_the_text(ranker, data):
    treelite = pytest.importorskip("treelite", reason="Treelite is not installed")
    found = treelite.gtil.predict(treelite.frontend.from_lightgbm(to_lightgbm(ranker)), data[0])
    np.testing.assert_allclose(np.ravel(found), ranker.predict(data[0]), rtol=1e-12, atol=1e-12)
