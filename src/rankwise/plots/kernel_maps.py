"""Pictures of a kernel: a map of the rankings (EmbeddingDisplay), and the matrix itself (GramMatrixDisplay)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from rankwise._typing import ArrayLike, FloatArray
from rankwise._validation import check_numbers
from rankwise.plots._display import Display
from rankwise.plots._style import (
    BLUE,
    MOST_VECTOR_POINTS,
    SERIES,
    add_color_bar,
    add_legend_above,
    name_ticks,
    new_axes,
    orange_to_blue,
    short,
    tidy,
)


class EmbeddingDisplay(Display):
    """Map of rankings: the closer two points, the more similar their rankings, up to what two dimensions can show.

    Parameters
    ----------
    points : ndarray of shape (n_samples, 2)
        Where the rankings lie.
    explained : ndarray of shape (2,)
        Share of the variance that each direction shows.
    classes : ndarray of shape (n_samples,), optional
        What colors and markers show: names or numbers of a few classes, or many different numbers.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    scatter_ : list of matplotlib PathCollection
        The points, one collection for each class.
    legend_ : matplotlib Legend or None
        Names of the classes.

    Examples
    --------
    >>> from rankwise.plots import EmbeddingDisplay
    >>> display = EmbeddingDisplay.from_rankings([[1, 2, 3], [1, 3, 2], [3, 2, 1]], classes=["a", "a", "b"])
    >>> display.points.shape
    (3, 2)
    """

    def __init__(self, points: FloatArray, explained: FloatArray, classes: Any = None) -> None:
        self.points = points
        self.explained = explained
        self.classes = classes

    @classmethod
    def from_rankings(
        cls,
        rankings: ArrayLike,
        *,
        classes: ArrayLike = None,
        kernel: Callable[[Any], Any] | None = None,
        ax: Any = None,
    ) -> EmbeddingDisplay:
        """Compute a kernel of rankings, and draw their map.

        Parameters
        ----------
        rankings : array-like of shape (n_rankings, n_items) or Rankings
            Positions: column = item, 1 = best.
        classes : array-like of shape (n_rankings,), optional
            What colors and markers show.
        kernel : callable, optional
            From rankings to their Gram matrix; by default `kendall_kernel`.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        EmbeddingDisplay
        """
        from rankwise.kernels import kendall_kernel

        gram = kendall_kernel(rankings) if kernel is None else kernel(rankings)
        return cls.from_gram(gram, classes=classes, ax=ax)

    @classmethod
    def from_gram(cls, K: ArrayLike, *, classes: ArrayLike = None, ax: Any = None) -> EmbeddingDisplay:
        """Draw the two directions in which points with these inner products differ most (kernel PCA).

        Parameters
        ----------
        K : array-like of shape (n_samples, n_samples)
            Gram matrix of a kernel.
        classes : array-like of shape (n_samples,), optional
            What colors and markers show.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        EmbeddingDisplay
        """
        from sklearn.decomposition import KernelPCA

        gram = _checked_gram(K)
        if len(gram) < 3:
            raise ValueError(f"K has {len(gram)} rows, too few for a map; give three or more")
        # The variance of all directions together, after centering.
        total = float(np.trace(gram) - gram.sum() / len(gram))
        model = KernelPCA(2, kernel="precomputed", random_state=0)
        points = model.fit_transform(gram)
        explained = model.eigenvalues_ / total if total > 0 else np.zeros(2)
        return cls(points, explained, _checked_classes(classes, len(gram))).plot(ax)

    @property
    def title(self) -> str:
        """What the picture shows, in one line."""
        return f"Map of {len(self.points):,} rankings"

    def plot(self, ax: Any = None) -> EmbeddingDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        EmbeddingDisplay
            The display itself, with ``ax_``, ``figure_``, ``scatter_`` and ``legend_`` set.
        """
        self.ax_ = new_axes(3.5, 3.2) if ax is None else ax
        self.figure_ = self.ax_.figure
        self.legend_ = None
        style: dict[str, Any] = {"s": 14, "alpha": 0.75, "linewidths": 0}
        style["rasterized"] = len(self.points) > MOST_VECTOR_POINTS
        names = np.unique(self.classes) if self.classes is not None else np.empty(0)
        if self.classes is None:
            self.scatter_ = [self.ax_.scatter(*self.points.T, color=BLUE, **style)]
        elif len(names) > len(SERIES):
            values = self.classes.astype(np.float64)
            self.scatter_ = [self.ax_.scatter(*self.points.T, c=values, cmap="cividis", **style)]
            add_color_bar(self.ax_, self.scatter_[0], outline=True)
        else:
            self.scatter_ = [
                self.ax_.scatter(*self.points[self.classes == name].T, color=color, marker=marker, **style)
                for name, (color, marker) in zip(names, SERIES, strict=False)
            ]
            self.legend_ = add_legend_above(self.ax_, self.scatter_, names.tolist())
        self.ax_.set(xticks=[], yticks=[])
        self.ax_.set_aspect("equal", adjustable="datalim")
        words = [f"direction {i} ({share:.0%} of the variance)" for i, share in enumerate(self.explained, start=1)]
        tidy(self.ax_, x=words[0], y=words[1])
        self._add_title(ax)
        return self


