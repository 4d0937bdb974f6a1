"""How much rankings agree: `concordance` (Kendall's W and its test) and `agreement` (mean Kendall distance).

`summary` and `analyze` use them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from math import factorial, prod
from typing import Any, Literal, TypeAlias

import numpy as np

from rankwise._tables import TextTable, make_frame
from rankwise._threads import one_thread
from rankwise._typing import ArrayLike, FloatArray, IntArray, RandomState
from rankwise._validation import check_choice, check_generator, check_whole_number, weights_count_people
from rankwise.analysis import item_ranks_jit
from rankwise.analysis.base import Result, sample_rows
from rankwise.data import Rankings
from rankwise.distances import pairwise_distances

WeightKind: TypeAlias = Literal["auto", "counts", "survey"]
PFrom: TypeAlias = Literal["auto", "exact", "permutations", "chi-square"]

# All pairs of rankings are compared up to this number; of more, a random sample is.
_MOST_COMPARED = 1_000
# Exact p-values add the rankings one after another; so many sums of ranks at once take about a second.
_MOST_SUMS = 300_000
# With p_from="auto", more people have a chi-square p-value without a try of the exact one.
_MOST_EXACT_PEOPLE = 30
# With p_from="auto", rankings with at most this many ranks in all are permuted if they are too many for exact values.
_MOST_PERMUTED = 500
# Sums of ranks that are equal may differ by rounding.
_ROUNDING = 1e-9
# Words for W up to these values, about those of Schmidt (1997), Managing Delphi surveys using nonparametric statistical
# techniques, Decision Sciences 28: 0.1 is very weak, 0.3 weak, 0.5 moderate, 0.7 strong, 0.9 unusually strong.
_DEGREES = {0.2: "very weak", 0.4: "weak", 0.6: "moderate", 0.8: "strong", 2.0: "very strong"}


@dataclass(frozen=True, eq=False, repr=False)
class Concordance(Result):
    """Kendall's coefficient of concordance with its test; made by `concordance`.

    Attributes
    ----------
    w : float
        Kendall's W, corrected for ties: 0 is no agreement, 1 full agreement. NaN if every ranking ties all its items.
    test : {"Friedman", "Skillings-Mack"}
        The test that all items are ranked alike: Skillings-Mack where items are missing.
    statistic : float
        Its statistic, corrected for ties.
    degrees_of_freedom : int
        Degrees of freedom of its chi-square approximation.
    p_value : float
        Probability of so large a statistic if everybody ranked at random.
    p_from : {"exact", "permutations", "chi-square"}
        Where the p-value comes from.
    n : float
        Number of people whose rankings compare items.
    """

    w: float
    test: str
    statistic: float
    degrees_of_freedom: int
    p_value: float
    p_from: str
    n: float

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        if np.isnan(self.w):
            return "Nothing can be said about agreement: no ranking puts an item before another."
        degree = next(word for limit, word in _DEGREES.items() if self.w < limit)
        chance = "more than chance explains" if self.p_value < 0.05 else "which may be chance"
        return (
            f"Agreement is {degree}: Kendall's W is {self.w:.2f} (0 is no agreement, 1 full agreement), "
            f"{chance} ({self.p_text})."
        )

    @property
    def p_text(self) -> str:
        """The p-value as text, such as "p = 0.031" or "p < 0.001"."""
        return "p < 0.001" if self.p_value < 0.001 else f"p = {self.p_value:.3f}"

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame of one row, of pandas by default, else of the named backend."""
        return make_frame({name: [value] for name, value in self.as_dict().items()}, backend)

    def as_dict(self) -> dict[str, Any]:
        """The numbers for JSON; None for those that are not known."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: None if value != value else value for name, value in values.items()}

    def rows(self) -> list[list[str]]:
        """The rows of a table of text."""
        if np.isnan(self.w):
            return [["Kendall's W", "unknown: no ranking puts an item before another"]]
        kinds = {
            "exact": "exact, by all orders",
            "permutations": "by random orders",
            "chi-square": f"chi-square with {self.degrees_of_freedom:,} degrees of freedom",
        }
        return [
            ["Kendall's W", f"{self.w:.3f} (0 is no agreement, 1 full agreement)"],
            [f"{self.test} test", f"{self.statistic:.2f}, {self.p_text} ({kinds[self.p_from]})"],
        ]

    def tables(self) -> list[TextTable]:
        """The numbers as a table of text."""
        return [TextTable("Agreement", self.sentence, ["", ""], self.rows())]


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(Result):
    """How much rankings agree with each other; made by `agreement`.

    Attributes
    ----------
    to_each_other : float or None
        Mean Kendall distance of two rankings, as a share of the pairs of items that both compare: 0 is the same
        order, 1 the reverse. None if no two rankings compare the same pair of items.
    n_compared : int
        Number of rankings that were compared with each other: all, or a random sample.
    n_rankings : int
        Number of all rankings.
    """

    to_each_other: float | None
    n_compared: int
    n_rankings: int

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame of one row, of pandas by default, else of the named backend."""
        distance = np.nan if self.to_each_other is None else self.to_each_other
        columns = {"mean_distance": [distance], "n_compared": [self.n_compared], "n_rankings": [self.n_rankings]}
        return make_frame(columns, backend)

    def as_dict(self) -> dict[str, Any]:
        """The numbers for JSON."""
        return {"to_each_other": self.to_each_other, "n_compared": self.n_compared}

    def cells(self) -> list[str]:
        """The row of a table of text."""
        value = "nothing to compare" if self.to_each_other is None else f"{self.to_each_other:.3f}"
        if self.n_compared < self.n_rankings:
            value += f" (in a sample of {self.n_compared:,})"
        return ["between two rankings", value]

    def tables(self) -> list[TextTable]:
        """The numbers as a table of text."""
        return [TextTable("Mean Kendall distance", "0 is the same order, 1 the reverse", ["", ""], [self.cells()])]


