"""Functions of sets of items: ready-made ones, whether they are submodular, their Lovasz extension and base polytope.

`SubmodularEmbedding` takes such functions and uses `KnownValues` and the two checks; the rest is the theory behind
graph cut features, to be tried on small examples.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from rankwise._typing import ArrayLike, BoolArray, FloatArray, IntArray
from rankwise._validation import check_numbers, check_whole_number
from rankwise.embeddings.item_graphs import check_graph

#: from the increasing ids of the items in a set to its value
SetFunction = Callable[[IntArray], float]

# Most values of sets that are cached within a call; with many items, most sets occur only once.
_MOST_CACHED = 1_000_000
# Up to this number of items all sets are tried when an embedding is fitted: 4,096 sets.
_MOST_ITEMS_TRIED = 12
_CONDITIONS_DRAWN = 500
# Tolerance, relative to the largest value compared.
_ROUNDING = 1e-9


class Violation(NamedTuple):
    r"""Two sets for which a function is not submodular: :math:`F(A) + F(B) < F(A \cup B) + F(A \cap B)`.

    Attributes
    ----------
    first, second : tuple of int
        The sets A and B.
    parts : float
        :math:`F(A) + F(B)`.
    whole : float
        :math:`F(A \cup B) + F(A \cap B)`, which is larger.
    """

    first: tuple[int, ...]
    second: tuple[int, ...]
    parts: float
    whole: float


def submodularity_violation(F: SetFunction, n_items: int, *, max_sets: int = 1 << 16) -> Violation | None:
    r"""Sets that show that a function is not submodular; None if there are none.

    *Definition.* F is submodular if :math:`F(A) + F(B) \ge F(A \cup B) + F(A \cap B)` for all sets A and B. It is
    enough to try all A and B that have one item each besides their intersection.

    Parameters
    ----------
    F : callable
        From an increasing array of item ids, counted from 0, to a number; must accept an empty array.
    n_items : int
        Number of items.
    max_sets : int, default=65536
        F is computed for all :math:`2^n` sets; refuse if these are more.

    Returns
    -------
    Violation or None

    Examples
    --------
    >>> from rankwise.embeddings import submodularity_violation
    >>> submodularity_violation(lambda items: len(items) ** 2, 3)
    Violation(first=(0,), second=(1,), parts=2.0, whole=4.0)
    """
    _check_number_of_sets(n_items, max_sets)
    check_number_of_items(F, n_items, "n_items is")
    return _violation_of_all(F, n_items)


def refuse_if_not_submodular(F: SetFunction, n_items: int) -> None:
    """Raise an error that names two sets; with many items only some of the conditions are tried, always the same."""
    found = (_violation_of_all if n_items <= _MOST_ITEMS_TRIED else _violation_of_some)(F, n_items)
    if found is not None:
        a, b = set(found.first), set(found.second)
        raise ValueError(
            f"F is not submodular: F({_named(a)}) + F({_named(b)}) = {found.parts:.6g} is less than F({_named(a | b)}) "
            f"+ F({_named(a & b)}) = {found.whole:.6g}. What an item adds must not grow with the set: use "
            "cut_function, coverage, gaussian_entropy or a concave function of the size, or "
            "check_submodular=False for pooled increments all the same"
        )


def lovasz_extension(F: SetFunction, w: ArrayLike) -> float:
    r"""The Lovasz extension of a set function: from sets to vectors, linear where the order of the numbers is the same.

    *Definition.* With :math:`w_{j_1} \ge \dots \ge w_{j_n}`, :math:`f(w) = w_{j_n} F(V) + \sum_{k < n} (w_{j_k} -
    w_{j_{k+1}}) F(\{j_1, \dots, j_k\})`, with :math:`F - F(\emptyset)` in place of F. It is F at vectors of 0 and 1,
    and convex if and only if F is submodular; then it is the largest :math:`w \cdot s` over s of the base polytope. For
    the cut of a graph it is :math:`\sum_{i < j} a_{ij} |w_i - w_j|`.

    Parameters
    ----------
    F : callable
        From an increasing array of item ids to a number; where F of no items is not 0, it is subtracted everywhere.
    w : array-like of shape (n_items,)
        One number per item.

    Returns
    -------
    float

    References
    ----------
    Lovasz (1983), Submodular functions and convexity. Conserva, Deisenroth, Sesh Kumar (2022), equation 3.

    Examples
    --------
    >>> from rankwise.embeddings import cut_function, lovasz_extension
    >>> lovasz_extension(cut_function([[0, 2, 1], [2, 0, 1], [1, 1, 0]]), [1.0, 0.5, 0.0])
    2.5
    """
    vector = _vector(w, "w", F)
    return float(vector @ greedy_vertex(F, vector))


def greedy_vertex(F: SetFunction, w: ArrayLike) -> FloatArray:
    r"""The point s of the base polytope of a submodular function with the largest :math:`w \cdot s`: a vertex.

    *Definition.* With :math:`w_{j_1} \ge \dots \ge w_{j_n}`, :math:`s_{j_k} = F(\{j_1, \dots, j_k\}) - F(\{j_1, \dots,
    j_{k-1}\})`: what each item adds, the largest first. Ranked by w, these are the features of `SubmodularEmbedding`
    before pooling.

    Parameters
    ----------
    F : callable
        From an increasing array of item ids to a number; submodular. F of no items need not be 0.
    w : array-like of shape (n_items,)
        One number per item; of equal numbers the earlier item comes first.

    Returns
    -------
    ndarray of shape (n_items,)

    References
    ----------
    Edmonds (1970), Submodular functions, matroids, and certain polyhedra.

    Examples
    --------
    >>> from rankwise.embeddings import cut_function, greedy_vertex
    >>> greedy_vertex(cut_function([[0, 2, 1], [2, 0, 1], [1, 1, 0]]), [3, 2, 1])
    array([ 3., -1., -2.])
    """
    vector = _vector(w, "w", F)
    order = np.argsort(-vector, kind="stable")
    values, inside = KnownValues(F), np.zeros(len(vector), dtype=bool)
    vertex, before = np.empty(len(vector)), values(inside)
    for item in order:
        inside[item] = True
        after = values(inside)
        vertex[item] = after - before
        before = after
    return vertex


def in_base_polytope(F: SetFunction, s: ArrayLike, *, tol: float = 1e-9, max_sets: int = 1 << 16) -> bool:
    r"""Whether a vector lies in the base polytope of a set function.

    *Definition.* :math:`s(B) \le F(B)` for every set B of items and :math:`s(V) = F(V)` for all of them, with
    :math:`s(B)` the sum over the items of B and :math:`F - F(\emptyset)` in place of F.

    Parameters
    ----------
    F : callable
        From an increasing array of item ids to a number; where F of no items is not 0, it is subtracted everywhere.
    s : array-like of shape (n_items,)
        One number per item.
    tol : float, default=1e-9
        By how much an inequality may fail, relative to the largest value of F.
    max_sets : int, default=65536
        F is computed for all :math:`2^n` sets; refuse if these are more.

    Returns
    -------
    bool

    References
    ----------
    Conserva, Deisenroth, Sesh Kumar (2022), equation 5.

    Examples
    --------
    >>> from rankwise.embeddings import cut_function, in_base_polytope
    >>> F = cut_function([[0, 2, 1], [2, 0, 1], [1, 1, 0]])
    >>> in_base_polytope(F, [3, -1, -2]), in_base_polytope(F, [4, -2, -2])
    (True, False)
    """
    vector = _vector(s, "s", F)
    _check_number_of_sets(len(vector), max_sets)
    values = _all_values(F, len(vector))
    allowed = values - values[0]
    sums = np.array([_mask(code, len(vector)) for code in range(len(values))], dtype=float) @ vector
    slack = tol * max(1.0, float(np.abs(allowed).max()))
    return bool((sums <= allowed + slack).all() and abs(sums[-1] - allowed[-1]) <= slack)


def cut_function(graph: ArrayLike) -> SetFunction:
    r"""The cut of a set: the weight of the edges between its items and all others.

    *Definition.* :math:`F(B) = \sum_{i \in B, j \notin B} a_{ij}`, for the weights :math:`a_{ij}` of a graph.
    `GraphCutEmbedding` has its features much faster than `SubmodularEmbedding`.

    Parameters
    ----------
    graph : array-like or sparse matrix of shape (n_items, n_items)
        Weights between items, symmetric and not negative, for example from `item_graph`.

    Returns
    -------
    callable
        From item ids, counted from 0, to the value of their set; takes a set, a list, a tuple or an array.

    Examples
    --------
    >>> from rankwise.embeddings import cut_function
    >>> cut_function([[0, 2, 1], [2, 0, 1], [1, 1, 0]])({0, 2})
    3.0
    """
    weights = check_graph(graph).matrix()
    return _OfItems(partial(_cut, weights), weights.shape[0])


def concave_of_size(g: Callable[[int], float]) -> SetFunction:
    """A concave function of the number of items, so that each further item adds less.

    Parameters
    ----------
    g : callable
        From a number of items to a value; concave.

    Returns
    -------
    callable
        From item ids, counted from 0, to the value of their set; takes a set, a list, a tuple or an array.

    Examples
    --------
    >>> from rankwise.embeddings import concave_of_size
    >>> concave_of_size(lambda size: size**0.5)([0, 3, 5, 6])
    2.0
    """
    return _OfItems(partial(_of_size, g))


def coverage(topics: ArrayLike, weights: ArrayLike | None = None) -> SetFunction:
    """Coverage of a set: the summed weight of the topics that at least one of its items covers.

    Parameters
    ----------
    topics : array-like of bool or {0, 1} of shape (n_items, n_topics)
        Which topics an item covers.
    weights : array-like of shape (n_topics,), optional
        Weights of the topics, 0 or more; 1 by default.

    Returns
    -------
    callable
        From item ids, counted from 0, to the value of their set; takes a set, a list, a tuple or an array.

    Examples
    --------
    >>> from rankwise.embeddings import coverage
    >>> coverage([[1, 1, 0], [0, 1, 0], [0, 0, 1]])([0, 1])
    2.0
    """
    covered = check_numbers("topics", topics)
    if covered.ndim != 2 or not np.isin(covered, (0, 1)).all():
        raise ValueError("topics must hold only 0 and 1, one row per item and one column per topic")
    counts = np.ones(covered.shape[1]) if weights is None else check_numbers("weights", weights)
    if counts.shape != (covered.shape[1],) or not (counts >= 0).all():
        raise ValueError(f"weights must be 0 or more, one for each of the {covered.shape[1]} topics")
    return _OfItems(partial(_covered_weight, covered > 0, counts), len(covered))


def gaussian_entropy(covariance: ArrayLike) -> SetFunction:
    r"""Entropy of the scores of the items in a set, if scores are normal: :math:`\frac12 \log\det(2 \pi e \Sigma_B)`.

    Parameters
    ----------
    covariance : array-like of shape (n_items, n_items)
        Covariance of the scores of items, positive definite.

    Returns
    -------
    callable
        From item ids, counted from 0, to the value of their set; takes a set, a list, a tuple or an array.

    Examples
    --------
    >>> from rankwise.embeddings import gaussian_entropy
    >>> round(gaussian_entropy([[1.0, 0.5], [0.5, 1.0]])([0]), 3)
    1.419
    """
    matrix = check_numbers("covariance", covariance)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.allclose(matrix, matrix.T):
        raise ValueError(f"covariance has shape {matrix.shape}; give a symmetric matrix, one row per item")
    if not np.linalg.eigvalsh(matrix).min() > 0:
        raise ValueError("covariance is not positive definite; add a small number to its diagonal")
    return _OfItems(partial(_entropy, matrix), len(matrix))


class KnownValues:
    """Values of F by masks of items, cached: rankings share many of their sets of best items."""

    def __init__(self, F: SetFunction) -> None:
        self.F = F
        self.known: dict[bytes, float] = {}

    def __call__(self, inside: BoolArray) -> float:
        """Value of the set of the items that a mask holds."""
        key = inside.tobytes()
        if key not in self.known:
            items = np.flatnonzero(inside)
            value = float(self.F(items))
            if not np.isfinite(value):
                raise ValueError(f"F is {value} for the items {items.tolist()}; it must be finite for every set")
            if len(self.known) >= _MOST_CACHED:
                return value
            self.known[key] = value
        return self.known[key]


def _check_number_of_sets(n_items: int, max_sets: int) -> None:
    n = check_whole_number("n_items", n_items, at_least=1)
    if n >= 63 or 1 << n > max_sets:
        raise ValueError(
            f"{n} items have 2^{n} sets, more than max_sets ({max_sets:,}); give a larger max_sets, or try fewer items"
        )


def _vector(numbers: ArrayLike, name: str, F: SetFunction) -> FloatArray:
    vector = check_numbers(name, numbers)
    if vector.ndim != 1 or not len(vector) or not np.isfinite(vector).all():
        raise ValueError(f"{name} must hold one finite number per item")
    check_number_of_items(F, len(vector), f"{name} must hold one number per item, but its length is")
    return vector


def check_number_of_items(F: SetFunction, n_items: int, what: str) -> None:
    """Refuse another number of items than F was made for; functions of the user's own do not say theirs."""
    if isinstance(F, _OfItems) and F.n_items not in (None, n_items):
        raise ValueError(f"{what} {n_items}; F is a function of the sets of {F.n_items} items")


