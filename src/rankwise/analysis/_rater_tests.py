r"""Is a person farther from the others than chance explains? Tests of single raters under a Mallows model.

Used by `raters`. Person i is compared with the consensus of all others (Borda's, found for everybody in one pass) by
the number of pairs :math:`D_i` that the person orders against it. If all are draws of one Mallows model,
:math:`P(D_i = d) \propto c_i(d)\, e^{-\theta d}`, where :math:`c_i(d)` is the number of rankings of the person's kind
at that distance: those with the same numbers of tied and unlisted items. The sum of all distances is sufficient for
theta, so given the sum, the law of one of them does not depend on theta: that gives the p-values of a few people. Those
of many take theta from the others, or from all if there are thousands. Distances are whole numbers, and p-values are
mid-p: the probability of a larger distance, and half of that of the same one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankwise._typing import FloatArray, IntArray
from rankwise.aggregation.mallows import mean_displacements, theta_for
from rankwise.aggregation.positional import shares_beaten
from rankwise.data import Rankings, positions_from_scores
from rankwise.distances import distances_jit

# The sum of the distances of up to so many people is given; with more, theta is known well enough.
_MOST_CONDITIONAL = 60
# The theta of all but one is estimated for each of up to so many people; of more, it is that of all.
_MOST_LEFT_OUT = 1_000
# Laws of distances are exact up to so many pairs, and normal beyond.
_MOST_PAIRS = 2_000
# Scores of items that differ by rounding tie.
_DIGITS = 10


class Distances(NamedTuple):
    """How each person differs from the consensus of all others.

    Attributes
    ----------
    against : ndarray of shape (n,)
        Pairs that the person orders and the consensus of the others orders the other way; half where that ties.
    ordered : ndarray of shape (n,)
        Pairs that the person orders and the others compare.
    distance : ndarray of shape (n,)
        Kendall distance as a share of the pairs that both compare; NaN if there are none.
    """

    against: FloatArray
    ordered: FloatArray
    distance: FloatArray


def distances_to_others(rankings: Rankings, leaving: FloatArray) -> Distances:
    """Compare each person with Borda's consensus of all others; ``leaving`` is the weight that leaves with a person."""
    shares = shares_beaten(rankings)
    held = ~np.isnan(shares)
    shares = np.where(held, shares, 0.0)
    points = rankings.weights @ shares - leaving[:, np.newaxis] * shares
    weight = rankings.weights @ held - leaving[:, np.newaxis] * held
    others = weight > 1e-12 * max(1.0, float(rankings.weights.sum()))
    means = np.full(shares.shape, np.nan)
    np.divide(points, weight, out=means, where=others)
    consensus = positions_from_scores(means.round(_DIGITS))
    table = distances_jit.pair_statistics(rankings.positions, consensus, np.ones(rankings.n_items), False)
    both = table[:, distances_jit.CONCORDANT] + table[:, distances_jit.DISCORDANT]
    strict, strict_others = table[:, distances_jit.STRICT_A], table[:, distances_jit.STRICT_B]
    against = table[:, distances_jit.DISCORDANT] + (strict - both) / 2
    pairs = table[:, distances_jit.PAIRS]
    distance = np.full(len(pairs), np.nan)
    np.divide(against + (strict_others - both) / 2, pairs, out=distance, where=pairs > 0)
    return Distances(against, strict, distance)


class RaterTests(NamedTuple):
    """p-values of all people; NaN for those who order nothing.

    Attributes
    ----------
    far : ndarray of shape (n,)
        Of the distance to the others, if the person is a draw of the same model as the others.
    random_or_farther, random_or_nearer : ndarray of shape (n,)
        Probability that a random ranking is as far from the others or farther, or as near or nearer.
    """

    far: FloatArray
    random_or_farther: FloatArray
    random_or_nearer: FloatArray


