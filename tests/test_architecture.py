"""Rules of the source tree: imports point one way, kernels are islands, the package is light to import.

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

# A package may import packages of earlier steps only; packages of one step do not know each other.
STEPS = [
    {"_html", "_typing", "_numba", "_optional", "exceptions"},
    {"_arguments", "_progress", "_random", "_sklearn"},
    {"data"},
    {"distances"},
    {"metrics"},
    {"aggregation"},
    {"datasets"},
    {"embeddings"},
    {"trees"},
    {"base"},
    {"label_ranking", "ltr", "kernels", "screening"},
    {"model_selection"},
    {"persistence"},
    {"plots"},
    {"cli"},
    {"__main__"},
]
STEP_OF = {name: number for number, step in enumerate(STEPS) for name in step}
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


def imports_against_the_stream(path: str, text: str) -> list[str]:
    own = path.split("/")[0].removesuffix(".py")
    if own == "__init__":
        return []
    if own not in STEP_OF:
        return [f"{path}: {own} has no step; add it to STEPS"]
    wrong = []
    for line, module in imported_modules(text):
        if module == "rankwise":
            wrong.append(f"{path}:{line} imports all of rankwise, so that its imports cannot be followed")
        elif module.startswith("."):
            wrong.append(f"{path}:{line} imports {module}; write absolute imports")
        elif module.startswith("rankwise."):
            other = module.split(".")[1]
            public = {"Rankings": "data", "RankwiseFormatError": "exceptions", "__version__": "_typing"}
            other = public.get(other, other)
            if other != own and STEP_OF.get(other, 99) >= STEP_OF[own]:
                wrong.append(f"{path}:{line} imports {module}, which comes later")
    return wrong


def broken_islands(path: str, text: str) -> list[str]:
    island = path.endswith("/_jit.py")
    wrong = []
    for line, module in imported_modules(text):
        if island and module.startswith("rankwise") and module != "rankwise._numba":
            wrong.append(f"{path}:{line} imports {module}; a kernel calls only kernels of its own file")
        if not island and path != "_numba.py" and (module == "rankwise._numba" or module.split(".")[0] == "numba"):
            wrong.append(f"{path}:{line} imports {module}; kernels live in _jit.py files")
    keywords = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.keyword)]
    for keyword in keywords:
        # Sums may be reordered where `_numba` says so, but no test for NaN or infinity may be compiled away.
        values = {node.value for node in ast.walk(keyword.value) if isinstance(node, ast.Constant)}
        harmless = path == "_numba.py" and not values & {True, "fast", "nnan", "ninf"}
        if keyword.arg == "parallel" or (keyword.arg == "fastmath" and not harmless):
            wrong.append(f"{path}:{keyword.value.lineno} sets {keyword.arg}")
    return wrong


def heavy_modules_loaded_by(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return HEAVY & set(run.stdout.split())


def test_imports_point_one_way():
    assert [wrong for path, text in modules().items() for wrong in imports_against_the_stream(path, text)] == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("data/positions.py", "from rankwise.distances import kendall_distance"),
        ("data/positions.py", "def f():\n    import rankwise.metrics.retrieval"),
        ("metrics/agreement.py", "from rankwise import aggregation"),
        ("ltr/losses.py", "from rankwise.kernels import kendall_kernel"),
        ("distances/rows.py", "from . import _jit"),
        ("data/positions.py", "import rankwise"),
        ("data/positions.py", "import importlib\nimportlib.import_module('rankwise.metrics')"),
        ("strange/new.py", ""),
    ],
)
def test_the_import_rule_fails_on_bad_examples(path, text):
    assert imports_against_the_stream(path, text)


def test_kernels_are_islands():
    assert [wrong for path, text in modules().items() for wrong in broken_islands(path, text)] == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("metrics/_jit.py", "from rankwise.distances._jit import pair_statistics"),
        ("metrics/retrieval.py", "from rankwise._numba import kernel"),
        ("metrics/retrieval.py", "import numba"),
        ("metrics/_jit.py", "import numba\n@numba.njit(fastmath=True)\ndef f(): pass"),
        ("metrics/_jit.py", "import numba\n@numba.njit(parallel=True)\ndef f(): pass"),
        ("metrics/_jit.py", "import numba\n@numba.njit(fastmath={'nsz'})\ndef f(): pass"),
        ("_numba.py", "import numba\nnumba.njit(fastmath=True)"),
        ("_numba.py", "import numba\nnumba.njit(fastmath={'nsz', 'nnan'})"),
    ],
)
def test_the_island_rule_fails_on_bad_examples(path, text):
    assert broken_islands(path, text)


def test_import_is_light():
    assert heavy_modules_loaded_by("import rankwise") == set()
    assert heavy_modules_loaded_by("import rankwise.cli") == set()
    assert heavy_modules_loaded_by("from rankwise import Rankings; Rankings([[1, 2]])") <= {"numba", "scipy"}


def test_the_rule_of_light_imports_fails_on_a_bad_example():
    assert heavy_modules_loaded_by("import rankwise, matplotlib") == {"matplotlib"}
