"""What can be asked of fitted trees and forests: leaves, paths, importances."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from rankwise.trees import LeastSquaresForest, LeastSquaresTree
from tests.trees.test_grow import make_data


@pytest.mark.parametrize("growth", ["best", "level"])
def test_leaves_and_paths_agree(growth):
    X, y = make_data(n=100, q=2, missing=0.1)
    model = LeastSquaresTree(growth=growth, max_depth=5).fit(X, y)
    leaves, path = model.apply(X), model.decision_path(X)
    assert path.shape == (100, len(model.tree_.left))
    assert model.tree_.is_leaf[leaves].all()
    np.testing.assert_array_equal(np.asarray(path.sum(axis=0)).ravel(), model.tree_.count)
    np.testing.assert_array_equal(np.asarray(path.sum(axis=1)).ravel(), model.tree_.depth[leaves] + 1)
    assert (path[np.arange(100), leaves] == 1).all()
    assert model.get_depth() == model.tree_.depth[leaves].max() <= 5
    assert model.get_n_leaves() == len(np.unique(leaves))


def test_importances():
    X, y = make_data(n=300, d=3)
    X[:, 2] = 1.0
    for model in (LeastSquaresTree(max_depth=4), LeastSquaresForest(5, random_state=0)):
        importances = model.fit(X, y).feature_importances_
        assert importances.sum() == pytest.approx(1)
        assert importances[2] == 0
        assert (importances[:2] > 0.05).all()
    assert LeastSquaresTree().fit(X, np.ones(300)).feature_importances_.tolist() == [0, 0, 0]


@pytest.mark.parametrize("model", [LeastSquaresTree(), LeastSquaresForest(3)], ids=repr)
def test_questions_before_fitting(model):
    for method in ("predict", "apply"):
        with pytest.raises(NotFittedError):
            getattr(model, method)([[1.0]])
    with pytest.raises(NotFittedError):
        _ = model.feature_importances_
    if isinstance(model, LeastSquaresTree):
        for question in (
            model.get_depth,
            model.get_n_leaves,
            model.export_text,
            model.export_graphviz,
            model.node_texts,
        ):
            with pytest.raises(NotFittedError):
                question()


@pytest.mark.parametrize(
    "model", [LeastSquaresTree(honest=True, random_state=0), LeastSquaresForest(3, random_state=0)]
)
def test_copies(model, small_table):
    X, y = small_table
    fitted = clone(model).fit(X, y)
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.predict(X), fitted.predict(X))
    np.testing.assert_array_equal(clone(fitted).fit(X, y).predict(X), fitted.predict(X))
