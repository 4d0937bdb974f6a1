"""Synthetic search results: documents of queries with graded relevance, and clicks on them."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwise._typing import FloatArray, IntArray, RandomState
from rankwise._validation import check_generator, check_scales, check_sizes

# Query-dependent features vary this much more between queries than within one.
_QUERY_SPREAD = 2.0
# Some queries have many good answers, others hardly any.
_DIFFICULTY_SPREAD = 0.5
# The engine that showed the results: the true score under this much noise.
_DISPLAY_NOISE = 1.0
# An examined document of grade 0 is clicked this often.
_CLICK_BY_MISTAKE = 0.05


def make_retrieval(
    n_queries: int = 100,
    n_features: int = 20,
    *,
    docs_per_query: tuple[int, int] = (5, 50),
    n_grades: int = 5,
    noise: float = 0.5,
    clicks: bool = False,
    eta: float = 1.0,
    random_state: RandomState = None,
) -> tuple[FloatArray, IntArray, IntArray, Any]:
    r"""Documents of queries with graded relevance.

    *Definition.* Document features are :math:`x = u_q + z`: z is standard normal, and the level :math:`u_q` of the
    query differs from query to query on every second feature. Relevance follows :math:`s(z) + b_q + \epsilon`,
    where s is linear plus products of neighboring features (unit variance) and :math:`b_q` is the easiness of
    the query. Grades are cut so that each is half as frequent as the one below, about as in LETOR data.

    Only differences *within* a query are informative, so a regressor that does not know the queries does worse: it
    mistakes the spread of the levels for noise and gives too little weight to the features that have them.

    Parameters
    ----------
    n_queries, n_features : int
        Number of queries and of features.
    docs_per_query : pair of int, default=(5, 50)
        Least and largest number of documents of a query (uniform between them).
    n_grades : int, default=5
        Number of grades: 0 (not relevant) to n_grades - 1.
    noise : float, default=0.5
        Standard deviation of the noise on the score.
    clicks : bool, default=False
        Whether to show each query once to a user, and record the clicks.
    eta : float, default=1.0
        Position bias of the clicks: the document at place p is examined with probability p**-eta.
    random_state : None, int, Generator or RandomState
        Where the random numbers come from. The same seed gives the same X, y and qid with clicks and without.

    Returns
    -------
    X : ndarray of shape (n_documents, n_features), float64
    y : ndarray of shape (n_documents,), intp
        Grades, higher = better.
    qid : ndarray of shape (n_documents,), intp
        The query of each document, 1 to n_queries, in ascending order.
    bunch : Bunch
        ``score`` (the true score without noise, higher = better); with clicks also ``clicks`` (0 or 1),
        ``displayed`` (place at which the document was shown, 1 = top) and ``propensities`` (probability of
        examination, whose inverse corrects the bias).

    Examples
    --------
    >>> from rankwise.datasets import make_retrieval
    >>> X, y, qid, bunch = make_retrieval(3, docs_per_query=(4, 4), random_state=0)
    >>> X.shape, qid
    ((12, 20), array([1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]))
    """
    fewest, most = _check_range(docs_per_query)
    check_sizes(n_queries=n_queries, n_features=n_features)
    check_sizes(n_grades=n_grades, at_least=2)
    check_scales(noise=noise, eta=eta)
    rng = check_generator(random_state)
    sizes = rng.integers(fewest, most + 1, size=n_queries)
    query = np.repeat(np.arange(n_queries), sizes)
    z = rng.standard_normal((len(query), n_features))
    score = _score(z, rng) + _DIFFICULTY_SPREAD * rng.standard_normal(n_queries)[query]
    levels = _QUERY_SPREAD * rng.standard_normal((n_queries, n_features))
    levels[:, ::2] = 0
    grades = _skewed_grades(score + noise * rng.standard_normal(len(query)), n_grades)

    from sklearn.utils import Bunch

    bunch = Bunch(score=score)
    if clicks:
        bunch.update(_one_impression(score, grades, query, n_grades, eta, rng))
    return z + levels[query], grades, query + 1, bunch


def _check_range(docs_per_query: Any) -> tuple[int, int]:
    if np.shape(docs_per_query) != (2,):
        raise ValueError(f"docs_per_query is {docs_per_query!r}; give the least and the largest number, as (5, 50)")
    fewest, most = docs_per_query
    check_sizes(**{"docs_per_query[0]": fewest, "docs_per_query[1]": most})
    if fewest > most:
        raise ValueError(f"docs_per_query is {docs_per_query}; give the least number first, then the largest")
    return fewest, most


def _score(z: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Linear terms and products of neighbors, of unit variance since all terms are uncorrelated."""
    linear = rng.standard_normal(z.shape[1])
    product = rng.standard_normal(z.shape[1] - 1) / 2
    value: FloatArray = z @ linear + (z[:, 1:] * z[:, :-1]) @ product
    value /= np.sqrt(np.sum(linear**2) + np.sum(product**2))
    return value


def _skewed_grades(values: FloatArray, n_grades: int) -> IntArray:
    shares = 0.5 ** np.arange(n_grades)
    borders = np.quantile(values, np.cumsum(shares / shares.sum())[:-1])
    return np.searchsorted(borders, values, side="left")


def _one_impression(
    score: FloatArray, grades: IntArray, query: IntArray, n_grades: int, eta: float, rng: np.random.Generator
) -> dict[str, Any]:
    shown_by = score + _DISPLAY_NOISE * rng.standard_normal(len(score))
    order = np.lexsort((-shown_by, query))
    first = np.searchsorted(query, query)
    displayed = np.empty(len(query), dtype=np.intp)
    displayed[order] = np.arange(len(query)) - first + 1
    propensities = displayed ** -float(eta)
    attraction = (2.0**grades - 1) / (2.0 ** (n_grades - 1) - 1)
    click = propensities * (_CLICK_BY_MISTAKE + (1 - _CLICK_BY_MISTAKE) * attraction)
    clicks = (rng.random(len(query)) < click).astype(np.intp)
    return {"clicks": clicks, "displayed": displayed, "propensities": propensities}
