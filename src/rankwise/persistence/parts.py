"""Classes that are not made of attributes: what to keep of them, and how to build them from that.

``*_state`` functions take an object and return what a file holds of it; ``*_from_state`` functions take the class, its
parameters and that state.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

State = dict[str, Any]

# Numbers of the Mersenne Twister's state; its code trusts the place among them.
_MT_WORDS = 624


def learned(thing: Any) -> State:
    """Attributes of an object that are not parameters."""
    if is_dataclass(thing):  # which may have cached properties among its attributes
        return {entry.name: getattr(thing, entry.name) for entry in fields(thing)}
    parameters = thing.get_params(deep=False) if hasattr(thing, "get_params") else {}
    return {name: part for name, part in vars(thing).items() if name not in parameters}


def rankings_state(rankings: Any) -> State:
    """Positions, names and weights."""
    return {"positions": rankings.positions, "items": rankings.items, "weights": rankings.weights}


def from_arguments(kind: Any, parameters: State, state: State) -> Any:
    """An object of a class that checks its own arguments, or has nothing to check."""
    return kind(**state)


def named_tuple_state(entry: Any) -> State:
    """The fields of a named tuple."""
    return dict(entry._asdict())


def sparse_state(matrix: Any) -> State:
    """A sparse matrix in compressed rows."""
    parts = {name: getattr(matrix, name) for name in ("data", "indices", "indptr")}
    return {**parts, "shape": tuple(int(length) for length in matrix.shape)}


def sparse_from_state(kind: Any, parameters: State, state: State) -> Any:
    """The matrix, if its indices lie inside."""
    matrix = kind((state["data"], state["indices"], state["indptr"]), shape=state["shape"])
    matrix.check_format(full_check=True)
    return matrix


def generator_state(generator: Any) -> State:
    """Where a random generator stands."""
    state = generator.bit_generator.state
    if state["bit_generator"] not in ("PCG64", "PCG64DXSM", "SFC64", "MT19937"):
        raise TypeError(
            f"a random generator of type {state['bit_generator']} cannot be saved; give random_state=0, say"
        )
    return {"at": state}


def generator_from_state(kind: Any, parameters: State, state: State) -> Any:
    """A random generator that goes on where the other stood."""
    at = _checked_generator_state(state["at"])
    bits = getattr(np.random, at["bit_generator"])(0)
    bits.state = at
    return kind(bits)


def random_state_state(generator: Any) -> State:
    """Where a legacy random generator stands."""
    return {"at": generator.get_state(legacy=False)}


def random_state_from_state(kind: Any, parameters: State, state: State) -> Any:
    """A legacy random generator that goes on where the other stood."""
    generator = kind(0)
    generator.set_state(_checked_generator_state(state["at"]))
    return generator


def neighbors_state(index: Any) -> State:
    """The rows among which neighbours are sought; the search tree is built anew."""
    return {"rows": index._fit_X} if hasattr(index, "_fit_X") else {}


def neighbors_from_state(kind: Any, parameters: State, state: State) -> Any:
    """The index of the rows."""
    index = kind(**parameters)
    return index.fit(state["rows"]) if state else index


_CLUSTER_PARTS = ("cluster_centers_", "labels_", "inertia_", "n_iter_", "n_features_in_", "_n_features_out")


def clusters_state(clusters: Any) -> State:
    """Centres and the rows' labels."""
    return {name: getattr(clusters, name) for name in _CLUSTER_PARTS if hasattr(clusters, name)}


def clusters_from_state(kind: Any, parameters: State, state: State) -> Any:
    """Clusters that know their centres; labels do not depend on the number of threads."""
    clusters = kind(**parameters)
    if state:
        vars(clusters).update(state, _n_threads=1)
    return clusters


def one_hot_state(encoder: Any) -> State:
    """The categories of each feature."""
    state = {name: part for name, part in learned(encoder).items() if name in ("categories_", "feature_names_in_")}
    if encoder.min_frequency is not None or encoder.max_categories is not None:
        raise TypeError("a OneHotEncoder that groups rare categories cannot be saved; use joblib.dump")
    return state


def one_hot_from_state(kind: Any, parameters: State, state: State) -> Any:
    """An encoder that is fitted to rows which hold just these categories."""
    encoder = kind(**parameters)
    if not state:
        return encoder
    columns = state["categories_"]
    longest = max(len(column) for column in columns)
    rows = np.empty((longest, len(columns)), dtype=np.result_type(*columns))
    for number, column in enumerate(columns):
        rows[:, number] = np.resize(column, longest)
    return _refitted(encoder, rows, state)


def imputer_state(imputer: Any) -> State:
    """What missing values are replaced by."""
    if imputer.add_indicator:
        raise TypeError("a SimpleImputer with add_indicator=True cannot be saved; use joblib.dump")
    return {name: part for name, part in learned(imputer).items() if name in ("statistics_", "feature_names_in_")}


def imputer_from_state(kind: Any, parameters: State, state: State) -> Any:
    """An imputer that is fitted to one row: its mean, median and most frequent values are its values."""
    imputer = kind(**parameters)
    return _refitted(imputer, state["statistics_"][None], state) if state else imputer


def graph_cut_state(embedding: Any) -> State:
    """What it has learned, with the graph as a matrix alone."""
    return {name: part for name, part in learned(embedding).items() if name != "_graph"}


def graph_cut_from_state(kind: Any, parameters: State, state: State) -> Any:
    """The embedding, with its graph checked as in fit."""
    from rankwise.embeddings.item_graphs import check_graph

    embedding = kind(**parameters)
    if state:
        vars(embedding).update(state, _graph=check_graph(state["graph_"]))
    return embedding


def neural_state(ranker: Any) -> State:
    """What it has learned, with the network as arrays by name."""
    state = learned(ranker)
    if "network_" in state:
        weights = state["network_"].state_dict()
        state["network_"] = {name: tensor.detach().cpu().numpy() for name, tensor in weights.items()}
    return state


def neural_from_state(kind: Any, parameters: State, state: State) -> Any:
    """The ranker with a network of the layers that its parameters ask for, filled with the arrays."""
    ranker = kind(**parameters)
    if not state:
        return ranker
    from rankwise._optional import require

    torch = require("torch", extra="neural", caller="loading a NeuralRanker")
    ranker._validate_params()
    weights = state["network_"]
    vars(ranker).update({name: part for name, part in state.items() if name != "network_"})
    # Layers without memory, and not more of them than there are arrays for: what parameters ask for may be absurd.
    if len(ranker.hidden) + ranker.attention * ranker.n_blocks > len(weights):
        raise ValueError("there are fewer arrays than layers")
    with torch.device("meta"):
        network = ranker._layers(torch)
    network.load_state_dict({name: torch.from_numpy(part) for name, part in weights.items()}, assign=True)
    ranker.network_ = network.eval()
    return ranker


def _refitted(step: Any, rows: Any, state: State) -> Any:
    """A step of scikit-learn that learns its state again, private parts of other versions and all."""
    step.fit(rows)
    vars(step).update({name: part for name, part in state.items() if name == "feature_names_in_"})
    return step


def _checked_generator_state(state: State) -> State:
    if state["bit_generator"] not in ("PCG64", "PCG64DXSM", "SFC64", "MT19937"):
        raise ValueError("a random generator is of no known type")
    if state["bit_generator"] == "MT19937":
        inner = state["state"]
        if len(inner["key"]) != _MT_WORDS or not 0 <= inner["pos"] <= _MT_WORDS:
            raise ValueError("the state of a random generator is none")
    return state
