"""Comparison of rankers by paired tests over the same queries, for `cross_validate` results and `rank-evaluate`."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from rankwise._tables import TextTable, counted, make_frame
from rankwise._typing import ArrayLike, FloatArray, IntArray, RandomState
from rankwise._validation import check_generator, check_numbers, check_whole_number
from rankwise.model_selection.validation import CrossValidation, metric_in_words

# Signs that are drawn at once: 64 MB.
_BLOCK_CELLS = 1 << 23


@dataclass(repr=False)
class Comparison:
    """Pairs of rankers, compared over the same queries.

    Attributes
    ----------
    metric : str
        What was compared, with its gain if it has one; higher is better.
    means : dict
        Ranker -> mean over queries.
    first, second : tuple of str
        The rankers of each pair.
    difference, low, high : ndarray of shape (n_pairs,)
        Mean of first minus second, and its 95% interval by Student's t.
    wins, losses, ties : ndarray of shape (n_pairs,), int
        Queries on which the first is better, worse, equal.
    p_randomization, p_t : ndarray of shape (n_pairs,)
        Two-sided p-values, corrected for the number of pairs by Holm's method.
    n_queries : int
        Queries that have a value for every ranker.
    """

    metric: str
    means: dict[str, float]
    first: tuple[str, ...]
    second: tuple[str, ...]
    difference: FloatArray
    low: FloatArray
    high: FloatArray
    wins: IntArray
    losses: IntArray
    ties: IntArray
    p_randomization: FloatArray
    p_t: FloatArray
    n_queries: int

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with a row per pair, of pandas by default, else of the named backend."""
        return make_frame(self.columns(), backend)

    def columns(self) -> dict[str, Any]:
        """Name -> list of what is known about the pairs, from ``first`` to ``p_t``."""
        names = ("difference", "low", "high", "wins", "losses", "ties", "p_randomization", "p_t")
        arrays = {name: getattr(self, name).tolist() for name in names}
        return {"first": list(self.first), "second": list(self.second), **arrays}

    def table(self, *, note: str = "") -> TextTable:
        """The pairs as a table of text; the note goes below the title too."""
        columns = {
            "pair": [f"{first} - {second}" for first, second in zip(self.first, self.second, strict=True)],
            "difference": [f"{value:+.4f}" for value in self.difference],
            "95% interval": [f"{low:+.4f} to {high:+.4f}" for low, high in zip(self.low, self.high, strict=True)],
            "won, lost, tied": [
                f"{wins}, {losses}, {ties}"
                for wins, losses, ties in zip(self.wins, self.losses, self.ties, strict=True)
            ],
            "p": [f"{p:.4f}" for p in self.p_randomization],
        }
        queries = counted(self.n_queries, "query", "queries")
        test = f"paired over {queries}; p by random signs, corrected for the number of pairs"
        rows = [list(row) for row in zip(*columns.values(), strict=True)]
        return TextTable(f"Differences of {self.metric}", "; ".join(filter(None, [note, test])), list(columns), rows)

    def __repr__(self) -> str:
        return str(self._table_with_means())

    def _repr_html_(self) -> str:
        return self._table_with_means()._repr_html_()

    def _table_with_means(self) -> TextTable:
        return self.table(note="means: " + ", ".join(f"{ranker} {mean:.4f}" for ranker, mean in self.means.items()))


