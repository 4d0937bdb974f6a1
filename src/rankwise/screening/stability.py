"""How stable a selection is: which features are selected again when rows are resampled.

Users call `selection_stability` with any selector of this package before they trust its picks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from rankwise._progress import silent, track
from rankwise._tables import make_frame, name_column
from rankwise._typing import ArrayLike, FloatArray, IntArray, RandomState
from rankwise._validation import check_generator, check_n_jobs, check_whole_number
from rankwise.screening.base import check_target, refuse_non_numeric


@dataclass(frozen=True)
class SelectionStability:
    """What `selection_stability` returns: the features that were selected at least once, most frequent first.

    Attributes
    ----------
    features : tuple
        Names of columns, or formulas of expressions.
    frequency : ndarray of shape (n_features,)
        Share of the resamples in which each was selected.
    selected : ndarray of bool of shape (n_features,)
        Whether the selector selects it from the rows as they are.
    similarity : float
        Mean overlap of the selections from two resamples: the number of features in both, divided by the number in
        either. 1 if all select the same.
    n_resamples : int
        Number of resamples.
    """

    features: tuple[Hashable, ...]
    frequency: FloatArray
    selected: np.ndarray
    similarity: float
    n_resamples: int

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with a row per feature: ``feature``, ``frequency`` and ``selected``.

        The frame is of pandas by default, else of the named backend ("pandas", "polars" or "pyarrow").
        """
        columns = {"frequency": self.frequency, "selected": self.selected}
        return make_frame({"feature": name_column(self.features)} | columns, backend)


def selection_stability(
    selector: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    n_resamples: int = 100,
    n_jobs: int | None = None,
    random_state: RandomState = None,
) -> SelectionStability:
    """Select again from bootstrap resamples of the rows, and count how often each feature is selected.

    Parameters
    ----------
    selector : ConcordanceSelector, ScoreSelector or BARTSelector
        The selector, which is cloned and not changed; any transformer with ``get_feature_names_out`` will do.
    X : array-like of shape (n_samples, n_features)
        Columns, or inputs of expressions.
    y : array-like of shape (n_samples,)
        Target.
    n_resamples : int, default=100
        Number of resamples, each of as many rows as X has, drawn with replacement.
    n_jobs : int, optional
        Threads, one resample each; the result is the same for every number.
    random_state : None, int, Generator or RandomState
        Where the resamples come from, and the seeds of a selector that has a ``random_state``.

    Returns
    -------
    SelectionStability
        Frequencies of the features, and how much two selections have in common.

    Notes
    -----
    A frequency is not a probability that the feature is right: two features that say the same share their votes, and a
    wrong feature is selected every time if the right one is not offered. Members of a rank class are counted apart, by
    their formulas; `ConcordanceSelector` selects the simplest member, which is mostly the same one.

    References
    ----------
    Meinshausen, Bühlmann (2010), Stability selection, for the idea, with halves of the rows.

    Examples
    --------
    >>> from rankwise.datasets import make_symbolic_regression
    >>> from rankwise.screening import ConcordanceSelector, selection_stability
    >>> X, y, _ = make_symbolic_regression(noise=1.0, random_state=0)
    >>> found = selection_stability(ConcordanceSelector(k=1), X, y, n_resamples=20, random_state=0)
    >>> found.features, found.frequency, found.similarity
    (('x2',), array([1.]), 1.0)
    """
    from joblib import Parallel, delayed
    from sklearn.base import clone
    from sklearn.utils.validation import check_array

    check_n_jobs(n_jobs)
    check_whole_number("n_resamples", n_resamples, at_least=2)
    refuse_non_numeric("X", X)
    target = check_target(y)
    first = _fitted(clone(selector), X, target, None)
    picked = list(first.get_feature_names_out())
    names = getattr(first, "feature_names_in_", None)
    columns = check_array(X, dtype=np.float64)
    rng = check_generator(random_state)
    resamples = [(_resampled(target, rng), int(rng.integers(2**31))) for _ in range(n_resamples)]

    def select(rows: IntArray, seed: int) -> list[Hashable]:
        with silent():
            again = _fitted(clone(selector), columns[rows], target[rows], seed)
        return list(again.get_feature_names_out(names))

    jobs = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(delayed(select)(*one) for one in resamples)
    picks = [frozenset(names) for names in track(jobs, "resampling", n_resamples)]
    count = Counter(name for names in picks for name in names)
    # Those selected from all rows first, in their order, among features of the same frequency.
    place = {name: number for number, name in enumerate(picked)}
    features = sorted({*count, *picked}, key=lambda name: (-count[name], place.get(name, len(place)), str(name)))
    return SelectionStability(
        features=tuple(features),
        frequency=np.array([count[name] for name in features], dtype=np.float64) / n_resamples,
        selected=np.array([name in place for name in features], dtype=bool),
        similarity=_similarity(picks),
        n_resamples=n_resamples,
    )


def _fitted(selector: Any, X: ArrayLike, y: FloatArray, seed: int | None) -> Any:
    if seed is not None and "random_state" in selector.get_params():
        selector.set_params(random_state=seed)
    return selector.fit(X, y)


def _resampled(y: FloatArray, rng: np.random.Generator) -> IntArray:
    """Rows with replacement; again, if all of them have the same y, which no feature can order."""
    while True:
        rows = rng.integers(len(y), size=len(y))
        if np.ptp(y[rows]) > 0:
            return rows


def _similarity(picks: list[frozenset[Hashable]]) -> float:
    """Mean over pairs of resamples; equal selections, and there are many, are compared once."""
    count = Counter(picks)
    n_pairs = len(picks) * (len(picks) - 1) / 2
    total = float(sum(times * (times - 1) / 2 for times in count.values()))
    for (one, times), (other, times_other) in combinations(count.items(), 2):
        either = len(one | other)
        total += times * times_other * len(one & other) / either
    return total / n_pairs
