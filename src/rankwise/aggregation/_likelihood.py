"""Maximum likelihood for `PlackettLuce`, `BradleyTerry` and `BestWorst`: whether a maximum exists, where, how sharp.

The models are log-linear, so their log likelihood is concave; adding a constant to all log worths changes nothing, and
the constant is fixed by mean 0. Coefficients of item attributes have no such freedom.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from rankwise._typing import BoolArray, FloatArray, IntArray
from rankwise._validation import shortlist
from rankwise.data import positions_from_scores

#: parameters, whether the information is wanted -> log likelihood or prior, gradient, information (negative Hessian)
Moments = Callable[[FloatArray, bool], tuple[float, FloatArray, FloatArray]]

# Beyond this many items the k x k information is neither built nor inverted: gradients alone find the maximum.
MOST_WITH_INFORMATION = 2000
# If no maximum exists, Newton's steps reach an information of this tolerance before they stop; if one exists, the
# information is at least about 1 / k^2 of the lightest observation (a chain of k items).
_TOL_IN_DOUBT = 1e-10
_LARGEST_VARIANCE = 1e8
_LONGEST_STEP = 3.0
_MOST_NAMED = 3
_CURE = "Use a prior (alpha=0.1), or add comparisons"


class Maximum(NamedTuple):
    """The maximum of a likelihood; ``covariance`` is that of log worths of mean 0, None beyond 2,000 parameters."""

    parameters: FloatArray
    log_likelihood: float
    covariance: FloatArray | None
    n_iter: int


def compared_groups(
    above: IntArray, below: IntArray, items: tuple[Hashable, ...], *, with_prior: bool
) -> tuple[tuple[Hashable, ...], ...]:
    """Groups of items that comparisons connect, the largest first; without a prior, raise unless a maximum exists.

    A maximum exists if a chain of preferences leads from every item to every other.

    Parameters
    ----------
    above, below : ndarray of shape (n_links,), intp
        Item ``above[m]`` was placed before, or tied with, item ``below[m]`` (a tie comes in both directions).
    items : tuple of hashable
        Names of the items.
    with_prior : bool
        Whether a prior makes up for missing comparisons.

    Returns
    -------
    tuple of tuples of hashable
    """
    k = len(items)
    if not len(above) and not with_prior:
        raise ValueError(
            "nothing of positive weight compares two items, so there is nothing to fit; give rankings or comparisons "
            "of two items or more"
        )
    graph = _graph(above, below, k)
    n_groups, group = _components(graph, "strong")
    if n_groups == 1:
        return (items,)
    n_parts, part = _components(graph, "weak")
    if with_prior:
        return tuple(tuple(_members(part == g, items)) for g in _largest_first(part))
    if n_parts > 1:
        raise ValueError(
            f"the comparisons fall into {n_parts} groups that are never compared with each other: "
            f"{_name_groups(part, items)}. The maximum likelihood does not exist. {_CURE}"
        )
    # Some group never loses, some never wins: there is no cycle.
    best, worst = _extremes(above, below, group)
    extreme = min([*best, *worst], key=lambda g: (np.count_nonzero(group == g), np.argmax(group == g)))
    what, worth = ("after", "infinite") if extreme in best else ("before", "zero")
    members = _members(group == extreme, items)
    raise ValueError(
        f"the maximum likelihood does not exist: {shortlist(members)} never came {what}, or tied with, "
        f"{_all_but(members)}, so {'the worth' if len(members) == 1 else 'their worths'} would be {worth}. {_CURE}"
    )


def separation_notes(above: IntArray, below: IntArray, items: tuple[Hashable, ...]) -> tuple[str, ...]:
    """Notes on items that always win or always lose, whose worths are far apart only as a prior says."""
    rests = "how far from those of others the worths are rests on the prior"
    return tuple(f"{clause}: {rests}" for clause in separated_items(above, below, items))


def separated_items(above: IntArray, below: IntArray, items: tuple[Hashable, ...]) -> tuple[str, ...]:
    """Which items always win or always lose, in clauses."""
    n_groups, group = _components(_graph(above, below, len(items)), "strong")
    if n_groups == 1:
        return ()
    notes = []
    for what, extremes in zip(("after", "before"), _extremes(above, below, group), strict=True):
        for g in extremes[:_MOST_NAMED]:
            members = _members(group == g, items)
            notes.append(f"{shortlist(members)} never came {what}, or tied with, {_all_but(members)}")
    return tuple(notes)


def _all_but(members: list[Hashable]) -> str:
    """The items that some are never placed after, or before: those of a group are among themselves."""
    return "any other item" if len(members) == 1 else "any item but each other"


def _graph(above: IntArray, below: IntArray, k: int) -> Any:
    """Who was placed before, or tied with, whom."""
    if k > MOST_WITH_INFORMATION:
        from scipy.sparse import coo_matrix

        return coo_matrix((np.ones(len(above)), (above, below)), shape=(k, k))
    graph = np.zeros((k, k), dtype=bool)  # many links are the same, and this drops them faster than sorting
    graph[above, below] = True
    return graph


def _extremes(above: IntArray, below: IntArray, group: IntArray) -> tuple[IntArray, IntArray]:
    """Groups of items that only win against others, and groups that only lose."""
    crossing = group[above] != group[below]
    winning, losing = group[above[crossing]], group[below[crossing]]
    return np.setdiff1d(winning, losing), np.setdiff1d(losing, winning)


def normal_prior(precision: float) -> Moments:
    """Independent normal distributions of mean 0 on all parameters, up to a constant."""

    def log_prior(theta: FloatArray, with_information: bool) -> tuple[float, FloatArray, FloatArray]:
        information = precision * np.eye(len(theta)) if with_information else np.zeros((0, 0))
        return -precision / 2 * float(theta @ theta), -precision * theta, information

    return log_prior


def gamma_prior(strength: float, n_items: int) -> Moments:
    """Independent gamma distributions: of shape 1 + strength on the worths, with mode 1 on the parameters after them.

    The likelihood determines worths only up to a factor. At the best factor the prior depends on the shares of the
    total worth, and equals the likelihood of ``strength`` choices of each item among all.
    """

    def log_prior(theta: FloatArray, with_information: bool) -> tuple[float, FloatArray, FloatArray]:
        u, log_others = theta[:n_items], theta[n_items:]
        worth = np.exp(u - u.max())
        share, others = worth / worth.sum(), np.exp(log_others)
        value = float(np.sum(u - u.max()) - n_items * np.log(worth.sum()) + np.sum(log_others - others))
        gradient = np.concatenate([1 - n_items * share, 1 - others])
        information = np.zeros((0, 0))
        if with_information:
            information = strength * np.diag(np.concatenate([n_items * share, others]))
            information[:n_items, :n_items] -= strength * n_items * np.outer(share, share)
        return strength * value, strength * gradient, information

    return log_prior


def maximize(
    moments: Moments,
    n_items: int,
    n_parameters: int,
    *,
    log_prior: Moments | None,
    max_iter: int,
    tol: float,
    lightest: float,
    bounded: bool,
    attributes: Sequence[str] = (),
) -> Maximum:
    """Maximize a concave log likelihood plus the log prior of the parameters.

    Parameters
    ----------
    moments : callable
        See `Moments`. The first ``n_items`` parameters are log worths, without a zero point; with attributes of the
        items there are none (0), and the first parameters are coefficients.
    n_items, n_parameters : int
        How many log worths, and how many parameters in all.
    log_prior : callable or None
        The prior in the same form, see `normal_prior` and `gamma_prior`.
    max_iter, tol : int, float
        As in `PlackettLuce`.
    lightest : float
        The smallest positive weight, the unit of ``tol``; infinite where nothing was compared.
    bounded : bool
        Whether connected comparisons promise a maximum; with ties, a home effect or attributes they do not.
    attributes : sequence of str, optional
        Names of the attributes whose coefficients are the first parameters, for the error message.

    Returns
    -------
    Maximum
    """

    def posterior(theta: FloatArray, with_information: bool) -> tuple[float, FloatArray, FloatArray]:
        likelihood = moments(theta, with_information)
        if log_prior is None:
            return likelihood
        value, gradient, information = log_prior(theta, with_information)
        return likelihood[0] + value, likelihood[1] + gradient, likelihood[2] + information

    start = np.zeros(n_parameters)
    in_doubt = not bounded and log_prior is None
    lightest = lightest if np.isfinite(lightest) else 1.0  # nothing was compared
    tol = min(tol, _TOL_IN_DOUBT) if in_doubt else tol
    if n_parameters > MOST_WITH_INFORMATION:
        theta, n_iter = _climb_by_gradients(posterior, start, max_iter, float(np.sqrt(tol)) * lightest)
        covariance = None
    else:
        theta, covariance, n_iter = _climb_by_newton(posterior, start, n_items, max_iter, tol * lightest)
        unbounded = ~(covariance.diagonal() * lightest < _LARGEST_VARIANCE)
        if in_doubt and unbounded.any():
            _refuse_unbounded(theta, unbounded, attributes)
    if n_items:
        theta[:n_items] -= theta[:n_items].mean()
    return Maximum(theta, float(moments(theta, False)[0]), covariance, n_iter)


def equal_items_log_likelihood(moments: Moments, n_items: int, n_others: int, lightest: float) -> float:
    """The largest log likelihood if all log worths are 0, over the parameters after them."""
    if n_others == 0:
        return moments(np.zeros(n_items), False)[0]

    def restricted(theta: FloatArray, with_information: bool) -> tuple[float, FloatArray, FloatArray]:
        value, gradient, information = moments(np.append(np.zeros(n_items), theta), with_information)
        return value, gradient[n_items:], information[n_items:, n_items:]

    # Where all choices are ties, the maximum is only approached; a vanishing prior stops the way there.
    unit = lightest if np.isfinite(lightest) else 1.0
    found = maximize(
        restricted,
        0,
        n_others,
        log_prior=normal_prior(1e-9 * unit),
        max_iter=1000,
        tol=_TOL_IN_DOUBT,
        lightest=lightest,
        bounded=True,
    )
    return found.log_likelihood


def positions_by_worth(log_worth: FloatArray) -> FloatArray:
    """Positions by decreasing worth; worths that differ by less than the precision of a fit tie."""
    return positions_from_scores([np.round(log_worth, 9)])[0]


def _climb_by_newton(
    moments: Moments, theta: FloatArray, n_items: int, max_iter: int, tol: float
) -> tuple[FloatArray, FloatArray, int]:
    """Newton's method with shortened steps; also the inverse information, for log worths of mean 0."""
    from scipy.linalg import cho_factor, cho_solve

    shift = np.zeros(len(theta))
    shift[:n_items] = max(n_items, 1) ** -0.5

    def factorized(information: FloatArray) -> Any:
        # The information does not depend on a common shift; any positive number there makes it invertible.
        scale = max(1e-300, float(information.diagonal().mean()))
        return cho_factor(information + scale * np.outer(shift, shift))

    value, gradient, information = moments(theta, True)
    n_iter = 0
    try:
        for _ in range(max_iter):
            n_iter += 1
            step = cho_solve(factorized(information), gradient)
            done = gradient @ step <= 2 * tol  # half of it is the gain that the quadratic model promises
            theta, (value, gradient, information) = _line_search(moments, theta, value, step)
            if done:
                break
        else:
            _warn_not_converged(max_iter)
        center = np.eye(len(theta)) - np.outer(shift, shift)
        covariance: FloatArray = center @ cho_solve(factorized(information), center)
    except np.linalg.LinAlgError:  # flat up to rounding: there is no maximum
        covariance = np.full_like(information, np.inf)
    return theta, (covariance + covariance.T) / 2, n_iter


