"""ConformalRanker: predictions that abstain from uncertain pairs, as partial orders with a coverage guarantee."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from rankwise._sklearn import N_JOBS, BaseEstimator, HasMethods, Interval, safe_indexing, with_unset
from rankwise._state import FLOATS, PREDICTOR, Saved, check_shape, ensure
from rankwise._typing import ArrayLike, BoolArray, FloatArray, RandomState
from rankwise._validation import check_generator, check_open_share, data_frame, shortlist
from rankwise.label_ranking.base import (
    LabelRankerMixin,
    check_label_ranking,
    ensure_label_rankers,
    pairwise_of,
    row_blocks,
)
from rankwise.label_ranking.forest import RankingForest
from rankwise.label_ranking.predictive import Law, theta_from_pairwise, worths_from_pairwise

# Tolerance when comparing cumulative weights.
_ROUNDING = 1e-9


class ConformalRanker(LabelRankerMixin, BaseEstimator):
    r"""Label ranker that says which pairs of its prediction are certain, by split conformal prediction.

    *Definition.* A ranker is fitted to a part of the rows. Where it predicts :math:`i` before :math:`j`, its confidence
    :math:`c_{ij}(x)` is the strength of the strongest chain of predicted pairs from i to j, a chain being as strong as
    the smallest probability along it. On the rows set aside, the score of a row is the largest confidence in a pair
    that the true ranking reverses (0 if there is none), and :math:`q` is the
    :math:`\lceil (1 - \alpha)(m + 1) \rceil`-th smallest of these m scores. For a new row, pairs with
    :math:`c_{ij}(x) > q` are asserted, and the prediction abstains from the others.

    The asserted pairs form a partial order. If the rows set aside and the new one are exchangeable (for example, drawn
    independently from one distribution), the true ranking reverses *none* of them with probability :math:`1 - \alpha`
    or more, whatever the ranker. A true ranking that ties two items or lacks one of them does not reverse the pair.

    Parameters
    ----------
    ranker : label ranker or pipeline that ends with one, optional
        By default `RankingForest`. Rankers with smooth probabilities assert the most pairs: one whose probabilities are
        all 0 or 1 cannot tell certain pairs from others.
    alpha : float, default=0.1
        The accepted probability of a mistake, between 0 and 1. With m rows set aside, nothing is asserted if it is
        below 1 / (m + 1).
    test_size : float, default=0.25
        Share of the rows to set aside, between 0 and 1.
    n_jobs : int, optional
        Threads of the ranker, where it has ``n_jobs`` and that is None, and threads that find the confidence of pairs;
        the result does not depend on it.
    random_state : None, int, Generator or RandomState
        Chooses the rows to set aside, and seeds rankers whose ``random_state`` is None.

    Attributes
    ----------
    ranker_ : label ranker
        The fitted ranker.
    calibration_scores_ : ndarray of shape (n_set_aside,)
        Scores of the rows set aside, in increasing order.
    calibration_weights_ : ndarray of shape (n_set_aside,)
        Their weights, of mean 1. Where these differ, the guarantee is approximate.
    items_ : tuple
        Names of the items.

    References
    ----------
    Cheng, Rademaker, De Baets, Hüllermeier (2010), Predicting partial orders: ranking with abstention. Vovk, Gammerman,
    Shafer (2005), Algorithmic learning in a random world.

    Examples
    --------
    >>> import numpy as np
    >>> from rankwise.label_ranking import ConformalRanker, PlackettLuceRanker
    >>> X = np.linspace(-3, 3, 200)[:, np.newaxis]
    >>> y = np.where(X + np.random.default_rng(0).normal(size=X.shape) > 0, [[1, 2, 3]], [[2, 1, 3]])
    >>> ranker = ConformalRanker(PlackettLuceRanker(), random_state=0).fit(X, y)
    >>> ranker.predict_set([[2.5], [0.1]]).astype(int)  # row before column; the second row: only that item 2 is last
    array([[[0, 1, 1],
            [0, 0, 1],
            [0, 0, 0]],
    <BLANKLINE>
           [[0, 0, 1],
            [0, 0, 1],
            [0, 0, 0]]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "ranker": [None, HasMethods(["fit", "predict"])],
        "alpha": [Interval(Real, 0.0, 1.0, closed="neither")],
        "test_size": [Interval(Real, 0.0, 1.0, closed="neither")],
        "n_jobs": N_JOBS,
        "random_state": ["random_state", np.random.Generator],
    }

    _saved: ClassVar[Saved] = {
        "ranker_": PREDICTOR,
        "calibration_scores_": FLOATS,
        "calibration_weights_": FLOATS,
    }

    def __init__(
        self,
        ranker: Any = None,
        *,
        alpha: float = 0.1,
        test_size: float = 0.25,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.ranker = ranker
        self.alpha = alpha
        self.test_size = test_size
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> ConformalRanker:
        """Fit the ranker to a part of the rows, and calibrate its confidence on the others.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features, as the ranker takes them.
        y : Rankings or array-like of shape (n_samples, n_items)
            Positions, 1 = best, of any kind. Rows that compare no two items are dropped.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts; by default the weights of the Rankings, else ones.

        Returns
        -------
        self
        """
        from sklearn.utils import check_array

        if y is None:
            raise ValueError("ConformalRanker requires y to be passed, but the target y is None")
        self._validate_params()
        rng = check_generator(self.random_state)
        # Only what is not a table at all is refused here; the ranker checks the rest.
        data_frame(X, "X")
        sparse = self.__sklearn_tags__().input_tags.sparse
        table = check_array(X, accept_sparse=sparse, dtype=None, ensure_2d=False, ensure_all_finite=False)
        rankings, rows = check_label_ranking(y, sample_weight, n_samples=table.shape[0])
        if len(rows) < 2:
            raise ValueError("ConformalRanker needs two rows, one to fit and one to set aside, but n_samples=1")
        drawn = rng.permutation(len(rows))
        n_aside = min(max(1, round(self.test_size * len(rows))), len(rows) - 1)
        aside, kept = np.sort(drawn[:n_aside]), np.sort(drawn[n_aside:])
        known = ~np.isnan(rankings[kept].positions).all(axis=0)
        if not known.all():
            rare = [rankings.items[i] for i in np.flatnonzero(~known)]
            raise ValueError(
                f"only rows that are set aside rank {shortlist(rare)}; drop items that few rows rank "
                "(Rankings.select), or set fewer rows aside (test_size)"
            )
        ranker = with_unset(RankingForest() if self.ranker is None else self.ranker, "n_jobs", self.n_jobs)
        if not hasattr(ranker[-1] if hasattr(ranker, "steps") else ranker, "predict_pairwise"):
            raise TypeError("ranker has no predict_pairwise; give a label ranker, or a pipeline ending with one")
        ranker = with_unset(ranker, "random_state", int(rng.integers(2**31)))
        self.ranker_ = ranker.fit(safe_indexing(X, rows[kept]), rankings[kept])
        self.items_ = rankings.items
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.ranker_, name):
                setattr(self, name, getattr(self.ranker_, name))
        truth = rankings[aside]
        scores = self._scores(safe_indexing(X, rows[aside]), truth.positions)
        order = np.argsort(scores, kind="stable")
        self.calibration_scores_ = scores[order]
        self.calibration_weights_ = truth.weights[order] / truth.weights.mean()
        return self

    def predict(self, X: ArrayLike) -> FloatArray:
        """Predict a full ranking for each row, as the ranker does.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_items)
            Positions, 1 = best; columns are ``items_``.
        """
        return np.asarray(self._fitted().predict(X))

    def predict_pairwise(self, X: ArrayLike) -> FloatArray:
        """Predict, for each row, how probably one item comes before another, as the ranker does.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_items, n_items)
            ``P[r, i, j]`` is the probability of item i before item j.
        """
        return np.asarray(pairwise_of(self._fitted(), X))

    def predict_set(self, X: ArrayLike, alpha: float | None = None) -> BoolArray:
        """Predict, for each row, the certain pairs: all of them hold with probability 1 - alpha or more.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        alpha : float, optional
            Accepted probability of a mistake, if not that of the ranker.

        Returns
        -------
        ndarray of shape (n_samples, n_items, n_items), bool
            ``S[r, i, j]`` says that item i comes before item j; where neither ``S[r, i, j]`` nor ``S[r, j, i]`` is
            true, nothing is said of the two. Every ``S[r]`` is a partial order.
        """
        self._fitted()
        alpha = self.alpha if alpha is None else alpha
        check_open_share("alpha", alpha)
        threshold = self._threshold(alpha)
        if threshold == np.inf:
            warnings.warn(
                f"nothing is asserted: alpha={alpha:g} needs {int(np.ceil(1 / alpha - _ROUNDING)) - 1:,} rows set "
                f"aside, but there are {len(self.calibration_scores_):,}; raise alpha or test_size, or fit more rows",
                UserWarning,
                stacklevel=2,
            )
        positions, probabilities = self.predict(X), self.predict_pairwise(X)
        asserted = np.empty(probabilities.shape, dtype=bool)

        def assert_pairs(rows: slice) -> None:
            asserted[rows] = confidence_of_pairs(positions[rows], probabilities[rows]) > threshold

        self._in_blocks(assert_pairs, positions.shape)
        return asserted

    def _predict_law(self, X: ArrayLike, law: Law) -> tuple[FloatArray, ...]:
        pairwise = self.predict_pairwise(X)
        if law == "plackett-luce":
            return (worths_from_pairwise(pairwise),)
        centers = self.predict(X)
        return centers, theta_from_pairwise(pairwise, centers)

    def _fitted(self) -> Any:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        return self.ranker_

    def _scores(self, X: ArrayLike, truth: FloatArray) -> FloatArray:
        """For each row, the largest confidence in a pair that the true ranking reverses; 0 if there is none."""
        positions, probabilities = self.predict(X), self.predict_pairwise(X)
        scores = np.empty(len(truth))

        def judge(rows: slice) -> None:
            reverse = truth[rows, np.newaxis, :] < truth[rows, :, np.newaxis]  # False if one of the two is missing
            confidence = confidence_of_pairs(positions[rows], probabilities[rows])
            scores[rows] = np.where(reverse, confidence, 0.0).max(axis=(1, 2))

        self._in_blocks(judge, positions.shape)
        return scores

    def _in_blocks(self, work: Callable[[slice], None], shape: tuple[int, ...]) -> None:
        """Work on blocks of rows, on several threads."""
        from joblib import Parallel, delayed

        Parallel(n_jobs=self.n_jobs, prefer="threads")(delayed(work)(rows) for rows in row_blocks(*shape))

    def _threshold(self, alpha: float) -> float:
        """The confidence that a pair must exceed to be asserted; infinite if too few rows were set aside."""
        n = len(self.calibration_scores_)
        reached = np.cumsum(self.calibration_weights_)
        place = int(np.searchsorted(reached, (1 - alpha) * (n + 1) - _ROUNDING * n))
        return float(self.calibration_scores_[place]) if place < n else np.inf

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags

        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(RankingForest() if self.ranker is None else self.ranker).input_tags
        return tags

    def _check_saved(self) -> None:
        ensure_label_rankers([self.ranker_])
        scores, weights = self.calibration_scores_, self.calibration_weights_
        check_shape(weights, scores.shape, "the weights of the scores")
        ensure(len(scores) > 0 and (np.diff(scores) >= 0).all(), "the scores are not in order")
        ensure((weights > 0).all(), "a weight is not positive")


def confidence_of_pairs(positions: FloatArray, probabilities: FloatArray) -> FloatArray:
    r"""Confidence in each predicted pair, such that the pairs above any threshold form a partial order.

    *Definition.* The strongest chain of predicted pairs from i to j, a chain being as strong as the smallest
    probability along it; 0 where i is not predicted before j. Then :math:`c_{ik} \ge \min(c_{ij}, c_{jk})`: asserting
    two pairs asserts the pair that follows from them.

    Parameters
    ----------
    positions : ndarray of shape (n, n_items)
        Predicted rankings.
    probabilities : ndarray of shape (n, n_items, n_items)
        Probabilities of row before column.

    Returns
    -------
    ndarray of shape (n, n_items, n_items)
    """
    ahead = positions[:, :, np.newaxis] < positions[:, np.newaxis, :]
    confidence = np.where(ahead, probabilities, 0.0)
    for middle in range(positions.shape[1]):
        through = np.minimum(confidence[:, :, middle, np.newaxis], confidence[:, middle, np.newaxis, :])
        np.maximum(confidence, through, out=confidence)
    return confidence
