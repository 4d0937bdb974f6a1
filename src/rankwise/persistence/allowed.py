"""Which constructor parameters of scikit-learn's classes a file may hold, and with which values.

scikit-learn takes paths, functions and objects in some of them: a pipeline would read pickles from the folder that
``memory`` names as soon as it is fitted again. So every parameter is listed with the values that are plain numbers or
known words; what is not listed is refused, as are parameters that a later version of scikit-learn adds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rankwise._state import (
    BOOL,
    COUNT,
    DICT,
    ESTIMATOR,
    NUMBER,
    STRING,
    Kind,
    either,
    instance,
    list_of,
    maybe,
    one_of,
)

_ANY_COUNT = maybe(COUNT)
_N_JOBS = maybe(Kind("a number of jobs", lambda value: type(value) is int and abs(value) <= _MOST_JOBS))
_MOST_JOBS = 4096
_SEED = maybe(either(COUNT, instance("RandomState")))
_VERBOSE = either(BOOL, COUNT)
_ARRAY = Kind("an array", lambda value: type(value) is np.ndarray)
_LIST = Kind("a list", lambda value: type(value) is list)
# Distances that take no parameters of their own.
_METRICS = one_of(
    *("braycurtis", "canberra", "chebyshev", "cityblock", "correlation", "cosine", "dice", "euclidean", "hamming"),
    *("haversine", "infinity", "jaccard", "l1", "l2", "manhattan", "minkowski", "nan_euclidean", "p", "precomputed"),
    *("rogerstanimoto", "russellrao", "sokalmichener", "sokalsneath", "sqeuclidean", "yule"),
)


def _is_step(step: Any) -> bool:
    if type(step) is not tuple or len(step) != 2 or type(step[0]) is not str:
        return False
    return step[1] is None or step[1] == "passthrough" or ESTIMATOR.matches(step[1])


_STEPS = list_of(Kind("a pair of a name and an estimator", _is_step))

#: class -> parameter -> values
ALLOWED: Mapping[str, Mapping[str, Kind]] = {
    "LinearRegression": {
        "fit_intercept": BOOL,
        "copy_X": BOOL,
        "tol": NUMBER,
        "n_jobs": _N_JOBS,
        "positive": BOOL,
    },
    "LogisticRegression": {
        "penalty": maybe(one_of("l1", "l2", "elasticnet", "deprecated")),
        "C": NUMBER,
        "l1_ratio": maybe(NUMBER),
        "dual": BOOL,
        "tol": NUMBER,
        "fit_intercept": BOOL,
        "intercept_scaling": NUMBER,
        "class_weight": maybe(either(DICT, one_of("balanced"))),
        "random_state": _SEED,
        "solver": one_of("newton-cg", "newton-cholesky", "lbfgs", "sag", "saga", "liblinear"),
        "max_iter": COUNT,
        "verbose": _VERBOSE,
        "warm_start": BOOL,
        "n_jobs": _N_JOBS,
        "multi_class": one_of("auto", "ovr", "multinomial", "deprecated"),
    },
    "Ridge": {
        "alpha": either(NUMBER, _ARRAY),
        "fit_intercept": BOOL,
        "copy_X": BOOL,
        "max_iter": _ANY_COUNT,
        "tol": NUMBER,
        "solver": one_of("auto", "cholesky", "saga", "lsqr", "lbfgs", "sag", "sparse_cg", "svd"),
        "positive": BOOL,
        "random_state": _SEED,
    },
    "StandardScaler": {"copy": BOOL, "with_mean": BOOL, "with_std": BOOL},
    "MinMaxScaler": {
        "feature_range": Kind("a pair of numbers", lambda value: type(value) is tuple and len(value) == 2),
        "copy": BOOL,
        "clip": BOOL,
    },
    "QuantileTransformer": {
        "n_quantiles": COUNT,
        "output_distribution": one_of("normal", "uniform"),
        "ignore_implicit_zeros": BOOL,
        "subsample": _ANY_COUNT,
        "random_state": _SEED,
        "copy": BOOL,
    },
    "OneHotEncoder": {
        "categories": either(one_of("auto"), list_of(either(_ARRAY, _LIST))),
        "drop": maybe(either(one_of("first", "if_binary"), _ARRAY, _LIST)),
        "sparse_output": BOOL,
        "handle_unknown": one_of("error", "ignore", "infrequent_if_exist", "warn"),
        "feature_name_combiner": one_of("concat"),
    },
    "SimpleImputer": {
        "missing_values": maybe(either(NUMBER, STRING)),
        "strategy": one_of("mean", "median", "most_frequent", "constant"),
        "fill_value": maybe(either(NUMBER, STRING)),
        "copy": BOOL,
        "keep_empty_features": BOOL,
    },
    "Pipeline": {"steps": _STEPS, "transform_input": maybe(list_of(STRING)), "verbose": BOOL},
    "NearestNeighbors": {
        "n_neighbors": _ANY_COUNT,
        "radius": maybe(NUMBER),
        "algorithm": one_of("auto", "ball_tree", "brute", "kd_tree"),
        "leaf_size": COUNT,
        "metric": _METRICS,
        "p": maybe(NUMBER),
        "n_jobs": _N_JOBS,
    },
    "KMeans": {
        "n_clusters": COUNT,
        "init": either(one_of("random", "k-means++"), _ARRAY),
        "n_init": either(COUNT, one_of("auto")),
        "max_iter": COUNT,
        "tol": NUMBER,
        "verbose": _VERBOSE,
        "random_state": _SEED,
        "copy_x": BOOL,
        "algorithm": one_of("lloyd", "elkan"),
    },
}


def check_allowed(name: str, parameters: Mapping[str, Any]) -> None:
    """Raise a ValueError if a class of scikit-learn has parameters that no file may hold."""
    known = ALLOWED[name]
    for parameter, value in parameters.items():
        kind = known.get(parameter)
        if kind is None:
            raise ValueError(f"no file may set the parameter {parameter[:40]} of a {name}")
        if not kind.matches(value):
            raise ValueError(f"{parameter} of a {name} must be {kind.description}, and not {ascii(value)[:60]}")
