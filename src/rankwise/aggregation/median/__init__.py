"""Kemeny's consensus: exact with a proof, for one matrix of any size or many small ones."""

from rankwise.aggregation.median.batch import kemeny_batch
from rankwise.aggregation.median.consensus import Consensus, kemeny

__all__ = ["Consensus", "kemeny", "kemeny_batch"]
