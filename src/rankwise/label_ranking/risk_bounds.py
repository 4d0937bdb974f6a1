"""Bounds on the excess risk of ranking rules: what theory promises for a number of rows, neighbors or cells.

All are of Clémençon, Korba, Sibony (2018) and hold for the risks of `diagnostics` (`conditional_excess_risk`). Bounds
for the median of one sample, without features, are in `rankwise.aggregation.statistics`. With k items no excess is
larger than k (k - 1) / 2, so a bound above that says nothing.
"""

from __future__ import annotations

import math

from rankwise._validation import check_open_share, check_real_number, check_whole_number


def empirical_risk_bound(
    n_items: int,
    vc_dimension: int,
    n_samples: int,
    delta: float,
    *,
    bias: float = 0.0,
    constant: float | None = None,
) -> float:
    r"""Bound the excess risk of the rule that makes the fewest errors on the training rows.

    *Definition.* Let the rules to choose from order each pair of items by sets of finite VC dimension V, and let
    :math:`\hat s` minimize the empirical risk over N independent rows. With probability at least :math:`1 - \delta`,
    with k items and m = k (k - 1) / 2 pairs,

    .. math:: R(\hat s) - R^* \le 2 m \sqrt{\frac{32}{N} \left(V \log(N + 1) + \log \frac{8 m}{\delta}\right)} + b,

    where b, the ``bias``, is how far the best of these rules is above :math:`R^*`.

    Parameters
    ----------
    n_items : int
        k, at least 2.
    vc_dimension : int
        V, at least 1.
    n_samples : int
        N, at least 1.
    delta : float
        Accepted probability of failure, between 0 and 1.
    bias : float, default=0.0
        Excess risk of the best rule of the class.
    constant : float, optional
        If given, return the bound as the paper prints it, with an unnamed constant C:
        :math:`C \sqrt{V \log(k (k - 1) / 2 \delta) / N} + b`.

    Returns
    -------
    float

    Notes
    -----
    The paper calls C universal. It cannot be: the errors of m pairs add up, so C grows like m. With two rules, a
    ranking and its reverse, and a law that draws the one or the other with probabilities
    :math:`1/2 \pm 1 / (2 \sqrt N)`, the excess is :math:`m / \sqrt N` with a probability of about 0.16, whatever N and
    m. The bound above has the constants of the Vapnik-Chervonenkis inequality as stated by Devroye, Györfi and Lugosi
    (1996), A probabilistic theory of pattern recognition, theorem 12.5, for each pair.

    References
    ----------
    Clémençon, Korba, Sibony (2018), Ranking median regression: learning to order through local consensus, proposition
    6.

    Examples
    --------
    >>> from rankwise.label_ranking import empirical_risk_bound
    >>> round(empirical_risk_bound(n_items=3, vc_dimension=2, n_samples=10**6, delta=0.05), 3)
    0.197
    """
    n_pairs = _pairs(n_items)
    check_whole_number("vc_dimension", vc_dimension, at_least=1)
    check_whole_number("n_samples", n_samples, at_least=1)
    check_open_share("delta", delta)
    check_real_number("bias", bias)
    if constant is not None:
        check_real_number("constant", constant)
        return constant * math.sqrt(vc_dimension * math.log(n_pairs / delta) / n_samples) + bias
    complexity = vc_dimension * math.log(n_samples + 1) + math.log(8 * n_pairs / delta)
    return 2 * n_pairs * math.sqrt(32 / n_samples * complexity) + bias


def low_noise_risk_bound(n_items: int, h: float, n_rules: int, n_samples: int, delta: float) -> float:
    r"""Bound the excess risk of the best of finitely many rules, where no pair is ever close to even.

    *Definition.* Let the laws at all x be strictly stochastically transitive with noise margin at least h, let C rules
    include the optimal one, and let :math:`\hat s` minimize the empirical risk over N independent rows. With
    probability at least :math:`1 - \delta`, with k items,

    .. math:: R(\hat s) - R^* \le \frac{k (k - 1)}{2 h} \cdot \frac{\log(C / \delta)}{N}.

    Parameters
    ----------
    n_items : int
        k, at least 2.
    h : float
        Noise margin over all x, above 0 and at most 1/2; see `conditional_noise_margin`. The paper writes H.
    n_rules : int
        C, at least 1.
    n_samples : int
        N, at least 1.
    delta : float
        Accepted probability of failure, between 0 and 1.

    Returns
    -------
    float

    Notes
    -----
    The paper's proof leads to a larger number: it solves a quadratic inequality and drops the second term of
    Bernstein's inequality. The statement is right: by Chernoff's bound, a rule of excess e makes no more errors than
    the optimal one with a probability of at most :math:`\exp(-2 h e N / k (k - 1))`.

    References
    ----------
    Clémençon, Korba, Sibony (2018), proposition 7.

    Examples
    --------
    >>> from rankwise.label_ranking import low_noise_risk_bound
    >>> round(low_noise_risk_bound(n_items=3, h=0.2, n_rules=6, n_samples=1000, delta=0.05), 4)
    0.0718
    """
    n_pairs = _pairs(n_items)
    _check_margin(h)
    check_whole_number("n_rules", n_rules, at_least=1)
    check_whole_number("n_samples", n_samples, at_least=1)
    check_open_share("delta", delta)
    return n_pairs / h * math.log(n_rules / delta) / n_samples


