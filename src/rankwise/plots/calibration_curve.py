"""PairwiseCalibrationDisplay: whether pairs come out as often as their predicted probabilities say."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwise._typing import ArrayLike, FloatArray
from rankwise._validation import check_numbers, check_whole_number
from rankwise.data import Rankings, check_positions
from rankwise.data.positions import compare_positions
from rankwise.label_ranking.base import check_items
from rankwise.plots._display import Display
from rankwise.plots._style import BLUE, GRAY, LIGHT_GRAY, NUMBER_SIZE, new_axes, percent, tidy


class PairwiseCalibrationDisplay(Display):
    """Predicted probabilities of pairs against observed shares, all pairs of all rows pooled.

    Every pair counts once, by the side that is predicted to come first: of the pairs predicted with 70%, 70% should
    come out as predicted. Points below the diagonal are too sure of themselves, points above not sure enough. Bars at
    the bottom count the pairs. A tie in a ranking counts half; pairs that a ranking does not compare do not count.

    Parameters
    ----------
    predicted, observed : ndarray of shape (n_bins,)
        Mean probability in each bin, and the share that came out as predicted; NaN in empty bins.
    counts : ndarray of shape (n_bins,)
        Weight of the pairs in each bin.
    edges : ndarray of shape (n_bins + 1,)
        Ends of the bins, from 0.5 to 1.

    Attributes
    ----------
    error : float
        Mean distance of predicted and observed over all pairs, the expected calibration error.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    line_ : matplotlib Line2D
        Predicted and observed.
    bars_ : matplotlib BarContainer
        The counts, on ``counts_ax_``, the axis at the right.

    Examples
    --------
    >>> from rankwise.plots import PairwiseCalibrationDisplay
    >>> P = [[[0.5, 0.75], [0.25, 0.5]]] * 4
    >>> display = PairwiseCalibrationDisplay.from_predictions([[1, 2], [1, 2], [2, 1], [1, 2]], P, n_bins=2)
    >>> float(display.error)
    0.0
    """

    def __init__(self, predicted: FloatArray, observed: FloatArray, counts: FloatArray, edges: FloatArray) -> None:
        self.predicted = predicted
        self.observed = observed
        self.counts = counts
        self.edges = edges

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: ArrayLike, y: ArrayLike, *, n_bins: int = 10, ax: Any = None
    ) -> PairwiseCalibrationDisplay:
        """Predict pairs and compare them with rankings.

        Parameters
        ----------
        estimator : label ranker
            Fitted, with ``predict_pairwise``.
        X : array-like of shape (n_samples, n_features)
            Features of rows that it was not fitted to.
        y : array-like of shape (n_samples, n_items) or Rankings
            Their rankings; the weights of Rankings count.
        n_bins : int, default=10
            Bins between 0.5 and 1, of equal width.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        PairwiseCalibrationDisplay
        """
        if not hasattr(estimator, "predict_pairwise"):
            raise TypeError(
                f"{type(estimator).__name__} has no predict_pairwise, as label rankers have; give probabilities to "
                "PairwiseCalibrationDisplay.from_predictions"
            )
        P = estimator.predict_pairwise(X)
        check_items(y, estimator.items_)
        return cls.from_predictions(y, P, n_bins=n_bins, ax=ax)

    @classmethod
    def from_predictions(
        cls, y: ArrayLike, P: ArrayLike, *, n_bins: int = 10, ax: Any = None
    ) -> PairwiseCalibrationDisplay:
        """Compare predicted pairs with rankings.

        Parameters
        ----------
        y : array-like of shape (n_samples, n_items) or Rankings
            The rankings, 1 = best; the weights of Rankings count.
        P : array-like of shape (n_samples, n_items, n_items)
            Probabilities of i (row) before j (column).
        n_bins : int, default=10
            Bins between 0.5 and 1, of equal width.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        PairwiseCalibrationDisplay
        """
        check_whole_number("n_bins", n_bins, at_least=1)
        rankings = Rankings(y if isinstance(y, Rankings) else check_positions(y, name="y"))
        edges = np.linspace(0.5, 1, n_bins + 1)
        probabilities, wanted = check_numbers("P", P), (len(rankings), rankings.n_items, rankings.n_items)
        if probabilities.shape != wanted:
            raise ValueError(
                f"P has shape {probabilities.shape}, but the rankings need {wanted}; give a matrix per row"
            )
        first, second = np.triu_indices(rankings.n_items, 1)
        sides = probabilities[:, first, second]
        if not np.all((sides >= 0) & (sides <= 1)):
            raise ValueError("P has entries that do not lie between 0 and 1; give probabilities of i before j")
        if not np.allclose(sides + probabilities[:, second, first], 1, atol=1e-6):
            raise ValueError("P[:, i, j] + P[:, j, i] is not 1 everywhere; give probabilities of i before j")
        counts, predicted, observed = _binned_pairs(rankings, probabilities, n_bins)
        if not counts.any():
            raise ValueError(
                "y orders no pair, so there is nothing to compare P with; give rankings of two or more items"
            )
        shown = np.divide(predicted, counts, out=np.full(n_bins, np.nan), where=counts > 0)
        seen = np.divide(observed, counts, out=np.full(n_bins, np.nan), where=counts > 0)
        return cls(shown, seen, counts, edges).plot(ax)

    @property
    def error(self) -> float:
        """Mean distance of predicted and observed over all pairs, the expected calibration error."""
        gaps = np.nan_to_num(abs(self.predicted - self.observed))
        return float(np.average(gaps, weights=self.counts))

    @property
    def title(self) -> str:
        """What the picture shows, in one line."""
        return "Predicted and observed order of pairs"

    def plot(self, ax: Any = None) -> PairwiseCalibrationDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        PairwiseCalibrationDisplay
            The display itself, with ``ax_``, ``figure_``, ``line_``, ``counts_ax_`` and ``bars_`` set.
        """
        self.ax_ = new_axes(3.5, 3.0) if ax is None else ax
        self.figure_ = self.ax_.figure
        self.counts_ax_ = self.ax_.twinx()
        middles, widths = (self.edges[:-1] + self.edges[1:]) / 2, np.diff(self.edges)
        self.bars_ = self.counts_ax_.bar(middles, self.counts, width=0.92 * widths, color=LIGHT_GRAY)
        highest = float(self.counts.max())
        self.counts_ax_.set_ylim(0, 4 * highest)
        self.counts_ax_.set_yticks([0, highest], labels=["0", f"{highest:,.4g}\npairs"])
        # Draw points in front of the bars.
        self.ax_.set_zorder(self.counts_ax_.get_zorder() + 1)
        self.ax_.patch.set_visible(False)
        known = ~np.isnan(self.predicted)
        self.ax_.plot([0.5, 1], [0.5, 1], color=GRAY, linewidth=0.8, linestyle="--")
        (self.line_,) = self.ax_.plot(self.predicted[known], self.observed[known], "o-", color=BLUE, markersize=4)
        lowest = min(0.4, float(np.nanmin(self.observed)) - 0.05)
        self.ax_.set(xlim=(0.49, 1.01), ylim=(lowest, 1.02))
        for axis in (self.ax_.xaxis, self.ax_.yaxis):
            axis.set_major_formatter(percent())
        tidy(self.ax_, x="predicted probability of the likelier order", y="pairs in that order", without=("top",))
        tidy(self.counts_ax_, without=("top",))
        self.counts_ax_.spines["right"].set_visible(True)
        words = f"{self.counts.sum():,.6g} pairs\nmean gap {self.error:.1%}"
        self.ax_.text(0.04, 0.96, words, transform=self.ax_.transAxes, va="top", fontsize=NUMBER_SIZE)
        self._add_title(ax)
        return self


def _binned_pairs(rankings: Rankings, P: FloatArray, n_bins: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weight of the pairs in each bin, and sums of their probabilities and of those that came out as predicted."""
    sums = np.zeros((3, n_bins))
    positions, weights = rankings.positions, rankings.weights
    for i in range(rankings.n_items - 1):  # one item against all later ones, to bound memory
        p = P[:, i, i + 1 :]
        first = compare_positions(positions[:, [i]], positions[:, i + 1 :])
        known = ~np.isnan(first)
        # With probability 0.5 neither order is the likelier one, and the pair counts half.
        agrees = np.where(p > 0.5, first, np.where(p < 0.5, 1 - first, 0.5))[known]
        likelier = np.maximum(p, 1 - p)[known]
        weight = np.broadcast_to(weights[:, np.newaxis], p.shape)[known]
        place = np.minimum(((likelier - 0.5) * 2 * n_bins).astype(np.intp), n_bins - 1)
        for row, amount in enumerate((weight, weight * likelier, weight * agrees)):
            sums[row] += np.bincount(place, amount, n_bins)
    return sums[0], sums[1], sums[2]
