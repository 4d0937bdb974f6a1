"""Label ranking data with smooth scores: each item depends a little on every feature."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwise._typing import FloatArray, RandomState
from rankwise._validation import check_generator, check_scales, check_sizes
from rankwise.data import Rankings


def make_smooth_label_ranking(
    n_samples: int = 1000,
    n_features: int = 10,
    n_items: int = 5,
    *,
    noise_scale: float = 1.0,
    random_state: RandomState = None,
) -> tuple[FloatArray, Rankings, Any]:
    r"""Rank items by noisy scores that are smooth functions of all features.

    *Definition.* x is standard normal. Item i has the score :math:`m_i(x) = \sum_j w_{ij} \tanh(x_j) + v_{ij}
    |x_j|` with standard normal weights, and items are sorted by *decreasing* :math:`m_i(x) + s \xi_i` with standard
    Gumbel noise :math:`\xi`: rankings follow the Plackett-Luce model of the log worths m(x) / s.

    Parameters
    ----------
    n_samples, n_features, n_items : int
        Rows, features and items.
    noise_scale : float, default=1.0
        s, with 0 for none.
    random_state : None, int, Generator or RandomState
        Where the random numbers come from.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : Rankings
        Full rankings.
    bunch : Bunch
        ``scores`` (n_samples, n_items) and ``noiseless`` (Rankings by the scores alone).

    Examples
    --------
    >>> from rankwise.datasets import make_smooth_label_ranking
    >>> X, y, bunch = make_smooth_label_ranking(100, random_state=0)
    >>> X.shape, y.shape
    ((100, 10), (100, 5))
    """
    check_sizes(n_samples=n_samples, n_features=n_features)
    check_sizes(at_least=2, n_items=n_items)
    check_scales(noise_scale=noise_scale)
    rng = check_generator(random_state)
    monotone, symmetric = rng.standard_normal((2, n_features, n_items))
    X = rng.standard_normal((n_samples, n_features))
    scores = np.tanh(X) @ monotone + np.abs(X) @ symmetric
    noisy = scores + noise_scale * rng.gumbel(size=scores.shape)

    from sklearn.utils import Bunch

    return X, Rankings.from_scores(noisy), Bunch(scores=scores, noiseless=Rankings.from_scores(scores))
