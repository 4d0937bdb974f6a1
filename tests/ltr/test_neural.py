"""Neural rankers; without PyTorch, the word that says how to get it."""

from __future__ import annotations

import pickle
from importlib.util import find_spec

import numpy as np
import pytest

from rankwise.datasets import make_retrieval
from rankwise.ltr import NeuralRanker
from rankwise.metrics import ndcg_score
from rankwise.model_selection import cross_validate

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")


@pytest.fixture(scope="module")
def data():
    X, y, qid, _ = make_retrieval(60, 5, docs_per_query=(1, 12), random_state=0)
    return X, y, qid


@pytest.mark.skipif(find_spec("torch") is not None, reason="PyTorch is installed")
def test_without_pytorch_the_error_says_how_to_get_it(data):
    with pytest.raises(ImportError, match=r"NeuralRanker needs PyTorch: pip install 'rankwise\[neural\]'"):
        NeuralRanker().fit(*data)


@needs_torch
@pytest.mark.parametrize("loss", ["softmax", "listnet", "lambdarank", "pairwise_logistic", "logistic", "plistmle"])
def test_every_loss_learns(data, loss):
    X, y, qid = data
    ranker = NeuralRanker(loss, n_epochs=15, early_stopping=None, learning_rate=5e-3, random_state=0).fit(X, y, qid)
    by_chance = ndcg_score(y, np.zeros(len(y)), qid, k=10, gain="exp")
    assert ranker.score(X, y, qid) > by_chance + 0.1
    assert len(ranker.history_["training"]) == len(ranker.history_["loss"]) == 15


@needs_torch
@pytest.mark.parametrize("attention", [False, True])
def test_rows_in_any_order_and_a_seed_give_the_same_ranker(data, attention):
    X, y, qid = data
    options = {"attention": attention, "n_epochs": 3, "noise": 0.1, "random_state": 0}
    plain = NeuralRanker(**options).fit(X, y, qid)
    shuffle = np.random.default_rng(0).permutation(len(y))
    names = np.array([f"q{q}" for q in qid], dtype=object)
    again = NeuralRanker(**options).fit(X[shuffle], y[shuffle], names[shuffle])
    np.testing.assert_array_equal(plain.predict(X, qid), again.predict(X, qid))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(plain)).predict(X, qid), plain.predict(X, qid))


@needs_torch
def test_attention_sees_the_query_and_nothing_else(data):
    X, y, qid = data
    ranker = NeuralRanker(attention=True, n_epochs=3, random_state=0).fit(X, y, qid)
    together = ranker.predict(X, qid)
    for query in (1, 2, 3):
        rows = qid == query
        np.testing.assert_allclose(ranker.predict(X[rows]), together[rows], atol=1e-5)
    assert not np.allclose(ranker.predict(X), together, atol=1e-3)
    assert ranker.score(X, y, qid) == ndcg_score(y, together, qid, k=10, gain="exp")
    found = cross_validate(NeuralRanker(attention=True, n_epochs=2, random_state=0), X, y, qid, cv=2)
    assert np.isfinite(found.scores["ndcg@10"]).all()


@needs_torch
def test_early_stopping_keeps_the_best_epoch(data):
    X, y, qid = data
    ranker = NeuralRanker(n_epochs=60, learning_rate=0.02, early_stopping=3, random_state=0)
    ranker.fit(X, y, qid, eval_set=(X[:100], y[:100], qid[:100]))
    watched = ranker.history_["validation"]
    assert ranker.score(X[:100], y[:100], qid[:100]) == pytest.approx(max(watched), abs=1e-6)
    assert len(watched) <= np.argmax(watched) + 4


@needs_torch
def test_bad_input_is_named(data):
    X, y, qid = data
    with pytest.raises(ValueError, match="needs relevance of 0 or more"):
        NeuralRanker().fit(X, y - 1.0, qid)
    with pytest.raises(ValueError, match="n_heads is 3, which does not divide"):
        NeuralRanker(attention=True, n_heads=3).fit(X, y, qid)
    with pytest.raises(ValueError, match="no query has two rows"):
        NeuralRanker().fit(X, np.ones(len(y)), qid)
