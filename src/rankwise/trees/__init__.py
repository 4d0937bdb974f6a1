"""Least-squares trees and forests: the engine under labelwise regression, consensus ranking trees and their forests."""

from rankwise.trees.forest import LeastSquaresForest
from rankwise.trees.tree import LeastSquaresTree

__all__ = ["LeastSquaresForest", "LeastSquaresTree"]
