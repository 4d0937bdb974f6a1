"""What all label rankers share: rankings in, pairwise probabilities and positions out; and helpers that several use.

A label ranker derives from `LabelRankerMixin` and ``BaseEstimator`` and defines two methods: ``_fit_rankings(X, y)``,
which learns from checked features and a checked `Rankings`, and ``_predict_pairwise(X)``, which returns the
probabilities of i before j for checked features. The rest follows: ``fit`` checks, ``predict`` decodes, ``score``
judges.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Iterator
from typing import Any, ClassVar, TypeVar, get_args

import numpy as np

from rankwise._decode import Decoder
from rankwise._features import FeaturesMixin
from rankwise._memory import check_memory
from rankwise._sklearn import HasMethods, StrOptions, gen_batches
from rankwise._state import COUNT, ITEMS, Saved, ensure, instance, maybe
from rankwise._typing import ArrayLike, FloatArray, IntArray, RandomState
from rankwise._validation import check_weights, item_names, numeric_matrix, shortlist
from rankwise.aggregation import PreferenceMatrix
from rankwise.data import Rankings, check_positions
from rankwise.distances.measures import check_same_items
from rankwise.embeddings import KemenyEmbedding, PositionEmbedding, decode_pairwise
from rankwise.embeddings.ordered_partitions import PartitionEmbedding
from rankwise.label_ranking.predictive import (
    Law,
    sample_rows,
    theta_from_pairwise,
    top_of_rows,
    worths_from_pairwise,
)
from rankwise.metrics import kendall_tau_score

__all__ = ["LabelRankerMixin", "check_label_ranking"]

# Numbers in the pairwise matrices that are held at once while predicting: 32 MB.
_BLOCK_CELLS = 1 << 22
# Numbers for each pair of each row that `predict_pairwise` holds at its peak: vectors, and matrices made of them.
_MATRICES = 2

Ranker = TypeVar("Ranker", bound="LabelRankerMixin")
Embedding = KemenyEmbedding | PositionEmbedding | PartitionEmbedding

#: kind of the saved attribute ``_scaler``
NEEDED_SCALER = instance("StandardScaler")
SCALER = maybe(NEEDED_SCALER)


class _AnEmbedding(HasMethods):  # type: ignore[misc]
    """An object that is an embedding; scikit-learn would name the modules of the classes, which users never import."""

    def is_satisfied_by(self, val: Any) -> bool:
        return isinstance(val, Embedding)

    def __str__(self) -> str:
        return (
            "an instance of KemenyEmbedding, PositionEmbedding, GraphCutEmbedding or SubmodularEmbedding "
            "(of rankwise.embeddings)"
        )


#: what the parameter ``embedding`` may be, see `unfitted_embedding`
EMBEDDING_CONSTRAINTS: list[Any] = [StrOptions({"kemeny", "position"}), _AnEmbedding("inverse_transform")]
#: what the parameter ``decode`` may be, see `decode_pairwise`
DECODE_CONSTRAINTS: list[Any] = [StrOptions(set(get_args(Decoder)))]


class LabelRankerMixin(FeaturesMixin):
    """Fit, predict and score of label rankers; see the module for what a ranker has to define.

    Attributes
    ----------
    items_ : tuple
        Names of the items, one per column of predictions.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has them.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}
    decode: Decoder = "kemeny"  # a parameter of some rankers
    items_: tuple[Hashable, ...]

    _saved: ClassVar[Saved] = {"n_features_in_": COUNT, "items_": ITEMS}

    def fit(self: Ranker, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Ranker:
        """Learn to rank.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : Rankings or array-like of shape (n_samples, n_items)
            Positions, 1 = best, of any kind: full, tied, top-k (``inf`` = unlisted), incomplete (``NaN`` = missing).
            Only the order of the values in a row counts. Rows that compare no two items are ignored.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts; by default the weights of the Rankings, else ones. Rows of weight 0 are ignored.

        Returns
        -------
        self
        """
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        self._validate_params()
        features = self._check_features(X, reset=not self._continues())
        rankings, rows = check_label_ranking(y, sample_weight, n_samples=len(features))
        if self._continues() and rankings.items != self.items_:
            raise ValueError(
                f"the items of y are {shortlist(rankings.items)}, but those of the fit that warm_start continues are "
                f"{shortlist(self.items_)}"
            )
        self.items_ = rankings.items
        features = features if len(rows) == len(features) else features[rows]
        self._check_continued(features, rankings)
        self._note_training(features, rows)
        self._fit_rankings(features, rankings)
        return self

    def predict(self, X: ArrayLike) -> FloatArray:
        """Predict a full ranking for each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_items)
            Positions, 1 = best; columns are ``items_``.
        """
        features = self._check_fitted_features(X)
        positions = np.empty((len(features), len(self.items_)))
        for rows in row_blocks(len(features), len(self.items_)):
            positions[rows] = self._predict_positions(features[rows])
        return positions

    def predict_pairwise(self, X: ArrayLike) -> FloatArray:
        """Predict, for each row, how probably one item comes before another.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_items, n_items)
            ``P[r, i, j]`` is the probability of item i before item j; ``P[r, j, i]`` is 1 minus that, and the
            diagonal is 1/2.
        """
        features = self._check_fitted_features(X)
        n_rows, k = len(features), len(self.items_)
        check_memory(
            _MATRICES * 8 * n_rows * k**2,
            f"the probabilities of {k * k:,} pairs of items for each of {n_rows:,} rows",
            "predict fewer rows at a time, or take predict, which holds few of them at once",
        )
        return self._predict_pairwise(features)

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Mean Kendall tau of predicted and true rankings.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : Rankings or array-like of shape (n_samples, n_items)
            True positions, 1 = best, of any kind.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows in the mean; by default those of the Rankings, else ones.

        Returns
        -------
        float
            Between -1 and 1; higher is better. See `kendall_tau_score`.
        """
        return kendall_tau_score(_as_rankings(y, sample_weight), Rankings(self.predict(X), self.items_))

    def sample_rankings(
        self, X: ArrayLike, n: int = 1, random_state: RandomState = None, law: Law = "plackett-luce"
    ) -> FloatArray:
        r"""Draw rankings that people with these features may give.

        *Definition.* The rankings of a row follow the nearest law of a family to its pairwise probabilities.
        "plackett-luce": the worths with the largest likelihood :math:`\sum_{i \ne j} P_{ij} \log \sigma(u_i - u_j)`,
        so that items have the expected places of the probabilities; for `PlackettLuceRanker` and `PlackettLuceTree`
        this is their own model. "mallows": the predicted ranking as center, and the concentration with the expected
        number of pairs that a ranking orders otherwise.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        n : int, default=1
            Rankings for each row.
        random_state : None, int, Generator or RandomState
            Source of the random numbers.
        law : {"plackett-luce", "mallows"}, default="plackett-luce"
            Family of the law.

        Returns
        -------
        ndarray of shape (n_samples, n, n_items)
            Positions, 1 = best; columns are ``items_``.
        """
        return sample_rows(law, self._predict_law(X, law), n, random_state)

    def predict_top_proba(self, X: ArrayLike, k: int = 1, law: Law = "plackett-luce") -> FloatArray:
        """Predict, for each row, how probably each item is among the first k.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        k : int, default=1
            Number of places, from 1 to the number of items.
        law : {"plackett-luce", "mallows"}, default="plackett-luce"
            Family of the law, as in `sample_rankings`; the probabilities are those of its rankings, computed and not
            sampled.

        Returns
        -------
        ndarray of shape (n_samples, n_items)
            Probabilities, which sum to k in each row.
        """
        return top_of_rows(law, self._predict_law(X, law), k)

    def _predict_law(self, X: ArrayLike, law: Law) -> tuple[FloatArray, ...]:
        """Parameters of the predictive law: log worths, or centers and concentrations."""
        features = self._check_fitted_features(X)
        parts: list[tuple[FloatArray, ...]] = []
        for rows in row_blocks(len(features), len(self.items_)):
            if law == "plackett-luce":
                parts.append((self._predict_log_worth(features[rows]),))
            else:
                centers = self._predict_positions(features[rows])
                parts.append((centers, theta_from_pairwise(self._predict_pairwise(features[rows]), centers)))
        return tuple(np.concatenate(columns) for columns in zip(*parts, strict=True))

    def _predict_log_worth(self, X: FloatArray) -> FloatArray:
        """Log worths of the predictive law for checked features; rankers with a Plackett-Luce model give its own."""
        return worths_from_pairwise(self._predict_pairwise(X))

    def _continues(self) -> bool:
        """Whether ``fit`` adds to what was learned before."""
        return False

    def _check_continued(self, X: FloatArray, y: Rankings) -> None:
        """Refuse to continue a fit of another kind."""

    def _note_training(self, X: FloatArray, rows: IntArray) -> None:
        """Remember of the features, and of the numbers of the rows that are learned from, what is asked for later."""

    def _recalls(self) -> bool:
        """Whether `_fit_and_recall` can say anything."""
        return False

    def _fit_and_recall(self, X: FloatArray, y: Rankings, rows: IntArray) -> FloatArray | None:
        """Fit, and predict the pairs of some training rows by parts that have not seen them, for `StackedRanker`.

        Vectors of pairs, NaN in rows that all parts have seen; None if there are no such parts after all.
        """
        self.fit(X, y)
        return None

    def _fit_rankings(self, X: FloatArray, y: Rankings) -> None:
        """Learn from rows that all compare something and have positive weights, ``y.weights``."""
        raise NotImplementedError

    def _predict_pairwise(self, X: FloatArray) -> FloatArray:
        """Probabilities of i before j for checked features: (n_samples, n_items, n_items)."""
        raise NotImplementedError

    def _predict_positions(self, X: FloatArray) -> FloatArray:
        """Full rankings for a block of checked features; by default the probabilities are decoded."""
        return decode_pairwise(self._predict_pairwise(X), self.decode)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "label_ranker"
        tags.target_tags.required = True
        tags.target_tags.two_d_labels = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        return tags


def check_label_ranking(
    y: ArrayLike, sample_weight: ArrayLike | None = None, *, n_samples: int | None = None
) -> tuple[Rankings, np.ndarray[Any, Any]]:
    """Validate the target of label ranking: the one door for y in ``fit``.

    Parameters
    ----------
    y : Rankings or array-like of shape (n_samples, n_items)
        Positions; only the order of the values in a row counts, and a value of 0 or less raises a warning that
        explains positions and orders.
    sample_weight : array-like of shape (n_samples,), optional
        How often each row counts; by default the weights of the Rankings, else ones.
    n_samples : int, optional
        The number of rows that y must have.

    Returns
    -------
    rankings : Rankings
        The rows that have a positive weight and compare at least two items, with their weights; names are those of the
        Rankings or of the columns of a data frame, else 0, 1, 2, ...
    rows : ndarray of int
        Which rows of y these are.

    Raises
    ------
    ValueError
        If there are fewer than two items, if no row compares any two, or if an item is never compared with
        another (the message names it).

    Examples
    --------
    >>> from rankwise.label_ranking.base import check_label_ranking
    >>> check_label_ranking([[1, 3, 2], [float("nan"), 1, float("nan")]])
    (Rankings: 1 ranking of 3 items, full
      0 > 2 > 1, array([0]))
    """
    rankings = _as_rankings(y, sample_weight)
    if not isinstance(y, Rankings):
        _warn_of_scores(numeric_matrix(y, "y"))
    n_rows, n_items = rankings.positions.shape
    if n_samples is not None and n_rows != n_samples:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n_samples} rows and y {n_rows}"
        )
    if n_items < 2:
        raise ValueError("y has one column, so there is nothing to rank; it needs one column per item")
    informative = rankings.informative
    rows = np.flatnonzero(informative & (rankings.weights > 0))
    if not len(rows):
        if informative.any():
            raise ValueError("all rows of y that compare items have weight zero, so there is nothing to learn from")
        raise ValueError(
            "no row of y compares two items, so there is nothing to learn from; positions are numbers (1 = best), NaN "
            "is missing, inf is unlisted"
        )
    kept = rankings if len(rows) == n_rows else rankings[rows]
    never = np.flatnonzero(~kept.compared)
    if len(never):
        names = shortlist([rankings.items[i] for i in never])
        raise ValueError(
            f"no row of y compares {'item' if len(never) == 1 else 'items'} {names} with another, so where to rank it "
            "cannot be learned; drop the column (Rankings.select), or add rankings that hold it"
        )
    return kept, rows


def _as_rankings(y: ArrayLike, sample_weight: ArrayLike | None) -> Rankings:
    """Rankings with weights, from whatever holds positions; only their order counts."""
    if isinstance(y, Rankings):
        if sample_weight is None:
            return y
        return Rankings(y, weights=check_weights(sample_weight, len(y), name="sample_weight"))
    positions = check_positions(y, name="y", strict=False)
    weights = check_weights(sample_weight, len(positions), name="sample_weight", each="row")
    return Rankings(positions, item_names(y), weights)


def _warn_of_scores(y: FloatArray) -> None:
    """Warn of values that are neither whole nor halves of shared places: scores, which run the other way."""
    doubled = np.where(np.isfinite(y) & (y > 0), 2.0 * y, 0.0)  # of others `check_positions` warns
    odd = np.argwhere(doubled != np.rint(doubled))
    if len(odd):
        row, column = odd[0]
        warnings.warn(
            f"y[{row}, {column}] is {y[row, column]:g}, which is no place; smaller values were taken for better. If "
            "they are scores (higher = better), use Rankings.from_scores; if only their order matters, dense_positions",
            UserWarning,
            stacklevel=4,
        )


def check_items(y: ArrayLike, items: tuple[Hashable, ...]) -> None:
    """Refuse rankings with names of items that are not those of a fitted ranker, in their order."""
    check_same_items(y, Rankings(np.arange(1.0, len(items) + 1)[np.newaxis], items))


def row_blocks(n_rows: int, n_items: int) -> Iterator[slice]:
    """Slices of rows whose pairwise matrices may be held at once."""
    yield from gen_batches(n_rows, max(1, _BLOCK_CELLS // (n_items * n_items)))


def item_column(items: tuple[Hashable, ...], item: Any) -> int:
    """The column of an item that is given by its name or, where names are not numbers, by its column."""
    if item in items:
        return items.index(item)
    has_numbers = any(isinstance(name, int | float) for name in items)
    if isinstance(item, int | np.integer) and not has_numbers and 0 <= item < len(items):
        return int(item)
    raise ValueError(f"there is no item {item!r}; the items are {shortlist(items)}")


def unfitted_embedding(embedding: str | Embedding) -> Embedding:
    """The embedding of a name, "kemeny" or "position"; or a clone of an embedding. Its vectors are arrays."""
    from sklearn.base import clone

    if isinstance(embedding, str):
        new: Embedding = KemenyEmbedding() if embedding == "kemeny" else PositionEmbedding()
    else:
        new = clone(embedding)
    return new.set_output(transform="default")  # for every setting of transform_output


def share_before(matrix: PreferenceMatrix) -> FloatArray:
    """Share of the rankings with i before j, ties counted half; 1/2 for pairs that nobody compared."""
    return np.nan_to_num(matrix.probabilities, nan=0.5)


def fitted_scaler(X: FloatArray, y: Rankings) -> Any:
    """A scaler that brings every feature to mean 0 and variance 1 under the weights of the rankings."""
    from sklearn.preprocessing import StandardScaler

    # An array for every setting of transform_output.
    return StandardScaler().set_output(transform="default").fit(X, sample_weight=y.weights)


def check_saved_scaler(ranker: Any) -> None:
    """Refuse a saved ranker whose scaler has other features."""
    if ranker._scaler is not None:
        ensure(ranker._scaler.n_features_in_ == ranker.n_features_in_, "the scaler has other features")


def sure_gain(differences: FloatArray, weights: FloatArray) -> float:
    """Mean less its standard error: what is left of a gain after the luck of these rows."""
    known = ~np.isnan(differences)
    values, share = differences[known], weights[known] / weights[known].sum()
    mean = float(share @ values)
    return mean - float(np.sqrt(share**2 @ (values - mean) ** 2))


def has_copies(X: FloatArray) -> bool:
    """Whether leaving out one row leaves copies of it: if more than one row in twenty is one of several equal ones."""
    counts = np.unique(X, axis=0, return_counts=True)[1]
    return bool(counts[counts > 1].sum() > 0.05 * len(X))


def seeded_clone(estimator: Any, seed: int | None) -> Any:
    """A clone; with a seed, every random state among its parameters is set to it."""
    from sklearn.base import clone

    copy = clone(estimator)
    if seed is not None:
        names = [name for name in copy.get_params(deep=True) if name.split("__")[-1] == "random_state"]
        copy.set_params(**dict.fromkeys(names, seed))
    return copy


def fit_weighted(estimator: Any, X: FloatArray, target: Any, weights: FloatArray) -> Any:
    """Fit with weights where they differ; an estimator that cannot take them is refused."""
    if np.all(weights == weights[0]):
        return estimator.fit(X, target)
    from sklearn.pipeline import Pipeline
    from sklearn.utils.validation import has_fit_parameter

    last = estimator.steps[-1] if isinstance(estimator, Pipeline) else ("", estimator)
    if not has_fit_parameter(last[1], "sample_weight"):
        raise ValueError(
            f"rows have different weights, but {type(last[1]).__name__} takes no sample_weight; drop the weights, "
            "or choose another estimator"
        )
    name = f"{last[0]}__sample_weight" if isinstance(estimator, Pipeline) else "sample_weight"
    return estimator.fit(X, target, **{name: weights})


def pairwise_of(ranker: Any, X: Any) -> Any:
    """Probabilities of i before j by a fitted ranker, or by the last step of a pipeline."""
    if hasattr(ranker, "steps"):
        return ranker[-1].predict_pairwise(ranker[:-1].transform(X))
    return ranker.predict_pairwise(X)


def ensure_label_rankers(rankers: Iterable[Any]) -> None:
    """Refuse a file in which something else stands where a label ranker, or a pipeline that ends in one, should be."""
    for ranker in rankers:
        last = ranker[-1] if hasattr(ranker, "steps") else ranker
        ensure(hasattr(last, "predict_pairwise"), f"a {type(last).__name__} is not a label ranker")


def spread_of_differences(errors: FloatArray, weights: FloatArray) -> FloatArray:
    """Root mean square of the differences of errors, for all pairs of items; 0 where no row has both."""
    known = ~np.isnan(errors)
    values = np.where(known, errors, 0.0)
    weighted = weights[:, None] * known
    count = weighted.T @ known
    squares = (weighted * values**2).T @ known
    products = (weighted * values).T @ values
    total = squares + squares.T - 2 * products
    return np.sqrt(np.maximum(np.divide(total, count, out=np.zeros_like(total), where=count > 0), 0.0))
