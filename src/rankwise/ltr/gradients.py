r"""Gradients and second derivatives of ranking losses, for boosting.

Lambda gradients are those of a weighted pairwise loss: for scores s it is
:math:`J = -\sum_q \sum_{(i, j)} w_{ij} \log \sigma(s_i - s_j)` over the pairs of a query in which i is more relevant
than j. The weight of a pair says how much exchanging the two in the current ranking would change a metric; it is held
fixed while the loss is differentiated. `LambdaMART` boosts trees on a `PairwiseLoss`, or on another objective of
`rankwise.ltr.objectives`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from rankwise._typing import ArrayLike, FloatArray, RandomState
from rankwise._validation import check_choice, check_generator, check_real_number, check_weights, check_whole_number
from rankwise.ltr import _lambda_jit
from rankwise.metrics import retrieval_jit
from rankwise.queries import (
    Gain,
    check_grades,
    check_length,
    check_pairs,
    check_rows,
    gains_of,
    group_queries,
    satisfaction_of,
)

Weight = Literal[
    "none", "ndcg", "dcg", "lambdaloss", "yetirank", "map", "mrr", "err", "precision", "recall", "hit_rate"
]
Ties = Literal["auto", "average", "random"]

# With fewer rows, waking up a thread takes longer than what it saves; queries differ in what they take.
_ROWS_FOR_THREADS, _PARTS_OF_A_THREAD = 4000, 4

# Half a minute for each tree; every row meets those within the truncation.
_MOST_PAIRS = 10**10

_CODES = {
    "none": _lambda_jit.EQUAL,
    "ndcg": _lambda_jit.PLACES,
    "dcg": _lambda_jit.PLACES,
    "precision": _lambda_jit.PLACES,
    "recall": _lambda_jit.PLACES,
    "lambdaloss": _lambda_jit.DISTANCE,
    "yetirank": _lambda_jit.NEIGHBORS,
    "map": _lambda_jit.PRECISION_SUM,
    "mrr": _lambda_jit.FIRST_HIT,
    "hit_rate": _lambda_jit.FIRST_HIT,
    "err": _lambda_jit.CASCADE,
}


def lambda_gradients(
    y_true: ArrayLike,
    y_score: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    weight: Weight = "ndcg",
    k: int | None = None,
    truncation: int | None = None,
    gain: Gain = "exp",
    sigma: float = 1.0,
    ties: Ties = "auto",
    gap_norm: bool = False,
    query_norm: bool = False,
    n_draws: int = 0,
    gumbel_scale: float = 1.0,
    n_pairs: int | None = None,
    decay: float = 0.85,
    sample_weight: ArrayLike | None = None,
    random_state: RandomState = None,
) -> tuple[FloatArray, FloatArray]:
    r"""Gradient and diagonal second derivative of a weighted pairwise logistic loss.

    *Definition.* With :math:`p_{ij} = \sigma(\sigma_0 (s_j - s_i))`, the probability that the model has the pair the
    wrong way round, each pair of a query with i more relevant than j adds :math:`-\sigma_0 w_{ij} p_{ij}` to
    :math:`\lambda_i`, the opposite to :math:`\lambda_j`, and :math:`\sigma_0^2 w_{ij} p_{ij} (1 - p_{ij})` to
    :math:`\rho_i` and :math:`\rho_j`. A negative :math:`\lambda` says that the score is too low.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Relevance, higher is better; any finite numbers.
    y_score : array-like of shape (n_rows,)
        Finite scores, higher is better.
    qid : array-like of shape (n_rows,), optional
        The query of each row, of any type and in any order; by default all rows are one query.
    weight : str, default="ndcg"
        How much exchanging i and j changes: "ndcg" (LambdaRank), "dcg", "map", "mrr", "err", "precision", "recall" or
        "hit_rate"; "none" weighs all pairs 1 (RankNet). "lambdaloss" is NDCG-Loss2++, the weight of "ndcg" plus
        :math:`10 |g_i - g_j| (d_{|i-j|} - d_{|i-j|+1})` over the ideal DCG, with discounts d of the distance of the two
        places, a bound on what NDCG loses. "yetirank" weighs neighbors in the ranking :math:`|y_i - y_j|` times
        ``decay`` to the number of places above them; combine it with ``n_draws``. For "map", "mrr", "precision",
        "recall" and "hit_rate" rows with y > 0 are relevant.
    k : int, optional
        How many places the metric counts; all by default, and 10 for "precision", "recall" and "hit_rate".
    truncation : int, optional
        Pairs count where at least one of the two stands among this many first places, which makes the cost
        O(truncation x rows); all pairs by default. Ideal DCGs stop at the smaller of ``k`` and this.
    gain : {"exp", "linear"}, sequence, mapping or callable, default="exp"
        What a grade is worth in (N)DCG, see `rankwise.metrics.ndcg_score`.
    sigma : float, default=1.0
        :math:`\sigma_0`, the steepness of the logistic function.
    ties : {"auto", "average", "random"}, default="auto"
        The order of equal scores: the mean weight over all orders, in closed form; or one order drawn with
        ``random_state``. "auto" averages if there is a closed form ("none", (n)dcg, precision, recall).
    gap_norm : bool, default=False
        Whether to divide weights by 0.01 + the difference of the two scores.
    query_norm : bool, default=False
        Whether to scale each query by :math:`\log_2(1 + S) / S`, where S is twice the sum of the pushes of its pairs,
        so that queries with many pairs do not dominate. LightGBM sets this and ``gap_norm``.
    n_draws : int, default=0
        If positive, weights are means over this many rankings by scores with Gumbel noise: rankings that the
        Plackett-Luce model of the scores would show, instead of the single best one.
    gumbel_scale : float, default=1.0
        Scale of that noise.
    n_pairs : int, optional
        Draw this many partners for each row, any other rows of its query, instead of all pairs: the cost is
        O(n_pairs x rows). Pairs are scaled up so that the mean over draws is the gradient of all pairs (except for
        ``query_norm``, which is not a sum over pairs). Pairs beyond ``truncation`` are drawn but do not count.
        Not for "yetirank", which has few pairs.
    decay : float, default=0.85
        What each place takes from the weights of "yetirank".
    sample_weight : array-like of shape (n_rows,), optional
        Weights of rows: a pair is multiplied by the geometric mean of the two, so that a weight that all rows of a
        query share is the weight of the query.
    random_state : int, Generator, RandomState or None, default=None
        Source of the order of ties, the noise and the partners.

    Returns
    -------
    gradient : ndarray of shape (n_rows,)
        :math:`\lambda`; sums to 0 in every query.
    hessian : ndarray of shape (n_rows,)
        :math:`\rho`, 0 or more.

    References
    ----------
    Burges (2010), From RankNet to LambdaRank to LambdaMART. Wang, Li, Golbandi, Bendersky and Najork (2018), The
    LambdaLoss framework for ranking metric optimization. Gulin, Kuralenok and Pavlov (2011), Winning the transfer
    learning track of Yahoo!'s learning to rank challenge with YetiRank. Lyzhin, Ustimenko, Gulin and Prokhorenkova
    (2023), Which tricks are important for learning to rank?

    Examples
    --------
    >>> from rankwise.ltr import lambda_gradients
    >>> gradient, hessian = lambda_gradients([0, 1], [0.0, 0.0], weight="none")
    >>> gradient.tolist(), hessian.tolist()
    ([0.5, -0.5], [0.25, 0.25])
    """
    grade = check_grades(y_true, "y_true")
    scores = check_rows(y_score, "y_score")
    check_length(scores, len(grade), "y_score", of="y_true")
    if not np.isfinite(scores).all():
        row = int(np.argmin(np.isfinite(scores)))
        raise ValueError(f"y_score[{row}] is {scores[row]:g}; gradients need finite scores")
    if weight not in _CODES:
        raise ValueError(f"weight is {weight!r}; choose one of {', '.join(map(repr, _CODES))}")
    check_choice("ties", ties, ("auto", "average", "random"))
    for name, number, least in (
        ("k", k, 1),
        ("truncation", truncation, 1),
        ("n_draws", n_draws, 0),
        ("n_pairs", n_pairs, 1),
    ):
        if number is not None:
            check_whole_number(name, number, at_least=least)
    if check_real_number("sigma", sigma) == 0:
        raise ValueError("sigma is 0, but must be positive")
    check_real_number("gumbel_scale", gumbel_scale)
    if not 0 < decay <= 1:
        raise ValueError(f"decay is {decay}; give a number above 0, at most 1")
    rng = check_generator(random_state)
    groups = group_queries(qid, len(grade), of="y_true")
    weights = check_weights(sample_weight, len(grade), name="sample_weight", each="row")
    # Rows query by query, in random order within each, so that ties do not fall by the order of the file.
    rows = np.arange(len(grade)) if groups.rows is None else groups.rows
    query = np.repeat(np.arange(len(groups.ids)), groups.sizes)
    rows = rows[np.lexsort((rng.random(len(grade)), query))]
    loss = PairwiseLoss.build(
        grade[rows],
        groups.bounds,
        weights[rows],
        weight=weight,
        k=k,
        truncation=truncation,
        gain=gain,
        sigma=sigma,
        ties=ties,
        gap_norm=gap_norm,
        query_norm=query_norm,
        n_draws=n_draws,
        gumbel_scale=gumbel_scale,
        n_pairs=n_pairs,
        decay=decay,
    )
    gradient, hessian = np.empty(len(grade)), np.empty(len(grade))
    gradient[rows], hessian[rows] = loss(scores[rows], rng)
    return gradient, hessian


@dataclass(frozen=True)
class PairwiseLoss:
    """A weighted pairwise loss on rows that lie query by query; call it with scores, again and again.

    Rows of equal score rank as they lie, where ties are not averaged: shuffle rows first. ``parts`` are the rows, in
    parts with whole queries, which ``mapping`` may give to threads; see `in_threads`.
    """

    rows: _lambda_jit.Rows
    discount: FloatArray
    weighting: _lambda_jit.Weighting
    n_draws: int
    gumbel_scale: float
    n_pairs: int
    parts: tuple[_lambda_jit.Rows, ...] = ()
    mapping: Callable[..., Iterable[Any]] = map

    @classmethod
    def build(
        cls,
        grade: FloatArray,
        bounds: np.ndarray[Any, Any],
        sample_weight: FloatArray,
        *,
        weight: Weight = "ndcg",
        k: int | None = None,
        truncation: int | None = None,
        gain: Gain = "exp",
        sigma: float = 1.0,
        ties: Ties = "auto",
        gap_norm: bool = False,
        query_norm: bool = False,
        n_draws: int = 0,
        gumbel_scale: float = 1.0,
        n_pairs: int | None = None,
        decay: float = 0.85,
    ) -> PairwiseLoss:
        """Work out once what does not depend on scores; arguments are those of `lambda_gradients`."""
        longest = int(np.diff(bounds).max())
        places = longest if k is None else int(k)
        if k is None and weight in ("precision", "recall", "hit_rate"):
            places = 10
        reach = longest if truncation is None else int(truncation)
        has_closed_form = _CODES[weight] in (_lambda_jit.EQUAL, _lambda_jit.PLACES)
        if ties == "average" and not has_closed_form:
            raise ValueError(f"the mean of {weight} over the orders of ties has no closed form; use ties='random'")
        if n_pairs is not None and weight == "yetirank":
            raise ValueError("n_pairs draws pairs, but yetirank takes neighbors only; leave it out, and set n_draws")
        sizes = np.diff(bounds).astype(np.float64)
        n_met = float(sizes @ np.minimum(sizes, reach))
        if n_met > _MOST_PAIRS and n_pairs is None and weight != "yetirank":
            raise ValueError(
                f"{n_met:.2g} pairs of rows would be looked at for each tree, but at most {_MOST_PAIRS:.0e} are: the "
                f"longest query has {longest} rows; set truncation (30), or n_pairs to draw some"
            )
        level, gains, scale, discount = _gains_and_discounts(weight, grade, bounds, gain, places, reach)
        if weight == "yetirank":
            discount = np.power(float(decay), np.arange(longest + 1), dtype=np.float64)
        rows = _lambda_jit.Rows(level, gains, np.sqrt(sample_weight), np.require(bounds, np.intp, ["C", "W"]), scale)
        weighting = _lambda_jit.Weighting(
            code=_CODES[weight],
            truncation=reach,
            sigma=float(sigma),
            average_ties=has_closed_form and ties != "random",
            by_gap=bool(gap_norm),
            by_query=bool(query_norm),
        )
        return cls(rows, discount, weighting, int(n_draws), float(gumbel_scale), int(n_pairs or 0))

    def __call__(self, score: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Gradient and second derivative at the scores."""
        gradient, hessian = np.zeros(len(score)), np.zeros(len(score))
        for _ in range(max(1, self.n_draws)):
            rank_by = score
            if self.n_draws:
                # The logarithm of an exponential variable is a Gumbel variable upside down.
                rank_by = score - self.gumbel_scale * np.log(rng.standard_exponential(len(score)))
            arguments: tuple[Any, ...] = (score, rank_by, self.discount, self.weighting)
            add: Callable[..., None] = _lambda_jit.lambdas
            if self.n_pairs:
                arguments += (rng.random((len(score), self.n_pairs)),)
                add = _lambda_jit.sampled_lambdas
            add_part = partial(_add_part, add, (*arguments, gradient, hessian))
            list(self.mapping(add_part, self.parts or (self.rows,)))
        if self.n_draws > 1:
            gradient /= self.n_draws
            hessian /= self.n_draws
        return gradient, hessian

    def in_threads(self, mapping: Callable[..., Iterable[Any]], n_threads: int) -> PairwiseLoss:
        """The same loss, computed by several threads: each query is left to one of them, so no bit changes.

        ``mapping`` is that of an executor.
        """
        bounds = self.rows.bounds
        if n_threads == 1 or bounds[-1] < _ROWS_FOR_THREADS:
            return self
        wanted = np.linspace(0, bounds[-1], n_threads * _PARTS_OF_A_THREAD + 1)[1:-1]
        ends = np.unique(np.concatenate([[0], np.searchsorted(bounds, wanted), [len(bounds) - 1]]))
        parts = tuple(
            self.rows._replace(bounds=bounds[first : last + 1], scale=self.rows.scale[first:last])
            for first, last in pairwise(ends)
        )
        return replace(self, parts=parts, mapping=mapping)


