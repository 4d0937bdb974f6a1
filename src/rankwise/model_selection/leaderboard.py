"""Cross-validated comparison of label rankers: `leaderboard`, which `analyze` and ``rankwise evaluate`` use.

Its counterpart for query rankers is `cross_validate` with `compare`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwise._progress import track
from rankwise._sklearn import num_samples, safe_indexing
from rankwise._tables import TextTable, make_frame
from rankwise._typing import ArrayLike, FloatArray, IntArray, RandomState
from rankwise._validation import check_generator, check_n_jobs, check_whole_number
from rankwise.data import Rankings
from rankwise.metrics import kendall_tau_score


class NothingToPredictError(ValueError):
    """Raised if no ranking orders two items that a ranker could have learned to order."""


@dataclass(frozen=True, eq=False, repr=False)
class Leaderboard:
    """Label rankers and how well they predict rankings they have not seen, best first; made by `leaderboard`.

    Attributes
    ----------
    names : tuple of str
        The rankers, best first.
    taus : ndarray of shape (n_rankers, n_rankings)
        Kendall tau of the predictions for each ranking, mean over the repeats: 1 is perfect, 0 is chance, -1 the
        reverse; NaN for rankings that cannot be judged.
    means, standard_errors : ndarray of shape (n_rankers,)
        Weighted mean over the rankings, and its standard error as that of a mean of independent rows. Rankers are
        judged on the same rows, so their differences are surer than the standard errors suggest.
    seconds : ndarray of shape (n_rankers,)
        Mean time of a fold: the fit and the predictions.
    weights : ndarray of shape (n_rankings,)
        Weights of the rankings.
    cv, n_repeats : int
        Number of folds, and how often cross-validation was repeated with new folds.
    """

    names: tuple[str, ...]
    taus: FloatArray
    means: FloatArray
    standard_errors: FloatArray
    seconds: FloatArray
    weights: FloatArray
    cv: int
    n_repeats: int = 1

    def __len__(self) -> int:
        return len(self.names)

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with a row per ranker, best first, of pandas by default, else of the named backend."""
        columns = {
            "ranker": list(self.names),
            "mean_tau": self.means,
            "standard_error": self.standard_errors,
            "seconds": self.seconds,
        }
        return make_frame(columns, backend)

    def table(self, *, seconds: bool = True, note: str = "") -> TextTable:
        """The leaderboard as a table of text, with or without times; the note goes below the title too."""
        times = f", {self.n_repeats} times" if self.n_repeats > 1 else ""
        scale = f"Kendall tau in {self.cv}-fold cross-validation{times}: 1 is perfect, 0 is chance, -1 the reverse"
        columns = {
            "model": list(self.names),
            "mean tau": [f"{mean:z.3f}" for mean in self.means],
            "standard error": [f"{error:.3f}" for error in self.standard_errors],
        }
        if seconds:
            columns["seconds a fold"] = [f"{value:.2f}" for value in self.seconds]
        rows = [list(row) for row in zip(*columns.values(), strict=True)]
        return TextTable("Leaderboard", "; ".join(filter(None, [scale, note])), list(columns), rows)

    def group_means(self, rows: ArrayLike) -> list[float | None]:
        """Weighted mean tau of each ranker over some of the rankings; None where none of them can be judged."""
        taus, weights = self.taus[:, rows], self.weights[rows]
        known = np.isfinite(taus)
        total = (known * weights).sum(axis=1)
        sums = (np.where(known, taus, 0.0) * weights).sum(axis=1)
        return [float(a / b) if b > 0 else None for a, b in zip(sums, total, strict=True)]

    def group_table(self, groups: Mapping[str, ArrayLike], by: str = "") -> TextTable:
        """How well the rankers do in each group of rankings, given by their rows, as a table of text."""
        rows = [
            [
                label,
                f"{np.size(members):,}",
                *("" if mean is None else f"{mean:z.3f}" for mean in self.group_means(members)),
            ]
            for label, members in groups.items()
        ]
        note = "mean tau on the rankings of a group; models learn from all groups"
        return TextTable(f"By group: {by}" if by else "By group", note, ["group", "rankings", *self.names], rows)

    def __repr__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def leaderboard(
    rankers: Mapping[str, Any],
    X: ArrayLike,
    y: ArrayLike,
    *,
    cv: int = 10,
    n_repeats: int = 1,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    on_step: Callable[[str, float], None] | None = None,
) -> Leaderboard:
    """Cross-validate label rankers on the same folds.

    *Definition.* Every ranking is predicted once per repeat, by rankers fitted to the other folds; its tau is the mean
    over the repeats. Items that the training folds never compare are not predicted, and the pairs they are in are not
    judged.

    Parameters
    ----------
    rankers : mapping
        Name -> label ranker, or a pipeline that ends in one.
    X : array-like or data frame of shape (n_rankings, n_features)
        Features, in whatever form the rankers take them.
    y : array-like of shape (n_rankings, n_items) or Rankings
        Positions: column = item, 1 = best. The weights of Rankings count in the means, and in fits.
    cv : int, default=10
        Number of folds.
    n_repeats : int, default=1
        How often cross-validation is repeated, each time with new folds.
    random_state : None, int, Generator or RandomState
        Decides the folds.
    n_jobs : int, optional
        Number of threads, over rankers and folds; -1 uses all processors. The results do not depend on it, except
        for the times.
    on_step : callable, optional
        Called after each fold with the name of its ranker and the share of the work that is done. By default there is a
        progress bar.

    Returns
    -------
    Leaderboard

    Examples
    --------
    >>> from rankwise.datasets import load_label_ranking
    >>> from rankwise.label_ranking import DummyRanker, RankingTree
    >>> from rankwise.model_selection import leaderboard
    >>> X, y = load_label_ranking("iris", return_X_y=True)
    >>> board = leaderboard({"consensus": DummyRanker(), "tree": RankingTree(max_depth=2)}, X, y, cv=3, random_state=0)
    >>> board.names
    ('tree', 'consensus')
    """
    from joblib import Parallel, delayed
    from sklearn.model_selection import RepeatedKFold

    check_n_jobs(n_jobs)
    check_whole_number("cv", cv, at_least=2)
    check_whole_number("n_repeats", n_repeats, at_least=1)
    if not isinstance(rankers, Mapping):
        raise TypeError("rankers is not a mapping of names to rankers; give {'tree': RankingTree(), ...}")
    if not rankers:
        raise ValueError("rankers is empty; give at least one ranker, as in {'tree': RankingTree()}")
    y = Rankings(y)
    if num_samples(X) != len(y):
        raise ValueError(f"X has {num_samples(X)} rows, but y has {len(y)} rankings; give one row for each")
    if len(y) < cv:
        raise ValueError(f"{cv} folds need as many rankings, but there are {len(y)}; give a smaller cv")
    is_seed = random_state is None or isinstance(random_state, int | np.integer)
    seed = random_state if is_seed else int(check_generator(random_state).integers(2**31))
    folds = list(RepeatedKFold(n_splits=cv, n_repeats=n_repeats, random_state=seed).split(np.empty((len(y), 1))))
    tasks = [(name, fold) for name in rankers for fold in range(len(folds))]
    # Each fold is a task of its own that clones its ranker, so the number of threads changes nothing.
    work = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    results = work(delayed(_taus_of_fold)(rankers[name], X, y, *folds[fold]) for name, fold in tasks)
    if on_step is None:
        results = track(results, "cross-validation", len(tasks))
    taus = {name: np.full((n_repeats, len(y)), np.nan) for name in rankers}
    seconds = dict.fromkeys(rankers, 0.0)
    for done, ((name, fold), (tau, elapsed)) in enumerate(zip(tasks, results, strict=True), start=1):
        taus[name][fold // cv, folds[fold][1]] = tau
        seconds[name] += elapsed / len(folds)
        if on_step is not None:
            on_step(name, done / len(tasks))
    return _sorted_leaderboard(taus, seconds, y.weights, cv, n_repeats)


def _taus_of_fold(ranker: Any, X: Any, y: Rankings, train: IntArray, test: IntArray) -> tuple[FloatArray, float]:
    """Kendall tau of each test row, and the seconds that fit and prediction take."""
    from sklearn.base import clone

    start = time.perf_counter()
    positions = np.full((len(test), y.n_items), np.nan)
    compared = y[train].compared
    if compared.any():
        fitted = clone(ranker).fit(safe_indexing(X, train), y[train].comparable())
        positions[:, compared] = fitted.predict(safe_indexing(X, test))
    return kendall_tau_score(y[test], positions, per_row=True), time.perf_counter() - start


def _sorted_leaderboard(
    taus: dict[str, FloatArray], seconds: dict[str, float], weights: FloatArray, cv: int, n_repeats: int
) -> Leaderboard:
    names = list(taus)
    of_rows = np.array([taus[name].mean(axis=0) for name in names])  # NaN where a repeat has none
    judged = ~np.isnan(of_rows) & (weights > 0)
    if not judged.any(axis=1).all():
        raise NothingToPredictError("the rankings tie all items they compare, so there is nothing to predict")
    counts = judged * weights
    totals = counts.sum(axis=1)
    means = np.sum(counts * np.where(judged, of_rows, 0.0), axis=1) / totals
    deviations = np.where(judged, of_rows - means[:, np.newaxis], 0.0)
    errors = np.sqrt(np.sum((counts * deviations) ** 2, axis=1)) / totals
    order = np.argsort(-means, kind="stable")
    return Leaderboard(
        names=tuple(names[i] for i in order),
        taus=of_rows[order],
        means=means[order],
        standard_errors=errors[order],
        seconds=np.array([seconds[names[i]] for i in order]),
        weights=weights,
        cv=cv,
        n_repeats=n_repeats,
    )
