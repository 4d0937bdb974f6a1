"""KernelRanker: kernel ridge regression of embedded rankings."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from rankwise._sklearn import BaseEstimator, Interval, StrOptions
from rankwise._state import FLOATS, MATRIX, NUMBER, Saved, check_shape, ensure, instance, optional
from rankwise._threads import one_thread
from rankwise._typing import BoolArray, FloatArray, IntArray, RandomState
from rankwise._validation import check_generator
from rankwise.data import Rankings
from rankwise.embeddings import KemenyEmbedding, PositionEmbedding, pairwise_from_vectors
from rankwise.label_ranking.base import (
    EMBEDDING_CONSTRAINTS,
    NEEDED_SCALER,
    Embedding,
    LabelRankerMixin,
    check_saved_scaler,
    fitted_scaler,
    has_copies,
    spread_of_differences,
    unfitted_embedding,
)

# Most rows that the median distance is computed from.
_ROWS_FOR_MEDIAN = 500
# Eigenvalues below this share of the largest are rounding errors.
_SMALLEST_EIGENVALUE = 1e-12
# How often unknown coordinates are replaced by their fit.
_N_COMPLETIONS = 20


class KernelRanker(LabelRankerMixin, BaseEstimator):
    r"""Label ranker by kernel ridge regression of rankings embedded as vectors.

    *Definition.* Let :math:`e(\sigma)` be an embedding of rankings, by default that of Kemeny (one coordinate per
    pair: 1 if its first item comes first, 0 if its second does), :math:`\bar e` its weighted mean over the training
    rows and K a kernel on standardized features. The fit is the f in the function space of K that minimizes

    .. math:: \sum_r \omega_r \|e(\sigma_r) - \bar e - f(x_r)\|^2 + \alpha \|f\|_K^2,

    and :math:`\bar e + f(x)` is decoded to a ranking.

    Parameters
    ----------
    kernel : {"laplacian", "rbf", "linear"} or callable, default="laplacian"
        :math:`e^{-\gamma \|x - x'\|_1}`, :math:`e^{-\gamma \|x - x'\|^2}`, the inner product, or a function of two
        matrices of rows that returns the matrix of values.
    alpha : float or sequence of float, default=(0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
        Strength of the penalty, positive. Of several values, the one with the smallest squared leave-one-out error on
        the known coordinates is chosen.
    gamma : float or sequence of float, default=(0.03, 0.1, 0.3, 1.0)
        Parameter of the first two kernels, in units of 1 / median distance (L1 or squared) between training rows; of
        several values, one is chosen together with ``alpha``.
    n_landmarks : int, default=1000
        With more than twice as many rows, the kernel is approximated from this number of them (Nyström); gamma is
        chosen on these rows alone, then alpha on all.
    embedding : {"kemeny", "position"} or an embedding, default="kemeny"
        How rankings become vectors, and which ranking a vector stands for: `KemenyEmbedding`, with one coordinate per
        pair, decoded by the Kemeny median of what is predicted; `PositionEmbedding`, with one per item, for many items;
        or one that uses the similarity of items, `GraphCutEmbedding` or `SubmodularEmbedding`. All but the first are
        decoded by sorting, see the notes.
    random_state : None, int, Generator or RandomState
        Draws the landmarks.

    Attributes
    ----------
    alpha_, gamma_ : float
        The values chosen.
    embedding_ : KemenyEmbedding, PositionEmbedding, GraphCutEmbedding or SubmodularEmbedding
        The fitted embedding.
    spread_ : ndarray of shape (n_items, n_items)
        Root mean square error of the difference of two coordinates; not for the Kemeny embedding.
    loo_errors_ : ndarray of shape (n_gammas, n_alphas)
        Mean squared leave-one-out errors, exact (for the approximated kernel, given the landmarks). Copies of a row are
        left out with it: rows with the same features and the same ranking, if nobody with these features ranks
        otherwise. Where gamma is chosen on the landmarks, errors of the gammas not chosen are of these rows.
    items_ : tuple
        Names of the items.

    Notes
    -----
    All coordinates share one eigendecomposition. What a row does not say (a pair that it does not order, the place of
    an item that it misses) does not count as an error: it starts at its mean and is repeatedly replaced by its fit,
    which approaches the ridge regression of the known coordinates. Graph cut features are means over completions, so
    all are known.

    The full ranking whose embedding is closest to a vector is its Kemeny median for the Kemeny embedding, and the
    sorted order for the position embedding. For graph cuts, sorting gives the ranking whose features, not pooled, have
    the largest inner product with the vector (by Edmonds' greedy algorithm, as a cut is submodular).

    Pairwise probabilities are the predictions of the pairs, clipped to [0, 1], for the Kemeny embedding. For the others
    they are :math:`\Phi(d_{ij} / s_{ij})`, with :math:`d_{ij}` the predicted lead of i over j, and :math:`s_{ij}` the
    root mean square of its leave-one-out errors.

    References
    ----------
    Korba, Garcia, d'Alché-Buc (2018), A structured prediction approach for label ranking.

    Examples
    --------
    >>> from rankwise.label_ranking import KernelRanker
    >>> X, y = [[0], [1], [8], [9]], [[1, 2, 3], [1, 2, 3], [3, 2, 1], [3, 1, 2]]
    >>> KernelRanker().fit(X, y).predict([[0.2]])
    array([[1., 2., 3.]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [StrOptions({"laplacian", "rbf", "linear"}), callable],
        "alpha": [Interval(Real, 0, None, closed="neither"), "array-like"],
        "gamma": [Interval(Real, 0, None, closed="neither"), "array-like"],
        "n_landmarks": [Interval(Integral, 1, None, closed="left")],
        "embedding": EMBEDDING_CONSTRAINTS,
        "random_state": ["random_state", np.random.Generator],
    }

    alpha_: float
    gamma_: float
    loo_errors_: FloatArray

    _saved: ClassVar[Saved] = {
        "_scaler": NEEDED_SCALER,
        "_unit": NUMBER,
        "_centers": MATRIX,
        "_mean": FLOATS,
        "_coefficients": MATRIX,
        "alpha_": NUMBER,
        "gamma_": NUMBER,
        "loo_errors_": MATRIX,
        "embedding_": instance("KemenyEmbedding", "PositionEmbedding", "GraphCutEmbedding"),
        "spread_": optional(MATRIX),
    }

    def __init__(
        self,
        kernel: Any = "laplacian",
        *,
        alpha: float | Sequence[float] = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0),
        gamma: float | Sequence[float] = (0.03, 0.1, 0.3, 1.0),
        n_landmarks: int = 1000,
        embedding: Literal["kemeny", "position"] | Embedding = "kemeny",
        random_state: RandomState = None,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.gamma = gamma
        self.n_landmarks = n_landmarks
        self.embedding = embedding
        self.random_state = random_state

    def _fit_rankings(self, X: FloatArray, y: Rankings) -> None:
        alphas, gammas = _several("alpha", self.alpha), _several("gamma", self.gamma)
        gammas = gammas if self.kernel in ("rbf", "laplacian") else gammas[:1]
        self._scaler = fitted_scaler(X, y)
        rows = self._scaler.transform(X)
        rng = check_generator(self.random_state)
        self._unit = _median_distance(rows, "l1" if self.kernel == "laplacian" else "sqeuclidean")
        self._centers, some = rows, None
        if len(rows) > 2 * self.n_landmarks:
            some = np.sort(rng.choice(len(rows), self.n_landmarks, replace=False))
            self._centers = rows[some]
        self.embedding_: Any = unfitted_embedding(self.embedding).fit(y)
        target = self.embedding_.transform(y)
        known = ~np.isnan(target)
        root = np.sqrt(y.weights)[:, None]
        counts = y.weights @ known
        copies = _copies(X, y.positions)
        self._mean = np.where(counts > 0, y.weights @ np.where(known, target, 0.0) / np.maximum(counts, 1e-300), 0.5)
        centered = root * np.where(known, target - self._mean, 0.0)
        with one_thread():
            errors, tried = np.empty((0, len(alphas))), gammas
            if len(gammas) > 1 and some is not None:
                own = None if copies is None else np.unique(copies[some], return_inverse=True)[1]
                self._choose(rows[some], root[some], gammas, alphas, centered[some], known[some], own)
                errors, tried = self.loo_errors_, gammas[gammas == self.gamma_]
            basis = self._choose(rows, root, tried, alphas, centered, known, copies)
            if len(errors):
                errors[gammas == self.gamma_] = self.loo_errors_
                self.loo_errors_ = errors
            completed = basis.completed(centered, known, self.alpha_)
            self._coefficients = basis.coefficients(completed, self.alpha_)
            if hasattr(self, "_unseen"):
                errors = basis.leave_one_out_errors(completed, basis.U.T @ completed, self.alpha_)
                self._unseen = np.clip((completed - errors) / root + self._mean, 0.0, 1.0)
            if not self._of_pairs:
                errors = basis.leave_one_out_errors(completed, basis.U.T @ completed, self.alpha_) / root
                self.spread_ = spread_of_differences(np.where(known, errors, np.nan), y.weights)

    def _recalls(self) -> bool:
        return self.embedding == "kemeny"

    def _fit_and_recall(self, X: FloatArray, y: Rankings, rows: IntArray) -> FloatArray | None:
        self._unseen = np.empty((0, 0))  # to be kept
        unseen: FloatArray = vars(self.fit(X, y)).pop("_unseen")
        return None if has_copies(X) else unseen[rows]

    @property
    def _of_pairs(self) -> bool:
        return isinstance(self.embedding_, KemenyEmbedding)

    def _choose(
        self,
        rows: FloatArray,
        root: FloatArray,
        gammas: FloatArray,
        alphas: FloatArray,
        target: FloatArray,
        known: BoolArray,
        copies: IntArray | None,
    ) -> _Basis:
        """Choose gamma and alpha by leave-one-out errors; the eigendecomposition for the gamma chosen."""
        self.loo_errors_ = np.empty((len(gammas), len(alphas)))
        best = np.inf
        for g, gamma in enumerate(gammas):
            basis = self._basis(rows, root, gamma)._replace(copies=copies)
            projected = basis.U.T @ target
            for a, alpha in enumerate(alphas):
                errors = basis.leave_one_out_errors(target, projected, alpha)
                self.loo_errors_[g, a] = np.sum(np.where(known, errors, 0.0) ** 2) / known.sum()
                if self.loo_errors_[g, a] < best:
                    best, chosen = self.loo_errors_[g, a], basis
                    self.alpha_, self.gamma_ = float(alpha), float(gamma)
        return chosen

    def _predict_pairwise(self, X: FloatArray) -> FloatArray:
        vectors = self._vectors(X)
        if self._of_pairs:
            return pairwise_from_vectors(vectors)
        from scipy.special import ndtr

        scores = -vectors if isinstance(self.embedding_, PositionEmbedding) else vectors
        decoded = self.embedding_.inverse_transform(vectors)
        tied = decoded[:, :, None] == decoded[:, None, :]
        with np.errstate(divide="ignore", invalid="ignore"):  # a spread of 0 gives 0, 1/2 or 1
            return ndtr(np.where(tied, 0.0, (scores[:, :, None] - scores[:, None, :]) / self.spread_))

    def _predict_positions(self, X: FloatArray) -> FloatArray:
        decoded = self.embedding_.inverse_transform(self._vectors(X))
        if self._of_pairs:
            return decoded
        # Items with equal predictions are ordered as in the mean of the training rows.
        usual = self.embedding_.inverse_transform(self._mean[None])
        order = np.lexsort((np.broadcast_to(usual, decoded.shape), decoded), axis=1)
        np.put_along_axis(decoded, order, np.arange(1.0, decoded.shape[1] + 1)[None], axis=1)
        return decoded

    def _vectors(self, X: FloatArray) -> FloatArray:
        """Predicted embeddings."""
        fitted = self._mean + self._values(self._scaler.transform(X), self.gamma_) @ self._coefficients
        return np.clip(fitted, 0.0, 1.0) if self._of_pairs else fitted

    def _values(self, X: FloatArray, gamma: float) -> FloatArray:
        """Values of the kernel between rows and centers."""
        from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

        if self.kernel == "rbf":
            return rbf_kernel(X, self._centers, gamma=gamma / self._unit)
        if self.kernel == "laplacian":
            return laplacian_kernel(X, self._centers, gamma=gamma / self._unit)
        if self.kernel == "linear":
            return X @ self._centers.T
        return np.asarray(self.kernel(X, self._centers), dtype=np.float64)

    def _basis(self, rows: FloatArray, root: FloatArray, gamma: float) -> _Basis:
        """The eigendecomposition of the weighted kernel of the training rows, K = U diag(values) U'."""
        if len(self._centers) == len(rows):
            values, U = _eigen(root * self._values(rows, gamma) * root.T)
            return _Basis(U, values, root * U)
        # The features of a row are its values at the centers, times R; their inner products approximate the kernel.
        at_centers, R = _eigen(self._values(self._centers, gamma))
        R = R / np.sqrt(at_centers)
        weighted = root * self._values(rows, gamma)
        values, V = _eigen(R.T @ (weighted.T @ weighted) @ R)
        to_rows = R @ V
        return _Basis(weighted @ (to_rows / np.sqrt(values)), values, to_rows * np.sqrt(values))

    def _check_saved(self) -> None:
        k = len(self.items_)
        n_centers, width = self._coefficients.shape
        check_shape(self._centers, (n_centers, self.n_features_in_), "the centers")
        check_shape(self._mean, (width,), "the means")
        ensure(self.embedding_.n_features_in_ == k, "the embedding is of other items")
        of_pairs = isinstance(self.embedding_, KemenyEmbedding)
        ensure(width == (k * (k - 1) // 2 if of_pairs else k), "coefficients are not those of the embedding")
        if not of_pairs:
            ensure(hasattr(self, "spread_"), "the spread is missing")
            check_shape(self.spread_, (k, k), "the spread")
        check_saved_scaler(self)


class _Basis(NamedTuple):
    """Ridge regression on the eigenvectors of a kernel.

    U : (n, r), orthonormal. values : (r,), their eigenvalues. lift : (m, r), such that f = k(., centers) @ lift @ c
    is the function of least norm with values U (values c) at the training rows. copies : (n,), the number of the row
    that each row is a copy of; None if there are no copies.
    """

    U: FloatArray
    values: FloatArray
    lift: FloatArray
    copies: IntArray | None = None

    def leave_one_out_errors(self, target: FloatArray, projected: FloatArray, alpha: float) -> FloatArray:
        """Leave-one-out errors, of all copies of a row at once; ``projected`` is U' target.

        With H the matrix that gives the fit, the errors of the rows g left out are (1 - H_gg)^-1 times their residuals.
        For copies, whose rows of U are multiples of each other, H_gg is the product of the roots of their leverages.
        """
        share = self.values / (self.values + alpha)
        leverage = (self.U**2) @ share
        residual = target - self.U @ (share[:, None] * projected)
        if self.copies is None:
            return residual / np.maximum(1 - leverage, _SMALLEST_EIGENVALUE)[:, None]
        from scipy.sparse import csr_matrix

        root = np.sqrt(leverage)[:, None]
        n = len(root)
        pulled = csr_matrix((root[:, 0], (self.copies, np.arange(n))), shape=(n, n)) @ residual
        rest = np.maximum(1 - np.bincount(self.copies, leverage, n), _SMALLEST_EIGENVALUE)
        return residual + root * (pulled / rest[:, None])[self.copies]

    def completed(self, target: FloatArray, known: BoolArray, alpha: float) -> FloatArray:
        """Targets in which unknown coordinates are replaced by the predictions of the ridge regression."""
        if known.all():
            return target
        share = (self.values / (self.values + alpha))[:, None]
        for _ in range(_N_COMPLETIONS):
            target = np.where(known, target, self.U @ (share * (self.U.T @ target)))
        return target

    def coefficients(self, target: FloatArray, alpha: float) -> FloatArray:
        """Weights of the kernel values at the centers."""
        return self.lift @ ((self.U.T @ target) / (self.values + alpha)[:, None])


def _copies(X: FloatArray, positions: FloatArray) -> IntArray | None:
    """For each row the first one that it is a copy of: same features, same ranking, and no other ranking with these.

    People of a cell of discrete features rank differently; they are not copies. None if every row is its own.
    """
    _, first, cell, size = np.unique(X, axis=0, return_index=True, return_inverse=True, return_counts=True)
    if len(first) == len(X):
        return None
    cell = cell.ravel()
    own = np.where(np.isnan(positions), -1.0, positions)
    differs = np.bincount(cell, (own != own[first[cell]]).any(axis=1)) > 0
    if not ((size > 1) & ~differs).any():
        return None
    return np.asarray(np.where(differs[cell], np.arange(len(X)), first[cell]), dtype=np.intp)


def _several(name: str, values: float | Sequence[float]) -> FloatArray:
    several = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if several.ndim != 1 or not len(several) or not np.all((several > 0) & np.isfinite(several)):
        raise ValueError(f"{name} is {values!r}; give a positive number, or several to choose from")
    return several


def _median_distance(X: FloatArray, metric: str) -> float:
    """Median distance between different rows; 1 where all rows are the same."""
    from sklearn.metrics import pairwise_distances

    rows = X[np.unique(np.linspace(0, len(X) - 1, min(len(X), _ROWS_FOR_MEDIAN)).astype(np.intp))]
    distance = pairwise_distances(rows, metric=metric)
    positive = distance[distance > 0]
    return float(np.median(positive)) if len(positive) else 1.0


def _eigen(matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Positive eigenvalues of a positive semi-definite matrix, and their eigenvectors."""
    from scipy.linalg import eigh

    values, vectors = eigh((matrix + matrix.T) / 2, driver="evd")
    kept = values > max(values[-1], 0.0) * _SMALLEST_EIGENVALUE
    return values[kept], vectors[:, kept]
