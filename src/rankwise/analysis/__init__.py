"""From rankings to an answer: `analyze` does it all, and every step is a function of its own.

Results hold arrays and names, show themselves in a terminal and in a notebook, and give ``to_frame()``.
"""

from rankwise.analysis.analysis import Analysis, analyze
from rankwise.analysis.consensus import ConsensusResult, consensus
from rankwise.analysis.summary import Agreement, PairSummary, Summary, agreement, pair_summary, summary

__all__ = [
    "Agreement",
    "Analysis",
    "ConsensusResult",
    "PairSummary",
    "Summary",
    "agreement",
    "analyze",
    "consensus",
    "pair_summary",
    "summary",
]
