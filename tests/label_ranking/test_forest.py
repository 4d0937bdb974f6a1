"""Forests of consensus ranking trees."""

from __future__ import annotations

import pickle

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor

import rankwise
from rankwise import Rankings
from rankwise.embeddings import GraphCutEmbedding, KemenyEmbedding, PositionEmbedding, decode_pairwise
from rankwise.label_ranking import RankingForest, RankingTree
from rankwise.label_ranking import forest as forest_module
from rankwise.metrics import kendall_tau_score
from rankwise.plots import PairwiseCalibrationDisplay
from rankwise.trees import LeastSquaresTree
from rankwise.trees.engine import LeafRows, Sampling, TargetRows, TrainingSet
from rankwise.trees.structure import LeafMeans
from tests.label_ranking.test_tree import make_data
from tests.naive import label_ranking as naive
from tests.trees.test_least_squares import rows_by_tree


@pytest.mark.parametrize("pool", ["pairwise", "rankings"])
@pytest.mark.parametrize("kind", ["full", "incomplete"])
def test_out_of_bag_by_definition(pool, kind):
    X, y = make_data(n=90, k=4, kind=kind)
    kept = (np.isfinite(y).sum(axis=1) > 0) & ((~np.isnan(y)).sum(axis=1) > 1)
    X, y = X[kept], y[kept]
    w = np.random.default_rng(0).uniform(0.5, 2, len(X))
    forest = RankingForest(40, pool=pool, oob_score=True, calibrate=False, random_state=5).fit(X, y, w)
    unseen = rows_by_tree(forest, len(X)) == 0
    predicted = np.array([tree.predict(X) for tree in forest.trees_])
    first, second = np.triu_indices(4, 1)
    P = np.full((len(X), 4, 4), 0.5)
    for row in range(len(X)):
        P[row, first, second] = predicted[unseen[:, row], row].mean(axis=0)
        P[row, second, first] = 1 - P[row, first, second]
    expected = kendall_tau_score(Rankings(y, weights=w), decode_pairwise(P))
    assert forest.oob_score_ == pytest.approx(expected)


def test_out_of_bag_tells_what_new_rows_will_show():
    X, y = make_data(n=900, noise=0.5)
    forest = RankingForest(60, oob_score=True, random_state=0).fit(X[:450], y[:450])
    assert forest.oob_score_ == pytest.approx(forest.score(X[450:], y[450:]), abs=0.04)
    assert forest.oob_score_ < forest.score(X[:450], y[:450]) - 0.1


def test_nothing_out_of_the_bag():
    X, y = make_data(n=20)
    with pytest.raises(ValueError, match="set bootstrap=True or max_samples"):
        RankingForest(3, bootstrap=False, oob_score=True).fit(X, y)
    assert np.isnan(RankingForest(1, oob_score=True).fit(X[:1], y[:1]).oob_score_)


def test_pools():
    X, y = make_data(n=100, k=4)
    by_shares = RankingForest(9, calibrate=False, random_state=0).fit(X, y)
    by_rankings = RankingForest(9, pool="rankings", calibrate=False, random_state=0).fit(X, y)
    shares = np.mean([tree.predict(X) for tree in by_shares.trees_], axis=0)
    np.testing.assert_allclose(by_shares.predict_pairwise(X)[:, *np.triu_indices(4, 1)], shares, atol=1e-6)
    votes = by_rankings.predict_pairwise(X)
    np.testing.assert_allclose(votes * 9, np.where(np.eye(4), 4.5, np.round(votes * 9)), atol=1e-5)  # whole trees vote
    for tree, other in zip(by_shares.trees_, by_rankings.trees_, strict=True):
        medians = decode_pairwise(pairs(tree.values))
        np.testing.assert_allclose(other.values, KemenyEmbedding().fit(medians).transform(medians))


def pairs(vectors):
    k = 4
    P = np.full((len(vectors), k, k), 0.5)
    first, second = np.triu_indices(k, 1)
    P[:, first, second] = vectors
    P[:, second, first] = 1 - vectors
    return P


