"""Piecewise monotone transforms: where they turn, where they take a value, and which of two a tree prefers to split on.

Users call `monotone_intervals`, `refined_intervals`, `preimages` and `preference_probability`; all else finds turning
points that are not rounding noise.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

from rankwise._typing import ArrayLike, FloatArray
from rankwise._validation import check_numbers, check_whole_number

#: a function of an array, or a table (x, values)
Transform = Callable[[FloatArray], ArrayLike] | tuple[ArrayLike, ArrayLike]

# Probability of each tail of an unbounded distribution that is ignored.
_TAIL = 1e-9
# Relative rounding error of one value.
_ROUNDING = 4 * float(np.finfo(float).eps)


def monotone_intervals(f: Transform, lower: float, upper: float, *, n_grid: int = 2001) -> FloatArray:
    """Ends of the intervals on which a transform is monotone.

    Parameters
    ----------
    f : callable or (x, values)
        The transform: a function of an array, or a table of increasing x and values, between which it is linear.
    lower, upper : float
        The range.
    n_grid : int, default=2001
        Points at which a function is evaluated; turns are then located to about eight digits. Two turns between
        neighboring points are not seen.

    Returns
    -------
    ndarray of shape (n_intervals + 1,)
        ``lower``, the turns, ``upper``.

    Notes
    -----
    A level stretch does not end an interval; a turn on a plateau is placed at its far end. Values that differ no more
    than those at neighboring floating-point numbers are level, so that rounding makes no turns.

    References
    ----------
    Luo, Li (2024), definition 5.

    Examples
    --------
    >>> from rankwise.screening import monotone_intervals
    >>> monotone_intervals(lambda x: 4 * x - 4 * x**2, 0, 1).round(6)
    array([0. , 0.5, 1. ])
    """
    return _ends(f, _even_grid(lower, upper, n_grid))


def refined_intervals(f1: Transform, f2: Transform, lower: float, upper: float, *, n_grid: int = 2001) -> FloatArray:
    """Ends of the intervals on which two transforms are both monotone.

    Parameters
    ----------
    f1, f2 : callable or (x, values)
        Transforms: functions of an array, or tables between which they are linear.
    lower, upper : float
        The range.
    n_grid : int, default=2001
        As in `monotone_intervals`.

    Returns
    -------
    ndarray of shape (n_intervals + 1,)
        ``lower``, the turns of both, ``upper``; a turn that both share is listed once.

    References
    ----------
    Luo, Li (2024), definition 5.

    Examples
    --------
    >>> import numpy as np
    >>> from rankwise.screening import refined_intervals
    >>> refined_intervals(lambda x: 4 * x - 4 * x**2, lambda x: np.abs(x - 0.2), 0, 1).round(6)
    array([0. , 0.2, 0.5, 1. ])
    """
    return _refined(f1, f2, _even_grid(lower, upper, n_grid))


def preimages(f: Transform, C: float, ends: ArrayLike) -> FloatArray:
    """Where a transform takes a value, on each interval on which it is monotone.

    Parameters
    ----------
    f : callable or (x, values)
        The transform: a function of an array, or a table of increasing x and values, between which it is linear.
    C : float
        The value.
    ends : array-like of shape (n_intervals + 1,)
        Increasing ends of intervals on which the transform is monotone, from `monotone_intervals` or
        `refined_intervals`. The intervals are closed on the left, and the last one on both sides.

    Returns
    -------
    ndarray of shape (n_intervals,)
        x with f(x) = C, to about 12 digits; NaN where there is none. Where the transform jumps over C, the place of the
        jump; where it is level at C, one of the places.

    References
    ----------
    Luo, Li (2024), corollary 6.

    Examples
    --------
    >>> from rankwise.screening import preimages
    >>> preimages(lambda x: 4 * x - 4 * x**2, 0.75, [0, 0.5, 1])
    array([0.25, 0.75])
    >>> preimages(lambda x: x + 1.2, 1.5, [0, 0.5, 1])
    array([0.3, nan])
    """
    from scipy.optimize import brentq

    value = _split_values(C)[0]
    places = check_numbers("ends", ends)
    if places.ndim != 1 or len(places) < 2 or not np.isfinite(places).all() or not (np.diff(places) > 0).all():
        raise ValueError("ends needs two or more increasing finite numbers, such as those of monotone_intervals")
    function, _ = _function(f)
    at_ends = function(places)
    if not np.isfinite(at_ends).all():
        place = places[np.flatnonzero(~np.isfinite(at_ends))[0]]
        raise ValueError(f"the transform is not finite at x = {place:.6g}; choose intervals on which it is")
    found = np.full(len(places) - 1, np.nan)
    for interval in np.flatnonzero(_divides(at_ends, value)):
        a, b = places[interval], places[interval + 1]
        root = brentq(lambda x: float(function(np.array([x]))[0]) - value, a, b, xtol=1e-13 * (b - a))
        found[interval] = np.clip(root, a, b)
    return found


def preference_probability(
    f1: Transform, f2: Transform, C: float | tuple[float, float], x_or_distribution: Any, *, n_grid: int = 2001
) -> float:
    r"""By how much more often a split prefers one transform of x to another.

    *Definition.* On each interval where both transforms are monotone, a split at C divides the interval by a transform
    if it takes the value C there. Then :math:`p_{1 > 2} = P(I_1) - P(I_2)`, the probability of the intervals that only
    the first divides less that of the intervals that only the second divides.

    Parameters
    ----------
    f1, f2 : callable or (x, values)
        Transforms: functions of an array, or tables between which they are linear.
    C : float or (float, float)
        Where both are split, or where the first and where the second is.
    x_or_distribution : array-like of shape (n_samples,) or distribution of scipy.stats
        Values of x, or their law (with ``cdf``, ``support``, and ``ppf`` or ``icdf``).
    n_grid : int, default=2001
        As in `monotone_intervals`; functions are evaluated at this many evenly spaced points, and at this many
        quantiles, so that a heavy tail does not leave few points where most of x is.

    Returns
    -------
    float
        From -1 (the second is preferred) to 1 (the first): despite its name, a difference of probabilities.

    Notes
    -----
    If both transforms divide an interval, only the target can decide, and the definition does not apply: this is an
    error. A constant added to one transform and its C changes no split and can keep the two apart. Intervals are closed
    on the left. The paper prints +1 for 0 < C < 1 in its example 7; by its own formula it is -1.

    References
    ----------
    Luo, Li (2024), propositions 8 and 9, example 7.

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> from rankwise.screening import preference_probability
    >>> preference_probability(lambda x: x + 1.2, lambda x: 4 * x - 4 * x**2, 1.5, uniform())
    0.5
    >>> preference_probability(lambda x: x + 1.2, lambda x: 4 * x - 4 * x**2, (2.5, 0.5), uniform())
    -1.0
    """
    values = _split_values(C)
    check_whole_number("n_grid", n_grid, at_least=3)
    quantiles, below = _law(x_or_distribution, n_grid)
    ends = _refined(f1, f2, np.union1d(np.linspace(quantiles[0], quantiles[-1], n_grid), quantiles))
    first, second = (_divides(_function(f)[0](ends), value) for f, value in zip((f1, f2), values, strict=True))
    both = np.flatnonzero(first & second)
    if len(both):
        a, b = ends[both[0]], ends[both[0] + 1]
        taken = f"the value {C}" if values[0] == values[1] else f"their values {values[0]:g} and {values[1]:g}"
        raise ValueError(
            f"both transforms take {taken} between x = {a:.6g} and {b:.6g}, where only the target can decide; "
            "add a constant to one of them, which changes no split, or compare with principal_decision_ratio"
        )
    mass = np.diff(below(ends))
    return float(mass[first].sum() - mass[second].sum())


def _split_values(C: Any) -> tuple[float, float]:
    """Where the first and where the second transform is split."""
    pair = tuple(C) if isinstance(C, tuple | list | np.ndarray) and np.ndim(C) == 1 else (C, C)
    if len(pair) != 2 or any(not isinstance(value, Real) or np.isnan(float(value)) for value in pair):
        raise ValueError(f"C is {C!r}; give the number where the transforms are split, or two numbers, one for each")
    return float(pair[0]), float(pair[1])


def _even_grid(lower: float, upper: float, n_grid: int) -> FloatArray:
    if not (np.isfinite(lower) and np.isfinite(upper) and lower < upper):
        raise ValueError(f"the range is {lower} to {upper}; give finite ends, the lower one first")
    check_whole_number("n_grid", n_grid, at_least=3)
    return np.linspace(lower, upper, n_grid)


def _refined(f1: Transform, f2: Transform, grid: FloatArray) -> FloatArray:
    """The first and the last point of a grid, and the turns of two transforms between them."""
    ends = np.unique(np.concatenate([_ends(f, grid) for f in (f1, f2)]))
    # Turns that both transforms share are found twice, with different last digits.
    cell = np.diff(grid)[np.searchsorted(grid, ends[1:]) - 1]
    ends = ends[np.append(np.diff(ends) > np.clip(1e-7 * np.abs(ends[1:]), 1e-7 * cell, cell), True)]
    ends[0] = grid[0]
    return ends


def _function(f: Transform) -> tuple[Callable[[FloatArray], FloatArray], FloatArray | None]:
    """A function of arrays, and for tables the points where it may turn."""
    if callable(f):
        return lambda x: _applied(f, x), None
    try:
        knots, values = (check_numbers("a transform", part) for part in f)
    except (TypeError, ValueError):
        raise TypeError("a transform is a function of an array, or a table (x, values)") from None
    if knots.ndim != 1 or knots.shape != values.shape or len(knots) < 2 or not (np.diff(knots) > 0).all():
        raise ValueError("a table (x, values) needs two or more increasing x, and as many values")
    return lambda x: np.interp(x, knots, values), knots


def _applied(f: Callable[[FloatArray], ArrayLike], x: FloatArray) -> FloatArray:
    try:
        return np.broadcast_to(np.asarray(f(x), dtype=np.float64), x.shape)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"the transform does not take an array ({error}); give a function of arrays, such as numpy.sin instead "
            "of math.sin, or wrap it in numpy.vectorize"
        ) from error


def _ends(f: Transform, grid: FloatArray) -> FloatArray:
    """The first and the last point of a grid, and the turns between them."""
    function, knots = _function(f)
    lower, upper = grid[0], grid[-1]
    if knots is not None:
        grid = np.concatenate([[lower], knots[(knots > lower) & (knots < upper)], [upper]])
    values = function(grid)
    if not np.isfinite(values).all():
        place = grid[np.flatnonzero(~np.isfinite(values))[0]]
        raise ValueError(f"the transform is not finite at x = {place:.6g}; choose a range on which it is")
    noise = _ROUNDING * np.abs(values) if knots is not None else _noise(function, grid, values)
    turns = _turns(values, noise)
    exact = [grid[turn] if knots is not None else _turn(function, grid, values, int(turn)) for turn in turns]
    return np.array([lower, *exact, upper], dtype=np.float64)


def _law(x: Any, n_grid: int) -> tuple[FloatArray, Callable[[FloatArray], FloatArray]]:
    """Quantiles of x from one end of its range to the other, and the function from points to probabilities below."""
    if hasattr(x, "cdf") and (hasattr(x, "ppf") or hasattr(x, "icdf")):
        inverse = x.ppf if hasattr(x, "ppf") else x.icdf
        ends = np.array([float(end) for end in x.support()])
        tails = np.geomspace(_TAIL, 0.5, n_grid // 4)
        inner = np.asarray(inverse(np.concatenate([tails, np.linspace(_TAIL, 1 - _TAIL, n_grid), 1 - tails])))
        quantiles = np.unique(np.concatenate([ends, inner.astype(np.float64)]))
        quantiles = quantiles[np.isfinite(quantiles)]
        if not hasattr(x, "pmf") or _is_continuous(x):
            return quantiles, x.cdf

        def strictly_below(ends: FloatArray) -> FloatArray:
            shares = np.asarray(x.cdf(ends) - x.pmf(ends))
            shares[-1] = 1.0  # the last interval is closed
            return shares

        return quantiles, strictly_below
    values = np.sort(check_numbers("x_or_distribution", x).ravel())
    if len(values) < 2 or not np.isfinite(values).all() or values[0] == values[-1]:
        raise ValueError("x_or_distribution needs two different finite values, or a distribution of scipy.stats")

    def below(ends: FloatArray) -> FloatArray:
        places = np.searchsorted(values, ends, side="left")
        places[-1] = len(values)  # the last interval is closed
        return places / len(values)

    return np.unique(np.quantile(values, np.linspace(0, 1, n_grid), method="nearest")), below


def _is_continuous(x: Any) -> bool:
    """SciPy's new distributions always have a ``pmf``, which is 0 for continuous ones."""
    return not hasattr(x, "ppf") and bool(np.all(np.asarray(x.pmf(x.icdf(np.array([0.3, 0.6])))) == 0))


