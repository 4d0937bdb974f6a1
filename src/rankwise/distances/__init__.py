"""Distances between rankings: one to one, row by row, or all to all."""

from rankwise.distances.matrix import pairwise_distances
from rankwise.distances.measures import (
    footrule_distance,
    hamming_distance,
    kendall_distance,
    spearman_distance,
    weighted_kendall_distance,
)

__all__ = [
    "footrule_distance",
    "hamming_distance",
    "kendall_distance",
    "pairwise_distances",
    "spearman_distance",
    "weighted_kendall_distance",
]