def test_all_rows_and_features_make_the_tree():
    X, y = make_data(n=80)
    forest = RankingForest(3, splitter="best", bootstrap=False, random_state=0).fit(X, y)
    tree = RankingTree(smoothing=0).fit(X, y)
    np.testing.assert_allclose(forest.predict_pairwise(X), tree.predict_pairwise(X), atol=1e-6)
    np.testing.assert_allclose(forest.feature_importances_, tree.feature_importances_, atol=1e-6)


@pytest.mark.parametrize(
    "options", [{}, {"splitter": "random"}, {"honest": True}, {"sketch": 3}, {"growth": "level", "max_depth": 5}]
)
def test_threads_change_no_bit(options):
    X, y = make_data(n=500, kind="incomplete")
    one, two = (RankingForest(6, random_state=0, n_jobs=jobs, oob_score=True, **options).fit(X, y) for jobs in (1, 2))
    np.testing.assert_array_equal(one.predict_pairwise(X), two.predict_pairwise(X))
    np.testing.assert_array_equal(one.feature_importances_, two.feature_importances_)
    np.testing.assert_array_equal(one.apply(X), two.apply(X))
    assert one.oob_score_ == two.oob_score_


def test_as_good_as_a_forest_on_the_written_out_pairs():
    X, y = make_data(n=1000, noise=0.5)
    embedding = KemenyEmbedding().fit(y)
    options = {"splitter": "best", "max_features": 0.5, "random_state": 0}
    ours = RankingForest(60, **options).fit(X[:500], y[:500])
    peer = RandomForestRegressor(60, max_features=0.5, random_state=0).fit(X[:500], embedding.transform(y[:500]))
    theirs = kendall_tau_score(y[500:], embedding.inverse_transform(peer.predict(X[500:])))
    assert ours.score(X[500:], y[500:]) == pytest.approx(theirs, abs=0.02)
    sketched = RankingForest(60, sketch=5, **options).fit(X[:500], y[:500])
    assert sketched.score(X[500:], y[500:]) == pytest.approx(theirs, abs=0.03)


def test_subsamples_and_honest_halves():
    X, y = make_data(n=200)
    forest = RankingForest(8, bootstrap=False, max_samples=50, honest=True, random_state=0).fit(X, y)
    assert {int(tree.count[0]) for tree in forest.trees_} == {25}
    forest = RankingForest(8, max_samples=0.25, random_state=0).fit(X, y)
    assert {int(tree.weight[0]) for tree in forest.trees_} == {50}
    with pytest.raises(ValueError, match="max_samples is 201, but there are 200 rows"):
        RankingForest(2, bootstrap=False, max_samples=201).fit(X, y)


def test_a_pair_that_few_trees_have_seen_keeps_its_overall_share():
    X, y = make_data(n=60, k=4)
    y = y.copy()
    y[:, 3] = np.nan
    y[0] = [2, 3, 4, 1]  # one ranking alone holds the last item, before all others
    P = RankingForest(10, calibrate=False, random_state=0).fit(X, y).predict_pairwise(X)
    np.testing.assert_array_equal(P[:, 3, :3], 1.0)


@pytest.mark.parametrize("kind", ["full", "tied"])
def test_small_leaves_hold_rows_and_say_what_their_means_say(kind):
    X, y = make_data(n=120, k=5, kind=kind)
    y = np.where(np.isinf(y), 6, y)
    w = np.random.default_rng(1).uniform(0.5, 2, len(X))
    forest = RankingForest(6, random_state=3).fit(X, y, w)
    targets, options = TargetRows(y, is_pairs=True), {"max_bins": None, "sketch": None, "rng": np.random.default_rng(0)}
    training = TrainingSet.build(X, np.zeros(X.shape[1], dtype=int), targets, w, **options)
    drawn = rows_by_tree(forest, len(X))
    for tree, times in zip(forest.trees_, drawn, strict=True):
        assert isinstance(tree.contents, LeafRows)
        means = training.fill(tree, np.flatnonzero(times), w * times)
        assert isinstance(means.contents, LeafMeans)
        np.testing.assert_allclose(tree.values, means.values, atol=1e-12)
        np.testing.assert_allclose(tree.predict(X), means.predict(X), atol=1e-12)


