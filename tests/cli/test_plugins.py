"""Commands that other distributions add: they appear, fail alone, and are asked for when they are missing."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from tests.cli.running import problem, run


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Install commands, each the function ``command`` of a module with the given text."""

    def install(**texts: str) -> None:
        for name, text in texts.items():
            (tmp_path / f"plugin_{name}.py").write_text(text)
        entries = [EntryPoint(name, f"plugin_{name}:command", "rankwise.commands") for name in texts]
        monkeypatch.setattr("importlib.metadata.entry_points", EntryPoints(entries).select)

    monkeypatch.syspath_prepend(str(tmp_path))
    yield install
    for name in [name for name in sys.modules if name.startswith("plugin_")]:
        del sys.modules[name]


GREET = '''
def command(name: str, loud: bool = False) -> None:
    """Greet somebody."""
    if name == "nobody":
        raise ValueError("nobody cannot be greeted")
    print(f"Hello {name}" + "!" * loud)
'''


def test_a_command_of_another_distribution_is_one_of_ours(plugins) -> None:
    plugins(greet=GREET)
    assert "Greet somebody." in run("--help").stdout
    assert run("greet", "Ada", "--loud").stdout == "Hello Ada!\n"
    assert problem("greet", "nobody") == "rankwise: nobody cannot be greeted\n"
    assert "No such option: --wrong; see rankwise greet --help" in problem("greet", "--wrong", code=2)


def test_our_commands_do_not_look_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def searched(**wanted: str) -> None:
        raise AssertionError

    monkeypatch.setattr("importlib.metadata.entry_points", searched)
    assert run("describe", "--help").exit_code == 0


def test_our_commands_cannot_be_replaced(plugins) -> None:
    plugins(describe=GREET)
    assert "Greet somebody." not in run("--help").stdout
    assert "Greet somebody." not in run("describe", "--help").stdout


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("import nowhere_to_be_found", "ModuleNotFoundError: No module named 'nowhere_to_be_found'"),
        ("other = 1", "AttributeError"),
        ("raise RuntimeError('of an older version')", "RuntimeError: of an older version"),
        ("command = 3", "TypeError"),
    ],
)
def test_a_broken_command_leaves_the_others_alone(plugins, text: str, why: str) -> None:
    plugins(broken=text, greet=GREET)
    shown = run("--help")
    assert shown.exit_code == 0
    assert "Greet somebody." in shown.stdout
    assert " broken " in shown.stdout
    assert run("greet", "Ada").stdout == "Hello Ada\n"
    words = problem("broken", "one", "--two", "three")
    assert words.startswith("rankwise: broken cannot be loaded: plugin_broken:command: ")
    assert why in words


def test_without_its_distribution_reproduce_says_how_to_get_it(plugins) -> None:
    plugins()
    words = problem("reproduce", "tree-ranking", "--quick", "--jobs", "2")
    assert (
        "reproduce is not installed: pip install rankwise-reproductions, or pip install ./reproductions in a checkout"
        in words
    )
    assert "reproduce" not in run("--help").stdout
    assert "No such command 'replace'" in problem("replace", code=2)


def test_commands_are_found_where_distributions_are_installed(tmp_path: Path) -> None:
    (tmp_path / "greeting.py").write_text(GREET)
    metadata = tmp_path / "greeting-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: greeting\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[rankwise.commands]\ngreet = greeting:command\n")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-W", "error", "-m", "rankwise", "greet", "Ada"]
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=True)
    assert done.stdout == "Hello Ada\n"
