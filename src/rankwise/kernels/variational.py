"""VariationalClassifier: Gaussian process classification with any scikit-learn kernel, by maximizing the ELBO.

The paper on graph cut kernels trains its classifiers this way. scikit-learn's GaussianProcessClassifier takes the
Laplace approximation, which is faster and gives no lower bound on the evidence. Everything here is dense: time grows
with the cube of the number of rows, memory with its square.
"""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.optimize import minimize
from scipy.special import log_ndtr, ndtr
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import ConstantKernel, Kernel
from sklearn.utils.validation import check_is_fitted, validate_data

from rankwise._sklearn import BaseEstimator, Interval
from rankwise._typing import ArrayLike, FloatArray, RandomState
from rankwise._validation import check_generator
from rankwise.kernels.gram import MAX_BYTES, check_gram
from rankwise.kernels.objects import KendallKernel

# Nodes of Gauss-Hermite quadrature, for means of smooth functions of one normal variable.
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(32)
_WEIGHTS = _WEIGHTS / np.sqrt(2 * np.pi)
# Of the diagonal, relative to its mean: kernels of rank n_items are singular.
_JITTER = 1e-10
# A hyperparameter is at a bound if its logarithm is as close, relative to the range: optimizers stop just before it.
_AT_BOUND = 0.1


class FitStart(NamedTuple):
    """What the optimizer found from one start.

    Attributes
    ----------
    elbo : float
        Evidence lower bound that it reached.
    theta : ndarray
        Logarithms of the hyperparameters.
    at_bounds : tuple of str
        Hyperparameters that ended at a bound, or within a tenth of the range of their logarithms of it.
    collapsed : bool
        Whether all training rows are predicted to be of one class: the process learned nothing but a constant.
    converged : bool
        Whether the optimizer says that it converged.
    """

    elbo: float
    theta: FloatArray
    at_bounds: tuple[str, ...]
    collapsed: bool
    converged: bool

    @property
    def failed(self) -> bool:
        """Whether the fit is of no use: collapsed, with a hyperparameter at its bound."""
        return self.collapsed and bool(self.at_bounds)


class VariationalClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""Gaussian process classifier of two classes that maximizes the evidence lower bound (ELBO).

    *Definition.* Latent values f of the training rows are normal with mean 0 and covariance K, and the probability of
    the second class is :math:`\Phi(f)`. The posterior is approximated by the normal distribution q with the largest
    :math:`\text{ELBO} = \sum_i E_q[\log p(y_i \mid f_i)] - \mathrm{KL}(q \,\|\, N(0, K))`, which is at most the
    logarithm of the evidence; hyperparameters of the kernel maximize it too.

    Parameters
    ----------
    kernel : kernel object, optional
        Of scikit-learn or rankwise; by default ``ConstantKernel() * KendallKernel(normalize=True)``, for positions.
        Where items are missing or unlisted, use `finite_positions`.
    optimize : bool, default=True
        Whether to learn the hyperparameters.
    n_init : int, default=3
        Optimize from the hyperparameters of ``kernel``, and from this number less one of random ones within their
        bounds; the best is kept, one that did not fail if there is any.
    max_iter : int, default=100
        Steps of the optimizer from each start.
    tol : float, default=1e-6
        Stop updating q once the ELBO grows by less, relative to the number of rows.
    random_state : None, int, Generator or RandomState
        Draws the starts.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The classes.
    kernel_ : kernel object
        With the learned hyperparameters.
    elbo_ : float
        Of the fit that was kept.
    elbo_path_ : ndarray
        ELBO after each step of the optimizer, for the fit that was kept; the first is that of the start.
    n_iter_ : int
        Steps of the optimizer for that fit.
    starts_ : list of FitStart
        What came of each start, failed fits included. Warned of if the best failed.
    n_features_in_ : int
        Number of columns.

    Notes
    -----
    q has mean :math:`K \alpha` and covariance :math:`(K^{-1} + \Lambda)^{-1}` with a diagonal :math:`\Lambda`, as has
    the best q (Opper, Archambeau 2009). Given K, both come by steps along the natural gradient, halved where the
    ELBO would fall; the gradient by the hyperparameters then needs no inverse of K, which may be singular.

    A fit *collapses* when all rows get one class, often with a variance at its bound: its scores say nothing about the
    kernel. Look at ``starts_`` before comparing kernels.

    References
    ----------
    Opper, Archambeau (2009), The variational Gaussian approximation revisited, Neural Computation 21. Conserva,
    Deisenroth, Sesh Kumar (2022), The graph cut kernel for ranked data, section 4.2.

    Examples
    --------
    >>> from rankwise.datasets import make_food_preferences
    >>> from rankwise.kernels import VariationalClassifier
    >>> votes, taste, _ = make_food_preferences(60, sigma=0.2, random_state=0)
    >>> model = VariationalClassifier(random_state=0).fit(votes.positions[:40], taste[:40])
    >>> model.score(votes.positions[40:], taste[40:])
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [None, Kernel],
        "optimize": ["boolean"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        kernel: Any = None,
        optimize: bool = True,
        n_init: int = 3,
        max_iter: int = 100,
        tol: float = 1e-6,
        random_state: RandomState = None,
    ) -> None:
        self.kernel = kernel
        self.optimize = optimize
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike) -> VariationalClassifier:
        """Learn hyperparameters and q.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows that the kernel compares, for example positions.
        y : array-like of shape (n_samples,)
            Two classes.

        Returns
        -------
        VariationalClassifier
            The estimator itself.
        """
        from sklearn.utils.multiclass import check_classification_targets, type_of_target

        self._validate_params()
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) > 2:
            kind = type_of_target(y, input_name="y")
            raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
        if len(self.classes_) < 2:
            raise ValueError(f"y has one class, {self.classes_[0]}; give rows of two classes")
        check_gram(len(X), len(X), np.float64, MAX_BYTES)
        signs = np.where(codes == 1, 1.0, -1.0)
        kernel = ConstantKernel() * KendallKernel(normalize=True) if self.kernel is None else self.kernel
        self.X_train_ = X
        fits = [_Fit(kernel, X, signs, self.tol).run(start, self.max_iter) for start in self._starts(kernel)]
        self.starts_ = [fit.outcome() for fit in fits]
        best = max(range(len(fits)), key=lambda place: (not self.starts_[place].failed, fits[place].elbo))
        fit = fits[best]
        if self.starts_[best].failed:
            warnings.warn(
                f"the fit failed from all {len(fits)} starts: all rows are predicted to be of one class, with "
                f"{', '.join(self.starts_[best].at_bounds)} at a bound. Scores say nothing about the kernel; widen the "
                "bounds, give more starts, or normalize the kernel",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.kernel_, self.elbo_, self.elbo_path_ = fit.kernel, fit.elbo, np.array(fit.path)
        self.n_iter_ = max(1, len(fit.path) - 1)
        self._posterior = fit.posterior
        return self

    def _starts(self, kernel: Any) -> list[FloatArray | None]:
        if not self.optimize or kernel.n_dims == 0:
            return [None]
        rng, bounds = check_generator(self.random_state), kernel.bounds
        # Random starts stay away from the bounds, where fits collapse.
        low, high = np.maximum(bounds[:, 0], np.log(0.05)), np.minimum(bounds[:, 1], np.log(20.0))
        low, high = np.minimum(low, high), np.maximum(low, high)
        return [kernel.theta, *(rng.uniform(low, high) for _ in range(self.n_init - 1))]

    def latent(self, X: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Means and variances of the latent values of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        mean, variance : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, reset=False)
        cross = self.kernel_(rows, self.X_train_)
        root = solve_triangular(self._posterior.factor, (cross * self._posterior.scales).T, lower=True)
        variance = np.maximum(self.kernel_.diag(rows) - np.einsum("ij,ij->j", root, root), 0.0)
        return cross @ self._posterior.alpha, variance

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Probabilities of the two classes, means over q.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, 2)
        """
        mean, variance = self.latent(X)
        second = ndtr(mean / np.sqrt(1 + variance))
        return np.column_stack([1 - second, second])

    def predict(self, X: ArrayLike) -> Any:
        """The more probable class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        mean, _ = self.latent(X)
        return self.classes_[(mean > 0).astype(int)]


class _Posterior(NamedTuple):
    """The best q for a matrix K: mean K alpha, covariance (1/K + diag(scales^2))^-1."""

    elbo: float
    alpha: FloatArray
    scales: FloatArray
    factor: FloatArray


def _best_posterior(gram: FloatArray, signs: FloatArray, tol: float, start: _Posterior | None = None) -> _Posterior:
    """Maximize the ELBO over q by natural gradients, for classes -1 and 1.

    Parameters
    ----------
    gram : ndarray of shape (n, n)
        Prior covariance of the latent values, positive semi-definite.
    signs : ndarray of shape (n,)
        Classes.
    tol : float
        Stop once the ELBO grows by less than this times n.
    start : _Posterior, optional
        Where to start, such as the best for a similar matrix.

    Returns
    -------
    _Posterior
    """
    n = len(gram)
    alpha, precision = (np.zeros(n), np.full(n, 0.5)) if start is None else (start.alpha, start.scales**2)
    current, mean, variance = _posterior(gram, signs, alpha, precision)
    step = 1.0
    for _ in range(100):
        gradient, hessian = _expected_derivatives(signs, mean, variance)
        # Along the natural gradient: the precision towards -E[second derivative], alpha towards E[derivative].
        proposed = None
        while step > 1e-4:
            more = (1 - step) * precision + step * hessian
            # q with these natural parameters has the mean m + S (gradient - alpha) step, S its covariance.
            shifted = _alpha_for(
                gram, more, (1 - step) * (alpha + precision * mean) + step * (gradient + hessian * mean)
            )
            proposed = _posterior(gram, signs, shifted, more)
            if proposed[0].elbo >= current.elbo - 1e-12 * n:
                break
            step /= 2
            proposed = None
        if proposed is None:
            break
        gain = proposed[0].elbo - current.elbo
        current, mean, variance = proposed
        alpha, precision = current.alpha, current.scales**2
        step = min(1.0, 2 * step)
        if gain < tol * n:
            break
    return current


