"""WarmStartMixin: another ``fit`` keeps the trees and adds what ``n_estimators`` lacks, of forests and boosting."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar
from zlib import crc32

import numpy as np

from rankwise._state import STRING, Saved, dict_of, optional
from rankwise._typing import FloatArray
from rankwise.data import Rankings
from rankwise.label_ranking.base import LabelRankerMixin
from rankwise.trees.engine import LeafGaps, LeafRows, Tree

# Parameters that may change between two fits: they do not say how a tree grows.
_FREE = ("n_estimators", "n_jobs", "warm_start", "oob_score", "calibrate", "n_iter_no_change")


class WarmStartMixin(LabelRankerMixin):
    """A ranker with ``trees_``, ``n_estimators`` and ``warm_start``."""

    trees_: list[Tree]
    n_estimators: int
    warm_start: bool
    random_state: Any
    _grown_with: dict[str, str]

    _saved: ClassVar[Saved] = {"_grown_with": optional(dict_of(STRING))}

    def _continues(self) -> bool:
        return bool(self.warm_start) and hasattr(self, "trees_")

    def _kept_trees(self) -> list[Tree]:
        """The trees of the fit before, if they are kept."""
        return list(self.trees_) if self._continues() else []

    def _check_continued(self, X: FloatArray, y: Rankings) -> None:
        """Refuse to add trees of another kind, or of other rows, to those that there are; remember what these are."""
        continues = self._continues()
        before = vars(self).pop("_grown_with", None)
        if not self.warm_start:
            return
        now = {name: self._value_in_words(name) for name in self.get_params(deep=False) if name not in _FREE}
        data = (X, y.positions, y.weights)
        now["data"] = " ".join(str(crc32(np.ascontiguousarray(part).tobytes())) for part in data)
        if continues:
            self._compare(before, now)
        self._grown_with = now

    def _compare(self, before: dict[str, str] | None, now: dict[str, str]) -> None:
        n, cure = len(self.trees_), "or fit again with warm_start=False"
        if before is None:
            raise ValueError(
                f"warm_start is True, but the {n} trees there are were grown without it, so that it is not known how; "
                "fit again with warm_start=True from the start"
            )
        self._grown_with = before
        for name in now:
            if now[name] == before.get(name):
                continue
            if name == "data":
                raise ValueError(
                    f"warm_start keeps the {n} trees there are and adds others on the same rows, but X, y or the "
                    f"weights are not those of the fit before; give these, {cure}"
                )
            raise ValueError(
                f"{name} is {now[name]}, but the {n} trees that warm_start keeps were grown with "
                f"{before.get(name, 'another value')}; set it back, {cure}"
            )
        if self.n_estimators < n:
            raise ValueError(
                f"n_estimators is {self.n_estimators}, but warm_start keeps the {n} trees there are; give more, {cure}"
            )

    def _value_in_words(self, name: str) -> str:
        value = getattr(self, name)
        if name == "random_state" and not (value is None or isinstance(value, Integral)):
            return f"a {type(value).__name__}"  # it moves on
        return repr(value)


def with_targets_of(kept: list[Tree], grown: list[Tree]) -> list[Tree]:
    """New trees whose leaves refer to the rankings that the kept ones refer to: the same ones are held only once."""
    held = next((tree.contents.targets for tree in kept if isinstance(tree.contents, LeafRows | LeafGaps)), None)
    return [
        replace(tree, contents=replace(tree.contents, targets=held))
        if held is not None
        and isinstance(tree.contents, LeafRows | LeafGaps)
        and np.array_equal(tree.contents.targets.values, held.values, equal_nan=True)
        else tree
        for tree in grown
    ]
