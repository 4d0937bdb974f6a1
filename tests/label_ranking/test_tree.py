"""Consensus ranking trees: CRIT against least squares, pruning, leaves."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeRegressor

from rankwise import Rankings
from rankwise.aggregation import borda, dispersion, kemeny
from rankwise.embeddings import KemenyEmbedding, PositionEmbedding, decode_pairwise
from rankwise.label_ranking import RankingTree, partition_dispersion
from rankwise.trees import LeastSquaresTree
from rankwise.trees.engine import TargetRows
from tests.naive import trees as naive
from tests.strategies import KINDS, random_positions
from tests.trees.test_grow import peer_splits, rows_of_nodes, splits


def make_data(n=300, d=4, k=5, seed=0, noise=1.0, kind="full"):
    """Rankings by scores that bend with the features; features that float32 holds exactly."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.standard_normal((n, d)), 3).astype(np.float32).astype(float)
    scores = np.sin(X @ rng.standard_normal((d, k))) + noise * rng.standard_normal((n, k))
    positions = np.argsort(np.argsort(scores, axis=1), axis=1) + 1.0
    if kind == "tied":
        positions = np.ceil(positions / 2)
    if kind in ("top-k", "incomplete"):
        positions[positions > 3] = np.inf
    if kind == "incomplete":
        positions[rng.random((n, k)) < 0.3] = np.nan
    return X, Rankings(np.where(np.isfinite(positions).any(axis=1, keepdims=True), positions, np.nan)).positions


@pytest.mark.parametrize("k", [2, 3, 5, 8])
@pytest.mark.parametrize("limits", [{"max_depth": 3, "min_samples_leaf": 12}, {"max_leaf_nodes": 7}], ids=str)
@pytest.mark.parametrize("kind", ["full", "tied"])
def test_crit_is_least_squares_on_the_kemeny_embedding(k, limits, kind):
    X, y = make_data(k=k, kind=kind)
    embedded = KemenyEmbedding().fit(y).transform(y)
    ours = RankingTree(max_bins=None, smoothing=0, **limits).fit(X, y)
    peer = DecisionTreeRegressor(random_state=0, **limits).fit(X, embedded)
    assert splits(ours.tree_) == peer_splits(peer.tree_)
    shares = ours.predict_pairwise(X)[:, *np.triu_indices(k, 1)]
    np.testing.assert_allclose(shares, peer.predict(X).reshape(len(X), -1), atol=1e-12)
    np.testing.assert_allclose(ours.feature_importances_, peer.feature_importances_, atol=1e-9)


def test_very_many_items_by_the_same_law():
    """So many pairs that those of the rows are not all kept at once."""
    X, y = make_data(n=600, d=2, k=200)
    ours = RankingTree(max_bins=None, max_depth=2).fit(X, y)
    peer = DecisionTreeRegressor(max_depth=2, random_state=0).fit(X, KemenyEmbedding().fit(y).transform(y))
    assert splits(ours.tree_) == peer_splits(peer.tree_)
    predicted = ours.predict(X[:3])
    np.testing.assert_array_equal(np.sort(predicted, axis=1), np.tile(np.arange(1.0, 201), (3, 1)))
    assert ours.score(X, y) > 0.05


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("growth", ["best", "level"])
def test_pairs_on_the_fly_are_pairs_written_out(kind, growth):
    rng = np.random.default_rng(0)
    X, y = np.round(rng.standard_normal((120, 3)), 2), random_positions(rng, 120, 4, kind)
    rows = (np.isfinite(y).sum(axis=1) > 0) & ((~np.isnan(y)).sum(axis=1) > 1)
    X, y, w = X[rows], y[rows], rng.uniform(0.5, 2, rows.sum())
    options = {"growth": growth, "max_depth": 3, "min_samples_leaf": 8, "max_bins": None}
    pairs = RankingTree(**options).fit(X, y, w)
    written = LeastSquaresTree(**options).fit(X, KemenyEmbedding().fit(y).transform(y), w)
    assert splits(pairs.tree_) == splits(written.tree_)
    np.testing.assert_allclose(pairs.tree_.values, written.tree_.values)
    np.testing.assert_allclose(pairs.tree_.error, written.tree_.error, atol=1e-9)


