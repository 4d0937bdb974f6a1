"""The graph cut embedding: golden values, definitions, laws, sampling, scikit-learn, bad input."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

from rankwise import Rankings
from rankwise.data import midranks, reverse
from rankwise.datasets import make_food_preferences
from rankwise.embeddings import (
    GraphCutEmbedding,
    _graph_cut_jit,
    graph_cut,
    is_merge_free,
    item_graph,
    item_graphs,
    ordered_partitions,
)
from rankwise.embeddings.completions import Structure, levels_of, slots_of
from tests.naive import graph_cut as naive
from tests.strategies import position_matrices, random_positions

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "graph_cut.json").read_text("utf-8"))
FOOD = make_food_preferences(2, random_state=0)[2]
nan, inf = np.nan, np.inf


def random_graph(seed: int, n_items: int) -> np.ndarray:
    """Weights of a connected graph, some of them equal, some 0."""
    weights = np.triu(np.random.default_rng(seed).choice([0.0, 0.3, 1.0, 1.7], (n_items, n_items)), 1)
    weights[np.arange(n_items - 1), np.arange(1, n_items)] += 0.5
    return weights + weights.T


def compressed(weights: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> sparse.csr_array:
    """A graph that stays in compressed rows, however dense it is."""
    monkeypatch.setattr(item_graphs, "_CELLS_PER_EDGE", 0)
    return sparse.csr_array(weights)


# -- values -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["laplace", "rbf"])
def test_features_of_the_paper(kernel):
    weights = item_graph(FOOD.item_features, kernel, "median-with-diagonal")
    by_number = item_graph(FOOD.item_features, kernel, GOLDEN["median"])
    np.testing.assert_allclose(weights, by_number, rtol=1e-12)
    features = GraphCutEmbedding(weights).fit_transform(FOOD.noiseless)
    np.testing.assert_allclose(-features, GOLDEN[kernel], atol=6e-7)
    if kernel == "laplace":
        assert [8 - len(np.unique(row.round(9))) for row in features] == GOLDEN["merges"]


@given(
    position_matrices(min_items=2, max_items=5, max_rankings=2),
    st.integers(0, 2**32 - 1),
    st.sampled_from(["pava", "none"]),
    st.sampled_from(["auto", "exact", "closed-form", "full"]),
    st.booleans(),
)
def test_features_equal_their_definition(positions, seed, pooling, completion, in_rows):
    assume(not np.isnan(positions).all(axis=1).any())
    weights = random_graph(seed, positions.shape[1])
    with pytest.MonkeyPatch.context() as patch:
        graph = compressed(weights, patch) if in_rows else weights
        embedding = GraphCutEmbedding(graph, pooling=pooling, completion=completion).fit(positions)
        assert sparse.issparse(embedding.graph_) == in_rows
    for row, features in zip(positions, embedding.transform(positions), strict=True):
        pooled = pooling == "pava" and not (completion == "closed-form" and np.isnan(row).any())
        expected = naive.mean_features(row, lambda s: naive.cut(weights, s), pooled, completion == "full")
        np.testing.assert_allclose(features, expected, atol=1e-10)
    np.testing.assert_array_equal(embedding.standard_errors(positions), 0.0)


def test_tied_items_are_averaged_before_they_are_pooled():
    weights = np.array([[0, 0, 4.0, 0], [0, 0, 0, 2], [4, 0, 0, 1], [0, 2, 1, 0]])
    # 4 | 2, -3 | -3 falls already, item by item; as a level, the tied ones have mean -1/2.
    features = GraphCutEmbedding(weights).fit_transform([[1, 2, 2, 3]])
    np.testing.assert_allclose(features, [[4, -0.5, -0.5, -3]])


def test_a_whole_enumeration_equals_the_mean_of_its_parts():
    """Completions carry increments on from one to the next; here each is computed for itself."""
    weights = item_graph(np.random.default_rng(0).random((10, 3)))
    row = np.array([[1.0, nan, 2, nan, 3, nan, 4, nan, nan, nan]])
    embedding = GraphCutEmbedding(weights).fit(row)
    levels = levels_of(row)
    completed = np.ascontiguousarray(Structure.of(levels[0]).all("gaps")[:, slots_of(levels)[0]])
    assert len(completed) == 5**6
    features = np.empty(completed.shape)
    _graph_cut_jit.cut_features(completed, True, *embedding._graph, features)
    np.testing.assert_allclose(embedding.transform(row)[0], features.mean(axis=0), atol=1e-12)


# -- laws ---------------------------------------------------------------------------------------------------------


@given(position_matrices(min_items=2, kinds=("full", "tied", "top-k")), st.integers(0, 2**32 - 1))
def test_laws_of_complete_rankings(positions, seed):
    weights = random_graph(seed, positions.shape[1])
    pooled = GraphCutEmbedding(weights).fit_transform(positions)
    plain = GraphCutEmbedding(weights, pooling="none").fit_transform(positions)
    np.testing.assert_allclose(pooled.sum(axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(GraphCutEmbedding(weights).fit_transform(reverse(positions)), -pooled, atol=1e-12)
    # Pooling is a projection.
    squares = (pooled**2).sum(axis=1) + ((plain - pooled) ** 2).sum(axis=1)
    np.testing.assert_allclose((plain**2).sum(axis=1), squares, atol=1e-10)
    before = positions[:, :, None] < positions[:, None, :]
    assert (pooled[:, :, None] >= pooled[:, None, :] - 1e-12)[before].all()


@given(position_matrices(min_items=2, max_items=6), st.integers(0, 2**32 - 1))
def test_relabelling_items_relabels_features(positions, seed):
    assume(not np.isnan(positions).all(axis=1).any())
    weights = random_graph(seed, positions.shape[1])
    order = np.random.default_rng(seed).permutation(positions.shape[1])
    features = GraphCutEmbedding(weights, completion="exact").fit_transform(positions)
    relabeled = GraphCutEmbedding(weights[np.ix_(order, order)], completion="exact").fit_transform(positions[:, order])
    np.testing.assert_allclose(relabeled, features[:, order], atol=1e-11)


@given(position_matrices(min_items=2, kinds=("full", "tied", "top-k")))
def test_without_features_the_kernel_is_four_times_that_of_spearman(positions):
    features = GraphCutEmbedding().fit_transform(positions)
    centered = midranks(positions) - (positions.shape[1] + 1) / 2
    np.testing.assert_allclose(features @ features.T, 4 * centered @ centered.T, atol=1e-10)
    np.testing.assert_allclose(features, -2 * centered, atol=1e-12)


@given(position_matrices(min_items=2, max_items=5), st.integers(0, 2**32 - 1), st.sampled_from(["auto", "full"]))
def test_merge_free_graphs_need_no_pooling(positions, seed, completion):
    assume(not np.isnan(positions).all(axis=1).any())
    weights = random_graph(seed, positions.shape[1]) + 6.0
    assert is_merge_free(weights)
    embedding = GraphCutEmbedding(weights, completion=completion).fit(positions)
    assert embedding.merge_free_
    plain = GraphCutEmbedding(weights, completion=completion, pooling="none").fit_transform(positions)
    np.testing.assert_array_equal(embedding.transform(positions), plain)


def test_full_rankings_survive_the_round_trip_where_nothing_merges():
    positions = random_positions(np.random.default_rng(0), 20, 6, "full")
    embedding = GraphCutEmbedding().fit(positions)
    np.testing.assert_array_equal(embedding.inverse_transform(embedding.transform(positions)), positions)


def test_decoding_sorts_by_size_and_ties_what_was_pooled():
    embedding = GraphCutEmbedding(FOOD_GRAPH).fit(FOOD.noiseless)
    decoded = embedding.inverse_transform(embedding.transform(FOOD.noiseless))
    assert decoded.max(axis=1).tolist() == [7, 6]
    np.testing.assert_array_equal(embedding.inverse_transform(1e-9 * np.eye(8))[0], [1, *[2] * 7])
    np.testing.assert_array_equal(embedding.inverse_transform([[0.0] * 7 + [nan]])[0], [*[1] * 7, nan])


# -- sampling -----------------------------------------------------------------------------------------------------

FOOD_GRAPH = item_graph(FOOD.item_features, "laplace", "median-with-diagonal")
OPEN_ROW = np.array([[1.0, nan, 2.0, nan, 3.0, nan, 4.0, nan]])
FULL_ROW = np.array([[1.0, inf, 2.0, inf, 3.0, inf, nan, inf]])


@pytest.mark.parametrize(("row", "full"), [(OPEN_ROW, False), (FULL_ROW, True)])
def test_samples_are_unbiased_with_the_error_that_is_promised(row, full, monkeypatch):
    completion = "full" if full else "sample"
    exact = GraphCutEmbedding(FOOD_GRAPH, completion="full" if full else "exact").fit_transform(row)[0]
    if full:
        monkeypatch.setattr(ordered_partitions, "_FEW_COMPLETIONS", 1)
    embeddings = [
        GraphCutEmbedding(FOOD_GRAPH, completion=completion, n_samples=64, random_state=seed).fit(row)
        for seed in range(150)
    ]
    errors = np.array([embedding.transform(row)[0] for embedding in embeddings]) - exact
    promised = np.array([embedding.standard_errors(row)[0] for embedding in embeddings])
    assert (promised > 0).all()
    spread = errors.std(axis=0, ddof=1)
    assert (np.abs(errors.mean(axis=0)) < 4.5 * spread / np.sqrt(len(errors))).all()
    np.testing.assert_allclose(np.sqrt(np.mean(promised**2, axis=0)), np.sqrt(np.mean(errors**2, axis=0)), rtol=0.35)
    # Independent draws would have this variance; ours have a fraction of it.
    levels = levels_of(row)
    every = Structure.of(levels[0]).all("full" if full else "gaps")[:, slots_of(levels)[0]]
    features = np.empty(every.shape)
    _graph_cut_jit.cut_features(np.ascontiguousarray(every), True, *embeddings[0]._graph, features)
    np.testing.assert_allclose(features.mean(axis=0), exact, atol=1e-11)
    assert np.sum(errors**2) / len(errors) < features.var(axis=0).sum() / 64 / 30


def test_features_depend_neither_on_other_rows_nor_on_threads(monkeypatch):
    rng = np.random.default_rng(0)
    positions = random_positions(rng, 60, 9, "incomplete")
    positions = positions[~np.isnan(positions).all(axis=1)]
    graph = item_graph(rng.random((9, 2)))
    whole = GraphCutEmbedding(graph, completion="sample", n_samples=32, random_state=3).fit(positions)
    features = whole.transform(positions)
    np.testing.assert_array_equal(np.vstack([whole.transform(row[None]) for row in positions]), features)
    np.testing.assert_array_equal(whole.transform(positions[::-1]), features[::-1])
    monkeypatch.setattr(ordered_partitions, "_TASK_CELLS", 20)
    monkeypatch.setattr(ordered_partitions, "_TASK_COMPLETED_CELLS", 600)
    for n_jobs in (1, 2, 3):
        threads = clone(whole).set_params(n_jobs=n_jobs).fit(positions)
        np.testing.assert_array_equal(threads.transform(positions), features)
        np.testing.assert_array_equal(threads.standard_errors(positions), whole.standard_errors(positions))


def test_large_numbers_of_completions_are_sampled_and_small_ones_are_not():
    graph = item_graph(np.random.default_rng(0).random((12, 2)))
    rows = np.full((2, 12), nan)
    rows[0, :10], rows[1, :3] = np.arange(1, 11), [1, 2, 3]  # 11^2 and 4^9 completions
    errors = GraphCutEmbedding(graph, random_state=0).fit(rows).standard_errors(rows)
    assert (errors[0] == 0).all()
    assert (errors[1] > 0).all()
    more = GraphCutEmbedding(graph, n_samples=3200, random_state=0).fit(rows)
    np.testing.assert_allclose(
        more.transform(rows)[1], exactly(graph, rows)[1], atol=6 * more.standard_errors(rows).max()
    )
    assert more.standard_errors(rows)[1].mean() < errors[1].mean() / 3


def many_incomplete(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Rankings of 8 items, 1, 2 or 3 of them missing: 8, 49 and 216 completions."""
    rng = np.random.default_rng(0)
    rows = random_positions(rng, n, 8, "full")
    for r, row in enumerate(rows):
        row[rng.choice(8, 1 + r % 3, replace=False)] = nan
    return rows, item_graph(rng.random((8, 2)))


