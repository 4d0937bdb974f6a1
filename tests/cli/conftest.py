"""What the tests of several commands share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import write_survey


@pytest.fixture(scope="session")
def drinks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A survey with covariates, missing values, and a text column that is not a feature."""
    return write_survey(tmp_path_factory.mktemp("survey") / "drinks.csv")
