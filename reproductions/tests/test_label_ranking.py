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
from rankwise_reproductions.label_ranking import figure_1, theorem_2_1, theorem_2_5, theorem_c_2, theorems_a_5_a_6
from rankwise_reproductions.label_ranking import tables_4_5 as tables
from rankwise_reproductions.label_ranking import tables_6_7 as others
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


@pytest.mark.parametrize("design", shared.DESIGNS)
def test_noise_changes_the_wanted_share_of_rankings(design):
    rng = np.random.default_rng(1)
    oracle = shared.figure_oracle("SFN", design, 0)
    X, y = oracle.sample(4000, rng)
    assert X.shape == (4000, 100)
    assert (shared.gaussian_noise(oracle, X, 0.0, rng) == y.positions).all()
    changed = shared.share_changed(y.positions, shared.gaussian_noise(oracle, X, 0.5, rng))
    assert changed == pytest.approx(0.5, abs=0.04)


def test_scores_as_distributed_share_five_features_and_those_as_described_have_their_own():
    shared_features = shared.figure_oracle("SFN", "as distributed", 0).m.informative
    assert len(shared_features[0]) == 5
    assert all((features == shared_features[0]).all() for features in shared_features)
    own = shared.figure_oracle("LFN", "as described", 0).m.informative
    assert len({feature for features in own for feature in features}) > 40


def test_figure_cells_of_one_data_set_differ_in_the_learner_only():
    cells = [cell for cell in figure_1._cells("check", Inputs()) if cell["design"] == "as distributed"]
    found = [figure_1._compute(cell, Inputs()) for cell in cells if cell["level"] == 0.5 and "tree" in cell["learner"]]
    assert found[0]["alpha"] == found[1]["alpha"]
    assert found[0]["beta, orders"] == found[1]["beta, orders"]
    assert figure_1._run(Results(list(zip(cells, found, strict=False)))) == ["shallow tree", "full tree"]


@pytest.mark.parametrize(("own", "informative"), [(False, 3), (True, 15)])
def test_scores_of_theorem_2_1_depend_on_r_features_each(own, informative):
    X, oracle = theorem_2_1._sparse(500, 30, 3, own, np.random.default_rng(0))
    scores = oracle.scores(X)
    weights = np.linalg.lstsq(np.column_stack([X, np.ones(len(X))]), scores, rcond=None)[0][:-1]
    assert ((np.abs(weights) > 1e-9).sum(axis=0) == 3).all()
    assert (np.abs(weights) > 1e-9).any(axis=1).sum() == informative


def test_rows_needed_are_those_from_which_on_the_target_is_kept():
    cell = {"smallest": 16, "largest": 64}  # 16, 23, 32, 45, 64
    found = [[9, 9, 0.1, 0, 0], [9, 0.1, 9, 0, 0], [0, 0, 0, 0, 0], [9, 9, 9, 9, 9]]
    needed = theorem_2_1._needed(Results([(cell, {"regret": regret}) for regret in found]))
    assert np.round(2**needed).tolist() == [32, 45, 16, 64]


@pytest.mark.parametrize("module", [tables, others])
def test_a_folder_without_benchmark_sets_is_an_error(module, tmp_path):
    (experiment,) = module.EXPERIMENTS
    with pytest.raises(FileNotFoundError, match=r"no benchmark set in .*: --data must name a folder .*csv\.gz"):
        run(experiment, "quick", Inputs(data=tmp_path))


def folds_of(name, method, taus, repeats=5):
    """Cells whose taus on orders are given, one for each repeat."""
    return [
        (
            {"set": name, "data": "as distributed", "method": method, "repeat": repeat, "fold": fold},
            {"positions": 0.9, "orders": taus[repeat % len(taus)]},
        )
        for repeat in range(repeats)
        for fold in range(2)
    ]


def test_what_was_not_run_says_why():
    results = Results([*folds_of("glass", "RF", [0.83]), *folds_of("glass", "DT", [0.8])])
    reasons = {row.quantity: row.reason for row in tables._compare(results) if row.verdict == "not run"}
    assert reasons["iris, RF, DT, DTS, RFT, DTT"] == "no file iris.csv.gz in the folder of data"
    assert reasons["glass, DTS, RFT, DTT"] == "not run"


@pytest.mark.parametrize(("tau", "verdict"), [(0.83, "agrees"), (0.85, "agrees"), (0.853, "differs"), (0.9, "differs")])
def test_tables_are_judged_by_the_published_spread(tau, verdict):
    # glass: .83 with a spread of .06 over 50 folds, so .005 + 2 * .06 / sqrt(50) = .022
    rows = tables._compare(Results(folds_of("glass", "RF", [tau - 0.001, tau + 0.001], repeats=4)))
    assert [row.verdict for row in rows if row.quantity == "glass, RF, tau on orders"] == [verdict]


def test_few_folds_are_too_small_to_judge():
    rows = tables._compare(Results(folds_of("glass", "RF", [0.78, 0.88], repeats=2)))
    assert next(row.verdict for row in rows if row.quantity == "glass, RF, tau on orders") == "too small to judge"


