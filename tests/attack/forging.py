"""Forged and damaged models: saved ones in which parts were changed, with checksums that are right, or some bytes.

Models are chosen so that every class of `rankwise.persistence.classes` is attacked as often as any other: those of
other libraries, and parts of models, too. What may come of a model: `rankwise.load` refuses it (RankwiseFormatError),
or it is used, and says something or raises a ValueError or a TypeError. With other bytes it is refused, or is the same.
"""

from __future__ import annotations

import copy
import importlib.util
import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import rankwise
from rankwise import RankwiseFormatError
from rankwise.persistence.classes import MODULES
from rankwise.persistence.container import DTYPES, write_container
from tests.attack.children import FAILED, Outcome, where
from tests.persistence.damage import pieces
from tests.persistence.make_golden import GOLDEN

_FLOATS = [0.0, -1.0, 0.5, 2.0, 1e-300, 1e308, -1e308, np.nan, np.inf, -np.inf, 2.0**31, 2.0**63]
_VALUES: list[Any] = [0, -1, 1, 2, 3, 7, 10**6, 2**31, 2**63, 10**400, 0.5, -0.5, 1e308, None, True, False, "x", [], {}]
_VALUES += [{"tuple": []}, {"dict": []}, {"array": 0}, {"array": 1}, {"object": 0}, {"object": 1}]
_VALUES += [{"float": "nan"}, {"float": "inf"}, {"float": "-inf"}]
# As many references as this to one thing.
_REPEATED = 50


# How many of the trials change bytes of a file instead of parts of a model.
_DAMAGED = 0.15
#: classes that need a library which may not be there
NEEDS = {"NeuralRanker": "torch"}


def prepare(folder: Path) -> int:
    """Save fitted models of every class that can be saved; the number of classes."""
    from tests.persistence.fitted import fitted_label_rankers, fitted_others

    cases = [*fitted_label_rankers("full"), *fitted_label_rankers("incomplete"), *fitted_others()]
    for number, (estimator, _) in enumerate(cases):
        rankwise.save(estimator, folder / f"{number:03d}.rankwise")
    prepare_golden(folder)
    classes = set(_models_of_classes(_read(folder)))
    wanted = {name for name in MODULES if name not in NEEDS or importlib.util.find_spec(NEEDS[name])}
    if classes != wanted:
        raise AssertionError(f"no model with {wanted - classes} to forge: add it to tests/persistence/fitted.py")
    return len(classes)


def prepare_golden(folder: Path) -> int:
    """Save the latest golden file of each kind as this version does, which takes no time; their number."""
    latest = {path.stem.partition("-")[2]: path for path in sorted(GOLDEN.glob("*.rankwise"))}
    if not importlib.util.find_spec("torch"):
        latest.pop("neural")
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


def trials(folder: Path) -> Callable[[int], Outcome]:
    """What comes of forging or damaging one model."""
    models = _read(folder)
    by_class = [found for _, found in sorted(_models_of_classes(models).items())]
    path = Path(tempfile.mkdtemp(dir=folder)) / "forged.rankwise"

    def trial(seed: int) -> Outcome:
        rng = np.random.default_rng(seed)
        choices = by_class[rng.integers(len(by_class))]
        name, manifest, arrays = models[choices[rng.integers(len(choices))]]
        if rng.random() < _DAMAGED:
            outcome, said = _outcome_of_damage(folder / f"{name}.rankwise", path, rng)
        else:
            changes = _forge(path, manifest, arrays, rng)
            outcome, said = _outcome(path, _rows(manifest))
            said = f"{'; '.join(changes)}: {said}"
        return outcome, f"{name}: {said}"

    return trial


_Model = tuple[str, dict[str, Any], list[np.ndarray]]


def _read(folder: Path) -> list[_Model]:
    return [(path.stem, *pieces(path)) for path in sorted(folder.glob("*.rankwise"))]


def _models_of_classes(models: list[_Model]) -> dict[str, list[int]]:
    """The models in which objects of each class lie."""
    found: dict[str, list[int]] = {}
    for place, (_, manifest, _) in enumerate(models):
        for name in {record["class"] for record in manifest["objects"]}:
            found.setdefault(name, []).append(place)
    return found


def _outcome_of_damage(model: Path, path: Path, rng: np.random.Generator) -> Outcome:
    """Some bytes are others, lost or there twice; what can be loaded is saved as it was."""
    whole = model.read_bytes()
    data = bytearray(whole)
    for _ in range(rng.integers(1, 4)):
        place = int(rng.integers(len(data)))
        stop = place + int(rng.integers(1, 30))
        change = rng.integers(4)
        if change == 0:
            data[place] = int(rng.integers(256))
        elif change == 1:
            del data[place:stop]
        elif change == 2:
            data[place:place] = data[place:stop]
        else:
            del data[place + 1 :]
    path.write_bytes(data)
    try:
        again = rankwise.load(path)
    except RankwiseFormatError:
        return "damage refused", ""
    except Exception as error:
        return FAILED, f"load of damage raises {where(error)}"
    rankwise.save(again, path)
    return ("loaded as it was", "") if path.read_bytes() == whole else (FAILED, "damage loads as another model")


def _rows(manifest: dict[str, Any]) -> np.ndarray:
    """Rows to use the model on: as many features as the model had before it was forged."""
    state = manifest["objects"][-1]["state"]
    width = state.get("n_features_in_", len(state.get("items_", {"tuple": [0] * 3}).get("tuple", [])))
    width = width["scalar"][1] if isinstance(width, dict) else width
    return np.random.default_rng(0).normal(size=(7, width))


def _outcome(path: Path, X: np.ndarray) -> Outcome:
    try:
        model = rankwise.load(path)
    except RankwiseFormatError:
        return "refused", ""
    except Exception as error:
        return FAILED, f"load raises {where(error)}"
    outcome = "used"
    for use in _uses(model, X):
        try:
            use()
        except (ValueError, TypeError):  # NotFittedError and InvalidParameterError are ValueErrors
            outcome = "refused at use"
        except MemoryError:
            outcome = "refused for memory"
        except Exception as error:
            return FAILED, f"use raises {where(error)}"
    return outcome, ""


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
