"""`ranking_similarity` and `ranking_vectors`: a kernel by its name, with a result that describes itself.

``rankwise kernel`` is their face on the command line. The functions of each kernel have more settings, and return
arrays.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np

from rankwise._tables import TextTable, counted, make_frame, name_column
from rankwise._typing import ArrayLike
from rankwise._validation import check_choice, check_n_jobs
from rankwise.data import Rankings
from rankwise.kernels.gram import MAX_BYTES, Gram, check_gram
from rankwise.kernels.graph_cut_gram import fitted_embedding, graph_cut_kernel
from rankwise.kernels.kendall_gram import kendall_features, kendall_kernel
from rankwise.kernels.mallows_gram import mallows_kernel

KernelName = Literal["kendall", "mallows", "graph-cut"]
_KERNELS = ("kendall", "mallows", "graph-cut")


class Spread(NamedTuple):
    """Smallest, mean and largest of some numbers."""

    min: float
    mean: float
    max: float


@dataclass(frozen=True, eq=False, repr=False)
class _Numbers:
    """What similarities and vectors share: one row of numbers per ranking, and how they show themselves."""

    kernel: str
    values: Gram
    n_items: int
    kind: str
    total_weight: float

    @property
    def n_rankings(self) -> int:
        """Number of rankings, one row each."""
        return len(self.values)

    @property
    def n_bytes(self) -> int:
        """Memory of the numbers."""
        return int(self.values.nbytes)

    def table(self) -> TextTable:
        """A summary as a table of text."""
        height, width = self.values.shape
        rows = [
            ["rankings", f"{self.n_rankings:,} of {counted(self.n_items, 'item')}, {self.kind}"],
            ["numbers", f"{height:,} x {width:,}, {size_in_words(self.n_bytes)}"],
            *self._more_rows(),
        ]
        note = "larger = more similar"
        if self.total_weight != self.n_rankings:
            note += f"; one row per distinct ranking of the file, which weigh {self.total_weight:,.10g} together"
        return TextTable(f"Kernel: {self.kernel}", note, ["", ""], rows)

    def _more_rows(self) -> list[list[str]]:
        return []

    def __repr__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


@dataclass(frozen=True, eq=False, repr=False)
class RankingSimilarity(_Numbers):
    """How similar all rankings are to each other; made by `ranking_similarity`.

    Attributes
    ----------
    kernel : {"kendall", "mallows", "graph-cut"}
        Which kernel.
    values : ndarray of shape (n_rankings, n_rankings)
        Larger = more similar.
    n_items : int
        Number of items.
    kind : str
        Kind of the rankings.
    total_weight : float
        Sum of the weights of the rankings; weights do not enter the values.
    with_itself, with_another : Spread or None
        Smallest, mean and largest value of a ranking with itself, and of two rankings; None for one ranking.
    """

    with_itself: Spread | None = field(init=False)
    with_another: Spread | None = field(init=False)

    def __post_init__(self) -> None:
        own = another = None
        n, values = len(self.values), self.values
        if n > 1:
            diagonal = np.diagonal(values).astype(np.float64)
            # Views of the rows: a copy of the matrix may not fit.
            others = [row[place + 1 :] for place, row in enumerate(values[:-1])]
            mean = (values.sum(dtype=np.float64) - diagonal.sum()) / (n * (n - 1))
            own = Spread(float(diagonal.min()), float(diagonal.mean()), float(diagonal.max()))
            another = Spread(
                float(min(row.min() for row in others)), float(mean), float(max(row.max() for row in others))
            )
        object.__setattr__(self, "with_itself", own)
        object.__setattr__(self, "with_another", another)

    def to_frame(self, backend: str | None = None) -> Any:
        """One row per pair of rankings: their numbers, and their value.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default the first of these that is installed.

        Returns
        -------
        data frame
            With columns ``first``, ``second`` and ``value``.
        """
        first, second = np.triu_indices(len(self.values), 1)
        return make_frame({"first": first, "second": second, "value": self.values[first, second]}, backend)

    def _more_rows(self) -> list[list[str]]:
        named = (("of a ranking with itself", self.with_itself), ("of two rankings", self.with_another))
        return [
            [name, f"{one.min:z.4g} to {one.max:z.4g}, mean {one.mean:z.4g}"] for name, one in named if one is not None
        ]


@dataclass(frozen=True, eq=False, repr=False)
class RankingVectors(_Numbers):
    """Vectors whose inner products are a kernel; made by `ranking_vectors`.

    Attributes
    ----------
    kernel : {"kendall", "graph-cut"}
        Which kernel.
    values : ndarray of shape (n_rankings, n_features)
        One vector per ranking.
    n_items : int
        Number of items.
    kind : str
        Kind of the rankings.
    total_weight : float
        Sum of the weights of the rankings; weights do not enter the values.
    columns : tuple of str
        What each number is about: a pair of items ("kendall") or an item.
    """

    columns: tuple[str, ...] = ()

    def to_frame(self, backend: str | None = None) -> Any:
        """One row per ranking, and one column per number.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default the first of these that is installed.

        Returns
        -------
        data frame
        """
        return make_frame(dict(zip(name_column(self.columns), self.values.T, strict=True)), backend)


def ranking_similarity(
    rankings: ArrayLike,
    kernel: KernelName = "kendall",
    *,
    features: ArrayLike | None = None,
    scale: float = 1.0,
    normalize: bool = False,
    dtype: str = "float64",
    random_state: int = 0,
    n_jobs: int | None = None,
    max_bytes: int = MAX_BYTES,
) -> RankingSimilarity:
    """How similar all rankings are to each other, by a kernel.

    Parameters
    ----------
    rankings : Rankings or array-like of shape (n_rankings, n_items)
        Positions, 1 = best; inf = unlisted, NaN = missing.
    kernel : {"kendall", "mallows", "graph-cut"}, default="kendall"
        See `kendall_kernel`, `mallows_kernel` and `graph_cut_kernel`.
    features : array-like of shape (n_items, n_features), optional
        Features of the items, for "graph-cut".
    scale : float, default=1.0
        Of the Mallows kernel.
    normalize : bool, default=False
        Every ranking has kernel 1 with itself; Mallows kernels are so.
    dtype : {"float64", "float32"}, default="float64"
        Of the values.
    random_state : int, default=0
        Draws completions of rankings with missing items, for "graph-cut".
    n_jobs : int, optional
        Threads; the result is the same for every number.
    max_bytes : int, default=8 GiB
        Refuse a larger matrix before anything is allocated.

    Returns
    -------
    RankingSimilarity

    Examples
    --------
    >>> from rankwise.kernels import ranking_similarity
    >>> ranking_similarity([[1, 2, 3], [3, 2, 1], [1, 3, 2]], "mallows", scale=0.5)
    Kernel: mallows
    larger = more similar
    rankings                  3 of 3 items, full
    numbers                   3 x 3, 72 bytes
    of a ranking with itself  1 to 1, mean 1
    of two rankings           0.2231 to 0.6065, mean 0.3992
    """
    check_n_jobs(n_jobs)
    check_choice("kernel", kernel, _KERNELS)
    votes = rankings if isinstance(rankings, Rankings) else Rankings(rankings)
    if features is not None and kernel != "graph-cut":
        raise ValueError(f"the kernel {kernel!r} does not use features of items; choose 'graph-cut', or drop them")
    shared: dict[str, Any] = {"dtype": dtype, "n_jobs": n_jobs, "max_bytes": max_bytes}
    if kernel == "kendall":
        values = kendall_kernel(votes, normalize=normalize, **shared)
    elif kernel == "mallows":
        values = mallows_kernel(votes, scale=scale, **shared)
    else:
        values = graph_cut_kernel(votes, features=features, normalize=normalize, random_state=random_state, **shared)
    return RankingSimilarity(kernel, values, votes.n_items, votes.kind, float(votes.weights.sum()))


def ranking_vectors(
    rankings: ArrayLike,
    kernel: Literal["kendall", "graph-cut"] = "kendall",
    *,
    features: ArrayLike | None = None,
    dtype: str = "float64",
    random_state: int = 0,
    n_jobs: int | None = None,
    max_bytes: int = MAX_BYTES,
) -> RankingVectors:
    """Vectors whose inner products are a kernel, for linear models: no matrix of all pairs of rankings.

    Parameters
    ----------
    rankings : Rankings or array-like of shape (n_rankings, n_items)
        Positions, 1 = best; inf = unlisted, NaN = missing.
    kernel : {"kendall", "graph-cut"}, default="kendall"
        The Mallows kernel has no vectors of finitely many numbers.
    features, dtype, random_state, n_jobs, max_bytes
        As in `ranking_similarity`.

    Returns
    -------
    RankingVectors

    Examples
    --------
    >>> from rankwise.kernels import ranking_vectors
    >>> ranking_vectors([[1, 2, 3], [3, 2, 1]], "graph-cut").values
    array([[ 2.,  0., -2.],
           [-2.,  0.,  2.]])
    """
    check_n_jobs(n_jobs)
    check_choice("kernel", kernel, ("kendall", "graph-cut"))
    votes = rankings if isinstance(rankings, Rankings) else Rankings(rankings)
    items = [str(item) for item in votes.items]
    number = check_gram(len(votes), vector_length(kernel, votes.n_items), dtype, max_bytes)
    if kernel == "kendall":
        columns = tuple(f"{first} > {second}" for first, second in combinations(items, 2))
        values = kendall_features(votes)
    else:
        columns = tuple(items)
        embedding = fitted_embedding(votes, features=features, random_state=random_state, n_jobs=n_jobs)
        values = embedding.transform(votes)
    numbers = values.astype(number, copy=False)
    return RankingVectors(kernel, numbers, votes.n_items, votes.kind, float(votes.weights.sum()), columns)


def vector_length(kernel: str, n_items: int) -> int:
    """Numbers in a vector of a kernel: one per pair of items, or one per item."""
    return n_items * (n_items - 1) // 2 if kernel == "kendall" else n_items


def size_in_words(n_bytes: int) -> str:
    """Bytes in a unit that makes a short number."""
    if n_bytes < 1024:
        return f"{n_bytes} bytes"
    size, units = n_bytes / 1024, ["KiB", "MiB", "GiB"]
    while size >= 1024 and len(units) > 1:
        size /= 1024
        del units[0]
    return f"{size:,.1f} {units[0]}"
