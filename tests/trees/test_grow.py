"""Growing by best splits: against scikit-learn, against every split tried, and under every limit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.tree import DecisionTreeRegressor

from rankwise.trees import LeastSquaresTree
from rankwise.trees.engine import GrowthRule
from tests.naive import trees as naive


def make_data(n=200, d=4, q=1, seed=0, missing=0.0):
    """Targets that depend on the features; numbers that float32, in which scikit-learn works, holds exactly."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.standard_normal((n, d)), 3).astype(np.float32).astype(float)
    y = np.column_stack([np.sin(X[:, c % d]) + X[:, (c + 1) % d] ** 2 for c in range(q)])
    y += 0.3 * rng.standard_normal((n, q))
    X[rng.random((n, d)) < missing] = np.nan
    return X, y


def splits(tree, node=0):
    """Features, thresholds and sides of missing values, nested as the nodes are."""
    if tree.left[node] < 0:
        return ()
    here = int(tree.feature[node]), float(np.round(tree.threshold[node], 6)), bool(tree.missing_left[node])
    return here, splits(tree, tree.left[node]), splits(tree, tree.left[node] + 1)


def peer_splits(tree, node=0):
    if tree.children_left[node] < 0:
        return ()
    side = bool(tree.missing_go_to_left[node])
    here = int(tree.feature[node]), float(np.round(tree.threshold[node], 6)), side
    return here, peer_splits(tree, tree.children_left[node]), peer_splits(tree, tree.children_right[node])


LIMITS = [
    {"max_depth": 4, "min_samples_leaf": 5},
    {"min_samples_leaf": 7},
    {"max_depth": 3, "min_samples_leaf": 10},
    {"max_leaf_nodes": 9, "min_samples_leaf": 4},
    {"min_samples_split": 30, "min_samples_leaf": 4},
    {"min_samples_split": 0.07, "min_samples_leaf": 0.013},
]


@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize("q", [1, 6])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_the_tree_of_scikit_learn(limits, q, weighted, missing):
    X, y = make_data(q=q, missing=missing)
    w = np.random.default_rng(1).uniform(0.5, 2.0, len(X)) if weighted else None
    ours = LeastSquaresTree(max_bins=None, **limits).fit(X, y, w)
    peer = DecisionTreeRegressor(random_state=0, **limits).fit(X, y, w)
    assert splits(ours.tree_) == peer_splits(peer.tree_)
    np.testing.assert_allclose(ours.predict(X).reshape(len(X), q), peer.predict(X).reshape(len(X), q), atol=1e-12)
    np.testing.assert_allclose(ours.feature_importances_, peer.feature_importances_, atol=1e-9)


def test_fully_grown_it_fits_every_row():
    X, y = make_data(q=3)
    np.testing.assert_allclose(LeastSquaresTree(max_bins=None).fit(X, y).predict(X), y, atol=1e-12)


def test_as_many_leaves_as_scikit_learn_for_the_gain_asked_for():
    X, y = make_data(q=4)
    for decrease in (0.01, 0.05, 0.2):
        ours = LeastSquaresTree(max_bins=None, min_impurity_decrease=4 * decrease).fit(X, y)  # theirs is a mean of 4
        peer = DecisionTreeRegressor(min_impurity_decrease=decrease, random_state=0).fit(X, y)
        assert ours.get_n_leaves() == peer.get_n_leaves()


@st.composite
def small_problems(draw):
    """A few rows with few values each, so that ties, missing values and pure cells abound."""
    n, d, q = draw(st.integers(1, 14)), draw(st.integers(1, 3)), draw(st.integers(1, 3))
    numbers = st.sampled_from([0.0, 1.0, 2.0, 3.0, np.nan]) if draw(st.booleans()) else st.integers(0, 5).map(float)
    X = np.array(draw(st.lists(st.lists(numbers, min_size=d, max_size=d), min_size=n, max_size=n)))
    values = st.sampled_from([0.0, 1.0, 2.5, np.nan]) if draw(st.booleans()) else st.sampled_from([0.0, 0.25, 3.0])
    y = np.array(draw(st.lists(st.lists(values, min_size=q, max_size=q), min_size=n, max_size=n)))
    y[0] = 1.0  # every target is known somewhere
    w = np.array(draw(st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=n, max_size=n)))
    return X, y, w