def test_auto_enumerates_what_the_rankings_of_fit_can_afford(monkeypatch):
    rows, graph = many_incomplete(60)
    assert GraphCutEmbedding(graph).fit(rows).enumerated_up_to_ == 20_000
    for budget, limit in ((20 * (8 + 49 + 216), 20_000), (20 * (8 + 49 + 216) - 1, 49), (20 * 8, 8), (0, 0)):
        monkeypatch.setattr(ordered_partitions, "_BUDGET", budget)
        embedding = GraphCutEmbedding(graph, n_samples=16, random_state=0).fit(rows)
        assert embedding.enumerated_up_to_ == limit
        used = embedding.n_completions(rows)
        assert used.tolist() == [count if count <= limit else 16 for count in (8, 49, 216)] * 20
        np.testing.assert_array_equal(
            (embedding.standard_errors(rows) > 0).any(axis=1), np.tile([8, 49, 216], 20) > limit
        )
        # Once fitted, a ranking is treated the same, however many others come with it.
        alone = np.vstack([embedding.transform(row[None]) for row in rows[:6]])
        np.testing.assert_array_equal(alone, embedding.transform(rows)[:6])
    assert GraphCutEmbedding(graph, completion="exact").fit(rows).n_completions(rows).max() == 216
    assert (
        GraphCutEmbedding(graph, completion="sample", n_samples=32).fit(rows).n_completions(rows).tolist() == [32] * 60
    )
    assert GraphCutEmbedding().fit(rows).n_completions(rows).max() == 1  # by formula