def test_leaves_with_many_rows_or_gaps_hold_means():
    X, y = make_data(n=120, k=5)
    large = RankingForest(3, min_samples_leaf=10, random_state=0).fit(X, y)
    assert all(isinstance(tree.contents, LeafMeans) for tree in large.trees_)
    y = np.where(np.arange(120)[:, None] % 3 == np.arange(5), np.nan, y)
    gaps = RankingForest(3, random_state=0).fit(X, y)
    assert all(isinstance(tree.contents, LeafMeans) for tree in gaps.trees_)


def test_leaves_of_many_items_do_not_hold_their_pairs():
    rng = np.random.default_rng(0)
    y = np.argsort(rng.random((60, 120)), axis=1) + 1.0
    forest = RankingForest(5, random_state=0).fit(rng.normal(size=(60, 3)), y)
    assert len(pickle.dumps(forest)) < 2 * y.nbytes


def test_leaves_hold_equal_rankings_once():
    X = np.repeat(np.arange(20.0), 10)[:, None]
    y = np.where(X < 10, [[1, 2, 3]], [[3, 2, 1]]).astype(float)
    tree = RankingForest(1, bootstrap=False, splitter="best", random_state=0).fit(X, y, np.arange(1.0, 201)).trees_[0]
    assert tree.contents.rows.tolist() == [0, 1]
    assert tree.contents.weights.tolist() == [np.arange(1.0, 101).sum(), np.arange(101.0, 201).sum()]


@pytest.mark.parametrize("kind", ["full", "incomplete"])
@pytest.mark.parametrize("focus", ["item", "pair"])
def test_trees_of_one_item_or_pair_each_speak_mainly_of_it(kind, focus):
    X, y = make_data(n=90, k=4, kind=kind)
    kept = (~np.isnan(y)).sum(axis=1) > 1
    X, y = X[kept], y[kept]
    forest = RankingForest(30, focus=focus, oob_score=True, calibrate=False, random_state=0).fit(X, y)
    first, second = np.triu_indices(4, 1)
    if focus == "item":
        item = np.arange(30)[:, None] % 4
        own = (first == item) | (second == item)
    else:
        own = np.arange(30)[:, None] % 6 == np.arange(6)
    # the others count a tenth of those, all together
    weights = np.where(own, 1.0, 0.1 * own.sum(axis=0) / (~own).sum(axis=0))[:, None]
    said = np.array([tree.predict(X) for tree in forest.trees_])
    shares = (weights * said).sum(axis=0) / weights.sum(axis=0)
    np.testing.assert_allclose(forest.predict_pairwise(X)[:, first, second], shares, atol=1e-12)
    unseen = (rows_by_tree(forest, len(X)) == 0)[:, :, None]
    unseen_shares = (unseen * weights * said).sum(axis=0) / (unseen * weights).sum(axis=0)
    assert forest.oob_score_ == pytest.approx(kendall_tau_score(y, decode_pairwise(pairs(unseen_shares))))


def test_fewer_trees_than_pairs_speak_of_all_pairs():
    X, y = make_data(n=60, k=5)
    forest = RankingForest(3, focus="pair", calibrate=False, random_state=0).fit(X, y)
    first, second = np.triu_indices(5, 1)
    said = np.mean([tree.predict(X) for tree in forest.trees_], axis=0)
    np.testing.assert_allclose(forest.predict_pairwise(X)[:, first, second][:, 3:], said[:, 3:], atol=1e-12)


def test_a_tree_of_a_pair_splits_by_that_pair_alone():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.column_stack([X[:, 0] > 0, X[:, 0] < 0, np.full(200, 2)]) + 1.0  # items 0 and 1 go by the first feature
    y[:, 2] = np.where(X[:, 1] > 0, 0.5, 3.5)  # the third by the second one
    forest = RankingForest(3, focus="pair", splitter="best", max_depth=1, bootstrap=False, random_state=0).fit(X, y)
    assert [tree.feature[0] for tree in forest.trees_] == [0, 1, 1]