@pytest.mark.parametrize(
    ("deep", "shallow", "verdict", "fits"),
    [
        (0.81, 0.70, "agrees", "depth 15"),
        (0.70, 0.81, "agrees after a correction", "depth 5"),
        (0.805, 0.815, "agrees", "depth 15 and 5"),
        (0.70, 0.72, "differs", "neither depth"),
    ],
)
def test_shallow_trees_are_judged_by_what_they_have_more_than_full_ones(deep, shallow, verdict, fits):
    # authorship: DTS .81, DT .78
    depths = {"DTS of depth 15": deep, "DTS of depth 5": shallow}
    cells = folds_of("authorship", "DT", [0.78])
    for method, tau in depths.items():
        cells += folds_of("authorship", method, [tau])
    (row,) = [row for row in tables._compare(Results(cells)) if "DTS less DT" in row.quantity]
    assert row.verdict == verdict
    assert row.reason.endswith(f"fits {fits}")


def test_published_tables_have_a_spread_and_a_row_in_table_6_for_every_set():
    assert set(tables.PUBLISHED) == set(tables.SPREADS) == set(others.PUBLISHED)
    for name, taus in tables.PUBLISHED.items():
        assert len(taus) == len(tables.SPREADS[name]) == len(tables.COLUMNS)
        assert others.PUBLISHED[name][0] == tables._published(name, "RF")
        assert len(others.PUBLISHED[name]) == len(others.COLUMNS)
        assert max(tau or 0 for tau in others.PUBLISHED[name][2:]) == tables.BEST_OF_OTHERS[name]


@pytest.mark.parametrize(("tau", "holds"), [(0.99, True), (0.3, False)])
def test_rankers_that_reach_the_best_published_result_are_counted(tau, holds):
    cells = [{"set": "iris", "ranker": ranker, "repeat": 0, "fold": 0} for ranker in others.RANKERS]
    (claim,) = others._claims(Results([(cell, {"positions": tau}) for cell in cells]))
    assert claim.holds == holds


@pytest.mark.parametrize(("tau", "verdict"), [(0.99, "agrees"), (0.6, "differs")])
def test_verdicts_of_figure_1_follow_the_numbers(tau, verdict):
    cells = figure_1._cells("full", Inputs())
    values = {"alpha": 0.5, "beta, positions": 1.0, "beta, orders": 1.0}
    found = [(cell, values | {figure_1._tau(cell["learner"], kind): tau for kind in figure_1.KINDS}) for cell in cells]
    rows = figure_1._compare(Results(found))
    few = [row for row in rows if "ordinary" in row.quantity or row.quantity.startswith("LFN as described")]
    few = [row for row in few if "without noise" not in row.quantity]
    assert {row.verdict for row in few} == {"too small to judge"}  # two or five levels of noise
    forests = "SFN as described: honest forest, share"
    assert {row.verdict for row in rows if row.quantity.startswith(forests)} == {"too small to judge"}
    assert {row.verdict for row in rows if row not in few and forests not in row.quantity} == {verdict}
    assert all(row.reason for row in rows if row.verdict == "differs")
    holds = {claim.text: claim.holds for claim in figure_1._claims(Results(found))}
    assert {found for text, found in holds.items() if "ordinary forest" in text} == {None}
    close = [found for text, found in holds.items() if "honest forest has" in text]
    assert close == [verdict == "agrees"] * len(figure_1.KINDS)


@pytest.mark.parametrize(("regret", "verdict"), [(0.01, "agrees"), (0.6, "differs")])
def test_the_verdict_on_depth_follows_the_regret(regret, verdict):
    cells = theorem_2_1._cells("check", Inputs())
    rows = theorem_2_1._compare(Results([(cell, {"regret": [regret] * len(theorem_2_1.SIZES)}) for cell in cells]))
    assert [row.verdict for row in rows if row.published == "depth r is enough"] == [verdict]


def test_places_are_cut_with_the_given_probability():
    rng = np.random.default_rng(0)
    sizes = theorem_c_2.cut_with(0.25)(rng, np.zeros((20_000, 1)), 4)
    assert {sum(row) for row in sizes} == {4}
    assert np.mean([len(row) - 1 for row in sizes]) == pytest.approx(3 * 0.25, abs=0.02)
    assert theorem_c_2.cut_with(1.0)(rng, np.zeros((1, 1)), 3) == [[1, 1, 1]]


@pytest.mark.parametrize(("rate", "verdict"), [(-1.1, "agrees"), (-0.5, "differs")])
def test_the_verdict_on_forests_follows_the_rate(rate, verdict):
    cells = theorems_a_5_a_6._cells("quick", Inputs())
    noise = np.random.default_rng(0).normal(0, 0.01, len(cells))
    results = Results(
        [
            (
                cell,
                {"error": (cell["n"] ** rate) * np.exp(shift)}
                if cell["what"] == "scores"
                else {"regret": [1.0] * (cell["r"] + 1) + [0.0] * 4},
            )
            for cell, shift in zip(cells, noise, strict=True)
        ]
    )
    rows = theorems_a_5_a_6._compare(results)
    assert [row.verdict for row in rows if "squared error" in row.quantity] == [verdict, verdict]
    holds = {claim.text: claim.holds for claim in theorems_a_5_a_6._claims(results)}
    assert [found for text, found in holds.items() if "falls as 1 / n" in text] == [verdict == "agrees"]
    doublings = [row.ours for row in rows if "doublings" in row.quantity]
    assert doublings == pytest.approx([1.0, 1.0])


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
