"""The classes that a file may hold, which are all that `load` ever builds, and how they become parameters and state.

A class of rankwise says itself what of it is saved, see `rankwise._state`; here it is only listed, with its module. For
classes of NumPy, SciPy, scikit-learn and LightGBM, ``EXTERNALS`` says what is saved, checked, and built from it. State
that another version of a library would not understand is not saved: such an object is fitted again to the few rows that
give it the same state. `object_graph` uses `recipe_named` and `recipe_of`.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Literal, NamedTuple, get_type_hints

import numpy as np

from rankwise._state import (
    ANYTHING,
    BOOL,
    COUNT,
    DICT,
    FLOATS,
    INTS,
    INTS_32,
    MATRIX,
    NAMES,
    NUMBER,
    STRING,
    Kind,
    State,
    array,
    check_places,
    check_shape,
    dict_of,
    either,
    ensure,
    learned_state,
    list_of,
    maybe,
    optional,
    tuple_of,
)
from rankwise.persistence.allowed import check_allowed
from rankwise.persistence.boosters import booster_from_state, booster_state

_OURS = {
    "rankwise._features": ["FeatureEncoder"],
    "rankwise.aggregation": [
        "BestWorst",
        "BradleyTerry",
        "GeneralizedMallows",
        "Mallows",
        "MallowsMixture",
        "PlackettLuce",
        "PlackettLuceMixture",
    ],
    "rankwise.data": ["Rankings"],
    "rankwise.embeddings": ["GraphCutEmbedding", "KemenyEmbedding", "PositionEmbedding"],
    "rankwise.label_ranking": [
        "BoostedRanker",
        "ClusterRanker",
        "ConformalRanker",
        "DummyRanker",
        "DyadRanker",
        "KernelRanker",
        "LabelwiseRanker",
        "NearestNeighborsRanker",
        "PairwiseRanker",
        "PlackettLuceRanker",
        "PlackettLuceTree",
        "RankingForest",
        "RankingTree",
        "StackedRanker",
    ],
    "rankwise.label_ranking.numeric": ["NumericFeatures"],
    "rankwise.label_ranking.additive_features": ["AdditiveFeatures"],
    "rankwise.label_ranking.stacked": ["Standing", "_Views"],
    "rankwise.ltr": ["LambdaMART", "LinearRanker", "NeuralRanker", "StackedQueryRanker"],
    "rankwise.ltr.boosting": ["LightGBMTrees"],
    "rankwise.ltr.level_trees": ["LevelTrees"],
    "rankwise.ltr.target_statistics": ["TargetStatistics"],
    "rankwise.screening": [
        "BARTSelector",
        "ConcordanceSelector",
        "ScoreSelector",
        "SymbolicFeatures",
        "SymbolicRegressor",
    ],
    "rankwise.screening.expressions": ["ExpressionTable"],
    "rankwise.screening.formulas": ["SymbolicFormula"],
    "rankwise.screening.subsets": ["SubsetModel"],
    "rankwise.screening.terms": ["Term"],
    "rankwise.trees": ["LeastSquaresForest", "LeastSquaresTree"],
    "rankwise.trees.gaps": ["LeafGaps"],
    "rankwise.trees.structure": ["LeafMeans", "LeafRows", "TargetRows", "Tree"],
}

# What scikit-learn's fit or set_output may add to any estimator.
_ALWAYS_ALLOWED = {"feature_names_in_": NAMES, "_sklearn_output_config": dict_of(STRING)}

# Kinds of the fields of a NamedTuple, which cannot have a list of its own.
_ANNOTATED = {bool: BOOL, float: NUMBER, int: NUMBER, str: STRING}


@dataclass(frozen=True)
class Recipe:
    """How objects of a class become parameters and state, and are built from them.

    Attributes
    ----------
    cls : type
        The class.
    saved : mapping
        Names and kinds of the parts of its state.
    parameters : {"all", "changed", "none"}
        Which constructor parameters a file holds. For scikit-learn's classes those that differ from the defaults,
        because other versions of it may not know the rest; none for classes that are not estimators.
    check : callable, optional
        Raises a ValueError where the parts of an object do not belong together.
    pull, build : callable, optional
        Object -> state; class, parameters, state -> object.
    """

    cls: Any
    saved: Mapping[str, Kind]
    parameters: Literal["all", "changed", "none"]
    check: Callable[[Any], None] | None = None
    pull: Callable[[Any], State] | None = None
    build: Callable[[Any, State, State], Any] | None = None

    @cached_property
    def arguments(self) -> Mapping[str, inspect.Parameter]:
        """Arguments of the constructor."""
        return inspect.signature(self.cls).parameters

    def to_state(self, thing: Any, where: str) -> tuple[State, State]:
        """Parameters and state of an object; what could not be loaded again is refused."""
        state, parameters = self._pulled(thing), self._parameters_of(thing)
        try:
            self._check_parameters(parameters)
            self._check(thing, is_fitted=self._check_state(state))
        except ValueError as error:
            raise TypeError(f"{where} cannot be saved: {error}") from error
        return parameters, state

    def from_state(self, parameters: State, state: State) -> Any:
        """An object from its parts, if these are what they must be."""
        self._check_parameters(parameters)
        is_fitted = self._check_state(state)
        if parameters and self.parameters == "none":
            raise ValueError(f"a {self.cls.__name__} has no parameters")
        thing = (self.build or self._built)(self.cls, parameters, state)
        self._check(thing, is_fitted)
        return thing

    def _pulled(self, thing: Any) -> State:
        if self.pull is not None:
            return self.pull(thing)
        if self.parameters == "none":
            present = [name for name, kind in self.saved.items() if kind.required or hasattr(thing, name)]
            return {name: getattr(thing, name) for name in present}
        return learned_state(thing)

    def _built(self, cls: Any, parameters: State, state: State) -> Any:
        """Parts that are arguments of the constructor go there, the rest become attributes."""
        arguments = {name: part for name, part in state.items() if name in self.arguments}
        thing = cls(**parameters, **arguments)
        if len(arguments) < len(state):
            vars(thing).update({name: part for name, part in state.items() if name not in arguments})
        return thing

    def _check_parameters(self, parameters: State) -> None:
        """Refuse what scikit-learn might take for a path, a function or an object."""
        if self.parameters == "changed":
            check_allowed(self.cls.__name__, parameters)

    def _check_state(self, state: State) -> bool:
        """Refuse parts of other kinds; return whether the object is fitted."""
        for name, part in state.items():
            kind = self.saved.get(name) or _ALWAYS_ALLOWED.get(name)
            if kind is None:
                raise ValueError(f"{name[:40]} is not a part of a {self.cls.__name__}")
            if not kind.matches(part):
                raise ValueError(f"{name} of a {self.cls.__name__} is not {kind.description}")
        required = [name for name, kind in self.saved.items() if kind.required]
        missing = [name for name in required if name not in state]
        if missing and (self.parameters == "none" or len(missing) < len(required)):
            raise ValueError(f"{missing[0]} of a {self.cls.__name__} is missing")
        return not missing

    def _check(self, thing: Any, is_fitted: bool) -> None:
        from rankwise._sklearn import check_params

        if hasattr(thing, "_parameter_constraints"):
            check_params(thing)
        if self.check is not None and is_fitted:
            self.check(thing)

    def _parameters_of(self, thing: Any) -> State:
        if self.parameters == "none":
            return {}
        values: State = thing.get_params(deep=False)
        if self.parameters == "all":
            return values
        return {name: value for name, value in values.items() if not _is_default(value, self.arguments[name].default)}


@cache
def recipe_named(name: str) -> Recipe:
    """The recipe of one of the classes of `MODULES`."""
    cls = getattr(importlib.import_module(MODULES[name]), name)
    if name in EXTERNALS:
        external = EXTERNALS[name]
        return Recipe(cls, external.saved, external.parameters, external.check, external.pull, external.build)
    saved: dict[str, Kind] = {}
    if issubclass(cls, tuple):
        saved = {part: _ANNOTATED[annotation] for part, annotation in get_type_hints(cls).items()}
    for base in reversed(cls.__mro__):
        saved |= vars(base).get("_saved", {})
    parameters: Literal["all", "none"] = "all" if hasattr(cls, "get_params") else "none"
    check, pull, build = (getattr(cls, name, None) for name in ("_check_saved", "_to_state", "_from_state"))
    return Recipe(cls, saved, parameters, check, pull, build and build.__func__)


def recipe_of(thing: Any) -> Recipe | None:
    """The recipe of the class of a thing, not of classes that it derives from."""
    cls = type(thing)
    module = MODULES.get(cls.__name__, "")
    if cls.__module__.split(".")[0] != module.split(".")[0]:  # do not import another library needlessly
        return None
    recipe = recipe_named(cls.__name__)
    return recipe if recipe.cls is cls else None


def _is_default(value: Any, default: Any) -> bool:
    """Whether a parameter has its default value."""
    plain = isinstance(default, bool | int | float | str)
    return value is default or (plain and type(value) is type(default) and value == default)


class External(NamedTuple):
    """A class of another library; see `Recipe`."""

    module: str
    saved: Mapping[str, Kind]
    check: Callable[[Any], None] | None = None
    pull: Callable[[Any], State] | None = None
    build: Callable[[Any, State, State], Any] | None = None
    parameters: Literal["changed", "none"] = "changed"


def _check_coefficients(model: Any) -> None:
    ensure(model.coef_.shape[-1] == model.n_features_in_, "coefficients and features differ")


def _check_classifier(model: Any) -> None:
    _check_coefficients(model)
    classes = np.unique(model.classes_) if isinstance(model.classes_, np.ndarray) else np.empty(0)
    n_rows = 1 if len(classes) == 2 else len(classes)
    ensure(len(classes) > 1 and model.classes_.shape == (len(classes),), "there are no classes, or the same ones twice")
    ensure(model.coef_.shape[0] == n_rows, "coefficients and classes differ")
    check_shape(model.intercept_, (n_rows,), "the intercepts")


def _check_pipeline(pipeline: Any) -> None:
    """Every step but the last one transforms."""
    steps = [step for _, step in pipeline.steps[:-1]]
    ensure(pipeline.steps, "a pipeline has no steps")
    known = all(step is None or isinstance(step, str) or hasattr(step, "transform") for step in steps)
    ensure(known, "a step of a pipeline does not transform")


def _check_scaler(scaler: Any) -> None:
    parts = [getattr(scaler, name, None) for name in ("mean_", "scale_", "var_", "min_")]
    lengths = {len(part) for part in parts if part is not None}
    ensure(lengths <= {scaler.n_features_in_}, "means and scales are not as many as the features")
    for flag, name in (("with_mean", "mean_"), ("with_std", "scale_")):
        is_needed = getattr(scaler, flag, False)
        ensure(not is_needed or getattr(scaler, name) is not None, "the means or scales of a scaler are missing")


def _check_quantiles(transformer: Any) -> None:
    shape = (len(transformer.references_), transformer.n_features_in_)
    ensure(shape[0] > 0, "a QuantileTransformer has no quantiles")
    check_shape(transformer.quantiles_, shape, "the quantiles of a QuantileTransformer")


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
    state = _of_these(learned_state(encoder), "categories_", "feature_names_in_")
    columns = state.get("categories_", [])
    if len(columns) * max(map(len, columns), default=0) > _MOST_CELLS:
        raise TypeError("a OneHotEncoder of so many categories cannot be saved; use joblib.dump")
    return state


def _one_hot_from_state(cls: Any, parameters: State, state: State) -> Any:
    """An encoder that is fitted to rows with just these categories."""
    encoder = cls(**parameters)
    if not state:
        return encoder
    columns = state["categories_"]
    longest = max(len(column) for column in columns)
    ensure(longest * len(columns) <= _MOST_CELLS, "a OneHotEncoder has too many categories")
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
    """The matrix, if its rows follow one another and its indices lie inside.

    SciPy's check_format passes over both where the last start is not positive, and its code writes outside of arrays.
    """
    data, indices, starts, shape = (state[name] for name in ("data", "indices", "indptr", "shape"))
    ensure(len(shape) == 2 and max(shape) < _MOST_ROWS, "a sparse matrix has no shape")
    ensure(len(starts) == shape[0] + 1 and starts[0] == 0, "the rows of a sparse matrix do not begin at 0")
    ensure((np.diff(starts.astype(np.int64)) >= 0).all(), "the rows of a sparse matrix are not in order")
    ensure(starts[-1] == len(indices) == len(data), "the rows of a sparse matrix do not end with its entries")
    check_places(indices, shape[1], "a sparse matrix has an entry outside")
    matrix = cls((data, indices, starts), shape=shape)
    matrix.check_format(full_check=True)
    return matrix


# Cells of the rows that a OneHotEncoder is fitted to again: features times the most categories of one.
_MOST_CELLS = 2**24
# Rows or columns of a sparse matrix; SciPy changes to indices of 64 bits beyond.
_MOST_ROWS = 2**31

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
        _check_classifier,
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
        "sklearn.preprocessing",
        {**_FITTED, "n_quantiles_": COUNT, "quantiles_": MATRIX, "references_": FLOATS},
        _check_quantiles,
    ),
    "OneHotEncoder": External(
        "sklearn.preprocessing", {"categories_": list_of(_COLUMN)}, pull=_one_hot_state, build=_one_hot_from_state
    ),
    "SimpleImputer": External(
        "sklearn.impute", {"statistics_": _COLUMN}, pull=_imputer_state, build=_imputer_from_state
    ),
    "Pipeline": External("sklearn.pipeline", {}, _check_pipeline),
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

#: name of each class that a file may hold -> module that it is imported from
MODULES = {name: module for module, names in _OURS.items() for name in names}
MODULES |= {name: external.module for name, external in EXTERNALS.items()}
