"""Random rankings: exact draws from the Mallows and the Plackett-Luce model, for the models and for users."""

from __future__ import annotations

import numpy as np

from rankwise._typing import ArrayLike, FloatArray, RandomState
from rankwise._validation import check_generator, check_numbers, check_real_number, check_whole_number
from rankwise.aggregation import _samplers_jit
from rankwise.data.positions import check_positions, has_ties, positions_from_scores


def sample_mallows(
    center: ArrayLike, theta: float, n: int | None = None, random_state: RandomState = None
) -> FloatArray:
    r"""Draw rankings from the Mallows model, exactly.

    *Definition.* :math:`P(\pi) = \exp(-\theta\, d(\pi, \pi_0)) / Z_k(\theta)`, where d is the Kendall distance of
    *positions*: the number of item pairs that the draw and the center order differently.

    Parameters
    ----------
    center : array-like of shape (k,) or (n, k)
        Positions of the central ranking (1 = best, full: no ties, nothing missing); with n rows, row r is the
        center of draw r.
    theta : float
        Concentration, at least 0: 0 is uniform, larger is spikier, ``inf`` gives the center itself.
    n : int, optional
        Number of draws; one by default, or one per row of ``center``.
    random_state : None, int, Generator or RandomState
        Source of the random numbers.

    Returns
    -------
    ndarray of shape (n, k), float64
        Positions, 1 = best.

    Notes
    -----
    Repeated insertion, one uniform number per item. The noise acts on places, not on item names: permuting
    the names of the center's items instead would give the distance another law.

    References
    ----------
    Doignon, Pekec, Regenwetter (2004), The repeated insertion model for rankings, Psychometrika 69, 33-54.

    Examples
    --------
    >>> from rankwise.aggregation import sample_mallows
    >>> sample_mallows([2, 1, 3], theta=float("inf"), n=2)
    array([[2., 1., 3.],
           [2., 1., 3.]])
    """
    centers = _full_rows(center)
    concentration = check_real_number("theta", theta, infinite=True)
    size = _number_of_draws(n, len(centers), "center")
    uniforms = check_generator(random_state).random((size, centers.shape[1]))
    return _samplers_jit.mallows_positions((centers - 1).astype(np.intp), concentration, uniforms)


def sample_plackett_luce(log_worth: ArrayLike, n: int | None = None, random_state: RandomState = None) -> FloatArray:
    r"""Draw rankings from the Plackett-Luce model, exactly.

    *Definition.* The item at each place is chosen among those left with probability proportional to its worth
    :math:`e^{u_i}`; so i comes before j with probability :math:`e^{u_i} / (e^{u_i} + e^{u_j})`.

    Parameters
    ----------
    log_worth : array-like of shape (k,) or (n, k)
        u, higher = better, finite; with n rows, row r belongs to draw r.
    n : int, optional
        Number of draws; one by default, or one per row of ``log_worth``.
    random_state : None, int, Generator or RandomState
        Source of the random numbers.

    Returns
    -------
    ndarray of shape (n, k), float64
        Positions, 1 = best.

    Notes
    -----
    Sorting ``u`` plus independent standard Gumbel noise, largest first, has exactly this law.

    References
    ----------
    Yellott (1977), The relationship between Luce's choice axiom, Thurstone's theory of comparative judgment, and the
    double exponential distribution, Journal of Mathematical Psychology 15, 109-144.

    Examples
    --------
    >>> from rankwise.aggregation import sample_plackett_luce
    >>> sample_plackett_luce([0, 100, -100], n=2, random_state=0)
    array([[2., 1., 3.],
           [2., 1., 3.]])
    """
    worth = np.atleast_2d(check_numbers("log_worth", log_worth))
    if worth.ndim != 2 or worth.shape[1] == 0:
        raise ValueError(f"log_worth has shape {worth.shape}; give one value per item, or one row per draw")
    if not np.isfinite(worth).all():
        row, item = np.argwhere(~np.isfinite(worth))[0]
        raise ValueError(f"log_worth[{row}, {item}] is {worth[row, item]}, but worths must be finite")
    size = _number_of_draws(n, len(worth), "log_worth")
    return positions_from_scores(worth + check_generator(random_state).gumbel(size=(size, worth.shape[1])))


def _full_rows(center: ArrayLike) -> FloatArray:
    if getattr(center, "ndim", None) != 2 and np.ndim(center) == 1:
        center = [center]
    centers = check_positions(center, name="center")
    unfit = has_ties(centers) | ~np.isfinite(centers).all(axis=1)
    if unfit.any():
        raise ValueError(
            f"center[{np.argmax(unfit)}] is not a full ranking (it has ties, or unlisted or missing items); "
            "break ties and complete it first"
        )
    return centers


def _number_of_draws(n: int | None, n_rows: int, name: str) -> int:
    if n is None:
        return n_rows
    size = check_whole_number("n", n, at_least=0)
    if n_rows not in (1, size):
        raise ValueError(f"{name} has {n_rows} rows for n = {n} draws; give one row, or one per draw")
    return size
