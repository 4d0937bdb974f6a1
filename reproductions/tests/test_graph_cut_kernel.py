"""The plain algorithm that is timed gives our features; the sushi files are read as their description says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rankwise.datasets import make_food_preferences
from rankwise.embeddings import GraphCutEmbedding, item_graph
from rankwise_reproductions.catalog import chosen
from rankwise_reproductions.experiment import Inputs, Results
from rankwise_reproductions.graph_cut_kernel.common import covariance, failed, failed_fits, scores, sound
from rankwise_reproductions.graph_cut_kernel.figure_4_published import as_published
from rankwise_reproductions.graph_cut_kernel.figure_5 import SUSHI_KINDS, _read_orders
from rankwise_reproductions.graph_cut_kernel.figure_6 import plain_features
from rankwise_reproductions.outputs import store_of
from rankwise_reproductions.runner import run
from rankwise_reproductions.store import complete_scale


@pytest.mark.parametrize(("kind", "length"), [("full", None), ("top-k", 3), ("exhaustive", 4), ("non-exhaustive", 5)])
def test_the_plain_algorithm_gives_our_features(kind, length):
    rankings, _, bunch = make_food_preferences(4, kind=kind, length=length, random_state=0)
    graph = item_graph(bunch.item_features, "rbf")
    plain = [plain_features(graph, row) for row in rankings.positions]
    np.testing.assert_allclose(plain, GraphCutEmbedding(graph).fit_transform(rankings), atol=1e-12)


@pytest.fixture
def sushi(tmp_path):
    """Files in the form of the sushi data, of 80 made-up users."""
    rng = np.random.default_rng(0)
    users = np.zeros((80, 11), dtype=int)
    users[:, 8] = rng.integers(0, 12, 80)
    np.savetxt(tmp_path / "sushi3.udata", users, fmt="%d", delimiter="\t")
    items = "\n".join("\t".join([str(i), "name", *(f"{v:.3f}" for v in rng.uniform(0.1, 1, 7))]) for i in range(100))
    (tmp_path / "sushi3.idata").write_text(items + "\n")
    for name, n_items in (("a", 10), ("b", 100)):
        rows = ["10 1", *("0 10 " + " ".join(map(str, rng.permutation(n_items)[:10])) for _ in range(80))]
        (tmp_path / f"sushi3{name}.5000.10.order").write_text("\n".join(rows) + "\n")
    return tmp_path


def test_orders_become_positions(tmp_path):
    path = tmp_path / "orders"
    path.write_text("4 1\n0 2 3 1\n0 2 0 2\n")
    np.testing.assert_array_equal(_read_orders(path, 4), [[np.nan, 2, np.nan, 1], [1, np.nan, 2, np.nan]])


@pytest.mark.slow
def test_the_sushi_experiment_runs_on_files_of_that_form(sushi):
    (experiment,) = chosen("graph-cut-kernel/figure-5")
    results = run(experiment, "check", Inputs(sushi=sushi))
    assert results.settings("rankings") == list(SUSHI_KINDS)
    scores = results.values("accuracy")
    assert ((scores >= 0) & (scores <= 1)).all()
    rows = experiment.compare(results)
    assert len(rows) == 20
    # One seed says nothing of differences, nor of deviations; two say something.
    assert [row.verdict for row in rows[:8]] == ["not compared"] * 8
    again = Results([*results, *(({**cell, "seed": 0}, {**found, "f1": found["f1"] / 2}) for cell, found in results)])
    assert {row.verdict for row in experiment.compare(again)[:8]} <= {"agrees", "differs", "too small to judge"}
    assert len(experiment.claims(results)) == 6
    (printed,) = chosen("graph-cut-kernel/printed-features")
    features = run(printed, "full", Inputs(sushi=sushi)).values("features")
    assert features.shape == (2, 3)
    # sushi 5 is the worst of the example, sushi 8 the next, and sushi 3 the third
    assert (features[:, 0] <= features[:, 2]).all()
    assert (features[:, 2] <= features[:, 1]).all()


def test_what_the_published_code_shows_of_a_ranking():
    full, _, _ = make_food_preferences(60, random_state=0)
    groups, some = (as_published(full, kind, 4).positions for kind in ("exhaustive", "non-exhaustive"))
    assert {len(set(row)) for row in groups} == {5, 6}
    assert {int((~np.isnan(row)).sum()) for row in some} == {3, 4, 5, 6}
    for seen, whole in ((groups, full.positions), (some, full.positions)):
        for row, other in zip(seen, whole, strict=True):
            pairs = [(i, j) for i in range(8) for j in range(8) if row[i] < row[j]]
            assert all(other[i] < other[j] for i, j in pairs)


def test_a_fit_that_puts_all_users_into_one_class_is_named():
    rankings, user_type, bunch = make_food_preferences(60, sigma=0.1, random_state=0)
    graph = item_graph(bunch.item_features)
    good = scores("graph cut", rankings, user_type == 2, graph, 4)
    assert (good["failed"], good["starts"]) == (False, 1)
    noise = np.random.default_rng(1).random(60) < 0.3
    bad = scores("Kendall", rankings, noise, graph, 4)
    assert (bad["failed"], bad["starts"], bad["f1"]) == (True, 4, 0)
    results = Results([({"seed": 1}, good), ({"seed": 2}, bad), ({"seed": 3}, {"f1": 0.0}), ({"seed": 4}, {"f1": 0.5})])
    assert [failed(values) for _, values in results] == [False, True, True, False]
    assert len(sound(results)) == 2
    assert failed_fits(results) == ["seed 2", "seed 3"]


def test_every_kernel_has_a_variance_and_a_constant():
    graph = item_graph(np.random.default_rng(0).random((5, 2)))
    for kernel in ("graph cut", "Kendall", "Mallows", "Mallows, 4 completions"):
        assert len(covariance(kernel, 5, graph).theta) == (3 if "Mallows" in kernel else 2)


def test_stored_cells_count_without_the_data_they_were_computed_from(tmp_path):
    (experiment,) = chosen("graph-cut-kernel/printed-features")
    with pytest.raises(FileNotFoundError, match=r"printed-features needs data .* with --sushi"):
        run(experiment, "full", Inputs(), tmp_path / "none.json")
    store = store_of(Path(__file__).parents[1] / "rankwise_reproductions", experiment)
    assert complete_scale(store, experiment, Inputs()) is not None
    np.testing.assert_allclose(run(experiment, "full", Inputs(), store).values("features")[0], [-4.224, -2.366, -2.366])