def test_rankings_that_come_again_cost_once(monkeypatch):
    rows, graph = many_incomplete(12)
    again = np.vstack([rows, random_positions(np.random.default_rng(1), 5, 8, "full"), rows[::-1], rows[:3]])
    monkeypatch.setattr(ordered_partitions, "_BUDGET", 4 * (8 + 49 + 216))
    embedding = GraphCutEmbedding(graph, completion="sample", n_samples=16, random_state=0).fit(rows)
    features, errors = embedding.transform(rows), embedding.standard_errors(rows)
    assert GraphCutEmbedding(graph).fit(again).enumerated_up_to_ == 20_000
    computed = []
    mean_features = GraphCutEmbedding._mean_features

    def count(self, levels, table, n_runs):
        computed.append(len(levels))
        return mean_features(self, levels, table, n_runs)

    monkeypatch.setattr(GraphCutEmbedding, "_mean_features", count)
    found = embedding.transform(again)
    assert sum(computed) == 12
    np.testing.assert_array_equal(
        np.vstack([found[:12], found[17:]]), np.vstack([features, features[::-1], features[:3]])
    )
    np.testing.assert_array_equal(embedding.standard_errors(again)[17:29], errors[::-1])


def exactly(graph: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return GraphCutEmbedding(graph, completion="exact").fit_transform(rows)


def test_edges_in_compressed_rows_give_the_features_of_the_matrix():
    rng = np.random.default_rng(0)
    graph = item_graph(rng.random((60, 2)), keep=0.02)
    positions = random_positions(rng, 30, 60, "incomplete")
    in_rows = GraphCutEmbedding(graph, n_samples=32, random_state=0).fit(positions)
    dense = GraphCutEmbedding(graph.toarray(), n_samples=32, random_state=0).fit(positions)
    assert sparse.issparse(in_rows.graph_)
    np.testing.assert_allclose(in_rows.transform(positions), dense.transform(positions), atol=1e-12)
    np.testing.assert_allclose(in_rows.standard_errors(positions), dense.standard_errors(positions), atol=1e-12)


# -- scikit-learn -------------------------------------------------------------------------------------------------


def test_rankings_arrays_and_frames_have_the_same_features():
    positions = random_positions(np.random.default_rng(0), 8, 8, "incomplete")
    items = list(Rankings(FOOD.noiseless).items)
    embedding = GraphCutEmbedding(features=FOOD.item_features, random_state=0).fit(positions)
    assert not hasattr(embedding, "feature_names_in_")
    expected = embedding.transform(positions)
    assert embedding.get_feature_names_out().tolist() == [f"x{i}" for i in range(8)]
    frame = pd.DataFrame(positions, columns=items)
    for rankings in (Rankings(positions, items), frame, pl.DataFrame(positions, schema=items, nan_to_null=True)):
        named = clone(embedding).fit(rankings)
        assert named.get_feature_names_out().tolist() == items
        np.testing.assert_array_equal(named.transform(rankings), expected)
        np.testing.assert_array_equal(named.transform(positions), expected)
        with pytest.raises(ValueError, match=r"the items are pizza, .* was fitted to cake"):
            named.transform(frame[items[::-1]])
        assert not hasattr(named.fit(positions), "feature_names_in_")
    table = clone(embedding).set_output(transform="pandas").fit_transform(frame)
    assert table.columns.tolist() == items
    np.testing.assert_array_equal(table.to_numpy(), expected)
    by_rankings = clone(embedding).set_output(transform="pandas").fit_transform(Rankings(positions, items))
    assert by_rankings.columns.tolist() == items


def test_items_are_found_by_their_names():
    items = list("abcdefgh")
    positions = random_positions(np.random.default_rng(0), 8, 8, "tied")
    features = pd.DataFrame(FOOD.item_features, index=items)
    graph = item_graph(features)
    expected = GraphCutEmbedding(features=FOOD.item_features).fit_transform(positions)
    turned = items[3:] + items[:3]
    named_columns = pl.DataFrame(graph.loc[turned, turned].to_numpy(), schema=turned)
    for source in (
        {"features": features.loc[turned]},
        {"graph": item_graph(features.loc[turned])},
        {"graph": graph.loc[turned, items]},
        {"graph": named_columns},
        {"features": features.set_axis(range(10, 18))},  # row numbers are not names
    ):
        for rankings in (Rankings(positions, items), pd.DataFrame(positions, columns=items)):
            np.testing.assert_allclose(GraphCutEmbedding(**source).fit_transform(rankings), expected, atol=1e-12)
    numbers = list(range(10, 18))
    by_number = GraphCutEmbedding(features=features.set_axis(numbers).loc[numbers[::-1]])
    np.testing.assert_allclose(by_number.fit_transform(Rankings(positions, numbers)), expected, atol=1e-12)
    for source in ({"features": features.rename({"a": "z"})}, {"graph": graph.rename({"a": "z"}, axis=1)}):
        with pytest.raises(ValueError, match=r"has the items .*z.*, but the rankings have a, b.*same items"):
            GraphCutEmbedding(**source).fit(Rankings(positions, items))


def test_large_graphs_are_not_searched_for_merges(monkeypatch):
    rows = random_positions(np.random.default_rng(0), 4, 6, "incomplete")
    rows = rows[~np.isnan(rows).all(axis=1)]
    lightly = 1 + 0.01 * random_graph(0, 6)  # merge-free
    known = GraphCutEmbedding(lightly, random_state=0).fit(rows)
    assert known.merge_free_
    monkeypatch.setattr(graph_cut, "_MOST_ITEMS_TESTED", 5)
    unknown = GraphCutEmbedding(lightly, random_state=0).fit(rows)
    assert not unknown.merge_free_
    np.testing.assert_allclose(unknown.transform(rows), known.transform(rows), atol=1e-12)
    monkeypatch.setattr(_graph_cut_jit, "never_merges", None)  # not asked for
    assert GraphCutEmbedding().fit(rows).merge_free_
    assert is_merge_free(np.ones((6, 6)))


def test_the_embedding_is_an_estimator():
    positions = random_positions(np.random.default_rng(0), 5, 8, "incomplete")
    embedding = GraphCutEmbedding(FOOD_GRAPH, completion="sample", random_state=0)
    with pytest.raises(NotFittedError):
        embedding.transform(positions)
    embedding.fit(positions)
    features = embedding.transform(positions)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(embedding)).transform(positions), features)
    np.testing.assert_array_equal(clone(embedding).fit_transform(positions), features)
    np.testing.assert_array_equal(clone(embedding).fit_transform(Rankings(positions)), features)
    single = clone(embedding).set_params(dtype="float32").fit_transform(positions)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, features, rtol=1e-6)
    with pytest.raises(ValueError, match="fitted to 8 items"):
        embedding.transform(positions[:, :7])
    with pytest.raises(ValueError, match="fitted to 8 items"):
        embedding.inverse_transform(features[:, :7])
    with pytest.raises(ValueError, match="'pooling' parameter"):
        GraphCutEmbedding(pooling="mean").fit(positions)
    assert embedding.transform(positions[:0]).shape == (0, 8)


