"""A short run of every attack; ``python -m tests.attack`` goes on for minutes."""

from __future__ import annotations

import re
from collections import Counter
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from tests.attack import ATTACKS, arguments, children, forging
from tests.attack.children import DIED, FAILED, attack
from tests.attack.table import PAGE, page_with_table

#: trials in the default run and in the slow one
TRIALS = {
    "forging": (150, 2000),
    "files": (500, 4000),
    "arguments": (200, 400),
    "writers": (10, 40),
    "processes": (6, 12),
    "names": (1, 2),
}


def check(name: str, folder: Path, seed: int, count: int) -> Counter[str]:
    found = attack(name, folder, seed, count)
    assert found.failures == []
    assert found.trials == count
    return found.outcomes


def test_every_module_here_is_an_attack_that_is_tried():
    sources = {path.stem: path.read_text("utf-8") for path in Path(__file__).parent.glob("*.py")}
    here = {name for name, source in sources.items() if "\ndef trials(folder: Path)" in source}
    assert here - {"mistakes"} == set(ATTACKS) == set(TRIALS)


@pytest.mark.parametrize("name", ATTACKS)
def test_a_few_attacks_do_no_harm(name, tmp_path):
    prepare = forging.prepare_golden if name == "forging" else import_module(f"tests.attack.{name}").prepare
    assert prepare(tmp_path) > 0
    outcomes = check(name, tmp_path, 0, TRIALS[name][0])
    assert len(outcomes) > 1 or name == "names"  # not all are refused


@pytest.mark.slow
@pytest.mark.parametrize("name", ATTACKS)
def test_many_attacks_do_no_harm(name, tmp_path):
    assert import_module(f"tests.attack.{name}").prepare(tmp_path) > 0
    check(name, tmp_path, 10**6, TRIALS[name][1])


def test_what_dies_hangs_or_fails_is_found_and_the_rest_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(children, "_PATIENCE", 6.0)
    found = attack("mistakes", tmp_path, 0, 7)
    assert found.outcomes == {"good": 3, DIED: 3, FAILED: 1}
    aborted, raised, failed, hung = found.failures
    assert aborted.startswith("mistakes, seed 1: the process ended with -6: Fatal Python error: Aborted")
    assert "RuntimeError: not expected" in raised
    assert failed == "mistakes, seed 3: in words"
    assert re.match(r"mistakes, seed 4: no end after \d s of work", hung)


def test_an_unexpected_error_of_a_call_is_a_failure():
    def careless(X):
        return X[0]["a"]

    rng = np.random.default_rng(0)
    with pytest.raises(arguments.UnexpectedError, match=r"careless\(X=.*raises IndexError"):
        arguments.call("careless", careless, rng, 0.0)


def test_new_public_names_are_attacked(monkeypatch):
    from rankwise import metrics

    monkeypatch.setattr(metrics, "__all__", [*metrics.__all__, "new"])
    monkeypatch.setattr(metrics, "new", lambda y: y, raising=False)
    assert any(name.endswith(".new") for name in arguments.public_callables())


def test_the_documentation_shows_the_stored_counts():
    page = PAGE.read_text("utf-8")
    assert page_with_table(page) == page
    assert all(f"| `{name}`, seed" in page for name in ATTACKS)
