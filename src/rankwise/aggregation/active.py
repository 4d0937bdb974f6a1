"""Which items to compare next: the most informative pairs, under a Bradley-Terry or Plackett-Luce model."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from rankwise._typing import ArrayLike
from rankwise._validation import check_whole_number
from rankwise.aggregation.base import RankingModel
from rankwise.aggregation.bradley_terry import BradleyTerry
from rankwise.aggregation.plackett_luce import PlackettLuce


def next_pairs(
    model_or_matrix: BradleyTerry | PlackettLuce | ArrayLike, n: int = 1, *, alpha: float = 1.0
) -> list[tuple[Hashable, Hashable]]:
    r"""Choose the pairs of items whose comparison is expected to say most about the worths.

    *Definition.* Let :math:`\Sigma` be the covariance of the log worths and :math:`V_{ij}` the variance of the outcome
    of i against j (1, 1/2 or 0; :math:`p_{ij}(1 - p_{ij})` without ties) under the model. A comparison of i and j
    adds the information :math:`V_{ij} (e_i - e_j)(e_i - e_j)^\top`, which raises the log determinant of the
    information by

    .. math:: \log\bigl(1 + V_{ij}\, (\Sigma_{ii} + \Sigma_{jj} - 2 \Sigma_{ij})\bigr):

    a comparison is worth making if its outcome is open and the difference is not yet known. The pair with the
    largest gain comes first; :math:`\Sigma` is then updated as if it had been asked, and so on (D-optimal design,
    greedy).

    Parameters
    ----------
    model_or_matrix : BradleyTerry, PlackettLuce, PreferenceMatrix, or array-like of shape (n_items, n_items)
        A fitted model; or the matrix whose entry (i, j) is how often i beat j, to which a Bradley-Terry model is
        fitted. A matrix of zeros is a valid start.
    n : int, default=1
        How many comparisons to plan at once. A pair may occur more than once.
    alpha : float, default=1.0
        Strength of the prior of the model that is fitted to a matrix; early on, comparisons rarely connect all items.

    Returns
    -------
    list of tuple
        Names of the two items of each comparison; equal gains are decided by the order of the items.

    References
    ----------
    Fedorov (1972), Theory of optimal experiments. Glickman, Jensen (2005), Adaptive paired comparison design, Journal
    of Statistical Planning and Inference 127.

    Examples
    --------
    >>> from rankwise.aggregation import next_pairs
    >>> next_pairs([[0, 1, 0], [0, 0, 0], [0, 0, 0]], n=2)
    [(0, 2), (1, 2)]
    """
    check_whole_number("n", n, at_least=0)
    model = model_or_matrix
    if isinstance(model, RankingModel) and not isinstance(model, BradleyTerry | PlackettLuce):
        raise TypeError(
            f"{type(model).__name__} has no worths to learn about; give a BradleyTerry or PlackettLuce model, or the "
            "matrix of wins"
        )
    if not isinstance(model, BradleyTerry | PlackettLuce):
        model = BradleyTerry(alpha=alpha).fit(model_or_matrix)
    model._check_fitted()
    if model.covariance_ is None:
        raise ValueError(
            f"the gain of a comparison needs the covariance of {len(model.items_):,} worths, which is not computed for "
            "this many; plan within groups of at most 2,000 items"
        )
    covariance = model.covariance_.copy()
    mean = model.pairwise_probabilities()
    variance = mean - model.tie_probabilities() / 4 - mean**2
    pairs = []
    for _ in range(n):
        spread = covariance.diagonal()
        # The gain of a pair grows with this product; its logarithm would choose the same.
        gain = variance * (spread[:, np.newaxis] + spread - 2 * covariance)
        # Gains that differ by rounding alone are equal, so that the plan does not hang on the last digit.
        i, j = np.unravel_index(np.argmax(np.triu((gain / gain.max()).round(9), 1)), gain.shape)
        pairs.append((model.items_[i], model.items_[j]))
        change = covariance[:, i] - covariance[:, j]
        covariance -= np.outer(change, change) * (variance[i, j] / (1 + gain[i, j]))
    return pairs
