"""BARTSelector: selects columns by how often Bayesian additive regression trees split on them."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np

from rankwise._optional import require
from rankwise._progress import track
from rankwise._sklearn import BaseEstimator, Interval, StrOptions
from rankwise._state import FLOATS, Saved, check_shape, ensure, optional
from rankwise._typing import ArrayLike, BoolArray, FloatArray, RandomState
from rankwise._validation import check_choice, check_generator, check_numbers
from rankwise.screening.base import TargetSelectorMixin, highest


class BARTSelector(TargetSelectorMixin, BaseEstimator):
    r"""Selects the columns on which BART splits more often than by chance.

    *Definition.* The inclusion proportion of a column is its share of all splits in the posterior trees. The target is
    permuted ``n_permutations`` times to learn which proportions arise by chance, with mean :math:`m_j` and deviation
    :math:`s_j` for column j, and a column is selected if its proportion exceeds

    - "local": the :math:`1 - \alpha` quantile of its own proportions;
    - "global_max": the :math:`1 - \alpha` quantile of the largest proportions of all columns;
    - "global_se": :math:`m_j + C s_j`, with the smallest C such that all columns lie within for :math:`1 - \alpha` of
      the permutations.

    Parameters
    ----------
    threshold : {"local", "global_max", "global_se"}, default="local"
        Which of the three thresholds; the first selects most columns.
    k : int, optional
        Select the k columns with the highest proportions instead, without permutations.
    alpha : float, default=0.05
        Level.
    n_permutations : int, default=100
        Permuted targets.
    n_repeats : int, default=10
        Runs on the target itself, whose proportions are averaged.
    n_trees : int, default=20
        Trees; if there are few, columns have to compete for splits.
    n_draws : int, default=500
        Draws from the posterior in each run, after half as many for burn-in.
    random_state : None, int, Generator or RandomState
        Where the random numbers come from.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Inclusion proportions; they sum to 1.
    thresholds_ : ndarray of shape (n_features,)
        Which proportions they have to exceed (without ``k``).
    permuted_scores_ : ndarray of shape (n_permutations, n_features)
        Inclusion proportions for the permuted targets (without ``k``). `inclusion_thresholds` turns them into any of
        the three thresholds, so that these can be compared without fitting again.
    n_features_in_ : int
        Number of columns.

    Notes
    -----
    Needs stochtree: ``pip install 'rankwise[bart]'``.

    References
    ----------
    Bleich, Kapelner, George, Jensen (2014), Variable selection for BART: an application to gene regulation.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "threshold": [StrOptions({"local", "global_max", "global_se"})],
        "k": [None, Interval(Integral, 1, None, closed="left")],
        "alpha": [Interval(Real, 0, 1, closed="neither")],
        "n_permutations": [Interval(Integral, 1, None, closed="left")],
        "n_repeats": [Interval(Integral, 1, None, closed="left")],
        "n_trees": [Interval(Integral, 1, None, closed="left")],
        "n_draws": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state", np.random.Generator],
    }

    _saved: ClassVar[Saved] = {
        "scores_": FLOATS,
        "thresholds_": optional(FLOATS),
        "permuted_scores_": optional(FLOATS),
    }

    def __init__(
        self,
        threshold: Literal["local", "global_max", "global_se"] = "local",
        *,
        k: int | None = None,
        alpha: float = 0.05,
        n_permutations: int = 100,
        n_repeats: int = 10,
        n_trees: int = 20,
        n_draws: int = 500,
        random_state: RandomState = None,
    ) -> None:
        self.threshold = threshold
        self.k = k
        self.alpha = alpha
        self.n_permutations = n_permutations
        self.n_repeats = n_repeats
        self.n_trees = n_trees
        self.n_draws = n_draws
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> BARTSelector:
        """Draw trees for the target and for its permutations.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Columns.
        y : array-like of shape (n_samples,)
            Target.

        Returns
        -------
        BARTSelector
            The selector itself.
        """
        columns, target = self._check(X, y)
        rng = check_generator(self.random_state)
        runs = [self._proportions(columns, target, rng) for _ in range(self.n_repeats)]
        self.scores_ = np.mean(runs, axis=0)
        if self.k is None:
            permutations = track(range(self.n_permutations), "permuting", self.n_permutations)
            permuted = [self._proportions(columns, rng.permutation(target), rng) for _ in permutations]
            self.permuted_scores_ = np.array(permuted)
            self.thresholds_ = inclusion_thresholds(self.permuted_scores_, self.threshold, alpha=self.alpha)
        return self

    def _proportions(self, X: FloatArray, y: FloatArray, rng: np.random.Generator) -> FloatArray:
        stochtree = require("stochtree", extra="bart", caller="BARTSelector")
        model = stochtree.BARTModel()
        model.sample(
            X_train=X,
            y_train=y,
            num_gfr=0,
            num_burnin=self.n_draws // 2,
            num_mcmc=self.n_draws,
            general_params={"random_seed": int(rng.integers(2**31)), "num_threads": 1},
            mean_forest_params={"num_trees": self.n_trees},
        )
        counts = model.forest_container_mean.get_overall_split_counts(X.shape[1]).astype(np.float64)
        return counts / max(counts.sum(), 1.0)

    def _get_support_mask(self) -> BoolArray:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        if self.k is None:
            return self.scores_ > self.thresholds_
        return highest(self.scores_, self.k)

    def _check_saved(self) -> None:
        ensure(self.k is not None or hasattr(self, "thresholds_"), "features are chosen by thresholds that are missing")
        for scores in (self.scores_, getattr(self, "thresholds_", self.scores_)):
            check_shape(scores, (self.n_features_in_,), "scores_ or thresholds_")
        permuted = getattr(self, "permuted_scores_", self.scores_[None])
        check_shape(permuted, (len(permuted), self.n_features_in_), "permuted_scores_")


