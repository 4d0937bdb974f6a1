"""Trials that go wrong in every way, to show that `children` finds them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from tests.attack.children import FAILED, Outcome


def prepare(folder: Path) -> int:
    """Nothing has to be there."""
    return 0


def trials(folder: Path) -> Callable[[int], Outcome]:
    """Seed 1 aborts, 2 raises, 3 fails, 4 never ends; the others are good."""

    def trial(seed: int) -> Outcome:
        print("what a trial prints is no part of the report")
        if seed == 1:
            os.abort()
        if seed == 2:
            raise RuntimeError("not expected")
        if seed == 4:
            time.sleep(3600)
        return (FAILED, "in words") if seed == 3 else ("good", "")

    return trial