def test_splits_by_places():
    X, y = make_data()
    ours = RankingTree("position", max_depth=3, max_bins=None, min_samples_leaf=5).fit(X, y)
    places = PositionEmbedding().fit(y).transform(y)
    peer = DecisionTreeRegressor(max_depth=3, min_samples_leaf=5, random_state=0).fit(X, places)
    assert splits(ours.tree_) == peer_splits(peer.tree_)
    leaf = ours.apply(X)
    shares = KemenyEmbedding().fit(y).transform(y)
    for node in np.unique(leaf):
        expected = shares[leaf == node].mean(axis=0)
        np.testing.assert_allclose(ours.tree_.values[ours.tree_.leaf_number[node]], expected)


def test_dispersion_of_the_nodes():
    X, y = make_data()
    tree = RankingTree(max_depth=3).fit(X, y)
    passes = rows_of_nodes(tree.tree_, X)
    for node, rows in enumerate(passes):
        assert tree.tree_.error[node] / tree.tree_.weight[node] == pytest.approx(dispersion(y[rows]))
    total = tree.tree_.error[tree.tree_.is_leaf].sum() / len(X)
    assert total == pytest.approx(partition_dispersion(tree.apply(X), y))


@pytest.mark.parametrize("decode", ["kemeny", "borda"])
def test_leaves_hold_the_consensus_of_their_rankings(decode):
    X, y = make_data(kind="full")
    tree = RankingTree(max_depth=3, decode=decode).fit(X, y)
    leaf = tree.apply(X)
    for node in np.unique(leaf):
        found = tree.predict(X[leaf == node])[0]
        rankings = Rankings(y[leaf == node])
        if decode == "kemeny":
            pairs = rankings.pair_counts()
            wrong = sum(pairs[j, i] for i in range(5) for j in range(5) if found[i] < found[j])
            assert wrong == pytest.approx(kemeny(rankings).cost)
        else:
            expected = np.asarray(borda(rankings))
            assert (np.sign(found[:, None] - found) * np.sign(expected[:, None] - expected) >= 0).all()


@pytest.mark.parametrize("decode", ["kemeny", "borda", "copeland", "copeland-or-borda"])
@pytest.mark.parametrize("kind", ["full", "incomplete"])
def test_shares_are_decoded_as_asked(decode, kind):
    X, y = make_data(kind=kind)
    tree = RankingTree(max_depth=3, decode=decode).fit(X, y)
    np.testing.assert_array_equal(tree.predict(X), decode_pairwise(tree.predict_pairwise(X), decode))


def test_complete_rows_by_the_way_of_incomplete_ones():
    X, y = make_data(k=4)
    unlisted = np.where(y == 4, np.inf, y)  # the last one alone is unlisted: the same pairs
    np.testing.assert_array_equal(
        RankingTree(max_depth=4).fit(X, unlisted).predict_pairwise(X),
        RankingTree(max_depth=4).fit(X, y).predict_pairwise(X),
    )
    complete = RankingTree(max_depth=4, min_samples_leaf=5).fit(X, y)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TargetRows, "is_complete", False)
        incomplete = RankingTree(max_depth=4, min_samples_leaf=5).fit(X, y)
    assert splits(incomplete.tree_) == splits(complete.tree_)
    np.testing.assert_allclose(incomplete.predict_pairwise(X), complete.predict_pairwise(X))


def test_pairs_that_nobody_orders_are_even():
    y = [[1, 2, np.nan], [1, 2, np.nan], [np.nan, 1, 2], [np.nan, 1, 2]]
    tree = RankingTree(smoothing=0).fit([[0.0], [0.0], [1.0], [1.0]], y)
    P = tree.predict_pairwise([[0.0], [1.0]])
    np.testing.assert_array_equal(P[:, 0, 2], [0.5, 0.5])
    # Of a pair that no ranking of a leaf orders, the nearest ancestor speaks.
    np.testing.assert_array_equal(P[:, 0, 1], [1.0, 1.0])
    np.testing.assert_array_equal(P[:, 1, 2], [1.0, 1.0])


@pytest.mark.parametrize("alpha", [0.0, 0.05])
def test_honest_leaves_use_no_row_that_grew_the_tree(alpha):
    X, y = make_data(n=80, k=4)
    tree = RankingTree(honest=True, ccp_alpha=alpha, min_samples_leaf=4, random_state=7).fit(X, y)
    # With the same seed the same rows fill a tree whose leaves say which they are.
    fill = LeastSquaresTree(honest=True, random_state=7).fit(X, np.eye(80)).tree_.values.sum(axis=0) > 0
    np.testing.assert_array_equal(tree.tree_.count, rows_of_nodes(tree.tree_, X)[:, ~fill].sum(axis=1))
    shares, leaf = KemenyEmbedding().fit(y).transform(y), tree.apply(X)
    for node in np.unique(leaf[fill]):
        expected = shares[fill & (leaf == node)].mean(axis=0)
        np.testing.assert_allclose(tree.tree_.values[tree.tree_.leaf_number[node]], expected)


