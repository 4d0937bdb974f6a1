"""Neural rankers; without PyTorch, the word that says how to get it."""

from __future__ import annotations

import pickle
from importlib.util import find_spec

import numpy as np
import pytest

from rankwise.datasets import make_retrieval
from rankwise.ltr import LinearRanker, NeuralRanker, _torch_losses
from rankwise.metrics import average_precision_score, ndcg_score
from rankwise.model_selection import cross_validate, train_test_split_by_query

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")


@pytest.fixture(scope="module")
def data():
    X, y, qid, _ = make_retrieval(60, 5, docs_per_query=(1, 12), random_state=0)
    return X, y, qid


def centered(ranker, X, qid):
    """Scores without the constant that no ranking depends on, which training leaves to rounding."""
    score = ranker.predict(X, qid)
    return score - score.mean()


@pytest.mark.skipif(find_spec("torch") is not None, reason="PyTorch is installed")
def test_without_pytorch_the_error_says_how_to_get_it(data):
    with pytest.raises(ImportError, match=r"NeuralRanker needs PyTorch: pip install 'rankwise\[neural\]'"):
        NeuralRanker().fit(*data)


@needs_torch
@pytest.mark.parametrize(
    "loss",
    [
        "listwise_softmax",
        "listwise_listnet",
        "lambdarank",
        "pairwise_logistic",
        "pointwise_logistic",
        "listwise_plistmle",
    ],
)
def test_every_loss_learns(data, loss):
    X, y, qid = data
    ranker = NeuralRanker(loss, n_epochs=15, early_stopping=False, learning_rate=5e-3, random_state=0).fit(X, y, qid)
    by_chance = ndcg_score(y, np.zeros(len(y)), qid, k=10, gain="exp")
    assert ranker.score(X, y, qid) > by_chance + 0.1
    assert len(ranker.history_["training"]) == len(ranker.history_["loss"]) == 15


@needs_torch
@pytest.mark.parametrize("attention", [False, True])
def test_rows_in_any_order_and_a_seed_give_the_same_ranker(data, attention):
    X, y, qid = data
    options = {"attention": attention, "n_epochs": 3, "input_noise": 0.1, "random_state": 0}
    plain = NeuralRanker(**options).fit(X, y, qid)
    shuffle = np.random.default_rng(0).permutation(len(y))
    names = np.array([f"q{q}" for q in qid], dtype=object)
    again = NeuralRanker(**options).fit(X[shuffle], y[shuffle], names[shuffle])
    np.testing.assert_array_equal(plain.predict(X, qid), again.predict(X, qid))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(plain)).predict(X, qid), plain.predict(X, qid))


@needs_torch
def test_attention_sees_the_query_and_nothing_else(data):
    X, y, qid = data
    ranker = NeuralRanker(attention=True, n_epochs=3, early_stopping=False, random_state=0).fit(X, y, qid)
    together = ranker.predict(X, qid)
    for query in (1, 2, 3):
        rows = qid == query
        np.testing.assert_allclose(ranker.predict(X[rows]), together[rows], atol=1e-5)
    with pytest.warns(UserWarning, match="fitted on 60 queries of at most 12 rows, but predict got no qid"):
        apart = ranker.predict(X)
    assert not np.allclose(apart, together, atol=1e-3)
    assert ranker.score(X, y, qid) == ndcg_score(y, together, qid, k=10)
    found = cross_validate(NeuralRanker(attention=True, n_epochs=2, random_state=0), X, y, qid, cv=2)
    assert np.isfinite(found.scores["ndcg@10"]).all()


@needs_torch
def test_early_stopping_keeps_the_best_epoch(data):
    X, y, qid = data
    ranker = NeuralRanker(n_epochs=60, learning_rate=0.02, score_gain="exp", early_stopping=True, n_iter_no_change=3)
    ranker.set_params(warm_start=False, random_state=0)
    ranker.fit(X, y, qid, eval_set=(X[:100], y[:100], qid[:100]))
    assert ranker.n_epochs_ == np.argmax(ranker.history_["validation"]) + 1
    watched = ranker.history_["validation"]
    assert ranker.score(X[:100], y[:100], qid[:100]) == pytest.approx(max(watched), abs=1e-6)
    assert len(watched) <= np.argmax(watched) + 4


@needs_torch
def test_another_metric_can_be_watched(data):
    X, y, qid = data
    options = {"n_epochs": 3, "early_stopping": False, "eval_metric": "map@5", "random_state": 0}
    ranker = NeuralRanker(**options).fit(X, y, qid)
    value = average_precision_score(y, ranker.predict(X), qid, k=5)
    assert ranker.history_["training"][-1] == pytest.approx(value, abs=1e-9)


