"""NoiseCurveDisplay: how well rankers do as the rankings that they learn from become noisier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rankwise._typing import ArrayLike, FloatArray
from rankwise._validation import check_numbers
from rankwise.plots._display import Display
from rankwise.plots._style import SERIES, add_legend, new_axes, tidy


class NoiseCurveDisplay(Display):
    """Mean score of rankers against the noise of what they learned from, with standard errors.

    Parameters
    ----------
    levels : ndarray of shape (n_levels,)
        Levels of noise, in increasing order.
    scores : dict of str to ndarray of shape (n_levels, n_repeats)
        Ranker -> its scores at each level, higher is better.
    level_name, score_name : str
        What the axes are called.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    lines_ : dict of str to matplotlib ErrorbarContainer
        The curve of each ranker.
    legend_ : matplotlib Legend
        Names of the rankers.

    Examples
    --------
    >>> from rankwise.plots import NoiseCurveDisplay
    >>> display = NoiseCurveDisplay.from_scores([0, 0.5], {"tree": [[0.9, 0.8], [0.6, 0.4]]})
    >>> display.lines_["tree"].lines[0].get_ydata()
    array([0.85, 0.5 ])
    """

    def __init__(
        self,
        levels: FloatArray,
        scores: Mapping[str, FloatArray],
        level_name: str = "noise",
        score_name: str = "mean Kendall tau",
    ) -> None:
        self.levels = levels
        self.scores = scores
        self.level_name = level_name
        self.score_name = score_name

    @classmethod
    def from_estimators(
        cls,
        estimators: Mapping[str, Any],
        X: ArrayLike,
        noisy: Mapping[float, ArrayLike],
        truth: ArrayLike,
        *,
        cv: Any = 5,
        level_name: str = "noise",
        ax: Any = None,
    ) -> NoiseCurveDisplay:
        """Fit rankers to noisy rankings, score them on noiseless ones of other rows, and draw.

        Parameters
        ----------
        estimators : mapping of str to label ranker
            The rankers; clones of them are fitted.
        X : array-like of shape (n_samples, n_features)
            Features.
        noisy : mapping of float to array-like of shape (n_samples, n_items) or Rankings
            Level of noise -> the rankings to learn from.
        truth : array-like of shape (n_samples, n_items) or Rankings
            The rankings to score against, such as the noiseless ones.
        cv : int, splitter or iterable, default=5
            Folds, the same at every level; their standard errors ignore that training rows overlap.
        level_name : str, default="noise"
            What the level is.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        NoiseCurveDisplay
        """
        from sklearn.base import clone
        from sklearn.model_selection import check_cv

        from rankwise._sklearn import safe_indexing
        from rankwise.data import Rankings

        right = Rankings(truth)
        rankings = {level: Rankings(y) for level, y in noisy.items()}
        for level, y in rankings.items():
            if y.shape != right.shape:
                raise ValueError(
                    f"noisy[{level!r}] has shape {y.shape}, but truth {right.shape}; give the same rows and items"
                )
        folds = list(check_cv(cv).split(np.empty(len(right))))

        def scores_of(estimator: Any, y: Rankings) -> list[float]:
            return [
                clone(estimator).fit(safe_indexing(X, train), y[train]).score(safe_indexing(X, test), right[test])
                for train, test in folds
            ]

        scores = {name: [scores_of(ranker, y) for y in rankings.values()] for name, ranker in estimators.items()}
        return cls.from_scores(list(rankings), scores, level_name=level_name, ax=ax)

    @classmethod
    def from_scores(
        cls,
        levels: ArrayLike,
        scores: Mapping[str, ArrayLike],
        *,
        level_name: str = "noise",
        score_name: str = "mean Kendall tau",
        ax: Any = None,
    ) -> NoiseCurveDisplay:
        """Draw scores that were computed before.

        Parameters
        ----------
        levels : array-like of shape (n_levels,)
            Levels of noise.
        scores : mapping of str to array-like of shape (n_levels,) or (n_levels, n_repeats)
            Ranker -> its scores at each level; only repeats have standard errors.
        level_name, score_name : str
            What the axes are called.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        NoiseCurveDisplay
        """
        at = check_numbers("levels", levels)
        if at.ndim != 1 or len(at) == 0:
            raise ValueError(f"levels has shape {at.shape}; give one number for each level of noise")
        if not scores:
            raise ValueError("scores is empty; give the scores of one ranker or more: {'forest': [...]}")
        order = np.argsort(at, kind="stable")
        tables = {}
        for name, values in scores.items():
            table = check_numbers(f"scores[{name!r}]", values)
            if table.ndim not in (1, 2) or len(table) != len(at) or table.size == 0:
                raise ValueError(
                    f"scores[{name!r}] has shape {table.shape}, but there are {len(at)} levels; give a row for each"
                )
            tables[name] = table.reshape(len(at), -1)[order]
        return cls(at[order], tables, level_name, score_name).plot(ax)

    @property
    def title(self) -> str:
        """What the picture shows, in one line."""
        return "Scores at growing noise"

    def plot(self, ax: Any = None) -> NoiseCurveDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        NoiseCurveDisplay
            The display itself, with ``ax_``, ``figure_``, ``lines_`` and ``legend_`` set.
        """
        self.ax_ = new_axes(3.5, 2.6) if ax is None else ax
        self.figure_ = self.ax_.figure
        self.lines_ = {}
        for number, (name, table) in enumerate(self.scores.items()):
            color, marker = SERIES[number % len(SERIES)]
            repeats = table.shape[1]
            error = table.std(axis=1, ddof=1) / np.sqrt(repeats) if repeats > 1 else None
            self.lines_[name] = self.ax_.errorbar(
                self.levels,
                table.mean(axis=1),
                yerr=error,
                color=color,
                marker=marker,
                # When colors repeat, lines are dashed.
                linestyle=("-", "--", ":")[number // len(SERIES) % 3],
                markersize=4,
                linewidth=1.2,
                elinewidth=0.8,
                capsize=2,
            )
        tidy(self.ax_, x=self.level_name, y=self.score_name)
        self.legend_ = add_legend(self.ax_, list(self.lines_.values()), list(self.lines_))
        self._add_title(ax)
        return self
