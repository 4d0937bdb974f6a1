"""Pictures as Display objects: ``from_rankings`` and the like, ``plot(ax=None)``, ``save(path)``, ``ax_``, ``figure_``.

Modules are named for the kind of picture that they draw. What all pictures share is in ``_style`` and ``_display``.
"""

from rankwise.plots.agreement_bars import ConsensusDisplay
from rankwise.plots.calibration_curve import PairwiseCalibrationDisplay
from rankwise.plots.difference_dots import GroupDifferenceDisplay
from rankwise.plots.driver_dots import DriversDisplay
from rankwise.plots.effect_curves import FeatureEffectDisplay
from rankwise.plots.explanation_bars import PairExplanationDisplay
from rankwise.plots.heatmaps import PairwisePreferenceDisplay, PositionHeatmapDisplay
from rankwise.plots.importance_bars import FeatureImportanceDisplay
from rankwise.plots.interval_bars import RankIntervalDisplay
from rankwise.plots.kernel_maps import EmbeddingDisplay, GramMatrixDisplay
from rankwise.plots.leaderboard_diagram import CriticalDifferenceDisplay
from rankwise.plots.mean_rank_dots import MeanRankDisplay
from rankwise.plots.noise_curve import NoiseCurveDisplay
from rankwise.plots.pruning_curve import PruningPathDisplay
from rankwise.plots.query_differences import ComparisonDisplay, QueryComparisonDisplay
from rankwise.plots.rater_map import RaterMapDisplay
from rankwise.plots.screening_volcano import ScreeningDisplay
from rankwise.plots.segment_map import SegmentDisplay
from rankwise.plots.tree_diagram import RankingTreeDisplay

__all__ = [
    "ComparisonDisplay",
    "ConsensusDisplay",
    "CriticalDifferenceDisplay",
    "DriversDisplay",
    "EmbeddingDisplay",
    "FeatureEffectDisplay",
    "FeatureImportanceDisplay",
    "GramMatrixDisplay",
    "GroupDifferenceDisplay",
    "MeanRankDisplay",
    "NoiseCurveDisplay",
    "PairExplanationDisplay",
    "PairwiseCalibrationDisplay",
    "PairwisePreferenceDisplay",
    "PositionHeatmapDisplay",
    "PruningPathDisplay",
    "QueryComparisonDisplay",
    "RankIntervalDisplay",
    "RankingTreeDisplay",
    "RaterMapDisplay",
    "ScreeningDisplay",
    "SegmentDisplay",
]
