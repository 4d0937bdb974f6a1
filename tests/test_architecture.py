"""Rules of the source tree: who imports whom, compiled files are islands, the package is light to import.

Each rule is a function from source text to a list of violations, so that a bad example shows it failing.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "rankwise"

# Who may import whom. Modules at the top of the package, which everybody may use, come first; CONTRIBUTING.md draws it.
_SHARED = {
    "_compiled",
    "_decode",
    "_features",
    "_memory",
    "_optional",
    "_progress",
    "_queries_jit",
    "_query_inputs",
    "_replacing",
    "_sklearn",
    "_state",
    "_table_files",
    "_tables",
    "_threads",
    "_typing",
    "_validation",
}
MAY_IMPORT = {
    **dict.fromkeys(_SHARED, _SHARED),
    "exceptions": set(),
    "queries": set(),
    "data": set(),
    "distances": {"data"},
    "metrics": {"data", "distances", "queries"},
    "aggregation": {"data", "distances"},
    "datasets": {"data", "aggregation", "metrics"},
    "embeddings": {"data", "aggregation"},
    "kernels": {"data", "distances", "embeddings"},
    "trees": {"data"},
    "label_ranking": {"data", "distances", "metrics", "aggregation", "embeddings", "trees"},
    "ltr": {"metrics", "queries", "trees"},
    "screening": set(),
    "model_selection": {"data", "metrics", "queries"},
    "persistence": {"data", "aggregation", "embeddings", "trees", "label_ranking", "ltr", "screening"},
    "plots": {"data", "aggregation", "kernels", "trees", "label_ranking", "ltr", "screening", "model_selection"},
    "analysis": {"data", "distances", "aggregation", "kernels", "label_ranking", "model_selection", "plots"},
}
MAY_IMPORT["studio"] = {"data", "datasets", "ltr", "model_selection", "persistence", "plots", "analysis"}
MAY_IMPORT |= {"cli": {*MAY_IMPORT} - _SHARED, "__main__": {"cli"}}
MAY_IMPORT = {name: others | _SHARED | {"exceptions"} for name, others in MAY_IMPORT.items()}
ENTRY_POINT_GROUPS = {"rankwise.commands"}
HEAVY = {"torch", "matplotlib", "pandas", "polars", "lightgbm", "sklearn", "numba", "scipy", "pyarrow", "highspy"}


def modules() -> dict[str, str]:
    return {path.relative_to(SOURCE).as_posix(): path.read_text("utf-8") for path in sorted(SOURCE.rglob("*.py"))}


def imported_modules(text: str) -> list[tuple[int, str]]:
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            # "from rankwise import data" imports rankwise.data
            names = [f"{module}.{alias.name}" for alias in node.names] if module == "rankwise" else [module]
            found += [(node.lineno, name) for name in names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            # a module named in text, for importlib
            is_module = re.fullmatch(r"rankwise(\.\w+)+", node.value) and node.value not in ENTRY_POINT_GROUPS
            found += [(node.lineno, node.value)] if is_module else []
    return found


def package_of(module: str) -> str:
    """The package that a module or a name under ``rankwise.`` belongs to."""
    name = module.split(".")[1]
    return {"Rankings": "data", "RankwiseFormatError": "exceptions", "__version__": "_typing"}.get(name, name)


def unexpected_imports(path: str, text: str) -> list[str]:
    own = path.split("/")[0].removesuffix(".py")
    if own == "__init__":
        return []
    if own not in MAY_IMPORT:
        return [f"{path}: {own} is not in MAY_IMPORT; say what it may import"]
    wrong = []
    for line, module in imported_modules(text):
        if module == "rankwise":
            wrong.append(f"{path}:{line} imports all of rankwise, so that its imports cannot be followed")
        elif module.startswith("."):
            wrong.append(f"{path}:{line} imports {module}; write absolute imports")
        elif module.startswith("rankwise."):
            other = package_of(module)
            if other != own and other not in MAY_IMPORT[own]:
                wrong.append(f"{path}:{line} imports {module}, but {own} may not import {other}")
    return wrong


def unused_permissions(sources: dict[str, str]) -> list[str]:
    """Packages that a package may import, by the drawing, and does not; the command line may import all."""
    unused = {(name, other) for name, others in MAY_IMPORT.items() for other in others - _SHARED - {"exceptions"}}
    for path, text in sources.items():
        names = [module for _, module in imported_modules(text) if module.startswith("rankwise.")]
        unused -= {(path.split("/")[0].removesuffix(".py"), package_of(module)) for module in names}
    return sorted(f"{name} may import {other}, and does not" for name, other in unused if name != "cli")


def drawn_graph(text: str) -> dict[str, set[str]]:
    """Who may import whom by the lines ``a, b -> c`` of CONTRIBUTING.md."""
    lines = re.findall(r"^(\w+(?:, \w+)*) -> (\w+)$", text, re.MULTILINE)
    return {name: set(others.split(", ")) for others, name in lines}


def packages_in_a_cycle(graph: dict[str, set[str]]) -> set[str]:
    """Take away whoever imports nobody that is left, again and again; what remains goes in a circle."""
    left = {name: others - {name} for name, others in graph.items()}
    while free := {name for name, others in left.items() if not others & left.keys()}:
        left = {name: others for name, others in left.items() if name not in free}
    return set(left)


def private_imports(path: str, text: str) -> list[str]:
    """Imports of a module or a name that begins with an underscore, out of another package."""
    own = path.split("/")[0].removesuffix(".py")
    wrong = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        for name in names:
            root, *parts = name.split(".")
            if root == "rankwise" and len(parts) > 1 and parts[0] != own:
                wrong += [f"{path}:{node.lineno} imports {name}"] * any(part.startswith("_") for part in parts[1:])
    return wrong


def broken_islands(path: str, text: str) -> list[str]:
    island = path.endswith("_jit.py")
    wrong = []
    for line, module in imported_modules(text):
        if (path, module) == ("cli/compiling.py", "rankwise._compiled"):
            continue  # it says when functions are compiled, and compiles none
        if island and module.startswith("rankwise") and module != "rankwise._compiled":
            wrong.append(f"{path}:{line} imports {module}; a compiled function calls only those of its own file")
        if (
            not island
            and path != "_compiled.py"
            and (module == "rankwise._compiled" or module.split(".")[0] == "numba")
        ):
            wrong.append(f"{path}:{line} imports {module}; compiled functions live in files that end in _jit.py")
    keywords = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.keyword)]
    for keyword in keywords:
        # Sums may be reordered where `_compiled` says so, but no test for NaN or infinity may be compiled away.
        values = {node.value for node in ast.walk(keyword.value) if isinstance(node, ast.Constant)}
        harmless = path == "_compiled.py" and not values & {True, "fast", "nnan", "ninf"}
        if keyword.arg == "parallel" or (keyword.arg == "fastmath" and not harmless):
            wrong.append(f"{path}:{keyword.value.lineno} sets {keyword.arg}")
    return wrong


def misplaced_modules(paths: list[str]) -> list[str]:
    """Folders deeper than two levels, and names that two modules share (each package may have a base)."""
    wrong = [f"{path} lies deeper than two levels" for path in paths if path.count("/") > 2]
    seen: dict[str, str] = {}
    for path in paths:
        name = path.rsplit("/", 1)[-1]
        if name in seen and name not in ("__init__.py", "base.py"):
            wrong.append(f"{path} has the name of {seen[name]}")
        seen[name] = path
    return wrong


def heavy_modules_loaded_by(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return HEAVY & set(run.stdout.split())


def test_packages_import_only_what_they_may():
    assert [wrong for path, text in modules().items() for wrong in unexpected_imports(path, text)] == []


def test_every_import_that_is_allowed_is_used():
    assert unused_permissions(modules()) == []
    assert "kernels may import distances, and does not" in unused_permissions({"kernels/gram.py": "import numpy"})


def test_contributing_draws_the_same_graph():
    drawn = drawn_graph((SOURCE.parents[1] / "CONTRIBUTING.md").read_text("utf-8"))
    plain = {name: others - _SHARED - {"exceptions"} for name, others in MAY_IMPORT.items()}
    assert drawn == {name: others for name, others in plain.items() if others and name not in ("cli", "__main__")}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("data/positions.py", "from rankwise.distances import kendall_distance"),
        ("data/positions.py", "def f():\n    import rankwise.metrics.retrieval"),
        ("metrics/agreement.py", "from rankwise import aggregation"),
        ("ltr/linear.py", "from rankwise.kernels import kendall_kernel"),
        ("distances/measures.py", "from . import matrix"),
        ("data/positions.py", "import rankwise"),
        ("data/positions.py", "import importlib\nimportlib.import_module('rankwise.metrics')"),
        ("strange/new.py", ""),
    ],
)
def test_the_import_rule_fails_on_bad_examples(path, text):
    assert unexpected_imports(path, text)


def test_no_packages_import_each_other():
    packages = {name: others - _SHARED for name, others in MAY_IMPORT.items() if name not in _SHARED}
    assert packages_in_a_cycle(packages) == set()
    assert packages_in_a_cycle({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}) == {"a", "b", "c"}


def test_an_underscore_means_of_this_package_only():
    assert [wrong for path, text in modules().items() for wrong in private_imports(path, text)] == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("label_ranking/forest.py", "from rankwise.trees._grow import code_features"),
        ("label_ranking/forest.py", "from rankwise.trees import _grow"),
        ("label_ranking/forest.py", "def f():\n    import rankwise.trees._grow"),
        ("kernels/gram.py", "from rankwise.distances.matrix import _blocks"),
    ],
)
def test_the_rule_of_underscores_fails_on_bad_examples(path, text):
    assert private_imports(path, text)


def test_compiled_files_are_islands():
    assert [wrong for path, text in modules().items() for wrong in broken_islands(path, text)] == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("metrics/retrieval_jit.py", "from rankwise.distances.distances_jit import pair_statistics"),
        ("metrics/retrieval.py", "from rankwise._compiled import compiled"),
        ("metrics/retrieval.py", "import numba"),
        ("metrics/retrieval_jit.py", "import numba\n@numba.njit(fastmath=True)\ndef f(): pass"),
        ("metrics/retrieval_jit.py", "import numba\n@numba.njit(parallel=True)\ndef f(): pass"),
        ("metrics/retrieval_jit.py", "import numba\n@numba.njit(fastmath={'nsz'})\ndef f(): pass"),
        ("_compiled.py", "import numba\nnumba.njit(fastmath=True)"),
        ("_compiled.py", "import numba\nnumba.njit(fastmath={'nsz', 'nnan'})"),
    ],
)
def test_the_island_rule_fails_on_bad_examples(path, text):
    assert broken_islands(path, text)


def test_the_house_is_flat_and_its_modules_have_names_of_their_own():
    assert misplaced_modules([*modules()]) == []
    assert misplaced_modules(["ltr/levels/growth/cuts.py"])
    assert misplaced_modules(["label_ranking/cluster.py", "ltr/cluster.py"])


def test_import_is_light():
    assert heavy_modules_loaded_by("import rankwise") == set()
    assert heavy_modules_loaded_by("import rankwise.cli") == set()
    assert heavy_modules_loaded_by("from rankwise import Rankings; Rankings([[1, 2]])") <= {"numba", "scipy"}


def test_the_rule_of_light_imports_fails_on_a_bad_example():
    assert heavy_modules_loaded_by("import rankwise, matplotlib") == {"matplotlib"}
