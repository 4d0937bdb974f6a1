"""What the tests of several commands share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import write_survey


@pytest.fixture(scope="session")
def drinks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A survey with covariates, missing values, and a text column that is not a feature."""
    return write_survey(tmp_path_factory.mktemp("survey") / "drinks.csv")


@pytest.fixture(autouse=True)
def _silent_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether loops have to be compiled depends on what ran before, and so would a word about it."""
    monkeypatch.setattr("rankwise.cli.compiling._DELAY", 1e6)