def _add_part(add: Callable[..., None], arguments: tuple[Any, ...], rows: _lambda_jit.Rows) -> None:
    add(rows, *arguments)


def pair_gradients(
    pairs: ArrayLike, y_score: ArrayLike, pair_weight: ArrayLike | None = None
) -> tuple[FloatArray, FloatArray]:
    r"""Gradient and diagonal second derivative of the logistic loss of given comparisons.

    *Definition.* The loss is :math:`-\sum_{(i, j)} w_{ij} \log \sigma(s_i - s_j)` over pairs in which row i was
    preferred to row j, whatever their queries.

    Parameters
    ----------
    pairs : array-like of shape (n_pairs, 2)
        Rows, counted from 0: the preferred one first.
    y_score : array-like of shape (n_rows,)
        Scores, higher is better.
    pair_weight : array-like of shape (n_pairs,), optional
        How often each comparison counts.

    Returns
    -------
    gradient, hessian : ndarray of shape (n_rows,)
        As in `lambda_gradients`.

    Examples
    --------
    >>> from rankwise.ltr import pair_gradients
    >>> gradient, hessian = pair_gradients([[1, 0], [1, 2]], [0.0, 0.0, 0.0])
    >>> gradient.tolist(), hessian.tolist()
    ([0.5, -1.0, 0.5], [0.25, 0.5, 0.25])
    """
    scores = check_rows(y_score, "y_score")
    winners, losers, weights = check_pairs(pairs, pair_weight, len(scores))
    gradient, hessian = np.zeros(len(scores)), np.zeros(len(scores))
    _lambda_jit.pair_lambdas(winners, losers, weights, scores, gradient, hessian)
    return gradient, hessian


