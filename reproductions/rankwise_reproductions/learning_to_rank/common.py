"""What the experiments on losses of pairs share."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.intp]


def pairs(y: IntArray, qid: IntArray) -> tuple[IntArray, IntArray]:
    """Rows of the more and of the less relevant document of each pair of a query."""
    found = []
    for query in np.unique(qid):
        rows = np.flatnonzero(qid == query)
        more, less = np.nonzero(y[rows][:, None] > y[rows])
        found.append((rows[more], rows[less]))
    return np.concatenate([more for more, _ in found]), np.concatenate([less for _, less in found])
