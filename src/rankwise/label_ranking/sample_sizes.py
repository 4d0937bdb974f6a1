r"""How many rows the theorems on trees, forests and pairwise rankers ask for, and what error they promise.

All are of Fotakis, Kalavasis, Psaroudaki (2022). The theorems leave a constant open, and :math:`\tilde O` hides
logarithms: compare numbers with one another, such as those for twice as many labels, rather than with what you have.
The parameters of the conditions they need are computed by functions of `rankwise.datasets`, such as
`submodularity_constant`.
"""

from __future__ import annotations

from math import inf, log, log2
from typing import Literal, NamedTuple

from rankwise._validation import check_choice, check_open_share, check_real_number, check_whole_number

Growth = Literal["level", "best"]


class TreeSize(NamedTuple):
    """Rows, and the depth of the trees: levels of Level-Splits, or log2 of the leaves of Breiman's trees."""

    n_samples: float
    depth: float


class ForestSize(NamedTuple):
    """Rows, and how many of them each tree is grown on."""

    n_samples: float
    max_samples: float


def tree_rows(
    eps: float,
    delta: float,
    *,
    n_features: int,
    n_items: int,
    sparsity: int,
    C: float = 1.0,
    growth: Growth = "level",
    independent: bool = False,
    constant: float = 1.0,
) -> TreeSize:
    r"""Rows for labelwise trees on bits: theorems 2.1, A.3 and A.4.

    *Definition.* For scores that depend on r features each, with L = log(d k / delta):

    ==========  =====================================  ==================================
    growth      rows                                   rows, independent features
    ==========  =====================================  ==================================
    "level"     :math:`L (C r k / \epsilon)^{Cr + 2}`  :math:`L 2^r (C k / \epsilon)^2`
    "best"      :math:`L (C r k / \epsilon)^{Cr + 3}`  :math:`L 2^r C^2 (k / \epsilon)^3`
    ==========  =====================================  ==================================

    Parameters
    ----------
    eps : float
        Error :math:`E \|m(x) - \hat m(x)\|^2` (theorem A.3); then the mean Spearman distance of the rankings is at
        most of the order of :math:`\epsilon k^2` (theorem A.4). For the form of theorem 2.1, a Spearman distance of
        eps, give eps / k^2.
    delta : float
        Probability of failure.
    n_features, n_items, sparsity : int
        d, k and r.
    C : float, default=1.0
        Constant of `submodularity_constant` (growth="level") or `diminishing_returns_constant` (growth="best").
    growth : {"level", "best"}, default="level"
        Level-Splits or Breiman's trees.
    independent : bool, default=False
        Whether the features are independent.
    constant : float, default=1.0
        The constant that the theorems do not give.

    Returns
    -------
    TreeSize
        ``n_samples``, and the ``depth`` that the theorem asks for: r for independent features, else the binary
        logarithm of :math:`(n / \log(d / \delta))^{Cr / (Cr + 2)}` (Cr + 3 with growth="best"); of Breiman's trees it
        is a lower bound of the logarithm of the leaves.

    Notes
    -----
    Theorem A.4 applies theorem A.3 to the places of h(x), so the sparsity and C that it needs are those of the places
    (``target="positions"``), not of m as it says. Algorithms 3 to 5 print a depth of the order r log(r k) and (r k /
    eps)^r rows, which leave C and the 2 of the exponent out.

    Examples
    --------
    >>> from rankwise.label_ranking import tree_rows
    >>> few, many = (tree_rows(0.1, 0.01, n_features=d, n_items=5, sparsity=2, independent=True) for d in (100, 10_000))
    >>> round(many.n_samples / few.n_samples, 2), many.depth  # only the logarithm of the features counts
    (1.43, 2.0)
    """
    _check(eps, delta, n_features, n_items, sparsity, growth, constant, C=C)
    d, k, r = n_features, n_items, sparsity
    scale, power = _tree_rate(k, r, C, growth, independent)
    n_samples = constant * log(d * k / delta) * (scale / eps) ** power if scale < inf else inf
    if independent:
        return TreeSize(n_samples * 2**r, float(r))
    leaves = (
        (n_samples / log(d / delta)) ** ((power - (2 if growth == "level" else 3)) / power) if n_samples < inf else inf
    )
    return TreeSize(n_samples, max(log2(leaves), 0.0) if leaves < inf else inf)