def rows_of_nodes(tree, X):
    """For each node, which rows pass it."""
    passes = np.zeros((len(tree.left), len(X)), dtype=bool)
    at = tree.find_leaves(np.ascontiguousarray(X))
    while (at >= 0).any():
        passes[at[at >= 0], np.flatnonzero(at >= 0)] = True
        at = np.where(at >= 0, tree.parent[at], -1)
    return passes


def check_every_split_is_best(model, X, y, w, min_leaf=1, split_kinds=naive.numeric_splits):
    tree = model.tree_
    informative = ~np.isnan(y).all(axis=1)
    X, y, w = X[informative], y[informative], w[informative]
    passes = rows_of_nodes(tree, X)
    for node, rows in enumerate(passes):
        error = naive.squared_error(y[rows], w[rows])
        assert tree.count[node] == rows.sum()
        assert tree.weight[node] == pytest.approx(w[rows].sum())
        assert tree.error[node] == pytest.approx(error, abs=1e-9)
        best = naive.best_split_error(X[rows], y[rows], w[rows], min_leaf, split_kinds)
        if tree.left[node] >= 0:
            left, right = passes[tree.left[node]], passes[tree.left[node] + 1]
            assert min(left.sum(), right.sum()) >= min_leaf
            after = naive.squared_error(y[left], w[left]) + naive.squared_error(y[right], w[right])
            assert after == pytest.approx(best, abs=1e-9)
            assert tree.gain[node] == pytest.approx(error - after, abs=1e-9)
        else:
            assert error < 1e-9 or best == np.inf


@given(small_problems(), st.integers(1, 3))
def test_every_split_is_a_best_one(problem, min_leaf):
    X, y, w = problem
    model = LeastSquaresTree(max_bins=None, min_samples_leaf=min_leaf).fit(X, y, w)
    check_every_split_is_best(model, X, y, w, min_leaf)


