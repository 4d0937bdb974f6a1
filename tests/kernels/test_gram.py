"""What all Gram matrices share."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from rankwise.kernels import graph_cut_kernel, kendall_kernel, mallows_kernel

KERNELS = {
    "kendall": kendall_kernel,
    "kendall-weighted": partial(kendall_kernel, position_weights=[3, 2, 1]),
    "mallows": mallows_kernel,
    "mallows-monte-carlo": partial(mallows_kernel, completion="monte-carlo", n_samples=4, random_state=0),
    "graph-cut": graph_cut_kernel,
}


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_no_rankings_have_an_empty_gram_matrix(kernel):
    some = np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])
    assert kernel(some[:0], some).shape == (0, 2)
    assert kernel(some, some[:0]).shape == (2, 0)
    assert kernel(some[:0]).shape == (0, 0)