def _gains_and_discounts(
    weight: str, grade: FloatArray, bounds: np.ndarray[Any, Any], gain: Gain, places: int, reach: int
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Levels, which differ in the rows of a pair; gains of rows; the factor of each query; discounts of places."""
    longest = int(np.diff(bounds).max())
    place = np.arange(1.0, longest + 2)  # one more than there are, for distances
    scale = np.ones(len(bounds) - 1)
    if weight in ("ndcg", "dcg", "lambdaloss"):
        gains = np.require(gains_of(grade, gain), np.float64, ["C", "W"])
        discount = 1 / np.log2(place + 1)
        if weight != "lambdaloss":
            discount[places:] = 0
        if weight != "dcg":
            if gains.min() < 0:
                raise ValueError(
                    f"a row of relevance {grade[np.argmin(gains)]:g} has the gain {gains.min():g}, but NDCG needs "
                    "gains of 0 or more; shift the grades so that 0 is the worst, or give the gains as a table"
                )
            ideal = retrieval_jit.ideal_dcg(gains, bounds, 1 / np.log2(place[: min(places, reach, longest)] + 1))
            scale = np.divide(1, ideal, out=np.zeros_like(ideal), where=ideal > 0)
        return gains, gains, scale, discount
    if weight in ("none", "yetirank"):
        return grade, grade, scale, np.zeros(longest + 1)
    discount = np.where(place <= places, 1 / place, 0.0)
    if weight == "err":
        return grade, satisfaction_of(grade, None), scale, discount
    relevant = (grade > 0).astype(np.float64)
    if weight not in ("map", "mrr"):
        discount = np.where(place <= places, 1 / places if weight == "precision" else 1.0, 0.0)
    if weight in ("map", "recall"):
        found = np.add.reduceat(relevant, bounds[:-1])
        scale = np.divide(1, found, out=np.zeros_like(found), where=found > 0)
    return relevant, relevant, scale, discount
