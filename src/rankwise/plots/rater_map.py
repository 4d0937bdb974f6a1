"""Map of raters: `RaterMapDisplay`, with the consensus, outliers by name and cliques by color."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankwise._tables import counted
from rankwise._typing import FloatArray
from rankwise.plots._display import Display
from rankwise.plots._style import (
    BLUE,
    LABEL_SIZE,
    LETTER_INCHES,
    MOST_VECTOR_POINTS,
    ORANGE,
    SERIES,
    add_legend_above,
    new_axes,
    short,
    tidy,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

# So many people are named one by one; of more, the outliers.
_MOST_NAMED = 20


class RaterMapDisplay(Display):
    """Map of raters: the closer two points, the more alike their rankings, up to what two dimensions can show.

    Parameters
    ----------
    points : ndarray of shape (n_raters, 2)
        Where the raters lie; NaN for those who are not shown.
    names : sequence of str
        Their names. Up to 20 are shown, of more people those of outliers.
    explained : ndarray of shape (2,)
        Share of the variance that each direction shows.
    consensus : ndarray of shape (2,), optional
        Where the consensus lies.
    cliques : ndarray of shape (n_raters,), optional
        Number of each rater's clique, from 1; 0 for none.
    outliers : ndarray of shape (n_raters,), optional
        Which raters stand apart.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    scatter_ : list of matplotlib PathCollection
        The points: raters of no clique, those of each clique, outliers, the consensus.
    legend_ : matplotlib Legend or None
        What the colors are.

    Examples
    --------
    >>> from rankwise.analysis import raters
    >>> from rankwise.plots import RaterMapDisplay
    >>> found = raters([[1, 2, 3, 4], [1, 2, 4, 3], [2, 1, 3, 4], [4, 3, 2, 1]], ["Ann", "Ben", "Cem", "Dora"])
    >>> RaterMapDisplay.from_result(found)
    RaterMapDisplay: Map of 4 raters
    """

    def __init__(
        self,
        points: FloatArray,
        names: Sequence[str],
        explained: FloatArray,
        *,
        consensus: FloatArray | None = None,
        cliques: Any = None,
        outliers: Any = None,
    ) -> None:
        self.points = points
        self.names = names
        self.explained = explained
        self.consensus = consensus
        self.cliques = cliques
        self.outliers = outliers

    @classmethod
    def from_result(cls, result: Any, *, ax: Any = None) -> RaterMapDisplay:
        """Draw what `rankwise.analysis.raters` found.

        Parameters
        ----------
        result : Raters
            The raters.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        RaterMapDisplay
        """
        return cls(
            result.coordinates,
            result.names,
            result.explained,
            consensus=result.consensus_point,
            cliques=result.clique_of_each(),
            outliers=np.array([bool(kind) for kind in result.kind]),
        ).plot(ax)

    @property
    def title(self) -> str:
        """What the picture shows, in one line."""
        return f"Map of {counted(int(np.isfinite(self.points[:, 0]).sum()), 'rater')}"

    def plot(self, ax: Any = None) -> RaterMapDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        RaterMapDisplay
            The display itself, with ``ax_``, ``figure_``, ``scatter_`` and ``legend_`` set.
        """
        self.ax_ = new_axes(4.4, 3.6) if ax is None else ax
        self.figure_ = self.ax_.figure
        n = len(self.points)
        cliques = np.zeros(n, dtype=int) if self.cliques is None else np.asarray(self.cliques)
        apart = np.zeros(n, dtype=bool) if self.outliers is None else np.asarray(self.outliers)
        style: dict[str, Any] = {"s": 22, "alpha": 0.8, "linewidths": 0, "rasterized": n > MOST_VECTOR_POINTS}
        self.scatter_ = [self.ax_.scatter(*self.points[(cliques == 0) & ~apart].T, color=BLUE, **style)]
        labels = ["rater"]
        others = [look for look in SERIES if look[0] not in (BLUE, ORANGE)]
        for clique in range(1, int(cliques.max(initial=0)) + 1):
            color, marker = others[(clique - 1) % len(others)]
            self.scatter_.append(
                self.ax_.scatter(*self.points[cliques == clique].T, color=color, marker=marker, **style)
            )
            labels.append(f"clique {clique}")
        if apart.any():
            self.scatter_.append(
                self.ax_.scatter(*self.points[apart].T, color=ORANGE, marker="D", **{**style, "s": 30})
            )
            labels.append("outlier")
        if self.consensus is not None:
            self.scatter_.append(self.ax_.scatter(*self.consensus, color="black", marker="*", s=70, linewidths=0))
            labels.append("consensus")
        self.legend_ = add_legend_above(self.ax_, self.scatter_, labels) if len(labels) > 1 else None
        self.ax_.set(xticks=[], yticks=[])
        self.ax_.margins(0.12)
        self._name_points(apart)
        words = [f"direction {i} ({share:.0%} of the variance)" for i, share in enumerate(self.explained, start=1)]
        tidy(self.ax_, x=words[0], y=words[1])
        self._add_title(ax)
        return self

    def _name_points(self, apart: Any) -> None:
        """Write names beside points; raters at the same place share a label."""
        shown = np.isfinite(self.points[:, 0])
        rows = np.flatnonzero(shown if shown.sum() <= _MOST_NAMED else shown & apart)[:_MOST_NAMED]
        places: dict[tuple[float, float], list[str]] = {}
        for row in rows.tolist():
            x, y = np.round(self.points[row], 6).tolist()
            places.setdefault((x, y), []).append(short(self.names[row]))
        # A label stands right of its point, or where it hides neither a point nor another label.
        in_points = 72 / self.figure_.dpi * self.ax_.transData.transform(self.points[shown])
        taken = [(x - 2, y - 2, x + 2, y + 2) for x, y in in_points]
        for place, names in places.items():
            text = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
            width = 72 * LETTER_INCHES * len(text)
            x, y = 72 / self.figure_.dpi * self.ax_.transData.transform(place)
            free = [
                (dx, dy)
                for dx, dy in ((4, 3), (4, -10), (-4 - width, 3), (-4 - width, -10))
                if not any(
                    x + dx < right and left < x + dx + width and y + dy < top and bottom < y + dy + LABEL_SIZE
                    for left, bottom, right, top in taken
                )
            ]
            dx, dy = free[0] if free else (4, 3)
            taken.append((x + dx, y + dy, x + dx + width, y + dy + LABEL_SIZE))
            self.ax_.annotate(
                text,
                place,
                xytext=(dx, dy),
                textcoords="offset points",
                fontsize=LABEL_SIZE,
                color="0.35",
                parse_math=False,
            )
