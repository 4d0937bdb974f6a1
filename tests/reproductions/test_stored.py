"""What is stored in the repository is whole, its claims hold, and the pages of the papers show its pictures."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from rankwise.reproductions import Inputs, Results, experiments
from rankwise.reproductions.experiment import key_of

ROOT = Path(__file__).parents[2]
STORED = sorted((ROOT / "reproductions").glob("*/*.json"))
SHOWN = sorted((ROOT / "docs" / "papers" / "pictures").glob("*.png"))
DATA = os.environ.get("RANKWISE_DATA")


@pytest.mark.parametrize("path", STORED, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_stored_results_are_whole_and_their_claims_hold(path):
    experiment = experiments()[f"{path.parent.name}/{path.stem}"]
    if "data" in experiment.needs and not DATA:
        pytest.skip("its cells may depend on data that are not here")
    record = json.loads(path.read_text("utf-8"))
    assert record["experiment"] == experiment.id
    inputs = Inputs(data=Path(DATA) if DATA else None)
    scales = {scale: experiment.cells(scale, inputs) for scale in ("full", "quick")}
    cells = next((cells for cells in scales.values() if {key_of(cell) for cell in cells} <= set(record["cells"])), None)
    assert cells, "neither the full nor the quick scale is complete: run it again with --out reproductions"
    results = Results([(cell, record["cells"][key_of(cell)]) for cell in cells])
    assert [claim for claim in experiment.claims(results) if not claim.holds] == []
    pictures = [f"{path.stem}-{name}.png" for name in experiment.pictures]
    assert [name for name in (f"{path.stem}.csv", *pictures) if not path.with_name(name).exists()] == []


@pytest.mark.parametrize("picture", SHOWN, ids=lambda picture: picture.name)
def test_pages_show_the_stored_pictures(picture):
    stored = (ROOT / "reproductions").glob("*/*.png")
    assert any(path.read_bytes() == picture.read_bytes() for path in stored), "copy it from reproductions/ again"