def test_trees_of_one_item_each_find_the_features_of_that_item():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12))
    y = np.argsort(np.argsort(X, axis=1), axis=1) + 1.0  # the place of each item goes by a feature of its own
    whole, item = (RankingForest(96, focus=focus, random_state=0).fit(X[:200], y[:200]) for focus in (None, "item"))
    assert item.score(X[200:], y[200:]) > whole.score(X[200:], y[200:]) + 0.05


def mixed_rankings(n=150):
    """Places of the items that go by features of their own, so that one kind of forest is better than another."""
    X = np.random.default_rng(0).normal(size=(n, 6))
    return X, np.argsort(np.argsort(X, axis=1), axis=1) + 1.0


def vectors(P):
    return P[:, *np.triu_indices(P.shape[1], 1)]


@pytest.mark.parametrize("data", ["mixed", "noisy", "shared"])
def test_auto_keeps_the_forest_or_the_mean_of_two_that_ranks_best_out_of_bag(data):
    X, y = mixed_rankings() if data == "mixed" else make_data(n=150, k=4, noise=3.0 if data == "noisy" else 0.3)
    k = y.shape[1]
    by_items = {"focus": "item", "n_estimators": 5 * k, "splitter": "best", "max_features": 0.5}
    forests = [
        RankingForest(**{"n_estimators": 40, "calibrate": False, "random_state": 0, **options}).fit(X, y)
        for options in ({}, {"min_samples_leaf": 3}, by_items)
    ]
    unseen = []
    for forest in forests:
        seen = (rows_by_tree(forest, len(X)) > 0)[:, :, None]
        weights = np.ones((len(seen), 1, 1)) if forest._tree_weights is None else forest._tree_weights[:, None]
        said = np.array([tree.predict(X) for tree in forest.trees_])
        unseen.append((~seen * weights * said).sum(axis=0) / (~seen * weights).sum(axis=0))
    mixes = [[0], [1], [2], [0, 2], [1, 2]]
    taus = []
    for mix in mixes:
        P = np.full((len(X), k, k), 0.5)
        P[:, *np.triu_indices(k, 1)] = np.mean([unseen[number] for number in mix], axis=0)
        P[:, *np.triu_indices(k, 1)[::-1]] = 1 - P[:, *np.triu_indices(k, 1)]
        taus.append(kendall_tau_score(y, decode_pairwise(P), per_row=True))
    gains = [tau - taus[0] for tau in taus]
    sure = [gain.mean() if gain.mean() > gain.std() / np.sqrt(len(X)) else 0.0 for gain in gains]
    best = int(np.argmax(sure))
    found = RankingForest(40, focus="auto", calibrate=False, random_state=0, n_jobs=2).fit(X, y)
    assert found.focus_ == [None, None, "item", "blend", "blend"][best]
    assert found.oob_score_ == pytest.approx(taus[best].mean())
    expected = np.mean([forests[number].predict_pairwise(X) for number in mixes[best]], axis=0)
    np.testing.assert_allclose(found.predict_pairwise(X), expected, atol=1e-9)
    assert (found.focus, found.n_estimators, found.min_samples_leaf) == ("auto", 40, 1)
    assert RankingForest(40, focus="auto", random_state=0).fit(X, y).calibration_ > 0
    found.set_params(focus=None).fit(X, y)
    assert found.focus_ is None
    assert not hasattr(found, "oob_score_")  # the one of the forests before


