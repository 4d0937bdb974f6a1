from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import rankwise
from rankwise import Rankings
from rankwise.datasets import make_smooth_label_ranking
from rankwise.label_ranking import BoostedRanker, DummyRanker, _boosting, boosted
from rankwise.label_ranking._boosting import Grower, Loss
from rankwise.label_ranking._monotone import nearest_within
from tests.naive import boosting as naive
from tests.strategies import KINDS, random_positions

NAIVE = {"pairwise_logistic": naive.pairwise_logistic, "plackett_luce": naive.plackett_luce}
every_loss = pytest.mark.parametrize("loss", NAIVE)


def grower(X, n_categories=None, **settings):
    n_categories = np.zeros(X.shape[1], dtype=np.intp) if n_categories is None else n_categories
    given = {"max_bins": 255, "max_leaf_nodes": 4, "max_depth": None, "min_samples_leaf": 2, "l2": 0.5, **settings}
    return Grower(X, n_categories, **given, threads=ThreadPoolExecutor(1), n_threads=1)


def rankings(kind, n=8, k=5, seed=0):
    rng = np.random.default_rng(seed)
    y = Rankings(random_positions(rng, n, k, kind), weights=rng.uniform(0.5, 2.0, n))
    return y[np.flatnonzero(y.informative)]


@every_loss
@pytest.mark.parametrize("kind", KINDS)
def test_losses_and_derivatives_against_finite_differences(loss, kind):
    y = rankings(kind)
    scores = np.random.default_rng(1).normal(size=y.shape)
    made, step = Loss(loss, y), 1e-4
    gradient, hessian = made.derivatives(scores)
    total = 0.0
    for r, row in enumerate(y.positions):
        here = y.weights[r] * NAIVE[loss](row, scores[r])
        total += here
        for i in range(y.n_items):
            move = step * (np.arange(y.n_items) == i)
            up, down = (y.weights[r] * NAIVE[loss](row, scores[r] + sign * move) for sign in (1, -1))
            assert gradient[r, i] == pytest.approx((up - down) / (2 * step), abs=1e-6)
            assert hessian[r, i] == pytest.approx((up + down - 2 * here) / step**2, abs=1e-5)
    assert made.value(scores) == pytest.approx(total / y.weights.sum())
    assert np.all(hessian >= 0)


@every_loss
def test_scores_far_apart_stay_finite(loss):
    scores = np.array([[0.0, 1e4, -1e4]])
    for derivative in Loss(loss, Rankings([[1, 2, 3]])).derivatives(scores):
        assert np.isfinite(derivative).all()


@every_loss
@pytest.mark.parametrize("kind", KINDS)
def test_the_first_scores_are_the_best_constants(loss, kind):
    y = rankings(kind, n=300)
    made = Loss(loss, y)
    gradient, hessian = made.derivatives(np.tile(made.best_constant(), (len(y), 1)))
    assert np.abs(gradient.sum(axis=0) / hessian.sum(axis=0)).max() < 0.05


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kept", [True, False])
def test_trees_are_those_of_all_cuts(seed, kept, monkeypatch):
    if not kept:
        monkeypatch.setattr(_boosting, "_MOST_BYTES", 0)
    rng = np.random.default_rng(seed)
    X, gradient, hessian = rng.normal(size=(30, 3)), rng.normal(size=(30, 4)), rng.uniform(size=(30, 4))
    made = grower(X, max_leaf_nodes=6, min_samples_leaf=3)
    tree, leaf = made.grow(gradient, hessian, np.arange(30), np.arange(3), 0.1)
    expected = naive.grow(X, gradient, hessian, 6, 3, 0.5)
    assert sorted(map(tuple, expected)) == sorted(tuple(np.flatnonzero(leaf == number)) for number in range(6))
    np.testing.assert_array_equal(tree.leaf_of(X), leaf)
    for rows in expected:
        step = -0.1 * gradient[rows].sum(axis=0) / (hessian[rows].sum(axis=0) + 0.5)
        np.testing.assert_allclose(tree.predict(X[rows]), np.tile(step, (len(rows), 1)), rtol=1e-6)


