"""Consensus of long lists: top-k lists of items among tens of thousands, in memory linear in what they list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

import numpy as np

from rankwise._tables import make_frame, name_column
from rankwise._typing import ArrayLike, FloatArray, IntArray
from rankwise._validation import check_choice, check_whole_number, is_null, list_of_names
from rankwise.data import Rankings
from rankwise.data.orders import rows_of

Method = Literal["rra", "borda", "mc4", "mean"]

# Below this a probability is computed by its logarithm, because it would soon underflow.
_TINY = 1e-280
# Chance of a free jump, as in `mc4`; and the relative change at which the walk counts as settled.
_TELEPORT = 0.05
_SETTLED = 1e-9
_MOST_SWEEPS = 500
# About ten sweeps of this many pairs take minutes.
_MOST_PAIRS = 4e9


@dataclass(frozen=True, eq=False)
class ListConsensus:
    """Consensus of long lists; made by `aggregate_lists`.

    Attributes
    ----------
    items : tuple
        Names of the items that some list holds, in order of first appearance.
    score : ndarray of shape (n_listed,)
        Score of each of these items; higher = better for every method.
    p_value : ndarray of shape (n_listed,) or None
        Method "rra": how likely an item that all lists place at random would score so well; else None.
    order : ndarray of shape (n_listed,), intp
        Ids into ``items``, best first; equal scores in order of first appearance.
    """

    items: tuple[Hashable, ...]
    score: FloatArray
    p_value: FloatArray | None
    order: IntArray

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with a row per listed item, best first: ``item``, ``score`` and, for "rra", ``p_value``.

        The frame is of pandas by default, else of the named backend ("pandas", "polars" or "pyarrow").
        """
        columns = {"item": name_column([self.items[i] for i in self.order]), "score": self.score[self.order]}
        if self.p_value is not None:
            columns["p_value"] = self.p_value[self.order]
        return make_frame(columns, backend)


def aggregate_lists(lists: ArrayLike, method: Method = "rra", n_items: int | None = None) -> ListConsensus:
    r"""Merge long lists of items, best first, into one.

    *Definition.* Let n lists place items among N; what a list does not hold comes below what it holds.

    - "rra", robust rank aggregation: let :math:`r_{(1)} \le \dots \le r_{(n)}` be the places of an item divided by N,
      with 1 where it is not listed. If the lists were random, :math:`r_{(k)}` would be an order statistic of uniform
      numbers, as small as it is with probability
      :math:`\beta_k = \sum_{l \ge k} \binom{n}{l} r_{(k)}^l (1 - r_{(k)})^{n-l}`. The score is
      :math:`-\log_{10} \rho` with :math:`\rho = \min_k \beta_k`, and the p-value :math:`\min(1, n \rho)`: a bound,
      by Bonferroni's correction for the choice among n values of k. A few lists that agree are enough, whatever the
      others say.
    - "borda": mean share of the other N - 1 items that the item beats, items that a list does not hold sharing its
      last places: the scores of `borda`.
    - "mean": one minus the mean place divided by N, N being the place of an item that is not listed.
    - "mc4": probability of the item in `mc4` over the items that some list holds.

    Parameters
    ----------
    lists : sequence of sequences of hashable
        Names or ids, best first, each at most once in a list. Lists may have different lengths.
    method : {"rra", "borda", "mc4", "mean"}, default="rra"
        How to score the items.
    n_items : int, optional
        N, the number of items that the lists chose from, listed or not. By default the number of items that some
        list holds; too small a number makes the p-values of "rra" too large.

    Returns
    -------
    ListConsensus

    Notes
    -----
    Memory grows with the number of entries in the lists, never with lists times items. Time does too, but for "mc4",
    which looks at the pairs of listed items several times, and refuses where that would take hours.

    The p-values are conservative: the n values :math:`\beta_k` of an item go together, so an item at random gets a
    p-value below 0.05 in less than 5% of the cases. They are those of single items. Among thousands some are small by
    chance: correct them for the number of items, N, before calling any of them significant.

    References
    ----------
    Kolde, Laur, Adler, Vilo (2012), Robust rank aggregation for gene list integration and meta-analysis,
    Bioinformatics 28. Dwork, Kumar, Naor, Sivakumar (2001), Rank aggregation methods for the web, WWW 10.

    Examples
    --------
    >>> from rankwise.aggregation import aggregate_lists
    >>> result = aggregate_lists([["TP53", "MYC"], ["TP53", "EGFR"], ["KRAS"]], n_items=20_000)
    >>> [result.items[i] for i in result.order]
    ['TP53', 'KRAS', 'MYC', 'EGFR']
    """
    scorers = {"rra": _robust_scores, "borda": _borda_scores, "mc4": _walk_scores, "mean": _mean_scores}
    check_choice("method", method, tuple(scorers))
    entries, names = _read(lists, n_items)
    score = scorers[method](entries)
    p_value = np.minimum(1.0, entries.n_lists * 10.0**-score) if method == "rra" else None
    return ListConsensus(tuple(names), score, p_value, np.argsort(-score, kind="stable"))


@dataclass(frozen=True)
class _Entries:
    """All lists, one after the other: the item of each entry and its place, 1 = best."""

    item: IntArray
    place: IntArray
    lengths: IntArray
    n_listed: int
    n_items: int

    @property
    def n_lists(self) -> int:
        return len(self.lengths)

    @property
    def times_listed(self) -> IntArray:
        return np.bincount(self.item, minlength=self.n_listed)


