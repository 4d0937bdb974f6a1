"""Forged models: saved ones in which parts were changed, with checksums that are right.

Each seed is one forgery. They are loaded and used in child processes, as a forgery that gets past the checks might end
the process. `attack` starts children on ranges of seeds, and starts another one where one dies or hangs, so nothing is
lost but the seed that did it. What may come of a forgery: `rankwise.load` refuses it (RankwiseFormatError); or it is
used, and says something or raises a ValueError or a TypeError. Everything else is a failure.
"""

from __future__ import annotations

import copy
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import rankwise
from rankwise import RankwiseFormatError
from rankwise.persistence.container import DTYPES, write_container
from tests.persistence.damage import pieces
from tests.persistence.make_golden import GOLDEN

# Bytes of memory that a child may use, and seconds that it may take for one forgery.
_MEMORY = 6 * 2**30
_PATIENCE = 60.0
_FLOATS = [0.0, -1.0, 0.5, 2.0, 1e-300, 1e308, -1e308, np.nan, np.inf, -np.inf, 2.0**31, 2.0**63]
_VALUES: list[Any] = [0, -1, 1, 2, 3, 7, 10**6, 2**31, 2**63, 10**400, 0.5, -0.5, 1e308, None, True, False, "x", [], {}]
_VALUES += [{"tuple": []}, {"dict": []}, {"array": 0}, {"array": 1}, {"object": 0}, {"object": 1}]
_VALUES += [{"float": "nan"}, {"float": "inf"}, {"float": "-inf"}]
# As many references as this to one thing.
_REPEATED = 50


def save_models(folder: Path) -> int:
    """Save fitted estimators of every class that can be saved; their number."""
    from tests.persistence.fitted import fitted_label_rankers, fitted_others

    cases = [*fitted_label_rankers("full"), *fitted_label_rankers("incomplete"), *fitted_others()]
    for number, (estimator, _) in enumerate(cases):
        rankwise.save(estimator, folder / f"{number:03d}.rankwise")
    return len(cases) + save_golden_models(folder)


def save_golden_models(folder: Path) -> int:
    """Copy the latest golden file of each kind, as this version saves it; no time is spent to fit anything."""
    latest = {path.stem.partition("-")[2]: path for path in sorted(GOLDEN.glob("*.rankwise"))}
    latest.pop("neural")  # needs PyTorch
    for kind, path in latest.items():
        rankwise.save(rankwise.load(path), folder / f"{kind}.rankwise")
    return len(latest) + _save_sparse_graph(folder)


def _save_sparse_graph(folder: Path) -> int:
    from scipy.sparse import csr_array

    from rankwise.embeddings import GraphCutEmbedding

    graph = csr_array(np.diag(np.ones(4), 1) + np.diag(np.ones(4), -1))
    y = np.array([[1, 2, 3, 4, 5], [5, 4, 3, 2, 1]])
    rankwise.save(GraphCutEmbedding(graph, random_state=0).fit(y), folder / "sparse.rankwise")
    return 1


def attack(folder: Path, seed: int, count: int, *, end: float = np.inf) -> tuple[Counter[str], list[str]]:
    """Outcomes of the forgeries of so many seeds, and those that must not be, in words."""
    outcomes: Counter[str] = Counter()
    failures: list[str] = []
    last = seed + count
    while seed < last and time.monotonic() < end:
        found, seed, ending = _child(folder, seed, last, end)
        for outcome, said in found:
            outcomes[outcome] += 1
            if outcome == "failed":
                failures.append(said)
        if ending:
            outcomes["died"] += 1
            failures.append(f"seed {seed}: {ending}")
            seed += 1
    return outcomes, failures