def compare(
    results: Mapping[str, CrossValidation | ArrayLike],
    metric: str | None = None,
    *,
    n_permutations: int = 10_000,
    random_state: RandomState = None,
) -> Comparison:
    r"""Compare rankers by their values on the same queries.

    *Definition.* For each pair of rankers, with differences :math:`d_q` over queries: the randomization test asks how
    often :math:`|\sum_q \pm d_q|` with random signs is as large as :math:`|\sum_q d_q|`; the t test compares the mean
    of :math:`d_q` with its standard error. Holm's method corrects both for the number of pairs.

    Parameters
    ----------
    results : mapping
        Name -> `CrossValidation`, or one value per query (the same queries in the same order for all).
    metric : str, optional
        Which metric of the cross-validations; the first by default.
    n_permutations : int, default=10000
        Random sign changes.
    random_state : int, Generator, RandomState or None, default=None
        Where they come from.

    Returns
    -------
    Comparison
        Print it, or see ``to_frame()``, and `rankwise.plots.ComparisonDisplay`.

    References
    ----------
    Smucker, Allan and Carterette (2007), A comparison of statistical significance tests for information retrieval
    evaluation. Holm (1979), A simple sequentially rejective multiple test procedure.

    Examples
    --------
    >>> from rankwise.model_selection import compare
    >>> print(compare({"new": [0.9, 0.8, 0.7, 0.9], "old": [0.7, 0.7, 0.6, 0.8]}, random_state=0))
    Differences of metric
    means: new 0.8250, old 0.7000; paired over 4 queries; p by random signs, corrected for the number of pairs
    pair       difference  95% interval       won, lost, tied  p
    new - old  +0.1250     +0.0454 to +0.2046  4, 0, 0          0.12...
    """
    check_whole_number("n_permutations", n_permutations, at_least=1)
    if not isinstance(results, Mapping):
        raise TypeError(f"results is of type {type(results).__name__}; name the rankers: {{'new': ..., 'old': ...}}")
    if len(results) < 2:
        raise ValueError(f"there is {len(results)} result; compare at least two")
    name, values = query_values(results, metric)
    judged = ~np.isnan(np.array(list(values.values()))).any(axis=0)
    if judged.sum() < 2:
        raise ValueError("fewer than two queries have a value for every ranker, too few for a test")
    rng = check_generator(random_state)
    kept = {ranker: value[judged] for ranker, value in values.items()}
    pairs = list(combinations(kept, 2))
    tests = [_paired_tests(kept[a] - kept[b], n_permutations, rng) for a, b in pairs]
    columns: dict[str, Any] = {column: np.array([test[column] for test in tests]) for column in tests[0]}
    for column in ("p_randomization", "p_t"):
        columns[column] = holm(columns[column])
    first = next(iter(results.values()))
    if isinstance(first, CrossValidation):
        name = metric_in_words(name, first.gain)
    return Comparison(
        metric=name,
        means={ranker: float(value.mean()) for ranker, value in kept.items()},
        first=tuple(a for a, _ in pairs),
        second=tuple(b for _, b in pairs),
        n_queries=int(judged.sum()),
        **columns,
    )


def query_values(results: Mapping[str, Any], metric: str | None) -> tuple[str, dict[str, FloatArray]]:
    """What was measured, and the values of each ranker on the same queries."""
    values, queries = {}, None
    label = metric
    for ranker, result in results.items():
        if isinstance(result, CrossValidation):
            label = next(iter(result.per_query)) if label is None else label
            if label not in result.per_query:
                raise ValueError(f"{ranker} was not scored by {label!r}, but by {', '.join(result.per_query)}")
            values[ranker] = result.per_query[label]
            if queries is not None and not np.array_equal(queries, result.queries):
                raise ValueError(f"{ranker} was scored on other queries than the rankers before it")
            queries = result.queries
        else:
            values[ranker] = check_numbers(f"results[{ranker!r}]", result)
    lengths = {ranker: value.shape for ranker, value in values.items()}
    if len(set(lengths.values())) > 1 or any(len(shape) != 1 for shape in lengths.values()):
        raise ValueError(f"every ranker needs one value for each query, in the same order; there are {lengths}")
    return label or "metric", values


def holm(p: FloatArray) -> FloatArray:
    """P-values corrected for their number by Holm's method."""
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(stepped, 1.0)
    return corrected


def _paired_tests(difference: FloatArray, n_permutations: int, rng: np.random.Generator) -> dict[str, float]:
    from scipy import stats

    mean = low = high = float(difference.mean())
    p_t = 1.0 if mean == 0 else 0.0
    if np.ptp(difference) > 0:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Precision loss occurred", RuntimeWarning)  # nearly equal differences
            test = stats.ttest_1samp(difference, 0.0)
        low, high = map(float, test.confidence_interval(0.95))
        p_t = float(test.pvalue)
    return {
        "difference": mean,
        "low": low,
        "high": high,
        "wins": int((difference > 0).sum()),
        "losses": int((difference < 0).sum()),
        "ties": int((difference == 0).sum()),
        "p_randomization": _randomization(difference, n_permutations, rng),
        "p_t": p_t,
    }


def _randomization(difference: FloatArray, n_permutations: int, rng: np.random.Generator) -> float:
    """Share of sign changes that move the sum as far from 0; the data themselves count as one of them.

    `scipy.stats.permutation_test` computes the same, but takes ten times as long for a thousand queries and more.
    """
    from rankwise._sklearn import gen_batches

    # Sums of the same numbers in another order differ in the last bits.
    as_far, limit = 1, abs(difference.sum()) * (1 - 1e-12)
    for batch in gen_batches(n_permutations, max(1, _BLOCK_CELLS // len(difference))):
        signs = rng.integers(0, 2, (batch.stop - batch.start, len(difference)), dtype=np.int8) * 2 - 1
        as_far += int((abs(signs @ difference) >= limit).sum())
    return as_far / (n_permutations + 1)
