"""Hard negatives: the documents of long queries that are worth training on, by the ranker so far."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwise._query_inputs import split_off_queries
from rankwise._typing import ArrayLike, IntArray, RandomState
from rankwise._validation import check_generator, check_whole_number
from rankwise.queries import check_grades, check_length, group_queries


def refresh_candidates(
    ranker: Any,
    X: ArrayLike,
    y: ArrayLike,
    qid: ArrayLike | str | None = None,
    *,
    k: int = 100,
    n_random: int = 0,
    random_state: RandomState = None,
) -> IntArray:
    """Rows to train on next: all relevant ones, and the others that the ranker puts first.

    Of thousands of candidates of a query, most are easily told from relevant ones and teach nothing. Train on some,
    choose again by the new ranker, and repeat: negatives that the ranker puts high are the hard ones, and which these
    are changes as it learns.

    Parameters
    ----------
    ranker : query ranker
        Fitted.
    X : array-like or sparse matrix of shape (n_rows, n_features)
        Features of all candidates.
    y : array-like of shape (n_rows,)
        Relevance; rows above the lowest grade of their query are kept.
    qid : array-like of shape (n_rows,) or str, optional
        The query of each row, or the column of a frame that has it.
    k : int, default=100
        How many of the first rows of each query are kept, whatever their relevance.
    n_random : int, default=0
        How many of the other rows of each query are kept at random, so that easy negatives are not forgotten.
    random_state : int, Generator, RandomState or None, default=None
        Draws these, and the order of rows with equal scores.

    Returns
    -------
    ndarray of int
        Numbers of the rows, ascending.

    Examples
    --------
    >>> from rankwise.datasets import make_retrieval
    >>> from rankwise.ltr import LinearRanker, refresh_candidates
    >>> X, y, qid, _ = make_retrieval(20, docs_per_query=(200, 200), random_state=0)
    >>> ranker = LinearRanker().fit(X[::20], y[::20], qid=qid[::20])
    >>> for _ in range(3):
    ...     rows = refresh_candidates(ranker, X, y, qid, k=20, random_state=0)
    ...     ranker = LinearRanker().fit(X[rows], y[rows], qid=qid[rows])
    >>> len(rows) < len(y)
    True
    """
    check_whole_number("k", k, at_least=1)
    check_whole_number("n_random", n_random, at_least=0)
    rng = check_generator(random_state)
    features, queries = split_off_queries(X, qid)
    grade = check_grades(y, "y")
    score = ranker._query_scores(features, queries)
    check_length(score, len(grade), "X", of="y")
    query = group_queries(queries, len(grade), of="y").codes
    is_first = _first_places(query, -score, k, rng)
    lowest = np.full(query.max() + 1, np.inf)
    np.minimum.at(lowest, query, grade)
    kept = is_first | (grade > lowest[query])
    if n_random:
        # Rows that are kept already come last, so that they take no place of those drawn.
        kept |= _first_places(query, kept.astype(np.float64), n_random, rng)
    return np.flatnonzero(kept)


def _first_places(query: IntArray, values: Any, k: int, rng: np.random.Generator) -> Any:
    """Whether a row is one of the k lowest of its query; rows of equal values in random order."""
    order = np.lexsort((rng.random(len(query)), values, query))
    begins = np.flatnonzero(np.append(True, np.diff(query[order]) != 0))
    place = np.arange(len(query)) - np.repeat(begins, np.diff(np.append(begins, len(query))))
    found = np.zeros(len(query), dtype=bool)
    found[order] = place < k
    return found