@needs_torch
def test_bad_input_is_named(data):
    X, y, qid = data
    with pytest.raises(ValueError, match="needs relevance of 0 or more"):
        NeuralRanker().fit(X, y - 1.0, qid)
    with pytest.raises(ValueError, match="n_heads is 3, which does not divide"):
        NeuralRanker(attention=True, n_heads=3).fit(X, y, qid)
    with pytest.raises(ValueError, match="no query has two rows"):
        NeuralRanker().fit(X, np.ones(len(y)), qid)


@needs_torch
@pytest.mark.parametrize("loss", ["lambdarank", "listwise_approx_ndcg"])
def test_losses_take_grades_for_their_gains(data, loss):
    X, y, qid = data
    options = {"n_epochs": 2, "early_stopping": False, "random_state": 0}
    exp = NeuralRanker(loss, **options).fit(X, y, qid).predict(X)
    linear = NeuralRanker(loss, gain="linear", **options).fit(X, y, qid).predict(X)
    table = NeuralRanker(loss, gain=2.0 ** np.arange(5) - 1, **options).fit(X, y, qid).predict(X)
    np.testing.assert_array_equal(exp, table)
    assert not np.allclose(exp, linear)
    other_unit = NeuralRanker(loss, gain=7.0 * np.arange(5), **options).fit(X, y, qid).predict(X)
    np.testing.assert_allclose(other_unit, linear, atol=1e-4)


@needs_torch
def test_gains_that_floats_cannot_hold_train(data):
    X, y, qid = data
    ranker = NeuralRanker("lambdarank", n_epochs=2, random_state=0).fit(X, y * 50.0, qid)
    assert np.isfinite(ranker.predict(X)).all()


@needs_torch
@pytest.mark.filterwarnings("ignore:no query with weight")
@pytest.mark.parametrize(
    ("options", "arguments", "message"),
    [
        ({"hidden": (8.0,)}, {}, r"hidden is \(8.0,\); give whole numbers"),
        ({"hidden": (0,)}, {}, "1 or more for each layer"),
        ({}, {"sample_weight": "rows"}, "sample_weight differs within a query; NeuralRanker takes one"),
        ({}, {"eval_set": (np.zeros((2, 5)), [0, 1])}, "eval_set has no queries; give eval_qid or eval_group"),
        ({}, {"eval_set": (np.empty((0, 5)), [], [])}, "eval_set has no rows"),
        ({}, {"eval_set": (np.zeros((2, 5)), [0, 0], [1, 1])}, "no query of the validation set has a relevant row"),
    ],
)
def test_bad_arguments_are_named(data, options, arguments, message):
    X, y, qid = data
    arguments = {k: np.arange(1.0, len(y) + 1) if isinstance(v, str) else v for k, v in arguments.items()}
    with pytest.raises(ValueError, match=message):
        NeuralRanker(n_epochs=2, **options).fit(X, y, qid, **arguments)


@needs_torch
def test_a_device_that_is_not_there_is_named(data, monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match="finds no CUDA device here"):
        NeuralRanker(device="cuda").fit(*data)
    assert NeuralRanker(device="auto", n_epochs=1).fit(*data).n_queries_ == 60


@needs_torch
@pytest.mark.parametrize("attention", [False, True])
def test_a_linear_ranker_is_a_special_case(attention):
    X, y, qid, _ = make_retrieval(200, 5, random_state=1)
    X, X_test, y, y_test, qid, qid_test = train_test_split_by_query(X, y, qid=qid, random_state=0)
    linear = LinearRanker(random_state=0).fit(X, y, qid).score(X_test, y_test, qid_test)
    ranker = NeuralRanker(attention=attention, n_epochs=15, random_state=0).fit(X, y, qid)
    assert ranker.score(X_test, y_test, qid_test) > linear - 0.02
    # The sum over features is a part of the score: taken away, scores change by just that.
    before, weights = ranker.predict(X_test, qid_test), ranker.network_["linear"].weight
    part = ((X_test - ranker._center[:5]) / ranker._spread[:5]) @ weights.detach().numpy()[0]
    weights.data.zero_()
    np.testing.assert_allclose(before - ranker.predict(X_test, qid_test), part, atol=1e-4)


@needs_torch
def test_a_network_that_is_not_surely_better_leaves_the_linear_ranker():
    X, y, qid, _ = make_retrieval(40, 20, family="judged", link="linear", wrong_grades=0.3, n_grades=3, random_state=0)
    ranker = NeuralRanker(n_epochs=6, n_iter_no_change=2, random_state=0).fit(X, y, qid)
    assert ranker.n_epochs_ == 0
    assert len(ranker.history_["validation"]) >= 2
    wanted = LinearRanker(random_state=0).fit(X, y, qid).predict(X)
    np.testing.assert_allclose(centered(ranker, X, qid), wanted - wanted.mean(), atol=1e-4)