def _alpha_for(gram: FloatArray, precision: FloatArray, linear: FloatArray) -> FloatArray:
    """The alpha of the q with this precision and linear natural parameter: its mean is (1/K + precision)^-1 linear."""
    scales = np.sqrt(precision)
    factor = cholesky(np.eye(len(gram)) + scales[:, None] * gram * scales, lower=True)
    inner = cho_solve((factor, True), scales * (gram @ linear))
    alpha: FloatArray = linear - scales * inner
    return alpha


def _posterior(
    gram: FloatArray, signs: FloatArray, alpha: FloatArray, precision: FloatArray
) -> tuple[_Posterior, FloatArray, FloatArray]:
    """The q by alpha and precision with its ELBO, and means and variances of its latent values."""
    scales = np.sqrt(precision)
    factor = cholesky(np.eye(len(gram)) + scales[:, None] * gram * scales, lower=True)
    root = solve_triangular(factor, scales[:, None] * gram, lower=True)
    mean, shrink = gram @ alpha, np.einsum("ij,ij->j", root, root)
    variance = np.maximum(np.diagonal(gram) - shrink, 1e-300)
    whitened = solve_triangular(factor, np.diag(scales), lower=True)
    trace = np.sum((whitened @ gram) * whitened)
    divergence = 0.5 * (alpha @ mean - trace) + np.log(np.diagonal(factor)).sum()
    points = signs[:, None] * (mean[:, None] + np.sqrt(variance)[:, None] * _NODES)
    elbo = float((log_ndtr(points) @ _WEIGHTS).sum() - divergence)
    return _Posterior(elbo, alpha, scales, factor), mean, variance


def _expected_derivatives(signs: FloatArray, mean: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Means over q of the first derivative of log p(y | f), and of the second with its sign turned."""
    points = signs[:, None] * (mean[:, None] + np.sqrt(variance)[:, None] * _NODES)
    ratio = np.exp(-0.5 * points**2 - 0.5 * np.log(2 * np.pi) - log_ndtr(points))
    gradient = signs * (ratio @ _WEIGHTS)
    hessian = (ratio * (points + ratio)) @ _WEIGHTS
    return gradient, np.maximum(hessian, 1e-12)


class _Fit:
    """Hyperparameters and q from one start."""

    def __init__(self, kernel: Any, X: FloatArray, signs: FloatArray, tol: float) -> None:
        self.kernel, self.X, self.signs, self.tol = kernel, X, signs, tol
        self.posterior: Any = None
        self.path: list[float] = []
        self.converged = True

    def run(self, start: FloatArray | None, max_iter: int) -> _Fit:
        """Maximize the ELBO from a start; None keeps the hyperparameters as they are."""
        if start is not None:
            self.path.append(-self._loss(start)[0])
            found = minimize(
                self._loss,
                start,
                jac=True,
                method="L-BFGS-B",
                bounds=self.kernel.bounds,
                callback=lambda intermediate_result: self.path.append(-float(intermediate_result.fun)),
                options={"maxiter": max_iter},
            )
            self.converged = bool(found.success)
            self.kernel = self.kernel.clone_with_theta(found.x)
        self.posterior = _best_posterior(_with_jitter(self.kernel(self.X)), self.signs, self.tol, self.posterior)
        self.path = self.path or [self.elbo]
        return self

    @property
    def elbo(self) -> float:
        """Of the fit."""
        return float(self.posterior.elbo)

    def _loss(self, theta: FloatArray) -> tuple[float, FloatArray]:
        gram, gradient = self.kernel.clone_with_theta(theta)(self.X, eval_gradient=True)
        self.posterior = _best_posterior(_with_jitter(gram), self.signs, self.tol, self.posterior)
        whitened = solve_triangular(self.posterior.factor, np.diag(self.posterior.scales), lower=True)
        inner = np.outer(self.posterior.alpha, self.posterior.alpha) - whitened.T @ whitened
        return -self.elbo, -0.5 * np.einsum("ij,ijp->p", inner, gradient)

    def outcome(self) -> FitStart:
        """What came of the start."""
        mean = self.kernel(self.X) @ self.posterior.alpha
        theta, at_bounds = self.kernel.theta, []
        free = [one for one in self.kernel.hyperparameters if not one.fixed for _ in range(one.n_elements)]
        for one, value, (low, high) in zip(free, theta, self.kernel.bounds, strict=True):
            if min(value - low, high - value) < _AT_BOUND * (high - low):
                at_bounds.append(one.name)
        return FitStart(self.elbo, theta, tuple(at_bounds), bool((mean > 0).all() or (mean <= 0).all()), self.converged)


def _with_jitter(gram: FloatArray) -> FloatArray:
    result = np.array(gram, dtype=np.float64)
    result[np.diag_indices_from(result)] += _JITTER * max(float(np.mean(np.diagonal(gram))), 1e-300)
    return result