@pytest.mark.parametrize(("kind", "length"), [("full", None), ("top-k", 3), ("exhaustive", 3), ("non-exhaustive", 4)])
def test_a_linear_model_on_features_tells_types_of_users_apart(kind, length):
    rankings, user_type, bunch = make_food_preferences(60, sigma=0.3, kind=kind, length=length, random_state=0)
    pipeline = make_pipeline(GraphCutEmbedding(features=bunch.item_features, random_state=0), LogisticRegression())
    assert cross_val_score(pipeline, rankings, user_type, cv=3).mean() > 0.8
    search = GridSearchCV(pipeline, {"graphcutembedding__pooling": ["pava", "none"]}, cv=2)
    assert search.fit(rankings.positions, user_type).best_score_ > 0.8


# -- bad input ----------------------------------------------------------------------------------------------------


def fitted(positions: object, *arguments: object, **parameters: object) -> GraphCutEmbedding:
    return GraphCutEmbedding(*arguments, **parameters).fit(positions)


PAIR = [[1, 2]]
TWO_APART = np.array([[0, 1.0, 0], [1, 0, 0], [0, 0, 0]])
MANY_MISSING = np.array([[1.0, 2.0, 3.0, 4.0, *[nan] * 26]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fitted([[1]]), "one column; an order takes two items"),
        (lambda: fitted([[0, 1]]), "positions count from 1"),
        (lambda: fitted(PAIR, [[0, -1], [-1, 0]]), r"graph\[0, 1\] is -1"),
        (lambda: fitted(PAIR, [[0, 1], [2, 0]]), "both ways"),
        (
            lambda: fitted(PAIR, np.ones((3, 3))),
            "graph has 3 rows, but the rankings have 2 items; give one row for each",
        ),
        (lambda: fitted(PAIR, features=np.eye(3)), "features has 3 rows, but the rankings have 2 items"),
        (lambda: fitted(PAIR, features=[[1.0], [nan]]), "missing or not finite for items 1"),
        (lambda: fitted(PAIR, np.ones((2, 2)), np.eye(2)), "graph and features are both given"),
        (lambda: fitted([[1, 2, 3]], TWO_APART), "items 2 have no weight to any other.*small weights"),
        (lambda: fitted(pd.DataFrame([[1, 2, 3]], columns=list("abc")), TWO_APART), "items c have no weight"),
        (lambda: fitted(PAIR).transform([[1, 2], [nan, nan]]), "ranking 1 ranks no item.*drop rows"),
        (
            lambda: fitted(MANY_MISSING, item_graph(np.arange(30.0)[:, None]), completion="exact").transform(
                MANY_MISSING
            ),
            r"ranking 0 has \(4 \+ 1\)\^26, about 10\^18, completions.*Use 'auto' or 'sample'",
        ),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
