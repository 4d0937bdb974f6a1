"""What the theory promises of a regression tree as a ranker: the bound of theorem 10 as a calculator.

Users call `tree_ranking_bound` to see from how many rows on the theorem says something about their data.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rankwise._validation import check_open_share, check_scales, check_sizes

# Where the square of a quarter of the loss, which the paper's proof puts in its place, is no longer smaller.
_LARGEST_LOSS = 4.0


@dataclass(frozen=True)
class TreeRankingBound:
    r"""What `tree_ranking_bound` returns: the parts of the bound, and the bound itself for any loss.

    The loss is :math:`T(r_B) - T(r)`, what the ranking by a tree's fit loses against that by the conditional mean, in
    units of the target (`ranking_gain`).

    Attributes
    ----------
    approximation : float
        Squared distance of the conditional mean from the class of functions.
    variation : float
        Squared total variation, divided by the depth plus 3.
    sampling : float
        The part that falls with the number of rows, and grows with the depth.
    fluctuation : float
        The difference between empirical norms and those of the population.
    sharp : bool
        Whether the square root that the paper's proof drops is kept.
    """

    approximation: float
    variation: float
    sampling: float
    fluctuation: float
    sharp: bool = False

    def probability(self, loss: float) -> float:
        """The bound of the probability that more than this is lost; above 1 it says nothing.

        The paper's form is proved for losses up to 4, whatever the unit; the sharp one for all.
        """
        check_scales(loss=loss)
        if loss == 0:
            return np.inf
        squared, linear = self._coefficients
        unit = 1 / loss if self.sharp else 1 / loss**2
        return float(squared * unit**2 + linear * unit)

    def loss(self, probability: float = 0.05) -> float:
        """What is lost at most, except with this probability; beyond 4, where the paper's form ends, the sharp one."""
        check_open_share("probability", probability)
        squared, linear = self._coefficients
        if squared == linear == 0:
            return 0.0
        # The positive root of squared u^2 + linear u = probability, for u = 1 / loss^2 (sharp: 1 / loss).
        unit = 2 * probability / (linear + np.sqrt(linear**2 + 4 * squared * probability))
        if self.sharp:
            return float(1 / unit)
        found = float(unit**-0.5)
        return found if found <= _LARGEST_LOSS else replace(self, sharp=True).loss(probability)

    @property
    def _coefficients(self) -> tuple[float, float]:
        error = self.approximation + self.variation + self.sampling
        return (128 * error, 8 * self.fluctuation) if self.sharp else (1024 * error, 16 * self.fluctuation)


def tree_ranking_bound(
    depth: int,
    n_samples: int,
    n_features: int,
    *,
    total_variation: float,
    approximation: float = 0.0,
    constant: float = 1.0,
    sup_norm: float = 0.0,
    entropy: float = 0.0,
    sharp: bool = False,
) -> TreeRankingBound:
    r"""How much the ranking by a regression tree may lose against the best one, by theorem 10.

    *Definition.* For a complete tree of depth K that CART grows on N rows of d features, the loss :math:`T(r_B) - T(r)`
    exceeds :math:`\varepsilon` with a probability of at most

    .. math:: \frac{1024}{\varepsilon^4} \Bigl(\|f_B - g\|^2 + \frac{\|g\|_{TV}^2}{K + 3}
              + C_B \frac{2^K \log^2 N \log(N d)}{N}\Bigr) + \frac{32 R_\infty J_0}{\varepsilon^2 \sqrt N},

    where g is an additive function, :math:`\|g\|_{TV}` the sum of the total variations of its parts, and
    :math:`R_\infty` twice the largest absolute value in the class of functions.

    Parameters
    ----------
    depth : int
        Depth K of the tree.
    n_samples, n_features : int
        N and d.
    total_variation : float
        Total variation of g, in units of the target: the conditional mean itself, if it is additive.
    approximation : float, default=0
        :math:`\|f_B - g\|^2`, the mean squared distance of the conditional mean from g.
    constant : float, default=1
        :math:`C_B`, which the paper does not give; 0 leaves the part out.
    sup_norm : float, default=0
        Largest absolute value of the functions of the class; 0 leaves the last part out.
    entropy : float, default=0
        :math:`J_0`, the entropy of the class, which the paper does not give either; 0 leaves the last part out.
    sharp : bool, default=False
        Keep the square root that the proof drops: the loss is at most 4 times the root mean squared error, so that
        :math:`128 / \varepsilon^2` and :math:`16 R_\infty J_0 / (\varepsilon \sqrt N)` stand before the two parts. It
        is smaller for losses below about 2.8.

    Returns
    -------
    TreeRankingBound
        Its parts, and ``probability(loss)`` and ``loss(probability)``.

    Notes
    -----
    With the parts that the paper leaves open set to 0 the result is *below* the theorem's bound, so that where it says
    nothing, neither does the theorem. The paper's proof substitutes :math:`(\varepsilon^2 / 32)^2` into
    :math:`2 / \alpha`, which gives 2048 in place of the 1024 that it prints; the printed factor is used here.

    References
    ----------
    Luo, Li (2024), theorem 10; Klusowski, Tian (2024), Large scale prediction with decision trees.

    Examples
    --------
    >>> from rankwise.screening import tree_ranking_bound
    >>> bound = tree_ranking_bound(4, 1600, 3, total_variation=7, constant=0)
    >>> bound.variation, bound.probability(2.0)
    (7.0, 448.0)
    >>> bound.loss(0.05)
    133.8...
    """
    check_sizes(depth=depth, n_features=n_features)
    check_sizes(n_samples=n_samples, at_least=2)
    check_scales(total_variation=total_variation, approximation=approximation, constant=constant)
    check_scales(sup_norm=sup_norm, entropy=entropy)
    growth = float(np.exp2(depth)) * np.log(n_samples) ** 2 * np.log(n_samples * n_features) / n_samples
    return TreeRankingBound(
        approximation=float(approximation),
        variation=float(total_variation**2 / (depth + 3)),
        sampling=float(constant * growth),
        fluctuation=float(2 * (2 * sup_norm) * entropy / np.sqrt(n_samples)),
        sharp=sharp,
    )