def tree_error(
    n_samples: float,
    delta: float,
    *,
    n_features: int,
    n_items: int,
    sparsity: int,
    C: float = 1.0,
    growth: Growth = "level",
    independent: bool = False,
    constant: float = 1.0,
) -> float:
    """Error that theorems A.3 and A.4 promise for a number of rows: `tree_rows`, solved for eps.

    Parameters
    ----------
    n_samples : float
        Number of rows.
    delta, n_features, n_items, sparsity, C, growth, independent, constant
        See `tree_rows`.

    Returns
    -------
    float
        eps, which falls like the power 1 / (Cr + 2) of the rows (Cr + 3 with growth="best"), for independent features
        like the power 1/2 (1/3).

    Examples
    --------
    >>> from rankwise.label_ranking import tree_error
    >>> problem = {"n_features": 100, "n_items": 5, "sparsity": 2, "independent": True}
    >>> round(tree_error(1000, 0.01, **problem) / tree_error(4000, 0.01, **problem), 6)
    2.0
    """
    _check(1.0, delta, n_features, n_items, sparsity, growth, constant, C=C)
    scale, power = _tree_rate(n_items, sparsity, C, growth, independent)
    cells = 2**sparsity if independent else 1
    return scale * (constant * log(n_features * n_items / delta) * cells / _positive("n_samples", n_samples)) ** (
        1 / power
    )


def forest_rows(
    eps: float,
    delta: float,
    *,
    n_features: int,
    n_items: int,
    sparsity: int,
    beta: float,
    zeta: float,
    growth: Growth = "level",
    constant: float = 1.0,
) -> ForestSize:
    r"""Rows for fully grown honest forests on bits: theorems A.5 and A.6.

    *Definition.* For scores that depend on r features each, with Level-Splits :math:`n = 2^r k \log(k / \delta) (\log d
    / \beta^2 + 1 / \zeta) / \epsilon` rows and :math:`s = 2^r (\log(d k / \delta) / \beta^2 + \log(k / \delta) /
    \zeta)` of them for each tree; with Breiman's trees :math:`n = k s / \epsilon` and :math:`s = 2^r \log(d k /
    \delta) / (\zeta \beta^2)`.

    Parameters
    ----------
    eps, delta, n_features, n_items, sparsity, growth, constant
        See `tree_rows`.
    beta : float
        Strong sparsity, see `strong_sparsity`.
    zeta : float
        Density, see `density_lower_bound`: of the patterns of the relevant features that occur (growth="level"), or of
        all patterns of r features (growth="best").

    Returns
    -------
    ForestSize
        ``n_samples``, and the size of the part of the rows that a tree is grown on, drawn without replacement. Trees
        are grown with ``honest="paper"``, down to two or three rows in a leaf.

    Examples
    --------
    >>> from rankwise.label_ranking import forest_rows
    >>> size = forest_rows(0.1, 0.01, n_features=100, n_items=5, sparsity=2, beta=0.01, zeta=1.0)
    >>> size.n_samples > size.max_samples
    True
    """
    _check(eps, delta, n_features, n_items, sparsity, growth, constant, beta=beta, zeta=zeta)
    per_error, max_samples = _forest_rate(delta, n_features, n_items, sparsity, beta, zeta, growth)
    return ForestSize(constant * per_error / eps, constant * max_samples)


