"""What every child has ready: imported once, by the process from which children are forked (see `jobs`).

A child that is forked from it neither imports anything nor prepares the compiler, which takes a second or two. Only
work without threads is done here, because threads do not live on in a fork.
"""

from __future__ import annotations

import highspy  # noqa: F401
import scipy.cluster.hierarchy
import scipy.signal  # noqa: F401
import sklearn.pipeline  # noqa: F401

import rankwise.plots.tree_diagram
import rankwise.studio.worker  # noqa: F401
from rankwise.analysis import consensus, summary
from rankwise.data import Rankings
from rankwise.data.formats.delimited import LARGE, parse_table

# A table just large enough to be cut by compiled loops, with columns of few cells, of many numbers and of many texts.
_rows = "".join(f"{row % 3},{0.37 * row:.3f},name {row}\n" for row in range(LARGE // 16))
_table = parse_table(f"rank,share,who\n{_rows}", "preloaded.csv")
for _name in _table.header:
    _table.values(_name)
for _positions in ([[1, 2, 3], [3, 1, 2]], [[1, 2, 2], [1, 2, 1]], [[1, 2, float("nan")], [3, 1, 2]]):
    _rankings = Rankings(_positions)
    summary(_rankings)
    consensus(_rankings, "borda", intervals=False)
