"""The training people that a prediction rests on, with their rankings: `Prototypes`."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwise._sklearn import gen_batches
from rankwise._tables import Result, TextTable, counted, make_frame, short_name
from rankwise._typing import FloatArray, IntArray
from rankwise.data import Rankings
from rankwise.label_ranking import _tree_answers_jit
from rankwise.trees.structure import Tree

# Numbers of shared leaves that are held at a time.
_MOST_COUNTS = 1 << 22
_MOST_SHOWN = 20


@dataclass(frozen=True, eq=False, repr=False)
class Prototypes(Result):
    """The training people nearest to each row, with their rankings.

    Attributes
    ----------
    rows : ndarray of int, shape (n_samples, n_prototypes)
        Their numbers among the training rows, the nearest first; of equally near ones, the first.
    nearness : ndarray of shape (n_samples, n_prototypes)
        Share of the trees in which they are in the same leaf (higher is nearer), or distance (lower is nearer).
    positions : ndarray of shape (n_samples, n_prototypes, n_items)
        Their rankings: positions, 1 = best.
    items : tuple
        Names of the items.
    measure : {"shared leaves", "distance"}
        What ``nearness`` is.
    """

    rows: IntArray
    nearness: FloatArray
    positions: FloatArray
    items: tuple[Hashable, ...]
    measure: str

    def __len__(self) -> int:
        return len(self.rows)

    def rankings(self, row: int) -> Rankings:
        """The rankings of the people nearest to a row, the nearest first."""
        return Rankings(self.positions[row], self.items)

    def tables(self) -> list[TextTable]:
        """The people nearest to each row."""
        title = f"Nearest training rows of {counted(len(self), 'row')}"
        lines = [
            [*([str(row)] if len(self) > 1 else []), str(self.rows[row, place]), f"{near:.3f}", texts[place]]
            for row in range(len(self))
            for texts in [self._texts(row)]
            for place, near in enumerate(self.nearness[row])
        ]
        left_out = len(lines) - _MOST_SHOWN
        note = f"{left_out:,} more lines left out; to_frame() has all" if left_out > 0 else ""
        columns = [*(["of row"] if len(self) > 1 else []), "training row", self.measure, "ranking"]
        return [TextTable(title, note, columns, lines[:_MOST_SHOWN])]

    def to_frame(self, backend: str | None = None) -> Any:
        """A line for each row and person: row, training_row, nearness, ranking.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default the first of these that is installed.

        Returns
        -------
        data frame
        """
        n, size = self.rows.shape
        columns = {
            "row": np.repeat(np.arange(n), size).tolist(),
            "training_row": self.rows.ravel().tolist(),
            "nearness": self.nearness.ravel().tolist(),
            "ranking": [text for row in range(n) for text in self._texts(row)],
        }
        return make_frame(columns, backend)

    def _texts(self, row: int) -> list[str]:
        return [_ranking_text(buckets, self.items) for buckets in self.rankings(row).buckets()]


def _ranking_text(buckets: Any, items: tuple[Hashable, ...]) -> str:
    return " > ".join(" = ".join(short_name(items[item]) for item in bucket) for bucket in buckets)


def nearest_by_leaves(
    trees: list[Tree], X: FloatArray, training: FloatArray, n_prototypes: int
) -> tuple[IntArray, FloatArray]:
    """Numbers of the training rows that share most leaves with each row, and in which share of the trees they do."""
    leaves = np.array([tree.leaf_of(X) for tree in trees])
    others = np.array([tree.leaf_of(training) for tree in trees])
    rows = np.empty((len(X), n_prototypes), dtype=np.intp)
    shares = np.empty((len(X), n_prototypes))
    for block in gen_batches(len(X), max(1, _MOST_COUNTS // len(training))):
        counts = np.zeros((block.stop - block.start, len(training)), dtype=np.int32)
        _tree_answers_jit.shared_leaves(np.ascontiguousarray(leaves[:, block]), others, counts)
        rows[block] = np.argsort(-counts, axis=1, kind="stable")[:, :n_prototypes]
        shares[block] = np.take_along_axis(counts, rows[block], axis=1) / len(trees)
    return rows, shares