def test_a_blend_recalls_rows_and_can_be_saved(tmp_path):
    X, y = mixed_rankings()
    forest = RankingForest(40, focus="auto", random_state=0)
    recalled = forest._fit_and_recall(X, Rankings(y), np.arange(len(X)))
    assert recalled.shape == (150, 15)
    one, two = (RankingForest(40, random_state=seed).fit(X, y) for seed in (0, 1))
    samplings = [Sampling.build(150, 40, True, None, np.random.default_rng(seed)) for seed in (0, 1)]
    blend = RankingForest(40, random_state=0, calibrate=False).fit(X, y)
    drawn = blend._blend([one, two], samplings)
    assert len(drawn.seeds) == len(blend.trees_) == 80
    shares = np.mean([tree.predict(X) for tree in one.trees_ + two.trees_], axis=0)
    np.testing.assert_allclose(vectors(blend.predict_pairwise(X)), shares, atol=1e-9)
    rankwise.save(blend, tmp_path / "blend")
    loaded = rankwise.load(tmp_path / "blend")
    np.testing.assert_array_equal(loaded.predict_pairwise(X), blend.predict_pairwise(X))
    assert loaded.focus_ == "blend"


def test_auto_mostly_looks_at_all_pairs_where_there_is_nothing_to_learn():
    found = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 4)), np.argsort(rng.random((60, 4)), axis=1) + 1.0
        found.append(RankingForest(10, focus="auto", random_state=0).fit(X, y).focus_)
    assert found.count(None) > 4


@pytest.mark.parametrize("growth", ["best", "level"])
@pytest.mark.parametrize("focus", ["item", "pair"])
def test_of_one_item_or_pair_there_is_nothing_to_sketch(focus, growth):
    X, y = mixed_rankings()
    options = {"focus": focus, "growth": growth, "splitter": "best", "max_depth": 3, "random_state": 0}
    plain, sketched = (RankingForest(30, sketch=sketch, **options).fit(X, y) for sketch in (None, 2))
    np.testing.assert_array_equal(plain.predict_pairwise(X), sketched.predict_pairwise(X))


def test_auto_tries_no_forest_of_very_many_trees(monkeypatch):
    X, y = mixed_rankings()
    monkeypatch.setattr(forest_module, "_MOST_TIMES", 0.5)  # by items, it would have 6 times 3 trees
    found = RankingForest(20, focus="auto", random_state=0).fit(X, y)
    assert (found.focus_, len(found.trees_)) == (None, 20)


def test_auto_needs_rows_that_trees_have_not_seen():
    X, y = mixed_rankings(20)
    with pytest.raises(ValueError, match="rows that trees have not seen: set bootstrap=True or max_samples"):
        RankingForest(2, focus="auto", bootstrap=False).fit(X, y)
    assert RankingForest(2, focus="auto", bootstrap=False, max_samples=0.6, random_state=0).fit(X, y).oob_score_


@pytest.mark.parametrize("kind", ["full", "tied", "top-k", "incomplete"])
@pytest.mark.parametrize("name", ["kemeny", "position"])
def test_an_embedding_by_its_name_or_as_an_object(kind, name):
    X, y = make_data(n=80, kind=kind)
    embedding = KemenyEmbedding() if name == "kemeny" else PositionEmbedding()
    by_name, by_object = (RankingForest(5, embedding=e, random_state=0).fit(X, y) for e in (name, embedding))
    np.testing.assert_array_equal(by_name.predict_pairwise(X), by_object.predict_pairwise(X))
    assert not hasattr(embedding, "n_features_in_")  # a clone is fitted


def test_splits_by_the_features_of_another_embedding():
    X, y = make_data(n=300, kind="full")
    embedding = GraphCutEmbedding(random_state=0)
    forest = RankingForest(30, embedding=embedding, random_state=0).fit(X[:200], y[:200])
    plain = RankingForest(30, random_state=0).fit(X[:200], y[:200])
    assert forest.score(X[200:], y[200:]) > plain.score(X[200:], y[200:]) - 0.05
    tree = RankingForest(1, embedding=embedding, splitter="best", bootstrap=False).fit(X, y).trees_[0]
    peer = LeastSquaresTree(max_bins=255).fit(X, embedding.fit_transform(y)).tree_
    np.testing.assert_array_equal(tree.feature, peer.feature)


