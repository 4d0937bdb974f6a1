"""Every experiment of the papers, small: its claims hold, so that a regression in any part of the library shows."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rankwise_reproductions.catalog import experiments
from rankwise_reproductions.experiment import Inputs, key_of
from rankwise_reproductions.outcome import Outcome
from rankwise_reproductions.outputs import write_outputs
from rankwise_reproductions.runner import run
from rankwise_reproductions.store import made

EXPERIMENTS = list(experiments().values())
DATA = os.environ.get("RANKWISE_DATA")
INPUTS = Inputs(data=Path(DATA) if DATA else None)


@pytest.mark.slow
@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=[one.id for one in EXPERIMENTS])
def test_claims_hold(experiment, tmp_path):
    missing = [name for name in experiment.needs if getattr(INPUTS, name) is None]
    if missing:
        pytest.skip(f"needs data that are not here: {', '.join(missing)}")
    results = run(experiment, "check", INPUTS)
    outcome = Outcome.of(experiment, "check", results, made())
    claims = experiment.claims(results)  # the outcome does not judge them
    assert claims
    assert [f"{claim.text}: {claim.evidence}" for claim in claims if claim.holds is False and not claim.known] == []
    assert [row for row in experiment.compare(results) if row.verdict == "differs" and not row.reason] == []
    write_outputs(tmp_path, outcome)  # pictures are drawn, and the page is written


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=[one.id for one in EXPERIMENTS])
def test_cells_of_every_scale_differ_and_are_few_when_few_are_asked_for(experiment):
    if experiment.needs:
        pytest.skip("its cells may depend on data")
    counts = []
    for scale in ("check", "quick", "full"):
        keys = [key_of(cell) for cell in experiment.cells(scale, Inputs())]
        assert len(set(keys)) == len(keys)
        counts.append(len(keys))
    assert 0 < counts[0] <= counts[1] <= counts[2]


def test_ids_name_a_paper_and_files_may_be_named_after_them():
    assert len({one.id for one in EXPERIMENTS}) == len(EXPERIMENTS)
    for one in EXPERIMENTS:
        paper, what = one.id.split("/")
        assert one.paper == paper
        assert all(name.replace("-", "").replace(".", "").isalnum() for name in (what, *one.pictures))
        assert one.about.strip()