def concordance(
    rankings: ArrayLike,
    *,
    weight_kind: WeightKind = "auto",
    p_from: PFrom = "auto",
    n_permutations: int = 9_999,
    random_state: RandomState = 0,
) -> Concordance:
    r"""Measure how much rankings agree about the items, by Kendall's W, and test whether that is more than chance.

    *Definition.* W is the share of the variance of midranks within rankings that items explain. Without missing items
    this is Kendall's coefficient, corrected for ties,
    :math:`W = \frac{12 S}{n^2 (k^3 - k) - n \sum (t^3 - t)}`, and the test is Friedman's. With missing items, the
    midranks of a ranking of m items are multiplied by :math:`\sqrt{12 / (m + 1)}`, the variance explained is that of
    least squares, and the test is that of Skillings and Mack; then full agreement may have a W slightly below 1. The
    covariance of the sums of ranks is that of random orders of each ranking's own midranks, which corrects for ties.

    Parameters
    ----------
    rankings : array-like of shape (n_rankings, n_items) or Rankings
        Positions: column = item, 1 = best, of any kind; unlisted items share the places below the listed ones.
    weight_kind : {"auto", "counts", "survey"}, default="auto"
        What the weights of Rankings are: counts of people, or survey weights. By default whole numbers count people.
    p_from : {"auto", "exact", "permutations", "chi-square"}, default="auto"
        Where the p-value comes from: all orders of all rankings, random ones, or the chi-square distribution. By
        default the first that takes less than a second; exact values are refused where they take much longer.
    n_permutations : int, default=9999
        Number of random orders.
    random_state : None, int, Generator or RandomState, default=0
        Decides the random orders; by default they are the same in each call.

    Returns
    -------
    Concordance

    References
    ----------
    Kendall, Babington Smith (1939), The problem of m rankings, Annals of Mathematical Statistics 10.
    Friedman (1937), The use of ranks to avoid the assumption of normality, JASA 32.
    Skillings, Mack (1981), On the use of a Friedman-type statistic in balanced and unbalanced block designs,
    Technometrics 23.

    Examples
    --------
    >>> from rankwise.analysis import concordance
    >>> concordance([[1, 2, 3], [1, 3, 2], [1, 2, 3]])
    Agreement
    Agreement is strong: Kendall's W is 0.78 (0 is no agreement, 1 full agreement), which may be chance (p = 0.194).
    Kendall's W    0.778 (0 is no agreement, 1 full agreement)
    Friedman test  4.67, p = 0.194 (exact, by all orders)
    """
    rankings = Rankings(rankings)
    check_choice("p_from", p_from, ("auto", "exact", "permutations", "chi-square"))
    check_whole_number("n_permutations", n_permutations, at_least=1)
    people = weights_count_people(rankings.weights, weight_kind)
    ranks, sizes, squares, *_ = item_ranks_jit.rank_items(rankings.positions, rankings.weights)
    rng = check_generator(random_state)
    return concordance_of_ranks(ranks, sizes, squares, rankings.weights, people, p_from, n_permutations, rng)


