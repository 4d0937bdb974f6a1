"""Trees to read: as indented text, and as a graph in the DOT language; used by `base.TreeMixin` and `plots`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rankwise.trees.structure import Tree

# Categories that a condition names, at most.
_MOST_NAMED = 6


def tree_text(tree: Tree, asked: Mapping[int, tuple[str, str]], leaves: list[str]) -> str:
    """Indented text, a line per node: the condition that leads to it, and for a leaf its text and number of rows."""
    lines: list[str] = []
    stack = [(0, 0, "")]
    while stack:  # no recursion: trees may be deeper than Python's stack
        node, depth, condition = stack.pop()
        line = "|   " * (depth - 1) + ("|-- " if depth else "") + condition
        left = int(tree.left[node])
        if left < 0:
            text = f"{leaves[tree.leaf_number[node]]}  (n={tree.count[node]})"
            lines.append(f"{line}: {text}" if condition else text)
            continue
        if condition:
            lines.append(line)
        yes, no = asked[node]
        stack += [(left + 1, depth + 1, no), (left, depth + 1, yes)]
    return "\n".join(lines)


def tree_dot(tree: Tree, asked: Mapping[int, tuple[str, str]], leaves: list[str]) -> str:
    """A graph for Graphviz: conditions in boxes, left means yes."""
    leaf_number = tree.leaf_number
    lines = ["digraph tree {", '  node [shape=box, fontname="Helvetica"];', '  edge [fontname="Helvetica"];']
    for node in range(len(tree.left)):
        if tree.left[node] < 0:
            text = _quoted(leaves[leaf_number[node]])
            lines.append(f'  {node} [label="{text}\\nn={tree.count[node]}", style="rounded"];')
        else:
            lines.append(f'  {node} [label="{_quoted(asked[node][0])}\\nn={tree.count[node]}"];')
            lines.append(f'  {node} -> {tree.left[node]} [label="yes"];')
            lines.append(f'  {node} -> {tree.left[node] + 1} [label="no"];')
    return "\n".join([*lines, "}"])


def conditions(tree: Tree, names: list[str], categories: list[Any]) -> dict[int, tuple[str, str]]:
    """For each inner node what rows that go left have in common, and what rows that go right do.

    Categories that went the other way further up are not named: no row that has them comes here.
    """
    asked: dict[int, tuple[str, str]] = {}
    come: dict[int, dict[int, list[int]]] = {0: {}}  # node -> feature -> codes of categories that come so far
    for node in np.flatnonzero(tree.left >= 0).tolist():  # parents come before their children
        feature, left, codes = int(tree.feature[node]), int(tree.left[node]), come.pop(node)
        name, values = names[feature], categories[feature]
        come[left] = come[left + 1] = codes
        if tree.set_of[node] < 0:
            asked[node] = _compared(name, tree.threshold[node], values)
            continue
        bits = tree.sets[tree.set_of[node]]
        sides: tuple[list[int], list[int]] = ([], [])
        for code in codes.get(feature, range(len(values))):
            goes_left = (bits[code // 64] >> np.uint64(code % 64)) & np.uint64(1)
            sides[0 if goes_left else 1].append(code)
        come[left], come[left + 1] = ({**codes, feature: side} for side in sides)
        if all(sides):
            yes, no = (f"{name} in {{{_short([str(values[code]) for code in side])}}}" for side in sides)
            asked[node] = yes, no
        else:
            known, missing = f"{name} is known", f"{name} is missing"
            asked[node] = (known, missing) if sides[0] else (missing, known)
    return asked


def _compared(name: str, threshold: float, categories: Any) -> tuple[str, str]:
    """What rows up to a threshold have in common, and what the others do."""
    if np.isinf(threshold):
        return f"{name} is known", f"{name} is missing"
    if categories is not None:  # ordered categories, split by their numbers
        last = categories[min(max(int(threshold), 0), len(categories) - 1)]
        return f"{name} <= {last}", f"{name} > {last}"
    return f"{name} <= {threshold:.4g}", f"{name} > {threshold:.4g}"


def _short(values: list[str]) -> str:
    rest = len(values) - _MOST_NAMED
    return ", ".join(values[:_MOST_NAMED]) + (f", ... {rest} more" if rest > 0 else "")


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
