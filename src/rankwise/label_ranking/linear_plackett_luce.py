"""PlackettLuceRanker: the Plackett-Luce model with log worths that are linear in the features."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from rankwise._sklearn import BaseEstimator, Interval
from rankwise._state import COUNT, FLOATS, MATRIX, Saved, check_shape
from rankwise._typing import FloatArray
from rankwise.data import Rankings
from rankwise.label_ranking import _rankers_jit
from rankwise.label_ranking.base import SCALER, LabelRankerMixin, check_saved_scaler, fitted_scaler, one_thread


class PlackettLuceRanker(LabelRankerMixin, BaseEstimator):
    r"""Label ranker by the Plackett-Luce model, with scores that are linear in the features.

    *Definition.* Item i has the score :math:`s_i(x) = \langle w_i, x \rangle + b_i` on standardized features. A ranking
    is built from the best place down: the next item is i with probability :math:`e^{s_i} / \sum_{j \in S} e^{s_j}`
    among the items S that are left. The fit minimizes, over w and b,

    .. math:: -\sum_r \omega_r \log P(\sigma_r \mid x_r) + \frac{\alpha}{2} \Bigl(\|w\|^2 + \|b\|^2\Bigr).

    Missing items are in no S; unlisted ones are in every S and are never chosen, so that top-k rankings have their
    exact likelihood. Each of several tied items is chosen from all items left before the first of them
    (Breslow's rule).

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty, positive.
    max_iter : int, default=1000
        Maximum number of iterations of L-BFGS.
    tol : float, default=1e-6
        Stop when the largest component of the gradient, per unit of weight, is at most this.

    Attributes
    ----------
    coef_ : ndarray of shape (n_items, n_features)
        w, per standard deviation of the features.
    intercept_ : ndarray of shape (n_items,)
        b, the scores of a row with mean features.
    n_iter_ : int
        Number of iterations.
    items_ : tuple
        Names of the items.

    References
    ----------
    Cheng, Dembczyński, Hüllermeier (2010), Label ranking methods based on the Plackett-Luce model.

    Examples
    --------
    >>> from rankwise.label_ranking import PlackettLuceRanker
    >>> X, y = [[0], [1], [8], [9]], [[1, 2, 3], [1, 2, 3], [3, 2, 1], [3, 1, 2]]
    >>> PlackettLuceRanker().fit(X, y).predict([[0.2], [9.5]])
    array([[1., 2., 3.],
           [3., 2., 1.]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    _saved: ClassVar[Saved] = {"_scaler": SCALER, "coef_": MATRIX, "intercept_": FLOATS, "n_iter_": COUNT}

    def __init__(self, alpha: float = 1.0, *, max_iter: int = 1000, tol: float = 1e-6) -> None:
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol

    def _fit_rankings(self, X: FloatArray, y: Rankings) -> None:
        from scipy.optimize import minimize

        self._scaler = fitted_scaler(X, y)
        design = np.column_stack([np.ones(len(X)), self._scaler.transform(X)])
        shape = (y.n_items, design.shape[1])
        order = np.argsort(y.positions, axis=1, kind="stable")
        total = y.weights.sum()

        def loss(flat: FloatArray) -> tuple[float, FloatArray]:
            coefficients = flat.reshape(shape)
            scores = np.ascontiguousarray(design @ coefficients.T)
            value, by_score = _rankers_jit.plackett_luce_loss(y.positions, order, y.weights, scores)
            gradient = by_score.T @ design + self.alpha * coefficients
            return (value + self.alpha / 2 * float(flat @ flat)) / total, gradient.ravel() / total

        options: Any = {"maxiter": self.max_iter, "maxfun": 2 * self.max_iter, "ftol": 0.0, "gtol": self.tol}
        with one_thread():
            result = minimize(loss, np.zeros(shape).ravel(), jac=True, method="L-BFGS-B", options=options)
        self.n_iter_ = int(result.nit)
        if self.n_iter_ >= self.max_iter:
            from sklearn.exceptions import ConvergenceWarning

            warnings.warn(
                f"L-BFGS did not converge in {self.max_iter} iterations; raise max_iter, tol or alpha",
                ConvergenceWarning,
                stacklevel=3,
            )
        coefficients = result.x.reshape(shape)
        self.coef_, self.intercept_ = coefficients[:, 1:], coefficients[:, 0]

    def _predict_pairwise(self, X: FloatArray) -> FloatArray:
        from scipy.special import expit

        scores = self._predict_log_worth(X)
        return expit(scores[:, :, None] - scores[:, None, :])

    def _predict_log_worth(self, X: FloatArray) -> FloatArray:
        return self._scaler.transform(X) @ self.coef_.T + self.intercept_

    def _check_saved(self) -> None:
        check_shape(self.coef_, (len(self.items_), self.n_features_in_), "the coefficients")
        check_shape(self.intercept_, (len(self.items_),), "the intercepts")
        check_saved_scaler(self)