def rater_tests(rankings: Rankings, found: Distances, people: IntArray) -> RaterTests:
    """Test each person: so far from the others under one model of all, and so far or so near for a random ranking.

    ``people`` says how many alike each row stands for.
    """
    against = np.floor(found.against + 1e-9).astype(np.intp)
    # A consensus that holds fewer items than the person does not compare all pairs.
    kinds, inverse = np.unique(_bucket_sizes(rankings.positions), axis=0, return_inverse=True)
    inverse = inverse.ravel()
    tested = (found.ordered > 0) & (people > 0)
    # A stage of s items orders one of them before the s - 1 others.
    n_pairs = np.rint(_stages(kinds) @ np.maximum(np.arange(kinds.shape[1]) - 1.0, 0.0)).astype(np.intp)
    against = np.minimum(against, n_pairs[inverse])
    random_law = _Laws(kinds, n_pairs, 0.0)
    far = np.full(len(against), np.nan)
    n = int(people[tested].sum())
    if n > 1:
        if n <= _MOST_CONDITIONAL and n_pairs.max() <= _MOST_PAIRS:
            far[tested] = _given_the_sum(kinds, n_pairs, inverse[tested], against[tested], people[tested])
        else:
            far[tested] = _given_theta(kinds, n_pairs, inverse[tested], against[tested], people[tested])
    farther = np.where(tested, random_law.at_least(inverse, against), np.nan)
    nearer = np.where(tested, 1 - random_law.at_least(inverse, against + 1), np.nan)
    return RaterTests(far, farther, nearer)


def _given_the_sum(
    kinds: IntArray, n_pairs: IntArray, kind: IntArray, against: IntArray, people: IntArray
) -> FloatArray:
    """Mid-p of D_i given the sum of all distances, by products of Fourier transforms."""
    total = int(people @ against)
    theta = theta_for((people.astype(float) @ _stages(kinds)[kind])[1:], max(float(total), 0.5))
    laws = _Laws(kinds, n_pairs, theta).pmf
    size = 1 << int(np.ceil(np.log2(people @ n_pairs[kind] + 1.0)) + 1)
    spectra = np.fft.rfft(laws, size, axis=1)
    powers = np.bincount(kind, people, minlength=len(kinds))
    p_values = np.empty(len(kind))
    for k in np.unique(kind):
        others = np.ones(spectra.shape[1], dtype=complex)
        for j in np.flatnonzero(powers):
            others *= spectra[j] ** (powers[j] - (j == k))
        rest = np.maximum(np.fft.irfft(others, size), 0.0)
        d = np.arange(min(n_pairs[k], total) + 1)
        joint = laws[k, d] * rest[total - d]
        tail = (np.cumsum(joint[::-1])[::-1] - joint / 2) / joint.sum()
        chosen = kind == k
        p_values[chosen] = tail[np.minimum(against[chosen], len(d) - 1)]
    return np.minimum(p_values, 1.0)


def _given_theta(kinds: IntArray, n_pairs: IntArray, kind: IntArray, against: IntArray, people: IntArray) -> FloatArray:
    """Mid-p of D_i with the theta of all others: the same for people of one kind and distance."""
    stages = _stages(kinds)
    all_stages, total = people.astype(float) @ stages[kind], float(people @ against)
    theta_of_all = theta_for(all_stages[1:], max(total, 0.5))
    laws = _Laws(kinds, n_pairs, theta_of_all)
    if people.sum() > _MOST_LEFT_OUT or not laws.exact:
        return (laws.at_least(kind, against) + laws.at_least(kind, against + 1)) / 2
    cases, inverse = np.unique(np.column_stack([kind, against]), axis=0, return_inverse=True)
    p_values = np.empty(len(cases))
    for c, (k, d) in enumerate(cases.tolist()):
        theta = theta_for((all_stages - stages[k])[1:], max(total - d, 0.5))
        law = laws.pmf[k] * np.exp((theta_of_all - theta) * (np.arange(laws.pmf.shape[1]) - d))
        p_values[c] = (law[d + 1 :].sum() + law[d] / 2) / law.sum()
    return p_values[inverse.ravel()]