def concordance_of_ranks(
    ranks: FloatArray,
    sizes: IntArray,
    squares: FloatArray,
    weights: FloatArray,
    people: bool,
    p_from: str = "auto",
    n_permutations: int = 9_999,
    rng: np.random.Generator | None = None,
) -> Concordance:
    """`concordance` from midranks, NaN where missing, the number of items in each ranking, and its sum of squares."""
    from scipy.special import gammaincc

    useful = (sizes > 0) & (weights > 0)
    if not useful.all():
        ranks, sizes, squares, weights = ranks[useful], sizes[useful], squares[useful], weights[useful]
    n, k = ranks.shape
    complete = bool((sizes == k).all())
    n_people = float(weights.sum()) if people else float(n)
    test = "Friedman" if complete else "Skillings-Mack"
    if not np.any(squares > 0):
        return Concordance(float("nan"), test, float("nan"), 0, float("nan"), "chi-square", n_people)
    stretch = np.sqrt(12 / (sizes + 1))
    squares = squares * stretch**2
    spread = (weights if people else weights**2) * squares / (sizes - 1)
    if complete:
        sums = stretch[0] * (weights @ ranks - weights.sum() * (k + 1) / 2)
        center = np.eye(k) - 1 / k
        inverse, freedom = center / spread.sum(), k - 1
        explained = sums @ sums / weights.sum()
    else:
        held = (~np.isnan(ranks)).astype(np.float64)
        with one_thread():  # for tall, narrow products threads cost more than they give
            sums = (weights * stretch) @ np.nan_to_num(ranks - (sizes[:, np.newaxis] + 1) / 2)
            inverse, freedom = _inverse_of_laplacian(_laplacian(held, spread, sizes))
            explained = sums @ _inverse_of_laplacian(_laplacian(held, weights, sizes))[0] @ sums
    statistic = float(sums @ inverse @ sums)
    p_value, method = float("nan"), "chi-square"
    if p_from == "exact" or (p_from == "auto" and n_people <= _MOST_EXACT_PEOPLE):
        exact = _exact_p(*_each_person(ranks, sizes, weights, people), inverse, statistic, complete)
        if exact is None and p_from == "exact":
            raise ValueError(
                f"exact p-values of {n_people:,.0f} rankings of {k:,} items take too long; choose "
                "p_from='permutations' or 'chi-square'"
            )
        if exact is not None:
            p_value, method = exact, "exact"
    if np.isnan(p_value) and (p_from == "permutations" or (p_from == "auto" and n_people * k <= _MOST_PERMUTED)):
        rng = check_generator(0) if rng is None else rng
        single = _each_person(ranks, sizes, weights, people)
        p_value, method = _permutation_p(*single, inverse, statistic, n_permutations, rng), "permutations"
    if np.isnan(p_value):
        p_value = float(gammaincc(freedom / 2, statistic / 2))
    w = min(1.0, float(explained / (weights @ squares)))
    return Concordance(w, test, statistic, freedom, p_value, method, n_people)


def _laplacian(held: FloatArray, spread: FloatArray, sizes: IntArray) -> FloatArray:
    """Sum over rankings of spread times (I - J / m) on the items that they hold."""
    scaled = held * (spread / sizes)[:, np.newaxis]
    return np.diag(spread @ held) - scaled.T @ held


def _inverse_of_laplacian(matrix: FloatArray) -> tuple[FloatArray, int]:
    """A matrix that inverts it for sums of scores, and its rank.

    Within each group of items that rankings connect, scores add up to 0; a multiple of ones there makes the matrix
    invertible and does not change what it does with such scores.
    """
    from scipy.sparse.csgraph import connected_components

    scale = np.trace(matrix) / len(matrix)
    n_groups, group = connected_components(matrix < -1e-12 * scale, directed=False)
    same = group[:, np.newaxis] == group[np.newaxis, :]
    filled = matrix + same * (scale / np.bincount(group)[group])
    return np.asarray(np.linalg.inv(filled), dtype=np.float64), len(matrix) - int(n_groups)