def test_depth_is_limited():
    rng = np.random.default_rng(0)
    made = grower(rng.normal(size=(200, 2)), max_leaf_nodes=50, max_depth=3)
    tree, _ = made.grow(rng.normal(size=(200, 3)), np.ones((200, 3)), np.arange(200), np.arange(2), 0.1)
    assert tree.depth.max() == 3


def test_missing_values_go_where_they_gain():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [np.nan], [np.nan]])
    for values, side in (([-1, -1, 1, 1, 1, 1], False), ([-1, -1, 1, 1, -1, -1], True)):
        gradient = np.outer(values, [1.0, -1.0])
        tree, leaf = grower(X).grow(gradient, np.ones((6, 2)), np.arange(6), np.arange(1), 1.0)
        assert tree.missing_left[0] == side
        np.testing.assert_array_equal(leaf == leaf[0], np.array(values) == -1)
        np.testing.assert_array_equal(tree.leaf_of(X), leaf)


@pytest.mark.parametrize("n_categories", [6, 70])
def test_categories_are_divided_by_what_they_do(n_categories):
    rng = np.random.default_rng(0)
    X = np.repeat(np.arange(float(n_categories)), 4)[:, None]
    sides = rng.permutation(n_categories) % 2
    gradient = np.outer(2.0 * sides[X[:, 0].astype(int)] - 1, [1.0, -2.0, 1.0])
    made = grower(X, np.array([n_categories]))
    tree, leaf = made.grow(gradient, np.ones(gradient.shape), np.arange(len(X)), np.arange(1), 1.0)
    assert tree.n_leaves == 2
    np.testing.assert_array_equal(leaf == leaf[0], gradient[:, 0] == gradient[0, 0])
    np.testing.assert_array_equal(tree.leaf_of(X), leaf)


@pytest.fixture(scope="module")
def smooth():
    X, y, _ = make_smooth_label_ranking(400, 5, 4, random_state=0)
    return X[:300], y[:300], X[300:], y[300:]


@every_loss
@pytest.mark.parametrize("kind", KINDS)
def test_it_learns_from_all_kinds_of_rankings(smooth, loss, kind):
    X, y, X_test, y_test = smooth
    positions = y.positions.copy()
    if kind == "tied":
        positions = np.ceil(positions / 2)
    elif kind == "top-k":
        positions[positions > 2] = np.inf
    elif kind == "incomplete":
        positions[np.random.default_rng(0).random(positions.shape) < 0.3] = np.nan
    ranker = BoostedRanker(40, loss=loss).fit(X, positions)
    assert ranker.score(X_test, y_test) > DummyRanker().fit(X, positions).score(X_test, y_test) + 0.12


@every_loss
def test_weight_two_is_the_row_twice(smooth, loss):
    X, y = smooth[0][:80], smooth[1][:80]
    weights = 1.0 + np.arange(80) % 2
    twice = np.repeat(np.arange(80), weights.astype(int))
    settings = {"loss": loss, "min_samples_leaf": 1, "max_depth": 3}
    weighted = BoostedRanker(10, **settings).fit(X, y, sample_weight=weights)
    repeated = BoostedRanker(10, **settings).fit(X[twice], y[twice])
    np.testing.assert_allclose(weighted.predict_scores(X), repeated.predict_scores(X), atol=1e-6)
    of_rankings = BoostedRanker(10, **settings).fit(X, Rankings(y, weights=weights))
    np.testing.assert_array_equal(of_rankings.predict_scores(X), weighted.predict_scores(X))


def test_only_the_order_of_feature_values_counts(smooth):
    X, y = smooth[:2]
    first, second = (BoostedRanker(20, max_bins=20).fit(Z, y).predict_scores(Z) for Z in (X, np.exp(3 * X)))
    np.testing.assert_array_equal(first, second)


def test_threads_and_the_order_of_rows_change_nothing(smooth):
    X, y = smooth[:2]
    shuffled = np.random.default_rng(0).permutation(len(X))
    settings = {"subsample": 0.7, "max_features": 0.6, "early_stopping": True, "random_state": 0}
    one, three = (BoostedRanker(15, n_jobs=n, **settings).fit(X, y).predict_scores(X) for n in (1, 3))
    np.testing.assert_array_equal(one, three)
    straight, mixed = (BoostedRanker(15).fit(X[rows], y[rows]) for rows in (np.arange(len(X)), shuffled))
    for a, b in zip(straight.trees_, mixed.trees_, strict=True):
        np.testing.assert_array_equal(a.threshold, b.threshold)
    np.testing.assert_allclose(straight.predict_scores(X), mixed.predict_scores(X), rtol=1e-9)