@pytest.mark.parametrize("missing_targets", [0.0, 0.3])
@pytest.mark.parametrize("max_bins", [None, 255])
def test_every_split_of_many_rows_is_a_best_one(missing_targets, max_bins):
    """Enough rows per value that sums are kept by value; where rows get few, they are sorted."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 12, (150, 3)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.nan_to_num(X[:, :2]) + rng.standard_normal((150, 2))
    y[rng.random(y.shape) < missing_targets] = np.nan
    w = rng.uniform(0.5, 2, 150)
    check_every_split_is_best(LeastSquaresTree(max_bins=max_bins).fit(X, y, w), X, y, w)


@given(small_problems())
def test_one_target_splits_categories_as_well_as_any_subset(problem):
    X, y, w = problem
    X, y = np.nan_to_num(X[:, :1], nan=4.0), y[:, [0]]
    known = ~np.isnan(y[:, 0])
    model = LeastSquaresTree(categorical_features=[0]).fit(X, y, w)
    check_every_split_is_best(model, encoded(model, X[known]), y[known], w[known], 1, naive.subset_splits)


def encoded(model, X):
    return model._encoder.transform(model, X)


@given(st.integers(2, 6), st.booleans(), st.booleans(), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_many_targets_split_few_categories_as_well_as_any_subset(levels, incomplete, missing, min_leaf, seed):
    rng = np.random.default_rng(seed)
    n, q = rng.integers(8, 40), rng.integers(2, 5)
    column = rng.integers(0, levels, n)
    y = rng.standard_normal((levels, q))[column] + 0.5 * rng.standard_normal((n, q))
    if incomplete:
        y[rng.random((n, q)) < 0.3] = np.nan
        y[np.arange(n), rng.integers(0, q, n)] = rng.integers(-2, 3, n)  # no row without a target
        y[:q] = np.where(np.eye(q, dtype=bool), 1.0, y[:q])  # nor a target without a row
    w = rng.choice([0.5, 1.0, 2.0], n)
    X = np.where(rng.random(n) < 0.2 * missing, np.nan, column.astype(float))[:, None]
    model = LeastSquaresTree(categorical_features=[0], min_samples_leaf=min_leaf).fit(X, y, w)
    check_every_split_is_best(model, encoded(model, X), y, w, min_leaf, naive.subset_splits)


def test_ten_categories_are_split_exactly_and_eleven_along_their_main_direction():
    missed = {10: [], 11: []}
    for seed in range(14):
        rng = np.random.default_rng(seed)
        for levels in missed:
            column, y = rng.integers(0, levels, 80), rng.integers(0, 2, (80, 6)).astype(float)
            gain = LeastSquaresTree(categorical_features=[0], max_depth=1).fit(column[:, None], y).tree_.gain[0]
            missed[levels].append(1 - gain / _best_gain(column, y, levels))
    np.testing.assert_allclose(missed[10], 0, atol=1e-9)
    assert 0.1 < max(missed[11]) < 0.2  # a heuristic
    assert np.median(missed[11]) < 1e-9


def _best_gain(column, y, levels):
    """Of all divisions of the categories in two, by their sums."""
    member = np.eye(levels)[column]
    left = (np.arange(1, 2 ** (levels - 1))[:, None] >> np.arange(levels)) & 1  # the last category goes right
    count, sums = left @ member.sum(axis=0), left @ (member.T @ (y - y.mean(axis=0)))
    return np.max(np.sum(sums**2, axis=1) * (1 / count + 1 / (len(y) - count)))


def test_many_targets_split_many_categories_along_their_main_direction():
    rng = np.random.default_rng(3)
    for _ in range(30):
        X = rng.integers(0, 12, (160, 1)).astype(float)
        y = rng.standard_normal((12, 4))[X[:, 0].astype(int)] + 0.1 * rng.standard_normal((160, 4))
        w = rng.uniform(0.5, 2, 160)
        gain = LeastSquaresTree(categorical_features=[0], max_depth=1).fit(X, y, w).tree_.gain[0]
        whole = naive.squared_error(y, w)
        # The cuts of the order along the first principal component of the categories' means, by definition.
        mass = np.array([w[X[:, 0] == c].sum() for c in range(12)])
        means = np.array([np.average(y[X[:, 0] == c], axis=0, weights=w[X[:, 0] == c]) for c in range(12)])
        centered = (means - np.average(means, axis=0, weights=mass)) * np.sqrt(mass)[:, None]
        along = (means @ np.linalg.svd(centered)[2][0])[X[:, 0].astype(int)]
        assert gain >= whole - naive.best_split_error(along[:, None], y, w) - 1e-2 * whole


def test_missing_values_of_a_category_go_to_the_better_side():
    X = np.array([[0], [0], [1], [1], [np.nan], [np.nan]], dtype=float)
    for y in ([0.0, 0, 1, 1, 0, 0], [0.0, 0, 1, 1, 1, 1]):
        np.testing.assert_allclose(LeastSquaresTree(categorical_features=[0]).fit(X, y).predict(X), y)


def test_missing_against_known_is_a_split_too():
    X, y = [[1.0], [2.0], [np.nan], [np.nan]], [0.0, 0.0, 1.0, 1.0]
    for options in ({}, {"growth": "level"}, {"categorical_features": [0]}):
        model = LeastSquaresTree(**options).fit(X, y)
        np.testing.assert_array_equal(model.predict([[2.0], [np.nan], [1.0]]), [0, 1, 0])
        assert model.get_n_leaves() == 2


@pytest.mark.parametrize("growth", ["best", "level"])
def test_categories_that_a_cell_has_not_seen_go_with_the_missing_values(growth):
    X = np.array([[0, 0], [0, 0], [0, 1], [1, 2], [1, 2], [1, 3]], dtype=float)
    y = [0.0, 0, 0, 10, 10, 13]
    model = LeastSquaresTree(growth=growth, categorical_features=[1]).fit(X, y)
    # On the right only categories 2 and 3 were seen: 2 by more rows, which missing values follow, and so does 0.
    np.testing.assert_allclose(model.predict([[1, 2], [1, 3]]), [10, 13])
    np.testing.assert_allclose(model.predict([[0, 99], [0, np.nan]]), model.predict([[0, np.nan], [0, 99]]))
    assert growth == "level" or model.predict([[1, 0]]) == model.predict([[1, np.nan]])


def test_more_categories_than_a_byte_or_a_word_holds():
    for number in (64, 65, 255, 256, 300):
        X = np.repeat(np.arange(number), 3)[:, None].astype(float)
        target = (X[:, 0] % 3 == 0).astype(float)
        model = LeastSquaresTree(categorical_features=[0], max_depth=1).fit(X, target)
        np.testing.assert_array_equal(model.predict(X), target)


@pytest.mark.parametrize("number", [254, 255, 256, 257])
def test_values_at_the_edge_of_a_byte_with_missing_ones(number):
    X = np.append(np.arange(float(number)), [np.nan] * 3)[:, None]
    y = np.append(np.arange(float(number)), [-7.0] * 3)
    np.testing.assert_allclose(LeastSquaresTree(max_bins=None).fit(X, y).predict(X), y, atol=1e-9)
    binned = LeastSquaresTree().fit(X, y).predict(X)
    assert (np.abs(binned - y) <= 1).all()
    assert (binned[-3:] == -7).all()


def test_thresholds_part_neighbouring_floats():
    for low in (1.0, -1.0, 0.0, 5e-324, 1e308, -1e308, 123456.789):
        X = np.array([[low], [np.nextafter(low, np.inf)]])
        for model in (LeastSquaresTree(), LeastSquaresTree(splitter="random"), LeastSquaresTree(growth="level")):
            np.testing.assert_array_equal(model.fit(X, [0.0, 1.0]).predict(X), [0.0, 1.0])


def test_few_values_need_no_exact_mode():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 200, (900, 3)).astype(float), rng.standard_normal((900, 2))
    exact = LeastSquaresTree(max_bins=None, min_samples_leaf=3).fit(X, y)
    assert splits(exact.tree_) == splits(LeastSquaresTree(min_samples_leaf=3).fit(X, y).tree_)


def test_bins_come_close_to_all_thresholds():
    X, y = make_data(n=4000, q=2)
    exact, binned = (LeastSquaresTree(max_bins=b, max_depth=6).fit(X[::2], y[::2]) for b in (None, 255))
    assert binned.score(X[1::2], y[1::2]) == pytest.approx(exact.score(X[1::2], y[1::2]), abs=0.02)
    assert LeastSquaresTree(max_bins=8).fit(X[:, :1], y).get_n_leaves() == 8


def test_a_heavy_value_takes_a_bin_of_its_own():
    X = np.append(np.zeros(900), np.linspace(1, 2, 100))[:, None]
    y = (X[:, 0] > 0).astype(float)
    np.testing.assert_array_equal(LeastSquaresTree(max_bins=4, max_depth=1).fit(X, y).predict(X), y)


@pytest.mark.parametrize("features", ["numbers", "few numbers", "categories", "random"])
@pytest.mark.parametrize("missing_targets", [False, True])
def test_cells_too_large_for_the_working_memory_are_split_the_same(features, missing_targets):
    """So many targets that the vectors of the rows are not all kept: copies of one target change no split."""
    rng = np.random.default_rng(0)
    n, copies = 600, 8000
    X = np.round(rng.standard_normal((n, 2)), 4)
    if features in ("few numbers", "categories"):
        X = np.floor(4 * X) + 20
    y = (np.sin(2 * X[:, :1]) + X[:, 1:] + 0.2 * rng.standard_normal((n, 1))) * 1.0
    if missing_targets:
        y = np.hstack([y, -y])
        y[::5, 0] = np.nan
        copies //= 4
    options = {
        "max_depth": 3,
        "min_samples_leaf": 8,
        "max_bins": None,
        "splitter": "random" if features == "random" else "best",
        "categorical_features": [0, 1] if features == "categories" else None,
        "random_state": 0,
    }
    few = LeastSquaresTree(**options).fit(X, y)
    many = LeastSquaresTree(**options).fit(X, np.tile(y, copies))
    assert splits(many.tree_) == splits(few.tree_)
    np.testing.assert_array_equal(many.tree_.sets, few.tree_.sets)
    np.testing.assert_allclose(many.tree_.gain, few.tree_.gain * copies, rtol=1e-6)


def test_features_are_drawn_for_every_cell():
    X, y = make_data(n=300, d=6, q=2)
    model = LeastSquaresTree(max_features=1, random_state=0).fit(X, y)
    assert len(np.unique(model.tree_.feature)) == 7  # all features, and -1 in leaves
    roots = [
        LeastSquaresTree(max_features=1, max_depth=1, random_state=s).fit(X, y).tree_.feature[0] for s in range(60)
    ]
    assert set(roots) == set(range(6))
    same = LeastSquaresTree(max_features=1, random_state=0).fit(X, y)
    assert splits(same.tree_) == splits(model.tree_)
    assert splits(LeastSquaresTree(max_features=1, random_state=1).fit(X, y).tree_) != splits(model.tree_)


@pytest.mark.parametrize(
    ("max_features", "number"), [(None, 9), ("sqrt", 3), ("log2", 3), (0.5, 4), (np.float32(0.5), 4), (2, 2), (50, 9)]
)
def test_what_max_features_means(max_features, number):
    """A drawn feature that is not better than others is taken if the better ones are not drawn."""
    rule = GrowthRule.from_params(LeastSquaresTree(max_features=max_features).get_params())
    assert rule.limits(100, 9).max_features == number


def test_constant_features_do_not_stop_a_tree_that_draws_them():
    wide, y = np.zeros((50, 10)), np.sin(np.arange(50.0))
    wide[:, 9] = np.arange(50)
    model = LeastSquaresTree(max_features=1, random_state=0).fit(wide, y)
    np.testing.assert_allclose(model.predict(wide), y, atol=1e-9)


@pytest.mark.parametrize("max_bins", [None, 16])
def test_random_thresholds(max_bins):
    X, y = make_data(n=400, q=2)
    models = [
        LeastSquaresTree(splitter="random", max_depth=1, max_features=1, max_bins=max_bins, random_state=s).fit(X, y)
        for s in range(200)
    ]
    for model in models:
        column = X[:, model.tree_.feature[0]]
        assert column.min() <= model.tree_.threshold[0] < column.max()
        assert (model.tree_.count[1:] > 0).all()
    thresholds = [model.tree_.threshold[0] for model in models if model.tree_.feature[0] == 0]
    if max_bins is None:  # uniform between the normal scores of the smallest and the largest value
        values = np.sort(X[:, 0])
        scores = norm.ppf(np.searchsorted(values, thresholds, side="right") / len(values))
        end = norm.ppf(1 - 0.5 / len(values))
        assert np.mean(scores) == pytest.approx(0, abs=0.3 * end)
        assert np.std(scores) == pytest.approx(2 * end / np.sqrt(12), rel=0.2)
    deep = LeastSquaresTree(splitter="random", max_bins=None, min_samples_leaf=4, random_state=0).fit(X, y)
    assert deep.tree_.count[deep.tree_.is_leaf].min() >= 4
    full = LeastSquaresTree(splitter="random", max_bins=None, random_state=0).fit(X, y)
    np.testing.assert_allclose(full.predict(X), y, atol=1e-9)


def test_sketches_choose_nearly_the_best_split_and_leaves_stay_exact():
    X, y = make_data(n=500, q=40)
    exact = LeastSquaresTree(max_depth=1).fit(X, y)
    whole = naive.squared_error(y, np.ones(500))
    for seed in range(5):
        sketched = LeastSquaresTree(max_depth=1, sketch=32, random_state=seed).fit(X, y)
        left = sketched.apply(X) == 1
        gain = (
            whole
            - naive.squared_error(y[left], np.ones(left.sum()))
            - naive.squared_error(y[~left], np.ones((~left).sum()))
        )
        assert gain > 0.7 * exact.tree_.gain[0]
        np.testing.assert_allclose(sketched.predict(X[left])[0], y[left].mean(axis=0))


@pytest.mark.parametrize("growth", ["best", "level"])
@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_units_do_not_matter(growth, scale):
    X, y = make_data(q=2)
    plain = LeastSquaresTree(growth=growth, max_depth=4, min_samples_leaf=4).fit(X, y)
    scaled = LeastSquaresTree(growth=growth, max_depth=4, min_samples_leaf=4).fit(X, 100 * scale + scale * y)
    weighted = LeastSquaresTree(growth=growth, max_depth=4, min_samples_leaf=4).fit(X, y, np.full(len(X), scale))
    assert splits(scaled.tree_) == splits(weighted.tree_) == splits(plain.tree_)
    np.testing.assert_allclose(weighted.predict(X), plain.predict(X))


@pytest.mark.parametrize("growth", ["best", "level"])
def test_the_fewest_rows_to_split(growth):
    X, y = make_data(n=120)
    model = LeastSquaresTree(growth=growth, min_samples_split=25).fit(X, y)
    inner = ~model.tree_.is_leaf
    assert model.tree_.count[inner].min() >= 25
    assert inner.sum() > 2


def test_shares_are_of_the_rows_that_grow_the_tree():
    X, y = make_data(q=2)
    share, number = (
        LeastSquaresTree(honest=True, min_samples_leaf=least, random_state=0).fit(X, y)
        for least in (0.3, -(-len(X) // 2) * 3 // 10)
    )
    assert share.get_n_leaves() > 1
    assert share.get_n_leaves() == number.get_n_leaves()
