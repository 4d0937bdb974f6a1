"""From one version of the file format to the next, so that files written by earlier versions still load.

`files.load` runs these steps on the manifest of an old file before anything is built from it. Each step has a table:
per class, what its constructor parameters and saved attributes were called before, and what they are called now.

To rename a parameter, one of its string values, or a saved attribute, add a line to the table of the last step (a class
without an entry gets one), and run ``tests/persistence``, which loads the files of ``tests/persistence/golden``::

    "RankingForest": Change(
        parameters={"consensus": "decode", "nonsense": None},       # old name -> new name; None drops it
        values={"decode": {"kemeny-young": "kemeny"}},              # new name of the parameter -> old -> new value
        state={"_centre": "_center"},                               # saved attributes, like parameters
        then=_focus_of_embedding,                                   # whatever a table cannot say
    ),

``name="NewName"`` renames a class. ``then`` is a small function that runs last. It is given the record of the object
(keys ``"class"``, ``"parameters"`` and ``"state"``), which it changes in place, and the list of the records before it::

    def _early_stopping(record: Record, before: list[Record]) -> None:
        rounds = record["parameters"].pop("early_stopping")
        record["parameters"] |= {"early_stopping": rounds is not None, "n_iter_no_change": rounds or 10}

Values are as in the manifest: numbers, text, lists, None, and ``{"object": 3}`` for object number 3 in that list, which
the function may look up. To wrap such an object in a new one, append a record to the list and refer to its number,
``len(before) - 1``; references in later records are renumbered. A record may come from anywhere, so a function may
meet anything: whatever it raises is reported as a damaged file.

A parameter that is new needs no line if its default means what the class did before; else ``then`` sets it.

Once a version of rankwise has been released, its table is final: the next change raises `FORMAT_VERSION` and adds a
step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

Record = dict[str, Any]
Manifest = dict[str, Any]

#: version of the format that is written; all versions up to it are read
FORMAT_VERSION = 3


class Change(NamedTuple):
    """What was renamed in a class; see the top of this module."""

    parameters: Mapping[str, str | None] = {}
    values: Mapping[str, Mapping[str, Any]] = {}
    state: Mapping[str, str | None] = {}
    name: str | None = None
    then: Callable[[Record, list[Record]], None] | None = None


def _focus_of_embedding(record: Record, before: list[Record]) -> None:
    """Forests that looked at items or pairs named these as their embedding."""
    parameters, state = record["parameters"], record["state"]
    if parameters["embedding"] in ("item", "pair", "auto"):
        parameters |= {"focus": parameters["embedding"], "embedding": "kemeny"}
    if "embedding_" in state:
        found = state.pop("embedding_")
        state["focus_"] = found if found in ("item", "pair") else None


def _unsmoothed(record: Record, before: list[Record]) -> None:
    """Trees said the shares of their leaves as they are."""
    record["parameters"]["smoothing"] = 0.0


def _p_value_of_table(record: Record, before: list[Record]) -> None:
    """The table of selected features wrote p-values as one word."""
    table = record["state"].get("table_")
    if table is not None:
        table["dict"] = [["p_value" if name == "pvalue" else name, column] for name, column in table["dict"]]


def _early_stopping_and_score_gain(record: Record, before: list[Record]) -> None:
    """Query rankers had one gain for training and score, and a patience in place of a flag."""
    parameters = record["parameters"]
    parameters["score_gain"] = parameters["gain"]
    if "early_stopping" in parameters:
        patience = parameters["early_stopping"]
        parameters["early_stopping"] = patience is not None
        if patience is not None:
            parameters["n_iter_no_change"] = patience


def _lambdamart(record: Record, before: list[Record]) -> None:
    """LightGBM's booster was not wrapped in an object with the interface of level trees."""
    _early_stopping_and_score_gain(record, before)
    trees = record["state"].get("booster_")
    if trees is not None and before[trees["object"]]["class"] == "Booster":
        before.append({"class": "LightGBMTrees", "parameters": {}, "state": {"booster": trees}})
        record["state"]["booster_"] = {"object": len(before) - 1}


def _norms(record: Record, before: list[Record]) -> None:
    """One flag was both norms, and level trees took parameters that have no effect on them."""
    parameters = record["parameters"]
    if "normalize" in parameters:
        parameters |= dict.fromkeys(("gap_norm", "query_norm"), parameters.pop("normalize"))
    if parameters.get("tree") == "level":
        parameters |= {"num_leaves": None, "min_samples_leaf": None}