def _child(folder: Path, seed: int, last: int, end: float) -> tuple[list[list[str]], int, str]:
    """What a child found, the seed after its last one, and how it ended if it died."""
    with tempfile.TemporaryFile("w+") as report:
        command = [sys.executable, "-X", "faulthandler", "-W", "ignore", "-m", "tests.attack.forging"]
        work = subprocess.Popen(
            [*command, str(folder), str(seed), str(last)],
            stdout=report,
            stderr=subprocess.PIPE if os.environ.get("ATTACK_STDERR") is None else None,
            env={**os.environ, "OMP_NUM_THREADS": "1", "MALLOC_CHECK_": "3", "MALLOC_PERTURB_": "165"},
        )
        size, since, stopped = 0, time.monotonic(), ""
        while work.poll() is None:
            try:
                work.wait(0.2)
            except subprocess.TimeoutExpired:
                now = os.fstat(report.fileno()).st_size
                size, since = (now, time.monotonic()) if now > size else (size, since)
                if time.monotonic() > end or time.monotonic() - since > _PATIENCE:
                    stopped = "" if time.monotonic() > end else f"no end after {_PATIENCE:.0f} s"
                    work.kill()
                    work.wait()
                    break
        report.seek(0)
        found = [json.loads(line) for line in report if line.endswith("\n")]
        if work.stderr is not None:
            tail = work.stderr.read().decode(errors="replace")[:1500]
            work.stderr.close()
    seed += len(found)
    if seed < last and not stopped and time.monotonic() < end:
        stopped = f"the process ended with {work.returncode}: {tail if 'tail' in locals() else ''}"
    return found, seed, stopped


