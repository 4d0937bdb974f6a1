"""What tree-based rankers can be asked about a prediction: why, what if, and by whose example.

`TreeAnswersMixin` gives `RankingTree`, `RankingForest` and `BoostedRanker` the methods ``explain``, ``counterfactual``
and ``prototypes``; what these return, and how it is found, stands in `explanations`, `counterfactuals` and
`prototypes`.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, ClassVar

import numpy as np

from rankwise._state import FLOATS, Saved, array, optional
from rankwise._typing import ArrayLike, BoolArray, FloatArray, IntArray
from rankwise._validation import check_whole_number, shortlist
from rankwise.data import check_positions
from rankwise.label_ranking.base import LabelRankerMixin, check_items, item_column
from rankwise.label_ranking.counterfactuals import BoxSearch, Counterfactual, FeatureChange, Space, nearest_leaf
from rankwise.label_ranking.explanations import PairExplanation, explain_values, pair_shares
from rankwise.label_ranking.prototypes import Prototypes, nearest_by_leaves
from rankwise.trees.structure import Tree


class TreeAnswersMixin(LabelRankerMixin):
    """Answers of a ranker with ``trees_``, or one ``tree_``, whose leaves hold shares of pairs."""

    _takes_sparse: ClassVar[bool] = True
    _encoder: Any
    _feature_spread: FloatArray
    _feature_is_whole: BoolArray

    _saved: ClassVar[Saved] = {
        "_feature_spread": optional(FLOATS),
        "_feature_is_whole": optional(array("bool", 1)),
    }

    def explain(self, X: ArrayLike, i: Hashable, j: Hashable) -> PairExplanation:
        r"""Explain why item i comes before item j, or after it: what each feature adds to the prediction.

        *Definition.* The Shapley value of a feature f is :math:`\sum_{S \not\ni f} \frac{|S|! (d - |S| - 1)!}{d!}
        (v(S \cup f) - v(S))`, the mean of what it adds to the prediction over all orders in which features become
        known, where :math:`v(S)` is the prediction if only the features in S are known: an unknown feature keeps both
        sides of its splits, weighted by their training rows. The values are exact.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features of the rows to explain.
        i, j : item
            Names of two items, or, where names are not numbers, their columns.

        Returns
        -------
        PairExplanation
            With ``values`` of shape (n_samples, n_features), which add up to ``prediction - base_value`` in each row.
            A tree and a forest explain the share of i before j in the leaf of the row, a mean over the trees: what
            `predict_pairwise` makes its probabilities of, which are smoothed or calibrated but on the same side of
            1/2. A boosted ranker explains the log odds of i before j.

        References
        ----------
        Lundberg et al. (2020), From local explanations to global understanding with explainable AI for trees. Yu, Xu,
        Chao, Xue (2022), Linear TreeShap.
        """
        features = self._check_fitted_features(X)
        first, second = self._pair(i, j)
        trees, (constant, values, output) = self._trees(), self._pair_values(first, second)
        found, base, total = explain_values(trees, values, features, getattr(self, "n_jobs", None))
        return PairExplanation(
            values=found,
            base_value=constant + base,
            prediction=constant + total,
            features=self._names_of_features(),
            pair=(self.items_[first], self.items_[second]),
            output=output,
            inputs=self._inputs(features),
        )

    def counterfactual(
        self, X: ArrayLike, a: Hashable, b: Hashable, *, immutable: Sequence[Any] = (), max_iter: int = 20_000
    ) -> Counterfactual:
        """Find what would have to change for item a to come before item b.

        *Definition.* The smallest change is the one of the fewest features, and of these the one with the smallest
        distance: the sum of the changes of numbers, in standard deviations of the training rows, and 1 for each
        category or missing value that changes. Whole numbers stay whole, if all training rows have such; categories
        become others that were seen; nothing becomes missing. Afterwards a is likelier to come before b than after it.

        Parameters
        ----------
        X : array-like of shape (1, n_features)
            Features of one row.
        a, b : item
            Names of two items, or, where names are not numbers, their columns.
        immutable : sequence of str or int, default=()
            Features that may not change, by name or number.
        max_iter : int, default=20000
            Most boxes of features that the search for a forest may look at. A single tree needs none: all of its leaves
            are compared.

        Returns
        -------
        Counterfactual
            With ``changes``, and ``is_smallest``, which says whether it is proven that no smaller change does.
        """
        features = self._check_fitted_features(X)
        if len(features) != 1:
            raise ValueError(f"X has {len(features)} rows; counterfactual takes one row at a time: X[:1]")
        check_whole_number("max_iter", max_iter, at_least=1)
        first, second = self._pair(a, b)
        space = self._space(features[0], self._frozen(immutable))
        trees, (constant, values, output) = self._trees(), self._pair_values(first, second)
        border = (0.5 if output == "share" else 0.0) - constant
        search = BoxSearch(trees, values, border, space, max_iter)
        before = search.value(space.row)
        row, is_proven, n_iter = space.row, True, 0
        if before <= search.border:
            answer = nearest_leaf(trees[0], values[0], border, space) if len(trees) == 1 else search.run()
            row, is_proven, n_iter = answer  # type: ignore[assignment]
        found = row is not None
        reached = row if found else space.row
        names = self._names_of_features()
        old, new = self._inputs(space.row[np.newaxis])[0], self._inputs(reached[np.newaxis])[0]
        changed = [f for f in range(len(names)) if old[f] != new[f]]
        return Counterfactual(
            found=found,
            changes=tuple(
                FeatureChange(names[f], old[f], new[f], self._condition(f, space, float(reached[f]), new[f]))
                for f in changed
            ),
            distance=space.size(reached)[1] if found else float("nan"),
            is_smallest=is_proven,
            row=dict(zip(names, new.tolist(), strict=True)),
            before=constant + before,
            after=constant + search.value(reached) if found else float("nan"),
            pair=(self.items_[first], self.items_[second]),
            output=output,
            n_iter=n_iter,
        )

    def prototypes(self, X: ArrayLike, X_train: ArrayLike, y_train: ArrayLike, n_prototypes: int = 5) -> Prototypes:
        """Find the training people whose example the prediction follows: those who share most leaves with each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features of the rows.
        X_train : array-like of shape (n_training_rows, n_features)
            Features of the people to choose from, such as those of ``fit``, which a forest does not keep.
        y_train : Rankings or array-like of shape (n_training_rows, n_items)
            Their rankings.
        n_prototypes : int, default=5
            Number of people for each row; all of them if there are fewer.

        Returns
        -------
        Prototypes
            With ``rows``, ``nearness`` (the share of the trees in which the two rows are in the same leaf) and their
            rankings.
        """
        features, training = self._check_fitted_features(X), self._check_fitted_features(X_train)
        check_items(y_train, self.items_)
        positions = check_positions(y_train, name="y_train", strict=False)
        if positions.shape != (len(training), len(self.items_)):
            raise ValueError(
                f"y_train has shape {positions.shape}, but X_train has {len(training)} rows and the ranker "
                f"{len(self.items_)} items"
            )
        size = min(check_whole_number("n_prototypes", n_prototypes, at_least=1), len(training))
        rows, nearness = nearest_by_leaves(self._trees(), features, training, size)
        return Prototypes(rows, nearness, positions[rows], self.items_, "shared leaves")

    def _trees(self) -> list[Tree]:
        return self.trees_ if hasattr(self, "trees_") else [self.tree_]  # type: ignore[attr-defined]

    def _pair_values(self, i: int, j: int) -> tuple[float, list[FloatArray], str]:
        """A constant, and the numbers of the leaves of each tree, whose sum says i before j; and what the sum is."""
        trees, k = self._trees(), len(self.items_)
        weights = getattr(self, "_tree_weights", None)
        if weights is None:
            share = np.full(len(trees), 1.0 / len(trees))
        else:
            pairs = np.array(np.triu_indices(k, 1)).T.tolist()
            share = weights[:, pairs.index(sorted((i, j)))]
            share = share / share.sum()
        return 0.0, [scale * pair_shares(tree, i, j, k) for tree, scale in zip(trees, share, strict=True)], "share"

    def _pair(self, i: Hashable, j: Hashable) -> tuple[int, int]:
        first, second = item_column(self.items_, i), item_column(self.items_, j)
        if first == second:
            raise ValueError(f"item {self.items_[first]!r} is compared with itself; give two items")
        return first, second

    def _note_training(self, X: FloatArray, rows: IntArray) -> None:
        """Remember by how much features differ, and which of them are whole numbers."""
        known = ~np.isnan(X)
        largest = np.max(np.abs(X), axis=0, where=known, initial=0.0)
        scale = np.where(largest > 0, largest, 1.0)  # squares of large numbers overflow
        scaled = np.where(known, X, 0.0) / scale
        count = np.maximum(known.sum(axis=0), 1)
        mean = scaled.sum(axis=0) / count
        spread = scale * np.sqrt((np.where(known, scaled - mean, 0.0) ** 2).sum(axis=0) / count)
        self._feature_spread = np.where(spread > 0, spread, 1.0)
        self._feature_is_whole = np.asarray(np.where(known, np.floor(X) == X, True).all(axis=0))

    def _space(self, row: FloatArray, frozen: BoolArray) -> Space:
        if not hasattr(self, "_feature_spread"):
            raise ValueError(
                f"this {type(self).__name__} was saved by a version that did not keep the spread of the features, by "
                "which changes are measured; fit it again"
            )
        levels = [0 if categories is None else len(categories) for categories in self._encoder.categories_]
        is_set = np.asarray(self._encoder.is_categorical)
        return Space(row, self._feature_spread, self._feature_is_whole, np.array(levels), is_set, ~frozen)

    def _frozen(self, immutable: Sequence[Any]) -> BoolArray:
        names = self._names_of_features()
        if isinstance(immutable, str):
            raise TypeError(f"immutable is {immutable!r}; give a list of features, as [{immutable!r}]")
        frozen = np.zeros(len(names), dtype=bool)
        for feature in immutable:
            if feature in names:
                frozen[names.index(feature)] = True
            elif isinstance(feature, int | np.integer) and 0 <= feature < len(names):
                frozen[int(feature)] = True
            else:
                raise ValueError(f"immutable names {feature!r}, but the features are {shortlist(names)}")
        return frozen

    def _names_of_features(self) -> tuple[str, ...]:
        names = getattr(self, "feature_names_in_", [f"x{number}" for number in range(self.n_features_in_)])
        return tuple(map(str, names))

    def _inputs(self, features: FloatArray) -> np.ndarray[Any, Any]:
        """Features as they were given: categories in place of their numbers, None where missing."""
        inputs: np.ndarray[Any, Any] = features.astype(object)
        inputs[np.isnan(features)] = None
        for number, categories in enumerate(self._encoder.categories_):
            if categories is not None:
                inputs[:, number] = [None if code is None else categories[int(code)] for code in inputs[:, number]]
        return inputs

    def _condition(self, feature: int, space: Space, value: float, shown: Any) -> str:
        """What a changed feature would be, in words."""
        if space.n_levels[feature] or space.is_whole[feature]:
            return f"{shown:g}" if isinstance(shown, float) else str(shown)
        if value > space.row[feature] and space.nearest(feature, float(np.nextafter(value, -np.inf)), np.inf) == value:
            return f"above {np.nextafter(value, -np.inf):.6g}"
        return f"at most {value:.6g}"
