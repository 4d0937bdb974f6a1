"""Breiman's trees: every node takes the split that is best for its own rows."""

from __future__ import annotations

import numpy as np

from rankwise._typing import FloatArray
from rankwise.trees.growth import _jit
from rankwise.trees.growth._jit import Features, Limits
from rankwise.trees.structure import Tree
from rankwise.trees.targets import TargetRows


def grow_best(features: Features, targets: TargetRows, limits: Limits, weights: FloatArray, seed: int) -> Tree:
    """Grow a tree, depth first, or, if the number of leaves is limited, best gain first."""
    return Tree(*_jit.grow(features, targets.for_kernels(weights), limits, np.uint64(seed)))
