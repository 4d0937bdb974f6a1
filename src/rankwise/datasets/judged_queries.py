"""Synthetic search results: documents of queries with graded relevance, and clicks on them."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from rankwise._typing import FloatArray, IntArray, RandomState
from rankwise._validation import check_choice, check_generator, check_real_number, check_scales, check_sizes

Family = Literal["plain", "judged"]
Link = Literal["products", "linear", "saturating", "steps", "peaked"]

# Query-dependent features vary this much more between queries than within one.
_QUERY_SPREAD = 2.0
# Some queries have many good answers, others hardly any.
_DIFFICULTY_SPREAD = 0.5
# The engine that showed the results: the true score under this much noise.
_DISPLAY_NOISE = 1.0
# Each grade is so much rarer than the one below.
_RATIOS = {"plain": 0.5, "judged": 0.25}
# A judged feature shows one quality of a document in so many, and correlates with it this much, from one to the other.
_FEATURES_PER_QUALITY = 5
_LEAST_SHOWN, _MOST_SHOWN = 0.2, 0.7
# Half of the judged features are 0 in up to this share of the documents: the words of the query do not occur.
_MOST_ABSENT = 0.8
# Digits of judged features, which leave many of them tied.
_DIGITS = 2
# An examined document of grade 0 is clicked this often.
_CLICK_BY_MISTAKE = 0.05


def make_retrieval(
    n_queries: int = 100,
    n_features: int = 20,
    *,
    docs_per_query: tuple[int, int] = (5, 50),
    n_grades: int = 5,
    noise: float = 0.5,
    family: Family = "plain",
    link: Link = "products",
    n_irrelevant: int = 0,
    wrong_grades: float = 0.0,
    clicks: bool = False,
    eta: float = 1.0,
    random_state: RandomState = None,
) -> tuple[FloatArray, IntArray, IntArray, Any]:
    r"""Documents of queries with graded relevance.

    *Definition.* Of the family "plain", document features are :math:`x = u_q + z`: z is standard normal, and the level
    :math:`u_q` of the query differs from query to query on every second feature. Relevance follows
    :math:`s(z) + b_q + \epsilon`, where s is linear plus products of neighboring features (unit variance), or another
    ``link``, and :math:`b_q` is the easiness of the query. Grades are cut so that each is half as frequent as the one
    below.

    Only differences *within* a query are informative, so a regressor that does not know the queries does worse: it
    mistakes the spread of the levels for noise and gives too little weight to the features that have them.

    The family "judged" looks like the features of judged search results (LETOR): z are qualities that nobody sees, one
    for every five features. Each feature is a weak view of one quality, skewed like a count, often 0, scaled to 0 to 1
    within its query and rounded, so that it is tied with others; each grade is a quarter as frequent as the one below.
    On such data rankers that hold much learn noise.

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
    family : {"plain", "judged"}, default="plain"
        What features are; see above.
    link : {"products", "linear", "saturating", "steps", "peaked"}, default="products"
        The score as a function of z: "linear"; "products", linear plus products of neighbors; sums of functions of one
        feature that rise and level off ("saturating"), jump ("steps") or are highest at some value ("peaked").
    n_irrelevant : int, default=0
        How many features, the last ones, say nothing about relevance.
    wrong_grades : float, default=0.0
        Share of documents whose grade is that of another document, whatever its query.
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
    check_choice("family", family, tuple(_RATIOS))
    check_choice("link", link, ("products", "linear", "saturating", "steps", "peaked"))
    check_sizes(n_irrelevant=n_irrelevant, at_least=0)
    if n_irrelevant >= n_features:
        raise ValueError(f"n_irrelevant is {n_irrelevant}, but must be below n_features={n_features}")
    if not 0 <= check_real_number("wrong_grades", wrong_grades) <= 1:
        raise ValueError(f"wrong_grades is {wrong_grades}; give a share from 0 to 1")
    rng = check_generator(random_state)
    sizes = rng.integers(fewest, most + 1, size=n_queries)
    query = np.repeat(np.arange(n_queries), sizes)
    n_relevant = n_features - n_irrelevant
    n_hidden = n_features if family == "plain" else max(2, -(-n_relevant // _FEATURES_PER_QUALITY))
    z = rng.standard_normal((len(query), n_hidden))
    score = _score(z[:, :n_relevant], link, rng) + _DIFFICULTY_SPREAD * rng.standard_normal(n_queries)[query]
    levels = _QUERY_SPREAD * rng.standard_normal((n_queries, n_features))
    levels[:, ::2] = 0
    grades = _skewed_grades(score + noise * rng.standard_normal(len(query)), n_grades, _RATIOS[family])
    X = z + levels[query] if family == "plain" else _judged_features(z, n_relevant, levels, query, rng)
    if wrong_grades > 0:
        wrong = rng.random(len(query)) < wrong_grades
        grades[wrong] = rng.choice(grades, wrong.sum())

    from sklearn.utils import Bunch

    bunch = Bunch(score=score)
    if clicks:
        bunch.update(_one_impression(score, grades, query, n_grades, eta, rng))
    return X, grades, query + 1, bunch


def _check_range(docs_per_query: Any) -> tuple[int, int]:
    if np.shape(docs_per_query) != (2,):
        raise ValueError(f"docs_per_query is {docs_per_query!r}; give the least and the largest number, as (5, 50)")
    fewest, most = docs_per_query
    check_sizes(**{"docs_per_query[0]": fewest, "docs_per_query[1]": most})
    if fewest > most:
        raise ValueError(f"docs_per_query is {docs_per_query}; give the least number first, then the largest")
    return fewest, most


def _score(z: FloatArray, link: Link, rng: np.random.Generator) -> FloatArray:
    """The link function of the columns, of unit variance."""
    linear = rng.standard_normal(z.shape[1])
    if link in ("products", "linear"):
        product = rng.standard_normal(z.shape[1] - 1) / 2 if link == "products" else np.zeros(z.shape[1] - 1)
        value: FloatArray = z @ linear + (z[:, 1:] * z[:, :-1]) @ product
        value /= np.sqrt(np.sum(linear**2) + np.sum(product**2))  # all terms are uncorrelated
        return value
    center = rng.standard_normal(z.shape[1])
    if link == "saturating":
        parts = np.tanh(2 * (z - center))
    elif link == "steps":
        parts = np.where(z > center, 1.0, 0.0)
    else:
        parts = np.exp(-((z - center) ** 2))
    sums = np.asarray((parts - parts.mean(axis=0)) @ linear)
    return np.asarray(sums / max(float(np.sqrt(np.mean(sums**2))), 1e-6))


def _judged_features(
    z: FloatArray, n_relevant: int, levels: FloatArray, query: IntArray, rng: np.random.Generator
) -> FloatArray:
    """Weak, skewed, partly absent and rounded views of qualities, each from 0 to 1 within its query."""
    n_rows, n_features = len(query), levels.shape[1]
    shown = np.asarray(rng.uniform(_LEAST_SHOWN, _MOST_SHOWN, n_features))
    shown[n_relevant:] = 0
    views = shown * z[:, np.arange(n_features) % z.shape[1]]
    views += np.sqrt(1 - shown**2) * rng.standard_normal((n_rows, n_features))
    absent = np.asarray(rng.uniform(0, _MOST_ABSENT, n_features))
    absent[::2] = 0
    counts = np.exp(views + levels[query] / _QUERY_SPREAD)
    counts[views < [np.quantile(*pair) for pair in zip(views.T, absent, strict=True)]] = 0
    starts = np.searchsorted(query, np.arange(len(levels)))
    least, most = (extreme.reduceat(counts, starts)[query] for extreme in (np.minimum, np.maximum))
    spread = most - least
    scaled = np.divide(counts - least, spread, out=np.zeros_like(counts), where=spread > 0)
    return np.asarray(scaled.round(_DIGITS))


def _skewed_grades(values: FloatArray, n_grades: int, ratio: float) -> IntArray:
    shares = ratio ** np.arange(n_grades)
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