def _read(lists: ArrayLike, n_items: int | None) -> tuple[_Entries, list[Hashable]]:
    if isinstance(lists, Rankings):
        raise TypeError(
            "lists is a Rankings, for which there are borda, mc4 and kemeny, with its weights and missing items. For "
            "p-values give [[rankings.items[i] for i in order if i >= 0] for order in rankings.orders()]"
        )
    rows = [list_of_names(row) for row in rows_of(lists, name="lists")]
    if not rows:
        raise ValueError("there are no lists to merge; give at least one")
    ids: dict[Hashable, int] = {}
    item = []
    for number, row in enumerate(rows):
        if not row:
            raise ValueError(f"lists[{number}] is empty, so it says nothing; drop it")
        known = len(ids)
        try:
            found = [ids.setdefault(name, len(ids)) for name in row]
        except TypeError:
            raise ValueError(f"lists[{number}] holds something that is not a name; use text or numbers") from None
        nameless = [name for name in islice(ids, known, None) if is_null(name)]
        if nameless:
            raise ValueError(f"lists[{number}] holds {nameless[0]!r}, which is not the name of an item; drop it")
        if len(set(found)) < len(found):
            twice = Counter(row).most_common(1)[0][0]
            raise ValueError(f"lists[{number}] holds {twice!r} more than once; every item has one place")
        item.append(np.array(found, dtype=np.intp))
    total = len(ids) if n_items is None else check_whole_number("n_items", n_items, at_least=1)
    if total < len(ids):
        raise ValueError(f"n_items is {n_items}, but the lists hold {len(ids)} different items; give all there were")
    lengths = np.array([len(found) for found in item], dtype=np.intp)
    place = np.concatenate([np.arange(1, length + 1) for length in lengths])
    entries = _Entries(np.concatenate(item), place, lengths, len(ids), total)
    return entries, list(ids)


def _robust_scores(entries: _Entries) -> FloatArray:
    order = np.lexsort((entries.place, entries.item))
    share = entries.place[order] / entries.n_items
    times = entries.times_listed
    first = np.cumsum(times) - times
    # An item's best places come first among its n; where it is not listed, beta is 1 and never the least.
    k = np.arange(1, len(order) + 1, dtype=np.float64) - np.repeat(first, times)
    least = np.minimum.reduceat(_log_order_statistic_cdf(share, k, entries.n_lists), first)
    return -np.minimum(least, 0.0) / np.log(10) + 0.0  # + 0.0 turns -0.0 into 0.0


def _log_order_statistic_cdf(x: FloatArray, k: FloatArray, n: int) -> FloatArray:
    """Logarithm of the probability that the k-th smallest of n uniform numbers is at most x."""
    from scipy.special import betainc, betaln, hyp2f1

    probability = betainc(k, n - k + 1, x)
    tiny = probability < _TINY
    result = np.log(np.where(tiny, 1.0, probability))
    if tiny.any():
        a, z = k[tiny], x[tiny]
        b = n - a + 1
        result[tiny] = a * np.log(z) + b * np.log1p(-z) - np.log(a) - betaln(a, b) + np.log(hyp2f1(n + 1, 1, a + 1, z))
    return result


def _borda_scores(entries: _Entries) -> FloatArray:
    if entries.n_items < 2:
        raise ValueError("shares of beaten items need two items; here is 1")
    others = entries.n_items - 1.0
    # The unlisted items of a list share its places from length + 1 to N.
    unlisted = (entries.n_items - entries.lengths - 1) / 2 / others
    listed = (entries.n_items - entries.place) / others
    gain = np.bincount(entries.item, listed - np.repeat(unlisted, entries.lengths), entries.n_listed)
    return (unlisted.sum() + gain) / entries.n_lists


def _mean_scores(entries: _Entries) -> FloatArray:
    above_last = np.bincount(entries.item, entries.n_items - entries.place, entries.n_listed)
    return above_last / (entries.n_lists * entries.n_items)


def _walk_scores(entries: _Entries) -> FloatArray:
    """Stationary law of Markov chain 4, by Gauss-Seidel sweeps that look at one item against all others at a time.

    Going from the worst items to the best, the first sweep is exact where majorities have no cycles.
    """
    pairs = float(np.sum(entries.lengths.astype(np.float64) ** 2)) + entries.n_listed**2
    if pairs > _MOST_PAIRS:
        raise ValueError(
            f"'mc4' would look at {pairs:.1g} pairs of items again and again, which takes hours; keep the first places "
            "of each list, or use 'rra', 'borda' or 'mean'"
        )
    times = entries.times_listed.astype(np.int32)
    lists = np.split(entries.item, np.cumsum(entries.lengths)[:-1])
    by_item = np.argsort(entries.item, kind="stable")
    list_of = np.repeat(np.arange(entries.n_lists), entries.lengths)[by_item]
    place = entries.place[by_item]
    last = np.cumsum(times)
    size = entries.n_listed
    worst_first = np.argsort(_mean_scores(entries), kind="stable")
    law = np.full(size, 1 / size)
    for _ in range(_MOST_SWEEPS):
        before = law.copy()
        for item in worst_first:
            # Lists that hold only one of two items prefer it; those that hold both decide by place.
            lead = times[item] - times
            for entry in range(last[item] - times[item], last[item]):
                ids, own = lists[list_of[entry]], place[entry]
                lead[ids[: own - 1]] -= 1
                lead[ids[own:]] += 1
            inflow = (1 - _TELEPORT) * law[lead > 0].sum() + _TELEPORT
            law[item] = inflow / (_TELEPORT * size + (1 - _TELEPORT) * np.count_nonzero(lead < 0))
        law /= law.sum()  # settles what the sweeps themselves settle most slowly
        if np.all(np.abs(law - before) <= _SETTLED * law):
            break
    return law
