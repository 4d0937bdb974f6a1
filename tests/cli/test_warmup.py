"""``rankwise warmup`` reaches every kernel."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from rankwise.cli.warmup import STEPS

UNREACHED_KERNELS = """
import importlib, pkgutil, sys
import numba.core.dispatcher
import rankwise
from rankwise.cli.warmup import STEPS

for name in sys.argv[1:]:
    STEPS[name]()
for module in pkgutil.walk_packages(rankwise.__path__, "rankwise."):
    if module.name.endswith("._jit"):
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, numba.core.dispatcher.Dispatcher) and not value.signatures:
                print(f"{module.name}.{name}")
"""


def unreached_kernels(cache: Path, steps: Iterable[str]) -> list[str]:
    # An empty cache: a kernel that is loaded from the cache does not load the kernels that it calls.
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "NUMBA_DISABLE_JIT": "0"}
    command = [sys.executable, "-c", UNREACHED_KERNELS, *steps]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.slow
def test_every_kernel_is_reached(tmp_path: Path) -> None:
    assert unreached_kernels(tmp_path, STEPS) == []


@pytest.mark.slow
def test_the_check_finds_a_kernel_that_is_not_reached(tmp_path: Path) -> None:
    assert "rankwise.data._jit.list_pairs" in unreached_kernels(tmp_path, ["samplers"])
