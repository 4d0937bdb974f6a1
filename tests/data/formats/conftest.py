"""What all tests of formats need."""

from __future__ import annotations

import pytest

from rankwise.cli import in_and_out


@pytest.fixture(autouse=True)
def no_command():
    """Commands that ran in this process before leave their options behind."""
    token = in_and_out._running.set(None)
    yield
    in_and_out._running.reset(token)
