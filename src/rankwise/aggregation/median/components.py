"""Components: sets of items that a consensus may keep together, one set after the other."""

from __future__ import annotations

import numpy as np

from rankwise._typing import BoolArray, FloatArray, IntArray
from rankwise.aggregation.median import _jit
from rankwise.aggregation.pairwise import majority


def majority_components(wins: FloatArray) -> list[IntArray]:
    """Strongly connected components of the strict majority graph, best first.

    Every pair across two components is ordered as its majority wants, so medians of the components, one after
    the other, make a median of all.
    """
    return ordered_components(majority(wins), wins.sum(axis=1) - wins.sum(axis=0))


def ordered_components(edges: BoolArray, score: FloatArray) -> list[IntArray]:
    """Strongly connected components in an order that all edges between them follow.

    Where edges leave it open, items of higher score come first, and of equal score those with the smaller number.
    """
    ascending = np.argsort(-score, kind="stable")[::-1]
    label = np.empty(len(score), dtype=np.intp)
    number = _jit.strong_components(np.ascontiguousarray(edges[np.ix_(ascending, ascending)]), label)
    component = np.empty_like(label)
    component[ascending] = label
    members = np.argsort(component, kind="stable")
    return np.split(members, np.cumsum(np.bincount(component, minlength=number))[:-1])
