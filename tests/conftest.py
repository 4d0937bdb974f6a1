"""Settings for all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Compilation makes the first example slow, so deadlines would fail at random.
settings.register_profile("rankwise", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("rankwise")

os.environ.setdefault("MPLBACKEND", "Agg")
# Tests run beside each other, so threads of PyTorch and of linear algebra would only wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(scope="session")
def benchmark_data() -> Path:
    """The folder with benchmark data; tests that need it skip without it."""
    folder = os.environ.get("RANKWISE_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("RANKWISE_DATA does not name a folder with benchmark data")
    return Path(folder)
