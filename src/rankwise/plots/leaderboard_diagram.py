"""The critical difference diagram: which rankers of a leaderboard can be told apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import ceil
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rankwise._typing import ArrayLike, BoolArray, FloatArray
from rankwise._validation import check_numbers, check_open_share
from rankwise.data import midranks, positions_from_scores
from rankwise.plots._display import Display
from rankwise.plots._style import BLUE, LABEL_SIZE, NUMBER_SIZE, short

if TYPE_CHECKING:
    from rankwise.model_selection import Leaderboard


# Sizes in inches: a letter, a line of names, a bar, the places between the first and the last, and the title.
_LETTER, _LINE, _BAR, _SCALE, _TITLE = 0.074, 0.21, 0.1, 2.0, 0.35
_TESTS = ("nemenyi", "wilcoxon")


class CriticalDifferenceDisplay(Display):
    """Mean places of rankers over many data sets; a bar joins those that the data do not tell apart.

    Parameters
    ----------
    names : sequence of str
        The rankers, best first.
    mean_places : ndarray of shape (n_rankers,)
        Mean place of each over the data sets, 1 = best; ties share the mean of their places.
    groups : sequence of (int, int)
        First and last ranker of each group in which no two differ significantly; only groups of two or more, and none
        within another.
    caption : str, default=""
        Stands below.
    critical_difference : float, optional
        By how much mean places must differ, for Nemenyi's test.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    stems_ : matplotlib LineCollection
        The lines from the scale to the names, best ranker first.
    bars_ : matplotlib LineCollection
        The groups, in their order.
    ruler_ : matplotlib Line2D or None
        The critical difference.
    text_ : list of matplotlib Text
        Names and mean places, best ranker first.

    References
    ----------
    Demšar (2006), Statistical comparisons of classifiers over multiple data sets, Journal of Machine Learning Research
    7.

    Examples
    --------
    >>> from rankwise.plots import CriticalDifferenceDisplay
    >>> scores = {"forest": [0.9, 0.8, 0.9, 0.7], "tree": [0.7, 0.7, 0.8, 0.6], "guess": [0.1, 0.2, 0.1, 0.3]}
    >>> display = CriticalDifferenceDisplay.from_scores(scores)
    >>> display.mean_places, display.groups
    (array([1., 2., 3.]), [(0, 1), (1, 2)])
    """

    def __init__(
        self,
        names: Sequence[str],
        mean_places: FloatArray,
        groups: Sequence[tuple[int, int]],
        caption: str = "",
        critical_difference: float | None = None,
    ) -> None:
        self.names = names
        self.mean_places = mean_places
        self.groups = groups
        self.caption = caption
        self.critical_difference = critical_difference

    @classmethod
    def from_scores(
        cls,
        scores: Mapping[str, ArrayLike],
        *,
        test: Literal["nemenyi", "wilcoxon"] = "nemenyi",
        alpha: float = 0.05,
        ax: Any = None,
    ) -> CriticalDifferenceDisplay:
        r"""Test which rankers differ, and draw.

        *Definition.* Friedman's test asks whether the places of the rankers differ at all; if it does not reject, all
        are one group. Else two of k rankers on N data sets differ, by Nemenyi's test, if their mean places are
        :math:`q_\alpha \sqrt{k (k + 1) / (6 N)}` apart, where :math:`q_\alpha` is the quantile of the studentized range
        over :math:`\sqrt 2`; or, by Wilcoxon's signed-rank test of their scores, if its p-value, corrected for the
        number of pairs by Holm's method, is at most alpha.

        Parameters
        ----------
        scores : mapping of str to array-like of shape (n_data_sets,), or data frame
            Ranker -> its score on each data set, higher is better. Data sets should be independent, which folds of one
            data set are not; for queries of one collection see `compare`.
        test : {"nemenyi", "wilcoxon"}, default="nemenyi"
            Which test. Nemenyi's depends on the other rankers in the list, Wilcoxon's does not.
        alpha : float, default=0.05
            Level of the tests.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        CriticalDifferenceDisplay
        """
        if test not in _TESTS:
            raise ValueError(f"test is {test!r}; choose one of {_TESTS}")
        check_open_share("alpha", alpha)
        table, names = _checked_table(scores)
        n, k = table.shape
        places = midranks(positions_from_scores(table)).mean(axis=0)
        order = np.argsort(places, kind="stable")
        table, places = table[:, order], places[order]
        p_value = _friedman(table)
        critical = None
        if test == "nemenyi":
            critical = critical_difference(k, n, alpha)
            differ = abs(places[:, np.newaxis] - places) >= critical
        else:
            differ = _wilcoxon(table) <= alpha
        groups = [(0, k - 1)] if p_value > alpha else _groups(differ)
        caption = f"{n:,} data sets; Friedman's test: p = {p_value:.2g}" + ("" if critical else "; Wilcoxon, Holm")
        return cls([names[ranker] for ranker in order], places, groups, caption, critical).plot(ax)

    @classmethod
    def from_leaderboards(
        cls,
        leaderboards: Sequence[Leaderboard],
        *,
        test: Literal["nemenyi", "wilcoxon"] = "nemenyi",
        alpha: float = 0.05,
        ax: Any = None,
    ) -> CriticalDifferenceDisplay:
        """Test which rankers differ by their mean Kendall tau on several data sets, and draw.

        Parameters
        ----------
        leaderboards : sequence of Leaderboard
            What `rankwise.model_selection.leaderboard` returned for each data set, of the same rankers.
        test, alpha, ax
            As in `from_scores`.

        Returns
        -------
        CriticalDifferenceDisplay
        """
        from rankwise.model_selection import Leaderboard

        leaderboards = list(leaderboards)
        for number, board in enumerate(leaderboards):
            if not isinstance(board, Leaderboard):
                raise TypeError(f"leaderboards[{number}] is {board!r}; give what model_selection.leaderboard returned")
        boards = [dict(zip(board.names, board.means.tolist(), strict=True)) for board in leaderboards]
        names = list(boards[0]) if boards else []
        for number, means in enumerate(boards):
            if set(means) != set(names):
                raise ValueError(
                    f"leaderboard {number} has the rankers {', '.join(means)}, the first {', '.join(names)}"
                )
        return cls.from_scores(
            {name: [means[name] for means in boards] for name in names}, test=test, alpha=alpha, ax=ax
        )

    @property
    def title(self) -> str:
        """What the picture shows, in one line."""
        return f"Mean places of {len(self.names)} rankers"

    def plot(self, ax: Any = None) -> CriticalDifferenceDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default, large enough to read.

        Returns
        -------
        CriticalDifferenceDisplay
            The display itself, with ``ax_``, ``figure_``, ``stems_``, ``bars_``, ``ruler_`` and ``text_`` set.
        """
        from matplotlib.collections import LineCollection

        k = len(self.names)
        left = (k + 1) // 2
        words = [f"{short(name)}  {place:.2f}" for name, place in zip(self.names, self.mean_places, strict=True)]
        margins = [_LETTER * max(map(len, part), default=0) + 0.1 for part in (words[:left], words[left:])]
        scale_at = 0.75 if self.critical_difference is not None else 0.4
        names_at = scale_at + _BAR * (len(self.groups) + 1) + 0.12
        height = names_at + _LINE * left + (0.28 if self.caption else 0.05)
        needed = _SCALE + sum(margins) + 0.2
        self.ax_ = _new_axes(max(needed, 3.8), height) if ax is None else ax
        self.figure_ = self.ax_.figure
        # Inches, where there is room for them; places are stretched over what the names leave.
        width = max(needed, self.ax_.get_window_extent().width / self.figure_.dpi)
        self.ax_.set(xlim=(0, width), ylim=(height, 0))
        self.ax_.set_axis_off()
        start, end = margins[0] + 0.1, width - margins[1] - 0.1

        def across(place: Any) -> Any:
            return start + (place - 1) / (k - 1) * (end - start)

        self._draw_scale(across, k, scale_at)
        rows = [names_at + _LINE * (i if i < left else k - 1 - i) for i in range(k)]
        ends = [margins[0] if i < left else width - margins[1] for i in range(k)]
        elbows = [
            [(across(place), scale_at), (across(place), row), (edge, row)]
            for place, row, edge in zip(self.mean_places, rows, ends, strict=True)
        ]
        self.stems_ = LineCollection(elbows, colors="0.35", linewidths=0.9)
        self.ax_.add_collection(self.stems_)
        style: dict[str, Any] = {"va": "center", "fontsize": LABEL_SIZE, "parse_math": False}
        self.text_ = [
            self.ax_.text(edge + (-0.04 if i < left else 0.04), row, text, ha="right" if i < left else "left", **style)
            for i, (edge, row, text) in enumerate(zip(ends, rows, words, strict=True))
        ]
        bars = [
            [(across(self.mean_places[a]) - 0.03, y), (across(self.mean_places[b]) + 0.03, y)]
            for y, (a, b) in zip(scale_at + _BAR * np.arange(1, len(self.groups) + 1), self.groups, strict=True)
        ]
        self.ruler_ = None
        if self.critical_difference is not None:
            ends_of_ruler = [start, start + self.critical_difference / (k - 1) * (end - start)]
            (self.ruler_,) = self.ax_.plot(ends_of_ruler, [0.3, 0.3], "|-", color="black", linewidth=1.2, markersize=5)
            caption = f"critical difference {self.critical_difference:.2f}"
            self.ax_.text(start, 0.22, caption, ha="left", va="bottom", fontsize=NUMBER_SIZE)
        self.bars_ = LineCollection(bars, colors=BLUE, linewidths=3, capstyle="butt")
        self.ax_.add_collection(self.bars_)
        self.ax_.text(width / 2, height - 0.04, self.caption, ha="center", va="bottom", fontsize=NUMBER_SIZE)
        self._add_title(ax)
        return self

    def _draw_scale(self, across: Any, k: int, y: float) -> None:
        self.ax_.plot([across(1), across(k)], [y, y], color="black", linewidth=0.9)
        for place in range(1, k + 1, ceil(k / 12)):
            self.ax_.plot([across(place)] * 2, [y - 0.06, y], color="black", linewidth=0.9)
            self.ax_.text(across(place), y - 0.09, f"{place}", ha="center", va="bottom", fontsize=NUMBER_SIZE)


