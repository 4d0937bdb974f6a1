"""LightGBM's models as text, checked line by line before they reach its parser, which trusts them.

LightGBM reads sizes, children and features from the text and uses them as places in memory; a wrong one crashes the
process. Only what is checked here is passed on: the header and the trees. Importances and training parameters, which
predict nothing, are dropped. `classes` uses this for the class ``Booster``.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from rankwise._threads import one_thread
from rankwise._typing import FloatArray, IntArray

# LightGBM's own limit on leaves, and a depth at which its recursions still take little of the stack.
_MOST_LEAVES = 131_072
_MOST_LEVELS = 4_096
_MOST_FEATURES = 10_000_000
_END = "end of trees\n"
_CATEGORICAL = 1


def booster_state(booster: Any) -> dict[str, Any]:
    """The text of a booster as bytes, checked."""
    text = booster.model_to_string(num_iteration=-1)
    text = text[: text.index(f"\n{_END}") + 1] + _END
    check_booster_text(text)
    return {"text": np.frombuffer(text.encode("ascii"), dtype=np.uint8)}


def booster_from_state(cls: type, parameters: dict[str, Any], state: dict[str, Any]) -> Any:
    """The booster of a text, once that is checked."""
    text = state["text"].tobytes().decode("ascii")
    check_booster_text(text)
    with one_thread():  # its threads would not live on in processes that are forked later
        return cls(model_str=text)


def check_booster_text(text: str) -> None:
    """Refuse a text that LightGBM would not have written: only a header, and trees of the sizes that it lists."""
    head, *trees = re.split(r"^(?=Tree=)", text, flags=re.MULTILINE)
    header = _fields(head, _HEADER)
    n_features = _whole(header["max_feature_idx"], _MOST_FEATURES) + 1
    for name in ("feature_names", "monotone_constraints", "feature_infos"):
        if name in header and len(header[name].split(" ")) != n_features:
            raise ValueError(f"the number of {name} is not the number of features")
    if not trees or not trees[-1].endswith(_END):
        raise ValueError("the end of the trees is missing")
    trees[-1] = trees[-1].removesuffix(_END)
    if [_whole(size, len(text)) for size in header["tree_sizes"].split(" ")] != [len(tree) for tree in trees]:
        raise ValueError("the trees do not have the sizes that the header lists")
    for number, tree in enumerate(trees):
        fields = _fields(tree, _TREE)
        if fields["Tree"] != str(number):
            raise ValueError(f"tree {number} is called {fields['Tree'][:20]}")
        try:
            _check_tree(fields, n_features)
        except ValueError as error:
            raise ValueError(f"tree {number} of the booster: {error}") from None


def _many(entry: str) -> str:
    return rf"(?:{entry})(?: (?:{entry}))*"


_NUMBER = r"-?\d+(?:\.\d+)?(?:e[-+]\d+)?"
_WHOLES, _SIGNED, _NUMBERS = _many(r"\d+"), _many(r"-?\d+"), _many(_NUMBER)
# Lines and what their values look like, in the order of the text. Those with a question mark may be absent, and lists
# are empty in trees of one leaf.
_HEADER = {
    "version": r"v\d",
    "num_class": "1",
    "num_tree_per_iteration": "1",
    "label_index": "0",
    "max_feature_idx": r"\d+",
    "feature_names": _many(r"\w+"),
    "monotone_constraints?": _many("-1|0|1"),
    "feature_infos": _many(rf"none|\[{_NUMBER}:{_NUMBER}\]|-?\d+(?::-?\d+)*"),
    "tree_sizes": _WHOLES,
}
_TREE = {
    "Tree": r"\d+",
    "num_leaves": r"\d+",
    "num_cat": r"\d+",
    "split_feature": f"(?:{_WHOLES})?",
    "split_gain": f"(?:{_NUMBERS})?",
    "threshold": f"(?:{_NUMBERS})?",
    "decision_type": f"(?:{_WHOLES})?",
    "left_child": f"(?:{_SIGNED})?",
    "right_child": f"(?:{_SIGNED})?",
    "leaf_value": _NUMBERS,
    "leaf_weight": f"(?:{_NUMBERS})?",
    "leaf_count": _WHOLES,
    "internal_value": f"(?:{_NUMBERS})?",
    "internal_weight": f"(?:{_NUMBERS})?",
    "internal_count": f"(?:{_WHOLES})?",
    "cat_boundaries?": _WHOLES,
    "cat_threshold?": _WHOLES,
    "is_linear": "0",
    "shrinkage": _NUMBER,
}


def _fields(block: str, grammar: dict[str, str]) -> dict[str, str]:
    """Values of the lines of a header or a tree; unknown and missing lines are refused."""
    lines = block.removeprefix("tree\n").split("\n")
    # A header ends with an empty line, a tree with two.
    n_empty = 3 if "Tree" in grammar else 2
    if block.startswith("tree\n") == ("Tree" in grammar) or lines[-n_empty:] != [""] * n_empty:
        raise ValueError("a part of the booster does not begin or end as it should")
    found = [line.partition("=")[::2] for line in lines[:-n_empty]]
    present = [name for name, _ in found]
    expected = [name.rstrip("?") for name in grammar if not name.endswith("?") or name.rstrip("?") in present]
    if present != expected:
        raise ValueError("the booster has unknown lines, or some are missing")
    for (name, value), pattern in zip(found, (grammar.get(n, grammar.get(f"{n}?", "")) for n in present), strict=True):
        if not re.fullmatch(pattern, value, re.ASCII):
            raise ValueError(f"{name} of the booster has an unexpected value")
    return dict(found)


def _check_tree(fields: dict[str, str], n_features: int) -> None:
    n_leaves, n_sets = _whole(fields["num_leaves"], _MOST_LEAVES), _whole(fields["num_cat"], _MOST_LEAVES)
    n_inner = n_leaves - 1
    for name in ("split_gain", "threshold", "internal_value", "internal_weight", "leaf_value"):
        numbers = _numbers(fields[name], n_leaves if name == "leaf_value" else n_inner)
        if not np.isfinite(numbers).all():
            raise ValueError(f"{name} is not finite")
    _numbers(fields["leaf_weight"], n_leaves if n_inner else 0)
    _wholes(fields["leaf_count"], n_leaves, 0, 2**31 - 1)
    _wholes(fields["internal_count"], n_inner, 0, 2**31 - 1)
    _wholes(fields["split_feature"], n_inner, 0, n_features - 1)
    _check_children(
        _wholes(fields["left_child"], n_inner, -n_leaves, n_inner - 1),
        _wholes(fields["right_child"], n_inner, -n_leaves, n_inner - 1),
    )
    decision = _wholes(fields["decision_type"], n_inner, 0, 11)  # two bits, and a type of missing values from 0 to 2
    threshold = _numbers(fields["threshold"], n_inner)[(decision & _CATEGORICAL) > 0]
    if (threshold != np.floor(threshold)).any() or ((threshold < 0) | (threshold >= n_sets)).any():
        raise ValueError("a split refers to a set of categories that does not exist")
    if ("cat_boundaries" in fields) != ("cat_threshold" in fields) or ("cat_threshold" in fields) != (n_sets > 0):
        raise ValueError("sets of categories are missing")
    if n_sets:
        words = fields["cat_threshold"].split(" ")
        bounds = _wholes(fields["cat_boundaries"], n_sets + 1, 0, len(words))
        _wholes(fields["cat_threshold"], len(words), 0, 2**32 - 1)
        if bounds[0] != 0 or bounds[-1] != len(words) or (np.diff(bounds) < 1).any():
            raise ValueError("sets of categories overlap")


def _check_children(left: IntArray, right: IntArray) -> None:
    """Every node but the root is the child of exactly one earlier node; leaves are numbered from -1 down."""
    children = np.sort(np.concatenate([left, right]))
    n_inner = len(left)
    if not np.array_equal(
        children, np.concatenate([np.arange(-n_inner - 1, 0), np.arange(1, n_inner)])[: len(children)]
    ):
        raise ValueError("a node has no parent, or several")
    depth = np.zeros(n_inner, dtype=np.intp)
    for node, pair in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        for child in pair:
            if 0 <= child <= node:
                raise ValueError("a node comes before its parent")
            if child > 0:
                depth[child] = depth[node] + 1
    if depth.max(initial=0) > _MOST_LEVELS:
        raise ValueError(f"it has more than {_MOST_LEVELS} levels")


def _whole(text: str, most: int) -> int:
    """A whole number; long ones are refused before they are converted."""
    if len(text) > 18 or not text.isdigit() or int(text) > most:
        raise ValueError(f"{text[:20]} is more than {most}")
    return int(text)


def _numbers(text: str, count: int) -> FloatArray:
    numbers = np.array([float(entry) for entry in text.split(" ")] if text else [], dtype=np.float64)
    if len(numbers) != count:
        raise ValueError(f"there are {len(numbers)} numbers where {count} should be")
    return numbers


def _wholes(text: str, count: int, least: int, most: int) -> IntArray:
    numbers = _numbers(text, count)  # not exact beyond 2**53, but none of these numbers may be that large
    if ((numbers < least) | (numbers > most)).any():
        raise ValueError(f"a number is not between {least} and {most}")
    return numbers.astype(np.intp)
