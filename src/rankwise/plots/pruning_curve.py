"""PruningPathDisplay: how far a tree should be pruned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankwise._typing import ArrayLike, FloatArray, IntArray
from rankwise._validation import check_real_number
from rankwise.plots._display import Display
from rankwise.plots._style import (
    BLUE,
    GRAY,
    NUMBER_SIZE,
    ORANGE,
    add_legend_above,
    new_axes,
    tidy,
)

if TYPE_CHECKING:
    from rankwise.label_ranking import RankingTree
    from rankwise.trees import LeastSquaresTree
    from rankwise.trees.pruning import PruningPath


class PruningPathDisplay(Display):
    """Error and size of the subtrees of a tree that growing penalties per leaf choose.

    The error on the training rows can only rise as the tree shrinks; the cross-validated error falls first, as long as
    leaves fit noise. A dashed line marks the penalty that was used.

    Parameters
    ----------
    alphas : ndarray of shape (n_subtrees,)
        The penalty from which on each subtree is the best, in increasing order.
    n_leaves : ndarray of shape (n_subtrees,)
        Leaves of each.
    errors : ndarray of shape (n_subtrees,)
        Error of each on the training rows, per row: dispersion for ranking trees, otherwise squared error.
    cv_errors : ndarray of shape (n_subtrees,), optional
        The same on held-out rows.
    chosen : float, optional
        The penalty that was used.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    errors_, cv_errors_ : matplotlib Line2D
        The two curves; the second is None without cross-validation.
    chosen_ : matplotlib Line2D or None
        The dashed line.
    leaves_ax_ : matplotlib Axes
        The axis of the leaves, at the right.
    leaves_ : matplotlib Line2D
        The number of leaves, in steps.

    Examples
    --------
    >>> from rankwise.label_ranking import RankingTree
    >>> from rankwise.plots import PruningPathDisplay
    >>> X, y = [[1], [2], [8], [9]], [[1, 2, 3], [1, 2, 3], [3, 2, 1], [3, 1, 2]]
    >>> PruningPathDisplay.from_estimator(RankingTree().fit(X, y), X, y).n_leaves
    array([3, 2, 1])
    """

    def __init__(
        self,
        alphas: FloatArray,
        n_leaves: IntArray,
        errors: FloatArray,
        cv_errors: FloatArray | None = None,
        chosen: float | None = None,
    ) -> None:
        self.alphas = alphas
        self.n_leaves = n_leaves
        self.errors = errors
        self.cv_errors = cv_errors
        self.chosen = chosen

    @classmethod
    def from_estimator(
        cls, tree: RankingTree | LeastSquaresTree, X: ArrayLike = None, y: ArrayLike = None, *, ax: Any = None
    ) -> PruningPathDisplay:
        """Draw the path of a fitted tree.

        Parameters
        ----------
        tree : RankingTree or LeastSquaresTree
            Fitted. With ``ccp_alpha="cv"`` the cross-validated errors are drawn too.
        X, y : array-like, optional
            The training rows, on which the tree is grown again; not needed with ``ccp_alpha="cv"``.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        PruningPathDisplay
        """
        from sklearn.utils.validation import check_is_fitted

        from rankwise.label_ranking import RankingTree
        from rankwise.trees import LeastSquaresTree

        if not isinstance(tree, RankingTree | LeastSquaresTree):
            raise TypeError(f"tree is a {type(tree).__name__}, but only a RankingTree or LeastSquaresTree is pruned")
        check_is_fitted(tree)
        found = getattr(tree, "cv_results_", None)  # trees saved by earlier versions have none
        if found is not None:
            known = found["ccp_alpha"], found["n_leaves"], found["training_error"], found["test_error"]
            return cls(*known, tree.ccp_alpha_).plot(ax)
        if X is None or y is None:
            raise ValueError("a tree does not keep what was pruned; give X and y, or fit it with ccp_alpha='cv'")
        return cls.from_path(tree.cost_complexity_pruning_path(X, y), chosen=tree.ccp_alpha_ or None, ax=ax)

    @classmethod
    def from_path(cls, path: PruningPath, *, chosen: float | None = None, ax: Any = None) -> PruningPathDisplay:
        """Draw a path that was computed before.

        Parameters
        ----------
        path : PruningPath
            What ``cost_complexity_pruning_path`` returned.
        chosen : float, optional
            A penalty to mark.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        PruningPathDisplay
        """
        if chosen is not None:
            check_real_number("chosen", chosen)
        return cls(path.alphas, path.n_leaves, path.errors, chosen=chosen).plot(ax)

    @property
    def title(self) -> str:
        """What the picture shows, in one line."""
        return "Error and size of the pruned tree"

    def plot(self, ax: Any = None) -> PruningPathDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        PruningPathDisplay
            The display itself, with ``ax_``, ``figure_`` and the lines set.
        """
        self.ax_ = new_axes(3.9, 2.7) if ax is None else ax
        self.figure_ = self.ax_.figure
        self.leaves_ax_ = self.ax_.twinx()
        (self.leaves_,) = self.leaves_ax_.step(self.alphas, self.n_leaves, where="post", color=GRAY, linewidth=1)
        lines, names = [self.leaves_], ["leaves (right)"]
        # A subtree is the best up to the next penalty; cross-validation knows only the penalties that it tried.
        step = {"drawstyle": "steps-post"} if self.cv_errors is None else {"marker": "o", "markersize": 2.5}
        (self.errors_,) = self.ax_.plot(self.alphas, self.errors, color=BLUE, **step)
        self.cv_errors_ = None
        if self.cv_errors is not None:
            (self.cv_errors_,) = self.ax_.plot(self.alphas, self.cv_errors, "^-", color=ORANGE, markersize=3)
            lines, names = [self.cv_errors_, *lines], ["cross-validation", *names]
        lines, names = [self.errors_, *lines], ["training rows", *names]
        self.chosen_ = None
        if self.chosen is not None:
            self.chosen_ = self.ax_.axvline(self.chosen, color="black", linewidth=0.9, linestyle="--")
            lines, names = [*lines, self.chosen_], [*names, f"chosen: {self.chosen:.3g}"]
        self._scale()
        tidy(self.ax_, x="penalty per leaf (alpha)", y="error per row", without=("top",))
        tidy(self.leaves_ax_, y="leaves", without=("top",))
        self.leaves_ax_.spines["right"].set_visible(True)
        self.leaves_ax_.yaxis.label.set_color("0.35")
        self.leaves_ax_.tick_params(axis="y", labelsize=NUMBER_SIZE, colors="0.35")
        add_legend_above(self.ax_, lines, names)
        self._add_title(ax)
        return self

    def _scale(self) -> None:
        """Penalties and leaves span powers of ten; the penalty 0 is left of the smallest other one."""
        from matplotlib.ticker import FuncFormatter, MaxNLocator

        positive = self.alphas[self.alphas > 0]
        if len(positive):
            least, most = float(positive[0]), float(positive[-1])
            self.ax_.set_xscale("symlog", linthresh=least, linscale=0.5)
            self.ax_.set_xlim(-0.1 * least, 1.5 * most)
            ticks = np.outer(10.0 ** np.arange(np.floor(np.log10(least)), np.log10(most) + 1), [1, 3]).ravel()
            shown = [0.0, *ticks[(ticks > 1.5 * least) & (ticks <= 1.5 * most)]]
            shown = shown if len(shown) > 2 else [0.0, float(f"{most:.2g}")]
            self.ax_.set_xticks(shown, labels=[f"{alpha:g}" for alpha in shown])
        if np.max(self.n_leaves) > 10:
            self.leaves_ax_.set_yscale("log")
        else:
            self.leaves_ax_.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        self.leaves_ax_.yaxis.set_major_formatter(FuncFormatter(lambda count, _: f"{count:,.0f}"))
