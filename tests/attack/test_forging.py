"""A short run of what ``python -m tests.attack`` does for minutes."""

from __future__ import annotations

import pytest

from tests.attack.forging import attack, save_golden_models, save_models


def test_forged_models_are_refused_or_do_no_harm(tmp_path):
    save_golden_models(tmp_path)
    outcomes, failures = attack(tmp_path, 0, 150)
    assert not failures
    assert sum(outcomes.values()) == 150
    assert outcomes["refused"] > 75
    assert outcomes["used"] > 10


@pytest.mark.slow
def test_many_forged_models_of_all_classes_are_refused_or_do_no_harm(tmp_path):
    assert save_models(tmp_path) > 100
    outcomes, failures = attack(tmp_path, 10**6, 3000)
    assert not failures
    assert sum(outcomes.values()) == 3000
