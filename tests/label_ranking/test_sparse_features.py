"""Tree-based rankers take sparse features as they take the same numbers written out, or say why they cannot."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from rankwise import _features
from rankwise.label_ranking import BoostedRanker, ConformalRanker, NearestNeighborsRanker, RankingForest, RankingTree

RNG = np.random.default_rng(0)
X = np.where(RNG.random((90, 6)) < 0.3, RNG.normal(size=(90, 6)), 0.0)
X[:, 5] = RNG.integers(0, 4, 90)
X[3, 1] = np.nan
Y = (
    np.argsort(np.argsort(np.column_stack([X[:, 0], X[:, 2], X[:, 5] == 2]) + RNG.normal(size=(90, 3)), axis=1), axis=1)
    + 1
)
FORMATS = [sparse.csr_matrix, sparse.csc_matrix, sparse.coo_array, sparse.csr_array]


@pytest.mark.parametrize(
    "ranker",
    [
        RankingTree(),
        RankingForest(5, categorical_features=[5], random_state=0),
        BoostedRanker(5, categorical_features=[5]),
        ConformalRanker(RankingForest(5, random_state=0), random_state=0),
    ],
    ids=repr,
)
@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.__name__)
def test_sparse_and_dense_are_the_same(ranker, form):
    dense, thin = clone(ranker).fit(X, Y), clone(ranker).fit(form(X), Y)
    expected = dense.predict_pairwise(X)
    np.testing.assert_array_equal(thin.predict_pairwise(X), expected)
    np.testing.assert_array_equal(thin.predict_pairwise(form(X)), expected)
    np.testing.assert_array_equal(dense.predict(form(X)), dense.predict(X))
    assert thin.n_features_in_ == 6


def test_explanations_take_sparse_rows():
    forest = RankingForest(5, random_state=0).fit(sparse.csr_matrix(X), Y)
    rows = sparse.csr_matrix(X[:4])
    np.testing.assert_array_equal(forest.explain(rows, 0, 1).values, forest.explain(X[:4], 0, 1).values)
    assert forest.counterfactual(rows[:1], 0, 1).changes == forest.counterfactual(X[:1], 0, 1).changes


def test_what_would_take_too_much_memory_is_refused_with_the_cure(monkeypatch):
    wide = sparse.eye(2_000, 500_000, format="csr")
    target = np.tile([[1, 2]], (2_000, 1))
    with pytest.raises(
        ValueError, match=r"2,000 rows and 500,000 columns.*about 22\.4 GiB; drop columns.*TruncatedSVD"
    ):
        RankingForest(3).fit(wide, target)
    tree = RankingTree().fit(X[:, :2], Y)
    monkeypatch.setattr(_features, "_MOST_BYTES", 1_000)
    with pytest.raises(ValueError, match=r"90 rows and 2 columns.*predict for fewer rows at a time"):
        tree.predict(sparse.csr_matrix(X[:, :2]))
    assert tree.predict(X[:, :2]).shape == (90, 3)  # what is written out already may be as large as it is


def test_other_rankers_and_wrong_columns_are_refused():
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        NearestNeighborsRanker().fit(sparse.csr_matrix(X[5:]), Y[5:])
    tree = RankingTree().fit(sparse.csr_matrix(X), Y)
    with pytest.raises(ValueError, match="X has 5 features, but RankingTree is expecting 6"):
        tree.predict(sparse.csr_matrix(X[:, :5]))
    infinite = sparse.csr_matrix(np.where(X == 0, 0, np.inf))
    with pytest.raises(ValueError, match="infinity"):
        RankingTree().fit(infinite, Y)