@needs_torch
def test_a_network_that_is_surely_better_is_trained_on_all_queries():
    X, y, qid, _ = make_retrieval(200, 4, link="peaked", noise=0.1, docs_per_query=(10, 20), random_state=0)
    ranker = NeuralRanker(n_epochs=12, random_state=0).fit(X, y, qid)
    assert ranker.n_epochs_ > 0
    linear = LinearRanker(random_state=0).fit(X, y, qid).score(X, y, qid)
    assert ranker.score(X, y, qid) > linear + 0.02
    assert len(ranker.history_["loss"]) == len(ranker.history_["validation"])  # of the part with held-out queries


@pytest.fixture(scope="module")
def comparisons(data):
    """Every row against the next of its query, where one of the two is more relevant."""
    _, y, qid = data
    order = np.lexsort((np.arange(len(y)), qid))
    first, second = order[:-1], order[1:]
    differ = (qid[first] == qid[second]) & (y[first] != y[second])
    first, second = first[differ], second[differ]
    return np.where((y[first] > y[second])[:, None], np.c_[first, second], np.c_[second, first])


@needs_torch
@pytest.mark.parametrize("attention", [False, True])
def test_comparisons_take_the_place_of_grades(data, comparisons, attention):
    X, y, qid = data
    options = {"attention": attention, "n_epochs": 12, "random_state": 0}
    ranker = NeuralRanker(**options).fit(X, qid=qid, pairs=comparisons)
    by_chance = ndcg_score(y, np.zeros(len(y)), qid, k=10, gain="exp")
    assert ranker.score(X, y, qid) > by_chance + 0.1
    assert list(ranker.history_) == ["loss"]
    # The order of comparisons and of rows does not matter.
    shuffle = np.random.default_rng(0).permutation(len(y))
    place = np.argsort(shuffle)
    again = NeuralRanker(**options).fit(X[shuffle], qid=qid[shuffle], pairs=place[comparisons][::-1])
    np.testing.assert_array_equal(again.predict(X, qid), ranker.predict(X, qid))


@needs_torch
@pytest.mark.parametrize("loss", ["listwise_softmax", "pairwise_logistic", "listwise_listmle"])
def test_the_loss_of_comparisons_is_that_of_bradley_and_terry(loss):
    import torch

    score = torch.tensor([[0.3], [-1.0], [2.0], [0.0]], dtype=torch.float64)
    pairs = np.array([2, 0, 3]), np.array([0, 1, 2]), np.array([1.0, 2.0, 0.5])
    found = _torch_losses.Comparisons(score, np.array([0, 2, 4]), _torch_losses.LOSSES[loss], False, pairs)
    losses = found.losses(np.array([2, 0, 1]), lambda inputs, mask: inputs[..., 0])
    gaps = np.array([-2.0, 1.7, 1.3])
    np.testing.assert_allclose(losses.numpy(), [0.5, 1.0, 2.0] * np.log1p(np.exp(-gaps)), rtol=1e-12)


@needs_torch
def test_comparisons_are_watched_on_an_eval_set(data, comparisons):
    X, y, qid = data
    options = {"early_stopping": True, "n_iter_no_change": 2, "n_epochs": 4, "random_state": 0}
    ranker = NeuralRanker(**options).fit(X, qid=qid, pairs=comparisons, eval_set=(X, y, qid))
    assert len(ranker.history_["validation"]) == len(ranker.history_["loss"])
    with pytest.raises(ValueError, match="comparisons cannot be split by query"):
        NeuralRanker(**options).fit(X, qid=qid, pairs=comparisons)
    with pytest.raises(ValueError, match="pair_weight weighs comparisons, but there are no pairs"):
        NeuralRanker(**options).fit(X, y, qid, pair_weight=[1.0])


@needs_torch
@pytest.mark.parametrize(("loss", "attention"), [("lambdarank", False), ("listwise_softmax", True)])
def test_tables_of_pairs_are_made_in_parts_that_fit(data, monkeypatch, loss, attention):
    options = {"attention": attention, "dropout": 0.0, "input_noise": 0.0, "n_epochs": 3, "random_state": 0}
    options["early_stopping"] = False
    X, _, qid = data
    whole = NeuralRanker(loss, **options).fit(*data)
    monkeypatch.setattr(_torch_losses, "_MOST_CELLS", 12**2)
    parts = NeuralRanker(loss, **options).fit(*data)
    np.testing.assert_allclose(centered(parts, X, qid), centered(whole, X, qid), atol=1e-3)
    monkeypatch.setattr("rankwise.ltr.base._MOST_ROWS_IN_PAIRS", 11)
    what = "attention=True" if attention else "loss='lambdarank'"
    with pytest.raises(ValueError, match=f"a query has 12 rows, and {what} makes tables .* at most 11 rows"):
        NeuralRanker(loss, **options).fit(*data)
    if attention:
        with pytest.raises(ValueError, match="attention=True makes tables"):
            whole.predict(X, qid)
    assert NeuralRanker("listwise_softmax", n_epochs=1).fit(*data).n_queries_ == 60