def _mask(code: int, n_items: int) -> BoolArray:
    return (code >> np.arange(n_items) & 1).astype(bool)


def _violation_of_all(F: SetFunction, n_items: int) -> Violation | None:
    """Try every set with every two items outside of it; sets are the bits of their codes."""
    values = _all_values(F, n_items)
    codes = np.arange(len(values))
    for i, j in combinations(range(n_items), 2):
        first, second = 1 << i, 1 << j
        inside = codes[codes & (first | second) == 0]
        sums = values[inside | first], values[inside | second], values[inside | first | second], values[inside]
        wrong = np.flatnonzero(_fails(*sums))
        if len(wrong):
            code = int(inside[wrong[0]])
            a, b = (_ids(_mask(code | bit, n_items)) for bit in (first, second))
            return Violation(a, b, *(float(sums[k][wrong[0]] + sums[k + 1][wrong[0]]) for k in (0, 2)))
    return None


def _violation_of_some(F: SetFunction, n_items: int) -> Violation | None:
    """Try random sets with two items outside of them, always the same."""
    rng, values = np.random.default_rng(0), KnownValues(F)
    for _ in range(_CONDITIONS_DRAWN):
        i, j, *others = rng.permutation(n_items)[: rng.integers(2, n_items + 1)]
        sets = [np.isin(np.arange(n_items), [*others, *more]) for more in ([i], [j], [i, j], [])]
        four = [values(inside) for inside in sets]
        if _fails(*four):
            return Violation(_ids(sets[0]), _ids(sets[1]), four[0] + four[1], four[2] + four[3])
    return None