def test_penalties():
    X, y = make_data(noise=0.5)
    path = RankingTree(min_samples_leaf=10).cost_complexity_pruning_path(X, y)
    assert path.errors[-1] == pytest.approx(dispersion(y))
    sizes = [RankingTree(min_samples_leaf=10, ccp_alpha=a + 1e-9).fit(X, y).get_n_leaves() for a in path.alphas]
    assert sizes == path.n_leaves.tolist()
    small = RankingTree(max_depth=3, min_samples_leaf=10).fit(X, y)
    own = small.tree_.error / len(X)
    subtrees = naive.pruned_subtrees(small.tree_.left)
    for alpha in (0.003, 0.01, 0.05, 0.2):
        best = min(sum(own[node] for node in leaves) + alpha * len(leaves) for leaves in subtrees)
        cut = RankingTree(max_depth=3, min_samples_leaf=10, ccp_alpha=alpha).fit(X, y)
        cost = partition_dispersion(cut.apply(X), y) + alpha * cut.get_n_leaves()
        assert cost == pytest.approx(best)


@pytest.mark.parametrize(
    "options", [{}, {"embedding": "position"}, {"growth": "level", "max_depth": 6}, {"honest": True}]
)
def test_the_penalty_by_cross_validation(options):
    X, y = make_data(n=2400, d=2, k=4, noise=0.7)
    X, y, new_X, new_y = X[:400], y[:400], X[400:], y[400:]
    whole = RankingTree(random_state=0, **options).fit(X, y)
    chosen = RankingTree(ccp_alpha="cv", random_state=0, **options).fit(X, y)
    assert chosen.ccp_alpha_ > 0
    assert chosen.get_n_leaves() < whole.get_n_leaves()
    assert chosen.score(new_X, new_y) > whole.score(new_X, new_y)
    again = RankingTree(ccp_alpha="cv", random_state=0, **options).fit(X, y)
    assert again.ccp_alpha_ == chosen.ccp_alpha_


def test_cross_validation_keeps_what_is_certain_and_cuts_what_is_noise():
    X = np.repeat([[0.0], [1.0], [2.0], [3.0]], 30, axis=0)
    certain = np.repeat([[1, 2, 3], [3, 2, 1], [2, 1, 3], [3, 1, 2]], 30, axis=0)
    assert RankingTree(ccp_alpha="cv", random_state=0).fit(X, certain).get_n_leaves() == 4
    noise = random_positions(np.random.default_rng(0), 120, 3, "full")
    assert RankingTree(ccp_alpha="cv", random_state=0).fit(X, noise).get_n_leaves() <= 2
    for rows in (1, 2, 3):
        assert RankingTree(ccp_alpha="cv").fit(X[::40][:rows], certain[::40][:rows]).predict(X).shape == (120, 3)


def test_the_penalty_changes_what_is_pruned_not_what_is_grown():
    X, y = make_data(n=120)
    path = RankingTree(max_features=1, random_state=0).cost_complexity_pruning_path(X, y)
    assert RankingTree(max_features=1, ccp_alpha="cv", random_state=0).fit(X, y).get_n_leaves() in path.n_leaves


def test_early_stopping_by_the_gain_of_dispersion():
    X, y = make_data()
    for least in (0.01, 0.05):
        tree = RankingTree(min_impurity_decrease=least).fit(X, y).tree_
        assert (tree.gain[~tree.is_leaf] / len(X)).min() >= least
        assert tree.n_leaves > 1
    assert RankingTree(min_impurity_decrease=10).fit(X, y).get_n_leaves() == 1


def test_text_and_graph():
    table = pd.DataFrame({"age": [20.0, 30.0, 60.0, 70.0]})
    y = pd.DataFrame([[1, 2, 3], [1, 2, 3], [3, 1, 2], [3, 1, 2]], columns=["tea", "milk", "juice"])
    tree = RankingTree().fit(table, y)
    assert tree.export_text() == ("|-- age <= 45: tea > milk > juice  (n=2)\n|-- age > 45: milk > juice > tea  (n=2)")
    graph = tree.export_graphviz()
    assert '0 [label="age <= 45\\nn=4"];' in graph
    assert '2 [label="milk > juice > tea\\nn=2", style="rounded"];' in graph
    np.testing.assert_array_equal(tree.decision_path(table).toarray(), [[1, 1, 0], [1, 1, 0], [1, 0, 1], [1, 0, 1]])


