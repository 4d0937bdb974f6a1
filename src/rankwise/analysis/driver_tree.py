"""A tree of significant splits on the features that `drivers` looks at, and why it has none where it has none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankwise._tables import short_name
from rankwise._typing import ArrayLike
from rankwise._validation import check_open_share
from rankwise.analysis.driver_features import driver_features, taken_apart
from rankwise.analysis.group_differences import p_text


def drivers_tree(
    X: Any,
    rankings: ArrayLike | None = None,
    *,
    feature_names: Sequence[str] | None = None,
    categorical_features: Any = None,
    level: float = 0.95,
    max_depth: int | None = 3,
) -> Any:
    """Grow a tree whose splits are significant on the features that `drivers` looks at.

    Parameters
    ----------
    X, rankings, feature_names, categorical_features
        As in `drivers`.
    level : float, default=0.95
        One less the level of the tests.
    max_depth : int, optional
        Most splits above a leaf.

    Returns
    -------
    PlackettLuceTree
        Fitted; its features have names.

    Examples
    --------
    >>> import numpy as np
    >>> from rankwise.analysis import drivers_tree
    >>> age = np.arange(80.0) + 20.5
    >>> y = np.where(age[:, None] < 60, [[1, 2, 3]], [[3, 1, 2]])
    >>> y[::8] = y[::8, [1, 2, 0]]  # not everybody agrees
    >>> y[4::8] = y[4::8, [2, 0, 1]]
    >>> print(drivers_tree({"age": age}, y).export_text())
    |-- age <= 61, p < 0.001: 0 > 1 > 2  (n=41)
    |-- age > 61: 1 > 2 > 0  (n=39)
    """
    from rankwise._features import set_feature_names
    from rankwise.label_ranking import PlackettLuceTree

    check_open_share("level", level)
    X, y, categorical_features = taken_apart(X, rankings, categorical_features)[:3]
    features = driver_features(X, feature_names, categorical_features, len(y))
    categories = {
        column: None if features.is_nominal[column] else levels
        for column, levels in enumerate(features.categories)
        if levels is not None
    }
    values = features.values.astype(object)
    for column, levels in enumerate(features.categories):
        if levels is not None:
            values[:, column] = [None if code != code else levels[int(code)] for code in features.values[:, column]]
    X = values if categories else features.values
    tree = PlackettLuceTree(1 - level, max_depth=max_depth, categorical_features=categories or None)
    tree.fit(X, y.comparable())
    set_feature_names(tree, features.names)
    return tree


def tree_note(tree: Any) -> str:
    """What the splits of a tree of `drivers_tree` mean, or why there are none."""
    if len(tree.p_values_) > 1:
        return "every split is significant, corrected for the number of features"
    p_values = tree.p_values_[0]
    if np.isnan(p_values).all():
        return "no split: people are too few for two leaves, or no feature could be tested"
    best = int(np.nanargmin(p_values))
    name, smallest = short_name(str(tree.feature_names_in_[best])), float(p_values[best])
    if smallest > tree.alpha:
        return f"no split: no feature is significant; the nearest is {name}, corrected {p_text(smallest)}"
    return (
        f"no split, although {name} is significant ({p_text(smallest)}): no cut leaves enough people on both sides, as "
        "min_samples_leaf wants"
    )
