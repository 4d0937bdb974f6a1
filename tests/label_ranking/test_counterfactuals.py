"""Smallest changes: against all cells of the features, and what must hold of any answer."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from rankwise import Rankings
from rankwise.label_ranking import BoostedRanker, Counterfactual, RankingForest, RankingTree
from rankwise.label_ranking.counterfactuals import BoxSearch, nearest_leaf
from tests.label_ranking.test_explanations import make_data
from tests.naive.explanations import smallest_change

SMALL = [
    RankingTree(max_depth=4, min_samples_leaf=4),
    RankingTree(growth="level", max_depth=3),
    RankingForest(3, max_depth=3, min_samples_leaf=5, random_state=0),
    RankingForest(5, max_depth=2, splitter="best", random_state=1),
    BoostedRanker(4, max_leaf_nodes=4, min_samples_leaf=4, learning_rate=0.5),
]
every_ranker = pytest.mark.parametrize("ranker", SMALL, ids=repr)


def candidates(ranker, features, may_change):
    """All values of the features that matter to the trees; the row's own comes first."""
    trees = ranker.trees_ if hasattr(ranker, "trees_") else [ranker.tree_]
    values = []
    for f, own in enumerate(features):
        categories = ranker.feature_categories_[f]
        if not may_change[f]:
            others = []
        elif categories is not None:
            others = [float(code) for code in range(len(categories))]
        else:
            cuts = np.unique(np.concatenate([tree.threshold[(tree.feature == f) & ~tree.is_leaf] for tree in trees]))
            if ranker._feature_is_whole[f]:
                others = [*np.floor(cuts), *(np.floor(cuts) + 1)]
            else:
                others = [*cuts, *np.nextafter(cuts, np.inf), 0.0]
        values.append([own, *(float(value) for value in np.unique(others) if value != own)])
    return values


@every_ranker
@pytest.mark.parametrize("immutable", [[], ["age"], ["city", 1]], ids=str)
def test_no_change_is_smaller(ranker, immutable):
    X, y = make_data(120)
    X = X.drop(columns="noise")
    ranker = clone(ranker).fit(X, y)
    names = list(X.columns)
    may_change = [name not in immutable and number not in immutable for number, name in enumerate(names)]
    n_found = 0
    for row in range(12):
        features = ranker._check_fitted_features(X[row : row + 1])[0]
        spread = np.nanstd(ranker._check_fitted_features(X), axis=0)
        a, b = (0, 1) if ranker.explain(X[row : row + 1], 0, 1).prediction[0] <= 0.5 else (1, 0)
        space = ranker._space(features, ~np.array(may_change))
        constant, values, output = ranker._pair_values(a, b)
        trees = ranker.trees_ if hasattr(ranker, "trees_") else [ranker.tree_]
        border = 0.5 if output == "share" else 0.0

        def comes_first(rows, trees=trees, values=values, constant=constant, border=border):
            total = sum(v[tree.leaf_of(np.ascontiguousarray(rows))] for tree, v in zip(trees, values, strict=True))
            return constant + total > border + 1e-9

        def distance(f, value, features=features, spread=spread, ranker=ranker):
            if np.isnan(features[f]) or ranker.feature_categories_[f] is not None:
                return 1.0
            return abs(value - features[f]) / spread[f]

        expected = smallest_change(comes_first, features, candidates(ranker, features, may_change), distance)
        found = ranker.counterfactual(X[row : row + 1], a, b, immutable=immutable)
        assert found.is_smallest
        assert found.found == (expected is not None)
        n_found += found.found
        if expected is not None:
            assert (len(found.changes), pytest.approx(found.distance, abs=1e-9)) == expected
            assert not {change.feature for change in found.changes} & {names[f] for f in range(4) if not may_change[f]}
        if len(trees) == 1:  # both ways to search agree
            answers = [nearest_leaf(trees[0], values[0], border - constant, space)]
            answers.append(BoxSearch(trees, values, border - constant, space, 10_000).run())
            assert all(answer.is_proven for answer in answers)
            sizes = [None if answer.row is None else space.size(answer.row) for answer in answers]
            assert sizes[0] == (None if sizes[1] is None else pytest.approx(sizes[1]))
    assert n_found > 3 or immutable


@pytest.mark.parametrize(
    "ranker",
    [RankingForest(30, random_state=0), RankingForest(20, min_samples_leaf=5, random_state=0), BoostedRanker(40)],
    ids=repr,
)
def test_the_changed_row_is_ranked_as_asked(ranker):
    X, y = make_data(200)
    ranker = clone(ranker).fit(X, y)
    for row in range(6):
        person = X[row : row + 1]
        a, b = (0, 1) if ranker.predict_pairwise(person)[0, 0, 1] <= 0.5 else (1, 0)
        found = ranker.counterfactual(person, a, b)
        assert found.found
        changed = pd.DataFrame([found.row]).astype(dict.fromkeys(["age", "size", "noise"], float))
        assert ranker.predict_pairwise(changed)[0, a, b] > 0.5
        assert found.after == pytest.approx(ranker.explain(changed, a, b).prediction[0], abs=1e-9)
        assert found.before == pytest.approx(ranker.explain(person, a, b).prediction[0], abs=1e-9)
        was = {name: None if pd.isna(value) else value for name, value in person.iloc[0].items()}
        different = [name for name in was if was[name] != found.row[name]]
        assert sorted(change.feature for change in found.changes) == sorted(different)
        # One feature less does not suffice.
        for change in found.changes:
            less = changed.assign(**{change.feature: change.before})
            less = less.astype(dict.fromkeys(["age", "size", "noise"], float))
            assert not found.is_smallest or ranker.predict_pairwise(less)[0, a, b] <= 0.5


