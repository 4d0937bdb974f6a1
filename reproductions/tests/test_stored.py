"""What is stored in the repository is whole, its claims hold, and the pages of the papers show its pictures."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from rankwise_reproductions.catalog import experiments
from rankwise_reproductions.experiment import Inputs, Results, key_of
from rankwise_reproductions.outputs import store_of

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "reproductions" / "rankwise_reproductions"
STORED = sorted(RESULTS.glob("*/*.json"))
SHOWN = sorted((ROOT / "docs" / "papers" / "pictures").glob("*.png"))
DATA = os.environ.get("RANKWISE_DATA")


@pytest.mark.parametrize("path", STORED, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_stored_results_are_whole_and_their_claims_hold(path):
    experiment = {store_of(RESULTS, one): one for one in experiments().values()}[path]
    if "data" in experiment.needs and not DATA:
        pytest.skip("its cells may depend on data that are not here")
    record = json.loads(path.read_text("utf-8"))
    assert record["experiment"] == experiment.id
    inputs = Inputs(data=Path(DATA) if DATA else None)
    scales = {scale: experiment.cells(scale, inputs) for scale in ("full", "quick")}
    cells = next((cells for cells in scales.values() if {key_of(cell) for cell in cells} <= set(record["cells"])), None)
    assert cells, f"neither the full nor the quick scale is complete: run it again with --out {RESULTS}"
    results = Results([(cell, record["cells"][key_of(cell)]) for cell in cells])
    assert [claim for claim in experiment.claims(results) if not claim.holds] == []
    pictures = [f"{path.stem}_{name.replace('-', '_')}.png" for name in experiment.pictures]
    assert [name for name in (f"{path.stem}.csv", *pictures) if not path.with_name(name).exists()] == []


@pytest.mark.parametrize("picture", SHOWN, ids=lambda picture: picture.name)
def test_pages_show_the_stored_pictures(picture):
    same = [path for path in RESULTS.glob("*/*.png") if path.read_bytes() == picture.read_bytes()]
    assert same, f"copy it from {RESULTS} again"
