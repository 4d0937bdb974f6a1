"""FeatureImportanceDisplay: bars of the importances of features in a fitted tree or forest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankwise._typing import FloatArray
from rankwise._validation import check_whole_number
from rankwise.plots._display import Display
from rankwise.plots._style import BLUE, LABEL_SIZE, new_axes_for_rows, short, tidy

_LONGEST_NAME = 32


class FeatureImportanceDisplay(Display):
    """Bars of the importances of features, the most important at the top.

    Parameters
    ----------
    importances : ndarray of shape (n_features,)
        Higher is more important; those of trees and forests add up to 1.
    names : sequence of str
        Names of the features.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    bars_ : matplotlib BarContainer
        The bars, from the most important feature down.

    Examples
    --------
    >>> from rankwise.label_ranking import RankingTree
    >>> from rankwise.plots import FeatureImportanceDisplay
    >>> X, y = [[1, 0], [2, 0], [8, 0], [9, 0]], [[1, 2], [1, 2], [2, 1], [2, 1]]
    >>> FeatureImportanceDisplay.from_estimator(RankingTree().fit(X, y)).importances
    array([1., 0.])
    """

    def __init__(self, importances: FloatArray, names: Sequence[str]) -> None:
        self.importances = importances
        self.names = names

    @classmethod
    def from_estimator(cls, estimator: Any, *, max_features: int = 20, ax: Any = None) -> FeatureImportanceDisplay:
        """Draw the importances of a fitted tree or forest.

        Parameters
        ----------
        estimator : estimator
            Fitted, with ``feature_importances_``, such as `RankingTree` and `RankingForest`.
        max_features : int, default=20
            Most features to draw.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        FeatureImportanceDisplay
        """
        if not hasattr(type(estimator), "feature_importances_"):
            raise TypeError(
                f"{type(estimator).__name__} has no feature_importances_, which trees and forests have; for other "
                "rankers use sklearn.inspection.permutation_importance"
            )
        importances = np.asarray(estimator.feature_importances_)
        names = getattr(estimator, "feature_names_in_", [f"x{number}" for number in range(len(importances))])
        return cls(importances, [str(name) for name in names]).plot(ax, max_features=max_features)

    @property
    def title(self) -> str:
        """What the picture shows, in one line."""
        return "Importance of the features"

    def plot(self, ax: Any = None, *, max_features: int = 20) -> FeatureImportanceDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        max_features : int, default=20
            Most features to draw.

        Returns
        -------
        FeatureImportanceDisplay
            The display itself, with ``ax_``, ``figure_`` and ``bars_`` set.
        """
        most = check_whole_number("max_features", max_features, at_least=1)
        order = np.argsort(-self.importances, kind="stable")[:most]
        names = [short(self.names[feature], _LONGEST_NAME) for feature in order]
        self.ax_ = new_axes_for_rows(names, width=3.2) if ax is None else ax
        self.figure_ = self.ax_.figure
        rows = np.arange(len(order))
        self.bars_ = self.ax_.barh(rows, self.importances[order], color=BLUE, height=0.7)
        n_hidden = len(self.importances) - len(order)
        note = f" ({n_hidden:,} more features left out)" if n_hidden else ""
        tidy(self.ax_, x=f"importance{note}", without=("top", "right", "left"))
        # Names come from the user: a dollar sign does not start a formula.
        self.ax_.set_yticks(rows, labels=names, parse_math=False, fontsize=LABEL_SIZE)
        self.ax_.tick_params(axis="y", length=0)
        self.ax_.invert_yaxis()
        self._add_title(ax)
        return self