def test_a_search_that_ends_early_says_so():
    X, y = make_data(200)
    forest = RankingForest(20, random_state=0).fit(X, y)
    person = X[:1]
    a, b = (0, 1) if forest.predict_pairwise(person)[0, 0, 1] <= 0.5 else (1, 0)
    short, whole = (forest.counterfactual(person, a, b, max_iter=size) for size in (40, 20_000))
    assert whole.is_smallest
    assert not short.is_smallest
    assert short.n_iter < 60 < whole.n_iter
    assert "max_iter" in repr(short) or "was found" in repr(short)
    if short.found:
        assert (len(short.changes), short.distance) >= (len(whole.changes), whole.distance)


def test_what_is_so_already_and_what_cannot_be():
    X, y = make_data(100)
    for ranker in (RankingTree(max_depth=3).fit(X, y), RankingForest(10, random_state=0).fit(X, y)):
        before = ranker.explain(X[:1], "tea", "milk").prediction[0] > 0.5
        first, second = ("tea", "milk") if before else ("milk", "tea")
        found = ranker.counterfactual(X[:1], first, second)
        assert found.found
        assert found.is_smallest
        assert not found.changes
        assert found.distance == 0
        assert repr(found).startswith(f"{first} comes before {second} already")
        nothing = ranker.counterfactual(X[:1], second, first, immutable=list(X.columns))
        assert not nothing.found
        assert nothing.is_smallest
        assert np.isnan(nothing.after)
        assert repr(nothing).startswith(f"{second} before {first}: no change that is allowed does")


def test_changes_in_words():
    X = pd.DataFrame({"age": [20, 30, 50, 60] * 5, "city": ["Bonn", "Oslo"] * 10, "pay": np.arange(20) / 8})
    late = (X.age > 40).to_numpy()
    y = Rankings(np.where(late[:, None], [[2, 1]], [[1, 2]]), items=["tea", "milk"])
    found = RankingTree().fit(X, y).counterfactual(X[:1], "milk", "tea")
    assert isinstance(found, Counterfactual)
    assert [tuple(change) for change in found.changes] == [("age", 20.0, 41.0, "41")]  # the threshold is 40
    assert found.distance == pytest.approx(21 / X.age.std(ddof=0))
    assert repr(found).splitlines()[0] == "milk before tea, if 1 feature changed"
    assert "no smaller change does" in repr(found)
    assert "<table" in found._repr_html_()
    assert found.to_frame("pandas")["after"].tolist() == ["41"]
    y = Rankings(np.where((X.pay > 1.1).to_numpy()[:, None], [[2, 1]], [[1, 2]]), items=["tea", "milk"])
    tree = RankingTree().fit(X, y)
    assert tree.counterfactual(X[:1], "milk", "tea").changes[0].condition == "above 1.0625"
    assert tree.counterfactual(X[-1:], "tea", "milk").changes[0].condition == "at most 1.0625"
    y = Rankings(np.where((X.city == "Oslo").to_numpy()[:, None], [[2, 1]], [[1, 2]]), items=["tea", "milk"])
    found = RankingForest(5, random_state=0).fit(X, y).counterfactual(X[:1], "milk", "tea")
    assert [tuple(change) for change in found.changes] == [("city", "Bonn", "Oslo", "Oslo")]
    assert found.row == {"age": 20.0, "city": "Oslo", "pay": 0.0}


def test_ordered_categories_stay_among_themselves():
    grades = pd.Categorical(["low", "mid", "high", "top"] * 10, categories=["low", "mid", "high", "top"], ordered=True)
    X = pd.DataFrame({"grade": grades, "noise": np.random.default_rng(0).normal(size=40)})
    y = Rankings(np.where((grades.codes >= 2)[:, None], [[2, 1]], [[1, 2]]))
    for ranker in (RankingTree(), RankingForest(5, random_state=0)):
        found = ranker.fit(X, y).counterfactual(X[:1], 1, 0)
        assert [tuple(change) for change in found.changes] == [("grade", "low", "high", "high")]
        back = ranker.counterfactual(X[3:4], 0, 1)
        assert back.changes[0].after == "mid"


def test_mistakes_are_named():
    X, y = make_data(60)
    tree = RankingTree().fit(X, y)
    with pytest.raises(ValueError, match=r"X has 2 rows; counterfactual takes one row at a time"):
        tree.counterfactual(X[:2], 0, 1)
    with pytest.raises(ValueError, match=r"immutable names 'sex', but the features are age, size"):
        tree.counterfactual(X[:1], 0, 1, immutable=["sex"])
    with pytest.raises(TypeError, match=r"immutable is 'age'; give a list"):
        tree.counterfactual(X[:1], 0, 1, immutable="age")
    with pytest.raises(ValueError, match="max_iter is 0"):
        tree.counterfactual(X[:1], 0, 1, max_iter=0)
    del tree._feature_spread
    with pytest.raises(ValueError, match="fit it again"):
        tree.counterfactual(X[:1], 0, 1)