def _line_search(
    moments: Moments, theta: FloatArray, value: float, step: FloatArray
) -> tuple[FloatArray, tuple[float, FloatArray, FloatArray]]:
    """Take the longest of the steps 1, 1/2, 1/4, ... that does not lower the value, except for rounding.

    Where the likelihood is flat, Newton's step is too long by orders of magnitude, so it is cut first.
    """
    step = step / max(1.0, float(np.abs(step).max()) / _LONGEST_STEP)
    for halvings in range(60):
        target = theta + step / 2**halvings
        result = moments(target, True)
        if result[0] >= value - 1e-12 * abs(value):
            return target, result
    return theta, moments(theta, True)


def _climb_by_gradients(
    moments: Moments, theta: FloatArray, max_iter: int, largest_gradient: float
) -> tuple[FloatArray, int]:
    """L-BFGS, which never builds a k x k matrix."""
    from scipy.optimize import minimize

    def loss(theta: FloatArray) -> tuple[float, FloatArray]:
        value, gradient, _ = moments(theta, False)
        return -value, -gradient

    options: Any = {"maxiter": max_iter, "maxfun": 2 * max_iter, "ftol": 0.0, "gtol": largest_gradient, "maxcor": 30}
    result = minimize(loss, theta, jac=True, method="L-BFGS-B", options=options)
    if result.nit >= max_iter:
        _warn_not_converged(max_iter)
    return result.x, int(result.nit)