def test_early_stopping_keeps_the_best_trees(smooth):
    X, y = smooth[:2]
    noise = Rankings(np.argsort(np.random.default_rng(0).random(y.shape), axis=1) + 1)
    ranker = BoostedRanker(200, early_stopping=True, n_iter_no_change=5, random_state=0).fit(X, noise)
    history = ranker.history_["validation"]
    assert len(history) == len(ranker.trees_) + 5 < 200
    assert np.argmin(history) == len(ranker.trees_) - 1
    assert BoostedRanker(3, early_stopping=False).fit(X, y).history_ == {}
    with pytest.raises(ValueError, match="leave none to learn from"):
        BoostedRanker(early_stopping=True, validation_fraction=0.9).fit(X[:2], y[:2])


@every_loss
def test_folds_choose_the_number_of_trees(loss):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(240, 4)), 6)
    X = X[np.lexsort(X.T[::-1])]
    y = Rankings.from_scores(2.0 * X[:, :3] + rng.gumbel(size=(240, 3)) * 2.0)
    made = BoostedRanker(60, 0.1, loss, max_leaf_nodes=6, early_stopping="cv", n_iter_no_change=60).fit(X, y)
    whole = BoostedRanker(60, 0.1, loss, max_leaf_nodes=6, early_stopping=False, calibrate=False)
    scores, truth = [], []
    for number in range(3):
        left_out = np.arange(240) % 3 == number
        staged = list(whole.fit(X[~left_out], y[~left_out]).staged_predict_scores(X[left_out]))
        scores.append(staged[4::5])
        truth.append(y.positions[left_out])
    losses = []
    for stage in np.concatenate(scores, axis=1):
        slopes = np.exp(np.linspace(-3, 1, 81))
        losses.append(min(naive.loss_of_pairs(slope * stage, np.concatenate(truth)) for slope in slopes))
    assert 0 < np.argmin(losses) < 11
    assert len(made.trees_) == 5 * (np.argmin(losses) + 1)
    np.testing.assert_allclose(made.history_["validation"], losses, rtol=0.01)
    kept = whole.set_params(n_estimators=len(made.trees_)).fit(X, y)
    np.testing.assert_allclose(made.predict_scores(X), made.calibration_ * kept.predict_scores(X))


def test_folds_stop_early_where_there_is_nothing_to_learn():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 5)), np.argsort(rng.random((300, 4)), axis=1) + 1
    ranker = BoostedRanker(random_state=0).fit(X, y)
    assert len(ranker.trees_) <= 20
    assert len(ranker.history_["validation"]) == len(ranker.trees_) // 5 + 4
    assert len(BoostedRanker(60, n_iter_no_change=1, calibrate=False).fit(X, y).history_["validation"]) <= 5
    assert BoostedRanker(7).fit(X[:29], y[:29]).history_ == {}


def test_predictions_agree_with_each_other(smooth):
    X, y, X_test, _ = smooth
    ranker = BoostedRanker(8).fit(X, y)
    scores = ranker.predict_scores(X_test)
    staged = list(ranker.staged_predict_scores(X_test))
    assert len(staged) == 8
    np.testing.assert_allclose(staged[-1], scores)
    np.testing.assert_array_equal(list(ranker.staged_predict(X_test))[-1], ranker.predict(X_test))
    odds = np.log(ranker.predict_pairwise(X_test)[:, 0, 1] / ranker.predict_pairwise(X_test)[:, 1, 0])
    np.testing.assert_allclose(odds, scores[:, 0] - scores[:, 1], atol=1e-9)
    np.testing.assert_array_equal(Rankings.from_scores(scores).positions, ranker.predict(X_test))


