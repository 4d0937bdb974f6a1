"""PairExplanationDisplay: bars of what each feature adds to the prediction that one item comes before another."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import numpy as np

from rankwise._typing import ArrayLike
from rankwise._validation import check_whole_number
from rankwise.label_ranking import PairExplanation
from rankwise.ltr import ScoreExplanation
from rankwise.plots._display import Display
from rankwise.plots._style import BLUE, GRAY, ORANGE, name_rows, new_axes_for_rows, short, tidy

_LONGEST_NAME = 32


class PairExplanationDisplay(Display):
    """Bars of what each feature adds for one item against another, the largest at the top.

    Of one row, bars to the right (blue) speak for the first item, and bars to the left (orange) for the second. Of
    several rows, bars are the mean sizes.

    Parameters
    ----------
    explanation : PairExplanation
        What ``explain`` of a tree, a forest or a boosted ranker returns.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    bars_ : matplotlib BarContainer
        The bars, from the top down.

    Examples
    --------
    >>> from rankwise.label_ranking import RankingTree
    >>> from rankwise.plots import PairExplanationDisplay
    >>> X, y = [[1, 0], [2, 0], [8, 0], [9, 0]], [[1, 2], [1, 2], [2, 1], [2, 1]]
    >>> display = PairExplanationDisplay.from_estimator(RankingTree().fit(X, y), [[1, 0]], 0, 1)
    >>> display.explanation.values
    array([[0.5, 0. ]])
    """

    def __init__(self, explanation: PairExplanation) -> None:
        self.explanation = explanation

    @classmethod
    def from_explanation(
        cls,
        explanation: PairExplanation | ScoreExplanation,
        *,
        pair: tuple[str, str] | None = None,
        max_features: int = 12,
        ax: Any = None,
    ) -> PairExplanationDisplay:
        """Draw an explanation.

        Parameters
        ----------
        explanation : PairExplanation or ScoreExplanation
            What ``explain`` returned; ``explanation[0]`` is that of the first row for a label ranker.
        pair : tuple of str, optional
            What the picture calls the two; documents have no other names than their rows by default.
        max_features : int, default=12
            Most features to draw.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        PairExplanationDisplay
        """
        if isinstance(explanation, ScoreExplanation):
            explanation = _of_rows(explanation)
        if not isinstance(explanation, PairExplanation):
            raise TypeError(
                f"explanation is a {type(explanation).__name__}; give what explain of a label ranker or a query ranker "
                "returns"
            )
        return cls(explanation if pair is None else replace(explanation, pair=pair)).plot(ax, max_features=max_features)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: ArrayLike, i: Hashable, j: Hashable, *, max_features: int = 12, ax: Any = None
    ) -> PairExplanationDisplay:
        """Explain rows, and draw it.

        Parameters
        ----------
        estimator : label ranker
            Fitted, with ``explain``: a tree, a forest or a boosted ranker.
        X : array-like of shape (n_samples, n_features)
            Features of the rows.
        i, j : item
            Names of two items.
        max_features : int, default=12
            Most features to draw.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        PairExplanationDisplay
        """
        if not hasattr(estimator, "explain"):
            raise TypeError(
                f"{type(estimator).__name__} has no explain; RankingTree, RankingForest and BoostedRanker have"
            )
        return cls.from_explanation(estimator.explain(X, i, j), max_features=max_features, ax=ax)

    @property
    def title(self) -> str:
        """What the picture shows, in one line."""
        first, second = (short(name) for name in self.explanation.pair)
        if len(self.explanation) != 1:
            return f"What moves {first} against {second}"
        return f"{first} before {second}: {self.explanation.output} {self.explanation.prediction[0]:.2f}"

    def plot(self, ax: Any = None, *, max_features: int = 12) -> PairExplanationDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        max_features : int, default=12
            Most features to draw.

        Returns
        -------
        PairExplanationDisplay
            The display itself, with ``ax_``, ``figure_`` and ``bars_`` set.
        """
        most = check_whole_number("max_features", max_features, at_least=1)
        found = self.explanation
        is_one = len(found) == 1
        effects = found.values[0] if is_one else np.abs(found.values).mean(axis=0)
        order = np.argsort(-np.abs(effects), kind="stable")[:most]
        texts = found.input_texts(0) if is_one else None
        names = [
            short(found.features[f] if texts is None else f"{found.features[f]} = {texts[f]}", _LONGEST_NAME)
            for f in order
        ]
        self.ax_ = new_axes_for_rows(names, width=3.6) if ax is None else ax
        self.figure_ = self.ax_.figure
        colors = [BLUE if effects[f] >= 0 else ORANGE for f in order]
        self.bars_ = self.ax_.barh(np.arange(len(order)), effects[order], color=colors, height=0.7)
        self.ax_.axvline(0, color=GRAY, linewidth=1, zorder=0)
        hidden = len(effects) - len(order)
        note = f"\n({hidden:,} more features left out)" if hidden else ""
        base = f", from {found.base_value:.2f} where nothing is known" if is_one else ""
        measure = "adds to" if is_one else "mean size in"
        tidy(self.ax_, x=f"{measure} the {found.output}{base}{note}", without=("top", "right", "left"))
        name_rows(self.ax_, names)
        self._add_title(ax)
        return self


def _of_rows(explanation: ScoreExplanation) -> PairExplanation:
    """The explanation of two rows of a query as one of two items; of their features, the bars show the first row's."""
    i, j = explanation.rows
    return PairExplanation(
        explanation.effects[None],
        0.0,
        np.array([explanation.scores[0] - explanation.scores[1]]),
        explanation.names,
        (f"row {i}", f"row {j}"),
        "difference of scores",
        explanation.inputs[:1],
    )