def forest_error(
    n_samples: float,
    delta: float,
    *,
    n_features: int,
    n_items: int,
    sparsity: int,
    beta: float,
    zeta: float,
    growth: Growth = "level",
    constant: float = 1.0,
) -> float:
    """Error that theorems A.5 and A.6 promise for a number of rows: `forest_rows`, solved for eps.

    Parameters
    ----------
    n_samples : float
        Number of rows.
    delta, n_features, n_items, sparsity, beta, zeta, growth, constant
        See `forest_rows`.

    Returns
    -------
    float
        eps, which falls like 1 / n.

    Examples
    --------
    >>> from rankwise.label_ranking import forest_error
    >>> problem = {"n_features": 100, "n_items": 5, "sparsity": 2, "beta": 0.01, "zeta": 1.0}
    >>> round(forest_error(1000, 0.01, **problem) / forest_error(4000, 0.01, **problem), 6)
    4.0
    """
    _check(1.0, delta, n_features, n_items, sparsity, growth, constant, beta=beta, zeta=zeta)
    per_error, _ = _forest_rate(delta, n_features, n_items, sparsity, beta, zeta, growth)
    return constant * per_error / _positive("n_samples", n_samples)


def pairwise_rows(
    eps: float,
    delta: float,
    *,
    n_items: int,
    vc_dimension: int,
    a: float,
    B: float,
    tolerance: float = 1.0,
    constant: float = 1.0,
    each_pair: bool = False,
) -> float:
    r"""Rows for one classifier per pair on incomplete or partial rankings: theorems 2.5, A.7 and C.2.

    *Definition.* With m = k (k - 1) / 2 pairs, :math:`c = B^{1 - a} / ((1 - a)^{1 - a} a^a)` and :math:`\phi` the
    tolerance, :math:`n = \frac{c}{\phi^{4 - 2a} m} R M`, where :math:`R = (c m / \epsilon \phi)^{(2 - a) / a}` and
    :math:`M = \max(\log(k / \delta), V \log(c V R / \phi^{3 - 2a}))`.

    Parameters
    ----------
    eps : float
        Probability of another ranking than the median h*(x), beyond what the best classifiers of the class make.
    delta : float
        Probability of failure.
    n_items : int
        k.
    vc_dimension : int
        V of the class of classifiers: d + 1 for halfspaces.
    a, B : float
        Of Tsybakov's condition, 0 < a < 1, see `tsybakov_noise`.
    tolerance : float, default=1.0
        :math:`\phi` of incomplete rankings (`deletion_tolerance`) or :math:`\xi` of partial ones (`partial_tolerance`).
    constant : float, default=1.0
        The constant that the theorems do not give.
    each_pair : bool, default=False
        Do not divide by the number of pairs, see the notes.

    Returns
    -------
    float
        Number of rows.

    Notes
    -----
    The theorems divide the comparisons that a pair needs by the :math:`\phi m` that a ranking has. But a ranking
    has at most one comparison of each pair, so the rows needed are :math:`1 / \phi` times the comparisons, and m times
    what is printed: ``each_pair=True``. Then k enters with the power 2 (2 - a) / a in place of 4 (1 - a) / a.

    Examples
    --------
    >>> from rankwise.label_ranking import pairwise_rows
    >>> full, half = (pairwise_rows(0.1, 0.01, n_items=5, vc_dimension=11, a=0.5, B=1.0, tolerance=t) for t in (1, 0.5))
    >>> round(half / full)
    76
    """
    k, m = _check_pairwise(delta, n_items, vc_dimension, a, B, tolerance, constant)
    c, phi = _tsybakov_factor(a, B), tolerance
    R = (c * m / (_positive("eps", eps) * phi)) ** ((2 - a) / a)
    M = max(log(k / delta), vc_dimension * log(c * vc_dimension * R / phi ** (3 - 2 * a)))
    return constant * c / (phi ** (4 - 2 * a) * (1 if each_pair else m)) * R * M


