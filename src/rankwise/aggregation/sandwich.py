"""Standard errors where weights are survey weights: the sandwich of the scores of people, for models of choices.

A survey weight says how many others somebody stands for, and not how many were asked: the sum of the weights is no
number of observations, and the inverse of the information no covariance. The variance of the weighted scores s comes
from the people themselves: with the inverse information A it is A (sum of w^2 s s') A. `PlackettLuce`, `BradleyTerry`,
`BestWorst` and `PlackettLuceRanker` use it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

import numpy as np

from rankwise._typing import FloatArray
from rankwise._validation import check_choice, weights_count_people

WeightKind = Literal["auto", "counts", "survey"]

# Numbers in the scores of people that are held at once.
_BLOCK_ENTRIES = 1 << 21


def are_survey_weights(weights: FloatArray, weight_kind: str) -> bool:
    """Whether weights are survey weights: by "auto" those that are not whole numbers.

    Counts that are not whole may be asked for: pseudo-rankings that steady a fit count half, say.
    """
    check_choice("weight_kind", weight_kind, ("auto", "counts", "survey"))
    return weight_kind != "counts" and not weights_count_people(weights, weight_kind)


def effective_number(weights: FloatArray) -> float:
    """How many people of equal weight are as informative as these (Kish)."""
    largest = float(weights.max(initial=0.0))
    if largest == 0:
        return 0.0
    shares = weights / largest  # whose squares do not underflow
    return float(shares.sum()) ** 2 / float(shares @ shares)


def sum_of_squares(scores: Callable[[slice], FloatArray], weights: FloatArray, n_parameters: int) -> FloatArray:
    """Sum of w^2 s s' over people; ``scores`` makes the scores s of some of them, one row each."""
    total = np.zeros((n_parameters, n_parameters))
    for rows in _blocks(len(weights), n_parameters):
        weighted = weights[rows, np.newaxis] * scores(rows)
        total += weighted.T @ weighted
    return total


def sandwich(inverse: FloatArray, squares: FloatArray, n: int, prior: FloatArray | None = None) -> FloatArray:
    """The robust covariance of a fit to n people, with the factor n / (n - 1).

    A prior counts like observations of its own, by its information: where there is nothing but the prior, the
    covariance is that of the prior.
    """
    middle = squares * (n / max(n - 1, 1))
    covariance: FloatArray = inverse @ (middle if prior is None else middle + prior) @ inverse
    return (covariance + covariance.T) / 2


def _blocks(n: int, n_parameters: int) -> Iterator[slice]:
    size = max(1, _BLOCK_ENTRIES // max(n_parameters, 1))
    return (slice(first, min(first + size, n)) for first in range(0, n, size))
