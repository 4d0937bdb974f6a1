"""ScoreSelector: established scores to compare screening with, behind one interface.

Correlations, penalized and stepwise regression.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from rankwise._optional import require
from rankwise._sklearn import BaseEstimator, Interval, StrOptions
from rankwise._state import FLOATS, Saved, check_shape
from rankwise._typing import ArrayLike, BoolArray, FloatArray
from rankwise.screening.base import TargetSelectorMixin, highest
from rankwise.screening.concordance import absolute_pearson


class ScoreSelector(TargetSelectorMixin, BaseEstimator):
    """Selects the k columns with the highest score, by one of the usual methods.

    Parameters
    ----------
    method : str, default="pearson"
        "pearson", "spearman", "kendall" (absolute correlations), "xi" (Chatterjee's), "lasso" (absolute coefficients of
        standardized columns at the penalty chosen by cross-validation), "stepwise" (forward selection: the
        earlier a column lowers the residual most, the higher) or "scad" (the same as "lasso", at the
        largest SCAD penalty that leaves k columns; needs skglm).
    k : int, default=10
        Number of columns.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Higher is better; 0 for constant columns.
    n_features_in_ : int
        Number of columns.

    Notes
    -----
    Among equal scores the first columns are selected.

    Forward selection is computed by projecting the chosen columns out of all others at once. scikit-learn's
    ``SequentialFeatureSelector`` fits a model for each column, step and fold, which takes far longer, chooses by
    cross-validation, and does not report the order in which it chose.

    Examples
    --------
    >>> from rankwise.datasets import make_symbolic_regression
    >>> from rankwise.screening import ScoreSelector
    >>> X, y, _ = make_symbolic_regression(random_state=0)
    >>> ScoreSelector("kendall", k=2).fit(X, y).get_support()
    array([ True, False,  True])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "method": [StrOptions({"pearson", "spearman", "kendall", "xi", "lasso", "stepwise", "scad"})],
        "k": [Interval(Integral, 1, None, closed="left")],
    }

    _saved: ClassVar[Saved] = {"scores_": FLOATS}

    def __init__(self, method: str = "pearson", *, k: int = 10) -> None:
        self.method = method
        self.k = k

    def fit(self, X: ArrayLike, y: ArrayLike) -> ScoreSelector:
        """Score the columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Columns.
        y : array-like of shape (n_samples,)
            Target.

        Returns
        -------
        ScoreSelector
            The selector itself.
        """
        columns, target = self._check(X, y)
        varies = np.ptp(columns, axis=0) > 0
        self.scores_ = np.zeros(columns.shape[1])
        if varies.any():
            self.scores_[varies] = _SCORES[self.method](columns[:, varies], target, min(self.k, int(varies.sum())))
        return self

    def _get_support_mask(self) -> BoolArray:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        return highest(self.scores_, self.k)

    def _check_saved(self) -> None:
        check_shape(self.scores_, (self.n_features_in_,), "scores_")


def _pearson(X: FloatArray, y: FloatArray, k: int) -> FloatArray:
    return absolute_pearson(X.T, y - y.mean())


def _spearman(X: FloatArray, y: FloatArray, k: int) -> FloatArray:
    from scipy.stats import rankdata

    return _pearson(rankdata(X, axis=0), rankdata(y), k)


def _kendall(X: FloatArray, y: FloatArray, k: int) -> FloatArray:
    from scipy.stats import kendalltau

    return np.array([abs(kendalltau(column, y).statistic) for column in X.T])


def _xi(X: FloatArray, y: FloatArray, k: int) -> FloatArray:
    from scipy.stats import chatterjeexi

    return np.array([chatterjeexi(column, y).statistic for column in X.T])


def _lasso(X: FloatArray, y: FloatArray, k: int) -> FloatArray:
    import warnings

    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LassoCV

    with warnings.catch_warnings():
        # Copies of a column slow the path down, but do not make the choice of columns worse.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LassoCV(cv=min(5, len(y) // 2 + 1), max_iter=2000).fit(_standardized(X), y)
    return abs(model.coef_)


def _stepwise(X: FloatArray, y: FloatArray, k: int) -> FloatArray:
    rest, residual = _standardized(X), y - y.mean()
    score = np.zeros(X.shape[1])
    for step in range(k):
        length = (rest**2).sum(axis=0)
        gain = np.divide((rest.T @ residual) ** 2, length, out=np.zeros_like(length), where=length > 1e-8 * len(y))
        best = int(np.argmax(gain))
        if gain[best] == 0:  # all columns left are combinations of the chosen ones
            break
        score[best] = k - step
        unit = rest[:, best] / np.sqrt(length[best])
        residual = residual - unit * (unit @ residual)
        rest = rest - np.outer(unit, unit @ rest)
    return score


def _scad(X: FloatArray, y: FloatArray, k: int) -> FloatArray:
    skglm = require("skglm", extra="symbolic", caller="ScoreSelector('scad')")
    penalties = require("skglm.penalties", extra="symbolic", caller="ScoreSelector('scad')")
    Z, centered = _standardized(X), y - y.mean()
    largest = abs(Z.T @ centered).max() / len(y)
    coef = np.zeros(X.shape[1])
    for alpha in largest * np.geomspace(1, 1e-4, 60)[1:]:
        penalty = penalties.SCAD(alpha=alpha, gamma=3.7)
        coef = skglm.GeneralizedLinearEstimator(penalty=penalty).fit(Z, centered).coef_.ravel()
        if np.count_nonzero(coef) >= k:
            break
    return abs(coef)


def _standardized(X: FloatArray) -> FloatArray:
    # Scaled first, because squares of large values would overflow, and those of small ones vanish.
    scaled = X / np.abs(X).max(axis=0)
    return (scaled - scaled.mean(axis=0)) / scaled.std(axis=0)


_SCORES: dict[str, Callable[[FloatArray, FloatArray, int], FloatArray]] = {
    "pearson": _pearson,
    "spearman": _spearman,
    "kendall": _kendall,
    "xi": _xi,
    "lasso": _lasso,
    "stepwise": _stepwise,
    "scad": _scad,
}
