"""The studio on a machine without a network: in a name space of its own, where only the loopback answers."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from tests.studio.browser import missing

_ALONE = ["unshare", "--net", "--map-root-user"]


def _cannot() -> str:
    """Why no such name space can be made here; empty if it can."""
    if missing():
        return missing()
    if not sys.platform.startswith("linux") or shutil.which("unshare") is None or shutil.which("ip") is None:
        return "name spaces need Linux with unshare and ip"
    tried = subprocess.run([*_ALONE, "ip", "link", "set", "lo", "up"], capture_output=True, check=False)
    return "" if tried.returncode == 0 else "this user may not make name spaces"


@pytest.mark.slow
@pytest.mark.skipif(bool(_cannot()), reason=_cannot() or "unused")
def test_a_journey_needs_nothing_beyond_the_loopback() -> None:
    test = "tests/studio/test_journeys.py::test_a_cell_shows_the_numbers_and_who_says_so"
    pytest_there = f"{sys.executable} -m pytest -n0 -q -p no:cacheprovider -m slow {test}"
    script = f'ip link set lo up && test -z "$(ip route show)" && {pytest_there}'
    done = subprocess.run([*_ALONE, "sh", "-c", script], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.lstrip().startswith(".")  # passed, not skipped
