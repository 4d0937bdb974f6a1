"""Kemeny's consensus: exact with a proof, for one matrix of any size or many small ones."""

from rankwise.aggregation.median.batch import kemeny_batch
from rankwise.aggregation.median.consensus import kemeny
from rankwise.aggregation.median.optima import OptimalRankings, all_optimal
from rankwise.aggregation.median.result import Consensus

__all__ = ["Consensus", "OptimalRankings", "all_optimal", "kemeny", "kemeny_batch"]