def _each_person(
    ranks: FloatArray, sizes: IntArray, weights: FloatArray, people: bool
) -> tuple[FloatArray, FloatArray]:
    """Weighted scores of each person, 0 where missing, and which items each holds."""
    held = ~np.isnan(ranks)
    centered = np.where(held, ranks - (sizes[:, np.newaxis] + 1) / 2, 0.0)
    scores = centered * (np.sqrt(12 / (sizes + 1)) * (1 if people else weights))[:, np.newaxis]
    counts = weights.astype(np.intp) if people else np.ones(len(weights), dtype=np.intp)
    return np.repeat(scores, counts, axis=0), np.repeat(held, counts, axis=0)


def _exact_p(
    scores: FloatArray, held: FloatArray, inverse: FloatArray, statistic: float, complete: bool
) -> float | None:
    """Share of all orders of all rankings with at least this statistic; None if they are too many.

    Rankings are added one after another, and equal sums of scores are merged. If all rankings hold all items, sums that
    are permutations of each other have the same statistic and the same continuations, and are merged, too.
    """
    sums: FloatArray = np.zeros((1, scores.shape[1]))
    shares: FloatArray = np.ones(1)
    for row, mask in zip(scores, held, strict=True):
        values = row[mask]
        n_orders = factorial(len(values)) // prod(factorial(int(t)) for t in np.unique(values, return_counts=True)[1])
        if factorial(len(values)) > _MOST_SUMS or len(sums) * n_orders > _MOST_SUMS:
            return None
        orders = np.array(sorted(set(permutations(values.tolist()))))
        added = np.repeat(sums, len(orders), axis=0)
        added[:, mask] += np.tile(orders, (len(sums), 1))
        if complete:
            added.sort(axis=1)
        keys = np.round(added / _ROUNDING)
        _, first, inverse_rows = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        repeated = np.repeat(shares / len(orders), len(orders))
        shares = np.bincount(inverse_rows.ravel(), repeated).astype(np.float64)
        sums = added[first]
    statistics = np.einsum("ij,jl,il->i", sums, inverse, sums)
    return float(min(1.0, shares[statistics >= statistic * (1 - _ROUNDING)].sum()))


def _permutation_p(
    scores: FloatArray,
    held: FloatArray,
    inverse: FloatArray,
    statistic: float,
    n_permutations: int,
    rng: np.random.Generator,
) -> float:
    """Share of random orders with at least this statistic, the given orders among them."""
    sums = np.zeros((n_permutations, scores.shape[1]))
    for row, mask in zip(scores, held, strict=True):
        sums[:, mask] += rng.permuted(np.tile(row[mask], (n_permutations, 1)), axis=1)
    statistics = np.einsum("ij,jl,il->i", sums, inverse, sums)
    return (1 + np.count_nonzero(statistics >= statistic * (1 - _ROUNDING))) / (1 + n_permutations)


def agreement(
    rankings: ArrayLike, *, max_rankings: int = _MOST_COMPARED, random_state: RandomState = None
) -> Agreement:
    """Measure how much rankings agree with each other: the mean Kendall distance of two of them.

    Parameters
    ----------
    rankings : array-like of shape (n_rankings, n_items) or Rankings
        Positions: column = item, 1 = best.
    max_rankings : int, default=1000
        Of more rankings, a random sample of this size is compared.
    random_state : None, int, Generator or RandomState
        Decides the sample.

    Returns
    -------
    Agreement

    Examples
    --------
    >>> from rankwise.analysis import agreement
    >>> agreement([[1, 2, 3], [1, 2, 3], [3, 2, 1]]).to_each_other
    0.666...
    """
    rankings = Rankings(rankings)
    rows = sample_rows(len(rankings), max_rankings, check_generator(random_state))
    weights = rankings.weights[rows]
    # Two rankings that share a row, because it counts more than once, have distance 0, like the diagonal.
    pairs = np.triu(np.outer(weights, weights), k=1) + np.diag(np.maximum(weights * (weights - 1) / 2, 0))
    distances = pairwise_distances(rankings[rows], normalize=True)
    known = ~np.isnan(distances) & (pairs > 0)
    mean = float(np.average(distances[known], weights=pairs[known])) if known.any() else None
    return Agreement(mean, len(rows), len(rankings))