def pairwise_error(
    n_samples: float,
    delta: float,
    *,
    n_items: int,
    vc_dimension: int,
    a: float,
    B: float,
    tolerance: float = 1.0,
    constant: float = 1.0,
) -> float:
    r"""Error of one classifier per pair for a number of rows: the rate of claims 2 and 3 behind theorems A.7 and C.2.

    *Definition.* :math:`\frac{c}{\phi} m\, r^a` with the error of a pair

    .. math:: r = 2 \left(\frac{16 c}{n' \phi^{3 - 2a}}\right)^{1 / (2 - a)}
        \left((C V \log n')^{1 / (2 - a)} + (32 \log(2 m / \delta))^{1 / (2 - a)}\right)

    after :math:`n' = \phi n` comparisons; see `pairwise_rows` for the other names.

    Parameters
    ----------
    n_samples : float
        Number of rows.
    delta, n_items, vc_dimension, a, B, tolerance
        See `pairwise_rows`.
    constant : float, default=1.0
        C, which the paper does not give.

    Returns
    -------
    float
        A bound above 1 says nothing. It falls like the power a / (2 - a) of the rows, up to a logarithm: hardly for a
        near 0, and like 1 / n for a near 1.

    Examples
    --------
    >>> from rankwise.label_ranking import pairwise_error
    >>> problem = {"n_items": 3, "vc_dimension": 5, "a": 0.9, "B": 1.0}
    >>> pairwise_error(1e6, 0.05, **problem) > pairwise_error(1e8, 0.05, **problem)
    True
    """
    _, m = _check_pairwise(delta, n_items, vc_dimension, a, B, tolerance, constant)
    c, phi = _tsybakov_factor(a, B), tolerance
    comparisons = max(phi * _positive("n_samples", n_samples), 1.0)
    root = 1 / (2 - a)
    terms = (constant * vc_dimension * log(comparisons)) ** root + (32 * log(2 * m / delta)) ** root
    error_of_a_pair = 2 * (16 * c / (comparisons * phi ** (3 - 2 * a))) ** root * terms
    return c / phi * m * error_of_a_pair**a


def _tree_rate(k: int, r: int, C: float, growth: Growth, independent: bool) -> tuple[float, float]:
    """Scale and power of n = log(d k / delta) (scale / eps)^power, times 2^r for independent features."""
    extra = 2 if growth == "level" else 3
    if not independent:
        return C * r * k, C * r + extra
    return (C * k, 2.0) if growth == "level" else (C ** (2 / 3) * k, 3.0)


def _forest_rate(delta: float, d: int, k: int, r: int, beta: float, zeta: float, growth: Growth) -> tuple[float, float]:
    """Rows times eps, and rows of each tree."""
    if growth == "level":
        per_error = k * log(k / delta) * (log(d) / beta**2 + 1 / zeta)
        return 2**r * per_error, 2**r * (log(d * k / delta) / beta**2 + log(k / delta) / zeta)
    max_samples = 2**r * log(d * k / delta) / (zeta * beta**2)
    return k * max_samples, max_samples


def _tsybakov_factor(a: float, B: float) -> float:
    return B ** (1 - a) / ((1 - a) ** (1 - a) * a**a)


def _check(
    eps: float,
    delta: float,
    n_features: int,
    n_items: int,
    sparsity: int,
    growth: str,
    constant: float,
    **parameters: float,
) -> None:
    check_open_share("delta", delta)
    check_choice("growth", growth, ("level", "best"))
    check_whole_number("n_features", n_features, at_least=1)
    check_whole_number("n_items", n_items, at_least=2)
    if check_whole_number("sparsity", sparsity, at_least=1) > n_features:
        raise ValueError(f"sparsity is {sparsity}, but there are {n_features} features")
    for name, value in {"eps": eps, "constant": constant, **parameters}.items():
        _positive(name, value)
    if parameters.get("C", 1.0) < 1:
        raise ValueError(f"C is {parameters['C']}, but is at least 1")


def _check_pairwise(
    delta: float, n_items: int, vc_dimension: int, a: float, B: float, tolerance: float, constant: float
) -> tuple[int, int]:
    """Numbers of items and of pairs."""
    check_open_share("delta", delta)
    check_open_share("a", a)
    check_whole_number("vc_dimension", vc_dimension, at_least=1)
    _positive("B", B)
    _positive("constant", constant)
    if not 0 < tolerance <= 1:
        raise ValueError(f"tolerance is {tolerance}, but must be above 0 and at most 1")
    k = check_whole_number("n_items", n_items, at_least=2)
    return k, k * (k - 1) // 2


def _positive(name: str, value: float) -> float:
    if not check_real_number(name, value, infinite=True) > 0:
        raise ValueError(f"{name} is {value}, but must be above 0")
    return float(value)