def critical_difference(n_rankers: int, n_data_sets: int, alpha: float) -> float:
    """By how much mean places must differ, by Nemenyi's test."""
    from scipy.stats import studentized_range

    q = studentized_range.ppf(1 - alpha, n_rankers, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_rankers * (n_rankers + 1) / (6 * n_data_sets)))


def _checked_table(scores: Mapping[str, ArrayLike]) -> tuple[FloatArray, list[str]]:
    if not hasattr(scores, "items"):
        raise TypeError(f"scores is of type {type(scores).__name__}; name the rankers: {{'forest': ..., 'tree': ...}}")
    columns = {str(name): check_numbers(f"scores[{name!r}]", values) for name, values in scores.items()}
    if len(columns) < 3:
        raise ValueError(f"there are scores of {len(columns)} rankers; give three or more, and two to compare")
    shapes = {name: values.shape for name, values in columns.items()}
    if len(set(shapes.values())) > 1 or any(len(shape) != 1 for shape in shapes.values()):
        raise ValueError(f"every ranker needs one score for each data set, in the same order; there are {shapes}")
    table = np.column_stack(list(columns.values()))
    if len(table) < 2:
        raise ValueError(f"there are scores on {len(table)} data sets, too few for a test; give two or more")
    for name, values in columns.items():
        if not np.isfinite(values).all():
            place = int(np.flatnonzero(~np.isfinite(values))[0])
            raise ValueError(f"scores[{name!r}][{place}] is {values[place]}; leave this data set out for all rankers")
    return table, list(columns)


