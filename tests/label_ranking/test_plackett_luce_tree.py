"""PlackettLuceTree: the published tree, splits by brute force, and the size of its tests."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rankwise
from rankwise import Rankings
from rankwise.aggregation import PlackettLuce, sample_plackett_luce
from rankwise.label_ranking import PlackettLuceTree
from rankwise.plots import RankingTreeDisplay

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "plackett_luce_tree.json").read_text("utf-8"))


def beans(path):
    """Features and rankings as the vignette makes them: of three varieties, and of each with the local one."""
    table = pd.read_csv(path / "rankings-with-covariates" / "plackettluce_beans.csv.gz")
    items = GOLDEN["beans"]["items"]
    positions = np.full((4, len(table), len(items)), np.nan)
    for row in range(len(table)):
        variety = {letter: items.index(table[f"variety_{letter.lower()}"][row]) for letter in "ABC"}
        best, worst = table.best[row], table.worst[row]
        (middle,) = {"A", "B", "C"} - {best, worst}
        for place, letter in enumerate((best, middle, worst)):
            positions[0, row, variety[letter]] = place + 1
        for number, letter in enumerate("ABC"):
            worse = table[f"var_{letter.lower()}"][row] == "Worse"
            positions[number + 1, row, variety[letter]] = 2 if worse else 1
            positions[number + 1, row, items.index("Local")] = 1 if worse else 2
    X = table[["season", "year", "maxTN"]].assign(year=table.year.astype(int).astype(str))
    y = Rankings(positions.reshape(-1, len(items)), items=items)
    return pd.concat([X] * 4, ignore_index=True), y, np.tile(np.arange(len(table)), 4)


def two_kinds_of_people(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    worth = np.where(X[:, 1:2] < 0.3, [[0.0, 1.0, 2.0, 0.5]], [[2.0, 0.0, 1.0, 0.5]])
    return X, sample_plackett_luce(worth, n, rng)


def test_beans_as_published(benchmark_data):
    golden = GOLDEN["beans"]
    X, y, farmer = beans(benchmark_data)
    tree = PlackettLuceTree(min_samples_leaf=42, max_depth=2).fit(X, y, groups=farmer)
    temperatures = np.sort(X.maxTN.unique())
    below = temperatures[temperatures < tree.tree_.threshold[0]]
    assert below[-1] == golden["split_after"]
    assert -tree.log_likelihood_ == pytest.approx(golden["negative_log_likelihood"], abs=6e-4)
    np.testing.assert_allclose(
        tree.log_worth_ - tree.log_worth_[:, :1], [a["log_worth"] for a in golden["leaves"]], atol=2e-5
    )
    assert tree.tree_.count[tree.tree_.is_leaf].tolist() == [leaf["n"] for leaf in golden["leaves"]]
    assert "season in {Pr - 16}" in tree.export_text()
    inner = np.flatnonzero(~tree.tree_.is_leaf)
    assert (tree.p_values_[inner, tree.tree_.feature[inner]] < 0.001).all()
    # The rankings of a farmer are not independent; counted one by one, they look surer.
    alone = PlackettLuceTree(min_samples_leaf=42, max_depth=1).fit(X, y)
    assert alone.statistics_[0, 2] != pytest.approx(tree.statistics_[0, 2])


def test_the_split_has_the_largest_likelihood_of_all():
    X, y = two_kinds_of_people(60)
    tree = PlackettLuceTree(max_depth=1, min_samples_leaf=10).fit(X, y)
    assert tree.tree_.feature[0] == 1

    def log_likelihood(rows):
        ghost = np.full((8, 5), np.nan)
        item = np.arange(4)
        ghost[item, item], ghost[item, 4], ghost[4 + item, item], ghost[4 + item, 4] = 1, 2, 2, 1
        rankings = np.vstack([np.column_stack([y[rows], np.full(rows.sum(), np.nan)]), ghost])
        weights = np.append(np.ones(rows.sum()), np.full(8, 0.5))
        return PlackettLuce().fit(rankings, weights).logpmf(rankings)[: rows.sum()].sum()

    values = np.sort(X[:, 1])
    gains = [log_likelihood(X[:, 1] <= value) + log_likelihood(X[:, 1] > value) for value in values[9:50]]
    best = values[9 + int(np.argmax(gains))]
    assert (X[:, 1] <= tree.tree_.threshold[0]).sum() == (X[:, 1] <= best).sum()
    assert tree.log_likelihood_ == pytest.approx(max(gains))


def test_the_best_cuts_are_among_those_with_the_largest_statistics(monkeypatch):
    X, y = two_kinds_of_people(150, seed=3)
    few = PlackettLuceTree(max_depth=2, min_samples_leaf=15).fit(X, y)
    monkeypatch.setattr("rankwise.label_ranking._tree_splits._MOST_REFITS", 10_000)
    every = PlackettLuceTree(max_depth=2, min_samples_leaf=15).fit(X, y)
    assert few.export_text() == every.export_text()


@pytest.mark.parametrize("n_levels", [4, 14])
def test_categories_are_divided_where_they_differ(n_levels):
    rng = np.random.default_rng(0)
    level = rng.integers(0, n_levels, 800)
    first = np.isin(level, [0, 2, 3])
    y = sample_plackett_luce(np.where(first[:, None], [[2.0, 1, 0]], [[0.0, 1, 2]]), 800, rng)
    names = np.array([f"c{number:02}" for number in range(n_levels)], dtype=object)
    tree = PlackettLuceTree(max_depth=1, categorical_features=[0]).fit(names[level][:, None], y)
    side = tree.apply(names[level][:, None]) == tree.tree_.left[0]
    assert np.array_equal(side, first) or np.array_equal(side, ~first)
    # A category that is not known goes with the larger side.
    assert tree.apply(np.array([["new"]], dtype=object))[0] == 1 + int(side.sum() < 400)


def test_ordered_categories_are_cut():
    rng = np.random.default_rng(1)
    level = rng.integers(0, 5, 300)
    y = sample_plackett_luce(np.where(level[:, None] < 2, [[2.0, 1, 0]], [[0.0, 1, 2]]), 300, rng)
    words = np.array(["never", "seldom", "often", "mostly", "always"], dtype=object)
    tree = PlackettLuceTree(max_depth=1, categorical_features={0: list(words)}).fit(words[level][:, None], y)
    assert "x0 <= seldom, p < 0.001" in tree.export_text()


def test_missing_values_go_where_they_fit():
    X, y = two_kinds_of_people(300)
    missing = np.arange(300) % 5 == 0
    X[missing & (X[:, 1] >= 0.3), 1] = np.nan  # all who lack the value rank like those above
    tree = PlackettLuceTree(max_depth=1).fit(X, y)
    assert tree.tree_.feature[0] == 1
    assert not tree.tree_.missing_left[0]
    assert (tree.apply(X[np.isnan(X[:, 1])]) == 2).all()
    assert tree.tree_.count[1:].sum() == 300


def test_standard_errors_of_leaves():
    X, y = two_kinds_of_people(400)
    tree = PlackettLuceTree(pseudo=0, max_depth=1).fit(X, y)
    for leaf in (0, 1):
        model = PlackettLuce().fit(y[tree.apply(X) == leaf + 1])
        np.testing.assert_allclose(tree.log_worth_[leaf], model.log_worth_, atol=1e-6)
        np.testing.assert_allclose(tree.se_[leaf], model.se_, rtol=1e-4)
    robust = PlackettLuceTree(pseudo=0, max_depth=1).fit(X, y, np.full(400, 0.5))
    np.testing.assert_allclose(robust.se_, tree.se_, rtol=0.3)  # survey weights: their scale does not matter
    np.testing.assert_allclose(robust.log_worth_, tree.log_worth_, atol=1e-4)


def test_every_ranking_twice_under_one_name_changes_no_test():
    X, y = two_kinds_of_people()
    once = PlackettLuceTree(pseudo=1e-6, min_samples_leaf=30).fit(X, y)
    people = np.tile(np.arange(200), 2)
    twice = PlackettLuceTree(pseudo=2e-6, min_samples_leaf=30).fit(
        np.tile(X, (2, 1)), np.tile(y, (2, 1)), groups=people
    )
    np.testing.assert_allclose(twice.statistics_[0], once.statistics_[0], rtol=1e-6)
    assert twice.export_text() == once.export_text()


def test_groups_are_checked():
    X, y = two_kinds_of_people()
    with pytest.raises(ValueError, match=r"groups has shape \(3,\), but X has 200 rows"):
        PlackettLuceTree().fit(X, y, groups=[1, 2, 3])
    with pytest.raises(ValueError, match="the rows of person 0 differ in feature 'x0'"):
        PlackettLuceTree().fit(X, y, groups=np.arange(200) // 2)


def test_a_node_without_a_significant_feature_is_a_leaf():
    rng = np.random.default_rng(0)
    tree = PlackettLuceTree(0.0).fit(rng.standard_normal((100, 2)), sample_plackett_luce([0, 1, 2], 100, rng))
    assert tree.get_n_leaves() == 1
    assert tree.p_values_.shape == (1, 2)
    constant = PlackettLuceTree().fit(np.zeros((100, 1)), sample_plackett_luce([0, 1, 2], 100, rng))
    assert np.isnan(constant.p_values_).all()
    assert constant.export_text().endswith("(n=100)")


def test_pictures_and_files(tmp_path):
    X, y = two_kinds_of_people()
    frame = pd.DataFrame(X, columns=["age", "income", "size"])
    tree = PlackettLuceTree().fit(frame, Rankings(y, items=["tea", "milk", "juice", "water"]))
    texts = [node.text for node in RankingTreeDisplay.from_estimator(tree).nodes]
    assert texts[0].startswith("income <= 0.")
    assert texts[0].endswith(", p < 0.001")
    assert texts[1].startswith("juice > milk")
    assert "p < 0.001" in tree.export_graphviz()
    rankwise.save(tree, tmp_path / "tree")
    loaded = rankwise.load(tmp_path / "tree")
    np.testing.assert_array_equal(loaded.predict(frame), tree.predict(frame))
    np.testing.assert_array_equal(loaded.p_values_, tree.p_values_)
    assert loaded.log_likelihood_ == tree.log_likelihood_


@pytest.mark.parametrize("pseudo", [0.0, 0.5])
@pytest.mark.parametrize("rows", [[[1.0, 1, 1]], [[1, 1, np.nan], [np.nan, 1, 1]]])
def test_nothing_but_ties_is_refused(rows, pseudo):
    with pytest.raises(ValueError, match=r"^everybody ties all items; there is nothing to split$"):
        PlackettLuceTree(pseudo=pseudo).fit(np.arange(40.0)[:, None], np.resize(rows, (40, 3)))


def test_the_cure_of_a_model_without_estimate_is_one_of_the_tree():
    """The alpha of the tree is a level, so that it is no cure."""
    X, apart = np.arange(40.0)[:, None], np.resize([[1, 2, np.nan, np.nan], [np.nan, np.nan, 2, 1]], (40, 4))
    with pytest.raises(
        ValueError, match=r"never compared with each other: \{0, 1\}, \{2, 3\}.* Use pseudo=0.5"
    ) as error:
        PlackettLuceTree(pseudo=0).fit(X, apart)
    assert "alpha" not in str(error.value)


def test_items_that_nobody_compares_are_noted():
    n = np.nan
    rows = [[1, 2, n, n], [2, 1, n, n], [n, n, 1, 2], [n, n, 2, 1], [n, n, 1, 2]]
    tree = PlackettLuceTree().fit(np.arange(80.0)[:, None], np.resize(rows, (80, 4)))
    why = "how far these worths are apart rests on the pseudo-rankings (pseudo=0.5)"
    (note,) = tree.notes_
    assert note.startswith("nobody in the leaf ")
    assert note.endswith(f"(n=80) compares {{0, 1}} with {{2, 3}}: {why}")
    agreed = np.resize([[1, 2, *[n] * 4], [n, n, 1, 2, n, n], [n, n, 2, 1, n, n], [*[n] * 4, 1, 1]], (80, 6))
    notes = PlackettLuceTree().fit(np.arange(80.0)[:, None], agreed).notes_
    assert notes[0].endswith(f"compares the groups {{0, 1}}, {{2, 3}}, {{4, 5}} with each other: {why}")
    assert notes[1].endswith(f"contradicts the order {{0}} > {{1}}: {why}")
    assert len(notes) == 2


def test_leaves_that_agree_are_noted(tmp_path):
    """The pseudo-rankings keep worths finite where they have no estimate; which these are is said."""
    X = np.arange(80.0)[:, None]
    left = np.resize([[1, 2, 3, 4], [2, 1, 3, 4], [1, 2, 4, 3]], (40, 4))
    right = np.resize([[4, 3, 2, 1], [3, 4, 1, 2], [1, 2, 3, 4], [2, 4, 1, 3], [3, 1, 4, 2]], (40, 4))
    y = Rankings(np.vstack([left, right]), items=list("abcd"))
    tree = PlackettLuceTree(min_samples_leaf=20).fit(X, y)
    assert tree.tree_.n_leaves == 2
    assert tree.notes_ == (
        "no ranking of the leaf a > b > c > d (n=40) contradicts the order {a, b} > {c, d}: how far these worths are "
        "apart rests on the pseudo-rankings (pseudo=0.5)",
    )
    assert tree.export_text().endswith(f"Note: {tree.notes_[0]}.")
    with pytest.raises(ValueError, match="maximum likelihood does not exist"):
        PlackettLuce().fit(y[:40])
    rankwise.save(tree, tmp_path / "tree.rankwise")
    assert rankwise.load(tmp_path / "tree.rankwise").export_text() == tree.export_text()
    X, y = two_kinds_of_people()
    plain = PlackettLuceTree().fit(X, y)
    assert plain.notes_ == ()
    assert "Note" not in plain.export_text()


@pytest.mark.slow
def test_people_who_are_alike_are_split_with_the_probability_alpha():
    rng = np.random.default_rng(0)
    p_values = []
    for _ in range(600):
        X = np.column_stack([rng.standard_normal((150, 2)), rng.integers(0, 3, 150)])
        y = sample_plackett_luce([0, 0.5, 1, 1.5], 150, rng)
        tree = PlackettLuceTree(0.0, min_samples_leaf=20, categorical_features=[2]).fit(X, y)
        p_values.append(tree.p_values_[0].min())
    assert 0.035 <= np.mean(np.array(p_values) <= 0.05) <= 0.065


@pytest.mark.slow
@pytest.mark.parametrize("design", ["survey weights", "two rankings of each person"])
def test_weights_and_groups_keep_alpha(design):
    """People who are alike but for a taste of their own, which shows in both of their rankings: 800 trees.

    Of 2,400 trees of two rankings each, 4.4% had a split.
    """
    rng = np.random.default_rng(3)
    p_values = []
    for _ in range(800):
        X = np.column_stack([rng.standard_normal((150, 2)), rng.integers(0, 3, 150)])
        worths = np.tile([1, 0.5, 0, -0.5], (150, 1))
        options = {"sample_weight": rng.uniform(0.5, 2, 150)}
        if design != "survey weights":
            who = np.repeat(np.arange(150), 2)
            X, worths = X[who], worths[who] + rng.normal(size=(150, 4))[who]
            options = {"groups": who}
        y = Rankings.from_scores(worths + rng.gumbel(size=worths.shape))
        tree = PlackettLuceTree(0.0, min_samples_leaf=20, categorical_features=[2]).fit(X, y, **options)
        p_values.append(tree.p_values_[0].min())
    assert 0.035 <= np.mean(np.array(p_values) <= 0.05) <= 0.065