def partition_risk_bound(lipschitz: float, diameter: float) -> float:
    r"""Bound the excess risk of local medians: how well a rule that is constant on cells can do.

    *Definition.* Let :math:`\sum_{i<j} |p_{ij}(x) - p_{ij}(x')| \le M \|x - x'\|`, and let s predict in each cell of a
    partition a Kemeny median of the law of rankings in that cell. Then :math:`R(s) - R^* \le M \delta`, where
    :math:`\delta` is the largest diameter of a cell.

    Parameters
    ----------
    lipschitz : float
        M.
    diameter : float
        :math:`\delta`, in the same norm.

    Returns
    -------
    float

    Notes
    -----
    The paper's proof gives 2 M :math:`\delta`; the statement is right, for medians of x and x' in turn: a pair whose
    majority differs between the two adds at most :math:`|p_{ij}(x) - p_{ij}(x')|` to the two excesses together.

    References
    ----------
    Clémençon, Korba, Sibony (2018), theorem 9, equation 22.

    Examples
    --------
    >>> from rankwise.label_ranking import partition_risk_bound
    >>> partition_risk_bound(lipschitz=2.0, diameter=0.125)
    0.25
    """
    check_real_number("lipschitz", lipschitz)
    check_real_number("diameter", diameter)
    return lipschitz * diameter


def partition_distance_bound(lipschitz: float, diameter: float, h: float) -> float:
    r"""Bound how far local medians are from the best predictions, where no pair is ever close to even.

    *Definition.* In the setting of `partition_risk_bound`, let the laws at all x and in all cells be strictly
    stochastically transitive, those at x with noise margin at least h. Then the Kendall distance of the median of a
    cell and the median at x is at most :math:`M \delta / h` for all x.

    Parameters
    ----------
    lipschitz, diameter : float
        M and :math:`\delta`, see `partition_risk_bound`.
    h : float
        Noise margin over all x, above 0 and at most 1/2; see `conditional_noise_margin`. The paper writes H.

    Returns
    -------
    float

    References
    ----------
    Clémençon, Korba, Sibony (2018), theorem 9, equation 23.

    Examples
    --------
    >>> from rankwise.label_ranking import partition_distance_bound
    >>> partition_distance_bound(lipschitz=2.0, diameter=0.125, h=0.25)
    1.0
    """
    _check_margin(h)
    return partition_risk_bound(lipschitz, diameter) / h


def neighbors_risk_bound(
    n_items: int,
    n_samples: int,
    n_neighbors: int,
    n_features: int,
    lipschitz: float,
    *,
    h: float | None = None,
    constant: float | None = None,
) -> float:
    r"""Bound the expected excess risk of the median of the nearest neighbors.

    *Definition.* In the setting of `partition_risk_bound`, let x be bounded, of d >= 3 features. With k items, the
    median of the m nearest of N rows satisfies

    .. math:: E[R(s) - R^*] \le B = \frac{k (k - 1)}{2}
              \left(\frac{1}{\sqrt m} + 2 \sqrt c M \left(\frac{m}{N}\right)^{1/d}\right),

    and the pseudo-median (``decode="copeland-or-borda"``), where all laws are strictly stochastically transitive with
    noise margin at least h, satisfies :math:`E[R(s) - R^*] \le B \left(1 + \frac{k (k - 1)}{4 h}\right)`.

    Parameters
    ----------
    n_items : int
        k, at least 2.
    n_samples : int
        N, at least 1.
    n_neighbors : int
        m, from 1 to N.
    n_features : int
        d, at least 3.
    lipschitz : float
        M, for the Euclidean norm unless ``constant`` is given.
    h : float, optional
        Noise margin over all x; if given, the bound is the one for the pseudo-median.
    constant : float, optional
        c, such that the mean squared distance of the m nearest rows is at most :math:`c (m / N)^{2/d}`. By default one
        for rows of any law in the unit cube and the Euclidean norm, :math:`\frac{4 d^2}{d - 2} (2 / e)^{2/d}`.

    Returns
    -------
    float

    Notes
    -----
    The best m grows like :math:`N^{2/(d+2)}`, which is what ``NearestNeighborsRanker(n_neighbors="auto")`` takes.

    References
    ----------
    Clémençon, Korba, Sibony (2018), theorem 13. Györfi, Kohler, Krzyżak, Walk (2002), A distribution-free theory of
    nonparametric regression, lemma 6.4, for the constant.

    Examples
    --------
    >>> from rankwise.label_ranking import neighbors_risk_bound
    >>> round(neighbors_risk_bound(3, n_samples=10_000, n_neighbors=40, n_features=3, lipschitz=0.1), 2)
    0.99
    """
    n_pairs = _pairs(n_items)
    check_whole_number("n_samples", n_samples, at_least=1)
    if check_whole_number("n_neighbors", n_neighbors, at_least=1) > n_samples:
        raise ValueError(f"n_neighbors is {n_neighbors}, but there are {n_samples} rows")
    d = check_whole_number("n_features", n_features, at_least=3)
    check_real_number("lipschitz", lipschitz)
    c = 4 * d * d / (d - 2) * (2 / math.e) ** (2 / d) if constant is None else check_real_number("constant", constant)
    bound = n_pairs * (n_neighbors**-0.5 + 2 * math.sqrt(c) * lipschitz * (n_neighbors / n_samples) ** (1 / d))
    if h is not None:
        _check_margin(h)
        bound *= 1 + n_pairs / (2 * h)
    return bound


def _pairs(n_items: int) -> float:
    return check_whole_number("n_items", n_items, at_least=2) * (n_items - 1) / 2


def _check_margin(h: float) -> None:
    if not 0 < h <= 0.5:
        raise ValueError(f"h is {h}, but a noise margin lies above 0 and is at most 1/2")
