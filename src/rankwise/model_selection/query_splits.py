"""Splits of rows that keep queries whole, for cross-validation and for training and test sets."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankwise._query_inputs import split_off_queries
from rankwise._sklearn import safe_indexing
from rankwise._typing import ArrayLike, IntArray, RandomState
from rankwise._validation import check_generator
from rankwise.queries import group_queries

if TYPE_CHECKING:

    class BaseCrossValidator:
        """What scikit-learn's splitters derive from."""

else:
    from sklearn.model_selection import BaseCrossValidator


class QueryKFold(BaseCrossValidator):
    """K folds of whole queries, with about the same number of rows each, whatever the order of the rows.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds.
    shuffle : bool, default=False
        Whether to draw the folds at random rather than by the sizes of the queries alone.
    random_state : int, Generator, RandomState or None, default=None
        Where they come from, if so.

    Notes
    -----
    It requests ``qid`` if scikit-learn's metadata routing is enabled, and takes ``groups`` if it is not. Then it
    warns: scikit-learn's tools bring ``groups`` to the splits alone, so that a ranker would take all rows for one
    query.

    Examples
    --------
    >>> from rankwise.model_selection import QueryKFold
    >>> for train, test in QueryKFold(2).split([[0], [1], [2], [3]], qid=["a", "b", "a", "b"]):
    ...     print(train, test)
    [0 2] [1 3]
    [1 3] [0 2]
    """

    # A request for qid instead of groups.
    __metadata_request__split: ClassVar[dict[str, bool]] = {"qid": True}

    def __init__(self, n_splits: int = 5, *, shuffle: bool = False, random_state: RandomState = None) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def split(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        qid: ArrayLike | str | None = None,
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield the rows to train on and the rows to test on.

        Parameters
        ----------
        X : array-like of shape (n_rows, ...)
            The rows.
        y : array-like, optional
            Not used.
        groups, qid : array-like of shape (n_rows,)
            The query of each row, by either name; ``qid`` may be the column of a frame that has it.

        Yields
        ------
        train, test : ndarray of int
        """
        from sklearn import get_config
        from sklearn.model_selection import GroupKFold

        labels = groups if qid is None else split_off_queries(X, qid)[1] if isinstance(qid, str) else qid
        if labels is None:
            raise ValueError("QueryKFold needs the query of each row: give qid, or groups where routing is off")
        if qid is None and not get_config()["enable_metadata_routing"]:
            warnings.warn(
                "groups say where to split, but no more: from scikit-learn's tools a ranker's score gets no qid, nor "
                "does its fit without params={'qid': qid}; they take all rows for one query. Use "
                "rankwise.model_selection.cross_validate, or sklearn.set_config(enable_metadata_routing=True); in a "
                "loop of your own give split(X, qid=qid)",
                UserWarning,
                stacklevel=2,
            )
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        query, n_queries = _numbered(labels, n_rows)
        if n_queries < self.n_splits:
            raise ValueError(f"there are {n_queries} queries, too few for {self.n_splits} folds")
        seed = int(check_generator(self.random_state).integers(2**32)) if self.shuffle else None
        folds = GroupKFold(self.n_splits, shuffle=self.shuffle, random_state=seed)
        yield from folds.split(np.empty(n_rows), groups=query)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None, qid: Any = None) -> int:
        """Number of folds."""
        return self.n_splits


def train_test_split_by_query(
    *arrays: ArrayLike, qid: ArrayLike | str, test_size: float = 0.25, random_state: RandomState = None
) -> list[Any]:
    """Split rows in two parts with whole queries.

    Parameters
    ----------
    *arrays : array-likes with n_rows rows
        What to split: X, y, weights ...
    qid : array-like of shape (n_rows,) or str
        The query of each row, or the column of the first array, a frame, that has it; that part loses the column.
    test_size : float, default=0.25
        Share of the queries in the second part; at least one query is in each.
    random_state : int, Generator, RandomState or None, default=None
        Which.

    Returns
    -------
    list
        First and second part of each array, and of qid at the end.

    Examples
    --------
    >>> from rankwise.model_selection import train_test_split_by_query
    >>> train_test_split_by_query([1, 2, 3, 4], qid=["a", "b", "a", "b"], test_size=0.5, random_state=1)
    [[2, 4], [1, 3], ['b', 'b'], ['a', 'a']]
    """
    if not 0 < test_size < 1:
        raise ValueError(f"test_size is {test_size}; give a share of the queries between 0 and 1")
    if isinstance(qid, str):
        if not arrays:
            raise ValueError(f"qid is {qid!r}, a column, but there is no frame that could have it")
        first, qid = split_off_queries(arrays[0], qid)
        arrays = (first, *arrays[1:])
    n_rows = len(qid)
    for number, array in enumerate(arrays):
        length = array.shape[0] if hasattr(array, "shape") else len(array)
        if length != n_rows:
            raise ValueError(f"array {number} has {length} rows, but qid has {n_rows}")
    query, n_queries = _numbered(qid, n_rows)
    if n_queries < 2:
        raise ValueError("there is one query, which cannot be split")
    n_test = min(max(1, round(test_size * n_queries)), n_queries - 1)
    is_test = np.zeros(n_queries, dtype=bool)
    is_test[check_generator(random_state).permutation(n_queries)[:n_test]] = True
    test = is_test[query]
    parts = (np.flatnonzero(~test), np.flatnonzero(test))
    return [safe_indexing(array, rows) for array in (*arrays, qid) for rows in parts]


def _numbered(qid: ArrayLike, n_rows: int) -> tuple[IntArray, int]:
    """The number of each row's query, by their names and not by the order of rows, and how many there are."""
    length = len(np.asarray(qid, dtype=object))
    if length != n_rows:
        raise ValueError(f"qid has {length} entries, but X has {n_rows} rows; give one for each")
    queries = group_queries(qid, n_rows)
    names = queries.ids.tolist()
    try:
        in_order = sorted(range(len(names)), key=names.__getitem__)
    except TypeError:  # names of several types
        in_order = sorted(range(len(names)), key=lambda code: (type(names[code]).__name__, str(names[code])))
    place = np.empty(len(names), dtype=np.intp)
    place[in_order] = np.arange(len(names))
    return place[queries.codes], len(names)
