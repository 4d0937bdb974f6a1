"""Kernels for rankings of every kind: Gram matrices, and kernel objects for scikit-learn.

Larger = more alike. Every kernel here is positive semi-definite. Kernels of diffusion on the group of permutations are
left out: their sums run over all k! permutations (or as many Fourier coefficients), and they say nothing of ties and
missing items.
"""

from rankwise.kernels.finite import finite_positions
from rankwise.kernels.graph_cut import graph_cut_kernel
from rankwise.kernels.kendall import kendall_kernel
from rankwise.kernels.mallows import mallows_kernel
from rankwise.kernels.objects import GraphCutKernel, KendallKernel, MallowsKernel

__all__ = [
    "GraphCutKernel",
    "KendallKernel",
    "MallowsKernel",
    "finite_positions",
    "graph_cut_kernel",
    "kendall_kernel",
    "mallows_kernel",
]
