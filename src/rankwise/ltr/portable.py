"""Level trees for other programs: as a model of LightGBM, as ONNX, and as plain JSON.

A level tree is a symmetric tree, so whatever reads LightGBM's models (Treelite, SHAP, search engines) can take it. All
three score rows as `LambdaMART.predict` does; the tests compare them.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from rankwise._optional import require
from rankwise._threads import one_thread
from rankwise.ltr.lambdamart import LambdaMART
from rankwise.ltr.level_trees import LevelTrees

# LightGBM reads no infinite thresholds; its own end here.
_LARGEST_THRESHOLD = 1e300
# Of missing values in LightGBM's files: they are NaN, and go left.
_MISSING_IS_NAN, _MISSING_LEFT = 8, 2


def to_lightgbm(ranker: LambdaMART) -> Any:
    """The trees that predict, as a booster of LightGBM.

    Parameters
    ----------
    ranker : LambdaMART
        A fitted ranker, of either kind of trees. Level trees on categories are refused: `to_json` takes them.

    Returns
    -------
    lightgbm.Booster
        Predicts the same scores; ``save_model`` writes the text that other programs read. In its contributions a leaf
        without training rows counts as one row.

    Examples
    --------
    >>> from rankwise.datasets import make_retrieval
    >>> from rankwise.ltr import LambdaMART
    >>> from rankwise.ltr.portable import to_lightgbm
    >>> X, y, qid, _ = make_retrieval(60, random_state=0)
    >>> ranker = LambdaMART(20, tree="level", random_state=0).fit(X, y, qid=qid)
    >>> bool((to_lightgbm(ranker).predict(X) == ranker.predict(X)).all())
    True
    """
    trees = _trees_of(ranker)
    if not isinstance(trees, LevelTrees):
        return _read(trees.booster.model_to_string(num_iteration=ranker.n_estimators_))
    _refuse_categories(ranker, "LightGBM's")
    names = _feature_names(ranker)
    if len(set(names)) < len(names) or not all(re.fullmatch(r'[^\s,:"\[\]{}]+', name) for name in names):
        names = [f"Column_{number}" for number in range(len(names))]  # LightGBM's own names
    header = [
        "tree",
        "version=v4",
        "num_class=1",
        "num_tree_per_iteration=1",
        "label_index=0",
        f"max_feature_idx={len(names) - 1}",
        "objective=lambdarank",
        f"feature_names={' '.join(names)}",
        f"feature_infos={' '.join(['[-inf:inf]'] * len(names))}",
        "",
    ]
    blocks = [_lightgbm_tree(trees, number) for number in range(len(trees))]
    return _read("\n".join([*header, *blocks, "end of trees", "", "pandas_categorical:null", ""]))


def to_json(ranker: LambdaMART) -> dict[str, Any]:
    """Level trees as numbers, lists and text, which ``json.dumps`` writes and a few lines of any language evaluate.

    Parameters
    ----------
    ranker : LambdaMART
        A ranker fitted with ``tree="level"``.

    Returns
    -------
    dict
        "features" are the names, in order. "categories" has for each feature that holds categories, by its number, the
        number that stands for each; any other value is missing. Each of "trees" has, for its levels, "feature",
        "threshold" and "missing_left", and for its leaves "value". Level d sets bit d of the number of the leaf if the
        feature lies above the threshold, or is missing and ``missing_left`` is false; a threshold of null lies above
        all numbers. The score is the sum of the values of the leaves, tree by tree.

    Examples
    --------
    >>> from rankwise.datasets import make_retrieval
    >>> from rankwise.ltr import LambdaMART
    >>> from rankwise.ltr.portable import to_json
    >>> X, y, qid, _ = make_retrieval(60, random_state=0)
    >>> ranker = LambdaMART(20, tree="level", max_depth=2, random_state=0).fit(X, y, qid=qid)
    >>> sorted(to_json(ranker)["trees"][0])
    ['feature', 'missing_left', 'threshold', 'value']
    """
    trees = _level_trees_of(ranker, "to_json")
    categories: dict[str, dict[Any, float]] = {}
    for number, names in enumerate(ranker._encoder.categories_):
        if names is not None:
            codes = np.zeros((len(names), ranker.n_features_in_))
            codes[:, number] = np.arange(len(names))
            values = (codes if trees.statistics is None else trees.statistics.transform(codes))[:, number]
            categories[str(number)] = dict(zip(map(str, names), values.tolist(), strict=True))
    found = []
    for tree in range(len(trees)):
        levels = _levels(trees, tree)
        thresholds = trees.threshold[tree, levels].tolist()
        found.append(
            {
                "feature": trees.feature[tree, levels].tolist(),
                "threshold": [None if at == np.inf else at for at in thresholds],
                "missing_left": trees.missing_left[tree, levels].tolist(),
                "value": trees.value[tree, _leaves(levels)].tolist(),
            }
        )
    return {
        "format": "rankwise level trees",
        "version": 1,
        "features": _feature_names(ranker),
        "categories": categories,
        "trees": found,
    }


def to_onnx(ranker: LambdaMART) -> Any:
    """Level trees as a model of ONNX, with features and scores of 64 bits.

    Parameters
    ----------
    ranker : LambdaMART
        A ranker fitted with ``tree="level"`` on numbers; for LightGBM's trees there is onnxmltools.

    Returns
    -------
    onnx.ModelProto
        From "X", of shape (n_rows, n_features), to "score", of shape (n_rows, 1). It is one node ``TreeEnsemble``,
        which onnxruntime 1.20 and later run.
    """
    onnx = require("onnx", extra="onnx", caller="to_onnx")
    trees = _level_trees_of(ranker, "to_onnx")
    _refuse_categories(ranker, "ONNX")
    nodes: dict[str, list[int]] = {name: [] for name in _NODE_PARTS}
    splits: list[float] = []
    values: list[float] = []
    for tree in range(len(trees)):
        levels = _levels(trees, tree)
        nodes["tree_roots"].append(len(splits))
        first, first_leaf = len(splits), len(values)
        values += trees.value[tree, _leaves(levels)].tolist()
        for level, prefix in _inner_nodes(max(len(levels), 1)):
            if len(levels):
                at = levels[level]
                asked = (trees.feature[tree, at], trees.threshold[tree, at], trees.missing_left[tree, at])
            else:
                asked = (0, np.inf, True)  # a leaf alone: all go to it
            splits.append(float(asked[1]))
            nodes["nodes_featureids"].append(int(asked[0]))
            nodes["nodes_missing_value_tracks_true"].append(int(asked[2]))
            is_last = level >= len(levels) - 1
            for side, child in (("true", prefix), ("false", prefix + (1 << level) if len(levels) else prefix)):
                place = first_leaf + child if is_last else first + (2 << level) - 1 + child
                nodes[f"nodes_{side}nodeids"].append(place)
                nodes[f"nodes_{side}leafs"].append(int(is_last))
    helper, double = onnx.helper, onnx.TensorProto.DOUBLE
    node = helper.make_node(
        "TreeEnsemble",
        ["X"],
        ["score"],
        domain="ai.onnx.ml",
        n_targets=1,
        aggregate_function=1,  # the sum
        post_transform=0,
        nodes_splits=helper.make_tensor("nodes_splits", double, [len(splits)], splits),
        nodes_modes=helper.make_tensor("nodes_modes", onnx.TensorProto.UINT8, [len(splits)], [0] * len(splits)),
        leaf_weights=helper.make_tensor("leaf_weights", double, [len(values)], values),
        leaf_targetids=[0] * len(values),
        **nodes,
    )
    graph = helper.make_graph(
        [node],
        "rankwise",
        [helper.make_tensor_value_info("X", double, [None, ranker.n_features_in_])],
        [helper.make_tensor_value_info("score", double, [None, 1])],
    )
    versions = [helper.make_opsetid("", 21), helper.make_opsetid("ai.onnx.ml", 5)]
    model = helper.make_model(graph, opset_imports=versions, ir_version=10, producer_name="rankwise")
    onnx.checker.check_model(model)
    return model


_NODE_PARTS = (
    "tree_roots",
    "nodes_featureids",
    "nodes_missing_value_tracks_true",
    "nodes_truenodeids",
    "nodes_falsenodeids",
    "nodes_trueleafs",
    "nodes_falseleafs",
)


def _read(text: str) -> Any:
    """A booster of LightGBM, whose threads read the text if they may, and would not live on in forked processes."""
    import lightgbm

    with one_thread():
        return lightgbm.Booster(model_str=text)


def _trees_of(ranker: LambdaMART) -> Any:
    """The booster of a fitted ranker; of level trees, those that predict."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(ranker)
    trees = ranker.booster_
    return trees[: ranker.n_estimators_] if isinstance(trees, LevelTrees) else trees


