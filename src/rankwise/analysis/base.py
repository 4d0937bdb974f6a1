"""What the results of `rankwise.analysis` share: how they show themselves, and small helpers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankwise._tables import TextTable
from rankwise._typing import IntArray
from rankwise._validation import data_frame


class Result:
    """A result that shows itself as tables: text in a terminal, HTML in a notebook."""

    def tables(self) -> list[TextTable]:
        """The result as tables of text, in reading order."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return "\n\n".join(map(str, self.tables()))

    def _repr_html_(self) -> str:
        return "\n".join(table._repr_html_() for table in self.tables())


def sample_rows(n: int, most: int, rng: np.random.Generator) -> IntArray:
    """Rows in their order: all of them, or a random sample of ``most``."""
    return np.arange(n) if n <= most else np.sort(rng.choice(n, size=most, replace=False))


def feature_names_of(X: Any, names: Sequence[str] | None) -> list[str]:
    """Names of the features: those given, else the columns of a data frame, else x0, x1, ...; none without X."""
    if X is None:
        return []
    frame = data_frame(X, "X")
    if frame is None and np.ndim(X) != 2:
        raise ValueError(f"X has {np.ndim(X)} dimension(s); give one row per ranking and one column per feature")
    n_features = np.shape(X)[1] if frame is None else len(frame.columns)
    if names is None:
        return [f"x{i}" for i in range(n_features)] if frame is None else [str(name) for name in frame.columns]
    if len(names) != n_features:
        raise ValueError(f"feature_names has {len(names)} names, but X has {n_features} columns; give one for each")
    return [str(name) for name in names]