_LISTWISE = {name: f"listwise_{name}" for name in ("listnet", "softmax", "listmle", "plistmle", "approx_ndcg")}

# Classes by their names in format 1, in alphabetical order.
_FORMAT_1_TO_2: dict[str, Change] = {
    "BradleyTerry": Change(parameters={"prior": "alpha"}),
    "ClusterRanker": Change(parameters={"prior": "alpha"}),
    "ConcordanceSelector": Change(then=_p_value_of_table),
    "DummyRanker": Change(parameters={"strategy": "decode"}),
    "LambdaMART": Change(
        parameters={"at": "k", "noise": "gumbel_scale", "l2": "l2_regularization"},
        values={
            "objective": {
                "ranknet": "pairwise_logistic",
                "regression": "pointwise_squared",
                "classification": "pointwise_logistic",
            }
        },
        then=_lambdamart,
    ),
    "LinearRanker": Change(
        parameters={"at": "k"},
        values={
            "loss": {
                "logistic": "pairwise_logistic",
                "hinge": "pairwise_squared_hinge",
                "squared": "pairwise_squared",
                **_LISTWISE,
            }
        },
        then=_early_stopping_and_score_gain,
    ),
    "NearestNeighborsRanker": Change(parameters={"consensus": "decode"}),
    "NeuralRanker": Change(
        parameters={"at": "k", "noise": "input_noise", "weight_decay": "alpha"},
        values={"loss": {"squared": "pointwise_squared", "logistic": "pointwise_logistic", **_LISTWISE}},
        state={"_centre": "_center"},
        then=_early_stopping_and_score_gain,
    ),
    "PairwiseRanker": Change(values={"decode": {"soft": "borda", "hard": "copeland"}}),
    "PlackettLuce": Change(parameters={"prior": "alpha"}),
    "RankingForest": Change(then=_focus_of_embedding),
    "RankingTree": Change(parameters={"consensus": "decode"}, then=_unsmoothed),
}

_FORMAT_2_TO_3: dict[str, Change] = {"LambdaMART": Change(then=_norms)}

#: changes from each version of the format to the next
CHANGES: dict[int, dict[str, Change]] = {1: _FORMAT_1_TO_2, 2: _FORMAT_2_TO_3}


def upgraded(manifest: Manifest, version: int) -> Manifest:
    """The manifest of a file of an earlier version as the current format has it."""
    for number in range(version, FORMAT_VERSION):
        manifest = _next_version(manifest, CHANGES[number])
    return manifest


def _next_version(manifest: Manifest, changes: Mapping[str, Change]) -> Manifest:
    records: list[Record] = []
    numbers: list[int] = []  # old number of an object -> new number
    for old in manifest["objects"]:
        record = _renumbered(old, numbers)
        change = changes.get(record["class"])
        if change is not None:
            _apply(change, record, records)
        records.append(record)
        numbers.append(len(records) - 1)
    root = changes.get(manifest["class"])
    name = manifest["class"] if root is None or root.name is None else root.name
    return {**manifest, "class": name, "objects": records}


def _apply(change: Change, record: Record, before: list[Record]) -> None:
    record["class"] = change.name or record["class"]
    for title, names in (("parameters", change.parameters), ("state", change.state)):
        kept = {names.get(name, name): part for name, part in record[title].items()}
        record[title] = {name: part for name, part in kept.items() if name is not None}
    for name, values in change.values.items():
        value = record["parameters"].get(name)
        if isinstance(value, str):
            record["parameters"][name] = values.get(value, value)
    if change.then is not None:
        change.then(record, before)


def _renumbered(part: Any, numbers: list[int]) -> Any:
    """A copy in which references to objects have their new numbers."""
    if isinstance(part, list):
        return [_renumbered(entry, numbers) for entry in part]
    if not isinstance(part, dict):
        return part
    if part.keys() == {"object"}:
        number = part["object"]
        if type(number) is not int or not 0 <= number < len(numbers):
            raise ValueError(f"the manifest refers to object {ascii(number)[:20]}, but only {len(numbers)} come before")
        return {"object": numbers[number]}
    return {name: _renumbered(entry, numbers) for name, entry in part.items()}