def _friedman(table: FloatArray) -> float:
    from scipy.stats import friedmanchisquare

    if np.all(table == table[:, :1]):
        return 1.0
    return float(friedmanchisquare(*table.T).pvalue)


def _wilcoxon(table: FloatArray) -> FloatArray:
    """Corrected p-values of all pairs; 1 on the diagonal."""
    from scipy.stats import wilcoxon

    from rankwise.model_selection.comparison import holm

    k = table.shape[1]
    pairs = list(combinations(range(k), 2))
    differences = [table[:, a] - table[:, b] for a, b in pairs]
    # Data sets on which two rankers are equal speak half for each, as in the paper.
    raw = [wilcoxon(d, zero_method="zsplit").pvalue if d.any() else 1.0 for d in differences]
    p = np.ones((k, k))
    for (a, b), corrected in zip(pairs, holm(np.array(raw)), strict=True):
        p[a, b] = p[b, a] = corrected
    return p


def _groups(differ: BoolArray) -> list[tuple[int, int]]:
    """Longest runs of rankers, in order of their mean places, in which no two differ."""
    found: list[tuple[int, int]] = []
    for first in range(len(differ)):
        last = first
        while last + 1 < len(differ) and not differ[first : last + 2, first : last + 2].any():
            last += 1
        if last > first and (not found or last > found[-1][1]):
            found.append((first, last))
    return found


def _new_axes(width: float, height: float) -> Any:
    import matplotlib.pyplot as plt

    page = height + _TITLE
    return plt.figure(figsize=(width, page)).add_axes((0, 0, 1, height / page))
