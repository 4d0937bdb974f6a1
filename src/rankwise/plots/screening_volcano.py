"""ScreeningDisplay: a volcano plot of how well features order the target, and of the evidence for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwise._typing import ArrayLike, BoolArray, FloatArray, RandomState
from rankwise._validation import check_generator, check_numbers, check_whole_number
from rankwise.plots._display import Display
from rankwise.plots._style import BLUE, GRAY, MOST_VECTOR_POINTS, NUMBER_SIZE, ORANGE, new_axes, short, tidy

if TYPE_CHECKING:
    from rankwise.screening import ConcordanceSelector


class ScreeningDisplay(Display):
    r"""Volcano plot of features: concordant divergence from the target against evidence; the best are named.

    At 0 a feature orders the rows as the target does, at 2 in reverse, at 1 it has no relation: the divergence
    :math:`T_0` is divided by what is expected of a random order. The height is either :math:`-\log_{10} p` of
    `concordance_test`, or the stability: the share of random halves of the rows in which the feature is among the best.

    Parameters
    ----------
    divergence : ndarray of shape (n_features,)
        Normalized, from 0 to 2.
    evidence : ndarray of shape (n_features,)
        The height.
    names : sequence of str
        Names of the features, or formulas.
    chosen : ndarray of bool of shape (n_features,)
        Which are drawn in color.
    evidence_name : str
        What the height is.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    others_, chosen_ : matplotlib PathCollection
        The points.
    text_ : list of matplotlib Annotation
        Names of the chosen features of highest evidence, highest first.

    Examples
    --------
    >>> import numpy as np
    >>> from rankwise.plots import ScreeningDisplay
    >>> x = np.arange(40.0)
    >>> ScreeningDisplay.from_features(np.column_stack([x, x % 2, -x]), x**3).divergence.round(1)
    array([0., 1., 2.])
    """

    def __init__(
        self,
        divergence: FloatArray,
        evidence: FloatArray,
        names: Sequence[str],
        chosen: BoolArray,
        evidence_name: str = "-log10 p",
    ) -> None:
        self.divergence = divergence
        self.evidence = evidence
        self.names = names
        self.chosen = chosen
        self.evidence_name = evidence_name

    @classmethod
    def from_estimator(
        cls, selector: ConcordanceSelector, X: ArrayLike, y: ArrayLike, *, n_labels: int = 5, ax: Any = None
    ) -> ScreeningDisplay:
        """Draw all features that a selector screened, with the selected ones in color.

        Parameters
        ----------
        selector : ConcordanceSelector
            Fitted. With ``features`` all expressions are generated again, within the memory that these allow.
        X : array-like of shape (n_samples, n_features)
            What it was fitted to.
        y : array-like of shape (n_samples,)
            The target.
        n_labels : int, default=5
            Most features to name.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ScreeningDisplay
        """
        from sklearn.base import clone

        from rankwise.screening import ConcordanceSelector

        if not isinstance(selector, ConcordanceSelector):
            raise TypeError(
                f"selector is a {type(selector).__name__}, but only a ConcordanceSelector selects by divergence; for "
                "columns see ScreeningDisplay.from_features"
            )
        selected = [str(name) for name in selector.get_feature_names_out()]
        if selector.features is None:
            columns = check_numbers("X", X)
            names = [str(name) for name in getattr(selector, "feature_names_in_", _numbered(columns.shape[1]))]
        else:
            generator = clone(selector.features).fit(X, y)
            columns, names = generator.transform(X), [str(name) for name in generator.get_feature_names_out()]
        divergence, evidence, _ = _tested(columns, y)
        return cls(divergence, evidence, names, np.isin(names, selected)).plot(ax, n_labels=n_labels)

    @classmethod
    def from_features(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        *,
        names: Sequence[str] | None = None,
        alpha: float = 0.05,
        n_labels: int = 5,
        ax: Any = None,
    ) -> ScreeningDisplay:
        """Test features and draw them, with those significant after Benjamini and Hochberg in color.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features, such as `SymbolicFeatures` generates.
        y : array-like of shape (n_samples,)
            Target.
        names : sequence of str, optional
            Names of the features; by default the columns of a data frame, else x0, x1, ...
        alpha : float, default=0.05
            False discovery rate.
        n_labels : int, default=5
            Most features to name.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ScreeningDisplay
        """
        if not 0 < alpha <= 1:
            raise ValueError(f"alpha is {alpha}, but must lie between 0 and 1")
        columns, labels = _named_columns(X, names)
        divergence, evidence, adjusted = _tested(columns, y)
        return cls(divergence, evidence, labels, adjusted <= alpha).plot(ax, n_labels=n_labels)

    @classmethod
    def from_resamples(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        *,
        k: int = 10,
        n_resamples: int = 100,
        names: Sequence[str] | None = None,
        n_labels: int = 5,
        random_state: RandomState = None,
        ax: Any = None,
    ) -> ScreeningDisplay:
        """Screen random halves of the rows, and draw how often each feature is among the best.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features, such as `SymbolicFeatures` generates.
        y : array-like of shape (n_samples,)
            Target.
        k : int, default=10
            Number of features of each half that are the best: those with the smallest two-sided divergence.
        n_resamples : int, default=100
            Number of halves.
        names : sequence of str, optional
            Names of the features; by default the columns of a data frame, else x0, x1, ...
        n_labels : int, default=5
            Most features to name.
        random_state : None, int, Generator or RandomState
            Where the random numbers come from.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ScreeningDisplay
            Features that are among the best in more than half of the halves are in color.

        References
        ----------
        Meinshausen, Bühlmann (2010), Stability selection, Journal of the Royal Statistical Society B 72.
        """
        from rankwise.screening import concordant_divergence

        check_whole_number("k", k, at_least=1)
        check_whole_number("n_resamples", n_resamples, at_least=1)
        columns, labels = _named_columns(X, names)
        target, rng = check_numbers("y", y), check_generator(random_state)
        divergence = np.asarray(concordant_divergence(columns, target, normalize=True))
        stability = np.zeros(len(labels))
        for _ in range(n_resamples):
            rows = rng.permutation(len(target))[: max(3, len(target) // 2)]
            if np.ptp(target[rows]) == 0:
                continue  # nothing can order a constant
            lost = np.asarray(concordant_divergence(columns[rows], target[rows], two_sided=True))
            stability[np.argsort(lost, kind="stable")[:k]] += 1 / n_resamples
        name = f"share of {n_resamples} halves with it among the {k} best"
        return cls(divergence, stability, labels, stability > 0.5, name).plot(ax, n_labels=n_labels)

    @property
    def title(self) -> str:
        """What the picture shows, in one line."""
        return "Features that order the rows as the target does"

    def plot(self, ax: Any = None, *, n_labels: int = 5) -> ScreeningDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        n_labels : int, default=5
            Most features to name.

        Returns
        -------
        ScreeningDisplay
            The display itself, with ``ax_``, ``figure_``, ``others_``, ``chosen_`` and ``text_`` set.
        """
        check_whole_number("n_labels", n_labels, at_least=0)
        self.ax_ = new_axes(3.5, 3.0) if ax is None else ax
        self.figure_ = self.ax_.figure
        style: dict[str, Any] = {"linewidths": 0, "rasterized": len(self.names) > MOST_VECTOR_POINTS}
        plain, chosen = ~self.chosen, self.chosen
        self.others_ = self.ax_.scatter(self.divergence[plain], self.evidence[plain], s=7, color=GRAY, **style)
        self.chosen_ = self.ax_.scatter(self.divergence[chosen], self.evidence[chosen], s=14, color=BLUE, **style)
        self.ax_.axvline(1, color=GRAY, linewidth=0.8, linestyle=":")
        highest = float(self.evidence.max()) or 1.0
        # The right half is shown only if there is something in it.
        right = 2.06 if self.divergence.max() > 1.3 else 1.4
        self.ax_.set(xlim=(-0.06, right), ylim=(-0.03 * highest, 1.08 * highest))
        tidy(self.ax_, x="divergence: 0 same order, 2 reverse", y=self.evidence_name)
        best = self._to_be_named(n_labels)
        # High points are on the left or right, so there is room for names in the middle.
        heights = highest * (1.02 - 0.085 * np.arange(len(best)))
        self.text_ = [
            self.ax_.annotate(
                short(self.names[feature]),
                (self.divergence[feature], self.evidence[feature]),
                (1, height),
                ha="center",
                va="center",
                fontsize=NUMBER_SIZE,
                parse_math=False,
                bbox={"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none"},
                arrowprops={"arrowstyle": "-", "color": ORANGE, "linewidth": 0.6, "shrinkB": 2},
            )
            for feature, height in zip(best, heights, strict=True)
        ]
        self._add_title(ax)
        return self

    def _to_be_named(self, most: int) -> list[int]:
        """Chosen features with the highest evidence; of those at one point, which share an order, the shortest name."""
        chosen = np.flatnonzero(self.chosen)
        points = np.column_stack([self.evidence, self.divergence])[chosen].round(9)
        lengths = np.array([len(self.names[i]) for i in chosen.tolist()])
        order = np.lexsort((lengths, points[:, 1], -points[:, 0]))
        _, first = np.unique(points[order], axis=0, return_index=True)
        return [int(chosen[order[place]]) for place in np.sort(first)[:most]]


def _tested(columns: FloatArray, y: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Normalized divergences, -log10 of p-values (also of those too small for a float), adjusted p-values."""
    from scipy.special import log_ndtr

    from rankwise.screening import concordance_test, concordant_divergence

    found = concordance_test(columns, y)
    evidence = -(log_ndtr(-abs(found.z)) + np.log(2)) / np.log(10)
    divergence = np.asarray(concordant_divergence(columns, y, normalize=True))
    return divergence, evidence.clip(min=0.0), found.adjusted


def _named_columns(X: ArrayLike, names: Sequence[str] | None) -> tuple[FloatArray, list[str]]:
    columns = check_numbers("X", X)
    if columns.ndim != 2:
        raise ValueError(f"X has shape {columns.shape}; give a column for each feature")
    if names is None:
        names = getattr(X, "columns", _numbered(columns.shape[1]))
    if len(names) != columns.shape[1]:
        raise ValueError(f"there are {len(names)} names, but X has {columns.shape[1]} columns; give one for each")
    return columns, [str(name) for name in names]


def _numbered(n: int) -> list[str]:
    return [f"x{i}" for i in range(n)]
