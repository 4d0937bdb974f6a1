"""The package as a plug-in: its command is light to import, its modules are named after their experiments."""

from __future__ import annotations

import ast
import os
import platform
import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

from rankwise_reproductions import catalog, use_common_kernels
from rankwise_reproductions.outputs import store_of

PACKAGE = Path(catalog.__file__).parent


def test_the_command_is_an_entry_point():
    (entry,) = entry_points(group="rankwise.commands", name="reproduce")
    assert entry.value == "rankwise_reproductions.cli:reproduce"


def test_help_imports_nothing_heavy():
    code = """
import sys
from rankwise.cli.app import app
for words in (["--help"], ["reproduce", "--help"]):
    try:
        app(words)
    except SystemExit as end:
        assert end.code == 0, words
print(*sys.modules, file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "the papers' figures" in done.stdout
    loaded = set(done.stderr.split())
    assert "rankwise_reproductions.cli" in loaded
    assert not loaded & {"numpy", "scipy", "sklearn", "matplotlib", "numba", "pandas", "jinja2"}


def test_every_processor_adds_up_alike(monkeypatch):
    monkeypatch.setenv("OPENBLAS_CORETYPE", "SkylakeX")
    use_common_kernels()
    assert os.environ["OPENBLAS_CORETYPE"] == "SkylakeX"
    monkeypatch.delenv("OPENBLAS_CORETYPE")
    use_common_kernels()
    is_known = platform.machine().lower() in ("x86_64", "amd64")
    assert os.environ.get("OPENBLAS_CORETYPE") == ("Haswell" if is_known else None)


def test_results_have_the_name_of_their_module():
    for module in catalog.MODULES:
        path = PACKAGE.joinpath(*module.split(".")).with_suffix(".py")
        ids = re.findall(r'^ +id="(.*)",$', path.read_text("utf-8"), re.MULTILINE)
        stores = [store_of(PACKAGE, one) for one in catalog.experiments().values() if one.id in ids]
        assert stores == [path.with_suffix(".json")]


def private_imports(text: str) -> list[str]:
    """Modules of rankwise that are its own business."""
    nodes = list(ast.walk(ast.parse(text)))
    found = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    found += [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    return [name for name in found if name.startswith("rankwise.") and "._" in name]


def test_private_modules_of_rankwise_are_not_imported():
    assert private_imports("from rankwise.plots._style import tidy") == ["rankwise.plots._style"]
    assert private_imports("import rankwise._typing") == ["rankwise._typing"]
    assert private_imports("from rankwise.plots import _ as name\nfrom rankwise_reproductions._x import y") == []
    found = {path: private_imports(path.read_text("utf-8")) for path in PACKAGE.rglob("*.py")}
    assert [(str(path), names) for path, names in found.items() if names] == []


def test_experiments_do_not_ask_what_is_installed():
    """Cells are the same everywhere; the runner leaves those out whose package is missing."""
    texts = {path: path.read_text("utf-8") for path in PACKAGE.glob("*/*.py")}
    assert len(texts) > 20
    assert [path.name for path, text in texts.items() if "find_spec" in text or "importlib.metadata" in text] == []
