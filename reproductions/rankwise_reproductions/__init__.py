"""The experiments of the papers behind rankwise: what each paper reports next to what we find.

This distribution adds the command ``rankwise reproduce``: ``rankwise reproduce list`` names the experiments, and
``rankwise reproduce <paper or experiment>`` runs them. Each paper has a folder with one module per table, figure or
theorem, and the results of that module in files of the same name. `experiment` says what an experiment is, `catalog`
finds them, `runner` computes, `outcome` judges, `outputs` and `page` write files, `cli` is the command.

Nothing heavy is imported here, so that ``rankwise --help`` can show the command without loading NumPy.
"""

import os
import platform

__version__ = "0.1.0"


def use_common_kernels() -> None:
    """Let OpenBLAS add up in the same order on every x86-64 processor, unless the environment says otherwise.

    It has kernels for each kind of processor, whose sums differ in the last bit, and that decides between splits of a
    tree that gain the same. Those of Haswell run on all processors since then (AVX2). It counts before NumPy is loaded.
    """
    if platform.machine().lower() in ("x86_64", "amd64"):
        os.environ.setdefault("OPENBLAS_CORETYPE", "Haswell")
