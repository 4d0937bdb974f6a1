"""What the experiments on learning to rank share: pairs of documents, and when a difference has a sign."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rankwise_reproductions.experiment import Verdict

IntArray = npt.NDArray[np.intp]


def pairs(y: IntArray, qid: IntArray) -> tuple[IntArray, IntArray]:
    """Rows of the more and of the less relevant document of each pair of a query."""
    found = []
    for query in np.unique(qid):
        rows = np.flatnonzero(qid == query)
        more, less = np.nonzero(y[rows][:, None] > y[rows])
        found.append((rows[more], rows[less]))
    return np.concatenate([more for more, _ in found]), np.concatenate([less for _, less in found])


def falls(change: float, error: float) -> bool | None:
    """Whether a change is below 0 by two standard errors; None if it has no clear sign."""
    return change < 0 if abs(change) > 2 * error else None


def verdict(holds: bool | None, if_true: Verdict = "agrees") -> Verdict:
    """The verdict on a statement without numbers."""
    return "too small to judge" if holds is None else if_true if holds else "differs"
