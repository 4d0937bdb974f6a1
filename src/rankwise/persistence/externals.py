"""Classes of NumPy, SciPy, scikit-learn and LightGBM that a file may hold: what is saved, checked, and built from it.

`classes` looks them up by name in `EXTERNALS`. State that another version of a library would not understand is not
saved: such an object is fitted again to the few rows that give it the same state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from rankwise._state import (
    ANYTHING,
    COUNT,
    DICT,
    FLOATS,
    INTS,
    INTS_32,
    MATRIX,
    NUMBER,
    STRING,
    Kind,
    State,
    array,
    check_shape,
    either,
    ensure,
    learned_state,
    list_of,
    maybe,
    optional,
    tuple_of,
)
from rankwise.persistence.boosters import booster_from_state, booster_state


class External(NamedTuple):
    """A class of another library; see `classes.Recipe`."""

    module: str
    saved: Mapping[str, Kind]
    check: Callable[[Any], None] | None = None
    pull: Callable[[Any], State] | None = None
    build: Callable[[Any, State, State], Any] | None = None
    parameters: Literal["changed", "none"] = "changed"


def _check_coefficients(model: Any) -> None:
    ensure(model.coef_.shape[-1] == model.n_features_in_, "coefficients and features differ")


def _check_scaler(scaler: Any) -> None:
    parts = [getattr(scaler, name, None) for name in ("mean_", "scale_", "var_", "min_")]
    lengths = {len(part) for part in parts if part is not None}
    ensure(lengths <= {scaler.n_features_in_}, "means and scales are not as many as the features")


def _check_clusters(clusters: Any) -> None:
    n_clusters = len(clusters.cluster_centers_)
    ensure(n_clusters > 0, "there are no clusters")
    check_shape(clusters.cluster_centers_, (n_clusters, clusters.n_features_in_), "the centers of the clusters")


def _clusters_state(clusters: Any) -> State:
    """All but what only says how to compute."""
    return {name: part for name, part in learned_state(clusters).items() if name in _CLUSTERS}


def _clusters_from_state(cls: Any, parameters: State, state: State) -> Any:
    """Clusters that know their centers; labels do not depend on the number of threads."""
    clusters = cls(**parameters)
    if state:
        vars(clusters).update(state, _n_threads=1)
    return clusters


def _neighbors_state(index: Any) -> State:
    """The rows among which neighbors are searched; the search tree is built again."""
    return {"rows": index._fit_X} if hasattr(index, "_fit_X") else {}


def _neighbors_from_state(cls: Any, parameters: State, state: State) -> Any:
    index = cls(**parameters)
    return index.fit(state["rows"]) if state else index


def _one_hot_state(encoder: Any) -> State:
    """The categories of each feature."""
    if encoder.min_frequency is not None or encoder.max_categories is not None:
        raise TypeError("a OneHotEncoder that groups rare categories cannot be saved; use joblib.dump")
    return _of_these(learned_state(encoder), "categories_", "feature_names_in_")


def _one_hot_from_state(cls: Any, parameters: State, state: State) -> Any:
    """An encoder that is fitted to rows with just these categories."""
    encoder = cls(**parameters)
    if not state:
        return encoder
    columns = state["categories_"]
    longest = max(len(column) for column in columns)
    rows = np.empty((longest, len(columns)), dtype=np.result_type(*columns))
    for number, column in enumerate(columns):
        rows[:, number] = np.resize(column, longest)
    return _refitted(encoder, rows, state)


def _imputer_state(imputer: Any) -> State:
    """What missing values are replaced by."""
    if imputer.add_indicator:
        raise TypeError("a SimpleImputer with add_indicator=True cannot be saved; use joblib.dump")
    return _of_these(learned_state(imputer), "statistics_", "feature_names_in_")


def _imputer_from_state(cls: Any, parameters: State, state: State) -> Any:
    """An imputer that is fitted to one row: its mean, median and most frequent values are its values."""
    imputer = cls(**parameters)
    return _refitted(imputer, state["statistics_"][None], state) if state else imputer


def _refitted(step: Any, rows: Any, state: State) -> Any:
    """A step of scikit-learn that learns its state again, private parts of other versions included."""
    step.fit(rows)
    vars(step).update(_of_these(state, "feature_names_in_"))
    return step


def _of_these(state: State, *names: str) -> State:
    return {name: part for name, part in state.items() if name in names}


def _sparse_state(matrix: Any) -> State:
    """A sparse matrix in compressed rows."""
    parts = {name: getattr(matrix, name) for name in ("data", "indices", "indptr")}
    return {**parts, "shape": tuple(int(length) for length in matrix.shape)}


def _sparse_from_state(cls: Any, parameters: State, state: State) -> Any:
    """The matrix, if its indices lie inside."""
    matrix = cls((state["data"], state["indices"], state["indptr"]), shape=state["shape"])
    matrix.check_format(full_check=True)
    return matrix


_BIT_GENERATORS = ("PCG64", "PCG64DXSM", "SFC64", "MT19937")
# Numbers of the Mersenne Twister's state; its code trusts the place among them.
_MT_WORDS = 624


def _generator_state(generator: Any) -> State:
    """Where a random generator stands."""
    state = generator.bit_generator.state
    if state["bit_generator"] not in _BIT_GENERATORS:
        raise TypeError(f"a random generator of type {state['bit_generator']} cannot be saved; give random_state=0")
    return {"at": state}


def _generator_from_state(cls: Any, parameters: State, state: State) -> Any:
    """A random generator that goes on where the other stood."""
    at = _checked_generator_state(state["at"])
    bits = getattr(np.random, at["bit_generator"])(0)
    bits.state = at
    return cls(bits)


def _legacy_generator_state(generator: Any) -> State:
    return {"at": generator.get_state(legacy=False)}


def _legacy_generator_from_state(cls: Any, parameters: State, state: State) -> Any:
    generator = cls(0)
    generator.set_state(_checked_generator_state(state["at"]))
    return generator


def _checked_generator_state(state: State) -> State:
    ensure(state["bit_generator"] in _BIT_GENERATORS, "a random generator is of an unknown type")
    if state["bit_generator"] == "MT19937":
        inner = state["state"]
        is_valid = len(inner["key"]) == _MT_WORDS and 0 <= inner["pos"] <= _MT_WORDS
        ensure(is_valid, "the state of a random generator is not valid")
    return state


_FITTED = {"n_features_in_": COUNT}
_LINEAR = {**_FITTED, "coef_": either(FLOATS, MATRIX), "intercept_": either(NUMBER, FLOATS)}
_SCALED = {**_FITTED, "n_samples_seen_": either(NUMBER, INTS, FLOATS), "scale_": maybe(FLOATS)}
_CLUSTERS = {
    **_FITTED,
    "cluster_centers_": MATRIX,
    "labels_": INTS_32,
    "inertia_": NUMBER,
    "n_iter_": COUNT,
    "_n_features_out": COUNT,
}
_COLUMN = either(array("float64 float32 int64 bool", 1), array("object", 1))
_INDICES = array("int32 int64", 1)
_SPARSE: Any = {
    "saved": {"data": FLOATS, "indices": _INDICES, "indptr": _INDICES, "shape": tuple_of(COUNT)},
    "pull": _sparse_state,
    "build": _sparse_from_state,
    "parameters": "none",
}

#: name of the class -> how it is saved
EXTERNALS = {
    "LinearRegression": External(
        "sklearn.linear_model",
        {**_LINEAR, "rank_": optional(COUNT), "singular_": optional(FLOATS)},
        _check_coefficients,
    ),
    "LogisticRegression": External(
        "sklearn.linear_model",
        {**_FITTED, "coef_": MATRIX, "intercept_": FLOATS, "classes_": ANYTHING, "n_iter_": INTS_32},
        _check_coefficients,
    ),
    "Ridge": External(
        "sklearn.linear_model",
        {**_LINEAR, "n_iter_": optional(maybe(INTS_32)), "solver_": optional(STRING)},
        _check_coefficients,
    ),
    "StandardScaler": External(
        "sklearn.preprocessing", {**_SCALED, "mean_": maybe(FLOATS), "var_": maybe(FLOATS)}, _check_scaler
    ),
    "MinMaxScaler": External(
        "sklearn.preprocessing",
        {**_SCALED, **dict.fromkeys(["min_", "data_min_", "data_max_", "data_range_"], FLOATS)},
        _check_scaler,
    ),
    "QuantileTransformer": External(
        "sklearn.preprocessing", {**_FITTED, "n_quantiles_": COUNT, "quantiles_": MATRIX, "references_": FLOATS}
    ),
    "OneHotEncoder": External(
        "sklearn.preprocessing", {"categories_": list_of(_COLUMN)}, pull=_one_hot_state, build=_one_hot_from_state
    ),
    "SimpleImputer": External(
        "sklearn.impute", {"statistics_": _COLUMN}, pull=_imputer_state, build=_imputer_from_state
    ),
    "Pipeline": External("sklearn.pipeline", {}),
    "NearestNeighbors": External(
        "sklearn.neighbors", {"rows": MATRIX}, pull=_neighbors_state, build=_neighbors_from_state
    ),
    "KMeans": External("sklearn.cluster", _CLUSTERS, _check_clusters, pull=_clusters_state, build=_clusters_from_state),
    "csr_array": External("scipy.sparse", **_SPARSE),
    "csr_matrix": External("scipy.sparse", **_SPARSE),
    "Generator": External(
        "numpy.random", {"at": DICT}, pull=_generator_state, build=_generator_from_state, parameters="none"
    ),
    "RandomState": External(
        "numpy.random",
        {"at": DICT},
        pull=_legacy_generator_state,
        build=_legacy_generator_from_state,
        parameters="none",
    ),
    "Booster": External(
        "lightgbm", {"text": array("uint8", 1)}, pull=booster_state, build=booster_from_state, parameters="none"
    ),
}