def inclusion_thresholds(
    permuted_scores: ArrayLike,
    threshold: Literal["local", "global_max", "global_se"] = "local",
    *,
    alpha: float = 0.05,
) -> FloatArray:
    """Which inclusion proportions exceed chance, by each of the thresholds of `BARTSelector`.

    Parameters
    ----------
    permuted_scores : array-like of shape (n_permutations, n_features)
        Inclusion proportions for permuted targets, ``permuted_scores_`` of a `BARTSelector`.
    threshold : {"local", "global_max", "global_se"}, default="local"
        Which threshold, as in `BARTSelector`.
    alpha : float, default=0.05
        Level.

    Returns
    -------
    ndarray of shape (n_features,)
        A proportion for each column.

    References
    ----------
    Bleich, Kapelner, George, Jensen (2014), Variable selection for BART: an application to gene regulation.

    Examples
    --------
    >>> from rankwise.screening import inclusion_thresholds
    >>> permuted = [[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.3, 0.3, 0.4]]
    >>> inclusion_thresholds(permuted, "local", alpha=0.5), inclusion_thresholds(permuted, "global_max", alpha=0.5)
    (array([0.3, 0.3, 0.3]), array([0.5, 0.5, 0.5]))
    """
    check_choice("threshold", threshold, ("local", "global_max", "global_se"))
    chance = check_numbers("permuted_scores", permuted_scores)
    if chance.ndim != 2 or not chance.size or not np.isfinite(chance).all():
        raise ValueError(
            f"permuted_scores has shape {chance.shape}; give finite proportions, one row per permutation and one "
            "column per feature"
        )
    if not 0 < alpha < 1:
        raise ValueError(f"alpha is {alpha}; give a level between 0 and 1")
    if threshold == "local":
        return np.quantile(chance, 1 - alpha, axis=0)
    if threshold == "global_max":
        return np.full(chance.shape[1], np.quantile(chance.max(axis=1), 1 - alpha))
    mean, deviation = chance.mean(axis=0), chance.std(axis=0)
    beyond = np.divide(chance - mean, deviation, out=np.zeros_like(chance), where=deviation > 0)
    return mean + np.quantile(beyond.max(axis=1), 1 - alpha) * deviation