class _Laws:
    """Laws of the number of pairs against the center, for each kind of ranking: exact, or normal for many pairs."""

    def __init__(self, kinds: IntArray, n_pairs: IntArray, theta: float) -> None:
        self.exact = int(n_pairs.max(initial=0)) <= _MOST_PAIRS
        if self.exact:
            self.pmf = _exact_laws(kinds, n_pairs, theta)
            tails = np.cumsum(self.pmf[:, ::-1], axis=1)[:, ::-1]
            self.tails = np.hstack([np.minimum(tails, 1.0), np.zeros((len(kinds), 1))])
        else:
            mean, variance = mean_displacements(theta, np.arange(1.0, kinds.shape[1]))
            stages = _stages(kinds)[:, 1:]
            self.mean, self.deviation = stages @ mean, np.sqrt(np.maximum(stages @ variance, 1e-300))

    def at_least(self, kind: IntArray, against: IntArray) -> FloatArray:
        """Probability of so many pairs or more."""
        if self.exact:
            return np.asarray(self.tails[kind, np.minimum(against, self.tails.shape[1] - 1)])
        from scipy.special import ndtr

        return np.asarray(ndtr((self.mean[kind] - against + 0.5) / self.deviation[kind]))


def _exact_laws(kinds: IntArray, n_pairs: IntArray, theta: float) -> FloatArray:
    """A row per kind: the generating function of the stages that order pairs, by polynomials in q = exp(-theta).

    The law of a kind with buckets of sizes b is a product of Gaussian binomials: of m items, the first b may be any.
    """
    laws = np.zeros((len(kinds), int(n_pairs.max(initial=0)) + 1))
    q = np.exp(-theta)
    for row, sizes in enumerate(kinds):
        law = np.ones(1)
        left = int(np.arange(len(sizes)) @ sizes)
        for size in np.repeat(np.arange(len(sizes)), sizes).tolist():
            for step in range(1, size + 1):
                law = _stage_ratio(law, left - size + step, step, q)
            left -= size
        laws[row, : len(law)] = law / law.sum()
    return laws


def _stage_ratio(law: FloatArray, above: int, below: int, q: float) -> FloatArray:
    """Multiply by 1 - (q x)^above and divide by 1 - (q x)^below, in powers of x."""
    from scipy.signal import lfilter

    length = len(law) + above - below
    longer = np.zeros(len(law) + above)
    longer[: len(law)] = law
    longer[above:] -= q**above * law
    columns = np.zeros((-(-length // below), below))
    columns.ravel()[:length] = longer[:length]
    law = np.maximum(lfilter([1.0], [1.0, -(q**below)], columns, axis=0).ravel()[:length], 0.0)
    return np.asarray(law / law.max())


def _bucket_sizes(positions: FloatArray) -> IntArray:
    """For each ranking how many buckets of each size it has, sizes 0, 1, ..., k; unlisted items are one bucket."""
    n, k = positions.shape
    code = np.where(np.isposinf(positions), k + 1.0, np.nan_to_num(positions, nan=0.0)).astype(np.intp)
    counts = np.zeros((n, k + 2), dtype=np.intp)
    np.add.at(counts, (np.repeat(np.arange(n), k), code.ravel()), 1)
    sizes = np.zeros((n, k + 1), dtype=np.intp)
    np.add.at(sizes, (np.repeat(np.arange(n), k + 1), counts[:, 1:].ravel()), 1)
    sizes[:, 0] = 0
    return sizes


def _stages(kinds: IntArray) -> FloatArray:
    """How many stages of s = 0, ..., k items each kind has: one of each size up to m, less those within buckets."""
    columns = np.arange(kinds.shape[1])
    n_present = kinds @ columns
    within = np.cumsum(kinds[:, ::-1], axis=1)[:, ::-1]  # buckets of size s or more
    stages = np.asarray((columns <= n_present[:, np.newaxis]) - within.astype(np.float64), dtype=np.float64)
    stages[:, 0] = 0.0
    return stages