class GramMatrixDisplay(Display):
    """Heatmap of a kernel matrix, its rows sorted by class: a kernel that tells classes apart shows blocks.

    Parameters
    ----------
    gram : ndarray of shape (n_samples, n_samples)
        The matrix, rows and columns sorted by class.
    classes : sequence, optional
        Names of the classes, in order.
    sizes : sequence of int, optional
        How many rows each has.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    image_ : matplotlib AxesImage
        The cells.

    Examples
    --------
    >>> from rankwise.plots import GramMatrixDisplay
    >>> GramMatrixDisplay.from_gram([[1, 0, 0.5], [0, 1, 0], [0.5, 0, 1]], classes=["a", "b", "a"]).gram
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0. ],
           [0. , 0. , 1. ]])
    """

    def __init__(
        self, gram: FloatArray, classes: Sequence[Hashable] | None = None, sizes: Sequence[int] | None = None
    ) -> None:
        self.gram = gram
        self.classes = classes
        self.sizes = sizes

    @classmethod
    def from_gram(cls, K: ArrayLike, *, classes: ArrayLike = None, ax: Any = None) -> GramMatrixDisplay:
        """Sort by class, and draw.

        Parameters
        ----------
        K : array-like of shape (n_samples, n_samples)
            Gram matrix of a kernel.
        classes : array-like of shape (n_samples,), optional
            The class of each row.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        GramMatrixDisplay
        """
        gram = _checked_gram(K)
        labels = _checked_classes(classes, len(gram), only_few=True)
        if labels is None:
            return cls(gram).plot(ax)
        order = np.argsort(labels, kind="stable")
        names, sizes = np.unique(labels, return_counts=True)
        return cls(gram[np.ix_(order, order)], names.tolist(), sizes.tolist()).plot(ax)

    @property
    def title(self) -> str:
        """What the picture shows, in one line."""
        return f"Similarity of {len(self.gram):,} rankings"

    def plot(self, ax: Any = None) -> GramMatrixDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        GramMatrixDisplay
            The display itself, with ``ax_``, ``figure_`` and ``image_`` set.
        """
        self.ax_ = new_axes(4.4, 3.8, square_cells=True) if ax is None else ax
        self.figure_ = self.ax_.figure
        # If some rankings are less similar than by chance, 0 is the middle of the colors.
        signed = bool(self.gram.min() < 0)
        cmap = orange_to_blue() if signed else "Blues"
        largest = float(np.abs(self.gram).max()) or 1.0
        self.image_ = self.ax_.imshow(
            self.gram, cmap=cmap, vmin=-largest if signed else 0, vmax=largest, interpolation="nearest"
        )
        add_color_bar(self.ax_, self.image_)
        tidy(self.ax_, without=("top", "right", "left", "bottom"))
        if self.classes is None or self.sizes is None:
            self.ax_.set(xticks=[], yticks=[])
            self._add_title(ax)
            return self
        ends = np.cumsum(self.sizes)
        for end in ends[:-1]:
            self.ax_.axhline(end - 0.5, color="black", linewidth=0.8)
            self.ax_.axvline(end - 0.5, color="black", linewidth=0.8)
        middles = ends - np.array(self.sizes) / 2 - 0.5
        for axis in (self.ax_.xaxis, self.ax_.yaxis):
            name_ticks(axis, self.classes, middles.tolist())
        # Names run along their blocks if all of them fit, otherwise across.
        inches = self.ax_.get_window_extent().width / self.figure_.dpi * np.array(self.sizes) / len(self.gram)
        fit = all(0.068 * len(short(name)) < room for name, room in zip(self.classes, inches, strict=True))
        for label in self.ax_.get_yticklabels() if fit else self.ax_.get_xticklabels():
            label.set(rotation=90, va="center" if fit else "top")
        self._add_title(ax)
        return self


def _checked_gram(K: ArrayLike) -> FloatArray:
    gram = check_numbers("K", K)
    if gram.ndim != 2 or gram.shape[0] != gram.shape[1] or len(gram) == 0:
        raise ValueError(
            f"K has shape {gram.shape}; give the square Gram matrix of a kernel, such as kendall_kernel(y)"
        )
    if not np.isfinite(gram).all():
        raise ValueError("K has entries that are not finite; drop rankings that the kernel cannot compare")
    if not np.allclose(gram, gram.T, rtol=1e-5, atol=1e-8):
        raise ValueError("K is not symmetric; give the kernel of the rankings with themselves")
    return gram


def _checked_classes(classes: ArrayLike, n: int, *, only_few: bool = False) -> Any:
    if classes is None:
        return None
    labels = np.asarray(classes)
    if labels.dtype == object:  # perhaps of several types, which cannot be sorted
        labels = labels.astype(str)
    if labels.shape != (n,):
        raise ValueError(f"classes has shape {labels.shape}, but K has {n} rows; give one class for each")
    many = len(np.unique(labels)) > len(SERIES)
    if many and (only_few or not np.issubdtype(labels.dtype, np.number)):
        raise ValueError(
            f"there are {len(np.unique(labels))} classes, more than {len(SERIES)} that can be told apart; merge some"
        )
    return labels