def _noise(function: Callable[[FloatArray], FloatArray], grid: FloatArray, values: FloatArray) -> FloatArray:
    """How much values differ only by rounding: as they do between neighboring floating-point numbers."""
    from scipy.ndimage import maximum_filter1d

    steps = np.arange(-4, 5)[:, None] * np.spacing(grid)
    nearby = np.array([function(x) for x in np.clip(grid + steps, grid[0], grid[-1])])
    # The median, so that a jump is not taken for noise; the largest of neighbors, because some agree by chance.
    difference = np.median(np.abs(np.diff(nearby, axis=0)), axis=0)
    return 8 * maximum_filter1d(difference, size=21) + _ROUNDING * np.abs(values)


def _turns(values: FloatArray, noise: FloatArray) -> list[int]:
    """Places after which the values turn, by more than noise relative to the furthest place so far."""
    turns: list[int] = []
    direction, furthest = 0, 0
    for place in range(1, len(values)):
        step = values[place] - values[furthest]
        level = abs(step) <= noise[place] + noise[furthest]
        if not level and step * direction < 0:
            turns.append(furthest)
        if not level:
            direction = 1 if step > 0 else -1
        # On a plateau the last place counts, except at the start, from which slow changes are measured.
        if not level or (direction and step * direction >= 0):
            furthest = place
    return turns


def _turn(function: Callable[[FloatArray], FloatArray], grid: FloatArray, values: FloatArray, turn: int) -> float:
    """Where the function is highest or lowest between the neighbors of a grid point."""
    from scipy.optimize import minimize_scalar

    a, here, b = grid[turn - 1], grid[turn], grid[turn + 1]
    side = max(values[turn] - values[turn - 1], values[turn] - values[turn + 1], key=abs)  # one may be noise
    sign = -1.0 if side > 0 else 1.0
    found = minimize_scalar(
        lambda x: float(sign * function(np.array([x]))[0]), bounds=(a, b), method="bounded", options={"xatol": 1e-12}
    )
    return float(found.x) if found.fun < sign * values[turn] else float(here)


def _divides(at_ends: FloatArray, C: float) -> np.ndarray:
    """Whether a transform, monotone between the ends, takes the value C in each [a, b); the last interval is [a, b]."""
    left, right = at_ends[:-1], at_ends[1:]
    inside = ((left <= C) & (right > C)) | ((right < C) & (left >= C))
    inside[-1] |= right[-1] == C
    return inside
