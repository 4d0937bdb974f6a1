"""The experiments of the papers behind rankwise, each with what the paper says beside what we find.

``rankwise reproduce list`` names them; ``rankwise reproduce <paper or experiment>`` runs them.
"""

from rankwise.reproductions.catalogue import PAPERS, chosen, experiments
from rankwise.reproductions.experiment import Cell, Claim, Comparison, Experiment, Inputs, Results, Scale
from rankwise.reproductions.runner import run

__all__ = [
    "PAPERS",
    "Cell",
    "Claim",
    "Comparison",
    "Experiment",
    "Inputs",
    "Results",
    "Scale",
    "chosen",
    "experiments",
    "run",
]
