"""Kernel ridge on embedded rankings against the normal equations."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import norm
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import StandardScaler

from rankwise.embeddings import (
    GraphCutEmbedding,
    KemenyEmbedding,
    PositionEmbedding,
    SubmodularEmbedding,
    coverage,
    item_graph,
)
from rankwise.label_ranking import KernelRanker
from tests.label_ranking.test_every_ranker import make_data
from tests.naive import graph_cut as naive_cut
from tests.naive import label_ranking as naive


def kernel_matrix(kind, A, B, unit):
    difference = A[:, None] - B[None]
    if kind == "rbf":
        return np.exp(-0.5 * (difference**2).sum(axis=2) / unit)
    if kind == "laplacian":
        return np.exp(-0.5 * np.abs(difference).sum(axis=2) / unit)
    return A @ B.T


def median_distance(kind, A):
    difference = A[:, None] - A[None]
    distance = np.abs(difference).sum(axis=2) if kind == "laplacian" else (difference**2).sum(axis=2)
    return np.median(distance[distance > 0])


@pytest.mark.parametrize("kind", ["rbf", "laplacian", "linear"])
def test_coefficients_solve_the_normal_equations(kind):
    X, y = make_data("tied")
    weights = 1.0 + np.arange(60) % 3
    scaler = StandardScaler().fit(X, sample_weight=weights)
    A, B = scaler.transform(X), scaler.transform(X[:7] + 0.1)
    unit = median_distance(kind, A)
    targets = np.array([naive.kemeny_vector(row) for row in y])
    P = KernelRanker(kind, alpha=0.7, gamma=0.5).fit(X, y, weights).predict_pairwise(X[:7] + 0.1)
    for pair, (i, j) in enumerate(naive.pairs(4)):
        mean = np.average(targets[:, pair], weights=weights)
        c = naive.kernel_ridge(kernel_matrix(kind, A, A, unit), targets[:, pair] - mean, weights, 0.7)
        expected = np.clip(mean + kernel_matrix(kind, B, A, unit) @ c, 0, 1)
        np.testing.assert_allclose(P[:, i, j], expected, atol=1e-8)


def test_a_function_as_kernel():
    X, y = make_data()
    own = KernelRanker(lambda A, B: A @ B.T, alpha=1.0).fit(X, y)
    np.testing.assert_allclose(
        own.predict_pairwise(X), KernelRanker("linear", alpha=1.0).fit(X, y).predict_pairwise(X), atol=1e-9
    )


def test_errors_of_rows_left_out_are_exact():
    X, y = make_data(n=30)
    ranker = KernelRanker("rbf", alpha=[0.1, 1.0], gamma=[0.5, 2.0]).fit(X, y)
    A = StandardScaler().fit_transform(X)
    unit = median_distance("rbf", A)
    targets = np.array([naive.kemeny_vector(row) for row in y])
    centered = targets - targets.mean(axis=0)
    for a, alpha in enumerate([0.1, 1.0]):
        errors = []
        for row in range(30):
            rest = np.arange(30) != row
            K = kernel_matrix("rbf", A[rest], A[rest], unit)
            c = np.column_stack([naive.kernel_ridge(K, t, np.ones(29), alpha) for t in centered[rest].T])
            errors.append(centered[row] - kernel_matrix("rbf", A[[row]], A[rest], unit)[0] @ c)
        assert ranker.loo_errors_[0, a] == pytest.approx(np.mean(np.square(errors)))
    best = np.unravel_index(np.argmin(ranker.loo_errors_), (2, 2))
    assert (ranker.gamma_, ranker.alpha_) == ([0.5, 2.0][best[0]], [0.1, 1.0][best[1]])


@pytest.mark.parametrize("n_landmarks", [1000, 12], ids=["exact", "landmarks"])
def test_copies_are_left_out_together_and_people_of_a_cell_are_not(n_landmarks):
    X, y = make_data(n=30)
    X[5], X[6] = X[4], X[4]  # three people who rank differently
    y[4], y[5], y[6] = [1, 2, 3, 4], [1, 2, 3, 4], [2, 1, 3, 4]
    rows = np.concatenate([np.arange(30), [0, 0, 1, 2, 7]])
    X, y = X[rows], y[rows]
    weights = 1.0 + np.arange(35) % 3
    ranker = KernelRanker("rbf", alpha=0.3, gamma=0.5, n_landmarks=n_landmarks, random_state=0).fit(X, y, weights)
    scaler = StandardScaler().fit(X, sample_weight=weights)
    A, unit = scaler.transform(X), ranker._unit
    if n_landmarks == 1000:
        K = kernel_matrix("rbf", A, A, unit)
    else:  # the kernel that the landmarks give
        at_rows = kernel_matrix("rbf", A, ranker._centers, unit)
        K = at_rows @ np.linalg.pinv(kernel_matrix("rbf", ranker._centers, ranker._centers, unit)) @ at_rows.T
    targets = np.array([naive.kemeny_vector(row) for row in y])
    centered = targets - np.average(targets, axis=0, weights=weights)
    total = 0.0
    for row in range(35):
        copies = {0: [0, 30, 31], 1: [1, 32], 2: [2, 33], 7: [7, 34]}.get(rows[row], [row])
        rest = np.setdiff1d(np.arange(35), copies)
        c = np.column_stack(
            [naive.kernel_ridge(K[np.ix_(rest, rest)], t, weights[rest], 0.3) for t in centered[rest].T]
        )
        total += weights[row] * np.sum((centered[row] - K[row, rest] @ c) ** 2)
    assert ranker.loo_errors_[0, 0] == pytest.approx(total / targets.size, rel=1e-5)


def test_copies_choose_as_one_row_of_their_weight_does():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    scores = np.tanh(X @ rng.normal(size=(4, 4))) + rng.gumbel(0, 0.7, (60, 4))
    y = np.argsort(np.argsort(-scores, axis=1), axis=1) + 1.0
    once = KernelRanker("rbf").fit(X, y, np.full(60, 3.0))
    thrice = KernelRanker("rbf").fit(np.repeat(X, 3, axis=0), np.repeat(y, 3, axis=0))
    assert (thrice.alpha_, thrice.gamma_) == (once.alpha_, once.gamma_)
    assert once.alpha_ > 0.1  # copies that stay would ask for the smallest
    np.testing.assert_allclose(thrice.loo_errors_ * 3, once.loo_errors_, rtol=1e-6)


def test_unknown_pairs_are_no_error():
    X, y = make_data("incomplete", n=40)
    X, y = X[1:], y[1:]
    ranker = KernelRanker("rbf", alpha=1.0, gamma=0.5).fit(X, y)
    kept = [r for r in range(39) if not np.isnan(naive.kemeny_vector(y[r])).all()]
    A = StandardScaler().fit_transform(X[kept])
    K = kernel_matrix("rbf", A, A, median_distance("rbf", A))
    targets = np.array([naive.kemeny_vector(y[r]) for r in kept])
    P = ranker.predict_pairwise(X[kept])
    for pair, (i, j) in enumerate(naive.pairs(4)):
        known = ~np.isnan(targets[:, pair])
        mean = targets[known, pair].mean()
        c = naive.kernel_ridge(K[np.ix_(known, known)], targets[known, pair] - mean, np.ones(known.sum()), 1.0)
        np.testing.assert_allclose(P[:, i, j], np.clip(mean + K[:, known] @ c, 0, 1), atol=1e-3)


def test_landmarks_approach_the_kernel():
    X, y = make_data(n=200)
    exact = KernelRanker("rbf", alpha=0.1, gamma=0.3).fit(X, y).predict_pairwise(X)
    few, many = (
        KernelRanker("rbf", alpha=0.1, gamma=0.3, n_landmarks=m, random_state=0).fit(X, y).predict_pairwise(X)
        for m in (5, 99)
    )
    assert np.abs(many - exact).max() < 0.02 < np.abs(few - exact).max()
    linear = KernelRanker("linear", alpha=1.0).fit(X, y).predict_pairwise(X)
    landmarks = KernelRanker("linear", alpha=1.0, n_landmarks=10, random_state=0).fit(X, y).predict_pairwise(X)
    np.testing.assert_allclose(landmarks, linear, atol=1e-8)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_some_of_many_rows_choose_gamma(kernel):
    X, y = make_data(n=120)
    rows = np.concatenate([np.arange(120), np.arange(50)])  # with copies
    settings = {"kernel": kernel, "n_landmarks": 30, "random_state": 0}
    made = KernelRanker(gamma=[1e-4, 0.3, 50.0], **settings).fit(X[rows], y[rows])
    assert made.gamma_ == 0.3
    one = KernelRanker(gamma=0.3, **settings).fit(X[rows], y[rows])
    np.testing.assert_array_equal(made.predict_pairwise(X), one.predict_pairwise(X))
    np.testing.assert_array_equal(made.loo_errors_[1], one.loo_errors_[0])
    assert made.loo_errors_.shape == (3, 6)
    assert (made.loo_errors_[[0, 2]].min(axis=1) > made.loo_errors_[1].min()).all()


@pytest.mark.parametrize("bad", [{"alpha": []}, {"alpha": [1.0, -1.0]}, {"gamma": [[1.0]]}])
def test_bad_lists(bad):
    with pytest.raises(ValueError, match="several to choose from"):
        KernelRanker(**bad).fit(*make_data())


# -- other embeddings ---------------------------------------------------------------------------------------------

GRAPH = item_graph(np.random.default_rng(0).random((4, 2)))


def cut_vector(row):
    return naive_cut.mean_features(row, lambda inside: naive_cut.cut(GRAPH, inside))


@pytest.mark.parametrize(
    ("embedding", "vector", "sign"), [("position", naive.place_vector, -1), (GraphCutEmbedding(GRAPH), cut_vector, 1)]
)
@pytest.mark.parametrize("kind", ["full", "tied"])
def test_vectors_are_regressed_sorted_and_spread_as_rows_left_out_say(embedding, vector, sign, kind):
    X, y = make_data(kind, n=25)
    weights = 1.0 + np.arange(25) % 3
    scaler = StandardScaler().fit(X, sample_weight=weights)
    A, B = scaler.transform(X), scaler.transform(X[:7] + 0.1)
    K, K_new = (
        kernel_matrix("rbf", A, A, median_distance("rbf", A)),
        kernel_matrix("rbf", B, A, median_distance("rbf", A)),
    )
    targets = sign * np.array([vector(row) for row in y])
    mean = np.average(targets, axis=0, weights=weights)

    def ridge(rows, new):
        return np.column_stack(
            [
                mean[i]
                + new @ naive.kernel_ridge(K[np.ix_(rows, rows)], targets[rows, i] - mean[i], weights[rows], 0.7)
                for i in range(4)
            ]
        )

    scores = ridge(np.arange(25), K_new)
    ranker = KernelRanker("rbf", alpha=0.7, gamma=0.5, embedding=embedding).fit(X, y, weights)
    np.testing.assert_array_equal(np.argsort(ranker.predict(X[:7] + 0.1), axis=1), np.argsort(-scores, axis=1))
    rest = [np.delete(np.arange(25), row) for row in range(25)]
    errors = np.vstack([targets[row] - ridge(rest[row], K[[row]][:, rest[row]]) for row in range(25)])
    P = ranker.predict_pairwise(X[:7] + 0.1)
    for i, j in itertools.permutations(range(4), 2):
        spread = np.sqrt(np.average((errors[:, i] - errors[:, j]) ** 2, weights=weights))
        np.testing.assert_allclose(P[:, i, j], norm.cdf((scores[:, i] - scores[:, j]) / spread), atol=1e-7)


def test_sorting_maximises_the_inner_product_with_features_that_are_not_pooled():
    """What decoding by sorting means, tried out on all orders."""
    rng = np.random.default_rng(0)
    graph = item_graph(rng.random((5, 2)))
    orders = np.array(list(itertools.permutations(range(1, 6))), dtype=float)
    embedding = GraphCutEmbedding(graph, pooling="none").fit(orders)
    features = embedding.transform(orders)
    for vector in rng.standard_normal((50, 5)):
        decoded = embedding.inverse_transform(vector[None])
        assert embedding.transform(decoded)[0] @ vector == pytest.approx((features @ vector).max())


@pytest.mark.parametrize(
    "embedding",
    ["kemeny", "position", GraphCutEmbedding(GRAPH), SubmodularEmbedding(coverage(np.eye(4) + np.eye(4, k=1)))],
)
def test_every_embedding_learns(embedding):
    X, y = make_data("incomplete", n=80)
    ranker = KernelRanker("linear", alpha=0.1, embedding=embedding)
    assert cross_val_score(ranker, X, make_data(n=80)[1], cv=4).mean() > 0.65
    fitted = ranker.fit(X, y)
    assert fitted.score(*make_data(n=80)) > 0.5
    assert fitted.embedding_ is not embedding  # a clone, as scikit-learn asks


@pytest.mark.parametrize("embedding", ["position", GraphCutEmbedding()])
def test_probabilities_mean_what_they_say(embedding):
    """Of pairs of new rows with probabilities around p, about a share of p is in that order.

    About: errors of places, which are bounded, are not quite normal, so that probabilities near 0 and 1 are cautious.
    """
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 2))
    y = np.argsort(np.argsort(X @ rng.standard_normal((2, 5)) + rng.standard_normal((1500, 5)), axis=1), axis=1) + 1.0
    P = KernelRanker("linear", alpha=1.0, embedding=embedding).fit(X[:500], y[:500]).predict_pairwise(X[500:])
    before = y[500:, :, None] < y[500:, None, :]
    off_diagonal = ~np.eye(5, dtype=bool)
    probabilities, outcomes = P[:, off_diagonal].ravel(), before[:, off_diagonal].ravel()
    for low in np.arange(0, 1, 0.2):
        inside = (probabilities >= low) & (probabilities < low + 0.2)
        assert abs(probabilities[inside].mean() - outcomes[inside].mean()) < 0.1


def test_items_that_are_predicted_alike_go_by_their_usual_order():
    X = np.zeros((6, 1))
    y = np.array([[2, 1, 3], [1, 2, 3]] * 2 + [[1, 3, 2], [3, 1, 2]], dtype=float)  # mean places 5/3, 5/3, 8/3
    ranker = KernelRanker("linear", alpha=1.0, embedding="position").fit(X, y)
    np.testing.assert_array_equal(ranker.predict([[0.0]]), [[1, 2, 3]])
    assert ranker.predict_pairwise([[0.0]])[0, 0, 1] == 0.5


def test_a_wrong_embedding_is_refused():
    with pytest.raises(ValueError, match="'embedding' parameter"):
        KernelRanker(embedding="borda").fit(*make_data())


@pytest.mark.parametrize("output", ["pandas", "polars"])
@pytest.mark.parametrize("embedding", ["kemeny", "position", KemenyEmbedding(), GraphCutEmbedding(GRAPH)])
def test_the_output_chosen_for_transformers_changes_nothing(embedding, output):
    X, y = make_data()
    expected = KernelRanker(embedding=embedding).fit(X, y).predict_pairwise(X)
    with config_context(transform_output=output):
        np.testing.assert_array_equal(KernelRanker(embedding=embedding).fit(X, y).predict_pairwise(X), expected)
    if not isinstance(embedding, str):
        own = clone(embedding).set_output(transform=output)
        np.testing.assert_array_equal(KernelRanker(embedding=own).fit(X, y).predict_pairwise(X), expected)


@pytest.mark.parametrize(("name", "instance"), [("kemeny", KemenyEmbedding()), ("position", PositionEmbedding())])
def test_embeddings_by_name_and_as_objects_are_the_same(name, instance):
    X, y = make_data()
    by_name, by_object = (KernelRanker(embedding=embedding).fit(X, y) for embedding in (name, instance))
    np.testing.assert_array_equal(by_object.predict_pairwise(X), by_name.predict_pairwise(X))
    assert not hasattr(instance, "n_features_in_")