def _warn_not_converged(max_iter: int) -> None:
    from sklearn.exceptions import ConvergenceWarning

    warnings.warn(
        f"no maximum was reached in {max_iter} iterations; raise max_iter or tol", ConvergenceWarning, stacklevel=5
    )


def _refuse_unbounded(theta: FloatArray, unbounded: BoolArray, attributes: Sequence[str]) -> None:
    named = [name for name, infinite in zip(attributes, unbounded[: len(attributes)], strict=True) if infinite]
    if len(named) == len(attributes):  # the information has no inverse at all, and the longest way tells more
        far = np.abs(theta[: len(attributes)])
        named = [name for name, distance in zip(attributes, far, strict=True) if distance > far.max() / 3]
    if named:
        raise ValueError(
            f"the maximum likelihood does not exist: with {_attributes(named)} all choices can be foretold without "
            "exception (separation), so that coefficients grow without bound. Use a prior (such as alpha=0.1), "
            "drop attributes, or add rankings"
        )
    raise ValueError(
        "the maximum likelihood does not exist: worths, tie strengths or the home effect grow without bound "
        "(ties may be all there is between some items, or one side always wins at home). "
        "Use a prior (such as alpha=0.1), or add comparisons"
    )


def _attributes(names: Sequence[str]) -> str:
    return f"{'attribute' if len(names) == 1 else 'attributes'} {shortlist(names)}"


def _components(graph: Any, connection: Literal["weak", "strong"]) -> tuple[int, IntArray]:
    from scipy.sparse.csgraph import connected_components

    number, label = connected_components(graph, connection=connection)
    return int(number), label.astype(np.intp)


def _members(chosen: BoolArray, items: Sequence[Hashable]) -> list[Hashable]:
    return [item for item, inside in zip(items, chosen, strict=True) if inside]


def _largest_first(group: IntArray) -> list[int]:
    """Labels of groups by decreasing size, then by their first item."""
    _, first, sizes = np.unique(group, return_index=True, return_counts=True)
    return [int(g) for g in np.lexsort((first, -sizes))]


def _name_groups(group: IntArray, items: Sequence[Hashable], most: int = 4) -> str:
    """The largest groups as text."""
    labels = _largest_first(group)
    shown = ["{" + shortlist(_members(group == g, items)) + "}" for g in labels[:most]]
    return ", ".join(shown) + (f", ... ({len(labels) - most} more)" if len(labels) > most else "")
