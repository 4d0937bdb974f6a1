"""`Rankings`, the container for rankings of any kind (full, tied, top-k, incomplete), and how it is printed.

Readers return it, and every function that takes rankings accepts it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from rankwise._memory import check_memory_of_pairs
from rankwise._state import FLOATS, ITEMS, MATRIX, Saved
from rankwise._tables import TextTable, make_frame, visible
from rankwise._typing import ArrayLike, BoolArray, FloatArray, IntArray
from rankwise._validation import (
    check_items,
    check_weights,
    data_frame,
    list_of_names,
    matrix_from_columns,
    read_only,
    shortlist,
)
from rankwise.data import orders as _orders
from rankwise.data import positions as _positions
from rankwise.data.positions import CheckedPositions, Unlisted

Kind = Literal["full", "tied", "top-k", "incomplete"]

# Listing every single preference takes 24 bytes per pair; beyond this the caller wants counts instead.
_MOST_PAIRS = 50_000_000
# What is printed of long rankings, and of many.
_SHOWN_RANKINGS = 6
_SHOWN_ITEMS = 12


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Rankings(CheckedPositions):
    """Rankings of the same items, with names and weights.

    Parameters
    ----------
    positions : array-like of shape (n_rankings, n_items)
        Column = item, value = its place: 1 = best, equal = tied, ``+inf`` = unlisted (below all listed items,
        order unknown), ``NaN`` = missing (never compared). Only the order of the values in a row counts.
    items : sequence of hashable, optional
        Names of the items. By default the columns of a data frame, else 0, 1, 2, ...
    weights : array-like of shape (n_rankings,), optional
        How often each ranking counts (multiplicities); ones by default.

    Attributes
    ----------
    positions : ndarray of shape (n_rankings, n_items), float64, read-only
        Dense positions.
    items : tuple
        Names of the items.
    weights : ndarray of shape (n_rankings,), float64, read-only

    Notes
    -----
    A Rankings behaves like the array of its positions where scikit-learn looks at it: it has a shape and a
    length, converts with ``np.asarray``, and is cut by index, so that train_test_split, KFold and GridSearchCV
    take it as ``y``. A row may be all missing: it says nothing, but stays aligned with the covariates.

    Examples
    --------
    >>> from rankwise import Rankings
    >>> Rankings.from_orders([["tea", "milk", "juice"], ["juice", "tea"]], items=["tea", "milk", "juice"])
    Rankings: 2 rankings of 3 items, top-k
      tea > milk > juice
      juice > tea   (unlisted: milk)
    """

    positions: FloatArray
    items: tuple[Hashable, ...]
    weights: FloatArray

    _saved: ClassVar[Saved] = {"positions": MATRIX, "items": ITEMS, "weights": FLOATS}

    def __init__(
        self,
        positions: ArrayLike,
        items: Sequence[Hashable] | None = None,
        weights: ArrayLike | None = None,
    ) -> None:
        matrix = _positions.check_positions(positions)
        if isinstance(positions, Rankings):
            items = positions.items if items is None else check_items(items, matrix.shape[1])
            weights = positions.weights if weights is None else weights
        else:
            if not isinstance(positions, CheckedPositions):
                matrix = matrix.copy()  # the caller may still hold this array, and write to it
            items = check_items(_column_names(positions) if items is None else items, matrix.shape[1])
        object.__setattr__(self, "positions", read_only(matrix))
        object.__setattr__(self, "items", items)
        object.__setattr__(self, "weights", read_only(check_weights(weights, len(matrix)).copy()))

    @classmethod
    def from_positions(
        cls, positions: ArrayLike, items: Sequence[Hashable] | None = None, weights: ArrayLike | None = None
    ) -> Rankings:
        """Build from positions: column = item, value = its place, 1 = best. Same as calling the class."""
        return cls(positions, items, weights)

    @classmethod
    def from_orders(
        cls,
        orders: ArrayLike,
        unlisted: Unlisted = "below",
        items: Sequence[Hashable] | None = None,
        weights: ArrayLike | None = None,
    ) -> Rankings:
        """Build from orders: each row lists items, best first.

        Parameters
        ----------
        orders : sequence of sequences, or array of shape (n_rankings, n_places)
            Integers are item ids, counted from 0; anything else is an item name. Pad short rows with -1 (ids), or
            with None, NaN or empty text (names).
        unlisted : {"below", "missing"}, default="below"
            Items that a row does not list: below the listed ones (top-k), or never compared (incomplete).
        items : sequence of hashable, optional
            Names of all items. By default the names that occur, in order of first appearance.
        weights : array-like of shape (n_rankings,), optional
            How often each ranking counts.

        Returns
        -------
        Rankings
        """
        names = None if items is None else list_of_names(items)
        rows: Any = orders
        if not (isinstance(orders, np.ndarray) and orders.dtype.kind in "iuf"):
            rows = [_orders.without_padding(row) for row in _orders.rows_of(orders)]
        if not isinstance(rows, np.ndarray) and _orders.holds_names(rows):
            rows, names = _orders.ids_from_names(rows, names)
        elif names is not None and _look_like_other_ids(names):
            raise ValueError(
                f"items are numbers ({shortlist(names)}) and so are the orders, where numbers are ids from 0; "
                "write numbers that are names as text, in both"
            )
        n_items = None if names is None else len(names)
        return cls(_orders.positions_from_orders(rows, n_items=n_items, unlisted=unlisted), names, weights)

    @classmethod
    def from_buckets(
        cls,
        buckets: Iterable[Iterable[Any]],
        unlisted: Unlisted = "below",
        items: Sequence[Hashable] | None = None,
        weights: ArrayLike | None = None,
    ) -> Rankings:
        """Build from bucket orders: each ranking lists buckets of tied items, best bucket first.

        Parameters
        ----------
        buckets : sequence of rankings
            A ranking is a sequence of buckets; a bucket is a tuple, list or set of items, or a single item.
            Integers are item ids, counted from 0; anything else is an item name.
        unlisted, items, weights
            As in `from_orders`.

        Returns
        -------
        Rankings

        Examples
        --------
        >>> Rankings.from_buckets([[["a"], ["b", "c"]], ["c", "b", "a"]])
        Rankings: 2 rankings of 3 items, tied
          a > b ~ c
          c > b > a
        """
        rankings = [[_bucket(entry) for entry in ranking] for ranking in _orders.rows_of(buckets, name="buckets")]
        flat = [[item for bucket in ranking for item in bucket] for ranking in rankings]
        strict = cls.from_orders(flat, unlisted=unlisted, items=items, weights=weights)
        tied = strict.positions.copy()
        # Place p of the flat order belongs to the bucket that holds it.
        for row, ranking in enumerate(rankings):
            bucket_of_place = np.repeat(np.arange(1.0, len(ranking) + 1), [len(bucket) for bucket in ranking])
            listed = np.isfinite(tied[row])
            tied[row, listed] = bucket_of_place[tied[row, listed].astype(int) - 1]
        return cls(tied, strict.items, strict.weights)

    @classmethod
    def from_scores(
        cls, scores: ArrayLike, items: Sequence[Hashable] | None = None, weights: ArrayLike | None = None
    ) -> Rankings:
        """Build from scores: higher is better, equal is tied, ``-inf`` is unlisted, ``NaN`` is missing."""
        items = _column_names(scores) if items is None else items
        return cls(_positions.positions_from_scores(scores), items, weights)

    @classmethod
    def from_frame(
        cls, frame: Any, items: Sequence[str] | None = None, weights: str | ArrayLike | None = None
    ) -> Rankings:
        """Build from a data frame with one column per item holding positions.

        Parameters
        ----------
        frame : DataFrame of pandas, polars or Arrow, or anything narwhals reads
            Null and NaN are missing, ``inf`` is unlisted.
        items : sequence of str, optional
            The columns that are items; all columns (less the one of the weights) by default.
        weights : str or array-like, optional
            Name of the column with weights, or the weights.

        Returns
        -------
        Rankings
        """
        table = data_frame(frame, "frame")
        if table is None:
            raise TypeError(f"frame is of type {type(frame).__name__}, not a data frame; see Rankings.from_positions")
        columns = dict(zip(table.columns, table.iter_columns(), strict=True))
        wanted = list(columns) if items is None else list_of_names(items)
        for name in [weights, *wanted] if isinstance(weights, str) else wanted:
            if name not in columns:
                raise ValueError(f"no column is named {name!r}; the columns are {shortlist(list(columns))}")
        if isinstance(weights, str):
            if items is not None and weights in wanted:
                raise ValueError(f"column {weights!r} is named as an item and as the weights")
            wanted = [name for name in wanted if name != weights]
            weights = columns[weights].to_numpy()
        return cls(matrix_from_columns(wanted, [columns[name] for name in wanted], "frame"), wanted, weights)

    def orders(self, *, ties: Literal["raise", "by-id"] = "raise") -> IntArray:
        """Item ids, best first, padded with -1: (n_rankings, n_items). See `orders_from_positions`."""
        return _orders.orders_from_positions(self, ties=ties)

    def buckets(self) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """Item ids as buckets of ties, best first; unlisted and missing items are left out."""
        order = np.argsort(self.positions, axis=1, kind="stable")
        result = []
        for row, ids in zip(self.positions, order, strict=True):
            ranking: list[list[int]] = []
            for item in ids[: int(np.isfinite(row).sum())]:
                if ranking and row[ranking[-1][0]] == row[item]:
                    ranking[-1].append(int(item))
                else:
                    ranking.append([int(item)])
            result.append(tuple(tuple(bucket) for bucket in ranking))
        return tuple(result)

    def midranks(self) -> FloatArray:
        """Average ranks: (n_rankings, n_items), NaN where missing. See `rankwise.data.midranks`."""
        return _positions.midranks(self)

    def pairs(self) -> IntArray:
        """Every strict preference, one per row: (ranking, item above, item below).

        Raises
        ------
        ValueError
            If the list would be longer than 50 million rows; `pair_counts` stays small.
        """
        from rankwise.data import pairs_jit

        total = _count_pairs(self.positions)
        if total > _MOST_PAIRS:
            raise ValueError(f"the list would have {total:,} rows; use pair_counts(), or take fewer rankings")
        return pairs_jit.list_pairs(self.positions, total)

    def pair_counts(self) -> FloatArray:
        """Weight of the rankings that put i before j: (n_items, n_items), row i, column j."""
        from rankwise.data import pairs_jit

        check_memory_of_pairs(self.n_items, 1)
        return pairs_jit.pair_counts(self.positions, self.weights)

    def to_frame(self, backend: str | None = None, weights: str | None = None) -> Any:
        """Data frame with one column per item.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default the first of these that is installed.
        weights : str, optional
            Name of a further column for the weights, as `from_frame` takes it back; none by default.

        Returns
        -------
        DataFrame
            Column names are the item names as text.
        """
        data = {str(item): self.positions[:, i] for i, item in enumerate(self.items)}
        if len(data) < self.n_items:
            raise ValueError("two item names are the same as text, so they cannot both name a column")
        if weights is not None:
            if weights in data:
                raise ValueError(f"an item is named {weights!r}, too; give the column of the weights another name")
            data[weights] = self.weights
        return make_frame(data, backend)

    @property
    def kind(self) -> Kind:
        """The least special kind that covers every row: full, tied, top-k or incomplete."""
        if np.isnan(self.positions).any():
            return "incomplete"
        if np.isinf(self.positions).any():
            return "top-k"
        return "tied" if _positions.has_ties(self.positions).any() else "full"

    @property
    def informative(self) -> BoolArray:
        """Which rankings compare items at all, whatever their weight: (n_rankings,).

        A ranking compares two items if it orders or ties them, so it must list one item and hold another, listed or
        unlisted. Unlisted items alone are not compared: their order is unknown.
        """
        n_present = (~np.isnan(self.positions)).sum(axis=1)
        return np.isfinite(self.positions).any(axis=1) & (n_present > 1)

    @property
    def compared(self) -> BoolArray:
        """Which items a ranking of positive weight compares with another: (n_items,). See `comparable`."""
        counting = self.positions[self.informative & (self.weights > 0)]
        return np.any(~np.isnan(counting), axis=0)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self.positions.shape[1]

    @property
    def shape(self) -> tuple[int, int]:
        """(n_rankings, n_items)."""
        return self.positions.shape

    @property
    def ndim(self) -> int:
        """Always 2."""
        return 2

    @property
    def dtype(self) -> np.dtype[np.float64]:
        """Type of the positions."""
        return self.positions.dtype

    def select(self, items: Sequence[Hashable]) -> Rankings:
        """Keep the named items only, in the given order; what remains of each ranking closes up."""
        names = list_of_names(items)
        index = {name: i for i, name in enumerate(self.items)}
        unknown = [name for name in names if name not in index]
        if unknown:
            raise KeyError(f"no item is named {unknown[0]!r}; the items are {shortlist(self.items)}")
        return Rankings(self.positions[:, [index[name] for name in names]], names, self.weights)

    def comparable(self) -> Rankings:
        """Keep only the items that are compared with another (see `compared`); every row stays.

        Consensus rules and label rankers refuse items that no ranking compares with another, because nothing says
        where such an item belongs. This drops them.

        Returns
        -------
        Rankings
            Of the items ``compared``, with the same rows and weights.

        Raises
        ------
        ValueError
            If no ranking compares any two items.

        Examples
        --------
        >>> votes = Rankings.from_orders([["tea", "milk"], ["juice"]], unlisted="missing")
        >>> votes.compared
        array([ True,  True, False])
        >>> votes.comparable()
        Rankings: 2 rankings of 2 items, incomplete
          tea > milk
          nothing   (missing: tea, milk)
        """
        compared = self.compared
        if not compared.any():
            raise ValueError("no ranking of positive weight compares two items, so no item is left to compare")
        return self if compared.all() else self.select([self.items[i] for i in np.flatnonzero(compared)])

    def group(self) -> Rankings:
        """Merge equal rankings and add their weights; rows come in order of first appearance."""
        # One string of bytes per ranking sorts far faster than rows of floats; and NaN, unequal to itself, needs
        # a stand-in anyway: 0 is missing, k + 1 is unlisted.
        code = np.where(np.isposinf(self.positions), self.n_items + 1, np.nan_to_num(self.positions, nan=0.0))
        keys = np.ascontiguousarray(code.astype(np.min_scalar_type(self.n_items + 1)))
        rows = keys.view(np.dtype((np.void, keys.itemsize * self.n_items))).ravel()
        _, first, inverse = np.unique(rows, return_index=True, return_inverse=True)
        weights = np.zeros(len(first))
        np.add.at(weights, inverse, self.weights)
        order = np.argsort(first)
        return self._of_same_items(self.positions[first[order]], weights[order])

    def __len__(self) -> int:
        return len(self.positions)

    def __iter__(self) -> Iterator[FloatArray]:
        return iter(self.positions)

    def __getitem__(self, rows: Any) -> Any:
        """Rankings of the chosen rows; for a single integer, the positions of that ranking."""
        # scikit-learn writes rankings[rows, ...]
        if isinstance(rows, tuple) and len(rows) == 2 and rows[1] is Ellipsis:
            rows = rows[0]
        if not isinstance(rows, slice):
            index = np.asarray(rows)
            index = index.astype(np.intp) if index.shape == (0,) and index.dtype.kind == "f" else index  # []
            usable = "iub" if index.ndim == 1 else "iu" if index.ndim == 0 else ""
            if isinstance(rows, tuple) or index.dtype.kind not in usable:
                raise IndexError(
                    "Rankings are indexed by row: an integer, a slice, or a list of integers or of True and False; "
                    "choose items with select([...])"
                )
            if index.ndim == 0:
                return self.positions[int(index)]
            rows = index
        return self._of_same_items(self.positions[rows], self.weights[rows])

    def _of_same_items(self, positions: FloatArray, weights: FloatArray) -> Rankings:
        """Rankings from rows of this one, which need no second check."""
        part = object.__new__(Rankings)
        object.__setattr__(part, "positions", read_only(np.ascontiguousarray(positions)))
        object.__setattr__(part, "items", self.items)
        object.__setattr__(part, "weights", read_only(np.ascontiguousarray(weights)))
        return part

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self.positions, dtype=dtype, copy=copy)  # None: only where needed; False: never

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rankings):
            return NotImplemented
        return (
            self.items == other.items
            and np.array_equal(self.positions, other.positions, equal_nan=True)
            and np.array_equal(self.weights, other.weights)
        )

    # Arrays inside, so no hash; dataclass would otherwise inherit one by identity.
    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[object, ...]:
        # Through the constructor, so that an unpickled object is as read-only as the first.
        return (Rankings, (self.positions, self.items, self.weights))

    def __repr__(self) -> str:
        return _text_of(self.positions, self.items, self.weights, self.kind)

    def _repr_html_(self) -> str:
        return _html_of(self.positions, self.items, self.weights, self.kind)


def _column_names(table: Any) -> Sequence[Hashable] | None:
    """Names of the columns if ``table`` is a data frame of any library."""
    frame = data_frame(table, "positions")
    return None if frame is None else list(frame.columns)


def _look_like_other_ids(names: list[Hashable]) -> bool:
    """Whether the names are whole numbers that differ from the ids, so that an order of numbers has two readings."""
    return all(isinstance(name, int) for name in names) and names != list(range(len(names)))


def _bucket(entry: Any) -> list[Any]:
    if isinstance(entry, set | frozenset):
        return sorted(entry, key=str)
    return list(entry) if isinstance(entry, tuple | list | np.ndarray) else [entry]


def _count_pairs(positions: FloatArray) -> int:
    """How many pairs the rankings order strictly: for each item present, those in better buckets."""
    ordered = np.sort(positions, axis=1)
    starts_bucket = ordered[:, 1:] != ordered[:, :-1]
    better = np.maximum.accumulate(np.where(starts_bucket, np.arange(1, positions.shape[1]), 0), axis=1)
    return int(better[~np.isnan(ordered[:, 1:])].sum())


def _text_of(positions: FloatArray, items: tuple[Hashable, ...], weights: FloatArray, kind: str) -> str:
    """A heading, and the first rankings, one per line."""
    n = len(positions)
    weighted = bool(np.any(weights != 1))
    shown = []
    for row, weight in zip(positions[:_SHOWN_RANKINGS], weights, strict=False):
        shown.append(f"  {weight:,.10g} x {_line(row, items)}" if weighted else f"  {_line(row, items)}")
    rest = [f"  ... and {n - _SHOWN_RANKINGS:,} more"] if n > _SHOWN_RANKINGS else []
    return visible("\n".join([_heading(positions, kind), *shown, *rest]))


def _html_of(positions: FloatArray, items: tuple[Hashable, ...], weights: FloatArray, kind: str) -> str:
    """The same for notebooks: the positions of the first rankings, with a column per item."""
    n, k = positions.shape
    shown = positions[:_SHOWN_RANKINGS, :_SHOWN_ITEMS]
    cut = ["..."] if k > _SHOWN_ITEMS else []
    columns = ["", *map(str, items[:_SHOWN_ITEMS]), *cut]
    rows = [[str(number), *map(_place, row), *cut] for number, row in enumerate(shown)]
    if np.any(weights != 1):
        columns.insert(1, "weight")
        for row, weight in zip(rows, weights, strict=False):
            row.insert(1, f"{weight:,.10g}")
    notes = ["positions, 1 = best"]
    if np.isposinf(shown).any():
        notes.append("∞ = unlisted")
    if np.isnan(shown).any():
        notes.append("- = missing")
    if n > _SHOWN_RANKINGS:
        notes.append(f"... and {n - _SHOWN_RANKINGS:,} more rankings")
    if k > _SHOWN_ITEMS:
        notes.append(f"... and {k - _SHOWN_ITEMS:,} more items")
    return TextTable(_heading(positions, kind), "; ".join(notes), columns, rows)._repr_html_()


def _heading(positions: FloatArray, kind: str) -> str:
    n, k = positions.shape
    return f"Rankings: {n:,} ranking{'s' * (n != 1)} of {k:,} item{'s' * (k != 1)}, {kind}"


def _place(position: float) -> str:
    return "-" if np.isnan(position) else "∞" if np.isposinf(position) else f"{position:.0f}"


def _line(places: FloatArray, items: tuple[Hashable, ...]) -> str:
    """One ranking as ``a > b ~ c   (unlisted: d; missing: e)``."""
    listed = np.argsort(places, kind="stable")[: int(np.isfinite(places).sum())]
    text = ""
    for rank, item in enumerate(listed[: _SHOWN_ITEMS + 1]):
        joint = "" if rank == 0 else " ~ " if places[item] == places[listed[rank - 1]] else " > "
        rest = f"... ({len(listed) - _SHOWN_ITEMS:,} more)"
        text += joint + (str(items[item]) if rank < _SHOWN_ITEMS else rest)
    notes = [
        f"{word}: {shortlist([items[i] for i in np.flatnonzero(mask)])}"
        for word, mask in (("unlisted", np.isposinf(places)), ("missing", np.isnan(places)))
        if mask.any()
    ]
    return ((text or "nothing") + (f"   ({'; '.join(notes)})" if notes else "")).rstrip()