def test_importances_name_the_features_that_matter(smooth):
    X, y = smooth[:2]
    ranker = BoostedRanker(10).fit(np.column_stack([np.zeros(len(X)), X[:, 0]]), y)
    np.testing.assert_array_equal(ranker.feature_importances_, [0.0, 1.0])


def test_it_is_saved_with_categories_and_missing_values(tmp_path):
    X, y, _ = make_smooth_label_ranking(120, 2, 3, random_state=1)
    frame = pd.DataFrame({"x": np.where(X[:, 0] > 1.5, np.nan, X[:, 0]), "c": pd.Categorical(np.sign(X[:, 1]))})
    ranker = BoostedRanker(10, early_stopping=True, random_state=0).fit(frame, y)
    assert ranker.feature_importances_[1] > 0
    rankwise.save(ranker, tmp_path / "ranker")
    loaded = rankwise.load(tmp_path / "ranker")
    np.testing.assert_array_equal(loaded.predict_scores(frame), ranker.predict_scores(frame))
    assert loaded.history_ == ranker.history_


def test_the_nearest_steps_within_bounds():
    rng = np.random.default_rng(0)
    for _ in range(200):
        inside = rng.normal(size=4)
        inside -= inside.mean()
        lower = np.where(rng.random(4) < 0.5, -np.inf, inside - rng.exponential(size=4))
        upper = np.where(rng.random(4) < 0.5, np.inf, inside + rng.exponential(size=4))
        values = rng.normal(0, 3, 4)
        found = nearest_within(values, lower, upper)
        assert found.sum() == pytest.approx(0, abs=1e-9)
        assert ((found >= lower) & (found <= upper)).all()
        # nearer than all others of a cloud around it that are allowed
        moves = rng.normal(0, 0.3, (300, 4))
        others = found + moves - moves.mean(axis=1, keepdims=True)
        allowed = others[((others >= lower) & (others <= upper)).all(axis=1)]
        assert (((allowed - values) ** 2).sum(axis=1) >= ((found - values) ** 2).sum() - 1e-9).all()


@every_loss
@pytest.mark.parametrize("kind", KINDS)
def test_scores_keep_to_monotone_constraints(loss, kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    y = Rankings(random_positions(rng, 300, 4, kind))  # what is not there is learned against the constraints
    y = Rankings(np.where(y.informative[:, None], y.positions, [1.0, 2, 3, 4]))
    signs = np.array([[1, 0, -1, 0], [0, 1, 1, 1], [0, 0, 0, 0]])
    given = {0: {0: 1, 2: -1}, 1: {1: 1, 2: 1, 3: 1}}
    settings = {"loss": loss, "min_samples_leaf": 3, "learning_rate": 0.5}
    ranker = BoostedRanker(30, monotone_constraints=given, **settings).fit(X, y)
    steps = np.linspace(-3, 3, 61)
    fall = {}
    for fitted in (ranker, BoostedRanker(30, **settings).fit(X, y)):
        worst = 0.0
        for f in (0, 1):
            rows = np.repeat(X[:40], len(steps), axis=0)
            rows[:, f] = np.tile(steps, 40)
            scores = fitted.predict_scores(rows)
            relative = (scores - scores.mean(axis=1, keepdims=True)).reshape(40, len(steps), 4)
            worst = min(worst, (signs[f] * np.diff(relative, axis=1)).min())
        fall[fitted] = worst
    assert fall.pop(ranker) > -1e-9
    assert min(fall.values()) < -0.05  # free scores do not
    matrix = BoostedRanker(30, monotone_constraints=signs, **settings).fit(X, y)
    np.testing.assert_array_equal(matrix.predict_scores(X), ranker.predict_scores(X))
    threads = BoostedRanker(30, monotone_constraints=signs, n_jobs=2, **settings).fit(X, y)
    np.testing.assert_array_equal(threads.predict_scores(X), ranker.predict_scores(X))


def test_constraints_that_hold_anyway_cost_little():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 2))
    y = Rankings.from_scores(np.column_stack([2 * X[:, 0], -2 * X[:, 0], X[:, 1]]) + rng.gumbel(size=(1500, 3)))
    free, bound = (
        BoostedRanker(50, monotone_constraints=given).fit(X[:300], y[:300]) for given in (None, {0: {0: 1, 1: -1}})
    )
    assert bound.score(X[300:], y[300:]) > free.score(X[300:], y[300:]) - 0.02
    frame = pd.DataFrame(X, columns=["price", "age"])
    named = BoostedRanker(50, monotone_constraints={"price": {0: 1, 1: -1}}).fit(frame[:300], y[:300])
    np.testing.assert_array_equal(named.predict_scores(frame), bound.predict_scores(X))
    free, nothing = (BoostedRanker(5, monotone_constraints=given).fit(X, y) for given in (None, np.zeros((2, 3))))
    np.testing.assert_array_equal(nothing.predict_scores(X), free.predict_scores(X))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"size": {0: 1}}, "names 'size'; the features are x, c"),
        ({7: {0: 1}}, "features are 0 to 1"),
        ({"x": 1}, "must map items to 1 or -1"),
        ({"x": {9: 1}}, "there is no item 9"),
        ({"x": {0: 2}}, "hold -1, 0 or 1"),
        ([[1, 0]], r"must be of shape \(2, 3\)"),
        ({"c": {0: 1}}, "'c' of monotone_constraints holds categories"),
    ],
)
def test_constraints_that_make_no_sense(given, message):
    X, y, _ = make_smooth_label_ranking(60, 2, 3, random_state=1)
    frame = pd.DataFrame({"x": X[:, 0], "c": np.where(X[:, 1] > 0, "up", "down")})
    with pytest.raises(ValueError, match=message):
        BoostedRanker(2, monotone_constraints=given).fit(frame, y)


