"""From rankings to an answer: `analyze` does it all, and every step is a function of its own.

Results hold arrays and names, show themselves in a terminal and in a notebook, and give ``to_frame()``.
"""

from rankwise.analysis.analysis import Analysis
from rankwise.analysis.analyze import analyze
from rankwise.analysis.by_group import GroupResults, group_results
from rankwise.analysis.consensus import consensus
from rankwise.analysis.consensus_comparison import ConsensusComparison
from rankwise.analysis.consensus_result import ConsensusResult
from rankwise.analysis.driver_effects import FeatureEffect
from rankwise.analysis.driver_results import Drivers
from rankwise.analysis.driver_tree import drivers_tree
from rankwise.analysis.drivers import drivers
from rankwise.analysis.group_comparison import GroupComparison, compare_groups
from rankwise.analysis.group_differences import GroupDifferences
from rankwise.analysis.group_likelihood import LikelihoodRatio
from rankwise.analysis.kendalls_w import Agreement, Concordance, agreement, concordance
from rankwise.analysis.majorities import PairSummary, pair_summary
from rankwise.analysis.rater_results import Raters
from rankwise.analysis.raters import raters
from rankwise.analysis.robustness import robustness
from rankwise.analysis.robustness_results import LeftOut, Robustness
from rankwise.analysis.sample_size import SampleSize, sample_size
from rankwise.analysis.segment_covariates import MembershipModel
from rankwise.analysis.segment_results import SegmentCriteria, SegmentProfile, Segments
from rankwise.analysis.segments import segments
from rankwise.analysis.summary import Summary, summary

__all__ = [
    "Agreement",
    "Analysis",
    "Concordance",
    "ConsensusComparison",
    "ConsensusResult",
    "Drivers",
    "FeatureEffect",
    "GroupComparison",
    "GroupDifferences",
    "GroupResults",
    "LeftOut",
    "LikelihoodRatio",
    "MembershipModel",
    "PairSummary",
    "Raters",
    "Robustness",
    "SampleSize",
    "SegmentCriteria",
    "SegmentProfile",
    "Segments",
    "Summary",
    "agreement",
    "analyze",
    "compare_groups",
    "concordance",
    "consensus",
    "drivers",
    "drivers_tree",
    "group_results",
    "pair_summary",
    "raters",
    "robustness",
    "sample_size",
    "segments",
    "summary",
]
