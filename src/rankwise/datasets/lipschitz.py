"""Oracles whose pairwise probabilities are Lipschitz in x, with known constants: to compare bounds on risks with."""

from __future__ import annotations

import numpy as np

from rankwise._typing import RandomState
from rankwise._validation import check_generator, check_sizes
from rankwise.datasets.feature_laws import FourAreas, UniformCube
from rankwise.datasets.noise_laws import GaussianNoise, MallowsNoise
from rankwise.datasets.oracle import RankingOracle
from rankwise.datasets.score_functions import AreaScores, SmoothScores

# With noise of this standard deviation on each score, p_ij = Phi(m_i - m_j).
_SCALE = 1 / np.sqrt(2)


def lipschitz_oracle(
    n_items: int = 4,
    n_features: int = 3,
    *,
    margin: float = 0.0,
    slope: float = 1.0,
    gap: float = 0.25,
    random_state: RandomState = None,
) -> RankingOracle:
    r"""Law of features and rankings whose pairwise probabilities change slowly with x, with known constants.

    *Definition.* :math:`\sum_{i<j} |p_{ij}(x) - p_{ij}(x')| \le M \|x - x'\|` for all x, x' (Euclidean norm), and
    :math:`|p_{ij}(x) - 1/2| \ge H` for all x and pairs: assumptions 3 and 2 of ranking median regression.

    Without a margin (H = 0) x is uniform on the unit cube and :math:`p_{ij}(x) = \Phi(m_i(x) - m_j(x))` with scores
    linear in x, so that the best ranking changes where two scores cross. With one, the square of the first two features
    is cut by a cross of width ``gap`` into four areas, in which x is uniform; each has its own central ranking with
    Mallows noise around it, of margin H exactly. (Continuous probabilities that keep away from 1/2 cannot change sides,
    so the best ranking changes between areas only.)

    Parameters
    ----------
    n_items, n_features : int
        Number of items and of features, two or more.
    margin : float, default=0.0
        H, at least 0 and below 1/2.
    slope : float, default=1.0
        Standard deviation of the weights of the scores, for ``margin=0``.
    gap : float, default=0.25
        Width of the cross, between 0 and 1, for a positive margin.
    random_state : None, int, Generator or RandomState
        Determines weights or centers.

    Returns
    -------
    RankingOracle
        Its ``m`` has ``lipschitz`` (M; the smallest possible with a margin, else an upper bound that is close where
        all scores cross) and ``margin`` (H).

    References
    ----------
    Clémençon, Korba, Sibony (2018), Ranking median regression: learning to order through local consensus, assumptions
    2 and 3, and figure 1 of the appendix for the areas.

    Examples
    --------
    >>> from rankwise.datasets import lipschitz_oracle
    >>> oracle = lipschitz_oracle(3, margin=0.2, random_state=0)
    >>> X, y = oracle.sample(100, random_state=1)
    >>> oracle.m.margin, round(oracle.m.lipschitz, 2)
    (0.2, 5.65)
    """
    check_sizes(n_items=n_items, n_features=n_features, at_least=2)
    if not 0 <= margin < 0.5:
        raise ValueError(f"margin is {margin}, but a noise margin is at least 0 and, with noise, below 1/2")
    if not 0 < gap < 1:
        raise ValueError(f"gap is {gap}, but the areas lie in the unit cube, so it is between 0 and 1")
    rng = check_generator(random_state)
    if margin == 0:
        weights = slope * rng.standard_normal((n_items, n_features))
        return RankingOracle(SmoothScores(weights), GaussianNoise(_SCALE, np.inf), UniformCube(n_features))
    centers = np.argsort(rng.random((4, n_items)), axis=1).astype(np.float64) + 1
    theta = float(np.log((1 + 2 * margin) / (1 - 2 * margin)))  # of two adjacent places, p = 1 / (1 + exp(-theta))
    areas = FourAreas(n_features, gap)
    return RankingOracle(AreaScores(areas, centers, theta, margin), MallowsNoise(theta), areas)
