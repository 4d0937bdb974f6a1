"""What holds for every label ranker, in addition to the checks of scikit-learn."""

from __future__ import annotations

import datetime
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from rankwise import Rankings
from rankwise.data import dense_positions
from rankwise.label_ranking import (
    ConformalRanker,
    DummyRanker,
    NearestNeighborsRanker,
    PairwiseRanker,
    PlackettLuceRanker,
    RankingForest,
)
from tests.label_ranking.estimators import RANKERS, WEIGHED_EXACTLY
from tests.strategies import KINDS

ITEMS = ("tea", "milk", "juice", "water")
every_ranker = pytest.mark.parametrize("ranker", RANKERS, ids=repr)


def make_data(kind: str = "full", n: int = 60, k: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rankings by linear scores of three features, with some noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    scores = X @ rng.standard_normal((3, k)) + 0.1 * rng.standard_normal((n, k))
    positions = np.argsort(np.argsort(scores, axis=1), axis=1) + 1.0
    if kind == "tied":
        positions = np.ceil(positions / 2)
    if kind == "top-k":
        positions[positions > 2] = np.inf
    if kind == "incomplete":
        positions[rng.random((n, k)) < 0.3] = np.nan
        positions[0] = np.nan
    return X, dense_positions(positions)


@every_ranker
@pytest.mark.parametrize("kind", KINDS)
def test_predictions_are_full_rankings_and_probabilities(ranker, kind):
    X, y = make_data(kind)
    ranker = clone(ranker).fit(X, y)
    predicted = ranker.predict(X)
    np.testing.assert_array_equal(np.sort(predicted, axis=1), np.tile([1, 2, 3, 4], (60, 1)))
    P = ranker.predict_pairwise(X)
    assert P.shape == (60, 4, 4)
    assert P.min() >= 0
    assert P.max() <= 1
    np.testing.assert_allclose(P + P.transpose(0, 2, 1), 1.0, atol=1e-12)
    np.testing.assert_allclose(np.diagonal(P, axis1=1, axis2=2), 0.5)
    if not isinstance(ranker, DummyRanker):
        assert ranker.score(X, y) > DummyRanker().fit(X, y).score(X, y) + 0.1


@every_ranker
def test_what_holds_y_does_not_matter(ranker):
    X, y = make_data("incomplete")
    expected = clone(ranker).fit(X, y).predict_pairwise(X)
    named = Rankings(y, items=ITEMS)
    for target in (named, named.to_frame("pandas"), named.to_frame("polars"), y.tolist(), y * 10):
        fitted = clone(ranker).fit(X, target)
        np.testing.assert_array_equal(fitted.predict_pairwise(X), expected)
        assert fitted.items_ in (ITEMS, (0, 1, 2, 3))
    assert clone(ranker).fit(X, named.to_frame("polars")).items_ == ITEMS


@every_ranker
def test_what_holds_the_features_does_not_matter(ranker):
    X, y = make_data()
    expected = clone(ranker).fit(X, y).predict_pairwise(X)
    for frame in (pd.DataFrame(X, columns=list("abc")), pl.DataFrame(X, schema=list("abc"))):
        fitted = clone(ranker).fit(frame, y)
        np.testing.assert_array_equal(fitted.predict_pairwise(frame), expected)
        assert fitted.feature_names_in_.tolist() == ["a", "b", "c"]


@every_ranker
def test_orders_for_positions_are_noticed(ranker):
    X, y = make_data()
    with pytest.warns(UserWarning, match="use positions_from_orders"):
        clone(ranker).fit(X, y - 1)


@every_ranker
def test_rows_that_say_nothing_change_nothing(ranker):
    X, y = make_data("top-k")
    silent = np.array([[np.nan] * 4, [np.inf] * 4, [1, np.nan, np.nan, np.nan]])
    more = clone(ranker).fit(np.vstack([X, np.full((3, 3), 100.0)]), np.vstack([y, silent]))
    np.testing.assert_array_equal(more.predict_pairwise(X), clone(ranker).fit(X, y).predict_pairwise(X))


@every_ranker
def test_rows_of_weight_zero_change_nothing(ranker):
    X, y = make_data()
    weights = np.arange(60) % 3
    kept = weights > 0
    fitted = clone(ranker).fit(X, y, weights)
    np.testing.assert_array_equal(
        fitted.predict_pairwise(X), clone(ranker).fit(X[kept], y[kept], weights[kept]).predict_pairwise(X)
    )
    weighted = clone(ranker).fit(X, Rankings(y, weights=weights))
    np.testing.assert_array_equal(fitted.predict_pairwise(X), weighted.predict_pairwise(X))


@pytest.mark.parametrize("ranker", WEIGHED_EXACTLY, ids=repr)
@pytest.mark.parametrize("kind", KINDS)
def test_a_row_of_weight_two_is_the_row_twice(ranker, kind):
    X, y = make_data(kind)
    weights = 1 + np.arange(60) % 2
    rows = np.repeat(np.arange(60), weights)
    weighted = clone(ranker).fit(X, y, weights).predict_pairwise(X)
    np.testing.assert_allclose(weighted, clone(ranker).fit(X[rows], y[rows]).predict_pairwise(X), atol=1e-5)


@every_ranker
def test_two_items(ranker):
    X, y = make_data(k=2)
    ranker = clone(ranker).fit(X, y)
    assert set(ranker.predict(X)[:, 0]) <= {1.0, 2.0}
    assert isinstance(ranker, DummyRanker) or ranker.score(X, y) > 0.5


@every_ranker
def test_one_ranking_only(ranker):
    X, _ = make_data()
    y = np.tile([3.0, 1.0, 2.0, 4.0], (60, 1))
    np.testing.assert_array_equal(clone(ranker).fit(X, y).predict(X), y)


@every_ranker
def test_constant_features_give_the_consensus(ranker):
    _, y = make_data(n=30)
    y[:20] = [3, 1, 2, 4]
    predicted = clone(ranker).fit(np.ones((30, 2)), y).predict([[1, 1], [1, 1]])
    np.testing.assert_array_equal(predicted[0], predicted[1])
    if getattr(ranker, "n_neighbors", None) is None:
        np.testing.assert_array_equal(predicted[0], [3, 1, 2, 4])


@every_ranker
def test_items_that_are_never_ranked_are_named(ranker):
    X, y = make_data()
    y[:, 1] = np.nan
    with pytest.raises(ValueError, match="item milk"):
        clone(ranker).fit(X, pd.DataFrame(y, columns=ITEMS))


@every_ranker
def test_another_number_of_features(ranker):
    X, y = make_data()
    ranker = clone(ranker).fit(X, y)
    for method in (ranker.predict, ranker.predict_pairwise):
        with pytest.raises(ValueError, match="2 features"):
            method(X[:, :2])


@every_ranker
def test_a_copy_by_pickle_predicts_the_same(ranker):
    X, y = make_data("incomplete")
    ranker = clone(ranker).fit(X, y)
    copy = pickle.loads(pickle.dumps(ranker))
    np.testing.assert_array_equal(copy.predict_pairwise(X), ranker.predict_pairwise(X))


@pytest.mark.parametrize("ranker", [r for r in RANKERS if hasattr(r, "n_jobs")], ids=repr)
def test_the_number_of_jobs_changes_no_bit(ranker):
    X, y = make_data("incomplete", k=7)
    expected = clone(ranker).fit(X, y).predict_pairwise(X)
    parallel = clone(ranker).set_params(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(parallel.predict_pairwise(X), expected)


@every_ranker
def test_pipelines_and_searches(ranker):
    X, y = make_data("incomplete")
    pipeline = make_pipeline(MinMaxScaler(), clone(ranker))
    assert np.isfinite(cross_val_score(pipeline, X, Rankings(y), cv=3, error_score="raise")).all()
    name, values = next((name, values) for name, values in SEARCHED.items() if name in ranker.get_params())
    search = GridSearchCV(clone(ranker), {name: values}, cv=2, error_score="raise").fit(X, y)
    assert search.best_params_[name] in values
    assert search.predict(X).shape == (60, 4)


SEARCHED = {
    "n_neighbors": [3, "auto"],
    "regressor__max_depth": [2, None],
    "decode": ["borda", "kemeny"],
    "n_clusters": [2, 4],
    "test_size": [0.2, 0.4],
    "alpha": [0.1, 1.0],
    "max_depth": [2, None],
    "cv": [2, 3],
}


@every_ranker
def test_parameters_are_checked_in_fit(ranker):
    X, y = make_data()
    bad = clone(ranker)
    name = next(name for name in bad.get_params(deep=False))
    with pytest.raises(ValueError, match=f"The '{name}' parameter of {type(ranker).__name__} must be"):
        bad.set_params(**{name: -1j}).fit(X, y)


@every_ranker
def test_many_items(ranker):
    X, y = make_data(n=25, k=20)
    assert clone(ranker).fit(X, y).predict(X[:3]).shape == (3, 20)


@pytest.mark.parametrize("ranker", [NearestNeighborsRanker(), PairwiseRanker(), PlackettLuceRanker()], ids=repr)
def test_text_features_are_refused_with_the_cure(ranker):
    with pytest.raises(ValueError, match=r"'red' in X: .*takes numbers; encode text as numbers"):
        ranker.fit(np.array([["red"], ["blue"], ["red"]], dtype=object), [[1, 2], [2, 1], [1, 2]])


@pytest.mark.parametrize("ranker", [NearestNeighborsRanker(), PairwiseRanker(), PlackettLuceRanker()], ids=repr)
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_columns_of_mixed_frames_that_hold_no_numbers_are_named(ranker, frame):
    y = [[1, 2], [2, 1]] * 3
    member, age = [True, False] * 3, [30, 40, 50, 60, 70, 80]
    clone(ranker).fit(frame({"member": member, "age": age}), y)
    city, size = ["Bonn", "Oslo", "Rome"] * 2, ["small", None] * 3
    expected = rf"column 'city' of X holds text or categories \(such as 'Bonn'\): {type(ranker).__name__} takes numbers"
    with pytest.raises(ValueError, match=expected):
        clone(ranker).fit(frame({"member": member, "city": city, "age": age}), y)
    with pytest.raises(ValueError, match=r"columns 'city', 'size' of X hold text .*OneHotEncoder in a pipeline"):
        clone(ranker).fit(frame({"member": member, "city": city, "size": size}), y)
    if frame is pd.DataFrame:
        categories = pd.DataFrame({"member": member, "city": pd.Categorical(city)})
        with pytest.raises(ValueError, match=expected):
            clone(ranker).fit(categories, y)
    day = [datetime.date(2020, 1, 1 + number) for number in range(6)]
    dates = pd.DataFrame({"day": pd.to_datetime(day)}) if frame is pd.DataFrame else pl.DataFrame({"day": day})
    with pytest.raises(ValueError, match="column day of X holds dates or times; write them as numbers"):
        clone(ranker).fit(dates, y)


@pytest.mark.parametrize(
    "ranker", [RankingForest(3), NearestNeighborsRanker(), PairwiseRanker(), ConformalRanker()], ids=repr
)
def test_frames_that_are_none_yet_or_have_double_names_are_refused_with_the_cure(ranker):
    X, y = make_data()
    with pytest.raises(TypeError, match="X is a lazy frame; collect it first"):
        clone(ranker).fit(pl.DataFrame(X).lazy(), y)
    with pytest.raises(ValueError, match=r"two columns of X have the same name .*'a' 2 times"):
        clone(ranker).fit(pd.DataFrame(X, columns=["a", "a", "b"]), y)


@pytest.mark.parametrize("ranker", [NearestNeighborsRanker(), PairwiseRanker(), PlackettLuceRanker()], ids=repr)
def test_features_too_large_to_be_squared_are_named(ranker):
    X, y = make_data()
    X[3, 1] = -1e200
    with pytest.raises(ValueError, match=r"X\[3, 1\] is -1e\+200, .* divide the column by its scale"):
        clone(ranker).fit(X, y)


def test_the_largest_numbers_are_no_obstacle_to_trees():
    X, y = make_data()
    small, large = (RankingForest(5, splitter="best", random_state=0).fit(Z, y).predict(Z) for Z in (X, X * 1e300))
    np.testing.assert_array_equal(small, large)