def test_probabilities_come_true_as_often_as_they_say():
    X, y, _ = make_smooth_label_ranking(900, 5, 4, random_state=0)
    few, new = slice(0, 300), slice(300, None)
    plain = BoostedRanker(100, 0.1, max_leaf_nodes=16, early_stopping=False, calibrate=False).fit(X[few], y[few])
    made = clone(plain).set_params(calibrate=True, random_state=0).fit(X[few], y[few])
    assert plain.calibration_ is None
    assert 0 < made.calibration_ < 1
    np.testing.assert_array_equal(made.predict(X[new]), plain.predict(X[new]))
    np.testing.assert_allclose(made.predict_scores(X[new]), made.calibration_ * plain.predict_scores(X[new]))
    *_, last = made.staged_predict_scores(X[new])
    np.testing.assert_allclose(last, made.predict_scores(X[new]))
    first, second = np.triu_indices(4, 1)
    positions = Rankings(y).positions[new]
    before = positions[:, first] < positions[:, second]
    gaps = []
    for ranker in (plain, made):
        said = ranker.predict_pairwise(X[new])[:, first, second]
        sure = np.abs(said - 0.5) > 0.3
        gaps.append(np.abs(np.maximum(said, 1 - said)[sure].mean() - (before == (said > 0.5))[sure].mean()))
    assert gaps[0] > 0.05
    assert gaps[1] < gaps[0] / 2


def test_calibration_needs_rows_and_uses_those_held_out():
    X, y, _ = make_smooth_label_ranking(200, 3, 3, random_state=0)
    assert BoostedRanker(5).fit(X[:29], y[:29]).calibration_ is None
    stopped = BoostedRanker(30, early_stopping=True, random_state=0).fit(X, y)
    assert stopped.calibration_ is not None
    order = np.random.default_rng(0).permutation(200)
    shuffled = BoostedRanker(20, random_state=0).fit(X[order], y[order])
    assert shuffled.calibration_ == pytest.approx(BoostedRanker(20, random_state=0).fit(X, y).calibration_, rel=1e-9)


def test_many_rows_get_larger_trees_and_are_held_out(smooth, monkeypatch):
    X, y = smooth[:2]
    few = BoostedRanker(5, random_state=0).fit(X, y)
    assert max(tree.n_leaves for tree in few.trees_) == 6
    monkeypatch.setattr(boosted, "_MANY_ROWS", len(X))
    many = BoostedRanker(5, random_state=0).fit(X, y)
    assert max(tree.n_leaves for tree in many.trees_) == 16
    assert len(few.history_["validation"]) == 1 < len(many.history_["validation"]) == 5