def _level_trees_of(ranker: LambdaMART, caller: str) -> LevelTrees:
    trees = _trees_of(ranker)
    if not isinstance(trees, LevelTrees):
        raise ValueError(f"{caller} is for level trees, but this ranker has LightGBM's; to_lightgbm exports them")
    return trees


def _refuse_categories(ranker: LambdaMART, whose: str) -> None:
    for number, names in enumerate(ranker._encoder.categories_):
        if names is not None:
            raise ValueError(
                f"column {_feature_names(ranker)[number]} holds categories, but {whose} trees here take numbers; "
                "export with to_json, or encode categories before (sklearn.preprocessing.TargetEncoder)"
            )


def _feature_names(ranker: LambdaMART) -> list[str]:
    numbered = [f"Column_{number}" for number in range(ranker.n_features_in_)]
    return [str(name) for name in getattr(ranker, "feature_names_in_", numbered)]


def _levels(trees: LevelTrees, tree: int) -> Any:
    """The levels of a tree that ask something."""
    return np.flatnonzero(trees.feature[tree] >= 0)


def _leaves(levels: Any) -> Any:
    """Numbers of the leaves that rows reach: those whose bits are of levels that ask something."""
    leaves = np.zeros(1, dtype=np.int64)
    for level in levels:
        leaves = np.concatenate([leaves, leaves + (1 << int(level))])
    return leaves