def _fails(a: Any, b: Any, union: Any, intersection: Any) -> Any:
    size = np.max(np.abs([a, b, union, intersection]), axis=0)
    return union + intersection - a - b > _ROUNDING * size


def _all_values(F: SetFunction, n_items: int) -> FloatArray:
    """Values of all sets, by code."""
    values = KnownValues(F)
    return np.array([values(_mask(code, n_items)) for code in range(1 << n_items)])


def _ids(inside: BoolArray) -> tuple[int, ...]:
    return tuple(np.flatnonzero(inside).tolist())


def _named(items: set[int]) -> str:
    return f"{{{', '.join(map(str, sorted(items)))}}}"


# A class and module-level functions, so that embeddings with these set functions can be pickled.


@dataclass(frozen=True, eq=False)
class _OfItems:
    """A ready-made set function: checks the items that it is given, and knows how many there are if it matters."""

    value: SetFunction = field(repr=False)
    n_items: int | None = None

    def __call__(self, items: Iterable[int]) -> float:
        """Value of a set of items."""
        numbers = items if isinstance(items, np.ndarray) else np.array(list(items))
        if not numbers.size:
            return self.value(np.empty(0, dtype=np.intp))
        if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
            cure = "; np.flatnonzero makes ids of a mask" if numbers.dtype.kind == "b" else ""
            raise TypeError(f"the items are {items!r}, but should be ids, whole numbers counted from 0{cure}")
        ids = np.unique(numbers)
        if ids[0] < 0 or (self.n_items is not None and ids[-1] >= self.n_items):
            wrong = ids[0] if ids[0] < 0 else ids[-1]
            known = "counted from 0" if self.n_items is None else f"from 0 to {self.n_items - 1}"
            raise ValueError(f"there is no item {wrong}; ids are {known}")
        return self.value(ids)


def _of_size(g: Callable[[int], float], items: IntArray) -> float:
    return float(g(len(items)))


def _covered_weight(covered: np.ndarray, weights: FloatArray, items: IntArray) -> float:
    return float(weights[covered[items].any(axis=0)].sum())


def _entropy(covariance: FloatArray, items: IntArray) -> float:
    block = covariance[np.ix_(items, items)]
    return float(0.5 * (np.linalg.slogdet(block)[1] + len(items) * np.log(2 * math.pi * math.e)))


def _cut(weights: Any, items: IntArray) -> float:
    outside = np.setdiff1d(np.arange(weights.shape[0]), items)
    return float(weights[items][:, outside].sum())
