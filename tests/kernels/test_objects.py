"""Kernel objects: the contract of scikit-learn's kernels, and the estimators that take them."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.cluster import SpectralClustering
from sklearn.decomposition import KernelPCA
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, WhiteKernel
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC

from rankwise import Rankings
from rankwise.data import check_positions
from rankwise.datasets import make_food_preferences
from rankwise.embeddings import GraphCutEmbedding, item_graph
from rankwise.kernels import (
    GraphCutKernel,
    KendallKernel,
    MallowsKernel,
    finite_positions,
    graph_cut_kernel,
    kendall_kernel,
    mallows_kernel,
)
from tests.strategies import KINDS, random_positions

GRAPH = np.array([[0, 2, 1, 0.5], [2, 0, 1, 1], [1, 1, 0, 3], [0.5, 1, 3, 0]])
OBJECTS = {
    "kendall": KendallKernel(),
    "kendall-normalized": KendallKernel(normalize=True),
    "kendall-nonnegative": KendallKernel(nonnegative=True),
    "mallows": MallowsKernel(0.3),
    "mallows-fixed": MallowsKernel(0.3, scale_bounds="fixed"),
    "mallows-monte-carlo": MallowsKernel(0.3, completion="monte-carlo", n_samples=4),
    "graph-cut": GraphCutKernel(GRAPH),
    "graph-cut-normalized": GraphCutKernel(normalize=True),
    "graph-cut-nonnegative": GraphCutKernel(GRAPH, nonnegative=True),
}
every_object = pytest.mark.parametrize("kernel", OBJECTS.values(), ids=OBJECTS)


@pytest.fixture(scope="module")
def rows():
    rows = random_positions(np.random.default_rng(0), 40, 4, "incomplete")
    compares = [len(set(row[~np.isnan(row)])) > 1 for row in rows]  # the others have no norm to divide by
    return rows[compares]


@pytest.fixture(scope="module", params=["full", "top-k", "exhaustive", "non-exhaustive"])
def food(request):
    length = None if request.param == "full" else 4
    rankings, user_type, _ = make_food_preferences(60, sigma=0.2, kind=request.param, length=length, random_state=0)
    return finite_positions(rankings), user_type


@every_object
def test_values_are_those_of_the_functions(kernel, rows):
    if isinstance(kernel, KendallKernel):
        expected = kendall_kernel(rows, normalize=kernel.normalize or kernel.nonnegative)
    elif isinstance(kernel, MallowsKernel):
        expected = mallows_kernel(rows, None, 0.3, completion=kernel.completion, n_samples=4, random_state=0)
        expected = expected if kernel.completion == "monte-carlo" else mallows_kernel(rows, scale=0.3)
    else:
        normalize = kernel.normalize or kernel.nonnegative
        expected = graph_cut_kernel(rows, graph=kernel.graph, random_state=0, normalize=normalize)
    if getattr(kernel, "nonnegative", False):
        expected = (1 + expected) / 2
    np.testing.assert_allclose(kernel(rows), expected, atol=1e-12)
    np.testing.assert_allclose(kernel(rows[:3], rows), expected[:3], atol=1e-12)


@every_object
def test_the_diagonal_is_that_of_the_matrix(kernel, rows):
    np.testing.assert_allclose(kernel.diag(rows), np.diag(kernel(rows)), atol=1e-12)


@every_object
def test_finite_positions_mean_the_same(kernel, rows):
    np.testing.assert_allclose(kernel(finite_positions(rows), rows), kernel(rows), atol=1e-12)


@every_object
def test_gradients_equal_finite_differences(kernel, rows):
    matrix, gradient = kernel(rows, eval_gradient=True)
    np.testing.assert_allclose(matrix, kernel(rows), atol=1e-14)
    assert gradient.shape == (*matrix.shape, kernel.n_dims)
    for d in range(kernel.n_dims):
        step = 1e-6 * np.eye(kernel.n_dims)[d]
        up, down = (kernel.clone_with_theta(kernel.theta + sign * step)(rows) for sign in (1, -1))
        np.testing.assert_allclose(gradient[:, :, d], (up - down) / 2e-6, atol=1e-8)


@every_object
def test_the_contract_of_kernels(kernel, rows):
    assert clone(kernel) == kernel
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert not kernel.is_stationary()
    assert kernel.requires_vector_input
    assert isinstance(repr(kernel), str)
    assert kernel.clone_with_theta(kernel.theta) == kernel
    with pytest.raises(ValueError, match="Y is None"):
        kernel(rows, rows, eval_gradient=True)
    together = ConstantKernel(2.0) * kernel + WhiteKernel()
    np.testing.assert_allclose(np.diag(together(rows)), together.diag(rows), atol=1e-12)


def test_kernels_with_other_graphs_are_not_equal():
    same = GraphCutKernel(sparse.csr_array(GRAPH))
    assert same == clone(same) == GraphCutKernel(GRAPH)
    assert all(same != other for other in (GraphCutKernel(), GraphCutKernel(GRAPH[:2, :2]), KendallKernel(), "graph"))


def test_only_the_scale_of_mallows_is_learned():
    assert [kernel.n_dims for kernel in OBJECTS.values()] == [0, 0, 0, 1, 0, 1, 0, 0, 0]
    assert np.exp(MallowsKernel(0.3).theta) == pytest.approx([0.3])
    assert repr(MallowsKernel(0.3)) == "MallowsKernel(scale=0.3)"


@pytest.mark.parametrize("kernel", [KendallKernel(), MallowsKernel(0.1), GraphCutKernel()], ids=str)
def test_gaussian_processes_classify_and_regress(kernel, food):
    X, y = food
    assert GaussianProcessClassifier(kernel).fit(X[:40], y[:40]).score(X[40:], y[40:]) > 0.8
    regressor = GaussianProcessRegressor(kernel, alpha=0.3).fit(X[:40], y[:40] - 1.5)
    mean, deviation = regressor.predict(X[40:], return_std=True)
    assert np.mean((mean > 0) == (y[40:] == 2)) > 0.8
    assert np.all(deviation >= 0)


def test_gaussian_processes_learn_the_scale_and_the_variance():
    rankings, _, _ = make_food_preferences(60, sigma=0.5, random_state=0)
    noise = 0.1 * np.random.default_rng(0).standard_normal(60)
    target = np.random.default_rng(1).multivariate_normal(np.zeros(60), 4 * MallowsKernel(0.05)(rankings.positions))
    prior = ConstantKernel(1.0) * MallowsKernel(1.0) + WhiteKernel(0.1)
    model = GaussianProcessRegressor(prior).fit(rankings.positions, target + noise)
    assert 0.01 < model.kernel_.k1.k2.scale < 0.25
    assert model.log_marginal_likelihood_value_ > model.log_marginal_likelihood(prior.theta) + 10


@pytest.mark.parametrize("kernel", [KendallKernel(), MallowsKernel(0.1), GraphCutKernel()], ids=str)
def test_kernel_machines_take_the_objects(kernel, food):
    X, y = food
    assert SVC(kernel=kernel).fit(X[:40], y[:40]).score(X[40:], y[40:]) > 0.8
    ridge = KernelRidge(kernel=kernel, alpha=1.0).fit(X[:40], y[:40] - 1.5)
    assert np.mean((ridge.predict(X[40:]) > 0) == (y[40:] == 2)) > 0.8
    planes = KernelPCA(2, kernel=kernel).fit(X[:40]).transform(X[40:])
    assert planes.shape == (20, 2)
    features = Nystroem(kernel, n_components=20, random_state=0)
    assert make_pipeline(features, LogisticRegression()).fit(X[:40], y[:40]).score(X[40:], y[40:]) > 0.8


def test_nystroem_with_all_rankings_as_landmarks_is_the_kernel(food):
    X, _ = food
    vectors = Nystroem(MallowsKernel(0.1), n_components=len(X), random_state=0).fit_transform(X)
    np.testing.assert_allclose(vectors @ vectors.T, MallowsKernel(0.1)(X), atol=1e-6)


@pytest.mark.parametrize(
    "kernel",
    [MallowsKernel(0.1), KendallKernel(nonnegative=True), GraphCutKernel(nonnegative=True)],
    ids=["mallows", "kendall", "graph-cut"],
)
def test_spectral_clustering_finds_the_types(food, kernel):
    X, y = food
    affinity = kernel(X)
    assert affinity.min() >= 0
    assert np.linalg.eigvalsh(affinity).min() > -1e-9
    found = SpectralClustering(2, affinity=kernel, random_state=0).fit_predict(X)
    share = np.mean(found == (y == 2))
    assert max(share, 1 - share) > 0.8


def test_positions_as_they_are_go_to_svc_and_by_a_pipeline_to_the_rest():
    rankings, y, _ = make_food_preferences(40, sigma=0.2, kind="non-exhaustive", length=4, random_state=0)
    assert SVC(kernel=KendallKernel()).fit(rankings.positions, y).score(rankings.positions, y) > 0.8
    model = make_pipeline(FunctionTransformer(finite_positions), GaussianProcessClassifier(KendallKernel()))
    assert model.fit(rankings.positions, y).score(rankings.positions, y) > 0.8


def test_the_scale_can_be_searched():
    rankings, y, _ = make_food_preferences(40, sigma=0.2, random_state=0)
    search = GridSearchCV(SVC(kernel=MallowsKernel()), {"kernel": [MallowsKernel(s) for s in (0.01, 0.1)]}, cv=2)
    assert search.fit(rankings.positions, y).best_score_ > 0.8


@pytest.mark.parametrize("kind", KINDS)
def test_finite_positions_are_finite_and_keep_the_order(kind):
    rows = random_positions(np.random.default_rng(1), 30, 5, kind)
    finite = finite_positions(Rankings(rows))
    assert np.isfinite(finite).all()
    np.testing.assert_array_equal(finite == -1, np.isnan(rows))
    both = ~np.isnan(rows[:, :, None]) & ~np.isnan(rows[:, None, :])
    before = finite[:, :, None] < finite[:, None, :]
    np.testing.assert_array_equal(before & both, rows[:, :, None] < rows[:, None, :])
    if kind == "full":
        np.testing.assert_array_equal(finite, check_positions(rows))


def test_bad_input_is_refused_with_a_cure():
    with pytest.raises(ValueError, match=r"X\[0, 0\] is 0, but positions count from 1"):
        KendallKernel()(np.array([[0, 1, 2]]))
    with pytest.raises(TypeError, match="random_state is None"):
        MallowsKernel(random_state=None)(np.array([[1, 2]]))
    with pytest.raises(TypeError, match="random_state is None"):
        GraphCutKernel(random_state=None)(np.array([[1, 2]]))
    with pytest.raises(ValueError, match="Nystroem"):
        MallowsKernel()(np.ones((40_000, 2)))


@pytest.mark.parametrize("output", ["pandas", "polars"])
@every_object
def test_the_output_chosen_for_transformers_changes_nothing(kernel, rows, output):
    expected, diagonal = kernel(rows), kernel.diag(rows)
    with config_context(transform_output=output):
        np.testing.assert_array_equal(kernel(rows), expected)
        np.testing.assert_array_equal(kernel.diag(rows), diagonal)
        assert isinstance(graph_cut_kernel(rows), np.ndarray)


@every_object
def test_minus_one_is_missing_in_every_table(kernel, rows):
    finite = finite_positions(rows)
    for table in (finite.tolist(), finite.astype(object), pd.DataFrame(finite), pl.DataFrame(finite)):
        np.testing.assert_allclose(kernel(table), kernel(rows), atol=1e-12)


def test_the_diagonal_is_refused_where_the_matrix_is():
    tied = np.ones((2, 3))
    for kernel in (KendallKernel(normalize=True), GraphCutKernel(normalize=True), GraphCutKernel(nonnegative=True)):
        for values in (kernel, kernel.diag):
            with pytest.raises(ValueError, match=r"A\[0\] prefers no item to another.*normalize=False"):
                values(tied)
    weighted = KendallKernel("average")
    for values in (weighted, weighted.diag):
        with pytest.raises(ValueError, match="not a full ranking"):
            values(tied)


def test_names_of_items_are_respected():
    frame = pd.DataFrame([[1, 2, 3, 4], [2, 4, 1, 3]], columns=list("abcd"))
    other_order = pd.DataFrame(GRAPH, list("abcd"), list("abcd")).loc[list("dbca"), list("dbca")]
    expected = GraphCutKernel(GRAPH)(frame.to_numpy())
    np.testing.assert_allclose(GraphCutKernel(other_order)(frame), expected)
    np.testing.assert_allclose(GraphCutKernel(other_order).diag(frame), np.diag(expected))
    np.testing.assert_allclose(graph_cut_kernel(frame, graph=other_order), expected)
    with pytest.raises(ValueError, match="items"):
        KendallKernel()(frame, frame[list("bacd")])


@pytest.mark.parametrize("kind", ["full", "top-k", "incomplete"])
@pytest.mark.parametrize("settings", [{}, {"normalize": True}, {"nonnegative": True}, {"graph_kernel": "rbf"}])
def test_the_gradient_by_the_lengthscale_is_that_of_the_values(kind, settings):
    rows = random_positions(np.random.default_rng(1), 12, 4, kind)
    rows = rows[[len(set(row[~np.isnan(row)])) > 1 for row in rows]]
    features = np.random.default_rng(0).random((4, 2))
    kernel = GraphCutKernel(features=features, lengthscale=0.4, **settings)
    value, gradient = kernel(rows, eval_gradient=True)
    # with the graph given, the same values
    plain = {name: setting for name, setting in settings.items() if name != "graph_kernel"}
    graph = item_graph(features, settings.get("graph_kernel", "laplace"), 0.4)
    np.testing.assert_array_equal(value, GraphCutKernel(graph, **plain)(rows))
    step = 1e-4
    higher, lower = (kernel.clone_with_theta(kernel.theta + sign * step)(rows) for sign in (1, -1))
    np.testing.assert_allclose(gradient[:, :, 0], (higher - lower) / (2 * step), atol=1e-6)
    assert abs(gradient).max() > 1e-3
    np.testing.assert_allclose(kernel.diag(rows), np.diagonal(value))


def test_a_gaussian_process_learns_the_lengthscale_of_the_item_graph():
    rng = np.random.default_rng(0)
    X, features = rng.permuted(np.tile(np.arange(1.0, 7), (60, 1)), axis=1), rng.random((6, 2))
    y = GraphCutEmbedding(item_graph(features, lengthscale=0.2)).fit_transform(X) @ rng.standard_normal(6)
    kernel = ConstantKernel() * GraphCutKernel(features=features, lengthscale=1.0)
    learned = GaussianProcessRegressor(kernel, alpha=0.01).fit(X, y).kernel_.k2
    assert learned.lengthscale == pytest.approx(0.2, abs=0.01)
    assert repr(learned) == f"GraphCutKernel(lengthscale={learned.lengthscale:.3g})"
    assert len(GraphCutKernel(features=features, lengthscale=0.3, lengthscale_bounds="fixed").theta) == 0
    assert len(GraphCutKernel(features=features).theta) == 0
    with pytest.raises(ValueError, match="graph and features are both given"):
        GraphCutKernel(GRAPH, features=GRAPH)([[1, 2, 3, 4]])