def _main(folder: str, first: str, last: str) -> None:
    """Load and use forgeries; a line of the report for each."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    warnings.simplefilter("ignore")
    models = [(path.stem, *pieces(path)) for path in sorted(Path(folder).glob("*.rankwise"))]
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "forged.rankwise"
        for seed in range(int(first), int(last)):
            rng = np.random.default_rng(seed)
            name, manifest, arrays = models[rng.integers(len(models))]
            changes = _forge(path, manifest, arrays, rng)
            outcome, said = _outcome(path, _rows(manifest))
            print(json.dumps([outcome, f"seed {seed}, {name}: {'; '.join(changes)}: {said}"]), flush=True)


def _rows(manifest: dict[str, Any]) -> np.ndarray:
    """Rows to use the model on: as many features as the model had before it was forged."""
    state = manifest["objects"][-1]["state"]
    width = state.get("n_features_in_", len(state.get("items_", {"tuple": [0] * 3}).get("tuple", [])))
    width = width["scalar"][1] if isinstance(width, dict) else width
    return np.random.default_rng(0).normal(size=(7, width))


def _outcome(path: Path, X: np.ndarray) -> tuple[str, str]:
    try:
        model = rankwise.load(path)
    except RankwiseFormatError:
        return "refused", ""
    except Exception as error:
        return "failed", f"load raises {_where(error)}"
    outcome = "used"
    for use in _uses(model, X):
        try:
            use()
        except (ValueError, TypeError):  # NotFittedError and InvalidParameterError are ValueErrors
            outcome = "refused at use"
        except MemoryError:
            outcome = "refused for memory"
        except Exception as error:
            return "failed", f"use raises {_where(error)}"
    return outcome, ""


def _where(error: Exception) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    ours = [f for f in traceback.extract_tb(error.__traceback__) if "rankwise" in f.filename]
    at = [f"{f.filename.rpartition('/')[2]}:{f.lineno}" for f in (*ours[-2:], frame)]
    return f"{type(error).__name__}: {str(error)[:200]} ({', '.join(at)})"


def _uses(model: Any, X: np.ndarray) -> Iterator[Any]:
    """Calls of everything that a fitted model can do."""
    orders = np.argsort(np.argsort(X, axis=1), axis=1) + 1.0
    if hasattr(model, "sample"):
        yield lambda: model.sample(3, random_state=0)
        yield lambda: model.pairwise_probabilities()
        yield lambda: model.logpmf(orders)
    for name in ("predict", "predict_pairwise", "predict_set"):
        if hasattr(model, name):
            yield lambda name=name: getattr(model, name)(X)
    if hasattr(model, "transform"):
        yield lambda: model.transform(X if "Embedding" not in type(model).__name__ else orders)
    if hasattr(model, "predict") and hasattr(model, "score"):
        yield lambda: model.score(X, model.predict(X))


def _forge(path: Path, manifest: dict[str, Any], arrays: list[np.ndarray], rng: np.random.Generator) -> list[str]:
    """Write a copy with one to three changes; what these are, in words."""
    manifest, arrays = copy.deepcopy(manifest), list(arrays)
    changes = [_change(manifest, arrays, rng) for _ in range(rng.integers(1, 4))]
    del manifest["members"], manifest["arrays"]
    write_container(path, manifest, arrays)
    return changes


def _change(manifest: dict[str, Any], arrays: list[np.ndarray], rng: np.random.Generator) -> str:
    kind = rng.random()
    if arrays and kind < 0.55:
        place = int(rng.integers(len(arrays)))
        change = _entries if kind < 0.35 else _form
        arrays[place] = change(arrays[place].copy(), rng)
        return f"{change.__name__[1:]} of array {place}"
    places = list(_places(manifest["objects"]))
    holder, key, where = places[rng.integers(len(places))]
    if kind < 0.85:
        holder[key] = copy.deepcopy(_VALUES[rng.integers(len(_VALUES))])
    elif kind < 0.97 or not isinstance(holder, list):
        other, other_key, _ = places[rng.integers(len(places))]
        holder[key] = copy.deepcopy(other[other_key])
    else:
        holder.extend([holder[key]] * _REPEATED)
    return f"{where} = {json.dumps(holder[key] if kind < 0.97 else '...')[:60]}"


def _places(objects: list[dict[str, Any]]) -> Iterator[tuple[Any, Any, str]]:
    """Every value in the parameters and the state of all objects: what holds it, under which key, and its name."""

    def inside(holder: Any, where: str) -> Iterator[tuple[Any, Any, str]]:
        for key in holder if isinstance(holder, dict) else range(len(holder)):
            yield holder, key, f"{where}.{key}"
            if isinstance(holder[key], dict | list):
                yield from inside(holder[key], f"{where}.{key}")

    for record in objects:
        for title in ("parameters", "state"):
            yield from inside(record[title], record["class"])


def _entries(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Other values in some cells, the first and last ones often."""
    if not array.size:
        return array
    flat = array.reshape(-1)
    cells = rng.choice([0, len(flat) - 1, rng.integers(len(flat))], size=rng.integers(1, 3))
    cells = np.arange(len(flat)) if rng.random() < 0.15 else cells
    if array.dtype.kind == "f":
        with np.errstate(over="ignore"):
            flat[cells] = rng.choice(_FLOATS)
    elif array.dtype.kind == "b":
        flat[cells] = ~flat[cells]
    else:
        limits = np.iinfo(array.dtype)
        values = [limits.min, limits.max, 0, 1, -1, -5, len(flat), len(flat) + 1, 10**6, int(flat[0]) + 1]
        flat[cells] = np.clip(rng.choice(np.array(values, dtype=object)), limits.min, limits.max)
    return array


def _form(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Another length, shape, order or type."""
    kind = rng.integers(7)
    if kind == 0:
        return np.concatenate([array, array])
    if kind == 1:
        return array[: len(array) // 2].copy() if array.ndim else array
    if kind == 2:
        return array[:0].copy() if array.ndim else array
    if kind == 3:
        return np.asfortranarray(array.T)
    if kind == 4:
        return array.reshape(-1)
    if kind == 5:
        return np.repeat(array[..., None], 2, axis=-1)
    with np.errstate(all="ignore"):
        return array.astype(rng.choice(list(DTYPES)))


if __name__ == "__main__":
    _main(*sys.argv[1:])
