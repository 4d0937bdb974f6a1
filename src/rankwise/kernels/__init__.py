"""Kernels for rankings of every kind: Gram matrices, and kernel objects for scikit-learn.

Larger = more alike. Every kernel here is positive semi-definite. Kernels of diffusion on the group of permutations are
left out: their sums run over all k! permutations (or as many Fourier coefficients), and they say nothing of ties and
missing items.
"""

from rankwise.kernels.gram import finite_positions
from rankwise.kernels.graph_cut_kernel import graph_cut_kernel
from rankwise.kernels.objects import GraphCutKernel, KendallKernel, MallowsKernel
from rankwise.kernels.pair_kernels import kendall_kernel, mallows_kernel

__all__ = [
    "GraphCutKernel",
    "KendallKernel",
    "MallowsKernel",
    "finite_positions",
    "graph_cut_kernel",
    "kendall_kernel",
    "mallows_kernel",
]