def _inner_nodes(depth: int) -> list[tuple[int, int]]:
    """Level and number within the level of all inner nodes of a symmetric tree, from the root on."""
    return [(level, prefix) for level in range(depth) for prefix in range(1 << level)]


def _lightgbm_tree(trees: LevelTrees, tree: int) -> str:
    """A tree in LightGBM's text format; leaf l is at place l."""
    levels = _levels(trees, tree)
    depth, leaves = len(levels), _leaves(levels)
    # LightGBM's contributions divide by the rows of a node, so that a leaf must have some.
    value, count = trees.value[tree, leaves], np.maximum(trees.count[tree, leaves], 1)
    inner = _inner_nodes(depth)
    counts: list[float] = []
    means: list[float] = []
    lefts: list[int] = []
    rights: list[int] = []
    for level, prefix in inner:
        below = np.arange(prefix, 1 << depth, 1 << level)
        rows = count[below]
        counts.append(rows.sum())
        means.append(float(value[below] @ rows / rows.sum()))
        for children, child in ((lefts, prefix), (rights, prefix + (1 << level))):
            children.append(-child - 1 if level == depth - 1 else (2 << level) - 1 + child)
    at = levels[[level for level, _ in inner]] if depth else levels
    threshold = np.minimum(trees.threshold[tree, at], _LARGEST_THRESHOLD)
    parts: dict[str, Any] = {
        "num_leaves": [1 << depth],
        "num_cat": [0],
        "split_feature": trees.feature[tree, at],
        "split_gain": trees.gain[tree, at] / np.array([1 << level for level, _ in inner]) if depth else [],
        "threshold": threshold,
        "decision_type": _MISSING_IS_NAN + _MISSING_LEFT * trees.missing_left[tree, at],
        "left_child": lefts,
        "right_child": rights,
        "leaf_value": value,
        "leaf_weight": count,
        "leaf_count": count.astype(np.int64),
        "internal_value": means,
        "internal_weight": counts,
        "internal_count": np.array(counts, dtype=np.int64),
        "is_linear": [0],
        "shrinkage": [1],
    }
    lines = [f"{name}={' '.join(map(repr, np.asarray(part).tolist()))}" for name, part in parts.items()]
    return "\n".join([f"Tree={tree}", *lines, "", ""])