def test_questions_before_fitting():
    tree = RankingTree()
    for question in (tree.get_depth, tree.export_text, tree.sibling_merges, lambda: tree.apply([[0]])):
        with pytest.raises(NotFittedError):
            question()


def test_categories_and_missing_features():
    table = pd.DataFrame({"town": ["Ulm", "Bonn", "Kiel", None] * 15, "n": [1.0, np.nan, 3.0] * 20})
    y = np.array([[1, 2, 3], [3, 2, 1], [2, 1, 3], [3, 1, 2]] * 15, dtype=float)
    tree = RankingTree().fit(table, y)
    np.testing.assert_array_equal(tree.predict(table), y)
    assert tree.feature_importances_.tolist() == [1.0, 0.0]
    new = pd.DataFrame({"town": ["Rome"], "n": [2.0]})
    np.testing.assert_array_equal(tree.predict(new), [[3, 1, 2]])  # as where the town is missing


def test_a_category_of_rows_without_a_ranking():
    """Its code is beyond those of the rows used for training."""
    names = [f"town {number:03}" for number in range(130)]
    y = np.array([[1.0, 2.0], [2.0, 1.0]] * 60 + [[np.nan, np.nan]] * 10)
    table = pd.DataFrame({"town": names})
    tree = RankingTree().fit(table, y)
    assert set(map(tuple, tree.predict(table))) == {(1, 2), (2, 1)}
    np.testing.assert_array_equal(tree.predict(table)[:120], y[:120])
    unknown = tree.predict(pd.DataFrame({"town": ["nowhere"]}))
    np.testing.assert_array_equal(tree.predict(table)[120:], np.tile(unknown, (10, 1)))


def test_merging_siblings_is_never_better_than_the_pruning_path():
    X, y = make_data(n=150, k=4)
    tree = RankingTree(min_samples_leaf=10).fit(X, y)
    path, (nodes, rises) = tree.cost_complexity_pruning_path(X, y), tree.sibling_merges()
    assert len(nodes) == tree.get_n_leaves() - 1
    errors = path.errors[0] + np.concatenate([[0.0], np.cumsum(rises)])
    leaves = tree.get_n_leaves() - np.arange(len(errors))
    assert errors[-1] == pytest.approx(tree.tree_.error[0] / tree.tree_.weight[0])
    for alpha in np.linspace(0, path.alphas[-1] * 1.1, 20):
        best = (path.errors + alpha * path.n_leaves).min()
        assert (errors + alpha * leaves).min() >= best - 1e-9


@pytest.mark.parametrize("growth", ["best", "level"])
def test_a_small_decrease_stops_where_no_split_gains(growth):
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 7, dtype=float)
    y = np.where((X[:, :1] != X[:, 1:]), [1, 2, 3], [3, 2, 1])
    assert RankingTree(growth=growth).fit(X, y).get_n_leaves() == 4
    assert RankingTree(growth=growth, min_impurity_decrease=1e-9).fit(X, y).get_n_leaves() == 1
    uneven = np.vstack([X, X[:1]]), np.vstack([y, y[:1]])  # one row more, and the first split gains a little
    assert RankingTree(growth=growth, min_impurity_decrease=1e-9).fit(*uneven).get_n_leaves() == 4


@pytest.mark.parametrize("decode", ["kemeny", "borda"])
def test_smoothing_adds_rankings_of_both_orders_to_a_leaf(decode):
    X, y = make_data(n=120, k=4)
    w = np.random.default_rng(0).uniform(0.5, 2, len(X))
    raw, one, ten = (RankingTree(smoothing=s, max_depth=5, decode=decode).fit(X, y, w) for s in (0, 1.0, 10.0))
    leaf, P = one.apply(X), one.predict_pairwise(X)
    for node in np.unique(leaf):
        rows = leaf == node
        for i, j in ((0, 1), (3, 2)):
            before = w[rows] @ (y[rows, i] < y[rows, j])
            assert P[rows, i, j] == pytest.approx((before + 1) / (w[rows].sum() + 2))
    for tree in (one, ten):
        np.testing.assert_array_equal(tree.predict(X), raw.predict(X))
        np.testing.assert_array_equal(tree.predict(X), decode_pairwise(tree.predict_pairwise(X), decode))
    assert RankingTree().fit([[0.0], [1.0]], [[1, 2], [2, 1]]).predict_pairwise([[0.0]])[0, 0, 1] == pytest.approx(
        2 / 3
    )
