"""A sampler of Bayesian additive regression trees whose prior of splits is a function of the depth.

Theorem 13 is about a prior that splits a node of depth d with probability alpha^d, which packages do not offer: theirs
is alpha (1 + d)^-beta. So `theorems_10_13` samples both here, with the same moves. Grow and prune steps only, the means
of leaves integrated out, as in Chipman, George, McCulloch (2010).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankwise_reproductions.experiment import FloatArray

#: fewest rows of a leaf
MIN_LEAF = 5
#: share of the range of y that two standard deviations of the prior of the sum of trees cover: as by default elsewhere
_K = 2.0


@dataclass(eq=False)
class _Node:
    """A node with its rows; a leaf has no children."""

    rows: Any
    depth: int
    parent: _Node | None = None
    children: list[_Node] = field(default_factory=list)


class AdditiveTrees:
    """Draws of the fit on the training rows.

    Parameters
    ----------
    X, y : ndarray
        Rows and their responses.
    split_probability : callable
        From the depth of a node, 0 for the root, to the prior probability that it is split.
    n_trees : int
        Number of trees.
    seed : int
        Of the random numbers.
    """

    def __init__(
        self, X: FloatArray, y: FloatArray, split_probability: Callable[[int], float], *, n_trees: int, seed: int
    ) -> None:
        self.X, self.rng, self.split_probability = X, np.random.default_rng(seed), split_probability
        self.center, self.scale = (y.max() + y.min()) / 2, np.ptp(y)
        self.y = (y - self.center) / self.scale
        self.leaf_variance = (0.5 / (_K * np.sqrt(n_trees))) ** 2
        # An inverse chi-square of 3 degrees of freedom, below the variance of y with 90%.
        self.variance = float(self.y.var())
        self.prior_scale = self.variance * 0.5844 / 3
        self.trees = [[_Node(np.arange(len(y)), 0)] for _ in range(n_trees)]
        self.fits = np.zeros((n_trees, len(y)))

    def draws(self, n_draws: int, n_burn_in: int) -> FloatArray:
        """Fits of shape (n_draws, n_rows), in units of y, after some that are dropped."""
        kept = np.empty((n_draws, len(self.y)))
        total = self.fits.sum(axis=0)
        for step in range(n_burn_in + n_draws):
            for tree, fit in zip(self.trees, self.fits, strict=True):
                residual = self.y - total + fit
                self._move(tree, residual)
                total -= fit
                self._draw_leaves(tree, residual, fit)
                total += fit
            rest = self.y - total
            degrees = 3 + len(rest)
            self.variance = float((3 * self.prior_scale + rest @ rest) / self.rng.chisquare(degrees))
            if step >= n_burn_in:
                kept[step - n_burn_in] = total
        return self.center + self.scale * kept

    def _move(self, tree: list[_Node], residual: FloatArray) -> None:
        """Grow a leaf or prune two, by Metropolis and Hastings; the list holds all nodes of a tree."""
        leaves = [node for node in tree if not node.children]
        prunable = [node for node in tree if node.children and not any(child.children for child in node.children)]
        if not prunable or self.rng.random() < 0.5:
            self._grow(tree, leaves, prunable, residual)
        else:
            node = prunable[self.rng.integers(len(prunable))]
            # The reverse of growing this node from a tree with one leaf fewer.
            back = 1.0 if node.parent is None else 0.5
            moves = np.log(back / (len(leaves) - 1)) - np.log(0.5 / len(prunable))
            left, right = node.children
            if np.log(self.rng.random()) < moves - self._gain(node, left.rows, right.rows, residual):
                tree.remove(left)
                tree.remove(right)
                node.children = []

    def _grow(self, tree: list[_Node], leaves: list[_Node], prunable: list[_Node], residual: FloatArray) -> None:
        node = leaves[self.rng.integers(len(leaves))]
        column = self.X[node.rows, self.rng.integers(self.X.shape[1])]
        cuts = np.unique(column)[:-1]
        if not len(cuts):
            return
        left = column <= cuts[self.rng.integers(len(cuts))]
        rows = node.rows[left], node.rows[~left]
        if min(map(len, rows)) < MIN_LEAF:
            return
        # Its parent can no longer be pruned; the rule has the same probability in the prior and in the proposal.
        was_prunable = node.parent in prunable
        forth = 1.0 if node.parent is None else 0.5
        moves = np.log(0.5 / (len(prunable) + 1 - was_prunable)) - np.log(forth / len(leaves))
        if np.log(self.rng.random()) < moves + self._gain(node, *rows, residual):
            node.children = [_Node(part, node.depth + 1, node) for part in rows]
            tree.extend(node.children)

    def _gain(self, node: _Node, left: Any, right: Any, residual: FloatArray) -> float:
        """Log of the posterior with the split, up to moves, less that without."""
        split, below = self.split_probability(node.depth), self.split_probability(node.depth + 1)
        if split >= 1:
            return np.inf  # the prior has no tree without this split
        prior = np.log(split) - np.log1p(-split) + 2 * np.log1p(-below)
        return float(
            prior
            + self._evidence(residual[left])
            + self._evidence(residual[right])
            - self._evidence(residual[node.rows])
        )

    def _evidence(self, values: FloatArray) -> float:
        """Log of the marginal likelihood of the residuals in a leaf, up to what all partitions share."""
        both = self.variance + len(values) * self.leaf_variance
        total = values.sum()
        return 0.5 * np.log(self.variance / both) + self.leaf_variance * total**2 / (2 * self.variance * both)

    def _draw_leaves(self, tree: list[_Node], residual: FloatArray, fit: FloatArray) -> None:
        for node in tree:
            if not node.children:
                both = self.variance + len(node.rows) * self.leaf_variance
                mean = self.leaf_variance * residual[node.rows].sum() / both
                deviation = np.sqrt(self.variance * self.leaf_variance / both)
                fit[node.rows] = mean + deviation * self.rng.standard_normal()
