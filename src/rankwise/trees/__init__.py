"""Least-squares trees and forests: the engine under labelwise regression, consensus ranking trees and their forests."""

from rankwise.trees.least_squares import LeastSquaresForest, LeastSquaresTree

__all__ = ["LeastSquaresForest", "LeastSquaresTree"]