@pytest.mark.parametrize("decode", ["kemeny", "borda", "copeland", "copeland-or-borda"])
@pytest.mark.parametrize("pool", ["pairwise", "rankings"])
def test_shares_are_decoded_as_asked(decode, pool):
    X, y = make_data(n=80, k=4, noise=1.0)
    forest = RankingForest(5, decode=decode, pool=pool, oob_score=True, random_state=0).fit(X, y)
    np.testing.assert_array_equal(forest.predict(X), decode_pairwise(forest.predict_pairwise(X), decode))
    plain = RankingForest(5, random_state=0).fit(X, y)
    if pool == "rankings":
        for tree, other in zip(forest.trees_, plain.trees_, strict=True):
            decoded = decode_pairwise(pairs(other.values), decode)
            np.testing.assert_allclose(tree.values, KemenyEmbedding().fit_transform(decoded))


def out_of_bag_shares(forest, X, part):
    """Mean of what some of the trees say of rows that they have not seen."""
    unseen = (rows_by_tree(forest, len(X))[part] == 0)[:, :, None]
    said = np.array([tree.predict(X) for tree in forest.trees_[part]])
    return (unseen * said).sum(axis=0) / unseen.sum(axis=0)


@pytest.mark.parametrize("kind", ["full", "tied", "top-k", "incomplete"])
def test_shares_become_probabilities_out_of_bag(kind):
    X, y = make_data(n=60, k=4, kind=kind)
    kept = (np.isfinite(y).sum(axis=1) > 0) & ((~np.isnan(y)).sum(axis=1) > 1)
    X, y = X[kept], y[kept]
    w = np.random.default_rng(0).uniform(0.5, 2, len(X))
    forest, plain = (RankingForest(80, calibrate=c, random_state=5).fit(X, y, w) for c in (True, False))
    assert plain.calibration_ is None
    truth = KemenyEmbedding().fit_transform(y)
    halves = [out_of_bag_shares(plain, X, part) for part in (slice(40), slice(40, None))]
    both = naive.calibration_slope(np.mean(halves, axis=0), truth, w)
    one = naive.calibration_slope(np.concatenate(halves), np.concatenate([truth, truth]), np.tile(w, 2))
    unseen = (1 - 1 / len(X)) ** len(X)
    assert forest.calibration_ == pytest.approx(both * (both / one) ** (1 - unseen), rel=0.03)
    first, second = np.triu_indices(4, 1)
    shares = plain.predict_pairwise(X)[:, first, second].ravel()
    said = forest.predict_pairwise(X)[:, first, second].ravel()
    np.testing.assert_allclose(said, [naive.calibrated(s, forest.calibration_) for s in shares], atol=1e-9)
    assert (np.sign(said - 0.5) == np.sign(shares - 0.5))[abs(shares - 0.5) > 1e-12].all()  # what is likelier stays so


def test_calibration_comes_true_on_new_rows():
    X, y = make_data(n=3000, noise=0.1)
    careful = {"min_samples_leaf": 25, "random_state": 0}  # large leaves say less than they know
    raw, calibrated = (RankingForest(30, calibrate=c, **careful).fit(X[:1500], y[:1500]) for c in (False, True))
    display = [PairwiseCalibrationDisplay.from_estimator(forest, X[1500:], y[1500:]) for forest in (raw, calibrated)]
    plt.close("all")
    assert display[0].error > 0.05
    assert display[1].error < 0.5 * display[0].error
    assert calibrated.calibration_ > 1.5


def test_rows_that_all_trees_have_seen_calibrate_nothing():
    X, y = make_data(n=30)
    assert RankingForest(3, bootstrap=False, random_state=0).fit(X, y).calibration_ is None
    assert RankingForest(3, bootstrap=False, max_samples=0.5, random_state=0).fit(X, y).calibration_ > 0
    with pytest.raises(ValueError, match="rows that trees have not seen: set bootstrap=True or max_samples"):
        RankingForest(3, bootstrap=False, calibrate=True).fit(X, y)
    assert RankingForest(1, random_state=0).fit(X[:1], y[:1]).calibration_ is None
