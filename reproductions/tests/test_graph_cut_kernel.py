"""The plain algorithm that is timed gives our features; the sushi files are read as their description says."""

from __future__ import annotations

import numpy as np
import pytest

from rankwise.datasets import make_food_preferences
from rankwise.embeddings import GraphCutEmbedding, item_graph
from rankwise_reproductions.catalog import chosen
from rankwise_reproductions.experiment import Inputs, Results
from rankwise_reproductions.graph_cut_kernel.figure_5 import SUSHI_KINDS, _read_orders
from rankwise_reproductions.graph_cut_kernel.figure_6 import plain_features
from rankwise_reproductions.runner import run


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
    assert {row.verdict for row in experiment.compare(again)[:8]} <= {"agrees", "differs"}
    assert len(experiment.claims(results)) == 2
