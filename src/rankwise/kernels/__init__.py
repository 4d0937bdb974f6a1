"""Kernels for rankings of every kind: Gram matrices, and kernel objects for scikit-learn.

Larger = more similar. Every kernel here is positive semi-definite. Diffusion kernels on the group of permutations are
not included: their sums run over all k! permutations (or as many Fourier coefficients), and they do not define what to
do with ties and missing items.
"""

from rankwise.kernels.gram import finite_positions
from rankwise.kernels.graph_cut_gram import graph_cut_kernel
from rankwise.kernels.kendall_gram import kendall_kernel
from rankwise.kernels.mallows_gram import mallows_kernel
from rankwise.kernels.objects import GraphCutKernel, KendallKernel, MallowsKernel
from rankwise.kernels.similarity import (
    RankingSimilarity,
    RankingVectors,
    Spread,
    ranking_similarity,
    ranking_vectors,
)
from rankwise.kernels.variational import FitStart, VariationalClassifier

__all__ = [
    "FitStart",
    "GraphCutKernel",
    "KendallKernel",
    "MallowsKernel",
    "RankingSimilarity",
    "RankingVectors",
    "Spread",
    "VariationalClassifier",
    "finite_positions",
    "graph_cut_kernel",
    "kendall_kernel",
    "mallows_kernel",
    "ranking_similarity",
    "ranking_vectors",
]
