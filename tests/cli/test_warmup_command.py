"""``rankwise warmup`` reaches every compiled function."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import pytest

import rankwise
from rankwise.cli.warmup_command import STEPS, compiled_functions

WHOLE_COMMAND = "from rankwise.cli.app import app; assert not app(['warmup', '--json'], standalone_mode=False)"
ONE_STEP = "from rankwise.cli.warmup_command import STEPS; STEPS['agreement'](); print('{}')"
UNREACHED = """
import sys
from rankwise.cli.warmup_command import compiled_functions

print(*(name for name, function in compiled_functions() if not function.signatures), file=sys.stderr)
"""


def said_and_unreached(code: str, cache: Path) -> tuple[dict[str, Any], list[str]]:
    """The JSON that code prints, and the functions that are not compiled when it is done."""
    # An empty cache: a function that is loaded from the cache does not load the functions that it calls.
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "NUMBA_DISABLE_JIT": "0"}
    command = [sys.executable, "-c", code + UNREACHED]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout), done.stderr.split()


@pytest.mark.slow
def test_the_command_reaches_every_compiled_function(tmp_path: Path) -> None:
    said, unreached = said_and_unreached(WHOLE_COMMAND, tmp_path)
    assert unreached == []
    assert said["steps"] == list(STEPS)
    assert "rankwise.data.pairs_jit.list_pairs" in said["compiled"]
    assert said["kept"]
    assert list(tmp_path.rglob("*.nbi"))


@pytest.mark.slow
def test_the_check_finds_a_function_that_is_not_reached(tmp_path: Path) -> None:
    assert "rankwise.data.pairs_jit.list_pairs" in said_and_unreached(ONE_STEP, tmp_path)[1]


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_every_file_of_compiled_functions_is_known() -> None:
    files = Path(rankwise.__file__).parent.rglob("*_jit.py")
    assert {tuple(name.split(".")[-3:-1]) for name, _ in compiled_functions()} == {
        (file.parent.name, file.stem) for file in files
    }


CACHE_PROBLEM = "from rankwise.cli.warmup_command import cache_problem; print(cache_problem())"


def cache_problem(**environment: str) -> str:
    command = [sys.executable, "-c", CACHE_PROBLEM]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_cache_that_can_be_written_is_fine(tmp_path: Path) -> None:
    assert cache_problem(NUMBA_CACHE_DIR=str(tmp_path), NUMBA_DISABLE_JIT="0") == ""


def test_nothing_can_be_kept_without_a_folder_to_write_to(tmp_path: Path) -> None:
    # Files where folders should be stop even the superuser, who may write to every folder.
    package = tmp_path / "rankwise"
    shutil.copytree(Path(rankwise.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in {file.parent for file in package.rglob("*_jit.py")}:
        (folder / "__pycache__").touch()
    nowhere = str(package / "__init__.py" / "nowhere")
    folders = {"NUMBA_CACHE_DIR": nowhere, "HOME": nowhere, "XDG_CACHE_HOME": nowhere, "PYTHONPATH": str(tmp_path)}
    words = cache_problem(**folders, PYTHONDONTWRITEBYTECODE="1", NUMBA_DISABLE_JIT="0")
    assert "cannot be kept" in words
    assert "NUMBA_CACHE_DIR" in words


def test_nothing_is_compiled_where_that_is_turned_off() -> None:
    assert "NUMBA_DISABLE_JIT" in cache_problem(NUMBA_DISABLE_JIT="1")
