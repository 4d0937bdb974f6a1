"""The noise, the taus and the printed signs that the experiments of Fotakis, Kalavasis and Psaroudaki rest on."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import kendalltau

from rankwise.datasets import make_sparse_label_ranking
from rankwise.label_ranking import LabelwiseRanker, ranking_risk
from rankwise.trees import LeastSquaresTree
from rankwise_reproductions.experiment import Inputs, Results
from rankwise_reproductions.label_ranking import common as shared
from rankwise_reproductions.label_ranking import figure_1, theorem_2_1, theorem_2_5
from rankwise_reproductions.label_ranking import tables_4_7 as tables
from rankwise_reproductions.runner import run

ALL = np.array(list(permutations([1.0, 2.0, 3.0, 4.0])))


def orders(positions):
    return [sorted(range(len(row)), key=lambda item: row[item]) for row in positions.tolist()]


def test_tau_on_orders_is_that_of_lists_of_labels():
    first, second = ALL, ALL[np.random.default_rng(0).permutation(len(ALL))]
    by_hand = [
        np.mean([kendalltau(a, b).statistic for a, b in zip(one, other, strict=True)])
        for one, other in ((first, second), (orders(first), orders(second)))
    ]
    taus = shared.both_taus(first, second)
    assert [taus["positions"], taus["orders"]] == pytest.approx(by_hand)


def test_the_two_taus_differ_on_one_ranking():
    # a before c before b against c before a before b: one pair of three differs. The lists (a, c, b) and (c, a, b),
    # taken for the numbers (1, 3, 2) and (3, 1, 2), disagree in all three.
    taus = shared.both_taus([[1.0, 3.0, 2.0]], [[2.0, 3.0, 1.0]])
    assert taus == {"positions": pytest.approx(1 / 3), "orders": pytest.approx(-1)}


def test_mallows_on_names_has_the_law_of_distances_between_orders():
    rng, theta, k = np.random.default_rng(0), 1.2, 4
    truth = ALL[rng.integers(0, len(ALL), 40_000)]
    noisy = shared.mallows_on_names(truth, theta, rng)
    assert (np.sort(noisy, axis=1) == np.arange(1, k + 1)).all()
    # sum over permutations of exp(-theta d), with d the number of inversions
    inversions = np.array([sum(a > b for at, a in enumerate(p) for b in p[at + 1 :]) for p in ALL.tolist()])
    weights = np.exp(-theta * inversions)
    expected = 1 - 2 * float(weights @ inversions / weights.sum()) / (k * (k - 1) / 2)
    taus = shared.both_taus(truth, noisy)
    assert taus["orders"] == pytest.approx(expected, abs=0.01)
    assert taus["positions"] < expected - 0.1


@pytest.mark.parametrize("design", ["as described", "as distributed"])
def test_noise_changes_the_wanted_share_of_rankings(design):
    rng = np.random.default_rng(1)
    X, scores = shared.sparse_scores(4000, "SFN", design, rng)
    assert X.shape == (4000, 100)
    assert scores.min(axis=0) == pytest.approx(0.25)
    assert scores.max(axis=0) == pytest.approx(0.75)
    truth = shared.sorted_positions(scores)
    assert (shared.gaussian_noise(scores, 0.0, rng) == truth).all()
    changed = np.any(shared.gaussian_noise(scores, 0.5, rng) != truth, axis=1).mean()
    assert changed == pytest.approx(0.5, abs=0.04)


def test_scores_as_distributed_depend_on_five_features():
    X, scores = shared.sparse_scores(2000, "SFN", "as distributed", np.random.default_rng(0))
    weights = np.linalg.lstsq(np.column_stack([X, np.ones(len(X))]), scores, rcond=None)[0][:-1]
    assert (np.abs(weights) > 1e-9).any(axis=1).sum() == shared.SHARED


@pytest.mark.parametrize(("own", "informative"), [(False, 3), (True, 15)])
def test_scores_of_theorem_2_1_depend_on_r_features_each(own, informative):
    X, scores = theorem_2_1._sparse(500, 30, 3, own, np.random.default_rng(0))
    weights = np.linalg.lstsq(np.column_stack([X, np.ones(len(X))]), scores, rcond=None)[0][:-1]
    assert ((np.abs(weights) > 1e-9).sum(axis=0) == 3).all()
    assert (np.abs(weights) > 1e-9).any(axis=1).sum() == informative


def test_rows_needed_are_those_from_which_on_the_target_is_kept():
    cell = {"smallest": 16, "largest": 64}  # 16, 23, 32, 45, 64
    found = [[9, 9, 0.1, 0, 0], [9, 0.1, 9, 0, 0], [0, 0, 0, 0, 0], [9, 9, 9, 9, 9]]
    needed = theorem_2_1._needed(Results([(cell, {"regret": regret}) for regret in found]))
    assert np.round(2**needed).tolist() == [32, 45, 16, 64]


def test_a_folder_without_benchmark_sets_is_an_error(tmp_path):
    (experiment,) = tables.EXPERIMENTS
    with pytest.raises(FileNotFoundError, match=r"no benchmark set in .*: --data must name a folder .*csv\.gz"):
        run(experiment, "quick", Inputs(data=tmp_path))


def test_what_was_not_run_says_why(tmp_path):
    for name in ("glass", "wine"):
        (tmp_path / f"{name}.csv.gz").touch()
    cells = tables._cells("quick", Inputs(data=tmp_path))
    results = Results([(cell, {"positions": 0.9, "orders": 0.8}) for cell in cells])
    reasons = {row.quantity: row.reason for row in tables._compare(results) if row.verdict == "not run"}
    assert reasons["iris, RF, DT, DTS, RFT, DTT"] == "no file iris.csv.gz in the folder of data"
    assert reasons["fried, RF, DT, DTS, RFT, DTT"] == "not in the quick scale"
    assert reasons["housing, RF, DT, DTS, DTT"].startswith("no file")
    assert reasons["housing, RFT"] == "not in the quick scale"
    assert not any(name in quantity for quantity in reasons for name in ("glass", "wine"))


@pytest.mark.parametrize(("tau", "verdict"), [(0.99, "agrees"), (0.6, "differs")])
def test_verdicts_of_figure_1_follow_the_numbers(tau, verdict):
    values = {"alpha": 0.5, "beta": 1.0} | {figure_1._tau(name): tau for name in shared.LEARNERS}
    rows = figure_1._compare(Results([(cell, values) for cell in figure_1._cells("quick", Inputs())]))
    assert {row.verdict for row in rows} == {verdict}
    assert all(row.reason for row in rows if verdict == "differs")


@pytest.mark.parametrize(("regret", "verdict"), [(0.01, "agrees"), (0.6, "differs")])
def test_the_verdict_on_depth_follows_the_regret(regret, verdict):
    cells = theorem_2_1._cells("check", Inputs())
    rows = theorem_2_1._compare(Results([(cell, {"regret": [regret] * len(theorem_2_1.SIZES)}) for cell in cells]))
    assert [row.verdict for row in rows if row.published == "depth r is enough"] == [verdict]


def test_algorithm_2_as_printed_reverses():
    P = np.array([[[0.5, 0.9, 0.8], [0.1, 0.5, 0.7], [0.2, 0.3, 0.5]]])  # 0 before 1 before 2
    assert theorem_2_5._as_printed(P).tolist() == [[3, 2, 1]]


def test_depths_of_the_theorems():
    n, d, r = 10_000, 100, 10
    leaves = (n / np.log(d / 0.01)) ** (r / (r + 2))
    assert theorem_2_1.sparse_tree_depth(n, d, r) == int(np.ceil(np.log2(leaves)))
    leaves = (n / np.log(d / 0.05)) ** (2 * r / (2 * r + 3))
    assert theorem_2_1.sparse_tree_depth(n, d, r, C=2, delta=0.05, growth="best") == int(np.ceil(np.log2(leaves)))
    assert theorem_2_1.sparse_tree_depth(n, d, r, independent=True) == r
    assert theorem_2_1.sparse_tree_depth(2, d, r) == 1
    for bad in ({"delta": 2}, {"C": 0}, {"growth": "wide"}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            theorem_2_1.sparse_tree_depth(n, d, r, **bad)


def test_risk_on_sparse_rankings_with_noise_falls_with_the_number_of_rows():
    X, y, truth = make_sparse_label_ranking(6000, 20, 4, 3, noise="gaussian", noise_scale=0.1, random_state=1)
    test = np.arange(4000, 6000)
    risks = []
    for n in (50, 400, 4000):
        depth = theorem_2_1.sparse_tree_depth(n, 20, 3)
        ranker = LabelwiseRanker(LeastSquaresTree(growth="level", max_depth=depth)).fit(X[:n], y[:n])
        risks.append(ranking_risk(truth.noiseless[test], ranker.predict(X[test])))
    assert risks[0] > 1.5 * risks[1] > 1.5 * 1.5 * risks[2]
